/*
 * test_workload_programs.c: random steps on random machines. With free launches and free
 * communication a machine gives exactly the times of the graph alone (ideal.h). With launches and
 * messages, every mode, number of threads and rollback that the seed draws gives the sequential
 * run's times and trace hash.
 *
 * STEP_SEED and STEP_SEEDS choose the seeds.
 */
#include "test/support/random_model.h"
#include "test/support/test_dist_support.h"
#include "test/support/test_step_support.h"
#include "workload/run/ideal.h"

enum { RANKS_MAX = 8, OPS_MAX = 24 };

struct draw {
    struct cw_rng rng;
    uint32_t ranks, sips, sets;
    uint32_t ops[RANKS_MAX]; /* so far */
};

static uint32_t below(struct draw *draw, uint32_t n) { return cw_rng_below(&draw->rng, n); }

/* ---- graphs ---------------------------------------------------------------------------------- */

/* The ranks in a random order, cut into groups. */
static void add_random_set(struct draw *draw, struct workload_graph *graph, uint32_t number)
{
    uint32_t ranks[RANKS_MAX], first[RANKS_MAX + 1] = {0}, groups = 0;
    char name[16];
    for (uint32_t r = 0; r < draw->ranks; r++) {
        const uint32_t at = below(draw, r + 1);
        ranks[r] = ranks[at];
        ranks[at] = r;
    }
    for (uint32_t at = 0; at < draw->ranks;) {
        const uint32_t size = 1 + below(draw, draw->ranks - at);
        at += size == 1 && at + 1 < draw->ranks ? 2 : size;
        first[++groups] = at < draw->ranks ? at : draw->ranks;
    }
    snprintf(name, sizeof name, "set%u", number);
    (void)workload_add_set(graph, name, groups, first, ranks);
}

/* Of a rank: after some earlier operations, in one of its streams. */
static void add_op(struct draw *draw, struct workload_graph *graph, uint32_t rank,
                   struct workload_op op)
{
    char stream[16];
    snprintf(stream, sizeof stream, "s%u", below(draw, 3));
    op.stream = (uint16_t)workload_add_stream(graph, stream);
    op.label = workload_add_label(graph, "op");
    op.layer = op.microbatch = -1;
    op.kernels = 1;
    op.id = draw->ops[rank];
    (void)workload_add_op(graph, rank, &op);
    for (uint32_t k = below(draw, 3); k > 0 && draw->ops[rank] > 0; k--) {
        const uint32_t dep = below(draw, draw->ops[rank]);
        assert_true(
            workload_add_dep(graph, rank, dep | (below(draw, 4) == 0 ? WORKLOAD_AFTER_START : 0)));
    }
    draw->ops[rank]++;
}

static void add_collective(struct draw *draw, struct workload_graph *graph)
{
    static const uint8_t collectives[] = {CCL_ALL_REDUCE, CCL_ALL_GATHER, CCL_REDUCE_SCATTER};
    const uint32_t s = below(draw, draw->sets);
    const struct workload_set *const set = &graph->sets[s];
    const uint32_t g = below(draw, set->groups);
    if (set->first[g + 1] - set->first[g] < 2)
        return;
    const struct workload_op op = {.kind = WORKLOAD_COLLECTIVE,
                                   .collective = collectives[s % 3],
                                   .redop = REDOP_SUM,
                                   .dtype = DTYPE_BF16,
                                   .set = s,
                                   .bytes = 64u << below(draw, 9)};
    for (uint32_t i = set->first[g]; i < set->first[g + 1]; i++)
        add_op(draw, graph, set->ranks[i], op);
}

static void add_message(struct draw *draw, struct workload_graph *graph)
{
    const uint32_t from = below(draw, draw->ranks), to = below(draw, draw->ranks);
    struct workload_op op = message(WORKLOAD_SEND, draw->sets, to, below(draw, 2));
    if (from == to)
        return;
    op.bytes = 64u << below(draw, 10);
    add_op(draw, graph, from, op);
    op.kind = WORKLOAD_RECV;
    op.peer = from;
    add_op(draw, graph, to, op);
}

static void add_computation(struct draw *draw, struct workload_graph *graph)
{
    struct workload_op op = takes_ps(1000ull * below(draw, 4000), WORKLOAD_OTHER);
    if (below(draw, 8) == 0)
        op.kind = WORKLOAD_NOTHING;
    add_op(draw, graph, below(draw, draw->ranks), op);
}

/* Operations are drawn in one order for all ranks, and depend on earlier ones: so each graph has an
 * end. */
static void draw_graph(struct draw *draw, struct workload_graph *graph)
{
    make_ranks(graph, draw->ranks);
    for (uint32_t r = 0; r < draw->ranks; r++) {
        char name[16];
        snprintf(name, sizeof name, "rank %u", r);
        graph->program_of[r] = workload_add_program(graph, name);
        draw->ops[r] = 0;
    }
    for (uint32_t s = 0; s < draw->sets; s++)
        add_random_set(draw, graph, s);
    (void)add_world(graph, "all");
    for (uint32_t k = 4 + below(draw, OPS_MAX); k > 0; k--) {
        const uint32_t what = below(draw, 10);
        if (what < 3)
            add_collective(draw, graph);
        else if (what < 6)
            add_message(draw, graph);
        else
            add_computation(draw, graph);
    }
    struct cw_error error = {.exit_code = CW_OK};
    if (workload_graph_check(graph, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct outcome {
    struct step_result result;
    uint64_t hash;
    int code;
    char text[512];
};

static int note_hash(void *arg, struct dist *machine, int code, struct cw_error *error)
{
    struct cw_stats stats;
    (void)error;
    if (code != CW_OK)
        return code;
    cw_sim_stats(lp_system_sim(dist_system(machine)), &stats);
    ((struct outcome *)arg)->hash = stats.trace_hash;
    return code;
}

static void run(const struct config *config, const struct workload_graph *graph,
                struct step_modes modes, const struct cw_config *engine, struct outcome *outcome)
{
    struct cw_error error = {.exit_code = CW_OK};
    const struct step_options options = {.config = config,
                                         .graph = graph,
                                         .modes = modes,
                                         .dist = {.machine.engine = *engine, .arg = outcome},
                                         .ends = note_hash};
    *outcome = (struct outcome){.hash = 0};
    outcome->code = step_run(&options, &outcome->result, &error);
    if (outcome->code != CW_OK)
        snprintf(outcome->text, sizeof outcome->text, "%.500s", cw_error_text(&error));
}

static void fail_seed(uint64_t seed, const char *which, const char *text)
{
    fail_msg("STEP_SEED=%llu STEP_SEEDS=1, %s: %s", (unsigned long long)seed, which, text);
}

static void expect_ideal(uint64_t seed, const struct workload_graph *graph, struct step_modes modes,
                         const struct outcome *got)
{
    struct step_result ideal;
    struct cw_error error;
    const int code = step_ideal(graph, &modes, NULL, NULL, &ideal, &error);
    if ((code == CW_OK) != (got->code == CW_OK))
        fail_seed(seed, "free", code == CW_OK ? got->text : cw_error_text(&error));
    for (uint64_t k = 0; code == CW_OK && k < ideal.first_span[graph->rank_count]; k++)
        if (memcmp(&ideal.spans[k], &got->result.spans[k], sizeof ideal.spans[k]) != 0) {
            char text[300];
            snprintf(text, sizeof text,
                     "span %llu: ready %lld start %lld met %lld end %lld, not %lld %lld %lld %lld",
                     (unsigned long long)k, (long long)got->result.spans[k].ready_ps,
                     (long long)got->result.spans[k].start_ps,
                     (long long)got->result.spans[k].met_ps, (long long)got->result.spans[k].end_ps,
                     (long long)ideal.spans[k].ready_ps, (long long)ideal.spans[k].start_ps,
                     (long long)ideal.spans[k].met_ps, (long long)ideal.spans[k].end_ps);
            fail_seed(seed, "free", text);
        }
    step_result_free(&ideal);
}

static void expect_same(uint64_t seed, const struct workload_graph *graph,
                        const struct outcome *expected, const struct outcome *got)
{
    if (got->code != expected->code)
        fail_seed(seed, "another mode", got->code != CW_OK ? got->text : expected->text);
    if (got->code != CW_OK)
        return;
    if (got->hash != expected->hash)
        fail_seed(seed, "another mode", "another trace hash");
    if (got->result.wrong + expected->result.wrong > 0)
        fail_seed(seed, "values", "some are wrong");
    const uint64_t spans = got->result.first_span[graph->rank_count];
    if (memcmp(got->result.spans, expected->result.spans, spans * sizeof *got->result.spans) != 0)
        fail_seed(seed, "another mode", "other times");
}

static struct config *draw_machine(struct draw *draw)
{
    static const char *const topologies[] = {"ring_1d", "fully_connected", "torus_2d"};
    char topology[64], count[64], mesh[64];
    draw->sips = draw->ranks + (draw->ranks % 2) + 2 * below(draw, 2);
    draw->sips = draw->sips < 4 ? 4 : draw->sips;
    snprintf(topology, sizeof topology, "system.sips.topology=%s", topologies[below(draw, 2)]);
    snprintf(count, sizeof count, "system.sips.count=%u", draw->sips);
    snprintf(mesh, sizeof mesh, "sip.cube_mesh.w=%u", 1 + below(draw, 2));
    const char *const settings[] = {topology, count, mesh, "sip.cube_mesh.h=1"};
    return must_load(&(struct config_request){.sets = settings, .set_count = 4});
}

static void one_step(uint64_t seed)
{
    struct draw draw;
    struct workload_graph graph = {0};
    struct outcome first, second;
    draw.rng = cw_rng_seeded(seed, 7);
    draw.ranks = 2 + below(&draw, RANKS_MAX - 1);
    draw.sets = 1 + below(&draw, 2);
    struct config *const config = draw_machine(&draw);
    draw_graph(&draw, &graph);
    graph.verifies = below(&draw, 2) == 0;
    const struct step_modes modes = {.free_launches = below(&draw, 4) == 0,
                                     .one_at_a_time = below(&draw, 4) == 0,
                                     .in_program_order = below(&draw, 4) != 0};
    struct step_modes all_free = modes;
    all_free.free_launches = all_free.free_communication = true;
    all_free.one_at_a_time = false; /* who comes first at one instant decides */
    const struct cw_config sequential = {.sync = CW_SEQUENTIAL, .worker_count = 1};
    struct cw_config parallel = {.sync = (enum cw_sync)(1 + below(&draw, CW_SYNCS - 1)),
                                 .worker_count = 2 + below(&draw, 4)};
    parallel.tuning.stress_rate_p32 = UINT64_C(1) << (25 + below(&draw, 6));
    parallel.tuning.stress_seed = seed;
    if (parallel.sync == CW_CONSERVATIVE && modes.free_launches) /* it needs a lookahead */
        parallel.sync = CW_OPTIMISTIC;
    struct cw_config any = below(&draw, 2) == 0 ? sequential : parallel;
    if (any.sync == CW_CONSERVATIVE)
        any.sync = CW_ADAPTIVE;
    run(config, &graph, all_free, &any, &first);
    expect_ideal(seed, &graph, all_free, &first);
    step_result_free(&first.result);
    run(config, &graph, modes, &sequential, &first);
    run(config, &graph, modes, &parallel, &second);
    expect_same(seed, &graph, &first, &second);
    if (first.code != CW_OK && first.code != CW_USAGE && !modes.one_at_a_time &&
        modes.in_program_order)
        fail_seed(seed, "sequential", first.text);
    step_result_free(&first.result);
    step_result_free(&second.result);
    workload_graph_free(&graph);
    config_free(config);
}

static void random_steps_take_the_times_that_they_must(void **state)
{
    (void)state;
    const char *const from = getenv("STEP_SEED"), *const count = getenv("STEP_SEEDS");
    const uint64_t first = from != NULL ? strtoull(from, NULL, 10) : 1;
    const uint64_t seeds = count != NULL ? strtoull(count, NULL, 10) : 40;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        one_step(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_take_the_times_that_they_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
