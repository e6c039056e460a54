/*
 * test_timeline_batches.c: a timeline of calls in flight together: each process group has tracks of
 * its own, and a kernel's wait for its PE is a slice.
 */
#include <jansson.h>

#include "bench/trace/timeline.h"
#include "test/support/test_lp_support.h"

enum { LONG_NS = 1000, SHORT_NS = 300, CALLS = 3 };

struct scene {
    struct machine *m;
    struct timeline *timeline; /* NULL: not yet */
};

static void hear_kernel(void *arg, const struct lp_kernel_record *record)
{
    timeline_kernel(((const struct scene *)arg)->timeline, record);
}

static void hear_wait(void *arg, int64_t now_ps, const struct lp_waited *waited)
{
    timeline_waited(((const struct scene *)arg)->timeline, now_ps, waited);
}

/* Events are in us, with a digit more at the end. */
static int64_t ns_of(const json_t *event, const char *key)
{
    return (int64_t)(json_number_value(json_object_get(event, key)) * 1000);
}

static const char *text_of(const json_t *event, const char *key)
{
    const json_t *const args = json_object_get(event, "args");
    const char *const text = json_string_value(json_object_get(event, key));
    return text != NULL ? text : json_string_value(json_object_get(args, key));
}

/* Number `n` of the events whose `key`, or that of their args, is this text; NULL: there are fewer.
 */
static const json_t *event_of(const json_t *events, const char *key, const char *value, uint32_t n)
{
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *const event = json_array_get(events, i);
        const char *const text = text_of(event, key);
        if (text != NULL && strcmp(text, value) == 0 && n-- == 0)
            return event;
    }
    return NULL;
}

/* Three calls of two groups, launched at one instant, on one PE: with one hardware queue they take
 * turns; with two, the second call has one of its own. */
static json_t *timeline_of_calls(enum cw_sync sync, uint32_t queues)
{
    static const char *const whose[CALLS] = {"group tp0", "group dp0", "group tp0"};
    static const char *const call[CALLS] = {"call 0 (all_reduce)", "call 0 (all_reduce)",
                                            "call 1 (all_reduce)"};
    static const struct line takes_long[] = {DELAY(LONG_NS), DONE};
    static const struct line takes_short[] = {DELAY(SHORT_NS), DONE};
    struct scene scene = {.m = small_machine(1, 1, 1)};
    struct machine *const m = scene.m;
    char *text = NULL;
    size_t bytes = 0;
    json_error_t error;
    FILE *const stream = open_memstream(&text, &bytes);
    m->hw.corner_count = m->hw.pe_per_corner = 1;
    m->needs.launches = CALLS;
    m->needs.queues = queues;
    m->engine.sync = sync;
    m->listener = (struct lp_listener){.kernel = hear_kernel, .waited = hear_wait, .arg = &scene};
    machine_start(m);
    scene.timeline = timeline_create(
        stream, lp_system_model(m->system),
        &(struct timeline_options){.collective = "test", .filter = {.to_ps = INT64_MAX}},
        &m->error);
    assert_non_null(scene.timeline);
    for (uint32_t i = 0; i < CALLS; i++) {
        const struct part part = {0, i == 0 ? takes_long : takes_short};
        begin_scripts_with(
            m, (struct lp_batch_options){.whose = whose[i], .name = call[i], .queue = i % queues});
        submit_scripts(m, &part, 1);
    }
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    assert_int_equal(timeline_finish(scene.timeline, &m->error), CW_OK);
    timeline_free(scene.timeline);
    assert_int_equal(fclose(stream), 0);
    json_t *const root = json_loads(text, 0, &error);
    if (root == NULL)
        fail_msg("%s, line %d", error.text, error.line);
    free(text);
    machine_free(m);
    return root;
}

static void calls_in_flight_together_are_apart(void **state)
{
    (void)state;
    static const enum cw_sync modes[] = {CW_SEQUENTIAL, CW_OPTIMISTIC};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        json_t *const root = timeline_of_calls(modes[i], 1);
        const json_t *const events = json_object_get(root, "traceEvents");
        const json_t *const kernel = event_of(events, "ph", "B", 0);
        const json_t *const waits[] = {event_of(events, "name", "wait for the PE", 0),
                                       event_of(events, "name", "wait for the PE", 1)};
        static const int64_t wait_ns[] = {LONG_NS, LONG_NS + SHORT_NS};
        static const char *const of[] = {"group dp0", "group tp0"};
        assert_non_null(kernel);
        for (uint32_t k = 0; k < COUNT_OF(waits); k++) {
            assert_non_null(waits[k]);
            assert_int_equal(ns_of(waits[k], "ts"), ns_of(kernel, "ts"));
            assert_int_equal(ns_of(waits[k], "dur"), wait_ns[k]);
            assert_string_equal(text_of(waits[k], "of"), of[k]);
            assert_string_equal(text_of(waits[k], "kernel"), "script");
        }
        assert_null(event_of(events, "name", "wait for the PE", 2));
        /* calls: the third of them has a track of its own beside the first of its group */
        static const int64_t took_ns[CALLS] = {LONG_NS, SHORT_NS, SHORT_NS};
        int64_t begin_ns = ns_of(kernel, "ts");
        for (uint32_t k = 0; k < CALLS; k++) {
            const json_t *const call = event_of(events, "bench", "test", k);
            assert_non_null(call);
            assert_int_equal(json_integer_value(json_object_get(call, "tid")), k);
            assert_string_equal(text_of(call, "of"), k == 1 ? "group dp0" : "group tp0");
            assert_int_equal(ns_of(call, "ts"), begin_ns);
            assert_int_equal(ns_of(call, "dur"), took_ns[k]);
            begin_ns += took_ns[k];
        }
        assert_null(event_of(events, "bench", "test", CALLS));
        json_decref(root);
    }
}

static int64_t track_named(const json_t *events, const char *name)
{
    const json_t *event;
    for (uint32_t n = 0; (event = event_of(events, "name", "thread_name", n)) != NULL; n++)
        if (strcmp(json_string_value(json_object_get(json_object_get(event, "args"), "name")),
                   name) == 0)
            return json_integer_value(json_object_get(event, "tid"));
    fail_msg("no track is named %s", name);
    return -1;
}

/* Slices of one track never overlap: kernels that run at the same time are on tracks of their own.
 */
static void each_hardware_queue_has_a_track_of_its_kernels(void **state)
{
    (void)state;
    static const char *const of[CALLS] = {"group tp0", "group dp0", "group tp0"};
    static const int64_t after_ns[CALLS] = {0, 0, LONG_NS};
    json_t *const root = timeline_of_calls(CW_SEQUENTIAL, 2);
    const json_t *const events = json_object_get(root, "traceEvents");
    const int64_t track[] = {track_named(events, "cube 0 PE 0 kernels of queue 0"),
                             track_named(events, "cube 0 PE 0 kernels of queue 1")};
    int64_t begin_ns = 0;
    assert_int_not_equal(track[0], track[1]);
    for (uint32_t k = 0; k < CALLS; k++) {
        const json_t *const kernel = event_of(events, "ph", "B", k);
        assert_non_null(kernel);
        assert_string_equal(text_of(kernel, "of"), of[k]);
        assert_int_equal(json_integer_value(json_object_get(kernel, "tid")), track[k % 2]);
        begin_ns = k == 0 ? ns_of(kernel, "ts") : begin_ns;
        assert_int_equal(ns_of(kernel, "ts"), begin_ns + after_ns[k]);
    }
    assert_non_null(event_of(events, "name", "wait for the PE", 0));
    assert_null(event_of(events, "name", "wait for the PE", 1));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_in_flight_together_are_apart),
        cmocka_unit_test(each_hardware_queue_has_a_track_of_its_kernels),
    };
    return cmocka_run_group_tests_name("timeline_batches", tests, NULL, NULL);
}
