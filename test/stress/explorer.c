/*
 * explorer.c: see explorer.h. The scheduler runs where the step is: it picks the next worker and
 * switches to it, or goes on at once if it is the same worker. A worker that sleeps is not picked
 * before its word has changed, but for one sleep in NO_REASON_ONE_IN; there is no time-out. So a
 * wake-up that is lost, or a circle of sleepers, ends the test.
 */
#include "test/stress/explorer.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/os/coroutine.h"
#include "core/os/sync.h"
#include "core/cw.h"
#include "core/os/threads.h"

#if !defined(SYNC_EXPLORE)
#error "the explorer needs steps: build with VARIANT=explore"
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = COROUTINE_STACK_FACTOR * (64 << 10), WAITS_MAX = 100, NO_REASON_ONE_IN = 8 };
#define NOBODY    UINT32_MAX
#define STEPS_MAX 200000000u /* of one exploration; one that ends takes far fewer */

const char *const explorer_policy_name[EXPLORE_POLICIES] = {"uniform", "runs", "priorities",
                                                            "stalls"};

/* A test's one exploration: file-scope because a step has no argument to find it by. */
static struct {
    bool on;
    enum explorer_policy policy;
    struct cw_rng rng;
    uint64_t steps;
    uint64_t next_change; /* the step of the next one, where the policy has such */
    uint64_t change_mean; /* and how far they lie apart */
    uint64_t priorities[EXPLORER_WORKERS_MAX], lowest;
    uint32_t stalled;
    uint32_t waits; /* since `stalled` was chosen */

    threads_main main;
    void *shared;
    uint32_t count, alive, current;
    bool ended[EXPLORER_WORKERS_MAX];
    const struct sync_u64 *sleeps_on[EXPLORER_WORKERS_MAX]; /* NULL: awake */
    uint64_t sleeps_while[EXPLORER_WORKERS_MAX];
    struct coroutine home, workers[EXPLORER_WORKERS_MAX];
    struct coroutine *arrived_from; /* for a coroutine's first step */
    char note[512];
} explorer;

static _Alignas(64) uint8_t stacks[EXPLORER_WORKERS_MAX][STACK_BYTES];

/* ---- the note that is left when the process dies -------------------------------------------- */

static void write_note(void)
{
    if (explorer.on && write(STDERR_FILENO, explorer.note, strlen(explorer.note)) < 0)
        _exit(1);
}

static void on_signal(int number)
{
    write_note();
    signal(number, SIG_DFL);
    raise(number);
}

void explorer_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(explorer.note, sizeof explorer.note - 1, format, arguments);
    va_end(arguments);
    strcat(explorer.note, "\n");
}

/* ---- the worker that goes on ---------------------------------------------------------------- */

/* Whether the worker can go on: it has not ended, and is not asleep. */
static bool is_awake(uint32_t i)
{
    return !explorer.ended[i] && (explorer.sleeps_on[i] == NULL ||
                                  explorer.sleeps_on[i]->word != explorer.sleeps_while[i]);
}

static uint32_t anybody_but(uint32_t not_this)
{
    uint32_t candidates[EXPLORER_WORKERS_MAX], count = 0;
    for (uint32_t i = 0; i < explorer.count; i++)
        if (is_awake(i) && i != not_this)
            candidates[count++] = i;
    return count == 0 ? not_this : candidates[cw_rng_below(&explorer.rng, count)];
}

/* Is it time for the next change? Then also decides when the one after comes. */
static bool change_is_due(void)
{
    if (explorer.steps < explorer.next_change)
        return false;
    explorer.next_change =
        explorer.steps + 1 + cw_rng_below(&explorer.rng, 2 * (uint32_t)explorer.change_mean);
    return true;
}

static uint32_t highest_priority(void)
{
    uint32_t best = NOBODY;
    for (uint32_t i = 0; i < explorer.count; i++)
        if (is_awake(i) && (best == NOBODY || explorer.priorities[i] > explorer.priorities[best]))
            best = i;
    return best;
}

static uint32_t choose_any(bool waits)
{
    const uint32_t current = explorer.current;
    switch (explorer.policy) {
    case EXPLORE_RUNS:
        if (waits || !is_awake(current) || change_is_due())
            return anybody_but(current);
        return current;
    case EXPLORE_PRIORITIES:
        if (waits || change_is_due())
            explorer.priorities[current] = --explorer.lowest;
        return highest_priority();
    case EXPLORE_STALLS:
        explorer.waits += waits; /* in vain, if only the one that stands still could help */
        if (change_is_due() || explorer.waits > WAITS_MAX || explorer.alive == 1 ||
            explorer.ended[explorer.stalled]) {
            explorer.stalled = anybody_but(NOBODY);
            explorer.waits = 0;
        }
        return explorer.alive == 1 ? explorer.stalled : anybody_but(explorer.stalled);
    default:
        return anybody_but(NOBODY);
    }
}

static _Noreturn void die(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) > 0)
        abort();
    _exit(1);
}

static uint32_t choose(bool waits)
{
    const uint32_t next = choose_any(waits);
    if (next == NOBODY || !is_awake(next))
        die("all workers sleep\n");
    return next;
}

static void go_on_with(struct coroutine *from, uint32_t next, bool for_good)
{
    explorer.current = next;
    explorer.arrived_from = from;
    coroutine_switch(from, next == NOBODY ? &explorer.home : &explorer.workers[next], for_good);
}

void sync_step(bool waits)
{
    if (explorer.alive == 0) /* the host, before and after a drain */
        return;
    if (++explorer.steps > STEPS_MAX)
        die("the workers do not come to an end\n");
    const uint32_t next = choose(waits), current = explorer.current;
    if (next != current)
        go_on_with(&explorer.workers[current], next, false);
}

void sync_step_asleep(const struct sync_u64 *shared, uint64_t value)
{
    const uint32_t current = explorer.current;
    if (explorer.alive > 0 && cw_rng_below(&explorer.rng, NO_REASON_ONE_IN) != 0) {
        explorer.sleeps_on[current] = shared;
        explorer.sleeps_while[current] = value;
    }
    sync_step(true);
    explorer.sleeps_on[current] = NULL;
}

/* ---- in place of core/os/threads.c
 * ------------------------------------------------------------- */

static void enter(void)
{
    const uint32_t self = explorer.current;
    coroutine_arrive(&explorer.workers[self], explorer.arrived_from);
    explorer.main(explorer.shared, self);
    explorer.ended[self] = true;
    explorer.alive--;
    go_on_with(&explorer.workers[self], explorer.alive > 0 ? choose(true) : NOBODY, true);
}

static void draw_priorities(uint32_t count)
{
    explorer.lowest = UINT64_MAX / 2;
    for (uint32_t i = 0; i < count; i++)
        explorer.priorities[i] = explorer.lowest + 1 + (cw_rng_u64(&explorer.rng) >> 2);
}

struct threads {
    struct memory *memory;
    uint32_t count;
};

struct threads *threads_start(struct memory *memory, uint32_t count, bool spin, uint32_t *started)
{
    (void)spin;
    struct threads *const threads = memory_take(memory, sizeof *threads);
    *started = threads == NULL ? 0 : count;
    if (threads != NULL)
        *threads = (struct threads){memory, count};
    return threads;
}

bool threads_are_here(const struct threads *threads)
{
    (void)threads;
    return true;
}

void threads_end(struct threads *threads)
{
    if (threads != NULL)
        memory_give(threads->memory, threads, sizeof *threads);
}

/* A thread that begins alone never starts the others here: CW_GATHER_OFTEN starts all. */
void threads_begin(struct threads *threads, threads_main main, void *shared)
{
    (void)threads, (void)main, (void)shared;
    abort();
}

void threads_finish(struct threads *threads)
{
    (void)threads;
    abort();
}

void threads_run(struct threads *threads, threads_main main, void *shared)
{
    const uint32_t count = threads->count;
    if (count > EXPLORER_WORKERS_MAX || !explorer.on)
        abort();
    explorer.main = main;
    explorer.shared = shared;
    explorer.count = count;
    draw_priorities(count);
    coroutine_adopt(&explorer.home);
    for (uint32_t i = 0; i < count; i++) {
        coroutine_make(&explorer.workers[i], stacks[i], STACK_BYTES, enter);
        explorer.ended[i] = false;
        explorer.sleeps_on[i] = NULL;
    }
    explorer.alive = count;
    explorer.current = explorer.stalled = cw_rng_below(&explorer.rng, count);
    go_on_with(&explorer.home, explorer.current, false);
    for (uint32_t i = 0; i < count; i++)
        coroutine_free(&explorer.workers[i]);
}

void explorer_begin(enum explorer_policy policy, uint64_t seed)
{
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        signal(deaths[i], on_signal);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_set_death_callback(write_note);
#endif
    explorer.on = true;
    explorer.policy = policy;
    explorer.rng = cw_rng_seeded(seed, 23);
    explorer.steps = 0;
    explorer.change_mean = UINT64_C(1) << (3 + cw_rng_below(&explorer.rng, 12));
    explorer.next_change = cw_rng_below(&explorer.rng, 2 * (uint32_t)explorer.change_mean);
}

uint64_t explorer_end(void)
{
    explorer.on = false;
    return explorer.steps;
}
