/*
 * spawn.c: workers as coroutines (spawn.h, coroutine.h): one mapping for all stacks, in which every
 * stack has inaccessible pages below it. Only pages that a worker has touched cost memory: 8,192
 * ranks take some 70 MB.
 *
 * A worker that waits for a condition is not resumed to check it: the scheduler asks. When it
 * finds no worker to resume, nothing can ever change, and that is an error.
 */
#include "collectives/runtime/spawn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/os/coroutine.h"
#include "core/os/pages.h"
#include "core/os/sync.h"
#include "collectives/config/input/environment.h"
#include "core/os/text_stream.h"

#define STACK_KIB_DEFAULT 64u
#define STACK_KIB_MIN     32u /* of which this library's calls take up to 11, measured */
#define STACK_KIB_MAX     (64u * 1024u)
/* Below each stack: no function of the program has a frame that could step over it. */
#define GUARD_BYTES (64u * 1024u)
/* Every worker uses about this much of its stack. */
enum { STACK_USED_BYTES = 8192, STACK_STEP_BYTES = 4096 };
/* Fewer ranks than these are not worth waking a thread for. */
enum { HELPED_RANKS_MIN = 256 };

/* A call that a worker has made on its launcher's stack. */
struct errand {
    void (*fn)(void *arg);
    void *arg;
};

struct worker {
    struct coroutine coroutine;
    struct launcher *launcher;
    const struct mp_wait *wait;  /* on its stack; NULL: it can be resumed */
    const struct errand *errand; /* on its stack; NULL: none */
    char *error;                 /* owned; NULL: it has not failed */
    uint32_t rank;
    int exit_code; /* CW_OK: it has not failed */
    int device;
    bool ended;
};

struct launcher {
    struct coroutine scheduler;
    struct worker *workers;
    uint32_t nprocs, alive, failed;
    char *common_error; /* owned: of no rank's own; NULL: none */
    int common_code;    /* CW_OK: none */
    mp_worker_fn fn;
    void *arg;
    uint8_t *stacks;
    size_t stack_bytes, stacks_bytes;
    const struct mp_machine *machine; /* NULL: none */
    struct sync_u64 no_guard;         /* errno of a stack without guard pages; 0: all have them */
    struct sync_u64 no_guard_rank;    /* its rank */
};

/*
 * The one mutable thing of this file that is not on a stack or in a launcher: which worker runs on
 * this thread. Threads do not share it; two simulations on two threads do not meet.
 */
static _Thread_local struct {
    struct worker *worker; /* NULL: none */
    void *runtime;
    int device; /* chosen outside of workers, + 1; 0: none */
} here;

/* ---- switching ------------------------------------------------------------------------------- */

static void spawn_leave(struct worker *worker, bool for_good)
{
    coroutine_switch(&worker->coroutine, &worker->launcher->scheduler, for_good);
}

/* A worker's first function. makecontext() passes ints only, hence `here`. */
static void spawn_enter(void)
{
    struct worker *worker = here.worker;
    struct launcher *launcher = worker->launcher;
    coroutine_arrive(&worker->coroutine, &launcher->scheduler);
    launcher->fn((int)worker->rank, launcher->arg);
    worker->ended = true;
    spawn_leave(worker, true);
}

/* Runs a worker until it waits, yields or ends; its errands meanwhile, here. */
static void resume(struct worker *worker)
{
    struct worker *outer = here.worker;
    for (;;) {
        here.worker = worker;
        coroutine_switch(&worker->launcher->scheduler, &worker->coroutine, false);
        here.worker = outer;
        const struct errand *const errand = worker->errand;
        if (errand == NULL)
            return;
        worker->errand = NULL;
        mp_run_outside(errand->fn, errand->arg); /* this may be a worker's stack, too */
    }
}

/* ---- setting up ------------------------------------------------------------------------------ */

static int stack_size(size_t *bytes, struct cw_error *error)
{
    const char *text = environment_get(ENVIRONMENT_STACK_KIB);
    unsigned long kib = STACK_KIB_DEFAULT;
    if (text) {
        char *end;
        errno = 0;
        kib = strtoul(text, &end, 10);
        if (errno || end == text || *end || *text == '-' || kib < STACK_KIB_MIN ||
            kib > STACK_KIB_MAX)
            return cw_error_set(error, CW_USAGE,
                                "CUBEWARP_STACK_KIB=%.40s: a whole number of KiB from %u "
                                "to %u is legal",
                                text, STACK_KIB_MIN, STACK_KIB_MAX);
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *bytes = (kib * 1024 * COROUTINE_STACK_FACTOR + page - 1) / page * page;
    return CW_OK;
}

static uint32_t rank_at(const struct launcher *launcher, uint32_t index, uint32_t parts)
{
    return (uint32_t)((uint64_t)launcher->nprocs * index / parts);
}

/* Work on the stacks, by ranks. Each part writes the stacks of its own ranks alone. */
static void share_out(struct launcher *launcher, mp_part_fn part)
{
    if (launcher->machine != NULL && launcher->nprocs >= HELPED_RANKS_MIN)
        launcher->machine->each(launcher->machine->arg, part, launcher);
    else
        part(launcher, 0, 1);
}

/*
 * Stacks grow down: the pages below each, at its lower end, stay inaccessible. Pages that every
 * worker uses are touched here, where several threads share the system's work on them. The words
 * of a failure are for its message: whichever part stores last is named.
 */
static void prepare_stacks(void *arg, uint32_t index, uint32_t parts)
{
    struct launcher *const launcher = arg;
    const size_t each = launcher->stack_bytes + GUARD_BYTES;
    for (uint32_t rank = rank_at(launcher, index, parts);
         rank < rank_at(launcher, index + 1, parts); rank++) {
        uint8_t *const low = launcher->stacks + rank * each;
        if (!pages_close(low, GUARD_BYTES)) {
            sync_store_release(&launcher->no_guard_rank, rank); /* read after the call */
            sync_store_release(&launcher->no_guard, (uint64_t)errno);
            return;
        }
        for (size_t used = STACK_USED_BYTES; used > 0; used -= STACK_STEP_BYTES)
            *(volatile uint8_t *)(low + each - used) = 0;
    }
}

/* A part's stacks in one call, with the closed pages between them: each call makes the other
 * threads' cores forget their translations. */
static void drop_stacks(void *arg, uint32_t index, uint32_t parts)
{
    const struct launcher *const launcher = arg;
    const size_t each = launcher->stack_bytes + GUARD_BYTES;
    const uint32_t first = rank_at(launcher, index, parts);
    pages_drop(launcher->stacks + first * each,
               (rank_at(launcher, index + 1, parts) - first) * each);
}

static int map_stacks(struct launcher *launcher, struct cw_error *error)
{
    launcher->stacks_bytes = launcher->nprocs * (launcher->stack_bytes + GUARD_BYTES);
    void *const stacks = pages_reserve(launcher->stacks_bytes);
    if (stacks == NULL)
        return cw_error_set(error, CW_NO_RESOURCE,
                            "no room for %u stacks of %zu bytes: %s; see "
                            "CUBEWARP_STACK_KIB",
                            launcher->nprocs, launcher->stack_bytes, strerror(errno));
    launcher->stacks = stacks;
    share_out(launcher, prepare_stacks);
    const int no_guard = (int)sync_load_acquire(&launcher->no_guard);
    if (no_guard == 0)
        return CW_OK;
    return cw_error_set(error, CW_NO_RESOURCE,
                        "no room for the stack of rank %u of %u: %s; the system's limit "
                        "vm.max_map_count may be too low",
                        (unsigned)sync_load_acquire(&launcher->no_guard_rank), launcher->nprocs,
                        strerror(no_guard));
}

static int make_workers(struct launcher *launcher, struct cw_error *error)
{
    const int code = map_stacks(launcher, error);
    if (code)
        return code;
    launcher->workers = calloc(launcher->nprocs, sizeof *launcher->workers);
    if (!launcher->workers)
        return cw_error_set(error, CW_NO_RESOURCE, "out of memory: %u workers", launcher->nprocs);
    const size_t each = launcher->stacks_bytes / launcher->nprocs;
    const struct mp_machine *const machine = launcher->machine;
    for (uint32_t i = 0; i < launcher->nprocs; i++) {
        struct worker *worker = &launcher->workers[i];
        worker->launcher = launcher;
        worker->rank =
            machine != NULL && machine->rank != NULL ? machine->rank(machine->arg, i) : i;
        worker->device = -1;
        coroutine_make(&worker->coroutine,
                       launcher->stacks + (i + 1) * each - launcher->stack_bytes,
                       launcher->stack_bytes, spawn_enter);
    }
    coroutine_adopt(&launcher->scheduler);
    return CW_OK;
}

static void tear_down(struct launcher *launcher)
{
    for (uint32_t rank = 0; launcher->workers && rank < launcher->nprocs; rank++) {
        free(launcher->workers[rank].error);
        coroutine_free(&launcher->workers[rank].coroutine);
    }
    free(launcher->workers);
    free(launcher->common_error);
    if (launcher->stacks && launcher->machine != NULL && launcher->nprocs >= HELPED_RANKS_MIN)
        share_out(launcher, drop_stacks);
    if (launcher->stacks)
        pages_release(launcher->stacks, launcher->stacks_bytes);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static bool same_error(const struct worker *a, const struct worker *b)
{
    return a->exit_code == b->exit_code && a->error && b->error && !strcmp(a->error, b->error);
}

/* The worker after the last of those from this one on that failed with the same error, of ranks
 * that follow each other. */
static uint32_t group_end(const struct launcher *launcher, uint32_t first)
{
    const struct worker *const at = &launcher->workers[first];
    uint32_t end = first + 1;
    while (end < launcher->nprocs && at[end - first].rank == at->rank + end - first &&
           same_error(at, &at[end - first]))
        end++;
    return end;
}

static const char *text_or_excuse(const char *text, int exit_code)
{
    return text != NULL                  ? text
           : exit_code == CW_NO_RESOURCE ? "out of memory"
                                         : "(no memory for its message)";
}

/* One line per error, neighbours with the same error together. */
static void print_errors(const struct launcher *launcher, FILE *out)
{
    fprintf(out, "%u of %u ranks failed", launcher->failed, launcher->nprocs);
    for (uint32_t i = 0, end; i < launcher->nprocs; i = end) {
        const struct worker *worker = &launcher->workers[i];
        end = group_end(launcher, i);
        if (worker->exit_code == CW_OK)
            continue;
        if (end == i + 1)
            fprintf(out, "\n  rank %u: ", worker->rank);
        else
            fprintf(out, "\n  ranks %u-%u: ", worker->rank, launcher->workers[end - 1].rank);
        fputs(text_or_excuse(worker->error, worker->exit_code), out);
    }
}

static int list_errors(const struct launcher *launcher, struct cw_error *error)
{
    int exit_code = launcher->common_code;
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = text_stream_open(&text, &bytes);
    for (uint32_t rank = 0; rank < launcher->nprocs; rank++)
        if (launcher->workers[rank].exit_code > exit_code)
            exit_code = launcher->workers[rank].exit_code;
    if (out != NULL && launcher->common_code != CW_OK)
        fprintf(out, "%s%s", text_or_excuse(launcher->common_error, launcher->common_code),
                launcher->failed > 0 ? "\n" : "");
    if (out != NULL && launcher->failed > 0)
        print_errors(launcher, out);
    if (out == NULL || fclose(out) != 0 || text == NULL)
        (void)cw_error_set(error, exit_code, "%u of %u ranks failed (no memory for the messages)",
                           launcher->failed, launcher->nprocs);
    else
        (void)cw_error_set(error, exit_code, "%s", text);
    free(text);
    return exit_code;
}

/* No worker can be resumed: the first one that waits says for which event. */
static int report_stuck(const struct launcher *launcher, struct cw_error *error)
{
    const struct worker *stuck = launcher->workers;
    while (stuck->ended)
        stuck++;
    char text[900];
    stuck->wait->describe(stuck->wait->arg, text, sizeof text);
    return cw_error_set(error, CW_PROGRAM_FAILED, "rank %u waits forever: %s", stuck->rank, text);
}

size_t mp_list_ranks(bool (*lacks)(const void *arg, uint32_t rank), const void *arg, uint32_t ranks,
                     char *text, size_t size, size_t used)
{
    enum { ROOM_AFTER = 100 };
    const char *separator = " ";
    for (uint32_t rank = 0, last; rank < ranks; rank = last + 1) {
        last = rank;
        if (!lacks(arg, rank))
            continue;
        while (last + 1 < ranks && lacks(arg, last + 1))
            last++;
        if (used + ROOM_AFTER > size)
            return used + (size_t)snprintf(text + used, size - used, ", ...");
        used += (size_t)(last == rank ? snprintf(text + used, size - used, "%s%u", separator, rank)
                                      : snprintf(text + used, size - used, "%s%u-%u", separator,
                                                 rank, last));
        separator = ", ";
    }
    return used;
}

/* ---- the scheduler --------------------------------------------------------------------------- */

/* Ends the workers that are left, where they are. */
static void end_all(struct launcher *launcher)
{
    for (uint32_t rank = 0; rank < launcher->nprocs; rank++) {
        struct worker *worker = &launcher->workers[rank];
        if (!worker->ended && worker->wait && worker->wait->abandon)
            worker->wait->abandon(worker->wait->arg);
        worker->ended = true;
    }
}

/* Where a worker waits in a barrier most frames lie in this many bytes below its stack's top. All
 * stacks together fit no near cache. */
static void fetch_stack(const struct launcher *launcher, uint32_t rank)
{
    enum { FETCHED_BYTES = 1024, LINE_BYTES = 64 };
    if (rank >= launcher->nprocs)
        return;
    const struct coroutine *const coroutine = &launcher->workers[rank].coroutine;
    const uint8_t *const top = (const uint8_t *)coroutine->stack + coroutine->stack_bytes;
    for (size_t below = LINE_BYTES; below <= FETCHED_BYTES; below += LINE_BYTES)
        __builtin_prefetch(top - below, 1);
}

/* Gives every worker that can continue a turn, in rank order; `waiting`: only workers whose wait
 * has ended. Returns how many had a turn. */
static uint32_t run_round(struct launcher *launcher, bool waiting)
{
    enum { RANKS_AHEAD = 3 };
    uint32_t resumed = 0;
    for (uint32_t rank = 0; rank < launcher->nprocs; rank++) {
        struct worker *worker = &launcher->workers[rank];
        fetch_stack(launcher, rank + RANKS_AHEAD);
        if (worker->ended || (waiting && !worker->wait) ||
            (worker->wait && !worker->wait->ready(worker->wait->arg)))
            continue;
        worker->wait = NULL;
        resume(worker);
        resumed++;
        launcher->alive -= worker->ended;
        launcher->failed += worker->exit_code != CW_OK;
    }
    return resumed;
}

/* No worker can continue. False: none ever will; error->exit_code: whether the machine failed. */
static bool advance(const struct launcher *launcher, struct cw_error *error)
{
    *error = (struct cw_error){.exit_code = CW_OK};
    const struct mp_machine *const machine = launcher->machine;
    return machine != NULL && machine->advance != NULL && machine->advance(machine->arg, error);
}

/* An error that belongs to no rank. The gravest code counts, and the first text. */
static int note_common(struct launcher *launcher, const struct cw_error *error)
{
    if (launcher->common_code == CW_OK)
        launcher->common_error = strdup(cw_error_text(error));
    if (error->exit_code > launcher->common_code)
        launcher->common_code = error->exit_code;
    return launcher->common_code;
}

static int spawn_run(struct launcher *launcher, struct cw_error *error)
{
    while (launcher->alive && !launcher->failed && launcher->common_code == CW_OK) {
        if (run_round(launcher, false) || advance(launcher, error))
            continue;
        const int code = error->exit_code != CW_OK ? note_common(launcher, error)
                                                   : report_stuck(launcher, error);
        if (launcher->common_code != CW_OK)
            break;
        end_all(launcher);
        return code;
    }
    if (!launcher->failed && launcher->common_code == CW_OK)
        return CW_OK;
    (void)run_round(launcher, true);
    end_all(launcher);
    return list_errors(launcher, error);
}

int mp_spawn_beside(mp_worker_fn fn, uint32_t nprocs, void *arg, const struct mp_machine *machine,
                    struct cw_error *error)
{
    struct launcher launcher = {
        .nprocs = nprocs, .alive = nprocs, .fn = fn, .arg = arg, .machine = machine};
    if (nprocs == 0)
        return CW_OK;
    int code = stack_size(&launcher.stack_bytes, error);
    if (!code)
        code = make_workers(&launcher, error);
    if (!code)
        code = spawn_run(&launcher, error);
    tear_down(&launcher);
    return code;
}

int mp_spawn(mp_worker_fn fn, uint32_t nprocs, void *arg, struct cw_error *error)
{
    return mp_spawn_beside(fn, nprocs, arg, NULL, error);
}

/* ---- for workers ----------------------------------------------------------------------------- */

bool mp_in_worker(void) { return here.worker != NULL; }

_Noreturn static void end_worker(struct worker *worker)
{
    worker->ended = true;
    spawn_leave(worker, true);
    abort(); /* an ended worker is never resumed */
}

void mp_fail(int exit_code, const char *format, ...)
{
    struct worker *worker = here.worker;
    struct cw_error error;
    va_list args;
    va_start(args, format);
    (void)cw_error_set_list(&error, exit_code == CW_OK ? CW_BUG : exit_code, format, args);
    va_end(args);
    if (!worker) {
        fprintf(stderr, "cubewarp: %s\n", cw_error_text(&error));
        exit(exit_code);
    }
    worker->error = strdup(cw_error_text(&error));
    worker->exit_code = error.exit_code;
    end_worker(worker);
}

void mp_fail_for_all(const struct cw_error *error)
{
    struct worker *const worker = here.worker;
    if (worker == NULL)
        mp_fail(error->exit_code, "%s", cw_error_text(error));
    (void)note_common(worker->launcher, error);
    end_worker(worker);
}

void mp_wait_until(const struct mp_wait *wait)
{
    struct worker *worker = here.worker;
    if (!worker)
        mp_fail(CW_BUG, "mp_wait_until() outside of a worker: nothing could end the wait");
    if (wait->ready(wait->arg))
        return;
    worker->wait = wait;
    spawn_leave(worker, false);
}

void mp_run_outside(void (*fn)(void *arg), void *arg)
{
    struct worker *worker = here.worker;
    if (!worker) {
        fn(arg);
        return;
    }
    const struct errand errand = {fn, arg};
    worker->errand = &errand;
    spawn_leave(worker, false);
}

void dist_cooperative_yield(void)
{
    if (here.worker)
        spawn_leave(here.worker, false);
}

int mp_rank(void) { return here.worker ? (int)here.worker->rank : 0; }

void ahbm_set_device(int sip)
{
    if (here.worker)
        here.worker->device = sip;
    else
        here.device = sip + 1;
}

int ahbm_current_device(void) { return here.worker ? here.worker->device : here.device - 1; }

void accelerator_set_device_index(int sip) { ahbm_set_device(sip); }
int accelerator_current_device_index(void) { return ahbm_current_device(); }

void *mp_set_runtime(void *runtime)
{
    void *before = here.runtime;
    here.runtime = runtime;
    return before;
}

void *mp_runtime(void) { return here.runtime; }
