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
    ROW(mesh_2d_no_wrap)                                                                           \
    ROW(switch)                                                                                    \
    ROW(pair_switch)

/* The global directions of queues (global_N, S, E, W), which run along rows and columns of SIPs. */
enum hw_sip_lines {
    HW_SIP_LINES_NONE, /* SIPs have no global directions */
    HW_SIP_LINES_RINGS,
    HW_SIP_LINES_OPEN, /* the ends of a row or column have one neighbour in it */
};

/* A port of a SIP's IO die. */
struct hw_sip_port {
    enum hw_link_kind link;   /* class of the link outside */
    bool to_switch;           /* that link ends at a switch, and another one leads on to the SIP */
    enum hw_port entry;       /* the port by which a transfer enters the next SIP */
    enum hw_port global_exit; /* the port that queues of the global direction of this name use */
};

/* A physical link outside a SIP, and its other end. */
struct hw_cable {
    enum hw_link_kind link;
    bool to_switch;
    uint32_t to; /* a switch's number, or a SIP */
};

/* Which lower bounds count a cut (collectives/verify/bound.c). */
enum hw_cut_use {
    HW_CUT_REDUCE = 1,  /* every SIP's result depends on every byte of the others */
    HW_CUT_SCATTER = 2, /* every SIP has a slice for every other */
    HW_CUT_GATHER = 4,  /* the same bytes reach every SIP */
    HW_CUT_ANY = 7,
};

/* A set of links whose removal parts the SIPs in two. One way; links of no count: none. */
struct hw_cut {
    uint32_t uses; /* of enum hw_cut_use */
    enum hw_link_kind link[2];
    uint32_t links[2];
    uint32_t outside; /* SIPs, among those asked for, that slices must cross the links to reach */
};
typedef void (*hw_cut_fn)(void *arg, const struct hw_cut *cut);

/* The size of a grid of SIPs; 0: not given, or there is no grid. */
struct hw_sip_size {
    uint32_t w, h;
};

/* Why SIPs cannot be joined so: the number at fault, and the text behind its key. */
enum hw_sip_key { HW_SIP_KEY_COUNT, HW_SIP_KEY_W, HW_SIP_KEY_H, HW_SIP_KEYS };
enum { HW_MISFIT_BYTES = 800 };
struct hw_misfit {
    enum hw_sip_key key;
    char text[HW_MISFIT_BYTES];
};

struct hw_topology_ops {
    const char *name; /* in topology.yaml, in messages and in reports */

    /* ---- properties -------------------------------------------------------------------------- */
    bool is_grid; /* SIPs form a grid of hw->sip_w x hw->sip_h; else sip_w is the count, sip_h 1 */
    enum hw_sip_lines lines;
    bool paired;       /* SIPs 2i and 2i + 1 are the two dies of a package */
    uint32_t switches; /* between SIPs */
    struct hw_sip_port port[HW_PORTS];

    /* ---- structure --------------------------------------------------------------------------- */
    /* The SIP that the global direction of this port leads to; false: there is no such direction.
     * If it leads from a to b, the opposite port leads from b to a, and b is not a. */
    bool (*neighbour)(const struct hw_config *hw, uint32_t sip, enum hw_port port, uint32_t *to);
    /* The link that this port has outside; false: none, or it is counted at its other end. Over
     * all SIPs and ports, each link is given once. */
    bool (*cable)(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                  struct hw_cable *cable);
    /* The switch of a SIP, below `switches`. NULL where there are no switches. */
    uint32_t (*switch_of)(const struct hw_config *hw, uint32_t sip);
    /* Whether so many SIPs, in a grid of the given size, can be joined so. True: *size is the size
     * in force, as close to a square as the topology wants it where none was given. False: *misfit
     * says why, with the legal values, and *size is the size as far as it is known. */
    bool (*fit)(uint32_t sips, struct hw_sip_size given, struct hw_sip_size *size,
                struct hw_misfit *misfit);

    /* ---- routes ------------------------------------------------------------------------------ */
    /* The port by which a transfer that is in `sip` leaves it for `to_sip`, another SIP. */
    enum hw_port (*exit_port)(const struct hw_config *hw, uint32_t sip, uint32_t to_sip);
    /* The SIP that a transfer for `to_sip` enters next when it leaves `sip` by a port that
     * exit_port() or a global direction names. Following both reaches `to_sip`. */
    uint32_t (*behind)(const struct hw_config *hw, uint32_t sip, enum hw_port port,
                       uint32_t to_sip);
    /* The SIP that a switch sends a transfer for `to_sip` to. NULL where there are no switches. */
    uint32_t (*switch_exit)(uint32_t number, uint32_t to_sip);

    /* ---- lower bounds ------------------------------------------------------------------------ */
    /* Links (through a switch: one) that every way from one SIP to the other has at least. */
    uint32_t (*distance)(const struct hw_config *hw, uint32_t from, uint32_t to);
    /* The largest distance between two SIPs. */
    uint32_t (*diameter)(const struct hw_config *hw);
    /* Crossings of each port's links on the best way between the two SIPs among the first `ranks`
     * that are farthest apart. NULL: `diameter` crossings of the fastest link where all SIPs take
     * part, and nothing is known where some do not. */
    void (*farthest)(uint32_t ranks, uint32_t crossings[HW_PORTS]);
    /* The cuts that bound a collective over the first `ranks` SIPs, at least two. */
    void (*cuts)(const struct hw_config *hw, uint32_t ranks, hw_cut_fn visit, void *arg);
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

/* Class of the links between a switch and its SIPs. The topology has switches. */
enum hw_link_kind hw_switch_link(const struct hw_config *hw);

/* Global directions that SIPs of the machine have: one that some SIP has counts. */
uint32_t hw_sip_directions_max(const struct hw_config *hw);

/* The next SIP, after `sip` and round to it, that is on the same switch; `sip` where it is alone.
 * The topology has switches. */
uint32_t hw_next_on_switch(const struct hw_config *hw, uint32_t sip);

/* The SIP to which a drawing joins `sip` by a line eastwards or southwards: its neighbour there,
 * else the SIP at the other end of a link. False: no line. */
bool hw_sip_drawn(const struct hw_config *hw, uint32_t sip, enum hw_port port, uint32_t *to);

#endif
