/*
 * test_hw_route.c: routing decisions, whole paths with their nodes and links, and T(path, n)
 * (hw/HARDWARE.md, "Routing" and "Timing of a transfer"). Paths are written out by hand as text:
 *
 *     dma -pe_noc- r0.1.2 -noc_ucie- uE -ucie- uW ...
 *
 * r0.1.2 is router 2 of cube 1 of SIP 0, uE a UCIe port, p0E the IO port E of SIP 0, hub0 its hub,
 * sw0 a switch.
 */
#include "test/support/test_hw_support.h"

#include "hw/route.h"

/* ---- decisions ------------------------------------------------------------------------------- */

static void expect_exits(const struct hw_config *hw, uint32_t from, const char *letters)
{
    for (uint32_t to = 0; to < hw->sip_count; to++) {
        if (to == from)
            continue;
        const char letter = hw_port_letter[hw_route_exit(hw, from, to, 0)];
        if (letter != letters[to])
            fail_msg("from SIP %u to %u by %c, expected %c", from, to, letter, letters[to]);
    }
}

static void a_ring_is_taken_the_shorter_way_and_east_on_a_tie(void **state)
{
    (void)state;
    const struct hw_config even = sips_of(&hw_ring_1d, 4, 1), odd = sips_of(&hw_ring_1d, 5, 1),
                           two = sips_of(&hw_ring_1d, 2, 1);
    expect_exits(&even, 0, ".EEW");
    expect_exits(&even, 2, "EW.E");
    expect_exits(&odd, 0, ".EEWW");
    expect_exits(&odd, 3, "EWW.E");
    expect_exits(&two, 0, ".E");
    expect_exits(&two, 1, "E.");
}

static void a_torus_goes_by_x_then_y_and_ties_go_east_then_south(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_torus_2d, 4, 4);
    /* from (0, 0): the column decides as long as it differs, then the row */
    expect_exits(&hw, 0, ".EEWSEEWSEEWNEEW");
    /* from (3, 2) = 11: row by row of destinations; column 0 is next to the east */
    expect_exits(&hw, 11, "EEWSEEWNEEW.EEWS");
    const struct hw_config flat = sips_of(&hw_torus_2d, 2, 1), tall = sips_of(&hw_torus_2d, 1, 2);
    expect_exits(&flat, 1, "E.");
    expect_exits(&tall, 0, ".S");
    expect_exits(&tall, 1, "S.");
}

static void a_mesh_of_sips_never_wraps(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_mesh_2d_no_wrap, 4, 3);
    expect_exits(&hw, 0, ".EEESEEESEEE");
    expect_exits(&hw, 7, "WWWNWWW.WWWS");
}

static void through_a_switch_everything_leaves_and_enters_by_east(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_switch, 5, 1);
    expect_exits(&hw, 2, "EE.EE");
    const struct hw_hop up = hw_hop(&hw, 2, HW_PORT_E), down = hw_hop(&hw, 5, 3);
    assert_true(up.to == 5 && up.link == HW_LINK_SIP_LINK && up.back == 2);
    assert_true(down.to == 3 && down.in == HW_PORT_E && down.link == HW_LINK_SIP_LINK);
    for (uint32_t to = 0; to < 5; to++)
        if (to != 2)
            assert_int_equal(hw_route_next_sip(&hw, 2, HW_PORT_E, to, 0), to);
    assert_int_equal(hw_route_global_exit(&hw, 0, HW_DIR_GLOBAL_W), HW_PORT_E);
    assert_int_equal(hw_route_global_exit(&hw, 0, HW_DIR_GLOBAL_E), HW_PORT_E);
}

static void paired_dies_use_sio_for_the_mate_and_hccs_for_the_rest(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_pair_switch, 6, 1);
    expect_exits(&hw, 2, "NN.ENN");
    expect_exits(&hw, 3, "NNE.NN");
    const struct hw_hop mate = hw_hop(&hw, 2, HW_PORT_E), up = hw_hop(&hw, 2, HW_PORT_N),
                        down = hw_hop(&hw, 7, 5);
    assert_true(mate.to == 3 && mate.in == HW_PORT_E && mate.link == HW_LINK_SIO);
    assert_true(up.to == 6 && up.link == HW_LINK_HCCS);
    assert_true(down.to == 5 && down.in == HW_PORT_N && down.link == HW_LINK_HCCS);
    assert_int_equal(hw_hop(&hw, 7, 4).link, HW_LINK_KINDS);
    /* to SIP 5 from 2: the switch of even SIPs reaches 5's mate, 4, which is next to 5 */
    assert_int_equal(hw_route_next_sip(&hw, 2, HW_PORT_N, 5, 0), 4);
    assert_int_equal(hw_route_next_sip(&hw, 4, HW_PORT_E, 5, 0), 5);
    assert_int_equal(hw_route_next_sip(&hw, 2, HW_PORT_N, 4, 0), 4);
    assert_int_equal(hw_route_next_sip(&hw, 2, HW_PORT_E, 3, 0), 3);
}

static const struct hw_topology_ops *const grids[] = {&hw_ring_1d, &hw_torus_2d,
                                                      &hw_mesh_2d_no_wrap};

static void a_named_direction_uses_its_own_port(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < COUNT_OF(grids); t++) {
        const struct hw_config hw = sips_of(grids[t], 2, 1);
        assert_int_equal(hw_route_global_exit(&hw, 0, HW_DIR_GLOBAL_N), HW_PORT_N);
        assert_int_equal(hw_route_global_exit(&hw, 0, HW_DIR_GLOBAL_S), HW_PORT_S);
        assert_int_equal(hw_route_global_exit(&hw, 0, HW_DIR_GLOBAL_E), HW_PORT_E);
        assert_int_equal(hw_route_global_exit(&hw, 0, HW_DIR_GLOBAL_W), HW_PORT_W);
        assert_int_equal(hw_hop(&hw, 0, HW_PORT_E).in, HW_PORT_W);
    }
}

static void cubes_are_crossed_by_x_then_y(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    assert_int_equal(hw_route_cube(&hw, 5, 15), HW_PORT_E);
    assert_int_equal(hw_route_cube(&hw, 7, 15), HW_PORT_S);
    assert_int_equal(hw_route_cube(&hw, 5, 8), HW_PORT_W);
    assert_int_equal(hw_route_cube(&hw, 5, 1), HW_PORT_N);
    /* to an IO port along the row (E, W) or the column (N, S), then out by that port */
    assert_int_equal(hw_route_cube_exit(&hw, 5, HW_PORT_E), HW_PORT_E);
    assert_int_equal(hw_route_cube_exit(&hw, 7, HW_PORT_E), HW_PORT_E);
    assert_int_equal(hw_route_cube_exit(&hw, 6, HW_PORT_W), HW_PORT_W);
    assert_int_equal(hw_route_cube_exit(&hw, 9, HW_PORT_N), HW_PORT_N);
    assert_int_equal(hw_route_cube_exit(&hw, 9, HW_PORT_S), HW_PORT_S);
    uint32_t next;
    assert_int_equal(hw_route_noc(&hw, 0, 3, &next), HW_PORT_E);
    assert_int_equal(next, 1);
    assert_int_equal(hw_route_noc(&hw, 1, 3, &next), HW_PORT_S);
    assert_int_equal(next, 3);
    assert_int_equal(hw_route_noc(&hw, 3, 0, &next), HW_PORT_W);
    assert_int_equal(next, 2);
    assert_int_equal(hw_route_noc(&hw, 2, 0, &next), HW_PORT_N);
    assert_int_equal(next, 0);
}

static uint32_t ring_distance(uint32_t n, bool wrap, uint32_t a, uint32_t b)
{
    const uint32_t d = a < b ? b - a : a - b;
    return wrap && n - d < d ? n - d : d;
}

static void following_the_decisions_reaches_every_sip_by_a_shortest_way(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {2, 1}, {5, 1}, {8, 1}, {3, 2},
                                        {4, 4}, {1, 6}, {5, 3}, {2, 7}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (uint32_t t = 0; t < COUNT_OF(grids); t++) {
            const struct hw_config hw = sips_of(grids[t], sizes[i][0], sizes[i][1]);
            const uint32_t w = grids[t] == &hw_ring_1d ? hw.sip_count : hw.sip_w, n = hw.sip_count;
            const bool wrap = grids[t] != &hw_mesh_2d_no_wrap;
            for (uint32_t pair = 0; pair < n * n; pair++) {
                const uint32_t from = pair / n, to = pair % n;
                uint32_t links = 0;
                for (uint32_t at = from; at != to; links++) {
                    assert_true(links < n);
                    at = hw_route_next_sip(&hw, at, hw_route_exit(&hw, at, to, 0), to, 0);
                }
                assert_int_equal(links, ring_distance(w, wrap, from % w, to % w) +
                                            ring_distance(n / w, wrap, from / w, to / w));
            }
        }
}

/* ---- whole paths ----------------------------------------------------------------------------- */

struct text {
    char at[2048];
    size_t used;
    bool link_next;
};

static void append_step(void *arg, const struct hw_path_step *step)
{
    struct text *text = arg;
    char word[64];
    assert_int_equal(step->is_link, text->link_next); /* nodes alternate with links */
    text->link_next = !text->link_next;
    if (step->is_link)
        snprintf(word, sizeof word, " -%s- ", hw_link_name[step->kind]);
    else if (step->kind == HW_NODE_ROUTER)
        snprintf(word, sizeof word, "r%u.%u.%u", step->sip, step->cube, step->index);
    else if (step->kind == HW_NODE_UCIE_PORT)
        snprintf(word, sizeof word, "u%c", hw_port_letter[step->port]);
    else if (step->kind == HW_NODE_IO_PORT)
        snprintf(word, sizeof word, "p%u%c", step->sip, hw_port_letter[step->port]);
    else if (step->kind == HW_NODE_IO_HUB)
        snprintf(word, sizeof word, "hub%u", step->sip);
    else if (step->kind == HW_NODE_SWITCH)
        snprintf(word, sizeof word, "sw%u", step->index);
    else
        snprintf(word, sizeof word, "%s",
                 strchr(hw_node_name[step->kind], '_') == NULL
                     ? hw_node_name[step->kind]
                     : strchr(hw_node_name[step->kind], '_') + 1);
    const size_t bytes = strlen(word);
    assert_true(text->used + bytes < sizeof text->at);
    memcpy(text->at + text->used, word, bytes + 1);
    text->used += bytes;
}

static struct hw_place place(const char *text)
{
    struct hw_place p;
    assert_int_equal(sscanf(text, "%u.%u.%u", &p.sip, &p.cube, &p.pe), 3);
    return p;
}

static void expect_path(const struct hw_config *hw, const char *from, const char *to,
                        enum hw_memory memory, enum hw_port exit, const char *expected)
{
    struct text text = {.used = 0};
    hw_path_walk(hw, place(from), place(to), memory, exit, HW_DIRS_MAX, append_step, &text);
    assert_true(text.link_next); /* it ends with a node */
    if (strcmp(text.at, expected) != 0)
        fail_msg("%s to %s:\n  %s\nexpected\n  %s", from, to, text.at, expected);
}

static int64_t path_ps(const struct hw_config *hw, const char *from, const char *to,
                       enum hw_memory memory, uint64_t bytes)
{
    return hw_path_ps(hw, place(from), place(to), memory, HW_PORT_NONE, HW_DIRS_MAX, bytes);
}

/* The transfer that the reference works out by hand: 16 bytes from PE 0.0.0 to PE 0.0.1. */
static void a_transfer_to_the_same_router_costs_what_was_worked_out_by_hand(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    expect_path(&hw, "0.0.0", "0.0.1", HW_MEMORY_TCM, HW_PORT_NONE,
                "dma -pe_noc- r0.0.0 -pe_noc- dma -tcm- tcm");
    /* pe_dma 4 + .005 + router 1 + .005 + pe_dma 4 + .001 + pe_tcm 1 = 10.011, and 16 / 128 */
    assert_int_equal(path_ps(&hw, "0.0.0", "0.0.1", HW_MEMORY_TCM, 0), 10011);
    assert_int_equal(path_ps(&hw, "0.0.0", "0.0.1", HW_MEMORY_TCM, 16), 10011 + 125);
    /* the credit ends at pe_dma: 9.010 + 16 / 128 */
    assert_int_equal(path_ps(&hw, "0.0.1", "0.0.0", HW_MEMORY_NONE, 16), 9135);
}

static void a_path_to_the_next_cube_goes_by_its_ucie_ports(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    expect_path(&hw, "0.0.0", "0.1.0", HW_MEMORY_TCM, HW_PORT_NONE,
                "dma -pe_noc- r0.0.0 -noc- r0.0.1 -noc- r0.0.3 -noc_ucie- uE -ucie- uW "
                "-noc_ucie- r0.1.0 -pe_noc- dma -tcm- tcm");
    /* nodes 4 + 3 + 4 + 4 + 1 + 4 + 1 = 21; links 2 x .005 + 2 x .030 + 2 x .005 + .020 + .001
     * = .101; 4096 bytes over pe_noc or ucie, 128 GB/s: 32 */
    assert_int_equal(path_ps(&hw, "0.0.0", "0.1.0", HW_MEMORY_TCM, 4096), 21101 + 32000);
    /* S port of cube 0 is at router 2; N port of cube 4 at router 1 */
    expect_path(&hw, "0.0.2", "0.4.5", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r0.0.1 -noc- r0.0.0 -noc- r0.0.2 -noc_ucie- uS -ucie- uN "
                "-noc_ucie- r0.4.1 -noc- r0.4.0 -noc- r0.4.2 -pe_noc- dma");
}

static void a_path_turns_once_in_the_mesh_of_cubes(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    hw.noc_w = hw.noc_h = 1;
    expect_path(&hw, "0.9.0", "0.3.7", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r0.9.0 -noc_ucie- uE -ucie- uW -noc_ucie- r0.10.0 "
                "-noc_ucie- uE -ucie- uW -noc_ucie- r0.11.0 "
                "-noc_ucie- uN -ucie- uS -noc_ucie- r0.7.0 "
                "-noc_ucie- uN -ucie- uS -noc_ucie- r0.3.0 -pe_noc- dma");
}

static void hbm_and_sram_slots_add_a_memory_leg(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    expect_path(&hw, "0.0.0", "0.0.7", HW_MEMORY_HBM, HW_PORT_NONE,
                "dma -pe_noc- r0.0.0 -noc- r0.0.1 -noc- r0.0.3 -pe_noc- dma -pe_noc- r0.0.3 "
                "-hbm- hbm");
    /* nodes 4 + 3 + 4 + 1 + 40 = 52; links 3 x .005 + 2 x .030 + .010 = .085; 64 / 64 GB/s */
    assert_int_equal(path_ps(&hw, "0.0.0", "0.0.7", HW_MEMORY_HBM, 64), 52085 + 1000);
    expect_path(&hw, "0.0.0", "0.0.7", HW_MEMORY_SRAM, HW_PORT_NONE,
                "dma -pe_noc- r0.0.0 -noc- r0.0.1 -noc- r0.0.3 -pe_noc- dma -pe_noc- r0.0.3 "
                "-noc- r0.0.2 -noc- r0.0.0 -sram- sram");
    /* nodes 4 + 3 + 4 + 3 + 3 = 17; links 3 x .005 + 4 x .030 + .005 = .140; 64 / 128 GB/s */
    assert_int_equal(path_ps(&hw, "0.0.0", "0.0.7", HW_MEMORY_SRAM, 64), 17140 + 500);
}

/* A machine of one-router cubes, so that paths between SIPs stay short. */
static struct hw_config small_cubes(const struct hw_topology_ops *topology, uint32_t w, uint32_t h,
                                    uint32_t cube_w, uint32_t cube_h)
{
    struct hw_config hw = sips_of(topology, w, h);
    hw.noc_w = hw.noc_h = 1;
    hw.cube_w = cube_w;
    hw.cube_h = cube_h;
    return hw;
}

static void leaving_a_sip_goes_along_the_row_and_entering_too(void **state)
{
    (void)state;
    const struct hw_config hw = small_cubes(&hw_ring_1d, 3, 1, 2, 2);
    expect_path(&hw, "0.2.0", "1.1.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r0.2.0 -noc_ucie- uE -ucie- uW -noc_ucie- r0.3.0 "
                "-noc_ucie- uE -ucie- p0E -sip_link- p1W -ucie- uW -noc_ucie- r1.0.0 "
                "-noc_ucie- uE -ucie- uW -noc_ucie- r1.1.0 -pe_noc- dma");
    /* nodes: pe_dma 2 x 4, routers 4 x 1, ucie_port 6 x 4, io_port 2 x 50 = 136; links: pe_noc
     * 2 x .005, noc_ucie 6 x .005, ucie 4 x .020, sip_link 2.1 = 2.220; 1000 bytes over sip_link,
     * 100 GB/s: 10 */
    assert_int_equal(path_ps(&hw, "0.2.0", "1.1.0", HW_MEMORY_NONE, 1000), 148220);
}

static void leaving_by_north_goes_along_the_column(void **state)
{
    (void)state;
    const struct hw_config hw = small_cubes(&hw_torus_2d, 1, 3, 2, 2);
    expect_path(&hw, "0.3.0", "2.0.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r0.3.0 -noc_ucie- uN -ucie- uS -noc_ucie- r0.1.0 "
                "-noc_ucie- uN -ucie- p0N -sip_link- p2S -ucie- uS -noc_ucie- r2.2.0 "
                "-noc_ucie- uN -ucie- uS -noc_ucie- r2.0.0 -pe_noc- dma");
}

static void in_a_ring_of_two_the_named_direction_decides_the_link(void **state)
{
    (void)state;
    const struct hw_config hw = small_cubes(&hw_ring_1d, 2, 1, 2, 1);
    static const char *const east =
        "dma -pe_noc- r0.0.0 -noc_ucie- uE -ucie- uW -noc_ucie- r0.1.0 "
        "-noc_ucie- uE -ucie- p0E -sip_link- p1W -ucie- uW -noc_ucie- r1.0.0 -pe_noc- dma";
    static const char *const west =
        "dma -pe_noc- r0.0.0 -noc_ucie- uW -ucie- p0W -sip_link- p1E "
        "-ucie- uE -noc_ucie- r1.1.0 -noc_ucie- uW -ucie- uE -noc_ucie- r1.0.0 -pe_noc- dma";
    expect_path(&hw, "0.0.0", "1.0.0", HW_MEMORY_NONE, HW_PORT_NONE, east);
    expect_path(&hw, "0.0.0", "1.0.0", HW_MEMORY_NONE, HW_PORT_E, east);
    expect_path(&hw, "0.0.0", "1.0.0", HW_MEMORY_NONE, HW_PORT_W, west);
}

static void transit_crosses_only_the_io_die(void **state)
{
    (void)state;
    const struct hw_config hw = small_cubes(&hw_torus_2d, 2, 2, 1, 1);
    expect_path(&hw, "0.0.0", "3.0.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r0.0.0 -noc_ucie- uE -ucie- p0E -sip_link- p1W -hub- hub1 -hub- p1S "
                "-sip_link- p3N -ucie- uN -noc_ucie- r3.0.0 -pe_noc- dma");
    const struct hw_config ring = small_cubes(&hw_ring_1d, 5, 1, 1, 1);
    expect_path(&ring, "1.0.0", "4.0.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r1.0.0 -noc_ucie- uW -ucie- p1W -sip_link- p0E -hub- hub0 -hub- p0W "
                "-sip_link- p4E -ucie- uE -noc_ucie- r4.0.0 -pe_noc- dma");
}

static void a_switch_crossing_costs_two_links_and_the_switch(void **state)
{
    (void)state;
    const struct hw_config hw = small_cubes(&hw_switch, 4, 1, 1, 1);
    expect_path(&hw, "3.0.0", "1.0.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r3.0.0 -noc_ucie- uE -ucie- p3E -sip_link- sw0 -sip_link- p1E "
                "-ucie- uE -noc_ucie- r1.0.0 -pe_noc- dma");
    /* nodes 2 x 4 + 2 x 1 + 2 x 4 + 2 x 50 + 150 = 268; links .010 + .010 + .040 + 2 x 2.1 */
    assert_int_equal(path_ps(&hw, "3.0.0", "1.0.0", HW_MEMORY_NONE, 0), 272260);
}

static void paired_dies_reach_another_parity_through_the_mate_of_the_destination(void **state)
{
    (void)state;
    const struct hw_config hw = small_cubes(&hw_pair_switch, 4, 1, 1, 1);
    expect_path(&hw, "0.0.0", "1.0.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r0.0.0 -noc_ucie- uE -ucie- p0E -sio- p1E "
                "-ucie- uE -noc_ucie- r1.0.0 -pe_noc- dma");
    expect_path(&hw, "3.0.0", "1.0.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r3.0.0 -noc_ucie- uN -ucie- p3N -hccs- sw1 -hccs- p1N "
                "-ucie- uN -noc_ucie- r1.0.0 -pe_noc- dma");
    expect_path(&hw, "0.0.0", "3.0.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r0.0.0 -noc_ucie- uN -ucie- p0N -hccs- sw0 -hccs- p2N -hub- hub2 "
                "-hub- p2E -sio- p3E -ucie- uE -noc_ucie- r3.0.0 -pe_noc- dma");
    expect_path(&hw, "1.0.0", "2.0.0", HW_MEMORY_NONE, HW_PORT_NONE,
                "dma -pe_noc- r1.0.0 -noc_ucie- uN -ucie- p1N -hccs- sw1 -hccs- p3N -hub- hub3 "
                "-hub- p3E -sio- p2E -ucie- uE -noc_ucie- r2.0.0 -pe_noc- dma");
    /* 2 x pe_dma 4, 2 x router 1, 2 x ucie_port 4, io_port 4 x 50, switch 150, hub 10 = 378;
     * links .010 + .010 + .040, hccs 2 x 3.5, hub 2 x .050, sio .100 = 7.260 */
    assert_int_equal(path_ps(&hw, "0.0.0", "3.0.0", HW_MEMORY_NONE, 0), 385260);
}

/* ---- T --------------------------------------------------------------------------------------- */

static void only_the_slowest_link_adds_serialisation(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    const int64_t empty_ps = path_ps(&hw, "0.0.0", "0.1.0", HW_MEMORY_TCM, 0);
    hw.link[HW_LINK_NOC] = link_class(30, 3); /* the slowest now: 100 bytes take 33333.3 ps */
    assert_int_equal(path_ps(&hw, "0.0.0", "0.1.0", HW_MEMORY_TCM, 100) - empty_ps, 33334);
    hw.link[HW_LINK_TCM] = link_class(1, 2);
    assert_int_equal(path_ps(&hw, "0.0.0", "0.1.0", HW_MEMORY_TCM, 100) - empty_ps, 50000);
    assert_int_equal(path_ps(&hw, "0.0.0", "0.1.0", HW_MEMORY_NONE, 100) - empty_ps,
                     33334 - 1001); /* without the tcm leg */
}

/* In one row or column the way back crosses the same nodes and links. */
static void straight_paths_cost_the_same_both_ways(void **state)
{
    (void)state;
    static const uint32_t nocs[][2] = {{1, 1}, {2, 2}, {3, 2}, {1, 4}, {5, 4}};
    for (size_t i = 0; i < COUNT_OF(nocs); i++) {
        struct hw_config hw = sips_of(&hw_ring_1d, 5, 1);
        hw.noc_w = nocs[i][0];
        hw.noc_h = nocs[i][1];
        uint32_t checked = 0;
        for (uint32_t a = 0; a < hw_pe_count(&hw); a += 3)
            for (uint32_t b = 0; b < hw_pe_count(&hw); b += 7) {
                const struct hw_place from = hw_place_of(&hw, a), to = hw_place_of(&hw, b);
                const bool row = from.cube / 4 == to.cube / 4;
                const bool column = from.sip == to.sip && from.cube % 4 == to.cube % 4;
                if (!row && !column)
                    continue;
                checked++;
                assert_int_equal(
                    hw_path_ps(&hw, from, to, HW_MEMORY_NONE, HW_PORT_NONE, HW_DIRS_MAX, 77),
                    hw_path_ps(&hw, to, from, HW_MEMORY_NONE, HW_PORT_NONE, HW_DIRS_MAX, 77));
            }
        assert_true(checked > 1000);
    }
}

static void all_sips_of_a_torus_see_the_same_distances(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_torus_2d, 3, 3);
    for (uint32_t dx = 0; dx < 3; dx++)
        for (uint32_t dy = 0; dy < 3; dy++) {
            if (dx + dy == 0)
                continue;
            const struct hw_place first_to = {dy * 3 + dx, 5, 0}, first = {0, 2, 3};
            const int64_t ps =
                hw_path_ps(&hw, first, first_to, HW_MEMORY_TCM, HW_PORT_NONE, HW_DIRS_MAX, 4096);
            for (uint32_t sip = 1; sip < 9; sip++) {
                const uint32_t x = (sip % 3 + dx) % 3, y = (sip / 3 + dy) % 3;
                const struct hw_place from = {sip, 2, 3}, to = {y * 3 + x, 5, 0};
                assert_int_equal(
                    hw_path_ps(&hw, from, to, HW_MEMORY_TCM, HW_PORT_NONE, HW_DIRS_MAX, 4096), ps);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_is_taken_the_shorter_way_and_east_on_a_tie),
        cmocka_unit_test(a_torus_goes_by_x_then_y_and_ties_go_east_then_south),
        cmocka_unit_test(a_mesh_of_sips_never_wraps),
        cmocka_unit_test(through_a_switch_everything_leaves_and_enters_by_east),
        cmocka_unit_test(paired_dies_use_sio_for_the_mate_and_hccs_for_the_rest),
        cmocka_unit_test(a_named_direction_uses_its_own_port),
        cmocka_unit_test(cubes_are_crossed_by_x_then_y),
        cmocka_unit_test(following_the_decisions_reaches_every_sip_by_a_shortest_way),
        cmocka_unit_test(a_transfer_to_the_same_router_costs_what_was_worked_out_by_hand),
        cmocka_unit_test(a_path_to_the_next_cube_goes_by_its_ucie_ports),
        cmocka_unit_test(a_path_turns_once_in_the_mesh_of_cubes),
        cmocka_unit_test(hbm_and_sram_slots_add_a_memory_leg),
        cmocka_unit_test(leaving_a_sip_goes_along_the_row_and_entering_too),
        cmocka_unit_test(leaving_by_north_goes_along_the_column),
        cmocka_unit_test(in_a_ring_of_two_the_named_direction_decides_the_link),
        cmocka_unit_test(transit_crosses_only_the_io_die),
        cmocka_unit_test(a_switch_crossing_costs_two_links_and_the_switch),
        cmocka_unit_test(paired_dies_reach_another_parity_through_the_mate_of_the_destination),
        cmocka_unit_test(only_the_slowest_link_adds_serialisation),
        cmocka_unit_test(straight_paths_cost_the_same_both_ways),
        cmocka_unit_test(all_sips_of_a_torus_see_the_same_distances),
    };
    return cmocka_run_group_tests_name("hw_route", tests, NULL, NULL);
}
