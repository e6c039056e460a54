/*
 * study_extend.h: the database of a study that has been changed since: how far its points agree,
 * and the change of the database to the study as it is now (STUDY.md, "A study that changes").
 * The caller has the database open, and nobody else writes to it.
 */
#ifndef BENCH_STUDY_EXTEND_H
#define BENCH_STUDY_EXTEND_H

#include <sqlite3.h>

#include "bench/study/study.h"
#include "core/cw.h"

/* Fills *error, with CW_USAGE: in which axes the study differs from the database, how many points
 * agree, and how to go on. Returns false if SQLite failed; its own message says why. */
bool study_extend_refuse(sqlite3 *sqlite, const struct study *study, const char *path,
                         struct cw_error *error);

/*
 * Makes the database that of `study`, in one transaction. Points that agree in all settings keep
 * their results, under their new numbers. The others go to the table `former`, and come back
 * from there when a study has them again. False: SQLite's own message says why; the transaction is
 * open then, and the caller closes the database, which is as it was.
 */
bool study_extend(sqlite3 *sqlite, const struct study *study);
/* Takes over the text and all names of a study whose points are those of the database. As
 * study_extend(). */
bool study_rename(sqlite3 *sqlite, const struct study *study);

#endif
