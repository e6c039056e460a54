/*
 * config_tree.h: the values of a configuration with their places, as the layers leave them; what
 * rules, fill and print read. Internal to the loader.
 */
#ifndef COLLECTIVES_CONFIG_TREE_H
#define COLLECTIVES_CONFIG_TREE_H

#include "collectives/config/ccl_config.h"
#include "collectives/config/config_schema.h"
#include "hw/topology/topology.h"

#define CONFIG_ALGORITHMS_MAX 1024u

/* One entry under `algorithms`. */
struct config_algorithm {
    const char *name;
    struct config_place place; /* of its name where it first stands */
    struct config_value value[CONFIG_CCL_KEYS_MAX];
    struct config_algorithm *extends; /* resolved; NULL: none */
    struct config_algorithm *next;    /* in order of appearance */
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
    struct hw_sip_size grid;         /* of SIPs, in force; 0: not a grid, or not known */
};

/* Applies all of a file or preset, checked against what is legal in that source. */
void config_apply_file(struct config_loader *loader, struct config_tree *tree, uint32_t source,
                       const struct config_node *root);
/* Applies a value at a path: --set. */
void config_apply_path(struct config_loader *loader, struct config_tree *tree, uint32_t source,
                       const char *path, const struct config_node *node);

struct config_algorithm *config_algorithm_find(const struct config_tree *tree, const char *name);
/* The value in force of a collectives' key for an algorithm: its own, inherited, or the default. */
const struct config_value *config_ccl_value(const struct config_tree *tree,
                                            const struct config_algorithm *algorithm, int key);
const struct config_value *config_machine_value(const struct config_tree *tree, const char *path);

/*
 * Checks what needs more than one value, over all algorithms where it concerns them; sets
 * `extends`, `chosen` and the grid. hw and ccl are filled only if this and everything before found
 * no error.
 */
void config_check_algorithms(struct config_loader *loader, struct config_tree *tree);
void config_check_machine(struct config_loader *loader, struct config_tree *tree);
/* The chosen algorithm's `mate` and `package` (config_ranks.c). */
void config_check_ranks(struct config_loader *loader, const struct config_tree *tree);
void config_fill_ranks(const struct config_tree *tree, struct ccl_ranks *ranks);
void config_check_jitter(struct config_loader *loader, const struct config_tree *tree);
void config_fill(struct config *config);
void config_fill_jitter(const struct config_tree *tree, struct hw_config *hw);
/* Fills config->digest; CW_NO_RESOURCE without memory. */
int config_digest(struct config *config);
void config_check_rings(struct config *config, struct config_errors *errors);

/* Finds the shipped files' folder; NULL with an error that names the places tried. */
const char *config_find_shipped(struct config_loader *loader, const char *given);
/* A preset's path: configs/presets/NAME.yaml, or the text itself if it is a path. */
const char *config_find_preset(struct config_loader *loader, const char *configs_dir,
                               const char *preset);

#endif
