/*
 * winners.c: groups the rows by x and by the settings that were given, and finds the two fastest of
 * each group.
 */
#include "bench/survey/winners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/survey/say.h"
#include "bench/survey/survey_series.h"
#include "bench/survey/words.h"

/* Whether an axis is what one chooses for a machine: an algorithm, or where its ranks are. */
static bool is_choice(const struct survey_axis *axis)
{
    static const char *const ends[] = {"algorithm", "mapper", "placement", "schedule"};
    const size_t bytes = strlen(axis->name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t end = strlen(ends[i]);
        if (bytes >= end && strcmp(axis->name + bytes - end, ends[i]) == 0)
            return true;
    }
    return false;
}

/* The axes that distinguish cases: all that name series, but for those of choices. */
static void find_given(const struct survey *survey, bool is_given[SURVEY_AXES_MAX])
{
    bool has_choice = false;
    for (size_t i = 0; i < survey->axis_count; i++)
        has_choice |= survey->axes[i].is_series && is_choice(&survey->axes[i]);
    for (size_t i = 0; i < survey->axis_count; i++)
        is_given[i] = has_choice && survey->axes[i].is_series && !is_choice(&survey->axes[i]);
}

static bool is_faster(const struct survey_row *row, const struct survey_row *than)
{
    return than == NULL || row->figure[FIGURE_TIME] < than->figure[FIGURE_TIME];
}

static void winner_take(struct winner *winner, const struct survey_row *row)
{
    winner->any = winner->any == NULL ? row : winner->any;
    winner->rivals++;
    if (row->wrong > 0)
        return;
    if (is_faster(row, winner->row)) {
        winner->next = winner->row;
        winner->row = row;
    } else if (is_faster(row, winner->next)) {
        winner->next = row;
    }
}

static const struct survey *ordered; /* of the sort below; one thread */
static const bool *ordered_given;

static int compare_cases(const void *a, const void *b)
{
    const struct winner *const x = a, *const y = b;
    for (size_t i = 0; i < ordered->axis_count; i++)
        if (ordered_given[i] && x->any->axis[i] != y->any->axis[i])
            return x->any->axis[i] < y->any->axis[i] ? -1 : 1;
    const uint32_t p = x->any->axis[ordered->x], q = y->any->axis[ordered->x];
    return p < q ? -1 : p > q;
}

/* False: there are more cases than WINNERS_MAX. */
static bool fill_cases(const struct survey *survey, const uint32_t *groups, uint32_t *case_of,
                       struct winners *winners)
{
    memset(case_of, 0, survey->row_count * sizeof *case_of);
    winners->count = 0;
    winners->has_rivals = false;
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        uint32_t *const at = &case_of[groups[i]];
        if (row->series == UINT32_MAX || row->axis[survey->x] == 0 ||
            isnan(row->figure[FIGURE_TIME]))
            continue;
        if (*at == 0 && winners->count == WINNERS_MAX)
            return false;
        if (*at == 0) {
            winners->cases[winners->count++] = (struct winner){.row = NULL};
            *at = (uint32_t)winners->count;
        }
        winner_take(&winners->cases[*at - 1], row);
        winners->has_rivals |= winners->cases[*at - 1].rivals > 1;
    }
    return true;
}

void winners_of(struct survey *survey, struct winners *winners)
{
    *winners = (struct winners){.count = 0};
    if (survey->x < 0 || survey->row_count == 0)
        return;
    uint32_t *const groups = calloc(survey->row_count, sizeof *groups);
    uint32_t *const case_of = calloc(survey->row_count, sizeof *case_of);
    bool fits = false;
    find_given(survey, winners->is_given);
    if (groups == NULL || case_of == NULL)
        survey->no_memory = true;
    for (int round = 0; round < 2 && !fits && groups != NULL && case_of != NULL; round++) {
        bool by[SURVEY_AXES_MAX];
        if (round == 1) /* all settings together */
            memset(winners->is_given, 0, sizeof winners->is_given);
        memcpy(by, winners->is_given, sizeof by);
        by[survey->x] = true;
        survey_group_rows(survey, by, groups);
        fits = fill_cases(survey, groups, case_of, winners);
    }
    free(groups);
    free(case_of);
    if (!fits || survey->no_memory)
        winners->count = 0;
    ordered = survey;
    ordered_given = winners->is_given;
    if (winners->count > 1)
        qsort(winners->cases, winners->count, sizeof *winners->cases, compare_cases);
}

/* ---- as a table ------------------------------------------------------------------------------ */

static const char *text_of_axis(struct survey *survey, const struct survey_row *row, size_t index)
{
    char text[SAY_BYTES];
    return survey_text(
        survey, say_value(&survey->axes[index], survey_value_of(survey, row->axis, index), text));
}

/* What distinguishes a row from its rivals; and the algorithm that ran, if it is another. */
static const char *name_of(struct survey *survey, const struct winners *winners,
                           const struct survey_row *row)
{
    bool by[SURVEY_AXES_MAX];
    if (row == NULL)
        return "";
    for (size_t i = 0; i < SURVEY_AXES_MAX; i++)
        by[i] = i < survey->axis_count && survey->axes[i].is_series && !winners->is_given[i] &&
                (int)i != survey->x;
    const char *const name = survey_row_name(survey, row, by);
    const int ran = survey_axis_find(survey, "schedule");
    const int asked = survey_axis_find(survey, "algorithm");
    const struct survey_value *const a =
        ran < 0 ? NULL : survey_value_of(survey, row->axis, (size_t)ran);
    const struct survey_value *const b =
        asked < 0 ? NULL : survey_value_of(survey, row->axis, (size_t)asked);
    if (name == NULL || a == NULL || b == NULL || strcmp(a->text, b->text) == 0)
        return name;
    return survey_print(survey, "%s (ran %s)", name, a->text);
}

/* "io_port (overhead and work), 22.1 %": the limit without what comes of it. */
static const char *limit_of(struct survey *survey, const struct survey_row *row)
{
    static const char front[] = "limited by ";
    const char *limit = words_limit(row);
    if (limit == NULL)
        return row->bound_by != NULL ? row->bound_by : "";
    if (strncmp(limit, front, sizeof front - 1) == 0)
        limit += sizeof front - 1;
    size_t bytes = strcspn(limit, ";");
    static const char *const rests[] = {" of the time", " (twice as fast"};
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        const char *const rest = strstr(limit, rests[i]);
        if (rest != NULL && (size_t)(rest - limit) < bytes)
            bytes = (size_t)(rest - limit);
    }
    return survey_print(survey, "%.*s", (int)bytes, limit);
}

static const char *times_text(struct survey *survey, double ratio)
{
    char text[SAY_BYTES];
    return ratio > 0 ? survey_print(survey, "%s ×", say_number(ratio, text)) : "";
}

static const char *figure_text(struct survey *survey, const struct survey_row *row,
                               enum survey_figure figure)
{
    char text[SAY_BYTES];
    return isnan(row->figure[figure])
               ? ""
               : survey_text(survey, say_figure(figure, row->figure[figure], text));
}

static void add_head(struct winner_table *table, const char *head, bool is_number)
{
    table->heads[table->columns] = head;
    table->is_number[table->columns++] = is_number;
}

static void make_heads(const struct survey *survey, const struct winners *winners,
                       struct winner_table *table, bool explained)
{
    for (size_t i = 0; i < survey->axis_count; i++)
        if (winners->is_given[i] && (int)i != survey->x)
            add_head(table, say_axis(&survey->axes[i]), survey->axes[i].is_numeric);
    add_head(table, say_axis(&survey->axes[survey->x]), survey->axes[survey->x].is_numeric);
    if (winners->has_rivals)
        add_head(table, "fastest", false);
    add_head(table, "time", true);
    if (survey_has(survey, FIGURE_BUSBW) && !winners->has_rivals)
        add_head(table, "bus bandwidth", true);
    if (survey_has(survey, FIGURE_BOUND))
        add_head(table, "time / lower bound", true);
    add_head(table, explained ? "limited by" : "bound by", false);
    if (winners->has_rivals)
        add_head(table, "second, and its time / the fastest", false);
}

static void make_row(struct survey *survey, const struct winners *winners,
                     const struct winner *winner, const char **cell)
{
    const struct survey_row *const row = winner->row, *const next = winner->next;
    for (size_t i = 0; i < survey->axis_count; i++)
        if (winners->is_given[i] && (int)i != survey->x)
            *cell++ = text_of_axis(survey, winner->any, i);
    *cell++ = text_of_axis(survey, winner->any, (size_t)survey->x);
    if (row == NULL) { /* the other cells stay empty */
        *cell = "wrong data in all";
        return;
    }
    if (winners->has_rivals)
        *cell++ = name_of(survey, winners, row);
    *cell++ = figure_text(survey, row, FIGURE_TIME);
    if (survey_has(survey, FIGURE_BUSBW) && !winners->has_rivals)
        *cell++ = figure_text(survey, row, FIGURE_BUSBW);
    if (survey_has(survey, FIGURE_BOUND))
        *cell++ = times_text(survey, row->figure[FIGURE_TIME] / row->figure[FIGURE_BOUND]);
    *cell++ = limit_of(survey, row);
    if (winners->has_rivals && next != NULL) {
        const char *const ratio =
            times_text(survey, next->figure[FIGURE_TIME] / row->figure[FIGURE_TIME]);
        *cell = survey_print(survey, "%s%s%s", name_of(survey, winners, next),
                             ratio != NULL && ratio[0] != '\0' ? ", " : "", ratio);
    }
}

bool winners_table(struct survey *survey, struct winner_table *table)
{
    struct winners winners;
    bool explained = false;
    size_t rivals = 0;
    char text[SAY_BYTES];
    *table = (struct winner_table){.columns = 0};
    winners_of(survey, &winners);
    if (winners.count == 0)
        return false;
    for (size_t i = 0; i < winners.count; i++) {
        explained |= winners.cases[i].row != NULL && words_limit(winners.cases[i].row) != NULL;
        rivals = winners.cases[i].rivals > rivals ? winners.cases[i].rivals : rivals;
    }
    make_heads(survey, &winners, table, explained);
    table->cells = survey_alloc(survey, winners.count * table->columns * sizeof *table->cells);
    if (table->cells == NULL)
        return false;
    table->rows = winners.count;
    for (size_t i = 0; i < winners.count; i++)
        make_row(survey, &winners, &winners.cases[i], &table->cells[i * table->columns]);
    table->caption = winners.has_rivals
                         ? survey_print(survey, "The fastest in each case, of up to %s rows",
                                        say_number((double)rivals, text))
                         : "Each row that ran";
    return !survey->no_memory;
}
