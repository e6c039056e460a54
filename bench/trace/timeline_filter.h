/*
 * timeline_filter.h: which part of a run a timeline shows: --trace-only PLACES, --trace-from,
 * --trace-to. Pure.
 */
#ifndef BENCH_TIMELINE_FILTER_H
#define BENCH_TIMELINE_FILTER_H

#include "core/cw.h"
#include "hw/structure.h"

enum { FILTER_PLACES_MAX = 64 };

/* First and last SIP, cube, PE. */
struct filter_place {
    uint32_t first[3], last[3];
};

struct timeline_filter {
    struct filter_place place[FILTER_PLACES_MAX]; /* [places]; 0: all */
    size_t places;
    int64_t from_ps, to_ps; /* to: exclusive */
};

/* places: "0,1.10,2-3.0.0": SIPs, cubes of SIPs, PEs of cubes, each a number or a range; NULL: all.
 * to_ps 0: no end. CW_OK, or CW_USAGE with *error filled. */
int timeline_filter_read(struct timeline_filter *filter, const char *places, int64_t from_ps,
                         int64_t to_ps, const struct hw_config *hw, struct cw_error *error);

bool timeline_filter_has(const struct timeline_filter *filter, struct hw_place place);

#endif
