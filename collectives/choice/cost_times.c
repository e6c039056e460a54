/*
 * cost_times.c: how long single operations take (cost_times.h).
 */
#include "collectives/choice/cost_times.h"

#include "collectives/schedule/schedule.h"
#include "hw/topology/trees.h"
#include "hw/route.h"
#include "hw/timing.h"
#include "hw/topology/topology.h"

enum { NOTICE_BYTES = 16 }; /* lp/QUEUES.md, "One-sided operations" */

struct cost_times cost_times_of(const struct ccl_call *call)
{
    const struct hw_config *const hw = call->hw;
    const int64_t cpu = hw->overhead_ps[HW_NODE_PE_CPU];
    const struct hw_place here = {0};
    return (struct cost_times){
        .hw = hw,
        .itemsize = tl_itemsize(call->dtype),
        .wait_ps = cpu,
        .issue_ps = cpu + hw->overhead_ps[HW_NODE_PE_SCHEDULER] + hw->overhead_ps[HW_NODE_PE_MMU],
        .queue_ps = cpu + hw->overhead_ps[HW_NODE_PE_IPCQ],
        .notice_ps =
            2 * cpu + hw->overhead_ps[HW_NODE_PE_IPCQ] + hw_notify_wire_ps(hw) +
            hw_path_ps(hw, here, here, HW_MEMORY_NONE, HW_OUTLET_NONE, HW_DIRS_MAX, NOTICE_BYTES)};
}

static bool is_same_place(struct hw_place a, struct hw_place b)
{
    return a.sip == b.sip && a.cube == b.cube && a.pe == b.pe;
}

/* PE_DMA to the HBM of its own PE, one way, without the overheads of the ends. */
static int64_t own_way_ps(const struct hw_config *hw)
{
    return hw->link[HW_LINK_PE_NOC].prop_ps + hw->link[HW_LINK_HBM].prop_ps +
           hw->overhead_ps[HW_NODE_ROUTER];
}

int64_t cost_load_latency_ps(const struct cost_times *t, struct hw_place own, struct hw_place home)
{
    const struct hw_config *const hw = t->hw;
    const int64_t dma = hw->overhead_ps[HW_NODE_PE_DMA], hbm = hw->overhead_ps[HW_NODE_HBM];
    const int64_t end = hw->link[HW_LINK_TCM].prop_ps + hw->overhead_ps[HW_NODE_PE_TCM];
    if (is_same_place(own, home))
        return 2 * (dma + own_way_ps(hw)) + hbm + end;
    /* there and back between the two PE_DMAs, but the home's own is not passed */
    return hw_path_ps(hw, own, home, HW_MEMORY_NONE, HW_OUTLET_NONE, HW_DIRS_MAX, 0) +
           hw_path_ps(hw, home, own, HW_MEMORY_TCM, HW_OUTLET_NONE, HW_DIRS_MAX, 0) - 2 * dma + hbm;
}

int64_t cost_store_latency_ps(const struct cost_times *t, struct hw_place own, struct hw_place home)
{
    const struct hw_config *const hw = t->hw;
    if (is_same_place(own, home))
        return 2 * (hw->overhead_ps[HW_NODE_PE_DMA] + own_way_ps(hw)) +
               hw->overhead_ps[HW_NODE_HBM];
    return hw_path_ps(hw, own, home, HW_MEMORY_HBM, HW_OUTLET_NONE, HW_DIRS_MAX, 0) +
           hw_path_ps(hw, home, own, HW_MEMORY_NONE, HW_OUTLET_NONE, HW_DIRS_MAX, 0);
}

int64_t cost_copy_latency_ps(const struct cost_times *t)
{
    const struct hw_config *const hw = t->hw;
    return 2 * hw->overhead_ps[HW_NODE_PE_DMA] + 3 * own_way_ps(hw) +
           2 * hw->overhead_ps[HW_NODE_HBM];
}

int64_t cost_add_time_ps(const struct cost_times *t, uint64_t bytes)
{
    const int64_t fetch_ps =
        t->hw->math_free_operands ? 0 : hw_fetch_ps(t->hw, 2 * bytes) + hw_fetch_ps(t->hw, bytes);
    return t->hw->overhead_ps[HW_NODE_PE_CPU] + t->hw->overhead_ps[HW_NODE_PE_SCHEDULER] +
           fetch_ps + hw_math_ps(t->hw, bytes / t->itemsize);
}

int64_t cost_engine_ps(const struct cost_times *t, uint64_t bytes)
{
    return hw_ser_ps(&t->hw->link[HW_LINK_PE_NOC], bytes);
}

int64_t cost_memory_ps(const struct cost_times *t, uint64_t bytes)
{
    return hw_ser_ps(&t->hw->link[HW_LINK_HBM], bytes);
}

/* That of the kernel, or of PE_DMA. */
static int64_t slot_write_ps(const struct ccl_call *call, struct hw_place own, uint64_t bytes,
                             bool by_sender)
{
    const enum hw_memory slots = call->ccl->queues.slots;
    const struct hw_slot_access *const access = &call->hw->slot_access[slots];
    return hw_has_slot_access(call->hw, slots) && !access->read_only &&
                   access->by_sender == by_sender
               ? hw_slot_ps(call->hw, own.pe, slots, bytes)
               : 0;
}

int64_t cost_slot_write_ps(const struct ccl_call *call, struct hw_place own, uint64_t bytes)
{
    return slot_write_ps(call, own, bytes, false);
}

int64_t cost_slot_send_ps(const struct ccl_call *call, struct hw_place own, uint64_t bytes)
{
    return slot_write_ps(call, own, bytes, true);
}

int64_t cost_slot_read_ps(const struct ccl_call *call, struct hw_place own, uint64_t bytes)
{
    const enum hw_memory slots = call->ccl->queues.slots;
    return hw_has_slot_access(call->hw, slots) && !call->hw->slot_access[slots].write_only
               ? hw_slot_ps(call->hw, own.pe, slots, bytes)
               : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Messages that carry this many bytes. */
static double messages(const struct ccl_call *call, uint64_t bytes)
{
    const uint64_t chunk = call->ccl->queues.vc_chunk_bytes;
    return call->hw->contention != HW_CONTENTION_CHUNK || bytes <= chunk
               ? 1
               : (double)((bytes + chunk - 1) / chunk);
}

/* The call, and the end; of each message, the engine and the memory. */
double cost_load_events(const struct ccl_call *call, uint64_t bytes)
{
    return 2 + 2 * messages(call, bytes);
}

double cost_store_events(const struct ccl_call *call, uint64_t bytes)
{
    return 2 + messages(call, bytes);
}

/* The call, the arrival, and the credit; of each message, the engine and the hops. */
double cost_send_events(const struct ccl_call *call, uint32_t hops, uint64_t bytes)
{
    return 3 + messages(call, bytes) * (1 + hops);
}

/* The services of io_cpu and m_cpu, and the cubes on the way, for the message and its reply. */
double cost_launch_events(const struct hw_config *hw, bool near)
{
    return near ? 12 : 11 + hw->cube_w;
}

/* ---- routes ---------------------------------------------------------------------------------- */

static uint32_t outer_crossings(const struct hw_config *hw) { return 2 * (hw_outlets(hw) + 1); }

/*
 * A SIP has 2 * outlet, + 1 for links down from a switch; after these at a cube 2 * (4 * cube +
 * port), + 1 into the cube. After all SIPs switches have their outlets: links to other switches.
 */
static uint32_t crossings_of_sip(const struct hw_config *hw)
{
    return outer_crossings(hw) + 2 * HW_PORTS * hw_cubes(hw);
}

static uint32_t crossings_of_sips(const struct hw_config *hw)
{
    return crossings_of_sip(hw) * hw->sip_count;
}

uint32_t cost_crossings(const struct hw_config *hw)
{
    return crossings_of_sips(hw) + hw_switches(hw) * hw_switch_outlets(hw);
}

uint32_t cost_crossing_classes(const struct hw_config *hw)
{
    return crossings_of_sip(hw) + hw_switch_outlets(hw);
}

uint32_t cost_crossing_class(const struct hw_config *hw, uint32_t crossing)
{
    const uint32_t of_sips = crossings_of_sips(hw);
    return crossing < of_sips ? crossing % crossings_of_sip(hw)
                              : crossings_of_sip(hw) + (crossing - of_sips) % hw_switch_outlets(hw);
}

struct route_walk {
    const struct hw_config *hw;
    struct cost_route *route;
    bool down; /* the link that was crossed last comes from a switch; its SIP is not known yet */
    /* The node that was passed last: an IO port, or a cube's port. */
    struct hw_path_step port;
};

static bool is_slower(struct hw_rate a, struct hw_rate b)
{
    return (unsigned __int128)a.num * b.den > (unsigned __int128)b.num * a.den;
}

/* A link between a cube and an IO port, by the cube's port; `in`: into the cube. */
static void note_edge(struct route_walk *walk, const struct hw_path_step *cube, bool in)
{
    struct cost_route *const route = walk->route;
    if (route->count == COST_CROSSINGS_MAX)
        return;
    route->port[route->count] = cube->port;
    route->rate[route->count] = walk->hw->link[HW_LINK_UCIE].rate;
    route->crossing[route->count++] = cube->sip * crossings_of_sip(walk->hw) +
                                      outer_crossings(walk->hw) +
                                      2 * (HW_PORTS * cube->cube + cube->port) + in;
}

/* A port of an IO die, or of a cube: the link from the one to the other has been passed. */
static void note_port(struct route_walk *walk, const struct hw_path_step *step)
{
    const bool is_io = step->kind == HW_NODE_IO_PORT, is_cube = step->kind == HW_NODE_UCIE_PORT;
    if (is_io && walk->port.kind == HW_NODE_UCIE_PORT)
        note_edge(walk, &walk->port, false);
    else if (is_cube && walk->port.kind == HW_NODE_IO_PORT)
        note_edge(walk, step, true);
    walk->port = *step;
}

/* A link between SIPs. One down from a switch belongs to the SIP that comes next. */
static void note_crossing(struct route_walk *walk, const struct hw_path_step *step)
{
    struct cost_route *const route = walk->route;
    walk->down = step->index != UINT32_MAX && step->outlet != HW_OUTLET_NONE;
    if (step->index != UINT32_MAX && !walk->down) {
        route->crossing[route->count] =
            crossings_of_sips(walk->hw) + step->index * hw_switch_outlets(walk->hw) + step->exit;
        route->port[route->count] = HW_PORT_NONE;
        route->rate[route->count++] = walk->hw->link[step->kind].rate;
        return;
    }
    route->crossing[route->count] =
        (walk->down ? 0 : step->sip * crossings_of_sip(walk->hw)) + 2 * step->outlet + walk->down;
    route->port[route->count] = HW_PORT_NONE;
    route->rate[route->count++] = walk->hw->link[step->kind].rate;
}

static void note_step(void *arg, const struct hw_path_step *step)
{
    struct route_walk *const walk = arg;
    struct cost_route *const route = walk->route;
    if (!step->is_link) {
        if (walk->down && step->kind == HW_NODE_IO_PORT)
            route->crossing[route->count - 1] += step->sip * crossings_of_sip(walk->hw);
        walk->down = walk->down && step->kind != HW_NODE_IO_PORT;
        note_port(walk, step);
        return;
    }
    route->hops += step->kind == HW_LINK_UCIE || hw_link_is_outer((enum hw_link_kind)step->kind);
    if (hw_link_is_outer((enum hw_link_kind)step->kind)) {
        if (route->count < COST_CROSSINGS_MAX)
            note_crossing(walk, step);
        return;
    }
    const struct hw_rate rate = walk->hw->link[step->kind].rate;
    if (route->inside.den == 0 || is_slower(rate, route->inside))
        route->inside = rate;
}

static uint32_t cost_exit(const struct hw_config *hw, uint32_t sip, uint32_t to_sip, bool other_way)
{
    const char letter = other_way ? schedule_other_way(hw, sip, to_sip) : '\0';
    return letter != '\0' ? hw_named_outlet(hw, sip, letter) : HW_OUTLET_NONE;
}

static void walk_route(const struct hw_config *hw, struct hw_place from, struct hw_place to,
                       enum hw_memory memory, uint32_t exit, uint32_t queue,
                       struct cost_route *route)
{
    struct route_walk walk = {.hw = hw, .route = route};
    *route = (struct cost_route){0};
    hw_path_walk(hw, from, to, memory, exit, queue, note_step, &walk);
    route->latency_ps = hw_path_ps(hw, from, to, memory, exit, queue, 0);
}

uint32_t cost_hops(const struct hw_config *hw, struct hw_place from, struct hw_place to)
{
    struct cost_route route;
    walk_route(hw, from, to, HW_MEMORY_NONE, HW_OUTLET_NONE, HW_DIRS_MAX, &route);
    return route.hops;
}

void cost_route_to_hbm(const struct ccl_call *call, struct hw_place from, struct hw_place to,
                       struct cost_route *route)
{
    walk_route(call->hw, from, to, HW_MEMORY_HBM, HW_OUTLET_NONE, HW_DIRS_MAX, route);
}

void cost_route_of(const struct ccl_call *call, struct hw_place from, struct hw_place to,
                   struct cost_ends ends, struct cost_route *route)
{
    const struct hw_config *const hw = call->hw;
    const uint32_t exit = cost_exit(hw, from.sip, to.sip, ends.other_way),
                   back = cost_exit(hw, to.sip, from.sip, ends.other_way);
    walk_route(hw, from, to, HW_MEMORY_TCM, exit, ends.receiver, route);
    route->latency_ps += hw->ipcq_wire_ps;
    route->credit_ps =
        hw_path_ps(hw, to, from, HW_MEMORY_NONE, back, ends.sender, call->ccl->queues.credit_bytes);
}

/* Way up and way down take as long as each other, so the route goes to a SIP that is far away. */
void cost_route_of_tree(const struct ccl_call *call, struct hw_place own, uint32_t tree,
                        struct cost_route *route)
{
    const struct hw_config *const hw = call->hw;
    struct hw_place there = own;
    struct hw_trees trees;
    there.sip = (own.sip + hw->sip_count / 2) % hw->sip_count;
    *route = (struct cost_route){0};
    if (hw_trees_make(hw, &trees) && tree < trees.count) {
        walk_route(hw, own, there, HW_MEMORY_TCM, trees.sip_up[tree * trees.sips + own.sip],
                   HW_DIRS_MAX, route);
        route->latency_ps +=
            hw->ipcq_wire_ps + hw_reduce_of(hw, trees.root[tree] - hw->sip_count)->latency_ps;
    }
    hw_trees_free(&trees);
}

int64_t cost_travel_ps(const struct cost_route *route, const struct cost_links *links,
                       int64_t begins, uint64_t bytes)
{
    int64_t paid = hw_rate_ps(route->inside, bytes), tail = begins + paid;
    for (uint32_t i = 0; i < route->count; i++) {
        const uint32_t link = links->by_class ? cost_crossing_class(links->hw, route->crossing[i])
                                              : route->crossing[i];
        const int64_t ser = hw_rate_ps(route->rate[i], bytes);
        const uint32_t share =
            route->port[i] == HW_PORT_NONE ? links->share : links->share_at[route->port[i]];
        const int64_t busy = ser * share * (links->busy != NULL ? links->busy[i] : 1);
        if (ser > paid) {
            tail += ser - paid;
            paid = ser;
        }
        const bool down = route->crossing[i] & 1;
        if (busy == 0 || (down ? links->skip_down : links->skip_up))
            continue;
        const int64_t free_ps = links->free_ps[link], turn_ps = begins + paid - ser;
        const int64_t first_ps = turn_ps - links->spread_ps;
        links->free_ps[link] = (free_ps > first_ps ? free_ps : first_ps) + busy;
        if (links->free_ps[link] < turn_ps + ser) /* the last has come when others were through */
            links->free_ps[link] = turn_ps + ser;
        tail = tail > links->free_ps[link] ? tail : links->free_ps[link];
    }
    return tail + route->latency_ps;
}

struct cost_message cost_message_of(const struct cost_route *route, const struct cost_links *links,
                                    int64_t begins, uint64_t bytes)
{
    return (struct cost_message){.bytes = bytes,
                                 .head_ps = begins,
                                 .tail_ps = begins + hw_rate_ps(route->inside, bytes),
                                 .spread_ps = links->spread_ps,
                                 .skip_up = links->skip_up,
                                 .skip_down = links->skip_down};
}

void cost_take_link(const struct cost_route *route, const struct cost_links *links,
                    struct cost_message *message)
{
    const uint32_t i = message->at++;
    const int64_t ser = hw_rate_ps(route->rate[i], message->bytes);
    const uint32_t share =
        route->port[i] == HW_PORT_NONE ? links->share : links->share_at[route->port[i]];
    const bool down = route->crossing[i] & 1;
    if (ser * share == 0 || (down ? message->skip_down : message->skip_up))
        return;
    const int64_t turn_ps =
        message->head_ps > message->tail_ps - ser ? message->head_ps : message->tail_ps - ser;
    int64_t *const free_ps = &links->free_ps[route->crossing[i]];
    const int64_t first_ps = turn_ps - message->spread_ps;
    const int64_t starts_ps = *free_ps > first_ps ? *free_ps : first_ps;
    *free_ps = starts_ps + ser * share > turn_ps + ser ? starts_ps + ser * share : turn_ps + ser;
    message->head_ps = *free_ps - ser;
    message->spread_ps = message->head_ps - starts_ps;
    message->tail_ps = message->tail_ps > *free_ps ? message->tail_ps : *free_ps;
}
