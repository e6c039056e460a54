/*
 * schedule_builder.c: makes schedules (schedule_builder.h). Steps go into the array of their rank
 * at once. Where a rank's threads were made one after the other, it is as it will be; else the
 * steps are sorted at the end, by the runs in which they were added.
 */
#include "collectives/schedule/schedule_builder.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/schedule_values.h"
#include "core/os/host_limits.h"

/* Steps of one thread that were added one after the other, up to the next run. */
struct run {
    uint32_t thread, first;
};

/* A rank's arrays while they grow. */
struct room {
    uint32_t threads, steps, waits, runs; /* that there is room for */
    uint32_t run_count;
    struct run *run;
};

struct schedule_builder {
    /* Until it is built, a thread's step_first is the step that was added to it last. */
    struct schedule *schedule;
    struct room *room; /* [rank_count] */
    uint32_t rank_count;
    uint32_t steps; /* of a rank that are expected */
    bool failed;    /* memory has run out */
};

/* Room for one more element of an array; false: there is none. */
static bool grow(struct schedule_builder *b, void **array, uint32_t count, uint32_t *capacity,
                 size_t bytes)
{
    if (count < *capacity)
        return true;
    const uint32_t more = *capacity == 0 ? 8 : *capacity * 2;
    void *const bigger = realloc(*array, more * bytes);
    if (bigger == NULL) {
        b->failed = true;
        return false;
    }
    *array = bigger;
    *capacity = more;
    return true;
}

/* A rank's array may have room for twice its steps, and is copied if they have to be sorted. */
int schedule_has_room(uint64_t steps, struct cw_error *error)
{
    const uint64_t each = 3 * sizeof(struct schedule_step), memory = host_limits_memory_bytes();
    if (steps <= memory / each)
        return CW_OK;
    return cw_error_set(
        error, CW_NO_RESOURCE,
        "a schedule of some %.3g steps takes %.3g GiB of memory, and there are %.3g", (double)steps,
        (double)steps * (double)each / 0x1p30, (double)memory / 0x1p30);
}

struct schedule_builder *schedule_builder_create(const char *name, enum ccl_collective collective,
                                                 uint32_t ranks, uint32_t parts)
{
    struct schedule_builder *const b = calloc(1, sizeof *b);
    if (b == NULL)
        return NULL;
    b->rank_count = ranks;
    b->schedule = calloc(1, sizeof *b->schedule);
    b->room = calloc(ranks, sizeof *b->room);
    if (b->schedule != NULL)
        b->schedule->rank = calloc(ranks, sizeof *b->schedule->rank);
    if (b->schedule == NULL || b->room == NULL || b->schedule->rank == NULL) {
        schedule_builder_free(b);
        return NULL;
    }
    strncpy(b->schedule->name, name, sizeof b->schedule->name - 1);
    b->schedule->collective = collective;
    b->schedule->rank_count = b->schedule->all_ranks = ranks;
    b->schedule->members = 1;
    b->schedule->parts = parts;
    b->schedule->channels = 1;
    return b;
}

void schedule_builder_expect(struct schedule_builder *builder, uint64_t steps)
{
    builder->steps = steps < UINT32_MAX / 2 ? (uint32_t)steps : 0;
}

struct schedule *schedule_builder_head(struct schedule_builder *builder)
{
    return builder->schedule;
}

void schedule_chunks_of(struct schedule_builder *builder, uint32_t rank, uint32_t input,
                        uint32_t output, uint32_t scratch)
{
    struct schedule *const s = builder->schedule;
    uint32_t *const chunks = s->rank[rank].chunks;
    chunks[SCHEDULE_INPUT] = input;
    chunks[SCHEDULE_OUTPUT] = output;
    chunks[SCHEDULE_SCRATCH] = scratch;
    const uint32_t larger = input > output ? input : output;
    s->loop_chunks = larger > s->loop_chunks ? larger : s->loop_chunks;
}

uint32_t schedule_thread(struct schedule_builder *builder, uint32_t rank, uint32_t part)
{
    struct schedule_rank *const r = &builder->schedule->rank[rank];
    if (!grow(builder, (void **)&r->thread, r->thread_count, &builder->room[rank].threads,
              sizeof *r->thread))
        return 0;
    r->thread[r->thread_count] = (struct schedule_thread){.part = part};
    return r->thread_count++;
}

void schedule_thread_line(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                          uint32_t line)
{
    if (!builder->failed)
        builder->schedule->rank[rank].thread[thread].line = line;
}

void schedule_thread_other_way(struct schedule_builder *builder, uint32_t rank, uint32_t thread)
{
    if (!builder->failed)
        builder->schedule->rank[rank].thread[thread].other_way = true;
}

/* Room for a step, the first of a rank for as many as are expected. */
static bool grow_steps(struct schedule_builder *b, struct schedule_rank *r, struct room *room)
{
    if (room->steps == 0 && b->steps > 0) {
        r->step = malloc(b->steps * sizeof *r->step);
        room->steps = r->step != NULL ? b->steps : 0;
    }
    return grow(b, (void **)&r->step, r->step_count, &room->steps, sizeof *r->step);
}

struct schedule_step *schedule_next(struct schedule_builder *builder, uint32_t rank,
                                    uint32_t thread)
{
    struct schedule_rank *const r = &builder->schedule->rank[rank];
    struct room *const room = &builder->room[rank];
    if (builder->failed || (r->step_count == room->steps && !grow_steps(builder, r, room)))
        return NULL;
    if (room->run_count == 0 || room->run[room->run_count - 1].thread != thread) {
        if (!grow(builder, (void **)&room->run, room->run_count, &room->runs, sizeof *room->run))
            return NULL;
        room->run[room->run_count++] = (struct run){thread, r->step_count};
    }
    struct schedule_step *const step = &r->step[r->step_count];
    r->thread[thread].step_first = r->step_count++;
    r->thread[thread].step_count++;
    step->wait_first = r->wait_count;
    step->wait_count = 0;
    step->awaited = step->joined = 0;
    return step;
}

uint32_t schedule_add(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                      struct schedule_step step)
{
    struct schedule_step *const added = schedule_next(builder, rank, thread);
    if (added == NULL)
        return 0;
    const enum schedule_op op = (enum schedule_op)step.op;
    struct schedule *const s = builder->schedule;
    step.wait_first = added->wait_first;
    step.wait_count = 0;
    step.awaited = step.joined = 0;
    step.send_to = schedule_op_sends(op) || op == SCHEDULE_STORE ? step.send_to : SCHEDULE_NO_RANK;
    step.recv_from = schedule_op_receives(op) || op == SCHEDULE_LOAD || op == SCHEDULE_ADD
                         ? step.recv_from
                         : SCHEDULE_NO_RANK;
    *added = step;
    s->channels = step.channel >= s->channels ? step.channel + 1u : s->channels;
    return s->rank[rank].thread[thread].step_count - 1;
}

/* Chunks at one place of a rank's memory. */
static bool is_same_place(const struct schedule *s, struct schedule_chunks a,
                          struct schedule_chunks b)
{
    const bool shared = s->in_place && s->collective == CCL_ALL_REDUCE &&
                        a.buffer != SCHEDULE_SCRATCH && b.buffer != SCHEDULE_SCRATCH;
    return a.at == b.at && (a.buffer == b.buffer || shared);
}

/* A step can continue with the value of the one before it. */
static bool goes_on(const struct schedule *s, const struct schedule_step *before,
                    const struct schedule_step *step)
{
    const bool sends = before->op == SCHEDULE_SEND, sums = before->op == SCHEDULE_RECV_REDUCE_COPY;
    const bool keeps = sums || before->op == SCHEDULE_RECV ||
                       before->op == SCHEDULE_RECV_COPY_SEND ||
                       before->op == SCHEDULE_RECV_REDUCE_COPY_SEND;
    const struct schedule_chunks value = sends ? before->src : before->dst;
    if (step->op == SCHEDULE_ADD || step->op == SCHEDULE_STORE)
        return step->count == before->count && schedule_op_reaches((enum schedule_op)before->op);
    if (step->count != before->count || !is_same_place(s, step->src, value))
        return false;
    switch ((enum schedule_op)step->op) {
    case SCHEDULE_SEND:
        return sends || keeps;
    case SCHEDULE_RECV_REDUCE_COPY:
    case SCHEDULE_RECV_REDUCE_COPY_SEND:
        return sums && is_same_place(s, step->dst, value);
    case SCHEDULE_RECV_REDUCE_SEND:
        return sums;
    default:
        return false;
    }
}

void schedule_join(struct schedule_builder *builder, uint32_t rank, uint32_t thread)
{
    if (builder->failed)
        return;
    struct schedule_rank *const r = &builder->schedule->rank[rank];
    r->step[r->thread[thread].step_first].joined = SCHEDULE_JOINED;
}

/* Makes place for one more wait before the waits from `at` on, which are other threads' steps'. */
static void move_waits(struct schedule_rank *r, uint32_t at)
{
    memmove(&r->wait[at + 1], &r->wait[at], (r->wait_count - at) * sizeof *r->wait);
    for (uint32_t i = 0; i < r->step_count; i++)
        r->step[i].wait_first += r->step[i].wait_first >= at;
}

void schedule_wait_for(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                       struct schedule_wait wait)
{
    if (builder->failed)
        return;
    struct schedule_rank *const r = &builder->schedule->rank[rank];
    struct schedule_step *const step = &r->step[r->thread[thread].step_first];
    if (!grow(builder, (void **)&r->wait, r->wait_count, &builder->room[rank].waits,
              sizeof *r->wait))
        return;
    if (step->wait_count == 0)
        step->wait_first = r->wait_count;
    const uint32_t at = step->wait_first + step->wait_count++;
    if (at < r->wait_count)
        move_waits(r, at);
    r->wait[at] = wait;
    r->wait_count++;
}

/* Each thread's steps were added one after the other, and the threads in their order. */
static bool is_sorted(const struct room *room)
{
    for (uint32_t i = 1; i < room->run_count; i++)
        if (room->run[i].thread <= room->run[i - 1].thread)
            return false;
    return true;
}

/* Puts each thread's steps one after the other; false: out of memory. */
static bool sort_steps(struct schedule_rank *rank, const struct room *room)
{
    struct schedule_step *const sorted = malloc(rank->step_count * sizeof *sorted);
    uint32_t *const at = malloc(rank->thread_count * sizeof *at);
    for (uint32_t t = 0; at != NULL && t < rank->thread_count; t++)
        at[t] = rank->thread[t].step_first;
    for (uint32_t i = 0; sorted != NULL && at != NULL && i < room->run_count; i++) {
        const struct run *const run = &room->run[i];
        const uint32_t end = i + 1 < room->run_count ? run[1].first : rank->step_count;
        memcpy(&sorted[at[run->thread]], &rank->step[run->first],
               (end - run->first) * sizeof *sorted);
        at[run->thread] += end - run->first;
    }
    const bool good = sorted != NULL && at != NULL;
    free(at);
    free(good ? rank->step : sorted);
    rank->step = good ? sorted : rank->step;
    return good;
}

/* Gives back the room that is left in an array, which is there even if it is empty. False: out of
 * memory. */
static bool trim(void **array, uint32_t count, uint32_t capacity, size_t bytes)
{
    if (*array != NULL && capacity - count <= count / 8)
        return true;
    void *const smaller = realloc(*array, (count > 0 ? count : 1) * bytes);
    if (smaller != NULL)
        *array = smaller;
    return *array != NULL;
}

/* Brings a rank's arrays into their shape; false: out of memory. */
static bool settle(struct schedule_rank *rank, const struct room *room)
{
    for (uint32_t t = 0, first = 0; t < rank->thread_count; t++) {
        rank->thread[t].step_first = first;
        first += rank->thread[t].step_count;
    }
    if (!is_sorted(room) && !sort_steps(rank, room))
        return false;
    return trim((void **)&rank->thread, rank->thread_count, room->threads, sizeof *rank->thread) &&
           trim((void **)&rank->step, rank->step_count, room->steps, sizeof *rank->step) &&
           trim((void **)&rank->wait, rank->wait_count, room->waits, sizeof *rank->wait);
}

/* Notes which steps a rank's steps wait for. A wait for a step that does not exist is left to the
 * check. */
static void mark_awaited(struct schedule *s, uint32_t own)
{
    const struct schedule_rank *const rank = &s->rank[own];
    if (rank->wait_count == 0)
        return;
    for (uint32_t t = 0; t < rank->thread_count; t++)
        for (uint32_t k = 0; k < rank->thread[t].step_count; k++) {
            const struct schedule_step *const step = &rank->step[rank->thread[t].step_first + k];
            for (uint32_t i = 0; i < step->wait_count; i++) {
                const struct schedule_wait *const wait = &rank->wait[step->wait_first + i];
                const uint32_t there = schedule_wait_rank(wait, own);
                if (there >= s->rank_count)
                    continue;
                const struct schedule_rank *const on = &s->rank[there];
                if (wait->thread < on->thread_count &&
                    wait->step < on->thread[wait->thread].step_count)
                    on->step[on->thread[wait->thread].step_first + wait->step].awaited |=
                        there == own && wait->thread == t ? SCHEDULE_AWAITED_WITHIN
                                                          : SCHEDULE_AWAITED;
            }
        }
}

/* A reduction continues with the sum that the one before it has in TCM: both add to the same place,
 * from elsewhere, and no other thread comes between. */
static bool adds_on(const struct schedule *s, uint32_t r, const struct schedule_step *step)
{
    const struct schedule_step *const before = step - 1;
    if (step->op != SCHEDULE_REDUCE || before->op != SCHEDULE_REDUCE || step->wait_count > 0 ||
        (before->awaited & SCHEDULE_AWAITED) != 0 || step->count != before->count ||
        step->dst.buffer != before->dst.buffer || step->dst.at != before->dst.at)
        return false;
    const uint32_t src = schedule_location(s, r, step->src.buffer, step->src.at);
    const uint32_t dst = schedule_location(s, r, step->dst.buffer, step->dst.at);
    return src + step->count <= dst || dst + step->count <= src;
}

/* Steps that wait, or that follow one which is waited for or which they cannot continue, are joined
 * to none. No more than UINT8_MAX are carried out as one. */
static void mark_joined(const struct schedule *s, uint32_t r)
{
    const struct schedule_rank *const rank = &s->rank[r];
    for (uint32_t t = 0; t < rank->thread_count; t++) {
        struct schedule_step *const step = &rank->step[rank->thread[t].step_first];
        for (uint32_t k = 0, chain = 1; k < rank->thread[t].step_count; k++) {
            if (step[k].joined == SCHEDULE_JOINED &&
                (step[k].wait_count > 0 || k == 0 || step[k - 1].awaited != 0 ||
                 !goes_on(s, &step[k - 1], &step[k])))
                step[k].joined = SCHEDULE_APART;
            if (k > 0 && step[k].joined == SCHEDULE_APART && adds_on(s, r, &step[k]))
                step[k].joined = SCHEDULE_ADDS_ON;
            chain = step[k].joined != SCHEDULE_APART && chain < UINT8_MAX ? chain + 1 : 1;
            if (chain == 1)
                step[k].joined = SCHEDULE_APART;
        }
    }
}

struct schedule *schedule_build(struct schedule_builder *builder, struct cw_error *error)
{
    struct schedule *const s = builder != NULL ? builder->schedule : NULL;
    bool built = s != NULL && !builder->failed;
    uint64_t counted = 0;
    for (uint32_t r = 0; built && r < s->rank_count; r++) {
        built = settle(&s->rank[r], &builder->room[r]);
        counted += s->rank[r].step_count;
    }
    for (uint32_t r = 0; built && r < s->rank_count; r++)
        mark_awaited(s, r);
    for (uint32_t r = 0; built && r < s->rank_count; r++)
        mark_joined(s, r);
    if (built && s->steps == 0)
        s->steps = counted;
    if (built)
        builder->schedule = NULL;
    schedule_builder_free(builder);
    if (built)
        return s;
    (void)cw_error_memory(error, "a schedule");
    return NULL;
}

void schedule_builder_free(struct schedule_builder *builder)
{
    if (builder == NULL)
        return;
    for (uint32_t r = 0; builder->room != NULL && r < builder->rank_count; r++)
        free(builder->room[r].run);
    schedule_free(builder->schedule);
    free(builder->room);
    free(builder);
}
