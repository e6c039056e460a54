/*
 * pareto.c: finds the rows on the frontier of time and cost, and draws them. A row is on it unless
 * another one of its size takes less time and costs no more, or costs less and takes no more. Costs
 * that differ by less than COST_ALIKE are the same: those of a study at equal cost are rounded.
 */
#include "bench/report/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/survey/say.h"
#include "bench/survey/survey_series.h"

#define COST_ALIKE 1e-5

enum {
    BOXES_MAX = 160, /* of a chart */
    DOT_ROOM = 12,   /* beside a dot, where no other's name is: it would be taken for the dot's */
    CHARTS_MAX = 12,
    CHART_COLUMNS = 2,
    CHART_WIDTH = 560,
    CHART_HEIGHT = 380,
    LEFT = 74, /* of a chart, to its axis */
    RIGHT = 16,
    TOP = 34,
    BOTTOM = 46,
    NAME_HEIGHT = 14,
    NAME_LETTER = 6, /* the width of most letters, in pixels */
    DOTS_MAX = 50,   /* of a chart; among more, the frontier alone has names */
    PLACES = 10,     /* that a name may take beside its point */
};

/* A row of a chart. */
struct pareto_dot {
    const struct survey_row *row;
    const char *name;
    double cost, us, x, y;
    bool is_best; /* on the frontier */
};

struct pareto_box {
    double left, top, right, bottom;
};

struct pareto_chart {
    char title[SAY_BYTES + 64];
    struct pareto_dot *dots; /* by cost, then by time */
    size_t count, room;
    double least[2], most[2];           /* of the axes: cost, time */
    double left, top;                   /* of the chart in the picture */
    struct pareto_box taken[BOXES_MAX]; /* by dots, the frontier and names */
    size_t taken_count;
};

struct pareto {
    struct pareto_chart charts[CHARTS_MAX];
    size_t count, left_out; /* sizes without a chart */
};

/* ---- rows ------------------------------------------------------------------------------------ */

static bool has_both(const struct survey_row *row)
{
    return row->not_run == NULL && row->figure[FIGURE_COST] > 0 && row->figure[FIGURE_TIME] > 0;
}

bool page_has_pareto(const struct survey *survey)
{
    size_t count = 0;
    for (size_t i = 0; i < survey->row_count; i++)
        count += has_both(&survey->rows[i]);
    return count > 1;
}

/* The axis of sizes; -1: there is one size, or none. */
static int size_axis(const struct survey *survey)
{
    if (survey->x >= 0 && survey->axes[survey->x].kind == AXIS_SIZE)
        return survey->x;
    for (size_t i = 0; i < survey->axis_count; i++)
        if (survey->axes[i].kind == AXIS_SIZE && survey->axes[i].is_bytes && survey->axes[i].varies)
            return (int)i;
    return -1;
}

static int by_cost(const void *left, const void *right)
{
    const struct pareto_dot *const a = left, *const b = right;
    if (a->cost < b->cost || a->cost > b->cost)
        return a->cost < b->cost ? -1 : 1;
    return (a->us > b->us) - (a->us < b->us);
}

static int by_time(const void *left, const void *right)
{
    const struct pareto_dot *const a = left, *const b = right;
    return (a->us > b->us) - (a->us < b->us);
}

static bool beats(const struct pareto_dot *a, const struct pareto_dot *b)
{
    const bool costs_less = a->cost < b->cost * (1 - COST_ALIKE);
    const bool costs_no_more = a->cost <= b->cost * (1 + COST_ALIKE);
    return (a->us < b->us && costs_no_more) || (a->us <= b->us && costs_less);
}

static void find_frontier(struct pareto_chart *chart)
{
    for (size_t i = 0; i < chart->count; i++) {
        struct pareto_dot *const dot = &chart->dots[i];
        dot->is_best = true;
        for (size_t k = 0; k < chart->count && dot->is_best; k++)
            dot->is_best = !beats(&chart->dots[k], dot);
    }
}

/* The ends of a logarithmic axis: a little beyond the values, and at least twice the first. */
static void find_range(struct pareto_chart *chart, int axis)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < chart->count; i++) {
        const double value = axis == 0 ? chart->dots[i].cost : chart->dots[i].us;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    const double beyond = fmax(pow(most / least, 0.08), sqrt(fmax(1, 2 * least / most)));
    chart->least[axis] = least / beyond;
    chart->most[axis] = most * beyond;
}

static void fill_chart(struct survey *survey, struct pareto_chart *chart, int sizes, uint32_t value)
{
    bool by[SURVEY_AXES_MAX];
    for (size_t a = 0; a < SURVEY_AXES_MAX; a++)
        by[a] = a < survey->axis_count && (int)a != sizes &&
                (survey->axes[a].is_series || (int)a == survey->x);
    for (size_t i = 0; i < survey->row_count; i++) {
        const struct survey_row *const row = &survey->rows[i];
        if (!has_both(row) || (sizes >= 0 && row->axis[sizes] != value))
            continue;
        struct pareto_dot *const dot =
            survey_more(survey, &chart->dots, &chart->count, &chart->room, sizeof *dot);
        if (dot == NULL)
            return;
        *dot = (struct pareto_dot){.row = row,
                                   .name = survey_row_name(survey, row, by),
                                   .cost = row->figure[FIGURE_COST],
                                   .us = row->figure[FIGURE_TIME]};
    }
    if (chart->count == 0)
        return;
    qsort(chart->dots, chart->count, sizeof *chart->dots, by_cost);
    find_frontier(chart);
    find_range(chart, 0);
    find_range(chart, 1);
}

/* All sizes, or of too many some, the first and the last among them. */
static void fill(struct survey *survey, struct pareto *pareto)
{
    const int sizes = size_axis(survey);
    const size_t values = sizes < 0 ? 1 : survey->axes[sizes].count;
    const size_t shown = values < CHARTS_MAX ? values : CHARTS_MAX;
    *pareto = (struct pareto){.left_out = values - shown};
    for (size_t i = 0; i < shown; i++) {
        const uint32_t v = (uint32_t)(shown > 1 ? i * (values - 1) / (shown - 1) : 0);
        struct pareto_chart *const chart = &pareto->charts[pareto->count];
        fill_chart(survey, chart, sizes, sizes < 0 ? 0 : v + 1);
        if (chart->count == 0)
            continue;
        char text[SAY_BYTES];
        if (sizes >= 0)
            snprintf(chart->title, sizeof chart->title, "%s, %s",
                     say_value(&survey->axes[sizes], &survey->axes[sizes].values[v], text),
                     say_axis(&survey->axes[sizes]));
        chart->left = (double)(pareto->count % CHART_COLUMNS) * CHART_WIDTH;
        chart->top = (double)(pareto->count / CHART_COLUMNS) * CHART_HEIGHT;
        pareto->count++;
    }
}

static void pareto_free(struct pareto *pareto)
{
    for (size_t i = 0; i < pareto->count; i++)
        free(pareto->charts[i].dots);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static double place_of(const struct pareto_chart *chart, int axis, double value)
{
    const double share =
        log(value / chart->least[axis]) / log(chart->most[axis] / chart->least[axis]);
    return axis == 0 ? chart->left + LEFT + share * (CHART_WIDTH - LEFT - RIGHT)
                     : chart->top + CHART_HEIGHT - BOTTOM - share * (CHART_HEIGHT - TOP - BOTTOM);
}

/* Ticks at these multiples of powers of ten, by how many powers the axis has. */
static void put_ticks(FILE *out, const struct pareto_chart *chart, int axis)
{
    static const double few[] = {1}, some[] = {1, 2, 5}, many[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
    const double decades = log10(chart->most[axis] / chart->least[axis]);
    const double *const steps = decades > 3 ? few : decades > 1 ? some : many;
    const size_t count = decades > 3 ? 1 : decades > 1 ? 3 : 8;
    char text[SAY_BYTES];
    for (double power = floor(log10(chart->least[axis])); power <= log10(chart->most[axis]);
         power++)
        for (size_t i = 0; i < count; i++) {
            const double value = steps[i] * pow(10, power);
            if (value < chart->least[axis] || value > chart->most[axis])
                continue;
            const double at = place_of(chart, axis, value);
            const double low = chart->top + CHART_HEIGHT - BOTTOM, left = chart->left + LEFT;
            if (axis == 0)
                fprintf(
                    out,
                    "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                    "y=\"%.1f\" text-anchor=\"middle\">",
                    at, chart->top + TOP, low, at, low + 16);
            else
                fprintf(
                    out,
                    "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                    "y=\"%.1f\" text-anchor=\"end\">",
                    left, at, chart->left + CHART_WIDTH - RIGHT, left - 6, at + 4);
            say_html(out, axis == 0 ? say_number(value, text) : say_time(value, text));
            fputs("</text>", out);
        }
    fputc('\n', out);
}

/* A dot's own room is free for its name. */
static bool is_free(const struct pareto_chart *chart, const struct pareto_dot *dot,
                    const struct pareto_box *box)
{
    if (box->left < chart->left + LEFT || box->right > chart->left + CHART_WIDTH ||
        box->top < chart->top + TOP - NAME_HEIGHT / 2.0 ||
        box->bottom > chart->top + CHART_HEIGHT - BOTTOM + 2)
        return false;
    for (size_t i = 0; i < chart->taken_count; i++) {
        const struct pareto_box *const other = &chart->taken[i];
        const bool is_own =
            fabs(other->left + DOT_ROOM - dot->x) + fabs(other->top + 3 - dot->y) < 0.1;
        if (!is_own && box->left < other->right && box->right > other->left &&
            box->top < other->bottom && box->bottom > other->top)
            return false;
    }
    return true;
}

static void take(struct pareto_chart *chart, struct pareto_box box)
{
    if (chart->taken_count < BOXES_MAX)
        chart->taken[chart->taken_count++] = box;
}

/* Characters of UTF-8. */
static size_t letters_of(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* A name beside its dot, right or left of it, as near as there is room. False: there is none. */
static bool find_room(struct pareto_chart *chart, const struct pareto_dot *dot,
                      struct pareto_box *box)
{
    const double width = (double)(NAME_LETTER * letters_of(dot->name) + 2);
    if (chart->taken_count == BOXES_MAX)
        return false;
    for (int place = 0; place < 2 * PLACES; place++) {
        const int down = (place / 2 + 1) / 2 * (place / 2 % 2 == 0 ? -1 : 1);
        const double left = place % 2 == 0 ? dot->x + 8 : dot->x - 8 - width;
        const double top = dot->y - NAME_HEIGHT / 2.0 + down * NAME_HEIGHT;
        *box = (struct pareto_box){left, top, left + width, top + NAME_HEIGHT};
        if (is_free(chart, dot, box)) {
            take(chart, *box);
            return true;
        }
    }
    return false;
}

static void put_name(FILE *out, struct pareto_chart *chart, const struct pareto_dot *dot)
{
    struct pareto_box box;
    if (!find_room(chart, dot, &box))
        return;
    const double base = box.bottom - 3;
    if (fabs(base - 4 - dot->y) > NAME_HEIGHT / 2.0)
        fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fL%.1f %.1f\"/>", dot->x, dot->y,
                box.left > dot->x ? box.left : box.right, base - 4);
    const bool is_right = box.left > dot->x;
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\"%s>", dot->is_best ? "best" : "name",
            is_right ? box.left : box.right, base, is_right ? "" : " text-anchor=\"end\"");
    say_html(out, dot->name);
    fputs("</text>\n", out);
}

static void put_dot(FILE *out, const struct pareto_dot *dot)
{
    char cost[SAY_BYTES], time[SAY_BYTES];
    fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
            dot->is_best ? "best" : "dot", dot->x, dot->y, dot->is_best ? "5" : "3.5");
    say_html(out, dot->name);
    fprintf(out, "%scost %s, ", dot->name[0] != '\0' ? ": " : "", say_number(dot->cost, cost));
    say_html(out, say_time(dot->us, time));
    fputs("</title></circle>\n", out);
}

/* Steps from one dot of the frontier to the next: what the cost between them buys. */
static void put_frontier(FILE *out, struct pareto_chart *chart)
{
    const double right = chart->left + CHART_WIDTH - RIGHT;
    double x = 0, y = chart->top + TOP;
    fputs("<path class=\"frontier\" d=\"", out);
    for (size_t i = 0; i < chart->count; i++) {
        const struct pareto_dot *const dot = &chart->dots[i];
        if (!dot->is_best)
            continue;
        if (x > 0)
            fprintf(out, "H%.1f", dot->x);
        else
            fprintf(out, "M%.1f %.1f", dot->x, y);
        fprintf(out, "V%.1f", dot->y);
        if (x > 0)
            take(chart, (struct pareto_box){x, y - 1, dot->x, y + 1});
        take(chart, (struct pareto_box){dot->x - 1, y, dot->x + 1, dot->y});
        x = dot->x;
        y = dot->y;
    }
    take(chart, (struct pareto_box){x, y - 1, right, y + 1});
    fprintf(out, "H%.1f\"/>\n", right);
}

static void put_chart(FILE *out, struct pareto_chart *chart)
{
    const double middle = chart->left + LEFT + (CHART_WIDTH - LEFT - RIGHT) / 2.0;
    fprintf(out, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">", chart->left + LEFT,
            chart->top + 20);
    say_html(out, chart->title);
    fputs("</text>\n", out);
    put_ticks(out, chart, 0);
    put_ticks(out, chart, 1);
    fprintf(out,
            "<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">cost of the "
            "machine</text>\n",
            middle, chart->top + CHART_HEIGHT - 8);
    for (size_t i = 0; i < chart->count; i++) {
        struct pareto_dot *const dot = &chart->dots[i];
        dot->x = place_of(chart, 0, dot->cost);
        dot->y = place_of(chart, 1, dot->us);
        take(chart,
             (struct pareto_box){dot->x - DOT_ROOM, dot->y - 3, dot->x + DOT_ROOM, dot->y + 3});
    }
    put_frontier(out, chart);
    qsort(chart->dots, chart->count, sizeof *chart->dots, by_time); /* names from below */
    for (int best = 1; best >= 0; best--) /* the frontier's names have the first choice */
        for (size_t i = 0; i < chart->count; i++)
            if (chart->dots[i].is_best == (best == 1) && (best == 1 || chart->count <= DOTS_MAX))
                put_name(out, chart, &chart->dots[i]);
    qsort(chart->dots, chart->count, sizeof *chart->dots, by_cost);
    for (size_t i = 0; i < chart->count; i++)
        put_dot(out, &chart->dots[i]);
}

static void put_charts(FILE *out, struct pareto *pareto, const char *style)
{
    const size_t columns = pareto->count < CHART_COLUMNS ? pareto->count : CHART_COLUMNS;
    const size_t width = columns * CHART_WIDTH;
    const size_t height = (pareto->count + columns - 1) / columns * CHART_HEIGHT;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"cw-pareto\" width=\"%zu\" "
            "height=\"%zu\" viewBox=\"0 0 %zu %zu\" role=\"img\" aria-label=\"Time of a call "
            "against the cost of the machine\">\n%s",
            width, height, width, height, style);
    for (size_t i = 0; i < pareto->count; i++)
        put_chart(out, &pareto->charts[i]);
    fputs("</svg>\n", out);
}

int pareto_svg(FILE *out, struct survey *survey, struct cw_error *error)
{
    static const char style[] =
        "<style>.cw-pareto text{font:11px sans-serif;fill:#1a1d21}.cw-pareto .head{font-size:14px;"
        "font-weight:bold}.cw-pareto .best{font-weight:bold}.cw-pareto .tick,.cw-pareto .axis{fill:"
        "#59616b}.cw-pareto .grid{stroke:#d9dde3;fill:none}.cw-pareto .frontier{stroke:#0072b2;"
        "stroke-width:2;fill:none}.cw-pareto circle.best{fill:#0072b2}.cw-pareto circle.dot{fill:"
        "#fff;stroke:#59616b;stroke-width:1.5}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    struct pareto pareto;
    if (!page_has_pareto(survey))
        return cw_error_set(error, CW_USAGE,
                            "--pareto: no two results have a cost; give parts one, such as --set "
                            "links.sip_link.cost=500 (hw/HARDWARE.md, \"Costs\")");
    fill(survey, &pareto);
    put_charts(out, &pareto, style);
    pareto_free(&pareto);
    return survey->no_memory ? cw_error_memory(error, "the charts") : CW_OK;
}

/* ---- the section ----------------------------------------------------------------------------- */

static void put_cell(FILE *out, double value)
{
    char text[SAY_BYTES];
    fprintf(out, "<td class=\"n\">%s</td>", isnan(value) ? "" : say_number(value, text));
}

static void put_table(FILE *out, const struct pareto *pareto)
{
    static const enum survey_figure figures[] = {FIGURE_COST,      FIGURE_TIME,
                                                 FIGURE_TIME_COST, FIGURE_LINKS,
                                                 FIGURE_WATTS,     FIGURE_JOULES_PER_BYTE};
    enum { FIGURES = sizeof figures / sizeof *figures };
    fputs("<div class=\"scroll\"><table><caption>On the frontier: no other machine takes less "
          "time at the same cost</caption><thead><tr><th></th><th></th>",
          out);
    for (size_t f = 0; f < FIGURES; f++) {
        const struct survey_figure_row *const row = &survey_figures[figures[f]];
        fprintf(out, "<th scope=\"col\" class=\"n\">%s%s%s%s</th>", row->label,
                row->unit[0] != '\0' ? " (" : "", row->unit, row->unit[0] != '\0' ? ")" : "");
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t c = 0; c < pareto->count; c++)
        for (size_t i = 0; i < pareto->charts[c].count; i++) {
            const struct pareto_dot *const dot = &pareto->charts[c].dots[i];
            if (!dot->is_best)
                continue;
            fputs("<tr><th scope=\"row\">", out);
            say_html(out, pareto->charts[c].title);
            fputs("</th><td>", out);
            say_html(out, dot->name);
            fputs("</td>", out);
            for (size_t f = 0; f < FIGURES; f++)
                put_cell(out, dot->row->figure[figures[f]]);
            fputs("</tr>\n", out);
        }
    fputs("</tbody></table></div>\n", out);
}

void page_write_pareto(FILE *out, struct survey *survey)
{
    struct pareto pareto;
    fill(survey, &pareto);
    put_charts(out, &pareto, "");
    if (pareto.left_out > 0)
        fprintf(out, "<p class=\"note\">%zu sizes between are left out.</p>\n", pareto.left_out);
    put_table(out, &pareto);
    pareto_free(&pareto);
}
