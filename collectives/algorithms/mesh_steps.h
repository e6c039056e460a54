/*
 * mesh_steps.h: the steps that the all-reduces on cubes and SIPs are made of (ALGORITHMS.md):
 * reduce a line of a grid to its root, broadcast along it, exchange between the SIPs' roots; and
 * the scalars and checks that go with them. Each kernel puts them together: piece by piece
 * (lrab_hierarchical_allreduce), tile by tile (lrab_pipelined_allreduce), on the PEs' grid, too
 * (pe_hierarchical_allreduce).
 *
 * A step works on `tiles` tiles of the tensor from tile `first` on: mesh_take() says which, and
 * where in TCM they are and are reduced to. They start as mesh_frame.value, and that is where the
 * step leaves them. In TCM they are contiguous; received ones follow each other in their queue.
 *
 * Resumable functions of kernels: speculative, their only state is the frame. The host's part is
 * pure.
 */
#ifndef COLLECTIVES_MESH_STEPS_H
#define COLLECTIVES_MESH_STEPS_H

#include "collectives/algorithm.h"

enum mesh_scalar {
    MESH_CUBE_W,
    MESH_CUBE_H,
    MESH_ROOT_X,
    MESH_ROOT_Y,
    MESH_TOPO_KIND,
    MESH_TOPO_W, /* of a ring: its length, with MESH_TOPO_H 1 */
    MESH_TOPO_H,
    MESH_RANK_INVARIANT,
    MESH_LOGICAL, /* the exchange goes by N, S, E, W of a logical topology, not by global_* */
    MESH_PIECE,   /* tiles of a piece (pieces.h), for mesh_next_piece(); 0: all */
    MESH_SCALARS  /* a kernel's own follow */
};

enum mesh_topo_kind { MESH_TOPO_RING, MESH_TOPO_TORUS, MESH_TOPO_MESH };

struct mesh_frame {
    uint16_t line, level, part, leaf; /* where the kernel, its part, ... are */
    uint32_t first, tiles;            /* of the tensor: the tiles under way */
    uint32_t acc;                     /* where they are in TCM */
    uint32_t i;                       /* tile, counted from `first` */
    uint32_t r, k;                    /* round; tensor of a row */
    struct lp_operand value;          /* the tiles so far: in TCM, or as they were received */
    struct lp_operand row, ring;      /* first tile that a row, a column ring brought */
    uint32_t sum;                     /* rank_invariant: offset in TCM of the sum so far */
};
_Static_assert(sizeof(struct mesh_frame) <= TL_FRAME_BYTES, "the frame fits in a kernel's state");

/* A line of a grid: this place is `at` of `n`; `low` and `high` lead to at - 1 and at + 1. */
struct mesh_line {
    uint32_t at, n, root;
    enum hw_dir low, high;
};

static inline int64_t mesh_scalar(const struct tl *tl, uint32_t index)
{
    return tl_args(tl)->scalar[index];
}
/* How often a rank sends the tensor to others: hook `moved` of struct ccl_algorithm. */
double mesh_moved(const struct ccl_call *call);
double mesh_moved_round(const struct ccl_call *call); /* along a ring of all ranks */
/* This cube's row and column of the cube mesh. */
struct mesh_line mesh_row(const struct tl *tl);
struct mesh_line mesh_column(const struct tl *tl);
static inline bool mesh_at_root(struct mesh_line line) { return line.at == line.root; }

/* The steps are about these tiles from here on; where they are in the shard, and their bytes. */
void mesh_take(struct mesh_frame *f, uint32_t first, uint32_t tiles, uint32_t acc);
uint64_t mesh_offset(const struct tl *tl, const struct mesh_frame *f);
uint32_t mesh_bytes(const struct tl *tl, const struct mesh_frame *f);
/* Takes the next piece of the tensor, or the first, at the start of TCM. False: there was none
 * left. */
bool mesh_next_piece(const struct tl *tl, struct mesh_frame *f);
/* Marks a phase in the last piece; those before it are phase MESH_EARLIER, which comes first. */
void mesh_phase(struct tl *tl, const struct mesh_frame *f, uint32_t phase);
enum { MESH_EARLIER };
#define MESH_EARLIER_NAME "pieces before the last"

/* ---- steps: each is one TL_RUN --------------------------------------------------------------- */

/* Add: acc = acc + the tiles from `dir`; the value is in TCM afterwards. Send the value in a
 * direction. Receive tiles, which become the value. */
enum tl_status mesh_add_from(struct tl *tl, struct mesh_frame *f, enum hw_dir dir);
enum tl_status mesh_send_to(struct tl *tl, struct mesh_frame *f, enum hw_dir dir);
enum tl_status mesh_receive_from(struct tl *tl, struct mesh_frame *f, enum hw_dir dir);
/* Both ends towards the root: the tiles from `low` are added first, then the tiles from `high`. */
enum tl_status mesh_reduce(struct tl *tl, struct mesh_frame *f, struct mesh_line line);
/* The root's value to all: towards `low` first. */
enum tl_status mesh_broadcast(struct tl *tl, struct mesh_frame *f, struct mesh_line line);
/* Phase 3, at the root of every SIP: along the SIPs' rows (dimension 0), then the columns (1). */
enum tl_status mesh_exchange(struct tl *tl, struct mesh_frame *f, int dimension);

/* Phases 1 to 5: rows, root column, between SIPs, and back, marked as phases `phase` and the four
 * after it. */
enum tl_status mesh_all_reduce(struct tl *tl, struct mesh_frame *f, uint32_t phase);
#define MESH_PHASE_NAMES                                                                           \
    "row reduce", "column reduce", "between SIPs", "column broadcast", "row broadcast"
enum { MESH_PHASES = 5 };

/* ---- host side ------------------------------------------------------------------------------- */

void mesh_kernel_args(const struct ccl_call *call, struct tl_args *args);
/* The conditions of the exchange between SIPs: struct ccl_algorithm's check(). */
int mesh_check(const struct ccl_call *call, struct ccl_refusal *refusal);
/* TCM for `bytes` under way: rank_invariant adds in a second place. */
uint64_t mesh_tcm_bytes(const struct ccl_call *call, uint64_t bytes);
/* The scalar MESH_PIECE, and TCM for such a piece: struct ccl_machine's tcm_bytes(). */
uint32_t mesh_piece_tiles(const struct ccl_call *call);
uint64_t mesh_piece_tcm_bytes(const struct ccl_call *call);

#endif
