/*
 * test_hw_broken.c: machines with failed links and stops (hw/topology/broken.h), of every topology:
 * what meets no failed part keeps its route; all other routes arrive, over links that are left; and
 * where no way is left there is no machine.
 */
#include "test/support/test_hw_support.h"
#include "test/support/test_machines.h"

#include "hw/route.h"
#include "hw/topology/broken.h"

enum { STOPS_MAX = 100, LINKS_MAX = 4000, FAR = 1000 };

/* What has failed, by itself: not as the product keeps it. */
struct failing {
    struct hw_failed_link link[LINKS_MAX];
    uint32_t stop[STOPS_MAX];
    struct hw_failures failures;
    bool lost[STOPS_MAX][HW_OUTLETS_MAX], stop_lost[STOPS_MAX];
    uint32_t steps[STOPS_MAX]; /* to one SIP, over what is left */
};

static bool is_left(const struct failing *f, const struct hw_config *hw, uint32_t stop,
                    uint32_t outlet)
{
    const struct hw_hop hop = hw_hop(hw, stop, outlet);
    return hop.link < HW_LINK_KINDS && !f->lost[stop][outlet] && !f->stop_lost[stop] &&
           !f->stop_lost[hop.to];
}

static void lose(struct failing *f, uint32_t stop, uint32_t outlet)
{
    assert_true(f->failures.link_count < LINKS_MAX);
    f->link[f->failures.link_count++] = (struct hw_failed_link){stop, outlet};
    f->lost[stop][outlet] = true;
}

/* One link in `rarely`, each both ways mostly, and a SIP or a switch now and then. */
static void draw(const struct hw_config *hw, struct failing *f, uint64_t *rng, uint32_t rarely)
{
    memset(f, 0, sizeof *f);
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++) {
        for (uint32_t o = 0; o < hw_outlets_of(hw, stop); o++) {
            const struct hw_hop hop = hw_hop(hw, stop, o);
            if (!hw_hop_counts(&hop, stop) || below(rng, rarely) > 0)
                continue;
            lose(f, stop, o);
            if (hop.back != HW_ONE_WAY && below(rng, 4) > 0)
                lose(f, hop.to, hop.back);
        }
        if (below(rng, 4 * rarely) > 0)
            continue;
        f->stop[f->failures.stop_count++] = stop;
        f->stop_lost[stop] = true;
    }
    f->failures.links = f->link;
    f->failures.stops = f->stop;
}

static void count_steps(const struct hw_config *hw, struct failing *f, uint32_t to)
{
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        f->steps[stop] = stop == to ? 0 : FAR;
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
            for (uint32_t o = 0; o < hw_outlets_of(hw, stop); o++)
                if (is_left(f, hw, stop, o) &&
                    f->steps[hw_hop(hw, stop, o).to] + 1 < f->steps[stop]) {
                    f->steps[stop] = f->steps[hw_hop(hw, stop, o).to] + 1;
                    shorter = true;
                }
    }
}

static bool is_connected(const struct hw_config *hw, struct failing *f)
{
    for (uint32_t to = 0; to < hw->sip_count; to++) {
        if (f->stop_lost[to])
            continue;
        count_steps(hw, f, to);
        for (uint32_t from = 0; from < hw->sip_count; from++)
            if (!f->stop_lost[from] && f->steps[from] == FAR)
                return false;
    }
    return true;
}

/* The whole machine's route meets nothing that has failed. */
static bool keeps_route(const struct hw_config *hw, const struct failing *f, uint32_t from,
                        uint32_t to)
{
    for (uint32_t at = from; at != to;) {
        const uint32_t outlet = hw_route_exit(hw, at, to, 0);
        if (!is_left(f, hw, at, outlet))
            return false;
        at = hw_hop(hw, at, outlet).to;
    }
    return true;
}

static void check_route(const struct hw_config *hw, const struct hw_config *broken,
                        const struct failing *f, uint32_t from, uint32_t to)
{
    const bool kept = keeps_route(hw, f, from, to);
    uint32_t steps = 0;
    for (uint32_t at = from; at != to; steps++) {
        const uint32_t outlet = hw_route_exit(broken, at, to, 0);
        const struct hw_hop hop = hw_hop(broken, at, outlet);
        assert_true(steps < hw_stops(hw));
        assert_true(is_left(f, hw, at, outlet));
        assert_int_equal(hop.link, hw_hop(hw, at, outlet).link);
        if (kept)
            assert_int_equal(outlet, hw_route_exit(hw, at, to, 0));
        at = hop.to;
    }
    /* the machine's own routes are shortest; those of paired dies are not */
    if (!kept && !hw->sip_topology->paired)
        assert_int_equal(steps, f->steps[from]);
}

static void check_hops(const struct hw_config *hw, const struct hw_config *broken,
                       const struct failing *f)
{
    assert_int_equal(hw_stops(broken), hw_stops(hw));
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t o = 0; o < hw_outlets_of(hw, stop); o++) {
            const struct hw_hop hop = hw_hop(broken, stop, o), whole = hw_hop(hw, stop, o);
            assert_int_equal(hop.link < HW_LINK_KINDS, is_left(f, hw, stop, o));
            if (hop.link == HW_LINK_KINDS)
                continue;
            assert_int_equal(hop.to, whole.to);
            assert_int_equal(hop.in, whole.in);
            assert_int_equal(hop.back,
                             is_left(f, hw, whole.to, whole.back) ? whole.back : HW_ONE_WAY);
        }
}

/* A queue of a global direction leaves by that, or as routed. */
static void check_directions(const struct hw_config *broken, const struct failing *f)
{
    for (uint32_t sip = 0; sip < broken->sip_count; sip++)
        for (enum hw_port port = 0; port < HW_PORTS; port++) {
            uint32_t to;
            if (f->stop_lost[sip] || !broken->sip_topology->neighbour(broken, sip, port, &to))
                continue;
            const uint32_t outlet = broken->sip_topology->global_exit(broken, sip, port);
            assert_true(outlet == HW_OUTLET_NONE ||
                        hw_hop(broken, sip, outlet).link < HW_LINK_KINDS);
        }
}

static struct failing failing;
static uint64_t drawn = 1;
static uint32_t connected, cut;

static void break_machine(const struct hw_config *hw, uint32_t rarely)
{
    char why[HW_CUT_OFF_BYTES];
    assert_true(hw_stops(hw) <= STOPS_MAX);
    draw(hw, &failing, &drawn, rarely);
    struct hw_topology_ops *const topology = hw_broken_create(hw, &failing.failures, why);
    assert_int_equal(topology != NULL, is_connected(hw, &failing));
    connected += topology != NULL;
    cut += topology == NULL;
    if (topology == NULL) {
        assert_non_null(strstr(why, "no way is left from sip "));
        return;
    }
    struct hw_config broken = *hw;
    broken.sip_topology = topology;
    assert_ptr_not_equal(hw_whole(&broken), &broken);
    check_hops(hw, &broken, &failing);
    check_directions(&broken, &failing);
    uint32_t living = 0;
    for (uint32_t to = 0; to < hw->sip_count; to++) {
        assert_int_equal(hw_has_failed(&broken, to), failing.stop_lost[to]);
        living += !failing.stop_lost[to];
        if (failing.stop_lost[to])
            continue;
        count_steps(hw, &failing, to);
        for (uint32_t from = 0; from < hw->sip_count; from++)
            if (!failing.stop_lost[from])
                check_route(hw, &broken, &failing, from, to);
    }
    assert_int_equal(hw_living_sips(&broken), living);
    hw_broken_free(topology);
}

static void break_often(const struct hw_config *hw)
{
    static const uint32_t rarely[] = {3, 6, 12, 30, 30};
    for (size_t i = 0; i < COUNT_OF(rarely); i++)
        break_machine(hw, rarely[i]);
}

static void what_is_left_of_any_machine_is_routed(void **state)
{
    (void)state;
    on_each_machine(break_often);
    assert_true(connected > 200 && cut > 200);
}

/* Routes that go by their key: by the first half of the SIPs' numbers first, or by the second. */
static uint32_t exit_by_key(const struct hw_config *hw, uint32_t stop, uint32_t to, uint32_t key)
{
    const uint32_t corner = key == 0 ? stop % hw->sip_w + to / hw->sip_w * hw->sip_w
                                     : to % hw->sip_w + stop / hw->sip_w * hw->sip_w;
    return hw_torus_2d.exit(hw, stop, corner != stop ? corner : to, 0);
}

static void routes_by_a_key_arrive_too(void **state)
{
    (void)state;
    struct hw_topology_ops keyed = hw_torus_2d;
    struct hw_config hw;
    char why[HW_CUT_OFF_BYTES];
    keyed.exit = exit_by_key;
    keyed.hashes = true;
    for (uint32_t i = 0; i < 200; i++) {
        assert_true(machine_of(&hw_torus_2d, 9 + 3 * (i % 4), &hw));
        hw.sip_topology = &keyed;
        draw(&hw, &failing, &drawn, 8);
        struct hw_topology_ops *const topology = hw_broken_create(&hw, &failing.failures, why);
        assert_int_equal(topology != NULL, is_connected(&hw, &failing));
        struct hw_config broken = hw;
        broken.sip_topology = topology;
        for (uint32_t to = 0; topology != NULL && to < hw.sip_count; to++)
            for (uint32_t from = 0; from < hw.sip_count; from++)
                for (uint32_t key = 0; key < 2; key++)
                    for (uint32_t at = from, steps = 0;
                         !failing.stop_lost[from] && !failing.stop_lost[to] && at != to; steps++) {
                        const uint32_t outlet = hw_route_exit(&broken, at, to, key);
                        assert_true(steps < 2 * hw.sip_count && is_left(&failing, &hw, at, outlet));
                        at = hw_hop(&broken, at, outlet).to;
                    }
        hw_broken_free(topology);
    }
}

/* 8 x 8: without the link from SIP 0 to SIP 1 the way there has three links: S, E, N. */
static void the_way_round_a_dead_link_of_a_torus(void **state)
{
    (void)state;
    static const struct hw_failed_link dead[] = {{0, HW_PORT_E}, {1, HW_PORT_W}};
    static const uint32_t way[] = {8, 9, 1};
    struct hw_config hw;
    char why[HW_CUT_OFF_BYTES], name[HW_PART_NAME_BYTES];
    assert_true(machine_of(&hw_torus_2d, 64, &hw));
    const struct hw_failures failures = {.links = dead, .link_count = 2};
    struct hw_topology_ops *const topology = hw_broken_create(&hw, &failures, why);
    assert_non_null(topology);
    hw.sip_topology = topology;
    uint32_t at = 0, changed = 0;
    for (size_t i = 0; i < COUNT_OF(way); i++) {
        at = hw_hop(&hw, at, hw_route_exit(&hw, at, 1, 0)).to;
        assert_true(at == way[i] || (i < 2 && at == 56 + i)); /* or N, E, S */
    }
    assert_int_equal(at, 1);
    assert_string_equal(hw_outer_link_name(&hw, 0, HW_PORT_E, name), "sip 0 E");
    /* from row 0 by X first: 4 SIPs west of the link (1, 2, 3, 4 steps over it) to 4 columns east,
     * of all rows; and as many the other way, but half a turn goes east */
    for (uint32_t from = 0; from < 64; from++)
        for (uint32_t to = 0; to < 64; to++)
            for (uint32_t stop = from; stop != to;) {
                const struct hw_config *const whole = hw_whole(&hw);
                const uint32_t outlet = hw_route_exit(whole, stop, to, 0);
                if ((stop == 0 && outlet == HW_PORT_E) || (stop == 1 && outlet == HW_PORT_W)) {
                    changed++;
                    break;
                }
                stop = hw_hop(whole, stop, outlet).to;
            }
    assert_int_equal(changed, (10 + 6) * 8);
    hw_broken_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_of_any_machine_is_routed),
        cmocka_unit_test(routes_by_a_key_arrive_too),
        cmocka_unit_test(the_way_round_a_dead_link_of_a_torus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
