/*
 * io_die.c: the LPs around the cubes: a SIP's IO die, and the host, which only counts answers
 * (hw/HARDWARE.md, "Structure", "Routing", "Control plane"). A crossing is one event, at the time
 * the transfer's tail enters.
 */
#include "lp/fabric/io_die.h"

#include <stdio.h>

#include "hw/topology/broken.h"
#include "lp/coarse.h"
#include "lp/fabric/fabric.h"
#include "lp/fabric/sequencer.h"
#include "lp/replay_watch.h"

/* ---- IO die ---------------------------------------------------------------------------------- */

static size_t io_die_state_bytes(const struct lp_model *m)
{
    return m->sequencer_offset + lp_sequencer_bytes(&m->needs);
}

static void nothing_to_init(const struct lp_model *m, uint32_t lp, void *state)
{
    (void)m, (void)lp, (void)state;
}

struct die_view {
    struct cw_ctx *ctx;
    const struct lp_model *m;
    const struct lp_io_die *die;
    uint32_t lp, sip;
};

static void cross_io_die_link(struct die_view *view, struct hw_flight *flight,
                              enum hw_link_kind kind, uint32_t index, enum hw_node_kind next)
{
    const int64_t next_overhead_ps = next < HW_NODE_KINDS ? view->m->hw.overhead_ps[next] : 0;
    struct hw_link *const link = lp_link(view->ctx, view->m, &view->die->link[index], flight);
    if (__builtin_expect(!view->m->hw.watched, 1)) {
        hw_flight_cross(flight, &view->m->hw.link[kind], link, view->m->first_batch,
                        next_overhead_ps);
        return;
    }
    const int64_t sigma_before_ps = flight->sigma_ps;
    const struct hw_jitter_place place = lp_die_link_place(view->m, view->sip, index);
    const int64_t late_ps = lp_late_link_ps(&view->m->hw, kind, place, flight);
    const int64_t wait_ps =
        lp_is_coarse(&view->m->config)
            ? lp_coarse_cross(view->ctx, view->m, LP_OF_IO_DIE, index, flight,
                              &view->m->hw.link[kind], link, next_overhead_ps, late_ps)
            : hw_flight_cross_late(flight, &view->m->hw.link[kind], link, view->m->first_batch,
                                   next_overhead_ps, late_ps);
    if (lp_is_coarse(&view->m->config))
        lp_watch_idle(view->m, view->sip, wait_ps);
    if (lp_traces_causes(view->m))
        lp_cause_crossed(flight, sigma_before_ps, wait_ps > 0, kind, index, next);
    lp_link_crossed(view->ctx, view->m, view->lp, index, view->m->hw.link[kind].rate, flight, link);
}

/* From the IO port into the SIP: to the edge cube of the destination's row or column. */
static void enter_sip(struct die_view *view, const struct cw_event *event, struct hw_flight *flight,
                      struct lp_transfer *transfer, enum hw_port port)
{
    const struct lp_model *m = view->m;
    const struct hw_spot cube = lp_cube_spot(m, lp_place_of(m, transfer->dst).cube);
    const bool side = port == HW_PORT_E || port == HW_PORT_W;
    const uint32_t lane = side ? cube.y : cube.x; /* the row or column of the edge cube, too */
    const uint32_t x = port == HW_PORT_E ? m->hw.cube_w - 1 : port == HW_PORT_W ? 0 : cube.x;
    const uint32_t y = port == HW_PORT_S ? m->hw.cube_h - 1 : port == HW_PORT_N ? 0 : cube.y;
    const uint32_t edge = y * m->hw.cube_w + x;
    cross_io_die_link(view, flight, HW_LINK_UCIE, m->links.edge[port] + lane, HW_NODE_UCIE_PORT);
    lp_set_port(transfer, port);
    const uint32_t first_cube = 1 + (view->lp - m->lps.first_io_die) * m->cubes;
    lp_forward(view->ctx, first_cube + edge, LP_EVENT_TRANSFER, lp_sender_of(event), transfer,
               flight);
}

/* ---- links that fail ------------------------------------------------------------------------- */

/* Between which parts a link is, for messages. */
static void name_link(const struct lp_model *m, uint32_t stop, uint32_t outlet, char *text,
                      size_t bytes)
{
    char from[HW_PART_NAME_BYTES], to[HW_PART_NAME_BYTES], link[HW_PART_NAME_BYTES];
    snprintf(text, bytes, "link '%s', from %s to %s,",
             hw_outer_link_name(&m->hw, stop, outlet, link), hw_stop_name(&m->hw, stop, from),
             hw_stop_name(&m->hw, hw_hop(hw_whole(&m->hw), stop, outlet).to, to));
}

static _Noreturn void fail_down(struct cw_ctx *ctx, const struct lp_model *m,
                                const struct lp_transfer *transfer, uint32_t stop, uint32_t outlet,
                                const char *what)
{
    const struct hw_place from = lp_place_of(m, transfer->src), to = lp_place_of(m, transfer->dst);
    char link[3 * HW_PART_NAME_BYTES];
    name_link(m, stop, outlet, link, sizeof link);
    cw_fail(ctx, CW_PROGRAM_FAILED,
            "IpcqLinkDown: %s failed at %.3f ns %s from PE %u.%u.%u to PE %u.%u.%u (faults)", link,
            (double)m->hw.later_ps / 1000, what, from.sip, from.cube, from.pe, to.sip, to.cube,
            to.pe);
}

/* That there is a link on the way: from a SIP that has failed, or to it, no way leads. */
void lp_check_way(struct cw_ctx *ctx, const struct lp_model *m, const struct lp_transfer *transfer,
                  const struct hw_hop *hop, uint32_t stop, uint32_t outlet)
{
    if (__builtin_expect(hop->link < HW_LINK_KINDS, 1))
        return;
    cw_check(ctx, m->hw.later != NULL && (transfer->port & LP_PORT_LATER));
    fail_down(ctx, m, transfer, stop, outlet, "and leaves no way for what begins later");
}

/* That the tail of a transfer that began before has left the link, at `left_ps`, when that fails.
 */
void lp_check_left(struct cw_ctx *ctx, const struct lp_model *m, const struct lp_transfer *transfer,
                   uint32_t stop, uint32_t outlet, int64_t left_ps)
{
    if (__builtin_expect(m->hw.later == NULL, 1) || (transfer->port & LP_PORT_LATER) ||
        left_ps <= m->hw.later_ps || hw_hop(m->hw.later, stop, outlet).link < HW_LINK_KINDS)
        return;
    fail_down(ctx, m, transfer, stop, outlet, "before the tail had left it of a transfer");
}

/* ---- ways out -------------------------------------------------------------------------------- */

/* Out of the SIP by the link of an outlet. What goes to a switch is relabelled when it leaves that:
 * a switch of a representative SIP is a representative, too. */
static void leave_sip(struct die_view *view, const struct cw_event *event, struct hw_flight *flight,
                      struct lp_transfer *transfer, uint32_t outlet)
{
    const struct lp_model *m = view->m;
    const struct hw_hop hop = hw_hop(lp_routes_of(m, transfer), view->sip, outlet);
    lp_check_way(view->ctx, m, transfer, &hop, view->sip, outlet);
    const bool to_switch = hw_is_switch(&m->hw, hop.to);
    cross_io_die_link(view, flight, hop.link, m->links.first[LP_LINKS_OUTER] + outlet,
                      hw_node_at(&m->hw, hop.to));
    lp_check_left(view->ctx, m, transfer, view->sip, outlet,
                  flight->tau_ps - hw_hop_ps(&m->hw, hop.link, hop.to));
    lp_set_port(transfer, hop.in);
    transfer->exit = HW_OUTLET_NONE;
    transfer->flags |= LP_TRANSFER_OUTSIDE;
    lp_route_left(m, view->sip, transfer);
    const struct lp_sender sender = lp_sender_of(event);
    if (to_switch) {
        const uint32_t next = lp_sip_ahead(m, hop.to, lp_sip_of(m, transfer->dst), transfer);
        lp_forward_out(view->ctx, lp_of_switch(m, hop.to - m->hw.sip_count), LP_EVENT_TRANSFER,
                       sender, lp_entity_seen(m, sender.entity, view->sip, next), transfer, flight);
        lp_watch_crossing(view->ctx, m, view->sip, LP_AT_SWITCH, flight->tau_ps);
    } else {
        lp_move_transfer(m, hop.to, transfer);
        lp_forward_out(view->ctx, lp_of_io_die(m, hop.to), LP_EVENT_TRANSFER, sender,
                       lp_entity_at(m, sender.entity, view->sip, hop.to), transfer, flight);
        lp_watch_crossing(view->ctx, m, view->sip, hop.to, flight->tau_ps);
    }
}

/* From a port to io_cpu, which is a server. */
static void to_io_cpu(struct die_view *view, const struct cw_event *event, struct hw_flight *flight,
                      const struct lp_transfer *transfer, enum hw_port port)
{
    const struct lp_model *m = view->m;
    cross_io_die_link(view, flight, HW_LINK_HUB, m->links.first[LP_LINKS_HUB_IN] + port,
                      HW_NODE_IO_HUB);
    cross_io_die_link(view, flight, HW_LINK_HUB, m->links.first[LP_LINKS_TO_IO_CPU], HW_NODE_KINDS);
    lp_forward(view->ctx, event->lp, LP_EVENT_CPU_ARRIVAL, lp_sender_of(event), transfer, flight);
}

/* A transfer's tail enters an IO port: from a cube of this SIP by a port, or from outside by an
 * outlet. */
static void enter_io_port(struct die_view *view, const struct cw_event *event)
{
    const struct lp_model *m = view->m;
    struct lp_transfer transfer = *LP_PAYLOAD(view->ctx, event, struct lp_transfer);
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    const uint32_t to_sip = lp_sip_of(m, transfer.dst);
    const bool from_cube = !(transfer.flags & LP_TRANSFER_OUTSIDE);
    transfer.flags &= (uint8_t)~LP_TRANSFER_OUTSIDE;
    const enum hw_port port = lp_port_of(&transfer);
    cw_check(view->ctx, port < HW_PORTS);
    if (lp_to_host(&transfer)) {
        to_io_cpu(view, event, &flight, &transfer, port);
    } else if (transfer.kind == LP_TRANSFER_PART) {
        leave_sip(view, event, &flight, &transfer, transfer.exit);
    } else if (to_sip == view->sip && transfer.kind == LP_TRANSFER_SIGNAL) {
        to_io_cpu(view, event, &flight, &transfer, port);
    } else if (to_sip == view->sip) {
        enter_sip(view, event, &flight, &transfer, port);
    } else if (from_cube) {
        /* the cubes have chosen the port by the same outlet */
        leave_sip(view, event, &flight, &transfer, lp_outlet_of(m, &transfer, view->sip, to_sip));
    } else {
        const uint32_t out = hw_route_exit(lp_routes_of(m, &transfer), view->sip, to_sip,
                                           lp_route_key(m, &transfer));
        cross_io_die_link(view, &flight, HW_LINK_HUB, m->links.first[LP_LINKS_HUB_IN] + port,
                          HW_NODE_IO_HUB);
        cross_io_die_link(view, &flight, HW_LINK_HUB,
                          m->links.first[LP_LINKS_HUB_OUT] + hw_side(&m->hw, out), HW_NODE_IO_PORT);
        leave_sip(view, event, &flight, &transfer, out);
    }
}

/* io_cpu serves one message at a time, both ways together, in order of arrival. */
static void io_cpu_arrival(struct die_view *view, const struct cw_event *event)
{
    const struct lp_transfer transfer = *LP_PAYLOAD(view->ctx, event, struct lp_transfer);
    int64_t *free_ps = CW_MUT(view->ctx, &view->die->io_cpu_free_ps);
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    if (*free_ps > flight.tau_ps)
        flight.tau_ps = *free_ps;
    flight.tau_ps += view->m->hw.overhead_ps[HW_NODE_IO_CPU];
    *free_ps = flight.tau_ps;
    if (lp_traces_causes(view->m))
        lp_cause_flight_part(LP_PART_SERVER, flight.tau_ps - cw_now(view->ctx));
    lp_forward(view->ctx, event->lp, LP_EVENT_CPU_DONE, lp_sender_of(event), &transfer, &flight);
    if (view->m->replay != NULL && lp_is_of_program(view->m, &transfer))
        view->m->replay->completed(view->m->replay->arg, view->ctx, view->sip,
                                   lp_launch_of(view->m, transfer.seq)->op - 1);
}

static void io_cpu_done(struct die_view *view, const struct cw_event *event)
{
    const struct lp_model *m = view->m;
    struct lp_transfer transfer = *LP_PAYLOAD(view->ctx, event, struct lp_transfer);
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    const bool signals = transfer.kind == LP_TRANSFER_SIGNAL;
    if (transfer.kind == LP_TRANSFER_BEGIN || lp_is_of_program(m, &transfer) ||
        (signals && lp_sip_of(m, transfer.dst) == view->sip)) {
        lp_sequencer_message(view->ctx, view->die, view->sip, &transfer);
        return;
    }
    if (lp_to_host(&transfer)) {
        cross_io_die_link(view, &flight, HW_LINK_PCIE, m->links.first[LP_LINKS_TO_HOST],
                          HW_NODE_HOST);
        lp_forward_out(view->ctx, 0, LP_EVENT_HOST, lp_sender_of(event),
                       lp_entity_seen(m, event->entity, view->sip, 0), &transfer, &flight);
        return;
    }
    cross_io_die_link(view, &flight, HW_LINK_HUB, m->links.first[LP_LINKS_FROM_IO_CPU],
                      HW_NODE_IO_HUB);
    if (signals) {
        const uint32_t out = hw_route_exit(lp_routes_of(m, &transfer), view->sip,
                                           lp_sip_of(m, transfer.dst), lp_route_key(m, &transfer));
        cross_io_die_link(view, &flight, HW_LINK_HUB,
                          m->links.first[LP_LINKS_HUB_OUT] + hw_side(&m->hw, out), HW_NODE_IO_PORT);
        leave_sip(view, event, &flight, &transfer, out);
        return;
    }
    cross_io_die_link(view, &flight, HW_LINK_HUB, m->links.first[LP_LINKS_HUB_OUT] + HW_PORT_W,
                      HW_NODE_IO_PORT);
    enter_sip(view, event, &flight, &transfer, HW_PORT_W);
}

static void io_die_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct lp_model *m = cw_model_data(ctx);
    struct die_view view = {ctx, m, state, event->lp,
                            lp_sip_at(m, event->lp - m->lps.first_io_die)};
    switch (event->type) {
    case LP_EVENT_TRANSFER:
        enter_io_port(&view, event);
        break;
    case LP_EVENT_CPU_ARRIVAL:
        io_cpu_arrival(&view, event);
        break;
    case LP_EVENT_CPU_DONE:
        io_cpu_done(&view, event);
        break;
    default:
        cw_fail(ctx, CW_BUG, "IO die %u: unknown event type %u", view.sip, event->type);
    }
}

const struct lp_ops lp_io_die_ops = {"io_die", io_die_state_bytes, nothing_to_init, io_die_handle};

/* ---- host ------------------------------------------------------------------------------------ */

static size_t host_state_bytes(const struct lp_model *m)
{
    (void)m;
    return sizeof(struct lp_host);
}

/* As a record only where the event may be undone: one thread has all answers. */
static void complete_kernel(struct cw_ctx *ctx, const struct lp_transfer *transfer)
{
    const struct lp_emitted *const emit = &((const struct lp_model *)cw_model_data(ctx))->emit;
    const struct lp_answer answer = {cw_now(ctx), transfer->src, transfer->seq};
    uint32_t worker;
    if (cw_is_final(ctx, &worker))
        emit->answer(emit->answer_arg, &answer);
    else
        cw_emit(ctx, LP_RECORD_ANSWER, &answer, sizeof answer);
}

static void host_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct lp_host *host = state;
    cw_check(ctx, event->type == LP_EVENT_HOST);
    const struct lp_transfer *const transfer = LP_PAYLOAD(ctx, event, struct lp_transfer);
    if (transfer->kind == LP_TRANSFER_DONE) {
        complete_kernel(ctx, transfer);
        return;
    }
    struct lp_host *const own = CW_MUT(ctx, host);
    own->acknowledged++;
    own->last_ps = cw_now(ctx);
}

const struct lp_ops lp_host_ops = {"host", host_state_bytes, nothing_to_init, host_handle};
