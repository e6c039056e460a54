/*
 * test_report.c: a result as table, JSON and CSV: exact times, nulls, order of keys; what its data
 * and times are judged as.
 */
#include "test/support/report_text.h"
#include "test/support/test_config_support.h"

#include <jansson.h>
#include <math.h>

#include "bench/output/atomic_file.h"
#include "bench/output/report_csv.h"

/* A double has three decimals of a ns below 2^43 ns: 2.4 hours. */
#define PS_EXACT_IN_DOUBLE INT64_C(8796093022207999)

static struct result_phase sample_phases[] = {{"row reduce", 100001, 400123, 200061.4},
                                              {"between SIPs", 0, 7, 3.75}};

/* Time that is neither the engine's nor the workers' is serial. */
static const struct process_phases sample_process = {
    .list = {{.name = "wiring",
              .wall_s = 0.5,
              .times = {.run_s = 0.25, .host_s = 0.125, .work_s = 0.25, .host_calls = 3}}},
    .count = 1};

/* Two rows: verified with a hash, and not; their memory is the test's. */
static struct result sample(struct result_row rows[2])
{
    rows[0] = (struct result_row){.collective = "all_reduce",
                                  .algorithm = "lrab_hierarchical_allreduce",
                                  .bytes = 32,
                                  .count = 16,
                                  .shards = 16,
                                  .together = true,
                                  .counted_bytes = 32,
                                  .dtype = "f16",
                                  .redop = "sum",
                                  .ranks = 4,
                                  .bus_factor = 1.5,
                                  .time_ps = 1403107,
                                  .host_time_ps = 2169549,
                                  .start_skew_ps = 333270,
                                  .bound_ps = 700000,
                                  .bound_by = "sip_link",
                                  .wrong = 0,
                                  .proof = PROOF_ORDER,
                                  .has_hash = true,
                                  .data_hash = 0x0dcdf015ff6e7fd8,
                                  .phases = sample_phases,
                                  .phase_count = 2,
                                  .links = {{.name = "sip0.cube1 ucie E -> sip0.cube2",
                                             .bytes = 4096,
                                             .busy_ps = 701553,
                                             .queue_ps_max = 250}},
                                  .link_count = 1,
                                  .done = true,
                                  .credit_longest = {{0, 10, 0}, 320500},
                                  .credit_last = {{3, 10, 0}, 160000}};
    rows[1] = (struct result_row){.bytes = 1024,
                                  .counted_bytes = 1024,
                                  .count = 512,
                                  .dtype = "f32",
                                  .ranks = 1,
                                  .time_ps = 57406,
                                  .wrong = -1,
                                  .ranks_differ = -1,
                                  .not_finite = -1};
    struct result result = {
        .bench = "ccl_allreduce",
        .algorithm = "lrab_hierarchical_allreduce",
        .config_digest = "0123456789abcdef",
        .seed = 1,
        .input = "uniform",
        .sips = 4,
        .cubes = 64,
        .pes = 512,
        .queue_pairs = 4864,
        .lps = 69,
        .rows = rows,
        .row_count = 2,
        .costs = {{"defaults.recv_blocks_on_credit", "true", "false", 0.228, 0}},
        .cost_count = 1,
        .sim_time_ps = 7693349,
        .init_time_ps = 5523800};
    result.engine = (struct result_engine){
        .sync = "sequential",
        .partition = "block",
        .threads = 1,
        .stats = {.events_committed = 1000, .events_processed = 1250, .trace_hash = 0xbeef},
        .peak_rss_bytes = 5 << 20,
        .setup_s = 0.25,
        .run_s = 0.5,
        .events_per_s = 2000,
        .ipcq_messages = 300,
        .phases = &sample_process};
    return result;
}

static void wrong_values_are_not_called_verified(void **state)
{
    (void)state;
    struct result_row rows[2];
    const struct result result = sample(rows);
    rows[0].wrong = 7;
    char *const text = written_by(report_table, &result);
    assert_null(strstr(text, "# Verified"));
    assert_non_null(strstr(text, "# Wrong values      : 7\n"
                                 "# NOT verified      : 7 are wrong, compared bit for bit, in "));
    free(text);
}

static void the_table_has_nccl_tests_columns_behind_hashes(void **state)
{
    (void)state;
    struct result_row rows[2];
    const struct result result = sample(rows);
    char *const text = written_by(report_table, &result);
    assert_string_equal(
        text,
        "# cubewarp " CW_VERSION ": ccl_allreduce lrab_hierarchical_allreduce, 4 SIPs, 64 cubes, "
        "512 PEs, configuration 0123456789abcdef\n"
        "# times are simulated; setting up the queues took 5.523800 us\n"
        "# sizes are bytes per shard; 16 shards per rank: bytes per rank are 16 times the size\n"
        "#        size(B) count(elements)   type  redop        time(us)  algbw(GB/s)  busbw(GB/s)  "
        "     bound(us)  eff(%)   #wrong\n"
        "              32              16    f16    sum        1.403107        0.023        0.034  "
        "      0.700000   49.89        0\n"
        "            1024             512    f32      -        0.057406       17.838        0.000  "
        "             -       -      N/A\n"
        "# Wrong values      : 0 OK\n"
        "# Verified          : bit for bit, in the order of additions that the algorithm declares\n"
        "# Costs much        : defaults.recv_blocks_on_credit: true, 23 % of the time at 32 "
        "bytes (--set defaults.recv_blocks_on_credit=false)\n"
        "# Avg bus bandwidth : 0.017\n"
        "# Bound by          : sip_link (32 bytes)\n"
        "#\n"
        "# ---- 32 B\n"
        "#\n"
        "# phase                                    min(us)        mean(us)         max(us)\n"
        "# row reduce                              0.100001        0.200061        0.400123\n"
        "# between SIPs                            0.000000        0.000004        0.000007\n"
        "#\n"
        "# waits for credits                             PE        time(us)         time(%)\n"
        "# longest                                   0.10.0        0.320500           22.84\n"
        "# ended last                                3.10.0        0.160000           11.40\n"
        "#\n"
        "# busiest links                                      bytes  busy(%) longest queue(us)\n"
        "# sip0.cube1 ucie E -> sip0.cube2                     4096    50.00          0.000250\n"
        "#\n"
        "# engine: seed 1, sequential, threads 1, events 1000, events/s 2000, IPCQ messages/s 600, "
        "efficiency 80.0 %, "
        "wall time 0.750 s, memory 5.0 MiB, result hash none, trace hash 000000000000beef\n");
    free(text);
}

/* 1,024 * 1,000 / 3, rounded. */
static void a_folded_run_says_what_was_simulated(void **state)
{
    (void)state;
    struct result_row rows[2];
    struct result result = sample(rows);
    const struct result_shortcuts taken = {
        .sips = {1024, 1}, .iterations = {1000, 3}, .fold = "comparison"};
    rows[0].shortcuts = rows[1].shortcuts = taken;
    result.engine.folded = true;
    result.engine.fold_hash = 0xf01d;
    char *text = written_by(report_table, &result);
    assert_non_null(strstr(text, "\n# simulated: 1 of 1,024 SIPs (by comparison), 3 of 1,000 "
                                 "iterations, factor 341,333\n"));
    assert_non_null(strstr(text, ", fold hash 000000000000f01d\n"));
    assert_null(strstr(text, "trace hash"));
    assert_null(strstr(text, "events/s"));
    free(text);
    text = written_by(write_json, &result);
    json_t *const object = json_loads(text, 0, NULL);
    const json_t *const engine = json_object_get(object, "engine");
    assert_true(json_is_null(json_object_get(engine, "trace_hash")));
    assert_true(json_is_null(json_object_get(engine, "committed_events_per_s")));
    assert_string_equal(json_string_value(json_object_get(engine, "fold_hash")),
                        "000000000000f01d");
    const json_t *const shortcuts =
        json_object_get(json_array_get(json_object_get(object, "results"), 0), "shortcuts");
    assert_string_equal(json_string_value(json_object_get(shortcuts, "fold")), "comparison");
    assert_int_equal(json_integer_value(json_object_get(shortcuts, "sips_simulated")), 1);
    assert_int_equal(json_integer_value(json_object_get(shortcuts, "iterations_simulated")), 3);
    assert_true(json_is_null(json_object_get(shortcuts, "operations_simulated")));
    json_decref(object);
    free(text);
    rows[1].shortcuts = (struct result_shortcuts){.why = "rank 7 differs"};
    text = written_by(report_table, &result);
    assert_non_null(strstr(text, "\n# simulated: of 32 B: 1 of 1,024 SIPs (by comparison), 3 of "
                                 "1,000 iterations, factor 341,333\n"
                                 "# simulated: of 1024 B: everything\n"));
    free(text);
}

/* As on several threads: the cut stands in a line of its own, and in members of `engine` after the
 * members that are always there. */
static struct result cut_sample(struct result_row rows[2])
{
    struct result result = sample(rows);
    result.engine.partition = "metis";
    result.engine.threads = 3;
    result.engine.has_cut = true;
    result.engine.stats.threads_pinned = 3;
    result.engine.cut = (struct lp_cut){.lps_min = 21, .lps_max = 26, .lookahead_ps = 4020};
    result.engine.cut.link[HW_LINK_UCIE] = (struct lp_cut_links){20, 160, "ucie"};
    result.engine.cut.link[HW_LINK_SIP_LINK] = (struct lp_cut_links){6, 8, "sip_link"};
    return result;
}

static void a_bound_without_metis_says_so(void **state)
{
    (void)state;
    struct result_row rows[2];
    struct result result = sample(rows);
    rows[0].bound_without_metis = true;
    char *text = written_by(report_table, &result);
    assert_non_null(strstr(text,
                           "\n# Bound by          : sip_link, without the cuts that METIS would "
                           "find (32 bytes)\n"));
    free(text);
}

static void several_threads_get_a_line_on_what_was_cut(void **state)
{
    (void)state;
    struct result_row rows[2];
    struct result result = cut_sample(rows);
    char *text = written_by(report_table, &result);
    assert_non_null(strstr(text,
                           "\n# partition: metis, LPs per thread 21..26, links cut: 20 of 160 "
                           "ucie, 6 of 8 sip_link; lookahead 4.020 ns; pinned\n"));
    free(text);
    result.engine.cut = (struct lp_cut){.lps_max = 18, .idle = 2, .lookahead_ps = CW_TIME_MAX};
    result.engine.cut.link[HW_LINK_UCIE] = (struct lp_cut_links){0, 40, "ucie"};
    result.engine.stats.threads_pinned = 0;
    text = written_by(report_table, &result);
    assert_non_null(strstr(text, "\n# partition: metis, LPs per thread 0..18, links cut: 0 of 40 "
                                 "ucie; nothing goes from one thread to another; 2 of 3 threads "
                                 "idle; not pinned\n"));
    free(text);
}

static void json_says_what_was_cut_on_several_threads(void **state)
{
    (void)state;
    struct result_row rows[2];
    struct result result = cut_sample(rows);
    char *text = written_by(write_json, &result);
    json_t *object = json_loads(text, 0, NULL);
    const json_t *engine = json_object_get(object, "engine");
    assert_int_equal(json_integer_value(json_object_get(engine, "lps_per_thread_min")), 21);
    assert_int_equal(json_integer_value(json_object_get(engine, "lps_per_thread_max")), 26);
    assert_int_equal(json_integer_value(json_object_get(engine, "idle_threads")), 0);
    assert_int_equal(json_integer_value(json_object_get(engine, "links")), 168);
    assert_int_equal(json_integer_value(json_object_get(engine, "cut_links")), 26);
    assert_true(json_real_value(json_object_get(engine, "lookahead_ns")) == 4.02);
    assert_true(json_is_true(json_object_get(engine, "pinned")));
    json_decref(object);
    free(text);
    result.engine.cut.lookahead_ps = CW_TIME_MAX;
    text = written_by(write_json, &result);
    object = json_loads(text, 0, NULL);
    engine = json_object_get(object, "engine");
    assert_non_null(json_object_get(engine, "cut_links"));
    assert_null(json_object_get(engine, "lookahead_ns"));
    json_decref(object);
    free(text);
}

static void csv_has_no_padding_and_empty_fields_for_what_is_not_known(void **state)
{
    (void)state;
    struct result_row rows[2];
    const struct result result = sample(rows);
    rows[0].ranks_differ = 4;
    rows[0].shortcuts =
        (struct result_shortcuts){.sips = {4, 1}, .iterations = {1000, 3}, .fold = "comparison"};
    char *const text = written_by(report_csv, &result);
    assert_string_equal(
        text, "bench,collective,algorithm,config_digest,sips,cubes,pes,seed,"
              "dtype,redop,bytes,count,time_ns,host_time_ns,start_skew_ns,algbw_gbs,busbw_gbs,"
              "bound_ns,wrong,data_hash,input,proof,shards_per_rank,"
              "bytes_per_rank,credit_wait_ns,last_pe,last_pe_credit_wait_ns,not_run,"
              "ranks_differ,not_finite,fold,sips_simulated,iterations_simulated,"
              "operations_simulated\n"
              "ccl_allreduce,all_reduce,lrab_hierarchical_allreduce,0123456789abcdef,4,64,512,"
              "1,f16,sum,32,16,1403.107,2169.549,333.270,0.0228065286539088,"
              "0.0342097929808632,700.000,0,0dcdf015ff6e7fd8,uniform,order,16,512,320.500,3.10.0,"
              "160.000,,4,0,comparison,1,3,\n"
              "ccl_allreduce,,,0123456789abcdef,4,64,512,1,f32,,1024,512,57.406,"
              "0.000,0.000,17.8378566700345,0,0.000,,,uniform,,,,0.000,,0.000,,,,,,,\n");
    free(text);
}

static void csv_quotes_the_name_of_a_schedule_with_a_comma(void **state)
{
    (void)state;
    struct result_row rows[2];
    const struct result result = sample(rows);
    snprintf(rows[0].algorithm, sizeof rows[0].algorithm, "ring_rs_ag, 4 rings");
    char *const text = written_by(report_csv, &result);
    assert_non_null(strstr(text, "\nccl_allreduce,all_reduce,\"ring_rs_ag, 4 rings\",0123"));
    free(text);
}

static void expect_keys(const json_t *object, const char *const *keys, size_t count)
{
    size_t i = 0;
    const char *key;
    json_t *value;
    assert_int_equal(json_object_size(object), count);
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        assert_string_equal(key, keys[i]);
        i++;
    }
}

static void json_has_the_schema_s_keys_in_order(void **state)
{
    (void)state;
    static const char *const top[] = {"schema",       "version",       "command", "bench",
                                      "algorithm",    "config_digest", "seed",    "input",
                                      "topology",     "engine",        "results", "sim_time_ns",
                                      "init_time_ns", "credit_wait_ns"};
    static const char *const topology[] = {
        "sips", "cubes", "pes", "links", "switches", "ipcq_queue_pairs", "lps"};
    static const char *const engine[] = {"sync",
                                         "threads",
                                         "partition",
                                         "events_committed",
                                         "events_processed",
                                         "rollbacks",
                                         "rolled_back_events",
                                         "rollbacks_injected",
                                         "anti_messages",
                                         "efficiency",
                                         "gvt_rounds",
                                         "moves",
                                         "parts_moved",
                                         "move_s",
                                         "undo_bytes",
                                         "safe_events",
                                         "gathered_events",
                                         "peak_events",
                                         "peak_rss_bytes",
                                         "setup_s",
                                         "run_s",
                                         "host_s",
                                         "process",
                                         "committed_events_per_s",
                                         "ipcq_messages",
                                         "trace_hash",
                                         "rollbacks_primary",
                                         "rollbacks_secondary",
                                         "rollback_events_mean",
                                         "rollback_events_max",
                                         "messages_sent",
                                         "turns",
                                         "turns_idle",
                                         "promises_raised",
                                         "window_first",
                                         "window_last",
                                         "window_mean",
                                         "gvt_round_mean_us",
                                         "time_share",
                                         "workers"};
    static const char *const row[] = {"collective",     "algorithm",
                                      "choice",         "bytes",
                                      "count",          "shards_per_rank",
                                      "bytes_per_rank", "dtype",
                                      "redop",          "time_ns",
                                      "host_time_ns",   "start_skew_ns",
                                      "algbw_gbs",      "busbw_gbs",
                                      "bound_ns",       "moved_per_rank",
                                      "bound_by",       "wrong",
                                      "proof",          "ranks_differ",
                                      "not_finite",     "data_hash",
                                      "credit_wait_ns", "credit_wait_pe",
                                      "last_pe",        "last_pe_credit_wait_ns",
                                      "not_run",        "phases",
                                      "link_kinds",     "shortcuts"};
    struct result_row rows[2];
    const struct result result = sample(rows);
    char *const text = written_by(write_json, &result);
    json_t *const object = json_loads(text, 0, NULL);
    assert_non_null(object);
    expect_keys(object, top, COUNT_OF(top));
    expect_keys(json_object_get(object, "topology"), topology, COUNT_OF(topology));
    expect_keys(json_object_get(object, "engine"), engine, COUNT_OF(engine));
    const json_t *const process = json_object_get(json_object_get(object, "engine"), "process");
    assert_int_equal(json_array_size(process), 1);
    const json_t *const wiring = json_array_get(process, 0);
    assert_string_equal(json_string_value(json_object_get(wiring, "phase")), "wiring");
    assert_true(json_number_value(json_object_get(wiring, "serial_s")) == 0.125);
    const json_t *const results = json_object_get(object, "results");
    assert_int_equal(json_array_size(results), 2);
    const json_t *const first = json_array_get(results, 0);
    const json_t *const second = json_array_get(results, 1);
    expect_keys(first, row, COUNT_OF(row));
    assert_string_equal(json_string_value(json_object_get(first, "data_hash")), "0dcdf015ff6e7fd8");
    assert_int_equal(json_integer_value(json_object_get(first, "wrong")), 0);
    assert_true(json_is_null(json_object_get(second, "wrong")));
    assert_true(json_is_null(json_object_get(second, "data_hash")));
    assert_true(json_is_null(json_object_get(second, "redop")));
    assert_int_equal(json_array_size(json_object_get(second, "phases")), 0);
    assert_non_null(strstr(text, "\"time_ns\": 1403.107,"));
    assert_non_null(strstr(text, "\"start_skew_ns\": 333.27,"));
    assert_non_null(strstr(text, "\"mean_ns\": 200.061,"));
    assert_non_null(strstr(text, "\"init_time_ns\": 5523.8,\n"));
    assert_non_null(strstr(text, "\"efficiency\": 0.8,"));
    assert_null(strstr(text, "000001,"));
    json_decref(object);
    free(text);
}

/* A file of source code may have any name. */
static void a_failure_is_json_whatever_its_texts_hold(void **state)
{
    (void)state;
    struct result_row rows[2];
    struct result result = sample(rows);
    struct result_waiting waiting = {.pe = "0.1.0", .state = "waits (at \xfc.c:3)"};
    result.failure = "it failed at \xfc.c";
    result.waiting = &waiting;
    result.waiting_count = 1;
    result.pointers = "one \xfc\ntwo";
    char *const text = written_by(write_json, &result);
    json_t *const object = json_loads(text, 0, NULL);
    const json_t *const error = json_object_get(object, "error");
    const json_t *const first = json_array_get(json_object_get(error, "waiting"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "state")), "waits (at ?.c:3)");
    const json_t *const pointers = json_object_get(error, "pointers");
    assert_int_equal(json_array_size(pointers), 2);
    assert_string_equal(json_string_value(json_array_get(pointers, 0)), "one ?");
    json_decref(object);
    free(text);
}

/* The time as JSON prints it, read back and rounded to three decimals, is the time. */
static void expect_exact(int64_t ps)
{
    struct result_row rows[2];
    struct result result = sample(rows);
    result.row_count = 1;
    rows[0].phase_count = 0;
    rows[0].time_ps = ps;
    result.sim_time_ps = ps;
    char *const text = written_by(write_json, &result);
    const size_t place = (size_t)(strstr(text, "\"time_ns\": ") - text) + strlen("\"time_ns\": ");
    char at[64];
    snprintf(at, sizeof at, "%.60s", text + place);
    char exact[REPORT_NUMBER_BYTES];
    char rounded[64];
    report_ns(ps, exact);
    snprintf(rounded, sizeof rounded, "%.3f", strtod(at, NULL));
    assert_string_equal(rounded, exact);
    if (ps < INT64_C(1000000000000000)) { /* and it is printed without noise */
        size_t digits = strlen(exact);
        while (exact[digits - 1] == '0' && exact[digits - 2] != '.')
            digits--;
        assert_memory_equal(at, exact, digits);
        assert_int_equal(at[digits], ',');
    }
    free(text);
}

static void every_ps_survives_json(void **state)
{
    (void)state;
    static const int64_t values[] = {0,
                                     1,
                                     10,
                                     999,
                                     1000,
                                     1001,
                                     57406,
                                     1403107,
                                     9700001,
                                     5523800,
                                     INT64_C(999999999999999),
                                     INT64_C(1000000000000001),
                                     PS_EXACT_IN_DOUBLE};
    for (size_t i = 0; i < COUNT_OF(values); i++)
        expect_exact(values[i]);
    uint64_t random = 1;
    for (int i = 0; i < 2000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        expect_exact((int64_t)(random >> (11 + i % 50)) % (PS_EXACT_IN_DOUBLE + 1));
    }
}

static void json_that_a_disk_has_no_room_for_is_an_error(void **state)
{
    (void)state;
    struct atomic_file file;
    struct cw_error error;
    struct result_row rows[2];
    const struct result result = sample(rows);
    assert_int_equal(atomic_file_open(&file, "/dev/full", &error), CW_OK);
    assert_int_equal(report_json(file.stream, &result, &error), CW_OK);
    assert_int_equal(atomic_file_commit(&file, &error), CW_NO_RESOURCE);
    assert_string_equal(error.text, "cannot write /dev/full: No space left on device");
}

static void means_round_half_up_and_do_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(result_mean_ps(7, 2), 4);
    assert_int_equal(result_mean_ps(7, 3), 2);
    assert_int_equal(result_mean_ps(8, 3), 3);
    assert_int_equal(result_mean_ps(0, 5), 0);
    assert_int_equal(result_mean_ps(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(result_mean_ps(INT64_MAX, 2), (INT64_MAX - 1) / 2 + 1);
    assert_int_equal(result_mean_ps(INT64_MAX, UINT32_MAX), INT64_C(2147483648));
}

static void wrong_data_and_times_below_the_bound_are_judged(void **state)
{
    (void)state;
    struct result_row rows[2];
    struct cw_error error = {.exit_code = CW_OK};
    const struct result result = sample(rows);
    assert_int_equal(result_judge(&result, true, false, &error), CW_OK);
    rows[0].wrong = 3;
    rows[1].wrong = 4;
    assert_int_equal(result_judge(&result, true, false, &error), CW_DATA_WRONG);
    assert_int_equal(error.exit_code, CW_DATA_WRONG);
    assert_string_equal(error.text, "7 elements have other bits than the specified order of "
                                    "operations gives");
    rows[0].bound_ps = rows[0].time_ps + 1;
    assert_int_equal(result_judge(&result, true, false, &error), CW_BUG);
    assert_string_equal(error.text, "all_reduce of 32 bytes took 1403.107 ns, which is below its "
                                    "lower bound of 1403.108 ns");
    assert_int_equal(result_judge(&result, true, true, &error), CW_PROGRAM_FAILED);
    assert_int_equal(error.exit_code, CW_PROGRAM_FAILED);
    assert_non_null(strstr(error.text, "1403.108 ns: the algorithm, from a shared object, does "
                                       "less than its collective needs"));
    assert_int_equal(result_judge(&result, false, false, &error), CW_DATA_WRONG);
}

static void one_of_a_kind_is_singular(void **state)
{
    (void)state;
    struct result_row rows[2];
    struct result result = sample(rows);
    result.sips = result.cubes = result.pes = 1;
    char *const text = written_by(report_table, &result);
    assert_non_null(strstr(text, ", 1 SIP, 1 cube, 1 PE, configuration"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_are_not_called_verified),
        cmocka_unit_test(the_table_has_nccl_tests_columns_behind_hashes),
        cmocka_unit_test(a_bound_without_metis_says_so),
        cmocka_unit_test(several_threads_get_a_line_on_what_was_cut),
        cmocka_unit_test(json_says_what_was_cut_on_several_threads),
        cmocka_unit_test(a_folded_run_says_what_was_simulated),
        cmocka_unit_test(csv_has_no_padding_and_empty_fields_for_what_is_not_known),
        cmocka_unit_test(csv_quotes_the_name_of_a_schedule_with_a_comma),
        cmocka_unit_test(json_has_the_schema_s_keys_in_order),
        cmocka_unit_test(a_failure_is_json_whatever_its_texts_hold),
        cmocka_unit_test(every_ps_survives_json),
        cmocka_unit_test(json_that_a_disk_has_no_room_for_is_an_error),
        cmocka_unit_test(means_round_half_up_and_do_not_overflow),
        cmocka_unit_test(wrong_data_and_times_below_the_bound_are_judged),
        cmocka_unit_test(one_of_a_kind_is_singular),
    };
    return cmocka_run_group_tests_name("report", tests, scratch_enter, scratch_leave);
}
