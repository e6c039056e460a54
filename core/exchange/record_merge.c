/*
 * record_merge.c: see record_merge.h.
 */
#include "core/exchange/record_merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/commit_records.h"
#include "core/invariant.h"
#include "core/exchange/gvt_slot.h"

enum {
    BATCH_BYTES_MIN = 16 << 10,
    SPARES_MAX = 4,
    BATCH_AHEAD_BYTES = 512,
    SPARE_SHARE = 4096, /* a spare batch has at most this part of all memory */
    DUE_MIN = 1024,
};

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
        __builtin_prefetch(at + BATCH_AHEAD_BYTES + line, 1);
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

void record_batches_free(struct record_batch *batch, struct memory *memory)
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
    record_batches_free(outbox->spare, outbox->memory);
    outbox->spare = NULL;
    outbox->spares = 0;
}

void record_outbox_free(struct record_outbox *outbox)
{
    record_batches_free(record_outbox_seal(outbox), outbox->memory);
    record_outbox_trim(outbox);
}

/* ---- worker 0 -------------------------------------------------------------------------------- */

void record_merger_init(struct record_merger *merger, struct memory *memory, struct gvt_slot *slots,
                        uint32_t slot_count, cw_record_fn sink, void *sink_arg)
{
    *merger = (struct record_merger){.memory = memory,
                                     .slots = slots,
                                     .slot_count = slot_count,
                                     .sink = sink,
                                     .sink_arg = sink_arg};
}

void record_merger_begin(struct record_merger *merger)
{
    merger->delivered = (struct key){.time_ps = INT64_MIN};
}

void record_merger_free(struct record_merger *merger)
{
    for (size_t i = merger->first; i < merger->end; i++)
        if (--merger->due[i].batch->left == 0)
            memory_give(merger->memory, merger->due[i].batch,
                        batch_bytes(merger->due[i].batch->bytes));
    memory_give(merger->memory, merger->due, merger->capacity * sizeof *merger->due);
    memory_give(merger->memory, merger->scratch,
                merger->scratch_capacity * sizeof *merger->scratch);
}

/* Makes room for `more` events, with the others at the start. False: out of memory. */
static bool reserve_due(struct record_merger *merger, size_t more)
{
    const size_t count = merger->end - merger->first;
    if (merger->capacity - merger->end >= more)
        return true;
    if (merger->first > 0)
        memmove(merger->due, merger->due + merger->first, count * sizeof *merger->due);
    merger->first = 0;
    merger->end = count;
    return memory_grow(merger->memory, &merger->due, &merger->capacity, count, 2 * count + more,
                       sizeof *merger->due, DUE_MIN) &&
           memory_grow(merger->memory, &merger->scratch, &merger->scratch_capacity, 0,
                       merger->capacity, sizeof *merger->scratch, DUE_MIN);
}

static int compare_due(const void *a, const void *b)
{
    const struct due *const x = a, *const y = b;
    if (entry_before(&x->entry, &y->entry))
        return -1;
    return entry_before(&y->entry, &x->entry) || x->index > y->index ? 1 : -1;
}

/* Merges [first .. middle) and [middle .. end), each in order, into one order. Of equal events the
 * one from the first part comes first: it was taken first. */
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

/* Takes the batch that a worker has handed over. From here on it is the merger's. */
static bool take_batch(struct record_merger *merger, struct gvt_slot *slot)
{
    struct record_batch *const batch = slot->sealed;
    CW_INVARIANT("I-GVT-3", batch->left > 0 && slot == &merger->slots[batch->owner],
                 "a batch of worker %llu with %zu events is taken from another slot, or is empty",
                 (unsigned long long)batch->owner, batch->left);
    if (!reserve_due(merger, batch->left))
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

static void deliver(struct record_merger *merger, const struct due *due)
{
    const struct key key = key_of(&due->entry);
    CW_INVARIANT("I-MERGE-1", !key_before(key, merger->delivered),
                 "records of LP %u for %lld ps after those for %lld ps",
                 (unsigned)due->entry.event->lp, (long long)key.time_ps,
                 (long long)merger->delivered.time_ps);
    if (CW_ASSERTING)
        merger->delivered = key;
    commit_records_deliver_bytes(due->records, due->records_bytes, due->entry.event, merger->sink,
                                 merger->sink_arg);
    struct record_batch *const batch = due->batch;
    CW_INVARIANT("I-MERGE-1", batch->left > 0, "a batch of worker %llu has no event left",
                 (unsigned long long)batch->owner);
    if (--batch->left > 0)
        return;
    struct gvt_slot *const slot = &merger->slots[batch->owner];
    batch->next = slot->spent;
    slot->spent = batch;
}

bool record_merge_deliver(struct record_merger *merger, struct key gvt, const struct entry *failed)
{
    for (uint32_t i = 0; i < merger->slot_count; i++)
        if (merger->slots[i].sealed != NULL && !take_batch(merger, &merger->slots[i]))
            return false;
    while (merger->first < merger->end &&
           (failed != NULL ? entry_before(&merger->due[merger->first].entry, failed)
                           : key_before(key_of(&merger->due[merger->first].entry), gvt)))
        deliver(merger, &merger->due[merger->first++]);
    if (merger->first == merger->end)
        merger->first = merger->end = 0;
    return true;
}
