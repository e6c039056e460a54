/*
 * scatter_cost.c: estimates of the reduce-scatters' times (scatter_cost.h). Latencies are sums of
 * the configuration's overheads, as HARDWARE.md counts them. Where transfers share a resource, the
 * time is that of the busiest one: the engine of PE_DMA, HBM, or a link between SIPs.
 *
 * All ranks are alike, so each SIP's links of a kind carry as many bytes as one rank's transfers
 * put on links of this kind.
 */
#include "collectives/algorithms/scatter_cost.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/algorithms/birs_tree.h"
#include "collectives/algorithms/reduce_scatter.h"
#include "hw/route.h"
#include "hw/timing.h"
#include "hw/topology/topology.h"

enum { NOTIFICATION_BYTES = 16 }; /* QUEUES.md, "One-sided operations" */

static int64_t cost_max_ps(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- single operations on an idle machine ---------------------------------------------------- */

struct scatter_cost {
    const struct hw_config *hw;
    const struct ccl_call *call;
    uint64_t slice; /* bytes */
    uint32_t n;
    int64_t cpu_ps;             /* a call that waits, a fork, a join */
    int64_t queue_ps, issue_ps; /* before a put or a notification; before a load, store, copy */
    int64_t to_hbm_ps;          /* from PE_DMA into HBM, no bytes */
    int64_t from_hbm_ps;        /* and back to PE_DMA, whose overhead is included */
    /* Crossings of links of a kind, over all the slices that a rank sends to others; links of that
     * kind that each SIP has. */
    uint64_t crossings[HW_LINK_KINDS], links[HW_LINK_KINDS];
};

static struct hw_place cost_place(const struct scatter_cost *c, uint32_t rank)
{
    return (struct hw_place){.sip = ccl_sip_of(&c->call->ccl->ranks, rank)};
}

struct outer_count {
    uint64_t crossings[HW_LINK_KINDS];
    bool outlets[HW_OUTLETS_MAX]; /* of the first SIP: used */
    uint32_t first_sip;
};

static void count_outer(void *arg, const struct hw_path_step *step)
{
    struct outer_count *const count = arg;
    if (!step->is_link || !hw_link_is_outer((enum hw_link_kind)step->kind))
        return;
    count->crossings[step->kind]++;
    if (step->sip == count->first_sip)
        count->outlets[step->outlet] = true;
}

static struct outer_count outer_between(const struct scatter_cost *c, uint32_t from, uint32_t to)
{
    const struct hw_place start = cost_place(c, from);
    struct outer_count count = {.first_sip = start.sip};
    hw_path_walk(c->hw, start, cost_place(c, to), HW_MEMORY_HBM, HW_OUTLET_NONE, count_outer,
                 &count);
    return count;
}

/* The links of a SIP at these outlets. */
static void cost_add_links(const struct hw_config *hw, const bool outlets[HW_OUTLETS_MAX],
                           uint64_t links[HW_LINK_KINDS])
{
    for (uint32_t i = 0; i < hw_outlets(hw); i++)
        if (outlets[i])
            links[hw_route_outer_link(hw, i)] += hw_route_through_switch(hw, i) ? 2 : 1;
}

static struct scatter_cost scatter_cost_of(const struct ccl_call *call)
{
    const struct hw_config *const hw = call->hw;
    const int64_t dma = hw->overhead_ps[HW_NODE_PE_DMA], router = hw->overhead_ps[HW_NODE_ROUTER];
    const int64_t way = hw->link[HW_LINK_PE_NOC].prop_ps + hw->link[HW_LINK_HBM].prop_ps;
    struct scatter_cost c = {.hw = hw,
                             .call = call,
                             .slice = call->n_elem / call->world_size * tl_itemsize(call->dtype),
                             .n = call->world_size};
    bool outlets[HW_OUTLETS_MAX] = {false};
    c.cpu_ps = hw->overhead_ps[HW_NODE_PE_CPU];
    c.queue_ps = c.cpu_ps + hw->overhead_ps[HW_NODE_PE_IPCQ];
    c.issue_ps = c.cpu_ps + hw->overhead_ps[HW_NODE_PE_SCHEDULER] + hw->overhead_ps[HW_NODE_PE_MMU];
    c.to_hbm_ps = dma + way + router + hw->overhead_ps[HW_NODE_HBM];
    c.from_hbm_ps = way + router + dma;
    for (uint32_t to = 1; to < c.n; to++) {
        const struct outer_count count = outer_between(&c, 0, to);
        for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++)
            c.crossings[kind] += count.crossings[kind];
        for (uint32_t i = 0; i < HW_OUTLETS_MAX; i++)
            outlets[i] |= count.outlets[i];
    }
    cost_add_links(hw, outlets, c.links);
    return c;
}

/* The slower of HBM's link and that of PE_DMA. */
static int64_t cost_hbm_ps(const struct scatter_cost *c, uint64_t bytes)
{
    return cost_max_ps(hw_ser_ps(&c->hw->link[HW_LINK_HBM], bytes),
                       hw_ser_ps(&c->hw->link[HW_LINK_PE_NOC], bytes));
}

static int64_t cost_load_ps(const struct scatter_cost *c, uint64_t bytes)
{
    const struct hw_link_class *const tcm = &c->hw->link[HW_LINK_TCM];
    return c->issue_ps + c->to_hbm_ps + c->from_hbm_ps + tcm->prop_ps +
           c->hw->overhead_ps[HW_NODE_PE_TCM] +
           cost_max_ps(cost_hbm_ps(c, bytes), hw_ser_ps(tcm, bytes));
}

static int64_t cost_store_ps(const struct scatter_cost *c, uint64_t bytes)
{
    return c->issue_ps + c->to_hbm_ps + c->from_hbm_ps + cost_hbm_ps(c, bytes);
}

static int64_t cost_copy_ps(const struct scatter_cost *c, uint64_t bytes)
{
    return c->issue_ps + 2 * c->to_hbm_ps - c->hw->overhead_ps[HW_NODE_PE_DMA] + c->from_hbm_ps +
           cost_hbm_ps(c, bytes);
}

static int64_t cost_add_ps(const struct scatter_cost *c, uint64_t bytes)
{
    const int64_t fetch_ps =
        c->hw->math_free_operands ? 0 : hw_fetch_ps(c->hw, 2 * bytes) + hw_fetch_ps(c->hw, bytes);
    return c->cpu_ps + c->hw->overhead_ps[HW_NODE_PE_SCHEDULER] + fetch_ps +
           hw_math_ps(c->hw, bytes / tl_itemsize(c->call->dtype));
}

static int64_t cost_notify_ps(const struct scatter_cost *c, uint32_t from, uint32_t to)
{
    return c->queue_ps +
           hw_path_ps(c->hw, cost_place(c, from), cost_place(c, to), HW_MEMORY_NONE, HW_OUTLET_NONE,
                      NOTIFICATION_BYTES) +
           c->hw->ipcq_wire_ps;
}

/* From HBM to HBM; a reduction passes the reduce unit, too. */
static int64_t cost_put_ps(const struct scatter_cost *c, uint32_t from, uint32_t to, uint64_t bytes,
                           bool reduce)
{
    const int64_t idle_ps =
        hw_path_ps(c->hw, cost_place(c, from), cost_place(c, to), HW_MEMORY_HBM, HW_OUTLET_NONE, 0);
    int64_t ser_ps = hw_path_ps(c->hw, cost_place(c, from), cost_place(c, to), HW_MEMORY_HBM,
                                HW_OUTLET_NONE, bytes) -
                     idle_ps;
    if (reduce)
        ser_ps = cost_max_ps(ser_ps, hw_rate_ps(c->hw->dma_reduce, bytes));
    return c->queue_ps + c->to_hbm_ps + c->from_hbm_ps - c->hw->overhead_ps[HW_NODE_PE_DMA] +
           idle_ps + cost_max_ps(ser_ps, cost_hbm_ps(c, bytes)) + c->hw->ipcq_wire_ps;
}

/* The time for which a put keeps others waiting that come behind it: the engine's, or HBM's where
 * it holds HBM as one block. */
static int64_t cost_hold_ps(const struct scatter_cost *c, uint64_t bytes)
{
    return c->hw->contention == HW_CONTENTION_MESSAGE
               ? cost_hbm_ps(c, bytes)
               : hw_ser_ps(&c->hw->link[HW_LINK_PE_NOC], bytes);
}

/* ---- parts of algorithms --------------------------------------------------------------------- */

/* `bytes`, of which each crosses `crossings` links of a kind, share a SIP's links of that kind. */
static int64_t cost_outer_ps(const struct scatter_cost *c, const uint64_t crossings[HW_LINK_KINDS],
                             uint64_t bytes)
{
    int64_t ps = 0;
    for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++)
        if (c->links[kind] > 0)
            ps = cost_max_ps(
                ps, hw_ser_ps(&c->hw->link[kind], crossings[kind] * bytes / c->links[kind]));
    return ps;
}

/* ... where every rank sends to one other, as `from` sends to `to`. */
static int64_t cost_flow_ps(const struct scatter_cost *c, uint32_t from, uint32_t to,
                            uint64_t bytes)
{
    const struct outer_count count = outer_between(c, from, to);
    return cost_outer_ps(c, count.crossings, bytes);
}

/* Loads of `partials` slices, their sums, the store: piece by piece. */
static int64_t cost_reduction_ps(const struct scatter_cost *c, uint32_t partials)
{
    const uint32_t itemsize = tl_itemsize(c->call->dtype);
    const uint64_t full = ccl_tile_bytes(c->call->ccl) / itemsize * itemsize;
    int64_t ps = 0;
    for (uint64_t done = 0; done < c->slice;) {
        const uint64_t piece = c->slice - done < full ? c->slice - done : full;
        const uint64_t times = piece < full ? 1 : (c->slice - done) / full;
        ps += (int64_t)times * (partials * cost_load_ps(c, piece) +
                                (partials - 1) * cost_add_ps(c, piece) + cost_store_ps(c, piece));
        done += times * piece;
    }
    return ps;
}

/* ---- mesh ------------------------------------------------------------------------------------ */

int64_t scatter_cost_mesh_ps(const struct ccl_call *call)
{
    const struct scatter_cost c = scatter_cost_of(call);
    const int64_t calls_ps = (int64_t)(c.n - 1) * 2 * c.queue_ps;
    int64_t last_ps = 0, ser_ps = 0;
    for (uint32_t to = 1; to < c.n; to++) {
        const int64_t ps = cost_put_ps(&c, 0, to, c.slice, false);
        if (ps > last_ps) {
            last_ps = ps;
            ser_ps = ps - cost_put_ps(&c, 0, to, 0, false);
        }
    }
    int64_t busy_ps = cost_outer_ps(&c, c.crossings, c.slice);
    busy_ps = cost_max_ps(busy_ps, (int64_t)c.n * cost_hbm_ps(&c, c.slice));
    busy_ps += cost_hold_ps(&c, c.slice) - ser_ps; /* the first put may go another way */
    return cost_copy_ps(&c, c.slice) + cost_max_ps(calls_ps, busy_ps) + last_ps +
           cost_reduction_ps(&c, c.n);
}

/* ---- rhd ------------------------------------------------------------------------------------- */

/* `slices` go from rank `from` to rank `to` one by one, each when the working copy of it is made
 * there, which takes `make_ps`. */
static int64_t cost_pipelined_ps(const struct scatter_cost *c, uint32_t from, uint32_t to,
                                 uint32_t slices, int64_t make_ps)
{
    const int64_t each_ps =
        cost_max_ps(cost_max_ps(make_ps + c->queue_ps, c->queue_ps + c->cpu_ps),
                    cost_max_ps(cost_flow_ps(c, from, to, c->slice), cost_hbm_ps(c, c->slice)));
    return 2 * c->cpu_ps + make_ps + cost_notify_ps(c, to, from) +
           cost_put_ps(c, from, to, c->slice, true) + (int64_t)(slices - 1) * each_ps;
}

/* A put_reduce beside those of all other ranks. */
static int64_t cost_flow_put_ps(const struct scatter_cost *c, uint32_t from, uint32_t to,
                                uint64_t bytes)
{
    const int64_t idle_ps = cost_put_ps(c, from, to, 0, true);
    return idle_ps + cost_max_ps(cost_put_ps(c, from, to, bytes, true) - idle_ps,
                                 cost_flow_ps(c, from, to, bytes));
}

/* As rhd.c has it: p virtual ranks, of which the first `folded` are pairs of ranks. */
struct cost_fold {
    uint32_t p, folded;
};

static uint32_t rank_of_virtual(struct cost_fold fold, uint32_t v)
{
    return v + (v < fold.folded ? v : fold.folded);
}

/* Virtual rank v and its partner at distance d exchange the slices that each of them keeps. */
static int64_t cost_step_ps(const struct scatter_cost *c, struct cost_fold fold, uint32_t v,
                            uint32_t d)
{
    const uint32_t low = (v ^ d) & ~(d - 1);
    const uint32_t slices = rank_of_virtual(fold, low + d) - rank_of_virtual(fold, low);
    const uint32_t from = rank_of_virtual(fold, v), to = rank_of_virtual(fold, v ^ d);
    if (d == fold.p / 2)
        return cost_pipelined_ps(c, from, to, slices,
                                 fold.folded > 0 ? 0 : cost_copy_ps(c, c->slice));
    return cost_notify_ps(c, to, from) + cost_flow_put_ps(c, from, to, slices * c->slice);
}

int64_t scatter_cost_rhd_ps(const struct ccl_call *call)
{
    const struct scatter_cost c = scatter_cost_of(call);
    const int64_t copy = cost_copy_ps(&c, c.slice);
    struct cost_fold fold = {.p = 1};
    while (2 * fold.p <= c.n)
        fold.p *= 2;
    fold.folded = c.n - fold.p;
    int64_t ps = copy;
    if (fold.folded > 0)
        ps += cost_pipelined_ps(&c, 1, 0, c.n, copy) + cost_put_ps(&c, 0, 1, c.slice, false);
    for (uint32_t d = fold.p / 2; d > 0; d /= 2) {
        int64_t step_ps = 0; /* without pairs all ranks are alike */
        for (uint32_t v = 0; v < (fold.folded > 0 ? fold.p : 1); v++)
            step_ps = cost_max_ps(step_ps, cost_step_ps(&c, fold, v, d));
        ps += step_ps;
    }
    return ps;
}

/* ---- birs and birs_inter --------------------------------------------------------------------- */

/* The parts of a round: from its fork on, until the streams have ended. */
struct birs_round {
    int64_t sio_ps, hccs_ps, copy_ps;
};

static uint32_t cost_rank_on(const struct scatter_cost *c, uint32_t sip)
{
    return ccl_rank_on(&c->call->ccl->ranks, sip);
}

/* The hccs put waits for the sio put in its channel, which shares the engine with the copy. */
static struct birs_round birs_round_of(const struct scatter_cost *c, bool sends, bool copies)
{
    const uint32_t own = cost_rank_on(c, 0), mate = cost_rank_on(c, 1), far = cost_rank_on(c, 2);
    const int64_t ready_ps = cost_notify_ps(c, own, mate), hold = cost_hold_ps(c, c->slice);
    int64_t engine_ps = ready_ps + hold;
    if (copies && hold > ready_ps)
        engine_ps += hold - ready_ps;
    struct birs_round round = {.sio_ps = ready_ps + cost_put_ps(c, own, mate, c->slice, true)};
    if (copies)
        round.copy_ps = cost_copy_ps(c, c->slice);
    if (sends) {
        round.hccs_ps = cost_max_ps(cost_notify_ps(c, own, far), engine_ps) +
                        cost_put_ps(c, own, far, c->slice, false);
        round.hccs_ps = cost_max_ps(round.hccs_ps, (copies ? 3 : 2) * cost_hbm_ps(c, c->slice));
    }
    return round;
}

static int64_t cost_round_ps(const struct scatter_cost *c, const struct birs_round *round)
{
    return 2 * c->cpu_ps + cost_max_ps(round->sio_ps, cost_max_ps(round->hccs_ps, round->copy_ps));
}

int64_t scatter_cost_birs_ps(const struct ccl_call *call)
{
    const struct scatter_cost c = scatter_cost_of(call);
    const uint32_t y = c.n / 2;
    const struct birs_round first = birs_round_of(&c, false, true);
    const struct birs_round later = birs_round_of(&c, true, true);
    const struct birs_round last = birs_round_of(&c, true, false);
    return cost_copy_ps(&c, c.slice) + cost_round_ps(&c, &first) +
           (y - 2) * cost_round_ps(&c, &later) + cost_round_ps(&c, &last) +
           cost_reduction_ps(&c, y);
}

/* Slices that the merge of the partial of a round loads; 0: it completes no node. */
static uint32_t merge_parts(struct birs_tree tree, uint32_t round)
{
    if (!birs_tree_completes(tree, round))
        return 0;
    const uint32_t from = birs_tree_from(tree, round);
    uint32_t parts = 0;
    for (uint32_t i = 0; i <= birs_tree_level(tree, from); i++)
        parts += birs_tree_has_part(tree, from, i);
    return parts;
}

/* Slices that the end loads: the own partial, its siblings, and the parts of the one of them that
 * the last partial completes. */
static uint32_t loads_at_end(struct birs_tree tree)
{
    const uint32_t last = merge_parts(tree, tree.packages - 1);
    uint32_t loads = 1 + last - (last > 0);
    for (uint32_t level = 0; level < birs_tree_levels(tree); level++)
        loads += birs_tree_has_sibling(tree, level);
    return loads;
}

/* A merge of so many parts beside a round's streams: the copy's chunks are loaded in between, and
 * HBM serves the round's three slices, too. Where transfers hold HBM as blocks, the merge waits for
 * all three to be read, and its store for two that others write. */
static int64_t cost_merge_ps(const struct scatter_cost *c, uint32_t parts)
{
    const int64_t slice_ps = cost_hbm_ps(c, c->slice);
    if (parts == 0)
        return 0;
    return cost_max_ps(cost_reduction_ps(c, parts) +
                           (c->hw->contention == HW_CONTENTION_MESSAGE ? 5 : 1) * slice_ps,
                       (3 + parts) * slice_ps);
}

/* ... and the hccs put waits for the piece that the merge is loading. */
static int64_t merge_holds_ps(const struct scatter_cost *c, uint32_t parts)
{
    const uint64_t tile = ccl_tile_bytes(c->call->ccl), piece = c->slice < tile ? c->slice : tile;
    return parts > 0 && c->hw->contention == HW_CONTENTION_MESSAGE ? cost_hbm_ps(c, piece) : 0;
}

/* Round `round` of all packages, which begin it at start[] and end it at end[]. The package from
 * which one gets its partial has begun this round, too; the merge of the round before is part of
 * it. */
static void inter_round(const struct scatter_cost *c, const struct birs_round *streams,
                        uint32_t round, const int64_t *start, int64_t *end)
{
    const uint32_t y = c->n / 2;
    for (uint32_t m = 0; m < y; m++) {
        const uint32_t parts = merge_parts((struct birs_tree){y, m}, round - 1);
        const int64_t both_ps = cost_max_ps(start[m], start[(m + y - round) % y]);
        end[m] = cost_max_ps(both_ps + streams->hccs_ps + merge_holds_ps(c, parts),
                             start[m] + cost_max_ps(streams->sio_ps, streams->copy_ps));
        end[m] = cost_max_ps(end[m], start[m] + cost_merge_ps(c, parts)) + 2 * c->cpu_ps;
    }
}

/* start[], end[]: of each package. */
static int64_t cost_inter_ps(const struct scatter_cost *c, int64_t *start, int64_t *end)
{
    const uint32_t y = c->n / 2;
    const struct birs_round first = birs_round_of(c, false, true);
    const struct birs_round later = birs_round_of(c, true, true);
    const struct birs_round last = birs_round_of(c, true, false);
    for (uint32_t m = 0; m < y; m++)
        start[m] = cost_copy_ps(c, c->slice) + cost_round_ps(c, &first);
    for (uint32_t round = 1; round < y; round++) {
        inter_round(c, round + 1 < y ? &later : &last, round, start, end);
        memcpy(start, end, y * sizeof *start);
    }
    int64_t ps = 0;
    for (uint32_t m = 0; m < y; m++)
        ps = cost_max_ps(ps,
                         start[m] + cost_reduction_ps(c, loads_at_end((struct birs_tree){y, m})));
    return ps;
}

int64_t scatter_cost_birs_inter_ps(const struct ccl_call *call)
{
    const struct scatter_cost c = scatter_cost_of(call);
    int64_t *const start = calloc(c.n, sizeof *start); /* and end */
    if (start == NULL)
        return INT64_MAX;
    const int64_t ps = cost_inter_ps(&c, start, start + c.n / 2);
    free(start);
    return ps;
}
