/*
 * test_traces_layers.c: layer tables of ASTRA-sim 1.0 and SimAI (workload/STEPS.md, "Traces"): the
 * header, each policy's order and groups, sizes, and what is refused, with its place.
 */
#define TEST_SCRATCH "layers"
#include "test/support/scratch_folder.h"

#include <string.h>

#include "workload/traces/trace.h"

static struct cw_error error;
static char notes[1000];

static int read_text(const char *text, struct workload_trace_options options,
                     struct workload_graph *graph)
{
    FILE *const stream = fopen(in_folder("table.txt"), "wb");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    memset(notes, 0, sizeof notes);
    options.notes = fmemopen(notes, sizeof notes - 1, "w");
    assert_non_null(options.notes);
    error = (struct cw_error){.exit_code = CW_OK};
    *graph = (struct workload_graph){0};
    const int code = workload_trace_read(in_folder("table.txt"), &options, graph, &error);
    fclose(options.notes);
    return code;
}

static struct workload_graph read_good(const char *text, struct workload_trace_options options)
{
    struct workload_graph graph;
    if (read_text(text, options, &graph) != CW_OK)
        fail_msg("%s", error.text);
    assert_true(workload_is_trace(in_folder("table.txt")));
    return graph;
}

static void refused(const char *text, const char *place, const char *other)
{
    struct workload_graph graph;
    assert_int_equal(read_text(text, (struct workload_trace_options){.ranks = 8}, &graph),
                     CW_USAGE);
    workload_graph_free(&graph);
    const char *const path = in_folder("table.txt");
    if (strncmp(error.text, path, strlen(path)) != 0 ||
        strncmp(error.text + strlen(path), place, strlen(place)) != 0 ||
        strstr(error.text, other) == NULL)
        fail_msg("\"%s\" is not \"%s%s ... %s\"", error.text, path, place, other);
}

static const struct workload_program *program(const struct workload_graph *graph)
{
    return &graph->programs[graph->program_of[0]];
}

/* The operation of a label; its index. */
static uint32_t find(const struct workload_graph *graph, const char *label)
{
    for (uint32_t i = 0; i < program(graph)->op_count; i++)
        if (strcmp(graph->labels[program(graph)->ops[i].label], label) == 0)
            return i;
    fail_msg("there is no operation \"%s\"", label);
    return 0;
}

static const struct workload_op *op_of(const struct workload_graph *graph, const char *label)
{
    return &program(graph)->ops[find(graph, label)];
}

static bool waits(const struct workload_graph *graph, const char *label, const char *for_label)
{
    const struct workload_op *const op = op_of(graph, label);
    for (uint32_t i = 0; i < op->dep_count; i++)
        if (program(graph)->deps[op->first_dep + i] == find(graph, for_label))
            return true;
    return false;
}

static bool is_there(const struct workload_graph *graph, const char *label)
{
    for (uint32_t i = 0; i < graph->label_count; i++)
        if (strcmp(graph->labels[i], label) == 0)
            return true;
    return false;
}

/* Size of the groups of an operation's set. */
static uint32_t ranks_of(const struct workload_graph *graph, const char *label)
{
    return graph->sets[op_of(graph, label)->set].first[1];
}

#define TWO_LAYERS                                                                                 \
    "a\t-1\t10\tALLGATHER\t64\t20\tREDUCESCATTER\t32\t30\tALLREDUCE\t16\t4\n"                      \
    "b -1 11 ALLREDUCE 64  21 ALLREDUCE 32  31 ALLREDUCE 16 5 \n"

static struct workload_graph read_two(const char *policy, uint32_t first_dimension)
{
    char text[400];
    snprintf(text, sizeof text, "%s\t\t\n2\t\n%s", policy, TWO_LAYERS);
    return read_good(
        text, (struct workload_trace_options){.ranks = 8, .first_dimension = first_dimension});
}

/* ---- policies -------------------------------------------------------------------------------- */

static void data_parallelism_reduces_weights_beside_the_backward_pass(void **state)
{
    (void)state;
    struct workload_graph graph = read_two("DATA", 0);
    assert_int_equal(op_of(&graph, "a forward")->time_ps, 10000);
    assert_int_equal(op_of(&graph, "b weight gradient")->time_ps, 31000);
    assert_true(waits(&graph, "b forward", "a forward"));
    assert_true(waits(&graph, "b weight gradient", "b forward"));
    assert_true(waits(&graph, "b weight gradient all_reduce", "b weight gradient"));
    assert_true(waits(&graph, "b input gradient", "b weight gradient"));
    assert_false(waits(&graph, "b input gradient", "b weight gradient all_reduce"));
    assert_true(waits(&graph, "a weight gradient", "b input gradient"));
    assert_true(waits(&graph, "a update", "a weight gradient all_reduce"));
    assert_false(is_there(&graph, "a input gradient")); /* nothing is before layer 0 */
    assert_false(is_there(&graph, "a forward all_gather"));
    assert_non_null(strstr(notes, "left out"));
    assert_int_equal(ranks_of(&graph, "a weight gradient all_reduce"), 8);
    assert_int_equal(op_of(&graph, "a update")->purpose, WORKLOAD_UPDATE);
    workload_graph_free(&graph);
}

static void model_parallelism_waits_in_the_forward_pass(void **state)
{
    (void)state;
    struct workload_graph graph = read_two("MODEL", 0);
    assert_true(waits(&graph, "b forward", "a forward all_gather"));
    assert_true(waits(&graph, "b input gradient", "b forward all_reduce"));
    assert_true(waits(&graph, "b weight gradient", "b input gradient"));
    assert_true(waits(&graph, "a input gradient", "b weight gradient"));
    assert_true(waits(&graph, "a input gradient", "b input gradient all_reduce"));
    assert_false(is_there(&graph, "a input gradient reduce_scatter"));
    assert_false(is_there(&graph, "a weight gradient all_reduce"));
    /* an all-gather states a rank's part */
    assert_int_equal(op_of(&graph, "a forward all_gather")->bytes, 8 * 64);
    workload_graph_free(&graph);
}

static void hybrid_policies_divide_the_network_s_dimensions(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        uint32_t forward, weight, second; /* rank 1's number in the forward group */
    } cases[] = {{"HYBRID_DATA_MODEL", 2, 4, 1}, {"HYBRID_MODEL_DATA", 4, 2, 0}};
    for (size_t i = 0; i < 2; i++) {
        struct workload_graph graph = read_two(cases[i].policy, 2);
        assert_int_equal(ranks_of(&graph, "b forward all_reduce"), cases[i].forward);
        assert_int_equal(ranks_of(&graph, "b weight gradient all_reduce"), cases[i].weight);
        assert_int_equal(graph.sets[op_of(&graph, "b forward all_reduce")->set].rank_in[1],
                         cases[i].second);
        workload_graph_free(&graph);
    }
    struct workload_graph graph = read_two("HYBRID_DATA_MODEL", 0);
    assert_int_equal(ranks_of(&graph, "b forward all_reduce"), 8);
    assert_false(is_there(&graph, "b weight gradient all_reduce"));
    assert_non_null(strstr(notes, "dimension 0"));
    workload_graph_free(&graph);
}

static void a_transformer_names_its_model_s_ranks(void **state)
{
    (void)state;
    struct workload_graph graph = read_two("HYBRID_TRANSFORMER model_parallel_NPU_group: 4", 0);
    assert_int_equal(ranks_of(&graph, "b forward all_reduce"), 4);
    assert_int_equal(ranks_of(&graph, "b weight gradient all_reduce"), 2);
    assert_true(waits(&graph, "b weight gradient", "b input gradient all_reduce")); /* blocks */
    assert_true(waits(&graph, "a weight gradient", "a input gradient reduce_scatter"));
    workload_graph_free(&graph);
}

/* checkpoints: how many, then which; from one to the layer that begins again. */
static void checkpoints_run_forward_again(void **state)
{
    (void)state;
    struct workload_graph graph =
        read_good("HYBRID_TRANSFORMER_FWD_IN_BCKWD\tcheckpoints: 1 0 checkpoint_initiates: 1 2\n3\n"
                  "a -1 10 NONE 0 20 NONE 0 30 NONE 0 1\n"
                  "b -1 11 NONE 0 21 NONE 0 31 NONE 0 1\n"
                  "c -1 12 NONE 0 22 NONE 0 32 NONE 0 1\n",
                  (struct workload_trace_options){.ranks = 8});
    uint64_t again_ps = 0;
    uint32_t again = 0;
    for (uint32_t i = 0; i < program(&graph)->op_count; i++)
        if (program(&graph)->ops[i].purpose == WORKLOAD_RECOMPUTE) {
            again_ps += program(&graph)->ops[i].time_ps;
            again++;
        }
    assert_int_equal(again, 2); /* a and b, before c's backward pass */
    assert_int_equal(again_ps, 21000);
    workload_graph_free(&graph);
}

static void micro_runs_the_weights_alone(void **state)
{
    (void)state;
    struct workload_graph graph = read_two("MICRO", 0);
    assert_int_equal(program(&graph)->op_count, 4);
    assert_true(waits(&graph, "b weight gradient", "a weight gradient all_reduce"));
    workload_graph_free(&graph);
}

static void dlrm_exchanges_embeddings_with_all(void **state)
{
    (void)state;
    struct workload_graph graph =
        read_good("HYBRID_DLRM\t1\t\n3\n"
                  "emb -1 300 ALLTOALL 512 301 ALLTOALL 256 302 NONE 0 98\n"
                  "bottom -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 64 13\n"
                  "top -1 11 NONE 0 21 NONE 0 31 ALLREDUCE 64 13\n",
                  (struct workload_trace_options){.ranks = 8});
    assert_false(waits(&graph, "bottom forward", "emb forward all_to_all"));
    assert_true(waits(&graph, "top forward", "emb forward all_to_all"));
    assert_true(waits(&graph, "emb input gradient all_to_all", "top input gradient"));
    assert_true(waits(&graph, "emb weight gradient", "emb input gradient all_to_all"));
    assert_int_equal(op_of(&graph, "emb input gradient all_to_all")->bytes, 256);
    workload_graph_free(&graph);
}

static void a_customised_table_has_a_policy_for_each_layer(void **state)
{
    (void)state;
    struct workload_graph graph =
        read_good("HYBRID_CUSTOMIZED\n3\n"
                  "a -1 1 ALLREDUCE 64 1 ALLREDUCE 64 1 ALLREDUCE 64 1 HYBRID_DATA_MODEL\n"
                  "b -1 1 ALLREDUCE 64 1 ALLREDUCE 64 1 ALLREDUCE 64 1 \t HYBRID_MODEL_DATA\n"
                  "c -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 1 DATA \n",
                  (struct workload_trace_options){.ranks = 8, .first_dimension = 2});
    assert_int_equal(ranks_of(&graph, "a forward all_reduce"), 2);
    assert_int_equal(ranks_of(&graph, "b forward all_reduce"), 4);
    assert_int_equal(ranks_of(&graph, "a weight gradient all_reduce"), 4);
    assert_int_equal(ranks_of(&graph, "b weight gradient all_reduce"), 2);
    assert_int_equal(ranks_of(&graph, "c weight gradient all_reduce"), 8);
    workload_graph_free(&graph);
}

static void inference_is_the_forward_pass(void **state)
{
    (void)state;
    struct workload_graph graph = read_two("DISTRIBUTED_INFERENCE", 0);
    assert_int_equal(program(&graph)->op_count, 4);
    assert_true(waits(&graph, "b forward", "a forward all_gather"));
    workload_graph_free(&graph);
}

/* ---- SimAI ----------------------------------------------------------------------------------- */

/* tp 2, ep 2, 8 ranks: dp 4 of stride 2; experts are two neighbours of dp. */
static void simai_has_groups_of_experts(void **state)
{
    (void)state;
    struct workload_graph graph =
        read_good("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 "
                  "ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0.0\n2\n"
                  "moe -1 1 ALLTOALL_EP 64 1 ALLGATHER 64 1 ALLGATHER_DP_EP 64 100\n"
                  "mlp -1 1.5 ALLREDUCE 64 1 NONE 16777216 1 REDUCESCATTER 0 100\n",
                  (struct workload_trace_options){.ranks = 0});
    assert_int_equal(graph.rank_count, 8);
    assert_int_equal(ranks_of(&graph, "moe forward all_to_all"), 2);
    assert_int_equal(graph.sets[op_of(&graph, "moe forward all_to_all")->set].rank_in[2], 1);
    assert_int_equal(ranks_of(&graph, "moe weight gradient all_gather"), 2);
    assert_int_equal(graph.sets[op_of(&graph, "moe weight gradient all_gather")->set].rank_in[4],
                     1);
    /* an all-gather states the whole result there */
    assert_int_equal(op_of(&graph, "moe input gradient all_gather")->bytes, 64);
    assert_int_equal(op_of(&graph, "mlp forward")->time_ps, 1500);
    assert_false(is_there(&graph, "mlp weight gradient reduce_scatter")); /* of no bytes */
    workload_graph_free(&graph);
}

static void simai_s_older_headers_lack_keys(void **state)
{
    (void)state;
    struct workload_graph graph =
        read_good("HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 8 checkpoints: 0 "
                  "checkpoint_initiates: 0\n1\nm\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLREDUCE\t64\t1",
                  (struct workload_trace_options){.ranks = 16});
    assert_int_equal(ranks_of(&graph, "m weight gradient all_reduce"), 2);
    workload_graph_free(&graph);
}

/* Two stages of two ranks; two microbatches, which begin with "embed". */
static void stages_pass_microbatches_on(void **state)
{
    (void)state;
    struct workload_graph graph =
        read_good("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 2 ga: 2 "
                  "all_gpus: 4 pp_comm 4096\n5\n"
                  "norm -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n"
                  "embed -1 1 NONE 0 1 NONE 0 1 NONE 0 0\nmlp -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n"
                  "embed -1 1 NONE 0 1 NONE 0 1 NONE 0 0\nmlp -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n",
                  (struct workload_trace_options){0});
    assert_int_equal(graph.program_count, 2);
    assert_int_equal(graph.program_of[1], graph.program_of[0]);
    assert_int_not_equal(graph.program_of[2], graph.program_of[0]);
    uint32_t sends[2] = {0}, receives[2] = {0};
    for (uint32_t p = 0; p < 2; p++)
        for (uint32_t i = 0; i < graph.programs[p].op_count; i++) {
            const struct workload_op *const op = &graph.programs[p].ops[i];
            sends[p] += op->kind == WORKLOAD_SEND;
            receives[p] += op->kind == WORKLOAD_RECV;
            if (op->kind == WORKLOAD_SEND)
                assert_int_equal(op->bytes, 4096);
        }
    assert_int_equal(sends[0], 2);    /* activations */
    assert_int_equal(receives[0], 2); /* gradients */
    assert_int_equal(sends[1], 2);
    assert_int_equal(receives[1], 2);
    workload_graph_free(&graph);
}

/* ---- refusals -------------------------------------------------------------------------------- */

#define LAYER "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"

static void mistakes_have_their_places(void **state)
{
    (void)state;
    refused("DATA\n1\na -1 1 ALLREDUCEALLTOALL 0 1 NONE 0 1 NONE 0 1\n",
            ":3:8: unknown collective: 'ALLREDUCEALLTOALL'", "legal: NONE, ALLREDUCE");
    refused("DATA\n1\na -1 1 allreduce 0 1 NONE 0 1 NONE 0 1\n", ":3:8: unknown collective",
            "legal");
    refused("DATA\n1\na -1 1 ALLREDUCE_TP 0 1 NONE 0 1 NONE 0 1\n", ":3:8: unknown collective",
            "_DP_EP");
    refused("DATA\n1\na 0 1 NONE 0 1 NONE 0 1 NONE 0 1\n", ":3:3: dependency: '0'", "legal: -1");
    refused("DATA\n1\na -1 -5 NONE 0 1 NONE 0 1 NONE 0 1\n", ":3:6: time: '-5'", "legal");
    refused("DATA\n1\na -1 1 NONE 0.5 1 NONE 0 1 NONE 0 1\n", ":3:13: bytes: '0.5'", "whole");
    refused("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0\n", ":3:32: update time: nothing", "legal");
    refused("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1 2\n", ":3:35: a column too many", "legal");
    refused("DATA\n2\n" LAYER, ":4: 1 layers, and line 2 says 2", "legal");
    refused("DATA\n1\n" LAYER LAYER, ":4:1: a line after the last layer", "legal");
    refused("DATA\n0\n", ":2:1: layers: '0'", "1 or more");
    refused("DATA\n", ":2", "number of layers is missing");
    refused("DATA tp: 4\n1\n" LAYER, ":1:6: unknown key: 'tp:'", "model_parallel_NPU_group");
    refused("HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\n" LAYER, ":1: model_parallel",
            "a divisor of 8");
    refused("HYBRID_TRANSFORMER pp: 2 pp_comm: 0\n1\n" LAYER, ":1: pp is more than 1", "pp_comm");
    refused("HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\n"
            "a -1 1 ALLTOALL_EP 8 1 NONE 0 1 NONE 0 1\n",
            ":1: collectives of experts", "ep: N");
    refused("HYBRID_TRANSFORMER_FWD_IN_BCKWD checkpoints: 1 5 checkpoint_initiates: 0\n1\n" LAYER,
            ":1: checkpoints: layer 5", "0 to 0");
    refused("HYBRID_TRANSFORMER_FWD_IN_BCKWD checkpoints: 0 checkpoint_initiates: 1 0\n1\n" LAYER,
            ":1: checkpoint_initiates: layer 0", "after a checkpoint");
    refused("HYBRID_CUSTOMIZED\n1\n" LAYER, ":3:34: policy of the layer", "HYBRID_DATA_MODEL");
    struct workload_graph graph;
    assert_int_equal(read_text("DATA\n1\n" LAYER, (struct workload_trace_options){0}, &graph),
                     CW_USAGE);
    assert_non_null(strstr(error.text, "how many ranks"));
    workload_graph_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_parallelism_reduces_weights_beside_the_backward_pass),
        cmocka_unit_test(model_parallelism_waits_in_the_forward_pass),
        cmocka_unit_test(hybrid_policies_divide_the_network_s_dimensions),
        cmocka_unit_test(a_transformer_names_its_model_s_ranks),
        cmocka_unit_test(checkpoints_run_forward_again),
        cmocka_unit_test(micro_runs_the_weights_alone),
        cmocka_unit_test(dlrm_exchanges_embeddings_with_all),
        cmocka_unit_test(a_customised_table_has_a_policy_for_each_layer),
        cmocka_unit_test(inference_is_the_forward_pass),
        cmocka_unit_test(simai_has_groups_of_experts),
        cmocka_unit_test(simai_s_older_headers_lack_keys),
        cmocka_unit_test(stages_pass_microbatches_on),
        cmocka_unit_test(mistakes_have_their_places)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
