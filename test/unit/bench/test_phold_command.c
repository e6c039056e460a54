/*
 * test_phold_command.c: `cubewarp phold`: its errors, its JSON, its log of the engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "bench/cli/cmd_phold.h"

/* Runs `cubewarp phold` with these arguments, its standard error in a file. */
static int command(const char *const *arguments, char *message, size_t message_bytes)
{
    char *argv[16] = {(char[]){"phold"}};
    int argc = 1;
    for (; arguments[argc - 1] != NULL; argc++)
        argv[argc] = strdup(arguments[argc - 1]);
    char path[] = "/tmp/cubewarp-phold-XXXXXX";
    const int file = mkstemp(path), kept = dup(STDERR_FILENO);
    assert_true(file >= 0 && kept >= 0);
    dup2(file, STDERR_FILENO);
    const int result = phold_main(argc, argv);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    const ssize_t length = pread(file, message, message_bytes - 1, 0);
    message[length > 0 ? length : 0] = '\0';
    message[strcspn(message, "\n")] = '\0';
    close(kept);
    close(file);
    unlink(path);
    for (int i = 1; i < argc; i++)
        free(argv[i]);
    return result;
}

static void expect_usage_error(const char *option, const char *argument, const char *text)
{
    const char *const arguments[] = {option, argument, NULL};
    char message[1024];
    assert_int_equal(command(arguments, message, sizeof message), CW_USAGE);
    assert_string_equal(message, text);
}

static void bad_options_say_what_would_be_legal(void **state)
{
    (void)state;
    expect_usage_error(
        "--lps", "many",
        "cubewarp phold: --lps 'many': expected a whole number from 1 to 4294967294");
    expect_usage_error("--population", "-1",
                       "cubewarp phold: --population '-1': expected a whole number from 0 to "
                       "4294967295");
    expect_usage_error("--traffic", "jam",
                       "cubewarp phold: --traffic 'jam': expected random or mesh");
    expect_usage_error("--sync", "magic",
                       "cubewarp phold: --sync 'magic': expected sequential, conservative, "
                       "optimistic, adaptive or stress");
    expect_usage_error("--remote", "101%",
                       "cubewarp phold: --remote 101%: a probability is needed: 0 to 1, or 0% to "
                       "100%");
    expect_usage_error("--hot", "1",
                       "cubewarp phold: --hot: all of the 4096 LPs are hot; at least one must not "
                       "be");
    expect_usage_error("--stress-rate", "0",
                       "cubewarp phold: --stress-rate '0': expected a share above 0, up to 1 or "
                       "100%; a stress run that undoes nothing proves nothing");
    expect_usage_error("--stress-rate", "5%", "cubewarp phold: --stress-rate is for --sync stress");
    expect_usage_error("--cancellation", "lazy",
                       "cubewarp phold: --cancellation lazy is for the modes that undo events: "
                       "adaptive, optimistic, stress; not for sequential");
    expect_usage_error("--end", "0.0000001",
                       "cubewarp phold: --end 0.0000001: a time is needed: a number of whole ps "
                       "below 2^63, with a suffix ps, ns, us, ms, s, or none for units of 1 us");
    expect_usage_error(
        "--max-memory", "lots",
        "cubewarp phold: --max-memory 'lots': expected a size such as 4096, 4KiB or 16MB");
    expect_usage_error("--zzzzzz", "2", "cubewarp phold: unknown option '--zzzzzz'");
    expect_usage_error("--poplation", "2",
                       "cubewarp phold: unknown option '--poplation'; did you mean "
                       "'--population'?");
    expect_usage_error("--lps", NULL, "cubewarp phold: --lps needs a value");
    expect_usage_error("--quiet=1", NULL, "cubewarp phold: --quiet takes no value");
    expect_usage_error("-x", NULL, "cubewarp phold: unknown option -x");
    expect_usage_error("--json", "",
                       "cubewarp phold: --json '': expected a file's name, or - for standard "
                       "output");
    expect_usage_error("--engine-log", "-",
                       "cubewarp phold: --engine-log '-': expected a file's name: standard output "
                       "has the result");
    expect_usage_error("now", NULL, "cubewarp phold: unexpected argument 'now'");
}

static void too_little_memory_is_exit_code_4(void **state)
{
    (void)state;
    const char *const arguments[] = {"--quiet", "--max-memory", "1MiB", NULL};
    char message[1024];
    assert_int_equal(command(arguments, message, sizeof message), CW_NO_RESOURCE);
    assert_non_null(
        strstr(message, "cubewarp phold: out of memory: the simulation needs at least"));
    /* Known before anything is allocated, whatever the machine has. */
    static const char *const far[][5] = {{"--population", "4000000000", "--lps", "4000000000"},
                                         {"--state-bytes", "16777216", "--lps", "4294967294"}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(command(far[i], message, sizeof message), CW_NO_RESOURCE);
        assert_non_null(strstr(message, "out of memory: the simulation needs at least"));
        assert_non_null(strstr(message, i == 0 ? "18446744073709551615 bytes for 4000000000 LPs"
                                               : "bytes for 4294967294 LPs"));
    }
}

static void a_device_stays_one(void **state)
{
    (void)state;
    const char *const arguments[] = {"--lps", "64", "--end", "1ns", "--json", "/dev/null", NULL};
    char message[1024];
    struct stat status;
    assert_int_equal(command(arguments, message, sizeof message), CW_OK);
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static const char *const engine_keys[] = {
    "sync",
    "threads",
    "partition",
    "events_committed",
    "events_processed",
    "rollbacks",
    "anti_messages",
    "efficiency",
    "gvt_rounds",
    "rolled_back_events",
    "moves",
    "parts_moved",
    "move_s",
    "undo_bytes",
    "safe_events",
    "gathered_events",
    "peak_events",
    "peak_rss_bytes",
    "committed_events_per_s",
    "setup_s",
    "run_s",
    "host_s",
    "trace_hash",
    "ipcq_messages",
    "rollbacks_primary",
    "rollbacks_secondary",
    "rollbacks_injected",
    "rollback_events_mean",
    "rollback_events_max",
    "messages_sent",
    "turns",
    "turns_idle",
    "promises_raised",
    "window_first",
    "window_last",
    "window_mean",
    "gvt_round_mean_us",
    "time_share",
    "workers",
    "process",
};

static void the_json_result_has_every_key(void **state)
{
    (void)state;
    char folder[] = "/tmp/cubewarp-phold-XXXXXX", path[64], message[1024];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/result.json", folder);
    const char *const arguments[] = {"--lps",  "64",     "--end",       "20us",
                                     "--mean", "1000ns", "--lookahead", "100000ps",
                                     "--json", path,     "--quiet",     NULL};
    if (command(arguments, message, sizeof message) != CW_OK)
        fail_msg("%s", message);
    json_error_t json_error;
    json_t *const json = json_load_file(path, 0, &json_error);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "schema")), "cubewarp.phold/1");
    assert_string_equal(json_string_value(json_object_get(json, "command")), "phold");
    const json_t *const engine = json_object_get(json, "engine");
    for (size_t i = 0; i < sizeof engine_keys / sizeof engine_keys[0]; i++)
        assert_non_null(json_object_get(engine, engine_keys[i]));
    assert_int_equal(json_object_size(engine), sizeof engine_keys / sizeof engine_keys[0]);
    struct phold_options options = phold_defaults(); /* the same run as above, in the base units */
    struct cw_stats stats;
    struct cw_error error;
    double setup_s;
    options.lps = 64;
    options.engine.end_ps = 20000000;
    assert_int_equal(phold_run(&options, CW_SEQUENTIAL, 1, &stats, &setup_s, &error), CW_OK);
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)stats.trace_hash);
    assert_string_equal(json_string_value(json_object_get(engine, "trace_hash")), hash);
    json_decref(json);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
}

/* The rows of an engine log: their number; each is checked against the one before. */
static size_t rows_in_order(const char *path, long long *committed)
{
    char line[512];
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line,
                        "round,wall_s,gvt_ps,safe_ps,events_committed,events_processed,"
                        "rolled_back_events,window_events,history_events,ahead_ps,memory_bytes,"
                        "idle_share\n");
    size_t count = 0;
    long long round = 0, gvt_ps = -1;
    *committed = 0;
    for (; fgets(line, sizeof line, file) != NULL; count++) {
        size_t commas = 0;
        for (const char *at = line; *at != '\0'; at++)
            commas += *at == ',';
        assert_int_equal(commas, 11);
        char *field[12], *rest = line;
        for (size_t i = 0; i < 12; i++)
            field[i] = strsep(&rest, ",\n");
        assert_true(atoll(field[0]) == round + 1);
        assert_true(atoll(field[2]) >= gvt_ps);
        assert_true(atoll(field[4]) >= *committed);
        round = atoll(field[0]);
        gvt_ps = atoll(field[2]);
        *committed = atoll(field[4]);
    }
    fclose(file);
    return count;
}

static void the_engine_log_has_a_row_per_round_of_gvt(void **state)
{
    (void)state;
    char folder[] = "/tmp/cubewarp-phold-XXXXXX", path[64], json_path[64], message[1024];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log.csv", folder);
    snprintf(json_path, sizeof json_path, "%s/result.json", folder);
    for (int threads = 1; threads <= 2; threads++) {
        const char *const arguments[] = {
            "--engine-log",           path, "--json", json_path, "--end", "20us", "--threads",
            threads == 1 ? "1" : "2", NULL};
        if (command(arguments, message, sizeof message) != CW_OK)
            fail_msg("%s", message);
        json_t *const json = json_load_file(json_path, 0, NULL);
        const json_t *const engine = json_object_get(json, "engine");
        long long committed;
        const size_t rows = rows_in_order(path, &committed);
        assert_int_equal(committed,
                         json_integer_value(json_object_get(engine, "events_committed")));
        const json_int_t rounds = json_integer_value(json_object_get(engine, "gvt_rounds"));
        assert_int_equal(json_array_size(json_object_get(engine, "workers")), threads);
        /* Sequential: every 65,536 events, and at the end. */
        assert_int_equal(rows, threads == 1 ? committed / 65536 + 1 : rounds);
        json_decref(json);
    }
    unlink(path);
    unlink(json_path);
    assert_int_equal(rmdir(folder), 0);
}

static void a_result_that_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    char folder[] = "/tmp/cubewarp-phold-XXXXXX", path[64], message[1024];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/taken", folder);
    assert_int_equal(mkdir(path, 0700), 0); /* a folder: the rename fails */
    const char *const arguments[] = {"--lps",  "64", "--end",   "1ns",
                                     "--json", path, "--quiet", NULL};
    assert_int_equal(command(arguments, message, sizeof message), CW_NO_RESOURCE);
    assert_non_null(strstr(message, "cannot write "));
    rmdir(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_options_say_what_would_be_legal),
        cmocka_unit_test(too_little_memory_is_exit_code_4),
        cmocka_unit_test(a_device_stays_one),
        cmocka_unit_test(the_json_result_has_every_key),
        cmocka_unit_test(the_engine_log_has_a_row_per_round_of_gvt),
        cmocka_unit_test(a_result_that_cannot_be_written_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
