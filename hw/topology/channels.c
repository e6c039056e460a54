/*
 * channels.c: the graph of channel dependences (channels.h): which channels a route crosses right
 * after which. A row of bits for each channel has the outlets of the stop at its end.
 */
#include "hw/topology/channels.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

struct channels {
    const struct hw_config *hw;
    uint32_t stops;
    uint32_t *first;        /* [stops + 1] the channel of a stop's outlet 0 */
    uint32_t *stop;         /* [channels] where it begins */
    size_t *row;            /* [channels + 1] where its bits begin in next[] */
    uint64_t *next;         /* bits: outlets at its end by which routes go on */
    bool *used;             /* [channels] by some route */
    uint32_t *seen;         /* [stops] 1 + the last destination for which it has been visited */
    uint32_t *queue;        /* [stops] */
    uint32_t *ways, *after; /* [outlets] */
};

static uint32_t ways_to(const struct channels *c, uint32_t stop, uint32_t to, uint32_t *ways)
{
    const struct hw_topology_ops *const t = c->hw->sip_topology;
    if (t->ways != NULL)
        return t->ways(c->hw, stop, to, ways);
    ways[0] = t->exit(c->hw, stop, to, 0);
    return 1;
}

static bool turns_at(const struct channels *c, uint32_t stop)
{
    const struct hw_topology_ops *const t = c->hw->sip_topology;
    return t->turns != NULL && t->turns(c->hw, stop);
}

static bool number_channels(struct channels *c)
{
    for (uint32_t stop = 0; stop < c->stops; stop++)
        c->first[stop + 1] = c->first[stop] + hw_outlets_of(c->hw, stop);
    const uint32_t channels = c->first[c->stops];
    c->stop = calloc((size_t)channels + 1, sizeof *c->stop);
    c->row = calloc((size_t)channels + 1, sizeof *c->row);
    c->used = calloc((size_t)channels + 1, sizeof *c->used);
    for (uint32_t stop = 0; c->stop != NULL && c->row != NULL && stop < c->stops; stop++)
        for (uint32_t i = c->first[stop]; i < c->first[stop + 1]; i++) {
            const struct hw_hop hop = hw_hop(c->hw, stop, i - c->first[stop]);
            const uint32_t outlets = hop.link < HW_LINK_KINDS ? hw_outlets_of(c->hw, hop.to) : 0;
            c->stop[i] = stop;
            c->row[i + 1] = c->row[i] + (outlets + WORD - 1) / WORD;
        }
    if (c->stop == NULL || c->row == NULL || c->used == NULL)
        return false;
    c->next = calloc(c->row[channels] + 1, sizeof *c->next);
    return c->next != NULL;
}

static void add_next(const struct channels *c, uint32_t channel, uint32_t outlet)
{
    c->next[c->row[channel] + outlet / WORD] |= UINT64_C(1) << outlet % WORD;
}

static void visit(struct channels *c, uint32_t stop, uint32_t to, uint32_t *queued)
{
    if (stop == to || c->seen[stop] == to + 1)
        return;
    c->seen[stop] = to + 1;
    c->queue[(*queued)++] = stop;
}

/* The routes to a SIP from all others, and from where routes by way of others turn to it. */
static void add_routes_to(struct channels *c, uint32_t to)
{
    uint32_t queued = 0;
    for (uint32_t stop = 0; stop < c->stops; stop++)
        if (stop < c->hw->sip_count || turns_at(c, stop))
            visit(c, stop, to, &queued);
    for (uint32_t i = 0; i < queued; i++) {
        const uint32_t stop = c->queue[i], count = ways_to(c, stop, to, c->ways);
        for (uint32_t k = 0; k < count; k++) {
            const struct hw_hop hop = hw_hop(c->hw, stop, c->ways[k]);
            if (hop.link == HW_LINK_KINDS)
                continue;
            const uint32_t channel = c->first[stop] + c->ways[k];
            c->used[channel] = true;
            if (hop.to == to)
                continue;
            visit(c, hop.to, to, &queued);
            for (uint32_t left = ways_to(c, hop.to, to, c->after); left > 0; left--)
                if (hw_hop(c->hw, hop.to, c->after[left - 1]).link < HW_LINK_KINDS)
                    add_next(c, channel, c->after[left - 1]);
        }
    }
}

/* Where routes turn, any channel may follow any other. */
static void add_turns(struct channels *c)
{
    for (uint32_t i = 0; i < c->first[c->stops]; i++) {
        const uint32_t end =
            c->used[i] ? hw_hop(c->hw, c->stop[i], i - c->first[c->stop[i]]).to : 0;
        if (!c->used[i] || !turns_at(c, end))
            continue;
        for (uint32_t o = c->first[end]; o < c->first[end + 1]; o++)
            if (c->used[o])
                add_next(c, i, o - c->first[end]);
    }
}

/* ---- circles --------------------------------------------------------------------------------- */

enum colour { WHITE, GREY, BLACK }; /* not seen, on the trail, done */

struct trail {
    uint32_t *channel, *place; /* [channels] and the outlet to look at next */
    uint8_t *colour;           /* [channels] */
    uint32_t count;
};

/* The next channel after the last one of the trail; UINT32_MAX: there are no more. */
static uint32_t step(const struct channels *c, struct trail *t)
{
    const uint32_t channel = t->channel[t->count - 1];
    const uint32_t end = hw_hop(c->hw, c->stop[channel], channel - c->first[c->stop[channel]]).to;
    const uint32_t outlets = c->first[end + 1] - c->first[end];
    for (uint32_t *const o = &t->place[t->count - 1]; *o < outlets;) {
        const uint64_t bits = c->next[c->row[channel] + *o / WORD] >> *o % WORD;
        if (bits == 0) {
            *o += WORD - *o % WORD;
            continue;
        }
        *o += (uint32_t)__builtin_ctzll(bits);
        return c->first[end] + (*o)++;
    }
    return UINT32_MAX;
}

/* Searches on from a channel. UINT32_MAX: there is no circle; else the channel that the last one of
 * the trail leads back to. */
static uint32_t search_from(const struct channels *c, struct trail *t, uint32_t channel)
{
    t->channel[0] = channel;
    t->place[0] = 0;
    t->colour[channel] = GREY;
    t->count = 1;
    while (t->count > 0) {
        const uint32_t next = step(c, t);
        if (next == UINT32_MAX) {
            t->colour[t->channel[--t->count]] = BLACK;
        } else if (t->colour[next] == GREY) {
            return next;
        } else if (t->colour[next] == WHITE) {
            t->colour[next] = GREY;
            t->place[t->count] = 0;
            t->channel[t->count++] = next;
        }
    }
    return UINT32_MAX;
}

static struct hw_circle take_circle(const struct channels *c, const struct trail *t, uint32_t back)
{
    uint32_t from = t->count - 1;
    while (t->channel[from] != back)
        from--;
    struct hw_circle circle = {.kind = HW_CIRCLE_FOUND, .count = t->count - from};
    circle.channel = calloc(circle.count, sizeof *circle.channel);
    if (circle.channel == NULL)
        return (struct hw_circle){.kind = HW_CIRCLE_MEMORY};
    for (uint32_t i = 0; i < circle.count; i++) {
        const uint32_t channel = t->channel[from + i], stop = c->stop[channel];
        circle.channel[i] = (struct hw_channel){stop, channel - c->first[stop]};
    }
    return circle;
}

static struct hw_circle find_circle(const struct channels *c)
{
    const uint32_t channels = c->first[c->stops];
    struct trail t = {calloc((size_t)channels + 1, sizeof *t.channel),
                      calloc((size_t)channels + 1, sizeof *t.place),
                      calloc((size_t)channels + 1, sizeof *t.colour), 0};
    struct hw_circle circle = {.kind = HW_CIRCLE_MEMORY};
    if (t.channel != NULL && t.place != NULL && t.colour != NULL) {
        circle.kind = HW_CIRCLE_NONE;
        for (uint32_t i = 0; circle.kind == HW_CIRCLE_NONE && i < channels; i++) {
            const uint32_t back =
                c->used[i] && t.colour[i] == WHITE ? search_from(c, &t, i) : UINT32_MAX;
            if (back != UINT32_MAX)
                circle = take_circle(c, &t, back);
        }
    }
    free(t.channel);
    free(t.place);
    free(t.colour);
    return circle;
}

struct hw_circle hw_circle_of(const struct hw_config *hw)
{
    struct channels c = {.hw = hw, .stops = hw_stops(hw)};
    const uint32_t at_sips = hw_outlets(hw), at_switches = hw_switch_outlets(hw);
    const size_t outlets = (size_t)(at_sips > at_switches ? at_sips : at_switches) + 1;
    struct hw_circle circle = {.kind = HW_CIRCLE_MEMORY};
    if ((uint64_t)c.stops * hw->sip_count > HW_CIRCLE_PAIRS_MAX)
        return (struct hw_circle){.kind = HW_CIRCLE_LARGE};
    c.first = calloc((size_t)c.stops + 1, sizeof *c.first);
    c.seen = calloc(c.stops, sizeof *c.seen);
    c.queue = calloc(c.stops, sizeof *c.queue);
    c.ways = calloc(outlets, sizeof *c.ways);
    c.after = calloc(outlets, sizeof *c.after);
    if (c.first != NULL && c.seen != NULL && c.queue != NULL && c.ways != NULL && c.after != NULL &&
        number_channels(&c)) {
        for (uint32_t to = 0; to < hw->sip_count; to++)
            add_routes_to(&c, to);
        add_turns(&c);
        circle = find_circle(&c);
    }
    free(c.first);
    free(c.stop);
    free(c.row);
    free(c.next);
    free(c.used);
    free(c.seen);
    free(c.queue);
    free(c.ways);
    free(c.after);
    return circle;
}

void hw_circle_free(struct hw_circle *circle)
{
    free(circle->channel);
    *circle = (struct hw_circle){.kind = HW_CIRCLE_NONE};
}
