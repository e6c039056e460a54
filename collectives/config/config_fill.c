/*
 * config_fill.c: from checked values to struct hw_config and struct ccl_config, by the schema's
 * offsets and, where a field is made of several values, by hand. Nothing can fail here.
 */
#include "collectives/config/config_fill.h"

#include <stdio.h>
#include <string.h>

#include "collectives/algorithm.h"
#include "collectives/config/config_jitter.h"
#include "collectives/config/config_ranks.h"
#include "collectives/config/config_tree.h"

static void store_rate(void *field, struct decimal value)
{
    const struct hw_rate rate = decimal_rate(value);
    memcpy(field, &rate, sizeof rate);
}

/* One value into its field; memcpy, because the field's type is known to the schema alone. */
static void config_fill_store(const struct config_key *key, const struct config_value *value,
                              void *target)
{
    char *const field = (char *)target + key->offset;
    const uint32_t narrow = (uint32_t)value->number.mantissa;
    const uint64_t wide = (uint64_t)value->number.mantissa * (key->scale > 0 ? key->scale : 1);
    const bool yes = value->number.mantissa != 0;
    switch ((enum config_store)key->store) {
    case CONFIG_STORE_HAND:
        break;
    case CONFIG_STORE_U32:
    case CONFIG_STORE_ENUM: /* enumerations have the size of int with the compilers we build with */
        memcpy(field, &narrow, sizeof narrow);
        break;
    case CONFIG_STORE_U64:
        memcpy(field, &wide, sizeof wide);
        break;
    case CONFIG_STORE_PS: {
        const int64_t ps = decimal_ps(value->number);
        memcpy(field, &ps, sizeof ps);
        break;
    }
    case CONFIG_STORE_HW_RATE:
        store_rate(field, value->number);
        break;
    case CONFIG_STORE_MILLIONTHS: {
        const int64_t millionths = decimal_millionths(value->number);
        memcpy(field, &millionths, sizeof millionths);
        break;
    }
    case CONFIG_STORE_BOOL:
        memcpy(field, &yes, sizeof yes);
        break;
    case CONFIG_STORE_TEXT:
        snprintf(field, key->scale, "%s", value->text);
        break;
    }
}
_Static_assert(sizeof(enum hw_contention) == sizeof(uint32_t) &&
                   sizeof(enum ccl_wiring) == sizeof(uint32_t),
               "enumerations are stored as 32 bits");

/* The class of a kind of link; of a level's links, keys that the level does not give are as
 * sip_link's. */
static void fill_link(const struct config_tree *tree, uint32_t kind, const struct level *level,
                      struct hw_config *hw)
{
    const uint32_t keyed = kind < HW_LINK_KEYED ? kind : HW_LINK_SIP_LINK;
    struct decimal value[LEVEL_NUMBERS] = {0};
    for (uint32_t i = 0; i < LEVEL_NUMBERS; i++) {
        char path[64];
        snprintf(path, sizeof path, "links.%s.%s", hw_link_name[keyed], level_number_name[i]);
        if (config_machine_find(path) >= 0)
            value[i] = config_machine_value(tree, path)->number; /* 0 when not given */
        if (i == LEVEL_NS_PER_MM && !config_given(config_machine_value(tree, path)))
            value[i] = config_machine_value(tree, "ns_per_mm")->number;
        if (level != NULL && level->given[i])
            value[i] = level->number[i];
    }
    if (hw_link_is_outer((enum hw_link_kind)kind)) {
        const struct decimal scale = config_link_scale(tree, (enum hw_link_kind)keyed);
        value[LEVEL_BW_GBS] = decimal_scaled(value[LEVEL_BW_GBS], scale, 6);
        value[LEVEL_COST] = decimal_scaled(value[LEVEL_COST], scale, 6);
        value[LEVEL_WATTS] = decimal_scaled(value[LEVEL_WATTS], scale, 6);
    }
    hw->link_price[kind] = (struct hw_price){decimal_millionths(value[LEVEL_COST]),
                                             decimal_millionths(value[LEVEL_WATTS]),
                                             decimal_millionths(value[LEVEL_PJ_PER_BIT])};
    hw->link[kind].prop_ps =
        decimal_prop_ps(value[LEVEL_DISTANCE_MM], value[LEVEL_NS_PER_MM], value[LEVEL_LATENCY_NS]);
    hw->link[kind].rate = decimal_rate(value[LEVEL_BW_GBS]);
}

static void fill_links(const struct config_tree *tree, struct hw_config *hw)
{
    const struct config_value *const topology = config_machine_value(tree, "system.sips.topology");
    const struct levels *const levels = topology->levels;
    const struct graph_list *const graph = topology->graph != NULL ? &topology->graph->list : NULL;
    for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++)
        fill_link(tree, kind, NULL, hw);
    for (uint32_t i = 0; levels != NULL && i < levels->count; i++)
        fill_link(tree, HW_LINK_CLASS_1 + i, &levels->at[i], hw);
    for (uint32_t i = 0; graph != NULL && i < graph->classes; i++)
        fill_link(tree, HW_LINK_CLASS_1 + i, &graph->class[i].figures, hw);
}

/* A kind of switches; NULL: there is none of this number. */
static void fill_switches(const struct graph_kind *kind, uint32_t number, struct hw_switch_row *row,
                          struct hw_config *hw)
{
    const enum hw_node_kind node = hw_switch_node(number);
    struct hw_price *const price = &hw->switch_price[number];
    *row = (struct hw_switch_row){.name = "switch"};
    if (kind == NULL)
        return;
    const struct level *const figures = &kind->figures;
    *row = (struct hw_switch_row){kind->name, kind->first, kind->count};
    if (kind->reduce.has_mode)
        hw->reduce[number].mode = kind->reduce.mode;
    if (kind->reduce.has_rate)
        hw->reduce[number].rate = decimal_rate(kind->reduce.rate);
    if (kind->reduce.has_latency)
        hw->reduce[number].latency_ps = decimal_ps(kind->reduce.latency);
    if (kind->reduce.has_trees)
        hw->reduce[number].trees = kind->reduce.trees;
    if (figures->given[LEVEL_LATENCY_NS])
        hw->overhead_ps[node] = decimal_ps(figures->number[LEVEL_LATENCY_NS]);
    if (figures->given[LEVEL_COST])
        price->cost = decimal_millionths(figures->number[LEVEL_COST]);
    if (figures->given[LEVEL_WATTS])
        price->watts = decimal_millionths(figures->number[LEVEL_WATTS]);
    if (figures->given[LEVEL_PJ_PER_BIT])
        price->pj_per_bit = decimal_millionths(figures->number[LEVEL_PJ_PER_BIT]);
}

/* What a graph says of its switches, and the names of its classes and kinds. */
static void fill_graph(struct config_tree *tree, struct hw_config *hw)
{
    const struct config_value *const topology = config_machine_value(tree, "system.sips.topology");
    if (topology->graph == NULL)
        return;
    const struct graph_list *const graph = &topology->graph->list;
    const char **const class = config_arena_alloc(&tree->arena, HW_CLASSES_MAX * sizeof *class);
    struct hw_switch_row *const kind =
        config_arena_alloc(&tree->arena, HW_SWITCH_KINDS * sizeof *kind);
    if (class == NULL || kind == NULL)
        return;
    for (uint32_t i = 0; i < HW_CLASSES_MAX; i++)
        class[i] = i < graph->classes ? graph->class[i].name : "";
    for (uint32_t i = 1; i < HW_SWITCH_KINDS; i++) {
        hw->overhead_ps[hw_switch_node(i)] = hw->overhead_ps[HW_NODE_SWITCH];
        hw->reduce[i] = hw->reduce[0];
    }
    for (uint32_t i = 0; i < HW_SWITCH_KINDS; i++)
        fill_switches(i < graph->kinds ? &graph->kind[i] : NULL, i, &kind[i], hw);
    hw->class_name = class;
    hw->switches = kind;
}

static void fill_structure(const struct config_tree *tree, struct hw_config *hw)
{
    hw_join_sips(hw, config_topology(tree), &tree->grid);
    const struct config_value *const corners = config_machine_value(tree, "cube.pe_layout.corners");
    hw->corner_count = corners->list_count;
    for (uint32_t i = 0; i < corners->list_count; i++)
        hw->corner[i] = (enum hw_corner)corners->list[i];
}

static void fill_ccl(struct config_tree *tree, struct ccl_config *ccl)
{
    for (uint32_t i = 0; i < config_ccl_key_count; i++) {
        const struct config_value *const value = config_ccl_value(tree, tree->chosen, (int)i);
        if (config_given(value))
            config_fill_store(&config_ccl_keys[i], value, ccl);
    }
    const struct config_value *const weights =
        config_ccl_value(tree, tree->chosen, config_ccl_find("vc_weights"));
    ccl->queues.vc_weight[0] = weights->list[0];
    ccl->queues.vc_weight[1] = weights->list[1];
    const struct config_value *const root =
        config_ccl_value(tree, tree->chosen, config_ccl_find("root"));
    ccl->root = root->list_count == 2 ? CCL_ROOT_XY : (enum ccl_root)root->number.mantissa;
    ccl->root_x = root->list[0];
    ccl->root_y = root->list[1];
    config_fill_ranks(tree, &ccl->ranks);
    if (ccl->ranks.list != NULL)
        ccl->world_size = ccl->ranks.count;
    const struct ccl_algorithm *const algorithm = config_running(tree);
    for (uint32_t i = 0; algorithm != NULL && i < algorithm->parameter_count; i++) {
        const struct ccl_parameter *const parameter = &algorithm->parameters[i];
        const struct config_value *const given =
            config_parameter_value(tree->chosen, parameter->name);
        ccl->parameter[i] = given != NULL ? given->number.mantissa : parameter->value;
    }
}

void config_fill_ccl(struct config *config)
{
    config->ccl = (struct ccl_config){0};
    fill_ccl(config->tree, &config->ccl);
}

void config_fill(struct config *config)
{
    struct config_tree *const tree = config->tree;
    for (uint32_t i = 0; i < config_machine_key_count; i++)
        if (config_given(&tree->machine[i]))
            config_fill_store(&config_machine_keys[i], &tree->machine[i], &config->hw);
    fill_structure(tree, &config->hw);
    for (uint32_t k = 1; k < HW_SWITCH_KINDS; k++)
        config->hw.switch_price[k] = config->hw.switch_price[0];
    fill_links(tree, &config->hw);
    fill_graph(tree, &config->hw);
    config_fill_jitter(tree, &config->hw);
    config_fill_ccl(config);
    config->groups =
        (struct ccl_groups){.sets = tree->group_sets, .count = tree->named_count[CONFIG_GROUPS]};
}
