/*
 * tl_context.c: a PE's contexts: the kernel and the streams that it forks (30-ipcq.md, "Kernel
 * API"). Context 0 is the kernel; a stream takes the first free one. Contexts contend for PE_DMA
 * only: each has a frame, a call and a time of its own. Runs in handlers only, on the PE's cube.
 */
#include "lp/kernel/tl_call.h"

#include <string.h>

#include "lp/fabric/cube.h"

static const struct lp_kernel *kernel_at(const struct tl *tl, uint32_t context)
{
    return &lp_context(tl->run->m, tl->p, context)->kernel;
}

static bool streams_alive(const struct tl *tl)
{
    for (uint32_t i = 1; i < tl->run->m->config.contexts; i++)
        if (kernel_at(tl, i)->launch != 0)
            return true;
    return false;
}

/* ---- starting ----------------------------------------------------------------------------------
 */

static void check_in_kernel(struct tl *tl, const char *call)
{
    if (tl->context != 0)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: %s in a stream; only the kernel itself %ss", tl->run->sip,
                tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, call, call);
}

void tl_fork(struct tl *tl, uint32_t streams)
{
    struct lp_call *call = tl_start(tl, CALL_FORK, 0);
    const uint32_t there = tl->launch->kernel->stream_count;
    call->tag = (uint8_t)streams;
    check_in_kernel(tl, "fork");
    if (streams >> there != 0)
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: fork of streams 0x%x; the kernel has %u", tl->run->sip,
                tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, streams, there);
}

void tl_join(struct tl *tl)
{
    (void)tl_start(tl, CALL_JOIN, 0);
    check_in_kernel(tl, "join");
}
void tl_barrier(struct tl *tl) { (void)tl_start(tl, CALL_BARRIER, 0); }

/* ---- effects -----------------------------------------------------------------------------------
 */

void tl_effect_fork(struct tl *tl)
{
    const struct lp_model *m = tl->run->m;
    uint32_t context = 1;
    for (uint32_t stream = 0; stream < tl->launch->kernel->stream_count; stream++) {
        if (!(tl->kernel->call.tag >> stream & 1))
            continue;
        while (context < m->config.contexts && kernel_at(tl, context)->launch != 0)
            context++;
        if (context >= m->config.contexts)
            cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                    "PE %u.%u.%u, kernel %s: fork of stream %u: all %u contexts are taken; join "
                    "those that have been forked first",
                    tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, stream,
                    m->config.contexts);
        struct lp_kernel *child = CW_MUT(tl->run->ctx, kernel_at(tl, context));
        *child = (struct lp_kernel){.launch = tl->kernel->launch,
                                    .stream = (uint8_t)(stream + 1),
                                    .wait = LP_WAIT_START,
                                    .wait_ps = tl->local_ps,
                                    .call.step = STEP_DONE};
        memcpy(child->frame + TL_LINES_BYTES, tl->kernel->frame + TL_LINES_BYTES,
               TL_FRAME_BYTES - TL_LINES_BYTES);
    }
    tl->kernel->call.step = STEP_DONE;
}

void tl_effect_join(struct tl *tl)
{
    if (streams_alive(tl))
        tl_wait_for(tl, LP_WAIT_JOIN);
    else
        tl->kernel->call.step = STEP_DONE;
}

/* Lets those at the barrier go on if every context that has not ended is there. */
static void pass_barrier(struct tl *tl)
{
    const uint32_t contexts = tl->run->m->config.contexts;
    for (uint32_t i = 0; i < contexts; i++)
        if (kernel_at(tl, i)->launch != 0 && kernel_at(tl, i)->wait != LP_WAIT_BARRIER)
            return;
    for (uint32_t i = 0; i < contexts; i++)
        if (kernel_at(tl, i)->launch != 0)
            CW_MUT(tl->run->ctx, kernel_at(tl, i))->wait = LP_WAIT_START;
}

void tl_effect_barrier(struct tl *tl)
{
    tl->kernel->call.step = STEP_DONE;
    if (tl->context == 0 && !streams_alive(tl))
        return;
    tl_wait_for(tl, LP_WAIT_BARRIER);
    pass_barrier(tl);
}

static void end_stream(struct tl *tl)
{
    tl->kernel->launch = 0;
    tl->kernel->call.kind = CALL_NONE;
    if (!streams_alive(tl) && kernel_at(tl, 0)->wait == LP_WAIT_JOIN)
        CW_MUT(tl->run->ctx, kernel_at(tl, 0))->wait = LP_WAIT_START;
    pass_barrier(tl);
}

static void check_handles(struct tl *tl)
{
    const struct lp_context *own = lp_context(tl->run->m, tl->p, tl->context);
    for (uint32_t i = 1; i < LP_MOVES; i++)
        if (own->move[i].state != LP_MOVE_FREE)
            cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                    "PE %u.%u.%u, kernel %s ends without having waited for handle %u (wait_dma)",
                    tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name, i - 1);
}

void tl_effect_end(struct tl *tl)
{
    check_handles(tl);
    if (tl->context != 0) {
        end_stream(tl);
        return;
    }
    if (streams_alive(tl))
        cw_fail(tl->run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s ends while streams that it has forked are under way; join "
                "them first",
                tl->run->sip, tl->run->cube_in_sip, tl->pe, tl->launch->kernel->name);
    const uint32_t launch = tl->kernel->launch;
    tl_emit_mark(tl, LP_MARK_END, 0);
    lp_send_to_host(tl->run, tl->pe, LP_TRANSFER_DONE, launch);
    tl->kernel->launch = 0;
    tl->kernel->call.kind = CALL_NONE;
}
