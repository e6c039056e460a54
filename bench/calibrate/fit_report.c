/*
 * fit_report.c: prints the keys, the errors before and after, what is not told apart, and what was
 * left out (fit_report.h).
 */
#include "bench/calibrate/fit_report.h"

#include <math.h>
#include <string.h>

#include "bench/calibrate/row_errors.h"

/* The value of "KEY=VALUE". */
static const char *value_of(const struct fit *fit, uint32_t key, char text[PARAMETER_TEXT_BYTES])
{
    parameter_text(&fit->parameters, key, &fit->best, text);
    return strchr(text, '=') + 1;
}

static int name_width(const struct fit *fit)
{
    size_t width = strlen("key");
    for (uint32_t i = 0; i < fit->parameters.count; i++)
        if (strlen(fit->parameters.list[i].name) > width)
            width = strlen(fit->parameters.list[i].name);
    return (int)width;
}

static bool is_at_bound(const struct fit *fit, uint32_t key)
{
    return fit->best.x[key] < 0.001 || fit->best.x[key] > 0.999;
}

static void print_key(FILE *file, const struct fit *fit, uint32_t key, int width)
{
    const struct parameter *const parameter = &fit->parameters.list[key];
    char text[PARAMETER_TEXT_BYTES], before[32] = "-";
    if (!isnan(parameter->before))
        snprintf(before, sizeof before, "%.6g", parameter->before);
    fprintf(file, "%-*s %12s %12s", width, parameter->name, before, value_of(fit, key, text));
    if (parameter->values != NULL) {
        fprintf(file, "   the best of %u values\n", parameter->values->count);
        return;
    }
    if (!fit->has_sensitivity)
        fprintf(file, " %10s %10s", "-", "-");
    else if (isinf(fit->sensitivity.spread[key]))
        fprintf(file, " %10s %10.3f", "unknown", fit->sensitivity.moves[key]);
    else
        fprintf(file, " %10.2f %10.3f", fit->sensitivity.spread[key], fit->sensitivity.moves[key]);
    if (is_at_bound(fit, key))
        fprintf(file, "   at its bound, %g to %g", parameter->least, parameter->most);
    fputc('\n', file);
}

static void print_keys(FILE *file, const struct fit *fit)
{
    const int width = name_width(fit);
    fprintf(file, "%-*s %12s %12s %10s %10s\n", width, "# key", "before", "after", "+-(%)",
            "moves(%)");
    for (uint32_t i = 0; i < fit->parameters.count; i++)
        print_key(file, fit, i, width);
    fputs(
        "# +-: standard error; moves: what 1 % more of the key changes in a time, root of the mean "
        "square\n",
        file);
}

static void print_figures(FILE *file, const struct row_errors *errors)
{
    if (isnan(errors->median))
        fprintf(file, " %9s %9s", "-", "-");
    else
        fprintf(file, " %9.2f %9.2f", 100 * errors->median, 100 * errors->largest);
}

static void print_errors(FILE *file, const struct fit *fit, const char *name, uint32_t first,
                         uint32_t count, bool is_crossed)
{
    const struct row_errors before =
        row_errors_of(&fit->curves, fit->before, first, count, ROW_JUDGED);
    const struct row_errors after =
        row_errors_of(&fit->curves, fit->after, first, count, ROW_JUDGED);
    const struct row_errors crossed =
        row_errors_of(&fit->curves, fit->crossed, first, count, ROW_JUDGED);
    fprintf(file, "%6u", after.rows);
    print_figures(file, &before);
    print_figures(file, &after);
    if (is_crossed)
        print_figures(file, &crossed);
    else
        fprintf(file, " %9s %9s", "-", "-");
    fprintf(file, "   %s\n", name);
}

/* Whether each row of a curve was left out of a fit that was made without it. */
static bool is_crossed(const struct fit *fit, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (fit->curves.rows[i].use != ROW_OUT && fit->crossed[i].exit_code == CW_INTERRUPTED)
            return false;
    return fit->crossed_groups > 0;
}

static void print_curves(FILE *file, const struct fit *fit)
{
    const struct curves *const curves = &fit->curves;
    fputs("# error(%)      before               after            left out\n"
          "# rows    median   largest    median   largest    median   largest   curve\n",
          file);
    for (uint32_t c = 0; c < curves->count; c++) {
        const struct curve *const curve = &curves->list[c];
        print_errors(file, fit, curve->label, curve->first, curve->count,
                     is_crossed(fit, curve->first, curve->count));
    }
    print_errors(file, fit, "all", 0, curves->row_count, is_crossed(fit, 0, curves->row_count));
    fprintf(file, "# left out: of a fit without that %s\n", curves->count > 1 ? "curve" : "row");
}

static void print_sums(FILE *file, const struct fit *fit)
{
    const struct row_errors before =
        row_errors_of(&fit->curves, fit->before, 0, fit->curves.row_count, ROW_JUDGED);
    const struct row_errors after =
        row_errors_of(&fit->curves, fit->after, 0, fit->curves.row_count, ROW_JUDGED);
    fprintf(file, "# sum of squares of ln(simulated / measured): %.6g before, %.6g after\n",
            before.squares, after.squares);
}

static void print_confusions(FILE *file, const struct fit *fit)
{
    for (uint32_t i = 0; i < fit->parameters.fitted && fit->has_sensitivity; i++)
        if (isinf(fit->sensitivity.spread[i]))
            fprintf(file, "# moves no row: %s\n", fit->parameters.list[i].name);
    for (uint32_t k = 0; k < fit->sensitivity.confusion_count; k++) {
        const struct confusion *const confusion = &fit->sensitivity.confusions[k];
        const char *before = "# not told apart: ";
        for (uint32_t i = 0; i < fit->parameters.fitted; i++)
            if (confusion->has[i]) {
                fprintf(file, "%s%s", before, fit->parameters.list[i].name);
                before = ", ";
            }
        fprintf(file, " (together they move rows by %.0f %% of what they move alone)\n",
                100 * confusion->left);
    }
}

static void print_rows(FILE *file, const struct fit *fit)
{
    const struct curves *const curves = &fit->curves;
    uint32_t out = 0;
    for (uint32_t i = 0; i < curves->row_count; i++)
        out += curves->rows[i].use == ROW_OUT;
    fprintf(file, "# %u curve%s, %u rows: %u fitted, %u more compared, %u left out\n",
            curves->count, curves->count == 1 ? "" : "s", curves->row_count, fit->fitted_rows,
            fit->judged_rows - fit->fitted_rows, out);
    for (uint32_t c = 0; c < curves->count; c++) {
        const char *why = NULL;
        for (uint32_t i = curves->list[c].first; i < curves->list[c].first + curves->list[c].count;
             i++) {
            const struct curve_row *const row = &curves->rows[i];
            if (row->use != ROW_OUT || (why != NULL && strcmp(why, row->why) == 0))
                continue;
            why = row->why;
            fprintf(file, "# left out: %s: %llu bytes: %s\n", curves->list[c].label,
                    (unsigned long long)row->bytes, why);
        }
    }
}

static void print_search(FILE *file, const struct fit *fit)
{
    fprintf(file, "# search: seed %llu, %u evaluations", (unsigned long long)fit->setup.seed,
            fit->evaluations);
    if (fit->of_choices > 1)
        fprintf(file, ", %u of %u combinations", fit->choices, fit->of_choices);
    if (fit->parameters.fitted > 0)
        fprintf(file, "; best from start %u of %u; %s", fit->minimum.start + 1, fit->setup.starts,
                fit->minimum.is_confirmed ? "Sbplx finds nothing better"
                                          : "not confirmed by Sbplx");
    fputc('\n', file);
    if (fit->is_late)
        fprintf(file,
                "# stopped by --limit (%.6g s): %u of %u cross-validations; another machine may "
                "give other values\n",
                fit->setup.limit_s, fit->crossed_groups, fit->groups);
}

void fit_report(FILE *file, const struct fit *fit)
{
    print_rows(file, fit);
    fputs("#\n", file);
    print_keys(file, fit);
    print_confusions(file, fit);
    fputs("#\n", file);
    print_curves(file, fit);
    print_sums(file, fit);
    print_search(file, fit);
}
