/*
 * study_merge.c: merges the databases of a study's parts. The tables are defined in study_db.c;
 * SQLite copies the rows.
 */
#include "bench/study/study_merge.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/atomic_file.h"
#include "bench/study/damaged_database.h"
#include "bench/study/study_db.h"
#include "perf/database.h"

/* What a database says about its study: enough to open another one. */
struct study_head {
    struct study study;
    char *texts[5]; /* name, about, text, path, digest */
};

static void head_free(struct study_head *head)
{
    for (size_t i = 0; i < sizeof head->texts / sizeof *head->texts; i++)
        free(head->texts[i]);
}

/* A copy on the heap; "" for NULL. NULL: no memory. */
static char *column_text(sqlite3_stmt *statement, int column)
{
    const bool is_null = sqlite3_column_type(statement, column) == SQLITE_NULL;
    const char *const text = (const char *)sqlite3_column_text(statement, column);
    return text == NULL && !is_null ? NULL : strdup(text != NULL ? text : "");
}

/* Limits that any database must keep. */
static int check_head(const char *path, int64_t points, int64_t version, struct cw_error *error)
{
    if (version != STUDY_DB_VERSION)
        return cw_error_set(error, CW_USAGE,
                            "%.500s: its tables have version %lld; this program reads version %d",
                            path, (long long)version, STUDY_DB_VERSION);
    if (points >= 1 && points <= STUDY_POINTS_MAX)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "%.500s is no database of a study: its study has %lld points; legal are 1 "
                        "to %d",
                        path, (long long)points, STUDY_POINTS_MAX);
}

/* `step`: SQLite's result of reading the row of the table `study`. */
static int refuse_head(const char *path, sqlite3 *sqlite, int step, struct cw_error *error)
{
    const char *const why = database_is_no_file(path);
    if (why != NULL)
        return cw_error_set(error, CW_USAGE, "%.500s: %s; expected the database of a study", path,
                            why);
    if (step != SQLITE_DONE && database_is_damaged(path, sqlite, error))
        return error->exit_code;
    return cw_error_set(error, CW_USAGE, "%.500s is no database of a study: %.300s", path,
                        step == SQLITE_DONE ? "its table 'study' is empty"
                        : sqlite != NULL    ? sqlite3_errmsg(sqlite)
                                            : "out of memory");
}

/* Reads the row of the table `study`. */
static int read_head(const char *path, struct study_head *head, struct cw_error *error)
{
    sqlite3 *sqlite = NULL;
    sqlite3_stmt *statement = NULL;
    int code = CW_OK;
    *head = (struct study_head){0};
    int step = SQLITE_ERROR;
    if (database_is_no_file(path) == NULL &&
        database_open(path, SQLITE_OPEN_READWRITE, &sqlite) == SQLITE_OK &&
        sqlite3_prepare_v2(sqlite,
                           "SELECT name, about, text, file, digest, points, user_version"
                           " FROM study, pragma_user_version",
                           -1, &statement, NULL) == SQLITE_OK)
        step = sqlite3_step(statement);
    const bool is_study = step == SQLITE_ROW;
    if (!is_study)
        code = refuse_head(path, sqlite, step, error);
    for (int i = 0; i < 5 && is_study; i++) {
        head->texts[i] = column_text(statement, i);
        if (head->texts[i] == NULL)
            code = cw_error_memory(error, "a study");
    }
    if (is_study && code == CW_OK) {
        head->study.name = head->texts[0];
        head->study.about = head->texts[1];
        head->study.text = head->texts[2];
        head->study.path = head->texts[3];
        code = check_head(path, sqlite3_column_int64(statement, 5),
                          sqlite3_column_int64(statement, 6), error);
        head->study.point_count = (uint32_t)sqlite3_column_int64(statement, 5);
        snprintf(head->study.digest, sizeof head->study.digest, "%.32s", head->texts[4]);
    }
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    return code;
}

/* Checks that all inputs are parts of one study; *head is the first one's. */
static int check_inputs(const char *const *inputs, size_t count, struct study_head *head,
                        struct cw_error *error)
{
    int code = read_head(inputs[0], head, error);
    for (size_t i = 1; i < count && code == CW_OK; i++) {
        struct study_head other;
        code = read_head(inputs[i], &other, error);
        if (code == CW_OK && strcmp(other.study.digest, head->study.digest) != 0)
            code = cw_error_set(error, CW_USAGE,
                                "%.300s and %.300s are of different studies: '%.64s' with %u "
                                "points, digest %s, and '%.64s' with %u points, digest %s. Only "
                                "parts of one study merge",
                                inputs[0], inputs[i], head->study.name, head->study.point_count,
                                head->study.digest, other.study.name, other.study.point_count,
                                other.study.digest);
        head_free(&other);
    }
    return code;
}

/* Checks that the database to make is not one of the inputs. */
static int check_output(const char *path, const char *const *inputs, size_t count,
                        struct cw_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (atomic_file_same(path, inputs[i]))
            return cw_error_set(error, CW_USAGE,
                                "%.500s is a part to merge; --db names another database", path);
    return CW_OK;
}

int study_merge(const char *path, const char *const *inputs, size_t count,
                struct study_merged *merged, struct cw_error *error)
{
    struct study_head head;
    struct study_db *db = NULL;
    *merged = (struct study_merged){0};
    if (check_output(path, inputs, count, error) != CW_OK)
        return error->exit_code;
    int code = check_inputs(inputs, count, &head, error);
    if (code == CW_OK)
        code = study_db_open(path, &head.study, (struct study_shard){1, 1},
                             (struct study_opening){.must_exist = false}, &db, error);
    for (size_t i = 0; i < count && code == CW_OK; i++)
        code = study_db_take(db, inputs[i], error);
    if (code == CW_OK)
        code = study_db_commit(db, error);
    enum study_state *const states =
        code == CW_OK ? calloc(head.study.point_count, sizeof *states) : NULL;
    if (code == CW_OK && states == NULL)
        code = cw_error_memory(error, "the points of the study");
    if (code == CW_OK)
        code = study_db_states(db, states, error);
    if (code == CW_OK)
        code = study_db_wrong(db, &merged->wrong, error);
    merged->points = head.study.point_count;
    for (uint32_t i = 0; i < merged->points && code == CW_OK; i++) {
        merged->ended += states[i] != STUDY_OPEN;
        merged->done += states[i] == STUDY_DONE;
    }
    free(states);
    struct cw_error closing = {.exit_code = CW_OK};
    const int closed = study_db_close(db, code == CW_OK ? error : &closing);
    head_free(&head);
    return code != CW_OK ? code : closed;
}
