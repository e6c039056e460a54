/*
 * study_rows.c: see study_rows.h. A column's value is found by its name: in the row, else in the
 * result itself, else in its topology or its engine.
 */
#include "bench/study/study_rows.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
    "bench",
    "collective",
    "algorithm",
    "config_digest",
    "sips",
    "cubes",
    "pes",
    "seed",
    "dtype",
    "redop",
    "bytes",
    "count",
    "time_ns",
    "host_time_ns",
    "start_skew_ns",
    "algbw_gbs",
    "busbw_gbs",
    "bound_ns",
    "wrong",
    "data_hash",
    "input",
    "proof",
    "shards_per_rank",
    "bytes_per_rank",
    "credit_wait_ns",
    "last_pe",
    "last_pe_credit_wait_ns",
    "not_run",
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

/* SQLite's result; a value that is not bound would be inserted as NULL. */
static int bind_json(sqlite3_stmt *statement, int at, const json_t *value)
{
    if (json_is_integer(value))
        return sqlite3_bind_int64(statement, at, json_integer_value(value));
    if (json_is_real(value))
        return sqlite3_bind_double(statement, at, json_real_value(value));
    if (json_is_string(value))
        return sqlite3_bind_text(statement, at, json_string_value(value), -1, SQLITE_STATIC);
    if (json_is_boolean(value))
        return sqlite3_bind_int(statement, at, json_is_true(value));
    return sqlite3_bind_null(statement, at);
}

static const json_t *find(const json_t *result, const json_t *row, const char *name)
{
    static const char *const places[] = {"topology", "engine"};
    const json_t *value = json_object_get(row, name);
    if (value == NULL)
        value = json_object_get(result, name);
    for (size_t i = 0; value == NULL && i < 2; i++)
        value = json_object_get(json_object_get(result, places[i]), name);
    return value;
}

static bool insert_links(struct study_rows *rows, int64_t point, int64_t ordinal, const json_t *row)
{
    static const char *const names[] = {"kind", "links", "bytes", "busy"};
    const json_t *const kinds = json_object_get(row, "link_kinds");
    bool is_done = true;
    for (size_t i = 0; i < json_array_size(kinds) && is_done; i++) {
        int failed = sqlite3_bind_int64(rows->link, 1, point);
        failed |= sqlite3_bind_int64(rows->link, 2, ordinal);
        for (int k = 0; k < 4; k++)
            failed |=
                bind_json(rows->link, k + 3, json_object_get(json_array_get(kinds, i), names[k]));
        is_done = failed == SQLITE_OK && step(rows->link);
    }
    return is_done;
}

static bool insert_row(struct study_rows *rows, int64_t point, int64_t ordinal,
                       const json_t *result, const json_t *row)
{
    int failed = sqlite3_bind_int64(rows->row, 1, point);
    failed |= sqlite3_bind_int64(rows->row, 2, ordinal);
    for (int i = 0; i < COLUMNS; i++)
        failed |= bind_json(rows->row, i + 3, find(result, row, columns[i]));
    return failed == SQLITE_OK && step(rows->row) && insert_links(rows, point, ordinal, row);
}

bool study_rows_insert(struct study_rows *rows, int64_t point, const char *result, size_t bytes)
{
    int failed = sqlite3_bind_int64(rows->drop_rows, 1, point);
    failed |= sqlite3_bind_int64(rows->drop_links, 1, point);
    bool is_done = failed == SQLITE_OK && step(rows->drop_rows) && step(rows->drop_links);
    if (result == NULL || !is_done)
        return is_done;
    json_t *const root = json_loadb(result, bytes, 0, NULL);
    const json_t *const list = json_object_get(root, "results");
    is_done = json_is_array(list);
    for (size_t i = 0; i < json_array_size(list) && is_done; i++)
        is_done = insert_row(rows, point, (int64_t)i, root, json_array_get(list, i));
    json_decref(root);
    return is_done;
}
