/*
 * at_random.h: what tests of the engine ask for beyond cw_tuning.h: that parts move, and that
 * threads gather and part, again and again, at random (cw_tuning.stress_seed), whether that pays
 * or not. Results are the same. The values are none of the enumerations', so that no host asks for
 * them by counting.
 */
#ifndef CORE_AT_RANDOM_H
#define CORE_AT_RANDOM_H

#include "core/cw.h"

#define CW_BALANCE_RANDOM ((enum cw_balance)0x100) /* for cw_tuning.balance; "random" */
#define CW_GATHER_OFTEN   ((enum cw_gather)0x100)  /* for cw_tuning.gather */

static inline const char *balance_name(enum cw_balance balance)
{
    return balance == CW_BALANCE_RANDOM ? "random" : cw_balance_name[balance];
}

#endif
