/*
 * tables.h: the tables of measured times that a file has, and what was remarked while it was read.
 * Filled by read_log() and read_json(), for measured.h. Plain data; one thread.
 */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include "bench/measured/log_row.h"
#include "bench/measured/log_test.h"
#include "core/cw.h"

enum { TABLES_MAX = 256, TABLE_ROWS_MAX = 1 << 18, NOTES_MAX = 8, NOTE_BYTES = 240 };

struct table_row {
    uint32_t line; /* or the index of a JSON result */
    struct log_row row;
};

/* One table: of one test, below one header. */
struct table {
    struct log_test test; /* the last that was named before it */
    enum log_tool tool;
    bool is_json;
    uint32_t line, ranks; /* of its header; 0: not known */
    uint32_t halves;
    enum log_place place[2];
    double time_scale[2], algbw_scale[2]; /* as the header says; 0: it does not */
    struct table_row *rows;
    size_t row_count, capacity;
    uint32_t failed_line;   /* that says that results were wrong, but not which; 0: none does */
    size_t damaged;         /* rows that could not be read */
    char fault[NOTE_BYTES]; /* of the first of them: "12:40: expected ..." */
};

struct tables {
    const char *path; /* the caller's */
    struct table *table;
    size_t count;
    size_t rows;
    char note[NOTES_MAX][NOTE_BYTES];
    size_t notes; /* may exceed NOTES_MAX: then the rest was not kept */
};

void tables_free(struct tables *tables); /* what it owns */

/* Begins a table, the last one from now on. CW_OK, CW_USAGE for too many, CW_NO_RESOURCE. */
int tables_begin(struct tables *tables, struct cw_error *error);
/* Adds a row to the last table; one that names another test or other ranks goes into a table of the
 * same header, before the last, of its own. */
int tables_add_row(struct tables *tables, uint32_t line, const struct log_row *row,
                   struct cw_error *error);
/* A row of the last table could not be read. */
void tables_add_damaged(struct tables *tables, const char *fault);

void tables_note(struct tables *tables, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
