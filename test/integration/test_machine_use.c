/*
 * test_machine_use.c: --links, --svg and "picture" as their readers see them: they agree with the
 * figures of the result, with each other, and are the same bytes for any number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/file_text.h"
#include "test/support/run_cubewarp.h"

static char folder[64];

static const char *in_use_folder(const char *name)
{
    static char path[8][160];
    static int next;
    char *const to = path[next++ % 8];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/cubewarp-use-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int leave_folder(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *const lines[] = {
    "run --n-elem 2048 --no-data",
    "run --n-elem 2048 --algorithm ring_rs_ag --iters 2",
    "run --preset a3_16 --bytes 64KiB --no-data",
    "run --bytes 1KiB:4KiB:x2 --set system.sips.count=5 --set system.sips.topology=switch",
    "run --bench ipcq_shift --tiles 3 --bytes 1KiB",
    "run --n-elem 512 --preset rail_128 --algorithm ring_rs_ag --no-data"};
enum { LINES = sizeof lines / sizeof *lines };

/* The links of a kind in the table of the last size: their number, and their bytes. */
static void sum_kind(const json_t *size, const char *kind, json_int_t *links, json_int_t *bytes)
{
    const json_t *const list = json_object_get(size, "links");
    *links = *bytes = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const row = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(row, "kind")), kind) != 0)
            continue;
        const json_int_t count = json_integer_value(json_object_get(row, "count"));
        *links += count;
        *bytes += count * json_integer_value(json_object_get(row, "bytes"));
    }
}

static void links_agree_with_the_kinds_of_the_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        const char *const path = in_use_folder("links.json");
        json_t *const result = run_json("%s --links %s", lines[i], path);
        json_t *const table = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(table);
        const json_t *const rows = json_object_get(result, "results");
        const json_t *const sizes = json_object_get(table, "sizes");
        assert_int_equal(json_array_size(rows), json_array_size(sizes));
        for (size_t r = 0; r < json_array_size(rows); r++) {
            const json_t *const kinds = json_object_get(json_array_get(rows, r), "link_kinds");
            for (size_t k = 0; k < json_array_size(kinds); k++) {
                const json_t *const kind = json_array_get(kinds, k);
                json_int_t links, bytes;
                sum_kind(json_array_get(sizes, r), json_string_value(json_object_get(kind, "kind")),
                         &links, &bytes);
                assert_int_equal(links, json_integer_value(json_object_get(kind, "links")));
                assert_int_equal(bytes, json_integer_value(json_object_get(kind, "bytes")));
            }
        }
        json_decref(table);
        json_decref(result);
    }
}

/* The work in bins is the work. */
static void bins_sum_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        const char *const path = in_use_folder("bins.json");
        struct run_output output = run_line(0, "%s --links %s", lines[i], path);
        json_t *const table = json_load_file(path, 0, NULL);
        const json_t *const size = json_array_get(json_object_get(table, "sizes"), 0);
        const double bin_ns = json_number_value(json_object_get(size, "bin_ns"));
        for (int pes = 0; pes < 2; pes++) {
            const json_t *const list = json_object_get(size, pes ? "pes" : "links");
            assert_true(json_array_size(list) > 0);
            for (size_t k = 0; k < json_array_size(list); k++) {
                const json_t *const row = json_array_get(list, k);
                const json_t *const bins = json_object_get(row, pes ? "work_bins" : "busy_bins");
                const double ns =
                    json_number_value(json_object_get(row, pes ? "work_ns" : "busy_ns"));
                double sum = 0;
                assert_in_range(json_array_size(bins), 1, 32);
                for (size_t b = 0; b < json_array_size(bins); b++) {
                    const double share = json_number_value(json_array_get(bins, b));
                    assert_true(share >= 0 && share <= 1.000001);
                    sum += bin_ns * share;
                }
                if (sum > ns + 0.01 * bin_ns || sum < ns - 0.01 * bin_ns)
                    fail_msg("%s, %s %zu: bins sum up to %f ns, not %f", lines[i],
                             pes ? "PE" : "link", k, sum, ns);
            }
        }
        json_decref(table);
        run_output_free(&output);
    }
}

static void all_threads_write_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        char *texts[2][5];
        for (int threads = 1; threads <= 2; threads++) {
            const char *const table = in_use_folder("t.csv"), *const svg = in_use_folder("t.svg");
            const char *const json = in_use_folder("t.json"), *const dot = in_use_folder("t.dot");
            const char *const gexf = in_use_folder("t.gexf");
            struct run_output output =
                run_line(0, "%s --threads %d --links %s --svg %s --json %s --dot %s --gexf %s",
                         lines[i], threads, table, svg, json, dot, gexf);
            json_t *const result = json_load_file(json, 0, NULL);
            texts[threads - 1][0] = read_file(table);
            texts[threads - 1][1] = read_file(svg);
            texts[threads - 1][2] = json_dumps(json_object_get(result, "picture"), 0);
            texts[threads - 1][3] = read_file(dot);
            texts[threads - 1][4] = read_file(gexf);
            json_decref(result);
            run_output_free(&output);
        }
        for (int k = 0; k < 5; k++) {
            assert_string_equal(texts[0][k], texts[1][k]);
            free(texts[0][k]);
            free(texts[1][k]);
        }
    }
}

/* Links that are alike in several SIPs are one of the five, whoever looks at which SIPs. */
static void the_busiest_are_five_of_a_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        char *texts[3];
        for (int threads = 1; threads <= 3; threads++) {
            struct run_output output = run_line(0, "%s --threads %d", lines[i], threads);
            char *const begin = strstr(output.out, "# busiest links");
            assert_non_null(begin);
            *strstr(begin, "# engine") = '\0';
            texts[threads - 1] = strdup(begin);
            if (i == 0)
                assert_non_null(strstr(begin, "# sip 0 cube 10 pe_noc to PE 0, 4 alike "));
            run_output_free(&output);
        }
        assert_string_equal(texts[0], texts[1]);
        assert_string_equal(texts[0], texts[2]);
        for (int k = 0; k < 3; k++)
            free(texts[k]);
    }
}

static void another_form_of_the_table_is_refused(void **state)
{
    (void)state;
    struct run_output output = run_line(2, "run --links %s", in_use_folder("links.txt"));
    assert_non_null(strstr(output.err, "expected FILE.json or FILE.csv"));
    run_output_free(&output);
    static const char *const drawings[] = {"svg", "dot", "gexf"}; /* a run's rows go there */
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        output = run_line(2, "run --%s -", drawings[i]);
        run_output_free(&output);
    }
    output = run_line(4, "run --svg %s", in_use_folder("no/such.svg"));
    run_output_free(&output);
}

/* A torus of 4 x 2 has a link each way between neighbours: rows of four, and columns of two SIPs
 * with two links; each direction counts for itself. */
static void links_that_are_built_are_counted(void **state)
{
    (void)state;
    json_t *const root = run_json("run --n-elem 8 --set system.sips.count=8 --set system.sips.w=4 "
                                  "--set system.sips.h=2 --no-data");
    const json_t *kind;
    size_t k;
    bool seen = false;
    json_array_foreach(
        json_object_get(json_array_get(json_object_get(root, "results"), 0), "link_kinds"), k, kind)
    {
        const bool outer =
            strcmp(json_string_value(json_object_get(kind, "kind")), "sip_link") == 0;
        const json_t *const built = json_object_get(kind, "built");
        seen |= outer;
        if (outer)
            assert_int_equal(json_integer_value(built), 2 * (8 + 8));
        else
            assert_true(json_is_null(built));
    }
    assert_true(seen);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_that_are_built_are_counted),
        cmocka_unit_test(links_agree_with_the_kinds_of_the_result),
        cmocka_unit_test(bins_sum_up),
        cmocka_unit_test(all_threads_write_the_same),
        cmocka_unit_test(the_busiest_are_five_of_a_kind),
        cmocka_unit_test(another_form_of_the_table_is_refused),
    };
    return cmocka_run_group_tests_name("machine_use", tests, enter_folder, leave_folder);
}
