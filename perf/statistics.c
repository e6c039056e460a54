/*
 * statistics.c: order statistics by sorting a copy; there are a few figures at a time.
 */
#include "perf/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cw.h"

double *perf_figures_alloc(size_t count)
{
    double *const figures = calloc(count + 1, sizeof *figures);
    if (figures != NULL)
        return figures;
    fputs("cubewarp: out of memory for figures that were measured\n", stderr);
    exit(CW_NO_RESOURCE); /* removes temporary files (bench/output/atomic_file.h) */
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The figure at `share` of the way through a sorted array, interpolated between its two
 * neighbours. */
static double at_share(const double *sorted, size_t count, double share)
{
    const double place = share * (double)(count - 1);
    const size_t below = (size_t)place;
    const size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

struct perf_spread perf_spread_of(const double *figures, size_t count)
{
    struct perf_spread spread = {.count = count};
    if (count == 0)
        return spread;
    double *const sorted = perf_figures_alloc(count);
    memcpy(sorted, figures, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    spread.least = sorted[0];
    spread.most = sorted[count - 1];
    spread.median = at_share(sorted, count, 0.5);
    spread.first_quartile = at_share(sorted, count, 0.25);
    spread.third_quartile = at_share(sorted, count, 0.75);
    for (size_t i = 0; i < count; i++)
        spread.mean += sorted[i] / (double)count;
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (sorted[i] - spread.mean) * (sorted[i] - spread.mean);
    spread.stddev = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i] - spread.median);
    qsort(sorted, count, sizeof *sorted, by_size);
    spread.mad = at_share(sorted, count, 0.5);
    free(sorted);
    return spread;
}

double perf_median(const double *figures, size_t count)
{
    return perf_spread_of(figures, count).median;
}

int perf_is_lower(const struct perf_spread *before, const struct perf_spread *after, double drift)
{
    const double loss = before->median - after->median - drift * before->median;
    return before->count > 0 && after->count > 0 && loss > PERF_LEAST_LOSS * before->median &&
           loss > PERF_NOISE_MADS * (before->mad + after->mad) &&
           after->third_quartile < before->first_quartile;
}
