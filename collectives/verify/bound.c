/*
 * bound.c: lower bounds (bound.h). Each cost here is counted only where no route can avoid it: a
 * cube crossed is one router and two UCIe ports, whatever the NoC's shape.
 */
#include "collectives/verify/bound.h"

#include "hw/structure.h"
#include "hw/timing.h"
#include "hw/topology/sip_dims.h"
#include "hw/topology/topology.h"

/* The larger of a bound and a term of it. */
static void bound_term(struct hw_bound *bound, int64_t ps, const char *by)
{
    if (bound->by == NULL || ps > bound->ps)
        *bound = (struct hw_bound){ps, by};
}

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Bytes over `links` links of one class, side by side; nothing where there is no link. */
static int64_t cut_ps(const struct hw_config *hw, enum hw_link_kind kind, uint32_t links,
                      uint64_t bytes)
{
    return links ? hw_ser_ps(&hw->link[kind], bytes / links) : 0;
}

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

/* The same by the fastest of the topology's links. */
static int64_t sip_hop_ps(const struct hw_config *hw)
{
    int64_t least_ps = INT64_MAX;
    for (uint32_t i = 0; i < hw_outlets(hw); i++) {
        const struct hw_sip_port outlet = hw_outlet(hw, i);
        if (outlet.link == HW_LINK_KINDS)
            continue;
        const int64_t ps = outer_hop_ps(hw, outlet.link, outlet.to_switch);
        least_ps = ps < least_ps ? ps : least_ps;
    }
    return least_ps;
}

/* The links between the two SIPs that are farthest apart: in a product of dimensions, each
 * dimension's links one after the other, since no other link changes its coordinate. */
static int64_t farthest_links_ps(const struct hw_config *hw)
{
    int64_t ps = 0;
    if (hw->sip_dims.count == 0)
        return hw->sip_topology->diameter(hw) * sip_hop_ps(hw);
    for (uint32_t k = 0; k < hw->sip_dims.count; k++) {
        const struct hw_sip_dim *const dim = &hw->sip_dims.at[k];
        ps += hw_dim_diameter(dim) * outer_hop_ps(hw, dim->link, dim->joint == HW_SIP_SWITCH);
    }
    return ps;
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

static int64_t latency_ps(const struct hw_config *hw)
{
    const uint32_t hops = hw->sip_topology->diameter(hw);
    if (hops == 0) {
        const uint32_t cubes = hw->cube_w - 1 + hw->cube_h - 1;
        return cubes ? 2 * (hw->overhead_ps[HW_NODE_PE_DMA] + hw->link[HW_LINK_PE_NOC].prop_ps) +
                           hw->overhead_ps[HW_NODE_ROUTER] + cubes * cube_hop_ps(hw)
                     : 0;
    }
    return between_sips_ps(hw, hops, farthest_links_ps(hw), 2 * edge_distance_max(hw));
}

/* UCIe ports of the cube that has fewest; with other SIPs to reach, an edge has one to the IO die.
 */
static uint32_t cube_ports_min(const struct hw_config *hw)
{
    if (hw->sip_count > 1)
        return HW_PORTS;
    return (hw->cube_w > 1) + (hw->cube_h > 1);
}

/* ---- cuts between SIPs ----------------------------------------------------------------------- */

/* A bound, made of the topology's cuts that count for this use. */
struct cut_bound {
    const struct hw_config *hw;
    enum hw_cut_use use;
    uint64_t bytes; /* that cross a cut; of a scatter: for each SIP outside */
    uint32_t
        swapping; /* SIPs of an all-to-all: each on the near side sends that; 0: no all-to-all */
    struct hw_bound *bound;
};

static uint32_t classes_of(const struct hw_cut *cut)
{
    uint32_t classes = 0;
    while (classes < HW_CUT_CLASSES && cut->links[classes] > 0)
        classes++;
    return classes;
}

/* Bytes over links of several classes together, each taking its share in the same time. The
 * products of more than two rates have no room in 128 bits; so the result is made a little less
 * than the rounded one can be too much. */
static int64_t classes_ps(const struct hw_config *hw, const struct hw_cut *cut, uint64_t bytes)
{
    double bytes_per_ps = 0;
    for (uint32_t i = 0; i < classes_of(cut); i++) {
        const struct hw_rate rate = hw->link[cut->link[i]].rate;
        bytes_per_ps += (double)cut->links[i] * (double)rate.den / (double)rate.num;
    }
    return bytes_per_ps > 0 ? (int64_t)((double)bytes / bytes_per_ps * (1 - 1e-12)) : 0;
}

/* Bytes over links of two classes together, likewise, and exactly. */
static int64_t two_classes_ps(const struct hw_config *hw, const struct hw_cut *cut, uint64_t bytes)
{
    const struct hw_rate a = hw->link[cut->link[0]].rate, b = hw->link[cut->link[1]].rate;
    const unsigned __int128 both = (unsigned __int128)a.num * b.num;
    const unsigned __int128 per = (unsigned __int128)a.num * b.den * cut->links[1] +
                                  (unsigned __int128)b.num * a.den * cut->links[0];
    return per == 0 ? 0 : (int64_t)(bytes * both / per);
}

/* A cut of several classes: of paired dies, or of levels. */
static const char *cut_name(const struct hw_config *hw, const struct hw_cut *cut)
{
    return classes_of(cut) < 2        ? hw_link_name[cut->link[0]]
           : hw->sip_topology->paired ? "sio and hccs"
                                      : "links of all levels";
}

static void bound_cut(struct hw_bound *bound, const struct hw_config *hw, const struct hw_cut *cut,
                      uint64_t bytes)
{
    bound_term(bound,
               classes_of(cut) > 2    ? classes_ps(hw, cut, bytes)
               : classes_of(cut) == 2 ? two_classes_ps(hw, cut, bytes)
                                      : cut_ps(hw, cut->link[0], cut->links[0], bytes),
               cut_name(hw, cut));
}

static void bound_count_cut(void *arg, const struct hw_cut *cut)
{
    struct cut_bound *const counted = arg;
    if ((cut->uses & counted->use) != 0)
        bound_cut(counted->bound, counted->hw, cut,
                  counted->bytes * (counted->use == HW_CUT_SCATTER ? cut->outside : 1) *
                      (counted->swapping > 0 ? counted->swapping - cut->outside : 1));
}

static void bound_cuts(struct hw_bound *bound, const struct hw_config *hw, uint32_t ranks,
                       enum hw_cut_use use, uint64_t bytes)
{
    struct cut_bound counted = {.hw = hw, .use = use, .bytes = bytes, .bound = bound};
    hw->sip_topology->cuts(hw, ranks, bound_count_cut, &counted);
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
 * any part. A message through several links counts once, which keeps the bound low.
 */

static uint64_t sent_bytes(uint64_t parts, uint64_t bytes)
{
    return parts < 2 ? 0 : 2 * (parts - 1) * bytes;
}

/* Directed links that leave the first `ranks` SIPs, by class. A link to a switch counts unless the
 * SIP is alone on it. */
static void links_out(const struct hw_config *hw, uint32_t ranks, uint32_t out[HW_LINK_KINDS])
{
    struct hw_cable cable;
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
            if (!hw->sip_topology->cable(hw, sip, outlet, &cable))
                continue;
            if (cable.to_switch)
                out[cable.link] += sip < ranks && hw_next_on_switch(hw, sip, outlet) != sip;
            else
                out[cable.link] += (sip < ranks) + (cable.to < ranks);
        }
}

/* SIPs, and on paired dies packages, as the parts. */
static void bound_sends_between_sips(struct hw_bound *bound, const struct hw_config *hw,
                                     uint32_t ranks, uint64_t bytes)
{
    uint32_t out[HW_LINK_KINDS] = {0};
    links_out(hw, ranks, out);
    struct hw_cut all = {.uses = HW_CUT_REDUCE};
    uint32_t classes = 0;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS && classes < HW_CUT_CLASSES; kind++)
        if (out[kind] > 0) {
            all.link[classes] = kind;
            all.links[classes++] = out[kind];
        }
    bound_cut(bound, hw, &all, sent_bytes(ranks, bytes));
    if (hw->sip_topology->paired)
        bound_term(bound,
                   cut_ps(hw, HW_LINK_HCCS, out[HW_LINK_HCCS],
                          sent_bytes(((uint64_t)ranks + 1) / 2, bytes)),
                   hw_link_name[HW_LINK_HCCS]);
}

/* Cubes as the parts. */
static void bound_sends_between_cubes(struct hw_bound *bound, const struct hw_config *hw,
                                      uint64_t bytes)
{
    const uint64_t w = hw->cube_w, h = hw->cube_h;
    const uint64_t inside = 2 * ((w - 1) * h + w * (h - 1));
    const uint64_t links = hw->sip_count * (inside + (hw->sip_count > 1 ? 2 * (w + h) : 0));
    if (links > 0)
        bound_term(bound,
                   hw_ser_ps(&hw->link[HW_LINK_UCIE],
                             sent_bytes((uint64_t)hw->sip_count * w * h, bytes) / links),
                   hw_link_name[HW_LINK_UCIE]);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* `bytes` go out of, or into, the HBM slice of one PE. */
static void bound_hbm(struct hw_bound *bound, const struct hw_config *hw, uint64_t bytes)
{
    bound_term(bound, hw_ser_ps(&hw->link[HW_LINK_HBM], bytes), hw_link_name[HW_LINK_HBM]);
}

struct hw_bound hw_bound_all_reduce(const struct hw_config *hw, uint64_t bytes)
{
    struct hw_bound bound = {0, NULL};
    bound_term(&bound, latency_ps(hw), "latency");
    if (hw->sip_count * hw_cubes(hw) == 1)
        return bound;
    bound_hbm(&bound, hw, bytes);
    bound_term(&bound, cut_ps(hw, HW_LINK_UCIE, cube_ports_min(hw), bytes),
               hw_link_name[HW_LINK_UCIE]);
    bound_sends_between_cubes(&bound, hw, bytes);
    if (hw->sip_count > 1) {
        bound_cuts(&bound, hw, hw->sip_count, HW_CUT_REDUCE, bytes);
        bound_sends_between_sips(&bound, hw, hw->sip_count, bytes);
    }
    return bound;
}

/* An empty message between the two of the first `ranks` SIPs that are farthest apart. */
static int64_t farthest_ps(const struct hw_config *hw, uint32_t ranks)
{
    if (hw->sip_topology->farthest == NULL)
        return ranks == hw->sip_count ? latency_ps(hw) : 0;
    uint32_t crossings[HW_PORTS] = {0}, hops = 0;
    int64_t links_ps = 0;
    hw->sip_topology->farthest(ranks, crossings);
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        const struct hw_sip_port outlet = hw_outlet(hw, port);
        hops += crossings[port];
        links_ps += crossings[port] * outer_hop_ps(hw, outlet.link, outlet.to_switch);
    }
    return hops == 0 ? 0 : between_sips_ps(hw, hops, links_ps, 2 * edge_distance_max(hw));
}

struct hw_bound hw_bound_reduce_scatter(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                                        uint64_t bytes)
{
    struct hw_bound bound = {0, "latency"};
    if (ranks < 2)
        return bound;
    const uint64_t slice_bytes = bytes / ranks;
    bound_term(&bound, farthest_ps(hw, ranks), "latency");
    bound_hbm(&bound, hw, (ranks - 1) * slice_bytes);
    bound_term(
        &bound,
        cut_ps(hw, HW_LINK_UCIE, HW_PORTS * hw_cubes(hw), shards * (ranks - 1) * slice_bytes),
        hw_link_name[HW_LINK_UCIE]);
    bound_cuts(&bound, hw, ranks, HW_CUT_SCATTER, shards * slice_bytes);
    return bound;
}

/* An empty message from PE (0, 0) of SIP 0 to PE (0, 0) of the farthest of the first `ranks` SIPs;
 * of all SIPs, between the two that are farthest apart. */
static int64_t farthest_leader_ps(const struct hw_config *hw, uint32_t ranks)
{
    uint32_t hops = 1;
    for (uint32_t rank = 1; rank < ranks; rank++) {
        const uint32_t distance = hw->sip_topology->distance(hw, 0, rank);
        hops = distance > hops ? distance : hops;
    }
    if (ranks == hw->sip_count)
        hops = hw->sip_topology->diameter(hw);
    return between_sips_ps(hw, hops, hops * sip_hop_ps(hw), 0);
}

struct hw_bound hw_bound_leaders(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                                 uint64_t bytes, bool all_reduce)
{
    struct hw_bound bound = {0, "latency"};
    if (ranks < 2)
        return bound;
    bound_term(&bound, farthest_leader_ps(hw, ranks), "latency");
    bound_hbm(&bound, hw, bytes);
    bound_cuts(&bound, hw, ranks, HW_CUT_GATHER, shards * bytes);
    if (all_reduce)
        bound_sends_between_sips(&bound, hw, ranks, shards * bytes);
    return bound;
}

struct hw_bound hw_bound_all_to_all(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                                    uint64_t bytes)
{
    struct hw_bound bound = {0, "latency"};
    if (ranks < 2)
        return bound;
    const uint64_t block_bytes = bytes / ranks, moved_bytes = (ranks - 1) * block_bytes;
    bound_term(&bound, farthest_leader_ps(hw, ranks), "latency");
    bound_hbm(&bound, hw, moved_bytes);
    struct cut_bound counted = {.hw = hw,
                                .use = HW_CUT_SCATTER,
                                .bytes = shards * block_bytes,
                                .swapping = ranks,
                                .bound = &bound};
    hw->sip_topology->cuts(hw, ranks, bound_count_cut, &counted);
    return bound;
}

/* An empty message from PE (0, 0, 0) to the farthest of the first `ranks` PEs. */
static int64_t farthest_pe_ps(const struct hw_config *hw, uint32_t ranks)
{
    const uint32_t pes = hw_pes(hw), per_sip = hw_cubes(hw) * pes;
    uint32_t hops = 0, cubes = 0;
    for (uint32_t sip = 1; sip <= (ranks - 1) / per_sip; sip++) {
        const uint32_t distance = hw->sip_topology->distance(hw, 0, sip);
        hops = distance > hops ? distance : hops;
    }
    if (hops > 0)
        return between_sips_ps(hw, hops, hops * sip_hop_ps(hw), 0);
    for (uint32_t cube = 0; cube * pes < ranks && cube < hw_cubes(hw); cube++) {
        const uint32_t distance = cube % hw->cube_w + cube / hw->cube_w;
        cubes = distance > cubes ? distance : cubes;
    }
    return 2 * (hw->overhead_ps[HW_NODE_PE_DMA] + hw->link[HW_LINK_PE_NOC].prop_ps) +
           hw->overhead_ps[HW_NODE_ROUTER] + cubes * cube_hop_ps(hw);
}

struct hw_bound hw_bound_pes(const struct hw_config *hw, uint32_t ranks, uint64_t bytes,
                             bool all_reduce)
{
    struct hw_bound bound = {0, "latency"};
    if (ranks < 2)
        return bound;
    const uint32_t per_sip = hw_cubes(hw) * hw_pes(hw);
    const uint32_t sips = (ranks - 1) / per_sip + 1;
    bound_term(&bound, farthest_pe_ps(hw, ranks), "latency");
    bound_hbm(&bound, hw, bytes);
    bound_term(&bound, cut_ps(hw, HW_LINK_PE_NOC, 1, bytes), hw_link_name[HW_LINK_PE_NOC]);
    if (!all_reduce)
        return bound;
    bound_term(&bound, cut_ps(hw, HW_LINK_PE_NOC, ranks, sent_bytes(ranks, bytes)),
               hw_link_name[HW_LINK_PE_NOC]);
    if (sips > 1)
        bound_sends_between_sips(&bound, hw, sips, bytes);
    return bound;
}
