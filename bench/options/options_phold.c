/*
 * options_phold.c: the defaults of `phold`, and the checks of its options (options_phold.h).
 */
#include "bench/options/options_phold.h"

#include "bench/options/options_run.h"

struct phold_command phold_command_defaults(void)
{
    struct phold_command command = {.options = phold_defaults()};
    const int64_t end_ps = command.options.engine.end_ps;
    command.options.engine = engine_options_defaults();
    command.options.engine.end_ps = end_ps;
    return command;
}

int phold_options_finish(struct option_parse *parse, struct cw_error *error)
{
    struct phold_command *const command = parse->values;
    return engine_options_finish(&command->options.engine, error);
}
