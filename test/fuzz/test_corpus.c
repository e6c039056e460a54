/*
 * test_corpus.c: reads every input that the repository keeps of each format: seeds and former
 * failures (corpus/NAME.tar.gz), and sound files that other tests read, too (base/NAME). libFuzzer
 * is not needed. FUZZ_INPUT=FILE FUZZ_FORMAT=NAME reads one alone.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fuzz/fuzz.h"
#define TEST_SCRATCH "corpus"
#include "test/support/scratch_folder.h"

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

/* Reads the files of a folder; returns how many. */
static size_t read_folder(const struct fuzz_format *format, const char *path)
{
    char file[512];
    size_t count = 0;
    DIR *const files = opendir(path);
    if (files == NULL)
        return 0;
    for (const struct dirent *at; (at = readdir(files)) != NULL;)
        if (at->d_name[0] != '.') {
            snprintf(file, sizeof file, "%s/%s", path, at->d_name);
            read_one(format, file);
            count++;
        }
    closedir(files);
    return count;
}

static void each_kept_input_is_read_or_refused(void **state)
{
    const struct fuzz_format *const format = *state;
    const char *const only = getenv("FUZZ_INPUT"), *const name = getenv("FUZZ_FORMAT");
    char path[256], command[512];
    if (name != NULL && strcmp(name, format->name) != 0)
        skip();
    if (only != NULL) {
        read_one(format, only);
        return;
    }
    snprintf(path, sizeof path, "test/fuzz/base/%s", format->name);
    (void)read_folder(format, path);
    snprintf(path, sizeof path, "%s/%s", folder, format->name);
    snprintf(command, sizeof command, "test/fuzz/kept.sh unpack %s %s", format->name, path);
    assert_int_equal(system(command), 0);
    assert_true(read_folder(format, path) > 0);
}

int main(void)
{
    struct CMUnitTest tests[FORMATS_MAX];
    size_t count = 0;
    for (const struct fuzz_format *format; (format = fuzz_format_at(count)) != NULL; count++)
        tests[count] = (struct CMUnitTest){.name = format->name,
                                           .test_func = each_kept_input_is_read_or_refused,
                                           .initial_state = (void *)(uintptr_t)format};
    return _cmocka_run_group_tests("formats", tests, count, make_folder, remove_folder);
}
