/*
 * gvt_slot.h: the slot in which a worker informs the others: its promise (promise.h), how far it is
 * with a round of GVT, its report to that round (gvt.h), and whether it sleeps (wait.h).
 *
 * Only the slot's own worker writes it, except for waking it.
 */
#ifndef CORE_GVT_SLOT_H
#define CORE_GVT_SLOT_H

#include "core/event.h"
#include "core/host/sync.h"

/* A worker's figures for the host (stats.h). */
struct stats_report {
    uint64_t committed, processed, rolled_back;
    uint64_t idle_ticks, ticks; /* of the sampled turns */
    int64_t safe_ps;
    int64_t reached_ps;       /* the latest event in the undo log; INT64_MIN: none */
    uint32_t history, window; /* events */
};
_Static_assert(sizeof(struct stats_report) == 64, "a line of the worker's slot");

/* Lines are fetched in pairs, so no two slots share a pair. */
struct gvt_slot {
    /* line 0: read by the others again and again */
    _Alignas(128) struct sync_u64 promise_ps; /* promise.h */
    struct sync_u64 first_cut;                /* the last round whose first cut it has made */
    struct sync_u64 second_cut; /* the last round whose second cut; releases the report */
    /* line 1: 1 + the index of the worker that it sleeps for (wait.h), which sets it to 0 to wake
     * it; 0: it is awake */
    _Alignas(64) struct sync_u64 waits_for;
    /* line 2: the report */
    _Alignas(64) struct key least; /* pending */
    bool failed;                   /* its least event has failed for good */
    uint64_t published;            /* bytes of records, ever, as of the first cut (I-GVT-3) */
    struct key *sent;              /* [to] the least key sent between the cuts */
    /* line 3: the report's figures; read by worker 0, and only if the host wants to know */
    _Alignas(64) struct stats_report report;
};

#endif
