/*
 * credit_wait.h: how long kernels waited for their credits to be out (`recv_blocks_on_credit`),
 * counted from the queues' pointers after a drain. Host side, read only.
 */
#ifndef LP_CREDIT_WAIT_H
#define LP_CREDIT_WAIT_H

#include <stdint.h>

#include "hw/structure.h"

struct cw_sim;
struct lp_model;

/* The PE that waited longest, since the machine was built. */
struct lp_credit_wait {
    struct hw_place place;
    int64_t ps; /* 0: no kernel waits for credits; of tl_recv_all(), as if one came after another */
};

/* Of several PEs that waited equally long, the first. The workers look at a part each. */
struct lp_credit_wait lp_credit_wait_longest(const struct lp_model *m, struct cw_sim *sim);

#endif
