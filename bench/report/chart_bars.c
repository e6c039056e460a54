/*
 * chart_bars.c: see chart_bars.h.
 */
#include "bench/report/chart_bars.h"

#include <math.h>
#include <string.h>

#include "bench/report/chart_frame.h"
#include "bench/survey/say.h"
#include "collectives/config/input/json_file.h"

enum { BAR = 26 };

/* A part of a bar. */
struct bar_part {
    const char *name;
    double us;
};
enum { BAR_PARTS = 64, LONG_NAME = 28 };

/* The last row of a series for which has() is true; NULL: there is none. */
static const struct survey_row *chart_last_row(const struct survey *survey, size_t s,
                                               bool (*has)(const struct survey_row *row))
{
    for (size_t i = survey->series[s].count; i-- > 0;)
        if (has(&survey->rows[survey->series[s].rows[i]]))
            return &survey->rows[survey->series[s].rows[i]];
    return NULL;
}

/* The series and the place on x, as the head of a line. */
static void put_bar_head(FILE *out, const struct survey *survey, const struct survey_row *row)
{
    char text[SAY_BYTES];
    fputs(strlen(survey->series[row->series].name) > LONG_NAME
              ? "<tr><th scope=\"row\" class=\"long\">"
              : "<tr><th scope=\"row\">",
          out);
    say_html(out, survey->series[row->series].name);
    if (survey->x >= 0) {
        const struct survey_axis *const axis = &survey->axes[survey->x];
        fputs(survey->series[row->series].name[0] != '\0' ? ", " : "", out);
        say_html(out, say_value(axis, survey_value_of(survey, row->axis, (size_t)survey->x), text));
    }
    fputs("</th>", out);
}

static void put_bar(FILE *out, const struct bar_part *parts, size_t count)
{
    double total = 0, at = 0;
    char text[SAY_BYTES];
    for (size_t i = 0; i < count; i++)
        total += fmax(parts[i].us, 0);
    fprintf(out,
            "<td><svg class=\"bar\" viewBox=\"0 0 1000 %d\" preserveAspectRatio=\"none\" "
            "role=\"img\" aria-label=\"parts of the time\">",
            BAR);
    for (size_t i = 0; i < count && total > 0; i++) {
        const double wide = 1000 * fmax(parts[i].us, 0) / total;
        fprintf(out, "<rect class=\"p%zu\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\"><title>",
                i % CHART_SERIES, at, wide, BAR);
        say_html(out, parts[i].name);
        fprintf(out, ": %s", say_time(parts[i].us, text));
        fprintf(out, ", %s %%</title></rect>", say_number(wide / 10, text));
        at += wide;
    }
    fprintf(out, "</svg></td><td class=\"n\">%s</td></tr>\n", say_time(total, text));
}

static void chart_key(FILE *out, size_t i, const char *name)
{
    fprintf(out,
            "<tr><th scope=\"row\"><svg class=\"key\" width=\"12\" height=\"12\" "
            "aria-hidden=\"true\"><rect class=\"p%zu\" width=\"12\" height=\"12\"/></svg> ",
            i % CHART_SERIES);
    say_html(out, name);
    fputs("</th>", out);
}

static bool row_has_phases(const struct survey_row *row) { return row->phase_count > 0; }

static size_t parts_of_phases(const struct survey_row *row, struct bar_part parts[BAR_PARTS])
{
    size_t count = 0;
    for (; count < row->phase_count && count < BAR_PARTS; count++)
        parts[count] = (struct bar_part){row->phases[count].name, row->phases[count].mean_us};
    return count;
}

void chart_phases(FILE *out, const struct survey *survey)
{
    struct bar_part parts[BAR_PARTS];
    size_t bars = 0;
    const struct survey_row *first = NULL;
    char text[SAY_BYTES];
    for (size_t s = 0; s < survey->series_count && bars < CHART_BARS; s++) {
        const struct survey_row *const row = chart_last_row(survey, s, row_has_phases);
        if (row == NULL)
            continue;
        if (bars++ == 0) {
            first = row;
            fputs("<table class=\"bars\"><caption>Phases, mean over the ranks</caption><tbody>",
                  out);
        }
        put_bar_head(out, survey, row);
        put_bar(out, parts, parts_of_phases(row, parts));
    }
    if (first == NULL)
        return;
    fputs("</tbody></table>\n<table class=\"small\"><caption>Phases of the first bar, of a call's "
          "last iteration, over the ranks</caption><thead><tr><th>phase</th><th "
          "class=\"n\">least</th><th class=\"n\">mean</th><th "
          "class=\"n\">most</th></tr></thead><tbody>",
          out);
    for (size_t i = 0; i < first->phase_count; i++) {
        chart_key(out, i, first->phases[i].name);
        fprintf(out, "<td class=\"n\">%s</td>", say_time(first->phases[i].min_us, text));
        fprintf(out, "<td class=\"n\">%s</td>", say_time(first->phases[i].mean_us, text));
        fprintf(out, "<td class=\"n\">%s</td></tr>", say_time(first->phases[i].max_us, text));
    }
    fputs("</tbody></table>\n", out);
}

/* ---- explained rows -------------------------------------------------------------------------- */

static bool row_is_explained(const struct survey_row *row) { return row->explain != NULL; }

/* The slowest kernel's time by use. */
static size_t parts_of_kernel(const struct survey_row *row, struct bar_part parts[BAR_PARTS])
{
    const json_t *const shares =
        json_object_get(json_object_get(row->explain, "slowest"), "shares_ns");
    const char *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)shares, key,
                        value) if (count < BAR_PARTS && json_file_figure(value) > 0)
        parts[count++] = (struct bar_part){key, json_file_figure(value) / 1e3};
    return count;
}

/* The critical path by part, the longest first. */
static size_t parts_of_path(const struct survey_row *row, struct bar_part parts[BAR_PARTS])
{
    const json_t *const list = json_object_get(json_object_get(row->explain, "path"), "parts");
    size_t count = 0, i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *const name = json_string_value(json_object_get(item, "part"));
        const double time_ns = json_file_figure(json_object_get(item, "time_ns"));
        if (name != NULL && count < BAR_PARTS)
            parts[count++] = (struct bar_part){name, isnan(time_ns) ? 0 : time_ns / 1e3};
    }
    return count;
}

/* Bars of all series, and the numbers of the first. */
static void put_explained(FILE *out, const struct survey *survey, const char *title,
                          size_t (*parts_of)(const struct survey_row *row,
                                             struct bar_part parts[BAR_PARTS]))
{
    struct bar_part parts[BAR_PARTS], first[BAR_PARTS];
    size_t bars = 0, count = 0;
    char text[SAY_BYTES];
    for (size_t s = 0; s < survey->series_count && bars < CHART_BARS; s++) {
        const struct survey_row *const row = chart_last_row(survey, s, row_is_explained);
        const size_t own = row == NULL ? 0 : parts_of(row, parts);
        if (own == 0)
            continue;
        if (bars++ == 0) {
            fprintf(out, "<table class=\"bars\"><caption>%s</caption><tbody>", title);
            memcpy(first, parts, sizeof first);
            count = own;
        }
        put_bar_head(out, survey, row);
        put_bar(out, parts, own);
    }
    if (bars == 0)
        return;
    fputs("</tbody></table>\n<table class=\"small\"><tbody>", out);
    for (size_t i = 0; i < count; i++) {
        chart_key(out, i, first[i].name);
        fprintf(out, "<td class=\"n\">%s</td></tr>", say_time(first[i].us, text));
    }
    fputs("</tbody></table>\n", out);
}

void chart_explained(FILE *out, const struct survey *survey)
{
    put_explained(out, survey, "The kernel that ended last: its time by use", parts_of_kernel);
    put_explained(out, survey, "The critical path by part", parts_of_path);
}

/* ---- ranking --------------------------------------------------------------------------------- */

void chart_ranking(FILE *out, const struct survey *survey, enum survey_figure figure)
{
    double most = 0;
    char text[SAY_BYTES];
    for (size_t s = 0; s < survey->series_count; s++)
        most = fmax(most, survey->rows[survey->series[s].rows[0]].figure[figure]);
    fprintf(out, "<table class=\"bars\"><caption>%s</caption><tbody>",
            survey_figures[figure].label);
    for (size_t s = 0; s < survey->series_count && s < CHART_BARS; s++) {
        const struct survey_row *const row = &survey->rows[survey->series[s].rows[0]];
        if (isnan(row->figure[figure]))
            continue;
        put_bar_head(out, survey, row);
        fprintf(out,
                "<td><svg class=\"bar\" viewBox=\"0 0 1000 %d\" preserveAspectRatio=\"none\" "
                "aria-hidden=\"true\"><rect class=\"p0\" width=\"%.2f\" height=\"%d\"/></svg></td>"
                "<td class=\"n\">%s</td></tr>\n",
                BAR, most > 0 ? 1000 * row->figure[figure] / most : 0, BAR,
                say_figure(figure, row->figure[figure], text));
    }
    fputs("</tbody></table>\n", out);
}
