/*
 * test_options.c: sizes, ranges and options of the command line: the values that are taken, and the
 * sentence that refuses the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "bench/options/options_run.h"
#include "bench/options/options.h"
#include "bench/options/options_report.h"
#include "bench/options/options_size.h"
#include "bench/options/options_table.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define ARGS_MAX        32

/* Parses the words of `line`, which is changed, as arguments of `run`. */
static int parse_line(struct run_options *options, char *line, struct cw_error *error)
{
    char *argv[ARGS_MAX + 1] = {NULL};
    int argc = 0;
    char *rest = line;
    while (argc < ARGS_MAX && (argv[argc] = strsep(&rest, " ")) != NULL)
        argc++;
    argv[argc] = NULL;
    struct option_parse read = {.command = COMMAND_RUN, .values = options};
    run_options_defaults(options);
    return options_read(&read, argc, argv, error);
}

static void accept_line(struct run_options *options, char *line)
{
    struct cw_error error = {.text = ""};
    if (parse_line(options, line, &error) != CW_OK)
        fail_msg("%s", error.text);
}

static void refuse_line(const char *line, const char *expected)
{
    static struct run_options options;
    struct cw_error error = {.text = ""};
    char words[256];
    assert_true(strlen(line) < sizeof words);
    strcpy(words, line);
    assert_int_equal(parse_line(&options, words, &error), CW_USAGE);
    assert_int_equal(error.exit_code, CW_USAGE);
    assert_string_equal(error.text, expected);
}

static void sizes_take_units_of_1024_and_of_1000(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t size;
    } good[] = {{"0", 0},           {"8", 8},
                {"8B", 8},          {"4KiB", 4096},
                {"16MB", 16000000}, {"1G", 1073741824},
                {"32M", 33554432},  {"2K", 2048},
                {"1k", 1024},       {"128m", 134217728},
                {"3kB", 3000},      {"1GiB", 1073741824}};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        uint64_t size = 1;
        assert_true(size_parse(good[i].text, strlen(good[i].text), &size));
        assert_int_equal(size, good[i].size);
    }
    static const char *const bad[] = {
        "",    "K", "-1", "4Q", "4 KiB", "1.5MiB", "0x10", "99999999999999999999", "9999999999GiB",
        "4kib"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        uint64_t size;
        assert_false(size_parse(bad[i], strlen(bad[i]), &size));
    }
}

static void ranges_multiply_or_add_and_are_bounded(void **state)
{
    (void)state;
    uint64_t sizes[RUN_SIZES_MAX];
    size_t count;
    assert_null(sizes_parse("1KiB:1GiB:x2", sizes, RUN_SIZES_MAX, &count));
    assert_int_equal(count, 21);
    assert_int_equal(sizes[0], 1024);
    assert_int_equal(sizes[20], 1 << 30);
    assert_null(sizes_parse("8:30:+8", sizes, RUN_SIZES_MAX, &count));
    assert_int_equal(count, 3);
    assert_int_equal(sizes[2], 24);
    assert_null(sizes_parse("1K,3,4:16,1M", sizes, RUN_SIZES_MAX, &count));
    assert_int_equal(count, 6);
    static const uint64_t listed[] = {1024, 3, 4, 8, 16, 1 << 20};
    assert_memory_equal(sizes, listed, sizeof listed);
    assert_non_null(sizes_parse("1K,", sizes, RUN_SIZES_MAX, &count));
    assert_non_null(sizes_parse(",1K", sizes, RUN_SIZES_MAX, &count));
    assert_string_equal(sizes_parse("1,1:255:+1,1", sizes, RUN_SIZES_MAX, &count),
                        "a range of more than 256 sizes");
    assert_null(sizes_parse("8:31", sizes, RUN_SIZES_MAX, &count));
    assert_int_equal(count, 2);
    assert_null(
        sizes_parse("4611686018427387903:4611686018427387904:x3", sizes, RUN_SIZES_MAX, &count));
    assert_int_equal(count, 1);
    assert_string_equal(sizes_parse("1:1000000:+1", sizes, RUN_SIZES_MAX, &count),
                        "a range of more than 256 sizes");
    assert_string_equal(sizes_parse("0:8:x2", sizes, RUN_SIZES_MAX, &count),
                        "a range that multiplies cannot begin at 0");
    assert_string_equal(sizes_parse("8:4:x2", sizes, RUN_SIZES_MAX, &count),
                        "a range goes from the smaller to the larger size");
    assert_string_equal(sizes_parse("8:16:x1", sizes, RUN_SIZES_MAX, &count),
                        "a factor is x and a whole number from 2");
    assert_string_equal(sizes_parse("8:16:2", sizes, RUN_SIZES_MAX, &count),
                        "a range ends in :xFACTOR or :+STEP");
    assert_string_equal(sizes_parse("8:16:+0", sizes, RUN_SIZES_MAX, &count),
                        "a step is + and a size from 1 on");
    assert_non_null(sizes_parse("8:", sizes, RUN_SIZES_MAX, &count));
    assert_non_null(sizes_parse(":8", sizes, RUN_SIZES_MAX, &count));
}

static void an_empty_line_is_the_default_run(void **state)
{
    (void)state;
    struct run_options options;
    char line[] = "run";
    accept_line(&options, line);
    assert_string_equal(options.bench, "ccl_allreduce");
    assert_int_equal(options.dtype, DTYPE_F16);
    assert_int_equal(options.op, REDOP_SUM);
    assert_int_equal(options.size_count, 0);
    assert_int_equal(options.iterations, 1);
    assert_int_equal(options.seed, 1);
    assert_int_equal(options.to.cube, 1);
}

static void bytes_count_elements_of_the_dtype_wherever_it_stands(void **state)
{
    (void)state;
    struct run_options options;
    char line[] = "run --bytes 4KiB:8KiB:x2 --dtype f32 --op max --set a=1 --set b=2 --seed 7";
    accept_line(&options, line);
    assert_int_equal(options.size_count, 2);
    assert_int_equal(options.n_elem[0], 1024);
    assert_int_equal(options.n_elem[1], 2048);
    assert_int_equal(options.op, REDOP_MAX);
    assert_int_equal(options.seed, 7);
    assert_int_equal(options.config.set_count, 2);
    assert_string_equal(options.config.sets[1], "b=2");
    char elements[] = "run --n-elem=16";
    accept_line(&options, elements);
    assert_int_equal(options.n_elem[0], 16);
}

static void the_short_options_of_nccl_tests_work(void **state)
{
    (void)state;
    struct run_options options;
    char line[] = "run -b 1K -e 8K -f 2 -n 20 -w 5 -c 1 -o prod -d bfloat16";
    accept_line(&options, line);
    assert_int_equal(options.size_count, 4);
    assert_int_equal(options.n_elem[3], 4096);
    assert_int_equal(options.iterations, 20);
    assert_int_equal(options.warmup, 5);
    assert_true(options.verify_data);
    assert_int_equal(options.op, REDOP_PROD);
    assert_int_equal(options.dtype, DTYPE_BF16);
    char steps[] = "run -b8 -e32 -i8 -c0";
    accept_line(&options, steps);
    assert_int_equal(options.size_count, 4);
    assert_false(options.verify_data);
    char single[] = "run -b 32";
    accept_line(&options, single);
    assert_int_equal(options.size_count, 1);
}

static void benches_have_their_own_options(void **state)
{
    (void)state;
    struct run_options options;
    char pingpong[] = "run --bench ipcq_pingpong --from 3.15.7 --to 0.0.0";
    accept_line(&options, pingpong);
    assert_int_equal(options.from.sip, 3);
    assert_int_equal(options.from.cube, 15);
    assert_int_equal(options.from.pe, 7);
    char shift[] = "run --bench ipcq_shift --dir global_E --tiles 2";
    accept_line(&options, shift);
    assert_int_equal(options.dir, HW_DIR_GLOBAL_E);
    assert_int_equal(options.tiles, 2);
}

static void places_are_checked_against_the_machine(void **state)
{
    (void)state;
    struct run_options options;
    struct cw_error error;
    const struct hw_config hw = {
        .sip_count = 4, .cube_w = 4, .cube_h = 4, .pe_per_corner = 2, .corner_count = 4};
    char beyond[] = "run --bench ipcq_pingpong --to 0.16.0";
    accept_line(&options, beyond);
    assert_int_equal(run_options_check(&options, &hw, &error), CW_USAGE);
    assert_string_equal(error.text, "--to 0.16.0: no such PE; SIPs are 0 to 3, cubes 0 to 15, PEs "
                                    "0 to 7");
    char same[] = "run --bench ipcq_pingpong --to 0.0.0";
    accept_line(&options, same);
    assert_int_equal(run_options_check(&options, &hw, &error), CW_USAGE);
    char far[] = "run --bench ipcq_pingpong --from 16383.10000.255";
    accept_line(&options, far);
    assert_int_equal(options.from.sip, 16383);
    assert_int_equal(options.from.cube, 10000);
    assert_int_equal(options.from.pe, 255);
    char stored[] = "run --bench raw_store --from 4.0.0";
    accept_line(&options, stored);
    assert_int_equal(run_options_check(&options, &hw, &error), CW_USAGE);
    assert_string_equal(error.text, "--from 4.0.0: no such PE; SIPs are 0 to 3, cubes 0 to 15, "
                                    "PEs 0 to 7");
    char other[] = "run --dir E --bench ipcq_shift";
    accept_line(&options, other);
    assert_int_equal(run_options_check(&options, &hw, &error), CW_OK);
}

static void wrong_options_are_refused_with_what_is_legal(void **state)
{
    (void)state;
    refuse_line("run --algoritm x", "unknown option '--algoritm'; did you mean '--algorithm'?");
    refuse_line("run --zzzzzz", "unknown option '--zzzzzz'");
    refuse_line("run -z", "unknown option -z");
    refuse_line("run --se 4", "option '--se' may mean more than one: --set, --seed");
    refuse_line("run --trace-to 3us",
                "--trace-only, --trace-from, --trace-to and --trace-links are "
                "for --trace FILE, which is missing");
    refuse_line("run --max-sim-time 0", "--max-sim-time '0': expected a time above 0");
    refuse_line("run --trace a --trace-to 0ns", "--trace-to '0ns': expected a time above 0");
    refuse_line("run --seed", "--seed needs a value: --seed N");
    refuse_line("run --quiet=1", "--quiet takes no value");
    refuse_line("run fast", "unexpected argument 'fast'");
    refuse_line("run --dtype f8", "--dtype 'f8': expected one of f16, bf16, f32, f64, fp8_e4m3, "
                                  "fp8_e5m2, int8, int32");
    refuse_line(
        "run --op mean",
        "--op 'mean': expected one of sum, max, min, prod, avg, premulsum; did you mean avg?");
    refuse_line("run --scalar 1,5", "--scalar '1,5': expected a number, as in 0.25");
    refuse_line("run --tag k=a\xff", "--tag 'k=a...': expected a value in UTF-8");
    refuse_line("run --tag bytes=4",
                "--tag bytes: every CSV has a column of that name; take another");
    refuse_line("run --tag a=1 --tag a=2", "--tag a: given more than once");
    refuse_line("run --tag =1", "--tag '=1': expected KEY=VALUE, KEY of up to 63 letters, digits, "
                                "'_', '-', '.'");
    refuse_line("run --iters 0", "--iters '0': expected a whole number from 1 to 1000000");
    refuse_line("run --seed 4294967296",
                "--seed '4294967296': expected a whole number from 0 to 4294967295");
    refuse_line("run --bench ipcq_shft",
                "--bench 'ipcq_shft': no such bench; did you mean ipcq_shift? known: "
                "ccl_allreduce, ccl_reduce_scatter, ccl_all_gather, ccl_all_to_all, ccl_broadcast, "
                "ccl_reduce, ccl_custom, ccl_barrier, "
                "ipcq_pingpong, ipcq_shift, raw_store, gemm, gemm_allreduce, ccl_gradient, "
                "concurrent, step");
    refuse_line("run --from 0.0", "--from '0.0': expected SIP.cube.PE, as in 0.1.0");
    refuse_line("run --dir up",
                "--dir 'up': expected N, S, E, W, or one of them after global_ or intra_");
    refuse_line("run --max-memory lots",
                "--max-memory 'lots': expected a size such as 4096, 4KiB or 16MB");
    refuse_line(
        "run --bytes 4Q",
        "--bytes '4Q': no such unit; there are B, KiB, MiB, GiB (or K, M, G: the same) and KB, MB, "
        "GB of 1000");
    refuse_line("run --bytes 6 --dtype f32",
                "--bytes: 6 bytes are no whole number of f32 elements of 4 bytes");
    refuse_line("run --n-elem 0", "--n-elem: a shard has from 1 to 2147483648 elements; found 0");
    refuse_line("run --bytes 4 --n-elem 2",
                "--bytes, --bytes-per-rank, --n-elem and -b exclude each other");
    refuse_line("run -e 8", "-e, -f and -i need -b, the first size");
    refuse_line("run -b 8 -f 2 -i 8", "-f and -i exclude each other");
    refuse_line("run --no-data --verify-data",
                "--no-data leaves nothing to verify: drop it or --verify-data");
    refuse_line("run --json - --csv -", "--json - and --csv - cannot share standard output");
    refuse_line("run --iters 1e3", "--iters '1e3': expected a whole number from 1 to 1000000");
    refuse_line("run --iters 18446744073709551617",
                "--iters '18446744073709551617': expected a whole number from 1 to 1000000");
}

static void each_output_has_a_file_of_its_own(void **state)
{
    (void)state;
    struct run_options options;
    refuse_line("run --json ", "--json '': expected a file's name, or - for standard output");
    refuse_line("run --csv=", "--csv '': expected a file's name, or - for standard output");
    refuse_line("run --ccl-trace=",
                "--ccl-trace '': expected a file's name, or - for standard output");
    refuse_line("run --json a --csv a", "--json and --csv name one file; give each a file of its "
                                        "own");
    refuse_line("run --json /tmp/a --ccl-trace /tmp/./a",
                "--json and --ccl-trace name one file; give each a file of its own");
    refuse_line("run --csv a --ccl-trace ./a",
                "--csv and --ccl-trace name one file; give each a file of its own");
    refuse_line("run --measured m --json ./m",
                "--json and --measured name one file; give each a file of its own");
    char apart[] = "run --json a --csv b --ccl-trace /tmp/a";
    accept_line(&options, apart);
    char listing[] = "run --json - --ccl-trace -"; /* the trace goes to standard error */
    accept_line(&options, listing);
}

static void threads_choose_the_mode_unless_it_is_given(void **state)
{
    (void)state;
    struct run_options options;
    char one[] = "run", several[] = "run --threads 3",
         given[] = "run --sync optimistic --threads 2 --window 50 --partition block";
    accept_line(&options, one);
    assert_int_equal(options.engine.sync, CW_SEQUENTIAL);
    accept_line(&options, several);
    assert_int_equal(options.engine.sync, CW_ADAPTIVE);
    assert_int_equal(options.engine.worker_count, 3);
    accept_line(&options, given);
    assert_int_equal(options.engine.sync, CW_OPTIMISTIC);
    assert_int_equal(options.engine.tuning.window_ps, 50000);
    assert_string_equal(options.partition, "block");
    assert_true(options.engine.tuning.pin_workers);
    char free_to_move[] = "verify --threads 2 --no-pin --partition metis";
    accept_line(&options, free_to_move);
    assert_false(options.engine.tuning.pin_workers);
    assert_string_equal(options.partition, "metis");
    refuse_line("run --sync sequential --threads 2",
                "--sync sequential runs on 1 thread, not on 2");
    refuse_line("run --sync fast", "--sync 'fast': expected sequential, conservative, optimistic, "
                                   "adaptive or stress");
    char rate[] = "verify --sync stress --stress-rate 12.5% --window 7";
    accept_line(&options, rate);
    assert_int_equal(options.engine.tuning.stress_rate_p32, 1 << 29);
    refuse_line("run --stress-rate 0.5", "--stress-rate is for --sync stress");
    char lazily[] = "run --sync stress --cancellation lazy";
    assert_false(options.engine.tuning.lazy_cancellation);
    accept_line(&options, lazily);
    assert_true(options.engine.tuning.lazy_cancellation);
    refuse_line("run --threads 2 --cancellation late",
                "--cancellation 'late': expected aggressive or lazy");
    refuse_line("verify --cancellation lazy", "--cancellation lazy is for the modes that undo "
                                              "events: adaptive, optimistic, stress; not for "
                                              "sequential");
    static const char *const no_rates[] = {"0", "0.0000000001", "101%", "some"};
    for (size_t i = 0; i < COUNT_OF(no_rates); i++) {
        char line[96], expected[192];
        snprintf(line, sizeof line, "run --sync stress --stress-rate %s", no_rates[i]);
        snprintf(expected, sizeof expected,
                 "--stress-rate '%s': expected a share above 0, up to 1 or 100%%; a stress run "
                 "that undoes nothing proves nothing",
                 no_rates[i]);
        refuse_line(line, expected);
    }
    refuse_line("run --partition x", "--partition 'x': expected one of sip, block, metis");
}

static void outputs_that_exclude_each_other_are_refused(void **state)
{
    (void)state;
    refuse_line("run --op-log f --no-data",
                "--no-data leaves nothing for --op-log to replay: drop one of the two");
    refuse_line("run --op-log -",
                "--op-log '-': expected a file's name: standard output has the result");
    refuse_line("run --trace f --op-log f",
                "--op-log and --trace name one file; give each a file of its own");
    struct run_options options;
    char legal[] = "run --sync sequential --threads 1 --dump-pointers --ccl-trace t.txt "
                   "--op-log o --trace t";
    accept_line(&options, legal);
    assert_true(options.dump_pointers);
    assert_string_equal(options.ccl_trace, "t.txt");
    assert_string_equal(options.op_log, "o");
    assert_string_equal(options.timeline, "t");
}

static void an_option_that_stands_twice_is_refused(void **state)
{
    (void)state;
    refuse_line("run --seed 1 --seed 1", "--seed: given more than once");
    refuse_line("run -n 2 --iters=3", "--iters: given more than once");
    refuse_line("run --quiet --qui", "--quiet: given more than once");
    struct run_options options;
    char repeated[] = "run --set a=1 --set b=2 --set a=1";
    accept_line(&options, repeated);
    assert_int_equal(options.config.set_count, 3);
}

static void options_and_arguments_stand_in_any_order(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "topo --path 0.0.0 1.0.0 --quiet", "topo --path 0.0.0 --quiet 1.0.0",
        "topo 1.0.0 --quiet --path=0.0.0", "topo --quiet --path 0.0.0 -- 1.0.0"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct run_options topo;
        struct option_parse read = {.command = COMMAND_TOPO, .values = &topo};
        struct cw_error error = {.text = ""};
        char line[64], *argv[8], *rest = line;
        int argc = 0;
        strcpy(line, lines[i]);
        while ((argv[argc] = strsep(&rest, " ")) != NULL)
            argc++;
        run_options_defaults(&topo);
        if (options_read(&read, argc, argv, &error) != CW_OK)
            fail_msg("%s: %s", lines[i], error.text);
        assert_string_equal(topo.path_from, "0.0.0");
        assert_string_equal(topo.path_to, "1.0.0");
        assert_true(topo.quiet);
    }
    refuse_line("run -- --quiet", "unexpected argument '--quiet'");
}

static void a_report_is_made_of_up_to_2048_files(void **state)
{
    static struct report_options report;
    static char *argv[REPORT_FILES_MAX + 3] = {"report"};
    char file[] = "a.json";
    struct cw_error error = {.text = ""};
    (void)state;
    for (int i = 1; i <= REPORT_FILES_MAX + 1; i++)
        argv[i] = file;
    struct option_parse read = {.command = COMMAND_REPORT, .values = &report};
    assert_int_equal(options_read(&read, REPORT_FILES_MAX + 1, argv, &error), CW_OK);
    assert_int_equal(report.path_count, REPORT_FILES_MAX);
    memset(&report, 0, sizeof report);
    read = (struct option_parse){.command = COMMAND_REPORT, .values = &report};
    assert_int_equal(options_read(&read, REPORT_FILES_MAX + 2, argv, &error), CW_USAGE);
    assert_string_equal(error.text, "more than 2048 files; results of many points belong into one "
                                    "database, as sweep makes it");
}

/* The reader and the generated texts rely on complete rows. */
static void each_row_of_the_table_is_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *const row = &option_rows[i];
        const bool is_flag =
            row->type == OPTION_HELP || row->type == OPTION_SET || row->type == OPTION_CLEAR;
        const bool has_choices = row->type == OPTION_CHOICE || row->type == OPTION_CHOSEN_NAME;
        assert_int_equal(is_flag, row->argument == NULL);
        assert_int_equal(row->type == OPTION_OTHER, row->read != NULL);
        assert_true(!has_choices || row->choice != NULL);
        assert_true(!row->listed || row->choice != NULL);
        assert_true(row->type != OPTION_COUNT || row->max > row->min);
        assert_true(row->type == OPTION_HELP || row->bytes > 0);
        assert_int_equal(row->needs == NULL, row->needs_text == NULL);
        assert_int_equal(row->excludes == NULL, row->excludes_text == NULL);
        for (size_t k = 0; k < i; k++) /* a name and a letter stand once in a command */
            if ((option_rows[k].commands & row->commands) != 0) {
                assert_string_not_equal(option_rows[k].name, row->name);
                assert_true(row->letter == 0 || option_rows[k].letter != row->letter);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_take_units_of_1024_and_of_1000),
        cmocka_unit_test(ranges_multiply_or_add_and_are_bounded),
        cmocka_unit_test(an_empty_line_is_the_default_run),
        cmocka_unit_test(bytes_count_elements_of_the_dtype_wherever_it_stands),
        cmocka_unit_test(the_short_options_of_nccl_tests_work),
        cmocka_unit_test(benches_have_their_own_options),
        cmocka_unit_test(places_are_checked_against_the_machine),
        cmocka_unit_test(wrong_options_are_refused_with_what_is_legal),
        cmocka_unit_test(each_output_has_a_file_of_its_own),
        cmocka_unit_test(threads_choose_the_mode_unless_it_is_given),
        cmocka_unit_test(outputs_that_exclude_each_other_are_refused),
        cmocka_unit_test(an_option_that_stands_twice_is_refused),
        cmocka_unit_test(a_report_is_made_of_up_to_2048_files),
        cmocka_unit_test(options_and_arguments_stand_in_any_order),
        cmocka_unit_test(each_row_of_the_table_is_complete),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
