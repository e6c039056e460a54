/*
 * schedule_messages.c: puts the messages of a call in order, and numbers their pieces
 * (schedule_messages.h). Pure, but for the lists that are laid.
 */
#include "collectives/schedule/schedule_messages.h"

#include <stdlib.h>

static int by_peer(const void *a, const void *b)
{
    const struct schedule_message *const x = a, *const y = b;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Pieces of a message: those of its longest chunk. */
static uint32_t pieces_of(const struct schedule_program *program,
                          const struct schedule_message *message)
{
    if (message->elems == 0)
        return 0;
    const uint64_t longest =
        schedule_span(message->elems, program->chunks[SCHEDULE_INPUT], 0).count;
    const uint64_t of_piece =
        (uint64_t)program->piece_tiles * (program->tile_bytes / tl_itemsize(message->dtype));
    return (uint32_t)((longest + of_piece - 1) / of_piece);
}

/* Gives new messages pieces from `first` on. Returns the end of all pieces. */
static uint32_t lay_list(const struct schedule_program *program, struct schedule_message *list,
                         uint32_t count, uint32_t first)
{
    uint32_t most = first, pieces = first;
    if (count > 0)
        qsort(list, count, sizeof *list, by_peer);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || list[i].peer != list[i - 1].peer)
            pieces = first;
        if (list[i].laid)
            continue;
        list[i].laid = true;
        list[i].first_piece = pieces;
        pieces += pieces_of(program, &list[i]);
        most = pieces > most ? pieces : most;
    }
    return most;
}

void schedule_messages_lay(const struct schedule_program *program,
                           struct schedule_messages *messages)
{
    const uint32_t first = messages->pieces;
    const uint32_t sent = lay_list(program, messages->send, messages->send_count, first);
    const uint32_t received = lay_list(program, messages->receive, messages->receive_count, first);
    messages->pieces = sent > received ? sent : received;
}

const struct schedule_message *schedule_message_find(const struct schedule_message *list,
                                                     uint32_t count, uint32_t peer, uint32_t piece)
{
    uint32_t first = 0, end = count; /* all before `first` are that early, none from `end` on is */
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        const struct schedule_message *const at = &list[middle];
        if (at->peer < peer || (at->peer == peer && at->first_piece <= piece))
            first = middle + 1;
        else
            end = middle;
    }
    return first > 0 && list[first - 1].peer == peer ? &list[first - 1] : NULL;
}

/* Some message of a list has elements for a step. */
static bool has_elems(const struct schedule_program *program, const struct schedule_message *list,
                      uint32_t count, const struct program_step *step)
{
    const uint32_t peer = schedule_message_peer(program, step);
    const struct schedule_message *at = schedule_message_find(list, count, peer, UINT32_MAX);
    for (; at != NULL && at >= list && at->peer == peer; at--)
        if (schedule_message_span(program, at, step).count > 0)
            return true;
    return false;
}

uint32_t schedule_messages_ways(const struct schedule_messages *messages,
                                const struct schedule_program *program, uint32_t rank,
                                uint32_t thread)
{
    const struct program_rank *const own = &program->rank[rank];
    uint32_t ways = 0;
    for (uint32_t k = 0; k < own->thread[thread].step_count; k++) {
        const struct program_step *const step = &own->step[own->thread[thread].step_first + k];
        const bool receives = step->op == SCHEDULE_RECV;
        if (has_elems(program, receives ? messages->receive : messages->send,
                      receives ? messages->receive_count : messages->send_count, step))
            ways |= receives ? SCHEDULE_RECEIVES : SCHEDULE_SENDS;
    }
    return ways;
}
