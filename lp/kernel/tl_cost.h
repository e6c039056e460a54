/*
 * tl_cost.h: the time that the blocks of a PE take for a kernel's calls (hw/HARDWARE.md, "Blocks of
 * a PE"), with jitter. Pure functions.
 */
#ifndef LP_TL_COST_H
#define LP_TL_COST_H

#include "lp/kernel/tl_call.h"

/* Sums the overheads of calls without jitter: fills m->issue_ps. Host side. */
void tl_cost_init(struct lp_model *m);

/* Time of a block of this PE for a part of the current call that costs `cost_ps`. */
int64_t tl_block_ps(const struct tl *tl, enum hw_node_kind block, uint32_t part, int64_t cost_ps);
/* The same, without a note of it for causes: the kernel may not wait for all of it. */
int64_t tl_late_ps(const struct tl *tl, enum hw_node_kind block, int64_t cost_ps);
int64_t tl_issue_ps(const struct tl *tl, enum tl_issue issue, uint32_t part);
/* PE_FETCH_STORE: all source operands together, then the result. */
int64_t tl_fetch_ps(const struct tl *tl, uint64_t operand_bytes, uint64_t result_bytes);

#endif
