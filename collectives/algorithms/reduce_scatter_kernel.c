/*
 * reduce_scatter_kernel.c: the parts that the kernels on paired dies share
 * (reduce_scatter_kernel.h): addresses, exchanges, the final reduction. Speculative, as all kernels
 * are.
 */
#include "collectives/algorithms/reduce_scatter_kernel.h"

/* ---- ranks and addresses --------------------------------------------------------------------- */

_Static_assert(RS_SCALARS <= TL_SCALARS_MAX, "the scalars fit in a launch");

static const struct ccl_ranks *places(const struct tl *tl) { return tl_args(tl)->more; }

uint32_t rs_ranks(const struct tl *tl) { return (uint32_t)tl_args(tl)->scalar[RS_RANKS]; }
uint32_t rs_die(const struct tl *tl) { return ccl_place_of_sip(places(tl), tl_place(tl).sip); }
uint32_t rs_rank_on(const struct tl *tl, uint32_t die) { return ccl_rank_at(places(tl), die); }

uint32_t rs_pe_on(const struct tl *tl, uint32_t die) { return rs_pe_of(tl, rs_rank_on(tl, die)); }

uint32_t rs_pe_of(const struct tl *tl, uint32_t rank)
{
    return tl_pe_index(tl, (struct hw_place){.sip = ccl_sip_of(places(tl), rank)});
}

uint32_t rs_slice_bytes(const struct tl *tl)
{
    return (uint32_t)(tl_args(tl)->n_elem / rs_ranks(tl)) *
           tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

uint64_t rs_slice_va(const struct tl *tl, uint32_t slice)
{
    return tl_args(tl)->tensor + (uint64_t)slice * rs_slice_bytes(tl);
}

struct lp_operand rs_slice(const struct tl *tl, uint32_t slice)
{
    return tl_hbm((uint32_t)tl_args(tl)->tensor_pa + slice * rs_slice_bytes(tl));
}

static uint32_t slot_at(const struct tl *tl, uint32_t slot)
{
    return slot * (uint32_t)tl_args(tl)->scalar[RS_SLOT_STRIDE];
}

uint64_t rs_slot_va(const struct tl *tl, uint32_t slot)
{
    return tl_args(tl)->region[1].va + slot_at(tl, slot);
}

struct lp_operand rs_slot(const struct tl *tl, uint32_t slot)
{
    return tl_hbm((uint32_t)tl_args(tl)->region[1].pa + slot_at(tl, slot));
}

uint64_t rs_output_va(const struct tl *tl) { return tl_args(tl)->region[0].va; }
struct lp_operand rs_output(const struct tl *tl)
{
    return tl_hbm((uint32_t)tl_args(tl)->region[0].pa);
}

/* ---- an exchange ----------------------------------------------------------------------------- */

static void put_slice(struct tl *tl, const struct rs_put *put)
{
    const uint32_t to = rs_pe_on(tl, put->to), bytes = rs_slice_bytes(tl);
    if (put->reduce)
        tl_put_reduce(tl, to, (enum lp_math)tl_args(tl)->math, put->dst, put->src, bytes);
    else
        tl_put(tl, to, put->dst, put->src, bytes);
}

enum tl_status rs_exchange(struct tl *tl, struct rs_frame *f, const struct rs_put *put)
{
    TL_BEGIN(&f->part);
    TL_CALL(&f->part, tl_notify(tl, rs_pe_on(tl, put->from), RS_READY));
    TL_CALL(&f->part, tl_wait_notify(tl, rs_pe_on(tl, put->to), RS_READY));
    TL_CALL(&f->part, put_slice(tl, put));
    TL_CALL(&f->part, tl_notify(tl, rs_pe_on(tl, put->to), RS_DATA));
    TL_CALL(&f->part, tl_wait_notify(tl, rs_pe_on(tl, put->from), RS_DATA));
    TL_END(&f->part);
}

/* ---- the final reduction --------------------------------------------------------------------- */

uint32_t rs_full_piece_bytes(const struct tl *tl)
{
    return tl_tile_elems(tl) * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

static uint32_t piece_bytes_left(const struct tl *tl, const struct rs_frame *f)
{
    const uint32_t left = rs_slice_bytes(tl) - f->done, full = rs_full_piece_bytes(tl);
    return left < full ? left : full;
}

void rs_load_piece(struct tl *tl, const struct rs_frame *f, uint32_t piece, uint64_t va)
{
    tl_load(tl, piece * piece_bytes_left(tl, f), va + f->done, piece_bytes_left(tl, f));
}

void rs_store_piece(struct tl *tl, const struct rs_frame *f, uint64_t va)
{
    tl_store(tl, va + f->done, tl_tcm(0), piece_bytes_left(tl, f));
}

void rs_add_pieces(struct tl *tl, const struct rs_frame *f, uint32_t dst, uint32_t a, uint32_t b)
{
    const uint32_t bytes = piece_bytes_left(tl, f);
    tl_math(tl, (enum lp_math)tl_args(tl)->math, dst * bytes, tl_tcm(a * bytes), tl_tcm(b * bytes),
            bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
}

static enum tl_status reduce_piece(struct tl *tl, struct rs_frame *f, uint32_t n,
                                   uint64_t (*partial)(const struct tl *tl, uint32_t k))
{
    TL_BEGIN(&f->leaf);
    for (f->i = 0; f->i < n; f->i++)
        TL_CALL(&f->leaf, rs_load_piece(tl, f, f->i, partial(tl, f->i)));
    for (f->s = 1; f->s < n; f->s *= 2)
        for (f->i = f->s; f->i < n; f->i += 2 * f->s)
            TL_CALL(&f->leaf, rs_add_pieces(tl, f, f->i - f->s, f->i - f->s, f->i));
    TL_END(&f->leaf);
}

enum tl_status rs_reduce_partials(struct tl *tl, struct rs_frame *f, uint32_t n,
                                  uint64_t (*partial)(const struct tl *tl, uint32_t k),
                                  uint64_t out)
{
    TL_BEGIN(&f->part);
    for (f->done = 0; f->done < rs_slice_bytes(tl); f->done += rs_full_piece_bytes(tl)) {
        TL_RUN(&f->part, reduce_piece(tl, f, n, partial));
        TL_CALL(&f->part, rs_store_piece(tl, f, out));
    }
    TL_END(&f->part);
}
