/*
 * jitter_draw.h: the time that jitter (hw/jitter.h) and slow parts (hw/faults.h) add to one
 * operation of a block of a PE or a link. An
 * operation's number is the same in every run. A transfer is numbered by its originator (entity.h)
 * and that one's number for it. A kernel's call is numbered by the launch and the calls that the
 * kernel has made. Handlers call these functions; all are pure.
 */
#ifndef LP_JITTER_DRAW_H
#define LP_JITTER_DRAW_H

#include "hw/faults.h"
#include "hw/timing.h"

/* Number of the transfer, or the event, `number` of an originator. */
static inline uint64_t lp_operation(uint32_t originator, uint64_t number)
{
    return (uint64_t)originator << 32 ^ number;
}

/* Every piece pays the node's own time, but only the last is late. */
static inline int64_t lp_late_node_ps(const struct hw_config *hw, enum hw_node_kind node,
                                      struct hw_jitter_place place, uint64_t operation,
                                      int64_t cost_ps, int64_t now_ps)
{
    if (__builtin_expect(!hw->jittered, 1) || operation == HW_JITTER_PIECE)
        return 0;
    return hw_jitter_ps(&hw->node_jitter[node], hw->jitter_seed, &place, operation) +
           (hw->faults != NULL ? hw_slow_node_ps(hw, node, &place, cost_ps, now_ps) : 0);
}

static inline int64_t lp_late_link_ps(const struct hw_config *hw, enum hw_link_kind link,
                                      struct hw_jitter_place place, const struct hw_flight *flight)
{
    if (__builtin_expect(!hw->jittered, 1))
        return 0;
    return hw_jitter_ps(&hw->link_jitter[link], hw->jitter_seed, &place, flight->operation) +
           (hw->faults != NULL ? hw_slow_link_ps(hw, link, &place, flight->bytes, flight->tau_ps)
                               : 0);
}

#endif
