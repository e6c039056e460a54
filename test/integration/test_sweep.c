/*
 * test_sweep.c: `cubewarp sweep` as a user runs it: results are those of `run`, nothing runs twice,
 * a killed sweep loses only the points in flight, and a point that fails, crashes or hangs stops no
 * other.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "core/os/clock.h"
#define TEST_SCRATCH "sweep"
#include "test/support/run_cubewarp.h"
#include "test/support/sanitized.h"
#include "test/support/scratch_folder.h"

enum { PATH_BYTES = 128, KILLS = 20, TRIES_MAX = 200, KEPT_POINTS = 45 };

static const char *file_of(const char *name, const char *ending)
{
    static char paths[4][PATH_BYTES];
    static int next;
    char *const path = paths[next++ % 4];
    snprintf(path, PATH_BYTES, "%s/%s.%s", folder, name, ending);
    return path;
}

static void write_study(const char *name, const char *text)
{
    FILE *const file = fopen(file_of(name, "yaml"), "w");
    assert_non_null(file);
    fprintf(file, "study: %s\n%s", name, text);
    assert_int_equal(fclose(file), 0);
}

/* Runs `sweep NAME.yaml` into NAME.sqlite. Returns its standard output. */
static char *sweep(int exit_code, const char *study, const char *db, const char *more)
{
    struct run_output output = run_line(exit_code, "sweep %s --db %s %s", file_of(study, "yaml"),
                                        file_of(db, "sqlite"), more);
    free(output.err);
    return output.out;
}

/* All rows of a query, columns separated by '|', rows by newlines. */
static char *query(const char *db, const char *text)
{
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    char *rows = NULL;
    size_t bytes;
    FILE *const stream = open_memstream(&rows, &bytes);
    assert_int_equal(sqlite3_open_v2(file_of(db, "sqlite"), &sqlite, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    sqlite3_busy_timeout(sqlite, 10000);
    assert_int_equal(sqlite3_prepare_v2(sqlite, text, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++)
            fprintf(stream, "%s%s", i > 0 ? "|" : "",
                    (const char *)sqlite3_column_text(statement, i));
        fputc('\n', stream);
    }
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    fclose(stream);
    return rows;
}

static void change(const char *db, const char *text)
{
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(file_of(db, "sqlite"), &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(sqlite), SQLITE_OK);
}

static void query_is(const char *db, const char *text, const char *rows)
{
    char *const found = query(db, text);
    assert_string_equal(found, rows);
    free(found);
}

/* What two databases of a study have in common, whatever happened to the sweeps: neither wall
 * times nor `result`, which contains some. */
static const char *const compared[] = {
    "SELECT name, digest, points, shard, shards, text FROM study",
    "SELECT id, ordinal, digest, label, command, state, tries, exit_code, message FROM point "
    "ORDER BY id",
    "SELECT * FROM axis ORDER BY point, position",
    "SELECT * FROM row ORDER BY point, ordinal",
    "SELECT * FROM link ORDER BY point, row, kind",
};

static void databases_are_equal(const char *a, const char *b)
{
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        char *const left = query(a, compared[i]), *const right = query(b, compared[i]);
        assert_string_equal(left, right);
        free(left);
        free(right);
    }
}

static void results_are_those_of_run(void **state)
{
    (void)state;
    write_study("small", "base: {preset: tiny, n-elem: '64:128', verify-data: true}\n"
                         "axes:\n"
                         "  system.sips.count: [1, 2]\n"
                         "  defaults.n_slots: [2, 4]\n");
    free(sweep(0, "small", "small", ""));
    query_is("small", "SELECT count(*), min(state), max(exit_code), max(tries) FROM point",
             "4|done|0|1\n");
    json_t *const root =
        run_json("run --preset tiny --n-elem 64:128 --verify-data --set system.sips.count=2 --set "
                 "defaults.n_slots=2");
    const json_t *const row = json_array_get(json_object_get(root, "results"), 1);
    char expected[200];
    snprintf(expected, sizeof expected, "1|128|%.15g|0|%s|%s|2|1\n",
             json_real_value(json_object_get(row, "time_ns")),
             json_string_value(json_object_get(row, "data_hash")),
             json_string_value(json_object_get(root, "config_digest")));
    query_is("small",
             "SELECT ordinal, count, time_ns, wrong, data_hash, config_digest, sips, seed FROM row "
             "WHERE point = 3 AND count = 128",
             expected);
    json_decref(root);
    char *const text = query("small", "SELECT result FROM point WHERE id = 3");
    json_t *const kept = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(kept, "results")), 2);
    json_decref(kept);
    free(text);
}

/* Runs each point of the study in a process of its own, into the database `db`. */
static void run_points_apart(const char *study, const char *db, int points)
{
    char paths[KEPT_POINTS][PATH_BYTES], whole[PATH_BYTES], shards[32];
    const char *merge[KEPT_POINTS + 6] = {"sweep", "merge", "--db", whole};
    assert_true(points <= KEPT_POINTS);
    snprintf(whole, sizeof whole, "%s", file_of(db, "sqlite"));
    for (int i = 0; i < points; i++) {
        snprintf(paths[i], PATH_BYTES, "%s/part%d.sqlite", folder, i);
        snprintf(shards, sizeof shards, "%d/%d", i + 1, points);
        const char *const line[] = {
            "sweep", file_of(study, "yaml"), "--db", paths[i], "--shard", shards, "--quiet", NULL};
        struct run_output output = run_cubewarp(line);
        assert_true(output.exit_code == 0 || output.exit_code == 3);
        run_output_free(&output);
        merge[4 + i] = paths[i];
    }
    struct run_output output = run_cubewarp(merge);
    run_output_free(&output);
}

/* What is as it should be is not said; what is not, in the last lines. */
static void quiet_is_said_to_nobody(void **state)
{
    (void)state;
    write_study("calm", "base: {preset: tiny, bytes: 256}\naxes:\n  system.sips.count: [2, 4]\n");
    write_study("refused", "base: {preset: tiny, bytes: 256}\naxes:\n  system.sips.count: [2, 7]\n"
                           "  system.sips.topology: [torus_2d]\n  system.sips.w: [2]\n");
    struct run_output output =
        run_line(0, "sweep --quiet %s --db %s", file_of("calm", "yaml"), file_of("calm", "sqlite"));
    assert_string_equal(output.out, "");
    assert_string_equal(output.err, "");
    run_output_free(&output);
    output = run_line(3, "sweep --quiet %s --db %s", file_of("refused", "yaml"),
                      file_of("refused", "sqlite"));
    assert_non_null(strstr(output.out, "refused: 2 points in "));
    assert_non_null(strstr(output.out, "failures: sqlite3 "));
    run_output_free(&output);
}

/* Machines that several points share are kept, in any order of the points, and beside points
 * that fail. */
static void kept_machines_change_no_row(void **state)
{
    (void)state;
    write_study("kept", "base: {preset: tiny, system.sips.count: 2}\n"
                        "axes:\n"
                        "  work:\n"
                        "    small: {bytes: 256, no-data: true}\n"
                        "    checked: {bytes: 1KiB, verify-data: true}\n"
                        "    sizes: {bytes: '64:1KiB:x4', explain: true}\n"
                        "  algorithm: [ring_allreduce, ring_rs_ag, tree_allreduce]\n"
                        "  case:\n"
                        "    plain: {defaults.n_slots: 4}\n"
                        "    narrow: {defaults.n_slots: 2}\n"
                        "    jitter: {faults.slow.nodes: pe_math, faults.slow.slower: 20}\n"
                        "    limited: {max-events: 900}\n"
                        "    short: {max-events: 20}\n");
    free(sweep(3, "kept", "kept_one", "--jobs 1"));
    free(sweep(3, "kept", "kept_three", "--jobs 3"));
    run_points_apart("kept", "kept_apart", KEPT_POINTS);
    databases_are_equal("kept_one", "kept_three");
    databases_are_equal("kept_one", "kept_apart");
    query_is("kept_one", "SELECT state, count(*) FROM point GROUP BY state",
             "done|31\nfailed|14\n");
}

static void the_same_study_twice_does_nothing(void **state)
{
    (void)state;
    write_study("twice", "base: {preset: tiny, no-data: true}\naxes: {seed: '1:4:+1'}\n");
    free(sweep(0, "twice", "twice", ""));
    char *const before = query("twice", "SELECT * FROM point ORDER BY id");
    char *const out = sweep(0, "twice", "twice", "--resume");
    assert_non_null(strstr(out, "twice: nothing to run"));
    free(out);
    query_is("twice", "SELECT * FROM point ORDER BY id", before);
    char *const dry = sweep(0, "twice", "twice", "--dry-run");
    assert_string_equal(dry, "# twice: no point is left to run; --retry runs those again that have "
                             "no result\n");
    free(dry);
    free(before);
}

/* A point that has left rows and links behind, and is recorded once more, has them once. */
static void a_point_that_runs_again_replaces_its_rows_and_links(void **state)
{
    (void)state;
    static const char rows[] = "SELECT * FROM row ORDER BY 1, 2, 3",
                      links[] = "SELECT * FROM link ORDER BY 1, 2, 3";
    write_study("rerun", "base: {preset: tiny, no-data: true}\naxes: {seed: [1, 2]}\n");
    free(sweep(0, "rerun", "rerun", ""));
    char *const rows_before = query("rerun", rows), *const links_before = query("rerun", links);
    assert_true(strlen(rows_before) > 0 && strlen(links_before) > 0);
    change("rerun", "UPDATE point SET state = 'failed', exit_code = 4 WHERE ordinal = 1");
    free(sweep(0, "rerun", "rerun", "--retry"));
    query_is("rerun", "SELECT group_concat(tries) FROM (SELECT tries FROM point ORDER BY id)",
             "1,2\n");
    query_is("rerun", rows, rows_before);
    query_is("rerun", links, links_before);
    free(rows_before);
    free(links_before);
}

/* Two machines, each with a short and a longer size: points of a machine follow each other. Then a
 * point's memory is its own, though its process had more before. */
static void the_longest_points_come_first(void **state)
{
    (void)state;
    write_study("longest", "base: {no-data: true}\n"
                           "axes: {preset: [tiny, default], bytes: [1KiB, 8MiB, 64KiB]}\n");
    char *const dry = sweep(0, "longest", "longest", "--dry-run");
    unsigned order[6] = {0};
    const char *at = strchr(dry, '\n');
    for (size_t i = 0; i < 6; i++, at = strchr(at + 1, '\n'))
        assert_int_equal(sscanf(at, " %u", &order[i]), 1);
    static const unsigned expected[6] = {4, 5, 3, 1, 2, 0};
    if (memcmp(order, expected, sizeof order) != 0)
        fail_msg("%s", dry);
    free(dry);
}

static void memory_is_a_point_s_own(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* memory that is freed stays in the sanitizer's quarantine */
#endif
    write_study("peaks", "axes: {bytes: [256KiB, 16]}\n");
    free(sweep(0, "peaks", "peaks", "-j 1"));
    query_is("peaks",
             "SELECT a.peak > 2 * b.peak FROM (SELECT ordinal, "
             "json_extract(result, '$.engine.peak_rss_bytes') AS peak FROM point) a, "
             "(SELECT ordinal, json_extract(result, '$.engine.peak_rss_bytes') AS peak FROM point) "
             "b WHERE a.ordinal = 0 AND b.ordinal = 1",
             "1\n");
}

/* A named case may have any name, but its escape sequences do not reach a terminal. */
static void labels_are_shown_without_control_characters(void **state)
{
    (void)state;
    write_study("escapes", "base: {preset: tiny, no-data: true}\n"
                           "axes: {machine: {\"\\e[2Jred\\tx\": {seed: 1}, blue: {seed: 2}}}\n");
    char *const dry = sweep(0, "escapes", "escapes", "--dry-run");
    if (strstr(dry, "  machine=?[2Jred?x\n") == NULL || strchr(dry, '\x1b') != NULL)
        fail_msg("%s", dry);
    free(dry);
}

static void a_database_of_another_study_is_refused(void **state)
{
    (void)state;
    write_study("one", "base: {preset: tiny, no-data: true}\n");
    write_study("other", "base: {preset: tiny, no-data: true, seed: 2}\n");
    free(sweep(0, "one", "one", ""));
    free(sweep(2, "other", "one", ""));
    free(sweep(2, "other", "absent", "--resume"));
    assert_int_not_equal(access(file_of("absent", "sqlite"), F_OK), 0);
}

/* Both options continue an existing database: a typing error does not begin a new one. */
static void a_database_that_is_not_there_is_refused_with_the_nearest_name(void **state)
{
    (void)state;
    static const char *const options[] = {"--extend", "--resume"};
    write_study("speeds", "base: {preset: tiny, no-data: true}\n");
    free(sweep(0, "speeds", "speeds", ""));
    for (size_t i = 0; i < 2; i++) {
        char message[200];
        struct run_output output = run_line(2, "sweep %s --db %s %s", file_of("speeds", "yaml"),
                                            file_of("spedes", "sqlite"), options[i]);
        snprintf(message, sizeof message,
                 "spedes.sqlite: there is no such database; %s continues an existing one; did "
                 "you mean 'speeds.sqlite'?",
                 options[i]);
        assert_non_null(strstr(output.err, message));
        run_output_free(&output);
        output = run_line(2, "sweep %s --db %s %s", file_of("speeds", "yaml"),
                          file_of("quite_another", "sqlite"), options[i]);
        assert_null(strstr(output.err, "did you mean"));
        run_output_free(&output);
    }
    assert_int_not_equal(access(file_of("spedes", "sqlite"), F_OK), 0);
    assert_int_not_equal(access(file_of("quite_another", "sqlite"), F_OK), 0);
}

/* A size is in its row, as a number, and nowhere else; the refusal of a changed study still names
 * it. */
static void a_size_is_one_number_in_the_database(void **state)
{
    (void)state;
    write_study("sizes", "base: {preset: tiny, no-data: true}\n"
                         "axes: {bytes-per-rank: [1KiB, 2KiB], seed: [1]}\n");
    free(sweep(0, "sizes", "sizes", ""));
    char *text = query("sizes", "SELECT group_concat(DISTINCT name) FROM axis");
    assert_string_equal(text, "seed\n");
    free(text);
    text = query("sizes", "SELECT group_concat(bytes_per_rank) FROM row");
    assert_string_equal(text, "1024,2048\n");
    free(text);
    write_study("sizes", "base: {preset: tiny, no-data: true}\n"
                         "axes: {bytes-per-rank: [1KiB, 4KiB], seed: [1]}\n");
    struct run_output output =
        run_line(2, "sweep %s --db %s", file_of("sizes", "yaml"), file_of("sizes", "sqlite"));
    assert_non_null(strstr(output.err, "(changed: bytes-per-rank)"));
    run_output_free(&output);
}

static void expect_compared(int code, const char *a, const char *b, const char *options,
                            const char *text)
{
    struct run_output output =
        run_line(code, "compare %s %s %s", file_of(a, "sqlite"), file_of(b, "sqlite"), options);
    if (strstr(output.out, text) == NULL)
        print_error("not said: %s\nbut: %s\n", text, output.out);
    assert_non_null(strstr(output.out, text));
    run_output_free(&output);
}

/* Nights of one study: its points by their settings, whatever their order. */
static void two_sweeps_of_a_study_are_compared_point_by_point(void **state)
{
    (void)state;
    write_study("night", "base: {preset: tiny, no-data: true}\n"
                         "axes: {links.ucie.bw_gbs: [100, 50], bytes: [1KiB, 2KiB]}\n");
    write_study("other_night", "base: {preset: tiny, no-data: true}\n"
                               "axes: {bytes: [2KiB, 1KiB, 4KiB], links.ucie.bw_gbs: [50]}\n");
    free(sweep(0, "night", "night", ""));
    free(sweep(0, "night", "again", ""));
    free(sweep(0, "other_night", "other_night", ""));
    expect_compared(0, "night", "again", "",
                    "the same: 4 points of both, 0 missing in B, 0 new in B;"
                    " 0 of 4 sizes differ by more than 0 %");
    expect_compared(0, "night", "again", "--format junit", "tests=\"4\" failures=\"0\"");
    expect_compared(1, "night", "other_night", "",
                    "2 points of both, 2 missing in B, 1 new in B; 0 of 2");
    expect_compared(1, "night", "other_night", "--format markdown",
                    "| not in B | links.ucie.bw_gbs=100, bytes=2KiB |");
    expect_compared(1, "night", "other_night", "--format github",
                    "::error title=bytes=4KiB%2C links.ucie.bw_gbs=50 DIFFERS::not in A");
    /* Another program: one time is 2 % longer. */
    change("again", "UPDATE point SET result = json_set(result, '$.results[0].time_ns',"
                    " json_extract(result, '$.results[0].time_ns') * 1.02) WHERE ordinal = 0");
    expect_compared(1, "night", "again", "",
                    "1 of 4 sizes differs by more than 0 %; the largest change of a time: +2.00 %"
                    " (links.ucie.bw_gbs=100, bytes=1KiB)");
    expect_compared(1, "night", "again", "--tolerance 1", "DIFFERS");
    expect_compared(0, "night", "again", "--tolerance 3", "the same");
    /* ... and its ranks end with other bits, where they did not: no tolerance covers that. */
    change("again", "UPDATE point SET result = json_set(result, '$.results[0].ranks_differ', 2)"
                    " WHERE ordinal = 1");
    expect_compared(1, "night", "again", "--tolerance 3", "RANKS DIFFER");
    expect_compared(0, "again", "night", "--tolerance 3", "the same");
    expect_compared(0, "again", "again", "", "the same");
    change("again", "UPDATE point SET result = json_set(result, '$.results[0].ranks_differ', 0)"
                    " WHERE ordinal = 1");
    struct run_output output = run_line(1, "compare %s %s --format json",
                                        file_of("night", "sqlite"), file_of("again", "sqlite"));
    json_t *const json = json_loads(output.out, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "schema")),
                        "cubewarp.compare-study/1");
    assert_int_equal(json_integer_value(json_object_get(json, "differing")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "points")), 4);
    json_decref(json);
    run_output_free(&output);
}

/* A study in which only `base` has changed is paired by its labels; points that A has not run yet
 * are no difference, points that B has lost are; a result is no study. */
static void studies_with_other_bases_or_missing_points_are_compared(void **state)
{
    (void)state;
    write_study("slow", "base: {preset: tiny, no-data: true, links.ucie.bw_gbs: 50}\n"
                        "axes: {bytes: [1KiB, 2KiB]}\n");
    write_study("fast", "base: {preset: tiny, no-data: true, links.ucie.bw_gbs: 100}\n"
                        "axes: {bytes: [1KiB, 2KiB]}\n");
    free(sweep(0, "slow", "slow", ""));
    free(sweep(0, "slow", "part", ""));
    free(sweep(0, "fast", "fast", ""));
    expect_compared(1, "slow", "fast", "", "2 points are paired by label");
    expect_compared(1, "slow", "fast", "", "links.ucie.bw_gbs                        50          ");
    change("part", "DELETE FROM point WHERE ordinal = 1");
    expect_compared(0, "part", "slow", "", "the same: 1 point of both, 0 missing in B, 1 new in B");
    expect_compared(1, "slow", "part", "", "not in B");
    change("part", "UPDATE point SET state = 'timeout'");
    expect_compared(1, "slow", "part", "", "done in A, timeout in B");
    expect_compared(0, "part", "slow", "", "timeout in A, done in B");
    struct run_output output =
        run_line(2, "compare %s %s", file_of("slow", "sqlite"), file_of("slow", "yaml"));
    assert_non_null(strstr(output.err, "slow.yaml is none; expected two results of run --json, or"
                                       " two databases of sweep"));
    run_output_free(&output);
}

/* The refusal says how far two studies agree; --extend keeps these points, and loses nothing. */
static void a_changed_study_keeps_the_points_that_agree(void **state)
{
    (void)state;
    write_study("was", "base: {preset: tiny, no-data: true, n-elem: 64}\n"
                       "axes: {seed: [1, 2, 3], op: [max, sum]}\n");
    write_study("now", "base: {preset: tiny, no-data: true, n-elem: 64}\n"
                       "axes: {op: [sum, min], seed: [2, 3, 4]}\n");
    free(sweep(0, "was", "grown", ""));
    free(sweep(0, "now", "fresh", ""));
    struct run_output output =
        run_line(2, "sweep %s --db %s", file_of("now", "yaml"), file_of("grown", "sqlite"));
    assert_non_null(strstr(output.err, "of its 6 points 2 are in it still, and 4 of the study's 6 "
                                       "points are new (changed: op, seed)."));
    assert_non_null(strstr(output.err, "--extend continues"));
    run_output_free(&output);
    char *const seconds = query("grown", "SELECT seconds FROM point ORDER BY digest");
    char *const out = sweep(0, "now", "grown", "--extend");
    assert_non_null(strstr(out, "now: 4 points in "));
    free(out);
    databases_are_equal("grown", "fresh");
    query_is("grown", "SELECT count(*), max(state) FROM former", "4|done\n");
    /* and back: nothing is left to run, since `former` has everything that was taken out */
    char *const again = sweep(0, "was", "grown", "--extend");
    assert_non_null(strstr(again, "was: nothing to run"));
    free(again);
    query_is("grown", "SELECT seconds FROM point ORDER BY digest", seconds);
    free(seconds);
    free(sweep(0, "was", "whole", ""));
    databases_are_equal("grown", "whole");
}

/* Wrong data are counted in each sweep, and when parts are merged. */
static void wrong_data_are_not_forgotten(void **state)
{
    (void)state;
    write_study("wrong", "base: {preset: tiny, no-data: true}\naxes: {seed: [1, 2]}\n");
    free(sweep(0, "wrong", "wrong", ""));
    change("wrong", "UPDATE point SET exit_code = 1 WHERE ordinal = 1");
    char *const out = sweep(1, "wrong", "wrong", "");
    assert_non_null(strstr(out, "wrong.sqlite; 1 with wrong data\n"));
    free(out);
    struct run_output merged = run_line(1, "sweep merge --db %s %s", file_of("merged", "sqlite"),
                                        file_of("wrong", "sqlite"));
    assert_non_null(strstr(merged.out, "2 done, 0 not done, 0 missing; 1 with wrong data\n"));
    run_output_free(&merged);
}

/* Whatever the options, a task gets a time that schedulers accept. */
static void a_task_takes_a_year_at_most(void **state)
{
    (void)state;
    write_study("long", "base: {preset: pod1024, n-elem: 2147483648, iters: 1000000, no-data: true}"
                        "\naxes: {seed: 1:4000:+1}\n");
    struct run_output output =
        run_line(0, "sweep %s --emit slurm --tasks 1", file_of("long", "yaml"));
    assert_non_null(strstr(output.out, "\n#SBATCH --time=525600\n"));
    run_output_free(&output);
}

/* The number after `before`. */
static unsigned long long number_after(const char *text, const char *before)
{
    unsigned long long number = 0;
    const char *const at = strstr(text, before);
    if (at == NULL || sscanf(at + strlen(before), "%llu", &number) != 1)
        fail_msg("no number after %s in %s", before, text);
    return number;
}

/* Slurm's memory is a task's, SGE's a slot's, of which a task has as many as cores. */
static void memory_is_asked_for_as_each_scheduler_counts_it(void **state)
{
    (void)state;
    enum { CORES = 4 };
    write_study("slots", "base: {preset: tiny, no-data: true}\naxes: {seed: 1:8:+1}\n");
    struct run_output slurm =
        run_line(0, "sweep %s --emit slurm --jobs 4 --tasks 2", file_of("slots", "yaml"));
    struct run_output sge =
        run_line(0, "sweep %s --emit sge --jobs 4 --tasks 2", file_of("slots", "yaml"));
    const unsigned long long task_mib = number_after(slurm.out, "#SBATCH --mem=");
    assert_int_equal(number_after(slurm.out, "#SBATCH --cpus-per-task="), CORES);
    assert_int_equal(number_after(sge.out, "#$ -pe smp "), CORES);
    assert_true(task_mib >= CORES);
    assert_int_equal(number_after(sge.out, "#$ -l h_vmem="), task_mib / CORES);
    run_output_free(&slurm);
    run_output_free(&sge);
}

static void a_damaged_database_is_refused(void **state)
{
    (void)state;
    write_study("cut", "base: {preset: tiny, no-data: true}\naxes: {seed: [1, 2]}\n");
    free(sweep(0, "cut", "cut", ""));
    assert_int_equal(truncate(file_of("cut", "sqlite"), 20000), 0);
    struct run_output output =
        run_line(2, "sweep %s --db %s", file_of("cut", "yaml"), file_of("cut", "sqlite"));
    assert_non_null(strstr(output.err, "cut.sqlite: the database is damaged, perhaps cut short"));
    run_output_free(&output);
}

static void failures_stop_no_other_point(void **state)
{
    (void)state;
    write_study("failing",
                "base: {preset: tiny, no-data: true}\n"
                "axes:\n"
                "  case:\n"
                "    too many events: {max-events: 10}\n"
                "    refused: {system.sips.count: 12, system.sips.topology: torus_2d, "
                "system.sips.w: 5, system.sips.h: 5}\n"
                "    endless: {preset: pod64, bytes: 64KiB, iters: 100000, repeat: off}\n"
                "    good: {seed: 2}\n");
    free(sweep(3, "failing", "failing", "--point-timeout 3"));
    query_is("failing",
             "SELECT label, state, exit_code, message <> '', result IS NULL FROM point ORDER BY id",
             "case=too many events|failed|3|1|0\n"
             "case=refused|refused|2|1|1\n"
             "case=endless|timeout|124|1|1\n"
             "case=good|done|0|0|0\n");
    query_is("failing", "SELECT count(*) FROM failure", "3\n");
    free(sweep(3, "failing", "failing", "--retry --point-timeout 3s"));
    query_is("failing", "SELECT group_concat(tries) FROM (SELECT tries FROM point ORDER BY id)",
             "2,2,2,1\n");
}

static void refused(const char *line, const char *error)
{
    struct run_output output = run_line(2, "%s", line);
    if (strstr(output.err, error) == NULL)
        fail_msg("%s: %s", line, output.err);
    run_output_free(&output);
}

static void options_that_would_do_nothing_are_refused(void **state)
{
    (void)state;
    refused("sweep", "name a study: cubewarp sweep STUDY.yaml");
    refused("sweep a.yaml b.yaml", "unexpected argument 'b.yaml'; one study at a time");
    refused("sweep merg --db x.sqlite a.sqlite", "did you mean 'sweep merge'?");
    refused("sweep merge --db x.sqlite", "name the databases");
    refused("sweep merge a.sqlite", "name the database to make");
    refused("sweep merge --db a.sqlite b.sqlite ./a.sqlite", "a.sqlite is a part to merge");
    refused("sweep merge --db x.sqlite --dry-run a.sqlite",
            "--dry-run: merge runs nothing, and takes --db alone");
    refused("sweep a.yaml --extend --dry-run", "--extend changes the database, and --dry-run");
    refused("sweep a.yaml --tasks 3", "--tasks is for --emit");
    refused("sweep a.yaml --emit slurm --shard 1/2", "--emit is for the whole study: drop --shard");
    refused("sweep a.yaml --emit slurm --retry", "drop --retry");
    refused("sweep a.yaml --emit slurm --db x.sqlite", "drop --db");
    refused("sweep a.yaml --emit slum", "slurm");
    refused("sweep a.yaml --point-timeout 0", "expected a time above 0");
}

/* Starts a sweep without waiting for it. */
static pid_t begin_sweep(const char *study, const char *db, const char *more)
{
    const char *const program = getenv("CUBEWARP");
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stdout);
        execl(program != NULL ? program : "build/cubewarp", "cubewarp", "sweep",
              file_of(study, "yaml"), "--db", file_of(db, "sqlite"), "--quiet", more, (char *)NULL);
        _exit(127);
    }
    return child;
}

/* The process that a sweep has forked, other than `other`; waits for it if necessary. */
static pid_t worker_of(pid_t sweeping, pid_t other)
{
    char path[64];
    int worker = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)sweeping, (int)sweeping);
    for (int i = 0; i < 1000 && (worker == 0 || worker == other); i++) {
        FILE *const file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%d", &worker) != 1 || worker == other)
            usleep(5000);
        if (file != NULL)
            fclose(file);
    }
    assert_true(worker > 0 && worker != other);
    return worker;
}

/* The same, after it has worked for a fifth of a second: then it has a point, however busy the
 * machine. */
static pid_t busy_worker_of(pid_t sweeping, pid_t other)
{
    enum { TICKS = 20, LOOKS_MAX = 6000 };
    const pid_t worker = worker_of(sweeping, other);
    char path[64];
    unsigned long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)worker);
    for (int i = 0; i < LOOKS_MAX && ticks < TICKS; i++) {
        FILE *const file = fopen(path, "r");
        assert_non_null(file);
        if (fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &ticks) != 1)
            ticks = 0;
        fclose(file);
        usleep(20000);
    }
    assert_true(ticks >= TICKS);
    return worker;
}

/* The number of points in a database; 0 before it is one. */
static int count_points(const char *db)
{
    sqlite3 *sqlite = NULL;
    sqlite3_stmt *statement = NULL;
    int count = 0;
    if (sqlite3_open_v2(file_of(db, "sqlite"), &sqlite, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(sqlite, "SELECT count(*) FROM point", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    return count;
}

/* The first kill may hit the whole job: nothing is recorded for it. Signals that a launcher
 * ignores change nothing. */
static void a_point_whose_process_is_killed_runs_again_once(void **state)
{
    (void)state;
    int status;
    write_study("crash",
                "base: {preset: pod64, bytes: 64KiB, iters: 100000, no-data: true, repeat: off}\n"
                "axes: {case: {long: {seed: 1}, short: {bytes: 1KiB, preset: tiny, iters: 1}}}\n");
    signal(SIGHUP, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    const pid_t sweeping = begin_sweep("crash", "crash", "-j1");
    signal(SIGHUP, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    const pid_t first = busy_worker_of(sweeping, 0);
    assert_int_equal(kill(sweeping, SIGHUP), 0);
    assert_int_equal(kill(first, SIGKILL), 0);
    for (int i = 0; i < TRIES_MAX && count_points("crash") == 0; i++)
        usleep(100000);
    const pid_t second = busy_worker_of(sweeping, first);
    query_is("crash", "SELECT label, state FROM point ORDER BY id", "case=short|done\n");
    assert_int_equal(kill(second, SIGTERM), 0);
    assert_int_equal(waitpid(sweeping, &status, 0), sweeping);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    query_is("crash",
             "SELECT label, state, exit_code, substr(message, 1, 36) FROM point ORDER BY id",
             "case=long|failed|143|its process was ended by signal 15 (\n"
             "case=short|done|0|\n");
}

static void one_database_has_one_writer(void **state)
{
    (void)state;
    int status;
    write_study("busy",
                "base: {preset: pod64, bytes: 64KiB, iters: 100000, no-data: true, repeat: off}\n");
    const pid_t sweeping = begin_sweep("busy", "busy", "-j1");
    (void)worker_of(sweeping, 0);
    free(sweep(2, "busy", "busy", ""));
    assert_int_equal(kill(sweeping, SIGTERM), 0);
    assert_int_equal(waitpid(sweeping, &status, 0), sweeping);
    assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
    query_is("busy", "SELECT count(*) FROM point", "0\n");
}

static int from_environment(const char *name, int otherwise)
{
    const char *const text = getenv(name);
    return text != NULL ? atoi(text) : otherwise;
}

/* A study of 30 points for each of so many link speeds. */
static int write_killed_study(int speeds)
{
    char text[512];
    snprintf(text, sizeof text,
             "base: {preset: tiny, no-data: true}\n"
             "axes:\n"
             "  algorithm: [ring_allreduce, tree_allreduce, lrab_hierarchical_allreduce]\n"
             "  system.sips.count: [2, 4]\n"
             "  n-elem: [64, 128, 256, 512, 1024]\n"
             "  links.sip_link.bw_gbs: 10:%d:+10\n",
             10 * speeds);
    write_study("killed", text);
    return 30 * speeds;
}

/* A sweep killed at random moments, by default 20 times in 300 points: a point with a row keeps
 * it, and in the end the database is that of an undisturbed sweep. SWEEP_KILLS and SWEEP_SPEEDS
 * (30 points each) change these numbers: test/nightly.sh kills 10 times in 5,010 points. */
static void a_killed_sweep_loses_the_points_in_flight_alone(void **state)
{
    (void)state;
    int status, killed = 0, middle = 0, points = 0;
    unsigned seed = 17;
    assert_int_equal(setenv("CUBEWARP_SHORTCUTS", "off", 1), 0); /* points that take their time */
    const int all = write_killed_study(from_environment("SWEEP_SPEEDS", 10));
    const int kills = from_environment("SWEEP_KILLS", sanitized ? KILLS / 2 : KILLS);
    const double begun_s = clock_s();
    free(sweep(0, "killed", "undisturbed", "-j2"));
    const double undisturbed_s = clock_s() - begun_s;
    const unsigned within_us = (unsigned)(1e6 * undisturbed_s / 4);
    assert_int_equal(count_points("undisturbed"), all);
    for (int i = 0; killed < kills && i < TRIES_MAX; i++) {
        if (points == all) { /* it ended before it could be killed: start again */
            assert_int_equal(unlink(file_of("killed", "sqlite")), 0);
            points = 0;
        }
        const pid_t sweeping = begin_sweep("killed", "killed", "-j2");
        usleep(1000 + (unsigned)rand_r(&seed) % within_us);
        kill(sweeping, SIGKILL);
        assert_int_equal(waitpid(sweeping, &status, 0), sweeping);
        killed += WIFSIGNALED(status);
        const int now = count_points("killed");
        assert_true(now >= points);
        middle += now > points && now < all;
        points = now;
    }
    printf("%d points, undisturbed in %.1f s; %d times killed, %d of them between two points, %d "
           "points left\n",
           all, undisturbed_s, killed, middle, all - points);
    assert_int_equal(killed, kills);
    assert_true(middle > 0);
    free(sweep(0, "killed", "killed", ""));
    databases_are_equal("killed", "undisturbed");
    assert_int_equal(unsetenv("CUBEWARP_SHORTCUTS"), 0);
}

static void studies_that_ship_are_legal(void **state)
{
    static const struct {
        const char *name;
        int points;
    } shipped[] = {{"allreduce_latency", 36}, {"allreduce_memory", 12}, {"gemm", 24},
                   {"scaling", 108},          {"link_speeds", 84},      {"slow_pe", 48},
                   {"reduce_scatter", 72},    {"tensor_data", 16},      {"plans", 15},
                   {"plans_175b", 12},        {"scaling_million", 24}};
    (void)state;
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        char expected[64];
        if (sanitized && strncmp(shipped[i].name, "plans", 5) == 0)
            continue; /* steps of large models */
        struct run_output output = run_line(0, "sweep configs/studies/%s.yaml --db %s --dry-run",
                                            shipped[i].name, file_of("no", "sqlite"));
        snprintf(expected, sizeof expected, "%d of %d points to run", shipped[i].points,
                 shipped[i].points);
        assert_non_null(strstr(output.out, expected));
        assert_null(strstr(output.out, "refused"));
        run_output_free(&output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_run),
        cmocka_unit_test(quiet_is_said_to_nobody),
        cmocka_unit_test(kept_machines_change_no_row),
        cmocka_unit_test(the_same_study_twice_does_nothing),
        cmocka_unit_test(a_point_that_runs_again_replaces_its_rows_and_links),
        cmocka_unit_test(the_longest_points_come_first),
        cmocka_unit_test(memory_is_a_point_s_own),
        cmocka_unit_test(labels_are_shown_without_control_characters),
        cmocka_unit_test(a_database_of_another_study_is_refused),
        cmocka_unit_test(a_database_that_is_not_there_is_refused_with_the_nearest_name),
        cmocka_unit_test(a_size_is_one_number_in_the_database),
        cmocka_unit_test(two_sweeps_of_a_study_are_compared_point_by_point),
        cmocka_unit_test(studies_with_other_bases_or_missing_points_are_compared),
        cmocka_unit_test(a_changed_study_keeps_the_points_that_agree),
        cmocka_unit_test(wrong_data_are_not_forgotten),
        cmocka_unit_test(a_task_takes_a_year_at_most),
        cmocka_unit_test(memory_is_asked_for_as_each_scheduler_counts_it),
        cmocka_unit_test(a_damaged_database_is_refused),
        cmocka_unit_test(failures_stop_no_other_point),
        cmocka_unit_test(options_that_would_do_nothing_are_refused),
        cmocka_unit_test(a_point_whose_process_is_killed_runs_again_once),
        cmocka_unit_test(one_database_has_one_writer),
        cmocka_unit_test(studies_that_ship_are_legal),
        cmocka_unit_test(a_killed_sweep_loses_the_points_in_flight_alone),
    };
    return cmocka_run_group_tests_name("sweep", tests, make_folder, remove_folder);
}
