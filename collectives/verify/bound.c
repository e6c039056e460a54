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

/* Between IO ports, both included: of the dies of a package, of SIPs of one parity. */
static int64_t sio_hop_ps(const struct hw_config *hw)
{
    return 2 * hw->overhead_ps[HW_NODE_IO_PORT] + hw->link[HW_LINK_SIO].prop_ps;
}
static int64_t hccs_hop_ps(const struct hw_config *hw)
{
    return 2 * hw->overhead_ps[HW_NODE_IO_PORT] + 2 * hw->link[HW_LINK_HCCS].prop_ps +
           hw->overhead_ps[HW_NODE_SWITCH];
}

/* From one SIP's IO port to its neighbour's, both included. */
static int64_t sip_hop_ps(const struct hw_config *hw)
{
    const struct hw_link_class *link = &hw->link[HW_LINK_SIP_LINK];
    const int64_t ports_ps = 2 * hw->overhead_ps[HW_NODE_IO_PORT];
    if (hw->sip_topology == HW_PAIR_SWITCH) /* the cheaper of the two */
        return sio_hop_ps(hw) < hccs_hop_ps(hw) ? sio_hop_ps(hw) : hccs_hop_ps(hw);
    if (hw->sip_topology == HW_SWITCH)
        return ports_ps + 2 * link->prop_ps + hw->overhead_ps[HW_NODE_SWITCH];
    return ports_ps + link->prop_ps;
}

/* The largest number of links between two SIPs. */
static uint32_t sip_diameter(const struct hw_config *hw)
{
    switch (hw->sip_topology) {
    case HW_RING_1D:
        return hw->sip_count / 2;
    case HW_TORUS_2D:
        return hw->sip_w / 2 + hw->sip_h / 2;
    case HW_MESH_2D_NO_WRAP:
        return hw->sip_w - 1 + hw->sip_h - 1;
    default:
        return hw->sip_count > 1 ? 1 : 0;
    }
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

/* From PE to PE over so many links between SIPs, at least one, and at least so many cubes to cross
 * at both ends together. */
static int64_t between_sips_ps(const struct hw_config *hw, uint32_t hops, uint32_t cubes)
{
    const int64_t ends_ps =
        2 * (hw->overhead_ps[HW_NODE_PE_DMA] + hw->link[HW_LINK_PE_NOC].prop_ps +
             hw->overhead_ps[HW_NODE_ROUTER]);
    return ends_ps + 2 * out_of_cube_ps(hw) + cubes * cube_hop_ps(hw) + hops * sip_hop_ps(hw) +
           (hops - 1) * through_sip_ps(hw);
}

static int64_t latency_ps(const struct hw_config *hw)
{
    const uint32_t hops = sip_diameter(hw);
    if (hops == 0) {
        const uint32_t cubes = hw->cube_w - 1 + hw->cube_h - 1;
        return cubes ? 2 * (hw->overhead_ps[HW_NODE_PE_DMA] + hw->link[HW_LINK_PE_NOC].prop_ps) +
                           hw->overhead_ps[HW_NODE_ROUTER] + cubes * cube_hop_ps(hw)
                     : 0;
    }
    return between_sips_ps(hw, hops, 2 * edge_distance_max(hw));
}

/* UCIe ports of the cube that has fewest; with other SIPs to reach, an edge has one to the IO die.
 */
static uint32_t cube_ports_min(const struct hw_config *hw)
{
    if (hw->sip_count > 1)
        return HW_PORTS;
    return (hw->cube_w > 1) + (hw->cube_h > 1);
}

/* Links of the SIP that has fewest, one way. */
static uint32_t sip_ports_min(const struct hw_config *hw)
{
    if (hw->sip_topology == HW_SWITCH)
        return 1;
    uint32_t least = HW_PORTS;
    for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
        uint32_t ports = 0, to;
        for (enum hw_port port = 0; port < HW_PORTS; port++)
            ports += hw_sip_neighbour(hw, sip, port, &to);
        least = min_u32(least, ports);
    }
    return least;
}

/* Links, one way, across the middle of a dimension of n places, `lanes` of them side by side. */
static uint32_t bisection_links(uint32_t n, uint32_t lanes, bool wrap)
{
    return n < 2 ? 0 : lanes * (wrap ? 2 : 1);
}

int64_t hw_bound_all_reduce_ps(const struct hw_config *hw, uint64_t bytes)
{
    int64_t ps = latency_ps(hw);
    ps = max_ps(ps, cut_ps(hw, HW_LINK_UCIE, cube_ports_min(hw), bytes));
    if (hw->sip_count == 1 || hw->sip_topology == HW_PAIR_SWITCH)
        return ps;
    ps = max_ps(ps, cut_ps(hw, HW_LINK_SIP_LINK, sip_ports_min(hw), bytes));
    if (hw->sip_topology == HW_SWITCH)
        return ps;
    const bool grid = hw_sips_are_grid(hw), wrap = hw->sip_topology != HW_MESH_2D_NO_WRAP;
    const uint32_t w = grid ? hw->sip_w : hw->sip_count, h = grid ? hw->sip_h : 1;
    ps = max_ps(ps, cut_ps(hw, HW_LINK_SIP_LINK, bisection_links(w, h, wrap), bytes));
    return max_ps(ps, cut_ps(hw, HW_LINK_SIP_LINK, bisection_links(h, w, wrap), bytes));
}

/* Bytes over a SIP's sio and hccs links together, each taking what it can in the same time. */
static int64_t two_links_ps(const struct hw_config *hw, uint64_t bytes)
{
    const struct hw_rate a = hw->link[HW_LINK_SIO].rate, b = hw->link[HW_LINK_HCCS].rate;
    const unsigned __int128 both = (unsigned __int128)a.num * b.num;
    const unsigned __int128 per =
        (unsigned __int128)a.num * b.den + (unsigned __int128)b.num * a.den;
    return per == 0 ? 0 : (int64_t)(bytes * both / per);
}

/* Of paired dies: dies, packages, and all dies of one parity. */
static int64_t scatter_pairs_ps(const struct hw_config *hw, uint32_t ranks, uint64_t slice_bytes)
{
    if (ranks <= 2)
        return cut_ps(hw, HW_LINK_SIO, 1, (ranks - 1) * slice_bytes);
    /* to the other die of another package */
    int64_t ps =
        latency_ps(hw) - sip_hop_ps(hw) + hccs_hop_ps(hw) + through_sip_ps(hw) + sio_hop_ps(hw);
    ps = max_ps(ps, cut_ps(hw, HW_LINK_UCIE, hw->cube_w + hw->cube_h, (ranks - 1) * slice_bytes));
    ps = max_ps(ps, two_links_ps(hw, (ranks - 1) * slice_bytes));
    ps = max_ps(ps, cut_ps(hw, HW_LINK_HCCS, 2, (ranks - 2) * slice_bytes));
    return max_ps(ps, cut_ps(hw, HW_LINK_SIO, ranks / 2, ranks / 2 * slice_bytes));
}

int64_t hw_bound_reduce_scatter_ps(const struct hw_config *hw, uint32_t ranks, uint64_t bytes)
{
    if (ranks < 2)
        return 0;
    const uint64_t slice_bytes = bytes / ranks;
    int64_t ps = cut_ps(hw, HW_LINK_UCIE, HW_PORTS * hw_cubes(hw), (ranks - 1) * slice_bytes);
    if (hw->sip_topology == HW_PAIR_SWITCH)
        return max_ps(ps, scatter_pairs_ps(hw, ranks, slice_bytes));
    const uint32_t ports = hw->sip_topology == HW_SWITCH ? 1 : HW_PORTS;
    ps = max_ps(ps, cut_ps(hw, HW_LINK_SIP_LINK, ports, (ranks - 1) * slice_bytes));
    if (ranks < hw->sip_count)
        return ps;
    ps = max_ps(ps, latency_ps(hw));
    ps = max_ps(ps, cut_ps(hw, HW_LINK_SIP_LINK, sip_ports_min(hw), (ranks - 1) * slice_bytes));
    if (hw->sip_topology == HW_SWITCH)
        return ps;
    const bool grid = hw_sips_are_grid(hw), wrap = hw->sip_topology != HW_MESH_2D_NO_WRAP;
    const uint32_t w = grid ? hw->sip_w : hw->sip_count, h = grid ? hw->sip_h : 1;
    ps = max_ps(ps, cut_ps(hw, HW_LINK_SIP_LINK, bisection_links(w, h, wrap),
                           (uint64_t)(w + 1) / 2 * h * slice_bytes));
    return max_ps(ps, cut_ps(hw, HW_LINK_SIP_LINK, bisection_links(h, w, wrap),
                             (uint64_t)(h + 1) / 2 * w * slice_bytes));
}

/* Links between a SIP and SIP 0, at least. */
static uint32_t hops_from_first(const struct hw_config *hw, uint32_t sip)
{
    const uint32_t x = sip % hw->sip_w, y = sip / hw->sip_w;
    switch (hw->sip_topology) {
    case HW_RING_1D:
        return min_u32(sip, hw->sip_count - sip);
    case HW_TORUS_2D:
        return min_u32(x, hw->sip_w - x) + min_u32(y, hw->sip_h - y);
    case HW_MESH_2D_NO_WRAP:
        return x + y;
    default:
        return sip > 0;
    }
}

int64_t hw_bound_leaders_ps(const struct hw_config *hw, uint32_t ranks, uint32_t shards,
                            uint64_t bytes)
{
    if (ranks < 2)
        return 0;
    uint32_t hops = 1;
    for (uint32_t rank = 1; rank < ranks; rank++) {
        const uint32_t distance = hops_from_first(hw, rank);
        hops = distance > hops ? distance : hops;
    }
    if (ranks == hw->sip_count)
        hops = sip_diameter(hw);
    int64_t ps = between_sips_ps(hw, hops, 0);
    ps = max_ps(ps, cut_ps(hw, HW_LINK_PE_NOC, 1, bytes));
    if (hw->sip_topology == HW_PAIR_SWITCH)
        return ps;
    const uint32_t ports = hw->sip_topology == HW_SWITCH ? 1 : HW_PORTS;
    return max_ps(ps, cut_ps(hw, HW_LINK_SIP_LINK,
                             ranks == hw->sip_count ? sip_ports_min(hw) : ports, shards * bytes));
}
