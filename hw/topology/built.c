/*
 * built.c: counts the links and switches of a machine, and adds up costs and watts (built.h).
 */
#include "hw/topology/built.h"

#include "hw/topology/broken.h"

/* All parts together, in millionths. */
struct price_sum {
    unsigned __int128 cost, watts;
};

static void add_parts(struct price_sum *sum, struct hw_built *built, uint64_t count,
                      const struct hw_price *price)
{
    sum->cost += (unsigned __int128)count * (uint64_t)price->cost;
    sum->watts += (unsigned __int128)count * (uint64_t)price->watts;
    built->has_energy |= price->pj_per_bit > 0;
}

/* Of each kind; each direction for itself. */
static void count_links(const struct hw_config *hw, uint64_t links[HW_LINK_KINDS],
                        uint64_t ways[HW_LINK_KINDS])
{
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS)
                continue;
            ways[hop.link]++;
            links[hop.link] += hw_hop_counts(&hop, stop);
        }
}

struct hw_built hw_built_of(const struct hw_config *hw)
{
    uint64_t left[HW_LINK_KINDS] = {0}, all_ways[HW_LINK_KINDS] = {0};
    struct hw_built built = {.switches = hw_switches(hw)};
    struct price_sum sum = {0};
    for (uint32_t stop = hw->sip_count; stop < hw_stops(hw); stop++)
        built.switches_of[hw_switch_number(hw_node_at(hw, stop))]++;
    count_links(hw_whole(hw), built.links, all_ways);
    count_links(hw, left, built.ways);
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++) {
        built.all_links += built.links[kind];
        if (built.links[kind] > 0 || !hw_link_is_outer(kind))
            add_parts(&sum, &built, built.links[kind], &hw->link_price[kind]);
    }
    for (uint32_t number = 0; number < HW_SWITCH_KINDS; number++)
        if (built.switches_of[number] > 0)
            add_parts(&sum, &built, built.switches_of[number], &hw->switch_price[number]);
    add_parts(&sum, &built, hw->sip_count, &hw->sip_price);
    built.has_cost = sum.cost > 0;
    built.has_energy |= sum.watts > 0;
    built.cost = (double)sum.cost / 1e6;
    built.watts = (double)sum.watts / 1e6;
    return built;
}
