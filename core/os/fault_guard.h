/*
 * fault_guard.h: catches faults in a user's function that would end the program or hang it: a fault
 * signal, abort(), exit(), and a call that does not return. A callback reports the fault to the
 * function's caller, which jumps out of the function.
 *
 * A thread guards one call at a time:
 *
 *     fault_guard_enter(tell, arg);
 *     users_function();
 *     fault_guard_leave();
 *
 * tell(arg, fault) is called on the same thread, in a signal handler or instead of exit(), with the
 * guard already off. It must not return; it may longjmp(). Locks that the function holds at that
 * moment stay locked.
 *
 * A thread may also have a watch, which is called for faults outside guarded calls, and at regular
 * intervals. The watch itself knows whether a user's function is running, so calling one costs
 * nothing. Without a guarded call, and unless a watch jumps away, signals and exit() behave as
 * before.
 */
#ifndef CORE_FAULT_GUARD_H
#define CORE_FAULT_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*fault_tell)(void *arg, const char *fault); /* "segmentation fault at address 0x8" */

/* Both are called on the watched thread, in a signal handler, and may longjmp(). */
struct fault_watch {
    void (*fault)(void *arg, const char *fault); /* returns if no user's function is running */
    void (*tick)(void *arg); /* FAULT_GUARD_TICKS_PER_S times per second of CPU time */
    void *arg;
};

/* One per thread. Private to the functions here. */
struct fault_guard {
    struct fault_watch watch; /* .arg is NULL: there is none */
    fault_tell tell;          /* NULL: no call has been guarded here yet */
    void *arg;                /* of the guarded call; NULL: none is guarded */
    unsigned ticks;           /* of CPU time since the guarded call began */
    bool patient;             /* the guarded call may take long: it never counts as stuck */
};
extern __thread struct fault_guard fault_guard_here;

enum {
    FAULT_GUARD_TICKS_PER_S = 4,
    FAULT_GUARD_STUCK_S = 3, /* a guarded call that takes longer counts as stuck */
};

enum { FAULT_GUARD_STACK_BYTES = 1 << 16 }; /* with less room a stack is nearly exhausted */

/* Once per thread: gives it a signal stack and a timer. The first call installs the handlers. */
void fault_guard_prepare(fault_tell tell);

static inline void fault_guard_enter(fault_tell tell, void *arg)
{
    if (__builtin_expect(fault_guard_here.tell != tell, 0))
        fault_guard_prepare(tell);
    fault_guard_here.ticks = 0;
    fault_guard_here.arg = arg;
    __asm__ volatile("" : : : "memory"); /* a handler on this thread sees it from here */
}

static inline void fault_guard_leave(void)
{
    __asm__ volatile("" : : : "memory");
    fault_guard_here.arg = NULL;
}

/* Reinstalls the handlers of fault signals that other code has replaced since. */
void fault_guard_take_signals(void);
/* Starts to watch this thread, or stops (.arg is NULL). Prepares the thread if necessary. */
void fault_guard_watch(struct fault_watch watch);
/* FAULT_GUARD_STACK_BYTES above the end of the stack that the thread runs on. 0: not known, or the
 * caller has a stack of its own. */
uintptr_t fault_guard_stack_low(void);

#endif
