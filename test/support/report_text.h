/*
 * report_text.h: what a writer of reports makes of a result, as a text.
 */
#ifndef TEST_REPORT_TEXT_H
#define TEST_REPORT_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "bench/output/report.h"
#include "bench/output/report_json.h"
#include "test/support/file_text.h"

typedef void (*writer)(FILE *file, const struct result *result);

static inline void write_json(FILE *file, const struct result *result)
{
    struct cw_error error;
    assert_int_equal(report_json(file, result, &error), CW_OK);
}

/* The text, in memory that the caller frees. */
static inline char *written_by(writer write, const struct result *result)
{
    size_t bytes;
    FILE *const file = tmpfile();
    assert_non_null(file);
    write(file, result);
    char *const text = stream_bytes(file, &bytes);
    assert_true(bytes > 0);
    return text;
}

#endif
