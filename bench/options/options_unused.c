/*
 * options_unused.c: says of each option whether a command uses it, and walks over those of a line
 * (options_unused.h). Pure.
 */
#include "bench/options/options_unused.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/options_phold.h"
#include "bench/options/options_sweep.h"
#include "bench/programs/bench.h"

static bool has_no_tensors(const struct config_work *work) { return !work->tensors; }

static bool is_barrier(const struct config_work *work)
{
    return work->algorithm != NULL && work->algorithm->collective == CCL_BARRIER;
}

const char *unused_size(const void *values, const struct config_work *work)
{
    (void)values;
    return is_barrier(work) ? "a bench with tensors" : NULL;
}

const char *unused_type(const void *values, const struct config_work *work)
{
    return unused_size(values, work);
}

const char *unused_op(const void *values, const struct config_work *work)
{
    (void)values;
    return work->adds ? NULL : "a bench that reduces";
}

const char *unused_seed(const void *values, const struct config_work *work)
{
    const struct run_options *const run = values;
    return has_no_tensors(work) ? "a bench with tensors"
           : run->no_data       ? "a run with tensor data, without --no-data"
           : run->data != NULL  ? "a run that draws its inputs, without --data"
                                : NULL;
}

const char *unused_input(const void *values, const struct config_work *work)
{
    return unused_seed(values, work);
}

const char *unused_verify(const void *values, const struct config_work *work)
{
    const struct run_options *const run = values;
    return has_no_tensors(work) && (run->verify_data || run->verify_ranks > 0)
               ? "a bench with tensors"
               : NULL;
}

const char *unused_no_data(const void *values, const struct config_work *work)
{
    (void)values;
    return has_no_tensors(work) ? "a bench with tensors" : NULL;
}

const char *unused_ahead(const void *values, const struct config_work *work)
{
    const struct run_options *const run = values;
    (void)work;
    return run->tiles > 1 ? NULL : "a run of several tiles (--tiles)";
}

const char *unused_gemm_tile(const void *values, const struct config_work *work)
{
    const struct run_options *const run = values;
    (void)work;
    return run->gemm.operands != MATMUL_CUT ? NULL : "a product that is not cut (--gemm-operands)";
}

/* Values of commands with an engine begin with its configuration. */
const char *unused_threads(const void *values, const struct config_work *work)
{
    const struct cw_config *const engine = values;
    (void)work;
    return engine->worker_count > 1 ? NULL : "a run on several threads (--threads)";
}

const char *unused_balance(const void *values, const struct config_work *work)
{
    const struct cw_config *const engine = values;
    return engine->sync == CW_STRESS ? "a mode other than stress, which moves parts at random,"
                                     : unused_threads(values, work);
}

const char *unused_gather(const void *values, const struct config_work *work)
{
    const struct cw_config *const engine = values;
    return engine->sync == CW_ADAPTIVE ? unused_threads(values, work)
                                       : "the mode adaptive (--sync adaptive)";
}

const char *unused_pin(const void *values, const struct config_work *work)
{
    const struct cw_config *const engine = values;
    (void)work;
    return engine->sync == CW_SEQUENTIAL ? "a run on several threads (--threads)" : NULL;
}

const char *unused_cancellation(const void *values, const struct config_work *work)
{
    const struct cw_config *const engine = values;
    (void)work;
    return engine->sync == CW_SEQUENTIAL || engine->sync == CW_CONSERVATIVE
               ? "a mode that undoes events (--sync adaptive, optimistic, stress)"
               : NULL;
}

const char *unused_remote(const void *values, const struct config_work *work)
{
    const struct phold_command *const phold = values;
    (void)work;
    return phold->options.traffic == PHOLD_RANDOM ? NULL : "random traffic (--traffic random)";
}

const char *unused_timeout(const void *values, const struct config_work *work)
{
    const struct sweep_options *const sweep = values;
    (void)work;
    return sweep->dry_run ? "a sweep that runs, without --dry-run" : NULL;
}

const char *unused_list(const void *values, const struct config_work *work)
{
    const struct run_options *const run = values;
    (void)work;
    return run->list == NULL || strcmp(run->list, "algorithms") == 0 ? NULL : "'list algorithms'";
}

const char *unused_tag(const void *values, const struct config_work *work)
{
    const struct run_options *const run = values;
    (void)work;
    return run->json == NULL && run->csv == NULL ? "--json or --csv" : NULL;
}

/* `work`: of a run of the line; NULL: the command runs none. */
static void visit_options(const struct option_parse *parse, const struct config_work *work,
                          config_unused_fn fn, void *arg)
{
    for (size_t i = 0; i < parse->row_count; i++) {
        const struct option_row *const row = &parse->rows[i];
        const char *const needs =
            parse->given[i] && row->unused != NULL ? row->unused(parse->values, work) : NULL;
        char place[80], why[200];
        if (needs == NULL)
            continue;
        snprintf(place, sizeof place, "--%s", row->name);
        snprintf(why, sizeof why, CONFIG_UNUSED "%s would", needs);
        fn(arg, row->name, place, why);
    }
}

void options_unused_visit(const struct option_parse *parse, const struct config *config, bool files,
                          config_unused_fn fn, void *arg)
{
    const struct config_work work = bench_work(parse->values, config);
    visit_options(parse, &work, fn, arg);
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
    if (config != NULL)
        options_unused_visit(parse, config, files, print_one, file);
    else
        visit_options(parse, NULL, print_one, file);
}
