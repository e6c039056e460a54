/*
 * test_gradient.c: the bench of a program's own data: gradients from a file are reduced, verified
 * against the file's own values, written out again, and heard of by the op log.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_SCRATCH "gradient"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

/* 4 SIPs, of which each has 16 shards, one for each cube. */
enum { RANKS = 4, SHARDS = 16, N = 50, VALUES = RANKS * SHARDS * N };

static void write_values(const char *name, const float *value, size_t count)
{
    FILE *const to = fopen(in_folder(name), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(value, sizeof *value, count, to), count);
    assert_int_equal(fclose(to), 0);
}

static float value[VALUES];

static int make(void **state)
{
    (void)state;
    assert_int_equal(make_folder(state), 0);
    for (int i = 0; i < VALUES; i++)
        value[i] = (float)(i * 37 % 1001 - 500); /* whole numbers: sums are exact */
    write_values("g", value, VALUES);
    return 0;
}

#define GRADIENT "run --bench ccl_gradient --dtype f32 --data %s "

static void the_result_is_the_sum_of_the_file_s_values(void **state)
{
    (void)state;
    static float result[SHARDS * N + 1]; /* one more than there may be */
    struct run_output output =
        run_line(0, GRADIENT "--verify-data --data-out %s", in_folder("g"), in_folder("out"));
    assert_non_null(strstr(output.out, "# Wrong values      : 0 OK"));
    assert_non_null(strstr(output.out, "# Verified          : bit for bit, in the order of "));
    run_output_free(&output);
    FILE *const from = fopen(in_folder("out"), "rb");
    assert_non_null(from);
    assert_int_equal(fread(result, sizeof *result, SHARDS * N + 1, from), SHARDS * N);
    assert_int_equal(fclose(from), 0);
    for (int e = 0; e < N; e++) {
        float sum = 0;
        for (int i = e; i < VALUES; i += N)
            sum += value[i];
        for (int shard = 0; shard < SHARDS; shard++)
            assert_true(result[shard * N + e] == sum);
    }
}

/* The time is that of the same all-reduce of any values; the bits are the file's. */
static void time_does_not_depend_on_values(void **state)
{
    (void)state;
    json_t *const ours = run_json(GRADIENT, in_folder("g"));
    json_t *const any = run_json("run --dtype f32 --n-elem 50");
    assert_int_equal(json_ps(ours, "time_ns"), json_ps(any, "time_ns"));
    assert_string_equal(json_string_value(json_object_get(ours, "input")), "file");
    json_decref(ours);
    json_decref(any);
}

static const json_t *of_row(const json_t *root, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
}

static const char *hash_of(const json_t *root)
{
    return json_string_value(of_row(root, "data_hash"));
}

/* The row of the bench of a size that an option names, but for the bits. */
static void same_row(const json_t *ours, const json_t *any)
{
    static const char *const keys[] = {"time_ns",   "bound_ns",       "algbw_gbs",
                                       "busbw_gbs", "bytes_per_rank", "algorithm"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_non_null(of_row(ours, keys[i]));
        if (!json_equal(of_row(ours, keys[i]), of_row(any, keys[i])))
            fail_msg("%s differs", keys[i]);
    }
}

/* A schedule is chosen, and its windows are cut, for the size of the file; and where the shards of
 * a rank are its tensor, bandwidths count them. */
static void a_schedule_is_made_for_the_size_of_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        unsigned shards;
    } of[] = {{"--algorithm auto", 1},
              {"--algorithm halving_doubling", 1},
              {"--algorithm hierarchical", SHARDS},
              {"--algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=pe0_all_cubes", SHARDS}};
    static float large[RANKS * SHARDS * 2048];
    write_values("large", large, sizeof large / sizeof *large);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        json_t *const ours = run_json(GRADIENT "--no-data %s", in_folder("large"), of[i].options);
        json_t *const any =
            run_json("run --no-data --dtype f32 --n-elem %zu %s",
                     sizeof large / sizeof *large / RANKS / of[i].shards, of[i].options);
        same_row(ours, any);
        json_decref(ours);
        json_decref(any);
    }
}

/* The order of a schedule's additions is known, and so is that of its products. */
static void products_of_a_schedule_are_verified(void **state)
{
    (void)state;
    json_t *const root =
        run_json(GRADIENT "--verify-data --op prod --algorithm ring_rs_ag", in_folder("g"));
    assert_int_equal(json_integer_value(of_row(root, "wrong")), 0);
    assert_string_equal(json_string_value(of_row(root, "proof")), "order");
    json_decref(root);
}

/* Any number of threads, and a replay of the log, end with the same memory. */
static void log_and_threads_hear_of_the_values(void **state)
{
    (void)state;
    json_t *const one = run_json(GRADIENT "--iters 2", in_folder("g"));
    json_t *const two =
        run_json(GRADIENT "--iters 2 --threads 2 --op-log %s", in_folder("g"), in_folder("log"));
    assert_string_equal(hash_of(one), hash_of(two));
    json_decref(one);
    json_decref(two);
    struct run_output output = run_line(0, "replay %s", in_folder("log"));
    assert_non_null(strstr(output.out, "write 128\n")); /* twice, into each of 64 shards */
    assert_non_null(strstr(output.out, " OK"));
    run_output_free(&output);
}

/* Host copies take simulated time, as fills do. */
static void a_write_takes_the_time_of_a_fill(void **state)
{
    (void)state;
    json_t *const ours = run_json(GRADIENT "--set defaults.host_copy=simulated", in_folder("g"));
    json_t *const any = run_json("run --dtype f32 --n-elem 50 --set defaults.host_copy=simulated");
    json_t *const instant = run_json(GRADIENT, in_folder("g"));
    const json_t *const a = json_object_get(ours, "sim_time_ns");
    const json_t *const b = json_object_get(any, "sim_time_ns");
    assert_true(json_number_value(a) == json_number_value(b));
    assert_true(json_number_value(a) > json_number_value(json_object_get(instant, "sim_time_ns")));
    json_decref(ours);
    json_decref(any);
    json_decref(instant);
}

static void refuse(const char *text, const char *line)
{
    struct run_output output = run_line(2, "%s", line);
    if (strstr(output.err, text) == NULL)
        fail_msg("%s", output.err);
    run_output_free(&output);
}

static void files_that_are_none_are_refused(void **state)
{
    (void)state;
    char line[300];
    refuse("ccl_gradient needs the file of the ranks' gradients: --data FILE",
           "run --bench ccl_gradient");
    refuse("--data nowhere: cannot open it: No such file",
           "run --bench ccl_gradient --data nowhere");
    refuse("--data test: cannot read it: Is a directory", "run --bench ccl_gradient --data test");
    refuse("--data /dev/zero: it is a device, which may have no end; legal are a file, a pipe,",
           "run --bench ccl_gradient --data /dev/zero");
    refuse("--data does nothing in the bench ccl_allreduce (--bench); it is for ccl_gradient",
           "run --data x");
    write_values("odd", value, 65);
    snprintf(line, sizeof line, GRADIENT, in_folder("odd"));
    refuse(": the file has 260 bytes; 4 ranks with 16 shards each of f32 elements take a multiple "
           "of 256",
           line);
    snprintf(line, sizeof line, GRADIENT "--n-elem 8", in_folder("g"));
    refuse("the file of --data says how many elements there are; leave --bytes, --n-elem and -b "
           "out",
           line);
    snprintf(line, sizeof line, GRADIENT "--no-data --data-out x", in_folder("g"));
    refuse("--no-data leaves nothing for --data-out to write", line);
    static const float infinite[64] = {[7] = HUGE_VALF};
    write_values("infinite", infinite, 64);
    snprintf(line, sizeof line, GRADIENT "--verify-data", in_folder("infinite"));
    refuse(": element 7 is no finite number", line);
}

/* A bf16 number is the upper half of an f32. */
static void write_halves(const char *name, const uint16_t *bits, size_t count)
{
    FILE *const to = fopen(in_folder(name), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(bits, sizeof *bits, count, to), count);
    assert_int_equal(fclose(to), 0);
}

static void row_has(const json_t *root, const char *key, int64_t wanted)
{
    const json_t *const found = of_row(root, key);
    assert_non_null(found);
    if (wanted < 0 ? !json_is_null(found) : json_integer_value(found) != wanted)
        fail_msg("%s: %lld, not %lld", key, (long long)json_integer_value(found),
                 (long long)wanted);
}

static void prints(const char *line, const char *const texts[], size_t count, bool there)
{
    struct run_output output = run_line(0, "%s", line);
    for (size_t i = 0; i < count; i++)
        if ((strstr(output.out, texts[i]) != NULL) != there)
            fail_msg("%s: \"%s\" is %s:\n%s", line, texts[i], there ? "missing" : "there",
                     output.out);
    run_output_free(&output);
}

/*
 * 1, 2, M, -M in bf16, M the greatest number: a ring's rank r adds x(r) + x(r - 1) + ..., so rank 0
 * has 1 - M + M + 2 = 2, rank 1 has 2 + 1 - M + M = 0, and so on. All are right, and differ. The
 * same numbers in another order on one tree are the same on all ranks.
 */
static void ranks_that_end_with_different_bits_are_said(void **state)
{
    (void)state;
    static const uint16_t bits[4] = {0x3f80, 0x4000, 0x7f7f, 0xff7f};
    static const char *const differ[] = {
        "# ranks differ: 1 element (in 1 of 1 rows) ends with other bits on some ranks"};
    static const char *const none[] = {"ranks differ", "not finite"};
    char line[300];
    write_halves("ranks", bits, 4);
    static const char *const apart[] = {
        "--algorithm ring_allreduce",
        "--algorithm ring_allreduce --set system.sips.topology=fully_connected"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(line, sizeof line,
                 "run --bench ccl_gradient --dtype bf16 --verify-data --data %s %s",
                 in_folder("ranks"), apart[i]);
        prints(line, differ, 1, true);
        json_t *const root = run_json("%s", line);
        row_has(root, "wrong", 0);
        row_has(root, "ranks_differ", 1);
        row_has(root, "not_finite", 0);
        json_decref(root);
    }
    /* Two elements: 0, 2, M, -M, where ranks 0 and 3 have 2; and M, 0, 2, -M, where 0 and 1 have.
     */
    static const uint16_t pairs[8] = {0, 0x7f7f, 0x4000, 0, 0x7f7f, 0x4000, 0xff7f, 0xff7f};
    write_halves("pairs", pairs, 8);
    json_t *const inner = run_json("run --bench ccl_gradient --dtype bf16 --verify-data --data %s "
                                   "--algorithm ring_allreduce",
                                   in_folder("pairs"));
    row_has(inner, "wrong", 0);
    row_has(inner, "ranks_differ", 2);
    json_decref(inner);
    snprintf(line, sizeof line,
             "run --bench ccl_gradient --dtype bf16 --verify-data --data %s "
             "--algorithm tree_allreduce",
             in_folder("ranks"));
    prints(line, none, 2, false);
    json_t *const root = run_json("run --bench ccl_gradient --dtype bf16 --data %s "
                                  "--algorithm tree_allreduce",
                                  in_folder("ranks"));
    row_has(root, "ranks_differ", -1); /* nobody has looked */
    row_has(root, "not_finite", -1);
    json_decref(root);
}

/* In f16, 60000 + 60000 is infinite, and infinity - infinity is none: on each of the four ranks. */
static void results_that_are_not_finite_are_said(void **state)
{
    (void)state;
    static const uint16_t bits[4] = {0x7b53, 0x7b53, 0xfb53, 0xfb53}; /* 60000 and -60000 */
    static const char *const text[] = {"# 4 results are not finite though all inputs are"};
    static const char *const none[] = {"not finite"};
    char line[300];
    write_halves("large", bits, 4);
    snprintf(line, sizeof line,
             "run --bench ccl_gradient --verify-data --data %s --algorithm halving_doubling",
             in_folder("large"));
    prints(line, text, 1, true);
    json_t *const root = run_json("%s", line);
    row_has(root, "wrong", 0);
    row_has(root, "ranks_differ", 0);
    row_has(root, "not_finite", 4);
    json_decref(root);
    snprintf(line + strlen(line), sizeof line - strlen(line), " --op max");
    prints(line, none, 1, false);
}

/* max and min of infinities are bits like any other; nothing is said of what they end with. */
static void infinities_are_verified_with_max(void **state)
{
    (void)state;
    static const uint16_t bits[4] = {0x3c00, 0x7c00, 0xfc00, 0x3800}; /* 1, inf, -inf, 0.5 */
    static const char *const algorithms[] = {"ring_allreduce", "halving_doubling"};
    write_halves("infinities", bits, 4);
    for (size_t i = 0; i < 2; i++) {
        json_t *const root = run_json("run --bench ccl_gradient --verify-data --data %s --op max "
                                      "--data-out %s --algorithm %s",
                                      in_folder("infinities"), in_folder("most"), algorithms[i]);
        row_has(root, "wrong", 0);
        row_has(root, "not_finite", -1);
        json_decref(root);
        uint16_t most = 0;
        FILE *const from = fopen(in_folder("most"), "rb");
        assert_non_null(from);
        assert_int_equal(fread(&most, sizeof most, 1, from), 1);
        assert_int_equal(fclose(from), 0);
        assert_int_equal(most, 0x7c00);
    }
}

static void a_file_without_end_is_read_up_to_a_limit(void **state)
{
    (void)state;
    const char *const pipe_name = in_folder("pipe");
    char command[200];
    int status;
    assert_int_equal(mkfifo(pipe_name, 0600), 0);
    snprintf(command, sizeof command, "exec cat /dev/zero > %s", pipe_name);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* ends by SIGPIPE, when the reader goes */
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    struct run_output output =
        run_line(4, "run --bench ccl_gradient --max-memory 3MiB --data %s", pipe_name);
    if (strstr(output.err, ": it has more than 3145728 bytes, the most that are read (") == NULL)
        fail_msg("%s", output.err);
    run_output_free(&output);
    assert_int_equal(waitpid(child, &status, 0), child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_is_the_sum_of_the_file_s_values),
        cmocka_unit_test(time_does_not_depend_on_values),
        cmocka_unit_test(a_schedule_is_made_for_the_size_of_the_file),
        cmocka_unit_test(products_of_a_schedule_are_verified),
        cmocka_unit_test(log_and_threads_hear_of_the_values),
        cmocka_unit_test(a_write_takes_the_time_of_a_fill),
        cmocka_unit_test(files_that_are_none_are_refused),
        cmocka_unit_test(ranks_that_end_with_different_bits_are_said),
        cmocka_unit_test(results_that_are_not_finite_are_said),
        cmocka_unit_test(infinities_are_verified_with_max),
        cmocka_unit_test(a_file_without_end_is_read_up_to_a_limit),
    };
    return cmocka_run_group_tests_name("gradients from a file", tests, make, remove_folder);
}
