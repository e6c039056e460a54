/*
 * config_parse.h: one YAML text as a tree of nodes that know their place. Everything here is
 * bounded whatever the text: the number of nodes and their depth; anchors, aliases, tags are
 * refused.
 */
#ifndef COLLECTIVES_CONFIG_PARSE_H
#define COLLECTIVES_CONFIG_PARSE_H

#include "collectives/config/input/config_source.h"

enum config_node_kind { CONFIG_SCALAR, CONFIG_SEQUENCE, CONFIG_MAPPING };

/* A node. A mapping's children are its keys (scalars), each with its value beside it. */
struct config_node {
    enum config_node_kind kind;
    bool plain;   /* a scalar without quotes */
    bool is_long; /* a scalar that goes over several lines */
    struct config_place place;
    const char *text; /* of a scalar; without NUL bytes inside */
    size_t bytes;
    struct config_node *first, *next;
    struct config_node *value; /* of a key */
};

/* Parses one YAML document; NULL with errors reported, or without one for a file that holds nothing
 * but comments. A --set's text has no lines of its own. */
struct config_node *config_parse(struct config_loader *loader, uint32_t source, const char *text,
                                 size_t bytes);

#endif
