/*
 * study_extend.h: the database of a study that has changed since: reports how far its points agree,
 * and converts it to the study as it is now (STUDY.md, "A study that changes"). The caller
 * has the database open, and nobody else writes to it.
 */
#ifndef BENCH_STUDY_EXTEND_H
#define BENCH_STUDY_EXTEND_H

#include <sqlite3.h>

#include "bench/study/study.h"
#include "core/cw.h"

/* Fills *error, with CW_USAGE: the axes in which study and database differ, how many points
 * agree, and how to continue. Returns false if SQLite failed; its own message says why. */
bool study_extend_refuse(sqlite3 *sqlite, const struct study *study, const char *path,
                         struct cw_error *error);

/*
 * Converts the database to `study`, in one transaction. Points that agree in all settings
 * keep their results, under new numbers. The others move to the table `former`, and come back when
 * a study has them again. False: SQLite's own message says why. The transaction is open then; the
 * caller closes the database, which stays as it was.
 */
bool study_extend(sqlite3 *sqlite, const struct study *study);
/* Takes over the text and all names of a study whose points are the database's. Returns
 * as study_extend() does. */
bool study_rename(sqlite3 *sqlite, const struct study *study);

#endif
