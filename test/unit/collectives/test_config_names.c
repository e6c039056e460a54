/*
 * test_config_names.c: a name in a configuration means the row of a registry, or the value of an
 * enumeration, that has this name, whatever the order of rows in any table.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_schema.h"
#include "collectives/runtime/mapper.h"
#include "collectives/topologies.h"
#include "hw/faults.h"
#include "hw/route.h"
#include "hw/timing.h"
#include "hw/topology/topology.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

__attribute__((format(printf, 1, 2))) static struct config *load_one(const char *format, ...)
{
    char set[160];
    va_list args;
    va_start(args, format);
    vsnprintf(set, sizeof set, format, args);
    va_end(args);
    const char *const sets[] = {"system.sips.count=1", set};
    const struct config_request request = {.sets = sets, .set_count = COUNT_OF(sets)};
    struct config_errors errors = {0};
    struct config *config;
    assert_int_equal(config_load(&request, &config, &errors), CW_OK);
    config_errors_free(&errors);
    return config;
}

static void each_topology_of_sips_is_the_row_of_its_name(void **state)
{
    (void)state;
    uint32_t rows = 0;
    for (const char *name; (name = hw_topology_name_at(rows)) != NULL; rows++) {
        const bool is_list = strcmp(name, hw_levels.name) == 0;
        struct config *const config =
            load_one("system.sips.topology=%s", is_list ? "[{switch: 1}]" : name);
        assert_ptr_equal(config->hw.sip_topology, hw_topology_find(name));
        assert_string_equal(config->hw.sip_topology->name, name);
        config_free(config);
    }
    assert_true(rows >= 8);
    assert_ptr_equal(hw_topology_find("ring_1d"), &hw_ring_1d);
    assert_ptr_equal(hw_topology_find("torus_2d"), &hw_torus_2d);
    assert_ptr_equal(hw_topology_find("mesh_2d_no_wrap"), &hw_mesh_2d_no_wrap);
    assert_ptr_equal(hw_topology_find("switch"), &hw_switch);
    assert_ptr_equal(hw_topology_find("pair_switch"), &hw_pair_switch);
    assert_null(hw_topology_find("ring"));
}

static void each_node_s_keys_go_to_its_own_fields(void **state)
{
    (void)state;
    for (enum hw_node_kind kind = 0; kind < HW_NODE_KEYED; kind++) {
        struct config *config = load_one("nodes.%s.overhead_ns=123", hw_node_name[kind]);
        for (enum hw_node_kind other = 0; other < HW_NODE_KEYED; other++)
            assert_int_equal(config->hw.overhead_ps[other] == 123000, other == kind);
        config_free(config);
        if (hw_node_row[kind].jitter == HW_STEADY)
            continue;
        config = load_one("faults.slow={nodes: %s, slower: 17}", hw_node_name[kind]);
        assert_int_equal(config->hw.faults->slow[0].percent, 17);
        for (enum hw_node_kind other = 0; other < HW_NODE_KEYED; other++)
            assert_int_equal(config->hw.faults->slow[0].kind[other], other == kind);
        config_free(config);
    }
}

static void each_link_s_keys_go_to_its_own_fields(void **state)
{
    (void)state;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KEYED; kind++) {
        struct config *config = load_one("links.%s.latency_ns=54321", hw_link_name[kind]);
        for (enum hw_link_kind other = 0; other < HW_LINK_KEYED; other++)
            assert_int_equal(config->hw.link[other].prop_ps >= 54321000, other == kind);
        config_free(config);
        config = load_one("faults.slow={links: %s, slower: 17}", hw_link_name[kind]);
        assert_int_equal(config->hw.faults->slow[0].percent, 17);
        for (enum hw_link_kind other = 0; other < HW_LINK_KEYED; other++)
            assert_int_equal(config->hw.faults->slow[0].kind[hw_part_of_link(other)],
                             other == kind);
        config_free(config);
    }
}

/* The salts of all kinds, which draws of jitter go by, as they were given. */
static void each_kind_keeps_its_salt(void **state)
{
    (void)state;
    static const char *const names[] = {
        "host",     "io_cpu",       "io_hub",    "io_port",  "switch",
        "m_cpu",    "router",       "ucie_port", "sram",     "hbm",
        "pe_cpu",   "pe_scheduler", "pe_dma",    "pe_ipcq",  "pe_fetch_store",
        "pe_math",  "pe_gemm",      "pe_tcm",    "pe_mmu",   "pe_noc",
        "tcm",      "noc",          "hbm",       "sram",     "m_cpu",
        "noc_ucie", "ucie",         "hub",       "sip_link", "pcie",
        "sio",      "hccs",         "level_1",   "level_2",  "level_3",
        "level_4"};
    for (enum hw_node_kind kind = 0; kind < HW_NODE_KEYED; kind++)
        if (hw_node_row[kind].salt < COUNT_OF(names))
            assert_string_equal(hw_node_row[kind].name, names[hw_node_row[kind].salt]);
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (hw_link_salt(kind) < COUNT_OF(names))
            assert_string_equal(hw_link_name_of(&(struct hw_config){0}, kind),
                                names[hw_link_salt(kind)]);
    bool seen[256] = {false};
    uint32_t salts = 0;
    for (enum hw_node_kind kind = 0; kind < HW_NODE_KEYED; kind++)
        seen[hw_node_row[kind].salt] = true;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        seen[hw_link_salt(kind)] = true;
    for (uint32_t salt = 0; salt < COUNT_OF(seen); salt++)
        salts += seen[salt];
    assert_int_equal(salts, HW_NODE_KEYED + HW_LINK_KINDS);
}

struct value {
    const char *set;
    size_t offset; /* in struct config */
    int value;
};

#define HW(field)  offsetof(struct config, hw.field)
#define CCL(field) offsetof(struct config, ccl.field)

static void each_name_of_an_enumeration_is_its_value(void **state)
{
    (void)state;
    static const struct value values[] = {
        {"fabric.contention=none", HW(contention), HW_CONTENTION_NONE},
        {"fabric.contention=message", HW(contention), HW_CONTENTION_MESSAGE},
        {"fabric.contention=chunk", HW(contention), HW_CONTENTION_CHUNK},
        {"cube.pe_layout.corners=[NW]", HW(corner[0]), HW_NW},
        {"cube.pe_layout.corners=[NE]", HW(corner[0]), HW_NE},
        {"cube.pe_layout.corners=[SW]", HW(corner[0]), HW_SW},
        {"cube.pe_layout.corners=[SE]", HW(corner[0]), HW_SE},
        {"defaults.wiring=all_pes", CCL(wiring), CCL_WIRING_ALL_PES},
        {"defaults.wiring=pe0", CCL(wiring), CCL_WIRING_PE0},
        {"defaults.buffer_kind=tcm", CCL(queues.slots), HW_MEMORY_TCM},
        {"defaults.buffer_kind=hbm", CCL(queues.slots), HW_MEMORY_HBM},
        {"defaults.buffer_kind=sram", CCL(queues.slots), HW_MEMORY_SRAM},
        {"defaults.protocol=simple", CCL(queues.protocol), LP_SIMPLE},
        {"defaults.protocol=ll", CCL(queues.protocol), LP_LL},
        {"defaults.protocol=ll128", CCL(queues.protocol), LP_LL128},
        {"defaults.host_copy=instant", CCL(host_copy), CCL_HOST_COPY_INSTANT},
        {"defaults.host_copy=simulated", CCL(host_copy), CCL_HOST_COPY_SIMULATED},
        {"algorithms.lrab_hierarchical_allreduce.root=center", CCL(root), CCL_ROOT_CENTER},
        {"algorithms.lrab_hierarchical_allreduce.root=corner", CCL(root), CCL_ROOT_CORNER},
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        struct config *const config = load_one("%s", values[i].set);
        int found;
        memcpy(&found, (const char *)config + values[i].offset, sizeof found);
        if (found != values[i].value)
            fail_msg("%s gives %d", values[i].set, found);
        config_free(config);
    }
}

/* Of two names: false, true. */
static void each_name_of_a_switch_is_its_value(void **state)
{
    (void)state;
    static const struct value values[] = {
        {"defaults.backpressure=sleep", CCL(queues.poll), false},
        {"defaults.backpressure=poll", CCL(queues.poll), true},
        {"defaults.recv_fairness=weak", CCL(queues.fairness_strict), false},
        {"defaults.recv_fairness=strict", CCL(queues.fairness_strict), true},
        {"defaults.credit_return_mode=fast_path", CCL(queues.credit_fabric), false},
        {"defaults.credit_return_mode=fabric", CCL(queues.credit_fabric), true},
        {"defaults.vc=dual", CCL(queues.single_vc), false},
        {"defaults.vc=single", CCL(queues.single_vc), true},
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        struct config *const config = load_one("%s", values[i].set);
        bool found;
        memcpy(&found, (const char *)config + values[i].offset, sizeof found);
        if (found != values[i].value)
            fail_msg("%s gives %d", values[i].set, found);
        config_free(config);
    }
}

static void each_distribution_of_jitter_is_its_value(void **state)
{
    (void)state;
    static const char *const names[] = {[HW_JITTER_NONE] = "none",
                                        [HW_JITTER_FIXED] = "fixed",
                                        [HW_JITTER_UNIFORM] = "uniform",
                                        [HW_JITTER_NORMAL] = "normal",
                                        [HW_JITTER_EXPONENTIAL] = "exponential"};
    const int key = config_machine_find("jitter.links.ucie.distribution");
    const struct config_key *const schema = &config_machine_keys[key];
    for (uint32_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(schema->choice(i), names[i]);
    assert_null(schema->choice(COUNT_OF(names)));
}

/* Off, unless asked for. */
static void options_of_the_machine_are_off_and_go_to_their_fields(void **state)
{
    (void)state;
    static const char *const memories[] = {
        [HW_MEMORY_TCM] = "tcm", [HW_MEMORY_HBM] = "hbm", [HW_MEMORY_SRAM] = "sram"};
    struct config *config = load_one("nodes.pe_math.lanes=%s", "64");
    for (enum hw_memory memory = 0; memory < HW_MEMORY_NONE; memory++)
        assert_false(hw_has_slot_access(&config->hw, memory));
    assert_false(config->hw.launch_together || config->hw.math_free_operands ||
                 config->ccl.queues.whole_tensor);
    assert_int_equal(lp_tile_bytes(&config->ccl.queues), config->ccl.queues.slot_bytes);
    config_free(config);
    for (enum hw_memory memory = 0; memory < HW_MEMORY_NONE; memory++) {
        config = load_one("slot_access.%s={overhead_ns: 2.5, bw_gbs: 500}", memories[memory]);
        for (enum hw_memory other = 0; other < HW_MEMORY_NONE; other++)
            assert_int_equal(hw_has_slot_access(&config->hw, other), other == memory);
        assert_int_equal(config->hw.slot_access[memory].overhead_ps, 2500);
        assert_int_equal(hw_rate_ps(config->hw.slot_access[memory].rate, 100), 200);
        config_free(config);
    }
    config = load_one("nodes.pe_math.free_operands=%s", "true");
    assert_true(config->hw.math_free_operands && !config->hw.launch_together);
    config_free(config);
    config = load_one("launch_together=%s", "true");
    assert_true(config->hw.launch_together);
    config_free(config);
    config = load_one("launch_static_ns=%s", "2.5");
    assert_int_equal(config->hw.launch_static_ps, 2500);
    config_free(config);
    config = load_one("slot_access.%s={bw_gbs: 1, write_only: true}", "sram");
    assert_true(config->hw.slot_access[HW_MEMORY_SRAM].write_only);
    config_free(config);
    config = load_one("slot_access.%s={bw_gbs: 1, read_only: true}", "hbm");
    assert_true(config->hw.slot_access[HW_MEMORY_HBM].read_only);
    config_free(config);
    config = load_one("defaults.whole_tensor=%s", "true");
    assert_int_equal(lp_tile_bytes(&config->ccl.queues), 1 << 30);
    config_free(config);
}

/* A registry's own names are the schema's, and each is found under its name. */
static void names_of_the_collectives_registries_are_found_there(void **state)
{
    (void)state;
    struct cw_error error;
    struct logical logical;
    const struct hw_config hw = {
        .sip_count = 64, .sip_w = 64, .sip_h = 1, .sip_topology = &hw_ring_1d};
    for (uint32_t i = 0; ccl_mapper_name_at(i) != NULL; i++)
        assert_non_null(ccl_mapper_find(ccl_mapper_name_at(i), &error));
    for (uint32_t i = 0; ccl_validator_name_at(i) != NULL; i++)
        assert_non_null(ccl_validator_find(ccl_validator_name_at(i), &error));
    for (uint32_t i = 0; logical_name_at(i) != NULL; i++) {
        assert_int_equal(logical_find(logical_name_at(i), 64, &hw, &logical, &error), CW_OK);
        assert_string_equal(logical.name, logical_name_at(i));
    }
    assert_ptr_equal(config_ccl_keys[config_ccl_find("mapper")].choice, ccl_mapper_name_at);
    assert_ptr_equal(config_ccl_keys[config_ccl_find("validator")].choice, ccl_validator_name_at);
    assert_ptr_equal(config_ccl_keys[config_ccl_find("topology")].choice, logical_name_at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_topology_of_sips_is_the_row_of_its_name),
        cmocka_unit_test(each_node_s_keys_go_to_its_own_fields),
        cmocka_unit_test(each_link_s_keys_go_to_its_own_fields),
        cmocka_unit_test(each_kind_keeps_its_salt),
        cmocka_unit_test(each_name_of_an_enumeration_is_its_value),
        cmocka_unit_test(each_name_of_a_switch_is_its_value),
        cmocka_unit_test(each_distribution_of_jitter_is_its_value),
        cmocka_unit_test(options_of_the_machine_are_off_and_go_to_their_fields),
        cmocka_unit_test(names_of_the_collectives_registries_are_found_there),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
