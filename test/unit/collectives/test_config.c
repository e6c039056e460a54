/*
 * test_config.c: the values that the loader reads from the shipped files, presets and --set: exact
 * times and rates, the order of layers, places of values, and a resolved text that loads again.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"
#include "collectives/config/config_place.h"
#include "collectives/config/config_print.h"
#include "collectives/config/config_rings.h"
#include "collectives/config/input/decimal.h"
#include "hw/topology/topology.h"

static void the_shipped_defaults_give_the_machine_of_the_specification(void **state)
{
    (void)state;
    struct config *const config = load_with(NULL, NULL, 0);
    const struct hw_config *const hw = &config->hw;
    assert_int_equal(hw->sip_count, 4);
    assert_ptr_equal(hw->sip_topology, &hw_torus_2d);
    assert_int_equal(hw->sip_w, 2);
    assert_int_equal(hw->sip_h, 2);
    assert_int_equal(hw->cube_w, 4);
    assert_int_equal(hw->pe_per_corner, 2);
    assert_int_equal(hw->corner_count, 4);
    assert_int_equal(hw->corner[1], HW_NE);
    assert_int_equal(hw->tcm_bytes, 1 << 20);
    assert_int_equal(hw->hbm_bytes, (uint64_t)2 << 30);
    assert_int_equal(hw->contention, HW_CONTENTION_MESSAGE);
    assert_int_equal(hw->overhead_ps[HW_NODE_IO_PORT], 50000);
    assert_int_equal(hw->overhead_ps[HW_NODE_PE_MMU], 0);
    assert_int_equal(hw->link[HW_LINK_PE_NOC].prop_ps, 5);
    assert_int_equal(hw->link[HW_LINK_TCM].prop_ps, 1);
    assert_int_equal(hw->link[HW_LINK_SIP_LINK].prop_ps, 2100);
    assert_int_equal(hw->link[HW_LINK_PCIE].prop_ps, 201400);
    assert_int_equal(hw->link[HW_LINK_HCCS].prop_ps, 3500);
    assert_int_equal(hw->link[HW_LINK_SIO].prop_ps, 100);
    assert_int_equal(hw->link[HW_LINK_PE_NOC].rate.num, 125);
    assert_int_equal(hw->link[HW_LINK_PE_NOC].rate.den, 16);
    assert_int_equal(hw->math_cycle.num, 1000);
    assert_int_equal(hw->math_cycle.den, 1);
    assert_int_equal(hw->dma_queue_depth, 16);
    assert_int_equal(hw->ipcq_poll_ps, 20000);
    assert_int_equal(hw->mmu_page_bytes, 65536);
    const struct ccl_config *const ccl = &config->ccl;
    assert_string_equal(ccl->algorithm, "lrab_hierarchical_allreduce");
    assert_string_equal(ccl->module, "lrab_hierarchical_allreduce");
    assert_string_equal(ccl->topology, "none");
    assert_int_equal(ccl->root, CCL_ROOT_CENTER);
    assert_int_equal(ccl->world_size, 0);
    assert_int_equal(ccl->queues.n_slots, 8);
    assert_int_equal(ccl->queues.slot_bytes, 4096);
    assert_int_equal(ccl->queues.vc_weight[0], 1);
    assert_int_equal(ccl->queues.vc_weight[1], 1);
    assert_true(ccl->queues.credit_blocks);
    assert_false(ccl->strict_validation);
    config_free(config);
}

static void every_preset_loads_and_its_resolved_text_loads_to_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t pes;
    } presets[] = {{"tiny", 32},    {"default", 512},    {"six_3x2", 768},
                   {"pod64", 8192}, {"pod1024", 131072}, {"million", 1048576},
                   {"a3_16", 128},  {"a3_8", 64},        {"a3_4", 32}};
    for (size_t i = 0; i < COUNT_OF(presets); i++) {
        struct config *const config = load_with(presets[i].name, NULL, 0);
        const struct hw_config *const hw = &config->hw;
        assert_int_equal((uint64_t)hw->sip_count * hw->cube_w * hw->cube_h * hw->pe_per_corner *
                             hw->corner_count,
                         presets[i].pes);
        FILE *const file = fopen("resolved.yaml", "w");
        assert_non_null(file);
        assert_int_equal(config_print(file, config, true), CW_OK);
        assert_int_equal(fclose(file), 0);
        struct config *const again = load_with("./resolved.yaml", NULL, 0);
        assert_string_equal(again->digest, config->digest);
        assert_memory_equal(&again->hw, &config->hw, sizeof config->hw);
        assert_memory_equal(&again->ccl, &config->ccl, sizeof config->ccl);
        config_free(again);
        config_free(config);
    }
}

static void a_grid_of_its_own_reaches_the_machine(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips={count: 12, w: 4, h: 3}",
                                       "system.sips.topology=mesh_2d_no_wrap"};
    struct config *const config = load_with(NULL, sets, COUNT_OF(sets));
    assert_int_equal(config->hw.sip_w, 4);
    assert_int_equal(config->hw.sip_h, 3);
    config_free(config);
}

static void one_sip_is_legal_in_every_topology(void **state)
{
    (void)state;
    static const char *const topologies[] = {"ring_1d", "torus_2d", "mesh_2d_no_wrap", "switch",
                                             "pair_switch"};
    for (size_t i = 0; i < COUNT_OF(topologies); i++) {
        char topology[64];
        snprintf(topology, sizeof topology, "system.sips.topology=%s", topologies[i]);
        const char *const sets[] = {"system.sips.count=1", topology};
        config_free(load_with(NULL, sets, COUNT_OF(sets)));
    }
}

static void w_and_h_are_ignored_off_the_grid_and_null_takes_them_back(void **state)
{
    (void)state;
    static const char *const ring[] = {"system.sips.topology=ring_1d", "system.sips.count=5"};
    struct config *config = load_with("six_3x2", ring, COUNT_OF(ring));
    assert_int_equal(config->hw.sip_w, 5);
    assert_int_equal(config->hw.sip_h, 1);
    config_free(config);
    static const char *const square[] = {"system.sips.w=null", "system.sips.h=null",
                                         "system.sips.count=9"};
    config = load_with("six_3x2", square, COUNT_OF(square));
    assert_int_equal(config->hw.sip_w, 3);
    assert_int_equal(config->hw.sip_h, 3);
    config_free(config);
}

static void an_entry_overrides_defaults_and_inherits(void **state)
{
    (void)state;
    write_text("ccl.yaml",
               "defaults: { algorithm: mine, n_slots: 4, vc_weights: [3, 1] }\n"
               "algorithms:\n"
               "  base: { module: ring_allreduce, topology: ring_1d, buffer_kind: hbm,\n"
               "          n_elem: 99, n_slots: 6 }\n"
               "  mine: { extends: base, n_elem: 7, root: \"1,2\", world_size: 3,\n"
               "          mapper: ./x.so:map }\n");
    const struct config_request request = {.ccl = "ccl.yaml"};
    struct config *config;
    struct config_errors errors = {0};
    assert_int_equal(config_load(&request, &config, &errors), CW_OK);
    assert_string_equal(config->ccl.module, "ring_allreduce");
    assert_string_equal(config->ccl.topology, "ring_1d");
    assert_string_equal(config->ccl.mapper, "./x.so:map");
    assert_string_equal(config->ccl.validator, "");
    assert_int_equal(config->ccl.queues.slots, HW_MEMORY_HBM);
    assert_int_equal(config->ccl.n_elem, 7);
    assert_int_equal(config->ccl.queues.n_slots, 6);
    assert_int_equal(config->ccl.queues.slot_bytes, 4096);
    assert_int_equal(config->ccl.queues.vc_weight[0], 3);
    assert_int_equal(config->ccl.world_size, 3);
    assert_int_equal(config->ccl.root, CCL_ROOT_XY);
    assert_int_equal(config->ccl.root_x, 1);
    assert_int_equal(config->ccl.root_y, 2);
    char where[200];
    assert_string_equal(config_where(config, "defaults.n_slots", where, sizeof where),
                        "ccl.yaml:4:32");
    assert_string_equal(config_where(config, "algorithms.mine", where, sizeof where),
                        "ccl.yaml:5:3");
    config_free(config);
    config_errors_free(&errors);
}

static void later_layers_win_and_places_say_which(void **state)
{
    (void)state;
    write_text("topology.yaml", "system:\n  sips: { count: 16, topology: ring_1d }\n");
    write_text("over.yaml", "system: { sips: { count: 25 } }\nlinks: { sio: { bw_gbs: 1.5 } }\n");
    static const char *const sets[] = {"sip.cube_mesh.w=2"};
    const struct config_request request = {.topology = "topology.yaml",
                                           .preset = "./over.yaml",
                                           .algorithm = "intercube_allreduce",
                                           .sets = sets,
                                           .set_count = 1};
    struct config *config;
    struct config_errors errors = {0};
    char where[200];
    assert_int_equal(config_load(&request, &config, &errors), CW_OK);
    assert_int_equal(config->hw.sip_count, 25);
    assert_ptr_equal(config->hw.sip_topology, &hw_ring_1d);
    assert_int_equal(config->hw.cube_w, 2);
    assert_int_equal(config->ccl.root, CCL_ROOT_CORNER);
    assert_int_equal(config->hw.link[HW_LINK_SIO].rate.num, 2000);
    assert_int_equal(config->hw.link[HW_LINK_SIO].rate.den, 3);
    assert_string_equal(config_where(config, "system.sips.count", where, sizeof where),
                        "./over.yaml:1:26");
    assert_string_equal(config_where(config, "system.sips.topology", where, sizeof where),
                        "topology.yaml:2:32");
    assert_string_equal(config_where(config, "sip.cube_mesh.w", where, sizeof where),
                        "--set sip.cube_mesh.w=2");
    assert_string_equal(config_where(config, "defaults.algorithm", where, sizeof where),
                        "--algorithm intercube_allreduce");
    assert_true(config_is_from_option(config, "defaults.algorithm"));
    assert_true(config_is_from_option(config, "sip.cube_mesh.w"));
    assert_false(config_is_from_option(config, "system.sips.count"));
    config_free(config);
    config_errors_free(&errors);
}

static void the_digest_depends_on_values_not_on_spelling(void **state)
{
    (void)state;
    static const char *const plain[] = {"links.sio.bw_gbs=150", "system.sips.w=2",
                                        "system.sips.h=2"};
    static const char *const fancy[] = {"links={sio: {bw_gbs: 1.50e+2}}"};
    static const char *const other[] = {"links.sio.bw_gbs=151"};
    struct config *const a = load_with(NULL, plain, COUNT_OF(plain));
    struct config *const b = load_with(NULL, fancy, COUNT_OF(fancy));
    struct config *const c = load_with(NULL, other, COUNT_OF(other));
    assert_string_equal(a->digest, b->digest);
    assert_string_not_equal(a->digest, c->digest);
    config_free(a);
    config_free(b);
    config_free(c);
}

static void the_resolved_text_names_the_place_of_each_value(void **state)
{
    (void)state;
    static const char *const sets[] = {"system.sips.count=9"};
    struct config *const config = load_with(NULL, sets, 1);
    char *text = NULL;
    size_t bytes = 0;
    FILE *const stream = open_memstream(&text, &bytes);
    assert_int_equal(config_print(stream, config, true), CW_OK);
    fclose(stream);
    assert_non_null(strstr(text, "    count: 9                                # --set "
                                 "system.sips.count=9\n"));
    assert_non_null(strstr(text, "    w: 3                                    # --set "
                                 "system.sips.count=9 (the squarest grid)\n"));
    assert_non_null(strstr(text, "configs/components.yaml:36:28\n"));
    assert_non_null(strstr(text, "    latency_ns: 0                           # not given\n"));
    free(text);
    config_free(config);
}

static void shipped_files_are_found_where_the_environment_says(void **state)
{
    (void)state;
    const struct config_request request = {0};
    char shipped[PATH_MAX] = "";
    if (getenv("CUBEWARP_CONFIGS") != NULL)
        snprintf(shipped, sizeof shipped, "%s", getenv("CUBEWARP_CONFIGS"));
    assert_int_equal(setenv("CUBEWARP_CONFIGS", "/nonexistent", 1), 0);
    expect_errors(&request,
                  "configuration: no topology.yaml in /nonexistent, which CUBEWARP_CONFIGS names; "
                  "expected the folder with topology.yaml, components.yaml and ccl.yaml\n");
    assert_int_equal(setenv("CUBEWARP_CONFIGS", shipped, 1), 0); /* empty: as if not set */
    config_free(load_with(NULL, NULL, 0));
}

/* Variables that decide results are in the digest, and a value's place names the variable. */
static void the_environment_is_a_layer_over_files_and_options(void **state)
{
    (void)state;
    static const char *const no[] = {"defaults.birs_enable=false"};
    char where[128];
    struct config *config = load_with(NULL, NULL, 0);
    char digest[sizeof config->digest];
    memcpy(digest, config->digest, sizeof digest);
    assert_false(config->ccl.birs_enable);
    config_free(config);
    assert_int_equal(setenv("CUBEWARP_BIRS_ENABLE", "TRUE", 1), 0);
    config = load_with(NULL, NULL, 0);
    assert_true(config->ccl.birs_enable);
    assert_string_not_equal(config->digest, digest);
    assert_string_equal(config_where(config, "defaults.birs_enable", where, sizeof where),
                        "CUBEWARP_BIRS_ENABLE=TRUE");
    config_free(config);
    config = load_with(NULL, no, COUNT_OF(no));
    assert_true(config->ccl.birs_enable);
    assert_string_not_equal(config->digest, digest);
    config_free(config);
    assert_int_equal(unsetenv("CUBEWARP_BIRS_ENABLE"), 0);
}

/* birs_enable of the preset a3_16, which is true, and the digest, with the variable set to `text`.
 */
static bool enabled_with(const char *text, char digest[17])
{
    assert_int_equal(setenv("CUBEWARP_BIRS_ENABLE", text, 1), 0);
    struct config *const config = load_with("a3_16", NULL, 0);
    const bool enabled = config->ccl.birs_enable;
    snprintf(digest, 17, "%s", config->digest);
    config_free(config);
    assert_int_equal(unsetenv("CUBEWARP_BIRS_ENABLE"), 0);
    return enabled;
}

static void yes_and_no_are_taken_in_every_usual_spelling(void **state)
{
    (void)state;
    static const char *const yes[] = {"TRUE", "true", "True", "YES", "yes", "On", "on", "1"};
    static const char *const no[] = {"FALSE", "false", "False", "NO", "no", "Off", "off", "0"};
    char as_shipped[17], with_yes[17], with_no[17], first_no[17];
    assert_true(enabled_with("", as_shipped)); /* empty: as if not set */
    assert_false(enabled_with("FALSE", first_no));
    assert_string_not_equal(first_no, as_shipped);
    for (size_t i = 0; i < COUNT_OF(yes); i++) {
        assert_true(enabled_with(yes[i], with_yes));
        assert_string_equal(with_yes, as_shipped);
        assert_false(enabled_with(no[i], with_no));
        assert_string_equal(with_no, first_no);
    }
}

static void any_other_answer_is_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"maybe", "maybe"}, {"2", "2"}, {"TRUE ", "TRUE "}, {"tr\nue", "tr?ue"}};
    char expected[256];
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(setenv("CUBEWARP_BIRS_ENABLE", bad[i][0], 1), 0);
        const struct config_request request = {0};
        snprintf(expected, sizeof expected,
                 "CUBEWARP_BIRS_ENABLE: expected true, yes, on or 1, or false, no, off or 0, in "
                 "any case; found '%s'\n",
                 bad[i][1]);
        expect_errors(&request, expected);
        assert_int_equal(unsetenv("CUBEWARP_BIRS_ENABLE"), 0);
    }
}

static struct decimal parsed(const char *text)
{
    struct decimal value;
    assert_true(decimal_parse(text, strlen(text), &value));
    return value;
}

static void decimals_are_exact(void **state)
{
    (void)state;
    assert_int_equal(decimal_prop_ps(parsed("300"), parsed("0.007"), parsed("0")), 2100);
    assert_int_equal(decimal_prop_ps(parsed("0.05"), parsed("0.01"), parsed("0")), 1); /* 0.5 ps */
    assert_int_equal(decimal_prop_ps(parsed("0.04999"), parsed("0.01"), parsed("0")), 0);
    assert_int_equal(decimal_prop_ps(parsed("1000000"), parsed("999.999999999"), parsed("1e9")),
                     INT64_C(1999999999999));
    assert_int_equal(
        decimal_prop_ps(parsed("999999.999999999"), parsed("0.000000001"), parsed("0.000000001")),
        1);
    assert_int_equal(decimal_ps(parsed("0.0005")), 1);
    assert_int_equal(decimal_ps(parsed("0.000499999")), 0);
    assert_int_equal(decimal_ps(parsed("1e9")), INT64_C(1000000000000));
    const struct hw_rate slow = decimal_rate(parsed("0.001"));
    assert_int_equal(slow.num, 1000000);
    assert_int_equal(slow.den, 1);
    const struct hw_rate odd = decimal_rate(parsed("999999.999999"));
    assert_int_equal(odd.num, 1000000000);
    assert_int_equal(odd.den, UINT64_C(999999999999));
}

static void decimals_parse_and_print(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } good[] = {{"0", "0"},
                {"-0", "0"},
                {"00.50", "0.5"},
                {".5", "0.5"},
                {"5.", "5"},
                {"1e3", "1000"},
                {"12.5e-1", "1.25"},
                {"+7", "7"},
                {"-0.001", "-0.001"},
                {"1e-18", "0.000000000000000001"},
                {"999999999999999999", "999999999999999999"},
                {"1.0000000000000000000000", "1"}};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        char text[DECIMAL_TEXT_BYTES];
        assert_string_equal(decimal_print(parsed(good[i].text), text), good[i].printed);
    }
    static const char *const bad[] = {"",
                                      ".",
                                      "-",
                                      "e3",
                                      "1e",
                                      "1e+",
                                      "1.2.3",
                                      "0x10",
                                      "1 ",
                                      "inf",
                                      "nan",
                                      "1_0",
                                      "--1",
                                      "1e19",
                                      "1e-19",
                                      "9999999999999999999",
                                      "1e99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct decimal value;
        assert_false(decimal_parse(bad[i], strlen(bad[i]), &value));
    }
    assert_true(decimal_compare(parsed("0.1"), parsed("0.09999")) > 0);
    assert_true(decimal_compare(parsed("1.50"), parsed("1.5")) == 0);
    assert_true(decimal_compare(parsed("-1"), parsed("0")) < 0);
}

static void directions_are_counted_as_they_exist(void **state)
{
    (void)state;
    static const char *const alone[] = {"system.sips.count=1", "sip.cube_mesh={w: 1, h: 1}",
                                        "cube.pe_layout={pe_per_corner: 1, corners: [SE]}"};
    static const char *const pe0[] = {"defaults.wiring=pe0"};
    struct config *config = load_with(NULL, alone, COUNT_OF(alone));
    assert_int_equal(config_directions_max(&config->hw, &config->ccl), 0);
    config_free(config);
    config = load_with(NULL, pe0, COUNT_OF(pe0));
    assert_int_equal(config_directions_max(&config->hw, &config->ccl), 8);
    config_free(config);
    config = load_with(NULL, NULL, 0);
    assert_int_equal(config_directions_max(&config->hw, &config->ccl), 11);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_defaults_give_the_machine_of_the_specification),
        cmocka_unit_test(every_preset_loads_and_its_resolved_text_loads_to_the_same),
        cmocka_unit_test(a_grid_of_its_own_reaches_the_machine),
        cmocka_unit_test(one_sip_is_legal_in_every_topology),
        cmocka_unit_test(w_and_h_are_ignored_off_the_grid_and_null_takes_them_back),
        cmocka_unit_test(an_entry_overrides_defaults_and_inherits),
        cmocka_unit_test(later_layers_win_and_places_say_which),
        cmocka_unit_test(the_digest_depends_on_values_not_on_spelling),
        cmocka_unit_test(the_resolved_text_names_the_place_of_each_value),
        cmocka_unit_test(shipped_files_are_found_where_the_environment_says),
        cmocka_unit_test(the_environment_is_a_layer_over_files_and_options),
        cmocka_unit_test(yes_and_no_are_taken_in_every_usual_spelling),
        cmocka_unit_test(any_other_answer_is_refused),
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(decimals_parse_and_print),
        cmocka_unit_test(directions_are_counted_as_they_exist),
    };
    return cmocka_run_group_tests_name("config", tests, scratch_enter, scratch_leave);
}
