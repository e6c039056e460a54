/*
 * later_ways.h: the ways of what a queue sends when links have failed during a run
 * (hw_config.later). Pure functions; called from then on only.
 */
#ifndef LP_LATER_WAYS_H
#define LP_LATER_WAYS_H

#include "lp/lp_view.h"
#include "lp/queues/logical_wiring.h"

/* The outlet by which a tile leaves its SIP that would have left by `exit`. */
uint8_t lp_exit_later(const struct lp_model *m, uint32_t src, uint32_t dst, uint8_t exit);
/* The time of a credit from a PE to the other end of its queue. */
int64_t lp_credit_later_ps(const struct lp_model *m, uint32_t pe_index, const struct lp_wire *end);

#endif
