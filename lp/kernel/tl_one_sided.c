/*
 * tl_one_sided.c: the kernel calls that write into another PE's memories, and notify it, without
 * its help (30-ipcq.md, "Kernel API"). What arrives is one_sided.c's. Runs in handlers only.
 */
#include "lp/kernel/tl_call.h"

#include "lp/queues/one_sided.h"

/* ---- starting ----------------------------------------------------------------------------------
 */

static struct lp_call *start_to(struct tl *tl, enum tl_call_kind kind, uint32_t peer,
                                uint32_t bytes)
{
    const struct lp_model *m = tl->run->m;
    struct lp_call *call = tl_start(tl, kind, bytes);
    call->peer = peer;
    if (peer >= m->hw.sip_count * m->cubes * m->pes)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: %s to PE %u, which does not exist; there are 0 to %u",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name,
                tl_call_ops[kind].name, peer, m->hw.sip_count * m->cubes * m->pes - 1);
    return call;
}

void tl_check_range(struct tl *tl, enum tl_call_kind kind, struct lp_operand at, uint64_t bytes)
{
    const struct hw_config *hw = &tl->run->m->hw;
    const char *const name = at.space == LP_SPACE_TCM    ? "TCM"
                             : at.space == LP_SPACE_HBM  ? "HBM slice"
                             : at.space == LP_SPACE_SRAM ? "SRAM"
                                                         : NULL;
    const uint64_t size = at.space == LP_SPACE_TCM   ? hw->tcm_bytes
                          : at.space == LP_SPACE_HBM ? hw->hbm_bytes
                                                     : hw->sram_bytes;
    if (name != NULL && (at.at > size || bytes > size - at.at))
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: %s of %llu bytes at offset %u of %s, which has %llu",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name,
                tl_call_ops[kind].name, (unsigned long long)bytes, at.at, name,
                (unsigned long long)size);
}

static void start_put(struct tl *tl, uint32_t peer, uint8_t math, struct lp_operand dst,
                      struct lp_operand src, uint32_t bytes)
{
    struct lp_call *call = start_to(tl, CALL_PUT, peer, bytes);
    tl_check_range(tl, CALL_PUT, dst, bytes);
    tl_check_range(tl, CALL_PUT, src, bytes);
    call->math = math;
    call->a = src;
    call->dst = dst;
}

void tl_put(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
            uint32_t bytes)
{
    start_put(tl, peer, 0, dst, src, bytes);
}

void tl_put_reduce(struct tl *tl, uint32_t peer, enum lp_math math, struct lp_operand dst,
                   struct lp_operand src, uint32_t bytes)
{
    tl_check_math(tl, CALL_PUT, math);
    start_put(tl, peer, (uint8_t)math, dst, src, bytes);
}

static void check_tag(struct tl *tl, enum tl_call_kind kind, uint32_t tag)
{
    if (tag >= TL_TAGS)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: %s with tag %u; there are 0 to %d", tl->run->sip,
                tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, tl_call_ops[kind].name, tag,
                TL_TAGS - 1);
}

void tl_notify(struct tl *tl, uint32_t peer, uint32_t tag)
{
    check_tag(tl, CALL_NOTIFY, tag);
    start_to(tl, CALL_NOTIFY, peer, LP_NOTIFY_BYTES)->tag = (uint8_t)tag;
}

void tl_wait_notify(struct tl *tl, uint32_t peer, uint32_t tag)
{
    check_tag(tl, CALL_WAIT_NOTIFY, tag);
    start_to(tl, CALL_WAIT_NOTIFY, peer, 0)->tag = (uint8_t)tag;
}

/* ---- effects -----------------------------------------------------------------------------------
 */

static uint8_t tl_one_sided_memory_of(struct lp_operand operand)
{
    return operand.space == LP_SPACE_SRAM  ? HW_MEMORY_SRAM
           : operand.space == LP_SPACE_HBM ? HW_MEMORY_HBM
                                           : HW_MEMORY_TCM;
}

static void check_peers(struct tl *tl)
{
    if (tl->run->m->config.peers == 0)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: %s, but the algorithm declares no peers for one-sided "
                "operations",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name,
                tl_call_ops[tl->kernel->call.kind].name);
}

/* A put or a notification takes its place in the channel, or waits for one. */
static bool tl_one_sided_push(struct tl *tl, struct hw_dma_op op)
{
    const enum hw_vc vc = lp_vc(tl->run->m, HW_VC_COMM);
    if (!lp_dma_has_room(tl->run, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return false;
    }
    op.number = tl_next_number(tl);
    lp_dma_push(tl->run, tl->pe, vc, op);
    tl->kernel->call.step = STEP_DONE;
    return true;
}

void tl_effect_put(struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    check_peers(tl);
    if (!tl_one_sided_push(
            tl, (struct hw_dma_op){.bytes = call->bytes,
                                   .seq = call->peer,
                                   .kind = LP_DMA_PUT,
                                   .dir = call->math,
                                   .memory = (uint8_t)(tl_one_sided_memory_of(call->a) |
                                                       tl_one_sided_memory_of(call->dst) << 4),
                                   .slice = (uint8_t)tl->pe}))
        return;
    const uint32_t seq = (*CW_MUT(tl->run->ctx, &lp_one_sided(tl->run->m, tl->p)->puts_issued))++;
    TL_EMIT_OP(tl, .kind = LP_OP_PUT, .math = call->math, .bytes = call->bytes, .seq = seq,
               .peer = call->peer, .a = call->a, .dst = call->dst);
}

void tl_effect_notify(struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    check_peers(tl);
    if (!tl_one_sided_push(tl, (struct hw_dma_op){.bytes = LP_NOTIFY_BYTES,
                                                  .seq = call->peer,
                                                  .kind = LP_DMA_NOTIFY,
                                                  .dir = call->tag}))
        return;
    const uint32_t seq =
        (*CW_MUT(tl->run->ctx, &lp_one_sided(tl->run->m, tl->p)->notifies_issued))++;
    TL_EMIT_OP(tl, .kind = LP_OP_NOTIFY, .dir = call->tag, .bytes = LP_NOTIFY_BYTES, .seq = seq,
               .peer = call->peer);
}

void tl_effect_wait_notify(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    check_peers(tl);
    const struct lp_peer *peer = lp_peer_of(tl->run, tl->pe, call->peer);
    if (peer->pending[call->tag] == 0) {
        tl_wait_for(tl, LP_WAIT_NOTIFY);
        return;
    }
    CW_MUT(tl->run->ctx, peer)->pending[call->tag]--;
    TL_EMIT_OP(tl, .kind = LP_OP_WAIT_NOTIFY, .dir = call->tag, .peer = call->peer);
    call->step = STEP_DONE;
}
