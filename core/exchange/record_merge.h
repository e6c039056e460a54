/*
 * record_merge.h: the records of all workers (record_outbox.h) on their way to the one sink, in the
 * total order.
 *
 * The merger reads the records that each worker has published and puts them in order, worker by
 * worker. Then it delivers the least event of all workers, again and again, up to a bound that no
 * event to come is before.
 *
 * I-MERGE-1: records are delivered in the total order of their events, each exactly once.
 *
 * One thread at a time enters: the recorder, or the one that replaces it (recorder.h).
 */
#ifndef CORE_RECORD_MERGE_H
#define CORE_RECORD_MERGE_H

#include "core/queue/event.h"
#include "core/exchange/record_outbox.h"
#include "core/os/memory.h"

/* An event whose records are due. */
struct due {
    struct entry entry; /* its event is a copy in the chunk */
    struct record_chunk *chunk;
    const uint8_t *records;
    size_t records_bytes;
};

/* The merger's side of one worker. */
struct merge_lane {
    struct record_lane *shared;
    struct record_chunk *reading; /* NULL: none yet */
    size_t read;                  /* bytes of it */
    struct record_chunk *spent;   /* a list of empty ones, to be given back */
    struct due *due;     /* [first .. end) of [capacity] is not delivered yet, in the total order */
    struct due *scratch; /* [scratch_capacity] */
    size_t first, end, capacity, scratch_capacity;
};

struct record_merger {
    struct memory *memory;
    uint32_t worker_count;
    struct record_lane *shared; /* [worker_count] */
    struct merge_lane *lanes;   /* [worker_count] */
    struct merge_lane **heap;   /* lanes with due events, the one with the least first */
    uint32_t heap_count;
    cw_record_fn sink;
    void *sink_arg;
    struct key bound;     /* all events before this were taken in this drain (I-GVT-3) */
    struct key delivered; /* of the last event in this drain, where I-MERGE-1 is asserted */
};

/* False: out of memory. record_merger_free() is due in any case. */
bool record_merger_init(struct record_merger *merger, struct memory *memory, uint32_t worker_count,
                        cw_record_fn sink, void *sink_arg);
/* Frees all chunks, except for chunks that record_outbox_free() has freed before. */
void record_merger_free(struct record_merger *merger);
/* Before a drain. */
void record_merger_begin(struct record_merger *merger);

/* Takes the records that the workers have published. False: out of memory. */
bool record_merge_take(struct record_merger *merger);
/* Delivers the records of the events that were taken and are before `bound`; if `failed` is not
 * NULL, of the events that are before `failed`. */
void record_merge_deliver(struct record_merger *merger, struct key bound,
                          const struct cw_event *failed);
/* The key of the least event that was taken and not delivered; KEY_NEVER: there is none. */
struct key record_merge_least(const struct record_merger *merger);

#endif
