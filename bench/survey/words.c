/*
 * words.c: describes a survey in sentences: counts, ranges, what is best and by how much. Unknown
 * facts are left out.
 */
#include "bench/survey/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/survey/effects.h"
#include "bench/survey/say.h"
#include "bench/survey/survey_log.h"
#include "bench/survey/survey_series.h"
#include "bench/survey/winners.h"

enum { VALUES_SHOWN = 6 };

/* The sentences being written. */
struct words {
    struct survey *survey;
    const char **list;
    size_t count;
};

static void words_add(struct words *words, const char *sentence)
{
    if (sentence != NULL && sentence[0] != '\0' && words->count < WORDS_MAX)
        words->list[words->count++] = sentence;
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

/* The value that all rows have; NULL: they differ, or have none. */
static const char *words_common(const struct survey *survey, const char *name)
{
    const int index = survey_axis_find(survey, name);
    if (index < 0 || survey->axes[index].varies || survey->row_count == 0)
        return NULL;
    const struct survey_value *const value =
        survey_value_of(survey, survey->rows[0].axis, (size_t)index);
    return value != NULL ? value->text : NULL;
}

/* Whether all databases belong to one study: all of it, or its parts. */
static bool is_one_study(const struct survey *survey)
{
    const struct survey_study *const first = survey->studies;
    for (size_t i = 1; i < survey->study_count; i++)
        if (first->shards < 2 || survey->studies[i].shards != first->shards ||
            first->name == NULL || survey->studies[i].name == NULL ||
            strcmp(first->name, survey->studies[i].name) != 0)
            return false;
    return survey->study_count > 0;
}

const char *words_about(const struct survey *survey)
{
    return is_one_study(survey) ? survey->studies[0].about : NULL;
}

const char *words_title(struct survey *survey)
{
    if (is_one_study(survey) && survey->studies[0].name != NULL)
        return survey_print(survey, "Study %s", survey->studies[0].name);
    if (survey->study_count > 1)
        return survey_print(survey, "%zu studies", survey->study_count);
    if (survey->point_count == 1) {
        const char *const bench = words_common(survey, "bench");
        return survey_print(survey, "%s%s%s", bench != NULL ? bench : "", bench != NULL ? ": " : "",
                            survey->points[0].label);
    }
    if (survey->point_count > 1)
        return survey_print(survey, "%zu results", survey->point_count);
    return survey->case_count > 0 ? "History of throughput" : "Engine log";
}

/* ---- how much -------------------------------------------------------------------------------- */

static void words_counts(struct words *words)
{
    struct survey *const survey = words->survey;
    size_t state[STATE_PENDING + 1] = {0}, not_run = 0;
    int64_t planned = 0;
    char a[SAY_BYTES], b[SAY_BYTES];
    for (size_t i = 0; i < survey->point_count; i++)
        state[survey->points[i].state]++;
    for (size_t i = 0; i < survey->row_count; i++)
        not_run += survey->rows[i].not_run != NULL;
    for (size_t i = 0; i < survey->study_count; i++)
        planned += survey->studies[i].points_planned;
    if (survey->point_count > 0)
        words_add(words,
                  survey_print(survey, "%s point%s with %s row%s, a row for each size%s.",
                               say_number((double)survey->point_count, a),
                               plural(survey->point_count),
                               say_number((double)survey->row_count, b), plural(survey->row_count),
                               not_run > 0 ? "; some sizes could not run" : ""));
    if (planned > (int64_t)survey->point_count)
        words_add(words,
                  survey_print(survey, "Of %s planned points %s have not run yet.",
                               say_number((double)planned, a),
                               say_number((double)planned - (double)survey->point_count, b)));
    if (is_one_study(survey) && (int64_t)survey->study_count < survey->studies[0].shards)
        words_add(words, survey_print(survey, "These are %zu of the study's %lld parts.",
                                      survey->study_count, (long long)survey->studies[0].shards));
    const char *list = "";
    for (int i = STATE_FAILED; i <= STATE_PENDING && list != NULL; i++)
        if (state[i] > 0)
            list = survey_print(survey, "%s%s%s %s", list, list[0] == '\0' ? "" : ", ",
                                say_number((double)state[i], a), survey_state_names[i]);
    if (list != NULL && list[0] != '\0')
        words_add(words, survey_print(survey, "Points that are not done: %s.", list));
}

static const char *words_values(struct survey *survey, const struct survey_axis *axis)
{
    char text[SAY_BYTES], last[SAY_BYTES];
    const char *list = "";
    if (axis->count > VALUES_SHOWN && axis->is_numeric)
        return survey_print(survey, "%u values from %s to %s", axis->count,
                            say_value(axis, &axis->values[0], text),
                            say_value(axis, &axis->values[axis->count - 1], last));
    if (axis->count > VALUES_SHOWN)
        return survey_print(survey, "%u values", axis->count);
    for (uint32_t i = 0; i < axis->count && list != NULL; i++)
        list = survey_print(survey, "%s%s%s", list, i == 0 ? "" : ", ",
                            say_value(axis, &axis->values[i], text));
    return list;
}

/* Follows the values of an axis: what rows without a value have. */
static const char *words_lack(const struct survey *survey, size_t index)
{
    return survey_axis_is_whole(survey, index)        ? ""
           : survey->axes[index].kind == AXIS_CHANGED ? ", or as shipped"
                                                      : ", or none";
}

/* Whether an earlier axis has the same name and the same only value: a study's setting is part
 * of results, too. */
static bool is_said_before(const struct survey *survey, size_t i)
{
    const struct survey_axis *const axis = &survey->axes[i];
    for (size_t k = 0; k < i; k++)
        if (survey->axes[k].count == 1 && strcmp(say_axis(&survey->axes[k]), say_axis(axis)) == 0 &&
            strcmp(survey->axes[k].values[0].text, axis->values[0].text) == 0)
            return true;
    return false;
}

/* Names and settings that change along with those that name the series: curves of two algorithms
 * on two machines also compare the machines. Counts that follow from settings are left out. */
static void words_followers(struct words *words)
{
    static const char *const known[] = {"schedule", "placement", "input", "defaults.algorithm"};
    struct survey *const survey = words->survey;
    const char *list = "";
    size_t count = 0;
    for (size_t i = 0; i < survey->axis_count && list != NULL; i++) {
        const struct survey_axis *const axis = &survey->axes[i];
        bool is_covered =
            !axis->varies || axis->is_series || (int)i == survey->x || axis->kind > AXIS_CHANGED;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_covered |= strcmp(axis->name, known[k]) == 0;
        if (!is_covered && count++ < VALUES_SHOWN)
            list = survey_print(survey, "%s%s%s (%s%s)", list, count == 1 ? "" : "; ",
                                say_axis(axis), words_values(survey, axis), words_lack(survey, i));
    }
    if (count > 0 && list != NULL)
        words_add(words, survey_print(survey, "Differ along with these: %s%s.", list,
                                      count > VALUES_SHOWN ? "; and more" : ""));
}

/* Whether an axis has the schedule that was asked for, or the placement of one that was. */
static bool is_plain_outcome(const struct survey *survey, const struct survey_axis *axis)
{
    const int ran = survey_axis_find(survey, "schedule"),
              asked = survey_axis_find(survey, "algorithm");
    if (strcmp(axis->name, "schedule") != 0 && strcmp(axis->name, "placement") != 0)
        return false;
    return ran < 0 || asked < 0 || survey->axes[ran].varies || survey->axes[asked].varies ||
           strcmp(survey->axes[ran].values[0].text, survey->axes[asked].values[0].text) == 0;
}

/* The axes in which rows differ, and those in which they agree. */
static void words_axes(struct words *words)
{
    struct survey *const survey = words->survey;
    const char *varied = "", *same = "";
    for (size_t i = 0; i < survey->axis_count && varied != NULL && same != NULL; i++) {
        const struct survey_axis *const axis = &survey->axes[i];
        const bool is_x = (int)i == survey->x;
        if (axis->varies && (axis->is_series || is_x))
            varied =
                survey_print(survey, "%s%s%s (%s%s)", varied, varied[0] == '\0' ? "" : "; ",
                             say_axis(axis), words_values(survey, axis), words_lack(survey, i));
        else if (!axis->varies && axis->count == 1 && axis->kind != AXIS_SOURCE &&
                 strcmp(axis->name, "input") != 0 && strcmp(axis->name, "sync") != 0 &&
                 strcmp(axis->name, "threads") != 0 && strcmp(axis->name, "bench") != 0 &&
                 !is_plain_outcome(survey, axis) && !is_said_before(survey, i))
            same = survey_print(survey, "%s%s%s %s", same, same[0] == '\0' ? "" : ", ",
                                say_axis(axis), words_values(survey, axis));
    }
    if (varied != NULL && varied[0] != '\0')
        words_add(words, survey_print(survey, "Varied: %s.", varied));
    words_followers(words);
    if (same != NULL && same[0] != '\0')
        words_add(words, survey_print(survey, "The same in all rows: %s.", same));
}

/* ---- how fast -------------------------------------------------------------------------------- */

/* The largest x that at least two series have; else the largest. NAN: there is none. */
static double words_largest_x(const struct survey *survey)
{
    const struct survey_axis *const axis = survey->x < 0 ? NULL : &survey->axes[survey->x];
    for (uint32_t v = axis == NULL || !axis->is_numeric ? 0 : axis->count; v-- > 0;) {
        uint32_t series = UINT32_MAX;
        for (size_t i = 0; i < survey->row_count; i++) {
            const struct survey_row *const row = &survey->rows[i];
            if (row->series == UINT32_MAX || row->axis[survey->x] != v + 1)
                continue;
            if ((series != UINT32_MAX && row->series != series) || survey->series_count == 1)
                return axis->values[v].number;
            series = row->series;
        }
    }
    return axis != NULL && axis->is_numeric && axis->count > 0
               ? axis->values[axis->count - 1].number
               : NAN;
}

/* The fastest and the slowest series there, among those with correct data. */
static void words_fastest(struct words *words)
{
    struct survey *const survey = words->survey;
    const struct survey_row *best = NULL, *worst = NULL;
    const double most = words_largest_x(survey);
    size_t rivals = 0;
    char x[SAY_BYTES], a[SAY_BYTES], b[SAY_BYTES], c[SAY_BYTES];
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        if (row->series == UINT32_MAX || survey_x_of(survey, row) != most ||
            isnan(row->figure[FIGURE_TIME]) || row->wrong > 0)
            continue;
        rivals++;
        if (best == NULL || row->figure[FIGURE_TIME] < best->figure[FIGURE_TIME])
            best = row;
        if (worst == NULL || row->figure[FIGURE_TIME] > worst->figure[FIGURE_TIME])
            worst = row;
    }
    if (best == NULL || survey->x < 0)
        return;
    const struct survey_axis *const axis = &survey->axes[survey->x];
    const struct survey_value *const value = survey_value_of(survey, best->axis, (size_t)survey->x);
    const bool has_rate = best->figure[FIGURE_BUSBW] > 0;
    const bool has_names = survey->series_count > 1;
    const bool is_largest = !axis->is_bytes && survey_axis_is_whole(survey, (size_t)survey->x) &&
                            value == &axis->values[axis->count - 1];
    const char *const head = survey_print(
        survey, "%s %s%s%s, %s%s takes %s%s%s", is_largest ? "At the largest" : "At",
        axis->is_bytes ? "" : say_axis(axis),
        axis->is_bytes ? ""
        : is_largest   ? ", "
                       : " ",
        say_value(axis, value, x), has_names ? survey->series[best->series].name : "a call",
        has_names && rivals > 1 ? " is the fastest: it" : "",
        say_time(best->figure[FIGURE_TIME], a), has_rate ? ", a bus bandwidth of " : "",
        has_rate ? say_figure(FIGURE_BUSBW, best->figure[FIGURE_BUSBW], b) : "");
    if (head != NULL && rivals > 1 && worst != best && best->figure[FIGURE_TIME] > 0)
        words_add(
            words,
            survey_print(survey, "%s. The slowest, %s, takes %s times as long.", head,
                         survey->series[worst->series].name,
                         say_number(worst->figure[FIGURE_TIME] / best->figure[FIGURE_TIME], c)));
    else if (head != NULL)
        words_add(words, survey_print(survey, "%s.", head));
}

/* "3.1 times as fast": the time before over the time after. */
static const char *words_gain(struct survey *survey, double gain)
{
    char text[SAY_BYTES];
    return survey_print(survey, "%s times as %s", say_number(gain >= 1 ? gain : 1 / gain, text),
                        gain >= 1 ? "fast" : "slow");
}

/* The curve of a row, over the effect's axis: "ring_rs_ag · ring_1d, 64 KiB". */
static const char *words_curve(struct survey *survey, const struct effect *effect,
                               const struct survey_row *of)
{
    bool by[SURVEY_AXES_MAX];
    char x[SAY_BYTES];
    for (size_t i = 0; i < SURVEY_AXES_MAX; i++)
        by[i] = i < survey->axis_count && survey->axes[i].is_series && i != effect->axis;
    const char *const name = survey_row_name(survey, of, by);
    if (name == NULL || survey->x < 0 || (size_t)survey->x == effect->axis ||
        !survey->axes[survey->x].varies)
        return name;
    return survey_print(survey, "%s%s%s", name, name[0] != '\0' ? ", " : "",
                        say_value(&survey->axes[survey->x],
                                  survey_value_of(survey, of->axis, (size_t)survey->x), x));
}

/* What one number does to the times, in words: does a faster link help? */
static void words_effect(struct words *words, const struct effect *effect)
{
    struct survey *const survey = words->survey;
    const struct survey_axis *const axis = &survey->axes[effect->axis];
    const char *const unit = say_axis_unit(axis);
    char a[SAY_BYTES], b[SAY_BYTES], c[SAY_BYTES];
    const char *const head = survey_print(
        survey, "%s from %s to %s%s%s", say_axis(axis), say_value(axis, &axis->values[0], a),
        say_value(axis, &axis->values[axis->count - 1], b), unit[0] != '\0' ? " " : "", unit);
    const char *const place = words_curve(survey, effect, effect->of);
    if (head == NULL || place == NULL)
        return;
    if (effect->flat == effect->curves) {
        words_add(words, survey_print(survey,
                                      "%s changes no time by more than %.0f %%: the curves over it "
                                      "are flat.",
                                      head, 100 * (EFFECT_FLAT - 1)));
        return;
    }
    const double largest =
        fabs(log(effect->most)) >= fabs(log(effect->least)) ? effect->most : effect->least;
    const char *const some =
        effect->flat == 0
            ? ""
            : survey_print(survey, "; %s of %s curves are flat (less than %.0f %%)",
                           say_number((double)effect->flat, a),
                           say_number((double)effect->curves, b), 100 * (EFFECT_FLAT - 1));
    const char *const from =
        isnan(effect->flat_from)
            ? ""
            : survey_print(survey, "; from %s%s%s on none changes any more",
                           say_number(effect->flat_from, c), unit[0] != '\0' ? " " : "", unit);
    words_add(words, survey_print(survey, "%s makes a call up to %s%s%s%s%s%s.", head,
                                  words_gain(survey, largest), place[0] != '\0' ? " (" : "", place,
                                  place[0] != '\0' ? ")" : "", some, from));
}

/* A faster part that makes a call slower: nobody expects it. */
static void words_slowed(struct words *words, const struct effect *effect)
{
    struct survey *const survey = words->survey;
    const struct survey_axis *const axis = &survey->axes[effect->axis];
    char a[SAY_BYTES], b[SAY_BYTES], c[SAY_BYTES];
    const char *const place =
        effect->slowed > 0 ? words_curve(survey, effect, effect->slower_of) : NULL;
    if (place == NULL)
        return;
    words_add(words,
              survey_print(survey,
                           "A faster part makes a call slower: %s from %s to %s %s takes %s times "
                           "as long%s%s%s. Links are then reserved in another order "
                           "(hw/HARDWARE.md, \"Faster parts, slower runs\").",
                           say_axis(axis), say_number(effect->slower_from, a),
                           say_number(effect->slower_to, b), say_axis_unit(axis),
                           say_number(effect->slower, c), place[0] != '\0' ? " (" : "", place,
                           place[0] != '\0' ? ")" : ""));
}

static void words_effects(struct words *words)
{
    enum { EFFECTS_SHOWN = 4 };
    size_t shown = 0;
    for (size_t i = 0; i < words->survey->axis_count && shown < EFFECTS_SHOWN; i++) {
        struct effect effect;
        if (effect_concerns(words->survey, i) && effect_of(words->survey, i, &effect)) {
            words_effect(words, &effect);
            words_slowed(words, &effect);
            shown++;
        }
    }
}

/* A row by its series and its x. */
static const char *words_place(struct survey *survey, const struct survey_row *row)
{
    char x[SAY_BYTES];
    const char *const name = row->series == UINT32_MAX ? "" : survey->series[row->series].name;
    if (survey->x < 0)
        return name;
    const struct survey_axis *const axis = &survey->axes[survey->x];
    const char *const at =
        say_value(axis, survey_value_of(survey, row->axis, (size_t)survey->x), x);
    return survey_print(survey, "%s%s%s%s%s", name, name[0] == '\0' ? "" : ", ",
                        axis->is_bytes ? "" : say_axis(axis), axis->is_bytes ? "" : " ", at);
}

/* "ring, 64 KiB: bound 2.8 µs, time 69.6 µs": bounds of different placements differ, so an
 * efficiency alone compares nothing. */
static const char *words_bound(struct survey *survey, const struct survey_row *row)
{
    char a[SAY_BYTES], b[SAY_BYTES];
    const char *const place = words_place(survey, row);
    return place == NULL
               ? NULL
               : survey_print(survey, "%s%sbound %s, time %s", place, place[0] != '\0' ? ": " : "",
                              say_time(row->figure[FIGURE_BOUND], a),
                              say_time(row->figure[FIGURE_TIME], b));
}

static void words_efficiency(struct words *words)
{
    struct survey *const survey = words->survey;
    const struct survey_row *best = NULL, *worst = NULL;
    char a[SAY_BYTES], b[SAY_BYTES];
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        const double share = row->figure[FIGURE_EFFICIENCY];
        if (isnan(share))
            continue;
        if (best == NULL || share > best->figure[FIGURE_EFFICIENCY])
            best = row;
        if (worst == NULL || share < worst->figure[FIGURE_EFFICIENCY])
            worst = row;
    }
    if (best == NULL)
        return;
    if (best == worst)
        words_add(words, survey_print(survey, "Efficiency, lower bound / time, is %s %%%s%s.",
                                      say_number(best->figure[FIGURE_EFFICIENCY], a),
                                      best->bound_by != NULL ? "; the bound comes from " : "",
                                      best->bound_by != NULL ? best->bound_by : ""));
    else
        words_add(words,
                  survey_print(
                      survey, "Efficiency, lower bound / time, is from %s %% (%s) to %s %% (%s).",
                      say_number(worst->figure[FIGURE_EFFICIENCY], a), words_bound(survey, worst),
                      say_number(best->figure[FIGURE_EFFICIENCY], b), words_bound(survey, best)));
}

const char *words_limit(const struct survey_row *row)
{
    static const char lost[] = "no critical path";
    const char *limit = json_string_value(json_object_get(row->explain, "limited_by"));
    if (limit == NULL)
        limit = json_string_value(json_object_get(row->explain, "sentence"));
    return limit == NULL || strncmp(limit, lost, sizeof lost - 1) == 0 ? NULL : limit;
}

/* What limits the longest explained call. */
static void words_limits(struct words *words)
{
    struct survey *const survey = words->survey;
    const struct survey_row *largest = NULL;
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        if (words_limit(row) != NULL &&
            (largest == NULL || row->figure[FIGURE_TIME] > largest->figure[FIGURE_TIME]))
            largest = row;
    }
    if (largest != NULL)
        words_add(words, survey_print(survey, "The longest explained call (%s): %s.",
                                      words_place(survey, largest), words_limit(largest)));
}

/* ---- how right ------------------------------------------------------------------------------- */

const char *words_flaw(const struct survey_row *row)
{
    return row->wrong > 0          ? "wrong data"
           : row->ranks_differ > 0 ? "ranks differ"
           : row->not_finite > 0   ? "not finite"
                                   : NULL;
}

const char *words_flaws(struct survey *survey, const struct survey_row *row)
{
    const struct {
        int64_t count;
        const char *one, *several;
    } flaws[] = {
        {row->wrong, "wrong element", "wrong elements"},
        {row->ranks_differ, "element differs between ranks", "elements differ between ranks"},
        {row->not_finite, "result is not finite though all inputs are",
         "results are not finite though all inputs are"}};
    const char *list = "";
    char text[SAY_BYTES];
    for (size_t i = 0; i < sizeof flaws / sizeof *flaws && list != NULL; i++)
        if (flaws[i].count > 0)
            list = survey_print(survey, "%s%s%s %s", list, list[0] != '\0' ? "; " : "",
                                say_number((double)flaws[i].count, text),
                                flaws[i].count == 1 ? flaws[i].one : flaws[i].several);
    return list != NULL ? list : "";
}

static void words_verified(struct words *words)
{
    struct survey *const survey = words->survey;
    size_t verified = 0, wrong = 0, differ = 0, not_finite = 0, ran = 0, measured = 0;
    double error_most = 0;
    char a[SAY_BYTES], b[SAY_BYTES];
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        ran += row->not_run == NULL;
        verified += row->wrong >= 0;
        wrong += row->wrong > 0;
        differ += row->ranks_differ > 0;
        not_finite += row->not_finite > 0;
        if (!isnan(row->figure[FIGURE_ERROR])) {
            measured++;
            error_most = fmax(error_most, fabs(row->figure[FIGURE_ERROR]));
        }
    }
    if (wrong > 0)
        words_add(words, survey_print(survey, "%s row%s wrong data.", say_number((double)wrong, a),
                                      wrong == 1 ? " has" : "s have"));
    else if (verified > 0)
        words_add(words,
                  survey_print(survey, "The data of %s of %s rows were verified and are correct.",
                               say_number((double)verified, a), say_number((double)ran, b)));
    if (differ > 0)
        words_add(words, survey_print(survey, "In %s row%s ranks end with different bits.",
                                      say_number((double)differ, a), plural(differ)));
    if (not_finite > 0)
        words_add(words,
                  survey_print(survey, "In %s row%s results are not finite though all inputs are.",
                               say_number((double)not_finite, a), plural(not_finite)));
    if (measured > 0)
        words_add(words,
                  survey_print(survey,
                               "%s row%s a measured time beside it; the largest error is "
                               "%s %%.",
                               say_number((double)measured, a), measured == 1 ? " has" : "s have",
                               say_number(error_most, b)));
}

/* Lower is slower. If any row has an efficiency, rows without one are not compared: NAN. */
static double words_speed(const struct survey_row *row, bool by_efficiency)
{
    return by_efficiency ? row->figure[FIGURE_EFFICIENCY] : -row->figure[FIGURE_TIME];
}

size_t words_slowest(const struct survey *survey, size_t *rows, size_t most)
{
    bool by_efficiency = false;
    size_t count = 0;
    for (size_t i = 0; i < survey->row_count; i++)
        by_efficiency |= !isnan(survey->rows[i].figure[FIGURE_EFFICIENCY]);
    for (size_t i = 0; i < survey->row_count; i++) {
        const double speed = words_speed(&survey->rows[i], by_efficiency);
        if (survey->rows[i].not_run != NULL || isnan(speed))
            continue;
        size_t at = count;
        while (at > 0 && speed < words_speed(&survey->rows[rows[at - 1]], by_efficiency))
            at--;
        if (at == most)
            continue;
        count += count < most;
        memmove(&rows[at + 1], &rows[at], (count - at - 1) * sizeof *rows);
        rows[at] = i;
    }
    return count;
}

static void words_engine(struct words *words)
{
    struct survey *const survey = words->survey;
    double events = 0, wall = 0;
    char a[SAY_BYTES], b[SAY_BYTES];
    for (size_t i = 0; i < survey->point_count; i++) {
        const struct survey_point *const point = &survey->points[i];
        const double *const figure =
            point->row_count == 0 ? NULL : survey->rows[point->first_row].figure;
        if (figure != NULL && figure[FIGURE_EVENTS] > 0 && figure[FIGURE_WALL] > 0) {
            events += figure[FIGURE_EVENTS];
            wall += figure[FIGURE_WALL];
        }
    }
    if (events > 0)
        words_add(words, survey_print(survey, "The simulation took %s events in %s of wall time.",
                                      say_number(events, a), say_time(wall * 1e6, b)));
}

/* The last run of a case whose simulated results differ from the previous run's. */
static void words_changed(struct words *words, const struct survey_case *one)
{
    size_t count;
    const struct survey_measure *const last = survey_last_change(one, &count);
    if (last != NULL)
        words_add(words,
                  survey_print(words->survey,
                               "%s: its simulated results changed %zu time%s, last with commit "
                               "%s (%s): its speeds before and after are for different work.",
                               one->name, count, plural(count),
                               last->commit != NULL ? last->commit : "unknown",
                               last->started != NULL ? last->started : "unknown"));
}

/* How many cases of the newest run have which verdict. */
static void words_night(struct words *words, const struct survey_night *night)
{
    struct survey *const survey = words->survey;
    size_t counts[VERDICTS] = {0};
    const char *list = "";
    if (night->fault != NULL) {
        words_add(words, survey_print(survey, "There are no verdicts: %s.", night->fault));
        return;
    }
    for (size_t i = 0; i < night->count; i++)
        counts[survey->verdicts[night->first + i].kind]++;
    for (int kind = 0; kind < VERDICTS && list != NULL; kind++)
        if (counts[kind] > 0)
            list = survey_print(survey, "%s%s%zu %s", list, list[0] == '\0' ? "" : ", ",
                                counts[kind], survey_verdict_names[kind]);
    if (list != NULL && list[0] != '\0')
        words_add(words, survey_print(survey,
                                      "Of the cases of set %s on %s in the newest of %zu run%s (%s,"
                                      " commit %s): %s.",
                                      night->set, night->host, night->runs, plural(night->runs),
                                      night->started, night->commit, list));
}

/* Each case of a history: the last run beside the previous one, and the first. */
static void words_history(struct words *words)
{
    struct survey *const survey = words->survey;
    char a[SAY_BYTES], b[SAY_BYTES];
    for (size_t i = 0; i < survey->night_count; i++)
        words_night(words, &survey->nights[i]);
    for (size_t c = 0; c < survey->case_count && c < VALUES_SHOWN; c++) {
        const struct survey_case *const one = &survey->cases[c];
        words_changed(words, one);
        if (survey->night_count > 0) /* whose verdicts have the speeds */
            continue;
        if (one->count < 2 || !(one->measures[one->count - 2].median > 0))
            continue;
        const struct survey_measure *const last = &one->measures[one->count - 1];
        const double before = one->measures[one->count - 2].median;
        const double first = one->measures[0].median;
        words_add(words,
                  survey_print(survey,
                               "%s: %s events per second in the last run, %+.1f %% against the "
                               "previous run and %+.1f %% against the first of %s.%s",
                               one->name, say_number(last->median, a),
                               100 * (last->median / before - 1), 100 * (last->median / first - 1),
                               say_number((double)one->count, b),
                               last->disturbed ? " Most of its rounds were disturbed." : ""));
    }
}

size_t words_of_survey(struct survey *survey, const char *sentences[WORDS_MAX])
{
    struct words words = {.survey = survey, .list = sentences};
    words_add(&words, words_about(survey));
    words_counts(&words);
    words_add(&words, winners_tally(survey));
    words_fastest(&words);
    words_effects(&words);
    words_efficiency(&words);
    words_limits(&words);
    words_verified(&words);
    words_axes(&words);
    words_engine(&words);
    words_history(&words);
    return words.count;
}
