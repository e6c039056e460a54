/*
 * contents.h: what the host fills into tensors, put off until contents are needed: before the next
 * drain, or before the host reads. Then each worker fills the tensors of its own SIPs, so that a
 * collective's inputs cost no serial time, and memory lies near the worker that uses it. An op log
 * hears of a fill at once.
 *
 * Between drains, on one thread; contents_settle() runs on all workers.
 */
#ifndef COLLECTIVES_CONTENTS_H
#define COLLECTIVES_CONTENTS_H

#include "collectives/runtime/dist_internal.h"

/* The tensor reads as zeros; or, of a rank's part of the input, as the seed's stream (input.h). It
 * stays allocated until contents_settle(). An enum cw_exit. */
int contents_zero(struct dist *dist, const struct tensor *tensor, struct cw_error *error);
int contents_fill_input(struct dist *dist, const struct tensor *tensor, uint64_t seed,
                        uint32_t rank, struct cw_error *error);

/* Carries out all that was put off. An enum cw_exit. */
int contents_settle(struct dist *dist, struct cw_error *error);

#endif
