/*
 * bound.c: lower bounds (bound.h). Each cost here is counted only where no route can avoid it: a
 * cube crossed is one router and two UCIe ports, whatever the NoC's shape.
 */
#include "collectives/verify/bound.h"

#include "hw/timing.h"

static int64_t max_ps(int64_t a, int64_t b) { return a > b ? a : b; }
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

/* From IO port to IO port by this port's link, both included. */
static int64_t port_hop_ps(const struct hw_config *hw, enum hw_port port)
{
    const struct hw_sip_port *const sip_port = &hw->sip_topology->port[port];
    const int64_t prop_ps = hw->link[sip_port->link].prop_ps;
    return 2 * hw->overhead_ps[HW_NODE_IO_PORT] +
           (sip_port->to_switch ? 2 * prop_ps + hw->overhead_ps[HW_NODE_SWITCH] : prop_ps);
}

/* The same by the fastest of the topology's links. */
static int64_t sip_hop_ps(const struct hw_config *hw)
{
    int64_t least_ps = port_hop_ps(hw, HW_PORT_N);
    for (enum hw_port port = HW_PORT_S; port < HW_PORTS; port++) {
        const int64_t ps = port_hop_ps(hw, port);
        least_ps = ps < least_ps ? ps : least_ps;
    }
    return least_ps;
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
    return between_sips_ps(hw, hops, hops * sip_hop_ps(hw), 2 * edge_distance_max(hw));
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

/* The larger of a bound and those of the topology's cuts that count for this use. */
struct cut_bound {
    const struct hw_config *hw;
    enum hw_cut_use use;
    uint64_t bytes; /* that cross a cut; of a scatter: for each SIP outside */
    int64_t ps;
};

/* Bytes over links of two classes together, each taking its share in the same time. */
static int64_t two_classes_ps(const struct hw_config *hw, const struct hw_cut *cut, uint64_t bytes)
{
    const struct hw_rate a = hw->link[cut->link[0]].rate, b = hw->link[cut->link[1]].rate;
    const unsigned __int128 both = (unsigned __int128)a.num * b.num;
    const unsigned __int128 per = (unsigned __int128)a.num * b.den * cut->links[1] +
                                  (unsigned __int128)b.num * a.den * cut->links[0];
    return per == 0 ? 0 : (int64_t)(bytes * both / per);
}

static void bound_count_cut(void *arg, const struct hw_cut *cut)
{
    struct cut_bound *const bound = arg;
    if ((cut->uses & bound->use) == 0)
        return;
    const uint64_t bytes = bound->bytes * (bound->use == HW_CUT_SCATTER ? cut->outside : 1);
    bound->ps = max_ps(bound->ps, cut->links[1] > 0
                                      ? two_classes_ps(bound->hw, cut, bytes)
                                      : cut_ps(bound->hw, cut->link[0], cut->links[0], bytes));
}

static int64_t cuts_ps(const struct hw_config *hw, uint32_t ranks, enum hw_cut_use use,
                       uint64_t bytes)
{
    struct cut_bound bound = {hw, use, bytes, 0};
    hw->sip_topology->cuts(hw, ranks, bound_count_cut, &bound);
    return bound.ps;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

int64_t hw_bound_all_reduce_ps(const struct hw_config *hw, uint64_t bytes)
{
    const int64_t ps = max_ps(latency_ps(hw), cut_ps(hw, HW_LINK_UCIE, cube_ports_min(hw), bytes));
    return hw->sip_count == 1 ? ps : max_ps(ps, cuts_ps(hw, hw->sip_count, HW_CUT_REDUCE, bytes));
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
        hops += crossings[port];
        links_ps += crossings[port] * port_hop_ps(hw, port);
    }
    return hops == 0 ? 0 : between_sips_ps(hw, hops, links_ps, 2 * edge_distance_max(hw));
}

int64_t hw_bound_reduce_scatter_ps(const struct hw_config *hw, uint32_t ranks, uint64_t bytes)
{
    if (ranks < 2)
        return 0;
    const uint64_t slice_bytes = bytes / ranks;
    int64_t ps = cut_ps(hw, HW_LINK_UCIE, HW_PORTS * hw_cubes(hw), (ranks - 1) * slice_bytes);
    ps = max_ps(ps, farthest_ps(hw, ranks));
    return max_ps(ps, cuts_ps(hw, ranks, HW_CUT_SCATTER, slice_bytes));
}

int64_t hw_bound_leaders_ps(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                            uint64_t bytes)
{
    if (ranks < 2)
        return 0;
    uint32_t hops = 1;
    for (uint32_t rank = 1; rank < ranks; rank++) {
        const uint32_t distance = hw->sip_topology->distance(hw, 0, rank);
        hops = distance > hops ? distance : hops;
    }
    if (ranks == hw->sip_count)
        hops = hw->sip_topology->diameter(hw);
    int64_t ps = between_sips_ps(hw, hops, hops * sip_hop_ps(hw), 0);
    ps = max_ps(ps, cut_ps(hw, HW_LINK_PE_NOC, 1, bytes));
    return max_ps(ps, cuts_ps(hw, ranks, HW_CUT_GATHER, shards * bytes));
}
