/*
 * test_sweep_order.c: the order in which workers get points: each point once; a worker stays with a
 * group; workers share a group only if no other is left; long points first.
 */
#define _GNU_SOURCE /* memfd_create */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/sweep/sweep_order.h"
#include "bench/sweep/sweep_progress.h"
#include "bench/sweep/sweep_worker.h"
#include "core/cw.h"

#define assert_near(a, b) assert_true((a) > (b)-1e-9 && (a) < (b) + 1e-9)

enum { POINTS_MAX = 200, WORKERS_MAX = 5 };

/* A plan of so many points, point i with the number 1000 + i, in groups that begin at these. */
struct planned {
    struct sweep_plan plan;
    uint32_t points[POINTS_MAX];
    struct sweep_group groups[POINTS_MAX];
};

static void plan_groups(struct planned *planned, uint32_t workers, const uint32_t *sizes,
                        uint32_t groups)
{
    *planned = (struct planned){.plan = {.workers = workers}};
    struct sweep_plan *const plan = &planned->plan;
    plan->points = planned->points;
    plan->groups = planned->groups;
    for (uint32_t g = 0; g < groups; g++) {
        planned->groups[g] = (struct sweep_group){plan->count, plan->count + sizes[g]};
        for (uint32_t i = 0; i < sizes[g]; i++, plan->count++)
            planned->points[plan->count] = 1000 + plan->count;
    }
    plan->group_count = groups;
}

static uint32_t take(struct sweep_order *order, uint32_t worker)
{
    const uint32_t point = sweep_order_next(order, worker);
    assert_int_equal(sweep_order_next(order, worker), point); /* a look takes nothing */
    sweep_order_take(order, worker);
    return point - 1000;
}

static void a_worker_stays_with_its_group(void **state)
{
    (void)state;
    struct planned planned;
    struct sweep_order order;
    plan_groups(&planned, 2, (const uint32_t[]){3, 2, 2}, 3);
    assert_true(sweep_order_init(&order, &planned.plan));
    assert_int_equal(take(&order, 0), 0);
    assert_int_equal(take(&order, 1), 3);
    assert_int_equal(take(&order, 0), 1);
    assert_int_equal(take(&order, 1), 4);
    assert_int_equal(take(&order, 1), 5); /* the next one without a worker */
    assert_int_equal(take(&order, 0), 2);
    assert_int_equal(take(&order, 0), 6); /* shared, since no other is left */
    assert_int_equal(sweep_order_left(&order), 0);
    sweep_order_free(&order);
}

static void workers_share_the_group_with_the_most_points_left(void **state)
{
    (void)state;
    struct planned planned;
    struct sweep_order order;
    plan_groups(&planned, 3, (const uint32_t[]){2, 5}, 2);
    assert_true(sweep_order_init(&order, &planned.plan));
    assert_int_equal(take(&order, 0), 0);
    assert_int_equal(take(&order, 1), 2);
    assert_int_equal(take(&order, 2), 3);
    assert_int_equal(take(&order, 0), 1);
    assert_int_equal(take(&order, 0), 4);
    sweep_order_free(&order);
}

static void points_apart_come_in_their_order(void **state)
{
    (void)state;
    struct planned planned;
    struct sweep_order order;
    plan_groups(&planned, 2, (const uint32_t[]){1, 1, 1, 1, 1}, 5);
    assert_true(sweep_order_init(&order, &planned.plan));
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(take(&order, i % 3 == 0), i);
    sweep_order_free(&order);
}

static void each_point_comes_once(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(5, 1);
    for (int round = 0; round < 200; round++) {
        struct planned planned;
        struct sweep_order order;
        uint32_t sizes[20];
        bool seen[POINTS_MAX] = {false};
        const uint32_t groups = 1 + cw_rng_below(&rng, 20);
        for (uint32_t g = 0; g < groups; g++)
            sizes[g] = 1 + cw_rng_below(&rng, 10);
        const uint32_t workers = 1 + cw_rng_below(&rng, WORKERS_MAX);
        plan_groups(&planned, workers, sizes, groups);
        assert_true(sweep_order_init(&order, &planned.plan));
        while (sweep_order_left(&order) > 0) {
            const uint32_t point = take(&order, cw_rng_below(&rng, workers));
            assert_true(point < planned.plan.count && !seen[point]);
            seen[point] = true;
        }
        for (uint32_t i = 0; i < planned.plan.count; i++)
            assert_true(seen[i]);
        sweep_order_free(&order);
    }
}

/* A plug-in may print endlessly; its last words are shown. */
static void long_messages_of_a_process_give_their_memory_back(void **state)
{
    enum { PRINTED = 3 << 20 };
    static char messages[PRINTED];
    const struct sweep_worker worker = {.notes = memfd_create("notes", MFD_CLOEXEC)};
    struct stat status;
    char last[5];
    (void)state;
    memset(messages, 'x', sizeof messages);
    memcpy(messages + sizeof messages - 5, "fail\n", 5);
    assert_int_equal(write(worker.notes, messages, 5000), 5000);
    sweep_worker_forget(&worker);
    assert_int_equal(fstat(worker.notes, &status), 0);
    assert_true(status.st_blocks > 0); /* few are kept */
    assert_int_equal(pwrite(worker.notes, messages, PRINTED, 0), PRINTED);
    sweep_worker_forget(&worker);
    assert_int_equal(fstat(worker.notes, &status), 0);
    assert_int_equal(status.st_size, PRINTED);
    assert_true(status.st_blocks * 512 <= 64 << 10);
    assert_int_equal(pread(worker.notes, last, 5, PRINTED - 5), 5);
    assert_memory_equal(last, "fail\n", 5);
    close(worker.notes);
}

/* ---- the time that is left ------------------------------------------------------------------- */

/* Two workers and five points, which take 40, 20, 20, 10 and 10 s by estimate: 100 s of work. */
static void the_time_left_moves_while_a_point_runs(void **state)
{
    (void)state;
    struct study_estimate estimates[5] = {
        {.seconds = 40}, {.seconds = 20}, {.seconds = 20}, {.seconds = 10}, {.seconds = 10}};
    uint32_t points[5] = {0, 1, 2, 3, 4};
    const struct sweep_plan plan = {
        .points = points, .count = 5, .estimates = estimates, .workers = 2};
    struct sweep_progress progress = {.plan = &plan};
    struct sweep_worker workers[2] = {{.point_count = 0}};
    assert_near(sweep_progress_rest_s(&progress, workers, 100), 50);
    workers[0] = (struct sweep_worker){.points = {0}, .point_count = 1, .begun_s = 100};
    workers[1] = (struct sweep_worker){.points = {1}, .point_count = 1, .begun_s = 100};
    assert_near(sweep_progress_rest_s(&progress, workers, 100), 50);
    assert_near(sweep_progress_rest_s(&progress, workers, 110), 40);
    /* Point 1 has taken twice its estimate, so the others are thought to: 80 s of point 0, of which
     * 40 have passed, and 80 of the rest. */
    const struct sweep_answer answer = {.point = 1,
                                        .outcome = {.state = STUDY_DONE, .seconds = 40}};
    sweep_progress_point(&progress, &answer);
    workers[1].point_count = 0;
    assert_near(sweep_progress_rest_s(&progress, workers, 140), 60);
    /* The last points: no less than the longest of them. */
    progress.ended_s = 60;
    progress.busy_s = 60;
    assert_near(sweep_progress_rest_s(&progress, workers, 104), 36);
    /* One that takes longer than thought is not about to end. */
    assert_near(sweep_progress_rest_s(&progress, workers, 200), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_stays_with_its_group),
        cmocka_unit_test(workers_share_the_group_with_the_most_points_left),
        cmocka_unit_test(points_apart_come_in_their_order),
        cmocka_unit_test(each_point_comes_once),
        cmocka_unit_test(the_time_left_moves_while_a_point_runs),
        cmocka_unit_test(long_messages_of_a_process_give_their_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
