/*
 * test_hw_timing.c: the cost of a transfer on a link, and of the compute blocks
 * (hw/HARDWARE.md, "Timing of a transfer" and "Blocks of a PE").
 */
#include "test/support/test_hw_support.h"

#include "core/cw.h"
#include "hw/timing.h"

enum { FIRST_EPOCH = 1 };

/* ---- ser and rates --------------------------------------------------------------------------- */

static void serialisation_is_rounded_up_to_whole_ps(void **state)
{
    (void)state;
    const struct hw_link_class fast = link_class(0, 128), odd = link_class(0, 3),
                               huge = link_class(0, 1000000);
    assert_int_equal(hw_ser_ps(&fast, 0), 0);
    assert_int_equal(hw_ser_ps(&fast, 1), 8); /* 7.8125 */
    assert_int_equal(hw_ser_ps(&fast, 16), 125);
    assert_int_equal(hw_ser_ps(&fast, 4096), 32000);
    assert_int_equal(hw_ser_ps(&odd, 1), 334); /* 333.3 */
    assert_int_equal(hw_ser_ps(&odd, 2), 667);
    assert_int_equal(hw_ser_ps(&odd, 3), 1000);
    assert_int_equal(hw_ser_ps(&huge, 1), 1); /* .001 */
    assert_int_equal(hw_ser_ps(&huge, 1000), 1);
    assert_int_equal(hw_ser_ps(&huge, 1001), 2);
}

static void the_slowest_rate_and_the_largest_transfer_do_not_overflow(void **state)
{
    (void)state;
    const struct hw_rate slow = per_ns(1, 1000); /* .001 GB/s: 10^6 ps per byte */
    assert_int_equal(hw_rate_ps(slow, UINT32_MAX), 4294967295ll * 1000000);
    const struct hw_rate third = per_ns(3, 1000); /* .003 GB/s: 10^6 / 3 ps per byte */
    assert_int_equal(hw_rate_ps(third, UINT32_MAX), 1431655765ll * 1000000);
}

/* ---- one link -------------------------------------------------------------------------------- */

static void a_faster_link_adds_flight_time_and_overhead_only(void **state)
{
    (void)state;
    const struct hw_link_class link = link_class(30, 256); /* 128 bytes: 500 ps */
    struct hw_flight flight = {.tau_ps = 10000, .sigma_ps = 1000, .bytes = 128};
    hw_flight_cross(&flight, &link, NULL, FIRST_EPOCH, 4000);
    assert_int_equal(flight.tau_ps, 10000 + 30 + 4000);
    assert_int_equal(flight.sigma_ps, 1000);
}

static void a_slower_link_adds_the_serialisation_not_paid_yet(void **state)
{
    (void)state;
    const struct hw_link_class link = link_class(30, 64); /* 128 bytes: 2000 ps */
    struct hw_flight flight = {.tau_ps = 10000, .sigma_ps = 1500, .bytes = 128};
    hw_flight_cross(&flight, &link, NULL, FIRST_EPOCH, 0);
    assert_int_equal(flight.tau_ps, 10000 + 500 + 30);
    assert_int_equal(flight.sigma_ps, 2000);
}

static void an_idle_link_is_free_again_when_the_tail_has_left(void **state)
{
    (void)state;
    const struct hw_link_class class = link_class(30, 64);
    struct hw_link link = {.free_ps = 0};
    struct hw_flight flight = {.tau_ps = 10000, .sigma_ps = 0, .bytes = 128};
    hw_flight_cross(&flight, &class, &link, FIRST_EPOCH, 4000);
    assert_int_equal(link.free_ps, 12000); /* before the flight time */
    assert_int_equal(flight.tau_ps, 12000 + 30 + 4000);
}

static void a_busy_link_sends_after_its_last_message(void **state)
{
    (void)state;
    const struct hw_link_class class = link_class(30, 64); /* 128 bytes: 2000 ps */
    struct hw_link link = {.free_ps = 11500};
    struct hw_flight flight = {.tau_ps = 12000, .sigma_ps = 2000, .bytes = 128};
    hw_flight_cross(&flight, &class, &link, FIRST_EPOCH, 0);
    assert_int_equal(link.free_ps, 13500); /* max(12000, 11500 + 2000) */
    assert_int_equal(flight.tau_ps, 13530);
    /* a link that is free in time changes nothing */
    link.free_ps = 20000;
    flight = (struct hw_flight){.tau_ps = 22000, .sigma_ps = 2000, .bytes = 128};
    hw_flight_cross(&flight, &class, &link, FIRST_EPOCH, 0);
    assert_int_equal(link.free_ps, 22000);
    /* the missing serialisation comes first, then the wait */
    link.free_ps = 30000;
    flight = (struct hw_flight){.tau_ps = 31000, .sigma_ps = 500, .bytes = 128};
    hw_flight_cross(&flight, &class, &link, FIRST_EPOCH, 0);
    assert_int_equal(link.free_ps, 32500);
    assert_int_equal(flight.sigma_ps, 2000);
}

/* T of the specification: the sum of overheads and flight times, and the largest ser. */
static void on_an_idle_fabric_every_path_takes_t(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(1, 0);
    for (int round = 0; round < 2000; round++) {
        const uint32_t links = 1 + cw_rng_below(&rng, 12), bytes = 1 + cw_rng_below(&rng, 9000);
        struct hw_flight flight = {.tau_ps = 5, .bytes = bytes};
        int64_t sum_ps = 0, ser_ps_max = 0;
        for (uint32_t i = 0; i < links; i++) {
            const uint64_t gbs = 1 + cw_rng_below(&rng, 600);
            const struct hw_link_class class = link_class(cw_rng_below(&rng, 3000), gbs);
            const int64_t overhead_ps = cw_rng_below(&rng, 5000);
            const int64_t ser_ps = (int64_t)((bytes * 1000ull + gbs - 1) / gbs);
            struct hw_link link = {.free_ps = 0};
            hw_flight_cross(&flight, &class, round % 2 ? &link : NULL, FIRST_EPOCH, overhead_ps);
            sum_ps += class.prop_ps + overhead_ps;
            ser_ps_max = ser_ps > ser_ps_max ? ser_ps : ser_ps_max;
        }
        assert_int_equal(flight.tau_ps, 5 + sum_ps + ser_ps_max);
        assert_int_equal(flight.sigma_ps, ser_ps_max);
    }
}

/* Whoever shares a link, it carries at most its rate and keeps their order. */
static void messages_on_one_link_never_overlap(void **state)
{
    (void)state;
    struct cw_rng rng = cw_rng_seeded(2, 0);
    const struct hw_link_class class = link_class(0, 100);
    struct hw_link link = {.free_ps = 0};
    int64_t offered_ps = 0, last_ps = 0;
    for (int i = 0; i < 5000; i++) {
        const uint32_t bytes = 1 + cw_rng_below(&rng, 500);
        offered_ps += cw_rng_below(&rng, 5000);
        struct hw_flight flight = {.tau_ps = offered_ps, .bytes = bytes};
        hw_flight_cross(&flight, &class, &link, FIRST_EPOCH, 0);
        assert_true(flight.tau_ps - bytes * 10 >= last_ps);
        assert_true(flight.tau_ps - bytes * 10 >= offered_ps);
        assert_true(flight.tau_ps - bytes * 10 == last_ps ||
                    flight.tau_ps - bytes * 10 == offered_ps);
        last_ps = flight.tau_ps;
    }
}

static void a_link_counts_what_the_latest_epochs_sent_over_it(void **state)
{
    (void)state;
    const struct hw_link_class class = link_class(0, 1); /* 1 ns per byte */
    struct hw_link link = {.free_ps = 0};
    struct hw_flight first = {.tau_ps = 0, .bytes = 10, .epoch = 1}, second = first;
    hw_flight_cross(&first, &class, &link, FIRST_EPOCH, 0); /* leaves at 10 ns */
    hw_flight_cross(&second, &class, &link, FIRST_EPOCH,
                    0); /* ready at 10 ns, leaves at 20: waited 10 */
    assert_int_equal(link.bytes, 20);
    assert_int_equal(link.queue_ps_max, 10000);
    struct hw_flight control = {.tau_ps = 0, .bytes = 64, .epoch = 0};
    hw_flight_cross(&control, &class, &link, FIRST_EPOCH, 0);
    assert_int_equal(link.bytes, 20); /* control messages use the link but are not counted */
    assert_int_equal(link.free_ps, 84000);
    struct hw_flight beside = {.tau_ps = 100000, .bytes = 7, .epoch = 2}, again = first;
    hw_flight_cross(&beside, &class, &link, FIRST_EPOCH, 0);
    assert_int_equal(link.bytes, 27);
    again.tau_ps = 150000;
    hw_flight_cross(&again, &class, &link, FIRST_EPOCH, 0);
    assert_int_equal(link.bytes, 37);
    assert_int_equal(link.queue_ps_max, 10000);
    struct hw_flight later = {.tau_ps = 200000, .bytes = 5, .epoch = 3};
    hw_flight_cross(&later, &class, &link, 3, 0);
    assert_int_equal(link.bytes, 5);
    assert_int_equal(link.queue_ps_max, 0);
}

/* ---- compute blocks -------------------------------------------------------------------------- */

static void math_takes_a_cycle_for_each_full_or_part_set_of_lanes(void **state)
{
    (void)state;
    struct hw_config hw = default_machine(); /* 4 ns, 64 lanes, 1 GHz */
    assert_int_equal(hw_math_ps(&hw, 1), 5000);
    assert_int_equal(hw_math_ps(&hw, 64), 5000);
    assert_int_equal(hw_math_ps(&hw, 65), 6000);
    assert_int_equal(hw_math_ps(&hw, 2048), 36000);
    hw.math_cycle = per_ns(3, 2); /* 1.5 GHz: all cycles together are rounded up once */
    assert_int_equal(hw_math_ps(&hw, 64), 4667);
    assert_int_equal(hw_math_ps(&hw, 128), 5334);
    assert_int_equal(hw_math_ps(&hw, 192), 6000);
}

static void gemm_takes_a_cycle_for_each_tile(void **state)
{
    (void)state;
    struct hw_config hw = default_machine(); /* 8 ns, 16 x 16 x 16, 1 GHz */
    assert_int_equal(hw_gemm_ps(&hw, 16, 16, 16), 9000);
    assert_int_equal(hw_gemm_ps(&hw, 17, 16, 16), 10000);
    assert_int_equal(hw_gemm_ps(&hw, 1, 33, 48), 8000 + 1 * 3 * 3 * 1000);
    hw.gemm_m = 8;
    hw.gemm_n = 32;
    hw.gemm_k = 4;
    assert_int_equal(hw_gemm_ps(&hw, 64, 64, 64), 8000 + 8 * 2 * 16 * 1000);
    hw.gemm_m = hw.gemm_n = hw.gemm_k = 1;
    hw.gemm_cycle = (struct hw_rate){.num = 1000000000, .den = 1000001}; /* 1.000001 GHz */
    /* 2^42 cycles, whose product with `num` has 72 bits */
    assert_int_equal(hw_gemm_ps(&hw, 16384, 16384, 16384), 4398042113069887);
}

static void fetch_and_store_pay_their_bytes(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine(); /* 1 ns, 512 GB/s */
    assert_int_equal(hw_fetch_ps(&hw, 0), 1000);
    assert_int_equal(hw_fetch_ps(&hw, 512), 2000);
    assert_int_equal(hw_fetch_ps(&hw, 1), 1002); /* 1.95 ps */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serialisation_is_rounded_up_to_whole_ps),
        cmocka_unit_test(the_slowest_rate_and_the_largest_transfer_do_not_overflow),
        cmocka_unit_test(a_faster_link_adds_flight_time_and_overhead_only),
        cmocka_unit_test(a_slower_link_adds_the_serialisation_not_paid_yet),
        cmocka_unit_test(an_idle_link_is_free_again_when_the_tail_has_left),
        cmocka_unit_test(a_busy_link_sends_after_its_last_message),
        cmocka_unit_test(on_an_idle_fabric_every_path_takes_t),
        cmocka_unit_test(messages_on_one_link_never_overlap),
        cmocka_unit_test(a_link_counts_what_the_latest_epochs_sent_over_it),
        cmocka_unit_test(math_takes_a_cycle_for_each_full_or_part_set_of_lanes),
        cmocka_unit_test(gemm_takes_a_cycle_for_each_tile),
        cmocka_unit_test(fetch_and_store_pay_their_bytes),
    };
    return cmocka_run_group_tests_name("hw_timing", tests, NULL, NULL);
}
