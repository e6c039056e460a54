/*
 * timeline.h: --trace FILE: a run as Chrome trace-event JSON, for ui.perfetto.dev. A process is a
 * SIP; each hardware queue of a PE has a track for its kernels with their phases, and below these
 * the PE has as many for operations as run at once; waits lie inside the operation that waits, and
 * arrows lead from sends to receives. One more process has the calls, each with its size and
 * number, and counters. Times are simulated, in us with all their digits. One thread; no state of
 * its own.
 *
 * Slices that contain others are pairs of B and E events, all others single X events. The events of
 * each track are in order of time. A time has one more digit after its ps, which is always 1: a
 * reader that multiplies it by 1,000 as a double, and cuts off, gets the right ns, and with it the
 * right order. So slices nest for readers that know ns alone, too.
 */
#ifndef BENCH_TIMELINE_H
#define BENCH_TIMELINE_H

#include <stdio.h>

#include "bench/trace/timeline_filter.h"
#include "core/cw.h"
#include "lp/causes.h"
#include "lp/host/deadlock.h"
#include "lp/model.h"

struct timeline;

struct timeline_options {
    struct timeline_filter filter;
    const char *collective; /* of the calls: "ccl_allreduce" */
    uint32_t warmup;        /* calls of a size before the first that is timed */
    bool links;             /* tracks of links, too (timeline_links.h) */
};

/* The stream and the model outlive all records. NULL, with *error filled: out of memory. */
struct timeline *timeline_create(FILE *stream, const struct lp_model *model,
                                 const struct timeline_options *options, struct cw_error *error);
void timeline_free(struct timeline *timeline); /* accepts NULL */
/* In the order of commitment. */
void timeline_op(struct timeline *timeline, const struct lp_op *op);
void timeline_kernel(struct timeline *timeline, const struct lp_kernel_record *record);
void timeline_arrival(struct timeline *timeline, const struct lp_arrival *arrival);
void timeline_crossed(struct timeline *timeline, const struct lp_crossed *crossed);
void timeline_waited(struct timeline *timeline, int64_t now_ps, const struct lp_waited *waited);
/* A kernel that has not ended when the run fails: an instant event, after all others. */
void timeline_waiting(struct timeline *timeline, const struct lp_waiting *waiting);
/* The run was interrupted at that time, say: an instant event of the whole trace. */
void timeline_interrupted(struct timeline *timeline, int64_t now_ps);
/* CW_OK, or out of memory at any time before. */
int timeline_finish(struct timeline *timeline, struct cw_error *error);

#endif
