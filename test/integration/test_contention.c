/*
 * test_contention.c: fabric.contention over whole machines: on an idle fabric it makes no
 * difference, on a busy one a link carries no more than its rate.
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

enum { NONE, MESSAGE, CHUNK, MODES };
static const char *const mode_name[MODES] = {"none", "message", "chunk"};

static long long time_ps(const char *args, int mode)
{
    json_t *root = run_json("run --no-data --set fabric.contention=%s %s", mode_name[mode], args);
    const long long ps = json_ps(root, "time_ns");
    json_decref(root);
    return ps;
}

/* hw/HARDWARE.md, "Control plane": a round trip by hand. */
static void a_round_trip_takes_the_time_of_the_documents_table(void **state)
{
    (void)state;
    const long long call_ps = 4000, wire_ps = 1000, io_cpu_ps = 20000;
    const long long to_dma_ps = 4000 + 5 + 1000 + 5 + 4000, tcm_ps = 1 + 1000;
    const long long tile_ps = to_dma_ps + tcm_ps + 500, credit_ps = to_dma_ps + 125;
    assert_true(call_ps + tile_ps + wire_ps < io_cpu_ps); /* the tile is there before the kernel */
    const long long back_ps = io_cpu_ps + call_ps + credit_ps + call_ps;
    for (int mode = 0; mode < MODES; mode++)
        assert_int_equal(time_ps("--bench ipcq_pingpong --from 0.0.0 --to 0.0.1 --bytes 64", mode),
                         back_ps + tile_ps + wire_ps + credit_ps);
    /* A launch that waits behind the tile on the link to the next cube. */
    static const char next_cube[] = "--bench ipcq_pingpong --from 0.0.0 --to 0.1.0 --bytes 64";
    const long long router_ps = 1000 + 30, port_ps = 4000, link_ps = 5 + port_ps + 20 + port_ps + 5;
    const long long far_dma_ps = to_dma_ps + 2 * router_ps + link_ps + 1000;
    const long long far_tile_ps = far_dma_ps + tcm_ps + 500, far_credit_ps = far_dma_ps + 125;
    const long long skew_ps = io_cpu_ps + 2 * router_ps + link_ps + 1000;
    const long long idle_ps =
        skew_ps + call_ps + far_credit_ps + call_ps + far_tile_ps + wire_ps + far_credit_ps;
    assert_int_equal(idle_ps, 102141);
    assert_int_equal(time_ps(next_cube, NONE), idle_ps);
    assert_int_equal(time_ps(next_cube, MESSAGE), idle_ps + 4020);
}

/*
 * One tile at a time, and nothing else: io_cpu and m_cpu are so slow that launches and completions
 * are far from it. Sizes: part of a chunk, whole chunks, several and a part.
 */
static void a_ping_pong_alone_takes_the_same_time_in_every_mode(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "--set system.sips.topology=torus_2d",
        "--set system.sips.topology=ring_1d --set system.sips.count=5",
        "--set system.sips.topology=mesh_2d_no_wrap --set defaults.buffer_kind=hbm",
        "--set system.sips.topology=switch --set defaults.buffer_kind=sram",
        "--set system.sips.topology=torus_2d --set cube.noc.w=3 --set cube.noc.h=4",
    };
    static const char *const pairs[][2] = {
        {"0.0.0", "0.0.1"},  {"0.0.7", "0.0.0"},  {"0.0.3", "0.1.3"},
        {"0.15.6", "0.0.1"}, {"0.6.2", "0.9.5"},  {"1.0.0", "0.0.0"},
        {"0.5.5", "3.10.2"}, {"2.12.7", "1.3.0"}, {"3.8.4", "2.11.4"},
    };
    static const int elements[] = {7, 128, 1000, 2048};
    for (size_t m = 0; m < COUNT_OF(machines); m++)
        for (size_t p = 0; p < COUNT_OF(pairs); p++) {
            char args[400];
            snprintf(args, sizeof args,
                     "--bench ipcq_pingpong --from %s --to %s --n-elem %d %s "
                     "--set nodes.io_cpu.overhead_ns=10000 --set nodes.m_cpu.overhead_ns=100000",
                     pairs[p][0], pairs[p][1], elements[(m + p) % COUNT_OF(elements)], machines[m]);
            const long long none_ps = time_ps(args, NONE);
            for (int mode = MESSAGE; mode < MODES; mode++)
                if (time_ps(args, mode) != none_ps)
                    fail_msg("%s: %lld ps in %s, %lld in none", args, time_ps(args, mode),
                             mode_name[mode], none_ps);
        }
}

/* 128 PEs of each SIP send 4096 bytes E through one sip_link of 100 GB/s: 5242.880 ns at least. */
static void a_shared_link_carries_no_more_than_its_rate(void **state)
{
    (void)state;
    const char *args = "--bench ipcq_shift --dir global_E --n-elem 2048";
    const long long least_ps = 128ll * 4096 * 10;
    assert_true(time_ps(args, MESSAGE) > least_ps);
    assert_true(time_ps(args, CHUNK) > least_ps);
    assert_true(time_ps(args, NONE) < least_ps); /* without contention nobody waits */
}

/* Between PEs of a pair no link is shared. */
static void a_shift_over_links_of_their_own_is_not_slower_than_without_contention(void **state)
{
    (void)state;
    const char *args =
        "--bench ipcq_shift --dir intra_E --n-elem 8 --set cube.pe_layout.corners=[NW] "
        "--set nodes.io_cpu.overhead_ns=10000 --set nodes.m_cpu.overhead_ns=0";
    const long long none_ps = time_ps(args, NONE);
    assert_int_equal(time_ps(args, MESSAGE), none_ps);
    assert_int_equal(time_ps(args, CHUNK), none_ps);
}

/* The eight PEs of a cube share its UCIe port E: message waits for whole tiles, chunk interleaves;
 * both carry 8 x 4096 bytes over 128 GB/s: 256 ns, of which a tile alone takes 32. */
static void the_pes_of_a_cube_share_its_ports(void **state)
{
    (void)state;
    const char *args = "--bench ipcq_shift --dir E --n-elem 2048 --set system.sips.count=1 "
                       "--set sip.cube_mesh.w=2 --set sip.cube_mesh.h=1 "
                       "--set nodes.io_cpu.overhead_ns=0 --set nodes.m_cpu.overhead_ns=0";
    const long long none_ps = time_ps(args, NONE);
    assert_true(time_ps(args, MESSAGE) - none_ps > 200000);
    assert_true(time_ps(args, CHUNK) - none_ps > 200000);
    assert_true(time_ps(args, MESSAGE) - none_ps < 256000);
    assert_true(time_ps(args, CHUNK) - none_ps < 256000);
}

static void all_reduce_is_not_faster_than_its_bound_on_a_busy_fabric(void **state)
{
    (void)state;
    for (int mode = MESSAGE; mode < MODES; mode++) {
        json_t *root = run_json("run --no-data --set fabric.contention=%s --bytes 64KiB "
                                "--set links.ucie.bw_gbs=1 --set links.sip_link.bw_gbs=1",
                                mode_name[mode]);
        /* a SIP's four ports of 1 GB/s bring 65536 bytes in */
        assert_true(json_ps(root, "bound_ns") >= 65536ll * 1000 / 4);
        assert_true(json_ps(root, "time_ns") >= json_ps(root, "bound_ns"));
        json_decref(root);
    }
}

/* A row of four cubes that reduces one tile of 64 KiB, as in hw/HARDWARE.md, "Contention". */
static const char row_of_cubes[] =
    "run --preset tiny --n-elem 32768 --no-data --ccl-trace - --set fabric.contention=%s "
    "--set sip.cube_mesh.w=4 --set sip.cube_mesh.h=1 --set memory.tcm_kib=65536 "
    "--set defaults.slot_size=65536 --set defaults.wiring=pe0 --set defaults.vc=single "
    "--set control_msg_bytes=1 --set nodes.io_cpu.overhead_ns=0 --set nodes.m_cpu.overhead_ns=0 "
    "--set nodes.ucie_port.overhead_ns=8 --set links.ucie.bw_gbs=128 --set links.noc.bw_gbs=256 "
    "--set links.noc_ucie.bw_gbs=256 --set links.pe_noc.bw_gbs=256 --set links.hbm.bw_gbs=256 "
    "--set links.tcm.bw_gbs=512 --set nodes.pe_math.lanes=256 --set nodes.pe_math.overhead_ns=0 "
    "--set nodes.pe_fetch_store.overhead_ns=0 --set nodes.pe_fetch_store.bw_gbs=1000000 "
    "--set nodes.hbm.overhead_ns=0 --set nodes.pe_tcm.overhead_ns=0 "
    "--set nodes.pe_cpu.overhead_ns=2 --set nodes.pe_scheduler.overhead_ns=1";

/* The time in the trace's line that ends in `call`. */
static long long traced_ps(const char *trace, const char *call)
{
    const char *at = strstr(trace, call);
    assert_non_null(at);
    while (strncmp(at, ", t ", 4) != 0)
        at--;
    long long ns, ps;
    assert_int_equal(sscanf(at, ", t %lld.%lld", &ns, &ps), 2);
    return ns * 1000 + ps;
}

/* The completion of cube 2's kernel goes to the host through cube 1 while the head of cube 1's tile
 * would pass: the tile, one block, starts behind it. In the mode chunk it waits for one byte. */
static void a_long_message_waits_for_a_short_one_that_comes_before_its_tail(void **state)
{
    (void)state;
    static const long long hop_ps[MODES] = {569326, 569326 + 222836, 569326 + 8};
    for (int mode = NONE; mode < MODES; mode++) {
        struct run_output output = run_line(0, row_of_cubes, mode_name[mode]);
        assert_int_equal(traced_ps(output.out, "recv E, 65536 bytes, PE 0.1.0") -
                             traced_ps(output.out, "send W, 65536 bytes, PE 0.2.0"),
                         569326);
        assert_int_equal(traced_ps(output.out, "recv E, 65536 bytes, PE 0.0.0") -
                             traced_ps(output.out, "send W, 65536 bytes, PE 0.1.0"),
                         hop_ps[mode]);
        run_output_free(&output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_takes_the_time_of_the_documents_table),
        cmocka_unit_test(a_ping_pong_alone_takes_the_same_time_in_every_mode),
        cmocka_unit_test(a_shared_link_carries_no_more_than_its_rate),
        cmocka_unit_test(a_shift_over_links_of_their_own_is_not_slower_than_without_contention),
        cmocka_unit_test(the_pes_of_a_cube_share_its_ports),
        cmocka_unit_test(all_reduce_is_not_faster_than_its_bound_on_a_busy_fabric),
        cmocka_unit_test(a_long_message_waits_for_a_short_one_that_comes_before_its_tail),
    };
    return cmocka_run_group_tests_name("contention", tests, NULL, NULL);
}
