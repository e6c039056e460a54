/*
 * batch_times.c: the times of a batch's messages and kernels (batch_times.h). Each worker's figures
 * are in cache lines of their own, and are summed up when somebody asks.
 */
#include "lp/host/batch_times.h"

#include <stdlib.h>
#include <string.h>

#include "lp/kernel/tl.h"

/* The records of the batch that one worker has had. */
struct lp_worker_times {
    _Alignas(128) struct sync_u64 started, ended;
    struct sync_u64 first_start_ps, last_start_ps, last_end_ps;
    struct sync_u64 last_end_pe; /* of last_end_ps, the least */
};

bool lp_batch_times_init(struct lp_batch_times *times, uint32_t worker_count, uint8_t *phase_of)
{
    *times = (struct lp_batch_times){.worker_count = worker_count, .phase_of = phase_of};
    times->of_worker =
        aligned_alloc(_Alignof(struct lp_worker_times), worker_count * sizeof *times->of_worker);
    return times->of_worker != NULL;
}

static void free_phases(struct lp_batch_times *times)
{
    free(times->phases.start_ps);
    free(times->phases.exit_ps);
    free(times->rank_before_ps);
    free(times->rank_after_ps);
}

void lp_batch_times_free(struct lp_batch_times *times)
{
    free(times->of_worker);
    free_phases(times);
}

void lp_batch_times_reset(struct lp_batch_times *times, int64_t now_ps)
{
    times->sum = (struct lp_times){.submitted_ps = now_ps};
    for (uint32_t i = 0; i < times->worker_count; i++) {
        times->of_worker[i] = (struct lp_worker_times){0};
        sync_store_release(&times->of_worker[i].first_start_ps, INT64_MAX); /* no worker runs */
    }
}

bool lp_batch_times_name_phases(struct lp_batch_times *times, const struct tl_kernel *kernel,
                                size_t rank_count)
{
    const size_t exits = rank_count * kernel->phase_count;
    free_phases(times);
    times->rank_count = rank_count;
    times->phases = (struct lp_phases){.name = kernel->phase,
                                       .count = kernel->phase_count,
                                       .ranks = (uint32_t)rank_count,
                                       .start_ps = malloc((rank_count + 1) * sizeof(int64_t)),
                                       .exit_ps = malloc((exits + 1) * sizeof(int64_t))};
    times->rank_before_ps = calloc(rank_count + 1, sizeof *times->rank_before_ps);
    times->rank_after_ps = calloc(exits + 1, sizeof *times->rank_after_ps);
    return times->phases.start_ps != NULL && times->phases.exit_ps != NULL &&
           times->rank_before_ps != NULL && times->rank_after_ps != NULL;
}

/* ---- on the workers -------------------------------------------------------------------------- */

/* One more, in a word that only this worker writes. */
static void count_one(struct sync_u64 *count)
{
    sync_store_release(count, sync_load_acquire(count) + 1); /* for figures: orders nothing */
}

/* For figures after the drain: the two words need not fit while it lasts. */
static void note_end(struct lp_worker_times *mine, const struct lp_kernel_record *record)
{
    const int64_t last_ps = (int64_t)sync_load_acquire(&mine->last_end_ps);
    if (record->t_ps > last_ps ||
        (record->t_ps == last_ps && record->pe < sync_load_acquire(&mine->last_end_pe)))
        sync_store_release(&mine->last_end_pe, record->pe);
    sync_raise(&mine->last_end_ps, record->t_ps);
}

void lp_batch_times_mark(struct lp_batch_times *times, uint32_t worker, uint32_t rank, size_t on,
                         const struct lp_kernel_record *record)
{
    struct lp_worker_times *const mine = &times->of_worker[worker];
    const uint32_t phases = times->phases.count;
    uint8_t *const phase = &times->phase_of[on];
    if (record->mark == LP_MARK_START) {
        count_one(&mine->started);
        sync_lower(&mine->first_start_ps, record->t_ps);
        sync_raise(&mine->last_start_ps, record->t_ps);
        sync_raise(&times->rank_before_ps[rank], INT64_MAX - record->t_ps);
        *phase = 255;
        return;
    }
    if (*phase < phases)
        sync_raise(&times->rank_after_ps[(size_t)rank * phases + *phase], record->t_ps + 1);
    *phase = record->mark == LP_MARK_PHASE ? (uint8_t)record->phase : 255;
    if (record->mark == LP_MARK_END) {
        count_one(&mine->ended);
        note_end(mine, record);
    }
}

/* ---- sums and extremes over the workers ------------------------------------------------------ */

const struct lp_times *lp_batch_times_sum(struct lp_batch_times *times)
{
    struct lp_times *const sum = &times->sum;
    *sum = (struct lp_times){.submitted_ps = sum->submitted_ps, .submitted = sum->submitted};
    int64_t first_ps = INT64_MAX;
    for (uint32_t i = 0; i < times->worker_count; i++) {
        const struct lp_worker_times *const of = &times->of_worker[i];
        const int64_t first = (int64_t)sync_load_acquire(&of->first_start_ps);
        const int64_t last[2] = {(int64_t)sync_load_acquire(&of->last_start_ps),
                                 (int64_t)sync_load_acquire(&of->last_end_ps)};
        const uint32_t last_pe = (uint32_t)sync_load_acquire(&of->last_end_pe);
        if (last[1] > sum->last_end_ps ||
            (last[1] == sum->last_end_ps && last_pe < sum->last_end_pe))
            sum->last_end_pe = last_pe;
        first_ps = first < first_ps ? first : first_ps;
        sum->last_start_ps = last[0] > sum->last_start_ps ? last[0] : sum->last_start_ps;
        sum->last_end_ps = last[1] > sum->last_end_ps ? last[1] : sum->last_end_ps;
        sum->started += (uint32_t)sync_load_acquire(&of->started);
        sum->ended += (uint32_t)sync_load_acquire(&of->ended);
    }
    sum->first_start_ps = first_ps == INT64_MAX ? 0 : first_ps;
    return sum;
}

const struct lp_phases *lp_batch_times_phases(struct lp_batch_times *times)
{
    const struct lp_phases *const phases = &times->phases;
    const size_t ranks = phases->start_ps != NULL ? times->rank_count : 0;
    for (size_t i = 0; i < ranks; i++) {
        const int64_t before_ps = (int64_t)sync_load_acquire(&times->rank_before_ps[i]);
        phases->start_ps[i] = before_ps == 0 ? -1 : INT64_MAX - before_ps;
    }
    for (size_t i = 0; i < ranks * phases->count; i++)
        phases->exit_ps[i] = (int64_t)sync_load_acquire(&times->rank_after_ps[i]) - 1;
    return phases;
}
