/*
 * fault_guard.h: catches that which would end the program, or stop it for ever, while a function
 * runs that a user has written: a signal of a fault, abort(), exit(), and a call that does not
 * return. The function's caller is told, and jumps out of the function.
 *
 * A thread guards one call at a time:
 *
 *     fault_guard_enter(tell, arg);
 *     users_function();
 *     fault_guard_leave();
 *
 * tell(arg, fault) is called on the same thread, in a signal's handler or in exit(). The guard is
 * off by then. It must not return; a longjmp() out of it is legal. Where no call is guarded,
 * signals and exit() have their former effect. A lock that the function held when it was caught
 * stays held.
 */
#ifndef CORE_FAULT_GUARD_H
#define CORE_FAULT_GUARD_H

#include <stddef.h>

typedef void (*fault_tell)(void *arg, const char *fault); /* "segmentation fault at address 0x8" */

/* Of each thread. For the functions here alone. */
struct fault_guard {
    fault_tell tell; /* NULL: this thread is not prepared */
    void *arg;       /* of the guarded call; NULL: none is guarded */
    unsigned ticks;  /* seconds of processor time that began in the guarded call */
};
extern __thread struct fault_guard fault_guard_here;

enum { FAULT_GUARD_STUCK_S = 3 }; /* ticks after which a call is taken for one that never returns */

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

#endif
