/*
 * result_document.c: see result_document.h. Times are decimal numbers of ns with three decimals, so
 * a whole number of ps is the nearest one.
 */
#include "bench/result/result_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/json_file.h"
#include "collectives/config/input/nearest_file.h"

#define SCHEMA "cubewarp.run/1"

/* ---- members --------------------------------------------------------------------------------- */

static const char *text_member(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static uint64_t count_member(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

/* No simulated time is longer. */
#define NS_MAX 9e15

static int64_t ps_member(const json_t *object, const char *key)
{
    const double ns = json_number_value(json_object_get(object, key));
    return fabs(ns) < NS_MAX ? llround(1000 * ns) : 0;
}

static struct document_row row_of(const json_t *json)
{
    const json_t *const wrong = json_object_get(json, "wrong");
    return (struct document_row){.json = json,
                                 .collective = text_member(json, "collective"),
                                 .algorithm = text_member(json, "algorithm"),
                                 .dtype = text_member(json, "dtype"),
                                 .redop = text_member(json, "redop"),
                                 .bound_by = text_member(json, "bound_by"),
                                 .data_hash = text_member(json, "data_hash"),
                                 .not_run = text_member(json, "not_run"),
                                 .bytes = count_member(json, "bytes"),
                                 .count = count_member(json, "count"),
                                 .bytes_per_rank = count_member(json, "bytes_per_rank"),
                                 .time_ps = ps_member(json, "time_ns"),
                                 .host_time_ps = ps_member(json, "host_time_ns"),
                                 .bound_ps = ps_member(json, "bound_ns"),
                                 .measured_ps = ps_member(json, "measured_ns"),
                                 .algbw_gbs = json_number_value(json_object_get(json, "algbw_gbs")),
                                 .busbw_gbs = json_number_value(json_object_get(json, "busbw_gbs")),
                                 .wrong = json_is_integer(wrong) ? json_integer_value(wrong) : -1};
}

/* ---- the document ---------------------------------------------------------------------------- */

static int refuse(const struct result_document *document, struct cw_error *error, const char *text)
{
    return cw_error_set(error, CW_USAGE, "%s: %s; expected a result that `run --json` wrote",
                        document->name, text);
}

static int check_row(const struct result_document *document, size_t i, struct cw_error *error)
{
    const json_t *const row = json_array_get(json_object_get(document->json, "results"), i);
    char text[96];
    if (json_is_object(row) && json_is_integer(json_object_get(row, "bytes")) &&
        json_is_number(json_object_get(row, "time_ns")))
        return CW_OK;
    snprintf(text, sizeof text, "results[%zu] has no bytes or no time_ns", i);
    return refuse(document, error, text);
}

static int check_document(const struct result_document *document, struct cw_error *error)
{
    const json_t *const results = json_object_get(document->json, "results");
    const char *const schema = text_member(document->json, "schema");
    char text[96];
    if (!json_is_object(document->json) || schema[0] == '\0')
        return refuse(document, error, "no object with a schema");
    if (strcmp(schema, SCHEMA) != 0) {
        snprintf(text, sizeof text, "the schema is %.40s, not " SCHEMA, schema);
        return refuse(document, error, text);
    }
    if (!json_is_array(results))
        return refuse(document, error, "no list of results");
    int code = CW_OK;
    for (size_t i = 0; i < json_array_size(results) && code == CW_OK; i++)
        code = check_row(document, i, error);
    return code;
}

static int fill_document(struct result_document *document, struct cw_error *error)
{
    const json_t *const json = document->json;
    const json_t *const results = json_object_get(json, "results");
    const json_t *const topology = json_object_get(json, "topology");
    const json_t *const failure = json_object_get(json, "error");
    const json_t *const provenance = json_object_get(json, "provenance");
    document->bench = text_member(json, "bench");
    document->algorithm = text_member(json, "algorithm");
    document->config_digest = text_member(json, "config_digest");
    document->version = text_member(json, "version");
    document->trace_hash = text_member(json_object_get(json, "engine"), "trace_hash");
    document->sips = count_member(topology, "sips");
    document->cubes = count_member(topology, "cubes");
    document->pes = count_member(topology, "pes");
    document->provenance = json_is_object(provenance) ? provenance : NULL;
    document->interrupted = json_is_true(json_object_get(json, "interrupted"));
    document->failure = failure != NULL ? text_member(failure, "message") : NULL;
    document->rows = calloc(json_array_size(results) + 1, sizeof *document->rows);
    if (document->rows == NULL)
        return cw_error_memory(error, "a result");
    for (; document->row_count < json_array_size(results); document->row_count++)
        document->rows[document->row_count] = row_of(json_array_get(results, document->row_count));
    return CW_OK;
}

int result_document_take(json_t *json, const char *name, struct result_document *document,
                         struct cw_error *error)
{
    *document = (struct result_document){.json = json, .name = strdup(name)};
    int code = document->name != NULL ? CW_OK : cw_error_memory(error, "a result");
    if (code == CW_OK)
        code = check_document(document, error);
    if (code == CW_OK)
        code = fill_document(document, error);
    if (code != CW_OK)
        result_document_free(document);
    return code;
}

int result_document_read(const char *path, struct result_document *document, struct cw_error *error)
{
    json_error_t wrong;
    int number;
    json_t *const json = json_file_read(path, 0, &wrong, &number);
    char meant[NEAREST_FILE_BYTES];
    *document = (struct result_document){0};
    if (json != NULL)
        return result_document_take(json, path, document, error);
    if (number != 0)
        return cw_error_set(error, CW_USAGE, "cannot read %s: %s%s", path, strerror(number),
                            nearest_file_hint(path, NULL, meant));
    if (wrong.line < 0) /* no place in the text: the file itself */
        return cw_error_set(error, CW_USAGE, "%s: %s", path, wrong.text);
    if (wrong.column == 0 && wrong.position == 0) /* an empty file */
        return cw_error_set(error, CW_USAGE,
                            "%s: nothing can be read from it; expected a result that `run --json` "
                            "wrote",
                            path);
    return cw_error_set(error, CW_USAGE, "%s:%d:%d: %s; expected a result that `run --json` wrote",
                        path, wrong.line, wrong.column, wrong.text);
}

void result_document_free(struct result_document *document)
{
    json_decref(document->json);
    free(document->name);
    free(document->rows);
    *document = (struct result_document){0};
}

const struct document_row *result_document_row(const struct result_document *document,
                                               const char *collective, uint64_t bytes, size_t nth)
{
    for (size_t i = 0; i < document->row_count; i++) {
        const struct document_row *const row = &document->rows[i];
        if (row->bytes == bytes && strcmp(row->collective, collective) == 0 && nth-- == 0)
            return row;
    }
    return NULL;
}

const char *result_document_provenance(const struct result_document *document, const char *key)
{
    return document->provenance != NULL ? text_member(document->provenance, key) : "";
}
