/*
 * timewarp.h: what a worker has besides its queue when there are several of them, or when it keeps
 * what it takes to undo (Jefferson, Virtual Time, 1985).
 *
 * Each worker owns some LPs, their events and their history; nothing of that is seen by another
 * worker while they run. Workers meet in two places only: the mailboxes (mailbox.h), and one slot
 * each in which they report to the GVT computation (gvt.h).
 *
 * An event is safe when nothing that could still reach its LP comes before it. Safe events are
 * handled like in a sequential run, and committed at once. Others are handled speculatively: their
 * log (undo_log.h) allows to undo them, until GVT has passed them.
 *
 * I-TW-1: the logs of lp_logs[lp] are those of the LP's events that are processed and not
 * committed, and from the newest on they descend in the order. I-TW-2: an event's record is freed
 * once, by its owner: when it commits, or when it is taken from the pending set and has been
 * cancelled.
 */
#ifndef CORE_TIMEWARP_H
#define CORE_TIMEWARP_H

#include "core/timewarp/stress.h"
#include "core/timewarp/gvt.h"
#include "core/timewarp/undo_log.h"
#include "core/timewarp/lazy_cancel.h"
#include "core/timewarp/mailbox.h"
#include "core/timewarp/record_merge.h"
#include "core/timewarp/worker.h"

/* What the engine notes in a record's `reserved`, which is 0 again when the event commits. */
enum event_note {
    EVENT_PROCESSED = 1,     /* handled speculatively; else pending */
    EVENT_CANCELLED = 2,     /* to be freed instead of handled */
    EVENT_LAZY = 4,          /* pending again, and what it sent is kept (lazy_cancel.h) */
    EVENT_STRESS_UNDONE = 8, /* lowest bit of: times that the stress mode has undone it */
};

/* Events from one worker that it may still cancel, by their number. Those before GVT are as good
 * as gone: I-GVT-1 says that no cancellation of them can come. */
struct arrival {
    struct cw_event *event;
    int64_t time_ps;
};
struct arrivals {
    struct arrival *items; /* [capacity], a ring: number n is at n & (capacity - 1) */
    uint64_t first, next;  /* numbers [first, next) are in it */
    uint64_t capacity;
};

struct timewarp {
    struct worker *worker;
    uint32_t index;
    struct lp_logs *lp_logs; /* [LP] */
    struct undo_log undo_log;
    struct key front; /* of the latest event that was handled speculatively: what is behind it
                         cannot be a straggler; a time of INT64_MIN: none */

    struct mailbox *in, **out; /* in[from], *out[to]; one's own is unused */
    uint64_t *numbers;         /* [to] cancellable messages sent */
    struct key *sent_least;    /* [to] the least key sent there since the first cut */
    struct arrivals *arrivals; /* [from] */
    struct cw_event **cancels; /* to be cancelled */
    size_t cancel_count, cancel_capacity;
    struct lazy_cancel lazy;

    struct gvt gvt;
    int64_t promised_ps;  /* promise.h */
    int64_t collected_ps; /* what was before this is committed (fossil.c) */
    struct record_outbox outbox;
    uint64_t looks;        /* in a row that found nothing to do */
    uint64_t processed_by; /* events_processed at the last round */

    const struct cw_event *handling; /* the event under way */
    bool speculative;                /* and how it is handled */
    bool stuck;                      /* a speculative event failed: */
    struct key stuck_at;             /* nothing from here on is tried before it is safe */
    bool failed;                     /* a safe event failed: the run will end there */
    const struct cw_event *failed_event;
    struct cw_error failure;

    size_t window;    /* events that may be speculated at a time (throttle.c), */
    size_t allowance; /* as far as memory allows */
    enum memory_level level;
    bool refused;           /* speculation has asked for memory in vain; */
    uint64_t refused_until; /* there is none before so many events are committed */
    uint64_t cancelled;     /* events that are cancelled and still pending; */
    uint64_t purge_from;    /* from here on it pays to look for them */
    unsigned batch;         /* events between two looks at the others (worker.c) */
    unsigned patience;      /* looks at the others before the next speculative event */
    unsigned patience_full; /* what it is set to (throttle.c) */
    unsigned waited;        /* looks since then */
    uint64_t safe_before;   /* safe events up to then */
    unsigned turns;         /* of waiting, in a row (wait.h) */
    uint32_t blocked_by;    /* who holds the safe bound down (promise.h); this one: nobody */
    int64_t blocked_by_ps;  /* with that promise */
    struct throttle_usage {
        uint64_t processed, rolled_back;
    } usage;
    struct stress stress; /* the stress mode's */

    uint64_t events_processed, events_rolled_back, anti_messages, safe_events;
    uint64_t rollbacks[ROLLBACK_CAUSES], rollback_events_max;
    uint64_t window_first, window_sum; /* of budgets: at first; after each round */
};

/* timewarp.c */
bool timewarp_create(struct cw_sim *sim, struct worker *worker, uint32_t index);
void timewarp_free(struct cw_sim *sim, struct worker *worker);
/* Sends from a handler to another worker's LP. The words (event.h) come in registers: a
 * wide load right behind four narrow stores would wait for them. */
void timewarp_send(struct worker *worker, uint64_t word_0, uint64_t word_1, uint64_t word_2,
                   uint64_t word_3, const void *payload);
void timewarp_send_cancel(struct timewarp *tw, uint32_t to, const struct remote_send *sent);
/* Takes what has arrived. */
void timewarp_receive(struct timewarp *tw);
/* Likewise, but in the stress mode not always all of it: then false. */
bool timewarp_look(struct timewarp *tw);
/* Makes known all that was sent; returns whether there was anything. */
bool timewarp_flush(struct timewarp *tw);

/* rollback.c */
/* Undoes what the LP has handled that comes after this event; it is pending again. */
void rollback_straggler(struct timewarp *tw, const struct entry *straggler);
/* Undoes an event that was handled, and what its LP has handled since: the stress mode. */
void rollback_event(struct timewarp *tw, const struct cw_event *event);
/* Undoes all that was handled and is not committed, as far as nobody relies on it: not GVT, the
 * safe bound, or this worker's promise or report. */
void rollback_all(struct timewarp *tw);
/* Undoes the open log of a handler that failed. */
void rollback_open(struct timewarp *tw);
/* Will cancel what a log's item says was sent; rollback_work_off() does. */
void rollback_cancel_send(struct timewarp *tw, const uint64_t *data, uint64_t word);
void rollback_work_off(struct timewarp *tw);
/* Cancels an event for another worker: it will not be handled, or not have been. */
void rollback_cancel(struct timewarp *tw, struct cw_event *event);

/* fossil.c */
/* Commits what is final: what GVT or the safe bound has passed. */
void fossil_collect(struct timewarp *tw);
/* Commits the LP's processed events: a safe event comes next there. */
void fossil_commit_lp(struct timewarp *tw, uint32_t lp);

/* throttle.c */
void throttle_init(struct timewarp *tw);
void throttle_adjust(struct timewarp *tw, bool round_ended);
/* Before events are handled: what memory allows, and what it asks for. */
void throttle_apply_memory_level(struct timewarp *tw);

/* worker.c: the worker's loop, until the run ends */
void worker_run(struct worker *worker);
/* Likewise, of several workers on one thread. */
void worker_run_in_turn(struct worker *first, uint32_t count);

/* After the handler, or its failure: what it has not sent again is cancelled. */
static inline void lazy_cancel_end(struct timewarp *tw)
{
    if (__builtin_expect(tw->lazy.log != NULL, 0))
        lazy_cancel_rest(tw);
}

static inline struct entry entry_of_event(struct cw_event *event)
{
    struct event_words words;
    memcpy(&words, event, sizeof words);
    return entry_of_words(&words, event);
}

#endif
