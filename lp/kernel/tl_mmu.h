/*
 * tl_mmu.h: PE_MMU: virtual addresses of a kernel to places in the memories of its PE and cube.
 */
#ifndef LP_TL_MMU_H
#define LP_TL_MMU_H

#include "lp/kernel/tl_call.h"

/* The MmuMapMsgs up to this number have taken effect at the PE. */
void tl_map(struct lp_view *view, uint32_t pe, uint32_t message);

/* The place of `bytes` bytes at `va`. Fails the event (PageFault) if they are not mapped. */
struct lp_operand tl_translate(struct tl *tl, enum tl_call_kind kind, uint64_t va, uint32_t bytes);

#endif
