/*
 * simulation.h: a simulation's insides, for the engine's own files.
 *
 * Everything hangs off struct cw_sim; the configuration is const after creation. One thread, the
 * host's, enters between drains.
 */
#ifndef CORE_SIMULATION_H
#define CORE_SIMULATION_H

#include "core/timewarp/gvt.h"
#include "core/timewarp/record_merge.h"
#include "core/cause_trace.h"
#include "core/host/pin.h"
#include "core/host/threads.h"
#include "core/timewarp/worker.h"

/* By who writes it while workers run: what they all read for each event must not lie on a line that
 * one of them writes, nor on its neighbour, which is fetched along. */
struct cw_sim {
    /* nobody */
    struct cw_config config; /* its arrays are copies of the caller's */
    struct cw_model model;
    struct lp_states lp_states;
    struct worker *workers; /* [worker_count] */
    uint32_t worker_count;
    struct gvt_slot *slots;  /* [worker_count]; like what follows, the parallel modes' */
    int64_t *path_delays_ps; /* [from * worker_count + to]: D of I-SAFE-1 */
    struct lp_logs *lp_logs; /* [LP]: undo_log.h */
    uint32_t thread_count;   /* that the workers run on */
    bool crowded;            /* there are more threads than cores */
    bool can_fence_all;      /* sync.h */
    struct threads *threads; /* NULL before the first drain */
    struct pin *pin;         /* NULL: the system places the threads */
    double drain_start_s;    /* of this drain, or the last */
    double run_s;
    uint64_t run_ticks; /* in drains, as run_s */
    /* anybody, seldom */
    _Alignas(128) struct sync_u64 sleepers; /* workers that sleep, or are about to (wait.h) */
    struct sync_u64 aborted; /* 1 + the worker that ran out of memory, or found a bug; 0: none */
    struct memory memory;
    struct cw_error failure; /* of the drain that failed; exit_code CW_OK: none did */
    /* worker 0 */
    _Alignas(128) struct record_merger merger;
    struct stats_told told;
    struct cause_trace trace; /* the sequential mode's */
};

/* Runs until no event before the end is left (sequential.c). Returns an enum cw_exit. */
int sequential_drain(struct cw_sim *sim, struct cw_error *error);

/* Likewise, by all workers (parallel.c). */
int parallel_drain(struct cw_sim *sim, struct cw_error *error);
/* What the parallel modes need, beside the workers (parallel.c). */
int parallel_create(struct cw_sim *sim, struct cw_error *error);
void parallel_free(struct cw_sim *sim);
/* Ends the run with this worker's failure, unless another one was first. */
void simulation_abort(struct cw_sim *sim, const struct worker *worker);
static inline bool simulation_aborted(const struct cw_sim *sim)
{
    /* acquire: pairs with simulation_abort(), whose failure the host reads after the drain anyway
     */
    return sync_load_acquire(&sim->aborted) != 0;
}

#endif
