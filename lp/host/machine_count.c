/*
 * machine_count.c: counts figures over all PEs. Each worker counts a part of the cubes, in memory
 * of its own.
 */
#include "lp/host/machine_count.h"

#include <stdlib.h>

/* The sums of one worker. */
struct worker_counts {
    _Alignas(128) struct lp_counts sum;
};

struct counting {
    const struct lp_model *m;
    const struct cw_sim *sim;
    uint32_t workers;
    struct worker_counts *counts; /* [workers] */
};

static void count_part(void *arg, uint32_t worker)
{
    const struct counting *const counting = arg;
    const struct lp_model *const m = counting->m;
    const uint64_t cubes = (uint64_t)m->sips * m->cubes;
    struct lp_counts sum = {0};
    for (uint64_t i = cubes * worker / counting->workers;
         i < cubes * (worker + 1) / counting->workers; i++) {
        const struct lp_cube *const cube = cw_state(counting->sim, 1 + (uint32_t)i);
        for (uint32_t pe = 0; pe < m->pes; pe++) {
            const struct lp_pe *const p = lp_pe(m, cube, pe);
            sum.queue_pairs += (uint64_t)__builtin_popcount(p->installed);
            for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
                sum.messages += p->queue[dir].my_head;
        }
    }
    counting->counts[worker].sum = sum;
}

struct lp_counts lp_machine_count(const struct lp_model *m, struct cw_sim *sim, uint32_t workers)
{
    struct worker_counts alone;
    struct counting counting = {m, sim, workers, NULL};
    struct lp_counts sum = {0};
    counting.counts =
        aligned_alloc(_Alignof(struct worker_counts), counting.workers * sizeof *counting.counts);
    if (counting.counts == NULL) {
        counting.workers = 1;
        counting.counts = &alone;
        count_part(&counting, 0);
        return alone.sum;
    }
    cw_each_worker(sim, count_part, &counting);
    for (uint32_t i = 0; i < counting.workers; i++) {
        sum.queue_pairs += counting.counts[i].sum.queue_pairs;
        sum.messages += counting.counts[i].sum.messages;
    }
    free(counting.counts);
    return sum;
}
