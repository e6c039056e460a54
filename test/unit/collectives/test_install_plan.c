/*
 * test_install_plan.c: plans composed of topology, mapper and algorithm (DECISIONS.md), the
 * registries of mappers and validators, and the logical topologies (DECISIONS.md).
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"
#include "collectives/runtime/install_plan.h"
#include "collectives/schedule/schedule_program.h"
#include "collectives/topologies.h"
#include "hw/phys_addr.h"
#include "hw/topology/topology.h"

/* ---- plans ----------------------------------------------------------------------------------- */

struct planned {
    struct config *config;
    struct install_plans *plans;
};

static struct planned plan_with(const char *preset, const char *const *sets, size_t count)
{
    struct planned p = {.config = load_with(preset, sets, count)};
    const struct ccl_config *ccl = &p.config->ccl;
    const char *key;
    struct cw_error error;
    if (build_install_plans(ccl->world_size ? ccl->world_size : p.config->hw.sip_count,
                            ccl->algorithm, ccl, &p.config->hw, &p.plans, &key, &error) != CW_OK)
        fail_msg("%s: %s", key, error.text);
    return p;
}

static void free_planned(struct planned p)
{
    install_plans_free(p.plans);
    config_free(p.config);
}

static void ring_1d_with_leader_only_joins_one_pe_per_rank(void **state)
{
    (void)state;
    static const char *const sets[] = {"defaults.algorithm=ring_allreduce", "defaults.wiring=pe0",
                                       "sip.cube_mesh.w=1", "sip.cube_mesh.h=1"};
    const struct planned p = plan_with(NULL, sets, COUNT_OF(sets));
    for (uint32_t rank = 0; rank < 4; rank++) {
        const struct sip_install_plan plan = install_plan_of(p.plans, rank);
        assert_string_equal(plan.algorithm_name, "ring_allreduce");
        assert_int_equal(plan.sip, rank);
        assert_int_equal(plan.world_size, 4);
        assert_int_equal(plan.n_slots, 8);
        assert_int_equal(plan.slot_size, 4096);
        assert_int_equal(plan.buffer_kind, HW_MEMORY_TCM);
        struct pe_install pe;
        uint32_t at = 0;
        assert_true(install_plan_next(p.plans, rank, &at, &pe));
        assert_int_equal(pe.cube, 0);
        assert_int_equal(pe.pe, 0);
        assert_int_equal(pe.neighbour_count, 2);
        assert_string_equal(pe.neighbour[0].direction, "E");
        assert_string_equal(pe.neighbour[0].peer_direction, "W");
        assert_int_equal(pe.neighbour[0].peer_sip, (rank + 1) % 4);
        assert_string_equal(pe.neighbour[1].direction, "W");
        assert_int_equal(pe.neighbour[1].peer_sip, (rank + 3) % 4);
        assert_false(install_plan_next(p.plans, rank, &at, &pe));
        for (uint32_t i = 0; i < hw_pes(&p.config->hw); i++)
            assert_int_equal(install_plan_participates(p.plans, rank, 0, i), i == 0);
    }
    free_planned(p);
}

/* A sender's address is the ring that the receiver's own table names. */
static void endpoints_of_both_ends_agree(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"defaults.algorithm=tree_allreduce",
                                             "defaults.algorithm=lrab_hierarchical_allreduce"};
    static const char *const kinds[] = {"defaults.buffer_kind=tcm", "defaults.buffer_kind=hbm",
                                        "defaults.buffer_kind=sram"};
    for (size_t i = 0; i < COUNT_OF(algorithms) * COUNT_OF(kinds); i++) {
        const char *const sets[] = {algorithms[i / COUNT_OF(kinds)], kinds[i % COUNT_OF(kinds)],
                                    "defaults.wiring=pe0"};
        const struct planned p = plan_with(NULL, sets, COUNT_OF(sets));
        static struct pe_install install[4][16];
        uint32_t queues = 0;
        for (uint32_t rank = 0; rank < 4; rank++) {
            uint32_t at = 0;
            for (uint32_t cube = 0; cube < 16; cube++)
                assert_true(install_plan_next(p.plans, rank, &at, &install[rank][cube]));
        }
        for (uint32_t at = 0; at < 64; at++) {
            const struct pe_install *mine = &install[at / 16][at % 16];
            for (uint32_t k = 0; k < mine->neighbour_count; k++) {
                const struct neighbour_entry *out = &mine->neighbour[k];
                const struct pe_install *peer = &install[out->peer_sip][out->peer_cube];
                uint32_t found = 0;
                for (uint32_t n = 0; n < peer->neighbour_count; n++)
                    if (strcmp(peer->neighbour[n].direction, out->peer_direction) == 0) {
                        assert_string_equal(peer->neighbour[n].peer_direction, out->direction);
                        assert_int_equal(peer->neighbour[n].my_rx_base_pa, out->rx_base_pa);
                        assert_true(peer->neighbour[n].my_rx_base_va == out->rx_base_va);
                        assert_int_equal(out->rx_base_va != 0, i % COUNT_OF(kinds) == 2);
                        assert_int_equal(peer->neighbour[n].my_n_slots, out->n_slots);
                        assert_int_equal(peer->neighbour[n].my_slot_size, out->slot_size);
                        assert_int_equal(out->n_slots * out->slot_size, 8 * 4096);
                        found++;
                    }
                assert_int_equal(found, 1);
                queues++;
            }
        }
        assert_int_equal(queues, i / COUNT_OF(kinds) == 0 ? 6 : 4 * (48 + 64));
        free_planned(p);
    }
}

static void all_pes_of_a_sip_take_part_with_the_mapper_all_pes(void **state)
{
    (void)state;
    static const char *const sets[] = {"defaults.algorithm=ring_allreduce",
                                       "algorithms.ring_allreduce.mapper=all_pes"};
    const struct planned p = plan_with("tiny", sets, COUNT_OF(sets));
    const uint32_t cubes = hw_cubes(&p.config->hw), pes = hw_pes(&p.config->hw);
    for (uint32_t cube = 0; cube < cubes; cube++)
        for (uint32_t pe = 0; pe < pes; pe++)
            assert_true(install_plan_participates(p.plans, 0, cube, pe));
    struct pe_install install;
    uint32_t at = 0, count = 0;
    while (install_plan_next(p.plans, 0, &at, &install))
        count++;
    assert_int_equal(count, cubes * pes); /* also PEs without neighbours are installed */
    free_planned(p);
}

/* T2: each PE is joined with the PE at its own place in the next rank's SIP, and in the one before
 * it: as many rings as a SIP has PEs. */
static void ring_1d_with_all_pes_joins_each_place_in_a_ring(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "defaults.algorithm=ring_allreduce", "algorithms.ring_allreduce.mapper=all_pes",
        "sip.cube_mesh.w=2", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1"};
    const struct planned p = plan_with(NULL, sets, COUNT_OF(sets));
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct pe_install install;
        uint32_t at = 0;
        for (uint32_t i = 0; i < 8; i++) {
            assert_true(install_plan_next(p.plans, rank, &at, &install));
            assert_int_equal(install.cube * 4 + install.pe, i);
            assert_int_equal(install.neighbour_count, 2);
            for (uint32_t k = 0; k < 2; k++) {
                const struct neighbour_entry *const entry = &install.neighbour[k];
                assert_string_equal(entry->direction, k == 0 ? "E" : "W");
                assert_string_equal(entry->peer_direction, k == 0 ? "W" : "E");
                assert_int_equal(entry->peer_sip, (rank + (k == 0 ? 1 : 3)) % 4);
                assert_int_equal(entry->peer_cube, install.cube);
                assert_int_equal(entry->peer_pe, install.pe);
            }
        }
        assert_false(install_plan_next(p.plans, rank, &at, &install));
    }
    assert_int_equal(install_plans_lanes(p.plans), 8);
    free_planned(p);
}

static void world_size_of_the_algorithm_comes_before_that_of_defaults_and_the_sips(void **state)
{
    (void)state;
    static const char *const sets[] = {"defaults.algorithm=ring_allreduce", "defaults.world_size=3",
                                       "algorithms.ring_allreduce.world_size=2"};
    for (size_t given = 1; given <= 3; given++) {
        const struct planned p = plan_with(NULL, sets, given);
        assert_int_equal(install_plan_of(p.plans, 0).world_size, 5 - given);
        free_planned(p);
    }
}

static void refuse_plan(const char *const *sets, size_t count, const char *key, const char *text)
{
    struct config *config = load_with(NULL, sets, count);
    struct install_plans *plans;
    const char *found;
    struct cw_error error;
    assert_int_equal(build_install_plans(config->ccl.world_size ? config->ccl.world_size : 4,
                                         config->ccl.algorithm, &config->ccl, &config->hw, &plans,
                                         &found, &error),
                     CW_USAGE);
    assert_null(plans);
    assert_string_equal(found, key);
    assert_string_equal(error.text, text);
    config_free(config);
}

static void plans_that_cannot_be_say_what_is_legal(void **state)
{
    (void)state;
    static const char *const mesh[] = {"defaults.algorithm=ring_allreduce",
                                       "algorithms.ring_allreduce.topology=mesh_2d",
                                       "algorithms.ring_allreduce.world_size=3"};
    refuse_plan(mesh, COUNT_OF(mesh), "defaults.topology",
                "topology: mesh_2d needs a perfect square of ranks, and there are 3; legal below: "
                "1, above: 4");
    static const char *const few[] = {"defaults.world_size=3"};
    refuse_plan(few, 1, "defaults.world_size",
                "world_size 3: lrab_hierarchical_allreduce takes all 4 SIPs; leave it out");
}

/* ---- registries ------------------------------------------------------------------------------ */

static void unknown_names_are_answered_with_the_known_ones(void **state)
{
    (void)state;
    struct cw_error error;
    assert_null(ccl_mapper_find("nobody", &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    assert_string_equal(error.text, "mapper: no mapper 'nobody'; there are leader_only, all_pes, "
                                    "pe0_all_cubes, rank_per_pe, ./file.so:symbol");
    assert_null(ccl_validator_find("anything", &error));
    assert_string_equal(error.text,
                        "validator: no validator 'anything'; there are single_shard_per_rank, "
                        "multi_pe_sip_local, cube_rows, ./file.so:symbol");
    struct hw_config hw = {0};
    struct logical logical;
    assert_int_equal(logical_find("star", 4, &hw, &logical, &error), CW_USAGE);
    assert_string_equal(error.text,
                        "topology: no logical topology 'star'; there are ring_1d, ring_1d_unidir, "
                        "mesh_2d, torus_2d, torus_3d, mesh_2d_no_wrap, tree_binary, none, custom");
}

static void mappers_choose_the_pes_that_their_names_say(void **state)
{
    (void)state;
    const struct hw_config hw = {0};
    struct cw_error error;
    const ccl_mapper_fn leader = ccl_mapper_find("leader_only", &error);
    const ccl_mapper_fn cubes = ccl_mapper_find("pe0_all_cubes", &error);
    const ccl_mapper_fn all = ccl_mapper_find("all_pes", &error);
    for (uint32_t cube = 0; cube < 3; cube++)
        for (uint32_t pe = 0; pe < 3; pe++) {
            assert_int_equal(leader(&hw, 5, cube, pe), cube == 0 && pe == 0);
            assert_int_equal(cubes(&hw, 5, cube, pe), pe == 0);
            assert_true(all(&hw, 5, cube, pe));
        }
}

/* Tensors of two ranks, as the policy cuts them. */
static void validate(const char *name, struct dp_policy policy, uint64_t columns, int code,
                     const char *text)
{
    struct config *config = load_with("default", NULL, 0);
    const struct hw_config *hw = &config->hw;
    struct tensor_space *space = tensor_space_create(hw, NULL, 0);
    struct tensor *tensor[2];
    struct cw_error error = {0};
    for (uint32_t rank = 0; rank < 2; rank++) {
        const uint64_t rows = policy.num_cubes ? policy.num_cubes : hw_cubes(hw);
        tensor[rank] = tensor_create(space, rank, (struct tensor_shape){rows, columns}, DTYPE_F16,
                                     &policy, &error);
        assert_non_null(tensor[rank]);
    }
    const struct tensor_group group = {tensor, 2};
    assert_int_equal(ccl_validator_find(name, &error)(&group, hw, &error), code);
    if (code != CW_OK)
        assert_string_equal(error.text, text);
    for (uint32_t rank = 0; rank < 2; rank++)
        tensor_free(tensor[rank]);
    tensor_space_free(space);
    config_free(config);
}

static void validators_accept_the_layouts_that_their_names_say(void **state)
{
    (void)state;
    const struct dp_policy one = {
        .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};
    const struct dp_policy rows = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};
    const struct dp_policy pes = {.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE};
    validate("single_shard_per_rank", one, 8, CW_OK, NULL);
    validate("cube_rows", rows, 8, CW_OK, NULL);
    validate("multi_pe_sip_local", pes, 64, CW_OK, NULL);
    validate("single_shard_per_rank", rows, 8, CW_USAGE,
             "validator single_shard_per_rank: rank 0's tensor has 16 shards; legal: one");
    validate("cube_rows", pes, 64, CW_USAGE,
             "validator cube_rows: rank 0's tensor has 128 shards; legal: one row of the tensor on "
             "PE 0 of each cube");
    validate("multi_pe_sip_local", rows, 8, CW_USAGE,
             "validator multi_pe_sip_local: rank 0's tensor has 16 shards; legal: one on each PE "
             "of the SIP");
}

/* ---- views ----------------------------------------------------------------------------------- */

static void a_view_is_one_sip_s_shards_by_cube_pe_and_offset(void **state)
{
    (void)state;
    struct config *config = load_with("default", NULL, 0);
    struct tensor_space *space = tensor_space_create(&config->hw, NULL, 0);
    const struct dp_policy policy = {.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE};
    struct tensor *tensor[2];
    struct cw_error error;
    for (uint32_t rank = 0; rank < 2; rank++)
        tensor[rank] = tensor_create(space, 3 - rank, (struct tensor_shape){16, 64}, DTYPE_F16,
                                     &policy, &error);
    const struct tensor_group group = {tensor, 2};
    struct tensor_view view;
    assert_int_equal(tensor_view_of(&group, 2, &view, &error), CW_OK);
    assert_int_equal(view.count, 128);
    assert_int_equal(view.va_base, tensor[1]->va_base);
    for (uint32_t i = 1; i < view.count; i++) {
        const struct tensor_shard *a = &view.shard[i - 1], *b = &view.shard[i];
        assert_int_equal(b->sip, 2);
        assert_true(a->cube < b->cube || (a->cube == b->cube && a->pe < b->pe) ||
                    (a->cube == b->cube && a->pe == b->pe && a->offset_bytes < b->offset_bytes));
    }
    const struct tensor_view pe = tensor_view_of_pe(&view, 5, 3);
    assert_int_equal(pe.count, 1);
    assert_int_equal(pe.shard->cube, 5);
    assert_int_equal(pe.shard->pe, 3);
    assert_int_equal(pe.va_base, pe.shard->va);
    assert_int_equal(tensor_view_of_pe(&view, 16, 0).count, 0);
    assert_int_equal(tensor_view_of(&group, 0, &view, &error), CW_PROGRAM_FAILED);
    assert_string_equal(error.text, "the tensor has no shard on SIP 0");
    tensor_free(tensor[0]);
    tensor_free(tensor[1]);
    tensor_space_free(space);
    config_free(config);
}

/* ---- logical topologies ---------------------------------------------------------------------- */

static const struct hw_config machine = {
    .sip_count = 6, .sip_w = 3, .sip_h = 2, .sip_topology = &hw_torus_2d};

/* "E1 W3": where each direction of a rank leads. */
static const char *leads(const char *name, uint32_t ranks, uint32_t rank, char text[128])
{
    struct logical logical;
    struct lp_neighbours map;
    struct cw_error error;
    if (logical_find(name, ranks, &machine, &logical, &error) != CW_OK)
        fail_msg("%s", error.text);
    logical_neighbours(&logical, rank, &map);
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < map.count; i++)
        n += (size_t)snprintf(text + n, 128 - n, "%s%s%u%s", i ? " " : "", map.at[i].dir,
                              map.at[i].rank,
                              map.at[i].way == LP_WAY_OUT  ? ">"
                              : map.at[i].way == LP_WAY_IN ? "<"
                                                           : "");
    return text;
}

static void logical_topologies_lead_where_they_should(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t ranks, rank;
        const char *leads;
    } cases[] = {
        {"ring_1d", 4, 0, "E1 W3"},
        {"ring_1d", 4, 3, "E0 W2"},
        {"ring_1d", 2, 1, "E0 W0"},
        {"ring_1d", 1, 0, ""},
        {"ring_1d_unidir", 3, 2, "E0> W1<"},
        {"mesh_2d", 4, 0, "N2 S2 E1 W1"},
        {"mesh_2d", 9, 4, "N1 S7 E5 W3"},
        {"mesh_2d", 9, 8, "N5 S2 E6 W7"},
        {"torus_2d", 6, 2, "N5 S5 E0 W1"}, /* 3 x 2, as the machine's SIPs */
        {"torus_2d", 4, 3, "N1 S1 E2 W2"}, /* not all of them: 2 x 2 */
        {"torus_3d", 8, 5, "N7 S7 E4 W4 U1 D1"},
        {"torus_3d", 27, 26, "N23 S20 E24 W25 U17 D8"},
        {"mesh_2d_no_wrap", 6, 2, "S5 W1"},
        {"mesh_2d_no_wrap", 6, 4, "N1 E5 W3"},
        {"tree_binary", 6, 0, "child_left1 child_right2"},
        {"tree_binary", 6, 2, "parent0 child_left5"},
        {"tree_binary", 6, 5, "parent2"},
        {"none", 6, 3, ""},
    };
    char text[128];
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(leads(cases[i].name, cases[i].ranks, cases[i].rank, text),
                            cases[i].leads);
}

static void logical_topologies_of_all_sizes_lead_back(void **state)
{
    (void)state;
    static const char *const names[] = {"ring_1d",         "ring_1d_unidir", "mesh_2d", "torus_2d",
                                        "mesh_2d_no_wrap", "tree_binary",    "torus_3d"};
    for (size_t n = 0; n < COUNT_OF(names); n++)
        for (uint32_t ranks = 1; ranks <= 17; ranks++) {
            struct logical logical;
            struct cw_error error;
            const int code = logical_find(names[n], ranks, &machine, &logical, &error);
            const bool square = ranks == 1 || ranks == 4 || ranks == 9 || ranks == 16;
            const bool grid = strstr(names[n], "_2d") != NULL;
            const bool is_3d = strcmp(names[n], "torus_3d") == 0;
            const bool legal =
                is_3d ? ranks == 1 || ranks == 8
                      : !grid || square || (ranks == 6 && strcmp(names[n], "mesh_2d") != 0);
            assert_int_equal(code, legal ? CW_OK : CW_USAGE);
            if (!legal)
                continue;
            uint32_t rings = 0;
            for (uint32_t rank = 0; rank < ranks; rank++) {
                struct lp_neighbours map, back;
                logical_neighbours(&logical, rank, &map);
                uint32_t own = 0;
                for (uint32_t i = 0; i < map.count; i++) {
                    own += map.at[i].way != LP_WAY_OUT;
                    logical_neighbours(&logical, map.at[i].rank, &back);
                    uint32_t found = 0;
                    for (uint32_t k = 0; k < back.count; k++)
                        found += strcmp(back.at[k].dir, map.at[i].opposite) == 0 &&
                                 strcmp(back.at[k].opposite, map.at[i].dir) == 0 &&
                                 back.at[k].rank == rank;
                    assert_int_equal(found, 1);
                }
                rings = own > rings ? own : rings;
            }
            assert_int_equal(logical_rings_max(&logical), rings);
        }
}

/* Where nothing is installed, a schedule of half a million steps is not made: a sketch has the same
 * rings, tensors' places and scratch. */
static void questions_about_a_long_schedule_take_a_sketch(void **state)
{
    (void)state;
    static const char *const names[] = {"ring_rs_ag", "torus_reduce_scatter"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char algorithm[64];
        snprintf(algorithm, sizeof algorithm, "defaults.algorithm=%s", names[i]);
        const char *const sets[] = {algorithm, "system.sips.count=529",
                                    "system.sips.topology=torus_2d"};
        const struct planned whole = plan_with("tiny", sets, COUNT_OF(sets));
        const struct ccl_config *const ccl = &whole.config->ccl;
        struct install_plans *sketch;
        const char *key;
        struct cw_error error;
        assert_int_equal(
            sketch_install_plans(529, names[i], ccl, &whole.config->hw, &sketch, &key, &error),
            CW_OK);
        const struct schedule_program *const a = install_plans_program(whole.plans),
                                             *const b = install_plans_program(sketch);
        const struct ccl_call call = {.hw = &whole.config->hw,
                                      .ccl = ccl,
                                      .collective = a->schedule->collective,
                                      .world_size = 529,
                                      .n_elem = 529 * 64,
                                      .dtype = LP_F16};
        assert_false(a->schedule->sketch);
        assert_true(b->schedule->sketch);
        assert_null(install_plans_wiring(sketch));
        assert_string_equal(a->schedule->name, b->schedule->name);
        assert_true(a->schedule->steps == b->schedule->steps);
        assert_int_equal(install_plans_rings(sketch), install_plans_rings(whole.plans));
        assert_int_equal(schedule_program_scratch(b, &call), schedule_program_scratch(a, &call));
        install_plans_free(sketch);
        free_planned(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_1d_with_leader_only_joins_one_pe_per_rank),
        cmocka_unit_test(endpoints_of_both_ends_agree),
        cmocka_unit_test(all_pes_of_a_sip_take_part_with_the_mapper_all_pes),
        cmocka_unit_test(ring_1d_with_all_pes_joins_each_place_in_a_ring),
        cmocka_unit_test(world_size_of_the_algorithm_comes_before_that_of_defaults_and_the_sips),
        cmocka_unit_test(plans_that_cannot_be_say_what_is_legal),
        cmocka_unit_test(unknown_names_are_answered_with_the_known_ones),
        cmocka_unit_test(mappers_choose_the_pes_that_their_names_say),
        cmocka_unit_test(validators_accept_the_layouts_that_their_names_say),
        cmocka_unit_test(a_view_is_one_sip_s_shards_by_cube_pe_and_offset),
        cmocka_unit_test(logical_topologies_lead_where_they_should),
        cmocka_unit_test(logical_topologies_of_all_sizes_lead_back),
        cmocka_unit_test(questions_about_a_long_schedule_take_a_sketch),
    };
    return cmocka_run_group_tests_name("install_plan", tests, scratch_enter, scratch_leave);
}
