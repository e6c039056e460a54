/*
 * layout.c: where things are in the LPs' states, and what the model computes once: LP numbers,
 * link numbers, credit latencies. Host side; the result is const while the engine runs.
 */
#include "lp/layout.h"

#include <stdlib.h>
#include <string.h>

#include "hw/phys_addr.h"

static void number_links(struct lp_model *m)
{
    const struct hw_config *hw = &m->hw;
    uint32_t next = 0;
    m->link_noc = next, next += hw->noc_w * hw->noc_h * HW_PORTS;
    m->link_in = next, next += HW_PORTS;
    m->link_out = next, next += HW_PORTS;
    m->link_ucie = next, next += HW_PORTS;
    m->link_m_cpu = next, next += 2;
    m->link_sram = next, next += 2;
    m->link_pe = next, next += m->pes * LP_PE_LINKS;
    m->cube_links = next;

    next = 0;
    m->link_hub_in = next, next += HW_PORTS;
    m->link_hub_out = next, next += HW_PORTS;
    m->link_outer = next, next += HW_PORTS;
    m->link_io_cpu = next, next += 2;
    m->link_pcie = next, next += 1;
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        m->link_edge[port] = next;
        next += port == HW_PORT_E || port == HW_PORT_W ? hw->cube_h : hw->cube_w;
    }
    m->io_links = next;
}

static void number_lps(struct lp_model *m)
{
    const struct hw_config *hw = &m->hw;
    m->switch_count = hw->sip_topology == HW_SWITCH        ? 1
                      : hw->sip_topology == HW_PAIR_SWITCH ? 2
                                                           : 0;
    m->first_io_die = 1 + hw->sip_count * m->cubes;
    m->first_switch = m->first_io_die + hw->sip_count;
    m->lp_count = m->first_switch + m->switch_count;
}

static size_t round_up(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

/* Credits of direction `dir` cost the same in every SIP that has it: asks the first one. */
static int64_t credit_latency(const struct lp_model *m, uint32_t cube, uint32_t pe, enum hw_dir dir)
{
    const bool global = dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
    for (uint32_t sip = 0; sip < (global ? m->hw.sip_count : 1); sip++) {
        const struct hw_place from = {sip, cube, pe};
        struct hw_place to;
        if (hw_dir_neighbour(&m->hw, from, dir, &to))
            return hw_path_ps(&m->hw, from, to, HW_MEMORY_NONE,
                              global ? hw_route_global_exit(&m->hw, dir) : HW_PORT_NONE,
                              m->config.credit_bytes);
    }
    return 0; /* nobody has this direction */
}

static bool compute_credits(struct lp_model *m)
{
    m->credit_ps = calloc((size_t)m->cubes * m->pes * HW_DIR_BUILT_IN, sizeof *m->credit_ps);
    if (!m->credit_ps)
        return false;
    int64_t *out = m->credit_ps;
    for (uint32_t cube = 0; cube < m->cubes; cube++)
        for (uint32_t pe = 0; pe < m->pes; pe++)
            for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++)
                *out++ = credit_latency(m, cube, pe, dir);
    const uint32_t *pair = m->config.pair;
    for (int end = 0; end < 2 && pair[0] != pair[1]; end++)
        m->pair_credit_ps[end] =
            hw_path_ps(&m->hw, hw_place_of(&m->hw, pair[end]), hw_place_of(&m->hw, pair[!end]),
                       HW_MEMORY_NONE, HW_PORT_NONE, m->config.credit_bytes);
    return true;
}

/*
 * Receive rings lie one after the other, in the order of their directions: at the start of an HBM
 * slice, at the end of a TCM, PE by PE in an SRAM. A direction has its place in every SIP if it
 * exists in one.
 */
static bool place_rings(struct lp_model *m)
{
    m->ring_index = calloc((size_t)m->cubes * m->pes * HW_DIRS_MAX, 1);
    if (!m->ring_index)
        return false;
    const bool pair = m->config.pair[0] != m->config.pair[1];
    for (uint32_t i = 0; i < m->cubes * m->pes; i++) {
        uint8_t next = 0;
        for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
            const bool intra = dir >= HW_DIR_INTRA_N;
            m->ring_index[i * HW_DIRS_MAX + dir] = next;
            next +=
                m->credit_ps[i * HW_DIR_BUILT_IN + dir] > 0 && (m->config.wire_all_pes || !intra);
        }
        m->ring_index[i * HW_DIRS_MAX + HW_DIR_PEER] = next;
        next += pair;
        m->rings_max = next > m->rings_max ? next : m->rings_max;
    }
    return true;
}

struct lp_endpoint lp_endpoint_of(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir)
{
    const struct hw_place place = hw_place_of(&m->hw, pe_index);
    const uint32_t ring = m->config.n_slots * m->config.slot_bytes;
    const uint32_t index =
        m->ring_index[(place.cube * m->pes + place.pe) * HW_DIRS_MAX + (uint32_t)dir];
    struct lp_endpoint endpoint = {.place = place,
                                   .buffer_kind = m->config.slots,
                                   .n_slots = m->config.n_slots,
                                   .slot_size = m->config.slot_bytes};
    const bool sram = m->config.slots == HW_MEMORY_SRAM;
    if (m->config.slots == HW_MEMORY_TCM)
        endpoint.rx_base_offset = (uint32_t)m->hw.tcm_bytes - (m->rings_max - index) * ring;
    else
        endpoint.rx_base_offset = ((sram ? place.pe * m->rings_max : 0) + index) * ring;
    struct hw_phys_addr address = {m->config.slots, place, endpoint.rx_base_offset};
    address.place.pe = sram ? 0 : place.pe;
    (void)hw_pa_encode(&address, &endpoint.rx_base_pa); /* the loader keeps to its limits */
    return endpoint;
}

bool lp_layout_init(struct lp_model *m, const struct hw_config *hw, const struct lp_config *config)
{
    *m = (struct lp_model){.hw = *hw, .config = *config};
    m->cubes = hw_cubes(hw);
    m->pes = hw_pes(hw);
    number_lps(m);
    number_links(m);
    m->dma = (struct hw_dma_params){.rate = hw->link[HW_LINK_PE_NOC].rate,
                                    .chunk_bytes = config->vc_chunk_bytes,
                                    .weight = {config->vc_weight[0], config->vc_weight[1]},
                                    .whole_chunks = hw->contention == HW_CONTENTION_CHUNK};
    m->pe_offset = round_up(sizeof(struct lp_cube) + m->cube_links * sizeof(struct hw_link));
    m->pe_bytes = round_up(sizeof(struct lp_pe) +
                           (size_t)HW_VCS * hw->dma_queue_depth * sizeof(struct hw_dma_op));
    m->cube_bytes = m->pe_offset + m->pes * m->pe_bytes;
    for (enum hw_port port = 0; port < HW_PORTS; port++)
        m->port_router[port] = (uint8_t)hw_port_router(hw, port);
    m->centre_router = (uint8_t)hw_centre_router(hw);
    for (uint32_t pe = 0; pe < m->pes; pe++)
        m->pe_router[pe] = (uint8_t)hw_pe_router(hw, pe);
    m->ipcq_issue_ps = hw->overhead_ps[HW_NODE_PE_CPU] + hw->overhead_ps[HW_NODE_PE_IPCQ];
    m->kernel_issue_ps = hw->overhead_ps[HW_NODE_PE_CPU] + hw->overhead_ps[HW_NODE_PE_SCHEDULER] +
                         hw->overhead_ps[HW_NODE_PE_MMU];
    return compute_credits(m) && place_rings(m);
}

void lp_layout_free(struct lp_model *m)
{
    free(m->credit_ps);
    free(m->ring_index);
    free(m->launches);
}
