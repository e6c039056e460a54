/*
 * tl_rings.h: the receive rings in the memories of PEs and cubes, which belong to the hardware: a
 * kernel's operand, or a place that its put or raw store writes, is never among them. Handlers
 * only.
 */
#ifndef LP_TL_RINGS_H
#define LP_TL_RINGS_H

#include "lp/kernel/tl_call.h"

/* Fails the event if these bytes in memories of PE `pe_index` (global), or in its cube's SRAM, meet
 * a ring. */
void tl_check_rings(struct tl *tl, enum tl_call_kind kind, uint32_t pe_index, struct lp_operand at,
                    uint64_t bytes);

#endif
