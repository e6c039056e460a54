/*
 * study_rows.c: writes the rows and links of a result into a study's database (study_rows.h). A
 * table has for each column the member of a result, or of its row, that it holds.
 */
#include "bench/study/study_rows.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/result/result_document.h"

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
};
enum { COLUMNS = sizeof columns / sizeof *columns };

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

/* Unknown values are NULL. */
static int bind_count(sqlite3_stmt *statement, int at, int64_t count)
{
    return count >= 0 ? sqlite3_bind_int64(statement, at, count) : sqlite3_bind_null(statement, at);
}

static int bind_figure(sqlite3_stmt *statement, int at, double figure)
{
    return isnan(figure) ? sqlite3_bind_null(statement, at)
                         : sqlite3_bind_double(statement, at, figure);
}

static int bind_column(sqlite3_stmt *statement, int at, const struct column *column,
                       const struct result_document *result, const struct document_row *row)
{
    const char *const field =
        (const char *)(column->of_row ? (const void *)row : result) + column->offset;
    if (column->type == TEXT)
        return sqlite3_bind_text(statement, at, *(const char *const *)field, -1, SQLITE_STATIC);
    if (column->type == FIGURE)
        return bind_figure(statement, at, *(const double *)field);
    if (column->type == SEED)
        return result->has_seed ? sqlite3_bind_int64(statement, at, result->seed)
                                : sqlite3_bind_null(statement, at);
    return bind_count(statement, at, *(const int64_t *)field);
}

static bool insert_links(struct study_rows *rows, int64_t point, int64_t ordinal,
                         const struct document_row *row)
{
    bool is_done = true;
    for (size_t i = 0; i < row->kind_count && is_done; i++) {
        const struct document_link_kind *const kind = &row->kinds[i];
        int failed = sqlite3_bind_int64(rows->link, 1, point);
        failed |= sqlite3_bind_int64(rows->link, 2, ordinal);
        failed |= sqlite3_bind_text(rows->link, 3, kind->kind, -1, SQLITE_STATIC);
        failed |= bind_count(rows->link, 4, kind->links);
        failed |= bind_figure(rows->link, 5, kind->bytes);
        failed |= bind_figure(rows->link, 6, kind->busy);
        is_done = failed == SQLITE_OK && step(rows->link);
    }
    return is_done;
}

static bool insert_row(struct study_rows *rows, int64_t point, int64_t ordinal,
                       const struct result_document *result, const struct document_row *row)
{
    int failed = sqlite3_bind_int64(rows->row, 1, point);
    failed |= sqlite3_bind_int64(rows->row, 2, ordinal);
    for (int i = 0; i < COLUMNS; i++)
        failed |= bind_column(rows->row, i + 3, &columns[i], result, row);
    return failed == SQLITE_OK && step(rows->row) && insert_links(rows, point, ordinal, row);
}

static bool drop_rows(struct study_rows *rows, int64_t point)
{
    int failed = sqlite3_bind_int64(rows->drop_rows, 1, point);
    failed |= sqlite3_bind_int64(rows->drop_links, 1, point);
    return failed == SQLITE_OK && step(rows->drop_rows) && step(rows->drop_links);
}

bool study_rows_insert(struct study_rows *rows, int64_t point, const char *text, size_t bytes)
{
    if (!drop_rows(rows, point))
        return false;
    if (text == NULL)
        return true;
    struct result_document result;
    struct cw_error ignored; /* the caller says that there is no whole result */
    json_t *const json = json_loadb(text, bytes, 0, NULL);
    bool is_done = json != NULL && result_document_of(json, "", &result, &ignored) == CW_OK;
    json_decref(json);
    if (!is_done)
        return false;
    for (size_t i = 0; i < result.row_count && is_done; i++)
        is_done = insert_row(rows, point, (int64_t)i, &result, &result.rows[i]);
    result_document_free(&result);
    return is_done;
}
