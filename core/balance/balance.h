/*
 * balance.h: which parts move (migrate.h), and when. Parts move at random in the stress mode, or if
 * the host asks for it; else by measured work.
 *
 * Work is measured by samples. In the turns that the activity clock times, the worker adds the
 * ticks of each event to its part's sum. The share of events that were undone does not count.
 * Worker 0 looks at the sums every few milliseconds. A move takes place when, for several looks in
 * a row, one worker has had much more work than the mean, and has been busy. Parts then go from the
 * busiest worker to the idlest one, those next to its own first, until the two are even. If fewer
 * events commit after the move than before, the parts go back, and no move is tried for a while
 * that doubles each time.
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

/* In a sampled turn, if sim->balance is set: an event of that LP took so long. */
void balance_note(struct timewarp *tw, uint32_t lp, uint64_t ticks);

/* Right after a round has ended: plans a move (migrate.h), or none. */
void balance_look(struct timewarp *tw);

#endif
