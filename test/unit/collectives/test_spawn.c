/*
 * test_spawn.c: workers, their order, their errors and their barrier. Workers write their steps
 * into a log, which is compared as a whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "collectives/runtime/barrier.h"
#include "collectives/runtime/dist_world.h"
#include "collectives/runtime/spawn.h"

struct scene {
    char log[4096];
    struct barrier *barrier;
    int drains, drain_fails_at, submit_fails_rank;
    uint32_t count;
};

__attribute__((format(printf, 2, 3))) static void note(struct scene *scene, const char *format, ...)
{
    const size_t used = strlen(scene->log);
    va_list args;
    va_start(args, format);
    vsnprintf(scene->log + used, sizeof scene->log - used, format, args);
    va_end(args);
}

static void spawn_well(mp_worker_fn fn, uint32_t nprocs, void *arg)
{
    struct cw_error error = {0};
    if (mp_spawn(fn, nprocs, arg, &error))
        fail_msg("%s", error.text);
}

static void spawn_badly(mp_worker_fn fn, uint32_t nprocs, void *arg, int exit_code,
                        const char *text)
{
    struct cw_error error = {0};
    assert_int_equal(mp_spawn(fn, nprocs, arg, &error), exit_code);
    assert_int_equal(error.exit_code, exit_code);
    assert_string_equal(error.text, text);
}

/* ---- order ---------------------------------------------------------------------------------- */

static void yields_twice(int rank, void *arg)
{
    note(arg, "%d", rank);
    dist_cooperative_yield();
    if (rank == 1)
        return;
    note(arg, "%d", dist_get_rank());
    dist_cooperative_yield();
    note(arg, "%d", dist_get_rank());
}

static void workers_take_turns_in_rank_order(void **state)
{
    (void)state;
    struct scene scene = {0};
    spawn_well(yields_twice, 3, &scene);
    assert_string_equal(scene.log, "0120202");
    spawn_well(yields_twice, 0, &scene);
    assert_string_equal(scene.log, "0120202");
    dist_cooperative_yield(); /* nobody else: nothing happens */
}

static void chooses_a_device(int rank, void *arg)
{
    assert_int_equal(ahbm_current_device(), -1);
    if (rank & 1)
        ahbm_set_device(10 + rank);
    else
        accelerator_set_device_index(10 + rank);
    dist_cooperative_yield();
    note(arg, "%d,%d ", ahbm_current_device(), accelerator_current_device_index());
    assert_ptr_equal(mp_runtime(), arg);
}

static void each_worker_has_its_own_device_and_all_share_the_runtime(void **state)
{
    (void)state;
    struct scene scene = {0};
    assert_int_equal(ahbm_current_device(), -1);
    ahbm_set_device(7);
    assert_null(mp_set_runtime(&scene));
    spawn_well(chooses_a_device, 3, &scene);
    assert_string_equal(scene.log, "10,10 11,11 12,12 ");
    assert_int_equal(ahbm_current_device(), 7);
    ahbm_set_device(-1);
    assert_ptr_equal(mp_set_runtime(NULL), &scene);
}

static void inner(int rank, void *arg)
{
    note(arg, "(%d", dist_get_rank());
    dist_cooperative_yield();
    note(arg, "%d)", rank);
}

static void outer(int rank, void *arg)
{
    spawn_well(inner, 2, arg);
    assert_int_equal(dist_get_rank(), rank);
    dist_cooperative_yield();
    note(arg, "%d", dist_get_rank());
}

static void a_worker_may_spawn(void **state)
{
    (void)state;
    struct scene scene = {0};
    spawn_well(outer, 2, &scene);
    assert_string_equal(scene.log, "(0(10)1)(0(10)1)01");
}

static void outside_of_workers_the_rank_is_0(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    char text[200] = "";
    unsetenv("CUBEWARP_DEBUG");
    dup2(fileno(file), STDERR_FILENO);
    const int quiet = dist_get_rank();
    const long quiet_bytes = lseek(fileno(file), 0, SEEK_CUR);
    setenv("CUBEWARP_DEBUG", "1", 1);
    const int loud = dist_get_rank();
    dup2(before, STDERR_FILENO);
    close(before);
    unsetenv("CUBEWARP_DEBUG");
    rewind(file);
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(quiet, 0);
    assert_int_equal(quiet_bytes, 0);
    assert_int_equal(loud, 0);
    assert_true(bytes > 0);
    assert_non_null(strstr(text, "dist_get_rank() outside of a worker"));
    assert_false(mp_in_worker());
}

/* ---- errors --------------------------------------------------------------------------------- */

static void third_fails(int rank, void *arg)
{
    note(arg, "%d", rank);
    dist_cooperative_yield();
    note(arg, "%d", rank);
    if (rank == 2)
        mp_fail(CW_PROGRAM_FAILED, "no tensor on SIP %d", rank);
    dist_cooperative_yield();
    note(arg, "never %d", rank);
}

static void a_worker_that_fails_ends_the_others(void **state)
{
    (void)state;
    struct scene scene = {0};
    spawn_badly(third_fails, 4, &scene, CW_PROGRAM_FAILED,
                "1 of 4 ranks failed\n  rank 2: no tensor on SIP 2");
    assert_string_equal(scene.log, "01230123");
}

static void all_fail(int rank, void *arg)
{
    (void)arg;
    if (rank >= 1 && rank <= 3)
        mp_fail(CW_USAGE, "bad shape");
    if (rank == 5)
        mp_fail(CW_NO_RESOURCE, "out of memory");
}

static void the_error_lists_every_ranks(void **state)
{
    (void)state;
    spawn_badly(all_fail, 7, NULL, CW_NO_RESOURCE,
                "4 of 7 ranks failed\n  ranks 1-3: bad shape\n  rank 5: out of memory");
}

static void fails_at_length(int rank, void *arg)
{
    (void)arg;
    mp_fail(CW_USAGE, "rank %d %01000d", rank, 0);
}

static void every_error_is_listed_whole(void **state)
{
    (void)state;
    struct cw_error error;
    assert_int_equal(mp_spawn(fails_at_length, 500, NULL, &error), CW_USAGE);
    assert_memory_equal(error.text, "500 of 500 ranks failed\n  rank 0: rank 0 000", 40);
    const char *line = cw_error_text(&error);
    assert_memory_equal(line, error.text, strlen(error.text));
    assert_true(strlen(line) > strlen(error.text));
    for (int rank = 0; rank < 500; rank++) {
        char text[1100];
        snprintf(text, sizeof text, "\n  rank %d: rank %d %01000d", rank, rank, 0);
        line = strchr(line, '\n');
        assert_non_null(line);
        assert_memory_equal(line, text, strlen(text));
        line++;
    }
    assert_null(strchr(line, '\n'));
}

static void fails_for_all(int rank, void *arg)
{
    struct cw_error error;
    (void)arg;
    (void)cw_error_set(&error, CW_PROGRAM_FAILED, "the machine stands still");
    if (rank == 1)
        mp_fail_for_all(&error);
    if (rank == 2)
        mp_fail(CW_USAGE, "bad shape");
}

static void an_error_that_is_no_ranks_own_names_none(void **state)
{
    (void)state;
    spawn_badly(fails_for_all, 2, NULL, CW_PROGRAM_FAILED, "the machine stands still");
    spawn_badly(fails_for_all, 4, NULL, CW_PROGRAM_FAILED,
                "the machine stands still\n1 of 4 ranks failed\n  rank 2: bad shape");
}

/* ---- the barrier ---------------------------------------------------------------------------- */

static int drain(void *arg, struct cw_error *error)
{
    struct scene *scene = arg;
    note(scene, "D");
    if (++scene->drains == scene->drain_fails_at) {
        snprintf(error->text, sizeof error->text, "deadlock");
        return error->exit_code = CW_PROGRAM_FAILED;
    }
    return CW_OK;
}

static int submit(void *arg, struct cw_error *error)
{
    struct scene *scene = arg;
    note(scene, "s%d", dist_get_rank());
    if (dist_get_rank() == scene->submit_fails_rank) {
        snprintf(error->text, sizeof error->text, "bad tensor");
        return error->exit_code = CW_USAGE;
    }
    return CW_OK;
}

static void set_scene(struct scene *scene, uint32_t world_size)
{
    *scene = (struct scene){.submit_fails_rank = -1};
    scene->barrier = barrier_create(world_size, drain, scene);
    assert_non_null(scene->barrier);
}

static void join(struct scene *scene, uint32_t rank)
{
    struct cw_error error;
    const int code = barrier_submit_and_drain(scene->barrier, rank, submit, scene, &error);
    if (code)
        mp_fail(code, "%s", error.text);
}

static void two_collectives(int rank, void *arg)
{
    join(arg, (uint32_t)rank);
    note(arg, "%d", rank);
    join(arg, (uint32_t)rank);
    note(arg, "%d", rank);
}

static void the_last_rank_to_arrive_drains_for_all(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene, 3);
    spawn_well(two_collectives, 3, &scene);
    /* The last to arrive goes on at once; the others when their turn comes. */
    assert_string_equal(scene.log, "s0s1s2D2s2"
                                   "0s01s1D1"
                                   "20");
    assert_int_equal(barrier_epochs(scene.barrier), 2);
    barrier_free(scene.barrier);
    barrier_free(NULL);
}

static int submit_and_yield(void *arg, struct cw_error *error)
{
    if (dist_get_rank() == 0)
        dist_cooperative_yield();
    return submit(arg, error);
}

static void submits_late(int rank, void *arg)
{
    struct scene *scene = arg;
    struct cw_error error;
    const int code =
        barrier_submit_and_drain(scene->barrier, (uint32_t)rank, submit_and_yield, scene, &error);
    assert_int_equal(code, CW_OK);
    note(scene, "%d", rank);
}

static void nothing_is_drained_before_everything_is_submitted(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene, 2);
    spawn_well(submits_late, 2, &scene);
    assert_string_equal(scene.log, "s1s0D01");
    barrier_free(scene.barrier);
}

static void one_rank_needs_no_worker(void **state)
{
    (void)state;
    struct scene scene;
    struct cw_error error;
    set_scene(&scene, 1);
    assert_int_equal(barrier_submit_and_drain(scene.barrier, 0, NULL, NULL, &error), CW_OK);
    assert_int_equal(barrier_submit_and_drain(scene.barrier, 0, NULL, NULL, &error), CW_OK);
    assert_string_equal(scene.log, "DD");
    assert_int_equal(barrier_submit_and_drain(scene.barrier, 1, NULL, NULL, &error),
                     CW_PROGRAM_FAILED);
    assert_string_equal(error.text, "rank 1 joins the barrier of a group of 1");
    barrier_free(scene.barrier);
    set_scene(&scene, 3);
    assert_int_equal(barrier_submit_and_drain(scene.barrier, 1, NULL, NULL, &error),
                     CW_PROGRAM_FAILED);
    assert_string_equal(error.text,
                        "rank 1 would wait for 2 others outside of a worker: use mp_spawn()");
    barrier_free(scene.barrier);
}

/* Runs two_collectives on a barrier that an error has been through. */
static void expect_usable(struct scene *scene)
{
    scene->log[0] = 0;
    scene->submit_fails_rank = -1;
    scene->drain_fails_at = 0;
    const uint64_t before = barrier_epochs(scene->barrier);
    spawn_well(two_collectives, 3, scene);
    assert_int_equal(barrier_epochs(scene->barrier), before + 2);
}

static void joins_as_rank_0(int rank, void *arg)
{
    if (rank == 1)
        join(arg, 0);
    join(arg, (uint32_t)rank);
}

/* I-BARRIER-1: a rank joins an epoch at most once. */
static void joining_an_epoch_twice_is_an_error(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene, 3);
    spawn_badly(joins_as_rank_0, 3, &scene, CW_PROGRAM_FAILED,
                "1 of 3 ranks failed\n  rank 1: rank 0 joins epoch 0 of the barrier a second time");
    assert_int_equal(scene.drains, 0);
    expect_usable(&scene);
    barrier_free(scene.barrier);
}

static void some_skip_the_second(int rank, void *arg)
{
    join(arg, (uint32_t)rank);
    if (rank == 1 || (rank >= 4 && rank <= 6))
        return;
    join(arg, (uint32_t)rank);
}

static void fails_after_the_first(int rank, void *arg)
{
    join(arg, (uint32_t)rank);
    mp_fail(CW_USAGE, "bad shape");
}

/* The last to arrive is ahead of the others by its drain. */
static void an_error_all_ranks_make_after_a_barrier_is_everybody_s(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene, 3);
    spawn_badly(fails_after_the_first, 3, &scene, CW_USAGE,
                "3 of 3 ranks failed\n  ranks 0-2: bad shape");
    expect_usable(&scene);
    barrier_free(scene.barrier);
}

static void a_rank_that_ends_while_others_wait_is_missed_by_name(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene, 8);
    spawn_badly(some_skip_the_second, 8, &scene, CW_PROGRAM_FAILED,
                "rank 0 waits forever: epoch 1 of the barrier lacks rank 1, 4-6 of 8, which will "
                "not join it any more");
    barrier_free(scene.barrier);
    set_scene(&scene, 3);
    spawn_badly(some_skip_the_second, 3, &scene, CW_PROGRAM_FAILED,
                "rank 0 waits forever: epoch 1 of the barrier lacks rank 1 of 3, which will not "
                "join it any more");
    expect_usable(&scene);
    barrier_free(scene.barrier);
}

static void only_every_second_joins(int rank, void *arg)
{
    if (rank & 1)
        join(arg, (uint32_t)rank);
}

static void a_long_list_of_missing_ranks_is_cut(void **state)
{
    (void)state;
    struct scene scene;
    struct cw_error error;
    set_scene(&scene, 2000);
    assert_int_equal(mp_spawn(only_every_second_joins, 2000, &scene, &error), CW_PROGRAM_FAILED);
    assert_non_null(strstr(error.text, "lacks rank 0, 2, 4, "));
    assert_non_null(strstr(error.text, ", ... of 2000, which will not join it any more"));
    barrier_free(scene.barrier);
}

static void a_failed_drain_or_submission_fails_the_program_and_resets_the_barrier(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene, 3);
    scene.drain_fails_at = 2;
    spawn_badly(two_collectives, 3, &scene, CW_PROGRAM_FAILED,
                "1 of 3 ranks failed\n  rank 1: deadlock");
    expect_usable(&scene);
    scene.submit_fails_rank = 1;
    spawn_badly(two_collectives, 3, &scene, CW_USAGE, "1 of 3 ranks failed\n  rank 1: bad tensor");
    expect_usable(&scene);
    barrier_free(scene.barrier);
}

static void fails_while_others_wait(int rank, void *arg)
{
    if (rank == 2)
        mp_fail(CW_USAGE, "no such file");
    join(arg, (uint32_t)rank);
}

static void a_failure_while_others_wait_resets_their_barrier(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene, 3);
    spawn_badly(fails_while_others_wait, 3, &scene, CW_USAGE,
                "1 of 3 ranks failed\n  rank 2: no such file");
    expect_usable(&scene);
    barrier_free(scene.barrier);
}

/* ---- scale ---------------------------------------------------------------------------------- */

__attribute__((noinline)) static uint32_t touch_stack(uint32_t depth)
{
    volatile uint8_t page[4096];
    memset((uint8_t *)(uintptr_t)page, 1, sizeof page);
    return depth ? touch_stack(depth - 1) + page[depth] : page[0];
}

#if defined(__SANITIZE_THREAD__)
enum { MANY = 4096, MANY_KIB = 1 << 22 }; /* it allows 8,128, and keeps a lot about each */
#else
enum { MANY = 8192, MANY_KIB = 1 << 20 };
#endif

static void counts(int rank, void *arg)
{
    struct scene *scene = arg;
    struct cw_error error;
    for (int i = 0; i < 3; i++) {
        scene->count += touch_stack(1) / 2;
        if (barrier_submit_and_drain(scene->barrier, (uint32_t)rank, NULL, NULL, &error))
            mp_fail(error.exit_code, "%s", error.text);
        assert_int_equal(scene->count % MANY, 0);
        dist_cooperative_yield();
    }
}

static void eight_thousand_ranks_fit_in_a_fraction_of_a_gigabyte(void **state)
{
    (void)state;
    struct scene scene;
    struct rusage usage;
    set_scene(&scene, MANY);
    spawn_well(counts, MANY, &scene);
    assert_int_equal(scene.count, 3 * MANY);
    getrusage(RUSAGE_SELF, &usage);
    assert_true(usage.ru_maxrss < MANY_KIB);
    barrier_free(scene.barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_take_turns_in_rank_order),
        cmocka_unit_test(each_worker_has_its_own_device_and_all_share_the_runtime),
        cmocka_unit_test(a_worker_may_spawn),
        cmocka_unit_test(outside_of_workers_the_rank_is_0),
        cmocka_unit_test(a_worker_that_fails_ends_the_others),
        cmocka_unit_test(the_error_lists_every_ranks),
        cmocka_unit_test(every_error_is_listed_whole),
        cmocka_unit_test(an_error_that_is_no_ranks_own_names_none),
        cmocka_unit_test(the_last_rank_to_arrive_drains_for_all),
        cmocka_unit_test(nothing_is_drained_before_everything_is_submitted),
        cmocka_unit_test(one_rank_needs_no_worker),
        cmocka_unit_test(joining_an_epoch_twice_is_an_error),
        cmocka_unit_test(an_error_all_ranks_make_after_a_barrier_is_everybody_s),
        cmocka_unit_test(a_rank_that_ends_while_others_wait_is_missed_by_name),
        cmocka_unit_test(a_long_list_of_missing_ranks_is_cut),
        cmocka_unit_test(a_failed_drain_or_submission_fails_the_program_and_resets_the_barrier),
        cmocka_unit_test(a_failure_while_others_wait_resets_their_barrier),
        cmocka_unit_test(eight_thousand_ranks_fit_in_a_fraction_of_a_gigabyte),
    };
    return cmocka_run_group_tests_name("spawn", tests, NULL, NULL);
}
