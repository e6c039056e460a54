/*
 * test_measured.c: tables of measured times (bench/COMMANDS.md, "Measured times"): every format
 * that the tools have written, as terminals, launchers and people pass it on, the lines between the
 * rows, and faults with their places.
 */
#include "test/support/report_text.h"
#include "test/support/test_config_support.h"

#include <jansson.h>

#include "bench/output/report_csv.h"
#include "bench/measured/measured.h"
#include "core/cw.h"

#define NCCL_HEAD                                                                                  \
    "#                                     out-of-place                in-place\n"                 \
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"    \
    "#   (B)  (elements)               (us)  (GB/s)  (GB/s)        (us)  (GB/s)  (GB/s)\n"
#define HCCL_HEAD "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:\n"

/* What a file gives: the times of sizes 1024, 2048 and 4096, in ns (0: none), and what is said. */
struct times {
    double ns[3];
    char format[40], place[60];
    size_t rows, rows_read, rows_wrong;
    uint32_t ranks;
    char notes[800]; /* "FILE:LINE: ...", a line each */
};

/* Reads a file for a run of f16 and sums. */
static int read_wish(const char *path, enum measured_place place, enum ccl_collective does,
                     struct measured **measured, struct cw_error *error)
{
    const struct measured_wish wish = {place, "the bench", does, "f16", "sum"};
    return measured_read(path, &wish, measured, error);
}

static struct times read_bytes(const char *bytes, size_t count, enum measured_place place,
                               enum ccl_collective does, uint32_t ranks)
{
    struct measured *measured = NULL;
    struct cw_error error = {.exit_code = CW_OK};
    struct result_row rows[3] = {{.counted_bytes = 1024, .ranks = ranks},
                                 {.bytes = 512, .shards = 4, .counted_bytes = 2048, .ranks = ranks},
                                 {.counted_bytes = 4096, .ranks = ranks}};
    struct result result = {.rows = rows, .row_count = 3};
    struct times times = {.rows = 0};
    write_bytes("measured", bytes, count);
    if (read_wish("measured", place, does, &measured, &error) != CW_OK)
        fail_msg("%s", error.text);
    measured_attach(measured, &result);
    FILE *const notes = fmemopen(times.notes, sizeof times.notes - 1, "w");
    assert_non_null(notes);
    measured_say(measured, notes);
    assert_int_equal(fclose(notes), 0);
    snprintf(times.format, sizeof times.format, "%s", result.measured.format);
    snprintf(times.place, sizeof times.place, "%s", result.measured.place);
    times.rows = result.measured.rows;
    times.rows_read = result.measured.rows_read;
    times.rows_wrong = result.measured.rows_wrong;
    times.ranks = result.measured.ranks;
    measured_free(measured);
    for (int i = 0; i < 3; i++)
        times.ns[i] = (double)rows[i].measured_ps / 1000;
    return times;
}

static struct times read_as(const char *text, enum measured_place place)
{
    return read_bytes(text, strlen(text), place, CCL_ALL_REDUCE, 0);
}

static struct times times_of(const char *text, enum measured_place place, const char *format,
                             const char *said)
{
    const struct times times = read_as(text, place);
    assert_string_equal(times.format, format);
    assert_string_equal(times.place, said);
    return times;
}

/* The times in place, of so many rows of all, with or without notes. */
static void expect_rows(const char *text, double first, double second, double third, size_t read,
                        size_t rows, const char *note)
{
    const struct times times = read_as(text, MEASURED_IN_PLACE);
    const double expected[] = {first, second, third};
    for (int i = 0; i < 3; i++)
        if (times.ns[i] != expected[i])
            fail_msg("time %d is %g, not %g, of\n%s%s", i, times.ns[i], expected[i], text,
                     times.notes);
    if (times.rows_read != read || times.rows != rows)
        fail_msg("%zu of %zu rows, not %zu of %zu, of\n%s%s", times.rows_read, times.rows, read,
                 rows, text, times.notes);
    if (note == NULL ? times.notes[0] != '\0' : strstr(times.notes, note) == NULL)
        fail_msg("notes are:\n%sof\n%s", times.notes, text);
}

static void expect_times(struct times times, double first, double second, double third)
{
    const double expected[] = {first, second, third};
    for (int i = 0; i < 3; i++)
        assert_true(times.ns[i] == expected[i]);
}

static void nccl_tests_of_all_versions_are_read(void **state)
{
    (void)state;
    static const char now[] =
        "# nThread 1 nGpus 8 minBytes 1024\n" NCCL_HEAD
        "  1024  256  float  sum  -1  6.37  0.16  0.30  0  5.11  0.2  0.3  0\n"
        "node0:4128:4128 [4] NCCL INFO Launch mode Parallel\n"
        "  2048  512  float  sum  -1  10.5  0.37  0.70  0  1.2e+01 0.4 0.7 N/A\n"
        "# Out of bounds values : 0 OK\n"
        "# Avg bus bandwidth    : 1.1\n#\n";
    expect_times(times_of(now, MEASURED_IN_PLACE, "nccl-tests", "in place"), 5110, 12000, 0);
    expect_times(times_of(now, MEASURED_OUT_OF_PLACE, "nccl-tests", "out of place"), 6370, 10500,
                 0);
    /* without root, and with "error" */
    expect_times(
        times_of("# size count type redop time algbw busbw error time algbw busbw error\r\n"
                 "  4096 1024 float sum 16.36 0.0 0.0 1e-07 15.99 0.0 0.0 0e+00\r\n",
                 MEASURED_IN_PLACE, "nccl-tests", "in place"),
        0, 0, 15990);
    /* per iteration, and with a timestamp of two words */
    expect_times(times_of("# size count type redop root time algbw busbw #wrong i_min i_max time "
                          "algbw busbw #wrong i_min i_max timestamp\n"
                          "1024 256 float sum -1 7.5 0 0 0 7 8 8.5 0 0 0 8 9 2026-01-02 03:04:05\n",
                          MEASURED_IN_PLACE, "nccl-tests", "in place"),
                 8500, 0, 0);
    /* of mpirun, without a line feed at the end, and N/A in place */
    expect_times(times_of("[1,0]<stdout>:# size count type redop root time algbw busbw #wrong time "
                          "algbw busbw #wrong\n[1,1]<stdout>:node1:26:26 [0] NCCL INFO x\n"
                          "[1,0]<stdout>:   1024 256 float sum -1 7.5 0 0 0 9 0 0 0\n"
                          "[1,0]<stdout>:   2048 256 float sum -1 7.5 0 0 0 N/A 0 0 0",
                          MEASURED_IN_PLACE, "nccl-tests", "in place"),
                 9000, 0, 0);
    /* one time alone, and units in the names, as nccom-test and this program print them */
    expect_times(times_of("size(B) count(elems) type time(us) algbw(GB/s) busbw(GB/s)\n"
                          "4096 4096 uint8 768 40.69 40.69\n",
                          MEASURED_IN_PLACE, "nccl-tests", "the only time"),
                 0, 0, 768000);
    /* two runs: their mean */
    expect_times(times_of(NCCL_HEAD "1024 256 float sum -1 1 0 0 0 2 0 0 0\n" NCCL_HEAD
                                    "1024 256 float sum -1 1 0 0 0 3 0 0 0\n",
                          MEASURED_IN_PLACE, "nccl-tests", "in place"),
                 2500, 0, 0);
}

static void hccl_test_is_read(void **state)
{
    (void)state;
    expect_times(
        times_of(
            "the minbytes is 1024, maxbytes is 4096, iters is 20, warmup_iters is 5\n" HCCL_HEAD
            "1024              | 764.55         | 0.00998              | success      |\n"
            "4096              |     10.5       | 0.5                  | NULL\n",
            MEASURED_IN_PLACE, "hccl_test", "the only time"),
        764550, 0, 10500);
    expect_times(times_of("check_result: | data_size(Bytes): | avg_time(us): |\n"
                          "success | 2048 | 3.25 |\n",
                          MEASURED_OUT_OF_PLACE, "hccl_test", "the only time"),
                 0, 3250, 0);
}

static void json_of_nccl_tests_is_read(void **state)
{
    (void)state;
    static const char text[] =
        " \n{\"version\":2,\"args\":[\"all_reduce_perf\"],\"results\":[{\"size\":1024,\"count\":"
        "256,"
        "\"type\":\"float\",\"redop\":\"sum\",\"root\":\"    -1\",\"out_of_place\":{\"time\":6.5,"
        "\"alg_bw\":0.1,\"bus_bw\":0.2,\"nwrong\":0.0},\"in_place\":{\"time\":5.25,\"alg_bw\":0.1}}"
        ","
        "{\"size\":2048,\"out_of_place\":null,\"in_place\":{\"cpu_time\":7}},"
        "{\"size\":4096,\"out_of_place\":{\"time\":8},\"in_place\":{\"time\":\"nan\"}}]}\n";
    expect_times(times_of(text, MEASURED_IN_PLACE, "nccl-tests' JSON", "in place"), 5250, 7000, 0);
    expect_times(times_of(text, MEASURED_OUT_OF_PLACE, "nccl-tests' JSON", "out of place"), 6500, 0,
                 8000);
}

static void expect_fault(const char *text, const char *message)
{
    struct measured *measured = NULL;
    struct cw_error error = {.exit_code = CW_OK};
    write_text("measured", text);
    assert_int_equal(read_wish("measured", MEASURED_IN_PLACE, CCL_ALL_REDUCE, &measured, &error),
                     CW_USAGE);
    assert_null(measured);
    assert_int_equal(error.exit_code, CW_USAGE);
    assert_string_equal(error.text, message);
}

/* The file's test and the bench's collective: the exit code, and the message. */
static int check_of(const char *text, enum ccl_collective does, char message[400])
{
    struct measured *measured = NULL;
    struct cw_error error = {.exit_code = CW_OK};
    write_text("measured", text);
    const int code = read_wish("measured", MEASURED_IN_PLACE, does, &measured, &error);
    snprintf(message, 400, "%.399s", error.text);
    measured_free(measured);
    return code;
}

#define TABLE NCCL_HEAD "1024 256 float sum -1 6.37 0.16 0.30 0 7 0.2 0.3 0\n"

static void times_are_of_the_bench_s_collective(void **state)
{
    (void)state;
    char text[400];
    assert_int_equal(check_of(TABLE, CCL_ALL_REDUCE, text), CW_OK); /* it does not say */
    assert_int_equal(check_of("./build/all_gather_perf -b 8\n" TABLE, CCL_ALL_GATHER, text), CW_OK);
    assert_int_equal(check_of(TABLE "./build/all_gather_perf -b 8\n", CCL_ALL_TO_ALL, text),
                     CW_USAGE);
    assert_string_equal(text, "--measured measured: its times are of all_gather_perf, which does "
                              "all_gather, and the bench is a bench of all_to_all; legal is a "
                              "table of the same collective");
    assert_int_equal(check_of("./build/all_gather_perf\n" TABLE, CCL_COLLECTIVES, text), CW_OK);
    assert_int_equal(check_of("bin/alltoall_test\n" TABLE, CCL_ALL_REDUCE, text), CW_USAGE);
    /* a line that lists tests names none of them */
    assert_int_equal(check_of("ls: all_gather_perf all_reduce_perf\n" TABLE, CCL_ALL_TO_ALL, text),
                     CW_OK);
    assert_int_equal(check_of("# Benchmarking Allgather\n" TABLE, CCL_ALL_REDUCE, text), CW_USAGE);
    assert_int_equal(check_of("$ nccom-test -r 32 redsct\n" TABLE, CCL_ALL_REDUCE, text), CW_USAGE);
    assert_int_equal(
        check_of("./test/mscclpp-test/allgather_test_perf\n" TABLE, CCL_ALL_REDUCE, text),
        CW_USAGE);
}

static void tests_that_no_bench_matches_are_refused(void **state)
{
    static const char *const tests[] = {"sendrecv_perf",     "scatter_perf",   "gather_perf",
                                        "hypercube_perf",    "alltoallv_test", "osu_alltoallv",
                                        "sendrecv_test_perf"};
    char file[800], text[400], expected[400];
    (void)state;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        snprintf(file, sizeof file, "mpirun -np 8 ./%s -b 8\n%s", tests[i], TABLE);
        snprintf(expected, sizeof expected,
                 "--measured measured: its times are of %s, which is no collective of a bench, and "
                 "the bench is a bench of all_reduce; legal is a table of the same collective",
                 tests[i]);
        assert_int_equal(check_of(file, CCL_ALL_REDUCE, text), CW_USAGE);
        assert_string_equal(text, expected);
    }
    assert_int_equal(check_of("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n1024  3.25\n",
                              CCL_ALL_REDUCE, text),
                     CW_USAGE);
}

static void two_tests_in_one_log_are_two_tables(void **state)
{
    static const char log[] = "+ ./all_reduce_perf -b 1K\n" NCCL_HEAD
                              "1024 256 float sum -1 11 0.09 0.16 0 10 0.1 0.18 0\n"
                              "+ ./broadcast_perf -b 1K\n" NCCL_HEAD
                              "1024 256 float none 0 91 0.01 0.01 0 90 0.01 0.01 0\n";
    char text[400];
    (void)state;
    expect_rows(log, 10000, 0, 0, 1, 1, "measured:8: a table of broadcast_perf: not read");
    const struct times broadcast =
        read_bytes(log, strlen(log), MEASURED_IN_PLACE, CCL_BROADCAST, 0);
    assert_true(broadcast.ns[0] == 90000);
    assert_int_equal(check_of(log, CCL_ALL_GATHER, text), CW_USAGE);
    assert_string_equal(text, "--measured measured: its times are of all_reduce_perf and "
                              "broadcast_perf, which do other things, and the bench is a bench of "
                              "all_gather; legal is a table of the same collective");
    assert_int_equal(check_of(log, CCL_COLLECTIVES, text), CW_USAGE);
    assert_string_equal(text, "--measured measured: it has tables of all_reduce_perf and of "
                              "broadcast_perf, and the bench is a bench of no collective; legal is "
                              "a file with one of them");
}

static void places_are_those_of_the_title(void **state)
{
    (void)state;
    static const char text[] =
        "#                  in-place            out-of-place\n"
        "#  size  count  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
        "#   (B)  (elements)  (us)  (GB/s)  (GB/s)   (us)  (GB/s)  (GB/s)\n"
        "1024 256 10.00 0.10 0.18 0 20.00 0.05 0.09 0\n";
    expect_times(times_of(text, MEASURED_IN_PLACE, "nccl-tests", "in place"), 10000, 0, 0);
    expect_times(times_of(text, MEASURED_OUT_OF_PLACE, "nccl-tests", "out of place"), 20000, 0, 0);
    expect_times(times_of("# In-Place\n# size time\n1024 5.5\n", MEASURED_OUT_OF_PLACE,
                          "nccl-tests", "in place"),
                 5500, 0, 0);
}

/* ---- what is no row -------------------------------------------------------------------------- */

#define ROW_1024 "1024 256 float sum -1 6.37 0.16 0.30 0 5.11 0.20 0.38 0\n"
#define ROW_2048 "2048 512 float sum -1 10.5 0.20 0.37 0 12.0 0.17 0.32 0\n"
#define ROW_4096 "4096 1024 float sum -1 16.4 0.25 0.47 0 16.0 0.26 0.49 0\n"

static void a_line_that_is_not_understood_does_not_cost_the_file(void **state)
{
    (void)state;
    expect_rows(NCCL_HEAD ROW_1024
                "2048 512 float sum -1 10.5 0.20 0.37 0 fast 0.17 0.32 0\n" ROW_4096,
                5110, 0, 16000, 2, 3, "measured:5:40: expected a time above 0; found 'fast'");
    expect_rows(NCCL_HEAD ROW_1024
                "2048 512 float sum -1 10.5 0.20 0.37 0 -1 0.17 0.32 0\n" ROW_4096,
                5110, 0, 16000, 2, 3, "measured:5:40: expected a time above 0; found '-1'");
    expect_rows(HCCL_HEAD "1024 | | 1 | success\n2048 | 3.25 | 1 | success\n", 0, 3250, 0, 1, 2,
                "measured:2:8: expected a time above 0; found ''");
}

static void prose_with_a_number_is_no_row(void **state)
{
    static const char *const lines[] = {
        "2 total processes killed (some possibly by mpirun during cleanup)\n",
        "8 GPUs of this node were used, and 4096 bytes took 12.5 us out of place\n",
        "512\n",
        "1024 bytes is the smallest size of this run, 6.4 us is its time, see 3.1 and 3.2 below\n",
        "2026 11 28\n",
        "the size of messages and the time of each\n",
        "Message size and time\n"};
    char text[2000];
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, "%s%s%s%s%s", NCCL_HEAD, ROW_1024, lines[i], ROW_2048,
                 lines[i]);
        expect_rows(text, 5110, 12000, 0, 2, 2, NULL);
        snprintf(text, sizeof text,
                 "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n1024      "
                 "6.37\n%s4096     16.40\n",
                 lines[i]);
        if (i != 4) /* which may be a row of two columns and a third word */
            expect_rows(text, 6370, 0, 16400, 2, 2, NULL);
    }
}

static void a_run_that_ended_inside_a_row_has_the_rows_before(void **state)
{
    static const char row[] = "4096 1024 float sum -1 16.4 0.25 0.47 0 16.0 0.26 0.49 0";
    char text[1000];
    (void)state;
    /* until "16.0" has been written whole and another value follows, it may be cut off */
    const size_t whole = (size_t)(strstr(row, "16.0 0") - row) + 6;
    for (size_t cut = 7; cut < sizeof row; cut++) {
        snprintf(text, sizeof text, "%s%s%s%.*s", NCCL_HEAD, ROW_1024, ROW_2048, (int)cut, row);
        const struct times times = read_as(text, MEASURED_IN_PLACE);
        assert_true(times.ns[0] == 5110 && times.ns[1] == 12000);
        if (times.ns[2] != (cut >= whole ? 16000 : 0))
            fail_msg("%g of\n%s", times.ns[2], text);
        assert_int_equal(times.rows_read, cut >= whole ? 3 : 2);
        assert_int_equal(times.rows, 3);
    }
    /* a table whose last column is the time: digits may be missing */
    expect_rows("# Size       Avg Latency(us)\n1024     6.37\n2048    12.4", 6370, 0, 0, 1, 2,
                "measured:3:9: the row ends inside a time; found '12.4'");
    expect_rows("# Size       Avg Latency(us)\n1024     6.37\n2048    12.40", 6370, 12400, 0, 2, 2,
                NULL);
}

static void records_glued_into_a_row_are_cut_out(void **state)
{
    (void)state;
    expect_rows(NCCL_HEAD
                "1024 256 float sum -1node1:4128:4180 [0] NCCL INFO Channel 00/02 : 0 1\n"
                "node1:4128:4180 [0] NCCL INFO Connected all rings\n"
                "  6.37 0.16 0.30 0 5.11 0.20 0.38 0\n"
                "2048 512 float sum -1 10.5 0.20 0.37 0node1:4128:4180 [0] NCCL WARN Call to x\n"
                " 12.0 0.17 0.32 0\n" ROW_4096,
                5110, 12000, 16000, 3, 3, NULL);
    /* a host that begins with digits, a row that is cut inside its size, prefixes on each line */
    expect_rows("[1,0]<stdout>:#  size  count  type  redop  root  time  algbw  busbw #wrong  time  "
                "algbw  busbw #wrong\n"
                "[1,0]<stdout>:1024 256 float sum -1[1,0]<stdout>:10-0-0-5:41:42 [0] NCCL INFO x\n"
                "[1,0]<stdout>: 6.37 0.16 0.30 0 5.11 0.20 0.38 0\n"
                "[1,0]<stdout>:2010-0-0-5:41:42 [3] NCCL INFO y\n"
                "[1,0]<stdout>:" ROW_4096,
                5110, 0, 16000, 2, 2, NULL);
    expect_rows(NCCL_HEAD "10node1:4128:4180 [0] NCCL INFO Channel 00/02 : 0 1\n"
                          "24 256 float sum -1 6.37 0.16 0.30 0 5.11 0.20 0.38 0\n" ROW_2048,
                5110, 12000, 0, 2, 2, NULL);
    /* what other libraries say */
    expect_rows(NCCL_HEAD "1024 256 float sum -1libibverbs: Warning: no userspace driver\n"
                          "  6.37 0.16 0.30 0 5.11 0.20 0.38 0\n" ROW_2048,
                5110, 12000, 0, 2, 2, NULL);
    expect_rows(NCCL_HEAD ROW_1024 "2048 512 float sum -1srun: error: node1: task 3: Killed\n",
                5110, 0, 0, 1, 2, "measured:5:");
}

static void blank_columns_are_found(void **state)
{
    static const char head[] = "#                                                              "
                               "out-of-place                       in-place          \n"
                               "#       size         count      type   redop    root     time   "
                               "algbw   busbw #wrong     time   algbw   busbw #wrong\n"
                               "#        (B)    (elements)                               (us)  "
                               "(GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n";
    char text[2000];
    (void)state;
    snprintf(text, sizeof text, "%s%s", head,
             "        1024           256     float                     6.37    0.16    0.30      0 "
             "    5.11    0.20    0.38      0\n"
             "        2048           512     float              -1    10.50    0.20    0.37      0 "
             "   12.00    0.17    0.32      0\n"
             "        4096          1024     float     sum             16.4    0.25    0.47      0 "
             "      16    0.26    0.49      0\n");
    expect_rows(text, 5110, 12000, 16000, 3, 3, NULL);
    /* one half */
    snprintf(text, sizeof text, "%s%s", head,
             "        1024           256     float    none      -1     6.37    0.16    0.30      0 "
             "                               \n"
             "        2048           512     float    none      -1                                 "
             "      12.00    0.17    0.32      0\n");
    expect_rows(text, 0, 12000, 0, 1, 2, "measured:2: 1 row is without a time in place");
    const struct times out = read_as(text, MEASURED_OUT_OF_PLACE);
    assert_true(out.ns[0] == 6370 && out.ns[1] == 0);
    /* no time in place at all: the others, and it says so */
    snprintf(
        text, sizeof text, "%s%s", head,
        "        1024           256     float    none      -1     6.37    0.16    0.30      0      "
        "N/A     N/A     N/A    N/A\n"
        "        2048           512     float    none      -1    10.50    0.20    0.37      0\n");
    const struct times other = times_of(text, MEASURED_IN_PLACE, "nccl-tests",
                                        "out of place, since there is none in place");
    assert_true(other.ns[0] == 6370 && other.ns[1] == 10500);
}

/* ---- prefixes, colours, encodings ------------------------------------------------------------ */

static void lines_may_have_prefixes(void **state)
{
    static const struct {
        const char *first, *second, *third; /* of the header, of rows */
    } prefixes[] = {
        {"0: ", "0: ", "0: "},
        {" 0: ", " 0: ", " 0: "},
        {"[0] ", "[0] ", "[0] "},
        {"[1,0]<stdout>:", "[1,0]<stdout>:", "[1,0]<stdout>:"},
        {"    [1,0]<stdout>:", "   [1,0]<stdout>:", " [1,0]<stdout>: "},
        {"2026-11-28T03:04:05.123456Z ", "2026-11-28T03:04:06.5Z ", "2026-12-01T13:14:15.000001Z "},
        {"2026-11-28 03:04:05,123 INFO ", "2026-11-28 03:04:06,001 INFO ",
         "2026-11-28 13:14:15,9 INFO "},
        {"[2026-11-28 03:04:05] ", "[2026-11-28 03:04:06] ", "[2026-11-28 13:14:15] "},
        {"Nov 28 03:04:05 node1 run[41]: ", "Nov 28 03:04:06 node1 run[41]: ",
         "Dec 1 03:04:06 node1 run[41]: "},
        {"[pod/nccl-launcher-x7k2p/main] ", "[pod/nccl-launcher-x7k2p/main] ",
         "[pod/nccl-launcher-x7k2p/main] "},
        {"node-1  | ", "node-1  | ", "node-1  | "},
        {"node-1: ", "node-1: ", "node-1: "},
        {"Sat Nov 28 03:04:05 2026[1,0]<stdout>:", "Sat Nov 28 03:04:06 2026[1,0]<stdout>:",
         "Sun Nov 29 03:04:06 2026[1,0]<stdout>:"}};
    char text[2000];
    (void)state;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const char *const a = prefixes[i].first, *const b = prefixes[i].second,
                          *const c = prefixes[i].third;
        snprintf(text, sizeof text,
                 "%s# nThread 1 nGpus 8 minBytes 1024\n"
                 "%s#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  "
                 "busbw #wrong\n"
                 "%s#   (B)  (elements)               (us)  (GB/s)  (GB/s)        (us)  (GB/s)  "
                 "(GB/s)\n%s%s%s2 total processes killed\n%s%s",
                 a, a, b, b, ROW_1024, b, c, ROW_2048);
        expect_rows(text, 5110, 12000, 0, 2, 2, NULL);
        /* with bars of their own */
        snprintf(text, sizeof text,
                 "%s%s%s1024              | 764.55         | 0.00134 | success\n", a, HCCL_HEAD, b);
        expect_rows(text, 764550, 0, 0, 1, 1, NULL);
    }
}

static void colours_and_progress_are_not_seen(void **state)
{
    (void)state;
    expect_rows("\033[1m" NCCL_HEAD "\033[32m1024 256\033[0m float sum -1 6.37 0.16 0.30 0 "
                "\033[1;31m5.11\033[0m 0.20 0.38 0\n"
                "\033]0;title\007\033[K" ROW_2048 "\x1b[38;5;9m" ROW_4096,
                5110, 12000, 16000, 3, 3, NULL);
    expect_rows(NCCL_HEAD
                "\\x1b[32m1024 256^[[0m float sum -1 6.37 0.16 0.30 0 [1m5.11[0m 0.20 0.38 0\n",
                5110, 0, 0, 1, 1, NULL);
    expect_rows(NCCL_HEAD "10 %\r20 %\r" ROW_1024 "\r\n" ROW_2048, 5110, 12000, 0, 2, 2, NULL);
}

/* The text in UTF-16 or UTF-32, with or without a mark. */
static size_t widen(const char *text, uint32_t width, bool is_big, bool is_marked, char *wide)
{
    size_t count = 0;
    for (size_t i = is_marked ? 0 : 1; i <= strlen(text); i++) {
        const uint32_t c = i == 0 ? 0xfeff : (unsigned char)text[i - 1];
        for (uint32_t k = 0; k < width; k++)
            wide[count++] = (char)(c >> 8 * (is_big ? width - 1 - k : k));
    }
    return count;
}

static void encodings_are_recognised(void **state)
{
    static const char text[] = "# all_reduce_perf\r\n" NCCL_HEAD ROW_1024 ROW_2048;
    static const struct {
        uint32_t width;
        bool is_big, is_marked;
    } wide[] = {
        {2, false, true}, {2, true, true}, {2, false, false}, {2, true, false}, {4, false, true}};
    static char bytes[8192];
    (void)state;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        const size_t count = widen(text, wide[i].width, wide[i].is_big, wide[i].is_marked, bytes);
        const struct times times = read_bytes(bytes, count, MEASURED_IN_PLACE, CCL_ALL_REDUCE, 0);
        assert_true(times.ns[0] == 5110 && times.ns[1] == 12000 && times.rows_read == 2);
    }
    expect_rows("\xef\xbb\xbf" NCCL_HEAD ROW_1024, 5110, 0, 0, 1, 1, NULL);
    expect_rows("\xef\xbb\xbfsize,time_us\n1024,5.11\n", 5110, 0, 0, 1, 1, NULL);
    /* no-break spaces, of UTF-8 and of Latin-1; the sign of micro */
    expect_rows(NCCL_HEAD "\xc2\xa0\xc2\xa0"
                          "1024\xc2\xa0"
                          "256 float sum -1 6.37 0.16 0.30 0 5.11\xa0"
                          "0.20 0.38 0\n",
                5110, 0, 0, 1, 1, NULL);
    expect_rows("size(B) time(\xc2\xb5s)\n1024 5.11\n", 5110, 0, 0, 1, 1, NULL);
    expect_rows("size(B) time(\xb5s)\n1024 5.11\n", 5110, 0, 0, 1, 1, NULL);
    static const char json[] =
        "\xef\xbb\xbf{\"results\":[{\"size\":1024,\"in_place\":{\"time\":5}}]}";
    assert_true(read_as(json, MEASURED_IN_PLACE).ns[0] == 5000);
}

static void sizes_are_written_in_many_ways(void **state)
{
    (void)state;
    expect_rows(NCCL_HEAD "1_024 256 float sum -1 6.37 0.16 0.30 0 5.11 0.20 0.38 0\n"
                          "2,048 512 float sum -1 10.5 0.20 0.37 0 12.0 0.17 0.32 0\n"
                          "4\xe2\x80\xaf"
                          "096 1_024 float sum -1 16.4 0.25 0.47 0 16.0 0.26 0.49 0\n",
                5110, 12000, 16000, 3, 3, NULL);
    expect_rows("size time(us)\n1K 5\n2KiB 6\n4096B 7\n", 5000, 6000, 7000, 3, 3, NULL);
    expect_rows("size(KiB) time(us)\n1 5\n2.0 6\n4 7\n", 5000, 6000, 7000, 3, 3, NULL);
}

/* ---- units ----------------------------------------------------------------------------------- */

static void tables_in_other_units_are_converted_or_refused(void **state)
{
    char text[400];
    (void)state;
    /* a line of units, a unit in the name, a unit beside the number */
    expect_rows("#  size  count  type  redop  time  algbw  busbw\n"
                "#   (B)  (elements)           (ms)  (GB/s)  (GB/s)\n"
                "1024 256 float sum 0.00511 0.20 0.38\n"
                "4096 1024 float sum 0.0160 0.26 0.49\n",
                5110, 0, 16000, 2, 2, NULL);
    expect_rows("size(B) time(ns) algbw(GB/s)\n1024 5110 0.20\n", 5110, 0, 0, 1, 1, NULL);
    expect_rows("size(B) time(s) algbw(MB/s)\n1024 0.00000511 200.4\n", 5110, 0, 0, 1, 1, NULL);
    expect_rows("size time\n1024 5.11us\n2048 0.012ms\n", 5110, 12000, 0, 2, 2, NULL);
    /* no unit: the rows' own bandwidth tells */
    expect_rows("#  size  count  type  time  algbw  busbw\n"
                "1024 256 float 0.00511 0.20 0.38\n2048 512 float 0.0120 0.17 0.32\n",
                5110, 12000, 0, 2, 2,
                "measured:1: no unit is said; by the table's own bandwidth its times are in ms");
    /* a unit that the rows' own bandwidth contradicts */
    assert_int_equal(check_of("#  size  count  type  time  algbw  busbw\n"
                              "#   (B)  (elements)     (us)  (GB/s)  (GB/s)\n"
                              "1024 256 float 0.00511 0.20 0.38\n2048 512 float 0.0120 0.17 0.32\n",
                              CCL_ALL_REDUCE, text),
                     CW_USAGE);
    assert_string_equal(text,
                        "measured:1: the header says that times are in us, and size / time is "
                        "1000^1 times the table's own bandwidth: the table is not read");
    /* bandwidths that are another definition's say nothing */
    expect_rows("size(B) time(us) algbw(GB/s)\n1024 5.11 1.60\n", 5110, 0, 0, 1, 1, NULL);
}

/* ---- other tools ----------------------------------------------------------------------------- */

static void other_tools_are_read(void **state)
{
    (void)state;
    /* nccl-tests with -C 1 */
    expect_rows(
        "# size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong\n"
        "1024 256 float sum -1 6.37 0.16 0.30 0 5.11 0.20 0.38 0\n",
        5110, 0, 0, 1, 1, NULL);
    /* the layout of 2017, whose times are in ms */
    expect_rows("#                                                 out-of-place                    "
                "in-place\n"
                "#      bytes             N    type      op     time  algbw  busbw      res     "
                "time  algbw  busbw      res\n"
                "        1024           256   float     sum    0.006   0.16   0.30    0e+00    "
                "0.005   0.20   0.38    0e+00\n"
                "        4096          1024   float     sum    0.016   0.25   0.47    0e+00    "
                "0.016   0.26   0.49    0e+00\n",
                5000, 0, 16000, 2, 2, "its times are in ms");
    /* nccom-test's newer header */
    expect_rows("    size(B)    count(elems)    type    time:avg(us)    time:p50(us)    "
                "algbw(GB/s)    busbw(GB/s)\n"
                "       1024             512    bf16            5.11            5.10           "
                "0.20           0.38\n",
                5110, 0, 0, 1, 1, NULL);
    /* Markdown */
    expect_rows("| size (B) | count | **time (us)** | `algbw` |\n|---:|---:|:---|---|\n"
                "| 1,024 | 256 | 5.11 | 0.20 |\n| 2048 | | **12.0** | 0.17 |\n| total | | | |\n",
                5110, 12000, 0, 2, 2, NULL);
    /* comma-separated */
    expect_times(
        times_of("bytes;time_us\n1024;5.11\n", MEASURED_IN_PLACE, "cells", "the only time"), 5110,
        0, 0);
    expect_rows("bytes,out_of_place_ns,in_place_ns\n1024,6370,5110\n2048,10500,12000\n", 5110,
                12000, 0, 2, 2, NULL);
    expect_rows("name,\"size\",\"time_us\"\n\"a,b\",\"1024\",\"5.11\"\n", 5110, 0, 0, 1, 1, NULL);
    /* OSU, in full */
    struct times times =
        times_of("\n# OSU MPI-CUDA Allreduce Latency Test v7.4\n# Datatype: MPI_CHAR.\n"
                 "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
                 "1024                    5.11              5.00              5.30        1000\n",
                 MEASURED_IN_PLACE, "OSU", "the only time");
    assert_true(times.ns[0] == 5110);
    /* IMB */
    times = times_of("# Benchmarking Allreduce \n# #processes = 4 \n"
                     "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
                     "            0         1000         0.03         0.04         0.03\n"
                     "         1024         1000         5.00         5.30         5.11\n",
                     MEASURED_IN_PLACE, "IMB", "the only time");
    assert_true(times.ns[0] == 5110);
}

/* OSU and IMB count the bytes of one rank, nccl-tests those of all, where each rank has its own. */
static void sizes_mean_what_the_tool_says(void **state)
{
    static const char imb[] = "# Benchmarking Allgather \n# #processes = 2 \n"
                              "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
                              "512 1000 1 1 2\n"
                              "# Benchmarking Allgather \n# #processes = 4 \n"
                              "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
                              "512 1000 1 1 3\n1024 1000 1 1 4\n";
    static const char osu[] = "# OSU MPI All-to-All Personalized Exchange Latency Test v7.4\n"
                              "$ osu_alltoall\n# Size       Avg Latency(us)\n256 5\n512 6\n";
    (void)state;
    struct times times = read_bytes(imb, strlen(imb), MEASURED_IN_PLACE, CCL_ALL_GATHER, 2);
    expect_times(times, 2000, 0, 0);
    times = read_bytes(imb, strlen(imb), MEASURED_IN_PLACE, CCL_ALL_GATHER, 4);
    expect_times(times, 0, 3000, 4000);
    times = read_bytes(imb, strlen(imb), MEASURED_IN_PLACE, CCL_ALL_GATHER, 64);
    expect_times(times, 0, 3000, 4000); /* of the most processes */
    times = read_bytes(osu, strlen(osu), MEASURED_IN_PLACE, CCL_ALL_TO_ALL, 8);
    expect_times(times, 0, 5000, 6000);
}

static void wrong_results_are_said(void **state)
{
    (void)state;
    struct times times = read_as(
        NCCL_HEAD ROW_1024 "2048 512 float sum -1 10.5 0.20 0.37 0 12.0 0.17 0.32 5\n" ROW_4096,
        MEASURED_IN_PLACE);
    assert_int_equal(times.rows_wrong, 1);
    assert_non_null(strstr(times.notes,
                           "measured:5: the results of 1 row were wrong on the measured "
                           "machine, first those of 2048 bytes"));
    assert_true(times.ns[1] == 12000);
    times = read_as(HCCL_HEAD
                    "1024 | 5 | 0.2 | failed\n2048 | 6 | 0.3 | success\n4096 | 7 | 0.5 | NULL\n",
                    MEASURED_IN_PLACE);
    assert_int_equal(times.rows_wrong, 1);
    assert_non_null(strstr(times.notes, "measured:2: the results of 1 row were wrong"));
    times = read_as("{\"results\":[{\"size\":1024,\"in_place\":{\"time\":5,\"nwrong\":3.0}}]}",
                    MEASURED_IN_PLACE);
    assert_int_equal(times.rows_wrong, 1);
    /* layouts without "#wrong" say it below the table, or with an asterisk */
    times = read_as("# size count type redop time algbw busbw error time algbw busbw error\n"
                    "1024 256 float sum 9 0.1 0.2 1e-07 5 0.2 0.4 1e-07\n"
                    "2048 512 float sum 9 0.2 0.3 2e+00 6 0.3 0.6 2e+00\n"
                    " Out of bounds values : 1 FAILED\n",
                    MEASURED_IN_PLACE);
    assert_int_equal(times.rows_wrong, 2);
    assert_non_null(strstr(times.notes, "measured:4: values out of bounds: results were wrong on "
                                        "the measured machine, and no row says which: all 2 "));
    times = read_as("# size count type redop time algbw busbw error time algbw busbw error\n"
                    "1024 256 float sum 9 0.1 0.2 1e-07 5 0.2 0.4 1e-07\n"
                    "2048 512 float sum 9 0.2 0.3 2e+00* 6 0.3 0.6 2e+00*\n"
                    " Out of bounds values : 1 FAILED\n",
                    MEASURED_IN_PLACE);
    assert_int_equal(times.rows_wrong, 1);
    assert_non_null(strstr(times.notes, "measured:3: the results of 1 row were wrong"));
    times = read_as(NCCL_HEAD ROW_1024 "# Out of bounds values : 0 OK\n", MEASURED_IN_PLACE);
    assert_int_equal(times.rows_wrong, 0);
    times = read_as("# Size  Avg Latency(us)  Validation\n1024 5 Pass\n2048 6 Fail\n",
                    MEASURED_IN_PLACE);
    assert_int_equal(times.rows_wrong, 1);
}

/* ---- rows that differ in more than their size ------------------------------------------------ */

/* Rows of other types, operations and roots are other work: their mean would be nobody's time. */
static void rows_of_another_type_do_not_count(void **state)
{
    static const char types[] = NCCL_HEAD "1024 1024 int8 sum -1 9 0 0 0 90 0 0 0\n"
                                          "1024 512 half sum -1 9 0 0 0 5 0 0 0\n"
                                          "1024 256 float sum -1 9 0 0 0 70 0 0 0\n"
                                          "2048 1024 half sum -1 9 0 0 0 6 0 0 0\n";
    (void)state;
    expect_rows(types, 5000, 6000, 0, 2, 4,
                "measured:4: 2 rows of another type: int8, float: not read; those of half are\n");
    /* a type that the run has not: the first one */
    expect_rows(NCCL_HEAD "1024 1024 int8 sum -1 9 0 0 0 90 0 0 0\n"
                          "1024 256 float sum -1 9 0 0 0 70 0 0 0\n",
                90000, 0, 0, 1, 2, "1 row of another type: float: not read; those of int8 are\n");
    /* two tables of one test, as a loop over types writes them; names of other tools */
    expect_rows("size type time(us)\n1024 fp32 90\n\nsize type time(us)\n1024 fp16 5\n", 5000, 0, 0,
                1, 2, "1 row of another type: fp32: not read; those of fp16 are\n");
    expect_rows(NCCL_HEAD "1024 256 float prod -1 9 0 0 0 90 0 0 0\n"
                          "1024 256 float sum -1 9 0 0 0 5 0 0 0\n",
                5000, 0, 0, 1, 2, "1 row of another operation: prod: not read; those of sum are\n");
    expect_rows(NCCL_HEAD "1024 256 float none 1 9 0 0 0 90 0 0 0\n"
                          "1024 256 float none 0 9 0 0 0 5 0 0 0\n",
                5000, 0, 0, 1, 2, "1 row of another root: 1: not read; those of 0 are\n");
    /* one type, whatever it is: nothing is said */
    expect_rows(NCCL_HEAD "1024 256 float sum -1 9 0 0 0 5 0 0 0\n"
                          "1024 256 float sum -1 9 0 0 0 7 0 0 0\n",
                6000, 0, 0, 2, 2, NULL);
    expect_rows("{\"results\":[{\"size\":1024,\"type\":\"float\",\"in_place\":{\"time\":90}},"
                "{\"size\":1024,\"type\":\"half\",\"in_place\":{\"time\":5}}]}",
                5000, 0, 0, 1, 2,
                "measured:results[0]: 1 row of another type: float: not read; those of half are\n");
}

static void a_column_may_name_the_collective_and_the_ranks(void **state)
{
    static const char text[] = "collective,world_size,size_bytes,avg_us,busbw\n"
                               "allreduce,8,1024,5,0.3\nall_gather,8,1024,90,0.3\n"
                               "allreduce,4,1024,7,0.3\nAllReduce,8,2048,6,0.5\n";
    (void)state;
    struct times times = read_bytes(text, strlen(text), MEASURED_IN_PLACE, CCL_ALL_REDUCE, 4);
    expect_times(times, 7000, 0, 0);
    assert_int_equal(times.ranks, 4);
    assert_non_null(strstr(times.notes, "measured:1: a table of all_gather: not read\n"));
    times = read_bytes(text, strlen(text), MEASURED_IN_PLACE, CCL_ALL_REDUCE, 64);
    expect_times(times, 5000, 6000, 0); /* of the most ranks */
    times = read_bytes(text, strlen(text), MEASURED_IN_PLACE, CCL_ALL_GATHER, 8);
    expect_times(times, 90000, 0, 0);
}

static void ranks_are_counted(void **state)
{
    static const struct {
        const char *text;
        uint32_t ranks;
    } logs[] = {
        {"#  Rank  0 Group  0 Pid 1 on h device 0\n#  Rank  7 Group  0 Pid 1 on h device "
         "7\n" NCCL_HEAD "1024 256 float sum -1 9 0 0 0 5 0 0 0\n",
         8},
        {"# nThread 2 nGpus 4 minBytes 1024\n" NCCL_HEAD "1024 256 float sum -1 9 0 0 0 5 0 0 0\n",
         8},
        {NCCL_HEAD "1024 256 float sum -1 9 0 0 0 5 0 0 0\n", 0},
        {"{\"config\":{\"nthreads\":1,\"ngpus\":4,\"devices\":[{\"rank\":0},{\"rank\":4}]},"
         "\"results\":[{\"size\":1024,\"in_place\":{\"time\":5}}]}",
         8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        if (read_as(logs[i].text, MEASURED_IN_PLACE).ranks != logs[i].ranks)
            fail_msg("not %u ranks:\n%s", logs[i].ranks, logs[i].text);
}

static void json_that_is_cut_off_has_its_whole_results(void **state)
{
    static const char text[] = "srun: job 7 queued\n{\"version\":3,\"results\":[\n"
                               "{\"size\":1024,\"in_place\":{\"time\":5}},\n"
                               "{\"size\":2048,\"in_place\":{\"time\":6}},\n"
                               "{\"size\":4096,\"in_place\":{\"ti";
    (void)state;
    expect_rows(text, 5000, 6000, 0, 2, 3, "results[2] is not whole");
    /* a warning in the middle costs one result */
    expect_rows("{\"results\":[{\"size\":1024,\"in_place\":{\"time\":5}},\n"
                "{\"size\":2048,\"in_place\":{\"ti[WARN] slow\nme\":6}},\n"
                "{\"size\":4096,\"in_place\":{\"time\":7}}]}\n",
                5000, 0, 7000, 2, 3, "measured:2: results[1] is not whole");
    /* words of a launcher after it */
    expect_rows("{\"results\":[{\"size\":1024,\"in_place\":{\"time\":5}}]}\nsrun: done\n", 5000, 0,
                0, 1, 1, NULL);
}

/* What containers and spreadsheets make of a log. */
static void tables_come_in_many_wrappings(void **state)
{
    (void)state;
    expect_rows("{\"log\":\"size time(us)\\n\",\"stream\":\"stdout\"}\n"
                "{\"log\":\"1024 \\u001b[32m5.0\\u001b[0m\\n\",\"stream\":\"stdout\"}\n",
                5000, 0, 0, 1, 1, NULL);
    expect_rows("Size (B) & Time (us) \\\\\n\\hline\n1024 & 5.0 \\\\\n2048 & 6.0 \\\\\n", 5000,
                6000, 0, 2, 2, NULL);
    expect_rows("   size_bytes  time_us  busbw\n0        1024      5.0   0.18\n"
                "1        2048      6.0   0.34\n",
                5000, 6000, 0, 2, 2, NULL);
    /* decimal commas, of words and of cells, and other signs between groups */
    expect_rows("Size (B);Time (us);algbw (GB/s)\n1.024;5,25;0,20\n2.048;6,5;0,32\n"
                "4.096;1.234,5;0,00\n",
                5250, 6500, 1234500, 3, 3, NULL);
    expect_rows("size(B) time(us) algbw(GB/s)\n1024 5,25 0,20\n", 5250, 0, 0, 1, 1, NULL);
    expect_rows("size(B) count(elems) time(us) algbw(GB/s) devices\n1024 256 5.25 0.20 0,1\n", 5250,
                0, 0, 1, 1, NULL); /* a list is no number */
    expect_rows("| Size (B) | Time (us) |\n|---|---|\n| 1'024 | 1'234.5 |\n| 2,048 | 1,234.5 |\n",
                1234500, 1234500, 0, 2, 2, NULL);
    /* numbers with units of their own */
    expect_rows("| Size | Time (us) | Correctness | NCCL Time (us) |\n|---|---|---|---|\n"
                "| 1.0 KiB | 5.0 | PASS | 90.0 |\n| 2 KB | 6.0 | PASS | 90.0 |\n",
                5000, 6000, 0, 2, 2, NULL);
    expect_rows("Size (Bytes)    Description    Duration    Throughput (Gbps)    BusBW (Gbps)\n"
                "1.0 KB              256x4          5.000 us             1.6           2.9\n"
                "4.0 KB              1024x4         0.016 ms             1.6           2.9\n",
                5000, 0, 16000, 2, 2, NULL);
    /* a row behind another prefix than the header's */
    expect_rows("(bench pid=12) #  size  count  type  redop  root  time  algbw  busbw\n"
                "(bench pid=12) 1024 256 float sum -1 5 0.20 0.36\n"
                "(raylet, ip=10.0.0.7) 2048 512 float sum -1 6 0.34 0.60\n",
                5000, 6000, 0, 2, 2, NULL);
    /* nccl-tests with per-iteration and bitwise columns, whose titles say more than the place */
    expect_rows(
        "#           out-of-place (+ bitwise + per-iteration)   in-place (+ bitwise)\n"
        "# size count type redop root time algbw busbw #wrong #bitdiff i_min i_max i_p99 i_cv% "
        "time algbw busbw #wrong #bitdiff i_min i_max i_p99 i_cv% timestamp\n"
        "# (B) (elements) (us) (GB/s) (GB/s) (us) (us) (us) (%) (us) (GB/s) (GB/s) (us) (us) "
        "(us) (%) %Y-%m-%d %H:%M:%S\n"
        "1024 256 float sum -1 9 0.1 0.2 0 0 9 9 9 1.5 5 0.20 0.36 0 0 5 5 5 1.5 2026-01-02 "
        "03:04:05\n",
        5000, 0, 0, 1, 1, NULL);
}

static void a_fault_has_its_place(void **state)
{
    (void)state;
    static const char formats[] =
        "; expected output of nccl-tests, rccl-tests (size ... time), hccl_test (data_size | "
        "aveg_time) or a tool with such a table, or the JSON of nccl-tests";
    char message[400];
    expect_fault(NCCL_HEAD "1024 256 float sum -1 6.37 0.16 0.30 0 fast 0.2 0.3 0\n",
                 "measured:4:40: expected a time above 0; found 'fast'");
    expect_fault(NCCL_HEAD "1024 256 float sum -1 6.37 0.16 0.30 0 -1 0.2 0.3 0\n",
                 "measured:4:40: expected a time above 0; found '-1'");
    expect_fault(NCCL_HEAD "1024 256 float sum -1 6.37 0.16 0.30 0 1e400 0.2 0.3 0\n",
                 "measured:4:40: expected a time above 0; found '1e400'");
    expect_fault(NCCL_HEAD "  1024 256 float sum -1 6.37\n",
                 "measured:4:25: the row ends inside a time; found '6.37'");
    expect_fault(HCCL_HEAD "1024 | | 1 | success\n",
                 "measured:2:8: expected a time above 0; found ''");
    snprintf(message, sizeof message, "measured: no table of measured times%s", formats);
    expect_fault("", message);
    expect_fault("1024 256 float sum -1 6.37\n", message);
    snprintf(message, sizeof message, "measured: a table without times%s", formats);
    expect_fault(NCCL_HEAD, message);
    expect_fault("{\"results\":[\n{\"size\" 1024}]}", "measured:2:12: ':' expected near '1024'");
    expect_fault("{\"results\":3}",
                 "measured: results: expected a list, as nccl-tests writes it with -J");
    expect_fault("{\"results\":[{\"size\":\"x\"}]}",
                 "measured: results[0].size: expected a whole number of bytes");
    expect_fault("{\"results\":[{\"size\":1,\"in_place\":{\"time\":0}}]}",
                 "measured: results[0].in_place.time: expected a time in us, above 0");
    struct measured *measured = NULL;
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(read_wish("nowhere", MEASURED_IN_PLACE, CCL_ALL_REDUCE, &measured, &error),
                     CW_USAGE);
    assert_string_equal(error.text,
                        "--measured nowhere: cannot open it: No such file or directory");
    assert_int_equal(read_wish(".", MEASURED_IN_PLACE, CCL_ALL_REDUCE, &measured, &error),
                     CW_USAGE);
    assert_string_equal(error.text, "--measured .: cannot read it: Is a directory");
}

static void too_many_sizes_end_soon(void **state)
{
    (void)state;
    FILE *const file = fopen("measured", "wb");
    assert_non_null(file);
    fputs("# size time\n", file);
    for (int i = 0; i < 100000; i++)
        fprintf(file, "%d 1\n", i);
    assert_int_equal(fclose(file), 0);
    struct measured *measured = NULL;
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(read_wish("measured", MEASURED_IN_PLACE, CCL_ALL_REDUCE, &measured, &error),
                     CW_USAGE);
    assert_string_equal(error.text, "measured: more than 4096 sizes; a table has one row for each");
}

/* Files with random bytes in them: read, or refused with a message. */
static void random_faults_are_told(void **state)
{
    (void)state;
    static const char *const texts[] = {
        NCCL_HEAD "1024 256 float sum -1 1 0 0 0 2 0 0 0\n", HCCL_HEAD "1024 | 1 | 1 | success\n",
        "{\"results\":[{\"size\":1024,\"in_place\":{\"time\":5.25}}]}"};
    static const char bytes[] = "0123456789 #|[]{}\",:.eE-+\n\r\t\0\xff"
                                "aNsizetm";
    struct cw_rng rng = cw_rng_seeded(7, 7);
    for (int i = 0; i < 3000; i++) {
        char text[1024];
        const char *const from = texts[cw_rng_below(&rng, 3)];
        size_t length = strlen(from);
        memcpy(text, from, length);
        for (uint64_t k = 1 + cw_rng_below(&rng, 4); k > 0; k--)
            text[cw_rng_below(&rng, (uint32_t)length)] =
                bytes[cw_rng_below(&rng, sizeof bytes - 1)];
        if (cw_rng_below(&rng, 4) == 0)
            length = cw_rng_below(&rng, (uint32_t)length);
        struct measured *measured = NULL;
        struct cw_error error = {.exit_code = CW_OK};
        write_bytes("measured", text, length);
        const int code =
            read_wish("measured", MEASURED_IN_PLACE,
                      (enum ccl_collective)(i % (CCL_COLLECTIVES + 1)), &measured, &error);
        assert_true(code == CW_OK ? measured != NULL : code == CW_USAGE && error.text[0] != '\0');
        measured_free(measured);
    }
}

/* ---- in the reports -------------------------------------------------------------------------- */

static void every_report_has_the_measured_times(void **state)
{
    (void)state;
    struct result_row rows[] = {
        {.bytes = 1024,
         .count = 512,
         .ranks = 4,
         .wrong = -1,
         .time_ps = 5000000,
         .measured_ps = 4000000},
        {.bytes = 2048, .count = 1024, .wrong = -1, .time_ps = 9000000, .measured_ps = 10000000},
        {.bytes = 4096, .count = 2048, .wrong = -1, .time_ps = 9000000}};
    const struct result result = {
        .bench = "b",
        .rows = rows,
        .row_count = 3,
        .measured = {"a,b", "nccl-tests", "in place", 7, 5, 2, (const char *const[]){"9:1: x"}, 1,
                     8},
        .engine = {.sync = "sequential", .partition = "sips", .threads = 1}};
    char *text = written_by(report_table, &result);
    assert_non_null(strstr(text, "#wrong  measured(us)  error(%)\n"));
    assert_non_null(strstr(text, "N/A         4.000    +25.00\n"));
    assert_non_null(strstr(text, "N/A        10.000    -10.00\n"));
    assert_non_null(strstr(text, "N/A             -         -\n"));
    assert_non_null(strstr(text,
                           "# Measured          : a,b (nccl-tests, in place): 2 of 3 sizes; "
                           "error: median 17.50 %, largest 25.00 %\n"
                           "# Measured rows     : 5 of 7 read\n"
                           "# Measured wrong    : 2 of them had wrong results on the real "
                           "machine\n"
                           "# Measured ranks    : 8, and the run has 4: not the same work\n"));
    free(text);
    text = written_by(report_csv, &result);
    assert_non_null(strstr(text, ",operations_simulated,measured_ns,error_percent\n"));
    assert_non_null(strstr(text, ",0,0,,,,,4000.000,25\n"));
    assert_non_null(strstr(text, ",0,0,,,,,,\n"));
    free(text);
    text = written_by(write_json, &result);
    json_t *const object = json_loads(text, 0, NULL);
    const json_t *const measured = json_object_get(object, "measured");
    const json_t *const list = json_object_get(object, "results");
    assert_string_equal(json_string_value(json_object_get(measured, "file")), "a,b");
    assert_int_equal(json_integer_value(json_object_get(measured, "sizes")), 2);
    assert_int_equal(json_integer_value(json_object_get(measured, "rows")), 7);
    assert_int_equal(json_integer_value(json_object_get(measured, "rows_read")), 5);
    assert_int_equal(json_integer_value(json_object_get(measured, "rows_wrong")), 2);
    assert_int_equal(json_integer_value(json_object_get(measured, "ranks")), 8);
    assert_string_equal(json_string_value(json_array_get(json_object_get(measured, "notes"), 0)),
                        "9:1: x");
    assert_true(json_number_value(json_object_get(measured, "error_percent_largest")) == 25);
    assert_true(json_number_value(json_object_get(json_array_get(list, 0), "measured_ns")) == 4000);
    assert_true(json_is_null(json_object_get(json_array_get(list, 2), "error_percent")));
    json_decref(object);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nccl_tests_of_all_versions_are_read),
        cmocka_unit_test(hccl_test_is_read),
        cmocka_unit_test(json_of_nccl_tests_is_read),
        cmocka_unit_test(times_are_of_the_bench_s_collective),
        cmocka_unit_test(tests_that_no_bench_matches_are_refused),
        cmocka_unit_test(two_tests_in_one_log_are_two_tables),
        cmocka_unit_test(places_are_those_of_the_title),
        cmocka_unit_test(a_line_that_is_not_understood_does_not_cost_the_file),
        cmocka_unit_test(prose_with_a_number_is_no_row),
        cmocka_unit_test(a_run_that_ended_inside_a_row_has_the_rows_before),
        cmocka_unit_test(records_glued_into_a_row_are_cut_out),
        cmocka_unit_test(blank_columns_are_found),
        cmocka_unit_test(lines_may_have_prefixes),
        cmocka_unit_test(colours_and_progress_are_not_seen),
        cmocka_unit_test(encodings_are_recognised),
        cmocka_unit_test(sizes_are_written_in_many_ways),
        cmocka_unit_test(tables_in_other_units_are_converted_or_refused),
        cmocka_unit_test(other_tools_are_read),
        cmocka_unit_test(sizes_mean_what_the_tool_says),
        cmocka_unit_test(wrong_results_are_said),
        cmocka_unit_test(rows_of_another_type_do_not_count),
        cmocka_unit_test(a_column_may_name_the_collective_and_the_ranks),
        cmocka_unit_test(ranks_are_counted),
        cmocka_unit_test(json_that_is_cut_off_has_its_whole_results),
        cmocka_unit_test(tables_come_in_many_wrappings),
        cmocka_unit_test(a_fault_has_its_place),
        cmocka_unit_test(too_many_sizes_end_soon),
        cmocka_unit_test(random_faults_are_told),
        cmocka_unit_test(every_report_has_the_measured_times),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
