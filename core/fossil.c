/*
 * fossil.c: fossil collection: what GVT has passed becomes known and is freed (timewarp.h).
 *
 * Processed events are noted as they are handled: in a queue, as long as that is in the total
 * order. What was rolled back is gone from there, and, handled again behind later events of other
 * LPs, is noted in a second list, without order. GVT takes from the front of the first, and from
 * anywhere in the second, and commits both merged: so each LP's events commit in order, which is
 * what the trace hash needs. Records find their order in the outbox.
 */
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/simulation.h"
#include "core/timewarp.h"

/* The records that an event's log holds, one after the other as records.h has them. */
static void hand_over_records(struct timewarp *tw, const struct cw_event *event, struct log *log)
{
    size_t bytes = 0;
    for (struct item *item = log_first(log); item != NULL; item = log_next(log, item))
        if (item->kind == ITEM_RECORD)
            bytes += item->bytes;
    uint8_t *to = worker_need(tw->worker, outbox_add(&tw->outbox, event, bytes));
    for (struct item *item = log_first(log); item != NULL; item = log_next(log, item))
        if (item->kind == ITEM_RECORD) {
            memcpy(to, item->data, item->bytes);
            to += item->bytes;
        }
}

/* The event is final: counted, hashed, and its record free. */
static void finish(struct timewarp *tw, struct cw_event *event)
{
    struct worker *const worker = tw->worker;
    struct lp_block *const block = worker->sim->lps.blocks[event->lp];
    if (event->time_ps > worker->now_ps)
        worker->now_ps = event->time_ps;
    worker->committed++;
    if (!worker->sim->config.hash_off)
        block->hash = hash_event(block->hash, event);
    pool_put(&worker->pool, event);
}

/* A processed event commits: the oldest of its LP. */
static void commit_processed(struct timewarp *tw, struct log *log)
{
    struct cw_event *const event = log->event;
    event->reserved = 0;
    if (log->records > 0)
        hand_over_records(tw, event, log);
    if (log->newer != NULL)
        log->newer->older = NULL;
    else
        tw->newest[event->lp] = NULL;
    history_drop(&tw->history, log);
    tw->speculated--;
    finish(tw, event);
}

void fossil_commit(struct timewarp *tw, struct cw_event *event)
{
    struct records *const records = &tw->worker->records;
    if (event->reserved != 0) /* or else unwritten: the hash reads it as part of a word */
        event->reserved = 0;
    if (records->used > 0) {
        uint8_t *const to = worker_need(tw->worker, outbox_add(&tw->outbox, event, records->used));
        memcpy(to, records->bytes, records->used);
        records->used = 0;
    }
    tw->safe_events++;
    finish(tw, event);
}

static struct processed *item_of(struct timewarp *tw, const struct log *log)
{
    struct processed_list *const list = log->late ? &tw->late : &tw->ascending;
    return &list->items[log->place - list->moved];
}

void fossil_forget(struct timewarp *tw, const struct log *log)
{
    item_of(tw, log)->log = NULL;
    tw->speculated--;
}

void fossil_commit_lp(struct timewarp *tw, uint32_t lp)
{
    struct log *log = tw->newest[lp];
    if (log == NULL)
        return;
    while (log->older != NULL)
        log = log->older;
    while (log != NULL) {
        struct log *const newer = log->newer;
        item_of(tw, log)->log = NULL;
        commit_processed(tw, log);
        log = newer;
    }
}

/* Room for one more at the end: moves the items to the front of the array, or to a larger one. */
static void make_room(struct timewarp *tw, struct processed_list *list)
{
    struct memory *const memory = &tw->worker->sim->memory;
    const size_t count = list->end - list->first;
    if (list->end < list->capacity)
        return;
    if (count <= list->capacity / 2 && list->capacity > 0) {
        memmove(list->items, list->items + list->first, count * sizeof *list->items);
    } else {
        const size_t capacity = list->capacity == 0 ? 4096 : 2 * list->capacity;
        struct processed *const items =
            worker_need(tw->worker, memory_take(memory, capacity * sizeof *items));
        if (count > 0)
            memcpy(items, list->items + list->first, count * sizeof *items);
        memory_give(memory, list->items, list->capacity * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    list->moved += list->first;
    list->first = 0;
    list->end = count;
}

void fossil_note(struct timewarp *tw, const struct entry *entry, struct log *log)
{
    struct processed_list *list = &tw->ascending;
    while (list->end > list->first && list->items[list->end - 1].log == NULL)
        list->end--;
    log->late = list->end > list->first && entry_before(entry, &list->items[list->end - 1].entry);
    if (log->late)
        list = &tw->late;
    make_room(tw, list);
    log->place = list->end + list->moved;
    list->items[list->end++] = (struct processed){*entry, log};
    tw->speculated++;
}

void fossil_free(struct timewarp *tw)
{
    struct memory *const memory = &tw->worker->sim->memory;
    memory_give(memory, tw->ascending.items, tw->ascending.capacity * sizeof *tw->ascending.items);
    memory_give(memory, tw->late.items, tw->late.capacity * sizeof *tw->late.items);
}

/* The order in which events commit: equal ones as they were handled. */
static bool processed_before(const struct processed *a, const struct processed *b)
{
    if (entry_before(&a->entry, &b->entry))
        return true;
    return !entry_before(&b->entry, &a->entry) && a->log->serial < b->log->serial;
}

static int compare_processed(const void *a, const void *b)
{
    return processed_before(a, b) ? -1 : processed_before(b, a) ? 1 : 0;
}

/* Puts what is due of the late list to its front, sorted, and drops what is gone. How many. */
static size_t sort_late(struct timewarp *tw)
{
    struct processed_list *const late = &tw->late;
    size_t due = 0, kept = 0;
    for (size_t i = 0; i < late->end; i++) {
        const struct processed item = late->items[i];
        if (item.log == NULL)
            continue;
        late->items[kept++] = item;
        if (key_before(key_of(&item.entry), tw->gvt.now)) {
            late->items[kept - 1] = late->items[due];
            late->items[due++] = item;
        }
    }
    late->end = kept;
    if (due > 1)
        qsort(late->items, due, sizeof *late->items, compare_processed);
    return due;
}

/* The first `due` items of the late list have been committed. */
static void drop_late(struct timewarp *tw, size_t due)
{
    struct processed_list *const late = &tw->late;
    late->end -= due;
    memmove(late->items, late->items + due, late->end * sizeof *late->items);
    for (size_t i = 0; i < late->end; i++)
        late->items[i].log->place = i + late->moved;
}

void fossil_collect(struct timewarp *tw)
{
    struct processed_list *const ascending = &tw->ascending, *const late = &tw->late;
    const size_t due = late->end > 0 ? sort_late(tw) : 0;
    size_t next = 0;
    while (ascending->first < ascending->end) {
        const struct processed item = ascending->items[ascending->first];
        if (item.log == NULL) {
            ascending->first++;
        } else if (!key_before(key_of(&item.entry), tw->gvt.now)) {
            break;
        } else if (next < due && processed_before(&late->items[next], &item)) {
            commit_processed(tw, late->items[next++].log);
        } else {
            ascending->first++;
            commit_processed(tw, item.log);
        }
    }
    while (next < due)
        commit_processed(tw, late->items[next++].log);
    if (late->end > 0)
        drop_late(tw, due);
}
