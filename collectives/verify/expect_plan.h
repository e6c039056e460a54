/*
 * expect_plan.h: the plan that an expectation (expect.h) evaluates: the request with its
 * algorithm's order, checked against the machine. Const once it is made. Used by expect.c alone.
 */
#ifndef COLLECTIVES_EXPECT_PLAN_H
#define COLLECTIVES_EXPECT_PLAN_H

#include "collectives/order.h"
#include "collectives/verify/expect.h"

/* A grid and its root. */
struct expect_grid {
    uint32_t w, h, root_x, root_y;
};

struct expect_plan {
    struct expect_request request;
    const char *name; /* the algorithm's */
    struct ccl_order order;
    bool scatters;                         /* a rank's result is its slice alone */
    bool one_order;                        /* of order.operand: the same for all ranks */
    uint32_t depth;                        /* of order.tree: the stack's (sum_tree.h) */
    struct expect_grid pe_grid, cube_mesh; /* 1 x 1 where the algorithm has no such level */
    uint32_t sips;
    uint64_t result_elems; /* of each shard's result */
};

/* False: *error says why no bits are specified. */
bool expect_plan_make(struct expect_plan *plan, const struct expect_request *request,
                      struct cw_error *error);
/* Shards of each rank's result. */
uint32_t expect_plan_shards(const struct expect_plan *plan);
/* Each element is computed for all ranks at once, and each rank has one shard. */
bool expect_plan_by_elements(const struct expect_plan *plan);

#endif
