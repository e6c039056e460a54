/*
 * reduce_scatter.h: what the algorithms on paired dies share (50-collectives.md, "Reduce-scatter on
 * paired dies"): their conditions, their memory, and the parts of their kernels that are the same.
 * Each algorithm is a file of its own: birs.c, birs_inter.c, rhd.c, direct_scatter.c,
 * birs_allreduce.c; auto_scatter.c chooses.
 *
 * Memory of a rank, all in the HBM of PE 0 of its SIP's only cube: the input (the tensor), n_elem
 * elements, slice p being its p-th part; the output (region 0), one slice; the scratch (region 1),
 * slots of one slice each, a stride apart. Every rank has them at the same offsets.
 *
 * Ranks are numbered as the host does; the SIP that a rank is on is another number where `mate` and
 * `package` say so. SIPs 2k and 2k + 1 are a package.
 */
#ifndef COLLECTIVES_REDUCE_SCATTER_H
#define COLLECTIVES_REDUCE_SCATTER_H

#include "collectives/algorithm.h"

/* ---- host side ------------------------------------------------------------------------------- */

/* What an algorithm asks of a call beyond the rest: n_elem is a multiple of the ranks, one cube per
 * SIP, and memory. */
struct ccl_rs_needs {
    bool pairs;                    /* pair_switch, an even number of ranks */
    uint32_t ranks_min, ranks_max; /* 0: any */
    bool power_of_two;
    bool aligned;       /* slots are min_slice_align apart */
    bool in_place;      /* no output beside the input */
    uint32_t slots;     /* of scratch */
    uint32_t tcm_tiles; /* in TCM at once */
};

/* `check` of struct ccl_algorithm. */
int ccl_rs_check(const struct ccl_call *call, const struct ccl_rs_needs *needs, const char *name,
                 struct ccl_refusal *refusal);
uint64_t ccl_rs_scratch_bytes(const struct ccl_call *call, const struct ccl_rs_needs *needs);
uint64_t ccl_rs_tcm_bytes(const struct ccl_call *call, uint32_t tiles);
void ccl_rs_kernel_args(const struct ccl_call *call, struct tl_args *args);
/* The built-in mappers that choose PE 0 of a SIP's only cube, and takes_part(), which does. */
enum { CCL_RS_MAPPERS = CCL_MAPPER_LEADER_ONLY | CCL_MAPPER_PE0_ALL_CUBES };
bool ccl_rs_takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe);

extern const struct tl_kernel birs_inter_kernel;

/* ---- kernels --------------------------------------------------------------------------------- */

/* A launch's scalars. Its `more` is struct ccl_ranks: which rank is on which SIP. */
enum rs_scalar {
    RS_RANKS,
    RS_SLOT_STRIDE, /* bytes from one slot of the scratch to the next */
    RS_SCALARS
};

/* Kinds of notifications: whoever gets it may write; what was written is there. */
enum { RS_READY, RS_DATA };

/* A kernel's frame. `round` and what else main has set is the streams' too: they start on a copy.
 */
struct rs_frame {
    uint16_t line, stage, part, leaf; /* of the kernel, and of parts within parts */
    uint32_t round;
    uint32_t i, s;       /* of loops within a part */
    uint32_t done;       /* bytes of the slice that the final reduction has stored */
    uint32_t low, count; /* rhd: slices low .. low + count - 1 are to be prepared */
    uint32_t distance;   /* rhd */
    bool prepared;       /* rhd: the working copy holds all slices */
    bool gathering;      /* birs_allreduce */
};
_Static_assert(sizeof(struct rs_frame) <= TL_FRAME_BYTES, "the frame fits in a kernel's state");

uint32_t rs_ranks(const struct tl *tl);
uint32_t rs_slice_bytes(const struct tl *tl);
/* This PE's SIP, and the rank that is on a SIP. */
uint32_t rs_sip(const struct tl *tl);
uint32_t rs_rank_on(const struct tl *tl, uint32_t sip);
uint32_t rs_sip_of(const struct tl *tl, uint32_t rank);
/* PE 0 of a SIP, by its global index. */
uint32_t rs_pe_on(const struct tl *tl, uint32_t sip);

/* Where slice p of the input is, and slot i of the scratch: virtual here, physical anywhere. */
uint64_t rs_slice_va(const struct tl *tl, uint32_t slice);
struct lp_operand rs_slice(const struct tl *tl, uint32_t slice);
uint64_t rs_slot_va(const struct tl *tl, uint32_t slot);
struct lp_operand rs_slot(const struct tl *tl, uint32_t slot);
uint64_t rs_output_va(const struct tl *tl);
struct lp_operand rs_output(const struct tl *tl);

/* One side of an exchange: `to`, `from`: SIPs that this PE writes to and that write to it. */
struct rs_put {
    uint32_t to, from;
    struct lp_operand src, dst; /* a slice */
    bool reduce;
};
/* notify ready to `from`; wait for it from `to`; put; notify data to `to`; wait for it from `from`.
 * Runs by f->part. The same `put` every time it is entered. */
enum tl_status rs_exchange(struct tl *tl, struct rs_frame *f, const struct rs_put *put);

/* Pieces of a slice, f->done bytes into it, of slot_size at most; in TCM one after the other. Each
 * of the three is a TL_CALL: from `va` + done, to it, and TCM piece dst <- a + b. */
uint32_t rs_full_piece_bytes(const struct tl *tl);
void rs_load_piece(struct tl *tl, const struct rs_frame *f, uint32_t piece, uint64_t va);
void rs_store_piece(struct tl *tl, const struct rs_frame *f, uint64_t va);
void rs_add_pieces(struct tl *tl, const struct rs_frame *f, uint32_t dst, uint32_t a, uint32_t b);

/*
 * The final reduction: n partials of a slice, `partial(tl, k)` being the address of the k-th, by a
 * tree (expect_tree() in expect_order.h says which), piece by piece of slot_size: load all, add,
 * store at `out`. Runs by f->part.
 */
enum tl_status rs_reduce_partials(struct tl *tl, struct rs_frame *f, uint32_t n,
                                  uint64_t (*partial)(const struct tl *tl, uint32_t k),
                                  uint64_t out);

#endif
