/*
 * coroutine.h: something that runs on a stack of its own and hands the thread over by name:
 * ucontext for the first switch to it, _setjmp() and _longjmp() for all others, since swapcontext()
 * calls the system twice. Sanitizers take a long jump for an error, so under them each switch is
 * swapcontext(), with the calls by which they follow it.
 *
 * Stacks are the caller's. A coroutine is entered by the thread that made it and by no other.
 */
#ifndef CORE_COROUTINE_H
#define CORE_COROUTINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define COROUTINE_STACK_FACTOR 4u /* AddressSanitizer's frames are that much larger */
#else
#define COROUTINE_STACK_FACTOR 1u
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COROUTINE_JUMPS 0
#else
#define COROUTINE_JUMPS 1
#endif

struct coroutine {
#if COROUTINE_JUMPS
    void (*main)(void); /* where it begins; NULL: it has begun */
    jmp_buf place;      /* and where it continues */
#else
    ucontext_t context;
#endif
    const void *stack;
    size_t stack_bytes;
    void *fake_stack; /* AddressSanitizer's */
    void *fiber;      /* ThreadSanitizer's */
};

/* The one that runs: the thread's own stack. Needs no coroutine_free(). */
void coroutine_adopt(struct coroutine *self);
/* A new one, which at the first switch to it calls main(). That begins with coroutine_arrive(), and
 * never returns: it ends in a switch for good. */
void coroutine_make(struct coroutine *coroutine, void *stack, size_t bytes, void (*main)(void));
/* One that never runs again. */
void coroutine_free(struct coroutine *coroutine);

/* Goes on with `to`; returns when a coroutine switches back. `for_good`: none will. */
void coroutine_switch(struct coroutine *from, struct coroutine *to, bool for_good);
/* In a coroutine's main(): `from` is the one that has switched here. */
void coroutine_arrive(struct coroutine *self, struct coroutine *from);

#endif
