/*
 * test_perf_results.c: a run of the harness written and read back, as JSON and in the history; two
 * runs compared; the table and its goals; the tables of cases.
 */
#include "test/support/test_perf_support.h"

#include <jansson.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "bench/survey/survey_read.h"
#include "perf/perf_compare.h"
#include "perf/perf_history.h"
#include "perf/perf_json.h"
#include "perf/perf_table.h"
#include "perf/session.h"

static const double calm[] = {100, 101, 99, 100, 100};
static const double slow[] = {80, 81, 79, 80, 80};

static void assert_same_calibration(const struct perf_calibration *a,
                                    const struct perf_calibration *b)
{
    assert_true(a->loop_ns == b->loop_ns && a->gain == b->gain && a->line_ns == b->line_ns);
}

static void assert_same_sample(const struct perf_sample *a, const struct perf_sample *b)
{
    assert_int_equal(a->round, b->round);
    assert_int_equal(a->repeats, b->repeats);
    assert_int_equal(a->disturbed, b->disturbed);
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->rss_bytes, b->rss_bytes);
    assert_true(a->events_per_s == b->events_per_s && a->efficiency == b->efficiency);
    assert_true(a->run_s == b->run_s && a->setup_s == b->setup_s && a->cpu_s == b->cpu_s);
    assert_same_calibration(&a->before, &b->before);
    assert_same_calibration(&a->after, &b->after);
}

static void assert_same_run(const struct perf_run *a, const struct perf_run *b)
{
    assert_string_equal(a->machine.cpu, b->machine.cpu);
    assert_string_equal(a->machine.host, b->machine.host);
    assert_string_equal(a->machine.kernel, b->machine.kernel);
    assert_int_equal(a->machine.cores, b->machine.cores);
    assert_string_equal(a->commit, b->commit);
    assert_string_equal(a->version, b->version);
    assert_string_equal(a->set, b->set);
    assert_string_equal(a->started, b->started);
    assert_int_equal(a->case_count, b->case_count);
    for (size_t i = 0; i < a->case_count; i++) {
        assert_string_equal(a->cases[i].name, b->cases[i].name);
        assert_string_equal(a->cases[i].command, b->cases[i].command);
        assert_int_equal(a->cases[i].threads, b->cases[i].threads);
        assert_int_equal(a->cases[i].sample_count, b->cases[i].sample_count);
        for (size_t k = 0; k < a->cases[i].sample_count; k++)
            assert_same_sample(&a->cases[i].samples[k], &b->cases[i].samples[k]);
    }
}

static struct perf_run two_cases(void)
{
    struct perf_run run = made_up_run();
    add_case(&run, "m/sequential/1", 1, calm);
    struct perf_case_run *const measured = add_case(&run, "m/adaptive/2", 2, slow);
    add_round(measured, 62.5, &far_line, true);
    return run;
}

static void a_json_file_gives_back_the_run_that_was_written(void **state)
{
    (void)state;
    char path[64];
    struct cw_error error;
    struct perf_run run = two_cases(), read;
    temporary(path, "run.json");
    FILE *const file = fopen(path, "w");
    assert_int_equal(perf_json_write(file, &run, &error), CW_OK);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(perf_json_read(path, &read, &error), CW_OK);
    assert_same_run(&run, &read);
    perf_run_free(&read);
    perf_run_free(&run);
    remove_temporary(path);
}

static void json_has_the_form_of_google_benchmark(void **state)
{
    (void)state;
    struct cw_error error;
    struct perf_run run = two_cases();
    char *text;
    size_t bytes;
    FILE *const file = open_memstream(&text, &bytes);
    assert_int_equal(perf_json_write(file, &run, &error), CW_OK);
    assert_int_equal(fclose(file), 0);
    json_t *const root = json_loads(text, 0, NULL);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(root, "context"), "num_cpus")), 2);
    const json_t *const list = json_object_get(root, "benchmarks");
    assert_int_equal(json_array_size(list), 5 + 2 + 6 + 2);
    const json_t *entry = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(entry, "name")), "m/sequential/1");
    assert_string_equal(json_string_value(json_object_get(entry, "run_type")), "iteration");
    assert_string_equal(json_string_value(json_object_get(entry, "time_unit")), "ms");
    assert_true(json_number_value(json_object_get(entry, "real_time")) == 250.0);
    assert_true(json_number_value(json_object_get(entry, "cpu_time")) == 500.0);
    assert_true(json_number_value(json_object_get(entry, "items_per_second")) == 100e6);
    assert_int_equal(json_integer_value(json_object_get(entry, "repetitions")), 5);
    entry = json_array_get(list, 5);
    assert_string_equal(json_string_value(json_object_get(entry, "name")), "m/sequential/1_median");
    assert_string_equal(json_string_value(json_object_get(entry, "run_name")), "m/sequential/1");
    assert_string_equal(json_string_value(json_object_get(entry, "run_type")), "aggregate");
    assert_string_equal(json_string_value(json_object_get(entry, "aggregate_name")), "median");
    assert_true(json_number_value(json_object_get(entry, "items_per_second")) == 100e6);
    entry = json_array_get(list, 6);
    assert_string_equal(json_string_value(json_object_get(entry, "aggregate_name")), "stddev");
    json_decref(root);
    free(text);
    perf_run_free(&run);
}

static void refuses(const char *text, const char *message)
{
    char path[64], expected[256];
    struct cw_error error;
    struct perf_run run;
    temporary(path, "bad.json");
    FILE *const file = fopen(path, "w");
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(perf_json_read(path, &run, &error), CW_USAGE);
    snprintf(expected, sizeof expected, "%s:%s", path, message);
    assert_string_equal(error.text, expected);
    perf_run_free(&run);
    remove_temporary(path);
}

static void a_file_that_is_no_result_is_refused_with_its_place(void **state)
{
    (void)state;
    refuses("{\"benchmarks\": [], \"context\": {}}",
            "1:1: not a result of 'cubewarp perf run --json'");
    refuses("[1]", "1:1: not a result of 'cubewarp perf run --json'");
    refuses("{\n  \"a\" 1\n}", "2:7: ':' expected near '1'");
}

static void names_are_plain(void **state)
{
    (void)state;
    char path[64], odd[] = "a<b>&\"|,\n\x7f\xff",
                   fine[] = "gr\xc3\xb6\xc3\x9f"
                            "e/adaptive/2";
    struct cw_error error;
    struct perf_run run;
    perf_name_clean(odd);
    assert_string_equal(odd, "a_b________");
    perf_name_clean(fine);
    assert_string_equal(fine, "gr\xc3\xb6\xc3\x9f"
                              "e/adaptive/2");
    temporary(path, "odd.json");
    FILE *const file = fopen(path, "w");
    fputs("{\"context\": {\"date\": \"a\\nb\", \"cubewarp\": {\"commit\": \"<a>,\\u001b[31m\", "
          "\"set\": \"q\\u001b,\", \"cpu\": \"A & B\"}}, \"benchmarks\": [",
          file);
    for (int i = 0; i < 3; i++)
        fprintf(file,
                "%s{\"run_name\": \"<a>\\n\", \"run_type\": \"iteration\", "
                "\"repetition_index\": %d, \"items_per_second\": 1e6}",
                i == 0 ? "" : ",", i);
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(perf_json_read(path, &run, &error), CW_OK);
    assert_int_equal(run.case_count, 1);
    assert_string_equal(run.cases[0].name, "_a__");
    assert_int_equal(run.cases[0].sample_count, 3);
    assert_string_equal(run.started, "a_b");
    assert_string_equal(run.commit, "_a___[31m");
    assert_string_equal(run.set, "q_,");
    assert_string_equal(run.machine.cpu, "A & B");
    /* The history gives back the same, whatever a file has. */
    char history[64];
    int64_t id;
    struct perf_run read;
    snprintf(run.commit, sizeof run.commit, "<a>,\x1b");
    snprintf(run.set, sizeof run.set, "q\x1b,");
    snprintf(run.cases[0].samples[0].results, PERF_RESULTS_BYTES, "1,\n");
    temporary(history, "odd.sqlite");
    assert_int_equal(perf_history_add(history, &run, &id, &error), CW_OK);
    assert_int_equal(perf_history_read(history, id, &read, &error), CW_OK);
    assert_string_equal(read.commit, "_a___");
    assert_string_equal(read.set, "q_,");
    assert_string_equal(read.machine.cpu, "A & B");
    assert_string_equal(read.cases[0].samples[0].results, "1__");
    perf_run_free(&read);
    remove_temporary(history);
    perf_run_free(&run);
    remove_temporary(path);
}

static void the_history_gives_back_each_run_and_knows_the_last_of_a_machine(void **state)
{
    (void)state;
    char path[64];
    struct cw_error error;
    struct perf_run run = two_cases(), other = two_cases(), read;
    int64_t first = 0, second = 0, third = 0, last = 0;
    temporary(path, "history.sqlite");
    snprintf(other.machine.cpu, sizeof other.machine.cpu, "another one");
    assert_int_equal(perf_history_add(path, &run, &first, &error), CW_OK);
    snprintf(run.set, sizeof run.set, "nightly");
    assert_int_equal(perf_history_add(path, &run, &second, &error), CW_OK);
    assert_int_equal(perf_history_add(path, &other, &third, &error), CW_OK);
    assert_true(first < second && second < third);
    assert_int_equal(perf_history_read(path, second, &read, &error), CW_OK);
    assert_same_run(&run, &read);
    perf_run_free(&read);
    assert_int_equal(perf_history_last(path, &run.machine, NULL, 0, &last, &error), CW_OK);
    assert_int_equal(last, second);
    assert_int_equal(perf_history_last(path, &run.machine, NULL, second, &last, &error), CW_OK);
    assert_int_equal(last, first);
    assert_int_equal(perf_history_last(path, &run.machine, "quick", 0, &last, &error), CW_OK);
    assert_int_equal(last, first);
    assert_int_equal(perf_history_last(path, &run.machine, "nightly", second, &last, &error),
                     CW_OK);
    assert_int_equal(last, 0);
    assert_int_equal(perf_history_read(path, 99, &read, &error), CW_USAGE);
    perf_run_free(&run);
    perf_run_free(&other);
    remove_temporary(path);
}

static void a_file_that_is_no_history_is_refused_and_left_alone(void **state)
{
    (void)state;
    char path[64], text[32] = "";
    struct cw_error error;
    struct perf_run run = two_cases();
    int64_t id;
    temporary(path, "notes.txt");
    FILE *file = fopen(path, "w");
    fputs("notes, and not a few", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(perf_history_add(path, &run, &id, &error), CW_USAGE);
    file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "notes, and not a few");
    perf_run_free(&run);
    remove_temporary(path);
}

/* A study's database has the user_version that the first histories had. */
static void a_database_of_something_else_is_no_history(void **state)
{
    (void)state;
    static const char *const contents[] = {
        "CREATE TABLE study (name TEXT); PRAGMA user_version = 1", "CREATE TABLE notes (n)"};
    struct perf_run run = two_cases();
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        char path[64];
        struct cw_error error;
        struct perf_run read;
        sqlite3 *db = NULL;
        int64_t id;
        temporary(path, "other.sqlite");
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, contents[i], NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        assert_int_equal(perf_history_try(path, &error), CW_USAGE);
        assert_non_null(strstr(error.text, "a database of something else; expected"));
        assert_int_equal(perf_history_add(path, &run, &id, &error), CW_USAGE);
        assert_int_equal(perf_history_read(path, 1, &read, &error), CW_USAGE);
        perf_run_free(&read);
        remove_temporary(path);
    }
    perf_run_free(&run);
}

/* A writer has the file for itself when it commits; a reader waits for it. */
static void a_reader_waits_for_a_writer(void **state)
{
    (void)state;
    char path[64], told;
    struct cw_error error;
    struct perf_run run = two_cases();
    struct survey survey;
    sqlite3 *db = NULL;
    int64_t id;
    int ends[2], status;
    temporary(path, "busy.sqlite");
    assert_int_equal(perf_history_add(path, &run, &id, &error), CW_OK);
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        if (sqlite3_open(path, &db) != SQLITE_OK ||
            sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK ||
            write(ends[1], "!", 1) != 1)
            _exit(1);
        usleep(200000);
        _exit(0);
    }
    assert_int_equal(read(ends[0], &told, 1), 1);
    survey_init(&survey);
    const int code = survey_read(&survey, (const char *const[]){path}, 1, &error);
    survey_free(&survey);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
    if (code != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    close(ends[0]);
    close(ends[1]);
    perf_run_free(&run);
    remove_temporary(path);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    size_t count;
    FILE *const in = fopen(from, "rb"), *const out = fopen(to, "wb");
    assert_true(in != NULL && out != NULL);
    while ((count = fread(bytes, 1, sizeof bytes, in)) > 0)
        assert_int_equal(fwrite(bytes, 1, count, out), count);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* A writer that is killed leaves a journal of what it had changed already. A reader takes that
 * back: the history is as it was before. */
static void half_a_transaction_is_taken_back(void **state)
{
    (void)state;
    char path[64], journal[80], killed[64], killed_journal[80];
    struct cw_error error;
    struct perf_run run = two_cases(), read;
    sqlite3 *db = NULL;
    int64_t id;
    temporary(path, "whole.sqlite");
    snprintf(journal, sizeof journal, "%s-journal", path);
    temporary(killed, "killed.sqlite");
    snprintf(killed_journal, sizeof killed_journal, "%s-journal", killed);
    assert_int_equal(perf_history_add(path, &run, &id, &error), CW_OK);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    /* so little memory that pages are written before the end */
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;"
                                  "UPDATE run SET host = 'another'; CREATE TABLE filler (bytes);"
                                  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                  " WHERE i < 200)"
                                  "INSERT INTO filler SELECT randomblob(3000) FROM n;",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    copy_file(path, killed);
    copy_file(journal, killed_journal);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    if (perf_history_read(killed, id, &read, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    assert_same_run(&run, &read);
    assert_int_not_equal(access(killed_journal, F_OK), 0);
    perf_run_free(&read);
    perf_run_free(&run);
    remove_temporary(path);
    remove_temporary(killed);
}

/* `perf run` tries the history first, and may end before it has anything to keep there. */
static void a_history_that_was_only_tried_is_none_yet(void **state)
{
    (void)state;
    char path[64];
    struct cw_error error;
    struct perf_run run = two_cases(), read;
    int64_t id;
    temporary(path, "tried.sqlite");
    assert_int_equal(perf_history_try(path, &error), CW_OK);
    assert_int_equal(perf_history_read(path, 1, &read, &error), CW_USAGE);
    assert_non_null(strstr(error.text, "there is none yet"));
    perf_run_free(&read);
    assert_int_equal(perf_history_add(path, &run, &id, &error), CW_OK);
    perf_run_free(&run);
    remove_temporary(path);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static enum perf_verdict verdict(const struct perf_run *before, const struct perf_run *after)
{
    return perf_compare_case(&before->cases[0], &after->cases[0], 0).verdict;
}

static void a_case_is_slower_faster_or_the_same(void **state)
{
    (void)state;
    struct perf_run fast = made_up_run(), late = made_up_run();
    add_case(&fast, "m/adaptive/2", 2, calm);
    add_case(&late, "m/adaptive/2", 2, slow);
    const struct perf_difference difference = perf_compare_case(&fast.cases[0], &late.cases[0], 0);
    assert_int_equal(difference.verdict, PERF_SLOWER);
    assert_true(difference.change < -0.1999 && difference.change > -0.2001);
    assert_int_equal(verdict(&late, &fast), PERF_FASTER);
    assert_int_equal(verdict(&fast, &fast), PERF_SAME);
    assert_int_equal(perf_compare_case(&fast.cases[0], NULL, 0).verdict, PERF_ONLY_BEFORE);
    assert_int_equal(perf_compare_case(NULL, &fast.cases[0], 0).verdict, PERF_ONLY_AFTER);
    perf_run_free(&fast);
    perf_run_free(&late);
}

static void other_commands_other_states_and_disturbed_rounds_are_not_compared(void **state)
{
    (void)state;
    struct perf_run fast = made_up_run(), late = made_up_run();
    add_case(&fast, "m/adaptive/2", 2, calm);
    struct perf_case_run *const measured = perf_run_add(&late, "m/adaptive/2", "phold --end 1", 2);
    for (int i = 0; i < 5; i++)
        add_round(measured, 80, &far_line, false);
    assert_int_equal(verdict(&fast, &late), PERF_NOT_COMPARABLE);
    /* on one thread no line crosses */
    fast.cases[0].threads = late.cases[0].threads = 1;
    assert_int_equal(verdict(&fast, &late), PERF_SLOWER);
    snprintf(late.cases[0].command, sizeof late.cases[0].command, "phold --end 2");
    assert_int_equal(verdict(&fast, &late), PERF_NOT_COMPARABLE);
    snprintf(late.cases[0].command, sizeof late.cases[0].command, "phold --end 1");
    for (size_t i = 0; i < 3; i++)
        late.cases[0].samples[i].disturbed = true;
    assert_int_equal(verdict(&fast, &late), PERF_NOT_COMPARABLE);
    perf_run_free(&fast);
    perf_run_free(&late);
}

static void rounds_in_a_state_that_both_runs_found_are_compared(void **state)
{
    (void)state;
    struct perf_run fast = made_up_run(), late = made_up_run();
    add_case(&fast, "m/adaptive/2", 2, calm);
    struct perf_case_run *const measured = perf_run_add(&late, "m/adaptive/2", "phold --end 1", 2);
    for (int i = 0; i < 3; i++) {
        add_round(measured, 100, &near_line, false);
        add_round(measured, 50, &far_line, false);
    }
    assert_int_equal(verdict(&fast, &late), PERF_SAME);
    perf_run_free(&fast);
    perf_run_free(&late);
}

static void what_bare_loops_lost_is_noise_of_all_cases(void **state)
{
    (void)state;
    struct perf_run fast = made_up_run(), late = made_up_run();
    static const double less[] = {92, 92, 92, 92, 92};
    add_case(&fast, "a/sequential/1", 1, calm);
    add_case(&late, "a/sequential/1", 1, less);
    assert_true(perf_drift(&fast, &late) == 0);
    assert_int_equal(
        perf_compare_case(&fast.cases[0], &late.cases[0], perf_drift(&fast, &late)).verdict,
        PERF_SLOWER);
    /* bare loops that ran at 93 of 100: 8 % less is no more than 7 % and 3 % */
    static const double bare[] = {93, 93, 93, 93, 93};
    add_case(&fast, "a/calendar/1", 1, calm);
    add_case(&late, "a/calendar/1", 1, bare);
    const double drift = perf_drift(&fast, &late);
    assert_true(drift > 0.0699 && drift < 0.0701);
    assert_int_equal(perf_compare_case(&fast.cases[0], &late.cases[0], drift).verdict, PERF_SAME);
    perf_run_free(&fast);
    perf_run_free(&late);
}

static void a_comparison_counts_and_names_what_is_slower(void **state)
{
    (void)state;
    struct perf_run fast = made_up_run(), late = made_up_run();
    add_case(&fast, "a/sequential/1", 1, calm);
    add_case(&fast, "b/sequential/1", 1, calm);
    add_case(&late, "a/sequential/1", 1, slow);
    add_case(&late, "b/sequential/1", 1, calm);
    add_case(&late, "c/sequential/1", 1, calm);
    struct perf_comparison comparison;
    assert_true(perf_compare(&fast, &late, &comparison));
    assert_int_equal(comparison.counts.cases, 3);
    assert_int_equal(comparison.cases[0].verdict, PERF_SLOWER);
    assert_int_equal(comparison.cases[1].verdict, PERF_SAME);
    assert_string_equal(comparison.cases[2].name, "c/sequential/1");
    assert_int_equal(comparison.cases[2].verdict, PERF_ONLY_AFTER);
    assert_int_equal(comparison.counts.of[PERF_SLOWER], 1);
    perf_comparison_free(&comparison);
    assert_true(perf_compare(&fast, &fast, &comparison));
    assert_int_equal(comparison.counts.of[PERF_SAME], 2);
    assert_int_equal(comparison.counts.cases, 2);
    perf_comparison_free(&comparison);
    assert_null(perf_machines_differ(&fast, &late));
    snprintf(late.machine.cpu, sizeof late.machine.cpu, "another one");
    assert_string_equal(perf_machines_differ(&fast, &late), "the processor");
    perf_run_free(&fast);
    perf_run_free(&late);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void the_table_holds_ratios_against_the_goal_of_their_state(void **state)
{
    (void)state;
    struct perf_run run = made_up_run();
    struct perf_case_run *measured = perf_run_add(&run, "phold-25/sequential/1", "phold", 1);
    for (int i = 0; i < 5; i++)
        add_round(measured, 30, &near_line, false);
    measured = perf_run_add(&run, "phold-25/adaptive/2", "phold", 2);
    /* near: 48 / 30 = 1.6 with a gain of 2, goal 1.7; far: 45 / 30 x 2 / 1.9 = 1.58, goal 1.55 */
    for (int i = 0; i < 5; i++)
        add_round(measured, i < 2 ? 48 : 45, i < 2 ? &near_line : &far_line, false);
    char *text;
    size_t bytes;
    FILE *const file = open_memstream(&text, &bytes);
    perf_table_print(file, &run);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "1.20 x the 25 of perf/README.md's machine"));
    assert_non_null(strstr(text, "goal 1.70 x near: 1.60 in 2 NOT MET"));
    assert_non_null(strstr(text, "goal 1.55 x far: 1.58 in 3 met"));
    assert_non_null(strstr(text, "goal 32 MiB: met"));
    free(text);
    perf_run_free(&run);
}

static void every_set_has_cases_of_different_names_and_goals_name_cases(void **state)
{
    (void)state;
    struct cw_error error;
    struct perf_case *cases;
    size_t count;
    for (size_t i = 0; perf_set_name(i) != NULL; i++) {
        assert_int_equal(perf_set_cases(perf_set_name(i), 2, &cases, &count, &error), CW_OK);
        assert_true(count > 0);
        for (size_t k = 0; k < count; k++)
            for (size_t n = 0; n < k; n++)
                assert_string_not_equal(cases[k].name, cases[n].name);
        free(cases);
    }
    assert_int_equal(perf_set_cases("none", 2, &cases, &count, &error), CW_USAGE);
    /* of the set that has them all, on eight cores: 2, 4 and 8 threads */
    assert_int_equal(perf_set_cases("nightly", 8, &cases, &count, &error), CW_OK);
    size_t on_two = 0, on_four = 0, on_eight = 0;
    for (size_t k = 0; k < count; k++) {
        on_two += cases[k].threads == 2;
        on_four += cases[k].threads == 4;
        on_eight += cases[k].threads == 8;
    }
    assert_true(on_two > 0 && on_two == on_four && on_two == on_eight);
    free(cases);
}

static void the_history_is_below_a_folder_of_the_environment(void **state)
{
    (void)state;
    char path[128], file[64];
    struct cw_error error;
    temporary(file, "cubewarp");
    *strrchr(file, '/') = '\0'; /* the folder alone */
    setenv("HOME", file, 1);
    unsetenv("XDG_DATA_HOME");
    assert_int_equal(perf_history_path(path, sizeof path, &error), CW_OK);
    assert_string_equal(path + strlen(file), "/.local/share/cubewarp/perf.sqlite");
    setenv("XDG_DATA_HOME", file, 1);
    assert_int_equal(perf_history_path(path, sizeof path, &error), CW_OK);
    assert_string_equal(path + strlen(file), "/cubewarp/perf.sqlite");
    assert_int_equal(perf_history_make_folder(path, &error), CW_OK);
    assert_int_equal(perf_history_try(path, &error), CW_OK);
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(file), 0);
    strcpy(path, "/proc/nothing/perf.sqlite"); /* where no folder can be made */
    assert_int_equal(perf_history_make_folder(path, &error), CW_NO_RESOURCE);
    setenv("XDG_DATA_HOME", "relative", 1);
    unsetenv("HOME");
    assert_int_equal(perf_history_path(path, sizeof path, &error), CW_USAGE);
}

/* Bare loops alone, beside a program that has none: no run that the history could keep. */
static void cases_without_a_program_are_refused(void **state)
{
    (void)state;
    const struct perf_session session = {.set = "of bare loops", .rounds = 1};
    struct perf_case cases[] = {
        {.name = "mesh/calendar/1", .command = "calendar mesh", .program = PERF_BARE, .threads = 1},
        {.name = "mesh/heap/1", .command = "heap mesh", .program = PERF_BARE, .threads = 1},
    };
    struct perf_run run;
    struct cw_error error = {.exit_code = CW_OK};
    perf_run_begin(&run, session.set);
    assert_int_equal(perf_session_measure(&session, cases, 2, &run, &error), CW_NO_RESOURCE);
    assert_string_equal(error.text,
                        "no program that measures a case of the set of bare loops can be run");
    assert_int_equal(run.case_count, 0);
    assert_int_equal(perf_session_rounds(&run), 0);
    perf_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_json_file_gives_back_the_run_that_was_written),
        cmocka_unit_test(json_has_the_form_of_google_benchmark),
        cmocka_unit_test(a_file_that_is_no_result_is_refused_with_its_place),
        cmocka_unit_test(names_are_plain),
        cmocka_unit_test(the_history_gives_back_each_run_and_knows_the_last_of_a_machine),
        cmocka_unit_test(a_file_that_is_no_history_is_refused_and_left_alone),
        cmocka_unit_test(a_database_of_something_else_is_no_history),
        cmocka_unit_test(a_reader_waits_for_a_writer),
        cmocka_unit_test(half_a_transaction_is_taken_back),
        cmocka_unit_test(a_history_that_was_only_tried_is_none_yet),
        cmocka_unit_test(a_case_is_slower_faster_or_the_same),
        cmocka_unit_test(other_commands_other_states_and_disturbed_rounds_are_not_compared),
        cmocka_unit_test(rounds_in_a_state_that_both_runs_found_are_compared),
        cmocka_unit_test(what_bare_loops_lost_is_noise_of_all_cases),
        cmocka_unit_test(a_comparison_counts_and_names_what_is_slower),
        cmocka_unit_test(the_table_holds_ratios_against_the_goal_of_their_state),
        cmocka_unit_test(every_set_has_cases_of_different_names_and_goals_name_cases),
        cmocka_unit_test(the_history_is_below_a_folder_of_the_environment),
        cmocka_unit_test(cases_without_a_program_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
