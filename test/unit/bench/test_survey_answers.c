/*
 * test_survey_answers.c: what a report answers: the fastest in each case and how far it is from its
 * bound, what a number that was varied does to the times, and that what came of a run names no
 * curve.
 */
#include "test/support/test_survey_support.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report/page.h"
#include "bench/report/sheet.h"
#include "bench/survey/effects.h"
#include "bench/survey/winners.h"
#include "bench/survey/words.h"

enum { TEXT_BYTES = 2048 };

/* A point of one size, as a study with an axis of sizes has. `ran`: the schedule. */
static void add_point(struct survey *survey, const char *algorithm, const char *ran, int speed,
                      int bytes, double time_ns, const char *more)
{
    static int number;
    char text[TEXT_BYTES], label[32];
    snprintf(text, sizeof text,
             "{\"schema\": \"cubewarp.run/1\", \"algorithm\": \"%s\", \"provenance\": {\"changed\":"
             " {\"links.sip_link.bw_gbs\": \"%d\"}}, \"results\": [{\"collective\": \"all_reduce\","
             " \"algorithm\": \"%s\", \"bytes\": %d, \"bytes_per_rank\": %d, \"shards_per_rank\":"
             " 1, \"time_ns\": %.3f, \"bound_ns\": 100, \"bound_by\": \"hbm\", \"wrong\": 0%s}]}",
             algorithm, speed, ran, bytes, bytes, time_ns, more);
    snprintf(label, sizeof label, "p%d", number++);
    add_document(survey, label, text);
}

static const char *cell(const struct winner_table *table, size_t row, const char *head)
{
    for (size_t c = 0; c < table->columns; c++)
        if (strcmp(table->heads[c], head) == 0)
            return table->cells[row * table->columns + c];
    fail_msg("no column %s", head);
    return NULL;
}

/* One curve, although the automatic choice takes another algorithm for each size. */
static void the_algorithm_that_ran_cuts_no_curve(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_point(&survey, "auto", "tree", 100, 1024, 200, "");
    add_point(&survey, "auto", "ring", 100, 2048, 300, "");
    add_point(&survey, "auto", "ring, 4 rings", 100, 4096, 400, ", \"placement\": \"all_pes\"");
    add_point(&survey, "tree", "tree", 100, 1024, 250, "");
    add_point(&survey, "tree", "tree", 100, 2048, 450, "");
    add_point(&survey, "tree", "tree", 100, 4096, 850, "");
    finish(&survey);
    assert_int_equal(survey.series_count, 2);
    assert_string_equal(survey.series[0].name, "auto");
    assert_int_equal(survey.series[0].count, 3);
    assert_false(survey.axes[survey_axis_find(&survey, "schedule")].is_series);
    assert_false(survey.axes[survey_axis_find(&survey, "placement")].is_series);
    struct winner_table table;
    assert_true(winners_table(&survey, &table));
    assert_string_equal(cell(&table, 2, "fastest"), "auto (ran ring, 4 rings on all_pes)");
    survey_free(&survey);
}

/* An algorithm that adds a rank's 16 shards together reduces a sixteenth of what the others do: it
 * is no rival, however soon it is done. */
static void what_reduces_less_is_not_the_fastest(void **state)
{
    (void)state;
    struct survey survey;
    struct winner_table table;
    survey_init(&survey);
    for (int size = 16384; size <= 65536; size *= 4) {
        char algbw[40];
        snprintf(algbw, sizeof algbw, ", \"algbw_gbs\": %.6f", size / 900.0);
        add_point(&survey, "ring", "ring", 100, size, 900, algbw);
        snprintf(algbw, sizeof algbw, ", \"algbw_gbs\": %.6f", size / 16 / 300.0);
        add_point(&survey, "tower", "tower", 100, size, 300, algbw);
    }
    finish(&survey);
    assert_true(winners_table(&survey, &table));
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(cell(&table, i, "fastest"), "ring");
        assert_string_equal(cell(&table, i, "second, and its time / the fastest"),
                            "tower, which adds a rank's shards together: other work, 0.3333 ×");
    }
    survey_free(&survey);
}

/* Every size has its winner, on each machine that was given, its distance to the bound, its limit
 * and the second. */
static void each_size_has_its_fastest(void **state)
{
    (void)state;
    static const char explained[] = ", \"explain\": {\"limited_by\": \"limited by io_port (overhead"
                                    " and work), 22.1 % of the time (twice as fast: 11 % less)\"}";
    struct survey survey;
    struct winner_table table;
    survey_init(&survey);
    for (int fast = 0; fast < 2; fast++) {
        const int speed = fast ? 200 : 100;
        add_point(&survey, "ring", "ring", speed, 1024, 900, explained);
        add_point(&survey, "ring", "ring", speed, 4096, 1000 - 500 * fast, explained);
        add_point(&survey, "tree", "tree", speed, 1024, 600, explained);
        add_point(&survey, "tree", "tree", speed, 4096, 1250, explained);
    }
    finish(&survey);
    assert_true(winners_table(&survey, &table));
    assert_int_equal(table.rows, 4); /* by speed, then by size */
    static const char *const fastest[] = {"tree", "ring", "tree", "ring"};
    static const char *const times[] = {"600 ns", "1 µs", "600 ns", "500 ns"};
    static const char *const over_bound[] = {"6 ×", "10 ×", "6 ×", "5 ×"};
    static const char *const second[] = {"ring, 1.5 ×", "tree, 1.25 ×", "ring, 1.5 ×",
                                         "tree, 2.5 ×"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(cell(&table, i, "sip_link.bw_gbs"), i < 2 ? "100" : "200");
        assert_string_equal(cell(&table, i, "bytes per shard"), i % 2 == 0 ? "1 KiB" : "4 KiB");
        assert_string_equal(cell(&table, i, "fastest"), fastest[i]);
        assert_string_equal(cell(&table, i, "time"), times[i]);
        assert_string_equal(cell(&table, i, "time / lower bound"), over_bound[i]);
        assert_string_equal(cell(&table, i, "limited by"), "io_port (overhead and work), 22.1 %");
        assert_string_equal(cell(&table, i, "second, and its time / the fastest"), second[i]);
    }
    char *const page = written(page_write, &survey);
    assert_non_null(strstr(page, "<table id=\"winners\">"));
    free(page);
    char *const sheet = written(sheet_markdown, &survey);
    assert_non_null(strstr(sheet, "| 200 | 4 KiB | ring | 500 ns | 5 × |"));
    free(sheet);
    survey_free(&survey);
}

/* A call without a critical path has no limit: not the reason why there is none. */
static void a_call_without_a_path_has_no_limit(void **state)
{
    (void)state;
    struct survey survey;
    struct winner_table table;
    survey_init(&survey);
    add_point(&survey, "ring", "ring", 100, 1024, 900,
              ", \"explain\": {\"sentence\": \"limited by hbm, 60.0 % of the time (2.0 × slower in "
              "SIP 5; with half the slowness: 15.0 % less by this path); next io_port, 4.0 %\"}");
    add_point(&survey, "ring", "ring", 100, 4096, 9000,
              ", \"explain\": {\"sentence\": \"no critical path: it does not fit\"}");
    finish(&survey);
    assert_true(says(&survey, "(1 KiB): limited by hbm"));
    assert_true(winners_table(&survey, &table));
    assert_string_equal(cell(&table, 0, "limited by"), "hbm, 60.0 %, 2.0 × slower in SIP 5");
    assert_string_equal(cell(&table, 1, "limited by"), "no critical path");
    survey_free(&survey);
}

/* With too many settings for a table, the fastest of all is named with its settings; a case whose
 * data are all wrong has none. */
static void many_cases_become_one_for_each_size(void **state)
{
    (void)state;
    struct survey survey;
    struct winner_table table;
    survey_init(&survey);
    for (int speed = 1; speed <= WINNERS_MAX; speed++) {
        add_point(&survey, "ring", "ring", speed, 1024, 2000 - speed, "");
        add_point(&survey, "tree", "tree", speed, 1024, 1000 - speed, "");
        add_point(&survey, "ring", "ring", speed, 2048, 9, ", \"wrong\": 5");
        add_point(&survey, "tree", "tree", speed, 2048, 9, ", \"wrong\": 5");
    }
    add_point(&survey, "ring", "ring", 1000, 1024, 1, ""); /* wins once, alone */
    finish(&survey);
    assert_true(says(&survey,
                     "Of 49 cases, one for each bytes per shard and setting, the fastest is"
                     " tree in 48, ring in 1."));
    assert_true(winners_table(&survey, &table));
    assert_int_equal(table.rows, 2);
    assert_string_equal(cell(&table, 0, "fastest"), "sip_link.bw_gbs 1000 · ring");
    assert_string_equal(cell(&table, 0, "time"), "1 ns");
    assert_string_equal(cell(&table, 1, "fastest"), "wrong data in all");
    survey_free(&survey);
}

/* Ranks that end with other bits, and results that are not finite, are said wherever the row is; it
 * may win all the same. Who is second has its placement. */
static void flaws_and_placements_are_named(void **state)
{
    (void)state;
    struct survey survey;
    struct winner_table table;
    survey_init(&survey);
    add_point(&survey, "ring", "ring", 100, 1024, 1000,
              ", \"ranks_differ\": 2, \"placement\": \"all_pes\"");
    add_point(&survey, "tree", "tree", 100, 1024, 2000,
              ", \"not_finite\": 1, \"placement\": \"leader_only\"");
    add_point(&survey, "mesh", "mesh", 100, 1024, 3000,
              ", \"ranks_differ\": 0, \"placement\": \"all_pes\"");
    finish(&survey);
    assert_true(says(&survey, "In 1 row ranks end with different bits."));
    assert_true(says(&survey, "In 1 row results are not finite though all inputs are."));
    assert_true(winners_table(&survey, &table));
    assert_string_equal(cell(&table, 0, "fastest"), "ring on all_pes, ranks differ");
    assert_string_equal(cell(&table, 0, "second, and its time / the fastest"),
                        "tree on leader_only, not finite, 2 ×");
    assert_string_equal(words_flaws(&survey, &survey.rows[0]), "2 elements differ between ranks");
    assert_string_equal(words_flaws(&survey, &survey.rows[1]),
                        "1 result is not finite though all inputs are");
    assert_null(words_flaw(&survey.rows[2]));
    survey_free(&survey);
}

/* A run whose line gives sizes per rank is shown by them, with what `auto` took for each. */
static void sizes_are_those_that_were_asked_for(void **state)
{
    static const char row[] =
        "{\"collective\": \"all_reduce\", \"algorithm\": \"%s\", \"placement\": "
        "\"%s\", \"bytes\": %d, \"bytes_per_rank\": %d, \"shards_per_rank\": "
        "%d, \"time_ns\": 500, \"bound_ns\": 100, \"bound_by\": \"hbm\"}";
    char text[3 * TEXT_BYTES], first[TEXT_BYTES], second[TEXT_BYTES];
    struct survey survey;
    struct winner_table table;
    (void)state;
    snprintf(first, sizeof first, row, "tree", "leader_only", 2048, 2048, 1);
    snprintf(second, sizeof second, row, "ring", "all_pes", 2048, 16384, 8);
    for (int asked = 0; asked < 2; asked++) {
        snprintf(text, sizeof text,
                 "{\"schema\": \"cubewarp.run/1\", \"algorithm\": \"auto\", \"provenance\": "
                 "{\"command_line\": [\"run\", \"%s\", \"2KiB\"]}, \"results\": [%s%s%s]}",
                 asked == 1 ? "--bytes-per-rank" : "--bytes", second, asked == 0 ? ", " : "",
                 asked == 0 ? first : "");
        survey_init(&survey);
        add_document(&survey, "r", text);
        finish(&survey);
        assert_true(winners_table(&survey, &table));
        assert_string_equal(table.heads[0], "bytes per rank");
        if (asked == 0) {
            assert_string_equal(cell(&table, 0, "ran"), "tree on leader_only");
            assert_string_equal(cell(&table, 1, "ran"), "ring on all_pes");
        } else {
            assert_string_equal(table.cells[0], "16 KiB");
            assert_true(says(&survey, "algorithm that ran ring, placement that auto took all_pes"));
        }
        survey_free(&survey);
    }
}

/* Bounds of two placements differ: an efficiency stands with its bound and its time. */
static void an_efficiency_has_its_bound_and_its_time(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_point(&survey, "ring", "ring", 100, 1024, 1000, "");
    add_point(&survey, "tree", "tree", 100, 1024, 400, "");
    finish(&survey);
    assert_true(says(&survey,
                     "Efficiency, lower bound / time, is from 10 % (ring, 1 KiB: bound 100 "
                     "ns, time 1 µs) to 25 % (tree, 1 KiB: bound 100 ns, time 400 ns)."));
    survey_free(&survey);
}

/* "Does a faster link help?" */
static void flat_curves_are_said_to_be_flat(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    for (int speed = 100; speed <= 400; speed *= 2) {
        add_point(&survey, "ring", "ring", speed, 1024, 1000 - speed / 100, "");
        add_point(&survey, "tree", "tree", speed, 1024, 500, "");
    }
    finish(&survey);
    assert_true(says(&survey, "sip_link.bw_gbs from 100 to 400 GB/s changes no time by more than 2"
                              " %: the curves over it are flat."));
    survey_free(&survey);
}

static void the_largest_effect_of_a_number_is_named(void **state)
{
    (void)state;
    struct survey survey;
    struct effect effect;
    survey_init(&survey);
    for (int speed = 100; speed <= 800; speed *= 2) {
        add_point(&survey, "ring", "ring", speed, 1024, speed < 400 ? 120000.0 / speed : 300, "");
        add_point(&survey, "ring", "ring", speed, 4096, speed < 400 ? 160000.0 / speed : 400, "");
        add_point(&survey, "tree", "tree", speed, 1024, 500, "");
        add_point(&survey, "tree", "tree", speed, 4096, 501, "");
    }
    finish(&survey);
    const int axis = survey_axis_find(&survey, "links.sip_link.bw_gbs");
    assert_true(effect_of(&survey, (size_t)axis, &effect));
    assert_int_equal(effect.curves, 4);
    assert_int_equal(effect.flat, 2);
    assert_true(effect.most == 4 && effect.least == 1); /* 1200 to 300 ns; 500 to 500 */
    assert_true(effect.flat_from == 400);
    assert_true(says(&survey, "sip_link.bw_gbs from 100 to 800 GB/s makes a call up to 4 times as"
                              " fast (ring, 1 KiB)"));
    assert_true(says(&survey, "2 of 4 curves are flat (less than 2 %); from 400 GB/s on none"
                              " changes any more."));
    survey_free(&survey);
}

/* Times as torus_rs_ag has them on dragonfly_64 over pe_noc's rate. */
static void a_faster_part_that_slows_a_call_is_said_to(void **state)
{
    (void)state;
    static const double torus_ns[] = {23748, 24597, 25359};
    struct survey survey;
    survey_init(&survey);
    for (int i = 0; i < 3; i++) {
        add_point(&survey, "torus", "torus", 128 << i, 1024, torus_ns[i], "");
        add_point(&survey, "ring", "ring", 128 << i, 1024, 500 - i, "");
    }
    finish(&survey);
    assert_true(says(&survey, "A faster part makes a call slower: sip_link.bw_gbs from 128 to 512 "
                              "GB/s takes 1.068 times as long (torus). Links"));
    survey_free(&survey);
}

/* Neither 2 % nor a slower link that makes a call slower is worth a word. */
static void what_is_expected_is_not_said(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    for (int i = 0; i < 3; i++) {
        add_point(&survey, "torus", "torus", 128 << i, 1024, 1000 + 9 * i, "");
        add_point(&survey, "ring", "ring", 128 << i, 1024, 500 - 100 * i, "");
    }
    finish(&survey);
    assert_false(says(&survey, "A faster part"));
    survey_free(&survey);
}

/* A curve that rises has become slower. */
static void a_number_that_slows_is_said_to(void **state)
{
    (void)state;
    struct survey survey;
    survey_init(&survey);
    add_point(&survey, "ring", "ring", 100, 1024, 100, "");
    add_point(&survey, "ring", "ring", 200, 1024, 300, "");
    finish(&survey);
    assert_true(says(&survey, "makes a call up to 3 times as slow"));
    survey_free(&survey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_algorithm_that_ran_cuts_no_curve),
        cmocka_unit_test(what_reduces_less_is_not_the_fastest),
        cmocka_unit_test(each_size_has_its_fastest),
        cmocka_unit_test(a_call_without_a_path_has_no_limit),
        cmocka_unit_test(many_cases_become_one_for_each_size),
        cmocka_unit_test(flaws_and_placements_are_named),
        cmocka_unit_test(sizes_are_those_that_were_asked_for),
        cmocka_unit_test(an_efficiency_has_its_bound_and_its_time),
        cmocka_unit_test(flat_curves_are_said_to_be_flat),
        cmocka_unit_test(the_largest_effect_of_a_number_is_named),
        cmocka_unit_test(a_number_that_slows_is_said_to),
        cmocka_unit_test(a_faster_part_that_slows_a_call_is_said_to),
        cmocka_unit_test(what_is_expected_is_not_said),
    };
    return cmocka_run_group_tests_name("survey_answers", tests, NULL, NULL);
}
