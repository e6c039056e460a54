/*
 * activity_clock.h: where a worker's time goes, by samples: one turn of its loop in
 * TURNS_PER_SAMPLE is timed, at irregular distances, and in that turn a few events one by one. With
 * an interval log one in TURNS_PER_LOGGED_SAMPLE is. A turn that is not timed pays one branch, and
 * nothing for an event. The figures are shares, in ticks of the processor's counter. No decision of
 * a run depends on them.
 *
 * One for each worker; no other thread enters while it runs.
 */
#ifndef CORE_ACTIVITY_CLOCK_H
#define CORE_ACTIVITY_CLOCK_H

#include "core/cw.h"
#include "core/os/clock.h"
#include "core/worker/interval_log.h"

/* On average. The distances are drawn: rounds of GVT and the model itself repeat at intervals of
 * their own, which regular samples could meet always or never. The shorter the turns, the greater
 * the part of events that are timed one by one: with 64 events in a turn, one in 1,000. */
enum { TURNS_PER_SAMPLE = 127, TURNS_PER_LOGGED_SAMPLE = 31, EVENTS_PER_SAMPLE = 8 };

/* Handled right before them in the sequential mode, whose timed code is in no cache by then. */
enum { EVENTS_BEFORE_SAMPLE = 8 };

/* An activity that enum cw_activity lacks: handling and queue together. */
enum { ACTIVITY_BATCH = CW_ACTIVITIES, ACTIVITIES };

struct activity_clock {
    bool on;     /* this turn is timed */
    uint8_t now; /* the activity that time goes to */
    uint32_t turns_left, turns_per_sample;
    uint64_t samples; /* begun */
    uint64_t since;   /* ticks */
    uint64_t cost;    /* of reading the counter, in ticks */
    uint64_t moment;  /* of the round of GVT, when the turn began (gvt.h) */
    uint64_t turn[ACTIVITIES], sum[ACTIVITIES]; /* ticks: of this turn, of all timed ones */
    struct interval_log *log; /* gets the parts of timed turns; NULL: none is kept */
};

void activity_init(struct activity_clock *clock);
/* From here on the log takes note, and more turns are timed. */
void activity_log_to(struct activity_clock *clock, struct interval_log *log);
/* Times a turn; its time goes to `activity` at first. */
void activity_begin(struct activity_clock *clock, enum cw_activity activity, uint64_t moment);
/* Drops the times so far of this sample: its first events only brought code and data into the
 * caches. */
void activity_forget(struct activity_clock *clock);
/* Drops them if they hold somebody else's time. `away`: the thread did not have its core all the
 * time. And a machine may stand still unseen: a sample of a few events that took many times the
 * mean is dropped, too. */
void activity_forget_interrupted(struct activity_clock *clock, bool away);
/* From here on this turn is not timed any more. */
void activity_stop(struct activity_clock *clock);
/* Ends a timed turn. `idle`: the turn found nothing to do, so all its time, except for
 * rollbacks, counts as idle. */
void activity_end(struct activity_clock *clock, bool idle);

/* From here on time goes to `activity`, of either enum. Returns the activity before. */
static inline unsigned activity_go(struct activity_clock *clock, unsigned activity)
{
    const unsigned before = clock->now;
    if (__builtin_expect(clock->on, 0)) {
        const uint64_t now = clock_ticks(), took = now - clock->since;
        clock->turn[before] += now > clock->since && took > clock->cost ? took - clock->cost : 0;
        if (clock->log != NULL)
            interval_log_part(clock->log, clock->since, now, before);
        clock->since = now;
    }
    clock->now = (uint8_t)activity;
    return before;
}

/* Adds a sleep that began at `start`. Sleeps are too long and too rare to be sampled. So each one
 * is measured, and counts divided by the turns per sample, like time that was sampled. */
static inline void activity_slept(struct activity_clock *clock, uint64_t start)
{
    const uint64_t now = clock_ticks(), took = now > start ? now - start : 0;
    clock->sum[CW_IDLE] += took / clock->turns_per_sample;
    clock->since += took;
}

/* All ticks that were timed. */
uint64_t activity_ticks(const struct activity_clock *clock);
/* The share of each activity. Batches are divided as the events that were timed one by one. */
void activity_shares(const struct activity_clock *clock, double share[CW_ACTIVITIES]);

#endif
