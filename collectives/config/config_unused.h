/*
 * config_unused.h: the keys that a run does not use. Each key of the schema names its reader
 * (config_schema.h); whether a run has that follows from the machine, the entry that runs and what
 * the bench does.
 */
#ifndef COLLECTIVES_CONFIG_UNUSED_H
#define COLLECTIVES_CONFIG_UNUSED_H

#include <stdbool.h>
#include <stddef.h>

#include "collectives/algorithm.h"
#include "collectives/config/config.h"

/* The work of a run. */
struct config_work {
    const struct ccl_algorithm *algorithm; /* NULL: the bench has none */
    bool is_unknown; /* its kernels are of a shared object: they may do anything */
    bool tensors;    /* it has some, in HBM */
    bool stores;     /* it stores without any */
    bool adds, multiplies;
    bool fills_tcm;   /* its tiles are chosen for the TCM that receive rings leave */
    bool fp8, narrow; /* the type has eight bits; fewer bits than f32 */
    bool waits;       /* for tiles of queues, or notifications */
    bool tiles;       /* these are tiles of queues */
    bool alone;       /* it would, but has one rank on one PE */
    bool crosses;     /* from SIP to SIP */
    bool groups;      /* it makes those that the configuration names */
    bool sized;       /* the command line names sizes, or the bench has none */
};

/* How most reasons begin. */
#define CONFIG_UNUSED "this run does not use it; "

/* `key`: as --set takes it; `place`: where it is given ("--set KEY=VALUE", "file:line:column");
 * `why`: a clause that names what would use it. */
typedef void (*config_unused_fn)(void *arg, const char *key, const char *place, const char *why);

/* Calls `fn` for each key that options name and the run does not use; with `files`, also for those
 * of files and presets, but not of the shipped files. */
void config_unused_visit(const struct config *config, const struct config_work *work, bool files,
                         config_unused_fn fn, void *arg);

#endif
