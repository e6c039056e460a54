/*
 * cmd_perf.c: the command `cubewarp perf`: chooses the part, and reads the values that only its
 * parts have. The parts themselves are in cmd_perf_run.c, cmd_perf_compare.c
 * and cmd_perf_trend.c.
 */
#include "bench/cli/cmd_perf.h"

#include <stdio.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/cli/cmd_perf_compare.h"
#include "bench/cli/cmd_perf_run.h"
#include "bench/options/options.h"
#include "bench/options/options_perf.h"
#include "bench/options/options_table.h"
#include "bench/cli/cmd_perf_trend.h"
#include "collectives/config/input/text.h"
#include "perf/sets.h"

static const struct {
    enum command command;
    int (*main)(const struct perf_options *options, struct cw_error *error);
} parts[] = {
    {COMMAND_PERF_RUN, perf_run_main},
    {COMMAND_PERF_COMPARE, perf_compare_main},
    {COMMAND_PERF_TREND, perf_trend_main},
};
#define PARTS (sizeof parts / sizeof *parts)

/* ---- the command ---------------------------------------------------------------------------- */

/* given: the word that names no part; NULL: there is none. */
static int refuse_part(const char *given)
{
    struct cw_error error;
    char quoted[TEXT_QUOTE_BYTES];
    if (given == NULL)
        cw_error_set(&error, CW_USAGE, "a part is missing: run, compare or trend");
    else
        cw_error_set(&error, CW_USAGE, "perf has no part %s; there are run, compare and trend",
                     text_quote(given, strlen(given), quoted));
    cli_fail("perf", &error);
    cli_hint("perf");
    return CW_USAGE;
}

int perf_main(int argc, char **argv)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct perf_options perf = {.set = perf_set_name(0), .rounds = 5, .repeats = 2, .last = 60};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return options_print_help(COMMAND_PERF), cli_end("perf", CW_OK);
    const char *name = NULL;
    size_t part = 0;
    for (; part < PARTS && argc > 1; part++) {
        name = command_row_of(parts[part].command)->name;
        if (strcmp(argv[1], name + strlen("perf ")) == 0)
            break;
    }
    if (argc < 2 || part == PARTS)
        return refuse_part(argc > 1 ? argv[1] : NULL);
    struct option_parse parse = {.command = parts[part].command, .values = &perf};
    int result;
    if (!cli_read(&parse, argc - 1, argv + 1, &result))
        return result;
    result = parts[part].main(&perf, &error);
    if (error.exit_code != CW_OK)
        cli_fail(name, &error);
    if (result == CW_USAGE)
        cli_hint(name);
    return cli_end(name, result);
}
