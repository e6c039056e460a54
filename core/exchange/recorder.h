/*
 * recorder.h: the recorder delivers the records of all workers to the host's sink
 * (cw_config.record), in the total order, on its own thread.
 *
 * Between the two cuts of a GVT round, worker 0 asks it to deliver all records before the previous
 * round's GVT, which are all published by then (I-GVT-3). If the recorder is still busy with the
 * last request, worker 0 asks in a later round. So workers wait for the recorder only for memory:
 * at the end of a round, when it holds many of their chunks, or when memory is tight.
 *
 * The recorder is not pinned to a core, and sleeps when it has nothing to deliver. After the
 * workers have stopped, the host's thread delivers the remaining records. If the workers run on one
 * thread, there is no recorder thread: worker 0 delivers the records itself.
 *
 * I-REC-2 (ownership of the merger and the bound): worker 0 owns the bound and `least` while
 * `asked` is 0; the recorder owns them and the merger while it is 1. Only worker 0 sets it to 1,
 * and only the recorder sets it to 0. Outside a drain the host owns them all.
 *
 * I-REC-3: no worker waits forever for the recorder, and the recorder does not sleep forever
 * while a request is pending. Proof:
 *   1. A worker waits only while `asked` is 1. The recorder then needs no worker: everything before
 *      the bound is published. So `asked` becomes 0.
 *   2. Worker 0 sets `asked` or `closed`, and then checks whether the recorder is asleep, with a
 *      full fence between.
 *   3. The recorder sets `asleep`, and then checks both words once more, with a full fence between.
 *      So either the recorder sees the request, or worker 0 sees that the recorder is asleep.
 * A sleep also times out, which bounds the cost of an error in this proof.
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
    uint64_t seen; /* bytes of records published by the last request */
    /* I-REC-2: */
    _Alignas(128) struct sync_u64 asked; /* 1: deliver everything before the bound */
    struct key bound;
    struct key least;                    /* the least event not delivered yet */
    _Alignas(64) struct sync_u64 asleep; /* 1: the recorder's thread is asleep */
    _Alignas(64) struct sync_u64 closed; /* 1: the workers have stopped, or are about to */
};

/* The host's. `sink` NULL: there is no recorder. False: out of memory; call recorder_free()
 * either way. */
bool recorder_init(struct recorder *recorder, struct memory *memory, uint32_t worker_count,
                   bool threaded, cw_record_fn sink, void *sink_arg);
void recorder_free(struct recorder *recorder);
/* A worker's end; NULL: there is no sink. */
struct record_lane *recorder_lane(const struct recorder *recorder, uint32_t worker);
/* Before a drain. */
void recorder_begin(struct recorder *recorder);
/* After a drain, when all threads have stopped: delivers the records of the events before `bound`,
 * or before `failed` unless it is NULL. False: out of memory. */
bool recorder_finish(struct recorder *recorder, struct key bound, const struct cw_event *failed);

/* Worker 0, after all have made a round's first cut and before its own second cut: asks for
 * everything before `bound`, if there is anything new. False: out of memory, only where there is no
 * recorder thread. */
bool recorder_ask(struct recorder *recorder, const struct gvt_slot *slots, struct key bound);
/* Worker 0's thread, when it has stopped: ends recorder_run(). */
void recorder_close(struct recorder *recorder);
/* Any worker at the end of a round: whether it must wait for memory. Takes back empty chunks. */
bool recorder_is_behind(const struct recorder *recorder, struct record_outbox *outbox);

/* The main function of the recorder's thread. False: out of memory. */
bool recorder_run(struct recorder *recorder);

#endif
