/*
 * subject.c: see subject.h.
 */
#include "bench/project/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/result.h"
#include "bench/programs/bench.h"
#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"
#include "core/host/host_limits.h"
#include "lp/host/placement.h"
#include "lp/queues/queue_ends.h"
#include "partition/partition.h"
#include "perf/measure.h"

static int out_of_memory(struct cw_error *error)
{
    return cw_error_memory(error, "the projection");
}

/* ---- the command ----------------------------------------------------------------------------- */

static char *default_command[] = {"phold", "--end", "50", NULL};
enum { DEFAULT_WORDS = 3 };

/* The measured command is the line split at blanks, with more options behind it: words with blanks
 * would be split. */
static int check_words(const struct subject *subject, struct cw_error *error)
{
    for (int i = 1; i < subject->argc; i++) {
        if (strpbrk(subject->argv[i], " \t") != NULL)
            return cw_error_set(error, CW_USAGE, "'%.200s': no blanks, please", subject->argv[i]);
        if (strcmp(subject->argv[i], "--") == 0)
            return cw_error_set(error, CW_USAGE, "'--' stands before the command, not in it");
    }
    return CW_OK;
}

static int join_words(struct subject *subject, struct cw_error *error)
{
    size_t used = 0;
    for (int i = 0; i < subject->argc; i++) {
        used += (size_t)snprintf(subject->line + used, sizeof subject->line - used, "%s%s",
                                 i == 0 ? "" : " ", subject->argv[i]);
        if (used >= sizeof subject->line)
            return cw_error_set(error, CW_USAGE, "the command is too long");
    }
    return CW_OK;
}

/* Reads a line of `run` or `phold`; options that have no meaning for a projection are refused. */
static int read_projected(enum command command, void *values, const struct subject *subject,
                          struct cw_error *error)
{
    struct options read = {.command = command, .projected = true, .values = values};
    return options_read(&read, subject->argc, subject->argv, error);
}

static int load_run(struct subject *subject, struct cw_error *error)
{
    run_options_defaults(&subject->run);
    int result = read_projected(COMMAND_RUN, &subject->run, subject, error);
    if (result != CW_OK)
        return result;
    struct config_errors errors = {0};
    result = config_load(&subject->run.config, &subject->config, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (result != CW_OK)
        return cw_error_set(error, CW_USAGE, "the configuration of '%.300s' does not load",
                            subject->line);
    subject->run.quiet = true;
    result = run_options_check(&subject->run, &subject->config->hw, error);
    if (result != CW_OK)
        return result;
    const struct lp_config queues = dist_queue_config(&subject->config->ccl);
    lp_layout_init(&subject->model, &subject->config->hw, &queues);
    subject->has_model = true;
    subject->lp_count = subject->model.lps.count;
    subject->plan = dist_queue_plan(&subject->config->ccl, &subject->config->hw, NULL, NULL);
    subject->model.plan[1] = subject->plan;
    return subject->plan != NULL ? CW_OK : out_of_memory(error);
}

int subject_load(struct subject *subject, int argc, char **argv, struct cw_error *error)
{
    *subject = (struct subject){.argc = argc > 0 ? argc : DEFAULT_WORDS,
                                .argv = argc > 0 ? argv : default_command};
    int result = check_words(subject, error);
    if (result == CW_OK)
        result = join_words(subject, error);
    if (result != CW_OK)
        return result;
    subject->is_phold = strcmp(subject->argv[0], "phold") == 0;
    if (!subject->is_phold && strcmp(subject->argv[0], "run") != 0)
        return cw_error_set(error, CW_USAGE, "'%.200s': phold or run can be projected",
                            subject->argv[0]);
    if (!subject->is_phold)
        return load_run(subject, error);
    struct phold_command phold = phold_command_defaults();
    result = read_projected(COMMAND_PHOLD, &phold, subject, error);
    subject->phold = phold.options;
    subject->lp_count = subject->phold.lps;
    return result;
}

void subject_unload(struct subject *subject)
{
    if (subject->has_model)
        lp_layout_free(&subject->model);
    lp_plan_free(subject->plan);
    config_free(subject->config);
}

/* ---- runs in this process -------------------------------------------------------------------- */

int subject_run(struct subject *subject, const struct subject_way *way, struct cw_stats *stats,
                struct cw_error *error)
{
    struct cw_config *const engine =
        subject->is_phold ? &subject->phold.engine : &subject->run.engine;
    const struct cw_config before = *engine;
    engine->sync = way->sync;
    engine->worker_count = way->workers;
    engine->thread_count = way->threads;
    engine->trace = way->trace != NULL ? perf_trace_note : NULL;
    engine->trace_arg = way->trace;
    int result;
    perf_warm_memory(subject->memory_bytes);
    if (subject->is_phold) {
        double setup_s;
        if (way->phases != NULL)
            process_phases_begin(way->phases, 0);
        subject->phold.phases = way->phases;
        result = phold_run(&subject->phold, way->sync, way->workers, stats, &setup_s, error);
        subject->phold.phases = NULL;
    } else {
        struct result run = {0};
        result = bench_run(&subject->run, subject->config, &run, error);
        *stats = run.engine.stats;
        if (way->phases != NULL)
            *way->phases = run.phases;
        result_free(&run);
    }
    *engine = before;
    if (subject->memory_bytes == 0)
        subject->memory_bytes = host_limits_peak_resident_bytes();
    return result;
}

/* ---- the partition --------------------------------------------------------------------------- */

static void place_phold(const struct subject *subject, uint32_t workers, uint32_t *lp_worker,
                        int64_t *least_ps, int64_t *lookahead_ps)
{
    for (uint32_t lp = 0; lp < subject->lp_count; lp++)
        lp_worker[lp] = phold_worker_of(&subject->phold, lp, workers);
    *lookahead_ps = phold_least_delay_ps(&subject->phold);
    for (size_t i = 0; i < (size_t)workers * workers; i++)
        least_ps[i] = *lookahead_ps;
}

static const struct partitioner *partitioner_of(const struct subject *subject)
{
    return subject->run.partition != NULL ? partitioner_find(subject->run.partition)
                                          : partitioner_at(0);
}

const char *subject_partition(const struct subject *subject)
{
    return subject->is_phold ? "block" : partitioner_of(subject)->name;
}

static int place_run(const struct subject *subject, uint32_t workers, uint32_t *lp_worker,
                     int64_t *least_ps, int64_t *lookahead_ps, struct cw_error *error)
{
    const struct hw_config *const hw = &subject->config->hw;
    uint32_t *const cube_worker =
        calloc((size_t)hw->sip_count * subject->model.cubes, sizeof *cube_worker);
    struct lp_cut cut;
    int result = cube_worker != NULL ? CW_OK : out_of_memory(error);
    if (result == CW_OK)
        result = partitioner_of(subject)->place(hw, workers, cube_worker, error);
    if (result == CW_OK &&
        !lp_place(&subject->model, workers, cube_worker, lp_worker, least_ps, &cut))
        result = out_of_memory(error);
    *lookahead_ps = result == CW_OK ? cut.lookahead_ps : 0;
    free(cube_worker);
    return result;
}

int subject_place(const struct subject *subject, uint32_t workers, struct subject_place *place,
                  struct cw_error *error)
{
    *place = (struct subject_place){
        .lp_worker = malloc(subject->lp_count * sizeof *place->lp_worker),
        .least_ps = calloc((size_t)workers * workers, sizeof *place->least_ps)};
    if (place->lp_worker == NULL || place->least_ps == NULL)
        return out_of_memory(error);
    if (!subject->is_phold)
        return place_run(subject, workers, place->lp_worker, place->least_ps, &place->lookahead_ps,
                         error);
    place_phold(subject, workers, place->lp_worker, place->least_ps, &place->lookahead_ps);
    return CW_OK;
}

void subject_place_free(struct subject_place *place)
{
    free(place->lp_worker);
    free(place->least_ps);
}

bool subject_takes_short_turns(const struct subject *subject)
{
    return subject->is_phold || subject->run.no_data; /* data come by a sink on each worker */
}

const char *subject_event_name(const struct subject *subject, uint16_t type)
{
    static const char *const names[] = {[LP_EVENT_TRANSFER] = "transfer",
                                        [LP_EVENT_CPU_ARRIVAL] = "control arrives",
                                        [LP_EVENT_CPU_DONE] = "control served",
                                        [LP_EVENT_PE_CPU] = "control at a PE",
                                        [LP_EVENT_HOST] = "back at the host",
                                        [LP_EVENT_VISIBLE] = "tile visible",
                                        [LP_EVENT_CREDIT] = "credit",
                                        [LP_EVENT_ENGINE] = "PE_DMA",
                                        [LP_EVENT_MEMORY] = "memory",
                                        [LP_EVENT_DMA_DONE] = "DMA done",
                                        [LP_EVENT_KERNEL] = "kernel",
                                        [LP_EVENT_LAND] = "put lands",
                                        [LP_EVENT_LEND] = "memory of another PE"};
    if (subject->is_phold)
        return type == 0 ? "event" : NULL;
    return type < sizeof names / sizeof *names ? names[type] : NULL;
}
