/*
 * schedule_messages.h: calls whose blocks have sizes of their own, on the queues of an all-to-all
 * whose schedule is direct (schedule.h): an all-to-all with a size for each pair of ranks, and
 * sends and receives, which are an all-to-all in which most pairs are empty.
 *
 * A call lists, for a rank, the messages that it sends and those that it receives. The messages
 * from one rank to another are in one order at both ends, and agree in elements and type; the host
 * has checked that. Each is cut into the chunks of a block, one for each step of the pair, and
 * goes by pieces (schedule_program.h): in piece p a step moves the tiles of piece p of its pair, of
 * one message at most. Both ends number the pieces of a call alike, from the sizes alone. A step
 * without elements in a piece does nothing, and a thread without elements is not launched.
 *
 * Ranks that send and receive call as they like: what one receives may depend on what another has
 * received from it before. So a thread that does both has a stream for what it receives.
 *
 * Const while the kernel runs.
 */
#ifndef COLLECTIVES_SCHEDULE_MESSAGES_H
#define COLLECTIVES_SCHEDULE_MESSAGES_H

#include "collectives/schedule/schedule_program.h"

struct schedule_message {
    uint32_t peer;        /* rank; the rank itself: what it sends is copied to what it receives */
    uint32_t number;      /* in the call: messages of one peer are in this order */
    uint32_t first_piece; /* of its pieces */
    bool laid;            /* it has its pieces: schedule_messages_lay() */
    enum lp_dtype dtype;  /* not read of a message without elements */
    uint64_t elems;       /* of each shard; may be 0 */
    uint64_t va, pa;      /* of its first element: the same on each PE that holds a shard */
};

struct schedule_messages {
    struct schedule_message *send, *receive; /* laid: ascending by peer, then number */
    uint32_t send_count, receive_count;
    uint32_t pieces; /* of the pair that has most */
    bool apart;      /* what a thread sends does not wait for what it receives, nor the reverse */
};

/* Sorts the messages, and numbers the pieces of those that are new: after all pieces of those that
 * were laid before, so that the calls of a rank are carried out in their order. */
void schedule_messages_lay(const struct schedule_program *program,
                           struct schedule_messages *messages);
/* What a thread of a rank has to move, as a set; 0: nothing. */
enum schedule_ways { SCHEDULE_SENDS = 1, SCHEDULE_RECEIVES = 2 };
uint32_t schedule_messages_ways(const struct schedule_messages *messages,
                                const struct schedule_program *program, uint32_t rank,
                                uint32_t thread);

/* ---- for the kernel -------------------------------------------------------------------------- */

/* The rank at the other end of a step. */
static inline uint32_t schedule_message_peer(const struct schedule_program *program,
                                             const struct program_step *step)
{
    return (step->op == SCHEDULE_RECV ? step->dst : step->src) / program->chunks[SCHEDULE_INPUT];
}
/* The elements of a message that are a step's chunk. */
static inline struct schedule_span schedule_message_span(const struct schedule_program *program,
                                                         const struct schedule_message *message,
                                                         const struct program_step *step)
{
    const uint32_t chunks = program->chunks[SCHEDULE_INPUT];
    return schedule_span(message->elems, chunks,
                         (step->op == SCHEDULE_RECV ? step->dst : step->src) % chunks);
}
/* Of laid messages: the one that has this piece of a pair, or the last before it. NULL: the pair
 * has none. */
const struct schedule_message *schedule_message_find(const struct schedule_message *list,
                                                     uint32_t count, uint32_t peer, uint32_t piece);

#endif
