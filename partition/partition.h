/*
 * partition.h: the registry of partitioners: functions that give each cube to a worker. A cube is
 * never split. The other LPs follow the cubes: an IO die goes with its SIP's first cube
 * (lp/host/placement.c).
 *
 * A partitioner is one row of a registry: a pure function of the structure and the number of
 * workers, so that a run can be repeated from its command line.
 */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cw.h"
#include "hw/hw_config.h"

struct partitioner {
    const char *name;
    const char *help;
    /*
     * Fills cube_worker [sip_count * cubes], by sip * cubes + cube, every entry below `workers`,
     * which is at least 1. Host side, between drains; may take memory and gives it back. CW_OK, or
     * an exit code with *error filled.
     */
    int (*place)(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                 struct cw_error *error);
};

/* By name; NULL: unknown. The i-th; NULL after the last. The first is the default. */
const struct partitioner *partitioner_find(const char *name);
const struct partitioner *partitioner_at(uint32_t i);

#endif
