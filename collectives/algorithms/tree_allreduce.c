/*
 * tree_allreduce.c: all-reduce on each PE that the mapper names, lane by lane, over the logical
 * topology tree_binary (ALGORITHMS.md): rank r's children are 2r + 1 and 2r + 2. Upwards acc = acc
 * + left + right, then to the parent; downwards the parent's tile is passed on to the left, then to
 * the right child, and is stored. Every rank ends with the root's bits.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/grid_steps.h"
#include "collectives/algorithms/pieces.h"
#include "collectives/fold/fold_rule.h"

enum phase { LOAD = GRID_EARLIER + 1, UP, DOWN, STORE };
static const char *const phase_name[] = {GRID_EARLIER_NAME, "launch, load", "up", "down", "store"};

static enum tl_status tree_allreduce_run(struct tl *tl, void *state)
{
    struct grid_frame *f = state;
    const bool left = tl_installed(tl, HW_DIR_CHILD_LEFT);
    const bool right = tl_installed(tl, HW_DIR_CHILD_RIGHT);
    const bool parent = tl_installed(tl, HW_DIR_PARENT);
    TL_BEGIN(&f->line);
    while (grid_next_piece(tl, f)) {
        grid_phase(tl, f, LOAD);
        TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl) + grid_offset(tl, f), grid_bytes(tl, f)));
        grid_phase(tl, f, UP);
        if (left)
            TL_RUN(&f->line, grid_add_from(tl, f, HW_DIR_CHILD_LEFT));
        if (right)
            TL_RUN(&f->line, grid_add_from(tl, f, HW_DIR_CHILD_RIGHT));
        if (parent)
            TL_RUN(&f->line, grid_send_to(tl, f, HW_DIR_PARENT));
        grid_phase(tl, f, DOWN);
        if (parent)
            TL_RUN(&f->line, grid_receive_from(tl, f, HW_DIR_PARENT));
        if (left)
            TL_RUN(&f->line, grid_send_to(tl, f, HW_DIR_CHILD_LEFT));
        if (right)
            TL_RUN(&f->line, grid_send_to(tl, f, HW_DIR_CHILD_RIGHT));
        grid_phase(tl, f, STORE);
        tl_pieces(tl, TL_UNCUT);
        TL_CALL(&f->line, tl_store(tl, tl_shard(tl) + grid_offset(tl, f), tl_last(f->value),
                                   grid_bytes(tl, f)));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "tree_allreduce",
                                        .frame_bytes = sizeof(struct grid_frame),
                                        .run = tree_allreduce_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

/* Adds in place, whatever rank_invariant says: all ranks have the root's bits. */
static void tree_allreduce_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    args->scalar[GRID_PIECE] = piece_tiles(call, 1);
}

static uint64_t tree_allreduce_tcm_bytes(const struct ccl_call *call)
{
    return piece_bytes(call, 1);
}

static int tree_allreduce_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    if (strcmp(call->ccl->topology, "tree_binary") == 0)
        return CW_OK;
    (void)ccl_refuse(refusal, "defaults.topology",
                     "topology: %s goes to the parent and the children of a tree",
                     call->ccl->algorithm);
    return ccl_legal(refusal, "tree_binary is legal");
}

/* Rank 0 alone has no parent, and half of the ranks have no children. */
static bool tree_allreduce_folds(const struct ccl_call *call, const struct hw_fold *fold,
                                 char why[CCL_FOLD_WHY_BYTES])
{
    (void)call, (void)fold;
    return fold_refuse(why, "a tree has a root and leaves");
}

static const struct ccl_order order = {.between = CCL_BETWEEN_TREE};

static double tree_allreduce_moved(const struct ccl_call *call)
{
    return 2 * ((double)call->world_size - 1) / call->world_size;
}

const struct ccl_algorithm ccl_tree_allreduce = {.name = "tree_allreduce",
                                                 .kernel = &kernel,
                                                 .order = &order,
                                                 .moved = tree_allreduce_moved,
                                                 .machine = {.tcm_bytes = tree_allreduce_tcm_bytes},
                                                 .kernel_args = tree_allreduce_kernel_args,
                                                 .check = tree_allreduce_check,
                                                 .folds = tree_allreduce_folds};
