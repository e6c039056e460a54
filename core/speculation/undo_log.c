/*
 * undo_log.c: blocks of logs (undo_log.h).
 */
#include "core/speculation/undo_log.h"

#include <string.h>

static size_t undo_block_bytes(size_t bytes) { return sizeof(struct undo_block) + bytes; }

void undo_log_init(struct undo_log *undo_log, struct memory *memory)
{
    *undo_log = (struct undo_log){.memory = memory};
}

static void block_clear(struct undo_block *block)
{
    block->first = block->live = 0;
    block->least_ps = CW_TIME_MAX;
    block->latest_ps = CW_TIME_MAX;
    block->descends = 0;
}

static struct undo_block *block_create(struct undo_log *undo_log, size_t bytes)
{
    struct undo_block *block = undo_log->free;
    if (bytes <= UNDO_BLOCK_BYTES && block != NULL) {
        undo_log->free = block->next;
    } else {
        const size_t size = bytes < UNDO_BLOCK_BYTES ? UNDO_BLOCK_BYTES : bytes;
        block = memory_take_spare(undo_log->memory, undo_block_bytes(size));
        if (block == NULL)
            return NULL;
        block->bytes = size;
    }
    undo_log->used_bytes += block->bytes;
    block->next = NULL;
    block->end = 0;
    block_clear(block);
    return block;
}

/* Blocks of an unusual size are given back, the others kept for the next log. */
static void block_release(struct undo_log *undo_log, struct undo_block *block)
{
    undo_log->used_bytes -= block->bytes;
    if (block->bytes != UNDO_BLOCK_BYTES) {
        memory_give(undo_log->memory, block, undo_block_bytes(block->bytes));
        return;
    }
    block->next = undo_log->free;
    undo_log->free = block;
}

static void free_list(struct undo_log *undo_log, struct undo_block *block)
{
    while (block != NULL) {
        struct undo_block *const next = block->next;
        memory_give(undo_log->memory, block, undo_block_bytes(block->bytes));
        block = next;
    }
}

void undo_log_trim(struct undo_log *undo_log)
{
    free_list(undo_log, undo_log->free);
    undo_log->free = NULL;
}

void undo_log_free(struct undo_log *undo_log)
{
    undo_log_trim(undo_log);
    free_list(undo_log, undo_log->oldest);
    undo_log->oldest = undo_log->current = NULL;
}

bool undo_log_move(struct undo_log *undo_log, size_t bytes)
{
    struct undo_block *const old = undo_log->current;
    const size_t written =
        undo_log->open == NULL ? 0 : (size_t)(undo_log->undo.at - (uint8_t *)undo_log->open);
    const size_t most = UNDO_BLOCK_BYTES_MAX; /* more is refused as if memory had run out */
    /* An open log may grow further: room for twice of it. */
    const size_t wanted = 2 * (written + bytes) < most ? 2 * (written + bytes) : most;
    struct undo_block *const block =
        written + bytes <= most ? block_create(undo_log, wanted) : NULL;
    if (block == NULL)
        return false;
    if (written > 0)
        memcpy(block->data, undo_log->open, written);
    if (old != NULL) {
        old->end = (size_t)(undo_log->undo.at - old->data) - written;
        old->next = block;
    } else {
        undo_log->oldest = block;
    }
    undo_log->current = block;
    undo_log->undo.at = block->data + written;
    undo_log->undo.end = block->data + block->bytes;
    if (undo_log->open != NULL)
        undo_log->open = (struct log *)(void *)block->data;
    return true;
}

struct undo_block *undo_log_retire(struct undo_log *undo_log, struct undo_block *older,
                                   struct undo_block *block)
{
    struct undo_block *const next = block->next;
    if (block == undo_log->current) {
        block_clear(block);
        undo_log->undo.at = block->data;
        return NULL;
    }
    *(older == NULL ? &undo_log->oldest : &older->next) = next;
    block_release(undo_log, block);
    return next;
}

bool undo_log_add_image(struct undo_log *undo_log, size_t offset, const void *part, size_t bytes)
{
    const size_t room = undo_log_words(bytes);
    if (!undo_log_room(undo_log, room + sizeof(uint64_t)))
        return false;
    memcpy(undo_log->undo.at, part, bytes);
    undo_log->undo.at += room;
    undo_log_put(&undo_log->undo, (uint64_t)offset << 32 | (uint64_t)bytes << 3 | ITEM_IMAGE);
    return true;
}

bool undo_log_add_records(struct undo_log *undo_log, const void *records, size_t bytes)
{
    const size_t room = undo_log_words(bytes);
    if (!undo_log_room(undo_log, room + sizeof(uint64_t)))
        return false;
    memcpy(undo_log->undo.at, records, bytes);
    undo_log->open->shape.has_records = true;
    undo_log->undo.at += room;
    undo_log_put(&undo_log->undo, (uint64_t)bytes << 3 | ITEM_RECORDS);
    return true;
}
