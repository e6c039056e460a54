/*
 * run_outputs.c: prints and writes the results of `run`, row by row (run_outputs.h).
 *
 * Threads: the host's thread calls all functions but run_outputs_late(), which the watching thread
 * of interrupt.h calls. Streams, `document`, `digits` and `ended` are touched under the lock alone.
 * The host's thread holds it while it writes a row, and from the end of the run until the process
 * ends or the files are written; so each file is written by one of the two, once.
 */
#include "bench/result/run_outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/output/progress.h"
#include "bench/output/report.h"
#include "bench/output/report_csv.h"
#include "bench/output/report_json.h"
#include "bench/result/interrupt.h"

static bool goes_to_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

int run_outputs_open(struct run_outputs *outputs, const struct run_options *options,
                     struct cw_error *error)
{
    *outputs = (struct run_outputs){.options = options,
                                    .json_to_stdout = goes_to_stdout(options->json),
                                    .csv_to_stdout = goes_to_stdout(options->csv)};
    (void)pthread_mutex_init(&outputs->lock, NULL);
    int code = CW_OK;
    if (options->json != NULL && !outputs->json_to_stdout)
        code = atomic_file_open(&outputs->json, options->json, error);
    if (code == CW_OK && options->csv != NULL && !outputs->csv_to_stdout)
        code = atomic_file_open(&outputs->csv, options->csv, error);
    return code;
}

void run_outputs_close(struct run_outputs *outputs)
{
    atomic_file_discard(&outputs->json);
    atomic_file_discard(&outputs->csv);
    json_decref(outputs->document);
    outputs->document = NULL;
    (void)pthread_mutex_destroy(&outputs->lock);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool table_to_stdout(const struct run_outputs *outputs)
{
    return !outputs->json_to_stdout && !outputs->csv_to_stdout;
}

static bool wants_json(const struct run_outputs *outputs)
{
    return outputs->json_to_stdout || outputs->json.stream != NULL;
}

/* Where the CSV goes; NULL: there is none. */
static FILE *csv_stream(const struct run_outputs *outputs)
{
    return outputs->csv_to_stdout ? stdout : outputs->csv.stream;
}

static void clear_progress(const struct run_outputs *outputs)
{
    if (!outputs->options->quiet && isatty(STDERR_FILENO))
        progress_clear();
}

/* The line of names before the first. row NULL: that line alone. */
static void write_csv_row(struct run_outputs *outputs, FILE *csv, const struct result *result,
                          const struct result_row *row)
{
    if (!outputs->csv_begun)
        report_csv_head(csv, result);
    outputs->csv_begun = true;
    if (row != NULL)
        report_csv_row(csv, result, row);
}

static void write_row(struct run_outputs *outputs, const struct result *result, size_t row)
{
    FILE *const csv = csv_stream(outputs);
    if (table_to_stdout(outputs)) {
        clear_progress(outputs);
        report_table_row(stdout, result, row);
        (void)fflush(stdout); /* a failure is known at the end */
    }
    if (csv == NULL)
        return;
    write_csv_row(outputs, csv, result, &result->rows[row]);
    if (outputs->csv_to_stdout || !outputs->csv.is_regular)
        (void)fflush(csv);
}

/* Keeps the document with these rows, which it takes. Without memory the one before stays. */
static void keep_document(struct run_outputs *outputs, const struct result *result, json_t *rows)
{
    json_t *const document = report_document_with(result, rows);
    if (document == NULL)
        return;
    json_decref(outputs->document);
    outputs->document = document;
    outputs->digits = report_digits(result);
}

static void keep_row(struct run_outputs *outputs, const struct result *result, size_t row)
{
    json_t *const rows = json_object_get(outputs->document, "results");
    if (json_array_append_new(rows, report_row_json(result, row)) == 0)
        keep_document(outputs, result, json_incref(rows));
}

static void take_row(void *arg, struct result *result, size_t row)
{
    struct run_outputs *const outputs = arg;
    if (outputs->measured != NULL)
        measured_attach(outputs->measured, result);
    (void)pthread_mutex_lock(&outputs->lock);
    write_row(outputs, result, row);
    outputs->head = *result;
    if (wants_json(outputs))
        keep_row(outputs, result, row);
    (void)pthread_mutex_unlock(&outputs->lock);
}

void run_outputs_follow(struct run_outputs *outputs, const struct measured *measured,
                        struct result *result)
{
    outputs->measured = measured;
    if (measured != NULL)
        measured_attach(measured, result);
    result->row_done = take_row;
    result->row_arg = outputs;
    outputs->head = *result;
    if (wants_json(outputs))
        keep_document(outputs, result, json_array());
}

/* ---- the end --------------------------------------------------------------------------------- */

static int write_json(struct run_outputs *outputs, const struct result *result,
                      struct cw_error *error)
{
    int code = CW_OK;
    if (outputs->json_to_stdout)
        code = report_json(stdout, result, error);
    if (outputs->json.stream == NULL)
        return code;
    code = report_json(outputs->json.stream, result, error);
    return code == CW_OK ? atomic_file_commit(&outputs->json, error) : code;
}

static int end_csv(struct run_outputs *outputs, const struct result *result, struct cw_error *error)
{
    FILE *const csv = csv_stream(outputs);
    if (csv == NULL)
        return CW_OK;
    write_csv_row(outputs, csv, result, NULL);
    for (size_t i = result->reported; i < result->row_count; i++)
        write_csv_row(outputs, csv, result, &result->rows[i]);
    if (result->unfinished.not_run != NULL)
        write_csv_row(outputs, csv, result, &result->unfinished);
    return outputs->csv.stream != NULL ? atomic_file_commit(&outputs->csv, error) : CW_OK;
}

/* "interrupted by SIGINT: 2 rows are done, of 9 sizes" */
static void say_interrupted(FILE *file, const struct result *result)
{
    const char *const name = interrupt_name();
    fprintf(file, "# interrupted by %s: %zu row%s done, of %zu size%s\n",
            name != NULL ? name : "its host", result->row_count,
            result->row_count == 1 ? " is" : "s are", result->sizes, result->sizes == 1 ? "" : "s");
}

int run_outputs_end(struct run_outputs *outputs, struct result *result, struct cw_error *error)
{
    const bool whole = result->failure == NULL && !result->interrupted;
    if (outputs->measured != NULL)
        measured_attach(outputs->measured, result);
    (void)pthread_mutex_lock(&outputs->lock);
    if (table_to_stdout(outputs)) {
        for (size_t i = result->reported; i < result->row_count; i++)
            report_table_row(stdout, result, i);
        if ((whole || result->interrupted) && result->row_count > 0)
            report_table_rest(stdout, result);
        if (result->interrupted)
            say_interrupted(stdout, result);
    }
    int code = write_json(outputs, result, error);
    struct cw_error second;
    const int csv = end_csv(outputs, result, &second);
    if (code == CW_OK && csv != CW_OK) {
        *error = second;
        code = csv;
    }
    outputs->ended = true;
    (void)pthread_mutex_unlock(&outputs->lock);
    return code;
}

/* Writes the files from the rows that are kept. */
static void write_kept(struct run_outputs *outputs)
{
    const struct result_row interrupted = {
        .wrong = -1, .ranks_differ = -1, .not_finite = -1, .not_run = (char[]){"interrupted"}};
    FILE *const csv = csv_stream(outputs);
    struct cw_error ignored;
    if (outputs->document != NULL) {
        FILE *const json = outputs->json_to_stdout ? stdout : outputs->json.stream;
        (void)json_object_set_new(outputs->document, "interrupted", json_true());
        const int code = report_json_object(json, json_incref(outputs->document),
                                            (size_t)outputs->digits, &ignored);
        if (code == CW_OK && outputs->json.stream != NULL)
            (void)atomic_file_commit(&outputs->json, &ignored);
    }
    if (csv != NULL)
        write_csv_row(outputs, csv, &outputs->head, &interrupted);
    if (table_to_stdout(outputs))
        fprintf(stdout, "# interrupted by %s\n", interrupt_name());
    if (outputs->csv.stream != NULL)
        (void)atomic_file_commit(&outputs->csv, &ignored);
    (void)fflush(stdout);
}

void run_outputs_late(void *arg, bool second)
{
    struct run_outputs *const outputs = arg;
    const int busy =
        second ? pthread_mutex_trylock(&outputs->lock) : pthread_mutex_lock(&outputs->lock);
    if (busy != 0)
        return;
    if (!outputs->ended) {
        clear_progress(outputs);
        fprintf(stderr, "cubewarp run: interrupted by %s\n", interrupt_name());
        write_kept(outputs);
    }
    outputs->ended = true; /* the lock stays taken: the process ends */
}
