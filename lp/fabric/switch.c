/*
 * switch.c: a switch between SIPs (hw/HARDWARE.md, "Structure", "Switches that reduce"). A crossing
 * is one event, at the time the transfer's tail enters.
 *
 * A switch of a tree also puts tiles together. Each SIP sends its part of a tile, or an empty one,
 * to the switch above it. When a piece of all children's parts is there, it goes on to the next
 * switch above, added up if several have bytes. The root sends the piece down, and every switch to
 * the children that want the tile; the others get an empty tile with its last piece, by which they
 * know that it is over.
 *
 * I-JOIN-1: a switch has a place for each tile that may be there. Proof: a PE sends the part of a
 * tile when its own ring has a slot for the result, so at most n_slots after the first tile that it
 * has not received; and it receives no tile before every switch of the tree has sent it on.
 */
#include "lp/fabric/switch.h"

#include "lp/coarse.h"
#include "lp/fabric/fabric.h"
#include "lp/fabric/io_die.h"
#include "lp/replay_watch.h"

static size_t switch_state_bytes(const struct lp_model *m)
{
    return m->joins.bytes > 0 ? m->joins.bytes : lp_state_bytes_of(m, LP_OF_SWITCH);
}

static void switch_init(const struct lp_model *m, uint32_t lp, void *state)
{
    (void)m, (void)lp, (void)state;
}

struct switch_view {
    struct cw_ctx *ctx;
    const struct lp_model *m;
    const struct lp_switch *s;
    uint32_t lp, number, stop;
};

/* Out of the switch by an outlet, with the entity of the sender as `ahead` sees it: the SIP that
 * comes next, or, before another switch, the destination's. */
static void leave_switch(const struct switch_view *view, struct lp_sender sender, uint32_t outlet,
                         struct hw_flight *flight, struct lp_transfer *transfer)
{
    struct cw_ctx *const ctx = view->ctx;
    const struct lp_model *const m = view->m;
    const uint32_t dst_sip = lp_sip_of(m, transfer->dst);
    const struct hw_hop hop = hw_hop(lp_routes_of(m, transfer), view->stop, outlet);
    lp_check_way(ctx, m, transfer, &hop, view->stop, outlet);
    const uint32_t at = lp_switch_link(m, view->number, outlet, hop.to);
    cw_check(ctx, at < m->links.count[LP_OF_SWITCH]);
    const bool to_switch = hw_is_switch(&m->hw, hop.to);
    const enum hw_node_kind next = hw_node_at(&m->hw, hop.to);
    const uint32_t ahead = to_switch ? dst_sip : hop.to; /* as lp_sip_ahead() of this switch */
    lp_set_port(transfer, hop.in);
    const struct hw_jitter_place place = {HW_JITTER_ANY, HW_JITTER_ANY, view->number, hop.to,
                                          hw_outer_link(view->stop, outlet)};
    struct hw_link *const link = lp_link(ctx, m, &view->s->link[at], flight);
    const int64_t sigma_before_ps = flight->sigma_ps;
    const int64_t late_ps = lp_late_link_ps(&m->hw, hop.link, place, flight);
    const int64_t wait_ps =
        lp_is_coarse(&m->config)
            ? lp_coarse_cross(ctx, m, LP_OF_SWITCH, at, flight, &m->hw.link[hop.link], link,
                              m->hw.overhead_ps[next], late_ps)
            : hw_flight_cross_late(flight, &m->hw.link[hop.link], link, m->first_batch,
                                   m->hw.overhead_ps[next], late_ps);
    if (lp_traces_causes(m))
        lp_cause_crossed(flight, sigma_before_ps, wait_ps > 0, hop.link, at, next);
    lp_link_crossed(ctx, m, view->lp, at, m->hw.link[hop.link].rate, flight, link);
    lp_check_left(ctx, m, transfer, view->stop, outlet,
                  flight->tau_ps - hw_hop_ps(&m->hw, hop.link, hop.to));
    if (to_switch) {
        const uint32_t then = lp_sip_ahead(m, hop.to, dst_sip, transfer);
        /* causes name what goes from switch to switch as SIP 0 sees it */
        const struct lp_sender noted = {lp_entity_seen(m, sender.entity, ahead, 0), sender.number};
        lp_forward_out(ctx, lp_of_switch(m, hop.to - m->hw.sip_count), LP_EVENT_TRANSFER, noted,
                       lp_entity_seen(m, sender.entity, ahead, then), transfer, flight);
        return;
    }
    lp_move_transfer(m, hop.to, transfer);
    lp_forward_out(ctx, lp_of_io_die(m, hop.to), LP_EVENT_TRANSFER, sender,
                   lp_entity_at(m, sender.entity, hop.to, hop.to), transfer, flight);
    lp_watch_crossing(ctx, m, LP_AT_SWITCH, hop.to, flight->tau_ps);
}

static void pass_through(const struct switch_view *view, const struct cw_event *event,
                         struct lp_transfer transfer)
{
    const struct lp_model *const m = view->m;
    const uint32_t dst_sip = lp_sip_of(m, transfer.dst);
    const struct hw_config *const hw = lp_routes_of(m, &transfer);
    const uint32_t outlet = hw_route_exit(hw, view->stop, dst_sip, lp_route_key(m, &transfer));
    lp_route_left(m, view->stop, &transfer);
    const struct hw_hop hop = hw_hop(hw, view->stop, outlet);
    lp_check_way(view->ctx, m, &transfer, &hop, view->stop, outlet);
    const uint32_t to = hop.to;
    struct hw_flight flight =
        lp_flight(view->ctx, m, hw_is_switch(&m->hw, to) ? dst_sip : to, &transfer);
    leave_switch(view, lp_sender_of(event), outlet, &flight, &transfer);
}

/* ---- tiles that are put together ------------------------------------------------------------- */

/* Pieces of an empty part: as many as there are of the others. */
enum { ALL_PIECES = 0x7fffffff };

/* A tile, on its way through this switch. */
struct tile {
    const struct switch_view *view;
    const struct hw_tree_switch *tree;
    const struct lp_joins *joins;
    const struct lp_joining *at;
    uint32_t number; /* of its struct lp_joining */
    uint32_t of;     /* the tree's number */
    uint32_t seq, batch;
    uint32_t place; /* of its PE in the SIP */
    uint8_t dir;
};

static const struct lp_joining *joining(const struct switch_view *view, uint32_t number)
{
    return (const struct lp_joining *)((const uint8_t *)view->s + view->m->joins.joining_offset +
                                       number * view->m->joins.joining_bytes);
}

static struct tile tile_of(const struct switch_view *view, const struct lp_transfer *transfer)
{
    const uint32_t tree = transfer->memory >> LP_TREE_SHIFT;
    const struct lp_model *const m = view->m;
    const uint32_t place = hw_remainder(transfer->dst, &m->by.sip_pes);
    cw_check(view->ctx, m->joins.bytes > 0 && transfer->dir < HW_DIRS_MAX && tree < m->trees.count);
    const uint32_t number = (place * HW_DIRS_MAX + transfer->dir) * m->config.n_slots +
                            transfer->seq % m->config.n_slots;
    return (struct tile){.view = view,
                         .tree = hw_tree_at(&m->trees, tree, view->number),
                         .of = tree,
                         .joins =
                             (const struct lp_joins *)((const uint8_t *)view->s + m->joins.offset),
                         .at = joining(view, number),
                         .number = number,
                         .seq = transfer->seq,
                         .batch = transfer->batch,
                         .place = place,
                         .dir = transfer->dir};
}

/* A tile whose place is known: one that has waited in line. */
static struct tile tile_at(const struct tile *other, uint32_t number)
{
    const struct lp_model *const m = other->view->m;
    struct tile tile = *other;
    tile.number = number;
    tile.at = joining(other->view, number);
    tile.of = tile.at->tree;
    tile.tree = hw_tree_at(&m->trees, tile.of, other->view->number);
    tile.seq = tile.at->seq;
    tile.batch = tile.at->batch;
    tile.dir = (uint8_t)(number / m->config.n_slots % HW_DIRS_MAX);
    tile.place = number / m->config.n_slots / HW_DIRS_MAX;
    return tile;
}

static const struct hw_tree_child *child_of(const struct tile *tile, uint32_t i)
{
    return &tile->view->m->trees.child[tile->tree->first + i];
}

static uint32_t piece_bytes(const struct tile *tile, uint32_t piece)
{
    const struct lp_model *const m = tile->view->m;
    const uint32_t all = tile->at->bytes, each = m->dma.chunk_bytes;
    if (m->hw.contention != HW_CONTENTION_CHUNK || all == 0)
        return all;
    const uint32_t left = all - piece * each;
    return left < each ? left : each;
}

static uint32_t pieces_of(const struct tile *tile)
{
    const struct lp_model *const m = tile->view->m;
    return m->hw.contention != HW_CONTENTION_CHUNK || tile->at->bytes == 0
               ? 1
               : (uint32_t)hw_ceil_div(tile->at->bytes, m->dma.chunk_bytes);
}

/* The PE of a SIP whose part, or whose tile, it is; and, as that SIP sees it, the sender of what a
 * switch sends for it. Its own events have lower numbers. */
static uint32_t pe_at(const struct tile *tile, uint32_t sip)
{
    return sip * tile->view->m->by.sip_pes.value + tile->place;
}

static struct lp_sender sender_of(const struct tile *tile)
{
    return (struct lp_sender){1 + tile->place, (uint64_t)tile->dir << 32 | (uint32_t)~tile->seq};
}

/* A piece of the tile to the stop at an outlet: up, or down. */
static void send_piece(const struct tile *tile, const struct hw_flight *from, uint32_t piece,
                       struct lp_transfer transfer, uint32_t outlet)
{
    const struct lp_model *const m = tile->view->m;
    const struct lp_sender sender = sender_of(tile);
    const bool last = transfer.flags & LP_TRANSFER_LAST;
    struct hw_flight flight = *from;
    flight.operation = lp_piece(m, sender, lp_sip_of(m, transfer.dst), last);
    flight.bytes = transfer.bytes;
    if (transfer.bytes == 0)
        flight.sigma_ps = 0;
    transfer.src = transfer.dst;
    transfer.seq = tile->seq;
    transfer.dir = tile->dir;
    transfer.batch = tile->batch;
    transfer.piece = (uint16_t)piece;
    transfer.exit = HW_OUTLET_NONE;
    if (lp_traces_causes(m) && flight.tau_ps > cw_now(tile->view->ctx))
        lp_cause_flight_part(LP_PART_UNIT, flight.tau_ps - cw_now(tile->view->ctx));
    leave_switch(tile->view, sender, outlet, &flight, &transfer);
}

static bool child_wants(const struct tile *tile, uint32_t i) { return tile->at->child[i] & 1; }

static void forget(const struct tile *tile)
{
    for (uint32_t i = 0; i < tile->tree->child_count; i++)
        *CW_MUT(tile->view->ctx, &tile->at->child[i]) = 0;
    *CW_MUT(tile->view->ctx, tile->at) = (struct lp_joining){0};
}

/* A piece of the result goes to the children. */
static void send_down(const struct tile *tile, const struct hw_flight *flight, uint32_t piece,
                      uint32_t bytes, bool last)
{
    const struct lp_model *const m = tile->view->m;
    for (uint32_t i = 0; i < tile->tree->child_count; i++) {
        const struct hw_tree_child *const child = child_of(tile, i);
        const bool wanted = child_wants(tile, i);
        if (!wanted && !last)
            continue;
        const struct lp_transfer transfer = {
            .dst = pe_at(tile, child->first_sip),
            .bytes = wanted ? bytes : 0,
            .kind = LP_TRANSFER_RESULT,
            .flags = (uint8_t)(tile->at->flags | (last ? LP_TRANSFER_LAST : 0)),
            .memory = hw_is_switch(&m->hw, child->stop) ? (uint8_t)(tile->of << LP_TREE_SHIFT)
                                                        : (uint8_t)m->config.slots,
            .order = wanted ? tile->at->bytes : 0};
        send_piece(tile, flight, piece, transfer, child->outlet);
    }
    if (last)
        forget(tile);
}

/* And up, to the next switch above. */
static void send_up(const struct tile *tile, const struct hw_flight *flight, uint32_t piece,
                    uint32_t bytes, bool last)
{
    bool wants = false;
    for (uint32_t i = 0; i < tile->tree->child_count; i++)
        wants |= child_wants(tile, i);
    const struct lp_transfer transfer = {
        .dst = pe_at(tile, child_of(tile, 0)->first_sip),
        .bytes = bytes,
        .kind = LP_TRANSFER_PART,
        .flags = (uint8_t)(tile->at->flags | (last ? LP_TRANSFER_LAST : 0)),
        .memory = (uint8_t)(wants | tile->of << LP_TREE_SHIFT),
        .order = tile->at->bytes};
    send_piece(tile, flight, piece, transfer, tile->tree->up);
}

/* The unit adds up a piece: one more link, whose flight time is the unit's latency. */
static void cross_unit(const struct tile *tile, struct hw_flight *flight)
{
    const struct lp_model *const m = tile->view->m;
    const struct hw_switch_reduce *const reduce = hw_reduce_of(&m->hw, tile->view->number);
    const struct hw_link_class unit = {.prop_ps = reduce->latency_ps,
                                       .rate = reduce->rate.den > 0 ? reduce->rate
                                                                    : (struct hw_rate){0, 1}};
    hw_flight_cross(flight, &unit, lp_link(tile->view->ctx, m, &tile->joins->unit, flight),
                    m->first_batch, 0);
}

/* ---- accumulators ---------------------------------------------------------------------------- */

/* Takes the accumulator that is free first; false: tiles hold all. */
static bool take_accumulator(const struct tile *tile, uint32_t count)
{
    const int64_t *const free_ps = tile->joins->free_ps;
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        best = free_ps[i] < free_ps[best] ? i : best;
    if (free_ps[best] == CW_TIME_MAX)
        return false;
    struct lp_joining *const own = CW_MUT(tile->view->ctx, tile->at);
    own->start_ps = free_ps[best];
    own->holds = (uint16_t)(best + 1);
    *CW_MUT(tile->view->ctx, &free_ps[best]) = CW_TIME_MAX;
    return true;
}

/* The first part of a tile has come: it takes an accumulator, or its place in line. */
static void ask_accumulator(const struct tile *tile)
{
    const struct switch_view *const view = tile->view;
    const uint32_t count = hw_reduce_of(&view->m->hw, view->number)->trees;
    if (count == 0 || (tile->joins->first == 0 && take_accumulator(tile, count)))
        return;
    CW_MUT(view->ctx, tile->at)->waits = 1;
    if (tile->joins->first == 0)
        *CW_MUT(view->ctx, &tile->joins->first) = tile->number + 1;
    else
        CW_MUT(view->ctx, joining(view, tile->joins->last - 1))->next = tile->number + 1;
    *CW_MUT(view->ctx, &tile->joins->last) = tile->number + 1;
}

/* The tile has left the unit. Returns the tile that gets its accumulator, 1 + its number; 0: none
 * waits. */
static uint32_t give_accumulator(const struct tile *tile, int64_t free_ps)
{
    const struct switch_view *const view = tile->view;
    if (tile->at->holds == 0)
        return 0;
    const uint32_t next = tile->joins->first, accumulator = tile->at->holds;
    const int64_t *const at = &tile->joins->free_ps[accumulator - 1];
    if (next == 0) {
        *CW_MUT(view->ctx, at) = free_ps;
        return 0;
    }
    struct lp_joining *const first = CW_MUT(view->ctx, joining(view, next - 1));
    *CW_MUT(view->ctx, &tile->joins->first) = first->next;
    first->next = 0;
    first->waits = 0;
    first->holds = (uint16_t)accumulator;
    first->start_ps = free_ps;
    return next;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Sends on the pieces of which all parts are there. Returns as give_accumulator(). */
static uint32_t send_on(const struct tile *tile)
{
    const struct lp_joining *const at = tile->at;
    const uint32_t children = tile->tree->child_count, total = pieces_of(tile);
    uint32_t there = total, next = 0;
    if (at->waits || at->came < children)
        return 0;
    for (uint32_t i = 0; i < children; i++)
        there = at->child[i] >> 1 < there ? at->child[i] >> 1 : there;
    for (uint32_t piece = at->sent; piece < there; piece++) {
        const int64_t now_ps = cw_now(tile->view->ctx);
        const bool last = piece + 1 == total;
        struct hw_flight flight = {.tau_ps = lp_most(at->start_ps, now_ps),
                                   .bytes = piece_bytes(tile, piece),
                                   .epoch = tile->batch};
        flight.sigma_ps = flight.tau_ps - lp_most(at->start_ps, at->head_ps);
        if (at->parts > 1)
            cross_unit(tile, &flight);
        CW_MUT(tile->view->ctx, at)->sent++;
        if (last)
            next = give_accumulator(tile, flight.tau_ps);
        (tile->tree->up == HW_TREE_NONE ? send_down : send_up)(tile, &flight, piece, flight.bytes,
                                                               last);
    }
    return next;
}

/* The child that a part comes from. */
static uint32_t child_from(const struct tile *tile, uint32_t sip)
{
    const struct lp_model *const m = tile->view->m;
    const size_t at = (size_t)tile->of * m->trees.sips + sip;
    uint32_t place = m->trees.sip_place[at];
    uint32_t stop = hw_hop(&m->hw, sip, m->trees.sip_up[at]).to;
    while (stop != tile->view->stop) {
        const struct hw_tree_switch *const below =
            hw_tree_at(&m->trees, tile->of, stop - m->hw.sip_count);
        place = below->place;
        stop = below->parent;
    }
    return place;
}

static void part_came(const struct switch_view *view, const struct lp_transfer *part)
{
    struct tile tile = tile_of(view, part);
    const uint32_t child = child_from(&tile, lp_sip_of(view->m, part->src));
    const uint32_t before = tile.at->child[child];
    const bool first = tile.at->came == 0;
    struct lp_joining *const own = CW_MUT(view->ctx, tile.at);
    if (first) {
        own->seq = tile.seq;
        own->batch = tile.batch;
        own->tree = (uint8_t)tile.of;
        own->flags = (uint8_t)(lp_queue_of(part) << LP_TRANSFER_QUEUE_SHIFT);
        own->head_ps = INT64_MIN;
    }
    LP_INVARIANT("I-JOIN-1", view->ctx, own->seq == tile.seq,
                 "switch %u: tile %u at the place of tile %u", view->number, tile.seq, own->seq);
    const int64_t head_ps = cw_now(view->ctx) - part->sigma_ps;
    own->head_ps = lp_most(own->head_ps, head_ps);
    own->came += before == 0;
    own->parts += part->bytes > 0 && before == 0;
    own->bytes = part->order > 0 ? part->order : own->bytes;
    const uint32_t pieces = part->bytes == 0 ? ALL_PIECES : (before >> 1) + 1;
    *CW_MUT(view->ctx, &tile.at->child[child]) = pieces << 1 | (part->memory & 1);
    if (first)
        ask_accumulator(&tile);
    for (uint32_t next = send_on(&tile); next > 0; next = send_on(&tile))
        tile = tile_at(&tile, next - 1);
}

static void result_came(const struct switch_view *view, const struct lp_transfer *result)
{
    const struct tile tile = tile_of(view, result);
    const struct hw_flight flight =
        lp_flight(view->ctx, view->m, lp_sip_of(view->m, result->dst), result);
    send_down(&tile, &flight, result->piece, result->bytes, result->flags & LP_TRANSFER_LAST);
}

static void switch_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct lp_model *m = cw_model_data(ctx);
    cw_check(ctx, event->type == LP_EVENT_TRANSFER);
    const struct lp_transfer *const transfer = LP_PAYLOAD(ctx, event, struct lp_transfer);
    const uint32_t number = lp_switch_at(m, event->lp);
    const struct switch_view view = {ctx, m, state, event->lp, number, m->hw.sip_count + number};
    if (transfer->kind == LP_TRANSFER_PART)
        part_came(&view, transfer);
    else if (transfer->kind == LP_TRANSFER_RESULT)
        result_came(&view, transfer);
    else
        pass_through(&view, event, *transfer);
}

const struct lp_ops lp_switch_ops = {"switch", switch_state_bytes, switch_init, switch_handle};
