/*
 * ring_allreduce.c: all-reduce on each PE that the mapper names, lane by lane, over the logical
 * topology ring_1d (ALGORITHMS.md): lrab's phase 3 alone. n - 1 rounds: send E the own value, then
 * the tile that arrived last; receive from W and add. Tiles go E only, so ring_1d_unidir does, too.
 * With rank_invariant the rounds gather, then all are added in rank order.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/grid_steps.h"
#include "collectives/fold/fold_rule.h"

enum phase { LOAD = GRID_EARLIER + 1, RING, STORE };
static const char *const phase_name[] = {GRID_EARLIER_NAME, "launch, load", "ring", "store"};

static enum tl_status ring_allreduce_run(struct tl *tl, void *state)
{
    struct grid_frame *f = state;
    TL_BEGIN(&f->line);
    while (grid_next_piece(tl, f)) {
        grid_phase(tl, f, LOAD);
        TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl) + grid_offset(tl, f), grid_bytes(tl, f)));
        grid_phase(tl, f, RING);
        TL_RUN(&f->line, grid_exchange(tl, f, 0));
        grid_phase(tl, f, STORE);
        tl_pieces(tl, TL_UNCUT);
        TL_CALL(&f->line, tl_store(tl, tl_shard(tl) + grid_offset(tl, f), tl_last(f->value),
                                   grid_bytes(tl, f)));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "ring_allreduce",
                                        .frame_bytes = sizeof(struct grid_frame),
                                        .run = ring_allreduce_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

static void ring_allreduce_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    int64_t *const s = args->scalar;
    s[GRID_TOPO_KIND] = GRID_TOPO_RING;
    s[GRID_TOPO_W] = call->world_size;
    s[GRID_TOPO_H] = 1;
    s[GRID_RANK_INVARIANT] = call->ccl->rank_invariant;
    s[GRID_LOGICAL] = 1;
    s[GRID_PIECE] = grid_piece_tiles(call);
}

static int ring_allreduce_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    if (strcmp(call->ccl->topology, "ring_1d") == 0 ||
        strcmp(call->ccl->topology, "ring_1d_unidir") == 0)
        return CW_OK;
    (void)ccl_refuse(refusal, "defaults.topology",
                     "topology: %s sends E and receives from W of a ring", call->ccl->algorithm);
    return ccl_legal(refusal, "ring_1d and ring_1d_unidir are legal");
}

/* The proof is that of grid_folds(): one ring, through all ranks in the order of their numbers. */
static bool ring_allreduce_folds(const struct ccl_call *call, const struct hw_fold *fold,
                                 char why[CCL_FOLD_WHY_BYTES])
{
    if (call->ccl->rank_invariant && !fold_allows_order(call, why))
        return false;
    return fold_keeps_ring(fold, 1, call->world_size) ||
           fold_refuse(why, "the ring goes through the ranks in the order of their numbers");
}

static const struct ccl_order order = {.between = CCL_BETWEEN_RING};

const struct ccl_algorithm ccl_ring_allreduce = {
    .name = "ring_allreduce",
    .kernel = &kernel,
    .order = &order,
    .moved = grid_moved_round,
    .machine = {.reads = CCL_READS_RANK_INVARIANT, .tcm_bytes = grid_piece_tcm_bytes},
    .kernel_args = ring_allreduce_kernel_args,
    .check = ring_allreduce_check,
    .folds = ring_allreduce_folds};
