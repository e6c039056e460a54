/*
 * config_find.h: where the shipped files and the presets are.
 */
#ifndef COLLECTIVES_CONFIG_FIND_H
#define COLLECTIVES_CONFIG_FIND_H

#include "collectives/config/config_source.h"

/* Finds the shipped files' folder; NULL with an error that names the places tried. */
const char *config_find_shipped(struct config_loader *loader, const char *given);
/* A preset's path: configs/presets/NAME.yaml, or the text itself if it is a path. */
const char *config_find_preset(struct config_loader *loader, const char *configs_dir,
                               const char *preset);

#endif
