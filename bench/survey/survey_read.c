/*
 * survey_read.c: finds the kind of each file on a report's command line, and reads it into the
 * survey.
 */
#include "bench/survey/survey_read.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/study/damaged_database.h"
#include "bench/survey/survey_finish.h"
#include "bench/survey/survey_log.h"
#include "bench/survey/survey_result.h"
#include "bench/survey/survey_study.h"
#include "collectives/config/input/nearest_file.h"
#include "perf/database.h"

enum { HEAD_BYTES = 64 };

static const char *last_part(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* The file's name without .json, with its folder if two files share a name. */
static const char *survey_label(struct survey *survey, const char *const *paths, size_t count,
                                size_t i)
{
    bool alone = true;
    for (size_t j = 0; j < count; j++)
        alone = alone && (j == i || strcmp(last_part(paths[i]), last_part(paths[j])) != 0);
    char *const label = survey_text(survey, alone ? last_part(paths[i]) : paths[i]);
    char *const dot = label == NULL ? NULL : strrchr(label, '.');
    if (dot != NULL && dot != label && strcmp(dot, ".json") == 0)
        *dot = '\0';
    return label;
}

static int survey_refuse(struct cw_error *error, const char *path)
{
    return cw_error_set(error, CW_USAGE,
                        "%.300s: nothing to report on; expected a result (run --json), a study "
                        "(sweep), an engine log (run --engine-log) or a history (perf run)",
                        path);
}

/* Reads a study or a history, whichever the tables say. CW_USAGE with *error filled: it cannot
 * be read. */
static int survey_database_read(struct survey *survey, const char *path, struct cw_error *error)
{
    static const char tables[] =
        "SELECT total(name = 'point'), total(name = 'measurement') FROM sqlite_master";
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    bool is_study = false, is_history = false;
    int code = database_open(path, SQLITE_OPEN_READONLY, &db);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db, tables, -1, &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        is_study = sqlite3_column_int(statement, 0) > 0;
        is_history = sqlite3_column_int(statement, 1) > 0;
    }
    if (code != SQLITE_ROW)
        (void)(database_is_damaged(path, db, error) ||
               cw_error_set(error, CW_USAGE, "%.300s: %.200s", path,
                            db != NULL ? sqlite3_errmsg(db) : "out of memory"));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return code != SQLITE_ROW ? CW_USAGE
           : is_study         ? survey_study_read(survey, path, error)
           : is_history       ? survey_history_read(survey, path, error)
                              : survey_refuse(error, path);
}

static int survey_read_file(struct survey *survey, const char *path, const char *label,
                            struct cw_error *error)
{
    static const char sqlite[] = "SQLite format 3";
    struct stat status;
    if (stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
        return cw_error_set(error, CW_USAGE,
                            "%.300s: is a pipe; expected a file, which is read more than once",
                            path);
    char head[HEAD_BYTES] = "", meant[NEAREST_FILE_BYTES];
    FILE *const file = fopen(path, "rbe");
    const size_t bytes = file != NULL ? fread(head, 1, sizeof head - 1, file) : 0;
    const int number = file == NULL || ferror(file) ? errno : 0;
    if (file != NULL)
        fclose(file);
    if (number != 0)
        return cw_error_set(error, CW_USAGE, "cannot read %.300s: %s%s", path, strerror(number),
                            nearest_file_hint(path, NULL, meant));
    head[bytes] = '\0';
    if (memcmp(head, sqlite, sizeof sqlite) == 0)
        return survey_database_read(survey, path, error);
    if (strncmp(head, survey_log_header, strlen(survey_log_header)) == 0)
        return survey_log_read(survey, path, error);
    if (head[strspn(head, " \t\r\n\xef\xbb\xbf")] == '{')
        return survey_result_read(survey, path, label, error);
    return survey_refuse(error, path);
}

int survey_read(struct survey *survey, const char *const *paths, size_t count,
                struct cw_error *error)
{
    int code = CW_OK;
    for (size_t i = 0; i < count && code == CW_OK; i++) {
        const char *const label = survey_label(survey, paths, count, i);
        code = label == NULL ? cw_error_memory(error, "the results")
                             : survey_read_file(survey, paths[i], label, error);
    }
    return code == CW_OK ? survey_finish(survey, error) : code;
}
