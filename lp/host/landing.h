/*
 * landing.h: the puts and raw stores in flight, from their committed records. Only sizes
 * and numbers travel through the machine. So the destination and the operation of a put are
 * remembered here, until the record of its landing gets them (record.h). Used by the record sink,
 * on one thread at a time.
 */
#ifndef LP_LANDING_H
#define LP_LANDING_H

#include <stdbool.h>

#include "core/os/table.h"
#include "lp/record.h"

struct lp_landing {
    struct table puts; /* by PE and number of the put */
};

void lp_landing_init(struct lp_landing *landing);
void lp_landing_free(struct lp_landing *landing);

/* Remembers a PUT or a STORE_TO; false: out of memory. */
bool lp_landing_put(struct lp_landing *landing, const struct lp_op *put);
/* Gives a LAND or STORED of a put or store `from` this PE its destination, bytes, operation and
 * dtype, and forgets it; false: there is none in flight. */
bool lp_landing_land(struct lp_landing *landing, uint32_t from, struct lp_op *land);

#endif
