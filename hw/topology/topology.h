/*
 * topology.h: how SIPs are joined (hw/HARDWARE.md, "SIP topologies"). A topology is one file in
 * this folder: it fills a `const struct hw_topology_ops`, and a row of HW_TOPOLOGIES registers it.
 * A machine points to its topology (`hw_config.sip_topology`); the rest of the product asks the
 * operations and the properties below, and never which topology it is.
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
 * An outlet: a place of a SIP's IO die where a link to another SIP, or to a switch, is plugged in.
 * Each is at one of the four ports. Outlets are numbered from 0; outlets 0 to 3 of the topologies
 * that have no more are at the ports of these numbers. Number 4 is left free, because transfers say
 * by it that they name no outlet. An outlet has the same number and kind in all SIPs, but it may
 * have no link in some, as at the end of an open line.
 */
enum { HW_OUTLET_NONE = HW_PORTS, HW_OUTLETS_MAX = 256 };
struct hw_sip_port {
    enum hw_link_kind link; /* class of the link outside; HW_LINK_KINDS: no SIP has this outlet */
    bool to_switch;         /* that link ends at a switch, and another one leads on to the SIP */
    uint8_t entry;          /* the outlet by which a transfer enters the next SIP */
    uint8_t global_exit;    /* of outlets 0 to 3: the outlet that queues of the global direction of
                               this port use, or HW_OUTLET_NONE: as routed */
    enum hw_port side;      /* the port of the IO die */
};

/* A physical link outside a SIP, and its other end. */
struct hw_cable {
    enum hw_link_kind link;
    bool to_switch;
    uint32_t to; /* a switch's number, or a SIP */
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
    bool paired;                       /* SIPs 2i and 2i + 1 are the two dies of a package */
    uint32_t switches;                 /* between SIPs, where switch_count is NULL */
    struct hw_sip_port port[HW_PORTS]; /* the outlets, where `outlet` is NULL */

    /* ---- structure --------------------------------------------------------------------------- */
    /* The SIP that the global direction of this port leads to; false: there is no such direction.
     * If it leads from a to b, the opposite port leads from b to a, and b is not a. */
    bool (*neighbour)(const struct hw_config *hw, uint32_t sip, enum hw_port port, uint32_t *to);
    /* Outlets of a SIP: all their numbers are below. NULL: HW_PORTS. */
    uint32_t (*outlets)(const struct hw_config *hw);
    /* An outlet below that number. NULL: port[]. */
    struct hw_sip_port (*outlet)(const struct hw_config *hw, uint32_t outlet);
    /* The link that this outlet has outside; false: none, or it is counted at its other end. Over
     * all SIPs and outlets, each link is given once. */
    bool (*cable)(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                  struct hw_cable *cable);
    /* The number of switches. NULL: `switches`. */
    uint32_t (*switch_count)(const struct hw_config *hw);
    /* The switch at an outlet of a SIP. NULL where there are no switches. */
    uint32_t (*switch_of)(const struct hw_config *hw, uint32_t sip, uint32_t outlet);
    /* The next SIP, after `sip` and round to it, on the switch at this outlet. NULL: found by
     * switch_of(). */
    uint32_t (*switch_next)(const struct hw_config *hw, uint32_t sip, uint32_t outlet);
    /* A switch numbers its links to SIPs from 0: their number, the number of the link to a SIP, the
     * SIP at a link, and the class of all. NULL, all of them: a switch has a number for each SIP of
     * the machine, which is the SIP's, and the class of the outlets to switches. */
    uint32_t (*switch_links_max)(const struct hw_config *hw);
    uint32_t (*switch_link)(const struct hw_config *hw, uint32_t number, uint32_t sip);
    uint32_t (*switch_sip)(const struct hw_config *hw, uint32_t number, uint32_t link);
    enum hw_link_kind (*switch_kind)(const struct hw_config *hw, uint32_t number);
    /* Whether this topology can join this many SIPs, in a grid of the given size. True: *size is
     * the size in force, as close to a square as the topology wants it where none was given. False:
     * *misfit says why, with the legal values, and *size is the size as far as it is known. */
    bool (*fit)(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                struct hw_misfit *misfit);

    /* ---- routes ------------------------------------------------------------------------------ */
    /* The outlet by which a transfer that is in `sip` leaves it for `to_sip`, another SIP. */
    uint32_t (*exit)(const struct hw_config *hw, uint32_t sip, uint32_t to_sip);
    /* The SIP that a transfer for `to_sip` enters next when it leaves `sip` by an outlet that
     * exit() or a global direction names. Following both reaches `to_sip`. */
    uint32_t (*next_sip)(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                         uint32_t to_sip);
    /* The SIP that a switch sends a transfer for `to_sip` to. NULL where there are no switches. */
    uint32_t (*switch_exit)(const struct hw_config *hw, uint32_t number, uint32_t to_sip);

    /* ---- distances --------------------------------------------------------------------------- */
    /* Links (through a switch: one) that every way from one SIP to the other has at least. */
    uint32_t (*distance)(const struct hw_config *hw, uint32_t from, uint32_t to);
    /* The largest distance between two SIPs. */
    uint32_t (*diameter)(const struct hw_config *hw);
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
static inline struct hw_sip_port hw_outlet(const struct hw_config *hw, uint32_t outlet)
{
    return hw->sip_topology->outlet == NULL ? hw->sip_topology->port[outlet]
                                            : hw->sip_topology->outlet(hw, outlet);
}
enum { HW_OUTLET_NAME_BYTES = 16 };
/* "E" of a line in the first dimension, "3 of 7" of a link to one of seven peers, ... */
void hw_outlet_name(const struct hw_config *hw, uint32_t outlet, char name[HW_OUTLET_NAME_BYTES]);

/* The outlet of a SIP that a queue named "global_" and this letter leaves by: N, S, E, W as the
 * topology says, and the letter of a ring's or a line's outlet. HW_OUTLET_NONE: the SIP has no link
 * of that name. */
uint32_t hw_named_outlet(const struct hw_config *hw, uint32_t sip, char letter);

/* A machine's SIPs: the topology, and the size that its fit() has found. hw->sip_count is set. */
void hw_join_sips(struct hw_config *hw, const struct hw_topology_ops *topology,
                  const struct hw_sip_size *size);

/* ---- switches; the topology has some --------------------------------------------------------- */
static inline uint32_t hw_switches(const struct hw_config *hw)
{
    return hw->sip_topology->switch_count == NULL ? hw->sip_topology->switches
                                                  : hw->sip_topology->switch_count(hw);
}
/* A switch's links to SIPs are numbered below; the number of the one to a SIP; the SIP at one. */
uint32_t hw_switch_links_max(const struct hw_config *hw);
static inline uint32_t hw_switch_link_to(const struct hw_config *hw, uint32_t number, uint32_t sip)
{
    return hw->sip_topology->switch_link == NULL ? sip
                                                 : hw->sip_topology->switch_link(hw, number, sip);
}
uint32_t hw_switch_sip(const struct hw_config *hw, uint32_t number, uint32_t link);
/* Class of the links between a switch and its SIPs. */
enum hw_link_kind hw_switch_link(const struct hw_config *hw, uint32_t number);

/* Global directions that SIPs of the machine have: one that some SIP has counts. */
uint32_t hw_sip_directions_max(const struct hw_config *hw);

/* The next SIP, after `sip` and round to it, that is on the same switch; `sip` where it is alone.
 * The switch is the one at the outlet. */
uint32_t hw_next_on_switch(const struct hw_config *hw, uint32_t sip, uint32_t outlet);

/* ---- questions of algorithms and their estimates --------------------------------------------- */

/* The dimensions of any topology: rings and lines in a grid's rows and columns, one switch, the
 * dies of a package and then the packages of paired dies. Coordinates make up a SIP's number as
 * struct hw_sip_dims says, whose count is at least 1. */
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
/* Links that leave a SIP, in all dimensions. */
uint32_t hw_sip_degree(const struct hw_config *hw);

#endif
