/*
 * tl_memory.h: the end of a blocking move between memories.
 */
#ifndef LP_TL_MEMORY_H
#define LP_TL_MEMORY_H

#include "lp/kernel/tl_call.h"

/* A blocking load, store or copy is complete: emits its records. */
void tl_moved(struct tl *tl);

#endif
