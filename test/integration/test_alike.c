/*
 * test_alike.c: where each translation of the SIPs maps a run onto itself, all SIPs do the same at
 * the same times (hw/HARDWARE.md, "Order and lookahead"). So each row of --links stands for a part
 * of every SIP. A switch's links have a row each, with the same figures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

enum { ROWS_MAX = 4096, LINE_MAX_BYTES = 4096, AT_FIELD = 6, COUNT_FIELD = 7 };

static const struct {
    uint32_t sips, rows; /* rows 0: any number */
    const char *line;
} runs[] = {
    {16, 970,
     "run --bytes-per-rank 1M --algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=all_pes "
     "--set system.sips.count=16 --set system.sips.topology=ring_1d"},
    {5, 0,
     "run --bytes 20KB --algorithm direct_rs_ag --set system.sips.count=5 "
     "--set system.sips.topology=ring_1d"},
    {6, 0,
     "run --bytes 24KiB --algorithm ring_rs_ag --set system.sips.count=6 "
     "--set system.sips.topology=ring_1d --set fabric.contention=chunk"},
    {8, 0,
     "run --bench ccl_all_to_all --bytes 24KiB --algorithm pairwise_all_to_all "
     "--set system.sips.count=8 --set system.sips.topology=ring_1d"},
    {12, 0,
     "run --bytes 48KiB --algorithm torus_rs_ag --set system.sips.count=12 "
     "--set system.sips.topology=torus_2d --set system.sips.w=4 --set system.sips.h=3"},
    {12, 0,
     "run --bytes 1KiB --algorithm lrab_hierarchical_allreduce --set system.sips.count=12 "
     "--set system.sips.topology=torus_2d --set system.sips.w=4 --set system.sips.h=3"},
    {7, 0,
     "run --bytes 28KiB --algorithm direct_rs_ag --set system.sips.count=7 "
     "--set system.sips.topology=fully_connected"},
    {6, 0,
     "run --bench ccl_all_gather --bytes 24KiB --algorithm ring_all_gather "
     "--set system.sips.count=6 --set system.sips.topology=fully_connected"},
    {6, 0,
     "run --bytes 24KiB --algorithm direct_rs_ag --set system.sips.count=6 "
     "--set system.sips.topology=switch"},
    {6, 0,
     "run --bench ccl_all_to_all --bytes 24KiB --algorithm pairwise_all_to_all "
     "--set system.sips.count=6 --set system.sips.topology=switch"},
};

/* The beginning of a field of a line of CSV; fields with commas are quoted. */
static const char *field(const char *line, int number)
{
    bool quoted = false;
    for (; number > 0 && *line != 0; line++) {
        quoted ^= *line == '"';
        number -= !quoted && *line == ',';
    }
    return line;
}

/* The figures of the first row of a switch's link. */
static char of_first_link[LINE_MAX_BYTES];

static void check_row(const char *line, uint32_t sips, const char *run)
{
    const char *const figures = field(line, COUNT_FIELD);
    if (field(line, AT_FIELD)[1] == 'x') { /* a switch */
        if (of_first_link[0] == 0)
            strcpy(of_first_link, figures);
        if (strcmp(of_first_link, figures) != 0)
            fail_msg("%s: links of a switch differ: %s", run, line);
    } else if (strtoul(figures, NULL, 10) % sips != 0) {
        fail_msg("%s: this is not of all SIPs: %s", run, line);
    }
}

static void all_sips_do_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        char path[] = "/tmp/cubewarp-alike-XXXXXX.csv", line[LINE_MAX_BYTES], text[1024];
        uint32_t rows = 0;
        const int made = mkstemps(path, 4);
        assert_true(made >= 0);
        close(made);
        snprintf(text, sizeof text, "%s --no-data --fold off --links %s", runs[i].line, path);
        struct run_output output = run_line(0, "%s", text);
        run_output_free(&output);
        FILE *const file = fopen(path, "r");
        assert_non_null(file);
        of_first_link[0] = 0;
        assert_non_null(fgets(line, sizeof line, file));
        for (; fgets(line, sizeof line, file) != NULL; rows++)
            check_row(line, runs[i].sips, runs[i].line);
        fclose(file);
        unlink(path);
        assert_true(runs[i].rows == 0 ? rows > 10 : rows == runs[i].rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_sips_do_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
