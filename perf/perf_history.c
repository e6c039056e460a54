/*
 * perf_history.c: the schema and its statements (perf_history.h). user_version says which schema a
 * file has; a file of another one, and a database of something else, is refused, not guessed at.
 */
#include "perf/perf_history.h"

#include "collectives/config/input/environment.h"
#include "core/os/output_path.h"
#include "perf/database.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEMA = 2, SCHEMA_WITHOUT_RESULTS = 1 };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, started TEXT NOT NULL,"
    " version TEXT NOT NULL, commit_id TEXT NOT NULL, set_name TEXT NOT NULL, host TEXT NOT NULL,"
    " cpu TEXT NOT NULL, kernel TEXT NOT NULL, cores INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS measurement (run INTEGER NOT NULL REFERENCES run(id),"
    " case_index INTEGER NOT NULL, name TEXT NOT NULL, command TEXT NOT NULL,"
    " threads INTEGER NOT NULL, round INTEGER NOT NULL, events INTEGER NOT NULL,"
    " events_per_s REAL NOT NULL, run_s REAL NOT NULL, setup_s REAL NOT NULL,"
    " cpu_s REAL NOT NULL, efficiency REAL NOT NULL, rss_bytes INTEGER NOT NULL,"
    " loop_ns_before REAL NOT NULL, gain_before REAL NOT NULL, line_ns_before REAL NOT NULL,"
    " loop_ns_after REAL NOT NULL, gain_after REAL NOT NULL, line_ns_after REAL NOT NULL,"
    " repeats INTEGER NOT NULL, disturbed INTEGER NOT NULL, results TEXT NOT NULL DEFAULT '',"
    " PRIMARY KEY (run, case_index, round)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS run_machine ON run (cpu, cores, host, set_name);"
    "PRAGMA user_version = 2;";
static const char add_results[] =
    "ALTER TABLE measurement ADD COLUMN results TEXT NOT NULL DEFAULT '';";
static const char show_results[] = /* a view of this connection alone, in front of the table */
    "CREATE TEMP VIEW measurement AS SELECT *, '' AS results FROM main.measurement;";

static int perf_history_fail(const char *path, const char *why, struct cw_error *error)
{
    return cw_error_set(error, CW_NO_RESOURCE, "history %.500s: %.300s", path, why);
}

static int refuse_file(const char *path, const char *why, struct cw_error *error)
{
    return cw_error_set(error, CW_USAGE,
                        "history %.500s: %.300s; expected a file that 'cubewarp perf run' wrote",
                        path, why);
}

static int fail_sqlite(sqlite3 *history, const char *path, struct cw_error *error)
{
    const int fault = sqlite3_errcode(history);  /* SQLITE_NOMEM of NULL */
    const bool is_other = fault == SQLITE_ERROR; /* a table or a column of a history is missing */
    if (is_other || fault == SQLITE_NOTADB || fault == SQLITE_CORRUPT)
        return refuse_file(path, sqlite3_errmsg(history), error);
    return perf_history_fail(path, history != NULL ? sqlite3_errmsg(history) : "out of memory",
                             error);
}

/* ---- the file -------------------------------------------------------------------------------- */

int perf_history_path(char *path, size_t bytes, struct cw_error *error)
{
    const char *const data = environment_get(ENVIRONMENT_DATA_HOME);
    const char *const home = environment_get(ENVIRONMENT_HOME);
    int length = -1;
    if (data != NULL && data[0] == '/')
        length = snprintf(path, bytes, "%s/cubewarp/perf.sqlite", data);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, bytes, "%s/.local/share/cubewarp/perf.sqlite", home);
    if (length < 0 || (size_t)length >= bytes) {
        return cw_error_set(
            error, CW_USAGE,
            "no place for the history: neither XDG_DATA_HOME nor HOME names a folder; "
            "--history FILE or --no-history");
    }
    return CW_OK;
}

int perf_history_make_folder(char *path, struct cw_error *error)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (!made)
            return perf_history_fail(path, strerror(errno), error);
        *slash = '/';
    }
    return CW_OK;
}

/* Whether *version is known; else SQLite failed. */
static bool version_of(sqlite3 *history, int *version)
{
    sqlite3_stmt *statement = NULL;
    const bool is_known =
        sqlite3_prepare_v2(history, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW;
    *version = is_known ? sqlite3_column_int(statement, 0) : 0;
    sqlite3_finalize(statement);
    return is_known;
}

/* Whether there was memory for it: else it would be NULL, which columns refuse and queries do not.
 */
static bool bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

/* How many tables of a name there are; of any name, if it is NULL. -1: SQLite failed. */
static int tables_of(sqlite3 *history, const char *name)
{
    sqlite3_stmt *statement = NULL;
    int count = -1;
    if (sqlite3_prepare_v2(history,
                           "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
                           "(?1 IS NULL OR name = ?1)",
                           -1, &statement, NULL) == SQLITE_OK &&
        (name == NULL || bind_text(statement, 1, name)) && sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static int refuse_none_yet(const char *path, struct cw_error *error)
{
    return cw_error_set(error, CW_USAGE,
                        "history %.500s: there is none yet; 'cubewarp perf run' makes one", path);
}

/*
 * Whether the database is a history, or an empty file that becomes one. A `perf run` that ended
 * before its first round leaves such a file.
 */
static int check_schema(sqlite3 *history, const char *path, bool writes, int version,
                        struct cw_error *error)
{
    const int tables = tables_of(history, NULL), runs = tables_of(history, "run"),
              measurements = tables_of(history, "measurement");
    if (tables < 0 || runs < 0 || measurements < 0)
        return fail_sqlite(history, path, error);
    if (version == 0 && tables == 0)
        return writes ? CW_OK : refuse_none_yet(path, error);
    if (version == 0 || runs == 0 || measurements == 0)
        return refuse_file(path, "a database of something else", error);
    if (version != SCHEMA && version != SCHEMA_WITHOUT_RESULTS)
        return refuse_file(path, "not a history that this version can read", error);
    return CW_OK;
}

/* A file that is to be written cannot be opened, for which the system has a better reason. */
static int fail_open(sqlite3 *history, const char *path, struct cw_error *error)
{
    if (sqlite3_errcode(history) != SQLITE_CANTOPEN)
        return fail_sqlite(history, path, error);
    const int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return perf_history_fail(path, strerror(errno), error);
    close(descriptor);
    return fail_sqlite(history, path, error);
}

/* *history is to be closed whatever the result. Reading creates nothing. */
static int open_history(const char *path, bool writes, sqlite3 **history, struct cw_error *error)
{
    if (!writes && access(path, F_OK) != 0 && errno == ENOENT)
        return refuse_none_yet(path, error);
    const char *const why = database_is_no_file(path);
    if (why != NULL)
        return refuse_file(path, why, error);
    if (writes && output_path_check(path, error) != CW_OK)
        return error->exit_code;
    const int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    if (database_open(path, flags, history) != SQLITE_OK)
        return writes ? fail_open(*history, path, error) : fail_sqlite(*history, path, error);
    if (writes && sqlite3_exec(*history, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return fail_sqlite(*history, path, error);
    int version;
    if (!version_of(*history, &version))
        return fail_sqlite(*history, path, error);
    if (check_schema(*history, path, writes, version, error) != CW_OK)
        return error->exit_code;
    if (version == SCHEMA_WITHOUT_RESULTS &&
        sqlite3_exec(*history, writes ? add_results : show_results, NULL, NULL, NULL) != SQLITE_OK)
        return fail_sqlite(*history, path, error);
    if (writes && sqlite3_exec(*history, schema, NULL, NULL, NULL) != SQLITE_OK)
        return fail_sqlite(*history, path, error);
    return CW_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool insert_run(sqlite3 *history, const struct perf_run *run)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(history,
                           "INSERT INTO run (started, version, commit_id, set_name, host, cpu, "
                           "kernel, cores) VALUES (?,?,?,?,?,?,?,?)",
                           -1, &statement, NULL) != SQLITE_OK)
        return false;
    const char *const texts[] = {run->started,      run->version,     run->commit,        run->set,
                                 run->machine.host, run->machine.cpu, run->machine.kernel};
    const int count = (int)(sizeof texts / sizeof *texts);
    bool is_bound = true;
    for (int i = 0; i < count; i++)
        is_bound &= bind_text(statement, i + 1, texts[i]);
    sqlite3_bind_int64(statement, count + 1, run->machine.cores);
    const bool done = is_bound && sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return done;
}

static bool insert_sample(sqlite3_stmt *statement, int64_t id, int64_t index,
                          const struct perf_case_run *measured, const struct perf_sample *sample)
{
    const double reals[] = {sample->events_per_s, sample->run_s,          sample->setup_s,
                            sample->cpu_s,        sample->efficiency,     sample->before.loop_ns,
                            sample->before.gain,  sample->before.line_ns, sample->after.loop_ns,
                            sample->after.gain,   sample->after.line_ns};
    const int64_t wholes[] = {id,
                              index,
                              measured->threads,
                              sample->round,
                              (int64_t)sample->events,
                              (int64_t)sample->rss_bytes,
                              sample->repeats,
                              sample->disturbed};
    int at = 1;
    bool is_bound = bind_text(statement, at++, measured->name);
    is_bound &= bind_text(statement, at++, measured->command);
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        sqlite3_bind_int64(statement, at++, wholes[i]);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        sqlite3_bind_double(statement, at++, reals[i]);
    is_bound &= bind_text(statement, at, sample->results);
    const bool done = is_bound && sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_reset(statement) == SQLITE_OK && done;
}

/* The order in which insert_sample() binds and read_sample() reads. */
#define COLUMNS                                                                                    \
    "name, command, run, case_index, threads, round, events, rss_bytes, repeats, disturbed, "      \
    "events_per_s, run_s, setup_s, cpu_s, efficiency, loop_ns_before, gain_before, "               \
    "line_ns_before, loop_ns_after, gain_after, line_ns_after, results"

static bool insert(sqlite3 *history, const struct perf_run *run, int64_t *id)
{
    sqlite3_stmt *statement = NULL;
    if (!insert_run(history, run))
        return false;
    *id = sqlite3_last_insert_rowid(history);
    bool done = sqlite3_prepare_v2(history,
                                   "INSERT INTO measurement (" COLUMNS ") VALUES "
                                   "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                   -1, &statement, NULL) == SQLITE_OK;
    for (size_t i = 0; i < run->case_count && done; i++)
        for (size_t k = 0; k < run->cases[i].sample_count && done; k++)
            done = insert_sample(statement, *id, (int64_t)i, &run->cases[i],
                                 &run->cases[i].samples[k]);
    sqlite3_finalize(statement);
    return done && sqlite3_exec(history, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

int perf_history_try(const char *path, struct cw_error *error)
{
    sqlite3 *history = NULL;
    const int result = open_history(path, true, &history, error);
    sqlite3_close(history); /* rolls back */
    return result;
}

int perf_history_add(const char *path, const struct perf_run *run, int64_t *id,
                     struct cw_error *error)
{
    sqlite3 *history = NULL;
    int result = open_history(path, true, &history, error);
    if (result == CW_OK && !insert(history, run, id))
        result = fail_sqlite(history, path, error);
    sqlite3_close(history); /* rolls an open transaction back */
    return result;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether there was memory for the text; "" of a value that is NULL. */
static bool column_text(sqlite3_stmt *statement, int at, char *text, size_t bytes)
{
    const bool is_null = sqlite3_column_type(statement, at) == SQLITE_NULL;
    const unsigned char *const value = sqlite3_column_text(statement, at);
    snprintf(text, bytes, "%s", value != NULL ? (const char *)value : "");
    return value != NULL || is_null;
}

/* SQLite's SQLITE_OK, SQLITE_NOMEM, or SQLITE_MISMATCH: no measurement has such figures. */
static int read_sample(sqlite3_stmt *statement, struct perf_run *run)
{
    char name[PERF_NAME_BYTES], command[PERF_COMMAND_BYTES];
    if (!column_text(statement, 0, name, sizeof name) ||
        !column_text(statement, 1, command, sizeof command))
        return SQLITE_NOMEM;
    perf_name_clean(name);
    const bool is_next =
        run->case_count == 0 || strcmp(run->cases[run->case_count - 1].name, name) != 0;
    if (is_next &&
        perf_run_add(run, name, command, (uint32_t)sqlite3_column_int64(statement, 4)) == NULL)
        return SQLITE_NOMEM;
    double reals[11];
    for (int i = 0; i < 11; i++)
        reals[i] = sqlite3_column_double(statement, 10 + i);
    struct perf_sample sample = {
        .round = (uint32_t)sqlite3_column_int64(statement, 5),
        .events = (uint64_t)sqlite3_column_int64(statement, 6),
        .rss_bytes = (uint64_t)sqlite3_column_int64(statement, 7),
        .repeats = (uint32_t)sqlite3_column_int64(statement, 8),
        .disturbed = sqlite3_column_int64(statement, 9) != 0,
        .events_per_s = reals[0],
        .run_s = reals[1],
        .setup_s = reals[2],
        .cpu_s = reals[3],
        .efficiency = reals[4],
        .before = {reals[5], reals[6], reals[7]},
        .after = {reals[8], reals[9], reals[10]},
    };
    if (!column_text(statement, 21, sample.results, sizeof sample.results))
        return SQLITE_NOMEM;
    perf_name_clean(sample.results);
    if (!perf_sample_is_sound(&sample))
        return SQLITE_MISMATCH;
    return perf_case_add(&run->cases[run->case_count - 1], &sample) ? SQLITE_OK : SQLITE_NOMEM;
}

static int read_samples(sqlite3 *history, const char *path, int64_t id, struct perf_run *run,
                        struct cw_error *error)
{
    sqlite3_stmt *statement = NULL;
    int step = SQLITE_ERROR, read = SQLITE_OK;
    if (sqlite3_prepare_v2(history,
                           "SELECT " COLUMNS " FROM measurement WHERE run = ? "
                           "ORDER BY case_index, round",
                           -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(statement, 1, id);
        while (read == SQLITE_OK && (step = sqlite3_step(statement)) == SQLITE_ROW)
            read = read_sample(statement, run);
    }
    const int result =
        read == SQLITE_MISMATCH
            ? cw_error_set(error, CW_USAGE,
                           "history %.500s: run %lld has a figure below 0 or above 1e15, which no "
                           "measurement has",
                           path, (long long)id)
        : read != SQLITE_OK   ? perf_history_fail(path, "out of memory", error)
        : step == SQLITE_DONE ? CW_OK
                              : fail_sqlite(history, path, error);
    sqlite3_finalize(statement);
    return result;
}

static int read_run(sqlite3 *history, const char *path, int64_t id, struct perf_run *run,
                    struct cw_error *error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(history,
                           "SELECT started, version, commit_id, set_name, host, cpu, kernel, cores "
                           "FROM run WHERE id = ?",
                           -1, &statement, NULL) != SQLITE_OK)
        return fail_sqlite(history, path, error);
    sqlite3_bind_int64(statement, 1, id);
    const int step = sqlite3_step(statement);
    bool is_read = step == SQLITE_ROW;
    if (is_read) {
        is_read = column_text(statement, 0, run->started, sizeof run->started) &&
                  column_text(statement, 1, run->version, sizeof run->version) &&
                  column_text(statement, 2, run->commit, sizeof run->commit) &&
                  column_text(statement, 3, run->set, sizeof run->set) &&
                  column_text(statement, 4, run->machine.host, sizeof run->machine.host) &&
                  column_text(statement, 5, run->machine.cpu, sizeof run->machine.cpu) &&
                  column_text(statement, 6, run->machine.kernel, sizeof run->machine.kernel);
        run->machine.cores = (uint32_t)sqlite3_column_int64(statement, 7);
        perf_run_clean(run);
    }
    const int result = is_read               ? CW_OK
                       : step == SQLITE_ROW  ? perf_history_fail(path, "out of memory", error)
                       : step == SQLITE_DONE ? CW_USAGE
                                             : fail_sqlite(history, path, error);
    sqlite3_finalize(statement);
    if (result != CW_USAGE)
        return result;
    return cw_error_set(error, CW_USAGE, "history %.500s: there is no run %lld", path,
                        (long long)id);
}

int perf_history_read(const char *path, int64_t id, struct perf_run *run, struct cw_error *error)
{
    sqlite3 *history = NULL;
    *run = (struct perf_run){.case_count = 0};
    int result = open_history(path, false, &history, error);
    if (result == CW_OK)
        result = read_run(history, path, id, run, error);
    if (result == CW_OK)
        result = read_samples(history, path, id, run, error);
    sqlite3_close(history);
    return result;
}

int perf_history_last(const char *path, const struct perf_machine *machine, const char *set,
                      int64_t before, int64_t *id, struct cw_error *error)
{
    sqlite3 *history = NULL;
    sqlite3_stmt *statement = NULL;
    *id = 0;
    int result = open_history(path, false, &history, error);
    if (result == CW_OK &&
        sqlite3_prepare_v2(
            history,
            /* from that run down, to the first one that fits: an index would list all of them */
            "SELECT id FROM run NOT INDEXED WHERE (?1 IS NULL OR (cpu = ?1 AND cores = ?2 AND "
            "host = ?3)) AND (?4 IS NULL OR set_name = ?4) AND id <= ?5 ORDER BY id DESC LIMIT 1",
            -1, &statement, NULL) != SQLITE_OK)
        result = fail_sqlite(history, path, error);
    if (result == CW_OK) {
        const bool is_bound =
            (machine == NULL || (bind_text(statement, 1, machine->cpu) &&
                                 sqlite3_bind_int64(statement, 2, machine->cores) == SQLITE_OK &&
                                 bind_text(statement, 3, machine->host))) &&
            (set == NULL || bind_text(statement, 4, set));
        sqlite3_bind_int64(statement, 5,
                           before == 0          ? INT64_MAX
                           : before > INT64_MIN ? before - 1
                                                : before);
        const int step = is_bound ? sqlite3_step(statement) : SQLITE_ERROR;
        if (step == SQLITE_ROW)
            *id = sqlite3_column_int64(statement, 0);
        else if (step != SQLITE_DONE)
            result = fail_sqlite(history, path, error);
    }
    sqlite3_finalize(statement);
    sqlite3_close(history);
    return result;
}

int perf_history_list(const char *path, FILE *file, struct cw_error *error)
{
    sqlite3 *history = NULL;
    sqlite3_stmt *statement = NULL;
    int result = open_history(path, false, &history, error);
    if (result == CW_OK &&
        sqlite3_prepare_v2(history,
                           "SELECT id, started, set_name, commit_id, host, cpu, cores, "
                           "(SELECT count(*) FROM measurement WHERE run = id) FROM run ORDER BY id",
                           -1, &statement, NULL) != SQLITE_OK)
        result = fail_sqlite(history, path, error);
    if (result == CW_OK)
        fprintf(file, "# %4s  %-20s  %-10s  %-20s %12s  machine\n", "run", "started", "set",
                "commit", "measurements");
    int step = SQLITE_DONE;
    while (result == CW_OK && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        char texts[5][PERF_NAME_BYTES];
        bool is_read = true;
        for (int i = 0; i < 5; i++) {
            is_read &= column_text(statement, i + 1, texts[i], sizeof texts[i]);
            perf_name_clean(texts[i]);
        }
        if (!is_read) {
            result = perf_history_fail(path, "out of memory", error);
            break;
        }
        fprintf(file, "%6lld  %-20s  %-10s  %-20s %12lld  %s: %s, %lld cores\n",
                (long long)sqlite3_column_int64(statement, 0), texts[0], texts[1], texts[2],
                (long long)sqlite3_column_int64(statement, 7), texts[3], texts[4],
                (long long)sqlite3_column_int64(statement, 6));
    }
    if (result == CW_OK && step != SQLITE_DONE)
        result = fail_sqlite(history, path, error);
    sqlite3_finalize(statement);
    sqlite3_close(history);
    return result;
}
