/*
 * timeline.h: --trace FILE: a run as Chrome trace-event JSON, for ui.perfetto.dev. A process is a
 * SIP; each PE has a track for its kernels' phases and, below it, as many for operations as run at
 * once. Times are simulated, in us with all their digits. One thread; no state of its own.
 */
#ifndef BENCH_TIMELINE_H
#define BENCH_TIMELINE_H

#include <stdio.h>

#include "core/cw.h"
#include "lp/host/deadlock.h"
#include "lp/model.h"

struct timeline;

/* The stream and the model outlive it. NULL, with *error filled: out of memory. */
struct timeline *timeline_create(FILE *stream, const struct lp_model *model,
                                 struct cw_error *error);
void timeline_free(struct timeline *timeline); /* accepts NULL */
/* In the order of commitment. */
void timeline_op(struct timeline *timeline, const struct lp_op *op);
void timeline_kernel(struct timeline *timeline, const struct lp_kernel_record *record);
/* A kernel that has not ended when the run fails: an instant event, behind all others. */
void timeline_waiting(struct timeline *timeline, const struct lp_waiting *waiting);
/* The run was interrupted at that time, say: an instant event of the whole trace. */
void timeline_interrupted(struct timeline *timeline, int64_t now_ps);
void timeline_finish(struct timeline *timeline);

#endif
