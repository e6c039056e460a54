/*
 * survey_log.c: reads engine logs (CSV) and throughput histories (SQLite) into a survey.
 */
#include "bench/survey/survey_log.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/study/damaged_database.h"
#include "bench/survey/survey_nights.h"
#include "perf/database.h"

enum { LOG_LINE_BYTES = 1024, LOG_CELLS = 12 };

const char survey_log_header[] = "round,wall_s,gvt_ps,";

/* The cell of each column that a survey keeps. */
static const char *const log_cell[LOG_COLUMNS] = {
    [LOG_WALL] = "wall_s",
    [LOG_GVT] = "gvt_ps",
    [LOG_COMMITTED] = "events_committed",
    [LOG_PROCESSED] = "events_processed",
    [LOG_UNDONE] = "rolled_back_events",
    [LOG_MEMORY] = "memory_bytes",
    [LOG_IDLE] = "idle_share",
};

/* Splits a line at its commas. Returns the number of cells, at most LOG_CELLS. */
static size_t log_split(char *line, char *cells[LOG_CELLS])
{
    size_t count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *next = line; next != NULL && count < LOG_CELLS;)
        cells[count++] = strsep(&next, ",");
    return count;
}

static int log_refuse_unread(const struct survey_log *log, struct cw_error *error)
{
    return cw_error_set(error, CW_USAGE, "cannot read %.300s: %s", log->source, strerror(errno));
}

static int log_read_rows(struct survey *survey, struct survey_log *log, FILE *file,
                         struct cw_error *error)
{
    char line[LOG_LINE_BYTES], *cells[LOG_CELLS];
    size_t at[LOG_COLUMNS], line_number = 1, count;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    if (ferror(file))
        return log_refuse_unread(log, error);
    count = log_split(line, cells);
    for (size_t column = 0; column < LOG_COLUMNS; column++) {
        at[column] = 0;
        while (at[column] < count && strcmp(cells[at[column]], log_cell[column]) != 0)
            at[column]++;
        if (at[column] == count)
            return cw_error_set(error, CW_USAGE,
                                "%.300s:1: no engine log: there is no column %s, as run "
                                "--engine-log writes it",
                                log->source, log_cell[column]);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line_number++;
        if (log_split(line, cells) != count)
            return cw_error_set(error, CW_USAGE, "%.300s:%zu: expected %zu cells", log->source,
                                line_number, count);
        double(*const values)[LOG_COLUMNS] =
            survey_more(survey, &log->values, &log->count, &log->room, sizeof *values);
        for (size_t column = 0; values != NULL && column < LOG_COLUMNS; column++)
            (*values)[column] = strtod(cells[at[column]], NULL);
    }
    return ferror(file) ? log_refuse_unread(log, error) : CW_OK;
}

int survey_log_read(struct survey *survey, const char *path, struct cw_error *error)
{
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return cw_error_set(error, CW_USAGE, "cannot read %.300s: %s", path, strerror(errno));
    struct survey_log *const log =
        survey_more(survey, &survey->logs, &survey->log_count, &survey->log_room, sizeof *log);
    int code;
    if (log == NULL || (log->source = survey_text(survey, path)) == NULL)
        code = cw_error_memory(error, "the engine log");
    else
        code = log_read_rows(survey, log, file, error);
    fclose(file);
    return code;
}

/* ---- histories ------------------------------------------------------------------------------- */

/* The rounds of one case in one run. */
struct case_rounds {
    double rate[128];
    size_t count, disturbed;
};

static int compare_rates(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure_close(struct survey_case *one, struct case_rounds *rounds)
{
    if (one == NULL || one->count == 0 || rounds->count == 0)
        return;
    struct survey_measure *const measure = &one->measures[one->count - 1];
    qsort(rounds->rate, rounds->count, sizeof *rounds->rate, compare_rates);
    const size_t half = rounds->count / 2;
    measure->median = rounds->count % 2 == 1 ? rounds->rate[half]
                                             : (rounds->rate[half - 1] + rounds->rate[half]) / 2;
    measure->least = rounds->rate[0];
    measure->most = rounds->rate[rounds->count - 1];
    measure->disturbed = 2 * rounds->disturbed >= rounds->count;
    *rounds = (struct case_rounds){.count = 0};
}

/* NULL: the value is NULL, or memory ran out and no_memory is set. */
static const char *history_text(struct survey *survey, sqlite3_stmt *row, int at)
{
    const bool is_null = sqlite3_column_type(row, at) == SQLITE_NULL;
    const char *const text = (const char *)sqlite3_column_text(row, at);
    survey->no_memory |= text == NULL && !is_null;
    return survey_text(survey, text);
}

/* Whether a run's simulated results differ from the previous run's. */
static bool measure_differs(const struct survey_measure *before, const struct survey_measure *now)
{
    return (before->events > 0 && now->events > 0 && before->events != now->events) ||
           (before->results[0] != '\0' && now->results[0] != '\0' &&
            strcmp(before->results, now->results) != 0);
}

const struct survey_measure *survey_last_change(const struct survey_case *one, size_t *count)
{
    const struct survey_measure *last = NULL;
    size_t changes = 0;
    for (size_t i = 0; i < one->count; i++)
        if (one->measures[i].changed) {
            last = &one->measures[i];
            changes++;
        }
    if (count != NULL)
        *count = changes;
    return last;
}

/* Begins the next run of a case at its first row. False: no memory. */
static bool measure_begin(struct survey *survey, struct survey_case *one, sqlite3_stmt *row)
{
    struct survey_measure *const measure =
        survey_more(survey, &one->measures, &one->count, &one->room, sizeof *measure);
    if (measure == NULL)
        return false;
    measure->run = sqlite3_column_int64(row, 2);
    measure->started = history_text(survey, row, 3);
    measure->commit = history_text(survey, row, 4);
    measure->events = sqlite3_column_int64(row, 7);
    measure->results = history_text(survey, row, 8);
    if (measure->results == NULL)
        measure->results = "";
    measure->changed = one->count > 1 && measure_differs(&one->measures[one->count - 2], measure);
    return true;
}

/* Rows come by case and run: name, host, run, started, commit, rate, disturbed, events, results. */
static int history_read_rows(struct survey *survey, const char *source, sqlite3_stmt *row)
{
    struct survey_case *one = NULL;
    struct case_rounds rounds = {.count = 0};
    int step;
    while ((step = sqlite3_step(row)) == SQLITE_ROW && !survey->no_memory) {
        const bool is_named = sqlite3_column_type(row, 0) != SQLITE_NULL &&
                              sqlite3_column_type(row, 1) != SQLITE_NULL;
        const char *const name = (const char *)sqlite3_column_text(row, 0);
        const char *const host = (const char *)sqlite3_column_text(row, 1);
        survey->no_memory |= is_named && (name == NULL || host == NULL);
        const sqlite3_int64 run = sqlite3_column_int64(row, 2);
        if (name == NULL || host == NULL)
            continue;
        const bool is_new =
            one == NULL || strcmp(one->name, name) != 0 || strcmp(one->host, host) != 0;
        if (is_new || one->measures[one->count - 1].run != run)
            measure_close(one, &rounds);
        if (is_new) {
            one = survey_more(survey, &survey->cases, &survey->case_count, &survey->case_room,
                              sizeof *one);
            if (one == NULL)
                break;
            *one = (struct survey_case){.source = source,
                                        .name = history_text(survey, row, 0),
                                        .host = history_text(survey, row, 1)};
            if (one->name == NULL || one->host == NULL)
                break;
        }
        if ((one->count == 0 || one->measures[one->count - 1].run != run) &&
            !measure_begin(survey, one, row))
            break;
        if (rounds.count < sizeof rounds.rate / sizeof *rounds.rate)
            rounds.rate[rounds.count++] = sqlite3_column_double(row, 5);
        rounds.disturbed += sqlite3_column_int(row, 6) != 0;
    }
    measure_close(one, &rounds);
    return step;
}

/* The rows of all cases. Histories of earlier versions have no column of results. */
static int prepare_rows(sqlite3 *db, sqlite3_stmt **rows)
{
    static const char known[] = "SELECT name FROM pragma_table_info('measurement')"
                                " WHERE name IN ('events', 'results')";
    sqlite3_stmt *columns = NULL;
    bool has_events = false, has_results = false, no_memory = false;
    if (sqlite3_prepare_v2(db, known, -1, &columns, NULL) == SQLITE_OK)
        while (sqlite3_step(columns) == SQLITE_ROW) {
            const char *const column = (const char *)sqlite3_column_text(columns, 0);
            no_memory |= column == NULL; /* else the column would seem to be absent */
            has_events |= column != NULL && strcmp(column, "events") == 0;
            has_results |= column != NULL && strcmp(column, "results") == 0;
        }
    const int ended = sqlite3_finalize(columns);
    if (no_memory)
        return SQLITE_NOMEM;
    if (ended != SQLITE_OK)
        return ended;
    char query[512];
    snprintf(query, sizeof query,
             "SELECT m.name || CASE WHEN m.threads > 1 THEN ', ' || m.threads || ' threads' ELSE ''"
             " END, r.host, r.id, r.started, r.commit_id, m.events_per_s, m.disturbed, %s, %s"
             " FROM measurement m JOIN run r ON r.id = m.run"
             " WHERE m.events_per_s > 0 AND m.events_per_s < 1e300" /* else it measured nothing */
             " ORDER BY 1, 2, r.started, r.id, m.round",
             has_events ? "m.events" : "0", has_results ? "m.results" : "''");
    return sqlite3_prepare_v2(db, query, -1, rows, NULL);
}

int survey_history_read(struct survey *survey, const char *path, struct cw_error *error)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    char *const source = survey_text(survey, path);
    int step = SQLITE_ERROR;
    if (source != NULL && database_open(path, SQLITE_OPEN_READONLY, &db) == SQLITE_OK) {
        const int prepared = prepare_rows(db, &rows);
        survey->no_memory |= prepared == SQLITE_NOMEM;
        if (prepared == SQLITE_OK)
            step = history_read_rows(survey, source, rows);
    }
    int code = CW_OK;
    if (survey->no_memory)
        code = cw_error_memory(error, "the history");
    else if (step != SQLITE_DONE && database_is_damaged(path, db, error))
        code = CW_USAGE;
    else if (step != SQLITE_DONE)
        code =
            cw_error_set(error, CW_USAGE, "%.300s: cannot be read as a history of perf run: %.200s",
                         path, db != NULL ? sqlite3_errmsg(db) : "");
    sqlite3_finalize(rows);
    sqlite3_close(db);
    if (code == CW_OK)
        survey_nights_read(survey, path);
    return code;
}
