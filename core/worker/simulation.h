/*
 * simulation.h: the data of one simulation, for the engine's own files. No functions: those are
 * in host_api.c, sequential.c and run/parallel.c.
 *
 * The engine has no state outside struct cw_sim, but for two things of a thread (core/README.md).
 * Its configuration is const after creation. The host's thread uses it between drains, the workers'
 * threads during a drain.
 */
#ifndef CORE_SIMULATION_H
#define CORE_SIMULATION_H

#include <string.h>

#include "core/cw.h"
#include "core/os/sync.h"
#include "core/worker/lp_states.h"
#include "core/os/memory.h"
#include "core/exchange/gvt_slot.h"
#include "core/exchange/recorder.h"

struct balance;
struct gather;
struct lp_logs;
struct migration;
struct pin;
struct threads;
struct worker;

/* The figures last reported to the host, so that later ones are consistent with them (progress.c).
 */
struct progress_reported {
    uint64_t calls;
    int64_t gvt_ps;
};

/* Of the listener (run/listen.h), for the statistics. */
struct listen_figures {
    uint64_t events;
    double shared_s, serial_s;
};

/* Grouped by writer while workers run. Fields that all workers read for each event must not share
 * a cache line with a field that any of them writes, nor be on the adjacent line, because lines are
 * fetched in pairs. */
struct cw_sim {
    /* written by no worker */
    struct cw_config config; /* its arrays are copies of the caller's */
    struct cw_model model;
    struct lp_states lp_states;
    struct worker *workers; /* [worker_count] */
    int64_t end_ps;         /* exclusive, of this drain; at most config.end_ps */
    uint32_t worker_count;
    uint32_t listener; /* LP (run/listen.h); NO_LISTENER: there is none */
    /* only in the parallel modes: */
    struct gvt_slot *slots;      /* [worker_count] */
    int64_t *path_delays_ps;     /* [to * worker_count + from]: D of I-SAFE-1 */
    struct lp_logs *lp_logs;     /* [LP]: undo_log.h */
    struct balance *balance;     /* core/run/balance.h; NULL: work is not measured */
    struct migration *migration; /* core/run/migrate.h; NULL: no part moves */
    uint32_t thread_count;       /* that the workers run on */
    uint32_t cores;              /* that the host's thread may run on */
    bool crowded;                /* there are more threads than cores */
    bool can_fence_all;          /* sync.h */
    struct threads *threads;     /* NULL before the first drain */
    struct pin *pin;             /* NULL: the system places the threads */
    struct gather *gather;       /* NULL: each thread always runs its own workers */
    uint64_t origin_ticks;       /* when the simulation was created */
    double drain_start_s;        /* of this drain, or of the last one */
    int64_t now_ps;              /* of the last drain's end */
    struct cw_times times;
    uint64_t run_ticks; /* in drains, as run_s */
    struct listen_figures listen;
    /* written by any worker, seldom */
    _Alignas(128) struct sync_u64 sleepers; /* workers that sleep, or are about to (wait.h) */
    struct sync_u64 aborted; /* 1 + the worker that ran out of memory or found a bug (the
                                number of workers: the recorder); 0: none */
    struct sync_u64 paused;  /* worker 0's: not 0: no thread runs its own workers (gather.h) */
    _Alignas(128) struct memory memory; /* apart from `aborted`, which each turn reads */
    struct cw_error failure;            /* of the drain that failed; exit_code CW_OK: none has */
    struct cw_event failed;             /* the event at which it failed, */
    bool has_failed_event;              /* if there is one */
    struct gvt_rounds gvt_rounds;       /* on its own cache lines */
    struct cw_error recorder_failure;   /* if the recorder ran out of memory */
    _Alignas(128) struct recorder recorder; /* recorder.h says which thread writes which word */
    /* written by worker 0 */
    _Alignas(128) struct progress_reported reported;
};

/* Whether a worker has ended the run (abort_run() in wait.h). */
static inline bool simulation_aborted(const struct cw_sim *sim)
{
    /* acquire: pairs with abort_run(). The host reads the failure after the drain anyway. */
    return sync_load_acquire(&sim->aborted) != 0;
}

/* Whether a thread is to leave the loop of its workers (gather.h); the run may also have ended. */
static inline bool simulation_paused(const struct cw_sim *sim, bool together)
{
    /* acquire: pairs with ask_to_pause() and part() */
    return simulation_aborted(sim) || (sync_load_acquire(&sim->paused) != 0) != together;
}

/* The drain fails at this event. */
static inline void simulation_failed_at(struct cw_sim *sim, const struct cw_event *event)
{
    memcpy(&sim->failed, event, offsetof(struct cw_event, payload) + event->payload_bytes);
    sim->has_failed_event = true;
}

#endif
