/*
 * tl_arguments.c: refuses arguments of kernels' calls: places outside of a memory or in a receive
 * ring, tiles that have not been received, values that do not exist. The usual case of an operand
 * is checked inline (tl_arguments.h). Handlers only.
 */
#include "lp/kernel/tl_arguments.h"

#include "lp/queues/queue_ends.h"

/* The bytes of a memory; 0: not a memory. */
static uint64_t memory_bytes(const struct tl *tl, uint8_t space)
{
    const struct lp_model *const m = tl->view->m;
    const struct hw_config *const hw = &m->hw;
    return space == LP_SPACE_TCM    ? m->needs.queues == 1 ? hw->tcm_bytes : m->tcm_queue_bytes
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
                tl_call_name[kind], (unsigned long long)bytes, at.space);
    tl_fail(tl, "", ": %s of %llu bytes at offset %u of %s, which has %llu", tl_call_name[kind],
            (unsigned long long)bytes, at.at,
            at.space == LP_SPACE_HBM         ? "HBM slice"
            : at.space == LP_SPACE_SRAM      ? "SRAM"
            : tl->view->m->needs.queues == 1 ? "TCM"
                                             : "its queue's share of TCM",
            (unsigned long long)size);
}

/* ---- receive rings --------------------------------------------------------------------------- */

static _Noreturn __attribute__((cold)) void fail_in_ring(struct tl *tl, enum tl_call_kind kind,
                                                         uint32_t pe_index, struct lp_operand at,
                                                         uint64_t bytes, enum hw_dir dir)
{
    const struct lp_model *const m = tl->view->m;
    const struct lp_endpoint ring = lp_endpoint_of(m->named, pe_index, dir);
    const bool tcm = ring.buffer_kind == HW_MEMORY_TCM;
    tl_fail(tl, "",
            ": %s of %llu bytes at offset %u of the %s of PE %u.%u.%u, whose receive ring of "
            "direction %s is there (%u to %llu); legal: %s %llu",
            tl_call_name[kind], (unsigned long long)bytes, at.at,
            tcm                                 ? "TCM"
            : ring.buffer_kind == HW_MEMORY_HBM ? "HBM slice"
                                                : "SRAM",
            ring.place.sip, ring.place.cube, ring.place.pe, lp_dir_name(m->named, pe_index, dir),
            ring.rx_base_offset,
            (unsigned long long)ring.rx_base_offset + (uint64_t)ring.n_slots * ring.slot_size,
            tcm ? "below" : "from", (unsigned long long)(tcm ? m->rings.start : m->rings.end));
}

static void check_rings_of(struct tl *tl, enum tl_call_kind kind, uint32_t pe_index,
                           struct lp_operand at, uint64_t bytes)
{
    const struct lp_plan *const plan = tl->view->m->named;
    const bool own = pe_index == lp_pe_index(tl->view, tl->pe);
    for (uint32_t dirs = own ? tl->p->installed : lp_directions(plan, pe_index); dirs != 0;
         dirs &= dirs - 1) {
        const enum hw_dir dir = (enum hw_dir)__builtin_ctz(dirs);
        const struct lp_endpoint ring = lp_endpoint_of(plan, pe_index, dir);
        const uint64_t end = ring.rx_base_offset + (uint64_t)ring.n_slots * ring.slot_size;
        if (lp_queue_goes(plan, pe_index, dir, false) && at.at < end &&
            at.at + bytes > ring.rx_base_offset)
            fail_in_ring(tl, kind, pe_index, at, bytes, dir);
    }
}

void tl_check_rings(struct tl *tl, enum tl_call_kind kind, uint32_t pe_index, struct lp_operand at,
                    uint64_t bytes)
{
    const struct lp_model *const m = tl->view->m;
    if (at.at >= m->rings.end || at.at + bytes <= m->rings.start || bytes == 0 ||
        tl_memory_of(at) != m->config.slots || pe_index >= hw_pe_count(&m->hw))
        return;
    if (m->config.slots != HW_MEMORY_SRAM) {
        check_rings_of(tl, kind, pe_index, at, bytes);
        return;
    }
    const uint32_t first = pe_index - pe_index % m->pes;
    for (uint32_t pe = first; pe < first + m->pes; pe++)
        check_rings_of(tl, kind, pe, at, bytes);
}

/* ---- operands -------------------------------------------------------------------------------- */

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
    if (!tl_has_queue(tl, (enum hw_dir)tile.dir))
        tl_fail(tl, "", ": %s of a tile of direction %u, which is not installed there",
                tl_call_name[kind], tile.dir);
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
            tl_call_name[kind], (unsigned long long)bytes, tile.at,
            lp_dir_name(lp_plan_at(tl->view->m, tl->p), lp_pe_index(tl->view, tl->pe),
                        (enum hw_dir)tile.dir),
            tl->p->queue[tile.dir].my_tail);
}

void tl_check_math(struct tl *tl, enum tl_call_kind kind, uint32_t math)
{
    if (math < LP_MATH_SUM || math > LP_MATH_PROD)
        tl_fail(tl, "", ": %s with operation %u; legal: %d (sum) to %d (prod)", tl_call_name[kind],
                math, LP_MATH_SUM, LP_MATH_PROD);
}

void tl_check_cast_type(struct tl *tl, const char *which, uint32_t dtype)
{
    if (!lp_dtype_is_known(dtype))
        tl_fail(tl, "", ": cast %s type %u; legal: %d (f16) to %d (int32)", which, dtype, LP_F16,
                LP_INT32);
}

void tl_check_dot_shape(struct tl *tl, uint32_t m, uint32_t n, uint32_t k)
{
    const uint32_t most = 1u << 20;
    if (m == 0 || n == 0 || k == 0 || m > most || n > most || k > most)
        tl_fail(tl, "", ": dot of %u x %u elements, inner dimension %u; legal: 1 to %u each", m, n,
                k, most);
}

void tl_check_dot_sums(struct tl *tl, uint8_t sums)
{
    const enum lp_dtype dtype = (enum lp_dtype)tl_args(tl)->dtype;
    if (sums > (TL_SUMS_FROM_F32 | TL_SUMS_TO_F32) || ((sums & TL_SUMS_ADD) && sums != TL_SUMS_ADD))
        tl_fail(tl, "",
                ": dot with sums %u; legal: 0 (new), 1 (add), 2 (from f32), 4 (to f32), 6 "
                "(from and to f32)",
                sums);
    if (sums >= TL_SUMS_FROM_F32 && (dtype == LP_F64 || dtype == LP_INT8 || dtype == LP_INT32))
        tl_fail(tl, "", ": dot with sums in f32 of another type than f16, bf16, f32 or fp8");
}

void tl_check_tag(struct tl *tl, enum tl_call_kind kind, uint32_t tag)
{
    if (tag >= TL_TAGS)
        tl_fail(tl, "", ": %s with tag %u; there are 0 to %d", tl_call_name[kind], tag,
                TL_TAGS - 1);
}

void tl_check_in_kernel(struct tl *tl, const char *call)
{
    if (tl->kernel->stream != 0)
        tl_fail(tl, "", ": %s in a stream; only the kernel itself %ss", call, call);
}
