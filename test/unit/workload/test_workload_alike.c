/*
 * test_workload_alike.c: graphs that are the same after a turn of their ranks, by construction, are
 * found to be, and after one change of one rank they are not.
 */
#include "test/support/test_step_support.h"
#include "workload/graph/alike.h"

enum { RANKS = 64, OPS = 20 };

/* Ranks around a ring: rank r goes to r - step. */
static void make_turn(uint32_t step, uint32_t *to)
{
    for (uint32_t rank = 0; rank < RANKS; rank++)
        to[rank] = (rank + RANKS - step) % RANKS;
}

/* Groups of ranks `apart` from each other; each begins at its member `from`. */
static void add_groups(struct workload_graph *graph, const char *name, uint32_t size,
                       uint32_t apart, uint32_t from)
{
    uint32_t first[RANKS + 1], ranks[RANKS], count = 0, groups = 0;
    for (uint32_t block = 0; block < RANKS; block += size * apart)
        for (uint32_t i = 0; i < apart; i++) {
            first[groups++] = count;
            for (uint32_t k = 0; k < size; k++)
                ranks[count++] = block + i + (from + k) % size * apart;
        }
    first[groups] = count;
    (void)workload_add_set(graph, name, groups, first, ranks);
}

/* Every rank has a program of its own. In set 0 all ranks are, in set 1 those eight apart, in set 2
 * eight neighbours. */
static void make_graph(struct workload_graph *graph, uint64_t seed)
{
    struct cw_rng rng = cw_rng_seeded(seed, 1);
    make_ranks(graph, RANKS);
    (void)add_world(graph, "all");
    add_groups(graph, "apart", 8, 8, 3);
    add_groups(graph, "neighbours", 8, 1, 0);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        graph->program_of[rank] = workload_add_program(graph, "rank");
    for (uint32_t k = 0; k < OPS; k++) {
        const uint32_t kind = k % 4, draw = cw_rng_below(&rng, 1000), apart = 1 + draw % 63;
        const uint32_t dep = k > 0 ? cw_rng_below(&rng, k) : 0;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            struct workload_op op = takes_ps(draw, WORKLOAD_FORWARD);
            if (kind == 1)
                op = (struct workload_op){
                    .kind = WORKLOAD_ROOFLINE, .flops = draw, .bytes = 64, .dtype = DTYPE_BF16};
            else if (kind == 2)
                op = (struct workload_op){.kind = WORKLOAD_COLLECTIVE,
                                          .collective = CCL_ALL_REDUCE,
                                          .set = draw % 3,
                                          .dtype = DTYPE_BF16,
                                          .bytes = 64 + draw};
            else if (kind == 3)
                op = message(WORKLOAD_SEND, 0, (rank + apart) % RANKS, k);
            (void)add_after(graph, rank, "stream", "op", op, k > 0 ? dep + dep / 4 : WORKLOAD_NONE);
            if (kind == 3)
                (void)add_after(graph, rank, "receive", "op",
                                message(WORKLOAD_RECV, 0, (rank + RANKS - apart) % RANKS, k),
                                WORKLOAD_NONE);
        }
    }
}

static bool is_alike(struct workload_graph *graph, uint32_t step, char why[WORKLOAD_WHY_BYTES])
{
    struct workload_meetings meetings;
    struct cw_error error = {.exit_code = CW_OK};
    uint32_t to[RANKS];
    make_turn(step, to);
    if (workload_graph_check(graph, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    assert_int_equal(workload_meetings_of(graph, &meetings, &error), CW_OK);
    const bool alike = workload_is_alike(graph, &meetings, to, why);
    workload_meetings_free(&meetings);
    return alike;
}

static void turns_by_whole_groups_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        for (uint32_t step = 8; step < RANKS; step *= 2) {
            struct workload_graph graph = {0};
            char why[WORKLOAD_WHY_BYTES];
            make_graph(&graph, seed);
            if (!is_alike(&graph, step, why))
                fail_msg("step %u: %s", step, why);
            workload_graph_free(&graph);
        }
}

/* Neighbours 0 to 7 become 1 to 8, which are no group. */
static void a_turn_within_groups_is_refused(void **state)
{
    (void)state;
    struct workload_graph graph = {0};
    char why[WORKLOAD_WHY_BYTES];
    make_ranks(&graph, RANKS);
    (void)add_world(&graph, "all");
    add_groups(&graph, "neighbours", 8, 1, 0);
    graph.program_of[0] = workload_add_program(&graph, "all");
    (void)add_after(&graph, 0, "stream", "reduce",
                    (struct workload_op){.kind = WORKLOAD_COLLECTIVE,
                                         .collective = CCL_ALL_REDUCE,
                                         .set = 1,
                                         .dtype = DTYPE_BF16,
                                         .bytes = 64},
                    WORKLOAD_NONE);
    assert_true(is_alike(&graph, 8, why));
    assert_false(is_alike(&graph, 1, why));
    assert_non_null(strstr(why, "group that does not become"));
    graph.programs[0].ops[0].set = 0;
    assert_true(is_alike(&graph, 1, why));
    graph.programs[0].ops[0].collective = CCL_BROADCAST;
    graph.programs[0].ops[0].peer = 5;
    assert_false(is_alike(&graph, 1, why));
    assert_non_null(strstr(why, "another root"));
    workload_graph_free(&graph);
}

static struct workload_op *op_of_kind(struct workload_graph *graph, uint32_t rank, uint8_t kind)
{
    struct workload_op *op = graph->programs[graph->program_of[rank]].ops;
    while (op->kind != kind)
        op++;
    return op;
}

/* One change, after which the ranks still fit together. */
static void change(struct workload_graph *graph, uint32_t rank, uint32_t which)
{
    struct workload_program *const p = &graph->programs[graph->program_of[rank]];
    struct workload_op *const sends = op_of_kind(graph, rank, WORKLOAD_SEND);
    struct workload_op *const waits = &p->ops[p->op_count - 2];
    switch (which) {
    case 0:
        op_of_kind(graph, rank, WORKLOAD_TIME)->time_ps++;
        break;
    case 1:
        op_of_kind(graph, rank, WORKLOAD_ROOFLINE)->flops++;
        break;
    case 2: /* both ends */
        for (uint32_t r = 0; r < RANKS; r++) {
            struct workload_op *const got = op_of_kind(graph, r, WORKLOAD_RECV);
            if (r == sends->peer)
                got->bytes++;
        }
        sends->bytes++;
        break;
    case 3:
        p->deps[waits->first_dep] ^= 1;
        break;
    case 4:
        p->deps[waits->first_dep] |= WORKLOAD_AFTER_START;
        break;
    default: { /* two ranks send to each other's receivers */
        struct workload_op *const other = op_of_kind(graph, (rank + 1) % RANKS, WORKLOAD_SEND);
        const uint32_t peer = sends->peer;
        op_of_kind(graph, peer, WORKLOAD_RECV)->peer = (rank + 1) % RANKS;
        op_of_kind(graph, other->peer, WORKLOAD_RECV)->peer = rank;
        sends->peer = other->peer;
        other->peer = peer;
    }
    }
}

static void one_rank_that_differs_is_found(void **state)
{
    (void)state;
    for (uint32_t which = 0; which < 6; which++)
        for (uint32_t rank = 0; rank < RANKS; rank += 21) {
            struct workload_graph graph = {0};
            char why[WORKLOAD_WHY_BYTES];
            make_graph(&graph, 7);
            change(&graph, rank, which);
            if (is_alike(&graph, 8, why))
                fail_msg("change %u of rank %u is not found", which, rank);
            assert_non_null(strstr(why, "(operation "));
            workload_graph_free(&graph);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_by_whole_groups_are_found),
        cmocka_unit_test(a_turn_within_groups_is_refused),
        cmocka_unit_test(one_rank_that_differs_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
