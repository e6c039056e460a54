/*
 * effects.c: groups rows into curves over one axis, and measures how much their times change.
 */
#include "bench/survey/effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/survey/say.h"
#include "bench/survey/survey_series.h"

/* A row's place on its curve. */
struct curve_row {
    uint32_t group;
    double x, time;
    const struct survey_row *row;
};

static int compare_curve_rows(const void *a, const void *b)
{
    const struct curve_row *const p = a, *const q = b;
    if (p->group != q->group)
        return p->group < q->group ? -1 : 1;
    return p->x < q->x ? -1 : p->x > q->x;
}

bool effect_concerns(const struct survey *survey, size_t index)
{
    const struct survey_axis *const axis = &survey->axes[index];
    return axis->varies && axis->is_numeric && axis->count > 1 && axis->kind <= AXIS_CHANGED &&
           (axis->is_series || (int)index == survey->x);
}

/* Fills `rows` with the rows that ran, curve by curve. Returns how many. */
static size_t gather(struct survey *survey, size_t axis, struct curve_row *rows, uint32_t *groups)
{
    bool by[SURVEY_AXES_MAX] = {false};
    size_t count = 0;
    for (size_t i = 0; i < survey->axis_count; i++)
        by[i] = i != axis && (survey->axes[i].is_series || (int)i == survey->x ||
                              (survey->axes[i].kind == AXIS_SIZE && survey->axes[i].varies));
    survey_group_rows(survey, by, groups);
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        const struct survey_value *const value = survey_value_of(survey, row->axis, axis);
        if (row->series != UINT32_MAX && value != NULL && row->figure[FIGURE_TIME] > 0)
            rows[count++] =
                (struct curve_row){groups[i], value->number, row->figure[FIGURE_TIME], row};
    }
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_curve_rows);
    return count;
}

/* The value from which on a curve is flat to its end. */
static double flat_from(const struct curve_row *curve, size_t count)
{
    double least = curve[count - 1].time, most = least;
    size_t i = count - 1;
    while (i > 0) {
        least = fmin(least, curve[i - 1].time);
        most = fmax(most, curve[i - 1].time);
        if (most > EFFECT_FLAT * least)
            break;
        i--;
    }
    return curve[i].x;
}

/* 1: a greater value is a faster part; -1: a slower one; 0: neither. */
static int faster_direction(const struct survey_axis *axis)
{
    const char *const unit = say_axis_unit(axis);
    if (strcmp(unit, "GB/s") == 0 || strcmp(unit, "GHz") == 0)
        return 1;
    return strcmp(unit, "ns") == 0 || strcmp(unit, "mm") == 0 ? -1 : 0;
}

/* Looks for a part that became faster while the call became slower. */
static void look_for_slower(struct effect *effect, int direction, const struct curve_row *curve,
                            size_t count)
{
    bool slowed = false;
    for (size_t i = 0; i < count && direction != 0; i++)
        for (size_t j = 0; j < count; j++) {
            const double ratio = curve[j].time / curve[i].time;
            if (direction * (curve[j].x - curve[i].x) <= 0 || ratio <= EFFECT_FLAT)
                continue;
            slowed = true;
            if (ratio <= effect->slower)
                continue;
            effect->slower = ratio;
            effect->slower_from = curve[i].x;
            effect->slower_to = curve[j].x;
            effect->slower_of = curve[j].row;
        }
    effect->slowed += slowed;
}

static void take_curve(struct effect *effect, const struct curve_row *curve, size_t count)
{
    double shortest = INFINITY, longest = 0;
    for (size_t i = 0; i < count; i++) {
        shortest = fmin(shortest, curve[i].time);
        longest = fmax(longest, curve[i].time);
    }
    if (curve[0].x == curve[count - 1].x)
        return;
    const double gain = curve[0].time / curve[count - 1].time;
    const bool is_first = effect->curves++ == 0;
    effect->flat += longest <= EFFECT_FLAT * shortest;
    if (is_first || fabs(log(gain)) > fmax(fabs(log(effect->most)), fabs(log(effect->least))))
        effect->of = curve[count - 1].row;
    effect->least = is_first ? gain : fmin(effect->least, gain);
    effect->most = is_first ? gain : fmax(effect->most, gain);
    const double from = flat_from(curve, count);
    effect->flat_from = is_first ? from : fmax(effect->flat_from, from);
}

bool effect_of(struct survey *survey, size_t axis, struct effect *effect)
{
    const struct survey_axis *const values = &survey->axes[axis];
    struct curve_row *const rows = calloc(survey->row_count + 1, sizeof *rows);
    uint32_t *const groups = calloc(survey->row_count + 1, sizeof *groups);
    *effect = (struct effect){.axis = axis, .flat_from = NAN};
    if (rows == NULL || groups == NULL) {
        survey->no_memory = true;
    } else {
        const size_t count = gather(survey, axis, rows, groups);
        for (size_t from = 0, to; from < count; from = to) {
            for (to = from + 1; to < count && rows[to].group == rows[from].group;)
                to++;
            take_curve(effect, &rows[from], to - from);
            look_for_slower(effect, faster_direction(values), &rows[from], to - from);
        }
        effect->first = values->values[0].number;
        effect->last = values->values[values->count - 1].number;
        if (!(effect->flat_from < effect->last && effect->flat_from > effect->first))
            effect->flat_from = NAN; /* flat everywhere, or nowhere */
    }
    free(rows);
    free(groups);
    return effect->curves > 0;
}
