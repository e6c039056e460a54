/*
 * cmd_workload.c: the command `cubewarp workload`: chooses the part. `new` writes the workload file
 * of a model (workload/model/write.h); `check` reads one and shows what it makes.
 */
#include "bench/cli/cmd_workload.h"

#include <stdio.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/options/options.h"
#include "bench/options/options_table.h"
#include "bench/options/options_workload.h"
#include "bench/output/atomic_file.h"
#include "bench/programs/step_workload.h"
#include "bench/output/workload_table.h"
#include "collectives/config/config_load.h"
#include "collectives/config/input/text.h"
#include "workload/model/write.h"

enum { COMMAND_LINE_BYTES = 2048 };

/* ---- new ------------------------------------------------------------------------------------- */

/* The command line without the name of the file that it writes. */
static const char *new_line(int argc, char **argv, char line[COMMAND_LINE_BYTES])
{
    int used = snprintf(line, COMMAND_LINE_BYTES, "cubewarp workload");
    for (int i = 0; i < argc && used < COMMAND_LINE_BYTES; i++) {
        if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0)
            i++;
        else if (strncmp(argv[i], "-o", 2) != 0 && strncmp(argv[i], "--output=", 9) != 0)
            used += snprintf(line + used, COMMAND_LINE_BYTES - (size_t)used, " %s", argv[i]);
    }
    return line;
}

static int new_write(const struct workload_new_options *options, const char *line,
                     struct cw_error *error)
{
    struct atomic_file file = {0};
    if (options->output == NULL || strcmp(options->output, "-") == 0) {
        model_write(stdout, &options->plan, line);
        return CW_OK;
    }
    const int code = atomic_file_open(&file, options->output, error);
    if (code != CW_OK)
        return code;
    model_write(file.stream, &options->plan, line);
    return atomic_file_commit(&file, error);
}

static int new_main(int argc, char **argv)
{
    struct workload_new_options options = {.plan = {.dtype = DTYPE_BF16,

                                                    .skew = "1",
                                                    .tp = 1,
                                                    .cp = 1,
                                                    .pp = 1,
                                                    .dp = 1,
                                                    .ep = 1}};
    struct option_parse parse = {.command = COMMAND_WORKLOAD_NEW, .values = &options};
    struct cw_error error = {.exit_code = CW_OK};
    char line[COMMAND_LINE_BYTES];
    int code;
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    code = new_write(&options, new_line(argc, argv, line), &error);
    return code != CW_OK ? cli_fail("workload new", &error) : cli_end("workload new", CW_OK);
}

/* ---- check ----------------------------------------------------------------------------------- */

/* Whether the ranks fit the machine. Errors of its configuration are printed. */
static int check_fit(const struct workload_check_options *options,
                     const struct workload_graph *graph)
{
    const struct config_request request = {
        .preset = options->preset, .sets = options->machine, .set_count = options->machine_count};
    struct config_errors errors = {0};
    struct config *config;
    const int code = config_load(&request, &config, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (code != CW_OK)
        return code;
    const struct workload_fit fit = workload_fit_of(graph, &config->hw);
    workload_fit_print(stdout, "", graph, &fit);
    config_free(config);
    return CW_OK;
}

static int check_show(const struct workload_check_options *options,
                      const struct workload_graph *graph, struct cw_error *error)
{
    struct atomic_file file = {0};
    const bool to_stdout = options->json != NULL && strcmp(options->json, "-") == 0;
    if (!to_stdout) {
        workload_table_print(stdout, graph);
        const int fits = check_fit(options, graph);
        if (fits != CW_OK)
            return cw_error_set(error, fits, "the machine's configuration is not legal");
    }
    if (options->json == NULL)
        return CW_OK;
    if (to_stdout)
        return workload_json_write(stdout, graph, error);
    int code = atomic_file_open(&file, options->json, error);
    if (code != CW_OK)
        return code;
    code = workload_json_write(file.stream, graph, error);
    if (code == CW_OK)
        return atomic_file_commit(&file, error);
    atomic_file_discard(&file);
    return code;
}

static int check_main(int argc, char **argv)
{
    struct workload_check_options options = {.path = NULL};
    struct option_parse parse = {.command = COMMAND_WORKLOAD_CHECK, .values = &options};
    struct cw_error error = {.exit_code = CW_OK};
    struct workload_graph graph;
    int code;
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    const struct workload_file_request request = {.path = options.path,
                                                  .settings = options.settings,
                                                  .setting_count = options.setting_count,
                                                  .any_machine = true};
    options.trace.notes = stderr;
    code = workload_or_trace_read(&request, &options.trace, 0, &graph, &error);
    if (code == CW_OK) {
        code = check_show(&options, &graph, &error);
        workload_graph_free(&graph);
    }
    if (code == CW_USAGE)
        fprintf(stderr, "%s\n", cw_error_text(&error));
    else if (code != CW_OK)
        return cli_fail("workload check", &error);
    return cli_end("workload check", code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    enum command command;
    int (*main)(int argc, char **argv);
} parts[] = {
    {COMMAND_WORKLOAD_NEW, new_main},
    {COMMAND_WORKLOAD_CHECK, check_main},
};
#define PARTS (sizeof parts / sizeof *parts)

/* given: the word that names no part; NULL: there is none. */
static int refuse_part(const char *given)
{
    struct cw_error error;
    char quoted[TEXT_QUOTE_BYTES];
    if (given == NULL)
        cw_error_set(&error, CW_USAGE, "a part is missing: new or check");
    else
        cw_error_set(&error, CW_USAGE, "workload has no part %s; there are new and check",
                     text_quote(given, strlen(given), quoted));
    cli_fail("workload", &error);
    cli_hint("workload");
    return CW_USAGE;
}

int workload_main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return options_print_help(COMMAND_WORKLOAD), cli_end("workload", CW_OK);
    for (size_t i = 0; i < PARTS && argc > 1; i++)
        if (strcmp(argv[1], command_row_of(parts[i].command)->name + strlen("workload ")) == 0)
            return parts[i].main(argc - 1, argv + 1);
    return refuse_part(argc > 1 ? argv[1] : NULL);
}
