/*
 * random_calls.h: random programs of calls on process groups that overlap, on random machines, and
 * what each tensor of each rank holds after each step: an interpreter that knows nothing of
 * algorithms, kernels or times. All values are whole numbers that their type has exactly, in any
 * order of additions. Everything follows from the seed.
 */
#ifndef TEST_RANDOM_CALLS_H
#define TEST_RANDOM_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "collectives/compute/compute.h"
#include "core/cw.h"

enum {
    CALLS_RANKS = 10,
    CALLS_GROUPS = 6, /* the world, group 0, among them */
    CALLS_STEPS = 24,
    CALLS_POOLS = CALLS_GROUPS,
    CALLS_TENSORS = 5 * CALLS_GROUPS,
    CALLS_MESSAGES = 6,
    CALLS_SETS = 24,
    CALLS_SET_BYTES = 96,
    CALLS_NONE = 255
};

/* The PEs of a SIP on which a group's tensors have shards, of its lanes. */
enum calls_layout { CALLS_LEADER, CALLS_CUBES, CALLS_PES };

/* Of a group: what its entry in ccl.yaml can do, where. */
struct calls_algorithm {
    const char *name;
    uint32_t kinds;   /* bits of enum calls_kind */
    uint32_t layouts; /* bits of enum calls_layout: the mappers that it may have */
    bool together;    /* adds all shards of a rank */
    bool exclusive;   /* several PEs work on a shard: no other call may use its tensors meanwhile */
    bool lanes;       /* runs on a share of the PEs, too */
    bool powers;      /* of 2: so many ranks */
};

struct calls_group {
    char name[16];
    const struct calls_algorithm *algorithm;
    enum calls_layout layout;
    uint32_t ranks[CALLS_RANKS], count;
    uint32_t first_pe, pes; /* lanes; pes 0: all */
    uint32_t threads;       /* of all-to-alls */
    bool late;              /* a step makes it; as the world's */
    uint32_t pool;
    uint32_t queue; /* hardware queue of its PEs */
};

/* The machine, its queues and its groups. */
struct calls_machine {
    uint64_t seed;
    char set[CALLS_SETS][CALLS_SET_BYTES];
    uint32_t sets;
    uint32_t ranks, cubes, pes; /* pes: of a cube */
    uint32_t launches;
    uint32_t queues; /* hardware queues of a PE; calls on different ones take no turns */
    struct calls_group group[CALLS_GROUPS];
    uint32_t groups;
    /* of the second run */
    enum cw_sync sync;
    uint32_t workers;
    uint64_t stress_rate_p32, stress_seed;
    bool logs; /* its op log is replayed */
};

enum calls_kind {
    CALLS_ALL_REDUCE,
    CALLS_SCALED, /* rank r's tensor times r + 2 */
    CALLS_AVERAGE,
    CALLS_BROADCAST,
    CALLS_GATHER,
    CALLS_SCATTER,
    CALLS_ALL_TO_ALL,
    CALLS_UNEVEN, /* all-to-all */
    CALLS_SENDS,
    CALLS_BARRIER,
    CALLS_COMPUTE,
    CALLS_NEW_GROUP,
    CALLS_KINDS
};

struct calls_step {
    enum calls_kind kind;
    uint32_t group;
    enum redop op;
    uint32_t in, out; /* tensors; equal: in place */
    uint32_t root;    /* of the group */
    bool blocks;      /* its call returns when it has ended */
    uint32_t rank;    /* of a computation */
    struct compute_request compute;
    struct calls_message {
        uint32_t from, to; /* of the group */
        uint32_t n;        /* elements of a shard */
    } message[CALLS_MESSAGES];
    uint32_t messages;
    uint16_t splits[CALLS_RANKS][CALLS_RANKS]; /* [from][to], of a shard */
    /* Of each rank of the world, before the step: */
    uint8_t writes[CALLS_RANKS]; /* its own values into this tensor; CALLS_NONE: into none */
    uint8_t waits[CALLS_RANKS];  /* 0: for no handle; 1: for all; else: for this one of its own */
    uint32_t pauses_ps[CALLS_RANKS];
    uint64_t fill[CALLS_RANKS];    /* which are this seed's stream; 0: they are not */
    int32_t *written[CALLS_RANKS]; /* what it writes */
    int32_t *result[CALLS_RANKS];  /* what the step leaves in `out`; NULL: nothing */
};

struct calls_pool {
    const struct calls_group *of; /* whose layout its tensors have */
    enum dtype dtype;
    uint32_t shards, n; /* elements of a shard */
};

struct calls_program {
    const struct calls_machine *machine;
    uint64_t seed;
    struct calls_pool pool[CALLS_POOLS];
    uint32_t pools;
    struct calls_tensor {
        uint32_t pool, times; /* n * times elements of a shard */
    } tensor[CALLS_TENSORS];
    uint32_t tensors;
    int32_t *initial[CALLS_TENSORS][CALLS_RANKS];
    struct calls_step step[CALLS_STEPS];
    uint32_t steps;
    uint32_t step_of[CALLS_GROUPS][CALLS_STEPS]; /* of a group's n-th numbered call */
    uint32_t calls[CALLS_GROUPS];
    bool leaves; /* ranks end without having waited for all */
};

void calls_machine_draw(struct calls_machine *machine, uint64_t seed);
/* Gives the groups their pools, too. The machine outlives the program. */
void calls_program_draw(struct calls_program *program, struct calls_machine *machine);
void calls_program_free(struct calls_program *program);
void calls_print(FILE *to, const struct calls_machine *machine,
                 const struct calls_program *program);

/* What the rank's tensor holds before a step, or (after) after what the rank writes then. */
const int32_t *calls_held(const struct calls_program *program, uint32_t step, bool after,
                          uint32_t rank, uint32_t tensor);
/* Elements of a shard, and of all shards. */
uint32_t calls_elements(const struct calls_program *program, uint32_t tensor);
uint32_t calls_values(const struct calls_program *program, uint32_t tensor);
/* The rank's number in a group; CALLS_NONE: it is not in it. */
uint32_t calls_rank_in(const struct calls_group *group, uint32_t rank);
/* The elements of a tensor that a step makes for itself: of a rank's shard. */
int32_t calls_moved(uint32_t step, uint32_t from, uint32_t tag, uint32_t shard, uint32_t element);
bool calls_is_numbered(enum calls_kind kind);
uint32_t calls_shards(const struct calls_machine *machine, const struct calls_group *group);
#endif
