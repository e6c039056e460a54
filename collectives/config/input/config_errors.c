/*
 * config_errors.c: the list of errors, how a place and a foreign text look in them, and which known
 * name a misspelled one may have meant. Errors are dropped, and counted, beyond a bound.
 */
#include "collectives/config/input/config_errors.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/config_parse.h"
#include "collectives/config/input/config_source.h"

#define MESSAGE_BYTES      1024u
#define SOURCE_SHOWN_BYTES 200

const char *config_place_text(const struct config_source *sources, struct config_place place,
                              char *buf, size_t size)
{
    if (place.source == 0)
        snprintf(buf, size, "configuration");
    else if (sources[place.source - 1].is_file)
        snprintf(buf, size, "%s:%u:%u", sources[place.source - 1].name, place.line, place.column);
    else
        snprintf(buf, size, "%.*s", SOURCE_SHOWN_BYTES, sources[place.source - 1].name);
    for (char *at = buf; *at != '\0'; at++) /* a file may be called anything */
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    return buf;
}

/* Room for one more, or counts it as dropped. */
static struct config_error *errors_slot(struct config_errors *errors)
{
    if (errors->count >= CONFIG_ERRORS_MAX) {
        errors->dropped++;
        return NULL;
    }
    if (errors->count == errors->capacity) {
        const size_t capacity = errors->capacity == 0 ? 16 : 2 * errors->capacity;
        struct config_error *const list = realloc(errors->list, capacity * sizeof *list);
        if (list == NULL) {
            errors->dropped++;
            return NULL;
        }
        errors->list = list;
        errors->capacity = capacity;
    }
    return &errors->list[errors->count];
}

void config_error_text(struct config_errors *errors, const struct config_source *sources,
                       struct config_place place, const char *text)
{
    struct config_error *const error = errors_slot(errors);
    if (error == NULL)
        return;
    char where[MESSAGE_BYTES];
    config_place_text(sources, place, where, sizeof where);
    const size_t bytes = strlen(where) + strlen(text) + 3;
    char *const line = malloc(bytes);
    if (line == NULL) {
        errors->dropped++;
        return;
    }
    snprintf(line, bytes, "%s: %s", where, text);
    *error = (struct config_error){
        .source = place.source, .line = place.line, .column = place.column, .text = line};
    errors->count++;
}

void config_error(struct config_loader *loader, struct config_place place, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    config_error_text(loader->errors, loader->sources, place, text);
}

static int compare_numbers(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static int compare_errors(const void *left, const void *right)
{
    const struct config_error *const a = left;
    const struct config_error *const b = right;
    int order = compare_numbers(a->source, b->source);
    order = order != 0 ? order : compare_numbers(a->line, b->line);
    order = order != 0 ? order : compare_numbers(a->column, b->column);
    return order != 0 ? order : strcmp(a->text, b->text);
}

void config_errors_sort(struct config_errors *errors)
{
    if (errors->count > 1)
        qsort(errors->list, errors->count, sizeof *errors->list, compare_errors);
}

void config_errors_print(FILE *file, const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        fprintf(file, "%s\n", errors->list[i].text);
    if (errors->dropped > 0)
        fprintf(file, "and %zu more errors\n", errors->dropped);
}

void config_errors_free(struct config_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        free(errors->list[i].text);
    free(errors->list);
    *errors = (struct config_errors){0};
}

const char *config_quote_node(const struct config_node *node, char buf[TEXT_QUOTE_BYTES])
{
    if (node->kind == CONFIG_SEQUENCE)
        snprintf(buf, TEXT_QUOTE_BYTES, "a list");
    else if (node->kind == CONFIG_MAPPING)
        snprintf(buf, TEXT_QUOTE_BYTES, "a mapping");
    else if (node->bytes == 0 && node->plain)
        snprintf(buf, TEXT_QUOTE_BYTES, "nothing");
    else
        return node->is_long ? "a text of several lines" : text_quote(node->text, node->bytes, buf);
    return buf;
}
