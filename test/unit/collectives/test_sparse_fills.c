/*
 * test_sparse_fills.c: ranges of a sparse memory whose contents a function gives are
 * indistinguishable from the same bytes written, but for the storage they take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/data/data_pass.h"
#include "collectives/data/input.h"
#include "core/cw.h"
#include "test/support/test_sparse_support.h"

enum { WINDOW = 200000 };

static uint8_t content_byte(uint64_t seed, uint64_t at)
{
    const uint64_t z = (seed + at) * 0x9e3779b97f4a7c15u;
    return seed == 0 ? 0 : (uint8_t)(z >> 56); /* seed 0: forgotten */
}

static void make(const struct sparse_content *content, uint64_t at, void *dst, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)dst)[i] = content_byte(content->word[0], at + i);
}

static void compare(struct sparse *memory, uint64_t base, const uint8_t *array)
{
    static uint8_t bytes[WINDOW];
    sparse_read(memory, base, bytes, WINDOW);
    assert_memory_equal(bytes, array, WINDOW);
}

/* Random fills, writes and reads against an array, and digests against an ordinary memory. */
static void filled_ranges_are_as_if_written(void **state)
{
    (void)state;
    const uint64_t bases[] = {0, ((uint64_t)3 << 32) - 70000, UINT64_MAX - WINDOW + 1};
    struct cw_rng rng = cw_rng_seeded(21, 0);
    static uint8_t array[WINDOW], piece[WINDOW];
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
        struct sparse *lazy = sparse_create(0), *plain = sparse_create(0);
        memset(array, 0, sizeof array);
        for (int i = 0; i < 400; i++) {
            const size_t most = cw_rng_below(&rng, 3) == 0 ? 90000 : 700;
            const size_t bytes = 1 + cw_rng_below(&rng, most);
            const size_t at = cw_rng_below(&rng, WINDOW - bytes + 1);
            const uint64_t address = bases[b] + at, what = cw_rng_below(&rng, 4);
            if (what == 0) {
                const uint64_t seed = cw_rng_below(&rng, 6);
                const struct sparse_content content = {.make = seed == 0 ? NULL : make,
                                                       .word = {seed}};
                for (size_t k = 0; k < bytes; k++)
                    array[at + k] = content_byte(seed, k);
                assert_true(sparse_fill(lazy, (struct sparse_range){address, bytes}, content));
                assert_true(sparse_write(plain, address, array + at, bytes));
            } else if (what == 1) {
                for (size_t k = 0; k < bytes; k++)
                    array[at + k] = piece[k] = (uint8_t)cw_rng_below(&rng, 256);
                assert_true(sparse_write(lazy, address, piece, bytes));
                assert_true(sparse_write(plain, address, piece, bytes));
            } else {
                sparse_read(lazy, address, piece, bytes);
                assert_memory_equal(piece, array + at, bytes);
            }
            if (i % 40 == 0) {
                const struct sparse_range all = {bases[b], WINDOW};
                compare(lazy, bases[b], array);
                assert_int_equal(sparse_digest(lazy), sparse_digest(plain));
                assert_int_equal(sparse_hash(lazy, &all, 1), sparse_hash(plain, &all, 1));
            }
        }
        sparse_free(lazy);
        sparse_free(plain);
    }
}

static void looks_stay_for_a_few_more(void **state)
{
    (void)state;
    struct sparse *memory = sparse_create(0);
    const uint8_t *look[SPARSE_LOOKS];
    const struct sparse_content content = {.make = make, .word = {9}};
    assert_true(sparse_fill(memory, (struct sparse_range){0, 1000000}, content));
    for (uint64_t i = 0; i < SPARSE_LOOKS; i++) {
        size_t run;
        look[i] = sparse_memory_look(&memory->memory, &memory->arena, i * 100000, 10, &run);
        assert_int_equal(run, 10);
    }
    for (uint64_t i = 0; i < SPARSE_LOOKS; i++)
        assert_int_equal(look[i][3], content_byte(9, i * 100000 + 3));
    sparse_free(memory);
}

/* There is room for the block, and none for its pages. */
static void a_look_without_storage_shows_the_fill(void **state)
{
    (void)state;
    struct sparse *memory = sparse_create(300 << 10);
    const struct sparse_content content = {.make = make, .word = {9}};
    assert_true(sparse_fill(memory, (struct sparse_range){0, 3000}, content));
    for (uint64_t at = 0; at < 3000; at += 700) {
        size_t run;
        const uint8_t *const look =
            sparse_memory_look(&memory->memory, &memory->arena, at, 200, &run);
        assert_int_equal(run, 200);
        for (size_t i = 0; i < run; i++)
            assert_int_equal(look[i], content_byte(9, at + i));
    }
    assert_false(sparse_write(memory, 0, "x", 1));
    sparse_free(memory);
}

static void what_is_forgotten_makes_room(void **state)
{
    (void)state;
    struct sparse *memory = sparse_create(0);
    static uint8_t bytes[WINDOW];
    memset(bytes, 1, sizeof bytes);
    uint64_t taken = 0;
    for (int i = 0; i < 50; i++) {
        const struct sparse_range range = {(uint64_t)i << 30, WINDOW};
        assert_true(sparse_write(memory, range.address, bytes, WINDOW));
        assert_true(sparse_fill(memory, range, (struct sparse_content){.make = NULL}));
        taken = i == 0 ? storage_taken(&memory->storage) : taken;
    }
    assert_true(storage_taken(&memory->storage) < 2 * taken);
    struct sparse *empty = sparse_create(0);
    assert_int_equal(sparse_digest(memory), sparse_digest(empty));
    sparse_free(empty);
    sparse_free(memory);
}

static void an_input_that_is_only_read_takes_no_storage(void **state)
{
    (void)state;
    const struct hw_config hw = {.sip_count = 1,
                                 .cube_w = 1,
                                 .cube_h = 1,
                                 .pe_per_corner = 1,
                                 .corner_count = 1,
                                 .tcm_bytes = 1 << 20,
                                 .sram_bytes = 1 << 20,
                                 .hbm_bytes = (uint64_t)1 << 32};
    enum { COUNT = 100000000, SOME = 1001 };
    struct cw_error error;
    struct data_pass *pass = data_pass_create(&hw, 0, 1);
    assert_int_equal(data_pass_fill_input(pass, 0, 6, DTYPE_F32, 3, 17, COUNT, &error), CW_OK);
    float got[SOME], expected[SOME];
    const uint64_t first = 77777777;
    data_pass_read(pass, 0, 6 + first * 4, got, sizeof got);
    input_fill(DTYPE_F32, 3, 17 + first, expected, SOME);
    assert_memory_equal(got, expected, sizeof got);
    assert_true(data_pass_bytes(pass) < 1 << 20);
    /* one element is written: its page is kept, with its neighbours */
    assert_int_equal(data_pass_write(pass, 0, 6 + first * 4, "abcd", 4, &error), CW_OK);
    memcpy(expected, "abcd", 4);
    data_pass_read(pass, 0, 6 + first * 4, got, sizeof got);
    assert_memory_equal(got, expected, sizeof got);
    data_pass_free(pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_ranges_are_as_if_written),
        cmocka_unit_test(looks_stay_for_a_few_more),
        cmocka_unit_test(a_look_without_storage_shows_the_fill),
        cmocka_unit_test(what_is_forgotten_makes_room),
        cmocka_unit_test(an_input_that_is_only_read_takes_no_storage),
    };
    return cmocka_run_group_tests_name("sparse fills", tests, NULL, NULL);
}
