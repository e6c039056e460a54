/*
 * faults.c: what slow parts add to an operation (faults.h). Whole numbers, rounded up.
 */
#include "hw/faults.h"

#include <stdlib.h>

#include "hw/timing.h"

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_slow(const struct hw_slow *slow, uint32_t kind, const struct hw_jitter_place *place,
                    int64_t now_ps)
{
    if (now_ps < slow->from_ps)
        return false;
    if (slow->link_count > 0)
        return place->outer != 0 && kind >= HW_NODE_KINDS &&
               bsearch(&place->outer, slow->links, slow->link_count, sizeof *slow->links,
                       by_number) != NULL;
    return slow->kind[kind] && hw_is_there(&slow->where, place);
}

static int64_t percent_of(int64_t cost_ps, uint32_t percent)
{
    return (int64_t)(((__uint128_t)(uint64_t)cost_ps * percent + 99) / 100);
}

/* What number `i` adds to an operation of this cost that passes these bytes. */
static int64_t added_ps(const struct hw_faults *faults, uint32_t i, int64_t cost_ps, uint64_t bytes)
{
    const struct hw_slow *const slow = &faults->slow[i];
    const bool is_halved = faults->halved == i + 1;
    if (slow->rate.den == 0)
        return percent_of(cost_ps, is_halved ? slow->percent / 2 : slow->percent);
    const int64_t own_ps = hw_rate_ps(slow->rate, bytes);
    const int64_t more_ps = own_ps > cost_ps ? own_ps - cost_ps : 0;
    return is_halved ? (more_ps + 1) / 2 : more_ps;
}

/* The number of the one that adds most, and how much. */
static uint32_t slowest(const struct hw_config *hw, uint32_t kind,
                        const struct hw_jitter_place *place, int64_t cost_ps, uint64_t bytes,
                        int64_t now_ps, int64_t *most_ps)
{
    const struct hw_faults *const faults = hw->faults;
    uint32_t found = UINT32_MAX;
    *most_ps = 0;
    for (uint32_t i = 0; faults != NULL && i < faults->slow_count; i++) {
        if (!is_slow(&faults->slow[i], kind, place, now_ps))
            continue;
        const int64_t ps = added_ps(faults, i, cost_ps, bytes);
        if (ps > *most_ps || found == UINT32_MAX) {
            found = i;
            *most_ps = ps;
        }
    }
    return found;
}

int64_t hw_slow_node_ps(const struct hw_config *hw, enum hw_node_kind node,
                        const struct hw_jitter_place *place, int64_t cost_ps, int64_t now_ps)
{
    int64_t ps;
    (void)slowest(hw, node, place, cost_ps, 0, now_ps, &ps);
    return ps;
}

int64_t hw_slow_link_ps(const struct hw_config *hw, enum hw_link_kind link,
                        const struct hw_jitter_place *place, uint64_t bytes, int64_t now_ps)
{
    int64_t ps;
    (void)slowest(hw, hw_part_of_link(link), place, hw_rate_ps(hw->link[link].rate, bytes), bytes,
                  now_ps, &ps);
    return ps;
}

uint32_t hw_slow_at(const struct hw_config *hw, uint32_t kind, const struct hw_jitter_place *place,
                    int64_t now_ps)
{
    enum { PROBE = 1 << 20 }; /* bytes, and ps of a node */
    int64_t ps;
    const int64_t cost_ps =
        kind < HW_NODE_KINDS ? PROBE : hw_rate_ps(hw->link[kind - HW_NODE_KINDS].rate, PROBE);
    const uint32_t found = slowest(hw, kind, place, cost_ps, PROBE, now_ps, &ps);
    return ps > 0 ? found : UINT32_MAX;
}
