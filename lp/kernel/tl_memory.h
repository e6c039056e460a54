/*
 * tl_memory.h: effects of the calls that move data between memories (tl.h).
 */
#ifndef LP_TL_MEMORY_H
#define LP_TL_MEMORY_H

#include "lp/kernel/tl_call.h"

void tl_effect_load(struct tl *tl);
void tl_effect_store(struct tl *tl);
void tl_effect_copy(struct tl *tl);
void tl_effect_store_to(struct tl *tl);
void tl_effect_load_from(struct tl *tl);
void tl_effect_wait_dma(struct tl *tl);
/* The second half of recv_into, where the place is in HBM or SRAM. */
void tl_effect_copy_tile(struct tl *tl);
/* A blocking load, store or copy is complete: emits its records. */
void tl_moved(struct tl *tl);

#endif
