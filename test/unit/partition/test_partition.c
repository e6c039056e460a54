/*
 * test_partition.c: the worker of each cube: the same each time, every worker busy, SIPs whole
 * where that is promised, load within the stated tolerance; and cuts, counted by hand.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"
#include "lp/layout.h"
#include "lp/host/placement.h"
#include "lp/queues/queue_ends.h"
#include "partition/cube_graph.h"
#include "partition/partition.h"

struct machine {
    const char *preset;
    const char *sets[4];
};

static const struct machine machines[] = {
    {"default", {NULL}},
    {"tiny", {NULL}},
    {"six_3x2", {NULL}},
    {"pod64", {NULL}},
    {"a3_4", {NULL}},
    {"a3_16", {NULL}},
    {NULL, {"system.sips.topology=ring_1d", "system.sips.count=5"}},
    {NULL, {"system.sips.topology=switch", "system.sips.count=3", "sip.cube_mesh.w=1"}},
    {NULL, {"system.sips.topology=mesh_2d_no_wrap", "system.sips.count=9", "sip.cube_mesh.h=3"}},
    {NULL, {"system.sips.topology=ring_1d", "system.sips.count=1", "sip.cube_mesh.w=7"}},
    {NULL, {"ns_per_mm=0", "nodes.ucie_port.overhead_ns=0", "nodes.io_port.overhead_ns=0"}},
};
static const uint32_t worker_counts[] = {1, 2, 3, 4, 5, 7, 8, 30, 1024};

static struct config *load(const struct machine *machine)
{
    size_t sets = 0;
    while (sets < COUNT_OF(machine->sets) && machine->sets[sets] != NULL)
        sets++;
    return load_with(machine->preset, machine->sets, sets);
}

static uint32_t cube_count(const struct hw_config *hw) { return hw->sip_count * hw_cubes(hw); }

/* The caller frees it. */
static uint32_t *placed(const char *name, const struct hw_config *hw, uint32_t workers)
{
    struct cw_error error;
    uint32_t *const cube_worker = calloc(cube_count(hw), sizeof *cube_worker);
    assert_non_null(cube_worker);
    memset(cube_worker, 255, cube_count(hw) * sizeof *cube_worker);
    assert_int_equal(partitioner_find(name)->place(hw, workers, cube_worker, &error), CW_OK);
    return cube_worker;
}

/* Cubes of each worker; the caller frees it. */
static uint32_t *counted(const uint32_t *cube_worker, uint32_t cubes, uint32_t workers)
{
    uint32_t *const count = calloc(workers, sizeof *count);
    assert_non_null(count);
    for (uint32_t i = 0; i < cubes; i++) {
        assert_in_range(cube_worker[i], 0, workers - 1);
        count[cube_worker[i]]++;
    }
    return count;
}

static uint32_t count_busy(const uint32_t *count, uint32_t workers)
{
    uint32_t busy = 0;
    for (uint32_t i = 0; i < workers; i++)
        busy += count[i] > 0;
    return busy;
}

static struct cube_cut cut_of(const struct hw_config *hw, const uint32_t *cube_worker,
                              uint32_t workers)
{
    uint64_t *const work = calloc(cube_count(hw), sizeof *work);
    uint64_t *const load = calloc(workers, sizeof *load);
    assert_non_null(work);
    assert_non_null(load);
    cube_work(hw, work);
    const struct cube_cut cut = cube_cut_of(hw, work, workers, cube_worker, load);
    free(work);
    free(load);
    return cut;
}

typedef void (*check_fn)(const struct hw_config *hw, uint32_t workers, const uint32_t *cube_worker);

static void for_each_machine(const char *name, check_fn check)
{
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct config *const config = load(&machines[i]);
        for (size_t k = 0; k < COUNT_OF(worker_counts); k++) {
            uint32_t *const cube_worker = placed(name, &config->hw, worker_counts[k]);
            check(&config->hw, worker_counts[k], cube_worker);
            free(cube_worker);
        }
        config_free(config);
    }
}

/* ---- each partitioner ------------------------------------------------------------------------ */

static void check_again(const char *name, const struct hw_config *hw, uint32_t workers,
                        const uint32_t *cube_worker)
{
    for (unsigned seed = 5; seed < 8; seed++) {
        srand(seed); /* METIS draws from rand(), and seeds it itself */
        uint32_t *const again = placed(name, hw, workers);
        assert_memory_equal(again, cube_worker, cube_count(hw) * sizeof *again);
        free(again);
    }
}

static void check_metis_again(const struct hw_config *hw, uint32_t workers,
                              const uint32_t *cube_worker)
{
    check_again("metis", hw, workers, cube_worker);
}

static void metis_gives_the_same_each_time(void **state)
{
    (void)state;
    for_each_machine("metis", check_metis_again);
}

static void check_all_busy(const struct hw_config *hw, uint32_t workers,
                           const uint32_t *cube_worker)
{
    const uint32_t cubes = cube_count(hw);
    uint32_t *const count = counted(cube_worker, cubes, workers);
    assert_int_equal(count_busy(count, workers), workers < cubes ? workers : cubes);
    free(count);
}

static void every_worker_gets_a_cube_from_block_and_metis(void **state)
{
    (void)state;
    for_each_machine("block", check_all_busy);
    for_each_machine("metis", check_all_busy);
}

static void check_even(const struct hw_config *hw, uint32_t workers, const uint32_t *cube_worker)
{
    const uint32_t cubes = cube_count(hw);
    uint32_t *const count = counted(cube_worker, cubes, workers);
    for (uint32_t i = 0; i < workers; i++)
        assert_in_range(count[i], cubes / workers, (cubes + workers - 1) / workers);
    for (uint32_t i = 1; i < cubes; i++)
        assert_true(cube_worker[i] >= cube_worker[i - 1]);
    free(count);
}

static void block_spreads_cubes_evenly_in_their_order(void **state)
{
    (void)state;
    for_each_machine("block", check_even);
}

static void check_whole_sips(const struct hw_config *hw, uint32_t workers,
                             const uint32_t *cube_worker)
{
    const uint32_t cubes = hw_cubes(hw), sips = hw->sip_count;
    for (uint32_t i = 0; i < cube_count(hw); i++)
        assert_int_equal(cube_worker[i], cube_worker[i / cubes * cubes]);
    uint32_t *const count = counted(cube_worker, cube_count(hw), workers);
    for (uint32_t i = 0; i < workers; i++)
        assert_in_range(count[i] / cubes, sips / workers, (sips + workers - 1) / workers);
    for (uint32_t i = sips; i < workers; i++) /* the last ones are idle */
        assert_int_equal(count[i], 0);
    free(count);
}

static void sip_never_cuts_a_sip_and_spreads_them_evenly(void **state)
{
    (void)state;
    for_each_machine("sip", check_whole_sips);
}

/* At most a third above the mean, or one cube. */
static void check_balanced(const struct hw_config *hw, uint32_t workers,
                           const uint32_t *cube_worker)
{
    if (workers > cube_count(hw))
        return;
    const struct cube_cut cut = cut_of(hw, cube_worker, workers);
    const double mean = (double)cut.work_sum / workers;
    assert_true((double)cut.work_max <= mean * 4 / 3 ||
                (double)cut.work_max <= mean + (double)cut.work_of_cube_max);
}

static void metis_is_balanced(void **state)
{
    (void)state;
    for_each_machine("metis", check_balanced);
}

static bool counts(const struct cube_cut *cut, uint32_t workers)
{
    return cut->busy == workers && cube_cut_is_balanced(cut, workers);
}

static void check_no_worse(const struct hw_config *hw, uint32_t workers,
                           const uint32_t *cube_worker)
{
    const struct cube_cut own = cut_of(hw, cube_worker, workers);
    static const char *const others[] = {"sip", "block"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        uint32_t *const other = placed(others[i], hw, workers);
        const struct cube_cut cut = cut_of(hw, other, workers);
        free(other);
        if (!counts(&cut, workers))
            continue;
        assert_true(own.lookahead_ps >= cut.lookahead_ps);
        if (own.lookahead_ps == cut.lookahead_ps)
            assert_true(cube_cut_cost(&own, workers) <= cube_cut_cost(&cut, workers));
    }
}

static void metis_is_never_worse_than_a_balanced_sip_or_block(void **state)
{
    (void)state;
    for_each_machine("metis", check_no_worse);
}

static bool cuts_a_sip(const struct hw_config *hw, const uint32_t *cube_worker)
{
    const uint32_t cubes = hw_cubes(hw);
    for (uint32_t i = 0; i < cube_count(hw); i++)
        if (cube_worker[i] != cube_worker[i / cubes * cubes])
            return true;
    return false;
}

/* 4 SIPs on 2 and 4 workers divide; on 3, one worker would have 1.5 times the mean. 6 SIPs on 4
 * workers: a third above it. */
static void metis_cuts_sips_only_where_whole_ones_are_too_uneven(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint32_t workers;
        bool cuts;
    } cases[] = {{"default", 2, false}, {"default", 3, true},  {"default", 4, false},
                 {"default", 8, true},  {"six_3x2", 3, false}, {"six_3x2", 4, false},
                 {"six_3x2", 8, true},  {"pod64", 3, false},   {"pod64", 8, false},
                 {"tiny", 2, true}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct config *const config = load_with(cases[i].preset, NULL, 0);
        uint32_t *const cube_worker = placed("metis", &config->hw, cases[i].workers);
        assert_int_equal(cuts_a_sip(&config->hw, cube_worker), cases[i].cuts);
        free(cube_worker);
        config_free(config);
    }
}

/* A torus of 8 x 8 SIPs on 8 workers: `sip` gives each a row, which cuts the 64 links between rows.
 * Blocks of 4 x 2 cut two columns of 8 links and four rows of 8. */
static void metis_finds_blocks_where_sip_has_rows(void **state)
{
    (void)state;
    enum { OF_A_LINK = 32 }; /* expected of each link between SIPs, all alike */
    struct config *const config = load_with("pod64", NULL, 0);
    uint32_t *const rows = placed("sip", &config->hw, 8);
    uint32_t *const blocks = placed("metis", &config->hw, 8);
    assert_int_equal(cut_of(&config->hw, rows, 8).traffic, 64 * OF_A_LINK);
    assert_true(cut_of(&config->hw, blocks, 8).traffic <= 48 * OF_A_LINK);
    free(rows);
    free(blocks);
    config_free(config);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static int32_t weight_between(const struct cube_graph *graph, int32_t from, int32_t to)
{
    int32_t weight = 0;
    for (int32_t i = graph->first[from]; i < graph->first[from + 1]; i++)
        if (graph->neighbour[i] == to) {
            assert_int_equal(weight, 0); /* once */
            weight = graph->weight[i];
        }
    return weight;
}

static void the_graph_has_each_edge_once_at_both_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct config *const config = load(&machines[i]);
        const uint32_t groups[] = {1, hw_cubes(&config->hw)};
        uint64_t *const work = calloc(cube_count(&config->hw), sizeof *work);
        assert_non_null(work);
        cube_work(&config->hw, work);
        for (size_t k = 0; k < COUNT_OF(groups); k++) {
            struct cube_graph graph;
            assert_true(cube_graph_build(&graph, &config->hw, work, groups[k]));
            assert_int_equal(graph.count, cube_count(&config->hw) / groups[k]);
            for (int32_t v = 0; v < graph.count; v++) {
                assert_true(graph.work[v] > 0);
                for (int32_t e = graph.first[v]; e < graph.first[v + 1]; e++) {
                    assert_int_not_equal(graph.neighbour[e], v);
                    assert_true(graph.weight[e] > 0);
                    assert_int_equal(weight_between(&graph, v, graph.neighbour[e]),
                                     weight_between(&graph, graph.neighbour[e], v));
                }
            }
            cube_graph_free(&graph);
        }
        free(work);
        config_free(config);
    }
}

/* 1,024 SIPs of 1,024 cubes with 64 PEs: their expected work sums to more than 2^31. */
static void weights_of_a_large_machine_stay_within_31_bits(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips.count=1024", "sip.cube_mesh.w=32",
                                       "sip.cube_mesh.h=32", "cube.pe_layout.pe_per_corner=16",
                                       "defaults.slot_size=256"};
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    uint64_t *const work = calloc(cube_count(&config->hw), sizeof *work);
    assert_non_null(work);
    cube_work(&config->hw, work);
    uint64_t expected = 0, sum = 0, weights = 0;
    struct cube_graph graph;
    assert_true(cube_graph_build(&graph, &config->hw, work, 1));
    for (int32_t v = 0; v < graph.count; v++) {
        expected += work[v];
        assert_true(graph.work[v] > 0);
        sum += (uint32_t)graph.work[v];
    }
    for (int32_t e = 0; e < graph.first[graph.count]; e++) {
        assert_true(graph.weight[e] > 0);
        weights += (uint32_t)graph.weight[e];
    }
    assert_true(expected > (UINT64_C(1) << 31));
    assert_true(sum < (UINT64_C(1) << 31));
    assert_true(weights < (UINT64_C(1) << 31));
    cube_graph_free(&graph);
    free(work);
    config_free(config);
}

/* ---- cuts ------------------------------------------------------------------------------------ */

static struct lp_cut lp_cut_of(const struct config *config, const char *name, uint32_t workers)
{
    struct lp_model model;
    struct lp_cut cut;
    lp_layout_init(&model, &config->hw, &config->ccl.queues, (struct lp_needs){0}, NULL);
    struct lp_plan *const plan = dist_queue_plan(&config->ccl, &config->hw, NULL, NULL, NULL);
    assert_non_null(plan);
    model.plan[1] = plan;
    uint32_t *const cube_worker = placed(name, &config->hw, workers);
    uint32_t *const lp_worker = calloc(model.lps.count, sizeof *lp_worker);
    int64_t *const least_ps = calloc((size_t)workers * workers, sizeof *least_ps);
    assert_non_null(lp_worker);
    assert_non_null(least_ps);
    assert_true(lp_place(&model, workers, cube_worker, lp_worker, least_ps, &cut));
    free(cube_worker);
    free(lp_worker);
    free(least_ps);
    lp_layout_free(&model);
    lp_plan_free(plan);
    return cut;
}

/* The default machine: 4 SIPs in a torus of 2 x 2, hence two links each way round; a SIP has
 * 12 + 12 links between cubes and 4 x 4 to its IO die. Two workers have a row of SIPs each, hence
 * cut the four links between the rows: 300 mm x 0.007 ns + io_port 50 ns. */
static void whole_sips_cut_links_between_sips_only(void **state)
{
    (void)state;
    struct config *const config = load_with("default", NULL, 0);
    const struct lp_cut cut = lp_cut_of(config, "sip", 2);
    assert_int_equal(cut.link[HW_LINK_UCIE].all, 4 * (12 + 12 + 16));
    assert_int_equal(cut.link[HW_LINK_UCIE].cut, 0);
    assert_int_equal(cut.link[HW_LINK_SIP_LINK].all, 8);
    assert_int_equal(cut.link[HW_LINK_SIP_LINK].cut, 4);
    assert_int_equal(cut.link[HW_LINK_PCIE].all, 4);
    assert_int_equal(cut.link[HW_LINK_PCIE].cut, 2);
    assert_int_equal(cut.lookahead_ps, 52100);
    assert_int_equal(cut.lps_max, 2 * (16 + 1) + 1); /* and the host */
    assert_int_equal(cut.lps_min, 2 * (16 + 1));
    assert_int_equal(cut.idle, 0);
    config_free(config);
}

/* One SIP of 4 x 4 cubes, two rows each: 4 links between the rows; of the 16 to the IO die, which
 * is with cube 0, the 4 of the lower row's S ports and its 2 x 2 W and E ports. Lookahead: 2 mm x
 * 0.01 ns + ucie_port 4 ns. */
static void a_cut_through_a_sip_has_the_lookahead_of_ucie(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips.count=1", "system.sips.topology=ring_1d"};
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    const struct lp_cut cut = lp_cut_of(config, "block", 2);
    assert_int_equal(cut.link[HW_LINK_UCIE].all, 40);
    assert_int_equal(cut.link[HW_LINK_UCIE].cut, 4 + 4 + 4);
    assert_int_equal(cut.link[HW_LINK_SIP_LINK].all, 0);
    assert_int_equal(cut.lookahead_ps, 4020);
    config_free(config);
}

static void idle_workers_are_counted(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips.count=1", "system.sips.topology=ring_1d"};
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    const struct lp_cut cut = lp_cut_of(config, "sip", 3);
    assert_int_equal(cut.idle, 2);
    assert_int_equal(cut.lps_min, 0);
    assert_int_equal(cut.lps_max, 1 + 16 + 1);
    assert_true(cut.lookahead_ps == CW_TIME_MAX); /* no LP sends to another */
    config_free(config);
}

/* Three SIPs at a switch, which is on the first worker: 2 links cut on 3 workers. Lookahead: from
 * the switch, 2.1 ns + io_port 50 ns. 16 SIPs in pairs: 8 direct links, and 16 to two switches. */
static void links_to_switches_count_once(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips.count=3", "system.sips.topology=switch"};
    struct config *config = load_with(NULL, sets, COUNT_OF(sets));
    struct lp_cut cut = lp_cut_of(config, "sip", 3);
    assert_int_equal(cut.link[HW_LINK_SIP_LINK].all, 3);
    assert_int_equal(cut.link[HW_LINK_SIP_LINK].cut, 2);
    assert_int_equal(cut.lookahead_ps, 52100);
    config_free(config);
    config = load_with("a3_16", NULL, 0);
    cut = lp_cut_of(config, "sip", 2);
    assert_int_equal(cut.link[HW_LINK_SIO].all, 8);
    assert_int_equal(cut.link[HW_LINK_SIO].cut, 0);
    assert_int_equal(cut.link[HW_LINK_HCCS].all, 16);
    assert_int_equal(cut.link[HW_LINK_HCCS].cut, 8); /* each half reaches one switch at home */
    config_free(config);
}

/* [workers][workers], to be freed. pair: two PEs that are joined by a queue of their own. */
static int64_t *least_delays_of(const struct config *config, const char *name, uint32_t workers,
                                const uint32_t *pair)
{
    struct lp_model model;
    struct lp_cut cut;
    lp_layout_init(&model, &config->hw, &config->ccl.queues, (struct lp_needs){0}, NULL);
    struct lp_plan *const plan = dist_queue_plan(&config->ccl, &config->hw, NULL, pair, NULL);
    model.plan[1] = plan;
    uint32_t *const cube_worker = placed(name, &config->hw, workers);
    uint32_t *const lp_worker = calloc(model.lps.count, sizeof *lp_worker);
    int64_t *const least_ps = calloc((size_t)workers * workers, sizeof *least_ps);
    assert_true(plan != NULL && lp_worker != NULL && least_ps != NULL);
    assert_true(lp_place(&model, workers, cube_worker, lp_worker, least_ps, &cut));
    free(cube_worker);
    free(lp_worker);
    lp_layout_free(&model);
    lp_plan_free(plan);
    return least_ps;
}

/* Where all SIPs have the same queues, one bound for each neighbour of a SIP stands for all its
 * queues. A queue more, between two PEs of a cube, has each queue looked at by itself. */
static void bounds_of_whole_sips_are_those_of_their_queues(void **state)
{
    (void)state;
    static const char *const presets[] = {"default", "pod64", "a3_16", "six_3x2", NULL};
    /* The credits of the global directions cross one link, two or three. */
    static const char *const sets[] = {
        "system.sips.topology=[{torus_2d: [2, 2]}, {torus_2d: [2, 2]}]", "system.sips.count=16"};
    static const char *const names[] = {"sip", "block", "metis"};
    static const uint32_t pair[2] = {0, 1};
    for (size_t i = 0; i < COUNT_OF(presets); i++)
        for (size_t k = 0; k < COUNT_OF(names); k++)
            for (uint32_t workers = 2; workers < 9; workers++) {
                struct config *const config =
                    load_with(presets[i], sets, presets[i] == NULL ? COUNT_OF(sets) : 0);
                int64_t *const by_sip = least_delays_of(config, names[k], workers, NULL);
                int64_t *const by_queue = least_delays_of(config, names[k], workers, pair);
                assert_memory_equal(by_sip, by_queue, (size_t)workers * workers * sizeof *by_sip);
                free(by_sip);
                free(by_queue);
                config_free(config);
            }
}

static void the_registry_finds_its_rows_by_name(void **state)
{
    (void)state;
    assert_string_equal(partitioner_at(0)->name, "sip"); /* the default */
    assert_ptr_equal(partitioner_find("sip"), partitioner_at(0));
    assert_non_null(partitioner_find("block"));
    assert_non_null(partitioner_find("metis"));
    assert_null(partitioner_find("Metis"));
    uint32_t rows = 0;
    for (; partitioner_at(rows) != NULL; rows++)
        assert_ptr_equal(partitioner_find(partitioner_at(rows)->name), partitioner_at(rows));
    assert_null(partitioner_at(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metis_gives_the_same_each_time),
        cmocka_unit_test(every_worker_gets_a_cube_from_block_and_metis),
        cmocka_unit_test(block_spreads_cubes_evenly_in_their_order),
        cmocka_unit_test(sip_never_cuts_a_sip_and_spreads_them_evenly),
        cmocka_unit_test(metis_is_balanced),
        cmocka_unit_test(metis_is_never_worse_than_a_balanced_sip_or_block),
        cmocka_unit_test(metis_cuts_sips_only_where_whole_ones_are_too_uneven),
        cmocka_unit_test(metis_finds_blocks_where_sip_has_rows),
        cmocka_unit_test(the_graph_has_each_edge_once_at_both_ends),
        cmocka_unit_test(weights_of_a_large_machine_stay_within_31_bits),
        cmocka_unit_test(whole_sips_cut_links_between_sips_only),
        cmocka_unit_test(a_cut_through_a_sip_has_the_lookahead_of_ucie),
        cmocka_unit_test(idle_workers_are_counted),
        cmocka_unit_test(links_to_switches_count_once),
        cmocka_unit_test(bounds_of_whole_sips_are_those_of_their_queues),
        cmocka_unit_test(the_registry_finds_its_rows_by_name),
    };
    return cmocka_run_group_tests_name("partition", tests, scratch_enter, scratch_leave);
}
