/*
 * cost_turns.h: those that can continue in an estimate, the earliest first, by number where times
 * are equal. A binary heap in an array that the caller has room for.
 */
#ifndef COLLECTIVES_COST_TURNS_H
#define COLLECTIVES_COST_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct cost_turn {
    int64_t ps;
    uint32_t number;
};

struct cost_turns {
    struct cost_turn *at; /* [count] */
    uint32_t count;
};

static inline bool cost_turn_before(struct cost_turn a, struct cost_turn b)
{
    return a.ps != b.ps ? a.ps < b.ps : a.number < b.number;
}

static inline void cost_turns_push(struct cost_turns *turns, struct cost_turn turn)
{
    uint32_t at = turns->count++;
    for (; at > 0 && cost_turn_before(turn, turns->at[(at - 1) / 2]); at = (at - 1) / 2)
        turns->at[at] = turns->at[(at - 1) / 2];
    turns->at[at] = turn;
}

/* There must be at least one. */
static inline struct cost_turn cost_turns_pop(struct cost_turns *turns)
{
    const struct cost_turn top = turns->at[0], last = turns->at[--turns->count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < turns->count; at = child) {
        if (child + 1 < turns->count && cost_turn_before(turns->at[child + 1], turns->at[child]))
            child++;
        if (!cost_turn_before(turns->at[child], last))
            break;
        turns->at[at] = turns->at[child];
    }
    turns->at[at] = last;
    return top;
}

#endif
