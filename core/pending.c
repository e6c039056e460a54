/*
 * pending.c: see pending.h.
 */
#include "core/pending.h"

#include <string.h>

void pending_init(struct pending *pending, struct memory *memory)
{
    *pending = (struct pending){.memory = memory};
}

void pending_free(struct pending *pending)
{
    memory_give(pending->memory, pending->heap, pending->capacity * sizeof *pending->heap);
}

bool pending_push(struct pending *pending, struct entry entry)
{
    if (pending->count == pending->capacity) {
        const size_t capacity = pending->capacity == 0 ? 1024 : 2 * pending->capacity;
        struct entry *const heap = memory_take(pending->memory, capacity * sizeof *heap);
        if (heap == NULL)
            return false;
        if (pending->count > 0)
            memcpy(heap, pending->heap, pending->count * sizeof *heap);
        pending_free(pending);
        pending->heap = heap;
        pending->capacity = capacity;
    }
    size_t at = pending->count++;
    for (; at > 0; at = (at - 1) / 2) {
        if (!entry_before(&entry, &pending->heap[(at - 1) / 2]))
            break;
        pending->heap[at] = pending->heap[(at - 1) / 2];
    }
    pending->heap[at] = entry;
    return true;
}

const struct entry *pending_peek(struct pending *pending)
{
    return pending->count > 0 ? pending->heap : NULL;
}

void pending_pop(struct pending *pending)
{
    struct entry *const heap = pending->heap;
    const struct entry last = heap[--pending->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= pending->count)
            break;
        if (child + 1 < pending->count && entry_before(&heap[child + 1], &heap[child]))
            child++;
        if (!entry_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}
