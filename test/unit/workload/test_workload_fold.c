/*
 * test_workload_fold.c: steps that are the same after turns of a machine, by construction, take the
 * same times folded, with operations replayed, and neither folded nor replayed; after a change of
 * one rank they do not fold.
 *
 * FOLD_SEED and FOLD_SEEDS choose the seeds.
 */
#include <inttypes.h>

#include "test/support/random_model.h"
#include "test/support/test_dist_support.h"
#include "test/support/test_step_support.h"

enum { SIPS_MAX = 16, OPS_MAX = 12, FOLDING_SEED = 1 };

struct draw {
    struct cw_rng rng;
    uint32_t w, h;           /* of the torus; h 1: a ring */
    uint32_t step_x, step_y; /* of the turns that the graph keeps */
    uint32_t ops[SIPS_MAX];  /* of each rank, so far */
    uint32_t rank[SIPS_MAX]; /* on each SIP */
    uint32_t sets;
    bool names_algorithms; /* of sets, on even seeds */
};

static uint32_t below(struct draw *draw, uint32_t n) { return cw_rng_below(&draw->rng, n); }

static uint32_t divisor_of(struct draw *draw, uint32_t n)
{
    uint32_t divisor;
    do
        divisor = 1 + below(draw, n);
    while (n % divisor != 0);
    return divisor;
}

static uint32_t rank_at(const struct draw *draw, uint32_t x, uint32_t y)
{
    return draw->rank[y % draw->h * draw->w + x % draw->w];
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Groups of `across` x `down` SIPs next to each other; the ranks of all groups are in one order. */
static void add_blocks(struct draw *draw, struct workload_graph *graph, const char *name,
                       uint32_t across, uint32_t down)
{
    uint32_t ranks[SIPS_MAX], first[SIPS_MAX + 1] = {0}, groups = 0, at = 0;
    const uint32_t size = across * down, from = below(draw, size);
    for (uint32_t y = 0; y < draw->h; y += down)
        for (uint32_t x = 0; x < draw->w; x += across) {
            for (uint32_t i = 0; i < size; i++) {
                const uint32_t place = (from + i) % size;
                ranks[at++] = rank_at(draw, x + place % across, y + place / across);
            }
            first[++groups] = at;
        }
    (void)workload_add_set(graph, name, groups, first, ranks);
    draw->sets++;
}

static void add_op(struct draw *draw, struct workload_graph *graph, uint32_t rank,
                   struct workload_op op, const uint32_t after[2], uint32_t stream)
{
    static const char *const streams[] = {"s0", "s1", "s2", "receives"};
    op.stream = (uint16_t)workload_add_stream(graph, streams[stream]);
    if (stream == 3)
        graph->streams[op.stream].order = WORKLOAD_AT_ONCE;
    op.label = workload_add_label(graph, "op");
    op.layer = op.microbatch = -1;
    op.kernels = 1;
    op.id = draw->ops[rank];
    (void)workload_add_op(graph, rank, &op);
    for (uint32_t k = 0; k < 2; k++)
        if (draw->ops[rank] > 0 && after[k] > 0)
            assert_true(workload_add_dep(graph, rank,
                                         draw->ops[rank] - 1 - (after[k] - 1) % draw->ops[rank]));
    draw->ops[rank]++;
}

static struct workload_op draw_collective(struct draw *draw)
{
    static const uint8_t collectives[] = {CCL_ALL_REDUCE, CCL_ALL_GATHER, CCL_ALL_TO_ALL,
                                          CCL_REDUCE_SCATTER};
    return (struct workload_op){.kind = WORKLOAD_COLLECTIVE,
                                .collective = collectives[below(draw, 4)],
                                .redop = REDOP_SUM,
                                .dtype = DTYPE_BF16,
                                .set = below(draw, draw->sets),
                                .bytes = 64u << below(draw, 9)};
}

static struct workload_op draw_computation(struct draw *draw)
{
    struct workload_op op = takes_ps(1000ull * below(draw, 4000), WORKLOAD_OTHER);
    const uint32_t kind = below(draw, 3);
    op.dtype = DTYPE_BF16;
    if (kind == 1) {
        op.kind = WORKLOAD_ROOFLINE;
        op.flops = below(draw, 4) * 100000;
        op.bytes = below(draw, 4) * 10000;
    } else if (kind == 2) {
        op.kind = WORKLOAD_PRODUCT;
        for (uint32_t i = 0; i < 3; i++)
            op.side[i] = 1 + below(draw, 64);
    }
    return op;
}

/* The ranks of one class compute, or send to the ranks so far from them; or all ranks make a call.
 */
static void add_template(struct draw *draw, struct workload_graph *graph)
{
    const uint32_t what = below(draw, 3), after[2] = {below(draw, 4), below(draw, 3)};
    const uint32_t stream = below(draw, 3), at_once = 3, none[2] = {0, 0};
    const uint32_t class_x = below(draw, draw->step_x), class_y = below(draw, draw->step_y);
    const uint32_t dx = below(draw, draw->w), dy = below(draw, draw->h), tag = below(draw, 2);
    const uint64_t bytes = 64u << below(draw, 10);
    const struct workload_op call = draw_collective(draw), computation = draw_computation(draw);
    for (uint32_t y = 0; y < draw->h; y++)
        for (uint32_t x = 0; x < draw->w; x++) {
            const uint32_t rank = rank_at(draw, x, y), peer = rank_at(draw, x + dx, y + dy);
            const bool in_class = x % draw->step_x == class_x && y % draw->step_y == class_y;
            struct workload_op op = message(WORKLOAD_SEND, 0, peer, tag);
            op.bytes = bytes;
            if (what == 0)
                add_op(draw, graph, rank, call, after, stream);
            else if (what == 1 && in_class)
                add_op(draw, graph, rank, computation, after, stream);
            else if (what == 2 && in_class && peer != rank)
                add_op(draw, graph, rank, op, after, stream);
        }
    for (uint32_t y = 0; y < draw->h && what == 2; y++)
        for (uint32_t x = 0; x < draw->w; x++) {
            const uint32_t rank = rank_at(draw, x, y), peer = rank_at(draw, x + dx, y + dy);
            struct workload_op op = message(WORKLOAD_RECV, 0, rank, tag);
            op.bytes = bytes;
            if (x % draw->step_x == class_x && y % draw->step_y == class_y && peer != rank)
                add_op(draw, graph, peer, op, none, at_once);
        }
}

static void draw_places(struct draw *draw, struct workload_graph *graph)
{
    const uint32_t sips = draw->w * draw->h;
    const bool mixed = below(draw, 4) == 0;
    graph->sip_of = malloc(sips * sizeof *graph->sip_of);
    assert_non_null(graph->sip_of);
    for (uint32_t sip = 0; sip < sips; sip++) {
        const uint32_t at = mixed ? below(draw, sip + 1) : sip;
        draw->rank[sip] = draw->rank[at];
        draw->rank[at] = sip;
    }
    for (uint32_t sip = 0; sip < sips; sip++)
        graph->sip_of[draw->rank[sip]] = sip;
}

/* Kernels, and schedules that are made in parts, for the sets that are reduced. */
static void name_algorithms(struct draw *draw, struct workload_graph *graph)
{
    static const char *const names[] = {"ring_allreduce", "tree_allreduce", "ring_rs_ag",
                                        "torus_rs_ag"};
    for (uint32_t i = 0; i < graph->programs[0].op_count; i++) {
        const struct workload_op *const op = &graph->programs[0].ops[i];
        if (op->kind == WORKLOAD_COLLECTIVE && op->collective == CCL_ALL_REDUCE &&
            graph->sets[op->set].algorithm == NULL)
            graph->sets[op->set].algorithm = strdup(names[below(draw, 4)]);
    }
}

static void draw_graph(struct draw *draw, struct workload_graph *graph)
{
    const uint32_t sips = draw->w * draw->h;
    make_ranks(graph, sips);
    for (uint32_t rank = 0; rank < sips; rank++) {
        graph->program_of[rank] = workload_add_program(graph, "rank");
        draw->ops[rank] = 0;
    }
    draw_places(draw, graph);
    draw->sets = 0;
    (void)add_world(graph, "all");
    draw->sets++;
    add_blocks(draw, graph, "rows", draw->w, 1);
    add_blocks(draw, graph, "columns", 1, draw->h);
    add_blocks(draw, graph, "blocks", divisor_of(draw, draw->step_x),
               divisor_of(draw, draw->step_y));
    for (uint32_t k = 3 + below(draw, OPS_MAX); k > 0; k--) {
        const struct cw_rng first = draw->rng;
        add_template(draw, graph);
        for (uint32_t more = k % 3 == 0 ? 3 : 0; more > 0; more--) { /* operations to replay */
            draw->rng = first;
            add_template(draw, graph);
        }
    }
    if (draw->names_algorithms)
        name_algorithms(draw, graph);
    struct cw_error error = {.exit_code = CW_OK};
    if (workload_graph_check(graph, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct config *draw_machine(struct draw *draw)
{
    static const uint32_t shapes[][2] = {{4, 1}, {6, 1}, {8, 1}, {4, 2}, {4, 4}, {6, 2}, {3, 3}};
    const uint32_t *const shape = shapes[below(draw, 7)];
    char topology[64], count[64], w[64], h[64], mesh[64];
    draw->w = shape[0];
    draw->h = shape[1];
    draw->step_x = divisor_of(draw, draw->w);
    draw->step_y = divisor_of(draw, draw->h);
    const bool full = draw->h == 1 && below(draw, 3) == 0, switched = below(draw, 4) == 0;
    snprintf(topology, sizeof topology, "system.sips.topology=%s",
             switched      ? "switch"
             : draw->h > 1 ? "torus_2d"
             : full        ? "fully_connected"
                           : "ring_1d");
    snprintf(count, sizeof count, "system.sips.count=%u", draw->w * draw->h);
    snprintf(w, sizeof w, "system.sips.w=%u", draw->w);
    snprintf(h, sizeof h, "system.sips.h=%u", draw->h);
    snprintf(mesh, sizeof mesh, "sip.cube_mesh.w=%u", 1 + below(draw, 2));
    const char *const settings[] = {topology, count, mesh, "sip.cube_mesh.h=1", w, h};
    return must_load(
        &(struct config_request){.sets = settings, .set_count = draw->h > 1 && !switched ? 6 : 4});
}

/* A folded step that fails runs again on the whole machine. */
static int count_machine(void *arg, struct dist *machine, struct cw_error *error)
{
    (void)machine;
    (void)error;
    ++*(uint32_t *)arg;
    return CW_OK;
}

static int run(const struct config *config, const struct workload_graph *graph,
               struct step_modes modes, enum step_fold fold, bool replays,
               const struct cw_config *engine, struct step_result *result, char text[512])
{
    struct cw_error error = {.exit_code = CW_OK};
    uint32_t machines = 0;
    const struct step_options options = {
        .config = config,
        .graph = graph,
        .modes = modes,
        .fold = fold,
        .dist = {.machine = {.engine = *engine, .replay = replays}, .arg = &machines},
        .begins = count_machine};
    const int code = step_run(&options, result, &error);
    const bool has_ties = code == CW_OK && strstr(result->folded.why, "at one instant") != NULL;
    if (code == CW_OK && machines > (has_ties ? 2 : 1))
        fail_msg("the folded step has failed, and the whole one has not");
    if (code != CW_OK)
        snprintf(text, 512, "%.500s", cw_error_text(&error));
    return code;
}

static void fail_seed(uint64_t seed, const char *which, const char *text)
{
    fail_msg("FOLD_SEED=%llu FOLD_SEEDS=1, %s: %s", (unsigned long long)seed, which, text);
}

static void expect_same(uint64_t seed, const struct workload_graph *graph,
                        const struct step_result *expected, const struct step_result *got)
{
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        for (uint32_t i = 0; i < graph->programs[graph->program_of[rank]].op_count; i++) {
            const struct step_span *const a = &step_spans_of(expected, rank)[i];
            const struct step_span *const b = &step_spans_of(got, rank)[i];
            char text[300];
            if (memcmp(a, b, sizeof *a) == 0)
                continue;
            snprintf(text, sizeof text,
                     "rank %u operation %u of %u SIPs: ready %lld start %lld met %lld end %lld, "
                     "not %lld %lld %lld %lld",
                     rank, i, got->folded.sips, (long long)b->ready_ps, (long long)b->start_ps,
                     (long long)b->met_ps, (long long)b->end_ps, (long long)a->ready_ps,
                     (long long)a->start_ps, (long long)a->met_ps, (long long)a->end_ps);
            fail_seed(seed, "folded", text);
        }
    assert_true(got->step_ps == expected->step_ps);
}

/* How many SIPs were simulated of the least that the construction allows. */
struct counts {
    uint32_t steps, folded, fully;
    uint64_t replayed; /* operations of folded steps */
};

static void one_step(uint64_t seed, struct counts *counts)
{
    struct draw draw = {.rng = cw_rng_seeded(seed, 11), .names_algorithms = seed % 2 == 0};
    struct workload_graph graph = {0};
    struct step_result whole, folded;
    char text[512], folded_text[512];
    struct config *const config = draw_machine(&draw);
    draw_graph(&draw, &graph);
    const struct step_modes modes = {.free_launches = below(&draw, 4) == 0,
                                     .free_communication = below(&draw, 6) == 0,
                                     .one_at_a_time = below(&draw, 4) == 0,
                                     .in_program_order = below(&draw, 4) != 0};
    const struct cw_config sequential = {.sync = CW_SEQUENTIAL, .worker_count = 1};
    const struct cw_config parallel = {.sync = CW_OPTIMISTIC, .worker_count = 2};
    const int code = run(config, &graph, modes, STEP_FOLD_OFF, false, &sequential, &whole, text);
    const int folded_code =
        run(config, &graph, modes, STEP_FOLD_AUTO, true,
            below(&draw, 4) > 0 ? &sequential : &parallel, &folded, folded_text);
    if (code != folded_code)
        fail_seed(seed, "folded", code == CW_OK ? folded_text : text);
    if (code == CW_OK) {
        const uint32_t least = draw.step_x * draw.step_y;
        expect_same(seed, &graph, &whole, &folded);
        assert_true(whole.folded.sips == whole.folded.of);
        counts->steps++;
        counts->folded += folded.folded.sips < folded.folded.of;
        if (folded.folded.sips < folded.folded.of)
            counts->replayed += folded.replay.replayed;
        counts->fully += folded.folded.sips <= least;
        if (getenv("FOLD_SHOW") != NULL)
            printf("%llu: %u of %u, possible %u; %s\n", (unsigned long long)seed,
                   folded.folded.sips, folded.folded.of, least, folded.folded.why);
    } else if (getenv("FOLD_SHOW") != NULL) {
        printf("%llu: %s\n", (unsigned long long)seed, text);
    }
    step_result_free(&whole);
    step_result_free(&folded);
    workload_graph_free(&graph);
    config_free(config);
}

static void folded_steps_take_the_times_of_the_whole_machine(void **state)
{
    (void)state;
    const char *const from = getenv("FOLD_SEED"), *const count = getenv("FOLD_SEEDS");
    const uint64_t first = from != NULL ? strtoull(from, NULL, 10) : 1;
    const uint64_t seeds = count != NULL ? strtoull(count, NULL, 10) : 30;
    struct counts counts = {0};
    for (uint64_t seed = first; seed < first + seeds; seed++)
        one_step(seed, &counts);
    if (from == NULL) /* folded further, its queues would take less room, and leave more TCM */
        one_step(131, &counts);
    if (seeds >= 30)
        assert_true(counts.folded * 4 > counts.steps && counts.replayed > 0);
    printf("%u steps, %u folded, %u as far as they were made to, %" PRIu64 " operations replayed\n",
           counts.steps, counts.folded, counts.fully, counts.replayed);
}

/* A folded machine has no strict validation, and the whole one has. */
static void fold_on_refuses_what_only_the_whole_machine_can_do(void **state)
{
    (void)state;
    struct draw draw = {.rng = cw_rng_seeded(FOLDING_SEED, 11), .names_algorithms = false};
    struct workload_graph graph = {0};
    struct step_result result;
    char text[512];
    struct config *const config = draw_machine(&draw);
    draw_graph(&draw, &graph);
    const struct cw_config engine = {.sync = CW_SEQUENTIAL, .worker_count = 1};
    const struct step_modes modes = {.in_program_order = true};
    assert_int_equal(run(config, &graph, modes, STEP_FOLD_ON, false, &engine, &result, text),
                     CW_OK);
    assert_true(result.folded.sips < result.folded.of);
    step_result_free(&result);
    config->ccl.strict_validation = true;
    assert_int_equal(run(config, &graph, modes, STEP_FOLD_ON, false, &engine, &result, text),
                     CW_USAGE);
    assert_non_null(strstr(text, "--fold on: the folded step fails: a folded world has no strict "
                                 "validation"));
    workload_graph_free(&graph);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_steps_take_the_times_of_the_whole_machine),
        cmocka_unit_test(fold_on_refuses_what_only_the_whole_machine_can_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
