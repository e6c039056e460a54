/*
 * landing.h: the puts that are under way, as their committed records tell: where each is bound for
 * and how, so that the record of its landing can say so too (record.h). What travels through the
 * machine is sizes and numbers only. Used by the record sink, on one thread at a time.
 */
#ifndef LP_LANDING_H
#define LP_LANDING_H

#include <stdbool.h>

#include "lp/record.h"

/* Zero-initialised by its owner. */
struct lp_landing {
    struct lp_put_record *put; /* [capacity], open addressing */
    uint32_t count, capacity;  /* a power of two, or 0 */
};

void lp_landing_free(struct lp_landing *landing);

/* Remembers a PUT; false: out of memory. */
bool lp_landing_put(struct lp_landing *landing, const struct lp_op *put);
/* Gives a LAND its put's destination, bytes, operation and dtype, and forgets the put; false: there
 * is no such put under way. */
bool lp_landing_land(struct lp_landing *landing, struct lp_op *land);

#endif
