/*
 * damaged_database.h: the message for an SQLite file that is not whole any more, such as one that
 * was cut short by a copy that did not end.
 */
#ifndef BENCH_DAMAGED_DATABASE_H
#define BENCH_DAMAGED_DATABASE_H

#include <stdbool.h>

#include "core/cw.h"

struct sqlite3;

/* Whether the last call on `db` failed for damage of the file `path`. Then *error says so, with
 * CW_USAGE and with how rows may be saved; else it is as it was. */
bool database_is_damaged(const char *path, struct sqlite3 *db, struct cw_error *error);

#endif
