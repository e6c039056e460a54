/*
 * test_kills.c: ends in the middle. Each command that writes is killed (SIGKILL, with all its
 * processes) at random moments, and right before a random call that writes, flushes, renames or
 * goes to SQLite. Each file is then old, absent or whole. The same command afterwards ends well,
 * goes on with the files that it finds, and makes all files whole. And a file gets its name only
 * when it is on the disk; a file aside that a kill leaves is told by the next run.
 *
 * KILLS: for each command (default 4; 200 in `make faults`). KILL_SEED. FAULT_TEST: one command.
 */
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/cw.h"
#include "test/faults/command_runner.h"

enum { KILLS_DEFAULT = 4 };

static const char *const kind_name[FAULT_KINDS] = {FAULT_KIND_NAMES};
static struct ending ending;
static uint64_t kills, too_late;

static uint64_t from_environment(const char *name, uint64_t standard)
{
    const char *const text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : standard;
}

/* Kills at a moment, or at a call. The text says which. */
static void kill_once(const struct ending *whole, struct cw_rng *rng, char text[64])
{
    static const enum fault_kind kinds[] = {FAULT_WRITE, FAULT_FSYNC, FAULT_RENAME, FAULT_SQLITE};
    const enum fault_kind kind = kinds[cw_rng_below(rng, 4)];
    runner_clear(cw_rng_below(rng, 2) == 1);
    if (cw_rng_below(rng, 2) == 0 && whole->calls[kind] > 0) {
        const uint64_t number = 1 + cw_rng_below(rng, (uint32_t)whole->calls[kind]);
        snprintf(text, 64, "%s:%llu", kind_name[kind], (unsigned long long)number);
        setenv("FAULT_KILLS", "1", 1);
        runner_run(text, NULL, 0, &ending);
        unsetenv("FAULT_KILLS");
    } else {
        const double after_s = 1e-3 + runner_seconds() * cw_rng_below(rng, 1000) / 1000.0;
        snprintf(text, 64, "after %.3f s", after_s);
        runner_run(NULL, NULL, after_s, &ending);
    }
    kills++;
    too_late += ending.exit_code == 0;
}

static void kill_command(const struct command *command)
{
    const uint64_t count = from_environment("KILLS", KILLS_DEFAULT);
    struct cw_rng rng = cw_rng_seeded(from_environment("KILL_SEED", 1), command->line[0]);
    static struct ending whole;
    char text[64];
    runner_prepare(command);
    runner_clear(false);
    runner_run(NULL, NULL, 0, &whole);
    for (uint64_t i = 0; i < count; i++) {
        kill_once(&whole, &rng, text);
        if (ending.exit_code != 128 + 9 && ending.exit_code != 0)
            fail_msg("%s, killed %s, ends with %d: %s", command->name, text, ending.exit_code,
                     ending.err);
        const char *wrong = runner_judge(ending.exit_code == 0, true);
        if (wrong != NULL)
            fail_msg("%s, killed %s: %s", command->name, text, wrong);
        runner_run(NULL, NULL, 0, &ending);
        wrong = runner_judge(true, true);
        if (ending.exit_code != 0 || wrong != NULL)
            fail_msg("%s, after it was killed %s, ends with %d: %s %s", command->name, text,
                     ending.exit_code, wrong != NULL ? wrong : "", ending.err);
    }
    runner_end();
}

static void commands_leave_old_or_whole_files_when_they_are_killed(void **state)
{
    const char *const only = getenv("FAULT_TEST");
    (void)state;
    for (size_t i = 0; i < commands_that_write_count; i++)
        if (commands_that_write[i].files[0].name != NULL &&
            (only == NULL || strcmp(only, commands_that_write[i].name) == 0))
            kill_command(&commands_that_write[i]);
    print_message("%llu kills, %llu of them behind the end\n", (unsigned long long)kills,
                  (unsigned long long)too_late);
    assert_true(kills > too_late);
}

static const struct command *command_named(const char *name)
{
    for (size_t i = 0; i < commands_that_write_count; i++)
        if (strcmp(commands_that_write[i].name, name) == 0)
            return &commands_that_write[i];
    fail_msg("there is no command '%s'", name);
    return NULL;
}

/* The command has one file: it is flushed before it is renamed, or it gets no name at all; and the
 * folder behind it. */
static void a_file_is_on_the_disk_before_it_gets_its_name(void **state)
{
    (void)state;
    runner_prepare(command_named("topo"));
    runner_run("fsync:1", NULL, 0, &ending);
    assert_int_equal(ending.exit_code, 4);
    assert_int_equal(ending.calls[FAULT_FSYNC], 1);
    assert_int_equal(ending.calls[FAULT_RENAME], 0); /* neither a link nor a new name came first */
    assert_null(runner_judge(false, false));
    runner_run(NULL, NULL, 0, &ending);
    assert_int_equal(ending.exit_code, 0);
    assert_int_equal(ending.calls[FAULT_FSYNC], 2);
    assert_true(ending.calls[FAULT_RENAME] >= 1);
    runner_end();
}

/* How many files aside there are; the first one's path. */
static size_t files_aside(char *path, size_t bytes)
{
    glob_t found;
    const int code = glob(runner_scratch("work/t.svg.*.part"), 0, NULL, &found);
    assert_true(code == 0 || code == GLOB_NOMATCH);
    const size_t count = code == 0 ? found.gl_pathc : 0;
    snprintf(path, bytes, "%s", count > 0 ? found.gl_pathv[0] : "");
    globfree(&found);
    return count;
}

/* Killed before it is renamed: the next run says so, unless the file is locked by its writer. */
static void a_file_aside_that_is_left_is_told(void **state)
{
    char path[512], last[32];
    (void)state;
    runner_prepare(command_named("topo"));
    runner_run(NULL, NULL, 0, &ending);
    assert_null(strstr(ending.err, ".part"));
    assert_int_equal(files_aside(path, sizeof path), 0);
    snprintf(last, sizeof last, "rename:%d", (int)ending.calls[FAULT_RENAME]);
    runner_clear(true);
    setenv("FAULT_KILLS", "1", 1);
    runner_run(last, NULL, 0, &ending);
    unsetenv("FAULT_KILLS");
    assert_int_equal(ending.exit_code, 128 + 9);
    assert_null(runner_judge(false, true)); /* the old one is there */
    assert_int_equal(files_aside(path, sizeof path), 1);
    runner_run(NULL, NULL, 0, &ending);
    assert_int_equal(ending.exit_code, 0);
    assert_null(runner_judge(true, true));
    assert_non_null(strstr(ending.err, strrchr(path, '/') + 1));
    assert_int_equal(files_aside(path, sizeof path), 1); /* told, and left */
    const int writer = open(path, O_WRONLY);
    assert_true(writer >= 0 && flock(writer, LOCK_EX) == 0);
    runner_run(NULL, NULL, 0, &ending);
    assert_int_equal(ending.exit_code, 0);
    assert_null(strstr(ending.err, ".part"));
    close(writer);
    runner_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_leave_old_or_whole_files_when_they_are_killed),
        cmocka_unit_test(a_file_is_on_the_disk_before_it_gets_its_name),
        cmocka_unit_test(a_file_aside_that_is_left_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
