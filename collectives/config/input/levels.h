/*
 * levels.h: the list that `system.sips.topology` may be: levels of topologies, the inner one first,
 * each with links of its own (hw/topology/sip_levels.c). Read from a node, and written in one
 * canonical spelling.
 */
#ifndef COLLECTIVES_LEVELS_H
#define COLLECTIVES_LEVELS_H

#include "collectives/config/input/config_parse.h"
#include "collectives/config/input/decimal.h"
#include "hw/hw_config.h"

/* Figures that a level may give for its links; the others are as in `links.sip_link`. */
enum level_number {
    LEVEL_DISTANCE_MM,
    LEVEL_BW_GBS,
    LEVEL_NS_PER_MM,
    LEVEL_LATENCY_NS,
    LEVEL_COST,
    LEVEL_WATTS,
    LEVEL_PJ_PER_BIT,
    LEVEL_NUMBERS
};
extern const char *const level_number_name[LEVEL_NUMBERS]; /* "distance_mm", ... */

struct level {
    struct decimal number[LEVEL_NUMBERS];
    bool given[LEVEL_NUMBERS];
};

struct levels {
    uint32_t count;
    struct level at[HW_LEVELS_MAX];
    struct hw_sip_dims dims; /* without strides; 0: a size of the level that has the rest */
    bool has_rest;
    const char *text; /* canonical */
};

#define LEVELS_EXAMPLE "[{torus_2d: [4, 4]}, {switch: 8}]"

/* Reads one figure of links, such as `bw_gbs: 50`, of `of`, "a class". False, with an error
 * reported: there is no such figure, or it is not legal. */
bool level_read_figure(struct config_loader *loader, const char *path, const char *of,
                       const struct config_node *key, struct level *level);

/* The levels that a list says, in the loader's arena; NULL, with an error reported. `path` is how
 * messages call the key. */
const struct levels *levels_read(struct config_loader *loader, const char *path,
                                 const struct config_node *node);

#endif
