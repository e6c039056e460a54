/*
 * fault_guard.c: signals, exit() and timers that end a guarded call (fault_guard.h).
 *
 * State: the guard of each thread, which the thread and the handlers on it use alone; and the
 * former handler of each signal. It is written under `taking`, while the signal has another handler
 * than the one here, which alone reads it, and resets it when it hands the signal back.
 *
 * A signal that belongs neither to a guarded call nor to the watch gets its former handler back,
 * and is raised again by the return from here: the instruction that failed is executed once more.
 *
 * A call that does not return is found by a timer of the thread's own processor time: no other
 * thread's work, and no pause of the machine, counts. A guarded call of a second has executed a
 * thousand million instructions.
 */
#define _GNU_SOURCE
#include "core/os/fault_guard.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

__thread struct fault_guard fault_guard_here;

enum { SIGNAL_STACK_BYTES = 1 << 16 };

static const struct caught_signal {
    int number;
    const char *name; /* NULL: the timer's, which is not a fault */
    bool has_address;
} caught_signals[] = {
    {SIGSEGV, "segmentation fault", true}, {SIGBUS, "bus error", true},
    {SIGFPE, "arithmetic fault", false},   {SIGILL, "illegal instruction", false},
    {SIGABRT, "abort()", false},           {SIGVTALRM, NULL, false},
};
enum { SIGNALS = sizeof caught_signals / sizeof *caught_signals };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction former_actions[SIGNALS];
static pthread_key_t thread_key; /* frees the means of a thread */

/* A thread gives these back when it ends. */
struct thread_means {
    void *stack; /* NULL: it had one of its own */
    timer_t timer;
    bool has_timer;
    bool ready;
    bool passes_on;                   /* a handler of the host runs: pass_on() */
    uintptr_t stack_begin, stack_end; /* its own stack; both 0: not known */
};
static __thread struct thread_means means;

/* The guarded call is over: the code that guards it jumps out of here. Returns if no call is
 * guarded and the watch does not jump. A handler of a signal has the thread's own mask
 * (SA_NODEFER), so the jump restores none. */
static void tell_fault(const char *fault)
{
    void *const arg = fault_guard_here.arg;
    const struct fault_watch *const watch = &fault_guard_here.watch;
    if (arg == NULL && watch->arg == NULL)
        return;
    fault_guard_here.arg = NULL;
    if (arg == NULL) {
        watch->fault(watch->arg, fault);
        return;
    }
    fault_guard_here.tell(arg, fault);
    abort(); /* not reached */
}

static size_t place_of_signal(int number)
{
    size_t i = 0;
    while (caught_signals[i].number != number)
        i++;
    return i;
}

/* The former handler has the signal from now on. It may come back from there: from a handler that
 * was set after this one, and calls this one. Then the process ends. */
static void hand_back(int number, const siginfo_t *info)
{
    struct sigaction *const former = &former_actions[place_of_signal(number)];
    const struct sigaction told = *former;
    *former = (struct sigaction){.sa_handler = SIG_DFL};
    (void)sigaction(number, &told, NULL);
    if (info->si_code <= 0) /* sent by kill() or raise(): nothing is executed once more */
        (void)raise(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const size_t i = place_of_signal(number);
    char text[80];
    (void)context;
    if (caught_signals[i].has_address)
        (void)snprintf(text, sizeof text, "%s at address 0x%zx", caught_signals[i].name,
                       (size_t)info->si_addr);
    else
        (void)snprintf(text, sizeof text, "%s", caught_signals[i].name);
    tell_fault(text);
    hand_back(number, info);
}

/* A signal of another timer, or one that was sent. The former handler is called, and this one
 * stays, since ticks keep coming. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *const former = &former_actions[place_of_signal(number)];
    if (means.passes_on) /* called by that handler, which was set after this one */
        return;
    means.passes_on = true;
    if ((former->sa_flags & SA_SIGINFO) != 0)
        former->sa_sigaction(number, info, context);
    else if (former->sa_handler == SIG_DFL && sigaction(number, former, NULL) == 0)
        (void)raise(number); /* it ends the process */
    else if (former->sa_handler != SIG_IGN)
        former->sa_handler(number);
    means.passes_on = false;
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    char text[80];
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &thread_key) {
        pass_on(number, info, context);
        return;
    }
    if (fault_guard_here.arg == NULL) {
        if (fault_guard_here.watch.arg != NULL)
            fault_guard_here.watch.tick(fault_guard_here.watch.arg);
        return;
    }
    if (fault_guard_here.patient ||
        ++fault_guard_here.ticks < FAULT_GUARD_STUCK_S * FAULT_GUARD_TICKS_PER_S)
        return;
    (void)snprintf(text, sizeof text, "no return for %d s of processor time",
                   FAULT_GUARD_STUCK_S - 1);
    tell_fault(text);
}

/* Takes the place of the C library's exit() for the program and its libraries, so that a user's
 * function is left before the exit has begun. A jump out of a function of atexit() would not do:
 * from glibc 2.41 on exit() holds a lock by then, and every later exit() of another thread, the end
 * of the program included, would wait for it forever. */
__attribute__((visibility("default"), noreturn)) void exit(int status)
{
    tell_fault("exit()");
    void (*const next)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
    if (next != NULL)
        next(status);
    _exit(status);
}

static void release_thread(void *argument)
{
    struct thread_means *const of = argument;
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (of->has_timer)
        (void)timer_delete(of->timer);
    if (of->stack != NULL) {
        (void)sigaltstack(&none, NULL);
        (void)munmap(of->stack, SIGNAL_STACK_BYTES);
    }
    *of = (struct thread_means){0};
    fault_guard_here = (struct fault_guard){0};
}

void fault_guard_take_signals(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART}, now;
    (void)pthread_mutex_lock(&taking);
    for (size_t i = 0; i < SIGNALS; i++) {
        const int number = caught_signals[i].number;
        action.sa_sigaction = caught_signals[i].name == NULL ? on_tick : on_fault;
        if (sigaction(number, NULL, &now) != 0 || now.sa_sigaction == action.sa_sigaction)
            continue;
        former_actions[i] = now;
        (void)sigaction(number, &action, NULL);
    }
    (void)pthread_mutex_unlock(&taking);
}

static void start_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGVTALRM,
                             .sigev_value.sival_ptr = &thread_key}; /* marks it as ours */
    const struct timespec tick = {.tv_nsec = 1000000000 / FAULT_GUARD_TICKS_PER_S};
    const struct itimerspec ticks = {.it_interval = tick, .it_value = tick};
    event._sigev_un._tid = gettid();
    means.has_timer = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &means.timer) == 0;
    if (means.has_timer)
        (void)timer_settime(means.timer, 0, &ticks, NULL);
}

/* In the child of a fork, which has no timers. */
static void start_timer_again(void)
{
    if (means.ready)
        start_timer();
}

static void take_signals(void)
{
    fault_guard_take_signals();
    (void)pthread_atfork(NULL, NULL, start_timer_again);
    (void)pthread_key_create(&thread_key, release_thread);
}

/* A stack of its own for signals: a fault may be that the other one has run over. */
static void give_signal_stack(void)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0)
        return;
    void *const memory =
        mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    stack = (stack_t){.ss_sp = memory, .ss_size = SIGNAL_STACK_BYTES};
    means.stack = memory;
    (void)sigaltstack(&stack, NULL);
}

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *begin;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
        means.stack_begin = (uintptr_t)begin;
        means.stack_end = (uintptr_t)begin + bytes;
    }
    (void)pthread_attr_destroy(&attributes);
}

/* Once per thread. */
static void prepare_thread(void)
{
    (void)pthread_once(&once, take_signals);
    if (means.ready)
        return;
    means.ready = true;
    give_signal_stack();
    find_stack();
    start_timer();
    (void)pthread_setspecific(thread_key, &means);
}

void fault_guard_prepare(fault_tell tell)
{
    prepare_thread();
    fault_guard_here.tell = tell;
}

void fault_guard_watch(struct fault_watch watch)
{
    if (watch.arg != NULL)
        prepare_thread();
    fault_guard_here.watch.arg = NULL; /* a tick in between finds none */
    __asm__ volatile("" : : : "memory");
    fault_guard_here.watch.fault = watch.fault;
    fault_guard_here.watch.tick = watch.tick;
    __asm__ volatile("" : : : "memory");
    fault_guard_here.watch.arg = watch.arg;
}

uintptr_t fault_guard_stack_low(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t low = means.stack_begin + FAULT_GUARD_STACK_BYTES;
    return here < means.stack_end && here > low ? low : 0;
}
