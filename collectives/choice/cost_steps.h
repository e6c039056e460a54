/*
 * cost_steps.h: a kernel's work as steps, for an estimate (cost.h). An algorithm that is not a
 * schedule describes with them what its kernel does (struct ccl_algorithm, steps): which transfers,
 * in which streams, and what waits for what. Values and addresses have no part in it.
 *
 * One rank's steps stand for all, since all ranks are alike: each sends as this one does, at the
 * same times. So a notification that this rank waits for comes when the one that it sends itself
 * would arrive, and a link of its SIP carries as many messages as its own cross links of this
 * outlet on their ways.
 *
 * Builders return nothing: memory that is missing is remembered, and the estimate fails.
 */
#ifndef COLLECTIVES_COST_STEPS_H
#define COLLECTIVES_COST_STEPS_H

#include "collectives/algorithm.h"

struct cost_steps;

/* Within HBM; until it is done. */
void cost_copy(struct cost_steps *steps, uint64_t bytes);
/* From HBM of rank `from` to HBM of rank `to`, to be reduced there, or not. The kernel continues at
 * once. */
struct cost_put {
    uint32_t from, to;
    uint64_t bytes;
    bool reduce;
};
void cost_put(struct cost_steps *steps, struct cost_put put);
/* A notification, which arrives after all that was put to the same rank; one of its queue is waited
 * for. Queues are numbers below `queues` (cost_queues()). */
void cost_notify(struct cost_steps *steps, uint32_t queue, uint32_t from, uint32_t to);
void cost_wait(struct cost_steps *steps, uint32_t queue);
void cost_queues(struct cost_steps *steps, uint32_t queues);
/* A slice of this many bytes, made from as many partials as are loaded, piece by piece of a slot:
 * each is loaded, added, and the sum is stored. */
struct cost_reduction {
    uint32_t loads, adds;
    uint64_t bytes;
};
void cost_reduce(struct cost_steps *steps, struct cost_reduction reduction);
/* Forks the streams that follow; between cost_stream() and cost_stream_end() are the steps of one.
 * The kernel continues beside them, until it joins them. */
void cost_fork(struct cost_steps *steps);
void cost_stream(struct cost_steps *steps);
void cost_stream_end(struct cost_steps *steps);
void cost_join(struct cost_steps *steps);

/* The time that they take (cost.h). CW_NO_RESOURCE: out of memory. */
int cost_steps_estimate(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                        int64_t *ps, struct cw_error *error);
/* The events of the simulator that they take, of this rank (cost_events() of cost.h). */
int cost_steps_events(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                      double *events, struct cw_error *error);

#endif
