/*
 * test_bound_listed.c: lower bounds of graphs (COMMANDS.md, "Bound"), against figures by hand. A
 * SIP is one cube with one PE per corner, so that its links to other SIPs decide.
 */
#include "test/support/test_config_support.h"

#include "collectives/verify/bound.h"

static struct hw_bound bound_of(const char *graph, enum ccl_collective collective, uint64_t bytes)
{
    char topology[2000];
    const char *const sets[] = {topology,
                                "sip.cube_mesh={w: 1, h: 1}",
                                "links.ucie.bw_gbs=1000",
                                "links.noc_ucie.bw_gbs=1000",
                                "links.pe_noc.bw_gbs=1000",
                                "links.noc.bw_gbs=1000",
                                "links.hbm.bw_gbs=1000",
                                "links.hub.bw_gbs=1000"};
    const struct config_request request = {.sets = sets, .set_count = sizeof sets / sizeof *sets};
    struct config_errors errors = {0};
    struct config *config = NULL;
    snprintf(topology, sizeof topology, "system.sips.topology={graph: %s}", graph);
    const int code = config_load(&request, &config, &errors);
    if (code != CW_OK)
        print_message("%s\n", errors.list[0].text);
    assert_int_equal(code, CW_OK);
    config_errors_free(&errors);
    const struct hw_work work = {.collective = collective,
                                 .ranks = config->hw.sip_count,
                                 .cubes = 1,
                                 .pes = 1,
                                 .bytes = bytes};
    static char by[64]; /* a graph's names are its configuration's */
    struct hw_bound bound = hw_bound_of(&config->hw, &work);
    snprintf(by, sizeof by, "%s", bound.by);
    bound.by = by;
    config_free(config);
    return bound;
}

#define MB 1000000

/* Two leaves of four SIPs at 100 GB/s each, and one link of 50 GB/s between the leaves. */
static const char narrow[] =
    "{sips: 8, switches: [{name: leaf, count: 2}], classes: {down: {bw_gbs: 100}, up: {bw_gbs: "
    "50}}, links: [{from: 0-3, to: leaf.0, class: down}, {from: 4-7, to: leaf.1, class: down}, "
    "{from: leaf.0, to: leaf.1, class: up}]}";

static void the_narrowest_cut_decides(void **state)
{
    (void)state;
    /* 1 MB each way over 50 GB/s: 20 us; the links of one class have names of the file */
    struct hw_bound bound = bound_of(narrow, CCL_ALL_REDUCE, MB);
    assert_int_equal(bound.ps, 20 * 1000 * 1000);
    /* both leaves send 2 (2 - 1) tensors over two links: 20 us, too */
    /* blocks of 4 ranks of 8 cross: half of the result */
    bound = bound_of(narrow, CCL_ALL_GATHER, MB);
    assert_int_equal(bound.ps, 10 * 1000 * 1000);
    /* 4 x 4 blocks of an eighth: 2 MB */
    bound = bound_of(narrow, CCL_ALL_TO_ALL, MB);
    assert_int_equal(bound.ps, 40 * 1000 * 1000);
}

static void sends_share_all_links_that_leave_sips(void **state)
{
    (void)state;
    /* one switch: 2 x 3 tensors of 1 MB over four links of 100 GB/s: 15 us */
    const struct hw_bound bound =
        bound_of("{sips: 4, switches: [{}], classes: {a: {bw_gbs: 100}}, links: [{from: 0-3, to: "
                 "switch, class: a}]}",
                 CCL_ALL_REDUCE, MB);
    assert_int_equal(bound.ps, 15 * 1000 * 1000);
    assert_string_equal(bound.by, "a");
}

static void each_way_has_its_own_bandwidth(void **state)
{
    (void)state;
    /* 100 GB/s up, 25 down: each SIP takes in 3 of 4 blocks, 750 kB, at 25 GB/s */
    const struct hw_bound bound =
        bound_of("{sips: 4, switches: [{}], classes: {up: {bw_gbs: 100}, down: {bw_gbs: 25}}, "
                 "links: [{from: 0-3, to: switch, class: up, back_class: down}]}",
                 CCL_ALL_GATHER, MB);
    assert_int_equal(bound.ps, 30 * 1000 * 1000);
    assert_string_equal(bound.by, "down");
}

static void parallel_cables_add_up(void **state)
{
    (void)state;
    /* a broadcast from one to the other over three cables of 10 GB/s */
    const struct hw_bound bound =
        bound_of("{sips: 2, classes: {a: {bw_gbs: 10}}, links: [{from: 0, to: 1, class: a, cables: "
                 "3}]}",
                 CCL_BROADCAST, 3 * MB);
    assert_int_equal(bound.ps, 100 * 1000 * 1000);
}

static void a_line_without_classes_is_cut_by_metis_alone(void **state)
{
    (void)state;
    /* a ring of 8 at 100 GB/s: around four SIPs 4 x 4 blocks of an eighth, 2 MB, over two links;
     * around one SIP 7 blocks of an eighth over two. All links together carry the distances: 128
     * crossings of blocks over 16 links. */
    struct hw_bound bound =
        bound_of("{sips: 8, classes: {a: {bw_gbs: 100}}, links: [{from: 0, to: 1, class: a}, "
                 "{from: 1, to: 2, class: a}, {from: 2, to: 3, class: a}, {from: 3, to: 4, class: "
                 "a}, {from: 4, to: 5, class: a}, {from: 5, to: 6, class: a}, {from: 6, to: 7, "
                 "class: a}, {from: 7, to: 0, class: a}]}",
                 CCL_ALL_TO_ALL, MB);
    assert_int_equal(bound.ps, 10 * 1000 * 1000);
}

static void latency_is_that_of_the_fastest_way(void **state)
{
    (void)state;
    /* SIP 0 reaches SIP 2 directly in 5 us, or through SIP 1 in 2 us and what a SIP takes */
    const struct hw_bound direct =
        bound_of("{sips: 2, classes: {slow: {latency_ns: 5000, distance_mm: 0}}, links: [{from: "
                 "0, to: 1, class: slow}]}",
                 CCL_BROADCAST, 16);
    const struct hw_bound around =
        bound_of("{sips: 3, classes: {slow: {latency_ns: 5000, distance_mm: 0}, fast: {latency_ns: "
                 "1000, distance_mm: 0}}, links: [{from: 0, to: 2, class: slow}, {from: 0, to: 1, "
                 "class: fast}, {from: 1, to: 2, class: fast}]}",
                 CCL_BROADCAST, 16);
    assert_string_equal(around.by, "latency");
    assert_true(direct.ps > 5000 * 1000);
    assert_true(around.ps > 2000 * 1000 && around.ps < 2500 * 1000);
}

/* Links away from SIP 0 take 5 us, those to it 1 ns: a broadcast needs one of the former, a reduce
 * none. */
static void a_reduce_goes_to_its_root(void **state)
{
    (void)state;
    static const char star[] = "{sips: 3, classes: {slow: {latency_ns: 5000}, fast: {latency_ns: "
                               "1}}, links: [{from: 0, to: 1-2, class: slow, back_class: fast}]}";
    assert_in_range(bound_of(star, CCL_BROADCAST, 2).ps, 5000 * 1000, 6000 * 1000);
    assert_in_range(bound_of(star, CCL_REDUCE, 2).ps, 1 * 1000, 1000 * 1000);
    /* 1 GB/s from the root, 500 to it by a link of its own: 1 MB in 2 us, and the latency */
    assert_in_range(bound_of("{sips: 2, classes: {slow: {bw_gbs: 1}, fast: {bw_gbs: 500}}, links: "
                             "[{from: 0, to: 1, class: slow, one_way: true}, {from: 1, to: 0, "
                             "class: fast, one_way: true}]}",
                             CCL_REDUCE, MB)
                        .ps,
                    1000 * 1000, 20 * 1000 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_narrowest_cut_decides),
        cmocka_unit_test(sends_share_all_links_that_leave_sips),
        cmocka_unit_test(each_way_has_its_own_bandwidth),
        cmocka_unit_test(parallel_cables_add_up),
        cmocka_unit_test(a_line_without_classes_is_cut_by_metis_alone),
        cmocka_unit_test(latency_is_that_of_the_fastest_way),
        cmocka_unit_test(a_reduce_goes_to_its_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
