/*
 * row_work.c: what a row of a collective counts (row_work.h). Where the shards of a rank are added
 * together, the collective is one of all shards of all ranks, each as long as one shard. Everywhere
 * else each shard goes through the collective for itself, and a rank's tensor is all of them.
 */
#include "bench/programs/row_work.h"

#include <stdio.h>
#include <string.h>

#include "bench/programs/bench_algorithm.h"
#include "collectives/runtime/install_plan.h"
#include "collectives/schedule/schedule.h"
#include "hw/timing.h"
#include "hw/topology/built.h"

uint32_t bench_parts(const struct hw_config *hw, const struct dp_policy *policy)
{
    const uint32_t cubes = policy->num_cubes != 0 ? policy->num_cubes : hw_cubes(hw);
    const uint32_t pes = policy->num_pes != 0 ? policy->num_pes : hw_pes(hw);
    return (policy->cube == DP_ROW_WISE ? cubes : 1) * (policy->pe == DP_COLUMN_WISE ? pes : 1);
}

const struct dp_policy *row_work_layout(const struct bench_session *session)
{
    static const struct dp_policy rows = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};
    struct cw_error ignored;
    if (session->program->does != CCL_REDUCE_SCATTER)
        return NULL;
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_for(&session->config->ccl, CCL_REDUCE_SCATTER, &ignored);
    return algorithm != NULL && algorithm->schedule == NULL ? &rows : NULL;
}

uint32_t row_work_shards(const struct bench_session *session)
{
    const struct config *const config = session->config;
    struct dp_policy policy;
    struct cw_error ignored;
    const char *key;
    if (!session->program->collective || session->program->no_algorithm ||
        session->program->does == CCL_BARRIER)
        return 0;
    const struct dp_policy *const layout = row_work_layout(session);
    if (layout != NULL)
        return bench_parts(&config->hw, layout);
    if (install_policy_for(dist_world_size_for(config), config->ccl.algorithm, &config->ccl,
                           &config->hw, &policy, &key, &ignored) != CW_OK)
        return 1;
    return bench_parts(&config->hw, &policy);
}

/* The shards of a rank are operands of one reduction, as in lrab_hierarchical_allreduce. */
static bool are_added_together(const struct bench_session *session, enum ccl_collective collective)
{
    return collective == CCL_ALL_REDUCE && session->shards > 1 &&
           dist_facts(session->dist)->parts == 0;
}

static struct hw_bound bound_of(const struct bench_session *session, const struct result_row *row,
                                enum ccl_collective collective)
{
    const struct hw_config *const hw = &session->config->hw;
    const struct dp_policy *const own = row_work_layout(session);
    const struct dp_policy policy = own != NULL ? *own : dist_facts(session->dist)->policy;
    const bool leaders = collective == CCL_BARRIER; /* between PE (0, 0) of the ranks */
    const struct ccl_ranks *const ranks = &session->config->ccl.ranks;
    const uint32_t root = schedule_has_root(collective)
                              ? ccl_sip_of(ranks, bench_root(session->config, collective))
                          : ranks->list != NULL ? ranks->list[0]
                                                : 0;
    const struct hw_work work = {.collective = collective,
                                 .ranks = row->ranks,
                                 .sips = ranks->list,
                                 .engines = hw_cubes(hw) * hw_pes(hw),
                                 .per_sip = ranks->per_sip,
                                 .cubes = leaders                 ? 1
                                          : policy.num_cubes != 0 ? policy.num_cubes
                                                                  : hw_cubes(hw),
                                 .pes = leaders || policy.pe != DP_COLUMN_WISE ? 1
                                        : policy.num_pes != 0                  ? policy.num_pes
                                                                               : hw_pes(hw),
                                 .root_sip = root,
                                 .together = row->together,
                                 .bytes = row->bytes};
    return hw_bound_of(hw, &work);
}

struct result_row *row_work_add(struct bench_session *session, const char *name,
                                enum ccl_collective collective, uint64_t n_elem,
                                struct cw_error *error)
{
    struct result_row *const row = bench_add_row(session, name, n_elem, error);
    if (row == NULL)
        return NULL;
    row->shards = session->shards;
    row->together = are_added_together(session, collective);
    const uint32_t shards = row->shards > 0 ? row->shards : 1;
    row->counted_bytes = row->together ? row->bytes : row->bytes * shards;
    row->bus_factor =
        result_bus_factor(collective, (double)row->ranks * (row->together ? (double)shards : 1));
    struct hw_bound bound = {.by = NULL};
    if (collective != CCL_CUSTOM)
        bound = bound_of(session, row, collective);
    bench_set_bound(row, bound);
    return row;
}

void row_work_built(const struct bench_session *session)
{
    const struct hw_config *const hw = &session->config->hw;
    struct result_built *const to = &session->result->built;
    if (to->known)
        return;
    const struct hw_built built = hw_built_of(hw);
    *to = (struct result_built){.known = true,
                                .links = built.all_links,
                                .switches = built.switches,
                                .has_cost = built.has_cost,
                                .has_energy = built.has_energy,
                                .cost = built.cost,
                                .watts = built.watts};
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++) {
        if (built.links[kind] == 0 || to->kind_count == RESULT_LINK_KINDS_MAX)
            continue;
        struct result_built_kind *const at = &to->kinds[to->kind_count++];
        snprintf(at->name, sizeof at->name, "%s", hw_link_name_of(hw, kind));
        at->links = built.links[kind];
        at->ways = built.ways[kind];
        at->gbs = hw_link_gbs(&hw->link[kind]);
    }
}

/* Links outside SIPs of this class, each direction for itself; 0: they are inside SIPs. */
static uint64_t ways_built(const struct bench_session *session, const char *kind)
{
    const struct result_built *const built = &session->result->built;
    for (size_t i = 0; i < built->kind_count; i++)
        if (strcmp(built->kinds[i].name, kind) == 0)
            return built->kinds[i].ways;
    return 0;
}

/* In J: the power of all parts over the row's time, and the bits that crossed links and switches.
 */
static double energy_of(const struct bench_session *session, const struct result_row *row)
{
    const struct hw_config *const hw = &session->config->hw;
    unsigned __int128 bits = 0; /* times millionths of a pJ */
    for (uint32_t k = 0; k < HW_SWITCH_KINDS; k++)
        bits +=
            (unsigned __int128)row->switched_bytes[k] * (uint64_t)hw->switch_price[k].pj_per_bit;
    for (size_t i = 0; i < row->kind_count; i++)
        for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
            if (strcmp(row->kinds[i].name, hw_link_name_of(hw, kind)) == 0)
                bits += (unsigned __int128)row->kinds[i].bytes *
                        (uint64_t)hw->link_price[kind].pj_per_bit;
    return session->result->built.watts * ((double)row->time_ps / 1e12) + (double)(8 * bits) / 1e18;
}

void row_work_count_links(const struct bench_session *session, struct result_row *row)
{
    row_work_built(session);
    for (size_t i = 0; i < row->kind_count; i++)
        row->kinds[i].built = ways_built(session, row->kinds[i].name);
    if (session->result->built.has_energy)
        row->joules = energy_of(session, row);
}

/* Links of the class over which the bound's bytes are spread: between SIPs all, of pe_noc one for
 * each engine, elsewhere those that carried something. */
static uint64_t links_that_share(const struct bench_session *session, enum hw_link_kind kind,
                                 uint64_t carried)
{
    const struct hw_config *const hw = &session->config->hw;
    if (kind == HW_LINK_PE_NOC)
        return session->config->ccl.ranks.per_sip > 0 ? dist_facts(session->dist)->world_size
                                                      : hw_pe_count(hw);
    return hw_link_is_outer(kind) ? ways_built(session, hw_link_name_of(hw, kind)) : carried;
}

void row_work_busiest(const struct bench_session *session, struct result_row *row)
{
    static const double busy = 0.90, far = 0.45; /* shares of the time */
    const struct hw_config *const hw = &session->config->hw;
    const struct result_link *const link = &row->links[0];
    enum hw_link_kind kind = 0;
    if (row->link_count == 0 || hw->contention == HW_CONTENTION_NONE ||
        (double)link->busy_ps < busy * (double)row->time_ps ||
        (double)row->bound_ps >= far * (double)row->time_ps)
        return;
    while (kind < HW_LINK_KINDS && strcmp(hw_link_name_of(hw, kind), link->kind) != 0)
        kind++;
    row->busiest = (struct result_busiest){.kind = link->kind};
    if (kind == HW_LINK_KINDS || row->class_ps[kind] == 0)
        return;
    const struct hw_rate rate = hw->link[kind].rate;
    const double share = (double)row->class_ps[kind] * (double)rate.den / (double)rate.num;
    for (size_t i = 0; i < row->kind_count; i++)
        if (row->kinds[i].name == link->kind) {
            const double links = (double)links_that_share(session, kind, row->kinds[i].links);
            row->busiest.bytes = (double)row->kinds[i].bytes / links / share;
            row->busiest.uneven = (double)link->bytes / share / row->busiest.bytes;
        }
}
