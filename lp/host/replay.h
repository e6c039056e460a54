/*
 * replay.h: replay of a program's operations (hw/HARDWARE.md, "Programs"): what the SIPs of an
 * operation do from its begin to its end is put in place, instead of simulated, where they have
 * done the same before. Exact: the times of all operations, kernels and phases, the bytes and waits
 * of links are those of the simulation.
 *
 * An episode is what a set S of SIPs does, closed in itself:
 *   begin   of each SIP: right after the event in which an operation begins on it. S is all SIPs of
 *           the operation. Every PE of the SIP is idle, and all that is pending there is launches
 *           of the operation, credits, and ends of engine runs that are void. Nothing enters a SIP
 *           from its begin to the last one's
 *   end     right after the operation's last completion on one of its SIPs has come to io_cpu,
 *           which is about to serve it; again every PE of S is idle. So io_cpus decide nothing in
 *           an episode: what begins next is simulated
 *   between nothing crosses the border of S from the last begin on; before it, what a SIP sends is
 *           sent in a replay, too
 *
 * What S does in an episode depends on its SIPs' states and pending events at their begins, and on
 * how far these are apart. Until the last begin, a SIP does what follows from its own begin, since
 * nothing enters it. What it sends to a SIP of S before that one's begin is in the state or in the
 * events there. The model knows no absolute time and no absolute count (no jitter is drawn per
 * operation). So where all of these are the same relative to time and counters (idle_state.h for
 * the states), the same follows.
 *
 * States and pending events of the end are put in place at the last begin. S can be seen from
 * outside through what crosses its border alone. If something comes in no later than the end, the
 * replay is undone: states and pending events of the last begin are put back, and S is simulated
 * from there. These events are earlier than what others have done meanwhile. Nothing of that has
 * met S, so every LP still handles its events in order.
 *
 * Host side; the hooks of replay_watch.h run in handlers. CW_SEQUENTIAL alone.
 */
#ifndef LP_REPLAY_H
#define LP_REPLAY_H

#include "lp/host/control.h"
#include "lp/model.h"
#include "lp/replay_watch.h"

struct lp_replay;

struct lp_replay_counts {
    uint64_t operations;      /* with kernels, that began on a SIP; */
    uint64_t replayed_begins; /* of them, replayed */
    uint64_t replayed;        /* episodes; */
    uint64_t undone;          /* and replays that something from outside met */
};

/* Of a machine with a program. `mark`: takes the marks of kernels that were replayed. NULL: out of
 * memory. */
struct lp_replay *lp_replay_create(struct lp_model *m, const struct lp_control *control,
                                   void (*mark)(void *arg, const struct lp_kernel_record *record),
                                   void *mark_arg);
void lp_replay_free(struct lp_replay *replay); /* accepts NULL */

/* The program begins: all launches are there. False: out of memory. */
bool lp_replay_begin(struct lp_replay *replay, struct cw_sim *sim);
/* After a drain: does what handlers have asked for. *again: the drain was paused, and continues.
 * Returns CW_OK, or an exit code with *error filled. */
int lp_replay_turn(struct lp_replay *replay, bool *again, struct cw_error *error);
/* A kernel's mark was committed. */
void lp_replay_hears(struct lp_replay *replay, const struct lp_kernel_record *record);
struct lp_replay_counts lp_replay_count(const struct lp_replay *replay);

#endif
