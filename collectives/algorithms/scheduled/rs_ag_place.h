/*
 * rs_ag_place.h: one rank of a part while its steps are made (rs_ag.h): which ranks are its peers,
 * where chunks of its groups are, and steps on them. For the files of rs_ag alone.
 */
#ifndef COLLECTIVES_RS_AG_PLACE_H
#define COLLECTIVES_RS_AG_PLACE_H

#include "collectives/algorithms/scheduled/rs_ag.h"

struct schedule_walk_steps;

/* One chunk of each group, whose steps alone are made. */
struct rs_ag_one {
    uint32_t at[RS_AG_DIMS_MAX];    /* the places of the rank that it belongs to */
    uint32_t chunk[RS_AG_DIMS_MAX]; /* its number in the group of each dimension */
    struct schedule_walk_steps *steps;
};

/* A thread of one rank, while its steps are made. */
struct rs_ag_place {
    const struct rs_ag *plan;
    struct schedule_builder *b;
    uint32_t rank;                  /* in the builder */
    uint32_t number, part;          /* of the place */
    bool peers_only;                /* of a sketch, another rank than 0 */
    uint32_t ranks;                 /* places */
    uint32_t scratch;               /* chunks of each part */
    uint32_t window;                /* chunks that travel together */
    uint32_t at[RS_AG_DIMS_MAX];    /* its place in each dimension */
    uint32_t group[RS_AG_DIMS_MAX]; /* chunks of a group of each dimension */
    uint32_t first[RS_AG_DIMS_MAX]; /* chunk of a part: place 0's group of each dimension */
    /* Threads of the part, from `thread` on: more than one where a direct dimension has many
     * places. Each begins a dimension when all have ended the one before. */
    uint32_t thread, threads;
    uint32_t steps[RS_AG_THREADS_MAX], ended[RS_AG_THREADS_MAX];
    bool begun[RS_AG_THREADS_MAX];
    const struct rs_ag_one *one; /* NULL: all chunks, into the builder */
};

/* A step on chunks first ... first + count - 1 of the group of a place. */
struct rs_ag_step {
    enum schedule_op op;
    uint32_t d, at, first, count;
    enum schedule_buffer src, dst;
    uint32_t send_to, recv_from; /* ranks */
    uint32_t thread;             /* of the part */
    const uint32_t *after;       /* the last step of this thread comes before; NULL: of none */
};

/* Windows of a group, one after the other: each goes all the way before the next begins. */
struct rs_ag_span {
    uint32_t d, first, count;
};

/* Its place, and its groups, in each dimension of the part. */
void rs_ag_settle(struct rs_ag_place *p);
const struct rs_ag_part *rs_ag_part_of(const struct rs_ag_place *p);
const struct rs_ag_dim *rs_ag_dim_of(const struct rs_ag_place *p, uint32_t d);
enum ccl_collective rs_ag_collective_of(const struct rs_ag_place *p);
uint32_t rs_ag_rank_numbered(const struct rs_ag_place *p, uint32_t number);
/* The rank at the place `at` of dimension d, with this rank's places in all others. */
uint32_t rs_ag_peer_at(const struct rs_ag_place *p, uint32_t d, uint32_t at);
/* Ranks, and so chunks, of a group of dimension d. */
uint32_t rs_ag_group_size(const struct rs_ag_place *p, uint32_t d);
/* Windows of a group of dimension d begin with this chunk; before this chunk. */
uint32_t rs_ag_first_span(const struct rs_ag_place *p, uint32_t d);
uint32_t rs_ag_end_of_spans(const struct rs_ag_place *p, uint32_t d);

/* Where a rank's sums are before and after the reduce-scatter along a dimension. */
enum schedule_buffer rs_ag_sums_before(const struct rs_ag_place *p, uint32_t d);
enum schedule_buffer rs_ag_sums_after(const struct rs_ag_place *p, uint32_t d);
/* The first all-gather of a rank's own tensor. */
bool rs_ag_sends_input(const struct rs_ag_place *p, uint32_t d);

void rs_ag_add_step(struct rs_ag_place *p, const struct rs_ag_step *step);
/* An all-gather's own tensor, to its place in the result. */
void rs_ag_keep_own(struct rs_ag_place *p);
/* All threads of the part wait for each other before their next steps. */
void rs_ag_end_dimension(struct rs_ag_place *p);

/* A dimension of rings or lines (rs_ag_along.c). `sends`, `sent`: the last sum is sent on at once,
 * as the beginning of the all-gather along the same dimension. */
void rs_ag_scatter_along(struct rs_ag_place *p, uint32_t d, bool sends);
void rs_ag_gather_along(struct rs_ag_place *p, uint32_t d, bool sent);
/* The steps of all its places, with one window of each group. */
uint64_t rs_ag_scatter_steps(const struct rs_ag_dim *dim);
uint64_t rs_ag_gather_steps(const struct rs_ag_dim *dim, bool sent);
/* A dimension whose places are all joined (rs_ag_directly.c): each place sends a window to every
 * other one, and receives one. */
void rs_ag_scatter_directly(struct rs_ag_place *p, uint32_t d);
void rs_ag_gather_directly(struct rs_ag_place *p, uint32_t d);
/* Threads that a part needs. */
uint32_t rs_ag_threads_of(const struct rs_ag_part *part);

#endif
