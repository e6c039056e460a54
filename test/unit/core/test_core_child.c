/*
 * test_core_child.c: other programs read a text and are read, in the C locale, also where both are
 * larger than a pipe; those that are not there, fail, hang or stay after their output are told
 * apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "core/os/child.h"

enum { LARGE = 4 << 20, LIMIT_MS = 20000, SHORT_MS = 200 };

static struct child shell(char *const argv[4], const char *in)
{
    return (struct child){.argv = argv,
                          .in = in,
                          .in_bytes = in != NULL ? strlen(in) : 0,
                          .limit_ms = LIMIT_MS,
                          .quiet = true};
}

#define SHELL(LINE, IN) shell((char *[]){"sh", "-c", LINE, NULL}, IN)

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void a_text_goes_in_and_comes_out(void **state)
{
    (void)state;
    struct child child = SHELL("tr a-z A-Z", "some text");
    assert_int_equal(child_run(&child), CHILD_DONE);
    assert_string_equal(child.out, "SOME TEXT");
    assert_int_equal(child.out_bytes, 9);
    free(child.out);

    child = SHELL("cat; pwd", NULL);
    child.folder = "/";
    assert_int_equal(child_run(&child), CHILD_DONE);
    assert_string_equal(child.out, "/\n");
    free(child.out);

    setenv("LC_ALL", "de_DE.UTF-8", 1);
    child = SHELL("echo $LC_ALL", NULL);
    assert_int_equal(child_run(&child), CHILD_DONE);
    assert_string_equal(child.out, "C.UTF-8\n");
    free(child.out);
    unsetenv("LC_ALL");
}

/* It writes all before it reads: with two pipes both sides would wait. */
static void more_than_a_pipe_holds(void **state)
{
    (void)state;
    char *const text = malloc(LARGE + 1);
    memset(text, 'x', LARGE);
    text[LARGE] = '\0';
    struct child child = SHELL("head -c 4194304 /dev/zero | tr '\\0' y; cat", text);
    assert_int_equal(child_run(&child), CHILD_DONE);
    assert_int_equal(child.out_bytes, 2 * LARGE);
    assert_int_equal(child.out[0], 'y');
    assert_int_equal(child.out[2 * LARGE - 1], 'x');
    free(child.out);
    child = SHELL("true", text); /* nobody reads */
    assert_int_equal(child_run(&child), CHILD_DONE);
    assert_int_equal(child.out_bytes, 0);
    free(child.out);
    free(text);
}

static void ends_are_told_apart(void **state)
{
    (void)state;
    struct child child = SHELL("echo something; exit 1", NULL);
    assert_int_equal(child_run(&child), CHILD_FAILED);
    assert_null(child.out);
    child = SHELL("kill -9 $$", NULL);
    assert_int_equal(child_run(&child), CHILD_FAILED);
    child.argv = (char *[]){"cubewarp-no-such-program", NULL};
    assert_int_equal(child_run(&child), CHILD_ABSENT);
    child = SHELL("true", NULL);
    child.folder = "/no/such/folder";
    assert_int_not_equal(child_run(&child), CHILD_DONE);
    child = SHELL("yes", NULL); /* without end */
    assert_int_equal(child_run(&child), CHILD_FAILED);
}

/* It says nothing, or says all and stays, or leaves a process with its output. */
static void a_program_that_hangs_is_ended(void **state)
{
    (void)state;
    static char *const lines[] = {"exec sleep 60", "exec 1>&-; exec sleep 60", "sleep 5 & exit 0"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const double begin = seconds();
        struct child child = shell((char *[]){"sh", "-c", lines[i], NULL}, NULL);
        child.limit_ms = SHORT_MS;
        assert_int_equal(child_run(&child), CHILD_LATE);
        assert_null(child.out);
        assert_true(seconds() - begin < 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_goes_in_and_comes_out),
        cmocka_unit_test(more_than_a_pipe_holds),
        cmocka_unit_test(ends_are_told_apart),
        cmocka_unit_test(a_program_that_hangs_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
