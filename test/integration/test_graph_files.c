/*
 * test_graph_files.c: each built-in topology that topo --graph writes as a graph file has the same
 * times, bits and bytes on links; and random graphs are the same in all modes, verified, no faster
 * than their bounds. GRAPH_RUNS=all runs every algorithm on every machine, GRAPH_SEEDS=N so many
 * random graphs, from GRAPH_SEED on.
 */
#define TEST_SCRATCH "graph-files"
#include "test/support/scratch_folder.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "test/support/run_cubewarp.h"

/* ---- built-in machines ----------------------------------------------------------------------- */

static const char *const machines[] = {
    "ring_1d --set system.sips.count=5",
    "torus_2d --set system.sips.count=8",
    "torus_2d --set system.sips.count=16",
    "mesh_2d_no_wrap --set system.sips.count=6",
    "switch --set system.sips.count=6",
    "pair_switch --set system.sips.count=8",
    "fully_connected --set system.sips.count=7",
    "torus_3d --set system.sips.count=12",
    "[{\"torus_2d\":[2,2]},{\"switch\":3,\"bw_gbs\":50}] --set system.sips.count=12",
    "ring_1d --set system.sips.count=2"};
static const char *const algorithms[] = {
    "ring_rs_ag",        "lrab_hierarchical_allreduce",
    "halving_doubling",  "pairwise_all_to_all --bench ccl_all_to_all",
    "torus_rs_ag",       "direct_rs_ag",
    "tree_allreduce",    "recursive_doubling",
    "double_binary_tree"};
enum { MACHINES = sizeof machines / sizeof *machines };
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/* as many elements as each number of ranks divides */
#define RUN "--quiet --n-elem 1680 --verify-data --fold off --json - "

/* The result of a run; NULL: the algorithm does not run there. */
static json_t *result_of(const char *topology, const char *algorithm)
{
    char line[600];
    const char *args[40] = {NULL};
    snprintf(line, sizeof line, "run " RUN "--algorithm %s --set system.sips.topology=%s",
             algorithm, topology);
    size_t count = 0;
    for (char *word = strtok(line, " "); word != NULL && count < 39; word = strtok(NULL, " "))
        args[count++] = word;
    struct run_output output = run_cubewarp(args);
    json_t *const root = output.exit_code == 0 ? json_loads(output.out, 0, NULL) : NULL;
    assert_true(output.exit_code == 0 || output.exit_code == 2);
    run_output_free(&output);
    return root;
}

static void assert_same(const json_t *a, const json_t *b, const char *key)
{
    const json_t *const x = json_object_get(json_array_get(json_object_get(a, "results"), 0), key),
                        *const y =
                            json_object_get(json_array_get(json_object_get(b, "results"), 0), key);
    assert_non_null(x);
    if (!json_equal(x, y))
        fail_msg("%s differs: %s, as a graph %s", key, json_dumps(x, JSON_ENCODE_ANY),
                 json_dumps(y, JSON_ENCODE_ANY));
}

/* Whether it runs there. */
static bool check_as_graph(const char *machine, const char *algorithm)
{
    char graph[200];
    snprintf(graph, sizeof graph, "{\"graph\":\"%s/machine.yaml\"}", folder);
    json_t *const own = result_of(machine, algorithm), *const listed = result_of(graph, algorithm);
    assert_int_equal(own != NULL, listed != NULL);
    if (own != NULL) {
        assert_same(own, listed, "time_ns");
        assert_same(own, listed, "data_hash");
        assert_same(own, listed, "link_kinds");
        assert_same(own, listed, "wrong");
    }
    const bool runs = own != NULL;
    json_decref(own);
    json_decref(listed);
    return runs;
}

static void machines_as_graph_files_are_the_same(void **state)
{
    (void)state;
    const bool all = getenv("GRAPH_RUNS") != NULL;
    uint32_t ran = 0;
    for (uint32_t i = 0; i < MACHINES; i++) {
        struct run_output output = run_line(
            0, "topo --set system.sips.topology=%s --graph %s/machine.yaml", machines[i], folder);
        run_output_free(&output);
        for (uint32_t k = all ? 0 : i % ALGORITHMS; k < (all ? ALGORITHMS : i % ALGORITHMS + 1);
             k++)
            ran += check_as_graph(machines[i], algorithms[k]);
    }
    assert_true(ran >= MACHINES / 2);
}

/* ---- random graphs --------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *rng, uint32_t n)
{
    *rng = *rng * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*rng >> 33) % n;
}

static void put_stop(FILE *file, uint32_t sips, uint32_t stop)
{
    if (stop < sips)
        fprintf(file, "%u", stop);
    else
        fprintf(file, "s.%u", stop - sips);
}

/* A tree, so that all are joined, and more links, some of several cables, some one way. Returns the
 * number of SIPs. */
static uint32_t write_graph(const char *path, uint64_t *rng)
{
    static const char *const routes[] = {"listed", "destination_digits", "minimal", "valiant"};
    const uint32_t sips = 2 + draw(rng, draw(rng, 4) == 0 ? 30 : 10), switches = 1 + draw(rng, 6),
                   stops = sips + switches, policy = draw(rng, 4);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(
        file,
        "sips: %u\nswitches: [{name: s, count: %u}]\nroutes: %s\nclasses: {slow: {bw_gbs: 10}}\n"
        "links:\n",
        sips, switches, routes[policy]);
    if (policy == 3)
        fprintf(file, "  # by way of others\n");
    for (uint32_t i = 1; i < stops + draw(rng, 2 * stops); i++) {
        const uint32_t from = i < stops ? draw(rng, i) : draw(rng, stops),
                       to = i < stops ? i : draw(rng, stops);
        if (from == to)
            continue;
        fputs("  - {from: ", file);
        put_stop(file, sips, from);
        fputs(", to: ", file);
        put_stop(file, sips, to);
        fprintf(file, ", cables: %u%s%s}\n", 1 + draw(rng, 2),
                i == 1 || draw(rng, 3) == 0 ? ", class: slow" : "",
                i >= stops && draw(rng, 3) == 0 ? ", one_way: true" : "");
    }
    if (policy == 3)
        fprintf(file, "seed: %u\n", draw(rng, 5));
    assert_int_equal(fclose(file), 0);
    return sips;
}

static const char *hash_of(const json_t *root)
{
    return json_string_value(json_object_get(json_object_get(root, "engine"), "trace_hash"));
}

static void check_random(uint64_t seed)
{
    static const char *const any[] = {"ring_allreduce",
                                      "pairwise_all_to_all --bench ccl_all_to_all",
                                      "auto_all_reduce", "ring_rs_ag"};
    static const char *const modes[] = {"--threads 1", "--threads 2", "--threads 4",
                                        "--sync stress --threads 2"};
    char path[200], first[40] = "";
    uint64_t rng = seed;
    snprintf(path, sizeof path, "%s/random.yaml", folder);
    const uint32_t sips = write_graph(path, &rng);
    const char *const algorithm = any[draw(&rng, 4)];
    const bool fabric = draw(&rng, 2) == 0, chunks = draw(&rng, 2) == 0;
    for (uint32_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
        json_t *const root =
            run_json("run --quiet --n-elem %u --verify-data --algorithm %s %s%s%s --set "
                     "system.sips.topology={\"graph\":\"%s\"}",
                     sips * 32, algorithm, modes[mode],
                     fabric ? " --set defaults.credit_return_mode=fabric" : "",
                     chunks ? " --set fabric.contention=chunk" : "", path);
        const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
        assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
        assert_true(json_number_value(json_object_get(row, "time_ns")) >=
                    json_number_value(json_object_get(row, "bound_ns")));
        assert_non_null(hash_of(root));
        if (mode == 0)
            snprintf(first, sizeof first, "%s", hash_of(root));
        if (strcmp(first, hash_of(root)) != 0)
            fail_msg("seed %llu, %s, %s: trace %s, on one thread %s", (unsigned long long)seed,
                     sips * 32, algorithm, modes[mode], hash_of(root), first);
        json_decref(root);
    }
}

static void random_graphs_are_the_same_in_all_modes(void **state)
{
    (void)state;
    const char *const given = getenv("GRAPH_SEED"), *const seeds = getenv("GRAPH_SEEDS");
    const uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1,
                   count = seeds != NULL ? strtoull(seeds, NULL, 10) : 8;
    for (uint64_t seed = first; seed < first + count; seed++)
        check_random(seed);
}

/* ---- each way of its own --------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* From a switch a link takes a thousandth of the time to it: what threads promise each other goes
 * by each way's own. */
static void links_back_have_delays_of_their_own(void **state)
{
    (void)state;
    static const char *const threads[] = {"1", "2", "4"};
    char first[40] = "";
    write_file(in_folder("back.yaml"),
               "sips: 4\nswitches: [{name: sw, count: 2, latency_ns: 1}]\nclasses: {slow: "
               "{latency_ns: 1000}, fast: {latency_ns: 1}}\nlinks:\n"
               "  - {from: 0-1, to: sw.0, class: slow, back_class: fast}\n"
               "  - {from: 2-3, to: sw.1, class: slow, back_class: fast}\n"
               "  - {from: sw.0, to: sw.1, class: fast}\n");
    for (uint32_t i = 0; i < 3; i++) {
        char line[300];
        snprintf(line, sizeof line, "{\"graph\":\"%s\"} --set sip.cube_mesh.w=1 --threads %s",
                 in_folder("back.yaml"), threads[i]);
        json_t *const root = result_of(line, "ring_allreduce");
        assert_non_null(root);
        if (i == 0)
            snprintf(first, sizeof first, "%s", hash_of(root));
        assert_string_equal(hash_of(root), first);
        json_decref(root);
    }
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* What config prints names the file from everywhere, whatever its path. */
static void printed_paths_can_be_read_back(void **state)
{
    (void)state;
    char line[900], path[700], from[300];
    snprintf(path, sizeof path, "%s/a: #'{ %0120d", folder, 0);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%0120d.yaml", 0);
    write_file(path, "sips: 3\nlinks: [{from: 0, to: 1-2}]\n");
    snprintf(from, sizeof from, "%s/elsewhere", folder);
    assert_int_equal(mkdir(from, 0777), 0);
    snprintf(line, sizeof line, "system.sips.topology={graph: \"%s\"}", path);
    const char *const args[] = {"config", "--set", line, NULL};
    struct run_output printed = run_cubewarp(args);
    assert_int_equal(printed.exit_code, 0);
    snprintf(from, sizeof from, "%s/elsewhere/printed.yaml", folder);
    write_file(from, printed.out);
    struct run_output output = run_line(0, "topo --preset %s", from);
    assert_non_null(strstr(output.out, "SIPs         3, graph"));
    run_output_free(&output);
    run_output_free(&printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_as_graph_files_are_the_same),
        cmocka_unit_test(random_graphs_are_the_same_in_all_modes),
        cmocka_unit_test(links_back_have_delays_of_their_own),
        cmocka_unit_test(printed_paths_can_be_read_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
