/*
 * test_config_errors.c: bad configurations get every error, in order of place, with its exact
 * text. And hostile files get a refusal, soon, whatever they hold.
 */
#include "test/support/test_config_support.h"

#include "collectives/config/config_load.h"

#define TOPOLOGY_KEYS "system, sip, cube, memory, fabric, faults"
#define ALL_KEYS                                                                                   \
    "system, sip, cube, memory, fabric, ns_per_mm, control_msg_bytes, launch_together, "           \
    "launch_static_ns, ll128_launch_static_ns, compute_model, nodes, links, slot_access, jitter, " \
    "concurrent, defaults, algorithms, "                                                           \
    "groups, faults"

static void expect_topology(const char *text, const char *expected)
{
    write_text("topology.yaml", text);
    expect_errors(&(struct config_request){.topology = "topology.yaml"}, expected);
}

static void expect_components(const char *text, const char *expected)
{
    write_text("components.yaml", text);
    expect_errors(&(struct config_request){.components = "components.yaml"}, expected);
}

static void expect_ccl(const char *text, const char *expected)
{
    write_text("ccl.yaml", text);
    expect_errors(&(struct config_request){.ccl = "ccl.yaml"}, expected);
}

static void expect_set(const char *set, const char *expected)
{
    expect_errors(&(struct config_request){.sets = &set, .set_count = 1}, expected);
}

static void a_misspelled_key_gets_the_nearest_known_one(void **state)
{
    (void)state;
    expect_topology("system:\n  sips:\n    cuont: 4\n",
                    "topology.yaml:3:5: unknown key 'cuont' in system.sips; did you mean 'count'? "
                    "known here: count, topology, w, h, d\n");
    expect_components(
        "links: { sip_lnk: { bw_gbs: 4 } }\n",
        "components.yaml:1:10: unknown key 'sip_lnk' in links; did you mean "
        "'sip_link'? known here: scale, pe_noc, tcm, noc, hbm, sram, m_cpu, noc_ucie, ucie, "
        "hub, sip_link, pcie, sio, hccs\n");
    expect_topology("zzz: 1\n",
                    "topology.yaml:1:1: unknown key 'zzz'; known here: " TOPOLOGY_KEYS "\n");
    expect_topology("links: {}\n", "topology.yaml:1:1: key 'links' belongs in components.yaml; "
                                   "known here: " TOPOLOGY_KEYS "\n");
    expect_topology("system.sips.count: 4\n",
                    "topology.yaml:1:1: unknown key 'system.sips.count'; known "
                    "here: " TOPOLOGY_KEYS "\n");
}

static void a_wrong_type_says_what_is_legal(void **state)
{
    (void)state;
    expect_topology("system: { sips: { count: four } }\n",
                    "topology.yaml:1:26: system.sips.count: expected a whole number from 1 to "
                    "16777216; found 'four'\n");
    expect_topology("system: { sips: { count: \"4\" } }\n",
                    "topology.yaml:1:26: system.sips.count: expected a whole number from 1 to "
                    "16777216; found '4' in quotes, which is a text\n");
    expect_topology("system: { sips: { count: 4.5 } }\n",
                    "topology.yaml:1:26: system.sips.count: expected a whole number from 1 to "
                    "16777216; found '4.5'; write it with digits alone\n");
    expect_topology("system: { sips: { count: [4] } }\n",
                    "topology.yaml:1:26: system.sips.count: expected a whole number from 1 to "
                    "16777216; found a list\n");
    expect_topology("system: { sips: { count: } }\n",
                    "topology.yaml:1:26: system.sips.count: expected a whole number from 1 to "
                    "16777216; found nothing\n");
    expect_topology("system: 3\n", "topology.yaml:1:9: system: expected a mapping with keys of "
                                   "sips; found '3'\n");
    expect_topology("- system\n",
                    "topology.yaml:1:1: expected a mapping with keys of " TOPOLOGY_KEYS
                    "; found a list\n");
    expect_ccl("defaults: { recv_blocks_on_credit: yes }\n",
               "ccl.yaml:1:36: defaults.recv_blocks_on_credit: expected true or false; found "
               "'yes'; did you mean 'true'?\n");
    expect_ccl("defaults: { vc_weights: [1, 0] }\n",
               "ccl.yaml:1:29: defaults.vc_weights: expected a list of two whole numbers from 1 to "
               "1024: [compute, comm]; found '0'\n");
    expect_topology("cube: { pe_layout: { corners: [NW, NW] } }\n",
                    "topology.yaml:1:36: cube.pe_layout.corners: expected a list of 1 to 4 "
                    "different corners of NW, NE, SW, SE; found 'NW' twice\n");
    expect_topology("fabric: { contention: mesage }\n",
                    "topology.yaml:1:23: fabric.contention: expected one of none, message, chunk; "
                    "found 'mesage'; did you mean 'message'?\n");
}

static void access_to_slots_needs_a_rate(void **state)
{
    (void)state;
    expect_components("slot_access:\n  hbm: { overhead_ns: 6 }\n",
                      "components.yaml:2:23: slot_access.hbm.overhead_ns: without "
                      "slot_access.hbm.bw_gbs slots have no cost of access; give both, or "
                      "neither\n");
    expect_components("slot_access: { sram: { write_only: true } }\n",
                      "components.yaml:1:36: slot_access.sram.write_only: without "
                      "slot_access.sram.bw_gbs slots have no cost of access; give both, or "
                      "neither\n");
    expect_components("slot_access: { tcm: { bw_gbs: 1, write_only: true, read_only: true } }\n",
                      "components.yaml:1:63: slot_access.tcm.read_only beside "
                      "slot_access.tcm.write_only: then slots have no cost of access; give one of "
                      "them\n");
    expect_components("slot_access: { hbm: { overhead_ns: 6, bw_gbs: 0 } }\n",
                      "components.yaml:1:47: slot_access.hbm.bw_gbs: expected a number of GB/s "
                      "from 0.001 to 1000000 with at most 6 decimal places; found '0'\n");
}

static void a_rate_out_of_range_or_with_a_unit_is_refused(void **state)
{
    (void)state;
    expect_components("links:\n  ucie: { bw_gbs: -64 }\n",
                      "components.yaml:2:19: links.ucie.bw_gbs: expected a number of GB/s from "
                      "0.001 to 1000000 with at most 6 decimal places; found '-64'\n");
    expect_components("links:\n  ucie: { bw_gbs: 0 }\n",
                      "components.yaml:2:19: links.ucie.bw_gbs: expected a number of GB/s from "
                      "0.001 to 1000000 with at most 6 decimal places; found '0'\n");
    expect_components(
        "links:\n  ucie: { bw_gbs: 64 GB/s }\n",
        "components.yaml:2:19: links.ucie.bw_gbs: expected a number of GB/s from "
        "0.001 to 1000000 with at most 6 decimal places; found '64 GB/s'; the unit is "
        "fixed: write the number alone\n");
    expect_components(
        "nodes: { router: { overhead_ns: .inf } }\n",
        "components.yaml:1:33: nodes.router.overhead_ns: expected a number of ns from "
        "0 to 1000000000 with at most 9 decimal places; found '.inf'\n");
}

static void a_torus_has_the_size_that_w_and_h_say(void **state)
{
    (void)state;
    expect_topology("system: { sips: { count: 6, w: 2, h: 2 } }\n",
                    "topology.yaml:1:32: system.sips.w: 2 x 2 is 4 SIPs, but system.sips.count is "
                    "6; legal w x h: 1x6, 2x3, 3x2, 6x1\n");
    expect_topology("system: { sips: { h: 2 } }\n",
                    "topology.yaml:1:22: system.sips.h: given without system.sips.w; give both, "
                    "or neither for the squarest grid; legal w x h for 4 SIPs: 1x4, 2x2, 4x1\n");
    expect_topology("system: { sips: { count: 5, topology: pair_switch } }\n",
                    "topology.yaml:1:26: system.sips.count: pair_switch joins SIPs in pairs, so it "
                    "needs an even number; found 5\n");
}

static void a_torus_of_three_dimensions_has_three_sizes_or_none(void **state)
{
    (void)state;
#define TORUS(sizes) "system: { sips: { topology: torus_3d, count: 12, " sizes " } }\n"
#define LEGAL                                                                                      \
    "; legal: w x h x d = system.sips.count, such as 3 x 2 x 2 for 12 SIPs, or none of the three " \
    "for this, the most cubic grid\n"
    expect_topology(TORUS("w: 3, h: 2"),
                    "topology.yaml:1:53: system.sips.w: system.sips.d is missing beside the "
                    "others" LEGAL);
    expect_topology(TORUS("d: 2"), "topology.yaml:1:53: system.sips.d: system.sips.w is missing "
                                   "beside the others" LEGAL);
    expect_topology(TORUS("w: 3, h: 3, d: 3"),
                    "topology.yaml:1:53: system.sips.w: 3 x 3 x 3 is 27 SIPs, but "
                    "system.sips.count is 12" LEGAL);
    expect_topology("system: { sips: { topology: fully_connected, count: 257 } }\n",
                    "topology.yaml:1:53: system.sips.count: fully_connected gives each SIP a link "
                    "to every other, and an IO die has room for 255; found 257 SIPs; legal: 1 to "
                    "256\n");
}

static void each_level_is_checked_at_its_place(void **state)
{
    (void)state;
#define LEVELS(list) "system:\n  sips:\n    topology: " list "\n"
#define AT(column)   "topology.yaml:3:" column ": system.sips.topology: "
    expect_topology(LEVELS("[]"), AT("15") "an empty list; expected 1 to 4 levels, such as "
                                           "[{torus_2d: [4, 4]}, {switch: 8}]\n");
    expect_topology(LEVELS("[{torus_2d: [2, 2]}, {switch: 8}]"),
                    AT("15") "the levels make 32 SIPs, but system.sips.count is 4; set it to 32, "
                             "or change the levels\n");
    expect_topology(
        LEVELS("[{torus_2d: [2, 2]}, {torus_2d: 8}]"),
        AT("47") "expected torus_2d: [w, h], whole numbers from 1 to 16777216, or rest; "
                 "found '8'\n");
    expect_topology(LEVELS("[{torus_2d: rest}, {switch: 3}]"),
                    AT("15") "the levels that have sizes do not divide the 4 SIPs of "
                             "system.sips.count, so no rest is left\n");
    expect_topology(LEVELS("[{torus_2d: rest}, {switch: rest}]"),
                    AT("43") "two levels have the rest\n");
    expect_topology(LEVELS("[{torus_2d: [rest, 2]}]"),
                    AT("28") "expected torus_2d: [w, h], whole numbers from 1 to 16777216; found "
                             "'rest'\n");
    expect_topology(LEVELS("[{torus_2d: [2, 0]}]"),
                    AT("31") "expected torus_2d: [w, h], whole numbers from 1 to 16777216; found "
                             "'0'\n");
    expect_topology(LEVELS("[{swich: 4}]"),
                    AT("17") "unknown key 'swich' in a level; did you mean 'switch'? known: "
                             "ring_1d, torus_2d, torus_3d, mesh_2d_no_wrap, fully_connected, "
                             "switch, distance_mm, bw_gbs, ns_per_mm, latency_ns, cost, "
                             "watts, pj_per_bit\n");
    expect_topology(LEVELS("[{switch: 2, ring_1d: 2}]"),
                    AT("28") "a level has one topology; found switch and ring_1d; write two "
                             "levels\n");
    expect_topology(LEVELS("[{switch: 4, bw_gbs: fast}]"),
                    AT("36") "expected bw_gbs: a number of GB/s from 0.001 to 1000000 with at most "
                             "6 decimal places; found 'fast'\n");
    expect_topology(LEVELS("[{bw_gbs: 4}]"),
                    AT("16") "expected a topology and its size in every level, such as {switch: "
                             "8}; found a mapping\n");
    expect_topology(LEVELS("[switch]"),
                    AT("16") "expected a level such as {switch: 8}; found 'switch'\n");
    expect_topology(LEVELS("[{switch: 1}, {switch: 1}, {switch: 1}, {switch: 1}, {switch: 4}]"),
                    AT("68") "more than 4 levels; legal: 1 to 4\n");
}

static void addresses_bound_the_machine(void **state)
{
    (void)state;
    expect_topology("system: { sips: { count: 16777217 } }\n",
                    "topology.yaml:1:26: system.sips.count: expected a whole number from 1 to "
                    "16777216; found '16777217'\n");
    expect_topology("sip: { cube_mesh: { w: 33, h: 32 } }\n",
                    "topology.yaml:1:24: sip.cube_mesh.w: w x h is 1056 cubes; a physical address "
                    "has room for 1024 per SIP\n");
    expect_topology("cube: { pe_layout: { pe_per_corner: 17 } }\n",
                    "topology.yaml:1:37: cube.pe_layout.pe_per_corner: 68 PEs in 4 corners; a "
                    "physical address has room for 64 per cube\n");
    expect_topology("memory: { hbm_mib: 4097 }\n",
                    "topology.yaml:1:20: memory.hbm_mib: expected a whole number of MiB from 1 to "
                    "4096; found '4097'\n");
}

static void slots_that_do_not_fit_name_the_memory(void **state)
{
    (void)state;
    expect_ccl("defaults:\n  slot_size: 65536\n",
               "ccl.yaml:2:14: defaults.slot_size: 8 slots x 65536 bytes in 11 rings (1 PE, 11 "
               "directions each) request 5767168 bytes of a PE's TCM, where 1048576 are free "
               "(memory.tcm_kib); at most 11915 bytes per slot fit\n");
    expect_ccl("defaults: { slot_size: 8192, buffer_kind: sram }\n",
               "ccl.yaml:1:24: defaults.slot_size: 8 slots x 8192 bytes in 88 rings (8 PEs, 11 "
               "directions each) request 5767168 bytes of a cube's SRAM, where 4194304 are free "
               "(memory.sram_kib); at most 5957 bytes per slot fit\n");
    expect_ccl("defaults: { n_slots: 65536, slot_size: 1073741824, buffer_kind: hbm }\n",
               "ccl.yaml:1:40: defaults.slot_size: 65536 slots x 1073741824 bytes in 11 rings (1 "
               "PE, 11 directions each) request 774056185954304 bytes of a PE's HBM slice, where "
               "2147483648 are free (memory.hbm_mib); at most 2978 bytes per slot fit\n");
}

static void files_that_cannot_be_read_say_so(void **state)
{
    (void)state;
    expect_errors(&(struct config_request){.topology = "nowhere.yaml"},
                  "nowhere.yaml:1:1: cannot open: No such file or directory\n");
    expect_errors(&(struct config_request){.ccl = "."},
                  ".:1:1: is a directory; expected a YAML file\n");
    expect_topology("", "topology.yaml:1:1: empty; expected YAML with a value in it\n");
    expect_topology("system: {}\n---\nsystem: {}\n",
                    "topology.yaml:2:1: a second document; expected one\n");
    write_bytes("topology.yaml", "system:\n  s\xc3\xa9\xff: 1\n", 17);
    expect_errors(&(struct config_request){.topology = "topology.yaml"},
                  "topology.yaml:2:5: byte 0xff is not UTF-8; expected a YAML file in UTF-8\n");
}

static void a_file_of_comments_changes_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {"# nothing yet", "\n  # a\n\n# b\n", "---\n# nothing\n"};
    struct config *const plain = load_with(NULL, NULL, 0);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        write_text("comments.yaml", texts[i]);
        const struct config_request request = {.topology = "comments.yaml",
                                               .preset = "./comments.yaml"};
        struct config *config;
        struct config_errors errors = {0};
        assert_int_equal(config_load(&request, &config, &errors), CW_OK);
        assert_string_equal(config->digest, plain->digest);
        config_errors_free(&errors);
        config_free(config);
    }
    config_free(plain);
    expect_topology(" \n", "topology.yaml:2:1: empty; expected YAML with a value in it\n");
    expect_set("system.sips.count=# 4", "--set system.sips.count=# 4: empty; expected YAML with a "
                                        "value in it\n");
}

static void an_unknown_preset_lists_the_known_ones(void **state)
{
    (void)state;
    int code;
    char *const text = load_errors(&(struct config_request){.preset = "milion"}, &code);
    assert_int_equal(code, CW_USAGE);
    assert_non_null(strstr(text, "unknown preset 'milion'; did you mean 'million'? known in "));
    assert_non_null(strstr(
        text, ": a100_8, a100_nodes, a3_16, a3_16_vendor, a3_4, a3_8, default, "
              "dragonfly_64, fat_tree_64, h100_8, "
              "kernbench-effective, kernbench, mi300x_8, million, pe_ring_8, pod1024, pod64, "
              "rail_128, records, six_3x2, "
              "tiny, torus_4x4x4, torus_8x8x8, v100_8, wormhole_t3k\n"));
    free(text);
}

static void all_errors_of_all_files_come_in_order_of_place(void **state)
{
    (void)state;
    write_text("topology.yaml", "memory: { tcm_kib: 0 }\n"
                                "system:\n"
                                "  sips: { count: 0, count: 3, topologie: ring_1d }\n");
    write_text("components.yaml", "nodes:\n  pe_dma: { queue_depth: -1, overhead_ns: x }\n");
    static const char *const sets[] = {"fabric.contention=no", "a=1"};
    expect_errors(
        &(struct config_request){.topology = "topology.yaml",
                                 .components = "components.yaml",
                                 .sets = sets,
                                 .set_count = COUNT_OF(sets)},
        "topology.yaml:1:20: memory.tcm_kib: expected a whole number of KiB from 1 to 4194304; "
        "found '0'\n"
        "topology.yaml:3:18: system.sips.count: expected a whole number from 1 to 16777216; found "
        "'0'\n"
        "topology.yaml:3:21: key 'count' is given twice; first at line 3, column 11\n"
        "topology.yaml:3:31: unknown key 'topologie' in system.sips; did you mean 'topology'? "
        "known here: count, topology, w, h, d\n"
        "components.yaml:2:26: nodes.pe_dma.queue_depth: expected a whole number of operations "
        "from 1 to 1024; found '-1'\n"
        "components.yaml:2:43: nodes.pe_dma.overhead_ns: expected a number of ns from 0 to "
        "1000000000 with at most 9 decimal places; found 'x'\n"
        "--set fabric.contention=no: fabric.contention: expected one of none, message, chunk; "
        "found 'no'; did you mean 'none'?\n"
        "--set a=1: unknown key 'a'; keys begin with " ALL_KEYS "\n");
}

static void set_has_the_same_checks(void **state)
{
    (void)state;
    expect_set("system.sip.count=4", "--set system.sip.count=4: unknown key 'system.sip.count'; "
                                     "did you mean 'system.sips.count'?\n");
    expect_set("count", "--set count: expected KEY=VALUE, as in system.sips.count=64\n");
    expect_set("system.sips.count=", "--set system.sips.count=: empty; expected YAML with a value "
                                     "in it\n");
    expect_set("system.sips.count=[1", "--set system.sips.count=[1: not YAML: did not find "
                                       "expected ',' or ']' (while parsing a flow sequence)\n");
    expect_set("system.sips.count=&a 4", "--set system.sips.count=&a 4: anchors and aliases are "
                                         "not used here: write the value out\n");
    expect_set("system.sips.count=010",
               "--set system.sips.count=010: system.sips.count: expected a whole number from 1 to "
               "16777216; found '010'; a leading zero may mean another base: leave it out\n");
    expect_set(
        "algorithms.birs.modul=x",
        "--set algorithms.birs.modul=x: unknown key 'modul' in algorithms.birs; did you "
        "mean 'module'? known here: extends, module, topology, mapper, validator, wiring, "
        "buffer_kind, backpressure, recv_fairness, n_slots, slot_size, min_way_bytes, "
        "protocol, ll_max_tile_bytes, ll_n_slots, ll_slot_size, ll_piece_size, ll128_n_slots, "
        "ll128_slot_size, ll128_piece_size, piece_size, tile_min_size, coarse, vc, vc_chunk_size, "
        "vc_weights, ipcq_credit_size_bytes, credit_return_mode, recv_blocks_on_credit, "
        "strict_validation, whole_tensor, host_copy, world_size, root, root_cube, rank_invariant, "
        "accumulate, fp8_overflow, "
        "overlap_exchange, n_elem, "
        "birs_enable, mesh_max_bytes, min_slice_align, slice_rounding, mate, package\n");
    static const char *const sets[] = {"system.sips.count=6", "system.sips.w=3", "system.sips.h=2"};
    config_free(load_with(NULL, sets, COUNT_OF(sets)));
}

static void expect_ranks(const char *list, const char *expected)
{
    char set[128], line[512];
    snprintf(set, sizeof set, "algorithms.birs.%s", list);
    snprintf(line, sizeof line, "--set %s: %s", set, expected);
    expect_errors(&(struct config_request){.preset = "a3_4",
                                           .algorithm = "rhd",
                                           .sets = (const char *const[]){set},
                                           .set_count = 1},
                  line);
}

static void lists_of_ranks_are_whole_and_agree(void **state)
{
    (void)state;
    expect_ranks("mate=[1,0,3]", "mate: 3 entries for 4 ranks; one per rank is legal\n");
    expect_ranks("mate=[1,0,2,3]", "mate: rank 2 has 2, which is itself; legal is another rank "
                                   "below 4 whose mate is 2\n");
    expect_ranks("mate=[1,0,4,2]", "mate: rank 2 has 4, which is no rank; legal is another rank "
                                   "below 4 whose mate is 2\n");
    expect_ranks("mate=[1,2,3,0]", "mate: rank 0 has 1, which is another's mate; legal is another "
                                   "rank below 4 whose mate is 0\n");
    expect_ranks("mate=1", "algorithms.birs.mate: expected a list of at most 512 whole numbers "
                           "from 0 to 511, one per rank; found '1'\n");
    expect_ranks("package=[0,1,1,1]", "package: 1 rank in package 0; with 4 ranks legal are two in "
                                      "each of the packages 0 to 1\n");
    expect_ranks("package=[0,0,2,2]", "package: 0 ranks in package 1; with 4 ranks legal are two "
                                      "in each of the packages 0 to 1\n");
    static const char *const sets[] = {"algorithms.birs.mate=[3,2,1,0]",
                                       "algorithms.birs.package=[1,1,0,0]"};
    expect_errors(
        &(struct config_request){
            .preset = "a3_4", .algorithm = "birs", .sets = sets, .set_count = 2},
        "--set algorithms.birs.mate=[3,2,1,0]: mate: ranks 0 and 3 are mates, but package "
        "has them in packages 1 and 0; legal are mates of one package, or one of the two "
        "lists alone\n");
}

static void check_sips(const char *list, const uint16_t *sip_of)
{
    char set[128];
    snprintf(set, sizeof set, "algorithms.birs.%s", list);
    const char *const sets[] = {"defaults.algorithm=mesh", set};
    struct config *const config = load_with("a3_4", sets, COUNT_OF(sets));
    for (uint32_t rank = 0; rank < 4; rank++) {
        assert_int_equal(ccl_sip_of(&config->ccl.ranks, rank), sip_of[rank]);
        assert_int_equal(ccl_rank_on(&config->ccl.ranks, sip_of[rank]), rank);
    }
    config_free(config);
}

static void mates_and_packages_say_where_ranks_are(void **state)
{
    (void)state;
    check_sips("mate=[3,2,1,0]", (const uint16_t[]){0, 2, 3, 1});
    check_sips("mate=[2,3,0,1]", (const uint16_t[]){0, 2, 1, 3});
    check_sips("package=[1,0,0,1]", (const uint16_t[]){2, 0, 1, 3});
    check_sips("mate=null", (const uint16_t[]){0, 1, 2, 3});
}

static void algorithms_refer_to_algorithms_that_exist(void **state)
{
    (void)state;
    expect_errors(&(struct config_request){.algorithm = "ring_alreduce"},
                  "--algorithm ring_alreduce: defaults.algorithm: no algorithm 'ring_alreduce'; "
                  "did you mean 'ring_allreduce'? `cubewarp list algorithms` lists them\n");
    expect_ccl("algorithms:\n  mine: { extends: b }\n  b: { extends: c }\n  c: { extends: b }\n",
               "ccl.yaml:3:17: algorithms.b.extends: a cycle: b -> c -> b; an entry must not "
               "inherit from itself\n");
    expect_ccl("algorithms:\n  mine: { extends: mine }\n",
               "ccl.yaml:2:20: algorithms.mine.extends: a cycle: mine -> mine; an entry must not "
               "inherit from itself\n");
    expect_ccl("algorithms:\n  mine: { topology: none }\n",
               "ccl.yaml:2:3: algorithms.mine: missing key 'module'; expected a built-in name, "
               "FILE.xml, FILE.json, or ./file.so:symbol\n");
    expect_ccl(
        "algorithms: { mine: { module: m.so:f, topology: none, mapper: all_pe } }\n",
        "ccl.yaml:1:31: algorithms.mine.module: expected a built-in name, "
        "FILE.xml, FILE.json, or ./file.so:symbol; found 'm.so:f'; a file's path has a folder: "
        "./file.so\n"
        "ccl.yaml:1:63: algorithms.mine.mapper: expected one of leader_only, all_pes, "
        "pe0_all_cubes, rank_per_pe, or ./file.so:symbol; found 'all_pe'; did you mean "
        "'all_pes'?\n");
}

static void options_of_algorithms_fit_the_machine(void **state)
{
    (void)state;
    expect_set("algorithms.lrab_hierarchical_allreduce.root=4,0",
               "--set algorithms.lrab_hierarchical_allreduce.root=4,0: root: cube 4,0 is outside "
               "the 4 x 4 cube mesh; x from 0 to 3, y from 0 to 3\n");
    expect_set("defaults.root=middle",
               "--set defaults.root=middle: defaults.root: expected center, corner or x,y (a "
               "cube's column and row); found 'middle'\n");
    expect_set("defaults.world_size=5", "--set defaults.world_size=5: world_size: 5 ranks, but a "
                                        "rank is a SIP and there are 4; legal: 1 to 4, or to 512 "
                                        "in a logical topology with mapper: rank_per_pe\n");
    static const char *const sets[] = {"system.sips.topology=mesh_2d_no_wrap",
                                       "defaults.rank_invariant=true"};
    expect_errors(
        &(struct config_request){.sets = sets, .set_count = COUNT_OF(sets)},
        "--set defaults.rank_invariant=true: rank_invariant: not offered on "
        "mesh_2d_no_wrap; legal on ring_1d, torus_2d, torus_3d, fully_connected, switch and "
        "levels, or set it to false\n");
    static const char *const plugin[] = {
        "algorithms.lrab_hierarchical_allreduce.module=./mine.so:mine"};
    expect_errors(&(struct config_request){.sets = plugin, .set_count = 1, .no_plugins = true},
                  "--set algorithms.lrab_hierarchical_allreduce.module=./mine.so:mine: module: "
                  "./mine.so:mine is loaded from a file, which --no-plugins forbids\n");
}

/* Repeats a piece of text until there are `bytes` of it. */
static void write_repeated(const char *path, const char *piece, size_t bytes)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    for (size_t written = 0; written < bytes; written += strlen(piece))
        fputs(piece, file);
    assert_int_equal(fclose(file), 0);
}

static void hostile_files_end_soon(void **state)
{
    (void)state;
    static const struct {
        const char *piece;
        size_t bytes;
        const char *error;
    } files[] = {
        {"[", 1000000,
         "topology.yaml:1:17: nested more than 16 deep; configurations are at most 6"},
        {"{a: ", 1000000, "topology.yaml:1:62: nested more than 16 deep"},
        {"- ", 1000000, "topology.yaml:1:33: nested more than 16 deep"},
        {"&a ", 900000, "topology.yaml:1:1: anchors and aliases are not used here"},
        {"a:\n", 900000, "topology.yaml:2:1: key 'a' is given twice"},
        {"x", 2000000, "topology.yaml:1:1: longer than 1048576 bytes: not a configuration file"},
        {"\"a\n", 1000000, "topology.yaml:2:2: not YAML: did not find expected <document start>"},
        {"[],", 900000, "topology.yaml:1:3: not YAML: "},
        {"\x01", 1000, "topology.yaml:1:1: not YAML: control characters are not allowed"},
    };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        write_repeated("topology.yaml", files[i].piece, files[i].bytes);
        int code;
        char *const text =
            load_errors(&(struct config_request){.topology = "topology.yaml"}, &code);
        assert_int_equal(code, CW_USAGE);
        if (strncmp(text, files[i].error, strlen(files[i].error)) != 0)
            assert_string_equal(text, files[i].error);
        free(text);
    }
}

static void text_from_outside_is_quoted_without_control_characters(void **state)
{
    (void)state;
    expect_set("a\033[31m=1",
               "--set 'a?[31m=1': unknown key 'a?[31m'; keys begin with " ALL_KEYS "\n");
    expect_topology("system: { sips: { count: \"\\e[2J\\x9b\" } }\n",
                    "topology.yaml:1:26: system.sips.count: expected a whole number from 1 to "
                    "16777216; found '?[2J?' in quotes, which is a text\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_misspelled_key_gets_the_nearest_known_one),
        cmocka_unit_test(a_wrong_type_says_what_is_legal),
        cmocka_unit_test(access_to_slots_needs_a_rate),
        cmocka_unit_test(a_rate_out_of_range_or_with_a_unit_is_refused),
        cmocka_unit_test(a_torus_has_the_size_that_w_and_h_say),
        cmocka_unit_test(a_torus_of_three_dimensions_has_three_sizes_or_none),
        cmocka_unit_test(each_level_is_checked_at_its_place),
        cmocka_unit_test(addresses_bound_the_machine),
        cmocka_unit_test(slots_that_do_not_fit_name_the_memory),
        cmocka_unit_test(files_that_cannot_be_read_say_so),
        cmocka_unit_test(a_file_of_comments_changes_nothing),
        cmocka_unit_test(an_unknown_preset_lists_the_known_ones),
        cmocka_unit_test(all_errors_of_all_files_come_in_order_of_place),
        cmocka_unit_test(set_has_the_same_checks),
        cmocka_unit_test(lists_of_ranks_are_whole_and_agree),
        cmocka_unit_test(mates_and_packages_say_where_ranks_are),
        cmocka_unit_test(algorithms_refer_to_algorithms_that_exist),
        cmocka_unit_test(options_of_algorithms_fit_the_machine),
        cmocka_unit_test(hostile_files_end_soon),
        cmocka_unit_test(text_from_outside_is_quoted_without_control_characters),
    };
    return cmocka_run_group_tests_name("configuration errors", tests, scratch_enter, scratch_leave);
}
