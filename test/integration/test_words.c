/*
 * test_words.c: what somebody who does not know the names gets: lists, guesses by meaning, help in
 * groups, examples that run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"
#include "test/support/sanitized.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void a_list_has_a_line_for_each(void **state)
{
    (void)state;
    static const struct {
        const char *what, *line;
        int least;
    } lists[] = {
        {"algorithms", "\nring_rs_ag                   all_reduce, a schedule\n", 35},
        {"presets", "\npod64                        A pod: 64 SIPs in an 8 x 8 torus, 8,192 PEs\n",
         18},
        {"topologies", "\ntorus_2d                     a grid of w x h that wraps both ways\n", 7},
        {"benches",
         "\ngemm                         a matrix product on PE 0 of each cube (--gemm)\n", 12},
        {"studies", "first_look.yaml  Which all-reduce on 16 SIPs, joined how, and how much", 8}};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct run_output output = run_line(0, "list %s", lists[i].what);
        int lines = 0;
        for (char *at = output.out; *at != '\0'; lines++) {
            const size_t bytes = strcspn(at, "\n");
            const char *const gap = strstr(at, "  ");
            assert_non_null(gap); /* a name, and what it is */
            assert_true(gap < at + bytes && gap[strspn(gap, " ")] != '\n');
            at += bytes + 1;
        }
        if (lines < lists[i].least || strstr(output.out, lists[i].line) == NULL)
            fail_msg("list %s: %d lines:\n%s", lists[i].what, lines, output.out);
        run_output_free(&output);
    }
    struct run_output output = run_line(2, "list machines");
    assert_non_null(strstr(output.err, "expected one of algorithms, presets, topologies, studies"));
    run_output_free(&output);
}

static void a_wrong_word_is_answered_by_meaning(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"run --ranks 4", "unknown option '--ranks'; here that is --set system.sips.count=N\n"},
        {"run --nodes 4", "unknown option '--nodes'; here that is --set system.sips.count=N\n"},
        {"run --world_size=4", "here that is --set system.sips.count=N\n"},
        {"run --torus_2d", "here that is --set system.sips.topology=torus_2d\n"},
        {"run --size 4", "here that is --bytes-per-rank SIZE, or --bytes SIZE for one shard\n"},
        {"run --algorithm ring", "no algorithm 'ring'; did you mean 'ring_allreduce', "
                                 "'ring_all_gather' or 'ring_rs_ag'? `cubewarp list"},
        {"run --algorithm torus_2d", "that is --set system.sips.topology=torus_2d; "},
        {"run --algorithm ccl_allreduce", "that is a bench: --bench ccl_allreduce; "},
        {"run --topology torus_2d",
         "cannot open: No such file or directory; expected a file; that is --set "
         "system.sips.topology=torus_2d\n"},
        {"run --preset torus_2d", "unknown preset 'torus_2d'; that is --set system.sips.topology"},
        {"run --set ranks=4", "unknown key 'ranks'; that is --set system.sips.count=N; "},
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct run_output output = run_line(2, "%s", lines[i][0]);
        if (strstr(output.err, lines[i][1]) == NULL)
            fail_msg("%s\nsaid: %s", lines[i][0], output.err);
        assert_null(strstr(output.err, "lrab_hierarchical_allreduce")); /* no dump of all names */
        run_output_free(&output);
    }
}

/* Mistakes that people make, and the part of the answer that names the cause. */
static void a_mistake_is_answered_by_its_cause(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"run --bytes 64 KB", "unexpected argument 'KB'; a number and its unit are one word"},
        {"run --bytes 64kb", "no such unit; there are B, KiB, MiB, GiB (or K, M, G: the same)"},
        {"run --bytes 1k..1G", "a range is written 1KiB:1GiB:x2 or "},
        {"run --bytes 1e6", "a size is a whole number and a unit"},
        {"run --bytes 0x1000", "a size has decimal digits"},
        {"run --bytes 1K,", "a size is missing"},
        {"run -bytes 64", "unknown option '-bytes'; did you mean '--bytes'?"},
        {"run -np 8", "unknown option '-np'; here that is --set system.sips.count=N"},
        {"run pod64", "unexpected argument 'pod64'; that is --preset pod64"},
        {"run ring_rs_ag", "unexpected argument 'ring_rs_ag'; that is --algorithm ring_rs_ag"},
        {"run help", "unexpected argument 'help'; that is --help"},
        {"run --set a = 8", "unexpected argument '='; a name and its value are one word"},
        {"run --algorithm pod64", "no algorithm 'pod64'; that is a preset: --preset pod64"},
        {"run --preset ring_rs_ag", "that is an algorithm: --algorithm ring_rs_ag"},
        {"run --bench allreduce", "did you mean ccl_allreduce?"},
        {"run --bench alltoall", "did you mean ccl_all_to_all?"},
        {"run --dtype fp16", "did you mean f16?"},
        {"run --op mean", "did you mean avg?"},
        {"run --set sips.count=8", "did you mean 'system.sips.count'?"},
        {"run --set algorithm=auto", "did you mean 'defaults.algorithm'?"},
        {"run --set defaults.mapper=all_pes", "each entry has its own: algorithms.NAME.mapper"},
        {"run --set algorithms.nope.mapper=all_pes", "no algorithm 'nope'; "},
        {"run --set jitter.links.sip_link.slower=5", "faults.NAME.links=sip_link"},
        {"run --set defaults.buffer_kind=TCM", "found 'TCM'; did you mean 'tcm'?"},
        {"run --set defaults.rank_invariant=yes", "found 'yes'; did you mean 'true'?"},
        {"run --set system.sips.count=0x10", "found '0x10'; write it with decimal digits"},
        {"run --set jitter.links.sip_link={mean_ns:100,only:27}",
         "a space is missing after the colon: write mean_ns: VALUE"},
        {"run --set system.sips=count:8", "found 'count:8'; a space is missing after the colon"},
        {"run --set algorithms.ring_rs_ag.module=mine.so:mine", "a file's path has a folder"},
        {"run --set algorithms.ring_rs_ag.module=./mine.so", "./file.so:symbol"},
        {"sweep --preset pod64", "stands in the study: base: {preset: VALUE}"},
        {"list preset", "cubewarp list presets"},
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct run_output output = run_line(2, "%s", lines[i][0]);
        if (strstr(output.err, lines[i][1]) == NULL)
            fail_msg("%s\nsaid: %s", lines[i][0], output.err);
        run_output_free(&output);
    }
}

static void help_is_in_groups_and_its_examples_run(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "run",   "phold",   "check",  "config", "topo",   "list",     "verify",       "batch",
        "sweep", "compare", "replay", "report", "plugin", "perf run", "perf compare", "perf trend"};
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        struct run_output help = run_line(0, "%s --help", commands[i]);
        char *at = strstr(help.out, "\nExamples:\n");
        assert_non_null(at);
        int examples = 0;
        for (at += 11; strncmp(at, "  cubewarp ", 11) == 0; examples++) {
            const size_t bytes = strcspn(at, "\n");
            char line[200];
            snprintf(line, sizeof line, "%.*s", (int)bytes - 11, at + 11);
            at += bytes + 1;
            /* those that need no file and little time */
            if (strncmp(line, "list", 4) != 0 && strncmp(line, "check", 5) != 0 &&
                strncmp(line, "config", 6) != 0 && strncmp(line, "batch", 5) != 0 &&
                strncmp(line, "run --set", 9) != 0)
                continue;
            if (sanitized && (strstr(line, "pod1024") != NULL || strstr(line, "1MiB") != NULL))
                continue;
            struct run_output output = run_line(0, "%s", line);
            run_output_free(&output);
        }
        assert_int_equal(examples, 3);
        run_output_free(&help);
    }
    struct run_output run = run_line(0, "run --help");
    static const char *const groups[] = {"\nThe machine and the algorithm:\n",
                                         "\nThe bench and its sizes:\n", "\nThe engine:\n",
                                         "\nResults:\n", "\nLogs and timelines:\n"};
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        assert_non_null(strstr(run.out, groups[i]));
    run_output_free(&run);
}

static void sizes_may_be_listed(void **state)
{
    (void)state;
    json_t *const root = run_json("run --no-data --bytes 1K,64,2K:4K");
    static const int sizes[] = {1024, 64, 2048, 4096};
    const json_t *const results = json_object_get(root, "results");
    assert_int_equal(json_array_size(results), COUNT_OF(sizes));
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(results, i), "bytes")),
                         sizes[i]);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_a_line_for_each),
        cmocka_unit_test(a_wrong_word_is_answered_by_meaning),
        cmocka_unit_test(a_mistake_is_answered_by_its_cause),
        cmocka_unit_test(help_is_in_groups_and_its_examples_run),
        cmocka_unit_test(sizes_may_be_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
