/*
 * undo_log.c: blocks of logs (undo_log.h).
 */
#include "core/timewarp/undo_log.h"

#include <string.h>

static size_t undo_log_block_bytes(size_t bytes) { return sizeof(struct history_block) + bytes; }

void history_init(struct history *history, struct memory *memory)
{
    *history = (struct history){.memory = memory};
}

static void block_clear(struct history_block *block)
{
    block->first = block->live = 0;
    block->least_ps = CW_TIME_MAX;
    block->latest_ps = CW_TIME_MAX;
    block->descends = 0;
}

static struct history_block *block_create(struct history *history, size_t bytes)
{
    struct history_block *block = history->free;
    if (bytes <= HISTORY_BLOCK_BYTES && block != NULL) {
        history->free = block->next;
    } else {
        const size_t size = bytes < HISTORY_BLOCK_BYTES ? HISTORY_BLOCK_BYTES : bytes;
        block = memory_take(history->memory, undo_log_block_bytes(size));
        if (block == NULL)
            return NULL;
        block->bytes = size;
    }
    block->next = NULL;
    block->end = 0;
    block_clear(block);
    return block;
}

/* Blocks of an unusual size are given back, the others kept for the next log. */
static void block_release(struct history *history, struct history_block *block)
{
    if (block->bytes != HISTORY_BLOCK_BYTES) {
        memory_give(history->memory, block, undo_log_block_bytes(block->bytes));
        return;
    }
    block->next = history->free;
    history->free = block;
}

static void free_list(struct history *history, struct history_block *block)
{
    while (block != NULL) {
        struct history_block *const next = block->next;
        memory_give(history->memory, block, undo_log_block_bytes(block->bytes));
        block = next;
    }
}

void history_trim(struct history *history)
{
    free_list(history, history->free);
    history->free = NULL;
}

void history_free(struct history *history)
{
    history_trim(history);
    free_list(history, history->oldest);
    history->oldest = history->current = NULL;
}

bool history_move(struct history *history, size_t bytes)
{
    struct history_block *const old = history->current;
    const size_t written =
        history->open == NULL ? 0 : (size_t)(history->undo.at - (uint8_t *)history->open);
    /* An open log may grow further: room for twice of it. */
    struct history_block *const block = block_create(history, 2 * (written + bytes));
    if (block == NULL)
        return false;
    if (written > 0)
        memcpy(block->data, history->open, written);
    if (old != NULL) {
        old->end = (size_t)(history->undo.at - old->data) - written;
        old->next = block;
    } else {
        history->oldest = block;
    }
    history->current = block;
    history->undo.at = block->data + written;
    history->undo.end = block->data + block->bytes;
    if (history->open != NULL)
        history->open = (struct log *)(void *)block->data;
    return true;
}

struct history_block *history_retire(struct history *history, struct history_block *older,
                                     struct history_block *block)
{
    struct history_block *const next = block->next;
    if (block == history->current) {
        block_clear(block);
        history->undo.at = block->data;
        return NULL;
    }
    *(older == NULL ? &history->oldest : &older->next) = next;
    block_release(history, block);
    return next;
}

bool history_add_image(struct history *history, size_t offset, const void *part, size_t bytes)
{
    const size_t room = history_words(bytes);
    if (!history_room(history, room + sizeof(uint64_t)))
        return false;
    memcpy(history->undo.at, part, bytes);
    history->undo.at += room;
    history_put(&history->undo, (uint64_t)offset << 32 | (uint64_t)bytes << 3 | ITEM_IMAGE);
    return true;
}

bool history_add_remote(struct history *history, uint32_t to, const struct remote_send *sent,
                        const void *rest, size_t rest_bytes)
{
    const size_t room = history_words(rest_bytes);
    if (!history_room(history, sizeof *sent + room + sizeof(uint64_t)))
        return false;
    memcpy(history->undo.at, sent, sizeof *sent);
    history->undo.at += sizeof *sent;
    if (rest_bytes > 0)
        memcpy(history->undo.at, rest, rest_bytes);
    history->undo.at += room;
    history_put(&history->undo, (uint64_t)(room / 8) << 32 | (uint64_t)to << 3 | ITEM_REMOTE);
    return true;
}

bool history_add_records(struct history *history, const void *records, size_t bytes)
{
    const size_t room = history_words(bytes);
    if (!history_room(history, room + sizeof(uint64_t)))
        return false;
    memcpy(history->undo.at, records, bytes);
    history->open->has_records = true;
    history->undo.at += room;
    history_put(&history->undo, (uint64_t)bytes << 3 | ITEM_RECORDS);
    return true;
}
