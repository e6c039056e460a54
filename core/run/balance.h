/*
 * balance.h: which parts move (migrate.h), and when. Parts move at random in the stress mode, or if
 * the host asks for it; else by measured work.
 *
 * Work is measured by samples. In the turns that the activity clock times, the worker adds the
 * ticks of each event to its part's sum. Worker 0 looks at the sums every few milliseconds. A move
 * takes place when, in two windows in a row, one worker has had much more work than the mean, and
 * another one has been idle meanwhile. draft.h says which parts go, and whether that is expected to
 * pay. trial.h says whether it did, and when the next move may come.
 *
 * A part's sum is written by the part's worker only, and read by worker 0 at any time. No result
 * depends on it.
 *
 * balance_look() is entered by worker 0, balance_create() and balance_free() by the host, the
 * others by the worker that owns the timewarp.
 */
#ifndef CORE_BALANCE_H
#define CORE_BALANCE_H

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

#endif
