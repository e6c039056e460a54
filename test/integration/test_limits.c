/*
 * test_limits.c: limits of the system on a process (ulimit): a sweep does with less, and says which
 * limit it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_SCRATCH "limits"
#include "test/support/scratch_folder.h"

enum { TEXT_BYTES = 1024 };

/* Runs a sweep of eight points, eight at a time, under a limit. Its exit code; its messages. */
static int sweep_limited(const char *limit, const char *name, char text[TEXT_BYTES])
{
    char command[TEXT_BYTES], path[128];
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    FILE *const study = fopen(path, "w");
    assert_non_null(study);
    fprintf(study,
            "study: %s\nbase: {preset: tiny}\naxes: {n-elem: [8, 16, 24, 32, 40, 48, 56, 64]}\n",
            name);
    assert_int_equal(fclose(study), 0);
    snprintf(
        command, sizeof command,
        "%s; exec \"${CUBEWARP:-build/cubewarp}\" sweep -j 8 --quiet --db %s/%s.sqlite %s 2>&1",
        limit, folder, name, path);
    FILE *const stream = popen(command, "r");
    assert_non_null(stream);
    const size_t bytes = fread(text, 1, TEXT_BYTES - 1, stream);
    text[bytes] = '\0';
    const int status = pclose(stream);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_sweep_does_with_few_open_files(void **state)
{
    (void)state;
    char text[TEXT_BYTES];
    if (sweep_limited("ulimit -n 30", "few", text) != 0)
        fail_msg("%s", text);
    assert_non_null(
        strstr(text, "sweep: 3 points at a time, not 8: at most 30 files may be open (ulimit -n)"));
}

/* The limit that a process may raise by itself. */
static void a_soft_limit_on_open_files_is_none(void **state)
{
    (void)state;
    char text[TEXT_BYTES];
    if (sweep_limited("ulimit -Sn 16", "soft", text) != 0)
        fail_msg("%s", text);
    assert_null(strstr(text, "at a time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_does_with_few_open_files),
        cmocka_unit_test(a_soft_limit_on_open_files_is_none),
    };
    return cmocka_run_group_tests_name("limits", tests, make_folder, remove_folder);
}
