/*
 * schedule_cost.c: an estimate of the time that a schedule takes (schedule_cost.h). It carries out
 * the first pieces, tile by tile, in the order of time. Each thread does what schedule_kernel does.
 * Threads meet in queues of so many slots, and where they share an engine of PE_DMA, the HBM of the
 * home, or a link between SIPs. All other parts of the machine are idle when they are needed.
 *
 * Like ranks. Where all ranks have the same steps, but for their peers, and the ways to these take
 * equally long, only rank 0 is carried out. Members of a rank may differ: then those of rank 0 are
 * carried out, each for all members of its number.
 * A message that one of them receives from another SIP comes when the message that corresponds to
 * it, sent by one of them, would arrive at its peer. A link between SIPs is then that of an outlet
 * of any SIP; a message keeps it busy as often as the messages of all ranks together cross the
 * busiest link of that outlet.
 *
 * Pieces after the first few take as long as these in the mean, but for the first half of them.
 */
#include "collectives/schedule/schedule_cost.h"

#include <Judy.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/cost_times.h"
#include "collectives/schedule/schedule_values.h"
#include "hw/timing.h"

enum { PIECES_MAX = 6, MOVES = 2, NONE = UINT32_MAX, MANY = UINT32_MAX - 1 };
enum { NEVER = -1 };

/* A queue between two threads. */
struct cost_queue {
    struct cost_route route;
    uint32_t *busy; /* of like ranks: [crossing] messages that cross that outlet's busiest link */
    int64_t *arrives_ps; /* [slots] of a message that is in the queue */
    int64_t *free_ps;    /* [slots] when the sender knows that the slot is free again */
    uint32_t sent, received;
    uint32_t sender, receiver; /* threads that wait; NONE */
};

/* One way of a home's HBM. */
struct cost_memory {
    int64_t free_ps;
};

/* A thread on its way. */
struct cost_thread {
    const struct schedule_rank *rank;
    const struct schedule_thread *thread;
    uint32_t number, rank_number;
    struct hw_place own, home;
    int64_t now_ps;
    int64_t engine_ps;         /* its PE_DMA is free */
    int64_t load_ps, store_ps; /* latencies */
    int64_t moved_ps[MOVES];   /* loads and stores under way: when they end */
    uint32_t moves;            /* begun */
    int64_t loaded_ps;         /* the value of the tile under way */
    int64_t ahead_ps;          /* that of the next one, if its load has begun; -1: it has not */
    uint32_t piece, step, chunk, tile;
    uint32_t link; /* of the steps that are carried out as one (chain): the one under way */
    enum { TILE_LOADS, TILE_TAKES, TILE_GIVES } third;          /* of the tile under way */
    uint32_t *send_queue, *recv_queue;                          /* [step] */
    enum cost_early { EARLY_NO, EARLY_YES, EARLY_ASK } * early; /* [step] */
    uint8_t *chain;               /* [step]: so many, from this one on, are carried out as one */
    int64_t *step_ended_ps;       /* [step], in this piece */
    uint32_t waiter, next_waiter; /* threads that wait for this one, as a list; NONE: the end */
};

/* A thread that can go on, and when. */
struct cost_turn {
    int64_t ps;
    uint32_t thread;
};

struct cost {
    const struct schedule *s;
    const struct ccl_call *call;
    struct cost_times times;
    uint32_t slots, tile_bytes, piece_tiles, pieces;
    uint64_t block_elems, chunk_elems;
    uint32_t blocks, chunks; /* of the input */
    uint32_t share;          /* lanes, or schedules beside each other, that share each link */
    bool lanes, alike;
    bool mixed;                 /* like ranks' messages take different times on their ways */
    struct cost_thread *thread; /* [threads] */
    uint32_t *first;            /* [rank] */
    uint32_t threads;
    struct cost_queue *queue;
    uint32_t queues, queue_room;
    Pvoid_t by_ends;       /* JudyL: (from, to, channel) -> queue + 1 */
    int64_t *link_free_ps; /* [crossing] */
    uint32_t **written;    /* [rank][place]: the last piece, + 1, in which it was written */
    struct cost_memory *read, *write; /* [rank, or thread in lanes] the home's HBM */
    struct cost_turn *heap;           /* threads that can go on, the earliest first */
    uint32_t heaped;
    int64_t ended_ps; /* the last thread */
    uint64_t all_pieces;
    int64_t limit_ps; /* longer times are not told */
    bool too_long, failed;
};

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- the threads that can go on -------------------------------------------------------------- */

static bool is_before(struct cost_turn a, struct cost_turn b)
{
    return a.ps != b.ps ? a.ps < b.ps : a.thread < b.thread;
}

static struct cost_turn turn_of(const struct cost *c, uint32_t thread)
{
    return (struct cost_turn){c->thread[thread].now_ps, thread};
}

static void push_thread(struct cost *c, uint32_t thread)
{
    const struct cost_turn turn = turn_of(c, thread);
    uint32_t at = c->heaped++;
    for (; at > 0 && is_before(turn, c->heap[(at - 1) / 2]); at = (at - 1) / 2)
        c->heap[at] = c->heap[(at - 1) / 2];
    c->heap[at] = turn;
}

static uint32_t pop_thread(struct cost *c)
{
    const struct cost_turn top = c->heap[0], last = c->heap[--c->heaped];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < c->heaped; at = child) {
        if (child + 1 < c->heaped && is_before(c->heap[child + 1], c->heap[child]))
            child++;
        if (!is_before(c->heap[child], last))
            break;
        c->heap[at] = c->heap[child];
    }
    c->heap[at] = last;
    return top.thread;
}

/* The thread that is noted there, if there is one, goes on from `ps` at the earliest. */
static void wake(struct cost *c, uint32_t *waiter, int64_t ps)
{
    if (*waiter == NONE)
        return;
    c->thread[*waiter].now_ps = later(c->thread[*waiter].now_ps, ps);
    push_thread(c, *waiter);
    *waiter = NONE;
}

/* ---- operations ------------------------------------------------------------------------------ */

static const struct schedule_step *step_at(const struct cost_thread *t, uint32_t step)
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

/* Elements of `count` chunks of a step. The chunks of scratch count as whole ones; like ranks'
 * chunks, too, since another rank's may be the short ones. */
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

/* Bytes of the tile that a thread is at; 0: the chunk has no such tile in this piece. */
static uint64_t tile_bytes(const struct cost *c, const struct cost_thread *t)
{
    const struct schedule_step *const step = step_at(t, t->step);
    const bool together = goes_together(c, step);
    if (together ? t->chunk > 0 : t->tile >= c->piece_tiles)
        return 0;
    const uint64_t bytes =
        chunk_elems(c, step, t->chunk, together ? step->count : 1) * c->times.itemsize;
    const uint64_t before = ((uint64_t)t->piece * c->piece_tiles + t->tile) * c->tile_bytes;
    if (before >= bytes)
        return 0;
    return bytes - before < c->tile_bytes ? bytes - before : c->tile_bytes;
}

static struct cost_memory *memory_of(const struct cost *c, const struct cost_thread *t,
                                     struct cost_memory *memory)
{
    return &memory[c->lanes ? (uint32_t)(t - c->thread) : t->rank_number];
}

/* A load or a store takes one of two handles: the one before the last has ended. */
static void take_handle(struct cost *c, struct cost_thread *t, int64_t ends_ps)
{
    t->moved_ps[t->moves++ % MOVES] = ends_ps;
    (void)c;
}

static void wait_for_handle(const struct cost *c, struct cost_thread *t)
{
    t->now_ps += c->times.issue_ps;
    if (t->moves >= MOVES && t->moved_ps[t->moves % MOVES] > t->now_ps)
        t->now_ps = t->moved_ps[t->moves % MOVES] + c->times.wait_ps;
}

static int64_t take_engine(const struct cost *c, struct cost_thread *t, uint64_t bytes)
{
    const int64_t begins = later(t->now_ps, t->engine_ps);
    t->engine_ps = begins + cost_engine_ps(&c->times, bytes);
    return begins;
}

/* HBM's link is busy for so many bytes, from `ps` on at the earliest; returns when it is done. */
static int64_t take_memory(const struct cost *c, struct cost_memory *memory, int64_t ps,
                           uint64_t bytes)
{
    const int64_t takes_ps = cost_memory_ps(&c->times, bytes);
    memory->free_ps = later(memory->free_ps, ps) + takes_ps;
    return memory->free_ps;
}

static int64_t begin_load(struct cost *c, struct cost_thread *t, uint64_t bytes)
{
    wait_for_handle(c, t);
    const int64_t begins = take_engine(c, t, bytes);
    const int64_t read = take_memory(c, memory_of(c, t, c->read), begins + t->load_ps / 2, bytes);
    const int64_t ends = read + t->load_ps - t->load_ps / 2;
    take_handle(c, t, ends);
    return ends;
}

static void begin_store(struct cost *c, struct cost_thread *t, uint64_t bytes)
{
    wait_for_handle(c, t);
    const int64_t begins = take_engine(c, t, bytes);
    const int64_t written =
        take_memory(c, memory_of(c, t, c->write), begins + t->store_ps / 2, bytes);
    take_handle(c, t, written + t->store_ps - t->store_ps / 2);
}

/* All loads and stores have ended. */
static void settle(const struct cost *c, struct cost_thread *t)
{
    for (uint32_t i = 0; i < MOVES; i++)
        if (t->moved_ps[i] > t->now_ps)
            t->now_ps = t->moved_ps[i] + c->times.wait_ps;
}

/* When a message of so many bytes arrives whose first byte enters PE_DMA's engine at `begins`. */
static int64_t travel(struct cost *c, struct cost_queue *q, int64_t begins, uint64_t bytes)
{
    int64_t paid = hw_rate_ps(q->route.inside, bytes), tail = begins + paid;
    const uint32_t of_sip = cost_crossings_of_sip(c->call->hw);
    for (uint32_t i = 0; i < q->route.count; i++) {
        const uint32_t link = c->alike ? q->route.crossing[i] % of_sip : q->route.crossing[i];
        const int64_t ser = hw_rate_ps(q->route.rate[i], bytes);
        const int64_t busy = ser * c->share * (c->alike ? q->busy[i] : 1);
        if (ser > paid) {
            tail += ser - paid;
            paid = ser;
        }
        if (busy == 0) /* counted at another crossing */
            continue;
        /* It takes its turn at all links when it sets out, however long it waits for one of them:
         * others use the time that a link would be kept for it. */
        c->link_free_ps[link] = later(c->link_free_ps[link], begins + paid - ser) + busy;
        tail = later(tail, c->link_free_ps[link]);
    }
    return tail + q->route.latency_ps;
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
    const enum schedule_op op = (enum schedule_op)step_at(t, step)->op;
    return schedule_op_reads(op) && (op != SCHEDULE_SEND || t->chain[step] > 1 || !is_home(c, t));
}

/* A step's sources may be loaded while the step before it is under way: asked then. */
static bool loads_early(const struct cost *c, const struct cost_thread *t, uint32_t number)
{
    const struct schedule_step *const step = step_at(t, number);
    const uint32_t *const written = c->written[t->rank_number];
    if (t->early[number] != EARLY_ASK)
        return t->early[number] == EARLY_YES;
    for (uint32_t k = 0; k < step->count; k++)
        if (written[schedule_location(c->s, t->rank_number, step->src.buffer, step->src.at + k)] >
            t->piece)
            return false;
    return true;
}

/* The tile after this one may be loaded ahead: of this step, or the first of the next one. */
static uint64_t next_bytes(const struct cost *c, const struct cost_thread *t)
{
    struct cost_thread next = *t;
    next.tile++;
    if (tile_bytes(c, &next) == 0) {
        next.tile = 0;
        next.chunk++;
    }
    if (next.chunk == step_at(t, t->step)->count || goes_together(c, step_at(t, t->step))) {
        if (next.chunk == 0)
            return tile_bytes(c, &next);
        next.chunk = next.tile = 0;
        next.step += t->chain[t->step];
        if (next.step == t->thread->step_count || !loads_early(c, t, next.step) ||
            !step_loads(c, t, next.step))
            return 0;
    }
    return tile_bytes(c, &next);
}

/* The first third of a tile: the loads of its value, and of the one after it, have begun. */
static void load_tile(struct cost *c, struct cost_thread *t, uint64_t bytes)
{
    if (!step_loads(c, t, t->step))
        return;
    t->loaded_ps = t->ahead_ps >= 0 ? t->ahead_ps : begin_load(c, t, bytes);
    t->ahead_ps = -1;
    const uint64_t ahead = next_bytes(c, t);
    if (ahead > 0)
        t->ahead_ps = begin_load(c, t, ahead);
}

/* The second: the message has come, and is added. False: it has not come. */
static bool take_tile(struct cost *c, struct cost_thread *t, uint32_t number, uint64_t bytes)
{
    const enum schedule_op op = (enum schedule_op)step_at(t, t->step + t->link)->op;
    if (schedule_op_receives(op)) {
        struct cost_queue *const q = &c->queue[t->recv_queue[t->step + t->link]];
        if (q->sent == q->received) {
            q->receiver = number;
            return false;
        }
        const uint32_t slot = q->received++ % c->slots;
        const int64_t here = later(t->now_ps + c->times.queue_ps, q->arrives_ps[slot]);
        q->free_ps[slot] = here + q->route.credit_ps;
        t->now_ps = here + (c->call->ccl->recv_blocks_on_credit ? q->route.credit_ps : 0);
        wake(c, &q->sender, q->free_ps[slot] - c->times.queue_ps);
    }
    if (t->link == 0 && step_loads(c, t, t->step))
        t->now_ps = later(t->now_ps, t->loaded_ps) + c->times.wait_ps;
    if (op == SCHEDULE_REDUCE)
        t->now_ps = begin_load(c, t, bytes) + c->times.wait_ps;
    if (op_adds(op))
        t->now_ps += cost_add_time_ps(&c->times, bytes);
    return true;
}

/* The value is kept: schedule_kernel.c, keeps_value(). */
static bool keeps_value(const struct cost_thread *t)
{
    uint32_t last = t->step + t->chain[t->step] - 1;
    while (last > t->step && step_at(t, last)->op == SCHEDULE_SEND)
        last--;
    return schedule_op_writes((enum schedule_op)step_at(t, last)->op);
}

/* The third: it is sent, and stored with the last link. False: the queue is full. */
static bool give_tile(struct cost *c, struct cost_thread *t, uint32_t number, uint64_t bytes)
{
    const enum schedule_op op = (enum schedule_op)step_at(t, t->step + t->link)->op;
    if (schedule_op_sends(op)) {
        struct cost_queue *const q = &c->queue[t->send_queue[t->step + t->link]];
        const uint32_t slot = q->sent % c->slots;
        if (q->sent - q->received == c->slots) {
            q->sender = number;
            return false;
        }
        t->now_ps += c->times.queue_ps;
        if (q->sent >= c->slots)
            t->now_ps = later(t->now_ps, q->free_ps[slot]);
        int64_t begins = take_engine(c, t, bytes);
        if (op == SCHEDULE_SEND && t->chain[t->step] == 1 && is_home(c, t))
            begins = take_memory(c, memory_of(c, t, c->read), begins + t->load_ps / 2, bytes) -
                     cost_memory_ps(&c->times, bytes) + t->load_ps / 2;
        q->arrives_ps[slot] = travel(c, q, begins, bytes);
        q->sent++;
        wake(c, &q->receiver, q->arrives_ps[slot] - c->times.queue_ps);
    }
    if (t->link + 1 == t->chain[t->step] && keeps_value(t))
        begin_store(c, t, bytes);
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The steps that a step waits for have ended, and their threads have said so. False: one has not.
 */
static bool has_waited(struct cost *c, struct cost_thread *t, uint32_t number)
{
    const struct schedule_step *const step = step_at(t, t->step);
    for (uint32_t i = 0; i < step->wait_count; i++) {
        const struct schedule_wait wait = t->rank->wait[step->wait_first + i];
        struct cost_thread *const other = &c->thread[c->first[t->rank_number] + wait.thread];
        const bool over =
            other->piece > t->piece || (other->piece == t->piece && other->step > wait.step);
        if (!over) {
            t->next_waiter = other->waiter;
            other->waiter = number; /* it asks again */
            return false;
        }
        t->now_ps = later(t->now_ps, other->step_ended_ps[wait.step] + c->times.notice_ps);
    }
    return true;
}

static void end_step(struct cost *c, struct cost_thread *t)
{
    const uint32_t chain = t->chain[t->step];
    if (step_at(t, t->step + chain - 1)->awaited)
        settle(c, t);
    for (uint32_t i = 0; i < chain; i++, t->step++) {
        const struct schedule_step *const step = step_at(t, t->step);
        for (uint32_t k = 0; k < step->count && schedule_op_writes((enum schedule_op)step->op); k++)
            c->written[t->rank_number][schedule_location(c->s, t->rank_number, step->dst.buffer,
                                                         step->dst.at + k)] = t->piece + 1;
        t->step_ended_ps[t->step] = t->now_ps;
    }
    while (t->waiter != NONE) {
        uint32_t waiter = t->waiter;
        t->waiter = c->thread[waiter].next_waiter;
        wake(c, &waiter, 0);
    }
    t->chunk = t->tile = 0;
}

static void end_piece(struct cost *c, struct cost_thread *t)
{
    settle(c, t);
    c->ended_ps = later(c->ended_ps, t->now_ps);
    t->step = 0;
    t->piece++;
}

/* One third of a tile, so that all threads take links and engines in the order of time. */
static bool move_tile(struct cost *c, struct cost_thread *t, uint32_t number, uint64_t bytes)
{
    switch (t->third) {
    case TILE_LOADS:
        load_tile(c, t, bytes);
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
        t->link = t->link + 1 < t->chain[t->step] ? t->link + 1 : 0;
        t->third = t->link > 0 ? TILE_TAKES : TILE_LOADS;
        t->tile += t->link == 0;
        return true;
    }
}

/* A third of a tile, or the end of a step. False: the thread waits, and is noted there. */
static bool go_on(struct cost *c, uint32_t number)
{
    struct cost_thread *const t = &c->thread[number];
    if (t->step == t->thread->step_count) {
        end_piece(c, t);
        return true;
    }
    const struct schedule_step *const step = step_at(t, t->step);
    if (t->chunk == 0 && t->tile == 0 && t->third == TILE_LOADS) {
        if (!has_waited(c, t, number))
            return false;
        if (schedule_op_reads((enum schedule_op)step->op) && !loads_early(c, t, t->step))
            settle(c, t);
    }
    if (t->chunk == step->count) {
        end_step(c, t);
        return true;
    }
    const uint64_t bytes = tile_bytes(c, t);
    if (bytes == 0) {
        t->chunk++;
        t->tile = 0;
        return true;
    }
    return move_tile(c, t, number, bytes);
}

/* The least that the whole can take when the first pieces have come so far. A later piece is taken
 * to last half as long as the first ones in the mean. */
static int64_t least_ps(const struct cost *c, int64_t now_ps)
{
    const uint64_t left = c->all_pieces - c->pieces, halves = 2 * (uint64_t)c->pieces;
    return (unsigned __int128)now_ps * left / halves > INT64_MAX / 2
               ? INT64_MAX
               : now_ps + (int64_t)((unsigned __int128)now_ps * left / halves);
}

static void carry_out(struct cost *c)
{
    for (uint32_t i = 0; i < c->threads; i++)
        push_thread(c, i);
    while (c->heaped > 0 && !c->too_long) {
        const uint32_t number = pop_thread(c);
        bool goes_on = c->thread[number].piece < c->pieces;
        c->too_long = c->limit_ps > 0 && least_ps(c, c->thread[number].now_ps) > c->limit_ps;
        do /* as long as it is the earliest */
            goes_on = goes_on && go_on(c, number) && c->thread[number].piece < c->pieces;
        while (goes_on && (c->heaped == 0 || is_before(turn_of(c, number), c->heap[0])));
        if (goes_on)
            push_thread(c, number);
    }
}

/* ---- preparations ---------------------------------------------------------------------------- */

/* Both messages stay among the members of a rank and go between members of the same numbers, or
 * both do not. */
static bool like_peers(uint32_t members, uint32_t own_a, uint32_t a, uint32_t own_b, uint32_t b)
{
    const bool stays_a = a / members == own_a / members, stays_b = b / members == own_b / members;
    return stays_a == stays_b && (!stays_a || a % members == b % members);
}

/* The steps of rank number_a, but for their peers, are those of rank number_b, too. */
static bool is_alike(const struct schedule *s, uint32_t number_a, uint32_t number_b)
{
    const struct schedule_rank *const a = &s->rank[number_a], *const b = &s->rank[number_b];
    if (a->thread_count != b->thread_count || a->step_count != b->step_count ||
        a->wait_count != b->wait_count)
        return false;
    for (uint32_t i = 0; i < a->thread_count; i++)
        if (a->thread[i].step_first != b->thread[i].step_first)
            return false;
    for (uint32_t i = 0; i < a->step_count; i++) {
        const struct schedule_step *const x = &a->step[i], *const y = &b->step[i];
        if (x->op != y->op || x->channel != y->channel || x->count != y->count ||
            x->wait_count != y->wait_count)
            return false;
        const enum schedule_op op = (enum schedule_op)x->op;
        if (s->members > 1 &&
            ((schedule_op_sends(op) &&
              !like_peers(s->members, number_a, x->send_to, number_b, y->send_to)) ||
             (schedule_op_receives(op) &&
              !like_peers(s->members, number_a, x->recv_from, number_b, y->recv_from))))
            return false;
    }
    return true;
}

static bool are_alike(const struct cost *c)
{
    const struct schedule *const s = c->s;
    if (c->chunk_elems * (c->chunks - 1) >= c->block_elems && s->members == 1) /* empty chunks */
        return false;
    for (uint32_t r = s->members; r < s->rank_count; r++)
        if (!is_alike(s, r % s->members, r))
            return false;
    return true;
}

static uint32_t ranks_of(const struct cost *c)
{
    return c->alike ? c->s->members : c->s->rank_count;
}

/* The PE that carries out a thread; in lanes, one in the middle of those that do its part's. */
static struct hw_place place_of(const struct cost *c, uint32_t rank, uint32_t thread)
{
    const uint32_t pes = hw_pes(c->call->hw), cubes = hw_cubes(c->call->hw);
    const uint32_t lanes = c->share * c->s->parts, each = lanes <= cubes ? pes : 1;
    const uint32_t members = c->s->members;
    uint32_t pe = rank % members * (cubes * pes / members) + thread;
    if (c->lanes) {
        pe = c->share / 2 * c->s->parts + thread;
        pe = pe * each < pes * cubes ? pe * each : 0;
    }
    return (struct hw_place){
        .sip = ccl_sip_of(&c->call->ccl->ranks, rank / members), .cube = pe / pes, .pe = pe % pes};
}

/* The thread of a rank and its first step that sends to a rank on a channel. */
struct sending {
    uint32_t thread, step;
};
static struct sending find_sending(const struct schedule_rank *rank, uint32_t to, uint32_t channel)
{
    for (uint32_t t = 0; t < rank->thread_count; t++)
        for (uint32_t i = 0; i < rank->thread[t].step_count; i++) {
            const struct schedule_step *const step = &rank->step[rank->thread[t].step_first + i];
            if (schedule_op_sends((enum schedule_op)step->op) && step->send_to == to &&
                step->channel == channel)
                return (struct sending){t, i};
        }
    return (struct sending){NONE, NONE};
}

/* The thread of a rank that receives from a rank on a channel. */
static uint32_t find_receiving(const struct schedule_rank *rank, uint32_t from, uint32_t channel)
{
    for (uint32_t t = 0; t < rank->thread_count; t++)
        for (uint32_t i = 0; i < rank->thread[t].step_count; i++) {
            const struct schedule_step *const step = &rank->step[rank->thread[t].step_first + i];
            if (schedule_op_receives((enum schedule_op)step->op) && step->recv_from == from &&
                step->channel == channel)
                return t;
        }
    return 0;
}

static void route_between(const struct cost *c, uint32_t from, uint32_t to, struct sending sending,
                          uint32_t channel, struct cost_route *route)
{
    const uint32_t receiver =
        c->s->rank[to].thread_count > 1 ? find_receiving(&c->s->rank[to], from, channel) : 0;
    cost_route_of(c->call, place_of(c, from, sending.thread), place_of(c, to, receiver),
                  c->s->rank[from].thread[sending.thread].other_way, route);
}

/* A step is the first of its thread that sends to its peer on its channel. Such steps come in the
 * same order on all ranks of a sketch. */
static bool is_first_sending(const struct schedule_step *step, uint32_t i)
{
    if (!schedule_op_sends((enum schedule_op)step[i].op))
        return false;
    for (uint32_t k = 0; k < i; k++)
        if (schedule_op_sends((enum schedule_op)step[k].op) && step[k].send_to == step[i].send_to &&
            step[k].channel == step[i].channel)
            return false;
    return true;
}

/* First sendings of a thread before one. */
static uint32_t ordinal_of(const struct schedule_rank *rank, struct sending sending)
{
    const struct schedule_step *const step = &rank->step[rank->thread[sending.thread].step_first];
    uint32_t number = 0;
    for (uint32_t i = 0; i < sending.step; i++)
        number += is_first_sending(step, i);
    return number;
}

/* The first sending of another rank that corresponds to one: of a sketch with its number, else at
 * its place. */
static const struct schedule_step *corresponding(const struct cost *c, struct sending sending,
                                                 uint32_t number, uint32_t r)
{
    const struct schedule_rank *const rank = &c->s->rank[r];
    const struct schedule_thread *const thread = &rank->thread[sending.thread];
    const struct schedule_step *const step = &rank->step[thread->step_first];
    if (!c->s->sketch)
        return &step[sending.step];
    uint32_t at = 0;
    for (uint32_t i = 0; i < thread->step_count; i++)
        if (is_first_sending(step, i)) {
            at = i;
            if (number-- == 0)
                break;
        }
    return &step[at];
}

/* Of ranks that are like rank `from`: all send at this step. Counts their messages on the links of
 * each outlet, and takes the mean latency. `count` has a number for each crossing of the machine.
 */
static bool load_of_all(struct cost *c, struct cost_queue *q, uint32_t from, struct sending sending)
{
    const uint32_t of_sip = cost_crossings_of_sip(c->call->hw), ranks = c->s->rank_count;
    uint32_t *const count = calloc((size_t)c->call->hw->sip_count * of_sip, sizeof *count);
    uint32_t *const most = calloc(of_sip, sizeof *most);
    q->busy = calloc(COST_CROSSINGS_MAX, sizeof *q->busy);
    const uint32_t members = c->s->members;
    const uint32_t number = c->s->sketch ? ordinal_of(&c->s->rank[0], sending) : 0;
    int64_t latency_ps = 0, credit_ps = 0;
    for (uint32_t r = from % members; r < ranks && count != NULL && most != NULL && q->busy != NULL;
         r += members) {
        const struct schedule_step *const step = corresponding(c, sending, number, r);
        struct cost_route route;
        route_between(c, r, step->send_to, sending, step->channel, &route);
        c->mixed |= route.latency_ps != q->route.latency_ps && !c->s->sketch;
        latency_ps += route.latency_ps;
        credit_ps += route.credit_ps;
        for (uint32_t i = 0; i < route.count; i++) {
            const uint32_t outlet = route.crossing[i] % of_sip;
            const uint32_t here = ++count[route.crossing[i]];
            most[outlet] = here > most[outlet] ? here : most[outlet];
        }
    }
    for (uint32_t i = 0; i < q->route.count && most != NULL && q->busy != NULL; i++) {
        q->busy[i] = most[q->route.crossing[i] % of_sip];
        most[q->route.crossing[i] % of_sip] = 0;
    }
    if (!c->s->near) {
        q->route.latency_ps = latency_ps / (ranks / members);
        q->route.credit_ps = credit_ps / (ranks / members);
    }
    const bool made = count != NULL && most != NULL && q->busy != NULL;
    free(count);
    free(most);
    return made;
}

/* The queue of a sending; made at its first use. */
static uint32_t queue_of_sending(struct cost *c, uint32_t from, uint32_t to, uint32_t channel)
{
    const Word_t key = ((Word_t)from * c->s->rank_count + to) * 256 + channel;
    void **const at = JudyLIns(&c->by_ends, key, PJE0);
    if (at == NULL || at == PPJERR) {
        c->failed = true;
        return 0;
    }
    if (*at != NULL)
        return (uint32_t)(uintptr_t)*at - 1;
    if (c->queues == c->queue_room) {
        const uint32_t room = c->queue_room == 0 ? 64 : 2 * c->queue_room;
        struct cost_queue *const more = realloc(c->queue, room * sizeof *more);
        if (more == NULL) {
            c->failed = true;
            return 0;
        }
        c->queue = more;
        c->queue_room = room;
    }
    struct cost_queue *const q = &c->queue[c->queues];
    *q = (struct cost_queue){.sender = NONE, .receiver = NONE};
    q->arrives_ps = calloc(c->slots, sizeof *q->arrives_ps);
    q->free_ps = calloc(c->slots, sizeof *q->free_ps);
    *at = (void *)(uintptr_t)++c->queues;
    const struct sending sending = find_sending(&c->s->rank[from], to, channel);
    route_between(c, from, to, sending, channel, &q->route);
    c->failed |= q->arrives_ps == NULL || q->free_ps == NULL ||
                 (c->alike && !load_of_all(c, q, from, sending));
    return c->queues - 1;
}

/* Of like ranks: the queue of the messages that correspond to those that the rank receives, and
 * that come from a rank which is carried out. */
static uint32_t queue_of_receiving(struct cost *c, uint32_t rank, const struct schedule_step *step)
{
    if (!c->alike)
        return queue_of_sending(c, step->recv_from, rank, step->channel);
    const struct sending theirs = find_sending(&c->s->rank[step->recv_from], rank, step->channel);
    const uint32_t like = step->recv_from % c->s->members;
    const uint32_t number = c->s->sketch ? ordinal_of(&c->s->rank[step->recv_from], theirs) : 0;
    const struct schedule_step *const sends = corresponding(c, theirs, number, like);
    return queue_of_sending(c, like, sends->send_to, sends->channel);
}

/* ---- early loads: schedule_lay.c, without the order of all steps ---- */

/* Of a rank's chunks: the first step that writes one, and its thread; or that several threads do.
 */
struct first_writer {
    uint32_t thread, step; /* NONE: no step */
};

static struct first_writer *writer_at(const struct cost *c, uint32_t rank,
                                      struct first_writer *const writer[SCHEDULE_BUFFERS],
                                      struct schedule_chunks at, uint32_t chunk)
{
    const bool same =
        c->s->in_place && c->s->collective == CCL_ALL_REDUCE && at.buffer == SCHEDULE_OUTPUT;
    (void)rank;
    return &writer[same ? SCHEDULE_INPUT : at.buffer][at.at + chunk];
}

static void note_writers(const struct cost *c, const struct cost_thread *t,
                         struct first_writer *const writer[SCHEDULE_BUFFERS])
{
    for (uint32_t i = 0; i < t->thread->step_count; i++) {
        const struct schedule_step *const step = step_at(t, i);
        for (uint32_t k = 0; k < step->count && schedule_op_writes((enum schedule_op)step->op);
             k++) {
            struct first_writer *const w = writer_at(c, t->rank_number, writer, step->dst, k);
            if (w->thread == NONE)
                *w = (struct first_writer){t->number, i};
            else if (w->thread != t->number)
                w->thread = MANY;
        }
    }
}

/* What other threads write may be written later than it is read, as in an all-gather behind a
 * reduce-scatter; so it is asked when the estimate comes to it. */
static enum cost_early may_be_early(const struct cost *c, const struct cost_thread *t,
                                    uint32_t number,
                                    struct first_writer *const writer[SCHEDULE_BUFFERS])
{
    const struct schedule_step *const step = step_at(t, number);
    if (!schedule_op_reads((enum schedule_op)step->op) || step->op == SCHEDULE_REDUCE ||
        step->wait_count > 0)
        return EARLY_NO;
    enum cost_early early = EARLY_YES;
    for (uint32_t k = 0; k < step->count; k++) {
        const struct first_writer *const w = writer_at(c, t->rank_number, writer, step->src, k);
        if (w->thread == NONE)
            continue;
        if (w->thread == t->number && w->step < number)
            return EARLY_NO;
        if (w->thread != t->number && c->s->file != NULL)
            return EARLY_NO;
        early = w->thread != t->number ? EARLY_ASK : early;
    }
    return early;
}

static bool find_early(const struct cost *c, uint32_t rank)
{
    struct first_writer *writer[SCHEDULE_BUFFERS] = {NULL};
    const struct schedule_rank *const r = &c->s->rank[rank];
    bool made = true;
    for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++) {
        writer[b] = malloc((r->chunks[b] + 1) * sizeof *writer[b]);
        made &= writer[b] != NULL;
        if (writer[b] != NULL) /* NONE is all ones */
            memset(writer[b], 0xff, (r->chunks[b] + 1) * sizeof *writer[b]);
    }
    const uint32_t first = c->first[rank];
    for (uint32_t t = 0; made && t < r->thread_count; t++)
        note_writers(c, &c->thread[first + t], writer);
    for (uint32_t t = 0; made && t < r->thread_count; t++)
        for (uint32_t i = 0; i < r->thread[t].step_count; i++)
            c->thread[first + t].early[i] = may_be_early(c, &c->thread[first + t], i, writer);
    for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++)
        free(writer[b]);
    return made;
}

/* io_cpu launches the PEs of a SIP one after the other. */
static void stagger_starts(struct cost *c)
{
    const struct hw_config *const hw = c->call->hw;
    if (c->s->members == 1 || hw->launch_together) /* else there are few */
        return;
    for (uint32_t i = 0; i < c->threads; i++) {
        struct cost_thread *const t = &c->thread[i];
        const uint32_t first = t->rank_number / c->s->members * c->s->members;
        t->now_ps = (i - c->first[first]) * hw->overhead_ps[HW_NODE_IO_CPU];
    }
}

static bool make_thread(struct cost *c, uint32_t rank, uint32_t number)
{
    struct cost_thread *const t = &c->thread[c->first[rank] + number];
    const struct schedule_rank *const r = &c->s->rank[rank];
    *t = (struct cost_thread){.rank = r,
                              .thread = &r->thread[number],
                              .number = number,
                              .rank_number = rank,
                              .own = place_of(c, rank, number),
                              .ahead_ps = -1,
                              .waiter = NONE,
                              .next_waiter = NONE};
    t->home = c->lanes ? t->own : place_of(c, rank, 0);
    if (!c->lanes && !c->call->hw->launch_together) /* launch messages come one after the other */
        t->now_ps = number * c->call->hw->overhead_ps[HW_NODE_IO_CPU];
    t->load_ps = cost_load_latency_ps(&c->times, t->own, t->home);
    t->store_ps = cost_store_latency_ps(&c->times, t->own, t->home);
    const uint32_t steps = t->thread->step_count + 1;
    t->send_queue = calloc(steps, sizeof *t->send_queue);
    t->recv_queue = calloc(steps, sizeof *t->recv_queue);
    t->early = calloc(steps, sizeof *t->early);
    t->chain = calloc(steps, sizeof *t->chain);
    t->step_ended_ps = calloc(steps, sizeof *t->step_ended_ps);
    if (t->send_queue == NULL || t->recv_queue == NULL || t->early == NULL || t->chain == NULL ||
        t->step_ended_ps == NULL)
        return false;
    for (uint32_t i = 0; i + 1 < steps; i++)
        t->chain[i] = (uint8_t)schedule_chain(r, number, i);
    for (uint32_t i = 0; i + 1 < steps && !c->failed; i++) {
        const struct schedule_step *const step = step_at(t, i);
        const enum schedule_op op = (enum schedule_op)step->op;
        if (schedule_op_sends(op))
            t->send_queue[i] = queue_of_sending(c, rank, step->send_to, step->channel);
        if (schedule_op_receives(op))
            t->recv_queue[i] = queue_of_receiving(c, rank, step);
    }
    return !c->failed;
}

static bool make_all(struct cost *c)
{
    const uint32_t ranks = ranks_of(c);
    c->first = calloc(ranks + 1, sizeof *c->first);
    for (uint32_t r = 0; c->first != NULL && r < ranks; r++) {
        c->first[r] = c->threads;
        c->threads += c->s->rank[r].thread_count;
    }
    const size_t links = (size_t)c->call->hw->sip_count * cost_crossings_of_sip(c->call->hw);
    c->thread = calloc(c->threads + 1, sizeof *c->thread);
    c->heap = calloc(c->threads + 1, sizeof *c->heap);
    c->written = calloc(ranks + 1, sizeof *c->written);
    c->link_free_ps = calloc(links + 1, sizeof *c->link_free_ps);
    c->read = calloc(c->threads + ranks + 1, sizeof *c->read);
    c->write = calloc(c->threads + ranks + 1, sizeof *c->write);
    bool made = c->first != NULL && c->thread != NULL && c->heap != NULL && c->written != NULL &&
                c->link_free_ps != NULL && c->read != NULL && c->write != NULL;
    for (uint32_t r = 0; made && r < ranks; r++) {
        for (uint32_t t = 0; made && t < c->s->rank[r].thread_count; t++)
            made = make_thread(c, r, t);
        made = made && find_early(c, r);
        c->written[r] = calloc((size_t)schedule_locations(c->s, r) + 1, sizeof **c->written);
        made = made && c->written[r] != NULL;
    }
    return made;
}

static void free_all(struct cost *c)
{
    for (uint32_t i = 0; c->thread != NULL && i < c->threads; i++) {
        free(c->thread[i].send_queue);
        free(c->thread[i].recv_queue);
        free(c->thread[i].early);
        free(c->thread[i].chain);
        free(c->thread[i].step_ended_ps);
    }
    for (uint32_t i = 0; i < c->queues; i++) {
        free(c->queue[i].busy);
        free(c->queue[i].arrives_ps);
        free(c->queue[i].free_ps);
    }
    for (uint32_t r = 0; c->written != NULL && r < ranks_of(c); r++)
        free(c->written[r]);
    free(c->written);
    free(c->queue);
    free(c->thread);
    free(c->heap);
    free(c->first);
    free(c->link_free_ps);
    free(c->read);
    free(c->write);
    (void)JudyLFreeArray(&c->by_ends, PJE0);
}

/* A step of rank 0 sends to another rank of the process group. */
static bool leaves_rank(const struct schedule *s, const struct schedule_step *step)
{
    return schedule_op_sends((enum schedule_op)step->op) && step->send_to >= s->members;
}

/* Chunks, tiles and pieces of a call, as schedule_program.h has them. */
static void measure(struct cost *c)
{
    const struct schedule *const s = c->s;
    const struct ccl_config *const ccl = c->call->ccl;
    uint32_t most = 1;
    c->blocks = schedule_blocks(s, SCHEDULE_INPUT);
    c->chunks = s->rank[0].chunks[SCHEDULE_INPUT] / c->blocks / (c->lanes ? s->parts : 1);
    c->block_elems = c->call->n_elem / c->blocks;
    c->chunk_elems = (c->block_elems + c->chunks - 1) / c->chunks;
    c->slots = ccl->n_slots;
    c->tile_bytes = ccl_tile_bytes(ccl) / c->times.itemsize * c->times.itemsize;
    for (uint32_t i = 0; i < s->rank[0].step_count; i++) /* members' messages wait in no circle */
        if (s->members == 1 || leaves_rank(s, &s->rank[0].step[i]))
            most = s->rank[0].step[i].count > most ? s->rank[0].step[i].count : most;
    c->piece_tiles = c->slots;
    while (c->piece_tiles > 1 && c->piece_tiles * most > c->slots)
        c->piece_tiles /= 2;
}

static void count_pieces(struct cost *c)
{
    const uint64_t of_piece = (uint64_t)c->piece_tiles * c->tile_bytes;
    c->all_pieces = (c->chunk_elems * c->times.itemsize + of_piece - 1) / of_piece;
}

/* All threads have come to their ends: no ring was full for ever. */
static bool all_ended(const struct cost *c)
{
    for (uint32_t i = 0; i < c->threads; i++)
        if (c->thread[i].piece < c->pieces)
            return false;
    return true;
}

/* Carries out the first pieces: when they end, in *ps; or SCHEDULE_COST_LONG, or NEVER, where rings
 * fill up for ever. False: out of memory. */
static bool estimate_pieces(struct cost c, uint32_t pieces, bool *mixed, int64_t *ps)
{
    c.pieces = pieces;
    const bool made = make_all(&c);
    *mixed = c.mixed;
    *ps = NEVER;
    if (made && !c.mixed) {
        stagger_starts(&c);
        carry_out(&c);
        *ps = c.too_long ? SCHEDULE_COST_LONG : all_ended(&c) ? c.ended_ps : NEVER;
    }
    free_all(&c);
    return made;
}

/* The pieces after the first ones take as long as the second half of these in the mean: the time of
 * all of them, less the time of the first half alone. Threads that come to their end early make
 * room for others, in both times alike. */
static bool estimate(const struct cost *c, bool *mixed, int64_t *ps)
{
    const uint32_t pieces = c->all_pieces < PIECES_MAX ? (uint32_t)c->all_pieces : PIECES_MAX;
    int64_t fewer_ps = 0;
    if (!estimate_pieces(*c, pieces, mixed, ps))
        return false;
    if (*mixed || *ps == SCHEDULE_COST_LONG || *ps == NEVER || c->all_pieces == pieces)
        return true;
    struct cost unlimited = *c;
    unlimited.limit_ps = 0;
    if (!estimate_pieces(unlimited, pieces / 2, mixed, &fewer_ps))
        return false;
    *ps += (int64_t)(c->all_pieces - pieces) * ((*ps - fewer_ps) / (pieces - pieces / 2));
    return true;
}

int schedule_cost_ps(const struct schedule_cost_request *request, int64_t *ps,
                     struct cw_error *error)
{
    struct cost c = {.s = request->schedule,
                     .call = request->call,
                     .times = cost_times_of(request->call),
                     .lanes = request->lanes > 1,
                     .share = 1 + request->beside,
                     .limit_ps = request->limit_ps};
    if (c.lanes)
        c.share = (request->lanes + c.s->parts - 1) / c.s->parts;
    *ps = 0;
    if (c.s->rank[0].chunks[SCHEDULE_INPUT] == 0 || request->call->n_elem == 0)
        return CW_OK;
    measure(&c);
    if (c.block_elems == 0) /* too few elements for the ranks: the call is refused */
        return CW_OK;
    count_pieces(&c);
    c.alike = c.s->sketch || are_alike(&c);
    bool mixed = false, made = estimate(&c, &mixed, ps);
    if (made && mixed) {
        c.alike = false;
        made = estimate(&c, &mixed, ps);
    }
    while (made && *ps == NEVER && c.piece_tiles > 1) {
        c.piece_tiles /= 2;
        count_pieces(&c);
        made = estimate(&c, &mixed, ps);
    }
    if (made && *ps == NEVER)
        return cw_error_set(error, CW_USAGE, "%s: rings of %u slots fill up for ever", c.s->name,
                            c.slots);
    return made ? CW_OK : cw_error_memory(error, "an estimate");
}
