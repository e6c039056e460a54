/*
 * run_line.c: loads the configuration of a command line, and finds its bench and algorithm
 * (run_line.h).
 */
#include "bench/result/run_line.h"

#include <string.h>

#include "bench/programs/bench.h"

/* The entry that takes the place of the configured one: of `auto` the bench's automatic choice; of
 * a default that does another collective, one that has queues of its own. NULL: none. */
static const char *algorithm_instead(const struct run_options *run, enum run_line_bench bench,
                                     const struct config *config)
{
    const char *const named = run->config.algorithm;
    const bool is_auto =
        named != NULL && strcmp(named, "auto") == 0 && strcmp(config->ccl.module, "auto") == 0;
    return bench != RUN_LINE_NO_BENCH && is_auto ? bench_automatic(config, run->bench)
                                                 : bench_algorithm_of(config, run->bench);
}

int run_line_configure(struct run_options *run, enum run_line_bench bench, struct config **config,
                       struct config_errors *errors)
{
    int code = config_load(&run->config, config, errors);
    if (code != CW_OK)
        return code;
    if (bench != RUN_LINE_BENCH &&
        (run->config.preset != NULL || ccl_is_xml((*config)->ccl.module)))
        run->bench = bench_of_config(*config, run->bench);
    const char *const algorithm = algorithm_instead(run, bench, *config);
    if (algorithm == NULL)
        return CW_OK;
    run->config.instead_of = run->config.algorithm; /* `auto`, or none */
    run->config.algorithm = algorithm; /* as if it had been named: it has queues of its own */
    config_free(*config);
    return config_load(&run->config, config, errors);
}
