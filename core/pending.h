/*
 * pending.h: a worker's pending set: the events it has yet to handle, least first.
 */
#ifndef CORE_PENDING_H
#define CORE_PENDING_H

#include "core/event.h"
#include "core/memory.h"

struct pending {
    struct memory *memory;
    struct entry *heap;
    size_t count, capacity;
};

void pending_init(struct pending *pending, struct memory *memory);
void pending_free(struct pending *pending);
/* False: out of memory. */
bool pending_push(struct pending *pending, struct entry entry);
/* The least entry; NULL if there is none. */
const struct entry *pending_peek(struct pending *pending);
/* Removes what pending_peek() showed. */
void pending_pop(struct pending *pending);

#endif
