/*
 * tl_watch.h: enters a kernel's function, and finds kernels that break the rules of tl.h: that wait
 * without an operation, start several at once, repeat themselves for ever, fault or do not return.
 * Runs in handlers only. All of it also holds for kernels that misbehave speculatively only: the
 * event fails, and is handled again when it is safe.
 */
#ifndef LP_TL_WATCH_H
#define LP_TL_WATCH_H

#include "lp/kernel/tl_call.h"

enum {
    TL_ENTRIES_PER_EVENT = 4096,   /* of private work; then it goes on in an event of its own */
    TL_DEPTH_MAX = 4096,           /* of such events at one time */
    TL_CALLS_BEFORE_WATCH = 65536, /* without a receive; then the kernel's frame is compared */
};

/* Enters the kernel's function, or the stream's, which goes on to its next call or its end. Fails
 * the event if the function breaks a rule. */
enum tl_status tl_enter(struct tl *tl);

/* The kernel has been entered `entries` times in this event. True: it goes on in an event at its
 * own time, which is on its way. */
bool tl_rests(struct tl *tl, uint32_t entries);

#endif
