/*
 * test_survey.c: results become rows, axes and series; the summary describes them; whatever a file
 * contains stays text in a page, in JSON and in CSV.
 */
#include "test/support/test_survey_support.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/report/page.h"
#include "bench/report/page_tables.h"
#include "bench/report/pareto.h"
#include "bench/survey/say.h"
#include "bench/report/sheet.h"
#include "bench/survey/survey_log.h"
#include "bench/survey/survey_read.h"
#include "bench/survey/survey_study.h"
#include "bench/survey/words.h"

enum { TEXT_BYTES = 4096 };

/* A result with two sizes, the second's time twice the first's. */
static void add_result(struct survey *survey, const char *label, const char *algorithm,
                       double time_ns, int shards, const char *more)
{
    char text[TEXT_BYTES];
    const char *const row = "{\"collective\": \"all_reduce\", \"algorithm\": \"%s\", \"bytes\": %d,"
                            " \"bytes_per_rank\": %d, \"shards_per_rank\": %d, \"time_ns\": %.3f,"
                            " \"bound_ns\": 100.0, \"algbw_gbs\": 1.5, \"wrong\": 0,"
                            " \"not_run\": null, \"phases\": [{\"name\": \"reduce\", \"min_ns\": 1,"
                            " \"mean_ns\": 2, \"max_ns\": 3}]}";
    char first[TEXT_BYTES / 4], second[TEXT_BYTES / 4];
    snprintf(first, sizeof first, row, algorithm, 1024, 1024 * shards, shards, time_ns);
    snprintf(second, sizeof second, row, algorithm, 2048, 2048 * shards, shards, 2 * time_ns);
    snprintf(text, sizeof text,
             "{\"schema\": \"cubewarp.run/1\", \"bench\": \"ccl_allreduce\", \"algorithm\": "
             "\"%s\", \"topology\": {\"sips\":"
             " 4}, \"engine\": {\"events_committed\": 7, \"setup_s\": 0.5, \"run_s\": 1.5},"
             " \"results\": [%s, %s]%s}",
             algorithm, first, second, more);
    add_document(survey, label, text);
}

/* ---- axes and series ------------------------------------------------------------------------- */

static void sizes_are_the_axis_of_curves_and_algorithms_name_the_series(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a", "ring", 1000, 1, "");
    add_result(&survey, "b", "tree", 3000, 1, "");
    finish(&survey);
    assert_string_equal(survey.axes[survey.x].name, "bytes");
    assert_int_equal(survey.series_count, 2);
    assert_string_equal(survey.series[0].name, "ring");
    assert_string_equal(survey.series[1].name, "tree");
    assert_int_equal(survey.series[1].count, 2);
    const struct survey_row *const row = &survey.rows[survey.series[1].rows[1]];
    assert_true(survey_x_of(&survey, row) == 2048);
    assert_true(row->figure[FIGURE_TIME] == 6.0);
    assert_true(fabs(row->figure[FIGURE_EFFICIENCY] - 100.0 * 100 / 6000) < 1e-9);
    assert_true(row->figure[FIGURE_WALL] == 2.0);
    survey_free(&survey);
}

/* The mean of the file, not the least or the most. */
static void phases_are_shown_by_their_means(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_document(&survey, "a",
                 "{\"schema\": \"cubewarp.run/1\", \"results\": [{\"bytes\": 8, \"time_ns\": 9000,"
                 " \"phases\": [{\"name\": \"reduce\", \"min_ns\": 1000, \"mean_ns\": 2500,"
                 " \"max_ns\": 7000}]}]}");
    finish(&survey);
    assert_int_equal(survey.rows[0].phase_count, 1);
    assert_true(survey.rows[0].phases[0].mean_us == 2.5);
    assert_true(survey.rows[0].phases[0].max_us == 7);
    char *text = NULL;
    size_t bytes = 0;
    FILE *const file = open_memstream(&text, &bytes);
    page_write_phases(file, &survey);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "2.5"));
    free(text);
    survey_free(&survey);
}

/* Anybody's file may have such figures: none is printed as `inf`. */
static void figures_that_no_run_gives_are_unknown(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_document(&survey, "a",
                 "{\"schema\": \"cubewarp.run/1\", \"engine\": {\"setup_s\": 1e308, \"run_s\":"
                 " 1e308}, \"results\": [{\"bytes\": 8, \"time_ns\": 1e-320, \"bound_ns\": 100},"
                 " {\"bytes\": 16, \"time_ns\": 0.001, \"bound_ns\": 1e300}, {\"bytes\": 32,"
                 " \"time_ns\": 200, \"bound_ns\": 100}]}");
    finish(&survey);
    assert_int_equal(survey.row_count, 3);
    for (int i = 0; i < 2; i++) {
        assert_true(isnan(survey.rows[i].figure[FIGURE_EFFICIENCY]));
        assert_true(isnan(survey.rows[i].figure[FIGURE_WALL]));
    }
    assert_true(isnan(survey.rows[0].figure[FIGURE_TIME]));
    assert_true(survey.rows[2].figure[FIGURE_EFFICIENCY] == 50);
    survey_free(&survey);
}

static void sizes_per_rank_are_the_axis_where_shards_differ(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a", "ring", 1000, 1, "");
    add_result(&survey, "b", "tree", 3000, 16, "");
    finish(&survey);
    assert_string_equal(survey.axes[survey.x].name, "bytes_per_rank");
    /* the size in its other unit names no series */
    assert_int_equal(survey.series_count, 2);
    survey_free(&survey);
}

static void a_changed_key_names_the_series_and_its_absence_is_the_shipped_value(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a", "ring", 1000, 1,
               ", \"provenance\": {\"changed\": {\"links.sip_link.bw_gbs\": \"200\"}}");
    add_result(&survey, "b", "ring", 3000, 1, ", \"provenance\": {\"changed\": {}}");
    finish(&survey);
    assert_int_equal(survey.series_count, 2);
    assert_string_equal(survey.series[0].name, "sip_link.bw_gbs 200");
    assert_string_equal(survey.series[1].name, "sip_link.bw_gbs as shipped");
    survey_free(&survey);
}

#define OF_COMMIT ", \"provenance\": {\"commit\": \"c1\", \"changed\": {"

/* The result that has changed a key gives the shipped value to all others of its commit. */
static void the_shipped_value_is_known_where_one_result_names_it(void **state)
{
    (void)state;
    struct survey survey;
    const char *sentences[WORDS_MAX];
    survey_init(&survey);
    for (int i = 0; i < 2; i++)
        add_result(&survey, i == 0 ? "a" : "b", "ring", 1000 * (i + 1), 1,
                   i == 0 ? OF_COMMIT "\"system.sips.count\": \"2\", \"links.ucie.bw_gbs\": \"9\","
                                      " \"algorithms.tree.k\": \"1\"},"
                                      " \"shipped\": {\"system.sips.count\": \"4\","
                                      " \"links.ucie.bw_gbs\": null,"
                                      " \"algorithms.tree.k\": \"7\"}}"
                          : OF_COMMIT "}, \"shipped\": {}}");
    for (size_t i = 0; i < survey.row_count; i++) /* one size, so that the count is the axis */
        survey_put_number(&survey, survey.rows[i].axis, "bytes", AXIS_SIZE, 1024);
    finish(&survey);
    const int count = survey_axis_find(&survey, "system.sips.count");
    assert_string_equal(survey.axes[survey.x].name, "system.sips.count");
    assert_string_equal(survey_value_of(&survey, survey.points[1].axis, (size_t)count)->text, "4");
    assert_string_equal(survey_value_of(&survey, survey.rows[3].axis, (size_t)count)->text, "4");
    const int link = survey_axis_find(&survey, "links.ucie.bw_gbs");
    assert_null(survey_value_of(&survey, survey.rows[3].axis, (size_t)link));
    const int other = survey_axis_find(&survey, "algorithms.tree.k"); /* it ran ring */
    assert_null(survey_value_of(&survey, survey.rows[3].axis, (size_t)other));
    assert_true(words_of_survey(&survey, sentences) > 0);
    bool told = false;
    for (size_t i = 0; i < WORDS_MAX && sentences[i] != NULL; i++)
        told = told || strncmp(sentences[i], "At the largest sips.count, 4, ", 30) == 0;
    assert_true(told);
    survey_free(&survey);
}

/* The algorithm is a key that the result has changed, and a column of its rows. */
static void what_all_rows_share_is_said_once(void **state)
{
    (void)state;
    struct survey survey;
    const char *sentences[WORDS_MAX] = {NULL};
    survey_init(&survey);
    for (int i = 0; i < 2; i++)
        add_result(&survey, i == 0 ? "a" : "b", "ring", 1000 * (i + 1), 1,
                   ", \"provenance\": {\"changed\": {\"defaults.algorithm\": \"ring\"}}");
    finish(&survey);
    const size_t count = words_of_survey(&survey, sentences);
    const char *same = "";
    for (size_t i = 0; i < count; i++)
        if (strncmp(sentences[i], "The same in all rows: ", 22) == 0)
            same = sentences[i];
    const char *const first = strstr(same, "algorithm ring");
    assert_non_null(first);
    assert_null(strstr(first + 1, "algorithm ring"));
    survey_free(&survey);
}

/* Unknown for results of another commit. Then nothing is the largest. */
static void the_largest_is_told_of_whole_axes_alone(void **state)
{
    (void)state;
    struct survey survey;
    const char *sentences[WORDS_MAX] = {NULL};
    survey_init(&survey);
    add_result(&survey, "a", "ring", 1000, 1,
               OF_COMMIT "\"links.x.bw\": \"2\"}, \"shipped\": {\"links.x.bw\": \"4\"}}");
    add_result(&survey, "b", "ring", 1000, 1,
               ", \"provenance\": {\"commit\": \"c2\", \"changed\": {}, \"shipped\": {}}");
    for (size_t i = 0; i < survey.row_count; i++) {
        survey_put_number(&survey, survey.rows[i].axis, "bytes", AXIS_SIZE, 1024);
        survey_put_number(&survey, survey.rows[i].axis, "bytes_per_rank", AXIS_SIZE, 1024);
    }
    finish(&survey);
    const int link = survey_axis_find(&survey, "links.x.bw");
    assert_int_equal(survey.x, link);
    assert_null(survey_value_of(&survey, survey.rows[3].axis, (size_t)link));
    const size_t count = words_of_survey(&survey, sentences);
    for (size_t i = 0; i < count; i++)
        assert_null(strstr(sentences[i], "largest"));
    survey_free(&survey);
}

static void results_that_nothing_tells_apart_go_by_their_names(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "monday", "ring", 1000, 1, "");
    add_result(&survey, "tuesday", "ring", 1100, 1, "");
    finish(&survey);
    assert_int_equal(survey.series_count, 2);
    assert_string_equal(survey.series[0].name, "monday");
    survey_free(&survey);
}

static void a_result_of_another_schema_is_refused(void **state)
{
    (void)state;
    struct survey survey;
    struct cw_error error = {.exit_code = CW_OK};
    survey_init(&survey);
    json_t *const document = survey_keep(&survey, json_pack("{s:s}", "schema", "other/1"));
    struct survey_point *const point = survey_point_add(&survey, "x", "x.json");
    assert_int_equal(survey_result_fill(&survey, point, document, &error), CW_USAGE);
    assert_non_null(strstr(cw_error_text(&error), "cubewarp.run/1"));
    survey_free(&survey);
}

/* ---- studies, logs, histories ---------------------------------------------------------------- */

static void a_study_has_its_axes_its_failures_and_what_is_still_to_run(void **state)
{
    (void)state;
    char path[] = "/tmp/cubewarp-survey-XXXXXX";
    struct survey survey;
    struct cw_error error = {.exit_code = CW_OK};
    close(mkstemp(path));
    fill_database(
        path,
        "CREATE TABLE study (name, about, created, version, commit_id, points, shard, shards);"
        "INSERT INTO study VALUES ('links', 'why?', '2026', '0.1.0', 'abc', 3, 1, 1);"
        "CREATE TABLE point (id, ordinal, digest, label, command, state, tries, seconds, exit_code,"
        " message, result);"
        "CREATE TABLE axis (point, position, name, value);"
        "INSERT INTO point VALUES (1, 0, 'd', 'speed=25', 'cubewarp run', 'done', 1, 0.5, 0, '',"
        " '{\"schema\": \"cubewarp.run/1\", \"results\": [{\"bytes\": 4096, \"time_ns\": 500}]}');"
        "INSERT INTO point VALUES (2, 1, 'e', 'speed=50', 'cubewarp run', 'timeout', 1, 9.0, 124,"
        " 'too long', NULL);"
        "INSERT INTO axis VALUES (1, 0, 'speed', '25'), (2, 0, 'speed', '50');");
    survey_init(&survey);
    assert_int_equal(survey_study_read(&survey, path, &error), CW_OK);
    finish(&survey);
    assert_int_equal(survey.point_count, 2);
    assert_int_equal(survey.points[0].state, STATE_DONE);
    assert_int_equal(survey.points[1].state, STATE_TIMEOUT);
    assert_string_equal(survey.points[1].message, "too long");
    const int speed = survey_axis_find(&survey, "speed");
    assert_true(speed >= 0 && survey.axes[speed].is_numeric);
    assert_true(survey_value_of(&survey, survey.rows[0].axis, (size_t)speed)->number == 25);
    const char *sentences[WORDS_MAX];
    const size_t count = words_of_survey(&survey, sentences);
    bool told = false;
    for (size_t i = 0; i < count; i++)
        told = told || strcmp(sentences[i], "Of 3 planned points 1 have not run yet.") == 0;
    assert_true(told);
    survey_free(&survey);
    unlink(path);
}

static void a_history_has_the_median_of_each_run(void **state)
{
    (void)state;
    char path[] = "/tmp/cubewarp-survey-XXXXXX";
    struct survey survey;
    struct cw_error error = {.exit_code = CW_OK};
    close(mkstemp(path));
    fill_database(
        path, "CREATE TABLE run (id, started, commit_id, host);"
              "CREATE TABLE measurement (run, name, threads, round, events_per_s, disturbed);"
              "INSERT INTO run VALUES (1, '2026-01-01', 'aa', 'h'), (2, '2026-01-02', 'bb', 'h');"
              "INSERT INTO measurement VALUES (1, 'pod64', 1, 0, 30, 0), (1, 'pod64', 1, 1, 10, 0),"
              " (1, 'pod64', 1, 2, 20, 0), (2, 'pod64', 1, 0, 40, 1), (2, 'pod64', 1, 1, 50, 1),"
              " (1, 'pod64', 1, 3, 0, 0), (1, 'pod64', 1, 4, NULL, 0),"
              " (1, 'pod64', 1, 5, 9e999, 0), (2, 'idle', 1, 0, 0, 0);");
    survey_init(&survey);
    assert_int_equal(survey_history_read(&survey, path, &error), CW_OK);
    assert_int_equal(survey.case_count, 1);
    assert_int_equal(survey.cases[0].count, 2);
    assert_true(survey.cases[0].measures[0].median == 20);
    assert_true(survey.cases[0].measures[0].least == 10);
    assert_true(survey.cases[0].measures[1].median == 45);
    assert_true(survey.cases[0].measures[1].disturbed);
    assert_false(survey.cases[0].measures[0].disturbed);
    survey_free(&survey);
    unlink(path);
}

static void a_history_marks_runs_with_other_results(void **state)
{
    (void)state;
    char path[] = "/tmp/cubewarp-survey-XXXXXX";
    struct survey survey;
    struct cw_error error = {.exit_code = CW_OK};
    const char *sentences[WORDS_MAX];
    close(mkstemp(path));
    fill_database(
        path,
        "CREATE TABLE run (id, started, commit_id, host);"
        "CREATE TABLE measurement (run, name, threads, round, events, events_per_s, disturbed,"
        " results);"
        "INSERT INTO run VALUES (1, '2026-01-01', 'aa', 'h'), (2, '2026-01-02', 'bb', 'h'),"
        " (3, '2026-01-03', 'cc', 'h'), (4, '2026-01-04', 'dd', 'h');"
        "INSERT INTO measurement VALUES (1, 'pod64', 1, 0, 7, 30, 0, ''),"
        " (2, 'pod64', 1, 0, 7, 30, 0, 'x'), (3, 'pod64', 1, 0, 7, 30, 0, 'y'),"
        " (4, 'pod64', 1, 0, 7, 30, 0, 'y'), (1, 'pod4', 1, 0, 7, 30, 0, 'x'),"
        " (2, 'pod4', 1, 0, 8, 30, 0, 'x');");
    survey_init(&survey);
    assert_int_equal(survey_history_read(&survey, path, &error), CW_OK);
    finish(&survey);
    assert_int_equal(survey.case_count, 2);
    assert_true(survey.cases[0].measures[1].changed); /* pod4: other events */
    const struct survey_measure *const pod64 = survey.cases[1].measures;
    assert_false(pod64[1].changed); /* the earlier results were unknown */
    assert_true(pod64[2].changed);
    assert_false(pod64[3].changed);
    const size_t count = words_of_survey(&survey, sentences);
    bool told = false;
    for (size_t i = 0; i < count; i++)
        told =
            told || strstr(sentences[i], "pod64: its simulated results changed 1 time, last with "
                                         "commit cc (2026-01-03)") != NULL;
    assert_true(told);
    survey_free(&survey);
    unlink(path);
}

/* A truncated database is damaged, not a file of another kind. */
static void a_cut_database_is_told_as_damaged(void **state)
{
    (void)state;
    static const off_t sizes[] = {50, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char path[] = "/tmp/cubewarp-survey-XXXXXX";
        const char *const paths[] = {path};
        struct survey survey;
        struct cw_error error = {.exit_code = CW_OK};
        close(mkstemp(path));
        fill_database(path, "CREATE TABLE study (a); CREATE TABLE point (a); CREATE TABLE axis (a);"
                            "INSERT INTO point VALUES (randomblob(9000))");
        assert_int_equal(truncate(path, sizes[i]), 0);
        survey_init(&survey);
        assert_int_equal(survey_read(&survey, paths, 1, &error), CW_USAGE);
        assert_non_null(strstr(cw_error_text(&error), "the database is damaged"));
        assert_non_null(strstr(cw_error_text(&error), path));
        survey_free(&survey);
        unlink(path);
    }
}

static void refused_with(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void refused_with(const char *path, const char *format, ...)
{
    char expected[300];
    va_list args;
    va_start(args, format);
    vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    struct survey survey;
    struct cw_error error = {.exit_code = CW_OK};
    survey_init(&survey);
    assert_int_equal(survey_read(&survey, &path, 1, &error), CW_USAGE);
    assert_string_equal(cw_error_text(&error), expected);
    survey_free(&survey);
}

static void files_that_cannot_be_read_say_why(void **state)
{
    (void)state;
    char path[] = "/tmp/cubewarp-survey-XXXXXX";
    refused_with("/nonexistent", "cannot read /nonexistent: No such file or directory");
    refused_with("/", "cannot read /: Is a directory");
    close(mkstemp(path));
    fill_database(path, "CREATE TABLE point (a)");
    sqlite3 *writer = NULL;
    assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
    assert_int_equal(sqlite3_exec(writer, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    refused_with(path, "%s: database is locked", path);
    sqlite3_close(writer);
    unlink(path);
}

/* It was one when its first bytes were read. */
static void an_engine_log_that_is_gone_or_empty_is_refused(void **state)
{
    (void)state;
    struct survey survey;
    struct cw_error error = {.exit_code = CW_OK};
    survey_init(&survey);
    assert_int_equal(survey_log_read(&survey, "/nonexistent", &error), CW_USAGE);
    assert_string_equal(cw_error_text(&error),
                        "cannot read /nonexistent: No such file or directory");
    assert_int_equal(survey_log_read(&survey, "/proc/self/mem", &error), CW_USAGE);
    assert_string_equal(cw_error_text(&error), "cannot read /proc/self/mem: Input/output error");
    assert_int_equal(survey_log_read(&survey, "/dev/null", &error), CW_USAGE);
    assert_ptr_equal(
        strstr(cw_error_text(&error), "/dev/null:1: no engine log: there is no column "),
        cw_error_text(&error));
    survey_free(&survey);
}

/* ---- words and numbers ----------------------------------------------------------------------- */

static void numbers_are_short_and_grouped(void **state)
{
    (void)state;
    char text[SAY_BYTES];
    assert_string_equal(say_number(1.5863, text), "1.586");
    assert_string_equal(say_number(0.25, text), "0.25");
    assert_string_equal(say_number(105.55, text), "105.5");
    assert_string_equal(say_number(1234567, text), "1,234,567");
    assert_string_equal(say_number(-1234.5, text), "-1,234");
    assert_string_equal(say_number(0.0000123456, text), "0.00001235");
    assert_string_equal(say_number(2e12, text), "2,000,000,000,000");
    assert_string_equal(say_number(NAN, text), "–");
    assert_string_equal(say_time(0.0125, text), "12.5 ns");
    assert_string_equal(say_time(1730, text), "1.73 ms");
    assert_string_equal(say_size(262144, text), "256 KiB");
    assert_string_equal(say_size(1536, text), "1.5 KiB");
    assert_string_equal(say_size(1000, text), "1000 B");
    assert_string_equal(say_size(79691776, text), "76 MiB");
}

static void the_summary_names_the_fastest_and_by_how_much(void **state)
{
    (void)state;
    struct survey survey;
    const char *sentences[WORDS_MAX];
    bool told = false;
    survey_init(&survey);
    add_result(&survey, "a", "ring", 1000, 1, "");
    add_result(&survey, "b", "tree", 3000, 1, "");
    finish(&survey);
    const size_t count = words_of_survey(&survey, sentences);
    for (size_t i = 0; i < count; i++)
        told = told || strcmp(sentences[i], "At 2 KiB, ring is the fastest: it takes 2 µs. The "
                                            "slowest, tree, takes 3 times as long.") == 0;
    assert_true(told);
    size_t rows[2];
    assert_int_equal(words_slowest(&survey, rows, 2), 2);
    assert_int_equal(rows[0], 3); /* tree at 2 KiB: 100 / 6000 */
    assert_int_equal(rows[1], 2);
    survey_free(&survey);
}

/* ---- texts from files ------------------------------------------------------------------------ */

static const char hostile[] = "</script><script>alert(1)</script>\"'`&\x01\xff";

static void texts_from_files_are_never_markup(void **state)
{
    (void)state;
    char more[TEXT_BYTES / 2];
    struct survey survey;
    survey_init(&survey);
    snprintf(
        more, sizeof more, "%s",
        ", \"provenance\": {\"tags\": {\"</script><b>\": \"</script><script>alert(1)//\"},"
        " \"host\": \"<img src=x onerror=alert(1)>\"}, \"error\": \"</td><script>x</script>\"");
    add_result(&survey, hostile, "<script>alert(2)</script>", 1000, 1, more);
    add_result(&survey, "plain", "ring", 1000, 1, "");
    finish(&survey);
    char *const page = written(page_write, &survey);
    /* two scripts: the data, and the page's own */
    size_t scripts = 0, ends = 0;
    for (const char *at = page; (at = strstr(at, "<script")) != NULL; at++)
        scripts++;
    for (const char *at = page; (at = strstr(at, "</script")) != NULL; at++)
        ends++;
    assert_int_equal(scripts, 2);
    assert_int_equal(ends, 2);
    assert_null(strstr(page, "<img"));
    assert_null(strstr(page, "<b>al"));
    assert_null(strchr(page, '\x01'));
    assert_null(strchr(page, '\xff'));
    free(page);
    survey_free(&survey);
}

static void the_data_of_a_page_are_json(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, hostile, "ring", 1234.567, 1, "");
    finish(&survey);
    char *const page = written(page_write, &survey);
    const char *const begin = strstr(page, "id=\"cw-data\">") + strlen("id=\"cw-data\">");
    json_t *const data = json_loadb(begin, (size_t)(strstr(begin, "</script>") - begin), 0, NULL);
    assert_non_null(data);
    const json_t *const figure = json_object_get(json_object_get(data, "rows"), "figure");
    /* figure 0 is the time, in µs */
    assert_true(json_real_value(json_array_get(json_array_get(figure, 0), 1)) == 2.469134);
    assert_non_null(strstr(json_string_value(json_object_get(
                               json_array_get(json_object_get(data, "points"), 0), "label")),
                           "</script>"));
    json_decref(data);
    free(page);
    survey_free(&survey);
}

static void cells_of_csv_are_quoted_where_they_must(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a \"b\", c", "ring", 1000, 1, "");
    finish(&survey);
    char *const text = written(sheet_csv, &survey);
    assert_non_null(strstr(text, "\n\"a \"\"b\"\", c\",done,"));
    char *const markdown = written(sheet_markdown, &survey);
    assert_non_null(strstr(markdown, "| 2 KiB | 2 |"));
    free(text);
    free(markdown);
    survey_free(&survey);
}

/* ---- time and cost --------------------------------------------------------------------------- */

static void add_priced(struct survey *survey, const char *name, double cost, double time_us)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text,
             "{\"schema\": \"cubewarp.run/1\", \"bench\": \"ccl_allreduce\", \"algorithm\": \"%s\","
             " \"topology\": {\"sips\": 4, \"links\": [{\"kind\": \"sip_link\", \"built\": 8},"
             " {\"kind\": \"sio\", \"built\": 2}], \"cost\": %.6f}, \"results\": [{\"algorithm\":"
             " \"%s\", \"bytes\": 1024, \"time_ns\": %.3f, \"joules_per_byte\": 2.5e-12,"
             " \"time_cost_us\": %.6f}]}",
             name, cost, name, 1000 * time_us, cost * time_us);
    add_document(survey, name, text);
}

static size_t times_in(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* d is beaten by c, whose cost is the same but for rounding; e by c, too; f by b. */
static void the_frontier_has_what_no_other_beats(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    assert_false(page_has_pareto(&survey));
    add_priced(&survey, "a<1>", 50, 20);
    add_priced(&survey, "tree", 100, 10);
    add_priced(&survey, "c", 200.0001, 5);
    add_priced(&survey, "d", 200, 7);
    add_priced(&survey, "e", 300, 5);
    add_priced(&survey, "f", 110, 10.5);
    finish(&survey);
    assert_true(page_has_pareto(&survey));
    assert_true(survey.rows[0].figure[FIGURE_LINKS] == 10);
    assert_true(survey.rows[0].figure[FIGURE_JOULES_PER_BYTE] == 2.5);
    char *const text = written(pareto_svg, &survey);
    assert_int_equal(times_in(text, "<circle class=\"best\""), 3);
    assert_int_equal(times_in(text, "<circle class=\"dot\""), 3);
    assert_int_equal(times_in(text, "<text class=\"best\""), 3);
    assert_non_null(strstr(text, "<title>a&#60;1&#62;: cost 50, 20 µs</title>"));
    assert_non_null(strstr(text, ">tree</text>"));
    free(text);
    char *const page = written(page_write, &survey);
    assert_non_null(strstr(page, "<section id=\"cost\""));
    free(page);
    survey_free(&survey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_the_axis_of_curves_and_algorithms_name_the_series),
        cmocka_unit_test(figures_that_no_run_gives_are_unknown),
        cmocka_unit_test(phases_are_shown_by_their_means),
        cmocka_unit_test(sizes_per_rank_are_the_axis_where_shards_differ),
        cmocka_unit_test(a_changed_key_names_the_series_and_its_absence_is_the_shipped_value),
        cmocka_unit_test(the_shipped_value_is_known_where_one_result_names_it),
        cmocka_unit_test(what_all_rows_share_is_said_once),
        cmocka_unit_test(the_largest_is_told_of_whole_axes_alone),
        cmocka_unit_test(results_that_nothing_tells_apart_go_by_their_names),
        cmocka_unit_test(a_result_of_another_schema_is_refused),
        cmocka_unit_test(a_study_has_its_axes_its_failures_and_what_is_still_to_run),
        cmocka_unit_test(a_history_has_the_median_of_each_run),
        cmocka_unit_test(a_history_marks_runs_with_other_results),
        cmocka_unit_test(a_cut_database_is_told_as_damaged),
        cmocka_unit_test(files_that_cannot_be_read_say_why),
        cmocka_unit_test(an_engine_log_that_is_gone_or_empty_is_refused),
        cmocka_unit_test(numbers_are_short_and_grouped),
        cmocka_unit_test(the_summary_names_the_fastest_and_by_how_much),
        cmocka_unit_test(texts_from_files_are_never_markup),
        cmocka_unit_test(the_data_of_a_page_are_json),
        cmocka_unit_test(cells_of_csv_are_quoted_where_they_must),
        cmocka_unit_test(the_frontier_has_what_no_other_beats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
