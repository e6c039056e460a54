/*
 * minimum.h: the least value of a function over the unit cube, by NLopt. The function may fail at a
 * point: it then gives its upper limit, never an infinity or a NaN, which the algorithms take for
 * success. The best point is kept here, whatever an algorithm returns. Every result is checked by a
 * second algorithm. One thread; the same seed gives the same result.
 */
#ifndef BENCH_MINIMUM_H
#define BENCH_MINIMUM_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/calibrate/nlopt_library.h"
#include "core/cw.h"

enum { MINIMUM_DIMENSIONS_MAX = 32 };

/* *value of the point x. False: stop; the point does not count. */
typedef bool (*minimum_fn)(void *arg, const double *x, double *value);

struct minimum_setup {
    unsigned dimensions;  /* from 1 */
    const double *start;  /* [dimensions], each from 0 to 1 */
    unsigned starts;      /* from 1: the others are drawn by the seed */
    unsigned evaluations; /* of each algorithm, from each start, at most */
    double step;          /* the first of an algorithm */
    uint64_t seed;
    bool is_checked; /* by the second algorithm */
};

struct minimum {
    double x[MINIMUM_DIMENSIONS_MAX], value;
    unsigned evaluations, start; /* start: from which it was found, from 0 */
    bool is_stopped;             /* by the function */
    bool is_confirmed;           /* the second algorithm found nothing better */
};

/* CW_OK, or CW_NO_RESOURCE. A search that is stopped has the best point until then; if it is
 * stopped at its first point, `evaluations` is 0 and x is the start. */
int minimum_find(const struct nlopt_library *library, const struct minimum_setup *setup,
                 minimum_fn function, void *arg, struct minimum *minimum, struct cw_error *error);

#endif
