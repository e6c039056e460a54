/*
 * test_report_command.c: `cubewarp report` on the files that other commands write: a page, tables,
 * and refusals. The pages themselves are tested in test/browser.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/support/run_cubewarp.h"

static char folder[] = "/tmp/cubewarp-report-XXXXXX";

static int make_results(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    struct run_output output =
        run_line(0, "run --preset tiny --bytes 1KiB:4KiB --no-data --json %s/a.json", folder);
    run_output_free(&output);
    output = run_line(0,
                      "run --preset tiny --bytes 1KiB:4KiB --no-data --set "
                      "links.sip_link.bw_gbs=10 --json %s/b.json --engine-log %s/log.csv",
                      folder, folder);
    run_output_free(&output);
    return 0;
}

static int remove_results(void **state)
{
    static const char *const names[] = {"a.json",    "b.json",   "log.csv",
                                        "page.html", "bad.json", "said"};
    char path[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}

static char *read_whole(const char *name)
{
    char path[256];
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    char *text = NULL;
    assert_true(getdelim(&text, &bytes, '\0', file) > 0);
    fclose(file);
    return text;
}

static void a_page_has_all_files_and_loads_nothing(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "report %s/a.json %s/b.json %s/log.csv -o %s/page.html",
                                        folder, folder, folder, folder);
    assert_non_null(strstr(output.out, "/page.html: a page for a browser, of 2 points with "));
    run_output_free(&output);
    char *const page = read_whole("page.html");
    assert_non_null(strstr(page, "default-src 'none'"));
    assert_non_null(strstr(page, "sip_link.bw_gbs 10"));
    assert_non_null(strstr(page, "The modules of d3 below are those of Debian's packages"));
    assert_null(strstr(page, "src=\""));
    assert_null(strstr(page, "<link"));
    assert_true(strlen(page) < 400000);
    free(page);
}

static void tables_have_a_line_for_each_row(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "report %s/a.json %s/b.json --csv -", folder, folder);
    size_t lines = 0;
    for (const char *at = output.out; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 1 + 2 * 3); /* 1, 2 and 4 KiB of two results */
    assert_memory_equal(output.out, "point,state,file,", 17);
    run_output_free(&output);
    output = run_line(0, "report %s/a.json --markdown -", folder);
    assert_non_null(strstr(output.out, "## Results"));
    assert_non_null(strstr(output.out, "| 4 KiB |"));
    run_output_free(&output);
}

static void files_of_other_kinds_are_refused(void **state)
{
    char path[256];
    (void)state;
    snprintf(path, sizeof path, "%s/bad.json", folder);
    FILE *file = fopen(path, "w");
    fputs("{\"schema\": \"cubewarp.run/1\",\n \"results\": [}", file);
    fclose(file);
    struct run_output output = run_line(2, "report %s/bad.json", folder);
    assert_non_null(strstr(output.err, "bad.json:2:"));
    run_output_free(&output);
    output = run_line(2, "report Makefile");
    assert_non_null(strstr(output.err, "expected a result (run --json), a study (sweep)"));
    run_output_free(&output);
    output = run_line(2, "report %s/none.json", folder);
    assert_non_null(strstr(output.err, "cannot read"));
    run_output_free(&output);
    output = run_line(2, "report");
    assert_non_null(strstr(output.err, "name results"));
    run_output_free(&output);
    output = run_line(2, "report %s/a.json --csv - --markdown -", folder);
    run_output_free(&output);
    output = run_line(2, "report %s/a.json --csv %s/./a.json", folder, folder);
    assert_non_null(strstr(output.err, "an output needs another file"));
    run_output_free(&output);
    output = run_line(4, "report %s/a.json -o /dev/full", folder);
    run_output_free(&output);
    output = run_line(2, "report %s/log.csv --plots %s", folder, folder);
    assert_non_null(strstr(output.err, "no curves to plot"));
    run_output_free(&output);
}

static void without_gnuplot_nothing_is_written(void **state)
{
    (void)state;
    char command[400];
    struct run_output run = run_line(0, "run --n-elem 8 --json %s/gone.json", folder);
    run_output_free(&run);
    snprintf(command, sizeof command,
             "PATH=/nowhere \"$(pwd)/${CUBEWARP:-build/cubewarp}\" report %1$s/gone.json --plots "
             "%1$s/gone --csv %1$s/gone.csv 2>%1$s/gone.err",
             folder);
    assert_int_equal(WEXITSTATUS(system(command)), 4);
    snprintf(command, sizeof command,
             "grep -q 'there is no gnuplot, and nothing has been written' %1$s/gone.err && "
             "! test -e %1$s/gone && ! test -e %1$s/gone.csv",
             folder);
    assert_int_equal(system(command), 0);
}

static void plots_do_not_depend_on_the_locale(void **state)
{
    char command[400], *text;
    (void)state;
    snprintf(command, sizeof command,
             "{ LC_ALL=C \"${CUBEWARP:-build/cubewarp}\" report %1$s/a.json --plots %1$s/plots; "
             "echo; rm -r %1$s/plots; } >%1$s/said 2>&1",
             folder);
    (void)!system(command);
    text = read_whole("said");
    assert_null(strstr(text, "iconv"));
    free(text);
}

/* Beyond the limit on file sizes nothing can be written: the earlier file remains. */
static void data_of_a_plot_are_whole_or_old(void **state)
{
    char command[400], path[100], *text;
    (void)state;
    snprintf(path, sizeof path, "%s/time.dat", folder);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs("old", file);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command,
             "ulimit -f 0; exec \"${CUBEWARP:-build/cubewarp}\" report %s/a.json --plots %s "
             ">/dev/null 2>&1",
             folder, folder);
    const int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 4);
    text = read_whole("time.dat");
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(unlink(path), 0);
}

/* A result whose provenance names many keys needs no more memory than any other. */
static void many_changed_keys_take_little_memory(void **state)
{
    enum { KEYS = 20000 };
    static const char begin[] = "\"changed\": {";
    char path[256], command[600];
    (void)state;
    char *const result = read_whole("b.json");
    char *const at = strstr(result, begin);
    assert_non_null(at);
    snprintf(path, sizeof path, "%s/bad.json", folder);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fwrite(result, 1, (size_t)(at - result) + strlen(begin), file);
    for (int i = 0; i < KEYS; i++)
        fprintf(file, "\"key.%d\": \"%d\",", i, i);
    fputs(at + strlen(begin), file);
    assert_int_equal(fclose(file), 0);
    free(result);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const char *const limit = "ulimit -v 1000000; "; /* KiB */
#else
    const char *const limit = "";
#endif
    snprintf(command, sizeof command,
             "%sexec \"${CUBEWARP:-build/cubewarp}\" report %s -o %s/page.html >/dev/null", limit,
             path, folder);
    const int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    char *const page = read_whole("page.html");
    assert_non_null(strstr(page, "key.0 = &#34;0&#34;; key.1 = &#34;1&#34;"));
    assert_non_null(strstr(page, "key.19999 = "));
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_all_files_and_loads_nothing),
        cmocka_unit_test(tables_have_a_line_for_each_row),
        cmocka_unit_test(files_of_other_kinds_are_refused),
        cmocka_unit_test(without_gnuplot_nothing_is_written),
        cmocka_unit_test(plots_do_not_depend_on_the_locale),
        cmocka_unit_test(data_of_a_plot_are_whole_or_old),
        cmocka_unit_test(many_changed_keys_take_little_memory),
    };
    return cmocka_run_group_tests(tests, make_results, remove_results);
}
