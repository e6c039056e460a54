/*
 * test_hw_jitter.c: draws: pure, never below 0, and distributed as they say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hw/jitter.h"

enum { DRAWS = 200000 };

static const struct hw_jitter_place here = {1, 5, 3, 0, 0};

static int64_t draw(const struct hw_jitter_kind *kind, uint64_t operation)
{
    return hw_jitter_ps(kind, 1, &here, operation);
}

static void a_kind_without_jitter_adds_nothing(void **state)
{
    (void)state;
    const struct hw_jitter_kind none = {.distribution = HW_JITTER_FIXED, .mean_ps = 5000};
    assert_int_equal(draw(&none, 1), 0);
}

static void fixed_adds_its_mean_but_not_to_a_piece(void **state)
{
    (void)state;
    const struct hw_jitter_kind fixed = {
        .active = true, .distribution = HW_JITTER_FIXED, .mean_ps = 5000};
    assert_int_equal(draw(&fixed, 1), 5000);
    assert_int_equal(draw(&fixed, HW_JITTER_PIECE), 0);
}

static void only_the_place_that_is_named_is_late(void **state)
{
    (void)state;
    const struct hw_jitter_place places[] = {{1, 5, 3, 0, 0},
                                             {1, 5, 2, 0, 0},
                                             {1, 4, 3, 0, 0},
                                             {0, 5, 3, 0, 0},
                                             {1, HW_JITTER_ANY, 3, 0, 0}};
    for (uint8_t parts = 0; parts <= 3; parts++) {
        const struct hw_jitter_kind kind = {.active = true,
                                            .distribution = HW_JITTER_FIXED,
                                            .mean_ps = 9,
                                            .only = {.parts = parts, .at = {1, 5, 3}}};
        const bool late[] = {true, parts < 3, parts < 2, parts < 1, parts < 2};
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(hw_jitter_ps(&kind, 1, &places[i], 1), late[i] ? 9 : 0);
    }
}

static void only_sips_that_are_listed_are_late(void **state)
{
    (void)state;
    struct hw_jitter_sips *const sips =
        calloc(1, sizeof *sips + hw_jitter_words(130) * sizeof *sips->bits);
    assert_non_null(sips);
    sips->end = 130;
    sips->bits[0] = 1u << 1, sips->bits[2] = 1u << 1; /* SIPs 1 and 129 */
    const struct hw_jitter_kind kind = {
        .active = true, .distribution = HW_JITTER_FIXED, .mean_ps = 9, .only = {.sips = sips}};
    for (uint32_t sip = 0; sip < 300; sip++) {
        const struct hw_jitter_place place = {sip, 5, 3, 0, 0};
        assert_int_equal(hw_jitter_ps(&kind, 1, &place, 1), sip == 1 || sip == 129 ? 9 : 0);
    }
    const struct hw_jitter_place nowhere = {HW_JITTER_ANY, HW_JITTER_ANY, HW_JITTER_ANY, 0, 0};
    assert_int_equal(hw_jitter_ps(&kind, 1, &nowhere, 1), 0);
    free(sips);
}

static void a_draw_depends_on_seed_kind_instance_and_operation_and_on_nothing_else(void **state)
{
    (void)state;
    struct hw_jitter_kind kind = {.active = true,
                                  .distribution = HW_JITTER_UNIFORM,
                                  .salt = 4,
                                  .mean_ps = 1000000000,
                                  .spread_ps = 1000000000};
    const int64_t first = hw_jitter_ps(&kind, 1, &here, 77);
    assert_int_not_equal(hw_jitter_ps(&kind, 2, &here, 77), first);
    assert_int_not_equal(hw_jitter_ps(&kind, 1, &here, 78), first);
    const struct hw_jitter_place others[] = {
        {0, 5, 3, 0, 0}, {1, 4, 3, 0, 0}, {1, 5, 2, 0, 0}, {1, 5, 3, 1, 0}};
    for (size_t i = 0; i < 4; i++)
        assert_int_not_equal(hw_jitter_ps(&kind, 1, &others[i], 77), first);
    kind.salt = 5;
    assert_int_not_equal(hw_jitter_ps(&kind, 1, &here, 77), first);
    kind.salt = 4;
    kind.per_instance = true;
    assert_int_equal(hw_jitter_ps(&kind, 1, &here, 77), hw_jitter_ps(&kind, 1, &here, 78));
    assert_int_not_equal(hw_jitter_ps(&kind, 1, &others[0], 77), hw_jitter_ps(&kind, 1, &here, 77));
}

struct sample {
    int64_t least, most;
    double mean, variance;
    uint32_t below_mean; /* of the kind */
};

static struct sample sample_of(const struct hw_jitter_kind *kind)
{
    struct sample s = {.least = INT64_MAX};
    double squares = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const int64_t ps = draw(kind, i);
        assert_true(ps >= 0);
        s.least = ps < s.least ? ps : s.least;
        s.most = ps > s.most ? ps : s.most;
        s.mean += (double)ps / DRAWS;
        squares += (double)ps * (double)ps / DRAWS;
        s.below_mean += ps < kind->mean_ps;
    }
    s.variance = squares - s.mean * s.mean;
    return s;
}

static void assert_near(double value, double expected, double share)
{
    if (value < expected * (1 - share) || value > expected * (1 + share))
        fail_msg("%f, expected %f within %f", value, expected, share);
}

static void uniform_draws_fill_their_range_evenly(void **state)
{
    (void)state;
    const struct hw_jitter_kind kind = {
        .active = true, .distribution = HW_JITTER_UNIFORM, .mean_ps = 20000, .spread_ps = 6000};
    const struct sample s = sample_of(&kind);
    assert_in_range(s.least, 14000, 14010);
    assert_in_range(s.most, 25990, 26000);
    assert_near(s.mean, 20000, 0.005);
    assert_near(s.variance, 12000.0 * 12000.0 / 12, 0.02);
    const struct hw_jitter_kind cut = {
        .active = true, .distribution = HW_JITTER_UNIFORM, .mean_ps = 10, .spread_ps = 20};
    const struct sample at_zero = sample_of(&cut); /* 0 to 30, each as often */
    assert_int_equal(at_zero.least, 0);
    assert_int_equal(at_zero.most, 30);
    assert_near(at_zero.mean, 15, 0.02);
}

static void normal_draws_have_the_mean_and_the_deviation_asked_for(void **state)
{
    (void)state;
    const struct hw_jitter_kind kind = {
        .active = true, .distribution = HW_JITTER_NORMAL, .mean_ps = 100000, .spread_ps = 10000};
    const struct sample s = sample_of(&kind);
    assert_near(s.mean, 100000, 0.005);
    assert_near(s.variance, 1e8, 0.03);
    assert_near(s.below_mean, DRAWS / 2.0, 0.02);
    assert_true(s.least >= 40000 && s.most <= 160000);
    const struct hw_jitter_kind cut = {
        .active = true, .distribution = HW_JITTER_NORMAL, .mean_ps = 0, .spread_ps = 10000};
    const struct sample half = sample_of(&cut);
    assert_int_equal(half.least, 0);
    assert_near(half.mean, 10000 * 0.3989, 0.02); /* half of them are 0 */
}

/* The distance from the mean is rounded toward 0: with a deviation of 1 ps, draws less than 1 ps
 * away on either side are the mean, 68.3 % of all; rounded down there would be half as many. */
static void normal_draws_are_rounded_toward_the_mean(void **state)
{
    (void)state;
    const struct hw_jitter_kind kind = {
        .active = true, .distribution = HW_JITTER_NORMAL, .mean_ps = 100, .spread_ps = 1};
    uint32_t at_mean = 0, above = 0, below = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const int64_t ps = draw(&kind, i);
        at_mean += ps == 100;
        above += ps > 100;
        below += ps < 100;
    }
    assert_near(at_mean, 0.683 * DRAWS, 0.02);
    assert_near(above, below, 0.05);
}

static void exponential_draws_have_their_mean_and_a_long_tail(void **state)
{
    (void)state;
    const struct hw_jitter_kind kind = {
        .active = true, .distribution = HW_JITTER_EXPONENTIAL, .mean_ps = 100000};
    const struct sample s = sample_of(&kind);
    assert_near(s.mean, 100000, 0.01);
    assert_near(s.variance, 1e10, 0.05);
    assert_near(s.below_mean, DRAWS * 0.63212, 0.01); /* 1 - 1/e */
    assert_true(s.most > 800000);
}

static void the_longest_means_stay_far_below_the_end_of_time(void **state)
{
    (void)state;
    const struct hw_jitter_kind kind = {
        .active = true, .distribution = HW_JITTER_EXPONENTIAL, .mean_ps = 1000000000000};
    const struct hw_jitter_kind normal = {.active = true,
                                          .distribution = HW_JITTER_NORMAL,
                                          .mean_ps = 1000000000000,
                                          .spread_ps = 1000000000000};
    for (uint64_t i = 0; i < DRAWS; i++) {
        const int64_t ps = hw_jitter_ps(&kind, 1, &here, i);
        assert_in_range(ps, 0, 46000000000000);
        assert_in_range(draw(&normal, i), 0, 7000000000000);
    }
}

static void draws_are_the_same_on_every_machine(void **state)
{
    (void)state;
    const enum hw_jitter_distribution distributions[] = {HW_JITTER_UNIFORM, HW_JITTER_NORMAL,
                                                         HW_JITTER_EXPONENTIAL};
    /* from a program of its own, by the formulas in jitter.h */
    const int64_t expected[3] = {1643761, 1685787, 196160};
    for (size_t i = 0; i < 3; i++) {
        const struct hw_jitter_kind kind = {.active = true,
                                            .distribution = distributions[i],
                                            .salt = 16,
                                            .mean_ps = 1000000,
                                            .spread_ps = 1000000};
        assert_int_equal(hw_jitter_ps(&kind, 42, &here, 9), expected[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_without_jitter_adds_nothing),
        cmocka_unit_test(fixed_adds_its_mean_but_not_to_a_piece),
        cmocka_unit_test(only_the_place_that_is_named_is_late),
        cmocka_unit_test(only_sips_that_are_listed_are_late),
        cmocka_unit_test(a_draw_depends_on_seed_kind_instance_and_operation_and_on_nothing_else),
        cmocka_unit_test(uniform_draws_fill_their_range_evenly),
        cmocka_unit_test(normal_draws_have_the_mean_and_the_deviation_asked_for),
        cmocka_unit_test(normal_draws_are_rounded_toward_the_mean),
        cmocka_unit_test(exponential_draws_have_their_mean_and_a_long_tail),
        cmocka_unit_test(the_longest_means_stay_far_below_the_end_of_time),
        cmocka_unit_test(draws_are_the_same_on_every_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
