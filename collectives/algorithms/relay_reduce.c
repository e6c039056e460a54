/*
 * relay_reduce.c: the sum of all ranks' tensors to the root rank, over the queues that join them:
 * up a spanning tree (relay.h), tile by tile. A rank adds to its own tile those of its children, in
 * the order of their directions, and sends the sum to its parent; the root stores it. So only the
 * root's tensor changes. Every shard goes its own lane, as in relay_broadcast.
 */
#include "collectives/algorithms/lane_steps.h"
#include "collectives/relay.h"

enum scalar { PARENT, CHILDREN };
enum phase { MOVE };
static const char *const phase_name[] = {"reduce"};

struct frame {
    uint16_t line, part;
    uint32_t i, dir;
};

/* Adds the current tiles of all children to the own one, in TCM. */
static enum tl_status relay_reduce_add(struct tl *tl, struct frame *f)
{
    const uint32_t bytes = tl_tile_bytes(tl, f->i);
    TL_BEGIN(&f->part);
    for (f->dir = 0; f->dir < HW_DIRS_MAX; f->dir++) {
        if ((tl_args(tl)->scalar[CHILDREN] >> f->dir & 1) == 0)
            continue;
        TL_CALL(&f->part, tl_recv(tl, (enum hw_dir)f->dir, bytes));
        TL_CALL(&f->part,
                tl_math(tl, (enum lp_math)tl_args(tl)->math, 0, tl_tcm(0), tl_last(tl_received(tl)),
                        bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype)));
    }
    TL_END(&f->part);
}

static enum tl_status relay_reduce_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    const enum hw_dir parent = (enum hw_dir)tl_args(tl)->scalar[PARENT];
    TL_BEGIN(&f->line);
    tl_phase(tl, MOVE);
    for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
        TL_CALL(&f->line,
                tl_load(tl, 0, tl_shard(tl) + lane_tile_offset(tl, f->i), tl_tile_bytes(tl, f->i)));
        TL_RUN(&f->line, relay_reduce_add(tl, f));
        if (parent != HW_DIRS_MAX)
            TL_CALL(&f->line, tl_send(tl, parent, tl_tcm(0), tl_tile_bytes(tl, f->i)));
        else if (tl_args(tl)->scalar[CHILDREN] != 0)
            TL_CALL(&f->line, tl_store(tl, tl_shard(tl) + lane_tile_offset(tl, f->i), tl_tcm(0),
                                       tl_tile_bytes(tl, f->i)));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "relay_reduce",
                                        .frame_bytes = sizeof(struct frame),
                                        .run = relay_reduce_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

static void relay_reduce_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    int64_t *const s = args->scalar;
    s[PARENT] = call->relay->parent[call->rank];
    s[CHILDREN] = call->relay->children[call->rank];
}

/* The tile at hand. */
static uint64_t relay_reduce_tcm_bytes(const struct ccl_call *call)
{
    return call->ccl->queues.whole_tensor ? call->n_elem * tl_itemsize(call->dtype)
                                          : call->ccl->queues.slot_bytes;
}

static const struct ccl_order order = {.between = CCL_BETWEEN_RELAY, .kept = CCL_KEPT_LEFT};

const struct ccl_algorithm ccl_relay_reduce = {
    .name = "relay_reduce",
    .collective = CCL_REDUCE,
    .kernel = &kernel,
    .order = &order,
    .machine = {.lanes = true, .relay = CCL_RELAY_BOTH, .tcm_bytes = relay_reduce_tcm_bytes},
    .kernel_args = relay_reduce_kernel_args,
    .check = relay_check,
    .folds = relay_folds};
