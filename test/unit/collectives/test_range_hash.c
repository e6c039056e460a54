/*
 * test_range_hash.c: the hash of ranges of sparse memories, made by several workers together, is
 * XXH3 of the same bytes in one row, whatever the lengths and wherever the ranges are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "collectives/memory/range_hash.h"
#include "hw/arithmetic.h"
#include "test/support/idle_engine.h"

enum { MEMORIES = 2, LEAST = 256 * 1024, ROOM = LEAST + 4096, ROUND = 64 << 20 };

struct memories {
    struct storage storage;
    struct sparse_arena arena;
    struct sparse_memory memory[MEMORIES]; /* by the lowest bit of an address's upper half */
};

static const struct sparse_memory *memory_of(const void *arg, uint64_t address)
{
    return &((const struct memories *)arg)->memory[address >> 32 & 1];
}

static void set_up(struct memories *m)
{
    *m = (struct memories){0};
    storage_init(&m->storage, 0);
    assert_true(sparse_arena_init(&m->arena, &m->storage));
}

static void tear_down(struct memories *m)
{
    for (unsigned i = 0; i < MEMORIES; i++)
        sparse_memory_free(&m->memory[i]);
    sparse_arena_free(&m->arena);
}

static uint64_t hash_of(const struct memories *m, const struct sparse_range *ranges, size_t count,
                        struct cw_sim *sim)
{
    return range_hash(&(struct range_hash_request){
        .ranges = ranges, .count = count, .memory_of = memory_of, .arg = m, .sim = sim});
}

/* Cuts `bytes` bytes into ranges of about `each` bytes in both memories, and writes most of them;
 * the rest are zeros that nothing has touched. Returns how many ranges. */
static size_t lay_out(struct memories *m, const uint8_t *bytes, size_t count, size_t each,
                      struct sparse_range *ranges, uint8_t *shown)
{
    size_t n = 0;
    uint64_t at = 0;
    for (size_t done = 0, run; done < count; done += run, n++) {
        run = each + hw_mix(done) % 5;
        run = run < count - done ? run : count - done;
        at += 1 + hw_mix(n) % 3000;
        ranges[n] = (struct sparse_range){(uint64_t)(n % MEMORIES) << 32 | at, run};
        at += run;
        if (n % 5 == 4) {
            memset(shown + done, 0, run);
            continue;
        }
        memcpy(shown + done, bytes + done, run);
        assert_true(sparse_memory_write(&m->memory[n % MEMORIES], &m->arena, ranges[n].address,
                                        bytes + done, run));
    }
    return n;
}

static void workers_together_make_the_hash_of_the_bytes_in_one_row(void **state)
{
    static const size_t extra[] = {0, 1, 63, 64, 65, 960, 1023, 1024, 1025, 2047, 3001};
    static const size_t each[] = {61, 1024, 5000, 16384, ROOM};
    (void)state;
    uint8_t *const bytes = malloc(ROOM), *const shown = malloc(ROOM);
    struct sparse_range *const ranges = malloc(ROOM * sizeof *ranges);
    for (size_t i = 0; i < ROOM; i++)
        bytes[i] = (uint8_t)hw_mix(i);
    for (uint32_t workers = 1; workers <= 4; workers++) {
        struct cw_sim *const sim = idle_engine(workers);
        for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
            for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
                const size_t count = LEAST + extra[i];
                struct memories m;
                set_up(&m);
                const size_t n = lay_out(&m, bytes, count, each[k], ranges, shown);
                const uint64_t hash = XXH3_64bits(shown, count);
                assert_int_equal(hash_of(&m, ranges, n, sim), hash);
                assert_int_equal(hash_of(&m, ranges, n, NULL), hash);
                tear_down(&m);
            }
        cw_sim_free(sim);
    }
    free(ranges);
    free(shown);
    free(bytes);
}

/* More than the workers sum in one round. Untouched bytes take no memory. */
static void a_long_input_is_hashed_in_rounds(void **state)
{
    static const char text[] = "far behind the first round";
    (void)state;
    struct memories m;
    set_up(&m);
    const struct sparse_range range = {0, ROUND + 2 * LEAST + 17};
    assert_true(sparse_memory_write(&m.memory[0], &m.arena, ROUND + 1000, text, sizeof text));
    struct cw_sim *const sim = idle_engine(2);
    assert_int_equal(hash_of(&m, &range, 1, sim), hash_of(&m, &range, 1, NULL));
    cw_sim_free(sim);
    tear_down(&m);
}

static void a_short_input_is_hashed_alone(void **state)
{
    (void)state;
    struct memories m;
    set_up(&m);
    const struct sparse_range ranges[] = {{0, 0}, {5, 3}, {9, 0}};
    assert_true(sparse_memory_write(&m.memory[0], &m.arena, 5, "abc", 3));
    struct cw_sim *const sim = idle_engine(2);
    assert_int_equal(hash_of(&m, ranges, 3, sim), XXH3_64bits("abc", 3));
    assert_int_equal(hash_of(&m, ranges, 0, sim), XXH3_64bits("", 0));
    cw_sim_free(sim);
    tear_down(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_together_make_the_hash_of_the_bytes_in_one_row),
        cmocka_unit_test(a_long_input_is_hashed_in_rounds),
        cmocka_unit_test(a_short_input_is_hashed_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
