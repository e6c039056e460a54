/*
 * overrun.h: the report of a run that was stopped at a limit, of simulated time or of events: the
 * kernels that had not ended. Host side, between drains.
 */
#ifndef LP_OVERRUN_H
#define LP_OVERRUN_H

#include "lp/model.h"

/* Fills *error with the fault and the kernels that run, each with its line. Returns
 * CW_PROGRAM_FAILED. The states must be committed ones. */
int lp_overrun_report(const struct lp_model *m, const struct cw_sim *sim, const char *fault,
                      struct cw_error *error);

#endif
