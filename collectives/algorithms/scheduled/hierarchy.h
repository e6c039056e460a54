/*
 * hierarchy.h: an all-reduce over the cubes of all SIPs as one schedule (ALGORITHMS.md,
 * "Hierarchy"). A member is a cube, or a PE where each PE has a shard; the members of a SIP are the
 * places of a grid. Each member has the steps of three phases:
 *
 * 1. reduce: along the dimensions of the grid, inside each SIP. Then each owner has the SIP's sums
 * of its part of the tensor. With INSIDE_LRAB the root alone is an owner, of the whole tensor;
 * else each member is an owner.
 * 2. between: each owner carries out a schedule with the owners of the same part in all other SIPs.
 * 3. spread: the results go back to all members of the SIP, along the dimensions from last to
 * first.
 *
 * Turns. A tensor may be cut into several turns, each with all three phases. Each phase has threads
 * of its own where there are PEs enough, so a phase of one turn runs beside another phase of the
 * next one. The pieces of a turn (schedule_program.h) overlap likewise.
 *
 * Chunks. Turn g has the chunks of its owners one after the other, each as many as the schedule
 * between SIPs has: chunk k of owner o is number (g * owners + o) * chunks + k. Owners are numbered
 * by their places, the last dimension's first, so that a group (below) is one run of chunks.
 *
 * No step waits forever, however many chunks it has and however few slots: (1) In phase 1 and 3
 * each thread sends to higher places of a line alone, or to lower ones alone, or it only sends, or
 * it only receives; the one that adds last waits for the other, never the reverse. So threads of a
 * dimension wait in no circle. (A thread that continues with one value for several peers goes
 * window by window: inside.c.) Where one thread does both, all it sends first fits in the slots, or
 * goes to higher places. (2) A dimension waits for those before it alone, and phases likewise. (3)
 * Phase 2 alone has no circle of waits.
 *
 * Pure functions; the builder's memory is the only state.
 */
#ifndef COLLECTIVES_HIERARCHY_H
#define COLLECTIVES_HIERARCHY_H

#include "collectives/schedule/schedule_builder.h"

/* How phases 1 and 3 go. */
enum inside_way {
    INSIDE_LRAB,  /* along rows and the root's column to the root, and back; one thread */
    INSIDE_LINES, /* along each line in both directions, a thread for each */
    INSIDE_DIRECT /* from each place of a line to each other; a thread sends, one receives */
};

enum {
    INSIDE_DIMS_MAX = 3,
    INSIDE_THREADS = 2,
    MEMBER_THREADS_MAX = 64,
    MEMBER_PEERS_MAX = HW_DIRS_MAX, /* of a thread: queues of a PE */
    TURNS_MAX = 16
};

struct inside_dim {
    uint32_t n, stride; /* place i, with all others 0, is member i * stride */
    uint32_t root;
};

/* The grid of a SIP's members. */
struct inside {
    enum inside_way way;
    uint32_t members, dims;
    struct inside_dim dim[INSIDE_DIMS_MAX]; /* in the order of phase 1; none of one place */
};

/* A member of one SIP, while its steps are made. */
struct member {
    const struct inside *inside;
    struct schedule_builder *b;
    uint32_t rank;                      /* of the schedule */
    uint32_t first_rank;                /* of its SIP's member 0 */
    uint32_t at[INSIDE_DIMS_MAX];       /* its place */
    uint32_t chunks;                    /* of an owner, in a turn */
    uint32_t window;                    /* chunks that fill the slots of a queue */
    bool small;                         /* ... and no tile */
    uint32_t steps[MEMBER_THREADS_MAX]; /* of each thread so far */
    /* Members with which a thread exchanges messages; more than this many: it is crowded. */
    uint32_t peers[MEMBER_THREADS_MAX], peer[MEMBER_THREADS_MAX][MEMBER_PEERS_MAX];
    bool crowded;
    /* Of each thread and each other thread: its steps that come before the thread's next step. */
    uint32_t awaits[MEMBER_THREADS_MAX][MEMBER_THREADS_MAX];
};

/* Owners of a SIP; which one a member is, SCHEDULE_NO_RANK: none. */
uint32_t inside_owners(const struct inside *inside);
uint32_t inside_owner(const struct member *member);
/* Threads of phase 1, and of phase 3, where there are PEs enough. */
uint32_t inside_threads(const struct inside *inside);

/* Adds a step to a thread of the member, after the steps that it awaits. */
void member_add(struct member *member, uint32_t thread, struct schedule_step step);
/* The next step of a thread comes after the first `steps` ones of another. */
void member_await(struct member *member, uint32_t thread, uint32_t other, uint32_t steps);

/* Phase 1 and phase 3 of a turn, on thread[0] and, if inside_threads() is two, thread[1], which may
 * be the same. */
void inside_reduce(struct member *member, uint32_t turn, const uint32_t thread[INSIDE_THREADS]);
void inside_spread(struct member *member, uint32_t turn, const uint32_t thread[INSIDE_THREADS]);

/* ---- the whole ------------------------------------------------------------------------------- */

struct hierarchy {
    struct inside inside;
    const struct schedule *between; /* an all-reduce in place over the SIPs; for the parts of one
                                       owner in one turn */
    uint32_t turns;                 /* at most TURNS_MAX */
    uint32_t pes;                   /* of each member */
    const struct ccl_call *call;
    bool together; /* the phases share a thread, if they can */
};
/* NULL: CW_USAGE, there are not PEs enough; CW_NO_RESOURCE. */
struct schedule *hierarchy_schedule(const struct hierarchy *hierarchy, const char *name,
                                    struct cw_error *error);

#endif
