/*
 * cmd_check.c: `cubewarp check`: prints every error of a configuration, or that it has
 * none: those that the loader finds, then whether the chosen algorithm runs on this machine with
 * its own n_elem: hooks, mapper and validator are asked as a run asks them.
 */
#include "bench/cli/cmd_check.h"

#include <stdio.h>

#include "bench/cli/cli.h"
#include "collectives/config/config_load.h"
#include "collectives/runtime/dist_rehearsal.h"
#include "collectives/runtime/distributed.h"

static int check_algorithm(const struct config *config, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, error);
    if (algorithm == NULL)
        return error->exit_code;
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = algorithm->collective,
                                  .world_size = dist_world_size_for(config),
                                  .n_elem = config->ccl.n_elem,
                                  .dtype = LP_F16,
                                  .math = LP_MATH_SUM};
    return dist_rehearse(config, &call, error);
}

int check_main(int argc, char **argv)
{
    struct run_options options;
    struct config *config;
    struct cw_error error = {.exit_code = CW_OK};
    const int result = cli_begin(&options, COMMAND_CHECK, argc, argv, &config);
    if (config == NULL)
        return result;
    const int code = check_algorithm(config, &error);
    if (code == CW_OK)
        printf("ok, configuration %s\n", config->digest);
    else
        fprintf(stderr, "%s\n", error.text);
    config_free(config);
    return cli_end("check", code);
}
