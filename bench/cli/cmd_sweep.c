/*
 * cmd_sweep.c: `cubewarp sweep`: the study, its database, the points without a row, the sweep, and
 * a summary.
 */
#include "bench/cli/cmd_sweep.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/cli.h"
#include "bench/options/options_sweep.h"
#include "bench/sweep/sweep_emit.h"
#include "bench/study/study_merge.h"
#include "bench/study/study_read.h"
#include "bench/study/study_shard.h"
#include "bench/study/study_unused.h"
#include "bench/sweep/sweep.h"

/* In this folder: the study file's name, with .sqlite instead of .yaml; for part 3 of 10, with
 * .3-of-10.sqlite. */
static void default_db(const char *study_path, struct study_shard shard, char path[PATH_MAX])
{
    const char *const slash = strrchr(study_path, '/');
    const char *const name = slash != NULL ? slash + 1 : study_path;
    const char *const dot = strrchr(name, '.');
    const int bytes = dot != NULL && dot != name ? (int)(dot - name) : (int)strlen(name);
    const int shown = bytes < 200 ? bytes : 200;
    if (shard.count == 1)
        snprintf(path, PATH_MAX, "%.*s.sqlite", shown, name);
    else
        snprintf(path, PATH_MAX, "%.*s.%u-of-%u.sqlite", shown, name, shard.index, shard.count);
}

static void print_summary(const struct study *study, const char *path, uint32_t count,
                          const struct sweep_counts *counts, uint32_t wrong)
{
    const uint32_t *const ended = counts->ended;
    if (count == 0) {
        printf("%s: nothing to run; all results are in %s", study->name, path);
        if (wrong > 0)
            printf("; %u with wrong data", wrong);
        putchar('\n');
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
    if (all - ended[STUDY_DONE] > 0) {
        printf("; failures: sqlite3 ");
        study_put_word(stdout, path);
        printf(" 'SELECT * FROM failure'");
    }
    putchar('\n');
    if (counts->signal_number != 0)
        printf("interrupted; the same command runs the other %u points\n", count - all);
}

/* The exit code of a sweep that reached its end; all points count, earlier sweeps'
 * too. */
static int sweep_code(const struct study *study, const enum study_state *states,
                      const struct sweep_counts *counts, uint32_t wrong)
{
    if (counts->signal_number != 0)
        return 128 + counts->signal_number;
    for (uint32_t i = 0; i < study->point_count; i++)
        if (states[i] > STUDY_DONE)
            return CW_PROGRAM_FAILED;
    return wrong > 0 ? CW_DATA_WRONG : CW_OK;
}

/* Runs the points of a plan, or lists them. */
static int run_points(const struct study *study, const struct sweep_options *options,
                      struct study_db *db, const char *path, struct study_shard shard,
                      struct cw_error *error)
{
    struct sweep_counts counts = {0};
    struct sweep_plan plan = {0};
    uint32_t wrong = 0;
    enum study_state *const states = calloc(study->point_count, sizeof *states);
    int code = states == NULL ? cw_error_memory(error, "the points of the study")
               : db == NULL   ? CW_OK
                              : study_db_states(db, states, error);
    if (code == CW_OK)
        code = sweep_plan_make(study, shard, states, options, &plan, error);
    plan.db = db;
    if (code == CW_OK && !options->quiet &&
        !study_unused_print(stderr, study, plan.points, plan.count))
        code = cw_error_memory(error, "the settings of the study");
    if (code == CW_OK && options->emit != SWEEP_HERE) {
        code = sweep_emit(stdout, &plan, options, error);
    } else if (code == CW_OK && options->dry_run) {
        sweep_plan_print(stdout, &plan, true);
    } else if (code == CW_OK) {
        if (plan.count > 0)
            code = sweep_run(&plan, &counts, error);
        if (code == CW_OK)
            code = study_db_states(db, states, error);
        if (code == CW_OK)
            code = study_db_wrong(db, &wrong, error);
        if (code == CW_OK) {
            code = sweep_code(study, states, &counts, wrong);
            if (!options->quiet || code != CW_OK)
                print_summary(study, path, plan.count, &counts, wrong);
        }
    }
    sweep_plan_free(&plan);
    free(states);
    return code;
}

static int sweep_study(const struct study *study, const struct sweep_options *options,
                       struct cw_error *error)
{
    char named[PATH_MAX];
    struct study_db *db;
    struct study_shard shard;
    int code = study_shard_read(options->shard, &shard, error);
    if (code != CW_OK)
        return code;
    default_db(study->path, shard, named);
    const char *const path = options->db != NULL ? options->db : named;
    const bool is_new = !options->resume && access(path, F_OK) != 0;
    if (options->emit != SWEEP_HERE || (options->dry_run && is_new))
        return run_points(study, options, NULL, path, shard, error);
    if (options->extend && shard.count > 1)
        return cw_error_set(error, CW_USAGE,
                            "--extend is for a whole study, since points change their parts: merge "
                            "the parts first, and extend the whole");
    code = study_db_open(path, study, shard,
                         (struct study_opening){.must_exist = options->resume,
                                                .extends = options->extend,
                                                .reads = options->dry_run},
                         &db, error);
    if (code != CW_OK)
        return code;
    code = run_points(study, options, db, path, shard, error);
    const int closed = study_db_close(db, error);
    return error->exit_code != CW_OK ? error->exit_code : code != CW_OK ? code : closed;
}

static int merge_parts(const struct sweep_options *options, struct cw_error *error)
{
    struct study_merged merged;
    const int code =
        study_merge(options->db, options->inputs, options->input_count, &merged, error);
    if (code != CW_OK)
        return code;
    printf("%s: %u of %u points, %u done, %u not done, %u missing", options->db, merged.ended,
           merged.points, merged.done, merged.ended - merged.done, merged.points - merged.ended);
    if (merged.wrong > 0)
        printf("; %u with wrong data", merged.wrong);
    putchar('\n');
    if (merged.done < merged.points)
        return CW_PROGRAM_FAILED;
    return merged.wrong > 0 ? CW_DATA_WRONG : CW_OK;
}

int sweep_main(int argc, char **argv)
{
    struct sweep_options sweep = {0};
    struct option_parse parse = {.command = COMMAND_SWEEP, .values = &sweep};
    struct cw_error error = {.exit_code = CW_OK};
    struct config_errors errors = {0};
    struct study *study;
    int code;
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    if (sweep.merge) {
        code = cli_end("sweep", merge_parts(&sweep, &error));
        return error.exit_code != CW_OK ? cli_fail("sweep", &error) : code;
    }
    code = study_read(sweep.study, &study, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (code == CW_NO_RESOURCE)
        fputs("cubewarp sweep: out of memory while reading the study\n", stderr);
    if (code != CW_OK)
        return code;
    code = sweep_study(study, &sweep, &error);
    study_free(study);
    code = cli_end("sweep", code);
    if (error.exit_code != CW_OK)
        code = cli_fail("sweep", &error);
    return code;
}
