/*
 * trend_print.c: a trend as table, CSV and picture (trend.h).
 */
#include "perf/trend/trend.h"

#include <math.h>

static double median_of_last(const struct trend_case *one, size_t most)
{
    double figures[TREND_RECENT];
    size_t count = 0;
    for (size_t i = one->count; i > 0 && count < most; i--)
        if (!one->nights[i - 1].disturbed)
            figures[count++] = one->nights[i - 1].figure;
    return perf_median(figures, count);
}

void trend_verdict(const struct trend *trend, const struct trend_case *one,
                   char text[TREND_VERDICT_BYTES])
{
    const bool is_steady = one->change.at == 0;
    const struct perf_run *const run = &trend->runs[one->change_run];
    int used =
        is_steady
            ? snprintf(text, TREND_VERDICT_BYTES, "%s",
                       one->counted < CHANGE_POINT_NIGHTS_MIN ? "too few runs" : "steady")
            : snprintf(text, TREND_VERDICT_BYTES, "%s by %.1f %% since run %lld, %.10s, commit %s",
                       one->change.z < 0 ? "SLOWER" : "faster",
                       100 * fabs(one->change.after / one->change.before - 1),
                       (long long)trend->ids[one->change_run], run->started, run->commit);
    if (one->results_run > 0 && used >= 0 && used < TREND_VERDICT_BYTES)
        (void)snprintf(text + used, TREND_VERDICT_BYTES - (size_t)used,
                       "; results changed with run %lld, commit %s",
                       (long long)trend->ids[one->results_run],
                       trend->runs[one->results_run].commit);
}

static void print_case(FILE *file, const struct trend *trend, const struct trend_case *one)
{
    enum { LAST = 3 };
    char verdict[TREND_VERDICT_BYTES];
    fprintf(file, "%-28s %5zu %9zu ", one->name, one->count, one->count - one->counted);
    if (one->counted > 0)
        fprintf(file, "%9.2f", 1e-6 * median_of_last(one, LAST));
    else
        fprintf(file, "%9s", "-");
    trend_verdict(trend, one, verdict);
    fprintf(file, "  %s", verdict);
    fputc('\n', file);
}

void trend_print(FILE *file, const struct trend *trend)
{
    const struct perf_run *const newest = &trend->runs[trend->run_count - 1];
    size_t slower = 0, changed = 0, judged = 0;
    fprintf(file, "# set %s on %s, %s: %zu runs, %.10s to %.10s\n", newest->set,
            newest->machine.host, newest->machine.cpu, trend->run_count, trend->runs[0].started,
            newest->started);
    fprintf(file, "# %-26s %5s %9s %9s  %s\n", "case", "runs", "disturbed", "M ev/s",
            "(the median of the last three, with the machine's own speed taken out)");
    for (size_t i = 0; i < trend->case_count; i++) {
        print_case(file, trend, &trend->cases[i]);
        judged += trend->cases[i].counted >= CHANGE_POINT_NIGHTS_MIN;
        slower += trend_is_slower(trend, &trend->cases[i]);
        changed += trend_has_new_results(trend, &trend->cases[i]);
    }
    fprintf(file,
            "# within the last %d runs: %zu slower, results changed in %zu; %zu of %zu cases "
            "have the %d undisturbed runs needed\n",
            TREND_RECENT, slower, changed, judged, trend->case_count, CHANGE_POINT_NIGHTS_MIN);
}

void trend_print_csv(FILE *file, const struct trend *trend)
{
    fputs("case,run,started,commit,events_per_s,figure,disturbed,events,results,since\n", file);
    for (size_t i = 0; i < trend->case_count; i++) {
        const struct trend_case *const one = &trend->cases[i];
        for (size_t k = 0; k < one->count; k++) {
            const struct trend_night *const night = &one->nights[k];
            const struct perf_run *const run = &trend->runs[night->run];
            const bool begins = one->change.at > 0 && night->run == one->change_run;
            fprintf(file, "%s,%lld,%s,%s,%.6g,%.6g,%d,%llu,%s,%s\n", one->name,
                    (long long)trend->ids[night->run], run->started, run->commit,
                    night->events_per_s, night->figure, night->disturbed,
                    (unsigned long long)night->events, night->results,
                    !begins             ? ""
                    : one->change.z < 0 ? "slower"
                                        : "faster");
        }
    }
}

/* ---- the picture ----------------------------------------------------------------------------- */

enum { PANEL_WIDTH = 420, PANEL_HEIGHT = 130, LEFT = 56, TOP = 30, COLUMNS = 2, MARGIN = 16 };

struct panel {
    double x, y, low, high; /* of figures */
    size_t runs;
};

static double panel_x(const struct panel *panel, size_t run)
{
    const double width = PANEL_WIDTH - LEFT - MARGIN;
    return panel->x + LEFT +
           (panel->runs < 2 ? width / 2 : width * (double)run / (double)(panel->runs - 1));
}

static double panel_y(const struct panel *panel, double figure)
{
    const double height = PANEL_HEIGHT - TOP - MARGIN;
    return panel->y + TOP + height * (panel->high - figure) / (panel->high - panel->low);
}

static struct panel panel_of(const struct trend *trend, size_t index, const struct trend_case *one)
{
    const size_t column = index % COLUMNS, row = index / COLUMNS;
    struct panel panel = {.x = (double)column * PANEL_WIDTH,
                          .y = (double)row * PANEL_HEIGHT,
                          .low = HUGE_VAL,
                          .runs = trend->run_count};
    for (size_t i = 0; i < one->count; i++) {
        panel.low = fmin(panel.low, one->nights[i].figure);
        panel.high = fmax(panel.high, one->nights[i].figure);
    }
    const double room = fmax(0.1 * (panel.high - panel.low), fmax(0.02 * panel.high, 1));
    panel.low -= room;
    panel.high += room;
    return panel;
}

static void draw_text(FILE *file, double x, double y, const char *anchor, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *text != '\0'; text++)
        if (*text == '<' || *text == '&' || *text == '>')
            fprintf(file, "&#%d;", *text);
        else
            fputc(*text, file);
    fputs("</text>\n", file);
}

static void draw_level(FILE *file, const struct panel *panel, size_t from, size_t to, double figure)
{
    fprintf(file, "<path class=\"level\" d=\"M%.1f %.1fH%.1f\"/>\n", panel_x(panel, from),
            panel_y(panel, figure), panel_x(panel, to));
}

static void draw_case(FILE *file, const struct trend *trend, const struct trend_case *one,
                      size_t index)
{
    const struct panel panel = panel_of(trend, index, one);
    char text[64];
    draw_text(file, panel.x + LEFT, panel.y + TOP - 12, "start", one->name);
    snprintf(text, sizeof text, "%.3g M/s", 1e-6 * panel.high);
    draw_text(file, panel.x + LEFT - 4, panel.y + TOP + 4, "end", text);
    snprintf(text, sizeof text, "%.3g", 1e-6 * panel.low);
    draw_text(file, panel.x + LEFT - 4, panel.y + PANEL_HEIGHT - MARGIN, "end", text);
    fprintf(file, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", panel.x + LEFT,
            panel.y + TOP, panel.y + PANEL_HEIGHT - MARGIN, panel.x + PANEL_WIDTH - MARGIN);
    if (one->change.at > 0) {
        draw_level(file, &panel, 0, one->change_run, one->change.before);
        draw_level(file, &panel, one->change_run, panel.runs - 1, one->change.after);
        fprintf(file, "<path class=\"change\" d=\"M%.1f %.1fV%.1f\"/>\n",
                panel_x(&panel, one->change_run), panel.y + TOP, panel.y + PANEL_HEIGHT - MARGIN);
    }
    for (size_t i = 0; i < one->count; i++) {
        const struct trend_night *const night = &one->nights[i];
        fprintf(file,
                "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"><title>run %lld, %s, "
                "commit %s: %.4g M events/s%s</title></circle>\n",
                night->disturbed ? "disturbed" : "night", panel_x(&panel, night->run),
                panel_y(&panel, night->figure), (long long)trend->ids[night->run],
                trend->runs[night->run].started, trend->runs[night->run].commit,
                1e-6 * night->events_per_s, night->disturbed ? ", disturbed" : "");
    }
}

void trend_print_svg(FILE *file, const struct trend *trend)
{
    const size_t rows = (trend->case_count + COLUMNS - 1) / COLUMNS;
    const int width = COLUMNS * PANEL_WIDTH, height = (int)rows * PANEL_HEIGHT;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<title>Throughput over %zu runs, oldest left: a dot per run, a dashed line where a "
            "change begins</title>\n"
            "<style>text{fill:#333}.axis{fill:none;stroke:#999}.level{fill:none;stroke:#0072b2;"
            "stroke-width:1.5}.change{stroke:#d55e00;stroke-dasharray:4 3}.night{fill:#333}"
            ".disturbed{fill:none;stroke:#999}"
            "@media(prefers-color-scheme:dark){text,.night{fill:#ddd}}</style>\n",
            width, height, width, height, trend->run_count);
    for (size_t i = 0; i < trend->case_count; i++)
        draw_case(file, trend, &trend->cases[i], i);
    fputs("</svg>\n", file);
}
