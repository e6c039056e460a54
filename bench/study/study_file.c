/*
 * study_file.c: opens a study's database read-only, and refuses tables of a later version, which
 * may mean something else.
 */
#include "bench/study/study_file.h"

#include <stdio.h>
#include <string.h>

#include "bench/study/damaged_database.h"
#include "bench/study/study_db.h"
#include "perf/database.h"

bool study_file_is_database(const char *path)
{
    static const char begin[16] = "SQLite format 3";
    char head[sizeof begin] = "";
    if (database_is_no_file(path) != NULL) /* a pipe has what it has once */
        return false;
    FILE *const file = fopen(path, "rbe");
    const bool is_read = file != NULL && fread(head, 1, sizeof head, file) == sizeof head;
    if (file != NULL)
        fclose(file);
    return is_read && memcmp(head, begin, sizeof begin) == 0;
}

int study_file_fail(const char *path, sqlite3 *db, struct cw_error *error)
{
    if (database_is_damaged(path, db, error))
        return CW_USAGE;
    return cw_error_set(error, CW_USAGE, "%.300s: cannot be read as a study: %.200s", path,
                        db != NULL ? sqlite3_errmsg(db) : "out of memory");
}

static int check_version(const char *path, sqlite3 *db, struct cw_error *error)
{
    sqlite3_stmt *statement = NULL;
    const bool is_read =
        sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW;
    const int version = is_read ? sqlite3_column_int(statement, 0) : 0;
    const int code =
        !is_read ? study_file_fail(path, db, error)
        : version > STUDY_DB_VERSION
            ? cw_error_set(error, CW_USAGE,
                           "%.300s: its tables have version %d; this program reads version %d",
                           path, version, STUDY_DB_VERSION)
            : CW_OK;
    sqlite3_finalize(statement);
    return code;
}

int study_file_open(const char *path, sqlite3 **db, struct cw_error *error)
{
    if (database_open(path, SQLITE_OPEN_READONLY, db) != SQLITE_OK)
        return study_file_fail(path, *db, error);
    return check_version(path, *db, error);
}

/* Points are dealt to the parts in turn (study_shard.h). */
int64_t study_file_points(int64_t points, int64_t shard, int64_t shards)
{
    return shards <= 1 ? points : points / shards + (shard <= points % shards);
}
