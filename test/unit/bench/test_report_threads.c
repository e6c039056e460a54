/*
 * test_report_threads.c: the figures of its threads in a result: where their time went, the events
 * that they undid, and the figures of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "test/support/report_text.h"

/* Three workers, as the engine counts them. */
static struct result sample(struct cw_stats workers[3])
{
    struct result result = {.engine = {.sync = "adaptive", .partition = "block", .threads = 3}};
    for (uint32_t i = 0; i < 3; i++)
        workers[i] =
            (struct cw_stats){.events_committed = 100 * i, .time_share = {0.5, 0.25, 0, 0, 0.25}};
    result.engine.workers = workers;
    result.engine.worker_count = 3;
    struct cw_stats *const stats = &result.engine.stats;
    stats->rollbacks = 8;
    stats->rollbacks_primary = 6;
    stats->rollbacks_secondary = 2;
    stats->events_rolled_back = 20;
    stats->rollback_events_max = 7;
    stats->anti_messages = 5;
    stats->window_mean = 640;
    stats->gvt_rounds = 12;
    stats->gvt_round_mean_s = 3.25e-6;
    const double share[CW_ACTIVITIES] = {0.5, 0.25, 0.0625, 0.125, 0.0625};
    memcpy(stats->time_share, share, sizeof share);
    return result;
}

static void several_threads_get_lines_on_where_the_time_went(void **state)
{
    (void)state;
    struct cw_stats workers[3];
    struct result result = sample(workers);
    char *text = written_by(report_table, &result);
    assert_non_null(strstr(
        text, "\n# time of the threads: handling 50.0 %, queue 25.0 %, rollback 6.2 %, gvt 12.5 %, "
              "idle 6.2 % (sampled)\n"
              "# rollbacks: primary 6, secondary 2, events in one: mean 2.5, most 7; "
              "anti-messages 5; window: mean 640 events; GVT: 12 rounds of 3.2 us\n"));
    assert_null(strstr(text, "mostly waited"));
    free(text);
    result.engine.stats.time_share[CW_IDLE] = 0.77;
    text = written_by(report_table, &result);
    assert_non_null(strstr(text, "\n# the threads mostly waited: "));
    free(text);
    memset(result.engine.stats.time_share, 0, sizeof result.engine.stats.time_share);
    text = written_by(report_table, &result);
    assert_non_null(strstr(text, "\n# time of the threads: the run was too short for a sample\n"));
    free(text);
}

static void json_has_the_figures_of_each_worker(void **state)
{
    (void)state;
    struct cw_stats workers[3];
    const struct result result = sample(workers);
    char *const text = written_by(write_json, &result);
    json_t *const object = json_loads(text, 0, NULL);
    const json_t *const engine = json_object_get(object, "engine");
    assert_int_equal(json_integer_value(json_object_get(engine, "rollbacks_primary")), 6);
    assert_true(json_real_value(json_object_get(engine, "rollback_events_mean")) == 2.5);
    assert_true(json_real_value(json_object_get(engine, "gvt_round_mean_us")) == 3.25);
    const json_t *const share = json_object_get(engine, "time_share");
    assert_int_equal(json_object_size(share), CW_ACTIVITIES);
    assert_true(json_real_value(json_object_get(share, "rollback")) == 0.0625);
    const json_t *const list = json_object_get(engine, "workers");
    assert_int_equal(json_array_size(list), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *const one = json_array_get(list, i);
        assert_int_equal(json_integer_value(json_object_get(one, "events_committed")), 100 * i);
        assert_true(json_real_value(json_object_get(json_object_get(one, "time_share"), "idle")) ==
                    0.25);
    }
    json_decref(object);
    free(text);
}

static void one_thread_gets_none_of_these_lines(void **state)
{
    (void)state;
    struct cw_stats workers[3];
    struct result result = sample(workers);
    result.engine.threads = 1;
    char *const text = written_by(report_table, &result);
    assert_null(strstr(text, "time of the threads"));
    assert_null(strstr(text, "rollbacks"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_get_lines_on_where_the_time_went),
        cmocka_unit_test(json_has_the_figures_of_each_worker),
        cmocka_unit_test(one_thread_gets_none_of_these_lines),
    };
    return cmocka_run_group_tests_name("report of threads", tests, NULL, NULL);
}
