/*
 * database.c: see database.h.
 */
#include "perf/database.h"

#include <stddef.h>

enum { VALUE_BYTES_MAX = 256 << 20 };

int database_open(const char *path, int flags, sqlite3 **db)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA};
    const int code = sqlite3_open_v2(path, db, flags, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < sizeof off / sizeof *off; i++)
        (void)sqlite3_db_config(*db, off[i], 0, NULL);
    if (code == SQLITE_OK)
        (void)sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    return code;
}
