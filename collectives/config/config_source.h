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

#include "collectives/config/config.h"
#include "collectives/config/config_arena.h"
#include "collectives/config/text.h"

#define CONFIG_FILE_BYTES_MAX ((size_t)1024 * 1024)
#define CONFIG_NODES_MAX      20000u
#define CONFIG_DEPTH_MAX      16u

/* Where a text came from, and what is legal in it. */
enum config_file { CONFIG_TOPOLOGY, CONFIG_COMPONENTS, CONFIG_CCL, CONFIG_FILES };
struct config_source {
    const char *name;      /* in messages: a file's path, "--set KEY=VALUE", "--algorithm NAME" */
    bool is_file;          /* places have a line and a column */
    bool any_key;          /* a preset or --set: keys of all files; else those of `file` */
    enum config_file file; /* which of the three */
};

/* source: index + 1 among the sources, 0 for no place. Lines and columns count from 1. */
struct config_place {
    uint32_t source, line, column;
};

enum config_node_kind { CONFIG_SCALAR, CONFIG_SEQUENCE, CONFIG_MAPPING };

/* A node. A mapping's children are its keys (scalars), each with its value beside it. */
struct config_node {
    enum config_node_kind kind;
    bool plain; /* a scalar without quotes */
    struct config_place place;
    const char *text; /* of a scalar; without NUL bytes inside */
    size_t bytes;
    struct config_node *first, *next;
    struct config_node *value; /* of a key */
};

/* What errors and trees are made with: one load. */
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
/* Parses one YAML document; NULL with errors reported, or without one for a file that holds nothing
 * but comments. A --set's text has no lines of its own. */
struct config_node *config_parse(struct config_loader *loader, uint32_t source, const char *text,
                                 size_t bytes);

/* Reports an error at a place. */
void config_error(struct config_loader *loader, struct config_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void config_error_text(struct config_errors *errors, const struct config_source *sources,
                       struct config_place place, const char *text);
void config_errors_sort(struct config_errors *errors);
/* "file:12:3", or the source's name; "configuration" without a place. Returns buf. */
const char *config_place_text(const struct config_source *sources, struct config_place place,
                              char *buf, size_t size);

/* A node as messages show it: its text in quotes, "a list", "a mapping" or "nothing". Returns buf.
 */
const char *config_quote_node(const struct config_node *node, char buf[TEXT_QUOTE_BYTES]);

#endif
