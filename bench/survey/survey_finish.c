/*
 * survey_finish.c: sorts the values of axes, and finds which axes vary. Values are sorted by number
 * if all are numbers; names keep the order of the files, but numbers in them count.
 */
#include "bench/survey/survey_finish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/survey/survey_series.h"
#include "bench/survey/survey_shipped.h"

/* A value and its index before sorting. */
struct ranked_value {
    struct survey_value value;
    double number; /* the sort key */
    uint32_t was;
};

/* Digits count as numbers: "ring_2" comes before "ring_10". */
static int compare_natural(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        const size_t i = strspn(a, "0123456789"), j = strspn(b, "0123456789");
        if (i > 0 && j > 0) {
            const double x = strtod(a, NULL), y = strtod(b, NULL);
            if (x != y && i < 16 && j < 16)
                return x < y ? -1 : 1;
        }
        if (*a != *b)
            break;
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked_value *const x = a, *const y = b;
    if (x->number < y->number || x->number > y->number)
        return x->number < y->number ? -1 : 1;
    const int by_text = compare_natural(x->value.text, y->value.text);
    return by_text != 0 ? by_text : x->was < y->was ? -1 : x->was > y->was;
}

static void survey_remap(uint32_t axis[SURVEY_AXES_MAX], size_t index, const uint32_t *now)
{
    if (axis[index] > 0)
        axis[index] = now[axis[index] - 1] + 1;
}

/* Drops values that no row has: from failed points, and settings that results spell differently
 * (`half` for f16). Without rows, all values stay. */
static void survey_axis_drop(struct survey *survey, size_t index)
{
    struct survey_axis *const axis = &survey->axes[index];
    uint32_t *const now = calloc((size_t)axis->count + 1, sizeof *now); /* by index plus 1 */
    uint32_t count = 0;
    if (now == NULL)
        survey->no_memory = true;
    for (size_t i = 0; now != NULL && i < survey->row_count; i++)
        now[survey->rows[i].axis[index]] = 1;
    for (uint32_t i = 0; now != NULL && i < axis->count; i++)
        if (now[i + 1] != 0) {
            axis->values[count++] = axis->values[i];
            now[i + 1] = count;
        }
    if (now != NULL && survey->row_count > 0) {
        axis->count = count;
        now[0] = 0;
        for (size_t i = 0; i < survey->row_count; i++)
            survey->rows[i].axis[index] = now[survey->rows[i].axis[index]];
        for (size_t i = 0; i < survey->point_count; i++)
            survey->points[i].axis[index] = now[survey->points[i].axis[index]];
    }
    free(now);
}

/* Sorts an axis's values by number if all are numbers. Names keep the order of the files. */
static void survey_axis_sort(struct survey *survey, size_t index)
{
    struct survey_axis *const axis = &survey->axes[index];
    axis->is_numeric = axis->count > 0;
    for (uint32_t i = 0; i < axis->count; i++)
        axis->is_numeric = axis->is_numeric && !isnan(axis->values[i].number);
    if (axis->count < 2 || (!axis->is_numeric && axis->kind == AXIS_STUDY))
        return;
    struct ranked_value *const ranked = malloc(axis->count * sizeof *ranked);
    uint32_t *const now = malloc(axis->count * sizeof *now);
    if (ranked == NULL || now == NULL) {
        survey->no_memory = true;
    } else {
        for (uint32_t i = 0; i < axis->count; i++)
            ranked[i] = (struct ranked_value){axis->values[i],
                                              axis->is_numeric ? axis->values[i].number : 0, i};
        qsort(ranked, axis->count, sizeof *ranked, compare_ranked);
        for (uint32_t i = 0; i < axis->count; i++) {
            now[ranked[i].was] = i;
            axis->values[i] = ranked[i].value;
        }
        for (size_t i = 0; i < survey->row_count; i++)
            survey_remap(survey->rows[i].axis, index, now);
        for (size_t i = 0; i < survey->point_count; i++)
            survey_remap(survey->points[i].axis, index, now);
    }
    free(ranked);
    free(now);
}

static void survey_axis_varies(struct survey *survey, size_t index)
{
    struct survey_axis *const axis = &survey->axes[index];
    axis->of_points = true;
    for (size_t i = 1; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        axis->varies = axis->varies || row->axis[index] != survey->rows[0].axis[index];
        axis->of_points = axis->of_points &&
                          (row->point != row[-1].point || row->axis[index] == row[-1].axis[index]);
    }
}

int survey_finish(struct survey *survey, struct cw_error *error)
{
    survey_shipped_fill(survey);
    for (size_t i = 0; i < survey->axis_count; i++) {
        struct survey_axis *const axis = &survey->axes[i];
        survey_axis_drop(survey, i);
        survey_axis_sort(survey, i);
        survey_axis_varies(survey, i);
        axis->is_bytes = axis->is_numeric && (strcmp(axis->name, "bytes") == 0 ||
                                              strcmp(axis->name, "bytes_per_rank") == 0);
    }
    survey_series_find(survey);
    return survey->no_memory ? cw_error_memory(error, "the results") : CW_OK;
}
