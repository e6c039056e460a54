/*
 * history.h: what it takes to undo an event, and to make it known: for each event that was handled
 * speculatively one log, with the before-images of the parts it changed, the events it sent and
 * the records it emitted, in the order in which it did so.
 *
 * Logs lie one after the other in blocks. A block that holds no live log is used again, the one
 * freed last first, so that the history stays in the cache while it is short and grows while it
 * must be long. One worker owns it; no other thread enters.
 *
 * I-HIST-1: undoing the items of a log, newest first, restores the LP's state of before the event.
 */
#ifndef CORE_HISTORY_H
#define CORE_HISTORY_H

#include "core/event.h"
#include "core/memory.h"

enum { HISTORY_BLOCK_BYTES = 128 << 10 };

enum item_kind {
    ITEM_IMAGE = 1, /* struct image, then the bytes as they were */
    ITEM_LOCAL,     /* struct cw_event *: an event sent to an LP of this worker */
    ITEM_REMOTE,    /* struct remote_send; `arg` is the worker it was sent to */
    ITEM_RECORD,    /* its bytes; `arg` is the kind */
};

struct item {
    uint32_t previous; /* offset in the log of the item before; 0: this is the first */
    uint16_t kind;
    uint16_t arg;
    uint32_t bytes; /* of what follows */
    uint32_t reserved;
    uint8_t data[];
};

struct image {
    uint64_t offset; /* in the LP's state */
    uint8_t before[];
};

struct remote_send {
    struct entry entry; /* the event's key */
    uint64_t seq;
};

struct history_block;

struct log {
    struct history_block *block;
    struct cw_event *event;
    struct log *older, *newer; /* of the same LP; NULL: none that is not committed */
    uint64_t place;            /* in the list of processed events (fossil.c) */
    uint32_t bytes;            /* this head and all items */
    uint32_t newest;           /* offset of the newest item; 0: none */
    uint32_t records;          /* of the items */
    uint32_t late;             /* in which of the two lists */
    uint64_t serial;           /* of handling: orders events that are equal */
};
_Static_assert(sizeof(struct log) % 16 == 0, "items are aligned as logs are");

struct history {
    struct memory *memory;
    struct history_block *current, *free, *all;
    struct log *open;     /* being written; NULL: none */
    uint64_t image_bytes; /* written, ever */
};

void history_init(struct history *history, struct memory *memory);
void history_free(struct history *history);

/* Opens a log. False: out of memory. */
bool history_open(struct history *history);
/* Adds an item to the open log; returns where its data go. NULL: out of memory. */
void *history_add(struct history *history, enum item_kind kind, uint16_t arg, size_t bytes);
/* Ends the open log and returns it. */
struct log *history_close(struct history *history);
/* The log is not needed any more. */
void history_drop(struct history *history, struct log *log);

static inline struct item *log_item(struct log *log, uint32_t offset)
{
    return (struct item *)(void *)((uint8_t *)log + offset);
}
/* The oldest item, and the one after; NULL: none. */
struct item *log_first(struct log *log);
struct item *log_next(struct log *log, struct item *item);

#endif
