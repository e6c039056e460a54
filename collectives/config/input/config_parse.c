/*
 * config_parse.c: from a file's bytes to a tree of nodes, through libyaml's events, whose marks
 * give every node its line and column. Parts of YAML that a configuration has no use for are
 * refused by name: anchors, aliases, tags, several documents. Bounds on size, number and depth hold
 * before anything grows.
 */
#include "collectives/config/input/config_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "collectives/config/input/text.h"

struct parse {
    struct config_loader *loader;
    yaml_parser_t parser;
    uint32_t source, node_count, depth;
    const char *text;
    size_t bytes;
    bool failed; /* an error was reported: stop */
};

/* The place of a byte, counting characters as libyaml does. */
static struct config_place place_at(uint32_t source, const char *text, size_t offset)
{
    struct config_place place = {.source = source, .line = 1, .column = 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

static struct config_place config_parse_place_of(const struct parse *parse, const yaml_mark_t *mark)
{
    return (struct config_place){.source = parse->source,
                                 .line = (uint32_t)mark->line + 1,
                                 .column = (uint32_t)mark->column + 1};
}

static void config_parse_fail(struct parse *parse, const yaml_event_t *event, const char *text)
{
    config_error(parse->loader, config_parse_place_of(parse, &event->start_mark), "%s", text);
    parse->failed = true;
}

static size_t offset_of_mark(const struct parse *parse)
{
    const size_t index = parse->parser.problem_mark.index; /* in characters */
    return index < parse->bytes ? index : parse->bytes;
}

/* What people who write such a file have mostly done. */
static const char *hint_of(const struct parse *parse, size_t offset)
{
    const char *const problem = parse->parser.problem != NULL ? parse->parser.problem : "";
    if (offset < parse->bytes && parse->text[offset] == '\t')
        return "; a tab: YAML is indented with spaces";
    if (strstr(problem, "mapping values are not allowed") != NULL)
        return "; a second key in one line: put it on a line of its own, indented, or write "
               "{key: value}";
    return strstr(problem, "block mapping") != NULL || strstr(problem, "expected key") != NULL
               ? "; keys of one mapping begin in one column"
               : "";
}

/* The next event; false, with the error reported, if the text is not YAML. */
static bool next_event(struct parse *parse, yaml_event_t *event)
{
    if (yaml_parser_parse(&parse->parser, event))
        return true;
    parse->failed = true;
    const yaml_parser_t *const parser = &parse->parser;
    if (parser->error == YAML_MEMORY_ERROR) {
        parse->loader->arena->failed = true;
        return false;
    }
    char context[TEXT_QUOTE_BYTES] = "";
    if (parser->context != NULL)
        snprintf(context, sizeof context, " (%s)", parser->context);
    /* the reader knows the byte, the scanner and the parser a mark */
    const size_t offset =
        parser->problem_offset < parse->bytes ? parser->problem_offset : parse->bytes;
    const struct config_place place = parser->error == YAML_READER_ERROR
                                          ? place_at(parse->source, parse->text, offset)
                                          : config_parse_place_of(parse, &parser->problem_mark);
    config_error(parse->loader, place, "not YAML: %s%s%s",
                 parser->problem != NULL ? parser->problem : "unreadable", context,
                 hint_of(parse, offset_of_mark(parse)));
    return false;
}

/* A node for this event, NULL if it is refused. */
static struct config_node *new_node(struct parse *parse, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL;
    const yaml_char_t *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor != NULL || event->type == YAML_ALIAS_EVENT) {
        config_parse_fail(parse, event,
                          "anchors and aliases are not used here: write the value out");
        return NULL;
    }
    if (tag != NULL) {
        config_parse_fail(parse, event, "tags are not used here: write the value alone");
        return NULL;
    }
    const bool is_list = parse->loader->sources[parse->source - 1].is_list;
    if (parse->node_count == (is_list ? CONFIG_LIST_NODES_MAX : CONFIG_NODES_MAX)) {
        config_parse_fail(parse, event,
                          is_list ? "more than 16000000 values"
                                  : "more than 20000 values: not a configuration file");
        return NULL;
    }
    if (parse->depth == CONFIG_DEPTH_MAX) {
        config_parse_fail(parse, event, "nested more than 16 deep; configurations are at most 6");
        return NULL;
    }
    parse->node_count++;
    struct config_node *const node = config_arena_alloc(parse->loader->scratch, sizeof *node);
    if (node == NULL) {
        parse->failed = true;
        return NULL;
    }
    node->place = config_parse_place_of(parse, &event->start_mark);
    return node;
}

static void fill_scalar(struct parse *parse, const yaml_event_t *event, struct config_node *node)
{
    const char *const text = (const char *)event->data.scalar.value;
    node->kind = CONFIG_SCALAR;
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->is_long = event->end_mark.line > event->start_mark.line;
    node->bytes = event->data.scalar.length;
    if (memchr(text, '\0', node->bytes) != NULL)
        config_parse_fail(parse, event, "a NUL byte in a value");
    node->text = config_arena_text(parse->loader->scratch, text, node->bytes);
    if (node->text == NULL)
        parse->failed = true;
}

static struct config_node *parse_node(struct parse *parse, yaml_event_t *event);

/* Items up to the sequence's end. */
static void parse_sequence(struct parse *parse, struct config_node *node)
{
    struct config_node **tail = &node->first;
    yaml_event_t event;
    while (!parse->failed && next_event(parse, &event)) {
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return;
        }
        *tail = parse_node(parse, &event);
        if (*tail != NULL)
            tail = &(*tail)->next;
    }
}

/* A key that was there before stays; the second one is an error and is left out. */
static bool is_duplicate(struct parse *parse, const struct config_node *mapping,
                         const struct config_node *key)
{
    for (const struct config_node *other = mapping->first; other != NULL; other = other->next) {
        if (other->bytes != key->bytes || memcmp(other->text, key->text, key->bytes) != 0)
            continue;
        char quoted[TEXT_QUOTE_BYTES];
        config_error(
            parse->loader, key->place, "key %s is given twice; first at line %u, column %u",
            text_quote_key(key->text, key->bytes, quoted), other->place.line, other->place.column);
        return true;
    }
    return false;
}

/* Keys and values up to the mapping's end. */
static void parse_mapping(struct parse *parse, struct config_node *node)
{
    struct config_node **tail = &node->first;
    yaml_event_t event;
    while (!parse->failed && next_event(parse, &event)) {
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return;
        }
        if (event.type == YAML_MAPPING_START_EVENT || event.type == YAML_SEQUENCE_START_EVENT) {
            config_parse_fail(parse, &event, "a key must be a name");
            yaml_event_delete(&event);
            return;
        }
        struct config_node *const key = parse_node(parse, &event);
        if (key == NULL || parse->failed || !next_event(parse, &event))
            return;
        key->value = parse_node(parse, &event);
        if (key->value == NULL || is_duplicate(parse, node, key))
            continue;
        *tail = key;
        tail = &key->next;
    }
}

/* The node that starts with this event, which is consumed. */
static struct config_node *parse_node(struct parse *parse, yaml_event_t *event)
{
    struct config_node *const node = new_node(parse, event);
    const yaml_event_type_t type = event->type;
    if (node != NULL && type == YAML_SCALAR_EVENT)
        fill_scalar(parse, event, node);
    yaml_event_delete(event);
    if (node == NULL || parse->failed)
        return NULL;
    parse->depth++;
    if (type == YAML_SEQUENCE_START_EVENT) {
        node->kind = CONFIG_SEQUENCE;
        parse_sequence(parse, node);
    } else if (type == YAML_MAPPING_START_EVENT) {
        node->kind = CONFIG_MAPPING;
        parse_mapping(parse, node);
    }
    parse->depth--;
    return parse->failed ? NULL : node;
}

/* A file may hold nothing but comments: it changes nothing. */
static bool is_all_comment(const struct parse *parse, const struct config_node *root)
{
    const bool nothing =
        root == NULL || (root->kind == CONFIG_SCALAR && root->plain && root->bytes == 0);
    return nothing && parse->loader->sources[parse->source - 1].is_file &&
           memchr(parse->text, '#', parse->bytes) != NULL;
}

/* The one document of a stream. NULL, with an error reported, if there is none or are more; NULL
 * without an error for a file of comments. */
static struct config_node *parse_stream(struct parse *parse)
{
    struct config_node *root = NULL;
    yaml_event_t event;
    for (;;) {
        if (!next_event(parse, &event))
            return NULL;
        if (event.type == YAML_STREAM_END_EVENT) {
            const bool all_comment = is_all_comment(parse, root);
            if (root == NULL && !all_comment)
                config_parse_fail(parse, &event, "empty; expected YAML with a value in it");
            yaml_event_delete(&event);
            return all_comment ? NULL : root;
        }
        if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_END_EVENT ||
            (event.type == YAML_DOCUMENT_START_EVENT && root == NULL)) {
            yaml_event_delete(&event);
            continue;
        }
        if (event.type == YAML_DOCUMENT_START_EVENT) {
            config_parse_fail(parse, &event, "a second document; expected one");
            yaml_event_delete(&event);
            return NULL;
        }
        root = parse_node(parse, &event);
        if (root == NULL)
            return NULL;
    }
}

/* Reports the first byte that is not UTF-8; libyaml gives no line for it. */
static bool check_utf8(struct config_loader *loader, uint32_t source, const char *text,
                       size_t bytes)
{
    const size_t good = text_utf8_prefix(text, bytes);
    if (good == bytes)
        return true;
    config_error(loader, place_at(source, text, good),
                 "byte 0x%02x is not UTF-8; expected a YAML file in UTF-8",
                 (unsigned)(unsigned char)text[good]);
    return false;
}

struct config_node *config_parse(struct config_loader *loader, uint32_t source, const char *text,
                                 size_t bytes)
{
    if (!check_utf8(loader, source, text, bytes))
        return NULL;
    struct parse parse = {.loader = loader, .source = source, .text = text, .bytes = bytes};
    if (!yaml_parser_initialize(&parse.parser)) {
        loader->arena->failed = true;
        return NULL;
    }
    yaml_parser_set_encoding(&parse.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parse.parser, (const unsigned char *)text, bytes);
    struct config_node *const root = parse_stream(&parse);
    yaml_parser_delete(&parse.parser);
    return root;
}
