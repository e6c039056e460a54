/*
 * test_step.c: `cubewarp step`: tables, JSON, timeline, studies and pages of a pipeline whose times
 * are known by formula: with free launches and communication, (m + p - 1) (f + b).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sqlite3.h>

#define TEST_SCRATCH "step"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

/* 4 stages, 8 microbatches, 1 us forward and 2 us backward: 11 x 3 us. */
static const char pipeline[] = "workload:\n"
                               "  name: four stages\n"
                               "  parallel: {pp: 4}\n"
                               "  values: {m: 8, room: 1GiB}\n"
                               "  quotes: {tokens: 33000, model_flops: 1T}\n"
                               "  memory: {weights: room}\n"
                               "  ops:\n"
                               "    - pipeline: 1f1b\n"
                               "      microbatches: m\n"
                               "      layers: 4\n"
                               "      message: 4KiB\n"
                               "      forward: [{each_layer: [{name: forward, time: 1us}]}]\n"
                               "      backward: [{each_layer: [{name: backward, time: 2us}]}]\n";
#define MACHINE                                                                                    \
    "--quiet --set system.sips.count=4 --set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1 "           \
    "--launches free --communication free "

static const char *write_file(const char *name, const char *text)
{
    const char *const path = in_folder(name);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static double number_at(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static double sum_of(const json_t *object)
{
    const char *key;
    json_t *value;
    double sum = 0;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) sum += json_number_value(value);
    return sum;
}

static void a_pipeline_s_json(void **state)
{
    (void)state;
    json_t *const root = run_json("step " MACHINE "%s", write_file("p.yaml", pipeline));
    const json_t *const step = json_object_get(root, "step");
    const json_t *const classes = json_object_get(step, "classes");
    const json_t *const path = json_object_get(step, "critical_path");
    assert_true(number_at(step, "step_ns") == 33000);
    assert_true(json_ps(root, "time_ns") == 33000000);
    assert_int_equal(strlen(json_string_value(json_object_get(step, "times_hash"))), 16);
    assert_true(fabs(number_at(step, "tokens_per_s") - 1e9) < 1);
    assert_true(json_is_true(json_object_get(step, "fits")));
    assert_true(number_at(step, "memory_bytes") == 1073741824);
    assert_int_equal(json_array_size(classes), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *const one = json_array_get(classes, i);
        assert_true(number_at(one, "compute_ns") == 8 * 3000);
        assert_true(sum_of(json_object_get(one, "exposed_ns")) == 0);
        assert_true(fabs(number_at(one, "bubble_ns") + sum_of(json_object_get(one, "waiting_ns")) -
                         9000) < 1e-6);
    }
    /* From the first forward pass on: 8 + 3 of each kind, and nothing else. */
    assert_string_equal(json_string_value(json_object_get(path, "limited_by")), "backward");
    assert_string_equal(json_string_value(json_object_get(path, "next")), "forward");
    const json_t *const parts = json_object_get(path, "parts");
    assert_int_equal(json_array_size(parts), 2);
    assert_true(number_at(json_array_get(parts, 0), "time_ns") == 22000);
    assert_true(number_at(json_array_get(parts, 1), "time_ns") == 11000);
    const json_t *const chart = json_object_get(json_object_get(step, "chart"), "ranks");
    assert_int_equal(json_array_size(chart), 4);
    json_decref(root);
}

static void the_same_on_two_threads(void **state)
{
    (void)state;
    const char *const path = write_file("p.yaml", pipeline);
    struct run_output output =
        run_line(0, "verify --bench step --workload %s " MACHINE "--threads 2", path);
    assert_non_null(strstr(output.out, "identical"));
    run_output_free(&output);
}

static void tables_and_timeline(void **state)
{
    (void)state;
    const char *const path = write_file("p.yaml", pipeline), *const trace = in_folder("t.json");
    struct run_output output =
        run_line(0, "step " MACHINE "--set workload.values.m=2 --trace %s %s", trace, path);
    assert_non_null(strstr(output.out, "# Step              : 15.000000 us"));
    assert_non_null(strstr(output.out, "it fits"));
    assert_non_null(strstr(output.out, "# Starts and ends   : hash "));
    assert_non_null(strstr(output.out, "# limited by backward; next forward"));
    run_output_free(&output);
    char *const text = read_file(trace);
    json_t *const root = json_loads(text, 0, NULL);
    assert_non_null(root);
    size_t slices = 0, i;
    json_t *event;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const char *const category = json_string_value(json_object_get(event, "cat"));
        slices += category != NULL && strcmp(category, "compute") == 0;
    }
    assert_int_equal(slices, 4 * 2 * 2);
    json_decref(root);
    free(text);
}

/* With messages and launches that take time: the operations on the path are the same, and all parts
 * sum to the step. */
static void its_causes(const char *options, bool free)
{
    json_t *const root = run_json("step --quiet --set system.sips.count=4 --set "
                                  "sip.cube_mesh.w=1 --set sip.cube_mesh.h=1 --explain %s %s",
                                  options, write_file("p.yaml", pipeline));
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    const json_t *const explain = json_object_get(row, "explain");
    const json_t *const path = json_object_get(explain, "path"), *part;
    double sum = 0, operations = 0;
    size_t i;
    assert_true(json_is_object(path));
    json_array_foreach(json_object_get(path, "parts"), i, part)
    {
        const char *const name = json_string_value(json_object_get(part, "part"));
        sum += number_at(part, "time_ns");
        operations += strcmp(name, "operations with a time") == 0 ? number_at(part, "time_ns") : 0;
        assert_string_not_equal(name, "jitter and waits");
    }
    assert_true(fabs(sum - number_at(json_object_get(root, "step"), "step_ns")) < 1e-3);
    assert_true(operations == 33000);
    const char *const sentence = json_string_value(json_object_get(explain, "sentence"));
    assert_non_null(strstr(sentence, free ? "nothing that has a speed" : "; next "));
    assert_null(json_object_get(explain, "blocks"));
    json_decref(root);
}

static void causes_of_a_step(void **state)
{
    (void)state;
    its_causes("", false);
    its_causes("--launches free", false);
    its_causes("--communication free", true);
    its_causes("--launches free --communication free", true);
}

/* A message of 4 KiB over each of the three hops, either way, for each of 8 microbatches. */
static void links_of_a_step(void **state)
{
    (void)state;
    const char *const path = write_file("p.yaml", pipeline), *const links = in_folder("l.json"),
                      *const picture = in_folder("m.svg");
    struct run_output output =
        run_line(0,
                 "step --quiet --set system.sips.count=4 --set sip.cube_mesh.w=1 --set "
                 "sip.cube_mesh.h=1 --links %s --svg %s %s",
                 links, picture, path);
    run_output_free(&output);
    char *const text = read_file(links), *const drawn = read_file(picture);
    json_t *const root = json_loads(text, 0, NULL);
    const json_t *const size = json_array_get(json_object_get(root, "sizes"), 0);
    double bytes = 0;
    size_t i;
    json_t *link;
    assert_string_equal(json_string_value(json_object_get(size, "collective")), "step");
    json_array_foreach(
        json_object_get(size, "links"), i,
        link) if (strcmp(json_string_value(json_object_get(link, "kind")), "sip_link") == 0)
        bytes += number_at(link, "bytes") * number_at(link, "count");
    assert_true(bytes >= 2 * 3 * 8 * 4096);
    assert_non_null(strstr(drawn, "<svg"));
    json_decref(root);
    free(text);
    free(drawn);
}

static void refuse(const char *line, const char *why)
{
    struct run_output output = run_line(2, "%s", line);
    if (strstr(output.err, why) == NULL)
        fail_msg("%s: %s", line, output.err);
    run_output_free(&output);
}

static void what_a_step_does_not_take(void **state)
{
    (void)state;
    char line[300];
    const char *const path = write_file("p.yaml", pipeline);
    refuse("step --quiet", "expected a workload file or a trace");
    refuse("run --set workload.values.m=2", "are for `cubewarp step FILE`");
    refuse("run --concurrency one", "--concurrency does nothing in the bench ccl_allreduce");
    snprintf(line, sizeof line, "step %s %s", path, path);
    refuse(line, "one step at a time");
    snprintf(line, sizeof line, "run --bench step --workload %s --bytes 1K", path);
    refuse(line, "a step has no --bytes");
    snprintf(line, sizeof line, "step --quiet --set system.sips.count=2 %s", path);
    refuse(line, "4 ranks, and the machine has 2 SIPs");
    snprintf(line, sizeof line, "step " MACHINE "--explain --threads 2 %s", path);
    refuse(line, "on one thread");
    snprintf(line, sizeof line, "step " MACHINE "--verify-data %s", path);
    refuse(line, "says nothing of data");
    snprintf(line, sizeof line, "step " MACHINE "--op-log %s %s", in_folder("op.log"), path);
    refuse(line, "a step has values with --verify-data alone");
    snprintf(line, sizeof line, "step " MACHINE "--json %s %s", path, path);
    refuse(line, "--workload and --json name one file");
}

/* With values: none is wrong, and their hash is the same on any number of threads. */
static void values_of_a_step(void **state)
{
    (void)state;
    const char *const path = write_file(
        "v.yaml", "workload:\n"
                  "  name: v\n"
                  "  data: true\n"
                  "  dtype: bf16\n"
                  "  parallel: {tp: 2, pp: 2}\n"
                  "  ops:\n"
                  "  - {name: sum, collective: all_reduce, of: tp, bytes: 4KiB}\n"
                  "  - {name: s, when: stage == 0, send: 4KiB, of: pp, to: 1, overlap: true}\n"
                  "  - {name: r, when: stage == 1, recv: 4KiB, of: pp, from: 0, overlap: true}\n");
    char hash[2][40] = {"", ""};
    for (int threads = 1; threads <= 3; threads += 2) {
        struct run_output output = run_line(
            0, "step --set system.sips.count=4 --verify-data --threads %d %s", threads, path);
        const char *const found = strstr(output.out, "result hash ");
        assert_non_null(found);
        snprintf(hash[threads / 2], sizeof hash[0], "%.28s", found);
        assert_non_null(strstr(output.out, "Wrong values      : 0 OK"));
        assert_null(strstr(output.out, "result hash none"));
        run_output_free(&output);
    }
    assert_string_equal(hash[0], hash[1]);
    char line[300];
    snprintf(line, sizeof line, "step " MACHINE "--verify-data %s", path);
    refuse(line, "nothing is moved");
}

/* Eight and sixteen ranks that exchange directly need 7 + 15 directions of a PE: the larger groups
 * take rings. */
static void larger_groups_take_rings(void **state)
{
    (void)state;
    const char *const path =
        write_file("two.yaml", "workload:\n"
                               "  dtype: bf16\n"
                               "  parallel: {tp: 8, dp: 16}\n"
                               "  ops:\n"
                               "  - {name: a, collective: all_reduce, of: tp, bytes: 16MiB}\n"
                               "  - {name: b, collective: all_reduce, of: dp, bytes: 16MiB}\n");
    static const char machine[] =
        "--preset a100_nodes --set system.sips={\"count\":128,\"topology\":"
        "[{\"switch\":8},{\"switch\":16,\"bw_gbs\":12.5}]}";
    static const char warning[] = "collectives of 16 ranks and more take rings";
    struct run_output output = run_line(0, "step %s %s", machine, path);
    assert_non_null(strstr(output.out, "b of dp"));
    assert_non_null(strstr(output.err, warning));
    run_output_free(&output);
    /* What fails folded runs again on the whole machine; it warns once. */
    output = run_line(3, "step %s --max-sim-time 1us %s", machine, path);
    const char *const first = strstr(output.err, warning);
    assert_non_null(first);
    assert_null(strstr(first + 1, warning));
    run_output_free(&output);
}

static const char *times_hash(const json_t *root)
{
    return json_string_value(json_object_get(json_object_get(root, "step"), "times_hash"));
}

/* Every other rank computes longer: two are simulated, and the row says why not one. */
static void the_row_says_why_no_fewer_ranks_are_simulated(void **state)
{
    (void)state;
    json_t *const root = run_json("step --quiet --fold on %s",
                                  write_file("half.yaml", "workload:\n"
                                                          "  ranks: 4\n"
                                                          "  ops:\n"
                                                          "    - {flops: 1e6 + 1e5 * (rank % 2)}\n"
                                                          "    - {collective: all_reduce, bytes: "
                                                          "64KiB}\n"));
    const json_t *const shortcuts =
        json_object_get(json_array_get(json_object_get(root, "results"), 0), "shortcuts");
    assert_true(number_at(shortcuts, "sips_simulated") == 2);
    assert_non_null(
        strstr(json_string_value(json_object_get(shortcuts, "why_not")), "half.yaml:4:7"));
    json_decref(root);
}

/* One rank of 4 that computes longer leaves nothing alike; else one of each stage is simulated, and
 * the times are the same. */
static void alike_ranks_are_simulated_once(void **state)
{
    (void)state;
    static const char text[] = "workload:\n"
                               "  ranks: 4\n"
                               "  values: {more: 0}\n"
                               "  ops:\n"
                               "    - {flops: 1e6 + more * (rank == 2), bytes: 64KiB}\n"
                               "    - {collective: all_reduce, bytes: 64KiB}\n";
    const char *const path = write_file("alike.yaml", text);
    char line[300];
    json_t *const whole = run_json("step --quiet --fold off %s", path);
    json_t *const folded = run_json("step --quiet --fold on %s", path);
    const json_t *const row = json_array_get(json_object_get(folded, "results"), 0);
    const json_t *const shortcuts = json_object_get(row, "shortcuts");
    assert_true(number_at(shortcuts, "sips_simulated") == 1);
    assert_string_equal(json_string_value(json_object_get(shortcuts, "fold")), "comparison");
    assert_string_equal(times_hash(whole), times_hash(folded));
    assert_true(json_equal(json_object_get(whole, "step"), json_object_get(folded, "step")));
    json_decref(whole);
    json_decref(folded);
    snprintf(line, sizeof line, "step --quiet --fold on --set workload.values.more=1 %s", path);
    refuse(line, "--fold on: rank ");
    snprintf(line, sizeof line, "step --set workload.values.more=1 %s", path);
    struct run_output output = run_line(0, "%s", line);
    assert_non_null(strstr(output.out, "# simulated: all SIPs: rank "));
    assert_non_null(strstr(output.out, " has other amounts than rank "));
    run_output_free(&output);
    /* SIPs of a row of 4 without ranks: of a torus of 4 x 2 nothing but the row is alike. */
    output =
        run_line(0, "step --set system.sips.count=8 --set system.sips.topology=torus_2d %s", path);
    assert_non_null(strstr(output.out, "# simulated: 2 of 8 SIPs (by comparison), factor 4\n"
                                       "# not fewer: SIP 0 has a rank, and SIP 4 has none\n"));
    run_output_free(&output);
}

/* Around a switch exclusive ors fold, and are watched, which keeps a machine from replaying; a half
 * turn folds without. */
static void replay_on_takes_a_fold_that_replays(void **state)
{
    (void)state;
    const char *const path = write_file("replayed.yaml", "workload:\n"
                                                         "  ranks: 8\n"
                                                         "  ops:\n"
                                                         "    - {flops: 1e6}\n"
                                                         "    - {collective: all_reduce, bytes: "
                                                         "64KiB}\n");
    struct run_output output =
        run_line(0,
                 "step --threads 1 --fold on --replay on --set system.sips.count=8 --set "
                 "system.sips.topology=switch %s",
                 path);
    assert_non_null(strstr(output.out, "# simulated: 4 of 8 SIPs (by comparison), factor 2\n"));
    run_output_free(&output);
}

static void one_sip_does_not_fold(void **state)
{
    (void)state;
    char line[300];
    snprintf(line, sizeof line, "step --fold on --set system.sips.count=1 %s",
             write_file("one.yaml", "workload:\n  ranks: 1\n  ops:\n    - {flops: 1e6}\n"));
    refuse(line, "--fold on: the machine has one SIP");
}

/* Half a turn of a ring moves each group onto the other one, member by member. The SIPs of {7, 0,
 * 1, 2} ascend from its second member on, those of {3, 4, 5, 6} from the first. */
static void groups_whose_sips_come_in_another_order_do_not_fold(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"[0, 1, 2, 3], [4, 5, 6, 7]", "# simulated: 4 of 8 SIPs (by comparison), factor 2\n"},
        {"[7, 0, 1, 2], [3, 4, 5, 6]", "# simulated: all SIPs: "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "workload:\n  ranks: 8\n  groups: {g: [%s]}\n  ops:\n"
                 "    - {collective: all_reduce, bytes: 64KiB, of: g}\n",
                 cases[i][0]);
        struct run_output output =
            run_line(0, "step --set system.sips.count=8 --set system.sips.topology=ring_1d %s",
                     write_file("order.yaml", text));
        assert_non_null(strstr(output.out, cases[i][1]));
        run_output_free(&output);
    }
}

#define RING "--set system.sips.topology=ring_1d --set system.sips.count=4 "

/* Kernels of groups go by their rules: a ring's ranks are alike, a tree's are not. */
static void kernels_fold_by_their_rules(void **state)
{
    (void)state;
    static const char text[] = "workload:\n"
                               "  ranks: 4\n"
                               "  ops:\n"
                               "    - {collective: all_reduce, bytes: 64KiB}\n";
    const char *const path = write_file("kernels.yaml", text);
    char line[300];
    json_t *const whole =
        run_json("step --quiet --fold off " RING "--algorithm ring_allreduce %s", path);
    json_t *const folded =
        run_json("step --quiet --fold on " RING "--algorithm ring_allreduce %s", path);
    const json_t *const row = json_array_get(json_object_get(folded, "results"), 0);
    assert_true(number_at(json_object_get(row, "shortcuts"), "sips_simulated") == 1);
    assert_string_equal(times_hash(whole), times_hash(folded));
    json_decref(whole);
    json_decref(folded);
    snprintf(line, sizeof line, "step --quiet --fold on " RING "--algorithm tree_allreduce %s",
             path);
    refuse(line, "a tree has a root and leaves");
}

/* A trace of ranks that send around a ring: one of them is simulated; of one that computes longer
 * the operation is named. */
static void traces_fold(void **state)
{
    (void)state;
    char text[2000] = "num_ranks 8\n", line[300];
    for (int rank = 0; rank < 8; rank++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "rank %d {\nl1: calc 1000 cpu 0\nl2: send 4096b to %d tag 0 cpu 0 nic 0\n"
                 "l3: recv 4096b from %d tag 0 cpu 0 nic 0\nl2 requires l1\n}\n",
                 rank, (rank + 1) % 8, (rank + 7) % 8);
    const char *const path = write_file("ring.goal", text);
    static const char ring[] = "--set system.sips.count=8 --set system.sips.topology=ring_1d";
    json_t *const whole = run_json("step --quiet --fold off %s %s", ring, path);
    json_t *const folded = run_json("step --quiet --fold on %s %s", ring, path);
    const json_t *const row = json_array_get(json_object_get(folded, "results"), 0);
    assert_true(number_at(json_object_get(row, "shortcuts"), "sips_simulated") == 1);
    assert_string_equal(times_hash(whole), times_hash(folded));
    json_decref(whole);
    json_decref(folded);
    strstr(text, "rank 5 {\nl1: calc 1000")[strlen("rank 5 {\nl1: calc 100")] = '1';
    snprintf(line, sizeof line, "step --quiet --fold on %s %s", ring,
             write_file("other.goal", text));
    refuse(line, "--fold on: rank 5's calc (operation ");
}

/* The line of a step, with its file, is one of `run` too. A result is no trace. */
static void a_step_again(void **state)
{
    (void)state;
    char line[300];
    const char *const path = write_file("p.yaml", pipeline), *const json = in_folder("again.json");
    struct run_output output = run_line(0, "step " MACHINE "--json %s %s", json, path);
    run_output_free(&output);
    output = run_line(0, "run --again %s --threads 2", json);
    run_output_free(&output);
    output = run_line(1, "run --again %s --set workload.values.m=9", json);
    run_output_free(&output);
    snprintf(line, sizeof line, "step --quiet %s", json);
    refuse(line, "schema: no Chakra trace");
}

/* A receive before the send on both ranks: neither ends, whatever communication costs. */
static void a_deadlock_names_operations(void **state)
{
    (void)state;
    const char *const path = write_file("d.yaml", "workload:\n"
                                                  "  ranks: 2\n"
                                                  "  ops:\n"
                                                  "    - {recv: 8, from: 1 - rank}\n"
                                                  "    - {send: 8, to: 1 - rank}\n");
    static const char *const options[] = {"", "--communication free"};
    for (size_t i = 0; i < 2; i++) {
        struct run_output output = run_line(3, "step --quiet %s %s", options[i], path);
        assert_non_null(strstr(output.err, "a deadlock: 4 operations do not end; the first of each "
                                           "rank: rank 0: recv ("));
        assert_non_null(strstr(output.err, "d.yaml:4:7); rank 1: recv ("));
        assert_null(strstr(output.err, "Ipcq"));
        run_output_free(&output);
    }
}

/* An entry does one collective. */
static void entries_that_do_not_fit(void **state)
{
    (void)state;
    char line[300];
    static const char named[] = "workload:\n"
                                "  ranks: 4\n"
                                "  algorithms: {all: tree_allreduce}\n"
                                "  ops:\n"
                                "    - {collective: all_reduce, bytes: 64KiB}\n"
                                "    - {collective: all_gather, bytes: 64KiB}\n";
    static const char unnamed[] = "workload:\n"
                                  "  ranks: 4\n"
                                  "  ops:\n"
                                  "    - {collective: all_reduce, bytes: 64KiB}\n"
                                  "    - {collective: all_gather, bytes: 64KiB}\n";
    static const char gathers[] = "workload:\n"
                                  "  ranks: 4\n"
                                  "  algorithms: {all: tree_allreduce}\n"
                                  "  ops: [{collective: all_gather, bytes: 64KiB}]\n";
    const char *const path = write_file("unnamed.yaml", unnamed);
    json_t *const automatic = run_json("step --quiet %s", path);
    json_t *const by_option = run_json("step --quiet --algorithm tree_allreduce %s", path);
    json_t *const by_file = run_json("step --quiet %s", write_file("named.yaml", named));
    const char *const hash = times_hash(by_file);
    const json_t *const results = json_object_get(by_file, "results");
    assert_int_equal(json_array_size(results), 3); /* the step and its two calls */
    for (size_t i = 1; i < 3; i++)                 /* 64 KiB cannot take no time */
        assert_true(number_at(json_array_get(results, i), "bound_ns") > 0);
    assert_non_null(hash);
    assert_string_equal(hash, times_hash(by_option));
    assert_string_not_equal(hash, times_hash(automatic));
    json_decref(automatic);
    json_decref(by_option);
    json_decref(by_file);
    snprintf(line, sizeof line, "step --quiet %s", write_file("gathers.yaml", gathers));
    refuse(line, "'tree_allreduce' does none of the collectives of all");
    snprintf(line, sizeof line, "step --quiet --algorithm auto_all_to_all %s", path);
    refuse(line, "--algorithm auto_all_to_all does none of its collectives");
}

/* Four plans, of which one does not fit: it is the fastest, and not the best. */
static void a_study_of_plans(void **state)
{
    (void)state;
    char study[2000];
    snprintf(study, sizeof study,
             "study: plans\n"
             "base: {bench: step, workload: %s, system.sips.count: 4, sip.cube_mesh.w: 1,\n"
             "       sip.cube_mesh.h: 1, launches: free, communication: free}\n"
             "axes:\n"
             "  plan: {small: {workload.values.m: 2, workload.values.room: 10TiB},\n"
             "         middle: {workload.values.m: 4}, large: {workload.values.m: 9}}\n",
             write_file("p.yaml", pipeline));
    const char *const db = in_folder("plans.sqlite");
    struct run_output output =
        run_line(0, "sweep --quiet --db %s %s", db, write_file("s.yaml", study));
    run_output_free(&output);
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(db, &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite,
                                        "SELECT label, step_ns, fits FROM step ORDER BY step_ns",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    static const double times[] = {15000, 21000, 36000}; /* (m + 3) 3 us */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_true(sqlite3_column_double(statement, 1) == times[i]);
        assert_int_equal(sqlite3_column_int(statement, 2), i > 0);
    }
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    const char *const page = in_folder("page.html");
    output = run_line(0, "report --output %s %s", page, db);
    run_output_free(&output);
    char *const html = read_file(page);
    assert_non_null(strstr(html, "The best plan that fits: <strong>plan=middle</strong>, 21 µs."));
    assert_non_null(strstr(html, "1 of 3 plans do not fit their HBM."));
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_ranks_are_simulated_once),
        cmocka_unit_test(the_row_says_why_no_fewer_ranks_are_simulated),
        cmocka_unit_test(replay_on_takes_a_fold_that_replays),
        cmocka_unit_test(one_sip_does_not_fold),
        cmocka_unit_test(groups_whose_sips_come_in_another_order_do_not_fold),
        cmocka_unit_test(kernels_fold_by_their_rules),
        cmocka_unit_test(traces_fold),
        cmocka_unit_test(a_pipeline_s_json),
        cmocka_unit_test(the_same_on_two_threads),
        cmocka_unit_test(tables_and_timeline),
        cmocka_unit_test(what_a_step_does_not_take),
        cmocka_unit_test(a_study_of_plans),
        cmocka_unit_test(a_deadlock_names_operations),
        cmocka_unit_test(entries_that_do_not_fit),
        cmocka_unit_test(values_of_a_step),
        cmocka_unit_test(larger_groups_take_rings),
        cmocka_unit_test(a_step_again),
        cmocka_unit_test(causes_of_a_step),
        cmocka_unit_test(links_of_a_step),
    };
    return cmocka_run_group_tests_name("step", tests, make_folder, remove_folder);
}
