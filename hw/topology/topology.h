/*
 * topology.h: how SIPs are joined (hw/HARDWARE.md, "SIP topologies"). A topology is one file in
 * this folder: it fills a `const struct hw_topology_ops`, and a row of HW_TOPOLOGIES registers it.
 * A machine points to its topology (`hw_config.sip_topology`); the rest of the product asks the
 * operations and the properties below, and never which topology it is. Graphs (graph.h) and
 * machines with failed parts (broken.h) have operations of their own, which are in no registry.
 *
 * Every operation is a pure function of its arguments: no state, no allocation, any thread. SIPs
 * are numbered from 0 to hw->sip_count - 1; a SIP, a port or a switch that an operation is given
 * exists, unless its comment says otherwise.
 */
#ifndef HW_TOPOLOGY_H
#define HW_TOPOLOGY_H

#include <stddef.h>

#include "hw/hw_config.h"

/* The registry: one row for each topology, in the order in which messages list them. */
#define HW_TOPOLOGIES(ROW)                                                                         \
    ROW(ring_1d)                                                                                   \
    ROW(torus_2d)                                                                                  \
    ROW(torus_3d)                                                                                  \
    ROW(mesh_2d_no_wrap)                                                                           \
    ROW(fully_connected)                                                                           \
    ROW(switch)                                                                                    \
    ROW(pair_switch)                                                                               \
    ROW(levels)

/* The global directions of queues (global_N, S, E, W), which run along rows and columns of SIPs. */
enum hw_sip_lines {
    HW_SIP_LINES_NONE, /* SIPs have no global directions */
    HW_SIP_LINES_RINGS,
    HW_SIP_LINES_OPEN, /* the ends of a row or column have one neighbour in it */
};

/*
 * A stop: a place between which links outside SIPs lead. Stop s is SIP s; stop sip_count + k is
 * switch k.
 *
 * An outlet: where a link away from a stop begins. Outlets of a stop are numbered from 0, and some
 * may have no link, as at the end of an open line. Those of a SIP are places on its IO die: an
 * outlet of this number is at the same port in all SIPs. Number 4 is left free there, because
 * transfers say by it that they name no outlet.
 */
enum { HW_OUTLET_NONE = HW_PORTS, HW_OUTLETS_MAX = 256, HW_OUTLET_NAME_BYTES = 16 };
#define HW_ONE_WAY UINT32_MAX

/* A bit of a route's key (hw/route.h): the route has come to the stop by way of which it goes. */
enum { HW_ROUTE_KEY_PASSED = 1 };

/* A link outside SIPs, one way. */
struct hw_hop {
    enum hw_link_kind link; /* its class; HW_LINK_KINDS: the outlet has no link */
    enum hw_port in;        /* the port of the IO die that it enters; HW_PORT_NONE: of a switch */
    uint32_t to;            /* the stop at its end, */
    uint32_t back;          /* and that stop's outlet by which it leads back, or HW_ONE_WAY */
};

/* The size of a grid of SIPs; 0: not given, or there is no grid. `dims` is the machine's
 * hw_config.sip_dims. Only the dimensions of `levels` are given; their strides are not known yet.
 */
struct hw_sip_size {
    uint32_t w, h, d;
    struct hw_sip_dims dims;
};

/* Why SIPs cannot be joined like this: the number at fault, and the text that follows its key. */
enum hw_sip_key {
    HW_SIP_KEY_COUNT,
    HW_SIP_KEY_W,
    HW_SIP_KEY_H,
    HW_SIP_KEY_D,
    HW_SIP_KEY_TOPOLOGY,
    HW_SIP_KEYS
};
enum { HW_MISFIT_BYTES = 800 };
struct hw_misfit {
    enum hw_sip_key key;
    char text[HW_MISFIT_BYTES];
};

struct hw_topology_ops {
    const char *name; /* in topology.yaml, in messages and in reports */

    /* ---- properties -------------------------------------------------------------------------- */
    bool is_grid; /* SIPs form a grid of hw->sip_w x hw->sip_h; else sip_w is the count, sip_h 1.
                     More than two dimensions: those after the first are the rows, one after the
                     other */
    bool is_3d;   /* its size has a depth */
    enum hw_sip_lines lines;
    bool paired;       /* SIPs 2i and 2i + 1 are the two dies of a package */
    bool is_irregular; /* what holds of one SIP's links and routes need not hold of another's */
    bool hashes;       /* routes depend on their key */

    /* ---- structure --------------------------------------------------------------------------- */
    /* The SIP that the global direction of this port leads to; false: there is no such direction.
     * If it leads from a to b, the opposite port leads from b to a, and b is not a. */
    bool (*neighbour)(const struct hw_config *hw, uint32_t sip, enum hw_port port, uint32_t *to);
    /* The outlet by which queues of the global direction of this port always leave a SIP, or
     * HW_OUTLET_NONE: as routed. The SIP has that direction. */
    uint32_t (*global_exit)(const struct hw_config *hw, uint32_t sip, enum hw_port port);
    /* Switches between SIPs. NULL: there are none. */
    uint32_t (*switches)(const struct hw_config *hw);
    /* Outlets of a SIP, and of a switch: all their numbers are below. NULL: HW_PORTS, and none. */
    uint32_t (*outlets)(const struct hw_config *hw);
    uint32_t (*switch_outlets)(const struct hw_config *hw);
    /* The kind of a switch, by its number: HW_NODE_SWITCH or a later one. NULL: of all, the first.
     */
    enum hw_node_kind (*switch_kind)(const struct hw_config *hw, uint32_t number);
    /* Whether nothing goes through this SIP to another. NULL: through all. */
    bool (*ends)(const struct hw_config *hw, uint32_t sip);
    /* The port of the IO die at which an outlet of a SIP is. NULL: of this number. */
    enum hw_port (*side)(const struct hw_config *hw, uint32_t outlet);
    /* hw_outlet_name(). NULL: the letter of its port. */
    void (*outlet_name)(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                        char name[HW_OUTLET_NAME_BYTES]);
    /* The link at an outlet below those numbers. Each link both ways is two hops, one from each
     * end. A switch's are in the order of the stops
     * that they lead to. */
    struct hw_hop (*hop)(const struct hw_config *hw, uint32_t stop, uint32_t outlet);
    /* Whether this topology can join this many SIPs, in a grid of the given size. True: *size is
     * the size in force, as close to a square as the topology wants it where none was given. False:
     * *misfit says why, with the legal values, and *size is the size as far as it is known. */
    bool (*fit)(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                struct hw_misfit *misfit);

    /* ---- routes ------------------------------------------------------------------------------ */
    /* The outlet by which a transfer that is at a stop leaves it for `to_sip`, another stop. It has
     * a link. Following it from there on reaches `to_sip`. `key`: which of several routes the
     * transfer takes (hw_route_key()). */
    uint32_t (*exit)(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t key);
    /* The key from this stop on: a route by way of a stop has come there. NULL: as before. */
    uint32_t (*key_at)(const struct hw_config *hw, uint32_t stop, uint32_t key);
    /* All outlets that exit() gives for some key on the last part of a route. Returns their number;
     * `outlets` has room for all of the stop. NULL: one for all keys. */
    uint32_t (*ways)(const struct hw_config *hw, uint32_t stop, uint32_t to_sip, uint32_t *outlets);
    /* Whether a route by way of a stop may turn to its destination here. NULL: nowhere. */
    bool (*turns)(const struct hw_config *hw, uint32_t stop);

    /* hw_sip_dims_of(). NULL: hw->sip_dims. */
    struct hw_sip_dims (*dims)(const struct hw_config *hw);
};

#define HW_TOPOLOGY_DECLARE(name) extern const struct hw_topology_ops hw_##name;
HW_TOPOLOGIES(HW_TOPOLOGY_DECLARE)
#undef HW_TOPOLOGY_DECLARE

/* The topology with this number in the registry; NULL beyond the last. */
const struct hw_topology_ops *hw_topology_at(uint32_t number);
/* Its name; NULL beyond the last. */
const char *hw_topology_name_at(uint32_t number);
/* By name; NULL: there is none. */
const struct hw_topology_ops *hw_topology_find(const char *name);

/* Names of the topologies with a property, as a sentence lists them: "a, b <last> c". */
const char *hw_topology_list(bool (*wanted)(const struct hw_topology_ops *topology),
                             const char *last, char *text, size_t bytes);

static inline bool hw_topology_is_directed(const struct hw_topology_ops *topology)
{
    return topology->lines != HW_SIP_LINES_NONE;
}
static inline bool hw_topology_is_undirected(const struct hw_topology_ops *topology)
{
    return topology->lines == HW_SIP_LINES_NONE;
}
/* Its lines of SIPs are rings, so that all SIPs can add in one order. */
static inline bool hw_topology_is_ringed(const struct hw_topology_ops *topology)
{
    return topology->lines == HW_SIP_LINES_RINGS;
}
static inline bool hw_topology_is_paired(const struct hw_topology_ops *topology)
{
    return topology->paired;
}

/* The rows and columns of the SIPs: of a topology without a grid, one row. */
static inline struct hw_grid hw_sip_grid(const struct hw_config *hw)
{
    const bool is_grid = hw->sip_topology->is_grid;
    return (struct hw_grid){is_grid ? hw->sip_w : hw->sip_count, is_grid ? hw->sip_h : 1,
                            hw->sip_topology->lines != HW_SIP_LINES_OPEN};
}

static inline uint32_t hw_outlets(const struct hw_config *hw)
{
    return hw->sip_topology->outlets == NULL ? HW_PORTS : hw->sip_topology->outlets(hw);
}
static inline enum hw_port hw_side(const struct hw_config *hw, uint32_t outlet)
{
    return hw->sip_topology->side == NULL ? (enum hw_port)outlet
                                          : hw->sip_topology->side(hw, outlet);
}
static inline struct hw_hop hw_hop(const struct hw_config *hw, uint32_t stop, uint32_t outlet)
{
    return hw->sip_topology->hop(hw, stop, outlet);
}
static inline bool hw_is_switch(const struct hw_config *hw, uint32_t stop)
{
    return stop >= hw->sip_count;
}
/* Where each link is to be counted once: at the lesser of its stops, or where it leads one way. */
static inline bool hw_hop_counts(const struct hw_hop *hop, uint32_t stop)
{
    return hop->link < HW_LINK_KINDS && (stop < hop->to || hop->back == HW_ONE_WAY);
}
/* "E" of a line in the first dimension, "+3 of 8" of a link to one of seven peers, ... */
void hw_outlet_name(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                    char name[HW_OUTLET_NAME_BYTES]);

/* The outlet of a SIP that a queue named "global_" and this letter leaves by: N, S, E, W as the
 * topology says, and the letter of a ring's or a line's outlet. HW_OUTLET_NONE: the SIP has no link
 * of that name. */
uint32_t hw_named_outlet(const struct hw_config *hw, uint32_t sip, char letter);

/* A machine's SIPs: the topology, and the size that its fit() has found. hw->sip_count is set. */
void hw_join_sips(struct hw_config *hw, const struct hw_topology_ops *topology,
                  const struct hw_sip_size *size);

static inline uint32_t hw_switches(const struct hw_config *hw)
{
    return hw->sip_topology->switches == NULL ? 0 : hw->sip_topology->switches(hw);
}
static inline uint32_t hw_stops(const struct hw_config *hw)
{
    return hw->sip_count + hw_switches(hw);
}
static inline uint32_t hw_switch_outlets(const struct hw_config *hw)
{
    return hw->sip_topology->switch_outlets == NULL ? 0 : hw->sip_topology->switch_outlets(hw);
}
/* The kind of node at which a link enters a stop. */
static inline enum hw_node_kind hw_node_at(const struct hw_config *hw, uint32_t stop)
{
    return !hw_is_switch(hw, stop) ? HW_NODE_IO_PORT
           : hw->sip_topology->switch_kind == NULL
               ? HW_NODE_SWITCH
               : hw->sip_topology->switch_kind(hw, stop - hw->sip_count);
}
/* Least time of a crossing: from the entry into the link to the stop after it. */
static inline int64_t hw_hop_ps(const struct hw_config *hw, enum hw_link_kind link, uint32_t to)
{
    return hw->link[link].prop_ps + hw->overhead_ps[hw_node_at(hw, to)];
}
/* Outlets of this stop. */
static inline uint32_t hw_outlets_of(const struct hw_config *hw, uint32_t stop)
{
    return hw_is_switch(hw, stop) ? hw_switch_outlets(hw) : hw_outlets(hw);
}

/* Global directions that SIPs of the machine have: one that some SIP has counts. */
uint32_t hw_sip_directions_max(const struct hw_config *hw);

/* ---- questions of algorithms and their estimates --------------------------------------------- */

/* The dimensions of any topology: rings and lines in a grid's rows and columns, one switch, the
 * dies of a package and then the packages of paired dies; of a graph those that it states, or one
 * of the joint HW_SIP_OTHER, whose class of links says nothing. Coordinates make up a SIP's number
 * as struct hw_sip_dims says, whose count is at least 1. */
struct hw_sip_dims hw_sip_dims_of(const struct hw_config *hw);
static inline uint32_t hw_sip_coordinate(const struct hw_sip_dim *dim, uint32_t sip)
{
    return sip / dim->stride % dim->size;
}
/* `sip` with its coordinate in this dimension replaced by `at`. */
static inline uint32_t hw_sip_moved(const struct hw_sip_dim *dim, uint32_t sip, uint32_t at)
{
    return sip - hw_sip_coordinate(dim, sip) * dim->stride + at * dim->stride;
}

#endif
