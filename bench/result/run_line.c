/*
 * run_line.c: loads the configuration of a command line, and finds its bench and algorithm
 * (run_line.h).
 */
#include "bench/result/run_line.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/options_call.h"
#include "bench/programs/bench.h"
#include "collectives/config/config_tree.h"

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

/* The configuration's calls, where no option names any. */
static int take_calls(struct run_options *run, const struct config *config,
                      struct config_errors *errors)
{
    const struct config_value *const calls = config_machine_value(config->tree, "concurrent");
    if (strcmp(run->bench, "concurrent") != 0 || run->call_count > 0 || !config_given(calls))
        return CW_OK;
    for (uint32_t i = 0; i < calls->list_count && i < RUN_CALLS_MAX; i++) {
        const struct config_node *const word = &calls->words[i];
        char text[400];
        const char *const wrong = options_parse_call(word->text, &run->calls[run->call_count]);
        if (wrong == NULL) {
            run->call_count++;
            continue;
        }
        snprintf(text, sizeof text, "concurrent: '%s': %s", word->text, wrong);
        config_error_text(errors, config->tree->sources, word->place, text);
    }
    return errors->count > 0 ? CW_USAGE : CW_OK;
}

int run_line_configure(struct run_options *run, enum run_line_bench bench, struct config **config,
                       struct config_errors *errors)
{
    int code = config_load(&run->config, config, errors);
    if (code == CW_OK)
        code = take_calls(run, *config, errors);
    if (code != CW_OK) {
        config_free(*config);
        *config = NULL;
        return code;
    }
    if (bench != RUN_LINE_BENCH &&
        (run->config.preset != NULL || ccl_is_schedule_file((*config)->ccl.module)))
        run->bench = bench_of_config(*config, run->bench);
    const char *const algorithm = algorithm_instead(run, bench, *config);
    if (algorithm == NULL)
        return CW_OK;
    run->config.instead_of = run->config.algorithm; /* `auto`, or none */
    run->config.algorithm = algorithm; /* as if it had been named: it has queues of its own */
    config_free(*config);
    return config_load(&run->config, config, errors);
}
