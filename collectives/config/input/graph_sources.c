/*
 * graph_sources.c: finds the reader of another program's file, and reads the file's text
 * (graph_sources.h).
 */
#include "collectives/config/input/graph_sources.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const struct {
    const char *name;
    bool (*read)(const struct graph_file *file);
} source_table[] = {{"nccl", graph_nccl_read}, {"astra", graph_astra_read}};
enum { SOURCES = sizeof source_table / sizeof *source_table };

static uint32_t find_source(const char *key)
{
    uint32_t i = 0;
    while (i < SOURCES && strcmp(source_table[i].name, key) != 0)
        i++;
    return i;
}

bool graph_source_is(const char *key) { return find_source(key) < SOURCES; }

bool graph_source_parameter_is(const char *key)
{
    static const char *const names[] = {GRAPH_SOURCE_PARAMETERS};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], key) == 0)
            return true;
    return false;
}

bool graph_source_has_path(const char *key)
{
    return graph_source_is(key) || strcmp(key, "rings") == 0;
}

char *graph_file_text(struct config_loader *loader, const char *name, uint32_t *source,
                      size_t *bytes, uint64_t *contents)
{
    *source = config_source_add(loader, &(struct config_source){.name = name, .is_file = true});
    char *const text = *source > 0 ? config_file_read(loader, *source, name, bytes) : NULL;
    if (text != NULL)
        *contents = XXH3_64bits_withSeed(text, *bytes, *contents);
    return text;
}

struct decimal graph_millionths(int64_t value)
{
    struct decimal decimal = {value, 6};
    while (decimal.places > 0 && decimal.mantissa % 10 == 0) {
        decimal.mantissa /= 10;
        decimal.places--;
    }
    return decimal;
}

uint32_t graph_source_class(struct graph_list *list, const char *name, const struct level *figures)
{
    const uint32_t class = graph_list_class(list, name, figures);
    for (int i = 0; class != GRAPH_LIST_FULL && i < LEVEL_NUMBERS; i++)
        if (figures->given[i] && !list->class[class].figures.given[i]) {
            list->class[class].figures.given[i] = true;
            list->class[class].figures.number[i] = figures->number[i];
        }
    return class;
}

bool graph_source_read(struct config_loader *loader, const char *path,
                       const struct config_node *graph, const struct config_node *key,
                       struct graph_list *list, uint64_t *contents)
{
    struct graph_file file = {.loader = loader,
                              .path = path,
                              .graph = graph,
                              .name = key->value->text,
                              .list = list,
                              .contents = contents};
    char quoted[TEXT_QUOTE_BYTES];
    if (key->value->kind != CONFIG_SCALAR || key->value->bytes == 0) {
        config_error(loader, key->value->place, "%s: expected %s: a file; found %s", path,
                     key->text, config_quote_node(key->value, quoted));
        return false;
    }
    if (list->sips > 0) {
        config_error(loader, key->place,
                     "%s: this graph has its SIPs already; legal: one file, one rule, or `sips`",
                     path);
        return false;
    }
    char *const text = graph_file_text(loader, file.name, &file.source, &file.bytes, contents);
    file.text = text;
    const bool read = text != NULL && source_table[find_source(key->text)].read(&file);
    free(text);
    return read;
}
