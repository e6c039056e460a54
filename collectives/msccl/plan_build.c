/*
 * plan_build.c: makes a schedule of a plan (plan.h). Thread blocks are gone through twice, in the
 * same way: first only numbers are given, and it is noted which step signals, writes a packet,
 * releases, arrives; then the steps are made, and wait for those.
 *
 * Parts. An operation that several thread blocks share, and a pipeline that goes unit by unit, move
 * parts of chunks. So each chunk of the file is as many chunks of the schedule as both need.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/msccl/plan.h"
#include "collectives/schedule/schedule_builder.h"

enum {
    SPLIT_MAX = 4096,       /* chunks of a chunk */
    STEPS_MAX = 1 << 24,    /* of all gpus */
    CHUNKS_OF_ALL = 1 << 26 /* of all buffers */
};

/* What others wait for: the n-th of its kind, place and number. */
enum event_kind { EVENT_SIGNAL, EVENT_WAIT, EVENT_RELEASE, EVENT_ACQUIRE, EVENT_ARRIVE, EVENT_OP };
struct plan_event {
    uint64_t key[2]; /* what: the channel's ends, a semaphore, a barrier's round, an operation */
    uint32_t rank, thread, step;
    uint32_t order; /* in which they were noted */
    const struct plan_op *op;
};

struct packet {
    uint32_t rank, thread, step; /* rank UINT32_MAX: nobody has written it */
    const struct plan_op *op;
};

/* Where a thread block is. */
struct plan_at {
    uint32_t rank, thread, step;
    const struct plan_op *op;
    uint32_t window,
        windows; /* of a pipeline: which unit, of so many in a chunk; windows 0: none */
};

struct building {
    const struct plan *plan;
    struct cw_error *error;
    uint64_t chunk_bytes;
    uint32_t split;                   /* chunks of a chunk */
    struct schedule_builder *builder; /* NULL: the first time */
    struct plan_event *event;         /* sorted the second time */
    uint32_t events, event_room;
    struct packet **packet; /* [gpu][chunk of scratch] */
    uint32_t *taken;        /* [events]: of an event that begins its key: how many were taken */
    struct schedule_file_place *place;
    uint32_t places, place_room;
    uint64_t steps;
    bool no_memory;
};

/* ---- chunks of chunks ------------------------------------------------------------------------ */

static uint32_t gcd(uint32_t a, uint32_t b) { return b == 0 ? a : gcd(b, a % b); }

/* Units of a chunk in a pipeline. */
static uint32_t units_of(const struct building *b, const struct plan_op *op)
{
    const uint64_t units =
        op->unit_bytes > 0 ? (b->chunk_bytes + op->unit_bytes - 1) / op->unit_bytes : 1;
    return units == 0 ? 1 : units > SPLIT_MAX / 64 ? SPLIT_MAX / 64 : (uint32_t)units;
}

static bool find_split(struct building *b)
{
    uint64_t split = 1;
    for (uint32_t g = 0; g < b->plan->gpu_count; g++)
        for (uint32_t t = 0; t < b->plan->gpu[g].tb_count; t++)
            for (uint32_t i = 0; i < b->plan->gpu[g].tb[t].op_count; i++) {
                const struct plan_op *const op = &b->plan->gpu[g].tb[t].op[i];
                const uint32_t by = op->name->kind == PLAN_PIPELINE ? units_of(b, op) : op->parts;
                split = split / gcd((uint32_t)split, by) * by;
                if (split > SPLIT_MAX) {
                    plan_fault(b->plan, op->place,
                               "chunks are cut into more than %d parts, which all numbers of "
                               "thread blocks that share an operation divide; legal is less",
                               SPLIT_MAX);
                    return false;
                }
            }
    b->split = (uint32_t)split;
    return true;
}

/* Of an operand, the chunks that are moved now: the thread block's part, and of that the pipeline's
 * unit. False: none. */
static bool chunks_now(const struct building *b, const struct plan_at *at,
                       const struct plan_operand *operand, struct schedule_chunks *chunks,
                       uint32_t *count)
{
    const uint64_t all = (uint64_t)operand->count * b->split, parts = at->op->parts;
    uint64_t first = all * at->op->part / parts, end = all * (at->op->part + 1) / parts;
    if (at->windows > 0) {
        const uint64_t window = b->split / at->windows;
        const uint64_t begin = first + window * at->window;
        end = begin + window < end ? begin + window : end;
        first = begin;
    }
    *chunks = (struct schedule_chunks){.at = (uint32_t)(operand->at * b->split + first),
                                       .buffer = operand->buffer};
    *count = first < end ? (uint32_t)(end - first) : 0;
    return first < end;
}

/* ---- events ---------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct plan_event *const x = a, *const y = b;
    for (int i = 0; i < 2; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void note_event(struct building *b, const struct plan_at *at, enum event_kind kind,
                       uint64_t high, uint64_t low)
{
    if (b->builder != NULL || b->no_memory)
        return;
    if (b->events == b->event_room) {
        const uint32_t room = b->event_room * 2 + 256;
        struct plan_event *const bigger = realloc(b->event, room * sizeof *bigger);
        if (bigger == NULL) {
            b->no_memory = true;
            return;
        }
        b->event = bigger;
        b->event_room = room;
    }
    b->event[b->events] = (struct plan_event){.key = {(uint64_t)kind << 60 | high, low},
                                              .rank = at->rank,
                                              .thread = at->thread,
                                              .step = at->step,
                                              .order = b->events,
                                              .op = at->op};
    b->events++;
}

/* The first event of a key; events: there is none. */
static uint32_t first_event(const struct building *b, enum event_kind kind, uint64_t high,
                            uint64_t low)
{
    const struct plan_event key = {.key = {(uint64_t)kind << 60 | high, low}};
    uint32_t begin = 0, end = b->events;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (by_key(&b->event[middle], &key) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < b->events && b->event[begin].key[0] == key.key[0] &&
                   b->event[begin].key[1] == low
               ? begin
               : b->events;
}

static bool is_same_key(const struct building *b, uint32_t i, uint32_t k)
{
    return k < b->events && b->event[i].key[0] == b->event[k].key[0] &&
           b->event[i].key[1] == b->event[k].key[1];
}

/* From gpu to gpu, and the channel. */
static uint64_t ends_of(uint32_t from, uint32_t to) { return (uint64_t)from << 28 | to; }
static uint64_t channel_of(const struct plan_channel *channel)
{
    return (uint64_t)channel->number << 4 | channel->type;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The place of the operation in the list of places, from 1. */
static uint32_t place_number(struct building *b, const struct plan_at *at)
{
    const struct schedule_file_place place = {at->op->place.line, at->op->place.column,
                                              at->op->number, at->op->name->name};
    if (b->places > 0 && b->place[b->places - 1].line == place.line &&
        b->place[b->places - 1].column == place.column)
        return b->places;
    if (b->places == b->place_room) {
        const uint32_t room = b->place_room * 2 + 256;
        struct schedule_file_place *const bigger = realloc(b->place, room * sizeof *bigger);
        if (bigger == NULL) {
            b->no_memory = true;
            return 0;
        }
        b->place = bigger;
        b->place_room = room;
    }
    b->place[b->places++] = place;
    return b->places;
}

static void add_step(struct building *b, struct plan_at *at, struct schedule_step step)
{
    at->step++;
    b->steps++;
    if (b->builder == NULL || b->no_memory)
        return;
    step.line = place_number(b, at);
    (void)schedule_add(b->builder, at->rank, at->thread, step);
    if (step.op == SCHEDULE_ADD || step.op == SCHEDULE_STORE)
        schedule_join(b->builder, at->rank, at->thread);
}

/* The step that was added last waits for another thread's. Its own thread's come before it, or
 * never. */
static void wait_for(struct building *b, const struct plan_at *at, uint32_t rank, uint32_t thread,
                     uint32_t step)
{
    if (rank == at->rank && thread == at->thread) {
        if (step >= at->step - 1)
            plan_fault(b->plan, at->op->place,
                       "gpu %u, tb %u, op %u (%s) waits for what its own thread block does later: "
                       "it never ends",
                       at->rank, at->thread, at->op->number, at->op->name->name);
        return;
    }
    schedule_wait_for(b->builder, at->rank, at->thread,
                      (struct schedule_wait){.thread = thread,
                                             .step = step,
                                             .other = rank == at->rank ? 0 : rank + 1});
}

static void add_nop(struct building *b, struct plan_at *at)
{
    add_step(b, at, (struct schedule_step){.op = SCHEDULE_NOP});
}

/* ---- packets --------------------------------------------------------------------------------- */

static bool is_packet(const struct plan_at *at, const struct plan_operand *operand)
{
    return (at->op->name->flags & PLAN_PACKETS) != 0 && operand->buffer == SCHEDULE_SCRATCH;
}

/* Chunks of scratch that the schedule has. */
static uint64_t scratch_of(const struct building *b, uint32_t gpu)
{
    return (uint64_t)b->plan->gpu[gpu].chunks[SCHEDULE_SCRATCH] * b->split;
}

/* The joined steps that end with step `at->step - 1` have written packets. */
static void note_packets(struct building *b, const struct plan_at *at,
                         const struct plan_operand *operand)
{
    struct schedule_chunks chunks;
    uint32_t count;
    if (b->builder != NULL || !is_packet(at, operand) ||
        !chunks_now(b, at, operand, &chunks, &count))
        return;
    for (uint32_t k = 0; k < count && chunks.at + k < scratch_of(b, operand->rank); k++) {
        struct packet *const packet = &b->packet[operand->rank][chunks.at + k];
        if (packet->op != NULL && packet->rank != UINT32_MAX) {
            plan_fault(b->plan, at->op->place,
                       "gpu %u, tb %u, op %u writes packets to s[%u] of gpu %u, and so does gpu "
                       "%u, tb %u, op %u: their flags are the same in one launch; legal is one "
                       "writer",
                       at->rank, at->thread, at->op->number, operand->at + k / b->split,
                       operand->rank, packet->rank, packet->thread, packet->op->number);
            return;
        }
        *packet = (struct packet){at->rank, at->thread, at->step - 1, at->op};
    }
}

/* The step that was added last waits for the packets that it, or steps joined with it, read. */
static void wait_for_packets(struct building *b, const struct plan_at *at,
                             const struct plan_operand *operand)
{
    struct schedule_chunks chunks;
    uint32_t count;
    if (b->builder == NULL || !is_packet(at, operand) ||
        !chunks_now(b, at, operand, &chunks, &count))
        return;
    const struct packet *last = NULL;
    for (uint32_t k = 0; k < count && chunks.at + k < scratch_of(b, operand->rank); k++) {
        const struct packet *const packet = &b->packet[operand->rank][chunks.at + k];
        if (packet->op == NULL) {
            plan_fault(b->plan, operand->place,
                       "gpu %u, tb %u, op %u (%s) reads packets of s[%u], which nobody writes: it "
                       "waits forever",
                       at->rank, at->thread, at->op->number, at->op->name->name,
                       operand->at + k / b->split);
            return;
        }
        if (last == NULL || last->rank != packet->rank || last->thread != packet->thread ||
            last->step != packet->step)
            wait_for(b, at, packet->rank, packet->thread, packet->step);
        last = packet;
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

/* The sum of sources, each once, in the order in which they are added, to all destinations. */
static void add_value(struct building *b, struct plan_at *at, const struct plan_operand *src,
                      uint32_t sources, const struct plan_operand *dst, uint32_t destinations)
{
    const bool own_last = (at->op->name->flags & PLAN_OWN_LAST) != 0;
    struct schedule_chunks chunks;
    uint32_t count;
    if (!chunks_now(b, at, &src[0], &chunks, &count))
        return;
    for (uint32_t i = 0; i < sources; i++) {
        const struct plan_operand *const from = &src[own_last ? (i + 1) % sources : i];
        (void)chunks_now(b, at, from, &chunks, &count);
        add_step(b, at,
                 (struct schedule_step){.op = i == 0 ? SCHEDULE_LOAD : SCHEDULE_ADD,
                                        .count = count,
                                        .src = chunks,
                                        .recv_from = from->rank != at->rank ? from->rank
                                                                            : SCHEDULE_NO_RANK});
        for (uint32_t k = 0; k < sources && i == 0; k++)
            wait_for_packets(b, at, &src[k]);
    }
    for (uint32_t i = 0; i < destinations; i++) {
        (void)chunks_now(b, at, &dst[i], &chunks, &count);
        struct schedule_step step = {.op = SCHEDULE_STORE,
                                     .count = count,
                                     .dst = chunks,
                                     .send_to =
                                         dst[i].rank != at->rank ? dst[i].rank : SCHEDULE_NO_RANK};
        add_step(b, at, step);
        if (!b->plan->packets || !is_packet(at, &dst[i]))
            continue;
        step.dst.at += (uint32_t)scratch_of(b, dst[i].rank); /* flags are as long as data */
        add_step(b, at, step);
    }
    for (uint32_t i = 0; i < destinations; i++)
        note_packets(b, at, &dst[i]);
}

static void add_signals(struct building *b, struct plan_at *at)
{
    for (uint32_t i = 0; i < at->op->channel_count; i++)
        note_event(b, at, EVENT_SIGNAL, ends_of(at->rank, at->op->channel[i].peer),
                   channel_of(&at->op->channel[i]));
    add_nop(b, at);
}

/* The n-th event of a kind that is taken so. */
static uint32_t take_event(struct building *b, uint32_t first) { return first + b->taken[first]++; }

static void add_waits(struct building *b, struct plan_at *at)
{
    for (uint32_t i = 0; i < at->op->channel_count; i++)
        note_event(b, at, EVENT_WAIT, ends_of(at->op->channel[i].peer, at->rank),
                   channel_of(&at->op->channel[i]));
    add_nop(b, at);
    for (uint32_t i = 0; i < at->op->channel_count && b->builder != NULL; i++) {
        const struct plan_channel *const channel = &at->op->channel[i];
        const uint32_t first =
            first_event(b, EVENT_SIGNAL, ends_of(channel->peer, at->rank), channel_of(channel));
        const uint32_t taken = first < b->events ? take_event(b, first) : b->events;
        if (first < b->events && is_same_key(b, first, taken))
            wait_for(b, at, b->event[taken].rank, b->event[taken].thread, b->event[taken].step);
        else
            plan_fault(b->plan, at->op->place,
                       "gpu %u, tb %u, op %u waits for signal %u from gpu %u on its channel %u to "
                       "it, which gpu %u does not give: it never ends",
                       at->rank, at->thread, at->op->number,
                       first < b->events ? taken - first + 1 : 1, channel->peer, channel->number,
                       channel->peer);
    }
}

static void add_acquire(struct building *b, struct plan_at *at)
{
    const struct plan_gpu *const gpu = &b->plan->gpu[at->rank];
    for (uint32_t i = 0; i < at->op->list_count; i++)
        note_event(b, at, EVENT_ACQUIRE, at->rank, at->op->semaphore[i]);
    add_nop(b, at);
    for (uint32_t i = 0; i < at->op->list_count && b->builder != NULL; i++) {
        const uint32_t semaphore = at->op->semaphore[i];
        const uint32_t own = first_event(b, EVENT_ACQUIRE, at->rank, semaphore);
        const int64_t number = (int64_t)b->taken[own]++ - gpu->semaphore[semaphore];
        const uint32_t first = first_event(b, EVENT_RELEASE, at->rank, semaphore);
        if (number < 0)
            continue;
        const uint32_t release = number < b->events ? first + (uint32_t)number : b->events;
        if (first < b->events && is_same_key(b, first, release))
            wait_for(b, at, at->rank, b->event[release].thread, b->event[release].step);
        else
            plan_fault(b->plan, at->op->place,
                       "gpu %u, tb %u, op %u acquires semaphore %u, which is released too seldom: "
                       "it waits forever",
                       at->rank, at->thread, at->op->number, semaphore);
    }
}

static void add_release(struct building *b, struct plan_at *at)
{
    for (uint32_t i = 0; i < at->op->list_count; i++)
        note_event(b, at, EVENT_RELEASE, at->rank, at->op->semaphore[i]);
    add_nop(b, at);
}

/* The thread blocks of a barrier's round have arrived. */
static void add_barrier(struct building *b, struct plan_at *at)
{
    note_event(b, at, EVENT_ARRIVE, at->rank, at->op->id);
    add_nop(b, at);
    add_nop(b, at);
    if (b->builder == NULL)
        return;
    const uint32_t first = first_event(b, EVENT_ARRIVE, at->rank, at->op->id);
    uint32_t round = 0;
    for (uint32_t i = first; is_same_key(b, first, i); i++)
        round += b->event[i].thread == at->thread && b->event[i].step < at->step - 2;
    for (uint32_t i = first, seen = 0, thread = UINT32_MAX; is_same_key(b, first, i); i++) {
        seen = b->event[i].thread == thread ? seen + 1 : 0;
        thread = b->event[i].thread;
        if (seen == round && thread != at->thread)
            wait_for(b, at, at->rank, thread, b->event[i].step);
    }
}

/* Operations of other thread blocks, whose last step is waited for. */
static void add_deps(struct building *b, struct plan_at *at)
{
    if (at->op->list_count == 0)
        return;
    add_nop(b, at);
    for (uint32_t i = 0; i < at->op->list_count && b->builder != NULL; i++) {
        const struct schedule_wait *const wait = &at->op->wait[i];
        const uint32_t first =
            first_event(b, EVENT_OP, at->rank, (uint64_t)wait->thread << 32 | wait->step);
        if (first < b->events)
            wait_for(b, at, at->rank, wait->thread, b->event[first].step);
        else
            plan_fault(b->plan, at->op->place,
                       "gpu %u, tb %u, op %u waits for op %u of tb %u, which moves nothing or is "
                       "not there",
                       at->rank, at->thread, at->op->number, wait->step, wait->thread);
    }
}

static void add_op(struct building *b, struct plan_at *at)
{
    const struct plan_op *const op = at->op;
    const uint32_t first = at->step;
    switch (op->name->kind) {
    case PLAN_PAIRS:
        for (uint32_t i = 0; i < op->dst_count; i++)
            add_value(b, at, &op->src[op->src_count > 1 ? i : 0], 1, &op->dst[i], 1);
        if ((op->name->flags & PLAN_SIGNALS) != 0)
            add_signals(b, at);
        break;
    case PLAN_VALUE:
        add_value(b, at, op->src, op->src_count, op->dst, op->dst_count);
        break;
    case PLAN_SIGNAL:
        add_signals(b, at);
        break;
    case PLAN_WAIT:
        add_waits(b, at);
        break;
    case PLAN_ACQUIRE:
        add_acquire(b, at);
        break;
    case PLAN_RELEASE:
        add_release(b, at);
        break;
    case PLAN_BARRIER:
        add_barrier(b, at);
        break;
    case PLAN_NOP:
        add_deps(b, at);
        break;
    case PLAN_FLUSH:    /* what follows waits for acknowledgements where it signals */
    case PLAN_PIPELINE: /* add_tb() */
    case PLAN_SWITCH:   /* refused */
        break;
    }
    if (at->step > first) {
        struct plan_at last = *at;
        last.step--;
        note_event(b, &last, EVENT_OP, at->rank, (uint64_t)at->thread << 32 | op->number);
    }
}

static bool has_room(struct building *b)
{
    if (b->steps <= STEPS_MAX)
        return !b->no_memory && b->plan->faults->count == 0;
    schedule_fault(b->plan->faults, b->plan->path,
                   "the plan has more than %d steps, pipelines unrolled; legal is less", STEPS_MAX);
    return false;
}

static void add_tb(struct building *b, uint32_t rank, uint32_t thread)
{
    const struct plan_tb *const tb = &b->plan->gpu[rank].tb[thread];
    struct plan_at at = {.rank = rank, .thread = thread};
    for (uint32_t i = 0; i < tb->op_count; i++) {
        const struct plan_op *const op = &tb->op[i];
        const bool inner = op->name->kind == PLAN_PIPELINE;
        at.windows = inner ? units_of(b, op) : 0;
        const uint32_t turns = inner ? op->unit_chunks * at.windows : 1,
                       ops = inner ? op->inside : 1;
        for (uint32_t turn = 0; turn < turns; turn++)
            for (uint32_t k = 0; k < ops && has_room(b); k++) {
                at.window = turn;
                at.op = &tb->op[i + inner + k];
                add_op(b, &at);
            }
        i += inner ? op->inside : 0;
    }
}

static void add_gpus(struct building *b)
{
    b->steps = 0;
    for (uint32_t g = 0; g < b->plan->gpu_count; g++)
        for (uint32_t t = 0; t < b->plan->gpu[g].tb_count; t++) {
            if (b->builder != NULL && schedule_thread(b->builder, g, 0) != t)
                b->no_memory = true;
            add_tb(b, g, t);
        }
}

/* ---- what cannot be known beforehand --------------------------------------------------------- */

/* One thread block signals on a channel, and one waits: in which order several do, only a run
 * knows. Semaphores likewise. */
static void check_turns(struct building *b)
{
    for (uint32_t i = 1; i < b->events && b->plan->faults->count == 0; i++) {
        const struct plan_event *const x = &b->event[i - 1], *const y = &b->event[i];
        const enum event_kind kind = (enum event_kind)(y->key[0] >> 60);
        if (!is_same_key(b, i - 1, i) || x->thread == y->thread || kind == EVENT_ARRIVE ||
            kind == EVENT_OP)
            continue;
        plan_fault(b->plan, y->op->place,
                   "gpu %u: tb %u and tb %u both %s: which comes first is not known; legal is one "
                   "of them",
                   y->rank, x->thread, y->thread,
                   kind == EVENT_SIGNAL    ? "signal on one channel"
                   : kind == EVENT_WAIT    ? "wait on one channel"
                   : kind == EVENT_RELEASE ? "release one semaphore"
                                           : "acquire one semaphore");
    }
}

/* A barrier's thread blocks come to it as often, and are as many as it says. */
static void check_barriers(struct building *b)
{
    for (uint32_t i = 0, end; i < b->events && b->plan->faults->count == 0; i = end) {
        uint32_t threads = 0;
        for (end = i; is_same_key(b, i, end); end++)
            threads += end == i || b->event[end].thread != b->event[end - 1].thread;
        const struct plan_event *const event = &b->event[i];
        if (event->key[0] >> 60 != EVENT_ARRIVE)
            continue;
        const uint32_t rounds = (end - i) / threads;
        for (uint32_t k = i; k < end; k += rounds)
            if (event->op->count != threads || k + rounds > end ||
                b->event[k].thread != b->event[k + rounds - 1].thread ||
                (k > i && b->event[k].thread == b->event[k - 1].thread)) {
                plan_fault(b->plan, b->event[k].op->place,
                           "gpu %u: barrier %u is for %u thread blocks, and %u come to it, %u "
                           "times in all; legal is each of them as often",
                           event->rank, event->op->id, event->op->count, threads, end - i);
                return;
            }
    }
}

/* More signals than waits: in MSCCL++ the next launch would take those that are left. */
static void note_left_signals(const struct building *b)
{
    for (uint32_t i = 0, end; i < b->events; i = end) {
        for (end = i; is_same_key(b, i, end); end++)
            continue;
        const struct plan_event *const event = &b->event[i];
        if (event->key[0] >> 60 != EVENT_SIGNAL)
            continue;
        const uint64_t ends = event->key[0] & (UINT64_MAX >> 4);
        const uint32_t first = first_event(b, EVENT_WAIT, ends, event->key[1]);
        uint32_t waits = 0;
        while (is_same_key(b, first, first + waits))
            waits++;
        if (waits >= end - i)
            continue;
        const struct plan_event *const left = &b->event[i + waits];
        msccl_fault(b->plan->notes, b->plan->path, left->op->place,
                    "hazard: gpu %u, tb %u, op %u signals, and of %u such signals %u are waited "
                    "for: in MSCCL++ the next launch takes the others",
                    left->rank, left->thread, left->op->number, end - i, waits);
    }
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Chunks of the larger of input and output. */
static uint32_t loop_chunks(const struct plan *plan)
{
    uint32_t loop = 0;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (int i_o = SCHEDULE_INPUT; i_o <= SCHEDULE_OUTPUT; i_o++)
            loop = plan->gpu[g].chunks[i_o] > loop ? plan->gpu[g].chunks[i_o] : loop;
    return loop;
}

/* Of each gpu: those of the larger one say the other. */
static bool find_chunks(struct building *b)
{
    const struct plan *const plan = b->plan;
    const enum ccl_collective collective = plan->collective;
    const uint32_t loop = loop_chunks(plan);
    uint64_t all = 0;
    const bool blocks = collective == CCL_ALL_GATHER || collective == CCL_REDUCE_SCATTER ||
                        collective == CCL_ALL_TO_ALL;
    if (loop == 0 || (blocks && loop % plan->gpu_count != 0)) {
        schedule_fault(plan->faults, plan->path,
                       "there are %u chunks; legal is a multiple of %u, of %s of %u gpus", loop,
                       blocks ? plan->gpu_count : 1, ccl_collective_name(collective),
                       plan->gpu_count);
        return false;
    }
    uint32_t most[] = {loop, loop};
    if (collective == CCL_ALL_GATHER)
        most[SCHEDULE_INPUT] /= plan->gpu_count;
    if (collective == CCL_REDUCE_SCATTER)
        most[SCHEDULE_OUTPUT] /= plan->gpu_count;
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        const uint64_t scratch = scratch_of(b, g) * plan->scratch_times;
        for (int i_o = SCHEDULE_INPUT; i_o <= SCHEDULE_OUTPUT; i_o++)
            if (plan->gpu[g].chunks[i_o] > most[i_o])
                plan_fault(plan, plan->gpu[g].place,
                           "gpu %u has %u chunks of %s; legal is up to %u, of %s of %u gpus and %u "
                           "chunks",
                           g, plan->gpu[g].chunks[i_o], i_o == SCHEDULE_INPUT ? "input" : "output",
                           most[i_o], ccl_collective_name(collective), plan->gpu_count, loop);
        all += ((uint64_t)most[0] + most[1]) * b->split + scratch;
        if (all > CHUNKS_OF_ALL) {
            schedule_fault(plan->faults, plan->path,
                           "there are more than %d chunks in all, parts of chunks counted; legal "
                           "is less",
                           CHUNKS_OF_ALL);
            return false;
        }
        if (b->builder != NULL)
            schedule_chunks_of(b->builder, g, most[0] * b->split, most[1] * b->split,
                               (uint32_t)scratch);
    }
    return plan->faults->count == 0;
}

/* Operations keep to the buffers that the file states, beside which there may be more scratch. */
static bool check_operands(const struct plan *plan, const struct plan_op *op,
                           const struct plan_operand *operand, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_operand *const x = &operand[i];
        const uint32_t all = x->buffer == SCHEDULE_SCRATCH
                                 ? plan->gpu[x->rank].chunks[SCHEDULE_SCRATCH]
                                 : loop_chunks(plan);
        const char letter = schedule_buffer_letter(x->buffer);
        if (x->at >= all || x->count > all - x->at) {
            plan_fault(plan, x->place,
                       "%s has chunks %c[%u] to %c[%u] of gpu %u, of which there are %u; legal is "
                       "less",
                       op->name->name, letter, x->at, letter, x->at + x->count - 1, x->rank, all);
            return false;
        }
    }
    return true;
}

static bool check_buffers(const struct building *b)
{
    const struct plan *const plan = b->plan;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = 0; t < plan->gpu[g].tb_count; t++)
            for (uint32_t i = 0; i < plan->gpu[g].tb[t].op_count; i++) {
                const struct plan_op *const op = &plan->gpu[g].tb[t].op[i];
                if (!check_operands(plan, op, op->src, op->src_count) ||
                    !check_operands(plan, op, op->dst, op->dst_count))
                    return false;
            }
    return true;
}

static bool take_packets(struct building *b)
{
    b->packet = calloc(b->plan->gpu_count, sizeof *b->packet);
    for (uint32_t g = 0; b->packet != NULL && g < b->plan->gpu_count; g++)
        if ((b->packet[g] = calloc(scratch_of(b, g) + 1, sizeof **b->packet)) == NULL)
            return false;
    return b->packet != NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void note_steps(struct building *b)
{
    add_gpus(b);
    if (b->events > 0 && !b->no_memory)
        qsort(b->event, b->events, sizeof *b->event, by_key);
    b->taken = calloc((size_t)b->events + 1, sizeof *b->taken);
    b->no_memory |= b->taken == NULL;
    if (!b->no_memory && b->plan->faults->count == 0) {
        check_turns(b);
        check_barriers(b);
    }
}

static struct schedule *make_steps(struct building *b)
{
    const struct plan *const plan = b->plan;
    b->builder = schedule_builder_create(plan->name, plan->collective, plan->gpu_count, 1);
    if (b->builder == NULL)
        return NULL;
    struct schedule *const head = schedule_builder_head(b->builder);
    head->file = plan->path;
    head->in_place = plan->in_place;
    head->min_bytes = plan->min_bytes;
    head->max_bytes = plan->max_bytes;
    head->reaches = true;
    head->split = b->split;
    if (find_chunks(b))
        add_gpus(b);
    if (plan->faults->count > 0 || b->no_memory) {
        schedule_builder_free(b->builder);
        return NULL;
    }
    struct schedule *const schedule = schedule_build(b->builder, b->error);
    if (schedule != NULL) {
        schedule->place = b->place;
        b->place = NULL;
    }
    return schedule;
}

static void building_free(struct building *b)
{
    for (uint32_t g = 0; b->packet != NULL && g < b->plan->gpu_count; g++)
        free(b->packet[g]);
    free(b->packet);
    free(b->event);
    free(b->taken);
    free(b->place);
    b->plan->faults->no_memory |= b->no_memory;
}

struct schedule *plan_build(const struct plan *plan, uint64_t tensor_bytes, struct cw_error *error)
{
    struct building b = {.plan = plan, .error = error};
    struct schedule *schedule = NULL;
    b.chunk_bytes = loop_chunks(plan) > 0 ? tensor_bytes / loop_chunks(plan) : 0;
    if (find_split(&b) && find_chunks(&b) && check_buffers(&b)) {
        b.no_memory = !take_packets(&b);
        if (!b.no_memory)
            note_steps(&b);
        if (!b.no_memory && plan->faults->count == 0)
            schedule = make_steps(&b);
    }
    building_free(&b);
    return schedule;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* Since the threads of a block last met: one of them has waited; they have written by themselves.
 */
struct meeting {
    const struct plan_op *waited, *wrote;
};

static void note_meeting(const struct plan *plan, uint32_t gpu, uint32_t tb,
                         const struct plan_op *op, struct meeting *since)
{
    const enum plan_kind kind = op->name->kind;
    const bool moves = kind == PLAN_PAIRS || kind == PLAN_VALUE;
    if (kind == PLAN_NOP || kind == PLAN_BARRIER) {
        *since = (struct meeting){NULL, NULL};
        return;
    }
    if (moves && since->waited != NULL && !op->by_port)
        msccl_fault(plan->notes, plan->path, op->place,
                    "hazard: gpu %u, tb %u, op %u (%s) follows the wait of op %u without a nop: in "
                    "MSCCL++ threads that do not wait may begin before it ends",
                    gpu, tb, op->number, op->name->name, since->waited->number);
    if (kind == PLAN_SIGNAL && since->wrote != NULL)
        msccl_fault(
            plan->notes, plan->path, op->place,
            "hazard: gpu %u, tb %u, op %u (%s) follows op %u (%s) without a nop: in MSCCL++ "
            "the signal may come before other threads of the block have written",
            gpu, tb, op->number, op->name->name, since->wrote->number, since->wrote->name->name);
    since->waited = kind == PLAN_WAIT || kind == PLAN_ACQUIRE ? op : moves ? NULL : since->waited;
    since->wrote = moves && !op->by_port && (op->name->flags & PLAN_PACKETS) == 0 ? op
                   : kind == PLAN_SIGNAL                                          ? NULL
                                                                                  : since->wrote;
}

static void note_op(const struct plan *plan, uint32_t gpu, uint32_t tb, const struct plan_op *op)
{
    if ((op->name->flags & PLAN_PACKETS) != 0 && !plan->packets)
        msccl_fault(plan->notes, plan->path, op->place,
                    "hazard: gpu %u, tb %u, op %u (%s) moves packets, and the protocol is not LL: "
                    "MSCCL++ gives scratch no room for their flags",
                    gpu, tb, op->number, op->name->name);
    const bool gets = strcmp(op->name->name, "get") == 0;
    for (uint32_t i = 0; i < op->dst_count && i < op->src_count && gets; i++)
        if (op->src[i].at != op->dst[i].at)
            msccl_fault(plan->notes, plan->path, op->place,
                        "hazard: gpu %u, tb %u, op %u gets chunk %u into chunk %u: MSCCL++'s "
                        "executor takes the two numbers the other way round",
                        gpu, tb, op->number, op->src[i].at, op->dst[i].at);
    if (op->name->kind == PLAN_NOP && op->list_count > 0)
        msccl_fault(
            plan->notes, plan->path, op->place,
            "hazard: gpu %u, tb %u, op %u waits for tb %u by deps, which MSCCL++'s executor "
            "does not read; legal there is a barrier",
            gpu, tb, op->number, op->wait[0].thread);
}

void plan_note(const struct plan *plan)
{
    enum { OPS_MAX = 64, CHANNELS_MAX = 8 }; /* of MSCCL++'s executor */
    struct building b = {.plan = plan};
    if (find_split(&b) && take_packets(&b)) {
        note_steps(&b);
        note_left_signals(&b);
    }
    building_free(&b);
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = 0; t < plan->gpu[g].tb_count; t++) {
            const struct plan_tb *const tb = &plan->gpu[g].tb[t];
            struct meeting since = {NULL, NULL};
            for (uint32_t i = 0; i < tb->op_count; i++) {
                note_meeting(plan, g, t, &tb->op[i], &since);
                note_op(plan, g, t, &tb->op[i]);
                if (tb->op[i].channel_count > CHANNELS_MAX)
                    msccl_fault(plan->notes, plan->path, tb->op[i].place,
                                "gpu %u, tb %u, op %u has %u channels; MSCCL++ takes %d", g, t,
                                tb->op[i].number, tb->op[i].channel_count, CHANNELS_MAX);
            }
            if (tb->op_count > OPS_MAX)
                msccl_fault(plan->notes, plan->path, tb->place,
                            "gpu %u, tb %u has %u operations; MSCCL++ takes %d", g, t, tb->op_count,
                            OPS_MAX);
        }
}
