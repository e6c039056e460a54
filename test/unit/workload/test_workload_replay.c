/*
 * test_workload_replay.c: steps whose operations repeat, with and without replay: the same times of
 * all operations, and the same machine at the end. Here what a begin must be compared by stands
 * alone: how much later one SIP begins than another, and when what is under way arrives.
 * test_workload_programs.c has random steps.
 */
#include "test/support/test_dist_support.h"
#include "test/support/test_step_support.h"
#include "test/support/test_replay_support.h"

enum { TIMES_MAX = 36, BYTES = 16384 };

static struct workload_op calls(uint32_t set, uint8_t collective, uint64_t bytes)
{
    return (struct workload_op){.kind = WORKLOAD_COLLECTIVE,
                                .collective = collective > 0 ? collective : CCL_ALL_REDUCE,
                                .redop = REDOP_SUM,
                                .dtype = DTYPE_F32,
                                .set = set,
                                .bytes = bytes > 0 ? bytes : BYTES,
                                .microbatch = -1};
}

/* A call of all ranks again and again, each time after waits of the ranks, in ns. */
struct repeated {
    uint32_t times;
    uint64_t bytes;     /* 0: BYTES */
    uint32_t ranks;     /* 0: 2; all wait as long as rank 0 */
    uint8_t collective; /* 0: an all-reduce */
    uint32_t wait_ns[TIMES_MAX][2];
};

static void add_repeated(struct workload_graph *graph, const struct repeated *repeated)
{
    const uint32_t ranks = repeated->ranks > 0 ? repeated->ranks : 2;
    make_ranks(graph, ranks);
    const uint32_t all = add_world(graph, "all");
    for (uint32_t rank = 0; rank < ranks; rank++) {
        char name[16];
        uint32_t last = WORKLOAD_NONE;
        snprintf(name, sizeof name, "rank %u", rank);
        graph->program_of[rank] = workload_add_program(graph, name);
        for (uint32_t k = 0; k < repeated->times; k++) {
            last =
                add_after(graph, rank, "compute", "wait",
                          takes_ps(1000ull * repeated->wait_ns[k][repeated->ranks > 0 ? 0 : rank],
                                   WORKLOAD_OTHER),
                          last);
            last = add_after(graph, rank, "reduce", "all_reduce",
                             calls(all, repeated->collective, repeated->bytes), last);
        }
    }
    struct cw_error error = {.exit_code = CW_OK};
    if (workload_graph_check(graph, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
}

/* Returns what was replayed. The times must be those of the simulation. */
static struct lp_replay_counts replay_graph(struct workload_graph *graph,
                                            const char *const *settings, size_t setting_count)
{
    struct config *const config =
        must_load(&(struct config_request){.sets = settings, .set_count = setting_count});
    struct replayed got;
    run_both(config, graph, (struct step_modes){.in_program_order = true}, &got);
    if (got.code != CW_OK || got.difference != NULL)
        fail_msg("%s", got.difference != NULL ? got.difference : got.text);
    workload_graph_free(graph);
    config_free(config);
    return got.counts;
}

static struct lp_replay_counts replay(const struct repeated *repeated, const char *const *settings,
                                      size_t setting_count)
{
    struct workload_graph graph = {0};
    add_repeated(&graph, repeated);
    return replay_graph(&graph, settings, setting_count);
}

/* All waits are there twice, one after the other and later again: an operation that begins as an
 * earlier one did is replayed, and no other is. */
static void ranks_that_begin_apart_are_compared_by_how_far(void **state)
{
    (void)state;
    static const struct repeated repeated = {.times = 12,
                                             .wait_ns = {{1000, 1000},
                                                         {1000, 1000},
                                                         {1000, 1000},
                                                         {1000, 1020},
                                                         {1000, 1020},
                                                         {1000, 1040},
                                                         {1000, 1040},
                                                         {1000, 1020},
                                                         {1000, 1000},
                                                         {1030, 1000},
                                                         {1030, 1000},
                                                         {1000, 1020}}};
    static const char *const settings[] = {"system.sips.count=4", "sip.cube_mesh.w=1",
                                           "sip.cube_mesh.h=1"};
    const struct lp_replay_counts counts = replay(&repeated, settings, 3);
    assert_true(counts.replayed > 0);
    assert_int_equal(counts.undone, 0);
}

/* With cables of 1 us and one slot, the credit for the last tile is under way when the next
 * operation begins, which waits for it. */
static void credits_under_way_are_compared_by_when_they_come(void **state)
{
    (void)state;
    struct repeated repeated = {.times = TIMES_MAX};
    for (uint32_t k = 0; k < TIMES_MAX; k++)
        for (uint32_t rank = 0; rank < 2; rank++)
            repeated.wait_ns[k][rank] = k % 12 == 11 ? 200 : 1;
    static const char *const settings[] = {
        "system.sips.count=4", "sip.cube_mesh.w=1",
        "sip.cube_mesh.h=1",   "links.sip_link.latency_ns=1000",
        "defaults.n_slots=1",  "defaults.recv_blocks_on_credit=false"};
    const struct lp_replay_counts counts = replay(&repeated, settings, 6);
    assert_true(counts.replayed > 0);
    assert_int_equal(counts.undone, 0);
}

/* Coarse tiles use time in which links were idle: how much there was depends on the wait before. */
static void idle_times_are_compared_as_far_as_they_are_used(void **state)
{
    (void)state;
    static const char *const settings[] = {"system.sips.count=4", "sip.cube_mesh.w=1",
                                           "sip.cube_mesh.h=1", "defaults.coarse=1048576"};
    static const uint32_t waits_ns[] = {0, 50, 100, 200, 400, 800, 1600, 20000};
    uint64_t replayed = 0;
    for (uint32_t draw = 0; draw < 4; draw++) {
        struct repeated repeated = {.times = TIMES_MAX,
                                    .bytes = (1u << 20) << draw,
                                    .ranks = 4,
                                    .collective = draw % 2 == 0 ? CCL_ALL_TO_ALL : CCL_ALL_GATHER};
        struct cw_rng rng = cw_rng_seeded(draw, 1);
        for (uint32_t k = 0; k < TIMES_MAX; k++)
            repeated.wait_ns[k][0] = waits_ns[cw_rng_below(&rng, 8)];
        replayed += replay(&repeated, settings, 4).replayed;
    }

    assert_true(replayed > 0);
}

/* Rank 0 computes in each period. In some periods rank 7 sends in the midst of it: to rank 1, on a
 * ring of 8 by way of rank 0's SIP, or to rank 0, which receives after it has computed. */
enum {
    RING = 8,
    PERIODS = 8,
    WAIT_NS = 20000,
    COMPUTES_NS = 196000 /* about */,
    MESSAGE_BYTES = 65536
};

static const struct workload_op computes = {
    .kind = WORKLOAD_ROOFLINE, .flops = 100000000, .bytes = 1000000, .dtype = DTYPE_BF16};

static void add_crossed(struct workload_graph *graph, uint32_t crossed, uint32_t to)
{
    make_ranks(graph, RING);
    const uint32_t all = add_world(graph, "all");
    for (uint32_t rank = 0; rank < RING; rank++) {
        char name[16];
        uint32_t last = WORKLOAD_NONE;
        snprintf(name, sizeof name, "rank %u", rank);
        graph->program_of[rank] = workload_add_program(graph, name);
        for (uint32_t k = 0; k < PERIODS; k++) {
            struct workload_op op =
                message(rank == 7 ? WORKLOAD_SEND : WORKLOAD_RECV, all, rank == 7 ? to : 7, k);
            op.bytes = MESSAGE_BYTES;
            const uint64_t wait_ns = rank == 0 ? WAIT_NS
                                     : k == 0  ? WAIT_NS + COMPUTES_NS / 2
                                               : WAIT_NS + COMPUTES_NS;
            last = add_after(graph, rank, "compute", "wait",
                             takes_ps(1000 * wait_ns, WORKLOAD_OTHER), last);
            if (rank == 0)
                last = add_after(graph, rank, "compute", "compute", computes, last);
            if ((rank == to || rank == 7) && (crossed >> k & 1) != 0)
                (void)add_after(graph, rank, "message", "message", op, last);
        }
    }
    struct cw_error error = {.exit_code = CW_OK};
    if (workload_graph_check(graph, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
}

static struct lp_replay_counts replay_crossed(uint32_t crossed, uint32_t to)
{
    static const char *const settings[] = {"system.sips.count=8", "system.sips.topology=ring_1d",
                                           "sip.cube_mesh.w=1", "sip.cube_mesh.h=1"};
    struct workload_graph graph = {0};
    add_crossed(&graph, crossed, to);
    return replay_graph(&graph, settings, 4);
}

/* The first begins on a machine whose PE_DMAs have not worked yet, the second as all others do. */
static void equal_operations_are_simulated_once(void **state)
{
    (void)state;
    const struct lp_replay_counts counts = replay_crossed(0, 1);
    assert_int_equal(counts.operations, PERIODS);
    assert_int_equal(counts.replayed, PERIODS - 2);
    assert_int_equal(counts.undone, 0);
}

/* An operation whose SIP a message crosses is no episode: the next one is recorded. */
static void what_others_cross_is_not_recorded(void **state)
{
    (void)state;
    const struct lp_replay_counts counts = replay_crossed(1u << 1, 1);
    assert_int_equal(counts.replayed, PERIODS - 3);
    assert_int_equal(counts.undone, 0);
}

/* Nor one to whose SIP another rank says that it wants to send. */
static void what_others_ask_in_between_is_not_recorded(void **state)
{
    (void)state;
    const struct lp_replay_counts counts = replay_crossed(1u << 1, 0);
    assert_int_equal(counts.replayed, PERIODS - 3);
    assert_int_equal(counts.undone, 0);
}

/* And where it would be replayed, that is undone. */
static void what_others_cross_is_undone(void **state)
{
    (void)state;
    const struct lp_replay_counts counts = replay_crossed(1u << 2, 1);
    assert_int_equal(counts.replayed, PERIODS - 3);
    assert_int_equal(counts.undone, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_begin_apart_are_compared_by_how_far),
        cmocka_unit_test(credits_under_way_are_compared_by_when_they_come),
        cmocka_unit_test(idle_times_are_compared_as_far_as_they_are_used),
        cmocka_unit_test(equal_operations_are_simulated_once),
        cmocka_unit_test(what_others_cross_is_not_recorded),
        cmocka_unit_test(what_others_ask_in_between_is_not_recorded),
        cmocka_unit_test(what_others_cross_is_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
