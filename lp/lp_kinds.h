/*
 * lp_kinds.h: the kinds of LP: a table of functions for each, and the engine's view of them all.
 */
#ifndef LP_KINDS_H
#define LP_KINDS_H

#include "lp/model.h"

const struct lp_ops *lp_ops_of(const struct lp_model *m, uint32_t lp);

/* The hardware as a model of the engine; `m` must outlive it. `traced`: its causes may be asked
 * for. */
struct cw_model lp_engine_model(const struct lp_model *m, bool traced);

#endif
