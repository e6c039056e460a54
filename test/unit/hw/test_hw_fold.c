/*
 * test_hw_fold.c: every fold of every topology on every number of SIPs that it joins, and of lists
 * of levels. Relabellings are a group that moves each SIP of a class to its representative; routes,
 * switches, directions and cables of the machine are the same afterwards. What single SIPs have is
 * found.
 */
#include "test/support/random_graph.h"
#include "test/support/test_hw_support.h"
#include "test/support/test_machines.h"

#include "hw/faults.h"
#include "hw/topology/broken.h"
#include "hw/topology/fold.h"

/* ---- each fold of each machine --------------------------------------------------------------- */

typedef void check_fn(const struct hw_config *hw, const struct hw_fold *fold);

static bool is_kept_by_seed(void *arg, const struct hw_fold *one_digit)
{
    (void)one_digit;
    return below(arg, 2) == 0;
}

static uint32_t folds_seen, partial_seen;

/* Each candidate, and some of the folds that have some of its turns. */
static void on_each_fold_of(const struct hw_config *hw, check_fn *check)
{
    struct hw_fold fold;
    hw_fold_none(hw, &fold);
    assert_int_equal(fold.sips, fold.of);
    check(hw, &fold);
    for (uint32_t number = 0; hw_fold_candidate(hw, number, &fold); number++) {
        check(hw, &fold);
        folds_seen++;
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct hw_fold narrow = fold;
            uint64_t rng = seed;
            hw_fold_narrow(&narrow, is_kept_by_seed, &rng);
            assert_true(narrow.sips % fold.sips == 0);
            partial_seen += narrow.sips > fold.sips && narrow.sips < fold.of;
            check(hw, &narrow);
        }
    }
}

static check_fn *wanted;
static void on_machine(const struct hw_config *hw) { on_each_fold_of(hw, wanted); }

static void on_each_fold(check_fn *check)
{
    wanted = check;
    folds_seen = partial_seen = 0;
    on_each_machine(on_machine);
    assert_true(folds_seen > 200 && partial_seen > 100);
}

/* ---- the group ------------------------------------------------------------------------------- */

static void check_group(const struct hw_config *hw, const struct hw_fold *fold)
{
    const uint32_t n = hw->sip_count;
    bool is_member[SIPS_MAX] = {false};
    uint32_t least = 0;
    assert_int_equal(fold->of, n);
    for (uint32_t index = 0; index < fold->sips; index++) {
        const uint32_t r = hw_fold_sip(fold, index);
        assert_true(index == 0 || r > least);
        least = r;
        assert_int_equal(hw_fold_index(fold, r), index);
        assert_int_equal(hw_fold_representative(fold, r), r);
        assert_int_equal(hw_fold_member(fold, r, 0), r);
        for (uint32_t k = 0; k < hw_fold_alike(fold); k++) {
            const uint32_t sip = hw_fold_member(fold, r, k);
            assert_true(sip < n && !is_member[sip]);
            is_member[sip] = true;
            assert_int_equal(hw_fold_representative(fold, sip), r);
            assert_int_equal(hw_fold_index(fold, sip), index);
        }
    }
    for (uint32_t x = 0; x < n; x++) {
        bool is_image[SIPS_MAX] = {false};
        assert_true(is_member[x]);
        assert_int_equal(hw_fold_moved(fold, x, x), hw_fold_representative(fold, x));
        for (uint32_t sip = 0; sip < n; sip++) {
            const uint32_t to = hw_fold_moved(fold, x, sip);
            assert_int_equal(hw_fold_moved_back(fold, x, to), sip);
            assert_true(to < n && !is_image[to]);
            is_image[to] = true;
            assert_int_equal(hw_fold_representative(fold, to), hw_fold_representative(fold, sip));
            if (hw_fold_representative(fold, x) == x)
                assert_int_equal(to, sip);
            for (uint32_t y = 0; y < n; y++) /* the turn of x and then that of y's image is y's */
                assert_int_equal(hw_fold_moved(fold, hw_fold_moved(fold, x, y), to),
                                 hw_fold_moved(fold, y, sip));
        }
    }
}

static void relabellings_are_a_group_that_moves_sips_to_representatives(void **state)
{
    (void)state;
    on_each_fold(check_group);
}

/* ---- the machine afterwards ------------------------------------------------------------------ */

/* The stop that a relabelling takes a stop to. A switch goes where its SIPs go. */
static uint32_t stop_moved(const struct hw_config *hw, const struct hw_fold *fold, uint32_t x,
                           uint32_t stop)
{
    if (!hw_is_switch(hw, stop))
        return hw_fold_moved(fold, x, stop);
    for (uint32_t outlet = 0;; outlet++) {
        const struct hw_hop hop = hw_hop(hw, stop, outlet);
        if (hop.link < HW_LINK_KINDS)
            return hw_hop(hw, hw_fold_moved(fold, x, hop.to), hop.back).to;
    }
}

static void check_routes(const struct hw_config *hw, const struct hw_fold *fold)
{
    const struct hw_topology_ops *const t = hw->sip_topology;
    char why[HW_FOLD_WHY_BYTES];
    assert_true(hw_fold_keeps(hw, fold, why));
    for (uint32_t k = 0; k < hw_fold_alike(fold); k++) {
        const uint32_t x = hw_fold_member(fold, 0, k);
        for (uint32_t sip = 0; sip < hw->sip_count; sip++)
            for (uint32_t to = 0; to < hw->sip_count; to++) {
                const uint32_t sip2 = hw_fold_moved(fold, x, sip);
                const uint32_t to2 = hw_fold_moved(fold, x, to);
                if (sip == to)
                    continue;
                for (uint32_t at = sip, at2 = sip2; at != to;) {
                    const struct hw_hop hop = hw_hop(hw, at, t->exit(hw, at, to, 0));
                    const struct hw_hop hop2 = hw_hop(hw, at2, t->exit(hw, at2, to2, 0));
                    assert_true(hop2.link == hop.link && hop2.in == hop.in);
                    assert_int_equal(hop2.to, stop_moved(hw, fold, x, hop.to));
                    if (!hw_is_switch(hw, at))
                        assert_int_equal(t->exit(hw, at, to, 0), t->exit(hw, at2, to2, 0));
                    at = hop.to;
                    at2 = hop2.to;
                }
            }
    }
}

static void routes_are_the_same_afterwards(void **state)
{
    (void)state;
    on_each_fold(check_routes);
}

static void check_links(const struct hw_config *hw, const struct hw_fold *fold)
{
    for (uint32_t k = 0; k < hw_fold_alike(fold); k++) {
        const uint32_t x = hw_fold_member(fold, 0, k);
        for (uint32_t sip = 0; sip < hw->sip_count; sip++)
            for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
                const struct hw_hop hop = hw_hop(hw, sip, outlet);
                const struct hw_hop hop2 = hw_hop(hw, hw_fold_moved(fold, x, sip), outlet);
                assert_int_equal(hop2.link, hop.link);
                if (hop.link < HW_LINK_KINDS)
                    assert_int_equal(hop2.to, stop_moved(hw, fold, x, hop.to));
            }
    }
}

static void links_are_the_same_afterwards(void **state)
{
    (void)state;
    on_each_fold(check_links);
}

static bool directions_commute(const struct hw_config *hw, const struct hw_fold *fold,
                               enum hw_port port)
{
    for (uint32_t x = 0; x < hw->sip_count; x++)
        for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
            uint32_t to = 0, to2 = 0;
            const bool is_there = hw->sip_topology->neighbour(hw, sip, port, &to);
            if (hw->sip_topology->neighbour(hw, hw_fold_moved(fold, x, sip), port, &to2) !=
                is_there)
                return false;
            if (is_there && to2 != hw_fold_moved(fold, x, to))
                return false;
        }
    return true;
}

static uint32_t directions_kept, directions_lost;

static void check_directions(const struct hw_config *hw, const struct hw_fold *fold)
{
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        const bool keeps = directions_commute(hw, fold, port);
        assert_int_equal(hw_fold_keeps_direction(hw, fold, port), keeps);
        directions_kept += keeps;
        directions_lost += !keeps;
    }
}

static void directions_are_the_same_where_a_fold_says_so(void **state)
{
    (void)state;
    on_each_fold(check_directions);
    assert_true(directions_kept > 500 && directions_lost > 50);
}

/* ---- switches -------------------------------------------------------------------------------- */

static void check_switches(const struct hw_config *hw, const struct hw_fold *fold)
{
    if (hw_switches(hw) == 0 || hw->sip_count == 1) {
        assert_true(hw_switches(hw) > 0 || hw_fold_switches(fold) == 0);
        return;
    }
    for (uint32_t index = 0; index < hw_fold_switches(fold); index++) {
        const uint32_t number = hw_fold_switch_at(fold, index);
        assert_true(number < hw_switches(hw));
        assert_int_equal(hw_fold_switch_index(fold, number), index);
    }
    for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++)
        for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
            const struct hw_hop hop = hw_hop(hw, sip, outlet);
            if (hop.link == HW_LINK_KINDS || !hw_is_switch(hw, hop.to))
                continue;
            const uint32_t index = hw_fold_switch_index(fold, hop.to - hw->sip_count);
            const uint32_t link = hw_fold_switch_link_to(fold, hop.to - hw->sip_count, sip);
            assert_true(index < hw_fold_switches(fold));
            assert_true(link < hw_fold_switch_links_max(fold));
            /* that link of the representative leads to the SIP's representative */
            const uint32_t at = hw_fold_switch_sip(fold, hw_fold_switch_at(fold, index), link);
            assert_int_equal(at, hw_fold_representative(fold, sip));
            assert_int_equal(hw_hop(hw, at, outlet).to,
                             hw->sip_count + hw_fold_switch_at(fold, index));
        }
}

static void each_link_of_a_switch_stands_for_those_to_a_class_of_sips(void **state)
{
    (void)state;
    on_each_fold(check_switches);
}

/* ---- which folds there are ------------------------------------------------------------------- */

static struct hw_config machine(const struct hw_topology_ops *topology, uint32_t sips)
{
    struct hw_config hw;
    assert_true(machine_of(topology, sips, &hw));
    return hw;
}

static void the_widest_fold_has_one_sip_except_on_lines(void **state)
{
    (void)state;
    struct hw_fold fold;
    for (uint32_t i = 0; hw_topology_at(i) != NULL; i++) {
        struct hw_config hw;
        if (!machine_of(hw_topology_at(i), 24, &hw))
            continue; /* levels are not just a number of SIPs */
        assert_true(hw_fold_candidate(&hw, 0, &fold));
        assert_int_equal(fold.sips, hw_topology_at(i)->lines == HW_SIP_LINES_OPEN ? 24 : 1);
        assert_true(fold.translates);
    }
}

/* Exclusive ors: the factors of a power of two. */
static void behind_one_switch_factors_turn_by_themselves(void **state)
{
    (void)state;
    const struct hw_config hw = machine(&hw_switch, 16);
    struct hw_fold fold;
    assert_true(hw_fold_candidate(&hw, 1, &fold));
    assert_int_equal(fold.sips, 1);
    assert_false(fold.translates);
    for (uint32_t x = 0; x < 16; x++)
        for (uint32_t sip = 0; sip < 16; sip++)
            assert_int_equal(hw_fold_moved(&fold, x, sip), x ^ sip);
    bool has_groups_of_four = false;
    for (uint32_t number = 2; hw_fold_candidate(&hw, number, &fold); number++)
        has_groups_of_four |= fold.count == 2 && fold.digit[0].size == 4 &&
                              hw_fold_moved(&fold, 5, 0) == 15 && hw_fold_moved(&fold, 5, 9) == 4;
    assert_true(has_groups_of_four);
}

static bool keeps_every_third(void *arg, const struct hw_fold *one_digit)
{
    const bool *const slow = arg;
    for (uint32_t x = 0; x < one_digit->of; x++)
        for (uint32_t sip = 0; sip < one_digit->of; sip++)
            if (slow[sip] != slow[hw_fold_moved(one_digit, x, sip)])
                return false;
    return true;
}

/* A torus of 6 x 4 whose every third column is slow, or whose row 1 is. */
static void a_fold_is_narrowed_to_the_least_steps_that_keep_slow_sips(void **state)
{
    (void)state;
    const struct hw_config hw = machine(&hw_torus_2d, 24);
    struct hw_fold fold;
    bool slow[24];
    assert_true(hw_fold_candidate(&hw, 0, &fold));
    for (uint32_t sip = 0; sip < 24; sip++)
        slow[sip] = sip % 6 % 3 == 2;
    hw_fold_narrow(&fold, keeps_every_third, slow);
    assert_int_equal(fold.sips, 3);
    assert_int_equal(fold.digit[0].step, 3);
    assert_true(fold.translates);
    for (uint32_t sip = 0; sip < 24; sip++)
        slow[sip] = sip / 6 == 1;
    assert_true(hw_fold_candidate(&hw, 0, &fold));
    hw_fold_narrow(&fold, keeps_every_third, slow);
    assert_int_equal(fold.sips, 4);
    assert_int_equal(fold.digit[1].step, 4);
}

/* ---- what single SIPs have ------------------------------------------------------------------- */

static void jitter_that_is_drawn_or_of_one_sip_is_named(void **state)
{
    (void)state;
    struct hw_config hw = machine(&hw_ring_1d, 8);
    struct hw_fold fold;
    char why[HW_FOLD_WHY_BYTES];
    struct hw_jitter_kind *const kind = &hw.link_jitter[HW_LINK_UCIE];
    assert_true(hw_fold_candidate(&hw, 0, &fold));
    *kind = (struct hw_jitter_kind){.active = true, .distribution = HW_JITTER_FIXED};
    assert_true(hw_fold_keeps(&hw, &fold, why));
    kind->only = (struct hw_where){.parts = 1, .at = {3}};
    assert_false(hw_fold_keeps(&hw, &fold, why));
    assert_string_equal(why, "only SIP 3 has a late ucie");
    kind->only.parts = 0, kind->distribution = HW_JITTER_UNIFORM;
    assert_false(hw_fold_keeps(&hw, &fold, why));
    assert_string_equal(why, "the jitter of ucie is drawn for each operation, so none repeats "
                             "another");
    hw_fold_none(&hw, &fold);
    assert_true(hw_fold_keeps(&hw, &fold, why));
}

/* On this ring SIP 0 sends everything to SIP 1. */
static uint32_t exit_of_a_ring_with_one_odd_sip(const struct hw_config *hw, uint32_t stop,
                                                uint32_t to_sip, uint32_t key)
{
    return hw_ring_1d.exit(hw, stop, stop == 0 ? 1 : to_sip, key);
}

static void routes_of_one_sip_that_differ_are_named(void **state)
{
    (void)state;
    struct hw_config hw = machine(&hw_ring_1d, 8);
    struct hw_topology_ops odd = hw_ring_1d;
    struct hw_fold fold;
    char why[HW_FOLD_WHY_BYTES];
    assert_true(hw_fold_candidate(&hw, 0, &fold));
    assert_true(hw_fold_keeps(&hw, &fold, why));
    odd.exit = exit_of_a_ring_with_one_odd_sip;
    hw.sip_topology = &odd;
    assert_false(hw_fold_keeps(&hw, &fold, why));
    assert_non_null(strstr(why, "ring_1d: the route from SIP "));
    hw_fold_none(&hw, &fold);
    assert_true(hw_fold_keeps(&hw, &fold, why));
}

static void slow_parts_of_all_sips_fold_and_a_slow_link_does_not(void **state)
{
    (void)state;
    struct hw_config hw = machine(&hw_ring_1d, 8);
    struct hw_fold fold;
    char why[HW_FOLD_WHY_BYTES];
    struct hw_slow slow = {
        .name = "old", .kind = {[HW_NODE_KINDS + HW_LINK_UCIE] = true}, .percent = 30};
    const struct hw_faults faults = {.slow = &slow, .slow_count = 1};
    const uint64_t link = hw_outer_link(2, HW_PORT_E);
    hw.faults = &faults;
    assert_true(hw_fold_candidate(&hw, 0, &fold));
    assert_true(hw_fold_keeps(&hw, &fold, why));
    slow.where = (struct hw_where){.parts = 1, .at = {3}};
    assert_false(hw_fold_keeps(&hw, &fold, why));
    assert_string_equal(why, "only SIP 3 has a late ucie");
    slow.links = &link, slow.link_count = 1, slow.links_text = "link sip 2 E";
    assert_false(hw_fold_keeps(&hw, &fold, why));
    assert_string_equal(why, "only link sip 2 E has another rate (faults.old)");
    hw_fold_none(&hw, &fold);
    assert_true(hw_fold_keeps(&hw, &fold, why));
}

static bool keeps_machine(void *arg, const struct hw_fold *fold)
{
    char why[HW_FOLD_WHY_BYTES];
    return hw_fold_keeps(arg, fold, why);
}

static void sips_that_are_listed_narrow_the_fold(void **state)
{
    (void)state;
    static const struct {
        uint64_t late;
        uint32_t sips;
    } rings[] = {{0x1111, 4}, {0x2222, 4}, {0xFFFF, 1}, {0x0111, 16}, {0x0101, 8}};
    struct hw_jitter_sips *const late = calloc(1, sizeof *late + sizeof *late->bits);
    assert_non_null(late);
    late->end = 16;
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        struct hw_config hw = machine(&hw_ring_1d, 16);
        struct hw_fold fold;
        late->bits[0] = rings[i].late;
        const struct hw_slow slow = {.name = "slow",
                                     .kind = {[HW_NODE_PE_CPU] = true},
                                     .where = {.sips = late},
                                     .percent = 30};
        const struct hw_faults faults = {.slow = &slow, .slow_count = 1};
        hw.faults = &faults;
        assert_true(hw_fold_candidate(&hw, 0, &fold));
        hw_fold_narrow(&fold, keeps_machine, &hw);
        assert_int_equal(fold.sips, rings[i].sips);
    }
    free(late);
}

static bool some_fold_keeps(const struct hw_config *hw, char why[HW_FOLD_WHY_BYTES])
{
    struct hw_fold fold;
    bool kept = false;
    for (uint32_t number = 0; !kept && hw_fold_candidate(hw, number, &fold); number++) {
        assert_true(fold.sips < fold.of);
        kept = hw_fold_keeps(hw, &fold, why);
    }
    return kept;
}

/* Of a ring of 65 SIPs that is listed (no way round is as long as the other): a turn keeps it,
 * unless one link far from any sample is of another class, a policy hashes, or there are switches.
 */
static void all_links_and_routes_of_graphs_are_compared(void **state)
{
    (void)state;
    static struct random_graph r;
    char why[HW_GRAPH_WHY_BYTES], why_not[HW_FOLD_WHY_BYTES];
    for (uint32_t what = 0; what < 4; what++) {
        r = (struct random_graph){.given = {.sips = 65, .links = r.link}};
        r.given.policy = what == 2 ? HW_ROUTES_MINIMAL : HW_ROUTES_LISTED;
        for (uint32_t sip = 0; sip < 65; sip++)
            add_link(&r, sip, (sip + 1) % 65, false);
        for (uint32_t i = 0; i < 65; i++)
            r.link[i].from.port = HW_PORT_E, r.link[i].to.port = HW_PORT_W;
        if (what == 1)
            r.link[1].link = r.link[1].back = HW_LINK_SIO;
        r.given.switches = what == 3;
        for (uint32_t sip = 0; what == 3 && sip < 65; sip++)
            add_link(&r, sip, 65, false);
        struct hw_topology_ops *const graph = hw_graph_create(&r.given, why);
        assert_non_null(graph);
        const struct hw_config base = default_machine(), hw = graph_of(&base, graph, &r.given);
        static const char *const reasons[] = {"", "the links of SIP", "a hash of PEs",
                                              "its switches, which need not be alike"};
        assert_int_equal(some_fold_keeps(&hw, why_not), what == 0);
        assert_non_null(strstr(why_not, reasons[what]));
        hw_graph_free(graph);
    }
}

/* A failed link between SIPs that no sample asks for. */
static void failed_links_are_kept_by_no_turn(void **state)
{
    (void)state;
    struct hw_config hw = machine(&hw_torus_2d, 64);
    const struct hw_failed_link link = {.stop = 9, .outlet = HW_PORT_E};
    const struct hw_failures failures = {.links = &link, .link_count = 1};
    char why[HW_CUT_OFF_BYTES], why_not[HW_FOLD_WHY_BYTES];
    assert_true(some_fold_keeps(&hw, why_not));
    struct hw_topology_ops *const broken = hw_broken_create(&hw, &failures, why);
    assert_non_null(broken);
    hw.sip_topology = broken;
    assert_false(some_fold_keeps(&hw, why_not));
    hw_broken_free(broken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relabellings_are_a_group_that_moves_sips_to_representatives),
        cmocka_unit_test(routes_are_the_same_afterwards),
        cmocka_unit_test(links_are_the_same_afterwards),
        cmocka_unit_test(directions_are_the_same_where_a_fold_says_so),
        cmocka_unit_test(each_link_of_a_switch_stands_for_those_to_a_class_of_sips),
        cmocka_unit_test(the_widest_fold_has_one_sip_except_on_lines),
        cmocka_unit_test(behind_one_switch_factors_turn_by_themselves),
        cmocka_unit_test(a_fold_is_narrowed_to_the_least_steps_that_keep_slow_sips),
        cmocka_unit_test(routes_of_one_sip_that_differ_are_named),
        cmocka_unit_test(all_links_and_routes_of_graphs_are_compared),
        cmocka_unit_test(failed_links_are_kept_by_no_turn),
        cmocka_unit_test(jitter_that_is_drawn_or_of_one_sip_is_named),
        cmocka_unit_test(sips_that_are_listed_narrow_the_fold),
        cmocka_unit_test(slow_parts_of_all_sips_fold_and_a_slow_link_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
