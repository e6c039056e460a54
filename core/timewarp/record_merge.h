/*
 * record_merge.h: committed records on their way from all workers to the one sink, in the total
 * order.
 *
 * A worker appends what it commits. At the first cut of each GVT round it hands over what it has;
 * worker 0 takes it after all have made that cut, and delivers, merged, what is before the GVT of
 * the round before: by then everybody has committed all of it. The batch that is then empty goes
 * back the same way, and is filled again.
 */
#ifndef CORE_OUTBOX_H
#define CORE_OUTBOX_H

#include "core/timewarp/gvt.h"
#include "core/memory/memory.h"
#include "core/commit_records.h"

struct cw_sim;

/* A batch of committed events with records. */
struct sealed_outbox {
    struct sealed_outbox *next; /* in a list of empty ones */
    size_t bytes;               /* allocated, of data */
    size_t used;
    size_t left;    /* events not yet delivered */
    uint64_t owner; /* whose outbox it is */
    _Alignas(16) uint8_t data[];
};

struct outbox {
    struct memory *memory;
    uint64_t owner;
    struct sealed_outbox *spare; /* empty, to be filled next */
    size_t spares;
    struct sealed_outbox *open; /* NULL: nothing committed since the last hand-over */
};

/* An event whose records are due. */
struct due {
    struct entry entry; /* its event is a copy in the batch */
    struct sealed_outbox *batch;
    const uint8_t *records;
    size_t records_bytes;
    uint64_t index; /* in the order of taking: orders events that are equal */
};

struct merger {
    struct due *due;     /* [first .. end) of [capacity] is not delivered yet, in order */
    struct due *scratch; /* [capacity] too */
    size_t first, end, capacity;
    uint64_t taken; /* ever */
};

/* What has been appended since the last hand-over. */
static inline size_t outbox_bytes(const struct outbox *outbox)
{
    return outbox->open == NULL ? 0 : outbox->open->used;
}
/* Room for an event's records, which the caller fills. NULL: out of memory. */
uint8_t *outbox_add(struct outbox *outbox, const struct cw_event *event, size_t records_bytes);
struct sealed_outbox *outbox_seal(struct outbox *outbox);
/* Takes back the list of batches that worker 0 has emptied, and keeps a few that are not large. */
void outbox_take_back(struct outbox *outbox, struct sealed_outbox **spent);
/* Gives back those that are kept. */
void outbox_trim(struct outbox *outbox);
void outbox_free(struct outbox *outbox);
/* Batches that nobody takes any more: a list. */
void outbox_discard(struct sealed_outbox *batch, struct memory *memory);

/* Worker 0: takes what the workers have handed over, delivers what is before `gvt`, or before the
 * event that ends the run, which is at `gvt`; NULL: none does. */
void outbox_merge(struct cw_sim *sim, struct key gvt, const struct entry *failed);
void merger_free(struct merger *merger, struct memory *memory);

#endif
