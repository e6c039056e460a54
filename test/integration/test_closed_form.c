/*
 * test_closed_form.c: times that follow from counting. The machine of `nothing` costs nothing: no
 * overheads, no distances, no latencies, and a million GB/s, so that only 1 ps remains for each
 * transfer that is not empty. Then one parameter at a time costs something, and the time is so many
 * times that, counted by hand from the specification beside each case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const nodes[] = {
    "host",   "io_cpu",       "io_hub",  "io_port", "switch",         "m_cpu",   "router",
    "sram",   "hbm",          "pe_cpu",  "pe_dma",  "pe_fetch_store", "pe_math", "ucie_port",
    "pe_mmu", "pe_scheduler", "pe_gemm", "pe_tcm",  "pe_ipcq"};
static const char *const links[] = {"pe_noc", "tcm", "noc", "hbm",      "sram", "m_cpu", "noc_ucie",
                                    "ucie",   "hub", "sio", "sip_link", "pcie", "hccs"};

/* Every parameter at zero, or as fast as the configuration allows. */
static const char *nothing(void)
{
    static char text[3500];
    if (text[0] != '\0')
        return text;
    int n =
        snprintf(text, sizeof text,
                 "--no-data --set nodes.pe_ipcq.wire_ns=0 --set links.pcie.latency_ns=0 "
                 "--set nodes.pe_fetch_store.bw_gbs=1000000 --set nodes.pe_math.clock_ghz=1000");
    for (size_t i = 0; i < COUNT_OF(nodes); i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " --set nodes.%s.overhead_ns=0", nodes[i]);
    for (size_t i = 0; i < COUNT_OF(links); i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      " --set links.%s.distance_mm=0 --set links.%s.bw_gbs=1000000", links[i],
                      links[i]);
    assert_true((size_t)n < sizeof text);
    return text;
}

/* `set` costs unit_ps each time: so many times in time_ns, so many in host_time_ns; -1: not said.
 */
struct law {
    const char *set;
    long long unit_ps;
    int time, host;
};

/* Time that is left of transfers at 1 ps each, at most. */
enum { LEFT_PS_MAX = 40 };

static void check_part(const char *what, const char *args, const struct law *law, long long ps,
                       int count)
{
    const long long left_ps = ps - count * law->unit_ps;
    if (count >= 0 && (left_ps < 0 || left_ps > LEFT_PS_MAX))
        fail_msg("%s with %s: %s is %lld ps, expected %d x %lld and at most %d", args, law->set,
                 what, ps, count, law->unit_ps, LEFT_PS_MAX);
}

static void check_laws(const char *args, const struct law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(laws[i].unit_ps > 10 * LEFT_PS_MAX);
        json_t *root = run_json("run %s %s --set %s", nothing(), args, laws[i].set);
        check_part("time", args, &laws[i], json_ps(root, "time_ns"), laws[i].time);
        check_part("host time", args, &laws[i], json_ps(root, "host_time_ns"), laws[i].host);
        json_decref(root);
    }
}

/* 10 ns per m unless a link says otherwise. */
#define DISTANCE(link) "links." link ".distance_mm=1000"
#define OVERHEAD(node) "nodes." node ".overhead_ns=10"

static long long time_of(const char *args)
{
    json_t *root = run_json("run %s %s", nothing(), args);
    const long long ps = json_ps(root, "time_ns");
    json_decref(root);
    return ps;
}

static void where_nothing_costs_anything_a_transfer_takes_1_ps(void **state)
{
    (void)state;
    /* tile, credit, tile, credit */
    assert_int_equal(time_of("--bench ipcq_pingpong --n-elem 8 --from 0.0.0 --to 3.0.0"), 4);
    /* in one SIP the launches follow each other by 1 ps, and the first tile comes to the link into
     * the receiving PE right behind the launch */
    assert_int_equal(time_of("--bench ipcq_pingpong --n-elem 8 --from 0.0.0 --to 0.0.1"), 5);
}

/*
 * PE 0.0.0 sends to 0.1.0, the next cube in the east, which sends the tile back. A receive returns
 * when its credit is out, so the four ways tile, credit, tile, credit follow each other. A way
 * crosses: pe_dma 2, routers 4 (0 1 3 | 0 and 0 | 3 2 0), noc 2, pe_noc 2, noc_ucie 2, ucie_port 2,
 * ucie 1; a tile's tcm 1, pe_tcm 1, wire 1.
 * The launch of the sender: host, pcie, io_cpu, hub 2, io_hub, io_port, ucie, ucie_port, noc_ucie,
 * router, m_cpu link 2 and m_cpu, router, pe_noc, pe_cpu; its completion the same back.
 * The receiver's launch arrives later, by as much as a tile is on its way at most.
 */
static void a_ping_pong_between_cubes(void **state)
{
    (void)state;
    static const struct law laws[] = {
        {OVERHEAD("pe_cpu"), 10000, 2, 4},     /* each send once; the receives are issued before */
        {OVERHEAD("pe_ipcq"), 10000, 2, 2},    /* likewise */
        {OVERHEAD("pe_dma"), 10000, 8, 8},     /* 4 ways x 2 */
        {OVERHEAD("router"), 10000, 16, 20},   /* 4 x 4; 2 down, 2 up */
        {OVERHEAD("ucie_port"), 10000, 8, 10}, /* 4 x 2; 1 down, 1 up */
        {OVERHEAD("pe_tcm"), 10000, 2, 2},     /* 2 tiles */
        {"nodes.pe_ipcq.wire_ns=10", 10000, 2, 2},
        {DISTANCE("noc"), 10000, 8, 8},
        {DISTANCE("noc_ucie"), 10000, 8, 10},
        {DISTANCE("ucie"), 10000, 4, 6},
        {DISTANCE("pe_noc"), 10000, 8, 10},
        {DISTANCE("tcm"), 10000, 2, 2},
        {"ns_per_mm=1", 10000, 0, 0}, /* nothing has a length */
        /* the host's part: io_cpu serves the sender's launch, then the receiver's, which starts so
         * much later; the completions come together, the sender's is served last */
        {OVERHEAD("io_cpu"), 10000, 1, 4},
        {OVERHEAD("m_cpu"), 10000, 0, 2}, /* each cube has its own */
        {OVERHEAD("host"), 10000, 0, 2},
        {OVERHEAD("io_hub"), 10000, 0, 2},
        {OVERHEAD("io_port"), 10000, 0, 2},
        {DISTANCE("hub"), 10000, 0, 4},
        {DISTANCE("m_cpu"), 10000, 0, 4},
        {DISTANCE("pcie"), 7000, 0, 2}, /* 7 ns per m */
        {"links.pcie.latency_ns=10", 10000, 0, 2},
        {"links.noc.latency_ns=10", 10000, 8, 8},
        /* 16 bytes take 16 ns; a control message of 64 bytes four times that, down and up */
        {"links.pe_noc.bw_gbs=1", 16000, 4, 12},
        {"links.tcm.bw_gbs=1", 16000, 2, 2}, /* credits end at pe_dma */
        /* not on the way */
        {OVERHEAD("hbm"), 10000, 0, 0},
        {OVERHEAD("sram"), 10000, 0, 0},
        {OVERHEAD("pe_math"), 10000, 0, 0},
        {OVERHEAD("pe_scheduler"), 10000, 0, 0},
        {OVERHEAD("pe_mmu"), 10000, 0, 0},
        {OVERHEAD("switch"), 10000, 0, 0},
        {DISTANCE("sip_link"), 7000, 0, 0},
    };
    check_laws("--bench ipcq_pingpong --n-elem 8 --from 0.0.0 --to 0.1.0", laws, COUNT_OF(laws));
}

/*
 * SIP 0 to SIP 3 of a 2 x 2 torus and back, one cube each: E to SIP 1, S to SIP 3; back E to SIP 2,
 * S to SIP 0. A way: routers 5 (0 1 3 | 1 0), noc 3, ucie_port 2, ucie 2, io_port 4, sip_link 2,
 * hub 2, io_hub 1. Each SIP has its own host link, so both start together.
 */
static void a_ping_pong_through_another_sip(void **state)
{
    (void)state;
    static const struct law laws[] = {
        {OVERHEAD("router"), 10000, 20, 24}, /* 4 x 5; 2 down, 2 up */
        {DISTANCE("noc"), 10000, 12, 12},
        {OVERHEAD("ucie_port"), 10000, 8, 10},
        {DISTANCE("ucie"), 10000, 8, 10},
        {OVERHEAD("io_port"), 10000, 16, 18},
        {OVERHEAD("io_hub"), 10000, 4, 6},
        {DISTANCE("hub"), 10000, 8, 12},
        {DISTANCE("sip_link"), 7000, 8, 8},
        {OVERHEAD("io_cpu"), 10000, 0, 2},
        {"links.sip_link.bw_gbs=1", 16000, 4, 4},
        /* tiles 16 ns each, credits 1000 */
        {"links.sip_link.bw_gbs=1 --set defaults.ipcq_credit_size_bytes=1000", 1016000, 2, 2},
    };
    check_laws("--bench ipcq_pingpong --n-elem 8 --from 0.0.0 --to 3.0.0 "
               "--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1",
               laws, COUNT_OF(laws));
}

static void a_ping_pong_through_a_switch(void **state)
{
    (void)state;
    static const struct law laws[] = {
        {OVERHEAD("switch"), 10000, 4, 4},
        {OVERHEAD("io_port"), 10000, 8, 10},
        {DISTANCE("sip_link"), 7000, 8, 8},
        {OVERHEAD("io_hub"), 10000, 0, 2},
    };
    check_laws("--bench ipcq_pingpong --n-elem 8 --from 0.0.0 --to 2.0.0 "
               "--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1 --set system.sips.topology=switch",
               laws, COUNT_OF(laws));
}

/* Paired dies, 0 to 3: hccs to 3's mate, through its IO die, then sio; the same back. */
static void a_ping_pong_between_dies_of_other_parity(void **state)
{
    (void)state;
    static const struct law laws[] = {
        {DISTANCE("hccs"), 7000, 8, 8}, /* 4 ways x 2 */
        {DISTANCE("sio"), 10000, 4, 4},     {OVERHEAD("switch"), 10000, 4, 4},
        {OVERHEAD("io_hub"), 10000, 4, 6},  {OVERHEAD("io_port"), 10000, 16, 18},
        {DISTANCE("sip_link"), 7000, 0, 0},
    };
    check_laws("--bench ipcq_pingpong --n-elem 8 --from 0.0.0 --to 3.0.0 --set sip.cube_mesh.w=1 "
               "--set sip.cube_mesh.h=1 --set system.sips.topology=pair_switch",
               laws, COUNT_OF(laws));
}

/*
 * Slots in HBM: each tile ends there (pe_noc, hbm), and sending the received tile back loads it
 * first: a request and its data.
 */
static void a_ping_pong_through_hbm_slots(void **state)
{
    (void)state;
    static const struct law laws[] = {
        {OVERHEAD("hbm"), 10000, 3, 3},
        {OVERHEAD("pe_scheduler"), 10000, 1, 1},
        {OVERHEAD("pe_mmu"), 10000, 1, 1},
        {OVERHEAD("pe_cpu"), 10000, 3, 5},
        {OVERHEAD("pe_tcm"), 10000, 1, 1},   /* where the load ends */
        {OVERHEAD("pe_dma"), 10000, 10, 10}, /* 4 x 2, and the load's request and data */
        {DISTANCE("hbm"), 10000, 4, 4},
        {DISTANCE("pe_noc"), 10000, 12, 14}, /* tiles 2 x 3, credits 2 x 2, load 2 */
        {"links.hbm.bw_gbs=1", 16000, 3, 3},
    };
    check_laws("--bench ipcq_pingpong --n-elem 8 --from 0.0.0 --to 0.0.1 "
               "--set defaults.buffer_kind=hbm",
               laws, COUNT_OF(laws));
}

static void a_ping_pong_through_sram_slots(void **state)
{
    (void)state;
    static const struct law laws[] = {
        {OVERHEAD("sram"), 10000, 3, 3},
        {DISTANCE("sram"), 10000, 4, 4},
        {"links.sram.bw_gbs=1", 16000, 3, 3},
        {OVERHEAD("hbm"), 10000, 0, 0},
    };
    check_laws("--bench ipcq_pingpong --n-elem 8 --from 0.0.0 --to 0.0.1 "
               "--set defaults.buffer_kind=sram",
               laws, COUNT_OF(laws));
}

/*
 * Two cubes in one SIP; the eastern one is the root. West: load, send E. East: load at the same
 * time, receive, add, send W, store. West: receive, store: the last to end.
 */
static void an_all_reduce_of_two_cubes(void **state)
{
    (void)state;
    static const struct law laws[] = {
        /* load, send; add, send (east's receive was issued while west sent); store (west's too) */
        {OVERHEAD("pe_cpu"), 10000, 5, 7},
        {OVERHEAD("pe_scheduler"), 10000, 3, 3}, /* load, add, store */
        {OVERHEAD("pe_mmu"), 10000, 2, 2},       /* load, store */
        {OVERHEAD("pe_ipcq"), 10000, 2, 2},      /* the two sends */
        {OVERHEAD("pe_math"), 10000, 1, 1},
        {OVERHEAD("pe_fetch_store"), 10000, 2, 2},      /* operands, result */
        {"nodes.pe_fetch_store.bw_gbs=1", 16000, 3, 3}, /* 2 x 16 bytes in, 16 out */
        {"nodes.pe_math.clock_ghz=0.1", 10000, 1, 1},   /* one cycle for 8 elements */
        {"nodes.pe_math.clock_ghz=0.1 --set nodes.pe_math.lanes=1", 10000, 8, 8},
        {OVERHEAD("hbm"), 10000, 2, 2}, /* load, store */
        /* load: request and data; tile 2, credit 2, tile 2, credit 2; store and acknowledgement */
        {OVERHEAD("pe_dma"), 10000, 12, 12},
        {OVERHEAD("router"), 10000, 2 + 4 * 4 + 2, 24},
        {OVERHEAD("ucie_port"), 10000, 8, 10},
        {OVERHEAD("pe_tcm"), 10000, 3, 3}, /* load, two tiles */
        {DISTANCE("hbm"), 10000, 4, 4},
        {"nodes.pe_ipcq.wire_ns=10", 10000, 2, 2},
        {"links.hbm.bw_gbs=1", 16000, 2, 2},
        {"links.pe_noc.bw_gbs=1", 16000, 6, -1}, /* load, 2 tiles, 2 credits, store */
        {"links.pcie.latency_ns=10", 10000, 0, 2},
    };
    check_laws("--n-elem 8 --set system.sips.count=1 --set sip.cube_mesh.w=2 "
               "--set sip.cube_mesh.h=1",
               laws, COUNT_OF(laws));
}

/* Additions, and crossings between SIPs, one after the other on the longest chain. */
static void the_longest_chain_of_each_topology(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        int additions;
        int crossings; /* tiles; as many credits */
    } cases[] = {
        {"system.sips.count=1 --set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1", 0, 0},
        {"system.sips.count=1 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2", 2, 0},
        /* row of 4: column 1 adds 0's values; the root, column 2, adds 1's sum and 3's values */
        {"system.sips.count=1 --set sip.cube_mesh.w=4 --set sip.cube_mesh.h=1", 3, 0},
        {"system.sips.count=1 --set sip.cube_mesh.w=1 --set sip.cube_mesh.h=5", 3, 0},
        {"system.sips.topology=ring_1d --set system.sips.count=2", 1, 1},
        {"system.sips.topology=ring_1d --set system.sips.count=5", 4, 4}, /* n - 1 rounds */
        {"system.sips.topology=switch --set system.sips.count=3", 2, 4},  /* two links each */
        {"system.sips.topology=torus_2d --set system.sips.count=6 --set system.sips.w=3 "
         "--set system.sips.h=2",
         3, 3}, /* 2 + 1 rounds */
        {"system.sips.topology=mesh_2d_no_wrap --set system.sips.count=3 --set system.sips.w=3 "
         "--set system.sips.h=1",
         2, 4}, /* there and back */
        {"system.sips.topology=mesh_2d_no_wrap --set system.sips.count=6 --set system.sips.w=3 "
         "--set system.sips.h=2",
         3, 6},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char args[400];
        const char *cubes = strstr(cases[i].machine, "cube_mesh") != NULL
                                ? ""
                                : "--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1";
        const struct law laws[] = {
            {OVERHEAD("pe_math"), 10000, cases[i].additions, -1},
            {DISTANCE("sip_link"), 7000, 2 * cases[i].crossings, -1},
            {DISTANCE("sip_link") " --set defaults.recv_blocks_on_credit=false", 7000,
             cases[i].crossings, -1},
        };
        snprintf(args, sizeof args, "--n-elem 8 %s --set %s", cubes, cases[i].machine);
        check_laws(args, laws, COUNT_OF(laws));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_nothing_costs_anything_a_transfer_takes_1_ps),
        cmocka_unit_test(a_ping_pong_between_cubes),
        cmocka_unit_test(a_ping_pong_through_another_sip),
        cmocka_unit_test(a_ping_pong_through_a_switch),
        cmocka_unit_test(a_ping_pong_between_dies_of_other_parity),
        cmocka_unit_test(a_ping_pong_through_hbm_slots),
        cmocka_unit_test(a_ping_pong_through_sram_slots),
        cmocka_unit_test(an_all_reduce_of_two_cubes),
        cmocka_unit_test(the_longest_chain_of_each_topology),
    };
    return cmocka_run_group_tests_name("closed_form", tests, NULL, NULL);
}
