/*
 * data_apply.h: executes one committed data operation, for a cube's worker (data_commit.h) or for
 * records that come one after the other (data_pass.h).
 */
#ifndef COLLECTIVES_DATA_APPLY_H
#define COLLECTIVES_DATA_APPLY_H

#include "collectives/data/data_operand.h"

/* Returns CW_OK, or an exit code with *error filled; then nothing was changed, unless it is
 * CW_NO_RESOURCE. */
int data_apply(const struct data_site *site, const struct lp_op *op, struct cw_error *error);

#endif
