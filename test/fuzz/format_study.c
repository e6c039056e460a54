/*
 * format_study.c: study files: whatever one says, it is refused with places, or its points have
 * labels, command lines and settings that are taken or refused together; its text read again is
 * the same study. Small ones are estimated (`sweep --dry-run`).
 */
#include <stdlib.h>
#include <string.h>

#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "bench/study/study_read.h"
#include "test/fuzz/fuzz.h"

enum { POINTS_LOOKED_AT = 12 };

static struct study *read_file(const char *path)
{
    struct config_errors errors = {0};
    struct study *study;
    const int code = study_read(path, &study, &errors);
    FUZZ_DEMAND(code == CW_OK || code == CW_USAGE);
    FUZZ_DEMAND((code == CW_OK) == (study != NULL));
    FUZZ_DEMAND((code == CW_OK) == (errors.count == 0));
    for (size_t i = 0; i < errors.count; i++)
        if (strncmp(errors.list[i].text, path, strlen(path)) != 0)
            fuzz_fail(__FILE__, __LINE__, "an error names its place", errors.list[i].text);
    config_errors_free(&errors);
    return study;
}

static void read_point(const struct study *study, uint32_t point)
{
    static struct run_options run;
    struct option_parse parse = {.command = COMMAND_RUN, .values = &run};
    struct cw_error error = {.exit_code = CW_OK};
    char *const label = study_label(study, point), *const command = study_command(study, point);
    struct study_settings settings = study_settings_of(study, point);
    FUZZ_DEMAND(label != NULL && command != NULL && settings.list != NULL);
    run_options_defaults(&run);
    fuzz_demand_error(study_settings_give(&settings, &parse, &error), &error);
    free(settings.list);
    free(command);
    free(label);
}

static void read_study(const uint8_t *data, size_t size)
{
    const char *const path = fuzz_file("study.yaml", data, size);
    struct study *const study = read_file(path);
    if (study == NULL) {
        (void)fuzz_run(FUZZ_USAGE, path, (const char *[]){"sweep", path, "--dry-run", NULL});
        return;
    }
    for (uint32_t i = 0; i < study->point_count && i < POINTS_LOOKED_AT; i++)
        read_point(study, i);
    struct study *const again =
        read_file(fuzz_file("again.yaml", study->text, strlen(study->text)));
    FUZZ_DEMAND(again != NULL && strcmp(again->digest, study->digest) == 0);
    study_free(again);
    if (study->point_count <= POINTS_LOOKED_AT)
        (void)fuzz_run(
            FUZZ_OK | FUZZ_USAGE, NULL,
            (const char *[]){"sweep", path, "--dry-run", "--db", fuzz_path("none.sqlite"), NULL});
    study_free(study);
}

const struct fuzz_format fuzz_study = {.name = "study", .once = read_study};
