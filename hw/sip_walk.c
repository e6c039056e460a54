/*
 * sip_walk.c: finds orders of SIPs (sip_walk.h).
 */
#include "hw/sip_walk.h"

#include <stdlib.h>
#include <string.h>

#include "hw/route.h"
#include "hw/timing.h"
#include "hw/topology/pieces.h"

/* ---- walks ----------------------------------------------------------------------------------- */

enum { STEP_BYTES = 16384, TURNS = 20 };

struct walking {
    const struct hw_config *hw;
    uint32_t n, outlets;
    int64_t *cost; /* [n * n] of a step there and back */
    bool *used;    /* [stops * outlets] links that earlier walks use */
    bool *seen;    /* [n] */
    bool *joined;  /* [n] that have links */
};

/* Links of a route: calls `visit` with the number of each. */
typedef bool (*link_fn)(struct walking *w, uint32_t link, const struct hw_hop *hop, int64_t *sum);

static bool visit_route(struct walking *w, uint32_t from, uint32_t to, link_fn visit, int64_t *sum)
{
    const struct hw_config *const hw = w->hw;
    uint32_t key = hw_route_key(hw, from, to, 0), stop = from;
    bool good = true;
    while (stop != to && good) {
        key = hw_route_key_at(hw, stop, key);
        const uint32_t outlet = hw_route_exit(hw, stop, to, key);
        const struct hw_hop hop = hw_hop(hw, stop, outlet);
        good = visit(w, stop * w->outlets + outlet, &hop, sum);
        stop = hop.to;
    }
    return good;
}

/* A link that another walk has costs as much as a walk through all SIPs. */
static bool add_link(struct walking *w, uint32_t link, const struct hw_hop *hop, int64_t *sum)
{
    const int64_t own =
        hw_hop_ps(w->hw, hop->link, hop->to) + hw_ser_ps(&w->hw->link[hop->link], STEP_BYTES);
    *sum += w->used[link] ? own * (w->n + 1) : own;
    return true;
}

static bool is_unused(struct walking *w, uint32_t link, const struct hw_hop *hop, int64_t *sum)
{
    (void)hop, (void)sum;
    return !w->used[link];
}

static bool use(struct walking *w, uint32_t link, const struct hw_hop *hop, int64_t *sum)
{
    (void)hop, (void)sum;
    w->used[link] = true;
    return true;
}

/* A SIP that has failed has no links. */
static bool has_links(const struct hw_config *hw, uint32_t sip)
{
    for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++)
        if (hw_hop(hw, sip, outlet).link < HW_LINK_KINDS)
            return true;
    return false;
}

static void find_costs(struct walking *w)
{
    enum { NO_WAY_PS = 1 << 30 };
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < i; k++) {
            int64_t sum = (int64_t)NO_WAY_PS * NO_WAY_PS;
            if (w->joined[i] && w->joined[k]) {
                sum = 0;
                (void)visit_route(w, i, k, add_link, &sum);
                (void)visit_route(w, k, i, add_link, &sum);
            }
            w->cost[i * w->n + k] = w->cost[k * w->n + i] = sum;
        }
}

static int64_t step_cost(const struct walking *w, uint32_t a, uint32_t b)
{
    return w->cost[a * w->n + b];
}

static void begin_walk(struct walking *w, uint32_t *order)
{
    memset(w->seen, 0, w->n * sizeof *w->seen);
    order[0] = 0;
    w->seen[0] = true;
    for (uint32_t i = 1; i < w->n; i++) {
        uint32_t nearest = UINT32_MAX;
        for (uint32_t sip = 0; sip < w->n; sip++)
            if (!w->seen[sip] && (nearest == UINT32_MAX || step_cost(w, order[i - 1], sip) <
                                                               step_cost(w, order[i - 1], nearest)))
                nearest = sip;
        w->seen[nearest] = true;
        order[i] = nearest;
    }
}

static void turn_round(uint32_t *order, uint32_t first, uint32_t last)
{
    for (; first < last; first++, last--) {
        const uint32_t sip = order[first];
        order[first] = order[last];
        order[last] = sip;
    }
}

/* Whether some stretch was turned. */
static bool shorten(const struct walking *w, uint32_t *order)
{
    bool shorter = false;
    for (uint32_t i = 0; i + 2 < w->n; i++)
        for (uint32_t k = i + 2; k < w->n; k++) {
            const uint32_t a = order[i], b = order[i + 1], c = order[k], d = order[(k + 1) % w->n];
            if (a == d ||
                step_cost(w, a, c) + step_cost(w, b, d) >= step_cost(w, a, b) + step_cost(w, c, d))
                continue;
            turn_round(order, i + 1, k);
            shorter = true;
        }
    return shorter;
}

static bool visit_walk(struct walking *w, const uint32_t *order, link_fn visit)
{
    bool good = true;
    int64_t sum = 0;
    for (uint32_t i = 0; i < w->n && good && w->n > 1; i++) {
        const uint32_t a = order[i], b = order[(i + 1) % w->n];
        good = !w->joined[a] || !w->joined[b] ||
               (visit_route(w, a, b, visit, &sum) && visit_route(w, b, a, visit, &sum));
    }
    return good;
}

static uint32_t find_walks(struct walking *w, uint32_t *order)
{
    uint32_t walks = 0;
    for (; walks < HW_WALKS_MAX; walks++) {
        uint32_t *const walk = order + (size_t)walks * w->n;
        find_costs(w);
        begin_walk(w, walk);
        for (uint32_t turn = 0; turn < TURNS && shorten(w, walk); turn++)
            ;
        if (walks > 0 && (w->n < 3 || !visit_walk(w, walk, is_unused)))
            break;
        (void)visit_walk(w, walk, use);
    }
    return walks;
}

uint32_t hw_sip_walks(const struct hw_config *hw, uint32_t *order)
{
    const uint32_t n = hw->sip_count, stops = hw_stops(hw);
    struct walking w = {.hw = hw, .n = n, .outlets = hw_outlets(hw)};
    uint32_t walks = 0;
    if (n > HW_WALK_SIPS_MAX) {
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        return 1;
    }
    w.outlets = hw_switch_outlets(hw) > w.outlets ? hw_switch_outlets(hw) : w.outlets;
    w.cost = calloc((size_t)n * n, sizeof *w.cost);
    w.used = calloc((size_t)stops * w.outlets, sizeof *w.used);
    w.seen = calloc(n, sizeof *w.seen);
    w.joined = calloc(n, sizeof *w.joined);
    for (uint32_t sip = 0; w.joined != NULL && sip < n; sip++)
        w.joined[sip] = has_links(hw, sip);
    if (w.cost != NULL && w.used != NULL && w.seen != NULL && w.joined != NULL)
        walks = find_walks(&w, order);
    free(w.cost);
    free(w.used);
    free(w.seen);
    free(w.joined);
    return walks;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* SIPs in each group, if all have as many; 0: they have not. `count` [stops]. */
static uint32_t equal_size(const struct hw_config *hw, const uint32_t *group, uint32_t *count)
{
    uint32_t size = 0;
    memset(count, 0, hw_stops(hw) * sizeof *count);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        count[group[sip]]++;
    for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
        if (size > 0 && count[group[sip]] != size)
            return 0;
        size = count[group[sip]];
    }
    return size;
}

/* The SIPs as they follow each other, group after group, groups by their first SIPs, and within a
 * group in the order so far. `place` [stops]. */
static void order_by(const struct hw_config *hw, const uint32_t *group, uint32_t size,
                     uint32_t *order, uint32_t *place, uint32_t *moved)
{
    uint32_t groups = 0;
    memset(place, 0xff, hw_stops(hw) * sizeof *place);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        if (place[group[sip]] == UINT32_MAX)
            place[group[sip]] = size * groups++;
    for (uint32_t i = 0; i < hw->sip_count; i++)
        moved[place[group[order[i]]]++] = order[i];
    memcpy(order, moved, hw->sip_count * sizeof *order);
}

/* Each group of `inner` is in one of `outer`. */
static bool is_nested(const struct hw_config *hw, const uint32_t *inner, const uint32_t *outer,
                      uint32_t *of)
{
    memset(of, 0xff, hw_stops(hw) * sizeof *of);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
        if (of[inner[sip]] != UINT32_MAX && of[inner[sip]] != outer[sip])
            return false;
        of[inner[sip]] = outer[sip];
    }
    return true;
}

struct finding {
    const struct hw_config *hw;
    uint32_t *group, *best, *inner, *count; /* [stops] */
};

/* The smallest groups that hold those so far, of more than `least` SIPs and fewer than all, into
 * `best`. Returns their size; 0: there are none. */
static uint32_t next_groups(struct finding *f, uint32_t least)
{
    struct hw_left_out out[HW_LEFT_OUT_MAX];
    const uint32_t outs = hw_left_outs(f->hw, out);
    uint32_t best = 0;
    for (uint32_t i = 0; i < outs; i++) {
        hw_pieces(f->hw, &out[i], f->group);
        const uint32_t size = equal_size(f->hw, f->group, f->count);
        if (size <= least || size >= f->hw->sip_count || (best > 0 && size >= best) ||
            !is_nested(f->hw, f->inner, f->group, f->count))
            continue;
        memcpy(f->best, f->group, hw_stops(f->hw) * sizeof *f->best);
        best = size;
    }
    return best;
}

static void find_levels(struct finding *f, struct hw_sip_levels *levels, uint32_t *order)
{
    uint32_t before = 1;
    for (uint32_t stop = 0; stop < hw_stops(f->hw); stop++)
        f->inner[stop] = stop;
    for (uint32_t sip = 0; sip < f->hw->sip_count; sip++)
        order[sip] = sip;
    levels->count = 0;
    for (uint32_t size; levels->count + 1 < HW_SIP_DIMS_MAX && (size = next_groups(f, before)) > 0;
         before = size) {
        levels->size[levels->count++] = size / before;
        memcpy(f->inner, f->best, hw_stops(f->hw) * sizeof *f->inner);
        order_by(f->hw, f->inner, size, order, f->count, f->group);
    }
    levels->size[levels->count++] = f->hw->sip_count / before;
}

static bool begin_finding(struct finding *f)
{
    const size_t stops = hw_stops(f->hw);
    f->group = calloc(stops, sizeof *f->group);
    f->best = calloc(stops, sizeof *f->best);
    f->inner = calloc(stops, sizeof *f->inner);
    f->count = calloc(stops, sizeof *f->count);
    return f->group != NULL && f->best != NULL && f->inner != NULL && f->count != NULL;
}

static void end_finding(struct finding *f)
{
    free(f->group);
    free(f->best);
    free(f->inner);
    free(f->count);
}

bool hw_sip_levels_find(const struct hw_config *hw, struct hw_sip_levels *levels, uint32_t *order)
{
    struct finding f = {.hw = hw};
    const bool has_memory = begin_finding(&f);
    if (has_memory)
        find_levels(&f, levels, order);
    end_finding(&f);
    return has_memory;
}

bool hw_sip_levels_split(const struct hw_config *hw, const uint32_t *group, uint32_t groups,
                         struct hw_sip_levels *levels, uint32_t *order)
{
    struct finding f = {.hw = hw};
    bool fits = begin_finding(&f);
    const uint32_t size = fits ? equal_size(hw, group, f.count) : 0;
    fits = fits && size > 1 && size * groups == hw->sip_count;
    if (fits) {
        *levels = (struct hw_sip_levels){.count = 2, .size = {size, groups}};
        order_by(hw, group, size, order, f.count, f.group);
    }
    end_finding(&f);
    return fits;
}
