/*
 * bound_listed.c: cuts of a machine as a graph (bound_listed.h).
 *
 * Any set of stops is a side of a cut: what its leaves owe to the others leaves it by its links to
 * the outside, and what they are owed enters by the links from there, whatever the routes.
 */
#include "collectives/verify/bound_listed.h"

#include <stdlib.h>
#include <string.h>

#include "hw/topology/pieces.h"
#include "partition/sip_parts.h"

/* ---- what crosses ---------------------------------------------------------------------------- */

/* Bytes of one lane. */
struct crossing {
    uint64_t out, in;
    bool either; /* one of the two, and it is not known which */
};

/* Of a side with this many leaves. */
static struct crossing crossing_of(const struct bounding *b, uint64_t inside)
{
    const uint64_t n = b->leaves, bytes = b->work->bytes, outside = n - inside;
    if (inside == 0 || inside >= n)
        return (struct crossing){0};
    switch (b->work->collective) {
    case CCL_ALL_REDUCE: /* each result depends on every byte of every operand */
        if (b->mode == HW_REDUCE_PULL && inside == 1)
            return (struct crossing){bound_pulled(b), bound_pulled(b), false};
        return (struct crossing){bytes, bytes, false};
    case CCL_BROADCAST:
    case CCL_SEND_RECV:
    case CCL_REDUCE:
        return (struct crossing){bytes, bytes, true};
    case CCL_ALL_GATHER: /* the blocks of the one side reach the other */
        return (struct crossing){inside * (bytes / n), outside * (bytes / n), false};
    case CCL_REDUCE_SCATTER: /* a sum for each rank of the one side comes from the other */
        return (struct crossing){outside * (bytes / n), inside * (bytes / n), false};
    case CCL_ALL_TO_ALL:
        return (struct crossing){inside * outside * (bytes / n), inside * outside * (bytes / n),
                                 false};
    default:
        return (struct crossing){0};
    }
}

/* Bytes per ps. */
static double capacity_of(const struct hw_config *hw, const struct cut *cut)
{
    double capacity = 0;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (cut->links[kind] > 0)
            capacity += (double)cut->links[kind] * (double)hw->link[kind].rate.den /
                        (double)hw->link[kind].rate.num;
    return capacity;
}

/* ---- sides ----------------------------------------------------------------------------------- */

/* A part of the stops. */
struct side {
    struct cut out, in;
    uint64_t leaves;
};

struct listed {
    struct bounding *b;
    uint32_t stops;
    uint64_t *leaves; /* [sips] */
    uint32_t *part;   /* [stops] */
    uint32_t *number; /* [stops] of a part: its place in `side`; UINT32_MAX: it has no leaves */
    struct side *side;
};

static void bound_side(const struct listed *l, const struct side *side)
{
    struct bounding *const b = l->b;
    const struct crossing crossing = crossing_of(b, side->leaves);
    if (!crossing.either) {
        bound_cut(b, &side->out, b->lanes * crossing.out);
        bound_cut(b, &side->in, b->lanes * crossing.in);
    } else {
        const bool outward = capacity_of(b->hw, &side->out) > capacity_of(b->hw, &side->in);
        bound_cut(b, outward ? &side->out : &side->in, b->lanes * crossing.out);
    }
}

/* Of n parts with leaves, 2 (n - 1) messages leave one (bound.c, "the sends of an all-reduce"). */
static void bound_sends(const struct listed *l, uint32_t sides)
{
    struct cut all = {{0}};
    if (l->b->mode != HW_REDUCE_NONE)
        return;
    for (uint32_t i = 0; i < sides; i++)
        for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
            all.links[kind] += l->side[i].out.links[kind];
    if (l->b->work->collective == CCL_ALL_REDUCE && sides > 1)
        bound_cut(l->b, &all, l->b->lanes * 2 * (sides - 1) * l->b->work->bytes);
}

/* All parts that l->part names, by stops of theirs. */
static void bound_parts(struct listed *l)
{
    const struct hw_config *const hw = l->b->hw;
    uint32_t sides = 0;
    memset(l->number, 0xff, l->stops * sizeof *l->number);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
        uint32_t *const number = &l->number[l->part[sip]];
        if (l->leaves[sip] == 0)
            continue;
        if (*number == UINT32_MAX) {
            *number = sides++;
            l->side[*number] = (struct side){.leaves = 0};
        }
        l->side[*number].leaves += l->leaves[sip];
    }
    if (sides < 2)
        return;
    for (uint32_t stop = 0; stop < l->stops; stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS || l->part[stop] == l->part[hop.to])
                continue;
            const uint32_t from = l->number[l->part[stop]], to = l->number[l->part[hop.to]];
            if (from != UINT32_MAX)
                l->side[from].out.links[hop.link]++;
            if (to != UINT32_MAX)
                l->side[to].in.links[hop.link]++;
        }
    for (uint32_t i = 0; i < sides; i++)
        bound_side(l, &l->side[i]);
    bound_sends(l, sides);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The pieces that stay connected without the links of one class, and so on. */
static void bound_pieces(struct listed *l)
{
    struct hw_left_out out[HW_LEFT_OUT_MAX];
    const uint32_t count = hw_left_outs(l->b->hw, out);
    for (uint32_t i = 0; i < count; i++) {
        hw_pieces(l->b->hw, &out[i], l->part);
        bound_parts(l);
    }
}

/* Halves, quarters and so on; of large machines halves alone. */
enum { METIS_PARTS_MAX = 16, METIS_STOPS_MAX = 2048 };

static void bound_metis(struct listed *l)
{
    l->b->bound->without_metis = !sip_parts_can();
    const uint32_t most = l->stops <= METIS_STOPS_MAX ? METIS_PARTS_MAX : 2;
    for (uint32_t parts = 2; parts <= most && parts < l->b->hw->sip_count; parts *= 2)
        if (sip_parts(l->b->hw, parts, l->part))
            bound_parts(l);
}

/* ---- distances ------------------------------------------------------------------------------- */

/* Links from each stop to one SIP, at least; UINT32_MAX: no way. `queue` [stops]. */
static void count_links(const struct hw_config *hw, uint32_t from, uint32_t *links, uint32_t *queue)
{
    uint32_t next = 0, last = 0;
    memset(links, 0xff, hw_stops(hw) * sizeof *links);
    links[from] = 0;
    queue[last++] = from;
    while (next < last) {
        const uint32_t stop = queue[next++];
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS || links[hop.to] != UINT32_MAX)
                continue;
            links[hop.to] = links[stop] + 1;
            queue[last++] = hop.to;
        }
    }
}

/* An all-to-all crosses, of each block, as many links as its places are apart; all links together
 * carry that. */
enum { DISTANCES_SIPS_MAX = 1024 };

static void bound_distances(struct listed *l)
{
    struct bounding *const b = l->b;
    const struct hw_config *const hw = b->hw;
    const uint64_t block = b->work->bytes / b->leaves;
    struct cut all = {{0}};
    uint64_t crossings = 0;
    if (b->work->collective != CCL_ALL_TO_ALL || hw->sip_count > DISTANCES_SIPS_MAX)
        return;
    for (uint32_t stop = 0; stop < l->stops; stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link < HW_LINK_KINDS)
                all.links[hop.link]++;
        }
    for (uint32_t from = 0; from < hw->sip_count; from++) {
        if (l->leaves[from] == 0)
            continue;
        count_links(hw, from, l->part, l->number);
        for (uint32_t to = 0; to < hw->sip_count; to++)
            if (l->part[to] != UINT32_MAX)
                crossings += l->leaves[from] * l->leaves[to] * l->part[to];
    }
    bound_cut(b, &all, b->lanes * crossings * block);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool count_leaves(struct listed *l)
{
    const struct bounding *const b = l->b;
    l->leaves = calloc(b->hw->sip_count, sizeof *l->leaves);
    l->part = malloc(l->stops * sizeof *l->part);
    l->number = malloc(l->stops * sizeof *l->number);
    l->side = malloc((size_t)b->sips * sizeof *l->side);
    if (l->leaves == NULL || l->part == NULL || l->number == NULL || l->side == NULL)
        return false;
    for (uint32_t i = 0; i < b->sips; i++)
        l->leaves[bound_sip(b, i)] =
            i + 1 < b->sips ? b->of_sip : b->leaves - (b->sips - 1) * b->of_sip;
    return true;
}

void bound_listed(struct bounding *b)
{
    struct listed l = {.b = b, .stops = hw_stops(b->hw)};
    if (count_leaves(&l)) {
        for (uint32_t stop = 0; stop < l.stops; stop++)
            l.part[stop] = stop;
        bound_parts(&l);
        bound_pieces(&l);
        bound_metis(&l);
        bound_distances(&l);
    }
    free(l.leaves);
    free(l.part);
    free(l.number);
    free(l.side);
}

/* ---- latency --------------------------------------------------------------------------------- */

/* A binary heap of stops by their times. */
struct heap {
    struct reached {
        int64_t ps;
        uint32_t stop;
    } * at; /* from 1 on */
    size_t count, room;
};

static bool heap_push(struct heap *heap, int64_t ps, uint32_t stop)
{
    if (heap->count + 2 > heap->room) {
        const size_t room = 2 * heap->room + 64;
        struct reached *const more = realloc(heap->at, room * sizeof *more);
        if (more == NULL)
            return false;
        heap->at = more;
        heap->room = room;
    }
    size_t i = ++heap->count;
    for (; i > 1 && heap->at[i / 2].ps > ps; i /= 2)
        heap->at[i] = heap->at[i / 2];
    heap->at[i] = (struct reached){ps, stop};
    return true;
}

static struct reached heap_pop(struct heap *heap)
{
    const struct reached least = heap->at[1], last = heap->at[heap->count--];
    size_t i = 1;
    for (size_t child; (child = 2 * i) <= heap->count; i = child) {
        child += child < heap->count && heap->at[child + 1].ps < heap->at[child].ps;
        if (heap->at[child].ps >= last.ps)
            break;
        heap->at[i] = heap->at[child];
    }
    heap->at[i] = last;
    return least;
}

/* Times from the first IO port to each stop, both included. False: no memory. */
static bool find_times(const struct hw_config *hw, uint32_t from, int64_t through_ps, int64_t *ps)
{
    struct heap heap = {0};
    bool fits = heap_push(&heap, hw->overhead_ps[HW_NODE_IO_PORT], from);
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        ps[stop] = INT64_MAX;
    ps[from] = hw->overhead_ps[HW_NODE_IO_PORT];
    while (fits && heap.count > 0) {
        const struct reached at = heap_pop(&heap);
        const bool through = at.stop != from && !hw_is_switch(hw, at.stop);
        const int64_t leaves_ps =
            at.ps + (through ? through_ps + hw->overhead_ps[HW_NODE_IO_PORT] : 0);
        if (at.ps > ps[at.stop])
            continue;
        for (uint32_t outlet = 0; fits && outlet < hw_outlets_of(hw, at.stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, at.stop, outlet);
            const int64_t then_ps =
                hop.link < HW_LINK_KINDS ? leaves_ps + hw_hop_ps(hw, hop.link, hop.to) : INT64_MAX;
            if (hop.link == HW_LINK_KINDS || then_ps >= ps[hop.to])
                continue;
            ps[hop.to] = then_ps;
            fits = heap_push(&heap, then_ps, hop.to);
        }
    }
    free(heap.at);
    return fits;
}

/* The same from each stop to the last IO port, `to`: every link in turn until none is shorter. */
static void find_times_to(const struct hw_config *hw, uint32_t to, int64_t through_ps, int64_t *ps)
{
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        ps[stop] = INT64_MAX;
    ps[to] = hw->overhead_ps[HW_NODE_IO_PORT];
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
            for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
                const struct hw_hop hop = hw_hop(hw, stop, outlet);
                if (hop.link == HW_LINK_KINDS || ps[hop.to] == INT64_MAX)
                    continue;
                const bool through = hop.to != to && !hw_is_switch(hw, hop.to);
                const int64_t then_ps =
                    ps[hop.to] + hw_hop_ps(hw, hop.link, hop.to) +
                    (through ? through_ps + hw->overhead_ps[HW_NODE_IO_PORT] : 0);
                if (then_ps >= ps[stop])
                    continue;
                ps[stop] = then_ps;
                shorter = true;
            }
    }
}

int64_t bound_listed_ps(const struct bounding *b, int64_t through_ps)
{
    const uint32_t root = b->work->root_sip;
    int64_t most_ps = 0;
    int64_t *const ps = malloc(hw_stops(b->hw) * sizeof *ps);
    bool found = ps != NULL;
    if (found && b->work->collective == CCL_REDUCE)
        find_times_to(b->hw, root, through_ps, ps);
    else
        found = found && find_times(b->hw, root, through_ps, ps);
    for (uint32_t i = 0; found && i < b->sips; i++) {
        const uint32_t sip = bound_sip(b, i);
        if (sip != root && ps[sip] < INT64_MAX && ps[sip] > most_ps)
            most_ps = ps[sip];
    }
    free(ps);
    return most_ps;
}
