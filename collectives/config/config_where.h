/*
 * config_where.h: where something is in the machine, as `only` of a jitter and `at` of a fault say:
 * a SIP, a cube, a PE, or SIPs that are listed or chosen by a rule.
 */
#ifndef COLLECTIVES_CONFIG_WHERE_H
#define COLLECTIVES_CONFIG_WHERE_H

#include "collectives/config/config_tree.h"

struct config_where_key {
    const char *path, *name; /* "jitter.links.ucie", "only" */
    const struct config_value *value;
    uint32_t parts_max; /* how precisely it can be placed: 1 a SIP, 2 a cube, 3 a PE */
};

/* That there is such a place; false, with an error, where there is none. */
bool config_check_where(struct config_loader *loader, const struct config_tree *tree,
                        const struct config_where_key *key);
/* The place; `sips` of the machine, for a rule. */
struct hw_where config_where_of(struct config_arena *arena, const struct config_value *value,
                                uint32_t sips);

#endif
