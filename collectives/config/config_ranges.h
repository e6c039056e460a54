/*
 * config_ranges.h: whole numbers and ranges of them, as `ranks` and `lanes` of a group have them:
 * 5, 0-15, 0-15/2, [1, 3, 5-7]. Read from a node, and written in one canonical spelling.
 */
#ifndef COLLECTIVES_CONFIG_RANGES_H
#define COLLECTIVES_CONFIG_RANGES_H

#include "collectives/config/ccl_groups.h"
#include "collectives/config/input/config_parse.h"

struct config_ranges {
    uint32_t count;
    const struct ccl_range *at;        /* [count] in the order in which they are written */
    const struct config_place *places; /* [count] */
    const char *text;                  /* canonical */
};

/* The ranges that a node says, none above `max`, in the arena; `alone`: it may be no list, and have
 * no step. NULL with *wrong set to the node at fault, and *hint to a clause that follows what was
 * found there; or with *wrong NULL: out of memory. */
const struct config_ranges *config_ranges_read(struct config_arena *arena,
                                               const struct config_node *node, uint32_t max,
                                               bool alone, const struct config_node **wrong,
                                               const char **hint);

#endif
