/*
 * replay_watch.h: what handlers report to the host while it records and replays what a program's
 * operations do (lp/host/replay.h). CW_SEQUENTIAL alone: no event is undone.
 */
#ifndef LP_REPLAY_WATCH_H
#define LP_REPLAY_WATCH_H

#include "core/cw.h"
#include "lp/model.h"

#define LP_AT_SWITCH UINT32_MAX /* in place of a SIP */

struct lp_replay_watch {
    void *arg;
    /* An operation with kernels begins on a SIP: its launches have been sent. */
    void (*begins)(void *arg, struct cw_ctx *ctx, uint32_t sip, uint32_t op);
    /* A kernel's completion has come to io_cpu, which has not served it yet. */
    void (*completed)(void *arg, struct cw_ctx *ctx, uint32_t sip, uint32_t op);
    /* An event is sent from a part of one SIP to one of another, for this time. */
    void (*crosses)(void *arg, struct cw_ctx *ctx, uint32_t from, uint32_t to, int64_t at_ps);
    /* Coarse tiles: what a part of a SIP has taken from its idle time, or has not found there. */
    void (*takes_idle)(void *arg, uint32_t sip, int64_t amount);
};

static inline void lp_watch_idle(const struct lp_model *m, uint32_t sip, int64_t amount)
{
    if (__builtin_expect(m->replay != NULL, 0))
        m->replay->takes_idle(m->replay->arg, sip, amount);
}

static inline void lp_watch_crossing(struct cw_ctx *ctx, const struct lp_model *m, uint32_t from,
                                     uint32_t to, int64_t at_ps)
{
    if (__builtin_expect(m->replay != NULL, 0) && from != to)
        m->replay->crosses(m->replay->arg, ctx, from, to, at_ps);
}

#endif
