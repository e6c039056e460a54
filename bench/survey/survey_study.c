/*
 * survey_study.c: reads a study's database into a survey. It is opened read-only, so that a study
 * can be reported while it is swept.
 */
#include "bench/survey/survey_study.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "bench/study/study.h"
#include "bench/study/study_file.h"
#include "bench/survey/survey_result.h"

struct study_reader {
    sqlite3 *db;
    sqlite3_stmt *points, *axes;
    const char *path;
    struct survey *survey;
    struct cw_error *error;
};

static int study_fail(struct study_reader *reader)
{
    return study_file_fail(reader->path, reader->db, reader->error);
}

/* NULL: the value is NULL, or memory ran out and no_memory is set. */
static const char *column_text(const struct study_reader *reader, sqlite3_stmt *statement, int at)
{
    const bool is_null = sqlite3_column_type(statement, at) == SQLITE_NULL;
    const char *const text = (const char *)sqlite3_column_text(statement, at);
    reader->survey->no_memory |= text == NULL && !is_null;
    return text;
}

static enum survey_state study_state(const char *name)
{
    for (int i = STATE_DONE; name != NULL && i <= STATE_PENDING; i++)
        if (strcmp(name, survey_state_names[i]) == 0)
            return (enum survey_state)i;
    return STATE_PENDING;
}

static int study_read_head(struct study_reader *reader)
{
    struct survey *const survey = reader->survey;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(reader->db,
                           "SELECT name, created, version, commit_id, about, points, shard, shards"
                           " FROM study",
                           -1, &statement, NULL) != SQLITE_OK)
        return study_fail(reader);
    struct survey_study *const study = survey_more(survey, &survey->studies, &survey->study_count,
                                                   &survey->study_room, sizeof *study);
    const int step = sqlite3_step(statement);
    if (study != NULL && step == SQLITE_ROW) {
        study->name = survey_text(survey, column_text(reader, statement, 0));
        study->created = survey_text(survey, column_text(reader, statement, 1));
        study->version = survey_text(survey, column_text(reader, statement, 2));
        study->commit = survey_text(survey, column_text(reader, statement, 3));
        study->about = survey_text(survey, column_text(reader, statement, 4));
        study->shards = sqlite3_column_int64(statement, 7);
        study->points_planned = study_file_points(
            sqlite3_column_int64(statement, 5), sqlite3_column_int64(statement, 6), study->shards);
    }
    if (study != NULL) {
        study->source = survey_text(survey, reader->path);
        study->first_point = survey->point_count;
    }
    const int code = study == NULL ? cw_error_memory(reader->error, "the results")
                     : step == SQLITE_ROW || step == SQLITE_DONE ? CW_OK
                                                                 : study_fail(reader);
    sqlite3_finalize(statement);
    return code;
}

/* The point's values on the axes of the study, except sizes, which databases of version 0.1.0
 * have here, too. */
static int study_read_axes(struct study_reader *reader, struct survey_point *point,
                           sqlite3_int64 id)
{
    int step;
    sqlite3_reset(reader->axes);
    sqlite3_bind_int64(reader->axes, 1, id);
    while ((step = sqlite3_step(reader->axes)) == SQLITE_ROW) {
        const char *const name = column_text(reader, reader->axes, 0);
        if (name != NULL && !study_is_size(name))
            survey_put(reader->survey, point->axis, name, AXIS_STUDY,
                       column_text(reader, reader->axes, 1));
    }
    return step == SQLITE_DONE ? CW_OK : study_fail(reader);
}

/* A result that is not JSON is a failure of this point alone. */
static int study_read_result(struct study_reader *reader, struct survey_point *point,
                             const char *text)
{
    struct survey *const survey = reader->survey;
    struct cw_error refusal = {.exit_code = CW_OK};
    const enum survey_state state = point->state;
    json_error_t fault;
    json_t *document = text == NULL ? NULL : json_loads(text, 0, &fault);
    if (text != NULL && document == NULL && fault.text[0] == '\0') /* otherwise it is not JSON */
        return cw_error_memory(reader->error, "the results");
    if (document != NULL && (document = survey_keep(survey, document)) == NULL)
        return cw_error_memory(reader->error, "the results");
    const int code =
        document != NULL ? survey_result_fill(survey, point, document, &refusal) : CW_USAGE;
    if (code == CW_NO_RESOURCE)
        return cw_error_memory(reader->error, "the results");
    if (code == CW_OK) {
        if (state != STATE_DONE) /* the database knows more about a failure */
            point->state = state;
    } else if (state == STATE_DONE) {
        point->state = STATE_FAILED;
        point->message = "the database has no whole result of this point";
    }
    return CW_OK;
}

static int study_read_point(struct study_reader *reader)
{
    sqlite3_stmt *const row = reader->points;
    struct survey *const survey = reader->survey;
    const char *label = column_text(reader, row, 1);
    char *const numbered =
        survey_print(survey, "point %lld", (long long)sqlite3_column_int64(row, 0));
    if (label == NULL || label[0] == '\0')
        label = numbered;
    struct survey_point *const point =
        label == NULL ? NULL : survey_point_add(survey, label, reader->path);
    if (point == NULL)
        return cw_error_memory(reader->error, "the results");
    point->state = study_state(column_text(reader, row, 2));
    point->tries = sqlite3_column_int64(row, 3);
    const double seconds =
        sqlite3_column_type(row, 4) == SQLITE_NULL ? NAN : sqlite3_column_double(row, 4);
    point->command = survey_text(survey, column_text(reader, row, 8));
    const char *const message = survey_text(survey, column_text(reader, row, 5));
    point->message = message != NULL && message[0] != '\0' ? message : NULL;
    int code = study_read_axes(reader, point, sqlite3_column_int64(row, 7));
    if (code == CW_OK)
        code = study_read_result(reader, point, column_text(reader, row, 6));
    point->seconds = isfinite(seconds) ? seconds : NAN;
    return code;
}

static int study_read_points(struct study_reader *reader)
{
    int step = SQLITE_ERROR, code = CW_OK;
    if (sqlite3_prepare_v2(
            reader->db,
            "SELECT ordinal, label, state, tries, seconds, message, result, id, command"
            " FROM point ORDER BY ordinal",
            -1, &reader->points, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(reader->db,
                           "SELECT name, value FROM axis WHERE point = ?1 ORDER BY position", -1,
                           &reader->axes, NULL) != SQLITE_OK)
        return study_fail(reader);
    while (code == CW_OK && (step = sqlite3_step(reader->points)) == SQLITE_ROW)
        code = study_read_point(reader);
    if (code == CW_OK && step != SQLITE_DONE)
        code = study_fail(reader);
    return code;
}

int survey_study_read(struct survey *survey, const char *path, struct cw_error *error)
{
    struct study_reader reader = {.path = path, .survey = survey, .error = error};
    int code = study_file_open(path, &reader.db, error);
    if (code == CW_OK)
        code = study_read_head(&reader);
    if (code == CW_OK)
        code = study_read_points(&reader);
    if (code == CW_OK) {
        struct survey_study *const study = &survey->studies[survey->study_count - 1];
        study->point_count = survey->point_count - study->first_point;
    }
    sqlite3_finalize(reader.points);
    sqlite3_finalize(reader.axes);
    sqlite3_close(reader.db);
    return code;
}
