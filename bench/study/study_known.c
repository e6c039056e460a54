/*
 * study_known.c: loads the configuration of one point for each value that names a preset, an
 * algorithm or a file, and reports the errors about these names. All other errors are left to the
 * points.
 */
#include "bench/study/study_known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "collectives/algorithm.h"
#include "collectives/config/config_load.h"
#include "collectives/config/input/nearest_file.h"
#include "core/cw.h"

static const char *const naming[] = {"preset",   "algorithm",  "defaults.algorithm",
                                     "topology", "components", "ccl",
                                     "data",     "measured",   "workload"};
enum { NAMING = sizeof naming / sizeof *naming };

static bool is_naming(const struct study_setting *setting)
{
    for (size_t i = 0; i < NAMING; i++)
        if (strcmp(setting->name, naming[i]) == 0)
            return true;
    return false;
}

static bool has_naming(const struct study_settings *settings)
{
    for (uint32_t i = 0; i < settings->count; i++)
        if (is_naming(&settings->list[i]))
            return true;
    return false;
}

/* The text of an error after its place, if it is about the name that this setting gives. */
static const char *error_of(const struct study_setting *setting, const char *text)
{
    static const char no_preset[] = "configuration: unknown preset ";
    static const char no_algorithm[] = ": defaults.algorithm: no algorithm ";
    const size_t bytes = setting->argument != NULL ? strlen(setting->argument) : 0;
    if (strcmp(setting->name, "preset") == 0 && strncmp(text, no_preset, strlen(no_preset)) == 0)
        return text + strlen("configuration: ");
    const char *const algorithm = strstr(text, no_algorithm);
    if (algorithm != NULL && strncmp(text, setting->option, strlen(setting->option)) == 0 &&
        strstr(setting->name, "algorithm") != NULL)
        return algorithm + strlen(": defaults.algorithm: ");
    if (bytes > 0 && strncmp(text, setting->argument, bytes) == 0 &&
        strncmp(text + bytes, ":1:1: cannot ", 13) == 0)
        return text;
    return NULL;
}

/* Whether the run itself opens the setting's file, and not the loader. */
static bool is_opened_late(const struct study_setting *setting)
{
    if (setting->argument == NULL || setting->is_off || strcmp(setting->argument, "-") == 0)
        return false;
    return strcmp(setting->name, "data") == 0 || strcmp(setting->name, "measured") == 0 ||
           strcmp(setting->name, "workload") == 0 ||
           (strcmp(setting->name, "algorithm") == 0 && ccl_is_schedule_file(setting->argument));
}

static bool is_reported(const struct config_errors *errors, struct config_place place)
{
    for (size_t i = 0; i < errors->count; i++)
        if (errors->list[i].line == place.line && errors->list[i].column == place.column)
            return true;
    return false;
}

static void take_errors(struct config_loader *loader, const struct study_settings *settings,
                        const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        for (uint32_t k = 0; k < settings->count; k++) {
            const struct study_setting *const setting = &settings->list[k];
            const char *const text =
                is_naming(setting) ? error_of(setting, errors->list[i].text) : NULL;
            if (text != NULL && !is_reported(loader->errors, setting->place))
                config_error(loader, setting->place, "%s", text);
        }
}

static void check_files(struct config_loader *loader, const struct study_settings *settings)
{
    for (uint32_t i = 0; i < settings->count; i++) {
        const struct study_setting *const setting = &settings->list[i];
        struct stat status;
        char meant[NEAREST_FILE_BYTES];
        if (!is_opened_late(setting) || is_reported(loader->errors, setting->place))
            continue;
        if (access(setting->argument, R_OK) != 0 || stat(setting->argument, &status) != 0)
            config_error(loader, setting->place, "%.512s: cannot open: %s%s", setting->argument,
                         strerror(errno), nearest_file_hint(setting->argument, NULL, meant));
        else if (S_ISDIR(status.st_mode))
            config_error(loader, setting->place, "%.512s is a folder", setting->argument);
    }
}

static void check_point(struct config_loader *loader, const struct study *study, uint32_t point)
{
    struct run_options *const run = malloc(sizeof *run);
    struct option_parse parse = {.command = COMMAND_RUN, .values = run};
    struct study_settings settings = study_settings_of(study, point);
    struct config_errors errors = {0};
    struct config *config = NULL;
    struct cw_error ignored;
    if (run != NULL && settings.list != NULL) {
        check_files(loader, &settings);
        run_options_defaults(run);
        if (study_settings_give(&settings, &parse, &ignored) == CW_OK &&
            config_load(&run->config, &config, &errors) == CW_USAGE)
            take_errors(loader, &settings, &errors);
    } else {
        loader->arena->failed = true;
    }
    config_errors_free(&errors);
    config_free(config);
    free(settings.list);
    free(run);
}

void study_check_known(struct config_loader *loader, const struct study *study)
{
    if (has_naming(&study->base))
        check_point(loader, study, 0);
    for (uint32_t a = 0; a < study->axis_count; a++)
        for (uint32_t v = 0; v < study->axes[a].count; v++) {
            if (!has_naming(&study->axes[a].values[v].settings))
                continue;
            uint32_t point = 0;
            while (point < study->point_count && study->points[point].at[a] != v)
                point++;
            if (point < study->point_count)
                check_point(loader, study, point);
        }
}
