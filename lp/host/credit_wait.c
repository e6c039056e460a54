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

static void raise_wait(struct lp_credit_wait *longest, struct hw_place place, int64_t ps)
{
    if (ps > longest->ps)
        *longest = (struct lp_credit_wait){place, ps};
}

struct lp_credit_waits lp_credit_waits_since(const struct lp_model *m, const struct cw_sim *sim,
                                             uint32_t last_pe, int64_t *before_ps)
{
    const uint32_t count = hw_pe_count(&m->hw);
    const bool waits = m->config.credit_blocks && !m->config.credit_fabric;
    struct lp_credit_waits found = {.last.place = hw_place_of(&m->hw, last_pe)};
    for (uint32_t index = 0; waits && index < count; index++) {
        const struct hw_place place = hw_place_of(&m->hw, index);
        const struct lp_pe *const pe =
            lp_pe(m, cw_state(sim, lp_of_cube(m, place.sip, place.cube)), place.pe);
        const int64_t ps = credit_wait_of(m, pe, index);
        raise_wait(&found.longest, place, ps - before_ps[index]);
        raise_wait(&found.in_all, place, ps);
        if (index == last_pe)
            found.last.ps = ps - before_ps[index];
        before_ps[index] = ps;
    }
    return found;
}
