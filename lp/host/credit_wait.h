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

/* Of one PE. Where kernels do not wait for credits: 0. Of tl_recv_all(): as if one credit came
 * after another. */
struct lp_credit_wait {
    struct hw_place place;
    int64_t ps;
};

struct lp_credit_waits {
    struct lp_credit_wait longest; /* of all PEs, in the calls that were simulated */
    struct lp_credit_wait last;    /* of the PE `last_pe`, likewise */
    struct lp_credit_wait in_all;  /* of all PEs, in all calls since the machine was built */
};

/* The calls since the walk before: simulated, and left out. A call receives as many tiles as any
 * other. */
struct lp_credit_calls {
    uint32_t simulated, left_out;
};
/* Of a PE, up to the walk before: in calls that were simulated, and in others. The machine begins
 * with zeros. */
struct lp_credit_waited {
    int64_t ps, left_out_ps;
};

/* Walks over all PEs, each worker over a part. Of several PEs that waited equally long, the first
 * counts. waited[i], of the machine's i-th PE, is brought up to now. */
struct lp_credit_waits lp_credit_waits_since(const struct lp_model *m, struct cw_sim *sim,
                                             uint32_t last_pe, struct lp_credit_calls calls,
                                             struct lp_credit_waited *waited);

#endif
