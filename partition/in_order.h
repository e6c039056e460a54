/*
 * in_order.h: the partitioners that give SIPs or cubes to the workers in their order, as evenly as
 * they divide, but for SIPs that worker 0 leaves to the others because it has the host. Pure; they
 * never fail. Of the type in struct partitioner (partition.h).
 */
#ifndef PARTITION_IN_ORDER_H
#define PARTITION_IN_ORDER_H

#include "core/cw.h"
#include "hw/hw_config.h"

/* Whole SIPs: cuts only links between SIPs, whose latency is the largest. With more workers than
 * SIPs, the last workers get none. */
int partition_sips(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                   struct cw_error *error);
/* Cubes: cuts through SIPs where it must. With more workers than cubes, the last workers get
 * none. */
int partition_blocks(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                     struct cw_error *error);

#endif
