/*
 * record_merge.c: see record_merge.h.
 */
#include "core/timewarp/record_merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/simulation.h"
#include "core/timewarp/timewarp.h"

enum { BATCH_BYTES_MIN = 16 << 10, SPARES_MAX = 4, AHEAD_BYTES = 512 };
/* Of all memory, what an empty batch that is kept may have at most. */
enum { SPARE_SHARE = 4096 };

/* Before each event in a batch. */
struct record_batch_event {
    uint32_t event_bytes;   /* header and payload, rounded up to 16 */
    uint32_t records_bytes; /* as they are; the next event starts at a multiple of 16 */
    uint64_t reserved;
};

static size_t record_merge_round_up(size_t bytes) { return (bytes + 15) & ~(size_t)15; }
static size_t batch_bytes(size_t bytes) { return sizeof(struct record_batch) + bytes; }

static bool record_merge_reserve(struct record_outbox *outbox, size_t bytes)
{
    struct record_batch *const old = outbox->open, *const spare = outbox->spare;
    if (old != NULL && old->bytes - old->used >= bytes)
        return true;
    if (old == NULL && spare != NULL && spare->bytes >= bytes) {
        outbox->spare = spare->next;
        outbox->spares--;
        spare->used = 0;
        outbox->open = spare;
        return true;
    }
    size_t capacity = old == NULL ? BATCH_BYTES_MIN : 2 * old->bytes;
    while (capacity < (old == NULL ? 0 : old->used) + bytes)
        capacity *= 2;
    struct record_batch *const batch = memory_take(outbox->memory, batch_bytes(capacity));
    if (batch == NULL)
        return false;
    if (old != NULL) {
        memcpy(batch->data, old->data, old->used);
        batch->used = old->used;
        batch->left = old->left;
        memory_give(outbox->memory, old, batch_bytes(old->bytes));
    }
    batch->bytes = capacity;
    batch->owner = outbox->owner;
    outbox->open = batch;
    return true;
}

uint8_t *record_outbox_add(struct record_outbox *outbox, const struct cw_event *event,
                           size_t records_bytes)
{
    const size_t copied = offsetof(struct cw_event, payload) + event->payload_bytes;
    const struct record_batch_event head = {.event_bytes = (uint32_t)record_merge_round_up(copied),
                                            .records_bytes = (uint32_t)records_bytes};
    const size_t bytes = sizeof head + head.event_bytes + record_merge_round_up(records_bytes);
    if (!record_merge_reserve(outbox, bytes))
        return NULL;
    struct record_batch *const batch = outbox->open;
    uint8_t *const at = batch->data + batch->used;
    for (size_t line = 0; line < bytes; line += 64) /* worker 0 has read it the last time */
        __builtin_prefetch(at + AHEAD_BYTES + line, 1);
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, event, copied);
    batch->used += bytes;
    batch->left++;
    return at + sizeof head + head.event_bytes;
}

struct record_batch *record_outbox_seal(struct record_outbox *outbox)
{
    struct record_batch *const sealed = outbox->open;
    outbox->open = NULL;
    if (sealed != NULL)
        sealed->next = NULL;
    return sealed;
}

void record_outbox_discard(struct record_batch *batch, struct memory *memory)
{
    while (batch != NULL) {
        struct record_batch *const next = batch->next;
        memory_give(memory, batch, batch_bytes(batch->bytes));
        batch = next;
    }
}

static bool is_worth_keeping(const struct record_outbox *outbox, const struct record_batch *batch)
{
    return outbox->spares < SPARES_MAX && (batch->bytes <= BATCH_BYTES_MIN ||
                                           batch->bytes <= outbox->memory->bytes_max / SPARE_SHARE);
}

void record_outbox_take_back(struct record_outbox *outbox, struct record_batch **spent)
{
    while (*spent != NULL) {
        struct record_batch *const batch = *spent;
        *spent = batch->next;
        if (is_worth_keeping(outbox, batch)) {
            batch->next = outbox->spare;
            outbox->spare = batch;
            outbox->spares++;
        } else {
            memory_give(outbox->memory, batch, batch_bytes(batch->bytes));
        }
    }
}

void record_outbox_trim(struct record_outbox *outbox)
{
    record_outbox_discard(outbox->spare, outbox->memory);
    outbox->spare = NULL;
    outbox->spares = 0;
}

void record_outbox_free(struct record_outbox *outbox)
{
    record_outbox_discard(record_outbox_seal(outbox), outbox->memory);
    record_outbox_trim(outbox);
}

/* Room for that many more. */
static bool reserve_due(struct cw_sim *sim, size_t more)
{
    struct record_merger *const merger = &sim->merger;
    const size_t count = merger->end - merger->first;
    if (merger->capacity - merger->end >= more)
        return true;
    size_t capacity = merger->capacity == 0 ? 1024 : merger->capacity;
    while (capacity < 2 * count + more)
        capacity *= 2;
    struct due *const due = memory_take(&sim->memory, capacity * sizeof *due);
    struct due *const scratch = memory_take(&sim->memory, capacity * sizeof *due);
    if (due == NULL || scratch == NULL) {
        memory_give(&sim->memory, due, capacity * sizeof *due);
        memory_give(&sim->memory, scratch, capacity * sizeof *due);
        return false;
    }
    if (count > 0)
        memcpy(due, merger->due + merger->first, count * sizeof *due);
    memory_give(&sim->memory, merger->due, merger->capacity * sizeof *due);
    memory_give(&sim->memory, merger->scratch, merger->capacity * sizeof *due);
    *merger = (struct record_merger){
        .due = due, .scratch = scratch, .end = count, .capacity = capacity, .taken = merger->taken};
    return true;
}

static int compare_due(const void *a, const void *b)
{
    const struct due *const x = a, *const y = b;
    if (entry_before(&x->entry, &y->entry))
        return -1;
    return entry_before(&y->entry, &x->entry) || x->index > y->index ? 1 : -1;
}

/* Brings [first .. middle) and [middle .. end), each in order, into one order. Of what is equal
 * the first comes first, so it was taken first. */
static void merge_runs(struct record_merger *merger, size_t middle)
{
    struct due *const due = merger->due, *const scratch = merger->scratch;
    size_t a = merger->first, b = middle, to = merger->first;
    if (a == middle || b == merger->end || !entry_before(&due[b].entry, &due[middle - 1].entry))
        return;
    while (a < middle && !entry_before(&due[b].entry, &due[a].entry))
        a++; /* stays where it is */
    to = a;
    const size_t from = a;
    while (a < middle && b < merger->end)
        scratch[to++] = entry_before(&due[b].entry, &due[a].entry) ? due[b++] : due[a++];
    memcpy(scratch + to, due + a, (middle - a) * sizeof *due);
    memcpy(due + from, scratch + from, (to + middle - a - from) * sizeof *due);
}

/* Takes what a worker has handed over; the batch is the merger's from here on. */
static bool take_batch(struct cw_sim *sim, struct gvt_slot *slot)
{
    struct record_merger *const merger = &sim->merger;
    struct record_batch *const batch = slot->sealed;
    if (!reserve_due(sim, batch->left))
        return false;
    slot->sealed = NULL;
    const size_t start = merger->end;
    bool ordered = true;
    for (size_t at = 0; at < batch->used;) {
        struct record_batch_event head;
        memcpy(&head, batch->data + at, sizeof head);
        at += sizeof head;
        struct due *const due = &merger->due[merger->end++];
        *due = (struct due){
            .entry = entry_of_event((struct cw_event *)(void *)(batch->data + at)),
            .batch = batch,
            .records = batch->data + at + head.event_bytes,
            .records_bytes = head.records_bytes,
            .index = merger->taken++,
        };
        ordered &= merger->end == start + 1 || !entry_before(&due->entry, &due[-1].entry);
        at += head.event_bytes + record_merge_round_up(head.records_bytes);
    }
    if (!ordered)
        qsort(merger->due + start, merger->end - start, sizeof *merger->due, compare_due);
    merge_runs(merger, start);
    return true;
}

static void deliver(struct cw_sim *sim, const struct due *due)
{
    commit_records_deliver_bytes(due->records, due->records_bytes, due->entry.event,
                                 sim->config.record, sim->config.record_arg);
    struct record_batch *const batch = due->batch;
    if (--batch->left > 0)
        return;
    struct gvt_slot *const slot = &sim->slots[batch->owner];
    batch->next = slot->spent;
    slot->spent = batch;
}

void record_merge_deliver(struct cw_sim *sim, struct key gvt, const struct entry *failed)
{
    struct record_merger *const merger = &sim->merger;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (sim->slots[i].sealed != NULL && !take_batch(sim, &sim->slots[i])) {
            (void)memory_error(&sim->memory, &sim->workers[0].failure);
            simulation_abort(sim, &sim->workers[0]);
            return;
        }
    while (merger->first < merger->end &&
           (failed != NULL ? entry_before(&merger->due[merger->first].entry, failed)
                           : key_before(key_of(&merger->due[merger->first].entry), gvt)))
        deliver(sim, &merger->due[merger->first++]);
    if (merger->first == merger->end)
        merger->first = merger->end = 0;
}

void record_merger_free(struct record_merger *merger, struct memory *memory)
{
    for (size_t i = merger->first; i < merger->end; i++)
        if (--merger->due[i].batch->left == 0)
            memory_give(memory, merger->due[i].batch, batch_bytes(merger->due[i].batch->bytes));
    memory_give(memory, merger->due, merger->capacity * sizeof *merger->due);
    memory_give(memory, merger->scratch, merger->capacity * sizeof *merger->due);
    *merger = (struct record_merger){.due = NULL};
}
