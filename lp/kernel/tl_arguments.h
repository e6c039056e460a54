/*
 * tl_arguments.h: checks of the arguments of a kernel's calls. Each fails the event, with the call
 * and the values that are legal. The usual case of an operand is inline: it is in TCM outside of
 * the rings, or is a tile that has been received. Handlers only.
 */
#ifndef LP_TL_ARGUMENTS_H
#define LP_TL_ARGUMENTS_H

#include "lp/kernel/tl_call.h"
#include "lp/kernel/tl_compute.h"
#include "lp/kernel/tl_queue.h"

/*
 * The receive rings belong to the hardware: no operand of a kernel, and no place that its put or
 * raw store writes, is among them. Fails the event if these bytes in memories of PE `pe_index`
 * (global), or in its cube's SRAM, meet a ring.
 */
void tl_check_rings(struct tl *tl, enum tl_call_kind kind, uint32_t pe_index, struct lp_operand at,
                    uint64_t bytes);
/* A place in memories of PE `pe_index` (global), or of its cube: inside the memory and outside of
 * all rings. */
void tl_check_place(struct tl *tl, enum tl_call_kind kind, uint32_t pe_index, struct lp_operand at,
                    uint64_t bytes);
/* The tiles from this one on, `bytes` in all, one per slot: received from an installed direction.
 */
void tl_check_each_tile(struct tl *tl, enum tl_call_kind kind, struct lp_operand tile,
                        uint64_t bytes);

static inline bool tl_in_free_tcm(const struct tl *tl, struct lp_operand at, uint64_t bytes)
{
    return __builtin_expect(
        at.space == LP_SPACE_TCM && at.at + bytes <= tl->view->m->tcm_queue_bytes, 1);
}

/* A place in a memory that this PE reads or writes. */
static inline void tl_check_range(struct tl *tl, enum tl_call_kind kind, struct lp_operand at,
                                  uint64_t bytes)
{
    if (!tl_in_free_tcm(tl, at, bytes))
        tl_check_place(tl, kind, lp_pe_index(tl->view, tl->pe), at, bytes);
}

/* A place in TCM that this PE writes: results of casts there are forgotten. */
static inline void tl_check_written(struct tl *tl, enum tl_call_kind kind, uint32_t tcm,
                                    uint64_t bytes)
{
    tl_check_range(tl, kind, tl_tcm(tcm), bytes);
    if (__builtin_expect(tl->kernel->casts.dtype[0] != 0, 0))
        tl_note_write(tl, tcm, bytes);
}

/* A place at another PE that one of this PE's operations writes. */
static inline void tl_check_range_at(struct tl *tl, enum tl_call_kind kind, uint32_t peer,
                                     struct lp_operand at, uint64_t bytes)
{
    if (!tl_in_free_tcm(tl, at, bytes))
        tl_check_place(tl, kind, peer, at, bytes);
}

/* Most sources are one tile, which has been received. */
static inline void tl_check_tiles(struct tl *tl, enum tl_call_kind kind, struct lp_operand tile,
                                  uint64_t bytes)
{
    const struct lp_pe *const p = tl->p;
    if (__builtin_expect(!tl_has_queue(tl, (enum hw_dir)tile.dir) ||
                             tile.at >= p->queue[tile.dir].my_tail ||
                             bytes > (tl_slot_bytes(tl) & ~3u),
                         0))
        tl_check_each_tile(tl, kind, tile, bytes);
}

static inline void tl_check_source(struct tl *tl, enum tl_call_kind kind, struct lp_operand at,
                                   uint64_t bytes)
{
    if (at.space == LP_SPACE_TILE)
        tl_check_tiles(tl, kind, at, bytes);
    else
        tl_check_range(tl, kind, at, bytes);
}

void tl_check_math(struct tl *tl, enum tl_call_kind kind, uint32_t math);
void tl_check_cast_type(struct tl *tl, const char *which, uint32_t dtype);
/* No dimension is 0, or so large that sizes overflow. */
void tl_check_dot_shape(struct tl *tl, uint32_t m, uint32_t n, uint32_t k);
void tl_check_dot_sums(struct tl *tl, uint8_t sums);
void tl_check_tag(struct tl *tl, enum tl_call_kind kind, uint32_t tag);
/* The call is made by the kernel itself, not by a stream. */
void tl_check_in_kernel(struct tl *tl, const char *call);

#endif
