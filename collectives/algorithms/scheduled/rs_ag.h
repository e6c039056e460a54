/*
 * rs_ag.h: reduce-scatters and all-gathers along the dimensions of a machine, as schedules. The
 * ranks are the places of a grid of any number of dimensions. The reduce-scatter goes along the
 * first dimension, then along the second, and so on; the all-gather goes back. An all-reduce is
 * both. After the reduce-scatter along a dimension, a rank holds the sums of one group of chunks:
 * the group of its place in this dimension and in all earlier ones.
 *
 * Along a dimension of n places, group c belongs to the place c. In the reduce-scatter, sums of
 * group c travel along the line to place c, and each place on the way adds its own chunks. In the
 * all-gather, group c travels from place c to all others. `reach` says how far, upwards and
 * downwards. Of the steps of a thread, each has a time: the number of messages that must have come
 * before it. Steps are in the order of their times, so no thread waits for a message that a later
 * step of another thread would send.
 *
 * Pure functions; the builder's memory is the only state.
 */
#ifndef COLLECTIVES_RS_AG_H
#define COLLECTIVES_RS_AG_H

#include "collectives/schedule/schedule_builder.h"
#include "hw/topology/fold.h"

enum rs_ag_joint {
    RS_AG_RING,  /* place n - 1 is joined with place 0 */
    RS_AG_LINE,  /* it is not */
    RS_AG_DIRECT /* every two places are joined */
};

/* Which way messages travel along a ring. Lines and direct links have one way only. */
enum rs_ag_way {
    RS_AG_UP,       /* all messages go to the next place */
    RS_AG_DOWN,     /* ... to the place before */
    RS_AG_MEET,     /* both ways, half round each: the same bytes in half the steps */
    RS_AG_MEET_DOWN /* the same; with an even number of places the longer half goes down; with two,
                       by the second link between them, if there is one */
};

struct rs_ag_dim {
    enum rs_ag_joint joint;
    enum rs_ag_way way;
    uint32_t n, stride; /* place i, with all other places 0, is number i * stride */
    uint8_t link;       /* of a machine's dimension: enum hw_link_kind */
};

enum {
    RS_AG_DIMS_MAX = 32,  /* each has at least two places, and a rank's number has 32 bits */
    RS_AG_PEERS_MAX = 15, /* of a thread: a PE has 16 directions */
    RS_AG_THREADS_MAX = 8 /* of a part */
};

/* One part of a schedule. */
struct rs_ag_part {
    uint32_t dims; /* in the order of the reduce-scatter */
    struct rs_ag_dim dim[RS_AG_DIMS_MAX];
    const uint32_t *rank_of; /* of a place's number; NULL: the number itself */
};

struct rs_ag {
    const char *name;
    const struct ccl_call *call; /* of an all-reduce, a reduce-scatter or an all-gather */
    uint32_t parts;
    const struct rs_ag_part *part; /* [parts]; of as many places */
    /* An all-reduce of one part may have fewer places than ranks: places 0 ... folded - 1 then have
     * a second rank each, which sends its whole tensor there first, and gets the result last. */
    uint32_t folded;
    const uint32_t *folded_rank; /* [folded] */
};
/* The schedule; NULL: CW_NO_RESOURCE. */
struct schedule *rs_ag_schedule(const struct rs_ag *plan, struct cw_error *error);
/* The rule for folds (struct ccl_algorithm, `folds`); the proof is in rs_ag.c. */
bool rs_ag_folds(const struct rs_ag *plan, const struct hw_fold *fold,
                 char why[CCL_FOLD_WHY_BYTES]);

/*
 * Fills in the dimensions of a machine whose SIPs are the ranks, innermost first, and returns how
 * many there are. Dimensions of one place are left out. If the ranks are only some of the SIPs,
 * they form one ring. Of a graph that states no dimensions they are its levels, in the order of
 * level_order(). All ways are RS_AG_UP.
 */
uint32_t rs_ag_machine(const struct ccl_call *call, struct rs_ag_dim dim[RS_AG_DIMS_MAX]);

/* Whether these dimensions are levels: their numbers are places of level_order() (ring_order.h). */
bool rs_ag_by_level(const struct ccl_call *call);

/* Whether the part needs at most RS_AG_THREADS_MAX threads. */
bool rs_ag_fits(const struct rs_ag_part *part);
int rs_ag_refuse(const struct ccl_call *call, struct ccl_refusal *refusal);

/* How many chunks travel together: as many as fit into the slots of a queue. In an all-reduce whose
 * largest call is known, chunks smaller than a slot share slots; otherwise each takes one. */
uint32_t rs_ag_window(const struct ccl_call *call, uint64_t chunks);

#endif
