/*
 * study_rows.c: packs the rows and links of a result, and inserts them into a study's database. For
 * each column of the table, `columns` has the member of the result, or of its row, that it holds.
 *
 * Packed, a row is ROW and a cell for each column; its links follow, each as LINK and four cells. A
 * cell is its kind and its value: 8 bytes, or the length of a text and its bytes.
 */
#include "bench/study/study_rows.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/os/text_stream.h"

enum column_type { TEXT, COUNT, FIGURE, SEED };

/* A column of `row`. */
struct column {
    enum column_type type;
    bool of_row; /* else of the result */
    size_t offset;
};
#define OF_RESULT(type, member)                                                                    \
    {                                                                                              \
        type, false, offsetof(struct result_document, member)                                      \
    }
#define OF_ROW(type, member)                                                                       \
    {                                                                                              \
        type, true, offsetof(struct document_row, member)                                          \
    }

/* In the order of STUDY_ROW_COLUMNS. */
static const struct column columns[] = {
    OF_RESULT(TEXT, bench),
    OF_ROW(TEXT, collective),
    OF_ROW(TEXT, algorithm),
    OF_RESULT(TEXT, config_digest),
    OF_RESULT(COUNT, sips),
    OF_RESULT(COUNT, cubes),
    OF_RESULT(COUNT, pes),
    OF_RESULT(SEED, seed),
    OF_ROW(TEXT, dtype),
    OF_ROW(TEXT, redop),
    OF_ROW(COUNT, bytes),
    OF_ROW(COUNT, count),
    OF_ROW(FIGURE, time_ns),
    OF_ROW(FIGURE, host_time_ns),
    OF_ROW(FIGURE, start_skew_ns),
    OF_ROW(FIGURE, algbw_gbs),
    OF_ROW(FIGURE, busbw_gbs),
    OF_ROW(FIGURE, bound_ns),
    OF_ROW(COUNT, wrong),
    OF_ROW(TEXT, data_hash),
    OF_RESULT(TEXT, input),
    OF_ROW(TEXT, proof),
    OF_ROW(COUNT, shards_per_rank),
    OF_ROW(COUNT, bytes_per_rank),
    OF_ROW(FIGURE, credit_wait_ns),
    OF_ROW(TEXT, last_pe),
    OF_ROW(FIGURE, last_pe_credit_wait_ns),
    OF_ROW(TEXT, not_run),
    OF_ROW(COUNT, ranks_differ),
    OF_ROW(COUNT, not_finite),
    OF_ROW(TEXT, fold),
    OF_ROW(COUNT, sips_simulated),
    OF_ROW(COUNT, iterations_simulated),
    OF_ROW(COUNT, operations_simulated),
    OF_RESULT(COUNT, links_built),
    OF_RESULT(FIGURE, cost),
    OF_ROW(FIGURE, time_cost_us),
    OF_RESULT(FIGURE, watts),
    OF_ROW(FIGURE, joules),
    OF_ROW(FIGURE, joules_per_byte),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

const char *const study_row_new[STUDY_ROW_NEW] = {"ranks_differ INTEGER",
                                                  "not_finite INTEGER",
                                                  "fold TEXT",
                                                  "sips_simulated INTEGER",
                                                  "iterations_simulated INTEGER",
                                                  "operations_simulated INTEGER",
                                                  "links_built INTEGER",
                                                  "cost REAL",
                                                  "time_cost_us REAL",
                                                  "watts REAL",
                                                  "joules REAL",
                                                  "joules_per_byte REAL"};

/* ---- packing --------------------------------------------------------------------------------- */

enum {
    ROW = 'R',
    LINK = 'L',
    CELL_NULL = 'n',
    CELL_COUNT = 'c',
    CELL_FIGURE = 'f',
    CELL_TEXT = 't'
};

/* Unknown values are NULL. */
static void put_null(FILE *out) { putc(CELL_NULL, out); }

static void put_integer(FILE *out, int64_t value)
{
    putc(CELL_COUNT, out);
    fwrite(&value, sizeof value, 1, out);
}

static void put_count(FILE *out, int64_t count)
{
    if (count >= 0)
        put_integer(out, count);
    else
        put_null(out);
}

/* Rounded like the figures in the result's JSON. */
static void put_figure(FILE *out, double figure, int digits)
{
    char text[40];
    if (isnan(figure)) {
        put_null(out);
        return;
    }
    snprintf(text, sizeof text, "%.*g", digits, figure);
    const double rounded = strtod(text, NULL);
    putc(CELL_FIGURE, out);
    fwrite(&rounded, sizeof rounded, 1, out);
}

static void put_text(FILE *out, const char *text)
{
    if (text == NULL) {
        put_null(out);
        return;
    }
    const uint64_t bytes = strlen(text);
    putc(CELL_TEXT, out);
    fwrite(&bytes, sizeof bytes, 1, out);
    fwrite(text, 1, bytes, out);
}

static void put_column(FILE *out, const struct column *column, const struct result_document *result,
                       const struct document_row *row, int digits)
{
    const void *const field =
        (const char *)(column->of_row ? (const void *)row : result) + column->offset;
    if (column->type == TEXT)
        put_text(out, *(const char *const *)field);
    else if (column->type == FIGURE)
        put_figure(out, *(const double *)field, digits);
    else if (column->type == COUNT)
        put_count(out, *(const int64_t *)field);
    else if (result->has_seed)
        put_integer(out, result->seed);
    else
        put_null(out);
}

bool study_rows_pack(const struct result_document *result, int digits, char **packed, size_t *bytes)
{
    *packed = NULL;
    FILE *const out = text_stream_open(packed, bytes);
    if (out == NULL)
        return false;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct document_row *const row = &result->rows[i];
        putc(ROW, out);
        for (int c = 0; c < COLUMNS; c++)
            put_column(out, &columns[c], result, row, digits);
        for (size_t k = 0; k < row->kind_count; k++) {
            putc(LINK, out);
            put_text(out, row->kinds[k].kind);
            put_count(out, row->kinds[k].links);
            put_figure(out, row->kinds[k].bytes, digits);
            put_figure(out, row->kinds[k].busy, digits);
        }
    }
    return fclose(out) == 0 && *packed != NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct study_rows {
    sqlite3_stmt *row, *link, *drop_rows, *drop_links;
};

struct study_rows *study_rows_create(sqlite3 *sqlite)
{
    struct study_rows *const rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        return NULL;
    char insert[64 + 2 * COLUMNS];
    strcpy(insert, "INSERT INTO row VALUES (?,?");
    for (int i = 0; i < COLUMNS; i++)
        strcat(insert, ",?");
    strcat(insert, ")");
    const struct {
        sqlite3_stmt **statement;
        const char *text;
    } all[] = {{&rows->row, insert},
               {&rows->link, "INSERT INTO link VALUES (?,?,?,?,?,?)"},
               {&rows->drop_rows, "DELETE FROM row WHERE point = ?"},
               {&rows->drop_links, "DELETE FROM link WHERE point = ?"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sqlite3_prepare_v3(sqlite, all[i].text, -1, SQLITE_PREPARE_PERSISTENT, all[i].statement,
                               NULL) != SQLITE_OK) {
            study_rows_free(rows);
            return NULL;
        }
    return rows;
}

void study_rows_free(struct study_rows *rows)
{
    if (rows == NULL)
        return;
    sqlite3_finalize(rows->row);
    sqlite3_finalize(rows->link);
    sqlite3_finalize(rows->drop_rows);
    sqlite3_finalize(rows->drop_links);
    free(rows);
}

static bool step(sqlite3_stmt *statement)
{
    const int result = sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK && result == SQLITE_DONE;
}

static bool drop_rows(struct study_rows *rows, int64_t point)
{
    int failed = sqlite3_bind_int64(rows->drop_rows, 1, point);
    failed |= sqlite3_bind_int64(rows->drop_links, 1, point);
    return failed == SQLITE_OK && step(rows->drop_rows) && step(rows->drop_links);
}

/* Packed bytes that are still to be read. */
struct unpacking {
    const char *at;
    size_t left;
};

/* The next bytes; NULL: there are fewer. */
static const char *take(struct unpacking *unpacking, size_t bytes)
{
    const char *const taken = unpacking->at;
    if (bytes > unpacking->left)
        return NULL;
    unpacking->at += bytes;
    unpacking->left -= bytes;
    return taken;
}

/* Binds the next cell. False: SQLite refuses it, or it is incomplete. An unbound value would be
 * inserted as NULL. */
static bool bind_cell(struct unpacking *unpacking, sqlite3_stmt *statement, int at)
{
    uint64_t value;
    double figure;
    const char *const kind = take(unpacking, 1);
    if (kind == NULL || *kind == CELL_NULL)
        return kind != NULL && sqlite3_bind_null(statement, at) == SQLITE_OK;
    const char *const bytes = take(unpacking, sizeof value);
    if (bytes == NULL)
        return false;
    memcpy(&value, bytes, sizeof value);
    memcpy(&figure, bytes, sizeof figure);
    if (*kind == CELL_COUNT)
        return sqlite3_bind_int64(statement, at, (int64_t)value) == SQLITE_OK;
    if (*kind == CELL_FIGURE)
        return sqlite3_bind_double(statement, at, figure) == SQLITE_OK;
    const char *const text = take(unpacking, value);
    return text != NULL &&
           sqlite3_bind_text64(statement, at, text, value, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
}

static bool insert_cells(struct unpacking *unpacking, sqlite3_stmt *statement, int64_t point,
                         int64_t ordinal, int cells)
{
    bool is_done = sqlite3_bind_int64(statement, 1, point) == SQLITE_OK &&
                   sqlite3_bind_int64(statement, 2, ordinal) == SQLITE_OK;
    for (int i = 0; i < cells && is_done; i++)
        is_done = bind_cell(unpacking, statement, i + 3);
    return is_done && step(statement);
}

bool study_rows_insert(struct study_rows *rows, int64_t point, const char *packed, size_t bytes)
{
    enum { LINK_CELLS = 4 };
    struct unpacking unpacking = {.at = packed, .left = bytes};
    int64_t ordinal = -1;
    bool is_done = drop_rows(rows, point);
    while (is_done && unpacking.left > 0) {
        const bool is_row = *take(&unpacking, 1) == ROW;
        ordinal += is_row;
        is_done = is_row ? insert_cells(&unpacking, rows->row, point, ordinal, COLUMNS)
                         : insert_cells(&unpacking, rows->link, point, ordinal, LINK_CELLS);
    }
    return is_done;
}

bool study_rows_insert_result(struct study_rows *rows, int64_t point, const char *text,
                              size_t bytes)
{
    enum { ALL_DIGITS = 17 };
    struct result_document result;
    struct cw_error ignored; /* the caller reports that the result is incomplete */
    char *packed = NULL;
    size_t packed_bytes;
    json_t *const json = json_loadb(text, bytes, 0, NULL);
    bool is_done = json != NULL && result_document_of(json, "", &result, &ignored) == CW_OK;
    json_decref(json);
    if (!is_done)
        return false;
    is_done = study_rows_pack(&result, ALL_DIGITS, &packed, &packed_bytes) &&
              study_rows_insert(rows, point, packed, packed_bytes);
    result_document_free(&result);
    free(packed);
    return is_done;
}
