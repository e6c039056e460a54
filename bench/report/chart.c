/*
 * chart.c: see chart.h.
 */
#include "bench/report/chart.h"

#include <math.h>
#include <string.h>

#include "bench/survey/say.h"

bool chart_has(const struct survey *survey, enum survey_figure figure)
{
    for (size_t i = 0; i < survey->row_count; i++)
        if (survey->rows[i].series != UINT32_MAX && !isnan(survey->rows[i].figure[figure]))
            return true;
    return false;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* The values of a figure, and beside times those of bounds and of measured times. */
static void include_rows(struct chart *chart, const struct survey *survey,
                         enum survey_figure figure)
{
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        const double x = survey_x_of(survey, row);
        if (row->series == UINT32_MAX || isnan(x) || isnan(row->figure[figure]))
            continue;
        chart_include(&chart->x, x);
        chart_include(&chart->y, row->figure[figure]);
        if (figure == FIGURE_TIME) {
            chart_include(&chart->y, row->figure[FIGURE_BOUND]);
            chart_include(&chart->y, row->figure[FIGURE_MEASURED]);
        }
    }
}

static void put_line(struct chart *chart, const struct survey *survey, size_t s,
                     enum survey_figure figure, const char *class)
{
    const struct survey_series *const series = &survey->series[s];
    chart_path_begin(chart, class);
    for (size_t i = 0; i < series->count; i++) {
        const struct survey_row *const row = &survey->rows[series->rows[i]];
        chart_path_point(chart, survey_x_of(survey, row), row->figure[figure]);
    }
    chart_path_end(chart);
}

static void put_points(struct chart *chart, const struct survey *survey, size_t s,
                       enum survey_figure figure)
{
    const struct survey_series *const series = &survey->series[s];
    for (size_t i = 0; i < series->count; i++) {
        const struct survey_row *const row = &survey->rows[series->rows[i]];
        const double x = survey_x_of(survey, row), y = row->figure[figure];
        if (!isnan(x) && !isnan(y))
            chart_marker(chart->out, s, chart_place(&chart->x, x), chart_place(&chart->y, y),
                         figure == FIGURE_MEASURED);
    }
}

void chart_curves(FILE *out, const struct survey *survey, enum survey_figure figure)
{
    if (survey->x < 0)
        return;
    const struct survey_axis *const axis = &survey->axes[survey->x];
    const char *const unit = say_axis_unit(axis);
    char label[160];
    snprintf(label, sizeof label, "%.120s%s%s%s", say_axis(axis), unit[0] != '\0' ? " (" : "", unit,
             unit[0] != '\0' ? ")" : "");
    struct chart chart = {.out = out,
                          .x_label = label,
                          .y_label = survey_figures[figure].label,
                          .y_unit = survey_figures[figure].unit,
                          .of_bytes = axis->is_bytes};
    double values[CHART_TICKS];
    for (uint32_t i = 0; i < axis->count && axis->count <= CHART_TICKS; i++) {
        values[i] = axis->values[i].number;
        chart.x_values = values;
        chart.x_value_count = i + 1;
    }
    chart_begin(&chart);
    include_rows(&chart, survey, figure);
    if (!chart_open(&chart))
        return;
    for (size_t i = survey->series_count; i-- > 0;) {
        const bool has_colour = i < CHART_SERIES;
        fprintf(out, has_colour ? "<g class=\"c%zu\">" : "<g class=\"cx\">", i);
        if (figure == FIGURE_TIME && has_colour)
            put_line(&chart, survey, i, FIGURE_BOUND, "bound");
        put_line(&chart, survey, i, figure, "line");
        if (has_colour)
            put_points(&chart, survey, i, figure);
        if (figure == FIGURE_TIME && has_colour)
            put_points(&chart, survey, i, FIGURE_MEASURED);
        fputs("</g>", out);
    }
    chart_close(&chart);
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

/* ---- histories and logs ---------------------------------------------------------------------- */

static void put_item(FILE *out, size_t i, const char *name)
{
    fprintf(out,
            "<li class=\"c%zu\"><svg width=\"30\" height=\"12\" aria-hidden=\"true\"><path "
            "class=\"line\" d=\"M1 6H29\"/>",
            i % CHART_SERIES);
    chart_marker(out, i, 15, 6, false);
    fputs("</svg> <span>", out);
    say_html(out, name);
    fputs("</span></li>", out);
}

void chart_history(FILE *out, const struct survey *survey)
{
    struct chart chart = {.out = out,
                          .x_label = "run, oldest first",
                          .y_label = "events per second / those of the first run",
                          .y_unit = "",
                          .in_order = true,
                          .is_free = true};
    chart_begin(&chart);
    for (size_t c = 0; c < survey->case_count; c++)
        for (size_t i = 0; i < survey->cases[c].count; i++) {
            const struct survey_measure *const measures = survey->cases[c].measures;
            chart_include(&chart.x, (double)i + 1);
            chart_include(&chart.y, measures[i].median / measures[0].median);
        }
    if (!chart_open(&chart))
        return;
    for (size_t c = 0; c < survey->case_count; c++) {
        const struct survey_measure *const measures = survey->cases[c].measures;
        fprintf(out, "<g class=\"c%zu\">", c % CHART_SERIES);
        chart_path_begin(&chart, "line");
        for (size_t i = 0; i < survey->cases[c].count; i++)
            chart_path_point(&chart, (double)i + 1, measures[i].median / measures[0].median);
        chart_path_end(&chart);
        for (size_t i = 0; i < survey->cases[c].count; i++)
            chart_marker(out, c, chart_place(&chart.x, (double)i + 1),
                         chart_place(&chart.y, measures[i].median / measures[0].median),
                         measures[i].changed);
        fputs("</g>", out);
    }
    chart_close(&chart);
    fputs("<ul class=\"legend\">", out);
    for (size_t c = 0; c < survey->case_count; c++)
        put_item(out, c, survey->cases[c].name);
    fputs("</ul>\n", out);
}

/* Of a round from the one before; NAN for the first. */
static double log_rate(const struct survey_log *log, size_t i)
{
    const double *const now = &log->values[i * LOG_COLUMNS];
    const double *const before = i == 0 ? NULL : now - LOG_COLUMNS;
    if (before == NULL || !(now[LOG_WALL] > before[LOG_WALL]))
        return NAN;
    return (now[LOG_COMMITTED] - before[LOG_COMMITTED]) / (now[LOG_WALL] - before[LOG_WALL]) / 1e6;
}

void chart_logs(FILE *out, const struct survey *survey)
{
    struct chart chart = {.out = out,
                          .x_label = "wall time (s)",
                          .y_label = "events per second",
                          .y_unit = "millions",
                          .in_order = true};
    chart_begin(&chart);
    for (size_t l = 0; l < survey->log_count; l++)
        for (size_t i = 0; i < survey->logs[l].count; i++)
            if (!isnan(log_rate(&survey->logs[l], i))) {
                chart_include(&chart.x, survey->logs[l].values[i * LOG_COLUMNS + LOG_WALL]);
                chart_include(&chart.y, log_rate(&survey->logs[l], i));
            }
    chart.y.least = 0;
    if (!chart_open(&chart))
        return;
    for (size_t l = 0; l < survey->log_count; l++) {
        fprintf(out, "<g class=\"c%zu\">", l % CHART_SERIES);
        chart_path_begin(&chart, "line");
        for (size_t i = 0; i < survey->logs[l].count; i++)
            chart_path_point(&chart, survey->logs[l].values[i * LOG_COLUMNS + LOG_WALL],
                             log_rate(&survey->logs[l], i));
        chart_path_end(&chart);
        fputs("</g>", out);
    }
    chart_close(&chart);
}
