/*
 * deadlock.h: F3/F5 IpcqDeadlock (30-ipcq.md, "Failures"): the engine has nothing left to do while
 * kernels wait.
 */
#ifndef LP_DEADLOCK_H
#define LP_DEADLOCK_H

#include <stdio.h>

#include "lp/model.h"

/* The first line: the shortest cycle of the wait-for graph, or who waits on a peer that has
 * finished or was never launched. Truncated to fit. */
void lp_deadlock_summary(const struct lp_model *m, const struct cw_sim *sim, char *text,
                         size_t bytes);

/* The pointers of every installed queue, a line each. */
void lp_pointer_list(const struct lp_model *m, const struct cw_sim *sim, FILE *out);
/* Those of every queue that is not idle, at most `lines_max`; the rest is counted. */
void lp_pointer_dump(const struct lp_model *m, const struct cw_sim *sim, size_t lines_max,
                     FILE *out);

#endif
