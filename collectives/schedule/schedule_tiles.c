/*
 * schedule_tiles.c: carries out a schedule abstractly, tile by tile, with rings of some slots
 * (schedule_tiles.h). On the host, one thread.
 */
#include "collectives/schedule/schedule_tiles.h"

#include <Judy.h>
#include <stdlib.h>

/* A thread of a rank, on its way. */
struct tile_thread {
    uint32_t step; /* in the thread */
    uint32_t tile; /* of the step */
    bool received; /* this tile, which is still to be sent */
};

struct tiles {
    const struct schedule *schedule;
    uint32_t slots, tiles_of_chunk;
    struct tile_thread *thread; /* [all threads] */
    uint32_t *first;            /* [rank]: its first thread there */
    uint32_t threads;
    Pvoid_t ring;   /* JudyL: (from, to, channel) -> tiles in it */
    uint64_t moves; /* of tiles in and out of rings, and of threads to their next steps */
    bool failed;
};

static Word_t *ring_of(struct tiles *t, uint32_t from, uint32_t to, uint32_t channel)
{
    const Word_t key = ((Word_t)from * t->schedule->rank_count + to) * 256 + channel;
    void **const at = JudyLIns(&t->ring, key, PJE0);
    if (at == NULL || at == PPJERR) {
        t->failed = true;
        return NULL;
    }
    return (Word_t *)at;
}

/* A tile of a step of rank r, if rings allow. */
static bool move_tile(struct tiles *t, uint32_t r, const struct schedule_step *step,
                      struct tile_thread *thread)
{
    const enum schedule_op op = (enum schedule_op)step->op;
    if (schedule_op_receives(op) && !thread->received) {
        Word_t *const ring = ring_of(t, step->recv_from, r, step->channel);
        if (ring == NULL || *ring == 0)
            return false;
        --*ring;
        t->moves++;
        thread->received = true;
    }
    if (schedule_op_sends(op)) {
        Word_t *const ring = ring_of(t, r, step->send_to, step->channel);
        if (ring == NULL || *ring == t->slots)
            return false;
        ++*ring;
        t->moves++;
    }
    thread->received = false;
    return true;
}

static bool waits_for_steps(const struct tiles *t, uint32_t r, const struct schedule_step *step)
{
    const struct schedule_rank *const rank = &t->schedule->rank[r];
    for (uint32_t i = 0; i < step->wait_count; i++) {
        const struct schedule_wait *const wait = &rank->wait[step->wait_first + i];
        if (t->thread[t->first[r] + wait->thread].step <= wait->step)
            return true;
    }
    return false;
}

/* Until the thread waits or ends. */
static void advance_tiles(struct tiles *t, uint32_t r, uint32_t number)
{
    const struct schedule_rank *const rank = &t->schedule->rank[r];
    const struct schedule_thread *const own = &rank->thread[number];
    struct tile_thread *const thread = &t->thread[t->first[r] + number];
    for (; thread->step < own->step_count; thread->step++, thread->tile = 0, t->moves++) {
        const struct schedule_step *const step = &rank->step[own->step_first + thread->step];
        if (thread->tile == 0 && !thread->received && waits_for_steps(t, r, step))
            return;
        const uint32_t tiles = step->count * t->tiles_of_chunk;
        while (thread->tile < tiles && move_tile(t, r, step, thread))
            thread->tile++;
        if (thread->tile < tiles)
            return;
    }
}

/* All threads come to their ends. */
static bool suffices(struct tiles *t)
{
    const struct schedule *const s = t->schedule;
    bool all = true;
    for (uint32_t i = 0; i < t->threads; i++)
        t->thread[i] = (struct tile_thread){0};
    (void)JudyLFreeArray(&t->ring, PJE0);
    for (uint64_t before = UINT64_MAX; before != t->moves && !t->failed;) {
        before = t->moves;
        for (uint32_t r = 0; r < s->rank_count; r++)
            for (uint32_t i = 0; i < s->rank[r].thread_count; i++)
                advance_tiles(t, r, i);
    }
    for (uint32_t r = 0; r < s->rank_count; r++)
        for (uint32_t i = 0; i < s->rank[r].thread_count; i++)
            all &= t->thread[t->first[r] + i].step == s->rank[r].thread[i].step_count;
    return all && !t->failed;
}

uint32_t schedule_tiles_per_step(const struct schedule *schedule, uint32_t n_slots)
{
    struct tiles t = {.schedule = schedule, .slots = n_slots};
    t.first = calloc(schedule->rank_count + 1, sizeof *t.first);
    for (uint32_t r = 0; t.first != NULL && r < schedule->rank_count; r++) {
        t.first[r] = t.threads;
        t.threads += schedule->rank[r].thread_count;
    }
    t.thread = calloc(t.threads + 1, sizeof *t.thread);
    uint32_t found = 0;
    if (t.first != NULL && t.thread != NULL)
        for (t.tiles_of_chunk = n_slots; t.tiles_of_chunk > 0 && found == 0; t.tiles_of_chunk /= 2)
            if (suffices(&t))
                found = t.tiles_of_chunk;
    (void)JudyLFreeArray(&t.ring, PJE0);
    free(t.first);
    free(t.thread);
    return found;
}
