/*
 * schedule_buffers.h: the buffers of a schedule's call, where they are not the call's own tensors.
 * A schedule that works in place has input and output in one buffer, and one that does not has them
 * apart, whatever tensors the call has (schedule.h). So values are moved before the launch, and
 * after the end, by the host, which takes no simulated time. Between drains, one thread.
 */
#ifndef COLLECTIVES_SCHEDULE_BUFFERS_H
#define COLLECTIVES_SCHEDULE_BUFFERS_H

#include "collectives/runtime/dist_internal.h"

/* A rank's, before its launch, and when the call has ended on the rank. An enum cw_exit. */
int dist_fill_buffers(struct dist_work *work, uint32_t rank, struct cw_error *error);
int dist_take_results(struct dist_work *work, uint32_t rank, struct cw_error *error);

#endif
