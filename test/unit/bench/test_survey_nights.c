/*
 * test_survey_nights.c: the page of a history: what is slower, which goals are missed and what was
 * disturbed comes first; one run has verdicts and no empty chart.
 */
#include "test/support/test_perf_support.h"
#include "test/support/test_survey_support.h"

#include "bench/report/page.h"
#include "bench/survey/survey_log.h"
#include "bench/survey/words.h"
#include "perf/perf_history.h"

enum { NIGHTS = 12, SLOW_SINCE = 8 };

/* A night: one case that loses a tenth (medians of 40.1 and 0.9 x 40.15: 9.9 %), one that stays,
 * one whose ratio misses its goal of 0.72, one whose rounds are disturbed. */
static void add_night(const char *path, size_t night)
{
    struct perf_run run = made_up_run();
    struct cw_error error;
    int64_t id;
    const double wobble = 0.1 * (double)(night % 3); /* no two nights in a row are alike */
    const double steady[] = {40 + wobble, 40 + wobble, 40 + wobble, 40 + wobble, 40 + wobble};
    double losing[5], half[5];
    for (size_t i = 0; i < 5; i++) {
        losing[i] = steady[i] * (night < SLOW_SINCE ? 1 : 0.9);
        half[i] = steady[i] / 2;
    }
    add_case(&run, "a-steady/sequential/1", 1, steady);
    add_case(&run, "losing/sequential/1", 1, losing);
    add_case(&run, "phold-25/sequential/1", 1, steady);
    add_case(&run, "phold-25/optimistic/1", 1, half); /* goal: 0.72 of the sequential case */
    struct perf_case_run *const noisy = add_case(&run, "noisy/sequential/1", 1, steady);
    for (size_t i = 0; i < 3; i++)
        noisy->samples[i].disturbed = true;
    assert_int_equal(perf_history_add(path, &run, &id, &error), CW_OK);
    perf_run_free(&run);
}

/* Reads a history of so many nights. */
static void read_nights(struct survey *survey, size_t nights)
{
    char path[64];
    struct cw_error error = {.exit_code = CW_OK};
    temporary(path, "perf.sqlite");
    for (size_t i = 0; i < nights; i++)
        add_night(path, i);
    survey_init(survey);
    assert_int_equal(survey_history_read(survey, path, &error), CW_OK);
    finish(survey);
    remove_temporary(path);
}

static const struct survey_verdict *verdict_of(const struct survey *survey, const char *name)
{
    for (size_t i = 0; i < survey->verdict_count; i++)
        if (strcmp(survey->verdicts[i].name, name) == 0)
            return &survey->verdicts[i];
    fail_msg("no verdict of %s", name);
    return NULL;
}

static void the_worst_verdicts_come_first(void **state)
{
    (void)state;
    struct survey survey;
    const char *sentences[WORDS_MAX];
    read_nights(&survey, NIGHTS);
    assert_int_equal(survey.verdict_count, 5);
    assert_string_equal(survey.verdicts[0].name, "losing/sequential/1");
    assert_int_equal(survey.verdicts[0].kind, VERDICT_SLOWER);
    assert_non_null(strstr(survey.verdicts[0].why, "SLOWER by 9.9 %"));
    assert_non_null(strstr(survey.verdicts[0].why, "since run 9,"));
    assert_string_equal(survey.verdicts[1].name, "phold-25/optimistic/1");
    assert_int_equal(survey.verdicts[1].kind, VERDICT_MISSED);
    assert_non_null(strstr(survey.verdicts[1].goals, "goal 0.72 x: 0.50 NOT MET"));
    assert_string_equal(survey.verdicts[2].name, "noisy/sequential/1");
    assert_int_equal(survey.verdicts[2].kind, VERDICT_DISTURBED);
    assert_int_equal(survey.verdicts[2].disturbed, 3);
    assert_int_equal(verdict_of(&survey, "a-steady/sequential/1")->kind, VERDICT_STEADY);
    assert_true(words_of_survey(&survey, sentences) > 0);
    assert_non_null(strstr(sentences[0], "set quick on here in the newest of 12 runs"));
    assert_non_null(strstr(sentences[0], "1 slower, 1 goal not met, 1 disturbed, 2 steady."));
    char *const page = written(page_write, &survey);
    const char *const verdicts = strstr(page, "<section id=\"verdicts\"");
    assert_non_null(verdicts);
    assert_true(verdicts < strstr(page, "<section id=\"history\""));
    assert_null(strstr(page, "its curve begins with the second"));
    free(page);
    survey_free(&survey);
}

static void a_history_of_one_run_is_no_empty_chart(void **state)
{
    (void)state;
    struct survey survey;
    read_nights(&survey, 1);
    assert_int_equal(survey.verdict_count, 5);
    assert_int_equal(survey.verdicts[0].kind, VERDICT_MISSED); /* needs no other run */
    assert_int_equal(verdict_of(&survey, "losing/sequential/1")->kind, VERDICT_NEW);
    char *const page = written(page_write, &survey);
    assert_non_null(strstr(page, "Each case has one run: its curve begins with the second."));
    free(page);
    survey_free(&survey);
}

/* A history that cannot be judged is still drawn, and says why. */
static void a_history_without_verdicts_says_why(void **state)
{
    (void)state;
    char path[64];
    struct survey survey;
    struct cw_error error = {.exit_code = CW_OK};
    const char *sentences[WORDS_MAX];
    temporary(path, "old.sqlite");
    fill_database(path, "CREATE TABLE run (id, started, commit_id, host);"
                        "CREATE TABLE measurement (run, name, threads, round, events_per_s,"
                        " disturbed);"
                        "INSERT INTO run VALUES (1, '2026-01-01', 'aa', 'h');"
                        "INSERT INTO measurement VALUES (1, 'pod64', 1, 0, 30, 0);");
    survey_init(&survey);
    assert_int_equal(survey_history_read(&survey, path, &error), CW_OK);
    finish(&survey);
    assert_int_equal(survey.case_count, 1);
    assert_int_equal(survey.verdict_count, 0);
    assert_true(words_of_survey(&survey, sentences) > 0);
    assert_non_null(strstr(sentences[0], "There are no verdicts: "));
    remove_temporary(path);
    survey_free(&survey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_verdicts_come_first),
        cmocka_unit_test(a_history_of_one_run_is_no_empty_chart),
        cmocka_unit_test(a_history_without_verdicts_says_why),
    };
    return cmocka_run_group_tests_name("survey_nights", tests, NULL, NULL);
}
