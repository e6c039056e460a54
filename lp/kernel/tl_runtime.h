/*
 * tl_runtime.h: the functions by which events launch and resume kernels. Handlers only, on the PE's
 * cube.
 */
#ifndef LP_TL_RUNTIME_H
#define LP_TL_RUNTIME_H

#include "lp/lp_view.h"

/* A KernelLaunchMsg takes effect; `launch`: index + 1 in the launch table. While another kernel
 * runs on its hardware queue, this one waits for the queue, after those that wait already. */
void tl_launch(struct lp_view *view, uint32_t pe, uint32_t launch);
/* Resumes the kernel in this context: what it waited for has come. */
void tl_resume(struct lp_view *view, uint32_t pe, uint32_t context);
/*
 * Something that contexts wait for has come: LP_WAIT_DATA or LP_WAIT_CREDIT of direction `which`,
 * LP_WAIT_NOTIFY from the peer `key` (lp_peer_key()) with tag `which`. Each of them looks, now or
 * at its next poll; the context that has waited longest looks first. A context that finds nothing
 * left continues to wait.
 */
void tl_arrived(struct lp_view *view, uint32_t pe, enum lp_wait wait, uint32_t which, uint32_t key);
/* A move of a context is complete. */
void tl_move_done(struct lp_view *view, uint32_t pe, uint32_t context, uint32_t move);
/* A place in a channel has become free: the call that has waited longest for one takes it. If that
 * call then waits for something else, the next call does. */
void tl_channel_freed(struct lp_view *view, uint32_t pe, enum hw_vc vc);

#endif
