/*
 * fit_point.h: one point of a fit: all rows of a list under one assignment of values.
 */
#ifndef BENCH_FIT_POINT_H
#define BENCH_FIT_POINT_H

#include "bench/calibrate/fit.h"

/* A search over the fitted keys, the swept ones held. */
struct fit_point {
    struct fit *fit;
    const uint32_t *rows; /* [row_count], those that count */
    uint32_t row_count;
    struct assignment assignment;
    const char *phase; /* for the progress */
    struct cw_error *error;
    int code; /* of the last simulation */
};

/* Simulates the rows under point->assignment into answers[], by row. As simulate_rows(). */
int fit_point_simulate(struct fit_point *point, struct row_answer *answers);
/* For minimum_find(): the sum of squares at x, mean over the rows. */
bool fit_point_value(void *arg, const double *x, double *value);

#endif
