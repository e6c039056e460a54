/*
 * damaged_database.h: the message for a damaged SQLite file, such as an interrupted copy.
 */
#ifndef BENCH_DAMAGED_DATABASE_H
#define BENCH_DAMAGED_DATABASE_H

#include <stdbool.h>

#include "core/cw.h"

struct sqlite3;

/* Whether the last call on `db` failed because the file `path` is damaged. Then *error says so,
 * with CW_USAGE and a way to save rows; else it is unchanged. */
bool database_is_damaged(const char *path, struct sqlite3 *db, struct cw_error *error);

#endif
