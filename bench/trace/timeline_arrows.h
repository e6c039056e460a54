/*
 * timeline_arrows.h: the arrows of a timeline, from the slice of a send or a put to the slice of
 * its receive or its landing. One thread.
 */
#ifndef BENCH_TIMELINE_ARROWS_H
#define BENCH_TIMELINE_ARROWS_H

#include "bench/trace/timeline_events.h"

struct timeline_arrows {
    void *flows;   /* JudyL: tiles and puts on their way to their arrows' numbers */
    uint64_t last; /* the latest number */
    bool out_of_memory;
};

void timeline_arrows_free(struct timeline_arrows *arrows);
/* The number of the arrow that begins in the slice of a send or a put, whose other end is shown, or
 * that ends in the slice of a receive or a landing; 0: there is none. */
uint64_t timeline_arrow_of(struct timeline_arrows *arrows, const struct timeline_events *events,
                           const struct lp_op *op);
/* One end of an arrow. */
void timeline_arrow_write(struct timeline_events *events, uint32_t pe, uint32_t track, int64_t ps,
                          uint64_t number, bool begins);

#endif
