/*
 * test_core_process.c: what a process does beside its simulations: it forks, it has handlers of
 * signals, a timer and a mask of its own.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/cw.h"

enum { LPS = 8, WORKERS = 4, HOPS = 100, STEP_PS = 100 };

struct plan {
    bool faults;
};

static size_t count_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(uint64_t);
}

static void count_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

/* To the next LP, as often as the number says. */
static void count_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct plan *const plan = cw_model_data(ctx);
    const uint64_t *const count = state;
    ++*CW_MUT(ctx, count);
    if (plan->faults)
        (void)raise(SIGSEGV);
    if (event->number > 0)
        cw_send(ctx, (event->lp + 1) % LPS, STEP_PS, 0, event->entity, event->number - 1, NULL, 0);
    cw_emit(ctx, 0, NULL, 0);
}

static void count_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                         uint16_t bytes)
{
    (void)event, (void)kind, (void)record, (void)bytes;
    ++*(uint64_t *)arg;
}

static struct cw_sim *create_counts(const struct plan *plan, enum cw_sync sync, uint64_t *records)
{
    static int64_t least_ps[WORKERS * WORKERS];
    const struct cw_model model = {.name = "counts",
                                   .data = plan,
                                   .lp_count = LPS,
                                   .state_bytes = count_bytes,
                                   .init = count_init,
                                   .handle = count_handle};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = sync == CW_SEQUENTIAL ? 1 : WORKERS,
                                     .tuning.thread_count = sync == CW_SEQUENTIAL ? 1 : WORKERS,
                                     .least_delay_ps = sync == CW_SEQUENTIAL ? NULL : least_ps,
                                     .record = count_record,
                                     .record_arg = records,
                                     .end_ps = CW_TIME_MAX};
    struct cw_error error;
    for (size_t i = 0; i < WORKERS * WORKERS; i++)
        least_ps[i] = STEP_PS;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    return sim;
}

/* Returns the drain's exit code. */
static int run_counts(struct cw_sim *sim)
{
    struct cw_error error;
    for (uint32_t lp = 0; lp < LPS; lp++)
        assert_int_equal(cw_inject(sim, lp, cw_sim_now(sim), 0, lp, HOPS, NULL, 0, &error), CW_OK);
    return cw_drain(sim, &error);
}

/* ---- forks ----------------------------------------------------------------------------------- */

/* The hash of a run of two drains, or 0. In between nothing is left but states. */
static uint64_t hash_of_two(struct cw_sim *sim)
{
    struct cw_stats stats;
    if (run_counts(sim) != CW_OK)
        return 0;
    cw_sim_stats(sim, &stats);
    cw_sim_free(sim);
    return stats.trace_hash;
}

/* A child that hangs is ended by an alarm. */
static void a_child_goes_on_with_a_simulation_and_frees_it(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it allows no threads in a child */
#endif
    const struct plan plan = {.faults = false};
    for (int sync = 0; sync < CW_SYNCS; sync++) {
        uint64_t records = 0;
        struct cw_sim *const sim = create_counts(&plan, (enum cw_sync)sync, &records);
        struct cw_sim *const other = create_counts(&plan, (enum cw_sync)sync, &records);
        assert_int_equal(run_counts(sim), CW_OK);
        assert_int_equal(run_counts(other), CW_OK);
        int hashes[2], status;
        uint64_t hash = 0;
        assert_int_equal(pipe(hashes), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)alarm(60);
            cw_sim_free(other);
            hash = hash_of_two(sim);
            _exit(write(hashes[1], &hash, sizeof hash) == (ssize_t)sizeof hash ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(read(hashes[0], &hash, sizeof hash), sizeof hash);
        assert_int_equal(hash_of_two(sim), hash);
        assert_int_equal(records, 3 * LPS * (HOPS + 1));
        cw_sim_free(other);
        assert_int_equal(close(hashes[0]) + close(hashes[1]), 0);
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
    (void)number;
    alarms++;
}

/* The engine's timers send the same signal. */
static void a_timer_of_the_host_reaches_the_host(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it holds signals back */
#endif
    const struct plan plan = {.faults = false};
    const struct sigaction own = {.sa_handler = count_alarm};
    const struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    struct sigaction old;
    for (int turn = 0; turn < 2;
         turn++) { /* its handler is set before the first drain, and after */
        uint64_t records = 0;
        struct cw_sim *const sim = create_counts(&plan, CW_SEQUENTIAL, &records);
        assert_int_equal(sigaction(SIGVTALRM, &own, &old), 0);
        assert_int_equal(run_counts(sim), CW_OK);
        alarms = 0;
        assert_int_equal(raise(SIGVTALRM), 0);
        assert_int_equal(alarms, 1);
        assert_int_equal(setitimer(ITIMER_VIRTUAL, &soon, NULL), 0);
        while (alarms < 2) /* processor time passes */
            (void)cw_rng_seeded(1, 1);
        cw_sim_free(sim);
    }
}

/* A host may block a signal at any time: a handler that faults does not let it through. */
static void a_fault_leaves_the_mask_of_the_thread_as_it_is(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they take faults for themselves */
#endif
    const struct plan well = {.faults = false}, ill = {.faults = true};
    uint64_t records = 0;
    sigset_t usr1, now;
    struct cw_sim *sim = create_counts(&well, CW_SEQUENTIAL, &records);
    assert_int_equal(run_counts(sim), CW_OK);
    cw_sim_free(sim);
    assert_int_equal(sigemptyset(&usr1) + sigaddset(&usr1, SIGUSR1), 0);
    assert_int_equal(sigprocmask(SIG_BLOCK, &usr1, NULL), 0);
    sim = create_counts(&ill, CW_SEQUENTIAL, &records);
    assert_int_equal(run_counts(sim), CW_BUG);
    cw_sim_free(sim);
    assert_int_equal(sigprocmask(SIG_UNBLOCK, &usr1, &now), 0);
    assert_int_equal(sigismember(&now, SIGUSR1), 1);
    assert_int_equal(sigismember(&now, SIGSEGV), 0);
}

static struct sigaction set_before;

/* As a reporter of crashes does: it tells, and lets the handler before it go on. */
static void report_crash(int number)
{
    (void)number;
    if (++alarms > 3)
        _exit(9);
    (void)sigaction(SIGSEGV, &set_before, NULL);
    (void)raise(SIGSEGV);
}

/* A crash of the host's own ends the process, if a handler was set between two drains, too. */
static void a_crash_ends_a_host_that_reports_crashes(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they take faults for themselves */
#endif
    const struct plan plan = {.faults = false};
    const struct sigaction reporter = {.sa_handler = report_crash, .sa_flags = SA_NODEFER};
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t records = 0;
        struct cw_sim *const sim = create_counts(&plan, CW_SEQUENTIAL, &records);
        int code = signal(SIGSEGV, SIG_DFL) == SIG_ERR ? 1 : run_counts(sim);
        code += sigaction(SIGSEGV, &reporter, &set_before);
        code += run_counts(sim);
        if (code == 0)
            (void)raise(SIGSEGV);
        _exit(code == 0 ? 8 : 7);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_of_the_host_reaches_the_host), /* first: of the first drain, too */
        cmocka_unit_test(a_child_goes_on_with_a_simulation_and_frees_it),
        cmocka_unit_test(a_fault_leaves_the_mask_of_the_thread_as_it_is),
        cmocka_unit_test(a_crash_ends_a_host_that_reports_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
