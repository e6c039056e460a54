/* credit_wait.c: counts the waits of receives for their credits. A receive waits as long as its
 * credit takes to be emitted: the queue's latency, whatever other traffic there is. */
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

static void raise_wait(struct lp_credit_wait *longest, struct hw_place place, int64_t ps)
{
    if (ps > longest->ps)
        *longest = (struct lp_credit_wait){place, ps};
}

/* The waits that one worker finds. */
struct part_waits {
    _Alignas(128) struct lp_credit_waits found;
};

struct wait_search {
    const struct lp_model *m;
    const struct cw_sim *sim;
    uint32_t last_pe, workers;
    struct lp_credit_calls calls;
    struct lp_credit_waited *waited;
    struct part_waits *parts; /* [workers] */
};

static void search_part(void *arg, uint32_t worker)
{
    const struct wait_search *const search = arg;
    const struct lp_model *const m = search->m;
    const uint64_t count = lp_pe_count(m);
    const uint32_t end = (uint32_t)(count * (worker + 1) / search->workers);
    struct lp_credit_waits found = {.last.ps = 0};
    for (uint32_t i = (uint32_t)(count * worker / search->workers); i < end; i++) {
        const uint32_t index = lp_pe_at(m, i);
        const struct hw_place place = hw_place_of(&m->hw, index);
        const struct lp_pe *const pe =
            lp_pe(m, cw_state(search->sim, lp_of_cube(m, place.sip, place.cube)), place.pe);
        const int64_t ps = credit_wait_of(m, pe, index);
        struct lp_credit_waited *const waited = &search->waited[i];
        const int64_t since_ps = ps - waited->ps;
        if (search->calls.left_out > 0)
            waited->left_out_ps += since_ps / search->calls.simulated * search->calls.left_out;
        waited->ps = ps;
        raise_wait(&found.longest, place, since_ps);
        raise_wait(&found.in_all, place, ps + waited->left_out_ps);
        if (index == search->last_pe)
            found.last.ps = since_ps;
    }
    search->parts[worker].found = found;
}

/* The parts are in the order of the PEs. */
struct lp_credit_waits lp_credit_waits_since(const struct lp_model *m, struct cw_sim *sim,
                                             uint32_t last_pe, struct lp_credit_calls calls,
                                             struct lp_credit_waited *waited)
{
    struct lp_credit_waits sum = {.last.place = hw_place_of(&m->hw, last_pe)};
    struct part_waits alone;
    struct wait_search search = {m, sim, last_pe, cw_sim_worker_count(sim), calls, waited, NULL};
    if (!m->config.credit_blocks || m->config.credit_fabric)
        return sum;
    search.parts =
        aligned_alloc(_Alignof(struct part_waits), search.workers * sizeof *search.parts);
    const bool shared = search.parts != NULL;
    if (shared) {
        cw_each_worker(sim, search_part, &search);
    } else { /* slower, not wrong */
        search.workers = 1;
        search.parts = &alone;
        search_part(&search, 0);
    }
    for (uint32_t i = 0; i < search.workers; i++) {
        const struct lp_credit_waits *const found = &search.parts[i].found;
        raise_wait(&sum.longest, found->longest.place, found->longest.ps);
        raise_wait(&sum.in_all, found->in_all.place, found->in_all.ps);
        sum.last.ps += found->last.ps; /* of all workers but one 0 */
    }
    if (shared)
        free(search.parts);
    return sum;
}
