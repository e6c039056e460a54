/*
 * graph_routes.c: the routes of a graph (hw/HARDWARE.md, "Routes of graphs"). A route is a number
 * of equal ways by destination, in a row of each stop.
 *
 * Ways to all SIPs are found 64 SIPs at a time: a bit for each of them says whether a stop has been
 * reached from it, against the links. The 64 are near to each other, so that their searches visit
 * most stops together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/arithmetic.h"
#include "hw/topology/graph_parts.h"
#include "hw/topology/sip_dims.h"

enum { BITS = 64, LEVELS = 32 };

/* ---- operations ------------------------------------------------------------------------------ */

static inline const struct graph_ways *ways_of(const struct graph_routes *routes, uint32_t stop,
                                               uint32_t to_sip)
{
    const struct graph_row *const row = &routes->row[stop];
    return &row->ways[row->narrow != NULL ? row->narrow[to_sip]
                      : row->wide != NULL ? row->wide[to_sip]
                                          : row->only];
}

/* Of several ways a hash of the key and the stop chooses. */
static uint32_t chosen(const struct graph_routes *routes, const struct graph_ways *ways,
                       uint32_t stop, uint32_t key)
{
    const uint64_t hash = hw_mix((uint64_t)(key & ~(uint32_t)HW_ROUTE_KEY_PASSED) << 32 | stop);
    return routes->pool[ways->first + (uint32_t)((hash >> 32) * ways->count >> 32)];
}

static const struct graph_via *via_of(const struct graph_routes *routes, uint32_t key)
{
    const uint64_t hash =
        hw_mix(hw_mix(routes->seed) + (key & ~(uint32_t)HW_ROUTE_KEY_PASSED)) >> 32;
    return &routes->via[hash * routes->vias >> 32];
}

uint32_t graph_key_at(const struct hw_config *hw, uint32_t stop, uint32_t key)
{
    const struct graph_routes *const routes = &graph_of(hw)->routes;
    if (key & HW_ROUTE_KEY_PASSED)
        return key;
    if (routes->vias > 0) {
        const struct graph_via *const via = via_of(routes, key);
        if (stop != via->meet && stop != via->sip)
            return key;
    }
    return key | HW_ROUTE_KEY_PASSED;
}

uint32_t graph_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key)
{
    const struct graph_routes *const routes = &graph_of(hw)->routes;
    if (routes->vias > 0 && !(graph_key_at(hw, stop, key) & HW_ROUTE_KEY_PASSED))
        to_sip = via_of(routes, key)->sip;
    const struct graph_ways *const ways = ways_of(routes, stop, to_sip);
    return ways->count == 1  ? ways->first
           : ways->count > 1 ? chosen(routes, ways, stop, key)
                             : UINT32_MAX;
}

uint32_t graph_ways(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t *outlets)
{
    const struct graph_routes *const routes = &graph_of(hw)->routes;
    const struct graph_ways *const ways = ways_of(routes, stop, to_sip);
    for (uint32_t i = 0; i < ways->count; i++)
        outlets[i] = ways->count == 1 ? ways->first : routes->pool[ways->first + i];
    return ways->count;
}

bool graph_turns(const struct hw_config *hw, uint32_t stop)
{
    const struct graph_routes *const routes = &graph_of(hw)->routes;
    for (uint32_t i = 0; i < routes->vias; i++)
        if (routes->via[i].meet == stop)
            return true;
    return false;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Ways of several outlets that a stop has, found by their places among its links: one bit each for
 * the first 64. With others the sign is a hash, too. */
struct known {
    uint64_t sign;
    uint32_t stop, number; /* number 0: the place is free */
};

/* An outlet, and the stop that it leads to. */
struct lead {
    uint32_t outlet, to;
};

struct search {
    const struct graph_building *b;
    uint32_t *first, *from; /* ways into each stop: from which stops, [stops + 1] and [links] */
    uint32_t *sip, *place;  /* [sips] SIPs in groups of 64; and the place of each there */
    uint64_t *reached, *front, *next; /* [stops] of the 64 SIPs */
    uint32_t *active, *touched;       /* [stops] stops with bits in front; in next */
    struct lead *lead; /* those of each stop in the order of the list, from graph.first on */
    /* [most outlets of a stop] bits to which a link leads, and its place among the links; places of
     * equal ways, and their outlets */
    uint64_t *led;
    uint16_t *led_by, *several, *outlet;
    bool *reaches_all; /* [stops] every SIP */
    uint32_t *level;   /* [stops] links from the nearest SIP */
    struct known *known;
    size_t known_count, known_room; /* a power of two */
};

static uint64_t sign_with(uint64_t sign, uint32_t place)
{
    return place < BITS ? sign | UINT64_C(1) << place : hw_mix(sign + place);
}

/* The place of these ways in the table, or the free one where they belong. */
static struct known *find_known(const struct search *s, uint32_t stop, uint64_t sign,
                                const uint16_t *outlets, uint32_t count, bool is_exact)
{
    const struct graph_routes *const routes = &s->b->g->routes;
    size_t at = hw_mix(sign + stop * UINT64_C(0x9E3779B97F4A7C15)) & (s->known_room - 1);
    for (; s->known[at].number != 0; at = (at + 1) & (s->known_room - 1)) {
        if (s->known[at].stop != stop || s->known[at].sign != sign)
            continue;
        const struct graph_ways *const ways = &routes->row[stop].ways[s->known[at].number];
        if (is_exact || (ways->count == count &&
                         memcmp(&routes->pool[ways->first], outlets, count * sizeof *outlets) == 0))
            break;
    }
    return &s->known[at];
}

static bool grow_known(struct search *s)
{
    const struct search before = *s;
    s->known_room = before.known_room == 0 ? 1024 : 2 * before.known_room;
    s->known = calloc(s->known_room, sizeof *s->known);
    for (size_t i = 0; s->known != NULL && i < before.known_room; i++) {
        const struct known one = before.known[i];
        if (one.number != 0) /* all are different */
            *find_known(s, one.stop, one.sign, NULL, UINT32_MAX, false) = one;
    }
    free(before.known);
    return s->known != NULL;
}

/* Appends ways of several outlets to a stop's. 0: out of memory. */
static uint32_t add_ways(struct graph_routes *routes, uint32_t stop, const uint16_t *outlets,
                         uint32_t count)
{
    struct graph_row *const row = &routes->row[stop];
    if (routes->pooled + count > routes->pool_room) {
        const size_t room = 2 * routes->pool_room + count + 1024;
        uint16_t *const pool = realloc(routes->pool, room * sizeof *pool);
        if (pool == NULL)
            return 0;
        routes->pool = pool;
        routes->pool_room = room;
    }
    if (row->count == row->room) {
        const uint32_t room = row->room + row->room / 2 + 4;
        struct graph_ways *const ways = realloc(row->ways, room * sizeof *ways);
        if (ways == NULL)
            return 0;
        row->ways = ways;
        row->room = room;
    }
    memcpy(&routes->pool[routes->pooled], outlets, count * sizeof *outlets);
    row->ways[row->count] = (struct graph_ways){count, (uint32_t)routes->pooled};
    routes->pooled += count;
    return row->count++;
}

/* The number, among a stop's ways, of those at `count` places among its links. 0: out of memory. */
static uint32_t number_of_ways(struct search *s, uint32_t stop, const uint16_t *places,
                               uint32_t count)
{
    const struct lead *const lead = &s->lead[s->b->g->first[stop]];
    uint64_t sign = 0;
    if (count == 1)
        return 1 + lead[places[0]].outlet;
    if (4 * s->known_count >= 3 * s->known_room && !grow_known(s))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        sign = sign_with(sign, places[i]);
    for (uint32_t i = 0; i < count; i++)
        s->outlet[i] = (uint16_t)lead[places[i]].outlet;
    struct known *const known =
        find_known(s, stop, sign, s->outlet, count, places[count - 1] < BITS);
    if (known->number == 0) {
        *known = (struct known){sign, stop, add_ways(&s->b->g->routes, stop, s->outlet, count)};
        s->known_count++;
    }
    return known->number;
}

/* A row whose numbers have become too large for bytes. */
static bool widen(struct graph_row *row, uint32_t sips)
{
    row->wide = malloc(sips * sizeof *row->wide);
    if (row->wide == NULL)
        return false;
    for (uint32_t to = 0; to < sips; to++)
        row->wide[to] = row->narrow[to];
    free(row->narrow);
    row->narrow = NULL;
    return true;
}

/* Sets the ways of a stop to the SIPs sip[i] of all bits i. */
static bool set_ways(const struct graph *g, uint32_t stop, const uint32_t *sip, uint64_t bits,
                     uint32_t number)
{
    struct graph_row *const row = &g->routes.row[stop];
    if (row->narrow == NULL && row->wide == NULL) {
        row->only = number;
        return true;
    }
    if (number > UINT8_MAX && row->wide == NULL && !widen(row, g->sips))
        return false;
    for (; row->wide != NULL && bits != 0; bits &= bits - 1)
        row->wide[sip[__builtin_ctzll(bits)]] = (uint16_t)number;
    for (; bits != 0; bits &= bits - 1)
        row->narrow[sip[__builtin_ctzll(bits)]] = (uint8_t)number;
    return true;
}

static bool set_way(const struct graph *g, uint32_t stop, uint32_t to, uint32_t outlet)
{
    return set_ways(g, stop, &to, 1, 1 + outlet);
}

/* Whether a stop has the same ways to all SIPs: all its links lead to one stop. By digits they are
 * dealt out. */
static bool has_one_way(const struct graph *g, uint32_t stop, bool deals_out)
{
    uint32_t links = 0, next = UINT32_MAX;
    for (uint32_t o = 0; o < graph_outlets_at(g, stop); o++) {
        const struct hw_hop hop = graph_at(g, stop, o)->hop;
        if (hop.link == HW_LINK_KINDS)
            continue;
        if (links++ > 0 && (deals_out || hop.to != next))
            return false;
        next = hop.to;
    }
    return true;
}

static bool make_rows(const struct graph_building *b)
{
    struct graph *const g = b->g;
    const bool deals_out = b->given->policy == HW_ROUTES_DESTINATION_DIGITS;
    g->routes.row = calloc((size_t)g->sips + g->switches, sizeof *g->routes.row);
    for (uint32_t stop = 0; g->routes.row != NULL && stop < g->sips + g->switches; stop++) {
        struct graph_row *const row = &g->routes.row[stop];
        const uint32_t outlets = graph_outlets_at(g, stop);
        const bool has_row = !has_one_way(g, stop, deals_out);
        row->count = row->room = 1 + outlets;
        row->ways = calloc(row->room, sizeof *row->ways);
        row->narrow = has_row ? calloc(g->sips, sizeof *row->narrow) : NULL;
        if (row->ways == NULL || (has_row && row->narrow == NULL))
            return false;
        for (uint32_t o = 0; o < outlets; o++)
            row->ways[1 + o] = (struct graph_ways){1, o};
    }
    return g->routes.row != NULL;
}

/* ---- searches -------------------------------------------------------------------------------- */

static bool list_ways_in(struct search *s)
{
    const struct graph *const g = s->b->g;
    const uint32_t stops = g->sips + g->switches;
    s->first = calloc((size_t)stops + 2, sizeof *s->first);
    s->from = malloc(((size_t)g->first[stops] + 1) * sizeof *s->from);
    if (s->first == NULL || s->from == NULL)
        return false;
    for (uint32_t i = 0; i < g->first[stops]; i++)
        if (g->outlet[i].hop.link < HW_LINK_KINDS)
            s->first[g->outlet[i].hop.to + 2]++;
    for (uint32_t stop = 0; stop < stops; stop++)
        s->first[stop + 2] += s->first[stop + 1];
    for (uint32_t stop = 0; stop < stops; stop++)
        for (uint32_t o = 0; o < graph_outlets_at(g, stop); o++) {
            const struct hw_hop hop = graph_at(g, stop, o)->hop;
            if (hop.link < HW_LINK_KINDS)
                s->from[s->first[hop.to + 1]++] = stop;
        }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The outlets of each stop that have links, in the order of the list; UINT32_MAX ends them. */
static bool order_outlets(struct search *s)
{
    const struct graph *const g = s->b->g;
    const uint32_t stops = g->sips + g->switches;
    s->lead = malloc(((size_t)g->first[stops] + 1) * sizeof *s->lead);
    for (uint32_t stop = 0; s->lead != NULL && stop < stops; stop++) {
        struct lead *const lead = &s->lead[g->first[stop]];
        uint64_t *const listed = s->led;
        uint32_t links = 0;
        for (uint32_t o = 0; o < graph_outlets_at(g, stop); o++)
            if (graph_at(g, stop, o)->hop.link < HW_LINK_KINDS)
                listed[links++] = (uint64_t)graph_at(g, stop, o)->listed << 32 | o;
        qsort(listed, links, sizeof *listed, by_number);
        for (uint32_t i = 0; i < links; i++)
            lead[i] =
                (struct lead){(uint32_t)listed[i], graph_at(g, stop, (uint32_t)listed[i])->hop.to};
        if (links < graph_outlets_at(g, stop))
            lead[links].outlet = UINT32_MAX;
    }
    return s->lead != NULL;
}

static bool is_end(const struct search *s, uint32_t stop)
{
    return stop < s->b->g->sips && s->b->given->ends != NULL && s->b->given->ends[stop];
}

/* SIPs near to `sip` that are in no group yet, until `most` are in groups: a search that looks at
 * a few stops. Returns how many are in groups then. */
static uint32_t gather(struct search *s, uint32_t sip, uint32_t grouped, uint32_t most)
{
    enum { LOOKED_AT = 2048 };
    const struct graph *const g = s->b->g;
    uint32_t next = 0, last = 0;
    s->active[last++] = sip;
    s->next[sip] = 1;
    for (; next < last && grouped < most; next++) {
        const uint32_t stop = s->active[next];
        if (stop < g->sips && s->place[stop] == UINT32_MAX) {
            s->place[stop] = grouped;
            s->sip[grouped++] = stop;
        }
        for (uint32_t k = s->first[stop]; k < s->first[stop + 1] && last < LOOKED_AT; k++)
            if (s->next[s->from[k]] == 0) {
                s->next[s->from[k]] = 1;
                s->active[last++] = s->from[k];
            }
    }
    for (uint32_t i = 0; i < last; i++)
        s->next[s->active[i]] = 0;
    return grouped;
}

static void group_sips(struct search *s)
{
    const uint32_t sips = s->b->g->sips;
    uint32_t first = 0;
    memset(s->place, 0xff, sips * sizeof *s->place);
    for (uint32_t grouped = 0; grouped < sips;) {
        const uint32_t room = grouped - grouped % BITS + BITS;
        while (s->place[first] != UINT32_MAX)
            first++;
        grouped = gather(s, first, grouped, room < sips ? room : sips);
    }
}

/* The bits of `front` that may go through a stop: of an end, only its own. */
static uint64_t passing(const struct search *s, uint32_t stop, uint32_t base)
{
    if (!is_end(s, stop))
        return s->front[stop];
    const uint32_t i = s->place[stop] - base; /* wraps round where it is before the group */
    return i < BITS ? s->front[stop] & UINT64_C(1) << i : 0;
}

/* A stop has been reached from the SIPs of `bits`: chooses its ways to them. */
static bool note_ways(struct search *s, uint32_t stop, uint32_t base, uint64_t bits)
{
    const uint32_t *const sip = &s->sip[base];
    const struct graph *const g = s->b->g;
    const uint32_t outlets = graph_outlets_at(g, stop);
    const struct lead *const lead = &s->lead[g->first[stop]];
    const bool first_alone =
        s->b->given->policy == HW_ROUTES_LISTED || s->b->given->policy == HW_ROUTES_DIMENSION_ORDER;
    uint32_t count = 0;
    uint64_t left = bits;
    for (uint32_t i = 0; i < outlets && lead[i].outlet != UINT32_MAX; i++) {
        const uint64_t led = s->front[lead[i].to] & left;
        if (led == 0)
            continue;
        if (first_alone) {
            if (!set_ways(g, stop, sip, led, 1 + lead[i].outlet))
                return false;
            left &= ~led;
            continue;
        }
        s->led[count] = led;
        s->led_by[count++] = (uint16_t)i;
    }
    while (!first_alone && left != 0) {
        const uint64_t bit = left & -left;
        uint64_t alike = left;
        uint32_t several = 0;
        for (uint32_t i = 0; i < count; i++)
            if (s->led[i] & bit) {
                alike &= s->led[i];
                s->several[several++] = s->led_by[i];
            } else {
                alike &= ~s->led[i];
            }
        const uint32_t number = number_of_ways(s, stop, s->several, several);
        if (number == 0 || !set_ways(g, stop, sip, alike, number))
            return false;
        left &= ~alike;
    }
    return true;
}

/* The stops that lead to those of `front` in one step. Returns their number. */
static uint32_t touch(struct search *s, uint32_t active)
{
    uint32_t touched = 0;
    for (uint32_t i = 0; i < active; i++) {
        const uint32_t stop = s->active[i];
        const uint64_t front = s->front[stop];
        for (uint32_t k = s->first[stop]; front != 0 && k < s->first[stop + 1]; k++) {
            const uint32_t from = s->from[k];
            const uint64_t bits = front & ~s->reached[from];
            if (bits != 0 && s->next[from] == 0)
                s->touched[touched++] = from;
            s->next[from] |= bits;
        }
    }
    return touched;
}

/* A stop as the list names it. */
static const char *graph_stop_name(const struct graph_building *b, uint32_t stop,
                                   char text[GRAPH_STOP_NAME_BYTES])
{
    if (b->given->stop_name != NULL)
        return b->given->stop_name(b->given->names, stop, text, GRAPH_STOP_NAME_BYTES);
    const bool is_sip = stop < b->g->sips;
    snprintf(text, GRAPH_STOP_NAME_BYTES, "%s %" PRIu32, is_sip ? "SIP" : "switch",
             is_sip ? stop : stop - b->g->sips);
    return text;
}

/* Finds the ways of all stops to the group of SIPs from place `base` on. */
static bool route_to_some(struct search *s, uint32_t base)
{
    const struct graph *const g = s->b->g;
    const uint32_t stops = g->sips + g->switches;
    const uint32_t some = g->sips - base < BITS ? g->sips - base : BITS;
    uint32_t active = some;
    memset(s->reached, 0, stops * sizeof *s->reached);
    for (uint32_t i = 0; i < some; i++) {
        const uint32_t sip = s->sip[base + i];
        s->active[i] = sip;
        s->reached[sip] = s->front[sip] = UINT64_C(1) << i;
    }
    while (active > 0) {
        const uint32_t touched = touch(s, active);
        for (uint32_t i = 0; i < touched; i++) {
            const uint32_t stop = s->touched[i];
            if (!note_ways(s, stop, base, s->next[stop]))
                return false;
        }
        for (uint32_t i = 0; i < active; i++)
            s->front[s->active[i]] = 0;
        for (uint32_t i = 0; i < touched; i++) {
            const uint32_t stop = s->touched[i];
            s->reached[stop] |= s->next[stop];
            s->front[stop] = s->next[stop];
            s->front[stop] = passing(s, stop, base);
            s->next[stop] = 0;
            s->active[i] = stop;
        }
        active = touched;
    }
    const uint64_t all = some < BITS ? (UINT64_C(1) << some) - 1 : UINT64_MAX;
    for (uint32_t stop = 0; stop < stops; stop++) {
        s->reaches_all[stop] = s->reaches_all[stop] && s->reached[stop] == all;
        if (stop >= g->sips || s->reached[stop] == all)
            continue;
        char from[GRAPH_STOP_NAME_BYTES], to[GRAPH_STOP_NAME_BYTES];
        snprintf(s->b->why, HW_GRAPH_WHY_BYTES, "no way leads from %s to %s",
                 graph_stop_name(s->b, stop, from),
                 graph_stop_name(
                     s->b, s->sip[base + (uint32_t)__builtin_ctzll(all & ~s->reached[stop])], to));
        return false;
    }
    return true;
}

/* ---- routes by digits ------------------------------------------------------------------------ */

/* Links from the nearest SIP to each stop, along the links against which a search goes. */
static void find_levels(struct search *s)
{
    const struct graph *const g = s->b->g;
    uint32_t next = 0, last = 0;
    memset(s->level, 0xff, (g->sips + g->switches) * sizeof *s->level);
    for (uint32_t sip = 0; sip < g->sips; sip++) {
        s->level[sip] = 0;
        s->active[last++] = sip;
    }
    while (next < last) {
        const uint32_t stop = s->active[next++];
        for (uint32_t k = s->first[stop]; k < s->first[stop + 1]; k++)
            if (s->level[s->from[k]] == UINT32_MAX) {
                s->level[s->from[k]] = s->level[stop] + 1;
                s->active[last++] = s->from[k];
            }
    }
}

static uint32_t level_of(const struct search *s, uint32_t stop)
{
    return s->level[stop] < LEVELS ? s->level[stop] : LEVELS - 1;
}

/* By level: the equal ways of all lower levels, multiplied. */
static void multiply_ways(const struct search *s, uint32_t below[LEVELS])
{
    const struct graph *const g = s->b->g;
    uint32_t most[LEVELS] = {0};
    for (uint32_t stop = 0; stop < g->sips + g->switches; stop++) {
        const struct graph_row *const row = &g->routes.row[stop];
        uint32_t *const own = &most[level_of(s, stop)];
        for (uint32_t i = 1; i < row->count; i++)
            *own = row->ways[i].count > *own ? row->ways[i].count : *own;
    }
    below[0] = 1;
    for (uint32_t level = 0; level + 1 < LEVELS; level++) {
        const uint64_t more = (uint64_t)below[level] * (most[level] > 0 ? most[level] : 1);
        below[level + 1] = more < g->sips ? (uint32_t)more : g->sips;
    }
}

/* As in a fat tree: the ways up are dealt out by the destination's digits, level by level. */
static bool deal_out(struct search *s)
{
    const struct graph *const g = s->b->g;
    uint32_t below[LEVELS];
    find_levels(s);
    multiply_ways(s, below);
    for (uint32_t stop = 0; stop < g->sips + g->switches; stop++) {
        const struct graph_row *const row = &g->routes.row[stop];
        const struct hw_divisor digit = hw_divisor_of(below[level_of(s, stop)]);
        if (row->count == 1 + graph_outlets_at(g, stop)) /* none of several */
            continue;
        for (uint32_t to = 0; to < g->sips; to++) {
            const struct graph_ways *const ways = ways_of(&g->routes, stop, to);
            const uint32_t way = hw_divide(to, &digit) % (ways->count > 0 ? ways->count : 1);
            if (ways->count > 1 && !set_way(g, stop, to, g->routes.pool[ways->first + way]))
                return false;
        }
    }
    return true;
}

/* ---- routes by dimensions -------------------------------------------------------------------- */

/* All SIPs at `place` of dimension k that agree with a SIP in the dimensions before it: the SIP's
 * way there is along the dimension. */
static bool route_along(const struct graph *g, uint32_t sip, const struct hw_sip_dim *dim,
                        uint32_t place, uint32_t outlet)
{
    for (uint32_t to = hw_sip_moved(dim, sip % (dim->stride * dim->size), place); to < g->sips;
         to += dim->stride * dim->size)
        if (!set_way(g, sip, to, outlet))
            return false;
    return true;
}

/* Whether a switch is the one of a line of a dimension. */
static bool is_of_dim(const struct graph_building *b, const struct hw_sip_dim *dim, uint32_t stop)
{
    return dim->joint == HW_SIP_SWITCH && graph_outlets_at(b->g, stop) == dim->size &&
           graph_switch_of(b, dim, graph_at(b->g, stop, 0)->hop.to) == stop;
}

static bool all_are_of_dims(const struct graph_building *b)
{
    const struct graph *const g = b->g;
    for (uint32_t stop = g->sips; stop < g->sips + g->switches; stop++) {
        bool found = false;
        for (uint32_t k = 0; k < g->dims.count && !found; k++)
            found = is_of_dim(b, &g->dims.at[k], stop);
        if (!found)
            return false;
    }
    return true;
}

/* No link leads backward. */
static bool reject_one_way(const struct graph_building *b, uint32_t k, uint32_t sip)
{
    const struct hw_sip_dim *const dim = &b->g->dims.at[k];
    const uint32_t before = (hw_sip_coordinate(dim, sip) + dim->size - 1) % dim->size;
    char from[GRAPH_STOP_NAME_BYTES], to[GRAPH_STOP_NAME_BYTES];
    snprintf(b->why, HW_GRAPH_WHY_BYTES,
             "routes: dimension_order goes both ways, and dimension %" PRIu32
             " has no link from %s to %s; legal: such a link, or other routes",
             k + 1, graph_stop_name(b, sip, from),
             graph_stop_name(b, hw_sip_moved(dim, sip, before), to));
    return false;
}

/* Inner dimensions first, as in sip_dims.c. */
static bool route_by_dims(const struct graph_building *b)
{
    const struct graph *const g = b->g;
    for (uint32_t sip = 0; sip < g->sips; sip++)
        for (uint32_t k = 0; k < g->dims.count; k++) {
            const struct hw_sip_dim *const dim = &g->dims.at[k];
            const uint32_t own = hw_sip_coordinate(dim, sip);
            uint32_t outlet = UINT32_MAX; /* to a switch there is one */
            for (uint32_t place = 0; place < dim->size; place++) {
                if (place == own)
                    continue;
                if (outlet == UINT32_MAX || dim->joint != HW_SIP_SWITCH)
                    outlet = graph_outlet_along(b, dim, sip, place);
                if (outlet == HW_OUTLETS_MAX)
                    return reject_one_way(b, k, sip);
                if (!route_along(g, sip, dim, place, outlet))
                    return false;
            }
        }
    for (uint32_t stop = g->sips; stop < g->sips + g->switches; stop++)
        for (uint32_t k = 0; k < g->dims.count; k++) {
            const struct hw_sip_dim *const dim = &g->dims.at[k];
            for (uint32_t to = 0; is_of_dim(b, dim, stop) && to < g->sips; to++)
                if (!set_way(g, stop, to, hw_sip_coordinate(dim, to)))
                    return false;
        }
    return true;
}

/* ---- routes by way of others ----------------------------------------------------------------- */

/* The only stop from which links lead to a SIP; UINT32_MAX: there are several. */
static uint32_t only_before(const struct search *s, uint32_t sip)
{
    for (uint32_t k = s->first[sip] + 1; k < s->first[sip + 1]; k++)
        if (s->from[k] != s->from[k - 1])
            return UINT32_MAX;
    return s->from[s->first[sip]];
}

/* Any SIP that a route may pass, or whose only neighbour it may pass, and from where all SIPs are
 * reached. */
static bool find_vias(const struct search *s)
{
    struct graph *const g = s->b->g;
    g->routes.via = malloc(g->sips * sizeof *g->routes.via);
    for (uint32_t sip = 0; g->routes.via != NULL && g->sips > 1 && sip < g->sips; sip++) {
        const uint32_t before = only_before(s, sip), meet = before == UINT32_MAX ? sip : before;
        if (!is_end(s, meet) && s->reaches_all[meet])
            g->routes.via[g->routes.vias++] = (struct graph_via){sip, meet};
    }
    return g->routes.via != NULL;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool make_search(struct search *s)
{
    const struct graph *const g = s->b->g;
    const size_t stops = (size_t)g->sips + g->switches;
    const size_t outlets = g->outlets > g->switch_outlets ? g->outlets : g->switch_outlets;
    s->sip = malloc((g->sips + (size_t)BITS) * sizeof *s->sip);
    s->place = malloc(g->sips * sizeof *s->place);
    s->reached = calloc(stops, sizeof *s->reached);
    s->front = calloc(stops, sizeof *s->front);
    s->next = calloc(stops, sizeof *s->next);
    s->active = malloc(stops * sizeof *s->active);
    s->touched = malloc(stops * sizeof *s->touched);
    s->level = malloc(stops * sizeof *s->level);
    s->reaches_all = malloc(stops * sizeof *s->reaches_all);
    s->led = malloc((outlets + 1) * sizeof *s->led);
    s->outlet = malloc((outlets + 1) * sizeof *s->outlet);
    s->led_by = malloc((outlets + 1) * sizeof *s->led_by);
    s->several = malloc((outlets + 1) * sizeof *s->several);
    if (s->sip == NULL || s->place == NULL || s->reached == NULL || s->front == NULL ||
        s->next == NULL || s->active == NULL || s->touched == NULL || s->level == NULL ||
        s->reaches_all == NULL || s->led == NULL || s->led_by == NULL || s->outlet == NULL ||
        s->several == NULL)
        return false;
    memset(s->reaches_all, 1, stops * sizeof *s->reaches_all);
    if (!list_ways_in(s) || !order_outlets(s) || !grow_known(s))
        return false;
    group_sips(s);
    return true;
}

static void free_search(struct search *s)
{
    free(s->first);
    free(s->from);
    free(s->sip);
    free(s->place);
    free(s->reached);
    free(s->front);
    free(s->next);
    free(s->active);
    free(s->touched);
    free(s->lead);
    free(s->led);
    free(s->outlet);
    free(s->led_by);
    free(s->several);
    free(s->reaches_all);
    free(s->level);
    free(s->known);
}

static bool search_routes(struct search *s)
{
    const enum hw_route_policy policy = s->b->given->policy;
    if (!make_search(s))
        return false;
    for (uint32_t base = 0; base < s->b->g->sips; base += BITS)
        if (!route_to_some(s, base))
            return false;
    return policy == HW_ROUTES_DESTINATION_DIGITS ? deal_out(s)
           : policy == HW_ROUTES_VALIANT          ? find_vias(s)
                                                  : true;
}

bool graph_find_routes(const struct graph_building *b)
{
    struct search s = {.b = b};
    b->g->routes.seed = b->given->seed;
    if (!make_rows(b))
        return false;
    const bool by_dims = b->given->policy == HW_ROUTES_DIMENSION_ORDER;
    if (by_dims && b->g->dims.count == 0 && b->g->sips > 1) {
        snprintf(b->why, HW_GRAPH_WHY_BYTES,
                 "routes: dimension_order needs dimensions, and there are none; legal: dimensions, "
                 "sizes whose product is %" PRIu32 ", or other routes",
                 b->g->sips);
        return false;
    }
    if (by_dims && all_are_of_dims(b))
        return route_by_dims(b);
    const bool found = search_routes(&s);
    free_search(&s);
    return found && (!by_dims || route_by_dims(b));
}

void graph_free_routes(struct graph *g)
{
    for (uint32_t stop = 0; g->routes.row != NULL && stop < g->sips + g->switches; stop++) {
        free(g->routes.row[stop].narrow);
        free(g->routes.row[stop].wide);
        free(g->routes.row[stop].ways);
    }
    free(g->routes.row);
    free(g->routes.pool);
    free(g->routes.via);
}
