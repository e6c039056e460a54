/*
 * grid_steps.h: the steps that the all-reduces on cubes and SIPs are made of (ALGORITHMS.md):
 * reduce a line of a grid to its root, broadcast along it, exchange between the SIPs' roots; and
 * the scalars and checks that go with them. Each kernel puts them together: piece by piece
 * (lrab_hierarchical_allreduce), tile by tile (lrab_pipelined_allreduce), on the PEs' grid, too
 * (pe_hierarchical_allreduce).
 *
 * A step works on `tiles` tiles of the tensor from tile `first` on; grid_take() sets both, and
 * where in TCM they are reduced. A step finds them in grid_frame.value, and leaves them there. In
 * TCM they are contiguous; received ones follow each other in their queue.
 *
 * Resumable functions of kernels: speculative, their only state is the frame. The host's part is
 * pure.
 */
#ifndef COLLECTIVES_GRID_STEPS_H
#define COLLECTIVES_GRID_STEPS_H

#include "collectives/algorithm.h"

enum grid_scalar {
    GRID_CUBE_W,
    GRID_CUBE_H,
    GRID_ROOT_X,
    GRID_ROOT_Y,
    GRID_TOPO_KIND,
    GRID_TOPO_W, /* of a ring: its length, with GRID_TOPO_H 1 */
    GRID_TOPO_H,
    GRID_RANK_INVARIANT,
    GRID_LOGICAL, /* the exchange goes by N, S, E, W of a logical topology, not by global_* */
    GRID_PIECE,   /* tiles of a piece (pieces.h), for grid_next_piece(); 0: all */
    GRID_SCALARS  /* a kernel's own scalars follow */
};

enum grid_topo_kind { GRID_TOPO_RING, GRID_TOPO_TORUS, GRID_TOPO_MESH };

struct grid_frame {
    uint16_t line, level, part, leaf; /* where to resume the kernel, its part, ... */
    uint32_t first, tiles;            /* of the tensor: the current tiles */
    uint32_t acc;                     /* where they are in TCM */
    uint32_t i;                       /* tile, counted from `first` */
    uint32_t r, k;                    /* round; tensor of a row */
    struct lp_operand value;          /* the tiles so far: in TCM, or as they were received */
    struct lp_operand row, ring;      /* first tile that a row, a column ring brought */
    uint32_t whole; /* 1: each step takes all tiles before the next step takes the first */
    uint32_t sum;   /* rank_invariant: offset in TCM of the sum so far */
};
_Static_assert(sizeof(struct grid_frame) <= TL_FRAME_BYTES, "the frame fits in a kernel's state");

/* A line of a grid: this place is `at` of `n`; `low` and `high` lead to at - 1 and at + 1. */
struct grid_line {
    uint32_t at, n, root;
    enum hw_dir low, high;
};

static inline int64_t grid_scalar(const struct tl *tl, uint32_t index)
{
    return tl_args(tl)->scalar[index];
}
/* How often a rank sends the tensor to others: hook `moved` of struct ccl_algorithm. */
double grid_moved(const struct ccl_call *call);
double grid_moved_round(const struct ccl_call *call); /* along a ring of all ranks */
/* This cube's row and column of the cube mesh. */
struct grid_line grid_row(const struct tl *tl);
struct grid_line grid_column(const struct tl *tl);
static inline bool grid_at_root(struct grid_line line) { return line.at == line.root; }

/* From here on the steps work on these tiles. Returns where they are in the shard, and their
 * bytes. */
void grid_take(struct grid_frame *f, uint32_t first, uint32_t tiles, uint32_t acc);
uint64_t grid_offset(const struct tl *tl, const struct grid_frame *f);
uint32_t grid_bytes(const struct tl *tl, const struct grid_frame *f);
/* Takes the next piece of the tensor, or the first, at the start of TCM. False: there was none
 * left. */
bool grid_next_piece(struct tl *tl, struct grid_frame *f);
/* Marks a phase in the last piece; those before it are phase GRID_EARLIER, which comes first. */
void grid_phase(struct tl *tl, const struct grid_frame *f, uint32_t phase);
enum { GRID_EARLIER };
#define GRID_EARLIER_NAME "pieces before the last"

/* ---- steps: each is one TL_RUN --------------------------------------------------------------- */

/* Add: acc = acc + the tiles from `dir`; the value is in TCM afterwards. Send the value in a
 * direction. Receive tiles, which become the value. */
enum tl_status grid_add_from(struct tl *tl, struct grid_frame *f, enum hw_dir dir);
enum tl_status grid_send_to(struct tl *tl, struct grid_frame *f, enum hw_dir dir);
enum tl_status grid_receive_from(struct tl *tl, struct grid_frame *f, enum hw_dir dir);
/* From both ends of the line towards the root: the tiles from `low` are added first, then those
 * from `high`. */
enum tl_status grid_reduce(struct tl *tl, struct grid_frame *f, struct grid_line line);
/* Broadcasts the root's value along the line, towards `low` first. */
enum tl_status grid_broadcast(struct tl *tl, struct grid_frame *f, struct grid_line line);
/* Phase 3, at the root of every SIP: along the SIPs' rows (dimension 0), then the columns (1). */
enum tl_status grid_exchange(struct tl *tl, struct grid_frame *f, int dimension);

/* Phases 1 to 5: rows, root column, between SIPs, and back, marked as phases `phase` and the four
 * after it. */
enum tl_status grid_all_reduce(struct tl *tl, struct grid_frame *f, uint32_t phase);
#define GRID_PHASE_NAMES                                                                           \
    "row reduce", "column reduce", "between SIPs", "column broadcast", "row broadcast"
enum { GRID_PHASES = 5 };

/* ---- host side ------------------------------------------------------------------------------- */

/* `folds` of struct ccl_algorithm, of the kernels that exchange by global_*. */
bool grid_folds(const struct ccl_call *call, const struct hw_fold *fold,
                char why[CCL_FOLD_WHY_BYTES]);
void grid_kernel_args(const struct ccl_call *call, struct tl_args *args);
/* The conditions of the exchange between SIPs: struct ccl_algorithm's check(). */
int grid_check(const struct ccl_call *call, struct ccl_refusal *refusal);
/* TCM for `bytes` in progress: rank_invariant adds in a second place. */
uint64_t grid_tcm_bytes(const struct ccl_call *call, uint64_t bytes);
/* The scalar GRID_PIECE, and TCM for such a piece: struct ccl_machine's tcm_bytes(). */
uint32_t grid_piece_tiles(const struct ccl_call *call);
uint64_t grid_piece_tcm_bytes(const struct ccl_call *call);

#endif
