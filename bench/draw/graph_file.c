/*
 * graph_file.c: writes the machine as a graph file (graph_file.h).
 */
#include "bench/draw/graph_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "hw/topology/broken.h"
#include "hw/topology/graph.h"

/* A link as it is listed: from the stop's outlet on. */
struct listed {
    uint32_t place, stop, outlet;
};

static int by_place(const void *a, const void *b)
{
    const struct listed *const x = a, *const y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Three with a link between every two, listed all one way round, would be read as a ring. */
static bool is_in_three(const struct hw_config *hw, uint32_t sip, uint32_t to)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    for (uint32_t k = 0; k < dims.count; k++)
        if (hw_sip_coordinate(&dims.at[k], sip) != hw_sip_coordinate(&dims.at[k], to))
            return dims.at[k].joint == HW_SIP_FULL && dims.at[k].size == 3;
    return false;
}

/* Whether the list has a link from this end of it: of a built-in topology, where it leads on, and
 * from SIPs to switches. */
static bool is_listed_here(const struct hw_config *hw, uint32_t stop, uint32_t outlet,
                           const struct hw_hop *hop)
{
    if (hw_is_switch(hw, stop) || hw_is_switch(hw, hop->to))
        return !hw_is_switch(hw, stop);
    const enum hw_port side = hw_side(hw, outlet);
    if (side == hop->in || is_in_three(hw, stop, hop->to)) /* half way round, between every two */
        return stop < hop->to;
    return side == HW_PORT_E || side == HW_PORT_S;
}

/* All links in the order of the list; built-in ones to switches first. Returns their number. */
static uint32_t list_links(const struct hw_config *hw, struct listed *links)
{
    uint32_t count = 0;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            uint32_t place = 0;
            bool here = hop.link < HW_LINK_KINDS;
            if (here && !hw_graph_place(hw, stop, outlet, &place, &here)) {
                here = is_listed_here(hw, stop, outlet, &hop);
                place = hw_is_switch(hw, hop.to) ? count : count + HW_GRAPH_LINKS_MAX;
            }
            if (here)
                links[count++] = (struct listed){place, stop, outlet};
        }
    qsort(links, count, sizeof *links, by_place);
    return count;
}

static uint64_t outlets_in_all(const struct hw_config *hw)
{
    return (uint64_t)hw->sip_count * hw_outlets(hw) +
           (uint64_t)hw_switches(hw) * hw_switch_outlets(hw);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void put_price(FILE *out, const struct hw_price *price, const struct hw_price *otherwise)
{
    const int64_t own[] = {price->cost, price->watts, price->pj_per_bit},
                  other[] = {otherwise->cost, otherwise->watts, otherwise->pj_per_bit};
    static const char *const name[] = {"cost", "watts", "pj_per_bit"};
    for (uint32_t i = 0; i < 3; i++)
        if (own[i] != other[i])
            fprintf(out, ", %s: %" PRId64 ".%06" PRId64, name[i], own[i] / 1000000,
                    own[i] % 1000000);
}

static void put_switches(FILE *out, const struct hw_config *hw)
{
    if (hw_switches(hw) == 0)
        return;
    fputs("switches:\n", out);
    if (hw->switches == NULL)
        fprintf(out, "  - {name: switch, count: %" PRIu32 "}\n", hw_switches(hw));
    for (uint32_t kind = 0; hw->switches != NULL && kind < HW_SWITCH_KINDS; kind++) {
        const struct hw_switch_row *const row = &hw->switches[kind];
        if (row->count == 0)
            continue;
        const int64_t ps = hw->overhead_ps[hw_switch_node(kind)];
        fprintf(out, "  - {name: %s, count: %" PRIu32 ", latency_ns: %" PRId64 ".%03" PRId64,
                row->name, row->count, ps / 1000, ps % 1000);
        put_price(out, &hw->switch_price[kind], &(struct hw_price){0});
        fputs("}\n", out);
    }
}

static void put_classes(FILE *out, const struct hw_config *hw, const struct listed *links,
                        uint32_t count)
{
    bool used[HW_LINK_KINDS] = {false};
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct hw_hop hop = hw_hop(hw, links[i].stop, links[i].outlet);
        used[hop.link] = true;
        if (hop.back != HW_ONE_WAY)
            used[hw_hop(hw, hop.to, hop.back).link] = true;
    }
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++) {
        if (!used[kind] || kind == HW_LINK_SIP_LINK)
            continue;
        const struct hw_link_class *const link = &hw->link[kind];
        fprintf(out, "%s  %s: {distance_mm: 0, latency_ns: %" PRId64 ".%03" PRId64 ", bw_gbs: %.9g",
                any ? "" : "classes:\n", hw_link_name_of(hw, kind), link->prop_ps / 1000,
                link->prop_ps % 1000, 1000.0 * (double)link->rate.den / (double)link->rate.num);
        put_price(out, &hw->link_price[kind], &hw->link_price[HW_LINK_SIP_LINK]);
        fputs("}\n", out);
        any = true;
    }
}

static void put_stop(FILE *out, const struct hw_config *hw, uint32_t stop)
{
    const uint32_t number = stop - hw->sip_count;
    uint32_t kind = 0;
    if (!hw_is_switch(hw, stop)) {
        fprintf(out, "%" PRIu32, stop);
        return;
    }
    while (hw->switches != NULL && number - hw->switches[kind].first >= hw->switches[kind].count)
        kind++;
    if (hw->switches == NULL)
        fprintf(out, "switch.%" PRIu32, number);
    else
        fprintf(out, "%s.%" PRIu32, hw->switches[kind].name, number - hw->switches[kind].first);
}

/* "back_" or "": the port and the direction's name at a SIP, and the class of the way from there.
 */
static void put_end(FILE *out, const struct hw_config *hw, const char *back, uint32_t stop,
                    uint32_t outlet, enum hw_port in)
{
    char name[HW_OUTLET_NAME_BYTES];
    if (outlet != HW_ONE_WAY && hw_hop(hw, stop, outlet).link != HW_LINK_SIP_LINK)
        fprintf(out, ", %sclass: %s", back, hw_link_name_of(hw, hw_hop(hw, stop, outlet).link));
    if (hw_is_switch(hw, stop))
        return;
    fprintf(out, ", %sport: %c", back, hw_port_letter[in]);
    if (outlet == HW_ONE_WAY)
        return;
    hw_outlet_name(hw, stop, outlet, name);
    fprintf(out, ", %sname: \"%s\"", back, name);
}

static void put_links(FILE *out, const struct hw_config *hw, const struct listed *links,
                      uint32_t count)
{
    fputs(count > 0 ? "links:\n" : "links: []\n", out);
    for (uint32_t i = 0; i < count; i++) {
        const struct listed *const at = &links[i];
        const struct hw_hop hop = hw_hop(hw, at->stop, at->outlet);
        fputs("  - {from: ", out);
        put_stop(out, hw, at->stop);
        fputs(", to: ", out);
        put_stop(out, hw, hop.to);
        put_end(out, hw, "", at->stop, at->outlet,
                hw_is_switch(hw, at->stop) ? HW_PORT_NONE : hw_side(hw, at->outlet));
        if (hop.back == HW_ONE_WAY)
            fputs(", one_way: true", out);
        put_end(out, hw, "back_", hop.to, hop.back, hop.in);
        fputs("}\n", out);
    }
}

static void put_ends(FILE *out, const struct hw_config *hw)
{
    const struct hw_topology_ops *const t = hw->sip_topology;
    uint32_t ends = 0;
    for (uint32_t sip = 0; t->ends != NULL && sip < hw->sip_count; sip++)
        if (t->ends(hw, sip))
            fprintf(out, "%s%" PRIu32, ends++ > 0 ? ", " : "transit: {none: [", sip);
    fputs(ends > 0 ? "]}\n" : "", out);
}

static void put_dims(FILE *out, const struct hw_config *hw)
{
    static const char *const lines[] = {
        [HW_SIP_LINES_NONE] = "none", [HW_SIP_LINES_RINGS] = "rings", [HW_SIP_LINES_OPEN] = "open"};
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    if (dims.count == 0 || dims.at[0].joint == HW_SIP_OTHER)
        return;
    for (uint32_t k = 0; k < dims.count; k++)
        fprintf(out, "%s%" PRIu32, k > 0 ? ", " : "dimensions: [", dims.at[k].size);
    fprintf(out, "]\ndirections: %s\ncoordinates:\n", lines[hw->sip_topology->lines]);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        for (uint32_t k = 0; k < dims.count; k++)
            fprintf(out, "%s%" PRIu32 "%s", k > 0 ? ", " : "  - [",
                    hw_sip_coordinate(&dims.at[k], sip), k + 1 < dims.count ? "" : "]\n");
}

int graph_file_write(FILE *out, const struct hw_config *machine, struct cw_error *error)
{
    const struct hw_config *const hw = hw_whole(machine);
    enum hw_route_policy policy =
        hw->sip_topology->paired ? HW_ROUTES_LISTED : HW_ROUTES_DIMENSION_ORDER;
    uint64_t seed = 0;
    if (hw->sip_count > HW_UNFOLDED_SIPS_MAX)
        return cw_error_set(error, CW_USAGE, "--graph: %u SIPs; a graph has at most %d",
                            hw->sip_count, HW_UNFOLDED_SIPS_MAX);
    struct listed *const links = malloc((outlets_in_all(hw) + 1) * sizeof *links);
    if (links == NULL)
        return cw_error_memory(error, "a graph file");
    const uint32_t count = list_links(hw, links);
    (void)hw_graph_policy(hw, &policy, &seed);
    fprintf(out, "sips: %" PRIu32 "\n", hw->sip_count);
    put_switches(out, hw);
    put_classes(out, hw, links, count);
    put_links(out, hw, links, count);
    put_ends(out, hw);
    fprintf(out, "routes: %s\n", hw_route_policy_name[policy]);
    if (policy == HW_ROUTES_VALIANT)
        fprintf(out, "seed: %" PRIu64 "\n", seed);
    put_dims(out, hw);
    free(links);
    return CW_OK;
}
