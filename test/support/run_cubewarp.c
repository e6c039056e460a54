/*
 * run_cubewarp.c: runs the built program (run_cubewarp.h). Its output goes through two unlinked
 * temporary files, so that no pipe can fill up.
 */
#include "test/support/run_cubewarp.h"

#include <math.h>
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

#include "test/support/file_text.h"

enum { ARGS_MAX = 256, LINE_BYTES = 4096 };

static char *read_all(FILE *file)
{
    size_t bytes;
    return stream_bytes(file, &bytes);
}

/* AddressSanitizer says once that it does not follow every switch of a stack: that line goes. */
static char *without_warning(char *text)
{
    char *const at = strstr(text, "WARNING: ASan doesn't fully support makecontext");
    char *const end = at == NULL ? NULL : strchr(at, '\n');
    if (end == NULL)
        return text;
    char *begin = at;
    while (begin > text && begin[-1] != '\n')
        begin--;
    memmove(begin, end + 1, strlen(end + 1) + 1);
    return text;
}

/* Standard output goes to `out`, which it closes. */
static struct run_output run_with_output(const char *const *args, FILE *out)
{
    const char *program = getenv("CUBEWARP");
    char *argv[ARGS_MAX + 2] = {(char *)(uintptr_t)(program ? program : "build/cubewarp")};
    for (size_t i = 0; args[i] != NULL; i++) {
        assert_true(i < ARGS_MAX);
        argv[i + 1] = (char *)(uintptr_t)args[i];
    }
    FILE *err = tmpfile();
    assert_non_null(out);
    assert_non_null(err);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        execv(argv[0], argv);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return (struct run_output){WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(out),
                               without_warning(read_all(err))};
}

struct run_output run_cubewarp(const char *const *args) { return run_with_output(args, tmpfile()); }

void run_output_free(struct run_output *output)
{
    free(output->out);
    free(output->err);
}

/* Splits at blanks, in place. */
static size_t split(char *line, const char **args)
{
    size_t count = 0;
    char *rest;
    for (char *word = strtok_r(line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count < ARGS_MAX);
        args[count++] = word;
    }
    args[count] = NULL;
    return count;
}

static void format_line(char line[LINE_BYTES], const char *format, va_list args)
{
    const int n = vsnprintf(line, LINE_BYTES, format, args);
    assert_true(n >= 0 && n < LINE_BYTES);
}

static struct run_output run_checked(int exit_code, char *line, FILE *out)
{
    const char *args[ARGS_MAX + 1];
    char *copy = strdup(line);
    (void)split(line, args);
    struct run_output output = run_with_output(args, out);
    if (exit_code != RUN_ANY_CODE && output.exit_code != exit_code)
        fail_msg("cubewarp %s: exit code %d, expected %d\n%s%s", copy, output.exit_code, exit_code,
                 output.out, output.err);
    free(copy);
    return output;
}

struct run_output run_line(int exit_code, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    format_line(line, format, args);
    va_end(args);
    return run_checked(exit_code, line, tmpfile());
}

struct run_output run_to_full_disk(int exit_code, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    format_line(line, format, args);
    va_end(args);
    return run_checked(exit_code, line, fopen("/dev/full", "r+"));
}

json_t *run_json(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    format_line(line, format, args);
    va_end(args);
    const size_t n = strlen(line);
    assert_true(n + sizeof " --json -" <= sizeof line);
    memcpy(line + n, " --json -", sizeof " --json -");
    struct run_output output = run_checked(0, line, tmpfile());
    json_error_t error;
    json_t *root = json_loads(output.out, 0, &error);
    if (root == NULL)
        fail_msg("no JSON: %s\n%s", error.text, output.out);
    run_output_free(&output);
    return root;
}

long long json_ps(const json_t *root, const char *key)
{
    const json_t *value = json_object_get(json_array_get(json_object_get(root, "results"), 0), key);
    assert_true(json_is_number(value));
    return llround(json_number_value(value) * 1000);
}
