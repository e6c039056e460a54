/*
 * test_atomic_file.c: files appear whole or not at all, whatever becomes of the process and the
 * disk.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "test/support/test_config_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "bench/output/atomic_file.h"

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void a_file_appears_when_it_is_complete(void **state)
{
    (void)state;
    struct atomic_file file;
    struct cw_error error;
    write_text("out.json", "old");
    assert_int_equal(atomic_file_open(&file, "out.json", &error), CW_OK);
    fputs("new", file.stream);
    fflush(file.stream);
    char text[8] = "";
    FILE *reader = fopen("out.json", "r");
    assert_non_null(fgets(text, sizeof text, reader));
    fclose(reader);
    assert_string_equal(text, "old");
    assert_int_equal(atomic_file_commit(&file, &error), CW_OK);
    reader = fopen("out.json", "r");
    assert_non_null(fgets(text, sizeof text, reader));
    fclose(reader);
    assert_string_equal(text, "new");
    struct stat status;
    assert_int_equal(stat("out.json", &status), 0);
    const mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(status.st_mode & 0777, 0666 & ~mask);
}

static void a_file_that_fails_leaves_nothing(void **state)
{
    (void)state;
    struct atomic_file file;
    struct cw_error error;
    assert_int_equal(mkdir("alone", 0700), 0);
    assert_int_equal(atomic_file_open(&file, "alone/never.json", &error), CW_OK);
    fputs("text", file.stream);
    fflush(file.stream);
    atomic_file_discard(&file);
    assert_int_equal(rmdir("alone"), 0); /* it is empty */
    assert_int_equal(atomic_file_open(&file, "no/such/folder", &error), CW_NO_RESOURCE);
    assert_string_equal(error.text, "cannot write no/such/folder: No such file or directory");
    assert_int_equal(atomic_file_open(&file, ".", &error), CW_NO_RESOURCE);
    assert_string_equal(error.text, "cannot write .: Is a directory");
    assert_int_equal(atomic_file_open(&file, "/dev/full", &error), CW_OK);
    fputs("text", file.stream);
    assert_int_equal(atomic_file_commit(&file, &error), CW_NO_RESOURCE);
    assert_string_equal(error.text, "cannot write /dev/full: No space left on device");
    assert_true(exists("/dev/full"));
}

/* More than the stream's buffer, so that the error comes long before the end. */
static void the_first_error_of_many_writes_is_reported(void **state)
{
    (void)state;
    struct atomic_file file;
    struct cw_error error;
    assert_int_equal(atomic_file_open(&file, "/dev/full", &error), CW_OK);
    for (int i = 0; i < 100000; i++)
        fputs("text\n", file.stream);
    errno = EINTR; /* of something else */
    assert_int_equal(atomic_file_commit(&file, &error), CW_NO_RESOURCE);
    assert_string_equal(error.text, "cannot write /dev/full: No space left on device");
}

/* No handler sees SIGKILL; a process that leaves nothing then leaves nothing on any signal. Needs a
 * file system that has files without names. */
static void a_process_that_is_killed_leaves_nothing(void **state)
{
    (void)state;
    const int probe = open(".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (probe < 0)
        skip();
    close(probe);
    assert_int_equal(mkdir("killed", 0700), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct atomic_file file;
        struct cw_error error;
        if (atomic_file_open(&file, "killed/k.json", &error) != CW_OK)
            _exit(1);
        fputs("half", file.stream);
        fflush(file.stream);
        raise(SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(rmdir("killed"), 0); /* it is empty */
}

static void what_is_no_regular_file_is_written_to_as_it_is(void **state)
{
    (void)state;
    struct atomic_file file;
    struct cw_error error;
    struct stat status;
    assert_int_equal(symlink("/dev/null", "null.json"), 0);
    assert_int_equal(atomic_file_open(&file, "null.json", &error), CW_OK);
    fputs("text", file.stream);
    assert_int_equal(atomic_file_commit(&file, &error), CW_OK);
    assert_int_equal(lstat("null.json", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void paths_to_one_file_are_known(void **state)
{
    (void)state;
    write_text("one", "");
    write_text("two", "");
    assert_int_equal(symlink("one", "to-one"), 0);
    assert_true(atomic_file_same("one", "./one"));
    assert_true(atomic_file_same("one", "to-one"));
    assert_false(atomic_file_same("one", "two"));
    assert_false(atomic_file_same("one", "absent"));
    assert_true(atomic_file_same("absent", "./absent"));
    assert_false(atomic_file_same("absent", "missing/absent"));
    assert_true(atomic_file_same("missing/absent", "missing/absent"));
}

static void a_link_stays_a_link(void **state)
{
    (void)state;
    struct atomic_file file;
    struct cw_error error;
    struct stat status;
    write_text("target.json", "old");
    assert_int_equal(symlink("target.json", "link.json"), 0);
    assert_int_equal(atomic_file_open(&file, "link.json", &error), CW_OK);
    fputs("new!", file.stream);
    assert_int_equal(atomic_file_commit(&file, &error), CW_OK);
    assert_int_equal(lstat("link.json", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("target.json", &status), 0);
    assert_int_equal(status.st_size, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_when_it_is_complete),
        cmocka_unit_test(a_file_that_fails_leaves_nothing),
        cmocka_unit_test(the_first_error_of_many_writes_is_reported),
        cmocka_unit_test(a_process_that_is_killed_leaves_nothing),
        cmocka_unit_test(what_is_no_regular_file_is_written_to_as_it_is),
        cmocka_unit_test(paths_to_one_file_are_known),
        cmocka_unit_test(a_link_stays_a_link),
    };
    return cmocka_run_group_tests_name("atomic_file", tests, scratch_enter, scratch_leave);
}
