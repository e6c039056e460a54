/*
 * sensitivity.h: what each fitted key moves, how well the rows determine it, and which keys they do
 * not tell apart: from the change of each row's logarithm with each key.
 */
#ifndef BENCH_SENSITIVITY_H
#define BENCH_SENSITIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/calibrate/parameters.h"

/* Keys of which the rows determine a combination alone. */
struct confusion {
    bool has[PARAMETERS_MAX];
    double left; /* of the length of such a combination's change, what the rows see: 0 to 1 */
};

struct sensitivity {
    double moves[PARAMETERS_MAX]; /* change of a time in percent, root of the mean square over the
                                     rows, per percent of the key */
    double
        spread[PARAMETERS_MAX]; /* standard error of the key, in percent; infinite: not determined
                                 */
    struct confusion confusions[PARAMETERS_MAX];
    uint32_t confusion_count;
};

/* jacobian[row_count][count]: d ln(time) / d ln(key); `squares`: the sum of squares that is left.
 */
void sensitivity_of(const double *jacobian, uint32_t row_count, uint32_t count, double squares,
                    struct sensitivity *sensitivity);

#endif
