/*
 * reduce_scatter_kernel.h: the parts that the kernels on paired dies share: ranks and addresses, an
 * exchange, the final reduction. The memory of a rank is laid out as reduce_scatter.h says.
 * Speculative, as all kernels are: a part's only state is the frame.
 */
#ifndef COLLECTIVES_REDUCE_SCATTER_KERNEL_H
#define COLLECTIVES_REDUCE_SCATTER_KERNEL_H

#include "collectives/algorithm.h"

/* A launch's scalars. Its `more` is struct ccl_ranks: which rank is on which SIP. */
enum rs_scalar {
    RS_RANKS,
    RS_SLOT_STRIDE, /* bytes from one slot of the scratch to the next */
    RS_SCALARS
};

/* Kinds of notifications: the receiver may write now; data for the receiver is in its place. */
enum { RS_READY, RS_DATA };

/* A kernel's frame. Streams start on a copy of it: they see `round` and every other member as main
 * has set it.
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
/* A die is the place of a SIP among those of all ranks, in ascending order: 2k and 2k + 1 are of
 * one package. This PE's, and the rank that is on one. */
uint32_t rs_die(const struct tl *tl);
uint32_t rs_rank_on(const struct tl *tl, uint32_t die);
/* PE 0 of a die, of the SIP of a rank, by its global index. */
uint32_t rs_pe_on(const struct tl *tl, uint32_t die);
uint32_t rs_pe_of(const struct tl *tl, uint32_t rank);

/* Where slice p of the input is, and slot i of the scratch: virtual here, physical anywhere. */
uint64_t rs_slice_va(const struct tl *tl, uint32_t slice);
struct lp_operand rs_slice(const struct tl *tl, uint32_t slice);
uint64_t rs_slot_va(const struct tl *tl, uint32_t slot);
struct lp_operand rs_slot(const struct tl *tl, uint32_t slot);
uint64_t rs_output_va(const struct tl *tl);
struct lp_operand rs_output(const struct tl *tl);

/* One side of an exchange: `to`, `from`: dies that this PE writes to and that write to it. */
struct rs_put {
    uint32_t to, from;
    struct lp_operand src, dst; /* a slice */
    bool reduce;
};
/* notify ready to `from`; wait for it from `to`; put; notify data to `to`; wait for it from `from`.
 * Runs by f->part. The same `put` every time it is entered. */
enum tl_status rs_exchange(struct tl *tl, struct rs_frame *f, const struct rs_put *put);

/* A piece of a slice: at most slot_size bytes, from byte f->done on. In TCM pieces lie one after
 * the other. Each of these is a TL_CALL: load from `va` + done, store there, add TCM pieces (dst <-
 * a + b). */
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
