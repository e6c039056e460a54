/*
 * test_model.c: the files of `workload new` (workload/model/write.h), read back: parameters,
 * operations, bytes and memory against the figures of the papers that STEPS.md names, and against
 * counts by hand.
 */
#include "test/support/test_config_support.h"

#include <math.h>

#include "workload/file/workload_file.h"
#include "workload/model/write.h"

/* ---- a plan as a graph ----------------------------------------------------------------------- */

/* A GPT without anything special; tests change what they are about. */
static struct model_plan gpt(uint32_t layers, uint32_t hidden, uint32_t heads, uint32_t sequence,
                             uint32_t vocab)
{
    return (struct model_plan){.kind = MODEL_GPT,
                               .dtype = DTYPE_BF16,
                               .grad_dtype = DTYPE_BF16,
                               .layers = layers,
                               .hidden = hidden,
                               .heads = heads,
                               .sequence = sequence,
                               .vocab = vocab,
                               .skew = "1",
                               .tp = 1,
                               .cp = 1,
                               .pp = 1,
                               .dp = 1,
                               .ep = 1,
                               .micro_batch = 1};
}

static struct workload_graph graph_with(struct model_plan plan, const char *setting)
{
    char *text = NULL;
    size_t bytes = 0;
    struct cw_error error = {.exit_code = CW_OK};
    struct workload_graph graph;
    if (model_plan_finish(&plan, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    FILE *const file = open_memstream(&text, &bytes);
    assert_non_null(file);
    model_write(file, &plan, "cubewarp workload new");
    fclose(file);
    const struct workload_file_request request = {.path = "made.yaml",
                                                  .text = text,
                                                  .bytes = bytes,
                                                  .settings = &setting,
                                                  .setting_count = setting != NULL};
    if (workload_file_read(&request, &graph, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    free(text);
    return graph;
}

static struct workload_graph graph_of(struct model_plan plan) { return graph_with(plan, NULL); }

/* Of the program's operations of this name; NULL: of all. */
struct sums {
    double count, bytes, flops;
};

static struct sums sums_of(const struct workload_graph *graph, uint32_t rank, const char *name)
{
    const struct workload_program *const program = &graph->programs[graph->program_of[rank]];
    struct sums sums = {0};
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct workload_op *const op = &program->ops[i];
        if (name != NULL && strcmp(graph->labels[op->label], name) != 0)
            continue;
        sums.count++;
        sums.bytes += (double)op->bytes;
        if (op->kind == WORKLOAD_ROOFLINE && op->matrix)
            sums.flops += (double)op->flops;
    }
    return sums;
}

/* Operations of matrix products of all ranks. */
static double flops_of_all(const struct workload_graph *graph)
{
    double flops = 0;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        flops += sums_of(graph, rank, NULL).flops;
    return flops;
}

static const struct workload_memory *memory_of(const struct workload_graph *graph, uint32_t rank)
{
    return &graph->memory[graph->program_of[rank]];
}

#define SAME(a, b) assert_true((double)(a) == (double)(b))

/* ---- parameters ------------------------------------------------------------------------------ */

/* GPT-3: 12 l h^2 + 13 l h + (V + s) h (Narayanan 2021, 5.1), 174.6 billion in its table 1; and 2 h
 * of the norm after the last layer. */
static void test_parameters_of_gpt_3(void **state)
{
    struct workload_graph graph = graph_of(gpt(96, 12288, 96, 2048, 51200));
    (void)state;
    assert_int_equal(memory_of(&graph, 0)->weights, 2 * (UINT64_C(174615822336) + 2 * 12288));
    workload_graph_free(&graph);
}

/* Mixtral 8x7B (Jiang et al. 2024, table 1: 32 layers of 4,096, 8 of 32 heads of keys and values,
 * 8 experts of three matrices 4,096 x 14,336): 46.7 billion, of which 0.13 are a head of its own.
 * Here it shares the embedding, and there are biases and positions. */
static void test_parameters_of_experts(void **state)
{
    struct model_plan plan = gpt(32, 4096, 32, 4096, 32000);
    plan.kind = MODEL_MOE;
    plan.kv_heads = 8;
    plan.ffn = 14336;
    plan.gated = true;
    plan.experts = 8;
    plan.top_k = 2;
    struct workload_graph graph = graph_of(plan);
    (void)state;
    /* 32 x (2.5 h^2 + 8 x 3 h f + 8 h) + 32,000 h; then biases, norms and positions:
     * 32 x (1.5 h + 3 h + 2 h + 8 x (2 f + h)) + 4,096 h + 2 h. */
    const uint64_t matrices =
        UINT64_C(32) * (41943040 + UINT64_C(8) * 176160768 + 32768) + 131072000;
    const uint64_t others =
        UINT64_C(32) * (6144 + 12288 + 8192 + 8 * (28672 + 4096)) + 16777216 + 8192;
    assert_int_equal(memory_of(&graph, 0)->weights, 2 * (matrices + others));
    assert_true(matrices + others > UINT64_C(46500000000) &&
                matrices + others < UINT64_C(46800000000));
    workload_graph_free(&graph);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* 96 B s l h^2 (1 + s / 6h + V / 16 l h) with full recomputation (Narayanan 2021, 5.1 and
 * appendix), whatever the ranks. */
static void test_operations_of_a_step(void **state)
{
    /* 96 x 8 x 512 x 4 x 1,024^2 x (1 + 1/12 + 1/8) */
    const double full = 1649267441664.0 / 24 * 29;
    /* 72 x ... x (1 + 1/12) + 6 B s h V */
    const double model = 1236950581248.0 / 12 * 13 + 6.0 * 8 * 512 * 1024 * 8192;
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct model_plan plan = gpt(4, 1024, 16, 512, 8192);
        plan.global_batch = 8;
        plan.recompute = RECOMPUTE_FULL;
        plan.tp = i == 1 || i == 3 ? 2 : 1;
        plan.pp = i == 1 ? 2 : 1;
        plan.dp = i == 1 ? 2 : 1;
        plan.cp = i >= 2 ? 4 : 1;
        struct workload_graph graph = graph_of(plan);
        SAME(flops_of_all(&graph), full);
        SAME(graph.quotes.model_flops, model);
        SAME(graph.quotes.tokens, 8 * 512);
        workload_graph_free(&graph);
        plan.recompute = RECOMPUTE_NONE;
        plan.kernels = KERNELS_LAYERS;
        graph = graph_of(plan);
        SAME(flops_of_all(&graph), model);
        workload_graph_free(&graph);
        plan.recompute = RECOMPUTE_SELECTIVE;
        graph = graph_of(plan);
        SAME(flops_of_all(&graph), model + 4.0 * 8 * 512 * 512 * 1024 * 4); /* 4 B s^2 h l */
        workload_graph_free(&graph);
    }
}

/* Two of eight experts: twice a feed-forward block, and the router; the first rank of ep has 1.5 of
 * the mean, the three others 2.5 / 3. What exceeds a capacity is dropped. */
static void test_operations_of_experts(void **state)
{
    struct model_plan plan = gpt(2, 512, 8, 256, 4096);
    plan.kind = MODEL_MOE;
    plan.experts = 8;
    plan.top_k = 2;
    plan.dp = 8;
    plan.ep = 4;
    plan.skew = "1.5";
    struct workload_graph graph = graph_of(plan);
    (void)state;
    const double expert = 16.0 * 256 * 512 * 512; /* of a rank's tokens, through one expert */
    SAME(sums_of(&graph, 0, "experts forward").flops, 2 * 2 * 1.5 * expert);
    assert_true(fabs(sums_of(&graph, 1, "experts forward").flops - 2 * 2 * 2.5 / 3 * expert) <= 2);
    SAME(sums_of(&graph, 0, "experts backward").flops, 2 * 2 * 2 * 1.5 * expert);
    SAME(sums_of(&graph, 5, "router forward").flops, 2 * 2.0 * 256 * 512 * 8);
    assert_true(fabs(flops_of_all(&graph) - graph.quotes.model_flops) <= 64);
    /* Both passes, two layers: room for 1.5 x 2 x 256 tokens of 2 x 512 bytes. */
    SAME(sums_of(&graph, 0, "dispatch").bytes, 4 * 1.5 * 2 * 256 * 1024);
    SAME(sums_of(&graph, 0, "combine").bytes, 4 * 1.5 * 2 * 256 * 1024);
    workload_graph_free(&graph);
    plan.capacity = "1.25";
    graph = graph_of(plan);
    SAME(sums_of(&graph, 0, "experts forward").flops, 2 * 2 * 1.25 * expert);
    SAME(sums_of(&graph, 0, "dispatch").bytes, 4 * 1.25 * 2 * 256 * 1024);
    workload_graph_free(&graph);
}

/* ---- activations ----------------------------------------------------------------------------- */

/* What a layer more of it keeps. */
static uint64_t kept(struct model_plan plan)
{
    uint64_t bytes[2];
    for (uint32_t i = 0; i < 2; i++) {
        plan.layers = 1 + i;
        struct workload_graph graph = graph_of(plan);
        bytes[i] = memory_of(&graph, 0)->activations;
        workload_graph_free(&graph);
    }
    return bytes[1] - bytes[0];
}

/* Korthikanti 2022, table 2, for s = 2,048, b = 1, h = 12,288, a = 96, t = 8: 5 a s / h = 80. */
static void test_activations_of_a_layer(void **state)
{
    static const struct {
        uint32_t tp;
        bool sequence_parallel;
        enum model_recompute recompute;
        uint64_t quarters; /* of s b h bytes */
    } rows[] = {
        {1, false, RECOMPUTE_NONE, 4 * (34 + 80)},
        {8, false, RECOMPUTE_NONE, 4 * (10 + 24 / 8 + 80 / 8)},
        {8, true, RECOMPUTE_NONE, (34 + 80) / 2},
        {8, false, RECOMPUTE_SELECTIVE, 4 * (10 + 24 / 8)},
        {8, true, RECOMPUTE_SELECTIVE, 34 / 2},
        {1, false, RECOMPUTE_FULL, 4 * 2},
        {8, false, RECOMPUTE_FULL, 4 * 2},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct model_plan plan = gpt(1, 12288, 96, 2048, 51200);
        plan.tp = rows[i].tp;
        plan.sequence_parallel = rows[i].sequence_parallel;
        plan.recompute = rows[i].recompute;
        assert_int_equal(kept(plan), UINT64_C(2048) * 12288 / 4 * rows[i].quarters);
    }
}

/* Llama's feed-forward block: three matrices, a quarter of the heads for keys and values.
 * 2 + 2 + 1 + 2 + 2 + 2 x 2 / 4 of attention, 2 + 2 + 1 and 3 x 2 f / h; f = 3.5 h. */
static void test_activations_of_a_gated_layer(void **state)
{
    struct model_plan plan = gpt(1, 4096, 32, 1024, 32000);
    (void)state;
    plan.kv_heads = 8;
    plan.ffn = 14336;
    plan.gated = true;
    plan.recompute = RECOMPUTE_SELECTIVE;
    assert_int_equal(kept(plan), UINT64_C(1024) * 4096 * (10 + 5 + 21));
}

/* 1F1B: min(m, p - stage) microbatches of l / p layers; GPipe: all m; interleaved in v chunks, the
 * first stage: l (1 + (p - 1) / (p v)) layers (Korthikanti 2022, 4.3). */
static void test_activations_of_schedules(void **state)
{
    const uint64_t layer = UINT64_C(512) * 1024 * (34 + 5 * 16 / 2); /* a s / h = 8 */
    const uint64_t embedding = UINT64_C(512) * 1024;                 /* a mask */
    const uint64_t head = UINT64_C(512) * (4 * 1024 + 4 * 8192);
    static const struct {
        enum model_schedule schedule;
        uint32_t batch, layers[4], embeddings;
    } rows[] = {
        {SCHEDULE_1F1B, 8, {24, 18, 12, 6}, 4},
        {SCHEDULE_1F1B, 2, {12, 12, 12, 6}, 2},
        {SCHEDULE_GPIPE, 8, {48, 48, 48, 48}, 8},
        /* 24 (1 + 3 / 12); a stage later 2 passes of 2 layers less */
        {SCHEDULE_INTERLEAVED, 8, {30, 26, 22, 18}, 15},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct model_plan plan = gpt(24, 1024, 16, 512, 8192);
        plan.pp = 4;
        plan.global_batch = rows[i].batch;
        plan.schedule = rows[i].schedule;
        plan.chunks = rows[i].schedule == SCHEDULE_INTERLEAVED ? 3 : 1;
        struct workload_graph graph = graph_of(plan);
        for (uint32_t stage = 0; stage < 4; stage++)
            assert_int_equal(memory_of(&graph, stage)->activations,
                             rows[i].layers[stage] * layer +
                                 (stage == 0 ? rows[i].embeddings * embedding : 0) +
                                 (stage == 3 ? head : 0));
        workload_graph_free(&graph);
    }
}

/* ---- weights, gradients, optimizer ----------------------------------------------------------- */

/* Rajbhandari 2020, figure 1, with K = 12 and N = 64: 16, 4 + 12 / 64, 2 + 14 / 64 and 16 / 64
 * bytes a parameter. Of 7.5 billion: 120, 31.4, 16.6 and 1.9 GB. */
static void test_stages_of_zero(void **state)
{
    static const uint64_t sixty_fourths[] = {16 * 64, 4 * 64 + 12, 2 * 64 + 14, 16};
    (void)state;
    for (uint32_t zero = 0; zero < 4; zero++) {
        struct model_plan plan = gpt(4, 1024, 16, 512, 8192);
        plan.dp = 64;
        plan.zero = zero;
        struct workload_graph graph = graph_of(plan);
        const struct workload_memory *const memory = memory_of(&graph, 0);
        /* 12 l h^2 + 13 l h + (V + s + 2) h, a multiple of 64 */
        const uint64_t parameters = 4 * (12 * 1048576 + 13 * 1024) + (8192 + 512 + 2) * 1024;
        assert_int_equal(memory->weights + memory->gradients + memory->optimizer,
                         parameters / 64 * sixty_fourths[zero]);
        workload_graph_free(&graph);
    }
    struct model_plan plan = gpt(4, 1024, 16, 512, 8192);
    plan.grad_dtype = DTYPE_F32;
    struct workload_graph graph = graph_of(plan);
    assert_int_equal(memory_of(&graph, 0)->gradients, 2 * memory_of(&graph, 0)->weights);
    workload_graph_free(&graph);
}

/* ---- communication --------------------------------------------------------------------------- */

/* Two all-reduces a layer and pass (Shoeybi 2019, 3), as many all-gathers and reduce-scatters with
 * sequence parallelism, and backward an all-gather more (Korthikanti 2022, 4.2.2). */
static void test_collectives_of_tp(void **state)
{
    struct model_plan plan = gpt(6, 1024, 16, 512, 8192);
    const double tokens = 2.0 * 2 * 512 * 1024; /* of a microbatch, in bytes */
    (void)state;
    plan.tp = 4;
    plan.micro_batch = 2;
    plan.global_batch = 6;
    struct workload_graph graph = graph_of(plan);
    SAME(sums_of(&graph, 0, "join attention").count, 2 * 6 * 3);
    SAME(sums_of(&graph, 0, "join feed-forward").bytes, 2 * 6 * 3 * tokens);
    SAME(sums_of(&graph, 0, "join embedding").bytes, 3 * tokens);
    SAME(sums_of(&graph, 0, "gather tokens").count, 0);
    workload_graph_free(&graph);
    plan.sequence_parallel = true;
    graph = graph_of(plan);
    SAME(sums_of(&graph, 0, "join attention").bytes, 2 * 6 * 3 * tokens);
    SAME(sums_of(&graph, 0, "gather tokens").bytes, (2 * 6 + 1) * 3 * tokens); /* and the head's */
    SAME(sums_of(&graph, 0, "gather gradients").bytes, 2 * 6 * 3 * tokens);
    SAME(sums_of(&graph, 0, "gather tokens again").bytes, 2 * 6 * 3 * tokens);
    workload_graph_free(&graph);
}

/* Messages between stages: b s h elements, each rank of tp its part with sequence parallelism. */
static void test_messages_of_a_pipeline(void **state)
{
    struct model_plan plan = gpt(4, 1024, 16, 512, 8192);
    (void)state;
    plan.tp = 2;
    plan.pp = 4;
    plan.global_batch = 8;
    for (uint32_t shared = 0; shared < 2; shared++) {
        plan.sequence_parallel = shared;
        struct workload_graph graph = graph_of(plan);
        SAME(sums_of(&graph, 2, "send forward").bytes, 8 * 2 * 512 * 1024 / (1 + shared));
        SAME(sums_of(&graph, 2, "send backward").bytes, 8 * 2 * 512 * 1024 / (1 + shared));
        SAME(sums_of(&graph, 0, "send backward").count, 0);
        SAME(sums_of(&graph, 6, "send forward").count, 0);
        /* The copies of the embedding: V h / t. */
        SAME(sums_of(&graph, 0, "embedding sent").bytes, 2.0 * 8192 * 1024 / 2);
        SAME(sums_of(&graph, 6, "embedding received").bytes, 2.0 * 8192 * 1024 / 2);
        SAME(sums_of(&graph, 2, "embedding sent").count, 0);
        workload_graph_free(&graph);
    }
}

/* A rank's parameters once in each collective: all-reduce; reduce-scatter and all-gather; from
 * ZeRO 2 on reduce-scatter of each microbatch; ZeRO 3 gathers a layer before each of its passes. */
static void test_volume_of_zero(void **state)
{
    struct model_plan plan = gpt(4, 1024, 16, 512, 8192);
    const double layers = 2.0 * 4 * (12 * 1048576 + 13 * 1024);
    const double others = 2.0 * (8192 + 512 + 2) * 1024;
    (void)state;
    plan.dp = 4;
    plan.global_batch = 12;
    for (uint32_t zero = 0; zero < 4; zero++) {
        plan.zero = zero;
        struct workload_graph graph = graph_of(plan);
        SAME(sums_of(&graph, 0, "gradients").bytes, layers * (zero >= 2 ? 3 : 1) + others);
        SAME(sums_of(&graph, 0, "new weights").bytes, zero == 1 || zero == 2 ? layers + others : 0);
        SAME(sums_of(&graph, 0, "weights").bytes, zero == 3 ? 2 * 3 * layers : 0);
        workload_graph_free(&graph);
    }
    /* In two buckets of two layers; and after the backward pass. */
    plan.zero = 0;
    plan.buckets = 2;
    struct workload_graph graph = graph_of(plan);
    SAME(sums_of(&graph, 0, "gradients").count, 2 + 1);
    SAME(sums_of(&graph, 0, "gradients").bytes, layers + others);
    workload_graph_free(&graph);
    plan.buckets = 0;
    plan.no_overlap = true;
    graph = graph_of(plan);
    SAME(sums_of(&graph, 0, "gradients").count, 1);
    SAME(sums_of(&graph, 0, "gradients").bytes, layers + others);
    workload_graph_free(&graph);
}

/* Of c ranks each sends its block of keys and values c - 1 times forward; backward so often again,
 * and the gradients of a block c times. */
static void test_ring_of_a_context(void **state)
{
    struct model_plan plan = gpt(3, 1024, 16, 512, 8192);
    const double block = 2 * 2.0 * 512 / 4 * 1024 / 2; /* keys and values, s / c, h / t */
    (void)state;
    plan.tp = 2;
    plan.cp = 4;
    struct workload_graph graph = graph_of(plan);
    SAME(sums_of(&graph, 0, "block sent").bytes, 3 * (3 + 3 + 4) * block);
    SAME(sums_of(&graph, 5, "block received").bytes, 3 * (3 + 3 + 4) * block);
    workload_graph_free(&graph);
    plan.recompute = RECOMPUTE_FULL;
    plan.kv_heads = 4;
    graph = graph_of(plan);
    SAME(sums_of(&graph, 0, "block sent").bytes, 3 * (3 + 3 + 3 + 4) * block / 4);
    workload_graph_free(&graph);
}

/* ---- inference ------------------------------------------------------------------------------- */

/* Llama 2 70B (Touvron et al. 2023): 80 layers, 8 heads of 128 for keys and values in bf16 are
 * 320 KiB a token. */
static struct model_plan llama(void)
{
    struct model_plan plan = gpt(80, 8192, 64, 1000, 32000);
    plan.kind = MODEL_INFERENCE;
    plan.kv_heads = 8;
    plan.ffn = 28672;
    plan.gated = true;
    plan.tokens = 24;
    plan.global_batch = 4;
    plan.micro_batch = 0;
    return plan;
}

static void test_cache_of_llama(void **state)
{
    struct model_plan plan = llama();
    (void)state;
    struct workload_graph graph = graph_of(plan);
    assert_int_equal(memory_of(&graph, 0)->cache, UINT64_C(320) * 1024 * 4 * 1024);
    assert_true(memory_of(&graph, 0)->weights / 2 > UINT64_C(68600000000) &&
                memory_of(&graph, 0)->weights / 2 < UINT64_C(68900000000));
    workload_graph_free(&graph);
    plan.tp = 8;
    plan.pp = 2;
    plan.dp = 2;
    graph = graph_of(plan);
    assert_int_equal(memory_of(&graph, 0)->cache, UINT64_C(10) * 1024 * 4 * 1024);
    workload_graph_free(&graph);
}

/* Of each token 2 of every parameter in a matrix, and 4 h of each token before it and itself. The
 * head: of the prompt's last token. */
static void test_operations_of_an_inference(void **state)
{
    const double layer = 2.25 * 8192 * 8192 + 3.0 * 8192 * 28672;
    const double tokens = 1000 + 23, pairs = 1000.0 * 1000 + (1001 + 1023) / 2.0 * 23;
    const double flops =
        4 * (80 * (2 * layer * tokens + 4 * 8192 * pairs) + 24 * 2.0 * 8192 * 32000);
    struct model_plan plan = llama();
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        plan.tp = i == 1 ? 4 : 1;
        plan.pp = i == 1 ? 2 : 1;
        plan.micro_batch = i == 1 ? 1 : 0;
        plan.kernels = i == 2 ? KERNELS_LAYERS : KERNELS_BLOCKS;
        struct workload_graph graph = graph_of(plan);
        SAME(graph.quotes.model_flops, flops);
        SAME(graph.quotes.tokens, 4 * 24);
        SAME(graph.quotes.first_tokens, 4);
        SAME(graph.quotes.next_tokens, 23);
        SAME(flops_of_all(&graph), flops);
        workload_graph_free(&graph);
    }
    plan.micro_batch = 0;
    plan.cp = 2;
    plan.kernels = KERNELS_BLOCKS;
    struct workload_graph graph = graph_of(plan);
    /* The ring halves the prefill; a decode's scores alone are parted. */
    SAME(sums_of(&graph, 0, "scores").flops, 4 * 80 * 4 * 8192.0 * 1000 * 1000 / 2);
    SAME(sums_of(&graph, 0, "merge").bytes, 23 * 80 * 4 * 4.0 * (8192 + 2 * 64));
    workload_graph_free(&graph);
}

/* A decode reads weights and cache: of a layer 2 bytes of each parameter, and 2 x 2 x h / 8 of each
 * token of the context. */
static void test_a_decode_reads_its_cache(void **state)
{
    struct model_plan plan = llama();
    (void)state;
    plan.tokens = 2;
    struct workload_graph one = graph_of(plan);
    plan.sequence = 2000;
    struct workload_graph two = graph_of(plan);
    SAME(sums_of(&two, 0, "attention of a token").bytes -
             sums_of(&one, 0, "attention of a token").bytes,
         80 * 4.0 * 1000 * 2 * 2 * 8192 / 8);
    workload_graph_free(&one);
    workload_graph_free(&two);
}

/* ---- attention ------------------------------------------------------------------------------- */

/* The records' panels: a ring of 8, or of 4; queries of a prefill, 16, or of a decode, 1; blocks of
 * 16 keys of 64 elements. */
static void test_rings_of_the_records(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t ranks = i % 2 == 0 ? 8 : 4, queries = i / 2 == 0 ? 16 : 1;
        struct model_plan plan = gpt(0, 0, 1, queries, 0);
        plan.kind = MODEL_ATTENTION;
        plan.global_batch = 1;
        plan.cp = ranks;
        plan.keys = 16 * ranks;
        plan.head_dim = 64;
        struct workload_graph graph = graph_of(plan);
        for (uint32_t rank = 0; rank < ranks; rank++) {
            SAME(sums_of(&graph, rank, "scores").count, ranks);
            SAME(sums_of(&graph, rank, "scores").flops, ranks * 2.0 * 2 * queries * 16 * 64);
            SAME(sums_of(&graph, rank, "merge").count, ranks - 1);
            SAME(sums_of(&graph, rank, "block sent").bytes, (ranks - 1) * 2 * 2.0 * 16 * 64);
            SAME(sums_of(&graph, rank, "block received").count, ranks - 1);
        }
        workload_graph_free(&graph);
    }
}

/* ---- values can be changed ------------------------------------------------------------------- */

/* A file of tp 1 with tp set to 4 is the file of tp 4. */
static void test_a_value_changes_all_that_follows(void **state)
{
    struct model_plan plan = gpt(4, 1024, 16, 512, 8192);
    (void)state;
    plan.pp = 2;
    plan.global_batch = 4;
    struct workload_graph set = graph_with(plan, "workload.parallel.tp=4");
    plan.tp = 4;
    struct workload_graph made = graph_of(plan);
    assert_int_equal(set.rank_count, 8);
    assert_int_equal(set.program_count, made.program_count);
    for (uint32_t p = 0; p < made.program_count; p++) {
        const struct workload_program *const a = &set.programs[p], *const b = &made.programs[p];
        assert_int_equal(a->op_count, b->op_count);
        for (uint32_t i = 0; i < a->op_count; i++) {
            assert_int_equal(a->ops[i].bytes, b->ops[i].bytes);
            assert_int_equal(a->ops[i].flops, b->ops[i].flops);
        }
        assert_memory_equal(&set.memory[p], &made.memory[p], sizeof *set.memory);
    }
    workload_graph_free(&set);
    workload_graph_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters_of_gpt_3),
        cmocka_unit_test(test_parameters_of_experts),
        cmocka_unit_test(test_operations_of_a_step),
        cmocka_unit_test(test_operations_of_experts),
        cmocka_unit_test(test_activations_of_a_layer),
        cmocka_unit_test(test_activations_of_a_gated_layer),
        cmocka_unit_test(test_activations_of_schedules),
        cmocka_unit_test(test_stages_of_zero),
        cmocka_unit_test(test_collectives_of_tp),
        cmocka_unit_test(test_messages_of_a_pipeline),
        cmocka_unit_test(test_volume_of_zero),
        cmocka_unit_test(test_ring_of_a_context),
        cmocka_unit_test(test_cache_of_llama),
        cmocka_unit_test(test_operations_of_an_inference),
        cmocka_unit_test(test_a_decode_reads_its_cache),
        cmocka_unit_test(test_rings_of_the_records),
        cmocka_unit_test(test_a_value_changes_all_that_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
