/*
 * database.h: opens SQLite databases, which may come from anybody: a file brings its own schema,
 * and that could have views without an end and triggers on every change. One thread.
 */
#ifndef PERF_DATABASE_H
#define PERF_DATABASE_H

#include <sqlite3.h>

enum { DATABASE_NAME_BYTES = 4200 };

/* The path as SQLite takes it for a file: "file:a" and ":memory:" as such mean something else to
 * it. */
const char *database_name(const char *path, char name[DATABASE_NAME_BYTES]);

/* Why a path cannot be a database's: "is a directory", or "is no regular file" of a pipe or a
 * device, which SQLite would wait for or could not lock. NULL: it may be, or nothing is there. */
const char *database_is_no_file(const char *path);

/*
 * sqlite3_open_v2() with these flags. The file's own views and triggers are switched off (the
 * temporary schema's are not), its schema calls no function with side effects, and no value is
 * longer than 256 MiB. A statement waits for the lock of another process for 10 s. Where a killed
 * process has left half a transaction, it is taken back, although the flags say that the database
 * is only read. Returns SQLite's result; *db is to be closed whatever it is.
 */
int database_open(const char *path, int flags, sqlite3 **db);

#endif
