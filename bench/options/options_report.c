/*
 * options_report.c: the files of `report`, and the checks of its options (options_report.h).
 */
#include "bench/options/options_report.h"

#include <string.h>

#include "bench/output/atomic_file.h"

int report_options_argument(struct option_parse *parse, int count, char **rest,
                            struct cw_error *error)
{
    struct report_options *const report = parse->values;
    (void)count;
    if (report->path_count == REPORT_FILES_MAX) {
        cw_error_set(error, CW_USAGE,
                     "more than %d files; results of many points belong into one database, as "
                     "sweep makes it",
                     REPORT_FILES_MAX);
        return 0;
    }
    report->paths[report->path_count++] = rest[0];
    return 1;
}

/* No output takes the place of a result that it is made of. */
static int check_inputs_stay(const struct report_options *report, const char *output,
                             struct cw_error *error)
{
    if (output == NULL || strcmp(output, "-") == 0)
        return CW_OK;
    for (size_t i = 0; i < report->path_count; i++)
        if (atomic_file_same(report->paths[i], output))
            return cw_error_set(error, CW_USAGE,
                                "%s is a result to report on; an output needs another file",
                                output);
    return CW_OK;
}

int report_options_finish(struct option_parse *parse, struct cw_error *error)
{
    struct report_options *const report = parse->values;
    int to_stdout = 0;
    if (report->path_count == 0)
        return cw_error_set(error, CW_USAGE,
                            "name results: JSON of run, databases of sweep, engine logs, histories "
                            "of perf");
    if (report->html == NULL && report->csv == NULL && report->markdown == NULL &&
        report->plots == NULL && report->pareto == NULL)
        report->html = "report.html";
    const char *const outputs[] = {report->html, report->csv, report->markdown, report->pareto};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        to_stdout += outputs[i] != NULL && strcmp(outputs[i], "-") == 0;
    if (to_stdout > 1)
        return cw_error_set(error, CW_USAGE, "only one output goes to standard output");
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (check_inputs_stay(report, outputs[i], error) != CW_OK)
            return error->exit_code;
    return CW_OK;
}
