/*
 * test_workload_ideal.c: steps with free launches and communication have closed forms; which
 * operations meet; what may begin when.
 */
#include <xxhash.h>

#include "test/support/test_step_support.h"
#include "workload/graph/meetings.h"
#include "workload/run/ideal.h"

static int64_t step_of(const struct workload_graph *graph, struct step_modes modes,
                       struct step_result *result)
{
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(step_ideal(graph, &modes, NULL, NULL, result, &error), CW_OK);
    return result->step_ps;
}

/* (m + p - 1) (f + b), for 1F1B and for GPipe. */
static void a_pipeline_fills_and_drains_once(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1}, {1, 5}, {2, 2}, {4, 8}, {4, 3}, {8, 32}, {16, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int one_f_one_b = 0; one_f_one_b < 2; one_f_one_b++) {
            const uint32_t p = shapes[i][0], m = shapes[i][1];
            struct workload_graph graph = {0};
            struct step_result result;
            make_pipeline(&graph, p, m, 1000, 2001, one_f_one_b);
            assert_int_equal(
                step_of(&graph, (struct step_modes){.in_program_order = true}, &result),
                (int64_t)(m + p - 1) * 3001);
            step_result_free(&result);
            workload_graph_free(&graph);
        }
}

/* As STEPS.md defines it, of a rank that passes forward and backward once. */
static void starts_and_ends_have_a_hash(void **state)
{
    (void)state;
    static const uint64_t times_ps[][2] = {{0, 1000}, {1000, 3001}};
    struct workload_graph graph = {0};
    struct step_result result;
    uint64_t hash = 0;
    make_pipeline(&graph, 1, 1, 1000, 2001, true);
    (void)step_of(&graph, (struct step_modes){.in_program_order = true}, &result);
    for (size_t i = 0; i < 2; i++) {
        const uint64_t words[] = {hash, times_ps[i][0], times_ps[i][1]};
        hash = XXH3_64bits(words, sizeof words);
    }
    assert_true(step_times_hash(&result, 1) == hash);
    result.spans[1].end_ps++;
    assert_true(step_times_hash(&result, 1) != hash);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/* Both ends of a message; a call's ranks in their order. */
static void calls_and_messages_meet(void **state)
{
    (void)state;
    struct workload_graph graph = {0};
    struct workload_meetings meetings;
    struct cw_error error;
    make_pipeline(&graph, 2, 3, 10, 20, true);
    assert_int_equal(workload_meetings_of(&graph, &meetings, &error), CW_OK);
    assert_int_equal(meetings.count, 6); /* 3 activations and 3 gradients */
    for (uint32_t i = 0; i < meetings.count; i++) {
        assert_int_equal(meetings.first_part[i + 1] - meetings.first_part[i], 2);
        const struct workload_part *const ends = &meetings.parts[meetings.first_part[i]];
        const struct workload_op *const a = &graph.programs[0].ops[ends[0].op];
        const struct workload_op *const b = &graph.programs[1].ops[ends[1].op];
        assert_int_equal(ends[0].rank, 0);
        assert_int_equal(ends[1].rank, 1);
        assert_int_equal(a->tag, b->tag);
        assert_int_not_equal(a->kind, b->kind);
        assert_int_equal(meetings.of[meetings.first[1] + ends[1].op], i);
    }
    workload_meetings_free(&meetings);
    workload_graph_free(&graph);
}

/* Two ranks of which one is late: the call ends on both when the late one begins. */
static void a_call_ends_when_its_last_rank_begins(void **state)
{
    (void)state;
    struct workload_graph graph = {0};
    struct step_result result;
    struct cw_error error;
    make_ranks(&graph, 2);
    const uint32_t set = add_world(&graph, "tp");
    const struct workload_op call = {.kind = WORKLOAD_COLLECTIVE,
                                     .collective = CCL_ALL_REDUCE,
                                     .set = set,
                                     .bytes = 4096,
                                     .microbatch = -1};
    for (uint32_t rank = 0; rank < 2; rank++) {
        graph.program_of[rank] = workload_add_program(&graph, rank == 0 ? "early" : "late");
        const uint32_t work = add_after(&graph, rank, "compute", "work",
                                        takes_ps(rank == 0 ? 100 : 700, 0), WORKLOAD_NONE);
        const uint32_t sum = add_after(&graph, rank, "tp", "sum", call, work);
        (void)add_after(&graph, rank, "compute", "work", takes_ps(50, 0), sum);
    }
    assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
    assert_int_equal(step_of(&graph, (struct step_modes){0}, &result), 750);
    const struct step_span *const early = &step_spans_of(&result, 0)[1];
    assert_int_equal(early->ready_ps, 100);
    assert_int_equal(early->start_ps, 100);
    assert_int_equal(early->met_ps, 700);
    assert_int_equal(early->end_ps, 700);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/* After another one's begin, not its end. */
static void an_operation_may_follow_a_begin(void **state)
{
    (void)state;
    struct workload_graph graph = {0};
    struct step_result result;
    struct cw_error error;
    make_ranks(&graph, 1);
    (void)workload_add_program(&graph, "all");
    (void)add_after(&graph, 0, "a", "first", takes_ps(30, 0), WORKLOAD_NONE);
    const uint32_t second = add_after(&graph, 0, "a", "second", takes_ps(100, 0), WORKLOAD_NONE);
    (void)add_after(&graph, 0, "b", "beside", takes_ps(40, 0), second | WORKLOAD_AFTER_START);
    assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
    assert_int_equal(step_of(&graph, (struct step_modes){0}, &result), 130);
    assert_int_equal(step_spans_of(&result, 0)[2].start_ps, 30);
    assert_int_equal(step_spans_of(&result, 0)[2].end_ps, 70);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/* a: ready at 50, takes 10; b: ready at 0, takes 70; c: ready at 0, takes 5. */
static void streams_have_an_order(void **state)
{
    (void)state;
    static const int64_t begins[WORKLOAD_STREAM_ORDERS][3] = {
        [WORKLOAD_IN_ORDER] = {50, 60, 130},
        [WORKLOAD_AS_READY] = {70, 0, 80}, /* after b, a is before c */
        [WORKLOAD_AT_ONCE] = {50, 0, 0}};
    for (uint8_t order = 0; order < WORKLOAD_STREAM_ORDERS; order++) {
        struct workload_graph graph = {0};
        struct step_result result;
        struct cw_error error;
        make_ranks(&graph, 1);
        (void)workload_add_program(&graph, "all");
        const uint32_t before =
            add_after(&graph, 0, "other", "before", takes_ps(50, 0), WORKLOAD_NONE);
        (void)add_after(&graph, 0, "stream", "a", takes_ps(10, 0), before);
        (void)add_after(&graph, 0, "stream", "b", takes_ps(70, 0), WORKLOAD_NONE);
        (void)add_after(&graph, 0, "stream", "c", takes_ps(5, 0), WORKLOAD_NONE);
        graph.streams[1].order = order;
        assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
        (void)step_of(&graph, (struct step_modes){0}, &result);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(step_spans_of(&result, 0)[1 + i].start_ps, begins[order][i]);
        step_result_free(&result);
        workload_graph_free(&graph);
    }
}

/* Calls a and b of two sets: rank 0 is ready for b first. */
static void make_two_calls(struct workload_graph *graph)
{
    struct cw_error error;
    make_ranks(graph, 2);
    const uint32_t sets[] = {add_world(graph, "tp"), add_world(graph, "dp")};
    graph->sets[sets[0]].queue = graph->sets[sets[1]].queue = 3;
    for (uint32_t rank = 0; rank < 2; rank++) {
        static const char *const names[] = {"a", "b"};
        const uint64_t before[2][2] = {{50, 10}, {20, 100}};
        graph->program_of[rank] = workload_add_program(graph, rank == 0 ? "one" : "other");
        for (uint32_t i = 0; i < 2; i++) {
            const struct workload_op call = {.kind = WORKLOAD_COLLECTIVE,
                                             .collective = CCL_ALL_REDUCE,
                                             .set = sets[i],
                                             .bytes = 64,
                                             .microbatch = -1};
            const uint32_t work = add_after(graph, rank, names[i], "work",
                                            takes_ps(before[rank][i], 0), WORKLOAD_NONE);
            (void)add_after(graph, rank, names[i], names[i], call, work);
        }
    }
    assert_int_equal(workload_graph_check(graph, &error), CW_OK);
}

static void modes_order_calls(void **state)
{
    (void)state;
    struct workload_graph graph = {0};
    struct step_result result;
    struct cw_error error;
    make_two_calls(&graph);
    assert_int_equal(step_of(&graph, (struct step_modes){0}, &result), 100);
    assert_int_equal(step_spans_of(&result, 0)[3].start_ps, 10); /* b, as soon as it is ready */
    step_result_free(&result);
    assert_int_equal(step_of(&graph, (struct step_modes){.in_program_order = true}, &result), 100);
    assert_int_equal(step_spans_of(&result, 0)[3].start_ps, 50); /* b, after a's begin */
    step_result_free(&result);
    /* Rank 0 begins b at 10 and has it in flight; rank 1 has a in flight from 20 on. */
    const struct step_modes one = {.one_at_a_time = true};
    assert_int_equal(step_ideal(&graph, &one, NULL, NULL, &result, &error), CW_PROGRAM_FAILED);
    assert_non_null(strstr(error.text, "operations wait for each other"));
    step_result_free(&result);
    workload_graph_free(&graph);
}

static int64_t twice_the_flops(void *arg, const struct workload_op *op)
{
    ++*(int *)arg;
    return 2 * (int64_t)op->flops;
}

static void computations_take_what_their_model_says(void **state)
{
    (void)state;
    struct workload_graph graph = {0};
    struct step_result result;
    struct cw_error error;
    const struct step_modes modes = {0};
    int asked = 0;
    make_ranks(&graph, 3); /* of one program */
    (void)workload_add_program(&graph, "all");
    (void)add_after(&graph, 0, "compute", "layer",
                    (struct workload_op){.kind = WORKLOAD_ROOFLINE, .flops = 21, .microbatch = -1},
                    WORKLOAD_NONE);
    assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
    assert_int_equal(step_ideal(&graph, &modes, twice_the_flops, &asked, &result, &error), CW_OK);
    assert_int_equal(result.step_ps, 42);
    assert_int_equal(asked, 3);
    step_result_free(&result);
    workload_graph_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_fills_and_drains_once),
        cmocka_unit_test(starts_and_ends_have_a_hash),
        cmocka_unit_test(calls_and_messages_meet),
        cmocka_unit_test(a_call_ends_when_its_last_rank_begins),
        cmocka_unit_test(an_operation_may_follow_a_begin),
        cmocka_unit_test(streams_have_an_order),
        cmocka_unit_test(modes_order_calls),
        cmocka_unit_test(computations_take_what_their_model_says),
    };
    return cmocka_run_group_tests_name("workload_ideal", tests, NULL, NULL);
}
