/*
 * record_outbox.h: committed records on their way from the worker that committed them to the
 * merger (record_merge.h).
 *
 * A worker appends the records that it commits to a chunk of memory. It publishes them at the first
 * cut of each round of GVT. A full chunk is followed by another one. The merger reads the chunks in
 * that order. It gives a chunk back when it has a successor and the records of all its events are
 * delivered. The worker then fills it again.
 *
 * I-REC-1 (ownership of a chunk):
 *   1. The bytes in [0, used) are the merger's to read, all others the worker's to write. `used`
 *      and `next` are written by the worker alone. `next` is set once, after the chunk's last
 *      publication. So a merger that sees `next`, and then reads `used`, has seen all of the chunk.
 *   2. The merger gives back a chunk only after it has seen `next`, when no event of it is left. So
 *      the worker does not write to it any more, and the merger never reads it again.
 *   3. `spent` is one word. The merger sets it to a list of chunks when it is NULL, and the worker
 *      sets it to NULL when it has taken the list. So each side changes only the word that the
 *      other has left, and a chunk is in one list at a time.
 *
 * I-REC-4 (equal events): two events of one LP may be equal in the total order, and the records of
 * the one that was handled first come first. If the LP has changed its lane between the two, only
 * their placements say which. A placement is a span of time in which no LP's records change their
 * lane: parts move (core/run/migrate.h) and events are gathered (core/run/gather.h) between two
 * placements. Proof:
 *   1. Each worker counts each such change once, after it has committed all that it commits before
 *      the change. No event is handled between the first worker's count and the last one's.
 *   2. So of two events of one LP the one with the lesser placement was handled first. With the
 * same placement both are in one lane, in the order in which they were handled.
 *
 * The outbox is its worker's; between drains it is the host's.
 */
#ifndef CORE_RECORD_OUTBOX_H
#define CORE_RECORD_OUTBOX_H

#include "core/queue/event.h"
#include "core/os/sync.h"
#include "core/os/memory.h"

/* Committed events with their records. */
struct record_chunk {
    /* line 0: the worker's, until the chunk is given back */
    _Alignas(64) struct sync_u64 used; /* bytes of data that are published */
    struct sync_pointer next;          /* the chunk after this one; NULL: this one is open */
    /* line 1: the merger's, from the first publication until the chunk is given back */
    _Alignas(64) size_t left;   /* events taken and not delivered */
    bool ended;                 /* it has been read to its end */
    struct record_chunk *older; /* in a list of empty ones, which has one owner */
    size_t bytes;               /* of data; const */
    uint64_t owner;             /* the worker that fills it; const */
    _Alignas(64) uint8_t data[];
};

/* Before each event in a chunk. */
struct record_chunk_event {
    uint32_t event_bytes;   /* header and payload, rounded up to 16 */
    uint32_t records_bytes; /* as they are; the next event starts at a multiple of 16 */
    uint64_t placement;     /* when it was committed (I-REC-4) */
};

/* The words that a worker and the merger share. */
struct record_lane {
    _Alignas(128) struct sync_pointer first; /* the first chunk of all; set once, by the worker */
    struct sync_pointer spent;               /* a list of chunks that are given back (I-REC-1) */
};

/* Where a worker appends. */
struct record_outbox {
    struct memory *memory;
    struct record_lane *lane; /* NULL: no record is ever added */
    uint64_t owner;
    uint64_t placement;         /* changes of the lanes so far (I-REC-4) */
    struct record_chunk *open;  /* NULL: no record was added yet */
    size_t written;             /* bytes of the open chunk, published or not */
    uint64_t added;             /* bytes, ever; */
    uint64_t published;         /* of them, the published ones */
    struct record_chunk *spare; /* empty, to be filled next */
    size_t spare_bytes;
    size_t lent_bytes; /* of chunks that the merger has not given back; the open one is not counted
                        */
    size_t lent_most;  /* beyond that the worker waits for the recorder (recorder.h) */
};

static inline size_t record_round_up(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

/* `workers` share the memory. `lane` NULL: no record is ever added. */
void record_outbox_init(struct record_outbox *outbox, struct memory *memory,
                        struct record_lane *lane, uint32_t owner, uint32_t workers);
/* Frees the empty chunks. record_merger_free(), which comes later, frees the others. */
void record_outbox_free(struct record_outbox *outbox);

/* Bytes that were added since the last publication. */
static inline uint64_t record_outbox_bytes(const struct record_outbox *outbox)
{
    return outbox->added - outbox->published;
}
/* Room for an event's records, which the caller fills before the next call. NULL: out of memory. */
uint8_t *record_outbox_add(struct record_outbox *outbox, const struct cw_event *event,
                           size_t records_bytes);
/* LPs change the worker that commits their events, and so their lane: I-REC-4. */
static inline void record_outbox_change_lanes(struct record_outbox *outbox) { outbox->placement++; }
/* Publishes all records that were added. Returns the bytes that were published, ever. */
uint64_t record_outbox_publish(struct record_outbox *outbox);
/* Takes back the chunks that the merger has emptied. */
void record_outbox_take_back(struct record_outbox *outbox);
/* Gives the empty chunks back to the memory account. */
void record_outbox_trim(struct record_outbox *outbox);

/* Frees a list of chunks that no outbox takes back any more. */
void record_chunks_free(struct record_chunk *chunk, struct memory *memory);

#endif
