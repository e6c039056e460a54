/*
 * placement.c: which worker has which LP, and the lookahead between workers (placement.h): the
 * least delay over all links and credit paths from one worker to the other. An event that carries a
 * transfer on has a delay of at least its link's flight time plus the next node's overhead
 * (hw/HARDWARE.md, "Order and lookahead").
 */
#include "lp/host/placement.h"

#include <stdlib.h>

#include "lp/program.h"
#include "lp/queues/queue_ends.h"

struct place {
    const struct lp_model *m;
    uint32_t workers;
    const uint32_t *lp_worker;
    int64_t *least_ps;
    struct lp_cut *cut;
};

/* LP `from` may send to LP `to` with this delay, or a larger one. */
static void lower_least_delay(const struct place *p, uint32_t from, uint32_t to, int64_t delay_ps)
{
    int64_t *const least = &p->least_ps[(size_t)p->lp_worker[from] * p->workers + p->lp_worker[to]];
    *least = delay_ps < *least ? delay_ps : *least;
}

static void count_link(const struct place *p, enum hw_link_kind link, uint32_t a, uint32_t b)
{
    p->cut->link[link].all++;
    p->cut->link[link].cut += p->lp_worker[a] != p->lp_worker[b];
}

/* A link joins LPs `a` and `b`. It enters each at a node of the kind given. */
static void join_lps(const struct place *p, enum hw_link_kind link, uint32_t a,
                     enum hw_node_kind at_a, uint32_t b, enum hw_node_kind at_b)
{
    const struct hw_config *hw = &p->m->hw;
    lower_least_delay(p, a, b, hw->link[link].prop_ps + hw->overhead_ps[at_b]);
    lower_least_delay(p, b, a, hw->link[link].prop_ps + hw->overhead_ps[at_a]);
    count_link(p, link, a, b);
}

static void join_cube(const struct place *p, uint32_t sip, uint32_t cube)
{
    const struct lp_model *m = p->m;
    const uint32_t lp = lp_of_cube(m, sip, cube);
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        uint32_t to;
        if (!hw_cube_neighbour(&m->hw, cube, port, &to))
            join_lps(p, HW_LINK_UCIE, lp, HW_NODE_UCIE_PORT, lp_of_io_die(m, sip), HW_NODE_IO_PORT);
        else if (port == HW_PORT_E || port == HW_PORT_S) /* each once */
            join_lps(p, HW_LINK_UCIE, lp, HW_NODE_UCIE_PORT, lp_of_cube(m, sip, to),
                     HW_NODE_UCIE_PORT);
    }
}

/* Of the queues that a plan lays. `whole`: the SIP is on one worker. */
static void allow_credits(const struct place *p, const struct lp_plan *plan, uint32_t sip,
                          uint32_t cube, bool whole)
{
    const struct lp_model *m = p->m;
    for (uint32_t pe = 0; pe < m->pes; pe++)
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
            const uint32_t index = hw_pe_index(&m->hw, (struct hw_place){sip, cube, pe});
            uint32_t peer;
            enum hw_dir peer_dir;
            if ((whole && lp_plan_stays_in_sip(plan, dir)) ||
                !lp_queue_peer(plan, index, dir, &peer, &peer_dir))
                continue;
            const struct hw_place to = hw_place_of(&m->hw, peer);
            lower_least_delay(p, lp_of_cube(m, sip, cube), lp_of_cube(m, to.sip, to.cube),
                              lp_credit_ps(plan, index, dir));
        }
}

/* All of a SIP is on one worker. */
static bool is_whole(const struct place *p, uint32_t sip)
{
    const struct lp_model *const m = p->m;
    const uint32_t worker = p->lp_worker[lp_of_io_die(m, sip)];
    for (uint32_t cube = 0; cube < m->cubes; cube++)
        if (p->lp_worker[lp_of_cube(m, sip, cube)] != worker)
            return false;
    return true;
}

/* Of a plan that is alike in all SIPs, for a SIP whose neighbours are on one worker each, as it is
 * itself: one bound for each neighbour. False: a neighbour is split, and nothing has been done. */
static bool allow_credits_of_sip(const struct place *p, const struct lp_plan *plan, uint32_t sip)
{
    const struct lp_model *const m = p->m;
    uint32_t to[HW_PORTS];
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        if (!hw_sip_neighbour(&m->hw, sip, port, &to[port]))
            to[port] = UINT32_MAX;
        else if (!is_whole(p, to[port]))
            return false;
    }
    for (enum hw_port port = 0; port < HW_PORTS; port++)
        if (to[port] != UINT32_MAX)
            lower_least_delay(p, lp_of_io_die(m, sip), lp_of_io_die(m, to[port]),
                              lp_plan_least_credit_ps(plan, sip, port));
    return true;
}

/* The links that lead away from a SIP. Those between SIPs are met at both ends, so each counts two
 * halves; a switch has those of its SIPs. */
static void join_outlets(const struct place *p, uint32_t sip)
{
    const struct hw_config *const hw = &p->m->hw;
    const uint32_t die = lp_of_io_die(p->m, sip);
    for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
        const struct hw_hop hop = hw_hop(hw, sip, outlet);
        if (hop.link == HW_LINK_KINDS)
            continue;
        if (hw_is_switch(hw, hop.to)) {
            const uint32_t to = lp_of_switch(p->m, hop.to - hw->sip_count);
            lower_least_delay(p, die, to, hw_hop_ps(hw, hop.link, hop.to));
            count_link(p, hop.link, die, to);
            if (hop.back == HW_ONE_WAY)
                continue;
            /* by links of another class, perhaps */
            lower_least_delay(p, to, die, hw_hop_ps(hw, hw_hop(hw, hop.to, hop.back).link, sip));
            count_link(p, hop.link, die, to);
        } else {
            const uint32_t to = lp_of_io_die(p->m, hop.to);
            lower_least_delay(p, die, to, hw_hop_ps(hw, hop.link, hop.to));
            count_link(p, hop.link, die, to);
        }
    }
}

/* The links that lead away from a switch, but those to its SIPs that these have met. */
static void join_switch(const struct place *p, uint32_t number)
{
    const struct hw_config *const hw = &p->m->hw;
    const uint32_t stop = hw->sip_count + number, lp = lp_of_switch(p->m, number);
    for (uint32_t outlet = 0; outlet < hw_switch_outlets(hw); outlet++) {
        const struct hw_hop hop = hw_hop(hw, stop, outlet);
        const bool to_switch = hop.link < HW_LINK_KINDS && hw_is_switch(hw, hop.to);
        if (hop.link == HW_LINK_KINDS || (!to_switch && hop.back != HW_ONE_WAY))
            continue;
        const uint32_t to =
            to_switch ? lp_of_switch(p->m, hop.to - hw->sip_count) : lp_of_io_die(p->m, hop.to);
        lower_least_delay(p, lp, to, hw_hop_ps(hw, hop.link, hop.to));
        count_link(p, hop.link, lp, to);
    }
}

/* A folded machine may have one end of a link alone. */
static void join_halves(const struct place *p)
{
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (hw_link_is_outer(kind)) {
            p->cut->link[kind].all = (p->cut->link[kind].all + 1) / 2;
            p->cut->link[kind].cut = (p->cut->link[kind].cut + 1) / 2;
        }
}

static void join_io_die(const struct place *p, uint32_t sip)
{
    /* No bound to or from the host's LP: it only listens, and its messages are injected between
     * drains. */
    count_link(p, HW_LINK_PCIE, lp_of_io_die(p->m, sip), 0);
    join_outlets(p, sip);
}

static void place_lps(const struct lp_model *m, uint32_t workers, const uint32_t *cube_worker,
                      uint32_t *lp_worker)
{
    lp_worker[0] = 0;
    for (uint32_t i = 0; i < m->sips * m->cubes; i++)
        lp_worker[1 + i] = cube_worker[i];
    for (uint32_t i = 0; i < m->sips; i++)
        lp_worker[m->lps.first_io_die + i] = cube_worker[i * m->cubes];
    for (uint32_t i = 0; i < m->lps.switch_count; i++)
        lp_worker[m->lps.first_switch + i] = i % workers;
}

static bool count_lps(const struct place *p)
{
    uint32_t *const lps = calloc(p->workers, sizeof *lps);
    if (lps == NULL)
        return false;
    for (uint32_t lp = 0; lp < p->m->lps.count; lp++)
        lps[p->lp_worker[lp]]++;
    p->cut->lps_min = p->cut->lps_max = lps[0];
    for (uint32_t w = 0; w < p->workers; w++) {
        p->cut->lps_min = lps[w] < p->cut->lps_min ? lps[w] : p->cut->lps_min;
        p->cut->lps_max = lps[w] > p->cut->lps_max ? lps[w] : p->cut->lps_max;
        p->cut->idle += lps[w] == 0;
    }
    free(lps);
    return true;
}

/* Links between the cubes and the IO die of a SIP: the same number in each. */
static uint32_t links_in_sip(const struct lp_model *m)
{
    uint32_t links = 0, to;
    for (uint32_t cube = 0; cube < m->cubes; cube++)
        for (enum hw_port port = 0; port < HW_PORTS; port++)
            links += port == HW_PORT_E || port == HW_PORT_S ||
                     !hw_cube_neighbour(&m->hw, cube, port, &to);
    return links;
}

/* A credit of a queue that is laid later, or when links have failed: whatever its way, it crosses a
 * link between two workers, and takes no less than that. */
static void allow_any_queue(const struct place *p)
{
    const size_t pairs = (size_t)p->workers * p->workers;
    int64_t least_ps = CW_TIME_MAX;
    for (size_t i = 0; i < pairs; i++)
        if (i / p->workers != i % p->workers && p->least_ps[i] < least_ps)
            least_ps = p->least_ps[i];
    for (size_t i = 0; i < pairs; i++)
        p->least_ps[i] = least_ps;
}

/* Goes over all links and credit paths, but for those within a SIP that is on one worker: there is
 * no bound within a worker. */
static void join_all(const struct place *p)
{
    const uint32_t within = links_in_sip(p->m);
    for (size_t i = 0; i < (size_t)p->workers * p->workers; i++)
        p->least_ps[i] = CW_TIME_MAX;
    for (uint32_t index = 0; index < p->m->sips; index++) {
        const uint32_t sip = lp_sip_at(p->m, index);
        const bool whole = is_whole(p, sip);
        join_io_die(p, sip);
        if (whole)
            p->cut->link[HW_LINK_UCIE].all += within;
        for (uint32_t cube = 0; !whole && cube < p->m->cubes; cube++)
            join_cube(p, sip, cube);
        for (uint32_t i = 1; i <= LP_PLANS; i++) {
            const struct lp_plan *const plan = p->m->plan[i];
            if (plan == NULL ||
                (whole && lp_plan_is_alike(plan) && allow_credits_of_sip(p, plan, sip)))
                continue;
            for (uint32_t cube = 0; cube < p->m->cubes; cube++)
                allow_credits(p, plan, sip, cube, whole);
        }
    }
    for (uint32_t number = 0; p->m->fold == NULL && number < p->m->lps.switch_count; number++)
        join_switch(p, number);
    join_halves(p);
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        p->cut->link[kind].name = hw_link_name_of(&p->m->hw, kind);
    if (p->m->grows || p->m->hw.later != NULL)
        allow_any_queue(p);
    const struct lp_program *const program = p->m->program;
    for (size_t i = 0; i < (size_t)p->workers * p->workers && program != NULL; i++)
        if (program->free_control || program->meets)
            p->least_ps[i] = 0;
    for (uint32_t w = 0; w < p->workers; w++) /* no bound within a worker */
        p->least_ps[(size_t)w * p->workers + w] = 0;
}

void lp_least_delays(const struct lp_model *m, uint32_t workers, const uint32_t *lp_worker,
                     int64_t *least_delay_ps)
{
    struct lp_cut unused = {.idle = 0};
    const struct place p = {m, workers, lp_worker, least_delay_ps, &unused};
    join_all(&p);
}

/* Whether moves of whole SIPs can balance the workers: none is split, and there are enough. */
static bool moves_sips(const struct lp_model *m, uint32_t workers, const uint32_t *cube_worker)
{
    enum { SIPS_PER_WORKER = 2 };
    for (uint32_t i = 0; i < m->sips * m->cubes; i++)
        if (cube_worker[i] != cube_worker[i / m->cubes * m->cubes])
            return false;
    return m->sips >= SIPS_PER_WORKER * workers;
}

void lp_parts(const struct lp_model *m, uint32_t workers, const uint32_t *cube_worker,
              uint32_t *lp_part)
{
    const uint32_t cubes = m->sips * m->cubes;
    const uint32_t group = moves_sips(m, workers, cube_worker) ? m->cubes : 1;
    uint32_t parts = cubes / group;
    for (uint32_t i = 0; i < cubes; i++)
        lp_part[1 + i] = i / group;
    for (uint32_t i = 0; i < m->sips; i++)
        lp_part[m->lps.first_io_die + i] = i * m->cubes / group;
    lp_part[0] = parts++;
    for (uint32_t i = 0; i < m->lps.switch_count; i++)
        lp_part[m->lps.first_switch + i] = parts++;
}

bool lp_place(const struct lp_model *m, uint32_t workers, const uint32_t *cube_worker,
              uint32_t *lp_worker, int64_t *least_delay_ps, struct lp_cut *cut)
{
    const struct place p = {m, workers, lp_worker, least_delay_ps, cut};
    const size_t pairs = (size_t)workers * workers;
    *cut = (struct lp_cut){.lookahead_ps = CW_TIME_MAX};
    place_lps(m, workers, cube_worker, lp_worker);
    join_all(&p);
    for (size_t i = 0; i < pairs; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): without workers there are no pairs */
        if (i / workers != i % workers && least_delay_ps[i] < cut->lookahead_ps)
            cut->lookahead_ps = least_delay_ps[i];
    return count_lps(&p);
}
