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

typedef void (*writer)(FILE *file, const struct result *result);

static inline void write_json(FILE *file, const struct result *result)
{
    struct cw_error error;
    assert_int_equal(report_json(file, result, &error), CW_OK);
}

/* The text, in memory that the caller frees. */
static inline char *written_by(writer write, const struct result *result)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const stream = open_memstream(&text, &bytes);
    assert_non_null(stream);
    write(stream, result);
    assert_int_equal(fclose(stream), 0);
    assert_true(bytes > 0);
    return text;
}

#endif
