/*
 * scheduled.h: what the algorithms of this folder share. Each is a struct ccl_algorithm with
 * a hook `schedule`, which works for any number of ranks, unless its check() refuses it. Pure.
 */
#ifndef COLLECTIVES_SCHEDULED_H
#define COLLECTIVES_SCHEDULED_H

#include "collectives/algorithm.h"
#include "collectives/schedule/schedule_kernel.h"

#define SCHEDULED_MACHINE                                                                          \
    {                                                                                              \
        .tcm_bytes = schedule_tcm_bytes                                                            \
    }

/* Parameters, in the order in which the algorithms declare them: of the rings, of the grids, of the
 * all-to-all. */
enum { SCHEDULED_WAY, SCHEDULED_RINGS, SCHEDULED_ORDERS = 0, SCHEDULED_THREADS = 0 };

/* A parameter's value: of the configured algorithm the configured one, else the default. */
int64_t scheduled_parameter(const struct ccl_call *call, const char *algorithm,
                            const struct ccl_parameter *parameters, uint32_t i);

/* Whether a schedule of this many steps fits in memory. CW_NO_RESOURCE: it does not, and
 * *call->no_room says so. */
int scheduled_has_room(const struct ccl_call *call, uint64_t steps, struct cw_error *error);

/* The largest power of two that is at most n, at least 1. */
uint32_t scheduled_power(uint32_t n);

/* PEs of each SIP that carry out a schedule on shards of their own; 1: there is one shard. */
uint32_t scheduled_lanes(const struct ccl_call *call);

#endif
