/*
 * chart_frame.c: see chart_frame.h.
 */
#include "bench/report/chart_frame.h"

#include <math.h>
#include <string.h>

#include "bench/survey/say.h"

enum { WIDTH = 620, HEIGHT = 380, LEFT = 72, RIGHT = 24, TOP = 14, BOTTOM = 54 };

/* ---- scales ---------------------------------------------------------------------------------- */

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

bool chart_fits(const struct chart_scale *scale, const double *values, size_t count)
{
    enum { LABEL = 52 }; /* pixels */
    if (count < 2 || count > CHART_TICKS)
        return false;
    for (size_t i = 1; i < count; i++)
        if (chart_place(scale, values[i]) - chart_place(scale, values[i - 1]) < LABEL)
            return false;
    return true;
}

/* ---- the frame ------------------------------------------------------------------------------- */

void chart_begin(struct chart *chart)
{
    chart->x = (struct chart_scale){
        .least = INFINITY, .most = -INFINITY, .from = LEFT, .to = WIDTH - RIGHT};
    chart->y = (struct chart_scale){
        .least = INFINITY, .most = -INFINITY, .from = HEIGHT - BOTTOM, .to = TOP};
}

void chart_include(struct chart_scale *scale, double value)
{
    if (isnan(value))
        return;
    scale->least = fmin(scale->least, value);
    scale->most = fmax(scale->most, value);
}

static void put_y_ticks(struct chart *chart)
{
    double ticks[CHART_TICKS];
    char text[SAY_BYTES];
    const size_t count = chart_ticks(&chart->y, false, ticks);
    for (size_t i = 0; i < count; i++) {
        const double y = chart_place(&chart->y, ticks[i]);
        fprintf(chart->out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"tick\" x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%s</text>",
                LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4, say_number(ticks[i], text));
    }
}

static void put_x_ticks(struct chart *chart)
{
    double ticks[CHART_TICKS];
    char text[SAY_BYTES];
    const bool of_values = chart_fits(&chart->x, chart->x_values, chart->x_value_count);
    const size_t count =
        of_values ? chart->x_value_count : chart_ticks(&chart->x, chart->of_bytes, ticks);
    if (of_values)
        memcpy(ticks, chart->x_values, count * sizeof *ticks);
    for (size_t i = 0; i < count; i++) {
        const double x = chart_place(&chart->x, ticks[i]);
        fprintf(chart->out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%s</text>",
                x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18,
                chart->of_bytes ? say_size(ticks[i], text) : say_number(ticks[i], text));
    }
}

bool chart_open(struct chart *chart)
{
    if (!(chart->x.least <= chart->x.most) || !(chart->y.least <= chart->y.most))
        return false;
    chart->x.is_log = chart->x.least > 0 && chart->x.most >= 8 * chart->x.least && !chart->in_order;
    chart->y.is_log = chart->y.least > 0 && chart->y.most >= 30 * chart->y.least;
    if (!chart->y.is_log && !chart->is_free)
        chart->y.least = fmin(chart->y.least, 0);
    fputs("<figure class=\"chart\"><figcaption>", chart->out);
    say_html(chart->out, chart->y_label);
    fprintf(chart->out, "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
            HEIGHT);
    say_html(chart->out, chart->y_label);
    fputs(" over ", chart->out);
    say_html(chart->out, chart->x_label);
    fputs("\">", chart->out);
    put_y_ticks(chart);
    put_x_ticks(chart);
    fprintf(chart->out, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
    say_html(chart->out, chart->x_label);
    fprintf(chart->out,
            "</text><text class=\"axis\" transform=\"translate(16 %d) rotate(-90)\" "
            "text-anchor=\"middle\">",
            (TOP + HEIGHT - BOTTOM) / 2);
    say_html(chart->out, chart->y_label);
    if (chart->y_unit[0] != '\0')
        fprintf(chart->out, " (%s)", chart->y_unit);
    fputs("</text>", chart->out);
    return true;
}

void chart_close(struct chart *chart) { fputs("</svg></figure>\n", chart->out); }

void chart_path_begin(struct chart *chart, const char *class)
{
    fprintf(chart->out, "<path class=\"%s\" d=\"", class);
    chart->command = 'M';
}

void chart_path_point(struct chart *chart, double x, double y)
{
    if (isnan(x) || isnan(y))
        return;
    fprintf(chart->out, "%c%.1f %.1f", chart->command, chart_place(&chart->x, x),
            chart_place(&chart->y, y));
    chart->command = 'L';
}

void chart_path_end(struct chart *chart) { fputs("\"/>", chart->out); }

void chart_marker(FILE *out, size_t series, double x, double y, bool is_open)
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
