/*
 * cost_walk.c: carries out the threads of an estimate: each takes the steps of schedule_kernel.c,
 * in thirds of tiles, in the order of time (cost_walk.h).
 */
#include "collectives/choice/cost_walk.h"

#include "collectives/schedule/schedule_program.h"
#include "collectives/schedule/schedule_values.h"
#include "hw/timing.h"

/* A notification between two threads: its call, the engine, its arrival, and the wait for it. */
enum { NOTICE_EVENTS = 4 };

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- the threads that can continue ----------------------------------------------------------- */

static struct cost_turn turn_of(const struct cost *c, uint32_t thread)
{
    return (struct cost_turn){c->thread[thread].now_ps, thread};
}

/* The thread that *waiter names, if any, continues at `ps` at the earliest. */
static void wake(struct cost *c, uint32_t *waiter, int64_t ps)
{
    if (*waiter == COST_NONE)
        return;
    c->thread[*waiter].now_ps = later(c->thread[*waiter].now_ps, ps);
    cost_turns_push(&c->turns, turn_of(c, *waiter));
    *waiter = COST_NONE;
}

/* ---- operations ------------------------------------------------------------------------------ */

const struct schedule_step *cost_step_at(const struct cost_thread *t, uint32_t step)
{
    return &t->rank->step[t->thread->step_first + step];
}

/* All chunks of a step are one message after the other without gaps: they are small, and they
 * follow each other (PROGRAM_TOGETHER of schedule_program.h). */
static bool goes_together(const struct cost *c, const struct schedule_step *step)
{
    const enum schedule_op op = (enum schedule_op)step->op;
    const struct schedule_chunks at = schedule_op_reads(op) ? step->src : step->dst;
    return step->count > 1 && at.buffer != SCHEDULE_SCRATCH &&
           at.at / c->chunks == (at.at + step->count - 1) / c->chunks &&
           c->chunk_elems * c->times.itemsize <= (uint64_t)c->piece_tiles * c->tile_bytes;
}

/* Elements of `count` chunks of a step. Chunks of scratch count as whole; so do chunks where ranks
 * are alike, since the short ones may be another rank's. */
static uint64_t chunk_elems(const struct cost *c, const struct schedule_step *step, uint32_t chunk,
                            uint32_t count)
{
    const enum schedule_op op = (enum schedule_op)step->op;
    const struct schedule_chunks at = schedule_op_reads(op) ? step->src : step->dst;
    const uint64_t most = count * c->chunk_elems;
    if (c->alike || at.buffer == SCHEDULE_SCRATCH)
        return most;
    const uint64_t first = (at.at + chunk) % c->chunks * c->chunk_elems;
    const uint64_t rest = first < c->block_elems ? c->block_elems - first : 0;
    return rest < most ? rest : most;
}

/* Bytes of a full tile of a step. */
static uint64_t full_tile(const struct cost *c, const struct schedule_step *step)
{
    const uint32_t itemsize = c->times.itemsize;
    const uint64_t chunks = goes_together(c, step) ? step->count : 1;
    return (uint64_t)program_tile_elems(chunks * c->chunk_elems, c->piece_tiles,
                                        c->tile_bytes / itemsize,
                                        c->call->ccl->tile_min_bytes / itemsize) *
           itemsize;
}

/* Bytes of the tile that a cursor names; 0: the chunk has no such tile in this piece. */
static uint64_t bytes_at(const struct cost *c, const struct cost_thread *t,
                         const struct cost_cursor *at)
{
    const struct schedule_step *const step = cost_step_at(t, at->step);
    const bool together = goes_together(c, step);
    if (together ? at->chunk > 0 : at->tile >= c->piece_tiles)
        return 0;
    const uint64_t bytes =
        chunk_elems(c, step, at->chunk, together ? step->count : 1) * c->times.itemsize;
    const uint64_t tile = full_tile(c, step);
    const uint64_t before = ((uint64_t)t->piece * c->piece_tiles + at->tile) * tile;
    if (before >= bytes)
        return 0;
    return bytes - before < tile ? bytes - before : tile;
}

static struct cost_memory *memory_of(const struct cost *c, const struct cost_thread *t,
                                     struct cost_memory *memory)
{
    return &memory[c->lanes ? (uint32_t)(t - c->thread) : t->rank_number];
}

/* Until the first `count` loads and stores have ended. */
static void finish(const struct cost *c, struct cost_thread *t, uint32_t count)
{
    for (; t->ended < count; t->ended++)
        t->now_ps = later(t->now_ps, t->moved_ps[t->ended % COST_MOVES]) + c->times.wait_ps;
}

/* A load or a store takes one of two handles: the one before the last has ended. */
static void wait_for_handle(const struct cost *c, struct cost_thread *t)
{
    if (t->begun - t->ended == COST_MOVES)
        finish(c, t, t->ended + 1);
    t->now_ps += c->times.issue_ps;
}

static void take_handle(struct cost_thread *t, int64_t ends_ps)
{
    t->moved_ps[t->begun++ % COST_MOVES] = ends_ps;
}

static int64_t take_engine(const struct cost *c, struct cost_thread *t, uint64_t bytes)
{
    const int64_t begins = later(t->now_ps, t->engine_ps);
    t->engine_ps = begins + cost_engine_ps(&c->times, bytes);
    return begins;
}

/* HBM's link is busy for this many bytes, from `ps` on at the earliest; returns when it is done. */
static int64_t take_memory(const struct cost *c, struct cost_memory *memory, int64_t ps,
                           uint64_t bytes)
{
    const int64_t takes_ps = cost_memory_ps(&c->times, bytes);
    memory->free_ps = later(memory->free_ps, ps) + takes_ps;
    return memory->free_ps;
}

/* What the home sends from its HBM passes pe_noc into PE_DMA, and keeps that way since it was asked
 * for: what arrives meanwhile comes after it. */
static void keep_inward(struct cost_thread *t, int64_t since_ps, int64_t until_ps)
{
    t->inward_since_ps = since_ps;
    t->inward_ps = later(t->inward_ps, until_ps);
}

/* When a load that is issued now has ended. */
static int64_t load(struct cost *c, struct cost_thread *t, uint64_t bytes)
{
    c->events += cost_load_events(c->call, bytes) + 2 * t->home_hops + 1; /* 1: it is waited for */
    const int64_t begins = take_engine(c, t, bytes);
    const int64_t read = take_memory(c, memory_of(c, t, c->read), begins + t->load_ps / 2, bytes);
    return read + t->load_ps - t->load_ps / 2;
}

static void begin_store(struct cost *c, struct cost_thread *t, uint64_t bytes)
{
    c->events += cost_store_events(c->call, bytes) + 2 * t->home_hops + 1;
    wait_for_handle(c, t);
    const int64_t begins = take_engine(c, t, bytes);
    const int64_t written =
        take_memory(c, memory_of(c, t, c->write), begins + t->store_ps / 2, bytes);
    take_handle(t, written + t->store_ps - t->store_ps / 2);
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct cost_links links_of(const struct cost *c, const struct cost_thread *t,
                                  const struct cost_queue *q)
{
    struct cost_links links = {.hw = c->call->hw,
                               .free_ps = c->link_free_ps,
                               .by_class = c->alike,
                               .busy = c->alike ? q->busy : NULL,
                               .share = t->share,
                               .spread_ps = t->spread_ps};
    for (enum hw_port port = 0; port < HW_PORTS; port++)
        links.share_at[port] = t->share_at[port];
    return links;
}

/* The next message of a queue arrives in its slot. */
static void arrive(struct cost *c, struct cost_queue *q, int64_t arrives_ps)
{
    q->arrives_ps[q->arrived++ % c->slots] = arrives_ps;
    wake(c, &q->receiver, arrives_ps - c->times.queue_ps);
}

/* A message takes the links to which it comes before anything else can continue. */
static void move_message(struct cost *c, uint32_t number)
{
    struct cost_queue *const q = &c->queue[number / c->slots];
    struct cost_message *const message = &q->message[number % c->slots];
    const struct cost_thread *const t = &c->thread[q->source];
    const struct cost_links links = links_of(c, t, q);
    while (message->at < q->route.count) {
        const struct cost_turn turn = {message->head_ps, c->threads + number};
        if (c->turns.count > 0 && cost_turn_before(c->turns.at[0], turn)) {
            cost_turns_push(&c->turns, turn);
            return;
        }
        cost_take_link(&q->route, &links, message);
    }
    arrive(c, q, message->tail_ps + q->route.latency_ps + message->slot_ps);
}

/* A message of a step sets out whose first byte enters PE_DMA's engine at `begins`; of `bytes` so
 * many as `wire` are on its way. */
static void set_out(struct cost *c, const struct cost_thread *t, struct cost_queue *q,
                    const struct schedule_step *step, int64_t begins, uint64_t wire, uint64_t bytes)
{
    const uint32_t slot = q->sent++ % c->slots;
    const int64_t slot_ps = cost_slot_write_ps(c->call, t->own, bytes);
    struct cost_links links = links_of(c, t, q);
    links.skip_up = step->src.none;
    links.skip_down = step->dst.none;
    if (!c->by_link) {
        arrive(c, q, cost_travel_ps(&q->route, &links, begins, wire) + slot_ps);
        return;
    }
    q->source = (uint32_t)(t - c->thread);
    q->message[slot] = cost_message_of(&q->route, &links, begins, wire);
    q->message[slot].slot_ps = slot_ps;
    move_message(c, (uint32_t)(q - c->queue) * c->slots + slot);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static bool op_adds(enum schedule_op op)
{
    return op >= SCHEDULE_RECV_REDUCE_COPY || op == SCHEDULE_REDUCE;
}

static bool is_home(const struct cost *c, const struct cost_thread *t)
{
    return c->lanes || t->number == 0;
}

/* A step's own value goes through TCM: schedule_kernel.c, loads(). */
static bool step_loads(const struct cost *c, const struct cost_thread *t, uint32_t step)
{
    const enum schedule_op op = (enum schedule_op)cost_step_at(t, step)->op;
    return schedule_step_reads(cost_step_at(t, step)) &&
           (op != SCHEDULE_SEND || t->chain[step] > 1 || !is_home(c, t));
}

/* A step's sources may be loaded while the step before it runs: asked then. */
static bool loads_early(const struct cost *c, const struct cost_thread *t, uint32_t number)
{
    const struct schedule_step *const step = cost_step_at(t, number);
    const uint32_t *const written = c->written[t->team];
    if (t->early[number] != EARLY_ASK)
        return t->early[number] == EARLY_YES;
    for (uint32_t k = 0; k < step->count; k++)
        if (written[schedule_location(c->s, t->rank_number, step->src.buffer, step->src.at + k)] >
            t->piece)
            return false;
    return true;
}

static void go_ahead(const struct cost *c, struct cost_thread *t)
{
    struct cost_cursor *const at = &t->ahead;
    const struct schedule_step *const step = cost_step_at(t, at->step);
    at->tile++;
    while (at->chunk < step->count && bytes_at(c, t, at) == 0) {
        at->chunk += goes_together(c, step) ? step->count : 1;
        at->tile = 0;
    }
}

static bool is_ahead(const struct cost_thread *t)
{
    return t->ahead.step < t->thread->step_count &&
           t->ahead.chunk < cost_step_at(t, t->ahead.step)->count;
}

/* Puts the cursor of loads to the first tile of a step. */
static void look_at_step(const struct cost *c, struct cost_thread *t, uint32_t step)
{
    t->ahead = (struct cost_cursor){.step = step};
    if (!step_loads(c, t, step))
        t->ahead.chunk = cost_step_at(t, step)->count;
    else if (is_ahead(t) && bytes_at(c, t, &t->ahead) == 0)
        go_ahead(c, t);
}

/* There is a value to load before it is needed; may move the cursor on to the next step. */
static bool may_load_ahead(const struct cost *c, struct cost_thread *t)
{
    const uint32_t next = t->at.step + t->chain[t->at.step];
    if (t->loads - t->used >= COST_AHEAD)
        return false;
    if (is_ahead(t))
        return true;
    if (t->ahead.step >= next || next >= t->thread->step_count || !loads_early(c, t, next) ||
        !step_loads(c, t, next))
        return false;
    look_at_step(c, t, next);
    return is_ahead(t);
}

/* Begins the load of the value that `ahead` names. */
static void begin_load(struct cost *c, struct cost_thread *t)
{
    wait_for_handle(c, t);
    t->move_of_load[t->loads++ % COST_AHEAD] = t->begun;
    take_handle(t, load(c, t, bytes_at(c, t, &t->ahead)));
    go_ahead(c, t);
}

/* The first third of a tile: the loads of its value, and of the one after it, have begun. */
static void load_tile(struct cost *c, struct cost_thread *t)
{
    const bool reduces = cost_step_at(t, t->at.step)->op == SCHEDULE_REDUCE;
    if (reduces)
        finish(c, t, t->begun);
    if (step_loads(c, t, t->at.step) && t->loads == t->used)
        begin_load(c, t);
    if (!reduces && may_load_ahead(c, t))
        begin_load(c, t);
}

/* The second: the message has come, and is added. False: it has not come. */
static bool take_tile(struct cost *c, struct cost_thread *t, uint32_t number, uint64_t bytes)
{
    const enum schedule_op op = (enum schedule_op)cost_step_at(t, t->at.step + t->link)->op;
    if (schedule_op_receives(op)) {
        struct cost_queue *const q = &c->queue[t->recv_queue[t->at.step + t->link]];
        if (q->arrived == q->received) {
            q->receiver = number;
            return false;
        }
        c->events++;
        const uint32_t slot = q->received++ % c->slots;
        int64_t arrives_ps = q->arrives_ps[slot];
        if (arrives_ps > t->inward_since_ps)
            arrives_ps = later(arrives_ps, t->inward_ps + cost_engine_ps(&c->times, bytes));
        const int64_t here = later(t->now_ps + c->times.queue_ps, arrives_ps) +
                             cost_slot_read_ps(c->call, t->own, bytes);
        q->free_ps[slot] = here + q->route.credit_ps;
        t->now_ps = here + (c->call->ccl->queues.credit_blocks ? q->route.credit_ps : 0);
        wake(c, &q->sender, q->free_ps[slot] - c->times.queue_ps);
    }
    if (t->link == 0 && step_loads(c, t, t->at.step))
        finish(c, t, t->move_of_load[t->used % COST_AHEAD] + 1);
    if (op == SCHEDULE_REDUCE) {
        t->now_ps += c->times.issue_ps;
        t->now_ps = load(c, t, bytes) + c->times.wait_ps;
    }
    if (op_adds(op))
        t->now_ps += cost_add_time_ps(&c->times, bytes);
    return true;
}

/* The value is kept: schedule_kernel.c, keeps_value(). */
static bool keeps_value(const struct cost_thread *t)
{
    uint32_t last = t->at.step + t->chain[t->at.step] - 1;
    while (last > t->at.step && cost_step_at(t, last)->op == SCHEDULE_SEND)
        last--;
    return schedule_step_writes(cost_step_at(t, last));
}

/* The third: it is sent, and stored with the last link. False: the queue is full. */
static bool give_tile(struct cost *c, struct cost_thread *t, uint32_t number, uint64_t bytes)
{
    const struct schedule_step *const step = cost_step_at(t, t->at.step + t->link);
    const enum schedule_op op = (enum schedule_op)step->op;
    if (schedule_op_sends(op)) {
        struct cost_queue *const q = &c->queue[t->send_queue[t->at.step + t->link]];
        const uint32_t slot = q->sent % c->slots;
        if (q->sent - q->received == c->slots) {
            q->sender = number;
            return false;
        }
        t->now_ps += c->times.queue_ps + cost_slot_send_ps(c->call, t->own, bytes);
        if (q->sent >= c->slots)
            t->now_ps = later(t->now_ps, q->free_ps[slot]);
        const bool empty = step->src.none && step->dst.none;
        const uint64_t wire = empty ? 0 : lp_bytes_on_way(&c->call->ccl->queues, (uint32_t)bytes);
        int64_t begins = take_engine(c, t, step->src.none ? 0 : wire);
        if (op == SCHEDULE_SEND && !step->src.none && t->chain[t->at.step] == 1 && is_home(c, t)) {
            const int64_t read =
                take_memory(c, memory_of(c, t, c->read), begins + t->load_ps / 2, bytes);
            begins = read - cost_memory_ps(&c->times, bytes) + t->load_ps / 2;
            keep_inward(t, t->now_ps, read + t->load_ps / 2);
        }
        set_out(c, t, q, step, begins, wire, bytes);
        c->events +=
            cost_send_events(c->call, q->route.hops, bytes) + (op == SCHEDULE_SEND); /* from HBM */
    }
    if (t->link + 1 == t->chain[t->at.step]) {
        if (keeps_value(t))
            begin_store(c, t, bytes);
        t->used += step_loads(c, t, t->at.step);
    }
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The steps that a step waits for have ended, and their threads have said so. False: one has not.
 */
static bool has_waited(struct cost *c, struct cost_thread *t, uint32_t number)
{
    const struct schedule_step *const step = cost_step_at(t, t->at.step);
    for (uint32_t i = 0; i < step->wait_count; i++) {
        const struct schedule_wait wait = t->rank->wait[step->wait_first + i];
        struct cost_thread *const other = &c->thread[c->first[t->team] + wait.thread];
        const bool over =
            other->piece > t->piece || (other->piece == t->piece && other->at.step > wait.step);
        if (!over) {
            t->next_waiter = other->waiter;
            other->waiter = number; /* it asks again */
            return false;
        }
        t->now_ps = later(t->now_ps, other->step_ended_ps[wait.step] + c->times.notice_ps);
    }
    c->events += NOTICE_EVENTS * step->wait_count;
    return true;
}

static void end_step(struct cost *c, struct cost_thread *t)
{
    const uint32_t chain = t->chain[t->at.step];
    if (cost_step_at(t, t->at.step + chain - 1)->awaited)
        finish(c, t, t->begun);
    for (uint32_t i = 0; i < chain; i++, t->at.step++) {
        const struct schedule_step *const step = cost_step_at(t, t->at.step);
        for (uint32_t k = 0; k < step->count && schedule_step_writes(step); k++)
            c->written[t->team][schedule_location(c->s, t->rank_number, step->dst.buffer,
                                                  step->dst.at + k)] = t->piece + 1;
        t->step_ended_ps[t->at.step] = t->now_ps;
    }
    while (t->waiter != COST_NONE) {
        uint32_t waiter = t->waiter;
        t->waiter = c->thread[waiter].next_waiter;
        wake(c, &waiter, 0);
    }
    t->at.chunk = t->at.tile = 0;
}

static void end_piece(struct cost *c, struct cost_thread *t)
{
    finish(c, t, t->begun);
    c->ended_ps = later(c->ended_ps, t->now_ps);
    t->at.step = 0;
    t->piece++;
}

/* One third of a tile, so that all threads take links and engines in the order of time. */
static bool move_tile(struct cost *c, struct cost_thread *t, uint32_t number, uint64_t bytes)
{
    switch (t->third) {
    case TILE_LOADS:
        load_tile(c, t);
        t->third = TILE_TAKES;
        return true;
    case TILE_TAKES:
        if (!take_tile(c, t, number, bytes))
            return false;
        t->third = TILE_GIVES;
        return true;
    default:
        if (!give_tile(c, t, number, bytes))
            return false;
        t->link = t->link + 1 < t->chain[t->at.step] ? t->link + 1 : 0;
        t->third = t->link > 0 ? TILE_TAKES : TILE_LOADS;
        t->at.tile += t->link == 0;
        return true;
    }
}

/* A third of a tile, or the end of a step. False: the thread waits, and is noted there. */
static bool go_on(struct cost *c, uint32_t number)
{
    struct cost_thread *const t = &c->thread[number];
    if (t->at.step == t->thread->step_count) {
        end_piece(c, t);
        return true;
    }
    const struct schedule_step *const step = cost_step_at(t, t->at.step);
    if (t->at.chunk == 0 && t->at.tile == 0 && t->third == TILE_LOADS) {
        if (!has_waited(c, t, number))
            return false;
        if (schedule_step_reads(step) && !loads_early(c, t, t->at.step))
            finish(c, t, t->begun);
        if (t->loads == t->used)
            look_at_step(c, t, t->at.step);
    }
    if (t->at.chunk == step->count) {
        end_step(c, t);
        return true;
    }
    const uint64_t bytes = bytes_at(c, t, &t->at);
    if (bytes == 0) {
        t->at.chunk++;
        t->at.tile = 0;
        return true;
    }
    return move_tile(c, t, number, bytes);
}

/* The least time of the whole, now that the first pieces have come this far. Each later piece is
 * assumed to take half the mean time of the first ones. */
static int64_t least_ps(const struct cost *c, int64_t now_ps)
{
    const uint64_t left = c->all_pieces - c->pieces, halves = 2 * (uint64_t)c->pieces;
    return (unsigned __int128)now_ps * left / halves > INT64_MAX / 2
               ? INT64_MAX
               : now_ps + (int64_t)((unsigned __int128)now_ps * left / halves);
}

void cost_walk(struct cost *c)
{
    for (uint32_t i = 0; i < c->threads; i++)
        cost_turns_push(&c->turns, turn_of(c, i));
    while (c->turns.count > 0 && !c->too_long) {
        const struct cost_turn turn = cost_turns_pop(&c->turns);
        const uint32_t number = turn.number;
        c->too_long = c->limit_ps > 0 && least_ps(c, turn.ps) > c->limit_ps;
        if (number >= c->threads) {
            move_message(c, number - c->threads);
            continue;
        }
        bool goes_on = c->thread[number].piece < c->pieces;
        do /* as long as it is the earliest */
            goes_on = goes_on && go_on(c, number) && c->thread[number].piece < c->pieces;
        while (goes_on &&
               (c->turns.count == 0 || cost_turn_before(turn_of(c, number), c->turns.at[0])));
        if (goes_on)
            cost_turns_push(&c->turns, turn_of(c, number));
    }
}
