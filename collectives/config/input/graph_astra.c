/*
 * graph_astra.c: a network of ASTRA-sim, YAML or JSON: dimensions, each a ring, links between every
 * two, or a switch (graph_sources.h). Its GB are 2^30 bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collectives/config/input/graph_rules.h"
#include "collectives/config/input/graph_shapes.h"
#include "collectives/config/input/graph_sources.h"

/* Lists of a file, one value for each dimension; and their names in files of ASTRA-sim 1. */
enum astra_key { ASTRA_TOPOLOGY, ASTRA_COUNT, ASTRA_BANDWIDTH, ASTRA_LATENCY, ASTRA_LINKS };
static const char *const astra_name[][2] = {
    [ASTRA_TOPOLOGY] = {"topology", "topologies-per-dim"},
    [ASTRA_COUNT] = {"npus_count", "units-count"},
    [ASTRA_BANDWIDTH] = {"bandwidth", "link-bandwidth"},
    [ASTRA_LATENCY] = {"latency", "link-latency"},
    [ASTRA_LINKS] = {"", "links-count"},
};
enum { ASTRA_KEYS = sizeof astra_name / sizeof *astra_name };
/* What ASTRA-sim 1 has beyond these, of which nothing is used. */
static const char *const astra_unused[] = {
    "dimension-type", "dimensions-count", "nic-latency",  "router-latency",   "hbm-latency",
    "hbm-bandwidth",  "hbm-scale",        "link-failure", "use-fast-version",
};

struct astra {
    const struct graph_file *file;
    const struct config_node *list[ASTRA_KEYS];
    const struct config_node *name; /* topology-name, of ASTRA-sim 1; NULL: none */
    bool passed_over;               /* keys that are not used */
    struct hw_sip_dims dims;
    uint32_t class[HW_SIP_DIMS_MAX];
};

static bool astra_fault(const struct astra *a, const struct config_node *node, const char *expected)
{
    char quoted[TEXT_QUOTE_BYTES];
    config_error(a->file->loader, node->place, "expected %s; found %s", expected,
                 config_quote_node(node, quoted));
    return false;
}

static bool astra_key(struct astra *a, const struct config_node *key)
{
    char quoted[TEXT_QUOTE_BYTES];
    for (uint32_t i = 0; i < ASTRA_KEYS; i++)
        if (strcmp(key->text, astra_name[i][0]) == 0 || strcmp(key->text, astra_name[i][1]) == 0) {
            if (a->list[i] != NULL)
                return astra_fault(a, key, "each list once, under one of its names");
            a->list[i] = key->value;
            return true;
        }
    if (strcmp(key->text, "topology-name") == 0) {
        a->name = key->value;
        return true;
    }
    for (uint32_t i = 0; i < sizeof astra_unused / sizeof *astra_unused; i++)
        if (strcmp(key->text, astra_unused[i]) == 0) {
            a->passed_over = true;
            return true;
        }
    config_error(a->file->loader, key->place,
                 "unknown key %s in a network of ASTRA-sim; known: topology, npus_count, "
                 "bandwidth, latency",
                 text_quote_key(key->text, key->bytes, quoted));
    return false;
}

static const struct config_node *astra_at(const struct astra *a, enum astra_key key, uint32_t dim)
{
    const struct config_node *node = a->list[key];
    if (node == NULL || node->kind != CONFIG_SEQUENCE)
        return dim == 0 ? node : NULL;
    for (node = node->first; node != NULL && dim > 0; dim--)
        node = node->next;
    return node;
}

/* All lists have a value for each dimension. Without a topology there is its name. */
static bool astra_lists(const struct astra *a, const struct config_node *root, uint32_t *dims)
{
    const bool is_named = a->list[ASTRA_TOPOLOGY] == NULL && a->name != NULL;
    const enum astra_key first = is_named ? ASTRA_COUNT : ASTRA_TOPOLOGY;
    *dims = 0;
    while (astra_at(a, first, *dims) != NULL)
        ++*dims;
    for (uint32_t i = first; i < ASTRA_LINKS; i++) {
        if (a->list[i] == NULL) {
            config_error(a->file->loader, root->place,
                         "no %s; legal: a list with a value for each dimension", astra_name[i][0]);
            return false;
        }
        if (*dims == 0 || astra_at(a, (enum astra_key)i, *dims - 1) == NULL ||
            astra_at(a, (enum astra_key)i, *dims) != NULL) {
            config_error(a->file->loader, a->list[i]->place,
                         "%s: expected a value for each of the %" PRIu32 " dimensions of %s",
                         astra_name[i][0], *dims, astra_name[first][0]);
            return false;
        }
    }
    if (*dims <= HW_SIP_DIMS_MAX)
        return true;
    config_error(a->file->loader, a->list[first]->place,
                 "%s: %" PRIu32 " dimensions; legal: up to %d", astra_name[first][0], *dims,
                 HW_SIP_DIMS_MAX);
    return false;
}

static bool joint_of(const char *text, size_t bytes, enum hw_sip_joint *joint)
{
    static const struct {
        const char *name;
        enum hw_sip_joint joint;
    } names[] = {{"Ring", HW_SIP_RING},
                 {"FullyConnected", HW_SIP_FULL},
                 {"AllToAll", HW_SIP_FULL},
                 {"Switch", HW_SIP_SWITCH}};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == bytes && memcmp(text, names[i].name, bytes) == 0) {
            *joint = names[i].joint;
            return true;
        }
    return false;
}

/* "Ring_AllToAll_Switch" has a part for each dimension; "Torus2D" is rings. */
static bool joint_of_name(const char *name, uint32_t dim, uint32_t dims, enum hw_sip_joint *joint)
{
    char torus[20];
    snprintf(torus, sizeof torus, "Torus%" PRIu32 "D", dims);
    if (strcmp(name, torus) == 0) {
        *joint = HW_SIP_RING;
        return true;
    }
    for (uint32_t i = 0; i < dim; i++) {
        name = strchr(name, '_');
        if (name == NULL)
            return false;
        name++;
    }
    const size_t bytes = strcspn(name, "_");
    return (name[bytes] != '\0') == (dim + 1 < dims) && joint_of(name, bytes, joint);
}

static bool astra_joint(const struct astra *a, uint32_t dim, uint32_t dims,
                        enum hw_sip_joint *joint)
{
    const struct config_node *const node = astra_at(a, ASTRA_TOPOLOGY, dim);
    if (node != NULL)
        return (node->kind == CONFIG_SCALAR && joint_of(node->text, node->bytes, joint)) ||
               astra_fault(a, node, "topology: Ring, FullyConnected or Switch");
    return (a->name->kind == CONFIG_SCALAR && joint_of_name(a->name->text, dim, dims, joint)) ||
           astra_fault(a, a->name,
                       "topologies-per-dim, or topology-name: Ring, AllToAll or Switch for each "
                       "dimension, such as Ring_Switch, or Torus2D");
}

static bool astra_whole(const struct astra *a, const struct config_node *node, const char *name,
                        uint32_t *value)
{
    uint64_t number = 0;
    char expected[100];
    if (node->kind == CONFIG_SCALAR && node->bytes > 0 &&
        text_whole(node->text, node->bytes, GRAPH_SIPS_MAX, &number) == node->bytes && number > 0) {
        *value = (uint32_t)number;
        return true;
    }
    snprintf(expected, sizeof expected, "%s: a whole number from 1 to %d", name, GRAPH_SIPS_MAX);
    return astra_fault(a, node, expected);
}

static bool astra_number(const struct astra *a, const struct config_node *node, const char *name,
                         const char *least, const char *most, struct decimal *number)
{
    char expected[120];
    if (node->kind == CONFIG_SCALAR && decimal_parse(node->text, node->bytes, number) &&
        number->places <= 6 && decimal_compare(*number, decimal_literal(least)) >= 0 &&
        decimal_compare(*number, decimal_literal(most)) <= 0)
        return true;
    snprintf(expected, sizeof expected, "%s: a number from %s to %s with at most 6 decimal places",
             name, least, most);
    return astra_fault(a, node, expected);
}

/* Links of a SIP that one of a file's bandwidths counts for: a ring's two, one to each other. Two
 * in a ring may have one link.
 */
static bool astra_links(struct astra *a, uint32_t dim, uint32_t *times)
{
    const struct config_node *const node = astra_at(a, ASTRA_LINKS, dim);
    struct hw_sip_dim *const own = &a->dims.at[dim];
    const uint32_t least = own->joint == HW_SIP_RING   ? 2
                           : own->joint == HW_SIP_FULL ? own->size - 1
                                                       : 1;
    char expected[80];
    *times = 1;
    if (node == NULL || least == 0)
        return true;
    if (!astra_whole(a, node, "links-count", times))
        return false;
    if (own->joint == HW_SIP_RING && own->size == 2 && *times == 1) {
        own->joint = HW_SIP_FULL;
        return true;
    }
    snprintf(expected, sizeof expected, "links-count: a multiple of %" PRIu32, least);
    if (*times % least != 0)
        return astra_fault(a, node, expected);
    *times /= least;
    return true;
}

/* GB of 2^30 bytes as millionths of 10^9, rounded to the nearest. */
static int64_t astra_gbs(struct decimal bandwidth, uint32_t times)
{
    __int128 value = (__int128)bandwidth.mantissa * times * (1 << 30), unit = 1000;
    for (uint32_t i = 0; i < bandwidth.places; i++)
        unit *= 10;
    return (int64_t)((value + unit / 2) / unit);
}

static bool astra_dim(struct astra *a, uint32_t dim, uint32_t dims)
{
    struct hw_sip_dim *const own = &a->dims.at[dim];
    struct level figures = {.given = {false}};
    struct decimal bandwidth, *const latency = &figures.number[LEVEL_LATENCY_NS];
    char name[GRAPH_NAME_BYTES];
    uint32_t times;
    if (!astra_joint(a, dim, dims, &own->joint) ||
        !astra_whole(a, astra_at(a, ASTRA_COUNT, dim), "npus_count", &own->size) ||
        !astra_number(a, astra_at(a, ASTRA_BANDWIDTH, dim), "bandwidth", "0.001", "900000",
                      &bandwidth) ||
        !astra_number(a, astra_at(a, ASTRA_LATENCY, dim), "latency", "0", "1000000000", latency) ||
        !astra_links(a, dim, &times))
        return false;
    a->dims.count = dim + 1;
    const int64_t gbs = astra_gbs(bandwidth, times);
    if (gbs > INT64_C(1000000000000))
        return astra_fault(a, astra_at(a, ASTRA_BANDWIDTH, dim),
                           "bandwidth: of all links of a dimension up to 900000");
    figures.given[LEVEL_BW_GBS] = figures.given[LEVEL_LATENCY_NS] = true;
    figures.given[LEVEL_DISTANCE_MM] = true;
    figures.number[LEVEL_BW_GBS] = graph_millionths(gbs);
    snprintf(name, sizeof name, "level_%" PRIu32, dim + 1);
    a->class[dim] = graph_source_class(a->file->list, name, &figures);
    return true;
}

static bool astra_list(const struct astra *a, const struct config_node *root)
{
    struct graph_list *const list = a->file->list;
    const struct graph_counts counts = graph_dims_counts(&a->dims);
    char read[120], assumed[160];
    if (counts.sips > GRAPH_SIPS_MAX || counts.switches > GRAPH_SWITCHES_MAX ||
        counts.links > HW_GRAPH_LINKS_MAX) {
        config_error(a->file->loader, root->place,
                     "%" PRIu64 " NPUs, %" PRIu64 " switches and %" PRIu64
                     " links; legal: up to %d, %d and %d",
                     counts.sips, counts.switches, counts.links, GRAPH_SIPS_MAX, GRAPH_SWITCHES_MAX,
                     HW_GRAPH_LINKS_MAX);
        return false;
    }
    graph_dims(list, &a->dims, 0, a->class);
    list->lines = HW_SIP_LINES_RINGS;
    for (uint32_t k = 0; k < list->kinds; k++)
        list->kind[k].figures.given[LEVEL_LATENCY_NS] = true; /* 0 */
    snprintf(read, sizeof read, "ASTRA-sim network of %" PRIu32 " dimension%s, %" PRIu32 " NPUs",
             a->dims.count, a->dims.count == 1 ? "" : "s", list->sips);
    snprintf(assumed, sizeof assumed,
             "GB/s of 2^30 bytes; links without length, switches without latency%s",
             a->passed_over ? "; NICs, routers and HBM not used" : "");
    list->read = config_arena_text(a->file->loader->arena, read, strlen(read));
    list->assumed = config_arena_text(a->file->loader->arena, assumed, strlen(assumed));
    return true;
}

bool graph_astra_read(const struct graph_file *file)
{
    struct astra a = {.file = file};
    uint32_t dims;
    const struct config_node *const root =
        config_parse(file->loader, file->source, file->text, file->bytes);
    for (const struct config_node *key = file->graph->first; key != NULL; key = key->next)
        if (graph_source_parameter_is(key->text)) {
            config_error(file->loader, key->place, "%s: %s is of nccl alone", file->path,
                         key->text);
            return false;
        }
    if (root == NULL) {
        if (file->loader->errors->count == 0 && !file->loader->arena->failed)
            config_error(file->loader, (struct config_place){file->source, 1, 1},
                         "nothing but comments; expected topology, npus_count, bandwidth, latency");
        return false;
    }
    if (root->kind != CONFIG_MAPPING)
        return astra_fault(&a, root, "topology, npus_count, bandwidth and latency");
    for (const struct config_node *key = root->first; key != NULL; key = key->next)
        if (!astra_key(&a, key))
            return false;
    if (!astra_lists(&a, root, &dims))
        return false;
    for (uint32_t dim = 0; dim < dims; dim++)
        if (!astra_dim(&a, dim, dims))
            return false;
    return astra_list(&a, root);
}
