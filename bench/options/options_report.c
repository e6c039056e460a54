/*
 * options_report.c: see options_report.h.
 */
#include "bench/options/options_report.h"

#include <string.h>

int report_options_argument(struct options *options, int count, char **rest, struct cw_error *error)
{
    struct report_options *const report = options->values;
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

int report_options_finish(struct options *options, struct cw_error *error)
{
    struct report_options *const report = options->values;
    const char *const outputs[] = {report->html, report->csv, report->markdown};
    int to_stdout = 0;
    if (report->path_count == 0)
        return cw_error_set(error, CW_USAGE,
                            "name results: JSON of run, databases of sweep, engine logs, histories "
                            "of perf");
    if (report->html == NULL && report->csv == NULL && report->markdown == NULL &&
        report->plots == NULL)
        report->html = "report.html";
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        to_stdout += outputs[i] != NULL && strcmp(outputs[i], "-") == 0;
    if (to_stdout > 1)
        return cw_error_set(error, CW_USAGE, "only one output goes to standard output");
    return CW_OK;
}
