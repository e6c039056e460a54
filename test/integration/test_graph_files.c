/*
 * test_graph_files.c: each built-in topology that topo --graph writes as a graph file has the same
 * times, bits and bytes on links; and random machines with random faults: verified, no faster than
 * their bounds, explained, and the same in all modes. GRAPH_RUNS=all runs every algorithm on every
 * machine, GRAPH_SEEDS=N so many random machines, from GRAPH_SEED on; GRAPH_PRINT=1 prints why
 * some are refused.
 */
#define TEST_SCRATCH "graph-files"
#include "test/support/scratch_folder.h"

#include <stdbool.h>
#include <math.h>
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
    "ring_1d --set system.sips.count=2",
    "fully_connected --set system.sips.count=2",
    "pair_switch --set system.sips.count=4",
    "pair_switch --set system.sips.count=2",
    "fully_connected --set system.sips.count=3"};
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

/* ---- random machines ------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *rng, uint32_t n)
{
    *rng = *rng * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*rng >> 33) % n;
}

static const char *one_of(uint64_t *rng, const char *const *texts, uint32_t count)
{
    return texts[draw(rng, count)];
}
#define ONE_OF(rng, texts) one_of(rng, texts, sizeof(texts) / sizeof *(texts))

enum { CLASSES = 4, SWITCH_KINDS = 3 };
static const char *const classes[CLASSES] = {"slow: {bw_gbs: 10}", "quick: {bw_gbs: 400}",
                                             "far: {latency_ns: 700}",
                                             "odd: {bw_gbs: 37.5, latency_ns: 90}"};

/* What a machine has that decides what runs there. */
struct machine {
    const char *built_in; /* its topology; NULL: the graph of a file */
    uint32_t sips;
    bool reduces; /* trees of switches reach all SIPs */
    bool breaks;  /* links or SIPs fail, so it has more links */
};

/* A graph's list of links while it is drawn. */
struct drawing {
    uint64_t *rng;
    uint32_t sips, kinds, switches[SWITCH_KINDS];
    bool hosts; /* SIPs are joined to switches alone */
    bool reduce, breaks;
    bool used[CLASSES];
    FILE *links;
};

static uint32_t draw_switch(struct drawing *d, char name[16])
{
    const uint32_t kind = draw(d->rng, d->kinds), number = draw(d->rng, d->switches[kind]);
    snprintf(name, 16, "s%u.%u", kind, number);
    return kind * 100 + number;
}

/* A class, as `key: NAME`; nothing: sip_link. */
static void put_class(struct drawing *d, const char *key)
{
    const uint32_t class = draw(d->rng, CLASSES + 2);
    if (class >= CLASSES)
        return;
    d->used[class] = true;
    fprintf(d->links, ", %s: %.*s", key, (int)strcspn(classes[class], ":"), classes[class]);
}

static void put_link(struct drawing *d, const char *from, const char *to, bool one_way)
{
    fprintf(d->links, "  - {from: %s, to: %s", from, to);
    if (draw(d->rng, 4) == 0)
        fprintf(d->links, ", cables: 2");
    put_class(d, "class");
    if (one_way)
        fputs(", one_way: true", d->links);
    else if (draw(d->rng, 3) == 0)
        put_class(d, "back_class");
    fputs("}\n", d->links);
}

/* What joins everything: a chain of the switches, and each SIP at a switch or at a SIP before it.
 * Where switches reduce, each SIP at every switch of the first kind. */
static void join_all(struct drawing *d)
{
    char name[32], last[32] = "", sip[16];
    for (uint32_t kind = 0; kind < d->kinds; kind++)
        for (uint32_t i = 0; i < d->switches[kind]; i++) {
            snprintf(name, sizeof name, "s%u.%u", kind, i);
            if (*last != '\0')
                put_link(d, last, name, false);
            memcpy(last, name, sizeof last);
        }
    for (uint32_t i = 0; i < d->sips; i++) {
        snprintf(sip, sizeof sip, "%u", i);
        if (d->reduce)
            for (uint32_t s = 0; s < d->switches[0]; s++) {
                snprintf(name, sizeof name, "s0.%u", s);
                put_link(d, sip, name, false);
            }
        else if (d->kinds > 0 && (d->hosts || i == 0 || draw(d->rng, 2) == 0)) {
            draw_switch(d, name);
            put_link(d, sip, name, false);
        } else if (i > 0) {
            snprintf(name, sizeof name, "%u", draw(d->rng, i));
            put_link(d, name, sip, false);
        }
    }
}

static void add_links(struct drawing *d)
{
    for (uint32_t i = (d->breaks ? 3 * d->sips : 0) + draw(d->rng, 2 * d->sips); i > 0; i--) {
        char from[16], to[16];
        snprintf(from, sizeof from, "%u", draw(d->rng, d->sips));
        if (d->kinds > 0 && (d->hosts || draw(d->rng, 3) == 0)) {
            draw_switch(d, to);
            if (draw(d->rng, 4) == 0)
                draw_switch(d, from);
        } else
            snprintf(to, sizeof to, "%u", draw(d->rng, d->sips));
        if (strcmp(from, to) == 0)
            continue;
        if (draw(d->rng, 2) == 0)
            put_link(d, from, to, draw(d->rng, 2) == 0);
        else
            put_link(d, to, from, draw(d->rng, 2) == 0);
    }
}

static void put_switches(struct drawing *d, FILE *file)
{
    static const char *const units[] = {"", ", reduce_ns: 30", ", reduce_gbs: 60",
                                        ", reduce_ns: 5, trees: 2", ", trees: 1"};
    const char *const mode = draw(d->rng, 2) == 0 ? "push" : "pull";
    for (uint32_t kind = 0; kind < d->kinds; kind++) {
        fprintf(file, "%s{name: s%u, count: %u, latency_ns: %u", kind == 0 ? "switches: [" : ", ",
                kind, d->switches[kind], 50 * draw(d->rng, 4));
        if (d->reduce && kind == 0)
            fprintf(file, ", reduce: %s%s", mode, ONE_OF(d->rng, units));
        fputs(kind + 1 == d->kinds ? "}]\n" : "}", file);
    }
}

/* Links one by one. */
static void put_list(FILE *file, uint64_t *rng, struct machine *machine)
{
    char *links;
    size_t bytes;
    struct drawing d = {.rng = rng, .sips = 2 + draw(rng, draw(rng, 8) == 0 ? 63 : 9)};
    d.kinds = draw(rng, SWITCH_KINDS + 1);
    d.hosts = d.kinds > 0 && draw(rng, 2) == 0;
    d.reduce = d.hosts && draw(rng, 2) == 0;
    d.breaks = machine->breaks;
    for (uint32_t kind = 0; kind < d.kinds; kind++)
        d.switches[kind] = 1 + draw(rng, 3);
    d.links = open_memstream(&links, &bytes);
    assert_non_null(d.links);
    join_all(&d);
    add_links(&d);
    assert_int_equal(fclose(d.links), 0);
    fprintf(file, "sips: %u\n", d.sips);
    put_switches(&d, file);
    for (uint32_t i = 0, any = 0; i < CLASSES; i++)
        if (d.used[i])
            fprintf(file, "%s  %s\n", any++ == 0 ? "classes:\n" : "", classes[i]);
    fprintf(file, "links:\n%s", links);
    free(links);
    if (d.hosts && draw(rng, 2) == 0)
        fputs("transit: false\n", file);
    else if (draw(rng, 3) == 0)
        fprintf(file, "transit: {none: [%u]}\n", d.sips - 1);
    machine->sips = d.sips;
    machine->reduces = d.reduce;
}

/* By a rule, with further links between SIPs at times. */
static void put_rule(FILE *file, uint64_t *rng, struct machine *machine)
{
    static const struct {
        const char *text;
        uint32_t sips;
    } rules[] = {{"grid: [3, 3]", 9},
                 {"grid: [5]", 5},
                 {"grid: {size: [4, 2], wrap: false}", 8},
                 {"grid: [2, 3, 2]", 12},
                 {"hypercube: 3", 8},
                 {"product: [{fully_connected: 3}, {grid: [3]}]", 9},
                 {"product: [{switch: 4, bw_gbs: 30}, {hypercube: 1}]", 8},
                 {"fat_tree: {k: 4}", 16},
                 {"fat_tree: {k: 4, levels: 2, taper: 2}", 8},
                 {"fat_tree: {k: 4, taper: 2, pods: 3}", 12},
                 {"dragonfly: {a: 2, h: 1}", 6},
                 {"dragonfly: {a: 4, h: 2, g: 3}", 24},
                 {"rail: {nodes: 2, sips: 4}", 8},
                 {"rail: {nodes: 4, sips: 2, group: 2}", 8},
                 {"slim_fly: {q: 3, p: 1}", 18}};
    const uint32_t rule = draw(rng, sizeof rules / sizeof *rules), sips = rules[rule].sips;
    fprintf(file, "%s\n", rules[rule].text);
    if (draw(rng, 3) == 0)
        fprintf(file, "links:\n  - {from: 0, to: %u, one_way: true}\n  - {from: %u, to: 1}\n",
                sips - 1, sips / 2);
    machine->sips = sips;
}

static struct machine write_graph(const char *path, uint64_t *rng)
{
    static const char *const routes[] = {"listed", "destination_digits", "minimal", "valiant",
                                         "valiant\nseed: 3"};
    static const char *const built_in[] = {"ring_1d",  "torus_2d",        "mesh_2d_no_wrap",
                                           "torus_3d", "fully_connected", "switch"};
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    const bool rule = draw(rng, 4) == 0;
    struct machine machine = {.breaks = draw(rng, 3) == 0};
    if (draw(rng, 8) == 0) {
        assert_int_equal(fclose(file), 0);
        machine.built_in = ONE_OF(rng, built_in);
        machine.sips = 4 * (1 + draw(rng, 3));
        return machine;
    }
    (rule ? put_rule : put_list)(file, rng, &machine);
    if (!rule || draw(rng, 2) == 0)
        fprintf(file, "routes: %s\n", ONE_OF(rng, routes));
    assert_int_equal(fclose(file), 0);
    return machine;
}

/* Up to three entries; of what fails, one. */
static void write_faults(const char *path, const struct machine *machine, uint64_t *rng)
{
    static const char *const parts[] = {
        "links: {random: {share: %u%%, seed: %u}}", "links: every %uth",
        "links: every %uth, at: {random: {share: 40%%, seed: %u}}",
        "nodes: [pe_math, pe_dma], at: %u",
        "links: [ucie, noc], at: {random: {share: %u%%, seed: %u}}"};
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs("faults:\n  none: {nodes: pe_cpu, slower: 0}\n", file);
    for (uint32_t i = draw(rng, 4); i > 0; i--) {
        const uint32_t part = draw(rng, 5),
                       number = part == 3 ? draw(rng, machine->sips) : 4 + draw(rng, 17);
        fprintf(file, "  f%u: {", i);
        fprintf(file, parts[part], number, draw(rng, 1000));
        if (part < 3 && draw(rng, 3) == 0)
            fputs(", bandwidth: 9}\n", file);
        else
            fprintf(file, ", slower: %u, from_ns: %u}\n", 10 * draw(rng, 40), draw(rng, 2) * 1500);
    }
    const uint32_t broken = machine->breaks ? draw(rng, 4) : 4;
    if (broken == 0)
        fprintf(file, "  dead: {at: %u, failed: true}\n", draw(rng, machine->sips));
    else if (broken < 4)
        fprintf(file, "  dead: {links: every %uth, failed: %s%u%s}\n", 9 + draw(rng, 9),
                broken == 1 ? "true} # " : "{at_ns: ", 300 * (1 + draw(rng, 30)),
                broken == 1 ? "" : "}");
    assert_int_equal(fclose(file), 0);
}

/* ---- random runs ----------------------------------------------------------------------------- */

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *const text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static const char *draw_algorithm(uint64_t *rng, const struct machine *machine)
{
    static const char *const through_switches[] = {
        "switch_all_reduce", "auto_all_reduce", "switch_broadcast --bench ccl_broadcast",
        "switch_reduce_scatter --bench ccl_reduce_scatter",
        "switch_all_gather --bench ccl_all_gather"};
    static const char *const own_queues[] = {"ring_allreduce", "tree_allreduce"};
    static const char *const schedules[] = {"torus_rs_ag",
                                            "direct_rs_ag",
                                            "halving_doubling",
                                            "recursive_doubling",
                                            "double_binary_tree",
                                            "ring_rs_ag",
                                            "hierarchical",
                                            "auto_all_reduce",
                                            "auto_all_reduce",
                                            "pairwise_all_to_all --bench ccl_all_to_all",
                                            "auto_all_to_all --bench ccl_all_to_all",
                                            "rings_reduce_scatter --bench ccl_reduce_scatter",
                                            "torus_reduce_scatter --bench ccl_reduce_scatter",
                                            "auto_reduce_scatter --bench ccl_reduce_scatter",
                                            "torus_all_gather --bench ccl_all_gather",
                                            "auto_all_gather --bench ccl_all_gather"};
    return machine->reduces && draw(rng, 3) > 0 ? ONE_OF(rng, through_switches)
           : draw(rng, 6) == 0                  ? ONE_OF(rng, own_queues)
                                                : ONE_OF(rng, schedules);
}

/* A run without its mode: what it does, where, and with how many elements. */
static void draw_line(uint64_t *rng, const struct machine *machine, char *line, size_t room)
{
    static const char *const mappers[] = {"leader_only", "all_pes", "pe0_all_cubes"};
    static const char *const contention[] = {"none", "message", "chunk", "chunk"};
    static const char *const more[] = {"", " --set defaults.credit_return_mode=fabric",
                                       " --set defaults.credit_return_mode=fabric",
                                       " --set defaults.buffer_kind=hbm",
                                       " --set defaults.n_slots=2"};
    const char *const algorithm = draw_algorithm(rng, machine);
    const uint32_t sips = machine->sips, ranks = sips * (machine->breaks ? sips - 1 : 1);
    const uint32_t each = 1u << draw(rng, ranks <= 16 ? 11 : ranks <= 64 ? 9 : 5);
    snprintf(line, room,
             "run --quiet --json - --preset tiny --verify-data --algorithm %s --n-elem %u --set "
             "fabric.contention=%s%s --components %s --set system.sips.",
             algorithm, ranks * each, ONE_OF(rng, contention), ONE_OF(rng, more),
             in_folder("faults.yaml"));
    if (machine->built_in != NULL)
        snprintf(line + strlen(line), room - strlen(line), "topology=%s --set system.sips.count=%u",
                 machine->built_in, sips);
    else
        snprintf(line + strlen(line), room - strlen(line), "topology={\"graph\":\"%s\"}",
                 in_folder("graph.yaml"));
    if (sips <= 16 && strstr(algorithm, "rs_ag") != NULL && draw(rng, 2) == 0)
        snprintf(line + strlen(line), room - strlen(line), " --set algorithms.%s.mapper=%s",
                 algorithm, ONE_OF(rng, mappers));
}

/* What must be the same in all modes. */
struct outcome {
    int code;
    char what[400]; /* hashes and time; or why there is none */
};

static const char *text_of(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : "-";
}

/* Whether the parts of the path sum to the time. */
static bool is_explained(const json_t *explain)
{
    const json_t *const parts = json_object_get(json_object_get(explain, "path"), "parts");
    long long sum_ps = 0;
    size_t i;
    json_t *part;
    json_array_foreach(parts, i, part) sum_ps +=
        llround(1000 * json_number_value(json_object_get(part, "time_ns")));
    return parts != NULL &&
           sum_ps == llround(1000 * json_number_value(json_object_get(explain, "time_ns")));
}

/* shared: links are, so that their bandwidths bound the time. */
static void read_outcome(const char *out, bool shared, struct outcome *outcome)
{
    json_t *const root = json_loads(out, 0, NULL);
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0),
                        *const explain = json_object_get(row, "explain");
    const double time_ns = json_number_value(json_object_get(row, "time_ns"));
    const bool is_possible =
        !shared || time_ns >= json_number_value(json_object_get(row, "bound_ns"));
    snprintf(outcome->what, sizeof outcome->what, "%s %s %.3f%s%s",
             text_of(json_object_get(root, "engine"), "trace_hash"), text_of(row, "data_hash"),
             time_ns, json_integer_value(json_object_get(row, "wrong")) == 0 ? "" : " wrong",
             is_possible ? "" : " below bound");
    if (explain != NULL && !is_explained(explain))
        snprintf(outcome->what, sizeof outcome->what, "not explained: %s",
                 text_of(explain, "sentence"));
    json_decref(root);
}

static struct outcome outcome_of(const char *line, const char *mode)
{
    struct run_output output = run_line(RUN_ANY_CODE, "%s %s", line, mode);
    struct outcome outcome = {.code = output.exit_code};
    const char *const down = strstr(output.err, "IpcqLinkDown");
    if (output.exit_code == 0)
        read_outcome(output.out, strstr(line, "contention=none") == NULL, &outcome);
    else
        snprintf(outcome.what, sizeof outcome.what, "%s", down != NULL ? down : output.err);
    run_output_free(&output);
    return outcome;
}

/* The whole machine, which a message of cmocka has no room for. */
static void failed(uint64_t seed, const char *line, const char *mode, const struct outcome *outcome)
{
    char *const graph = read_file(in_folder("graph.yaml")), *const faults =
                                                                read_file(in_folder("faults.yaml"));
    fprintf(stderr, "--- graph.yaml\n%s--- faults.yaml\n%s", graph, faults);
    free(graph);
    free(faults);
    fail_msg("GRAPH_SEED=%llu: %s %s: exit code %d: %s", (unsigned long long)seed, line, mode,
             outcome->code, outcome->what);
}

static bool is_right(const struct outcome *outcome)
{
    return outcome->code != 0 || (strstr(outcome->what, "wrong") == NULL &&
                                  strstr(outcome->what, "below bound") == NULL &&
                                  strstr(outcome->what, "not explained") == NULL);
}

static uint32_t ran, down, cut;

static void check_seed(uint64_t seed)
{
    static const char *const modes[] = {"--threads 2", "--threads 3 --explain",
                                        "--threads 4 --sync conservative",
                                        "--threads 3 --sync stress", "--threads 1 --sync stress"};
    uint64_t rng = seed * 77 + 5;
    char line[1000];
    const struct machine machine = write_graph(in_folder("graph.yaml"), &rng);
    write_faults(in_folder("faults.yaml"), &machine, &rng);
    draw_line(&rng, &machine, line, sizeof line);
    const char *const first_mode = draw(&rng, 3) == 0 ? "--explain" : "";
    const struct outcome first = outcome_of(line, first_mode);
    const bool is_down = strncmp(first.what, "IpcqLinkDown", 12) == 0;
    if ((first.code != 0 && first.code != 2 && !is_down) || !is_right(&first))
        failed(seed, line, first_mode, &first);
    if (first.code == 2 && getenv("GRAPH_PRINT") != NULL)
        print_message("%llu: %s\n", (unsigned long long)seed, first.what);
    ran += first.code == 0;
    cut += first.code == 2;
    down += is_down;
    for (size_t i = 0; i < sizeof modes / sizeof *modes && first.code != 2; i++) {
        const struct outcome other = outcome_of(line, modes[i]);
        if (other.code != first.code || strcmp(other.what, first.what) != 0) {
            print_message("one thread: %s\n", first.what);
            failed(seed, line, modes[i], &other);
        }
    }
}

static void random_machines_are_right_in_all_modes(void **state)
{
    (void)state;
    const uint64_t first = number_from("GRAPH_SEED", 1), count = number_from("GRAPH_SEEDS", 5);
    for (uint64_t seed = first; seed < first + count; seed++)
        check_seed(seed);
    print_message("%u runs, %u ended by a link that failed, %u refused\n", ran, down, cut);
    assert_true(count < 5 || ran > count / 4);
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
static const char *hash_of(const json_t *root)
{
    return json_string_value(json_object_get(json_object_get(root, "engine"), "trace_hash"));
}

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
    output = run_line(2, "topo --preset %s --set system.sips.count=4", from);
    assert_non_null(strstr(output.err, "system.sips.count: 4; the graph has 3 SIPs"));
    run_output_free(&output);
    run_output_free(&printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_as_graph_files_are_the_same),
        cmocka_unit_test(random_machines_are_right_in_all_modes),
        cmocka_unit_test(links_back_have_delays_of_their_own),
        cmocka_unit_test(printed_paths_can_be_read_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
