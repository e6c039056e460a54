/*
 * levels.c: levels of topologies, from a list (levels.h).
 */
#include "collectives/config/input/levels.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LEVEL_SIZES_MAX = 3, LEVEL_SIZE_MAX = HW_SIPS_MAX, LEVELS_TEXT_BYTES = 1000 };

/* The topologies that a level may have: the joints of their dimensions. */
static const struct level_topology {
    const char *name, *sizes; /* in messages */
    uint32_t dims;
    enum hw_sip_joint joint;
} level_topology[] = {
    {"ring_1d", "a number of SIPs", 1, HW_SIP_RING},
    {"torus_2d", "[w, h]", 2, HW_SIP_RING},
    {"torus_3d", "[w, h, d]", 3, HW_SIP_RING},
    {"mesh_2d_no_wrap", "[w, h]", 2, HW_SIP_LINE},
    {"fully_connected", "a number of SIPs", 1, HW_SIP_FULL},
    {"switch", "a number of SIPs", 1, HW_SIP_SWITCH},
};
enum { LEVEL_TOPOLOGIES = sizeof level_topology / sizeof *level_topology };

const char *const level_number_name[LEVEL_NUMBERS] = {
    [LEVEL_DISTANCE_MM] = "distance_mm", [LEVEL_BW_GBS] = "bw_gbs", [LEVEL_NS_PER_MM] = "ns_per_mm",
    [LEVEL_LATENCY_NS] = "latency_ns",   [LEVEL_COST] = "cost",     [LEVEL_WATTS] = "watts",
    [LEVEL_PJ_PER_BIT] = "pj_per_bit"};

/* Ranges and places as for links.* in components.yaml. */
static const struct level_key {
    const char *min, *max, *unit;
    uint32_t places;
} level_key[LEVEL_NUMBERS] = {
    [LEVEL_DISTANCE_MM] = {"0", "1000000", " of mm", 9},
    [LEVEL_BW_GBS] = {"0.001", "1000000", " of GB/s", 6},
    [LEVEL_NS_PER_MM] = {"0", "1000", " of ns per mm", 9},
    [LEVEL_LATENCY_NS] = {"0", "1000000000", " of ns", 9},
    [LEVEL_COST] = {"0", "100000000", "", 6},
    [LEVEL_WATTS] = {"0", "1000000", " of W", 6},
    [LEVEL_PJ_PER_BIT] = {"0", "1000000", " of pJ", 6},
};

struct level_reader {
    struct config_loader *loader;
    const char *path;
    struct levels *levels;
    char text[LEVELS_TEXT_BYTES];
};

static void level_append(struct level_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void level_append(struct level_reader *reader, const char *format, ...)
{
    const size_t used = strlen(reader->text);
    va_list args;
    va_start(args, format);
    vsnprintf(reader->text + used, sizeof reader->text - used, format, args);
    va_end(args);
}

/* "PATH: expected EXPECTED; found 'TEXT'"; always false. */
static bool level_reject(const struct level_reader *reader, const struct config_node *node,
                         const char *expected)
{
    char quoted[TEXT_QUOTE_BYTES];
    config_error(reader->loader, node->place, "%s: expected %s; found %s", reader->path, expected,
                 config_quote_node(node, quoted));
    return false;
}

/* ---- one level ------------------------------------------------------------------------------- */

static bool read_size(const struct level_reader *reader, const struct level_topology *topology,
                      const struct config_node *node, uint32_t *size)
{
    uint64_t value = 0;
    char expected[160];
    if (node->kind == CONFIG_SCALAR && node->plain && node->bytes > 0 &&
        text_whole(node->text, node->bytes, LEVEL_SIZE_MAX, &value) == node->bytes && value > 0 &&
        (node->bytes == 1 || node->text[0] != '0')) {
        *size = (uint32_t)value;
        return true;
    }
    snprintf(expected, sizeof expected, "%s: %s, whole numbers from 1 to %d%s", topology->name,
             topology->sizes, LEVEL_SIZE_MAX, topology->dims == 1 ? ", or rest" : "");
    return level_reject(reader, node, expected);
}

/* The level has the SIPs that `count` leaves to it. */
static bool is_rest(const struct config_node *node)
{
    return node->kind == CONFIG_SCALAR && node->plain && strcmp(node->text, "rest") == 0;
}

/* The sizes of a topology: a number, or a list of as many as it has dimensions; 0: the rest. */
static bool read_sizes(struct level_reader *reader, const struct level_topology *topology,
                       const struct config_node *node, uint32_t sizes[LEVEL_SIZES_MAX])
{
    const struct config_node *item = node->kind == CONFIG_SEQUENCE ? node->first : node;
    char expected[160];
    uint32_t count = 0;
    if (is_rest(node)) {
        memset(sizes, 0, LEVEL_SIZES_MAX * sizeof *sizes);
        return true;
    }
    if (node->kind == CONFIG_SEQUENCE)
        for (const struct config_node *each = node->first; each != NULL; each = each->next)
            count++;
    else
        count = node->kind == CONFIG_SCALAR;
    if (count != topology->dims) {
        snprintf(expected, sizeof expected, "%s: %s, whole numbers from 1 to %d, or rest",
                 topology->name, topology->sizes, LEVEL_SIZE_MAX);
        return level_reject(reader, node, expected);
    }
    for (uint32_t i = 0; i < count; i++, item = item->next)
        if (!read_size(reader, topology, item, &sizes[i]))
            return false;
    return true;
}

static bool level_read_number(struct level_reader *reader, int which,
                              const struct config_node *node, struct decimal *number)
{
    const struct level_key *const key = &level_key[which];
    char expected[160];
    if (node->kind == CONFIG_SCALAR && node->plain &&
        decimal_parse(node->text, node->bytes, number) && number->places <= key->places &&
        decimal_compare(*number, decimal_literal(key->min)) >= 0 &&
        decimal_compare(*number, decimal_literal(key->max)) <= 0)
        return true;
    snprintf(expected, sizeof expected,
             "%s: a number%s from %s to %s with at most %" PRIu32 " decimal places",
             level_number_name[which], key->unit, key->min, key->max, key->places);
    return level_reject(reader, node, expected);
}

static int find_level_key(const struct config_node *key)
{
    for (int i = 0; i < LEVEL_NUMBERS; i++)
        if (strcmp(key->text, level_number_name[i]) == 0)
            return i;
    return -1;
}

bool level_read_figure(struct config_loader *loader, const char *path, const char *of,
                       const struct config_node *key, struct level *level)
{
    struct level_reader reader = {.loader = loader, .path = path};
    const int i = find_level_key(key);
    char known[200] = "", quoted[TEXT_QUOTE_BYTES];
    if (i >= 0) {
        level->given[i] = level_read_number(&reader, i, key->value, &level->number[i]);
        return level->given[i];
    }
    for (uint32_t k = 0; k < LEVEL_NUMBERS; k++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", k > 0 ? ", " : "",
                 level_number_name[k]);
    }
    config_error(loader, key->place, "%s: unknown key %s in %s; known: %s", path,
                 text_quote_key(key->text, key->bytes, quoted), of, known);
    return false;
}

static const struct level_topology *find_topology(const struct config_node *key)
{
    for (uint32_t i = 0; i < LEVEL_TOPOLOGIES; i++)
        if (strcmp(key->text, level_topology[i].name) == 0)
            return &level_topology[i];
    return NULL;
}

static bool unknown_in_level(const struct level_reader *reader, const struct config_node *key)
{
    struct text_nearest nearest = {0};
    char known[300] = "", quoted[TEXT_QUOTE_BYTES], meant[64] = "";
    for (uint32_t i = 0; i < LEVEL_TOPOLOGIES + LEVEL_NUMBERS; i++) {
        const char *const name =
            i < LEVEL_TOPOLOGIES ? level_topology[i].name : level_number_name[i - LEVEL_TOPOLOGIES];
        text_nearest_try(&nearest, key->text, name);
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", name);
    }
    if (nearest.best != NULL)
        snprintf(meant, sizeof meant, "did you mean '%s'? ", nearest.best);
    config_error(reader->loader, key->place, "%s: unknown key %s in a level; %sknown: %s",
                 reader->path, text_quote_key(key->text, key->bytes, quoted), meant, known);
    return false;
}

/* The topology of a level, which is one of the mapping's keys. */
static bool read_topology(struct level_reader *reader, const struct config_node *node,
                          enum hw_link_kind link)
{
    const struct level_topology *topology = NULL;
    struct hw_sip_dims *const dims = &reader->levels->dims;
    uint32_t sizes[LEVEL_SIZES_MAX];
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        const struct level_topology *const found = find_topology(key);
        if (found == NULL)
            continue;
        if (topology != NULL) {
            config_error(reader->loader, key->place,
                         "%s: a level has one topology; found %s and %s; write two levels",
                         reader->path, topology->name, found->name);
            return false;
        }
        topology = found;
        if (!read_sizes(reader, topology, key->value, sizes))
            return false;
        if (sizes[0] == 0 && reader->levels->has_rest) {
            config_error(reader->loader, key->value->place, "%s: two levels have the rest",
                         reader->path);
            return false;
        }
        reader->levels->has_rest |= sizes[0] == 0;
    }
    if (topology == NULL)
        return level_reject(reader, node,
                            "a topology and its size in every level, such as {switch: 8}");
    const bool is_list = topology->dims > 1 && sizes[0] > 0;
    level_append(reader, "%s{%s: %s", reader->levels->dims.count > 0 ? ", " : "", topology->name,
                 is_list         ? "["
                 : sizes[0] == 0 ? "rest"
                                 : "");
    for (uint32_t i = 0; i < topology->dims; i++) {
        dims->at[dims->count++] =
            (struct hw_sip_dim){.joint = topology->joint, .link = link, .size = sizes[i]};
        if (sizes[0] > 0)
            level_append(reader, "%s%" PRIu32, i > 0 ? ", " : "", sizes[i]);
    }
    level_append(reader, "%s", is_list ? "]" : "");
    return true;
}

static bool read_level(struct level_reader *reader, const struct config_node *node)
{
    struct level *const level = &reader->levels->at[reader->levels->count];
    char text[DECIMAL_TEXT_BYTES];
    if (node->kind != CONFIG_MAPPING)
        return level_reject(reader, node, "a level such as {switch: 8}");
    for (const struct config_node *key = node->first; key != NULL; key = key->next)
        if (find_topology(key) == NULL && find_level_key(key) < 0)
            return unknown_in_level(reader, key);
    if (!read_topology(reader, node, (enum hw_link_kind)(HW_LINK_CLASS_1 + reader->levels->count)))
        return false;
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        const int i = find_level_key(key);
        if (i < 0)
            continue;
        if (!level_read_number(reader, i, key->value, &level->number[i]))
            return false;
        level->given[i] = true;
    }
    for (int i = 0; i < LEVEL_NUMBERS; i++)
        if (level->given[i])
            level_append(reader, ", %s: %s", level_number_name[i],
                         decimal_print(level->number[i], text));
    level_append(reader, "}");
    reader->levels->count++;
    return true;
}

const struct levels *levels_read(struct config_loader *loader, const char *path,
                                 const struct config_node *node)
{
    struct levels *const levels = config_arena_alloc(loader->arena, sizeof *levels);
    struct level_reader reader = {loader, path, levels, "["};
    if (levels == NULL)
        return NULL;
    for (const struct config_node *item = node->first; item != NULL; item = item->next) {
        if (levels->count == HW_LEVELS_MAX) {
            config_error(loader, item->place, "%s: more than %d levels; legal: 1 to %d", path,
                         HW_LEVELS_MAX, HW_LEVELS_MAX);
            return NULL;
        }
        if (!read_level(&reader, item))
            return NULL;
    }
    if (levels->count == 0) {
        config_error(loader, node->place,
                     "%s: an empty list; expected 1 to %d levels, such as " LEVELS_EXAMPLE, path,
                     HW_LEVELS_MAX);
        return NULL;
    }
    level_append(&reader, "]");
    levels->text = config_arena_text(loader->arena, reader.text, strlen(reader.text));
    return levels->text != NULL ? levels : NULL;
}
