/*
 * test_engine_trace.c: --engine-trace as its reader sees it: valid JSON; a track for each worker,
 * on which intervals follow each other or lie inside each other; the whole run, and all its events;
 * and that it appears whole or not at all, after a failure, too.
 */
#include <math.h>
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

static char folder[64], path[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cubewarp-engine-trace-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/trace.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* The events of the file at `path`, which goes. */
static json_t *read_trace(void)
{
    json_error_t error;
    json_t *const root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("%s: line %d: %s", path, error.line, error.text);
    json_t *const events = json_incref(json_object_get(root, "traceEvents"));
    assert_true(json_is_array(events));
    json_decref(root);
    unlink(path);
    return events;
}

static bool is_of(const json_t *event, const char *key, const char *text)
{
    const char *const value = json_string_value(json_object_get(event, key));
    return value != NULL && strcmp(value, text) == 0;
}

static long long ns_of(const json_t *event, const char *key)
{
    const json_t *const value = json_object_get(event, key);
    assert_true(json_is_number(value));
    return llround(json_number_value(value) * 1000);
}

/* The slices of one track. */
struct track {
    size_t slices, waits, turns;
    long long top_ns; /* of slices that lie in no other */
    double events;    /* committed in those */
};

/* Reads a track, and checks that each slice lies in the one before it, or behind it. */
static struct track read_track(const json_t *events, long long tid)
{
    enum { DEPTH_MAX = 8 };
    struct track track = {0};
    long long end_ns[DEPTH_MAX], last_ns = 0;
    size_t depth = 0, i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        if (!is_of(event, "ph", "X") || json_integer_value(json_object_get(event, "tid")) != tid)
            continue;
        const long long begin = ns_of(event, "ts"), end = begin + ns_of(event, "dur");
        assert_true(begin >= last_ns && end >= begin);
        last_ns = begin;
        while (depth > 0 && end_ns[depth - 1] <= begin)
            depth--;
        assert_true(depth < DEPTH_MAX && (depth == 0 || end <= end_ns[depth - 1]));
        if (depth == 0) {
            const json_t *const args = json_object_get(event, "args");
            track.top_ns += end - begin;
            track.events += json_number_value(json_object_get(args, "events committed"));
        }
        end_ns[depth++] = end;
        track.slices++;
        track.turns += is_of(event, "name", "turn");
        track.waits += strncmp(json_string_value(json_object_get(event, "name")), "wait", 4) == 0;
    }
    return track;
}

static size_t count_of(const json_t *events, const char *type, const char *name)
{
    size_t count = 0, i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        count += is_of(event, "ph", type) && is_of(event, "name", name);
    }
    return count;
}

/* Runs the line, which ends in "--json -", and compares its tracks with its result. */
static void expect_tracks(const char *line, const char *engine_key, size_t workers)
{
    json_t *const result = run_json("%s --engine-trace %s", line, path);
    json_t *const events = read_trace();
    const json_t *const engine = json_object_get(result, engine_key);
    const double committed = json_number_value(json_object_get(engine, "events_committed"));
    const double rounds = json_number_value(json_object_get(engine, "gvt_rounds"));
    double sum = 0;
    assert_int_equal(count_of(events, "M", "thread_name"), 2 * workers);
    for (size_t i = 0; i < workers; i++) {
        const struct track own = read_track(events, (long long)(2 * i));
        const struct track gvt = read_track(events, (long long)(2 * i + 1));
        sum += own.events;
        assert_true(own.slices > 0 && gvt.slices <= rounds);
        assert_true(workers > 1 ? gvt.slices > 0 : gvt.slices + own.waits == 0);
    }
    assert_true(sum == committed);
    assert_true(count_of(events, "C", "events/s") > 1);
    assert_true(count_of(events, "C", "events/s, worker 0") > 1);
    assert_true((count_of(events, "C", "memory (bytes)") > 0) == (workers > 1));
    json_decref(events);
    json_decref(result);
}

static void each_worker_has_a_track_that_tells_all_its_events(void **state)
{
    (void)state;
    expect_tracks("phold --end 20", "engine", 1);
    expect_tracks("phold --end 20 --threads 2", "engine", 2);
    expect_tracks("phold --end 5 --threads 3 --sync optimistic --lookahead 0", "engine", 3);
    expect_tracks("phold --end 1 --threads 3 --sync stress", "engine", 3);
    expect_tracks("run --n-elem 64", "engine", 1);
    expect_tracks("run --n-elem 64 --verify-data --iters 2 --threads 2", "engine", 2);
    expect_tracks("run --n-elem 64 --threads 4 --sync conservative", "engine", 4);
}

/* Worker 0's track lasts as long as the drain: the result's wall time, measured by another clock.
 */
static void the_first_level_lasts_as_long_as_the_run(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        json_t *const result =
            run_json("phold --end 50 --threads %d --engine-trace %s", threads, path);
        json_t *const events = read_trace();
        const double run_s =
            json_number_value(json_object_get(json_object_get(result, "engine"), "run_s"));
        const struct track track = read_track(events, 0);
        assert_true(track.turns > 0);
        if (fabs((double)track.top_ns * 1e-9 - run_s) >
            0.1 * run_s + 0.02) /* another program may run between two clocks */
            fail_msg("%d threads: %lld ns, of %g s", threads, track.top_ns, run_s);
        json_decref(events);
        json_decref(result);
    }
}

static void a_run_that_fails_leaves_its_trace(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        struct run_output output =
            run_line(3,
                     "phold --lps 64 --mean 1 --lookahead 4000000s --end 9000000s --threads %d "
                     "--engine-trace %s",
                     threads, path);
        assert_non_null(strstr(output.err, "time")); /* a send beyond the end of time */
        run_output_free(&output);
        json_t *const events = read_trace();
        assert_true(read_track(events, 0).events > 0);
        json_decref(events);
    }
}

static void a_trace_that_cannot_be_written_is_exit_code_4(void **state)
{
    (void)state;
    static const char *const lines[] = {"run --n-elem 8", "phold --end 1",
                                        "phold --end 1 --threads 2"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output =
            run_line(4, "%s --engine-trace %s/missing/trace", lines[i], folder);
        assert_non_null(strstr(output.err, "missing/trace"));
        run_output_free(&output);
        output = run_line(4, "%s --engine-trace /dev/full", lines[i]);
        assert_non_null(strstr(output.err, "cannot write /dev/full"));
        run_output_free(&output);
        output = run_line(2, "%s --engine-trace -", lines[i]);
        assert_non_null(strstr(output.err, "expected a file's name"));
        run_output_free(&output);
    }
    assert_int_equal(access(path, F_OK), -1);
}

/* The figures and the hash are those of a run without. */
static void a_trace_changes_no_result(void **state)
{
    (void)state;
    json_t *const without = run_json("phold --end 10 --threads 2");
    json_t *const with = run_json("phold --end 10 --threads 2 --engine-trace %s", path);
    const json_t *const a = json_object_get(without, "engine"), *const b =
                                                                    json_object_get(with, "engine");
    assert_true(json_equal(json_object_get(a, "trace_hash"), json_object_get(b, "trace_hash")));
    assert_true(
        json_equal(json_object_get(a, "events_committed"), json_object_get(b, "events_committed")));
    json_decref(without);
    json_decref(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_worker_has_a_track_that_tells_all_its_events),
        cmocka_unit_test(the_first_level_lasts_as_long_as_the_run),
        cmocka_unit_test(a_run_that_fails_leaves_its_trace),
        cmocka_unit_test(a_trace_that_cannot_be_written_is_exit_code_4),
        cmocka_unit_test(a_trace_changes_no_result),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
