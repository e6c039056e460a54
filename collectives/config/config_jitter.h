/*
 * config_jitter.h: `jitter` in components.yaml: rules across its keys, and its part of hw_config.
 */
#ifndef COLLECTIVES_CONFIG_JITTER_H
#define COLLECTIVES_CONFIG_JITTER_H

#include "collectives/config/config_tree.h"

void config_check_jitter(struct config_loader *loader, const struct config_tree *tree);
void config_fill_jitter(struct config_tree *tree, struct hw_config *hw);

#endif
