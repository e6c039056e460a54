/*
 * tl_rings.c: see tl_rings.h. lp_model.rings tells at a glance that no ring is near; else each ring
 * is looked at. Runs in handlers only.
 */
#include "lp/kernel/tl_rings.h"

#include "lp/queues/queue_ends.h"

static _Noreturn __attribute__((cold)) void fail_in_ring(struct tl *tl, enum tl_call_kind kind,
                                                         uint32_t pe_index, struct lp_operand at,
                                                         uint64_t bytes, enum hw_dir dir)
{
    const struct lp_model *const m = tl->run->m;
    const struct lp_endpoint ring = lp_endpoint_of(m->named, pe_index, dir);
    const bool tcm = ring.buffer_kind == HW_MEMORY_TCM;
    tl_fail(tl, "",
            ": %s of %llu bytes at offset %u of the %s of PE %u.%u.%u, whose receive ring of "
            "direction %s is there (%u to %llu); legal: %s %llu",
            tl_call_ops[kind].name, (unsigned long long)bytes, at.at,
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
    const struct lp_plan *const plan = tl->run->m->named;
    const bool own = pe_index == lp_pe_index(tl->run, tl->pe);
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
    const struct lp_model *const m = tl->run->m;
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
