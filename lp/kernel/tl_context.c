/*
 * tl_context.c: the contexts of a hardware queue: its kernel and the streams that the kernel forks
 * (lp/QUEUES.md, "Contexts"). Context 0 of the queue is the kernel; a stream takes the first free
 * one. Contexts contend for PE_DMA only: each has a frame, a call and a time of its own. Runs in
 * handlers only, on the PE's cube.
 */
#include <string.h>

#include "lp/kernel/tl_call.h"
#include "lp/kernel/tl_queue.h"

/* `context` counts from 0 in the queue of the kernel. */
static const struct lp_kernel *kernel_at(const struct tl *tl, uint32_t context)
{
    const struct lp_model *const m = tl->view->m;
    return &lp_context(m, tl->p, tl->launch->queue * m->needs.contexts + context)->kernel;
}

static bool streams_alive(const struct tl *tl)
{
    for (uint32_t i = 1; i < tl->view->m->needs.contexts; i++)
        if (kernel_at(tl, i)->launch != 0)
            return true;
    return false;
}

void tl_effect_fork(struct tl *tl)
{
    const struct lp_model *m = tl->view->m;
    uint32_t context = 1;
    for (uint32_t stream = 0; stream < tl->launch->kernel->stream_count; stream++) {
        if (!(tl->kernel->call.tag >> stream & 1))
            continue;
        while (context < m->needs.contexts && kernel_at(tl, context)->launch != 0)
            context++;
        if (context >= m->needs.contexts)
            tl_fail(tl, "",
                    ": fork of stream %u: all %u contexts are taken; join those that have been "
                    "forked first",
                    stream, m->needs.contexts);
        struct lp_kernel *child = CW_MUT(tl->view->ctx, kernel_at(tl, context));
        *child = (struct lp_kernel){.launch = tl->kernel->launch,
                                    .stream = (uint8_t)(stream + 1),
                                    .wait = LP_WAIT_START,
                                    .casts = tl->kernel->casts,
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

/* Releases the contexts at the barrier if every context that has not ended is there. */
static void pass_barrier(struct tl *tl)
{
    const uint32_t contexts = tl->view->m->needs.contexts;
    for (uint32_t i = 0; i < contexts; i++)
        if (kernel_at(tl, i)->launch != 0 && kernel_at(tl, i)->wait != LP_WAIT_BARRIER)
            return;
    for (uint32_t i = 0; i < contexts; i++)
        if (kernel_at(tl, i)->launch != 0)
            CW_MUT(tl->view->ctx, kernel_at(tl, i))->wait = LP_WAIT_START;
}

void tl_effect_barrier(struct tl *tl)
{
    tl->kernel->call.step = STEP_DONE;
    if (tl->kernel->stream == 0 && !streams_alive(tl))
        return;
    tl_wait_for(tl, LP_WAIT_BARRIER);
    pass_barrier(tl);
}

static void end_stream(struct tl *tl)
{
    tl->kernel->launch = 0;
    tl->kernel->call.kind = CALL_NONE;
    if (!streams_alive(tl) && kernel_at(tl, 0)->wait == LP_WAIT_JOIN)
        CW_MUT(tl->view->ctx, kernel_at(tl, 0))->wait = LP_WAIT_START;
    pass_barrier(tl);
}

static void check_all_waited(struct tl *tl)
{
    const struct lp_context *own = lp_context(tl->view->m, tl->p, tl->context);
    for (uint32_t i = 1; i <= LP_MOVE_STORE; i++)
        if (*lp_move_state(own, i) != LP_MOVE_FREE)
            tl_fail(tl, "", " ends without having waited for handle %u (wait_dma)", i - 1);
}

void tl_effect_end(struct tl *tl)
{
    check_all_waited(tl);
    if (tl->kernel->stream != 0) {
        end_stream(tl);
        return;
    }
    if (streams_alive(tl))
        tl_fail(tl, "", " ends while streams that it has forked are under way; join them first");
    tl_check_all_received(tl);
    const uint32_t launch = tl->kernel->launch;
    tl_emit_mark(tl, LP_MARK_END, 0);
    lp_send_to_host(tl->view, tl->pe, LP_TRANSFER_DONE, launch);
    tl->kernel->launch = 0;
    tl->kernel->call.kind = CALL_NONE;
}
