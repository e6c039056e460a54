/*
 * page_data.c: writes a survey as JSON for the page's script (page_data.h describes it).
 */
#include "bench/report/page_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report/page_step.h"
#include "bench/survey/say.h"
#include "bench/survey/words.h"

enum { LOG_ROWS = 2000 }; /* rounds in a page; of a longer log, every n-th */

static void put_key(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\":", key);
    say_json(out, text);
}

static const char *comma(size_t i) { return i == 0 ? "" : ","; }
static const char *truth(bool is_true) { return is_true ? "true" : "false"; }

static void data_axes(FILE *out, const struct survey *survey)
{
    fputs("\"axes\":[", out);
    for (size_t i = 0; i < survey->axis_count; i++) {
        const struct survey_axis *const axis = &survey->axes[i];
        fprintf(out, "%s{", comma(i));
        put_key(out, "name", axis->name);
        fputc(',', out);
        put_key(out, "label", say_axis(axis));
        fputc(',', out);
        put_key(out, "unit", say_axis_unit(axis));
        fprintf(out,
                ",\"kind\":%d,\"numeric\":%s,\"bytes\":%s,\"varies\":%s,\"series\":%s,\"texts\":[",
                (int)axis->kind, truth(axis->is_numeric), truth(axis->is_bytes),
                truth(axis->varies), truth(axis->is_series));
        for (uint32_t v = 0; v < axis->count; v++) {
            char text[SAY_BYTES];
            fputs(comma(v), out);
            say_json(out, say_value(axis, &axis->values[v], text));
        }
        fputs("],\"numbers\":[", out);
        for (uint32_t v = 0; v < axis->count && axis->is_numeric; v++) /* exact: sizes are long */
            fprintf(out, "%s%.17g", comma(v), axis->values[v].number);
        fputs("]}", out);
    }
    fputs("],\n", out);
}

/* Writes the figures that any row has, and their indices into `kept`. Returns how many. */
static size_t data_figures(FILE *out, const struct survey *survey, int kept[SURVEY_FIGURES])
{
    size_t count = 0;
    fputs("\"figures\":[", out);
    for (int f = 0; f < SURVEY_FIGURES; f++) {
        if (!survey_has(survey, (enum survey_figure)f))
            continue;
        const struct survey_figure_row *const figure = &survey_figures[f];
        fprintf(out, "%s{\"key\":\"%s\",\"label\":\"%s\",\"unit\":\"%s\",\"better\":%d}",
                comma(count), figure->key, figure->label, figure->unit, figure->better);
        kept[count++] = f;
    }
    fputs("],\n", out);
    return count;
}

static void data_points(FILE *out, const struct survey *survey)
{
    fputs("\"points\":[", out);
    for (size_t i = 0; i < survey->point_count; i++) {
        const struct survey_point *const point = &survey->points[i];
        fprintf(out, "%s{", comma(i));
        put_key(out, "label", point->label);
        fputc(',', out);
        put_key(out, "state", survey_state_names[point->state]);
        if (point->message != NULL) {
            fputc(',', out);
            put_key(out, "message", point->message);
        }
        if (point->command != NULL) {
            fputc(',', out);
            put_key(out, "command", point->command);
        }
        fputc('}', out);
    }
    fputs("],\n", out);
}

/* What is wrong with a row's data, in short and in full; null: nothing, or it was not verified. */
static void data_flaw(FILE *out, struct survey *survey, const struct survey_row *row,
                      const char *before)
{
    const char *const name = words_flaw(row);
    fputs(before, out);
    if (name != NULL)
        fputc('[', out);
    say_json(out, name);
    if (name != NULL) {
        fputc(',', out);
        say_json(out, words_flaws(survey, row));
        fputc(']', out);
    }
}

static void data_rows(FILE *out, struct survey *survey, const int *figures, size_t count)
{
    const size_t rows = survey->row_count;
    fputs("\"rows\":{\"point\":[", out);
    for (size_t i = 0; i < rows; i++)
        fprintf(out, "%s%zu", comma(i), survey->rows[i].point);
    fputs("],\n\"axis\":[", out);
    for (size_t a = 0; a < survey->axis_count; a++) {
        fprintf(out, "%s[", comma(a));
        for (size_t i = 0; i < rows; i++)
            fprintf(out, "%s%d", comma(i), (int)survey->rows[i].axis[a] - 1);
        fputc(']', out);
    }
    fputs("],\n\"figure\":[", out);
    for (size_t f = 0; f < count; f++) {
        fprintf(out, "%s[", comma(f));
        for (size_t i = 0; i < rows; i++) {
            fputs(comma(i), out);
            say_json_number(out, survey->rows[i].figure[figures[f]]);
        }
        fputs("]\n", out);
    }
    fputs("],\"not_run\":[", out);
    for (size_t i = 0; i < rows; i++) {
        fputs(comma(i), out);
        say_json(out, survey->rows[i].not_run);
    }
    fputs("],\"flaw\":[", out);
    for (size_t i = 0; i < rows; i++)
        data_flaw(out, survey, &survey->rows[i], comma(i));
    fputs("],\"bound_by\":[", out);
    for (size_t i = 0; i < rows; i++) {
        fputs(comma(i), out);
        say_json(out, survey->rows[i].bound_by);
    }
    fputs("]},\n", out);
}

/* ---- phases and kinds of links: names once, then numbers ------------------------------------- */

struct name_list {
    const char **names;
    size_t count, room;
};

static size_t name_index(struct survey *survey, struct name_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0)
            return i;
    const char **const place =
        survey_more(survey, &list->names, &list->count, &list->room, sizeof *place);
    if (place == NULL)
        return 0;
    *place = name;
    return list->count - 1;
}

static void put_names(FILE *out, struct name_list *list)
{
    fputs("\"names\":[", out);
    for (size_t i = 0; i < list->count; i++) {
        fputs(comma(i), out);
        say_json(out, list->names[i]);
    }
    fputs("]},\n", out);
    free(list->names);
}

static void put_short(FILE *out, double number)
{
    fputc(',', out);
    if (isfinite(number))
        fprintf(out, "%.12g", number);
    else
        fputs("null", out);
}

static void data_phases(FILE *out, struct survey *survey)
{
    struct name_list list = {0};
    fputs("\"phases\":{\"rows\":[", out);
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        fputs(comma(i), out);
        if (row->phase_count == 0) {
            fputs("null", out);
            continue;
        }
        fputc('[', out);
        for (size_t p = 0; p < row->phase_count; p++) {
            fprintf(out, "%s%zu", comma(p), name_index(survey, &list, row->phases[p].name));
            put_short(out, row->phases[p].mean_us);
            put_short(out, row->phases[p].max_us);
        }
        fputc(']', out);
    }
    fputs("],", out);
    put_names(out, &list);
}

static void data_kinds(FILE *out, struct survey *survey)
{
    struct name_list list = {0};
    fputs("\"kinds\":{\"rows\":[", out);
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        fputs(comma(i), out);
        if (row->kind_count == 0) {
            fputs("null", out);
            continue;
        }
        fputc('[', out);
        for (size_t k = 0; k < row->kind_count; k++) {
            fprintf(out, "%s%zu", comma(k), name_index(survey, &list, row->kinds[k].name));
            put_short(out, row->kinds[k].links);
            put_short(out, row->kinds[k].bytes);
            put_short(out, row->kinds[k].busy);
        }
        fputc(']', out);
    }
    fputs("],", out);
    put_names(out, &list);
}

static void data_explain(FILE *out, const struct survey *survey)
{
    bool any = false;
    for (size_t i = 0; i < survey->row_count; i++)
        any = any || survey->rows[i].explain != NULL;
    fputs("\"explain\":[", out);
    for (size_t i = 0; any && i < survey->row_count; i++) {
        fputs(comma(i), out);
        if (survey->rows[i].explain != NULL)
            say_json_value(out, survey->rows[i].explain);
        else
            fputs("null", out);
    }
    fputs("],\n", out);
}

/* ---- logs and histories ---------------------------------------------------------------------- */

static void data_logs(FILE *out, const struct survey *survey)
{
    fputs("\"logs\":[", out);
    for (size_t i = 0; i < survey->log_count; i++) {
        const struct survey_log *const log = &survey->logs[i];
        const size_t step = (log->count + LOG_ROWS - 1) / LOG_ROWS;
        fprintf(out, "%s{", comma(i));
        put_key(out, "source", log->source);
        fputs(",\"columns\":[\"wall_s\",\"gvt_ps\",\"committed\",\"processed\",\"undone\","
              "\"memory\",\"idle\"],\"rows\":[",
              out);
        for (size_t r = 0; r < log->count; r += step) {
            /* the last of each group, since counts are cumulative */
            const size_t at = r + step <= log->count ? r + step - 1 : log->count - 1;
            fprintf(out, "%s[", comma(r));
            for (size_t c = 0; c < LOG_COLUMNS; c++) {
                fputs(comma(c), out);
                say_json_number(out, log->values[at * LOG_COLUMNS + c]);
            }
            fputc(']', out);
        }
        fputs("]}", out);
    }
    fputs("],\n", out);
}

static void data_cases(FILE *out, const struct survey *survey)
{
    fputs("\"cases\":[", out);
    for (size_t i = 0; i < survey->case_count; i++) {
        const struct survey_case *const one = &survey->cases[i];
        fprintf(out, "%s{", comma(i));
        put_key(out, "name", one->name);
        fputc(',', out);
        put_key(out, "host", one->host);
        fputs(",\"measures\":[", out);
        for (size_t m = 0; m < one->count; m++) {
            const struct survey_measure *const measure = &one->measures[m];
            fprintf(out, "%s[", comma(m));
            say_json(out, measure->started);
            fputc(',', out);
            say_json(out, measure->commit);
            put_short(out, measure->median);
            put_short(out, measure->least);
            put_short(out, measure->most);
            fprintf(out, ",%d,%d]", measure->disturbed, measure->changed);
        }
        fputs("]}", out);
    }
    fputs("],\n", out);
}

void page_write_data(FILE *out, struct survey *survey, const char *title)
{
    int figures[SURVEY_FIGURES];
    fputc('{', out);
    put_key(out, "title", title);
    fprintf(out, ",\"x\":%d,\n", survey->x);
    data_axes(out, survey);
    const size_t count = data_figures(out, survey, figures);
    data_points(out, survey);
    data_rows(out, survey, figures, count);
    data_phases(out, survey);
    data_kinds(out, survey);
    data_explain(out, survey);
    data_logs(out, survey);
    data_cases(out, survey);
    page_write_step_data(out, survey);
    fputs("\"end\":true}", out);
}
