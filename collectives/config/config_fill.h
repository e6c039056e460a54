/*
 * config_fill.h: from checked values to struct hw_config and struct ccl_config.
 */
#ifndef COLLECTIVES_CONFIG_FILL_H
#define COLLECTIVES_CONFIG_FILL_H

#include "collectives/config/config.h"

/* Fills hw, ccl and groups from config->tree. Nothing can fail here. */
void config_fill(struct config *config);
/* ccl alone, of the tree's chosen entry. */
void config_fill_ccl(struct config *config);

#endif
