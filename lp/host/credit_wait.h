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
    struct lp_credit_wait longest; /* of all PEs, since the walk before */
    struct lp_credit_wait last;    /* of the PE `last_pe`, since the walk before */
    struct lp_credit_wait in_all;  /* of all PEs, since the machine was built */
};

/* Walks over all PEs, each worker over a part. Of several PEs that waited equally long, the first
 * counts. before_ps[pe]: the wait of each up to the walk before; the machine begins
 * with zeros. */
struct lp_credit_waits lp_credit_waits_since(const struct lp_model *m, struct cw_sim *sim,
                                             uint32_t last_pe, int64_t *before_ps);

#endif
