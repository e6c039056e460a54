/*
 * later_ways.c: finds ways on the machine that is left (later_ways.h).
 */
#include "lp/queues/later_ways.h"

#include "hw/topology/broken.h"

uint8_t lp_exit_later(const struct lp_model *m, uint32_t src, uint32_t dst, uint8_t exit)
{
    return exit == HW_OUTLET_NONE
               ? exit
               : (uint8_t)hw_exit_left(m->hw.later, lp_sip_of(m, src), exit, lp_sip_of(m, dst));
}

int64_t lp_credit_later_ps(const struct lp_model *m, uint32_t pe_index, const struct lp_wire *end)
{
    return hw_path_ps(m->hw.later, lp_place_of(m, pe_index), lp_place_of(m, end->peer),
                      HW_MEMORY_NONE, lp_exit_later(m, pe_index, end->peer, end->exit),
                      end->peer_dir, m->config.credit_bytes);
}
