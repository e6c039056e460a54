/*
 * pace.h: whether threads pay. It compares the events that are committed per second while each
 * thread runs its own workers (parallel) with those while one thread handles all events (single),
 * and chooses one of the two. A comparison affects speed only, never a result.
 *
 * Each mode is measured for a moment. The model itself may be faster in one moment than in another:
 * a mode counts as better only if it wins against the other one both before and after its trial,
 * unless parallel threads win clearly. The better one is kept. From time to time the other one is
 * tried again for a moment. As long as it loses, the next trial comes later. No more than a
 * fiftieth of the time is spent on trials.
 *
 * When the mode has changed, most pending events are not in the cache of the core that handles them
 * now. So it is measured once as many events have been handled as are pending.
 *
 * Trials take a while: the more so, the more events are pending. So a run should begin with the
 * right mode where that is easy to see: the first mode is chosen by the events that are pending.
 *
 * No clock and no thread: the caller gives the time, of drains alone. So a measurement
 * continues in the next drain, however short each is. One owner: thread 0.
 */
#ifndef CORE_PACE_H
#define CORE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct cw_sim;

enum threading_mode { THREADS_PARALLEL, THREADS_SINGLE, THREADING_MODES };

struct pace {
    enum threading_mode mode; /* the mode to run in now */
    enum threading_mode best; /* of those measured */
    bool settles;             /* the mode has just begun: nothing is measured yet */
    bool tries;               /* `mode` is on trial */
    bool returns;             /* the best mode has just won against a trial */
    bool doubts;   /* the other mode has won a trial; the next measurement of the best counts */
    double before; /* events per second of the best mode, before that trial */
    unsigned wins; /* of trials in a row, by a mode that was not chosen yet */
    double rate[THREADING_MODES]; /* events per second, when last measured; 0: never */
    double earlier;               /* the rate of the best mode, measured before that; 0: never */
    double decided;               /* the rate of the best mode when it was chosen */
    double began_s;               /* of this measurement */
    double trial_s;               /* when the last trial began */
    uint64_t trial_committed;     /* events, then */
    double next_s;                /* when the next one is due */
    double interval_s;            /* between two trials, at least */
    uint64_t committed;           /* events, when this measurement began */
};

/* The mode that the first drain is to begin with. Before that drain. */
enum threading_mode pace_first_mode(const struct cw_sim *sim);
/* The mode to begin with; events committed so far. */
void pace_init(struct pace *pace, enum threading_mode mode, double now_s, uint64_t committed);
/* Nothing is measured across this moment: a change of the mode is complete. */
void pace_begin(struct pace *pace, double now_s, uint64_t committed);
/* Returns the mode to run in from now on. `pending`: events, of all workers; `change_s`: the time
 * that a change of the mode takes, an estimate. */
enum threading_mode pace_look(struct pace *pace, double now_s, uint64_t committed, uint64_t pending,
                              double change_s);

#endif
