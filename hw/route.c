/*
 * route.c: routing decisions and whole paths (route.h).
 */
#include "hw/route.h"

#include "hw/arithmetic.h"
#include "hw/timing.h"

enum hw_port hw_route_cube(const struct hw_config *hw, uint32_t at, uint32_t to)
{
    return hw_grid_route((struct hw_grid){hw->cube_w, hw->cube_h, false}, at, to);
}

enum hw_port hw_route_cube_exit(const struct hw_config *hw, uint32_t at, enum hw_port exit)
{
    (void)hw;
    (void)at;
    return exit; /* straight on, to the edge cube of its row or column */
}

enum hw_port hw_route_noc(const struct hw_config *hw, uint32_t at, uint32_t to, uint32_t *next)
{
    const enum hw_port port = hw_grid_route((struct hw_grid){hw->noc_w, hw->noc_h, false}, at, to);
    static const int step_x[HW_PORTS] = {0, 0, 1, -1}, step_y[HW_PORTS] = {-1, 1, 0, 0};
    *next = (uint32_t)((int)at + step_x[port] + step_y[port] * (int)hw->noc_w);
    return port;
}

uint32_t hw_route_key_of(uint32_t src, uint32_t dst, uint32_t queue)
{
    const uint64_t pair = (uint64_t)src << 32 | dst;
    return (uint32_t)(hw_mix(hw_mix(pair) + queue) >> 32) & ~(uint32_t)HW_ROUTE_KEY_PASSED;
}

/* ---- whole paths --------------------------------------------------------------------------- */

struct walk {
    const struct hw_config *hw;
    hw_path_fn visit;
    void *arg;
    uint32_t sip, cube;
    uint32_t key; /* hw_route_key() */
};

static void walk_step(const struct walk *walk, bool is_link, int kind, uint32_t index,
                      enum hw_port port)
{
    const struct hw_path_step s = {is_link, (uint8_t)kind, walk->sip,      walk->cube,
                                   index,   port,          HW_OUTLET_NONE, UINT32_MAX};
    walk->visit(walk->arg, &s);
}

/* The link that joins a node of kind `from` with one of kind `to`. */
static inline void walk_link(const struct walk *walk, enum hw_node_kind from, enum hw_node_kind to,
                             uint32_t index, enum hw_port port)
{
    walk_step(walk, true, (int)hw_link_between(from, to), index, port);
}

static inline void walk_node(const struct walk *walk, enum hw_node_kind kind, uint32_t index,
                             enum hw_port port)
{
    walk_step(walk, false, (int)kind, index, port);
}

static void walk_noc(const struct walk *walk, uint32_t at, uint32_t to)
{
    while (at != to) {
        uint32_t next;
        const enum hw_port port = hw_route_noc(walk->hw, at, to, &next);
        walk_link(walk, HW_NODE_ROUTER, HW_NODE_ROUTER, at, port);
        walk_node(walk, HW_NODE_ROUTER, next, HW_PORT_NONE);
        at = next;
    }
}

/* From `router` of the cube out of it by `port`, over the link to a node of kind `beyond`. */
static void walk_out(const struct walk *walk, uint32_t router, enum hw_port port,
                     enum hw_node_kind beyond)
{
    walk_noc(walk, router, hw_port_router(walk->hw, port));
    walk_link(walk, HW_NODE_ROUTER, HW_NODE_UCIE_PORT, UINT32_MAX, port);
    walk_node(walk, HW_NODE_UCIE_PORT, UINT32_MAX, port);
    walk_link(walk, HW_NODE_UCIE_PORT, beyond, UINT32_MAX, port);
}

/* Into the cube by `port`; returns the router there. */
static uint32_t walk_in(struct walk *walk, uint32_t cube, enum hw_port port)
{
    const uint32_t router = hw_port_router(walk->hw, port);
    walk->cube = cube;
    walk_node(walk, HW_NODE_UCIE_PORT, UINT32_MAX, port);
    walk_link(walk, HW_NODE_UCIE_PORT, HW_NODE_ROUTER, UINT32_MAX, port);
    walk_node(walk, HW_NODE_ROUTER, router, HW_PORT_NONE);
    return router;
}

/* From cube to cube of one SIP; returns the router by which the last one is entered. */
static uint32_t walk_cubes(struct walk *walk, uint32_t router, uint32_t to_cube)
{
    while (walk->cube != to_cube) {
        const enum hw_port port = hw_route_cube(walk->hw, walk->cube, to_cube);
        uint32_t next = walk->cube;
        walk_out(walk, router, port, HW_NODE_UCIE_PORT);
        (void)hw_cube_neighbour(walk->hw, walk->cube, port, &next);
        router = walk_in(walk, next, hw_port_opposite(port));
    }
    return router;
}

/* A link outside SIPs, by its outlet at a SIP: the one before it, or after a switch the next. */
static void walk_outer(const struct walk *walk, const struct hw_hop *hop, uint32_t index,
                       uint32_t outlet, uint32_t exit)
{
    const enum hw_port port = outlet == HW_OUTLET_NONE ? hop->in : hw_side(walk->hw, outlet);
    const struct hw_path_step s = {
        true, (uint8_t)hop->link, walk->sip, walk->cube, index, port, outlet, exit};
    walk->visit(walk->arg, &s);
}

/* From IO port to IO port, from SIP to SIP, to the last one's entry port; returns that. */
static enum hw_port walk_sips(struct walk *walk, uint32_t outlet, uint32_t to_sip)
{
    const struct hw_config *hw = walk->hw;
    walk->cube = UINT32_MAX;
    for (;;) {
        struct hw_hop hop = hw_hop(hw, walk->sip, outlet);
        walk->key = hw_route_key_at(hw, walk->sip, walk->key);
        walk_node(walk, HW_NODE_IO_PORT, UINT32_MAX, hw_side(hw, outlet));
        walk_outer(walk, &hop, UINT32_MAX, outlet, UINT32_MAX);
        while (hw_is_switch(hw, hop.to)) {
            const uint32_t number = hop.to - hw->sip_count;
            walk_node(walk, hw_node_at(hw, hop.to), number, HW_PORT_NONE);
            walk->key = hw_route_key_at(hw, hop.to, walk->key);
            const uint32_t exit = hw_route_exit(hw, hop.to, to_sip, walk->key);
            hop = hw_hop(hw, hop.to, exit);
            const bool named = !hw_is_switch(hw, hop.to) && hop.back != HW_ONE_WAY;
            walk_outer(walk, &hop, number, named ? hop.back : HW_OUTLET_NONE, exit);
        }
        walk->sip = hop.to;
        walk_node(walk, HW_NODE_IO_PORT, UINT32_MAX, hop.in);
        if (walk->sip == to_sip)
            return hop.in;
        walk_link(walk, HW_NODE_IO_PORT, HW_NODE_IO_HUB, UINT32_MAX, HW_PORT_NONE);
        walk_node(walk, HW_NODE_IO_HUB, UINT32_MAX, HW_PORT_NONE);
        outlet = hw_route_exit(hw, walk->sip, to_sip, walk->key);
        walk_link(walk, HW_NODE_IO_HUB, HW_NODE_IO_PORT, UINT32_MAX, hw_side(hw, outlet));
    }
}

static enum hw_node_kind memory_node(enum hw_memory memory)
{
    return memory == HW_MEMORY_TCM   ? HW_NODE_PE_TCM
           : memory == HW_MEMORY_HBM ? HW_NODE_HBM
                                     : HW_NODE_SRAM;
}

/* From PE_DMA to the memory, by the kinds that are joined between the two. */
static void walk_memory(const struct walk *walk, uint32_t pe, enum hw_memory memory)
{
    enum hw_node_kind way[HW_NODE_KINDS];
    const uint32_t nodes = hw_node_way(HW_NODE_PE_DMA, memory_node(memory), way);
    for (uint32_t i = 0; i < nodes; i++) {
        const enum hw_node_kind from = i > 0 ? way[i - 1] : HW_NODE_PE_DMA;
        const bool to_router = way[i] == HW_NODE_ROUTER;
        const bool of_pe = hw_link_per(hw_link_between(from, way[i])) == HW_PER_PE;
        const uint32_t index = of_pe ? pe : UINT32_MAX;
        const uint32_t router = hw_pe_router(walk->hw, pe);
        walk_link(walk, from, way[i], index, HW_PORT_NONE);
        walk_node(walk, way[i], to_router ? router : index, HW_PORT_NONE);
        if (to_router && memory == HW_MEMORY_SRAM)
            walk_noc(walk, router, hw_centre_router(walk->hw));
    }
}

void hw_path_walk(const struct hw_config *hw, struct hw_place from, struct hw_place to,
                  enum hw_memory memory, uint32_t exit, uint32_t queue, hw_path_fn visit, void *arg)
{
    struct walk walk = {hw, visit, arg, from.sip, from.cube, 0};
    uint32_t router = hw_pe_router(hw, from.pe);
    walk_node(&walk, HW_NODE_PE_DMA, from.pe, HW_PORT_NONE);
    walk_link(&walk, HW_NODE_PE_DMA, HW_NODE_ROUTER, from.pe, HW_PORT_NONE);
    walk_node(&walk, HW_NODE_ROUTER, router, HW_PORT_NONE);
    if (from.sip != to.sip) {
        walk.key = hw_route_key(hw, hw_pe_index(hw, from), hw_pe_index(hw, to), queue);
        if (exit == HW_OUTLET_NONE)
            exit = hw_route_exit(hw, from.sip, to.sip, walk.key);
        const enum hw_port side = hw_side(hw, exit);
        router = walk_cubes(&walk, router, hw_edge_cube(hw, from.cube, side));
        walk_out(&walk, router, side, HW_NODE_IO_PORT);
        const enum hw_port entry = walk_sips(&walk, exit, to.sip);
        walk_link(&walk, HW_NODE_IO_PORT, HW_NODE_UCIE_PORT, UINT32_MAX, entry);
        router = walk_in(&walk, hw_edge_cube(hw, to.cube, entry), entry);
    }
    router = walk_cubes(&walk, router, to.cube);
    walk_noc(&walk, router, hw_pe_router(hw, to.pe));
    walk_link(&walk, HW_NODE_ROUTER, HW_NODE_PE_DMA, to.pe, HW_PORT_NONE);
    walk_node(&walk, HW_NODE_PE_DMA, to.pe, HW_PORT_NONE);
    if (memory != HW_MEMORY_NONE)
        walk_memory(&walk, to.pe, memory);
}

struct cost {
    const struct hw_config *hw;
    uint64_t bytes;
    int64_t ps, ser_ps_max;
};

static void add_cost(void *arg, const struct hw_path_step *s)
{
    struct cost *cost = arg;
    if (!s->is_link) {
        cost->ps += cost->hw->overhead_ps[s->kind];
        return;
    }
    const struct hw_link_class *link = &cost->hw->link[s->kind];
    const int64_t ser_ps = hw_ser_ps(link, cost->bytes);
    cost->ps += link->prop_ps;
    if (ser_ps > cost->ser_ps_max)
        cost->ser_ps_max = ser_ps;
}

int64_t hw_path_ps(const struct hw_config *hw, struct hw_place from, struct hw_place to,
                   enum hw_memory memory, uint32_t exit, uint32_t queue, uint64_t bytes)
{
    struct cost cost = {hw, bytes, 0, 0};
    hw_path_walk(hw, from, to, memory, exit, queue, add_cost, &cost);
    return cost.ps + cost.ser_ps_max;
}

/* The link between a PE and a bank of its cube takes as long as the slowest on the way. */
static int64_t bank_link_ps(const struct hw_config *hw, uint32_t pe, enum hw_memory memory,
                            uint64_t bytes)
{
    const int64_t to_router_ps = hw_ser_ps(&hw->link[HW_LINK_PE_NOC], bytes);
    const int64_t to_bank_ps =
        hw_ser_ps(&hw->link[memory == HW_MEMORY_HBM ? HW_LINK_HBM : HW_LINK_SRAM], bytes);
    const bool is_here = memory == HW_MEMORY_HBM || hw_pe_router(hw, pe) == hw_centre_router(hw);
    const int64_t noc_ps = is_here ? 0 : hw_ser_ps(&hw->link[HW_LINK_NOC], bytes);
    const int64_t slower_ps = to_router_ps > to_bank_ps ? to_router_ps : to_bank_ps;
    return slower_ps > noc_ps ? slower_ps : noc_ps;
}

int64_t hw_slot_ps(const struct hw_config *hw, uint32_t pe, enum hw_memory memory, uint64_t bytes)
{
    const struct hw_slot_access *const access = &hw->slot_access[memory];
    return access->overhead_ps + hw_rate_ps(access->rate, bytes) +
           (memory == HW_MEMORY_TCM ? 0 : bank_link_ps(hw, pe, memory, bytes));
}

int64_t hw_tile_ps(const struct hw_config *hw, struct hw_place from, struct hw_place to,
                   enum hw_memory slots, uint32_t exit, uint32_t queue, uint64_t bytes)
{
    if (!hw_has_slot_access(hw, slots))
        return hw_path_ps(hw, from, to, slots, exit, queue, bytes);
    return hw_path_ps(hw, from, to, HW_MEMORY_NONE, exit, queue, bytes) +
           (hw->slot_access[slots].read_only ? 0 : hw_slot_ps(hw, to.pe, slots, bytes));
}
