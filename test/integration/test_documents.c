/*
 * test_documents.c: documents say what the program does: commands that README.md and the guide show
 * with their output print it, line by line, and COMMANDS.md has the options of the program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#define TEST_SCRATCH "documents"
#include "test/support/scratch_folder.h"

enum { LINE_BYTES = 1000 };
static char program[4096];

static int find_program(void **state)
{
    const char *const name = getenv("CUBEWARP");
    return realpath(name != NULL ? name : "build/cubewarp", program) == NULL || make_folder(state);
}

/* Both streams of a command that runs in the scratch folder. The caller frees the text. */
static char *output_of(const char *arguments)
{
    char command[sizeof program + LINE_BYTES + 100];
    const char *const path = in_folder("output");
    snprintf(command, sizeof command, "cd %s && %s %s >output 2>&1", folder, program, arguments);
    const int status = system(command);
    /* compare says 1 where two results differ. */
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        fail_msg("cubewarp %s: ends with status %d", arguments, status);
    return read_file(path);
}

/* A line of a document without its end: blanks; "..." where it is cut short. Returns its bytes. */
static size_t shown_bytes(const char *line)
{
    size_t bytes = strlen(line);
    while (bytes > 0 && strchr(" \n", line[bytes - 1]) != NULL)
        bytes--;
    return bytes >= 3 && memcmp(line + bytes - 3, "...", 3) == 0 ? bytes - 3 : bytes;
}

/* The first line from `at` on that begins with the shown one; after it. NULL: there is none. */
static const char *after_shown(const char *at, const char *shown, size_t bytes)
{
    for (; *at != '\0'; at++) {
        const size_t length = strcspn(at, "\n");
        if (length >= bytes && memcmp(at, shown, bytes) == 0)
            return at + length;
        at += length;
        if (*at == '\0')
            break;
    }
    return NULL;
}

/* Runs each "$ build/cubewarp" of a document, in its order. Returns how many lines of output it
 * shows. */
static unsigned check_examples(const char *path)
{
    static const char prompt[] = "    $ build/cubewarp ";
    char line[LINE_BYTES], arguments[LINE_BYTES] = "";
    char *output = NULL;
    const char *at = NULL;
    unsigned shown = 0;
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, prompt, sizeof prompt - 1) == 0) {
            free(output);
            snprintf(arguments, sizeof arguments, "%.*s",
                     (int)strcspn(line + sizeof prompt - 1, "\n"), line + sizeof prompt - 1);
            at = output = output_of(arguments);
        } else if (strncmp(line, "    ", 4) != 0) {
            free(output);
            at = output = NULL;
        } else if (output != NULL && shown_bytes(line + 4) > 0) {
            at = after_shown(at, line + 4, shown_bytes(line + 4));
            if (at == NULL)
                fail_msg("%s: cubewarp %s does not print: %s", path, arguments, line + 4);
            shown++;
        }
    }
    free(output);
    assert_int_equal(fclose(file), 0);
    return shown;
}

static void the_readme_shows_what_runs_print(void **state)
{
    (void)state;
    assert_true(check_examples("README.md") >= 15);
}

static void the_guide_shows_what_a_run_prints(void **state)
{
    (void)state;
    assert_true(check_examples("bench/guide/reading_a_run.md") >= 15);
}

static void the_reference_has_the_options_of_the_program(void **state)
{
    (void)state;
    char command[sizeof program + 100];
    snprintf(command, sizeof command, "bench/options/option_tables.sh --check %s", program);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_readme_shows_what_runs_print),
        cmocka_unit_test(the_guide_shows_what_a_run_prints),
        cmocka_unit_test(the_reference_has_the_options_of_the_program),
    };
    return cmocka_run_group_tests(tests, find_program, remove_folder);
}
