/* credit_wait.c: see credit_wait.h. A receive waits as long as its credit takes to be emitted,
 * which a queue's latency says, whoever else is under way. */
#include "lp/host/credit_wait.h"

#include <stdlib.h>

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

/* One worker's answer. */
struct worker_wait {
    _Alignas(128) struct lp_credit_wait longest;
};

struct wait_search {
    const struct lp_model *m;
    const struct cw_sim *sim;
    uint32_t workers;
    struct worker_wait *found; /* [workers] */
};

/* Among the PEs from `first` to before `end`. */
static struct lp_credit_wait longest_of(const struct lp_model *m, const struct cw_sim *sim,
                                        uint32_t first, uint32_t end)
{
    struct lp_credit_wait longest = {.ps = 0};
    for (uint32_t index = first; index < end; index++) {
        const struct hw_place place = hw_place_of(&m->hw, index);
        const struct lp_pe *const pe =
            lp_pe(m, cw_state(sim, lp_of_cube(m, place.sip, place.cube)), place.pe);
        const int64_t ps = credit_wait_of(m, pe, index);
        if (ps > longest.ps)
            longest = (struct lp_credit_wait){.place = place, .ps = ps};
    }
    return longest;
}

static void search_part(void *arg, uint32_t worker)
{
    const struct wait_search *const search = arg;
    const uint64_t count = hw_pe_count(&search->m->hw);
    search->found[worker].longest =
        longest_of(search->m, search->sim, (uint32_t)(count * worker / search->workers),
                   (uint32_t)(count * (worker + 1) / search->workers));
}

struct lp_credit_wait lp_credit_wait_longest(const struct lp_model *m, struct cw_sim *sim)
{
    struct lp_credit_wait longest = {.ps = 0};
    struct wait_search search = {m, sim, cw_sim_worker_count(sim), NULL};
    if (!m->config.credit_blocks)
        return longest;
    search.found =
        aligned_alloc(_Alignof(struct worker_wait), search.workers * sizeof *search.found);
    if (search.found == NULL) /* slower, not wrong */
        return longest_of(m, sim, 0, hw_pe_count(&m->hw));
    cw_each_worker(sim, search_part, &search);
    for (uint32_t i = 0; i < search.workers; i++)
        if (search.found[i].longest.ps > longest.ps)
            longest = search.found[i].longest;
    free(search.found);
    return longest;
}
