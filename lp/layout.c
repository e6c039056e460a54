/*
 * layout.c: LP numbers, link numbers, routers and offsets in the LPs' states. Host side; the result
 * is const while the engine runs.
 */
#include "lp/layout.h"

#include <stdlib.h>

#include "lp/kernel/tl_cost.h"
#include "lp/queues/slot_map.h"

static void number_lps(struct lp_model *m)
{
    const struct hw_config *hw = &m->hw;
    m->lps.switch_count = m->fold == NULL ? hw_switches(hw) : hw_fold_switches(m->fold);
    m->lps.first_io_die = 1 + m->sips * m->cubes;
    m->lps.first_switch = m->lps.first_io_die + m->sips;
    m->lps.count = m->lps.first_switch + m->lps.switch_count;
}

static size_t round_up_to_word(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

/* Whether any block or link has jitter, or is slow. */
static void find_jitter(struct hw_config *hw)
{
    hw->jittered = hw->faults != NULL;
    for (uint32_t kind = 0; kind < HW_NODE_KINDS; kind++)
        hw->jittered |= hw->node_jitter[kind].active;
    for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++)
        hw->jittered |= hw->link_jitter[kind].active;
    hw->watched = hw->jittered;
}

static void add_accounts(struct lp_model *m)
{
    m->accounts.row_words = m->needs.accounts > 0 ? 1 + m->needs.accounts : 0;
    m->accounts.idle_words = lp_is_coarse(&m->config);
    m->accounts.offset[LP_OF_CUBE] = m->cube.state_bytes;
    m->accounts.offset[LP_OF_IO_DIE] =
        sizeof(struct lp_io_die) + m->links.count[LP_OF_IO_DIE] * sizeof(struct hw_link);
    m->accounts.offset[LP_OF_SWITCH] =
        sizeof(struct lp_switch) + m->links.count[LP_OF_SWITCH] * sizeof(struct hw_link);
    m->cube.state_bytes = lp_state_bytes_of(m, LP_OF_CUBE);
}

/* Room in the states of switches for the tiles that they put together. */
static void add_joins(struct lp_model *m)
{
    uint32_t children = 0, accumulators = 0;
    if (!m->needs.trees || !hw_trees_make(&m->hw, &m->trees))
        return;
    for (uint32_t i = 0; i < m->trees.count * m->trees.switches; i++) {
        const uint32_t trees = hw_reduce_of(&m->hw, i % m->trees.switches)->trees;
        children = m->trees.of[i].child_count > children ? m->trees.of[i].child_count : children;
        accumulators = trees > accumulators ? trees : accumulators;
    }
    m->joins.count = m->cubes * m->pes * HW_DIRS_MAX * m->config.n_slots;
    m->joins.offset = round_up_to_word(lp_state_bytes_of(m, LP_OF_SWITCH));
    m->joins.joining_offset =
        m->joins.offset + sizeof(struct lp_joins) + accumulators * sizeof(int64_t);
    m->joins.joining_bytes =
        round_up_to_word(sizeof(struct lp_joining) + children * sizeof(uint32_t));
    if (m->trees.count > 0)
        m->joins.bytes = m->joins.joining_offset + m->joins.count * m->joins.joining_bytes;
}

static struct lp_sip_radix radix_of(const struct hw_config *hw)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    struct lp_sip_radix radix = {.dims = dims.count};
    for (uint32_t d = 0; d < dims.count; d++) {
        radix.stride[d] = dims.at[d].stride;
        radix.size[d] = hw_divisor_of(dims.at[d].size);
    }
    return radix;
}

void lp_layout_init(struct lp_model *m, const struct hw_config *hw, const struct lp_config *config,
                    struct lp_needs needs, const struct hw_fold *fold)
{
    *m = (struct lp_model){.hw = *hw, .config = *config, .needs = needs, .fold = fold};
    m->sips = fold == NULL ? hw->sip_count : fold->sips;
    m->cubes = hw_cubes(hw);
    m->pes = hw_pes(hw);
    m->by = (struct lp_divisors){.pes = hw_divisor_of(m->pes),
                                 .cubes = hw_divisor_of(m->cubes),
                                 .sip_pes = hw_divisor_of(m->cubes * m->pes),
                                 .cube_w = hw_divisor_of(hw->cube_w),
                                 .noc_w = hw_divisor_of(hw->noc_w),
                                 .dma_queue_depth = hw_divisor_of(hw->dma_queue_depth),
                                 .sip_places = hw_divisor_of(m->cubes * m->pes + 1),
                                 .dma_chunk = hw_divisor_of(config->vc_chunk_bytes),
                                 .sips = radix_of(hw)};
    m->needs.contexts = needs.contexts > 0 ? needs.contexts : 1;
    m->needs.queues = needs.queues > 0 ? needs.queues : 1;
    m->contexts = m->needs.queues * m->needs.contexts;
    m->hw.tcm_bytes = lp_tcm_bytes(hw, config);
    m->tcm_queue_bytes = lp_tcm_share(m->hw.tcm_bytes, m->needs.queues);
    find_jitter(&m->hw);
    m->slot_access = hw_has_slot_access(hw, config->slots);
    m->slot_read = m->slot_access && !hw->slot_access[config->slots].write_only;
    const bool writes = m->slot_access && !hw->slot_access[config->slots].read_only;
    m->slot_write = writes && !hw->slot_access[config->slots].by_sender;
    m->slot_send = writes && hw->slot_access[config->slots].by_sender;
    m->tile_memory = m->slot_access ? HW_MEMORY_TCM : config->slots;
    tl_cost_init(m);
    number_lps(m);
    lp_link_layout_init(&m->links, hw, needs.peers > 0,
                        fold == NULL ? hw_switch_outlets(hw) : hw_fold_switch_links_max(fold));
    m->dma = (struct hw_dma_params){.rate = hw->link[HW_LINK_PE_NOC].rate,
                                    .chunk_bytes = config->vc_chunk_bytes,
                                    .weight = {config->vc_weight[0], config->vc_weight[1]}};
    m->cube.pe_offset = round_up_to_word(sizeof(struct lp_cube) +
                                         m->links.count[LP_OF_CUBE] * sizeof(struct hw_link));
    m->cube.slot_offset =
        sizeof(struct lp_pe) + (size_t)HW_VCS * hw->dma_queue_depth * sizeof(struct hw_dma_op);
    m->cube.queue_offset = round_up_to_word(m->cube.slot_offset +
                                            HW_DIRS_MAX * LP_SLOT_MAPS * lp_slot_map_bytes(config));
    m->cube.context_offset = m->cube.queue_offset + m->needs.queues * sizeof(struct lp_pe_queue);
    m->cube.one_sided_offset = m->cube.context_offset + m->contexts * sizeof(struct lp_context);
    m->cube.pe_bytes = m->cube.one_sided_offset;
    if (needs.peers > 0)
        m->cube.pe_bytes = round_up_to_word(
            m->cube.pe_bytes + sizeof(struct lp_one_sided) +
            needs.peers * (sizeof(struct lp_peer) + LP_EARLY_PER_PEER * sizeof(struct lp_early)));
    m->cube.backlog_offset = m->cube.pe_bytes;
    if (needs.launches > 0)
        m->cube.backlog_bytes =
            sizeof(struct lp_backlog) + needs.launches * sizeof(struct lp_queued);
    m->cube.pe_bytes += m->needs.queues * m->cube.backlog_bytes;
    m->cube.coarse_offset = m->cube.pe_bytes;
    if (lp_is_coarse(config))
        m->cube.pe_bytes += sizeof(struct lp_coarse) +
                            (size_t)HW_VCS * hw->dma_queue_depth * sizeof(struct lp_coarse_op);
    m->cube.state_bytes = m->cube.pe_offset + m->pes * m->cube.pe_bytes;
    add_accounts(m);
    add_joins(m);
    m->sequencer_offset = round_up_to_word(lp_state_bytes_of(m, LP_OF_IO_DIE));
    for (enum hw_port port = 0; port < HW_PORTS; port++)
        m->router.of_port[port] = (uint8_t)hw_port_router(hw, port);
    m->router.centre = (uint8_t)hw_centre_router(hw);
    for (uint32_t pe = 0; pe < m->pes; pe++)
        m->router.of_pe[pe] = (uint8_t)hw_pe_router(hw, pe);
}

void lp_layout_free(struct lp_model *m)
{
    free(m->launches.at);
    free(m->accounts.of_batch);
    hw_trees_free(&m->trees);
}
