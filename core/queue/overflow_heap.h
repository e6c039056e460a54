/*
 * overflow_heap.h: a heap of entries: what arrives at or behind the pending set's current bucket.
 *
 * Small as a rule: only sends with a delay below a bucket's width land here, and in later modes
 * rolled-back events. Four children to a node, so that a step down reads two cache lines and the
 * heap is half as deep.
 */
#ifndef CORE_LATE_H
#define CORE_LATE_H

#include "core/event.h"
#include "core/memory/memory.h"

struct late {
    struct entry *entries; /* entries[0] is the least */
    size_t count, capacity;
    struct memory *memory;
};

void late_init(struct late *late, struct memory *memory);
void late_free(struct late *late);
/* False: out of memory. */
bool late_push(struct late *late, const struct entry *entry);
/* Removes the least of a heap that is not empty. */
void late_pop(struct late *late);

#endif
