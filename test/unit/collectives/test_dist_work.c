/*
 * test_dist_work.c: calls that do not wait (dist_call.h): what each leaves, and when each rank
 * continues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/test_dist_support.h"

#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"

enum { RANKS = 4, TIMES = 2, BACKLOG = 3 };

struct world {
    struct config *config;
    struct dist *dist;
    const void *program;
    uint64_t trace_hash;
    int64_t time_ps[RANKS][TIMES]; /* at which a rank has continued */
    uint32_t times[RANKS];
};

/* `fails`: the program is to fail with this text; NULL: it is not. */
static struct world *try_on(const char *algorithm, const void *program, mp_worker_fn worker,
                            const char *fails)
{
    static const char *const sets[] = {"system.sips.count=4", "sip.cube_mesh.w=1",
                                       "sip.cube_mesh.h=1"};
    const struct config_request request = {.algorithm = algorithm, .sets = sets, .set_count = 3};
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->config = must_load(&request);
    world->program = program;
    const struct dist_options options = {
        .config = world->config,
        .machine = {.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
                    .needs.launches = BACKLOG}};
    world->dist = must_create(&options);
    struct cw_error error;
    const int code = dist_spawn(world->dist, worker, world, &error);
    if (code != CW_OK && fails == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(code, fails != NULL ? CW_PROGRAM_FAILED : CW_OK);
    if (fails != NULL)
        assert_string_equal(error.text, fails);
    struct cw_stats stats;
    cw_sim_stats(lp_system_sim(dist_system(world->dist)), &stats);
    world->trace_hash = stats.trace_hash;
    return world;
}

static struct world *run_on(const char *algorithm, const void *program, mp_worker_fn worker)
{
    return try_on(algorithm, program, worker, NULL);
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    config_free(world->config);
    free(world);
}

static void note_time(struct world *world, int rank)
{
    assert_true(world->times[rank] < TIMES);
    world->time_ps[rank][world->times[rank]++] = dist_time_ps();
}

/* ---- two calls ------------------------------------------------------------------------------- */

static void two_handles(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    struct tensor *const a = filled_tensor(1000, (float)rank), *const b = filled_tensor(
                                                                   10, (float)(2 * rank));
    struct dist_work *const first = dist_all_reduce_async(NULL, a, REDOP_SUM);
    struct dist_work *const second = dist_all_reduce_async(NULL, b, REDOP_SUM);
    dist_wait(second);
    note_time(world, rank);
    dist_wait(first); /* it has ended */
    note_time(world, rank);
    expect_tensor_sums(a, 1000, 0 + 1 + 2 + 3, RANKS);
    expect_tensor_sums(b, 10, 2 * (0 + 1 + 2 + 3), RANKS);
}

static void one_handle(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    struct tensor *const a = filled_tensor(1000, (float)rank);
    (void)filled_tensor(10, 0);
    struct dist_work *const first = dist_all_reduce_async(NULL, a, REDOP_SUM);
    dist_wait(first);
    note_time(world, rank);
    expect_tensor_sums(a, 1000, 0 + 1 + 2 + 3, RANKS);
}

static void a_later_call_takes_its_turn_on_the_same_pes(void **state)
{
    (void)state;
    struct world *const both = run_on("ring_allreduce", NULL, two_handles);
    struct world *const alone = run_on("ring_allreduce", NULL, one_handle);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(both->time_ps[rank][0], both->time_ps[rank][1]);
        assert_true(both->time_ps[rank][0] > alone->time_ps[rank][0]);
    }
    free_world(both);
    free_world(alone);
}

/* From rank 0 the tile goes around the ring both ways. */
static void broadcasts(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    struct tensor *const tensor = filled_tensor(1000, (float)rank);
    struct dist_work *const work = dist_broadcast_async(NULL, tensor, 0);
    dist_wait(work);
    note_time(world, rank);
    expect_tensor_sums(tensor, 1000, 0, 1);
}

static void each_rank_continues_when_its_own_kernels_have_ended(void **state)
{
    (void)state;
    struct world *const world = run_on("ring_allreduce", NULL, broadcasts);
    assert_true(world->time_ps[0][0] < world->time_ps[1][0]);
    assert_true(world->time_ps[1][0] < world->time_ps[2][0]);
    free_world(world);
}

/* Nobody waits for the call. */
static void calls_and_ends(int rank, void *arg)
{
    const struct world *const world = arg;
    join_group(rank);
    struct tensor *const tensor = filled_tensor(100, (float)rank);
    if (rank != *(const int *)world->program)
        (void)dist_all_reduce_async(NULL, tensor, REDOP_SUM);
}

static void a_call_that_nobody_waits_for_is_carried_out(void **state)
{
    (void)state;
    const int nobody = -1, two = 2;
    struct world *world = run_on("ring_allreduce", &nobody, calls_and_ends);
    struct lp_system *const system = dist_system(world->dist);
    assert_int_equal(lp_system_times(system)->returned, RANKS);
    free_world(world);
    free_world(try_on("ring_allreduce", &two, calls_and_ends,
                      "kernels wait forever: call 0, all_reduce, lacks rank 2 of 4, which will not "
                      "make it any more"));
}

/* ---- waits for a time ------------------------------------------------------------------------ */

enum { LATER_PS = 7000001 };

/* Each rank makes its call as much later as the program says, counted from the first. */
static void calls_later(int rank, void *arg)
{
    struct world *const world = arg;
    const int64_t later_ps = *(const int64_t *)world->program;
    join_group(rank);
    struct tensor *const tensor = filled_tensor(1000, (float)rank);
    const int64_t begin_ps = dist_time_ps();
    dist_wait_until_ps(begin_ps + later_ps);
    assert_int_equal(dist_time_ps(), begin_ps + later_ps);
    dist_wait_until_ps(begin_ps); /* it is over */
    assert_int_equal(dist_time_ps(), begin_ps + later_ps);
    dist_wait(dist_all_reduce_async(NULL, tensor, REDOP_SUM));
    note_time(world, rank);
    expect_tensor_sums(tensor, 1000, 0 + 1 + 2 + 3, RANKS);
}

static void a_later_call_ends_as_much_later(void **state)
{
    (void)state;
    const int64_t none = 0, later = LATER_PS;
    struct world *const first = run_on("ring_allreduce", &none, calls_later);
    struct world *const then = run_on("ring_allreduce", &later, calls_later);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        assert_int_equal(then->time_ps[rank][0], first->time_ps[rank][0] + later);
    free_world(first);
    free_world(then);
}

/* Ranks look at the clock while a call is in flight: every 300 ns, each at moments of its own. */
static void looks_at_the_clock(int rank, void *arg)
{
    struct world *const world = arg;
    join_group(rank);
    struct tensor *const tensor = filled_tensor(1000, (float)rank);
    const int64_t begin_ps = dist_time_ps();
    struct dist_work *const work = dist_all_reduce_async(NULL, tensor, REDOP_SUM);
    for (int64_t i = 1; i <= 6; i++) {
        dist_wait_until_ps(begin_ps + i * (300000 + rank));
        assert_int_equal(dist_time_ps(), begin_ps + i * (300000 + rank));
    }
    dist_wait(work);
    note_time(world, rank);
}

static void waits_for_a_time_change_no_call(void **state)
{
    (void)state;
    const int64_t none = 0;
    struct world *const without = run_on("ring_allreduce", &none, calls_later);
    struct world *const with = run_on("ring_allreduce", NULL, looks_at_the_clock);
    assert_int_equal(with->trace_hash, without->trace_hash);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        assert_int_equal(with->time_ps[rank][0], without->time_ps[rank][0]);
    free_world(without);
    free_world(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_later_call_takes_its_turn_on_the_same_pes),
        cmocka_unit_test(each_rank_continues_when_its_own_kernels_have_ended),
        cmocka_unit_test(a_call_that_nobody_waits_for_is_carried_out),
        cmocka_unit_test(a_later_call_ends_as_much_later),
        cmocka_unit_test(waits_for_a_time_change_no_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
