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

/* Whether a row reduces less than the size of a rank that was asked for, since its algorithm adds a
 * rank's shards together: other work, which is done sooner. */
static bool adds_shards(const struct survey *survey, const struct survey_row *row)
{
    const int axis = survey_axis_find(survey, "bytes_per_rank");
    const struct survey_value *const size =
        axis < 0 ? NULL : survey_value_of(survey, row->axis, (size_t)axis);
    const double reduced =
        row->figure[FIGURE_ALGBW] * row->figure[FIGURE_TIME] * 1e3;     /* GB/s, us */
    return size != NULL && reduced > 0 && reduced < 0.9 * size->number; /* sizes are rounded */
}

/* One that reduces all that was asked for comes before one that does not. */
static bool is_faster(const struct survey *survey, const struct survey_row *row,
                      const struct survey_row *than)
{
    if (than == NULL)
        return true;
    const bool less = adds_shards(survey, row);
    return less != adds_shards(survey, than) ? !less
                                             : row->figure[FIGURE_TIME] < than->figure[FIGURE_TIME];
}

static void winner_take(const struct survey *survey, struct winner *winner,
                        const struct survey_row *row)
{
    winner->any = winner->any == NULL ? row : winner->any;
    winner->rivals++;
    if (row->wrong > 0)
        return;
    if (is_faster(survey, row, winner->row)) {
        winner->next = winner->row;
        winner->row = row;
    } else if (is_faster(survey, row, winner->next)) {
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
        winner_take(survey, &winners->cases[*at - 1], row);
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

/* ---- in how many cases ----------------------------------------------------------------------- */

enum { TALLY_SHOWN = 4 };

/* The fastest row of each group, by its index plus 1; returns how many groups there are. */
static size_t fastest_of_groups(const struct survey *survey, const uint32_t *groups,
                                uint32_t *fastest)
{
    size_t count = 0;
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        uint32_t *const best = &fastest[groups[i]];
        if (row->series == UINT32_MAX || row->wrong > 0 || isnan(row->figure[FIGURE_TIME]))
            continue;
        count += *best == 0;
        if (*best == 0 || is_faster(survey, row, &survey->rows[*best - 1]))
            *best = (uint32_t)i + 1;
    }
    return count;
}

/* "ring in 12, tree in 3": the choices that win most often. */
static const char *tally_text(struct survey *survey, const uint32_t *fastest,
                              const uint32_t *choices, const bool by[SURVEY_AXES_MAX],
                              uint32_t *wins)
{
    const char *list = "";
    for (size_t g = 0; g < survey->row_count; g++)
        if (fastest[g] > 0)
            wins[choices[fastest[g] - 1]]++;
    for (int shown = 0; shown < TALLY_SHOWN && list != NULL; shown++) {
        size_t best = survey->row_count;
        for (size_t i = 0; i < survey->row_count; i++)
            if (wins[choices[i]] > 0 &&
                (best == survey->row_count || wins[choices[i]] > wins[choices[best]]))
                best = i;
        if (best == survey->row_count)
            break;
        list = survey_print(survey, "%s%s%s in %u", list, shown == 0 ? "" : ", ",
                            survey_row_name(survey, &survey->rows[best], by), wins[choices[best]]);
        wins[choices[best]] = 0;
    }
    return list;
}

const char *winners_tally(struct survey *survey)
{
    bool by[SURVEY_AXES_MAX] = {false}, choice[SURVEY_AXES_MAX] = {false}, any = false;
    const size_t rows = survey->row_count;
    const char *sentence = NULL;
    find_given(survey, by);
    for (size_t i = 0; i < survey->axis_count; i++) {
        any |= by[i];
        choice[i] = survey->axes[i].is_series && !by[i];
    }
    if (survey->x < 0 || rows == 0 || !any)
        return NULL;
    by[survey->x] = true;
    uint32_t *const groups = calloc(rows, sizeof *groups), *const choices =
                                                               calloc(rows, sizeof *groups);
    uint32_t *const fastest = calloc(rows, sizeof *fastest), *const wins =
                                                                 calloc(rows, sizeof *groups);
    if (groups == NULL || choices == NULL || fastest == NULL || wins == NULL) {
        survey->no_memory = true;
    } else {
        survey_group_rows(survey, by, groups);
        survey_group_rows(survey, choice, choices);
        const size_t count = fastest_of_groups(survey, groups, fastest);
        const char *const list =
            count > WINNERS_MAX ? tally_text(survey, fastest, choices, choice, wins) : NULL;
        if (list != NULL)
            sentence = survey_print(survey,
                                    "Of %zu cases, one for each %s and setting, the fastest "
                                    "is %s.",
                                    count, say_axis(&survey->axes[survey->x]), list);
    }
    free(groups);
    free(choices);
    free(fastest);
    free(wins);
    return sentence;
}

/* ---- as a table ------------------------------------------------------------------------------ */

static const char *text_of_axis(struct survey *survey, const struct survey_row *row, size_t index)
{
    char text[SAY_BYTES];
    return survey_text(
        survey, say_value(&survey->axes[index], survey_value_of(survey, row->axis, index), text));
}

/* A row's value on an axis that is called by its name; NULL: none. */
static const char *own_text(const struct survey *survey, const struct survey_row *row,
                            const char *name)
{
    const int axis = survey_axis_find(survey, name);
    const struct survey_value *const value =
        axis < 0 ? NULL : survey_value_of(survey, row->axis, (size_t)axis);
    return value != NULL ? value->text : NULL;
}

/* Whether rows differ in the placement, and no axis of `by` says it. */
static bool names_no_placement(const struct survey *survey, const bool by[SURVEY_AXES_MAX])
{
    const int axis = survey_axis_find(survey, "placement");
    return axis >= 0 && survey->axes[axis].varies && !by[axis];
}

/* ", 16 shards per rank", where rows differ in that and nothing else says where the shards are. */
static const char *shards_text(struct survey *survey, const struct survey_row *row,
                               const bool by[SURVEY_AXES_MAX])
{
    const int axis = survey_axis_find(survey, "shards_per_rank");
    bool is_said = axis < 0 || !survey->axes[axis].varies;
    for (size_t i = 0; i < survey->axis_count; i++)
        is_said = is_said || (by[i] && strstr(survey->axes[i].name, "mapper") != NULL);
    const struct survey_value *const value =
        is_said ? NULL : survey_value_of(survey, row->axis, (size_t)axis);
    return value == NULL ? ""
                         : survey_print(survey, ", %s shard%s per rank", value->text,
                                        value->number == 1 ? "" : "s");
}

/* What distinguishes a row from its rivals; the algorithm that ran, if it is another, with the
 * placement that `auto` took; and what is wrong with the data. */
static const char *name_of(struct survey *survey, const struct winners *winners,
                           const struct survey_row *row)
{
    bool by[SURVEY_AXES_MAX];
    if (row == NULL)
        return "";
    for (size_t i = 0; i < SURVEY_AXES_MAX; i++)
        by[i] = i < survey->axis_count && survey->axes[i].is_series && !winners->is_given[i] &&
                (int)i != survey->x;
    const char *name = survey_row_name(survey, row, by);
    const char *const ran = own_text(survey, row, "schedule");
    const char *const asked = own_text(survey, row, "algorithm");
    const char *const placement = own_text(survey, row, "placement");
    const char *const flaw = words_flaw(row);
    const bool is_other = ran != NULL && asked != NULL && strcmp(ran, asked) != 0;
    if (name != NULL && is_other)
        name = survey_print(survey, "%s (ran %s%s%s)", name, ran, placement != NULL ? " on " : "",
                            placement != NULL ? placement : "");
    else if (name != NULL && placement != NULL && names_no_placement(survey, by))
        name = survey_print(survey, "%s on %s", name, placement);
    else if (name != NULL && placement == NULL)
        name = survey_print(survey, "%s%s", name, shards_text(survey, row, by));
    if (name != NULL && adds_shards(survey, row))
        name = survey_print(survey, "%s, which adds a rank's shards together: other work", name);
    return name == NULL || flaw == NULL ? name : survey_print(survey, "%s, %s", name, flaw);
}

/* "io_port (overhead and work), 22.1 %": the limit without what comes of it. What is slow is named
 * with its place: "pe_math (overhead and work), 74.9 %, 20.0 × slower in SIP 1". */
static const char *limit_of(struct survey *survey, const struct survey_row *row, bool explained)
{
    static const char front[] = "limited by ";
    const char *limit = words_limit(row);
    if (limit == NULL && explained)
        return "no critical path";
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
    static const char opening[] = " of the time (";
    const char *const slow = strstr(limit, opening);
    const char *const end = strstr(limit, "; with half the slowness");
    if (slow == NULL || end == NULL)
        return survey_print(survey, "%.*s", (int)bytes, limit);
    const char *const first = slow + sizeof opening - 1;
    return survey_print(survey, "%.*s, %.*s", (int)bytes, limit, (int)(end - first), first);
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

/* Whether `auto` took several algorithms. */
static bool schedules_vary(const struct survey *survey)
{
    const int axis = survey_axis_find(survey, "schedule");
    return axis >= 0 && survey->axes[axis].varies;
}

/* "torus_rs_ag on all_pes" */
static const char *ran_text(struct survey *survey, const struct survey_row *row)
{
    const char *const ran = own_text(survey, row, "schedule");
    const char *const placement = own_text(survey, row, "placement");
    return ran == NULL ? ""
                       : survey_print(survey, "%s%s%s", ran, placement != NULL ? " on " : "",
                                      placement != NULL ? placement : "");
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
    else if (schedules_vary(survey))
        add_head(table, "ran", false);
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
                     const struct winner *winner, bool explained, const char **cell)
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
    else if (schedules_vary(survey))
        *cell++ = ran_text(survey, row);
    *cell++ = figure_text(survey, row, FIGURE_TIME);
    if (survey_has(survey, FIGURE_BUSBW) && !winners->has_rivals)
        *cell++ = figure_text(survey, row, FIGURE_BUSBW);
    if (survey_has(survey, FIGURE_BOUND))
        *cell++ = times_text(survey, row->figure[FIGURE_TIME] / row->figure[FIGURE_BOUND]);
    *cell++ = limit_of(survey, row, explained);
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
        make_row(survey, &winners, &winners.cases[i], explained, &table->cells[i * table->columns]);
    table->caption = winners.has_rivals
                         ? survey_print(survey, "The fastest in each case, of up to %s rows",
                                        say_number((double)rivals, text))
                         : "Each row that ran";
    return !survey->no_memory;
}
