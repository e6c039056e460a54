/*
 * report_json.h: a result as JSON, schema cubewarp.run/1, and the parts of it that commands share.
 */
#ifndef BENCH_REPORT_JSON_H
#define BENCH_REPORT_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "bench/output/result.h"

/* CW_NO_RESOURCE, with *error filled, if there is no memory for it. The caller checks the stream
 * for failed writes. */
int report_json(FILE *file, const struct result *result, struct cw_error *error);
/* The same for any object, which is released; NULL is an object for which there was no memory.
 * `digits`: of numbers with decimals. */
int report_json_object(FILE *file, json_t *object, size_t digits, struct cw_error *error);

/* Adds a member, or an element, and takes the value. A missing value (no memory) makes the whole
 * object or list NULL, and so do all additions to it afterwards. */
void report_put(json_t **object, const char *key, json_t *value);
void report_append(json_t **list, json_t *value);

/* A text that may come from the system, and need not be UTF-8: then each byte that is not
 * ASCII becomes '?'. NULL: out of memory. */
json_t *report_text(const char *text);

/* 16 hexadecimal digits; null where it is not given. NULL: out of memory. */
json_t *report_hash_or_null(bool given, uint64_t hash);

/* The whole object that report_json() writes. NULL: out of memory. */
json_t *report_document(const struct result *result);
/* One row of it; and the object with other rows, which it takes. NULL: out of memory. */
json_t *report_row_json(const struct result *result, size_t row);
json_t *report_document_with(const struct result *result, json_t *rows);
/* Its digits, for numbers with decimals: as many as give all times back. */
int report_digits(const struct result *result);
/* The object `engine`. NULL: out of memory. */
json_t *report_engine_json(const struct result_engine *engine);
/* The part of a result that is the same in every mode, with members that cubewarp.run/1 leaves out
 * because they are rounded or derived there. NULL: out of memory. */
json_t *report_comparison_json(const struct result *result);

#endif
