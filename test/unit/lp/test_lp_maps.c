/*
 * test_lp_maps.c: maps of virtual addresses (lp/maps.h): the table against a slow one, and the maps
 * that PEs of the machine reach: their own, from their MmuMapMsg on, and no others.
 */
#include "test/support/test_lp_support.h"

enum { PART = 4096, VA = 0x100000, PA = 0x8000 };

/* ---- the table ------------------------------------------------------------------------------- */

enum { MAPS = 40, STEPS = 4000 };

static void the_table_finds_what_a_slow_one_finds(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(1, 0);
    struct lp_maps *const maps = lp_maps_create(2, 8);
    bool there[2][MAPS] = {{false}};
    assert_non_null(maps);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t sip = cw_rng_below(&rng, 2), i = cw_rng_below(&rng, MAPS);
        const struct lp_map map = {.va = 100 + 10 * i, .bytes = 10, .sip = sip};
        if (!there[sip][i])
            assert_true(lp_maps_add(maps, &map));
        else
            lp_maps_drop(maps, sip, map.va);
        there[sip][i] = !there[sip][i];
        lp_maps_drop(maps, sip, 100 + 10 * i + 5); /* none begins there */
        const uint64_t va = cw_rng_below(&rng, 120 + 10 * MAPS);
        const struct lp_map *expected = NULL, *const found = lp_maps_find(maps, sip, va);
        uint32_t nth = 0;
        for (uint32_t k = 0; k < MAPS; k++) {
            if (!there[sip][k])
                continue;
            const struct lp_map *const at = lp_maps_at(maps, sip, nth++);
            assert_non_null(at);
            assert_int_equal(at->va, 100 + 10 * k);
            expected = at->va <= va ? at : expected;
        }
        assert_null(lp_maps_at(maps, sip, nth));
        assert_ptr_equal(found, expected);
    }
    lp_maps_free(maps);
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* PEs 0 and 1 of each cube of SIP 0 hold a part each, 4096 bytes at VA and behind. */
static struct lp_map map_of(enum lp_map_parts parts, uint32_t message)
{
    return (struct lp_map){.va = VA,
                           .pa = PA,
                           .bytes = PART,
                           .message = message,
                           .cubes = 2,
                           .pes = 2,
                           .parts = parts};
}

static struct machine *machine_with(struct lp_map map)
{
    struct machine *m = small_machine(1, 2, 1);
    m->unmapped = true;
    machine_start(m);
    assert_int_equal(lp_system_map(m->system, &map, &m->error), CW_OK);
    return m;
}

static void send_map(struct machine *m, uint32_t pe, uint32_t message)
{
    assert_int_equal(lp_system_begin_copy(m->system, &m->error), CW_OK);
    assert_int_equal(lp_system_submit_map(m->system, pe, message, &m->error), CW_OK);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
}

/* The PE's load of one byte at an address gets it from this byte of its slice. */
static void expect_loaded(struct machine *m, uint32_t pe, uint64_t va, uint32_t at)
{
    const struct line script[] = {LOAD(va, 1), DONE};
    RUN(m, {pe, script});
    assert_int_equal(nth(m, pe, LP_OP_LOAD, 0)->a.at, at);
}

/* The PE's load faults; frees the machine. */
static void expect_fault(struct machine *m, uint32_t pe, uint64_t va, uint32_t bytes,
                         const char *place, const char *why)
{
    const struct line script[] = {LOAD(va, bytes), DONE};
    const struct part parts[] = {{pe, script}};
    char text[300];
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    snprintf(text, sizeof text,
             "PageFault: PE %s, kernel script: load of %u bytes at address 0x%llx, which is not "
             "mapped there%s its cube's SRAM from 0x4000000000000000 on",
             place, bytes, (unsigned long long)va, why);
    assert_string_equal(m->error.text, text);
    machine_free(m);
}

static void each_kind_of_parts_has_its_addresses(void **state)
{
    (void)state;
    struct machine *m = machine_with(map_of(LP_MAP_ALIKE, 0));
    expect_loaded(m, 0, VA + 5, PA + 5);
    expect_loaded(m, 9, VA + 5, PA + 5);
    machine_free(m);
    m = machine_with(map_of(LP_MAP_BY_CUBE, 0));
    expect_loaded(m, 1, VA + 5, PA + 5);
    expect_loaded(m, 9, VA + PART + 5, PA + 5);
    machine_free(m);
    m = machine_with(map_of(LP_MAP_BY_PE, 0));
    expect_loaded(m, 1, VA + PART + 5, PA + 5);
    expect_loaded(m, 9, VA + 9 * PART + 5, PA + 5);
    machine_free(m);
}

/* Cube 1's PE 8 has part 1; part 0 is cube 0's, and the map ends with the byte behind its part. */
static void a_pe_reaches_no_other_part(void **state)
{
    (void)state;
    static const char legal[] = "; legal: 0x101000 to 0x102000,";
    expect_fault(machine_with(map_of(LP_MAP_BY_CUBE, 0)), 8, VA, 1, "0.1.0", legal);
    expect_fault(machine_with(map_of(LP_MAP_BY_CUBE, 0)), 8, VA + PART - 1, 2, "0.1.0", legal);
    expect_fault(machine_with(map_of(LP_MAP_BY_CUBE, 0)), 8, VA + 2 * PART, 1, "0.1.0", legal);
    expect_fault(machine_with(map_of(LP_MAP_BY_CUBE, 0)), 8, VA + PART + 1, PART, "0.1.0", legal);
}

/* PE 2 of a cube holds none; nor does a PE of another SIP, whose table is its own. */
static void a_pe_without_a_shard_faults(void **state)
{
    (void)state;
    expect_fault(machine_with(map_of(LP_MAP_BY_CUBE, 0)), 2, VA, 1, "0.0.2", "; legal:");
    struct machine *m = small_machine(2, 1, 1);
    const struct lp_map map = map_of(LP_MAP_BY_CUBE, 0);
    m->unmapped = true;
    machine_start(m);
    assert_int_equal(lp_system_map(m->system, &map, &m->error), CW_OK);
    expect_fault(m, 8, VA, 1, "1.0.0", "; legal:");
}

/* Each PE by its own message: that of PE 0 says nothing to PE 1. */
static void a_map_holds_from_its_message_on(void **state)
{
    (void)state;
    static const char early[] = " before its MmuMapMsg has taken effect; legal:";
    expect_fault(machine_with(map_of(LP_MAP_BY_CUBE, 3)), 0, VA, 1, "0.0.0", early);
    struct machine *m = machine_with(map_of(LP_MAP_BY_CUBE, 3));
    send_map(m, 0, 3);
    expect_loaded(m, 0, VA, PA);
    expect_fault(m, 1, VA, 1, "0.0.1", early);
    m = machine_with(map_of(LP_MAP_BY_CUBE, 3));
    send_map(m, 0, 2); /* of another tensor */
    expect_fault(m, 0, VA, 1, "0.0.0", early);
}

/* The map, or the launch, comes first; both are submitted at one moment. */
static int launch_beside_map(struct machine *m, bool map_first)
{
    static const struct line script[] = {LOAD(VA, 1), DONE};
    static const struct part part = {0, script};
    begin_scripts(m);
    if (map_first)
        assert_int_equal(lp_system_submit_map(m->system, 0, 1, &m->error), CW_OK);
    submit_scripts(m, &part, 1);
    if (!map_first)
        assert_int_equal(lp_system_submit_map(m->system, 0, 1, &m->error), CW_OK);
    return lp_system_drain(m->system, &m->error);
}

static void a_launch_reaches_the_map_that_came_before_it(void **state)
{
    (void)state;
    struct machine *m = machine_with(map_of(LP_MAP_BY_CUBE, 1));
    assert_int_equal(launch_beside_map(m, true), CW_OK);
    assert_int_equal(nth(m, 0, LP_OP_LOAD, 0)->a.at, PA);
    machine_free(m);
    m = machine_with(map_of(LP_MAP_BY_CUBE, 1));
    assert_int_equal(launch_beside_map(m, false), CW_PROGRAM_FAILED);
    machine_free(m);
}

static void a_dropped_map_faults(void **state)
{
    (void)state;
    struct machine *m = machine_with(map_of(LP_MAP_BY_CUBE, 0));
    expect_loaded(m, 0, VA, PA);
    lp_system_unmap(m->system, 0, VA);
    expect_fault(m, 0, VA, 1, "0.0.0", "; legal:");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_finds_what_a_slow_one_finds),
        cmocka_unit_test(each_kind_of_parts_has_its_addresses),
        cmocka_unit_test(a_pe_reaches_no_other_part),
        cmocka_unit_test(a_pe_without_a_shard_faults),
        cmocka_unit_test(a_map_holds_from_its_message_on),
        cmocka_unit_test(a_launch_reaches_the_map_that_came_before_it),
        cmocka_unit_test(a_dropped_map_faults),
    };
    return cmocka_run_group_tests_name("lp_maps", tests, NULL, NULL);
}
