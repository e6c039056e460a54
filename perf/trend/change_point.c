/*
 * change_point.c: finds the step in a series of nightly figures (change_point.h).
 */
#include "perf/trend/change_point.h"

#include <math.h>
#include <stdlib.h>

#include "perf/statistics.h"

#define MEDIAN_OVER_MEAN   1.2533
#define SIGMA_OF_DISTANCES (1.4826 / 1.4142)
#define SCATTER_LEAST      0.001 /* of the median: a clock's own error */

/* `room`: for count figures. */
static double scatter_of(const double *figures, size_t count, double *room)
{
    for (size_t i = 0; i + 1 < count; i++)
        room[i] = fabs(figures[i + 1] - figures[i]);
    return SIGMA_OF_DISTANCES * perf_median(room, count - 1);
}

static double distances(const double *figures, size_t count, double from)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(figures[i] - from);
    return sum;
}

/* Where the change is: |z| is much the same in its neighbourhood, for medians hardly move. */
static void locate(struct change_point *change, const double *figures, size_t count)
{
    double least = HUGE_VAL;
    for (size_t at = CHANGE_POINT_PART_MIN; at + CHANGE_POINT_PART_MIN <= count; at++) {
        const double before = perf_median(figures, at);
        const double after = perf_median(figures + at, count - at);
        const double sum =
            distances(figures, at, before) + distances(figures + at, count - at, after);
        if (sum >= least)
            continue;
        least = sum;
        change->at = at;
        change->before = before;
        change->after = after;
    }
}

struct change_point change_point_of(const double *figures, size_t count)
{
    struct change_point best = {.at = 0};
    if (count < CHANGE_POINT_NIGHTS_MIN)
        return best;
    double *const room = perf_figures_alloc(count);
    const double least = SCATTER_LEAST * perf_median(figures, count);
    const double sigma = fmax(scatter_of(figures, count, room), least);
    for (size_t at = CHANGE_POINT_PART_MIN; at + CHANGE_POINT_PART_MIN <= count; at++) {
        const double before = perf_median(figures, at);
        const double after = perf_median(figures + at, count - at);
        const double error =
            MEDIAN_OVER_MEAN * sigma * sqrt(1 / (double)at + 1 / (double)(count - at));
        const double z = (after - before) / error;
        if (fabs(z) > fabs(best.z))
            best = (struct change_point){at, before, after, z, sigma / before};
    }
    free(room);
    if (fabs(best.z) < CHANGE_POINT_Z)
        best.at = 0;
    else
        locate(&best, figures, count);
    return best;
}
