/*
 * test_kept_machines.c: runs one after the other in a process that keeps machines with installed
 * queues have the same documents as runs alone, except for wall times: whatever ran before, with
 * and without data, where they fail, in all modes. A machine is taken over exactly where its
 * installation would be the same.
 */
#include "test/support/test_config_support.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "bench/output/result.h"
#include "bench/programs/bench.h"
#include "bench/result/run_document.h"

enum { WORDS_MAX = 32, TEXT_BYTES = 512, KEPT_BYTES = 64 << 20 };

static int run_text(struct run_kept *kept, const char *words, struct run_outcome *outcome)
{
    char text[TEXT_BYTES], *argv[WORDS_MAX] = {"run"};
    int argc = 1;
    snprintf(text, sizeof text, "--preset tiny --set system.sips.count=2 %s", words);
    for (char *word = strtok(text, " "); word != NULL && argc < WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    static struct run_options run;
    struct option_parse parse = {.command = COMMAND_RUN, .values = &run};
    struct cw_error error;
    run_options_defaults(&run);
    assert_int_equal(options_read(&parse, argc, argv, &error), CW_OK);
    return run_document(&run, argc, argv, kept, outcome);
}

static json_t *engine_of(const struct run_outcome *outcome)
{
    return json_object_get(outcome->document, "engine");
}

/* Whether the run had the events of its installation, instead of taking over a machine. */
static bool has_wired(const struct run_outcome *outcome)
{
    size_t i;
    json_t *phase;
    json_array_foreach(
        json_object_get(engine_of(outcome), "process"), i,
        phase) if (strcmp(json_string_value(json_object_get(phase, "phase")), "wiring") ==
                   0) return json_real_value(json_object_get(phase, "engine_s")) > 0;
    fail_msg("no phase \"wiring\"");
    return false;
}

/* ---- equal documents ------------------------------------------------------------------------- */

/* Drops wall times, memory and provenance. Unless `counts`: the engine's other counts, too. */
static void drop_times(json_t *document, bool counts)
{
    static const char *const times[] = {"process",   "setup_s",        "run_s",
                                        "host_s",    "peak_rss_bytes", "committed_events_per_s",
                                        "time_share"};
    static const char *const kept[] = {"events_committed", "trace_hash", "ipcq_messages", "sync"};
    json_t *const engine = json_object_get(document, "engine");
    const char *key;
    json_t *value;
    size_t i;
    void *next;
    json_object_del(document, "provenance");
    for (i = 0; i < sizeof times / sizeof *times; i++)
        json_object_del(engine, times[i]);
    json_array_foreach(json_object_get(engine, "workers"), i, value)
        json_object_del(value, "time_share");
    json_object_foreach_safe(engine, next, key, value)
    {
        bool is_kept = counts;
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            is_kept |= strcmp(key, kept[k]) == 0;
        if (!is_kept)
            json_object_del(engine, key);
    }
}

static void expect_equal(json_t *left, json_t *right, const char *words)
{
    if (json_equal(left, right))
        return;
    char *const a = json_dumps(left, JSON_COMPACT | JSON_SORT_KEYS);
    char *const b = json_dumps(right, JSON_COMPACT | JSON_SORT_KEYS);
    fail_msg("%s:\n%s\nand alone\n%s", words, a != NULL ? a : "-", b != NULL ? b : "-");
}

/* Runs the line with the machines of earlier ones, and alone. Returns its exit code. */
static int compare_line(struct run_kept *kept, const char *words, bool counts)
{
    struct run_outcome got, alone;
    const int code = run_text(kept, words, &got);
    assert_int_equal(run_text(NULL, words, &alone), code);
    if (alone.message == NULL || got.message == NULL)
        assert_true(alone.message == got.message);
    else
        assert_string_equal(got.message, alone.message);
    if (alone.document != NULL && got.document != NULL) {
        drop_times(got.document, counts);
        drop_times(alone.document, counts);
        expect_equal(got.document, alone.document, words);
    } else {
        assert_true(alone.document == got.document);
    }
    run_outcome_free(&got);
    run_outcome_free(&alone);
    return code;
}

/* Equal and different machines; sizes; data; a run that fails during its installation, and some
 * that fail later; refused lines; other benches; records in order; explanations. */
static const char *const lines[] = {
    "--bytes 1KiB --no-data",
    "--bytes 2KiB --verify-data",
    "--bytes 64:1KiB:x4 --verify-data --algorithm ring_allreduce",
    "--bytes 2KiB --explain",
    "--bytes 2KiB --algorithm tree_allreduce --explain",
    "--bytes 2KiB --no-data --set links.ucie.bw_gbs=64",
    "--bytes 2KiB --no-data --set defaults.n_slots=2",
    "--bytes 2KiB --no-data --set defaults.wiring=pe0 --algorithm ring_allreduce",
    "--bytes 2KiB --no-data --set jitter.nodes.pe_math.distribution=uniform --set "
    "jitter.nodes.pe_math.mean_ns=5 --set jitter.nodes.pe_math.spread_ns=2",
    "--bytes 4KiB --algorithm ring_rs_ag --verify-data",
    "--bytes 1KiB:4KiB:x2 --algorithm double_binary_tree",
    "--max-events 20",
    "--max-events 900 --bytes 8KiB",
    "--max-sim-time 3us --bytes 8KiB",
    "--max-sim-time 1us",
    "--set system.sips.count=12 --set system.sips.topology=torus_2d --set system.sips.w=5",
    "--bench ipcq_pingpong --bytes 64",
    "--bench ipcq_shift --bytes 64 --dir S",
    "--bench ccl_barrier",
    "--bench gemm --gemm 32x32x32",
    "--bytes 1KiB --set defaults.strict_validation=true",
    "--bytes 1KiB --iters 3 --warmup 1 --seed 7",
};
enum { LINES = sizeof lines / sizeof *lines };

/* Strides that are coprime to the number of lines, so that each line follows different ones. */
static void lines_after_others_have_the_documents_of_runs_alone(void **state)
{
    (void)state;
    static const size_t strides[] = {1, 5, 19};
    _Static_assert(LINES == 22, "choose strides that are prime to the number of lines");
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        struct run_kept *const kept = run_kept_create(KEPT_BYTES);
        assert_non_null(kept);
        for (size_t i = 0; i < 2 * LINES; i++)
            (void)compare_line(kept, lines[i * strides[s] % LINES], true);
        run_kept_free(kept);
    }
}

static void all_modes_have_the_results_of_runs_alone(void **state)
{
    (void)state;
    static const char *const modes[] = {
        "--sync conservative --threads 2", "--sync optimistic --threads 2",
        "--sync adaptive --threads 2",     "--sync adaptive --threads 3 --balance random",
        "--sync stress --threads 2",       "--sync optimistic --threads 2 --cancellation lazy"};
    static const char *const work[] = {"--bytes 512 --no-data", "--bytes 1KiB --verify-data",
                                       "--bytes 2KiB --explain"};
    struct run_kept *const kept = run_kept_create(KEPT_BYTES);
    assert_non_null(kept);
    for (size_t i = 0; i < 2 * sizeof work / sizeof *work; i++)
        for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
            char words[TEXT_BYTES];
            snprintf(words, sizeof words, "%s --no-pin --partition block %s",
                     work[i % (sizeof work / sizeof *work)], modes[mode]);
            assert_int_equal(compare_line(kept, words, false), CW_OK);
        }
    run_kept_free(kept);
}

/* ---- which machines are taken over ----------------------------------------------------------- */

/* Runs a legal line. Returns whether it had the events of its installation. */
static bool wires(struct run_kept *kept, const char *words)
{
    struct run_outcome outcome;
    if (run_text(kept, words, &outcome) != CW_OK)
        fail_msg("%s: %s", words, outcome.message);
    const bool has = has_wired(&outcome);
    run_outcome_free(&outcome);
    return has;
}

/* Whether the second line installs its machine, after the first. */
static bool wires_behind(const char *first, const char *second, uint64_t machine_bytes)
{
    struct run_kept *const kept = run_kept_create(machine_bytes);
    assert_non_null(kept);
    assert_true(wires(kept, first));
    const bool has = wires(kept, second);
    run_kept_free(kept);
    return has;
}

static void machines_that_are_installed_alike_are_taken_over(void **state)
{
    (void)state;
    static const char *const alike[][2] = {
        {"--bytes 1KiB", "--bytes 2KiB"},
        {"--bytes 1KiB --no-data", "--bytes 1KiB --verify-data --seed 3"},
        {"--bytes 1KiB", "--bytes 1KiB --explain"},
        {"--bytes 1KiB --iters 2", "--bytes 1KiB --dtype f32"},
        {"--bytes 1KiB --algorithm ring_rs_ag", "--bytes 2KiB --algorithm ring_rs_ag"},
        {"--threads 2 --bytes 1KiB --no-pin", "--threads 2 --bytes 2KiB --no-pin"},
    };
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (wires_behind(alike[i][0], alike[i][1], KEPT_BYTES))
            fail_msg("%s is wired again behind %s", alike[i][1], alike[i][0]);
}

static void other_machines_are_wired_anew(void **state)
{
    (void)state;
    static const char *const others[][2] = {
        {"--bytes 1KiB", "--bytes 1KiB --set links.ucie.bw_gbs=64"},
        {"--bytes 1KiB", "--bytes 1KiB --set defaults.n_slots=2"},
        {"--bytes 1KiB", "--bytes 1KiB --set defaults.wiring=pe0 --algorithm ring_allreduce"},
        {"--bytes 1KiB", "--bytes 1KiB --set fabric.contention=none"},
        {"--bytes 1KiB", "--bytes 1KiB --max-events 1000000"},
        {"--bytes 1KiB", "--bytes 1KiB --max-sim-time 1s"},
        {"--bytes 1KiB", "--bytes 1KiB --sync conservative"},
        {"--threads 2 --bytes 1KiB --no-pin", "--threads 3 --bytes 1KiB --no-pin"},
        {"--threads 2 --bytes 1KiB --no-pin", "--bytes 1KiB"},
        {"--bytes 1KiB", "--bytes 1KiB --set defaults.strict_validation=true"},
        {"--bytes 1KiB", "--bytes 1KiB --op-log /dev/null"},
        {"--bytes 1KiB", "--bytes 1KiB --trace /dev/null"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!wires_behind(others[i][0], others[i][1], KEPT_BYTES))
            fail_msg("%s is not wired behind %s", others[i][1], others[i][0]);
}

static void machines_that_have_no_room_are_not_kept(void **state)
{
    (void)state;
    assert_true(wires_behind("--bytes 1KiB", "--bytes 1KiB", 0));
    assert_true(wires_behind("--bytes 1KiB", "--bytes 1KiB", 10000));
}

/* Room for one machine only. */
static void the_machine_asked_for_least_recently_goes_first(void **state)
{
    (void)state;
    static const char *const machine[] = {"--bytes 1KiB", "--bytes 1KiB --set defaults.n_slots=2"};
    uint64_t bytes = 1024;
    while (wires_behind(machine[0], machine[0], bytes) ||
           wires_behind(machine[1], machine[1], bytes))
        bytes += bytes / 8;
    struct run_kept *const kept = run_kept_create(bytes);
    static const struct {
        int machine;
        bool wires;
    } steps[] = {{0, true}, {0, false}, {1, true}, {1, false}, {0, true}};
    assert_non_null(kept);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_int_equal(wires(kept, machine[steps[i].machine]), steps[i].wires);
    run_kept_free(kept);
}

/* ---- a run that is refused ------------------------------------------------------------------- */

/* The thread that watches for signals may write the caller's columns until the caller frees
 * them. */
static void a_refused_run_leaves_its_caller_what_it_filled(void **state)
{
    (void)state;
    struct run_options options;
    struct config_errors errors = {0};
    struct config *config = NULL;
    struct result result = {.columns = calloc(1, sizeof *result.columns), .column_count = 1};
    struct cw_error error = {.exit_code = CW_OK};
    run_options_defaults(&options);
    options.config.preset = "tiny";
    options.op_log = "/nowhere/a.ops";
    options.quiet = true;
    assert_int_equal(config_load(&options.config, &config, &errors), CW_OK);
    result.columns[0] = (struct result_column){strdup("night"), strdup("1")};
    assert_int_equal(bench_run(&options, config, &result, &error), CW_NO_RESOURCE);
    assert_int_equal(result.column_count, 1);
    assert_string_equal(result.columns[0].name, "night");
    result_free(&result);
    config_free(config);
}

int main(void)
{
    setenv("CUBEWARP_SHORTCUTS", "off", 1); /* a machine of all SIPs is kept for all lines */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_after_others_have_the_documents_of_runs_alone),
        cmocka_unit_test(all_modes_have_the_results_of_runs_alone),
        cmocka_unit_test(machines_that_are_installed_alike_are_taken_over),
        cmocka_unit_test(other_machines_are_wired_anew),
        cmocka_unit_test(machines_that_have_no_room_are_not_kept),
        cmocka_unit_test(the_machine_asked_for_least_recently_goes_first),
        cmocka_unit_test(a_refused_run_leaves_its_caller_what_it_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
