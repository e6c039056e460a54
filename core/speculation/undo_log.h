/*
 * undo_log.h: the undo log. Each event that was handled speculatively has one log. It holds the
 * before-images of the parts that the event changed, the events that it sent and the records that
 * it emitted, in this order of time: all that undoing it, or committing it, takes.
 *
 * Logs lie one after the other, in the order of handling, in blocks. A log that was undone or
 * committed stays as a gap until its block holds no other log. The block that was freed last is
 * used first, so that a short undo log stays in the cache, and a long one grows. One worker owns
 * it; no other thread enters.
 *
 * I-HIST-1: undoing the items of a log, newest first, restores the LP's state of before the event.
 * I-HIST-2: of two logs of one LP, the later one belongs to the later event, or to an equal one. So
 * in the blocks, from the oldest on, each LP's events come in their order.
 */
#ifndef CORE_UNDO_LOG_H
#define CORE_UNDO_LOG_H

#include "core/queue/event.h"
#include "core/os/memory.h"

/* The builds that look for bugs set a small size, so that short runs fill many blocks. */
#ifndef UNDO_BLOCK_BYTES
#define UNDO_BLOCK_BYTES (32u << 10)
#endif

/* Lengths are in words of 8 bytes. So no block is longer than UNDO_BLOCK_BYTES_MAX. */
struct log_shape {
    uint64_t place : 30;      /* in its block's data */
    uint64_t words : 30;      /* the log's head and all items */
    uint64_t remote : 3;      /* its items ITEM_REMOTE; REMOTE_MANY: that many or more */
    uint64_t has_records : 1; /* its newest item is ITEM_RECORDS */
};
enum { REMOTE_MANY = 7, WORDS_MASK = (1 << 30) - 1 };
#define UNDO_BLOCK_BYTES_MAX ((size_t)8 * WORDS_MASK)

/* The head of a log; its items follow. */
struct log {
    struct cw_event *event; /* NULL: undone or committed */
    struct log *older;      /* of the same LP, if it has one (struct lp_logs) */
    uint64_t hash;          /* the LP's trace hash before the event */
    struct log_shape shape;
};
_Static_assert(sizeof(struct log) == 32, "little to write for each event");

/*
 * The logs of one LP that are needed: the newest, and from it along `older`, `live` in all. The
 * link of the oldest one may lead to a log that is gone. So a log commits without a look at others.
 */
struct lp_logs {
    struct log *newest; /* if live > 0 */
    uint64_t live;
};

/*
 * An item: its data, if it has any, in whole words, and then a word that says its kind. So items
 * are read from the newest to the oldest, as they are undone.
 */
enum item_kind {
    ITEM_LOCAL = 1, /* rest of the word: the event that was sent to an LP of this worker */
    ITEM_IMAGE = CW_UNDO_IMAGE, /* bytes << 3 | offset << 32; data: a part of the state as it was */
    ITEM_REMOTE,  /* worker << 3 | words of the rest << 32; data: struct remote_send, and the rest:
                     nothing, or, if it may be kept (lazy_cancel.h), type and payload */
    ITEM_RECORDS, /* bytes << 3; data: records (commit_records.h) */
    ITEM_STATE,   /* data: the state's hash before the event; the oldest, in the stress mode */
    ITEM_KIND_MASK = 7,
};
_Static_assert(CW_STATE_BYTES_MAX < 1u << 29, "an image's bytes have 29 bits");

/* An event that was sent to another worker, as a cancellation names it. */
struct remote_send {
    uint64_t seq;
    int64_t time_ps;
    uint64_t key_high, key_low; /* as an entry has them */
};

/* The rest of an ITEM_REMOTE begins at this byte of the event: the word with the type, then the
 * payload. */
enum { REMOTE_REST_OFFSET = 24 };

static inline size_t undo_log_words(size_t bytes) { return (bytes + 7) / 8 * 8; }

/* The data of an item, in words. */
static inline size_t item_words(uint64_t word)
{
    switch ((enum item_kind)(word & ITEM_KIND_MASK)) {
    case ITEM_LOCAL:
        return 0;
    case ITEM_REMOTE:
        return sizeof(struct remote_send) / sizeof word + (word >> 32);
    case ITEM_STATE:
        return 1;
    default:
        return undo_log_words((uint32_t)word >> 3) / sizeof word;
    }
}

/* The most bytes that the item of a send takes. */
enum {
    UNDO_SEND_BYTES_MAX =
        sizeof(struct remote_send) + sizeof(uint64_t) + CW_PAYLOAD_BYTES_MAX + sizeof(uint64_t),
};

struct undo_block {
    struct undo_block *next; /* newer; or in the list of free ones */
    size_t bytes;            /* of data */
    size_t first, end;       /* the logs that are needed lie in [first, end) */
    size_t live;             /* their number, with logs whose sends are kept */
    int64_t least_ps;        /* no event of theirs is before this */
    int64_t latest_ps;       /* of the log closed last, or least_ps, if that is later */
    uint64_t descends;       /* not 0: not all came in the order of their times */
    uint8_t data[];
};
_Static_assert(sizeof(struct undo_block) == 64, "logs start on a line");

struct undo_log {
    struct cw_undo undo; /* where the next word goes, and the end of the current block */
    struct log *open;    /* being written; NULL: none */
    struct undo_block *oldest, *current, *free;
    size_t live;       /* logs that are needed */
    uint64_t bytes;    /* of logs, ever */
    size_t used_bytes; /* of the blocks that are not free */
    struct memory *memory;
};

void undo_log_init(struct undo_log *undo_log, struct memory *memory);
void undo_log_free(struct undo_log *undo_log);

/* The slow way of undo_log_room(): continues in another block, and moves the open log there. */
bool undo_log_move(struct undo_log *undo_log, size_t bytes);

/* True: the next `bytes` at undo_log->undo.at may be written. False: out of memory. */
static inline bool undo_log_room(struct undo_log *undo_log, size_t bytes)
{
    return __builtin_expect((size_t)(undo_log->undo.end - undo_log->undo.at) >= bytes, 1) ||
           undo_log_move(undo_log, bytes);
}

/* Opens a log; there is room. */
static inline void undo_log_open(struct undo_log *undo_log)
{
    undo_log->open = (struct log *)(void *)undo_log->undo.at;
    undo_log->open->shape = (struct log_shape){0};
    undo_log->undo.at += sizeof(struct log);
}

static inline void undo_log_put(struct cw_undo *undo, uint64_t word)
{
    *(uint64_t *)(void *)undo->at = word;
    undo->at += sizeof word;
}

/* Adds to the open log an event that was sent to an own LP; there is room. */
static inline void undo_log_add_local(struct cw_undo *undo, const struct cw_event *event)
{
    undo_log_put(undo, (uint64_t)(uintptr_t)event | ITEM_LOCAL);
}

/* Adds the hash of the state before the event. The state is compared with it once it is restored
 * (stress.h). */
static inline bool undo_log_add_state_hash(struct undo_log *undo_log, uint64_t state_hash)
{
    if (!undo_log_room(undo_log, 2 * sizeof(uint64_t)))
        return false;
    undo_log_put(&undo_log->undo, state_hash);
    undo_log_put(&undo_log->undo, ITEM_STATE);
    return true;
}

/* Adds an event that was sent to another worker; `rest`: see ITEM_REMOTE. Inlined: `sent` was
 * written a moment ago, word by word, and a copy of it from memory would wait for the words. */
static inline bool undo_log_add_remote(struct undo_log *undo_log, uint32_t to,
                                       const struct remote_send *sent, const void *rest,
                                       size_t rest_bytes)
{
    const size_t room = undo_log_words(rest_bytes);
    if (!undo_log_room(undo_log, sizeof *sent + room + sizeof(uint64_t)))
        return false;
    if (undo_log->open->shape.remote < REMOTE_MANY)
        undo_log->open->shape.remote++;
    undo_log_put(&undo_log->undo, sent->seq);
    undo_log_put(&undo_log->undo, (uint64_t)sent->time_ps);
    undo_log_put(&undo_log->undo, sent->key_high);
    undo_log_put(&undo_log->undo, sent->key_low);
    if (rest_bytes > 0)
        memcpy(undo_log->undo.at, rest, rest_bytes);
    undo_log->undo.at += room;
    undo_log_put(&undo_log->undo, (uint64_t)(room / 8) << 32 | (uint64_t)to << 3 | ITEM_REMOTE);
    return true;
}

/* Adds the before-image of a part of a state. False: out of memory. cw_undo_add() does the same,
 * where it is short and there is room. */
bool undo_log_add_image(struct undo_log *undo_log, size_t offset, const void *part, size_t bytes);
/* Adds all of an event's records; at most once, at its end. */
bool undo_log_add_records(struct undo_log *undo_log, const void *records, size_t bytes);

static inline size_t log_bytes(const struct log *log) { return 8 * (size_t)log->shape.words; }

/* A block's first log, or one that is before the last. */
static inline void undo_log_descend(struct undo_block *block, int64_t time_ps)
{
    block->descends |= block->latest_ps != CW_TIME_MAX;
    block->least_ps = time_ps < block->least_ps ? time_ps : block->least_ps;
}

/* Ends the open log, of that event, which its LP has handled last. */
static inline void undo_log_close(struct undo_log *undo_log, struct lp_logs *of,
                                  struct cw_event *event, int64_t time_ps, uint64_t hash)
{
    struct log *const log = undo_log->open;
    struct undo_block *const block = undo_log->current;
    const size_t bytes = (size_t)(undo_log->undo.at - (uint8_t *)log);
    undo_log->open = NULL;
    log->event = event;
    log->older = of->newest;
    log->hash = hash;
    log->shape.place = (size_t)((uint8_t *)log - block->data) / 8 & WORDS_MASK;
    log->shape.words = bytes / 8 & WORDS_MASK;
    of->newest = log;
    of->live++;
    undo_log->bytes += bytes;
    if (__builtin_expect(time_ps < block->latest_ps, 0))
        undo_log_descend(block, time_ps);
    block->latest_ps = time_ps;
    block->live++;
    undo_log->live++;
}

/* Forgets the open log. */
static inline void undo_log_discard(struct undo_log *undo_log)
{
    undo_log->undo.at = (uint8_t *)undo_log->open;
    undo_log->open = NULL;
}

static inline struct undo_block *undo_block_of(struct log *log)
{
    return (struct undo_block *)(void *)((uint8_t *)log - 8 * (size_t)log->shape.place -
                                         sizeof(struct undo_block));
}

/* `logs` of the block are not needed any more. */
static inline void undo_log_forget(struct undo_log *undo_log, struct undo_block *block, size_t logs)
{
    block->live -= logs;
    undo_log->live -= logs;
}

/* The log is not needed any more. */
static inline void undo_log_drop(struct undo_log *undo_log, struct log *log)
{
    log->event = NULL;
    undo_log_forget(undo_log, undo_block_of(log), 1);
}

/* The log's event is pending again, and its sends are kept: the log stays where it is, until
 * undo_log_release(). */
static inline void undo_log_keep(struct undo_log *undo_log, struct log *log)
{
    log->event = NULL;
    undo_log->live--;
}
static inline void undo_log_release(struct log *log) { undo_block_of(log)->live--; }

/* Where the logs of a block end. */
static inline size_t undo_block_end(const struct undo_log *undo_log, const struct undo_block *block)
{
    return block == undo_log->current ? (size_t)(undo_log->undo.at - block->data) : block->end;
}

/* Whether there are blocks, or a part of one, that no log needs any more. */
static inline bool undo_log_is_idle(const struct undo_log *undo_log)
{
    return undo_log->live == 0 && undo_log->current != NULL &&
           (undo_log->oldest != undo_log->current || undo_log->undo.at != undo_log->current->data);
}

/* Takes a block that holds no needed log out of the list; `older` comes before it there, or is
 * NULL. No log is open. Returns the block after it. */
struct undo_block *undo_log_retire(struct undo_log *undo_log, struct undo_block *older,
                                   struct undo_block *block);

/* Gives the free blocks back. */
void undo_log_trim(struct undo_log *undo_log);

/* The records of a log that has some: where they are, and how long. */
static inline const uint8_t *log_records(const struct log *log, size_t *bytes)
{
    const uint8_t *const item = (const uint8_t *)log + log_bytes(log) - sizeof(uint64_t);
    *bytes = *(const uint64_t *)(const void *)item >> 3;
    return item - undo_log_words(*bytes);
}

#endif
