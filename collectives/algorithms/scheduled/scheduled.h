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
/* Whether a schedule of so many steps has room in memory. CW_NO_RESOURCE: it has not, and
 * *call->no_room says so. */
int scheduled_has_room(const struct ccl_call *call, uint64_t steps, struct cw_error *error);

/* Makes it as if the configuration named it. NULL: it is refused (CW_USAGE), or CW_NO_RESOURCE. */
struct schedule *scheduled_make(const struct ccl_call *call,
                                const struct scheduled_candidate *candidate,
                                struct cw_error *error);
/* Candidates of a choice that are left out, since memory has no room for their steps. */
struct scheduled_left_out {
    char names[256]; /* with their numbers of steps */
    uint64_t least;  /* of all their steps; 0: none is left out */
};
/* Once by each name. */
void scheduled_leave_out(struct scheduled_left_out *left_out, const char *name, uint64_t steps);
/* The same as scheduled_make(); a candidate without room is left out, and CW_USAGE. */
struct schedule *scheduled_consider(const struct ccl_call *call,
                                    const struct scheduled_candidate *candidate,
                                    struct scheduled_left_out *left_out, struct cw_error *error);
/* Of a choice that has no schedule: CW_NO_RESOURCE, one was left out; CW_OK: none was. */
int scheduled_none_left(const struct scheduled_left_out *left_out, struct cw_error *error);
void scheduled_say_left_out(char why[512], const struct scheduled_left_out *left_out);
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
