/*
 * config_orders.c: finds walks and levels once for each configuration (config_orders.h).
 */
#include "collectives/config/config_orders.h"

#include <stdlib.h>

#include "collectives/config/config_tree.h"
#include "hw/sip_walk.h"
#include "hw/topology/graph.h"
#include "partition/sip_parts.h"

/* Levels, where the structure shows none: about as many groups as SIPs in each, as METIS cuts them.
 */
static void split_by_metis(const struct hw_config *hw, struct hw_sip_levels *levels,
                           uint32_t *by_level)
{
    enum { SIPS_MIN = 8, SIPS_MAX = 1024 };
    uint32_t groups = 1;
    while (groups * groups < hw->sip_count || hw->sip_count % groups != 0)
        groups++;
    uint32_t *const group = malloc(hw_stops(hw) * sizeof *group);
    if (group != NULL && hw->sip_count >= SIPS_MIN && hw->sip_count <= SIPS_MAX &&
        groups < hw->sip_count && sip_parts(hw, groups, group))
        (void)hw_sip_levels_split(hw, group, groups, levels, by_level);
    free(group);
}

/* Routes along dimensions, or between paired dies: orders are as in a built-in topology. */
static bool goes_by_dims(const struct hw_config *hw)
{
    enum hw_route_policy policy;
    uint64_t seed;
    return hw_graph_policy(hw, &policy, &seed) &&
           (policy == HW_ROUTES_DIMENSION_ORDER || hw->sip_topology->paired);
}

void config_find_orders(struct config *config)
{
    struct config_tree *const tree = config->tree;
    struct hw_config *const hw = &config->hw;
    if (!hw->sip_topology->is_irregular || goes_by_dims(hw))
        return;
    const size_t walks = hw->sip_count > HW_WALK_SIPS_MAX ? 1 : HW_WALKS_MAX;
    struct hw_sip_orders *const orders = config_arena_alloc(&tree->arena, sizeof *orders);
    uint32_t *const walk = config_arena_alloc(&tree->arena, walks * hw->sip_count * sizeof *walk),
                    *const by_level =
                        config_arena_alloc(&tree->arena, hw->sip_count * sizeof *by_level);
    if (orders == NULL || walk == NULL || by_level == NULL)
        return;
    orders->walks = hw_sip_walks(hw, walk);
    if (orders->walks == 0 || !hw_sip_levels_find(hw, &orders->levels, by_level)) {
        tree->arena.failed = true;
        return;
    }
    if (orders->levels.count == 1)
        split_by_metis(hw, &orders->levels, by_level);
    orders->walk = walk;
    orders->by_level = by_level;
    hw->orders = orders;
}
