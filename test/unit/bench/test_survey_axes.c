/*
 * test_survey_axes.c: which axes a report has, with which values, and what its summary says about
 * them: sizes of studies, values without rows, parts of studies, axes on which rows have no value.
 */
#include "test/support/test_survey_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/report/page.h"
#include "bench/report/plots.h"
#include "bench/survey/survey_study.h"
#include "bench/survey/words.h"

enum { TEXT_BYTES = 4096 };

#define ROW(collective, bytes, time_ns, more)                                                      \
    "{\"collective\": \"" collective "\", \"dtype\": \"f16\", \"bytes\": " bytes                   \
    ", \"time_ns\": " time_ns more "}"
#define ROWS(a, b) a ", " b

/* A result of one algorithm with the rows of a list. */
static void add_result(struct survey *survey, const char *label, const char *algorithm,
                       const char *provenance, const char *rows)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text,
             "{\"schema\": \"cubewarp.run/1\", \"algorithm\": \"%s\", \"provenance\": {%s},"
             " \"results\": [%s]}",
             algorithm, provenance, rows);
    add_document(survey, label, text);
}

/* Reads a study whose tables are filled by `statements`, in addition to its head. */
static void read_study(struct survey *survey, const char *head, const char *statements)
{
    char path[] = "/tmp/cubewarp-survey-XXXXXX";
    struct cw_error error = {.exit_code = CW_OK};
    close(mkstemp(path));
    fill_database(path, "CREATE TABLE study (name, about, created, version, commit_id, points, "
                        "shard, shards);"
                        "CREATE TABLE point (id, ordinal, digest, label, command, state, tries, "
                        "seconds, exit_code, message, result);"
                        "CREATE TABLE axis (point, position, name, value);");
    fill_database(path, head);
    fill_database(path, statements);
    assert_int_equal(survey_study_read(survey, path, &error), CW_OK);
    unlink(path);
}

#define DONE(id, label, row)                                                                       \
    "INSERT INTO point VALUES (" id ", " id " - 1, " id ", '" label "', '', 'done', 1, 0, 0, '', " \
    "'{\"schema\": \"cubewarp.run/1\", \"results\": [" row "]}');"

/* ---- studies --------------------------------------------------------------------------------- */

static void sizes_of_a_study_are_those_of_its_rows(void **state)
{
    (void)state;
    static const char *const names[] = {"bytes", "bytes-per-rank", "n-elem"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char axes[TEXT_BYTES];
        struct survey survey;
        survey_init(&survey);
        snprintf(
            axes, sizeof axes,
            DONE("1", "a", ROW("c", "1024", "10", "")) DONE("2", "b", ROW("c", "4096", "20", ""))
                DONE("3", "c",
                     ROW("c", "65536", "40",
                         "")) "INSERT INTO axis VALUES (1, 0, '%s', '1KiB'), (2, 0, '%s', '4KiB'),"
                              " (3, 0, '%s', '64KiB');",
            names[i], names[i], names[i]);
        read_study(&survey, "INSERT INTO study VALUES ('s', '', '', '', '', 3, 1, 1);", axes);
        finish(&survey);
        assert_true(survey.x >= 0);
        const struct survey_axis *const x = &survey.axes[survey.x];
        assert_string_equal(x->name, "bytes");
        assert_true(x->is_bytes);
        assert_int_equal(x->count, 3);
        assert_int_equal(survey.series_count, 1);
        assert_int_equal(survey.series[0].count, 3);
        survey_free(&survey);
    }
}

static void values_of_points_without_rows_stand_on_no_axis(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    read_study(&survey, "INSERT INTO study VALUES ('s', '', '', '', '', 2, 1, 1);",
               DONE("2", "b",
                    ROW("c", "1024", "10",
                        "")) "INSERT INTO point VALUES (1, 0, 1, 'a', '', 'refused', 1, 0, 2, 'no "
                             "torus', NULL);"
                             "INSERT INTO axis VALUES (1, 0, 'sips', '3'), (2, 0, 'sips', '4'),"
                             " (1, 1, 'dtype', 'half'), (2, 1, 'dtype', 'half');");
    finish(&survey);
    const int sips = survey_axis_find(&survey, "sips"), dtype = survey_axis_find(&survey, "dtype");
    assert_int_equal(survey.axes[sips].count, 1);
    assert_string_equal(survey.axes[sips].values[0].text, "4");
    assert_int_equal(survey.points[0].axis[sips], 0);
    assert_int_equal(survey.points[1].axis[sips], 1);
    assert_int_equal(survey.axes[dtype].count, 1);
    assert_string_equal(survey.axes[dtype].values[0].text, "f16");
    assert_int_equal(survey.rows[0].axis[dtype], 1);
    survey_free(&survey);
}

static void parts_of_a_study_count_their_own_points(void **state)
{
    (void)state;
    static const char *const heads[] = {"INSERT INTO study VALUES ('s', '', '', '', '', 5, 1, 2);",
                                        "INSERT INTO study VALUES ('s', '', '', '', '', 5, 2, 2);"};
    struct survey survey;
    survey_init(&survey);
    read_study(&survey, heads[0], DONE("1", "a", ROW("c", "1024", "10", "")));
    finish(&survey);
    assert_string_equal(words_title(&survey), "Study s");
    assert_true(says(&survey, "Of 3 planned points 2 have not run yet."));
    assert_true(says(&survey, "These are 1 of the study's 2 parts."));
    survey_free(&survey);
    read_study(&survey, heads[0], DONE("1", "a", ROW("c", "1024", "10", "")));
    read_study(&survey, heads[1],
               DONE("2", "b", ROW("c", "1024", "20", ""))
                   DONE("4", "d", ROW("c", "2048", "20", "")));
    finish(&survey);
    assert_string_equal(words_title(&survey), "Study s");
    assert_true(says(&survey, "Of 5 planned points 2 have not run yet."));
    assert_false(says(&survey, "parts."));
    survey_free(&survey);
}

/* ---- rows that lack an axis ------------------------------------------------------------------ */

#define SHARDED(bytes_per_rank) ", \"bytes_per_rank\": " bytes_per_rank ", \"shards_per_rank\": 16"

/* A product beside an all-reduce has no bytes per rank. */
static void sizes_per_rank_that_rows_lack_are_not_the_axis(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a", "ring", "",
               ROWS(ROWS(ROW("all_reduce", "1024", "10", SHARDED("16384")),
                         ROW("all_reduce", "2048", "20", SHARDED("32768"))),
                    ROW("gemm", "4096", "30", "")));
    finish(&survey);
    assert_string_equal(survey.axes[survey.x].name, "bytes");
    survey_free(&survey);
}

/* gnuplot finds a series by the number of its block of data. */
static void a_series_without_a_place_on_x_takes_no_other_s_curve(void **state)
{
    (void)state;
    char folder[] = "/tmp/cubewarp-plots-XXXXXX", path[64], text[TEXT_BYTES] = "";
    struct survey survey;
    struct cw_error error = {.exit_code = CW_OK};
    assert_non_null(mkdtemp(folder));
    survey_init(&survey);
    add_result(&survey, "a", "tree", "", ROW("c", "1024", "70", ""));
    add_result(&survey, "b", "ring", "\"tags\": {\"lanes\": \"2\"}", ROW("c", "1024", "10", ""));
    add_result(&survey, "d", "ring", "\"tags\": {\"lanes\": \"4\"}", ROW("c", "1024", "10", ""));
    finish(&survey);
    assert_string_equal(survey.axes[survey.x].name, "lanes");
    assert_string_equal(survey.series[0].name, "tree");
    assert_int_equal(plots_write(folder, &survey, &error), CW_OK);
    snprintf(path, sizeof path, "%s/time.gp", folder);
    FILE *const file = fopen(path, "re");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_null(strstr(text, "tree"));
    assert_non_null(
        strstr(text, "'time.dat' index 0 using 1:2 with linespoints linestyle 2 title 'ring'"));
    assert_null(strstr(text, "index 1"));
    snprintf(text, sizeof text, "rm -r %s", folder);
    assert_int_equal(system(text), 0);
    survey_free(&survey);
}

/* ---- what the summary says ------------------------------------------------------------------- */

#define SPEED(value) "\"changed\": {\"links.x.bw\": \"" value "\"}"

/* At 4 there is only one series, so the comparison is made at 2. */
static void an_x_that_two_series_share_is_not_called_the_largest(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a", "ring", SPEED("1"), ROW("c", "1024", "10", ""));
    add_result(&survey, "b", "ring", SPEED("2"), ROW("c", "1024", "10", ""));
    add_result(&survey, "d", "ring", SPEED("4"), ROW("c", "1024", "10", ""));
    add_result(&survey, "e", "tree", SPEED("2"), ROW("c", "1024", "20", ""));
    finish(&survey);
    assert_true(says(&survey, "At x.bw 2, ring is the fastest"));
    assert_false(says(&survey, "largest"));
    survey_free(&survey);
}

static void machines_that_change_with_the_algorithm_are_told(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a", "ring", "\"changed\": {\"system.sips.count\": \"16\"}",
               ROWS(ROW("c", "1024", "10", ""), ROW("c", "2048", "10", "")));
    add_result(&survey, "b", "torus",
               "\"changed\": {\"system.sips.count\": \"64\", \"defaults.n_slots\": \"8\"}",
               ROWS(ROW("c", "1024", "10", ""), ROW("c", "2048", "10", "")));
    finish(&survey);
    assert_true(says(&survey, "Varied: algorithm (ring, torus); bytes per shard (1 KiB, 2 KiB)."));
    assert_true(
        says(&survey, "Differ along with these: sips.count (16, 64); n_slots (8, or as shipped)."));
    survey_free(&survey);
}

static void a_row_of_wrong_data_is_not_the_fastest(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a", "wrong", "", ROW("c", "1024", "10", ", \"wrong\": 3"));
    add_result(&survey, "b", "ring", "", ROW("c", "1024", "20", ", \"wrong\": 0"));
    add_result(&survey, "d", "tree", "", ROW("c", "1024", "30", ", \"wrong\": 0"));
    finish(&survey);
    assert_true(says(&survey, "1 KiB, ring is the fastest"));
    survey_free(&survey);
}

static void rows_without_a_bound_are_not_the_furthest_from_it(void **state)
{
    (void)state;
    struct survey survey;
    size_t rows[4];
    survey_init(&survey);
    add_result(&survey, "a", "ring", "",
               ROWS(ROWS(ROW("c", "1024", "100", ", \"bound_ns\": 90"),
                         ROW("c", "2048", "100", ", \"bound_ns\": 20")),
                    ROW("d", "1024", "9000", "")));
    finish(&survey);
    assert_int_equal(words_slowest(&survey, rows, 4), 2);
    assert_int_equal(rows[0], 1);
    assert_int_equal(rows[1], 0);
    survey_free(&survey);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void values_of_axes_are_exact_in_a_page(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_result(&survey, "a", "ring", "",
               ROWS(ROW("c", "17179869184", "10", ""), ROW("c", "34359738368", "20", "")));
    finish(&survey);
    char *const text = written(page_write, &survey);
    assert_non_null(strstr(text, "\"numbers\":[17179869184,34359738368]"));
    free(text);
    survey_free(&survey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_a_study_are_those_of_its_rows),
        cmocka_unit_test(values_of_points_without_rows_stand_on_no_axis),
        cmocka_unit_test(parts_of_a_study_count_their_own_points),
        cmocka_unit_test(sizes_per_rank_that_rows_lack_are_not_the_axis),
        cmocka_unit_test(a_series_without_a_place_on_x_takes_no_other_s_curve),
        cmocka_unit_test(an_x_that_two_series_share_is_not_called_the_largest),
        cmocka_unit_test(machines_that_change_with_the_algorithm_are_told),
        cmocka_unit_test(a_row_of_wrong_data_is_not_the_fastest),
        cmocka_unit_test(rows_without_a_bound_are_not_the_furthest_from_it),
        cmocka_unit_test(values_of_axes_are_exact_in_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
