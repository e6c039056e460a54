/*
 * test_tile_pool.c: the memory that a pool of tiles takes: slabs that grow, tiles of any size, and
 * a limit (collectives/memory/tile_pool.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collectives/memory/storage.h"
#include "collectives/memory/tile_pool.h"

/* The bytes that so many tiles of that size take, without a limit. */
static uint64_t taken_by(uint32_t tiles, uint32_t tile_bytes)
{
    struct storage storage;
    struct tile_pool pool;
    storage_init(&storage, UINT64_MAX);
    tile_pool_init(&pool, &storage);
    for (uint32_t i = 0; i < tiles; i++)
        assert_non_null(tile_pool_take(&pool, tile_bytes));
    assert_int_equal(tile_pool_lent(&pool), tiles);
    const uint64_t taken = storage_taken(&storage);
    tile_pool_free(&pool);
    assert_int_equal(storage_taken(&storage), 0);
    return taken;
}

/* A tile has a head of a line. The last slab may be empty but for one tile, and is a quarter of all
 * others; an eighth of each may be lost. */
static void tiles_of_any_size_take_little_more_than_their_bytes(void **state)
{
    (void)state;
    for (unsigned shift = 6; shift <= 20; shift++) {
        const uint64_t tiles = (64u << 20) >> shift, each = (UINT64_C(1) << shift) + 64;
        const uint64_t taken = taken_by((uint32_t)tiles, 1u << shift);
        assert_in_range(taken, tiles * each, tiles * each * 10 / 8);
    }
}

static void a_few_tiles_take_little(void **state)
{
    (void)state;
    assert_in_range(taken_by(1, 64), 128, 64 << 10);
    assert_in_range(taken_by(1, 1 << 20), 1 << 20, (1 << 20) + 256);
}

/* Whatever the limit leaves is used, down to a slab of one tile. */
static void a_pool_takes_what_the_limit_leaves(void **state)
{
    (void)state;
    for (unsigned shift = 6; shift <= 18; shift++) {
        const uint64_t each = (UINT64_C(1) << shift) + 64, limit = (1 << 20) + each / 3;
        struct storage storage;
        struct tile_pool pool;
        uint64_t tiles = 0;
        storage_init(&storage, limit);
        tile_pool_init(&pool, &storage);
        while (tile_pool_take(&pool, 1u << shift) != NULL)
            tiles++;
        /* one slab may lose a tail, and each has a head */
        assert_true(tiles * each * 10 / 8 + 2 * each > limit);
        assert_true(storage_taken(&storage) <= limit);
        tile_pool_free(&pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_any_size_take_little_more_than_their_bytes),
        cmocka_unit_test(a_few_tiles_take_little),
        cmocka_unit_test(a_pool_takes_what_the_limit_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
