/*
 * bound.c: lower bounds (bound.h). A bound is the largest of many terms, each of which holds for
 * any algorithm: a latency, in which a cost is counted only where no route can avoid it; and for
 * each cut of a list, the bytes that must cross it one way over its links that way. Every set of
 * PEs with ranks on both sides is a cut, so that a longer list can only help.
 */
#include "collectives/verify/bound.h"

#include <string.h>

#include "hw/structure.h"
#include "hw/timing.h"
#include "hw/topology/sip_dims.h"
#include "collectives/verify/bound_cuts.h"
#include "collectives/verify/bound_listed.h"
#include "hw/topology/topology.h"
#include "hw/topology/trees.h"

static void add_links(struct cut *cut, const struct cut *more)
{
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        cut->links[kind] += more->links[kind];
}

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Bytes over this many links of one class, side by side. */
static int64_t links_ps(const struct hw_config *hw, enum hw_link_kind kind, uint64_t links,
                        uint64_t bytes)
{
    const struct hw_rate rate = hw->link[kind].rate;
    const unsigned __int128 work = (unsigned __int128)bytes * rate.num;
    const unsigned __int128 per = (unsigned __int128)rate.den * links;
    return (int64_t)((work + per - 1) / per);
}

/* The same over links of two classes together, each taking its share in the same time. */
static int64_t two_classes_ps(const struct hw_config *hw, const struct cut *cut,
                              enum hw_link_kind one, enum hw_link_kind other, uint64_t bytes)
{
    const struct hw_rate a = hw->link[one].rate, b = hw->link[other].rate;
    const unsigned __int128 both = (unsigned __int128)a.num * b.num;
    const unsigned __int128 per = (unsigned __int128)a.num * b.den * cut->links[other] +
                                  (unsigned __int128)b.num * a.den * cut->links[one];
    return (int64_t)(bytes * both / per);
}

/* Of any number of classes. The products of more than two rates have no room in 128 bits; so the
 * result is made a little less than the rounded one can be too much. */
static int64_t classes_ps(const struct hw_config *hw, const struct cut *cut, uint64_t bytes)
{
    double bytes_per_ps = 0;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        bytes_per_ps += (double)cut->links[kind] * (double)hw->link[kind].rate.den /
                        (double)hw->link[kind].rate.num;
    return (int64_t)((double)bytes / bytes_per_ps * (1 - 1e-12));
}

static const char *cut_name(const struct bounding *b, const struct cut *cut)
{
    uint32_t classes = 0;
    enum hw_link_kind only = HW_LINK_KINDS;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (cut->links[kind] > 0) {
            classes++;
            only = kind;
        }
    const bool ucie = cut->links[HW_LINK_UCIE] > 0;
    return classes == 1                       ? hw_link_name_of(b->hw, only)
           : cut->links[HW_LINK_NOC] > 0      ? ucie ? "noc and ucie" : "noc and noc_ucie"
           : cut->links[HW_LINK_HUB] > 0      ? ucie ? "hub and ucie" : "hub and noc_ucie"
           : ucie                             ? "ucie and links between sips"
           : cut->links[HW_LINK_NOC_UCIE] > 0 ? "noc_ucie and links between sips"
           : b->hw->sip_topology->paired      ? "sio and hccs"
           : b->hw->class_name != NULL        ? "links between sips"
                                              : "links of all levels";
}

static void bound_term(struct hw_bound *bound, int64_t ps, const char *by)
{
    if (bound->by == NULL || ps > bound->ps) {
        bound->ps = ps;
        bound->by = by;
    }
}

void hw_bound_join(struct hw_bound *bound, const struct hw_bound *other)
{
    bound_term(bound, other->ps, other->by);
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (other->class_ps[kind] > bound->class_ps[kind])
            bound->class_ps[kind] = other->class_ps[kind];
}

void bound_cut(struct bounding *b, const struct cut *cut, uint64_t bytes)
{
    enum hw_link_kind class[HW_LINK_KINDS];
    uint32_t classes = 0;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (cut->links[kind] > 0)
            class[classes++] = kind;
    if (classes == 0 || bytes == 0)
        return;
    const int64_t ps = classes == 1   ? links_ps(b->hw, class[0], cut -> links[class[0]], bytes)
                       : classes == 2 ? two_classes_ps(b->hw, cut, class[0], class[1], bytes)
                                      : classes_ps(b->hw, cut, bytes);
    for (uint32_t i = 0; i < classes; i++)
        if (ps > b->bound->class_ps[class[i]])
            b->bound->class_ps[class[i]] = ps;
    bound_term(b->bound, ps, cut_name(b, cut));
}

static void bound_links(struct bounding *b, enum hw_link_kind kind, uint64_t links, uint64_t bytes)
{
    struct cut cut = {{0}};
    cut.links[kind] = links;
    bound_cut(b, &cut, bytes);
}

/* Of a dimension in which all SIPs with leaves have the same coordinate no link is used, since no
 * route between them changes it. */
static void find_dims(struct bounding *b)
{
    for (uint32_t k = 0; k < b->dims.count; k++) {
        const struct hw_sip_dim *const dim = &b->dims.at[k];
        b->differ[k] = b->work->sips == NULL && dim->stride < b->sips;
        for (uint32_t i = 1; b->work->sips != NULL && i < b->sips; i++)
            b->differ[k] |=
                hw_sip_coordinate(dim, bound_sip(b, i)) != hw_sip_coordinate(dim, bound_sip(b, 0));
    }
}

/* Bytes of one lane that must cross, one way or the other, a cut with so many leaves on one side.
 */
static uint64_t crossing_bytes(const struct bounding *b, uint64_t inside)
{
    const uint64_t n = b->leaves, bytes = b->work->bytes;
    if (inside == 0 || inside >= n)
        return 0;
    const uint64_t outside = n - inside, more = inside > outside ? inside : outside;
    switch (b->work->collective) {
    case CCL_ALL_REDUCE: /* each result depends on every byte of every operand */
    case CCL_BROADCAST:
    case CCL_SEND_RECV:
    case CCL_REDUCE: /* the root's depends on them, and its place is not known */
        return bytes;
    case CCL_ALL_GATHER:     /* the blocks of the one side reach the other; */
    case CCL_REDUCE_SCATTER: /* a sum for each rank of the one side comes from the other */
        return more * (bytes / n);
    case CCL_ALL_TO_ALL:
        return inside * outside * (bytes / n);
    default:
        return 0;
    }
}

/* ---- latency --------------------------------------------------------------------------------- */

/* From router to router of the next cube, or of a cube to its IO die's port (one UCIe link). */
static int64_t cube_hop_ps(const struct hw_config *hw)
{
    return 2 * hw->link[HW_LINK_NOC_UCIE].prop_ps + hw->link[HW_LINK_UCIE].prop_ps +
           2 * hw->overhead_ps[HW_NODE_UCIE_PORT] + hw->overhead_ps[HW_NODE_ROUTER];
}

static int64_t out_of_cube_ps(const struct hw_config *hw)
{
    return hw->link[HW_LINK_NOC_UCIE].prop_ps + hw->link[HW_LINK_UCIE].prop_ps +
           hw->overhead_ps[HW_NODE_UCIE_PORT];
}

/* From IO port to IO port, both included, by a link of this class, or by two and a switch. */
static int64_t outer_hop_ps(const struct hw_config *hw, enum hw_link_kind kind, bool to_switch)
{
    const int64_t prop_ps = hw->link[kind].prop_ps;
    return 2 * hw->overhead_ps[HW_NODE_IO_PORT] +
           (to_switch ? 2 * prop_ps + hw->overhead_ps[HW_NODE_SWITCH] : prop_ps);
}

/* Cubes to cross, at least, from the cube that is farthest from any edge of its SIP. */
static uint32_t edge_distance_max(const struct hw_config *hw)
{
    return (min_u32(hw->cube_w, hw->cube_h) - 1) / 2;
}

/* From IO port to IO port of one SIP: through the hub, or into an edge cube and out again. */
static int64_t through_sip_ps(const struct hw_config *hw)
{
    const int64_t hub_ps = 2 * hw->link[HW_LINK_HUB].prop_ps + hw->overhead_ps[HW_NODE_IO_HUB];
    const int64_t cube_ps = 2 * out_of_cube_ps(hw) + hw->overhead_ps[HW_NODE_ROUTER];
    return hub_ps < cube_ps ? hub_ps : cube_ps;
}

/* The least time from a PE of one SIP to a PE of another. The way has `hops` links between SIPs, at
 * least one; together they take `links_ps`. At its two ends together it crosses at least `cubes`
 * cubes. */
static int64_t between_sips_ps(const struct hw_config *hw, uint32_t hops, int64_t links_ps,
                               uint32_t cubes)
{
    const int64_t ends_ps =
        2 * (hw->overhead_ps[HW_NODE_PE_DMA] + hw->link[HW_LINK_PE_NOC].prop_ps +
             hw->overhead_ps[HW_NODE_ROUTER]);
    return ends_ps + 2 * out_of_cube_ps(hw) + cubes * cube_hop_ps(hw) + links_ps +
           (hops - 1) * through_sip_ps(hw);
}

/* Steps of a dimension between two coordinates. */
static uint32_t dim_steps(const struct hw_sip_dim *dim, uint32_t from, uint32_t to)
{
    const uint32_t apart = from < to ? to - from : from - to;
    return apart == 0                  ? 0
           : dim->joint == HW_SIP_RING ? min_u32(apart, dim->size - apart)
           : dim->joint == HW_SIP_LINE ? apart
                                       : 1;
}

/* An empty message from SIP 0, or the root, to the farthest of the first `sips`: the links of each
 * dimension one after the other, since no other link changes its coordinate. */
static int64_t farthest_sip_ps(const struct bounding *b, uint32_t cubes)
{
    const uint32_t from = b->work->root_sip;
    int64_t most_ps = 0;
    if (bound_is_irregular(b))
        return between_sips_ps(b->hw, 1, bound_listed_ps(b, through_sip_ps(b->hw)), cubes);
    for (uint32_t i = 0; i < b->sips; i++) {
        const uint32_t sip = bound_sip(b, i);
        if (sip == from)
            continue;
        uint32_t hops = 0;
        int64_t ps = 0;
        for (uint32_t k = 0; k < b->dims.count; k++) {
            const struct hw_sip_dim *const dim = &b->dims.at[k];
            const uint32_t steps =
                dim_steps(dim, hw_sip_coordinate(dim, from), hw_sip_coordinate(dim, sip));
            hops += steps;
            ps += steps * outer_hop_ps(b->hw, dim->link, dim->joint == HW_SIP_SWITCH);
        }
        ps = between_sips_ps(b->hw, hops, ps, cubes);
        most_ps = ps > most_ps ? ps : most_ps;
    }
    return most_ps;
}

/* An empty message from one PE to another of the SIP, so many cubes away. */
static int64_t inside_sip_ps(const struct hw_config *hw, uint32_t cubes)
{
    return 2 * (hw->overhead_ps[HW_NODE_PE_DMA] + hw->link[HW_LINK_PE_NOC].prop_ps) +
           hw->overhead_ps[HW_NODE_ROUTER] + cubes * cube_hop_ps(hw);
}

/* Cubes from cube 0 to the farthest that has leaves, within one SIP. */
static uint32_t farthest_cubes(const struct bounding *b)
{
    uint32_t most = 0;
    for (uint32_t cube = 0; cube < hw_cubes(b->hw); cube++) {
        const bool has_leaves = b->work->per_sip > 0
                                    ? (uint64_t)cube * hw_pes(b->hw) < b->work->ranks
                                    : cube < b->work->cubes;
        const uint32_t distance = cube % b->hw->cube_w + cube / b->hw->cube_w;
        if (has_leaves && distance > most)
            most = distance;
    }
    return most;
}

static int64_t latency_ps(const struct bounding *b)
{
    const bool everywhere = b->work->per_sip == 0 && b->work->cubes == hw_cubes(b->hw);
    return b->sips > 1 ? farthest_sip_ps(b, everywhere ? 2 * edge_distance_max(b->hw) : 0)
                       : inside_sip_ps(b->hw, farthest_cubes(b));
}

/* ---- cuts between SIPs -----------------------------------------------------------------------
 *
 * A box is the SIPs whose coordinate in each dimension is below a number of its own: one SIP, a
 * group of a level, a package, a part of a ring, line or grid, and all that lies between.
 */

/* SIPs of the box among the first `count`. */
static uint64_t sips_below(const struct hw_sip_dims *dims, const uint32_t side[HW_SIP_DIMS_MAX],
                           uint32_t count)
{
    uint64_t below = 0;
    uint32_t stride = 1, prefix_in_box = 1;
    uint64_t volume = 1;
    for (uint32_t k = 0; k < dims->count; k++) {
        stride *= dims->at[k].size;
        volume *= side[k];
    }
    if (count >= stride)
        return volume;
    for (uint32_t k = dims->count; k-- > 0 && prefix_in_box;) {
        const uint32_t digit = count / dims->at[k].stride % dims->at[k].size;
        volume /= side[k];
        below += volume * min_u32(digit, side[k]);
        prefix_in_box = digit < side[k];
    }
    return below;
}

static bool is_in_box(const struct bounding *b, const uint32_t side[HW_SIP_DIMS_MAX], uint32_t sip)
{
    for (uint32_t k = 0; k < b->dims.count; k++)
        if (b->differ[k] && hw_sip_coordinate(&b->dims.at[k], sip) >= side[k])
            return false;
    return true;
}

static uint64_t leaves_in_box(const struct bounding *b, const uint32_t side[HW_SIP_DIMS_MAX])
{
    uint64_t listed = 0;
    for (uint32_t i = 0; b->work->sips != NULL && i < b->sips; i++)
        listed += is_in_box(b, side, b->work->sips[i]) ? b->of_sip : 0;
    if (b->work->sips != NULL)
        return listed;
    const uint32_t full = (uint32_t)(b->leaves / b->of_sip); /* SIPs with all their leaves */
    const uint64_t whole = sips_below(&b->dims, side, full);
    const uint64_t last = full < b->sips ? sips_below(&b->dims, side, full + 1) - whole : 0;
    return whole * b->of_sip + last * (b->leaves % b->of_sip);
}

/* Links of one line of the dimension out of its first m places. */
static uint64_t links_across(const struct hw_sip_dim *dim, uint64_t m)
{
    switch (dim->joint) {
    case HW_SIP_RING:
        return 2;
    case HW_SIP_LINE:
        return 1;
    case HW_SIP_FULL:
        return m * (dim->size - m);
    case HW_SIP_SWITCH:
        return min_u64(m, dim->size - m);
    case HW_SIP_OTHER:
        break;
    }
    return 0;
}

static void bound_box(struct bounding *b, const uint32_t side[HW_SIP_DIMS_MAX])
{
    struct cut cut = {{0}};
    uint64_t volume = 1;
    for (uint32_t k = 0; k < b->dims.count; k++)
        volume *= side[k];
    for (uint32_t k = 0; k < b->dims.count; k++)
        if (side[k] < b->dims.at[k].size && b->differ[k])
            cut.links[b->dims.at[k].link] +=
                volume / side[k] * links_across(&b->dims.at[k], side[k]);
    bound_cut(b, &cut, b->lanes * crossing_bytes(b, leaves_in_box(b, side)));
}

/* Every box: as many as there are SIPs in the dimensions in which they differ. Lists are looked at
 * for each, so that boxes of long ones in many dimensions would take too long. */
enum { LISTED_TIMES_BOXES_MAX = 1 << 20 };

static void bound_boxes(struct bounding *b)
{
    uint32_t side[HW_SIP_DIMS_MAX];
    uint64_t boxes = 1;
    for (uint32_t k = 0; k < b->dims.count; k++)
        boxes *= b->differ[k] ? b->dims.at[k].size : 1;
    if (b->work->sips != NULL && boxes * b->sips > LISTED_TIMES_BOXES_MAX)
        return;
    for (uint32_t k = 0; k < b->dims.count; k++)
        side[k] = 1;
    for (uint32_t k = 0; k < b->dims.count;) {
        if (k == 0)
            bound_box(b, side);
        if (b->differ[k] && side[k] < b->dims.at[k].size) {
            side[k]++;
            k = 0;
        } else {
            side[k++] = 1;
        }
    }
}

/* ---- gaps ------------------------------------------------------------------------------------
 *
 * Where a cut crosses lanes of UCIe, each lane is a noc_ucie link and a ucie link, one after the
 * other; at a port of the IO die the links to other SIPs follow. What crosses such a gap goes over
 * all of them, so that the cut may count any one: the slowest decides, and the others give the
 * share of their class.
 */

struct gap {
    uint64_t lanes;
    const struct cut *outer; /* that follow; NULL: none */
};

static double bytes_per_ps(const struct hw_config *hw, enum hw_link_kind kind)
{
    return (double)hw->link[kind].rate.den / (double)hw->link[kind].rate.num;
}

static double cut_bytes_per_ps(const struct hw_config *hw, const struct cut *cut)
{
    double rate = 0;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        rate += (double)cut->links[kind] * bytes_per_ps(hw, kind);
    return rate;
}

static enum hw_link_kind slower_lane(const struct hw_config *hw)
{
    return bytes_per_ps(hw, HW_LINK_UCIE) <= bytes_per_ps(hw, HW_LINK_NOC_UCIE) ? HW_LINK_UCIE
                                                                                : HW_LINK_NOC_UCIE;
}

enum counted { THE_SLOWEST, OUTER_LINKS, UCIE_LINKS, NOC_UCIE_LINKS, COUNTED };

static void cross_gap(const struct bounding *b, struct cut *cut, const struct gap *gap,
                      enum counted counted)
{
    const enum hw_link_kind lane = counted == UCIE_LINKS       ? HW_LINK_UCIE
                                   : counted == NOC_UCIE_LINKS ? HW_LINK_NOC_UCIE
                                                               : slower_lane(b->hw);
    const bool outer =
        gap->outer != NULL &&
        (counted == OUTER_LINKS ||
         (counted == THE_SLOWEST &&
          cut_bytes_per_ps(b->hw, gap->outer) <= (double)gap->lanes * bytes_per_ps(b->hw, lane)));
    if (outer)
        add_links(cut, gap->outer);
    else
        cut->links[lane] += gap->lanes;
}

/* These gaps, and other links of the same cut. */
static void bound_gaps(struct bounding *b, const struct gap *gaps, size_t count,
                       const struct cut *others, uint64_t bytes)
{
    for (enum counted counted = 0; counted < COUNTED; counted++) {
        struct cut cut = *others;
        for (size_t i = 0; i < count; i++)
            cross_gap(b, &cut, &gaps[i], counted);
        bound_cut(b, &cut, bytes);
    }
}

/* ---- the ports of a SIP ---------------------------------------------------------------------- */

static uint32_t port_lanes(const struct hw_config *hw, enum hw_port port)
{
    return port == HW_PORT_N || port == HW_PORT_S ? hw->cube_w : hw->cube_h;
}

/* The dimension of an outlet, and its number there; false: no SIP has it. */
static bool find_outlet(const struct hw_config *hw, const struct hw_sip_dims *dims, uint32_t outlet,
                        uint32_t *dim, uint32_t *index)
{
    const enum hw_port port = (enum hw_port)outlet;
    if (hw->sip_dims.count > 0)
        return hw_sip_dims_find_outlet(dims, outlet, dim, index);
    if (hw->sip_topology->paired) {
        *dim = port == HW_PORT_N;
        *index = 0;
        return port == HW_PORT_N || port == HW_PORT_E;
    }
    *dim = port == HW_PORT_N || port == HW_PORT_S;
    *index = port == HW_PORT_N || port == HW_PORT_W;
    return *dim < dims->count && *index < hw_sip_dim_outlets(&dims->at[*dim]);
}

/* Links to SIPs that have no way back: no outlet of the SIP shows them. */
static void find_one_ways(const struct bounding *b, struct one_ways *found)
{
    const struct hw_config *const hw = b->hw;
    found->count = 0;
    for (uint32_t stop = 0; bound_is_irregular(b) && stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS || hop.back != HW_ONE_WAY || hw_is_switch(hw, hop.to))
                continue;
            if (found->count < ONE_WAYS_MAX)
                found->hop[found->count] = hop;
            found->count++;
        }
}

/* The links of a class that a SIP has at each port, one way: where more lead in than out or the
 * other way round, the more, since it is not known which way bytes cross a cut. */
static void find_listed_ports(const struct bounding *b, uint32_t sip, struct cut at[HW_PORTS])
{
    const struct hw_config *const hw = b->hw;
    struct cut in[HW_PORTS] = {{{0}}};
    for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
        const struct hw_hop hop = hw_hop(hw, sip, outlet);
        if (hop.link == HW_LINK_KINDS)
            continue;
        at[hw_side(hw, outlet)].links[hop.link]++;
        if (hop.back != HW_ONE_WAY)
            in[hw_side(hw, outlet)].links[hw_hop(hw, hop.to, hop.back).link]++;
    }
    for (uint32_t i = 0; i < b->one_ways->count && i < ONE_WAYS_MAX; i++)
        if (b->one_ways->hop[i].to == sip)
            in[b->one_ways->hop[i].in].links[b->one_ways->hop[i].link]++;
    for (enum hw_port port = 0; port < HW_PORTS; port++)
        for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
            if (in[port].links[kind] > at[port].links[kind])
                at[port].links[kind] = in[port].links[kind];
}

/* The links that a SIP has at each port. */
static void find_ports(const struct bounding *b, uint32_t sip, struct cut at[HW_PORTS])
{
    const struct hw_config *const hw = b->hw;
    memset(at, 0, HW_PORTS * sizeof *at);
    if (bound_is_irregular(b)) {
        find_listed_ports(b, sip, at);
        return;
    }
    for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
        uint32_t k, index;
        if (!find_outlet(hw, &b->dims, outlet, &k, &index))
            continue;
        const struct hw_sip_dim *const dim = &b->dims.at[k];
        const uint32_t place = hw_sip_coordinate(dim, sip);
        const bool ends =
            dim->joint == HW_SIP_LINE && (index == 0 ? place + 1 == dim->size : place == 0);
        if (dim->size > 1 && !ends && (b->work->sips == NULL || b->differ[k]))
            at[hw_side(hw, outlet)].links[dim->link]++;
    }
}

static bool is_used(const struct cut *port)
{
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (port->links[kind] > 0)
            return true;
    return false;
}

/* ---- cuts inside a SIP -------------------------------------------------------------------------
 *
 * Of SIP 0, or of each kind of listed SIPs: those of one kind have the same links at each port.
 */

/* In a grid of cubes or of routers. */
struct rectangle {
    uint32_t x, y, w, h;
};

static bool is_within(struct rectangle r, uint32_t router, uint32_t columns)
{
    return router % columns - r.x < r.w && router / columns - r.y < r.h;
}

/* The first cube with leaves. */
static uint32_t first_cube(const struct bounding *b) { return b->work->first_pe / hw_pes(b->hw); }

/* Leaves of a cube of the SIP. */
static uint64_t leaves_of_cube(const struct bounding *b, uint32_t cube)
{
    const uint64_t pes = hw_pes(b->hw), first = cube * pes;
    if (b->work->per_sip == 0) /* wraps before the first */
        return cube - first_cube(b) < b->work->cubes ? b->work->pes : 0;
    return first < b->work->ranks ? min_u64(b->work->ranks - first, pes) : 0;
}

/* Bytes that cross a cut with these leaves of the SIP on one side. */
static uint64_t bytes_of_leaves(const struct bounding *b, uint64_t inside)
{
    const bool apart = b->work->per_sip == 0 && !b->work->together;
    return apart ? inside * crossing_bytes(b, 1) : crossing_bytes(b, inside);
}

static uint64_t leaves_of_cubes(const struct bounding *b, struct rectangle r)
{
    uint64_t leaves = 0;
    for (uint32_t y = r.y; y < r.y + r.h; y++)
        for (uint32_t x = r.x; x < r.x + r.w; x++)
            leaves += leaves_of_cube(b, y * b->hw->cube_w + x);
    return leaves;
}

/* The cubes of the rectangle, with `leaves` of the SIP's `all`; and the SIP's others. */
static void bound_rectangle(struct bounding *b, const struct cut at[HW_PORTS], struct rectangle r,
                            uint64_t leaves, uint64_t all)
{
    static const struct cut none;
    const bool edge[HW_PORTS] = {[HW_PORT_N] = r.y == 0,
                                 [HW_PORT_S] = r.y + r.h == b->hw->cube_h,
                                 [HW_PORT_E] = r.x + r.w == b->hw->cube_w,
                                 [HW_PORT_W] = r.x == 0};
    struct gap of_it[HW_PORTS], of_others[2 * HW_PORTS];
    size_t its = 0, others = 0;
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        const uint64_t side = port == HW_PORT_N || port == HW_PORT_S ? r.w : r.h;
        const uint64_t own = edge[port] ? side : 0, lanes = port_lanes(b->hw, port);
        if (!edge[port])
            of_it[its++] = of_others[others++] = (struct gap){.lanes = side};
        else if (is_used(&at[port]))
            of_it[its++] = (struct gap){.lanes = side, .outer = &at[port]};
        if (is_used(&at[port]) && own < lanes)
            of_others[others++] = (struct gap){.lanes = lanes - own, .outer = &at[port]};
    }
    bound_gaps(b, of_it, its, &none, bytes_of_leaves(b, leaves));
    bound_gaps(b, of_others, others, &none, bytes_of_leaves(b, all - leaves));
}

/* Every rectangle of cubes; of large SIPs those in the north-west corner. */
enum { ALL_RECTANGLES_MAX = 64 };

static void bound_cubes(struct bounding *b, const struct cut at[HW_PORTS])
{
    const uint32_t cube_w = b->hw->cube_w, cube_h = b->hw->cube_h;
    const bool every = cube_w * cube_h <= ALL_RECTANGLES_MAX;
    const uint64_t all = leaves_of_cubes(b, (struct rectangle){.w = cube_w, .h = cube_h});
    struct rectangle r;
    for (r.x = 0; r.x < (every ? cube_w : 1); r.x++)
        for (r.y = 0; r.y < (every ? cube_h : 1); r.y++)
            for (r.w = 1; r.x + r.w <= cube_w; r.w++) {
                uint64_t leaves = 0;
                for (r.h = 1; r.y + r.h <= cube_h; r.h++) {
                    leaves += leaves_of_cubes(b, (struct rectangle){r.x, r.y + r.h - 1, r.w, 1});
                    bound_rectangle(b, at, r, leaves, all);
                }
            }
}

/* The routers of the rectangle, of the first cube with leaves, with the PEs and the ports that are
 * at them; and the cube's others. `leads_on`: ports from which a link leads out of the cube. */
static void bound_routers_of(struct bounding *b, const bool leads_on[HW_PORTS], struct rectangle r)
{
    const struct hw_config *const hw = b->hw;
    const uint32_t first_pe = b->work->first_pe % hw_pes(hw);
    const uint64_t pes = leaves_of_cube(b, first_cube(b));
    struct gap gaps[2][HW_PORTS];
    size_t count[2] = {0};
    uint64_t leaves[2] = {0};
    struct cut noc = {{0}};
    for (uint32_t pe = 0; pe < pes; pe++)
        leaves[is_within(r, hw_pe_router(hw, first_pe + pe), hw->noc_w)]++;
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        const bool inside = is_within(r, hw_port_router(hw, port), hw->noc_w);
        if (leads_on[port])
            gaps[inside][count[inside]++] = (struct gap){.lanes = 1};
    }
    noc.links[HW_LINK_NOC] = (uint64_t)(r.x > 0) * r.h + (uint64_t)(r.x + r.w < hw->noc_w) * r.h +
                             (uint64_t)(r.y > 0) * r.w + (uint64_t)(r.y + r.h < hw->noc_h) * r.w;
    for (int inside = 0; inside < 2; inside++)
        bound_gaps(b, gaps[inside], count[inside], &noc, bytes_of_leaves(b, leaves[inside]));
}

static void bound_routers(struct bounding *b, const struct cut at[HW_PORTS])
{
    const struct hw_config *const hw = b->hw;
    const uint32_t x = first_cube(b) % hw->cube_w, y = first_cube(b) / hw->cube_w;
    const bool leads_on[HW_PORTS] = {[HW_PORT_N] = y > 0 || is_used(&at[HW_PORT_N]),
                                     [HW_PORT_S] = y + 1 < hw->cube_h || is_used(&at[HW_PORT_S]),
                                     [HW_PORT_E] = x + 1 < hw->cube_w || is_used(&at[HW_PORT_E]),
                                     [HW_PORT_W] = x > 0 || is_used(&at[HW_PORT_W])};
    struct rectangle r;
    for (r.x = 0; r.x < hw->noc_w; r.x++)
        for (r.y = 0; r.y < hw->noc_h; r.y++)
            for (r.w = 1; r.x + r.w <= hw->noc_w; r.w++)
                for (r.h = 1; r.y + r.h <= hw->noc_h; r.h++)
                    bound_routers_of(b, leads_on, r);
}

/* ---- work that the machine shares ------------------------------------------------------------ */

/* Bytes of one lane that get to a leaf from others, of all leaves; or, where switches add up and
 * multicast, that leave a leaf: each sum, each block and each broadcast may leave one leaf once. */
static uint64_t received_bytes(const struct bounding *b)
{
    const uint64_t times = b->leaves - 1, bytes = b->work->bytes;
    if (b->mode != HW_REDUCE_NONE && b->work->collective == CCL_ALL_REDUCE)
        return b->leaves * bytes; /* each operand; or the sum, by a leaf that has kept its own */
    if (b->mode != HW_REDUCE_NONE && b->work->collective == CCL_ALL_GATHER)
        return bytes / b->leaves * b->leaves;
    if (b->mode != HW_REDUCE_NONE && b->work->collective == CCL_BROADCAST)
        return bytes;
    switch (b->work->collective) {
    case CCL_ALL_REDUCE: /* see "the sends of an all-reduce" */
        return 2 * times * bytes;
    case CCL_BROADCAST:
    case CCL_SEND_RECV:
    case CCL_REDUCE:
        return times * bytes;
    case CCL_ALL_GATHER:
    case CCL_REDUCE_SCATTER:
    case CCL_ALL_TO_ALL:
        return times * (bytes / b->leaves) * b->leaves;
    default:
        return 0;
    }
}

/* Each byte that gets from one place to another passes the engine of the PE that sends, puts,
 * stores, loads or copies it: of any PE of a SIP, where ranks are PEs of theirs; of a group, of the
 * PEs that have its kernels. */
static void bound_engines(struct bounding *b)
{
    const uint64_t engines = b->work->per_sip > 0    ? b->leaves
                             : b->work->sips != NULL ? (uint64_t)b->sips * b->work->engines
                                                     : hw_pe_count(b->hw);
    bound_links(b, HW_LINK_PE_NOC, engines, b->lanes * received_bytes(b));
}

/* Steps from SIP to SIP in this dimension, on shortest ways between all pairs of its places. */
static uint64_t steps_of_pairs(const struct hw_sip_dim *dim)
{
    const uint64_t n = dim->size;
    switch (dim->joint) {
    case HW_SIP_RING:
        return n * (n / 2) * ((n + 1) / 2);
    case HW_SIP_LINE:
        return n * (n * n - 1) / 3;
    default:
        return n * (n - 1);
    }
}

/* Each step of an all-to-all ends in an IO die. From there a byte goes into the cubes, or by the
 * hub to the next SIP. Where every SIP is one step away none has to. */
static void bound_hubs(struct bounding *b)
{
    const uint64_t n = b->sips;
    const uint64_t block = b->work->bytes / b->leaves * b->of_sip * b->of_sip;
    struct cut cut = {{0}}, at[HW_PORTS];
    uint64_t steps = 0;
    for (uint32_t k = 0; k < b->dims.count; k++) {
        const uint64_t lines = n / b->dims.at[k].size;
        steps += steps_of_pairs(&b->dims.at[k]) * lines * lines;
    }
    if (steps == n * (n - 1) || b->leaves != n * b->of_sip)
        return;
    for (uint32_t sip = 0; sip < n; sip++) {
        find_ports(b, sip, at);
        for (enum hw_port port = 0; port < HW_PORTS; port++) {
            cut.links[HW_LINK_HUB] += is_used(&at[port]);
            cut.links[slower_lane(b->hw)] += is_used(&at[port]) * port_lanes(b->hw, port);
        }
    }
    bound_cut(b, &cut, b->lanes * block * steps);
}

/* ---- the sends of an all-reduce --------------------------------------------------------------
 *
 * However n parts of a machine reduce an element for all of them, at least 2 (n - 1) messages go
 * from one part to another. Proof. Take the messages in the order in which they are sent, and let
 * each arrive at once, which can only help.
 * 1. After one of them, a part p is the first that can know the result. By then each of the n - 1
 *    others has sent at least one message, since the result depends on its operand.
 * 2. No part but p has learnt the result by then. So each of the n - 1 others must receive one of
 *    the messages that follow.
 * So n tensors of B bytes make 2 (n - 1) B bytes that leave parts. They share all links that leave
 * any part. A message through several links counts once, which keeps the bound low. Parts without
 * an operand may help, such as cubes without ranks: they are parts, whose links count, and not in
 * n.
 */

static uint64_t sent_bytes(uint64_t parts, uint64_t bytes)
{
    return parts < 2 ? 0 : 2 * (parts - 1) * bytes;
}

/* Links that leave a SIP in this dimension. */
static uint32_t links_of_sip(const struct hw_sip_dim *dim, uint32_t sip)
{
    const uint32_t at = hw_sip_coordinate(dim, sip);
    return dim->joint != HW_SIP_LINE ? hw_dim_degree(dim)
                                     : (uint32_t)((at > 0) + (at + 1 < dim->size));
}

/* Directed links of the dimension that leave the first `sips` SIPs. */
static uint64_t links_out(const struct hw_sip_dim *dim, uint32_t sips)
{
    uint64_t links = 0;
    for (uint32_t sip = 0; sip < sips && dim->size > 1; sip++)
        links += links_of_sip(dim, sip);
    return links;
}

/* Parts are groups of SIPs that differ in the dimensions outside of the set `inner` alone, a bit
 * each; where some SIPs have no ranks, in all dimensions from one on. */
static void bound_sends_of_groups(struct bounding *b)
{
    const uint32_t dims = b->dims.count;
    uint64_t out[HW_SIP_DIMS_MAX];
    if (b->sips == b->hw->sip_count)
        for (uint32_t k = 0; k < dims; k++)
            out[k] = links_out(&b->dims.at[k], b->sips);
    for (uint32_t inner = 0; inner < (1u << dims) - 1; inner++) {
        const bool all = b->sips == b->hw->sip_count;
        struct cut cut = {{0}};
        uint64_t parts = 1, group = 1;
        if (!all && (inner & (inner + 1)) != 0)
            continue;
        for (uint32_t k = 0; k < dims; k++)
            *((inner >> k & 1) != 0 ? &group : &parts) *= b->dims.at[k].size;
        if (!all)
            parts = (b->sips + group - 1) / group;
        for (uint32_t k = 0; k < dims; k++)
            if ((inner >> k & 1) == 0)
                cut.links[b->dims.at[k].link] +=
                    all ? out[k] : links_out(&b->dims.at[k], (uint32_t)(parts * group));
        bound_cut(b, &cut, b->lanes * sent_bytes(parts, b->work->bytes));
    }
}

/* Parts are as there, among listed SIPs: those that hold any of them, with all of their links. No
 * other part sends anything, since a group's kernels are on its SIPs alone. */
enum { LISTED_PARTS_MAX = 256 }; /* each is compared with all */

static uint32_t part_of(const struct bounding *b, uint32_t inner, uint32_t sip)
{
    uint32_t part = sip;
    for (uint32_t k = 0; k < b->dims.count; k++)
        if ((inner >> k & 1) != 0)
            part -= hw_sip_coordinate(&b->dims.at[k], sip) * b->dims.at[k].stride;
    return part;
}

static void bound_sends_of_parts(struct bounding *b, uint32_t inner)
{
    struct cut cut = {{0}};
    uint64_t parts = 0, lines = 1;
    for (uint32_t k = 0; k < b->dims.count; k++)
        lines *= (inner >> k & 1) != 0 ? b->dims.at[k].size : 1;
    for (uint32_t i = 0; i < b->sips; i++) {
        const uint32_t part = part_of(b, inner, bound_sip(b, i));
        uint32_t like = 0;
        while (like < i && part_of(b, inner, bound_sip(b, like)) != part)
            like++;
        if (like < i)
            continue;
        parts++;
        for (uint32_t k = 0; k < b->dims.count; k++)
            if (b->differ[k] && (inner >> k & 1) == 0)
                cut.links[b->dims.at[k].link] += lines * links_of_sip(&b->dims.at[k], part);
    }
    bound_cut(b, &cut, b->lanes * sent_bytes(parts, b->work->bytes));
}

static void bound_sends_of_listed(struct bounding *b)
{
    uint32_t differ = 0;
    for (uint32_t k = 0; k < b->dims.count; k++)
        differ |= (uint32_t)b->differ[k] << k;
    for (uint32_t inner = 0; inner < differ && b->sips <= LISTED_PARTS_MAX; inner++)
        if ((inner & ~differ) == 0)
            bound_sends_of_parts(b, inner);
}

/* All SIPs are asked about, and none of them is the end of a line: all have the same ports. */
static bool are_alike(const struct bounding *b)
{
    bool ends = bound_is_irregular(b) || b->work->sips != NULL || b->sips != b->hw->sip_count;
    for (uint32_t k = 0; k < b->dims.count; k++)
        ends |= b->dims.at[k].joint == HW_SIP_LINE;
    return !ends;
}

/* SIPs as the parts: what leaves one goes by its ports. Cubes with leaves as the parts. */
static void bound_sends_inside(struct bounding *b)
{
    static const struct cut none;
    const struct hw_config *const hw = b->hw;
    const struct hw_work *const work = b->work;
    const uint64_t w = hw->cube_w, h = hw->cube_h;
    uint64_t parts = (uint64_t)b->sips * work->cubes;
    uint64_t links = b->sips * 2 * ((w - 1) * h + w * (h - 1));
    const uint64_t between_sips = b->lanes * sent_bytes(b->sips, work->bytes);
    struct cut sum[COUNTED] = {0}, at[HW_PORTS];
    const uint32_t alike = are_alike(b) ? b->sips : 1;
    for (uint32_t sip = 0; sip < b->sips; sip += alike) {
        find_ports(b, bound_sip(b, sip), at);
        for (enum hw_port port = 0; port < HW_PORTS; port++) {
            const struct gap gap = {.lanes = port_lanes(hw, port), .outer = &at[port]};
            if (!is_used(&at[port]))
                continue;
            links += alike * gap.lanes;
            for (enum counted counted = 0; counted < COUNTED; counted++)
                cross_gap(b, &sum[counted], &gap, counted);
        }
    }
    for (enum counted counted = 0; counted < COUNTED; counted++)
        for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
            sum[counted].links[kind] *= alike;
    for (enum counted counted = 0;
         counted < COUNTED && (work->sips != NULL || b->sips == hw->sip_count); counted++)
        bound_cut(b, &sum[counted], between_sips);
    if (work->per_sip > 0)
        parts = (b->leaves + hw_pes(hw) - 1) / hw_pes(hw);
    if (work->per_sip > 0 || work->together)
        bound_gaps(b, &(struct gap){.lanes = links}, 1, &none, sent_bytes(parts, work->bytes));
}

/* ---- switches that reduce --------------------------------------------------------------------
 *
 * There the proof above does not hold, since a switch receives many messages and sends one. What
 * crosses a cut of SIPs is at least what the cuts above count. Of a switch that pulls, an
 * all-reduce moves more: each SIP's operand is read, and a share of the sum leaves it to be
 * written. Without the switch it is 2 (n - 1) / n of the tensor, which is less for two SIPs.
 */
uint64_t bound_pulled(const struct bounding *b)
{
    const uint64_t n = b->sips, bytes = b->work->bytes;
    const uint64_t pulled = bytes + bytes / n, sent = bytes / n * 2 * (n - 1);
    return pulled < sent ? pulled : sent;
}

static void bound_pulls(struct bounding *b)
{
    struct cut cut = {{0}};
    for (uint32_t k = 0; k < b->dims.count; k++)
        cut.links[b->dims.at[k].link] += hw_dim_degree(&b->dims.at[k]);
    bound_cut(b, &cut, b->lanes * bound_pulled(b));
}

/* The mode of the switches that algorithms may reduce by. */
static enum hw_reduce_mode mode_of(const struct bounding *b)
{
    const bool all = b->work->sips == NULL && b->work->per_sip == 0 && !b->work->together &&
                     b->sips == b->hw->sip_count;
    return all ? hw_tree_mode(b->hw) : HW_REDUCE_NONE;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* SIPs whose ports have the same links as an earlier one's have the same cuts. Of more kinds than a
 * grid has, the first ones. */
static void bound_inside_sips(struct bounding *b)
{
    enum { PORT_KINDS_MAX = 16 };
    struct cut at[PORT_KINDS_MAX][HW_PORTS];
    uint32_t kinds = 0;
    const bool each = b->work->sips != NULL || bound_is_irregular(b);
    if (b->one_ways->count > ONE_WAYS_MAX) /* too many for each SIP to look at */
        return;
    for (uint32_t i = 0; i < (each ? b->sips : 1) && kinds < PORT_KINDS_MAX; i++) {
        uint32_t like = 0;
        find_ports(b, bound_sip(b, i), at[kinds]);
        while (memcmp(at[like], at[kinds], sizeof at[like]) != 0)
            like++;
        if (like < kinds)
            continue;
        bound_cubes(b, at[kinds]);
        bound_routers(b, at[kinds]);
        kinds++;
    }
}

struct hw_bound hw_bound_of(const struct hw_config *hw, const struct hw_work *work)
{
    struct hw_bound bound = {.by = "latency"};
    struct bounding b = {.hw = hw, .work = work, .dims = hw_sip_dims_of(hw), .bound = &bound};
    const uint32_t shards = work->cubes * work->pes;
    const bool by_rank = work->per_sip == 0 && !work->together;
    b.of_sip = work->per_sip > 0 ? work->per_sip : work->together ? shards : 1;
    b.leaves = work->per_sip > 0 ? work->ranks : work->ranks * b.of_sip;
    b.sips = (uint32_t)((b.leaves + b.of_sip - 1) / b.of_sip);
    b.lanes = by_rank ? shards : 1;
    if (b.leaves < 2)
        return bound;
    struct one_ways one_ways;
    find_dims(&b);
    find_one_ways(&b, &one_ways);
    b.one_ways = &one_ways;
    b.mode = mode_of(&b);
    bound_term(&bound, latency_ps(&b), "latency");
    bound_links(&b, HW_LINK_HBM, 1, crossing_bytes(&b, 1)); /* the slice of one PE */
    bound_engines(&b);
    bound_inside_sips(&b);
    const bool sends = work->collective == CCL_ALL_REDUCE && b.mode == HW_REDUCE_NONE;
    if (sends)
        bound_sends_inside(&b);
    if (b.sips > 1 && bound_is_irregular(&b))
        bound_listed(&b);
    if (b.sips == 1 || bound_is_irregular(&b))
        return bound;
    bound_boxes(&b);
    if (work->collective == CCL_ALL_REDUCE && b.mode == HW_REDUCE_PULL)
        bound_pulls(&b);
    if (sends && work->sips != NULL)
        bound_sends_of_listed(&b);
    else if (sends)
        bound_sends_of_groups(&b);
    if (work->collective == CCL_ALL_TO_ALL && work->sips == NULL && b.sips == hw->sip_count)
        bound_hubs(&b);
    return bound;
}
