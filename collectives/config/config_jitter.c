/*
 * config_jitter.c: `jitter` in components.yaml: rules across its keys, and their places in
 * struct hw_config. Everything there is optional; an absent key has no effect.
 */
#include "collectives/config/config_jitter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collectives/config/config_where.h"

/* One kind's keys. */
struct kind_values {
    char path[48]; /* "jitter.links.ucie" */
    const struct config_value *distribution, *mean, *spread, *each, *only;
    uint32_t parts_max; /* of `only`: how precisely such a thing can be placed */
    bool on_the_way;    /* a transfer meets it, and may be overtaken there by another */
};

/* The key of that name, one of a kind's: these follow each other, from `first` on
 * (config_schema.c).
 */
static const struct config_value *value_of(const struct config_tree *tree, uint32_t first,
                                           const char *group, const char *name)
{
    const size_t bytes = strlen(group);
    for (uint32_t i = first; i < config_machine_key_count; i++) {
        const char *const path = config_machine_keys[i].path;
        if (strncmp(path, group, bytes) != 0 || path[bytes] != '.')
            break;
        if (strcmp(path + bytes + 1, name) == 0)
            return &tree->machine[i];
    }
    return NULL;
}

/* False: this kind has no such keys. */
static bool values_of(const struct config_tree *tree, const char *group, const char *name,
                      struct kind_values *values)
{
    char path[80];
    snprintf(values->path, sizeof values->path, "jitter.%s.%s", group, name);
    snprintf(path, sizeof path, "%s.distribution", values->path);
    const int found = config_machine_find(path);
    if (found < 0)
        return false;
    const uint32_t first = (uint32_t)found;
    values->distribution = &tree->machine[first];
    values->mean = value_of(tree, first, values->path, "mean_ns");
    values->spread = value_of(tree, first, values->path, "spread_ns");
    values->each = value_of(tree, first, values->path, "each");
    values->only = value_of(tree, first, values->path, "only");
    return true;
}

static bool node_values(const struct config_tree *tree, uint32_t kind, struct kind_values *values)
{
    values->parts_max = 3;
    values->on_the_way = hw_node_row[kind].jitter == HW_LATE_ON_WAY;
    return values_of(tree, "nodes", hw_node_name[kind], values);
}

static bool link_values(const struct config_tree *tree, uint32_t kind, struct kind_values *values)
{
    values->parts_max = hw_link_per(kind);
    values->on_the_way = true;
    return values_of(tree, "links", hw_link_name[kind], values);
}

static enum hw_jitter_distribution distribution_of(const struct kind_values *values)
{
    return (enum hw_jitter_distribution)values->distribution->number.mantissa; /* 0: not given */
}

static bool is_positive(const struct config_value *value)
{
    return config_given(value) && value->number.mantissa > 0;
}

/* That mean and spread are there where the distribution has them, and nowhere else. */
static void check_parameters(struct config_loader *loader, const struct kind_values *values)
{
    const enum hw_jitter_distribution distribution = distribution_of(values);
    const bool has_mean = distribution != HW_JITTER_NONE;
    const bool has_spread = distribution == HW_JITTER_UNIFORM || distribution == HW_JITTER_NORMAL;
    if (values->distribution->wrong || values->mean->wrong || values->spread->wrong)
        return;
    if (has_mean && !config_given(values->mean))
        config_error(loader, values->distribution->place,
                     "%s: distribution %s needs mean_ns beside it", values->path,
                     values->distribution->text);
    if (has_spread && !config_given(values->spread))
        config_error(loader, values->distribution->place,
                     "%s: distribution %s needs spread_ns beside it", values->path,
                     values->distribution->text);
    if (!has_mean && is_positive(values->mean))
        config_error(loader, values->mean->place,
                     "%s.mean_ns: without a distribution it means nothing; give distribution: "
                     "fixed, uniform, normal or exponential",
                     values->path);
    if (!has_spread && is_positive(values->spread))
        config_error(loader, values->spread->place,
                     "%s.spread_ns: only the distributions uniform and normal have it",
                     values->path);
}

/* Nothing is reserved in contention `none`: draws that differ would let transfers overtake. */
static void check_contention(struct config_loader *loader, const struct config_tree *tree,
                             const struct kind_values *values)
{
    const struct config_value *const contention = config_machine_value(tree, "fabric.contention");
    const bool per_instance = values->each->number.mantissa == CONFIG_DRAW_INSTANCE;
    if (values->on_the_way && distribution_of(values) > HW_JITTER_FIXED && !per_instance &&
        config_given(contention) && contention->number.mantissa == HW_CONTENTION_NONE)
        config_error(loader, values->distribution->place,
                     "%s.distribution: with fabric.contention none a draw for each operation "
                     "would let tiles overtake each other; legal: fixed, each: instance, or "
                     "another contention",
                     values->path);
}

static void check_kind(struct config_loader *loader, const struct config_tree *tree,
                       const struct kind_values *values)
{
    check_parameters(loader, values);
    const struct config_where_key only = {values->path, "only", values->only, values->parts_max};
    (void)config_check_where(loader, tree, &only);
    check_contention(loader, tree, values);
}

void config_check_jitter(struct config_loader *loader, const struct config_tree *tree)
{
    struct kind_values values;
    for (uint32_t kind = 0; kind < HW_NODE_KEYED; kind++)
        if (node_values(tree, kind, &values))
            check_kind(loader, tree, &values);
    for (uint32_t kind = 0; kind < HW_LINK_KEYED; kind++)
        if (link_values(tree, kind, &values))
            check_kind(loader, tree, &values);
}

/* Fills in the fields that the schema does not store. */
static void fill_kind(struct config_arena *arena, const struct kind_values *values, uint32_t salt,
                      struct hw_jitter_kind *kind)
{
    kind->only = config_where_of(arena, values->only, 0);
    kind->salt = (uint8_t)salt;
    kind->per_instance = values->each->number.mantissa == CONFIG_DRAW_INSTANCE;
    kind->active = kind->mean_ps > 0 || kind->spread_ps > 0;
}

void config_fill_jitter(struct config_tree *tree, struct hw_config *hw)
{
    struct kind_values values;
    if (!config_given(config_machine_value(tree, "jitter.seed")))
        hw->jitter_seed = 1;
    for (uint32_t kind = 0; kind < HW_NODE_KEYED; kind++)
        if (node_values(tree, kind, &values))
            fill_kind(&tree->arena, &values, hw_node_row[kind].salt, &hw->node_jitter[kind]);
    for (uint32_t kind = 0; kind < HW_LINK_KEYED; kind++)
        if (link_values(tree, kind, &values))
            fill_kind(&tree->arena, &values, hw_link_row[kind].salt, &hw->link_jitter[kind]);
    for (uint32_t kind = HW_LINK_KEYED; kind < HW_LINK_KINDS; kind++) { /* levels: as sip_link */
        hw->link_jitter[kind] = hw->link_jitter[HW_LINK_SIP_LINK];
        hw->link_jitter[kind].salt = hw_link_salt(kind);
    }
}
