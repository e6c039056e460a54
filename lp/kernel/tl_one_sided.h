/*
 * tl_one_sided.h: effects of the calls on memories of other PEs (tl.h).
 */
#ifndef LP_TL_ONE_SIDED_H
#define LP_TL_ONE_SIDED_H

#include "lp/kernel/tl_call.h"

void tl_effect_put(struct tl *tl);
void tl_effect_notify(struct tl *tl);
void tl_effect_wait_notify(struct tl *tl);

#endif
