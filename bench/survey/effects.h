/*
 * effects.h: what a number that was varied does to the times: does a faster link help? Pairs of
 * rows that differ in this number alone are compared; curves over it that are flat are said to be.
 */
#ifndef BENCH_EFFECTS_H
#define BENCH_EFFECTS_H

#include "bench/survey/survey.h"

#define EFFECT_FLAT 1.02 /* the longest time over the shortest: less is flat */

struct effect {
    size_t axis;
    size_t curves, flat;         /* rows that differ in this axis alone make a curve */
    double least, most;          /* time at the first value over that at the last, of curves */
    const struct survey_row *of; /* the last row of the curve with the largest effect */
    double flat_from;            /* no time changes any more from this value on; NAN: none such */
    double first, last;          /* values of the axis */
    /* Curves on which a faster part makes a call slower, by more than is flat; the largest such
     * factor, and between which values of which curve. */
    size_t slowed;
    double slower, slower_from, slower_to;
    const struct survey_row *slower_of;
};

/* Whether an axis is a number that was varied, and no size. */
bool effect_concerns(const struct survey *survey, size_t axis);
/* False: no two rows differ in this axis alone; or there is no memory, and no_memory is set. */
bool effect_of(struct survey *survey, size_t axis, struct effect *effect);

#endif
