/*
 * lrab_pipelined_allreduce.c: lrab_hierarchical_allreduce tile by tile, from HBM to HBM
 * (ALGORITHMS.md): while one tile is broadcast the next is reduced, and a PE keeps a tile or
 * two in TCM beside its rings, so that size is bounded by HBM alone. The order of additions is
 * lrab's for each tile, and so are the bits.
 *
 * Reducing and broadcasting are two contexts of the PE, for with one, more tiles than slots would
 * wait for each other: a PE would send tile n while those it sends to wait for it to receive tile
 * 0's result. The kernel itself reduces (R); except at the SIP's root it forks the broadcast (B)
 * first and joins it at the end. The root exchanges each reduced tile with the other SIPs' roots,
 * sends it out and stores it, before it takes the next.
 *
 * So the root does everything one after the other, and it sets the pace for long tensors. With
 * `overlap_exchange` it, too, has two contexts: one reduces tile n + 1 while the other exchanges,
 * broadcasts and stores tile n; a barrier hands each tile over, and two places in TCM hold them.
 */
#include "collectives/algorithms/grid_steps.h"

enum scalar { OVERLAP = GRID_SCALARS, SCALARS };
_Static_assert(SCALARS <= TL_SCALARS_MAX, "the scalars fit in a launch");

enum stream { BROADCAST_TILES, FINISH_TILES };
enum phase { REDUCE, BROADCAST };
static const char *const phase_name[] = {"reduce, between SIPs", "broadcast"};

static bool overlaps(const struct tl *tl) { return grid_scalar(tl, OVERLAP) != 0; }

static bool is_root(const struct tl *tl)
{
    return grid_at_root(grid_row(tl)) && grid_at_root(grid_column(tl));
}

/* Where in TCM a tile is reduced: one place, or two in turn. rank_invariant sums in a second part
 * of it. */
static uint32_t lrab_pipelined_place_of(const struct tl *tl, uint32_t tile)
{
    const uint32_t part = (tl_slot_bytes(tl) + 63) & ~63u;
    const uint32_t place = grid_scalar(tl, GRID_RANK_INVARIANT) ? 2 * part : part;
    return overlaps(tl) ? (tile & 1) * place : 0;
}

/* Takes the next tile, or the first; false: there was none left. */
static bool next_tile(const struct tl *tl, struct grid_frame *f)
{
    const uint32_t next = f->tiles == 0 ? 0 : f->first + 1;
    if (next == tl_tiles(tl))
        return false;
    grid_take(f, next, 1, lrab_pipelined_place_of(tl, next));
    return true;
}

static uint64_t in_hbm(const struct tl *tl, const struct grid_frame *f)
{
    return tl_shard(tl) + grid_offset(tl, f);
}

/* The root, with a tile that has been reduced. */
static enum tl_status lrab_pipelined_finish(struct tl *tl, struct grid_frame *f)
{
    TL_BEGIN(&f->level);
    TL_RUN(&f->level, grid_exchange(tl, f, 0));
    TL_RUN(&f->level, grid_exchange(tl, f, 1));
    TL_RUN(&f->level, grid_broadcast(tl, f, grid_column(tl)));
    TL_RUN(&f->level, grid_broadcast(tl, f, grid_row(tl)));
    TL_CALL(&f->level, tl_store(tl, in_hbm(tl, f), tl_last(f->value), grid_bytes(tl, f)));
    TL_END(&f->level);
}

static enum tl_status reduce_tiles(struct tl *tl, void *state)
{
    struct grid_frame *f = state;
    const bool root = is_root(tl), forks = !root || overlaps(tl);
    TL_BEGIN(&f->line);
    tl_phase(tl, REDUCE);
    if (forks)
        TL_CALL(&f->line, tl_fork(tl, 1u << (root ? FINISH_TILES : BROADCAST_TILES)));
    while (next_tile(tl, f)) {
        TL_CALL(&f->line, tl_load(tl, f->acc, in_hbm(tl, f), grid_bytes(tl, f)));
        TL_RUN(&f->line, grid_reduce(tl, f, grid_row(tl)));
        if (grid_at_root(grid_row(tl)))
            TL_RUN(&f->line, grid_reduce(tl, f, grid_column(tl)));
        if (root && forks)
            TL_CALL(&f->line, tl_barrier(tl));
        else if (root)
            TL_RUN(&f->line, lrab_pipelined_finish(tl, f));
    }
    tl_phase(tl, BROADCAST);
    if (forks)
        TL_CALL(&f->line, tl_join(tl));
    TL_END(&f->line);
}

/* Everywhere but at the root. */
static enum tl_status broadcast_tiles(struct tl *tl, void *state)
{
    struct grid_frame *f = state;
    TL_BEGIN(&f->line);
    while (next_tile(tl, f)) {
        if (grid_at_root(grid_row(tl)))
            TL_RUN(&f->line, grid_broadcast(tl, f, grid_column(tl)));
        TL_RUN(&f->line, grid_broadcast(tl, f, grid_row(tl)));
        TL_CALL(&f->line, tl_store(tl, in_hbm(tl, f), tl_last(f->value), grid_bytes(tl, f)));
    }
    TL_END(&f->line);
}

/* At the root, with overlap_exchange. */
static enum tl_status finish_tiles(struct tl *tl, void *state)
{
    struct grid_frame *f = state;
    TL_BEGIN(&f->line);
    while (next_tile(tl, f)) {
        TL_CALL(&f->line, tl_barrier(tl));
        TL_RUN(&f->line, lrab_pipelined_finish(tl, f));
    }
    TL_END(&f->line);
}

static enum tl_status (*const streams[])(struct tl *tl, void *frame) = {
    [BROADCAST_TILES] = broadcast_tiles, [FINISH_TILES] = finish_tiles};
static const struct tl_kernel kernel = {.name = "lrab_pipelined_allreduce",
                                        .frame_bytes = sizeof(struct grid_frame),
                                        .run = reduce_tiles,
                                        .stream = streams,
                                        .stream_count = sizeof streams / sizeof *streams,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

/* ---- host side ------------------------------------------------------------------------------- */

static void lrab_pipelined_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    grid_kernel_args(call, args);
    args->scalar[OVERLAP] = call->ccl->overlap_exchange;
}

static uint64_t lrab_pipelined_tcm_bytes(const struct ccl_call *call)
{
    const uint64_t place =
        grid_tcm_bytes(call, ((uint64_t)lp_tile_bytes(&call->ccl->queues) + 63) & ~63ull);
    return call->ccl->overlap_exchange ? 2 * place : place;
}

static bool lrab_pipelined_takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe)
{
    (void)call, (void)cube;
    return pe == 0;
}

static const struct ccl_order order = {.cube_mesh = true, .between = CCL_BETWEEN_SIPS};

const struct ccl_algorithm ccl_lrab_pipelined_allreduce = {
    .name = "lrab_pipelined_allreduce",
    .collective = CCL_ALL_REDUCE,
    .kernel = &kernel,
    .order = &order,
    .moved = grid_moved,
    .machine = {.mappers = CCL_MAPPER_PE0_ALL_CUBES,
                .reads = CCL_READS_ROOT | CCL_READS_RANK_INVARIANT | CCL_READS_OVERLAP,
                .by_sip = true,
                .tcm_bytes = lrab_pipelined_tcm_bytes},
    .kernel_args = lrab_pipelined_kernel_args,
    .check = grid_check,
    .takes_part = lrab_pipelined_takes_part,
    .folds = grid_folds};
