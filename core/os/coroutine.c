/*
 * coroutine.c: stacks of their own, by ucontext and setjmp() (coroutine.h).
 */
#include "core/os/coroutine.h"

#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

void coroutine_adopt(struct coroutine *self)
{
    *self = (struct coroutine){.stack = NULL};
#if defined(__SANITIZE_THREAD__)
    self->fiber = __tsan_get_current_fiber();
#endif
}

/* main() does not return, so nothing is linked after it. */
static void make_context(ucontext_t *context, void *stack, size_t bytes, void (*main)(void))
{
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = bytes;
    context->uc_link = NULL;
    makecontext(context, main, 0);
}

void coroutine_make(struct coroutine *coroutine, void *stack, size_t bytes, void (*main)(void))
{
    *coroutine = (struct coroutine){.stack = stack, .stack_bytes = bytes};
#if COROUTINE_JUMPS
    coroutine->main = main;
#else
    make_context(&coroutine->context, stack, bytes, main);
#endif
#if defined(__SANITIZE_THREAD__)
    coroutine->fiber = __tsan_create_fiber(0);
#endif
}

void coroutine_free(struct coroutine *coroutine)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(coroutine->fiber);
#endif
    *coroutine = (struct coroutine){.stack = NULL};
}

void coroutine_arrive(struct coroutine *self, struct coroutine *from)
{
#if defined(__SANITIZE_ADDRESS__)
    const void *stack;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake_stack, &stack, &bytes);
    if (from->stack == NULL) { /* an adopted one, whose stack was not known */
        from->stack = stack;
        from->stack_bytes = bytes;
    }
#else
    (void)self;
    (void)from;
#endif
}

#if COROUTINE_JUMPS

/* Its context is needed once, and is larger than the rest of a coroutine, so it is on the stack
 * that is left. */
static __attribute__((noinline)) void coroutine_begin(struct coroutine *coroutine)
{
    ucontext_t context;
    make_context(&context, (void *)(uintptr_t)coroutine->stack, coroutine->stack_bytes,
                 coroutine->main);
    coroutine->main = NULL;
    setcontext(&context);
}

/* A place is jumped to while the function that has noted it is still there: that function is this
 * one, and it has left its stack to another coroutine before it returned. */
void coroutine_switch(struct coroutine *from, struct coroutine *to, bool for_good)
{
    (void)for_good;
    if (_setjmp(from->place) != 0)
        return;
    if (to->main == NULL)
        _longjmp(to->place, 1);
    coroutine_begin(to);
}

#else

void coroutine_switch(struct coroutine *from, struct coroutine *to, bool for_good)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(for_good ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)for_good;
    swapcontext(&from->context, &to->context);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

#endif
