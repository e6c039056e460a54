/*
 * session.h: a whole run of the harness: rounds, in each of which every case of the set is measured
 * once, in turn, so that a disturbance of minutes slows all of them. A disturbed
 * measurement is repeated at once.
 */
#ifndef PERF_SESSION_H
#define PERF_SESSION_H

#include "perf/sets.h"

struct perf_session {
    const char *set; /* of perf_session_run() */
    uint32_t rounds;
    uint32_t repeats_max; /* of one measurement; after that it stays, and says so */
    /* Called before each measurement; NULL: not wanted. */
    void (*progress)(void *arg, uint32_t round, const char *name, size_t done, size_t count);
    /* Called for each disturbed measurement, repeated or kept; NULL: not wanted. */
    void (*disturbed)(void *arg, const char *name, const char *why, bool again);
    /* Called if the budget is spent in the first round: this many cases were measured, and the run
     * has no others. NULL: not wanted. */
    void (*over)(void *arg, size_t measured, size_t count);
    void *arg;
    /* No round begins that would, as the longest one yet, end later, and in the first round no case
     * begins later. 0: no budget. */
    double budget_s;
    /* True: no more rounds, and the unfinished one is dropped. NULL: never. */
    bool (*stop)(void *arg);
};

/* Measures cases of the caller's own, and adds them to *run, which has begun (perf_run_begin).
 * Cases whose program cannot be run are left out, and cases[] is put together. CW_NO_RESOURCE, with
 * *run as it was: no case is left. */
int perf_session_measure(const struct perf_session *session, struct perf_case *cases, size_t count,
                         struct perf_run *run, struct cw_error *error);

/* The number of whole rounds that all cases have. */
uint32_t perf_session_rounds(const struct perf_run *run);

/* Measures the set. Fills *run, which the caller frees whatever the result. */
int perf_session_run(const struct perf_session *session, struct perf_run *run,
                     struct cw_error *error);

#endif
