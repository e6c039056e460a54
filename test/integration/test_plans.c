/*
 * test_plans.c: MSCCL++ execution plans on the machine: plans of both schemas run, with the bits
 * that their formulas give, in all modes; hazards are notes, or refused; what a plan cannot have
 * ends with a line that names the place.
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

#define TEST_SCRATCH "plans"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

#define SMALL "--preset tiny --set system.sips.count=%u "

static const char *path_of(const char *name)
{
    static char path[2][100];
    static unsigned turn;
    turn = 1 - turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* What a plan leaves out. */
enum flaw { SOUND, NO_WAIT, SWITCH };

static void operand(FILE *f, const char *key, unsigned number, unsigned chunk, bool more)
{
    fprintf(f, "{%s %u, \"index\": %u, \"size\": 1}%s", key, number, chunk, more ? ", " : "");
}

static void own(FILE *f, char buffer, unsigned chunk, bool more)
{
    fprintf(f, "{\"type\": \"%c\", \"index\": %u, \"size\": 1}%s", buffer, chunk, more ? ", " : "");
}

static void channels(FILE *f, const char *name, unsigned n)
{
    fprintf(f, "{\"name\": \"%s\", \"channel_type\": \"memory\", \"channel_ids\": [", name);
    for (unsigned k = 0; k + 1 < n; k++)
        fprintf(f, "%s%u", k > 0 ? ", " : "", k);
    fputs("]},\n{\"name\": \"nop\"},\n", f);
}

static unsigned peer_of(unsigned gpu, unsigned k) { return k < gpu ? k : k + 1; }

/* Each gpu puts chunk p into gpu p's scratch, adds what it gets to its own chunk, and puts the sum
 * into all. With packets nobody signals. Remote buffers: scratch of each peer, then its input. */
static void write_ops(FILE *f, unsigned gpu, unsigned n, bool packets, enum flaw flaw)
{
    const char *const put = packets ? "ppkt" : "put";
    fprintf(f, "{\"name\": \"%s\", \"channel_type\": \"memory\", \"src_buff\": [", put);
    for (unsigned k = 0; k + 1 < n; k++)
        own(f, 'i', peer_of(gpu, k), k + 2 < n);
    fputs("], \"dst_buff\": [", f);
    for (unsigned k = 0; k + 1 < n; k++)
        operand(f, "\"buffer_id\":", k, gpu, k + 2 < n);
    fputs("]},\n{\"name\": \"nop\"},\n", f);
    if (!packets)
        channels(f, "signal", n);
    if (!packets && flaw != NO_WAIT)
        channels(f, "wait", n);
    fprintf(f, "{\"name\": \"%s\", \"channel_type\": \"%s\", \"src_buff\": [",
            packets ? "respkt" : "res", flaw == SWITCH ? "switch" : "memory");
    own(f, 'i', gpu, true);
    for (unsigned k = 0; k + 1 < n; k++)
        own(f, 's', peer_of(gpu, k), k + 2 < n);
    fputs("], \"dst_buff\": [", f);
    own(f, 'i', gpu, true);
    for (unsigned k = 0; k + 1 < n; k++)
        operand(f, "\"buffer_id\":", packets ? k : n - 1 + k, packets ? n + gpu : gpu, k + 2 < n);
    fputs("]},\n{\"name\": \"nop\"}", f);
    if (!packets) {
        fputs(",\n", f);
        channels(f, "signal", n);
        if (flaw == NO_WAIT)
            channels(f, "wait", n);
        channels(f, "wait", n);
        fputs("{\"name\": \"nop\"}", f);
    }
    for (unsigned k = 0; k + 1 < n && packets; k++) {
        fputs(",\n{\"name\": \"upkt\", \"src_buff\": [", f);
        own(f, 's', n + peer_of(gpu, k), false);
        fputs("], \"dst_buff\": [", f);
        own(f, 'i', peer_of(gpu, k), false);
        fputs("]}", f);
    }
}

static void write_numbers(FILE *f, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        fprintf(f, "%s%u", k > 0 ? ", " : "", k);
}

/* An all-reduce of all pairs. */
static void write_pairs(const char *name, unsigned n, bool packets, enum flaw flaw)
{
    FILE *const f = fopen(path_of(name), "w");
    const unsigned buffers = packets ? n - 1 : 2 * (n - 1);
    assert_non_null(f);
    fprintf(f,
            "{\"name\": \"pairs\", \"collective\": \"allreduce\", \"protocol\": \"%s\", "
            "\"inplace\": true, \"gpus\": [\n",
            packets ? "LL" : "Simple");
    for (unsigned gpu = 0; gpu < n; gpu++) {
        fprintf(f,
                "{\"id\": %u, \"input_chunks\": %u, \"output_chunks\": %u, \"scratch_chunks\": %u, "
                "\"threadblocks\": [{\"id\": 0, \"ops\": [\n",
                gpu, n, n, 2 * n);
        write_ops(f, gpu, n, packets, flaw);
        fputs("],\n\"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [", f);
        write_numbers(f, n - 1);
        fputs("]}],\n\"remote_buffer_refs\": [{\"access_channel_type\": \"memory\", "
              "\"remote_buffer_ids\": [",
              f);
        write_numbers(f, buffers);
        fputs("]}]}],\n\"channels\": [{\"channel_type\": \"memory\", \"connected_to\": [", f);
        for (unsigned k = 0; k + 1 < n; k++)
            fprintf(f, "%s%u", k > 0 ? ", " : "", peer_of(gpu, k));
        fputs("]}],\n\"remote_buffers\": [", f);
        for (unsigned k = 0; k < buffers; k++)
            fprintf(f, "%s{\"rank\": %u, \"type\": \"%c\", \"access_channel_types\": [\"memory\"]}",
                    k > 0 ? ", " : "", peer_of(gpu, k % (n - 1)), k < n - 1 ? 's' : 'i');
        fprintf(f, "]}%s\n", gpu + 1 < n ? "," : "");
    }
    fputs("]}\n", f);
    assert_int_equal(fclose(f), 0);
}

static void hash_of(const char *algorithm, unsigned gpus, const char *options, char text[40])
{
    json_t *const root =
        run_json("run --algorithm %s " SMALL "--verify-data %s", algorithm, gpus, options);
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
    assert_string_equal(json_string_value(json_object_get(row, "proof")), "order");
    snprintf(text, 40, "%s", json_string_value(json_object_get(row, "data_hash")));
    json_decref(root);
}

/* Two inputs have one sum, whatever adds them. */
static void sums_of_two_are_those_of_a_ring(void **state)
{
    (void)state;
    char text[40], ring[40];
    static const char *const sizes[] = {"--n-elem 1", "--n-elem 3001", "--n-elem 4096 --dtype f32"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        hash_of("ring_rs_ag", 2, sizes[i], ring);
        for (int packets = 0; packets < 2; packets++) {
            write_pairs("pairs.json", 2, packets, SOUND);
            hash_of(path_of("pairs.json"), 2, sizes[i], text);
            assert_string_equal(text, ring);
        }
    }
}

/* Plain sums begin with the own chunk, sums of packets end with it: these are other bits, for some
 * of so many. Each is the same in all modes. */
static void the_order_of_additions_is_the_plan_s(void **state)
{
    (void)state;
    static const char *const modes[] = {
        "--n-elem 100003 --threads 2", "--n-elem 100003 --sync stress",
        "--n-elem 100003 --set defaults.slot_size=64", "--n-elem 100003 --set memory.tcm_kib=512"};
    char text[40], sum[2][40];
    for (int packets = 0; packets < 2; packets++) {
        write_pairs("pairs.json", 3, packets, SOUND);
        hash_of(path_of("pairs.json"), 3, "--n-elem 100003", sum[packets]);
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
            hash_of(path_of("pairs.json"), 3, modes[i], text);
            assert_string_equal(text, sum[packets]);
        }
    }
    assert_string_not_equal(sum[0], sum[1]);
}

static void hazards_are_notes_or_refused(void **state)
{
    (void)state;
    write_pairs("race.json", 2, false, NO_WAIT);
    static const char hazard[] =
        "race.json:7:1: gpu 0, tb 0, op 4: hazard: res reads s[1] of gpu 0, which gpu 1, tb 0, op "
        "0 "
        "(put) writes, and nothing orders the two; legal is that one waits for the other, or for a "
        "signal that comes of it\n";
    struct run_output out = run_line(0, "check --algorithm %s " SMALL, path_of("race.json"), 2u);
    assert_non_null(strstr(out.err, hazard));
    run_output_free(&out);
    out = run_line(2, "run --algorithm %s " SMALL "--set defaults.strict_validation=true",
                   path_of("race.json"), 2u);
    assert_non_null(strstr(out.err, hazard));
    run_output_free(&out);
}

static void what_a_plan_cannot_have_is_refused(void **state)
{
    (void)state;
    write_pairs("switch.json", 2, false, SWITCH);
    struct run_output out = run_line(2, "run --algorithm %s " SMALL, path_of("switch.json"), 2u);
    assert_non_null(strstr(out.err, "switch.json:9:1: res goes through a switch channel (NVLS)"));
    run_output_free(&out);
    write_pairs("pairs.json", 2, false, SOUND);
    out = run_line(2, "run --algorithm %s " SMALL, path_of("pairs.json"), 4u);
    assert_non_null(strstr(out.err, "pairs.json is for 2 gpus, and there are 4 ranks"));
    run_output_free(&out);
    out = run_line(2, "topo --algorithm %s " SMALL "--xml %s", path_of("pairs.json"), 2u,
                   path_of("pairs.xml"));
    assert_non_null(strstr(out.err, "pairs loads and stores in other ranks' memories"));
    run_output_free(&out);
}

/* The contents count, not the name. */
static void a_configuration_may_name_a_plan(void **state)
{
    (void)state;
    write_pairs("plan.xml", 2, false, SOUND);
    FILE *const f = fopen(path_of("ccl.yaml"), "w");
    assert_non_null(f);
    fprintf(f,
            "defaults: {algorithm: mine}\nalgorithms: {mine: {module: '%s', topology: none, "
            "mapper: leader_only}}\n",
            path_of("plan.xml"));
    assert_int_equal(fclose(f), 0);
    struct run_output out =
        run_line(0, "run --ccl %s " SMALL "--n-elem 100 --verify-data", path_of("ccl.yaml"), 2u);
    assert_non_null(strstr(out.out, "in the order of additions that the algorithm declares"));
    run_output_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_two_are_those_of_a_ring),
        cmocka_unit_test(the_order_of_additions_is_the_plan_s),
        cmocka_unit_test(hazards_are_notes_or_refused),
        cmocka_unit_test(what_a_plan_cannot_have_is_refused),
        cmocka_unit_test(a_configuration_may_name_a_plan),
    };
    return cmocka_run_group_tests_name("plans", tests, make_folder, remove_folder);
}
