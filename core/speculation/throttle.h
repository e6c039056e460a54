/*
 * throttle.h: how far a worker speculates. The window is the number of events that may be handled
 * and not committed at a time. Each worker has a controller that adapts it to the gain of
 * speculation: it widens while almost nothing is rolled back, and halves when much is.
 *
 * No window, however small, stops a run. Proof:
 *   1. The window forbids speculation only. An event whose key is GVT is handled and committed
 *      whatever the window is. So is a safe event, unless all events are speculated on
 *      (`optimistic`).
 *   2. A worker whose window is full begins a round of GVT, or takes part in one. Among many
 *      workers it may rest first, for a bounded number of turns (gvt.c).
 *   3. After each round the worker with the least event handles it (step 1), or GVT has risen.
 *      Committed events are never undone, and finitely many events come at one key.
 *
 * Memory comes first. From 70 % of the limit on the window halves with every round; from 85 % on
 * only safe events are handled; at 95 % all speculation is undone (make_room.h). The aim is to need
 * little more memory than a sequential run. Undoing may itself need memory, for cancellations.
 *
 * Owned by one worker.
 */
#ifndef CORE_THROTTLE_H
#define CORE_THROTTLE_H

#include "core/cw.h"
#include "core/os/memory.h"

enum {
    THROTTLE_BATCH_MIN = 8, /* safe events between two synchronisations */
    THROTTLE_BATCH_MAX = 1024,
    THROTTLE_AHEAD_MAX = 512, /* speculative ones */
    /* Short turns in a row (worker_loop.c): this many events, or polls that released none. */
    THROTTLE_SHORT_EVENTS = 128,
    THROTTLE_SHORT_EMPTY = 8,
};

/* When rounds of GVT begin (gvt.c), as far as the window depends on it. */
enum {
    GVT_LIVE_BEFORE_ROUND = 1024, /* logs: a worker begins a round */
    GVT_WORKERS_FEW = 8,          /* among more workers a worker rests after a round */
};

/* Events handled speculatively, and undone, since the window was last adjusted. */
struct throttle_usage {
    uint64_t processed, rolled_back;
};

struct throttle {
    enum cw_sync sync;
    enum memory_level level;
    size_t window;          /* events that may be speculated at a time, */
    size_t window_most;     /* at most, */
    size_t allowance;       /* as far as memory allows */
    size_t window_min;      /* ignored when memory is tight */
    uint64_t pending;       /* events of this worker, when it last synchronised */
    unsigned batch;         /* events between two synchronisations (core/run/); */
    unsigned batch_ahead;   /* of them, speculative events, at most */
    size_t log_bytes_most;  /* that the undo log may take */
    unsigned patience;      /* turns to wait before the next speculative event; */
    bool prefer_waiting;    /* much speculation was undone: longer waits are faster */
    bool memory_limited;    /* scarce memory has narrowed the window below its minimum */
    unsigned patience_full; /* its initial value; */
    unsigned waited;        /* turns since then; */
    uint64_t safe_before;   /* safe events up to then */
    struct throttle_usage usage;
    bool disabled;          /* no speculation: one thread runs all workers (gather.h) */
    bool refused;           /* speculation could not get memory; */
    uint64_t refused_until; /* no more before this many events are committed */
    uint64_t purge_from;    /* with this many cancelled events, searching for them pays */
    uint64_t window_first, window_sum; /* the first window; the sum over the rounds */
};

/* `bytes_max`: the limit of memory, of all workers. */
void throttle_init(struct throttle *throttle, enum cw_sync sync, uint64_t bytes_max,
                   uint32_t workers);

/* How many speculative events may be handled between two synchronisations. The pending events cover
 * about one mean delay, and a batch only a small part of that model time. So few of the messages
 * that arrive meanwhile come too late. In the stress mode such messages are welcome. */
unsigned throttle_speculative_batch(const struct throttle *throttle, uint64_t pending);

/* After a batch. While the safe bound stops a worker, the others wait for its next promise. Several
 * batches should fit between two stops, so that all workers run at once instead of taking turns.
 */
void throttle_adjust_batch(struct throttle *throttle, bool stopped);

/* After the safe bound has risen, or a round of GVT has ended. `live`: events that are handled and
 * not committed; `safe`: safe events handled, ever. */
void throttle_adjust(struct throttle *throttle, bool round_ended, size_t live, uint64_t safe);

/* Before events are handled: sets how much speculation memory allows. */
void throttle_read_memory(struct throttle *throttle, const struct memory *memory,
                          uint64_t committed);

/* The same, for the undo log's `used_bytes` of `live` events. */
void throttle_read_logs(struct throttle *throttle, size_t live, size_t used_bytes);

/* After a search for cancelled events: `cancelled` are left, of `alive` events. */
void throttle_purged(struct throttle *throttle, uint64_t cancelled, uint64_t alive);

#endif
