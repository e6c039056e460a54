/*
 * route.c: routing decisions and whole paths (route.h).
 */
#include "hw/route.h"

#include "hw/timing.h"

enum hw_port hw_route_cube(const struct hw_config *hw, uint32_t at, uint32_t to)
{
    return hw_grid_route((struct hw_grid){hw->cube_w, hw->cube_h, false}, at, to);
}

enum hw_port hw_route_cube_exit(const struct hw_config *hw, uint32_t at, enum hw_port exit)
{
    const uint32_t edge = hw_edge_cube(hw, at, exit);
    return at == edge ? exit : hw_route_cube(hw, at, edge);
}

enum hw_port hw_route_noc(const struct hw_config *hw, uint32_t at, uint32_t to, uint32_t *next)
{
    const enum hw_port port = hw_grid_route((struct hw_grid){hw->noc_w, hw->noc_h, false}, at, to);
    static const int step_x[HW_PORTS] = {0, 0, 1, -1}, step_y[HW_PORTS] = {-1, 1, 0, 0};
    *next = (uint32_t)((int)at + step_x[port] + step_y[port] * (int)hw->noc_w);
    return port;
}

/* ---- whole paths --------------------------------------------------------------------------- */

struct walk {
    const struct hw_config *hw;
    hw_path_fn visit;
    void *arg;
    uint32_t sip, cube;
};

static void step(const struct walk *walk, bool is_link, int kind, uint32_t index, enum hw_port port)
{
    const struct hw_path_step s = {is_link, (uint8_t)kind, walk->sip, walk->cube, index, port};
    walk->visit(walk->arg, &s);
}

static void link_to(const struct walk *walk, enum hw_link_kind link, enum hw_node_kind node,
                    uint32_t index)
{
    step(walk, true, (int)link, index, HW_PORT_NONE);
    step(walk, false, (int)node, index, HW_PORT_NONE);
}

static void walk_noc(const struct walk *walk, uint32_t at, uint32_t to)
{
    while (at != to) {
        uint32_t next;
        const enum hw_port port = hw_route_noc(walk->hw, at, to, &next);
        step(walk, true, HW_LINK_NOC, at, port);
        step(walk, false, HW_NODE_ROUTER, next, HW_PORT_NONE);
        at = next;
    }
}

/* From `router` of the cube out of it by `port`, as far as the link's own ucie_port. */
static void walk_out(const struct walk *walk, uint32_t router, enum hw_port port)
{
    walk_noc(walk, router, hw_port_router(walk->hw, port));
    step(walk, true, HW_LINK_NOC_UCIE, UINT32_MAX, port);
    step(walk, false, HW_NODE_UCIE_PORT, UINT32_MAX, port);
    step(walk, true, HW_LINK_UCIE, UINT32_MAX, port);
}

/* Into the cube by `port`; returns the router there. */
static uint32_t walk_in(struct walk *walk, uint32_t cube, enum hw_port port)
{
    walk->cube = cube;
    step(walk, false, HW_NODE_UCIE_PORT, UINT32_MAX, port);
    step(walk, true, HW_LINK_NOC_UCIE, UINT32_MAX, port);
    const uint32_t router = hw_port_router(walk->hw, port);
    step(walk, false, HW_NODE_ROUTER, router, HW_PORT_NONE);
    return router;
}

/* From IO port to IO port, from SIP to SIP, until the last one's entry port; returns that. */
static enum hw_port walk_sips(struct walk *walk, enum hw_port port, uint32_t to_sip)
{
    const struct hw_config *hw = walk->hw;
    for (;;) {
        walk->cube = UINT32_MAX;
        step(walk, false, HW_NODE_IO_PORT, UINT32_MAX, port);
        const enum hw_link_kind outer = hw_route_outer_link(hw, port);
        step(walk, true, (int)outer, UINT32_MAX, port);
        if (hw_route_through_switch(hw, port)) {
            const uint32_t number = hw->sip_topology->switch_of(hw, walk->sip);
            step(walk, false, HW_NODE_SWITCH, number, HW_PORT_NONE);
            step(walk, true, (int)outer, number, port);
        }
        walk->sip = hw_route_sip_behind(hw, walk->sip, port, to_sip);
        const enum hw_port entry = hw_route_entry(hw, port);
        if (walk->sip == to_sip) {
            step(walk, false, HW_NODE_IO_PORT, UINT32_MAX, entry);
            return entry;
        }
        step(walk, false, HW_NODE_IO_PORT, UINT32_MAX, entry);
        link_to(walk, HW_LINK_HUB, HW_NODE_IO_HUB, UINT32_MAX);
        port = hw_route_sip(hw, walk->sip, to_sip);
        step(walk, true, HW_LINK_HUB, UINT32_MAX, port);
    }
}

static void walk_memory(const struct walk *walk, uint32_t pe, enum hw_memory memory)
{
    const struct hw_config *hw = walk->hw;
    const uint32_t router = hw_pe_router(hw, pe);
    if (memory == HW_MEMORY_TCM)
        link_to(walk, HW_LINK_TCM, HW_NODE_PE_TCM, pe);
    if (memory == HW_MEMORY_HBM || memory == HW_MEMORY_SRAM) {
        step(walk, true, HW_LINK_PE_NOC, pe, HW_PORT_NONE);
        step(walk, false, HW_NODE_ROUTER, router, HW_PORT_NONE);
    }
    if (memory == HW_MEMORY_HBM)
        link_to(walk, HW_LINK_HBM, HW_NODE_HBM, pe);
    if (memory == HW_MEMORY_SRAM) {
        walk_noc(walk, router, hw_centre_router(hw));
        link_to(walk, HW_LINK_SRAM, HW_NODE_SRAM, UINT32_MAX);
    }
}

void hw_path_walk(const struct hw_config *hw, struct hw_place from, struct hw_place to,
                  enum hw_memory memory, enum hw_port exit, hw_path_fn visit, void *arg)
{
    struct walk walk = {hw, visit, arg, from.sip, from.cube};
    uint32_t router = hw_pe_router(hw, from.pe);
    step(&walk, false, HW_NODE_PE_DMA, from.pe, HW_PORT_NONE);
    step(&walk, true, HW_LINK_PE_NOC, from.pe, HW_PORT_NONE);
    step(&walk, false, HW_NODE_ROUTER, router, HW_PORT_NONE);
    if (from.sip != to.sip) {
        if (exit == HW_PORT_NONE)
            exit = hw_route_sip(hw, from.sip, to.sip);
        const uint32_t edge = hw_edge_cube(hw, from.cube, exit);
        while (walk.cube != edge) {
            const enum hw_port port = hw_route_cube(hw, walk.cube, edge);
            walk_out(&walk, router, port);
            uint32_t next = walk.cube;
            (void)hw_cube_neighbour(hw, walk.cube, port, &next);
            router = walk_in(&walk, next, hw_port_opposite(port));
        }
        walk_out(&walk, router, exit);
        const enum hw_port entry = walk_sips(&walk, exit, to.sip);
        step(&walk, true, HW_LINK_UCIE, UINT32_MAX, entry);
        router = walk_in(&walk, hw_edge_cube(hw, to.cube, entry), entry);
    }
    while (walk.cube != to.cube) {
        const enum hw_port port = hw_route_cube(hw, walk.cube, to.cube);
        walk_out(&walk, router, port);
        uint32_t next = walk.cube;
        (void)hw_cube_neighbour(hw, walk.cube, port, &next);
        router = walk_in(&walk, next, hw_port_opposite(port));
    }
    walk_noc(&walk, router, hw_pe_router(hw, to.pe));
    step(&walk, true, HW_LINK_PE_NOC, to.pe, HW_PORT_NONE);
    step(&walk, false, HW_NODE_PE_DMA, to.pe, HW_PORT_NONE);
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
                   enum hw_memory memory, enum hw_port exit, uint64_t bytes)
{
    struct cost cost = {hw, bytes, 0, 0};
    hw_path_walk(hw, from, to, memory, exit, add_cost, &cost);
    return cost.ps + cost.ser_ps_max;
}
