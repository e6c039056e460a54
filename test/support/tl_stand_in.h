/*
 * tl_stand_in.h: what the runtimes that stand in for lp/kernel/tl*.c in tests (mock_tl.h,
 * rehearse_tl.h) do alike: queries that follow from others, calls that are short for others, and
 * the calls that neither has, which fail the test. Each of them includes it once.
 */
#ifndef TEST_TL_STAND_IN_H
#define TEST_TL_STAND_IN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lp/kernel/tl.h"

/* ---- queries --------------------------------------------------------------------------------- */

uint64_t tl_shard(const struct tl *tl) { return tl_args(tl)->tensor; }
uint32_t tl_tile_elems(const struct tl *tl)
{
    return tl_slot_bytes(tl) / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}
uint32_t tl_tiles(const struct tl *tl)
{
    return (uint32_t)((tl_args(tl)->n_elem + tl_tile_elems(tl) - 1) / tl_tile_elems(tl));
}
uint32_t tl_tile_bytes(const struct tl *tl, uint32_t tile)
{
    const uint64_t left = tl_args(tl)->n_elem - (uint64_t)tile * tl_tile_elems(tl);
    return (uint32_t)(left < tl_tile_elems(tl) ? left : tl_tile_elems(tl)) *
           tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

/* ---- calls that are short for others, and hints ---------------------------------------------- */

void tl_send_bytes(struct tl *tl, enum hw_dir dir, struct lp_operand src, uint32_t bytes)
{
    tl_send_tile(tl, dir, src, (struct tl_tile){.bytes = bytes});
}
void tl_recv_bytes(struct tl *tl, enum hw_dir dir, uint32_t bytes)
{
    tl_recv_tile(tl, dir, (struct tl_tile){.bytes = bytes});
}
void tl_pieces(struct tl *tl, uint32_t tiles) { (void)tl, (void)tiles; }

/* ---- calls that are not there ---------------------------------------------------------------- */

static inline void stand_in_lacks(const struct tl *tl, const char *call)
{
    (void)tl;
    fail_msg("the runtime that stands in has no %s", call);
}
void tl_give(struct tl *tl, enum hw_dir dir, struct lp_operand src, uint32_t bytes, bool wants)
{
    (void)dir, (void)src, (void)bytes, (void)wants, stand_in_lacks(tl, "give");
}
void tl_recv_async_tile(struct tl *tl, enum hw_dir dir, struct tl_tile tile)
{
    (void)dir, (void)tile, stand_in_lacks(tl, "recv_async");
}
void tl_recv_into_tile(struct tl *tl, enum hw_dir dir, struct lp_operand dst, struct tl_tile tile)
{
    (void)dir, (void)dst, (void)tile, stand_in_lacks(tl, "recv_into");
}
void tl_recv_any_into_tile(struct tl *tl, struct lp_operand dst, struct tl_tile tile)
{
    (void)dst, (void)tile, stand_in_lacks(tl, "recv_any_into");
}
struct tl_future tl_future(const struct tl *tl)
{
    stand_in_lacks(tl, "future");
    return (struct tl_future){0};
}
void tl_wait(struct tl *tl, struct tl_future future) { (void)future, stand_in_lacks(tl, "wait"); }
void tl_cast(struct tl *tl, uint32_t dst, struct lp_operand a, enum lp_dtype from, enum lp_dtype to,
             uint32_t elements)
{
    (void)dst, (void)a, (void)from, (void)to, (void)elements, stand_in_lacks(tl, "cast");
}
void tl_dot(struct tl *tl, uint32_t dst, struct lp_operand a, struct lp_operand b, uint32_t m,
            uint32_t n, uint32_t k, uint8_t sums)
{
    (void)dst, (void)a, (void)b, (void)m, (void)n, (void)k, (void)sums, stand_in_lacks(tl, "dot");
}
void tl_work(struct tl *tl, enum tl_block block, int64_t ps)
{
    (void)block, (void)ps, stand_in_lacks(tl, "work");
}
void tl_work_async(struct tl *tl, enum tl_block block, int64_t ps)
{
    (void)block, (void)ps, stand_in_lacks(tl, "work_async");
}
struct tl_begun tl_begun(const struct tl *tl)
{
    stand_in_lacks(tl, "begun");
    return (struct tl_begun){0};
}
void tl_wait_work(struct tl *tl, struct tl_begun begun)
{
    (void)begun, stand_in_lacks(tl, "wait_work");
}

#endif
