/*
 * pe_dma.c: a PE's DMA block: turns the decisions of hw/dma.h into events: runs of the engine,
 * requests to a memory, transfers that leave (hw/HARDWARE.md, "Timing of a transfer";
 * lp/QUEUES.md, "PE_DMA"). Runs in handlers only.
 */
#include "lp/fabric/pe_dma.h"

#include "lp/coarse.h"
#include "lp/fabric/fabric.h"
#include "lp/fabric/moves.h"
#include "lp/fabric/remote_load.h"
#include "lp/fabric/transfer.h"
#include "lp/queues/later_ways.h"
#include "lp/queues/one_sided.h"
#include "lp/queues/queue_ends.h"
#include "lp/replay_watch.h"

static const struct hw_dma_op *dma_op_at(const struct lp_model *m, const struct lp_pe *pe,
                                         enum hw_vc vc, uint32_t position)
{
    return &pe->op[(uint32_t)vc * m->hw.dma_queue_depth +
                   hw_remainder(position, &m->by.dma_queue_depth)];
}

static const struct lp_coarse_op *coarse_op_at(const struct lp_model *m, const struct lp_pe *pe,
                                               enum hw_vc vc, uint32_t position)
{
    return &lp_coarse_of(m, pe)->op[(uint32_t)vc * m->hw.dma_queue_depth +
                                    hw_remainder(position, &m->by.dma_queue_depth)];
}

static const struct hw_dma_op *first_op(const struct lp_model *m, const struct lp_pe *pe,
                                        enum hw_vc vc)
{
    return dma_op_at(m, pe, vc, pe->dma.head[vc]);
}

static void send_pe_signal(struct lp_view *view, enum lp_event_type type, struct lp_sender sender,
                           int64_t at_ps, uint32_t pe, uint32_t arg)
{
    const struct lp_signal s = {.pe = pe, .arg = arg};
    if (lp_traces_causes(view->m))
        lp_cause_sent(view->ctx, type, sender, at_ps);
    lp_send_signal(view->ctx, view->lp, at_ps - cw_now(view->ctx), type, sender, &s);
}

static struct lp_sender op_sender(const struct lp_view *view, uint32_t pe,
                                  const struct hw_dma_op *op)
{
    return (struct lp_sender){lp_entity_of_pe(view, pe), op->number};
}

/* When the request of an operation that is granted at `grant_ps` is at its memory; a request that
 * goes further: at the router of its PE. */
static int64_t request_arrival_ps(const struct lp_view *view, uint32_t pe,
                                  const struct hw_dma_op *op, int64_t grant_ps)
{
    const struct lp_model *m = view->m;
    const enum hw_memory memory = (enum hw_memory)(op->memory & 15);
    grant_ps += m->hw.overhead_ps[HW_NODE_PE_DMA];
    if (op->kind == LP_DMA_LOAD_FROM && lp_load_is_far(view, op->seq, memory))
        return grant_ps + m->hw.link[HW_LINK_PE_NOC].prop_ps + m->hw.overhead_ps[HW_NODE_ROUTER];
    return grant_ps + lp_memory_way_ps(m, pe, memory, op->slice) +
           m->hw.overhead_ps[lp_memory_node(memory)];
}

/* An operation whose data does not come from the PE's TCM: it begins with a request to a memory. */
static bool asks_memory(const struct hw_dma_op *op)
{
    return (op->memory & 15) != HW_MEMORY_TCM || op->kind == LP_DMA_LOAD_FROM;
}

static bool is_load(const struct hw_dma_op *op)
{
    return op->kind == LP_DMA_LOAD || op->kind == LP_DMA_LOAD_FROM;
}

/* An operation that a context, or a handle of it, waits for (struct lp_move). */
static bool is_move(uint8_t kind)
{
    return kind == LP_DMA_LOAD || kind == LP_DMA_STORE || kind == LP_DMA_COPY ||
           kind == LP_DMA_STORE_TO || kind == LP_DMA_LOAD_FROM;
}

/* The context is a stream of a kernel that cuts them: a product beside communication. */
static __attribute__((noinline)) bool is_cut_stream(const struct lp_model *m, const struct lp_pe *p,
                                                    uint32_t context)
{
    const struct lp_kernel *const kernel = &lp_context(m, p, context)->kernel;
    return kernel->stream > 0 && lp_has_launch(m, kernel->launch) &&
           lp_launch_of(m, kernel->launch)->cuts_streams;
}

/* Whether the bytes of an operation travel chunk by chunk: of all, or of the loads, stores and
 * copies of such a stream. */
static bool is_cut(const struct lp_model *m, const struct lp_pe *p, uint8_t kind, uint8_t owner)
{
    return p->dma.whole_chunks && (m->hw.contention == HW_CONTENTION_CHUNK ||
                                   (is_move(kind) && is_cut_stream(m, p, LP_CONTEXT_OF(owner))));
}

/* The request's way as the steps of a flight; the wait for the grant is the rest of its delay. */
static void note_request(struct lp_view *view, uint32_t pe, const struct hw_dma_op *op,
                         int64_t at_ps)
{
    const struct lp_model *const m = view->m;
    const enum hw_memory memory = (enum hw_memory)(op->memory & 15);
    lp_cause_flight_part(LP_PART_DMA, m->hw.overhead_ps[HW_NODE_PE_DMA]);
    if (op->kind == LP_DMA_LOAD_FROM && lp_load_is_far(view, op->seq, memory))
        lp_cause_pass(HW_LINK_PE_NOC, HW_NODE_ROUTER);
    else
        lp_note_memory_way(m, pe, memory, op->slice, true);
    lp_cause_passed(op->bytes);
    lp_cause_flight_sent(view->ctx, view->lp, LP_EVENT_MEMORY, op_sender(view, pe, op), at_ps);
}

static int64_t spread_ps(const struct lp_view *view, const struct lp_pe *p, enum hw_vc vc);

/* The engine grants such an operation its first chunk at `grant_ps`: the request leaves for the
 * memory then. All operations before it in the channel have passed the engine. So a put already has
 * the numbers that it will have when it has passed, too. */
static void request_memory(struct lp_view *view, uint32_t pe, enum hw_vc vc, uint32_t generation,
                           int64_t grant_ps)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, pe);
    const struct hw_dma_op *const op = first_op(m, p, vc);
    const enum hw_memory memory = (enum hw_memory)(op->memory & 15);
    struct lp_load load = {.pe = pe,
                           .stamp = generation,
                           .bytes = op->bytes,
                           .memory = (uint8_t)memory,
                           .slice = op->slice,
                           .to = op->memory >> 4,
                           .kind = op->kind,
                           .owner = op->dir,
                           .queue = op->queue,
                           .later = op->later,
                           .seq = op->seq};
    if (lp_is_coarse(&m->config)) {
        const struct lp_coarse_op *const coarse = coarse_op_at(m, p, vc, p->dma.head[vc]);
        load.order = coarse->tiles << 16 | coarse->rounds;
        load.spread_ps = (uint32_t)lp_least(spread_ps(view, p, vc), UINT32_MAX);
    }
    if (op->kind == LP_DMA_PUT) {
        load.peer = op->seq;
        load.seq = lp_one_sided(m, p)->puts_passed;
        load.order = lp_peer_of(view, pe, lp_peer_key(m, op->queue, op->seq))->sent;
        load.flags = op->dir ? LP_TRANSFER_REDUCE : 0;
    } else if (is_move(op->kind)) {
        struct lp_move *const move = CW_MUT(view->ctx, lp_move_of(view, pe, op->dir));
        move->parts = 0;
        move->stamp = (uint16_t)generation;
        if (op->kind == LP_DMA_LOAD_FROM) {
            load.peer = op->seq;
            load.seq = (uint32_t)move->from_at;
        }
    }
    const struct lp_sender sender = op_sender(view, pe, op);
    const int64_t at_ps = request_arrival_ps(view, pe, op, grant_ps);
    cw_send(view->ctx, view->lp, at_ps - cw_now(view->ctx), LP_EVENT_MEMORY, sender.entity,
            sender.number, &load, sizeof load);
    if (lp_traces_causes(m))
        note_request(view, pe, op, at_ps);
}

/* The place in the account of void requests that holds `generation`; 0: a free one. */
static const uint32_t *void_place(const struct lp_pe *p, uint32_t generation)
{
    for (uint32_t i = 0; i < LP_VOID_REQUESTS; i++)
        if (p->void_request[i] == generation)
            return &p->void_request[i];
    return NULL;
}

/*
 * A grant may be taken back at the instant at which it was made. Its request to a memory, which has
 * left, is then void. A load, a copy and a raw store keep the grant of their request until they are
 * complete. A send and a put are forgotten when they have passed the engine, so their void requests
 * are kept in an account. A grant whose request finds no place there stays.
 */
static bool may_be_taken_back(const struct lp_pe *p, const struct hw_dma_op *op)
{
    return is_move(op->kind) || void_place(p, 0) != NULL;
}

static void void_request(struct lp_view *view, uint32_t pe, const struct hw_dma_op *op,
                         uint32_t generation)
{
    if (is_move(op->kind)) {
        CW_MUT(view->ctx, lp_move_of(view, pe, op->dir))->stamp = (uint16_t)~generation;
        return;
    }
    const uint32_t *const place = void_place(lp_pe(view->m, view->cube, pe), 0);
    cw_check(view->ctx, place != NULL);
    *CW_MUT(view->ctx, place) = generation;
}

/* The request of this grant is at its memory. Returns whether it is void. */
static bool arrives_void(struct lp_view *view, const struct lp_load *load)
{
    if (is_move(load->kind))
        return lp_move_of(view, load->pe, load->owner)->stamp != (uint16_t)load->stamp;
    const uint32_t *const place = void_place(lp_pe(view->m, view->cube, load->pe), load->stamp);
    if (place == NULL)
        return false;
    *CW_MUT(view->ctx, place) = 0;
    return true;
}

/* How long ago the first tile of a channel's first operation came. */
static int64_t spread_ps(const struct lp_view *view, const struct lp_pe *p, enum hw_vc vc)
{
    if (!lp_is_coarse(&view->m->config))
        return 0;
    return lp_most(cw_now(view->ctx) - coarse_op_at(view->m, p, vc, p->dma.head[vc])->head_ps, 0);
}

/* None of the channel's first operation has passed in a run. */
static bool is_fresh(const struct lp_model *m, const struct lp_pe *p, enum hw_vc vc)
{
    return p->dma.passed[vc] == (lp_is_coarse(&m->config) ? lp_coarse_of(m, p)->skipped[vc] : 0);
}

/* Coarse tiles: those tiles of the channel's first operation for which the engine has been idle
 * since they came have passed. */
static void skip_tiles(struct lp_view *view, const struct lp_pe *p, enum hw_vc vc)
{
    const struct lp_model *m = view->m;
    if (p->dma.count[vc] == 0 || p->dma.passed[vc] > 0 || p->dma.whole_chunks)
        return;
    const struct lp_coarse_op *const coarse = coarse_op_at(m, p, vc, p->dma.head[vc]);
    const uint32_t tiles = coarse->tiles, most = tiles - coarse->rounds, chunk = m->dma.chunk_bytes,
                   tile = first_op(m, p, vc)->bytes / tiles / chunk * chunk;
    if (tiles == 1 || tile == 0)
        return;
    struct lp_coarse *const own = CW_MUT(view->ctx, lp_coarse_of(m, p));
    const int64_t each_ps = hw_rate_ps(m->dma.rate, tile);
    const int64_t idle_ps = lp_least(own->engine_idle_ps, spread_ps(view, p, vc));
    const uint32_t skipped = (uint32_t)lp_least(each_ps > 0 ? idle_ps / each_ps : most, most);
    lp_watch_idle(m, view->sip, skipped);
    own->engine_idle_ps -= skipped * each_ps;
    own->skipped[vc] = skipped * tile;
    CW_MUT(view->ctx, &p->dma)->passed[vc] = skipped * tile;
}

static void use_idle_time(struct lp_view *view, const struct lp_pe *p)
{
    struct lp_coarse *const own = CW_MUT(view->ctx, lp_coarse_of(view->m, p));
    own->engine_idle_ps += cw_now(view->ctx) - own->engine_end_ps;
    own->engine_end_ps = cw_now(view->ctx);
    for (enum hw_vc vc = 0; vc < HW_VCS; vc++)
        skip_tiles(view, p, vc);
}

/* Gives the idle engine to the next operation, if there is one. */
static void grant_engine(struct lp_view *view, uint32_t pe)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, pe);
    if (p->dma.count[HW_VC_COMPUTE] == 0 && p->dma.count[HW_VC_COMM] == 0)
        return;
    if (lp_is_coarse(&m->config))
        use_idle_time(view, p);
    struct hw_dma *dma = CW_MUT(view->ctx, &p->dma);
    const uint32_t first_bytes[HW_VCS] = {first_op(m, p, HW_VC_COMPUTE)->bytes,
                                          first_op(m, p, HW_VC_COMM)->bytes};
    int64_t grant_ps[HW_VCS];
    const int64_t end_ps = hw_dma_grant(dma, &m->dma, first_bytes, cw_now(view->ctx),
                                        view->ctx->event->depth, grant_ps);
    send_pe_signal(view, LP_EVENT_ENGINE,
                   op_sender(view, pe, first_op(m, p, (enum hw_vc)dma->last)), end_ps, pe,
                   dma->generation);
    for (enum hw_vc vc = 0; vc < HW_VCS; vc++)
        if (grant_ps[vc] >= 0 && is_fresh(m, p, vc) && asks_memory(first_op(m, p, vc)))
            request_memory(view, pe, vc, dma->generation, grant_ps[vc]);
}

/* With coarse tiles; an empty channel takes one of any size. */
bool lp_dma_has_room_of_tiles(const struct lp_view *view, uint32_t pe, enum hw_vc vc)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, pe);
    if (p->dma.count[vc] == 0)
        return true;
    uint64_t tiles = 0; /* that the operations stand for */
    for (uint32_t i = 0; i < p->dma.count[vc]; i++)
        tiles += coarse_op_at(m, p, vc, p->dma.head[vc] + i)->tiles;
    return tiles < m->hw.dma_queue_depth;
}

void lp_dma_push(struct lp_view *view, uint32_t pe, enum hw_vc vc, struct hw_dma_op op,
                 struct lp_coarse_op coarse)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, pe);
    cw_check(view->ctx, lp_dma_has_room(view, pe, vc));
    struct hw_dma *dma = CW_MUT(view->ctx, &p->dma);
    op.later = lp_port_from(m, cw_now(view->ctx)) != 0;
    *CW_MUT(view->ctx, dma_op_at(m, p, vc, dma->head[vc] + (uint32_t)dma->count[vc])) = op;
    if (lp_is_coarse(&m->config))
        *CW_MUT(view->ctx, coarse_op_at(m, p, vc, dma->head[vc] + (uint32_t)dma->count[vc])) =
            coarse;
    if (dma->count[vc]++ > 0)
        return;
    dma->passed[vc] = 0;
    if (lp_is_coarse(&m->config))
        CW_MUT(view->ctx, lp_coarse_of(m, p))->skipped[vc] = 0;
    if (dma->running == HW_VC_IDLE) {
        grant_engine(view, pe);
        return;
    }
    bool regrant;
    const enum hw_vc running = vc == HW_VC_COMPUTE ? HW_VC_COMM : HW_VC_COMPUTE;
    const struct hw_dma_op *const first = first_op(m, p, running);
    const bool asked = is_fresh(m, p, running) && asks_memory(first);
    const uint16_t depth =
        !asked || may_be_taken_back(p, first) ? view->ctx->event->depth : UINT16_MAX;
    const int64_t end_ps = hw_dma_newcomer(dma, &m->dma, vc, cw_now(view->ctx), depth, &regrant);
    if (regrant) {
        if (asked)
            void_request(view, pe, first, dma->generation);
        grant_engine(view, pe);
    } else if (end_ps >= 0) {
        send_pe_signal(view, LP_EVENT_ENGINE, op_sender(view, pe, first), end_ps, pe,
                       dma->generation);
    }
}

/* The batch of a hardware queue's operation with this number, which may be of the kernel before the
 * latest one; of several such kernels, the last one's. */
static inline uint32_t batch_of(const struct lp_model *m, const struct lp_pe *p, uint32_t queue,
                                uint32_t number)
{
    const bool may_be_earlier = __builtin_expect(m->needs.launches > 0, 0);
    return may_be_earlier && (int32_t)(number - lp_backlog(m, p, queue)->first_number) < 0
               ? lp_backlog(m, p, queue)->batch_before
               : lp_pe_queue(m, p, queue)->batch;
}

/* The transfer that an operation with a destination outside its own PE becomes. Inlined: nearly all
 * come from TCM. */
static inline __attribute__((always_inline)) void
become_transfer(struct lp_view *view, uint32_t pe, const struct hw_dma_op *op, uint32_t batch,
                uint32_t bytes, bool last, struct lp_transfer *transfer)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, pe);
    *transfer = (struct lp_transfer){
        .src = lp_pe_index(view, pe),
        .bytes = bytes,
        .seq = op->seq,
        .batch = batch,
        .flags = (uint8_t)(op->queue << LP_TRANSFER_QUEUE_SHIFT | (last ? LP_TRANSFER_LAST : 0)),
        .port = op->later ? LP_PORT_LATER : 0,
        .exit = HW_OUTLET_NONE};
    switch (op->kind) {
    case LP_DMA_TILE:
    case LP_DMA_CREDIT: {
        struct lp_wire end = {.peer_dir = HW_DIRS_MAX};
        cw_check(view->ctx,
                 lp_queue_end(lp_plan_at(m, p), transfer->src, (enum hw_dir)op->dir, &end));
        transfer->dst = end.peer;
        transfer->kind = op->kind == LP_DMA_TILE ? LP_TRANSFER_TILE : LP_TRANSFER_CREDIT;
        transfer->dir = end.peer_dir;
        transfer->exit = __builtin_expect(op->later, 0) && end.tree == 0
                             ? lp_exit_later(m, transfer->src, transfer->dst, end.exit)
                             : end.exit;
        transfer->memory = (uint8_t)m->config.slots;
        if (__builtin_expect(end.tree > 0, 0) && op->kind == LP_DMA_TILE) {
            transfer->kind = LP_TRANSFER_PART;
            transfer->memory = (uint8_t)(op->memory >> 4 | (end.tree - 1) << LP_TREE_SHIFT);
            transfer->order = op->bytes;
        } else if (__builtin_expect(m->slot_access, 0) && op->kind == LP_DMA_TILE)
            transfer->order = op->bytes;
        return;
    }
    case LP_DMA_STORE_TO:
        transfer->kind = LP_TRANSFER_STORE;
        transfer->dst = op->seq;
        transfer->seq = op->dir;
        transfer->memory = (op->memory & ~LP_DMA_DIRECT) >> 4;
        if (op->memory & LP_DMA_DIRECT)
            transfer->flags |= LP_TRANSFER_DIRECT;
        return;
    default:
        cw_check(view->ctx, op->kind == LP_DMA_PUT || op->kind == LP_DMA_NOTIFY);
        transfer->kind = op->kind == LP_DMA_PUT ? LP_TRANSFER_PUT : LP_TRANSFER_NOTIFY;
        transfer->dst = op->seq;
        transfer->order = lp_peer_of(view, pe, lp_peer_key(m, op->queue, op->seq))->sent;
        transfer->seq = lp_one_sided(m, p)->puts_passed;
        transfer->memory = op->memory >> 4;
        if (op->kind == LP_DMA_NOTIFY)
            transfer->dir = op->dir;
        else if (op->dir)
            transfer->flags |= LP_TRANSFER_REDUCE;
        return;
    }
}

/* Coarse tiles: a tile of a later round begins its way when the one before has ended it. */
static int64_t rounds_ps(const struct lp_model *m, uint32_t rounds, const struct lp_transfer *tile)
{
    if (rounds <= 1)
        return 0;
    return (rounds - 1) * (m->hw.ipcq_wire_ps +
                           hw_path_ps(&m->hw, lp_place_of(m, tile->src), lp_place_of(m, tile->dst),
                                      (enum hw_memory)tile->memory, tile->exit, tile->dir, 0));
}

/* The number of the piece that follows `before` bytes of its transfer. */
static uint16_t piece_at(const struct lp_model *m, uint32_t before)
{
    return before == 0 ? 0 : (uint16_t)hw_divide(before, &m->by.dma_chunk);
}

/* Bytes of the channel's first operation, from TCM, have passed the engine after `before` others,
 * and go their way as one message. */
static void depart_from_tcm(struct lp_view *view, uint32_t pe, enum hw_vc vc,
                            const struct hw_dma_op *op, uint32_t before, uint32_t bytes, bool last)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, pe);
    const struct lp_sender sender = op_sender(view, pe, op);
    const uint64_t operation = lp_piece(m, sender, view->sip, last);
    struct hw_flight flight = {.tau_ps = cw_now(view->ctx) + lp_dma_out_ps(view, pe, operation) +
                                         m->hw.link[HW_LINK_PE_NOC].prop_ps +
                                         m->hw.overhead_ps[HW_NODE_ROUTER],
                               .sigma_ps = hw_ser_ps(&m->hw.link[HW_LINK_PE_NOC], bytes),
                               .bytes = bytes,
                               .epoch = batch_of(m, p, op->queue, op->number),
                               .operation = operation};
    if (lp_traces_causes(m)) {
        lp_cause_flight_part(LP_PART_DMA, lp_dma_out_ps(view, pe, operation));
        lp_cause_pass(HW_LINK_PE_NOC, HW_NODE_ROUTER);
    }
    if (lp_is_coarse(&m->config) && !is_cut(m, p, op->kind, op->dir))
        flight.sigma_ps = lp_most(flight.sigma_ps, spread_ps(view, p, vc));
    if (op->kind != LP_DMA_STORE) {
        struct lp_transfer transfer;
        become_transfer(view, pe, op, flight.epoch, bytes, last, &transfer);
        transfer.piece = piece_at(m, before);
        if (lp_is_coarse(&m->config) && op->kind == LP_DMA_TILE)
            flight.tau_ps +=
                rounds_ps(m, coarse_op_at(m, p, vc, p->dma.head[vc])->rounds, &transfer);
        lp_route_on(view, sender, &flight, &transfer, m->router.of_pe[pe]);
        return;
    }
    const enum hw_memory memory = (enum hw_memory)(op->memory >> 4);
    lp_cross_to_memory(view, &flight, m->router.of_pe[pe], memory, op->slice);
    if (!last) {
        lp_flight_ended(view->ctx, sender, &flight);
        return;
    }
    /* the acknowledgement, back over the same path with 0 bytes */
    flight.tau_ps += lp_memory_way_ps(m, pe, memory, op->slice) + m->hw.overhead_ps[HW_NODE_PE_DMA];
    flight.tau_ps = lp_move_end_ps(view, pe, op->dir, flight.tau_ps);
    if (lp_traces_causes(m)) {
        lp_note_memory_way(m, pe, memory, op->slice, false);
        lp_cause_flight_part(LP_PART_DMA, m->hw.overhead_ps[HW_NODE_PE_DMA]);
        lp_cause_flight_sent(view->ctx, view->lp, LP_EVENT_DMA_DONE, sender, flight.tau_ps);
    }
    lp_move_done(view, sender, flight.tau_ps, pe, op->dir);
}

/* The last byte of an operation has passed the engine. */
static void op_passed(struct lp_view *view, uint32_t pe, const struct hw_dma_op *op)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, pe);
    if (is_load(op) || op->kind == LP_DMA_COPY)
        lp_move_part_done(view, pe, op_sender(view, pe, op), op->dir, 2, cw_now(view->ctx));
    if (op->kind != LP_DMA_PUT && op->kind != LP_DMA_NOTIFY)
        return;
    CW_MUT(view->ctx, lp_peer_of(view, pe, lp_peer_key(m, op->queue, op->seq)))->sent++;
    if (op->kind == LP_DMA_PUT)
        (*CW_MUT(view->ctx, &lp_one_sided(m, p)->puts_passed))++;
}

bool lp_dma_engine(struct lp_view *view, uint32_t pe, uint32_t generation, enum hw_vc *freed)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, pe);
    if (p->dma.generation != generation || p->dma.running == HW_VC_IDLE)
        return false; /* the run was cut short, or its grant taken back */
    struct hw_dma *dma = CW_MUT(view->ctx, &p->dma);
    uint32_t before;
    const enum hw_vc vc = hw_dma_run_end(dma, &before);
    const struct hw_dma_op op = *first_op(m, p, vc);
    const bool last = dma->passed[vc] >= op.bytes;
    if (lp_is_coarse(&m->config))
        CW_MUT(view->ctx, lp_coarse_of(m, p))->engine_end_ps = cw_now(view->ctx);
    if (!asks_memory(&op)) {
        if (is_cut(m, p, op.kind, op.dir))
            depart_from_tcm(view, pe, vc, &op, before, dma->passed[vc] - before, last);
        else if (last)
            depart_from_tcm(view, pe, vc, &op, 0, op.bytes, true);
    }
    *freed = last ? vc : HW_VCS;
    if (last) {
        op_passed(view, pe, &op);
        dma->passed[vc] = 0;
        if (lp_is_coarse(&m->config))
            CW_MUT(view->ctx, lp_coarse_of(m, p))->skipped[vc] = 0;
        dma->head[vc] = (uint16_t)hw_remainder(dma->head[vc] + 1u, &m->by.dma_queue_depth);
        dma->count[vc]--;
    }
    return true;
}

void lp_dma_continue(struct lp_view *view, uint32_t pe)
{
    if (lp_pe(view->m, view->cube, pe)->dma.running == HW_VC_IDLE)
        grant_engine(view, pe);
}

/* The same for a piece that has left a memory; `load` has the operation. */
static void become_transfer_of_load(struct lp_view *view, const struct lp_load *load,
                                    const struct hw_flight *flight, bool last,
                                    struct lp_transfer *transfer)
{
    if (load->kind != LP_DMA_PUT) {
        const struct hw_dma_op op = {.bytes = load->bytes,
                                     .seq = load->seq,
                                     .kind = load->kind & 15,
                                     .queue = load->queue & 7,
                                     .later = load->later & 1,
                                     .dir = load->owner,
                                     .memory = (uint8_t)(load->to << 4)};
        become_transfer(view, load->pe, &op, flight->epoch, flight->bytes, last, transfer);
        return;
    }
    *transfer =
        (struct lp_transfer){.src = lp_pe_index(view, load->pe),
                             .dst = load->peer,
                             .bytes = flight->bytes,
                             .seq = load->seq,
                             .batch = flight->epoch,
                             .kind = LP_TRANSFER_PUT,
                             .flags = (uint8_t)(load->queue << LP_TRANSFER_QUEUE_SHIFT |
                                                load->flags | (last ? LP_TRANSFER_LAST : 0)),
                             .memory = load->to,
                             .port = load->later ? LP_PORT_LATER : 0,
                             .exit = HW_OUTLET_NONE,
                             .order = load->order};
}

/* A piece of an operation other than a load has left its memory and crosses PE_DMA on its way out.
 */
static void cross_on_way_out(struct lp_view *view, const struct cw_event *event,
                             const struct lp_load *load, struct hw_flight *flight, bool last)
{
    const struct lp_model *m = view->m;
    const struct lp_sender sender = lp_sender_of(event);
    lp_cross_pe_out(view, flight, load->pe);
    if (load->kind == LP_DMA_COPY) {
        lp_cross_to_memory(view, flight, m->router.of_pe[load->pe], (enum hw_memory)load->to,
                           load->slice);
        if (last)
            lp_move_part_done(view, load->pe, sender, load->owner, 1, flight->tau_ps);
        return;
    }
    struct lp_transfer transfer;
    become_transfer_of_load(view, load, flight, last, &transfer);
    transfer.piece = piece_at(m, load->sent - flight->bytes); /* `sent` counts this one */
    if (lp_is_coarse(&m->config) && load->kind == LP_DMA_TILE) {
        flight->tau_ps += rounds_ps(m, load->order & UINT16_MAX, &transfer);
    }
    lp_route_on(view, sender, flight, &transfer, m->router.of_pe[load->pe]);
}

void lp_dma_memory(struct lp_view *view, const struct cw_event *event, struct lp_load load)
{
    const struct lp_model *m = view->m;
    cw_check(view->ctx, load.pe < m->pes && load.slice < m->pes && load.queue < m->needs.queues &&
                            load.sent < load.bytes + (load.bytes == 0));
    const struct lp_pe *p = lp_pe(m, view->cube, load.pe);
    if (load.sent == 0 && arrives_void(view, &load))
        return;
    if (load.kind == LP_DMA_LOAD_FROM) {
        lp_load_request(view, event, &load);
        return;
    }
    const enum hw_memory memory = (enum hw_memory)load.memory;
    const uint32_t left = load.bytes - load.sent;
    const bool piecewise = is_cut(m, p, load.kind, load.owner);
    const uint32_t bytes = piecewise && left > m->dma.chunk_bytes ? m->dma.chunk_bytes : left;
    const int64_t ser_ps = hw_ser_ps(&m->hw.link[lp_memory_link(memory)], bytes);
    const bool last = load.sent + bytes == load.bytes;
    /* with coarse tiles, the first have left it before */
    const bool coarse = load.spread_ps > 0 && load.kind != LP_DMA_PUT;
    const int64_t last_ps =
        coarse ? ser_ps / (load.order >> 16) * (load.order & UINT16_MAX) : ser_ps;
    const int64_t before_ps = lp_least(load.spread_ps, ser_ps - last_ps);
    struct hw_flight flight = {cw_now(view->ctx) + ser_ps - before_ps,
                               lp_most(ser_ps, load.spread_ps + last_ps), bytes,
                               batch_of(m, p, load.queue, (uint32_t)event->number),
                               lp_piece(m, lp_sender_of(event), view->sip, last)};
    if (lp_traces_causes(m))
        lp_cause_flight_part(memory == HW_MEMORY_HBM ? LP_PART_SER_HBM : LP_PART_SER_SRAM, ser_ps);
    const int64_t first_left_ps =
        lp_cross_from_memory(view, &flight, m->router.of_pe[load.pe], memory, load.slice);
    lp_cross_pe_in(view, &flight, load.pe, HW_NODE_PE_DMA);
    load.sent += bytes;
    if (load.kind != LP_DMA_LOAD) {
        cross_on_way_out(view, event, &load, &flight, last);
    } else {
        lp_cross_tcm(view, &flight, load.pe);
        if (last)
            lp_move_part_done(view, load.pe, lp_sender_of(event), load.owner, 1, flight.tau_ps);
    }
    if (last)
        return;
    lp_flight_ended(view->ctx, lp_sender_of(event), &flight);
    /* the next piece is offered when this one has left its first link */
    cw_send(view->ctx, view->lp, first_left_ps - cw_now(view->ctx), LP_EVENT_MEMORY, event->entity,
            event->number, &load, sizeof load);
    if (lp_traces_causes(m))
        lp_cause_sent(view->ctx, LP_EVENT_MEMORY, lp_sender_of(event), first_left_ps);
}
