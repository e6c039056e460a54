/*
 * config_apply.h: applies one source to the tree of values.
 */
#ifndef COLLECTIVES_CONFIG_APPLY_H
#define COLLECTIVES_CONFIG_APPLY_H

#include "collectives/config/input/config_parse.h"
#include "collectives/config/config_tree.h"

/* Applies all of a file or preset, checked against the keys that are legal in that source. */
void config_apply_file(struct config_loader *loader, struct config_tree *tree, uint32_t source,
                       const struct config_node *root);
/* Applies a value at a path: --set. */
void config_apply_path(struct config_loader *loader, struct config_tree *tree, uint32_t source,
                       const char *path, const struct config_node *node);

/* Reads the keys of an entry that are not in the schema: parameters of its algorithm. An unknown
 * one is an error. Not is_known: the algorithm's shared object is not loaded for this run, and its
 * parameters are kept unread. algorithm NULL: it has none, or it is not known. */
void config_apply_parameters(struct config_loader *loader, struct config_tree *tree,
                             struct config_algorithm *entry, const struct ccl_algorithm *algorithm,
                             bool is_known);

#endif
