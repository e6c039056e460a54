/*
 * tl_steps.h: a call's way through its steps (tl_call.h). Handlers only.
 */
#ifndef LP_TL_STEPS_H
#define LP_TL_STEPS_H

#include "lp/kernel/tl_call.h"

/* Takes the current call as far as it gets now. True: it is done. */
bool tl_advance(struct tl *tl);

#endif
