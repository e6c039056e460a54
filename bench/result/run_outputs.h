/*
 * run_outputs.h: the output of `run`, as rows become known: the table or the CSV on standard
 * output, each row at once; the files of --json and --csv, whole at the end. Rows are also kept as
 * they will be written, so that a run that is interrupted in a long stretch without a drain still
 * writes its files (run_outputs_late(), on another thread).
 */
#ifndef BENCH_RUN_OUTPUTS_H
#define BENCH_RUN_OUTPUTS_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

#include "bench/output/atomic_file.h"
#include "bench/output/result.h"
#include "bench/measured/measured.h"
#include "bench/programs/run_options.h"

struct run_outputs {
    const struct run_options *options;
    const struct measured *measured; /* NULL: none */
    struct atomic_file json, csv;    /* no stream: not asked for, or standard output */
    bool json_to_stdout, csv_to_stdout;
    pthread_mutex_t lock; /* of the streams and of all below, from the first row on */
    json_t *document;     /* with the rows so far; NULL: no memory, or it is not asked for */
    int digits;           /* its numbers' */
    struct result head;   /* a copy whose arrays are the result's, for rows of the CSV alone */
    bool csv_begun;       /* its line of names is written */
    bool ended;           /* the files are written: nothing is left to do */
};

/* Opens the files, so that a path that cannot be written is known before the run. *outputs stays
 * where it is, and `options` outlive it. */
int run_outputs_open(struct run_outputs *outputs, const struct run_options *options,
                     struct cw_error *error);
/* Has each row of *result, before its run, come here. */
void run_outputs_follow(struct run_outputs *outputs, const struct measured *measured,
                        struct result *result);
/* The run is over. Writes the rest: of one that failed or was interrupted the rows that are known
 * and, in the CSV, a row for the unfinished size, whose not_run says why. CW_OK, or CW_NO_RESOURCE.
 */
int run_outputs_end(struct run_outputs *outputs, struct result *result, struct cw_error *error);
/* For interrupt_watch(): writes the files from the rows that are kept. arg: struct run_outputs. */
void run_outputs_late(void *arg, bool second);
void run_outputs_close(struct run_outputs *outputs);

#endif
