/*
 * test_auto_scatter.c: the choice among the reduce-scatters (ALGORITHMS.md, "The choice" and "The
 * estimate"): the algorithm that auto takes, that it is nearly the best, and that its estimates
 * are near the simulated times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define SCATTER         "run --bench ccl_reduce_scatter --preset a3_16 --no-data "

static const json_t *last_result(const json_t *root)
{
    const json_t *const results = json_object_get(root, "results");
    return json_array_get(results, json_array_size(results) - 1);
}

static const char *algorithm_of(const json_t *root)
{
    return json_string_value(json_object_get(last_result(root), "algorithm"));
}

/* Leaves the program's own lines of the text on standard error: a sanitizer may warn there. */
static void keep_own_lines(char *text)
{
    char *to = text;
    for (char *line = text, *next; *line != '\0'; line = next) {
        char *const end = strchr(line, '\n');
        next = end != NULL ? end + 1 : line + strlen(line);
        if (strncmp(line, "cubewarp: ", 10) != 0)
            continue;
        memmove(to, line, (size_t)(next - line));
        to += next - line;
    }
    *to = '\0';
}

/* Runs auto. *said: its lines on standard error; the caller frees it and the result. */
static json_t *run_auto(const char *more, char **said)
{
    struct run_output output = run_line(0, SCATTER "--algorithm auto --json - %s", more);
    json_t *root = json_loads(output.out, 0, NULL);
    assert_non_null(root);
    keep_own_lines(output.err);
    *said = strdup(output.err);
    run_output_free(&output);
    return root;
}

/* Each line that auto says begins with lines[i] and ends with ends[i]. */
static void check_choice(const char *more, const char *algorithm, const char *const lines[2],
                         const char *const ends[2])
{
    char *said;
    json_t *root = run_auto(more, &said);
    assert_string_equal(algorithm_of(root), algorithm);
    const char *at = said;
    for (unsigned i = 0; i < 2 && lines[i] != NULL; i++) {
        const char *const end = strchr(at, '\n');
        const size_t length = strlen(ends[i]);
        if (end == NULL || strncmp(at, lines[i], strlen(lines[i])) != 0 ||
            (size_t)(end - at) < length || strncmp(end - length, ends[i], length) != 0)
            fail_msg("%s: expected %s ... %s; said %s", more, lines[i], ends[i], said);
        at = end + 1;
    }
    assert_string_equal(at, "");
    free(said);
    json_decref(root);
}

static void auto_chooses_and_says_why_once(void **state)
{
    (void)state;
#define LINES(...) (const char *const[2]){__VA_ARGS__}
    check_choice("--bytes 64KiB --iters 3", "mesh",
                 LINES("cubewarp: auto takes mesh (64K per shard); estimates: "),
                 LINES("check, --json"));
    check_choice("--bytes 4MiB", "birs", LINES("cubewarp: auto takes birs (4M per shard); "),
                 LINES("check, --json"));
    check_choice(
        "--bytes 4MiB --set defaults.birs_enable=false", "rhd",
        LINES("cubewarp: auto takes rhd (4M per shard); "),
        LINES("; no birs: it is not enabled (birs_enable: true, or CUBEWARP_BIRS_ENABLE=TRUE)"));
    check_choice("--bytes 4MiB --set system.sips.count=2", "rhd",
                 LINES("cubewarp: auto takes rhd (4M per shard); "), LINES("check, --json"));
    check_choice("--bytes 16MiB --set system.sips.count=32", "birs_inter",
                 LINES("cubewarp: auto takes birs_inter (16M per shard); "),
                 LINES("check, --json"));
    check_choice("--bytes 64KiB:4MiB:x64", "birs",
                 LINES("cubewarp: auto takes mesh (64K per shard); birs (4M); "),
                 LINES("check, --json"));
    check_choice("--bytes 64KiB --set defaults.mesh_max_bytes=65536", "rhd",
                 LINES("cubewarp: auto takes rhd (64K per shard); "),
                 LINES("; no mesh: the input has mesh_max_bytes, 65536, or more"));
}

/* The variable goes over files and options, either way. */
static void the_environment_enables_and_disables_birs(void **state)
{
    (void)state;
    assert_int_equal(setenv("CUBEWARP_BIRS_ENABLE", "on", 1), 0);
    check_choice("--bytes 4MiB --set defaults.birs_enable=false", "birs",
                 LINES("cubewarp: auto takes birs (4M per shard); "), LINES("check, --json"));
    assert_int_equal(setenv("CUBEWARP_BIRS_ENABLE", "FALSE", 1), 0);
    check_choice("--bytes 4MiB", "rhd", LINES("cubewarp: auto takes rhd (4M per shard); "),
                 LINES("CUBEWARP_BIRS_ENABLE=TRUE)"));
    assert_int_equal(unsetenv("CUBEWARP_BIRS_ENABLE"), 0);
}

/* RFC 1: a run with birs disabled is, event by event, the run of the algorithm that takes its
 * place, named. */
static void with_birs_disabled_nothing_changes(void **state)
{
    (void)state;
    static const char *const sizes[] = {"16KiB", "4MiB"};
    static const char *const names[] = {"mesh", "rhd"};
    for (size_t i = 0; i < 2; i++) {
        char *said, line[120];
        snprintf(line, sizeof line, "--fold off --bytes %s --set defaults.birs_enable=false",
                 sizes[i]);
        json_t *const disabled = run_auto(line, &said);
        json_t *const named =
            run_json(SCATTER "--fold off --algorithm %s --bytes %s", names[i], sizes[i]);
        assert_string_equal(algorithm_of(disabled), names[i]);
        assert_int_equal(json_ps(disabled, "time_ns"), json_ps(named, "time_ns"));
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(disabled, "engine"), "trace_hash")),
            json_string_value(json_object_get(json_object_get(named, "engine"), "trace_hash")));
        json_decref(disabled);
        json_decref(named);
        free(said);
    }
}

static void hccl_s_own_variable_is_answered(void **state)
{
    (void)state;
    assert_int_equal(setenv("HCCL_BIRS_ENABLE", "TRUE", 1), 0);
    struct run_output output = run_line(0, "run --no-data --quiet");
    assert_string_equal(output.err, "cubewarp run: the variable HCCL_BIRS_ENABLE is not read; "
                                    "CUBEWARP_BIRS_ENABLE does here what it does\n");
    run_output_free(&output);
    assert_int_equal(unsetenv("HCCL_BIRS_ENABLE"), 0);
}

static void refuse(const char *line, const char *begin, const char *end)
{
    struct run_output output = run_line(2, SCATTER "%s", line);
    if (strstr(output.err, begin) == NULL || strstr(output.err, end) == NULL)
        fail_msg("%s\nexpected: %s ... %s\nsaid: %s", line, begin, end, output.err);
    run_output_free(&output);
}

static void what_auto_chose_is_refused_with_why_it_did(void **state)
{
    (void)state;
    refuse("--set system.sips.count=4 --n-elem 1",
           "cubewarp run: auto chose rhd (2 bytes per shard; no mesh: mesh cuts each rank's input "
           "into 4 slices, and 1 elements are no multiple of that; no rhd: rhd cuts each rank's ",
           "): rhd cuts each rank's input into 4 slices, and 1 elements are no multiple of that; "
           "use 4, or another multiple\n");
    refuse("--set system.sips.count=4 --n-elem 2000001 --set defaults.birs_enable=false",
           "cubewarp run: auto chose rhd (4000002 bytes per shard; no mesh: mesh cuts each rank's ",
           "; no birs: it is not enabled (birs_enable: true, or CUBEWARP_BIRS_ENABLE=TRUE)): rhd "
           "cuts ");
}

/* ---- estimates against simulated times ------------------------------------------------------- */

static double us_of(const char *algorithm, const char *more)
{
    json_t *root = run_json(SCATTER "--algorithm %s %s", algorithm, more);
    const double us = 1e-6 * (double)json_ps(root, "time_ns");
    json_decref(root);
    return us;
}

/* Sizes about those at which the best algorithm is another one. */
static void auto_is_as_fast_as_the_best(void **state)
{
    (void)state;
    static const struct {
        unsigned ranks;
        const char *bytes;
    } cases[] = {{4, "256KiB"},  {4, "512KiB"},  {8, "512KiB"}, {16, "1MiB"}, {16, "2MiB"},
                 {24, "384KiB"}, {32, "4MiB"},   {64, "8MiB"},  {48, "3MiB"}, {6, "96KiB"},
                 {2, "64KiB"},   {128, "16MiB"}, {512, "1MiB"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const unsigned n = cases[i].ranks;
        const char *const algorithms[] = {"rhd", "mesh",
                                          n > 16   ? "birs_inter"
                                          : n >= 4 ? "birs"
                                                   : "rhd"};
        char more[128];
        snprintf(more, sizeof more, "--set system.sips.count=%u --bytes %s", n, cases[i].bytes);
        double best = us_of(algorithms[0], more);
        for (size_t a = 1; a < COUNT_OF(algorithms); a++) {
            const double us = us_of(algorithms[a], more);
            best = us < best ? us : best;
        }
        const double taken = us_of("auto", more);
        if (taken > 1.05 * best)
            fail_msg("%s: auto takes %.3f us, the best %.3f", more, taken, best);
    }
}

/* All estimates that auto names for a call. */
static void check_estimates(const char *more, double tolerance)
{
    char *said, name[32];
    json_t *const root = run_auto(more, &said);
    const char *at =
        strstr(json_string_value(json_object_get(last_result(root), "choice")), "estimates: ");
    assert_non_null(at);
    at += strlen("estimates: ");
    unsigned checked = 0;
    double estimate;
    int length;
    while (sscanf(at, "%31[a-z_] %lf us%n", name, &estimate, &length) == 2) {
        const double us = us_of(name, more);
        if (estimate > us * (1 + tolerance) || estimate < us * (1 - tolerance))
            fail_msg("%s: %s takes %.3f us, and the estimate is %.3f", more, name, us, estimate);
        checked++;
        at += length;
        at += strncmp(at, ", ", 2) == 0 ? 2 : 0;
    }
    assert_true(checked >= 2);
    json_decref(root);
    free(said);
}

static void estimates_are_near_the_simulated_times(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "--bytes 16KiB",
        "--bytes 512KiB",
        "--bytes 16MiB",
        "--bytes 512KiB --dtype f32 --set system.sips.count=8",
        "--bytes 4MiB --set system.sips.count=128",
        "--n-elem 1200000 --set system.sips.count=96 --dtype bf16",
        "--n-elem 60000 --set system.sips.count=10",
        "--bytes 4MiB --set links.hccs.bw_gbs=98",
        "--bytes 4MiB --set links.hbm.bw_gbs=1600 --set nodes.switch.overhead_ns=600",
        "--bytes 4MiB --set fabric.contention=message",
        "--bytes 256KiB --set algorithms.auto.mate=[4,5,6,7,0,1,2,3] --set system.sips.count=8",
    };
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        check_estimates(machines[i], 0.1);
}

/* A row of the table: the algorithms and ratios for six numbers of ranks. */
struct choice_row {
    char size[32], name[6][32];
    double ratio[6];
};

static bool read_row(const char *line, struct choice_row *row)
{
    char unit[8];
    unsigned long size;
    int length;
    if (sscanf(line, "| %lu %7s |%n", &size, unit, &length) != 2)
        return false;
    snprintf(row->size, sizeof row->size, "%lu%s", size, unit);
    for (unsigned i = 0; i < 6; i++) {
        line += length;
        if (sscanf(line, " %31s %lf |%n", row->name[i], &row->ratio[i], &length) != 2)
            return false;
    }
    return true;
}

/* make scatter-sweep; two of its cells are run again. */
static void the_published_choice_is_within_5_percent(void **state)
{
    (void)state;
    FILE *const table = fopen("perf/results/reduce_scatter_choice.md", "r");
    assert_non_null(table);
    char line[1024];
    struct choice_row row;
    unsigned rows = 0, again = 0;
    while (fgets(line, sizeof line, table) != NULL) {
        if (!read_row(line, &row))
            continue;
        rows++;
        for (unsigned i = 0; i < 6; i++)
            assert_true(row.ratio[i] >= 1 && row.ratio[i] <= 1.05);
        if (strcmp(row.size, "512KiB") != 0 && strcmp(row.size, "2MiB") != 0)
            continue;
        char more[64], *said;
        snprintf(more, sizeof more, "--bytes %s", row.size); /* 16 ranks: column 2 */
        json_t *root = run_auto(more, &said);
        assert_string_equal(algorithm_of(root), row.name[2]);
        json_decref(root);
        free(said);
        again++;
    }
    fclose(table);
    assert_int_equal(rows, 19); /* 1 KiB to 256 MiB */
    assert_int_equal(again, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_chooses_and_says_why_once),
        cmocka_unit_test(the_environment_enables_and_disables_birs),
        cmocka_unit_test(with_birs_disabled_nothing_changes),
        cmocka_unit_test(hccl_s_own_variable_is_answered),
        cmocka_unit_test(what_auto_chose_is_refused_with_why_it_did),
        cmocka_unit_test(auto_is_as_fast_as_the_best),
        cmocka_unit_test(estimates_are_near_the_simulated_times),
        cmocka_unit_test(the_published_choice_is_within_5_percent),
    };
    return cmocka_run_group_tests_name("auto, of the reduce-scatters", tests, NULL, NULL);
}
