/*
 * test_topo_paths.c: topo prints paths and draws machines, and verify compares two runs
 * (COMMANDS.md, "topo", "verify").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST_SCRATCH "topo"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static int64_t ps_behind(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    int64_t ns, ps;
    if (at == NULL || sscanf(at + strlen(word), " %ld.%3ld", &ns, &ps) != 2)
        return -1;
    return ns * 1000 + ps;
}

/* The costs of the lines, and in the last line their sum. */
static void a_printed_path_sums_to_its_total(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        int64_t latency_ps, ser_ps; /* worked out by hand; -1: not */
    } cases[] = {
        {"0.0.0 0.0.1", 10011, 32000},
        {"0.0.0 0.1.0", 21101, 32000},
        {"0.0.0 3.5.2", -1, 40960}, /* sip_link, 100 GB/s */
        {"1.3.7 2.12.0 --set defaults.buffer_kind=hbm", -1, 64000},
        {"1.3.7 1.12.0 --set defaults.buffer_kind=sram", -1, 32000},
        {"3.0.0 1.0.0 --set system.sips.topology=switch", -1, 40960},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run_output output = run_line(0, "topo --path %s", cases[i].args);
        int64_t latency_ps = 0, ser_ps = 0, total_ps = -1;
        char *rest;
        for (char *line = strtok_r(output.out, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            const int64_t cost_ps =
                ps_behind(line, strstr(line, " flight ") ? "flight" : "overhead");
            const int64_t take_ps = ps_behind(line, "take");
            latency_ps += cost_ps > 0 ? cost_ps : 0;
            ser_ps = take_ps > ser_ps ? take_ps : ser_ps;
            if (strstr(line, "longest serialisation") != NULL) {
                assert_int_equal(ps_behind(line, "latency"), latency_ps);
                assert_int_equal(ps_behind(line, "serialisation"), ser_ps);
                total_ps = ps_behind(line, "=");
            }
        }
        assert_int_equal(total_ps, latency_ps + ser_ps);
        assert_int_equal(ser_ps, cases[i].ser_ps);
        if (cases[i].latency_ps >= 0)
            assert_int_equal(latency_ps, cases[i].latency_ps);
        run_output_free(&output);
    }
}

static void the_machine_is_drawn_as_svg(void **state)
{
    (void)state;
    struct run_output drawn = run_line(0, "topo --preset six_3x2 --svg -");
    const char *path = in_folder("machine.svg");
    struct run_output written = run_line(0, "topo --preset six_3x2 --svg %s", path);
    char *text = read_file(path);
    assert_int_equal(strncmp(drawn.out, "<svg", 4), 0);
    assert_string_equal(drawn.out, text);
    free(text);
    run_output_free(&drawn);
    run_output_free(&written);
}

static void verify_finds_two_runs_identical(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "verify --n-elem 500 --dtype f32");
    assert_non_null(strstr(output.out, "trace_hash"));
    assert_non_null(strstr(output.out, "data_hash"));
    static const char *const compared[] = {"results[0] phases[0] name ",
                                           "row reduce mean_ps ",
                                           "results[0] link_kinds[0] kind ",
                                           "ucie busy_ns ",
                                           "busiest[4] name ",
                                           "busiest[4] bytes ",
                                           "busiest[4] busy_ns ",
                                           "longest queue_ns ",
                                           "ipcq_messages "};
    for (size_t i = 0; i < COUNT_OF(compared); i++)
        if (strstr(output.out, compared[i]) == NULL)
            fail_msg("%s is not compared\n%s", compared[i], output.out);
    assert_non_null(strstr(output.out, "\nidentical\n"));
    assert_null(strstr(output.out, "DIFFERENT"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_printed_path_sums_to_its_total),
        cmocka_unit_test(the_machine_is_drawn_as_svg),
        cmocka_unit_test(verify_finds_two_runs_identical),
    };
    return cmocka_run_group_tests_name("topo", tests, make_folder, remove_folder);
}
