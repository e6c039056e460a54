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
static int lp_states_measure(struct lps *lps, const struct cw_model *model, size_t *sizes,
                             struct cw_error *error)
{
    size_t total = 0;
    for (uint32_t lp = 0; lp < lps->count; lp++) {
        sizes[lp] = model->state_bytes(model->data, lp);
        if (sizes[lp] > CW_STATE_BYTES_MAX || total > SIZE_MAX / 4) {
            sync_store_release(&lps->memory->needed, UINT64_MAX); /* a figure for a message */
            return memory_error(lps->memory, error);
        }
        const size_t bytes = lp_states_block_bytes(sizes[lp]);
        total = block_offset(total, bytes) + bytes;
        if (sizes[lp] > lps->state_bytes_max)
            lps->state_bytes_max = sizes[lp];
    }
    lps->arena_bytes = total;
    return CW_OK;
}

static void lay_out(struct lps *lps, const struct cw_model *model, const size_t *sizes)
{
    size_t offset = 0;
    for (uint32_t lp = 0; lp < lps->count; lp++) {
        const size_t bytes = lp_states_block_bytes(sizes[lp]);
        offset = block_offset(offset, bytes);
        struct lp_block *const block = (struct lp_block *)(void *)(lps->arena + offset);
        offset += bytes;
        block->state_bytes = sizes[lp];
        lps->blocks[lp] = block;
        model->init(model->data, lp, block->state);
    }
}

static int lp_states_allocate(struct lps *lps, struct cw_error *error)
{
    lps->blocks = memory_take(lps->memory, lps->count * sizeof(struct lp_block *));
    if (lps->blocks == NULL)
        return memory_error(lps->memory, error);
    lps->arena = memory_take(lps->memory, lps->arena_bytes);
    return lps->arena == NULL ? memory_error(lps->memory, error) : CW_OK;
}

int lps_create(struct lps *lps, struct memory *memory, const struct cw_model *model,
               struct cw_error *error)
{
    *lps = (struct lps){.memory = memory, .count = model->lp_count};
    const size_t sizes_bytes = (size_t)lps->count * sizeof(size_t);
    size_t *const sizes = memory_take(memory, sizes_bytes);
    if (sizes == NULL)
        return memory_error(memory, error);
    int result = lp_states_measure(lps, model, sizes, error);
    if (result == CW_OK)
        result = lp_states_allocate(lps, error);
    if (result == CW_OK)
        lay_out(lps, model, sizes);
    memory_give(memory, sizes, sizes_bytes);
    return result;
}

void lps_free(struct lps *lps)
{
    if (lps->memory == NULL)
        return;
    memory_give(lps->memory, lps->blocks, lps->count * sizeof(struct lp_block *));
    memory_give(lps->memory, lps->arena, lps->arena_bytes);
    memory_give(lps->memory, lps->other, lps->arena_bytes);
}

bool lps_make_movable(struct lps *lps)
{
    lps->other = memory_take(lps->memory, lps->arena_bytes);
    if (lps->other != NULL)
        MEMORY_POISON(lps->other, lps->arena_bytes);
    return lps->other != NULL;
}

void lps_move(struct lps *lps, uint32_t lp)
{
    struct lp_block *const old = lps->blocks[lp];
    const size_t bytes = lp_states_block_bytes(old->state_bytes);
    const size_t offset = (size_t)((uintptr_t)old - (uintptr_t)lps->arena);
    uint8_t *const to = offset < lps->arena_bytes
                            ? lps->other + offset
                            : lps->arena + ((uintptr_t)old - (uintptr_t)lps->other);
    MEMORY_UNPOISON(to, bytes);
    memcpy(to, old, bytes);
    memset(old, LPS_STALE, bytes);
    MEMORY_POISON(old, bytes);
    lps->blocks[lp] = (struct lp_block *)(void *)to;
}
