/*
 * timewarp.h: the data that a worker owns for Time Warp (Jefferson, Virtual Time, 1985), beside its
 * data in every mode (worker.h). No functions: each part is named after the file that owns it.
 *
 * Each worker owns some LPs, their events and their undo logs. During a drain no other worker sees
 * them. Workers meet in two places: the mailboxes (mailbox.h), and one slot for each worker, in
 * which it reports to the GVT computation (gvt_slot.h).
 *
 * An event is safe when nothing that could still reach its LP comes before it. Safe events are
 * handled as in a sequential run, and committed at once. Others are handled speculatively: a log
 * (undo_log.h) lets the event be undone until GVT has passed it.
 *
 * I-TW-1: lp_logs[lp] has one log for each event of the LP that is processed and not committed.
 * From the newest on they descend in the total order.
 * I-TW-2: an event is freed once, by its owner: when it commits, or when it has been cancelled and
 * is taken from the pending set.
 */
#ifndef CORE_TIMEWARP_H
#define CORE_TIMEWARP_H

#include "core/queue/event.h"
#include "core/os/table.h"
#include "core/exchange/send_quota.h"
#include "core/exchange/peers.h"
#include "core/exchange/record_outbox.h"
#include "core/exchange/gvt_slot.h"
#include "core/speculation/throttle.h"
#include "core/speculation/undo_log.h"

struct worker;

/* Handlers that have failed (handle_events.c). */
struct failures {
    bool stuck;                   /* a speculative event has failed at stuck_at: */
    bool failed;                  /* a safe event has failed for good: */
    struct key stuck_at;          /* events from here on wait until they are safe */
    const struct cw_event *event; /* if `failed`: that event, */
    struct cw_error error;        /* and its failure */
};

/* gvt.c */
struct gvt {
    uint64_t round;
    enum gvt_stage stage;
    bool over;                     /* no event is left before the end, or a failure is certain */
    bool wanted;                   /* a round: the worker that this one waits for is asleep */
    const struct cw_event *failed; /* the event at GVT whose failure ends the run; NULL: no failure
                                      is certain */
    struct key now;                /* GVT */
    struct key reported;           /* the least key that was pending at the last report */
    int64_t safe_ps; /* events strictly before this are safe; never before GVT's time */
    uint64_t rounds;
    uint64_t processed_then; /* the worker's processed events when the last round ended */
    uint64_t rest_until;     /* the worker's turns from which it may begin a round again */
    uint64_t begun, ticks;   /* when this round began; the length of all rounds */
};

/* promise.c */
struct promise {
    int64_t promised_ps;   /* as in the worker's slot */
    uint32_t blocked_by;   /* the worker whose promise limits the safe bound; its own index: none */
    int64_t blocked_by_ps; /* that promise */
    int64_t blocked_by_delay_ps; /* the least delay of that worker's messages to this one */
    uint64_t raised;             /* times it was written, ever */
};

/* wait.c */
struct wait {
    uint64_t idle_turns; /* turns in a row that found nothing to do */
    unsigned end_polls;  /* times the record receiver was polled after the last event */
    unsigned waits;      /* in a row */
    double away_s; /* how long other programs kept the core when this worker last yielded it */
    double back_s; /* when that ended; 0: it has not happened */
};

enum rollback_cause {
    ROLLBACK_PRIMARY,   /* a straggler, or a cancellation that arrived */
    ROLLBACK_SECONDARY, /* one of this worker's own events was cancelled */
    ROLLBACK_STRESS,    /* the stress mode */
    ROLLBACK_CAUSES
};

/* rollback.c */
struct rollback {
    struct cw_event **cancels; /* own events that are to be cancelled */
    size_t cancel_count, cancel_capacity;
    uint64_t cancelled;                       /* pending events that are cancelled */
    uint64_t events_max;                      /* undone by one rollback, at most */
    uint64_t count_by_cause[ROLLBACK_CAUSES]; /* rollbacks of an LP */
};

/* lazy_cancel.c */
struct lazy_cancel {
    bool on;
    struct table logs; /* of undone events whose sends are kept, by event */
    /* while such an event is handled again: */
    struct log *log;        /* NULL: none is */
    const uint64_t **items; /* [item_count]: the sends in its log, newest first; NULL: sent again */
    size_t item_count, item_capacity;
    uint64_t reused; /* sends, ever */
};

/* stress.c */
struct stress {
    bool on;          /* the run is in stress mode */
    bool keep_all;    /* log every event; else only some of the safe ones */
    struct key final; /* of the latest event that was handled and cannot be undone */
    uint64_t rate_p32;
    struct cw_rng rng;
    bool denied; /* an event that should have had an undo log got none: no memory */
    uint64_t undone, moved, held_back; /* rollbacks, states, polls */
};

/* event_limit.c */
struct event_limit {
    struct cw_event *beyond; /* [count] copies of events committed beyond GVT */
    size_t count, capacity;
};

/* The last step of a move that this worker has completed (core/run/migrate.h). */
enum move_stage { MOVE_NONE, MOVE_UNDONE, MOVE_GIVEN, MOVE_TAKEN };

/* migrate.c */
struct move {
    enum move_stage stage; /* MOVE_NONE: no move is in progress */
    uint64_t begun, ticks; /* when this move began; the length of all moves */
    uint64_t moves, parts; /* worker 0's: moves, and parts moved, ever */
};

struct timewarp {
    struct worker *worker;
    uint32_t index;
    struct lp_logs *lp_logs;    /* [LP]; this worker's for its own LPs */
    struct undo_log undo_log;   /* of all its LPs */
    struct key front;           /* of the latest speculative event: an event after it cannot be a
                                   straggler; a time of INT64_MIN: there was none */
    int64_t collected_ps;       /* events before this have been committed (fossil.c) */
    uint64_t safe;              /* safe events handled, ever */
    uint64_t turns, turns_idle; /* of the loop, ever; of them, turns without an event */
    bool gathered;              /* worker 0 has the events of all workers (gather.h) */
    uint64_t counted;           /* worker->committed when gathered events were last counted */
    uint64_t gathered_events;   /* handled while gathered, ever */
    bool ended;                 /* this worker has left the drain */
    bool short_turns;           /* turns may be cut short in this drain (worker_loop.c) */

    struct failures failures;
    struct gvt gvt;
    struct promise promise;
    struct throttle throttle;
    struct send_quota quota;
    struct wait wait;
    struct lazy_cancel lazy;
    struct peers peers;
    struct rollback rollback;
    struct record_outbox outbox;
    struct stress stress;
    struct move move;
    struct event_limit limit;
    uint64_t mean_ticks; /* balance.c: of an event, by samples */
};

#endif
