/*
 * fabric.c: the links inside a cube (fabric.h; hw/HARDWARE.md, "Timing of a transfer"). Each
 * function advances a flight over some links of this LP's state and reserves them in path order.
 * transfer.c decides which links a transfer takes. Runs in handlers only, on the LP's own worker.
 */
#include "lp/fabric/fabric.h"
#include "lp/fabric/sequencer.h"
#include "lp/program.h"

#include "lp/coarse.h"
#include "lp/replay_watch.h"

/* Reads one field on its own. Some fields have been written a moment ago. One load of several of
 * them would wait until all have reached the cache. */
static inline uint64_t read_alone(uint64_t field)
{
    __asm__("" : "+r"(field));
    return field;
}

void lp_forward_out(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                    struct lp_sender sender, uint32_t entity, const struct lp_transfer *transfer,
                    const struct hw_flight *flight)
{
    if (lp_traces_causes(cw_model_data(ctx)))
        lp_cause_flight_sent(ctx, to_lp, type, sender, flight->tau_ps);
    const struct lp_transfer *const t = transfer;
    const uint64_t kind = read_alone(t->kind) | read_alone(t->flags) << 8 |
                          read_alone(t->dir) << 16 | read_alone(t->memory) << 24;
    const uint64_t words[] = {
        (uint64_t)flight->sigma_ps,
        read_alone(t->dst) << 32 | read_alone(t->src),
        read_alone(t->seq) << 32 | read_alone(t->bytes),
        kind << 32 | read_alone(t->batch),
        read_alone(t->order) << 32 | read_alone(t->piece) << 16 | read_alone(t->exit) << 8 |
            read_alone(t->port),
    };
    _Static_assert(sizeof words == sizeof *t, "all of it");
    cw_send(ctx, to_lp, flight->tau_ps - cw_now(ctx), (uint16_t)type, entity, sender.number, words,
            sizeof words);
}

void lp_forward(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                struct lp_sender sender, const struct lp_transfer *transfer,
                const struct hw_flight *flight)
{
    lp_forward_out(ctx, to_lp, type, sender, sender.entity, transfer, flight);
}

void lp_flight_ended(struct cw_ctx *ctx, struct lp_sender sender, const struct hw_flight *flight)
{
    if (lp_traces_causes(cw_model_data(ctx)))
        lp_cause_flight_sent(ctx, 0, (enum lp_event_type)0, sender, flight->tau_ps);
}

/* In the account of the flight's batch. */
static void count_in_account(struct cw_ctx *ctx, const struct lp_model *m, uint32_t lp,
                             uint32_t index, const struct hw_flight *flight,
                             const struct hw_link *link)
{
    const enum lp_link_owner kind = lp < m->lps.first_io_die   ? LP_OF_CUBE
                                    : lp < m->lps.first_switch ? LP_OF_IO_DIE
                                                               : LP_OF_SWITCH;
    _Static_assert(offsetof(struct lp_cube, link) == offsetof(struct lp_io_die, link) &&
                       offsetof(struct lp_cube, link) == offsetof(struct lp_switch, link),
                   "a state has its links at one place");
    const uint8_t *const state = (const uint8_t *)(link - index) - offsetof(struct lp_cube, link);
    const uint64_t *const row =
        (const uint64_t *)(state + m->accounts.offset[kind]) + index * m->accounts.row_words;
    if (row[0] < m->first_batch)
        for (size_t i = 0; i < m->accounts.row_words; i++)
            *CW_MUT(ctx, &row[i]) = i == 0 ? link->epoch : 0;
    const uint32_t account =
        flight->epoch >= m->first_batch ? m->accounts.of_batch[flight->epoch - m->first_batch] : 0;
    if (account > 0)
        *CW_MUT(ctx, &row[account]) += flight->bytes;
}

void lp_link_crossed(struct cw_ctx *ctx, const struct lp_model *m, uint32_t lp, uint32_t index,
                     struct hw_rate rate, const struct hw_flight *flight,
                     const struct hw_link *link)
{
    if (link == NULL || flight->epoch == 0)
        return;
    if (m->accounts.row_words > 0)
        count_in_account(ctx, m, lp, index, flight, link);
    if (!m->emit.links)
        return;
    const struct lp_crossed crossed = {.end_ps = link->free_ps,
                                       .busy_ps = hw_rate_ps(rate, flight->bytes),
                                       .lp = lp,
                                       .index = index,
                                       .bytes = flight->bytes,
                                       .batch = flight->epoch};
    cw_emit(ctx, LP_RECORD_CROSSED, &crossed, sizeof crossed);
}

/* The place of link number `index` of this cube, for how late it is. */
static struct hw_jitter_place place_of_link(const struct lp_view *view, uint32_t index)
{
    /* wraps round for a link of no PE */
    const uint32_t of_pe = index - view->m->links.first[LP_LINKS_FROM_PE];
    const uint32_t pe = of_pe / LP_PE_LINKS;
    return (struct hw_jitter_place){view->sip, view->cube_in_sip,
                                    pe < view->m->pes ? pe : HW_JITTER_ANY, index, 0};
}

int64_t lp_late_ps(const struct lp_view *view, const struct hw_flight *flight,
                   enum hw_link_kind kind, uint32_t index)
{
    if (__builtin_expect(!view->m->hw.jittered, 1))
        return 0;
    return lp_late_link_ps(&view->m->hw, kind, place_of_link(view, index), flight);
}

/* fabric_cross() where the link or the node may be late, and noted as a cause. A late PE_DMA or
 * PE_TCM holds the link to it, so that data for a PE keeps its order. */
static __attribute__((noinline, cold)) void cross_watched(struct lp_view *view,
                                                          struct hw_flight *flight,
                                                          enum hw_link_kind kind, uint32_t index,
                                                          enum hw_node_kind next)
{
    const struct hw_config *hw = &view->m->hw;
    const int64_t overhead_ps = hw->overhead_ps[next];
    const int64_t late_ps = lp_late_node_ps(hw, next, place_of_link(view, index), flight->operation,
                                            overhead_ps, flight->tau_ps);
    const bool holds = next == HW_NODE_PE_DMA || next == HW_NODE_PE_TCM;
    struct hw_link *const link = lp_link(view->ctx, view->m, &view->cube->link[index], flight);
    const int64_t sigma_before_ps = flight->sigma_ps;
    const int64_t after_ps = overhead_ps + (holds ? 0 : late_ps),
                  held_ps = lp_late_ps(view, flight, kind, index) + (holds ? late_ps : 0);
    const int64_t wait_ps = lp_is_coarse(&view->m->config)
                                ? lp_coarse_cross(view->ctx, view->m, LP_OF_CUBE, index, flight,
                                                  &hw->link[kind], link, after_ps, held_ps)
                                : hw_flight_cross_late(flight, &hw->link[kind], link,
                                                       view->m->first_batch, after_ps, held_ps);
    if (lp_is_coarse(&view->m->config))
        lp_watch_idle(view->m, view->sip, wait_ps);
    if (lp_traces_causes(view->m)) {
        lp_cause_crossed(flight, sigma_before_ps, wait_ps > 0, kind, index, next);
        if (late_ps > 0)
            lp_cause_late_node();
    }
    lp_link_crossed(view->ctx, view->m, view->lp, index, hw->link[kind].rate, flight, link);
}

/* fabric_cross() where only causes are traced. Returns whether the flight has waited. */
static inline __attribute__((always_inline)) bool
cross_and_report(struct lp_view *view, struct hw_flight *flight, enum hw_link_kind kind,
                 uint32_t index, enum hw_node_kind next)
{
    const struct hw_config *hw = &view->m->hw;
    struct hw_link *const link = lp_link(view->ctx, view->m, &view->cube->link[index], flight);
    return hw_flight_cross(flight, &hw->link[kind], link, view->m->first_batch,
                           hw->overhead_ps[next]) > 0;
}

static inline __attribute__((always_inline)) void
cross_and_note(struct lp_view *view, struct hw_flight *flight, enum hw_link_kind kind,
               uint32_t index, enum hw_node_kind next)
{
    const int64_t sigma_before_ps = flight->sigma_ps;
    const bool waited = cross_and_report(view, flight, kind, index, next);
    lp_cause_crossed(flight, sigma_before_ps, waited, kind, index, next);
}

static __attribute__((noinline)) void cross_noted(struct lp_view *view, struct hw_flight *flight,
                                                  enum hw_link_kind kind, uint32_t index,
                                                  enum hw_node_kind next)
{
    cross_and_note(view, flight, kind, index, next);
}

/* Links that nearly every transfer crosses: their kinds are constants. */
static __attribute__((noinline)) void cross_in_noted(struct lp_view *view, struct hw_flight *flight,
                                                     uint32_t index)
{
    cross_and_note(view, flight, HW_LINK_NOC_UCIE, index, HW_NODE_ROUTER);
}

static __attribute__((noinline)) void cross_pe_in_noted(struct lp_view *view,
                                                        struct hw_flight *flight, uint32_t index,
                                                        enum hw_node_kind node)
{
    cross_and_note(view, flight, HW_LINK_PE_NOC, index, node);
}

static __attribute__((noinline)) void cross_tcm_noted(struct lp_view *view,
                                                      struct hw_flight *flight, uint32_t index)
{
    cross_and_note(view, flight, HW_LINK_TCM, index, HW_NODE_PE_TCM);
}

/* Only causes are traced. */
static inline bool notes_alone(const struct lp_model *m)
{
    return __builtin_expect(m->hw.watched, 0) && !m->hw.jittered && !m->emit.crossings;
}

/* Inlined, since callers know the kinds of link and node: a transfer crosses several links in each
 * event. */
static inline __attribute__((always_inline)) void
fabric_cross(struct lp_view *view, struct hw_flight *flight, enum hw_link_kind kind, uint32_t index,
             enum hw_node_kind next)
{
    const struct hw_config *hw = &view->m->hw;
    if (__builtin_expect(hw->watched, 0))
        (hw->jittered || view->m->emit.crossings ? cross_watched : cross_noted)(view, flight, kind,
                                                                                index, next);
    else
        hw_flight_cross(flight, &hw->link[kind],
                        lp_link(view->ctx, view->m, &view->cube->link[index], flight),
                        view->m->first_batch, hw->overhead_ps[next]);
}

void lp_cross_in(struct lp_view *view, struct hw_flight *flight, enum hw_port port)
{
    const uint32_t index = view->m->links.first[LP_LINKS_IN] + port;
    if (notes_alone(view->m))
        cross_in_noted(view, flight, index);
    else
        fabric_cross(view, flight, HW_LINK_NOC_UCIE, index, HW_NODE_ROUTER);
}

/* A crossing; returns whether the flight has waited, or false if that is not wanted. */
typedef bool cross_fn(struct lp_view *view, struct hw_flight *flight, enum hw_link_kind kind,
                      uint32_t index, enum hw_node_kind next);

/* From router to router as hw_route_noc() goes: by X, then Y. `cross` is inlined. Returns a bit for
 * each link, in their order, that the flight has waited for. */
static inline __attribute__((always_inline)) uint32_t cross_noc_by(cross_fn *cross,
                                                                   struct lp_view *view,
                                                                   struct hw_flight *flight,
                                                                   uint32_t from, uint32_t to)
{
    const struct lp_model *const m = view->m;
    struct hw_spot at = lp_router_spot(m, from);
    const struct hw_spot end = lp_router_spot(m, to);
    uint32_t waits = 0, bit = 1;
    while (from != to) {
        const enum hw_port port = at.x < end.x   ? HW_PORT_E
                                  : at.x > end.x ? HW_PORT_W
                                  : at.y < end.y ? HW_PORT_S
                                                 : HW_PORT_N;
        if (cross(view, flight, HW_LINK_NOC, m->links.first[LP_LINKS_NOC] + from * HW_PORTS + port,
                  HW_NODE_ROUTER))
            waits |= bit;
        bit <<= 1;
        static const int step_x[HW_PORTS] = {0, 0, 1, -1}, step_y[HW_PORTS] = {-1, 1, 0, 0};
        at.x += (uint32_t)step_x[port];
        at.y += (uint32_t)step_y[port];
        from = at.y * m->hw.noc_w + at.x;
    }
    return waits;
}

static inline __attribute__((always_inline)) bool
cross_unreported(struct lp_view *view, struct hw_flight *flight, enum hw_link_kind kind,
                 uint32_t index, enum hw_node_kind next)
{
    fabric_cross(view, flight, kind, index, next);
    return false;
}

/* And a way through a cube is one step. */
static inline bool notes_ways(const struct lp_model *m)
{
    return notes_alone(m) && m->hw.noc_w + m->hw.noc_h <= LP_WAY_HOPS_MAX + 2;
}

/* Without calls between the crossings, so that the processor fetches the next links early. */
static __attribute__((noinline)) void
cross_noc_noted(struct lp_view *view, struct hw_flight *flight, uint32_t from, uint32_t to)
{
    const int64_t sigma_before_ps = flight->sigma_ps;
    const uint32_t waits = cross_noc_by(cross_and_report, view, flight, from, to);
    lp_cause_way(flight, sigma_before_ps, from, to, waits);
}

void lp_cross_noc(struct lp_view *view, struct hw_flight *flight, uint32_t from, uint32_t to)
{
    if (from == to)
        return;
    if (notes_ways(view->m))
        cross_noc_noted(view, flight, from, to);
    else
        cross_noc_by(cross_unreported, view, flight, from, to);
}

static uint32_t pe_link(const struct lp_model *m, uint32_t pe, enum lp_links group)
{
    return m->links.first[group] + pe * LP_PE_LINKS;
}

void lp_cross_pe_in(struct lp_view *view, struct hw_flight *flight, uint32_t pe,
                    enum hw_node_kind node)
{
    const uint32_t index = pe_link(view->m, pe, LP_LINKS_TO_PE);
    if (notes_alone(view->m))
        cross_pe_in_noted(view, flight, index, node);
    else
        fabric_cross(view, flight, HW_LINK_PE_NOC, index, node);
}

void lp_cross_pe_out(struct lp_view *view, struct hw_flight *flight, uint32_t pe)
{
    fabric_cross(view, flight, HW_LINK_PE_NOC, pe_link(view->m, pe, LP_LINKS_FROM_PE),
                 HW_NODE_ROUTER);
}

void lp_cross_tcm(struct lp_view *view, struct hw_flight *flight, uint32_t pe)
{
    const uint32_t index = pe_link(view->m, pe, LP_LINKS_TCM_WRITE);
    if (notes_alone(view->m))
        cross_tcm_noted(view, flight, index);
    else
        fabric_cross(view, flight, HW_LINK_TCM, index, HW_NODE_PE_TCM);
}

void lp_cross_m_cpu(struct lp_view *view, struct hw_flight *flight, bool to_m_cpu)
{
    if (to_m_cpu) { /* a server: its time is not a node's overhead */
        const uint32_t index = view->m->links.first[LP_LINKS_TO_M_CPU];
        const struct hw_link_class *const link_class = &view->m->hw.link[HW_LINK_M_CPU];
        struct hw_link *const link = lp_link(view->ctx, view->m, &view->cube->link[index], flight);
        const int64_t sigma_before_ps = flight->sigma_ps;
        const int64_t wait_ps =
            hw_flight_cross_late(flight, link_class, link, view->m->first_batch, 0,
                                 lp_late_ps(view, flight, HW_LINK_M_CPU, index));
        if (lp_traces_causes(view->m))
            lp_cause_crossed(flight, sigma_before_ps, wait_ps > 0, HW_LINK_M_CPU, index,
                             HW_NODE_KINDS);
    } else
        fabric_cross(view, flight, HW_LINK_M_CPU, view->m->links.first[LP_LINKS_FROM_M_CPU],
                     HW_NODE_ROUTER);
}

enum hw_link_kind lp_memory_link(enum hw_memory memory)
{
    return memory == HW_MEMORY_HBM ? HW_LINK_HBM : HW_LINK_SRAM;
}

enum hw_node_kind lp_memory_node(enum hw_memory memory)
{
    return memory == HW_MEMORY_HBM ? HW_NODE_HBM : HW_NODE_SRAM;
}

uint32_t lp_memory_router(const struct lp_model *m, enum hw_memory memory, uint32_t slice)
{
    return memory == HW_MEMORY_HBM ? m->router.of_pe[slice] : m->router.centre;
}

void lp_cross_to_memory(struct lp_view *view, struct hw_flight *flight, uint32_t router,
                        enum hw_memory memory, uint32_t pe)
{
    const struct lp_model *m = view->m;
    lp_cross_noc(view, flight, router, lp_memory_router(m, memory, pe));
    fabric_cross(view, flight, lp_memory_link(memory),
                 memory == HW_MEMORY_HBM ? pe_link(m, pe, LP_LINKS_HBM_WRITE)
                                         : m->links.first[LP_LINKS_SRAM_WRITE],
                 lp_memory_node(memory));
}

int64_t lp_cross_from_memory(struct lp_view *view, struct hw_flight *flight, uint32_t router,
                             enum hw_memory memory, uint32_t pe)
{
    const struct lp_model *m = view->m;
    const enum hw_link_kind kind = lp_memory_link(memory);
    fabric_cross(view, flight, kind,
                 memory == HW_MEMORY_HBM ? pe_link(m, pe, LP_LINKS_HBM_READ)
                                         : m->links.first[LP_LINKS_SRAM_READ],
                 HW_NODE_ROUTER);
    const int64_t left_ps =
        flight->tau_ps - m->hw.link[kind].prop_ps - m->hw.overhead_ps[HW_NODE_ROUTER];
    lp_cross_noc(view, flight, lp_memory_router(m, memory, pe), router);
    return left_ps;
}

void lp_write_slot(struct lp_view *view, struct hw_flight *flight, uint32_t pe, uint32_t bytes)
{
    const struct lp_model *m = view->m;
    const enum hw_memory memory = m->config.slots;
    const uint32_t index = memory == HW_MEMORY_TCM   ? pe_link(m, pe, LP_LINKS_TCM_WRITE)
                           : memory == HW_MEMORY_HBM ? pe_link(m, pe, LP_LINKS_HBM_WRITE)
                                                     : m->links.first[LP_LINKS_SRAM_WRITE];
    flight->bytes = bytes;
    struct hw_link *const link = lp_link(view->ctx, m, &view->cube->link[index], flight);
    const int64_t wait_ps = link != NULL ? link->free_ps - flight->tau_ps : 0;
    const int64_t slot_ps = hw_slot_ps(&m->hw, pe, memory, bytes);
    flight->tau_ps += (wait_ps > 0 ? wait_ps : 0) + slot_ps;
    if (lp_traces_causes(m))
        lp_cause_flight_part(LP_PART_SLOT, slot_ps); /* the rest is a wait for it */
    if (link == NULL)
        return;
    link->free_ps = flight->tau_ps;
    if (flight->epoch > 0)
        hw_link_count(link, flight, m->first_batch, wait_ps);
    lp_link_crossed(view->ctx, m, view->lp, index,
                    m->hw.link[memory == HW_MEMORY_TCM ? HW_LINK_TCM : lp_memory_link(memory)].rate,
                    flight, link);
}

void lp_note_memory_way(const struct lp_model *m, uint32_t pe, enum hw_memory memory,
                        uint32_t slice, bool with_node)
{
    uint32_t hops = 0;
    for (uint32_t at = m->router.of_pe[pe], to = lp_memory_router(m, memory, slice); at != to;
         hops++)
        (void)hw_route_noc(&m->hw, at, to, &at);
    lp_cause_memory_way(hops, lp_memory_link(memory),
                        with_node ? lp_memory_node(memory) : HW_NODE_KINDS);
}

int64_t lp_memory_way_ps(const struct lp_model *m, uint32_t pe, enum hw_memory memory,
                         uint32_t slice)
{
    const struct hw_config *hw = &m->hw;
    int64_t ps = hw->link[HW_LINK_PE_NOC].prop_ps + hw->overhead_ps[HW_NODE_ROUTER] +
                 hw->link[lp_memory_link(memory)].prop_ps;
    for (uint32_t at = m->router.of_pe[pe], to = lp_memory_router(m, memory, slice); at != to;) {
        (void)hw_route_noc(hw, at, to, &at);
        ps += hw->link[HW_LINK_NOC].prop_ps + hw->overhead_ps[HW_NODE_ROUTER];
    }
    return ps;
}

/* From `router` out of the cube by `port`: as cross_noc_noted(), and two links more. */
static __attribute__((noinline)) void leave_noted(struct lp_view *view, struct hw_flight *flight,
                                                  uint32_t router, enum hw_port port,
                                                  bool to_io_die)
{
    const struct lp_model *m = view->m;
    const uint32_t out = m->links.first[LP_LINKS_OUT] + port;
    const uint32_t ucie = m->links.first[LP_LINKS_UCIE] + port;
    const int64_t sigma_before_ps = flight->sigma_ps;
    __builtin_prefetch(&view->cube->link[out], 1);
    __builtin_prefetch(&view->cube->link[ucie], 1);
    const uint32_t waits =
        cross_noc_by(cross_and_report, view, flight, router, m->router.of_port[port]);
    const bool out_waited =
        cross_and_report(view, flight, HW_LINK_NOC_UCIE, out, HW_NODE_UCIE_PORT);
    const bool ucie_waited = cross_and_report(view, flight, HW_LINK_UCIE, ucie,
                                              to_io_die ? HW_NODE_IO_PORT : HW_NODE_UCIE_PORT);
    lp_cause_left(flight, sigma_before_ps, router, waits, port, out_waited, ucie_waited);
}

void lp_cross_out(struct lp_view *view, struct hw_flight *flight, uint32_t router,
                  enum hw_port port, bool to_io_die)
{
    const struct lp_model *m = view->m;
    if (notes_ways(m)) {
        leave_noted(view, flight, router, port, to_io_die);
        return;
    }
    lp_cross_noc(view, flight, router, m->router.of_port[port]);
    fabric_cross(view, flight, HW_LINK_NOC_UCIE, m->links.first[LP_LINKS_OUT] + port,
                 HW_NODE_UCIE_PORT);
    fabric_cross(view, flight, HW_LINK_UCIE, m->links.first[LP_LINKS_UCIE] + port,
                 to_io_die ? HW_NODE_IO_PORT : HW_NODE_UCIE_PORT);
}

int64_t lp_dma_out_ps(const struct lp_view *view, uint32_t pe, uint64_t operation)
{
    const struct hw_jitter_place place = {view->sip, view->cube_in_sip, pe, HW_JITTER_ANY, 0};
    const int64_t ps = view->m->hw.overhead_ps[HW_NODE_PE_DMA];
    return ps +
           lp_late_node_ps(&view->m->hw, HW_NODE_PE_DMA, place, operation, ps, cw_now(view->ctx));
}

void lp_send_to_host(struct lp_view *view, uint32_t pe, enum lp_transfer_kind kind, uint32_t launch)
{
    const struct lp_model *m = view->m;
    const struct lp_transfer transfer = {.src = lp_pe_index(view, pe),
                                         .dst = lp_pe_index(view, pe),
                                         .bytes = m->hw.control_msg_bytes,
                                         .seq = launch,
                                         .kind = (uint8_t)kind,
                                         .exit = HW_OUTLET_NONE};
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    const struct lp_sender sender = lp_next_sender(view, pe);
    if (lp_is_of_program(m, &transfer) && m->program->free_control) {
        lp_forward(view->ctx, lp_of_io_die(m, view->sip), LP_EVENT_CPU_DONE, sender, &transfer,
                   &flight);
        return;
    }
    flight.tau_ps += m->hw.overhead_ps[HW_NODE_PE_CPU];
    if (lp_traces_causes(m))
        lp_cause_flight_part(LP_PART_CPU, m->hw.overhead_ps[HW_NODE_PE_CPU]);
    lp_cross_pe_out(view, &flight, pe);
    lp_cross_noc(view, &flight, m->router.of_pe[pe], m->router.centre);
    lp_cross_m_cpu(view, &flight, true);
    lp_forward(view->ctx, view->lp, LP_EVENT_CPU_ARRIVAL, sender, &transfer, &flight);
}
