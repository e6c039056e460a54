/*
 * cmd_report.c: `cubewarp report RESULT...`: reads all files into a survey, then writes each output
 * that was asked for.
 */
#include "bench/cli/cmd_report.h"

#include <stdio.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/options/options_report.h"
#include "bench/output/atomic_file.h"
#include "bench/report/page.h"
#include "bench/report/pareto.h"
#include "bench/report/plots.h"
#include "bench/report/sheet.h"
#include "bench/survey/survey_read.h"

typedef int (*report_writer)(FILE *out, struct survey *survey, struct cw_error *error);

static bool is_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

/* Writes one output; - is standard output, NULL is none. */
static int report_put(const char *path, report_writer write, struct survey *survey,
                      struct cw_error *error)
{
    struct atomic_file file = {0};
    if (path == NULL)
        return CW_OK;
    if (is_stdout(path))
        return write(stdout, survey, error);
    int code = atomic_file_open(&file, path, error);
    if (code != CW_OK)
        return code;
    code = write(file.stream, survey, error);
    if (code == CW_OK)
        return atomic_file_commit(&file, error);
    atomic_file_discard(&file);
    return code;
}

/* Says where the page is, if nothing else has standard output. */
static void tell_page(const struct report_options *options, const struct survey *survey)
{
    if (options->html == NULL || is_stdout(options->html) || is_stdout(options->csv) ||
        is_stdout(options->markdown) || is_stdout(options->pareto))
        return;
    printf("%s: a page for a browser", options->html);
    if (survey->point_count > 0)
        printf(", of %zu point%s with %zu row%s", survey->point_count,
               survey->point_count == 1 ? "" : "s", survey->row_count,
               survey->row_count == 1 ? "" : "s");
    putchar('\n');
}

static int report(const struct report_options *options, struct survey *survey,
                  struct cw_error *error)
{
    int code = options->plots != NULL ? plots_check(error) : CW_OK;
    if (code == CW_OK)
        code = survey_read(survey, options->paths, options->path_count, error);
    if (code == CW_OK)
        code = report_put(options->html, page_write, survey, error);
    if (code == CW_OK)
        code = report_put(options->csv, sheet_csv, survey, error);
    if (code == CW_OK)
        code = report_put(options->markdown, sheet_markdown, survey, error);
    if (code == CW_OK)
        code = report_put(options->pareto, pareto_svg, survey, error);
    if (code == CW_OK && options->plots != NULL)
        code = plots_write(options->plots, survey, error);
    if (code == CW_OK)
        tell_page(options, survey);
    return code;
}

int report_main(int argc, char **argv)
{
    struct report_options values = {.path_count = 0};
    struct option_parse parse = {.command = COMMAND_REPORT, .values = &values};
    struct cw_error error = {.exit_code = CW_OK};
    struct survey survey;
    int code;
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    survey_init(&survey);
    (void)report(&values, &survey, &error);
    survey_free(&survey);
    code = cli_end("report", error.exit_code);
    return error.exit_code != CW_OK ? cli_fail("report", &error) : code;
}
