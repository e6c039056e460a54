/*
 * test_study_db.c: databases of studies: those that cannot be written, each with its exact message;
 * the lock, which one sweep holds and no process that it forks; names that change; rows that arrive
 * packed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "bench/study/study_db.h"
#include "bench/study/study_read.h"
#include "bench/study/study_rows.h"
#include "core/cw.h"

#define TEST_SCRATCH "study-db"
#include "test/support/scratch_folder.h"

static struct study *study;

static int make_study(void **state)
{
    struct config_errors errors = {0};
    if (make_folder(state) != 0)
        return -1;
    FILE *const file = fopen(in_folder("study.yaml"), "w");
    if (file == NULL)
        return -1;
    fputs("study: s\nbase: {preset: tiny}\naxes:\n  n-elem: [64, 128]\n", file);
    if (fclose(file) != 0)
        return -1;
    const int code = study_read(in_folder("study.yaml"), &study, &errors);
    config_errors_print(stderr, &errors);
    return code == CW_OK ? 0 : -1;
}

static int remove_study(void **state)
{
    study_free(study);
    return remove_folder(state);
}

static int open_at(const char *path, struct study_db **db, struct cw_error *error)
{
    return study_db_open(path, study, (struct study_shard){1, 1},
                         (struct study_opening){.must_exist = false}, db, error);
}

static int read_at(const char *path, struct study_db **db, struct cw_error *error)
{
    return study_db_open(path, study, (struct study_shard){1, 1},
                         (struct study_opening){.reads = true}, db, error);
}

static void refused(const char *path, int code, const char *why)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct study_db *db;
    char expected[256];
    snprintf(expected, sizeof expected, why, path);
    assert_int_equal(open_at(path, &db, &error), code);
    assert_null(db);
    assert_string_equal(cw_error_text(&error), expected);
}

static void a_database_that_cannot_be_made_says_why(void **state)
{
    static const char *const why[] = {
        "%s: No such file or directory", "%s: is a directory; expected the database of a study",
        "cannot write %s: it is a symbolic link to a file that is not there; remove the link, or "
        "name another file",
        "cannot write %s: the file is there and read-only; remove it, or name another file"};
    const char *const link = in_folder("link"), *const file = in_folder("study.yaml");
    (void)state;
    refused("/nonexistent/s.sqlite", CW_NO_RESOURCE, why[0]);
    refused(folder, CW_USAGE, why[1]);
    assert_int_equal(symlink("nowhere", link), 0);
    refused(link, CW_NO_RESOURCE, why[2]);
    assert_int_equal(chmod(file, 0444), 0);
    refused(file, CW_NO_RESOURCE, why[3]);
    assert_int_equal(chmod(file, 0644), 0);
    refused(file, CW_USAGE,
            "%1$s: the database is damaged, perhaps cut short: file is not a database. Take a "
            "whole copy of it; 'sqlite3 %1$s .recover | sqlite3 saved.sqlite' may save rows");
}

/* Ends like a process that a sweep has forked for a point. */
static void fork_one(struct study_db *db)
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        study_db_forked(db);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A missing database is not created, and one that its sweep has only begun has no point. */
static void a_database_that_is_only_read_is_left_as_it_is(void **state)
{
    struct cw_error error = {.exit_code = CW_OK};
    enum study_state states[2] = {STUDY_DONE, STUDY_DONE};
    struct study_db *db;
    struct stat status;
    const char *const path = in_folder("begun.sqlite");
    (void)state;
    assert_int_equal(read_at(path, &db, &error), CW_USAGE);
    assert_null(db);
    assert_int_equal(stat(path, &status), -1);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(read_at(path, &db, &error), CW_OK);
    assert_int_equal(study_db_states(db, states, &error), CW_OK);
    assert_int_equal(states[0], STUDY_OPEN);
    assert_int_equal(states[1], STUDY_OPEN);
    assert_int_equal(study_db_close(db, &error), CW_OK);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 0);
}

static void one_sweep_at_a_time_writes_a_database(void **state)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct study_db *db;
    const char *const path = in_folder("locked.sqlite");
    (void)state;
    assert_int_equal(open_at(path, &db, &error), CW_OK);
    for (int i = 0; i < 2; i++) {
        refused(path, CW_USAGE,
                "%s: another sweep writes to it; wait for its end, or give each its own --db");
        fork_one(db); /* whose end leaves the lock to this process */
    }
    /* A dry run reads the points meanwhile. */
    enum study_state states[2] = {STUDY_DONE, STUDY_DONE};
    const struct study_outcome outcome = {.state = STUDY_FAILED, .exit_code = 1, .message = "no"};
    struct study_db *reader;
    assert_int_equal(study_db_record(db, 1, &outcome, &error), CW_OK);
    assert_int_equal(study_db_commit(db, &error), CW_OK);
    assert_int_equal(read_at(path, &reader, &error), CW_OK);
    assert_int_equal(study_db_states(reader, states, &error), CW_OK);
    assert_int_equal(states[0], STUDY_OPEN);
    assert_int_equal(states[1], STUDY_FAILED);
    assert_int_equal(study_db_close(reader, &error), CW_OK);
    assert_int_equal(study_db_close(db, &error), CW_OK);
    assert_int_equal(open_at(path, &db, &error), CW_OK);
    assert_int_equal(study_db_close(db, &error), CW_OK);
}

static void a_part_that_cannot_be_read_leaves_the_database(void **state)
{
    struct cw_error error = {.exit_code = CW_OK};
    const struct study_outcome outcome = {.state = STUDY_FAILED, .exit_code = 1, .message = "no"};
    enum study_state states[2];
    struct study_db *db;
    const char *const path = in_folder("merged.sqlite");
    char expected[256];
    (void)state;
    assert_int_equal(open_at(path, &db, &error), CW_OK);
    assert_int_equal(study_db_record(db, 1, &outcome, &error), CW_OK);
    assert_int_equal(study_db_commit(db, &error), CW_OK);
    assert_int_equal(study_db_take(db, "/nonexistent/part.sqlite", &error), CW_NO_RESOURCE);
    snprintf(expected, sizeof expected, "%s: unable to open database: /nonexistent/part.sqlite",
             path);
    assert_string_equal(cw_error_text(&error), expected);
    assert_int_equal(study_db_states(db, states, &error), CW_OK);
    assert_int_equal(states[0], STUDY_OPEN);
    assert_int_equal(states[1], STUDY_FAILED);
    assert_int_equal(study_db_close(db, &error), CW_OK);
}

/* SQLite would keep databases of these names in memory, and lose them. */
static void run_sql(const char *path, const char *sql)
{
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(sqlite), SQLITE_OK);
}

/* "point: ranks_differ not_finite" of all rows. */
static void expect_flaws(const char *path, const char *expected)
{
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite,
                                        "SELECT group_concat(point || ': ' || coalesce(ranks_differ"
                                        ", '-') || ' ' || coalesce(not_finite, '-'), ', ') FROM "
                                        "(SELECT * FROM row ORDER BY point)",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), expected);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(sqlite3_close(sqlite), SQLITE_OK);
}

/* A database of version 0.1.0, which has no columns for ranks that differ, for results that are not
 * finite, for shortcuts and for costs, takes new points, and its points can be taken over. */
static void databases_of_0_1_0_get_the_new_columns(void **state)
{
    static const char old[] = "ALTER TABLE row DROP COLUMN ranks_differ;"
                              "ALTER TABLE row DROP COLUMN not_finite;"
                              "ALTER TABLE row DROP COLUMN fold;"
                              "ALTER TABLE row DROP COLUMN sips_simulated;"
                              "ALTER TABLE row DROP COLUMN iterations_simulated;"
                              "ALTER TABLE row DROP COLUMN operations_simulated;"
                              "ALTER TABLE row DROP COLUMN links_built;"
                              "ALTER TABLE row DROP COLUMN cost;"
                              "ALTER TABLE row DROP COLUMN time_cost_us;"
                              "ALTER TABLE row DROP COLUMN watts;"
                              "ALTER TABLE row DROP COLUMN joules;"
                              "ALTER TABLE row DROP COLUMN joules_per_byte";
    struct cw_error error = {.exit_code = CW_OK};
    struct study_db *db;
    const char *const path = in_folder("old.sqlite"), *const other = in_folder("other.sqlite");
    struct document_row row = {.wrong = 0, .ranks_differ = 3, .not_finite = 2};
    const struct result_document result = {.rows = &row, .row_count = 1};
    char *packed;
    size_t bytes;
    (void)state;
    assert_true(study_rows_pack(&result, 17, &packed, &bytes));
    const struct study_outcome done = {
        .state = STUDY_DONE, .message = "", .rows = packed, .rows_bytes = bytes};
    assert_int_equal(open_at(path, &db, &error), CW_OK);
    assert_int_equal(study_db_record(db, 0, &done, &error), CW_OK);
    assert_int_equal(study_db_close(db, &error), CW_OK);
    run_sql(path, old);
    assert_int_equal(open_at(other, &db, &error), CW_OK);
    assert_int_equal(study_db_record(db, 1, &done, &error), CW_OK);
    assert_int_equal(study_db_commit(db, &error), CW_OK);
    assert_int_equal(study_db_take(db, path, &error), CW_OK); /* a part without the columns */
    assert_int_equal(study_db_close(db, &error), CW_OK);
    expect_flaws(other, "1: - -, 2: 3 2");
    assert_int_equal(open_at(path, &db, &error), CW_OK); /* which adds them */
    assert_int_equal(study_db_record(db, 1, &done, &error), CW_OK);
    assert_int_equal(study_db_close(db, &error), CW_OK);
    expect_flaws(path, "1: - -, 2: 3 2");
    free(packed);
}

static void any_name_is_that_of_a_file(void **state)
{
    static const char *const names[] = {":memory:", "file:test_study_db?mode=memory"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct cw_error error = {.exit_code = CW_OK};
        struct study_db *db;
        struct stat status;
        assert_int_equal(open_at(names[i], &db, &error), CW_OK);
        assert_int_equal(study_db_close(db, &error), CW_OK);
        assert_int_equal(open_at("part.sqlite", &db, &error), CW_OK);
        assert_int_equal(study_db_take(db, names[i], &error), CW_OK);
        assert_int_equal(study_db_close(db, &error), CW_OK);
        assert_int_equal(stat(names[i], &status), 0);
        assert_int_equal(unlink(names[i]) | unlink("part.sqlite"), 0);
        assert_true(status.st_size > 0);
    }
}

/* The text of a point. */
static void label_is(struct study_db *db, const char *path, const char *label)
{
    struct cw_error error = {.exit_code = CW_OK};
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    assert_int_equal(study_db_close(db, &error), CW_OK);
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite,
                                        "SELECT label || ', ' || name || '=' || value || ', ' ||"
                                        " seconds FROM point JOIN axis ON point.id = axis.point",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), label);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
}

/* A study in which only names have changed has the same points. They get the new names, unless
 * the database is only read. */
static void new_names_are_taken_over(void **state)
{
    static const char *const texts[] = {"axes: {size: {small: {n-elem: 64}, large: {n-elem: 128}}}",
                                        "axes: {shard: {tiny: {n-elem: 64}, huge: {n-elem: 128}}}"};
    const struct study_outcome outcome = {.state = STUDY_FAILED, .seconds = 7, .message = "no"};
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("named.sqlite"));
    for (int turn = 0; turn < 3; turn++) {
        struct config_errors errors = {0};
        struct cw_error error = {.exit_code = CW_OK};
        struct study *named;
        struct study_db *db;
        FILE *const file = fopen(in_folder("named.yaml"), "w");
        assert_non_null(file);
        fprintf(file, "study: s\n%s\n", texts[turn > 0]);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(study_read(in_folder("named.yaml"), &named, &errors), CW_OK);
        assert_int_equal(study_db_open(path, named, (struct study_shard){1, 1},
                                       (struct study_opening){.reads = turn == 1}, &db, &error),
                         CW_OK);
        if (turn == 0)
            assert_int_equal(study_db_record(db, 1, &outcome, &error), CW_OK);
        label_is(db, path,
                 turn < 2 ? "size=large, size=large, 7.0" : "shard=huge, shard=huge, 7.0");
        study_free(named);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* All cells of a table, with | between them and a line for each row; NULL is empty. */
static void table_is(const char *path, const char *query, const char *expected)
{
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    char text[1024] = "";
    size_t used = 0;
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, query, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (int i = 0, last = sqlite3_column_count(statement) - 1; i <= last; i++) {
            const char *const cell = (const char *)sqlite3_column_text(statement, i);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     cell != NULL ? cell : "", i == last ? "\n" : "|");
        }
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    assert_string_equal(text, expected);
}

/* A result of two rows, of which the first has links and the second was not run. */
static void pack_two_rows(char **packed, size_t *bytes)
{
    struct document_link_kind kinds[] = {{"hccs", 4, 4096, 0.25}, {"ucie", -1, NAN, 1.0 / 3}};
    struct document_row rows[] = {{.collective = "all_reduce",
                                   .bytes = 1024,
                                   .count = 512,
                                   .wrong = 0,
                                   .time_ns = 10.0 / 3,
                                   .host_time_ns = NAN,
                                   .kinds = kinds,
                                   .kind_count = 2},
                                  {.collective = "a \"b\" | c",
                                   .bytes = -1,
                                   .wrong = -1,
                                   .time_ns = NAN,
                                   .not_run = "too large"}};
    const struct result_document result = {
        .bench = "b", .has_seed = true, .seed = INT64_MIN, .rows = rows, .row_count = 2};
    assert_true(study_rows_pack(&result, 5, packed, bytes));
}

static void packed_rows_arrive_as_they_were(void **state)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct study_outcome outcome = {.state = STUDY_DONE, .message = "", .result = "{}"};
    struct study_db *db;
    char path[128], *packed;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("rows.sqlite"));
    pack_two_rows(&packed, &outcome.rows_bytes);
    outcome.rows = packed;
    outcome.result_bytes = 2;
    assert_int_equal(open_at(path, &db, &error), CW_OK);
    for (int turn = 0; turn < 2; turn++) /* the second time they replace the first */
        assert_int_equal(study_db_record(db, 1, &outcome, &error), CW_OK);
    assert_int_equal(study_db_close(db, &error), CW_OK);
    table_is(path,
             "SELECT point, ordinal, bench, collective, seed, bytes, count, time_ns, host_time_ns,"
             " wrong, not_run FROM row",
             "2|0|b|all_reduce|-9223372036854775808|1024|512|3.3333||0|\n"
             "2|1|b|a \"b\" | c|-9223372036854775808||0||0.0||too large\n");
    table_is(path, "SELECT * FROM link", "2|0|hccs|4|4096|0.25\n2|0|ucie|||0.33333\n");
    free(packed);
}

/* What a broken process may have sent is refused, and leaves no part of a point. */
static void incomplete_rows_are_refused(void **state)
{
    struct study_db *db;
    char path[128], *packed;
    size_t bytes;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("cut.sqlite"));
    pack_two_rows(&packed, &bytes);
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(open_at(path, &db, &error), CW_OK);
    for (size_t cut = 1; cut < 40; cut++) {
        const struct study_outcome outcome = {.state = STUDY_DONE,
                                              .message = "",
                                              .result = "{}",
                                              .result_bytes = 2,
                                              .rows = packed,
                                              .rows_bytes = bytes - cut};
        assert_int_equal(study_db_record(db, 1, &outcome, &error), CW_NO_RESOURCE);
    }
    assert_int_equal(study_db_close(db, &error), CW_OK);
    table_is(path, "SELECT (SELECT count(*) FROM point), (SELECT count(*) FROM row)", "0|0\n");
    free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_that_cannot_be_made_says_why),
        cmocka_unit_test(a_database_that_is_only_read_is_left_as_it_is),
        cmocka_unit_test(one_sweep_at_a_time_writes_a_database),
        cmocka_unit_test(a_part_that_cannot_be_read_leaves_the_database),
        cmocka_unit_test(packed_rows_arrive_as_they_were),
        cmocka_unit_test(incomplete_rows_are_refused),
        cmocka_unit_test(databases_of_0_1_0_get_the_new_columns),
        cmocka_unit_test(any_name_is_that_of_a_file),
        cmocka_unit_test(new_names_are_taken_over),
    };
    return cmocka_run_group_tests(tests, make_study, remove_study);
}
