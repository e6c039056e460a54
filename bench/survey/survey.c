/*
 * survey.c: the model's storage, and its axes while readers fill them (survey.h).
 */
#include "bench/survey/survey.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { ROOM_FIRST = 16 };

const struct survey_figure_row survey_figures[SURVEY_FIGURES] = {
    [FIGURE_TIME] = {"time_us", "time", "µs", -1},
    [FIGURE_ALGBW] = {"algbw_gbs", "algorithm bandwidth", "GB/s", 1},
    [FIGURE_BUSBW] = {"busbw_gbs", "bus bandwidth", "GB/s", 1},
    [FIGURE_EFFICIENCY] = {"efficiency_percent", "efficiency", "%", 1},
    [FIGURE_BOUND] = {"bound_us", "lower bound", "µs", 0},
    [FIGURE_MEASURED] = {"measured_us", "measured time", "µs", 0},
    [FIGURE_ERROR] = {"error_percent", "simulated / measured − 1", "%", 0},
    [FIGURE_CREDIT_WAIT] = {"credit_wait_us", "longest wait for credits", "µs", -1},
    [FIGURE_HOST_TIME] = {"host_time_us", "time that the host sees", "µs", -1},
    [FIGURE_MOVED] = {"moved_per_rank", "tensors sent per rank", "×", -1},
    [FIGURE_TIME_COST] = {"time_cost_us", "time × cost", "µs", -1},
    [FIGURE_JOULES] = {"joules", "energy", "J", -1},
    [FIGURE_JOULES_PER_BYTE] = {"pj_per_byte", "energy per byte", "pJ/B", -1},
    [FIGURE_LINKS] = {"links_built", "links built", "", -1},
    [FIGURE_COST] = {"cost", "cost", "", -1},
    [FIGURE_WATTS] = {"watts", "power", "W", -1},
    [FIGURE_EVENTS] = {"events", "events simulated", "", 0},
    [FIGURE_EVENT_RATE] = {"events_per_s", "events per second", "1/s", 1},
    [FIGURE_WALL] = {"wall_s", "wall time of the simulation", "s", -1},
    [FIGURE_MEMORY] = {"memory_mib", "peak memory of the process", "MiB", -1},
};

const char *const survey_state_names[] = {
    [STATE_DONE] = "done",       [STATE_FAILED] = "failed",           [STATE_TIMEOUT] = "timeout",
    [STATE_REFUSED] = "refused", [STATE_INTERRUPTED] = "interrupted", [STATE_PENDING] = "pending",
};

const char *const survey_verdict_names[VERDICTS] = {
    [VERDICT_SLOWER] = "slower",           [VERDICT_MISSED] = "goal not met",
    [VERDICT_CHANGED] = "results changed", [VERDICT_DISTURBED] = "disturbed",
    [VERDICT_FASTER] = "faster",           [VERDICT_STEADY] = "steady",
    [VERDICT_NEW] = "too few runs",
};

/* ---- storage --------------------------------------------------------------------------------- */

struct survey_block {
    struct survey_block *next;
    max_align_t data[];
};

void survey_init(struct survey *survey)
{
    memset(survey, 0, sizeof *survey);
    survey->x = -1;
}

void survey_free(struct survey *survey)
{
    for (size_t i = 0; i < survey->document_count; i++)
        json_decref(survey->documents[i]);
    for (size_t i = 0; i < survey->axis_count; i++) {
        free(survey->axes[i].values);
        free(survey->axes[i].found);
    }
    for (size_t i = 0; i < survey->log_count; i++)
        free(survey->logs[i].values);
    for (size_t i = 0; i < survey->case_count; i++)
        free(survey->cases[i].measures);
    for (size_t i = 0; i < survey->series_count; i++)
        free(survey->series[i].rows);
    free(survey->points);
    free(survey->rows);
    free(survey->studies);
    free(survey->logs);
    free(survey->cases);
    free(survey->nights);
    free(survey->verdicts);
    free(survey->series);
    free(survey->documents);
    while (survey->blocks != NULL) {
        struct survey_block *const block = survey->blocks;
        survey->blocks = block->next;
        free(block);
    }
    survey_init(survey);
}

void *survey_alloc(struct survey *survey, size_t bytes)
{
    struct survey_block *const block = calloc(1, sizeof *block + bytes);
    if (block == NULL) {
        survey->no_memory = true;
        return NULL;
    }
    block->next = survey->blocks;
    survey->blocks = block;
    return block->data;
}

char *survey_text(struct survey *survey, const char *text)
{
    if (text == NULL)
        return NULL;
    const size_t bytes = strlen(text) + 1;
    char *const copy = survey_alloc(survey, bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

char *survey_print(struct survey *survey, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int bytes = vsnprintf(NULL, 0, format, args);
    char *const text = bytes < 0 ? NULL : survey_alloc(survey, (size_t)bytes + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)bytes + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void *survey_more(struct survey *survey, void *list, size_t *count, size_t *room, size_t bytes)
{
    void **const place = list;
    if (*count == *room) {
        const size_t more = *room == 0 ? ROOM_FIRST : 2 * *room;
        void *const larger = realloc(*place, more * bytes);
        if (larger == NULL) {
            survey->no_memory = true;
            return NULL;
        }
        *place = larger;
        *room = more;
    }
    char *const item = (char *)*place + *count * bytes;
    memset(item, 0, bytes);
    *count += 1;
    return item;
}

json_t *survey_keep(struct survey *survey, json_t *document)
{
    json_t **const place = survey_more(survey, &survey->documents, &survey->document_count,
                                       &survey->document_room, sizeof(json_t *));
    if (place == NULL) {
        json_decref(document);
        return NULL;
    }
    return *place = document;
}

struct survey_point *survey_point_add(struct survey *survey, const char *label, const char *source)
{
    struct survey_point *const point = survey_more(survey, &survey->points, &survey->point_count,
                                                   &survey->point_room, sizeof *point);
    if (point == NULL)
        return NULL;
    point->label = survey_text(survey, label);
    point->source = survey_text(survey, source);
    point->seconds = NAN;
    point->first_row = survey->row_count;
    survey_put(survey, point->axis, "result", AXIS_SOURCE, label);
    return point;
}

struct survey_row *survey_row_add(struct survey *survey)
{
    struct survey_row *const row =
        survey_more(survey, &survey->rows, &survey->row_count, &survey->row_room, sizeof *row);
    if (row == NULL)
        return NULL;
    struct survey_point *const point = &survey->points[survey->point_count - 1];
    row->point = survey->point_count - 1;
    row->wrong = row->ranks_differ = row->not_finite = -1;
    row->series = UINT32_MAX;
    memcpy(row->axis, point->axis, sizeof row->axis);
    for (size_t i = 0; i < SURVEY_FIGURES; i++)
        row->figure[i] = NAN;
    point->row_count++;
    return row;
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* The number that the whole text denotes; NAN: it is not a number. */
static double survey_number_of(const char *text)
{
    char *end;
    if (text[0] == '\0' || strspn(text, "0123456789+-.eE") != strlen(text))
        return NAN;
    const double number = strtod(text, &end);
    return *end == '\0' && isfinite(number) ? number : NAN;
}

int survey_axis_find(const struct survey *survey, const char *name)
{
    for (size_t i = 0; i < survey->axis_count; i++)
        if (strcmp(survey->axes[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int survey_axis_of(struct survey *survey, const char *name, enum survey_axis_kind kind)
{
    const int found = survey_axis_find(survey, name);
    if (found >= 0) {
        if (kind < survey->axes[found].kind)
            survey->axes[found].kind = kind;
        return found;
    }
    char *const copy = survey_text(survey, name);
    if (copy == NULL)
        return -1;
    if (survey->axis_count == SURVEY_AXES_MAX) {
        survey->axes_dropped++;
        return -1;
    }
    survey->axes[survey->axis_count] = (struct survey_axis){.name = copy, .kind = kind};
    return (int)survey->axis_count++;
}

/* The slot of a text in an axis's hash table: its own, or an empty one. */
static uint32_t *survey_find(const struct survey_axis *axis, const char *text)
{
    uint64_t at = XXH3_64bits(text, strlen(text));
    for (;; at++) {
        uint32_t *const place = &axis->found[at & (axis->found_room - 1)];
        if (*place == 0 || strcmp(axis->values[*place - 1].text, text) == 0)
            return place;
    }
}

/* Grows an axis's hash table so that it stays at most half full. */
static bool survey_find_room(struct survey *survey, struct survey_axis *axis)
{
    if (2 * (axis->count + 1) <= axis->found_room)
        return true;
    const uint32_t room = axis->found_room == 0 ? 2 * ROOM_FIRST : 2 * axis->found_room;
    uint32_t *const table = calloc(room, sizeof *table);
    if (table == NULL) {
        survey->no_memory = true;
        return false;
    }
    free(axis->found);
    axis->found = table;
    axis->found_room = room;
    for (uint32_t i = 0; i < axis->count; i++)
        *survey_find(axis, axis->values[i].text) = i + 1;
    return true;
}

/* The index plus 1 of a value, which is added if it is new; 0: no memory. */
static uint32_t survey_value_index(struct survey *survey, struct survey_axis *axis,
                                   const char *text)
{
    if (!survey_find_room(survey, axis))
        return 0;
    uint32_t *const place = survey_find(axis, text);
    if (*place != 0)
        return *place;
    size_t count = axis->count, room = axis->room;
    char *const copy = survey_text(survey, text);
    struct survey_value *const value =
        copy == NULL ? NULL : survey_more(survey, &axis->values, &count, &room, sizeof *value);
    if (value == NULL)
        return 0;
    *value = (struct survey_value){copy, survey_number_of(copy)};
    axis->room = (uint32_t)room;
    axis->count = (uint32_t)count;
    return *place = axis->count;
}

void survey_put(struct survey *survey, uint32_t axis[SURVEY_AXES_MAX], const char *name,
                enum survey_axis_kind kind, const char *text)
{
    const int index = text == NULL ? -1 : survey_axis_of(survey, name, kind);
    if (index >= 0)
        axis[index] = survey_value_index(survey, &survey->axes[index], text);
}

void survey_put_number(struct survey *survey, uint32_t axis[SURVEY_AXES_MAX], const char *name,
                       enum survey_axis_kind kind, double number)
{
    char text[40];
    if (!isfinite(number))
        return;
    snprintf(text, sizeof text, "%.15g", number);
    survey_put(survey, axis, name, kind, text);
}

const struct survey_value *survey_value_of(const struct survey *survey, const uint32_t *axis,
                                           size_t index)
{
    return axis[index] == 0 ? NULL : &survey->axes[index].values[axis[index] - 1];
}

bool survey_axis_is_whole(const struct survey *survey, size_t index)
{
    for (size_t i = 0; i < survey->row_count; i++)
        if (survey->rows[i].not_run == NULL && survey->rows[i].axis[index] == 0)
            return false;
    return true;
}

bool survey_has(const struct survey *survey, enum survey_figure figure)
{
    for (size_t i = 0; i < survey->row_count; i++)
        if (survey->rows[i].series != UINT32_MAX && !isnan(survey->rows[i].figure[figure]))
            return true;
    return false;
}

double survey_x_of(const struct survey *survey, const struct survey_row *row)
{
    const struct survey_value *const value =
        survey->x < 0 ? NULL : survey_value_of(survey, row->axis, (size_t)survey->x);
    return value != NULL ? value->number : NAN;
}
