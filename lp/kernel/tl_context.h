/*
 * tl_context.h: effects of the calls on contexts (tl.h), and the end of a kernel or a stream.
 */
#ifndef LP_TL_CONTEXT_H
#define LP_TL_CONTEXT_H

#include "lp/kernel/tl_call.h"

void tl_effect_fork(struct tl *tl);
void tl_effect_join(struct tl *tl);
void tl_effect_barrier(struct tl *tl);
void tl_effect_end(struct tl *tl);

#endif
