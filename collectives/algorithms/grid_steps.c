/* grid_steps.c: reductions and broadcasts on grids, exchanges between SIPs (grid_steps.h). */
#include "collectives/algorithms/grid_steps.h"

#include "collectives/fold/fold_rule.h"

#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/pieces.h"
#include "hw/topology/topology.h"

_Static_assert(GRID_SCALARS <= TL_SCALARS_MAX, "the scalars fit in a launch");

void grid_take(struct grid_frame *f, uint32_t first, uint32_t tiles, uint32_t acc)
{
    f->first = first;
    f->tiles = tiles;
    f->acc = acc;
    f->value = tl_tcm(acc);
}

static uint32_t full_tile_bytes(const struct tl *tl)
{
    return tl_tile_elems(tl) * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

uint64_t grid_offset(const struct tl *tl, const struct grid_frame *f)
{
    return (uint64_t)f->first * full_tile_bytes(tl);
}

bool grid_next_piece(struct tl *tl, struct grid_frame *f)
{
    const uint32_t next = f->first + f->tiles, left = tl_tiles(tl) - next;
    const uint32_t piece = (uint32_t)grid_scalar(tl, GRID_PIECE);
    if (left == 0)
        return false;
    grid_take(f, next, piece == 0 || left < piece ? left : piece, 0);
    f->whole = 1;
    tl_pieces(tl, TL_UNCUT); /* it is loaded as a whole */
    return true;
}

void grid_phase(struct tl *tl, const struct grid_frame *f, uint32_t phase)
{
    if (f->first + f->tiles == tl_tiles(tl))
        tl_phase(tl, phase);
    else if (f->first == 0 && phase == GRID_EARLIER + 1)
        tl_phase(tl, GRID_EARLIER);
}

uint32_t grid_bytes(const struct tl *tl, const struct grid_frame *f)
{
    return (f->tiles - 1) * full_tile_bytes(tl) + tl_tile_bytes(tl, f->first + f->tiles - 1);
}

struct grid_line grid_row(const struct tl *tl)
{
    const uint32_t w = (uint32_t)grid_scalar(tl, GRID_CUBE_W);
    return (struct grid_line){tl_place(tl).cube % w, w, (uint32_t)grid_scalar(tl, GRID_ROOT_X),
                              HW_DIR_W, HW_DIR_E};
}

struct grid_line grid_column(const struct tl *tl)
{
    const uint32_t w = (uint32_t)grid_scalar(tl, GRID_CUBE_W);
    return (struct grid_line){tl_place(tl).cube / w, (uint32_t)grid_scalar(tl, GRID_CUBE_H),
                              (uint32_t)grid_scalar(tl, GRID_ROOT_Y), HW_DIR_N, HW_DIR_S};
}

/* Bytes of the frame's tile i. */
static uint32_t bytes_of(const struct tl *tl, const struct grid_frame *f, uint32_t i)
{
    return tl_tile_bytes(tl, f->first + i);
}

/* Tile i of a value. */
static struct lp_operand tile_of(const struct tl *tl, struct lp_operand value, uint32_t i)
{
    return value.space == LP_SPACE_TILE ? tl_tile_after(value, i)
                                        : tl_tcm(value.at + i * full_tile_bytes(tl));
}

/* dst (in TCM) <- a + b, the tile at hand. */
static void add(struct tl *tl, const struct grid_frame *f, uint32_t dst, struct lp_operand a,
                struct lp_operand b)
{
    tl_math(tl, (enum lp_math)tl_args(tl)->math, tile_of(tl, tl_tcm(dst), f->i).at, a, b,
            bytes_of(tl, f, f->i) / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
}

/* ---- along a line ---------------------------------------------------------------------------- */

/* A step begins that takes each tile in turn. */
static void begin_step(struct tl *tl, const struct grid_frame *f)
{
    if (f->whole)
        tl_pieces(tl, 0);
}

/* acc = acc + the tiles from `dir`. The value is in TCM afterwards. */
enum tl_status grid_add_from(struct tl *tl, struct grid_frame *f, enum hw_dir dir)
{
    TL_BEGIN(&f->leaf);
    begin_step(tl, f);
    for (f->i = 0; f->i < f->tiles; f->i++) {
        TL_CALL(&f->leaf, tl_recv(tl, dir, bytes_of(tl, f, f->i)));
        TL_CALL(&f->leaf,
                add(tl, f, f->acc, tl_last(tile_of(tl, f->value, f->i)), tl_last(tl_received(tl))));
    }
    f->value = tl_tcm(f->acc);
    TL_END(&f->leaf);
}

enum tl_status grid_send_to(struct tl *tl, struct grid_frame *f, enum hw_dir dir)
{
    TL_BEGIN(&f->leaf);
    begin_step(tl, f);
    for (f->i = 0; f->i < f->tiles; f->i++)
        TL_CALL(&f->leaf, tl_send(tl, dir, tile_of(tl, f->value, f->i), bytes_of(tl, f, f->i)));
    TL_END(&f->leaf);
}

enum tl_status grid_receive_from(struct tl *tl, struct grid_frame *f, enum hw_dir dir)
{
    TL_BEGIN(&f->leaf);
    begin_step(tl, f);
    for (f->i = 0; f->i < f->tiles; f->i++) {
        TL_CALL(&f->leaf, tl_recv(tl, dir, bytes_of(tl, f, f->i)));
        if (f->i == 0)
            f->value = tl_received(tl);
    }
    TL_END(&f->leaf);
}

enum tl_status grid_reduce(struct tl *tl, struct grid_frame *f, struct grid_line line)
{
    TL_BEGIN(&f->part);
    if (line.at <= line.root && line.at > 0)
        TL_RUN(&f->part, grid_add_from(tl, f, line.low));
    if (line.at >= line.root && line.at < line.n - 1)
        TL_RUN(&f->part, grid_add_from(tl, f, line.high));
    if (line.at != line.root)
        TL_RUN(&f->part, grid_send_to(tl, f, line.at < line.root ? line.high : line.low));
    TL_END(&f->part);
}

enum tl_status grid_broadcast(struct tl *tl, struct grid_frame *f, struct grid_line line)
{
    TL_BEGIN(&f->part);
    if (line.at != line.root)
        TL_RUN(&f->part, grid_receive_from(tl, f, line.at < line.root ? line.high : line.low));
    if (line.at <= line.root && line.at > 0)
        TL_RUN(&f->part, grid_send_to(tl, f, line.low));
    if (line.at >= line.root && line.at < line.n - 1)
        TL_RUN(&f->part, grid_send_to(tl, f, line.high));
    TL_END(&f->part);
}

/* ---- between SIPs ---------------------------------------------------------------------------- */

/* The direction in which the exchange goes by a port: the machine's, or the logical topology's. */
static enum hw_dir direction_between_sips(const struct tl *tl, enum hw_port port)
{
    return (enum hw_dir)((grid_scalar(tl, GRID_LOGICAL) ? HW_DIR_N : HW_DIR_GLOBAL_N) + port);
}

/* n - 1 rounds: send the own value, then the one that arrived last; add the arriving one. */
static enum tl_status ring(struct tl *tl, struct grid_frame *f, uint32_t n, enum hw_dir to,
                           enum hw_dir from)
{
    TL_BEGIN(&f->part);
    tl_pieces(tl, 1);
    for (f->r = 0; f->r + 1 < n; f->r++)
        for (f->i = 0; f->i < f->tiles; f->i++) {
            TL_CALL(&f->part,
                    tl_send(tl, to,
                            f->r == 0
                                ? tile_of(tl, f->value, f->i)
                                : tl_last(tl_tile_after(f->ring, (f->r - 1) * f->tiles + f->i)),
                            bytes_of(tl, f, f->i)));
            TL_CALL(&f->part, tl_recv(tl, from, bytes_of(tl, f, f->i)));
            if (f->r == 0 && f->i == 0)
                f->ring = tl_received(tl);
            TL_CALL(&f->part, add(tl, f, f->acc, tile_of(tl, f->value, f->i),
                                  f->r + 2 < n ? tl_received(tl) : tl_last(tl_received(tl))));
        }
    tl_pieces(tl, 0);
    TL_END(&f->part);
}

/* Chain reduce to the last place of the line, chain broadcast back. */
static enum tl_status chain(struct tl *tl, struct grid_frame *f, uint32_t at, uint32_t n,
                            enum hw_dir low, enum hw_dir high)
{
    TL_BEGIN(&f->part);
    if (at > 0)
        TL_RUN(&f->part, grid_add_from(tl, f, low));
    if (at < n - 1) {
        TL_RUN(&f->part, grid_send_to(tl, f, high));
        TL_RUN(&f->part, grid_receive_from(tl, f, high));
    }
    if (at > 0)
        TL_RUN(&f->part, grid_send_to(tl, f, low));
    TL_END(&f->part);
}

/* ---- between SIPs, rank_invariant: gather, then add in rank order ---------------------------- */

/* Tile i of the tensor of column `x` of this row, once the row has been gathered. */
static struct lp_operand gathered_row_tile(const struct tl *tl, const struct grid_frame *f,
                                           uint32_t x, uint32_t i)
{
    const uint32_t w = (uint32_t)grid_scalar(tl, GRID_TOPO_W), my_x = tl_args(tl)->rank % w;
    if (x == my_x)
        return tile_of(tl, f->value, i);
    return tl_tile_after(f->row, ((my_x + w - x) % w - 1) * f->tiles + i);
}

/* ... of the tensor of rank `rank`, once all have been gathered. */
static struct lp_operand rank_tile(const struct tl *tl, const struct grid_frame *f, uint32_t rank,
                                   uint32_t i)
{
    const uint32_t w = (uint32_t)grid_scalar(tl, GRID_TOPO_W);
    const uint32_t h = (uint32_t)grid_scalar(tl, GRID_TOPO_H);
    const uint32_t my_y = tl_args(tl)->rank / w, x = rank % w, y = rank / w;
    if (y == my_y)
        return gathered_row_tile(tl, f, x, i);
    const uint32_t round = (my_y + h - y) % h - 1;
    return tl_tile_after(f->ring, (round * w + x) * f->tiles + i);
}

/* The row's ring: each round passes on one tensor. */
static enum tl_status gather_row(struct tl *tl, struct grid_frame *f)
{
    TL_BEGIN(&f->leaf);
    tl_pieces(tl, 1);
    for (f->r = 0; f->r + 1 < (uint32_t)grid_scalar(tl, GRID_TOPO_W); f->r++)
        for (f->i = 0; f->i < f->tiles; f->i++) {
            TL_CALL(&f->leaf,
                    tl_send(tl, direction_between_sips(tl, HW_PORT_E),
                            f->r == 0 ? tile_of(tl, f->value, f->i)
                                      : tl_tile_after(f->row, (f->r - 1) * f->tiles + f->i),
                            bytes_of(tl, f, f->i)));
            TL_CALL(&f->leaf,
                    tl_recv(tl, direction_between_sips(tl, HW_PORT_W), bytes_of(tl, f, f->i)));
            if (f->r == 0 && f->i == 0)
                f->row = tl_received(tl);
        }
    tl_pieces(tl, 0);
    TL_END(&f->leaf);
}

/* Tensor k that round r of the column's ring passes on: the own row's, or the one that came last.
 */
static struct lp_operand column_tile(const struct tl *tl, const struct grid_frame *f)
{
    const uint32_t w = (uint32_t)grid_scalar(tl, GRID_TOPO_W);
    if (f->r == 0)
        return gathered_row_tile(tl, f, f->k, f->i);
    return tl_tile_after(f->ring, ((f->r - 1) * w + f->k) * f->tiles + f->i);
}

/* The column's ring: each round passes on a row's w tensors. */
static enum tl_status gather_column(struct tl *tl, struct grid_frame *f)
{
    TL_BEGIN(&f->leaf);
    tl_pieces(tl, 1);
    for (f->r = 0; f->r + 1 < (uint32_t)grid_scalar(tl, GRID_TOPO_H); f->r++)
        for (f->k = 0; f->k < (uint32_t)grid_scalar(tl, GRID_TOPO_W); f->k++)
            for (f->i = 0; f->i < f->tiles; f->i++) {
                TL_CALL(&f->leaf, tl_send(tl, direction_between_sips(tl, HW_PORT_S),
                                          column_tile(tl, f), bytes_of(tl, f, f->i)));
                TL_CALL(&f->leaf,
                        tl_recv(tl, direction_between_sips(tl, HW_PORT_N), bytes_of(tl, f, f->i)));
                if (f->r == 0 && f->k == 0 && f->i == 0)
                    f->ring = tl_received(tl);
            }
    tl_pieces(tl, 0);
    TL_END(&f->leaf);
}

/* x0 + x1 + ..., into a second place in TCM, since the own tensor is one of them. */
static enum tl_status add_in_rank_order(struct tl *tl, struct grid_frame *f)
{
    TL_BEGIN(&f->leaf);
    f->sum = f->acc + ((grid_bytes(tl, f) + 63) & ~63u);
    for (f->r = 1; f->r < (uint32_t)(grid_scalar(tl, GRID_TOPO_W) * grid_scalar(tl, GRID_TOPO_H));
         f->r++)
        for (f->i = 0; f->i < f->tiles; f->i++)
            TL_CALL(&f->leaf, add(tl, f, f->sum,
                                  f->r == 1 ? tl_last(rank_tile(tl, f, 0, f->i))
                                            : tile_of(tl, tl_tcm(f->sum), f->i),
                                  tl_last(rank_tile(tl, f, f->r, f->i))));
    f->value = tl_tcm(f->sum);
    TL_END(&f->leaf);
}

static enum tl_status gather_and_add(struct tl *tl, struct grid_frame *f)
{
    TL_BEGIN(&f->part);
    TL_RUN(&f->part, gather_row(tl, f));
    TL_RUN(&f->part, gather_column(tl, f));
    if (grid_scalar(tl, GRID_TOPO_W) * grid_scalar(tl, GRID_TOPO_H) > 1)
        TL_RUN(&f->part, add_in_rank_order(tl, f));
    TL_END(&f->part);
}

/* ---- phases ---------------------------------------------------------------------------------- */

enum tl_status grid_exchange(struct tl *tl, struct grid_frame *f, int dimension)
{
    const uint32_t w = (uint32_t)grid_scalar(tl, GRID_TOPO_W);
    const uint32_t h = (uint32_t)grid_scalar(tl, GRID_TOPO_H);
    const uint32_t x = tl_args(tl)->rank % w, y = tl_args(tl)->rank / w;
    if (grid_scalar(tl, GRID_RANK_INVARIANT))
        return dimension == 0 ? gather_and_add(tl, f) : TL_ENDED;
    if (grid_scalar(tl, GRID_TOPO_KIND) == GRID_TOPO_MESH)
        return dimension == 0 ? chain(tl, f, x, w, direction_between_sips(tl, HW_PORT_W),
                                      direction_between_sips(tl, HW_PORT_E))
                              : chain(tl, f, y, h, direction_between_sips(tl, HW_PORT_N),
                                      direction_between_sips(tl, HW_PORT_S));
    return dimension == 0 ? ring(tl, f, w, direction_between_sips(tl, HW_PORT_E),
                                 direction_between_sips(tl, HW_PORT_W))
                          : ring(tl, f, h, direction_between_sips(tl, HW_PORT_S),
                                 direction_between_sips(tl, HW_PORT_N));
}

enum tl_status grid_all_reduce(struct tl *tl, struct grid_frame *f, uint32_t phase)
{
    const struct grid_line row = grid_row(tl), column = grid_column(tl);
    const bool root_column = grid_at_root(row);
    TL_BEGIN(&f->level);
    grid_phase(tl, f, phase);
    TL_RUN(&f->level, grid_reduce(tl, f, row));
    if (root_column) {
        grid_phase(tl, f, phase + 1);
        TL_RUN(&f->level, grid_reduce(tl, f, column));
    }
    if (root_column && grid_at_root(column)) {
        grid_phase(tl, f, phase + 2);
        TL_RUN(&f->level, grid_exchange(tl, f, 0));
        TL_RUN(&f->level, grid_exchange(tl, f, 1));
    }
    if (root_column) {
        grid_phase(tl, f, phase + 3);
        TL_RUN(&f->level, grid_broadcast(tl, f, column));
    }
    grid_phase(tl, f, phase + 4);
    TL_RUN(&f->level, grid_broadcast(tl, f, row));
    TL_END(&f->level);
}

/* ---- host side ------------------------------------------------------------------------------- */

/*
 * Proof of grid_folds(). Within a SIP the steps depend on cube and PE alone: rows, columns, and
 * where the root is. Scalars are the same on all ranks (grid_kernel_args() does not read the rank).
 * grid_exchange() uses the rank
 * - on rings, for nothing: it sends E and receives W, w - 1 rounds, then S and N;
 * - on a mesh, for the ends of lines: ranks differ;
 * - with rank_invariant, for the order of operands: fold_allows_order().
 * So the kernels of all ranks make the same calls, if queues E and S lead from images to images.
 */
bool grid_folds(const struct ccl_call *call, const struct hw_fold *fold,
                char why[CCL_FOLD_WHY_BYTES])
{
    const struct hw_grid grid = hw_sip_grid(call->hw);
    if (!grid.wrap)
        return fold_refuse(why, "lines of %s have ends", call->hw->sip_topology->name);
    if (call->ccl->rank_invariant && !fold_allows_order(call, why))
        return false;
    if ((grid.w > 1 && !hw_fold_keeps_direction(call->hw, fold, HW_PORT_E)) ||
        (grid.h > 1 && !hw_fold_keeps_direction(call->hw, fold, HW_PORT_S)))
        return fold_refuse(why, "rows or columns of %s are not those that the topology joins",
                           call->hw->sip_topology->name);
    return true;
}

void grid_kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    int64_t *const s = args->scalar;
    const struct hw_config *hw = call->hw;
    const struct ccl_config *ccl = call->ccl;
    const struct hw_grid grid = hw_sip_grid(hw);
    s[GRID_CUBE_W] = hw->cube_w;
    s[GRID_CUBE_H] = hw->cube_h;
    s[GRID_ROOT_X] = ccl->root == CCL_ROOT_CENTER ? hw->cube_w / 2 : hw->cube_w - 1;
    s[GRID_ROOT_Y] = ccl->root == CCL_ROOT_CENTER ? hw->cube_h / 2 : hw->cube_h - 1;
    if (ccl->root == CCL_ROOT_XY) {
        s[GRID_ROOT_X] = ccl->root_x;
        s[GRID_ROOT_Y] = ccl->root_y;
    }
    s[GRID_TOPO_KIND] = !grid.wrap                  ? GRID_TOPO_MESH
                        : hw->sip_topology->is_grid ? GRID_TOPO_TORUS
                                                    : GRID_TOPO_RING;
    s[GRID_TOPO_W] = grid.w;
    s[GRID_TOPO_H] = grid.h;
    s[GRID_RANK_INVARIANT] = ccl->rank_invariant;
    s[GRID_PIECE] = grid_piece_tiles(call);
}

/* The configured algorithm may do another collective: then this is the default's kernel. */
static const char *all_reduce_name(const struct ccl_call *call)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const configured = ccl_algorithm_load(call->ccl->module, &ignored);
    return configured != NULL && configured->collective != call->collective
               ? "lrab_hierarchical_allreduce"
               : call->ccl->algorithm;
}

int grid_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    if (call->ccl->topology[0] != '\0' && strcmp(call->ccl->topology, "none") != 0) {
        (void)ccl_refuse(refusal, "defaults.topology",
                         "topology: %s goes by the queues that the machine is built with",
                         all_reduce_name(call));
        return ccl_legal(refusal, "none is legal");
    }
    const struct hw_topology_ops *const sips = call->hw->sip_topology;
    char list[200];
    if (!hw_topology_is_directed(sips) && call->hw->sip_count > 1) {
        (void)ccl_refuse(refusal, "system.sips.topology",
                         "%s has no global directions, which %s needs", sips->name,
                         all_reduce_name(call));
        return ccl_advise(refusal, "use ring_allreduce, or %s",
                          hw_topology_list(hw_topology_is_directed, "or", list, sizeof list));
    }
    if (call->ccl->rank_invariant && sips->lines == HW_SIP_LINES_OPEN) {
        (void)ccl_refuse(refusal, "defaults.rank_invariant", "rank_invariant is not offered on %s",
                         sips->name);
        return ccl_legal(refusal, "set it to false, or use %s",
                         hw_topology_list(hw_topology_is_ringed, "or", list, sizeof list));
    }
    return CW_OK;
}

uint64_t grid_tcm_bytes(const struct ccl_call *call, uint64_t bytes)
{
    return call->ccl->rank_invariant ? 2 * ((bytes + 63) & ~(uint64_t)63) : bytes;
}

uint32_t grid_piece_tiles(const struct ccl_call *call)
{
    return piece_tiles(call, call->ccl->rank_invariant ? 2 : 1);
}

uint64_t grid_piece_tcm_bytes(const struct ccl_call *call)
{
    return grid_tcm_bytes(call, piece_bytes(call, call->ccl->rank_invariant ? 2 : 1));
}

/* Along a line of n places, and back: each link carries the tensor there and back. */
static double moved_along(double n) { return 2 * (n - 1) / n; }

double grid_moved(const struct ccl_call *call)
{
    struct tl_args args = {0};
    grid_kernel_args(call, &args);
    const double w = (double)args.scalar[GRID_TOPO_W], h = (double)args.scalar[GRID_TOPO_H];
    if (args.scalar[GRID_TOPO_KIND] == GRID_TOPO_MESH)
        return moved_along(w) + moved_along(h);
    return w - 1 + (h - 1) * (args.scalar[GRID_RANK_INVARIANT] ? w : 1);
}

double grid_moved_round(const struct ccl_call *call) { return (double)call->world_size - 1; }
