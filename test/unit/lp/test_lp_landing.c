/*
 * test_lp_landing.c: puts under way are found again, in any order of landing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/cw.h"
#include "lp/host/landing.h"

static struct lp_op put_of(uint32_t pe, uint32_t seq)
{
    return (struct lp_op){.kind = LP_OP_PUT,
                          .pe = pe,
                          .seq = seq,
                          .bytes = 2 * seq + 2,
                          .math = (uint8_t)(seq % 5),
                          .dtype = LP_BF16,
                          .dst = {.space = LP_SPACE_HBM, .at = pe * 100000 + seq}};
}

static void check_land(struct lp_landing *landing, uint32_t pe, uint32_t seq)
{
    struct lp_op land = {.kind = LP_OP_LAND, .pe = 77, .peer = pe, .seq = seq};
    const struct lp_op put = put_of(pe, seq);
    assert_true(lp_landing_land(landing, land.peer, &land));
    assert_int_equal(land.pe, 77);
    assert_int_equal(land.dst.at, put.dst.at);
    assert_int_equal(land.dst.space, LP_SPACE_HBM);
    assert_int_equal(land.bytes, put.bytes);
    assert_int_equal(land.math, put.math);
    assert_int_equal(land.dtype, LP_BF16);
    land = (struct lp_op){.kind = LP_OP_LAND, .peer = pe, .seq = seq};
    assert_false(lp_landing_land(landing, land.peer, &land)); /* once */
}

static void what_was_never_put_does_not_land(void **state)
{
    (void)state;
    struct lp_landing landing;
    lp_landing_init(&landing);
    struct lp_op land = {.kind = LP_OP_LAND, .peer = 3, .seq = 4};
    assert_false(lp_landing_land(&landing, land.peer, &land));
    const struct lp_op put = put_of(4, 3);
    assert_true(lp_landing_put(&landing, &put));
    assert_false(lp_landing_land(&landing, land.peer, &land));
    check_land(&landing, 4, 3);
    lp_landing_free(&landing);
}

/* Thousands of puts of many PEs, each PE's landing in a random order. */
static void puts_land_in_any_order(void **state)
{
    (void)state;
    enum { PES = 37, ROUNDS = 20000, IN_FLIGHT_MAX = 300 };
    struct lp_landing landing;
    lp_landing_init(&landing);
    struct cw_rng rng = cw_rng_seeded(11, 0);
    uint32_t next[PES] = {0}, pe_of[IN_FLIGHT_MAX], seq_of[IN_FLIGHT_MAX], count = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (count < IN_FLIGHT_MAX && cw_rng_below(&rng, 2) == 0) {
            const uint32_t pe = (uint32_t)cw_rng_below(&rng, PES);
            const struct lp_op put = put_of(pe, next[pe]);
            assert_true(lp_landing_put(&landing, &put));
            pe_of[count] = pe;
            seq_of[count++] = next[pe]++;
        } else if (count > 0) {
            const uint32_t which = (uint32_t)cw_rng_below(&rng, count--);
            check_land(&landing, pe_of[which], seq_of[which]);
            pe_of[which] = pe_of[count];
            seq_of[which] = seq_of[count];
        }
    }
    while (count-- > 0)
        check_land(&landing, pe_of[count], seq_of[count]);
    assert_int_equal(landing.puts.count, 0);
    lp_landing_free(&landing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_never_put_does_not_land),
                                       cmocka_unit_test(puts_land_in_any_order)};
    return cmocka_run_group_tests_name("landing", tests, NULL, NULL);
}
