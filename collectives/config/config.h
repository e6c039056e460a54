/*
 * config.h: the loader of topology.yaml, components.yaml and ccl.yaml (40-runtime.md,
 * "Configuration"). Layers, each over the one before: the shipped files, the user's files, a
 * preset, the environment (environment.h), --algorithm and --set. Every value is checked against
 * the schema (config_schema.c), then rules across keys hold of what is in force; all errors are
 * reported, each with its place, and nothing is loaded when there is one. A loaded configuration is
 * const and shares nothing with another.
 */
#ifndef COLLECTIVES_CONFIG_H
#define COLLECTIVES_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "collectives/config/ccl_config.h"
#include "hw/hw_config.h"

/* What the command line asks for. Strings are the caller's and must outlive the call only. */
struct config_request {
    const char *topology, *components, *ccl; /* files over the shipped ones; NULL: none */
    const char *preset;                      /* a name in configs/presets, or a path; or NULL */
    const char *algorithm;                   /* as --set defaults.algorithm=...; or NULL */
    const char *const *sets;                 /* [set_count] KEY=VALUE */
    size_t set_count;
    bool no_plugins;         /* refuse module, mapper and validator from a file */
    const char *configs_dir; /* the shipped files; NULL: searched for (config_find.c) */
};

/* One error: a whole line of text without its newline, "file:line:column: what is wrong". */
struct config_error {
    uint32_t source, line, column; /* by which errors are sorted */
    char *text;
};

/* Zero-initialised by its owner, released with config_errors_free(). */
struct config_errors {
    struct config_error *list;
    size_t count, capacity;
    size_t dropped; /* not kept: there are more than CONFIG_ERRORS_MAX, or no memory */
};

#define CONFIG_ERRORS_MAX 1000u

struct config_tree;

struct config {
    struct hw_config hw;
    struct ccl_config ccl;
    char digest[17];          /* XXH3-64 of the resolved text, 16 hex digits */
    struct config_tree *tree; /* values and their places */
};

/*
 * Loads and checks. CW_OK: *out is a configuration, freed with config_free(). Else *out is NULL,
 * and errors say why: CW_USAGE (sorted by place), CW_NO_RESOURCE (out of memory).
 */
int config_load(const struct config_request *request, struct config **out,
                struct config_errors *errors);
void config_free(struct config *config); /* accepts NULL */

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

/* Adds an error of a later check, in the form of the loader's: "<where>: <path>: <text>". */
void config_error_at(struct config_errors *errors, const struct config *config, const char *path,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* One line each. */
void config_errors_print(FILE *file, const struct config_errors *errors);
void config_errors_free(struct config_errors *errors);

/*
 * The resolved configuration as YAML that loads again (as a preset), all three files in one; with
 * a comment for each value that says where it came from, if `places`.
 */
int config_print(FILE *file, const struct config *config, bool places);

/*
 * The most directions that one PE has a ring for (wiring, meshes and SIP topology), counted from
 * the structure alone.
 */
uint32_t config_directions_max(const struct hw_config *hw, const struct ccl_config *ccl);

/*
 * Checks that `directions` rings of n_slots slots fit beside each other: in TCM or an HBM slice per
 * PE, in SRAM those of the `pes` wired PEs of a cube together. An error names the memory, the
 * request and what is free. True if they fit.
 */
bool config_rings_fit(const struct config *config, uint32_t directions, uint32_t pes,
                      struct config_errors *errors);

#endif
