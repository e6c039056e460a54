/*
 * lazy_cancel.c: see lazy_cancel.h.
 */
#include "core/timewarp/lazy_cancel.h"

#include "core/simulation.h"
#include "core/timewarp/timewarp.h"

enum {
    TABLE_MIN = 256,
    ITEMS_MIN = 64,
    SEARCH_MAX = 64, /* kept sends that a send is held against */
};

void lazy_cancel_free(struct lazy_cancel *lazy, struct memory *memory)
{
    memory_give(memory, lazy->table, lazy->capacity * sizeof *lazy->table);
    memory_give(memory, lazy->items, lazy->item_capacity * sizeof *lazy->items);
}

/* ---- the table of logs ----------------------------------------------------------------------- */

static size_t lazy_cancel_home_of(const struct lazy_cancel *lazy, const struct cw_event *event)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)event * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (lazy->capacity - 1);
}

/* Where the event is, or would be. */
static size_t lazy_cancel_place_of(const struct lazy_cancel *lazy, const struct cw_event *event)
{
    size_t at = lazy_cancel_home_of(lazy, event);
    while (lazy->table[at].event != NULL && lazy->table[at].event != event)
        at = (at + 1) & (lazy->capacity - 1);
    return at;
}

static bool lazy_cancel_grow(struct timewarp *tw)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    struct memory *const memory = &tw->worker->sim->memory;
    struct lazy_cancel_kept *const old = lazy->table;
    const size_t old_capacity = lazy->capacity;
    const size_t capacity = old_capacity == 0 ? TABLE_MIN : 2 * old_capacity;
    struct lazy_cancel_kept *const table = memory_take(memory, capacity * sizeof *table);
    if (table == NULL)
        return false;
    lazy->table = table;
    lazy->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].event != NULL)
            lazy->table[lazy_cancel_place_of(lazy, old[i].event)] = old[i];
    memory_give(memory, old, old_capacity * sizeof *old);
    return true;
}

bool lazy_cancel_may_keep(struct timewarp *tw)
{
    const struct lazy_cancel *const lazy = &tw->lazy;
    return lazy->on && tw->level < MEMORY_TIGHT &&
           (2 * lazy->count < lazy->capacity || lazy_cancel_grow(tw));
}

void lazy_cancel_keep(struct timewarp *tw, struct cw_event *event, struct log *log)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    lazy->table[lazy_cancel_place_of(lazy, event)] = (struct lazy_cancel_kept){event, log};
    lazy->count++;
    event->reserved |= EVENT_LAZY;
    undo_log_keep(&tw->undo_log, log);
}

/* Takes an event's log out of the table. Those behind it move up, so that a search that starts at
 * their home still gets to them. */
static struct log *lazy_cancel_take(struct timewarp *tw, struct cw_event *event)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    const size_t mask = lazy->capacity - 1;
    size_t gap = lazy_cancel_place_of(lazy, event);
    struct log *const log = lazy->table[gap].log;
    for (size_t at = (gap + 1) & mask; lazy->table[at].event != NULL; at = (at + 1) & mask)
        if (((at - lazy_cancel_home_of(lazy, lazy->table[at].event)) & mask) >=
            ((at - gap) & mask)) {
            lazy->table[gap] = lazy->table[at];
            gap = at;
        }
    lazy->table[gap] = (struct lazy_cancel_kept){NULL, NULL};
    lazy->count--;
    event->reserved &= (uint16_t)~EVENT_LAZY;
    return log;
}

/* ---- what a log says was sent ---------------------------------------------------------------- */

/* The newest item of a send among those that end at `at`; NULL: there is none. */
static const uint64_t *newest_send(const struct log *log, const uint64_t *at)
{
    const uint64_t *const first = (const uint64_t *)(const void *)(log + 1);
    while (at > first) {
        const uint64_t kind = *--at & ITEM_KIND_MASK;
        if (kind == ITEM_LOCAL || kind == ITEM_REMOTE)
            return at;
        at -= item_words(*at);
    }
    return NULL;
}

static const uint64_t *data_of(const uint64_t *item) { return item - item_words(*item); }

/* Where a log ends, and its newest item with it. */
static const uint64_t *end_of(const struct log *log)
{
    return (const uint64_t *)(const void *)((const uint8_t *)log + log_bytes(log));
}

static void cancel_log(struct timewarp *tw, struct log *log)
{
    const uint64_t *item = end_of(log);
    while ((item = newest_send(log, item)) != NULL) {
        rollback_cancel_send(tw, data_of(item), *item);
        item = data_of(item);
    }
    undo_log_release(log);
}

void lazy_cancel_drop(struct timewarp *tw, struct cw_event *event)
{
    cancel_log(tw, lazy_cancel_take(tw, event));
}

void lazy_cancel_drop_all(struct timewarp *tw)
{
    const struct lazy_cancel *const lazy = &tw->lazy;
    for (size_t i = 0; i < lazy->capacity; i++)
        while (lazy->table[i].event != NULL) {
            lazy_cancel_drop(tw, lazy->table[i].event);
            rollback_work_off(tw);
        }
}

/* Room for one more item. */
static bool item_room(struct timewarp *tw)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    struct memory *const memory = &tw->worker->sim->memory;
    if (lazy->item_count < lazy->item_capacity)
        return true;
    const size_t capacity = lazy->item_capacity == 0 ? ITEMS_MIN : 2 * lazy->item_capacity;
    const uint64_t **const items = memory_take(memory, capacity * sizeof *items);
    if (items == NULL)
        return false;
    for (size_t i = 0; i < lazy->item_count; i++)
        items[i] = lazy->items[i];
    memory_give(memory, lazy->items, lazy->item_capacity * sizeof *items);
    lazy->items = items;
    lazy->item_capacity = capacity;
    return true;
}

/* ---- handling again -------------------------------------------------------------------------- */

void lazy_cancel_begin(struct timewarp *tw, struct cw_event *event)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    struct log *const log = lazy_cancel_take(tw, event);
    const uint64_t *item = end_of(log);
    lazy->item_count = 0;
    while ((item = newest_send(log, item)) != NULL) {
        if (!item_room(tw)) {
            cancel_log(tw, log);
            rollback_work_off(tw);
            return;
        }
        lazy->items[lazy->item_count++] = item;
        item = data_of(item);
    }
    lazy->log = log;
    lazy->sends_left = tw->worker->sends_left;
    tw->worker->sends_left = 0;
}

static bool is_same(const uint64_t *item, const struct event_words *words, const void *payload)
{
    const size_t payload_bytes = words_payload_bytes(words);
    const event_word *rest;
    if ((*item & ITEM_KIND_MASK) == ITEM_LOCAL) {
        const event_word *const sent =
            (const event_word *)(uintptr_t)(*item & ~(uint64_t)ITEM_KIND_MASK);
        if (sent[0] != words->word[0] || sent[1] != words->word[1] || sent[2] != words->word[2])
            return false;
        rest = sent + REMOTE_REST_OFFSET / sizeof *sent;
    } else {
        const struct entry entry = entry_of_words(words, NULL);
        struct remote_send sent;
        memcpy(&sent, data_of(item), sizeof sent);
        if (sent.time_ps != entry.time_ps || sent.key_high != entry.key_high ||
            sent.key_low != entry.key_low)
            return false;
        rest = (const event_word *)(data_of(item) + sizeof sent / sizeof *item);
    }
    const uint64_t header = rest[0] & UINT64_MAX >> 16; /* without the notes */
    return header == words->word[3] &&
           (payload_bytes == 0 || memcmp(rest + 1, payload, payload_bytes) == 0);
}

/* The new log says what was sent, as if it had been sent by this handler. There is room for an
 * own event (reserve_note() in handler_api.c). */
static void note_again(struct timewarp *tw, const uint64_t *item)
{
    struct remote_send sent;
    if ((*item & ITEM_KIND_MASK) == ITEM_LOCAL) {
        undo_log_add_local(&tw->undo_log.undo,
                           (const struct cw_event *)(uintptr_t)(*item & ~(uint64_t)ITEM_KIND_MASK));
        return;
    }
    memcpy(&sent, data_of(item), sizeof sent);
    if (!undo_log_add_remote(&tw->undo_log, (uint32_t)*item >> 3, &sent,
                             data_of(item) + sizeof sent / sizeof *item, (*item >> 32) * 8))
        worker_fail_for_memory(tw->worker);
}

bool lazy_cancel_reuse(struct timewarp *tw, const struct event_header *header, const void *payload)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    const struct event_words words = words_of(header);
    while (lazy->item_count > 0 && lazy->items[lazy->item_count - 1] == NULL)
        lazy->item_count--;
    const size_t last = lazy->item_count > SEARCH_MAX ? lazy->item_count - SEARCH_MAX : 0;
    for (size_t i = lazy->item_count; i > last; i--) {
        const uint64_t *const item = lazy->items[i - 1];
        if (item == NULL || !is_same(item, &words, payload))
            continue;
        lazy->items[i - 1] = NULL;
        lazy->reused++;
        if (tw->speculative)
            note_again(tw, item);
        return true;
    }
    return false;
}

void lazy_cancel_rest(struct timewarp *tw)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    struct log *const log = lazy->log;
    lazy->log = NULL;
    for (size_t i = 0; i < lazy->item_count; i++)
        if (lazy->items[i] != NULL)
            rollback_cancel_send(tw, data_of(lazy->items[i]), *lazy->items[i]);
    undo_log_release(log);
    rollback_work_off(tw);
}
