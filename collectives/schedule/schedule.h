/*
 * schedule.h: a collective as data: which rank sends which chunk to which rank, where it is added,
 * and in which order. The built-in algorithms that are not kernels of their own make one
 * (schedule_builder.h), and so does the reader of MSCCL XML files (msccl_xml.h), whose terms these
 * are, with `thread` for the thread block. One kernel carries out every schedule
 * (schedule_kernel.h), one interpreter computes its bits (schedule_values.h), one check finds its
 * faults (schedule_check.h), and one model estimates its time (cost.h).
 *
 * A rank has three buffers, each of equal chunks: input, output and scratch. A thread is a sequence
 * of steps that a PE of its own carries out, one after the other. Each step moves `count`
 * consecutive chunks. Threads of a rank run beside each other; a step begins when the step before
 * it in its thread is done, and the steps that it waits for.
 *
 * Queues. The messages from rank a to rank b on channel c form one queue: one thread of a sends
 * them all, and one thread of b receives them all, in the same order and of the same counts.
 *
 * Reaching. Without queues, a thread may read and write chunks of other ranks: it loads a value,
 * adds others to it, and stores the sum, one place after the other, in steps that are carried out
 * as one (SCHEDULE_LOAD, _ADD, _STORE). Then its steps also wait for steps of other ranks' threads.
 * Only a schedule that `reaches` has such steps and such waits; it has one part and one member, and
 * it is not folded.
 *
 * Sizes. A buffer of n elements in k chunks has chunks of ceil(n / k) elements; the last ones may
 * be shorter, or empty.
 *
 * Parts. A schedule of several parts has one complete collective in each: only threads of part p
 * touch the chunks of part p, and a queue joins threads of one part. The larger buffer of an
 * all-gather, a reduce-scatter and an all-to-all is one block per rank; every other buffer is one
 * block. Each block has equally many chunks of each part, first part 0's, then part 1's,
 * ... Where a rank has one shard, its parts share it. Where its tensor is cut over PEs (a lane is
 * the PEs at one place of all SIPs), shard i goes by part i mod parts alone, and its blocks have
 * the chunks of that part only.
 *
 * Members. Several ranks of a schedule may be one rank of the process group: rank r is then member
 * r mod members of the group's rank r / members. Each member has a shard and PEs of its own, and
 * the schedule is an all-reduce of all shards. Elsewhere members is 1.
 *
 * Switches that reduce (hw/HARDWARE.md). A message from a rank to itself goes through the switches
 * of the tree that its channel says. It is the rank's part of a message of all ranks: the k-th
 * message of a tree that each rank sends is a part of the k-th one that each receives. A send with
 * src.none gives an empty part. With dst.none the rank does not want the message, and receives an
 * empty one, with dst.none too. What is received is the sum of the parts that are not empty. A
 * thread goes by one tree at most.
 *
 * Folds. In a folded world (hw/topology/fold.h) a schedule has the parts of representatives alone:
 * rank[] has these ranks, in their order, and steps name any ranks. A message between two ranks is
 * the same as that between their images.
 *
 * Const once built, but for the number of its owners; shared by all threads of the simulator.
 */
#ifndef COLLECTIVES_SCHEDULE_H
#define COLLECTIVES_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/algorithm.h"
#include "hw/topology/fold.h"

enum schedule_op {
    SCHEDULE_NOP,                   /* nop: waits for other steps only */
    SCHEDULE_SEND,                  /* s: sends src */
    SCHEDULE_RECV,                  /* r: dst = received */
    SCHEDULE_COPY,                  /* cpy: dst = src */
    SCHEDULE_REDUCE,                /* re: dst = dst + src */
    SCHEDULE_RECV_COPY_SEND,        /* rcs: dst = received; sends it */
    SCHEDULE_RECV_REDUCE_COPY,      /* rrc: dst = src + received */
    SCHEDULE_RECV_REDUCE_SEND,      /* rrs: sends src + received, and keeps nothing */
    SCHEDULE_RECV_REDUCE_COPY_SEND, /* rrcs: dst = src + received; sends it */
    /* of a schedule that reaches: `recv_from` is the rank whose chunks src are, `send_to` of dst */
    SCHEDULE_LOAD,  /* load: value = src */
    SCHEDULE_ADD,   /* add: value = value + src; joined with the step before it */
    SCHEDULE_STORE, /* store: dst = value; likewise */
    SCHEDULE_OPS
};
const char *schedule_op_name(enum schedule_op op); /* "rrcs" */
static inline bool schedule_op_sends(enum schedule_op op)
{
    return op == SCHEDULE_SEND || op == SCHEDULE_RECV_COPY_SEND ||
           op == SCHEDULE_RECV_REDUCE_SEND || op == SCHEDULE_RECV_REDUCE_COPY_SEND;
}
static inline bool schedule_op_receives(enum schedule_op op)
{
    return op == SCHEDULE_RECV ||
           (op >= SCHEDULE_RECV_COPY_SEND && op <= SCHEDULE_RECV_REDUCE_COPY_SEND);
}
/* Of a schedule that reaches. */
static inline bool schedule_op_reaches(enum schedule_op op)
{
    return op >= SCHEDULE_LOAD && op <= SCHEDULE_STORE;
}
static inline bool schedule_op_reads(enum schedule_op op) /* src of a buffer */
{
    return op == SCHEDULE_SEND || op == SCHEDULE_COPY || op == SCHEDULE_REDUCE ||
           (op >= SCHEDULE_RECV_REDUCE_COPY && op != SCHEDULE_STORE);
}
static inline bool schedule_op_writes(enum schedule_op op) /* dst */
{
    return op == SCHEDULE_RECV || op == SCHEDULE_COPY || op == SCHEDULE_REDUCE ||
           op == SCHEDULE_RECV_COPY_SEND || op == SCHEDULE_RECV_REDUCE_COPY ||
           op == SCHEDULE_RECV_REDUCE_COPY_SEND || op == SCHEDULE_STORE;
}

/* Whether this step reads src, and writes dst. */
#define schedule_step_reads(step)                                                                  \
    (schedule_op_reads((enum schedule_op)(step)->op) && !(step)->src.none)
#define schedule_step_writes(step)                                                                 \
    (schedule_op_writes((enum schedule_op)(step)->op) && !(step)->dst.none)

enum schedule_buffer { SCHEDULE_INPUT, SCHEDULE_OUTPUT, SCHEDULE_SCRATCH, SCHEDULE_BUFFERS };

#define SCHEDULE_NO_RANK UINT32_MAX

struct schedule_chunks {
    uint32_t at;    /* the first */
    uint8_t buffer; /* enum schedule_buffer */
    bool none;      /* of a message through switches: it has no bytes, and the chunks say how many
                       there would be */
    uint8_t reserved[2];
};

/* Steps of another thread; of its own. */
enum schedule_awaited { SCHEDULE_AWAITED = 1, SCHEDULE_AWAITED_WITHIN = 2 };

/* Both steps are carried out as one, tile by tile, and the value stays in TCM. */
enum schedule_joined {
    SCHEDULE_APART,
    SCHEDULE_JOINED, /* the builder says so: schedule_join() */
    SCHEDULE_ADDS_ON /* both are SCHEDULE_REDUCE to the same place */
};

struct schedule_step {
    uint8_t op;      /* enum schedule_op */
    uint8_t channel; /* of its queues */
    uint8_t awaited; /* enum schedule_awaited, as a set: steps that wait for this one */
    uint8_t joined;  /* enum schedule_joined: with the step before it in its thread */
    uint32_t count;  /* chunks; 0: none (nop) */
    struct schedule_chunks src, dst; /* as the operation says */
    uint32_t send_to, recv_from;     /* ranks; SCHEDULE_NO_RANK: the operation does not, or the rank
                                        of the step is meant (SCHEDULE_LOAD and so on) */
    uint32_t wait_first, wait_count; /* steps that it waits for: rank->wait[...] */
    uint32_t line;                   /* in the file that it was read from; 0: none. In a schedule
                                        with `place`, the number there, from 1 */
};

/* Another thread's step: done before the step that waits begins. */
struct schedule_wait {
    uint32_t thread, step;
    uint32_t other; /* 1 + the rank whose thread it is; 0: of the same rank */
};
static inline uint32_t schedule_wait_rank(const struct schedule_wait *wait, uint32_t own)
{
    return wait->other == 0 ? own : wait->other - 1;
}

/* Where a file has an operation that several steps stand for. */
struct schedule_file_place {
    uint32_t line, column, number; /* number: of the operation in its thread */
    const char *name;              /* of the operation; static */
};

struct schedule_thread {
    uint32_t step_first, step_count; /* rank->step[...] */
    uint32_t part;
    uint32_t line;
    bool other_way; /* where two links join two SIPs, one each way round a ring of two, its queues
                       go by the one that messages do not go by as routed; at both ends alike */
};

struct schedule_rank {
    uint32_t thread_count, step_count, wait_count;
    uint32_t chunks[SCHEDULE_BUFFERS]; /* of each buffer, all parts together */
    struct schedule_thread *thread;
    struct schedule_step *step;
    struct schedule_wait *wait;
};

struct schedule {
    char name[64];
    enum ccl_collective collective;
    uint32_t rank_count; /* in rank[] */
    uint32_t all_ranks;  /* of the whole schedule: rank_count, unless it is folded or partial */
    const struct hw_fold *fold; /* of the process group's ranks; NULL: all ranks are there */
    uint32_t root;              /* of a broadcast or a reduce */
    bool any_root;              /* with root r, rank i takes the steps of rank i - r; `root` is 0,
                                   and scalar 0 of a launch is r */
    uint32_t members;           /* of each rank of the process group; 1: these are its ranks */
    uint32_t parts;             /* >= 1 */
    uint32_t loop_chunks;       /* chunks of the larger of input and output (nchunksperloop) */
    uint32_t split;             /* of a file whose chunks are cut: parts of each; else 0 */
    uint32_t channels;
    bool in_place; /* input and output are one buffer: of an all-reduce the whole; of an all-gather
                      the input is the rank's part of the output; of a reduce-scatter the reverse */
    bool keeps_numbers; /* of an all-reduce: a value keeps the number of the chunk of the input that
                           it comes from: messages and copies go to chunks of the number that they
                           come from */
    bool sketch;  /* rank 0 has all its steps. All ranks go alike, and the others have only so many
                     that each of their queues is in one, in the same order. For estimates alone */
    bool direct;  /* of an all-to-all: each block goes straight to its rank, in one step of one
                     chunk, and blocks may have any sizes: no thread waits forever, whichever
                     steps move nothing (schedule_messages.h) */
    bool partial; /* rank[] has the ranks that were asked for (struct ccl_call, `wanted`). Steps of
                     several chunks keep numbers, and no two buffers of different sizes are one. To
                     be compared, or folded */
    bool reaches; /* it reads and writes chunks of other ranks: above, "Reaching" */
    bool near;    /* of a sketch: all messages take as long as rank 0's; else as long as the
                     messages of all ranks in the mean */
    uint64_t steps; /* of all ranks; of a sketch, the steps of the schedule that it stands for */
    uint64_t min_bytes, max_bytes; /* of the larger buffer that it is meant for; 0, 0: any */
    uint32_t *sums; /* of messages through switches: hw_tree_sums() of each tree, one after the
                       other; NULL: there are none. Not folded */
    uint32_t trees;
    const char *file;                  /* that it was read from; NULL: none. For messages */
    struct schedule_file_place *place; /* of a file whose operations are several steps; else NULL */
    char why[512];                     /* of one that was chosen: why; empty: it was named */
    uint32_t others;                   /* owners beside the first; the host's alone */
    struct schedule_rank *rank;        /* [rank_count] */
    struct schedule *whole; /* of a folded one: all ranks', where the representatives' parts do
                               not say all of themselves (schedule_lay.c); else NULL */
};
/* One owner less; the last one's call frees it. Accepts NULL. */
void schedule_free(struct schedule *schedule);
/* One owner more, which frees it likewise. On the host, one thread at a time. */
struct schedule *schedule_share(struct schedule *schedule);

/* The schedule that an algorithm makes for a call. NULL: *error says why. */
struct schedule *schedule_ask(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                              struct cw_error *error);
/* Of a schedule whose parts the fold maps onto each other: the representatives' parts, which are
 * made alone where the algorithm can. The fold outlives the result. */
struct schedule *schedule_ask_folded(const struct ccl_algorithm *algorithm,
                                     const struct ccl_call *call, const struct hw_fold *fold,
                                     struct cw_error *error);
/* The same of a schedule of all ranks; the result may become an owner of it. NULL: out of memory.
 */
struct schedule *schedule_folded(struct schedule *whole, const struct hw_fold *fold);
/* The place in rank[] of a rank's representative; and the rank at a place. */
static inline uint32_t schedule_place_of(const struct schedule *schedule, uint32_t rank)
{
    const struct hw_fold *const fold = schedule->fold;
    const uint32_t members = schedule->members;
    return fold == NULL
               ? rank
               : hw_fold_index(fold, hw_fold_representative(fold, rank / members)) * members +
                     rank % members;
}
static inline uint32_t schedule_rank_at(const struct schedule *schedule, uint32_t place)
{
    const uint32_t members = schedule->members;
    return schedule->fold == NULL
               ? place
               : hw_fold_sip(schedule->fold, place / members) * members + place % members;
}
/* Where `rank` goes under the relabelling that takes rank `x` to its representative. */
static inline uint32_t schedule_moved_rank(const struct schedule *schedule, uint32_t x,
                                           uint32_t rank)
{
    const uint32_t members = schedule->members;
    return schedule->fold == NULL
               ? rank
               : hw_fold_moved(schedule->fold, x / members, rank / members) * members +
                     rank % members;
}

/* One rank has what a broadcast sends, or what a reduce gives. */
static inline bool schedule_has_root(enum ccl_collective collective)
{
    return collective == CCL_BROADCAST || collective == CCL_REDUCE;
}

/* Blocks of a rank's buffer, enum schedule_buffer: above, "Parts". */
uint32_t schedule_blocks(const struct schedule *schedule, unsigned buffer);

/* A step's message goes through switches. */
static inline bool schedule_goes_by_tree(const struct schedule *schedule, uint32_t rank,
                                         const struct schedule_step *step)
{
    return schedule->sums != NULL && (step->send_to == rank || step->recv_from == rank);
}

/* How many steps of a thread are carried out as one, from its step `step` on: this step, and the
 * joined steps after it. */
uint32_t schedule_chain(const struct schedule_rank *rank, uint32_t thread, uint32_t step);

/* Elements of chunk `chunk` of a buffer of n elements in `chunks`, and where they begin. */
struct schedule_span {
    uint64_t first, count;
};
struct schedule_span schedule_span(uint64_t n, uint32_t chunks, uint32_t chunk);

/* The letter of the outlet of a SIP that goes to `to_sip` the other way round a ring of two; '\0':
 * they are not joined so. */
char schedule_other_way(const struct hw_config *hw, uint32_t sip, uint32_t to_sip);

/* Bytes of a tile at least, and of a whole chunk of a buffer of this many bytes at most, whatever
 * the type of its elements. */
uint64_t schedule_tile_bytes(const struct ccl_config *ccl);
uint64_t schedule_chunk_bytes(uint64_t bytes, uint64_t chunks);

/* Chunks that a rank of the process group sends to others, in the mean, as a multiple of the larger
 * of input and output: "moved per rank: 1.97 x the tensor". */
double schedule_moved(const struct schedule *schedule);

#endif
