/*
 * deadlock.h: the report of F3 and F5, IpcqDeadlock (lp/QUEUES.md, "Failures"): the engine has
 * nothing left to do while kernels wait. Host side, between drains.
 */
#ifndef LP_DEADLOCK_H
#define LP_DEADLOCK_H

#include <stdio.h>

#include "lp/model.h"

enum { LP_POINTER_LINES_MAX = 64 }; /* in a report for a person */

/*
 * Fills *error, and returns CW_PROGRAM_FAILED. The first line of the text is the shortest cycle of
 * the wait-for graph; or, without a cycle, the PEs that wait for a peer that has finished or was
 * never launched. The lines of lp_pointer_dump() follow. cw_error_text() has the whole text.
 */
int lp_deadlock_report(const struct lp_model *m, const struct cw_sim *sim, struct cw_error *error);

/* A kernel, or a stream of it, that has not ended. */
struct lp_waiting {
    uint32_t pe, queue, rank; /* queue: hardware queue of the PE */
    const char *kernel;       /* its name */
    const char *state;        /* "waits for data from W (at chain.c:31)"; valid during the call */
    int64_t since_ps;         /* of its latest wait; the last event's time, if it does not wait */
};
/* Visits them in order of their PEs. */
void lp_waiting_visit(const struct lp_model *m, const struct cw_sim *sim,
                      void (*visit)(void *arg, const struct lp_waiting *waiting), void *arg);

/* The pointers of every installed queue, a line each. */
void lp_pointer_list(const struct lp_model *m, const struct cw_sim *sim, FILE *out);
/* The pointers of every queue that is not idle, at most `lines_max` lines; the rest is counted. */
void lp_pointer_dump(const struct lp_model *m, const struct cw_sim *sim, size_t lines_max,
                     FILE *out);

#endif
