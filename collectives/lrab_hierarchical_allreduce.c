/*
 * lrab_hierarchical_allreduce.c: all-reduce on cubes and SIPs (50-collectives.md; ADR-0032): reduce
 * along the rows and the root column of each SIP's cube mesh to its root cube, exchange between
 * the SIPs' root cubes, broadcast back; on pe0 of every cube, for every SIP at once.
 *
 * The order of additions is part of the algorithm. The root column adds W first, then E; the root
 * cube N first, then S; a ring adds its own value first, then what arrives. Broadcasts go N before
 * S, then W before E. `intercube_allreduce` is the same kernel with the root in the south-east
 * corner.
 *
 * A tensor larger than a slot travels as several tiles: one load at the start, one store at the
 * end; in a ring round, for each tile in turn: send it, receive its counterpart, add; elsewhere:
 * for each tile receive and add, then send all tiles, direction by direction.
 */
#include "collectives/algorithm.h"

#include <stdio.h>

enum scalar {
    CUBE_W,
    CUBE_H,
    ROOT_X,
    ROOT_Y,
    TOPO_KIND,
    TOPO_W, /* of a ring: its length, with TOPO_H 1 */
    TOPO_H,
    RANK_INVARIANT,
    SCALARS
};
_Static_assert(SCALARS <= TL_SCALARS_MAX, "the scalars fit in a launch");

enum topo_kind { TOPO_RING, TOPO_TORUS, TOPO_MESH }; /* sip_topo_kind of ADR-0032 */

enum phase { LOAD, ROW_REDUCE, COLUMN_REDUCE, BETWEEN, COLUMN_BROADCAST, ROW_BROADCAST, STORE };
static const char *const phase_name[] = {"launch, load", "row reduce",       "column reduce",
                                         "between SIPs", "column broadcast", "row broadcast",
                                         "store"};

struct frame {
    uint16_t line, part, leaf; /* where the kernel, its part, and the part's part are */
    uint16_t reserved;
    uint32_t i;                  /* tile */
    uint32_t r, k;               /* round; tensor of a row */
    struct lp_operand value;     /* the tensor so far: in TCM, or as it was received */
    struct lp_operand row, ring; /* first tile that a row, a column ring brought */
    uint32_t sum;                /* rank_invariant: offset in TCM of the sum so far */
};
_Static_assert(sizeof(struct frame) <= TL_FRAME_BYTES, "the frame fits in a kernel's state");

static int64_t scalar(const struct tl *tl, enum scalar index) { return tl_args(tl)->scalar[index]; }

static uint32_t tensor_bytes(const struct tl *tl)
{
    return (uint32_t)(tl_args(tl)->n_elem * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
}

static uint32_t tile_elems(const struct tl *tl, uint32_t tile)
{
    return tl_tile_bytes(tl, tile) / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

/* Tile `tile` of a value: in TCM its tiles are contiguous, received ones follow each other. */
static struct lp_operand tile_of(const struct tl *tl, struct lp_operand value, uint32_t tile)
{
    if (value.space == LP_SPACE_TILE)
        return tl_tile_after(value, tile);
    return tl_tcm(value.at +
                  tile * tl_tile_elems(tl) * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
}

/* dst (in TCM) <- a + b, one tile. */
static void add(struct tl *tl, uint32_t dst, struct lp_operand a, struct lp_operand b,
                uint32_t tile)
{
    tl_math(tl, (enum lp_math)tl_args(tl)->math, tile_of(tl, tl_tcm(dst), tile).at, a, b,
            tile_elems(tl, tile));
}

/* ---- on the cube mesh ------------------------------------------------------------------------ */

/* acc = acc + what comes from `dir`. acc is at 0 in TCM afterwards. */
static enum tl_status reduce_from(struct tl *tl, struct frame *f, enum hw_dir dir)
{
    TL_BEGIN(&f->leaf);
    for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
        TL_CALL(&f->leaf, tl_recv(tl, dir, tl_tile_bytes(tl, f->i)));
        TL_CALL(&f->leaf,
                add(tl, 0, tl_last(tile_of(tl, f->value, f->i)), tl_last(tl_received(tl)), f->i));
    }
    f->value = tl_tcm(0);
    TL_END(&f->leaf);
}

static enum tl_status send_value(struct tl *tl, struct frame *f, enum hw_dir dir)
{
    TL_BEGIN(&f->leaf);
    for (f->i = 0; f->i < tl_tiles(tl); f->i++)
        TL_CALL(&f->leaf, tl_send(tl, dir, tile_of(tl, f->value, f->i), tl_tile_bytes(tl, f->i)));
    TL_END(&f->leaf);
}

static enum tl_status receive_value(struct tl *tl, struct frame *f, enum hw_dir dir)
{
    TL_BEGIN(&f->leaf);
    for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
        TL_CALL(&f->leaf, tl_recv(tl, dir, tl_tile_bytes(tl, f->i)));
        if (f->i == 0)
            f->value = tl_received(tl);
    }
    TL_END(&f->leaf);
}

/*
 * Reduces along one dimension of the mesh, from both ends towards `root`: `at` of `n` places;
 * `low` and `high` are the directions to the neighbours at - 1 and at + 1.
 */
static enum tl_status reduce_line(struct tl *tl, struct frame *f, uint32_t at, uint32_t n,
                                  uint32_t root, enum hw_dir low, enum hw_dir high)
{
    TL_BEGIN(&f->part);
    if (at <= root && at > 0)
        TL_RUN(&f->part, reduce_from(tl, f, low));
    if (at >= root && at < n - 1)
        TL_RUN(&f->part, reduce_from(tl, f, high));
    if (at != root)
        TL_RUN(&f->part, send_value(tl, f, at < root ? high : low));
    TL_END(&f->part);
}

static enum tl_status broadcast_line(struct tl *tl, struct frame *f, uint32_t at, uint32_t n,
                                     uint32_t root, enum hw_dir low, enum hw_dir high)
{
    TL_BEGIN(&f->part);
    if (at != root)
        TL_RUN(&f->part, receive_value(tl, f, at < root ? high : low));
    if (at <= root && at > 0)
        TL_RUN(&f->part, send_value(tl, f, low));
    if (at >= root && at < n - 1)
        TL_RUN(&f->part, send_value(tl, f, high));
    TL_END(&f->part);
}

/* ---- between SIPs: root cubes only ----------------------------------------------------------- */

/* n - 1 rounds: send own value, then what arrived last; add what arrives. */
static enum tl_status ring(struct tl *tl, struct frame *f, uint32_t n, enum hw_dir to,
                           enum hw_dir from)
{
    TL_BEGIN(&f->part);
    for (f->r = 0; f->r + 1 < n; f->r++)
        for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
            TL_CALL(&f->part,
                    tl_send(tl, to,
                            f->r == 0
                                ? tile_of(tl, f->value, f->i)
                                : tl_last(tl_tile_after(f->ring, (f->r - 1) * tl_tiles(tl) + f->i)),
                            tl_tile_bytes(tl, f->i)));
            TL_CALL(&f->part, tl_recv(tl, from, tl_tile_bytes(tl, f->i)));
            if (f->r == 0 && f->i == 0)
                f->ring = tl_received(tl);
            TL_CALL(&f->part, add(tl, 0, tile_of(tl, f->value, f->i),
                                  f->r + 2 < n ? tl_received(tl) : tl_last(tl_received(tl)), f->i));
        }
    TL_END(&f->part);
}

/* Chain reduce to the last place of the line, chain broadcast back. */
static enum tl_status chain(struct tl *tl, struct frame *f, uint32_t at, uint32_t n,
                            enum hw_dir low, enum hw_dir high)
{
    TL_BEGIN(&f->part);
    if (at > 0)
        TL_RUN(&f->part, reduce_from(tl, f, low));
    if (at < n - 1) {
        TL_RUN(&f->part, send_value(tl, f, high));
        TL_RUN(&f->part, receive_value(tl, f, high));
    }
    if (at > 0)
        TL_RUN(&f->part, send_value(tl, f, low));
    TL_END(&f->part);
}

/* ---- between SIPs, rank_invariant: gather, then add in rank order -----------------------------
 */

/* Tile `tile` of the tensor of column `x` of this row, once the row has been gathered. */
static struct lp_operand row_tile(const struct tl *tl, const struct frame *f, uint32_t x,
                                  uint32_t tile)
{
    const uint32_t w = (uint32_t)scalar(tl, TOPO_W), my_x = tl_args(tl)->rank % w;
    if (x == my_x)
        return tile_of(tl, f->value, tile);
    return tl_tile_after(f->row, ((my_x + w - x) % w - 1) * tl_tiles(tl) + tile);
}

/* ... of the tensor of rank `rank`, once all have been gathered. */
static struct lp_operand rank_tile(const struct tl *tl, const struct frame *f, uint32_t rank,
                                   uint32_t tile)
{
    const uint32_t w = (uint32_t)scalar(tl, TOPO_W), h = (uint32_t)scalar(tl, TOPO_H);
    const uint32_t my_y = tl_args(tl)->rank / w, x = rank % w, y = rank / w;
    if (y == my_y)
        return row_tile(tl, f, x, tile);
    const uint32_t round = (my_y + h - y) % h - 1;
    return tl_tile_after(f->ring, (round * w + x) * tl_tiles(tl) + tile);
}

/* The row's ring: each round passes on one tensor. */
static enum tl_status gather_row(struct tl *tl, struct frame *f)
{
    TL_BEGIN(&f->leaf);
    for (f->r = 0; f->r + 1 < (uint32_t)scalar(tl, TOPO_W); f->r++)
        for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
            TL_CALL(&f->leaf,
                    tl_send(tl, HW_DIR_GLOBAL_E,
                            f->r == 0 ? tile_of(tl, f->value, f->i)
                                      : tl_tile_after(f->row, (f->r - 1) * tl_tiles(tl) + f->i),
                            tl_tile_bytes(tl, f->i)));
            TL_CALL(&f->leaf, tl_recv(tl, HW_DIR_GLOBAL_W, tl_tile_bytes(tl, f->i)));
            if (f->r == 0 && f->i == 0)
                f->row = tl_received(tl);
        }
    TL_END(&f->leaf);
}

/* The column's ring: each round passes on a row's w tensors. */
static enum tl_status gather_column(struct tl *tl, struct frame *f)
{
    TL_BEGIN(&f->leaf);
    for (f->r = 0; f->r + 1 < (uint32_t)scalar(tl, TOPO_H); f->r++)
        for (f->k = 0; f->k < (uint32_t)scalar(tl, TOPO_W); f->k++)
            for (f->i = 0; f->i < tl_tiles(tl); f->i++) {
                TL_CALL(&f->leaf,
                        tl_send(tl, HW_DIR_GLOBAL_S,
                                f->r == 0 ? row_tile(tl, f, f->k, f->i)
                                          : tl_tile_after(f->ring, ((f->r - 1) * (uint32_t)scalar(
                                                                                     tl, TOPO_W) +
                                                                    f->k) * tl_tiles(tl) +
                                                                       f->i),
                                tl_tile_bytes(tl, f->i)));
                TL_CALL(&f->leaf, tl_recv(tl, HW_DIR_GLOBAL_N, tl_tile_bytes(tl, f->i)));
                if (f->r == 0 && f->k == 0 && f->i == 0)
                    f->ring = tl_received(tl);
            }
    TL_END(&f->leaf);
}

/* x0 + x1 + ..., into a second place in TCM, since the own tensor is one of them. */
static enum tl_status add_in_rank_order(struct tl *tl, struct frame *f)
{
    TL_BEGIN(&f->leaf);
    f->sum = (tensor_bytes(tl) + 63) & ~63u;
    for (f->r = 1; f->r < (uint32_t)(scalar(tl, TOPO_W) * scalar(tl, TOPO_H)); f->r++)
        for (f->i = 0; f->i < tl_tiles(tl); f->i++)
            TL_CALL(&f->leaf, add(tl, f->sum,
                                  f->r == 1 ? tl_last(rank_tile(tl, f, 0, f->i))
                                            : tile_of(tl, tl_tcm(f->sum), f->i),
                                  tl_last(rank_tile(tl, f, f->r, f->i)), f->i));
    f->value = tl_tcm(f->sum);
    TL_END(&f->leaf);
}

static enum tl_status gather_and_add(struct tl *tl, struct frame *f)
{
    TL_BEGIN(&f->part);
    TL_RUN(&f->part, gather_row(tl, f));
    TL_RUN(&f->part, gather_column(tl, f));
    if (scalar(tl, TOPO_W) * scalar(tl, TOPO_H) > 1)
        TL_RUN(&f->part, add_in_rank_order(tl, f));
    TL_END(&f->part);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Phase 3's two dimensions; dimension 0 is the row. */
static enum tl_status exchange(struct tl *tl, struct frame *f, int dimension)
{
    const uint32_t w = (uint32_t)scalar(tl, TOPO_W), h = (uint32_t)scalar(tl, TOPO_H);
    const uint32_t x = tl_args(tl)->rank % w, y = tl_args(tl)->rank / w;
    if (scalar(tl, RANK_INVARIANT))
        return dimension == 0 ? gather_and_add(tl, f) : TL_ENDED;
    if (scalar(tl, TOPO_KIND) == TOPO_MESH)
        return dimension == 0 ? chain(tl, f, x, w, HW_DIR_GLOBAL_W, HW_DIR_GLOBAL_E)
                              : chain(tl, f, y, h, HW_DIR_GLOBAL_N, HW_DIR_GLOBAL_S);
    return dimension == 0 ? ring(tl, f, w, HW_DIR_GLOBAL_E, HW_DIR_GLOBAL_W)
                          : ring(tl, f, h, HW_DIR_GLOBAL_S, HW_DIR_GLOBAL_N);
}

static uint64_t own_shard(const struct tl *tl)
{
    return tl_args(tl)->tensor + tl_place(tl).cube * tl_args(tl)->shard_bytes;
}

static enum tl_status run(struct tl *tl, void *state)
{
    struct frame *f = state;
    const uint32_t w = (uint32_t)scalar(tl, CUBE_W), h = (uint32_t)scalar(tl, CUBE_H);
    const uint32_t root_x = (uint32_t)scalar(tl, ROOT_X), root_y = (uint32_t)scalar(tl, ROOT_Y);
    const uint32_t x = tl_place(tl).cube % w, y = tl_place(tl).cube / w;
    const bool root_column = x == root_x, root = root_column && y == root_y;
    TL_BEGIN(&f->line);
    tl_phase(tl, LOAD);
    TL_CALL(&f->line, tl_load(tl, 0, own_shard(tl), tensor_bytes(tl)));
    f->value = tl_tcm(0);
    tl_phase(tl, ROW_REDUCE);
    TL_RUN(&f->line, reduce_line(tl, f, x, w, root_x, HW_DIR_W, HW_DIR_E));
    if (root_column) {
        tl_phase(tl, COLUMN_REDUCE);
        TL_RUN(&f->line, reduce_line(tl, f, y, h, root_y, HW_DIR_N, HW_DIR_S));
    }
    if (root) {
        tl_phase(tl, BETWEEN);
        TL_RUN(&f->line, exchange(tl, f, 0));
        TL_RUN(&f->line, exchange(tl, f, 1));
    }
    if (root_column) {
        tl_phase(tl, COLUMN_BROADCAST);
        TL_RUN(&f->line, broadcast_line(tl, f, y, h, root_y, HW_DIR_N, HW_DIR_S));
    }
    tl_phase(tl, ROW_BROADCAST);
    TL_RUN(&f->line, broadcast_line(tl, f, x, w, root_x, HW_DIR_W, HW_DIR_E));
    tl_phase(tl, STORE);
    TL_CALL(&f->line, tl_store(tl, own_shard(tl), tl_last(f->value), tensor_bytes(tl)));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {.name = "lrab_hierarchical_allreduce",
                                        .frame_bytes = sizeof(struct frame),
                                        .run = run,
                                        .phase = phase_name,
                                        .phase_count = sizeof phase_name / sizeof *phase_name};

/* ---- host side ------------------------------------------------------------------------------- */

static void kernel_args(const struct ccl_call *call, int64_t s[TL_SCALARS_MAX])
{
    const struct hw_config *hw = call->hw;
    const struct ccl_config *ccl = call->ccl;
    const bool grid = hw_sips_are_grid(hw), mesh = hw->sip_topology == HW_MESH_2D_NO_WRAP;
    s[CUBE_W] = hw->cube_w;
    s[CUBE_H] = hw->cube_h;
    s[ROOT_X] = ccl->root == CCL_ROOT_CENTER ? hw->cube_w / 2 : hw->cube_w - 1;
    s[ROOT_Y] = ccl->root == CCL_ROOT_CENTER ? hw->cube_h / 2 : hw->cube_h - 1;
    if (ccl->root == CCL_ROOT_XY) {
        s[ROOT_X] = ccl->root_x;
        s[ROOT_Y] = ccl->root_y;
    }
    s[TOPO_KIND] = mesh ? TOPO_MESH : grid ? TOPO_TORUS : TOPO_RING;
    s[TOPO_W] = grid ? hw->sip_w : hw->sip_count;
    s[TOPO_H] = grid ? hw->sip_h : 1;
    s[RANK_INVARIANT] = ccl->rank_invariant;
}

static int check(const struct ccl_call *call, const char **key, struct cw_error *error)
{
    error->exit_code = CW_USAGE;
    if (call->hw->sip_topology == HW_PAIR_SWITCH && call->hw->sip_count > 1) {
        *key = "system.sips.topology";
        snprintf(error->text, sizeof error->text,
                 "pair_switch has no global directions, which %s needs; use ring_allreduce%s, or "
                 "ring_1d, torus_2d, mesh_2d_no_wrap or switch",
                 call->ccl->algorithm, ccl_algorithm_note("ring_allreduce"));
        return CW_USAGE;
    }
    if (call->ccl->rank_invariant && call->hw->sip_topology == HW_MESH_2D_NO_WRAP) {
        *key = "defaults.rank_invariant";
        snprintf(error->text, sizeof error->text,
                 "rank_invariant is not offered on mesh_2d_no_wrap; set it to false, or use "
                 "ring_1d, torus_2d or switch");
        return CW_USAGE;
    }
    return CW_OK;
}

static uint64_t tcm_bytes(const struct ccl_call *call)
{
    const uint64_t bytes = call->n_elem * tl_itemsize(call->dtype);
    return call->ccl->rank_invariant ? 2 * ((bytes + 63) & ~(uint64_t)63) : bytes;
}

static bool takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe)
{
    (void)call, (void)cube;
    return pe == 0;
}

const struct ccl_algorithm ccl_lrab_hierarchical_allreduce = {.name = "lrab_hierarchical_allreduce",
                                                              .kernel = &kernel,
                                                              .kernel_args = kernel_args,
                                                              .check = check,
                                                              .tcm_bytes = tcm_bytes,
                                                              .takes_part = takes_part};
