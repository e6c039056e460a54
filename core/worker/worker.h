/*
 * worker.h: the data that one worker owns in every mode: its events, its pending set, and the
 * handler call that is running; and how a handler call fails.
 *
 * A handler's context is the first member of its worker, so that the functions that a handler calls
 * (handler_api.c) find the worker without a search and without a thread-local variable.
 *
 * A worker runs on one thread at a time; no other thread touches its data during a drain.
 */
#ifndef CORE_WORKER_H
#define CORE_WORKER_H

#include <setjmp.h>

#include "core/os/cpu.h"
#include "core/worker/activity_clock.h"
#include "core/worker/change_check.h"
#include "core/exchange/commit_records.h"
#include "core/worker/lp_states.h"
#include "core/queue/event_pool.h"
#include "core/queue/pending.h"

struct timewarp;

/*
 * Handlers that fault, or do not return. A model's handler may find its LP in a state that it never
 * has in a sequential run, when the event is speculative. Then it divides by zero, follows a wild
 * address, recurses or loops without end, while the model has no error. Such an event fails, like
 * one that calls cw_fail(): it is undone and waits until it is safe. The same fault in a safe event
 * ends the run with CW_BUG.
 *
 * The watch of the worker's thread (fault_guard.h) jumps out of the handler:
 *  1. A fault interrupts the handler at any instruction. All that the handler has changed until
 * then is in the undo log, since cw_mut() writes an image, and the log's end after it, before the
 *     handler has the pointer to change the part through; barriers keep the compiler from moving
 *     these stores, and the processor shows a signal's handler all earlier stores of its thread.
 *  2. The engine's own data are whole: `in_engine` is set while a function that the handler calls
 *     changes them, and then the watch does not jump. A tick comes again. A fault there would be
 *     the engine's own: the payload is read, and the stack measured, before the flag is set.
 *  3. Nothing else belongs to the call: sends are in the log, records are dropped.
 * Not covered is a handler that changes other memory than its LP's state, for instance
 * by a wild address that is mapped; and a lock, of malloc() say, that it holds when it is caught.
 *
 * A speculative handler is taken for one that does not return when two ticks find it at the same
 * event. A safe one may take as long as it needs.
 */
struct handler_watch {
    bool in_engine;      /* the handler has called a function that changes the engine's data */
    uintptr_t stack_low; /* no such call begins below this address; 0: not known */
    uint64_t processed;  /* events, at the last tick ... */
    unsigned ticks;      /* ... since which this many have found no other */
};

/* Events for the LP that only listens, which this worker's LPs have sent in this drain: of its
 * pool, in no order (run/listen.h). */
struct listened {
    struct entry *entries; /* [count] of [capacity] */
    size_t count, capacity;
};

#define NO_LISTENER UINT32_MAX

struct worker {
    _Alignas(128) struct cw_ctx ctx;   /* no two workers share a line, or a pair of lines */
    uint32_t sends_left, records_left; /* of the handler call that is running */
    uint32_t lp_count;
    uint32_t index;
    bool hash_off;
    bool speculative;  /* the event that is being handled may be undone */
    bool gathered;     /* this is worker 0, and it handles the events of all workers; */
    bool many_pools;   /* and their records lie in the pools of the LPs' owners (move_events.h) */
    uint32_t listener; /* the LP whose events are left to the end of the drain (listen.h); */
                       /* NO_LISTENER: none, as on one worker and in CW_SEQUENTIAL */
    const uint32_t *lp_worker; /* the owner of each LP; NULL: there is no other worker */
    int64_t check_below_ps;    /* sends with a smaller delay are held against the promises, */
                               /* also sends that stay on this worker; INT64_MIN: none is */
    struct cw_sim *sim;
    int64_t reached_ps;         /* time of the latest event committed since worker_reach_anew() */
    uint64_t committed;         /* events, ever */
    uint64_t processed, undone; /* handled, and undone, ever; the parallel modes count them */
    struct event_pool pool;
    struct pending pending;
    struct commit_records records;
    struct change_check change_check;
    struct activity_clock clock;
    struct timewarp *timewarp; /* NULL: CW_SEQUENTIAL */
    jmp_buf failed;            /* cw_fail() jumps here, out of the handler */
    struct cw_error failure;   /* filled before that jump */
    bool out_of_memory;        /* a speculative event was given up for want of memory */
    struct handler_watch watch;
    double host_s;     /* wall time of this worker's part of the last cw_each_worker() */
    uint64_t restored; /* of `committed`: events that came with a snapshot (snapshot.c) */
    int64_t before_ps; /* `reached_ps`, up to worker_reach_anew() */
    struct listened listened;
    struct latest_event latest; /* committed; CW_SEQUENTIAL, in builds that assert */
};

static inline struct worker *worker_of(struct cw_ctx *ctx) { return (struct worker *)(void *)ctx; }

/* Time of the latest event that was ever committed here. */
static inline int64_t worker_now_ps(const struct worker *worker)
{
    return worker->reached_ps > worker->before_ps ? worker->reached_ps : worker->before_ps;
}

/* From now on events may be committed here that are before those committed up to now. */
static inline void worker_reach_anew(struct worker *worker)
{
    worker->before_ps = worker_now_ps(worker);
    worker->reached_ps = INT64_MIN;
}

/* Sets the context for a call of the handler. `sends_max`: cw_tuning.sends_per_event_max. */
static inline void worker_set_context(struct worker *worker, const struct lp_block *block,
                                      const struct cw_event *event, uint32_t sends_max)
{
    worker->ctx.state = block->state;
    worker->ctx.state_end = block->state + block->state_bytes;
    worker->ctx.event = event;
    worker->sends_left = worker->records_left = sends_max;
}

/* Fetches the memory that an event a few places after the least will need. Returns its entry. */
static inline const struct entry *worker_fetch_ahead(struct worker *worker,
                                                     struct lp_block *const *blocks)
{
    const struct entry *const entry = pending_look_ahead(&worker->pending);
    __builtin_prefetch(entry->event);
    __builtin_prefetch((const uint8_t *)entry->event + 64); /* a payload reaches further */
    __builtin_prefetch(blocks[entry_lp(entry)]);
    return entry;
}

/* The pool of the records of an LP's events. */
static inline struct event_pool *worker_pool_of(struct worker *worker, uint32_t lp)
{
    return __builtin_expect(worker->many_pools, 0) ? &worker[worker->lp_worker[lp]].pool
                                                   : &worker->pool;
}

/* The thread that calls runs this worker, or none any more (NULL): the faults of its handlers are
 * this worker's. */
void worker_watch(struct worker *worker);

/* Around the parts of functions called by handlers in which the engine's data are not whole.
 * `payload`: read there; may be NULL. */
static inline void worker_enter_engine(struct worker *worker, const void *payload,
                                       size_t payload_bytes);
static inline void worker_leave_engine(struct worker *worker)
{
    __asm__ volatile("" : : : "memory");
    worker->watch.in_engine = false;
}

/* cw_fail(), with the LP, the type and the time of the event that is being handled in front. */
_Noreturn void worker_fail(struct worker *worker, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The run ends: there is no memory. */
_Noreturn void worker_fail_for_memory(struct worker *worker);
/* A handler call found no memory. If it is speculative, its event is undone and waits until it is
 * safe; otherwise the run ends. */
_Noreturn void worker_out_of_memory(struct worker *worker);
/* The run ends: it has handled cw_config.events_max events, and others are left. */
_Noreturn void worker_too_many_events(struct worker *worker);
/* Ends the run if the host asks for it (cw_config.stop). Outside of handler calls. */
void worker_check_stop(struct worker *worker);
/* The run ends: an internal check failed outside of a handler. */
_Noreturn void worker_bug(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The handler's stack is nearly used up. */
_Noreturn void worker_out_of_stack(struct worker *worker);

static inline void worker_enter_engine(struct worker *worker, const void *payload,
                                       size_t payload_bytes)
{
    if (__builtin_expect(cpu_stack_pointer() < worker->watch.stack_low, 0))
        worker_out_of_stack(worker);
    if (payload_bytes > 0) { /* the pages that it covers, at most two */
        (void)*(const volatile uint8_t *)payload;
        (void)((const volatile uint8_t *)payload)[payload_bytes - 1];
    }
    worker->watch.in_engine = true;
    __asm__ volatile("" : : : "memory");
}

/* Returns `memory`, or ends the run if that is NULL. */
static inline void *worker_need(struct worker *worker, void *memory)
{
    if (__builtin_expect(memory == NULL, 0))
        worker_fail_for_memory(worker);
    return memory;
}

/* The same in a handler call: worker_out_of_memory(). */
static inline void *worker_need_in_handler(struct worker *worker, void *memory)
{
    if (__builtin_expect(memory == NULL, 0))
        worker_out_of_memory(worker);
    return memory;
}

/* Hands the records of an event to this worker's receiver: cw_tuning.worker_record. */
void worker_deliver_records(struct worker *worker, const uint8_t *records, size_t bytes,
                            const struct cw_event *event);
/* Calls a function of the host for this worker, between drains. */
void worker_call_host(struct worker *worker, cw_worker_fn fn, void *arg);

/* The events of the worker so far; its interval log takes note. */
struct interval_counts worker_counts(const struct worker *worker);
/* A turn that is timed begins, as activity_begin() and activity_end() have it. */
void worker_begin_timed(struct worker *worker, enum cw_activity activity, uint64_t moment);
void worker_end_timed(struct worker *worker, bool idle);

/* After change_check_begin() and the handler: fails the event if the handler changed a part of the
 * state that it did not ask for. */
void worker_check_changes(struct worker *worker, struct lp_block *block);

#endif
