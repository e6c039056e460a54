/*
 * partition.h: which worker gets which cube. A cube is never split. Everything else follows the
 * cubes: an IO die goes with its SIP's first cube (lp/placement.c).
 *
 * A partitioner is one row of a registry: a pure function of the structure and the number of
 * workers, so that a run can be repeated from its command line.
 */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/hw_config.h"

struct partitioner {
    const char *name;
    const char *help;
    /* cube_worker: [sip_count * cubes], by sip * cubes + cube; every entry below `workers`. */
    void (*place)(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker);
};

/* By name; NULL: unknown. The i-th; NULL after the last. The first is the default. */
const struct partitioner *partitioner_find(const char *name);
const struct partitioner *partitioner_at(uint32_t i);

#endif
