/*
 * test_timeline.c: --trace as its reader sees it. Slices nest on each track, also for a reader that
 * cuts times off to ns; each arrow begins in a slice and ends in a slice, later; counters go on in
 * time; filters leave out the rest; compressed files hold the same text; all of it is the same
 * bytes for any number of threads.
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

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

enum { DEPTH_MAX = 16, TEXT_MAX = 1 << 24 };

BUILT_PLUGIN("odd_names")

static char folder[64], path[96];

static int make_timeline_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/cubewarp-timeline-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/t.json", folder);
    return build(state);
}

static int remove_timeline_folder(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) | clean(state);
}

/* ---- a strict reader ------------------------------------------------------------------------- */

/* An open slice: its end, or UINT64_MAX where an E event comes. */
struct reader_track {
    int64_t pid, tid;
    double last;
    double end[DEPTH_MAX];
    size_t depth;
};

struct reader {
    bool as_ns; /* times are cut off to ns, as a double times 1,000 */
    struct reader_track *tracks;
    size_t count;
    json_t *arrows;  /* id to start; removed at the end */
    json_t *counted; /* counter to its last time */
    size_t begun, ended, slices, waits, calls, counters;
};

static double time_of(const struct reader *reader, const json_t *event, const char *key)
{
    const double us = json_number_value(json_object_get(event, key));
    return reader->as_ns ? floor(us * 1000) : round(us * 1e7);
}

static struct reader_track *track_of(struct reader *reader, const json_t *event)
{
    const int64_t pid = json_integer_value(json_object_get(event, "pid"));
    const int64_t tid = json_integer_value(json_object_get(event, "tid"));
    for (size_t i = reader->count; i-- > 0;)
        if (reader->tracks[i].pid == pid && reader->tracks[i].tid == tid)
            return &reader->tracks[i];
    reader->tracks = realloc(reader->tracks, (reader->count + 1) * sizeof *reader->tracks);
    assert_non_null(reader->tracks);
    reader->tracks[reader->count] = (struct reader_track){.pid = pid, .tid = tid};
    return &reader->tracks[reader->count++];
}

static void open_slice(struct reader *reader, struct reader_track *track, double end,
                       const char *name)
{
    for (size_t i = 0; i < track->depth; i++)
        if (end < INFINITY && end > track->end[i])
            fail_msg("%s ends after the slice that it lies in", name);
    assert_true(track->depth < DEPTH_MAX);
    track->end[track->depth++] = end;
    reader->slices++;
    reader->waits += strstr(name, "wait for ") != NULL;
    reader->calls += strstr(name, " bytes, ") != NULL;
}

static void read_arrow(struct reader *reader, const struct reader_track *track, const json_t *event,
                       double ts, bool begins)
{
    char id[32];
    snprintf(id, sizeof id, "%lld", (long long)json_integer_value(json_object_get(event, "id")));
    const json_t *const start = json_object_get(reader->arrows, id);
    assert_true(track->depth > 0);
    if (begins) {
        assert_null(start);
        json_object_set_new(reader->arrows, id, json_real(ts));
        reader->begun++;
        return;
    }
    assert_non_null(start);
    assert_true(ts >= json_real_value(start));
    json_object_del(reader->arrows, id);
    reader->ended++;
}

static void read_counter(struct reader *reader, const json_t *event, double ts)
{
    const char *const name = json_string_value(json_object_get(event, "name"));
    const json_t *const last = json_object_get(reader->counted, name);
    assert_true(last == NULL || json_real_value(last) <= ts);
    json_object_set_new(reader->counted, name, json_real(ts));
    assert_true(json_number_value(json_object_get(json_object_get(event, "args"), "count")) >= 0);
    reader->counters++;
}

static void read_event(struct reader *reader, const json_t *event)
{
    const char type = *json_string_value(json_object_get(event, "ph"));
    if (type == 'M' || type == 'i')
        return;
    const double ts = time_of(reader, event, "ts");
    if (type == 'C') {
        read_counter(reader, event, ts);
        return;
    }
    struct reader_track *const track = track_of(reader, event);
    assert_true(ts >= track->last);
    track->last = ts;
    while (track->depth > 0 && track->end[track->depth - 1] <= ts)
        track->depth--;
    const char *const name = json_string_value(json_object_get(event, "name"));
    if (type == 'B')
        open_slice(reader, track, INFINITY, name);
    else if (type == 'X')
        open_slice(reader, track, ts + time_of(reader, event, "dur"), name);
    else if (type == 'E') {
        assert_true(track->depth > 0 && isinf(track->end[track->depth - 1]));
        track->depth--;
    } else {
        assert_true(type == 's' || type == 'f');
        read_arrow(reader, track, event, ts, type == 's');
    }
}

/* The counts of the file at `path`. */
static struct reader read_timeline(bool as_ns)
{
    struct reader reader = {.as_ns = as_ns, .arrows = json_object(), .counted = json_object()};
    json_error_t error;
    json_t *const root = json_load_file(path, JSON_REJECT_DUPLICATES, &error), *event;
    size_t i;
    if (root == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    json_array_foreach(json_object_get(root, "traceEvents"), i, event) read_event(&reader, event);
    for (i = 0; i < reader.count; i++)
        for (size_t k = 0; k < reader.tracks[i].depth; k++)
            assert_false(isinf(reader.tracks[i].end[k]));
    json_decref(root);
    json_decref(reader.arrows);
    json_decref(reader.counted);
    free(reader.tracks);
    return reader;
}

static const char *const lines[] = {
    "run --preset tiny --n-elem 9000",
    "run --n-elem 4096 --iters 2 --warmup_iters 1",
    "run --n-elem 2048 --algorithm ring_rs_ag --no-data",
    "run --preset a3_8 --bytes 256KiB --no-data",
    "run --bytes 1KiB:4KiB:x2 --set defaults.n_slots=1",
    "run --bench ipcq_shift --tiles 9 --bytes 1KiB --set defaults.n_slots=2",
    "run --bench gemm_allreduce --gemm 64x64x64",
    "run --preset kernbench --n-elem 2048 --no-data",
    "run --preset a3_8 --bytes 16KiB --no-data --trace-links"};
enum { LINES = sizeof lines / sizeof *lines };

static void slices_nest_and_arrows_arrive(void **state)
{
    (void)state;
    for (size_t i = 0; i < LINES; i++)
        for (int as_ns = 0; as_ns < 2; as_ns++) {
            struct run_output output = run_line(0, "%s --trace %s", lines[i], path);
            const struct reader reader = read_timeline(as_ns);
            assert_true(reader.slices > 10 && reader.counters > 4 && reader.waits > 0);
            assert_int_equal(reader.begun, reader.ended);
            assert_true(reader.begun > 0);
            assert_int_equal(reader.calls, i == 1 || i == 4 || i == 6 ? 3 : 1);
            run_output_free(&output);
        }
}

/* An algorithm's own names are any text. */
static void any_name_is_a_text_of_json(void **state)
{
    (void)state;
    built_plugin_name_symbol(&plugin, "odd_names", "ring_1d");
    struct run_output output =
        run_line(0, "run --preset tiny --bench ccl_barrier --ccl %s --no-data --trace %s --json -",
                 plugin.config, path);
    json_t *const result = json_loads(output.out, 0, NULL);
    assert_non_null(result);
    json_decref(result);
    run_output_free(&output);
    (void)read_timeline(false);
}

/* ---- links ---------------------------------------------------------------------------------- */

enum { LINK_TRACKS = 1 << 30 };

/* The ns that all links of the file are busy for, and how many tracks are PE_DMA's or a switch's.
 * Each slice is rounded to ps, where --links rounds once.
 */
static double links_busy_ns(size_t *pe_dma, size_t *switches)
{
    json_t *const root = json_load_file(path, 0, NULL), *event;
    double ns = 0;
    size_t i;
    *pe_dma = *switches = 0;
    assert_non_null(root);
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const json_t *const args = json_object_get(event, "args");
        const char *const name = json_string_value(json_object_get(args, "name"));
        const bool is_link = json_integer_value(json_object_get(event, "tid")) >= LINK_TRACKS;
        if (is_link && name != NULL) {
            *pe_dma += strstr(name, ", PE_DMA") != NULL;
            *switches += strncmp(name, "switch ", 7) == 0;
        } else if (is_link) {
            ns += json_number_value(json_object_get(event, "dur")) * 1000;
        }
    }
    json_decref(root);
    return ns;
}

/* The busy time that --links tells of all links together. */
static double told_busy_ns(const char *file)
{
    json_t *const root = json_load_file(file, 0, NULL), *link;
    const json_t *const size = json_array_get(json_object_get(root, "sizes"), 0);
    double ns = 0;
    size_t i;
    assert_non_null(size);
    json_array_foreach(json_object_get(size, "links"), i, link) ns +=
        json_number_value(json_object_get(link, "busy_ns")) *
        json_number_value(json_object_get(link, "count"));
    json_decref(root);
    return ns;
}

static void links_have_tracks_where_asked_for(void **state)
{
    (void)state;
    static const char *const asked[] = {"run --preset tiny --n-elem 9000", "run --n-elem 4096",
                                        "run --preset a3_8 --bytes 64KiB --no-data",
                                        "run --n-elem 2048 --set fabric.contention=chunk"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char file[120];
        size_t pe_dma, switches;
        snprintf(file, sizeof file, "%s/links.json", folder);
        struct run_output output =
            run_line(0, "%s --trace %s --trace-links --links %s", asked[i], path, file);
        const struct reader reader = read_timeline(false);
        (void)read_timeline(true);
        const double told = told_busy_ns(file), drawn = links_busy_ns(&pe_dma, &switches);
        assert_true(reader.slices > 100 && told > 0);
        assert_true(fabs(drawn - told) < 1e-4 * told);
        assert_true(pe_dma >= 4);
        assert_int_equal(switches > 0, i == 2);
        run_output_free(&output);
    }
    size_t all, one, switches;
    struct run_output output = run_line(0, "%s --trace %s --trace-links", asked[1], path);
    (void)links_busy_ns(&all, &switches);
    run_output_free(&output);
    output = run_line(0, "%s --trace %s --trace-links --trace-only 1.10", asked[1], path);
    (void)read_timeline(true);
    (void)links_busy_ns(&one, &switches);
    assert_true(one > 0 && one * 16 <= all);
    run_output_free(&output);
    output = run_line(0, "%s --trace %s", asked[1], path);
    assert_true(links_busy_ns(&one, &switches) == 0);
    run_output_free(&output);
}

/* ---- the file -------------------------------------------------------------------------------- */

static char *output_of(const char *command, size_t *bytes)
{
    char *const text = malloc(TEXT_MAX);
    FILE *const pipe = popen(command, "r");
    assert_non_null(text);
    assert_non_null(pipe);
    *bytes = fread(text, 1, TEXT_MAX - 1, pipe);
    text[*bytes] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return text;
}

static void compressed_files_hold_the_same(void **state)
{
    (void)state;
    static const char *const end[] = {"", ".gz", ".zst"};
    static const char *const unpack[] = {"cat", "gzip -dc", "zstd -qdc"};
    char command[256];
    char *texts[3];
    size_t bytes[3];
    for (int i = 0; i < 3; i++) {
        struct run_output output =
            run_line(0, "%s --threads %d --trace %s%s", lines[1], 1 + i % 2, path, end[i]);
        snprintf(command, sizeof command, "%s %s%s", unpack[i], path, end[i]);
        texts[i] = output_of(command, &bytes[i]);
        run_output_free(&output);
    }
    assert_true(bytes[0] > 1000 && bytes[0] == bytes[1]);
    assert_memory_equal(texts[0], texts[1], bytes[0]);
    assert_int_equal(bytes[0], bytes[2]);
    assert_memory_equal(texts[0], texts[2], bytes[0]);
    for (int i = 0; i < 3; i++)
        free(texts[i]);
}

static void all_threads_write_the_same_timeline(void **state)
{
    (void)state;
    char command[256];
    for (size_t i = 0; i < LINES; i++) {
        char *texts[2];
        size_t bytes[2];
        for (int threads = 1; threads <= 2; threads++) {
            struct run_output output =
                run_line(0, "%s --threads %d --sync %s --trace %s", lines[i], threads,
                         threads == 1 ? "sequential" : "stress", path);
            snprintf(command, sizeof command, "cat %s", path);
            texts[threads - 1] = output_of(command, &bytes[threads - 1]);
            run_output_free(&output);
        }
        assert_int_equal(bytes[0], bytes[1]);
        assert_memory_equal(texts[0], texts[1], bytes[0]);
        free(texts[0]);
        free(texts[1]);
    }
}

/* ---- filters --------------------------------------------------------------------------------- */

/* The processes of the file have numbers up to `last`, and slices lie within the window. */
static void expect_window(double from_us, double to_us, json_int_t pid, size_t *slices)
{
    json_t *const root = json_load_file(path, 0, NULL), *event;
    size_t i;
    *slices = 0;
    assert_non_null(root);
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const char type = *json_string_value(json_object_get(event, "ph"));
        const json_int_t of = json_integer_value(json_object_get(event, "pid"));
        if (type == 'M')
            continue;
        const double ts = json_number_value(json_object_get(event, "ts"));
        const double dur = json_number_value(json_object_get(event, "dur"));
        assert_true(of == pid || of == 4); /* 4: calls and counters, on a machine of 4 SIPs */
        assert_true(ts >= from_us && ts + dur <= to_us + 1e-6);
        *slices += (type == 'X' || type == 'B') && of == pid;
    }
    json_decref(root);
}

static void filters_leave_out_the_rest(void **state)
{
    (void)state;
    size_t all, cube, window, before;
    struct run_output output = run_line(0, "run --n-elem 8192 --trace %s --trace-only 1", path);
    expect_window(0, 1e9, 1, &all);
    (void)read_timeline(false);
    run_output_free(&output);
    output = run_line(0, "run --n-elem 8192 --trace %s --trace-only 1.10", path);
    expect_window(0, 1e9, 1, &cube);
    (void)read_timeline(false);
    run_output_free(&output);
    output = run_line(0,
                      "run --n-elem 8192 --trace %s --trace-only 1.0-7.0,1.8-15 --trace-from 8us "
                      "--trace-to 9us",
                      path);
    expect_window(8, 9, 1, &window);
    (void)read_timeline(true);
    run_output_free(&output);
    output = run_line(0, "run --n-elem 8192 --trace %s --trace-only 1 --trace-to 1us", path);
    expect_window(0, 1, 1, &before);
    run_output_free(&output);
    assert_true(cube > 10 && all > 2 * cube && window > 10 && window < all);
    assert_int_equal(before, 0); /* queues are still being installed */
}

static void other_filters_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"4",  "0.16", "0.0.8", "x",       "1-0",
                                        "0.", "0..1", "0,,1",  "1.2.3.4", "-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run_output output = run_line(2, "run --trace %s --trace-only=%s", path, wrong[i]);
        assert_non_null(strstr(output.err, "--trace-only"));
        run_output_free(&output);
    }
    struct run_output output = run_line(2, "run --trace-from 1us");
    run_output_free(&output);
    output = run_line(2, "run --trace %s --trace-from 2us --trace-to 1us", path);
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_nest_and_arrows_arrive),
        cmocka_unit_test(any_name_is_a_text_of_json),
        cmocka_unit_test(links_have_tracks_where_asked_for),
        cmocka_unit_test(compressed_files_hold_the_same),
        cmocka_unit_test(all_threads_write_the_same_timeline),
        cmocka_unit_test(filters_leave_out_the_rest),
        cmocka_unit_test(other_filters_are_refused),
    };
    return cmocka_run_group_tests_name("timeline", tests, make_timeline_folder,
                                       remove_timeline_folder);
}
