/*
 * database_script.c: see database_script.h. A statement that fails is passed over. One that would
 * take long, attach a file or make a long text is stopped: the reader is under test, not SQLite.
 */
#define _GNU_SOURCE /* memrchr, strsep */
#include "test/fuzz/database_script.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STEPS_MAX = 200000,
    LENGTH_MAX = 1 << 20,
    STATEMENT_BYTES = 512,
    COLUMNS_MAX = 128,
    NAME_BYTES = 40,
};

void database_base_take(struct database_base *base, const char *path)
{
    base->bytes = fuzz_read(path, &base->size);
    FUZZ_DEMAND(base->bytes != NULL && base->size > 0);
}

/* ---- running --------------------------------------------------------------------------------- */

static int allow(void *arg, int action, const char *a, const char *b, const char *c, const char *d)
{
    static const char *const pragmas[] = {"user_version", "application_id", "writable_schema"};
    (void)arg, (void)b, (void)c, (void)d;
    if (action == SQLITE_ATTACH || action == SQLITE_DETACH)
        return SQLITE_DENY;
    if (action != SQLITE_PRAGMA)
        return SQLITE_OK;
    for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++)
        if (strcmp(a, pragmas[i]) == 0)
            return SQLITE_OK;
    return SQLITE_DENY;
}

static int stop_long(void *arg)
{
    int *const left = arg;
    return --*left <= 0;
}

static sqlite3 *open_database(const char *path, int *left)
{
    sqlite3 *db = NULL;
    FUZZ_DEMAND(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    (void)sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
    (void)sqlite3_set_authorizer(db, allow, NULL);
    sqlite3_progress_handler(db, 100, stop_long, left);
    return db;
}

/* "-- cut BYTES" and "-- byte OFFSET VALUE". */
static void change_file(const char *path, const char *line)
{
    unsigned long at;
    unsigned value;
    if (sscanf(line, "-- cut %lu", &at) == 1)
        FUZZ_DEMAND(truncate(path, (off_t)(at % LENGTH_MAX)) == 0);
    if (sscanf(line, "-- byte %lu %u", &at, &value) != 2)
        return;
    FILE *const file = fopen(path, "r+b");
    FUZZ_DEMAND(file != NULL);
    FUZZ_DEMAND(fseek(file, (long)(at % LENGTH_MAX), SEEK_SET) == 0);
    fputc((int)(value & 255), file);
    FUZZ_DEMAND(fclose(file) == 0);
}

static void run_lines(const char *path, char *text)
{
    int left = STEPS_MAX / 100;
    sqlite3 *const db = open_database(path, &left);
    char *next = text;
    for (char *line; (line = strsep(&next, "\n")) != NULL && left > 0;)
        if (strncmp(line, "--", 2) != 0)
            (void)sqlite3_exec(db, line, NULL, NULL, NULL);
    FUZZ_DEMAND(sqlite3_close(db) == SQLITE_OK);
}

static char *text_of(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    FUZZ_DEMAND(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

const char *database_script_run(const struct database_base *base, const char *name,
                                const uint8_t *data, size_t size)
{
    static const char begin[] = "SQLite format 3";
    if (size > sizeof begin && memcmp(data, begin, sizeof begin) == 0)
        return fuzz_file(name, data, size);
    const char *const path = fuzz_file(name, base->bytes, base->size);
    char *const text = text_of(data, size), *const again = text_of(data, size);
    run_lines(path, text);
    char *next = again;
    for (char *line; (line = strsep(&next, "\n")) != NULL;)
        change_file(path, line);
    free(text);
    free(again);
    return path;
}

/* ---- mutation -------------------------------------------------------------------------------- */

struct column {
    char table[NAME_BYTES], name[NAME_BYTES];
};

/* The columns of all tables of the base. */
static size_t list_columns(const struct database_base *base, struct column *columns)
{
    int left = STEPS_MAX;
    sqlite3 *const db = open_database(fuzz_file("base.sqlite", base->bytes, base->size), &left);
    sqlite3_stmt *rows = NULL;
    size_t count = 0;
    (void)sqlite3_set_authorizer(db, NULL, NULL);
    FUZZ_DEMAND(sqlite3_prepare_v2(db,
                                   "SELECT s.name, t.name FROM sqlite_master s JOIN"
                                   " pragma_table_info(s.name) t WHERE s.type = 'table'",
                                   -1, &rows, NULL) == SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW && count < COLUMNS_MAX) {
        snprintf(columns[count].table, NAME_BYTES, "%s", sqlite3_column_text(rows, 0));
        snprintf(columns[count++].name, NAME_BYTES, "%s", sqlite3_column_text(rows, 1));
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    FUZZ_DEMAND(count > 0);
    return count;
}

static const char *odd_cell(struct fuzz_mutation *mutation)
{
    static const char *const cells[] = {"NULL",
                                        "0",
                                        "1",
                                        "-1",
                                        "2",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "1e308",
                                        "9e999",
                                        "-0.5",
                                        "4294967296",
                                        "''",
                                        "'x'",
                                        "x'00ff80'",
                                        "zeroblob(3000)",
                                        "char(27, 91, 49, 109)",
                                        "hex(zeroblob(600))",
                                        "'done'",
                                        "'failed'",
                                        "'open'",
                                        "rowid",
                                        "rowid - 2",
                                        "random()",
                                        "'tiny'",
                                        "'{}'",
                                        "'{\"schema\":\"cubewarp.run/1\",\"results\":[]}'"};
    return cells[fuzz_draw(mutation, sizeof cells / sizeof *cells)];
}

/* A new statement; *row, *at: the columns that it is about. */
static void draw_statement(struct fuzz_mutation *mutation, const struct column *at,
                           const struct column *other, char *text)
{
    const char *const t = at->table, *const c = at->name, *const cell = odd_cell(mutation);
    const unsigned row = (unsigned)fuzz_draw(mutation, 4);
    switch (fuzz_draw(mutation, 16)) {
    case 0:
        snprintf(text, STATEMENT_BYTES, "DELETE FROM %s WHERE rowid %% 4 = %u", t, row);
        break;
    case 1:
        snprintf(text, STATEMENT_BYTES, "ALTER TABLE %s DROP COLUMN %s", t, c);
        break;
    case 2:
        snprintf(text, STATEMENT_BYTES, "ALTER TABLE %s RENAME TO %s_was", t, t);
        break;
    case 3:
        snprintf(text, STATEMENT_BYTES, "CREATE VIEW %s AS SELECT * FROM %s_was", t, t);
        break;
    case 4:
        snprintf(text, STATEMENT_BYTES,
                 "CREATE TRIGGER t%u AFTER INSERT ON %s BEGIN UPDATE %s SET %s = %s; END", row, t,
                 other->table, other->name, cell);
        break;
    case 5:
        snprintf(text, STATEMENT_BYTES, "PRAGMA %s = %s",
                 row > 1 ? "user_version" : "application_id", cell);
        break;
    case 6:
        snprintf(text, STATEMENT_BYTES, "PRAGMA ignore_check_constraints = ON");
        break;
    case 7:
        snprintf(text, STATEMENT_BYTES, "-- cut %u", (unsigned)fuzz_draw(mutation, 70000));
        break;
    case 8:
        snprintf(text, STATEMENT_BYTES, "-- byte %u %u", (unsigned)fuzz_draw(mutation, 50000),
                 (unsigned)fuzz_draw(mutation, 256));
        break;
    case 9:
        snprintf(text, STATEMENT_BYTES, "INSERT OR IGNORE INTO %s SELECT * FROM %s", t,
                 other->table);
        break;
    case 10:
        snprintf(text, STATEMENT_BYTES, "UPDATE %s SET %s = json_set(%s, '$.results[%u].%s', %s)",
                 t, c, c, row, other->name, cell);
        break;
    case 11:
        snprintf(text, STATEMENT_BYTES, "DROP TABLE %s", t);
        break;
    case 12:
        snprintf(text, STATEMENT_BYTES, "UPDATE OR IGNORE %s SET %s = (SELECT max(%s) FROM %s)", t,
                 c, other->name, other->table);
        break;
    default:
        snprintf(text, STATEMENT_BYTES, "UPDATE OR IGNORE %s SET %s = %s WHERE rowid %% 4 = %u", t,
                 c, cell, row);
    }
}

size_t database_script_mutate(const struct database_base *base, struct fuzz_mutation *mutation,
                              uint8_t *data, size_t size, size_t room)
{
    static struct column columns[COLUMNS_MAX];
    static const struct database_base *of;
    static size_t count;
    char text[STATEMENT_BYTES];
    if (of != base) {
        count = list_columns(base, columns);
        of = base;
    }
    const uint8_t *const last = size > 0 ? memrchr(data, '\n', size - 1) : NULL;
    if (fuzz_draw(mutation, 6) == 0)
        return last != NULL ? (size_t)(last - data) + 1 : 0;
    if (fuzz_draw(mutation, 6) == 0)
        return mutation->bytes(data, size, room);
    draw_statement(mutation, &columns[fuzz_draw(mutation, count)],
                   &columns[fuzz_draw(mutation, count)], text);
    const size_t bytes = strlen(text);
    if (size + bytes + 2 > room)
        return size;
    if (size > 0 && data[size - 1] != '\n')
        data[size++] = '\n';
    memcpy(data + size, text, bytes);
    data[size + bytes] = '\n';
    return size + bytes + 1;
}
