/*
 * record_merge.h: committed records on their way from all workers to the one sink, in the total
 * order.
 *
 * A worker appends what it commits. At the first cut of each GVT round it hands over what it has;
 * worker 0 takes it after all have made that cut, and delivers, merged, what is before the GVT of
 * the round before: by then everybody has committed all of it. The batch that is then empty goes
 * back the same way, and is filled again.
 */
#ifndef CORE_RECORD_MERGE_H
#define CORE_RECORD_MERGE_H

#include "core/timewarp/gvt.h"
#include "core/memory/memory.h"
#include "core/commit_records.h"

struct cw_sim;

/* A batch of committed events with records. */
struct record_batch {
    struct record_batch *next; /* in a list of empty ones */
    size_t bytes;              /* allocated, of data */
    size_t used;
    size_t left;    /* events not yet delivered */
    uint64_t owner; /* whose outbox it is */
    _Alignas(16) uint8_t data[];
};

struct record_outbox {
    struct memory *memory;
    uint64_t owner;
    struct record_batch *spare; /* empty, to be filled next */
    size_t spares;
    struct record_batch *open; /* NULL: nothing committed since the last hand-over */
};

/* An event whose records are due. */
struct due {
    struct entry entry; /* its event is a copy in the batch */
    struct record_batch *batch;
    const uint8_t *records;
    size_t records_bytes;
    uint64_t index; /* in the order of taking: orders events that are equal */
};

struct record_merger {
    struct due *due;     /* [first .. end) of [capacity] is not delivered yet, in order */
    struct due *scratch; /* [capacity] too */
    size_t first, end, capacity;
    uint64_t taken; /* ever */
};

/* What has been appended since the last hand-over. */
static inline size_t record_outbox_bytes(const struct record_outbox *outbox)
{
    return outbox->open == NULL ? 0 : outbox->open->used;
}
/* Room for an event's records, which the caller fills. NULL: out of memory. */
uint8_t *record_outbox_add(struct record_outbox *outbox, const struct cw_event *event,
                           size_t records_bytes);
struct record_batch *record_outbox_seal(struct record_outbox *outbox);
/* Takes back the list of batches that worker 0 has emptied, and keeps a few that are not large. */
void record_outbox_take_back(struct record_outbox *outbox, struct record_batch **spent);
/* Gives back those that are kept. */
void record_outbox_trim(struct record_outbox *outbox);
void record_outbox_free(struct record_outbox *outbox);
/* Batches that nobody takes any more: a list. */
void record_outbox_discard(struct record_batch *batch, struct memory *memory);

/* Worker 0: takes what the workers have handed over, delivers what is before `gvt`, or before the
 * event that ends the run, which is at `gvt`; NULL: none does. */
void record_merge_deliver(struct cw_sim *sim, struct key gvt, const struct entry *failed);
void record_merger_free(struct record_merger *merger, struct memory *memory);

#endif
