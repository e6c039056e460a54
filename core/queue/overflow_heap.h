/*
 * overflow_heap.h: a heap of entries: what arrives at or behind the pending set's current bucket.
 *
 * Small as a rule: only sends with a delay below a bucket's width land here, and in later modes
 * rolled-back events. Four children to a node, so that a step down reads two cache lines and the
 * heap is half as deep.
 */
#ifndef CORE_OVERFLOW_HEAP_H
#define CORE_OVERFLOW_HEAP_H

#include "core/event.h"
#include "core/memory/memory.h"

struct overflow_heap {
    struct entry *entries; /* entries[0] is the least */
    size_t count, capacity;
    struct memory *memory;
};

void overflow_heap_init(struct overflow_heap *heap, struct memory *memory);
void overflow_heap_free(struct overflow_heap *heap);
/* False: out of memory. */
bool overflow_heap_push(struct overflow_heap *heap, const struct entry *entry);
/* Removes the least of a heap that is not empty. */
void overflow_heap_pop(struct overflow_heap *heap);

#endif
