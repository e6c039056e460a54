/*
 * choice.h: the choice among algorithms (ALGORITHMS.md, "The choice"): of a list of candidates that
 * can carry out a call on this machine, the one with the least estimate (cost.h). Kernels and
 * schedules are candidates alike. Host side and pure.
 */
#ifndef COLLECTIVES_CHOICE_H
#define COLLECTIVES_CHOICE_H

#include "collectives/choice/cost.h"

/* An algorithm that may be chosen, with a value of one of its parameters. */
struct choice_candidate {
    const char *name; /* of a built-in algorithm */
    int64_t value;    /* of the parameter; 0: all have their defaults */
    uint32_t parameter;
    const char *unit; /* of a value other than 1, after the name */
    /* Leaves the candidate out of a choice that could take it: false, with the reason in *refusal,
     * or without one, where nobody needs to know. NULL: it is never left out. */
    bool (*allowed)(const struct ccl_call *call, struct ccl_refusal *refusal);
};

struct choice_request {
    const struct ccl_call *call;
    enum ccl_mappers mapper; /* the PEs that carry it out: estimates depend on them */
    /* In the order in which they are estimated: those first that are often the best, or that have
     * few steps, since no estimate of a schedule continues for longer than the second best. */
    const struct choice_candidate *candidates;
    uint32_t count;   /* at most CHOICE_MAX */
    int64_t limit_ps; /* longer estimates of schedules need not be known; 0: all are */
};
enum { CHOICE_MAX = 32 };

struct chosen {
    const struct ccl_algorithm *algorithm; /* NULL: none can carry out the call */
    struct schedule *schedule;             /* the caller frees it; NULL: it is none */
    int64_t ps;                            /* the estimate; COST_LONG: over the limit */
    char why[512];                         /* sizes, estimates, and what is left out */
    char advice[256];                      /* of the refusal that `why` ends in */
};

/* CW_USAGE: none can carry out the call; CW_NO_RESOURCE: memory has no room for it, or for an
 * estimate. *chosen says why in either case. */
int choose(const struct choice_request *request, struct chosen *chosen, struct cw_error *error);

/*
 * The choice among placements: requests of the same work on the PEs of different mappers, each for
 * its part of it.
 */
enum { CHOICE_PLACEMENTS_MAX = 3 };
struct choice_placed {
    uint32_t best;                     /* the request with the least estimate */
    int64_t ps[CHOICE_PLACEMENTS_MAX]; /* COST_LONG: longer than one before, or impossible */
};
/* CW_USAGE: none can be carried out; CW_NO_RESOURCE: out of memory. */
int choose_placement(const struct choice_request *requests, uint32_t count,
                     struct choice_placed *placed, struct cw_error *error);

/* ---- parts of other choices among schedules -------------------------------------------------- */

/* Candidates that are left out, since memory has no room for their steps. */
struct choice_left_out {
    char names[256]; /* with their numbers of steps */
    uint64_t least;  /* of all their steps; 0: none is left out */
};
/* Once by each name. */
void choice_leave_out(struct choice_left_out *left_out, const char *name, uint64_t steps);
/* The schedule of a candidate, as if the configuration named it. NULL: it is refused, or left out
 * without room (CW_USAGE), or CW_NO_RESOURCE. */
struct schedule *choice_schedule(const struct ccl_call *call,
                                 const struct choice_candidate *candidate,
                                 struct choice_left_out *left_out, struct cw_error *error);
/* Of a choice that has no schedule: CW_NO_RESOURCE, one was left out; CW_OK: none was. */
int choice_none_left(const struct choice_left_out *left_out, struct cw_error *error);
/* Adds to a reason. */
__attribute__((format(printf, 2, 3))) void choice_say(char why[512], const char *format, ...);
void choice_say_left_out(char why[512], const struct choice_left_out *left_out);

#endif
