/*
 * test_perf.c: `cubewarp perf` from the command line: a tiny set measured, kept, compared; exit
 * codes and refusals.
 */
#include "test/support/test_perf_support.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/run_cubewarp.h"

static void a_tiny_set_is_measured_kept_and_compared(void **state)
{
    (void)state;
    char history[64];
    temporary(history, "history.sqlite");
    json_t *const root =
        run_json("perf run --set self-test --rounds 3 --repeats 0 --quiet --history %s", history);
    const json_t *const list = json_object_get(root, "benchmarks");
    /* one thread and all of them; three rounds, median, stddev */
    assert_int_equal(json_array_size(list), 2 * (3 + 2));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const entry = json_array_get(list, i);
        assert_int_equal(
            strncmp(json_string_value(json_object_get(entry, "run_name")), "self-test/", 10), 0);
        if (strcmp(json_string_value(json_object_get(entry, "run_type")), "iteration") != 0)
            continue;
        assert_true(json_number_value(json_object_get(entry, "items_per_second")) > 0);
        /* the model is the same in every mode */
        assert_int_equal(json_integer_value(json_object_get(entry, "events")),
                         json_integer_value(json_object_get(json_array_get(list, 0), "events")));
        assert_true(json_integer_value(json_object_get(entry, "peak_rss_bytes")) > 0);
        assert_true(json_number_value(json_object_get(entry, "loop_ns_before")) > 0);
        assert_true(json_number_value(json_object_get(entry, "gain_after")) > 0);
    }
    json_decref(root);
    struct run_output output = run_line(2, "perf trend --history %s --csv %s", history, history);
    assert_non_null(strstr(output.err, "--history and --csv name one file"));
    run_output_free(&output);
    output = run_line(2, "perf compare --history %s", history);
    assert_non_null(strstr(output.err, "no earlier run of this machine with the same set"));
    run_output_free(&output);
    output = run_line(2, "perf compare --history %s --against 3", history);
    assert_non_null(strstr(output.err, "no run before run 1 of that machine and set"));
    run_output_free(&output);
    static const struct {
        const char *options, *text;
    } trends[] = {{"", "# set self-test on "},
                  {"", "0 slower, results changed in 0; 0 of 2 cases"},
                  {"--csv -", "case,run,started,commit,events_per_s"},
                  {"--svg -", "</svg>"}};
    for (size_t i = 0; i < sizeof trends / sizeof *trends; i++) {
        output = run_line(0, "perf trend --history %s %s", history, trends[i].options);
        assert_non_null(strstr(output.out, trends[i].text));
        run_output_free(&output);
    }
    remove_temporary(history);
}

/* Linux counts the memory of a program that starts another one as the other's, too (ru_maxrss). */
static void the_peak_memory_of_a_run_is_its_own(void **state)
{
    (void)state;
    enum { STARTER_BYTES = 512 << 20 };
    char *const memory = malloc(STARTER_BYTES);
    assert_non_null(memory);
    memset(memory, 1, STARTER_BYTES);
    assert_int_equal(memory[STARTER_BYTES / 2], 1);
    json_t *const root = run_json("phold --lps 16 --end 1");
    free(memory);
    const json_t *const engine = json_object_get(root, "engine");
    const json_int_t bytes = json_integer_value(json_object_get(engine, "peak_rss_bytes"));
    assert_in_range(bytes, 1, STARTER_BYTES / 2);
    json_decref(root);
}

/* No round begins that would end behind the budget. Of the first round, only the first case begins:
 * the run has this case alone. */
static void a_budget_bounds_the_rounds(void **state)
{
    (void)state;
    char history[64];
    temporary(history, "history.sqlite");
    json_t *const root = run_json(
        "perf run --set self-test --rounds 99 --repeats 0 --budget 1ms --quiet --history %s",
        history);
    assert_int_equal(json_array_size(json_object_get(root, "benchmarks")), 1 + 2);
    json_decref(root);
    struct run_output output =
        run_line(0, "perf run --set self-test --rounds 9 --repeats 0 --budget 1ms --no-history");
    assert_non_null(strstr(output.err, "over after 1 of 2 cases of the first round"));
    assert_null(strstr(output.out, "self-test/adaptive"));
    run_output_free(&output);
    remove_temporary(history);
    output = run_line(
        4, "perf run --set self-test --rounds 1 --quiet --history /proc/no/history.sqlite");
    assert_non_null(strstr(output.err, "/proc/no/history.sqlite"));
    assert_string_equal(output.out, ""); /* nothing has been measured */
    run_output_free(&output);
}

/* In its first round a run has nothing to keep. Its history is as one that was never begun. */
static void a_run_that_is_interrupted_in_its_first_round_keeps_nothing(void **state)
{
    (void)state;
    char history[64];
    int status;
    temporary(history, "history.sqlite");
    const pid_t run = fork();
    assert_true(run >= 0);
    if (run == 0) {
        const char *const program = getenv("CUBEWARP");
        (void)signal(SIGINT, SIG_DFL); /* a shell's background commands ignore it */
        (void)freopen("/dev/null", "w", stderr);
        execl(program != NULL ? program : "build/cubewarp", "cubewarp", "perf", "run", "--set",
              "nightly", "--quiet", "--history", history, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 600 && access(history, F_OK) != 0; i++)
        usleep(10000);
    assert_int_equal(kill(run, SIGINT), 0);
    assert_int_equal(waitpid(run, &status, 0), run);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGINT);
    struct run_output output = run_line(2, "perf compare --history %s", history);
    assert_non_null(strstr(output.err, "there is none yet"));
    run_output_free(&output);
    json_t *const root =
        run_json("perf run --set self-test --rounds 1 --repeats 0 --quiet --history %s", history);
    json_decref(root);
    remove_temporary(history);
}

static void reading_a_history_that_is_not_there_creates_nothing(void **state)
{
    (void)state;
    static const char *const asked[] = {"", "--list", "1 2"};
    char home[64];
    temporary(home, "new");
    setenv("XDG_DATA_HOME", home, 1);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct run_output output = run_line(2, "perf compare %s", asked[i]);
        assert_non_null(strstr(output.err, "new/cubewarp/perf.sqlite: there is none yet; "
                                           "'cubewarp perf run' makes one"));
        run_output_free(&output);
        output = run_line(2, "perf compare --history %s/file %s", home, asked[i]);
        assert_non_null(strstr(output.err, "new/file: there is none yet"));
        run_output_free(&output);
    }
    unsetenv("XDG_DATA_HOME");
    *strrchr(home, '/') = '\0';
    assert_int_equal(rmdir(home), 0); /* nothing is in it */
}

static void a_run_makes_the_folders_of_its_history(void **state)
{
    (void)state;
    char path[64], home[64];
    temporary(path, "perf.sqlite");
    snprintf(home, sizeof home, "%.*s/data", (int)(strrchr(path, '/') - path), path);
    setenv("XDG_DATA_HOME", home, 1);
    struct run_output output = run_line(0, "perf run --set self-test --rounds 1 --repeats 0");
    run_output_free(&output);
    output = run_line(0, "perf compare --list");
    assert_non_null(strstr(output.out, " self-test "));
    run_output_free(&output);
    unsetenv("XDG_DATA_HOME");
    char made[128];
    snprintf(made, sizeof made, "%s/cubewarp/perf.sqlite", home);
    assert_int_equal(unlink(made), 0);
    for (int depth = 0; depth < 3; depth++) {
        *strrchr(made, '/') = '\0';
        assert_int_equal(rmdir(made), 0);
    }
}

/* A file with one case whose rounds ran at about so many millions of events per second. */
static void write_result(const char *path, double millions, const char *cpu)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"context\": {\"num_cpus\": 2, \"host_name\": \"h\", \"cubewarp\": "
            "{\"cpu\": \"%s\"}}, \"benchmarks\": [",
            cpu);
    for (int i = 0; i < 5; i++)
        fprintf(file,
                "%s{\"run_name\": \"m/adaptive/1\", \"run_type\": \"iteration\", \"threads\": 1,"
                " \"repetition_index\": %d, \"label\": \"phold\", \"items_per_second\": %.0f}",
                i == 0 ? "" : ",", i, (millions + 0.1 * i) * 1e6);
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
}

static void compare_exits_with_1_if_something_became_slower(void **state)
{
    (void)state;
    char before[64], after[64];
    temporary(before, "before.json");
    temporary(after, "after.json");
    write_result(before, 30, "c");
    write_result(after, 27, "c");
    struct run_output output = run_line(1, "perf compare %s %s", before, after);
    assert_non_null(strstr(output.out, "SLOWER"));
    run_output_free(&output);
    output = run_line(0, "perf compare %s %s", after, before);
    assert_non_null(strstr(output.out, "faster"));
    assert_non_null(strstr(output.out, "nothing became slower; compared 1 of 1 cases"));
    run_output_free(&output);
    write_result(after, 27, "d");
    output = run_line(2, "perf compare %s %s", before, after);
    assert_non_null(strstr(output.err, "different machines: the processor differs"));
    run_output_free(&output);
    output = run_line(1, "perf compare --force %s %s", before, after);
    run_output_free(&output);
    /* A verdict that cannot be told is none. */
    output = run_to_full_disk(4, "perf compare --force %s %s", before, after);
    assert_non_null(strstr(output.err, "cannot write to standard output"));
    run_output_free(&output);
    remove_temporary(before);
    remove_temporary(after);
}

/* A database with a history's tables, but other columns, and a folder. */
static void what_is_no_history_is_refused(void **state)
{
    (void)state;
    static const char *const commands[] = {"compare", "compare --list", "compare 1 2", "trend",
                                           "run --set self-test --rounds 1"};
    char other[64];
    temporary(other, "other.sqlite");
    sqlite3 *db;
    assert_int_equal(sqlite3_open(other, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "CREATE TABLE run (id); CREATE TABLE measurement (id);"
                                  "PRAGMA user_version = 2",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct run_output output = run_line(2, "perf %s --history %s", commands[i], other);
        assert_non_null(strstr(output.err, "no such column"));
        assert_non_null(strstr(output.err, "expected a file that 'cubewarp perf run' wrote"));
        run_output_free(&output);
        output = run_line(2, "perf %s --history /tmp", commands[i]);
        assert_non_null(strstr(output.err, "history /tmp: is a directory; expected a file"));
        run_output_free(&output);
    }
    remove_temporary(other);
}

/* Two threads near and far, then the layouts 1x4 and 2x2. */
static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } lines[] = {
        {"perf", "a part is missing: run, compare or trend"},
        {"perf measure", "perf has no part 'measure'; there are run, compare and trend"},
        {"perf run --set none", "--set none: no such set; there are: quick, phold, lrab, "},
        {"perf run --rounds 0", "--rounds '0'"},
        {"perf run extra", "unexpected argument 'extra'"},
        {"perf run --history", "--history needs a value"},
        {"perf run --sett quick", "did you mean '--set'?"},
        {"perf compare /nowhere/a.json /nowhere/b.json",
         "cannot read /nowhere/b.json: No such file or"},
        {"perf trend --csv - --svg -", "--csv - and --svg - cannot share standard output"},
        {"perf compare / /", "cannot read /: Is a directory"},
        {"perf compare /dev/null /dev/null", "/dev/null: nothing can be read from it; expected"},
        {"perf run --no-history --history h.sqlite", "--no-history keeps no run: drop --history"},
        {"perf run --list --json j.json", "--list measures nothing: drop --json"},
        {"perf run --list --rounds 2", "--list measures nothing: drop --rounds"},
        {"perf compare --list --against 3", "--list compares nothing: drop --against"},
        {"perf compare --list 2", "--list lists all runs of the history: drop '2'"},
        {"perf compare a.json b.json --history h", "both runs come from files: drop --history"},
        {"perf compare 1 99999999999999999999 --history /dev/null",
         "there is no run 99999999999999999999"},
        {"perf compare --against 3 99999999999999999999 --history /dev/null",
         "there is no run 99999999999999999999"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(2, "%s", lines[i].line);
        if (strstr(output.err, lines[i].message) == NULL)
            fail_msg("%s: %s", lines[i].line, output.err);
        run_output_free(&output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tiny_set_is_measured_kept_and_compared),
        cmocka_unit_test(the_peak_memory_of_a_run_is_its_own),
        cmocka_unit_test(a_budget_bounds_the_rounds),
        cmocka_unit_test(a_run_that_is_interrupted_in_its_first_round_keeps_nothing),
        cmocka_unit_test(reading_a_history_that_is_not_there_creates_nothing),
        cmocka_unit_test(a_run_makes_the_folders_of_its_history),
        cmocka_unit_test(compare_exits_with_1_if_something_became_slower),
        cmocka_unit_test(what_is_no_history_is_refused),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
