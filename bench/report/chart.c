/*
 * chart.c: see chart.h.
 */
#include "bench/report/chart.h"

#include <math.h>
#include <string.h>

#include "bench/report/say.h"

enum { WIDTH = 620, HEIGHT = 380, LEFT = 72, RIGHT = 18, TOP = 14, BOTTOM = 54, BAR = 26 };

/* ---- scales ------------------------------------------------------------------------------------
 */

double chart_place(const struct chart_scale *scale, double value)
{
    const double least = scale->is_log ? log(scale->least) : scale->least;
    const double most = scale->is_log ? log(scale->most) : scale->most;
    const double at = scale->is_log ? log(value) : value;
    const double share = most > least ? (at - least) / (most - least) : 0.5;
    return scale->from + share * (scale->to - scale->from);
}

static size_t ticks_of_two(const struct chart_scale *scale, double ticks[CHART_TICKS])
{
    const int first = (int)ceil(log2(scale->least) - 1e-9);
    const int last = (int)floor(log2(scale->most) + 1e-9);
    const int step = last - first < 8 ? 1 : (last - first + 7) / 8;
    size_t count = 0;
    for (int power = first; power <= last && count < CHART_TICKS; power += step)
        ticks[count++] = ldexp(1, power);
    return count;
}

static size_t ticks_of_ten(struct chart_scale *scale, double ticks[CHART_TICKS])
{
    static const double many[] = {1, 2, 5}, few[] = {1};
    const double decades = log10(scale->most / scale->least);
    const double *const steps = decades < 3 ? many : few;
    const int per_decade = decades < 3 ? 3 : 1;
    const int skip = decades > 12 ? 3 : 1;
    const double least = scale->least, most = scale->most;
    const int from = (int)floor(log10(least)), to = (int)ceil(log10(most));
    size_t count = 0;
    for (int decade = from; decade <= to; decade += skip)
        for (int i = 0; i < per_decade && count < CHART_TICKS; i++) {
            const double tick = steps[i] * pow(10, decade);
            const double next = i + 1 < per_decade ? steps[i + 1] * pow(10, decade)
                                                   : steps[0] * pow(10, decade + skip);
            const bool ends = count > 0 && ticks[count - 1] >= most * (1 - 1e-9);
            if (next > least * (1 + 1e-9) && !ends)
                ticks[count++] = tick;
        }
    scale->least = fmin(least, ticks[0]);
    scale->most = fmax(most, ticks[count - 1]);
    return count;
}

static size_t ticks_linear(struct chart_scale *scale, double ticks[CHART_TICKS])
{
    const double span = scale->most > scale->least ? scale->most - scale->least : 1;
    const double power = pow(10, floor(log10(span / 5)));
    const double steps = span / 5 / power;
    const double step = power * (steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 5 : 10);
    const double first = floor(scale->least / step + 1e-9) * step;
    size_t count = 0;
    do
        ticks[count] = first + (double)count * step;
    while (ticks[count++] < scale->most - step * 1e-9 && count < CHART_TICKS);
    scale->least = ticks[0];
    scale->most = ticks[count - 1];
    return count;
}

size_t chart_ticks(struct chart_scale *scale, bool of_bytes, double ticks[CHART_TICKS])
{
    if (!scale->is_log)
        return ticks_linear(scale, ticks);
    if (of_bytes && scale->most > scale->least)
        return ticks_of_two(scale, ticks);
    return ticks_of_ten(scale, ticks);
}

/* ---- curves ------------------------------------------------------------------------------------
 */

struct chart {
    FILE *out;
    const struct survey *survey;
    enum survey_figure figure;
    struct chart_scale x, y;
};

bool chart_has(const struct survey *survey, enum survey_figure figure)
{
    for (size_t i = 0; i < survey->row_count; i++)
        if (survey->rows[i].series != UINT32_MAX && !isnan(survey->rows[i].figure[figure]))
            return true;
    return false;
}

static void chart_include(struct chart_scale *scale, double value)
{
    if (isnan(value))
        return;
    scale->least = fmin(scale->least, value);
    scale->most = fmax(scale->most, value);
}

/* Times need a logarithm nearly always; rates where they differ by more than 30. */
static bool chart_range(struct chart *chart)
{
    const struct survey *const survey = chart->survey;
    chart->x = (struct chart_scale){
        .least = INFINITY, .most = -INFINITY, .from = LEFT, .to = WIDTH - RIGHT};
    chart->y = (struct chart_scale){
        .least = INFINITY, .most = -INFINITY, .from = HEIGHT - BOTTOM, .to = TOP};
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        const double x = survey_x_of(survey, row);
        if (row->series == UINT32_MAX || isnan(x) || isnan(row->figure[chart->figure]))
            continue;
        chart_include(&chart->x, x);
        chart_include(&chart->y, row->figure[chart->figure]);
        if (chart->figure == FIGURE_TIME) {
            chart_include(&chart->y, row->figure[FIGURE_BOUND]);
            chart_include(&chart->y, row->figure[FIGURE_MEASURED]);
        }
    }
    if (!(chart->x.least <= chart->x.most))
        return false;
    chart->x.is_log = chart->x.least > 0 && chart->x.most >= 8 * chart->x.least;
    chart->y.is_log = chart->y.least > 0 && chart->y.most >= 30 * chart->y.least;
    if (!chart->y.is_log)
        chart->y.least = fmin(chart->y.least, 0);
    return true;
}

static void chart_frame(struct chart *chart)
{
    const struct survey_axis *const axis = &chart->survey->axes[chart->survey->x];
    const struct survey_figure_row *const figure = &survey_figures[chart->figure];
    double ticks[CHART_TICKS];
    char text[SAY_BYTES];
    size_t count = chart_ticks(&chart->y, false, ticks);
    for (size_t i = 0; i < count; i++) {
        const double y = chart_place(&chart->y, ticks[i]);
        fprintf(chart->out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"tick\" x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%s</text>",
                LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4, say_number(ticks[i], text));
    }
    count = chart_ticks(&chart->x, axis->is_bytes, ticks);
    for (size_t i = 0; i < count; i++) {
        const double x = chart_place(&chart->x, ticks[i]);
        fprintf(chart->out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%s</text>",
                x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18,
                axis->is_bytes ? say_size(ticks[i], text) : say_number(ticks[i], text));
    }
    fprintf(chart->out, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
    say_html(chart->out, say_axis(axis));
    fprintf(chart->out,
            "</text><text class=\"axis\" transform=\"translate(16 %d) rotate(-90)\" "
            "text-anchor=\"middle\">",
            (TOP + HEIGHT - BOTTOM) / 2);
    say_html(chart->out, figure->label);
    fprintf(chart->out, " (%s)</text>", figure->unit);
}

/* A marker for each series, of one size. */
static void chart_marker(FILE *out, size_t series, double x, double y, bool is_open)
{
    static const char *const forms[CHART_SERIES] = {"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
                                                    "m-3.5 -3.5h7v7h-7z",
                                                    "m0 -4.6l4.4 7.8h-8.8z",
                                                    "m0 -5l4.4 5l-4.4 5l-4.4 -5z",
                                                    "m0 4.6l4.4 -7.8h-8.8z",
                                                    "m-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
                                                    "m-4.5 -2h9v4h-9z",
                                                    "m-2 -4.5h4v9h-4z"};
    fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1f%s\"/>", is_open ? "open" : "dot", x, y,
            forms[series % CHART_SERIES]);
}

static void chart_line(struct chart *chart, const struct survey_series *series,
                       enum survey_figure figure, const char *class)
{
    char command = 'M';
    fprintf(chart->out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < series->count; i++) {
        const struct survey_row *const row = &chart->survey->rows[series->rows[i]];
        const double x = survey_x_of(chart->survey, row), y = row->figure[figure];
        if (isnan(x) || isnan(y))
            continue;
        fprintf(chart->out, "%c%.1f %.1f", command, chart_place(&chart->x, x),
                chart_place(&chart->y, y));
        command = 'L';
    }
    fputs("\"/>", chart->out);
}

static void chart_points(struct chart *chart, size_t s, enum survey_figure figure)
{
    const struct survey_series *const series = &chart->survey->series[s];
    for (size_t i = 0; i < series->count; i++) {
        const struct survey_row *const row = &chart->survey->rows[series->rows[i]];
        const double x = survey_x_of(chart->survey, row), y = row->figure[figure];
        if (!isnan(x) && !isnan(y))
            chart_marker(chart->out, s, chart_place(&chart->x, x), chart_place(&chart->y, y),
                         figure == FIGURE_MEASURED);
    }
}

void chart_curves(FILE *out, const struct survey *survey, enum survey_figure figure)
{
    struct chart chart = {.out = out, .survey = survey, .figure = figure};
    if (survey->x < 0 || !chart_range(&chart))
        return;
    fprintf(out,
            "<figure class=\"chart\"><figcaption>%s</figcaption><svg viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"%s over ",
            survey_figures[figure].label, WIDTH, HEIGHT, survey_figures[figure].label);
    say_html(out, say_axis(&survey->axes[survey->x]));
    fputs("\">", out);
    chart_frame(&chart);
    for (size_t i = survey->series_count; i-- > 0;) {
        const bool has_colour = i < CHART_SERIES;
        fprintf(out, has_colour ? "<g class=\"c%zu\">" : "<g class=\"cx\">", i);
        if (figure == FIGURE_TIME && has_colour)
            chart_line(&chart, &survey->series[i], FIGURE_BOUND, "bound");
        chart_line(&chart, &survey->series[i], figure, "line");
        if (has_colour)
            chart_points(&chart, i, figure);
        if (figure == FIGURE_TIME && has_colour)
            chart_points(&chart, i, FIGURE_MEASURED);
        fputs("</g>", out);
    }
    fputs("</svg></figure>\n", out);
}

void chart_legend(FILE *out, const struct survey *survey)
{
    fputs("<ul class=\"legend\">", out);
    for (size_t i = 0; i < survey->series_count && i < CHART_SERIES; i++) {
        fprintf(out,
                "<li class=\"c%zu\"><svg width=\"30\" height=\"12\" aria-hidden=\"true\">"
                "<path class=\"line\" d=\"M1 6H29\"/>",
                i);
        chart_marker(out, i, 15, 6, false);
        fputs("</svg> <span>", out);
        say_html(out, survey->series[i].name[0] != '\0' ? survey->series[i].name : "simulated");
        fputs("</span></li>", out);
    }
    if (survey->series_count > CHART_SERIES)
        fprintf(out,
                "<li class=\"cx\"><svg width=\"30\" height=\"12\" aria-hidden=\"true\"><path "
                "class=\"line\" d=\"M1 6H29\"/></svg> %zu more</li>",
                survey->series_count - CHART_SERIES);
    if (chart_has(survey, FIGURE_BOUND))
        fputs("<li><svg width=\"30\" height=\"12\" aria-hidden=\"true\"><path class=\"bound\" "
              "d=\"M1 6H29\"/></svg> lower bound</li>",
              out);
    if (chart_has(survey, FIGURE_MEASURED)) {
        fputs("<li><svg width=\"30\" height=\"12\" aria-hidden=\"true\">", out);
        chart_marker(out, 0, 15, 6, true);
        fputs("</svg> measured</li>", out);
    }
    fputs("</ul>\n", out);
}

/* ---- bars --------------------------------------------------------------------------------------
 */

/* A part of a bar. */
struct bar_part {
    const char *name;
    double us;
};
enum { BAR_PARTS = 64, LONG_NAME = 28 };

/* The last row of a series that has what `has` asks for; NULL: none has. */
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

/* ---- explained rows ----------------------------------------------------------------------------
 */

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
                        value) if (count < BAR_PARTS && json_number_value(value) > 0)
        parts[count++] = (struct bar_part){key, json_number_value(value) / 1e3};
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
        if (name != NULL && count < BAR_PARTS)
            parts[count++] =
                (struct bar_part){name, json_number_value(json_object_get(item, "time_ns")) / 1e3};
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

/* ---- ranking -----------------------------------------------------------------------------------
 */

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
