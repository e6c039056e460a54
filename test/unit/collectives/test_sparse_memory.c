/* test_sparse_memory.c: sparse memory against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "test/support/test_sparse_support.h"

enum { WINDOW = 256 * 1024 };

static uint64_t next(uint64_t *s)
{
    *s += 0x9e3779b97f4a7c15u;
    uint64_t z = *s;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void what_was_never_written_reads_as_zeros(void **state)
{
    (void)state;
    struct sparse *memory = sparse_create(0);
    uint8_t bytes[5000], zeros[5000] = {0};
    memset(bytes, 1, sizeof bytes);
    sparse_read(memory, UINT64_MAX - 4999, bytes, sizeof bytes);
    assert_memory_equal(bytes, zeros, sizeof zeros);
    assert_true(sparse_write(memory, 5000, "x", 1));
    memset(bytes, 1, sizeof bytes);
    sparse_read(memory, 5001, bytes, sizeof bytes);
    assert_memory_equal(bytes, zeros, sizeof zeros);
    const uint64_t taken = storage_taken(&memory->storage);
    sparse_read(memory, (uint64_t)1 << 40, bytes, sizeof bytes);
    assert_int_equal(storage_taken(&memory->storage), taken);
    sparse_free(memory);
}

/* Four windows far apart, one of them at the end of the addresses; random pieces of any size. */
static void it_holds_what_an_array_would_hold(void **state)
{
    (void)state;
    const uint64_t window[4] = {0, ((uint64_t)1 << 32) - 5000, (uint64_t)3 << 62,
                                UINT64_MAX - WINDOW + 1};
    uint64_t seed = 11;
    struct sparse *memory = sparse_create(0);
    uint8_t *array = calloc(4, WINDOW), *piece = malloc(WINDOW);
    for (int i = 0; i < 4000; i++) {
        const uint64_t r = next(&seed);
        const size_t w = r & 3, most = r & 4 ? 40000 : 64;
        const size_t bytes = 1 + (r >> 8) % most, at = (r >> 32) % (WINDOW - bytes);
        uint8_t *mine = array + w * WINDOW + at;
        if (r & 8) {
            for (size_t k = 0; k < bytes; k++)
                piece[k] = (uint8_t)(next(&seed) >> 56);
            memcpy(mine, piece, bytes);
            assert_true(sparse_write(memory, window[w] + at, piece, bytes));
        } else {
            sparse_read(memory, window[w] + at, piece, bytes);
            assert_memory_equal(piece, mine, bytes);
        }
    }
    for (size_t w = 0; w < 4; w++) {
        sparse_read(memory, window[w], piece, WINDOW);
        assert_memory_equal(piece, array + w * WINDOW, WINDOW);
        const struct sparse_range ranges[2] = {{window[w], 1000},
                                               {window[w] + 1000, WINDOW - 1000}};
        assert_int_equal(sparse_hash(memory, ranges, 2), XXH3_64bits(array + w * WINDOW, WINDOW));
    }
    free(array);
    free(piece);
    sparse_free(memory);
}

static void a_stretch_is_the_memory_itself(void **state)
{
    (void)state;
    struct sparse *memory = sparse_create(0);
    size_t run;
    uint8_t *stretch = sparse_memory_touch(&memory->memory, &memory->arena, 100, 3000, &run);
    assert_int_equal(run, 3000); /* pages touched together lie together */
    memset(stretch, 7, run);
    assert_ptr_equal(sparse_memory_look(&memory->memory, &memory->arena, 200, 10, &run),
                     stretch + 100);
    assert_int_equal(run, 10);
    uint8_t byte;
    sparse_read(memory, 3099, &byte, 1);
    assert_int_equal(byte, 7);
    sparse_read(memory, 3100, &byte, 1);
    assert_int_equal(byte, 0);
    sparse_free(memory);
}

/* Whatever was touched, in whatever order, zeros written or not. */
static void the_digest_depends_on_contents_and_addresses_alone(void **state)
{
    (void)state;
    struct sparse *a = sparse_create(0), *b = sparse_create(0);
    const uint8_t zeros[3 * SPARSE_PAGE_BYTES] = {0};
    const uint64_t empty = sparse_digest(a);
    assert_true(sparse_write(a, 12345, zeros, sizeof zeros));
    assert_int_equal(sparse_digest(a), empty);
    assert_true(sparse_write(a, 1, "one", 3));
    assert_true(sparse_write(a, (uint64_t)1 << 50, "two", 3));
    assert_true(sparse_write(b, (uint64_t)1 << 50, "two", 3));
    assert_int_not_equal(sparse_digest(a), sparse_digest(b));
    assert_true(sparse_write(b, 1, "one", 3));
    assert_int_equal(sparse_digest(a), sparse_digest(b));
    assert_true(sparse_write(b, 1, zeros, 3));
    assert_true(sparse_write(b, 1 + SPARSE_PAGE_BYTES, "one", 3));
    assert_int_not_equal(sparse_digest(a), sparse_digest(b));
    sparse_free(a);
    sparse_free(b);
}

static void a_write_beyond_the_limit_fails_and_leaves_the_rest(void **state)
{
    (void)state;
    struct sparse *memory = sparse_create(1 << 20);
    assert_true(sparse_write(memory, 0, "kept", 4));
    bool full = false;
    for (uint64_t address = 1 << 20; address < 4 << 20 && !full; address += SPARSE_PAGE_BYTES)
        full = !sparse_write(memory, address, "more", 4);
    assert_true(full);
    assert_true(storage_taken(&memory->storage) <= 1 << 20);
    uint8_t bytes[4];
    sparse_read(memory, 0, bytes, 4);
    assert_memory_equal(bytes, "kept", 4);
    assert_true(sparse_write(memory, 2, "still", 5)); /* a page that is there */
    sparse_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_never_written_reads_as_zeros),
        cmocka_unit_test(it_holds_what_an_array_would_hold),
        cmocka_unit_test(a_stretch_is_the_memory_itself),
        cmocka_unit_test(the_digest_depends_on_contents_and_addresses_alone),
        cmocka_unit_test(a_write_beyond_the_limit_fails_and_leaves_the_rest),
    };
    return cmocka_run_group_tests_name("sparse_memory", tests, NULL, NULL);
}
