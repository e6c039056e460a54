/*
 * config_load.h: the loader of topology.yaml, components.yaml and ccl.yaml. Layers, each over the
 * one before: the shipped files, the user's files, a preset, --algorithm and --set, the environment
 * (environment.h). Every value is checked against the schema (config_schema.c), then the rules
 * across keys. All errors are reported, each with its place. Nothing is loaded when there is one.
 */
#ifndef COLLECTIVES_CONFIG_LOAD_H
#define COLLECTIVES_CONFIG_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "collectives/config/config.h"
#include "collectives/config/input/config_errors.h"

/* The options of the command line. Strings are the caller's and must outlive the call only. */
struct config_request {
    const char *topology, *components, *ccl; /* files over the shipped ones; NULL: none */
    const char *preset;                      /* a name in configs/presets, or a path; or NULL */
    const char *const *presets_before;       /* [presets_before_count] each under the next one */
    size_t presets_before_count;
    const char *algorithm;   /* as --set defaults.algorithm=...; or NULL */
    const char *instead_of;  /* the entry that was named, and that `algorithm` stands for: what is
                                set there holds for `algorithm`, too; NULL: none */
    const char *const *sets; /* [set_count] KEY=VALUE */
    size_t set_count;
    bool keep_shipped;       /* also keep the shipped files' own values (config_tree.h); optional */
    bool no_plugins;         /* refuse module, mapper and validator from a file */
    const char *configs_dir; /* the shipped files; NULL: searched for (config_find.c) */
};

/*
 * Loads and checks. CW_OK: *out is a configuration, freed with config_free(). Else *out is NULL,
 * and errors say why: CW_USAGE (sorted by place), CW_NO_RESOURCE (out of memory).
 */
int config_load(const struct config_request *request, struct config **out,
                struct config_errors *errors);
void config_free(struct config *config); /* accepts NULL */

/* The settings of collectives as they would be if this entry, which is built in or which a set of
 * groups names, were defaults.algorithm; "": it is. */
void config_entry(const struct config *config, const char *entry, struct ccl_config *ccl);

#endif
