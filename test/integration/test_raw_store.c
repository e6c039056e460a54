/*
 * test_raw_store.c: a queue against a raw store of the same bytes over the same path (QUEUES.md,
 * "PE_DMA"; DECISIONS.md): no less, and at most 100 ns more. The steps of each, one way (in ns):
 *   - a send: pe_cpu 2 + pe_ipcq 2; a store: pe_cpu 2 + pe_scheduler 1 + pe_mmu 0: 1 more
 *   - the tile is visible wire_ns later: 1 more
 *   - a credit of 16 bytes comes back, an acknowledgement of none: 16 B on the slowest link more
 *   - the acknowledgement begins at the memory, the credit at PE_DMA: the memory leg's way less,
 *     of tcm .001; of hbm pe_noc .005, router 1, hbm .010
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

/* Both rows' times of a round trip, in ps. */
static void measure(const char *args, int n_elem, long long *ipcq_ps, long long *raw_ps)
{
    json_t *root = run_json("run --bench raw_store %s --n-elem %d", args, n_elem);
    json_t *rows = json_object_get(root, "results");
    long long *const ps[2] = {ipcq_ps, raw_ps};
    static const char *const names[2] = {"ipcq", "raw_store"};
    assert_int_equal(json_array_size(rows), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *row = json_array_get(rows, i);
        assert_string_equal(json_string_value(json_object_get(row, "collective")), names[i]);
        *ps[i] = (long long)(json_number_value(json_object_get(row, "time_ns")) * 1000 + 0.5);
        assert_true(*ps[i] >=
                    (long long)(json_number_value(json_object_get(row, "bound_ns")) * 1000));
    }
    json_decref(root);
}

struct pair {
    const char *ends;
    int slowest_gbs; /* of the links between them */
};
static const struct pair in_cube = {"--from 0.0.0 --to 0.0.1", 128};
static const struct pair across_cube = {"--from 0.0.0 --to 0.0.7", 128};
static const struct pair neighbours = {"--from 0.0.0 --to 0.1.0", 128};
static const struct pair corners = {"--from 0.15.3 --to 0.0.5", 128};
static const struct pair sips = {"--from 0.0.0 --to 1.0.0", 100};
static const struct pair far = {"--from 0.3.1 --to 3.5.6", 100};

static void check(const struct pair *pair, const char *memory, int leg_ps)
{
    static const int sizes[] = {1, 8, 100, 2048};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char args[200];
        long long ipcq_ps, raw_ps;
        snprintf(args, sizeof args, "%s --set defaults.buffer_kind=%s", pair->ends, memory);
        measure(args, sizes[i], &ipcq_ps, &raw_ps);
        const long long more_ps = ipcq_ps - raw_ps;
        assert_true(more_ps >= 0 && more_ps <= 2 * 100000); /* there and back */
        assert_int_equal(more_ps, 2 * (2000 + 16000 / pair->slowest_gbs - leg_ps));
    }
}

static void in_a_cube_a_queue_costs_as_little_more_than_a_store(void **state)
{
    (void)state;
    check(&in_cube, "tcm", 1);
    check(&in_cube, "hbm", 1015);
    check(&across_cube, "tcm", 1);
    check(&across_cube, "hbm", 1015);
}

static void between_cubes_too(void **state)
{
    (void)state;
    check(&neighbours, "tcm", 1);
    check(&neighbours, "hbm", 1015);
    check(&corners, "tcm", 1);
    check(&corners, "hbm", 1015);
}

static void between_sips_too(void **state)
{
    (void)state;
    check(&sips, "tcm", 1);
    check(&sips, "hbm", 1015);
    check(&far, "tcm", 1);
    check(&far, "hbm", 1015);
}

static void iterations_and_contention_change_nothing_on_an_idle_machine(void **state)
{
    (void)state;
    long long once[2], often[2], none[2];
    measure("", 512, &once[0], &once[1]);
    measure("--iters 5 --warmup_iters 2", 512, &often[0], &often[1]);
    measure("--set fabric.contention=none", 512, &none[0], &none[1]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(often[i], once[i]);
        assert_int_equal(none[i], once[i]);
    }
}

static void a_tile_larger_than_a_slot_is_refused(void **state)
{
    (void)state;
    struct run_output output = run_line(2, "run --bench raw_store --n-elem 4096");
    assert_non_null(strstr(output.err, "raw_store sends single tiles: 8192 bytes do not fit in a "
                                       "slot of 4096 (defaults.slot_size)"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_cube_a_queue_costs_as_little_more_than_a_store),
        cmocka_unit_test(between_cubes_too),
        cmocka_unit_test(between_sips_too),
        cmocka_unit_test(iterations_and_contention_change_nothing_on_an_idle_machine),
        cmocka_unit_test(a_tile_larger_than_a_slot_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
