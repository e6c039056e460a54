/*
 * fit_examine.c: how sure a fit is: what each key moves, and how well curves are met that were left
 * out of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/calibrate/fit_point.h"
#include "bench/calibrate/row_errors.h"
#include "core/os/clock.h"

/* BOBYQA takes 2 n + 1 points before its first step. */
enum { EVALUATIONS_LEAST = 5, EVALUATIONS_EACH = 3 };
static const double percent = 0.01, small_step = 0.02;

/* ---- sensitivity ----------------------------------------------------------------------------- */

/* Simulates the rows with one key changed by a part of its value. */
static int simulate_changed(struct fit_point *point, uint32_t key, double part,
                            struct row_answer *answers)
{
    struct fit *const fit = point->fit;
    const struct parameter *const parameter = &fit->parameters.list[key];
    const double value = parameter_value(parameter, fit->best.x[key]);
    const double whole = value > 0 ? value : parameter->most;
    point->assignment = fit->best;
    point->assignment.x[key] = parameter_coordinate(parameter, value + part * whole);
    return fit_point_simulate(point, answers);
}

/* ln(time) of a row; of one that failed, as it is after the fit. */
static double log_time(const struct fit *fit, const struct row_answer *answers, uint32_t row,
                       bool *is_known)
{
    *is_known = answers[row].exit_code == CW_OK && answers[row].time_ps > 0;
    return log((double)(*is_known ? answers[row].time_ps : fit->after[row].time_ps));
}

/* The column of a key: by the values a percent above and below, or the one that is legal. */
static int fill_column(struct fit_point *point, uint32_t key, double *jacobian,
                       struct row_answer *above)
{
    struct fit *const fit = point->fit;
    int code = simulate_changed(point, key, percent, above);
    if (code == CW_OK)
        code = simulate_changed(point, key, -percent, fit->scratch);
    for (uint32_t i = 0; i < point->row_count && code == CW_OK; i++) {
        bool has_above, has_below;
        const double high = log_time(fit, above, point->rows[i], &has_above);
        const double low = log_time(fit, fit->scratch, point->rows[i], &has_below);
        const double width = percent * (has_above + has_below);
        jacobian[i * fit->parameters.fitted + key] = width > 0 ? (high - low) / width : 0;
    }
    return code;
}

static int examine_keys(struct fit_point *point)
{
    struct fit *const fit = point->fit;
    const uint32_t count = fit->parameters.fitted;
    double *const jacobian = calloc((size_t)point->row_count * count + 1, sizeof *jacobian);
    struct row_answer *const above = calloc(fit->curves.row_count, sizeof *above);
    int code = jacobian != NULL && above != NULL
                   ? CW_OK
                   : cw_error_memory(point->error, "the changes of times");
    for (uint32_t key = 0; key < count && code == CW_OK; key++)
        code = fill_column(point, key, jacobian, above);
    if (code == CW_OK) {
        sensitivity_of(jacobian, point->row_count, count, fit->minimum.value * point->row_count,
                       &fit->sensitivity);
        fit->has_sensitivity = true;
    }
    free(jacobian);
    free(above);
    return code;
}

/* ---- cross-validation ------------------------------------------------------------------------ */

/* Whether a row is in a group: a curve, or, of one curve, a row. */
static bool is_in(const struct fit *fit, uint32_t row, uint32_t group)
{
    return fit->curves.count > 1 ? fit->curves.rows[row].curve == group : row == fit->rows[group];
}

/* Fits without a group, from the best point on, and simulates the group there. */
static int leave_out(struct fit_point *point, const struct nlopt_library *library, uint32_t group,
                     uint32_t *rows)
{
    struct fit *const fit = point->fit;
    const uint32_t fitted = fit->parameters.fitted;
    const struct minimum_setup setup = {.dimensions = fitted,
                                        .start = fit->best.x,
                                        .starts = 1,
                                        .evaluations =
                                            EVALUATIONS_LEAST + EVALUATIONS_EACH * fitted,
                                        .step = small_step,
                                        .seed = fit->setup.seed};
    struct minimum minimum;
    uint32_t kept = 0, left_out = 0;
    for (uint32_t i = 0; i < fit->fitted_rows; i++)
        if (!is_in(fit, fit->rows[i], group))
            rows[kept++] = fit->rows[i];
    *point = (struct fit_point){.fit = fit,
                                .rows = rows,
                                .row_count = kept,
                                .assignment = fit->best,
                                .phase = "cross-validation",
                                .error = point->error};
    if (kept <= fitted)
        return CW_OK;
    int code = minimum_find(library, &setup, fit_point_value, point, &minimum, point->error);
    if (code != CW_OK || minimum.is_stopped)
        return code != CW_OK ? code : point->code;
    for (uint32_t i = 0; i < fit->judged_rows; i++)
        if (is_in(fit, fit->rows[i], group))
            rows[left_out++] = fit->rows[i];
    point->row_count = left_out;
    memcpy(point->assignment.x, minimum.x, sizeof minimum.x);
    code = fit_point_simulate(point, fit->crossed);
    fit->crossed_groups += code == CW_OK;
    return code;
}

static int cross_validate(struct fit_point *point, const struct nlopt_library *library)
{
    struct fit *const fit = point->fit;
    uint32_t *const rows = calloc(fit->curves.row_count, sizeof *rows);
    int code = rows != NULL ? CW_OK : cw_error_memory(point->error, "the rows of the tables");
    fit->groups = fit->curves.count > 1 ? fit->curves.count : fit->judged_rows;
    for (uint32_t group = 0; group < fit->groups && code == CW_OK; group++)
        code = leave_out(point, library, group, rows);
    free(rows);
    return code;
}

int fit_examine(struct fit *fit, const struct nlopt_library *library, struct cw_error *error)
{
    struct fit_point point = {.fit = fit,
                              .rows = fit->rows,
                              .row_count = fit->fitted_rows,
                              .phase = "sensitivity",
                              .error = error};
    fit->simulator.deadline_s = fit->begun_s + fit->setup.limit_s;
    for (uint32_t i = 0; i < fit->curves.row_count; i++)
        fit->crossed[i].exit_code = CW_INTERRUPTED; /* not left out yet */
    int code = fit->parameters.fitted > 0 ? examine_keys(&point) : CW_OK;
    if (code == CW_OK && fit->parameters.fitted > 0)
        code = cross_validate(&point, library);
    fit->is_late |= code == CW_INTERRUPTED;
    return code == CW_INTERRUPTED ? CW_OK : code;
}
