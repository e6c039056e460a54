/*
 * config_groups.h: the rules of the sets under `groups`, and what they come to (ccl_groups.h).
 */
#ifndef COLLECTIVES_CONFIG_GROUPS_H
#define COLLECTIVES_CONFIG_GROUPS_H

#include "collectives/config/config_tree.h"

/* Reports what is wrong with each set; fills tree->group_sets, and `runs` of the entries that sets
 * name. */
void config_check_groups(struct config_loader *loader, struct config_tree *tree);

#endif
