/*
 * tl_memory.c: the kernel calls that move data between memories of a PE and its cube (load, store,
 * copy), and a raw store into another PE's memory (20-hardware.md, "Loads and stores" and "Blocks
 * of a PE"; 30-ipcq.md). What PE_DMA then does is in pe_dma.c. Runs in handlers only.
 */
#include "lp/kernel/tl_call.h"

/* The range of the PE's mapped memory that begins at or before `va`: its shard of the tensor, then
 * the regions. False: none. */
static bool find_range(const struct tl *tl, uint64_t va, struct tl_region *found)
{
    const struct tl_args *args = tl_args(tl);
    const uint64_t page = tl->run->m->hw.mmu_page_bytes;
    struct tl_region range[1 + TL_REGIONS] = {{tl_shard(tl), args->tensor_pa, args->shard_bytes}};
    for (uint32_t i = 0; i < TL_REGIONS; i++)
        range[1 + i] = args->region[i];
    for (uint32_t i = 0; i < 1 + TL_REGIONS; i++) {
        range[i].bytes = (range[i].bytes + page - 1) / page * page;
        if (va >= range[i].va && va - range[i].va < range[i].bytes) {
            *found = range[i];
            return true;
        }
    }
    return false;
}

static void page_fault(struct tl *tl, enum tl_call_kind kind, uint64_t va, uint32_t bytes)
{
    const struct tl_args *args = tl_args(tl);
    const uint64_t shard = tl_shard(tl);
    cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
            "page fault: PE %u.%u.%u, kernel %s: %s of %u bytes at address 0x%llx, which is not "
            "mapped there (its shard is 0x%llx to 0x%llx)",
            tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name,
            tl_call_ops[kind].name, bytes, (unsigned long long)va, (unsigned long long)shard,
            (unsigned long long)(shard + args->shard_bytes));
}

/* PE_MMU: virtual to physical. The SRAM is mapped as a whole. */
static struct lp_operand translate(struct tl *tl, enum tl_call_kind kind, uint64_t va,
                                   uint32_t bytes)
{
    struct tl_region range;
    const uint64_t sram = va - tl_sram_va(0);
    if (va >= tl_sram_va(0) && sram < tl->run->m->hw.sram_bytes &&
        bytes <= tl->run->m->hw.sram_bytes - sram)
        return tl_sram((uint32_t)sram);
    if (!find_range(tl, va, &range) || bytes > range.bytes - (va - range.va))
        page_fault(tl, kind, va, bytes);
    return tl_hbm((uint32_t)(range.pa + (va - range.va)));
}

static uint8_t tl_memory_memory_of(struct lp_operand operand)
{
    return operand.space == LP_SPACE_SRAM  ? HW_MEMORY_SRAM
           : operand.space == LP_SPACE_HBM ? HW_MEMORY_HBM
                                           : HW_MEMORY_TCM;
}

/* ---- starting ----------------------------------------------------------------------------------
 */

/* The move that a handle names. */
static uint32_t move_of(struct tl *tl, enum tl_call_kind kind, uint32_t handle)
{
    if (handle >= TL_HANDLES)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: %s with handle %u; there are 0 to %u", tl->run->sip,
                tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, tl_call_ops[kind].name,
                handle, TL_HANDLES - 1);
    return handle + 1;
}

/* `move`: 0, or that of a handle. */
static struct lp_call *start_move(struct tl *tl, enum tl_call_kind kind, uint32_t bytes,
                                  uint32_t move)
{
    struct lp_call *call = tl_start(tl, kind, bytes);
    call->move = (uint8_t)move;
    call->slice = (uint8_t)tl->pe;
    return call;
}

static void start_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes, uint32_t move)
{
    struct lp_call *call = start_move(tl, CALL_LOAD, bytes, move);
    call->a = translate(tl, CALL_LOAD, va, bytes);
    call->dst = tl_tcm(tcm);
    call->memory = tl_memory_memory_of(call->a);
}

static void start_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes,
                        uint32_t move)
{
    struct lp_call *call = start_move(tl, CALL_STORE, bytes, move);
    call->a = src;
    call->dst = translate(tl, CALL_STORE, va, bytes);
    call->memory = tl_memory_memory_of(call->dst);
}

static void start_copy(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes,
                       uint32_t move)
{
    struct lp_call *call = start_move(tl, CALL_COPY, bytes, move);
    call->a = translate(tl, CALL_COPY, src_va, bytes);
    call->dst = translate(tl, CALL_COPY, dst_va, bytes);
    call->memory = (uint8_t)(tl_memory_memory_of(call->a) | tl_memory_memory_of(call->dst) << 4);
}

void tl_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes)
{
    start_load(tl, tcm, va, bytes, 0);
}
void tl_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes)
{
    start_store(tl, va, src, bytes, 0);
}
void tl_copy(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes)
{
    start_copy(tl, dst_va, src_va, bytes, 0);
}
void tl_load_async(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes, uint32_t handle)
{
    start_load(tl, tcm, va, bytes, move_of(tl, CALL_LOAD, handle));
}
void tl_store_async(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes,
                    uint32_t handle)
{
    start_store(tl, va, src, bytes, move_of(tl, CALL_STORE, handle));
}
void tl_copy_async(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes, uint32_t handle)
{
    start_copy(tl, dst_va, src_va, bytes, move_of(tl, CALL_COPY, handle));
}
void tl_wait_dma(struct tl *tl, uint32_t handle)
{
    (void)start_move(tl, CALL_WAIT_DMA, 0, move_of(tl, CALL_WAIT_DMA, handle));
}

void tl_store_to(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                 uint32_t bytes)
{
    struct lp_call *call = start_move(tl, CALL_STORE_TO, bytes, 0);
    tl_check_range(tl, CALL_STORE_TO, dst, bytes);
    call->peer = peer;
    call->a = src;
    call->dst = dst;
    call->memory = tl_memory_memory_of(dst);
}

/* ---- effects -----------------------------------------------------------------------------------
 */

/* A run of received tiles is several values, a record each. */
static void emit_moves(struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    if (!tl->run->m->emit.ops)
        return;
    const uint32_t full = tl_full_tile_bytes(tl);
    const bool tiles = call->a.space == LP_SPACE_TILE;
    const uint8_t kind = call->kind == CALL_LOAD   ? LP_OP_LOAD
                         : call->kind == CALL_COPY ? LP_OP_COPY
                                                   : LP_OP_STORE;
    for (uint32_t done = 0; done < call->bytes;) {
        const uint32_t left = call->bytes - done;
        struct lp_op record = {.kind = kind,
                               .bytes = tiles && left > full ? full : left,
                               .a = call->a,
                               .dst = call->dst};
        record.a.at += tiles ? done / full : done;
        record.dst.at += done;
        tl_emit_op(tl, &record);
        done += record.bytes;
    }
}

/* An operation enters PE_DMA; the kernel waits for it, or goes on. */
static void effect_move(struct tl *tl, enum lp_dma_kind kind)
{
    struct lp_call *call = &tl->kernel->call;
    const enum hw_vc vc = lp_vc(tl->run->m, HW_VC_COMPUTE);
    const struct lp_context *c = lp_context(tl->run->m, tl->p, tl->context);
    if (c->move[call->move].state != LP_MOVE_FREE)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: %s with handle %u, whose last operation has not been "
                "waited for (wait_dma)",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name,
                tl_call_ops[call->kind].name, call->move - 1u);
    if (!lp_dma_has_room(tl->run, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return;
    }
    const struct hw_dma_op op = {.bytes = call->bytes,
                                 .number = tl_next_number(tl),
                                 .seq = call->peer,
                                 .kind = (uint8_t)kind,
                                 .dir = LP_OWNER(tl->context, call->move),
                                 .memory = call->memory,
                                 .slice = call->slice};
    if (call->move > 0)
        CW_MUT(tl->run->ctx, &c->move[call->move])->state = LP_MOVE_UNDER_WAY;
    lp_dma_push(tl->run, tl->pe, vc, op);
    if (call->move > 0) {
        emit_moves(tl);
        call->step = STEP_DONE;
        return;
    }
    call->step = STEP_DMA;
    tl_wait_for(tl, LP_WAIT_DMA);
}

void tl_effect_load(struct tl *tl) { effect_move(tl, LP_DMA_LOAD); }
void tl_effect_store(struct tl *tl) { effect_move(tl, LP_DMA_STORE); }
void tl_effect_copy(struct tl *tl) { effect_move(tl, LP_DMA_COPY); }

void tl_effect_store_to(struct tl *tl)
{
    const struct lp_model *m = tl->run->m;
    const struct lp_call *call = &tl->kernel->call;
    if (call->peer >= m->hw.sip_count * m->cubes * m->pes)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: store_to PE %u, which does not exist", tl->run->sip,
                tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, call->peer);
    effect_move(tl, LP_DMA_STORE_TO);
}

void tl_moved(struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    if (call->kind != CALL_STORE_TO) {
        emit_moves(tl);
        return;
    }
    TL_EMIT_OP(tl, .kind = LP_OP_STORE_TO, .bytes = call->bytes, .peer = call->peer, .a = call->a,
               .dst = call->dst);
}

void tl_effect_wait_dma(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const struct lp_move *move = &lp_context(tl->run->m, tl->p, tl->context)->move[call->move];
    if (move->state == LP_MOVE_UNDER_WAY) {
        tl_wait_for(tl, LP_WAIT_DMA);
        return;
    }
    if (move->state == LP_MOVE_FREE)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: wait_dma for handle %u, which names no operation",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name,
                call->move - 1u);
    CW_MUT(tl->run->ctx, move)->state = LP_MOVE_FREE;
    call->step = STEP_DONE;
}
