/*
 * test_wait_graph.c: shortest cycles, against powers of the adjacency matrix, and at sizes of real
 * machines; and the report of a deadlock with a cycle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lp/host/deadlock.h"
#include "lp/host/wait_graph.h"
#include "test/support/test_lp_support.h"

/* ---- graphs --------------------------------------------------------------------------------- */

enum { NODES_MAX = 12 };

struct edges {
    uint32_t count, first[NODES_MAX + 1], to[NODES_MAX * NODES_MAX];
};

static uint32_t next(uint64_t *seed, uint32_t bound)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % bound;
}

/* The least number of steps in which some node reaches itself; 0: none does. */
static uint32_t slow_length(const struct edges *e)
{
    bool reach[NODES_MAX][NODES_MAX] = {{false}};
    for (uint32_t i = 0; i < e->count; i++)
        reach[i][i] = true;
    for (uint32_t length = 1; length <= e->count; length++) {
        bool further[NODES_MAX][NODES_MAX] = {{false}};
        for (uint32_t from = 0; from < e->count; from++)
            for (uint32_t at = 0; at < e->count; at++)
                for (uint32_t k = e->first[at]; reach[from][at] && k < e->first[at + 1]; k++)
                    further[from][e->to[k]] = true;
        memcpy(reach, further, sizeof reach);
        for (uint32_t i = 0; i < e->count; i++)
            if (reach[i][i])
                return length;
    }
    return 0;
}

static bool has_edge(const struct edges *e, uint32_t from, uint32_t to)
{
    for (uint32_t k = e->first[from]; k < e->first[from + 1]; k++)
        if (e->to[k] == to)
            return true;
    return false;
}

static void random_graphs_have_the_cycles_of_their_matrices(void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint32_t none = 0, long_ones = 0;
    for (int round = 0; round < 60000; round++) {
        struct edges e = {.count = 1 + next(&seed, NODES_MAX)};
        uint32_t used = 0;
        const uint32_t sparse = 1 + next(&seed, 12);
        for (uint32_t i = 0; i < e.count; i++) {
            e.first[i] = used;
            for (uint32_t k = 0; k < e.count; k++)
                if (next(&seed, sparse) == 0)
                    e.to[used++] = k;
        }
        e.first[e.count] = used;
        const struct wait_graph graph = {e.count, e.first, e.to};
        uint32_t *cycle, length;
        assert_true(wait_graph_shortest_cycle(&graph, &cycle, &length));
        if (length != slow_length(&e))
            fail_msg("round %d: a cycle of %u, expected %u", round, length, slow_length(&e));
        for (uint32_t i = 0; i < length; i++) {
            assert_true(has_edge(&e, cycle[i], cycle[(i + 1) % length]));
            assert_true(cycle[i] >= cycle[0]); /* begins with its lowest */
        }
        none += length == 0;
        long_ones += length > 3;
        free(cycle);
    }
    if (none < 1000 || long_ones < 100)
        fail_msg("%u without a cycle, %u with long ones: too few to mean much", none, long_ones);
}

/* A search from each of 200,000 nodes would take for ever. */
static void large_rings_are_found_at_once(void **state)
{
    (void)state;
    const uint32_t n = 200000;
    uint32_t *first = malloc((n + 1) * sizeof *first), *to = malloc(n * sizeof *to);
    for (uint32_t i = 0; i <= n; i++)
        first[i] = i;
    for (uint32_t i = 0; i < n; i++)
        to[i] = (i + 1) % n;
    const struct wait_graph graph = {n, first, to};
    uint32_t *cycle, length;
    assert_true(wait_graph_shortest_cycle(&graph, &cycle, &length));
    assert_int_equal(length, n);
    assert_int_equal(cycle[0], 0);
    assert_int_equal(cycle[n - 1], n - 1);
    free(cycle);
    to[150000] = 100000; /* the rest leads into a ring of 50,001 */
    assert_true(wait_graph_shortest_cycle(&graph, &cycle, &length));
    assert_int_equal(length, 50001);
    assert_int_equal(cycle[0], 100000);
    free(cycle);
    free(first);
    free(to);
}

/* ---- reports -------------------------------------------------------------------------------- */

static void expect_report(struct machine *m, const struct part *parts, uint32_t count,
                          const char *report)
{
    char text[1024];
    assert_int_equal(try_scripts(m, parts, count), CW_PROGRAM_FAILED);
    snprintf(text, sizeof text,
             "IpcqDeadlock: %s. Each send needs a receive on the other side, in the opposite "
             "direction",
             report);
    assert_string_equal(first_line_of_error(m), text);
    machine_free(m);
}

static void a_ring_of_thousands_is_one_cycle(void **state)
{
    (void)state;
    enum { SIPS = 4096 };
    static const struct line script[] = {RECV(HW_DIR_GLOBAL_W, 16), DONE};
    static struct part parts[SIPS];
    struct machine *m = small_machine(SIPS, 1, 1);
    machine_start(m);
    for (uint32_t sip = 0; sip < SIPS; sip++)
        parts[sip] = (struct part){sip * 8, script};
    assert_int_equal(try_scripts(m, parts, SIPS), CW_PROGRAM_FAILED);
    const char *const begin =
        "IpcqDeadlock: 4096 kernels wait and nothing is left to happen: a cycle of 4096: PE 0.0.0 "
        "waits for data from global_W, PE 4095.0.0 waits for data from global_W, ";
    assert_memory_equal(m->error.text, begin, strlen(begin));
    assert_non_null(strstr(m->error.text, ", ... back to PE 0.0.0. Each send"));
    machine_free(m);
}

/* Of two cycles that share PE 0.0.0 the shorter one: 0 waits in one context for 1, in another for
 * 4; 1 waits for 0, 4 for 5, 5 for 1. PE 1 is east of 0, 4 south of it, 5 east of 4. */
static void any_context_may_close_a_cycle(void **state)
{
    (void)state;
    static const struct line east[] = {RECV(HW_DIR_INTRA_E, 16), DONE};
    struct machine *m = small_machine(1, 1, 1);
    m->needs.contexts = 2;
    machine_start(m);
    const struct part parts[] = {
        {0, (const struct line[]){FORK(east), RECV(HW_DIR_INTRA_S, 16), JOIN, DONE}},
        {1, (const struct line[]){RECV(HW_DIR_INTRA_W, 16), DONE}},
        {4, (const struct line[]){RECV(HW_DIR_INTRA_E, 16), DONE}},
        {5, (const struct line[]){RECV(HW_DIR_INTRA_N, 16), DONE}}};
    expect_report(m, parts, 4,
                  "4 kernels wait and nothing is left to happen: a cycle of 2: PE 0.0.0 waits for "
                  "data from intra_E, PE 0.0.1 waits for data from intra_W, back to PE 0.0.0");
}

static void a_receive_from_any_direction_may_close_a_cycle(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    const struct part parts[] = {{0, (const struct line[]){RECV_ANY(16), DONE}},
                                 {1, (const struct line[]){RECV(HW_DIR_INTRA_W, 16), DONE}}};
    expect_report(m, parts, 2,
                  "2 kernels wait and nothing is left to happen: a cycle of 2: PE 0.0.0 waits for "
                  "data from any direction, PE 0.0.1 waits for data from intra_W, back to PE "
                  "0.0.0");
}

/* PE 1 has ended; PE 2 waits for it, and PE 3 for PE 2. */
static void who_waits_for_the_absent_is_named_and_not_who_waits_for_them(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    const struct part parts[] = {{1, (const struct line[]){DONE}},
                                 {2, (const struct line[]){RECV(HW_DIR_INTRA_W, 16), DONE}},
                                 {3, (const struct line[]){RECV(HW_DIR_INTRA_W, 16), DONE}}};
    expect_report(m, parts, 3,
                  "2 kernels wait and nothing is left to happen: PE 0.0.2 waits for data from "
                  "intra_W: its peer, PE 0.0.1, has finished");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_have_the_cycles_of_their_matrices),
        cmocka_unit_test(large_rings_are_found_at_once),
        cmocka_unit_test(a_ring_of_thousands_is_one_cycle),
        cmocka_unit_test(any_context_may_close_a_cycle),
        cmocka_unit_test(a_receive_from_any_direction_may_close_a_cycle),
        cmocka_unit_test(who_waits_for_the_absent_is_named_and_not_who_waits_for_them),
    };
    return cmocka_run_group_tests_name("wait_graph", tests, NULL, NULL);
}
