/*
 * schedule_program.h: a schedule mapped to a machine: which PE carries out which thread, by which
 * queues, with which notifications between PEs of a SIP. The kernel (schedule_kernel.h) reads it.
 *
 * Placement. A rank is a SIP, or a member of one (schedule.h): the PEs of a SIP are divided evenly
 * among its members, in order of (cube, PE). Where each rank has one shard, thread t of a rank runs
 * on PE number t of its PEs, in order of (cube, PE), and the rank's buffers are in the HBM slice of
 * the first of them: the home. Where a rank's tensor is cut over PEs, each PE with a shard is a
 * lane of its own, which carries out the thread of its part (schedule.h, "Parts") on its own shard.
 * A part then has one thread in each rank.
 *
 * Queues. Each pair of threads that exchange messages has a queue of its own, over ordinary routes.
 *
 * Pieces. Chunks are larger than slots. So a thread goes through its steps piece by piece: in piece
 * p, each step moves the tiles p m to (p + 1) m - 1 of its chunks. m is the largest number for
 * which rings of this many slots never fill up forever, and a piece has at most `piece_size` bytes,
 * where that is given. A message that is smaller than a piece is cut into m tiles, too, down to
 * `tile_min_size`. If there is only one piece, consecutive
 * chunks travel together, as one long chunk. So a step may have more chunks than a ring has slots,
 * if calls are known to have chunks no larger than a tile.
 *
 * Waits between threads are notifications between their PEs, counted: in each piece, a thread is
 * notified of each step that it waits for once, in the order of that thread's steps.
 *
 * Reaching. A schedule that reaches (schedule.h) has no queues: its threads load and store in the
 * memories of homes, their own rank's and others', in tiles of schedule_reach_bytes(). Its steps
 * move whole chunks, unless these are of 4 GiB and more.
 *
 * Const once made; shared by all threads of the simulator.
 */
#ifndef COLLECTIVES_SCHEDULE_PROGRAM_H
#define COLLECTIVES_SCHEDULE_PROGRAM_H

#include "collectives/schedule/schedule.h"

enum program_flag {
    PROGRAM_EARLY = 1,       /* its sources may be loaded while the step before it is carried out */
    PROGRAM_TREE = 4,        /* its message goes through switches that reduce: */
    PROGRAM_NO_SOURCE = 8,   /* an empty part of it; */
    PROGRAM_NOT_WANTED = 16, /* and the rank does not want it */
    PROGRAM_TOGETHER = 2 /* its values are as long as chunks of a block that follow each other, so
                            small ones travel together */
};

/* A step of a thread, ready to be carried out. */
struct program_step {
    uint8_t op;                     /* enum schedule_op */
    uint8_t send_dir, recv_dir;     /* enum hw_dir */
    uint8_t flags;                  /* enum program_flag */
    uint8_t src_buffer, dst_buffer; /* enum schedule_buffer */
    uint8_t fused; /* this many steps, this one being the first, are carried out as one, tile by
                      tile: reductions of several sources into one place, or steps that continue
                      with a value (schedule.h, `joined`) */
    uint8_t reserved;
    uint16_t count; /* chunks */
    uint16_t wait_count, notify_count;
    uint16_t reserved_too;
    uint32_t src, dst; /* the first chunk; of a step that reaches, src or dst, and in the other the
                          rank whose chunks they are: its place in program.rank[] */
    uint32_t size_first; /* program_rank.size[]: for each chunk, the chunk that it is as long as */
    uint32_t wait_first; /* program_rank.wait[] */
    uint32_t notify_first; /* program_rank.notify[] */
};

/* Notifications to wait for before a step: this many from that PE. */
struct program_wait {
    uint32_t pe, times; /* pe: global index */
};

/* A queue between two threads. */
struct program_link {
    uint32_t peer_rank;
    uint16_t peer_thread;
    bool sends, receives;
    uint8_t tree; /* of a link to itself: of switches that reduce */
};

struct program_thread {
    uint32_t step_first, step_count; /* program_rank.step[] */
    uint32_t link_first, link_count; /* program_rank.link[] */
};

struct program_rank {
    struct program_thread *thread;
    struct program_step *step;
    struct program_link *link;
    uint32_t *size;
    struct program_wait *wait;
    uint32_t *notify; /* PEs: global indices */
    uint32_t thread_count;
    uint32_t first_pe;    /* of its PEs: global index */
    uint32_t first_place; /* of its places */
};

struct schedule_program {
    const struct schedule *schedule;
    uint32_t lanes;                    /* of each SIP; 0: each rank has one shard */
    uint32_t lanes_apart;              /* PEs from a lane to the next */
    uint32_t pes_of_sip, pes_of_rank;  /* those that the ranks have (struct ccl_ranks) */
    uint32_t blocks[SCHEDULE_BUFFERS]; /* of each buffer: schedule.h, "Parts" */
    uint32_t
        chunks[SCHEDULE_BUFFERS]; /* of a block, as the kernel sees it: in a lane, of its part */
    bool reaches;                 /* as the schedule */
    uint32_t piece_tiles;         /* m */
    uint32_t exact_piece_tiles;   /* with coarse tiles: m without them; else m */
    uint32_t tile_bytes;          /* of a full tile at most */
    uint32_t tile_min_bytes;      /* of a message that is smaller than a piece; 0: full tiles */
    uint32_t exact_tile_bytes;    /* the same without coarse tiles */
    uint64_t most_bytes;          /* of a call's shard: rings may fill up forever with more */
    uint32_t peers;               /* most PEs with which one exchanges notifications */
    uint32_t rings; /* of places only: the most of any PE; otherwise the wiring knows */
    uint32_t rank_count;
    struct program_rank *rank; /* [rank_count] as in the schedule */
    const struct hw_config *hw;
    const struct ccl_ranks *ranks;
};

struct program_request {
    const struct schedule *schedule; /* outlives the program; checked (schedule_check.h) */
    const struct hw_config *hw;
    const struct ccl_config *ccl;
    uint32_t lanes, lanes_apart; /* as above */
    bool places_only; /* a program with places and memory only: no steps, no queues. So is the
                         program of a sketch */
};
/* NULL: CW_USAGE, the schedule does not fit the machine; CW_NO_RESOURCE. */
struct schedule_program *schedule_program_create(const struct program_request *request,
                                                 struct cw_error *error);
void schedule_program_free(struct schedule_program *program); /* accepts NULL */

/* Bytes of a tile of a schedule that reaches. The more, the less its threads wait for answers. */
uint32_t schedule_reach_bytes(const struct hw_config *hw, const struct ccl_config *ccl);

/* For struct lp_wiring_request: the PEs that carry out threads, rank by rank, in order of thread or
 * lane. Writes their global indices, if pe is not NULL; returns how many there are. */
uint32_t schedule_program_places(const struct schedule_program *program, uint32_t *pe);
/* The queues of one of them, which lead to others. */
void schedule_program_neighbours(const struct schedule_program *program, uint32_t place,
                                 struct lp_neighbours *out);
/* Takes the directions that the wiring has given the queues. */
void schedule_program_take_directions(struct schedule_program *program,
                                      const struct lp_wiring *wiring);
/* Where input and output are (schedule.h, in_place): in buffers of their own; the same; the input
 * in the output, at the rank's block; the reverse. */
enum program_layout { PROGRAM_APART, PROGRAM_SAME, PROGRAM_INPUT_INSIDE, PROGRAM_OUTPUT_INSIDE };
static inline enum program_layout schedule_program_layout(const struct schedule_program *program)
{
    const uint32_t in = program->blocks[SCHEDULE_INPUT], out = program->blocks[SCHEDULE_OUTPUT];
    return !program->schedule->in_place ? PROGRAM_APART
           : in < out                   ? PROGRAM_INPUT_INSIDE
           : out < in                   ? PROGRAM_OUTPUT_INSIDE
                                        : PROGRAM_SAME;
}
/* The place in rank[] of the schedule's rank that a PE belongs to, by the process group's rank and
 * the PE's number in the SIP. */
static inline uint32_t schedule_program_rank(const struct schedule_program *program,
                                             uint32_t group_rank, uint32_t pe_of_sip)
{
    const uint32_t members = program->schedule->members;
    const uint32_t first = schedule_place_of(program->schedule, group_rank * members);
    return members == 1 ? first
                        : first + (pe_of_sip - program->ranks->first_pe) / program->pes_of_rank;
}
/* The thread of that rank that the PE carries out; UINT32_MAX: it carries out none. */
uint32_t schedule_program_thread(const struct schedule_program *program, uint32_t group_rank,
                                 uint32_t pe_of_sip);

/* The PEs, global indices in ascending order, that hold the shards of a rank of the process group:
 * one for each member, or one for each lane. Returns how many: at most the PEs of a SIP. */
uint32_t schedule_program_homes(const struct schedule_program *program, uint32_t group_rank,
                                uint32_t *pe);

/* Elements of a block, of a whole chunk of it, and of the chunk that is `chunk`-th in its block, of
 * a call with this many elements in a shard of the input. */
static inline uint64_t program_block_elems(const struct schedule_program *program, uint64_t n_elem)
{
    return n_elem / program->blocks[SCHEDULE_INPUT];
}
static inline uint64_t program_chunk_elems(const struct schedule_program *program, uint64_t n_elem)
{
    const uint32_t chunks = program->chunks[SCHEDULE_INPUT];
    return (program_block_elems(program, n_elem) + chunks - 1) / chunks;
}

/* Tiles of a piece, of which rings take `tiles` without filling up forever. */
static inline uint32_t program_piece_tiles(const struct ccl_config *ccl, uint32_t tiles)
{
    const uint32_t most = ccl->piece_bytes / lp_tile_bytes(&ccl->queues);
    return ccl->piece_bytes == 0 || tiles <= most ? tiles : most > 0 ? most : 1;
}
/* Elements of a tile of a message of this many: a message that is smaller than a piece has as many
 * tiles as a piece, each of at least `least`; 0: full ones. */
static inline uint32_t program_tile_elems(uint64_t message, uint32_t piece_tiles, uint32_t full,
                                          uint32_t least)
{
    const uint64_t share = (message + piece_tiles - 1) / piece_tiles;
    return least == 0 || least >= full || share >= full ? full
           : share > least                              ? (uint32_t)share
                                                        : least;
}

/* Bytes of scratch of a rank, in each PE that has a shard, for a call: its chunks, and after them
 * the input, where a call in place runs a schedule whose input is apart. */
uint64_t schedule_program_scratch(const struct schedule_program *program,
                                  const struct ccl_call *call);

#endif
