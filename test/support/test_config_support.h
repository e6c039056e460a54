/*
 * test_config_support.h: shared by the tests of the configuration loader: a scratch folder that is
 * the working directory, files in it, and loading with the errors as one text.
 */
#ifndef TEST_CONFIG_SUPPORT_H
#define TEST_CONFIG_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/config/config.h"
#include "collectives/config/config_load.h"
#include "core/cw.h"

/* The scratch folder of one test program, and where it was started. */
struct scratch {
    char folder[64];
    char start[PATH_MAX];
};

static inline int scratch_enter(void **state)
{
    struct scratch *const scratch = calloc(1, sizeof *scratch);
    assert_non_null(scratch);
    assert_non_null(getcwd(scratch->start, sizeof scratch->start));
    strcpy(scratch->folder, "/tmp/cubewarp-test-XXXXXX");
    assert_non_null(mkdtemp(scratch->folder));
    assert_int_equal(chdir(scratch->folder), 0);
    /* the shipped files, wherever the test program was built, if it was started in a clone */
    char shipped[PATH_MAX + 16];
    snprintf(shipped, sizeof shipped, "%s/configs", scratch->start);
    if (access(shipped, R_OK) == 0)
        setenv("CUBEWARP_CONFIGS", shipped, 1);
    *state = scratch;
    return 0;
}

static inline int scratch_leave(void **state)
{
    struct scratch *const scratch = *state;
    char command[128];
    assert_int_equal(chdir(scratch->start), 0);
    snprintf(command, sizeof command, "rm -rf %s", scratch->folder);
    assert_int_equal(system(command), 0);
    free(scratch);
    return 0;
}

static inline void write_bytes(const char *path, const char *text, size_t bytes)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

/* Loads; the errors as lines, in a buffer that the caller frees. */
static inline char *load_errors(const struct config_request *request, int *code)
{
    struct config *config;
    struct config_errors errors = {0};
    *code = config_load(request, &config, &errors);
    assert_int_equal(config != NULL, *code == CW_OK);
    config_free(config);
    char *text = NULL;
    size_t bytes = 0;
    FILE *const stream = open_memstream(&text, &bytes);
    assert_non_null(stream);
    config_errors_print(stream, &errors);
    fclose(stream);
    config_errors_free(&errors);
    return text;
}

static inline void expect_errors(const struct config_request *request, const char *expected)
{
    int code;
    char *const text = load_errors(request, &code);
    assert_string_equal(text, expected);
    assert_int_equal(code, CW_USAGE);
    free(text);
}

/* Loads with --set options, or fails the test. */
static inline struct config *load_with(const char *preset, const char *const *sets, size_t count)
{
    const struct config_request request = {.preset = preset, .sets = sets, .set_count = count};
    struct config *config;
    struct config_errors errors = {0};
    const int code = config_load(&request, &config, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    assert_int_equal(code, CW_OK);
    return config;
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#endif
