/*
 * default_run.c: finds out whether a line names work, and counts the sizes that it gets
 * (default_run.h).
 */
#include "bench/cli/default_run.h"

#include <stdio.h>
#include <string.h>

#include "bench/programs/bench.h"
#include "bench/programs/bench_algorithm.h"
#include "bench/study/study_estimate.h"
#include "collectives/config/config_place.h"

/* A line's sizes take at most so much, by estimate. */
#define SECONDS_MAX 10.0
#define BYTES_MAX   ((uint64_t)2 << 30)
#define ENOUGH      10 /* times as much: the larger sizes are not estimated any more */

static const uint64_t sizes[] = {1 << 10, 1 << 14, 1 << 18, 1 << 20, 8 << 20, 64 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };
/* From each of them on, as --bytes-per-rank has them. */
static const char *const rest[SIZES] = {"1KiB:64MiB:x16", "16KiB:64MiB:x16", "256KiB:64MiB:x16",
                                        "1MiB:64MiB:x8",  "8MiB:64MiB:x8",   "64MiB"};

/* Files that hold every single operation of a run are of the small run that they were made for. */
static bool writes_operations(const struct run_options *run)
{
    return run->op_log != NULL || run->ccl_trace != NULL || run->timeline != NULL ||
           run->engine_trace != NULL || run->engine_log != NULL || run->dump_pointers;
}

/* Whether the line names an algorithm, a bench, a size or work of its own. */
static bool names_work(const struct run_options *run, const struct config *config)
{
    return run->is_bench_named || run->size_count > 0 || run->config.algorithm != NULL ||
           run->data != NULL || run->measured != NULL || writes_operations(run) ||
           config_names_work(config);
}

/* The entry that runs: between SIPs the automatic choice, within one a hierarchy. NULL: the
 * configured one, where these cannot run. */
static const char *entry_of(const struct run_options *run, const struct config *config)
{
    if (config->ccl.ranks.per_sip > 0)
        return NULL;
    return dist_world_size_for(config) > 1 ? bench_automatic(config, run->bench) : "hierarchical";
}

/* The configuration with another entry. NULL: it cannot run there. */
static struct config *config_with(struct run_options *run, const char *entry)
{
    const struct config_request asked = run->config;
    struct config_errors errors = {0};
    struct dist_placement placement;
    struct cw_error ignored;
    struct config *config = NULL;
    run->config.algorithm = entry;
    const int code = config_load(&run->config, &config, &errors);
    config_errors_free(&errors);
    if (code == CW_OK && dist_chooses_placement(config, CCL_ALL_REDUCE) &&
        bench_place_size(run, config, CCL_ALL_REDUCE, sizes[0] / (uint64_t)dtype_bytes(run->dtype),
                         &placement, &ignored) != CW_OK) {
        config_free(config);
        config = NULL;
    }
    if (config == NULL)
        run->config = asked;
    return config;
}

/* As many of the sizes as the estimate allows, one at least. Each has a machine of its own. */
static void choose_sizes(struct run_options *run, const struct config *config)
{
    struct study_estimate all = {.seconds = 0};
    size_t shown = 0, estimated = 0;
    run->size_count = 1;
    for (; estimated < SIZES && all.seconds <= ENOUGH * SECONDS_MAX; estimated++) {
        const size_t i = estimated;
        run->n_elem[0] = sizes[i] / (uint64_t)dtype_bytes(run->dtype);
        const struct study_estimate one = study_estimate_run(run, config);
        all.seconds += one.seconds;
        all.bytes = one.bytes > all.bytes ? one.bytes : all.bytes;
        if (shown == i && (i == 0 || (all.seconds <= SECONDS_MAX && all.bytes <= BYTES_MAX)))
            shown++;
    }
    run->n_elem[0] = sizes[0] / (uint64_t)dtype_bytes(run->dtype);
    run->size_count = shown;
    if (shown == SIZES)
        return;
    char seconds[ESTIMATE_TEXT_BYTES], bytes[ESTIMATE_TEXT_BYTES];
    snprintf(run->rest, sizeof run->rest,
             "%zu of %d sizes; all take %s %s and %s; the rest: --algorithm %s "
             "--bytes-per-rank %s",
             shown, SIZES, estimated == SIZES ? "some" : "more than",
             estimate_seconds_text(all.seconds, seconds),
             estimate_bytes_text((double)all.bytes, bytes),
             strncmp(config->ccl.algorithm, "auto_", 5) == 0 ? "auto" : config->ccl.algorithm,
             rest[shown]);
}

void default_run_apply(struct run_options *run, struct config **config)
{
    if (names_work(run, *config))
        return;
    const char *const entry = entry_of(run, *config);
    struct config *const other = entry != NULL ? config_with(run, entry) : NULL;
    if (other != NULL) {
        config_free(*config);
        *config = other;
    }
    for (size_t i = 0; i < SIZES; i++)
        run->n_elem[i] = sizes[i] / (uint64_t)dtype_bytes(run->dtype);
    run->sizes_per_rank = true;
    run->verify_data |= !run->is_check_given && !run->no_data;
    run->shows_machine = true;
    choose_sizes(run, *config);
}
