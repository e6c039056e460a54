/*
 * test_hostile_databases.c: databases of studies and histories that somebody else has made, that
 * were cut short or are named by mistake: each is refused by its own name, and nothing waits for a
 * pipe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#define TEST_SCRATCH "hostile-databases"
#include "test/support/run_cubewarp.h"
#include "test/support/scratch_folder.h"

static void write_study(void)
{
    FILE *const file = fopen(in_folder("two.yaml"), "w");
    assert_non_null(file);
    fputs("study: two\nbase: {preset: tiny, no-data: true}\naxes: {seed: [1, 2]}\n", file);
    assert_int_equal(fclose(file), 0);
}

static void make_part(void)
{
    write_study();
    struct run_output output =
        run_line(0, "sweep %s --db %s --quiet", in_folder("two.yaml"), in_folder("part.sqlite"));
    run_output_free(&output);
}

static void change(const char *path, const char *statement)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, statement, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void refused(const char *why, struct run_output output)
{
    if (strstr(output.err, why) == NULL)
        print_error("not said: %s\nbut: %s\n", why, output.err);
    assert_non_null(strstr(output.err, why));
    run_output_free(&output);
}

static void remove_databases(void)
{
    (void)remove(in_folder("part.sqlite"));
    (void)remove(in_folder("all.sqlite"));
}

static void a_part_that_is_no_whole_study_is_refused_by_its_name(void **state)
{
    static const struct {
        const char *statement, *merge, *sweep; /* what a merge says, and a sweep that goes on */
    } changes[] = {
        {"PRAGMA user_version = 2",
         "part.sqlite: its tables have version 2; this program reads version 1",
         "part.sqlite is no database of a study that this version can write"},
        {"DELETE FROM study", "part.sqlite is no database of a study: its table 'study' is empty",
         "part.sqlite is no whole database of a study: its table 'study' is empty"},
        {"DROP TABLE link", "part.sqlite is no whole database of a study: no such table",
         "part.sqlite is no whole database of a study: no such table"},
        {"ALTER TABLE point ADD COLUMN more",
         "part.sqlite is no whole database of a study: table main.point has",
         "part.sqlite is no whole database of a study: table point has"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        make_part();
        change(in_folder("part.sqlite"), changes[i].statement);
        refused(changes[i].merge, run_line(2, "sweep merge --db %s %s", in_folder("all.sqlite"),
                                           in_folder("part.sqlite")));
        refused(changes[i].sweep,
                run_line(2, "sweep %s --db %s", in_folder("two.yaml"), in_folder("part.sqlite")));
        remove_databases();
    }
}

static void a_report_refuses_the_tables_of_a_later_version(void **state)
{
    (void)state;
    make_part();
    change(in_folder("part.sqlite"), "PRAGMA user_version = 2");
    refused("part.sqlite: its tables have version 2; this program reads version 1",
            run_line(2, "report %s --csv -", in_folder("part.sqlite")));
    remove_databases();
}

static void a_damaged_part_is_told_by_its_name(void **state)
{
    (void)state;
    for (off_t quarters = 1; quarters <= 3; quarters++) {
        struct stat status;
        make_part();
        assert_int_equal(stat(in_folder("part.sqlite"), &status), 0);
        assert_int_equal(truncate(in_folder("part.sqlite"), status.st_size * quarters / 4), 0);
        refused("part.sqlite: the database is damaged",
                run_line(2, "sweep merge --db %s %s", in_folder("all.sqlite"),
                         in_folder("part.sqlite")));
        remove_databases();
    }
}

/* Nobody writes into the pipe: a command that opened it would wait for ever. */
static void a_pipe_is_no_database(void **state)
{
    static const char why[] = "pipe: is no regular file; expected";
    (void)state;
    write_study();
    const char *const fifo = in_folder("pipe"), *const study = in_folder("two.yaml");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    refused(why, run_line(2, "sweep %s --db %s --dry-run", study, fifo));
    refused(why, run_line(2, "sweep %s --db %s", study, fifo));
    refused(why, run_line(2, "sweep merge --db %s.sqlite %s", fifo, fifo));
    refused(why, run_line(2, "perf trend --history %s", fifo));
    refused(why, run_line(2, "perf compare --history %s", fifo));
    refused("pipe: is a pipe; expected a file", run_line(2, "report %s", fifo));
}

static void a_history_of_no_known_version_is_refused(void **state)
{
    (void)state;
    change(in_folder("history.sqlite"), "CREATE TABLE run (id); CREATE TABLE measurement (id);"
                                        "PRAGMA user_version = -1");
    refused("not a history that this version can read",
            run_line(2, "perf trend --history %s", in_folder("history.sqlite")));
}

static void a_history_that_cannot_be_made_says_why(void **state)
{
    (void)state;
    refused("nowhere/h.sqlite: No such file or directory",
            run_line(4, "perf run --set self-test --rounds 1 --quiet --history %s",
                     in_folder("nowhere/h.sqlite")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_that_is_no_whole_study_is_refused_by_its_name),
        cmocka_unit_test(a_report_refuses_the_tables_of_a_later_version),
        cmocka_unit_test(a_damaged_part_is_told_by_its_name),
        cmocka_unit_test(a_pipe_is_no_database),
        cmocka_unit_test(a_history_of_no_known_version_is_refused),
        cmocka_unit_test(a_history_that_cannot_be_made_says_why),
    };
    return cmocka_run_group_tests_name("hostile databases", tests, make_folder, remove_folder);
}
