/*
 * test_workload_run.c: steps on a simulated machine: with free launches and free communication as
 * their graph alone says; the same on any number of threads; one operation is that operation.
 */
#include "test/support/test_dist_support.h"
#include "test/support/test_step_support.h"
#include "workload/run/ideal.h"

static struct config *ring_of(const char *sips)
{
    char count[64];
    snprintf(count, sizeof count, "system.sips.count=%s", sips);
    const char *const settings[] = {"system.sips.topology=ring_1d", count};
    return must_load(&(struct config_request){.sets = settings, .set_count = 2});
}

static int64_t run_on(const struct config *config, const struct workload_graph *graph,
                      struct step_modes modes, uint32_t threads, struct step_result *result)
{
    struct cw_error error = {.exit_code = CW_OK};
    const struct step_options options = {
        .config = config,
        .graph = graph,
        .modes = modes,
        .dist.machine.engine = {.sync = threads > 1 ? CW_ADAPTIVE : CW_SEQUENTIAL,
                                .worker_count = threads}};
    if (step_run(&options, result, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    return result->step_ps;
}

/* (m + p - 1) (f + b) on a machine, and every time as without one. */
static void free_pipelines_take_their_closed_form(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 3}, {2, 2}, {4, 8}, {4, 3}};
    const struct step_modes all_free = {
        .free_launches = true, .free_communication = true, .in_program_order = true};
    struct config *const config = ring_of("4");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            const uint32_t p = shapes[i][0], m = shapes[i][1];
            struct workload_graph graph = {0};
            struct step_result result, ideal;
            struct cw_error error;
            make_pipeline(&graph, p, m, 1000000, 2001000, true);
            assert_int_equal(run_on(config, &graph, all_free, threads, &result),
                             (int64_t)(m + p - 1) * 3001000);
            assert_int_equal(step_ideal(&graph, &all_free, NULL, NULL, &ideal, &error), CW_OK);
            for (uint64_t k = 0; k < result.first_span[p]; k++) {
                assert_int_equal(result.spans[k].ready_ps, ideal.spans[k].ready_ps);
                assert_int_equal(result.spans[k].end_ps, ideal.spans[k].end_ps);
            }
            step_result_free(&result);
            step_result_free(&ideal);
            workload_graph_free(&graph);
        }
    config_free(config);
}

/* With launches and messages, on one and on two threads. */
static void pipelines_take_longer_with_messages(void **state)
{
    (void)state;
    struct config *const config = ring_of("4");
    struct workload_graph graph = {0};
    struct step_result one, two;
    make_pipeline(&graph, 4, 4, 1000000, 2000000, true);
    const struct step_modes modes = {.in_program_order = true};
    const int64_t took_ps = run_on(config, &graph, modes, 1, &one);
    assert_true(took_ps > 7 * 3000000);
    assert_int_equal(run_on(config, &graph, modes, 2, &two), took_ps);
    for (uint64_t k = 0; k < one.first_span[4]; k++)
        assert_memory_equal(&one.spans[k], &two.spans[k], sizeof one.spans[k]);
    step_result_free(&one);
    step_result_free(&two);
    workload_graph_free(&graph);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_pipelines_take_their_closed_form),
        cmocka_unit_test(pipelines_take_longer_with_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
