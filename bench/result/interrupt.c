/*
 * interrupt.c: waits for signals on a thread of its own, and ends the command (interrupt.h).
 * Shared words: `signal_noted` is written by the watching thread, and `asked` by any thread;
 * both only ever go from 0 to another value. `mask_before`, `thread` and `watching` are the main
 * thread's, and `late` is written before the thread is made.
 */
#include "bench/result/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "bench/output/atomic_file.h"
#include "core/os/clock.h"
#include "core/os/plain_locale.h"
#include "core/os/sync.h"

#define GRACE_RUN_S 0.25
#define GRACE_S     1.0
#define LATE_S      20.0

static const struct {
    int number;
    const char *name;
} watched[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
enum { WATCHED = sizeof watched / sizeof *watched };

static struct sync_u64 signal_noted; /* its number; 0: none has come */
static struct sync_u64 asked;        /* the command knows of it */
static struct sync_u64 ending;       /* the watch ends: the next signal is interrupt_end()'s own */
static struct {
    interrupt_late_fn fn;
    void *arg;
} late;
static sigset_t waited_for, mask_before;
static pthread_t thread;
static bool watching;

bool interrupt_asked(void *unused)
{
    (void)unused;
    if (sync_load_acquire(&signal_noted) == 0)
        return false;
    if (sync_load_acquire(&asked) == 0)
        sync_store_release(&asked, 1);
    return true;
}

const char *interrupt_name(void)
{
    const int number = (int)sync_load_acquire(&signal_noted);
    for (size_t i = 0; i < WATCHED; i++)
        if (watched[i].number == number)
            return watched[i].name;
    return NULL;
}

int interrupt_exit_code(void)
{
    const int number = (int)sync_load_acquire(&signal_noted);
    return number != 0 ? 128 + number : 0;
}

/* Whether another signal comes within 20 ms. */
static bool comes_again(void)
{
    const struct timespec wait = {.tv_nsec = 20000000};
    return sigtimedwait(&waited_for, NULL, &wait) > 0;
}

static double cpu_s(void)
{
    struct timespec now = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Whether the command has had time enough, since these times, to end on its own. */
static bool is_late(double since_s, double since_cpu_s)
{
    const double waited_s = clock_s() - since_s;
    if (sync_load_acquire(&asked) != 0)
        return waited_s > LATE_S;
    return waited_s > GRACE_S || (waited_s > GRACE_RUN_S && cpu_s() - since_cpu_s > GRACE_RUN_S);
}

static void *watch_signals(void *unused)
{
    int number;
    bool second = false;
    (void)unused;
    plain_locale_use();
    if (sigwait(&waited_for, &number) != 0 || sync_load_acquire(&ending) != 0)
        return NULL;
    sync_store_release(&signal_noted, (uint64_t)number);
    const double since_s = clock_s(), since_cpu_s = cpu_s();
    while (!second && !is_late(since_s, since_cpu_s)) {
        second = comes_again();
        if (sync_load_acquire(&ending) != 0)
            return NULL;
    }
    if (late.fn != NULL)
        late.fn(late.arg, second);
    atomic_file_abandon_all();
    _exit(interrupt_exit_code());
}

/* The signals that are not ignored. */
static bool choose_signals(sigset_t *set)
{
    bool any = false;
    sigemptyset(set);
    for (size_t i = 0; i < WATCHED; i++) {
        struct sigaction action;
        if (sigaction(watched[i].number, NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue;
        sigaddset(set, watched[i].number);
        any = true;
    }
    return any;
}

void interrupt_watch(interrupt_late_fn fn, void *arg)
{
    late.fn = fn;
    late.arg = arg;
    if (watching || !choose_signals(&waited_for) ||
        pthread_sigmask(SIG_BLOCK, &waited_for, &mask_before) != 0)
        return;
    watching = pthread_create(&thread, NULL, watch_signals, NULL) == 0;
    if (!watching)
        pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
}

void interrupt_end(void)
{
    if (!watching)
        return;
    sync_store_release(&ending, 1);
    for (size_t i = 0; i < WATCHED; i++)
        if (sigismember(&waited_for, watched[i].number) == 1) {
            (void)pthread_kill(thread, watched[i].number); /* blocked: it reaches sigwait() alone */
            break;
        }
    pthread_join(thread, NULL);
    sync_store_release(&ending, 0);
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    watching = false;
}
