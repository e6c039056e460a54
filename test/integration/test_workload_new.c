/*
 * test_workload_new.c: `cubewarp workload new` from the command line: the files of
 * configs/workloads are what their first lines say, and every refusal says what is wrong and what
 * would be legal. The formulas are tested in unit/workload/test_model.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <string.h>

#include "test/support/file_text.h"
#include "test/support/run_cubewarp.h"
#include "test/support/test_perf_support.h"

/* ---- files ----------------------------------------------------------------------------------- */

static void test_files_are_what_their_commands_write(void **state)
{
    static const char begin[] = "# cubewarp workload new ";
    glob_t found;
    size_t made = 0;
    (void)state;
    assert_int_equal(glob("configs/workloads/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *const text = read_file(found.gl_pathv[i]);
        if (strncmp(text, begin, strlen(begin)) == 0) {
            char *const line = strndup(text + 2, strcspn(text, "\n") - 2);
            struct run_output output = run_line(0, "%s", line + strlen("cubewarp "));
            assert_string_equal(output.out, text);
            run_output_free(&output);
            free(line);
            made++;
        }
        free(text);
    }
    globfree(&found);
    assert_true(made >= 4);
}

static void test_a_file_is_written_whole_without_its_name(void **state)
{
    char path[64];
    (void)state;
    temporary(path, "gpt.yaml");
    struct run_output output = run_line(0, "workload new gpt -o %s --layers 2", path);
    assert_string_equal(output.out, "");
    char *const text = read_file(path);
    assert_non_null(strstr(text, "# cubewarp workload new gpt --layers 2\n"));
    run_output_free(&output);
    output = run_line(0, "workload new gpt --layers 2 --output=-");
    assert_string_equal(output.out, text);
    run_output_free(&output);
    free(text);
    remove_temporary(path);
    output = run_line(4, "workload new gpt -o /proc/no/gpt.yaml");
    assert_non_null(strstr(output.err, "/proc/no/gpt.yaml"));
    run_output_free(&output);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"", "name the model: cubewarp workload new gpt, moe, inference or attention"},
        {"bert", "no model 'bert'; there are gpt, moe, inference and attention"},
        {"gpt moe", "unexpected argument 'moe'; one model at a time"},
        {"gpt --experts 4", "--experts is for moe; gpt has no use for it"},
        {"gpt --prompt 4", "--prompt is for inference; gpt has no use for it"},
        {"inference --zero 1", "--zero is for gpt and moe; inference has no use for it"},
        {"attention --layers 4", "--layers is for gpt, moe and inference; attention has no use"},
        {"gpt --layers 0", "--layers '0': expected a whole number from 1 to 1048576"},
        {"gpt --zero 4", "--zero '4': expected a whole number from 0 to 3"},
        {"gpt --recompute some", "--recompute 'some': expected none, selective or full"},
        {"gpt --schedule zigzag", "--schedule 'zigzag': expected 1f1b, gpipe or interleaved"},
        {"gpt --kernels few", "--kernels 'few': expected blocks or layers"},
        {"gpt --dtype f17", "--dtype 'f17': expected f16, bf16"},
        {"gpt --hidden 2047", "--hidden 2047 is no multiple of --heads 16; legal: 2032 or 2048"},
        {"gpt --heads 16 --kv-heads 5", "--heads 16 is no multiple of --kv-heads 5; legal: 15 or"},
        {"gpt --tp 3", "--heads 16 is no multiple of --tp 3; legal: 15 or 18"},
        {"gpt --tp 32", "--heads 16 is no multiple of --tp 32; legal: 32"},
        {"gpt --kv-heads 2 --tp 4", "--kv-heads 2 is no multiple of --tp 4; legal: 4"},
        {"gpt --ffn 1001 --tp 2", "--ffn 1001 is no multiple of --tp 2; legal: 1000 or 1002"},
        {"gpt --vocab 50257 --tp 8", "--vocab 50257 is no multiple of --tp 8; legal: 50256 or"},
        {"gpt --layers 25 --pp 4", "--layers 25 is no multiple of --pp x --chunks 4; legal: 24 or"},
        {"gpt --layers 24 --pp 4 --schedule interleaved --chunks 5",
         "--layers 24 is no multiple of --pp x --chunks 20; legal: 20 or 40"},
        {"gpt --sequence 1001 --cp 2", "--sequence 1001 is no multiple of --cp 2; legal: 1000 or"},
        {"gpt --sequence 1002 --tp 4 --sequence-parallel",
         "--sequence 1002 is no multiple of --cp x --tp, with --sequence-parallel, 4"},
        {"gpt --global-batch 12 --micro-batch 2 --dp 4",
         "--global-batch 12 is no multiple of --micro-batch x --dp 8; legal: 8 or 16"},
        {"gpt --chunks 2", "--chunks 2 needs --schedule interleaved; the others have 1"},
        {"gpt --schedule interleaved",
         "--schedule interleaved needs --pp and --chunks of at least 2, not 1 and 2"},
        {"gpt --schedule interleaved --pp 4 --global-batch 6",
         "the number of microbatches 6 is no multiple of --pp 4; legal: 4 or 8"},
        {"gpt --zero 2 --no-overlap", "--no-overlap is for --zero 0 and 1; with 2 each"},
        {"gpt --tp 1024 --dp 1024 --pp 2", "--tp x --cp x --pp x --dp is more than 1048576 ranks"},
        {"gpt --micro-batch 1048576 --dp 1048576", "--micro-batch x --dp x --pp is too much"},
        {"moe --dp 6 --ep 4", "--dp 6 is no multiple of --ep 4; legal: 4 or 8"},
        {"moe --dp 6 --ep 6", "--experts 8 is no multiple of --ep 6; legal: 6 or 12"},
        {"moe --top-k 9", "--top-k 9 is more than the --experts 8"},
        {"moe --dp 2 --ep 2 --skew 3",
         "--skew '3': expected a decimal number from 1 to the --ep, 2"},
        {"moe --capacity 0.5",
         "--capacity '0.5': expected a decimal number from 1 to the --experts"},
        {"moe --capacity much", "--capacity 'much': expected a decimal number"},
        {"inference --batch 5 --dp 2", "--batch 5 is no multiple of --dp 2; legal: 4 or 6"},
        {"inference --batch 6 --micro-batch 4",
         "--batch 6 is no multiple of --micro-batch x --dp 4; legal: 4 or 8"},
        {"inference --prompt 5 --cp 2", "--prompt 5 is no multiple of --cp 2; legal: 4 or 6"},
        {"attention --keys 20 --cp 8", "--keys 20 is no multiple of --cp 8; legal: 16 or 24"},
        {"attention --heads 3 --kv-heads 2", "--heads 3 is no multiple of --kv-heads 2; legal: 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_output output = run_line(2, "workload new %s", cases[i].line);
        if (strstr(output.err, cases[i].message) == NULL)
            fail_msg("workload new %s: %s", cases[i].line, output.err);
        assert_string_equal(output.out, "");
        run_output_free(&output);
    }
}

static void test_parts(void **state)
{
    (void)state;
    struct run_output output = run_line(2, "workload");
    assert_non_null(strstr(output.err, "a part is missing: "));
    run_output_free(&output);
    output = run_line(2, "workload old");
    assert_non_null(strstr(output.err, "workload has no part 'old'; "));
    run_output_free(&output);
    output = run_line(0, "workload --help");
    assert_non_null(strstr(output.out, "new"));
    run_output_free(&output);
}

/* ---- what fits ------------------------------------------------------------------------------- */

/* Stage 0 has 106,001,408 parameters, of 16 bytes each, and 7,281,311,744 bytes of activations:
 * 4 microbatches of 6 layers of s b h (10 + 24/4 + 5 a s / 4 h) = 301,989,888, and masks. A SIP of
 * pod64 has 128 x 2 GiB; with 64 MiB a PE 8 GiB. */
static void test_check_says_what_fits(void **state)
{
    static const char line[] = "workload check configs/workloads/gpt_24.yaml";
    (void)state;
    struct run_output output = run_line(0, "%s --preset pod64", line);
    assert_non_null(
        strstr(output.out, "Memory            : 8.361 of 256.000 GiB, stage 0: it fits\n"));
    run_output_free(&output);
    output = run_line(0, "%s --set memory.hbm_mib=64", line);
    assert_non_null(strstr(output.out, "8.361 of 8.000 GiB, stage 0: it DOES NOT FIT\n"));
    run_output_free(&output);
    output = run_line(0, "%s --set memory.hbm_mib=64 --set workload.values.recompute=2", line);
    assert_non_null(strstr(output.out, " of 8.000 GiB, stage 0: it fits\n"));
    run_output_free(&output);
    output = run_line(2, "%s --preset pod46", line);
    assert_non_null(strstr(output.err, "pod46"));
    run_output_free(&output);
    output = run_line(2, "%s --preset pod64 --json -", line);
    assert_non_null(strstr(output.err, "a machine is for the table, which --json - replaces"));
    run_output_free(&output);
}

/* ---- a ring ---------------------------------------------------------------------------------- */

/* Of `queries` tokens over a ring of PEs, where launches and messages take no time. */
static long long ring_ps(unsigned ranks, unsigned queries)
{
    char path[64];
    temporary(path, "ring.yaml");
    struct run_output output =
        run_line(0, "workload new attention --cp %u --keys %u --queries %u -o %s", ranks,
                 64 * ranks, queries, path);
    run_output_free(&output);
    json_t *const root =
        run_json("step %s --preset pe_ring_8 --set system.sips.count=%u --launches free "
                 "--communication free --no-data --quiet",
                 path, ranks);
    const double ns = json_number_value(json_object_get(json_object_get(root, "step"), "step_ns"));
    json_decref(root);
    remove_temporary(path);
    assert_true(ns > 0);
    return (long long)(ns * 1000 + 0.5);
}

/* A ring of n ranks: n blocks, and a merge after each but the first. */
static void test_a_ring_takes_as_many_blocks(void **state)
{
    (void)state;
    for (unsigned queries = 1; queries <= 16; queries += 15) {
        const long long block = ring_ps(1, queries), merge = ring_ps(2, queries) - 2 * block;
        assert_true(merge > 0 && merge < block);
        assert_int_equal(ring_ps(4, queries), 4 * block + 3 * merge);
        assert_int_equal(ring_ps(7, queries), 7 * block + 6 * merge);
    }
}

/* More messages than kernels that may wait for a PE: a rank makes the calls of all of them before
 * the step begins. */
static void test_many_messages(void **state)
{
    char path[64];
    (void)state;
    temporary(path, "many.yaml");
    struct run_output output = run_line(0,
                                        "workload new inference --layers 2 --hidden 64 --heads 2 "
                                        "--vocab 128 --prompt 16 --tokens 1 "
                                        "--pp 2 --batch 24 --micro-batch 1 -o %s",
                                        path);
    run_output_free(&output);
    output = run_line(0, "step %s --preset pe_ring_8 --set system.sips.count=2 --quiet", path);
    assert_non_null(strstr(output.out, "# First token"));
    run_output_free(&output);
    remove_temporary(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_what_their_commands_write),
        cmocka_unit_test(test_a_file_is_written_whole_without_its_name),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_check_says_what_fits),
        cmocka_unit_test(test_a_ring_takes_as_many_blocks),
        cmocka_unit_test(test_many_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
