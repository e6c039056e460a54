/*
 * file_text.h: the whole text of a file, of any size, in memory that the caller frees.
 */
#ifndef TEST_FILE_TEXT_H
#define TEST_FILE_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Of an open file, from its beginning, and a 0 after it; closes the file. A device has no bytes. */
static inline char *stream_bytes(FILE *file, size_t *bytes)
{
    const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    assert_true(end >= 0);
    rewind(file);
    *bytes = (size_t)end;
    char *const text = calloc(1, *bytes + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *bytes, file), *bytes);
    assert_int_equal(fclose(file), 0);
    return text;
}

/* Of the file at a path. Fails the test if it is not there, or empty. */
static inline char *read_file_bytes(const char *path, size_t *bytes)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s is missing", path);
    char *const text = stream_bytes(file, bytes);
    if (*bytes == 0)
        fail_msg("%s is empty", path);
    return text;
}

static inline char *read_file(const char *path)
{
    size_t bytes;
    return read_file_bytes(path, &bytes);
}

#endif
