/*
 * config_rules.h: the rules across several values, checked when all layers are in place.
 */
#ifndef COLLECTIVES_CONFIG_RULES_H
#define COLLECTIVES_CONFIG_RULES_H

#include "collectives/config/config_tree.h"

/*
 * Checks the rules that need more than one value, over all algorithms where it concerns them; sets
 * `extends`, `chosen`, `runs` and the grid. hw and ccl are filled only if this and everything
 * before found no error.
 */
void config_check_algorithms(struct config_loader *loader, struct config_tree *tree);
void config_check_machine(struct config_loader *loader, struct config_tree *tree);

/* "PATH: no algorithm 'x'; did you mean 'y'? `cubewarp list algorithms` lists them" */
void config_unknown_algorithm(struct config_loader *loader, const struct config_tree *tree,
                              const char *path, const struct config_value *value);

#endif
