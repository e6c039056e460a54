/*
 * test_study.c: study files: their points with labels and commands, and their errors, with place
 * and remedy (bench/study/STUDY.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/study/study_estimate.h"
#include "bench/study/study_range.h"
#include "bench/study/study_read.h"
#include "bench/study/study_shard.h"
#include "core/cw.h"

static char path[] = "/tmp/test_study.XXXXXX";

static int make_file(void **state)
{
    (void)state;
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int read_text(const char *text, struct study **study, struct config_errors *errors)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return study_read(path, study, errors);
}

static struct study *good(const char *text)
{
    struct config_errors errors = {0};
    struct study *study;
    const int code = read_text(text, &study, &errors);
    config_errors_print(stderr, &errors);
    assert_int_equal(code, CW_OK);
    assert_int_equal(errors.count, 0);
    return study;
}

/* A text with one error, at LINE:COLUMN, whose message begins like this. */
static void begins(const char *text, const char *error)
{
    struct config_errors errors = {0};
    struct study *study;
    assert_int_equal(read_text(text, &study, &errors), CW_USAGE);
    assert_null(study);
    assert_true(errors.count >= 1);
    assert_memory_equal(errors.list[0].text, path, strlen(path));
    if (strncmp(errors.list[0].text + strlen(path) + 1, error, strlen(error)) != 0)
        fail_msg("%s\ninstead of %s", errors.list[0].text, error);
    assert_int_equal(errors.count, 1);
    config_errors_free(&errors);
}

/* The same, with nothing after it. */
static void bad(const char *text, const char *error)
{
    struct config_errors errors = {0};
    struct study *study;
    begins(text, error);
    assert_int_equal(read_text(text, &study, &errors), CW_USAGE);
    assert_string_equal(errors.list[0].text + strlen(path) + 1, error);
    config_errors_free(&errors);
}

/* Not all values of a long axis are listed. */
static void a_wrong_value_is_answered_with_some_of_many(void **state)
{
    struct config_errors errors = {0};
    struct study *study;
    (void)state;
    assert_int_equal(
        read_text("study: s\naxes: {seed: 1:400:+1}\nexclude: [{seed: fast}]\n", &study, &errors),
        CW_USAGE);
    const char *const text = errors.list[0].text;
    assert_non_null(strstr(text, "has no value 'fast'; it has 1, 2, 3, 4, "));
    const char *const more = strstr(text, " and ");
    assert_non_null(more);
    const int listed = 400 - atoi(more + 5);
    char last[64];
    snprintf(last, sizeof last, ", %d and %d more", listed, 400 - listed);
    assert_non_null(strstr(text, last));
    assert_true(listed > 100 && listed < 200);
    config_errors_free(&errors);
}

static void point_is(const struct study *study, uint32_t point, const char *label,
                     const char *command)
{
    char *const own_label = study_label(study, point);
    char *const own_command = study_command(study, point);
    assert_string_equal(own_label, label);
    assert_string_equal(own_command, command);
    free(own_label);
    free(own_command);
}

static void axes_combine_and_the_last_changes_fastest(void **state)
{
    (void)state;
    struct study *const study = good("study: s\n"
                                     "base: {preset: tiny, no-data: true, seed: 3}\n"
                                     "axes:\n"
                                     "  algorithm: [ring_allreduce, tree_allreduce]\n"
                                     "  links.sip_link.bw_gbs: 12.5:50:x2\n");
    assert_int_equal(study->point_count, 6);
    point_is(study, 0, "algorithm=ring_allreduce, links.sip_link.bw_gbs=12.5",
             "cubewarp run --preset tiny --no-data --seed 3 --algorithm ring_allreduce --set "
             "links.sip_link.bw_gbs=12.5");
    point_is(study, 4, "algorithm=tree_allreduce, links.sip_link.bw_gbs=25",
             "cubewarp run --preset tiny --no-data --seed 3 --algorithm tree_allreduce --set "
             "links.sip_link.bw_gbs=25");
    study_free(study);
}

static void a_study_without_axes_is_one_point(void **state)
{
    (void)state;
    struct study *const study = good("study: s\nbase: {bytes: '1KiB:4KiB:x2'}\n");
    assert_int_equal(study->point_count, 1);
    point_is(study, 0, "base", "cubewarp run --bytes 1KiB:4KiB:x2");
    study_free(study);
}

static void named_cases_set_several_names_and_an_axis_overrides_base(void **state)
{
    (void)state;
    struct study *const study = good(
        "study: s\n"
        "base: {seed: 3, verify-data: true}\n"
        "axes:\n"
        "  machine:\n"
        "    two rings: {system.sips.count: 2, seed: 4}\n"
        "    flags: {verify-data: false, 'system.sips.topology': [{ring_1d: 4}, {switch: 2}]}\n");
    assert_int_equal(study->point_count, 2);
    point_is(study, 0, "machine=two rings",
             "cubewarp run --verify-data --set system.sips.count=2 --seed 4");
    point_is(study, 1, "machine=flags",
             "cubewarp run --seed 3 --set 'system.sips.topology=[{ring_1d: 4}, {switch: 2}]'");
    study_free(study);
}

static void zipped_axes_advance_together(void **state)
{
    (void)state;
    struct study *const study = good("study: s\n"
                                     "axes:\n"
                                     "  defaults.n_slots: [2, 4]\n"
                                     "  seed: [1, 2]\n"
                                     "  defaults.slot_size: [8192, 4096]\n"
                                     "zip: [[defaults.slot_size, defaults.n_slots]]\n");
    assert_int_equal(study->point_count, 4);
    point_is(study, 1, "defaults.n_slots=2, seed=2, defaults.slot_size=8192",
             "cubewarp run --set defaults.n_slots=2 --seed 2 --set defaults.slot_size=8192");
    point_is(study, 2, "defaults.n_slots=4, seed=1, defaults.slot_size=4096",
             "cubewarp run --set defaults.n_slots=4 --seed 1 --set defaults.slot_size=4096");
    study_free(study);
}

static void exclusions_leave_points_out(void **state)
{
    (void)state;
    struct study *const study = good("study: s\n"
                                     "axes:\n"
                                     "  seed: 1:4:+1\n"
                                     "  dtype: [f16, f32]\n"
                                     "exclude:\n"
                                     "  - {dtype: f32, seed: [2, 3]}\n"
                                     "  - {seed: 4}\n");
    assert_int_equal(study->point_count, 4);
    point_is(study, 2, "seed=2, dtype=f16", "cubewarp run --seed 2 --dtype f16");
    point_is(study, 3, "seed=3, dtype=f16", "cubewarp run --seed 3 --dtype f16");
    study_free(study);
}

static void digests_are_of_settings_and_not_of_their_place(void **state)
{
    (void)state;
    struct study *const a = good("study: a\nbase: {seed: 3}\naxes: {dtype: [f16, f32]}\n");
    struct study *const b = good("study: b\nbase: {dtype: f32}\naxes: {seed: [3, 4]}\n");
    assert_string_equal(a->points[1].digest, b->points[0].digest);
    assert_string_not_equal(a->points[0].digest, b->points[0].digest);
    assert_string_not_equal(a->digest, b->digest);
    study_free(a);
    study_free(b);
}

/* An axis of sizes has as many values as any other. */
static void a_range_of_sizes_may_be_long(void **state)
{
    (void)state;
    struct study *const study = good("study: s\naxes: {bytes: 1KiB:512KiB:+1KiB}\n");
    assert_int_equal(study->point_count, 512);
    point_is(study, 511, "bytes=524288", "cubewarp run --bytes 524288");
    study_free(study);
    bad("study: s\naxes: {bytes: 1KiB:20000KiB:+1KiB}\n",
        "2:15: bytes '1KiB:20000KiB:+1KiB': more than 10000 values; a larger step is needed");
}

/* Digests cover the files that settings name, also code. */
static void digests_are_of_named_files(void **state)
{
    static const char *const settings[] = {"algorithms.mine.module: %s.so:algorithm",
                                           "algorithms.mine.mapper: '%s.so:mapper'", "data: %s.so"};
    char name[sizeof path + 8];
    (void)state;
    snprintf(name, sizeof name, "%s.so", path);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char setting[100], text[200], digests[2][STUDY_DIGEST_BYTES];
        snprintf(setting, sizeof setting, settings[i], path);
        snprintf(text, sizeof text, "study: s\nbase: {%s, bench: ccl_gradient}\n", setting);
        for (int version = 0; version < 2; version++) {
            FILE *const file = fopen(name, "w");
            assert_non_null(file);
            fprintf(file, "version %d", version);
            assert_int_equal(fclose(file), 0);
            struct study *const study = good(text);
            strcpy(digests[version], study->points[0].digest);
            study_free(study);
        }
        assert_int_equal(unlink(name), 0);
        assert_string_not_equal(digests[0], digests[1]);
    }
}

static void errors_have_place_and_remedy(void **state)
{
    (void)state;
    bad("studi: s\nstudy: s\n", "1:1: unknown key 'studi' of a study; did you mean 'study'? legal "
                                "are study, about, base, axes, zip, exclude, equal_cost, fit");
    bad("axes: {seed: [1]}\n", "1:1: the study has no name; expected study: NAME");
    bad("study: s\nbase:\n  bytess: 3\n",
        "3:3: unknown option or key 'bytess'; did you mean 'bytes'?");
    bad("study: s\nbase: {systen.sips.count: 3}\n",
        "2:8: unknown option or key 'systen.sips.count'; did you mean 'system.sips.count'?");
    bad("study: s\nbase: {defaults.n_slot: 3}\n",
        "2:8: unknown option or key 'defaults.n_slot'; did you mean 'defaults.n_slots'?");
    bad("study: s\nbase: {json: f.json}\n",
        "2:8: option 'json' writes a file; the results of a study go to its database");
    bad("study: s\nbase: {no-data: 1}\n", "2:17: no-data: expected true or false; found '1'");
    bad("study: s\naxes: {dtype: [f16, f13]}\n", "2:21: --dtype 'f13': expected one of f16, bf16, "
                                                 "f32, f64, fp8_e4m3, fp8_e5m2, int8, int32; "
                                                 "did you mean f16?");
    bad("study: s\naxes: {seed: []}\n", "2:14: seed: expected values; found an empty list");
    bad("study: s\naxes: {case: {}}\n", "2:14: case: expected values; found an empty mapping");
    bad("study: s\naxes: {seed: 4:2}\n",
        "2:14: seed '4:2': a range goes from the smaller value to the larger one");
    bad("study: s\naxes: {seed: 4:8:y2}\n",
        "2:14: seed '4:8:y2': the third part is xFACTOR, above 1, or +STEP, above 0");
    bad("study: s\naxes: {seed: [4, 4]}\n", "2:18: seed: the value 4 stands twice in this axis");
    bad("study: s\naxes: {seed: {a: {dtype: f16}}}\n",
        "2:8: seed is a setting, and a mapping is of named cases: give the axis a name of its own, "
        "or a list of values");
    bad("study: s\naxes: {seed: [1, 2], case: {a: {seed: 3}}}\n",
        "2:39: seed is set by the axis seed, too; one name belongs to one axis");
    bad("study: s\naxes: {seed: [1, 2], dtype: [f16]}\nzip: [[seed, dtype]]\n",
        "3:14: dtype has 1 values and seed has 2; axes that advance together have equally many");
    bad("study: s\naxes: {seed: [1, 2]}\nexclude: [{sead: 1}]\n",
        "3:12: no axis of this study is called 'sead'; did you mean 'seed'?");
    bad("study: s\naxes: {seed: [1, 2]}\nexclude: [{seed: 3}]\n",
        "3:18: the axis seed has no value '3'; did you mean '1'? it has 1, 2");
    bad("study: s\naxes: {dtype: [f16, bf16]}\nexclude: [{dtype: b16}]\n",
        "3:19: the axis dtype has no value 'b16'; did you mean 'f16'? it has f16, bf16");
    bad("study: s\naxes: {seed: [1, 2]}\nexclude: [{seed: [1, 2]}]\n",
        "1:1: every point is excluded; a study has one at least");
    bad("study: s\nbase: {bytes: 3}\n",
        "2:15: --bytes: 3 bytes are no whole number of f16 elements "
        "of 2 bytes (point base)");
    bad("study: s\nbase: {verify-data: true}\naxes: {no-data: [false, true]}\n",
        "3:25: --no-data leaves nothing to verify: drop it or --verify-data (point no-data=true)");
    bad("study: s\nbase: {ccl: nowhere.yaml}\n",
        "2:13: nowhere.yaml:1:1: cannot open: No such file or directory");
    bad("study: s\nbase: {measured: nowhere.txt}\n",
        "2:18: nowhere.txt: cannot open: No such file or directory");
    bad("study: s\nbase: {bench: ccl_gradient, data: /}\n", "2:35: / is a folder");
    bad("study: s\nbase: {algorithm: \u00f6 b.xml}\n",
        "2:19: \u00f6 b.xml: cannot open: No such file or directory");
    bad("study: s\naxes: {algorithm: [tree_allreduce, nowhere.xml]}\n",
        "2:36: nowhere.xml: cannot open: No such file or directory");
    begins("study: s\naxes: {preset: [tiny, pod46]}\n",
           "2:23: unknown preset 'pod46'; did you mean 'pod64'?");
    begins("study: s\naxes: {algorithm: [ring_allreduce, ring_alreduce]}\n",
           "2:36: no algorithm 'ring_alreduce'; did you mean 'ring_allreduce'?");
    bad("study: s\naxes: {case: {a: {seed: 3}, b: {seed: 3}}}\n",
        "2:8: two points have the same settings: case=a; and case=b");
}

static void range_is(const char *text, const char *values)
{
    struct config_arena arena = {0};
    const char *const *texts;
    char joined[256] = "";
    size_t count;
    assert_null(study_range(&arena, text, &texts, &count));
    for (size_t i = 0; i < count; i++)
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", i > 0 ? " " : "",
                 texts[i]);
    assert_string_equal(joined, values);
    config_arena_free(&arena);
}

static void ranges_are_exact(void **state)
{
    (void)state;
    range_is("1:8", "1 2 4 8");
    range_is("1:9:x2", "1 2 4 8");
    range_is("0.1:0.5:+0.1", "0.1 0.2 0.3 0.4 0.5");
    range_is("-1:1:+1", "-1 0 1");
    range_is("12.5:100:x2", "12.5 25 50 100");
    range_is("1KiB:4KiB:x2", "1024 2048 4096");
    range_is("7:7", "7");
}

static void shard_is(const char *text, uint32_t index, uint32_t count)
{
    struct study_shard shard;
    struct cw_error error = {.exit_code = CW_OK};
    const int code = study_shard_read(text, &shard, &error);
    assert_int_equal(code, count > 0 ? CW_OK : CW_USAGE);
    if (count > 0) {
        assert_int_equal(shard.index, index);
        assert_int_equal(shard.count, count);
    }
}

struct variable {
    const char *name, *value;
};

static void array_is(const struct variable *variables, const char *text, uint32_t index,
                     uint32_t count)
{
    for (size_t i = 0; variables[i].name != NULL; i++)
        setenv(variables[i].name, variables[i].value, 1);
    shard_is(text, index, count);
    for (size_t i = 0; variables[i].name != NULL; i++)
        unsetenv(variables[i].name);
}

static void refused_array(const char *name, const char *value, const char *why)
{
    struct study_shard shard;
    struct cw_error error = {.exit_code = CW_OK};
    setenv(name, value, 1);
    assert_int_equal(study_shard_read("array", &shard, &error), CW_USAGE);
    unsetenv(name);
    if (strstr(cw_error_text(&error), why) == NULL)
        fail_msg("%s=%s: %s", name, value, cw_error_text(&error));
}

static void parts_are_named_or_an_arrays(void **state)
{
    (void)state;
    shard_is(NULL, 1, 1);
    shard_is("3/10", 3, 10);
    shard_is("0/10", 0, 0);
    shard_is("11/10", 0, 0);
    shard_is("3/10x", 0, 0);
    shard_is("array", 0, 0);
    const struct variable slurm[] = {
        {"SLURM_ARRAY_TASK_ID", "5"},    {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "9"},   {"SLURM_ARRAY_TASK_STEP", "2"},
        {"SLURM_ARRAY_TASK_COUNT", "5"}, {NULL, NULL}};
    array_is(slurm, "array", 3, 5);
    array_is(slurm, "array/9", 5, 9);
    array_is(slurm, "array/4", 0, 0);
    array_is(slurm, "array/0", 0, 0);
    array_is(slurm, "array/9x", 0, 0);
    const struct variable chosen[] = {{"SLURM_ARRAY_TASK_ID", "7"},
                                      {"SLURM_ARRAY_TASK_MIN", "3"},
                                      {"SLURM_ARRAY_TASK_MAX", "7"},
                                      {"SLURM_ARRAY_TASK_COUNT", "2"},
                                      {NULL, NULL}};
    array_is(chosen, "array", 0, 0);
    array_is(chosen, "array/10", 7, 10);
    const struct variable lsf[] = {
        {"LSB_JOBINDEX", "2"}, {"LSB_JOBINDEX_END", "4"}, {"LSB_JOBINDEX_STEP", "1"}, {NULL, NULL}};
    array_is(lsf, "array", 2, 4);
    const struct variable no_array[] = {
        {"LSB_JOBINDEX", "0"}, {"SGE_TASK_ID", "undefined"}, {NULL, NULL}};
    array_is(no_array, "array", 0, 0);
    refused_array("SLURM_ARRAY_TASK_ID", "x",
                  "--shard array: SLURM_ARRAY_TASK_ID is 'x'; expected the number of a task");
    refused_array("SGE_TASK_ID", "undefined",
                  "--shard array: this is no task of an array: none of");
    const struct variable sge[] = {{"SGE_TASK_ID", "4"},
                                   {"SGE_TASK_FIRST", "2"},
                                   {"SGE_TASK_LAST", "6"},
                                   {"SGE_TASK_STEPSIZE", "2"},
                                   {NULL, NULL}};
    array_is(sge, "array", 2, 3);
    const struct variable pbs[] = {{"PBS_ARRAY_INDEX", "4"}, {NULL, NULL}};
    array_is(pbs, "array", 0, 0);
    array_is(pbs, "array/6", 4, 6);
}

static void parts_share_all_points(void **state)
{
    (void)state;
    for (uint32_t point = 0; point < 100; point++) {
        uint32_t parts = 0;
        for (uint32_t i = 1; i <= 7; i++)
            parts += study_shard_has((struct study_shard){i, 7}, point);
        assert_int_equal(parts, 1);
    }
}

static void words_are_quoted_for_a_shell(void **state)
{
    static const char *const words[][2] = {{"run", "run"},
                                           {"a=b,c:1/2-3_4.5+6@7%", "a=b,c:1/2-3_4.5+6@7%"},
                                           {"", "''"},
                                           {"two words", "'two words'"},
                                           {"it's $HOME", "'it'\\''s $HOME'"}};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[64] = "";
        FILE *const stream = fmemopen(text, sizeof text, "w");
        assert_non_null(stream);
        study_put_word(stream, words[i][0]);
        assert_int_equal(fclose(stream), 0);
        assert_string_equal(text, words[i][1]);
    }
}

/* The estimate for a run of these settings, on one thread. */
static void estimate_is(const char *fold, const char *settings, double events, double mib)
{
    char text[300];
    snprintf(text, sizeof text, "study: s\nbase: {no-data: true, fold: %s, %s}\n", fold, settings);
    struct study *const study = good(text);
    const struct study_estimate estimate = study_estimate(study, 0);
    assert_true(estimate.is_known);
    if (estimate.events < events / 2 || estimate.events > 2 * events)
        fail_msg("%s: %.4g events, not %.4g", settings, estimate.events, events);
    assert_true((double)estimate.bytes / 1048576 > mib / 2);
    assert_true((double)estimate.bytes / 1048576 < 2 * mib);
    study_free(study);
}

static void estimate_is_near(const char *settings, double events, double mib)
{
    estimate_is("off", settings, events, mib);
}

static void estimates_are_near(void **state)
{
    (void)state;
    estimate_is_near("preset: tiny, bytes: 1KiB", 600, 7);
    estimate_is_near("preset: pod64, algorithm: ring_allreduce, bytes: 512KiB", 5.87e6, 22);
    estimate_is_near("preset: pod64, algorithm: lrab_hierarchical_allreduce, bytes: 512KiB", 2.88e6,
                     22);
    estimate_is_near("preset: pod64, algorithm: pe_hierarchical_allreduce, bytes: 512KiB", 1.22e7,
                     22);
    estimate_is_near("preset: pod64, algorithm: ring_rs_ag, bytes: 512KiB", 4.07e5, 22);
    estimate_is_near("preset: pod1024, algorithm: tree_allreduce, bytes: 512KiB", 8.8e6, 227);
    estimate_is_near("preset: pod64, bytes: 16KiB, iters: 10", 1.2e6, 22);
    estimate_is_near("preset: pod64, algorithm: recursive_doubling, bytes: 512KiB", 1.27e6, 25);
    /* With the causes of events, of one iteration. */
    estimate_is_near("preset: pod64, algorithm: recursive_doubling, bytes: 512KiB, explain: true",
                     1.27e6, 73);
    estimate_is_near("preset: pod64, bytes: 16KiB, iters: 10, explain: true", 1.2e6, 28);
}

/* Chunks are small there: the number of messages counts, not that of bytes. */
static void estimates_of_small_chunks_are_near(void **state)
{
    (void)state;
    estimate_is_near("preset: pod1024, algorithm: torus_rs_ag, bytes-per-rank: 64KiB", 1.01e7, 373);
    estimate_is_near("system.sips.count: 256, algorithm: ring_rs_ag, bytes-per-rank: 64KiB", 2.52e6,
                     96);
    estimate_is_near("preset: torus_4x4x4, algorithm: torus_rs_ag, bytes: 64KiB, "
                     "algorithms.torus_rs_ag.mapper: all_pes",
                     5.64e6, 33);
    estimate_is_near("preset: pod64, algorithm: hierarchical, bytes: 64KiB", 2.43e6, 131);
    estimate_is_near("system.sips.count: 256, algorithm: hierarchical, bytes: 64KiB", 1.79e7, 1551);
}

/* Coarse tiles take the events of one tile: these are a tenth of those of tiles. */
static void estimates_of_coarse_tiles_are_near(void **state)
{
    (void)state;
#define COARSE "preset: pod64, bytes: 2MiB, defaults.coarse: 65536, algorithm: "
    estimate_is_near(COARSE "ring_allreduce", 1.56e6, 22);
    estimate_is_near(COARSE "lrab_hierarchical_allreduce", 8.55e5, 22);
    estimate_is_near(COARSE "lrab_pipelined_allreduce", 1.12e6, 22);
    estimate_is_near(COARSE "pe_hierarchical_allreduce", 3.49e6, 22);
    estimate_is_near(COARSE "recursive_doubling", 4.12e5, 25);
    estimate_is_near(COARSE "ring_rs_ag", 2.58e5, 22);
#undef COARSE
}

/* Of the SIPs that are simulated, as runs of these settings counted them: with schedules that are
 * compared, schedules and kernels with a rule, and a schedule that does not fold. */
static void estimates_of_folded_runs_are_near(void **state)
{
    (void)state;
    estimate_is("auto", "preset: pod64, algorithm: torus_rs_ag, bytes-per-rank: 24MiB", 2.3e5, 10);
    estimate_is("auto", "preset: pod64, bytes: 16KiB", 3618, 8);
    estimate_is("auto",
                "system.sips.topology: switch, system.sips.count: 16, "
                "algorithm: halving_doubling, bytes: 64KiB",
                2620, 8);
    estimate_is("auto", /* this fold is no translation, which an explained run does not take */
                "system.sips.topology: switch, system.sips.count: 16, explain: true, "
                "algorithm: halving_doubling, bytes: 64KiB",
                41920, 13);
    estimate_is("auto", "preset: pod64, algorithm: double_binary_tree, bytes: 64KiB", 1.64e5, 23);
    estimate_is("auto", "system.sips.count: 1048576, algorithm: torus_rs_ag, bytes-per-rank: 24MiB",
                4.1e5, 57);
    estimate_is("auto", "system.sips.count: 1048576, bytes: 16KiB", 93026, 8);
}

/* A sample has no tensors and folds; the other run has all of both. */
static void samples_have_estimates_of_their_own(void **state)
{
    (void)state;
    struct study *const study = good("study: s\nbase: {preset: pod64, bytes: 1MiB}\n"
                                     "axes: {verify-data: [sample, true]}\n");
    const uint32_t points[] = {0, 1};
    struct study_estimate estimates[2];
    assert_true(study_estimate_all(study, points, 2, estimates));
    for (uint32_t i = 0; i < 2; i++) {
        const struct study_estimate own = study_estimate(study, i);
        assert_true(own.is_known);
        assert_true(estimates[i].bytes == own.bytes);
    }
    assert_true(estimates[1].bytes > 2 * estimates[0].bytes);
    assert_true(estimates[1].events > 2 * estimates[0].events);
    study_free(study);
}

/* More SIPs than unfolded runs have, and no fold: the run will be refused. */
static void huge_machines_that_do_not_fold_have_no_estimate(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "system.sips.count: 1048576, algorithm: torus_rs_ag, bytes-per-rank: 64KiB",
        "system.sips.topology: switch, system.sips.count: 131072, algorithm: torus_rs_ag, "
        "bytes-per-rank: 8MiB, explain: true"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char text[300];
        snprintf(text, sizeof text, "study: s\nbase: {no-data: true, %s}\n", settings[i]);
        struct study *const study = good(text);
        assert_false(study_estimate(study, 0).is_known);
        study_free(study);
    }
}

/* ---- equal cost ------------------------------------------------------------------------------ */

/* 16 SIPs of 1,000; links of 100; a switch of 400. A torus has 32 links, a ring 16, full ones 120,
 * a switch 16. */
#define PRICED                                                                                     \
    "study: s\nbase: {no-data: true, system.sips.count: 16, links.sip_link.cost: 100, "            \
    "nodes.switch.cost: 400, sip.cost: 1000}\n"                                                    \
    "axes:\n  links.sip_link.scale: [1, 2]\n  machine:\n"                                          \
    "    torus: {system.sips.topology: torus_2d}\n    ring: {system.sips.topology: ring_1d}\n"     \
    "    full: {system.sips.topology: fully_connected}\n"                                          \
    "    switch: {system.sips.topology: switch}\n"

static void expect_labels(struct study *study, const char *const *labels, uint32_t count)
{
    assert_int_equal(study->point_count, count);
    for (uint32_t i = 0; i < count; i++) {
        char *const label = study_label(study, i);
        assert_string_equal(label, labels[i]);
        free(label);
    }
    study_free(study);
}

/* The torus of the same links costs 19,200, and with twice the links 22,400: 16,000 of SIPs. */
static void machines_cost_what_the_named_one_costs(void **state)
{
    (void)state;
    static const char *const labels[] = {
        "links.sip_link.scale=1, machine=torus, links.scale=1",
        "links.sip_link.scale=1, machine=ring, links.scale=2",
        "links.sip_link.scale=1, machine=full, links.scale=0.266667",
        "links.sip_link.scale=1, machine=switch, links.scale=1.75",
        "links.sip_link.scale=2, machine=torus, links.scale=1",
        "links.sip_link.scale=2, machine=ring, links.scale=2",
        "links.sip_link.scale=2, machine=full, links.scale=0.266667",
        "links.sip_link.scale=2, machine=switch, links.scale=1.875"};
    struct study *const study = good(PRICED "equal_cost: {of: {machine: torus}}\n");
    char *const command = study_command(study, 1);
    assert_non_null(strstr(command, " --set links.scale=2"));
    free(command);
    expect_labels(study, labels, 8);
}

/* 20,800: 16,000 of SIPs and 4,800 of links, of which a switch has 400. */
static void a_budget_scales_the_named_knob(void **state)
{
    (void)state;
    static const char *const labels[] = {"machine=torus, links.sip_link.scale=1.5",
                                         "machine=switch, links.sip_link.scale=2.75"};
    expect_labels(good("study: s\nbase: {no-data: true, system.sips.count: 16, "
                       "links.sip_link.cost: 50, links.scale: 2, nodes.switch.cost: 400, sip.cost: "
                       "1000}\naxes:\n  machine:\n    torus: {system.sips.topology: torus_2d}\n"
                       "    switch: {system.sips.topology: switch}\n"
                       "equal_cost: {budget: 20800, knob: links.sip_link.scale}\n"),
                  labels, 2);
}

/* Networks of 1,024 SIPs for 307,200, the cost of the torus (bench/guide/equal_cost.md): links, in
 * units of 100 GB/s inside a rack, and switches.
 *   fat tree 1:1  1,024 + 2 x 2 x 1,024;                           320
 *   fat tree 2:1  1,024 + 2 x (512 + 512);                         128 + 64 + 32
 *   dragonfly     1,024 + 32 x 28 + 2 x 512;                       256
 *   rails         1,024 + 2 x (1,024 + 1,024);                     128 + 32 + 32 */
static void the_study_that_ships_has_networks_of_one_cost(void **state)
{
    (void)state;
    static const double links[] = {3072, 1024 + 2048 * 2, 1024 + 2 * 1024, 1024 + 896 + 1024,
                                   1024 + 2 * 2048};
    static const double switches[] = {0, 320, 224, 256, 192};
    static const char *const names[] = {"torus", "fat tree 1:1", "fat tree 2:1", "dragonfly",
                                        "rails"};
    struct config_errors errors = {0};
    struct study *study;
    assert_int_equal(study_read("configs/studies/equal_cost.yaml", &study, &errors), CW_OK);
    assert_int_equal(study->point_count, 15);
    for (uint32_t i = 0; i < 5; i++) {
        char *const label = study_label(study, 5 + i);
        char begin[80];
        snprintf(begin, sizeof begin, "budget=single, machine=%s, links.scale=", names[i]);
        assert_memory_equal(label, begin, strlen(begin));
        assert_float_equal(strtod(label + strlen(begin), NULL),
                           (307200 - 100 * switches[i]) / (100 * links[i]), 5e-7);
        free(label);
    }
    study_free(study);
}

static void what_cannot_cost_the_same_is_an_error(void **state)
{
    (void)state;
    begins(PRICED "equal_cost: {of: {machine: toru}}\n",
           "10:28: the axis machine has no value 'toru'; did you mean 'torus'?");
    begins(PRICED "equal_cost: {budget: 16000}\n",
           "10:13: equal_cost: the budget is 16000, and the machine costs 16000 without the links");
    begins(PRICED "equal_cost: {knob: links.hccs.scale, budget: 20000}\n",
           "10:13: equal_cost: the machine's cost does not depend on links.hccs.scale");
    begins(PRICED "equal_cost: {knob: links.sip_link.bw_gbs, budget: 20000}\n",
           "10:20: equal_cost: knob: expected links.scale, ");
    begins(PRICED "equal_cost: {knob: links.sip_link.scale, budget: 20000}\n",
           "4:3: links.sip_link.scale is an axis, and equal_cost sets it");
    begins(PRICED "equal_cost: {budget: -1}\n",
           "10:22: equal_cost: budget: expected a number above 0; found '-1'");
    begins(PRICED "equal_cost: {budget: 1, of: {machine: torus}}\n",
           "10:13: equal_cost: expected one of budget: NUMBER and of: ");
    begins(PRICED "equal_cost: {price: 1}\n",
           "10:14: equal_cost: unknown key 'price'; legal are budget, of, knob");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_combine_and_the_last_changes_fastest),
        cmocka_unit_test(a_study_without_axes_is_one_point),
        cmocka_unit_test(named_cases_set_several_names_and_an_axis_overrides_base),
        cmocka_unit_test(zipped_axes_advance_together),
        cmocka_unit_test(exclusions_leave_points_out),
        cmocka_unit_test(digests_are_of_settings_and_not_of_their_place),
        cmocka_unit_test(a_range_of_sizes_may_be_long),
        cmocka_unit_test(digests_are_of_named_files),
        cmocka_unit_test(errors_have_place_and_remedy),
        cmocka_unit_test(a_wrong_value_is_answered_with_some_of_many),
        cmocka_unit_test(ranges_are_exact),
        cmocka_unit_test(parts_are_named_or_an_arrays),
        cmocka_unit_test(parts_share_all_points),
        cmocka_unit_test(words_are_quoted_for_a_shell),
        cmocka_unit_test(estimates_are_near),
        cmocka_unit_test(estimates_of_small_chunks_are_near),
        cmocka_unit_test(estimates_of_coarse_tiles_are_near),
        cmocka_unit_test(estimates_of_folded_runs_are_near),
        cmocka_unit_test(samples_have_estimates_of_their_own),
        cmocka_unit_test(huge_machines_that_do_not_fold_have_no_estimate),
        cmocka_unit_test(machines_cost_what_the_named_one_costs),
        cmocka_unit_test(a_budget_scales_the_named_knob),
        cmocka_unit_test(the_study_that_ships_has_networks_of_one_cost),
        cmocka_unit_test(what_cannot_cost_the_same_is_an_error),
    };
    return cmocka_run_group_tests_name("study", tests, make_file, remove_file);
}
