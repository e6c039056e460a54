/*
 * broken.c: routes around failed links (broken.h).
 *
 * For each destination, a stop whose whole walk by the machine's own routes meets nothing that has
 * failed keeps its outlet there. Every other stop takes the outlet of a shortest way that is left,
 * the first of several, where the way of a stop that keeps its own is as long as that one's walk.
 * Where routes depend on a key, that is decided for each transfer: it looks ahead on its own route.
 * No route has a loop: the stops on a walk without a failure keep their outlets, too, so such a
 * walk arrives; and from a stop that has lost its way each outlet leads either to one that arrives,
 * or to one with a shorter way left.
 */
#include "hw/topology/broken.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT32_MAX

struct broken {
    struct hw_topology_ops ops; /* first: a machine points to it */
    struct hw_config whole;     /* the machine with nothing failed */
    uint32_t stops;
    uint32_t *first; /* [stops + 1] of a stop's outlets in lost[] */
    bool *lost;      /* the outlet's link has failed */
    bool *stop_lost; /* [stops] */
    uint16_t *
        *exits; /* [stops] outlets by destination, of stops that have lost some way; else NULL */
};

static const struct broken *broken_of(const struct hw_config *hw)
{
    return (const struct broken *)(const void *)hw->sip_topology;
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool broken_neighbour(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                             uint32_t *to)
{
    const struct broken *const b = broken_of(hw);
    return b->whole.sip_topology->neighbour(&b->whole, sip, port, to);
}

static uint32_t broken_switches(const struct hw_config *hw)
{
    return hw_switches(&broken_of(hw)->whole);
}

static uint32_t broken_outlets(const struct hw_config *hw)
{
    return hw_outlets(&broken_of(hw)->whole);
}

static uint32_t broken_switch_outlets(const struct hw_config *hw)
{
    return hw_switch_outlets(&broken_of(hw)->whole);
}

static enum hw_node_kind broken_switch_kind(const struct hw_config *hw, uint32_t number)
{
    const struct broken *const b = broken_of(hw);
    return b->whole.sip_topology->switch_kind(&b->whole, number);
}

static enum hw_port broken_side(const struct hw_config *hw, uint32_t outlet)
{
    return hw_side(&broken_of(hw)->whole, outlet);
}

static void broken_outlet_name(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                               char name[HW_OUTLET_NAME_BYTES])
{
    hw_outlet_name(&broken_of(hw)->whole, sip, outlet, name);
}

static bool is_lost(const struct broken *b, uint32_t stop, uint32_t outlet)
{
    return b->lost[b->first[stop] + outlet];
}

static struct hw_hop broken_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet)
{
    const struct broken *const b = broken_of(hw);
    struct hw_hop hop = hw_hop(&b->whole, stop, outlet);
    if (hop.link < HW_LINK_KINDS && is_lost(b, stop, outlet))
        hop.link = HW_LINK_KINDS;
    else if (hop.link < HW_LINK_KINDS && hop.back != HW_ONE_WAY && is_lost(b, hop.to, hop.back))
        hop.back = HW_ONE_WAY;
    return hop;
}

static uint32_t own_key(const struct broken *b, uint32_t stop, uint32_t key)
{
    const struct hw_topology_ops *const own = b->whole.sip_topology;
    return own->key_at == NULL ? key : own->key_at(&b->whole, stop, key);
}

static uint32_t own_exit(const struct broken *b, uint32_t stop, uint32_t to_sip, uint32_t key)
{
    return b->whole.sip_topology->exit(&b->whole, stop, to_sip, key);
}

/* Whether the machine's own way by this outlet arrives. */
static bool is_way_left(const struct broken *b, uint32_t stop, uint32_t outlet, uint32_t to_sip,
                        uint32_t key)
{
    for (uint32_t hops = 0; hops <= 2 * b->stops; hops++) {
        const struct hw_hop hop = hw_hop(&b->whole, stop, outlet);
        if (hop.link == HW_LINK_KINDS || is_lost(b, stop, outlet))
            return false;
        key = own_key(b, stop, key);
        stop = hop.to;
        if (stop == to_sip)
            return true;
        outlet = own_exit(b, stop, to_sip, own_key(b, stop, key));
    }
    return false;
}

/* Where routes depend on their key, a transfer looks ahead at each stop. */
static uint32_t broken_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip,
                            uint32_t key)
{
    const struct broken *const b = broken_of(hw);
    if (b->exits[stop] == NULL)
        return own_exit(b, stop, to_sip, key);
    if (b->ops.hashes) {
        const uint32_t outlet = own_exit(b, stop, to_sip, key);
        if (is_way_left(b, stop, outlet, to_sip, key))
            return outlet;
    }
    return b->exits[stop][to_sip];
}

static uint32_t broken_ways(const struct hw_config *hw, uint32_t stop, uint32_t to_sip,
                            uint32_t *outlets)
{
    const struct broken *const b = broken_of(hw);
    const uint32_t detour = b->exits[stop] != NULL ? b->exits[stop][to_sip] : UINT32_MAX;
    uint32_t count = 0;
    if (b->exits[stop] == NULL || b->ops.hashes)
        count = b->whole.sip_topology->ways(&b->whole, stop, to_sip, outlets);
    for (uint32_t i = 0; i < count; i++)
        if (detour == UINT32_MAX || outlets[i] == detour)
            return count;
    if (detour != UINT32_MAX)
        outlets[count++] = detour;
    return count;
}

static bool broken_turns(const struct hw_config *hw, uint32_t stop)
{
    const struct broken *const b = broken_of(hw);
    return b->whole.sip_topology->turns(&b->whole, stop);
}

static uint32_t broken_key_at(const struct hw_config *hw, uint32_t stop, uint32_t key)
{
    return own_key(broken_of(hw), stop, key);
}

static bool broken_ends(const struct hw_config *hw, uint32_t sip)
{
    const struct broken *const b = broken_of(hw);
    return b->whole.sip_topology->ends(&b->whole, sip);
}

/* As routed, where the direction's own way has failed. */
static uint32_t broken_global_exit(const struct hw_config *hw, uint32_t sip, enum hw_port port)
{
    const struct broken *const b = broken_of(hw);
    const uint32_t outlet = b->whole.sip_topology->global_exit(&b->whole, sip, port);
    uint32_t to;
    return outlet != HW_OUTLET_NONE && broken_neighbour(hw, sip, port, &to)
               ? hw_exit_left(hw, sip, outlet, to)
               : HW_OUTLET_NONE;
}

static struct hw_sip_dims broken_dims(const struct hw_config *hw)
{
    return hw_sip_dims_of(&broken_of(hw)->whole);
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *hw_stop_name(const struct hw_config *hw, uint32_t stop, char name[HW_PART_NAME_BYTES])
{
    char text[HW_SWITCH_TEXT_BYTES];
    if (hw_is_switch(hw, stop))
        snprintf(name, HW_PART_NAME_BYTES, "%.40s", hw_switch_text(hw, stop - hw->sip_count, text));
    else
        snprintf(name, HW_PART_NAME_BYTES, "sip %" PRIu32, stop);
    return name;
}

const char *hw_outer_link_name(const struct hw_config *hw, uint32_t stop, uint32_t outlet,
                               char name[HW_PART_NAME_BYTES])
{
    char end[HW_PART_NAME_BYTES], other[HW_PART_NAME_BYTES], own[HW_OUTLET_NAME_BYTES];
    hw_stop_name(hw, stop, end);
    if (hw_is_switch(hw, stop)) {
        hw_stop_name(hw, hw_hop(hw_whole(hw), stop, outlet).to, other);
        snprintf(name, HW_PART_NAME_BYTES, "%.28s to %.28s", end, other);
    } else {
        hw_outlet_name(hw, stop, outlet, own);
        snprintf(name, HW_PART_NAME_BYTES, "%.30s %.16s", end, own);
    }
    return name;
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool is_broken(const struct hw_config *hw) { return hw->sip_topology->hop == broken_hop; }

const struct hw_config *hw_whole(const struct hw_config *hw)
{
    return is_broken(hw) ? &broken_of(hw)->whole : hw;
}

bool hw_has_failed(const struct hw_config *hw, uint32_t stop)
{
    return is_broken(hw) && broken_of(hw)->stop_lost[stop];
}

uint32_t hw_exit_left(const struct hw_config *hw, uint32_t sip, uint32_t outlet, uint32_t to_sip)
{
    return !is_broken(hw) || is_way_left(broken_of(hw), sip, outlet, to_sip, 0) ? outlet
                                                                                : HW_OUTLET_NONE;
}

uint32_t hw_living_sips(const struct hw_config *hw)
{
    uint32_t living = 0;
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        living += !hw_has_failed(hw, sip);
    return living;
}

/* ---- making one ------------------------------------------------------------------------------ */

static uint32_t outlets_at(const struct broken *b, uint32_t stop)
{
    return b->first[stop + 1] - b->first[stop];
}

static void lose_links(struct broken *b, const struct hw_failures *failures)
{
    for (uint32_t i = 0; i < failures->link_count; i++)
        b->lost[b->first[failures->links[i].stop] + failures->links[i].outlet] = true;
    for (uint32_t i = 0; i < failures->stop_count; i++)
        b->stop_lost[failures->stops[i]] = true;
    for (uint32_t stop = 0; stop < b->stops; stop++)
        for (uint32_t o = 0; o < outlets_at(b, stop); o++) {
            const struct hw_hop hop = hw_hop(&b->whole, stop, o);
            if (hop.link < HW_LINK_KINDS && (b->stop_lost[stop] || b->stop_lost[hop.to]))
                b->lost[b->first[stop] + o] = true;
        }
}

/* Ways into each stop by links that are left. */
struct way {
    uint32_t from, outlet;
};
struct search {
    struct broken *b;
    uint32_t *first; /* [stops + 1] in way[] */
    struct way *way;
    uint32_t *length; /* [stops] hops of the way to the destination; NEVER: it has lost its way */
    uint32_t *exit;   /* [stops] */
    uint32_t *trail;  /* [stops] */
    /* Stops by the length of their ways: a list for each length. */
    uint32_t *head, *next; /* [stops + 1], [stops] */
};

static bool is_left(const struct broken *b, uint32_t stop, uint32_t outlet, struct hw_hop *hop)
{
    *hop = hw_hop(&b->whole, stop, outlet);
    return hop->link < HW_LINK_KINDS && !is_lost(b, stop, outlet);
}

static bool list_ways(struct search *s)
{
    const struct broken *const b = s->b;
    struct hw_hop hop;
    for (uint32_t stop = 0; stop < b->stops; stop++)
        for (uint32_t o = 0; o < outlets_at(b, stop); o++)
            if (is_left(b, stop, o, &hop))
                s->first[hop.to + 2]++;
    for (uint32_t stop = 0; stop < b->stops; stop++)
        s->first[stop + 2] += s->first[stop + 1];
    s->way = calloc((size_t)s->first[b->stops + 1] + 1, sizeof *s->way);
    for (uint32_t stop = 0; s->way != NULL && stop < b->stops; stop++)
        for (uint32_t o = 0; o < outlets_at(b, stop); o++)
            if (is_left(b, stop, o, &hop))
                s->way[s->first[hop.to + 1]++] = (struct way){stop, o};
    return s->way != NULL;
}

enum { UNSEEN = NEVER - 1 };

/* The stops that keep their way to a SIP: its length; the others: NEVER. False: all do. */
static bool find_lost(const struct search *s, uint32_t to)
{
    const struct broken *const b = s->b;
    bool any = b->ops.hashes;
    for (uint32_t stop = 0; stop < b->stops; stop++) /* by its key a transfer may lose any way */
        s->length[stop] = b->ops.hashes && !b->stop_lost[stop] ? NEVER : UNSEEN;
    s->length[to] = 0;
    for (uint32_t begin = 0; begin < b->stops; begin++) {
        uint32_t stop = begin, steps = 0;
        if (b->stop_lost[begin] || outlets_at(b, begin) == 0 || b->ops.hashes)
            continue;
        while (s->length[stop] == UNSEEN) {
            struct hw_hop hop;
            s->trail[steps++] = stop;
            s->length[stop] = NEVER; /* until its way is known */
            s->exit[stop] = own_exit(b, stop, to, 0);
            if (!is_left(b, stop, s->exit[stop], &hop))
                break;
            stop = hop.to;
        }
        const bool arrives = s->length[stop] != NEVER;
        any |= !arrives;
        for (uint32_t length = arrives ? s->length[stop] : 0; steps > 0;)
            s->length[s->trail[--steps]] = arrives ? ++length : NEVER;
    }
    return any;
}

static void put(const struct search *s, uint32_t stop)
{
    const uint32_t length = s->length[stop];
    s->next[stop] = s->head[length];
    s->head[length] = stop;
}

static bool may_pass(const struct broken *b, uint32_t stop, uint32_t to)
{
    return stop == to || stop >= b->whole.sip_count || b->ops.ends == NULL ||
           !b->whole.sip_topology->ends(&b->whole, stop);
}

/* The shortest ways left of the stops that have lost theirs, from those that have one on. */
static void find_ways(const struct search *s, uint32_t to)
{
    const struct broken *const b = s->b;
    for (uint32_t length = 0; length <= b->stops; length++)
        s->head[length] = NEVER;
    for (uint32_t stop = b->stops; stop-- > 0;)
        if (s->length[stop] < UNSEEN)
            put(s, stop);
    for (uint32_t length = 0; length + 1 < b->stops; length++)
        for (uint32_t stop = s->head[length]; stop != NEVER; stop = s->next[stop])
            for (uint32_t i = s->first[stop]; may_pass(b, stop, to) && i < s->first[stop + 1];
                 i++) {
                const struct way way = s->way[i];
                if (s->length[way.from] == NEVER && !b->stop_lost[way.from]) {
                    s->length[way.from] = length + 1;
                    s->exit[way.from] = NEVER;
                    put(s, way.from);
                }
                /* the first outlet of several that are as short */
                if (s->exit[way.from] > way.outlet && s->length[way.from] == length + 1 &&
                    s->trail[way.from] == NEVER)
                    s->exit[way.from] = way.outlet;
            }
}

/* The row of a stop's outlets, with the machine's own to begin with. */
static bool need_row(const struct broken *b, uint32_t stop)
{
    if (b->exits[stop] != NULL)
        return true;
    uint16_t *const row = calloc(b->whole.sip_count, sizeof *row);
    for (uint32_t to = 0; row != NULL && to < b->whole.sip_count; to++)
        if (to != stop)
            row[to] = (uint16_t)own_exit(b, stop, to, 0);
    b->exits[stop] = row;
    return row != NULL;
}

/* "sip 3, sip 4 and 5 more" */
static void name_some(const struct broken *b, const struct search *s, bool reached, char *text,
                      size_t bytes)
{
    enum { NAMED = 3 };
    uint32_t count = 0;
    size_t used = 0;
    for (uint32_t sip = 0; sip < b->whole.sip_count; sip++) {
        char name[HW_PART_NAME_BYTES];
        if (b->stop_lost[sip] || (s->length[sip] < UNSEEN) != reached || ++count > NAMED)
            continue;
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", count > 1 ? ", " : "",
                                 hw_stop_name(&b->whole, sip, name));
    }
    if (count > NAMED)
        snprintf(text + used, bytes - used, " and %" PRIu32 " more", count - NAMED);
}

static bool route_to(const struct search *s, uint32_t to, char why[HW_CUT_OFF_BYTES])
{
    struct broken *const b = s->b;
    if (!find_lost(s, to))
        return true;
    for (uint32_t stop = 0; stop < b->stops; stop++)
        s->trail[stop] = s->length[stop] == NEVER ? NEVER : 0;
    find_ways(s, to);
    for (uint32_t stop = 0; stop < b->stops; stop++) {
        if (s->trail[stop] != NEVER)
            continue;
        if (stop < b->whole.sip_count && s->length[stop] == NEVER) {
            char cut[HW_CUT_OFF_BYTES / 2] = "", rest[HW_CUT_OFF_BYTES / 2] = "";
            name_some(b, s, false, cut, sizeof cut);
            name_some(b, s, true, rest, sizeof rest);
            snprintf(why, HW_CUT_OFF_BYTES, "no way is left from %.80s to %.80s", cut, rest);
            return false;
        }
        if (s->length[stop] == NEVER) /* a switch that leads nowhere */
            continue;
        if (!need_row(b, stop))
            return false;
        b->exits[stop][to] = (uint16_t)s->exit[stop];
    }
    return true;
}

static bool find_routes(struct broken *b, char why[HW_CUT_OFF_BYTES])
{
    const size_t stops = b->stops;
    struct search s = {.b = b};
    bool found = false;
    s.first = calloc(stops + 2, sizeof *s.first);
    s.length = calloc(stops, sizeof *s.length);
    s.exit = calloc(stops, sizeof *s.exit);
    s.trail = calloc(stops, sizeof *s.trail);
    s.head = calloc(stops + 1, sizeof *s.head);
    s.next = calloc(stops, sizeof *s.next);
    if (s.first != NULL && s.length != NULL && s.exit != NULL && s.trail != NULL &&
        s.head != NULL && s.next != NULL && list_ways(&s)) {
        found = true;
        for (uint32_t to = 0; found && to < b->whole.sip_count; to++)
            if (!b->stop_lost[to])
                found = route_to(&s, to, why);
    }
    free(s.first);
    free(s.way);
    free(s.length);
    free(s.exit);
    free(s.trail);
    free(s.head);
    free(s.next);
    return found;
}

static void take_operations(struct broken *b)
{
    b->ops = *b->whole.sip_topology;
    b->ops.neighbour = broken_neighbour;
    b->ops.global_exit = broken_global_exit;
    b->ops.switches = broken_switches;
    b->ops.outlets = broken_outlets;
    b->ops.switch_outlets = broken_switch_outlets;
    if (b->ops.switch_kind != NULL)
        b->ops.switch_kind = broken_switch_kind;
    b->ops.side = broken_side;
    if (b->ops.outlet_name != NULL)
        b->ops.outlet_name = broken_outlet_name;
    b->ops.hop = broken_hop;
    b->ops.exit = broken_exit;
    b->ops.dims = broken_dims;
    b->ops.is_irregular = true;
    if (b->ops.key_at != NULL)
        b->ops.key_at = broken_key_at;
    if (b->ops.ways != NULL)
        b->ops.ways = broken_ways;
    if (b->ops.turns != NULL)
        b->ops.turns = broken_turns;
    if (b->ops.ends != NULL)
        b->ops.ends = broken_ends;
}

struct hw_topology_ops *hw_broken_create(const struct hw_config *hw,
                                         const struct hw_failures *failures,
                                         char why[HW_CUT_OFF_BYTES])
{
    struct broken *const b = calloc(1, sizeof *b);
    why[0] = '\0';
    if (b == NULL)
        return NULL;
    b->whole = *hw;
    b->stops = hw_stops(hw);
    take_operations(b);
    b->first = calloc((size_t)b->stops + 1, sizeof *b->first);
    b->stop_lost = calloc(b->stops, sizeof *b->stop_lost);
    b->exits = calloc(b->stops, sizeof *b->exits);
    for (uint32_t stop = 0; b->first != NULL && stop < b->stops; stop++)
        b->first[stop + 1] = b->first[stop] + hw_outlets_of(hw, stop);
    if (b->first != NULL)
        b->lost = calloc((size_t)b->first[b->stops] + 1, sizeof *b->lost);
    if (b->lost != NULL && b->stop_lost != NULL && b->exits != NULL) {
        lose_links(b, failures);
        if (find_routes(b, why))
            return &b->ops;
    }
    hw_broken_free(&b->ops);
    return NULL;
}

void hw_broken_free(struct hw_topology_ops *broken)
{
    struct broken *const b = (struct broken *)(void *)broken;
    if (b == NULL)
        return;
    for (uint32_t stop = 0; b->exits != NULL && stop < b->stops; stop++)
        free(b->exits[stop]);
    free(b->exits);
    free(b->stop_lost);
    free(b->lost);
    free(b->first);
    free(b);
}
