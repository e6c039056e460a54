/*
 * statistics.h: statistics of a few figures that were measured in turn: robust, since one of
 * five may have been disturbed. Pure functions, unless memory runs out; the arrays are the caller's
 * and do not change.
 */
#ifndef PERF_STATISTICS_H
#define PERF_STATISTICS_H

#include <stddef.h>

/* Memory for that many figures, which is never NULL, for free(). Without it the process ends, with
 * a message and CW_NO_RESOURCE: a median that is 0 would pass for a measurement. */
double *perf_figures_alloc(size_t count);

/* Of `count` figures. All 0 for none. */
struct perf_spread {
    size_t count;
    double median, least, most;
    double first_quartile, third_quartile; /* interpolated between figures */
    double mad;                            /* median of the distances from the median */
    double mean, stddev;                   /* of a sample: over count - 1; 0 for one figure */
};

struct perf_spread perf_spread_of(const double *figures, size_t count);
/* 0 for none. */
double perf_median(const double *figures, size_t count);

/*
 * Whether `after` is lower than `before` by more than the noise of both: the medians differ by
 * more than PERF_LEAST_LOSS of the earlier one and by more than PERF_NOISE_MADS times the sum of
 * both MADs, in either case on top of `drift`, the share by which cases without any change
 * differ between the two; and the ranges between the quartiles do not meet.
 */
#define PERF_LEAST_LOSS 0.03
#define PERF_NOISE_MADS 3.0
int perf_is_lower(const struct perf_spread *before, const struct perf_spread *after, double drift);

#endif
