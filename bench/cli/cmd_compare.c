/*
 * cmd_compare.c: `cubewarp compare A B`: two results of `run`, or the databases of two sweeps, side
 * by side; exit code 1 if they differ by more than the tolerance.
 */
#include "bench/cli/cmd_compare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/cli.h"
#include "bench/options/options_compare.h"
#include "bench/result/compare_report.h"
#include "bench/study/study_compare.h"
#include "bench/study/study_file.h"

static int compare_read(const struct compare_options *options, const struct result_document *a,
                        const struct result_document *b, struct cw_error *error)
{
    struct comparison_of_documents comparison;
    int code = result_document_check(a, error);
    if (code == CW_OK)
        code = result_document_check(b, error);
    if (code == CW_OK)
        code = compare_documents(a, b, options->tolerance_percent, &comparison, error);
    if (code != CW_OK)
        return code;
    code =
        compare_report(stdout, (enum comparison_format)options->format, a, b, &comparison, error);
    if (code == CW_OK && comparison.differing > 0)
        code = CW_DATA_WRONG;
    comparison_of_documents_free(&comparison);
    return code;
}

static int compare_results(const struct compare_options *options, struct cw_error *error)
{
    struct result_document a = {.json = NULL}, b = {.json = NULL};
    int code = result_document_read(options->paths[0], &a, error);
    if (code == CW_OK)
        code = result_document_read(options->paths[1], &b, error);
    if (code == CW_OK)
        code = compare_read(options, &a, &b, error);
    result_document_free(&a);
    result_document_free(&b);
    return code;
}

int compare_main(int argc, char **argv)
{
    struct compare_options compare = {.tolerance_percent = 0};
    struct option_parse parse = {.command = COMMAND_COMPARE, .values = &compare};
    struct cw_error error = {.exit_code = CW_OK};
    int code;
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    const bool is_study_a = study_file_is_database(compare.paths[0]);
    const bool is_study_b = study_file_is_database(compare.paths[1]);
    if (is_study_a && is_study_b)
        code = study_compare(stdout, (enum comparison_format)compare.format, compare.paths[0],
                             compare.paths[1], compare.tolerance_percent, &error);
    else if ((is_study_a || is_study_b) && access(compare.paths[is_study_a], R_OK) != 0)
        code = cw_error_set(&error, CW_USAGE, "%.300s: cannot open: %s", compare.paths[is_study_a],
                            strerror(errno));
    else if (is_study_a || is_study_b)
        code = cw_error_set(&error, CW_USAGE,
                            "%.300s is a database, %.300s is none; expected two results of run "
                            "--json, or two databases of sweep",
                            compare.paths[is_study_b], compare.paths[is_study_a]);
    else
        code = compare_results(&compare, &error);
    return cli_end_with("compare", code, &error);
}
