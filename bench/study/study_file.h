/*
 * study_file.h: opens a study's database to read it, as `report` and `compare` do. A sweep may be
 * writing to it. One thread.
 */
#ifndef BENCH_STUDY_FILE_H
#define BENCH_STUDY_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/cw.h"

/* Whether a file begins as an SQLite database does. */
bool study_file_is_database(const char *path);
/* CW_OK; CW_USAGE with *error filled: it cannot be read, or its tables are of a later version. The
 * caller closes *db either way. */
int study_file_open(const char *path, sqlite3 **db, struct cw_error *error);
/* CW_USAGE with *error filled: the database has failed, or is damaged. */
int study_file_fail(const char *path, sqlite3 *db, struct cw_error *error);
/* How many of a study's points belong to a part; `shard` counts from 1. */
int64_t study_file_points(int64_t points, int64_t shard, int64_t shards);

#endif
