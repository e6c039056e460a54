/*
 * test_spawn_stacks.c: workers' stacks: their size, the pages below them, and functions that run on
 * other stacks (spawn.h).
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collectives/runtime/dist_world.h"
#include "collectives/runtime/spawn.h"

static void spawn_well(mp_worker_fn fn, uint32_t nprocs, void *arg)
{
    struct cw_error error = {0};
    if (mp_spawn(fn, nprocs, arg, &error))
        fail_msg("%s", error.text);
}

static void calls_the_runtime(int rank, void *arg)
{
    (void)rank;
    dist_cooperative_yield();
    (void)arg;
}

static void a_bad_stack_size_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",   "x",     "64k",      "-64",
                               "31", "65537", "99999999", "18446744073709551617"};
    struct cw_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv("CUBEWARP_STACK_KIB", bad[i], 1);
        assert_int_equal(mp_spawn(calls_the_runtime, 2, NULL, &error), CW_USAGE);
        assert_non_null(strstr(error.text, "CUBEWARP_STACK_KIB="));
        assert_non_null(strstr(error.text, "32 to 65536"));
    }
    setenv("CUBEWARP_STACK_KIB", "128", 1);
    spawn_well(calls_the_runtime, 2, NULL);
    setenv("CUBEWARP_STACK_KIB", "32", 1);
    spawn_well(calls_the_runtime, 2, NULL);
    unsetenv("CUBEWARP_STACK_KIB");
}

__attribute__((noinline)) static uint32_t touch_stack(uint32_t depth)
{
    volatile uint8_t page[4096];
    memset((uint8_t *)(uintptr_t)page, 1, sizeof page);
    return depth ? touch_stack(depth - 1) + page[depth] : page[0];
}

/* A quarter more than the stack: without its guard, it would end in rank 1's. */
#if defined(__SANITIZE_ADDRESS__)
enum { TOO_DEEP = 80 };
#else
enum { TOO_DEEP = 20 };
#endif

static void overflows(int rank, void *arg)
{
    if (rank == 2)
        *(uint32_t *)arg += touch_stack(TOO_DEEP);
}

static void runs_deep(int rank, void *arg)
{
    (void)rank;
    *(uint32_t *)arg += touch_stack(10);
}

/* One frame of nearly two stacks, of which it touches the end: a page would not be in its way. */
__attribute__((noinline)) static uint32_t touch_far_end(void)
{
    volatile uint8_t frame[(TOO_DEEP / 20 * 64 + 56) * 1024];
    frame[0] = 1;
    return frame[0];
}

static void steps_over(int rank, void *arg)
{
    if (rank == 2)
        *(uint32_t *)arg += touch_far_end();
}

static void expect_fault(mp_worker_fn worker)
{
    uint32_t sum = 0;
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        struct cw_error error;
        signal(SIGSEGV, SIG_DFL);
        dup2(null, STDERR_FILENO);
        mp_spawn(worker, 3, &sum, &error);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

static void a_stack_that_overflows_faults_instead_of_corrupting_its_neighbour(void **state)
{
    (void)state;
    uint32_t sum = 0;
    spawn_well(runs_deep, 3, &sum);
    assert_int_equal(sum, 33);
    expect_fault(overflows);
    expect_fault(steps_over);
}

static void counts_deep(void *arg)
{
    assert_false(mp_in_worker());
    *(uint32_t *)arg += touch_stack(100);
}

static void has_an_errand(int rank, void *arg)
{
    mp_run_outside(counts_deep, arg);
    assert_int_equal(dist_get_rank(), rank);
    dist_cooperative_yield();
    mp_run_outside(counts_deep, arg);
    assert_int_equal(dist_get_rank(), rank);
}

static void spawns_those_with_errands(int rank, void *arg)
{
    spawn_well(has_an_errand, 2, arg);
    assert_int_equal(dist_get_rank(), rank);
}

static void errands_run_on_the_callers_stack_however_deep(void **state)
{
    (void)state;
    uint32_t sum = 0;
    counts_deep(&sum);
    assert_int_equal(sum, 101);
    spawn_well(has_an_errand, 2, &sum);
    assert_int_equal(sum, 5 * 101);
    spawn_well(spawns_those_with_errands, 2, &sum);
    assert_int_equal(sum, 13 * 101);
}

enum { HELPED = 300, PARTS = 3 };

/* Does the parts in falling order, and counts the calls. */
static void help_backwards(void *arg, mp_part_fn part, void *part_arg)
{
    ++*(uint32_t *)arg;
    for (uint32_t index = PARTS; index-- > 0;)
        part(part_arg, index, PARTS);
}

static void uses_its_stack(int rank, void *arg)
{
    uint32_t *const ranks = arg;
    dist_cooperative_yield();
    ranks[rank] += touch_stack(5);
}

static void helpers_share_the_work_on_many_stacks(void **state)
{
    (void)state;
    static uint32_t ranks[HELPED];
    uint32_t calls = 0;
    const struct mp_machine helpers = {.each = help_backwards, .arg = &calls};
    struct cw_error error;
    assert_int_equal(mp_spawn_beside(uses_its_stack, 2, ranks, &helpers, &error), CW_OK);
    assert_int_equal(calls, 0); /* two ranks are not worth a call */
    assert_int_equal(mp_spawn_beside(uses_its_stack, HELPED, ranks, &helpers, &error), CW_OK);
    assert_int_equal(calls, 2); /* before the ranks begin, and after they have ended */
    for (uint32_t rank = 0; rank < HELPED; rank++)
        assert_int_equal(ranks[rank], rank < 2 ? 12 : 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_stack_size_is_refused),
        cmocka_unit_test(a_stack_that_overflows_faults_instead_of_corrupting_its_neighbour),
        cmocka_unit_test(helpers_share_the_work_on_many_stacks),
        cmocka_unit_test(errands_run_on_the_callers_stack_however_deep),
    };
    return cmocka_run_group_tests_name("spawn_stacks", tests, NULL, NULL);
}
