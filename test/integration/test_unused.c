/*
 * test_unused.c: what a command line names and its run does not use is answered by one line. The
 * proof is another run: a key that changes neither the events nor the times has its line, and one
 * that changes them has none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/run_cubewarp.h"
#include "test/support/sanitized.h"
#define TEST_SCRATCH "unused"
#include "test/support/scratch_folder.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* The events and the time of a run; `note`: how often a note on `key` is there. */
static char *outcome_of(const char *line, const char *set, const char *key, int *notes)
{
    struct run_output output =
        run_line(0, "run --quiet --json - %s%s%s", line, set[0] != '\0' ? " --set " : "", set);
    json_t *const root = json_loads(output.out, 0, NULL);
    assert_non_null(root);
    char *const text = malloc(400);
    assert_non_null(text);
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    snprintf(text, 400, "%s %.3f %.3f",
             json_string_value(json_object_get(json_object_get(root, "engine"), "trace_hash")),
             json_real_value(json_object_get(root, "sim_time_ns")),
             json_real_value(json_object_get(row, "time_ns")));
    json_decref(root);
    *notes = 0;
    for (const char *at = output.err; (at = strstr(at, "cubewarp: note: ")) != NULL; at++)
        *notes += strncmp(at + 16, "--set ", 6) == 0 && strncmp(at + 22, key, strlen(key)) == 0;
    run_output_free(&output);
    return text;
}

/* Of the pairs of a line and a key AddressSanitizer sees as much in every fifth. */
static const size_t every = sanitized ? 5 : 1;

/* Each of them either changes the run or is answered. */
static void each_key_changes_the_run_or_has_a_note(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--algorithm lrab_hierarchical_allreduce --bytes 16KiB",
        "--algorithm ring_rs_ag --bytes 64KiB --set system.sips.topology=fully_connected",
        "--algorithm lrab_hierarchical_allreduce --bytes 16KiB --set system.sips.topology=switch",
        "--preset a3_4 --bench ccl_reduce_scatter --algorithm birs --bytes 256KiB",
        "--bench gemm --gemm 128x128x128",
        "--bench ipcq_pingpong --bytes 1024",
        "--bench ccl_barrier --algorithm relay_barrier",
        "--bench ccl_all_gather --algorithm ring_all_gather --bytes 16KiB",
        "--algorithm lrab_pipelined_allreduce --bytes 16KiB --set defaults.buffer_kind=sram",
        "--algorithm ring_allreduce --bytes 16KiB --set system.sips.count=1",
    };
    static const char *const sets[] = {
        "nodes.switch.overhead_ns=77",
        "nodes.sram.overhead_ns=77",
        "nodes.hbm.overhead_ns=77",
        "nodes.pe_scheduler.overhead_ns=77",
        "nodes.pe_ipcq.wire_ns=77",
        "nodes.pe_ipcq.poll_interval_ns=77",
        "nodes.pe_ipcq.ll_wire_ns=77",
        "nodes.pe_fetch_store.overhead_ns=77",
        "nodes.pe_math.overhead_ns=77",
        "nodes.pe_gemm.overhead_ns=77",
        "nodes.pe_gemm.clock_ghz=0.1",
        "links.sio.latency_ns=77",
        "links.hccs.latency_ns=77",
        "links.sip_link.latency_ns=77",
        "links.hbm.latency_ns=77",
        "links.sram.latency_ns=77",
        "links.noc.latency_ns=77",
        "links.ucie.latency_ns=77",
        "memory.sram_kib=8192",
        "memory.tcm_kib=2048",
        "slot_access.sram.bw_gbs=3",
        "slot_access.hbm.bw_gbs=3",
        "faults.slow.links=sip_link --set faults.slow.slower=50",
        "faults.slow.links=sio --set faults.slow.slower=50",
        "faults.slow.nodes=pe_math --set faults.slow.slower=500",
        "defaults.ll_slot_size=1024",
        "defaults.ll_max_tile_bytes=1024",
        "defaults.min_way_bytes=100000",
        "defaults.recv_fairness=strict",
        "defaults.credit_return_mode=fabric",
        "defaults.overlap_exchange=true",
        "defaults.birs_enable=true",
        "defaults.host_copy=simulated",
        "algorithms.tree_allreduce.root=corner",
        "algorithms.ring_rs_ag.rings=2",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        int notes;
        char *const before = outcome_of(lines[i], "", "", &notes);
        for (size_t k = i % every; k < COUNT_OF(sets); k += every) {
            char key[80];
            snprintf(key, sizeof key, "%.*s", (int)strcspn(sets[k], "="), sets[k]);
            char *const after = outcome_of(lines[i], sets[k], key, &notes);
            if (notes != (strcmp(before, after) == 0))
                fail_msg("run %s --set %s: %d notes, and the run %s", lines[i], sets[k], notes,
                         strcmp(before, after) == 0 ? "is the same" : "is another");
            free(after);
        }
        free(before);
    }
}

static void answers(const char *line, const char *text)
{
    struct run_output output = run_line(0, "%s", line);
    if (strstr(output.err, text) == NULL)
        fail_msg("%s\nsaid: %s\ninstead of: %s", line, output.err, text);
    run_output_free(&output);
}

static void what_would_use_it_is_named(void **state)
{
    (void)state;
    answers("run --bytes 64 --set links.sio.bw_gbs=5",
            "cubewarp: note: --set links.sio.bw_gbs=5: this run does not use it; paired dies "
            "(system.sips.topology=pair_switch) would\n");
    answers("run --algorithm ring_rs_ag --bytes 4KiB --set defaults.rank_invariant=true",
            "--set defaults.rank_invariant=true: this run does not use it; one of the algorithms "
            "lrab_hierarchical_allreduce, lrab_pipelined_allreduce, pe_hierarchical_allreduce, "
            "ring_allreduce would\n");
    answers("run --algorithm auto_all_reduce --bytes 4KiB --set algorithms.auto.mapper=all_pes",
            "--set algorithms.auto.mapper=all_pes: it has no effect, since the entry that runs is "
            "auto_all_reduce; `algorithms.auto_all_reduce.mapper` sets that\n");
    answers("check --set links.hccs.bw_gbs=5", "--set links.hccs.bw_gbs=5: this run does not use");
    answers("run --bench ccl_all_gather --bytes 4KiB --op max",
            "cubewarp: note: --op: this run does not use it; a bench that reduces would\n");
    answers("run --bytes 64 --no-data --seed 4",
            "--seed: this run does not use it; a run with tensor data, without --no-data would");
    answers("run --bench ccl_barrier --bytes 64 --dtype f32", "note: --bytes: this run does not");
    answers("run --bytes 64 --partition block", "--partition: this run does not use it; a run on "
                                                "several threads (--threads) would\n");
    answers("run --bytes 64 --tag a=b", "--tag: this run does not use it; --json or --csv would\n");
    answers(
        "run --bench gemm --algorithm ring_allreduce",
        "--algorithm ring_allreduce: this run does not use it; a bench of a collective would\n");
}

static void says_nothing(const char *line)
{
    struct run_output output = run_line(0, "%s", line);
    if (strstr(output.err, "cubewarp: note: ") != NULL)
        fail_msg("%s\nsaid: %s", line, output.err);
    run_output_free(&output);
}

/* Options of the engine, of phold and of sweep. */
static void options_of_another_mode_are_named(void **state)
{
    (void)state;
    static const char several[] = "this run does not use it; a run on several threads (--threads)";
    static const char *const idle[] = {"--no-pin", "--balance off", "--partition block"};
    char line[200], text[200];
    for (size_t i = 0; i < COUNT_OF(idle); i++) {
        snprintf(line, sizeof line, "run --bytes 64 %s", idle[i]);
        snprintf(text, sizeof text, "note: %.*s: %s would\n", (int)strcspn(idle[i], " "), idle[i],
                 several);
        answers(line, text);
        snprintf(line, sizeof line, "run --bytes 64 --threads 2 %s", idle[i]);
        says_nothing(line);
    }
    answers("run --bytes 64 --cancellation aggressive",
            "--cancellation: this run does not use it; a mode that undoes events (--sync adaptive, "
            "optimistic, stress) would\n");
    answers("run --bytes 64 --sync stress --threads 2 --balance on", "note: --balance: ");
    answers("run --bench ipcq_shift --bytes 64 --ahead 2",
            "--ahead: this run does not use it; a run of several tiles (--tiles) would\n");
    answers("phold --end 1 --lps 64 --no-gather", "note: --no-gather: ");
    answers("phold --end 1 --lps 64 --traffic mesh --remote 0.5",
            "--remote: this run does not use it; random traffic (--traffic random) would\n");
    says_nothing("phold --end 1 --lps 64 --remote 0.5 --mean 1 --lookahead 0.2");
    answers("sweep --dry-run --point-timeout 3 configs/studies/first_look.yaml",
            "note: --point-timeout: ");
    answers("list presets --preset tiny", "--preset: this run does not use it; 'list algorithms'");
    says_nothing("list algorithms --preset tiny");
}

/* slot_size is also the piece in which kernels without queues add. */
static void keys_of_tiles_are_used_by_pieces(void **state)
{
    (void)state;
#define BIRS "run --preset a3_4 --bench ccl_reduce_scatter --algorithm birs --bytes 64KiB --set "
    says_nothing(BIRS "defaults.slot_size=1024");
    says_nothing(BIRS "defaults.protocol=ll --set defaults.ll_slot_size=1024");
    answers(BIRS "defaults.n_slots=4", "note: --set defaults.n_slots=4: ");
    answers(BIRS "defaults.protocol=ll --set nodes.pe_ipcq.ll_wire_ns=3",
            "ll_wire_ns=3: this run does not use it; kernels that send tiles would\n");
#undef BIRS
    answers("run --bench ccl_barrier --set defaults.whole_tensor=true",
            "kernels that send tensors as tiles would\n");
    answers("run --bench ccl_broadcast --bytes 64 --algorithm relay_broadcast --set "
            "algorithms.relay_broadcast.mapper=all_pes",
            "an algorithm that runs on the PEs of its mapper would\n");
    says_nothing("run --bytes 64 --set defaults.accumulate=f32");
    answers("run --bytes 64 --dtype f32 --set defaults.accumulate=f32",
            "a bench that reduces a type narrower than f32 (--dtype) would\n");
    answers("run --bench ccl_broadcast --bytes 64 --set defaults.accumulate=f32",
            "a bench that reduces a type narrower than f32 (--dtype) would\n");
}

/* A file's keys are named when one asks for them. */
static void keys_of_files_are_named_by_check_verbose(void **state)
{
    (void)state;
    char path[100], line[200];
    snprintf(path, sizeof path, "%s/own.yaml", folder);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs("links:\n  hccs: {bw_gbs: 7}\n", file);
    assert_int_equal(fclose(file), 0);
    snprintf(line, sizeof line, "check --components %s", path);
    struct run_output output = run_line(0, "%s", line);
    assert_string_equal(output.err, "");
    run_output_free(&output);
    snprintf(line, sizeof line, "check --verbose --components %s", path);
    output = run_line(0, "%s", line);
    assert_non_null(strstr(output.err, "own.yaml:2:18: links.hccs.bw_gbs: this run does not use"));
    run_output_free(&output);
}

static void a_study_names_what_its_points_do_not_use(void **state)
{
    (void)state;
    char path[100];
    snprintf(path, sizeof path, "%s/own.yaml", folder);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs("study: own\nbase: {bytes: 64, no-data: true}\naxes:\n"
          "  system.sips.topology:\n    - ring_1d\n"
          "    - [{fully_connected: 2, bw_gbs: 64}, {switch: 2, bw_gbs: 64}]\n"
          "  links.sip_link.bw_gbs: [50, 100, 200]\n  links.hccs.bw_gbs: [1, 2]\n",
          file);
    assert_int_equal(fclose(file), 0);
    struct run_output output = run_line(0, "sweep --dry-run %s", path);
    assert_non_null(strstr(output.err,
                           "cubewarp sweep: links.hccs.bw_gbs: no point uses it; paired "
                           "dies (system.sips.topology=pair_switch) would\n"));
    assert_non_null(strstr(output.err,
                           "cubewarp sweep: links.sip_link.bw_gbs: 6 of 12 points do not use it; a "
                           "level of system.sips.topology that does not give its own would\n"));
    assert_null(strstr(output.err, "sweep: system.sips.topology"));
    run_output_free(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_changes_the_run_or_has_a_note),
        cmocka_unit_test(what_would_use_it_is_named),
        cmocka_unit_test(options_of_another_mode_are_named),
        cmocka_unit_test(keys_of_tiles_are_used_by_pieces),
        cmocka_unit_test(keys_of_files_are_named_by_check_verbose),
        cmocka_unit_test(a_study_names_what_its_points_do_not_use),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
