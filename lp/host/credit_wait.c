/* credit_wait.c: see credit_wait.h. A receive waits as long as its credit takes to be emitted,
 * which a queue's latency says, whoever else is under way. */
#include "lp/host/credit_wait.h"

#include "lp/model.h"
#include "lp/queues/queue_ends.h"

static int64_t credit_wait_of(const struct lp_model *m, const struct lp_pe *pe, uint32_t index)
{
    int64_t ps = 0;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if ((pe->installed >> dir & 1) != 0 && pe->queue[dir].my_tail > 0)
            ps += pe->queue[dir].my_tail * lp_credit_ps(lp_plan_at(m, pe), index, dir);
    return ps;
}

struct lp_credit_wait lp_credit_wait_longest(const struct lp_model *m, const struct cw_sim *sim)
{
    struct lp_credit_wait longest = {.ps = 0};
    const uint32_t count = hw_pe_count(&m->hw);
    for (uint32_t index = 0; m->config.credit_blocks && index < count; index++) {
        const struct hw_place place = hw_place_of(&m->hw, index);
        const struct lp_pe *const pe =
            lp_pe(m, cw_state(sim, lp_of_cube(m, place.sip, place.cube)), place.pe);
        const int64_t ps = credit_wait_of(m, pe, index);
        if (ps > longest.ps)
            longest = (struct lp_credit_wait){.place = place, .ps = ps};
    }
    return longest;
}
