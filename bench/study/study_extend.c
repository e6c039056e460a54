/*
 * study_extend.c: compares a database with a study that has changed, and makes it the study's.
 * Points are recognised by the digests of their settings.
 */
#include "bench/study/study_extend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/study/study_rows.h"

enum { NAMES_BYTES = 200 };

static bool extend_execute(sqlite3 *sqlite, const char *text)
{
    return sqlite3_exec(sqlite, text, NULL, NULL, NULL) == SQLITE_OK;
}

static int64_t extend_number(sqlite3 *sqlite, const char *text)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;
    if (sqlite3_prepare_v2(sqlite, text, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static bool extend_step(sqlite3_stmt *statement)
{
    const int result = sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK && result == SQLITE_DONE;
}

/* Binds texts to the parameters from `first` on; they must live until the statement has run.
 * False: one of them is NULL, for want of memory, or SQLite failed. */
static bool bind_texts(sqlite3_stmt *statement, int first, const char *const *texts, int count)
{
    bool is_done = true;
    for (int i = 0; i < count && is_done; i++)
        is_done = texts[i] != NULL &&
                  sqlite3_bind_text(statement, first + i, texts[i], -1, SQLITE_STATIC) == SQLITE_OK;
    return is_done;
}

/* ---- the study as it is now, in temporary tables --------------------------------------------- */

/* Creates a table and the statement that fills it, which the caller finalises. NULL: failed. */
static sqlite3_stmt *begin_table(sqlite3 *sqlite, const char *create, const char *insert)
{
    sqlite3_stmt *statement = NULL;
    return extend_execute(sqlite, create) &&
                   sqlite3_prepare_v2(sqlite, insert, -1, &statement, NULL) == SQLITE_OK
               ? statement
               : NULL;
}

/* `coming`: each point of the study. */
static bool fill_coming(sqlite3 *sqlite, const struct study *study)
{
    sqlite3_stmt *const insert =
        begin_table(sqlite,
                    "CREATE TEMP TABLE coming (id INTEGER PRIMARY KEY, digest TEXT UNIQUE,"
                    " label TEXT, command TEXT)",
                    "INSERT INTO coming VALUES (?1, ?2, ?3, ?4)");
    bool is_done = insert != NULL;
    for (uint32_t i = 0; i < study->point_count && is_done; i++) {
        char *const label = study_label(study, i);
        char *const command = study_command(study, i);
        const char *const texts[] = {study->points[i].digest, label, command};
        is_done = sqlite3_bind_int64(insert, 1, (int64_t)i + 1) == SQLITE_OK &&
                  bind_texts(insert, 2, texts, 3) && extend_step(insert);
        (void)sqlite3_clear_bindings(insert);
        free(label);
        free(command);
    }
    sqlite3_finalize(insert);
    return is_done;
}

/* `value`: each value of each axis. */
static bool fill_values(sqlite3 *sqlite, const struct study *study)
{
    sqlite3_stmt *const insert =
        begin_table(sqlite,
                    "CREATE TEMP TABLE value (name TEXT, value TEXT, is_size INTEGER,"
                    " PRIMARY KEY (name, value))",
                    "INSERT OR IGNORE INTO value VALUES (?1, ?2, ?3)");
    bool is_done = insert != NULL;
    for (uint32_t a = 0; a < study->axis_count; a++)
        for (uint32_t v = 0; v < study->axes[a].count && is_done; v++) {
            const char *const texts[] = {study->axes[a].name, study->axes[a].values[v].text};
            is_done = bind_texts(insert, 1, texts, 2) &&
                      sqlite3_bind_int(insert, 3, study_is_size(texts[0])) == SQLITE_OK &&
                      extend_step(insert);
        }
    sqlite3_finalize(insert);
    return is_done;
}

/* ---- refusing -------------------------------------------------------------------------------- */

/* The axes whose values differ from the points that have run, as a list. The values of sizes are
 * in the points' labels alone. */
static void name_axes(sqlite3 *sqlite, char names[NAMES_BYTES])
{
#define HAS_SIZE "instr(', ' || p.label || ', ', ', ' || v.name || '=' || v.value || ', ') > 0"
    static const char differing[] =
        "SELECT group_concat(name, ', ') FROM ("
        " SELECT name FROM (SELECT name, value FROM value WHERE NOT is_size"
        "  EXCEPT SELECT name, value FROM axis)"
        " UNION SELECT name FROM (SELECT name, value FROM axis EXCEPT SELECT name, value FROM "
        "value)"
        " UNION SELECT v.name FROM value v WHERE is_size AND EXISTS (SELECT 1 FROM point)"
        "  AND NOT EXISTS (SELECT 1 FROM point p WHERE " HAS_SIZE ")"
        " UNION SELECT s.name FROM value s WHERE is_size AND EXISTS (SELECT 1 FROM point p"
        "  WHERE NOT EXISTS (SELECT 1 FROM value v WHERE v.name = s.name AND " HAS_SIZE ")))";
#undef HAS_SIZE
    sqlite3_stmt *statement = NULL;
    snprintf(names, NAMES_BYTES, "base, or a file that it names");
    if (sqlite3_prepare_v2(sqlite, differing, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        const char *const differ = (const char *)sqlite3_column_text(statement, 0);
        if (differ != NULL)
            snprintf(names, NAMES_BYTES, "%.190s", differ);
    }
    sqlite3_finalize(statement);
}

bool study_extend_refuse(sqlite3 *sqlite, const struct study *study, const char *path,
                         struct cw_error *error)
{
    char names[NAMES_BYTES];
    if (!fill_coming(sqlite, study) || !fill_values(sqlite, study))
        return false;
    const int64_t ended = extend_number(sqlite, "SELECT count(*) FROM point");
    const int64_t same = extend_number(
        sqlite, "SELECT count(*) FROM point WHERE digest IN (SELECT digest FROM coming)");
    if (ended < 0 || same < 0)
        return false;
    name_axes(sqlite, names);
    cw_error_set(error, CW_USAGE,
                 "%.300s has results of another study than %.200s is now: of its %lld points %lld "
                 "are in it still, and %lld of the study's %u points are new (changed: %s). "
                 "--extend continues and keeps the points that agree; --db FILE makes another "
                 "database",
                 path, study->path, (long long)ended, (long long)same,
                 (long long)study->point_count - (long long)same, study->point_count, names);
    return true;
}

/* ---- extending ------------------------------------------------------------------------------- */

#define NAMING                                                                                     \
    "UPDATE point SET (label, command) ="                                                          \
    " (SELECT c.label, c.command FROM coming c WHERE c.id = point.id);"
static const char naming[] = NAMING;

/* All tables except `axis` and the rows of returning points. */
static const char moving[] =
    "CREATE TABLE IF NOT EXISTS former (digest TEXT PRIMARY KEY, label TEXT NOT NULL, command TEXT"
    " NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL, seconds REAL NOT NULL, exit_code"
    " INTEGER NOT NULL, message TEXT NOT NULL, result TEXT);"
    "INSERT OR REPLACE INTO former SELECT digest, label, command, state, tries, seconds, exit_code,"
    " message, result FROM point WHERE digest NOT IN (SELECT digest FROM coming);"
    "CREATE TEMP TABLE renumbered (was INTEGER PRIMARY KEY, id INTEGER NOT NULL);"
    "INSERT INTO renumbered SELECT p.id, c.id FROM point p JOIN coming c USING (digest);"
    "DELETE FROM axis;"
    "DELETE FROM row WHERE point NOT IN (SELECT was FROM renumbered);"
    "DELETE FROM link WHERE point NOT IN (SELECT was FROM renumbered);"
    "DELETE FROM point WHERE id NOT IN (SELECT was FROM renumbered);"
    /* through negative numbers, which no row has */
    "UPDATE row SET point = -(SELECT id FROM renumbered WHERE was = point);"
    "UPDATE row SET point = -point;"
    "UPDATE link SET point = -(SELECT id FROM renumbered WHERE was = point);"
    "UPDATE link SET point = -point;"
    "UPDATE point SET ordinal = -(SELECT r.id FROM renumbered r WHERE r.was = point.id);"
    "UPDATE point SET id = ordinal;"
    "UPDATE point SET id = -id, ordinal = -ordinal - 1;" NAMING
    "CREATE TEMP TABLE comeback AS SELECT c.id AS id, c.digest AS digest FROM coming c"
    " JOIN former USING (digest);"
    "INSERT INTO point SELECT r.id, r.id - 1, c.digest, c.label, c.command, f.state, f.tries,"
    " f.seconds, f.exit_code, f.message, f.result FROM comeback r JOIN coming c USING (id)"
    " JOIN former f ON f.digest = r.digest;"
    "DELETE FROM former WHERE digest IN (SELECT digest FROM comeback);";

static bool insert_all_axes(sqlite3 *sqlite, const struct study *study)
{
    sqlite3_stmt *points = NULL, *insert = NULL;
    int step = SQLITE_ERROR;
    bool is_done =
        sqlite3_prepare_v2(sqlite, "SELECT ordinal FROM point", -1, &points, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(sqlite, "INSERT INTO axis VALUES (?1, ?2, ?3, ?4)", -1, &insert, NULL) ==
            SQLITE_OK;
    while (is_done && (step = sqlite3_step(points)) == SQLITE_ROW) {
        const int64_t ordinal = sqlite3_column_int64(points, 0);
        is_done = ordinal >= 0 && ordinal < study->point_count;
        for (uint32_t a = 0; a < study->axis_count && is_done; a++) {
            const struct study_axis *const axis = &study->axes[a];
            if (study_is_size(axis->name))
                continue;
            const char *const texts[] = {axis->name,
                                         axis->values[study->points[ordinal].at[a]].text};
            is_done = sqlite3_bind_int64(insert, 1, ordinal + 1) == SQLITE_OK &&
                      sqlite3_bind_int64(insert, 2, a) == SQLITE_OK &&
                      bind_texts(insert, 3, texts, 2) && extend_step(insert);
        }
    }
    sqlite3_finalize(points);
    sqlite3_finalize(insert);
    return is_done && step == SQLITE_DONE;
}

/* Inserts the rows of the points that come back from `former`. */
static bool insert_rows(sqlite3 *sqlite)
{
    sqlite3_stmt *points = NULL;
    int step = SQLITE_ERROR;
    struct study_rows *const rows = study_rows_create(sqlite);
    bool is_done =
        rows != NULL &&
        sqlite3_prepare_v2(sqlite,
                           "SELECT id, result FROM point WHERE state = 'done' AND result IS"
                           " NOT NULL AND id IN (SELECT id FROM comeback)",
                           -1, &points, NULL) == SQLITE_OK;
    while (is_done && (step = sqlite3_step(points)) == SQLITE_ROW) {
        const char *const result = (const char *)sqlite3_column_text(points, 1);
        is_done = result != NULL &&
                  study_rows_insert_result(rows, sqlite3_column_int64(points, 0), result,
                                           (size_t)sqlite3_column_bytes(points, 1));
    }
    sqlite3_finalize(points);
    study_rows_free(rows);
    return is_done && step == SQLITE_DONE;
}

static bool update_study(sqlite3 *sqlite, const struct study *study)
{
    sqlite3_stmt *update = NULL;
    bool is_done = sqlite3_prepare_v2(sqlite,
                                      "UPDATE study SET name = ?1, about = ?2, text = ?3,"
                                      " digest = ?4, file = ?5, points = ?6",
                                      -1, &update, NULL) == SQLITE_OK;
    const char *const texts[] = {study->name, study->about, study->text, study->digest,
                                 study->path};
    is_done = is_done && bind_texts(update, 1, texts, 5) &&
              sqlite3_bind_int64(update, 6, study->point_count) == SQLITE_OK && extend_step(update);
    sqlite3_finalize(update);
    return is_done;
}

bool study_rename(sqlite3 *sqlite, const struct study *study)
{
    return extend_execute(sqlite, "BEGIN IMMEDIATE") && fill_coming(sqlite, study) &&
           extend_execute(sqlite, naming) && extend_execute(sqlite, "DELETE FROM axis") &&
           insert_all_axes(sqlite, study) && update_study(sqlite, study) &&
           extend_execute(sqlite, "DROP TABLE coming; COMMIT");
}

bool study_extend(sqlite3 *sqlite, const struct study *study)
{
    return extend_execute(sqlite, "BEGIN IMMEDIATE") && fill_coming(sqlite, study) &&
           extend_execute(sqlite, moving) && insert_all_axes(sqlite, study) &&
           insert_rows(sqlite) && update_study(sqlite, study) &&
           extend_execute(sqlite, "DROP TABLE coming; DROP TABLE renumbered;"
                                  " DROP TABLE comeback; COMMIT");
}
