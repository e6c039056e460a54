/*
 * schedule_run.c: carries out a schedule without a machine, on numbers (schedule_run.h).
 */
#include "test/support/schedule_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct message {
    uint64_t value;
    uint32_t depth;
};

/* From one rank to another on a channel. */
struct queue {
    struct message *slot;
    uint32_t sent, received;
};

struct thread_state {
    uint32_t loop, step, unit; /* the chunk of the step */
    uint32_t link;             /* of steps that are carried out as one: the one under way */
    bool has_received;         /* ... of a step that sends, too */
    struct message received;
    uint32_t depth;
};

struct run {
    const struct schedule *s;
    uint32_t slots, loops, depth;
    uint64_t **buffer[SCHEDULE_BUFFERS]; /* [rank][loop * chunks + chunk] */
    struct thread_state **thread;        /* [rank][thread] */
    struct queue **queue;                /* [from][to * channels + channel]; made when used */
};

static uint64_t operand(uint32_t rank, uint32_t chunk, uint32_t loop)
{
    uint64_t x = ((uint64_t)rank << 40) + ((uint64_t)loop << 32) + chunk + 1;
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

static bool shares(const struct schedule *s, uint32_t buffer)
{
    return s->in_place && s->collective == CCL_ALL_REDUCE && buffer == SCHEDULE_OUTPUT;
}

static uint64_t *place_of(struct run *run, uint32_t rank, uint32_t loop,
                          struct schedule_chunks chunks, uint32_t unit)
{
    const uint32_t all = run->s->rank[rank].chunks[chunks.buffer];
    assert_true(chunks.at + unit < all);
    const uint32_t buffer = shares(run->s, chunks.buffer) ? SCHEDULE_INPUT : chunks.buffer;
    return &run->buffer[buffer][rank][(size_t)loop * all + chunks.at + unit];
}

static struct queue *queue_of(struct run *run, uint32_t from, uint32_t to, uint32_t channel)
{
    assert_true(from < run->s->rank_count && to < run->s->rank_count && from != to);
    if (run->queue[from] == NULL)
        run->queue[from] =
            calloc((size_t)run->s->rank_count * run->s->channels, sizeof(struct queue));
    struct queue *const queue = &run->queue[from][to * run->s->channels + channel];
    if (queue->slot == NULL)
        queue->slot = calloc(run->slots, sizeof *queue->slot);
    return queue;
}

static bool is_done(const struct run *run, uint32_t rank, uint32_t loop, struct schedule_wait wait)
{
    const struct thread_state *const t = &run->thread[rank][wait.thread];
    return t->loop > loop || (t->loop == loop && t->step > wait.step);
}

/* One chunk of a step; false: it must wait. */
static bool run_unit(struct run *run, uint32_t rank, struct thread_state *t,
                     const struct schedule_step *step)
{
    const enum schedule_op op = (enum schedule_op)step->op;
    if (schedule_op_receives(op) && !t->has_received) {
        struct queue *const queue = queue_of(run, step->recv_from, rank, step->channel);
        if (queue->sent == queue->received)
            return false;
        t->received = queue->slot[queue->received++ % run->slots];
        t->has_received = true;
    }
    struct message value = t->has_received ? t->received : (struct message){0};
    if (t->has_received && value.depth > t->depth)
        t->depth = value.depth;
    if (schedule_op_reads(op))
        value.value += *place_of(run, rank, t->loop, step->src, t->unit);
    if (schedule_op_sends(op)) {
        struct queue *const queue = queue_of(run, rank, step->send_to, step->channel);
        if (queue->sent - queue->received == run->slots)
            return false;
        value.depth = t->depth + 1;
        run->depth = value.depth > run->depth ? value.depth : run->depth;
        queue->slot[queue->sent++ % run->slots] = value;
    }
    if (op == SCHEDULE_REDUCE)
        value.value += *place_of(run, rank, t->loop, step->dst, t->unit);
    if (schedule_op_writes(op))
        *place_of(run, rank, t->loop, step->dst, t->unit) = value.value;
    t->has_received = false;
    return true;
}

/* One chunk of steps that are carried out as one: a sum that is only sent on is not kept. */
static bool run_chain(struct run *run, uint32_t rank, struct thread_state *t,
                      const struct schedule_step *step, uint32_t chain)
{
    for (; t->link < chain; t->link++)
        if (!run_unit(run, rank, t, step + t->link))
            return false;
    t->link = 0;
    while (chain > 1 && step[chain - 1].op == SCHEDULE_SEND)
        chain--;
    if (chain > 1 && step[chain - 1].op == SCHEDULE_RECV_REDUCE_SEND)
        *place_of(run, rank, t->loop, step->dst, t->unit) = UINT64_C(0x5ca1ab1edeadbeef);
    return true;
}

/* Goes on as far as possible; false: not at all. */
static bool run_thread(struct run *run, uint32_t rank, uint32_t number)
{
    const struct schedule_rank *const r = &run->s->rank[rank];
    const struct schedule_thread *const thread = &r->thread[number];
    struct thread_state *const t = &run->thread[rank][number];
    bool moved = false;
    while (t->loop < run->loops) {
        if (t->step == thread->step_count) {
            t->step = 0;
            t->loop++;
            continue;
        }
        const struct schedule_step *const step = &r->step[thread->step_first + t->step];
        const uint32_t chain = schedule_chain(r, number, t->step);
        for (uint32_t i = 0; i < step->wait_count; i++) {
            const struct schedule_wait wait = r->wait[step->wait_first + i];
            assert_true(wait.thread < r->thread_count && wait.thread != number);
            assert_true(wait.step < r->thread[wait.thread].step_count);
            if (!is_done(run, rank, t->loop, wait))
                return moved;
            if (run->thread[rank][wait.thread].depth > t->depth)
                t->depth = run->thread[rank][wait.thread].depth;
        }
        for (; t->unit < step->count; t->unit++, moved = true)
            if (!run_chain(run, rank, t, step, chain))
                return moved;
        t->unit = 0;
        t->step += chain;
        moved = true;
    }
    return moved;
}

/* The part and the chunk within the part of a chunk of a block, and the block. */
static void check_result(struct run *run, uint32_t rank, uint32_t loop)
{
    const struct schedule *const s = run->s;
    const uint32_t chunks = s->rank[rank].chunks[SCHEDULE_OUTPUT];
    for (uint32_t i = 0; i < chunks; i++) {
        const uint64_t got =
            *place_of(run, rank, loop, (struct schedule_chunks){i, SCHEDULE_OUTPUT, false, {0}}, 0);
        uint64_t wanted = 0;
        if (s->collective == CCL_ALL_GATHER) {
            const uint32_t each = chunks / s->rank_count;
            wanted = operand(i / each, i % each, loop);
        } else if (s->collective == CCL_ALL_TO_ALL) {
            const uint32_t each = chunks / s->rank_count;
            wanted = operand(i / each, rank * each + i % each, loop);
        } else {
            const uint32_t first = s->collective == CCL_REDUCE_SCATTER ? rank * chunks : 0;
            for (uint32_t r = 0; r < s->rank_count; r++)
                wanted += operand(r, first + i, loop);
        }
        if (got != wanted)
            fail_msg("%s, %u ranks: rank %u, chunk %u of the output is wrong", s->name,
                     s->rank_count, rank, i);
    }
}

static void run_create(struct run *run)
{
    const struct schedule *const s = run->s;
    const uint32_t ranks = s->rank_count;
    run->thread = calloc(ranks, sizeof *run->thread);
    run->queue = calloc(ranks, sizeof *run->queue);
    for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++)
        run->buffer[b] = calloc(ranks, sizeof **run->buffer);
    for (uint32_t r = 0; r < ranks; r++) {
        run->thread[r] = calloc(s->rank[r].thread_count + 1, sizeof **run->thread);
        for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++)
            run->buffer[b][r] =
                calloc((size_t)s->rank[r].chunks[b] * run->loops + 1, sizeof ***run->buffer);
        for (uint32_t loop = 0; loop < run->loops; loop++)
            for (uint32_t i = 0; i < s->rank[r].chunks[SCHEDULE_INPUT]; i++)
                *place_of(run, r, loop, (struct schedule_chunks){i, SCHEDULE_INPUT, false, {0}},
                          0) = operand(r, i, loop);
    }
}

static void run_free(struct run *run)
{
    const uint32_t queues = run->s->rank_count * run->s->channels;
    for (uint32_t r = 0; r < run->s->rank_count; r++) {
        for (uint32_t i = 0; run->queue[r] != NULL && i < queues; i++)
            free(run->queue[r][i].slot);
        for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++)
            free(run->buffer[b][r]);
        free(run->queue[r]);
        free(run->thread[r]);
    }
    for (uint32_t b = 0; b < SCHEDULE_BUFFERS; b++)
        free(run->buffer[b]);
    free(run->queue);
    free(run->thread);
}

static uint32_t run_whole(const struct schedule *schedule, uint32_t slots, uint32_t loops)
{
    struct run run = {.s = schedule, .slots = slots, .loops = loops};
    run_create(&run);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t r = 0; r < schedule->rank_count; r++)
            for (uint32_t t = 0; t < schedule->rank[r].thread_count; t++)
                moved = run_thread(&run, r, t) || moved;
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        for (uint32_t t = 0; t < schedule->rank[r].thread_count; t++)
            if (run.thread[r][t].loop < loops)
                fail_msg("%s, %u ranks, %u slots: thread %u of rank %u is blocked at step %u",
                         schedule->name, schedule->rank_count, slots, t, r, run.thread[r][t].step);
        for (uint32_t loop = 0; loop < loops; loop++)
            check_result(&run, r, loop);
    }
    run_free(&run);
    return run.depth;
}

void schedule_run(const struct schedule *schedule, uint32_t slots, uint32_t loops)
{
    (void)run_whole(schedule, slots, loops);
}

uint32_t schedule_run_depth(const struct schedule *schedule)
{
    return run_whole(schedule, 4096, 1);
}

uint32_t schedule_run_peers(const struct schedule *schedule)
{
    uint32_t most = 0;
    bool *const seen = calloc(schedule->rank_count, sizeof *seen);
    for (uint32_t r = 0; r < schedule->rank_count; r++)
        for (uint32_t t = 0; t < schedule->rank[r].thread_count; t++) {
            const struct schedule_thread *const thread = &schedule->rank[r].thread[t];
            uint32_t peers = 0;
            memset(seen, 0, schedule->rank_count * sizeof *seen);
            for (uint32_t i = 0; i < thread->step_count; i++) {
                const struct schedule_step *const step =
                    &schedule->rank[r].step[thread->step_first + i];
                const uint32_t peer[] = {step->send_to, step->recv_from};
                for (uint32_t k = 0; k < 2; k++)
                    if (peer[k] != SCHEDULE_NO_RANK && !seen[peer[k]]) {
                        seen[peer[k]] = true;
                        peers++;
                    }
            }
            most = peers > most ? peers : most;
        }
    free(seen);
    return most;
}
