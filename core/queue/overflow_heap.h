/*
 * overflow_heap.h: a heap of entries, for events that arrive at or before the pending set's current
 * bucket.
 *
 * It is small as a rule: it receives only sends with a delay below a bucket's width, and events
 * that were rolled back. A node has four children, so that a step down reads two cache lines and
 * the heap is half as deep.
 *
 * One worker owns it; no other thread enters.
 */
#ifndef CORE_OVERFLOW_HEAP_H
#define CORE_OVERFLOW_HEAP_H

#include "core/queue/event.h"
#include "core/os/memory.h"

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
/* Gives the memory of an empty heap back. */
void overflow_heap_trim(struct overflow_heap *heap);
void overflow_heap_pop(struct overflow_heap *heap);

#endif
