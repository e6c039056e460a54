/*
 * stats.h: what a worker counts besides its events, where its time goes, and what it tells of both
 * while a run lasts. Each figure is written by the worker that owns it, in its own lines; others
 * read it in the worker's report (gvt.h), or after the drain.
 *
 * Time is sampled: one turn of the worker's loop in some, and in it a few events one by one. What
 * is not sampled pays a branch per turn, and nothing per event. The figures are shares, in ticks of
 * the processor's counter; nothing that a run does depends on them.
 *
 * I-STAT-1: a report is written before its worker's second cut is published, and read by worker 0
 * before that enters the next first cut (I-GVT-2).
 */
#ifndef CORE_STATS_H
#define CORE_STATS_H

#include "core/host/clock.h"
#include "core/cw.h"

/* A prime: rounds of GVT, which come every so many events, must not always meet the sampled turn,
 * or never. The shorter the turns, the greater the part of events that are timed one by one: of
 * turns of 64 events, one in 1,000. */
enum { TURNS_PER_SAMPLE = 127, EVENTS_PER_SAMPLE = 8 };

/* Beside those of enum cw_activity: */
enum { ACTIVITY_BATCH = CW_ACTIVITIES, /* handling and queue, not told apart */ ACTIVITIES };

struct activity_clock {
    bool on;     /* this turn is timed */
    uint8_t now; /* what time goes to */
    uint32_t turns_left;
    uint64_t since;  /* ticks */
    uint64_t cost;   /* of reading the counter, in ticks */
    uint64_t moment; /* of the round of GVT, when the turn began (gvt.h) */
    uint64_t turn[ACTIVITIES], sum[ACTIVITIES]; /* ticks: of this turn, of all timed ones */
};

void activity_init(struct activity_clock *clock);
/* Times a turn; its time goes to `activity` at first. */
void activity_begin(struct activity_clock *clock, enum cw_activity activity, uint64_t moment);
/* Ends a timed turn. `idle`: what was not undoing was looking for something to do. */
void activity_end(struct activity_clock *clock, bool idle);

/* From here on time goes to `activity`, of either enum. Returns where it went. */
static inline unsigned activity_go(struct activity_clock *clock, unsigned activity)
{
    const unsigned before = clock->now;
    if (__builtin_expect(clock->on, 0)) {
        const uint64_t now = clock_ticks(), took = now - clock->since;
        clock->turn[before] += now > clock->since && took > clock->cost ? took - clock->cost : 0;
        clock->since = now;
    }
    clock->now = (uint8_t)activity;
    return before;
}

/* Sleep is long and rare: too long to be met by chance, so it is measured, and counts as much less
 * as turns are sampled. */
static inline void activity_slept(struct activity_clock *clock, uint64_t start)
{
    const uint64_t now = clock_ticks(), took = now > start ? now - start : 0;
    clock->sum[CW_IDLE] += took / TURNS_PER_SAMPLE;
    clock->since += took;
}

/* Why an LP was rolled back. */
enum rollback_cause {
    ROLLBACK_PRIMARY,   /* a straggler, or a cancellation that arrived */
    ROLLBACK_SECONDARY, /* an event of this worker's own was cancelled */
    ROLLBACK_STRESS,    /* by the stress mode */
    ROLLBACK_CAUSES
};

/* What a worker reports in a round of GVT. */
struct stats_report {
    uint64_t committed, processed, rolled_back;
    uint64_t idle_ticks, ticks; /* of the sampled turns */
    int64_t safe_ps;
    int64_t reached_ps;       /* the latest event of the history; INT64_MIN: none */
    uint32_t history, window; /* events */
};
_Static_assert(sizeof(struct stats_report) == 64, "a line of the worker's slot");

/* What was told last, so that what is told next fits to it. */
struct stats_told {
    uint64_t calls;
    int64_t gvt_ps;
};

struct cw_sim;
struct timewarp;

/* What this worker reports now. */
void stats_report(const struct timewarp *tw, struct stats_report *report);
/* Worker 0's, after a round that does not end the run: tells the host what all have reported. */
void stats_tell_round(struct timewarp *tw);
/* Sequential mode: likewise, now and then. */
void stats_tell_sequential(struct cw_sim *sim);
/* The host's, after a drain: the last row of its rounds. */
void stats_tell_drained(struct cw_sim *sim);

#endif
