/*
 * survey_series.c: chooses the axis of the curves, and the rows that make a curve.
 *
 * Two rows belong to one series if they agree in all axes that name series. These axes are chosen
 * greedily, in the order of survey_rank(): an axis is chosen if it separates rows that the earlier
 * ones do not. So counts that follow from a key name nothing, and points' names are used only where
 * nothing else separates two points.
 */
#include "bench/survey/survey_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/survey/say.h"

/* Groups of rows. A group has the number of its first row. */
struct group_key {
    uint32_t group, value;
    size_t row;
};

static int compare_groups(const void *a, const void *b)
{
    const struct group_key *const x = a, *const y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Splits groups by an axis. Returns how many groups there are now. */
static size_t survey_split(const struct survey *survey, size_t axis, const uint32_t *groups,
                           struct group_key *keys, uint32_t *split)
{
    size_t count = 0;
    for (size_t i = 0; i < survey->row_count; i++)
        keys[i] = (struct group_key){groups[i], survey->rows[i].axis[axis], i};
    qsort(keys, survey->row_count, sizeof *keys, compare_groups);
    for (size_t i = 0; i < survey->row_count; i++) {
        if (i == 0 || keys[i].group != keys[i - 1].group || keys[i].value != keys[i - 1].value)
            count++;
        split[keys[i].row] = (uint32_t)(count - 1);
    }
    return count;
}

/* Whether the lines of all points gave sizes per rank. */
static bool is_asked_per_rank(const struct survey *survey)
{
    static const char option[] = "--bytes-per-rank";
    size_t asked = 0;
    for (size_t i = 0; i < survey->point_count; i++) {
        const json_t *const line = json_object_get(survey->points[i].provenance, "command_line");
        bool is_asked = false;
        for (size_t k = 0; k < json_array_size(line); k++) {
            const char *const word = json_string_value(json_array_get(line, k));
            is_asked = is_asked || (word != NULL && strncmp(word, option, sizeof option - 1) == 0);
        }
        asked += is_asked;
    }
    return asked > 0 && asked == survey->point_count;
}

/* The axis of the curves: sizes if they vary; sizes per rank where shards differ between rows, or
 * where sizes were given so, or `auto` has chosen how many there are; else the first axis of
 * numbers that varies. */
static int survey_choose_x(const struct survey *survey)
{
    const int per_rank = survey_axis_find(survey, "bytes_per_rank");
    const int shards = survey_axis_find(survey, "shards_per_rank");
    int bytes = survey_axis_find(survey, "bytes");
    if (per_rank >= 0 && shards >= 0 && survey->axes[shards].varies &&
        survey->axes[per_rank].varies && survey_axis_is_whole(survey, (size_t)per_rank))
        return per_rank;
    if (per_rank >= 0 && survey_axis_is_whole(survey, (size_t)per_rank) &&
        (is_asked_per_rank(survey) || survey_axis_find(survey, "placement") >= 0))
        bytes = per_rank;
    if (bytes >= 0 && survey->axes[bytes].varies)
        return bytes;
    int partial = -1; /* some rows have no value on it, and would be on no curve */
    for (int kind = AXIS_STUDY; kind < AXIS_SOURCE; kind++)
        for (size_t i = 0; i < survey->axis_count; i++)
            if ((int)survey->axes[i].kind == kind && survey->axes[i].varies &&
                survey->axes[i].is_numeric) {
                if (survey_axis_is_whole(survey, i))
                    return (int)i;
                partial = partial < 0 ? (int)i : partial;
            }
    return partial >= 0 ? partial : bytes;
}

enum { RANK_X = AXIS_SIZE, RANK_LAST = RANK_X + AXIS_SOURCE + 1 };

/* Whether an axis says what came of a run: the schedule and the placement that `auto` has chosen,
 * and the shards of a rank. It differs along a curve, and names none. */
static bool is_outcome(const struct survey_axis *axis)
{
    return strcmp(axis->name, "schedule") == 0 || strcmp(axis->name, "placement") == 0 ||
           strcmp(axis->name, "shards_per_rank") == 0;
}

/* The order in which axes are tried: axes of whole points; then x; then axes of rows, and counts
 * that may follow from an x that is not a size; finally the points' own names. */
static int survey_rank(const struct survey *survey, size_t index)
{
    const struct survey_axis *const axis = &survey->axes[index];
    if ((int)index == survey->x)
        return RANK_X;
    if (axis->kind == AXIS_SOURCE)
        return RANK_LAST;
    const bool follows =
        (axis->kind == AXIS_MACHINE && survey->x >= 0 && survey->axes[survey->x].kind != AXIS_SIZE);
    if (axis->kind == AXIS_SIZE || !axis->of_points || follows)
        return RANK_X + 1 + (int)axis->kind;
    return (int)axis->kind;
}

static void survey_choose_series(struct survey *survey)
{
    const size_t rows = survey->row_count;
    uint32_t *groups = calloc(rows + 1, sizeof *groups);
    uint32_t *split = calloc(rows + 1, sizeof *split);
    struct group_key *const keys = calloc(rows + 1, sizeof *keys);
    if (groups == NULL || split == NULL || keys == NULL) {
        survey->no_memory = true;
    } else {
        size_t count = 1;
        for (int rank = 0; rank <= RANK_LAST; rank++)
            for (size_t i = 0; i < survey->axis_count; i++) {
                struct survey_axis *const axis = &survey->axes[i];
                if (!axis->varies || is_outcome(axis) || survey_rank(survey, i) != rank)
                    continue;
                const size_t now = survey_split(survey, i, groups, keys, split);
                if (now == count)
                    continue;
                /* sizes in another unit name no series */
                axis->is_series = (int)i != survey->x && axis->kind != AXIS_SIZE;
                count = now;
                uint32_t *const swap = groups;
                groups = split;
                split = swap;
            }
    }
    free(groups);
    free(split);
    free(keys);
}

const char *survey_row_name(struct survey *survey, const struct survey_row *row,
                            const bool by[SURVEY_AXES_MAX])
{
    const char *name = "";
    for (size_t i = 0; i < survey->axis_count && name != NULL; i++) {
        const struct survey_axis *const axis = &survey->axes[i];
        const struct survey_value *const value = survey_value_of(survey, row->axis, i);
        if (!by[i] || (value == NULL && axis->kind != AXIS_CHANGED))
            continue;
        const bool alone = value != NULL && isnan(value->number) && strlen(value->text) > 3 &&
                           strcmp(value->text, "true") != 0 && strcmp(value->text, "false") != 0;
        name = survey_print(survey, "%s%s%s%s%s", name, name[0] == '\0' ? "" : " · ",
                            alone ? "" : say_axis(axis), alone ? "" : " ",
                            value != NULL ? value->text : "as shipped");
    }
    for (size_t i = 0; i < survey->axis_count && name != NULL && name[0] == '\0'; i++)
        if (by[i])
            name = "others";
    return name;
}

static const struct survey *sorting; /* of the sort below; one thread */

static int compare_by_x(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const double x = survey_x_of(sorting, &sorting->rows[i]);
    const double y = survey_x_of(sorting, &sorting->rows[j]);
    if (x < y || x > y)
        return x < y ? -1 : 1;
    return i < j ? -1 : i > j;
}

void survey_group_rows(struct survey *survey, const bool by[SURVEY_AXES_MAX], uint32_t *groups)
{
    uint32_t *const split = calloc(survey->row_count + 1, sizeof *split);
    struct group_key *const keys = calloc(survey->row_count + 1, sizeof *keys);
    memset(groups, 0, survey->row_count * sizeof *groups);
    if (split == NULL || keys == NULL)
        survey->no_memory = true;
    for (size_t a = 0; a < survey->axis_count && !survey->no_memory; a++)
        if (by[a]) {
            survey_split(survey, a, groups, keys, split);
            memcpy(groups, split, survey->row_count * sizeof *groups);
        }
    free(split);
    free(keys);
}

/* Adds a row to the series of its group, which is created with its first row. series_of[group]:
 * the index plus 1. */
static void survey_series_put(struct survey *survey, size_t index, uint32_t *series_of,
                              const bool by[SURVEY_AXES_MAX])
{
    struct survey_row *const row = &survey->rows[index];
    if (*series_of == 0) {
        struct survey_series *const fresh = survey_more(
            survey, &survey->series, &survey->series_count, &survey->series_room, sizeof *fresh);
        if (fresh == NULL)
            return;
        fresh->name = survey_row_name(survey, row, by);
        *series_of = (uint32_t)survey->series_count;
    }
    struct survey_series *const series = &survey->series[*series_of - 1];
    size_t *const place =
        survey_more(survey, &series->rows, &series->count, &series->room, sizeof *place);
    if (place == NULL)
        return;
    *place = index;
    row->series = *series_of - 1;
}

static void survey_make_series(struct survey *survey)
{
    const size_t rows = survey->row_count;
    uint32_t *const groups = calloc(rows + 1, sizeof *groups);
    uint32_t *const series_of = calloc(rows + 1, sizeof *series_of);
    bool by[SURVEY_AXES_MAX];
    for (size_t a = 0; a < SURVEY_AXES_MAX; a++)
        by[a] = a < survey->axis_count && survey->axes[a].is_series;
    if (groups == NULL || series_of == NULL) {
        survey->no_memory = true;
    } else {
        survey_group_rows(survey, by, groups);
        for (size_t i = 0; i < rows && !survey->no_memory; i++)
            if (survey->rows[i].not_run == NULL)
                survey_series_put(survey, i, &series_of[groups[i]], by);
    }
    free(groups);
    free(series_of);
    sorting = survey;
    for (size_t s = 0; s < survey->series_count; s++)
        if (survey->series[s].count > 1) /* one without rows may have no memory */
            qsort(survey->series[s].rows, survey->series[s].count, sizeof(size_t), compare_by_x);
}

void survey_series_find(struct survey *survey)
{
    survey->x = survey_choose_x(survey);
    survey_choose_series(survey);
    survey_make_series(survey);
}
