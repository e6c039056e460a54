/*
 * test_hw_trees.c: the trees along which switches reduce: which machines have some, that they reach
 * all SIPs and share no link, and the order of their sums.
 */
#include "test/support/test_hw_support.h"

#include "hw/topology/graph.h"
#include "hw/topology/trees.h"

enum { LINKS_MAX = 64 };

/* A graph under construction. */
struct drawn {
    struct hw_graph_link link[LINKS_MAX];
    uint32_t links;
};

static void join(struct drawn *d, uint32_t from, uint32_t to)
{
    assert_true(d->links < LINKS_MAX);
    d->link[d->links++] = (struct hw_graph_link){.from = {.stop = from, .port = HW_PORT_NONE},
                                                 .to = {.stop = to, .port = HW_PORT_NONE},
                                                 .link = HW_LINK_SIP_LINK};
}

static struct hw_config machine_of(const struct drawn *d, uint32_t sips, uint32_t switches)
{
    char why[HW_GRAPH_WHY_BYTES];
    const struct hw_graph_given given = {
        .sips = sips, .switches = switches, .links = d->link, .link_count = d->links};
    struct hw_config hw = sips_of(&hw_switch, sips, 1);
    hw.sip_topology = hw_graph_create(&given, why);
    if (hw.sip_topology == NULL)
        fail_msg("%s", why);
    hw.reduce[0].mode = HW_REDUCE_PUSH;
    return hw;
}

static void free_graph(struct hw_config *hw)
{
    hw_graph_free((struct hw_topology_ops *)(uintptr_t)hw->sip_topology);
}

/* Every SIP leads up to the root; children lead down to where their parents lead up from; no link
 * is in two trees. */
static void check_trees(const struct hw_config *hw, const struct hw_trees *trees)
{
    bool used[256][64] = {{false}};
    for (uint32_t t = 0; t < trees->count; t++) {
        for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
            struct hw_hop hop = hw_hop(hw, sip, trees->sip_up[t * trees->sips + sip]);
            uint32_t below = sip, place = trees->sip_place[t * trees->sips + sip];
            assert_true(hop.link < HW_LINK_KINDS);
            assert_false(used[sip][trees->sip_up[t * trees->sips + sip]]);
            used[sip][trees->sip_up[t * trees->sips + sip]] = true;
            for (uint32_t hops = 0; hop.to != trees->root[t]; hops++) {
                const struct hw_tree_switch *const at = hw_tree_at(trees, t, hop.to - trees->sips);
                assert_true(hops < 8);
                assert_int_equal(trees->child[at->first + place].stop, below);
                place = at->place;
                below = hop.to;
                hop = hw_hop(hw, hop.to, at->up);
                assert_int_equal(hop.to, at->parent);
            }
            const struct hw_tree_switch *const root =
                hw_tree_at(trees, t, trees->root[t] - trees->sips);
            assert_int_equal(root->up, HW_TREE_NONE);
            assert_int_equal(trees->child[root->first + place].stop, below);
        }
        for (uint32_t k = 0; k < trees->switches; k++) {
            const struct hw_tree_switch *const at = hw_tree_at(trees, t, k);
            for (uint32_t i = 0; i < at->child_count; i++) {
                const struct hw_tree_child *const child = &trees->child[at->first + i];
                const struct hw_hop down = hw_hop(hw, trees->sips + k, child->outlet);
                assert_int_equal(down.to, child->stop);
                assert_true(i == 0 || child[-1].first_sip < child->first_sip);
                assert_false(used[trees->sips + k][child->outlet]);
                used[trees->sips + k][child->outlet] = true;
            }
        }
    }
}

static struct hw_trees trees_of(const struct hw_config *hw)
{
    struct hw_trees trees;
    assert_true(hw_trees_make(hw, &trees));
    check_trees(hw, &trees);
    return trees;
}

static void one_switch_is_one_tree(void **state)
{
    (void)state;
    struct hw_config hw = sips_of(&hw_switch, 4, 1);
    assert_int_equal(hw_tree_count(&hw), 0); /* it only forwards */
    assert_int_equal(hw_tree_mode(&hw), HW_REDUCE_NONE);
    hw.reduce[0].mode = HW_REDUCE_PULL;
    assert_int_equal(hw_tree_mode(&hw), HW_REDUCE_PULL);
    struct hw_trees trees = trees_of(&hw);
    assert_int_equal(trees.count, 1);
    assert_int_equal(hw_tree_at(&trees, 0, 0)->child_count, 4);
    uint32_t order[7];
    static const uint32_t expected[] = {0, 1, HW_TREE_ADD, 2, HW_TREE_MORE, 3, HW_TREE_MORE};
    hw_tree_sums(&trees, 0, order);
    assert_memory_equal(order, expected, sizeof expected);
    hw_trees_free(&trees);
}

static void switches_that_do_not_join_all_sips_are_none(void **state)
{
    (void)state;
    struct hw_config pairs = sips_of(&hw_pair_switch, 8, 1); /* a switch for each parity */
    pairs.reduce[0].mode = HW_REDUCE_PUSH;
    assert_int_equal(hw_tree_count(&pairs), 0);
    struct hw_config ring = sips_of(&hw_ring_1d, 4, 1);
    ring.reduce[0].mode = HW_REDUCE_PUSH;
    assert_int_equal(hw_tree_count(&ring), 0);
}

/* Eight SIPs, each joined to four switches. */
static void four_switches_are_four_trees(void **state)
{
    (void)state;
    struct drawn d = {.links = 0};
    for (uint32_t sip = 0; sip < 8; sip++)
        for (uint32_t k = 0; k < 4; k++)
            join(&d, sip, 8 + k);
    struct hw_config hw = machine_of(&d, 8, 4);
    struct hw_trees trees = trees_of(&hw);
    assert_int_equal(trees.count, 4);
    for (uint32_t t = 0; t < 4; t++)
        assert_int_equal(trees.root[t], 8 + t);
    hw_trees_free(&trees);
    free_graph(&hw);
}

/* Two cables to a switch are two trees of it. */
static void parallel_cables_are_trees_of_one_switch(void **state)
{
    (void)state;
    struct drawn d = {.links = 0};
    for (uint32_t sip = 0; sip < 3; sip++)
        for (uint32_t cable = 0; cable < 2; cable++)
            join(&d, sip, 3);
    struct hw_config hw = machine_of(&d, 3, 1);
    struct hw_trees trees = trees_of(&hw);
    assert_int_equal(trees.count, 2);
    hw_trees_free(&trees);
    free_graph(&hw);
}

/* Two leaves of two SIPs under two spines: the SIPs' only links are in the first tree, whose root
 * is a spine. Each leaf adds up its own SIPs first. */
static void a_fat_tree_adds_level_by_level(void **state)
{
    (void)state;
    struct drawn d = {.links = 0};
    for (uint32_t sip = 0; sip < 4; sip++)
        join(&d, sip, 4 + sip % 2); /* leaf 4 has SIPs 0 and 2 */
    for (uint32_t leaf = 4; leaf < 6; leaf++)
        for (uint32_t spine = 6; spine < 8; spine++)
            join(&d, leaf, spine);
    struct hw_config hw = machine_of(&d, 4, 4);
    struct hw_trees trees = trees_of(&hw);
    assert_int_equal(trees.count, 1);
    assert_int_equal(trees.root[0], 6);
    uint32_t order[7];
    static const uint32_t expected[] = {0, 2, HW_TREE_ADD, 1, 3, HW_TREE_ADD, HW_TREE_ADD};
    hw_tree_sums(&trees, 0, order);
    assert_memory_equal(order, expected, sizeof expected);
    hw_trees_free(&trees);
    free_graph(&hw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_switch_is_one_tree),
        cmocka_unit_test(switches_that_do_not_join_all_sips_are_none),
        cmocka_unit_test(four_switches_are_four_trees),
        cmocka_unit_test(parallel_cables_are_trees_of_one_switch),
        cmocka_unit_test(a_fat_tree_adds_level_by_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
