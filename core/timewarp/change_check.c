/*
 * change_check.c: see change_check.h.
 */
#include "core/timewarp/change_check.h"

#include <string.h>

void change_check_init(struct change_check *undo, struct memory *memory)
{
    *undo = (struct change_check){.memory = memory};
}

void change_check_free(struct change_check *undo)
{
    memory_give(undo->memory, undo->parts, undo->capacity * sizeof *undo->parts);
    memory_give(undo->memory, undo->before, undo->before_bytes);
}

bool change_check_reserve(struct change_check *undo, size_t state_bytes_max)
{
    undo->before = memory_take(undo->memory, state_bytes_max);
    undo->before_bytes = state_bytes_max;
    return undo->before != NULL;
}

void change_check_begin(struct change_check *undo, const uint8_t *state, size_t state_bytes)
{
    undo->count = 0;
    memcpy(undo->before, state, state_bytes);
}

bool change_check_keep(struct change_check *undo, size_t offset, size_t bytes)
{
    if (undo->count == undo->capacity) {
        const size_t capacity = undo->capacity == 0 ? 64 : 2 * undo->capacity;
        struct asked_part *const parts = memory_take(undo->memory, capacity * sizeof *parts);
        if (parts == NULL)
            return false;
        if (undo->count > 0)
            memcpy(parts, undo->parts, undo->count * sizeof *parts);
        memory_give(undo->memory, undo->parts, undo->capacity * sizeof *parts);
        undo->parts = parts;
        undo->capacity = capacity;
    }
    undo->parts[undo->count++] = (struct asked_part){.offset = offset, .bytes = bytes};
    return true;
}

size_t change_check_first_unasked(struct change_check *undo, const uint8_t *state,
                                  size_t state_bytes)
{
    /* What was asked for may differ, so it is made equal; then all of it must be. */
    for (size_t i = 0; i < undo->count; i++)
        memcpy(undo->before + undo->parts[i].offset, state + undo->parts[i].offset,
               undo->parts[i].bytes);
    if (memcmp(undo->before, state, state_bytes) == 0)
        return CHANGE_CHECK_OK;
    size_t offset = 0;
    while (undo->before[offset] == state[offset])
        offset++;
    return offset;
}
