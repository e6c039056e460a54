/*
 * test_compare.c: `cubewarp compare` and `run --again` on results of the program: the same, another
 * link speed, another size, a tolerance, a golden file that was changed by hand, interrupted ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/support/built_plugin.h"
#include "test/support/run_cubewarp.h"

BUILT_PLUGIN("sums")

static char folder[] = "/tmp/cubewarp-compare-XXXXXX";

static void make(const char *name, const char *line)
{
    struct run_output output = run_line(0, "run --preset tiny %s --json %s/%s", line, folder, name);
    run_output_free(&output);
}

/* Compares two of them; the caller frees the output. */
static struct run_output compare(int code, const char *a, const char *b, const char *options)
{
    return run_line(code, "compare %s/%s %s/%s %s", folder, a, folder, b, options);
}

static void expect_text(struct run_output output, const char *text)
{
    if (strstr(output.out, text) == NULL)
        print_error("not said: %s\nbut: %s\n", text, output.out);
    assert_non_null(strstr(output.out, text));
    run_output_free(&output);
}

static void the_same_is_the_same(void **state)
{
    (void)state;
    make("a", "--bytes 1KiB:4KiB:x2");
    make("b", "--bytes 1KiB:4KiB:x2 --threads 2 --sync optimistic");
    expect_text(compare(0, "a", "b", ""), "# the same within 0 %: 3 sizes");
    expect_text(compare(0, "a", "b", ""), "# one configuration");
    expect_text(compare(0, "a", "b", "--format markdown"), "| 1024 | all_reduce |");
    expect_text(compare(0, "a", "b", "--format junit"),
                "<testcase classname=\"compare\" name=\"all_reduce 1024 B\"/>");
    struct run_output output = compare(0, "a", "b", "--format json");
    json_t *const json = json_loads(output.out, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "schema")), "cubewarp.compare/1");
    assert_true(json_is_true(json_object_get(json, "same")));
    assert_int_equal(json_array_size(json_object_get(json, "results")), 3);
    json_decref(json);
    run_output_free(&output);
}

/* 64 KiB of a rank in one shard, by the automatic choice in as many as it takes, and in four. */
static void sizes_of_a_rank_are_paired(void **state)
{
    (void)state;
    make("a", "--algorithm auto --bytes-per-rank 64KiB --no-data --set system.sips.count=4");
    make("b", "--algorithm ring_rs_ag --set algorithms.ring_rs_ag.mapper=pe0_all_cubes "
              "--bytes-per-rank 64KiB --no-data --set system.sips.count=4");
    make("c", "--algorithm ring_rs_ag --bytes-per-rank 64KiB --no-data --set system.sips.count=4");
    struct run_output output = compare(1, "a", "b", "");
    assert_non_null(strstr(output.out, "\n# sizes are bytes per rank\n"));
    expect_text(output, "\n           65536 all_reduce ");
    expect_text(compare(1, "b", "c", ""), "\n# 1 of 1 sizes differ");
    make("c", "--algorithm ring_rs_ag --bytes 16KiB --no-data --set system.sips.count=4");
    output = compare(1, "b", "c", ""); /* the shards are alike */
    assert_null(strstr(output.out, "per rank"));
    expect_text(output, "\n           16384 all_reduce ");
    output = run_line(0, "report %s/a --markdown - --output /dev/null", folder);
    expect_text(output, "| bytes per rank |");
}

static void a_slower_link_is_named(void **state)
{
    (void)state;
    make("a", "--bytes 1KiB:4KiB:x2");
    make("b", "--bytes 1KiB:4KiB:x2 --set links.ucie.bw_gbs=100");
    make("c", "--bytes 2KiB:8KiB:x2");
    /* A has not changed it: B says which value is shipped. */
    expect_text(compare(1, "a", "b", ""),
                "links.ucie.bw_gbs                        128                      100");
    expect_text(compare(1, "a", "b", "--tolerance 0.001%"), "3 of 3 sizes differ");
    struct run_output output = run_to_full_disk(4, "compare %s/a %s/b", folder, folder);
    assert_non_null(strstr(output.err, "cannot write to standard output"));
    run_output_free(&output);
    output = compare(0, "a", "b", "--tolerance 80");
    int within = 0;
    for (const char *at = output.out; (at = strstr(at, " within ")) != NULL; at++)
        within++;
    assert_true(within > 4); /* three sizes, the last line, and phases */
    run_output_free(&output);
    expect_text(compare(1, "a", "c", "--tolerance 80"), "not in B");
    expect_text(compare(1, "a", "c", "--tolerance 80"), "2 of 4 sizes differ");
}

/* One ps, and one bit. */
static void a_golden_file_guards_times_and_bits(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/golden", folder);
    make("a", "--bytes 1KiB");
    json_t *const json =
        json_load_file((snprintf(path, sizeof path, "%s/a", folder), path), 0, NULL);
    json_t *const row = json_array_get(json_object_get(json, "results"), 0);
    const double time_ns = json_real_value(json_object_get(row, "time_ns"));
    snprintf(path, sizeof path, "%s/golden", folder);
    json_object_set_new(row, "time_ns", json_real(time_ns + 0.001));
    assert_int_equal(json_dump_file(json, path, JSON_REAL_PRECISION(15)), 0);
    expect_text(compare(1, "golden", "a", ""), "DIFFERS");
    expect_text(compare(1, "golden", "a", "--format github"),
                "::error title=all_reduce 1024 B DIFFERS::");
    expect_text(compare(1, "golden", "a", "--format junit"), "failures=\"1\" skipped=\"0\"");
    expect_text(compare(0, "golden", "a", "--tolerance 0.01"), "within");
    json_object_set_new(row, "time_ns", json_real(time_ns));
    json_object_set_new(row, "data_hash", json_string("0000000000000000"));
    assert_int_equal(json_dump_file(json, path, JSON_REAL_PRECISION(15)), 0);
    expect_text(compare(1, "golden", "a", "--tolerance 50"), "OTHER BITS");
    /* Another input has other bits. */
    json_object_set_new(json, "seed", json_integer(2));
    assert_int_equal(json_dump_file(json, path, JSON_REAL_PRECISION(15)), 0);
    expect_text(compare(0, "golden", "a", ""), "seed");
    json_decref(json);
}

/* A result of 0.1.0 whose line has `word` alone, or nothing, and what running it again says. */
static char *again_of_0_1_0(const char *word, const char *algorithm, const char *more)
{
    char path[256];
    make("b", "--preset records");
    snprintf(path, sizeof path, "%s/b", folder);
    json_t *const root = json_load_file(path, 0, NULL);
    json_t *const line = json_array();
    json_array_append_new(line, json_string("run"));
    if (word != NULL)
        json_array_append_new(line, json_string(word));
    json_object_set_new(root, "version", json_string("0.1.0"));
    json_object_set_new(root, "algorithm", json_string(algorithm));
    json_object_set_new(json_object_get(root, "provenance"), "command_line", line);
    assert_int_equal(json_dump_file(root, path, JSON_REAL_PRECISION(15)), 0);
    json_decref(root);
    struct run_output output = run_line(1, "run --no-data --again %s %s", path, more);
    char *const text = strdup(output.err);
    run_output_free(&output);
    return text;
}

static void defaults_that_changed_since_0_1_0_are_named(void **state)
{
    (void)state;
    static const char none[] = "lrab_hierarchical_allreduce";
    char *text = again_of_0_1_0(NULL, none, "");
    assert_non_null(strstr(text, "note: since 0.1.0 a line without algorithm, bench and size"));
    assert_non_null(strstr(text, "--preset records does"));
    free(text);
    text = again_of_0_1_0("-b1K", none, "");
    assert_non_null(strstr(text, "note: since 0.1.0 sizes of -b, -e, -f and -i are a rank's"));
    assert_null(strstr(text, "a line without algorithm"));
    free(text);
    text = again_of_0_1_0("--bytes-per-rank=1KiB", "auto_all_reduce", "--algorithm auto");
    assert_non_null(strstr(text, "note: since 0.1.0 auto takes the placement"));
    free(text);
    text = again_of_0_1_0("--bytes=1KiB", none, "");
    assert_null(strstr(text, "since 0.1.0"));
    free(text);
}

static void a_line_runs_again(void **state)
{
    (void)state;
    make("a", "--bytes 1KiB:4KiB:x2 --set links.ucie.bw_gbs=100 --tag night=1");
    char line[512];
    snprintf(line, sizeof line, "run --again %s/a", folder);
    expect_text(run_line(0, "%s", line), "# the same within 0 %: 3 sizes");
    expect_text(run_line(0, "%s --threads 2 --json %s/b", line, folder), "# the same within 0 %");
    expect_text(compare(0, "a", "b", ""), "# the same within 0 %");
    struct run_output output = run_line(1, "%s --dtype bf16 --verify-data --bytes 1KiB", line);
    assert_non_null(strstr(output.err, "sizes are not as in"));
    run_output_free(&output);
    /* The result of a run again can be run again. */
    snprintf(line, sizeof line, "run --again=%s/b", folder);
    expect_text(run_line(0, "%s --csv -", line), ",links.ucie.bw_gbs,night\n");
    output = run_line(2, "run --again %s/a --again %s/b", folder, folder);
    assert_non_null(strstr(output.err, "--again: given more than once"));
    run_output_free(&output);
    output = run_line(2, "run --again /dev/null");
    assert_non_null(
        strstr(output.err, "/dev/null: nothing can be read from it; expected a result"));
    run_output_free(&output);
    output = run_line(2, "compare %s %s/a", folder, folder);
    assert_non_null(strstr(output.err, "cannot read /"));
    assert_non_null(strstr(output.err, ": Is a directory\n"));
    run_output_free(&output);
    expect_text(run_line(0, "run --again %s/a --tag night=2 --csv -", folder), ",2\n");
    /* The end of options of the first line is none of the new one. */
    output = run_line(0, "run --preset tiny --bytes 1KiB --json %s/c --", folder);
    run_output_free(&output);
    expect_text(run_line(0, "run --again %s/c --threads 2", folder), "# the same within 0 %");
    output = run_line(2, "run --again %s/a --againn", folder);
    assert_non_null(strstr(output.err, "unknown option '--againn'"));
    run_output_free(&output);
}

/* A name of a file need not be UTF-8; JSON has to be. */
static void names_that_are_no_utf8_lose_no_result(void **state)
{
    (void)state;
    static const char measured[] = "# size count type redop time algbw busbw\n"
                                   " 1024 512 half sum 10 1 1\n";
    char path[100];
    snprintf(path, sizeof path, "%s/\xff.txt", folder);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(measured, file);
    assert_int_equal(fclose(file), 0);
    char options[200];
    snprintf(options, sizeof options, "--bytes 1KiB --measured %s", path);
    make("\xfe", options);
    expect_text(run_line(0, "compare %s/\xfe %s/\xfe --format json", folder, folder), "/?\",");
    snprintf(path, sizeof path, "%s/\xfe", folder);
    json_t *const json = json_load_file(path, 0, NULL);
    const char *const name =
        json_string_value(json_object_get(json_object_get(json, "measured"), "file"));
    assert_non_null(name);
    assert_non_null(strstr(name, "/?.txt"));
    /* Cut short, this name of a phase ends within a character. */
    json_t *const row = json_array_get(json_object_get(json, "results"), 0);
    json_object_set_new(json_array_get(json_object_get(row, "phases"), 0), "name",
                        json_string("phase of forty-six characters, then one of ...\xc3\xa9"));
    assert_int_equal(json_dump_file(json, path, JSON_REAL_PRECISION(15)), 0);
    expect_text(run_line(0, "compare %s/\xfe %s/\xfe --format json", folder, folder), "...?");
    json_decref(json);
}

static void copy_and_append(const char *from, const char *to, const char *tail)
{
    char part[4096];
    FILE *const in = fopen(from, "rb"), *const out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t bytes; (bytes = fread(part, 1, sizeof part, in)) > 0;)
        assert_int_equal(fwrite(part, 1, bytes, out), bytes);
    fputs(tail, out);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* One name, other contents: another digest, another hash. */
static void the_digest_covers_a_shared_object(void **state)
{
    (void)state;
    char digest[17] = "", hash[17] = "", copy[128], module[160];
    snprintf(copy, sizeof copy, "%s.copy.so", plugin.path);
    snprintf(module, sizeof module, "%s:by_trees", copy);
    for (int i = 0; i < 2; i++) {
        copy_and_append(plugin.path, copy, i == 0 ? "" : "another build");
        json_t *const json = run_json("run --preset tiny --no-data --n-elem 64 --ccl %s",
                                      built_plugin_name_module(&plugin, module, "ring_1d"));
        const json_t *const loaded =
            json_array_get(json_object_get(json_object_get(json, "provenance"), "loaded"), 0);
        const char *const now = json_string_value(json_object_get(json, "config_digest"));
        const char *const now_hash = json_string_value(json_object_get(loaded, "xxh3"));
        assert_string_equal(json_string_value(json_object_get(loaded, "file")), copy);
        assert_true(strcmp(now, digest) != 0);
        assert_true(strcmp(now_hash, hash) != 0);
        snprintf(digest, sizeof digest, "%s", now);
        snprintf(hash, sizeof hash, "%s", now_hash);
        json_decref(json);
    }
    unlink(copy);
}

/* It stops behind its first size. */
static void a_result_that_was_cut_short_is_compared_as_far_as_it_goes(void **state)
{
    (void)state;
    struct run_output output = run_line(
        3, "run --preset tiny --bytes 64:1MiB:x16384 --max-events 5000 --json %s/a", folder);
    run_output_free(&output);
    make("b", "--bytes 64:1MiB:x16384");
    expect_text(compare(0, "a", "b", ""), "; failed");
    expect_text(compare(1, "b", "a", ""), "not in B");
}

/* Texts of a file of anybody's may move a terminal's cursor, or begin lines of their own. */
static void no_text_of_a_result_reaches_the_terminal_with_control_characters(void **state)
{
    (void)state;
    make("plain", "--bytes 1KiB");
    char path[64], other[64];
    snprintf(path, sizeof path, "%s/plain", folder);
    snprintf(other, sizeof other, "%s/escapes", folder);
    json_t *const json = json_load_file(path, 0, NULL);
    json_t *const row = json_array_get(json_object_get(json, "results"), 0);
    assert_int_equal(json_object_set_new(json, "bench", json_string("\033[31mred\n# fake")), 0);
    assert_int_equal(json_object_set_new(json_array_get(json_object_get(row, "phases"), 0), "name",
                                         json_string("\033]0;title\007\nrow")),
                     0);
    assert_int_equal(json_dump_file(json, other, 0), 0);
    json_decref(json);
    static const char *const formats[] = {"", "--format markdown"};
    for (size_t i = 0; i < 2; i++) {
        struct run_output output = compare(1, "plain", "escapes", formats[i]);
        assert_null(strpbrk(output.out, "\033\007"));
        assert_null(strstr(output.out, "\n# fake"));
        assert_null(strstr(output.out, "\nrow"));
        assert_non_null(strstr(output.out, "?[31mred?# fake"));
        assert_non_null(strstr(output.out, "?]0;title??row"));
        run_output_free(&output);
    }
}

static void wrong_lines_are_refused(void **state)
{
    (void)state;
    make("a", "--bytes 1KiB");
    static const char *const wrong[] = {"compare",
                                        "compare %s/a",
                                        "compare %s/a %s/nowhere",
                                        "compare %s/a %s/a %s/a",
                                        "compare %s/a %s/a --tolerance -1",
                                        "compare %s/a %s/a --tolerance nan",
                                        "compare %s/a %s/a --format xml",
                                        "compare - -"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[512] = "";
        for (const char *at = wrong[i]; *at != '\0'; at++) {
            const bool is_folder = at[0] == '%' && at[1] == 's';
            const size_t bytes = strlen(line);
            snprintf(line + bytes, sizeof line - bytes, "%.*s", is_folder ? 99 : 1,
                     is_folder ? folder : at);
            at += is_folder;
        }
        struct run_output output = run_line(2, "%s", line);
        assert_true(output.err[0] != '\0');
        run_output_free(&output);
    }
}

static int make_folder(void **state) { return mkdtemp(folder) != NULL ? build(state) : -1; }

static int remove_folder(void **state)
{
    static const char *const names[] = {"a",     "b",       "c",    "golden",
                                        "plain", "escapes", "\xfe", "\xff.txt"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder) | clean(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_the_same),
        cmocka_unit_test(sizes_of_a_rank_are_paired),
        cmocka_unit_test(a_slower_link_is_named),
        cmocka_unit_test(a_golden_file_guards_times_and_bits),
        cmocka_unit_test(a_line_runs_again),
        cmocka_unit_test(defaults_that_changed_since_0_1_0_are_named),
        cmocka_unit_test(names_that_are_no_utf8_lose_no_result),
        cmocka_unit_test(the_digest_covers_a_shared_object),
        cmocka_unit_test(a_result_that_was_cut_short_is_compared_as_far_as_it_goes),
        cmocka_unit_test(no_text_of_a_result_reaches_the_terminal_with_control_characters),
        cmocka_unit_test(wrong_lines_are_refused),
    };
    return cmocka_run_group_tests_name("compare", tests, make_folder, remove_folder);
}
