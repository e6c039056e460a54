/*
 * lrab_hierarchical_allreduce.c: all-reduce on cubes and SIPs (ALGORITHMS.md): reduce
 * along the rows and the root column of each SIP's cube mesh to its root cube, exchange between the
 * SIPs' root cubes, broadcast back; on pe0 of every cube, for every SIP at once.
 * `intercube_allreduce` is the same kernel with the root in the south-east corner.
 *
 * The order of additions is part of the algorithm. The root column adds W first, then E; the root
 * cube N first, then S; a ring adds its own value first, then the arriving one. Broadcasts go N
 * before S, then W before E.
 *
 * A tensor larger than a slot travels as several tiles, with one load at the start and one store at
 * the end. A tensor larger than TCM is processed in pieces of whole tiles, each in this way
 * (pieces.h). A ring round sends each tile in turn, receives its counterpart and adds it. The other
 * steps receive and add tile by tile, then send all tiles, direction by direction.
 */
#include "collectives/algorithms/grid_steps.h"

enum phase { LOAD = GRID_EARLIER + 1, REDUCE, STORE = REDUCE + GRID_PHASES };
static const char *const phase_name[] = {GRID_EARLIER_NAME, "launch, load", GRID_PHASE_NAMES,
                                         "store"};

static enum tl_status lrab_hierarchical_run(struct tl *tl, void *state)
{
    struct grid_frame *f = state;
    TL_BEGIN(&f->line);
    while (grid_next_piece(tl, f)) {
        grid_phase(tl, f, LOAD);
        TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl) + grid_offset(tl, f), grid_bytes(tl, f)));
        TL_RUN(&f->line, grid_all_reduce(tl, f, REDUCE));
        grid_phase(tl, f, STORE);
        tl_pieces(tl, TL_UNCUT);
        TL_CALL(&f->line, tl_store(tl, tl_shard(tl) + grid_offset(tl, f), tl_last(f->value),
                                   grid_bytes(tl, f)));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "lrab_hierarchical_allreduce",
                                        .frame_bytes = sizeof(struct grid_frame),
                                        .run = lrab_hierarchical_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

static bool lrab_hierarchical_takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe)
{
    (void)call, (void)cube;
    return pe == 0;
}

static const struct ccl_order order = {.cube_mesh = true, .between = CCL_BETWEEN_SIPS};

const struct ccl_algorithm ccl_lrab_hierarchical_allreduce = {
    .name = "lrab_hierarchical_allreduce",
    .kernel = &kernel,
    .order = &order,
    .moved = grid_moved,
    .machine = {.mappers = CCL_MAPPER_PE0_ALL_CUBES,
                .reads = CCL_READS_ROOT | CCL_READS_RANK_INVARIANT,
                .by_sip = true,
                .tcm_bytes = grid_piece_tcm_bytes},
    .kernel_args = grid_kernel_args,
    .check = grid_check,
    .takes_part = lrab_hierarchical_takes_part,
    .folds = grid_folds};
