/*
 * line_settings.c: gives settings to the reader of options, and loads the configuration that they
 * ask for (line_settings.h).
 */
#include "bench/calibrate/line_settings.h"

#include <stdlib.h>
#include <string.h>

#include "bench/options/option.h"
#include "bench/options/options_run.h"
#include "bench/result/run_line.h"
#include "bench/study/study_setting.h"

int line_settings_give(const struct study_settings *settings, struct run_options *run,
                       struct cw_error *error)
{
    struct option_parse parse = {.command = COMMAND_RUN, .values = run};
    run_options_defaults(run);
    run->quiet = true;
    return study_settings_give(settings, &parse, error);
}

int line_settings_load(const struct study_settings *settings, struct run_options *run,
                       struct config **config, struct cw_error *error)
{
    struct config_errors errors = {0};
    *config = NULL;
    int code = line_settings_give(settings, run, error);
    if (code != CW_OK)
        return code;
    code = run_line_configure(run, run->is_bench_named ? RUN_LINE_BENCH : RUN_LINE_ANY_BENCH,
                              config, &errors);
    if (code != CW_OK && errors.count > 0)
        cw_error_set(error, code, "%s", errors.list[0].text);
    else if (code != CW_OK)
        cw_error_memory(error, "the configuration");
    config_errors_free(&errors);
    return code;
}

void line_settings_add(struct study_settings *settings, const char *name, char *option,
                       char *argument)
{
    settings->list[settings->count++] = (struct study_setting){
        .name = name, .row = study_option(name), .option = option, .argument = argument};
}

bool line_settings_have(const struct study_settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->count; i++)
        if (strcmp(settings->list[i].name, name) == 0 && !settings->list[i].is_off)
            return true;
    return false;
}
