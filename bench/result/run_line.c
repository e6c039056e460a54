/*
 * run_line.c: see run_line.h.
 */
#include "bench/result/run_line.h"

#include "bench/programs/bench.h"

int run_line_configure(struct run_options *run, bool bench_given, struct config **config,
                       struct config_errors *errors)
{
    int code = config_load(&run->config, config, errors);
    if (code != CW_OK)
        return code;
    if (!bench_given && (run->config.preset != NULL || ccl_is_xml((*config)->ccl.module)))
        run->bench = bench_of_config(*config, run->bench);
    const char *const algorithm = bench_algorithm_of(*config, run->bench);
    if (algorithm == NULL)
        return CW_OK;
    run->config.algorithm = algorithm; /* as if it had been named: it has queues of its own */
    config_free(*config);
    return config_load(&run->config, config, errors);
}
