/*
 * plots.c: writes the data and the script of each plot, and runs gnuplot on it: directly in the
 * folder, without a shell.
 */
#include "bench/report/plots.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/output/atomic_file.h"
#include "bench/survey/say.h"
#include "core/os/child.h"
#include "core/os/output_path.h"

enum {
    PLOT_SERIES = 24,
    PLOT_WIDTH = 900, /* pixels, as the heights of the plot and of a line of the key */
    PLOT_HEIGHT = 540,
    PLOT_NAME_HEIGHT = 22,
    TICK_WIDTH = 60,
    LABEL_BYTES = 1024
};

static const struct plot {
    const char *name;
    enum survey_figure figure;
} plots[] = {{"time", FIGURE_TIME},
             {"algbw", FIGURE_ALGBW},
             {"busbw", FIGURE_BUSBW},
             {"efficiency", FIGURE_EFFICIENCY}};

/* A string of gnuplot's in single quotes, in which only the quote itself is doubled. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
    }
    fputc('\'', out);
}

/* Whether any row of a series has a place on x. A series without one has no block of data, and
 * gnuplot finds series by the number of their block. */
static bool plot_shows(const struct survey *survey, size_t s)
{
    for (size_t i = 0; i < survey->series[s].count; i++)
        if (!isnan(survey_x_of(survey, &survey->rows[survey->series[s].rows[i]])))
            return true;
    return false;
}

static void plot_data(FILE *out, const struct survey *survey, const struct plot *plot)
{
    const char *before = "";
    for (size_t s = 0; s < survey->series_count && s < PLOT_SERIES; s++) {
        if (!plot_shows(survey, s))
            continue;
        fprintf(out, "%s# x\t%s\tbound_us\tmeasured_us\n", before,
                survey_figures[plot->figure].key);
        before = "\n\n";
        for (size_t i = 0; i < survey->series[s].count; i++) {
            const struct survey_row *const row = &survey->rows[survey->series[s].rows[i]];
            const double values[] = {survey_x_of(survey, row), row->figure[plot->figure],
                                     row->figure[FIGURE_BOUND], row->figure[FIGURE_MEASURED]};
            if (isnan(values[0]))
                continue;
            for (size_t v = 0; v < 4; v++)
                fprintf(out, isnan(values[v]) ? "%sNaN" : "%s%.12g", v == 0 ? "" : "\t", values[v]);
            fputc('\n', out);
        }
    }
}

/* A logarithmic axis has a tick at each value whose label has room. */
static void plot_x(FILE *out, const struct survey *survey)
{
    const struct survey_axis *const axis = &survey->axes[survey->x];
    const double least = axis->values[0].number, most = axis->values[axis->count - 1].number;
    const double room = TICK_WIDTH * log(most / least) / PLOT_WIDTH;
    const char *const unit = say_axis_unit(axis);
    char text[SAY_BYTES], label[LABEL_BYTES];
    fputs("set xlabel ", out);
    snprintf(label, sizeof label, "%s%s%s%s", say_axis(axis), unit[0] != '\0' ? " (" : "", unit,
             unit[0] != '\0' ? ")" : "");
    put_quoted(out, label);
    fputc('\n', out);
    if (least <= 0 || most < 8 * least)
        return;
    /* a little wider than the data, so that rounding does not lose the last tick */
    fprintf(out, "set logscale x 2\nset xrange [%.12g:%.12g]\nset xtics (", 0.98 * least,
            1.02 * most);
    double last = 0;
    for (uint32_t i = 0; i < axis->count; i++) {
        const double tick = axis->values[i].number;
        if (i > 0 && log(tick / last) < room)
            continue;
        fputs(i == 0 ? "" : ", ", out);
        put_quoted(out, say_value(axis, &axis->values[i], text));
        fprintf(out, " %.12g", tick);
        last = tick;
    }
    fputs(")\n", out);
}

/* Colours and filled markers as in the page; colour-blind readers can distinguish them, also in
 * grey. */
static void plot_styles(FILE *out)
{
    static const struct {
        const char *colour;
        int point;
    } styles[] = {{"#0072b2", 7},  {"#d55e00", 5},  {"#009e73", 9}, {"#cc79a7", 13},
                  {"#8a6d00", 11}, {"#2b9fd8", 15}, {"#6a3d9a", 4}, {"#333a42", 6}};
    enum { STYLES = sizeof styles / sizeof *styles };
    for (int i = 0; i < PLOT_SERIES; i++)
        fprintf(out, "set style line %d linecolor rgb '%s' pointtype %d linewidth 2 dashtype %d\n",
                i + 1, styles[i % STYLES].colour, styles[i % STYLES].point, i / STYLES + 1);
}

static void plot_lines(FILE *out, const struct survey *survey, const struct plot *plot)
{
    const bool has_bound = plot->figure == FIGURE_TIME && survey_has(survey, FIGURE_BOUND);
    const bool has_measured = plot->figure == FIGURE_TIME && survey_has(survey, FIGURE_MEASURED);
    const char *before = "plot ";
    size_t block = 0;
    for (size_t s = 0; s < survey->series_count && s < PLOT_SERIES; s++) {
        if (!plot_shows(survey, s))
            continue;
        if (has_bound)
            fprintf(
                out,
                "%s'%s.dat' index %zu using 1:3 with lines linestyle %zu linewidth 1 dashtype 2 "
                "notitle, \\\n     ",
                before, plot->name, block, s + 1);
        fprintf(out, "%s'%s.dat' index %zu using 1:2 with linespoints linestyle %zu title ",
                has_bound ? "" : before, plot->name, block, s + 1);
        put_quoted(out, survey->series[s].name[0] != '\0' ? survey->series[s].name : "simulated");
        before = ", \\\n     ";
        block++;
    }
    if (has_bound)
        fprintf(out, "%sNaN with lines linecolor rgb 'gray40' dashtype 2 title 'lower bound'",
                before);
    if (has_measured)
        fprintf(out,
                "%s'%s.dat' using 1:4 with points pointtype 64 linecolor rgb 'black' title "
                "'measured'",
                before, plot->name);
    fputc('\n', out);
}

static void plot_script(FILE *out, const struct survey *survey, const struct plot *plot)
{
    const struct survey_figure_row *const figure = &survey_figures[plot->figure];
    const size_t names = survey->series_count < PLOT_SERIES ? survey->series_count : PLOT_SERIES;
    const int height = PLOT_HEIGHT + (int)(names + 1) * PLOT_NAME_HEIGHT;
    fprintf(out,
            "set encoding utf8\nset grid linecolor rgb 'gray85' linetype 1\nset border 3\n"
            "set tics nomirror\nset key outside top center vertical Left reverse "
            "noenhanced\nset ylabel '%s (%s)'\n",
            figure->label, figure->unit);
    plot_styles(out);
    if (plot->figure == FIGURE_TIME)
        fputs("set logscale y\n", out);
    else
        fputs("set yrange [0:*]\n", out);
    plot_x(out, survey);
    fprintf(out,
            "set terminal svg size %d,%d font 'Helvetica,15' background 'white'\n"
            "set output '%s.svg'\n",
            PLOT_WIDTH, height, plot->name);
    plot_lines(out, survey, plot);
    fprintf(out,
            "set terminal pngcairo size %d,%d font 'Helvetica,15' fontscale 2 linewidth 2 "
            "pointscale 2\nset output '%s.png'\nreplot\n",
            2 * PLOT_WIDTH, 2 * height, plot->name);
}

/* ---- files and gnuplot ----------------------------------------------------------------------- */

/* The path of a plot's file, if it may be written. */
static int plot_path(const char *folder, const char *name, const char *suffix, char path[PATH_MAX],
                     struct cw_error *error)
{
    if (snprintf(path, PATH_MAX, "%s/%s.%s", folder, name, suffix) < PATH_MAX)
        return output_path_check(path, error);
    return cw_error_set(error, CW_NO_RESOURCE, "cannot write %.300s/%s.%s: %s", folder, name,
                        suffix, strerror(ENAMETOOLONG));
}

typedef void (*plot_writer)(FILE *out, const struct survey *survey, const struct plot *plot);

static int plot_put(const char *folder, const struct survey *survey, const struct plot *plot,
                    const char *suffix, plot_writer write, struct cw_error *error)
{
    char path[PATH_MAX];
    struct atomic_file file;
    if (plot_path(folder, plot->name, suffix, path, error) != CW_OK ||
        atomic_file_open(&file, path, error) != CW_OK)
        return error->exit_code;
    write(file.stream, survey, plot);
    return atomic_file_commit(&file, error);
}

static int plot_run(const char *folder, const char *name, struct cw_error *error)
{
    char script[64], program[] = "gnuplot";
    char *const argv[] = {program, script, NULL};
    struct child child = {.argv = argv, .folder = folder};
    snprintf(script, sizeof script, "%s.gp", name);
    const enum child_end end = child_run(&child);
    free(child.out);
    if (end == CHILD_DONE)
        return CW_OK;
    if (end == CHILD_REFUSED)
        return cw_error_set(error, CW_NO_RESOURCE,
                            "cannot start gnuplot: %s; its Debian package is gnuplot-nox",
                            strerror(child.number));
    return cw_error_set(error, CW_NO_RESOURCE, "gnuplot %.300s/%s failed%s", folder, script,
                        end == CHILD_ABSENT ? ": is it there? Its Debian package is gnuplot-nox"
                                            : "");
}

/* gnuplot would follow a link and, as superuser, overwrite read-only files. */
static int plot_check_images(const char *folder, const struct plot *plot, struct cw_error *error)
{
    char path[PATH_MAX];
    return plot_path(folder, plot->name, "svg", path, error) == CW_OK
               ? plot_path(folder, plot->name, "png", path, error)
               : error->exit_code;
}

static int plot_one(const char *folder, const struct survey *survey, const struct plot *plot,
                    struct cw_error *error)
{
    if (plot_check_images(folder, plot, error) != CW_OK)
        return error->exit_code;
    int code = plot_put(folder, survey, plot, "dat", plot_data, error);
    if (code == CW_OK)
        code = plot_put(folder, survey, plot, "gp", plot_script, error);
    return code == CW_OK ? plot_run(folder, plot->name, error) : code;
}

int plots_check(struct cw_error *error)
{
    char program[] = "gnuplot", version[] = "--version";
    char *const argv[] = {program, version, NULL};
    struct child child = {.argv = argv};
    const enum child_end end = child_run(&child);
    free(child.out);
    if (end == CHILD_DONE)
        return CW_OK;
    return cw_error_set(error, CW_NO_RESOURCE,
                        "--plots: there is no gnuplot, and nothing has been written; its Debian "
                        "package is gnuplot-nox");
}

int plots_write(const char *folder, const struct survey *survey, struct cw_error *error)
{
    int code = CW_OK;
    size_t count = 0;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cw_error_set(error, CW_NO_RESOURCE, "cannot make the folder %.300s: %s", folder,
                            strerror(errno));
    for (size_t i = 0; i < sizeof plots / sizeof *plots && code == CW_OK; i++)
        if (survey->x >= 0 && survey_has(survey, plots[i].figure)) {
            code = plot_one(folder, survey, &plots[i], error);
            count++;
        }
    if (code == CW_OK && count == 0)
        return cw_error_set(error, CW_USAGE,
                            "--plots: no curves to plot; name results of run or sweep");
    return code;
}
