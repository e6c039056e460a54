/*
 * lp_states.c: see lp_states.h. Small blocks are rounded up to a power of two, so that none
 * straddles a cache line needlessly, and large ones to whole lines.
 */
#include "core/lp_states.h"

#include <string.h>

#include "core/host/pages.h"

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

static size_t sizes_bytes(const struct lp_states *states)
{
    return states->count * sizeof *states->sizes;
}

/* Asks for each LP's size, and adds up the arena. */
static int lp_states_measure(struct lp_states *states, const struct cw_model *model,
                             struct cw_error *error)
{
    size_t total = 0;
    for (uint32_t lp = 0; lp < states->count; lp++) {
        const size_t state_bytes = model->state_bytes(model->data, lp);
        if (state_bytes > CW_STATE_BYTES_MAX || total > SIZE_MAX / 4) {
            sync_store_release(&states->memory->needed, UINT64_MAX); /* a figure for a message */
            return memory_error(states->memory, error);
        }
        states->sizes[lp] = (uint32_t)state_bytes;
        const size_t bytes = lp_states_block_bytes(state_bytes);
        total = block_offset(total, bytes) + bytes;
        if (state_bytes > states->state_bytes_max)
            states->state_bytes_max = state_bytes;
    }
    states->arena_bytes = total;
    return CW_OK;
}

/* Where each block is. The arena itself stays untouched, so that it is not in memory yet. */
static void lay_out(struct lp_states *states)
{
    size_t offset = 0;
    for (uint32_t lp = 0; lp < states->count; lp++) {
        const size_t bytes = lp_states_block_bytes(states->sizes[lp]);
        offset = block_offset(offset, bytes);
        states->blocks[lp] = (struct lp_block *)(void *)(states->arena + offset);
        offset += bytes;
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
    states->sizes = memory_take(memory, sizes_bytes(states));
    if (states->sizes == NULL)
        return memory_error(memory, error);
    int result = lp_states_measure(states, model, error);
    if (result == CW_OK)
        result = lp_states_allocate(states, error);
    if (result == CW_OK)
        lay_out(states);
    return result;
}

void lp_states_init(struct lp_states *states, const struct cw_model *model,
                    const uint32_t *lp_worker, uint32_t worker)
{
    for (uint32_t lp = 0; lp < states->count; lp++) {
        if (lp_worker != NULL && lp_worker[lp] != worker)
            continue;
        struct lp_block *const block = states->blocks[lp];
        block->state_bytes = states->sizes[lp];
        model->init(model->data, lp, block->state);
    }
}

void lp_states_ready(struct lp_states *states)
{
    memory_give(states->memory, states->sizes, sizes_bytes(states));
    states->sizes = NULL;
}

void lp_states_drop(struct lp_states *states, uint32_t part, uint32_t parts)
{
    const size_t pages = states->arena_bytes / PAGES_HUGE_BYTES;
    const size_t begin = pages * part / parts * PAGES_HUGE_BYTES;
    const size_t end = pages * (part + 1) / parts * PAGES_HUGE_BYTES;
    pages_drop(states->arena + begin, end - begin);
}

void lp_states_free(struct lp_states *states)
{
    if (states->memory == NULL)
        return;
    lp_states_ready(states);
    memory_give(states->memory, states->blocks, states->count * sizeof(struct lp_block *));
    memory_give(states->memory, states->arena, states->arena_bytes);
    memory_give(states->memory, states->other, states->arena_bytes);
}

/* The place of a block in the arena, or the same one in the other arena. */
static size_t place_of(const struct lp_states *states, const struct lp_block *block)
{
    const size_t offset = (size_t)((uintptr_t)block - (uintptr_t)states->arena);
    return offset < states->arena_bytes ? offset
                                        : (size_t)((uintptr_t)block - (uintptr_t)states->other);
}

void lp_states_save(const struct lp_states *states, const uint32_t *lp_worker, uint32_t worker,
                    uint8_t *to)
{
    for (uint32_t lp = 0; lp < states->count; lp++) {
        const struct lp_block *const block = states->blocks[lp];
        if (lp_worker == NULL || lp_worker[lp] == worker)
            memcpy(to + place_of(states, block), block, sizeof *block + block->state_bytes);
    }
}

void lp_states_load(struct lp_states *states, const uint32_t *lp_worker, uint32_t worker,
                    const uint8_t *from)
{
    for (uint32_t lp = 0; lp < states->count; lp++) {
        struct lp_block *const block = states->blocks[lp];
        if (lp_worker == NULL || lp_worker[lp] == worker)
            memcpy(block, from + place_of(states, block), sizeof *block + block->state_bytes);
    }
}

bool lp_states_are_alike(const struct lp_states *states, const uint8_t *saved, size_t bytes)
{
    bool are_alike = bytes == states->arena_bytes;
    for (uint32_t lp = 0; lp < states->count && are_alike; lp++) {
        const struct lp_block *const block = states->blocks[lp];
        const struct lp_block *const other =
            (const struct lp_block *)(const void *)(saved + place_of(states, block));
        are_alike = other->state_bytes == block->state_bytes;
    }
    return are_alike;
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
    const size_t place = place_of(states, old);
    uint8_t *const to =
        (uint8_t *)old == states->arena + place ? states->other + place : states->arena + place;
    MEMORY_UNPOISON(to, bytes);
    memcpy(to, old, bytes);
    memset(old, LP_STATES_STALE, bytes);
    MEMORY_POISON(old, bytes);
    states->blocks[lp] = (struct lp_block *)(void *)to;
}
