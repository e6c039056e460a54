/*
 * scheduled.h: the makers of schedules in this folder: hooks `schedule` of struct ccl_algorithm.
 * Each works for any number of ranks, unless its algorithm's check() refuses it. Pure.
 */
#ifndef COLLECTIVES_SCHEDULED_H
#define COLLECTIVES_SCHEDULED_H

#include "collectives/algorithm.h"

/* Parameters of the ring's algorithms, in the order in which they are declared. */
enum { SCHEDULED_WAY, SCHEDULED_RINGS };

/* A parameter's value: of the configured algorithm that which is configured, else the default. */
int64_t scheduled_parameter(const struct ccl_call *call, const char *algorithm,
                            const struct ccl_parameter *parameters, uint32_t i);

struct schedule *ring_rs_ag_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *ring_reduce_scatter_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *ring_ag_schedule(const struct ccl_call *call, struct cw_error *error);

#endif
