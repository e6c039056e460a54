/*
 * cmd_calibrate.c: `cubewarp calibrate`: the study, or the tables as one; the fit; its report and
 * its preset.
 */
#include "bench/cli/cmd_calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/calibrate/fit.h"
#include "bench/calibrate/fit_report.h"
#include "bench/calibrate/fitted_preset.h"
#include "bench/cli/cli.h"
#include "bench/options/options_calibrate.h"
#include "bench/output/progress.h"
#include "bench/study/study_line.h"
#include "bench/study/study_read.h"
#include "core/os/host_limits.h"
#include "core/os/text_stream.h"

static int read_study(const struct calibrate_options *options, struct study **study,
                      struct config_errors *errors)
{
    if (options->study != NULL)
        return study_read(options->study, study, errors);
    const struct study_line_option all[] = {{"preset", options->preset},
                                            {"algorithm", options->algorithm},
                                            {"dtype", options->dtype},
                                            {"measured-place", options->place}};
    struct study_line_option given[sizeof all / sizeof *all];
    struct study_line line = {.measured = options->tables,
                              .measured_count = options->table_count,
                              .options = given,
                              .sets = options->sets,
                              .set_count = options->set_count,
                              .fit = options->fit};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value != NULL)
            given[line.option_count++] = all[i];
    return study_of_line(&line, study, errors);
}

/* "search: 120 points, sum of squares 0.52" */
static void show(void *arg, const char *phase, uint32_t evaluations, double squares)
{
    (void)arg;
    fprintf(stderr, "\r%s: %u points, sum of squares %.6g\033[K", phase, evaluations, squares);
}

/* The line as a shell takes it; the caller's. NULL: no memory. */
static char *line_of(int argc, char **argv)
{
    char *text = NULL;
    size_t bytes;
    FILE *const stream = text_stream_open(&text, &bytes);
    if (stream == NULL)
        return NULL;
    fputs("cubewarp", stream);
    for (int i = 0; i < argc; i++) {
        fputc(' ', stream);
        study_put_word(stream, argv[i]);
    }
    return fclose(stream) == 0 ? text : NULL;
}

static int write_preset(const struct calibrate_options *options, const struct fit *fit, int argc,
                        char **argv, struct cw_error *error)
{
    if (options->output == NULL)
        return CW_OK;
    char *const line = line_of(argc, argv);
    const int code = line != NULL ? fitted_preset_write(options->output, fit, line, error)
                                  : cw_error_memory(error, "the preset");
    free(line);
    if (code == CW_OK)
        printf("# preset: %s\n", options->output);
    return code;
}

static int calibrate(const struct calibrate_options *options, const struct study *study, int argc,
                     char **argv, struct cw_error *error)
{
    const bool is_shown = !options->quiet && isatty(STDERR_FILENO);
    const struct fit_setup setup = {.jobs = options->jobs > 0 ? options->jobs : host_limits_cores(),
                                    .starts = options->starts,
                                    .seed = options->seed,
                                    .limit_s = options->limit_s,
                                    .progress = is_shown ? show : NULL};
    struct nlopt_library library;
    struct fit fit;
    int code = nlopt_library_open(&library, error);
    if (code != CW_OK)
        return code;
    code = fit_prepare(&fit, study, &setup, error);
    if (code == CW_OK)
        code = fit_search(&fit, &library, error);
    if (code == CW_OK)
        code = fit_examine(&fit, &library, error);
    if (is_shown)
        progress_clear();
    if (code == CW_OK) {
        fit_report(stdout, &fit);
        code = write_preset(options, &fit, argc, argv, error);
    }
    fit_free(&fit);
    nlopt_library_close(&library);
    return code;
}

int calibrate_main(int argc, char **argv)
{
    struct calibrate_options options;
    struct option_parse parse = {.command = COMMAND_CALIBRATE, .values = &options};
    struct cw_error error = {.exit_code = CW_OK};
    struct config_errors errors = {0};
    struct study *study;
    int code;
    calibrate_options_defaults(&options);
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    code = read_study(&options, &study, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    if (code == CW_NO_RESOURCE)
        fputs("cubewarp calibrate: out of memory while reading the study\n", stderr);
    if (code != CW_OK)
        return code;
    code = calibrate(&options, study, argc, argv, &error);
    study_free(study);
    code = cli_end("calibrate", code);
    return error.exit_code != CW_OK ? cli_fail("calibrate", &error) : code;
}
