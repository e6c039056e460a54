/*
 * random_graph.h: random graphs of SIPs and switches, with parallel links, links that lead one way,
 * SIPs that forward nothing, and every policy of routes.
 */
#ifndef RANDOM_GRAPH_H
#define RANDOM_GRAPH_H

#include "hw/topology/graph.h"
#include "test/support/test_machines.h"

enum { GRAPH_LINKS_MAX = 2000, GRAPH_STOPS_MAX = 100, UNREACHED = 1000 };

struct random_graph {
    struct hw_graph_given given;
    struct hw_graph_link link[GRAPH_LINKS_MAX];
    bool ends[GRAPH_STOPS_MAX];
    uint32_t steps[GRAPH_STOPS_MAX][GRAPH_STOPS_MAX]; /* links of shortest ways */
};

/* A machine whose SIPs the graph joins. */
static inline struct hw_config graph_of(const struct hw_config *hw,
                                        const struct hw_topology_ops *graph,
                                        const struct hw_graph_given *given)
{
    struct hw_config listed = *hw;
    const struct hw_sip_size size = {.w = given->dims > 1 ? given->dim[0] : given->sips,
                                     .h = given->dims > 1 ? given->sips / given->dim[0] : 1};
    listed.sip_count = given->sips;
    hw_join_sips(&listed, graph, &size);
    return listed;
}

static inline void add_link(struct random_graph *r, uint32_t from, uint32_t to, bool one_way)
{
    r->link[r->given.link_count++] =
        (struct hw_graph_link){.from = {.stop = from, .port = HW_PORT_NONE},
                               .to = {.stop = to, .port = HW_PORT_NONE},
                               .link = HW_LINK_SIP_LINK,
                               .back = HW_LINK_SIP_LINK,
                               .one_way = one_way};
}

/* All pairs, over the links; SIPs that are ends have none go through them. */
static inline void count_ways(struct random_graph *r)
{
    const uint32_t stops = r->given.sips + r->given.switches;
    for (uint32_t a = 0; a < stops; a++)
        for (uint32_t b = 0; b < stops; b++)
            r->steps[a][b] = a == b ? 0 : UNREACHED;
    for (uint32_t i = 0; i < r->given.link_count; i++) {
        r->steps[r->link[i].from.stop][r->link[i].to.stop] = 1;
        if (!r->link[i].one_way)
            r->steps[r->link[i].to.stop][r->link[i].from.stop] = 1;
    }
    for (uint32_t via = 0; via < stops; via++)
        for (uint32_t a = 0; a < stops && !(via < r->given.sips && r->ends[via]); a++)
            for (uint32_t b = 0; b < stops; b++)
                if (r->steps[a][via] + r->steps[via][b] < r->steps[a][b])
                    r->steps[a][b] = r->steps[a][via] + r->steps[via][b];
}

static inline bool random_graph_is_connected(const struct random_graph *r)
{
    for (uint32_t a = 0; a < r->given.sips; a++)
        for (uint32_t b = 0; b < r->given.sips; b++)
            if (r->steps[a][b] >= UNREACHED)
                return false;
    return true;
}

static inline void random_graph_begin(struct random_graph *r, uint64_t *rng, uint32_t sips,
                                      uint32_t switches)
{
    static const enum hw_route_policy policies[] = {HW_ROUTES_LISTED, HW_ROUTES_DESTINATION_DIGITS,
                                                    HW_ROUTES_MINIMAL, HW_ROUTES_VALIANT};
    *r = (struct random_graph){.given = {.sips = sips,
                                         .switches = switches,
                                         .links = r->link,
                                         .ends = r->ends,
                                         .policy = policies[below(rng, 4)],
                                         .seed = below(rng, 3)}};
}

static inline void random_graph_add_links(struct random_graph *r, uint64_t *rng)
{
    const uint32_t stops = r->given.sips + r->given.switches;
    for (uint32_t more = stops > 1 ? below(rng, 2 * stops) : 0; more > 0; more--) {
        const uint32_t from = below(rng, stops), to = below(rng, stops);
        if (from != to)
            add_link(r, from, to, below(rng, 4) == 0);
    }
    count_ways(r);
}

/* Connected mostly: a tree, and more links, some parallel, some one way. */
static inline void random_graph_draw(struct random_graph *r, uint64_t *rng, uint32_t most_sips,
                                     uint32_t most_switches)
{
    const uint32_t sips = 1 + below(rng, most_sips);
    random_graph_begin(r, rng, sips, below(rng, most_switches));
    const uint32_t stops = r->given.sips + r->given.switches;
    for (uint32_t sip = 0; sip < r->given.sips; sip++)
        r->ends[sip] = below(rng, 8) == 0;
    for (uint32_t stop = 1; stop < stops; stop++)
        add_link(r, below(rng, stop), stop, below(rng, 30) == 0);
    random_graph_add_links(r, rng);
}

/* SIPs with global directions: in a ring, or at switches that join all. Their outlets have no
 * direction's name, so that queues of those directions go as routed; parallel links and several
 * switches make equal ways. */
static inline void random_graph_with_directions(struct random_graph *r, uint64_t *rng,
                                                uint32_t sips)
{
    const uint32_t joining = below(rng, 4), others = below(rng, 3), cables = 1 + below(rng, 3);
    random_graph_begin(r, rng, sips, joining + others);
    r->given.dims = 1;
    r->given.dim[0] = sips;
    r->given.lines = HW_SIP_LINES_RINGS;
    for (uint32_t k = 0; k < joining; k++)
        for (uint32_t sip = 0; sip < sips; sip++)
            add_link(r, sip, sips + k, false);
    for (uint32_t k = 0; joining == 0 && k < cables; k++)
        for (uint32_t sip = 0; sip < sips; sip++)
            add_link(r, sip, (sip + 1) % sips, false);
    for (uint32_t k = 0; k < others; k++) /* such a switch joins some, twice perhaps */
        for (uint32_t i = 0; i < 3; i++)
            add_link(r, below(rng, sips), sips + joining + k, false);
    if (joining == 0)
        random_graph_add_links(r, rng);
    for (uint32_t i = 0; i < r->given.link_count; i++) {
        snprintf(r->link[i].from.name, HW_OUTLET_NAME_BYTES, "x%u", i);
        snprintf(r->link[i].to.name, HW_OUTLET_NAME_BYTES, "y%u", i);
    }
    count_ways(r);
}

#endif
