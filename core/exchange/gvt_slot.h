/*
 * gvt_slot.h: the slot in which a worker informs the others: its promise (promise.h), its report to
 * a round of GVT (gvt.h), and whether it sleeps (wait.h); and how far the workers together are with
 * the round.
 *
 * Only the slot's own worker writes it, except for `transit_ps` (I-GVT-4), and for waking it.
 */
#ifndef CORE_GVT_SLOT_H
#define CORE_GVT_SLOT_H

#include "core/queue/event.h"
#include "core/os/sync.h"

/* A worker's figures for the host (progress.h). */
struct stats_report {
    uint64_t committed, processed, rolled_back; /* committed: see event_limit.h */
    uint64_t idle_ticks, ticks;                 /* of the sampled turns */
    int64_t safe_ps;
    int64_t reached_ps;       /* the latest event in the undo log; INT64_MIN: none */
    uint32_t history, window; /* events */
};
_Static_assert(sizeof(struct stats_report) == 64, "a line of the worker's slot");

/* Lines are fetched in pairs, so no two slots share a pair. */
struct gvt_slot {
    /* line 0: read by the workers to which this one may send, at each of their turns */
    _Alignas(128) struct sync_u64 promise_ps; /* promise.h */
    /* line 1 */
    _Alignas(64) struct sync_u64 waits_for; /* 1 + the index of the worker that it sleeps for
                                 (wait.h), which sets it to 0 to wake it; 0: it is awake */
    uint64_t published; /* bytes of records, ever, as of the first cut (I-GVT-3) */
    /* line 2: the report; read once in a round by each worker */
    _Alignas(64) struct key least; /* of events pending, and messages sent between the cuts */
    int64_t pending_ps;            /* the least time that is pending */
    struct sync_u64 transit_ps[2]; /* [round % 2] the least time that the others have sent to this
                                      worker between their cuts (I-GVT-4) */
    uint64_t round;                /* that this is the report to */
    const struct cw_event *failed; /* the event that is `least` has failed for good; NULL: none */
    /* line 3: the report's figures; read by worker 0, and only if the host wants to know */
    _Alignas(64) struct stats_report report;
};
_Static_assert(sizeof(struct gvt_slot) == 256, "two pairs of lines");

/* The steps that have been done in a round, in this order. */
enum gvt_phase { GVT_CALLED = 1, GVT_ALL_MADE_FIRST_CUT, GVT_ALL_MADE_SECOND_CUT, GVT_PHASES };

/* How far the workers are. `reached` is read by each worker at each turn, and changes three times
 * in a round; `cuts` is touched at each cut. */
struct gvt_rounds {
    _Alignas(128) struct sync_u64 reached; /* round * GVT_PHASES + the last of its phases */
    _Alignas(128) struct sync_u64 cuts;    /* made by all workers, ever */
};

/* Where a worker is in its round. */
enum gvt_stage { GVT_BEGIN, GVT_FIRST_CUT, GVT_SECOND_CUT };

/* Whether a worker can continue with its round, or another one has begun the next. */
static inline bool gvt_can_continue(const struct gvt_rounds *rounds, uint64_t round,
                                    enum gvt_stage stage)
{
    const uint64_t awaited = stage == GVT_BEGIN ? (round + 1) * GVT_PHASES + GVT_CALLED
                             : stage == GVT_FIRST_CUT
                                 ? round * GVT_PHASES + GVT_ALL_MADE_FIRST_CUT
                                 : round * GVT_PHASES + GVT_ALL_MADE_SECOND_CUT;
    return sync_load_acquire(&rounds->reached) >= awaited; /* pairs with reach() in gvt.c */
}

#endif
