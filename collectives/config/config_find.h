/*
 * config_find.h: where the shipped files and the presets are.
 */
#ifndef COLLECTIVES_CONFIG_FIND_H
#define COLLECTIVES_CONFIG_FIND_H

#include "collectives/config/builtin_files.h"
#include "collectives/config/input/config_source.h"

/* In the place of a folder: the files that the program has compiled in take effect. */
extern const char CONFIG_BUILT_IN[];
/* The folder that config_find_shipped() gives where it has found the files in the working
 * directory: this very pointer. */
extern const char CONFIG_WORKING_FOLDER[];

/* Finds the shipped files' folder; CONFIG_BUILT_IN if there is none. NULL with an error if `given`,
 * or CUBEWARP_CONFIGS where that is NULL, names a folder without them. */
const char *config_find_shipped(struct config_loader *loader, const char *given);
/* A preset's path: configs/presets/NAME.yaml, or the text itself if it is a path. *builtin: there
 * is no such file, and the preset is this text; else NULL. configs_dir: the folder that
 * config_find_shipped() has found for `given`. */
const char *config_find_preset(struct config_loader *loader, const char *configs_dir,
                               const char *given, const char *preset,
                               const struct builtin_file **builtin);

#endif
