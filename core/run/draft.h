/*
 * draft.h: which parts are to go where, by the work of each, and whether that pays.
 *
 * Parts go from the busiest worker to the idlest one, those nearer to its own first, until the two
 * have as much. That is repeated for the next pair.
 *
 * Whether a draft pays is estimated for the busiest worker. Of its time a share `busy` is work, and
 * the rest is spent on the other workers: on waiting, promises and messages. Per unit of simulated
 * time
 *   - the work falls by the share that the draft takes off the busiest worker;
 *   - the rest grows as the lookahead shrinks, because there are as many more windows. It counts at
 *     least as REST_MIN, since a rest of nothing cannot be measured.
 * So gain = 1 - busy * (1 - off) - rest * (lookahead before / after). A draft by which the
 * lookahead vanishes does not pay. Events that move are copied by threads that all wait for each
 * other: that has to be gained back within PAYBACK_S.
 *
 * Pure: no clock, no thread.
 */
#ifndef CORE_BALANCE_DRAFT_H
#define CORE_BALANCE_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

/* The measured work. It is in any unit, the same for all. */
struct draft {
    uint32_t part_count, worker_count;
    const double *part_work; /* [part] */
    double *load;            /* [worker] the work of its parts */
};

struct draft_cost {
    double busy;                 /* share of the busiest worker's time in which it handles events */
    double off;                  /* share of the busiest worker's work that the draft takes off */
    int64_t before_ps, after_ps; /* the lookahead; CW_TIME_MAX: no event goes between workers */
    double moved;                /* events that move: an estimate */
};

/* Fills the loads. Returns the busiest worker's load, and in *mean the mean of all. */
double draft_loads(const struct draft *draft, const uint32_t *part_worker, double *mean);
/* Changes part_worker [part], and the loads with it. Returns the share of the busiest worker's work
 * that this takes off the busiest. */
double draft_even_out(const struct draft *draft, uint32_t *part_worker);
/* The share of the time that a draft is expected to save. 0 or less: none. */
double draft_gain(const struct draft_cost *cost);

#endif
