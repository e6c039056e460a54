/*
 * recorder.h: the recorder delivers the records of all workers to the host's sink
 * (cw_config.record), in the total order, on a thread of its own beside the workers.
 *
 * Worker 0 asks it, between the cuts of a round of GVT, to deliver all records before the GVT of
 * the round before. All of them are published by then (I-GVT-3). If the recorder still has the last
 * bound to deliver, worker 0 asks in a later round. So no worker waits for the recorder, except for
 * memory: at the end of a round, when many of its chunks are lent to the recorder, or when memory
 * is tight.
 *
 * The recorder is bound to no core. It sleeps when it has nothing to deliver. When the workers have
 * come to rest, the host's thread delivers the records that are left. If the workers run on one
 * thread, there is no recorder: worker 0 delivers the records itself.
 *
 * I-REC-2 (ownership of the merger and the bound): worker 0 owns the bound and `least` while
 * `asked` is 0, the recorder owns them and the merger while it is 1. Worker 0 alone sets it to 1,
 * the recorder alone sets it to 0. Before and after a drain all are the host's.
 *
 * I-REC-3: no worker waits forever for the recorder, and the recorder does not sleep forever
 * while it is asked for something. Proof:
 *   1. A worker waits only while `asked` is 1. The recorder then needs no worker: everything before
 *      the bound is published. So `asked` becomes 0.
 *   2. Worker 0 sets `asked` or `closed`, and then looks whether the recorder sleeps, with a full
 *      fence between.
 *   3. The recorder says that it sleeps, and then looks at both words once more, with a full fence
 *      between. So the recorder sees the word, or worker 0 sees that the recorder sleeps.
 * A sleep also ends by time, which bounds the cost of an error in this proof.
 */
#ifndef CORE_RECORDER_H
#define CORE_RECORDER_H

#include "core/exchange/record_merge.h"

struct gvt_slot;

struct recorder {
    bool on;       /* there is a sink */
    bool threaded; /* it has a thread of its own */
    struct record_merger merger;
    /* worker 0's: */
    uint64_t seen; /* bytes of records that were published when the recorder was last asked */
    /* I-REC-2: */
    _Alignas(128) struct sync_u64 asked; /* 1: to deliver everything before the bound */
    struct key bound;
    struct key least;                    /* the least event that was not delivered */
    _Alignas(64) struct sync_u64 asleep; /* 1: the recorder's thread sleeps */
    _Alignas(64) struct sync_u64 closed; /* 1: the workers have come to rest, or nearly */
};

/* The host's. `sink` NULL: there is no recorder. False: out of memory; recorder_free() is due in
 * any case. */
bool recorder_init(struct recorder *recorder, struct memory *memory, uint32_t worker_count,
                   bool threaded, cw_record_fn sink, void *sink_arg);
void recorder_free(struct recorder *recorder);
/* A worker's end; NULL: there is no sink. */
struct record_lane *recorder_lane(const struct recorder *recorder, uint32_t worker);
/* Before a drain. */
void recorder_begin(struct recorder *recorder);
/* After it, when all threads have come to rest: delivers the records of the events before `bound`,
 * or before `failed`, if that is not NULL. False: out of memory. */
bool recorder_finish(struct recorder *recorder, struct key bound, const struct cw_event *failed);

/* Worker 0, when all have made the first cut of a round and before its own second cut: asks for
 * everything before `bound`, if that is anything new. False: out of memory; only if there is no
 * thread. */
bool recorder_ask(struct recorder *recorder, const struct gvt_slot *slots, struct key bound);
/* Worker 0's thread, when it has come to rest: ends recorder_run(). */
void recorder_close(struct recorder *recorder);
/* Any worker at the end of a round: whether it has to wait for memory. Takes back empty chunks. */
bool recorder_is_behind(const struct recorder *recorder, struct record_outbox *outbox);

/* The main function of the recorder's thread. False: out of memory. */
bool recorder_run(struct recorder *recorder);

#endif
