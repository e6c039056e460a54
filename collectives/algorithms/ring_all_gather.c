/*
 * ring_all_gather.c: every rank's tensor to all ranks, in rank order: along the rows of the grid of
 * ranks, then along the columns, each round passing on the tensors of the round before. A line that
 * wraps is a ring and goes one way (E, S); one that does not goes both ways at once. Every shard
 * goes its own lane.
 *
 * A rank's own tensor is loaded once, one above TCM's size in pieces (pieces.h); arriving tiles are
 * stored as they come (lane_steps.h). In a round, for each tile in turn: send, then receive; of two
 * ways east (south) before west (north) in sending, the other way round in receiving.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/lane_steps.h"
#include "collectives/algorithms/pieces.h"
#include "collectives/fold/fold_rule.h"
#include "collectives/topologies.h"
#include "hw/topology/topology.h"

enum scalar { WIDTH, HEIGHT, WRAPS, BASE /* the direction called N */, PIECE /* tiles */ };
enum phase { EARLIER, LOAD, ROWS, COLUMNS };
static const char *const phase_name[] = {"pieces before the last", "launch, load", "rows",
                                         "columns"};

struct frame {
    uint16_t line, part, leaf, level;
    uint32_t first, tiles; /* of the tensor: the current piece (pieces.h) */
    uint32_t r, k, i;      /* round, tensor of a row, tile of the piece */
    struct lane_stores stores;
    struct lp_operand row[2], column[2]; /* first tile that came from low and from high */
};
_Static_assert(sizeof(struct frame) <= TL_FRAME_BYTES, "the frame fits in a kernel's state");

/* A line through the grid: this rank is `at` of `n`; each round carries `blocks` tensors. */
struct line {
    uint32_t at, n, blocks;
    enum hw_dir low, high;
    bool row;
};

static uint32_t scalar(const struct tl *tl, enum scalar index)
{
    return (uint32_t)tl_args(tl)->scalar[index];
}

static enum hw_dir direction(const struct tl *tl, enum hw_port port)
{
    return (enum hw_dir)(scalar(tl, BASE) + port);
}

static struct line line_of(const struct tl *tl, bool row)
{
    const uint32_t w = scalar(tl, WIDTH), rank = tl_args(tl)->rank;
    return row ? (struct line){rank % w, w, 1, direction(tl, HW_PORT_W), direction(tl, HW_PORT_E),
                               true}
               : (struct line){rank / w,
                               scalar(tl, HEIGHT),
                               w,
                               direction(tl, HW_PORT_N),
                               direction(tl, HW_PORT_S),
                               false};
}

static uint64_t tensor_bytes(const struct tl *tl)
{
    return tl_args(tl)->n_elem * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

/* Where tile i of the piece of a rank's tensor belongs in the result. */
static uint64_t place_of_tile(const struct tl *tl, const struct frame *f, uint32_t rank, uint32_t i)
{
    return tl_args(tl)->region[0].va + rank * tensor_bytes(tl) + lane_tile_offset(tl, f->first + i);
}

/* Tile i of the piece of the own tensor. */
static struct lp_operand own_tile(const struct tl *tl, uint32_t i)
{
    return tl_tcm((uint32_t)lane_tile_offset(tl, i));
}

static uint32_t piece_tile_bytes(const struct tl *tl, const struct frame *f)
{
    return tl_tile_bytes(tl, f->first + f->i);
}

/* Tile i of the tensor of column x of the own row, once the row has been gathered. */
static struct lp_operand ring_all_gather_row_tile(const struct tl *tl, const struct frame *f,
                                                  uint32_t x, uint32_t i)
{
    const struct line row = line_of(tl, true);
    if (x == row.at)
        return own_tile(tl, i);
    const bool low = scalar(tl, WRAPS) || x < row.at;
    const uint32_t round = low ? (row.at + row.n - x) % row.n - 1 : x - row.at - 1;
    return tl_tile_after(f->row[low ? 0 : 1], round * f->tiles + i);
}

/* The tile that this round sends on: of the own tensors first, then of those from the other side.
 */
static struct lp_operand outgoing(const struct tl *tl, const struct frame *f, struct line line,
                                  bool to_high)
{
    if (f->r == 0)
        return line.row ? own_tile(tl, f->i) : ring_all_gather_row_tile(tl, f, f->k, f->i);
    const struct lp_operand *const first = line.row ? f->row : f->column;
    return tl_tile_after(first[to_high ? 0 : 1],
                         ((f->r - 1) * line.blocks + f->k) * f->tiles + f->i);
}

/* Receives one tile from one side, which began at place `origin` of the line, and stores it. */
static enum tl_status receive_and_keep(struct tl *tl, struct frame *f, struct line line,
                                       bool from_high, uint32_t origin)
{
    struct lp_operand *const first = line.row ? f->row : f->column;
    const uint32_t w = scalar(tl, WIDTH);
    const uint32_t rank = line.row ? tl_args(tl)->rank / w * w + origin : origin * w + f->k;
    TL_BEGIN(&f->leaf);
    TL_CALL(&f->leaf, tl_recv(tl, from_high ? line.high : line.low, piece_tile_bytes(tl, f)));
    if (f->r == 0 && f->k == 0 && f->i == 0)
        first[from_high] = tl_received(tl);
    TL_RUN(&f->leaf, lane_keep(tl, &f->stores, place_of_tile(tl, f, rank, f->i), tl_received(tl),
                               piece_tile_bytes(tl, f)));
    TL_END(&f->leaf);
}

/* One tile of a round: sends it, and receives its counterpart. */
static enum tl_status gather_tile(struct tl *tl, struct frame *f, struct line line)
{
    const bool wraps = scalar(tl, WRAPS);
    const bool low_left = line.at >= f->r, high_left = line.at + f->r < line.n;
    TL_BEGIN(&f->level);
    if (wraps || (line.at + 1 < line.n && low_left))
        TL_CALL(&f->level,
                tl_send(tl, line.high, outgoing(tl, f, line, true), piece_tile_bytes(tl, f)));
    if (!wraps && line.at > 0 && high_left)
        TL_CALL(&f->level,
                tl_send(tl, line.low, outgoing(tl, f, line, false), piece_tile_bytes(tl, f)));
    if (wraps || line.at > f->r)
        TL_RUN(&f->level,
               receive_and_keep(tl, f, line, false, (line.at + line.n - 1 - f->r) % line.n));
    if (!wraps && line.at + f->r + 1 < line.n)
        TL_RUN(&f->level, receive_and_keep(tl, f, line, true, line.at + f->r + 1));
    TL_END(&f->level);
}

static enum tl_status gather_along(struct tl *tl, struct frame *f, struct line line)
{
    TL_BEGIN(&f->part);
    tl_pieces(tl, 1);
    for (f->r = 0; f->r + 1 < line.n; f->r++)
        for (f->k = 0; f->k < line.blocks; f->k++)
            for (f->i = 0; f->i < f->tiles; f->i++)
                TL_RUN(&f->part, gather_tile(tl, f, line));
    tl_pieces(tl, 0);
    TL_END(&f->part);
}

/* Takes the next piece, or the first; false: there was none left. */
static bool next_piece(struct tl *tl, struct frame *f)
{
    const uint32_t next = f->first + f->tiles, left = tl_tiles(tl) - next;
    f->first = next;
    f->tiles = left < scalar(tl, PIECE) ? left : scalar(tl, PIECE);
    if (next == 0 && f->tiles < left)
        tl_phase(tl, EARLIER);
    return left > 0;
}

static uint32_t bytes_of_piece(const struct tl *tl, const struct frame *f)
{
    return (uint32_t)lane_tile_offset(tl, f->tiles - 1) +
           tl_tile_bytes(tl, f->first + f->tiles - 1);
}

/* In the last piece. */
static void ring_all_gather_phase(struct tl *tl, const struct frame *f, enum phase phase)
{
    if (f->first + f->tiles == tl_tiles(tl))
        tl_phase(tl, phase);
}

static enum tl_status ring_all_gather_run(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    while (next_piece(tl, f)) {
        ring_all_gather_phase(tl, f, LOAD);
        tl_pieces(tl, TL_UNCUT);
        TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl) + lane_tile_offset(tl, f->first),
                                  bytes_of_piece(tl, f)));
        TL_RUN(&f->line, lane_keep(tl, &f->stores, place_of_tile(tl, f, tl_args(tl)->rank, 0),
                                   tl_tcm(0), bytes_of_piece(tl, f)));
        ring_all_gather_phase(tl, f, ROWS);
        TL_RUN(&f->line, gather_along(tl, f, line_of(tl, true)));
        ring_all_gather_phase(tl, f, COLUMNS);
        TL_RUN(&f->line, gather_along(tl, f, line_of(tl, false)));
    }
    TL_RUN(&f->line, lane_finish(tl, &f->stores));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "ring_all_gather",
                                        .frame_bytes = sizeof(struct frame),
                                        .run = ring_all_gather_run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

/* ---- host side ------------------------------------------------------------------------------- */

/* The configured algorithm, if it has a hook that makes the queues. */
static const struct ccl_algorithm *hooked(const struct ccl_call *call)
{
    struct cw_error error;
    const struct ccl_algorithm *const configured = ccl_algorithm_load(call->ccl->module, &error);
    return configured != NULL && configured->neighbors != NULL ? configured : NULL;
}

/* The logical topology's grid, if it is one. */
static bool logical_grid(const struct ccl_call *call, struct logical *grid)
{
    struct cw_error error;
    return logical_find(call->ccl->topology, call->world_size, call->hw, grid, &error) == CW_OK &&
           (grid->kind == LOGICAL_LINE || (grid->kind == LOGICAL_GRID && grid->d == 1));
}

static struct logical machine_grid(const struct ccl_call *call)
{
    const struct hw_grid grid = hw_sip_grid(call->hw);
    return (struct logical){.kind = LOGICAL_NONE, .w = grid.w, .h = grid.h, .wraps = grid.wrap};
}

/* The map has the queue `wanted`; an opposite left out is the usual one. */
static bool leads(const struct lp_neighbours *map, const struct lp_neighbour *wanted)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (strcmp(map->at[i].dir, wanted->dir) == 0 && map->at[i].rank == wanted->rank &&
            (map->at[i].opposite[0] == '\0' ||
             strcmp(map->at[i].opposite, wanted->opposite) == 0) &&
            (map->at[i].way == LP_WAY_BOTH || map->at[i].way == wanted->way))
            return true;
    return false;
}

/* A rank has all queues of the grid. Else *missing is one that is not there. */
static bool is_joined(const struct ccl_call *call, const struct ccl_algorithm *algorithm,
                      const struct logical *grid, uint32_t rank, struct lp_neighbour *missing)
{
    struct logical laid, wanted = *grid;
    struct lp_neighbours have, want;
    struct cw_error error;
    if (logical_find(call->ccl->topology, call->world_size, call->hw, &laid, &error) != CW_OK)
        return false; /* build_install_plans() has refused it */
    wanted.one_way = grid->wraps;
    logical_neighbours_of(algorithm, &laid, call->ccl->parameter, rank, &have);
    logical_neighbours(&wanted, rank, &want);
    for (uint32_t i = 0; i < want.count; i++)
        if (!leads(&have, &want.at[i])) {
            *missing = want.at[i];
            return false;
        }
    return true;
}

/* The grid of ranks, from the logical topology or the machine. A hook may leave one that
 * does not wrap, which rank 0 shows, since it is at the end of its row and of its column; of
 * `none` it makes a line. False: there is no grid. */
static bool find_rank_grid(const struct ccl_call *call, struct logical *grid)
{
    const bool none = strcmp(call->ccl->topology, "none") == 0 ||
                      strcmp(call->ccl->topology, LOGICAL_CUSTOM) == 0;
    const struct ccl_algorithm *const algorithm = hooked(call);
    struct lp_neighbour missing;
    if (algorithm == NULL && none) {
        *grid = machine_grid(call);
        return hw_topology_is_directed(call->hw->sip_topology) || call->hw->sip_count == 1;
    }
    if (none)
        *grid = (struct logical){.kind = LOGICAL_LINE,
                                 .ranks = call->world_size,
                                 .w = call->world_size,
                                 .h = 1,
                                 .wraps = true};
    else if (!logical_grid(call, grid))
        return false;
    if (algorithm != NULL)
        grid->wraps = grid->wraps && is_joined(call, algorithm, grid, 0, &missing);
    return true;
}

static void ring_all_gather_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    int64_t *const s = args->scalar;
    struct logical grid;
    (void)find_rank_grid(call, &grid); /* ring_all_gather_check() has */
    s[WIDTH] = grid.w;
    s[HEIGHT] = grid.h;
    s[WRAPS] = grid.wraps;
    s[BASE] = grid.kind == LOGICAL_NONE ? HW_DIR_GLOBAL_N : HW_DIR_N;
    s[PIECE] = piece_tiles(call, 1);
}

static uint64_t ring_all_gather_tcm_bytes(const struct ccl_call *call)
{
    return piece_bytes(call, 1);
}

/* The queues that a hook has laid join the ranks: seen once for all, in the call of rank 0. */
static int check_hooked(const struct ccl_call *call, const struct logical *grid,
                        struct ccl_refusal *refusal)
{
    const struct ccl_algorithm *const algorithm = hooked(call);
    struct lp_neighbour missing;
    uint32_t rank = 0;
    if (algorithm == NULL || call->rank != 0)
        return CW_OK;
    while (rank < call->world_size && is_joined(call, algorithm, grid, rank, &missing))
        rank++;
    if (rank == call->world_size)
        return CW_OK;
    (void)ccl_refuse(refusal, "defaults.module",
                     "an all-gather goes along lines of ranks, and the neighbors() hook of %s "
                     "leaves rank %u without a direction %s to rank %u",
                     algorithm->name, rank, missing.dir, missing.rank);
    return ccl_legal(refusal, "legal is one that leaves the rows (E, W) and columns (S, N) of the "
                              "ranks, as rings or open lines, or none");
}

static int ring_all_gather_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    struct logical grid;
    if (find_rank_grid(call, &grid))
        return check_hooked(call, &grid, refusal);
    char undirected[200];
    (void)ccl_refuse(refusal, "defaults.topology",
                     "topology: an all-gather goes along lines of ranks");
    return ccl_legal(
        refusal,
        "legal are the logical topologies ring_1d, ring_1d_unidir, mesh_2d, torus_2d, "
        "mesh_2d_no_wrap, and `none` on any machine but %s",
        hw_topology_list(hw_topology_is_undirected, "and", undirected, sizeof undirected));
}

/*
 * On rings the kernel uses its rank for
 * - the places of tensors in the result: addresses alone;
 * - which tensor of its row it sends next along its column: the own one is in TCM, the others in
 *   slots. Where slots are in TCM, or where there are rows or columns only, that makes no
 *   difference.
 * The scalars are those of the grid. Lines have ends, and ranks differ there.
 */
static bool ring_all_gather_folds(const struct ccl_call *call, const struct hw_fold *fold,
                                  char why[CCL_FOLD_WHY_BYTES])
{
    struct logical grid;
    if (hooked(call) != NULL || !find_rank_grid(call, &grid))
        return fold_refuse(why, "queues are those of a neighbors() hook");
    if (!grid.wraps)
        return fold_refuse(why, "an all-gather along lines differs at their ends");
    if (grid.w > 1 && grid.h > 1 && !fold_allows_order(call, why))
        return false;
    const bool kept =
        grid.kind == LOGICAL_NONE
            ? (grid.w < 2 || hw_fold_keeps_direction(call->hw, fold, HW_PORT_E)) &&
                  (grid.h < 2 || hw_fold_keeps_direction(call->hw, fold, HW_PORT_S))
            : fold_keeps_ring(fold, 1, grid.w) && fold_keeps_ring(fold, grid.w, grid.h);
    return kept || fold_refuse(why, "rows and columns go through the ranks in the order of their "
                                    "numbers");
}

const struct ccl_algorithm ccl_ring_all_gather = {
    .name = "ring_all_gather",
    .collective = CCL_ALL_GATHER,
    .kernel = &kernel,
    .machine = {.by_sip = true, .lanes = true, .tcm_bytes = ring_all_gather_tcm_bytes},
    .kernel_args = ring_all_gather_kernel_args,
    .check = ring_all_gather_check,
    .folds = ring_all_gather_folds};
