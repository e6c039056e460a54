/*
 * history.c: blocks of logs (history.h).
 */
#include "core/history.h"

#include <string.h>

struct history_block {
    struct history_block *next;          /* in the list of free ones */
    struct history_block *older, *newer; /* in the list of all */
    size_t bytes;                        /* of data */
    size_t used;
    size_t live; /* logs that are needed */
    _Alignas(16) uint8_t data[];
};

static size_t round_up(size_t bytes) { return (bytes + 15) & ~(size_t)15; }
static size_t block_bytes(size_t bytes) { return sizeof(struct history_block) + bytes; }

void history_init(struct history *history, struct memory *memory)
{
    *history = (struct history){.memory = memory};
}

static struct history_block *block_create(struct history *history, size_t bytes)
{
    struct history_block *block = history->free;
    if (bytes <= HISTORY_BLOCK_BYTES && block != NULL) {
        history->free = block->next;
    } else {
        const size_t size = bytes < HISTORY_BLOCK_BYTES ? HISTORY_BLOCK_BYTES : round_up(bytes);
        block = memory_take(history->memory, block_bytes(size));
        if (block == NULL)
            return NULL;
        block->bytes = size;
        block->older = history->all;
        if (history->all != NULL)
            history->all->newer = block;
        history->all = block;
    }
    block->used = block->live = 0;
    return block;
}

/* Blocks of an unusual size are given back, the others kept for the next log. */
static void block_retire(struct history *history, struct history_block *block)
{
    if (block->bytes != HISTORY_BLOCK_BYTES) {
        if (block->older != NULL)
            block->older->newer = block->newer;
        *(block->newer != NULL ? &block->newer->older : &history->all) = block->older;
        memory_give(history->memory, block, block_bytes(block->bytes));
        return;
    }
    block->next = history->free;
    history->free = block;
}

void history_free(struct history *history)
{
    while (history->all != NULL) {
        struct history_block *const block = history->all;
        history->all = block->older;
        memory_give(history->memory, block, block_bytes(block->bytes));
    }
    history->current = history->free = NULL;
}

/* A current block with that much room. Leaves the one before to its logs. */
static bool make_room(struct history *history, size_t bytes)
{
    struct history_block *const old = history->current;
    if (old != NULL && old->bytes - old->used >= bytes)
        return true;
    struct history_block *const block = block_create(history, bytes);
    if (block == NULL)
        return false;
    if (old != NULL && old->live == 0)
        block_retire(history, old);
    history->current = block;
    return true;
}

bool history_open(struct history *history)
{
    if (!make_room(history, sizeof(struct log)))
        return false;
    struct history_block *const block = history->current;
    struct log *const log = (struct log *)(void *)(block->data + block->used);
    *log = (struct log){.block = block, .bytes = sizeof(struct log)};
    history->open = log;
    return true;
}

/* The open log does not fit in its block any more: moves it into one with room for twice of it. */
static bool move_open(struct history *history, size_t bytes)
{
    const struct log *const old = history->open;
    struct history_block *const before = history->current;
    struct history_block *const block = block_create(history, 2 * (old->bytes + bytes));
    if (block == NULL)
        return false;
    memcpy(block->data, old, old->bytes);
    if (before->live == 0)
        block_retire(history, before);
    history->current = block;
    history->open = (struct log *)(void *)block->data;
    history->open->block = block;
    return true;
}

void *history_add(struct history *history, enum item_kind kind, uint16_t arg, size_t bytes)
{
    const size_t room = round_up(sizeof(struct item) + bytes);
    const struct history_block *const block = history->current;
    if (block->bytes - block->used < history->open->bytes + room && !move_open(history, room))
        return NULL;
    struct log *const log = history->open;
    struct item *const item = log_item(log, log->bytes);
    *item = (struct item){
        .previous = log->newest, .kind = (uint16_t)kind, .arg = arg, .bytes = (uint32_t)bytes};
    log->newest = log->bytes;
    log->bytes += (uint32_t)room;
    log->records += kind == ITEM_RECORD;
    return item->data;
}

struct log *history_close(struct history *history)
{
    struct log *const log = history->open;
    struct history_block *const block = log->block;
    block->used += log->bytes;
    block->live++;
    history->open = NULL;
    return log;
}

void history_drop(struct history *history, struct log *log)
{
    struct history_block *const block = log->block;
    if (--block->live > 0)
        return;
    if (block == history->current)
        block->used = 0; /* no log is open: only closed ones are dropped while one is written */
    else
        block_retire(history, block);
}

struct item *log_first(struct log *log)
{
    return log->newest == 0 ? NULL : log_item(log, sizeof(struct log));
}

struct item *log_next(struct log *log, struct item *item)
{
    const size_t offset =
        (size_t)((uint8_t *)item - (uint8_t *)log) + round_up(sizeof(struct item) + item->bytes);
    return offset == log->bytes ? NULL : log_item(log, (uint32_t)offset);
}
