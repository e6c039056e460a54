/*
 * sweep_order.h: which point a worker gets next. A worker stays with a group of points
 * (sweep_plan.h), whose machine it keeps, until none is left; then it takes the first group without
 * a worker. If there is none, it shares the group with the most points left. So long points still
 * come first, and no worker is idle while points are left.
 */
#ifndef BENCH_SWEEP_ORDER_H
#define BENCH_SWEEP_ORDER_H

#include "bench/sweep/sweep_plan.h"

struct sweep_order {
    const struct sweep_plan *plan;
    uint32_t *next;  /* [group] its first point that no worker has */
    uint32_t *at;    /* [worker] its group; group_count: none yet */
    uint32_t *begun; /* [group] its workers */
    uint32_t first;  /* no group before this one has points left */
    uint32_t left;   /* points that no worker has */
};

/* False: no memory. Release with sweep_order_free() in any case. */
bool sweep_order_init(struct sweep_order *order, const struct sweep_plan *plan);
void sweep_order_free(struct sweep_order *order);

uint32_t sweep_order_left(const struct sweep_order *order);
/* The next point for this worker; at least one must be left. */
uint32_t sweep_order_next(struct sweep_order *order, uint32_t worker);
/* Notes that the worker has it. */
void sweep_order_take(struct sweep_order *order, uint32_t worker);

#endif
