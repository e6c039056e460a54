/*
 * drained_check.h: the named invariants of lp/, checked on the states of all LPs when the engine
 * has nothing left to do. system.c calls it after each drain in the builds that assert
 * (core/invariant.h). Host side, between drains; changes nothing.
 */
#ifndef LP_DRAINED_CHECK_H
#define LP_DRAINED_CHECK_H

#include "lp/model.h"

/* CW_OK, or CW_BUG with the invariant's name, the PE and the values that break it. Kernels may
 * still wait (a deadlock). */
int lp_check_drained(const struct lp_model *m, const struct cw_sim *sim, struct cw_error *error);

#endif
