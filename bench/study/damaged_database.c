/*
 * damaged_database.c: says that a database is damaged, and how rows may be saved.
 */
#include "bench/study/damaged_database.h"

#include <sqlite3.h>
#include <stddef.h>

bool database_is_damaged(const char *path, struct sqlite3 *db, struct cw_error *error)
{
    const int code = db != NULL ? sqlite3_errcode(db) : SQLITE_NOMEM;
    if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB)
        return false;
    cw_error_set(error, CW_USAGE,
                 "%.300s: the database is damaged, perhaps cut short: %.200s. Take a whole copy of "
                 "it; 'sqlite3 %.300s .recover | sqlite3 saved.sqlite' may save rows",
                 path, sqlite3_errmsg(db), path);
    return true;
}
