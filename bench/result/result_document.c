/*
 * result_document.c: reads result JSON (result_document.h). All names of members that are read back
 * are here. The rows' lists are parts of two arrays of the document.
 */
#include "bench/result/result_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/json_file.h"
#include "collectives/config/input/nearest_file.h"

#define RUN_SCHEMA   "cubewarp.run/1"
#define PHOLD_SCHEMA "cubewarp.phold/1"

/* ---- members --------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static double figure_of(const json_t *object, const char *key)
{
    return json_file_figure(json_object_get(object, key));
}

/* A count may be written as a number with decimals. */
static int64_t count_of(const json_t *object, const char *key)
{
    const double most = 9007199254740992.0; /* 2^53: a double holds all whole numbers below */
    const json_t *const value = json_object_get(object, key);
    const double real = json_is_real(value) ? json_real_value(value) : -1;
    const int64_t count = json_is_integer(value) ? (int64_t)json_integer_value(value)
                          : real >= 0 && real < most && trunc(real) == real ? (int64_t)real
                                                                            : -1;
    return count >= 0 ? count : -1;
}

static const json_t *object_of(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    return json_is_object(value) ? value : NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void read_phases(struct document_row *row, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const item = json_array_get(list, i);
        const char *const name = text_of(item, "name");
        if (name != NULL)
            row->phases[row->phase_count++] =
                (struct document_phase){name, figure_of(item, "min_ns"), figure_of(item, "mean_ns"),
                                        figure_of(item, "max_ns")};
    }
}

static void read_kinds(struct document_row *row, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const item = json_array_get(list, i);
        const char *const kind = text_of(item, "kind");
        if (kind != NULL)
            row->kinds[row->kind_count++] = (struct document_link_kind){
                kind, count_of(item, "links"), figure_of(item, "bytes"), figure_of(item, "busy")};
    }
}

/* phases, kinds: room for the row's lists. */
static struct document_row row_of(const json_t *json, struct document_phase *phases,
                                  struct document_link_kind *kinds)
{
    const json_t *const shortcuts = object_of(json, "shortcuts");
    struct document_row row = {
        .collective = text_of(json, "collective"),
        .algorithm = text_of(json, "algorithm"),
        .placement = text_of(json, "placement"),
        .dtype = text_of(json, "dtype"),
        .redop = text_of(json, "redop"),
        .bound_by = text_of(json, "bound_by"),
        .data_hash = text_of(json, "data_hash"),
        .proof = text_of(json, "proof"),
        .last_pe = text_of(json, "last_pe"),
        .not_run = text_of(json, "not_run"),
        .bytes = count_of(json, "bytes"),
        .count = count_of(json, "count"),
        .bytes_per_rank = count_of(json, "bytes_per_rank"),
        .shards_per_rank = count_of(json, "shards_per_rank"),
        .wrong = count_of(json, "wrong"),
        .ranks_differ = count_of(json, "ranks_differ"),
        .not_finite = count_of(json, "not_finite"),
        .fold = text_of(shortcuts, "fold"),
        .sips_simulated = count_of(shortcuts, "sips_simulated"),
        .iterations_simulated = count_of(shortcuts, "iterations_simulated"),
        .operations_simulated = count_of(shortcuts, "operations_simulated"),
        .time_ns = figure_of(json, "time_ns"),
        .host_time_ns = figure_of(json, "host_time_ns"),
        .start_skew_ns = figure_of(json, "start_skew_ns"),
        .bound_ns = figure_of(json, "bound_ns"),
        .measured_ns = figure_of(json, "measured_ns"),
        .error_percent = figure_of(json, "error_percent"),
        .algbw_gbs = figure_of(json, "algbw_gbs"),
        .busbw_gbs = figure_of(json, "busbw_gbs"),
        .credit_wait_ns = figure_of(json, "credit_wait_ns"),
        .last_pe_credit_wait_ns = figure_of(json, "last_pe_credit_wait_ns"),
        .moved_per_rank = figure_of(json, "moved_per_rank"),
        .time_cost_us = figure_of(json, "time_cost_us"),
        .joules = figure_of(json, "joules"),
        .joules_per_byte = figure_of(json, "joules_per_byte"),
        .phases = phases,
        .kinds = kinds,
        .explain = object_of(json, "explain"),
    };
    read_phases(&row, json_object_get(json, "phases"));
    read_kinds(&row, json_object_get(json, "link_kinds"));
    return row;
}

static size_t items_of(const json_t *results, const char *list)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(results); i++)
        count += json_array_size(json_object_get(json_array_get(results, i), list));
    return count;
}

static int read_rows(struct result_document *document, struct cw_error *error)
{
    const json_t *const results = json_object_get(document->json, "results");
    const size_t rows = json_array_size(results);
    document->rows = calloc(rows + 1, sizeof *document->rows);
    document->phases = calloc(items_of(results, "phases") + 1, sizeof *document->phases);
    document->kinds = calloc(items_of(results, "link_kinds") + 1, sizeof *document->kinds);
    if (document->rows == NULL || document->phases == NULL || document->kinds == NULL)
        return cw_error_memory(error, "a result");
    struct document_phase *phases = document->phases;
    struct document_link_kind *kinds = document->kinds;
    for (size_t i = 0; i < rows; i++) {
        document->rows[i] = row_of(json_array_get(results, i), phases, kinds);
        phases += document->rows[i].phase_count;
        kinds += document->rows[i].kind_count;
    }
    document->row_count = rows;
    return CW_OK;
}

/* ---- the document ---------------------------------------------------------------------------- */

static void read_engine(struct document_engine *engine, const json_t *json)
{
    *engine = (struct document_engine){
        .sync = text_of(json, "sync"),
        .trace_hash = text_of(json, "trace_hash"),
        .fold_hash = text_of(json, "fold_hash"),
        .threads = count_of(json, "threads"),
        .events = figure_of(json, "events_committed"),
        .events_per_s = figure_of(json, "committed_events_per_s"),
        .setup_s = figure_of(json, "setup_s"),
        .run_s = figure_of(json, "run_s"),
        .peak_rss_bytes = figure_of(json, "peak_rss_bytes"),
    };
}

/* A failure is a text, or an object with a message. */
static const char *failure_of(const json_t *json)
{
    const json_t *const failure = json_object_get(json, "error");
    if (json_is_string(failure))
        return json_string_value(failure);
    const char *const message = text_of(failure, "message");
    return !json_is_object(failure) ? NULL : message != NULL ? message : "";
}

/* Of all kinds together. */
static int64_t links_built(const json_t *kinds)
{
    int64_t links = json_is_array(kinds) ? 0 : -1;
    for (size_t i = 0; i < json_array_size(kinds) && links >= 0; i++) {
        const int64_t more = count_of(json_array_get(kinds, i), "built");
        links = more < 0 || more > INT64_MAX - links ? -1 : links + more;
    }
    return links;
}

static void read_head(struct result_document *document)
{
    const json_t *const json = document->json;
    const json_t *const topology = object_of(json, "topology");
    const json_t *const seed = json_object_get(json, "seed");
    document->version = text_of(json, "version");
    document->bench = text_of(json, "bench");
    document->algorithm = text_of(json, "algorithm");
    document->config_digest = text_of(json, "config_digest");
    document->input = text_of(json, "input");
    document->has_seed = json_is_integer(seed);
    document->seed = (int64_t)json_integer_value(seed);
    document->sips = count_of(topology, "sips");
    document->cubes = count_of(topology, "cubes");
    document->pes = count_of(topology, "pes");
    document->links_built = links_built(json_object_get(topology, "links"));
    document->cost = figure_of(topology, "cost");
    document->watts = figure_of(topology, "watts");
    document->credit_wait_ns = figure_of(json, "credit_wait_ns");
    document->provenance = object_of(json, "provenance");
    document->picture = object_of(json, "picture");
    document->phold = object_of(json, "phold");
    document->interrupted = json_is_true(json_object_get(json, "interrupted"));
    document->failure = failure_of(json);
    read_engine(&document->engine, object_of(json, "engine"));
}

static int check_schema(struct result_document *document, struct cw_error *error)
{
    const char *const schema = text_of(document->json, "schema");
    document->is_run = schema != NULL && strcmp(schema, RUN_SCHEMA) == 0;
    if (document->is_run || (schema != NULL && strcmp(schema, PHOLD_SCHEMA) == 0))
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "%.300s: %s%.40s; expected the schema " RUN_SCHEMA " or " PHOLD_SCHEMA
                        ", as run --json and phold --json write them",
                        document->name,
                        schema == NULL ? "no object with a schema" : "the schema is ",
                        schema == NULL ? "" : schema);
}

int result_document_of(json_t *json, const char *name, struct result_document *document,
                       struct cw_error *error)
{
    *document = (struct result_document){.json = json_incref(json), .name = strdup(name)};
    int code = document->name != NULL ? CW_OK : cw_error_memory(error, "a result");
    if (code == CW_OK)
        code = check_schema(document, error);
    if (code == CW_OK) {
        read_head(document);
        code = read_rows(document, error);
    }
    if (code != CW_OK)
        result_document_free(document);
    return code;
}

#define EXPECTED "; expected a result that `run --json` wrote"

int result_document_read(const char *path, struct result_document *document, struct cw_error *error)
{
    json_error_t wrong;
    int number;
    json_t *const json = json_file_read(path, 0, &wrong, &number);
    char meant[NEAREST_FILE_BYTES];
    *document = (struct result_document){0};
    if (json != NULL) {
        const int code = result_document_of(json, path, document, error);
        json_decref(json);
        return code;
    }
    if (number != 0)
        return cw_error_set(error, CW_USAGE, "cannot read %.300s: %s%s", path, strerror(number),
                            nearest_file_hint(path, NULL, meant));
    if (wrong.line < 0) /* no place in the text: the file itself */
        return cw_error_set(error, CW_USAGE, "%.300s: %s", path, wrong.text);
    if (wrong.column == 0 && wrong.position == 0) /* an empty file */
        return cw_error_set(error, CW_USAGE, "%.300s: nothing can be read from it" EXPECTED, path);
    return cw_error_set(error, CW_USAGE, "%.300s:%d:%d: %s" EXPECTED, path, wrong.line,
                        wrong.column, wrong.text);
}

int result_document_check(const struct result_document *document, struct cw_error *error)
{
    if (!document->is_run)
        return cw_error_set(error, CW_USAGE,
                            "%.300s: the schema is " PHOLD_SCHEMA ", not " RUN_SCHEMA EXPECTED,
                            document->name);
    if (!json_is_array(json_object_get(document->json, "results")))
        return cw_error_set(error, CW_USAGE, "%.300s: no list of results" EXPECTED, document->name);
    for (size_t i = 0; i < document->row_count; i++)
        if (document->rows[i].bytes < 0 || isnan(document->rows[i].time_ns))
            return cw_error_set(error, CW_USAGE,
                                "%.300s: results[%zu] has no bytes or no time_ns" EXPECTED,
                                document->name, i);
    return CW_OK;
}

void result_document_free(struct result_document *document)
{
    json_decref(document->json);
    free(document->name);
    free(document->rows);
    free(document->phases);
    free(document->kinds);
    *document = (struct result_document){0};
}

/* ---- what is asked of it --------------------------------------------------------------------- */

int64_t document_row_time_ps(const struct document_row *row)
{
    const double most_ns = 9e15; /* no simulated time is longer */
    return fabs(row->time_ns) < most_ns ? llround(1000 * row->time_ns) : 0;
}

bool document_text_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

int64_t document_row_size(const struct document_row *row, bool per_rank)
{
    return per_rank && row->bytes_per_rank >= 0 ? row->bytes_per_rank : row->bytes;
}

const struct document_row *result_document_row(const struct result_document *document,
                                               const char *collective, int64_t size, bool per_rank,
                                               size_t nth)
{
    for (size_t i = 0; i < document->row_count; i++) {
        const struct document_row *const row = &document->rows[i];
        if (document_row_size(row, per_rank) == size &&
            document_text_same(row->collective, collective) && nth-- == 0)
            return row;
    }
    return NULL;
}

const char *result_document_provenance(const struct result_document *document, const char *key)
{
    const char *const text = text_of(document->provenance, key);
    return text != NULL ? text : "";
}
