/*
 * test_workload_pipeline.c: orders of pipeline schedules, and groups of parallel layouts, against
 * lists that were written by hand from the published definitions: GPipe (Huang et al. 2019), 1F1B
 * (Narayanan et al. 2021, figures 3 and 4), and Megatron's RankGenerator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "workload/file/parallel.h"
#include "workload/file/pipeline.h"

/* ---- schedules ------------------------------------------------------------------------------- */

enum { UNITS_MAX = 64 };

/* The order as text: F0 B0, with chunks F0.1. */
static const char *order_text(const struct pipeline_shape *shape, uint32_t stage, char text[512])
{
    struct pipeline_unit unit[UNITS_MAX];
    const uint32_t count = pipeline_units(shape);
    size_t used = 0;
    assert_true(count <= UNITS_MAX);
    pipeline_order(shape, stage, unit);
    for (uint32_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, 512 - used, "%s%c%u", i > 0 ? " " : "",
                                 unit[i].backward ? 'B' : 'F', unit[i].microbatch);
        if (shape->chunks > 1)
            used += (size_t)snprintf(text + used, 512 - used, ".%u", unit[i].chunk);
    }
    return text;
}

static void test_1f1b_of_four_stages(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7",
        "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7",
        "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7",
        "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7",
    };
    const struct pipeline_shape shape = {
        .schedule = PIPELINE_1F1B, .stages = 4, .chunks = 1, .microbatches = 8};
    char text[512];
    for (uint32_t stage = 0; stage < 4; stage++)
        assert_string_equal(order_text(&shape, stage, text), expected[stage]);
}

/* Fewer microbatches than stages: the warm-up is all of them. */
static void test_1f1b_of_few_microbatches(void **state)
{
    (void)state;
    const struct pipeline_shape shape = {
        .schedule = PIPELINE_1F1B, .stages = 4, .chunks = 1, .microbatches = 2};
    char text[512];
    assert_string_equal(order_text(&shape, 0, text), "F0 F1 B0 B1");
    assert_string_equal(order_text(&shape, 2, text), "F0 F1 B0 B1");
    assert_string_equal(order_text(&shape, 3, text), "F0 B0 F1 B1");
}

static void test_gpipe(void **state)
{
    (void)state;
    struct pipeline_shape shape = {
        .schedule = PIPELINE_GPIPE, .stages = 3, .chunks = 1, .microbatches = 3};
    char text[512];
    for (uint32_t stage = 0; stage < 3; stage++)
        assert_string_equal(order_text(&shape, stage, text), "F0 F1 F2 B0 B1 B2");
    shape.forward_only = true;
    assert_string_equal(order_text(&shape, 1, text), "F0 F1 F2");
}

/* Figure 4 of Narayanan et al. 2021: four devices, eight microbatches, two chunks. The first device
 * passes 1 to 4 through its first chunk, 1 to 4 through its second, then 5 and 6 through the first;
 * the last one has 2 * 0 + 1 * 4 passes before the first pair. */
static void test_interleaved_of_four_stages(void **state)
{
    (void)state;
    const struct pipeline_shape shape = {
        .schedule = PIPELINE_INTERLEAVED, .stages = 4, .chunks = 2, .microbatches = 8};
    char text[512];
    assert_string_equal(order_text(&shape, 0, text),
                        "F0.0 F1.0 F2.0 F3.0 F0.1 F1.1 F2.1 F3.1 F4.0 F5.0 "
                        "F6.0 B0.1 F7.0 B1.1 F4.1 B2.1 F5.1 B3.1 F6.1 B0.0 F7.1 B1.0 "
                        "B2.0 B3.0 B4.1 B5.1 B6.1 B7.1 B4.0 B5.0 B6.0 B7.0");
    assert_string_equal(
        order_text(&shape, 3, text),
        "F0.0 F1.0 F2.0 F3.0 F0.1 B0.1 F1.1 B1.1 F2.1 B2.1 F3.1 B3.1 "
        "F4.0 B0.0 F5.0 B1.0 F6.0 B2.0 F7.0 B3.0 F4.1 B4.1 F5.1 B5.1 F6.1 B6.1 F7.1 B7.1 "
        "B4.0 B5.0 B6.0 B7.0");
}

/* Stage s of 1F1B holds at most p - s microbatches, GPipe all. */
static void test_in_flight(void **state)
{
    (void)state;
    struct pipeline_shape shape = {
        .schedule = PIPELINE_1F1B, .stages = 4, .chunks = 1, .microbatches = 8};
    struct pipeline_unit unit[UNITS_MAX];
    for (uint32_t stage = 0; stage < 4; stage++) {
        pipeline_order(&shape, stage, unit);
        assert_int_equal(pipeline_in_flight(unit, 16), 4 - stage);
    }
    shape.schedule = PIPELINE_GPIPE;
    pipeline_order(&shape, 3, unit);
    assert_int_equal(pipeline_in_flight(unit, 16), 8);
    shape.schedule = PIPELINE_INTERLEAVED;
    shape.chunks = 2;
    pipeline_order(&shape, 0, unit);
    assert_int_equal(pipeline_in_flight(unit, 32), 11);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static struct parallel layout(uint32_t tp, uint32_t cp, uint32_t ep, uint32_t dp, uint32_t pp,
                              const char *order)
{
    struct parallel parallel = {.size = {tp, cp, ep, dp, pp, 0}};
    assert_null(parallel_order_read(&parallel, order));
    assert_null(parallel_complete(&parallel));
    return parallel;
}

/* The set's groups as text: "0 1|2 3". */
static const char *groups_text(const struct parallel *parallel, const char *set, char text[512])
{
    uint32_t first[65], ranks[64];
    const char *wrong;
    const uint32_t dims = parallel_set_read(set, &wrong);
    assert_int_not_equal(dims, 0);
    const uint32_t groups = parallel_groups(parallel, dims, first, ranks);
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t group = 0; group < groups; group++)
        for (uint32_t i = first[group]; i < first[group + 1]; i++)
            used += (size_t)snprintf(text + used, 512 - used, "%s%u",
                                     i > first[group] ? " "
                                     : group > 0      ? "|"
                                                      : "",
                                     ranks[i]);
    return text;
}

/* The example of Megatron's initialize_model_parallel(): 16 ranks, tp 2, pp 4. */
static void test_groups_of_megatrons_example(void **state)
{
    (void)state;
    const struct parallel parallel = layout(2, 1, 1, 2, 4, "tp-cp-ep-dp-pp");
    char text[512];
    assert_int_equal(parallel.ranks, 16);
    assert_string_equal(groups_text(&parallel, "tp", text),
                        "0 1|2 3|4 5|6 7|8 9|10 11|12 13|14 15");
    assert_string_equal(groups_text(&parallel, "dp", text),
                        "0 2|1 3|4 6|5 7|8 10|9 11|12 14|13 15");
    assert_string_equal(groups_text(&parallel, "pp", text),
                        "0 4 8 12|1 5 9 13|2 6 10 14|3 7 11 15");
    assert_string_equal(groups_text(&parallel, "tp-pp", text),
                        "0 1 4 5 8 9 12 13|2 3 6 7 10 11 14 15");
    assert_int_equal(parallel_coordinate(&parallel, PARALLEL_PP, 13), 3);
    assert_int_equal(parallel_coordinate(&parallel, PARALLEL_DP, 13), 0);
    assert_int_equal(parallel_coordinate(&parallel, PARALLEL_TP, 13), 1);
}

/* tp 2, pp 2, dp 2 in the order tp-pp-dp: pipelines are neighbours. */
static void test_groups_of_another_order(void **state)
{
    (void)state;
    const struct parallel parallel = layout(2, 1, 1, 2, 2, "tp-pp-dp");
    char text[512];
    assert_string_equal(groups_text(&parallel, "pp", text), "0 2|1 3|4 6|5 7");
    assert_string_equal(groups_text(&parallel, "dp", text), "0 4|1 5|2 6|3 7");
}

/* tp 2, cp 2, dp 4, ep 4: experts on 2 x 4 ranks, twice. */
static void test_groups_of_experts(void **state)
{
    (void)state;
    const struct parallel parallel = layout(2, 2, 4, 4, 1, "tp-cp-ep-dp-pp");
    char text[512];
    assert_int_equal(parallel.ranks, 16);
    assert_int_equal(parallel.size[PARALLEL_EDP], 2);
    assert_string_equal(groups_text(&parallel, "cp", text),
                        "0 2|1 3|4 6|5 7|8 10|9 11|12 14|13 15");
    assert_string_equal(groups_text(&parallel, "dp", text),
                        "0 4 8 12|1 5 9 13|2 6 10 14|3 7 11 15");
    assert_string_equal(groups_text(&parallel, "dp-cp", text),
                        "0 2 4 6 8 10 12 14|1 3 5 7 9 11 13 15");
    assert_string_equal(groups_text(&parallel, "ep", text),
                        "0 2 4 6|1 3 5 7|8 10 12 14|9 11 13 15");
    assert_string_equal(groups_text(&parallel, "edp", text),
                        "0 8|1 9|2 10|3 11|4 12|5 13|6 14|7 15");
    assert_string_equal(groups_text(&parallel, "tp-ep", text),
                        "0 1 2 3 4 5 6 7|8 9 10 11 12 13 14 15");
}

static void test_refused_layouts(void **state)
{
    (void)state;
    struct parallel parallel = {.size = {2, 1, 3, 4, 1, 0}};
    const char *wrong;
    assert_null(parallel_order_read(&parallel, "tp-cp-ep-dp-pp"));
    assert_string_equal(parallel_complete(&parallel),
                        "ep does not divide dp * cp: legal are its divisors");
    parallel = (struct parallel){.size = {2, 1, 1, 4, 2, 0}};
    assert_null(parallel_order_read(&parallel, "tp-dp"));
    assert_non_null(parallel_complete(&parallel));
    assert_non_null(parallel_order_read(&parallel, "tp-tp"));
    assert_non_null(parallel_order_read(&parallel, "tp-edp"));
    assert_non_null(parallel_order_read(&parallel, "tp-"));
    /* experts' pipelines would begin 4 ranks apart, the others' 8 */
    parallel = (struct parallel){.size = {2, 4, 2, 2, 2, 0}};
    assert_null(parallel_order_read(&parallel, "tp-cp-ep-pp-dp"));
    assert_non_null(parallel_complete(&parallel));
    assert_int_equal(parallel_set_read("ep-dp", &wrong), 0);
    assert_non_null(wrong);
    assert_int_equal(parallel_set_read("tp-tp", &wrong), 0);
    assert_int_equal(parallel_set_read("xp", &wrong), 0);
    assert_null(wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_1f1b_of_four_stages),
        cmocka_unit_test(test_1f1b_of_few_microbatches),
        cmocka_unit_test(test_gpipe),
        cmocka_unit_test(test_interleaved_of_four_stages),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_groups_of_megatrons_example),
        cmocka_unit_test(test_groups_of_another_order),
        cmocka_unit_test(test_groups_of_experts),
        cmocka_unit_test(test_refused_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
