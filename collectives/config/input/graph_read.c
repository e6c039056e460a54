/*
 * graph_read.c: reads a graph of SIPs and switches (graph_read.h). First what other keys name:
 * SIPs, kinds of switches, classes; then links, and what holds for all. A rule (graph_rules.h)
 * comes before switches and links of the file's own.
 */
#include "collectives/config/input/graph_read.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "collectives/config/input/graph_rules.h"
#include "collectives/config/input/graph_sources.h"

struct graph_reader {
    struct config_loader *loader;
    const char *path;
    struct graph_list *list;
    uint32_t kinds_of_rule; /* the first kinds of switches, which a rule has made */
    uint64_t contents;      /* hash of the files that are read */
};

/* Stops, of one end of a link. */
struct graph_ends {
    uint32_t *stop;
    uint32_t count, room;
};

/* "PATH: expected EXPECTED; found 'TEXT'"; always false. */
static bool graph_reject(const struct graph_reader *reader, const struct config_node *node,
                         const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool graph_reject(const struct graph_reader *reader, const struct config_node *node,
                         const char *format, ...)
{
    char expected[400], quoted[TEXT_QUOTE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    config_error(reader->loader, node->place, "%s: expected %s; found %s", reader->path, expected,
                 config_quote_node(node, quoted));
    return false;
}

static bool is_key(const struct config_node *key, const char *name)
{
    return strcmp(key->text, name) == 0;
}

static const struct config_node *graph_find(const struct config_node *mapping, const char *name)
{
    for (const struct config_node *key = mapping->first; key != NULL; key = key->next)
        if (is_key(key, name))
            return key->value;
    return NULL;
}

/* Every key is one of `known`, a list that ends with NULL. */
static bool check_keys(const struct graph_reader *reader, const struct config_node *mapping,
                       const char *of, const char *const *known)
{
    for (const struct config_node *key = mapping->first; key != NULL; key = key->next) {
        struct text_nearest nearest = {0};
        char all[400] = "", quoted[TEXT_QUOTE_BYTES], meant[64] = "";
        bool found = false;
        for (uint32_t i = 0; known[i] != NULL; i++) {
            const size_t used = strlen(all);
            found |= is_key(key, known[i]);
            text_nearest_try(&nearest, key->text, known[i]);
            snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "", known[i]);
        }
        if (found)
            continue;
        if (nearest.best != NULL)
            snprintf(meant, sizeof meant, "did you mean '%s'? ", nearest.best);
        config_error(reader->loader, key->place, "%s: unknown key %s in %s; %sknown: %s",
                     reader->path, text_quote_key(key->text, key->bytes, quoted), of, meant, all);
        return false;
    }
    return true;
}

static bool read_count(const struct graph_reader *reader, const char *key,
                       const struct config_node *node, uint32_t least, uint32_t most,
                       uint32_t *count)
{
    uint64_t value = 0;
    if (node->kind != CONFIG_SCALAR || !node->plain || node->bytes == 0 ||
        text_whole(node->text, node->bytes, most, &value) != node->bytes || value < least ||
        (node->bytes > 1 && node->text[0] == '0'))
        return graph_reject(reader, node, "%s: a whole number from %" PRIu32 " to %" PRIu32, key,
                            least, most);
    *count = (uint32_t)value;
    return true;
}

static bool read_yes(const struct graph_reader *reader, const char *key,
                     const struct config_node *node, bool *yes)
{
    const bool is_true = node->kind == CONFIG_SCALAR && node->plain && is_key(node, "true");
    if (!is_true && (node->kind != CONFIG_SCALAR || !node->plain || !is_key(node, "false")))
        return graph_reject(reader, node, "%s: true or false", key);
    *yes = is_true;
    return true;
}

/* A name of letters, digits, '_' and '-' that begins with a letter. */
static bool read_name(const struct graph_reader *reader, const char *of,
                      const struct config_node *node, char *name, size_t bytes)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (node->kind != CONFIG_SCALAR || node->bytes == 0 || node->bytes >= bytes ||
        strspn(node->text, legal) != node->bytes || strspn(node->text, legal + 52) != 0)
        return graph_reject(reader, node,
                            "%s: a name of up to %zu letters, digits, '_' and '-', a letter first",
                            of, bytes - 1);
    memcpy(name, node->text, node->bytes + 1);
    return true;
}

/* ---- classes and switches -------------------------------------------------------------------- */

static bool read_class(struct graph_reader *reader, const struct config_node *key)
{
    struct level figures = {.given = {false}};
    char name[GRAPH_NAME_BYTES];
    if (!read_name(reader, "classes", key, name, sizeof name))
        return false;
    if (key->value->kind != CONFIG_MAPPING)
        return graph_reject(reader, key->value, "the figures of a class, such as {bw_gbs: 50}");
    for (const struct config_node *figure = key->value->first; figure != NULL;
         figure = figure->next)
        if (!level_read_figure(reader->loader, reader->path, "a class", figure, &figures))
            return false;
    if (graph_list_class(reader->list, name, &figures) != GRAPH_LIST_FULL)
        return true;
    config_error(reader->loader, key->place, "%s: %s; legal: at most %d", reader->path,
                 reader->list->why, HW_CLASSES_MAX);
    return false;
}

static bool read_classes(struct graph_reader *reader, const struct config_node *node)
{
    if (node->kind != CONFIG_MAPPING)
        return graph_reject(reader, node, "classes: names, each with its figures");
    for (const struct config_node *key = node->first; key != NULL; key = key->next)
        if (!read_class(reader, key))
            return false;
    return true;
}

/* What a switch has of its figures. */
static bool is_figure_of_switch(const struct config_node *key)
{
    return is_key(key, level_number_name[LEVEL_LATENCY_NS]) ||
           is_key(key, level_number_name[LEVEL_COST]) ||
           is_key(key, level_number_name[LEVEL_WATTS]) ||
           is_key(key, level_number_name[LEVEL_PJ_PER_BIT]);
}

/* A decimal of at most `places` places from `least` to `most`. */
static bool read_decimal(const struct graph_reader *reader, const char *key,
                         const struct config_node *node, const char *least, const char *most,
                         struct decimal *number)
{
    enum { PLACES = 6 };
    if (node->kind == CONFIG_SCALAR && node->plain &&
        decimal_parse(node->text, node->bytes, number) && number->places <= PLACES &&
        decimal_compare(*number, decimal_literal(least)) >= 0 &&
        decimal_compare(*number, decimal_literal(most)) <= 0)
        return true;
    return graph_reject(reader, node, "%s: a number from %s to %s with at most %d decimal places",
                        key, least, most, PLACES);
}

/* What a kind of switches does beside forwarding: the keys of nodes.switch. */
static bool read_reduce(const struct graph_reader *reader, const struct config_node *key,
                        struct graph_reduce *reduce)
{
    static const char *const mode[] = {
        [HW_REDUCE_NONE] = "none", [HW_REDUCE_PUSH] = "push", [HW_REDUCE_PULL] = "pull"};
    if (is_key(key, "reduce_gbs"))
        return reduce->has_rate = read_decimal(reader, "reduce_gbs", key->value, "0.001", "1000000",
                                               &reduce->rate);
    if (is_key(key, "reduce_ns"))
        return reduce->has_latency = read_decimal(reader, "reduce_ns", key->value, "0",
                                                  "1000000000", &reduce->latency);
    if (is_key(key, "trees"))
        return reduce->has_trees =
                   read_count(reader, "trees", key->value, 1, UINT16_MAX, &reduce->trees);
    if (!is_key(key, "reduce"))
        return true;
    for (uint32_t i = 0; i < sizeof mode / sizeof *mode && !reduce->has_mode; i++) {
        reduce->has_mode = key->value->kind == CONFIG_SCALAR && is_key(key->value, mode[i]);
        reduce->mode = (enum hw_reduce_mode)i;
    }
    return reduce->has_mode || graph_reject(reader, key->value, "reduce: one of none, push, pull");
}

static bool read_kind(struct graph_reader *reader, const struct config_node *node)
{
    static const char *const known[] = {"name",       "count",     "latency_ns", "ports",
                                        "cost",       "watts",     "pj_per_bit", "reduce",
                                        "reduce_gbs", "reduce_ns", "trees",      NULL};
    char name[GRAPH_NAME_BYTES] = "switch";
    uint32_t count = 1;
    if (node->kind != CONFIG_MAPPING)
        return graph_reject(reader, node, "a kind of switches, such as {name: leaf, count: 2}");
    const struct config_node *const named = graph_find(node, "name"),
                                    *const counted = graph_find(node, "count"),
                                    *const ports = graph_find(node, "ports");
    if (!check_keys(reader, node, "a kind of switches", known) ||
        (named != NULL && !read_name(reader, "name", named, name, sizeof name)) ||
        (counted != NULL && !read_count(reader, "count", counted, 1, HW_SIPS_MAX, &count)))
        return false;
    uint32_t number = 0;
    while (number < reader->list->kinds && strcmp(reader->list->kind[number].name, name) != 0)
        number++;
    if (number < reader->kinds_of_rule && counted != NULL)
        return graph_reject(reader, counted, "no count, since the rule says how many %s there are",
                            name);
    if (number >= reader->kinds_of_rule && number < reader->list->kinds)
        return graph_reject(reader, node, "kinds of switches with different names");
    if (number == reader->list->kinds)
        number = graph_list_kind(reader->list, name, count);
    if (number == GRAPH_LIST_FULL) {
        config_error(reader->loader, node->place, "%s: %s; legal: at most %d", reader->path,
                     reader->list->why, HW_SWITCH_KINDS);
        return false;
    }
    struct graph_kind *const kind = &reader->list->kind[number];
    for (const struct config_node *key = node->first; key != NULL; key = key->next)
        if ((is_figure_of_switch(key) &&
             !level_read_figure(reader->loader, reader->path, "switches", key, &kind->figures)) ||
            !read_reduce(reader, key, &kind->reduce))
            return false;
    return ports == NULL || read_count(reader, "ports", ports, 1, HW_GRAPH_LINKS_MAX, &kind->ports);
}

static bool read_kinds(struct graph_reader *reader, const struct config_node *node)
{
    if (node->kind != CONFIG_SEQUENCE)
        return graph_reject(reader, node,
                            "switches: a list of kinds, such as [{name: leaf, count: 2}]");
    for (const struct config_node *item = node->first; item != NULL; item = item->next)
        if (!read_kind(reader, item))
            return false;
    if (reader->list->switches <= HW_UNFOLDED_SIPS_MAX)
        return true;
    config_error(reader->loader, node->place, "%s: %" PRIu32 " switches; legal: at most %d",
                 reader->path, reader->list->switches, HW_UNFOLDED_SIPS_MAX);
    return false;
}

/* ---- ends of links --------------------------------------------------------------------------- */

static bool add_end(struct graph_reader *reader, struct graph_ends *ends, uint32_t stop)
{
    if (ends->count == ends->room) {
        const uint32_t room = 2 * ends->room + 16;
        uint32_t *const more = realloc(ends->stop, room * sizeof *more);
        if (more == NULL) {
            reader->list->failed = true;
            return false;
        }
        ends->stop = more;
        ends->room = room;
    }
    ends->stop[ends->count++] = stop;
    return true;
}

/* "3", "0-7", "0-60/4": numbers below `count`. */
static bool read_numbers(const char *text, uint32_t count, uint32_t range[3])
{
    const size_t bytes = strlen(text);
    uint64_t first = 0, last, step = 1;
    size_t used = text_whole(text, bytes, UINT32_MAX, &first), more;
    last = first;
    if (used == 0)
        return false;
    if (text[used] == '-') {
        more = text_whole(text + used + 1, bytes - used - 1, UINT32_MAX, &last);
        if (more == 0)
            return false;
        used += 1 + more;
        if (text[used] == '/') {
            more = text_whole(text + used + 1, bytes - used - 1, UINT32_MAX, &step);
            if (more == 0)
                return false;
            used += 1 + more;
        }
    }
    range[0] = (uint32_t)first;
    range[1] = (uint32_t)last;
    range[2] = (uint32_t)step;
    return used == bytes && first <= last && last < count && step > 0 && step <= count;
}

static bool reject_end(const struct graph_reader *reader, const char *key,
                       const struct config_node *node)
{
    char known[200] = "";
    for (uint32_t i = 0; i < reader->list->kinds; i++) {
        const struct graph_kind *const kind = &reader->list->kind[i];
        const size_t used = strlen(known);
        if (kind->count == 1)
            snprintf(known + used, sizeof known - used, ", %s", kind->name);
        else
            snprintf(known + used, sizeof known - used, ", %s.0 to %s.%" PRIu32, kind->name,
                     kind->name, kind->count - 1);
    }
    return graph_reject(reader, node, "%s: SIPs 0 to %" PRIu32 "%s, or ranges of them", key,
                        reader->list->sips - 1, known);
}

static bool read_end(struct graph_reader *reader, const char *key, const struct config_node *node,
                     struct graph_ends *ends)
{
    const struct graph_list *const list = reader->list;
    uint32_t range[3] = {0, list->sips - 1, 1}, base = 0;
    if (node->kind != CONFIG_SCALAR)
        return reject_end(reader, key, node);
    if (!read_numbers(node->text, list->sips, range)) {
        const size_t named = strcspn(node->text, ".");
        uint32_t kind = 0;
        while (kind < list->kinds && (strlen(list->kind[kind].name) != named ||
                                      strncmp(list->kind[kind].name, node->text, named) != 0))
            kind++;
        if (kind == list->kinds)
            return reject_end(reader, key, node);
        base = list->sips + list->kind[kind].first;
        range[0] = 0;
        range[1] = list->kind[kind].count - 1;
        range[2] = 1;
        if (node->text[named] == '.' &&
            !read_numbers(node->text + named + 1, list->kind[kind].count, range))
            return reject_end(reader, key, node);
    }
    for (uint32_t i = range[0]; i <= range[1]; i += range[2])
        if (!add_end(reader, ends, base + i))
            return false;
    return true;
}

static bool read_ends(struct graph_reader *reader, const char *key, const struct config_node *node,
                      struct graph_ends *ends)
{
    if (node->kind != CONFIG_SEQUENCE)
        return read_end(reader, key, node, ends);
    for (const struct config_node *item = node->first; item != NULL; item = item->next)
        if (!read_end(reader, key, item, ends))
            return false;
    return ends->count > 0 || reject_end(reader, key, node);
}

/* ---- links ----------------------------------------------------------------------------------- */

static bool read_port(const struct graph_reader *reader, const char *key,
                      const struct config_node *node, enum hw_port *port)
{
    for (enum hw_port p = 0; node->kind == CONFIG_SCALAR && p < HW_PORTS; p++)
        if (node->bytes == 1 && node->text[0] == hw_port_letter[p]) {
            *port = p;
            return true;
        }
    return graph_reject(reader, node, "%s: N, E, S or W", key);
}

/* The name of a SIP's direction, as outlets are called. */
static bool read_direction(const struct graph_reader *reader, const char *key,
                           const struct config_node *node, char name[HW_OUTLET_NAME_BYTES])
{
    if (node->kind != CONFIG_SCALAR || node->bytes == 0 || node->bytes >= HW_OUTLET_NAME_BYTES ||
        strpbrk(node->text, "\"\\\n\t") != NULL)
        return graph_reject(reader, node, "%s: a name of 1 to %d characters", key,
                            HW_OUTLET_NAME_BYTES - 1);
    memcpy(name, node->text, node->bytes + 1);
    return true;
}

static bool read_class_of(const struct graph_reader *reader, const char *key,
                          const struct config_node *node, enum hw_link_kind *link)
{
    const struct graph_list *const list = reader->list;
    char known[400] = "";
    for (uint32_t i = 0; i < list->classes; i++) {
        const size_t used = strlen(known);
        if (node->kind == CONFIG_SCALAR && is_key(node, list->class[i].name)) {
            *link = (enum hw_link_kind)(HW_LINK_CLASS_1 + i);
            return true;
        }
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", list->class[i].name);
    }
    return list->classes == 0
               ? graph_reject(reader, node, "%s: a class; the graph has no `classes`", key)
               : graph_reject(reader, node, "%s: one of %s", key, known);
}

/* All that a link says but its stops. */
static bool read_properties(const struct graph_reader *reader, const struct config_node *node,
                            struct hw_graph_link *link, uint32_t *cables)
{
    bool has_back = false;
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        const struct config_node *const value = key->value;
        const bool read =
            is_key(key, "class")        ? read_class_of(reader, key->text, value, &link->link)
            : is_key(key, "back_class") ? read_class_of(reader, key->text, value, &link->back)
            : is_key(key, "port")       ? read_port(reader, key->text, value, &link->from.port)
            : is_key(key, "back_port")  ? read_port(reader, key->text, value, &link->to.port)
            : is_key(key, "name")       ? read_direction(reader, key->text, value, link->from.name)
            : is_key(key, "back_name")  ? read_direction(reader, key->text, value, link->to.name)
            : is_key(key, "one_way")    ? read_yes(reader, key->text, value, &link->one_way)
            : is_key(key, "cables")
                ? read_count(reader, key->text, value, 1, HW_OUTLETS_MAX, cables)
                : true;
        if (!read)
            return false;
        has_back |= is_key(key, "back_class");
    }
    if (!has_back)
        link->back = link->link;
    return true;
}

static bool join_ends(struct graph_reader *reader, const struct config_node *node,
                      const struct graph_ends *from, const struct graph_ends *to,
                      struct hw_graph_link *link, uint32_t cables)
{
    char name[GRAPH_NAME_BYTES + 16];
    for (uint32_t i = 0; i < from->count; i++)
        for (uint32_t k = 0; k < to->count; k++) {
            link->from.stop = from->stop[i];
            link->to.stop = to->stop[k];
            if (link->from.stop == link->to.stop) {
                config_error(reader->loader, node->place,
                             "%s: a link from %s to itself; legal: two places", reader->path,
                             graph_list_stop_name(reader->list, from->stop[i], name, sizeof name));
                return false;
            }
            if (graph_list_add(reader->list, link, cables) == GRAPH_LIST_FULL) {
                if (!reader->list->failed)
                    config_error(reader->loader, node->place, "%s: %s", reader->path,
                                 reader->list->why);
                return false;
            }
        }
    return true;
}

static bool read_link(struct graph_reader *reader, const struct config_node *node)
{
    static const char *const known[] = {"from",   "to",      "class",     "back_class",
                                        "port",   "name",    "back_port", "back_name",
                                        "cables", "one_way", NULL};
    struct hw_graph_link link = {.from.port = HW_PORT_NONE,
                                 .to.port = HW_PORT_NONE,
                                 .link = HW_LINK_SIP_LINK,
                                 .back = HW_LINK_SIP_LINK};
    struct graph_ends from = {0}, to = {0};
    uint32_t cables = 1;
    if (node->kind != CONFIG_MAPPING)
        return graph_reject(reader, node, "a link, such as {from: 0, to: 1}");
    const struct config_node *const begin = graph_find(node, "from"), *const end =
                                                                          graph_find(node, "to");
    if (!check_keys(reader, node, "a link", known))
        return false;
    if (begin == NULL || end == NULL)
        return graph_reject(reader, node, "both ends of a link, such as {from: 0, to: 1}");
    const bool read =
        read_properties(reader, node, &link, &cables) && read_ends(reader, "from", begin, &from) &&
        read_ends(reader, "to", end, &to) && join_ends(reader, node, &from, &to, &link, cables);
    free(from.stop);
    free(to.stop);
    return read;
}

static bool read_links(struct graph_reader *reader, const struct config_node *node)
{
    if (node->kind != CONFIG_SEQUENCE)
        return graph_reject(reader, node, "links: a list, such as [{from: 0, to: 1}]");
    for (const struct config_node *item = node->first; item != NULL; item = item->next)
        if (!read_link(reader, item))
            return false;
    return true;
}

/* Every class that the file names has links. */
static bool check_classes(const struct graph_reader *reader, const struct config_node *classes)
{
    const struct graph_list *const list = reader->list;
    bool used[HW_CLASSES_MAX] = {false};
    char known[300] = "";
    for (uint32_t i = 0; i < list->links; i++) {
        if (list->link[i].link >= HW_LINK_CLASS_1)
            used[list->link[i].link - HW_LINK_CLASS_1] = true;
        if (list->link[i].back >= HW_LINK_CLASS_1)
            used[list->link[i].back - HW_LINK_CLASS_1] = true;
    }
    for (uint32_t c = 0; c < list->classes; c++)
        if (used[c])
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                     known[0] != '\0' ? ", " : "", list->class[c].name);
    for (uint32_t c = 0; c < list->classes; c++)
        if (!used[c]) {
            config_error(reader->loader, classes->place,
                         "%s: class %s has no links; classes that have: %s", reader->path,
                         list->class[c].name, known[0] != '\0' ? known : "none");
            return false;
        }
    return true;
}

/* No switch has more cables than ports. */
static bool check_ports(const struct graph_reader *reader, const struct config_node *node)
{
    const struct graph_list *const list = reader->list;
    uint32_t *const used = calloc((size_t)list->sips + list->switches, sizeof *used);
    char name[GRAPH_NAME_BYTES + 16];
    bool fits = used != NULL;
    reader->list->failed |= used == NULL;
    for (uint32_t i = 0; fits && i < list->links; i++) {
        used[list->link[i].from.stop]++;
        used[list->link[i].to.stop]++;
    }
    for (uint32_t k = 0; fits && k < list->kinds; k++)
        for (uint32_t i = 0; fits && list->kind[k].ports > 0 && i < list->kind[k].count; i++) {
            const uint32_t stop = graph_list_switch(list, k, i);
            fits = used[stop] <= list->kind[k].ports;
            if (!fits)
                config_error(reader->loader, node->place,
                             "%s: %" PRIu32 " cables at %s, which has %" PRIu32 " ports",
                             reader->path, used[stop],
                             graph_list_stop_name(list, stop, name, sizeof name),
                             list->kind[k].ports);
        }
    free(used);
    return fits;
}

/* ---- what holds for all ---------------------------------------------------------------------- */

static bool read_routes(struct graph_reader *reader, const struct config_node *node)
{
    char known[200] = "";
    for (uint32_t i = 0; i < HW_ROUTES_KINDS; i++) {
        const size_t used = strlen(known);
        if (node->kind == CONFIG_SCALAR && is_key(node, hw_route_policy_name[i])) {
            reader->list->routes = (enum hw_route_policy)i;
            return true;
        }
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                 hw_route_policy_name[i]);
    }
    return graph_reject(reader, node, "routes: one of %s", known);
}

static bool read_directions(struct graph_reader *reader, const struct config_node *node)
{
    static const char *const names[] = {
        [HW_SIP_LINES_NONE] = "none", [HW_SIP_LINES_RINGS] = "rings", [HW_SIP_LINES_OPEN] = "open"};
    for (uint32_t i = 0; node->kind == CONFIG_SCALAR && i < 3; i++)
        if (is_key(node, names[i])) {
            reader->list->lines = (enum hw_sip_lines)i;
            return true;
        }
    return graph_reject(reader, node, "directions: none, rings or open");
}

static bool read_dimensions(struct graph_reader *reader, const struct config_node *node)
{
    struct graph_list *const list = reader->list;
    uint64_t product = 1;
    if (node->kind != CONFIG_SEQUENCE || node->first == NULL)
        return graph_reject(reader, node, "dimensions: a list of sizes, such as [4, 2]");
    list->dims = 0; /* those of a rule */
    for (const struct config_node *item = node->first; item != NULL; item = item->next) {
        if (list->dims == HW_SIP_DIMS_MAX)
            return graph_reject(reader, item, "dimensions: at most %d sizes", HW_SIP_DIMS_MAX);
        if (!read_count(reader, "dimensions", item, 1, HW_SIPS_MAX, &list->dim[list->dims]))
            return false;
        product *= list->dim[list->dims++];
        if (product > list->sips)
            break;
    }
    if (product == list->sips)
        return true;
    return graph_reject(reader, node, "dimensions: sizes whose product is %" PRIu32 " SIPs",
                        list->sips);
}

/* Coordinates are the digits of a SIP's number. */
static bool read_coordinates(const struct graph_reader *reader, const struct config_node *node)
{
    const struct graph_list *const list = reader->list;
    const struct config_node *item = node->kind == CONFIG_SEQUENCE ? node->first : NULL;
    for (uint32_t sip = 0; sip < list->sips; sip++, item = item->next) {
        uint32_t left = sip, at = 0;
        if (item == NULL || item->kind != CONFIG_SEQUENCE)
            return graph_reject(reader, item != NULL ? item : node,
                                "coordinates: for each of %" PRIu32 " SIPs a list of %" PRIu32,
                                list->sips, list->dims);
        const struct config_node *digit = item->first;
        for (uint32_t k = 0; k < list->dims; k++, digit = digit->next) {
            if (digit == NULL ||
                !read_count(reader, "coordinates", digit, 0, list->dim[k] - 1, &at))
                return digit != NULL ? false
                                     : graph_reject(reader, item,
                                                    "coordinates: %" PRIu32 " of them", list->dims);
            if (at != left % list->dim[k])
                return graph_reject(reader, digit,
                                    "coordinates: %" PRIu32 ", as the number of SIP %" PRIu32
                                    " says in dimension %" PRIu32,
                                    left % list->dim[k], sip, k + 1);
            left /= list->dim[k];
        }
        if (digit != NULL)
            return graph_reject(reader, item, "coordinates: %" PRIu32 " of them", list->dims);
    }
    return item == NULL ||
           graph_reject(reader, item, "coordinates: of %" PRIu32 " SIPs", list->sips);
}

/* SIPs through which nothing goes: `false`, or {none: SIPS}. */
static bool read_transit(struct graph_reader *reader, const struct config_node *node)
{
    const struct config_node *const none =
        node->kind == CONFIG_MAPPING ? graph_find(node, "none") : NULL;
    struct graph_ends ends = {0};
    bool yes = true;
    if (node->kind == CONFIG_SCALAR && !read_yes(reader, "transit", node, &yes))
        return false;
    if (node->kind != CONFIG_SCALAR && (none == NULL || node->first->next != NULL))
        return graph_reject(reader, node, "transit: true, false or {none: SIPS}");
    for (uint32_t sip = 0; !yes && sip < reader->list->sips; sip++)
        graph_list_end(reader->list, sip);
    const bool read = none == NULL || read_ends(reader, "transit", none, &ends);
    for (uint32_t i = 0; read && i < ends.count; i++)
        if (ends.stop[i] < reader->list->sips)
            graph_list_end(reader->list, ends.stop[i]);
    free(ends.stop);
    return read;
}

/* A path beside the file that names it. */
static const char *beside(struct config_loader *loader, const struct config_node *node)
{
    const struct config_source *const source = &loader->sources[node->place.source - 1];
    const char *const slash = source->is_file ? strrchr(source->name, '/') : NULL;
    if (slash == NULL || node->text[0] == '/')
        return config_arena_text(loader->arena, node->text, node->bytes);
    const size_t folder = (size_t)(slash - source->name) + 1;
    char *const path = config_arena_alloc(loader->arena, folder + node->bytes + 1);
    if (path != NULL) {
        memcpy(path, source->name, folder);
        memcpy(path + folder, node->text, node->bytes + 1);
    }
    return path;
}

/* Files of other programs by paths that do not depend on where the graph is. */
static bool resolve_files(const struct graph_reader *reader, const struct config_node *graph)
{
    for (const struct config_node *key = graph->kind == CONFIG_MAPPING ? graph->first : NULL;
         key != NULL; key = key->next) {
        if (!graph_source_has_path(key->text) || key->value->kind != CONFIG_SCALAR)
            continue;
        const char *const path = beside(reader->loader, key->value);
        if (path == NULL)
            return false;
        key->value->text = path;
        key->value->bytes = strlen(path);
    }
    return true;
}

/* A rule, or a file of another program, if the graph has one. */
static bool read_rule(struct graph_reader *reader, const struct config_node *node)
{
    bool has_source = false;
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        has_source |= graph_source_is(key->text);
        if ((graph_rule_is(key->text) &&
             !graph_rule_read(reader->loader, reader->path, key, reader->list)) ||
            (graph_source_is(key->text) &&
             !graph_source_read(reader->loader, reader->path, node, key, reader->list,
                                &reader->contents)))
            return false;
    }
    for (const struct config_node *key = node->first; key != NULL; key = key->next)
        if (!has_source && graph_source_parameter_is(key->text))
            return graph_reject(reader, key, "%s beside nccl alone", key->text);
    reader->kinds_of_rule = reader->list->kinds;
    if (reader->list->why == NULL)
        return true;
    config_error(reader->loader, node->place, "%s: %s", reader->path, reader->list->why);
    return false;
}

/* Read after the routes. */
static bool read_seed(struct graph_reader *reader, const struct config_node *node)
{
    if (reader->list->routes != HW_ROUTES_VALIANT)
        return graph_reject(reader, node, "seed: only with routes: %s",
                            hw_route_policy_name[HW_ROUTES_VALIANT]);
    return read_count(reader, "seed", node, 0, UINT32_MAX, &reader->list->seed);
}

static bool read_graph(struct graph_reader *reader, const struct config_node *node)
{
    static const char *const known[] = {"sips",
                                        "switches",
                                        "classes",
                                        "links",
                                        "routes",
                                        "dimensions",
                                        "coordinates",
                                        "directions",
                                        "transit",
                                        "seed",
                                        GRAPH_RULE_NAMES,
                                        GRAPH_SOURCE_NAMES,
                                        GRAPH_SOURCE_PARAMETERS,
                                        NULL};
    static const struct {
        const char *key;
        bool (*read)(struct graph_reader *reader, const struct config_node *node);
    } section[] = {{"switches", read_kinds},
                   {"links", read_links},
                   {"routes", read_routes},
                   {"dimensions", read_dimensions},
                   {"directions", read_directions},
                   {"transit", read_transit},
                   {"seed", read_seed}};
    if (node->kind != CONFIG_MAPPING)
        return graph_reject(reader, node, "a graph, such as {sips: 2, links: [{from: 0, to: 1}]}");
    const struct config_node *const sips = graph_find(node, "sips"),
                                    *const coordinates = graph_find(node, "coordinates"),
                                    *const classes = graph_find(node, "classes");
    if (!check_keys(reader, node, "a graph", known))
        return false;
    if (sips != NULL &&
        !read_count(reader, "sips", sips, 1, HW_UNFOLDED_SIPS_MAX, &reader->list->sips))
        return false;
    if ((classes != NULL && !read_classes(reader, classes)) || !read_rule(reader, node))
        return false;
    if (reader->list->sips == 0)
        return graph_reject(reader, node, "sips: the number of SIPs; or a rule: %s",
                            graph_rule_names);
    for (uint32_t i = 0; i < sizeof section / sizeof *section; i++) {
        const struct config_node *const value = graph_find(node, section[i].key);
        if (value != NULL && !section[i].read(reader, value))
            return false;
    }
    return (coordinates == NULL || read_coordinates(reader, coordinates)) &&
           (classes == NULL || check_classes(reader, classes)) && check_ports(reader, node);
}

/* ---- the mapping under the key --------------------------------------------------------------- */

static const struct config_node *parse_file(struct config_loader *loader, const char *path,
                                            uint64_t *contents)
{
    const uint32_t source = config_source_add(
        loader, &(struct config_source){.name = path, .is_file = true, .is_list = true});
    size_t bytes = 0;
    char *const text = source > 0 ? config_file_read(loader, source, path, &bytes) : NULL;
    if (text == NULL)
        return NULL;
    const struct config_node *const root = config_parse(loader, source, text, bytes);
    *contents = XXH3_64bits(text, bytes);
    free(text);
    if (root == NULL && loader->errors->count == 0 && !loader->arena->failed)
        config_error(loader, (struct config_place){source, 1, 1},
                     "nothing but comments; expected a graph");
    return root;
}

/* Paths of files: as they are found, to tell graphs apart; absolute, to be read back from anywhere;
 * or the file's name alone, where the digest has the contents. */
enum paths { PATHS_FOUND, PATHS_ABSOLUTE, PATHS_NAMES };

/* In quotes where YAML wants them. */
static void print_path(FILE *file, const char *path, enum paths paths)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    char folder[PATH_MAX] = "";
    const char *const slash = strrchr(path, '/');
    if (paths == PATHS_NAMES && slash != NULL)
        path = slash + 1;
    if (paths == PATHS_ABSOLUTE && path[0] != '/' && getcwd(folder, sizeof folder) == NULL)
        folder[0] = '\0';
    const bool is_plain =
        folder[strspn(folder, plain)] == '\0' && path[strspn(path, plain)] == '\0';
    const char *const parts[] = {folder, folder[0] != '\0' ? "/" : "", path};
    fputs(is_plain ? "" : "\"", file);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *c = parts[i]; *c != '\0'; c++)
            if (*c == '\n' || *c == '\t')
                fputs(*c == '\n' ? "\\n" : "\\t", file);
            else
                fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputs(is_plain ? "" : "\"", file);
}

static bool is_path(const struct config_node *key)
{
    return key->value->kind == CONFIG_SCALAR &&
           (is_key(key, "graph") || graph_source_has_path(key->text));
}

static void print_node(FILE *file, const struct config_node *node, enum paths paths)
{
    if (node->kind == CONFIG_SCALAR) {
        fprintf(file, node->plain ? "%s" : "\"%s\"", node->text);
        return;
    }
    const bool is_mapping = node->kind == CONFIG_MAPPING;
    fputc(is_mapping ? '{' : '[', file);
    for (const struct config_node *each = node->first; each != NULL; each = each->next) {
        if (is_mapping)
            fprintf(file, "%s: ", each->text);
        if (is_mapping && is_path(each))
            print_path(file, each->value->text, paths);
        else
            print_node(file, is_mapping ? each->value : each, paths);
        fputs(each->next != NULL ? ", " : "", file);
    }
    fputc(is_mapping ? '}' : ']', file);
}

static const char *text_of(struct config_loader *loader, const struct config_node *node,
                           enum paths paths)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const file = open_memstream(&text, &bytes);
    if (file == NULL) {
        loader->arena->failed = true;
        return NULL;
    }
    print_node(file, node, paths);
    const bool closed = fclose(file) == 0;
    const char *const kept = closed ? config_arena_text(loader->arena, text, bytes) : NULL;
    free(text);
    return kept;
}

static void keep_texts(struct config_loader *loader, const struct config_node *node,
                       struct graph_source *source)
{
    source->text = text_of(loader, node, PATHS_FOUND);
    source->printed = text_of(loader, node, PATHS_ABSOLUTE);
    source->digested = text_of(loader, node, PATHS_NAMES);
}

/* The links and ends into the arena. */
static bool graph_keep(struct config_loader *loader, struct graph_list *list)
{
    struct hw_graph_link *const link =
        config_arena_alloc(loader->arena, (list->links + 1) * sizeof *link);
    bool *const ends = config_arena_alloc(loader->arena, list->sips);
    if (link == NULL || ends == NULL)
        return false;
    if (list->links > 0)
        memcpy(link, list->link, list->links * sizeof *link);
    if (list->ends != NULL)
        memcpy(ends, list->ends, list->sips);
    const bool some_end = list->ends != NULL;
    graph_list_free(list);
    list->link = link;
    list->ends = some_end ? ends : NULL;
    return true;
}

const struct graph_source *graph_read(struct config_loader *loader, const char *path,
                                      const struct config_node *node)
{
    struct graph_source *const source = config_arena_alloc(loader->arena, sizeof *source);
    struct graph_reader reader = {loader, path, source != NULL ? &source->list : NULL, 0, 0};
    const struct config_node *graph = graph_find(node, "graph");
    if (source == NULL)
        return NULL;
    if (graph == NULL && (graph_find(node, "nccl") != NULL || graph_find(node, "astra") != NULL)) {
        graph = node; /* it is the graph */
    } else if (graph == NULL || node->first->next != NULL) {
        (void)graph_reject(&reader, node,
                           "one key, graph, with a file or a graph; or nccl or astra with a file");
        return NULL;
    }
    if (graph->kind == CONFIG_SCALAR) {
        struct config_node *const key = node->first;
        const char *const file = beside(loader, graph);
        if (file == NULL)
            return NULL;
        key->value->text = file;
        key->value->bytes = strlen(file);
        keep_texts(loader, node, source);
        graph = parse_file(loader, file, &reader.contents);
        if (graph != NULL && !resolve_files(&reader, graph))
            return NULL;
    } else {
        if (!resolve_files(&reader, graph))
            return NULL;
        keep_texts(loader, node, source);
    }
    if (graph == NULL || !read_graph(&reader, graph) || source->list.failed ||
        !graph_keep(loader, &source->list) || source->text == NULL) {
        loader->arena->failed |= source->list.failed;
        graph_list_free(&source->list);
        return NULL;
    }
    source->contents = reader.contents;
    return source;
}
