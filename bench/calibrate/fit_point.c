/*
 * fit_point.c: simulates rows under an assignment, and sums the squares of their errors.
 */
#include "bench/calibrate/fit_point.h"

#include <string.h>

#include "bench/calibrate/row_errors.h"

int fit_point_simulate(struct fit_point *point, struct row_answer *answers)
{
    struct fit *const fit = point->fit;
    char texts[PARAMETERS_MAX][PARAMETER_TEXT_BYTES];
    const char *sets[PARAMETERS_MAX];
    for (uint32_t i = 0; i < fit->parameters.count; i++)
        sets[i] = parameter_text(&fit->parameters, i, &point->assignment, texts[i]);
    fit->evaluations++;
    point->code = simulate_rows(&fit->simulator, point->rows, point->row_count, sets,
                                fit->parameters.count, answers, point->error);
    return point->code;
}

bool fit_point_value(void *arg, const double *x, double *value)
{
    struct fit_point *const point = arg;
    struct fit *const fit = point->fit;
    double squares = 0;
    memcpy(point->assignment.x, x, fit->parameters.fitted * sizeof *x);
    if (fit_point_simulate(point, fit->scratch) != CW_OK)
        return false;
    for (uint32_t i = 0; i < point->row_count; i++) {
        const uint32_t row = point->rows[i];
        const double error = row_log_error(&fit->curves.rows[row], &fit->scratch[row]);
        squares += error * error;
    }
    if (fit->setup.progress != NULL)
        fit->setup.progress(fit->setup.progress_arg, point->phase, fit->evaluations, squares);
    *value = squares / point->row_count;
    return true;
}
