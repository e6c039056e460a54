/*
 * tl_arguments.c: see tl_arguments.h. Here are the checks that few calls come to, and the refusals.
 * Handlers only.
 */
#include "lp/kernel/tl_arguments.h"

#include "lp/kernel/tl_rings.h"
#include "lp/queues/queue_ends.h"

/* The bytes of a memory; 0: this is no memory. */
static uint64_t memory_bytes(const struct tl *tl, uint8_t space)
{
    const struct hw_config *hw = &tl->run->m->hw;
    return space == LP_SPACE_TCM    ? hw->tcm_bytes
           : space == LP_SPACE_HBM  ? hw->hbm_bytes
           : space == LP_SPACE_SRAM ? hw->sram_bytes
                                    : 0;
}

static __attribute__((noinline, cold)) void fail_range(struct tl *tl, enum tl_call_kind kind,
                                                       struct lp_operand at, uint64_t bytes)
{
    const uint64_t size = memory_bytes(tl, at.space);
    if (size == 0)
        tl_fail(tl, "",
                ": %s of %llu bytes at a place in no memory (space %u); legal: tl_tcm(), "
                "tl_hbm(), tl_sram()",
                tl_call_ops[kind].name, (unsigned long long)bytes, at.space);
    tl_fail(tl, "", ": %s of %llu bytes at offset %u of %s, which has %llu", tl_call_ops[kind].name,
            (unsigned long long)bytes, at.at,
            at.space == LP_SPACE_TCM   ? "TCM"
            : at.space == LP_SPACE_HBM ? "HBM slice"
                                       : "SRAM",
            (unsigned long long)size);
}

void tl_check_place(struct tl *tl, enum tl_call_kind kind, uint32_t pe_index, struct lp_operand at,
                    uint64_t bytes)
{
    if (at.at + bytes > memory_bytes(tl, at.space)) /* bytes < 2^41 */
        fail_range(tl, kind, at, bytes);
    tl_check_rings(tl, kind, pe_index, at, bytes);
}

void tl_check_each_tile(struct tl *tl, enum tl_call_kind kind, struct lp_operand tile,
                        uint64_t bytes)
{
    if (!tl_installed(tl, (enum hw_dir)tile.dir))
        tl_fail(tl, "", ": %s of a tile of direction %u, which is not installed there",
                tl_call_ops[kind].name, tile.dir);
    uint32_t tiles = 1;
    if (bytes > (tl_slot_bytes(tl) & ~3u)) { /* a full tile may have up to 3 bytes more */
        const uint32_t full = tl_full_tile_bytes(tl);
        tiles = bytes > full ? (uint32_t)((bytes + full - 1) / full) : 1;
    }
    while (tiles > 0 && tl_has_received(tl, (enum hw_dir)tile.dir, tile.at + tiles - 1))
        tiles--;
    if (tiles == 0)
        return;
    tl_fail(tl, "", ": %s of %llu bytes of tile %u of direction %s, which has received %u tiles",
            tl_call_ops[kind].name, (unsigned long long)bytes, tile.at,
            lp_dir_name(lp_plan_at(tl->run->m, tl->p), lp_pe_index(tl->run, tl->pe),
                        (enum hw_dir)tile.dir),
            tl->p->queue[tile.dir].my_tail);
}

void tl_check_math(struct tl *tl, enum tl_call_kind kind, uint32_t math)
{
    if (math < LP_MATH_SUM || math > LP_MATH_PROD)
        tl_fail(tl, "", ": %s with operation %u; legal: %d (sum) to %d (prod)",
                tl_call_ops[kind].name, math, LP_MATH_SUM, LP_MATH_PROD);
}

void tl_check_cast_type(struct tl *tl, const char *which, uint32_t dtype)
{
    if (dtype < LP_F16 || dtype > LP_F32)
        tl_fail(tl, "", ": cast %s type %u; legal: %d (f16) to %d (f32)", which, dtype, LP_F16,
                LP_F32);
}

void tl_check_dot_shape(struct tl *tl, uint32_t m, uint32_t n, uint32_t k)
{
    const uint32_t most = 1u << 20;
    if (m == 0 || n == 0 || k == 0 || m > most || n > most || k > most)
        tl_fail(tl, "", ": dot of %u x %u elements, inner dimension %u; legal: 1 to %u each", m, n,
                k, most);
}

void tl_check_tag(struct tl *tl, enum tl_call_kind kind, uint32_t tag)
{
    if (tag >= TL_TAGS)
        tl_fail(tl, "", ": %s with tag %u; there are 0 to %d", tl_call_ops[kind].name, tag,
                TL_TAGS - 1);
}

void tl_check_in_kernel(struct tl *tl, const char *call)
{
    if (tl->context != 0)
        tl_fail(tl, "", ": %s in a stream; only the kernel itself %ss", call, call);
}
