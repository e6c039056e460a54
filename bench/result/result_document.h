/*
 * result_document.h: a result JSON (schema cubewarp.run/1), read back: from a file of `run --json`,
 * or from an object of run_document(). Its members are checked once, here: a reader of rows need
 * not look for missing members. Members that this header does not name are in `json`.
 */
#ifndef BENCH_RESULT_DOCUMENT_H
#define BENCH_RESULT_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"

/* One row: one collective at one size. Texts are the document's; "" where JSON has null. */
struct document_row {
    const json_t *json; /* the row itself: "phases", "link_kinds", "explain", ... */
    const char *collective, *algorithm, *dtype, *redop, *bound_by, *data_hash;
    const char
        *not_run; /* why this size was not run, and then no figure means anything; "": it was */
    uint64_t bytes, count;
    uint64_t bytes_per_rank;                              /* 0: single tiles */
    int64_t time_ps, host_time_ps, bound_ps, measured_ps; /* measured_ps 0: not measured */
    double algbw_gbs, busbw_gbs;
    int64_t wrong; /* elements; -1: not verified */
};

struct result_document {
    json_t *json; /* the whole document; the result_document's */
    char *name;   /* the file, for messages */
    const char *bench, *algorithm, *config_digest, *trace_hash, *version;
    uint64_t sips, cubes, pes;
    struct document_row *rows;
    size_t row_count;
    const json_t *provenance; /* NULL: a document from before there was one */
    bool interrupted;
    const char *failure; /* the message of a run that failed; NULL: it did not */
};

/* Reads a file, - for standard input. CW_OK, or CW_USAGE (it cannot be read, is no JSON, is no
 * result of `run`; the text says which and where), or CW_NO_RESOURCE; *document is empty then. */
int result_document_read(const char *path, struct result_document *document,
                         struct cw_error *error);
/* The same of an object; `json` belongs to the document afterwards, or is released. */
int result_document_take(json_t *json, const char *name, struct result_document *document,
                         struct cw_error *error);
void result_document_free(struct result_document *document); /* frees its members */

/* The row of a collective at a size; NULL: there is none. Of equal ones the `nth`, from 0. */
const struct document_row *result_document_row(const struct result_document *document,
                                               const char *collective, uint64_t bytes, size_t nth);
/* A text of the provenance ("command_line" is a list, and is none); "": absent. */
const char *result_document_provenance(const struct result_document *document, const char *key);

#endif
