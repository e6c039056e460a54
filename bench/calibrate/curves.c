/*
 * curves.c: reads the measured tables of a study's points (curves.h).
 */
#include "bench/calibrate/curves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/calibrate/line_settings.h"
#include "bench/programs/bench.h"
#include "collectives/runtime/dist_world.h"

enum { SIZES_MAX = 4096 };

/* What the settings of a curve ask for. */
struct asked {
    struct run_options *run;
    struct config *config;
    struct study_settings settings;
};

/* Whether a study that names sizes names this one. */
static bool is_asked(const struct run_options *run, uint64_t bytes)
{
    const uint64_t element = dtype_bytes(run->dtype);
    for (size_t i = 0; i < run->size_count; i++)
        if (run->n_elem[i] * element == bytes)
            return true;
    return run->size_count == 0;
}

static int add_row(struct curves *curves, const struct curve_row *row, struct cw_error *error)
{
    struct curve_row *const more =
        realloc(curves->rows, (curves->row_count + 1) * sizeof *curves->rows);
    if (more == NULL)
        return cw_error_memory(error, "the rows of the tables");
    curves->rows = more;
    more[curves->row_count++] = *row;
    return CW_OK;
}

static int add_rows(struct curves *curves, uint32_t index, const struct run_options *run,
                    struct cw_error *error)
{
    static uint64_t sizes[SIZES_MAX];
    struct curve *const curve = &curves->list[index];
    const size_t count = measured_sizes(curve->measured, curve->ranks, sizes, SIZES_MAX);
    int code = CW_OK;
    curve->first = curves->row_count;
    for (size_t i = 0; i < count && code == CW_OK; i++)
        if (is_asked(run, sizes[i]))
            code = add_row(curves,
                           &(struct curve_row){.curve = index,
                                               .bytes = sizes[i],
                                               .measured_ps = measured_time_ps(
                                                   curve->measured, sizes[i], curve->ranks)},
                           error);
    curve->count = curves->row_count - curve->first;
    if (code == CW_OK && curve->count == 0)
        code = cw_error_set(error, CW_USAGE,
                            "%s: no measured size above 0 bytes that the study asks for",
                            curve->label);
    return code;
}

static int read_curve(struct curves *curves, uint32_t index, struct asked *asked,
                      struct cw_error *error)
{
    struct curve *const curve = &curves->list[index];
    int code = line_settings_load(&asked->settings, asked->run, &asked->config, error);
    if (code != CW_OK)
        return code;
    const enum ccl_collective does = bench_collective(asked->run->bench);
    if (does == CCL_COLLECTIVES)
        return cw_error_set(error, CW_USAGE,
                            "%s: bench %s does no collective; calibrate compares times of "
                            "collectives",
                            curve->label, asked->run->bench);
    if (asked->run->measured == NULL)
        return cw_error_set(error, CW_USAGE,
                            "%s: it names no table of measured times; expected measured: FILE in "
                            "base or in an axis",
                            curve->label);
    const struct measured_wish wish = measured_wish(asked->run, does);
    code = measured_read(asked->run->measured, &wish, &curve->measured, error);
    if (code != CW_OK)
        return code;
    measured_say(curve->measured, stderr);
    curve->ranks = dist_world_size_for(asked->config);
    return add_rows(curves, index, asked->run, error);
}

static void keep_settings(struct curve *curve, const struct study_settings *all)
{
    curve->settings =
        (struct study_settings){.list = calloc(all->count + 1, sizeof *curve->settings.list)};
    for (uint32_t i = 0; i < all->count && curve->settings.list != NULL; i++)
        if (!study_is_size(all->list[i].name))
            curve->settings.list[curve->settings.count++] = all->list[i];
}

/* A point's label, but of tables on a command line the file alone. The caller's; NULL: no memory.
 */
static char *label_of(const struct study *study, uint32_t point)
{
    const uint32_t first = study->axis_count == 1 ? study->points[point].at[0] : 0;
    if (study->axis_count == 1)
        return strdup(study->axes[0].values[first].text);
    return study_label(study, point);
}

static int read_point(struct curves *curves, uint32_t index, struct cw_error *error)
{
    const struct study *const study = curves->study;
    struct curve *const curve = &curves->list[index];
    struct asked asked = {.run = malloc(sizeof *asked.run),
                          .settings = study_settings_of(study, index)};
    curve->label = label_of(study, index);
    int code = CW_OK;
    if (asked.run == NULL || asked.settings.list == NULL || curve->label == NULL)
        code = cw_error_memory(error, "the curves");
    if (code == CW_OK)
        keep_settings(curve, &asked.settings);
    if (code == CW_OK && curve->settings.list == NULL)
        code = cw_error_memory(error, "the curves");
    if (code == CW_OK)
        code = read_curve(curves, index, &asked, error);
    config_free(asked.config);
    free(asked.settings.list);
    free(asked.run);
    return code;
}

int curves_read(const struct study *study, struct curves *curves, struct cw_error *error)
{
    *curves =
        (struct curves){.study = study, .list = calloc(study->point_count, sizeof *curves->list)};
    int code = curves->list != NULL ? CW_OK : cw_error_memory(error, "the curves");
    for (uint32_t i = 0; i < study->point_count && code == CW_OK; i++, curves->count++)
        code = read_point(curves, i, error);
    return code;
}

void curves_free(struct curves *curves)
{
    for (uint32_t i = 0; curves->list != NULL && i < curves->study->point_count; i++) {
        free(curves->list[i].label);
        free(curves->list[i].settings.list);
        measured_free(curves->list[i].measured);
    }
    free(curves->list);
    free(curves->rows);
    *curves = (struct curves){0};
}
