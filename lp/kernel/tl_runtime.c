/*
 * tl_runtime.c: the contexts of a PE: each event resumes one, and then the contexts that it has
 * started (tl_runtime.h). tl_steps.c carries out the kernels' calls. Runs in handlers only.
 *
 * A kernel runs ahead of the clock: `local_ps` is its own time. An operation that concerns only its
 * own kernel (an addition, the overhead of a call, the wait for a credit's emission) advances that
 * time. The kernel waits for an event where it meets others at a later local time: its queues, its
 * PE_DMA, its end. So a stretch of private work costs one event, or one for every 4,096 entries of
 * the kernel (tl_watch.h).
 *
 * Invariant I-TL-1: a context has at most one LP_EVENT_KERNEL pending, at most one
 * LP_EVENT_DMA_DONE of its blocking move, and neither while it waits for anything else.
 */
#include "lp/kernel/tl_runtime.h"

#include "lp/fabric/pe_dma.h"
#include "lp/kernel/tl_coarse.h"
#include "lp/kernel/tl_steps.h"
#include "lp/kernel/tl_watch.h"

/* Runs the kernel, or stream, until it waits or has ended. */
static inline __attribute__((always_inline)) void run_kernel(struct tl *tl)
{
    for (uint32_t entries = 0; tl_advance(tl);) {
        if (tl_enter(tl) == TL_ENDED)
            tl_start(tl, CALL_END, 0)->step = STEP_EFFECT;
        if (tl_rests(tl, ++entries))
            return;
    }
}

static struct tl tl_view_of(struct lp_view *view, uint32_t pe, uint32_t context)
{
    cw_check(view->ctx, context < view->m->contexts);
    struct tl tl = {
        .view = view, .pe = pe, .context = context, .p = lp_pe(view->m, view->cube, pe)};
    tl.kernel = CW_MUT(view->ctx, &lp_context(view->m, tl.p, context)->kernel);
    tl.local_ps = cw_now(view->ctx);
    return tl;
}

/* The hardware queue of a context. */
static uint32_t queue_of(const struct lp_view *view, uint32_t context)
{
    return view->m->needs.queues == 1 ? 0 : context / view->m->needs.contexts;
}

/* Its contexts, one bit each. */
static uint32_t contexts_of(const struct lp_view *view, uint32_t queue)
{
    const uint32_t each = view->m->needs.contexts;
    return ((1u << each) - 1) << queue * each;
}

static void note_waited(const struct tl *tl)
{
    const struct tl_call *const call = &tl->kernel->call;
    const struct lp_pe_queue *const queue =
        lp_pe_queue(tl->view->m, tl->p, queue_of(tl->view, tl->context));
    const bool notified = tl->kernel->wait == LP_WAIT_NOTIFY;
    lp_cause_waited(tl->view->ctx, &(struct lp_waited){.since_ps = tl->kernel->wait_ps,
                                                       .pe = lp_pe_index(tl->view, tl->pe),
                                                       .wait = tl->kernel->wait,
                                                       .context = (uint8_t)tl->context,
                                                       .dir = notified ? call->tag : call->dir,
                                                       .call = call->kind,
                                                       .launch = tl->kernel->launch,
                                                       .batch = queue->batch});
}

static void run_context(struct lp_view *view, uint32_t pe, uint32_t context)
{
    struct tl tl = tl_view_of(view, pe, context);
    cw_check(view->ctx, lp_has_launch(view->m, tl.kernel->launch));
    tl.launch = lp_launch_of(view->m, tl.kernel->launch);
    if (lp_notes_waits(view->m) && tl.kernel->wait != LP_WAIT_NONE)
        note_waited(&tl);
    tl.kernel->wait = LP_WAIT_NONE;
    run_kernel(&tl);
}

/* Contexts that another context has started or released run now, lowest first. */
static void run_started_contexts(struct lp_view *view, uint32_t pe)
{
    const struct lp_pe *p = lp_pe(view->m, view->cube, pe);
    for (uint32_t i = 0; i < view->m->contexts;)
        if (lp_context(view->m, p, i)->kernel.wait == LP_WAIT_START) {
            run_context(view, pe, i);
            i = 0;
        } else {
            i++;
        }
}

/* Another kernel has the queue: what PE_DMA still has to send for it is the latest kernel's. */
static void note_turn(struct lp_view *view, const struct lp_pe *p, uint32_t queue)
{
    const struct lp_backlog *const backlog = lp_backlog(view->m, p, queue);
    *CW_MUT(view->ctx, &backlog->first_number) = p->next_number;
    *CW_MUT(view->ctx, &backlog->batch_before) = lp_pe_queue(view->m, p, queue)->batch;
}

/* For who asks: since when the kernel that begins has waited for its PE. */
static __attribute__((noinline, cold)) void note_began(const struct tl *tl,
                                                       const struct lp_queued *queued)
{
    struct cw_ctx *const ctx = tl->view->ctx;
    if (lp_traces_causes(tl->view->m) && queued->since_ps < cw_now(ctx))
        lp_cause_began(ctx, (struct lp_sender){0, queued->number}, queued->since_ps);
    lp_cause_waited(ctx, &(struct lp_waited){.since_ps = queued->since_ps,
                                             .pe = lp_pe_index(tl->view, tl->pe),
                                             .wait = LP_WAIT_PE,
                                             .context = (uint8_t)tl->context,
                                             .dir = (uint8_t)tl->view->m->needs.contexts,
                                             .launch = queued->launch,
                                             .batch = tl->launch->batch});
}

/* Whether PE_DMA sends chunks on their own while these kernels have the PE. */
static bool goes_in_chunks(const struct lp_model *m, const struct lp_pe *p)
{
    bool cuts = m->hw.contention == HW_CONTENTION_CHUNK;
    for (uint32_t queue = 0; queue < m->needs.queues; queue++) {
        const uint32_t launch = lp_kernel_on(m, p, queue)->launch;
        cuts |= lp_has_launch(m, launch) && lp_launch_of(m, launch)->cuts_streams;
    }
    return cuts;
}

/* The kernel runs until it waits or has ended. */
static void begin_kernel(struct lp_view *view, uint32_t pe, struct lp_queued queued)
{
    const struct lp_launch *const launch = lp_launch_of(view->m, queued.launch);
    const uint32_t queue = launch->queue;
    struct tl tl = tl_view_of(view, pe, queue * view->m->needs.contexts);
    *tl.kernel = (struct lp_kernel){.launch = queued.launch};
    tl.kernel->call.step = STEP_DONE;
    tl.launch = launch;
    if (view->m->needs.launches > 0)
        note_turn(view, tl.p, queue);
    *CW_MUT(view->ctx, &lp_pe_queue(view->m, tl.p, queue)->batch) = launch->batch;
    const bool in_chunks = goes_in_chunks(view->m, tl.p);
    if (__builtin_expect(tl.p->dma.whole_chunks != in_chunks, 0))
        CW_MUT(view->ctx, &tl.p->dma)->whole_chunks = in_chunks;
    if (lp_notes_waits(view->m) && view->m->needs.launches > 0)
        note_began(&tl, &queued);
    if (lp_is_coarse(&view->m->config))
        tl_coarse_begin(&tl);
    tl_emit_mark(&tl, LP_MARK_START, 0);
    tl.local_ps += view->m->hw.launch_static_ps;
    tl_note_part(&tl, LP_PART_STATIC, view->m->hw.launch_static_ps);
    run_kernel(&tl);
    if (view->m->needs.contexts > 1)
        run_started_contexts(view, pe);
}

static bool is_busy(const struct lp_view *view, uint32_t pe, uint32_t queue)
{
    return lp_kernel_on(view->m, lp_pe(view->m, view->cube, pe), queue)->launch != 0;
}

/* The queue's kernel may have ended: the next one of the backlog begins at this moment. */
static void begin_waiting_kernels(struct lp_view *view, uint32_t pe, uint32_t queue)
{
    const struct lp_backlog *const backlog =
        lp_backlog(view->m, lp_pe(view->m, view->cube, pe), queue);
    while (backlog->count > 0 && !is_busy(view, pe, queue)) {
        cw_check(view->ctx, backlog->count <= view->m->needs.launches);
        const struct lp_queued queued = backlog->at[0];
        const uint32_t count = backlog->count - 1;
        *CW_MUT(view->ctx, &backlog->count) = count;
        for (uint32_t i = 0; i < count; i++)
            *CW_MUT(view->ctx, &backlog->at[i]) = backlog->at[i + 1];
        begin_kernel(view, pe, queued);
    }
}

void tl_launch(struct lp_view *view, uint32_t pe, uint32_t launch)
{
    const struct lp_queued queued = {cw_now(view->ctx), launch, (uint32_t)view->ctx->event->number};
    cw_check(view->ctx, lp_has_launch(view->m, launch));
    const uint32_t queue = lp_launch_of(view->m, launch)->queue;
    if (!is_busy(view, pe, queue)) {
        begin_kernel(view, pe, queued);
    } else {
        const struct lp_backlog *const backlog =
            lp_backlog(view->m, lp_pe(view->m, view->cube, pe), queue);
        cw_check(view->ctx, view->m->needs.launches > 0);
        cw_check(view->ctx, backlog->count < view->m->needs.launches);
        *CW_MUT(view->ctx, &backlog->at[backlog->count]) = queued;
        ++*CW_MUT(view->ctx, &backlog->count);
    }
    if (view->m->needs.launches > 0)
        begin_waiting_kernels(view, pe, queue);
}

void tl_resume(struct lp_view *view, uint32_t pe, uint32_t context)
{
    run_context(view, pe, context);
    if (view->m->needs.contexts > 1)
        run_started_contexts(view, pe);
    if (view->m->needs.launches > 0)
        begin_waiting_kernels(view, pe, queue_of(view, context));
}

/* What this context waits for may have come: it looks now, or at the next poll. */
static void look_now_or_at_poll(struct lp_view *view, uint32_t pe, uint32_t context)
{
    const int64_t interval_ps = view->m->hw.ipcq_poll_ps;
    if (!view->m->config.poll || interval_ps == 0) {
        tl_resume(view, pe, context);
        return;
    }
    struct tl tl = tl_view_of(view, pe, context);
    const int64_t waited_ps = cw_now(view->ctx) - tl.kernel->wait_ps;
    tl.local_ps = tl.kernel->wait_ps + (waited_ps + interval_ps - 1) / interval_ps * interval_ps;
    if (lp_traces_causes(view->m))
        lp_cause_stretch_part(LP_PART_POLL, tl.local_ps - cw_now(view->ctx));
    if (lp_notes_waits(view->m))
        note_waited(&tl);
    tl.kernel->wait = LP_WAIT_NONE;
    if (tl_in_step(&tl))
        tl_resume(view, pe, context);
}

static bool kernel_waits_for(const struct lp_kernel *kernel, enum lp_wait wait, uint32_t which,
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

/* The context that has waited longest for this, among the contexts of the bit mask; UINT32_MAX:
 * none. */
static uint32_t longest_waiting(const struct lp_view *view, uint32_t pe, uint32_t contexts,
                                enum lp_wait wait, uint32_t which, uint32_t peer)
{
    const struct lp_pe *p = lp_pe(view->m, view->cube, pe);
    uint32_t longest = UINT32_MAX;
    int64_t since_ps = INT64_MAX;
    for (uint32_t i = 0; i < view->m->contexts; i++) {
        const struct lp_kernel *kernel = &lp_context(view->m, p, i)->kernel;
        if ((contexts >> i & 1) && kernel_waits_for(kernel, wait, which, peer) &&
            kernel->wait_ps < since_ps) {
            longest = i;
            since_ps = kernel->wait_ps;
        }
    }
    return longest;
}

void tl_arrived(struct lp_view *view, uint32_t pe, enum lp_wait wait, uint32_t which, uint32_t key)
{
    if (view->m->contexts == 1) {
        const struct lp_pe *const p = lp_pe(view->m, view->cube, pe);
        if (kernel_waits_for(&lp_context(view->m, p, 0)->kernel, wait, which, key))
            look_now_or_at_poll(view, pe, 0);
        return;
    }
    const uint32_t peers = hw_pe_count(&view->m->hw), peer = key % peers;
    uint32_t contexts =
        wait == LP_WAIT_NOTIFY ? contexts_of(view, key / peers) : (1u << view->m->contexts) - 1;
    for (uint32_t i; (i = longest_waiting(view, pe, contexts, wait, which, peer)) != UINT32_MAX;) {
        contexts &= ~(1u << i);
        look_now_or_at_poll(view, pe, i);
    }
}

void tl_move_done(struct lp_view *view, uint32_t pe, uint32_t context, uint32_t move)
{
    cw_check(view->ctx, context < view->m->contexts && move <= LP_MOVE_STORE);
    const struct lp_context *c = lp_context(view->m, lp_pe(view->m, view->cube, pe), context);
    if (move == 0) {
        LP_INVARIANT("I-TL-1", view->ctx, c->kernel.wait == LP_WAIT_DMA,
                     "PE %u, context %u: wait %u", pe, context, c->kernel.wait);
        tl_resume(view, pe, context);
        return;
    }
    *CW_MUT(view->ctx, lp_move_state(c, move)) = LP_MOVE_DONE;
    if (c->kernel.wait == LP_WAIT_DMA && c->kernel.call.kind == CALL_WAIT_DMA &&
        c->kernel.call.move == move)
        tl_resume(view, pe, context);
}

void tl_channel_freed(struct lp_view *view, uint32_t pe, enum hw_vc vc)
{
    for (uint32_t i; lp_dma_has_room(view, pe, vc);) {
        i = longest_waiting(view, pe, UINT32_MAX, LP_WAIT_CHANNEL, (uint32_t)vc, 0);
        if (i == UINT32_MAX)
            return;
        tl_resume(view, pe, i);
    }
}
