/*
 * overflow_heap.c: a 4-ary heap in an array (overflow_heap.h).
 */
#include "core/queue/overflow_heap.h"

#include "core/invariant.h"

enum { CHILDREN = 4, HEAP_CAPACITY_MIN = 256 };

void overflow_heap_init(struct overflow_heap *heap, struct memory *memory)
{
    *heap = (struct overflow_heap){.memory = memory};
}

void overflow_heap_free(struct overflow_heap *heap)
{
    memory_give(heap->memory, heap->entries, heap->capacity * sizeof *heap->entries);
}

bool overflow_heap_push(struct overflow_heap *heap, const struct entry *entry)
{
    if (!memory_grow(heap->memory, &heap->entries, &heap->capacity, heap->count, heap->count + 1,
                     sizeof *heap->entries, HEAP_CAPACITY_MIN))
        return false;
    struct entry *const entries = heap->entries;
    size_t at = heap->count++;
    while (at > 0) {
        const size_t parent = (at - 1) / CHILDREN;
        if (!entry_before(entry, &entries[parent]))
            break;
        entries[at] = entries[parent];
        at = parent;
    }
    entries[at] = *entry;
    CW_INVARIANT("I-ORDER-1", heap->count == 1 || !entry_before(&entries[heap->count - 1], entries),
                 "the heap's last entry, at %lld ps, is before its first, at %lld ps",
                 (long long)entries[heap->count - 1].time_ps, (long long)entries[0].time_ps);
    return true;
}

void overflow_heap_trim(struct overflow_heap *heap)
{
    if (heap->count > 0)
        return;
    overflow_heap_free(heap);
    heap->entries = NULL;
    heap->capacity = 0;
}

void overflow_heap_pop(struct overflow_heap *heap)
{
    struct entry *const entries = heap->entries;
    const size_t count = --heap->count;
    const struct entry moved = entries[count];
    size_t at = 0;
    for (size_t child = 1; child < count; child = CHILDREN * at + 1) {
        const size_t end = child + CHILDREN < count ? child + CHILDREN : count;
        for (size_t other = child + 1; other < end; other++)
            if (entry_before(&entries[other], &entries[child]))
                child = other;
        if (!entry_before(&entries[child], &moved))
            break;
        entries[at] = entries[child];
        at = child;
    }
    entries[at] = moved;
    for (size_t child = 1; child < count && child <= CHILDREN; child++)
        CW_INVARIANT("I-ORDER-1", !entry_before(&entries[child], entries),
                     "an entry at %lld ps is below one at %lld ps in a heap of %zu",
                     (long long)entries[child].time_ps, (long long)entries[0].time_ps, count);
}
