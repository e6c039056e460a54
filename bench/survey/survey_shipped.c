/*
 * survey_shipped.c: fills in values that results omit because they are the shipped ones.
 */
#include "bench/survey/survey_shipped.h"

#include <string.h>

/* The shipped value of one axis. */
struct shipped_value {
    const char *text, *commit; /* NULL: not known */
    bool doubtful;             /* two results disagree */
};

static const char *commit_of(const struct survey_point *point)
{
    return json_string_value(json_object_get(point->provenance, "commit"));
}

/* Whether the point's result lists the values that it has changed. */
static bool lists_changes(const struct survey_point *point)
{
    return json_is_object(json_object_get(point->provenance, "changed"));
}

static void shipped_take(const struct survey *survey, const struct survey_point *point,
                         struct shipped_value values[SURVEY_AXES_MAX])
{
    const json_t *const shipped = json_object_get(point->provenance, "shipped");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)shipped, key, value)
    {
        const int axis = survey_axis_find(survey, key);
        const char *const text = json_string_value(value);
        if (axis < 0 || text == NULL)
            continue;
        struct shipped_value *const known = &values[axis];
        if (known->text == NULL)
            *known = (struct shipped_value){.text = text, .commit = commit_of(point)};
        else
            known->doubtful |= strcmp(known->text, text) != 0;
    }
}

/* Whether a key belongs to no algorithm, or to the point's own (algorithms.NAME.KEY). */
static bool shipped_concerns(const struct survey *survey, const struct survey_point *point,
                             const char *key)
{
    static const char front[] = "algorithms.";
    const size_t front_bytes = sizeof front - 1;
    if (strncmp(key, front, front_bytes) != 0)
        return true;
    const int axis = survey_axis_find(survey, "algorithm");
    const struct survey_value *const own =
        axis < 0 ? NULL : survey_value_of(survey, point->axis, (size_t)axis);
    const size_t bytes = own == NULL ? 0 : strlen(own->text);
    return own != NULL && strncmp(key + front_bytes, own->text, bytes) == 0 &&
           key[front_bytes + bytes] == '.';
}

static void shipped_give(struct survey *survey, struct survey_point *point, size_t axis,
                         const struct shipped_value *value)
{
    const char *const commit = commit_of(point);
    const char *const name = survey->axes[axis].name;
    if (value->text == NULL || value->doubtful || point->axis[axis] != 0 || !lists_changes(point) ||
        commit == NULL || value->commit == NULL || strcmp(commit, value->commit) != 0 ||
        !shipped_concerns(survey, point, name))
        return;
    survey_put(survey, point->axis, name, survey->axes[axis].kind, value->text);
    for (size_t i = 0; i < point->row_count; i++)
        survey->rows[point->first_row + i].axis[axis] = point->axis[axis];
}

void survey_shipped_fill(struct survey *survey)
{
    struct shipped_value values[SURVEY_AXES_MAX] = {{.text = NULL}};
    for (size_t i = 0; i < survey->point_count; i++)
        shipped_take(survey, &survey->points[i], values);
    for (size_t i = 0; i < survey->point_count; i++)
        for (size_t axis = 0; axis < survey->axis_count; axis++)
            shipped_give(survey, &survey->points[i], axis, &values[axis]);
}
