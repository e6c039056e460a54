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

/* All ranks reduce once. */
static void make_all_reduce(struct workload_graph *graph, uint32_t ranks, uint64_t bytes)
{
    make_ranks(graph, ranks);
    const uint32_t set = add_world(graph, "tp");
    const struct workload_op op = {.kind = WORKLOAD_COLLECTIVE,
                                   .collective = CCL_ALL_REDUCE,
                                   .redop = REDOP_SUM,
                                   .dtype = DTYPE_F16,
                                   .set = set,
                                   .bytes = bytes,
                                   .microbatch = -1};
    (void)workload_add_program(graph, "every rank");
    (void)add_after(graph, 0, "tp", "sum", op, WORKLOAD_NONE);
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(workload_graph_check(graph, &error), CW_OK);
}

/* A world that makes the same call, whose kernels start together. */
static void reduce_once(int rank, void *arg)
{
    static const struct dp_policy one = {
        .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};
    join_group(rank);
    dist_all_reduce(dist_tensor_zeros(*(const uint64_t *)arg / 2, DTYPE_F16, &one), REDOP_SUM);
}

static int note_time(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    (void)error;
    *(int64_t *)arg = completion->times->last_end_ps - completion->times->first_start_ps;
    return CW_OK;
}

/* With free launches a step of one all-reduce takes what the all-reduce takes by itself. */
static void a_step_of_one_operation_is_that_operation(void **state)
{
    (void)state;
    static uint64_t sizes[] = {64, 4096, 65536};
    const char *const settings[] = {"system.sips.topology=ring_1d", "system.sips.count=4",
                                    "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
                                    "launch_together=true"};
    struct config *const config = must_load(
        &(struct config_request){.sets = settings, .set_count = 5, .algorithm = "auto_all_reduce"});
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct workload_graph graph = {0};
        struct step_result result;
        struct cw_error error;
        int64_t alone_ps = 0;
        struct config expecting = *config; /* the schedule is made for the call */
        expecting.ccl.n_elem = sizes[i] / 2;
        expecting.ccl.n_elem_is_most = true;
        struct dist *const dist = must_create(
            &(struct dist_options){.config = &expecting,
                                   .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
                                   .completed = note_time,
                                   .arg = &alone_ps});
        assert_int_equal(dist_spawn(dist, reduce_once, &sizes[i], &error), CW_OK);
        dist_free(dist);
        make_all_reduce(&graph, 4, sizes[i]);
        assert_int_equal(
            run_on(config, &graph, (struct step_modes){.free_launches = true}, 1, &result),
            alone_ps);
        step_result_free(&result);
        workload_graph_free(&graph);
    }
    config_free(config);
}

/* Launches of one moment are served one after the other, from the first to the last PE. */
static void launches_wait_for_io_cpu(void **state)
{
    (void)state;
    struct config *const config = ring_of("4");
    struct workload_graph graph = {0};
    struct step_result result;
    make_all_reduce(&graph, 4, 4096);
    const int64_t free_ps =
        run_on(config, &graph, (struct step_modes){.free_launches = true}, 1, &result);
    step_result_free(&result);
    const int64_t took_ps = run_on(config, &graph, (struct step_modes){0}, 1, &result);
    /* 16 launches and 16 completions, each served for io_cpu's overhead */
    assert_true(took_ps - free_ps >= 16 * config->hw.overhead_ps[HW_NODE_IO_CPU]);
    step_result_free(&result);
    workload_graph_free(&graph);
    config_free(config);
}

/* A rank with two sends that may begin: both at once, or one after the other, the first of its
 * program first. */
static void one_send_at_a_time(void **state)
{
    (void)state;
    struct config *const config = ring_of("4");
    int64_t took_ps[2];
    for (int one = 0; one < 2; one++) {
        struct workload_graph graph = {0};
        struct step_result result;
        struct cw_error error = {.exit_code = CW_OK};
        make_ranks(&graph, 3);
        (void)add_world(&graph, "pp");
        for (uint32_t rank = 0; rank < 3; rank++)
            graph.program_of[rank] = workload_add_program(&graph, "a rank");
        for (uint32_t to = 1; to < 3; to++) {
            struct workload_op op = message(WORKLOAD_SEND, 0, to, 0);
            op.bytes = 1 << 20;
            (void)add_after(&graph, 0, to == 1 ? "a" : "b", "send", op, WORKLOAD_NONE);
            op.kind = WORKLOAD_RECV;
            op.peer = 0;
            (void)add_after(&graph, to, "a", "receive", op, WORKLOAD_NONE);
        }
        assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
        took_ps[one] =
            run_on(config, &graph, (struct step_modes){.one_at_a_time = one}, 1, &result);
        const struct step_span *const sends = step_spans_of(&result, 0);
        if (one)
            assert_true(sends[1].start_ps > sends[0].end_ps);
        step_result_free(&result);
        workload_graph_free(&graph);
    }
    assert_true(took_ps[1] > took_ps[0]);
    config_free(config);
}

/* Two calls that begin together: io_cpu serves the second one's launch after the first one's. */
static void launches_are_served_one_by_one(void **state)
{
    (void)state;
    const char *const settings[] = {"system.sips.topology=ring_1d", "system.sips.count=4",
                                    "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
                                    "nodes.io_cpu.overhead_ns=1000"};
    struct config *const config =
        must_load(&(struct config_request){.sets = settings, .set_count = 5});
    struct workload_graph graph = {0};
    struct step_result result;
    make_all_reduce(&graph, 4, 4096);
    struct workload_op op = graph.programs[0].ops[0];
    op.set = add_world(&graph, "dp");
    (void)add_after(&graph, 0, "dp", "sum", op, WORKLOAD_NONE);
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
    (void)run_on(config, &graph, (struct step_modes){.in_program_order = true}, 1, &result);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const struct step_span *const spans = step_spans_of(&result, rank);
        assert_int_equal(spans[1].start_ps - spans[0].start_ps, 1000000);
    }
    step_result_free(&result);
    workload_graph_free(&graph);
    config_free(config);
}

static void add_large_message(struct workload_graph *graph, uint32_t from, uint32_t to,
                              uint32_t send_after, uint32_t receive_after)
{
    char stream[32];
    struct workload_op op = message(WORKLOAD_SEND, 0, to, 0);
    op.bytes = 1 << 20;
    snprintf(stream, sizeof stream, "to %u", to);
    (void)add_after(graph, from, stream, "send", op, send_after);
    op.kind = WORKLOAD_RECV;
    op.peer = from;
    snprintf(stream, sizeof stream, "from %u", from);
    (void)add_after(graph, to, stream, "receive", op, receive_after);
}

static void make_exchange(struct workload_graph *graph, bool both)
{
    struct cw_error error = {.exit_code = CW_OK};
    make_ranks(graph, 2);
    (void)add_world(graph, "pp");
    for (uint32_t rank = 0; rank < 2; rank++)
        graph->program_of[rank] = workload_add_program(graph, "a rank");
    add_large_message(graph, 0, 1, WORKLOAD_NONE, WORKLOAD_NONE);
    if (both)
        add_large_message(graph, 1, 0, WORKLOAD_NONE, WORKLOAD_NONE);
    assert_int_equal(workload_graph_check(graph, &error), CW_OK);
}

/* Links carry both directions at once, and so does a rank: it sends and receives beside each other.
 */
static void messages_in_both_directions_overlap(void **state)
{
    (void)state;
    struct config *const config = ring_of("4");
    int64_t took_ps[2];
    for (int both = 0; both < 2; both++) {
        struct workload_graph graph = {0};
        struct step_result result;
        make_exchange(&graph, both);
        took_ps[both] = run_on(config, &graph, (struct step_modes){0}, 1, &result);
        step_result_free(&result);
        workload_graph_free(&graph);
    }
    assert_in_range(took_ps[1], took_ps[0], 3 * took_ps[0] / 2);
    config_free(config);
}

/* Ranks 0 and 4 are each near one sender, 1 and 5, and far from the other one. Both can receive at
 * one instant, the far sender's first. Were both granted, then the near grants would overtake the
 * far ones, and each sender would begin with the other message than its receiver. */
static void a_rank_receives_one_message_at_a_time(void **state)
{
    (void)state;
    struct config *const config = ring_of("8");
    struct workload_graph graph = {0};
    struct step_result result;
    struct cw_error error = {.exit_code = CW_OK};
    make_ranks(&graph, 8);
    (void)add_world(&graph, "pp");
    for (uint32_t rank = 0; rank < 8; rank++)
        graph.program_of[rank] = workload_add_program(&graph, "a rank");
    const struct workload_op waits = takes_ps(50000000, WORKLOAD_OTHER);
    for (uint32_t to = 0; to < 8; to += 4) {
        const uint32_t far = (to + 5) % 8, near = to + 1;
        const uint32_t ready = add_after(&graph, to, "compute", "wait", waits, WORKLOAD_NONE);
        add_large_message(&graph, far, to, WORKLOAD_NONE, ready);
        add_large_message(&graph, near, to, WORKLOAD_NONE, ready);
    }
    assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
    (void)run_on(config, &graph, (struct step_modes){0}, 1, &result);
    for (uint32_t to = 0; to < 8; to += 4)
        assert_true(step_spans_of(&result, to)[2].start_ps > step_spans_of(&result, to)[1].end_ps);
    step_result_free(&result);
    workload_graph_free(&graph);
    config_free(config);
}

/* Two ranks that make two calls in opposite order: an error, after which nothing is left over (the
 * sanitizers look for that). */
static void ranks_that_wait_for_each_other_are_an_error(void **state)
{
    (void)state;
    struct config *const config = ring_of("4");
    struct workload_graph graph = {0};
    struct step_result result;
    struct cw_error error = {.exit_code = CW_OK};
    make_ranks(&graph, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        graph.program_of[rank] = workload_add_program(&graph, "a rank");
    const uint32_t sets[] = {add_world(&graph, "tp"), add_world(&graph, "dp")};
    for (uint32_t i = 0; i < 4; i++)
        (void)add_after(&graph, i / 2, "communication", "sum",
                        (struct workload_op){.kind = WORKLOAD_COLLECTIVE,
                                             .collective = CCL_ALL_REDUCE,
                                             .redop = REDOP_SUM,
                                             .dtype = DTYPE_F16,
                                             .set = sets[i / 2 == i % 2],
                                             .bytes = 4096,
                                             .microbatch = -1},
                        WORKLOAD_NONE);
    assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
    const struct step_options options = {
        .config = config,
        .graph = &graph,
        .dist.machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1}};
    assert_int_equal(step_run(&options, &result, &error), CW_PROGRAM_FAILED);
    workload_graph_free(&graph);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_pipelines_take_their_closed_form),
        cmocka_unit_test(pipelines_take_longer_with_messages),
        cmocka_unit_test(a_step_of_one_operation_is_that_operation),
        cmocka_unit_test(launches_wait_for_io_cpu),
        cmocka_unit_test(launches_are_served_one_by_one),
        cmocka_unit_test(one_send_at_a_time),
        cmocka_unit_test(messages_in_both_directions_overlap),
        cmocka_unit_test(a_rank_receives_one_message_at_a_time),
        cmocka_unit_test(ranks_that_wait_for_each_other_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
