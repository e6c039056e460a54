/*
 * config_errors.h: the errors of a configuration, each with its place; how a place and a node look
 * in a message. All errors of a load are kept, up to a bound, and sorted by place before they are
 * shown.
 */
#ifndef COLLECTIVES_CONFIG_ERRORS_H
#define COLLECTIVES_CONFIG_ERRORS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "collectives/config/input/text.h"

/* One error: a whole line of text without its newline, "file:line:column: fault". */
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

enum { CONFIG_ERRORS_MAX = 1000 };

struct config_loader;
struct config_node;
struct config_source;

/* source: index + 1 among the sources, 0 for no place. Lines and columns count from 1. */
struct config_place {
    uint32_t source, line, column;
};

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

/* One line each. */
void config_errors_print(FILE *file, const struct config_errors *errors);
void config_errors_free(struct config_errors *errors);

#endif
