/*
 * config_tree.h: the values of a configuration with their places, as the layers leave them; rules,
 * fill and print read them. Internal to the loader.
 */
#ifndef COLLECTIVES_CONFIG_TREE_H
#define COLLECTIVES_CONFIG_TREE_H

#include "collectives/config/ccl_config.h"
#include "collectives/config/config_schema.h"
#include "hw/topology/topology.h"

#define CONFIG_ALGORITHMS_MAX 1024u
#define CONFIG_NAMED_MAX      1024u /* in a section */

struct ccl_algorithm;
struct config_node;

/* A key of an entry that is not in the schema: a parameter, if the algorithm declares it. */
struct config_parameter {
    const struct config_node *key, *node; /* until the loader has read the value */
    const char *name;
    struct config_value value;
    bool is_declared; /* else it is of a shared object that is not loaded for this run */
    struct config_parameter *next; /* in order of appearance */
};

/* One entry under `algorithms`. */
struct config_algorithm {
    const char *name;
    struct config_place place; /* where its name first occurs */
    struct config_value value[CONFIG_CCL_KEYS_MAX];
    struct config_parameter *parameters;
    struct config_algorithm *extends; /* resolved; NULL: none */
    bool runs;                        /* it is defaults.algorithm, or a set of groups names it */
    const struct ccl_algorithm *algorithm; /* of an entry that runs, once all is read; NULL: not
                                              known */
    struct config_algorithm *next;         /* in order of appearance */
};

/* One set under `groups`, one fault under `faults`. */
struct config_named {
    const char *name;
    struct config_place place; /* where its name first occurs */
    struct config_value value[CONFIG_NAMED_KEYS_MAX];
    struct config_named *next; /* in order of appearance */
};

struct config_tree {
    struct config_arena arena;
    struct config_source *sources;
    uint32_t source_count;
    struct config_value machine[CONFIG_MACHINE_KEYS_MAX];
    struct config_value defaults[CONFIG_CCL_KEYS_MAX];
    struct config_algorithm *algorithms;
    uint32_t algorithm_count;
    struct config_algorithm *chosen; /* defaults.algorithm's entry */
    struct config_named *named[CONFIG_SECTIONS];
    uint32_t named_count[CONFIG_SECTIONS];
    const struct ccl_group_set *group_sets; /* [named_count[CONFIG_GROUPS]] */
    struct hw_sip_size grid;                /* of SIPs, in force; 0: not a grid, or not known */
    struct hw_topology_ops *graph;          /* of SIPs, if they are one; the tree's own */
    struct config_tree *shipped;            /* of the shipped files alone; NULL: not kept */
};

/* The algorithm of the chosen entry; NULL: not known. */
const struct ccl_algorithm *config_running(const struct config_tree *tree);

/* The values of a tree whose rules have not been checked, in the same arena; later layers over one
 * of the two do not change the other. NULL: no memory. */
struct config_tree *config_tree_copy(struct config_arena *arena, const struct config_tree *tree);

struct config_algorithm *config_algorithm_find(const struct config_tree *tree, const char *name);
struct config_named *config_named_at(const struct config_tree *tree, enum config_section section,
                                     const char *name);
/* The value in force of a collectives' key for an algorithm: its own, inherited, or the default. */
const struct config_value *config_ccl_value(const struct config_tree *tree,
                                            const struct config_algorithm *algorithm, int key);
/* The value in force of a parameter for an entry: its own, or inherited. NULL: the default. */
const struct config_value *config_parameter_value(const struct config_algorithm *entry,
                                                  const char *name);
const struct config_value *config_machine_value(const struct config_tree *tree, const char *path);
/* By what the bandwidth, cost and watts of links outside SIPs of this kind are multiplied:
 * links.KIND.scale times links.scale, to 6 places. */
struct decimal config_link_scale(const struct config_tree *tree, enum hw_link_kind kind);
/* The topology of the SIPs; NULL: not given. */
const struct hw_topology_ops *config_topology(const struct config_tree *tree);

#endif
