/*
 * study_db.c: the database file: its lock, its schema, its points. study_rows.c writes the rows of
 * results.
 */
#define _GNU_SOURCE /* locks of open files */
#include "bench/study/study_db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/study/damaged_database.h"
#include "bench/study/study_extend.h"
#include "bench/study/study_rows.h"
#include "collectives/config/input/nearest_file.h"
#include "core/os/output_path.h"
#include "perf/database.h"

enum { APPLICATION = 0x43575354, CREATOR_BYTES = 96 };
/* A byte that SQLite never locks or writes. The process that has it locked writes the database. */
#define WRITER_BYTE ((off_t)1 << 60)
#define NO_NUMBER   INT64_MIN

/* Of the build (bench/build_commit.c); absent where the tests link this file. */
extern const char cw_build_commit[] __attribute__((weak));

struct study_db {
    const struct study *study;
    char *path;
    sqlite3 *sqlite;
    int lock; /* descriptor of the file, whose WRITER_BYTE is locked; -1: read only */
    sqlite3_stmt *begin, *point, *axis, *forget;
    struct study_rows *rows;
    bool is_open;  /* a transaction */
    bool is_empty; /* read only, and without a schema: its sweep was killed at once */
    char creator[CREATOR_BYTES];
};

const char *const study_state_name[STUDY_STATES] = {
    [STUDY_OPEN] = "open",     [STUDY_DONE] = "done",       [STUDY_REFUSED] = "refused",
    [STUDY_FAILED] = "failed", [STUDY_TIMEOUT] = "timeout",
};

static const char schema[] =
    "PRAGMA application_id = 1129796436;"
    "CREATE TABLE study (name TEXT NOT NULL, about TEXT NOT NULL, text TEXT NOT NULL,"
    " digest TEXT NOT NULL, points INTEGER NOT NULL, shard INTEGER NOT NULL,"
    " shards INTEGER NOT NULL, created TEXT NOT NULL, version TEXT NOT NULL,"
    " commit_id TEXT NOT NULL, host TEXT NOT NULL, file TEXT NOT NULL);"
    "CREATE TABLE point (id INTEGER PRIMARY KEY, ordinal INTEGER NOT NULL UNIQUE,"
    " digest TEXT NOT NULL UNIQUE, label TEXT NOT NULL, command TEXT NOT NULL,"
    " state TEXT NOT NULL CHECK (state IN ('done', 'failed', 'timeout', 'refused')),"
    " tries INTEGER NOT NULL, seconds REAL NOT NULL, exit_code INTEGER NOT NULL,"
    " message TEXT NOT NULL, result TEXT);"
    "CREATE TABLE axis (point INTEGER NOT NULL REFERENCES point(id), position INTEGER NOT NULL,"
    " name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (point, position)) WITHOUT ROWID;"
    "CREATE TABLE row (" STUDY_ROW_COLUMNS ", PRIMARY KEY (point, ordinal)) WITHOUT ROWID;"
    "CREATE TABLE link (point INTEGER NOT NULL REFERENCES point(id), row INTEGER NOT NULL,"
    " kind TEXT NOT NULL, links INTEGER, bytes INTEGER, busy REAL,"
    " PRIMARY KEY (point, row, kind)) WITHOUT ROWID;"
    "CREATE VIEW failure AS SELECT ordinal, label, state, exit_code, message, seconds, command"
    " FROM point WHERE state <> 'done' ORDER BY ordinal;"
    "CREATE VIEW step AS SELECT id AS point, ordinal, label,"
    " json_extract(result, '$.step.step_ns') AS step_ns,"
    " json_extract(result, '$.step.tokens_per_s') AS tokens_per_s,"
    " json_extract(result, '$.step.utilisation') AS utilisation,"
    " json_extract(result, '$.step.fits') AS fits,"
    " json_extract(result, '$.step.memory_bytes') AS memory_bytes,"
    " json_extract(result, '$.step.means.compute_ns') AS compute_ns,"
    " json_extract(result, '$.step.means.exposed_ns') AS exposed_ns,"
    " json_extract(result, '$.step.means.waiting_ns') AS waiting_ns,"
    " json_extract(result, '$.step.means.bubble_ns') AS bubble_ns,"
    " json_extract(result, '$.step.means.hidden_ns') AS hidden_ns,"
    " json_extract(result, '$.step.critical_path.limited_by') AS limited_by,"
    " json_extract(result, '$.step.critical_path.next') AS next"
    " FROM point WHERE json_extract(result, '$.step') IS NOT NULL ORDER BY ordinal;"
    "PRAGMA user_version = 1;";

/* If SQLite reports no error, an allocation between its calls has failed. */
static int fail_study_db(const struct study_db *db, struct cw_error *error)
{
    if (database_is_damaged(db->path, db->sqlite, error))
        return error->exit_code;
    const bool is_sqlite = db->sqlite != NULL && sqlite3_errcode(db->sqlite) != SQLITE_OK &&
                           sqlite3_errcode(db->sqlite) != SQLITE_DONE &&
                           sqlite3_errcode(db->sqlite) != SQLITE_ROW;
    if (is_sqlite && sqlite3_errcode(db->sqlite) == SQLITE_ERROR) /* it lacks a table or a column */
        return cw_error_set(error, CW_USAGE, "%.500s is no whole database of a study: %.300s",
                            db->path, sqlite3_errmsg(db->sqlite));
    const int number = is_sqlite && sqlite3_errcode(db->sqlite) == SQLITE_IOERR
                           ? sqlite3_system_errno(db->sqlite)
                           : 0;
    return cw_error_set(error, CW_NO_RESOURCE, "%.500s: %.300s%s%s%s", db->path,
                        is_sqlite ? sqlite3_errmsg(db->sqlite) : "out of memory",
                        number != 0 ? " (" : "", number != 0 ? strerror(number) : "",
                        number != 0 ? ")" : "");
}

static int execute(struct study_db *db, const char *statement, struct cw_error *error)
{
    return sqlite3_exec(db->sqlite, statement, NULL, NULL, NULL) == SQLITE_OK
               ? CW_OK
               : fail_study_db(db, error);
}

static sqlite3_stmt *prepare(struct study_db *db, const char *text)
{
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v3(db->sqlite, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    return statement;
}

static bool run_once(sqlite3_stmt *statement)
{
    const int result = sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK && result == SQLITE_DONE;
}

/* The whole number that a statement yields; NO_NUMBER: none. */
static int64_t number_of(struct study_db *db, const char *text)
{
    sqlite3_stmt *const statement = prepare(db, text);
    const int64_t number = statement != NULL && sqlite3_step(statement) == SQLITE_ROW
                               ? sqlite3_column_int64(statement, 0)
                               : NO_NUMBER;
    sqlite3_finalize(statement);
    return number;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Refuses to begin a database where an option requires an existing one; suggests the nearest
 * name in its folder. */
static int refuse_missing(const char *path, const char *option, struct cw_error *error)
{
    char meant[NEAREST_FILE_BYTES];
    return cw_error_set(error, CW_USAGE,
                        "%.500s: there is no such database; %s continues an existing one%s", path,
                        option, nearest_file_hint(path, ".sqlite", meant));
}

/*
 * Only one sweep may write. The lock belongs to the open file, not to the process, so that it and
 * SQLite's locks on the same file do not disturb each other. It ends with the process, however that
 * ends.
 */
static int lock_file(struct study_db *db, struct study_opening opening, struct cw_error *error)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = WRITER_BYTE, .l_len = 1};
    if (output_path_check(db->path, error) != CW_OK)
        return error->exit_code;
    const bool must_exist = opening.must_exist || opening.extends;
    db->lock = open(db->path, O_RDWR | O_CLOEXEC | (must_exist ? 0 : O_CREAT), 0666);
    if (db->lock < 0 && errno == ENOENT && must_exist)
        return refuse_missing(db->path, opening.extends ? "--extend" : "--resume", error);
    if (db->lock < 0)
        return cw_error_set(error, CW_NO_RESOURCE, "%.500s: %s", db->path, strerror(errno));
    if (fcntl(db->lock, F_OFD_SETLK, &lock) == 0)
        return CW_OK;
    if (errno == EAGAIN || errno == EACCES)
        return cw_error_set(error, CW_USAGE,
                            "%.500s: another sweep writes to it; wait for its end, or give each "
                            "its own --db",
                            db->path);
    return CW_OK; /* a file system without such locks */
}

static void study_now(char text[24])
{
    const time_t now = time(NULL);
    struct tm parts;
    text[0] = '\0';
    if (gmtime_r(&now, &parts) != NULL)
        (void)strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static const char *study_commit_id(void)
{
    const char *const volatile commit = cw_build_commit; /* weak: may be absent */
    return commit != NULL ? commit : "unknown";
}

static int insert_study(struct study_db *db, struct study_shard shard, struct cw_error *error)
{
    const struct study *const study = db->study;
    char host[256] = "", now[24];
    (void)gethostname(host, sizeof host - 1);
    study_now(now);
    sqlite3_stmt *const statement =
        prepare(db, "INSERT INTO study VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    const char *const texts[] = {study->name, study->about, study->text, study->digest};
    const char *const more[] = {now, CW_VERSION, study_commit_id(), host, study->path};
    const int64_t wholes[] = {study->point_count, shard.index, shard.count};
    int at = 0, failed = SQLITE_OK;
    for (size_t i = 0; i < 4 && statement != NULL; i++)
        failed |= sqlite3_bind_text(statement, ++at, texts[i], -1, SQLITE_STATIC);
    for (size_t i = 0; i < 3 && statement != NULL; i++)
        failed |= sqlite3_bind_int64(statement, ++at, wholes[i]);
    for (size_t i = 0; i < 5 && statement != NULL; i++)
        failed |= sqlite3_bind_text(statement, ++at, more[i], -1, SQLITE_STATIC);
    const int code = statement != NULL && failed == SQLITE_OK && run_once(statement)
                         ? CW_OK
                         : fail_study_db(db, error);
    sqlite3_finalize(statement);
    return code;
}

/* A new file: its schema and the study, whole or not at all. */
static int create(struct study_db *db, struct study_shard shard, struct cw_error *error)
{
    int code = execute(db, "BEGIN IMMEDIATE", error);
    if (code == CW_OK)
        code = execute(db, schema, error);
    if (code == CW_OK)
        code = insert_study(db, shard, error);
    if (code == CW_OK)
        code = execute(db, "COMMIT", error);
    return code;
}

/* Turns the database of an earlier version of the study into the study's, or reports how far
 * they agree. */
static int settle_change(struct study_db *db, bool extends, struct cw_error *error)
{
    if (db->study->points == NULL) /* of a merge, which knows no points */
        return cw_error_set(error, CW_USAGE,
                            "%.500s has the results of another study than the parts; name another "
                            "--db",
                            db->path);
    if (extends ? study_extend(db->sqlite, db->study)
                : study_extend_refuse(db->sqlite, db->study, db->path, error))
        return extends ? CW_OK : CW_USAGE;
    return fail_study_db(db, error);
}

/* Checks that an existing database belongs to this study, and to the same part of it. */
static int check_study(struct study_db *db, struct study_shard shard, struct study_opening opening,
                       struct cw_error *error)
{
    sqlite3_stmt *const statement =
        prepare(db, "SELECT digest, shard, shards, coalesce(version, ''), coalesce(commit_id, ''),"
                    " text FROM study");
    int code = CW_OK;
    bool is_another = false, is_renamed = false;
    const int step = statement != NULL ? sqlite3_step(statement) : SQLITE_ERROR;
    const char *const digest =
        step == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (step == SQLITE_DONE) {
        code = cw_error_set(error, CW_USAGE,
                            "%.500s is no whole database of a study: its table 'study' is empty; "
                            "expected one row",
                            db->path);
    } else if (digest == NULL) {
        code = fail_study_db(db, error);
    } else if (sqlite3_column_int64(statement, 1) != shard.index ||
               sqlite3_column_int64(statement, 2) != shard.count) {
        code = cw_error_set(
            error, CW_USAGE, "%.500s is for part %lld of %lld of the study, not for part %u of %u",
            db->path, (long long)sqlite3_column_int64(statement, 1),
            (long long)sqlite3_column_int64(statement, 2), shard.index, shard.count);
    } else {
        const char *const version = (const char *)sqlite3_column_text(statement, 3);
        const char *const commit = (const char *)sqlite3_column_text(statement, 4);
        const char *const text = (const char *)sqlite3_column_text(statement, 5);
        is_another = strcmp(digest, db->study->digest) != 0;
        is_renamed = db->study->points != NULL && !opening.reads &&
                     (text == NULL || strcmp(text, db->study->text) != 0);
        snprintf(db->creator, sizeof db->creator, "%.24s (%.60s)",
                 version != NULL ? version : "unknown", commit != NULL ? commit : "unknown");
    }
    sqlite3_finalize(statement);
    if (is_another)
        return settle_change(db, opening.extends, error);
    return !is_renamed || study_rename(db->sqlite, db->study) ? code : fail_study_db(db, error);
}

/* How many of its last columns a database lacks that an earlier version wrote. */
static int64_t missing_columns(struct study_db *db, const char *schema_name)
{
    int64_t missing = 0;
    for (int i = 0; i < STUDY_ROW_NEW; i++) {
        char query[160];
        snprintf(query, sizeof query,
                 "SELECT count(*) FROM pragma_table_info('row', '%s') WHERE name IN ('not_run', "
                 "'%.*s')",
                 schema_name, (int)strcspn(study_row_new[i], " "), study_row_new[i]);
        missing += number_of(db, query) == 1;
    }
    return missing;
}

static int add_columns(struct study_db *db, struct cw_error *error)
{
    int code = CW_OK;
    for (int64_t i = STUDY_ROW_NEW - missing_columns(db, "main"); i < STUDY_ROW_NEW; i++) {
        char statement[80];
        snprintf(statement, sizeof statement, "ALTER TABLE row ADD COLUMN %s", study_row_new[i]);
        code = code == CW_OK ? execute(db, statement, error) : code;
    }
    return code;
}

/* In this mode, others can read while a sweep writes, and a killed process loses only its open
 * transaction. */
static int open_sqlite(struct study_db *db, struct study_shard shard, struct study_opening opening,
                       struct cw_error *error)
{
    const int flags = opening.reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (database_open(db->path, flags, &db->sqlite) != SQLITE_OK)
        return fail_study_db(db, error);
    const int64_t application = number_of(db, "PRAGMA application_id");
    const int64_t version = number_of(db, "PRAGMA user_version");
    const int64_t tables = number_of(db, "SELECT count(*) FROM sqlite_master");
    if (application == NO_NUMBER || version == NO_NUMBER || tables == NO_NUMBER)
        return fail_study_db(db, error);
    const bool is_new = tables == 0 && application == 0; /* or its sweep was killed at once */
    if (!is_new && (application != APPLICATION || version != STUDY_DB_VERSION))
        return cw_error_set(error, CW_USAGE,
                            "%.500s is no database of a study that this version can write",
                            db->path);
    if (opening.reads) {
        db->is_empty = is_new;
        return is_new ? CW_OK : check_study(db, shard, opening, error);
    }
    int code = execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", error);
    if (code == CW_OK && is_new)
        code = create(db, shard, error);
    else if (code == CW_OK)
        code = add_columns(db, error);
    return code == CW_OK ? check_study(db, shard, opening, error) : code;
}

static int prepare_all(struct study_db *db, struct cw_error *error)
{
    db->point = prepare(
        db, "INSERT INTO point VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?9, ?10) ON CONFLICT (id)"
            " DO UPDATE SET state = ?6, tries = tries + 1, seconds = ?7, exit_code = ?8,"
            " message = ?9, result = ?10");
    if (db->point != NULL) /* otherwise the next statement's success would hide the failure */
        db->axis = prepare(db, "INSERT OR REPLACE INTO axis VALUES (?1, ?2, ?3, ?4)");
    if (db->axis != NULL)
        db->rows = study_rows_create(db->sqlite);
    return db->rows != NULL ? CW_OK : fail_study_db(db, error);
}

int study_db_open(const char *path, const struct study *study, struct study_shard shard,
                  struct study_opening opening, struct study_db **db, struct cw_error *error)
{
    *db = calloc(1, sizeof **db);
    char *const own = strdup(path);
    if (*db == NULL || own == NULL) {
        free(*db);
        free(own);
        *db = NULL;
        return cw_error_memory(error, "the database of the study");
    }
    (*db)->study = study;
    (*db)->path = own;
    (*db)->lock = -1;
    const char *const why = database_is_no_file(path);
    int code = why != NULL               ? cw_error_set(error, CW_USAGE,
                                                        "%.500s: %s; expected the database of a study", path, why)
               : !opening.reads          ? lock_file(*db, opening, error)
               : access(path, F_OK) != 0 ? refuse_missing(path, "--resume", error)
                                         : CW_OK;
    if (code == CW_OK)
        code = open_sqlite(*db, shard, opening, error);
    if (code == CW_OK && !opening.reads)
        code = prepare_all(*db, error);
    if (code != CW_OK) {
        struct cw_error ignored;
        (void)study_db_close(*db, &ignored);
        *db = NULL;
    }
    return code;
}

void study_db_forked(struct study_db *db)
{
    if (db->lock >= 0)
        close(db->lock);
}

int study_db_close(struct study_db *db, struct cw_error *error)
{
    if (db == NULL)
        return CW_OK;
    int code = db->sqlite != NULL ? study_db_commit(db, error) : CW_OK;
    study_rows_free(db->rows);
    sqlite3_finalize(db->point);
    sqlite3_finalize(db->axis);
    /* A reader may prevent this; then the next writer cleans up. */
    if (db->sqlite != NULL && db->lock >= 0)
        (void)sqlite3_exec(db->sqlite, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    if (sqlite3_close(db->sqlite) != SQLITE_OK && code == CW_OK)
        code = fail_study_db(db, error);
    if (db->lock >= 0)
        close(db->lock);
    free(db->path);
    free(db);
    return code;
}

const char *study_db_creator(const struct study_db *db) { return db->creator; }

/* ---- points ---------------------------------------------------------------------------------- */

int study_db_states(struct study_db *db, enum study_state *states, struct cw_error *error)
{
    for (uint32_t i = 0; i < db->study->point_count; i++)
        states[i] = STUDY_OPEN;
    if (db->is_empty)
        return CW_OK;
    sqlite3_stmt *const statement = prepare(db, "SELECT ordinal, state FROM point");
    if (statement == NULL)
        return fail_study_db(db, error);
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        const int64_t point = sqlite3_column_int64(statement, 0);
        const bool is_point = point >= 0 && point < db->study->point_count;
        const bool is_null = sqlite3_column_type(statement, 1) == SQLITE_NULL;
        const char *const name = (const char *)sqlite3_column_text(statement, 1);
        if (name == NULL && !is_null) /* out of memory */
            break;
        for (int s = STUDY_DONE; s < STUDY_STATES && name != NULL && is_point; s++)
            if (strcmp(name, study_state_name[s]) == 0)
                states[point] = (enum study_state)s;
    }
    sqlite3_finalize(statement);
    return result == SQLITE_DONE ? CW_OK : fail_study_db(db, error);
}

int study_db_wrong(struct study_db *db, uint32_t *count, struct cw_error *error)
{
    const int64_t number =
        number_of(db, "SELECT count(*) FROM point WHERE state = 'done' AND exit_code = 1");
    *count = number > 0 ? (uint32_t)number : 0;
    return number != NO_NUMBER ? CW_OK : fail_study_db(db, error);
}

static bool insert_point(struct study_db *db, uint32_t point, const struct study_outcome *outcome)
{
    char *const label = study_label(db->study, point);
    char *const command = study_command(db->study, point);
    sqlite3_stmt *const at = db->point;
    /* An unbound value would be inserted as NULL. */
    int failed = sqlite3_bind_int64(at, 1, (int64_t)point + 1);
    failed |= sqlite3_bind_int64(at, 2, point);
    failed |= sqlite3_bind_text(at, 3, db->study->points[point].digest, -1, SQLITE_STATIC);
    failed |= sqlite3_bind_text(at, 4, label, -1, SQLITE_STATIC);
    failed |= sqlite3_bind_text(at, 5, command, -1, SQLITE_STATIC);
    failed |= sqlite3_bind_text(at, 6, study_state_name[outcome->state], -1, SQLITE_STATIC);
    failed |= sqlite3_bind_double(at, 7, outcome->seconds);
    failed |= sqlite3_bind_int(at, 8, outcome->exit_code);
    failed |= sqlite3_bind_text(at, 9, outcome->message, -1, SQLITE_STATIC);
    failed |= sqlite3_bind_text(at, 10, outcome->result, (int)outcome->result_bytes, SQLITE_STATIC);
    const bool is_done = label != NULL && command != NULL && failed == SQLITE_OK && run_once(at);
    (void)sqlite3_clear_bindings(at);
    free(label);
    free(command);
    return is_done;
}

static bool insert_axes(struct study_db *db, uint32_t point)
{
    const struct study *const study = db->study;
    bool is_done = true;
    for (uint32_t a = 0; a < study->axis_count && is_done; a++) {
        const struct study_axis *const axis = &study->axes[a];
        if (study_is_size(axis->name))
            continue;
        int failed = sqlite3_bind_int64(db->axis, 1, (int64_t)point + 1);
        failed |= sqlite3_bind_int64(db->axis, 2, a);
        failed |= sqlite3_bind_text(db->axis, 3, axis->name, -1, SQLITE_STATIC);
        failed |= sqlite3_bind_text(db->axis, 4, axis->values[study->points[point].at[a]].text, -1,
                                    SQLITE_STATIC);
        is_done = failed == SQLITE_OK && run_once(db->axis);
    }
    return is_done;
}

int study_db_record(struct study_db *db, uint32_t point, const struct study_outcome *outcome,
                    struct cw_error *error)
{
    if (!db->is_open && execute(db, "BEGIN IMMEDIATE", error) != CW_OK)
        return error->exit_code;
    db->is_open = true;
    if (insert_point(db, point, outcome) && insert_axes(db, point) &&
        study_rows_insert(db->rows, (int64_t)point + 1, outcome->rows, outcome->rows_bytes))
        return CW_OK;
    /* No partial point may stay. Whole points of the same transaction are lost with it, and run
     * again. */
    const int code = fail_study_db(db, error);
    (void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    db->is_open = false;
    return code;
}

static bool is_sound(struct study_db *db)
{
    sqlite3_stmt *const statement = prepare(db, "PRAGMA main.quick_check(1)");
    const char *const verdict = statement != NULL && sqlite3_step(statement) == SQLITE_ROW
                                    ? (const char *)sqlite3_column_text(statement, 0)
                                    : NULL;
    const bool sound = verdict != NULL && strcmp(verdict, "ok") == 0;
    sqlite3_finalize(statement);
    return sound;
}

/* A copy failed. If the part is damaged, lacks a table, or has columns or values that no study
 * has, the part is to blame, and not the database that takes it. */
static int fail_part(struct study_db *db, const char *path, struct cw_error *error)
{
    const int fault = sqlite3_errcode(db->sqlite), code = fail_study_db(db, error);
    if (fault == SQLITE_ERROR || fault == SQLITE_CONSTRAINT || fault == SQLITE_MISMATCH)
        return cw_error_set(error, CW_USAGE, "%.500s is no whole database of a study: %.300s", path,
                            sqlite3_errmsg(db->sqlite));
    struct cw_error of_part = {.exit_code = CW_OK};
    if (!database_is_damaged(path, db->sqlite, &of_part) || !is_sound(db))
        return code;
    *error = of_part;
    return error->exit_code;
}

int study_db_take(struct study_db *db, const char *path, struct cw_error *error)
{
    /* Failures here that are results there are dropped; then all points that are missing here
     * are copied. */
    static const char copying[] = /* %s: values of columns that the part lacks */
        "CREATE TEMP TABLE coming (id INTEGER PRIMARY KEY);"
        "DELETE FROM main.point WHERE state <> 'done' AND id IN"
        " (SELECT id FROM part.point WHERE state = 'done');"
        "INSERT INTO coming SELECT id FROM part.point WHERE id NOT IN"
        " (SELECT id FROM main.point);"
        "DELETE FROM main.axis WHERE point IN (SELECT id FROM coming);"
        "DELETE FROM main.row WHERE point IN (SELECT id FROM coming);"
        "DELETE FROM main.link WHERE point IN (SELECT id FROM coming);"
        "INSERT INTO main.point SELECT * FROM part.point WHERE id IN (SELECT id FROM coming);"
        "INSERT INTO main.axis SELECT * FROM part.axis WHERE point IN (SELECT id FROM coming);"
        "INSERT INTO main.row SELECT *%s FROM part.row WHERE point IN (SELECT id FROM coming);"
        "INSERT INTO main.link SELECT * FROM part.link WHERE point IN (SELECT id FROM coming);"
        "DROP TABLE coming";
    char name[DATABASE_NAME_BYTES];
    sqlite3_stmt *const attach = prepare(db, "ATTACH ? AS part");
    const bool is_attached =
        attach != NULL &&
        sqlite3_bind_text(attach, 1, database_name(path, name), -1, SQLITE_STATIC) == SQLITE_OK &&
        run_once(attach);
    int code = is_attached ? CW_OK : fail_study_db(db, error);
    sqlite3_finalize(attach);
    if (code != CW_OK)
        return code;
    char absent[6 * STUDY_ROW_NEW + 1] = "", statements[sizeof copying + sizeof absent];
    for (int64_t i = missing_columns(db, "part"); i > 0; i--)
        strcat(absent, ", NULL");
    snprintf(statements, sizeof statements, copying, absent);
    code = execute(db, "BEGIN IMMEDIATE", error);
    if (code == CW_OK && sqlite3_exec(db->sqlite, statements, NULL, NULL, NULL) != SQLITE_OK)
        code = fail_part(db, path, error);
    if (code == CW_OK)
        code = execute(db, "COMMIT", error);
    else
        (void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    (void)sqlite3_exec(db->sqlite, "DETACH part", NULL, NULL, NULL);
    return code;
}

int study_db_commit(struct study_db *db, struct cw_error *error)
{
    if (!db->is_open)
        return CW_OK;
    db->is_open = false;
    return execute(db, "COMMIT", error);
}
