/*
 * sweep_order.c: chooses the next point for each worker (sweep_order.h).
 */
#include "bench/sweep/sweep_order.h"

#include <stdlib.h>

bool sweep_order_init(struct sweep_order *order, const struct sweep_plan *plan)
{
    const size_t groups = (size_t)plan->group_count + 1;
    *order = (struct sweep_order){.plan = plan,
                                  .next = calloc(groups, sizeof *order->next),
                                  .at = calloc((size_t)plan->workers + 1, sizeof *order->at),
                                  .begun = calloc(groups, sizeof *order->begun),
                                  .left = plan->count};
    if (order->next == NULL || order->at == NULL || order->begun == NULL)
        return false;
    for (uint32_t i = 0; i < plan->group_count; i++)
        order->next[i] = plan->groups[i].begin;
    for (uint32_t i = 0; i < plan->workers; i++)
        order->at[i] = plan->group_count;
    return true;
}

void sweep_order_free(struct sweep_order *order)
{
    free(order->next);
    free(order->at);
    free(order->begun);
}

uint32_t sweep_order_left(const struct sweep_order *order) { return order->left; }

static uint32_t left_of_group(const struct sweep_order *order, uint32_t group)
{
    return group < order->plan->group_count ? order->plan->groups[group].end - order->next[group]
                                            : 0;
}

/* The first group without a worker; if there is none, the one with the most points left. */
static uint32_t choose_group(struct sweep_order *order)
{
    const uint32_t count = order->plan->group_count;
    while (order->first < count && left_of_group(order, order->first) == 0)
        order->first++;
    uint32_t most = order->first;
    for (uint32_t group = order->first; group < count; group++) {
        if (left_of_group(order, group) == 0)
            continue;
        if (order->begun[group] == 0)
            return group;
        if (left_of_group(order, group) > left_of_group(order, most))
            most = group;
    }
    return most;
}

uint32_t sweep_order_next(struct sweep_order *order, uint32_t worker)
{
    uint32_t *const at = &order->at[worker];
    if (left_of_group(order, *at) == 0) {
        if (*at < order->plan->group_count)
            order->begun[*at]--;
        *at = choose_group(order);
        order->begun[*at]++;
    }
    return order->plan->points[order->next[*at]];
}

void sweep_order_take(struct sweep_order *order, uint32_t worker)
{
    order->next[order->at[worker]]++;
    order->left--;
}
