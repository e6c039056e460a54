/*
 * cmd_sweep.c: `cubewarp sweep`: the study, its database, the points without a row, the sweep, and
 * a summary.
 */
#include "bench/study/cmd_sweep.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/options/options_sweep.h"
#include "bench/study/study_read.h"
#include "bench/study/sweep.h"
#include "core/host/affinity.h"

/* The study file's name with .sqlite for its .yaml, in this folder. */
static void default_db(const char *study_path, char path[PATH_MAX])
{
    const char *const slash = strrchr(study_path, '/');
    const char *const name = slash != NULL ? slash + 1 : study_path;
    const char *const dot = strrchr(name, '.');
    const int bytes = dot != NULL && dot != name ? (int)(dot - name) : (int)strlen(name);
    snprintf(path, PATH_MAX, "%.*s.sqlite", bytes < 200 ? bytes : 200, name);
}

/* The points of this part that are to run: points[0..*count). */
static void choose_points(const struct study *study, struct study_shard shard, bool retry,
                          const enum study_state *states, uint32_t *points, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < study->point_count; i++) {
        const bool is_mine = i % shard.count + 1 == shard.index;
        const bool is_open = states[i] == STUDY_OPEN || (retry && states[i] != STUDY_DONE);
        if (is_mine && is_open)
            points[(*count)++] = i;
    }
}

static void print_dry_run(const struct study *study, const uint32_t *points, uint32_t count)
{
    printf("# %s: %u points, %u to run\n", study->name, study->point_count, count);
    for (uint32_t i = 0; i < count; i++) {
        char *const label = study_label(study, points[i]);
        char *const command = study_command(study, points[i]);
        printf("%u  %s\n   %s\n", points[i], label != NULL ? label : "",
               command != NULL ? command : "");
        free(label);
        free(command);
    }
}

static void print_summary(const struct study *study, const char *path, uint32_t count,
                          const struct sweep_counts *counts)
{
    const uint32_t *const ended = counts->ended;
    if (count == 0) {
        printf("%s: nothing to run; all results are in %s\n", study->name, path);
        return;
    }
    const uint32_t all =
        ended[STUDY_DONE] + ended[STUDY_REFUSED] + ended[STUDY_FAILED] + ended[STUDY_TIMEOUT];
    printf("%s: %u points in %.1f s: %u done, %u failed, %u refused, %u timed out", study->name,
           all, counts->wall_s, ended[STUDY_DONE], ended[STUDY_FAILED], ended[STUDY_REFUSED],
           ended[STUDY_TIMEOUT]);
    if (counts->wrong > 0)
        printf("; %u with wrong data", counts->wrong);
    printf("\nresults in %s", path);
    if (all - ended[STUDY_DONE] > 0)
        printf("; failures: sqlite3 %s 'SELECT * FROM failure'", path);
    putchar('\n');
    if (counts->signal_number != 0)
        printf("interrupted; the same command runs the other %u points\n", count - all);
}

/* The exit code of a sweep that went as it should; that which states say counts, of this and of
 * earlier sweeps. */
static int sweep_code(const struct study *study, const enum study_state *states,
                      const struct sweep_counts *counts)
{
    if (counts->signal_number != 0)
        return 128 + counts->signal_number;
    for (uint32_t i = 0; i < study->point_count; i++)
        if (states[i] > STUDY_DONE)
            return CW_PROGRAM_FAILED;
    return counts->wrong > 0 ? CW_DATA_WRONG : CW_OK;
}

static int run_points(const struct study *study, const struct sweep_options *options,
                      struct study_db *db, const char *path, struct study_shard shard,
                      struct cw_error *error)
{
    struct sweep_counts counts = {0};
    enum study_state *const states = calloc(study->point_count, sizeof *states);
    uint32_t *const points = calloc(study->point_count, sizeof *points), count = 0;
    int code = states == NULL || points == NULL ? cw_error_memory(error, "the points of the study")
                                                : study_db_states(db, states, error);
    if (code == CW_OK) {
        choose_points(study, shard, options->retry, states, points, &count);
        const uint32_t cores = affinity_core_count();
        const uint32_t most = options->jobs > 0 ? options->jobs : cores;
        const uint32_t workers = most < count ? most : count;
        const struct sweep_plan plan = {.study = study,
                                        .db = db,
                                        .points = points,
                                        .count = count,
                                        .workers = workers,
                                        .threads = options->threads,
                                        .timeout_s = options->timeout_s,
                                        .is_quiet = options->quiet};
        if (count > 0)
            code = sweep_run(&plan, &counts, error);
        if (code == CW_OK)
            code = study_db_states(db, states, error);
        if (code == CW_OK) {
            print_summary(study, path, count, &counts);
            code = sweep_code(study, states, &counts);
        }
    }
    free(states);
    free(points);
    return code;
}

static int sweep_study(const struct study *study, const struct sweep_options *options,
                       struct cw_error *error)
{
    char named[PATH_MAX];
    struct study_db *db;
    const struct study_shard shard = {1, 1};
    default_db(study->path, named);
    const char *const path = options->db != NULL ? options->db : named;
    int code = study_db_open(path, study, shard, options->resume, &db, error);
    if (code != CW_OK)
        return code;
    code = run_points(study, options, db, path, shard, error);
    const int closed = study_db_close(db, error);
    return error->exit_code != CW_OK ? error->exit_code : code != CW_OK ? code : closed;
}

int sweep_main(int argc, char **argv)
{
    struct sweep_options sweep = {0};
    struct options options = {.command = COMMAND_SWEEP, .values = &sweep};
    struct cw_error error = {.exit_code = CW_OK};
    struct config_errors errors = {0};
    struct study *study;
    int code;
    if (!cli_read(&options, argc, argv, &code))
        return code;
    code = study_read(sweep.study, &study, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (code != CW_OK)
        return code;
    if (sweep.dry_run) {
        uint32_t *const points = calloc(study->point_count, sizeof *points);
        for (uint32_t i = 0; i < study->point_count && points != NULL; i++)
            points[i] = i;
        print_dry_run(study, points, study->point_count);
        free(points);
    } else {
        code = sweep_study(study, &sweep, &error);
    }
    study_free(study);
    code = cli_end("sweep", code);
    if (error.exit_code != CW_OK)
        code = cli_fail("sweep", &error);
    return code;
}
