/*
 * graph_parts.h: a graph as graph.c builds it, with graph_dims.c and graph_routes.c. Outlets of a
 * SIP are slots by port: slot k of a port has the same number in all SIPs, 0 to 3 for the first of
 * each port. Those of a switch are its links, by the stop that they lead to.
 */
#ifndef HW_GRAPH_PARTS_H
#define HW_GRAPH_PARTS_H

#include "hw/topology/graph.h"

/* An outlet of a stop, and its place in the list. */
struct graph_outlet {
    struct hw_hop hop; /* hop.link == HW_LINK_KINDS: none */
    uint32_t listed;
    bool is_from; /* it is listed from this stop on */
    char name[HW_OUTLET_NAME_BYTES];
};

/* Outlets that lead on equally well, in the order of the list. */
struct graph_ways {
    uint32_t count; /* 0: the destination cannot be reached */
    uint32_t first; /* one: the outlet; more: they begin here in graph_routes.pool */
};

/* The routes of a stop: for each SIP, a number of ways in `ways`. Number 0 has none, number 1 + o
 * has outlet o alone. */
struct graph_row {
    uint8_t *narrow;         /* [sips]; NULL: in `wide` */
    uint16_t *wide;          /* [sips]; NULL too: `only` for all */
    struct graph_ways *ways; /* [count] */
    uint32_t count, room, only;
};

/* A SIP by way of which routes go, and the stop at which they have gone far enough: the SIP itself,
 * or, where all links into it come from one stop, that stop. */
struct graph_via {
    uint32_t sip, meet;
};

struct graph_routes {
    struct graph_row *row; /* [stops] */
    uint16_t *pool;        /* outlets of ways of several */
    size_t pooled, pool_room;
    struct graph_via *via; /* of HW_ROUTES_VALIANT */
    uint32_t vias;
    uint64_t seed;
};

struct graph {
    struct hw_topology_ops ops; /* first: a machine points to it */
    uint32_t sips, switches, outlets, switch_outlets;
    uint8_t *switch_kind;         /* [switches] */
    uint8_t side[HW_OUTLETS_MAX]; /* enum hw_port */
    uint32_t *first;              /* [stops + 1] in outlet[] */
    struct graph_outlet *outlet;
    struct hw_sip_dims dims;
    bool *ends; /* [sips]; NULL: none */
    enum hw_route_policy policy;
    struct graph_routes routes;
};

static inline const struct graph *graph_of(const struct hw_config *hw)
{
    return (const struct graph *)(const void *)hw->sip_topology;
}

static inline uint32_t graph_outlets_at(const struct graph *g, uint32_t stop)
{
    return g->first[stop + 1] - g->first[stop];
}

static inline struct graph_outlet *graph_at(const struct graph *g, uint32_t stop, uint32_t outlet)
{
    return &g->outlet[g->first[stop] + outlet];
}

/* The slots of each port: as many as some SIP has links there. */
struct graph_slots {
    uint32_t most[HW_PORTS];
};

/* Where an end of a link is: the port and slot of a SIP. */
struct graph_place {
    enum hw_port port;
    uint32_t slot;
};

struct graph_building {
    struct graph *g;
    const struct hw_graph_given *given;
    char *why; /* HW_GRAPH_WHY_BYTES; "" where memory is short */
    struct graph_slots slots;
    struct graph_place *place; /* [2 * links] of both ends */
    uint32_t *outlet;          /* [2 * links] their numbers */
    uint32_t *used;            /* [sips * (HW_PORTS + 1)] links at each port; and links dealt out */
};

/* ---- graph_dims.c ---------------------------------------------------------------------------- */

/* Fills g->dims from the sizes that are given. False: `why` says which dimension is not joined. */
bool graph_find_dims(struct graph_building *b);
/* The outlet by which a SIP leaves along a dimension, towards a place in it; HW_OUTLETS_MAX: it
 * would go backward, and no link leads there. */
uint32_t graph_outlet_along(const struct graph_building *b, const struct hw_sip_dim *dim,
                            uint32_t sip, uint32_t place);
/* The switch that a SIP shares with the SIPs that differ from it in this dimension alone, and with
 * no others; UINT32_MAX: none. */
uint32_t graph_switch_of(const struct graph_building *b, const struct hw_sip_dim *dim,
                         uint32_t sip);
enum { GRAPH_STOP_NAME_BYTES = 48 };

/* ---- graph_routes.c -------------------------------------------------------------------------- */

/* Fills g->routes by the policy. False: `why` says which SIP cannot reach which. */
bool graph_find_routes(const struct graph_building *b);
void graph_free_routes(struct graph *g);
uint32_t graph_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key);
uint32_t graph_key_at(const struct hw_config *hw, uint32_t stop, uint32_t key);
uint32_t graph_ways(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t *outlets);
bool graph_turns(const struct hw_config *hw, uint32_t stop);

#endif
