/*
 * change_point.h: since when a case is slower, or faster: a step in a series of nightly figures, as
 * small as one per cent, in noise that is larger than that. Pure functions.
 *
 * The method. For each place at which the series may be split, the medians of both parts are
 * compared, in units of their scatter by chance:
 *
 *     z = (median after - median before) / (1.2533 sigma sqrt(1 / n before + 1 / n after))
 *
 * 1.2533 is how much more a median scatters than a mean. sigma is the scatter of one night: 1.4826
 * / sqrt(2) times the median of the distances between one night and the next, which a step, or a
 * slow drift, changes little. The series has a change if the greatest |z| is above CHANGE_POINT_Z;
 * it is where the distances of all nights from the medians of their parts have the least sum, at
 * the earliest of such places. Places are many, so that the bound is far above a single test's; it
 * is chosen such that a steady series of 30 nights gives a false alarm once in a hundred
 * (test_perf_trend.c counts them). A slow drift shows as a step in its middle.
 */
#ifndef PERF_CHANGE_POINT_H
#define PERF_CHANGE_POINT_H

#include <stddef.h>

#define CHANGE_POINT_Z 4.3
enum {
    CHANGE_POINT_PART_MIN = 3, /* nights on either side */
    CHANGE_POINT_NIGHTS_MIN = 8,
};

struct change_point {
    size_t at;            /* the first figure after the change; 0: there is no change */
    double before, after; /* medians */
    double z;             /* below 0: lower after it */
    double scatter;       /* of one night, as a share of the median before */
};

/* `count` figures above 0, the oldest first. No change in fewer than CHANGE_POINT_NIGHTS_MIN. */
struct change_point change_point_of(const double *figures, size_t count);

#endif
