/*
 * tl_compute.h: effects of the calls that compute (tl.h).
 */
#ifndef LP_TL_COMPUTE_H
#define LP_TL_COMPUTE_H

#include "lp/kernel/tl_call.h"

void tl_effect_math(struct tl *tl);
void tl_effect_cast(struct tl *tl);
void tl_effect_dot(struct tl *tl);

#endif
