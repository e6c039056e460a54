/*
 * timeline_counters.h: counters of a timeline over one collective: tiles on their way, and links
 * that are busy, between SIPs, between cubes and inside cubes; as means over bins of equal width.
 * One thread.
 */
#ifndef BENCH_TIMELINE_COUNTERS_H
#define BENCH_TIMELINE_COUNTERS_H

#include "lp/model.h"

enum { COUNTER_BINS = 256 };
enum timeline_counter { COUNTER_TILES, COUNTER_SIPS, COUNTER_CUBES, COUNTER_INSIDE, COUNTERS };

struct timeline_counters {
    int64_t begin_ps, bin_ps; /* bins begin there */
    int64_t tiles, tiles_ps;  /* on their way, since then */
    int64_t bin[COUNTERS][COUNTER_BINS];
};

/* A collective begins. */
void timeline_counters_begin(struct timeline_counters *counters, int64_t begin_ps);
/* A tile leaves (1) or arrives (-1). */
void timeline_counters_tile(struct timeline_counters *counters, int64_t t_ps, int change);
void timeline_counters_crossed(struct timeline_counters *counters, const struct lp_model *model,
                               const struct lp_crossed *crossed);

#endif
