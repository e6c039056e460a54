/*
 * ring_order.c: in which order a ring goes through all ranks (ring_order.h).
 */
#include "collectives/algorithms/scheduled/ring_order.h"

#include <stdlib.h>

#include "hw/sip_walk.h"

bool ring_order_by_sip(const struct ccl_call *call)
{
    return call->world_size == call->hw->sip_count && !call->ccl->ranks.mapped &&
           call->ccl->ranks.per_sip == 0;
}

/* A walk through a grid of `w` columns and `h` rows; turned, of `w` rows and `h` columns. */
struct walk {
    uint32_t w, h;
    bool turned;    /* x counts rows of the machine */
    uint32_t plane; /* rows of a plane of the machine */
    uint32_t *order;
    uint32_t count;
};

/* A machine of several planes: its rows to and fro, so that each is next to the one before. */
static uint32_t row_at(const struct walk *walk, uint32_t row)
{
    const uint32_t plane = row / walk->plane, first = plane * walk->plane;
    return plane % 2 == 0 ? row : first + walk->plane - 1 - (row - first);
}

static void walk_to(struct walk *walk, uint32_t x, uint32_t y)
{
    walk->order[walk->count++] =
        walk->turned ? row_at(walk, x) * walk->h + y : row_at(walk, y) * walk->w + x;
}

/* Row by row to and fro. With an even number of rows, the way down leaves out column 0 except in
 * row 0; column 0 is the way back. */
static void walk_through(struct walk *walk)
{
    const uint32_t first = walk->h % 2 == 0 && walk->w > 1 ? 1 : 0;
    for (uint32_t y = 0; y < walk->h; y++) {
        const uint32_t from = y == 0 ? 0 : first;
        for (uint32_t x = from; x < walk->w; x++)
            walk_to(walk, y % 2 == 0 ? x : walk->w - 1 - (x - from), y);
    }
    for (uint32_t y = walk->h - 1; first > 0 && y > 0; y--)
        walk_to(walk, 0, y);
}

/* 0 1 | 3 2 | 4 5 | 7 6 ...: dies of neighbouring packages have the same parity, but for the last
 * and the first where the number of packages is odd. */
static void walk_pairs(uint32_t ranks, uint32_t *order)
{
    for (uint32_t i = 0; i < ranks; i++)
        order[i] = i / 2 % 2 == 0 || (i ^ 1) >= ranks ? i : i ^ 1;
}

/* The machine's own orders; NULL: it has none, or ranks are not on SIPs. */
static const struct hw_sip_orders *orders_of(const struct ccl_call *call)
{
    return call->ccl->ranks.per_sip == 0 ? call->hw->orders : NULL;
}

/* The ranks on these SIPs, in this order; all in ascending order if some are on no SIP of these. */
static void take_ranks(const struct ccl_call *call, const uint32_t *sips, uint32_t *order)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < call->hw->sip_count; i++) {
        const uint32_t rank = ccl_rank_on(&call->ccl->ranks, sips[i]);
        if (rank < call->world_size && count < call->world_size)
            order[count++] = rank;
    }
    for (uint32_t i = 0; count < call->world_size && i < call->world_size; i++)
        order[i] = i;
}

size_t ring_orders(const struct ccl_call *call)
{
    const struct hw_sip_orders *const orders = orders_of(call);
    return (size_t)(orders != NULL ? orders->walks : 1) * call->world_size;
}

uint32_t *level_order(const struct ccl_call *call)
{
    const struct hw_sip_orders *const orders = orders_of(call);
    uint32_t *const order =
        orders != NULL ? malloc((size_t)call->world_size * sizeof *order) : NULL;
    if (order != NULL)
        take_ranks(call, orders->by_level, order);
    return order;
}

uint32_t ring_order(const struct ccl_call *call, uint32_t *order)
{
    const struct hw_config *const hw = call->hw;
    const struct hw_grid grid = hw_sip_grid(hw);
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    struct walk walk = {.w = grid.w, .h = grid.h, .plane = grid.h, .order = order};
    if (dims.count == 3 && dims.at[0].size == grid.w && grid.h % dims.at[1].size == 0)
        walk.plane = dims.at[1].size;
    for (uint32_t i = 0; i < call->world_size; i++)
        order[i] = i;
    for (uint32_t k = 0; orders_of(call) != NULL && k < hw->orders->walks; k++)
        take_ranks(call, hw->orders->walk + (size_t)k * hw->sip_count,
                   order + (size_t)k * call->world_size);
    if (orders_of(call) != NULL)
        return hw->orders->walks;
    if (!ring_order_by_sip(call))
        return 1;
    if (hw->sip_topology->paired) {
        walk_pairs(call->world_size, order);
    } else if (hw->sip_topology->is_grid && grid.w > 1 && grid.h > 1) {
        if (grid.h % 2 != 0 && grid.w % 2 == 0) {
            walk.turned = true;
            walk.w = grid.h;
            walk.h = grid.w;
        }
        walk_through(&walk);
    }
    return 1;
}
