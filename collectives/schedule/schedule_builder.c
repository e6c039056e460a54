/*
 * schedule_builder.c: makes schedules (schedule_builder.h). While it is being made, each thread has
 * a growing array of its own; the schedule then has one array per rank.
 */
#include "collectives/schedule/schedule_builder.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/schedule_values.h"
#include "core/os/host_limits.h"

struct thread_steps {
    struct schedule_step *step; /* .wait_first: in `wait`; a step's waits follow each other */
    uint32_t count, capacity;
    struct schedule_wait *wait;
    uint32_t waits, wait_capacity;
    uint32_t part, line;
    bool other_way;
};

struct rank_threads {
    struct thread_steps *thread;
    uint32_t count, capacity;
};

struct schedule_builder {
    struct schedule *schedule;
    struct rank_threads *rank; /* [rank_count] */
    uint32_t rank_count;
    bool failed; /* memory has run out */
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

/* Each step is in its thread's array, whose capacity may be twice the number of steps, and at the
 * end also in its rank's. */
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
    b->rank = calloc(ranks, sizeof *b->rank);
    if (b->schedule != NULL)
        b->schedule->rank = calloc(ranks, sizeof *b->schedule->rank);
    if (b->schedule == NULL || b->rank == NULL || b->schedule->rank == NULL) {
        schedule_builder_free(b);
        return NULL;
    }
    strncpy(b->schedule->name, name, sizeof b->schedule->name - 1);
    b->schedule->collective = collective;
    b->schedule->rank_count = ranks;
    b->schedule->members = 1;
    b->schedule->parts = parts;
    b->schedule->channels = 1;
    return b;
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
    struct rank_threads *const r = &builder->rank[rank];
    if (!grow(builder, (void **)&r->thread, r->count, &r->capacity, sizeof *r->thread))
        return 0;
    r->thread[r->count] = (struct thread_steps){.part = part};
    return r->count++;
}

void schedule_thread_line(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                          uint32_t line)
{
    if (!builder->failed)
        builder->rank[rank].thread[thread].line = line;
}

void schedule_thread_other_way(struct schedule_builder *builder, uint32_t rank, uint32_t thread)
{
    if (!builder->failed)
        builder->rank[rank].thread[thread].other_way = true;
}

uint32_t schedule_add(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                      struct schedule_step step)
{
    if (builder->failed)
        return 0;
    struct thread_steps *const t = &builder->rank[rank].thread[thread];
    if (!grow(builder, (void **)&t->step, t->count, &t->capacity, sizeof *t->step))
        return 0;
    /* copied first: a copy of fields that have just been set waits for each of them */
    struct schedule_step *const added = &t->step[t->count];
    *added = step;
    const enum schedule_op op = (enum schedule_op)step.op;
    if (!schedule_op_sends(op))
        added->send_to = SCHEDULE_NO_RANK;
    if (!schedule_op_receives(op))
        added->recv_from = SCHEDULE_NO_RANK;
    added->wait_first = t->waits;
    added->wait_count = 0;
    added->awaited = added->joined = 0;
    struct schedule *const s = builder->schedule;
    s->channels = step.channel >= s->channels ? step.channel + 1u : s->channels;
    return t->count++;
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
    const struct thread_steps *const t = &builder->rank[rank].thread[thread];
    struct schedule_step *const step = &t->step[t->count - 1];
    step->joined = t->count > 1 && goes_on(builder->schedule, step - 1, step) ? SCHEDULE_JOINED
                                                                              : SCHEDULE_APART;
}

void schedule_wait_for(struct schedule_builder *builder, uint32_t rank, uint32_t thread,
                       struct schedule_wait wait)
{
    if (builder->failed)
        return;
    struct thread_steps *const t = &builder->rank[rank].thread[thread];
    if (!grow(builder, (void **)&t->wait, t->waits, &t->wait_capacity, sizeof *t->wait))
        return;
    t->wait[t->waits++] = wait;
    t->step[t->count - 1].wait_count++;
}

/* Moves a rank's threads into its three arrays. False: out of memory. */
static bool flatten(struct rank_threads *from, struct schedule_rank *to)
{
    for (uint32_t i = 0; i < from->count; i++) {
        to->step_count += from->thread[i].count;
        to->wait_count += from->thread[i].waits;
    }
    to->thread_count = from->count;
    to->thread = calloc(to->thread_count + 1, sizeof *to->thread);
    to->step = calloc(to->step_count + 1, sizeof *to->step);
    to->wait = calloc(to->wait_count + 1, sizeof *to->wait);
    if (to->thread == NULL || to->step == NULL || to->wait == NULL)
        return false;
    uint32_t steps = 0, waits = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        const struct thread_steps *const t = &from->thread[i];
        to->thread[i] = (struct schedule_thread){.step_first = steps,
                                                 .step_count = t->count,
                                                 .part = t->part,
                                                 .line = t->line,
                                                 .other_way = t->other_way};
        for (uint32_t k = 0; k < t->count; k++) {
            to->step[steps] = t->step[k];
            to->step[steps++].wait_first += waits;
        }
        if (t->waits > 0)
            memcpy(to->wait + waits, t->wait, t->waits * sizeof *t->wait);
        waits += t->waits;
        free(from->thread[i].step);
        free(from->thread[i].wait);
        from->thread[i].step = NULL;
        from->thread[i].wait = NULL;
    }
    return true;
}

/* Notes which steps others wait for. A wait for a step that does not exist is left to the check. */
static void mark_awaited(struct schedule_rank *rank)
{
    for (uint32_t t = 0; t < rank->thread_count; t++)
        for (uint32_t k = 0; k < rank->thread[t].step_count; k++) {
            const struct schedule_step *const step = &rank->step[rank->thread[t].step_first + k];
            for (uint32_t i = 0; i < step->wait_count; i++) {
                const struct schedule_wait *const wait = &rank->wait[step->wait_first + i];
                if (wait->thread < rank->thread_count &&
                    wait->step < rank->thread[wait->thread].step_count)
                    rank->step[rank->thread[wait->thread].step_first + wait->step].awaited |=
                        wait->thread == t ? SCHEDULE_AWAITED_WITHIN : SCHEDULE_AWAITED;
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

/* Steps that wait, or that follow one which is waited for, are joined to none. No more than
 * UINT8_MAX are carried out as one. */
static void mark_joined(const struct schedule *s, uint32_t r)
{
    const struct schedule_rank *const rank = &s->rank[r];
    for (uint32_t t = 0; t < rank->thread_count; t++) {
        struct schedule_step *const step = &rank->step[rank->thread[t].step_first];
        for (uint32_t k = 0, chain = 1; k < rank->thread[t].step_count; k++) {
            if (step[k].wait_count > 0 || k == 0 || step[k - 1].awaited != 0)
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
        if (s->partial && builder->rank[r].count == 0)
            continue;
        built = flatten(&builder->rank[r], &s->rank[r]);
        if (built)
            mark_awaited(&s->rank[r]);
        if (built)
            mark_joined(s, r);
        counted += s->rank[r].step_count;
    }
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
    for (uint32_t r = 0; builder->rank != NULL && r < builder->rank_count; r++) {
        for (uint32_t i = 0; i < builder->rank[r].count; i++) {
            free(builder->rank[r].thread[i].step);
            free(builder->rank[r].thread[i].wait);
        }
        free(builder->rank[r].thread);
    }
    schedule_free(builder->schedule);
    free(builder->rank);
    free(builder);
}
