/*
 * balance.h: which parts move (migrate.h), and when. Parts move at random in the stress mode, or if
 * the host asks for it; else by measured work.
 *
 * Work is measured by samples. In the turns that the activity clock times, the worker adds the
 * ticks of each event to its part's sum. Worker 0 looks at the sums every few milliseconds. A move
 * takes place when, in two windows in a row, one worker has had much more work than the mean, and
 * another one has been idle meanwhile. A draft says which parts go, and whether that is expected to
 * pay. A trial says whether it did, and when the next move may come.
 *
 * A part's sum is written by the part's worker only, and read by worker 0 at any time. No result
 * depends on it.
 *
 * balance_look() is entered by worker 0, balance_create() and balance_free() by the host,
 * balance_note() by the worker that owns the timewarp. Drafts and trials are pure: no clock, no
 * thread.
 */
#ifndef CORE_BALANCE_H
#define CORE_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

struct cw_error;
struct cw_sim;
struct timewarp;

/* After migrate_create(): sets sim->balance, if work is to be measured. Returns an enum cw_exit. */
int balance_create(struct cw_sim *sim, struct cw_error *error);
void balance_free(struct cw_sim *sim);

/* In a sampled turn, if sim->balance is set: an event of that LP took this long. */
void balance_note(struct timewarp *tw, uint32_t lp, uint64_t ticks);

/* Right after a round has ended: plans a move (migrate.h), or none. */
void balance_look(struct timewarp *tw);

/* ---- a draft --------------------------------------------------------------------------------- */

/*
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
 * The measured work is in any unit, the same for all.
 */
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

/* ---- a trial --------------------------------------------------------------------------------- */

/*
 * Each move is a trial: the events committed per second after it are compared with those before. A
 * move that gains too little is taken back, and for a while none is tried. That time doubles with
 * each such move, and is never less than TRIAL_SHARE times the time that the trial has lost.
 *
 * A rate is measured over windows of some 30 ms. Time that cannot count, because other threads were
 * stopped or because a move took place, is in no window.
 */
enum trial_says {
    TRIAL_WAITS,     /* nothing is to be done */
    TRIAL_MAY_MOVE,  /* a move may be planned; the work of the last windows says which */
    TRIAL_TAKE_BACK, /* the last move is to be taken back */
};

struct trial {
    bool tries;        /* a move is on trial */
    bool takes_back;   /* until trial_moved() */
    double rate;       /* events per second, before a move; the past counts less; 0: not known */
    double window_s;   /* of time that counts, in this window */
    uint64_t events;   /* committed in it */
    double settles_s;  /* left until time counts */
    double wait_s;     /* time that counts until a move may be tried */
    double back_off_s; /* the next such wait after a move that lost */
};

void trial_init(struct trial *trial);
/* `passed_s` have passed, in which this many events were committed. `counts`: nothing has disturbed
 * them. `ready`: the work of the parts is known well enough to end a window. Returns the step to
 * take; *window_ended: whether a window has ended. */
enum trial_says trial_look(struct trial *trial, double passed_s, uint64_t events, bool counts,
                           bool ready, bool *window_ended);
/* A move has been planned: a new one, or the one that takes the last one back. */
void trial_moved(struct trial *trial);

#endif
