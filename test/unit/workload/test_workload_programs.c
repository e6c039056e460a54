/*
 * test_workload_programs.c: random steps on random machines. With free launches and free
 * communication a machine gives exactly the times of the graph alone (ideal.h); streams that are as
 * ready keep their promise. With launches and messages, every mode, number of threads and rollback
 * that the seed draws gives the sequential run's times and trace hash, and right values. Steps that
 * repeat themselves, with operations in between that come late and cross the others' links, leave
 * the same times and the same machine where operations are replayed.
 *
 * STEP_SEED and STEP_SEEDS choose the seeds.
 */
#include "test/support/random_model.h"
#include "test/support/test_dist_support.h"
#include "test/support/test_replay_support.h"
#include "test/support/test_step_support.h"
#include "workload/run/ideal.h"

enum { RANKS_MAX = 8, OPS_MAX = 24, STREAMS = 5 };

struct draw {
    struct cw_rng rng;
    uint32_t ranks, programs, sips, sets;
    uint32_t ops[RANKS_MAX];     /* of each program, so far */
    uint32_t sharers[RANKS_MAX]; /* ranks of each program */
    bool computes;               /* kernels too, whose times the graph alone does not say */
};

static uint32_t below(struct draw *draw, uint32_t n) { return cw_rng_below(&draw->rng, n); }

/* ---- graphs ---------------------------------------------------------------------------------- */

/* The ranks in a random order, cut into groups. */
static void add_random_set(struct draw *draw, struct workload_graph *graph, uint32_t number)
{
    uint32_t ranks[RANKS_MAX], first[RANKS_MAX + 1] = {0}, groups = 0;
    char name[32];
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

/* What a program does after some of its earlier operations, in one of its streams. Only
 * computations are in the one that is as ready: ranks that meet there could wait for each other. */
static void add_op(struct draw *draw, struct workload_graph *graph, uint32_t program,
                   struct workload_op op)
{
    static const char *const streams[STREAMS] = {"s0", "s1", "s2", "at once", "as ready"};
    const bool meets = op.kind >= WORKLOAD_COLLECTIVE;
    const uint32_t stream = below(draw, meets ? STREAMS - 1 : STREAMS);
    op.stream = (uint16_t)workload_add_stream(graph, streams[stream]);
    graph->streams[op.stream].order = stream < 3    ? WORKLOAD_IN_ORDER
                                      : stream == 3 ? WORKLOAD_AT_ONCE
                                                    : WORKLOAD_AS_READY;
    op.label = workload_add_label(graph, "op");
    op.layer = op.microbatch = -1;
    op.kernels = 1;
    op.id = draw->ops[program];
    (void)workload_add_op(graph, program, &op);
    for (uint32_t k = below(draw, 3); k > 0 && draw->ops[program] > 0; k--) {
        const uint32_t dep = below(draw, draw->ops[program]);
        assert_true(workload_add_dep(graph, program,
                                     dep | (below(draw, 4) == 0 ? WORKLOAD_AFTER_START : 0)));
    }
    draw->ops[program]++;
}

static struct workload_op draw_collective(struct draw *draw, uint32_t set, uint32_t least_ranks)
{
    static const uint8_t collectives[] = {CCL_ALL_REDUCE,     CCL_ALL_GATHER, CCL_ALL_TO_ALL,
                                          CCL_REDUCE_SCATTER, CCL_BROADCAST,  CCL_REDUCE};
    static const uint8_t dtypes[] = {DTYPE_BF16, DTYPE_F32};
    struct workload_op op = {.kind = WORKLOAD_COLLECTIVE,
                             .collective = collectives[below(draw, 6)],
                             .redop = below(draw, 4) == 0 ? REDOP_MAX : REDOP_SUM,
                             .dtype = dtypes[below(draw, 2)],
                             .set = set,
                             .bytes = 64u << below(draw, 9)};
    if (op.collective == CCL_BROADCAST || op.collective == CCL_REDUCE)
        op.peer = below(draw, least_ranks);
    if (op.collective == CCL_ALL_TO_ALL && below(draw, 2) == 0)
        *(below(draw, 2) == 0 ? &op.to_first : &op.from_first) = 1 + below(draw, 2000);
    return op;
}

/* Of one group, or, where ranks share programs, of all groups of a set. */
static void add_collective(struct draw *draw, struct workload_graph *graph)
{
    const uint32_t s = below(draw, draw->sets);
    const struct workload_set *const set = &graph->sets[s];
    const uint32_t g = below(draw, set->groups);
    const uint32_t size = set->first[g + 1] - set->first[g];
    if (draw->programs < draw->ranks) {
        const struct workload_op op = draw_collective(draw, s, 1);
        for (uint32_t p = 0; p < draw->programs; p++)
            add_op(draw, graph, p, op);
    } else if (size > 1) {
        const struct workload_op op = draw_collective(draw, s, size);
        for (uint32_t i = set->first[g]; i < set->first[g + 1]; i++)
            add_op(draw, graph, graph->program_of[set->ranks[i]], op);
    }
}

/* Between ranks that have programs of their own. */
static void add_message(struct draw *draw, struct workload_graph *graph)
{
    const uint32_t from = below(draw, draw->ranks), to = below(draw, draw->ranks);
    const uint32_t sender = graph->program_of[from], receiver = graph->program_of[to];
    struct workload_op op = message(WORKLOAD_SEND, draw->sets, to, below(draw, 2));
    if (from == to || draw->sharers[sender] > 1 || draw->sharers[receiver] > 1)
        return;
    op.bytes = 64u << below(draw, 10);
    add_op(draw, graph, sender, op);
    op.kind = WORKLOAD_RECV;
    op.peer = from;
    add_op(draw, graph, receiver, op);
}

static void add_computation(struct draw *draw, struct workload_graph *graph)
{
    struct workload_op op = takes_ps(1000ull * below(draw, 4000), WORKLOAD_OTHER);
    const uint32_t kind = below(draw, draw->computes ? 4 : 2);
    op.dtype = DTYPE_BF16;
    if (below(draw, 8) == 0)
        op.kind = WORKLOAD_NOTHING;
    else if (kind == 2) {
        op.kind = WORKLOAD_ROOFLINE;
        op.matrix = (uint8_t)below(draw, 2);
        op.flops = below(draw, 4) * 100000;
        op.bytes = below(draw, 4) * 10000;
    } else if (kind == 3) {
        op.kind = WORKLOAD_PRODUCT;
        for (uint32_t i = 0; i < 3; i++)
            op.side[i] = 1 + below(draw, 64);
    }
    add_op(draw, graph, below(draw, draw->programs), op);
}

/* Every other time ranks share programs. */
static void draw_programs(struct draw *draw, struct workload_graph *graph)
{
    make_ranks(graph, draw->ranks);
    draw->programs = below(draw, 2) == 0 ? draw->ranks : 1 + below(draw, draw->ranks);
    for (uint32_t p = 0; p < draw->programs; p++) {
        char name[32];
        snprintf(name, sizeof name, "class %u", p);
        (void)workload_add_program(graph, name);
        draw->ops[p] = draw->sharers[p] = 0;
    }
    for (uint32_t r = 0; r < draw->ranks; r++) {
        graph->program_of[r] = r < draw->programs ? r : below(draw, draw->programs);
        draw->sharers[graph->program_of[r]]++;
    }
}

/* Ranks on any SIPs. */
static void draw_places(struct draw *draw, struct workload_graph *graph)
{
    if (below(draw, 2) == 0)
        return;
    graph->sip_of = malloc(draw->sips * sizeof *graph->sip_of);
    assert_non_null(graph->sip_of);
    for (uint32_t sip = 0; sip < draw->sips; sip++) {
        const uint32_t at = below(draw, sip + 1);
        graph->sip_of[sip] = graph->sip_of[at];
        graph->sip_of[at] = sip;
    }
}

static void add_any(struct draw *draw, struct workload_graph *graph)
{
    const uint32_t what = below(draw, 10);
    if (what < 3)
        add_collective(draw, graph);
    else if (what < 6)
        add_message(draw, graph);
    else
        add_computation(draw, graph);
}

/* Some operations several times, each time in one of two orders of streams and dependences. Of
 * three times two, another one comes after them. */
static void add_repeated(struct draw *draw, struct workload_graph *graph)
{
    const struct cw_rng first = draw->rng;
    const uint32_t operations = 1 + below(draw, 5), times = 2 + below(draw, 6);
    struct cw_rng others = draw->rng;
    for (uint32_t k = 0; k < times; k++) {
        draw->rng = first;
        for (uint32_t i = 0; i < operations; i++)
            add_any(draw, graph);
        const struct cw_rng after = draw->rng;
        draw->rng = others;
        if (below(draw, 3) == 0)
            add_any(draw, graph);
        others = draw->rng;
        draw->rng = after;
    }
    draw->rng = others;
}

/* Operations are drawn in one order for all ranks, and depend on earlier ones: so each graph has an
 * end. */
static void draw_graph(struct draw *draw, struct workload_graph *graph, bool repeats)
{
    draw_programs(draw, graph);
    draw_places(draw, graph);
    for (uint32_t s = 0; s < draw->sets; s++) {
        add_random_set(draw, graph, s);
        if (below(draw, 3) == 0)
            graph->sets[s].queue = below(draw, 4);
    }
    (void)add_world(graph, "all");
    draw->computes = below(draw, 2) == 0;
    draw->computes |= repeats;
    for (uint32_t k = repeats ? 0 : 4 + below(draw, OPS_MAX); k > 0; k--)
        add_any(draw, graph);
    for (uint32_t k = repeats ? 1 + below(draw, 3) : 0; k > 0; k--)
        add_repeated(draw, graph);
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

/* A stream that is as ready has one operation at a time, and of those that may begin the first of
 * the program. At one instant who comes first decides, so the graph alone does not say it all. */
static void expect_turns(uint64_t seed, const struct workload_graph *graph,
                         const struct step_result *got)
{
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const struct workload_program *const p = &graph->programs[graph->program_of[rank]];
        const struct step_span *const spans = step_spans_of(got, rank);
        for (uint32_t i = 0; i < p->op_count; i++) {
            bool waits = spans[i].ready_ps < spans[i].start_ps;
            if (graph->streams[p->ops[i].stream].order != WORKLOAD_AS_READY)
                continue;
            for (uint32_t k = 0; k < p->op_count; k++) {
                if (k == i || p->ops[k].stream != p->ops[i].stream)
                    continue;
                if (spans[k].start_ps < spans[i].start_ps && spans[k].end_ps > spans[i].start_ps)
                    fail_seed(seed, "as ready", "two operations at a time");
                if (k < i && spans[k].ready_ps < spans[i].start_ps &&
                    spans[k].start_ps > spans[i].start_ps)
                    fail_seed(seed, "as ready", "a later operation before an earlier one");
                waits &= spans[k].end_ps != spans[i].start_ps;
            }
            if (waits)
                fail_seed(seed, "as ready", "an operation waits for no other");
        }
    }
}

static bool has_turns(const struct workload_graph *graph)
{
    for (uint32_t s = 0; s < graph->stream_count; s++)
        if (graph->streams[s].order == WORKLOAD_AS_READY)
            return true;
    return false;
}

static void expect_ideal(uint64_t seed, const struct workload_graph *graph, struct step_modes modes,
                         const struct outcome *got)
{
    struct step_result ideal;
    struct cw_error error;
    if (got->code == CW_OK && has_turns(graph)) {
        expect_turns(seed, graph, &got->result);
        return;
    }
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

static bool has_collectives(const struct workload_graph *graph)
{
    for (uint32_t p = 0; p < graph->program_count; p++)
        for (uint32_t i = 0; i < graph->programs[p].op_count; i++)
            if (graph->programs[p].ops[i].kind == WORKLOAD_COLLECTIVE)
                return true;
    return false;
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
    if (got->result.hash != expected->result.hash)
        fail_seed(seed, "values", "another hash");
    if (got->result.wrong + expected->result.wrong > 0)
        fail_seed(seed, "values", "some are wrong");
    if (got->result.verified && !graph->verifies)
        fail_seed(seed, "values", "verified, though there are none");
    if (graph->verifies && !got->result.verified && has_collectives(graph))
        fail_seed(seed, "values", "not verified");
    const uint64_t spans = got->result.first_span[graph->rank_count];
    if (memcmp(got->result.spans, expected->result.spans, spans * sizeof *got->result.spans) != 0)
        fail_seed(seed, "another mode", "other times");
}

static struct config *draw_machine(struct draw *draw)
{
    static const char *const topologies[] = {"ring_1d", "fully_connected"};
    char topology[64], count[64], mesh[64], coarse[64];
    draw->sips = draw->ranks + (draw->ranks % 2) + 2 * below(draw, 2);
    draw->sips = draw->sips < 4 ? 4 : draw->sips;
    snprintf(topology, sizeof topology, "system.sips.topology=%s", topologies[below(draw, 2)]);
    snprintf(count, sizeof count, "system.sips.count=%u", draw->sips);
    snprintf(mesh, sizeof mesh, "sip.cube_mesh.w=%u", 1 + below(draw, 2));
    snprintf(coarse, sizeof coarse, "defaults.coarse=%u", 4096u << below(draw, 3));
    const char *const settings[] = {topology, count, mesh, "sip.cube_mesh.h=1", coarse};
    return must_load(
        &(struct config_request){.sets = settings, .set_count = below(draw, 4) == 0 ? 5 : 4});
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
    draw_graph(&draw, &graph, false);
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
    if (!draw.computes) {
        run(config, &graph, all_free, &any, &first);
        expect_ideal(seed, &graph, all_free, &first);
        step_result_free(&first.result);
    }
    run(config, &graph, modes, &sequential, &first);
    run(config, &graph, modes, &parallel, &second);
    expect_same(seed, &graph, &first, &second);
    const bool is_full = first.code == CW_USAGE && (strstr(first.text, "do not fit") != NULL ||
                                                    strstr(first.text, "bytes of TCM") != NULL);
    if (first.code != CW_OK && !is_full && !modes.one_at_a_time && modes.in_program_order)
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

/* ---- replay ---------------------------------------------------------------------------------- */

/* Returns how many operations were replayed. */
static uint64_t one_replay(uint64_t seed, uint64_t *undone)
{
    struct draw draw;
    struct workload_graph graph = {0};
    draw.rng = cw_rng_seeded(seed, 11);
    draw.ranks = 2 + below(&draw, RANKS_MAX - 1);
    draw.sets = 1 + below(&draw, 2);
    struct config *const config = draw_machine(&draw);
    draw_graph(&draw, &graph, true);
    const struct step_modes modes = {.one_at_a_time = below(&draw, 4) == 0,
                                     .in_program_order = below(&draw, 4) != 0};
    struct replayed got;
    run_both(config, &graph, modes, &got);
    if (got.difference != NULL)
        fail_seed(seed, "replay", got.difference);
    const struct lp_replay_counts counts = got.counts;
    workload_graph_free(&graph);
    config_free(config);
    *undone += counts.undone;
    return counts.replayed;
}

static void replayed_steps_leave_the_same_times_and_machine(void **state)
{
    (void)state;
    const char *const from = getenv("STEP_SEED"), *const count = getenv("STEP_SEEDS");
    const uint64_t first = from != NULL ? strtoull(from, NULL, 10) : 1;
    const uint64_t seeds = count != NULL ? strtoull(count, NULL, 10) : 30;
    uint64_t replayed = 0, undone = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        replayed += one_replay(seed, &undone);
    if (from == NULL)
        assert_true(replayed > 0);
    if (getenv("STEP_COUNTS") != NULL)
        print_message("replayed %llu, undone %llu\n", (unsigned long long)replayed,
                      (unsigned long long)undone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_take_the_times_that_they_must),
        cmocka_unit_test(replayed_steps_leave_the_same_times_and_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
