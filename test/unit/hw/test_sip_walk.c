/*
 * test_sip_walk.c: orders of SIPs for algorithms (hw/sip_walk.h): walks along links, walks that
 * share none, and levels of groups.
 */
#include "test/support/test_hw_support.h"

#include "hw/route.h"
#include "hw/sip_walk.h"
#include "hw/topology/graph.h"

enum { LINKS_MAX = 200, SIPS = 16 };

struct machine {
    struct hw_graph_link link[LINKS_MAX];
    struct hw_graph_given given;
    struct hw_config hw;
};

static void join(struct machine *m, uint32_t from, uint32_t to, uint32_t class)
{
    const enum hw_link_kind link = (enum hw_link_kind)(HW_LINK_CLASS_1 + class);
    m->link[m->given.link_count++] =
        (struct hw_graph_link){.from = {.stop = from, .port = HW_PORT_NONE},
                               .to = {.stop = to, .port = HW_PORT_NONE},
                               .link = link,
                               .back = link};
}

static void build(struct machine *m, uint32_t sips, uint32_t switches)
{
    char why[HW_GRAPH_WHY_BYTES];
    m->hw = sips_of(&hw_ring_1d, sips, 1);
    m->given.sips = sips;
    m->given.switches = switches;
    m->given.links = m->link;
    m->hw.sip_topology = hw_graph_create(&m->given, why);
    assert_non_null(m->hw.sip_topology);
}

static void destroy(struct machine *m)
{
    hw_graph_free((struct hw_topology_ops *)(uintptr_t)m->hw.sip_topology);
}

static bool are_joined(const struct hw_config *hw, uint32_t a, uint32_t b)
{
    return hw_hop(hw, a, hw_route_exit(hw, a, b, 0)).to == b;
}

/* A ring whose SIPs are numbered in another order: 5 i modulo 16. */
static void a_walk_follows_a_ring_whatever_its_numbers(void **state)
{
    (void)state;
    static struct machine m;
    uint32_t order[HW_WALKS_MAX * SIPS];
    m = (struct machine){.given = {.link_count = 0}};
    for (uint32_t i = 0; i < SIPS; i++)
        join(&m, 5 * i % SIPS, 5 * (i + 1) % SIPS, 0);
    build(&m, SIPS, 0);
    assert_int_equal(hw_sip_walks(&m.hw, order), 1); /* a second one would use the same links */
    for (uint32_t i = 0; i < SIPS; i++)
        assert_true(are_joined(&m.hw, order[i], order[(i + 1) % SIPS]));
    destroy(&m);
}

/* Every two of nine are joined: 36 links, of which each walk takes nine. */
static void several_walks_share_no_link(void **state)
{
    (void)state;
    enum { N = 9 };
    static struct machine m;
    uint32_t order[HW_WALKS_MAX * N];
    bool used[N][N] = {{false}};
    m = (struct machine){.given = {.link_count = 0}};
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < i; k++)
            join(&m, i, k, 0);
    build(&m, N, 0);
    const uint32_t walks = hw_sip_walks(&m.hw, order);
    assert_in_range(walks, 2, 4);
    for (uint32_t walk = 0; walk < walks; walk++) {
        bool seen[N] = {false};
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t a = order[walk * N + i], b = order[walk * N + (i + 1) % N];
            assert_false(seen[a]);
            assert_false(used[a][b]);
            seen[a] = used[a][b] = used[b][a] = true;
        }
    }
    destroy(&m);
}

/* A 4 x 4 grid that does not wrap has a closed walk of 16 links. */
static void a_walk_through_a_grid_is_closed(void **state)
{
    (void)state;
    static struct machine m;
    uint32_t order[HW_WALKS_MAX * SIPS], apart = 0;
    m = (struct machine){.given = {.link_count = 0}};
    for (uint32_t i = 0; i < SIPS; i++) {
        if (i % 4 < 3)
            join(&m, i, i + 1, 0);
        if (i / 4 < 3)
            join(&m, i, i + 4, 0);
    }
    build(&m, SIPS, 0);
    (void)hw_sip_walks(&m.hw, order);
    for (uint32_t i = 0; i < SIPS; i++)
        apart += !are_joined(&m.hw, order[i], order[(i + 1) % SIPS]);
    assert_in_range(apart, 0, 1); /* a heuristic: at most one step goes over two links */
    destroy(&m);
}

/* Two pods of two leaves of four SIPs; SIP i is at leaf i mod 4, leaf l in pod l mod 2. */
static void levels_are_the_groups_of_a_tree(void **state)
{
    (void)state;
    static struct machine m;
    static const uint32_t expected[SIPS] = {0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15};
    struct hw_sip_levels levels;
    uint32_t order[SIPS];
    m = (struct machine){.given = {.link_count = 0}};
    for (uint32_t i = 0; i < SIPS; i++)
        join(&m, i, SIPS + i % 4, 0);
    for (uint32_t leaf = 0; leaf < 4; leaf++)
        join(&m, SIPS + leaf, SIPS + 4 + leaf % 2, 1);
    join(&m, SIPS + 4, SIPS + 5, 2);
    build(&m, SIPS, 6);
    assert_true(hw_sip_levels_find(&m.hw, &levels, order));
    assert_int_equal(levels.count, 3);
    assert_int_equal(levels.size[0], 4);
    assert_int_equal(levels.size[1], 2);
    assert_int_equal(levels.size[2], 2);
    assert_memory_equal(order, expected, sizeof order);
    destroy(&m);
}

static void groups_of_unequal_sizes_are_no_levels(void **state)
{
    (void)state;
    static struct machine m;
    struct hw_sip_levels levels;
    uint32_t order[5];
    m = (struct machine){.given = {.link_count = 0}};
    for (uint32_t i = 0; i < 5; i++)
        join(&m, i, 5 + i / 3, 0);
    join(&m, 5, 6, 1);
    build(&m, 5, 2);
    assert_true(hw_sip_levels_find(&m.hw, &levels, order));
    assert_int_equal(levels.count, 1);
    assert_int_equal(levels.size[0], 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(order[i], i);
    destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_follows_a_ring_whatever_its_numbers),
        cmocka_unit_test(several_walks_share_no_link),
        cmocka_unit_test(a_walk_through_a_grid_is_closed),
        cmocka_unit_test(levels_are_the_groups_of_a_tree),
        cmocka_unit_test(groups_of_unequal_sizes_are_no_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
