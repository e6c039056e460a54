/*
 * test_jitter.c: the cost of late blocks and links. Figures are counted by hand from the machine as
 * shipped; whatever the draws, results do not depend on threads, nor do tensors on time.
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

#define NODE(node, rest) "--set jitter.nodes." node "." rest " "
#define LINK(link, rest) "--set jitter.links." link "." rest " "
#define PING_PONG                                                                                  \
    "--bench ipcq_pingpong --n-elem 2048 --from 0.0.0 --to 0.1.0 --set fabric.contention=none "
#define FIXED(group, ns) group("distribution=fixed") group("mean_ns=" ns)
#define SLOW_MATH(ns)    NODE("pe_math", "distribution=fixed") NODE("pe_math", "mean_ns=" ns)
#define AT(node, place)  NODE(node, "only=" place)
/* Parts that are slower: `which` is nodes=KIND or links=KIND. */
#define SLOW(which, how)         "--set faults.slow." which " --set faults.slow.slower=" how " "
#define SLOW_AT(which, how, at_) SLOW(which, how) "--set faults.slow.at=" at_ " "

static long long time_of(const char *args)
{
    json_t *root = run_json("run %s", args);
    const long long ps = json_ps(root, "time_ns");
    json_decref(root);
    return ps;
}

/* JSON's engine.trace_hash, config_digest, ...: a string to be freed. */
static char *text_of(const char *args, const char *object, const char *key)
{
    json_t *root = run_json("run %s", args);
    json_t *in = object == NULL ? root : json_object_get(root, object);
    const char *text = json_string_value(json_object_get(in, key));
    assert_non_null(text);
    char *copy = strdup(text);
    json_decref(root);
    return copy;
}

static void jitter_of_nothing_changes_nothing(void **state)
{
    (void)state;
    static const char zero[] = NODE("pe_math", "distribution=exponential")
        NODE("pe_math", "mean_ns=0") SLOW("links=ucie", "0")
            LINK("noc", "distribution=none") "--set jitter.seed=7 --bytes 16KiB";
    char *with = text_of(zero, "engine", "trace_hash");
    char *without = text_of("--bytes 16KiB", "engine", "trace_hash");
    assert_string_equal(with, without);
    free(with);
    free(without);
}

/* 16 KiB are four tiles; cube 5 (column 1, row 1 of 4 x 4) adds the tile from the west to each,
 * before it sends them on towards the root in column 2. */
static void one_slow_pe_costs_as_often_as_it_adds(void **state)
{
    (void)state;
    const long long alone_ps = time_of("--n-elem 8192 --no-data");
    const long long late_ps =
        time_of("--n-elem 8192 --no-data " SLOW_MATH("250") AT("pe_math", "0.5.0"));
    assert_int_equal(late_ps - alone_ps, 4 * 250000);
    /* PE 1 of the cube has no part in it */
    assert_int_equal(time_of("--n-elem 8192 --no-data " SLOW_MATH("250") AT("pe_math", "0.5.1")),
                     alone_ps);
    /* at half its speed: 4 ns and 2048 elements on 64 lanes at 1 GHz, once more for each tile */
    assert_int_equal(time_of("--n-elem 8192 --no-data " SLOW_AT("nodes=pe_math", "100", "0.5.0")),
                     alone_ps + 4 * 36000);
}

/* A ping-pong's first PE sends, its partner receives (its call is issued meanwhile) and sends. */
static void each_block_and_link_on_the_way_is_late_once_for_each_use(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        int times;
    } uses[] = {
        {NODE("pe_cpu", "only=0.1.0"), 1},  /* its send */
        {NODE("pe_ipcq", "only=0.1.0"), 1}, /* likewise */
        {NODE("pe_dma", "only=0.1.0"), 2},  /* the tile arrives, and leaves */
        {NODE("pe_tcm", "only=0.1.0"), 1},  /* the tile arrives */
        {NODE("pe_math", "only=0.1.0"), 0}, /* nobody adds */
        {NODE("pe_mmu", "only=0.1.0"), 0},  /* nor loads */
        {LINK("ucie", "only=0.0"), 1},      /* the way there; the way back leaves from cube 1 */
        {LINK("ucie", "only=0"), 2},        /* both */
        {LINK("noc_ucie", "only=0.0"), 2},  /* out of the cube, and in on the way back */
        {LINK("noc", "only=0.0"), 4},       /* (0,0) to (1,0) to (1,1), the port; back over (0,1) */
        {LINK("pe_noc", "only=0.1.0"), 1},  /* in; the engine passes outgoing tiles */
        {LINK("tcm", "only=0.1.0"), 1},     {LINK("sip_link", "only=0"), 0},
        {LINK("hbm", "only=0.1.0"), 0},
    };
    const long long alone_ps = time_of(PING_PONG);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        char args[400], kind[40];
        /* "--set jitter.nodes.pe_cpu.only=..." names the kind */
        const char *name = uses[i].args + strlen("--set ");
        snprintf(kind, sizeof kind, "%.*s", (int)(strstr(name, ".only") - name), name);
        snprintf(args, sizeof args, PING_PONG "%s --set %s.distribution=fixed --set %s.mean_ns=3",
                 uses[i].args, kind, kind);
        const long long late_ps = time_of(args) - alone_ps;
        if (late_ps != uses[i].times * 3000)
            fail_msg("%s: %lld ps later, expected %d x 3000", kind, late_ps, uses[i].times);
    }
}

/* The middle one of three round trips meets nobody else's messages. Each way crosses pe_noc, noc,
 * ucie and tcm as often in every mode, whether in one piece or in sixteen. */
static void on_an_idle_machine_lateness_is_the_same_in_every_contention_mode(void **state)
{
    (void)state;
    static const char late[] =
        "--bench raw_store --n-elem 2048 --from 0.0.0 --to 0.3.2 "
        "--set jitter.nodes.pe_dma.distribution=fixed --set jitter.nodes.pe_dma.mean_ns=7 "
        "--set jitter.nodes.pe_tcm.distribution=fixed --set jitter.nodes.pe_tcm.mean_ns=11 "
        "--set jitter.links.ucie.distribution=fixed --set jitter.links.ucie.mean_ns=13 "
        "--set jitter.links.noc.distribution=fixed --set jitter.links.noc.mean_ns=3 "
        "--set jitter.links.pe_noc.distribution=fixed --set jitter.links.pe_noc.mean_ns=5";
    static const char *const modes[] = {"none", "message", "chunk"};
    long long ps[3];
    for (size_t i = 0; i < 3; i++) {
        char args[900];
        snprintf(args, sizeof args, "%s --set fabric.contention=%s", late, modes[i]);
        ps[i] = time_of(args);
    }
    assert_int_equal(ps[1], ps[0]);
    assert_int_equal(ps[2], ps[0]);
    assert_true(ps[0] > time_of("--bench raw_store --n-elem 2048 --from 0.0.0 --to 0.3.2"));
}

static void the_later_the_longer(void **state)
{
    (void)state;
    long long before_ps = time_of("--n-elem 8192 --no-data");
    static const char *const means[] = {"1", "20", "400", "8000"};
    for (size_t i = 0; i < 4; i++) {
        char args[300];
        snprintf(args, sizeof args,
                 "--n-elem 8192 --no-data " NODE("pe_ipcq", "distribution=exponential")
                     NODE("pe_ipcq", "mean_ns=%s"),
                 means[i]);
        const long long ps = time_of(args);
        assert_true(ps > before_ps);
        before_ps = ps;
    }
}

#define N "--set jitter.nodes."
#define L "--set jitter.links."
#define MUCH                                                                                       \
    N "pe_cpu.distribution=uniform " N "pe_cpu.mean_ns=3 " N "pe_cpu.spread_ns=3 " N               \
      "pe_math.distribution=exponential " N "pe_math.mean_ns=50 " N                                \
      "pe_dma.distribution=normal " N "pe_dma.mean_ns=10 " N "pe_dma.spread_ns=10 " L              \
      "ucie.distribution=exponential " L "ucie.mean_ns=40 " L "sip_link.distribution=normal " L    \
      "sip_link.mean_ns=100 " L                                                                    \
      "sip_link.spread_ns=60 " SLOW("links=tcm", "40") "--set jitter.seed=3 "

static void threads_make_no_difference_however_often_they_roll_back(void **state)
{
    (void)state;
    static const char *const how[] = {"conservative --threads 2", "optimistic --threads 2",
                                      "adaptive --threads 8", "stress --threads 3",
                                      "stress --threads 1"};
    static const char *const machines[] = {
        "--preset six_3x2 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2",
        "--preset six_3x2 --set sip.cube_mesh.w=2 --set sip.cube_mesh.h=2 "
        "--set fabric.contention=chunk --set defaults.buffer_kind=hbm --set defaults.n_slots=1"};
    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
            struct run_output output = run_line(0,
                                                "verify %s " MUCH "--n-elem 2500 --verify-data "
                                                "--sync %s",
                                                machines[m], how[i]);
            assert_non_null(strstr(output.out, "\nidentical\n"));
            run_output_free(&output);
        }
}

static void tensors_do_not_depend_on_it(void **state)
{
    (void)state;
    json_t *late = run_json("run --preset tiny --n-elem 5000 --verify-data " MUCH);
    json_t *alone = run_json("run --preset tiny --n-elem 5000 --verify-data");
    const char *hash[2];
    json_t *const roots[2] = {late, alone};
    for (int i = 0; i < 2; i++) {
        json_t *row = json_array_get(json_object_get(roots[i], "results"), 0);
        assert_int_equal(json_integer_value(json_object_get(row, "wrong")), 0);
        hash[i] = json_string_value(json_object_get(row, "data_hash"));
    }
    assert_string_equal(hash[0], hash[1]);
    assert_true(json_ps(late, "time_ns") > json_ps(alone, "time_ns"));
    json_decref(late);
    json_decref(alone);
}

static void a_seed_is_other_draws(void **state)
{
    (void)state;
#define DRAWN                                                                                      \
    PING_PONG NODE("pe_ipcq", "distribution=uniform") NODE("pe_ipcq", "mean_ns=500")               \
        NODE("pe_ipcq", "spread_ns=500") "--set jitter.seed="
    const long long one_ps = time_of(DRAWN "1");
    assert_int_equal(time_of(DRAWN "1"), one_ps);
    assert_int_not_equal(time_of(DRAWN "2"), one_ps);
    /* without a seed it is 1 */
    assert_int_equal(time_of(PING_PONG NODE("pe_ipcq", "distribution=uniform")
                                 NODE("pe_ipcq", "mean_ns=500") NODE("pe_ipcq", "spread_ns=500")),
                     one_ps);
}

/* Of an instance, every iteration is late by the same; of an operation, each by its own. */
static void a_draw_is_for_each_operation_or_for_each_instance(void **state)
{
    (void)state;
#define SENDS PING_PONG NODE("pe_ipcq", "distribution=exponential") NODE("pe_ipcq", "mean_ns=500")
    const long long once_ps = time_of(SENDS NODE("pe_ipcq", "each=instance"));
    assert_int_equal(time_of(SENDS NODE("pe_ipcq", "each=instance") "--iters 5"), once_ps);
    assert_int_not_equal(time_of(SENDS "--iters 5"), time_of(SENDS));
}

static void refused(const char *args, const char *expected)
{
    struct run_output output = run_line(2, "run %s", args);
    if (strstr(output.err, expected) == NULL)
        fail_msg("%s: expected \"%s\", got \"%s\"", args, expected, output.err);
    run_output_free(&output);
}

static void what_makes_no_sense_is_refused_with_its_place(void **state)
{
    (void)state;
    refused(NODE("pe_maths", "mean_ns=1"), "unknown key 'jitter.nodes.pe_maths.mean_ns'; did you "
                                           "mean 'jitter.nodes.pe_math.mean_ns'?");
    refused(NODE("router", "mean_ns=1"), "unknown key 'jitter.nodes.router.mean_ns'");
    refused(NODE("pe_math", "mean_ns=-1") NODE("pe_math", "distribution=fixed"),
            "--set jitter.nodes.pe_math.mean_ns=-1: jitter.nodes.pe_math.mean_ns: expected a "
            "number of ns from 0 to 1000000000 with at most 9 decimal places; found '-1'");
    refused(NODE("pe_math", "distribution=gauss"),
            "expected one of none, fixed, uniform, normal, exponential; found 'gauss'");
    refused(NODE("pe_math", "distribution=normal") NODE("pe_math", "mean_ns=1"),
            "jitter.nodes.pe_math: distribution normal needs spread_ns beside it");
    refused(NODE("pe_math", "distribution=fixed"),
            "jitter.nodes.pe_math: distribution fixed needs mean_ns beside it");
    refused(NODE("pe_math", "mean_ns=3"), "without a distribution it means nothing");
    refused(SLOW_MATH("1") NODE("pe_math", "spread_ns=1"),
            "only the distributions uniform and normal have it");
    refused(SLOW_MATH("1") AT("pe_math", "4.0.0"),
            "jitter.nodes.pe_math.only: \"4.0.0\" is outside the machine of 4 SIPs with 16 cubes "
            "of 8 PEs; each is counted from 0");
    refused(SLOW_MATH("1") AT("pe_math", "0.0.8"), "\"0.0.8\" is outside");
    refused(SLOW_MATH("1") AT("pe_math", "0.5.0.1"),
            "expected a place: sip, sip.cube or sip.cube.pe, as in 0.5.0; or SIPs: "
            "numbers and ranges of them, such as 0-15, or [1, 3, 5-7, 8-31/2]; found '0.5.0.1'");
    refused(SLOW_MATH("1") AT("pe_math", "here"), "expected a place");
    refused(SLOW_MATH("1") AT("pe_math", "99999999999999999999"), "expected a place");
    refused(SLOW_MATH("1") AT("pe_math", "[0,2-4]"),
            "--set jitter.nodes.pe_math.only=[0,2-4]: jitter.nodes.pe_math.only: SIP 4 in a "
            "machine of 4 SIPs; legal: 0 to 3");
    refused(SLOW_MATH("1") AT("pe_math", "[2,0-3/2]"),
            "jitter.nodes.pe_math.only: SIP 2 is there twice; legal is each SIP once");
    refused(SLOW_MATH("1") AT("pe_math", "[0,0.5.0]"),
            "or SIPs: numbers and ranges of them, such as 0-15, or [1, 3, 5-7, 8-31/2]; found "
            "'0.5.0'");
    refused(SLOW_MATH("1") AT("pe_math", "3-1"), "found '3-1'; the lower number comes first");
    refused(LINK("hub", "mean_ns=3") LINK("hub", "distribution=fixed") LINK("hub", "only=0.5"),
            "jitter.links.hub.only: expected a SIP: there are none for each cube; found \"0.5\"");
    refused(LINK("ucie", "mean_ns=3") LINK("ucie", "distribution=fixed") LINK("ucie", "only=0.5.1"),
            "expected a SIP or a cube: there are none for each PE");
    refused(LINK("ucie", "distribution=exponential")
                LINK("ucie", "mean_ns=3") "--set fabric.contention=none",
            "jitter.links.ucie.distribution: with fabric.contention none a draw for each operation "
            "would let tiles overtake each other");
    struct run_output output = run_line(
        0,
        "run --bytes 16KiB --set fabric.contention=none " LINK("ucie", "distribution=exponential")
            LINK("ucie", "mean_ns=3") LINK("ucie", "each=instance"));
    run_output_free(&output);
}

/* Of 16 SIPs in a torus one has links of half the speed. Its four links carry 3,932,160 bytes each,
 * 15/16 of 8 MiB twice over four links, at 50 GB/s: 78,643.2 ns. The others take half of that. */
static void a_slow_link_is_named(void **state)
{
    (void)state;
    struct run_output output =
        run_line(0, "run --algorithm torus_rs_ag --set algorithms.torus_rs_ag.mapper=all_pes --set "
                    "system.sips.count=16 --bytes-per-rank 8MiB --no-data --explain " SLOW_AT(
                        "links=sip_link", "2x", "5"));
    double us, busy, share;
    const char *row = output.out;
    while (*row == '#')
        row = strchr(row, '\n') + 1;
    assert_int_equal(sscanf(row, "%*s %*s %*s %*s %lf", &us), 1);
    for (const char *port = "NSEW"; *port != '\0'; port++) {
        char name[40];
        snprintf(name, sizeof name, "# sip 5 io_die sip_link %c ", *port);
        const char *const link = strstr(output.out, name);
        assert_non_null(link);
        assert_int_equal(sscanf(link + strlen(name), "%*s %lf", &busy), 1);
        assert_float_equal(busy * us / 100, 78.6432, 0.01);
    }
    assert_null(strstr(output.out, "jitter and waits"));
    const char *const limit = strstr(output.out, "# limited by the bandwidth of sip_link, ");
    assert_non_null(limit);
    assert_int_equal(sscanf(limit, "# limited by the bandwidth of sip_link, %lf", &share), 1);
    assert_true(share > 90);
    assert_non_null(strstr(limit, "(2.0 × slower in SIP 5; with half the slowness: "));
    run_output_free(&output);
}

static double ns_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static double part_ns(const json_t *path, const char *name)
{
    double ns = 0;
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(path, "parts"), i, part)
    {
        if (strcmp(json_string_value(json_object_get(part, "part")), name) == 0)
            ns += ns_of(part, "time_ns");
    }
    return ns;
}

/* A run with a slow part, its first or second limit, and the time with half of its slowness. */
static void check_slow(const char *args, const char *name, const char *slow, const char *settings)
{
    json_t *root = run_json("run --quiet --no-data --explain %s", args);
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    const json_t *const path = json_object_get(json_object_get(row, "explain"), "path");
    const json_t *limit = json_array_get(json_object_get(path, "limits"), 0);
    if (json_is_null(json_object_get(limit, "slow")))
        limit = json_array_get(json_object_get(path, "limits"), 1);
    const double ns = ns_of(row, "time_ns"), foretold = ns_of(limit, "twice_as_fast_ns");
    assert_string_equal(json_string_value(json_object_get(limit, "limit")), name);
    assert_string_equal(json_string_value(json_object_get(limit, "slow")), slow);
    assert_string_equal(json_string_value(json_object_get(limit, "twice_as_fast_set")), settings);
    assert_true(part_ns(path, "jitter and waits") == 0);
    char set[1024] = "", *rest = strdup(settings);
    for (char *one = strtok(rest, " "); one != NULL; one = strtok(NULL, " "))
        snprintf(set + strlen(set), sizeof set - strlen(set), "--set %s ", one);
    free(rest);
    json_t *faster = run_json("run --quiet --no-data %s %s", args, set);
    const double saved =
        ns - ns_of(json_array_get(json_object_get(faster, "results"), 0), "time_ns");
    assert_true(saved > 0);
    assert_float_equal(ns - foretold, saved, 0.05 * saved);
    json_decref(faster);
    json_decref(root);
}

/* In a ring of 4 SIPs each adds 65,536 bytes 3 times: 98,304 elements of f16 at 64 per ns, in 48
 * tiles of 4,096 bytes, for each of which PE_MATH takes 4 ns: 1,728 ns, and 20 times that where it
 * is slow. */
static void a_slow_block_is_named(void **state)
{
    (void)state;
    json_t *root = run_json(
        "run --quiet --no-data --explain --algorithm ring_allreduce --bytes 64KiB " SLOW_AT(
            "nodes=pe_math", "20x", "1"));
    const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
    const json_t *const explain = json_object_get(row, "explain");
    const json_t *const math = json_object_get(json_object_get(explain, "blocks"), "pe_math");
    const double ns = ns_of(row, "time_ns");
    assert_float_equal(part_ns(json_object_get(explain, "path"), "pe_math"), 34560, 0.001);
    assert_float_equal(ns_of(math, "busy_share_max") * ns, 34560, 0.001);
    assert_float_equal(ns_of(math, "busy_share") * ns, (34560 + 3 * 1728) / 4.0, 0.001);
    assert_non_null(strstr(json_string_value(json_object_get(explain, "sentence")),
                           "limited by pe_math (overhead and work), 74.9 % of the time (20.0 × "
                           "slower in SIP 1; with half the slowness: "));
    json_decref(root);
}

/* The overheads of calls, too: a mean of 4 PEs of which one takes 11 times as long. */
static void slow_overheads_are_the_block_s(void **state)
{
    (void)state;
    static const char ring[] = "--algorithm ring_allreduce --bytes 64KiB";
    static const char *const block[] = {"pe_cpu", "pe_ipcq", "pe_scheduler"};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++) {
        double busy[2], calls[2];
        for (int slow = 0; slow < 2; slow++) {
            json_t *root =
                run_json("run --quiet --no-data --explain %s --set "
                         "faults.slow.nodes=%s --set faults.slow.slower=%d --set faults.slow.at=1",
                         ring, block[i], slow * 1000);
            const json_t *const row = json_array_get(json_object_get(root, "results"), 0);
            const json_t *const explain = json_object_get(row, "explain");
            const json_t *const use = json_object_get(json_object_get(explain, "blocks"), block[i]);
            busy[slow] = ns_of(use, "busy_share") * ns_of(explain, "time_ns");
            calls[slow] =
                ns_of(json_object_get(json_object_get(explain, "mean"), "shares_ns"), "calls");
            assert_true(part_ns(json_object_get(explain, "path"), "jitter and waits") == 0);
            json_decref(root);
        }
        assert_float_equal(busy[1], busy[0] * (3 + 11) / 4, 0.001);
        assert_float_equal(calls[1] - calls[0], busy[0] * 10 / 4, 0.001);
    }
}

/* Whatever is slow at one place is one limit, and half of its slowness saves what the path says. */
static void what_is_slow_at_one_place_is_one_limit(void **state)
{
    (void)state;
    check_slow("--algorithm tree_allreduce --bytes 16KiB " SLOW_AT("links=hbm", "1900", "1"),
               "the bandwidth of hbm", "20.0 × slower in SIP 1", "faults.slow.slower=950");
    check_slow("--bench gemm " SLOW_AT("nodes=pe_gemm", "905", "1.0.0"),
               "pe_gemm (overhead and work)", "10.05 × slower in PE 1.0.0",
               "faults.slow.slower=452");
    check_slow("--algorithm tree_allreduce --bytes 64KiB " SLOW_AT(
                   "nodes=pe_dma", "9000", "1.0") "--set fabric.contention=chunk ",
               "pe_dma (overhead and work)", "91.0 × slower in cube 1.0",
               "faults.slow.slower=4500");
    check_slow(
        "--algorithm tree_allreduce --bytes 16KiB --set faults.slow.links=[ucie,sip_link] " SLOW_AT(
            "nodes=[pe_math,pe_cpu]", "39x", "1"),
        "slow parts of SIP 1", "ucie 39.0 ×, sip_link 39.0 ×, pe_math 39.0 × and 1 more",
        "faults.slow.slower=1900");
    /* with half of the slowness the kernels of another SIP are the last */
    check_slow("--preset torus_4x4x4 --bytes 16KiB " SLOW_AT("links=noc", "900", "3"),
               "the bandwidth of noc", "10.0 × slower in SIP 3", "faults.slow.slower=450");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_link_is_named),
        cmocka_unit_test(a_slow_block_is_named),
        cmocka_unit_test(slow_overheads_are_the_block_s),
        cmocka_unit_test(what_is_slow_at_one_place_is_one_limit),
        cmocka_unit_test(jitter_of_nothing_changes_nothing),
        cmocka_unit_test(one_slow_pe_costs_as_often_as_it_adds),
        cmocka_unit_test(each_block_and_link_on_the_way_is_late_once_for_each_use),
        cmocka_unit_test(on_an_idle_machine_lateness_is_the_same_in_every_contention_mode),
        cmocka_unit_test(the_later_the_longer),
        cmocka_unit_test(threads_make_no_difference_however_often_they_roll_back),
        cmocka_unit_test(tensors_do_not_depend_on_it),
        cmocka_unit_test(a_seed_is_other_draws),
        cmocka_unit_test(a_draw_is_for_each_operation_or_for_each_instance),
        cmocka_unit_test(what_makes_no_sense_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
