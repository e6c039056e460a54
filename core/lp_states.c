/*
 * lp_states.c: see lp_states.h. Small blocks are rounded up to a power of two, so that none
 * straddles a cache line needlessly, and large ones to whole lines.
 */
#include "core/lp_states.h"

#include <string.h>

enum { LINE_BYTES = 64 };

static size_t lp_states_block_bytes(size_t state_bytes)
{
    const size_t bytes = sizeof(struct lp_block) + state_bytes;
    if (bytes > LINE_BYTES)
        return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    size_t power = sizeof(struct lp_block);
    while (power < bytes)
        power *= 2;
    return power;
}

/* Start of a block of `bytes` at or after `offset`: a power of two is aligned to itself. */
static size_t block_offset(size_t offset, size_t bytes)
{
    const size_t align = bytes < LINE_BYTES ? bytes : LINE_BYTES;
    return (offset + align - 1) / align * align;
}

/* Asks for each LP's size, and adds up the arena. */
static int lp_states_measure(struct lp_states *states, const struct cw_model *model, size_t *sizes,
                             struct cw_error *error)
{
    size_t total = 0;
    for (uint32_t lp = 0; lp < states->count; lp++) {
        sizes[lp] = model->state_bytes(model->data, lp);
        if (sizes[lp] > CW_STATE_BYTES_MAX || total > SIZE_MAX / 4) {
            sync_store_release(&states->memory->needed, UINT64_MAX); /* a figure for a message */
            return memory_error(states->memory, error);
        }
        const size_t bytes = lp_states_block_bytes(sizes[lp]);
        total = block_offset(total, bytes) + bytes;
        if (sizes[lp] > states->state_bytes_max)
            states->state_bytes_max = sizes[lp];
    }
    states->arena_bytes = total;
    return CW_OK;
}

static void lay_out(struct lp_states *states, const struct cw_model *model, const size_t *sizes)
{
    size_t offset = 0;
    for (uint32_t lp = 0; lp < states->count; lp++) {
        const size_t bytes = lp_states_block_bytes(sizes[lp]);
        offset = block_offset(offset, bytes);
        struct lp_block *const block = (struct lp_block *)(void *)(states->arena + offset);
        offset += bytes;
        block->state_bytes = sizes[lp];
        states->blocks[lp] = block;
        model->init(model->data, lp, block->state);
    }
}

static int lp_states_allocate(struct lp_states *states, struct cw_error *error)
{
    states->blocks = memory_take(states->memory, states->count * sizeof(struct lp_block *));
    if (states->blocks == NULL)
        return memory_error(states->memory, error);
    states->arena = memory_take(states->memory, states->arena_bytes);
    return states->arena == NULL ? memory_error(states->memory, error) : CW_OK;
}

int lp_states_create(struct lp_states *states, struct memory *memory, const struct cw_model *model,
                     struct cw_error *error)
{
    *states = (struct lp_states){.memory = memory, .count = model->lp_count};
    const size_t sizes_bytes = (size_t)states->count * sizeof(size_t);
    size_t *const sizes = memory_take(memory, sizes_bytes);
    if (sizes == NULL)
        return memory_error(memory, error);
    int result = lp_states_measure(states, model, sizes, error);
    if (result == CW_OK)
        result = lp_states_allocate(states, error);
    if (result == CW_OK)
        lay_out(states, model, sizes);
    memory_give(memory, sizes, sizes_bytes);
    return result;
}

void lp_states_free(struct lp_states *states)
{
    if (states->memory == NULL)
        return;
    memory_give(states->memory, states->blocks, states->count * sizeof(struct lp_block *));
    memory_give(states->memory, states->arena, states->arena_bytes);
    memory_give(states->memory, states->other, states->arena_bytes);
}

bool lp_states_make_movable(struct lp_states *states)
{
    states->other = memory_take(states->memory, states->arena_bytes);
    if (states->other != NULL)
        MEMORY_POISON(states->other, states->arena_bytes);
    return states->other != NULL;
}

void lp_states_move(struct lp_states *states, uint32_t lp)
{
    struct lp_block *const old = states->blocks[lp];
    const size_t bytes = lp_states_block_bytes(old->state_bytes);
    const size_t offset = (size_t)((uintptr_t)old - (uintptr_t)states->arena);
    uint8_t *const to = offset < states->arena_bytes
                            ? states->other + offset
                            : states->arena + ((uintptr_t)old - (uintptr_t)states->other);
    MEMORY_UNPOISON(to, bytes);
    memcpy(to, old, bytes);
    memset(old, LP_STATES_STALE, bytes);
    MEMORY_POISON(old, bytes);
    states->blocks[lp] = (struct lp_block *)(void *)to;
}
