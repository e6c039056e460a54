/*
 * picture.h: the machine as a picture: how its SIPs are joined, every directed link between SIPs
 * and switches and, if there are few SIPs, between cubes; with the use of each over one collective.
 * Plain data without pointers into the machine, so a picture read from JSON (picture_json.h) is
 * drawn (picture_svg.h) like any other.
 *
 * Units: simulated times in ps; rates in GB/s; bytes. A picture whose time_ps is 0 has no use: it
 * shows the machine alone.
 *
 * No state of its own; a picture belongs to one thread at a time.
 */
#ifndef BENCH_DRAW_PICTURE_H
#define BENCH_DRAW_PICTURE_H

#include <stddef.h>

#include "core/cw.h"
#include "hw/structure.h"

/*
 * The ends of links. A SIP stands for its IO die. Node numbers are 30 bits and a kind:
 *   picture_sip(3)        SIP 3          "3" in JSON
 *   picture_cube(p, 3, 5) its cube 5     "3.5"
 *   picture_switch(2)     switch 2       "x2"
 */
enum { PICTURE_CUBE_BIT = 1 << 30, PICTURE_SWITCH_BIT = 1 << 29 };

enum {
    PICTURE_KINDS = 64,      /* most kinds of links in a picture */
    PICTURE_INSIDE_MAX = 20, /* most SIPs of a picture with the links inside them */
    PICTURE_SIPS_MAX = 1 << 16,
    PICTURE_CUBES_MAX = 1 << 10, /* of a SIP */
    PICTURE_NODE_BYTES = 24
};

struct picture_kind {
    char name[24];      /* "sip_link" */
    double gbs;         /* of one link, one way */
    int64_t latency_ps; /* its time of flight; of a picture that was read, 0: not known */
};

/* `count` parallel links of one direction. */
struct picture_link {
    uint32_t from, to; /* nodes */
    uint32_t count;
    uint8_t kind;     /* index into `kinds` */
    uint8_t side;     /* of a cube's link: enum hw_port, the cube's side; else HW_PORT_NONE */
    bool failed;      /* nothing passes (hw/HARDWARE.md, "Faults") */
    uint16_t outlet;  /* the number at its sender (hw/topology/topology.h); 0 where it was read */
    uint64_t bytes;   /* of all together */
    int64_t busy_ps;  /* of the busiest: serialisation of its bytes */
    int64_t queue_ps; /* the longest that a message waited for one */
};

/* Switches of one kind, which a graph names; they have the numbers after those of the kind before.
 */
struct picture_switches {
    char name[24];
    uint32_t count;
};

/* A cube over the collective. */
struct picture_cube {
    int64_t work_ps; /* of its busiest PE: in products, additions, casts, loads, stores, copies */
    int64_t end_ps;  /* when its last kernel ended, from the first start in the machine; 0: none */
};

struct picture_dim {
    enum hw_sip_joint joint;
    uint32_t size;
};

struct picture {
    char topology[24];    /* "torus_2d" */
    char caption[256];    /* the collective: "all_reduce, 16384 bytes"; "" without use */
    char directions[120]; /* of queues between SIPs: "global_E leads right, ..." */
    uint32_t sip_count;   /* the product of the dimensions; of a folded picture: boxes */
    uint32_t unfolded;    /* SIPs; sip_count where nothing is folded */
    uint32_t switch_count;
    uint32_t switch_fold; /* of a folded picture: how many switches a box has; else 0 */
    uint32_t all_switches;
    uint32_t switch_kind_count; /* 0: they have no names */
    struct picture_switches switch_kind[HW_SWITCH_KINDS];
    uint32_t dim_count;
    struct picture_dim dim[HW_SIP_DIMS_MAX];
    bool paired; /* SIPs 2i and 2i + 1 are the dies of a package */
    uint32_t cube_w, cube_h;
    uint32_t root; /* the cube of each SIP in which reductions meet */
    uint32_t pes;  /* of a cube */
    int64_t time_ps;
    uint32_t kind_count;
    struct picture_kind kind[PICTURE_KINDS];
    struct picture_link *links; /* [link_count], in ascending order of from, to, side; the
                                   picture's */
    size_t link_count;
    struct picture_cube *cubes; /* [sip_count * cube_w * cube_h], SIP by SIP; NULL: not known */
    uint32_t *first_sip; /* [sip_count] of a folded picture: the lowest SIP of each box, which has
                            all up to the next box's; NULL: nothing is folded */
};

/* Whether its SIPs stand on grids: several dimensions, or one ring or line. */
static inline bool picture_is_product(const struct picture *picture)
{
    return picture->dim_count > 1 || picture->dim[0].joint == HW_SIP_RING ||
           picture->dim[0].joint == HW_SIP_LINE;
}

static inline uint32_t picture_sip(uint32_t sip) { return sip; }
static inline uint32_t picture_switch(uint32_t number) { return PICTURE_SWITCH_BIT | number; }
static inline uint32_t picture_cube(const struct picture *picture, uint32_t sip, uint32_t cube)
{
    return PICTURE_CUBE_BIT | (sip * picture->cube_w * picture->cube_h + cube);
}
static inline bool picture_is_sip(uint32_t node) { return node < PICTURE_SWITCH_BIT; }
/* A node's number within its kind. */
static inline uint32_t picture_number(uint32_t node) { return node & (PICTURE_SWITCH_BIT - 1); }

/* CW_USAGE: more SIPs or cubes than a picture can hold. */
int picture_check(const struct hw_config *hw, struct cw_error *error);
/* The machine with all links between its SIPs, without use. NULL, with *error filled: out of
 * memory, or more SIPs or cubes than a picture can hold. */
struct picture *picture_create(const struct hw_config *hw, uint32_t root, struct cw_error *error);
void picture_free(struct picture *picture); /* accepts NULL */

/* The order of links by their ends and the side of the sender: < 0, 0, > 0 as for qsort(). */
int picture_link_compare(const struct picture_link *a, const struct picture_link *b);

/* Adds the use over the picture's collective: its time, above 0, and with `cubes` the cubes' use,
 * initially 0. CW_OK, or out of memory. */
int picture_use(struct picture *picture, int64_t time_ps, bool cubes, struct cw_error *error);
/* The link that leaves a SIP or a switch by this outlet, or a cube by this side, or an IO die to a
 * cube of its edge on this side. NULL: it has none, or the picture has no such links. */
struct picture_link *picture_outlet(struct picture *picture, uint32_t node, uint32_t outlet);
struct picture_link *picture_out_of_cube(struct picture *picture, uint32_t sip, uint32_t cube,
                                         enum hw_port side);
struct picture_link *picture_into_cube(struct picture *picture, uint32_t sip, uint32_t cube,
                                       enum hw_port side);

/* The share of the time for which the busiest of these links was busy; 0 without use. */
double picture_busy(const struct picture *picture, const struct picture_link *link);
/* "3", "3.5", "x2": as in JSON. Returns text. */
const char *picture_node_name(const struct picture *picture, uint32_t node,
                              char text[PICTURE_NODE_BYTES]);

#endif
