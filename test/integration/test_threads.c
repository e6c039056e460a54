/*
 * test_threads.c: the same events, times and bits on any number of threads: `cubewarp verify` in
 * every mode, through all partitioners, over topologies with and without a switch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test/integration/run_cubewarp.h"

static const char *const modes[] = {"conservative", "optimistic", "adaptive", "stress"};

static void verify(const char *machine, const char *mode, int threads, const char *partition)
{
    struct run_output output =
        run_line(0, "verify %s --n-elem 2500 --verify-data --sync %s --threads %d --partition %s",
                 machine, mode, threads, partition);
    assert_non_null(strstr(output.out, "\nidentical\n"));
    run_output_free(&output);
}

static void every_mode_gives_the_bits_of_one_thread(void **state)
{
    (void)state;
    static const char torus[] = "--preset six_3x2 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (int threads = 1; threads <= 4; threads++) {
            verify(torus, modes[i], threads, "sip");
            verify(torus, modes[i], threads, "block");
            verify(torus, modes[i], threads, "metis");
        }
}

static void a_switch_and_more_threads_than_sips_make_no_difference(void **state)
{
    (void)state;
    static const char star[] = "--set system.sips.count=3 --set system.sips.topology=switch --set "
                               "sip.cube_mesh.w=2 --set sip.cube_mesh.h=1";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        verify(star, modes[i], 2, "sip");
        verify(star, modes[i], 5, "block");
        verify(star, modes[i], 4, "metis");
        verify(star, modes[i], 8, "sip");
    }
}

static void chunks_polling_and_slots_in_hbm_make_no_difference(void **state)
{
    (void)state;
    static const char odd[] = "--set system.sips.topology=mesh_2d_no_wrap --set sip.cube_mesh.w=2 "
                              "--set sip.cube_mesh.h=2 --set fabric.contention=chunk --set "
                              "defaults.backpressure=poll --set defaults.n_slots=1 --set "
                              "defaults.buffer_kind=hbm";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        verify(odd, modes[i], 3, "block");
}

static void the_machine_as_shipped_is_no_exception(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        verify("", modes[i], 3, "sip");
}

static void a_window_only_bounds_speculation(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "verify --preset six_3x2 --sync optimistic --threads 2 --window 20");
    assert_non_null(strstr(output.out, "\nidentical\n"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_gives_the_bits_of_one_thread),
        cmocka_unit_test(a_switch_and_more_threads_than_sips_make_no_difference),
        cmocka_unit_test(chunks_polling_and_slots_in_hbm_make_no_difference),
        cmocka_unit_test(the_machine_as_shipped_is_no_exception),
        cmocka_unit_test(a_window_only_bounds_speculation),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
