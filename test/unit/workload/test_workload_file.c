/*
 * test_workload_file.c: workload files (workload/STEPS.md, "Workload files"): the graphs that they
 * make, counted by hand, and their mistakes.
 */
#include "test/support/test_workload_support.h"
#include "workload/run/ideal.h"

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

static void test_names_stand_for_all_before(void **state)
{
    (void)state;
    /* the latest one of a stream; on two streams both */
    makes("workload:\n"
          "  ranks: 2\n"
          "  ops:\n"
          "    - {repeat: 2, ops: [{name: a, time: 1}, {name: a, time: 1, stream: other}]}\n"
          "    - {name: b, after: a, time: 1}\n"
          "    - {name: never, when: 0, time: 1}\n"
          "    - {name: c, after: never, time: 1}\n",
          "a a<0 a<1 a<2 b<2,3 c");
}

static void test_lists_in_lists(void **state)
{
    (void)state;
    makes("workload:\n"
          "  ranks: 2\n"
          "  blocks:\n"
          "    two: [{name: x, time: 1}, {name: y, time: 1}]\n"
          "  ops:\n"
          "    - {name: a, time: 1}\n"
          "    - {overlap: true, ops: [{name: b, time: 1}, {name: c, time: 1}]}\n"
          "    - {use: two, after: []}\n"
          "    - {after: [], ops: [{name: z, when: 0, time: 1}]}\n"
          "    - {name: d, time: 1}\n",
          "a b<0 c<1 x y<3 d<4");
}

static void test_loops(void **state)
{
    (void)state;
    struct workload_graph graph = good_workload(
        "workload:\n"
        "  ranks: 2\n"
        "  values: {double: 2 * i, n: 3}\n"
        "  ops:\n"
        "    - repeat: n\n"
        "      index: i\n"
        "      ops:\n"
        "        - {flops: double}\n"
        "        - {repeat: i, index: layer, backwards: true, ops: [{flops: 10 * i + layer}]}\n");
    static const struct {
        uint64_t flops;
        int32_t layer;
    } expected[] = {{0, -1}, {2, -1}, {10, 0}, {4, -1}, {21, 1}, {20, 0}};
    assert_int_equal(graph.programs[0].op_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(graph.programs[0].ops[i].flops, expected[i].flops);
        assert_int_equal(graph.programs[0].ops[i].layer, expected[i].layer);
    }
    workload_graph_free(&graph);
}

/* Five layers of 10 bytes: three fill 25, two are left. */
static void test_buckets(void **state)
{
    (void)state;
    struct workload_graph graph = good_workload(
        "workload:\n"
        "  ranks: 2\n"
        "  ops:\n"
        "    - repeat: 5\n"
        "      index: layer\n"
        "      ops:\n"
        "        - {name: a, time: 1}\n"
        "        - {name: g, collective: all_reduce, bytes: 10, bucket: 25, overlap: true}\n"
        "    - {name: u, after: [previous, g], time: 1}\n");
    char text[2000];
    assert_string_equal(program_text(&graph, 0, text), "a a<0 a<1 g<2 a<2 a<4 g<5 u<5,6");
    assert_int_equal(graph.programs[0].ops[3].bytes, 30);
    assert_int_equal(graph.programs[0].ops[6].bytes, 20);
    assert_int_equal(graph.programs[0].ops[3].layer, 2);
    workload_graph_free(&graph);
}

/* ---- operations ------------------------------------------------------------------------------ */

static void test_all_kinds(void **state)
{
    (void)state;
    struct workload_graph graph = good_workload(
        "workload:\n"
        "  ranks: 4\n"
        "  dtype: f16\n"
        "  data: true\n"
        "  groups: {pairs: [[0, 1], [3, 2]]}\n"
        "  algorithms: {pairs: ring_allreduce}\n"
        "  ops:\n"
        "    - {flops: 100, bytes: 200, kernels: 3, purpose: update, vector: true}\n"
        "    - {product: 2x3x4, dtype: f32}\n"
        "    - {product: [1 + 1, 3, 2^2]}\n"
        "    - {time: 1.5us}\n"
        "    - {collective: reduce, of: pairs, bytes: 64, root: 1, redop: max, dtype: f32}\n"
        "    - {collective: barrier}\n"
        "    - {send: 8, of: pairs, to: 1, tag: 5, when: rank == 3}\n"
        "    - {recv: 8, of: pairs, from: 0, tag: 5, when: rank == 2}\n"
        "    - {name: end, after: previous}\n");
    assert_true(graph.verifies);
    assert_int_equal(graph.program_count, 4);
    const struct workload_op *const op = graph.programs[3].ops;
    assert_int_equal(graph.programs[3].op_count, 8);
    assert_int_equal(op[0].kind, WORKLOAD_ROOFLINE);
    assert_int_equal(op[0].flops, 100);
    assert_int_equal(op[0].bytes, 200);
    assert_int_equal(op[0].kernels, 3);
    assert_int_equal(op[0].purpose, WORKLOAD_UPDATE);
    assert_int_equal(op[0].matrix, 0);
    assert_int_equal(op[1].kind, WORKLOAD_PRODUCT);
    assert_int_equal(op[1].side[0], 2);
    assert_int_equal(op[1].side[1], 3);
    assert_int_equal(op[1].side[2], 4);
    assert_int_equal(op[1].dtype, DTYPE_F32);
    assert_int_equal(op[2].side[2], 4);
    assert_int_equal(op[2].dtype, DTYPE_F16);
    assert_int_equal(op[3].time_ps, 1500000);
    assert_int_equal(op[4].collective, CCL_REDUCE);
    assert_int_equal(op[4].peer, 1);
    assert_int_equal(op[4].redop, REDOP_MAX);
    assert_int_equal(op[5].collective, CCL_BARRIER);
    assert_int_equal(op[6].kind, WORKLOAD_SEND);
    assert_int_equal(op[6].tag, 5);
    assert_int_equal(op[7].kind, WORKLOAD_NOTHING);
    const struct workload_set *const pairs = &graph.sets[op[4].set];
    assert_string_equal(pairs->algorithm, "ring_allreduce");
    assert_int_equal(pairs->rank_in[3], 0);
    assert_int_equal(pairs->rank_in[2], 1);
    assert_int_equal(graph.programs[2].ops[6].kind, WORKLOAD_RECV);
    assert_string_equal(graph.streams[op[4].stream].name, "pairs");
    assert_string_equal(graph.streams[op[6].stream].name, "send");
    assert_string_equal(graph.streams[op[0].stream].name, "compute");
    workload_graph_free(&graph);
}

static void test_groups_of_one_are_left_out(void **state)
{
    (void)state;
    makes("workload:\n"
          "  parallel: {dp: 2}\n"
          "  ops:\n"
          "    - {name: a, time: 1}\n"
          "    - {name: t, collective: all_reduce, of: tp, bytes: 8}\n"
          "    - {name: b, after: t, time: 1}\n"
          "    - {name: d, collective: all_reduce, of: dp, bytes: 8}\n",
          "a b d<1");
}

static void test_uneven_blocks(void **state)
{
    (void)state;
    struct workload_graph graph =
        good_workload("workload:\n"
                      "  ranks: 4\n"
                      "  ops:\n"
                      "    - {collective: all_to_all, bytes: 64, to_first: 3 / 2}\n"
                      "    - {collective: all_to_all, bytes: 64, from_first: 4}\n"
                      "    - {collective: all_to_all, bytes: 64, to_first: 1}\n");
    const struct workload_op *const op = graph.programs[0].ops;
    assert_int_equal(op[0].to_first, 1500);
    assert_int_equal(op[0].from_first, 0);
    assert_int_equal(op[1].to_first, 0);
    assert_int_equal(op[1].from_first, 4000);
    assert_int_equal(op[2].to_first, 0);
    workload_graph_free(&graph);
}

/* A ring of context parallelism: in each step a rank sends to the next one. */
static void test_a_ring_of_ranks(void **state)
{
    (void)state;
    struct workload_graph graph = good_workload(
        "workload:\n"
        "  parallel: {cp: 4}\n"
        "  ops:\n"
        "    - repeat: cp - 1\n"
        "      ops:\n"
        "        - {send: 1KiB, of: cp, to: (cp_rank + 1) % cp, overlap: true}\n"
        "        - {name: kv, recv: 1KiB, of: cp, from: (cp_rank + cp - 1) % cp, overlap: true}\n"
        "        - {name: attention, time: 1us}\n"
        "        - {name: next, after: [previous, kv]}\n"
        "    - {name: attention, time: 1us}\n");
    assert_int_equal(graph.program_count, 4);
    assert_int_equal(graph.programs[1].op_count, 13);
    assert_int_equal(graph.programs[3].ops[0].peer, 0);
    assert_int_equal(graph.programs[0].ops[1].peer, 3);
    assert_string_equal(graph.programs[3].name, "cp_rank 3");
    struct step_result result;
    struct cw_error error;
    /* free messages: four blocks one after the other */
    assert_int_equal(step_ideal(&graph, &(struct step_modes){0}, NULL, NULL, &result, &error),
                     CW_OK);
    assert_int_equal(result.step_ps, 4000000);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/* ---- pipelines ------------------------------------------------------------------------------- */

static const char pipeline[] = "workload:\n"
                               "  parallel: {pp: 2}\n"
                               "  ops:\n"
                               "    - pipeline: 1f1b\n"
                               "      microbatches: 2\n"
                               "      layers: 4\n"
                               "      message: 100\n"
                               "      forward: [{each_layer: [{name: f, time: 1us}]}]\n"
                               "      backward: [{each_layer: [{name: b, time: 2us}]}]\n"
                               "    - {name: update, time: 5us}\n";

/* Stage 0: F0 F1 B0 B1; stage 1: F0 B0 F1 B1. Each pass has two layers. */
static void test_a_pipeline_by_hand(void **state)
{
    (void)state;
    char text[2000];
    struct workload_graph graph = good_workload(pipeline);
    assert_int_equal(graph.program_count, 2);
    assert_string_equal(graph.programs[1].name, "stage 1");
    assert_string_equal(program_text(&graph, 0, text), "f f<0 send forward<1 " /* 0 1 2 */
                                                       "f<1 f<3 send forward<4 "
                                                       "recv backward b<4,6 b<7 "
                                                       "recv backward b<8,9 b<10 update<11");
    assert_string_equal(program_text(&graph, 1, text),
                        "recv forward f<0 f<1 b<2 b<3 send backward<4 "
                        "recv forward f<4,6 f<7 b<8 b<9 send backward<10 update<10");
    const struct workload_op *const op = graph.programs[1].ops;
    static const int32_t layers[] = {-1, 2, 3, 3, 2, -1, -1, 2, 3, 3, 2, -1, -1};
    for (uint32_t i = 0; i < 13; i++) {
        assert_int_equal(op[i].layer, layers[i]);
        assert_int_equal(op[i].microbatch, i == 12 ? -1 : (int32_t)i / 6);
    }
    assert_int_equal(op[0].bytes, 100);
    assert_int_equal(op[0].tag, 0);
    assert_int_equal(op[5].tag, 1);
    assert_int_equal(op[0].peer, 0);
    assert_int_equal(op[1].purpose, WORKLOAD_FORWARD);
    assert_int_equal(op[3].purpose, WORKLOAD_BACKWARD);
    assert_int_equal(op[12].purpose, WORKLOAD_OTHER);
    workload_graph_free(&graph);
}

static int64_t ideal_step(const char *schedule, uint32_t p, uint32_t m, uint32_t chunks)
{
    char text[600];
    snprintf(text, sizeof text,
             "workload:\n"
             "  parallel: {pp: %u}\n"
             "  ops:\n"
             "    - pipeline: %s\n"
             "      microbatches: %u\n"
             "      chunks: %u\n"
             "      message: 1\n"
             "      forward: [{time: 100ps}]\n"
             "      backward: [{time: 201ps}]\n",
             p, schedule, m, chunks);
    struct workload_graph graph = good_workload(text);
    struct step_result result;
    struct cw_error error = {.exit_code = CW_OK};
    const struct step_modes modes = {.in_program_order = true};
    if (step_ideal(&graph, &modes, NULL, NULL, &result, &error) != CW_OK)
        fail_msg("%s, %u stages, %u microbatches, %u chunks: %s", schedule, p, m, chunks,
                 cw_error_text(&error));
    const int64_t step = result.step_ps;
    step_result_free(&result);
    workload_graph_free(&graph);
    return step;
}

/* (m + p - 1)(f + b); with v chunks of f and b each (v m + p - 1)(f + b) (Narayanan et al. 2021,
 * section 2.2). */
static void test_closed_forms(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1}, {1, 4}, {2, 2}, {2, 8}, {4, 8}, {8, 16}, {4, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const uint32_t p = shapes[i][0], m = shapes[i][1];
        assert_int_equal(ideal_step("1f1b", p, m, 1), (m + p - 1) * 301);
        assert_int_equal(ideal_step("gpipe", p, m, 1), (m + p - 1) * 301);
        if (m % p == 0)
            for (uint32_t v = 1; v <= 4; v++)
                assert_int_equal(ideal_step("interleaved", p, m, v), (v * m + p - 1) * 301);
    }
}

static void test_uneven_layers(void **state)
{
    (void)state;
    char text[2000];
    struct workload_graph graph = good_workload_with(pipeline, "workload.ops.0.layers=[1, 3]");
    assert_int_equal(graph.programs[0].op_count, 2 * 2 + 2 * 2 + 1);
    assert_int_equal(graph.programs[1].op_count, 2 * 6 + 2 * 2 + 1);
    assert_int_equal(graph.programs[1].ops[1].layer, 1);
    assert_string_equal(program_text(&graph, 0, text),
                        "f send forward<0 f<0 send forward<2 recv backward b<2,4 recv backward "
                        "b<5,6 update<7");
    workload_graph_free(&graph);
}

/* Forward alone: an inference. Each list knows where the model begins and ends. */
static void test_forward_alone(void **state)
{
    (void)state;
    char text[2000];
    struct workload_graph graph =
        good_workload("workload:\n"
                      "  parallel: {pp: 2}\n"
                      "  ops:\n"
                      "    - pipeline: gpipe\n"
                      "      purpose: decode\n"
                      "      microbatches: 2\n"
                      "      message: 4\n"
                      "      forward:\n"
                      "        - {name: begin, when: first, time: 1}\n"
                      "        - {name: body, time: 1}\n"
                      "        - {name: end, when: last and last_microbatch, time: 1}\n");
    assert_string_equal(program_text(&graph, 0, text),
                        "begin body<0 send forward<1 begin<1 body<3 send forward<4");
    assert_string_equal(program_text(&graph, 1, text),
                        "recv forward body<0 recv forward body<1,2 end<3");
    assert_int_equal(graph.programs[0].ops[0].purpose, WORKLOAD_DECODE);
    assert_int_equal(graph.programs[0].ops[2].purpose, WORKLOAD_DECODE);
    workload_graph_free(&graph);
}

/* Chunk 1 of stage 0 gets what chunk 0 of the last stage sends. */
static void test_chunks(void **state)
{
    (void)state;
    struct workload_graph graph =
        good_workload("workload:\n"
                      "  parallel: {pp: 2}\n"
                      "  ops:\n"
                      "    - pipeline: interleaved\n"
                      "      microbatches: 2\n"
                      "      chunks: 2\n"
                      "      layers: 8\n"
                      "      message: 4\n"
                      "      forward: [{each_layer: [{name: f, time: 1}]}]\n"
                      "      backward: [{each_layer: [{name: b, time: 1}]}]\n");
    /* stage 0: F0.0 F1.0 F0.1 F1.1 (warm-up 2 + 2) and their messages */
    const struct workload_op *const op = graph.programs[0].ops;
    static const uint8_t kinds[] = {WORKLOAD_TIME, WORKLOAD_TIME, WORKLOAD_SEND, WORKLOAD_TIME,
                                    WORKLOAD_TIME, WORKLOAD_SEND, WORKLOAD_RECV, WORKLOAD_TIME,
                                    WORKLOAD_TIME, WORKLOAD_SEND};
    static const int32_t layers[] = {0, 1, -1, 0, 1, -1, -1, 4, 5, -1};
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(op[i].kind, kinds[i]);
        assert_int_equal(op[i].layer, layers[i]);
    }
    /* the last stage's second chunk ends the model: it sends no activation, and gets no gradient */
    uint32_t sends[2] = {0, 0}, receives[2] = {0, 0};
    for (uint32_t i = 0; i < graph.programs[1].op_count; i++) {
        const struct workload_op *const of = &graph.programs[1].ops[i];
        sends[of->tag] += of->kind == WORKLOAD_SEND;
        receives[of->tag] += of->kind == WORKLOAD_RECV;
    }
    assert_int_equal(sends[0], 2);
    assert_int_equal(receives[0], 4);
    assert_int_equal(sends[1], 4);
    assert_int_equal(receives[1], 2);
    workload_graph_free(&graph);
}

/* Weights of a layer come while the layer before computes: 3 us each, from the start of that layer
 * on, on a stream of their own; a layer takes 2 us. So one layer after the other ends every 3 us.
 */
static void test_weights_that_come_early(void **state)
{
    (void)state;
    char text[2000];
    struct workload_graph graph =
        good_workload("workload:\n"
                      "  ranks: 1\n"
                      "  ops:\n"
                      "    - repeat: 4\n"
                      "      ops:\n"
                      "        - {name: w, time: 3us, stream: net, after: x.start, overlap: true}\n"
                      "        - {name: x, time: 2us, after: [previous, w]}\n");
    struct step_result result;
    struct cw_error error;
    assert_string_equal(program_text(&graph, 0, text), "w x<0 w<1s x<1,2 w<3s x<3,4 w<5s x<5,6");
    assert_int_equal(step_ideal(&graph, &(struct step_modes){0}, NULL, NULL, &result, &error),
                     CW_OK);
    assert_int_equal(result.step_ps, (4 * 3 + 2) * 1000000);
    step_result_free(&result);
    workload_graph_free(&graph);
}

/* ---- classes, memory, places ----------------------------------------------------------------- */

static void test_classes(void **state)
{
    (void)state;
    struct workload_graph graph = good_workload("workload:\n"
                                                "  parallel: {tp: 2, dp: 3}\n"
                                                "  ops: [{flops: 10 + dp_rank}]\n");
    static const uint32_t expected[] = {0, 0, 1, 1, 2, 2};
    assert_int_equal(graph.program_count, 3);
    for (uint32_t rank = 0; rank < 6; rank++)
        assert_int_equal(graph.program_of[rank], expected[rank]);
    assert_int_equal(graph.programs[2].ops[0].flops, 12);
    assert_string_equal(graph.programs[2].name, "dp_rank 2");
    workload_graph_free(&graph);
}

/* 1F1B of 4 stages, 8 microbatches, 8 layers: stage s keeps 4 - s of them, of 2 layers. */
static void test_memory(void **state)
{
    (void)state;
    static const char text[] = "workload:\n"
                               "  parallel: {pp: 4, tp: 2}\n"
                               "  ops:\n"
                               "    - pipeline: 1f1b\n"
                               "      microbatches: 8\n"
                               "      layers: 8\n"
                               "      message: 1\n"
                               "      forward: [{time: 1}]\n"
                               "      backward: [{time: 1}]\n"
                               "  memory:\n"
                               "    weights: 1000 * stage_layers / tp + 7 * first + 9 * last\n"
                               "    activations: 10 * layers_in_flight\n"
                               "    other: in_flight\n"
                               "  quotes: {tokens: 8 * tp, model_flops: 1T}\n";
    struct workload_graph graph = good_workload(text);
    assert_non_null(graph.memory);
    for (uint32_t stage = 0; stage < 4; stage++) {
        const struct workload_memory *const memory = &graph.memory[stage];
        assert_true(memory->known);
        assert_int_equal(memory->weights, 1000 + (stage == 0 ? 7 : stage == 3 ? 9 : 0));
        assert_int_equal(memory->activations, 10 * 2 * (4 - stage));
        assert_int_equal(memory->other, 4 - stage);
        assert_int_equal(memory->cache, 0);
    }
    assert_true(graph.quotes.tokens == 16);
    assert_true(graph.quotes.model_flops == 1e12);
    assert_true(graph.quotes.first_tokens == 0);
    workload_graph_free(&graph);
    /* GPipe keeps all 8 */
    graph = good_workload_with(text, "workload.ops.0.pipeline=gpipe");
    assert_int_equal(graph.memory[3].activations, 10 * 2 * 8);
    workload_graph_free(&graph);
}

static void places(const char *place, const uint32_t expected[16])
{
    char text[300];
    snprintf(text, sizeof text,
             "workload:\n"
             "  parallel: {tp: 4, dp: 4}\n"
             "  place: %s\n"
             "  ops: [{collective: all_reduce, of: tp, bytes: 8}]\n",
             place);
    struct workload_graph graph = good_workload(text);
    for (uint32_t rank = 0; rank < 16; rank++)
        assert_int_equal(graph.sip_of[rank], expected[rank]);
    workload_graph_free(&graph);
}

/* On a grid of 4 x 4 SIPs. */
static void test_places(void **state)
{
    (void)state;
    places("{tp: block 2x2}", (uint32_t[]){0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15});
    places("{tp: row}", (uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    places("{tp: column}", (uint32_t[]){0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
    places("{dp: row}", (uint32_t[]){0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
    places("[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]",
           (uint32_t[]){15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
}

static void test_settings(void **state)
{
    (void)state;
    static const char text[] = "workload:\n"
                               "  parallel: {tp: 2}\n"
                               "  values: {h: 100}\n"
                               "  ops: [{flops: h / tp}, {flops: 1}]\n";
    static const struct {
        const char *setting;
        uint64_t flops;
    } expected[] = {{NULL, 50},
                    {"workload.values.h=200", 100},
                    {"workload.parallel.tp=4", 25},
                    {"workload.parallel={tp: 1}", 100},
                    {"workload.ops.0.flops=h * 3", 300},
                    {"workload.ops.0={flops: 7}", 7}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct workload_graph graph = good_workload_with(text, expected[i].setting);
        assert_int_equal(graph.programs[0].ops[0].flops, expected[i].flops);
        assert_int_equal(graph.programs[0].op_count, 2);
        workload_graph_free(&graph);
    }
    /* a key that the file does not have */
    struct workload_graph graph = good_workload_with(text, "workload.memory.weights=h");
    assert_int_equal(graph.memory[0].weights, 100);
    workload_graph_free(&graph);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

#define BAD(text, ...)                                                                             \
    bad_workload(text, NULL, (const char *const[]){__VA_ARGS__},                                   \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define OPS(list) "workload:\n  parallel: {tp: 2, pp: 2}\n  ops:\n" list

static void test_mistakes_of_the_file(void **state)
{
    (void)state;
    BAD("", "w.yaml:1:1: empty; expected YAML");
    BAD("# nothing\n", "w.yaml:1:1: no workload: expected a key `workload`");
    BAD("[1]\n", "w.yaml:1:1: expected a mapping with a key `workload`; found a list");
    BAD("workloads: {}\n", "w.yaml:1:1: expected a key `workload`",
        "w.yaml:1:1: unknown key 'workloads' of a workload file; did you mean 'workload'?");
    BAD("workload: 3\n", "w.yaml:1:11: expected a mapping; found '3'");
    BAD("workload: {ranks: 2}\n", "w.yaml:1:11: no ops: expected a list of operations");
    BAD("workload:\n  rank: 2\n  ops: []\n",
        "w.yaml:2:3: unknown key 'rank' of workload; did you mean 'ranks'?");
    BAD("workload:\n  ranks: 0\n  ops: []\n",
        "w.yaml:2:10: 0; legal is a whole number from 1 to 1048576");
    BAD("workload:\n  ranks: 3 / 2\n  ops: []\n",
        "w.yaml:2:10: 1.5; legal is a whole number from 1 to 1048576");
    BAD("workload:\n  ranks: 3\n  parallel: {tp: 2}\n  ops: []\n",
        "w.yaml:2:10: 3 ranks, but tp * cp * dp * pp is 2");
    BAD("workload:\n  parallel: {tp: 2, xp: 2, order: tp-qp}\n  ops: []\n",
        "w.yaml:2:21: unknown key 'xp' of parallel; did you mean",
        "w.yaml:2:35: order: legal are tp, cp, ep, dp and pp");
    BAD("workload:\n  parallel: {dp: 4, ep: 3}\n  ops: []\n",
        "w.yaml:2:13: ep does not divide dp * cp");
    BAD("workload:\n  dtype: bf61\n  ops: []\n",
        "w.yaml:2:10: 'bf61' is no type of elements; did you mean 'bf16'?");
    BAD("workload:\n  data: maybe\n  ops: []\n", "w.yaml:2:9: expected true or false; found "
                                                 "'maybe'");
    BAD("workload:\n  values: {tp: 2, 3x: 1, if: 2}\n  ops: []\n",
        "w.yaml:2:12: 'tp' already has a meaning: a size of `parallel`",
        "w.yaml:2:19: '3x' is no name", "w.yaml:2:26: 'if' is no name");
    BAD("workload:\n  memory: {weight: 1}\n  quotes: {token: 1}\n  ops: []\n",
        "w.yaml:2:12: unknown key 'weight' of memory; did you mean 'weights'?",
        "w.yaml:3:12: unknown key 'token' of quotes; did you mean 'tokens'?");
    BAD("workload:\n  groups: {tp: [[0]], a: 3, b: [], c: [[0], [5]]}\n  ranks: 2\n  ops: []\n",
        "w.yaml:2:12: 'tp' already is a set of groups",
        "w.yaml:2:26: expected a list of lists of ranks; found '3'");
    BAD("workload:\n  quotes: {tokens: stage}\n  ops: []\n",
        "w.yaml:2:20: 'stage' (the pipeline stage of the rank) has no value here");
}

static void test_mistakes_of_operations(void **state)
{
    (void)state;
    BAD(OPS("    - {colective: all_reduce, bytes: 8}\n"),
        "w.yaml:4:8: unknown key 'colective' of an operation that computes; legal are");
    BAD(OPS("    - {collective: allreduce, bytes: 8}\n"),
        "w.yaml:4:20: 'allreduce' is no collective; did you mean 'all_reduce'?");
    BAD(OPS("    - {collective: all_reduce}\n"),
        "w.yaml:4:7: the operation does not say bytes: of a rank's whole tensor");
    BAD(OPS("    - {name: x}\n"), "w.yaml:4:7: the operation does not say what it does");
    BAD(OPS("    - {nme: x}\n"), "w.yaml:4:8: unknown key 'nme' of an operation");
    BAD(OPS("    - 3\n"), "w.yaml:4:7: expected an operation, such as {collective");
    BAD("workload:\n  ops: {time: 1}\n", "w.yaml:2:8: expected a list of operations; found a "
                                         "mapping");
    BAD(OPS("    - {send: 8}\n    - {recv: 8}\n"),
        "w.yaml:4:7: the operation does not say to: the number of the receiver",
        "w.yaml:5:7: the operation does not say from: the number of the sender");
    BAD(OPS("    - {send: 8, to: 0, of: tp}\n"), "w.yaml:4:7: a message of a rank to itself");
    BAD(OPS("    - {send: 8, to: 2, of: tp}\n"),
        "w.yaml:4:21: 2; legal is a whole number from 0 to 1");
    BAD(OPS("    - {collective: all_reduce, bytes: 8, of: xp}\n"),
        "w.yaml:4:46: no set of groups 'xp'; did you mean");
    BAD(OPS("    - {collective: all_reduce, bytes: 8, of: ep-dp}\n"),
        "w.yaml:4:46: no set of groups 'ep-dp': it mixes ep or edp");
    BAD(OPS("    - {name: one, time: 1}\n    - {after: [on, two], time: 1}\n"),
        "w.yaml:5:16: no operation has the name 'on'; did you mean 'one'?",
        "w.yaml:5:20: no operation has the name 'two'; legal are");
    BAD(OPS("    - {name: previous, time: 1}\n"), "w.yaml:4:14: `previous` and `.start` are words");
    BAD(OPS("    - {after: previous.start, time: 1}\n"), "w.yaml:4:15: previous.start: legal is");
    BAD(OPS("    - {collective: all_to_all, bytes: 8, to_first: 5}\n"),
        "w.yaml:4:52: legal is a factor from 0.001 to 4, the ranks of the group");
    BAD(OPS("    - {collective: all_reduce, bytes: 8, to_first: 1}\n"),
        "w.yaml:4:7: to_first and from_first are of an all_to_all");
    BAD(OPS("    - {purpose: foward, time: 1}\n"),
        "w.yaml:4:17: 'foward' is no purpose; did you mean 'forward'?");
    BAD(OPS("    - {product: 3x4}\n"), "w.yaml:4:17: expected MxNxK, or a list of three formulas");
    BAD(OPS("    - {product: [3, 4]}\n"), "w.yaml:4:17: expected MxNxK, or a list of three");
    BAD(OPS("    - {product: [3, 4, 0]}\n"), "w.yaml:4:24: 0; legal is a whole number from 1");
    BAD(OPS("    - {repeat: 2}\n"), "w.yaml:4:7: the operation does not say ops: the list");
    BAD(OPS("    - {repeat: 2, index: tp, ops: []}\n"),
        "w.yaml:4:26: 'tp' cannot be the index of a loop");
    BAD(OPS("    - {repeat: 0 - 1, ops: []}\n"), "w.yaml:4:16: -1; legal is a whole number from 0");
    BAD(OPS("    - {use: blck}\n  blocks: {block: [{use: block}]}\n"),
        "w.yaml:4:13: no block 'blck'; did you mean 'block'?");
    BAD(OPS("    - {use: block}\n  blocks: {block: [{use: block}]}\n"),
        "w.yaml:5:20: a block that uses itself");
    BAD(OPS("    - {each_layer: []}\n"), "w.yaml:4:7: each_layer outside of a pipeline");
    BAD(OPS("    - {time: 1, bytes: 8, redop: sum}\n"),
        "w.yaml:4:17: unknown key 'bytes' of an operation that takes a time",
        "w.yaml:4:27: unknown key 'redop' of an operation that takes a time");
    BAD(OPS("    - {flops: 1, kernels: 0}\n"), "w.yaml:4:27: 0; legal is a whole number from 1");
    BAD(OPS("    - {repeat: 20000000, ops: [{time: 1, when: 0}]}\n"),
        "w.yaml:4:32: more than 20000000 steps of lists and loops");
}

/* What the ranks do does not fit together. */
static void test_mistakes_of_ranks(void **state)
{
    (void)state;
    BAD(OPS("    - {send: 8, to: 1, when: rank == 0}\n"),
        "w.yaml:4:7: rank 0: send: a send that no rank receives");
    BAD(OPS("    - {recv: 8, from: 1, when: rank == 0}\n"),
        "w.yaml:4:7: rank 0: recv: a receive of what no rank sends");
    BAD(OPS("    - {send: 8, to: 1, when: rank == 0}\n    - {name: x, recv: 9, from: 0, when: rank "
            "== "
            "1}\n"),
        "w.yaml:4:7: rank 0: send: a message whose other end has another number of bytes");
    BAD(OPS("    - {product: 8x8x8, dtype: int8}\n"),
        "w.yaml:4:7: every rank: product: a product of such a dtype; legal are f16, bf16, f32, "
        "fp8_e4m3 and fp8_e5m2");
    BAD(OPS("    - {send: 8, to: 1, dtype: f32, when: rank == 0}\n"
            "    - {name: x, recv: 8, from: 0, when: rank == 1}\n"),
        "w.yaml:4:7: rank 0: send: a message whose other end has another dtype");
    BAD(OPS("    - {collective: all_reduce, bytes: 8, when: rank == 0}\n"),
        "w.yaml:4:7: rank 0: all_reduce: 1 of 4 ranks of its group 0 of all make this call");
    BAD(OPS("    - {collective: all_reduce, bytes: 8 + rank}\n"),
        "w.yaml:4:7: rank 1: all_reduce: rank 1 calls another collective");
}

static void test_mistakes_of_pipelines(void **state)
{
    (void)state;
    BAD(OPS("    - {pipeline: 1f1c, microbatches: 2, forward: []}\n"),
        "w.yaml:4:18: '1f1c' is no schedule; did you mean '1f1b'?");
    BAD(OPS("    - {pipeline: 1f1b}\n"), "w.yaml:4:7: the operation does not say microbatches");
    BAD(OPS("    - {pipeline: 1f1b, microbatches: 2}\n"),
        "w.yaml:4:7: the operation does not say forward");
    BAD(OPS("    - {pipeline: 1f1b, microbatches: 2, forward: []}\n"),
        "w.yaml:4:7: the pipeline does not say message");
    BAD(OPS("    - {pipeline: 1f1b, microbatches: 2, layers: 3, message: 1, forward: []}\n"),
        "w.yaml:4:49: 3 layers are not the same number for 2 stages of 1 chunks; legal is a "
        "multiple of 2, or a list of 2 numbers");
    BAD(OPS("    - {pipeline: 1f1b, microbatches: 2, layers: [3], message: 1, forward: []}\n"),
        "w.yaml:4:7: 1 numbers of layers for 2 stages of 1 chunks; legal are 2");
    BAD(OPS("    - {pipeline: 1f1b, microbatches: 2, chunks: 2, message: 1, forward: []}\n"),
        "w.yaml:4:49: chunks are of the schedule interleaved");
    BAD(OPS("    - {pipeline: interleaved, microbatches: 3, chunks: 2, message: 1, forward: []}\n"),
        "w.yaml:4:45: with chunks, legal is a multiple of the number of stages");
    BAD(OPS("    - {pipeline: 1f1b, microbatches: 1, message: 1, forward: [{each_layer: []}]}\n"),
        "w.yaml:4:7: the pipeline does not say layers");
    BAD(OPS("    - {pipeline: gpipe, microbatches: 1, message: 1, forward: [{pipeline: gpipe, "
            "microbatches: 1, message: 1, forward: []}]}\n"),
        "w.yaml:4:64: a pipeline within a pipeline");
}

static void test_mistakes_of_places(void **state)
{
    (void)state;
#define PLACE(place)                                                                               \
    "workload:\n  parallel: {tp: 4}\n  place: " place                                              \
    "\n  ops: [{collective: all_reduce, bytes: 8}]\n"
    BAD(PLACE("somewhere"), "w.yaml:3:10: expected a shape such as {tp: block 2x2}");
    BAD(PLACE("{tp: block 2x3}"), "w.yaml:3:15: a block of 2 x 3 for groups of 4");
    BAD(PLACE("{tp: heap}"), "w.yaml:3:15: expected row, column, or a block");
    BAD(PLACE("{xp: row}"), "w.yaml:3:11: no set of groups");
    BAD(PLACE("{tp: row, dp: row}"), "w.yaml:3:10: expected one set of groups and its shape");
    BAD(PLACE("[0, 1, 2]"), "w.yaml:3:10: expected a SIP for each of 4 ranks");
    BAD(PLACE("[0, 1, 2, 3, 4]"), "w.yaml:3:10: expected a SIP for each of 4 ranks");
    BAD(PLACE("[0, 1, 2, x]"), "w.yaml:3:20: expected the number of a SIP");
    BAD(PLACE("[0, 1, 2, 1]"), "w.yaml:3:10: SIP 1 is taken twice");
    BAD("workload:\n  parallel: {tp: 8, dp: 4}\n  place: {tp: block 8x1}\n  ops: [{time: 1}]\n",
        "w.yaml:3:15: 4 blocks of 8 x 1 do not fill a grid of 4 x 4 SIPs");
}

static void test_mistakes_of_settings(void **state)
{
    (void)state;
    static const char text[] = "workload:\n  values: {h: 1, hidden: 2}\n  ops: [{time: h}]\n";
    static const char *const cases[][2] = {
        {"parallel.tp=2", "--set parallel.tp=2: 'parallel.tp' is no key of a workload file"},
        {"workload.tp=2", "--set workload.tp=2: unknown key 'tp' of workload; legal are"},
        {"workload.values.h", "--set workload.values.h: expected KEY=VALUE"},
        {"workload.values.h=2 *", "--set workload.values.h=2 *: the formula ends"},
        {"workload.values.h.x=2", "--set workload.values.h.x=2: there is nothing that could have"},
        {"workload.ops.1.time=2", "--set workload.ops.1.time=2: the list has no item '1'"},
        {"workload.ops.x.time=2", "--set workload.ops.x.time=2: 'x' is no item of a list"},
        {"workload.values.hiden=2",
         "--set workload.values.hiden=2: no formula names the value 'hiden'; did "
         "you mean 'hidden'?"},
        {"workload.values.h={", "--set workload.values.h={: not YAML"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bad_workload(text, cases[i][0], &cases[i][1], 1);
}

/* ---- files that ship ------------------------------------------------------------------------- */

static struct workload_graph shipped(const char *path, const char *setting)
{
    struct workload_graph graph;
    struct cw_error error = {.exit_code = CW_OK};
    const struct workload_file_request request = {
        .path = path, .settings = &setting, .setting_count = setting != NULL, .any_machine = true};
    if (workload_file_read(&request, &graph, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    return graph;
}

/* Of 4 layers on 2 stages, 8 microbatches: 2 layers x 4 operations forward, twice as many backward,
 * a message each way; the last stage has the head; one bucket of gradients and the update. */
static void test_gpt_small(void **state)
{
    (void)state;
    struct workload_graph graph = shipped("configs/workloads/gpt_small.yaml", NULL);
    assert_int_equal(graph.rank_count, 8);
    assert_int_equal(graph.program_count, 2);
    assert_int_equal(graph.programs[0].op_count, 8 * (8 + 16 + 2) + 2);
    assert_int_equal(graph.programs[1].op_count, 8 * (8 + 16 + 2 + 2) + 2);
    /* 12 h^2 / tp parameters of a layer, 2 bytes each, 2 layers */
    assert_int_equal(graph.memory[0].gradients, 2 * 2 * 12 * 1024 * 1024 / 2);
    assert_true(graph.quotes.tokens == 16 * 1024);
    workload_graph_free(&graph);
    graph = shipped("configs/workloads/gpt_small.yaml", "workload.parallel.tp=4");
    assert_int_equal(graph.rank_count, 16);
    assert_int_equal(graph.memory[0].gradients, 2 * 2 * 12 * 1024 * 1024 / 4);
    workload_graph_free(&graph);
    graph = shipped("configs/workloads/all_reduce.yaml", NULL);
    assert_int_equal(graph.programs[0].op_count, 1);
    workload_graph_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_of_one_operation),
        cmocka_unit_test(test_lists_are_chains),
        cmocka_unit_test(test_names_stand_for_all_before),
        cmocka_unit_test(test_lists_in_lists),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_all_kinds),
        cmocka_unit_test(test_groups_of_one_are_left_out),
        cmocka_unit_test(test_uneven_blocks),
        cmocka_unit_test(test_a_ring_of_ranks),
        cmocka_unit_test(test_a_pipeline_by_hand),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_uneven_layers),
        cmocka_unit_test(test_forward_alone),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_weights_that_come_early),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_mistakes_of_the_file),
        cmocka_unit_test(test_mistakes_of_operations),
        cmocka_unit_test(test_mistakes_of_ranks),
        cmocka_unit_test(test_mistakes_of_pipelines),
        cmocka_unit_test(test_mistakes_of_places),
        cmocka_unit_test(test_mistakes_of_settings),
        cmocka_unit_test(test_gpt_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
