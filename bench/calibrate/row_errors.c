/*
 * row_errors.c: computes medians, largest errors and sums of squares of rows (row_errors.h).
 */
#include "bench/calibrate/row_errors.h"

#include <math.h>
#include <stdlib.h>

double row_log_error(const struct curve_row *row, const struct row_answer *answer)
{
    const double most = log(1000);
    if (answer->exit_code != CW_OK || answer->time_ps <= 0)
        return most;
    return fmax(-most, fmin(most, log((double)answer->time_ps / (double)row->measured_ps)));
}

static int compare(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return first < second ? -1 : first > second;
}

/* The middle one, as `run --measured` has it: of an even number the mean of two. */
static double median_of(double *sizes, uint32_t count)
{
    qsort(sizes, count, sizeof *sizes, compare);
    return count % 2 == 1 ? sizes[count / 2] : (sizes[count / 2 - 1] + sizes[count / 2]) / 2;
}

struct row_errors row_errors_of(const struct curves *curves, const struct row_answer *answers,
                                uint32_t first, uint32_t count, enum row_use use)
{
    struct row_errors errors = {.median = NAN, .largest = NAN};
    double *const sizes = calloc(count + 1, sizeof *sizes);
    uint32_t known = 0;
    for (uint32_t i = first; i < first + count && sizes != NULL; i++) {
        const struct curve_row *const row = &curves->rows[i];
        if (row->use > use)
            continue;
        const double log_error = row_log_error(row, &answers[i]);
        errors.squares += log_error * log_error;
        errors.rows++;
        if (answers[i].exit_code == CW_OK)
            sizes[known++] = fabs((double)answers[i].time_ps / (double)row->measured_ps - 1);
        else
            errors.failed++;
    }
    if (known > 0) {
        errors.median = median_of(sizes, known);
        errors.largest = sizes[known - 1];
    }
    free(sizes);
    return errors;
}
