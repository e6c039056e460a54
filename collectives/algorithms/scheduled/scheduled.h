/*
 * scheduled.h: that which the algorithms of this folder share. Each is a struct ccl_algorithm with
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

/* A parameter's value: of the configured algorithm that which is configured, else the default. */
int64_t scheduled_parameter(const struct ccl_call *call, const char *algorithm,
                            const struct ccl_parameter *parameters, uint32_t i);

/* A schedule that may be chosen: an algorithm, and a value of one of its parameters. */
struct scheduled_candidate {
    const char *name;
    int64_t value; /* of the parameter; 0: all have their defaults */
    uint32_t parameter;
    const char *unit; /* of a value other than 1, behind the name */
};
/* Makes it as if the configuration named it. NULL: it is refused (CW_USAGE), or CW_NO_RESOURCE. */
struct schedule *scheduled_make(const struct ccl_call *call,
                                const struct scheduled_candidate *candidate,
                                struct cw_error *error);
/* Adds to a schedule's reason (schedule.h, `why`). */
__attribute__((format(printf, 2, 3))) void scheduled_say_why(char why[512], const char *format,
                                                             ...);

/* The largest power of two that is at most n, at least 1. */
uint32_t scheduled_power(uint32_t n);

/* PEs of each SIP that carry out a schedule on shards of their own; 1: there is one shard. */
uint32_t scheduled_lanes(const struct ccl_call *call);

/* Hooks `messages_least`: a chunk goes at least once to each other rank; an all-reduce is a
 * reduction and the spreading of its result, so twice. */
double scheduled_messages_to_all(const struct ccl_call *call);

#endif
