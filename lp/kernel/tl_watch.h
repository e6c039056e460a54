/*
 * tl_watch.h: enters a kernel's function, and finds kernels that break the rules of tl.h: that wait
 * without an operation, start several at once, repeat themselves forever, fault or do not return.
 * Runs in handlers only. A kernel may misbehave in a speculative event alone: the event fails, and
 * is handled again when it is safe.
 */
#ifndef LP_TL_WATCH_H
#define LP_TL_WATCH_H

#include "core/os/fault_guard.h"
#include "lp/kernel/tl_call.h"

enum {
    TL_ENTRIES_PER_EVENT = 4096,   /* of private work; then it continues in an event of its own */
    TL_DEPTH_MAX = 4096,           /* of such events at one time */
    TL_CALLS_BEFORE_WATCH = 65536, /* without a receive; then the kernel's frame is compared */
};

/* The rare cases of the functions below. */
void tl_fail_at_fault(void *arg, const char *fault);
void tl_check_operations(struct tl *tl, enum tl_status status, uint32_t made);
void tl_check_repetition(struct tl *tl);
void tl_rest(struct tl *tl);

/* Enters the kernel's function, or the stream's, which runs to its next call or its end. Fails
 * the event if the function breaks a rule: an entry notes one operation and waits, or none and
 * ends. */
static inline enum tl_status tl_enter(struct tl *tl)
{
    struct lp_kernel *const own = tl->kernel;
    const struct tl_kernel *const kernel = tl->launch->kernel;
    enum tl_status (*const function)(struct tl *, void *) =
        __builtin_expect(own->stream == 0, 1) ? kernel->run : kernel->stream[own->stream - 1];
    const uint32_t calls = own->calls;
    tl_here = own->source;
    tl->entered = true;
    fault_guard_enter(tl_fail_at_fault, tl);
    const enum tl_status status = function(tl, own->frame);
    fault_guard_leave();
    tl->entered = false;
    own->source = tl_here;
    const uint32_t made = own->calls - calls;
    if (__builtin_expect(made != (status == TL_WAITING), 0))
        tl_check_operations(tl, status, made);
    if (__builtin_expect(own->calls - own->calls_received >= TL_CALLS_BEFORE_WATCH, 0))
        tl_check_repetition(tl);
    return status;
}

/* The kernel has been entered `entries` times in this event. True: it continues in an event at its
 * own time, which has been sent. */
static inline bool tl_rests(struct tl *tl, uint32_t entries)
{
    if (__builtin_expect(entries < TL_ENTRIES_PER_EVENT, 1))
        return false;
    tl_rest(tl);
    return true;
}

#endif
