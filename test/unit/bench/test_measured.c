/*
 * test_measured.c: tables of measured times (bench/COMMANDS.md, "Measured times"): every format
 * that the tools have written, the lines between the rows, and faults with their places.
 */
#include "test/support/test_config_support.h"

#include <jansson.h>

#include "bench/output/report.h"
#include "bench/output/report_csv.h"
#include "bench/output/report_json.h"
#include "bench/programs/measured.h"
#include "core/cw.h"

#define NCCL_HEAD                                                                                  \
    "#                                     out-of-place                in-place\n"                 \
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"    \
    "#   (B)  (elements)               (us)  (GB/s)  (GB/s)        (us)  (GB/s)  (GB/s)\n"
#define HCCL_HEAD "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:\n"

/* The times of sizes 1024, 2048 and 4096 in the file, in ns; 0: none. */
struct times {
    double ns[3];
};

static struct times times_of(const char *text, enum measured_place place, const char *format,
                             const char *said)
{
    struct measured *measured = NULL;
    struct cw_error error = {.exit_code = CW_OK};
    struct result_row rows[3] = {{.counted_bytes = 1024},
                                 {.bytes = 512, .shards = 4, .counted_bytes = 2048},
                                 {.counted_bytes = 4096}};
    struct result result = {.rows = rows, .row_count = 3};
    struct times times;
    write_text("measured", text);
    if (measured_read("measured", place, &measured, &error) != CW_OK)
        fail_msg("%s", error.text);
    measured_attach(measured, &result);
    measured_free(measured);
    assert_string_equal(result.measured.format, format);
    assert_string_equal(result.measured.place, said);
    for (int i = 0; i < 3; i++)
        times.ns[i] = (double)rows[i].measured_ps / 1000;
    return times;
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
    assert_int_equal(measured_read("measured", MEASURED_IN_PLACE, &measured, &error), CW_USAGE);
    assert_null(measured);
    assert_int_equal(error.exit_code, CW_USAGE);
    assert_string_equal(error.text, message);
}

/* The file's test and the bench's collective; 0: none is refused. */
static int check_of(const char *before, const char *after, enum ccl_collective does, char text[400])
{
    struct measured *measured = NULL;
    struct cw_error error = {.exit_code = CW_OK};
    char all[2000];
    snprintf(all, sizeof all, "%s%s1024 256 float sum -1 6.37 0.16 0.30 0 7 0.2 0.3 0\n%s", before,
             NCCL_HEAD, after);
    write_text("measured", all);
    assert_int_equal(measured_read("measured", MEASURED_IN_PLACE, &measured, &error), CW_OK);
    const int code = measured_check(measured, "the bench", does, &error);
    snprintf(text, 400, "%.399s", error.text);
    measured_free(measured);
    return code;
}

static void times_are_of_the_bench_s_collective(void **state)
{
    (void)state;
    char text[400];
    static const char command[] = "mpirun ./build/all_gather_perf -b 8\n";
    assert_int_equal(check_of("", "", CCL_ALL_REDUCE, text), CW_OK); /* it does not say */
    assert_int_equal(check_of(command, "", CCL_ALL_GATHER, text), CW_OK);
    assert_int_equal(check_of("", command, CCL_ALL_TO_ALL, text), CW_USAGE);
    assert_string_equal(text, "--measured measured: its times are of all_gather_perf, which does "
                              "all_gather, and the bench is a bench of all_to_all; legal is a "
                              "table of the same collective");
    assert_int_equal(check_of(command, "", CCL_COLLECTIVES, text), CW_OK);
    assert_int_equal(check_of(command, "all_reduce_perf\n", CCL_ALL_TO_ALL, text), CW_OK);
    assert_int_equal(check_of("bin/alltoall_test\n", "", CCL_ALL_REDUCE, text), CW_USAGE);
}

static void a_fault_has_its_place(void **state)
{
    (void)state;
    static const char formats[] =
        "; expected output of nccl-tests, rccl-tests (size ... time) or hccl_test (data_size | "
        "aveg_time), or the JSON of nccl-tests";
    char message[400];
    expect_fault(NCCL_HEAD "1024 256 float sum -1 6.37 0.16 0.30 0 fast 0.2 0.3 0\n",
                 "measured:4:40: expected a time in us, above 0; found 'fast'");
    expect_fault(NCCL_HEAD "1024 256 float sum -1 6.37 0.16 0.30 0 -1 0.2 0.3 0\n",
                 "measured:4:40: expected a time in us, above 0; found '-1'");
    expect_fault(NCCL_HEAD "1024 256 float sum -1 6.37 0.16 0.30 0 1e400 0.2 0.3 0\n",
                 "measured:4:40: expected a time in us, above 0; found '1e400'");
    expect_fault(NCCL_HEAD "  1024 256 float sum -1 6.37\n",
                 "measured:4:3: a row of 6 columns below a header of 13; found '1024'");
    expect_fault(HCCL_HEAD "1024 | | 1 | success\n",
                 "measured:2:8: expected a time in us, above 0; found ''");
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
    assert_int_equal(measured_read("nowhere", MEASURED_IN_PLACE, &measured, &error), CW_USAGE);
    assert_string_equal(error.text,
                        "--measured nowhere: cannot open it: No such file or directory");
    assert_int_equal(measured_read(".", MEASURED_IN_PLACE, &measured, &error), CW_USAGE);
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
    assert_int_equal(measured_read("measured", MEASURED_IN_PLACE, &measured, &error), CW_USAGE);
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
        const int code = measured_read("measured", MEASURED_IN_PLACE, &measured, &error);
        assert_true(code == CW_OK ? measured != NULL : code == CW_USAGE && error.text[0] != '\0');
        measured_free(measured);
    }
}

/* ---- in the reports -------------------------------------------------------------------------- */

static void write_json(FILE *file, const struct result *result)
{
    struct cw_error error;
    assert_int_equal(report_json(file, result, &error), CW_OK);
}

static char *written_by(void (*write)(FILE *, const struct result *), const struct result *result)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const stream = open_memstream(&text, &bytes);
    assert_non_null(stream);
    write(stream, result);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void every_report_has_the_measured_times(void **state)
{
    (void)state;
    struct result_row rows[] = {
        {.bytes = 1024, .count = 512, .wrong = -1, .time_ps = 5000000, .measured_ps = 4000000},
        {.bytes = 2048, .count = 1024, .wrong = -1, .time_ps = 9000000, .measured_ps = 10000000},
        {.bytes = 4096, .count = 2048, .wrong = -1, .time_ps = 9000000}};
    const struct result result = {
        .bench = "b",
        .rows = rows,
        .row_count = 3,
        .measured = {"a,b", "nccl-tests", "in place"},
        .engine = {.sync = "sequential", .partition = "sips", .threads = 1}};
    char *text = written_by(report_table, &result);
    assert_non_null(strstr(text, "#wrong  measured(us)  error(%)\n"));
    assert_non_null(strstr(text, "N/A         4.000    +25.00\n"));
    assert_non_null(strstr(text, "N/A        10.000    -10.00\n"));
    assert_non_null(strstr(text, "N/A             -         -\n"));
    assert_non_null(strstr(text, "# Measured          : a,b (nccl-tests, in place): 2 of 3 sizes; "
                                 "error: median 17.50 %, largest 25.00 %\n"));
    free(text);
    text = written_by(report_csv, &result);
    assert_non_null(strstr(text, ",not_run,measured_ns,error_percent\n"));
    assert_non_null(strstr(text, ",,4000.000,25\n"));
    assert_non_null(strstr(text, ",,,\n"));
    free(text);
    text = written_by(write_json, &result);
    json_t *const object = json_loads(text, 0, NULL);
    const json_t *const measured = json_object_get(object, "measured");
    const json_t *const list = json_object_get(object, "results");
    assert_string_equal(json_string_value(json_object_get(measured, "file")), "a,b");
    assert_int_equal(json_integer_value(json_object_get(measured, "sizes")), 2);
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
        cmocka_unit_test(a_fault_has_its_place),
        cmocka_unit_test(too_many_sizes_end_soon),
        cmocka_unit_test(random_faults_are_told),
        cmocka_unit_test(every_report_has_the_measured_times),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
