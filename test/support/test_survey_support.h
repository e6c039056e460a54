/*
 * test_survey_support.h: surveys of results, studies and histories that tests make up.
 */
#ifndef TEST_SURVEY_SUPPORT_H
#define TEST_SURVEY_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/survey/survey_finish.h"
#include "bench/survey/survey_result.h"
#include "bench/survey/words.h"

/* The rows of a result, given as JSON. */
static inline void add_document(struct survey *survey, const char *label, const char *text)
{
    struct cw_error error = {.exit_code = CW_OK};
    json_t *const document = survey_keep(survey, json_loads(text, 0, NULL));
    assert_non_null(document);
    struct survey_point *const point = survey_point_add(survey, label, label);
    assert_int_equal(survey_result_fill(survey, point, document, &error), CW_OK);
}

/* Whether a sentence of the summary contains a text. */
static inline bool says(struct survey *survey, const char *text)
{
    const char *sentences[WORDS_MAX] = {NULL};
    const size_t count = words_of_survey(survey, sentences);
    for (size_t i = 0; i < count; i++)
        if (strstr(sentences[i], text) != NULL)
            return true;
    return false;
}

static inline void finish(struct survey *survey)
{
    struct cw_error error = {.exit_code = CW_OK};
    assert_int_equal(survey_finish(survey, &error), CW_OK);
}

/* What a writer writes; the caller frees it. Not inline, since GCC 12 would warn of a dangling
 * pointer. */
__attribute__((noinline, unused)) static char *
written(int (*write)(FILE *, struct survey *, struct cw_error *), struct survey *survey)
{
    struct cw_error error = {.exit_code = CW_OK};
    char *text = NULL;
    size_t bytes;
    FILE *const file = open_memstream(&text, &bytes);
    assert_int_equal(write(file, survey, &error), CW_OK);
    assert_int_equal(fclose(file), 0);
    return text;
}

/* Creates the database if it is missing. */
static inline void fill_database(const char *path, const char *statements)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#endif
