/*
 * fitted_preset.c: loads the configuration that all curves share, with the fitted values, and
 * prints it whole, as `cubewarp config` does (fitted_preset.h).
 */
#include "bench/calibrate/fitted_preset.h"

#include <stdlib.h>
#include <string.h>

#include "bench/calibrate/line_settings.h"
#include "bench/calibrate/row_errors.h"
#include "bench/output/atomic_file.h"
#include "collectives/config/config_print.h"

static bool is_same(const struct study_setting *a, const struct study_setting *b)
{
    const bool has_both = a->argument != NULL && b->argument != NULL;
    return strcmp(a->name, b->name) == 0 && a->is_off == b->is_off &&
           (has_both ? strcmp(a->argument, b->argument) == 0 : a->argument == b->argument);
}

static bool has(const struct study_settings *settings, const struct study_setting *wanted)
{
    for (uint32_t i = 0; i < settings->count; i++)
        if (is_same(&settings->list[i], wanted))
            return true;
    return false;
}

/* The settings that all curves have. The caller frees the list; NULL: no memory. */
static struct study_settings common_settings(const struct fit *fit)
{
    const struct study_settings *const first = &fit->curves.list[0].settings;
    struct study_settings common = {
        .list = calloc(first->count + fit->parameters.count + 1, sizeof *common.list)};
    for (uint32_t i = 0; i < first->count && common.list != NULL; i++) {
        bool is_common = strncmp(first->list[i].name, "measured", strlen("measured")) != 0;
        for (uint32_t c = 1; c < fit->curves.count && is_common; c++)
            is_common = has(&fit->curves.list[c].settings, &first->list[i]);
        if (is_common)
            common.list[common.count++] = first->list[i];
    }
    return common;
}

static int load(const struct fit *fit, struct config **config, struct cw_error *error)
{
    static char set[] = "--set";
    char texts[PARAMETERS_MAX][PARAMETER_TEXT_BYTES];
    struct run_options *const run = malloc(sizeof *run);
    struct study_settings settings = common_settings(fit);
    int code = CW_OK;
    if (run == NULL || settings.list == NULL)
        code = cw_error_memory(error, "the preset");
    for (uint32_t i = 0; i < fit->parameters.count && code == CW_OK; i++) {
        parameter_text(&fit->parameters, i, &fit->best, texts[i]);
        line_settings_add(&settings, "set", set, texts[i]);
    }
    if (code == CW_OK)
        code = line_settings_load(&settings, run, config, error);
    free(settings.list);
    free(run);
    return code;
}

static void write_comment(FILE *file, const struct fit *fit, const char *line)
{
    const struct row_errors after =
        row_errors_of(&fit->curves, fit->after, 0, fit->curves.row_count, ROW_JUDGED);
    char text[PARAMETER_TEXT_BYTES];
    fprintf(file, "# Fitted by: %s\n# To %u rows:", line, after.rows);
    for (uint32_t c = 0; c < fit->curves.count; c++)
        fprintf(file, "%s %s", c > 0 ? ";" : "", fit->curves.list[c].label);
    fprintf(file, "\n# Their errors: median %.2f %%, largest %.2f %%. Fitted values:\n",
            100 * after.median, 100 * after.largest);
    for (uint32_t i = 0; i < fit->parameters.count; i++)
        fprintf(file, "#   %s\n", parameter_text(&fit->parameters, i, &fit->best, text));
}

int fitted_preset_write(const char *path, const struct fit *fit, const char *line,
                        struct cw_error *error)
{
    struct config *config = NULL;
    struct atomic_file file = {0};
    int code = load(fit, &config, error);
    if (code == CW_OK)
        code = atomic_file_open(&file, path, error);
    if (code == CW_OK) {
        write_comment(file.stream, fit, line);
        if (config_print(file.stream, config, false) != CW_OK)
            code = cw_error_memory(error, "the preset");
    }
    if (code == CW_OK)
        code = atomic_file_commit(&file, error);
    else
        atomic_file_discard(&file);
    config_free(config);
    return code;
}
