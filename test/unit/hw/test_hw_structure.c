/*
 * test_hw_structure.c: neighbours, and the routers of PEs, ports and memories (hw/HARDWARE.md,
 * "Structure" and "SIP topologies"). Expected places are drawn out by hand.
 */
#include "hw/arithmetic.h"
#include "test/support/test_hw_support.h"

#define NONE UINT32_MAX

/* Neighbours N, S, E, W of each place, in this order; NONE where there is none. */
typedef bool neighbour_fn(const struct hw_config *hw, uint32_t at, enum hw_port port, uint32_t *to);

static void expect_neighbours(const struct hw_config *hw, neighbour_fn *neighbour,
                              const uint32_t (*expected)[HW_PORTS], uint32_t count)
{
    for (uint32_t at = 0; at < count; at++)
        for (enum hw_port port = 0; port < HW_PORTS; port++) {
            uint32_t to = NONE;
            const bool exists = neighbour(hw, at, port, &to);
            const uint32_t got = exists ? to : NONE;
            if (got != expected[at][port])
                fail_msg("neighbour %c of %u is %d, expected %d", hw_port_letter[port], at,
                         (int)got, (int)expected[at][port]);
        }
}

static void a_cube_has_neighbours_inside_its_mesh_only(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    hw.cube_w = 3;
    hw.cube_h = 2;
    /* 0 1 2
     * 3 4 5 */
    static const uint32_t expected[6][HW_PORTS] = {
        {NONE, 3, 1, NONE}, {NONE, 4, 2, 0}, {NONE, 5, NONE, 1},
        {0, NONE, 4, NONE}, {1, NONE, 5, 3}, {2, NONE, NONE, 4},
    };
    expect_neighbours(&hw, hw_cube_neighbour, expected, 6);
}

static void a_mesh_of_one_row_or_column_is_a_line(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    hw.cube_w = 3;
    hw.cube_h = 1;
    static const uint32_t row[3][HW_PORTS] = {
        {NONE, NONE, 1, NONE}, {NONE, NONE, 2, 0}, {NONE, NONE, NONE, 1}};
    expect_neighbours(&hw, hw_cube_neighbour, row, 3);
    hw.cube_w = 1;
    hw.cube_h = 3;
    static const uint32_t column[3][HW_PORTS] = {
        {NONE, 1, NONE, NONE}, {0, 2, NONE, NONE}, {1, NONE, NONE, NONE}};
    expect_neighbours(&hw, hw_cube_neighbour, column, 3);
    hw.cube_h = 1;
    static const uint32_t alone[1][HW_PORTS] = {{NONE, NONE, NONE, NONE}};
    expect_neighbours(&hw, hw_cube_neighbour, alone, 1);
}

static void a_ring_joins_east_to_west_and_wraps(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 5, 1);
    static const uint32_t expected[5][HW_PORTS] = {
        {NONE, NONE, 1, 4}, {NONE, NONE, 2, 0}, {NONE, NONE, 3, 1},
        {NONE, NONE, 4, 2}, {NONE, NONE, 0, 3},
    };
    expect_neighbours(&hw, hw_sip_neighbour, expected, 5);
}

static void two_sips_in_a_ring_have_two_links_between_them(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_ring_1d, 2, 1);
    static const uint32_t expected[2][HW_PORTS] = {{NONE, NONE, 1, 1}, {NONE, NONE, 0, 0}};
    expect_neighbours(&hw, hw_sip_neighbour, expected, 2);
}

static void a_torus_wraps_both_ways(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_torus_2d, 3, 2);
    /* 0 1 2
     * 3 4 5: in a dimension of 2, N and S are the same SIP */
    static const uint32_t expected[6][HW_PORTS] = {
        {3, 3, 1, 2}, {4, 4, 2, 0}, {5, 5, 0, 1}, {0, 0, 4, 5}, {1, 1, 5, 3}, {2, 2, 3, 4},
    };
    expect_neighbours(&hw, hw_sip_neighbour, expected, 6);
}

static void a_torus_of_one_row_has_no_north_and_south(void **state)
{
    (void)state;
    const struct hw_config flat = sips_of(&hw_torus_2d, 2, 1);
    static const uint32_t row[2][HW_PORTS] = {{NONE, NONE, 1, 1}, {NONE, NONE, 0, 0}};
    expect_neighbours(&flat, hw_sip_neighbour, row, 2);
    const struct hw_config tall = sips_of(&hw_torus_2d, 1, 3);
    static const uint32_t column[3][HW_PORTS] = {
        {2, 1, NONE, NONE}, {0, 2, NONE, NONE}, {1, 0, NONE, NONE}};
    expect_neighbours(&tall, hw_sip_neighbour, column, 3);
}

static void a_mesh_of_sips_does_not_wrap(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_mesh_2d_no_wrap, 2, 3);
    /* 0 1
     * 2 3
     * 4 5 */
    static const uint32_t expected[6][HW_PORTS] = {
        {NONE, 2, 1, NONE}, {NONE, 3, NONE, 0}, {0, 4, 3, NONE},
        {1, 5, NONE, 2},    {2, NONE, 5, NONE}, {3, NONE, NONE, 4},
    };
    expect_neighbours(&hw, hw_sip_neighbour, expected, 6);
}

static void behind_a_switch_east_is_the_next_rank(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_switch, 4, 1);
    static const uint32_t expected[4][HW_PORTS] = {
        {NONE, NONE, 1, 3}, {NONE, NONE, 2, 0}, {NONE, NONE, 3, 1}, {NONE, NONE, 0, 2}};
    expect_neighbours(&hw, hw_sip_neighbour, expected, 4);
}

static void paired_dies_have_no_global_directions(void **state)
{
    (void)state;
    const struct hw_config hw = sips_of(&hw_pair_switch, 4, 1);
    for (uint32_t sip = 0; sip < 4; sip++)
        for (enum hw_dir dir = HW_DIR_GLOBAL_N; dir <= HW_DIR_GLOBAL_W; dir++) {
            struct hw_place to;
            assert_false(hw_dir_neighbour(&hw, (struct hw_place){sip, 0, 0}, dir, &to));
        }
}

static void one_sip_is_legal_everywhere_and_has_no_neighbour(void **state)
{
    (void)state;
    static const uint32_t alone[1][HW_PORTS] = {{NONE, NONE, NONE, NONE}};
    for (uint32_t i = 0; hw_topology_at(i) != NULL; i++) {
        const struct hw_config hw = sips_of(hw_topology_at(i), 1, 1);
        expect_neighbours(&hw, hw_sip_neighbour, alone, 1);
    }
}

static void the_pes_of_a_cube_form_two_rows(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    /* NW0 NW1 NE0 NE1     0 1 2 3
     * SW0 SW1 SE0 SE1  =  4 5 6 7 */
    static const uint32_t expected[8][HW_PORTS] = {
        {NONE, 4, 1, NONE}, {NONE, 5, 2, 0}, {NONE, 6, 3, 1}, {NONE, 7, NONE, 2},
        {0, NONE, 5, NONE}, {1, NONE, 6, 4}, {2, NONE, 7, 5}, {3, NONE, NONE, 6},
    };
    expect_neighbours(&hw, hw_pe_neighbour, expected, 8);
}

static void pe_numbers_follow_the_order_of_the_corners(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    static const enum hw_corner order[] = {HW_SE, HW_NW, HW_SW, HW_NE};
    memcpy(hw.corner, order, sizeof order);
    /* NW0 NW1 NE0 NE1     2 3 6 7
     * SW0 SW1 SE0 SE1  =  4 5 0 1 */
    static const uint32_t expected[8][HW_PORTS] = {
        {6, NONE, 1, 5},    {7, NONE, NONE, 0}, {NONE, 4, 3, NONE}, {NONE, 5, 6, 2},
        {2, NONE, 5, NONE}, {3, NONE, 0, 4},    {NONE, 0, 7, 3},    {NONE, 1, NONE, 6},
    };
    expect_neighbours(&hw, hw_pe_neighbour, expected, 8);
    /* SE = router 3, NW = 0, SW = 2, NE = 1 */
    static const uint32_t router[8] = {3, 3, 0, 0, 2, 2, 1, 1};
    for (uint32_t pe = 0; pe < 8; pe++)
        assert_int_equal(hw_pe_router(&hw, pe), router[pe]);
}

static void a_missing_corner_leaves_its_places_empty(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    hw.corner_count = 3;
    static const enum hw_corner three[] = {HW_NW, HW_NE, HW_SE};
    memcpy(hw.corner, three, sizeof three);
    /* 0 1 2 3
     * - - 4 5 */
    static const uint32_t expected[6][HW_PORTS] = {
        {NONE, NONE, 1, NONE}, {NONE, NONE, 2, 0}, {NONE, 4, 3, 1},
        {NONE, 5, NONE, 2},    {2, NONE, 5, NONE}, {3, NONE, NONE, 4},
    };
    expect_neighbours(&hw, hw_pe_neighbour, expected, 6);
    assert_int_equal(hw_pes(&hw), 6);

    hw.corner_count = 2; /* diagonal: no PE beside, above or below the other two */
    hw.corner[0] = HW_NE;
    hw.corner[1] = HW_SW;
    /* - - 0 1
     * 2 3 - - */
    static const uint32_t diagonal[4][HW_PORTS] = {
        {NONE, NONE, 1, NONE}, {NONE, NONE, NONE, 0}, {NONE, NONE, 3, NONE}, {NONE, NONE, NONE, 2}};
    expect_neighbours(&hw, hw_pe_neighbour, diagonal, 4);
}

static void corners_hold_any_number_of_pes(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    hw.pe_per_corner = 1;
    /* 0 1
     * 2 3 */
    static const uint32_t one[4][HW_PORTS] = {
        {NONE, 2, 1, NONE}, {NONE, 3, NONE, 0}, {0, NONE, 3, NONE}, {1, NONE, NONE, 2}};
    expect_neighbours(&hw, hw_pe_neighbour, one, 4);
    hw.pe_per_corner = 3;
    hw.corner_count = 1;
    hw.corner[0] = HW_SE;
    static const uint32_t row[3][HW_PORTS] = {
        {NONE, NONE, 1, NONE}, {NONE, NONE, 2, 0}, {NONE, NONE, NONE, 1}};
    expect_neighbours(&hw, hw_pe_neighbour, row, 3);
}

struct attachment {
    uint32_t w, h;
    uint32_t corner[HW_CORNERS]; /* NW, NE, SW, SE */
    uint32_t port[HW_PORTS];     /* N, S, E, W */
    uint32_t centre;
};

/* N at (w/2, 0), E at (w-1, h/2), S at ((w-1)/2, h-1), W at (0, (h-1)/2), centre at
 * ((w-1)/2, (h-1)/2); number y * w + x. */
static void everything_attaches_to_the_router_that_the_formulas_name(void **state)
{
    (void)state;
    static const struct attachment cases[] = {
        {2, 2, {0, 1, 2, 3}, {1, 2, 3, 0}, 0},   {4, 3, {0, 3, 8, 11}, {2, 9, 7, 4}, 5},
        {3, 4, {0, 2, 9, 11}, {1, 10, 8, 3}, 4}, {1, 1, {0, 0, 0, 0}, {0, 0, 0, 0}, 0},
        {5, 1, {0, 4, 0, 4}, {2, 2, 4, 0}, 2},   {1, 4, {0, 0, 3, 3}, {0, 3, 2, 1}, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct hw_config hw = default_machine();
        hw.noc_w = cases[i].w;
        hw.noc_h = cases[i].h;
        for (uint32_t pe = 0; pe < 8; pe++)
            assert_int_equal(hw_pe_router(&hw, pe), cases[i].corner[pe / 2]);
        for (enum hw_port port = 0; port < HW_PORTS; port++)
            assert_int_equal(hw_port_router(&hw, port), cases[i].port[port]);
        assert_int_equal(hw_centre_router(&hw), cases[i].centre);
    }
}

/* From the place that a direction leads to, the opposite direction leads back (I3 of lp/QUEUES.md,
 * "Invariants"). */
static void every_connection_names_its_way_back(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 2}, {1, 5}, {4, 4}};
    for (uint32_t t = 0; hw_topology_at(t) != NULL; t++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            struct hw_config hw = sips_of(hw_topology_at(t), sizes[i][0], sizes[i][1]);
            hw.cube_w = sizes[i][1];
            hw.cube_h = sizes[i][0];
            hw.corner_count = 1 + (uint32_t)i % 4;
            uint32_t connections = 0;
            for (uint32_t pe = 0; pe < hw_pe_count(&hw); pe++)
                for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
                    const struct hw_place from = hw_place_of(&hw, pe);
                    struct hw_place to, back;
                    if (!hw_dir_neighbour(&hw, from, dir, &to))
                        continue;
                    connections++;
                    assert_int_not_equal(hw_pe_index(&hw, to), pe);
                    assert_true(hw_dir_neighbour(&hw, to, (enum hw_dir)(dir ^ 1), &back));
                    assert_int_equal(hw_pe_index(&hw, back), pe);
                }
            assert_true(connections > 0);
        }
}

static void directions_between_cubes_and_sips_join_equal_places(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    const struct hw_place from = {1, 6, 3};
    struct hw_place to;
    assert_true(hw_dir_neighbour(&hw, from, HW_DIR_S, &to));
    assert_int_equal(to.sip, 1);
    assert_int_equal(to.cube, 10);
    assert_int_equal(to.pe, 3);
    assert_true(hw_dir_neighbour(&hw, from, HW_DIR_GLOBAL_S, &to));
    assert_int_equal(to.sip, 3);
    assert_int_equal(to.cube, 6);
    assert_int_equal(to.pe, 3);
    assert_true(hw_dir_neighbour(&hw, from, HW_DIR_INTRA_W, &to));
    assert_int_equal(to.sip, 1);
    assert_int_equal(to.cube, 6);
    assert_int_equal(to.pe, 2);
}

static void a_pe_index_counts_pes_then_cubes_then_sips(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    assert_int_equal(hw_pe_count(&hw), 4 * 16 * 8);
    const struct hw_place place = {2, 5, 7};
    assert_int_equal(hw_pe_index(&hw, place), (2 * 16 + 5) * 8 + 7);
    for (uint32_t pe = 0; pe < hw_pe_count(&hw); pe++)
        assert_int_equal(hw_pe_index(&hw, hw_place_of(&hw, pe)), pe);
}

static void directions_have_the_names_of_the_specification(void **state)
{
    (void)state;
    static const char *const names[] = {"N",        "S",        "E",        "W",
                                        "global_N", "global_S", "global_E", "global_W",
                                        "intra_N",  "intra_S",  "intra_E",  "intra_W"};
    for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
        assert_string_equal(hw_dir_name(dir), names[dir]);
        assert_int_equal(hw_dir_by_name(names[dir]), dir);
    }
    assert_int_equal(hw_dir_by_name("global_X"), -1);
    assert_int_equal(hw_dir_by_name(""), -1);
    assert_int_equal(hw_dir_by_name("n"), -1);
}

static void a_port_s_edge_cube_is_in_the_same_row_or_column(void **state)
{
    (void)state;
    struct hw_config hw = default_machine();
    hw.cube_w = 4;
    hw.cube_h = 3;
    /* cube 6 is at (2, 1) */
    assert_int_equal(hw_edge_cube(&hw, 6, HW_PORT_N), 2);
    assert_int_equal(hw_edge_cube(&hw, 6, HW_PORT_S), 10);
    assert_int_equal(hw_edge_cube(&hw, 6, HW_PORT_E), 7);
    assert_int_equal(hw_edge_cube(&hw, 6, HW_PORT_W), 4);
    assert_int_equal(hw_edge_cube(&hw, 0, HW_PORT_W), 0);
    assert_int_equal(hw_edge_cube(&hw, 0, HW_PORT_N), 0);
    assert_int_equal(hw_edge_cube(&hw, 11, HW_PORT_E), 11);
    assert_int_equal(hw_edge_cube(&hw, 11, HW_PORT_S), 11);
}

/* hw_divide() is a multiplication; "/" and "%" are the reference. */
static void numbers_are_divided_without_a_division(void **state)
{
    (void)state;
    static const uint32_t divisors[] = {
        1,   2,    3,     5,     6,          7,          10,       12,          16,
        641, 1000, 65535, 65537, 1000000007, 2147483647, 1u << 31, 4294967291u, UINT32_MAX};
    for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
        const uint32_t d = divisors[i];
        const struct hw_divisor by = hw_divisor_of(d);
        for (uint32_t k = 0; k < 4000; k++) {
            /* numbers around multiples of the divisor, the greatest number, and any number */
            const uint32_t multiple = UINT32_MAX / d / (k / 3 + 1) * d;
            const uint32_t numbers[] = {k, multiple + k % 3 - 1, UINT32_MAX - k, k * 2654435761u};
            for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
                assert_int_equal(hw_divide(numbers[j], &by), numbers[j] / d);
                assert_int_equal(hw_remainder(numbers[j], &by), numbers[j] % d);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_has_neighbours_inside_its_mesh_only),
        cmocka_unit_test(a_mesh_of_one_row_or_column_is_a_line),
        cmocka_unit_test(a_ring_joins_east_to_west_and_wraps),
        cmocka_unit_test(two_sips_in_a_ring_have_two_links_between_them),
        cmocka_unit_test(a_torus_wraps_both_ways),
        cmocka_unit_test(a_torus_of_one_row_has_no_north_and_south),
        cmocka_unit_test(a_mesh_of_sips_does_not_wrap),
        cmocka_unit_test(behind_a_switch_east_is_the_next_rank),
        cmocka_unit_test(paired_dies_have_no_global_directions),
        cmocka_unit_test(one_sip_is_legal_everywhere_and_has_no_neighbour),
        cmocka_unit_test(the_pes_of_a_cube_form_two_rows),
        cmocka_unit_test(pe_numbers_follow_the_order_of_the_corners),
        cmocka_unit_test(a_missing_corner_leaves_its_places_empty),
        cmocka_unit_test(corners_hold_any_number_of_pes),
        cmocka_unit_test(everything_attaches_to_the_router_that_the_formulas_name),
        cmocka_unit_test(every_connection_names_its_way_back),
        cmocka_unit_test(directions_between_cubes_and_sips_join_equal_places),
        cmocka_unit_test(a_pe_index_counts_pes_then_cubes_then_sips),
        cmocka_unit_test(directions_have_the_names_of_the_specification),
        cmocka_unit_test(a_port_s_edge_cube_is_in_the_same_row_or_column),
        cmocka_unit_test(numbers_are_divided_without_a_division),
    };
    return cmocka_run_group_tests_name("hw_structure", tests, NULL, NULL);
}
