/*
 * logical_wiring.h: the queues of a logical topology (collectives/RUNTIME.md, "Install plans"): the
 * neighbours of each rank's PEs, and the names of the directions to them. Made by the host before
 * the machine, const from then on, and shared by all threads. A machine without one has its own
 * queues, and no table of them.
 *
 * A rank has one PE, or several that are joined alike: its lanes. Lane i of a rank has queues to
 * lane i of the rank's neighbours, in the same directions. The PE of a lane is a place. Places may
 * be on any PEs, in any order. Memory: 20 B for each end of a queue, 8 B for each place, and 8 B
 * for each SIP from the first one with a place to the last.
 *
 * In a folded machine (hw/topology/fold.h) only representatives have places. A queue leads to a PE
 * of any SIP; its other end is the image of one of the representative's.
 *
 * A PE's directions have indices (enum hw_dir) from 0 to HW_DIRS_MAX - 1. The names that
 * hw_dir_name() knows keep their indices; other names take free ones. Directions called "global_"
 * and the letter of an outlet (hw_named_outlet()) always leave by it. Directions called "switch_"
 * and the number of a tree of switches that reduce (hw/topology/trees.h) lead to it, and back to
 * the same PE: they are their own opposites, and the only ones that lead to their own rank.
 */
#ifndef LP_LOGICAL_WIRING_H
#define LP_LOGICAL_WIRING_H

#include "core/cw.h"
#include "hw/structure.h"
#include "hw/topology/fold.h"

#define LP_DIR_NAME_BYTES 32u

/* Which way tiles go in a queue pair. */
enum lp_way { LP_WAY_BOTH, LP_WAY_OUT, LP_WAY_IN };

/* One direction of a rank, and the rank that it leads to. */
struct lp_neighbour {
    char dir[LP_DIR_NAME_BYTES];      /* letters, digits and _ */
    char opposite[LP_DIR_NAME_BYTES]; /* the peer's name for this queue; "": lp_dir_opposite() */
    uint32_t rank;
    uint8_t way;  /* enum lp_way; the peer's is the other */
    uint32_t sip; /* with a fold: of the peer, whose representative has the PEs of `rank` */
};
struct lp_neighbours {
    uint32_t count;
    struct lp_neighbour at[HW_DIRS_MAX];
};

/* Which PEs get an IpcqInitMsg, with neighbours or without (hw/HARDWARE.md, "Control plane"): all
 * places, and of the others */
enum lp_wired_pes {
    LP_WIRED_BY_PLAN, /* of each SIP with a place: those that `wiring: all_pes | pe0` names */
    LP_WIRED_SIPS,    /* of each SIP with a place: all */
    LP_WIRED_MACHINE, /* all */
    LP_WIRED_PLACES   /* none */
};

struct lp_wiring_request {
    const struct hw_config *hw;
    const struct hw_fold *fold; /* NULL: none; it outlives the wiring */
    uint32_t ranks, lanes;
    const uint32_t *pe; /* [rank * lanes + lane]: global index of that place's PE; all differ */
    enum lp_wired_pes wired;
    bool routed; /* tiles leave their SIP as routed in all directions, whatever their names */
    uint32_t credit_bytes;
    /* Fills a rank's directions, opposites given or left empty; asked twice for each rank. Not
     * CW_OK: *error is filled. */
    int (*neighbours)(void *arg, uint32_t rank, struct lp_neighbours *out, struct cw_error *error);
    void *arg;
};

struct lp_wiring;

/* The result keeps invariant I3 (lp/QUEUES.md): the opposite of each direction leads back.
 * CW_USAGE: it would not, or a name, rank or PE is not legal; CW_NO_RESOURCE: out of memory. */
int lp_wiring_create(const struct lp_wiring_request *request, struct lp_wiring **out,
                     struct cw_error *error);
void lp_wiring_free(struct lp_wiring *wiring); /* accepts NULL */

/* "E" for "W", "global_N" for "global_S"; false: the name has no opposite by itself. */
bool lp_dir_opposite(const char *name, char opposite[LP_DIR_NAME_BYTES]);

/* The direction that a place's end number `n` has, of those whose names have no index of their own;
 * HW_DIRS_MAX: there are fewer. */
enum hw_dir lp_dir_numbered(uint32_t n);

/* A PE's end of a queue. */
struct lp_wire {
    uint32_t peer; /* global index of the PE at the other end */
    uint8_t peer_dir;
    uint8_t way;  /* enum lp_way */
    uint8_t exit; /* outlet by which tiles leave the SIP, or HW_OUTLET_NONE: as routed */
    uint8_t
        tree; /* 1 + the tree of switches (hw/topology/trees.h) that combines its tiles; 0: none */
    int64_t credit_ps; /* from here to the peer's PE_DMA */
};
const struct lp_wire *lp_wiring_at(const struct lp_wiring *wiring, uint32_t pe_index,
                                   enum hw_dir dir); /* NULL: none */
/* The PE's name of the direction. NULL: there is no such end. */
const char *lp_wiring_name(const struct lp_wiring *wiring, uint32_t pe_index, enum hw_dir dir);
/* The PE gets an IpcqInitMsg; by_plan: `wiring: all_pes | pe0` names it. */
bool lp_wiring_wires(const struct lp_wiring *wiring, uint32_t pe_index, bool by_plan);
/* Receive rings of a PE before the ring of `dir`; of HW_DIRS_MAX: all. */
uint32_t lp_wiring_rings(const struct lp_wiring *wiring, uint32_t pe_index, enum hw_dir dir);
/* A PE's directions, one bit each. */
uint16_t lp_wiring_directions_of(const struct lp_wiring *wiring, uint32_t pe_index);
uint16_t lp_wiring_directions(const struct lp_wiring *wiring);  /* that any PE has, one bit each */
uint32_t lp_wiring_rings_max(const struct lp_wiring *wiring);   /* of any PE */
uint64_t lp_wiring_queue_pairs(const struct lp_wiring *wiring); /* of all PEs */
uint32_t lp_wiring_ranks(const struct lp_wiring *wiring);

#endif
