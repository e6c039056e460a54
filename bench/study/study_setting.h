/*
 * study_setting.h: one setting of a study file, checked by itself: an option of `run` by its row in
 * the table of options, a key of the configuration by its row in the schema.
 */
#ifndef BENCH_STUDY_SETTING_H
#define BENCH_STUDY_SETTING_H

#include "bench/study/study.h"
#include "collectives/config/config_schema.h"
#include "collectives/config/input/config_parse.h"

/*
 * Reads *setting from a name and a value. False, with an error reported at its place: the name is
 * unknown or not legal in a study, or the value is not legal by itself. Texts are in the loader's
 * arena.
 */
bool study_setting_read(struct config_loader *loader, const struct config_node *name,
                        const struct config_node *value, struct study_setting *setting);
/* The option of `run` of this name; NULL: there is none. */
const struct option_row *study_option(const char *name);
/* Whether the name is of a key of the configuration. *key: its row; NULL: its type is not known.
 * False, with an error reported, if not. */
bool study_setting_key(struct config_loader *loader, const struct config_node *name,
                       const struct config_key **key);
/* Whether an option or a key has this name; nothing is reported. */
bool study_setting_is_known(const char *name);

/* A node as one line of YAML, in the arena; a scalar unchanged. NULL: no memory. */
const char *study_node_text(struct config_arena *arena, const struct config_node *node);

#endif
