/*
 * config_place.h: where values of a loaded configuration come from, for messages of later checks.
 */
#ifndef COLLECTIVES_CONFIG_PLACE_H
#define COLLECTIVES_CONFIG_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "collectives/config/config.h"
#include "collectives/config/input/config_errors.h"

/*
 * Where the value in force comes from: "file:line:column", "--set KEY=VALUE" or
 * "--algorithm NAME". `path` is a key's path without the file's name; "defaults.KEY" means the
 * chosen algorithm's own value where it has one, and for a key that only an algorithm has
 * ("defaults.module") its entry's. The place of the enclosing mapping if no value was given.
 * Returns buf.
 */
const char *config_where(const struct config *config, const char *path, char *buf, size_t size);

/* Whether that value was given by an option rather than by a file. */
bool config_is_from_option(const struct config *config, const char *path);

/* Whether a file, a preset or an option names the work: the algorithm, a key of its entry or of
 * algorithms alone, or the size. Else the shipped files do. */
bool config_names_work(const struct config *config);

/* Says where the chosen algorithm's configuration has a key that nothing reads (`root_cube`), and
 * which key is read. */
void config_print_unread(FILE *file, const struct config *config);

/* Adds an error of a later check, in the form of the loader's: "<where>: <path>: <text>". */
void config_error_at(struct config_errors *errors, const struct config *config, const char *path,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
