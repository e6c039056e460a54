/*
 * test_timeline_tracks.c: a timeline of a PE with more operations at once than it has tracks side
 * by side.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/trace/timeline.h"
#include "bench/trace/timeline_events.h"
#include "lp/record.h"

enum { PES = 2, OPERATIONS = 2 * TRACKS_SIDE + 100 };

/* One SIP with one cube of two PEs. */
static void make_model(struct lp_model *model)
{
    *model = (struct lp_model){.cubes = 1, .pes = PES};
    model->hw.sip_count = 1;
    model->hw.cube_w = model->hw.cube_h = 1;
    model->hw.corner_count = 1;
    model->hw.pe_per_corner = PES;
}

static uint32_t names_of_tracks(char *text, bool seen[])
{
    uint32_t count = 0;
    for (char *at = strstr(text, "thread_name"); at != NULL; at = strstr(at + 1, "thread_name")) {
        const unsigned long tid = strtoul(strstr(at, "\"tid\":") + strlen("\"tid\":"), NULL, 10);
        assert_true(tid < 4UL * PES * TRACKS_SIDE);
        assert_false(seen[tid]);
        seen[tid] = true;
        count++;
    }
    return count;
}

/* Loads of both PEs that begin at one time: each has a track of its own, with its own number. */
static void as_many_tracks_as_operations(void **state)
{
    (void)state;
    static struct lp_model model;
    static bool seen[4 * PES * TRACKS_SIDE];
    struct cw_error error = {.exit_code = CW_OK};
    char *text = NULL;
    size_t bytes = 0;
    make_model(&model);
    FILE *const stream = open_memstream(&text, &bytes);
    struct timeline *const timeline = timeline_create(
        stream, &model, &(struct timeline_options){.filter = {.to_ps = INT64_MAX}}, &error);
    assert_non_null(timeline);
    for (uint32_t i = 0; i < PES * OPERATIONS; i++)
        timeline_op(
            timeline,
            &(struct lp_op){.t_end_ps = 1000 + i, .pe = i % PES, .kind = LP_OP_LOAD, .bytes = 8});
    assert_int_equal(timeline_finish(timeline, &error), CW_OK);
    timeline_free(timeline);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(names_of_tracks(text, seen), PES * OPERATIONS);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_tracks_as_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
