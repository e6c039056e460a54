/*
 * row_errors.h: how far simulated times are from measured ones, over the rows of a curve or of all.
 * The error of a row is simulated / measured - 1, as `run --measured` has it; what a fit makes
 * least is the sum of squares of its logarithms.
 */
#ifndef BENCH_ROW_ERRORS_H
#define BENCH_ROW_ERRORS_H

#include "bench/calibrate/curves.h"
#include "bench/calibrate/simulate.h"

struct row_errors {
    uint32_t rows, failed;  /* failed ones are in no figure but squares */
    double squares;         /* sum of ln^2(simulated / measured) */
    double median, largest; /* without signs; NAN: no rows */
};

/* ln(simulated / measured); of a row that failed, and at most, ln 1000. */
double row_log_error(const struct curve_row *row, const struct row_answer *answer);

/* Of the rows [first, first + count) whose use is at most `use`; answers by row. */
struct row_errors row_errors_of(const struct curves *curves, const struct row_answer *answers,
                                uint32_t first, uint32_t count, enum row_use use);

#endif
