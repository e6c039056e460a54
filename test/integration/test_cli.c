/*
 * test_cli.c: the program as a user meets it: exit codes, answers to bad input,
 * output files whole or not at all, and printed texts that can be read again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_SCRATCH "cli"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *write_file(const char *name, const char *text)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        lines++;
    return lines;
}

/* Nothing on standard output, and a message with all these words. */
static void expect_refusal(int exit_code, const char *args, const char *const words[], size_t count)
{
    struct run_output output = run_line(exit_code, "%s", args);
    assert_string_equal(output.out, "");
    for (size_t i = 0; i < count && words[i] != NULL; i++)
        if (strstr(output.err, words[i]) == NULL)
            fail_msg("cubewarp %s says\n%sand not '%s'", args, output.err, words[i]);
    run_output_free(&output);
}

enum { WORDS = 4 };
struct refusal {
    const char *args;
    const char *words[WORDS];
};

static void expect_refusals(int exit_code, const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_refusal(exit_code, cases[i].args, cases[i].words, WORDS);
}

/* ---- the command line ------------------------------------------------------------------------ */

static void a_wrong_command_line_names_what_is_wrong_and_what_is_legal(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"", {"Usage: cubewarp COMMAND"}},
        {"frobnicate", {"unknown command 'frobnicate'", "--help"}},
        {"--hlep", {"unknown command '--hlep'; did you mean '--help'?"}},
        {"trend", {"unknown command 'trend'; did you mean 'perf trend'?"}},
        {"run --frobnicate", {"unknown option '--frobnicate'", "cubewarp run --help"}},
        {"run leftover", {"unexpected argument 'leftover'"}},
        {"run --json", {"--json needs a value"}},
        {"run --n-elem many", {"--n-elem 'many'", "4KiB"}},
        {"run --n-elem -3", {"--n-elem '-3'"}},
        {"run --n-elem 0", {"--n-elem", "found 0"}},
        {"run --n-elem 99999999999999999999", {"--n-elem"}},
        {"run --bytes 3", {"3 bytes", "f16"}},
        {"run --bytes 64:8", {"--bytes '64:8'", "smaller to the larger"}},
        {"run --bytes 8 --n-elem 4", {"--bytes", "--n-elem", "exclude"}},
        {"run --dtype f128", {"'f128'", "f16, bf16, f32, f64, fp8_e4m3"}},
        {"run --op average", {"'average'", "sum, max, min, prod, avg"}},
        {"run --iters 0", {"--iters '0'"}},
        {"run --seed -1", {"--seed '-1'"}},
        {"run --sync hopeful", {"--sync 'hopeful'", "sequential"}},
        {"run --threads 0", {"--threads '0'"}},
        {"run --threads 1025", {"--threads '1025'", "from 1 to 1024"}},
        {"phold --threads 1025", {"--threads '1025'", "from 1 to 1024"}},
        {"run --bench sleep", {"--bench 'sleep'", "ccl_allreduce", "ipcq_shift"}},
        {"run --bench ipcq_shift --dir up", {"--dir 'up'", "global_"}},
        {"run --dir N", {"--dir does nothing", "ccl_allreduce", "ipcq_shift"}},
        {"run --gemm-tile 32 --bench ipcq_shift", {"--gemm-tile", "for gemm, gemm_allreduce"}},
        {"verify --bench gemm --from 0.0.0", {"--from does nothing", "raw_store"}},
        {"run --bench ipcq_pingpong --to 4.0.0", {"--to 4.0.0", "SIPs are 0 to 3"}},
        {"run --bench ipcq_pingpong --from 0.1.0", {"the same PE"}},
        {"run --bench ipcq_pingpong --n-elem 4096", {"8192", "slot_size"}},
        {"run --bench ipcq_pingpong --from 0.5.1 --to 0.10.3 --bytes 64 --set memory.tcm_kib=16 "
         "--set defaults.slot_size=186",
         {"12 rings", "17856 bytes of a PE's TCM", "16384"}},
        {"topo --path 0.0.0", {"--path needs two PEs"}},
        {"topo --path 0.0.0 0.16.0", {"0.16.0", "up to 3.15.7"}},
    };
    expect_refusals(2, cases, COUNT_OF(cases));
}

static void help_and_version_are_on_standard_output(void **state)
{
    (void)state;
    struct run_output version = run_line(0, "--version");
    unsigned major, minor, patch;
    char rest;
    assert_int_equal(sscanf(version.out, "cubewarp %u.%u.%u%c", &major, &minor, &patch, &rest), 4);
    assert_int_equal(rest, '\n');
    assert_int_equal(count_lines(version.out), 4);
    assert_non_null(strstr(version.out, "\ncommit: "));
    assert_non_null(strstr(version.out, "\ncompiler: "));
    assert_non_null(strstr(version.out, "\nflags: -O"));
    assert_string_equal(version.err, "");
    run_output_free(&version);
    static const char *const commands[] = {"run", "topo", "check", "config", "verify", "phold"};
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        char usage[64];
        snprintf(usage, sizeof usage, "Usage: cubewarp %s", commands[i]);
        struct run_output help = run_line(0, i % 2 == 0 ? "%s --help" : "help %s", commands[i]);
        assert_int_equal(strncmp(help.out, usage, strlen(usage)), 0);
        assert_string_equal(help.err, "");
        run_output_free(&help);
    }
}

/* Runs a command of the system, which may print lines with `ignored` only. */
static void expect_silence(const char *tool, const char *ignored, const char *arguments)
{
    char line[400];
    snprintf(line, sizeof line, "%s %s 2>&1 | grep -v '%s'", tool, arguments, ignored);
    FILE *const output = popen(line, "r");
    assert_non_null(output);
    char text[400] = "";
    if (fgets(text, sizeof text, output) != NULL)
        fail_msg("%s %s: %s", tool, arguments, text);
    pclose(output);
}

/* Checked by the tools that read them. */
static void generated_pages_and_completions_are_well_formed(void **state)
{
    (void)state;
    static const char *const shells[] = {"bash", "zsh", "fish"};
    char arguments[200];
    struct run_output output = run_line(0, "--generate man %s", folder);
    assert_string_equal(output.out, "");
    run_output_free(&output);
    static const char *const pages[] = {"cubewarp", "cubewarp-run", "cubewarp-perf-trend"};
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.1", pages[i]);
        snprintf(arguments, sizeof arguments, "-Tlint -W warning %s", in_folder(name));
        expect_silence("mandoc", "missing date", arguments);
        snprintf(arguments, sizeof arguments, "-E UTF-8 --warnings -l %s >/dev/null",
                 in_folder(name));
        expect_silence("man", "can.t set the locale", arguments);
    }
    for (size_t i = 0; i < COUNT_OF(shells); i++) {
        output = run_line(0, "--generate %s", shells[i]);
        snprintf(arguments, sizeof arguments, "-n %s", write_file(shells[i], output.out));
        expect_silence(shells[i], "^$", arguments);
        run_output_free(&output);
    }
    expect_refusal(2, "--generate csh", (const char *const[]){"expected man", "fish"}, 2);
    expect_refusal(2, "--generate man", (const char *const[]){"the folder for the pages"}, 1);
    expect_refusal(4, "--generate man /nowhere", (const char *const[]){"/nowhere"}, 1);
}

/* AddressSanitizer warns once about programs with coroutines; everything else counts. */
static const char *without_sanitizer(const char *err)
{
    const char *end = strchr(err, '\n');
    const bool warned = strncmp(err, "==", 2) == 0 && strstr(err, "WARNING: ASan doesn't") != NULL;
    return warned && end != NULL ? end + 1 : err;
}

static void a_pipe_gets_no_progress(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "run --n-elem 8 --verify-data");
    assert_string_equal(without_sanitizer(output.err), "");
    assert_non_null(strstr(output.out, "# Wrong values      : 0 OK\n"));
    run_output_free(&output);
}

/* ---- configuration --------------------------------------------------------------------------- */

static void a_wrong_setting_names_the_key_and_what_is_legal(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"run --set system.sips.cuont=4",
         {"unknown key 'system.sips.cuont'", "did you mean 'system.sips.count'"}},
        {"config --set cube.abcdefghi=1",
         {"unknown key 'cube.abcdefghi'; known in cube: pe_layout"}},
        {"config --set algorithms.ring_rs_ga.mapper=all_pes",
         {"no algorithm 'ring_rs_ga'", "did you mean 'ring_rs_ag'?"}},
        {"config --topology configs/topologi.yaml",
         {"configs/topologi.yaml:1:1: cannot open", "did you mean 'topology.yaml'?"}},
        {"run --measured configs/cll.yaml", {"cannot open it", "did you mean 'ccl.yaml'?"}},
        {"run --bench ccl_gradient --data configs/cll.yaml", {"did you mean 'ccl.yaml'?"}},
        {"replay configs/cll.yaml", {"cannot read", "did you mean 'ccl.yaml'?"}},
        {"compare configs/cll.yaml -", {"cannot read configs/cll.yaml: No", "'ccl.yaml'?"}},
        {"report configs/cll.yaml", {"cannot read configs/cll.yaml: No", "'ccl.yaml'?"}},
        {"sweep configs/studies/galing.yaml", {"did you mean 'scaling.yaml'?"}},
        {"run --algorithm \u00f6.xml", {"\u00f6.xml cannot be read: No such file"}},
        {"run --algorithm configs/cll.xml", {"cannot be read", "'ccl.yaml'?"}},
        {"run --set system.sips.count=four", {"system.sips.count", "whole number", "'four'"}},
        {"run --set links.ucie.bw_gbs=-1", {"links.ucie.bw_gbs", "GB/s", "'-1'"}},
        {"run --set links.ucie.bw_gbs=0", {"links.ucie.bw_gbs", "'0'"}},
        {"run --set system.sips.topology=ring", {"'ring'", "did you mean 'ring_1d'"}},
        {"run --set system.sips.count=6 --set system.sips.w=4", {"without system.sips.h", "2x3"}},
        {"run --set system.sips.w=3 --set system.sips.h=2", {"system.sips", "4", "6"}},
        {"run --set defaults.slot_size=1048576", {"defaults.slot_size", "TCM", "1048576 are free"}},
        {"run --set defaults.n_slots=100000", {"defaults.n_slots"}},
        {"run --set defaults.algorithm=magic",
         {"no algorithm 'magic'", "cubewarp list algorithms"}},
        {"run --algorithm magic", {"no algorithm 'magic'"}},
        {"run --set defaults.algorithm=tree_allreduce --algorithm ring_allreduce",
         {"--algorithm ring_allreduce names the algorithm already", "give one of the two"}},
        {"run --preset magic", {"unknown preset 'magic'", "pod64", "tiny"}},
        {"run --set algorithms.lrab_hierarchical_allreduce.root=4,0", {"4,0", "4 x 4"}},
        {"run --set system.sips.count", {"KEY=VALUE"}},
        /* beyond 2^24 SIPs; 2^32 PEs; a physical address: 10 bits of cube, 6 of PE */
        {"run --set system.sips.count=16777217", {"system.sips.count", "16777216"}},
        {"run --set system.sips.count=65536 --set sip.cube_mesh.w=32 --set sip.cube_mesh.h=32 "
         "--set cube.pe_layout.pe_per_corner=16 --set system.sips.topology=ring_1d",
         {"system.sips.count", "65536 SIPs of 65536 PEs", "at most 65535 such SIPs"}},
        {"run --set sip.cube_mesh.w=33 --set sip.cube_mesh.h=32", {"1056 cubes", "1024"}},
        {"run --set cube.pe_layout.pe_per_corner=17", {"68 PEs", "64"}},
        /* algorithm and machine */
        {"run --n-elem 8 --set system.sips.topology=pair_switch",
         {"pair_switch", "ring_allreduce"}},
        {"check --n-elem 8 --set system.sips.topology=pair_switch",
         {"pair_switch", "ring_allreduce"}},
        {"run --set defaults.rank_invariant=true --set system.sips.topology=mesh_2d_no_wrap",
         {"rank_invariant", "mesh_2d_no_wrap"}},
    };
    expect_refusals(2, cases, COUNT_OF(cases));
}

static void every_error_of_a_file_is_reported_with_its_place(void **state)
{
    (void)state;
    static const char *const text = "system:\n"
                                    "  sips: { cuont: 4, topology: ring }\n"
                                    "memory:\n"
                                    "  tcm_kib: -1\n"
                                    "fabric: 7\n";
    static const char *const places[] = {":2:11: unknown key 'cuont'",
                                         ":2:31: ", ":4:12: ", ":5:9: "};
    const char *path = write_file("four.yaml", text);
    static const char *const commands[] = {"run", "check", "config", "topo", "verify"};
    for (size_t c = 0; c < COUNT_OF(commands); c++) {
        struct run_output output = run_line(2, "%s --topology %s", commands[c], path);
        const char *at = output.err;
        assert_string_equal(output.out, "");
        assert_int_equal(count_lines(output.err), 4);
        for (size_t i = 0; i < COUNT_OF(places); i++) {
            char start[200];
            snprintf(start, sizeof start, "%s%s", path, places[i]);
            if (strncmp(at, start, strlen(start)) != 0)
                fail_msg("line %zu does not begin with %s\n%s", i + 1, start, output.err);
            at = strchr(at, '\n') + 1;
        }
        run_output_free(&output);
    }
}

static void errors_of_several_files_are_reported_together(void **state)
{
    (void)state;
    const char *topology = write_file("topology.yaml", "system: { sips: { count: none } }\n"),
               *components =
                   write_file("components.yaml", "nodes: { router: { overhead_ns: x } }\n"),
               *ccl = write_file("ccl.yaml", "defaults: { n_slots: 0 }\n");
    struct run_output output =
        run_line(2, "check --topology %s --components %s --ccl %s", topology, components, ccl);
    assert_non_null(strstr(output.err, "topology.yaml:1:26: system.sips.count"));
    assert_non_null(strstr(output.err, "components.yaml:1:33: nodes.router.overhead_ns"));
    assert_non_null(strstr(output.err, "ccl.yaml:1:22: defaults.n_slots"));
    run_output_free(&output);
}

static void what_is_no_configuration_file_is_refused(void **state)
{
    (void)state;
    char args[256];
    static const struct {
        const char *name, *text, *word;
    } files[] = {
        {"open.yaml", "system: [\n", ":2:1: "},
        {"empty.yaml", "", ":1:1: empty"},
        {"list.yaml", "- 1\n- 2\n", ":1:1: "},
        {"twice.yaml", "fabric: { contention: none }\nfabric: { contention: chunk }\n", ":2:1: "},
        {"bytes.yaml", "\xff\xfe", ":1:1: "},
    };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        snprintf(args, sizeof args, "check --topology %s",
                 write_file(files[i].name, files[i].text));
        expect_refusal(2, args, &files[i].word, 1);
    }
    snprintf(args, sizeof args, "run --topology %s", in_folder("missing.yaml"));
    expect_refusal(2, args, (const char *const[]){"missing.yaml", "No such file"}, 2);
    snprintf(args, sizeof args, "run --components %s", folder);
    expect_refusal(2, args, (const char *const[]){folder, "directory"}, 2);
    expect_refusal(2, "run --ccl /dev/zero", (const char *const[]){"/dev/zero"}, 1);
}

static void check_says_ok_and_names_the_configuration(void **state)
{
    (void)state;
    struct run_output shipped = run_line(0, "check"), other = run_line(0, "check --preset tiny");
    assert_int_equal(strncmp(shipped.out, "ok, configuration ", 18), 0);
    assert_string_not_equal(shipped.out, other.out);
    run_output_free(&shipped);
    run_output_free(&other);
}

/* For the collective that its algorithm does, in the world that it asks for. */
static void check_agrees_with_what_run_accepts(void **state)
{
    (void)state;
    static const char *const accepted[] = {
        "--preset a3_16", "--preset a3_4 --algorithm birs", "--algorithm ring_all_gather",
        "--preset a3_8 --algorithm birs_allreduce --set system.sips.count=32 --set "
        "defaults.world_size=16"};
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
        struct run_output output = run_line(0, "check %s", accepted[i]);
        run_output_free(&output);
    }
    static const struct refusal refused[] = {
        {"check --algorithm birs", {"birs", "pair_switch"}},
        {"check --preset a3_8 --algorithm birs_allreduce --set defaults.world_size=3",
         {"defaults.world_size", "3 is odd"}},
    };
    expect_refusals(2, refused, COUNT_OF(refused));
}

static void a_printed_configuration_loads_again_as_the_same(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "",
        "--preset six_3x2 --set links.noc.bw_gbs=0.3 --set links.noc.latency_ns=1.25",
        ("--set cube.pe_layout.corners=[SE,NW] --set defaults.vc_weights=[3,1] "
         "--set algorithms.lrab_hierarchical_allreduce.root=1,2"),
    };
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        struct run_output printed = run_line(0, "config %s", settings[i]),
                          before = run_line(0, "check --n-elem 8 %s", settings[i]);
        const char *path = write_file("resolved.yaml", printed.out);
        struct run_output after = run_line(0, "check --n-elem 8 --preset %s", path);
        assert_string_equal(before.out, after.out);
        run_output_free(&printed);
        run_output_free(&before);
        run_output_free(&after);
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

static void json_on_standard_output_is_nothing_but_json(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "run --n-elem 8 --json -");
    json_error_t error;
    json_t *root = json_loads(output.out, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("line %d: %s\n%s", error.line, error.text, output.out);
    static const char *const keys[] = {"schema",      "version",      "command",      "bench",
                                       "algorithm",   "topology",     "engine",       "results",
                                       "sim_time_ns", "init_time_ns", "config_digest"};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (json_object_get(root, keys[i]) == NULL)
            fail_msg("no key %s", keys[i]);
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "cubewarp.run/1");
    json_decref(root);
    run_output_free(&output);
}

static void a_json_file_says_what_standard_output_would(void **state)
{
    (void)state;
    const char *path = in_folder("result.json");
    struct run_output output = run_line(0, "run --n-elem 8 --json %s", path);
    assert_non_null(strstr(output.out, "busbw")); /* the table is on standard output */
    json_t *file = json_load_file(path, 0, NULL), *direct = run_json("run --n-elem 8");
    assert_non_null(file);
    assert_true(json_equal(json_object_get(file, "results"), json_object_get(direct, "results")));
    json_decref(file);
    json_decref(direct);
    run_output_free(&output);
}

static void csv_has_a_heading_and_a_row_for_each_size(void **state)
{
    (void)state;
    const char *path = in_folder("result.csv");
    struct run_output output = run_line(0, "run --bytes 8:32:x2 --verify-data --csv %s", path);
    char *text = read_file(path);
    assert_int_equal(count_lines(text), 1 + 3);
    size_t commas = 0;
    for (const char *at = text; *at != '\n'; at++)
        commas += *at == ',';
    for (const char *line = strchr(text, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        size_t in_row = 0;
        for (const char *at = line; *at != '\n'; at++) {
            in_row += *at == ',';
            assert_true(*at != ' '); /* no padding */
        }
        assert_int_equal(in_row, commas);
    }
    free(text);
    run_output_free(&output);
}

static void an_output_file_is_whole_or_not_there(void **state)
{
    (void)state;
    const char *path = write_file("kept.json", "kept");
    struct run_output refused =
        run_line(2, "run --bench ccl_all_gather --n-elem 3 --json %s", path);
    char *text = read_file(path);
    assert_string_equal(text, "kept"); /* a run that fails leaves the last result alone */
    free(text);
    run_output_free(&refused);
    static const char *const options[] = {"--json", "--csv", "--ccl-trace"};
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        struct run_output output =
            run_line(4, "run --n-elem 8 %s %s/missing/result", options[i], folder);
        assert_non_null(strstr(output.err, "missing/result"));
        run_output_free(&output);
        output = run_line(4, "run --n-elem 8 %s %s", options[i], folder); /* a directory */
        assert_non_null(strstr(output.err, folder));
        run_output_free(&output);
        output = run_line(4, "run --n-elem 8 %s /dev/full", options[i]);
        assert_non_null(strstr(output.err, "cannot write /dev/full"));
        run_output_free(&output);
    }
}

static void a_misspelt_variable_is_told(void **state)
{
    (void)state;
    setenv("CUBEWARP_CCL_TRACES", "1", 1);
    setenv("CUBEWARP_HOME", "/", 1); /* somebody else's */
    struct run_output output = run_line(0, "check --preset tiny");
    assert_string_equal(output.err, "cubewarp check: the variable 'CUBEWARP_CCL_TRACES' has no "
                                    "meaning; did you mean 'CUBEWARP_CCL_TRACE'?\n");
    run_output_free(&output);
    unsetenv("CUBEWARP_CCL_TRACES");
    unsetenv("CUBEWARP_HOME");
}

static void a_run_without_events_is_efficient(void **state)
{
    (void)state;
    struct run_output output = run_line(0, "phold --lps 4 --population 0 --end 1 --quiet");
    assert_non_null(strstr(output.out, " 1.000 "));
    run_output_free(&output);
}

/* Beyond the limit on a file's size a write fails like any other. */
static void a_limit_on_file_sizes_is_a_failed_write(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "run --trace", "run --ccl-trace", "run --n-elem 8:1KiB:+8 --json",
        "phold --lps 16 --end 30000 --sync sequential --engine-log"}; /* a row per 65,536 events */
    char command[600], err[128], path[128];
    snprintf(err, sizeof err, "%s", in_folder("limited.err"));
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        snprintf(path, sizeof path, "%s", write_file("limited", "kept"));
        snprintf(command, sizeof command,
                 "ulimit -f 8; exec \"${CUBEWARP:-build/cubewarp}\" %s %s >/dev/null 2>%s",
                 lines[i], path, err);
        const int status = system(command);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 4)
            fail_msg("%s: status %d", command, status);
        char *text = read_file(err);
        if (strstr(text, "cannot write") == NULL || strstr(text, "File too large") == NULL)
            fail_msg("%s: %s", command, text);
        free(text);
        text = read_file(path);
        assert_string_equal(text, "kept");
        free(text);
    }
}

/* What is printed to a stream that is closed stands in no file. */
static void a_closed_stream_is_no_file(void **state)
{
    (void)state;
    static const struct {
        const char *streams;
        int exit_code;
    } cases[] = {{">&-", 4}, {">/dev/null 2>&-", 0}, {"<&- >&- 2>&-", 4}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char command[400], path[128];
        snprintf(path, sizeof path, "%s", in_folder("closed.json"));
        snprintf(
            command, sizeof command,
            "exec \"${CUBEWARP:-build/cubewarp}\" run --preset tiny --algorithm auto --json %s "
            "%s",
            path, cases[i].streams);
        const int status = system(command);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].exit_code);
        json_t *const json = json_load_file(path, 0, NULL);
        if (json == NULL)
            fail_msg("no JSON: %s", command);
        json_decref(json);
        assert_int_equal(unlink(path), 0);
    }
}

/* A new folder of a plug-in has all of its files, or it is not there. */
static void a_new_plugin_is_whole_or_not_there(void **state)
{
    (void)state;
    const int status = system("ulimit -f 0; exec \"${CUBEWARP:-build/cubewarp}\" plugin new "
                              "half_a_plugin >/dev/null 2>&1");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 4);
    assert_int_not_equal(access("half_a_plugin", F_OK), 0);
}

static void too_little_memory_is_exit_code_4(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"run --max-memory 1KiB", {"out of memory", "1024", "--max-memory"}}};
    expect_refusals(4, cases, COUNT_OF(cases));
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* The machine runs elsewhere, whoever drains it and with as many threads as it likes. */
static void the_smallest_legal_stack_is_enough(void **state)
{
    static const char *const lines[] = {
        "run --bench gemm_allreduce --n-elem 4096",
        "run --preset a3_8 --bench ccl_reduce_scatter --bytes 64KiB --verify-data",
        "run --preset pod64 --threads 2 --bytes 1KiB"};
    (void)state;
    setenv("CUBEWARP_STACK_KIB", "32", 1);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct run_output output = run_line(0, "%s", lines[i]);
        run_output_free(&output);
    }
    setenv("CUBEWARP_STACK_KIB", "31", 1);
    struct run_output output = run_line(2, "run --preset tiny");
    assert_non_null(strstr(output.err, "CUBEWARP_STACK_KIB=31: a whole number of KiB from 32"));
    run_output_free(&output);
    unsetenv("CUBEWARP_STACK_KIB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_legal_stack_is_enough),
        cmocka_unit_test(a_wrong_command_line_names_what_is_wrong_and_what_is_legal),
        cmocka_unit_test(help_and_version_are_on_standard_output),
        cmocka_unit_test(generated_pages_and_completions_are_well_formed),
        cmocka_unit_test(a_pipe_gets_no_progress),
        cmocka_unit_test(a_wrong_setting_names_the_key_and_what_is_legal),
        cmocka_unit_test(every_error_of_a_file_is_reported_with_its_place),
        cmocka_unit_test(errors_of_several_files_are_reported_together),
        cmocka_unit_test(what_is_no_configuration_file_is_refused),
        cmocka_unit_test(check_says_ok_and_names_the_configuration),
        cmocka_unit_test(check_agrees_with_what_run_accepts),
        cmocka_unit_test(a_printed_configuration_loads_again_as_the_same),
        cmocka_unit_test(json_on_standard_output_is_nothing_but_json),
        cmocka_unit_test(a_json_file_says_what_standard_output_would),
        cmocka_unit_test(csv_has_a_heading_and_a_row_for_each_size),
        cmocka_unit_test(an_output_file_is_whole_or_not_there),
        cmocka_unit_test(a_misspelt_variable_is_told),
        cmocka_unit_test(a_run_without_events_is_efficient),
        cmocka_unit_test(a_limit_on_file_sizes_is_a_failed_write),
        cmocka_unit_test(a_closed_stream_is_no_file),
        cmocka_unit_test(a_new_plugin_is_whole_or_not_there),
        cmocka_unit_test(too_little_memory_is_exit_code_4),
    };
    return cmocka_run_group_tests_name("cli", tests, make_folder, remove_folder);
}
