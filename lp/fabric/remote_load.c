/*
 * remote_load.c: a load from a memory of another PE (hw/HARDWARE.md, "Loads and stores"). The
 * request is a transfer of 0 bytes to the memory. The response is a transfer of all bytes from
 * there to the TCM of the loading PE. HBM slices and the SRAM are reached over the NoC, a TCM
 * through the PE_DMA of its PE. Within one cube a request to HBM or SRAM takes the way of a load's,
 * and its events. Runs in handlers only: the request's part on the loading PE's cube, the rest on
 * the memory's.
 *
 * The value is bound when the request is at the memory, by a record of that cube (LENT). So the
 * records of one cube alone decide the contents of its memories, and the values read there.
 */
#include "lp/fabric/remote_load.h"

#include "lp/fabric/fabric.h"
#include "lp/fabric/transfer.h"

void lp_load_request(struct lp_view *view, const struct cw_event *event, const struct lp_load *load)
{
    const struct lp_model *m = view->m;
    struct lp_transfer request = {
        .src = lp_pe_index(view, load->pe),
        .dst = load->peer,
        .seq = load->seq,
        .batch = lp_pe_queue(m, lp_pe(m, view->cube, load->pe), load->queue)->batch,
        .kind = LP_TRANSFER_LOAD,
        .dir = load->owner,
        .memory = load->memory,
        .port = load->later ? LP_PORT_LATER : 0,
        .exit = HW_OUTLET_NONE,
        .flags = (uint8_t)(load->queue << LP_TRANSFER_QUEUE_SHIFT),
        .order = load->bytes};
    if (!lp_load_is_far(view, load->peer, (enum hw_memory)load->memory)) {
        lp_load_lend(view, event, request);
        return;
    }
    struct hw_flight flight =
        lp_flight(view->ctx, view->m, view->sip, &request); /* no LAST: a request is never late */
    lp_route_on(view, lp_sender_of(event), &flight, &request, m->router.of_pe[load->pe]);
}

static void emit_lent(struct lp_view *view, const struct lp_transfer *request)
{
    static const uint8_t space[] = {[HW_MEMORY_TCM] = LP_SPACE_TCM,
                                    [HW_MEMORY_HBM] = LP_SPACE_HBM,
                                    [HW_MEMORY_SRAM] = LP_SPACE_SRAM};
    const struct lp_op op = {.t_start_ps = cw_now(view->ctx),
                             .t_end_ps = cw_now(view->ctx),
                             .pe = request->dst,
                             .kind = LP_OP_LENT,
                             .bytes = request->order,
                             .seq = request->dir,
                             .peer = request->src,
                             .a = {.space = space[request->memory], .at = request->seq}};
    if (view->m->emit.ops)
        cw_emit(view->ctx, LP_RECORD_OP, &op, sizeof op);
}

/* A piece leaves the memory and is at the router of the memory, or of the PE whose TCM it is.
 * Returns when its tail has left its first link. A TCM's has no other use for this way: it is not
 * reserved. */
static int64_t leave_memory(struct lp_view *view, struct hw_flight *flight, uint32_t pe,
                            enum hw_memory memory, uint32_t *router)
{
    const struct lp_model *m = view->m;
    const enum hw_link_kind kind = memory == HW_MEMORY_TCM ? HW_LINK_TCM : lp_memory_link(memory);
    flight->sigma_ps = hw_ser_ps(&m->hw.link[kind], flight->bytes);
    flight->tau_ps += flight->sigma_ps;
    if (lp_traces_causes(m))
        lp_cause_flight_part(memory == HW_MEMORY_HBM   ? LP_PART_SER_HBM
                             : memory == HW_MEMORY_TCM ? LP_PART_SER_TCM
                                                       : LP_PART_SER_SRAM,
                             flight->sigma_ps);
    *router = lp_memory_router(m, memory, pe);
    if (memory != HW_MEMORY_TCM)
        return lp_cross_from_memory(view, flight, *router, memory, pe);
    const int64_t left_ps = flight->tau_ps;
    if (lp_traces_causes(m)) {
        lp_cause_pass(kind, HW_NODE_KINDS);
        lp_cause_flight_part(LP_PART_DMA, lp_dma_out_ps(view, pe, flight->operation));
    }
    hw_flight_cross(flight, &m->hw.link[kind], NULL, 0, lp_dma_out_ps(view, pe, flight->operation));
    lp_cross_pe_out(view, flight, pe);
    *router = m->router.of_pe[pe];
    return left_ps;
}

void lp_load_lend(struct lp_view *view, const struct cw_event *event, struct lp_transfer request)
{
    const struct lp_model *m = view->m;
    const uint32_t sent = request.bytes, left = request.order - sent;
    const bool piecewise = m->hw.contention == HW_CONTENTION_CHUNK;
    const uint32_t bytes = piecewise && left > m->dma.chunk_bytes ? m->dma.chunk_bytes : left;
    const bool last = bytes == left;
    cw_check(view->ctx, sent <= request.order && request.memory < HW_MEMORY_NONE);
    if (sent == 0) { /* all pieces of the response take the way of the first */
        emit_lent(view, &request);
        request.port = lp_port_from(m, cw_now(view->ctx));
    }
    struct hw_flight flight = {.tau_ps = cw_now(view->ctx),
                               .bytes = bytes,
                               .epoch = request.batch,
                               .operation = lp_piece(m, lp_sender_of(event), view->sip, last)};
    struct lp_transfer response = {.src = request.dst,
                                   .dst = request.src,
                                   .bytes = bytes,
                                   .batch = request.batch,
                                   .kind = LP_TRANSFER_LOADED,
                                   .flags =
                                       (uint8_t)(request.flags | (last ? LP_TRANSFER_LAST : 0)),
                                   .dir = request.dir,
                                   .memory = HW_MEMORY_TCM,
                                   .port = request.port & LP_PORT_LATER,
                                   .exit = HW_OUTLET_NONE,
                                   .piece = (uint16_t)hw_divide(sent, &m->by.dma_chunk),
                                   .order = request.order};
    uint32_t router;
    const int64_t first_left_ps = leave_memory(view, &flight, lp_pe_in_cube(m, request.dst),
                                               (enum hw_memory)request.memory, &router);
    lp_route_on(view, lp_sender_of(event), &flight, &response, router);
    request.bytes += bytes;
    if (last)
        return;
    cw_send(view->ctx, view->lp, first_left_ps - cw_now(view->ctx), LP_EVENT_LEND, event->entity,
            event->number, &request, sizeof request);
    if (lp_traces_causes(m))
        lp_cause_sent(view->ctx, LP_EVENT_LEND, lp_sender_of(event), first_left_ps);
}
