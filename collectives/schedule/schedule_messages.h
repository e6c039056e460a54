/*
 * schedule_messages.h: calls whose blocks have sizes of their own, on the queues of an all-to-all
 * whose schedule is direct (schedule.h): an all-to-all with a size for each pair of ranks, and
 * sends and receives, which are an all-to-all in which most pairs are empty.
 *
 * A call lists, for a rank, the messages that it sends and those that it receives. The messages
 * from one rank to another are in one order at both ends, and agree in elements and type; the host
 * has checked that. Each is cut into the chunks of a block, one for each step of the pair, and
 * goes by pieces (schedule_program.h): in piece p a step moves the tiles of piece p of its pair, of
 * one message at most. Both ends number the pieces of a pair alike, from the sizes alone. A step
 * without elements in a piece does nothing, and a thread without elements is not launched.
 *
 * Const while the kernel runs.
 */
#ifndef COLLECTIVES_SCHEDULE_MESSAGES_H
#define COLLECTIVES_SCHEDULE_MESSAGES_H

#include "collectives/schedule/schedule_program.h"

struct schedule_message {
    uint32_t peer;        /* rank; the rank itself: what it sends is copied to what it receives */
    uint32_t number;      /* in the call: messages of one peer are in this order */
    uint32_t first_piece; /* of the pieces of its pair; schedule_messages_lay() */
    enum lp_dtype dtype;  /* not read of a message without elements */
    uint64_t elems;       /* of each shard; may be 0 */
    uint64_t va, pa;      /* of its first element: the same on each PE that holds a shard */
};

struct schedule_messages {
    struct schedule_message *send, *receive; /* laid: ascending by peer, then number */
    uint32_t send_count, receive_count;
    uint32_t pieces; /* of the pair that has most */
};

/* Sorts the messages, and numbers their pieces. */
void schedule_messages_lay(const struct schedule_program *program,
                           struct schedule_messages *messages);
/* The thread of a rank has something to move. */
bool schedule_messages_need(const struct schedule_messages *messages,
                            const struct schedule_program *program, uint32_t rank, uint32_t thread);

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
