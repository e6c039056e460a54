/*
 * change_check.c: compares a state with its copy from before the handler (change_check.h).
 */
#include "core/worker/change_check.h"

#include <string.h>

enum { PARTS_MIN = 64 };

void change_check_init(struct change_check *check, struct memory *memory)
{
    *check = (struct change_check){.memory = memory};
}

void change_check_free(struct change_check *check)
{
    memory_give(check->memory, check->parts, check->capacity * sizeof *check->parts);
    memory_give(check->memory, check->before, check->before_bytes);
}

bool change_check_reserve(struct change_check *check, size_t state_bytes_max)
{
    check->before = memory_take(check->memory, state_bytes_max);
    check->before_bytes = state_bytes_max;
    return check->before != NULL;
}

void change_check_begin(struct change_check *check, const uint8_t *state, size_t state_bytes)
{
    check->count = 0;
    memcpy(check->before, state, state_bytes);
}

bool change_check_ask(struct change_check *check, size_t offset, size_t bytes)
{
    if (!memory_grow(check->memory, &check->parts, &check->capacity, check->count, check->count + 1,
                     sizeof *check->parts, PARTS_MIN))
        return false;
    check->parts[check->count++] = (struct asked_part){.offset = offset, .bytes = bytes};
    return true;
}

size_t change_check_first_unasked(struct change_check *check, const uint8_t *state,
                                  size_t state_bytes)
{
    /* The parts asked for may differ, so they are made equal. Then all of the state must be. */
    for (size_t i = 0; i < check->count; i++)
        memcpy(check->before + check->parts[i].offset, state + check->parts[i].offset,
               check->parts[i].bytes);
    if (memcmp(check->before, state, state_bytes) == 0)
        return CHANGE_CHECK_OK;
    size_t offset = 0;
    while (check->before[offset] == state[offset])
        offset++;
    return offset;
}
