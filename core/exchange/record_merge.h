/*
 * record_merge.h: committed records on their way from all workers to the one sink, in the total
 * order.
 *
 * A worker appends the records that it commits to a batch. At the first cut of each GVT round it
 * hands the batch over. Worker 0 takes all batches when all workers have made that cut. It merges
 * them and delivers the records before the GVT of the round before: by then all workers have
 * committed all of those. Empty batches go back the same way, and are filled again (I-GVT-3).
 *
 * I-MERGE-1: records are delivered in the total order of their events, each exactly once.
 *
 * The outbox is its worker's, the merger worker 0's; between drains both are the host's.
 */
#ifndef CORE_RECORD_MERGE_H
#define CORE_RECORD_MERGE_H

#include "core/event.h"
#include "core/memory/memory.h"

struct gvt_slot;

/* Committed events with their records. */
struct record_batch {
    struct record_batch *next; /* in a list of empty ones */
    size_t bytes;              /* allocated, of data */
    size_t used;
    size_t left;    /* events not yet delivered */
    uint64_t owner; /* the worker that filled it */
    _Alignas(16) uint8_t data[];
};

/* Where a worker appends. */
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
    struct memory *memory;
    struct gvt_slot *slots; /* [slot_count] */
    uint32_t slot_count;
    cw_record_fn sink;
    void *sink_arg;
    struct due *due;     /* [first .. end) of [capacity] is not delivered yet, in order */
    struct due *scratch; /* [scratch_capacity] */
    size_t first, end, capacity, scratch_capacity;
    uint64_t taken;       /* events, ever */
    struct key delivered; /* of the last event in this drain, where I-MERGE-1 is asserted */
};

/* Bytes that were appended since the last hand-over. */
static inline size_t record_outbox_bytes(const struct record_outbox *outbox)
{
    return outbox->open == NULL ? 0 : outbox->open->used;
}
/* Room for an event's records, which the caller fills. NULL: out of memory. */
uint8_t *record_outbox_add(struct record_outbox *outbox, const struct cw_event *event,
                           size_t records_bytes);
/* Ends the open batch and returns it. NULL: there is none. */
struct record_batch *record_outbox_seal(struct record_outbox *outbox);
/* Takes back the list of batches that worker 0 has emptied. Keeps a few that are not large. */
void record_outbox_take_back(struct record_outbox *outbox, struct record_batch **spent);
/* Gives the empty batches back to the memory account. */
void record_outbox_trim(struct record_outbox *outbox);
void record_outbox_free(struct record_outbox *outbox);
/* Frees a list of batches that no outbox takes back any more. */
void record_batches_free(struct record_batch *batch, struct memory *memory);

/* The sink may be NULL: then no record is ever added. */
void record_merger_init(struct record_merger *merger, struct memory *memory, struct gvt_slot *slots,
                        uint32_t slot_count, cw_record_fn sink, void *sink_arg);
void record_merger_free(struct record_merger *merger);
/* Before a drain. */
void record_merger_begin(struct record_merger *merger);
/* Worker 0: takes the batches that were handed over, and delivers the records of events before
 * `gvt`. If `failed` is not NULL it ends the run and is at `gvt`; then the records of all events
 * before it. False: out of memory. */
bool record_merge_deliver(struct record_merger *merger, struct key gvt, const struct entry *failed);

#endif
