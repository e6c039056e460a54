/*
 * sweep_order.h: which point a worker gets next. A worker stays with a group of points
 * (sweep_plan.h), whose machine it keeps, until none is left. Then it takes the first group that no
 * other worker is at. Only when there is none it shares a group, the one with the most points left.
 * So long points still come first, and no worker is idle while points are left.
 */
#ifndef BENCH_SWEEP_ORDER_H
#define BENCH_SWEEP_ORDER_H

#include "bench/sweep/sweep_plan.h"

struct sweep_order {
    const struct sweep_plan *plan;
    uint32_t *next;  /* [group] the first point of it that no worker has got */
    uint32_t *at;    /* [worker] the group that it is at; group_count: none yet */
    uint32_t *begun; /* [group] workers that are at it */
    uint32_t first;  /* no group before this one has points left */
    uint32_t left;   /* points that no worker has got */
};

/* False: no memory. Release with sweep_order_free(), whatever the result. */
bool sweep_order_init(struct sweep_order *order, const struct sweep_plan *plan);
void sweep_order_free(struct sweep_order *order);

uint32_t sweep_order_left(const struct sweep_order *order);
/* The point that this worker gets next. There is one left. */
uint32_t sweep_order_next(struct sweep_order *order, uint32_t worker);
/* The worker has got it. */
void sweep_order_take(struct sweep_order *order, uint32_t worker);

#endif
