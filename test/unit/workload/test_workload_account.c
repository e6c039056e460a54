/*
 * test_workload_account.c: where the time of a step goes, for spans that are written down by hand.
 */
#include "test/support/test_step_support.h"
#include "workload/account/classes.h"
#include "workload/account/critical.h"
#include "workload/account/op_rows.h"
#include "workload/run/ideal.h"

/*
 * Two ranks of one program, in ps:
 *
 *            0    100   110        300    310     400  420
 *   rank 0   work ------|                              end of the step, of rank 1
 *            |          sum: 110 begins, met at 200, ends 300
 *            |                     |      push: 310 .. 400, hidden under work 2: 320 .. 390
 *   rank 1   work: 0 .. 190; sum: 200 .. 300; work 2: 320 .. 390; push: 310 .. 420
 */
enum { WORK, SUM, WORK_2, PUSH, OPS };

static void make_example(struct workload_graph *graph, struct step_result *result)
{
    static const struct step_span spans[2 * OPS] = {
        {0, 0, 0, 100}, {100, 110, 200, 300}, {300, 320, 320, 390}, {300, 310, 310, 400},
        {0, 0, 0, 190}, {190, 200, 200, 300}, {300, 320, 320, 390}, {300, 310, 310, 420},
    };
    struct cw_error error;
    make_ranks(graph, 2);
    const uint32_t tp = add_world(graph, "tp"), dp = add_world(graph, "dp");
    struct workload_op sum = {.kind = WORKLOAD_COLLECTIVE,
                              .collective = CCL_ALL_REDUCE,
                              .set = tp,
                              .bytes = 1000,
                              .microbatch = -1},
                       push = sum;
    push.set = dp;
    push.bytes = 500;
    (void)workload_add_program(graph, "all");
    assert_int_equal(
        add_after(graph, 0, "compute", "work", takes_ps(100, WORKLOAD_FORWARD), WORKLOAD_NONE),
        WORK);
    assert_int_equal(add_after(graph, 0, "tp", "sum", sum, WORK), SUM);
    assert_int_equal(add_after(graph, 0, "compute", "work", takes_ps(70, WORKLOAD_BACKWARD), SUM),
                     WORK_2);
    assert_int_equal(add_after(graph, 0, "dp", "push", push, SUM), PUSH);
    assert_int_equal(workload_graph_check(graph, &error), CW_OK);
    *result = (struct step_result){.step_ps = 420,
                                   .first_span = calloc(3, sizeof *result->first_span),
                                   .spans = malloc(sizeof spans)};
    assert_non_null(result->first_span);
    assert_non_null(result->spans);
    result->first_span[1] = OPS;
    result->first_span[2] = 2 * OPS;
    memcpy(result->spans, spans, sizeof spans);
}

static void a_class_sums_to_the_step(void **state)
{
    (void)state;
    struct workload_graph graph = {0};
    struct step_result result;
    struct step_classes classes;
    struct cw_error error;
    make_example(&graph, &result);
    assert_int_equal(step_classes_of(&graph, &result, &classes, &error), CW_OK);
    assert_int_equal(classes.count, 1);
    const struct step_class *const one = &classes.classes[0];
    assert_int_equal(one->ranks, 2);
    assert_int_equal(one->compute_ps[WORKLOAD_FORWARD], (100 + 190) / 2);
    assert_int_equal(one->compute_ps[WORKLOAD_BACKWARD], 70);
    assert_int_equal(one->exposed_ps[0], 100);                     /* 200 .. 300 on both */
    assert_int_equal(one->exposed_ps[1], (10 + 10 + 10 + 30) / 2); /* around work 2 */
    assert_int_equal(one->waiting_ps[0], 90 / 2);                  /* 110 .. 200 on rank 0 */
    assert_int_equal(one->waiting_ps[1], 0);
    assert_int_equal(one->bubble_ps, (10 + 10 + 20 + 10 + 10) / 2);
    assert_int_equal(one->hidden_ps[0], 0);
    assert_int_equal(one->hidden_ps[1], 70);
    assert_int_equal(step_class_compute(one) + step_class_sum(one->exposed_ps, 2) +
                         step_class_sum(one->waiting_ps, 2) + one->bubble_ps,
                     420);
    step_classes_free(&classes);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/* Means of 3 ranks that are no whole picoseconds: 1/3, 1/3, 4/3 and so on still sum to it. */
static void rounded_means_sum_to_the_step(void **state)
{
    (void)state;
    for (uint64_t odd = 1; odd <= 40; odd++) {
        struct workload_graph graph = {0};
        struct step_result result;
        struct step_classes classes;
        struct cw_error error;
        const struct step_modes modes = {0};
        make_ranks(&graph, 3);
        const uint32_t set = add_world(&graph, "tp");
        (void)workload_add_program(&graph, "all");
        const uint32_t work = add_after(&graph, 0, "compute", "work",
                                        takes_ps(2 * odd, WORKLOAD_FORWARD), WORKLOAD_NONE);
        (void)add_after(&graph, 0, "tp", "sum",
                        (struct workload_op){.kind = WORKLOAD_COLLECTIVE,
                                             .collective = CCL_ALL_REDUCE,
                                             .set = set,
                                             .microbatch = -1},
                        work);
        assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
        assert_int_equal(step_ideal(&graph, &modes, NULL, NULL, &result, &error), CW_OK);
        /* The spans are then bent: rank 0 is early, 1 in between. */
        result.spans[0].end_ps = (int64_t)odd - 1;
        result.spans[1].start_ps = (int64_t)odd;
        result.spans[2].end_ps = (int64_t)(2 * odd) - 1;
        assert_int_equal(step_classes_of(&graph, &result, &classes, &error), CW_OK);
        const struct step_class *const one = &classes.classes[0];
        assert_int_equal(step_class_compute(one) + step_class_sum(one->exposed_ps, 1) +
                             step_class_sum(one->waiting_ps, 1) + one->bubble_ps,
                         result.step_ps);
        step_classes_free(&classes);
        step_result_free(&result);
        workload_graph_free(&graph);
    }
}

static int64_t a_tenth_of_the_bytes(void *arg, const struct workload_op *op, uint32_t group)
{
    (void)arg;
    (void)group;
    return (int64_t)op->bytes / 10;
}

static void rows_count_each_meeting_once(void **state)
{
    (void)state;
    struct workload_graph graph = {0};
    struct step_result result;
    struct workload_meetings meetings;
    struct step_op_rows rows;
    struct cw_error error;
    make_example(&graph, &result);
    assert_int_equal(workload_meetings_of(&graph, &meetings, &error), CW_OK);
    assert_int_equal(
        step_op_rows_of(&graph, &meetings, &result, a_tenth_of_the_bytes, NULL, &rows, &error),
        CW_OK);
    assert_int_equal(rows.count, 4); /* forward, backward, push, sum: by their totals */
    assert_int_equal(rows.rows[0].purpose, WORKLOAD_FORWARD);
    assert_int_equal(rows.rows[0].count, 2);
    assert_int_equal((int64_t)rows.rows[0].total_ps, 100 + 190);
    assert_int_equal(rows.rows[0].least_ps, 100);
    assert_int_equal(rows.rows[0].most_ps, 190);
    const struct step_op_row *const push = &rows.rows[2], *const sum = &rows.rows[3];
    assert_string_equal(graph.labels[push->label], "push");
    assert_int_equal(push->count, 1);
    assert_int_equal((int64_t)push->total_ps, 420 - 310); /* to the last end */
    assert_string_equal(graph.labels[sum->label], "sum");
    assert_int_equal((int64_t)sum->total_ps, 100);
    assert_int_equal((int64_t)sum->wait_ps, 90 / 2);
    assert_int_equal((int64_t)sum->bytes, 1000);
    assert_int_equal((int64_t)sum->bound_ps, 100);
    assert_int_equal(sum->ranks, 2);
    step_op_rows_free(&rows);
    workload_meetings_free(&meetings);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/* Rank 1: push, its launch, sum, its launch, work. */
static void the_critical_path_goes_by_the_last_rank(void **state)
{
    (void)state;
    static const struct step_stretch expected[] = {
        {1, WORK, 0, 190, false},  {1, SUM, 190, 200, true},   {1, SUM, 200, 300, false},
        {1, PUSH, 300, 310, true}, {1, PUSH, 310, 420, false},
    };
    struct workload_graph graph = {0};
    struct step_result result;
    struct workload_meetings meetings;
    struct step_critical critical;
    struct cw_error error;
    make_example(&graph, &result);
    result.spans[OPS + PUSH].end_ps = 400; /* and rank 0 ends last: its push begins with rank 1's */
    result.spans[PUSH].end_ps = 420;
    result.spans[PUSH].start_ps = 305;
    assert_int_equal(workload_meetings_of(&graph, &meetings, &error), CW_OK);
    assert_int_equal(step_critical_of(&graph, &meetings, &result, &critical, &error), CW_OK);
    assert_int_equal(critical.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct step_stretch *const got = &critical.stretches[i];
        /* the last stretch is of the rank that ends last; its begin was rank 1's */
        assert_int_equal(got->rank, i == 4 ? 0 : expected[i].rank);
        assert_int_equal(got->op, expected[i].op);
        assert_int_equal(got->from_ps, expected[i].from_ps);
        assert_int_equal(got->to_ps, expected[i].to_ps);
        assert_int_equal(got->launch, expected[i].launch);
    }
    assert_int_equal(critical.part_count, 4);
    assert_int_equal(critical.parts[0].ps, 190); /* work */
    assert_int_equal(critical.parts[1].ps, 110); /* push */
    assert_int_equal(critical.parts[2].ps, 100); /* sum */
    assert_int_equal(critical.parts[3].ps, 20);  /* launches */
    assert_int_equal(critical.parts[3].label, WORKLOAD_NONE);
    step_critical_free(&critical);
    workload_meetings_free(&meetings);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/*
 * A message's kernels begin when both ends are there: rank 0 works for 500 and sends; rank 1 lets
 * its receive begin at 0. Kernels run from 510 to 600. Rank 1 waits, and is on no critical path.
 */
static void a_message_waits_from_where_its_rank_let_it_begin(void **state)
{
    (void)state;
    static const struct step_span spans[] = {
        {0, 0, 0, 500}, {500, 510, 510, 600}, {0, 510, 510, 600}};
    struct workload_graph graph = {0};
    struct step_classes classes;
    struct workload_meetings meetings;
    struct step_critical critical;
    struct cw_error error;
    make_ranks(&graph, 2);
    const uint32_t set = add_world(&graph, "pp");
    graph.program_of[0] = workload_add_program(&graph, "sends");
    graph.program_of[1] = workload_add_program(&graph, "receives");
    const uint32_t work =
        add_after(&graph, 0, "compute", "work", takes_ps(500, WORKLOAD_FORWARD), WORKLOAD_NONE);
    (void)add_after(&graph, 0, "pp", "send", message(WORKLOAD_SEND, set, 1, 0), work);
    (void)add_after(&graph, 1, "pp", "receive", message(WORKLOAD_RECV, set, 0, 0), WORKLOAD_NONE);
    assert_int_equal(workload_graph_check(&graph, &error), CW_OK);
    struct step_result result = {.step_ps = 600,
                                 .first_span = calloc(3, sizeof *result.first_span),
                                 .spans = malloc(sizeof spans)};
    assert_true(result.first_span != NULL && result.spans != NULL);
    result.first_span[1] = 2;
    result.first_span[2] = 3;
    memcpy(result.spans, spans, sizeof spans);
    assert_int_equal(step_classes_of(&graph, &result, &classes, &error), CW_OK);
    assert_int_equal(classes.classes[1].waiting_ps[0], 510);
    assert_int_equal(classes.classes[1].exposed_ps[0], 90);
    assert_int_equal(classes.classes[1].bubble_ps, 0);
    assert_int_equal(workload_meetings_of(&graph, &meetings, &error), CW_OK);
    assert_int_equal(step_critical_of(&graph, &meetings, &result, &critical, &error), CW_OK);
    assert_int_equal(critical.part_count, 3); /* work, send, its launch */
    assert_int_equal(critical.parts[0].ps, 500);
    assert_int_equal(critical.parts[1].ps, 90);
    assert_int_equal(critical.parts[2].ps, 10);
    step_critical_free(&critical);
    workload_meetings_free(&meetings);
    step_classes_free(&classes);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/* 1F1B with free communication: all of a stage that is not computing is waiting or bubble, and the
 * critical path is computations alone. */
static void a_pipeline_s_accounts(void **state)
{
    (void)state;
    enum { P = 4, M = 8, F = 1000, B = 2000 };
    struct workload_graph graph = {0};
    struct step_result result;
    struct step_classes classes;
    struct workload_meetings meetings;
    struct step_critical critical;
    struct cw_error error;
    const struct step_modes modes = {.in_program_order = true};
    make_pipeline(&graph, P, M, F, B, true);
    assert_int_equal(step_ideal(&graph, &modes, NULL, NULL, &result, &error), CW_OK);
    assert_int_equal(step_classes_of(&graph, &result, &classes, &error), CW_OK);
    assert_int_equal(classes.count, P);
    for (uint32_t i = 0; i < P; i++) {
        const struct step_class *const one = &classes.classes[i];
        assert_int_equal(one->compute_ps[WORKLOAD_FORWARD], M * F);
        assert_int_equal(one->compute_ps[WORKLOAD_BACKWARD], M * B);
        assert_int_equal(one->exposed_ps[0], 0);
        assert_int_equal(one->waiting_ps[0] + one->bubble_ps, (P - 1) * (F + B));
    }
    assert_int_equal(workload_meetings_of(&graph, &meetings, &error), CW_OK);
    assert_int_equal(step_critical_of(&graph, &meetings, &result, &critical, &error), CW_OK);
    int64_t sum = 0;
    for (size_t i = 0; i < critical.part_count; i++) {
        assert_int_equal(critical.parts[i].set, WORKLOAD_NONE);
        sum += critical.parts[i].ps;
    }
    assert_int_equal(sum, (M + P - 1) * (F + B));
    step_critical_free(&critical);
    workload_meetings_free(&meetings);
    step_classes_free(&classes);
    step_result_free(&result);
    workload_graph_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_sums_to_the_step),
        cmocka_unit_test(rounded_means_sum_to_the_step),
        cmocka_unit_test(rows_count_each_meeting_once),
        cmocka_unit_test(the_critical_path_goes_by_the_last_rank),
        cmocka_unit_test(a_message_waits_from_where_its_rank_let_it_begin),
        cmocka_unit_test(a_pipeline_s_accounts),
    };
    return cmocka_run_group_tests_name("workload_account", tests, NULL, NULL);
}
