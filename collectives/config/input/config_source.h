/*
 * config_source.h: texts that configurations are read from, as trees of nodes that know their
 * place; and the list of errors. Everything here is bounded whatever the text: a file's size, the
 * number of its nodes, their depth; there are no anchors, aliases or tags.
 */
#ifndef COLLECTIVES_CONFIG_SOURCE_H
#define COLLECTIVES_CONFIG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/config/input/config_arena.h"
#include "collectives/config/input/config_errors.h"
#include "collectives/config/input/text.h"

#define CONFIG_FILE_BYTES_MAX ((size_t)1024 * 1024)
#define CONFIG_NODES_MAX      20000u
/* of a list of a machine's parts */
#define CONFIG_LIST_BYTES_MAX ((size_t)256 * 1024 * 1024)
#define CONFIG_LIST_NODES_MAX 16000000u
#define CONFIG_DEPTH_MAX      16u

/* The place where a text came from, and the files whose keys are legal in it. */
enum config_file { CONFIG_TOPOLOGY, CONFIG_COMPONENTS, CONFIG_CCL, CONFIG_FILES };
struct config_source {
    const char *name;    /* in messages: a file's path, "--set KEY=VALUE", "--algorithm NAME" */
    bool is_file;        /* places have a line and a column */
    bool is_found;       /* in the working directory: nobody has named it */
    bool is_shipped;     /* one of the three files that are always there */
    bool is_environment; /* a variable */
    bool is_list; /* it lists the parts of a machine or of a plan: longer than a configuration */
    bool any_key; /* a preset or --set: keys of all files; else only keys of `file` */
    enum config_file file; /* which of the three */
};

/* One load: its memory, its sources and its errors. */
struct config_loader {
    struct config_arena *arena;   /* the configuration's: sources, values */
    struct config_arena *scratch; /* of this load alone: node trees */
    struct config_source *sources;
    uint32_t source_count, source_capacity;
    struct config_errors *errors;
};

/* Adds a source; its index + 1, or 0 without memory. */
uint32_t config_source_add(struct config_loader *loader, const struct config_source *source);
/* Reads a whole file into memory that the caller frees; NULL with an error reported. */
char *config_file_read(struct config_loader *loader, uint32_t source, const char *path,
                       size_t *bytes);
#endif
