/*
 * cmd_check.c: `cubewarp check`: every error of a configuration, or that there is none.
 */
#include <stdio.h>

#include "bench/cli.h"

int check_main(int argc, char **argv)
{
    struct run_options options;
    struct config *config;
    const int result = cli_begin(&options, COMMAND_CHECK, argc, argv, &config);
    if (config == NULL)
        return result;
    printf("ok, configuration %s\n", config->digest);
    config_free(config);
    return cli_end("check", CW_OK);
}
