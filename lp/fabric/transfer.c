/*
 * transfer.c: where a transfer goes from a router of a cube (hw/HARDWARE.md, "Routing", "Timing of
 * a transfer"): to the next LP, to m_cpu, or, at its destination, to the queue, the memory or the
 * waiting kernel. The data of a send, a put or a raw store passes the destination's PE_DMA on its
 * way to the memory; the data of a direct store goes to the memory at once. A credit, a
 * notification and an acknowledgement end at PE_DMA. The request of a remote load goes to its
 * memory. Runs in handlers only.
 */
#include "lp/fabric/transfer.h"

#include "lp/fabric/fabric.h"
#include "lp/fabric/moves.h"

/* From PE_DMA to the memory. */
static void cross_to_memory(struct lp_view *view, struct hw_flight *flight, uint32_t pe,
                            enum hw_memory memory)
{
    if (memory == HW_MEMORY_TCM) {
        lp_cross_tcm(view, flight, pe);
        return;
    }
    lp_cross_pe_out(view, flight, pe);
    lp_cross_to_memory(view, flight, view->m->router.of_pe[pe], memory, pe);
}

/* A put_reduce: the reduce unit is one more link after the memory, without distance or overhead. */
static void cross_reduce(struct lp_view *view, struct hw_flight *flight, uint32_t pe)
{
    const struct lp_model *m = view->m;
    const struct hw_link_class unit = {.prop_ps = 0, .rate = m->hw.dma_reduce};
    const uint32_t index = m->links.first[LP_LINKS_REDUCE] + pe;
    struct hw_link *const link = lp_link(view->ctx, m, &view->cube->link[index], flight);
    const int64_t sigma_before_ps = flight->sigma_ps;
    const int64_t wait_ps = hw_flight_cross(flight, &unit, link, m->first_batch, 0);
    if (lp_traces_causes(m))
        lp_cause_crossed(flight, sigma_before_ps, wait_ps > 0, HW_LINK_KINDS, index, HW_NODE_KINDS);
    if (m->hw.watched)
        lp_link_crossed(view->ctx, m, view->lp, index, unit.rate, flight, link);
}

static void emit_stored(struct lp_view *view, int64_t stored_ps, const struct lp_transfer *store)
{
    const struct lp_op op = {.t_start_ps = stored_ps,
                             .t_end_ps = stored_ps,
                             .pe = store->dst,
                             .kind = LP_OP_STORED,
                             .seq = store->seq,
                             .peer = store->src};
    if (view->m->emit.ops)
        cw_emit(view->ctx, LP_RECORD_OP, &op, sizeof op);
}

/* A raw store is in its memory: its acknowledgement goes back over the same path with 0 bytes. The
 * memory's overhead does not count again. */
static void acknowledge_store(struct lp_view *view, struct lp_sender sender, int64_t stored_ps,
                              const struct lp_transfer *store)
{
    const struct lp_model *m = view->m;
    const struct hw_config *hw = &m->hw;
    const uint32_t pe = lp_pe_in_cube(m, store->dst);
    const enum hw_memory memory = (enum hw_memory)store->memory;
    const bool direct = store->flags & LP_TRANSFER_DIRECT;
    const int64_t back_ps = direct                    ? hw->link[lp_memory_link(memory)].prop_ps
                            : memory == HW_MEMORY_TCM ? hw->link[HW_LINK_TCM].prop_ps
                                                      : lp_memory_way_ps(m, pe, memory, pe);
    const int64_t out_ps =
        direct ? 0 : hw->overhead_ps[HW_NODE_PE_DMA] + hw->link[HW_LINK_PE_NOC].prop_ps;
    struct hw_flight flight = {.tau_ps =
                                   stored_ps + back_ps + out_ps + hw->overhead_ps[HW_NODE_ROUTER],
                               .operation = lp_piece(m, sender, view->sip, true)};
    if (lp_traces_causes(m)) { /* of the steps so far the data's are the first */
        if (direct || memory == HW_MEMORY_TCM)
            lp_cause_pass(memory == HW_MEMORY_TCM ? HW_LINK_TCM : lp_memory_link(memory),
                          direct ? HW_NODE_ROUTER : HW_NODE_PE_DMA);
        else
            lp_note_memory_way(m, pe, memory, pe, false);
        if (!direct && memory != HW_MEMORY_TCM)
            lp_cause_flight_part(LP_PART_DMA, hw->overhead_ps[HW_NODE_PE_DMA]);
        if (!direct)
            lp_cause_pass(HW_LINK_PE_NOC, HW_NODE_ROUTER);
    }
    struct lp_transfer ack = {.src = store->dst,
                              .dst = store->src,
                              .seq = store->seq,
                              .kind = LP_TRANSFER_STORE_ACK,
                              .flags = LP_TRANSFER_LAST,
                              .port = lp_port_from(m, flight.tau_ps),
                              .exit = HW_OUTLET_NONE};
    lp_route_on(view, sender, &flight, &ack,
                direct ? lp_memory_router(m, memory, pe) : m->router.of_pe[pe]);
}

static void credit_arrived(struct lp_view *view, struct lp_sender sender,
                           const struct hw_flight *flight, const struct lp_transfer *transfer)
{
    const struct lp_signal signal = {
        .pe = lp_pe_in_cube(view->m, transfer->dst), .arg = transfer->seq, .dir = transfer->dir};
    lp_send_signal(view->ctx, view->lp, flight->tau_ps - cw_now(view->ctx), LP_EVENT_CREDIT, sender,
                   &signal);
    if (lp_traces_causes(view->m))
        lp_cause_flight_sent(view->ctx, view->lp, LP_EVENT_CREDIT, sender, flight->tau_ps);
}

/* Through the PE_DMA of the destination, and to the memory if the transfer has one. */
static void cross_to_pe(struct lp_view *view, struct hw_flight *flight,
                        const struct lp_transfer *transfer, uint32_t router)
{
    const struct lp_model *m = view->m;
    const uint32_t pe = lp_pe_in_cube(m, transfer->dst);
    lp_cross_noc(view, flight, router, m->router.of_pe[pe]);
    lp_cross_pe_in(view, flight, pe, HW_NODE_PE_DMA);
    const bool tile = transfer->kind == LP_TRANSFER_TILE || transfer->kind == LP_TRANSFER_RESULT;
    if (__builtin_expect(m->slot_access, 0) && tile) {
        if ((transfer->flags & LP_TRANSFER_LAST) && m->slot_write)
            lp_write_slot(view, flight, pe, transfer->order);
    } else if (tile || transfer->kind == LP_TRANSFER_PUT || transfer->kind == LP_TRANSFER_STORE ||
               transfer->kind == LP_TRANSFER_LOADED)
        cross_to_memory(view, flight, pe, (enum hw_memory)transfer->memory);
}

/* From PE_DMA or the slot to the queue. */
static void take_wire(const struct lp_view *view, struct hw_flight *flight, int64_t wire_ps)
{
    flight->tau_ps += wire_ps;
    if (lp_traces_causes(view->m))
        lp_cause_flight_part(LP_PART_WIRE, wire_ps);
}

/* The request of a load from another PE's memory is at `router` of the memory's cube. */
static void request_arrived(struct lp_view *view, struct lp_sender sender, struct hw_flight *flight,
                            const struct lp_transfer *request, uint32_t router)
{
    const struct lp_model *m = view->m;
    const uint32_t pe = lp_pe_in_cube(m, request->dst);
    if (request->memory == HW_MEMORY_TCM) {
        lp_cross_noc(view, flight, router, m->router.of_pe[pe]);
        lp_cross_pe_in(view, flight, pe, HW_NODE_PE_DMA);
        lp_cross_tcm(view, flight, pe);
    } else {
        lp_cross_to_memory(view, flight, router, (enum hw_memory)request->memory, pe);
    }
    lp_forward(view->ctx, view->lp, LP_EVENT_LEND, sender, request, flight);
}

/* A transfer other than a control message is at `router` of its destination's cube. */
static void data_arrived(struct lp_view *view, struct lp_sender sender, struct hw_flight *flight,
                         const struct lp_transfer *transfer, uint32_t router)
{
    const struct lp_model *m = view->m;
    const uint32_t pe = lp_pe_in_cube(m, transfer->dst);
    const bool last = transfer->flags & LP_TRANSFER_LAST;
    if (transfer->kind == LP_TRANSFER_LOAD) {
        request_arrived(view, sender, flight, transfer, router);
        return;
    }
    if (__builtin_expect(transfer->flags & LP_TRANSFER_DIRECT, 0))
        lp_cross_to_memory(view, flight, router, (enum hw_memory)transfer->memory, pe);
    else
        cross_to_pe(view, flight, transfer, router);
    if (transfer->flags & LP_TRANSFER_REDUCE)
        cross_reduce(view, flight, pe);
    if (!last) {
        lp_flight_ended(view->ctx, sender, flight);
        return;
    }
    if (transfer->memory == HW_MEMORY_HBM &&
        (transfer->kind == LP_TRANSFER_PUT || transfer->kind == LP_TRANSFER_STORE))
        lp_note_written(view, lp_pe(m, view->cube, pe), lp_queue_of(transfer), transfer->batch);
    switch (transfer->kind) {
    case LP_TRANSFER_TILE:
    case LP_TRANSFER_RESULT:
        take_wire(view, flight, m->hw.ipcq_wire_ps);
        lp_forward(view->ctx, view->lp, LP_EVENT_VISIBLE, sender, transfer, flight);
        break;
    case LP_TRANSFER_NOTIFY:
        take_wire(view, flight, hw_notify_wire_ps(&m->hw));
        lp_forward(view->ctx, view->lp, LP_EVENT_LAND, sender, transfer, flight);
        break;
    case LP_TRANSFER_PUT:
        lp_forward(view->ctx, view->lp, LP_EVENT_LAND, sender, transfer, flight);
        break;
    case LP_TRANSFER_CREDIT:
        credit_arrived(view, sender, flight, transfer);
        break;
    case LP_TRANSFER_STORE:
        emit_stored(view, flight->tau_ps, transfer);
        acknowledge_store(view, sender, flight->tau_ps, transfer);
        break;
    case LP_TRANSFER_LOADED:
        lp_move_loaded(view, sender, flight, transfer);
        break;
    default:
        cw_check(view->ctx, transfer->kind == LP_TRANSFER_STORE_ACK);
        flight->tau_ps = lp_move_end_ps(view, pe, (uint8_t)transfer->seq, flight->tau_ps);
        if (lp_traces_causes(m))
            lp_cause_flight_sent(view->ctx, view->lp, LP_EVENT_DMA_DONE, sender, flight->tau_ps);
        lp_move_done(view, sender, flight->tau_ps, pe, (uint8_t)transfer->seq);
    }
}

/* From `router` out of the cube by `port`, to the LP at the other end of that port. */
static void leave_cube(struct lp_view *view, struct lp_sender sender, struct hw_flight *flight,
                       struct lp_transfer *transfer, uint32_t router, enum hw_port port)
{
    const struct lp_model *m = view->m;
    uint32_t to_cube = 0;
    const bool to_io_die = !lp_cube_neighbour(m, view->cube_in_sip, port, &to_cube);
    lp_cross_out(view, flight, router, port, to_io_die);
    lp_set_port(transfer, to_io_die ? port : hw_port_opposite(port));
    lp_forward(view->ctx,
               to_io_die ? lp_of_io_die(m, view->sip) : view->lp - view->cube_in_sip + to_cube,
               LP_EVENT_TRANSFER, sender, transfer, flight);
}

void lp_route_on(struct lp_view *view, struct lp_sender sender, struct hw_flight *flight,
                 struct lp_transfer *transfer, uint32_t router)
{
    const struct lp_model *m = view->m;
    const struct hw_place dst = lp_place_of(m, transfer->dst);
    if (lp_to_host(transfer)) {
        leave_cube(view, sender, flight, transfer, router,
                   hw_route_cube_exit(&m->hw, view->cube_in_sip, HW_PORT_W));
    } else if (dst.sip != view->sip || __builtin_expect(transfer->kind == LP_TRANSFER_PART, 0)) {
        const uint32_t exit = lp_outlet_of(m, transfer, view->sip, dst.sip);
        leave_cube(view, sender, flight, transfer, router,
                   hw_route_cube_exit(&m->hw, view->cube_in_sip, hw_side(&m->hw, exit)));
    } else if (dst.cube != view->cube_in_sip) {
        leave_cube(view, sender, flight, transfer, router,
                   lp_route_cube(m, view->cube_in_sip, dst.cube));
    } else if (lp_is_control(transfer)) {
        lp_cross_noc(view, flight, router, m->router.centre);
        lp_cross_m_cpu(view, flight, true);
        lp_forward(view->ctx, view->lp, LP_EVENT_CPU_ARRIVAL, sender, transfer, flight);
    } else {
        data_arrived(view, sender, flight, transfer, router);
    }
}
