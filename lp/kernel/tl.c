/*
 * tl.c: the kernel runtime: carries out what kernels ask for (tl.h), step by step (tl_call.h). What
 * a kind of call does and costs is in tl_memory.c, tl_queue.c, tl_one_sided.c, tl_compute.c and
 * tl_context.c.
 *
 * A kernel runs ahead of the clock: `local_ps` is its own time. An operation that concerns nobody
 * else (an addition, the overhead of a call, the wait for a credit's emission) only moves it on;
 * where a kernel must meet the world (its queues, its PE_DMA, its end) at a later local time, it
 * waits for an event at that time. So a stretch of private work costs one event, whatever
 * it consists of. Invariant I-TL-1: a context has at most one LP_EVENT_KERNEL, and one
 * LP_EVENT_DMA_DONE of its blocking move, on its way, and none while it waits for anything else.
 */
#include "lp/kernel/tl_call.h"
#include "lp/kernel/tl_runtime.h"
#include "lp/queues/queue_ends.h"

const struct tl_call_ops tl_call_ops[CALL_KINDS] = {
    [CALL_LOAD] = {"load", ISSUE_MEMORY, false, tl_effect_load},
    [CALL_STORE] = {"store", ISSUE_MEMORY, false, tl_effect_store},
    [CALL_COPY] = {"copy", ISSUE_MEMORY, false, tl_effect_copy},
    [CALL_STORE_TO] = {"store_to", ISSUE_MEMORY, false, tl_effect_store_to},
    [CALL_WAIT_DMA] = {"wait_dma", ISSUE_CPU, false, tl_effect_wait_dma},
    [CALL_SEND] = {"send", ISSUE_IPCQ, false, tl_effect_send},
    [CALL_RECV] = {"recv", ISSUE_IPCQ, false, tl_effect_recv},
    [CALL_RECV_ANY] = {"recv_any", ISSUE_IPCQ, false, tl_effect_recv},
    [CALL_RECV_ALL] = {"recv_all", ISSUE_IPCQ, false, tl_effect_recv_all},
    [CALL_RECV_INTO] = {"recv_into", ISSUE_IPCQ, false, tl_effect_recv},
    [CALL_MOVE_TILE] = {"recv_into", ISSUE_FREE, true, tl_effect_move_tile},
    [CALL_RECV_ASYNC] = {"recv_async", ISSUE_IPCQ, false, tl_effect_recv_async},
    [CALL_WAIT] = {"wait", ISSUE_CPU, false, tl_effect_recv},
    [CALL_PUT] = {"put", ISSUE_IPCQ, false, tl_effect_put},
    [CALL_NOTIFY] = {"notify", ISSUE_IPCQ, false, tl_effect_notify},
    [CALL_WAIT_NOTIFY] = {"wait_notify", ISSUE_CPU, false, tl_effect_wait_notify},
    [CALL_MATH] = {"math", ISSUE_FREE, true, tl_effect_math},
    [CALL_CAST] = {"cast", ISSUE_FREE, true, tl_effect_cast},
    [CALL_DOT] = {"dot", ISSUE_FREE, true, tl_effect_dot},
    [CALL_FORK] = {"fork", ISSUE_CPU, false, tl_effect_fork},
    [CALL_JOIN] = {"join", ISSUE_CPU, false, tl_effect_join},
    [CALL_BARRIER] = {"barrier", ISSUE_CPU, false, tl_effect_barrier},
    [CALL_END] = {"end", ISSUE_FREE, false, tl_effect_end},
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

uint32_t tl_pe_id(const struct tl *tl) { return tl->pe; }
uint32_t tl_num_pes(const struct tl *tl) { return tl->run->m->pes; }
uint32_t tl_program_id(const struct tl *tl)
{
    return tl->run->cube_in_sip * tl->run->m->pes + tl->pe;
}
uint32_t tl_num_programs(const struct tl *tl) { return tl->run->m->cubes * tl->run->m->pes; }
uint32_t tl_pe_index(const struct tl *tl, struct hw_place place)
{
    return hw_pe_index(&tl->run->m->hw, place);
}
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

uint32_t tl_full_tile_bytes(const struct tl *tl)
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

/* ---- records --------------------------------------------------------------------------------- */

void tl_emit_op(struct tl *tl, struct lp_op *op)
{
    op->pe = lp_pe_index(tl->run, tl->pe);
    op->dtype = op->dtype ? op->dtype : tl_args(tl)->dtype;
    op->t_start_ps = tl->kernel->call.start_ps;
    op->t_end_ps = tl->local_ps;
    cw_emit(tl->run->ctx, LP_RECORD_OP, op, sizeof *op);
}

void tl_emit_mark(struct tl *tl, enum lp_mark mark, uint32_t phase)
{
    const struct lp_kernel_record record = {tl->local_ps, lp_pe_index(tl->run, tl->pe),
                                            tl->kernel->launch, mark, phase};
    cw_emit(tl->run->ctx, LP_RECORD_KERNEL, &record, sizeof record);
}

void tl_phase(struct tl *tl, uint32_t index) { tl_emit_mark(tl, LP_MARK_PHASE, index); }

/* ---- a call's steps -------------------------------------------------------------------------- */

struct lp_call *tl_start(struct tl *tl, enum tl_call_kind kind, uint32_t bytes)
{
    struct lp_call *call = &tl->kernel->call;
    tl->kernel->calls++;
    *call = (struct lp_call){.kind = (uint8_t)kind, .bytes = bytes, .start_ps = tl->local_ps};
    return call;
}

/* True when the kernel's time is now; else an event at its time is on its way. */
static bool in_step(struct tl *tl)
{
    const int64_t delay_ps = tl->local_ps - cw_now(tl->run->ctx);
    if (delay_ps == 0)
        return true;
    const struct lp_signal signal = {.pe = tl->pe, .context = (uint8_t)tl->context};
    const struct lp_sender sender = lp_next_sender(tl->run, tl->pe);
    lp_send_signal(tl->run->ctx, tl->run->lp, delay_ps, LP_EVENT_KERNEL, sender, &signal);
    return false;
}

/* A call that waits again for the same keeps its place among those that wait. */
void tl_wait_for(struct tl *tl, enum lp_wait wait)
{
    tl->kernel->wait = (uint8_t)wait;
    if (tl->kernel->call.waited == wait)
        return;
    tl->kernel->call.waited = (uint8_t)wait;
    tl->kernel->wait_ps = tl->local_ps;
}

void tl_wait_for_channel(struct tl *tl, enum hw_vc vc)
{
    tl_wait_for(tl, LP_WAIT_CHANNEL);
    tl->kernel->wait_vc = (uint8_t)vc;
}

/* Of the current operand: those of the call, or of a factor of a product. */
static uint64_t operand_bytes(const struct tl *tl)
{
    const struct lp_call *call = &tl->kernel->call;
    if (call->kind != CALL_DOT)
        return call->bytes;
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    const uint64_t inner = call->peer;
    if (call->operand == 0)
        return call->rows * inner * itemsize;
    return call->rows > 0 ? call->bytes / call->rows * inner : 0;
}

/* Operands in slots in HBM or SRAM: each tile is loaded, first operand first. True: none left. */
static bool load_operands(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const uint32_t full = tl_full_tile_bytes(tl);
    if (tl->run->m->config.slots == HW_MEMORY_TCM)
        return true;
    while (call->operand < 2) {
        const struct lp_operand *operand = call->operand == 0 ? &call->a : &call->b;
        if (operand->space == LP_SPACE_TILE && (uint64_t)call->tile * full < operand_bytes(tl)) {
            tl->local_ps += tl_issue_ps(tl, ISSUE_MEMORY, 1 + 2 * call->tile + call->operand);
            call->step = STEP_OPERAND;
            return false;
        }
        call->operand++;
        call->tile = 0;
    }
    return true;
}

static void load_operand(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    const struct lp_model *m = tl->run->m;
    const enum hw_vc vc = lp_vc(m, HW_VC_COMPUTE);
    const uint32_t full = tl_full_tile_bytes(tl);
    const uint64_t left = operand_bytes(tl) - (uint64_t)call->tile * full;
    if (!lp_dma_has_room(tl->run, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return;
    }
    const struct hw_dma_op op = {.bytes = left < full ? (uint32_t)left : full,
                                 .number = tl_next_number(tl),
                                 .kind = LP_DMA_LOAD,
                                 .dir = LP_OWNER(tl->context, 0),
                                 .memory = (uint8_t)m->config.slots,
                                 .slice = (uint8_t)tl->pe};
    lp_dma_push(tl->run, tl->pe, vc, op);
    call->step = STEP_OPERAND_DMA;
    tl_wait_for(tl, LP_WAIT_DMA);
}

/* Takes the current call as far as it gets now. True: it is done. */
static bool advance(struct tl *tl)
{
    struct lp_call *call = &tl->kernel->call;
    for (;;) {
        const struct tl_call_ops *ops = &tl_call_ops[call->kind];
        switch (call->step) {
        case STEP_OPERANDS:
            if (load_operands(tl))
                call->step = STEP_ISSUE;
            break;
        case STEP_OPERAND:
            if (!in_step(tl))
                return false;
            load_operand(tl);
            return false;
        case STEP_OPERAND_DMA:
            call->tile++;
            call->step = STEP_OPERANDS;
            break;
        case STEP_ISSUE:
            tl->local_ps += tl_issue_ps(tl, ops->issue, 0);
            call->step = STEP_EFFECT;
            break;
        case STEP_EFFECT:
            if (!ops->alone && !in_step(tl))
                return false;
            ops->effect(tl);
            if (tl->kernel->wait != LP_WAIT_NONE || call->kind == CALL_NONE)
                return false;
            break;
        case STEP_DMA:
            tl_moved(tl);
            call->step = STEP_DONE;
            break;
        default:
            return true;
        }
    }
}

/* Runs the kernel, or stream, until it waits or has ended. */
static void run_kernel(struct tl *tl)
{
    const struct tl_kernel *kernel = tl->launch->kernel;
    enum tl_status (*const enter)(struct tl *, void *) =
        tl->kernel->stream == 0 ? kernel->run : kernel->stream[tl->kernel->stream - 1];
    while (advance(tl))
        if (enter(tl, tl->kernel->frame) == TL_ENDED)
            tl_start(tl, CALL_END, 0)->step = STEP_EFFECT;
}

/* ---- entries --------------------------------------------------------------------------------- */

static struct tl view(struct lp_run *run, uint32_t pe, uint32_t context)
{
    cw_check(run->ctx, context < run->m->config.contexts);
    struct tl tl = {.run = run, .pe = pe, .context = context, .p = lp_pe(run->m, run->cube, pe)};
    tl.kernel = CW_MUT(run->ctx, &lp_context(run->m, tl.p, context)->kernel);
    tl.local_ps = cw_now(run->ctx);
    return tl;
}

static void tl_go_on(struct lp_run *run, uint32_t pe, uint32_t context)
{
    struct tl tl = view(run, pe, context);
    cw_check(run->ctx, tl.kernel->launch > 0 && tl.kernel->launch <= run->m->launches.count);
    tl.launch = &run->m->launches.at[tl.kernel->launch - 1];
    tl.kernel->wait = LP_WAIT_NONE;
    run_kernel(&tl);
}

/* Contexts that another one has started, or has let go on, run now: lowest first. */
static void run_started(struct lp_run *run, uint32_t pe)
{
    const struct lp_pe *p = lp_pe(run->m, run->cube, pe);
    for (uint32_t i = 0; i < run->m->config.contexts;)
        if (lp_context(run->m, p, i)->kernel.wait == LP_WAIT_START) {
            tl_go_on(run, pe, i);
            i = 0;
        } else {
            i++;
        }
}

void tl_launch(struct lp_run *run, uint32_t pe, uint32_t launch)
{
    struct tl tl = view(run, pe, 0);
    cw_check(run->ctx, launch > 0 && launch <= run->m->launches.count);
    cw_check(run->ctx, tl.kernel->launch == 0);
    *tl.kernel = (struct lp_kernel){.launch = launch};
    tl.kernel->call.step = STEP_DONE;
    tl.launch = &run->m->launches.at[launch - 1];
    *CW_MUT(run->ctx, &tl.p->epoch) = tl.launch->batch;
    tl_emit_mark(&tl, LP_MARK_START, 0);
    run_kernel(&tl);
    if (run->m->config.contexts > 1)
        run_started(run, pe);
}

void tl_resume(struct lp_run *run, uint32_t pe, uint32_t context)
{
    tl_go_on(run, pe, context);
    if (run->m->config.contexts > 1)
        run_started(run, pe);
}

/* What this context waited for may have come: it looks now, or at the next poll. */
static void tl_look(struct lp_run *run, uint32_t pe, uint32_t context)
{
    const int64_t interval_ps = run->m->hw.ipcq_poll_ps;
    if (!run->m->config.poll || interval_ps == 0) {
        tl_resume(run, pe, context);
        return;
    }
    struct tl tl = view(run, pe, context);
    const int64_t waited_ps = cw_now(run->ctx) - tl.kernel->wait_ps;
    tl.local_ps = tl.kernel->wait_ps + (waited_ps + interval_ps - 1) / interval_ps * interval_ps;
    tl.kernel->wait = LP_WAIT_NONE;
    if (in_step(&tl))
        tl_resume(run, pe, context);
}

static bool tl_waits_for(const struct lp_kernel *kernel, enum lp_wait wait, uint32_t which,
                         uint32_t peer)
{
    if (kernel->wait != wait)
        return false;
    switch (wait) {
    case LP_WAIT_DATA:
        return (kernel->call.dirs >> which & 1) != 0;
    case LP_WAIT_CREDIT:
        return kernel->call.dir == which;
    case LP_WAIT_CHANNEL:
        return kernel->wait_vc == which;
    default:
        return kernel->call.tag == which && kernel->call.peer == peer;
    }
}

/* Of these contexts, the one that has waited longest for this; UINT32_MAX: none does. */
static uint32_t waits_longest(const struct lp_run *run, uint32_t pe, uint32_t contexts,
                              enum lp_wait wait, uint32_t which, uint32_t peer)
{
    const struct lp_pe *p = lp_pe(run->m, run->cube, pe);
    uint32_t longest = UINT32_MAX;
    int64_t since_ps = INT64_MAX;
    for (uint32_t i = 0; i < run->m->config.contexts; i++) {
        const struct lp_kernel *kernel = &lp_context(run->m, p, i)->kernel;
        if ((contexts >> i & 1) && tl_waits_for(kernel, wait, which, peer) &&
            kernel->wait_ps < since_ps) {
            longest = i;
            since_ps = kernel->wait_ps;
        }
    }
    return longest;
}

void tl_arrived(struct lp_run *run, uint32_t pe, enum lp_wait wait, uint32_t which, uint32_t peer)
{
    uint32_t contexts = (1u << TL_CONTEXTS_MAX) - 1;
    for (uint32_t i; (i = waits_longest(run, pe, contexts, wait, which, peer)) != UINT32_MAX;) {
        contexts &= ~(1u << i);
        tl_look(run, pe, i);
    }
}

void tl_move_done(struct lp_run *run, uint32_t pe, uint32_t context, uint32_t move)
{
    cw_check(run->ctx, context < run->m->config.contexts && move < LP_MOVES);
    const struct lp_context *c = lp_context(run->m, lp_pe(run->m, run->cube, pe), context);
    if (move == 0) {
        tl_resume(run, pe, context);
        return;
    }
    CW_MUT(run->ctx, &c->move[move])->state = LP_MOVE_DONE;
    if (c->kernel.wait == LP_WAIT_DMA && c->kernel.call.kind == CALL_WAIT_DMA &&
        c->kernel.call.move == move)
        tl_resume(run, pe, context);
}

void tl_channel_freed(struct lp_run *run, uint32_t pe, enum hw_vc vc)
{
    for (uint32_t i; lp_dma_has_room(run, pe, vc);) {
        i = waits_longest(run, pe, UINT32_MAX, LP_WAIT_CHANNEL, (uint32_t)vc, 0);
        if (i == UINT32_MAX)
            return;
        tl_resume(run, pe, i);
    }
}
