/*
 * test_core_rng.c: random numbers are the same everywhere, and distributed as they should be.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cw.h"

static void the_generator_is_splitmix64(void **state)
{
    (void)state;
    /* Reference values of the published generator for the seed 1234567. */
    struct cw_rng rng = {.s = 1234567};
    assert_true(cw_rng_u64(&rng) == 6457827717110365317u);
    assert_true(cw_rng_u64(&rng) == 3203168211198807973u);
    assert_true(cw_rng_u64(&rng) == 9817491932198370423u);
}

static void draws_are_pinned(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(1, 2);
    assert_true(rng.s == 0x871444b7bdbfcf31);
    assert_true(cw_rng_u64(&rng) == 0x1b5ec78a8771f9b4);
    assert_int_equal(cw_rng_below(&rng, 1000000), 591578);
    assert_int_equal(cw_rng_exp_ps(&rng, 1000000), 1420606);
    assert_true(cw_rng_exp_ps(&rng, 1000000000000) == 298665293063);
    assert_true(cw_rng_exp_ps(&rng, 1ll << 60) == 3145334710869900864);
}

static void streams_differ_by_seed_and_by_entity(void **state)
{
    (void)state;
    struct cw_rng streams[64];
    for (uint64_t i = 0; i < 64; i++)
        streams[i] = cw_rng_seeded(i / 8, i % 8);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < i; j++)
            assert_true(streams[i].s != streams[j].s);
    /* Neighbours are not shifted copies: no draw of one is among the first of the other. */
    struct cw_rng a = cw_rng_seeded(1, 1), b = cw_rng_seeded(1, 2);
    uint64_t first[1000];
    for (int i = 0; i < 1000; i++)
        first[i] = cw_rng_u64(&a);
    for (int i = 0; i < 1000; i++) {
        const uint64_t draw = cw_rng_u64(&b);
        for (int j = 0; j < 1000; j++)
            assert_true(draw != first[j]);
    }
}

static void bounded_draws_are_uniform(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(3, 0);
    unsigned counts[10] = {0};
    for (int i = 0; i < 1000000; i++) {
        const uint32_t draw = cw_rng_below(&rng, 10);
        assert_true(draw < 10);
        counts[draw]++;
    }
    for (int i = 0; i < 10; i++) /* 5 standard deviations are 1,500 */
        assert_in_range(counts[i], 98500, 101500);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(cw_rng_below(&rng, 1), 0);
    uint32_t greatest = 0;
    for (int i = 0; i < 1000; i++) {
        const uint32_t draw = cw_rng_below(&rng, UINT32_MAX);
        greatest = draw > greatest ? draw : greatest;
    }
    assert_true(greatest > UINT32_MAX - UINT32_MAX / 50);
}

static void chances_come_as_often_as_they_should(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(4, 0);
    unsigned quarter = 0;
    for (int i = 0; i < 1000000; i++) {
        quarter += cw_rng_chance(&rng, 1ull << 30);
        assert_false(cw_rng_chance(&rng, 0));
        assert_true(cw_rng_chance(&rng, 1ull << 32));
    }
    assert_in_range(quarter, 247800, 252200); /* 5 standard deviations */
}

static void exponential_draws_are_the_logarithm(void **state)
{
    (void)state;
    const int64_t mean_ps = 1ll << 40;
    struct cw_rng rng = cw_rng_seeded(5, 0);
    for (int i = 0; i < 1000000; i++) {
        struct cw_rng copy = rng;
        const uint64_t random = cw_rng_u64(&copy) | 1;
        const long double exact = -logl((long double)random / 18446744073709551616.0L);
        const int64_t draw = cw_rng_exp_ps(&rng, mean_ps);
        assert_true(rng.s == copy.s); /* one word a draw */
        const long double error = (long double)draw / (long double)mean_ps - exact;
        assert_true(error < 2e-12L && error > -2e-12L); /* 2^-39; rounding is 2^-40 of it */
    }
}

/* Draws that start with any number of zeros, and at either end of each interval of the table. */
static void exponential_draws_are_right_at_the_edges(void **state)
{
    (void)state;
    const int64_t mean_ps = 1ll << 40;
    /* The state that makes the generator draw `random`, by undoing its mixing. */
    for (unsigned shift = 0; shift < 64; shift++)
        for (uint64_t i = 0; i < 258; i++) { /* the last two are 0 and all ones */
            const uint64_t random = ((1ull << 63) + (i / 2 << 56) - i % 2) >> shift;
            uint64_t z = random;
            z = z ^ z >> 31 ^ z >> 62;
            z *= 0x319642b2d24d8ec3;
            z = z ^ z >> 27 ^ z >> 54;
            z *= 0x96de1b173f119089;
            z = z ^ z >> 30 ^ z >> 60;
            struct cw_rng rng = {.s = z - 0x9e3779b97f4a7c15}, copy = rng;
            assert_true(cw_rng_u64(&copy) == random);
            const long double exact = -logl((long double)(random | 1) / 18446744073709551616.0L);
            const int64_t draw = cw_rng_exp_ps(&rng, mean_ps);
            const long double error = (long double)draw / (long double)mean_ps - exact;
            assert_true(draw >= 0 && error < 2e-12L && error > -2e-12L);
        }
}

static void exponential_draws_have_mean_and_variance(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(6, 0);
    const int draws = 4000000;
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; i++) {
        const double draw = (double)cw_rng_exp_ps(&rng, 1000000) * 1e-6;
        sum += draw;
        squares += draw * draw;
    }
    const double mean = sum / draws, variance = squares / draws - mean * mean;
    assert_true(fabs(mean - 1) < 0.0025);     /* 5 standard deviations */
    assert_true(fabs(variance - 1) < 0.0071); /* 5 of sqrt(8 / n) */
}

static void exponential_draws_of_any_mean_stay_in_range(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(7, 0);
    bool saturated = false;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(cw_rng_exp_ps(&rng, 0), 0);
        assert_in_range(cw_rng_exp_ps(&rng, 1), 0, 44);
        assert_true(cw_rng_exp_ps(&rng, (1ll << 56) - 1) >= 0);
        assert_true(cw_rng_exp_ps(&rng, 1ll << 56) >= 0);
        const int64_t draw = cw_rng_exp_ps(&rng, INT64_MAX);
        assert_true(draw >= 0);
        saturated |= draw == CW_TIME_MAX;
    }
    assert_true(saturated); /* more often than not below the mean, but above it at times */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_is_splitmix64),
        cmocka_unit_test(draws_are_pinned),
        cmocka_unit_test(streams_differ_by_seed_and_by_entity),
        cmocka_unit_test(bounded_draws_are_uniform),
        cmocka_unit_test(chances_come_as_often_as_they_should),
        cmocka_unit_test(exponential_draws_are_the_logarithm),
        cmocka_unit_test(exponential_draws_are_right_at_the_edges),
        cmocka_unit_test(exponential_draws_have_mean_and_variance),
        cmocka_unit_test(exponential_draws_of_any_mean_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
