/*
 * cmd_check.c: `cubewarp check`: prints every error of a configuration, or that it has none. The
 * loader finds the first ones. Then the algorithm must do the collective of a bench that is named,
 * and run on this machine with the sizes that are given, or with its own n_elem: hooks, mapper and
 * validator are asked as by a run. Then come the algorithms or schedules that automatic choices
 * take, and an estimate of the run.
 */
#include "bench/cli/cmd_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/options/options_run.h"
#include "bench/programs/bench.h"
#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_fold.h"
#include "bench/study/study_estimate.h"
#include "collectives/config/config_load.h"
#include "collectives/fold/fold_find.h"
#include "collectives/runtime/dist_rehearsal.h"
#include "collectives/runtime/distributed.h"
#include "core/os/host_limits.h"
#include "core/os/text_stream.h"

/* The elements of a shard in a run's i-th size; without sizes, in its only one. An automatic choice
 * of the placement is taken over into *expected. */
static uint64_t check_shard(struct config *expected, const struct run_options *options,
                            enum ccl_collective collective, size_t i,
                            struct dist_placement *placement)
{
    struct cw_error ignored; /* the call will be refused */
    if (options->size_count == 0)
        return expected->ccl.n_elem;
    if (!options->sizes_per_rank)
        return bench_whole_size(options, expected, collective, i, 1);
    if (!dist_chooses_placement(expected, collective))
        return bench_whole_size(options, expected, collective, i,
                                (uint32_t)study_estimate_shards(expected, collective));
    if (bench_place_size(options, expected, collective, options->n_elem[i], placement, &ignored) !=
        CW_OK)
        return options->n_elem[i];
    dist_take_placement(expected, placement);
    return bench_whole_size(options, expected, collective, i, placement->shards);
}

/* What the checks find out about choices. */
struct check_choices {
    FILE *text; /* a line for each size */
    struct bench_choice taken[RUN_SIZES_MAX];
    size_t count;
};

/* Refuses a machine that runs folded alone, if the run never folds. */
static int check_unfolded(const struct config *config, const struct run_options *options,
                          struct cw_error *error)
{
    const char *const why = bench_why_no_fold(options, config);
    return why != NULL ? bench_refuse_unfolded(config, why, error) : CW_OK;
}

/* The fold of such a machine. Schedules of so many ranks go by rules. */
static int check_fold(const struct config *expected, const struct run_options *options,
                      const struct ccl_call *call, struct fold_found *found, struct cw_error *error)
{
    if (check_unfolded(expected, options, error) != CW_OK)
        return error->exit_code;
    const struct fold_request request = {
        .config = expected, .calls = call, .count = 1, .by_rules = true};
    const int code = fold_find(&request, found, error);
    if (code != CW_OK)
        return code;
    const char *const why = bench_fold_why_refused(options, &expected->hw, &found->fold);
    return why == NULL && found->fold.sips <= HW_UNFOLDED_SIPS_MAX
               ? CW_OK
               : bench_refuse_unfolded(expected, why != NULL ? why : found->why, error);
}

/* Asks for the call of a run's i-th size, and writes down the choice that is made for it. */
static int check_size(const struct config *config, const struct run_options *options,
                      enum ccl_collective collective, size_t i, struct check_choices *choices,
                      struct cw_error *error)
{
    struct config expected = *config;
    struct dist_choice choice;
    struct dist_placement placement = {.mapper = NULL};
    const uint32_t ranks = dist_world_size_for(config);
    const uint64_t shard = check_shard(&expected, options, collective, i, &placement);
    const uint64_t n_elem = collective == CCL_BARRIER      ? 1 /* it has no tensor */
                            : collective == CCL_ALL_GATHER ? shard / ranks
                                                           : shard;
    const struct ccl_call call = {.hw = &expected.hw,
                                  .ccl = &expected.ccl,
                                  .collective = collective,
                                  .world_size = ranks,
                                  .root = bench_root(config, collective),
                                  .n_elem = n_elem > 0 ? n_elem : 1,
                                  .dtype = (enum lp_dtype)options->dtype,
                                  .math = LP_MATH_SUM};
    bench_expect_call(options, &call, &expected.ccl);
    int code = dist_check_call(&expected, &call, error);
    if (code == CW_OK)
        code = dist_check_blocks(collective, shard, ranks, error);
    struct fold_found found = {.schedule = NULL};
    const bool is_large = config->hw.sip_count > HW_UNFOLDED_SIPS_MAX;
    if (code == CW_OK && is_large)
        code = check_fold(&expected, options, &call, &found, error);
    if (code == CW_OK)
        code = dist_rehearse(&expected, &call, is_large ? &found.fold : NULL, &choice, error);
    if (code != CW_OK || choice.why[0] == '\0')
        return code;
    fprintf(choices->text, "# %s takes %s", config->ccl.algorithm, choice.name);
    if (placement.mapper != NULL)
        fprintf(choices->text, " on %s (%s)", placement.mapper, placement.why);
    fprintf(choices->text, ": %s\n", choice.why);
    struct bench_choice *const taken = &choices->taken[choices->count++];
    *taken = (struct bench_choice){
        .placement = placement.mapper,
        .bytes = (options->size_count > 0 ? options->n_elem[i] : config->ccl.n_elem) *
                 (uint64_t)dtype_bytes(options->dtype)};
    snprintf(taken->algorithm, sizeof taken->algorithm, "%s", choice.name);
    bench_keep_left_out(taken, choice.why);
    return code;
}

/* The collective that a bench calls, if an option names one, which its algorithm must do then; else
 * the algorithm's own. */
static int check_collective(const struct config *config, const struct run_options *options,
                            enum ccl_collective *collective, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, error);
    if (algorithm == NULL)
        return dist_refuse(config, "defaults.module", error);
    *collective = algorithm->collective;
    const enum ccl_collective does = bench_collective(options->bench);
    if (!options->is_bench_named || does == CCL_COLLECTIVES)
        return CW_OK;
    *collective = does;
    return bench_algorithm_fits(config, does, options->bench, error);
}

/* All sizes. One that cannot run is reported, and is an error if no other can, as in a run. */
static int check_algorithm(const struct config *config, const struct run_options *options,
                           struct check_choices *choices, struct cw_error *error)
{
    enum ccl_collective collective = CCL_COLLECTIVES;
    if (options->is_bench_named && (run_options_check(options, &config->hw, error) != CW_OK ||
                                    bench_check(options, config, error) != CW_OK))
        return error->exit_code;
    if (options->is_bench_named && bench_collective(options->bench) == CCL_COLLECTIVES)
        return check_unfolded(config, options, error); /* it runs no algorithm */
    if (check_collective(config, options, &collective, error) != CW_OK)
        return error->exit_code;
    if (options->size_count == 0)
        return check_size(config, options, collective, 0, choices, error);
    size_t refused = 0;
    for (size_t i = 0; i < options->size_count; i++) {
        struct cw_error own = {.exit_code = CW_OK};
        if (options->n_elem[i] == 0 ||
            check_size(config, options, collective, i, choices, &own) == CW_OK)
            continue;
        if (refused++ == 0)
            *error = own;
        fprintf(stderr, "%" PRIu64 " bytes would not run: %s\n",
                options->n_elem[i] * (uint64_t)dtype_bytes(options->dtype), own.text);
    }
    if (refused == options->size_count)
        return error->exit_code;
    error->exit_code = CW_OK;
    return CW_OK;
}

/* The events, the memory and the time of a run, so that nobody unknowingly starts a run that takes
 * hours, or more memory than the machine has. */
static void print_estimate(const struct run_options *options, const struct config *config)
{
    const struct study_estimate estimate = study_estimate_run(options, config);
    const double machine = (double)host_limits_memory_bytes();
    const size_t sizes = options->size_count > 0 ? options->size_count : 1;
    char events[ESTIMATE_TEXT_BYTES], bytes[ESTIMATE_TEXT_BYTES], seconds[ESTIMATE_TEXT_BYTES],
        has[ESTIMATE_TEXT_BYTES];
    printf("# estimate of a run of %zu size%s, %s tensor data, on one core: %s events, %s of "
           "memory, %s\n",
           sizes, sizes == 1 ? "" : "s", options->no_data ? "without" : "with",
           estimate_number_text(estimate.events, events),
           estimate_bytes_text((double)estimate.bytes, bytes),
           estimate_seconds_text(estimate.seconds, seconds));
    if (options->rest[0] != '\0')
        printf("# %s\n", options->rest);
    if ((double)estimate.bytes > machine)
        printf("# that is more memory than the %s that this process may use%s\n",
               estimate_bytes_text(machine, has),
               options->no_data ? "" : "; --no-data simulates without tensor data");
}

int check_main(int argc, char **argv)
{
    struct run_options options;
    struct config *config;
    struct cw_error error = {.exit_code = CW_OK};
    const int result = cli_begin(&options, COMMAND_CHECK, argc, argv, &config);
    if (config == NULL)
        return result;
    char *text = NULL;
    size_t bytes;
    struct check_choices choices = {.text = text_stream_open(&text, &bytes)};
    int code = choices.text != NULL ? check_algorithm(config, &options, &choices, &error) : CW_OK;
    if (choices.text == NULL || fclose(choices.text) != 0)
        code = cw_error_memory(&error, "the choices of a run");
    if (code == CW_OK) {
        printf("ok, configuration %s\n", config->digest);
        if (choices.count > 0) {
            printf("# %s takes", config->ccl.algorithm);
            bench_print_choices(stdout, choices.taken, choices.count, options.sizes_per_rank);
        }
        fputs(text, stdout);
        print_estimate(&options, config);
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    free(text);
    config_free(config);
    return cli_end("check", code);
}
