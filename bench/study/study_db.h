/*
 * study_db.h: the database of a study (STUDY.md, "The database"). One process writes. When
 * study_db_commit() has returned, each recorded result is in the file, complete. One thread.
 *
 * A point has a row if and only if it has ended, and no row is partial: all tables change in one
 * transaction.
 */
#ifndef BENCH_STUDY_DB_H
#define BENCH_STUDY_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/study/study.h"
#include "core/cw.h"

struct study_db;

enum { STUDY_DB_VERSION = 1 }; /* of the tables: PRAGMA user_version */

enum study_state {
    STUDY_OPEN,
    STUDY_DONE,
    STUDY_REFUSED,
    STUDY_FAILED,
    STUDY_TIMEOUT,
    STUDY_STATES
};
extern const char *const study_state_name[STUDY_STATES];

/* Which part of a study a database holds: point P belongs to part P mod count + 1. */
struct study_shard {
    uint32_t index, count; /* from 1 */
};

/* How a point has ended. Texts are the caller's. */
struct study_outcome {
    enum study_state state;
    int exit_code;
    double seconds;
    const char *message; /* "" where there is none */
    const char *result;  /* JSON; NULL: none */
    size_t result_bytes;
    const char *rows; /* of a point that is done: its rows and links, packed (study_rows.h) */
    size_t rows_bytes;
};

struct study_opening {
    bool must_exist; /* otherwise, and without `extends`, it is created if missing */
    bool extends; /* it must exist, may be another study's, and becomes this one's (study_extend.h)
                   */
    bool reads;   /* it must exist, is left unchanged, and another sweep may be writing to it;
                     otherwise it takes over names and text of the study that have changed */
};

/*
 * Opens a study's database, for writing unless the opening only reads. CW_USAGE if the file belongs
 * to another study, is not such a database or is damaged, or if another sweep is writing to it.
 * Processes that are forked after this call study_db_forked().
 */
int study_db_open(const char *path, const struct study *study, struct study_shard shard,
                  struct study_opening opening, struct study_db **db, struct cw_error *error);
/* In a forked process: leaves the lock on the file to the parent. The database must not be used
 * there. */
void study_db_forked(struct study_db *db);
/* Ends the transaction, if one is open, and leaves one file. Accepts NULL. */
int study_db_close(struct study_db *db, struct cw_error *error);
/* The program that created the database: "0.1.0 (ca63a90)". */
const char *study_db_creator(const struct study_db *db);

/* The state of each point, STUDY_OPEN where it has not ended: states[point_count]. */
int study_db_states(struct study_db *db, enum study_state *states, struct cw_error *error);
/* How many points have a result whose data are wrong. */
int study_db_wrong(struct study_db *db, uint32_t *count, struct cw_error *error);
/* Records the end of a point in the open transaction, and begins one if there is none. */
int study_db_record(struct study_db *db, uint32_t point, const struct study_outcome *outcome,
                    struct cw_error *error);
/* Adds the points of another database of the same study, in a transaction of its own. If both
 * have a point, a result beats a failure; otherwise this database's stays. */
int study_db_take(struct study_db *db, const char *path, struct cw_error *error);
/* Ends the transaction, if one is open. */
int study_db_commit(struct study_db *db, struct cw_error *error);

#endif
