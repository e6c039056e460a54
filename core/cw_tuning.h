/*
 * cw_tuning.h: what makes a run on several threads faster, and shows how it went. Nothing here
 * changes a result, and a run goes without. cw.h includes this header.
 *
 * In order: the members of struct cw_tuning and the functions that they name; the host's work on
 * the threads of the workers; figures and intervals of a run; snapshots, for runs that begin alike.
 */
#ifndef CW_H
#include "cw.h" /* IWYU pragma: keep */
#endif
#ifndef CW_TUNING_H
#define CW_TUNING_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- moving, gathering, listening ---------------------------------------------------------- */

/* Whether parts of the model move between workers while they run. Parts never move if the least
 * delays are not all equal and cw_tuning.least_delays is NULL. */
enum cw_balance {
    CW_BALANCE_OFF, /* CW_STRESS moves parts at random all the same */
    CW_BALANCE_ON,  /* if workers have much more to do than others for long */
    CW_BALANCES
};
CW_API extern const char *const cw_balance_name[CW_BALANCES]; /* "off", ... */

/* Whether one thread handles all events, while the others sleep, where several would be slower. */
enum cw_gather { CW_GATHER_NEVER, CW_GATHER_IF_FASTER, CW_GATHERS };

/*
 * The least delays between workers for other owners of the LPs: fills least_delay_ps as
 * cw_config.least_delay_ps is filled. Called on the thread that drains, while other threads run
 * handlers. It must not call the engine.
 *   arg           cw_tuning.least_delays_arg
 *   lp_worker     [lp_count] the worker of each LP; all LPs of a part have the same one
 *   worker_count  workers
 */
typedef void (*cw_least_delays_fn)(void *arg, const uint32_t *lp_worker, uint32_t worker_count,
                                   int64_t *least_delay_ps);

/* ---- records on the workers ---------------------------------------------------------------- */

/*
 * Receives the commit records of the LPs that one worker owns, on that worker's thread. The records
 * of one LP come in the total order; between LPs there is no order. A record comes as soon as its
 * event is final: right after the handler, if the event was safe. It must not call the engine.
 *   arg     cw_tuning.worker_arg
 *   worker  the worker that owns event->lp
 *   event, kind, record, bytes  as for cw_record_fn
 */
typedef void (*cw_worker_record_fn)(void *arg, uint32_t worker, const struct cw_event *event,
                                    uint16_t kind, const void *record, uint16_t bytes);
/*
 * Called by each worker between batches of events, for a receiver of records that waits for the
 * records of other workers. Returns whether anything of this worker is still pending. At the end of
 * a drain, when all records have come, each worker calls it again for some milliseconds as long as
 * something is. The host finishes the rest after the drain.
 */
typedef bool (*cw_worker_look_fn)(void *arg, uint32_t worker);

/* For handlers: whether this event will not be undone, and the records of its LP's events before it
 * have reached cw_tuning.worker_record. Then the handler may give at once to the host's data of
 * *worker, which runs it, all that it would emit. */
CW_API bool cw_is_final(struct cw_ctx *ctx, uint32_t *worker);

/* ---- watching a drain ---------------------------------------------------------------------- */

/* How far a drain is. The figures are the sums over all workers since the simulation was created.
 */
struct cw_progress {
    uint64_t round;  /* of GVT; CW_SEQUENTIAL: the number of such reports */
    double run_s;    /* wall time inside drains */
    int64_t gvt_ps;  /* no event before this time can be undone; never falls */
    int64_t safe_ps; /* events before this time need no undo; >= gvt_ps; CW_TIME_MAX: all events */
    uint64_t events_committed, events_processed, events_rolled_back;
    uint64_t window_events;  /* events that may be speculated at a time */
    uint64_t history_events; /* events that were speculated, and may yet be undone */
    int64_t ahead_ps;        /* how far the latest of these events is beyond GVT */
    uint64_t memory_bytes;   /* as far as the engine accounts for it */
    double idle_share;       /* of the workers' time so far, as far as it was sampled */
};
/* Called on the thread that drains. It must not call the engine. */
typedef void (*cw_progress_fn)(void *arg, const struct cw_progress *progress);

/* ---- all together -------------------------------------------------------------------------- */

/* cw_config.tuning. Zeros are good defaults. */
struct cw_tuning {
    uint32_t thread_count;   /* that workers run on, several taking turns on one; 0: one for each
                                worker, but no more than cores, except for CW_STRESS */
    bool pin_workers;        /* each thread to a hardware thread of its own on which the
                                caller may run; the caller only while a drain lasts. No
                                thread is pinned if there are too few */
    bool lazy_cancellation;  /* CW_OPTIMISTIC, CW_ADAPTIVE: messages of an undone event stay
                                until its new run has shown whether it sends them again;
                                false: they are cancelled at once */
    bool hash_off;           /* leave the trace hash out */
    bool leave_signals;      /* faults in handlers (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT)
                                keep their effect on the process, and no timer sends
                                SIGVTALRM. false: they fail the event (core/ENGINE.md, "Faults
                                in handlers") */
    enum cw_gather gather;   /* not in CW_SEQUENTIAL and CW_STRESS, nor with check_changes */
    enum cw_balance balance; /* whether parts of the model move between workers */
    const uint32_t *lp_part; /* [lp_count] the part of each LP: LPs that move together, and
                                start on one worker; numbered from 0; NULL: blocks */
    cw_least_delays_fn least_delays; /* NULL: the least delays are the same for all owners */
    void *least_delays_arg;
    uint32_t listener;            /* 1 + the LP that only listens: its handler sends and emits
                                     nothing. Several workers handle its events at the end of
                                     a drain, after all others, and no worker waits for them.
                                     Least delays do not hold of sends to it. 0: none */
    uint32_t sends_per_event_max; /* 0: 65,536; at most 2^22; the limit of records is the same */
    int64_t window_ps;            /* CW_OPTIMISTIC, CW_ADAPTIVE: events this far beyond GVT wait;
                                     >= 0, 0: no limit. CW_STRESS: not 0 runs half of the safe events
                                     without undo */
    uint64_t stress_seed;         /* CW_STRESS: seed of its random decisions */
    uint64_t stress_rate_p32;     /* CW_STRESS: how often it undoes an event, times 2^32; 0: one
                                     event in ten. Each event is undone so at most twice, and the
                                     first event of each worker always */
    size_t interval_bytes;        /* of memory for each worker, to note how it spends its time
                                     (cw_sim_intervals()); 0: nothing is noted */
    cw_worker_record_fn worker_record; /* beside cw_config.record; NULL: not wanted */
    cw_worker_look_fn worker_look;     /* NULL: nothing is ever pending */
    void *worker_arg;                  /* of both */
    cw_progress_fn progress;           /* every 2^16 events, or every few rounds of GVT; or NULL */
    cw_progress_fn each_round;         /* every round of GVT, and the end of each drain; or NULL */
    void *progress_arg;                /* of both */
};

/* ---- figures ------------------------------------------------------------------------------- */

/* Activities that a worker's time is divided into. */
enum cw_activity {
    CW_HANDLING, /* handlers, with their sends, and committing safe events */
    CW_QUEUE,    /* finding and taking the next event */
    CW_ROLLBACK, /* undoing and cancelling */
    CW_GVT,      /* GVT, fossil collection, records, messages between workers */
    CW_IDLE,     /* waiting for the other workers */
    CW_ACTIVITIES
};
CW_API extern const char *const cw_activity_name[CW_ACTIVITIES]; /* "handling", ... */

/* Counts and times since the simulation was created. */
struct cw_stats {
    uint64_t events_committed, events_processed, events_rolled_back, anti_messages;
    uint64_t events_restored;     /* of those committed: by the simulation that the snapshot is of
                                     (cw_sim_restore()) */
    uint64_t rollbacks;           /* of an LP, by any number of events; the sum of the next three */
    uint64_t rollbacks_primary;   /* by a straggler, or by a cancellation from another worker */
    uint64_t rollbacks_secondary; /* because an event was cancelled within a worker */
    uint64_t rollbacks_injected, states_moved, looks_held_back; /* CW_STRESS */
    uint64_t rollback_events_max;                               /* undone by one rollback */
    uint64_t gvt_rounds, safe_events;
    uint64_t gathered_events;    /* of the safe ones: handled while one thread had all events */
    uint64_t moves, parts_moved; /* how often parts moved between workers, and how many in all */
    double move_s;               /* wall time in those moves; all workers stop for them */
    uint64_t undo_bytes;    /* written to undo logs: before-images, sends, records, their heads */
    uint64_t messages_sent; /* to other workers, cancellations included */
    uint64_t turns;      /* of the workers' loops: a check of the others, then a batch of events */
    uint64_t turns_idle; /* of these, turns that found no event to handle */
    uint64_t promises_raised; /* writes of a word that other workers read */
    uint64_t sends_reused;    /* cw_tuning.lazy_cancellation: messages that were sent again */
    uint64_t events_alive, events_alive_max;
    uint64_t window_first, window_last; /* events that a worker may speculate at a time */
    double window_mean;                 /* over the rounds of GVT; of several workers, the mean */
    double gvt_round_mean_s;            /* wall time from a worker's first cut to its new GVT */
    double time_share[CW_ACTIVITIES];   /* sampled; the sum is 1, or 0 without samples */
    uint64_t trace_hash;      /* of all committed events: the same for every mode and partition */
    uint32_t threads_pinned;  /* all, or none */
    double run_s;             /* wall time inside cw_drain(), all drains */
    double host_s;            /* wall time inside cw_each_worker(), all calls */
    uint64_t events_listened; /* of those committed: at the end of drains (cw_tuning.listener) */
    double listen_shared_s;   /* wall time: the workers put them in order, and free them */
    double listen_serial_s;   /* one thread handles them */
};

/* Wall time of a simulation on the threads of its workers; of one thread that takes all workers in
 * turn, too. */
struct cw_times {
    double run_s;        /* inside cw_drain() */
    double host_s;       /* inside cw_each_worker() */
    double work_s;       /* of that, in the host's function: the sum over all workers */
    double longest_s;    /* the same, of each call's longest worker: with a core for each worker, no
                            call ends earlier */
    uint64_t host_calls; /* of cw_each_worker() */
};
/* Between drains; a handful of loads. */
CW_API struct cw_times cw_sim_times(const struct cw_sim *sim);
/* The same as cw_sim_stats(), for one worker. The figures that belong to the simulation as a whole
 * (trace hash, pinning, wall time) are 0. */
CW_API void cw_sim_worker_stats(const struct cw_sim *sim, uint32_t worker, struct cw_stats *stats);

/* The kinds of intervals that a worker's time is shown as. */
enum cw_interval_kind {
    /* The first level: these follow each other. */
    CW_INTERVAL_WORK,   /* turns in a row that had something to do */
    CW_INTERVAL_TURN,   /* one such turn, sampled: its parts are shown apart */
    CW_INTERVAL_WAIT,   /* nothing to do */
    CW_INTERVAL_PARKED, /* taken out of the run for a while */
    CW_INTERVAL_HOST,   /* a call by cw_each_worker() */
    /* Inside those: */
    CW_INTERVAL_PART,     /* of a sampled turn: `activity`, where CW_HANDLING is a batch of events,
                             CW_QUEUE included */
    CW_INTERVAL_ROLLBACK, /* a long one; `count` events were undone */
    CW_INTERVAL_RECORDS,  /* commit records are delivered */
    CW_INTERVAL_DATA,     /* the host works on this worker's records: cw_tuning.worker_record */
    CW_INTERVAL_MOVE,     /* `count` LPs go to worker `other`, or come from there */
    /* Beside them: */
    CW_INTERVAL_ROUND, /* of GVT, which stops no worker: from the first cut to the new GVT */
    CW_INTERVALS
};
CW_API extern const char *const cw_interval_name[CW_INTERVALS]; /* "work", ... */

/* How a worker spent a while. A member that belongs to another kind is 0. */
struct cw_interval {
    double begin_s, end_s; /* wall time since the simulation was created */
    enum cw_interval_kind kind;
    enum cw_activity activity; /* PART */
    uint32_t other; /* WAIT: the worker whose promise limits the safe bound; itself: none. MOVE */
    uint64_t events_committed, events_rolled_back; /* of the first level: in it */
    double waited_s;        /* WORK, TURN: of it, in waits that are too short to be shown */
    uint64_t window_events; /* ROUND: that this worker may speculate at a time */
    uint64_t memory_bytes;  /* ROUND of worker 0: as far as the engine accounts for it */
    uint64_t count;
};
typedef void (*cw_interval_fn)(void *arg, uint32_t worker, const struct cw_interval *interval);

/*
 * Calls `fn` for all intervals that were noted (cw_tuning.interval_bytes), worker by worker.
 * Between drains, after a failed one, too.
 *
 * Intervals of the first level come in the order of time and fill each drain. Between drains there
 * are intervals of the host's calls. Others are in no order; each is inside an interval of the
 * first level, or beside it. If the memory does not suffice, the intervals show the whole run in
 * less detail: short ones join their neighbours, and only some of the turns and rounds are there. A
 * worker that shares its thread with others has their turns in its own intervals.
 */
CW_API void cw_sim_intervals(const struct cw_sim *sim, cw_interval_fn fn, void *arg);

/* ---- the host on the workers' threads ------------------------------------------------------ */

/* The number of workers; 1 for CW_SEQUENTIAL. */
CW_API uint32_t cw_sim_worker_count(const struct cw_sim *sim);

/* The worker that owns an LP; of the workers' threads, each may ask while a drain lasts. */
CW_API uint32_t cw_lp_worker(const struct cw_sim *sim, uint32_t lp);

/* The host's work for one worker's LPs. It must not call the engine, except for cw_state(), and
 * cw_inject() to LPs of this worker. */
typedef void (*cw_worker_fn)(void *arg, uint32_t worker);
/*
 * Calls fn(arg, worker) once for each worker, each on the thread that runs the worker in a drain,
 * and returns when all calls have returned. So memory that fn is the first to write is near the
 * cores that use it. A thread with several workers takes them in ascending order. Between drains
 * only, after a failed one too. CW_SEQUENTIAL, one thread, and a system that starts too few threads
 * have all calls made on the calling thread.
 *   sim  the simulation
 *   fn   sees all that the caller has written before; calls on different threads run at the same
 *        time, so that they may write to different places only. Worker 0's is on the caller's stack
 *   arg  as fn gets it
 */
CW_API void cw_each_worker(struct cw_sim *sim, cw_worker_fn fn, void *arg);
/* Gives back, on the workers, the large memory that they own: events and states. Afterwards nothing
 * may be asked but cw_sim_times() and cw_each_worker(), and cw_sim_free() has little left to do.
 * Does nothing after a failure, and for small models. */
CW_API void cw_sim_clear(struct cw_sim *sim);

/* ---- events and states at hand --------------------------------------------------------------- */

/*
 * For a host that knows what some LPs will do, and puts the outcome in place instead of having it
 * simulated. CW_SEQUENTIAL alone; all but cw_pause() between drains, after a drain that has not
 * failed. The trace hash and the counts are of the events that are handled.
 */
/* For handlers: the drain ends after this event, as if no event were left before its end. */
CW_API void cw_pause(struct cw_ctx *ctx);
/* Calls take(arg, event) for each pending event, in no order, and drops those for which it is true.
 * Takes time for all pending events. Returns CW_OK, or an exit code with *error filled. */
typedef bool (*cw_take_fn)(void *arg, const struct cw_event *event);
CW_API int cw_take_events(struct cw_sim *sim, cw_take_fn take, void *arg, struct cw_error *error);
/* Adds an event as it is, its depth included. It may be before cw_sim_now(), if its LP and those
 * that it affects have handled nothing later. Returns CW_OK, or an exit code with *error filled. */
CW_API int cw_put_event(struct cw_sim *sim, const struct cw_event *event, struct cw_error *error);
/* The state of an LP, to change; valid until the next drain. NULL: there is no such LP. */
CW_API void *cw_state_to_change(struct cw_sim *sim, uint32_t lp);

/* ---- snapshots ----------------------------------------------------------------------------- */

/*
 * The states of all LPs between two drains, for other simulations of the same model: several runs
 * that begin alike need their beginning once. Const: several simulations may be restored from one.
 */
struct cw_snapshot;
/*
 * Takes a snapshot. Between drains, when no event is left. NULL: a drain has failed (with that
 * error), events are left, or there is no memory.
 *   sim    not changed, but for the times of cw_each_worker()
 *   error  filled on failure
 */
CW_API struct cw_snapshot *cw_snapshot_take(struct cw_sim *sim, struct cw_error *error);
/*
 * A new simulation continues as the snapshot's would have. States, trace hash, time, counts
 * of events committed, processed and safe, and the most events alive are the snapshot's. Counts of
 * the engine's other work, and times, begin at 0.
 *   sim       of a model with the same LPs and sizes, in the same mode, with as many workers; no
 *             event has been injected yet
 *   snapshot  not changed
 *   error     filled on failure; then nothing has changed
 * Returns CW_OK or the error's exit code.
 */
CW_API int cw_sim_restore(struct cw_sim *sim, const struct cw_snapshot *snapshot,
                          struct cw_error *error);
CW_API size_t cw_snapshot_bytes(const struct cw_snapshot *snapshot); /* of memory */
CW_API void cw_snapshot_free(struct cw_snapshot *snapshot);          /* accepts NULL */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
