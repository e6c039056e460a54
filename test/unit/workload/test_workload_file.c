/*
 * test_workload_file.c: workload files (workload/STEPS.md, "Workload files"): the graphs that they
 * make, counted by hand, and their mistakes.
 */
#include "test/support/test_workload_support.h"

/* ---- what a program has ---------------------------------------------------------------------- */

/* The program as text: each operation's name, with "<" and the numbers of those it waits for. */
static const char *program_text(const struct workload_graph *graph, uint32_t program,
                                char text[2000])
{
    const struct workload_program *const p = &graph->programs[program];
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct workload_op *const op = &p->ops[i];
        used += (size_t)snprintf(text + used, 2000 - used, "%s%s", i > 0 ? " " : "",
                                 graph->labels[op->label]);
        for (uint32_t k = 0; k < op->dep_count; k++) {
            const uint32_t dep = p->deps[op->first_dep + k];
            used += (size_t)snprintf(text + used, 2000 - used, "%s%u%s", k == 0 ? "<" : ",",
                                     dep & ~WORKLOAD_AFTER_START,
                                     (dep & WORKLOAD_AFTER_START) != 0 ? "s" : "");
        }
        assert_true(used < 2000);
    }
    return text;
}

static void makes(const char *workload, const char *expected)
{
    char text[2000];
    struct workload_graph graph = good_workload(workload);
    assert_string_equal(program_text(&graph, 0, text), expected);
    workload_graph_free(&graph);
}

static void test_a_step_of_one_operation(void **state)
{
    (void)state;
    struct workload_graph graph = good_workload("workload:\n"
                                                "  ranks: 4\n"
                                                "  ops:\n"
                                                "    - {collective: all_reduce, bytes: 1MiB}\n");
    assert_int_equal(graph.rank_count, 4);
    assert_int_equal(graph.program_count, 1);
    assert_int_equal(graph.programs[0].op_count, 1);
    const struct workload_op *const op = &graph.programs[0].ops[0];
    assert_int_equal(op->kind, WORKLOAD_COLLECTIVE);
    assert_int_equal(op->collective, CCL_ALL_REDUCE);
    assert_int_equal(op->bytes, 1 << 20);
    assert_int_equal(op->dtype, DTYPE_BF16);
    assert_int_equal(op->redop, REDOP_SUM);
    assert_int_equal(op->id, 4);
    assert_int_equal(op->layer, -1);
    assert_int_equal(op->microbatch, -1);
    assert_string_equal(graph.sets[op->set].name, "all");
    assert_int_equal(graph.sets[op->set].first[1], 4);
    assert_null(graph.sip_of);
    assert_null(graph.memory);
    assert_false(graph.verifies);
    workload_graph_free(&graph);
}

/* ---- order ----------------------------------------------------------------------------------- */

static void test_lists_are_chains(void **state)
{
    (void)state;
    makes("workload:\n"
          "  ranks: 2\n"
          "  ops:\n"
          "    - {name: a, time: 1us}\n"
          "    - {name: b, collective: all_reduce, bytes: 8, overlap: true}\n"
          "    - {name: c, time: 1us}\n"
          "    - {name: d, after: [previous, b], time: 1us}\n"
          "    - {name: e, after: a.start, time: 1us}\n"
          "    - {name: f, after: [], time: 1us}\n"
          "    - {name: g, after: [e, f]}\n",
          "a b<0 c<0 d<2,1 e<0s f g<4,5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_of_one_operation),
        cmocka_unit_test(test_lists_are_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
