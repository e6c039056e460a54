/*
 * fault_guard.h: catches faults that would end the program, or stop it forever, while a user's
 * function runs: a signal of a fault, abort(), exit(), and a call that does not return. The
 * function's caller is told, and jumps out of the function.
 *
 * A thread guards one call at a time:
 *
 *     fault_guard_enter(tell, arg);
 *     users_function();
 *     fault_guard_leave();
 *
 * tell(arg, fault) is called on the same thread, in a signal's handler or instead of exit(). The
 * guard is off by then. It must not return; a longjmp() out of it is legal. A lock that the
 * function held when it was caught stays held.
 *
 * A thread may also have a watch, which is called for faults outside guarded calls, and regularly
 * as time passes. The watch itself knows whether a user's function is running, so calling one costs
 * nothing. Where there is no guarded call, and no watch jumps away, signals and exit() have their
 * former effect.
 */
#ifndef CORE_FAULT_GUARD_H
#define CORE_FAULT_GUARD_H

#include <stddef.h>
#include <stdint.h>

typedef void (*fault_tell)(void *arg, const char *fault); /* "segmentation fault at address 0x8" */

/* Both are called on the watched thread, in a signal's handler; a longjmp() out of them is legal.
 */
struct fault_watch {
    void (*fault)(void *arg, const char *fault); /* returns: the fault is in no user's function */
    void (*tick)(void *arg); /* FAULT_GUARD_TICKS_PER_S times in a second of processor time */
    void *arg;
};

/* Of each thread. For the functions here alone. */
struct fault_guard {
    struct fault_watch watch; /* .arg is NULL: there is none */
    fault_tell tell;          /* NULL: no call has been guarded here yet */
    void *arg;                /* of the guarded call; NULL: none is guarded */
    unsigned ticks; /* parts of seconds of processor time that began in the guarded call */
};
extern __thread struct fault_guard fault_guard_here;

enum {
    FAULT_GUARD_TICKS_PER_S = 4,
    FAULT_GUARD_STUCK_S = 3, /* after which a guarded call is considered stuck */
};

enum { FAULT_GUARD_STACK_BYTES = 1 << 16 }; /* of room below which a stack is nearly used up */

/* Once per thread: a stack for signals and a timer. The process has the handlers from then on. */
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

/* Takes the signals of faults back from code that has taken them since a thread was prepared. */
void fault_guard_take_signals(void);
/* Watches this thread from now on, or not any more (.arg is NULL). Prepares the thread if need be.
 */
void fault_guard_watch(struct fault_watch watch);
/* FAULT_GUARD_STACK_BYTES above the end of the stack that the thread runs on. 0: not known, or the
 * caller has a stack of its own. */
uintptr_t fault_guard_stack_low(void);

#endif
