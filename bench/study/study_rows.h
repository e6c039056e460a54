/*
 * study_rows.h: the rows and links of a result in the tables `row` and `link` (STUDY.md). The
 * process that runs a point packs them; the process that writes the database inserts them.
 */
#ifndef BENCH_STUDY_ROWS_H
#define BENCH_STUDY_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/result/result_document.h"

/* The columns of `row`, in the order of `columns` in study_rows.c. */
#define STUDY_ROW_COLUMNS                                                                          \
    "point INTEGER NOT NULL REFERENCES point(id), ordinal INTEGER NOT NULL, bench TEXT,"           \
    " collective TEXT, algorithm TEXT, config_digest TEXT, sips INTEGER, cubes INTEGER,"           \
    " pes INTEGER, seed INTEGER, dtype TEXT, redop TEXT, bytes INTEGER, count INTEGER,"            \
    " time_ns REAL, host_time_ns REAL, start_skew_ns REAL, algbw_gbs REAL, busbw_gbs REAL,"        \
    " bound_ns REAL, wrong INTEGER, data_hash TEXT, input TEXT, proof TEXT,"                       \
    " shards_per_rank INTEGER, bytes_per_rank INTEGER, credit_wait_ns REAL, last_pe TEXT,"         \
    " last_pe_credit_wait_ns REAL, not_run TEXT, ranks_differ INTEGER, not_finite INTEGER,"        \
    " fold TEXT, sips_simulated INTEGER, iterations_simulated INTEGER,"                            \
    " operations_simulated INTEGER, links_built INTEGER, cost REAL, time_cost_us REAL,"            \
    " watts REAL, joules REAL, joules_per_byte REAL"
/* The last columns, which databases of earlier versions lack: of version 0.1.0 all of them. */
enum { STUDY_ROW_NEW = 12 };
extern const char *const study_row_new[STUDY_ROW_NEW]; /* "NAME TYPE" */

struct study_rows;

/* NULL: SQLite's own message says why. */
struct study_rows *study_rows_create(sqlite3 *sqlite);
void study_rows_free(struct study_rows *rows); /* accepts NULL */

/* Packs the values that a result has in both tables, so that another process of this program can
 * insert them. Figures get as many digits as in the result's JSON. The caller frees *packed.
 * False: no memory. */
bool study_rows_pack(const struct result_document *result, int digits, char **packed,
                     size_t *bytes);
/* Replaces the rows and links of a point by packed ones; 0 bytes: none. False: SQLite's own message
 * says why. */
bool study_rows_insert(struct study_rows *rows, int64_t point, const char *packed, size_t bytes);
/* The same for a result JSON that the database has kept. Also false if it is not one. */
bool study_rows_insert_result(struct study_rows *rows, int64_t point, const char *text,
                              size_t bytes);

#endif
