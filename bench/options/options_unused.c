/*
 * options_unused.c: says of each option whether a run uses it, and walks over those of a line
 * (options_unused.h). Pure.
 */
#include "bench/options/options_unused.h"

#include <stdio.h>
#include <string.h>

#include "bench/programs/bench.h"

static bool has_no_tensors(const struct config_work *work) { return !work->tensors; }

static bool is_barrier(const struct config_work *work)
{
    return work->algorithm != NULL && work->algorithm->collective == CCL_BARRIER;
}

const char *unused_size(const struct run_options *run, const struct config_work *work)
{
    (void)run;
    return is_barrier(work) ? "a bench with tensors" : NULL;
}

const char *unused_type(const struct run_options *run, const struct config_work *work)
{
    return unused_size(run, work);
}

const char *unused_op(const struct run_options *run, const struct config_work *work)
{
    (void)run;
    return work->adds ? NULL : "a bench that reduces";
}

const char *unused_seed(const struct run_options *run, const struct config_work *work)
{
    return has_no_tensors(work) ? "a bench with tensors"
           : run->no_data       ? "a run with tensor data, without --no-data"
           : run->data != NULL  ? "a run that draws its inputs, without --data"
                                : NULL;
}

const char *unused_input(const struct run_options *run, const struct config_work *work)
{
    return unused_seed(run, work);
}

const char *unused_verify(const struct run_options *run, const struct config_work *work)
{
    return has_no_tensors(work) && run->verify_data ? "a bench with tensors" : NULL;
}

const char *unused_no_data(const struct run_options *run, const struct config_work *work)
{
    (void)run;
    return has_no_tensors(work) ? "a bench with tensors" : NULL;
}

const char *unused_threads(const struct run_options *run, const struct config_work *work)
{
    (void)work;
    return run->engine.worker_count > 1 ? NULL : "a run on several threads (--threads)";
}

const char *unused_gather(const struct run_options *run, const struct config_work *work)
{
    return run->engine.sync == CW_ADAPTIVE ? unused_threads(run, work)
                                           : "the mode adaptive (--sync adaptive)";
}

const char *unused_tag(const struct run_options *run, const struct config_work *work)
{
    (void)work;
    return run->json == NULL && run->csv == NULL ? "--json or --csv" : NULL;
}

void options_unused_visit(const struct option_parse *parse, const struct config *config, bool files,
                          config_unused_fn fn, void *arg)
{
    const struct run_options *const run = parse->values;
    const struct config_work work = bench_work(run, config);
    for (size_t i = 0; i < parse->row_count; i++) {
        const struct option_row *const row = &parse->rows[i];
        const char *const needs =
            parse->given[i] && row->unused != NULL ? row->unused(run, &work) : NULL;
        char place[80], why[200];
        if (needs == NULL)
            continue;
        snprintf(place, sizeof place, "--%s", row->name);
        snprintf(why, sizeof why, CONFIG_UNUSED "%s would", needs);
        fn(arg, row->name, place, why);
    }
    config_unused_visit(config, &work, files, fn, arg);
}

static void print_one(void *file, const char *key, const char *place, const char *why)
{
    /* A place in a file does not name its key. */
    if (strncmp(place, "--", 2) == 0)
        fprintf(file, "cubewarp: note: %s: %s\n", place, why);
    else
        fprintf(file, "cubewarp: note: %s: %s: %s\n", place, key, why);
}

void options_unused_print(FILE *file, const struct option_parse *parse, const struct config *config,
                          bool files)
{
    options_unused_visit(parse, config, files, print_one, file);
}
