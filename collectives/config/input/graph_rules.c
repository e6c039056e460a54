/*
 * graph_rules.c: reads the parameters of the rules of graphs, refuses what is too large, and has
 * the machines listed (graph_rules.h, graph_shapes.h).
 */
#include "collectives/config/input/graph_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/graph_shapes.h"
#include "hw/topology/sip_dims.h"

enum { PARAMETERS_MAX = 4, NUMBER_MAX = GRAPH_SIPS_MAX, WHY_BYTES = 400 };

/* A rule that is being read. */
struct rule_reading {
    struct config_loader *loader;
    const char *path; /* of the rule */
    const struct config_node *key;
    struct graph_list *list;
    uint32_t first; /* dimensions before it in a product */
};

static bool rule_fault(const struct rule_reading *r, struct config_place place, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));
static bool rule_fault(const struct rule_reading *r, struct config_place place, const char *format,
                       ...)
{
    char text[WHY_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    config_error(r->loader, place, "%s: %s", r->path, text);
    return false;
}

static bool rule_reject(const struct rule_reading *r, const struct config_node *node,
                        const char *expected)
{
    char quoted[TEXT_QUOTE_BYTES];
    return rule_fault(r, node->place, "expected %s; found %s", expected,
                      config_quote_node(node, quoted));
}

static bool counts_fit(const struct rule_reading *r, struct graph_counts counts)
{
    static const char *const name[] = {"SIPs", "switches", "links"};
    static const uint64_t most[] = {GRAPH_SIPS_MAX, GRAPH_SWITCHES_MAX, HW_GRAPH_LINKS_MAX};
    const uint64_t count[] = {counts.sips, counts.switches, counts.links};
    for (uint32_t i = 0; i < 3; i++)
        if (count[i] == UINT64_MAX)
            return rule_fault(r, r->key->place, "too many %s; legal: up to %" PRIu64, name[i],
                              most[i]);
        else if (count[i] > most[i])
            return rule_fault(r, r->key->place, "%" PRIu64 " %s; legal: up to %" PRIu64, count[i],
                              name[i], most[i]);
    return true;
}

/* ---- parameters ------------------------------------------------------------------------------ */

struct parameter {
    const char *name;
    uint32_t least, most;
    bool optional;
};

static bool read_whole(const struct rule_reading *r, const struct config_node *node,
                       const struct parameter *parameter, uint32_t *value)
{
    uint64_t number = 0;
    char expected[120];
    if (node->kind == CONFIG_SCALAR && node->plain && node->bytes > 0 &&
        text_whole(node->text, node->bytes, parameter->most, &number) == node->bytes &&
        number >= parameter->least && (node->bytes == 1 || node->text[0] != '0')) {
        *value = (uint32_t)number;
        return true;
    }
    snprintf(expected, sizeof expected, "%s: a whole number from %" PRIu32 " to %" PRIu32,
             parameter->name, parameter->least, parameter->most);
    return rule_reject(r, node, expected);
}

static bool unknown_parameter(const struct rule_reading *r, const struct config_node *key,
                              const struct parameter *parameter, const char *also)
{
    struct text_nearest nearest = {0};
    char known[200] = "", quoted[TEXT_QUOTE_BYTES], meant[64] = "";
    for (uint32_t i = 0; i < PARAMETERS_MAX && parameter[i].name != NULL; i++) {
        const size_t used = strlen(known);
        text_nearest_try(&nearest, key->text, parameter[i].name);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", parameter[i].name);
    }
    if (also != NULL) {
        const size_t used = strlen(known);
        text_nearest_try(&nearest, key->text, also);
        snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", also);
    }
    if (nearest.best != NULL)
        snprintf(meant, sizeof meant, "did you mean '%s'? ", nearest.best);
    return rule_fault(r, key->place, "unknown key %s; %sknown: %s",
                      text_quote_key(key->text, key->bytes, quoted), meant, known);
}

/* The whole numbers of a mapping. What is optional and not given stays as it is. *other is the
 * value of the key `also`, or NULL. */
static bool read_parameters(const struct rule_reading *r, const struct parameter *parameter,
                            uint32_t value[PARAMETERS_MAX], const char *also,
                            const struct config_node **other)
{
    const struct config_node *const node = r->key->value;
    bool given[PARAMETERS_MAX] = {false};
    if (node->kind != CONFIG_MAPPING)
        return rule_reject(r, node, "a mapping of the rule's parameters");
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        uint32_t i = 0;
        while (i < PARAMETERS_MAX && parameter[i].name != NULL &&
               strcmp(parameter[i].name, key->text) != 0)
            i++;
        if (i < PARAMETERS_MAX && parameter[i].name != NULL) {
            given[i] = true;
            if (!read_whole(r, key->value, &parameter[i], &value[i]))
                return false;
        } else if (also != NULL && strcmp(also, key->text) == 0) {
            *other = key->value;
        } else {
            return unknown_parameter(r, key, parameter, also);
        }
    }
    for (uint32_t i = 0; i < PARAMETERS_MAX && parameter[i].name != NULL; i++)
        if (!given[i] && !parameter[i].optional)
            return rule_fault(r, r->key->place,
                              "%s is missing; legal: a whole number from %" PRIu32 " to %" PRIu32,
                              parameter[i].name, parameter[i].least, parameter[i].most);
    return true;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* A list of sizes, as dimensions of one class of links. */
static bool read_sizes(const struct rule_reading *r, const struct config_node *node,
                       struct hw_sip_dims *dims)
{
    static const struct parameter size = {"size", 1, NUMBER_MAX, false};
    if (node->kind != CONFIG_SEQUENCE || node->first == NULL)
        return rule_reject(r, node, "a list of sizes, such as [32, 32]");
    for (const struct config_node *item = node->first; item != NULL; item = item->next) {
        uint32_t value;
        if (r->first + dims->count == HW_SIP_DIMS_MAX)
            return rule_fault(r, item->place, "more than %d dimensions", HW_SIP_DIMS_MAX);
        if (!read_whole(r, item, &size, &value))
            return false;
        dims->at[dims->count++] = (struct hw_sip_dim){.joint = HW_SIP_RING, .size = value};
    }
    return true;
}

static bool read_wrap(const struct rule_reading *r, const struct config_node *node, bool *wrap)
{
    *wrap = true;
    if (node == NULL)
        return true;
    *wrap = node->kind == CONFIG_SCALAR && node->plain && strcmp(node->text, "true") == 0;
    if (*wrap || (node->kind == CONFIG_SCALAR && node->plain && strcmp(node->text, "false") == 0))
        return true;
    return rule_reject(r, node, "wrap: true or false");
}

/* All dimensions have links of one class. */
static bool list_dims(const struct rule_reading *r, const struct hw_sip_dims *dims)
{
    uint32_t class[HW_SIP_DIMS_MAX];
    if (!counts_fit(r, graph_dims_counts(dims)))
        return false;
    class[0] = graph_list_class(r->list, "link", NULL);
    for (uint32_t k = 1; k < HW_SIP_DIMS_MAX; k++)
        class[k] = class[0];
    graph_dims(r->list, dims, r->first, class);
    return true;
}

static bool read_grid(const struct rule_reading *r)
{
    static const struct parameter none[PARAMETERS_MAX] = {{NULL, 0, 0, false}};
    const struct config_node *sizes = NULL, *wrapped = NULL;
    struct hw_sip_dims dims = {0};
    bool wrap;
    for (const struct config_node *key =
             r->key->value->kind == CONFIG_MAPPING ? r->key->value->first : NULL;
         key != NULL; key = key->next)
        if (strcmp(key->text, "size") == 0)
            sizes = key->value;
        else if (strcmp(key->text, "wrap") == 0)
            wrapped = key->value;
        else
            return unknown_parameter(r, key, none, "size, wrap");
    if (r->key->value->kind != CONFIG_MAPPING)
        sizes = r->key->value;
    if (sizes == NULL)
        return rule_fault(r, r->key->place, "size is missing; legal: a list, such as [32, 32]");
    if (!read_sizes(r, sizes, &dims) || !read_wrap(r, wrapped, &wrap))
        return false;
    for (uint32_t k = 0; k < dims.count && !wrap; k++)
        dims.at[k].joint = HW_SIP_LINE;
    if (!list_dims(r, &dims))
        return false;
    r->list->lines = wrap ? HW_SIP_LINES_RINGS : HW_SIP_LINES_OPEN;
    return true;
}

static bool read_hypercube(const struct rule_reading *r)
{
    const struct parameter number = {"hypercube", 1, HW_SIP_DIMS_MAX - r->first, false};
    struct hw_sip_dims dims = {0};
    if (!read_whole(r, r->key->value, &number, &dims.count))
        return false;
    for (uint32_t k = 0; k < dims.count; k++)
        dims.at[k] = (struct hw_sip_dim){.joint = HW_SIP_LINE, .size = 2};
    r->list->lines = HW_SIP_LINES_RINGS; /* as the levels of a product */
    return list_dims(r, &dims);
}

/* The links up of a switch with `down` links down; false: they are no whole number. */
static bool taper_up(const struct rule_reading *r, const struct config_node *node, uint32_t down,
                     uint32_t *up)
{
    struct decimal taper;
    int64_t tenths = 1, whole;
    if (node->kind == CONFIG_SCALAR && node->plain &&
        decimal_parse(node->text, node->bytes, &taper) && taper.places <= 6 &&
        decimal_compare(taper, decimal_literal("1")) >= 0 &&
        decimal_compare(taper, decimal_literal("16384")) <= 0) {
        for (uint32_t i = 0; i < taper.places; i++)
            tenths *= 10;
        whole = (int64_t)down * tenths;
        *up = (uint32_t)(whole / taper.mantissa);
        if (whole % taper.mantissa == 0)
            return true;
    }
    return rule_fault(r, node->place,
                      "expected taper: 1, or more, so that %" PRIu32
                      " links down over it is a whole number of links up; found %.40s",
                      down, node->kind == CONFIG_SCALAR ? node->text : "a list or a mapping");
}

/* One number is that of the edge alone; a list has those of the levels, from the edge on. */
static bool read_tapers(const struct rule_reading *r, const struct config_node *node,
                        struct fat_tree *tree)
{
    const struct config_node *item = node;
    for (uint32_t i = 0; i < FAT_TREE_LEVELS_MAX; i++)
        tree->up[i] = tree->k / 2;
    if (node != NULL && tree->levels == 1)
        return rule_fault(r, node->place, "a tree of one level has no links to taper");
    if (node == NULL || node->kind != CONFIG_SEQUENCE)
        return node == NULL || taper_up(r, node, tree->k / 2, &tree->up[0]);
    item = node->first;
    for (uint32_t i = 0; i + 1 < tree->levels; i++, item = item->next) {
        if (item == NULL)
            return rule_fault(r, node->place,
                              "a list of tapers has one for each level but the "
                              "top: %" PRIu32,
                              tree->levels - 1);
        if (!taper_up(r, item, tree->k / 2, &tree->up[i]))
            return false;
    }
    return item == NULL || rule_fault(r, item->place,
                                      "a list of tapers has one for each level but the top: "
                                      "%" PRIu32,
                                      tree->levels - 1);
}

static bool read_fat_tree(const struct rule_reading *r)
{
    static const struct parameter parameter[PARAMETERS_MAX] = {
        {"k", 2, NUMBER_MAX, false},
        {"levels", 1, FAT_TREE_LEVELS_MAX, true},
        {"pods", 1, NUMBER_MAX, true},
    };
    const struct config_node *tapers = NULL;
    uint32_t value[PARAMETERS_MAX] = {0, 3, 0};
    if (!read_parameters(r, parameter, value, "taper", &tapers))
        return false;
    struct fat_tree tree = {
        .k = value[0], .levels = value[1], .pods = value[2] > 0 ? value[2] : value[0]};
    if (tree.k % 2 != 0)
        return rule_fault(r, r->key->place,
                          "k is %" PRIu32 "; legal: an even number, half of whose ports lead up",
                          tree.k);
    if (tree.pods > tree.k)
        return rule_fault(r, r->key->place,
                          "pods is %" PRIu32 "; legal: up to the %" PRIu32
                          " ports of a switch at the top",
                          tree.pods, tree.k);
    if (!read_tapers(r, tapers, &tree) || !counts_fit(r, fat_tree_counts(&tree)))
        return false;
    fat_tree(r->list, &tree);
    return true;
}

static bool read_dragonfly(const struct rule_reading *r)
{
    static const struct parameter parameter[PARAMETERS_MAX] = {
        {"a", 1, NUMBER_MAX, false},
        {"h", 1, NUMBER_MAX, false},
        {"g", 2, NUMBER_MAX, true},
        {"p", 1, NUMBER_MAX, true},
    };
    uint32_t value[PARAMETERS_MAX] = {0};
    if (!read_parameters(r, parameter, value, NULL, NULL))
        return false;
    struct dragonfly fly = {.a = value[0], .h = value[1], .g = value[2], .p = value[3]};
    const uint64_t most = (uint64_t)fly.a * fly.h + 1;
    if (fly.g > most)
        return rule_fault(r, r->key->place,
                          "g is %" PRIu32 "; legal: 2 to a x h + 1 = %" PRIu64
                          ", so that every two groups have a link",
                          fly.g, most);
    if (fly.p == 0)
        fly.p = fly.h;
    if (fly.g == 0 && most > NUMBER_MAX)
        return rule_fault(r, r->key->place,
                          "g, which is not given, would be a x h + 1 = %" PRIu64
                          "; legal: up to %d",
                          most, NUMBER_MAX);
    if (fly.g == 0)
        fly.g = (uint32_t)most;
    if (!counts_fit(r, dragonfly_counts(&fly)))
        return false;
    dragonfly(r->list, &fly);
    return true;
}

static bool read_rail(const struct rule_reading *r)
{
    static const struct parameter parameter[PARAMETERS_MAX] = {
        {"nodes", 1, NUMBER_MAX, false},
        {"sips", 1, NUMBER_MAX, false},
        {"group", 1, NUMBER_MAX, true},
    };
    const struct config_node *taper = NULL;
    uint32_t value[PARAMETERS_MAX] = {0};
    if (!read_parameters(r, parameter, value, "taper", &taper))
        return false;
    struct rail rails = {
        .nodes = value[0], .sips = value[1], .group = value[2] > 0 ? value[2] : value[0]};
    rails.spines = rails.group;
    if (rails.nodes % rails.group != 0)
        return rule_fault(r, r->key->place,
                          "group is %" PRIu32 "; legal: a divisor of the %" PRIu32 " nodes",
                          rails.group, rails.nodes);
    if (taper != NULL && rails.group == rails.nodes)
        return rule_fault(r, taper->place,
                          "one group has no spine to taper; give a `group` below `nodes`");
    if (taper != NULL && !taper_up(r, taper, rails.group, &rails.spines))
        return false;
    if (!counts_fit(r, rail_counts(&rails)))
        return false;
    rail(r->list, &rails);
    return true;
}

static bool read_slim_fly(const struct rule_reading *r)
{
    static const struct parameter parameter[PARAMETERS_MAX] = {
        {"q", 3, SLIM_FLY_Q_MAX, false},
        {"p", 1, NUMBER_MAX, true},
    };
    uint32_t value[PARAMETERS_MAX] = {0};
    if (!read_parameters(r, parameter, value, NULL, NULL))
        return false;
    if (!slim_fly_is(value[0])) {
        char legal[200] = "";
        for (uint32_t q = 3; q <= SLIM_FLY_Q_MAX; q++)
            if (slim_fly_is(q))
                snprintf(legal + strlen(legal), sizeof legal - strlen(legal), "%s%" PRIu32,
                         legal[0] != '\0' ? ", " : "", q);
        return rule_fault(r, r->key->place,
                          "q is %" PRIu32 "; legal: a power of a prime above 2: %s", value[0],
                          legal);
    }
    const struct slim_fly fly = {
        .q = value[0], .p = value[1] > 0 ? value[1] : (slim_fly_degree(value[0]) + 1) / 2};
    if (!counts_fit(r, slim_fly_counts(&fly)))
        return false;
    slim_fly(r->list, &fly);
    return true;
}

/* ---- products -------------------------------------------------------------------------------- */

static bool read_any(const struct rule_reading *r);

/* A level as system.sips.topology has it. */
static bool read_level(const struct rule_reading *r, const struct config_node *item,
                       uint32_t number)
{
    struct config_node alone = *item, list = {.kind = CONFIG_SEQUENCE, .place = item->place};
    char name[GRAPH_NAME_BYTES];
    uint32_t class[HW_SIP_DIMS_MAX];
    alone.next = NULL;
    list.first = &alone;
    const struct levels *const levels = levels_read(r->loader, r->path, &list);
    if (levels == NULL)
        return false;
    if (levels->has_rest)
        return rule_fault(r, item->place, "a level of a graph has sizes; found rest");
    if (r->first + levels->dims.count > HW_SIP_DIMS_MAX)
        return rule_fault(r, item->place, "more than %d dimensions", HW_SIP_DIMS_MAX);
    if (!counts_fit(r, graph_dims_counts(&levels->dims)))
        return false;
    snprintf(name, sizeof name, "level_%" PRIu32, number);
    class[0] = graph_list_class(r->list, name, &levels->at[0]);
    for (uint32_t k = 1; k < HW_SIP_DIMS_MAX; k++)
        class[k] = class[0];
    graph_dims(r->list, &levels->dims, r->first, class);
    return true;
}

/* A factor of a product: a rule, or a level. */
static bool read_factor(const struct rule_reading *r, const struct config_node *item,
                        uint32_t number)
{
    char path[160];
    struct rule_reading inner = *r;
    if (item->kind != CONFIG_MAPPING || !graph_rule_is(item->first->text))
        return read_level(r, item, number);
    if (item->first->next != NULL)
        return rule_fault(r, item->first->next->place,
                          "a rule has its parameters below it, and nothing beside it");
    snprintf(path, sizeof path, "%s.%s", r->path, item->first->text);
    inner.path = path;
    inner.key = item->first;
    if (strcmp(item->first->text, "product") == 0)
        return rule_fault(r, item->place, "a product in a product; write one list");
    return read_any(&inner);
}

static bool read_factors(const struct rule_reading *r, struct graph_list *factor, uint32_t *count)
{
    uint32_t first = 0;
    for (const struct config_node *item = r->key->value->first; item != NULL; item = item->next) {
        if (first >= HW_SIP_DIMS_MAX)
            return rule_fault(r, item->place, "more than %d dimensions", HW_SIP_DIMS_MAX);
        struct rule_reading inner = *r;
        inner.list = &factor[*count];
        inner.first = first;
        if (!read_factor(&inner, item, ++*count))
            return false;
        first += inner.list->dims > 0 ? inner.list->dims : 1;
    }
    return counts_fit(r, graph_product_counts(factor, *count));
}

static bool read_product(const struct rule_reading *r)
{
    struct graph_list *const factor = calloc(HW_SIP_DIMS_MAX, sizeof *factor);
    uint32_t count = 0;
    bool read = false;
    if (factor == NULL)
        r->list->failed = true;
    else if (r->key->value->kind != CONFIG_SEQUENCE || r->key->value->first == NULL)
        (void)rule_reject(r, r->key->value,
                          "a list of levels and rules, such as [{switch: 8}, {grid: [4, 4]}]");
    else
        read = read_factors(r, factor, &count);
    if (read) {
        graph_product(r->list, factor, count);
        r->list->lines = r->list->dims > 0 ? HW_SIP_LINES_RINGS : HW_SIP_LINES_NONE;
    }
    for (uint32_t i = 0; i < count; i++)
        graph_list_free(&factor[i]);
    free(factor);
    return read;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct rule {
    const char *name;
    bool (*read)(const struct rule_reading *r);
} rule_table[] = {
    {"grid", read_grid},           {"product", read_product}, {"fat_tree", read_fat_tree},
    {"dragonfly", read_dragonfly}, {"rail", read_rail},       {"slim_fly", read_slim_fly},
    {"hypercube", read_hypercube},
};
enum { RULES = sizeof rule_table / sizeof *rule_table };

static const struct rule *find_rule(const char *key)
{
    for (uint32_t i = 0; i < RULES; i++)
        if (strcmp(rule_table[i].name, key) == 0)
            return &rule_table[i];
    return NULL;
}

static bool read_any(const struct rule_reading *r) { return find_rule(r->key->text)->read(r); }

bool graph_rule_is(const char *key) { return find_rule(key) != NULL; }

const char graph_rule_names[] = "grid, product, fat_tree, dragonfly, rail, slim_fly, hypercube";

bool graph_rule_read(struct config_loader *loader, const char *path, const struct config_node *key,
                     struct graph_list *list)
{
    char name[160];
    snprintf(name, sizeof name, "%s.%s", path, key->text);
    const struct rule_reading r = {loader, name, key, list, 0};
    if (list->sips > 0)
        return rule_fault(&r, key->place,
                          "this graph has its SIPs already; legal: one rule, or `sips`; a product "
                          "combines rules");
    return read_any(&r);
}
