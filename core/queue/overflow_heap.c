/*
 * overflow_heap.c: see overflow_heap.h.
 */
#include "core/queue/overflow_heap.h"

#include <string.h>

enum { CHILDREN = 4, CAPACITY_MIN = 256 };

void late_init(struct late *late, struct memory *memory)
{
    *late = (struct late){.memory = memory};
}

void late_free(struct late *late)
{
    memory_give(late->memory, late->entries, late->capacity * sizeof *late->entries);
}

static bool overflow_heap_grow(struct late *late)
{
    const size_t capacity = late->capacity == 0 ? CAPACITY_MIN : 2 * late->capacity;
    struct entry *const entries = memory_take(late->memory, capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    if (late->count > 0)
        memcpy(entries, late->entries, late->count * sizeof *entries);
    late_free(late);
    late->entries = entries;
    late->capacity = capacity;
    return true;
}

bool late_push(struct late *late, const struct entry *entry)
{
    if (late->count == late->capacity && !overflow_heap_grow(late))
        return false;
    struct entry *const entries = late->entries;
    size_t at = late->count++;
    while (at > 0) {
        const size_t parent = (at - 1) / CHILDREN;
        if (!entry_before(entry, &entries[parent]))
            break;
        entries[at] = entries[parent];
        at = parent;
    }
    entries[at] = *entry;
    return true;
}

void late_pop(struct late *late)
{
    struct entry *const entries = late->entries;
    const size_t count = --late->count;
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
}
