/*
 * relay_broadcast.c: the root rank's tensor to all ranks, over the queues that join them: along a
 * spanning tree (relay.h), tile by tile, each forwarded before it is stored. Every shard goes its
 * own lane, so tensors of any layout will do, as long as their PEs are wired.
 */
#include "collectives/algorithms/lane_steps.h"
#include "collectives/relay.h"

enum scalar { PARENT, CHILDREN };
enum phase { MOVE };
static const char *const phase_name[] = {"broadcast"};

struct frame {
    uint16_t line, part;
    uint32_t i, dir;
    struct lane_stores stores;
    struct lp_operand tile;
};

/* Sends the current tile to every child. */
static enum tl_status relay_broadcast_forward(struct tl *tl, struct frame *f)
{
    TL_BEGIN(&f->part);
    for (f->dir = 0; f->dir < HW_DIRS_MAX; f->dir++)
        if (tl_args(tl)->scalar[CHILDREN] >> f->dir & 1)
            TL_CALL(&f->part, tl_send(tl, (enum hw_dir)f->dir, f->tile, tl_tile_bytes(tl, f->i)));
    TL_END(&f->part);
}

static enum tl_status relay_broadcast_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    const enum hw_dir parent = (enum hw_dir)tl_args(tl)->scalar[PARENT];
    TL_BEGIN(&f->line);
    tl_phase(tl, MOVE);
    for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
        if (parent == HW_DIRS_MAX) {
            f->tile = tl_tcm(0);
            TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl) + lane_tile_offset(tl, f->i),
                                      tl_tile_bytes(tl, f->i)));
            TL_RUN(&f->line, relay_broadcast_forward(tl, f));
            continue;
        }
        TL_CALL(&f->line, tl_recv(tl, parent, tl_tile_bytes(tl, f->i)));
        f->tile = tl_received(tl);
        TL_RUN(&f->line, relay_broadcast_forward(tl, f));
        TL_RUN(&f->line, lane_keep(tl, &f->stores, tl_shard(tl) + lane_tile_offset(tl, f->i),
                                   tl_last(f->tile), tl_tile_bytes(tl, f->i)));
    }
    TL_RUN(&f->line, lane_finish(tl, &f->stores));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "relay_broadcast",
                                        .frame_bytes = sizeof(struct frame),
                                        .run = relay_broadcast_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

static void relay_broadcast_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    int64_t *const s = args->scalar;
    s[PARENT] = call->relay->parent[call->rank];
    s[CHILDREN] = call->relay->children[call->rank];
}

/* The root holds one tile at a time, the others none. */
static uint64_t relay_broadcast_tcm_bytes(const struct ccl_call *call)
{
    return call->ccl->queues.whole_tensor ? call->n_elem * tl_itemsize(call->dtype)
                                          : call->ccl->queues.slot_bytes;
}

const struct ccl_algorithm ccl_relay_broadcast = {
    .name = "relay_broadcast",
    .collective = CCL_BROADCAST,
    .kernel = &kernel,
    .machine = {.lanes = true, .relay = CCL_RELAY_DOWN, .tcm_bytes = relay_broadcast_tcm_bytes},
    .kernel_args = relay_broadcast_kernel_args,
    .check = relay_check,
    .folds = relay_folds};
