/*
 * test_corpus.c: every input that the repository keeps of each format, read again: seeds and former
 * failures. libFuzzer is not needed. FUZZ_INPUT=FILE FUZZ_FORMAT=NAME reads one alone.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fuzz/fuzz.h"

enum { FORMATS_MAX = 32 };

static void read_one(const struct fuzz_format *format, const char *path)
{
    size_t size;
    char *const data = fuzz_read(path, &size);
    assert_non_null(data);
    fputs(path, stderr); /* the last line, if this one ends the program */
    fputc('\n', stderr);
    format->once((const uint8_t *)data, size);
    free(data);
}

static void each_kept_input_is_read_or_refused(void **state)
{
    const struct fuzz_format *const format = *state;
    const char *const only = getenv("FUZZ_INPUT"), *const name = getenv("FUZZ_FORMAT");
    char folder[128], path[512];
    snprintf(folder, sizeof folder, "test/fuzz/corpus/%s", format->name);
    if (name != NULL && strcmp(name, format->name) != 0)
        skip();
    if (only != NULL) {
        read_one(format, only);
        return;
    }
    DIR *const files = opendir(folder);
    size_t count = 0;
    assert_non_null(files);
    for (const struct dirent *at; (at = readdir(files)) != NULL;)
        if (at->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, at->d_name);
            read_one(format, path);
            count++;
        }
    closedir(files);
    assert_true(count > 0);
}

int main(void)
{
    struct CMUnitTest tests[FORMATS_MAX];
    size_t count = 0;
    for (const struct fuzz_format *format; (format = fuzz_format_at(count)) != NULL; count++)
        tests[count] = (struct CMUnitTest){.name = format->name,
                                           .test_func = each_kept_input_is_read_or_refused,
                                           .initial_state = (void *)(uintptr_t)format};
    return _cmocka_run_group_tests("formats", tests, count, NULL, NULL);
}
