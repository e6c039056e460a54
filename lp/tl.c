/*
 * tl.c: the kernel runtime: carries out what kernels ask for (tl.h) and says what it costs
 * (20-hardware.md, "Blocks of a PE, and what a kernel call costs"; 30-ipcq.md).
 *
 * A kernel runs ahead of the clock: `local_ps` is its own time. An operation that concerns nobody
 * else (an addition, the overhead of a call, the wait for a credit's emission) only moves it on;
 * where a kernel must meet the world (its queues, its PE_DMA, its end) at a later local time, it
 * waits for an event at that time. So a stretch of private work costs one event, whatever
 * it consists of. Invariant I-TL-1: a kernel has at most one LP_EVENT_KERNEL or
 * LP_EVENT_DMA_DONE on its way, and none while it waits for data, credit or a channel.
 */
#include "lp/model.h"

#include <string.h>

enum tl_call_kind {
    CALL_NONE,
    CALL_LOAD,
    CALL_STORE,
    CALL_SEND,
    CALL_RECV,
    CALL_RECV_ANY,
    CALL_RECV_ASYNC,
    CALL_WAIT,
    CALL_MATH,
    CALL_END /* the kernel's last act: its completion message */
};

static const char *const call_name[] = {"",         "load",       "store", "send", "recv",
                                        "recv_any", "recv_async", "wait",  "add",  "end"};

enum tl_step {
    STEP_OPERANDS,    /* operands in slots that are not in TCM are loaded first */
    STEP_OPERAND,     /* one of them: its load enters PE_DMA */
    STEP_OPERAND_DMA, /* and is under way */
    STEP_ISSUE,       /* the call's overheads */
    STEP_EFFECT,      /* what it does, now */
    STEP_DMA,         /* PE_DMA works for it */
    STEP_DONE
};

struct tl {
    struct lp_run *run;
    uint32_t pe;
    const struct lp_pe *p;
    struct lp_kernel *kernel;
    const struct lp_launch *launch;
    int64_t local_ps; /* the kernel's own time, >= now */
};

/* ---- queries --------------------------------------------------------------------------------- */

const struct tl_args *tl_args(const struct tl *tl) { return &tl->launch->args; }

struct hw_place tl_place(const struct tl *tl)
{
    return (struct hw_place){tl->run->sip, tl->run->cube_in_sip, tl->pe};
}

uint64_t tl_shard(const struct tl *tl)
{
    const struct tl_args *args = tl_args(tl);
    const uint32_t cube = tl->run->cube_in_sip;
    return args->tensor +
           (args->pe_shards ? cube * tl->run->m->pes + tl->pe : cube) * args->shard_bytes;
}

uint32_t tl_num_pes(const struct tl *tl) { return tl->run->m->pes; }
uint32_t tl_slot_bytes(const struct tl *tl) { return tl->run->m->config.slot_bytes; }

bool tl_installed(const struct tl *tl, enum hw_dir dir)
{
    return (unsigned)dir < HW_DIRS_MAX && (tl->p->installed >> dir & 1);
}

enum hw_dir tl_dir(const struct tl *tl, const char *name)
{
    return lp_dir_named(tl->run->m, lp_pe_index(tl->run, tl->pe), name);
}

uint32_t tl_tile_elems(const struct tl *tl)
{
    return tl_slot_bytes(tl) / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

/* Bytes of a full tile: whole elements. */
static uint32_t full_tile_bytes(const struct tl *tl)
{
    return tl_tile_elems(tl) * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

uint32_t tl_tiles(const struct tl *tl)
{
    const uint32_t per_tile = tl_tile_elems(tl);
    return (uint32_t)((tl_args(tl)->n_elem + per_tile - 1) / per_tile);
}

uint32_t tl_tile_bytes(const struct tl *tl, uint32_t tile)
{
    const uint64_t per_tile = tl_tile_elems(tl), first = tile * per_tile;
    const uint64_t left = tl_args(tl)->n_elem - first;
    return (uint32_t)(left < per_tile ? left : per_tile) *
           tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

struct lp_operand tl_received(const struct tl *tl)
{
    return (struct lp_operand){
        .space = LP_SPACE_TILE, .dir = tl->kernel->received_dir, .at = tl->kernel->received_seq};
}

/* ---- records --------------------------------------------------------------------------------- */

static void emit_op(struct tl *tl, struct lp_op op)
{
    if (!tl->run->m->emit_ops)
        return;
    op.pe = lp_pe_index(tl->run, tl->pe);
    op.dtype = tl_args(tl)->dtype;
    op.t_start_ps = tl->kernel->call.start_ps;
    op.t_end_ps = tl->local_ps;
    cw_emit(tl->run->ctx, LP_RECORD_OP, &op, sizeof op);
}

static void emit_mark(struct tl *tl, enum lp_mark mark, uint32_t phase)
{
    const struct lp_kernel_record record = {tl->local_ps, lp_pe_index(tl->run, tl->pe),
                                            tl->kernel->launch, mark, phase};
    cw_emit(tl->run->ctx, LP_RECORD_KERNEL, &record, sizeof record);
}

void tl_phase(struct tl *tl, uint32_t index) { emit_mark(tl, LP_MARK_PHASE, index); }

/* ---- starting a call ------------------------------------------------------------------------- */

static struct lp_call *start(struct tl *tl, enum tl_call_kind kind, uint32_t bytes)
{
    struct lp_call *call = &tl->kernel->call;
    *call = (struct lp_call){.kind = (uint8_t)kind, .bytes = bytes, .start_ps = tl->local_ps};
    return call;
}

/* PE_MMU: virtual to physical. The launch maps the SIP's tensor, this PE's shard of it here. */
static uint32_t translate(struct tl *tl, enum tl_call_kind kind, uint64_t va, uint32_t bytes)
{
    const struct tl_args *args = tl_args(tl);
    const uint64_t shard = tl_shard(tl);
    const uint64_t page = tl->run->m->hw.mmu_page_bytes;
    const uint64_t mapped = (args->shard_bytes + page - 1) / page * page;
    if (va < shard || va - shard >= mapped || bytes > mapped - (va - shard))
        cw_fail(
            tl->run->ctx, CW_PROGRAM_FAILED,
            "page fault: PE %u.%u.%u, kernel %s: %s of %u bytes at address 0x%llx, which is not "
            "mapped there (its shard is 0x%llx to 0x%llx)",
            tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, call_name[kind],
            bytes, (unsigned long long)va, (unsigned long long)shard,
            (unsigned long long)(shard + args->shard_bytes));
    return (uint32_t)(args->tensor_pa + (va - shard));
}

void tl_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes)
{
    struct lp_call *call = start(tl, CALL_LOAD, bytes);
    call->memory = HW_MEMORY_HBM;
    call->slice = (uint8_t)tl->pe;
    call->a = (struct lp_operand){.space = LP_SPACE_HBM, .at = translate(tl, CALL_LOAD, va, bytes)};
    call->dst = tl_tcm(tcm);
}

void tl_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes)
{
    struct lp_call *call = start(tl, CALL_STORE, bytes);
    call->memory = HW_MEMORY_HBM;
    call->slice = (uint8_t)tl->pe;
    call->a = src;
    call->dst =
        (struct lp_operand){.space = LP_SPACE_HBM, .at = translate(tl, CALL_STORE, va, bytes)};
}

void tl_send(struct tl *tl, enum hw_dir dir, struct lp_operand src, uint32_t bytes)
{
    struct lp_call *call = start(tl, CALL_SEND, bytes);
    call->dir = (uint8_t)dir;
    call->a = src;
}

static void start_receive(struct tl *tl, enum tl_call_kind kind, enum hw_dir dir, uint32_t bytes)
{
    struct lp_call *call = start(tl, kind, bytes);
    call->dir = (uint8_t)dir;
}

void tl_recv(struct tl *tl, enum hw_dir dir, uint32_t bytes)
{
    start_receive(tl, CALL_RECV, dir, bytes);
}
void tl_recv_any(struct tl *tl, uint32_t bytes)
{
    start_receive(tl, CALL_RECV_ANY, HW_DIRS_MAX, bytes);
}
void tl_recv_async(struct tl *tl, enum hw_dir dir, uint32_t bytes)
{
    start_receive(tl, CALL_RECV_ASYNC, dir, bytes);
}
void tl_wait(struct tl *tl, enum hw_dir dir, uint32_t bytes)
{
    start_receive(tl, CALL_WAIT, dir, bytes);
}

void tl_math(struct tl *tl, enum lp_math math, uint32_t dst, struct lp_operand a,
             struct lp_operand b, uint32_t elements)
{
    struct lp_call *call =
        start(tl, CALL_MATH, elements * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
    call->math = (uint8_t)math;
    call->a = a;
    call->b = b;
    call->dst = tl_tcm(dst);
}

/* ---- carrying it out ------------------------------------------------------------------------- */

/* True when the kernel's time is now; else an event at its time is on its way. */
static bool in_step(struct tl *tl)
{
    const int64_t delay_ps = tl->local_ps - cw_now(tl->run->ctx);
    if (delay_ps == 0)
        return true;
    const struct lp_signal signal = {.pe = tl->pe};
    const struct lp_sender sender = lp_next_sender(tl->run, tl->pe);
    cw_send(tl->run->ctx, tl->run->lp, delay_ps, LP_EVENT_KERNEL, sender.entity, sender.number,
            &signal, sizeof signal);
    return false;
}

static void wait_for(struct tl *tl, enum lp_wait wait)
{
    tl->kernel->wait = (uint8_t)wait;
    tl->kernel->wait_ps = tl->local_ps;
}

static void check_direction(struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    const struct lp_model *m = tl->run->m;
    const uint32_t self = lp_pe_index(tl->run, tl->pe);
    const bool there = tl_installed(tl, (enum hw_dir)call->dir);
    if (there && lp_queue_goes(m, self, (enum hw_dir)call->dir, call->kind == CALL_SEND))
        return;
    char installed[160] = "";
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if (tl_installed(tl, dir)) {
            strncat(installed, *installed ? ", " : "", sizeof installed - strlen(installed) - 1);
            strncat(installed, lp_dir_name(m, self, dir), sizeof installed - strlen(installed) - 1);
        }
    cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
            "IpcqInvalidDirection: PE %u.%u.%u, kernel %s: %s in direction %s, which %s; "
            "installed: %s",
            tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name,
            call_name[call->kind], lp_dir_name(m, self, (enum hw_dir)call->dir),
            there ? "goes the other way only" : "is not installed there",
            *installed ? installed : "none");
}

static const struct lp_operand *next_operand(const struct lp_call *call)
{
    return call->operand == 0 ? &call->a : &call->b;
}

/* Operands in slots in HBM or SRAM: each tile is loaded, first operand first. True: none left. */
static bool load_operands(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const uint32_t full = full_tile_bytes(tl);
    if (tl->run->m->config.slots == HW_MEMORY_TCM)
        return true;
    while (call->operand < 2) {
        const struct lp_operand *operand = next_operand(call);
        if (operand->space == LP_SPACE_TILE && (uint64_t)call->tile * full < call->bytes) {
            tl->local_ps += tl->run->m->kernel_issue_ps;
            call->step = STEP_OPERAND;
            return false;
        }
        call->operand++;
        call->tile = 0;
    }
    return true;
}

static bool push_operand_load(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const struct lp_model *m = tl->run->m;
    const uint32_t full = full_tile_bytes(tl), left = call->bytes - call->tile * full;
    const struct hw_dma_op op = {.bytes = left < full ? left : full,
                                 .number = (uint32_t)lp_next_sender(tl->run, tl->pe).number,
                                 .kind = LP_DMA_LOAD,
                                 .memory = (uint8_t)m->config.slots,
                                 .slice = (uint8_t)tl->pe};
    return lp_dma_push(tl->run, tl->pe, HW_VC_COMPUTE, op);
}

/* The overheads before a call's effect (20-hardware.md, the paragraph after the table). */
static int64_t issue_ps(const struct tl *tl)
{
    const struct lp_model *m = tl->run->m;
    switch (tl->kernel->call.kind) {
    case CALL_LOAD:
    case CALL_STORE:
        return m->kernel_issue_ps;
    case CALL_SEND:
    case CALL_RECV:
    case CALL_RECV_ANY:
    case CALL_RECV_ASYNC:
        return m->ipcq_issue_ps;
    case CALL_WAIT:
        return m->hw.overhead_ps[HW_NODE_PE_CPU];
    default:
        return 0;
    }
}

static void effect_math(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const struct hw_config *hw = &tl->run->m->hw;
    const uint32_t elements = call->bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    tl->local_ps += hw->overhead_ps[HW_NODE_PE_CPU] + hw->overhead_ps[HW_NODE_PE_SCHEDULER] +
                    hw_fetch_ps(hw, 2ull * call->bytes) + hw_math_ps(hw, elements) +
                    hw_fetch_ps(hw, call->bytes);
    emit_op(tl, (struct lp_op){.kind = LP_OP_MATH,
                               .math = call->math,
                               .bytes = call->bytes,
                               .a = call->a,
                               .b = call->b,
                               .dst = call->dst});
    call->step = STEP_DONE;
}

/* A load or a store is complete. A run of received tiles is several values, a record each. */
static void emit_moves(struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    const uint32_t full = full_tile_bytes(tl);
    const bool tiles = call->a.space == LP_SPACE_TILE;
    for (uint32_t done = 0; done < call->bytes;) {
        const uint32_t left = call->bytes - done;
        struct lp_op record = {.kind = call->kind == CALL_LOAD ? LP_OP_LOAD : LP_OP_STORE,
                               .bytes = tiles && left > full ? full : left,
                               .a = call->a,
                               .dst = call->dst};
        record.a.at += tiles ? done / full : done;
        record.dst.at += done;
        emit_op(tl, record);
        done += record.bytes;
    }
}

/* A load or a store enters PE_DMA. */
static void effect_dma(struct tl *tl, enum lp_dma_kind kind)
{
    struct lp_call *call = &tl->kernel->call;
    const struct hw_dma_op op = {.bytes = call->bytes,
                                 .number = (uint32_t)lp_next_sender(tl->run, tl->pe).number,
                                 .kind = (uint8_t)kind,
                                 .memory = call->memory,
                                 .slice = call->slice};
    if (!lp_dma_push(tl->run, tl->pe, HW_VC_COMPUTE, op)) {
        wait_for(tl, LP_WAIT_CHANNEL);
        return;
    }
    call->step = STEP_DMA;
    wait_for(tl, LP_WAIT_DMA);
}

static uint8_t slot_space(enum hw_memory memory)
{
    return memory == HW_MEMORY_TCM   ? LP_SPACE_TCM
           : memory == HW_MEMORY_HBM ? LP_SPACE_HBM
                                     : LP_SPACE_SRAM;
}

static void effect_send(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const struct lp_model *m = tl->run->m;
    const struct lp_queue *queue = &tl->p->queue[call->dir];
    check_direction(tl);
    if (call->bytes > m->config.slot_bytes)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "IpcqTileTooLarge: PE %u.%u.%u, kernel %s: a tile of %u bytes does not fit in a "
                "slot of %u (defaults.slot_size)",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, call->bytes,
                m->config.slot_bytes);
    if (queue->my_head - queue->peer_tail_cache >= m->config.n_slots) {
        wait_for(tl, LP_WAIT_CREDIT);
        return;
    }
    if (tl->p->dma.count[HW_VC_COMM] >= m->hw.dma_queue_depth) {
        wait_for(tl, LP_WAIT_CHANNEL);
        return;
    }
    const struct hw_dma_op op = {.bytes = call->bytes,
                                 .number = (uint32_t)lp_next_sender(tl->run, tl->pe).number,
                                 .seq = queue->my_head,
                                 .kind = LP_DMA_TILE,
                                 .dir = call->dir};
    cw_check(tl->run->ctx, lp_dma_push(tl->run, tl->pe, HW_VC_COMM, op));
    uint32_t peer = 0;
    enum hw_dir peer_dir = HW_DIRS_MAX;
    cw_check(tl->run->ctx, lp_queue_peer(m, lp_pe_index(tl->run, tl->pe), (enum hw_dir)call->dir,
                                         &peer, &peer_dir));
    const struct lp_endpoint endpoint = lp_endpoint_of(m, peer, peer_dir);
    const uint32_t slot = op.seq % endpoint.n_slots * endpoint.slot_size;
    emit_op(tl, (struct lp_op){.kind = LP_OP_SEND,
                               .dir = call->dir,
                               .bytes = call->bytes,
                               .seq = op.seq,
                               .peer = peer,
                               .peer_dir = (uint8_t)peer_dir,
                               .a = call->a,
                               .dst = {.space = slot_space(endpoint.buffer_kind),
                                       .at = endpoint.rx_base_offset + slot}});
    CW_MUT(tl->run->ctx, queue)->my_head++;
    call->step = STEP_DONE;
}

/* The direction that a receive takes its tile from now, or HW_DIRS_MAX: there is none. */
static enum hw_dir direction_with_data(const struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    const struct lp_queue *queue = tl->p->queue;
    if (call->kind != CALL_RECV_ANY) {
        const struct lp_queue *q = &queue[call->dir];
        return q->peer_head_cache != q->my_tail ? (enum hw_dir)call->dir : HW_DIRS_MAX;
    }
    for (uint32_t i = 1; i <= HW_DIRS_MAX; i++) {
        const enum hw_dir dir = (enum hw_dir)((tl->p->last_polled + i) % HW_DIRS_MAX);
        if (tl_installed(tl, dir) && queue[dir].peer_head_cache != queue[dir].my_tail)
            return dir;
    }
    return HW_DIRS_MAX;
}

static void effect_receive(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const bool any = call->kind == CALL_RECV_ANY;
    if (!any)
        check_direction(tl);
    const enum hw_dir dir = direction_with_data(tl);
    if (dir == HW_DIRS_MAX) {
        tl->kernel->any = any;
        wait_for(tl, LP_WAIT_DATA);
        return;
    }
    if (any)
        *CW_MUT(tl->run->ctx, &tl->p->last_polled) = (uint8_t)dir;
    tl->kernel->received_dir = (uint8_t)dir;
    tl->kernel->received_seq = tl->p->queue[dir].my_tail;
    const int64_t credit_ps = lp_ipcq_consume(tl->run, tl->pe, dir);
    if (tl->run->m->config.credit_blocks)
        tl->local_ps += credit_ps;
    emit_op(tl, (struct lp_op){.kind = LP_OP_RECV,
                               .dir = (uint8_t)dir,
                               .bytes = call->bytes,
                               .seq = tl->kernel->received_seq});
    call->step = STEP_DONE;
}

static void effect_end(struct tl *tl)
{
    const uint32_t launch = tl->kernel->launch;
    emit_mark(tl, LP_MARK_END, 0);
    lp_send_to_host(tl->run, tl->pe, LP_TRANSFER_DONE, launch);
    tl->kernel->launch = 0;
    tl->kernel->call.kind = CALL_NONE;
}

static void effect(struct tl *tl)
{
    switch (tl->kernel->call.kind) {
    case CALL_LOAD:
        effect_dma(tl, LP_DMA_LOAD);
        break;
    case CALL_STORE:
        effect_dma(tl, LP_DMA_STORE);
        break;
    case CALL_SEND:
        effect_send(tl);
        break;
    case CALL_RECV:
    case CALL_RECV_ANY:
    case CALL_WAIT:
        effect_receive(tl);
        break;
    case CALL_RECV_ASYNC:
        check_direction(tl);
        tl->kernel->call.step = STEP_DONE;
        break;
    default:
        cw_check(tl->run->ctx, tl->kernel->call.kind == CALL_END);
        effect_end(tl);
    }
}

/* Takes the current call as far as it gets now. True: it is done. */
static bool advance(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    for (;;) {
        switch (call->step) {
        case STEP_OPERANDS:
            if (load_operands(tl))
                call->step = STEP_ISSUE;
            break;
        case STEP_OPERAND:
            if (!in_step(tl))
                return false;
            if (!push_operand_load(tl)) {
                wait_for(tl, LP_WAIT_CHANNEL);
                return false;
            }
            call->step = STEP_OPERAND_DMA;
            wait_for(tl, LP_WAIT_DMA);
            return false;
        case STEP_OPERAND_DMA:
            call->tile++;
            call->step = STEP_OPERANDS;
            break;
        case STEP_ISSUE:
            if (call->kind == CALL_MATH) {
                effect_math(tl);
                break;
            }
            tl->local_ps += issue_ps(tl);
            call->step = STEP_EFFECT;
            break;
        case STEP_EFFECT:
            if (!in_step(tl))
                return false;
            effect(tl);
            if (tl->kernel->wait != LP_WAIT_NONE || call->kind == CALL_NONE)
                return false;
            break;
        case STEP_DMA:
            emit_moves(tl);
            call->step = STEP_DONE;
            break;
        default:
            return true;
        }
    }
}

/* Runs the kernel until it waits or has ended. */
static void run_kernel(struct tl *tl)
{
    while (advance(tl))
        if (tl->launch->kernel->run(tl, tl->kernel->frame) == TL_ENDED)
            *start(tl, CALL_END, 0) = (struct lp_call){.kind = CALL_END, .step = STEP_EFFECT};
}

static struct tl enter(struct lp_run *run, uint32_t pe)
{
    struct tl tl = {.run = run, .pe = pe, .p = lp_pe(run->m, run->cube, pe)};
    tl.kernel = CW_MUT(run->ctx, &tl.p->kernel);
    tl.local_ps = cw_now(run->ctx);
    return tl;
}

void tl_launch(struct lp_run *run, uint32_t pe, uint32_t launch)
{
    struct tl tl = enter(run, pe);
    cw_check(run->ctx, launch > 0 && launch <= run->m->launch_count);
    cw_check(run->ctx, tl.kernel->launch == 0);
    *tl.kernel = (struct lp_kernel){.launch = launch};
    tl.kernel->call.step = STEP_DONE;
    tl.launch = &run->m->launches[launch - 1];
    *CW_MUT(run->ctx, &tl.p->epoch) = tl.launch->batch;
    emit_mark(&tl, LP_MARK_START, 0);
    run_kernel(&tl);
}

void tl_resume(struct lp_run *run, uint32_t pe)
{
    struct tl tl = enter(run, pe);
    cw_check(run->ctx, tl.kernel->launch > 0 && tl.kernel->launch <= run->m->launch_count);
    tl.launch = &run->m->launches[tl.kernel->launch - 1];
    tl.kernel->wait = LP_WAIT_NONE;
    run_kernel(&tl);
}

void tl_pointer_arrived(struct lp_run *run, uint32_t pe)
{
    const int64_t interval_ps = run->m->hw.ipcq_poll_ps;
    if (!run->m->config.poll || interval_ps == 0) {
        tl_resume(run, pe);
        return;
    }
    struct tl tl = enter(run, pe);
    const int64_t waited_ps = cw_now(run->ctx) - tl.kernel->wait_ps;
    tl.local_ps = tl.kernel->wait_ps + (waited_ps + interval_ps - 1) / interval_ps * interval_ps;
    tl.kernel->wait = LP_WAIT_NONE;
    if (in_step(&tl))
        tl_resume(run, pe);
}
