/*
 * pe_hierarchical_allreduce.c: all-reduce of tensors that are sharded per PE (ALGORITHMS.md):
 * the PEs of each cube reduce along the rows and the root column of their grid over intra_*, the
 * root PEs take the steps of lrab's PEs, each cube's root PE broadcasts back. Every PE takes part.
 *
 * The PE grid is two rows of twice pe_per_corner PEs: NW and NE above, SW and SE below. Its root is
 * its centre (w / 2, h / 2), or its south-east corner with `root: corner`; `root: x,y` names a
 * cube, and the PE grid then takes its centre. Both are in the lower row. The order of additions
 * and of broadcasts is lrab's on both grids, and so is the way of a shard of several tiles.
 */
#include "collectives/algorithms/grid_steps.h"

#include <stdio.h>

enum scalar {
    CORNERS =
        GRID_SCALARS, /* enum hw_corner of each group of PEs, CORNER_BITS each, the first lowest */
    PE_ROOT_X,
    SCALARS
};
_Static_assert(SCALARS <= TL_SCALARS_MAX, "the scalars fit in a launch");
enum { CORNER_BITS = 2, PE_ROWS = 2, PE_ROOT_Y = 1 };

enum phase {
    LOAD = GRID_EARLIER + 1,
    PE_ROW_REDUCE,
    PE_COLUMN_REDUCE,
    REDUCE,
    PE_COLUMN_BROADCAST = REDUCE + GRID_PHASES,
    PE_ROW_BROADCAST,
    STORE
};
static const char *const phase_name[] = {
    GRID_EARLIER_NAME, "launch, load",        "PE row reduce",    "PE column reduce",
    GRID_PHASE_NAMES,  "PE column broadcast", "PE row broadcast", "store"};

/* All corners have PEs: pe_hierarchical_check(). */
static uint32_t pe_per_corner(const struct tl *tl) { return tl_num_pes(tl) / HW_CORNERS; }

static enum hw_corner corner(const struct tl *tl)
{
    const uint32_t group = tl_place(tl).pe / pe_per_corner(tl);
    return (enum hw_corner)(grid_scalar(tl, CORNERS) >> CORNER_BITS * group & 3);
}

static struct grid_line pe_row(const struct tl *tl)
{
    const uint32_t n = pe_per_corner(tl);
    const bool east = corner(tl) == HW_NE || corner(tl) == HW_SE;
    return (struct grid_line){tl_place(tl).pe % n + (east ? n : 0), 2 * n,
                              (uint32_t)grid_scalar(tl, PE_ROOT_X), HW_DIR_INTRA_W, HW_DIR_INTRA_E};
}

static struct grid_line pe_column(const struct tl *tl)
{
    return (struct grid_line){corner(tl) == HW_SW || corner(tl) == HW_SE, PE_ROWS, PE_ROOT_Y,
                              HW_DIR_INTRA_N, HW_DIR_INTRA_S};
}

static enum tl_status pe_hierarchical_run(struct tl *tl, void *state)
{
    struct grid_frame *f = state;
    const struct grid_line row = pe_row(tl), column = pe_column(tl);
    const bool root_column = grid_at_root(row);
    TL_BEGIN(&f->line);
    while (grid_next_piece(tl, f)) {
        grid_phase(tl, f, LOAD);
        TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl) + grid_offset(tl, f), grid_bytes(tl, f)));
        grid_phase(tl, f, PE_ROW_REDUCE);
        TL_RUN(&f->line, grid_reduce(tl, f, row));
        if (root_column) {
            grid_phase(tl, f, PE_COLUMN_REDUCE);
            TL_RUN(&f->line, grid_reduce(tl, f, column));
        }
        if (root_column && grid_at_root(column))
            TL_RUN(&f->line, grid_all_reduce(tl, f, REDUCE));
        if (root_column) {
            grid_phase(tl, f, PE_COLUMN_BROADCAST);
            TL_RUN(&f->line, grid_broadcast(tl, f, column));
        }
        grid_phase(tl, f, PE_ROW_BROADCAST);
        TL_RUN(&f->line, grid_broadcast(tl, f, row));
        grid_phase(tl, f, STORE);
        tl_pieces(tl, TL_UNCUT);
        TL_CALL(&f->line, tl_store(tl, tl_shard(tl) + grid_offset(tl, f), tl_last(f->value),
                                   grid_bytes(tl, f)));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "pe_hierarchical_allreduce",
                                        .frame_bytes = sizeof(struct grid_frame),
                                        .run = pe_hierarchical_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

/* ---- host side ------------------------------------------------------------------------------- */

static void pe_hierarchical_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    int64_t *const s = args->scalar;
    const struct hw_config *hw = call->hw;
    grid_kernel_args(call, args);
    s[CORNERS] = 0;
    for (uint32_t i = 0; i < hw->corner_count; i++)
        s[CORNERS] |= (int64_t)hw->corner[i] << CORNER_BITS * i;
    s[PE_ROOT_X] =
        call->ccl->root == CCL_ROOT_CORNER ? 2 * hw->pe_per_corner - 1 : hw->pe_per_corner;
}

static int pe_hierarchical_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    if (call->ccl->wiring != CCL_WIRING_ALL_PES) {
        (void)ccl_refuse(refusal, "defaults.wiring",
                         "%s reduces over the PEs of each cube, which wiring: pe0 does not join",
                         call->ccl->algorithm);
        return ccl_legal(refusal, "all_pes is legal");
    }
    if (call->hw->corner_count != HW_CORNERS) {
        (void)ccl_refuse(refusal, "cube.pe_layout.corners",
                         "%s needs a full PE grid, and %u of its 4 corners have PEs",
                         call->ccl->algorithm, call->hw->corner_count);
        return ccl_legal(refusal, "all of NW, NE, SW and SE, in any order, are legal");
    }
    return grid_check(call, refusal);
}

static bool pe_hierarchical_takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe)
{
    (void)call, (void)cube, (void)pe;
    return true;
}

static const struct ccl_order order = {
    .pe_grid = true, .cube_mesh = true, .between = CCL_BETWEEN_SIPS};

const struct ccl_algorithm ccl_pe_hierarchical_allreduce = {
    .name = "pe_hierarchical_allreduce",
    .kernel = &kernel,
    .order = &order,
    .moved = grid_moved,
    .machine = {.mappers = CCL_MAPPER_ALL_PES,
                .reads = CCL_READS_ROOT | CCL_READS_RANK_INVARIANT,
                .by_sip = true,
                .pe_shards = true,
                .tcm_bytes = grid_piece_tcm_bytes},
    .kernel_args = pe_hierarchical_kernel_args,
    .check = pe_hierarchical_check,
    .takes_part = pe_hierarchical_takes_part,
    .folds = grid_folds};
