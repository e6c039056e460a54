/*
 * database.c: opens SQLite databases that anybody may have made, with nothing of their own
 * switched on (database.h).
 */
#include "perf/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

enum { VALUE_BYTES_MAX = 256 << 20, BUSY_MS = 10000 };

const char *database_name(const char *path, char name[DATABASE_NAME_BYTES])
{
    if (path[0] == '/' || snprintf(name, DATABASE_NAME_BYTES, "./%s", path) >= DATABASE_NAME_BYTES)
        return path;
    return name;
}

const char *database_is_no_file(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
        return NULL;
    return S_ISDIR(status.st_mode) ? "is a directory" : "is no regular file";
}

static int open_as(const char *path, int flags, sqlite3 **db)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA};
    char name[DATABASE_NAME_BYTES];
    const int code = sqlite3_open_v2(database_name(path, name), db, flags, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < sizeof off / sizeof *off; i++)
        (void)sqlite3_db_config(*db, off[i], 0, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
        (void)sqlite3_busy_timeout(*db, BUSY_MS);
    }
    return code;
}

/* Whether a process that was killed has left half a transaction, which only a writer takes back. */
static bool has_half_a_transaction(sqlite3 *db)
{
    return sqlite3_exec(db, "PRAGMA schema_version", NULL, NULL, NULL) != SQLITE_OK &&
           sqlite3_extended_errcode(db) == SQLITE_READONLY_ROLLBACK;
}

int database_open(const char *path, int flags, sqlite3 **db)
{
    const int code = open_as(path, flags, db);
    if (code != SQLITE_OK || (flags & SQLITE_OPEN_READONLY) == 0 || !has_half_a_transaction(*db))
        return code;
    sqlite3_close(*db);
    return open_as(path, SQLITE_OPEN_READWRITE, db);
}
