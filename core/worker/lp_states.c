/*
 * lp_states.c: lays out the blocks of all states (lp_states.h). Small blocks are rounded up to a
 * power of two, so that none straddles a cache line needlessly, and large ones to whole lines.
 */
#include "core/worker/lp_states.h"

#include <string.h>

#include "core/os/pages.h"

enum {
    LINE_BYTES = 64,
    GAP_BYTES = 16 << 20, /* of addresses, without memory */
};

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

static uint32_t owner_of(const struct lp_owners *owners, uint32_t lp)
{
    return owners->lp_worker == NULL ? 0 : owners->lp_worker[lp];
}

static size_t sizes_bytes(const struct lp_states *states)
{
    return states->count * sizeof *states->sizes;
}

static size_t areas_bytes(const struct lp_states *states)
{
    return states->area_count * sizeof *states->areas;
}

/* Puts a block after the blocks that end at *end. Returns where it begins. */
static size_t append_block(size_t *end, size_t state_bytes)
{
    const size_t bytes = lp_states_block_bytes(state_bytes), begin = block_offset(*end, bytes);
    *end = begin + bytes;
    return begin;
}

/* Asks for each LP's size, and adds up the blocks. */
static int lp_states_measure(struct lp_states *states, const struct cw_model *model,
                             const struct lp_owners *owners, struct cw_error *error)
{
    for (uint32_t lp = 0; lp < states->count; lp++) {
        const size_t state_bytes = model->state_bytes(model->data, lp);
        if (state_bytes > CW_STATE_BYTES_MAX)
            return cw_error_set(error, CW_NO_RESOURCE,
                                "LP %u of model %s has a state of %zu bytes; at most %u are "
                                "possible",
                                (unsigned)lp, model->name, state_bytes, CW_STATE_BYTES_MAX);
        states->sizes[lp] = (uint32_t)state_bytes;
        (void)append_block(&states->blocks_bytes, state_bytes);
        (void)append_block(&states->areas[owner_of(owners, lp)].bytes, state_bytes);
        if (state_bytes > states->state_bytes_max)
            states->state_bytes_max = state_bytes;
    }
    return CW_OK;
}

/* Where each area begins: at a huge page, far after the one before; or at the next line. */
static void lay_out_areas(struct lp_states *states, bool is_apart)
{
    const size_t gap = is_apart ? GAP_BYTES : 0, align = is_apart ? PAGES_HUGE_BYTES : LINE_BYTES;
    states->is_apart = is_apart;
    states->used_bytes = 0;
    for (uint32_t i = 0; i < states->area_count; i++) {
        struct lp_area *const area = &states->areas[i];
        if (i > 0)
            area->begin = (states->arena_bytes + gap + align - 1) / align * align;
        states->arena_bytes = area->begin + area->bytes;
        states->used_bytes += area->bytes;
    }
}

/* Where each block is. The arena itself stays untouched, so that it is not in memory yet. */
static void lay_out(struct lp_states *states, const struct lp_owners *owners)
{
    for (uint32_t i = 0; i < states->area_count; i++)
        states->areas[i].bytes = 0;
    for (uint32_t lp = 0; lp < states->count; lp++) {
        struct lp_area *const area = &states->areas[owner_of(owners, lp)];
        const size_t place = area->begin + append_block(&area->bytes, states->sizes[lp]);
        states->blocks[lp] = (struct lp_block *)(void *)(states->arena + place);
    }
}

static void give_arena(const struct lp_states *states, uint8_t *arena)
{
    for (uint32_t i = 0; i < states->area_count && arena != NULL; i++)
        MEMORY_UNPOISON(arena + states->areas[i].begin, states->areas[i].bytes);
    if (states->is_apart)
        memory_give_sparse(states->memory, arena, states->used_bytes, states->arena_bytes);
    else
        memory_give(states->memory, arena, states->arena_bytes);
}

/* Memory for all areas; NULL: there is none. Where they are apart whole huge pages lie in one area,
 * so that no worker takes more than its blocks. */
static uint8_t *take_arena(const struct lp_states *states)
{
    if (!states->is_apart)
        return memory_take(states->memory, states->arena_bytes);
    uint8_t *const arena =
        memory_take_sparse(states->memory, states->used_bytes, states->arena_bytes);
    for (uint32_t i = 0; i < states->area_count && arena != NULL; i++) {
        const struct lp_area *const area = &states->areas[i];
        if (area->bytes > 0 && !pages_open(arena + area->begin, area->bytes)) {
            give_arena(states, arena);
            return NULL;
        }
    }
    return arena;
}

/* Both arenas, if there are two, are laid out alike. */
static bool take_arenas(struct lp_states *states, bool is_apart, bool are_movable)
{
    lay_out_areas(states, is_apart);
    states->arena = take_arena(states);
    if (states->arena != NULL && are_movable)
        states->other = take_arena(states);
    if (states->arena != NULL && (states->other != NULL || !are_movable))
        return true;
    give_arena(states, states->arena);
    states->arena = NULL;
    return false;
}

static int lp_states_allocate(struct lp_states *states, bool are_movable, struct cw_error *error)
{
    states->blocks = memory_take(states->memory, states->count * sizeof(struct lp_block *));
    const bool are_many = states->area_count > 1;
    if (states->blocks == NULL || !((are_many && take_arenas(states, true, are_movable)) ||
                                    take_arenas(states, false, are_movable)))
        return memory_error(states->memory, error);
    for (uint32_t i = 0; i < states->area_count && are_movable; i++)
        MEMORY_POISON(states->other + states->areas[i].begin, states->areas[i].bytes);
    return CW_OK;
}

int lp_states_create(struct lp_states *states, struct memory *memory, const struct cw_model *model,
                     const struct lp_owners *owners, bool are_movable, struct cw_error *error)
{
    *states = (struct lp_states){
        .memory = memory, .count = model->lp_count, .area_count = owners->workers};
    states->sizes = memory_take(memory, sizes_bytes(states));
    states->areas = memory_take(memory, areas_bytes(states));
    if (states->sizes == NULL || states->areas == NULL)
        return memory_error(memory, error);
    int result = lp_states_measure(states, model, owners, error);
    if (result == CW_OK)
        result = lp_states_allocate(states, are_movable, error);
    if (result == CW_OK)
        lay_out(states, owners);
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

void lp_states_drop(struct lp_states *states, uint32_t worker)
{
    const struct lp_area *const area = &states->areas[worker];
    pages_drop(states->arena + area->begin, area->bytes);
}

void lp_states_free(struct lp_states *states)
{
    if (states->memory == NULL)
        return;
    lp_states_ready(states);
    memory_give(states->memory, states->blocks, states->count * sizeof(struct lp_block *));
    if (states->areas != NULL) {
        give_arena(states, states->arena);
        give_arena(states, states->other);
    }
    memory_give(states->memory, states->areas, areas_bytes(states));
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
    size_t end = 0;
    for (uint32_t lp = 0; lp < states->count; lp++) {
        const struct lp_block *const block = states->blocks[lp];
        const size_t place = append_block(&end, block->state_bytes);
        if (lp_worker == NULL || lp_worker[lp] == worker)
            memcpy(to + place, block, sizeof *block + block->state_bytes);
    }
}

void lp_states_load(struct lp_states *states, const uint32_t *lp_worker, uint32_t worker,
                    const uint8_t *from)
{
    size_t end = 0;
    for (uint32_t lp = 0; lp < states->count; lp++) {
        struct lp_block *const block = states->blocks[lp];
        const size_t place = append_block(&end, block->state_bytes);
        if (lp_worker == NULL || lp_worker[lp] == worker)
            memcpy(block, from + place, sizeof *block + block->state_bytes);
    }
}

bool lp_states_are_alike(const struct lp_states *states, const uint8_t *saved, size_t bytes)
{
    bool are_alike = bytes == states->blocks_bytes;
    size_t end = 0;
    for (uint32_t lp = 0; lp < states->count && are_alike; lp++) {
        const struct lp_block *const block = states->blocks[lp];
        const size_t place = append_block(&end, block->state_bytes);
        const struct lp_block *const other = (const struct lp_block *)(const void *)(saved + place);
        are_alike = other->state_bytes == block->state_bytes;
    }
    return are_alike;
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
