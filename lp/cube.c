/*
 * cube.c: the LP of a cube: eight PEs (by default), their NoC, their memories and the m_cpu that
 * hands them control messages (hw/HARDWARE.md, "Control plane"). It hands each event to the block
 * that it is for. A transfer's crossing of the cube is one event, at the time its tail enters.
 */
#include "lp/cube.h"

#include "lp/fabric/fabric.h"
#include "lp/fabric/pe_dma.h"
#include "lp/fabric/remote_load.h"
#include "lp/fabric/transfer.h"
#include "lp/kernel/tl_mmu.h"
#include "lp/kernel/tl_runtime.h"
#include "lp/queues/ipcq.h"
#include "lp/queues/one_sided.h"

static size_t cube_state_bytes(const struct lp_model *m) { return m->cube.state_bytes; }

static void cube_init(const struct lp_model *m, uint32_t lp, void *state)
{
    (void)lp;
    for (uint32_t i = 0; i < m->pes; i++) {
        struct lp_pe *pe =
            (struct lp_pe *)((uint8_t *)state + m->cube.pe_offset + i * m->cube.pe_bytes);
        hw_dma_init(&pe->dma);
        pe->dma.whole_chunks = m->hw.contention == HW_CONTENTION_CHUNK;
        for (uint32_t queue = 0; queue < m->needs.queues; queue++)
            ((struct lp_pe_queue *)((uint8_t *)pe + m->cube.queue_offset))[queue].last_polled =
                HW_DIRS_MAX - 1;
        pe->served = 0xfedcba9876543210u;
    }
}

/* A transfer's tail enters by a UCIe port. */
static void enter_cube(struct lp_view *view, const struct cw_event *event)
{
    struct lp_transfer transfer = *LP_PAYLOAD(view->ctx, event, struct lp_transfer);
    cw_check(view->ctx, lp_port_of(&transfer) < HW_PORTS);
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    const struct lp_model *m = view->m;
    lp_cross_in(view, &flight, lp_port_of(&transfer));
    lp_route_on(view, lp_sender_of(event), &flight, &transfer,
                m->router.of_port[lp_port_of(&transfer)]);
}

/* m_cpu serves one message at a time, in order of arrival. */
static void m_cpu_arrival(struct lp_view *view, const struct cw_event *event)
{
    const struct lp_transfer transfer = *LP_PAYLOAD(view->ctx, event, struct lp_transfer);
    int64_t *free_ps = CW_MUT(view->ctx, &view->cube->m_cpu_free_ps);
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    if (*free_ps > flight.tau_ps)
        flight.tau_ps = *free_ps;
    flight.tau_ps += view->m->hw.overhead_ps[HW_NODE_M_CPU];
    *free_ps = flight.tau_ps;
    if (lp_traces_causes(view->m))
        lp_cause_flight_part(LP_PART_SERVER, flight.tau_ps - cw_now(view->ctx));
    lp_forward(view->ctx, view->lp, LP_EVENT_CPU_DONE, lp_sender_of(event), &transfer, &flight);
}

/* pe_cpu keeps a launch until the kernels of its batch may start. */
static void wait_for_start(struct lp_view *view, const struct lp_transfer *launch,
                           struct hw_flight *flight)
{
    cw_check(view->ctx, lp_has_launch(view->m, launch->seq));
    const int64_t start_ps = lp_launch_of(view->m, launch->seq)->start_ps;
    if (flight->tau_ps >= start_ps)
        return;
    if (lp_traces_causes(view->m))
        lp_cause_flight_part(LP_PART_TOGETHER, start_ps - flight->tau_ps);
    flight->tau_ps = start_ps;
}

static void m_cpu_done(struct lp_view *view, const struct cw_event *event)
{
    struct lp_transfer transfer = *LP_PAYLOAD(view->ctx, event, struct lp_transfer);
    const struct lp_model *m = view->m;
    const uint32_t pe = lp_pe_in_cube(m, transfer.dst);
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    lp_cross_m_cpu(view, &flight, false);
    if (lp_to_host(&transfer)) {
        lp_route_on(view, lp_sender_of(event), &flight, &transfer, m->router.centre);
        return;
    }
    lp_cross_noc(view, &flight, m->router.centre, m->router.of_pe[pe]);
    lp_cross_pe_in(view, &flight, pe, HW_NODE_PE_CPU);
    if (transfer.kind == LP_TRANSFER_LAUNCH)
        wait_for_start(view, &transfer, &flight);
    lp_forward(view->ctx, view->lp, LP_EVENT_PE_CPU, lp_sender_of(event), &transfer, &flight);
}

/* A control message takes effect at a PE. */
static void pe_cpu_effect(struct lp_view *view, const struct lp_transfer *transfer)
{
    const uint32_t pe = lp_pe_in_cube(view->m, transfer->dst);
    if (transfer->kind == LP_TRANSFER_INIT) {
        lp_ipcq_install(view, pe, transfer->seq);
        lp_send_to_host(view, pe, LP_TRANSFER_ACK, 0);
    } else if (transfer->kind >= LP_TRANSFER_MAP) { /* a write's data is in the host's tables */
        if (transfer->kind == LP_TRANSFER_MAP)
            tl_map(view, pe, transfer->seq);
        lp_send_to_host(view, pe, LP_TRANSFER_ACK, 0);
    } else {
        cw_check(view->ctx, transfer->kind == LP_TRANSFER_LAUNCH);
        tl_launch(view, pe, transfer->seq);
    }
}

/* A run of PE_DMA's engine ends. A call that has found the channel full takes the place that has
 * become free, before the engine continues. */
static void engine_run_ended(struct lp_view *view, const struct lp_signal *signal)
{
    enum hw_vc freed;
    if (!lp_dma_engine(view, signal->pe, signal->arg, &freed))
        return;
    if (freed != HW_VCS)
        tl_channel_freed(view, signal->pe, freed);
    lp_dma_continue(view, signal->pe);
}

static void credit_arrived(struct lp_view *view, const struct lp_signal *signal)
{
    if (lp_ipcq_credit(view, signal))
        tl_arrived(view, signal->pe, LP_WAIT_CREDIT, signal->dir, 0);
}

static void tile_visible(struct lp_view *view, const struct lp_transfer *tile)
{
    if (lp_ipcq_visible(view, tile))
        tl_arrived(view, lp_pe_in_cube(view->m, tile->dst), LP_WAIT_DATA, tile->dir, 0);
}

/* A put or a notification is complete. It may be the one that others have waited for. */
static void one_sided_complete(struct lp_view *view, const struct lp_transfer *transfer)
{
    const uint32_t pe = lp_pe_in_cube(view->m, transfer->dst);
    struct lp_early landed;
    for (bool more = lp_one_sided_land(view, transfer, &landed); more;
         more = lp_one_sided_next(view, pe, &landed))
        if (landed.kind == LP_TRANSFER_NOTIFY)
            tl_arrived(view, pe, LP_WAIT_NOTIFY, landed.tag, landed.src);
}

static void pe_signal(struct lp_view *view, const struct cw_event *event)
{
    const struct lp_signal *signal = LP_PAYLOAD(view->ctx, event, struct lp_signal);
    cw_check(view->ctx, signal->pe < view->m->pes);
    if (event->type == LP_EVENT_ENGINE)
        engine_run_ended(view, signal);
    else if (event->type == LP_EVENT_CREDIT)
        credit_arrived(view, signal);
    else if (event->type == LP_EVENT_DMA_DONE)
        tl_move_done(view, signal->pe, signal->context, signal->arg);
    else
        tl_resume(view, signal->pe, signal->context);
}

static void cube_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct lp_model *m = cw_model_data(ctx);
    const uint32_t cube_index = event->lp - 1, index = hw_divide(cube_index, &m->by.cubes);
    struct lp_view view = {.ctx = ctx,
                           .m = m,
                           .cube = state,
                           .lp = event->lp,
                           .sip = lp_sip_at(m, index),
                           .cube_in_sip = cube_index - index * m->cubes};
    switch (event->type) {
    case LP_EVENT_TRANSFER:
        enter_cube(&view, event);
        break;
    case LP_EVENT_VISIBLE:
        tile_visible(&view, LP_PAYLOAD(ctx, event, struct lp_transfer));
        break;
    case LP_EVENT_LAND:
        one_sided_complete(&view, LP_PAYLOAD(ctx, event, struct lp_transfer));
        break;
    case LP_EVENT_MEMORY:
        lp_dma_memory(&view, event, *LP_PAYLOAD(ctx, event, struct lp_load));
        break;
    case LP_EVENT_LEND:
        lp_load_lend(&view, event, *LP_PAYLOAD(ctx, event, struct lp_transfer));
        break;
    case LP_EVENT_ENGINE:
    case LP_EVENT_CREDIT:
    case LP_EVENT_DMA_DONE:
    case LP_EVENT_KERNEL:
        pe_signal(&view, event);
        break;
    case LP_EVENT_CPU_ARRIVAL:
        m_cpu_arrival(&view, event);
        break;
    case LP_EVENT_CPU_DONE:
        m_cpu_done(&view, event);
        break;
    case LP_EVENT_PE_CPU:
        pe_cpu_effect(&view, LP_PAYLOAD(ctx, event, struct lp_transfer));
        break;
    default:
        cw_fail(ctx, CW_BUG, "cube %u.%u: unknown event type %u", view.sip, view.cube_in_sip,
                event->type);
    }
}

const struct lp_ops lp_cube_ops = {"cube", cube_state_bytes, cube_init, cube_handle};
