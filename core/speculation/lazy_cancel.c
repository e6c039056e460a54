/*
 * lazy_cancel.c: keeps the logs of undone events in a table, finds their sends again, and cancels
 * those that were not sent again (lazy_cancel.h).
 */
#include "core/speculation/lazy_cancel.h"

#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/send.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

enum {
    ITEMS_MIN = 64,
    SEARCH_MAX = 64, /* kept sends that a send is compared with */
};

void lazy_cancel_init(struct lazy_cancel *lazy, struct memory *memory, bool on)
{
    lazy->on = on;
    table_init(&lazy->logs, memory, sizeof(struct log *));
}

void lazy_cancel_free(struct lazy_cancel *lazy, struct memory *memory)
{
    table_free(&lazy->logs);
    memory_give(memory, lazy->items, lazy->item_capacity * sizeof *lazy->items);
}

/* ---- the table of logs ----------------------------------------------------------------------- */

bool lazy_cancel_may_keep(struct timewarp *tw)
{
    return tw->lazy.on && tw->throttle.level < MEMORY_TIGHT && table_reserve(&tw->lazy.logs);
}

void lazy_cancel_keep(struct timewarp *tw, struct cw_event *event, struct log *log)
{
    CW_INVARIANT("I-LAZY-1", !(event->reserved & (EVENT_LAZY | EVENT_CANCELLED)),
                 "sends are kept for an event for LP %u at %lld ps with the notes %u",
                 (unsigned)event->lp, (long long)event->time_ps, (unsigned)event->reserved);
    struct log **const kept = table_add(&tw->lazy.logs, table_key(event));
    *kept = log;
    event->reserved |= EVENT_LAZY;
    undo_log_keep(&tw->undo_log, log);
}

/* Takes an event's log out of the table. */
static struct log *lazy_cancel_take(struct timewarp *tw, struct cw_event *event)
{
    struct log **const kept = table_find(&tw->lazy.logs, table_key(event));
    CW_INVARIANT("I-LAZY-1",
                 kept != NULL && (event->reserved & (EVENT_LAZY | EVENT_PROCESSED)) == EVENT_LAZY,
                 "an event for LP %u at %lld ps has the notes %u, and its sends are%s kept",
                 (unsigned)event->lp, (long long)event->time_ps, (unsigned)event->reserved,
                 kept == NULL ? " not" : "");
    struct log *const log = *kept;
    table_remove(&tw->lazy.logs, kept);
    event->reserved &= (uint16_t)~EVENT_LAZY;
    return log;
}

/* ---- the sends in a log ---------------------------------------------------------------------- */

/* The newest item of a send among the items that end at `at`; NULL: there is none. */
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
        send_cancel_logged(tw, data_of(item), *item);
        item = data_of(item);
    }
    undo_log_release(log);
}

void lazy_cancel_drop(struct timewarp *tw, struct cw_event *event)
{
    cancel_log(tw, lazy_cancel_take(tw, event));
}

bool lazy_cancel_drop_next(struct timewarp *tw, size_t *place)
{
    const uint64_t key = table_next(&tw->lazy.logs, place);
    if (key != 0)
        lazy_cancel_drop(tw, (struct cw_event *)(uintptr_t)key);
    return key != 0;
}

/* ---- handling again -------------------------------------------------------------------------- */

void lazy_cancel_begin(struct timewarp *tw, struct cw_event *event)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    struct log *const log = lazy_cancel_take(tw, event);
    const uint64_t *item = end_of(log);
    lazy->item_count = 0;
    while ((item = newest_send(log, item)) != NULL) {
        if (!memory_grow(&tw->worker->sim->memory, &lazy->items, &lazy->item_capacity,
                         lazy->item_count, lazy->item_count + 1, sizeof *lazy->items, ITEMS_MIN)) {
            cancel_log(tw, log);
            return;
        }
        lazy->items[lazy->item_count++] = item;
        item = data_of(item);
    }
    lazy->log = log;
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

/* Adds the send to the new log, as if this handler had sent it. There is room for a send to an own
 * LP (reserve_undo() in handler_api.c). */
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

bool lazy_cancel_reuse(struct timewarp *tw, const struct event_words *words, const void *payload)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    while (lazy->item_count > 0 && lazy->items[lazy->item_count - 1] == NULL)
        lazy->item_count--;
    const size_t last = lazy->item_count > SEARCH_MAX ? lazy->item_count - SEARCH_MAX : 0;
    for (size_t i = lazy->item_count; i > last; i--) {
        const uint64_t *const item = lazy->items[i - 1];
        if (item == NULL || !is_same(item, words, payload))
            continue;
        lazy->items[i - 1] = NULL;
        lazy->reused++;
        if (tw->worker->speculative)
            note_again(tw, item);
        else if ((*item & ITEM_KIND_MASK) == ITEM_REMOTE)
            tw->peers.sent_for_good++; /* I-QUOTA-2: the event commits without a log */
        return true;
    }
    return false;
}

void lazy_cancel_end(struct timewarp *tw)
{
    struct lazy_cancel *const lazy = &tw->lazy;
    struct log *const log = lazy->log;
    if (log == NULL)
        return;
    lazy->log = NULL;
    for (size_t i = 0; i < lazy->item_count; i++)
        if (lazy->items[i] != NULL)
            send_cancel_logged(tw, data_of(lazy->items[i]), *lazy->items[i]);
    undo_log_release(log);
}
