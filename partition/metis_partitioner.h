/*
 * metis_partitioner.h: the partitioner `metis`: the best of several candidates, most of them from
 * the METIS library. Of the type in struct partitioner (partition.h).
 */
#ifndef PARTITION_METIS_PARTITIONER_H
#define PARTITION_METIS_PARTITIONER_H

#include "core/cw.h"
#include "hw/hw_config.h"

/* CW_NO_RESOURCE: out of memory; CW_BUG: METIS refuses the graph. */
int partition_metis(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                    struct cw_error *error);

#endif
