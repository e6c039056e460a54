/*
 * worker.h: what one worker owns: its events, its pending set, and the handler call that runs.
 *
 * A handler's context is the first member of its worker, so that the handler-side functions
 * (handler_api.c) find the worker without a search and without a thread-local variable.
 */
#ifndef CORE_WORKER_H
#define CORE_WORKER_H

#include <setjmp.h>

#include "core/lp_states.h"
#include "core/queue/pending.h"
#include "core/memory/event_pool.h"
#include "core/commit_records.h"
#include "core/stats.h"
#include "core/timewarp/change_check.h"

struct worker {
    _Alignas(128) struct cw_ctx ctx;   /* workers share no lines, nor neighbours of lines */
    uint32_t sends_left, records_left; /* of the handler call that runs */
    uint32_t lp_count;
    uint32_t index;
    bool hash_off;
    const uint32_t *lp_worker;     /* who owns each LP; NULL: this worker, all of them */
    const int64_t *least_delay_ps; /* what sends are checked against; NULL: nothing was promised */
    struct cw_sim *sim;
    int64_t now_ps; /* time of the last committed event */
    uint64_t committed;
    struct event_pool pool;
    struct pending pending;
    struct commit_records records;
    struct change_check undo;
    struct activity_clock clock;
    struct timewarp *timewarp; /* NULL: CW_SEQUENTIAL */
    jmp_buf failed;            /* cw_fail() jumps here, out of the handler */
    struct cw_error failure;   /* filled before that jump */
};

static inline struct worker *worker_of(struct cw_ctx *ctx) { return (struct worker *)(void *)ctx; }

/* cw_fail(), with the LP, the type and the time of the event that runs put first. */
_Noreturn void worker_fail(struct worker *worker, enum cw_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void worker_fail_for_memory(struct worker *worker);
/* Likewise, from a handler: an event that was handled ahead is undone, and waits until it is safe;
 * otherwise the run ends. */
_Noreturn void worker_out_of_memory(struct worker *worker);
/* `memory`, unless there was none to be had: then the run ends. */
static inline void *worker_need(struct worker *worker, void *memory)
{
    if (__builtin_expect(memory == NULL, 0))
        worker_fail_for_memory(worker);
    return memory;
}
/* Likewise, from a handler. */
static inline void *worker_need_in_handler(struct worker *worker, void *memory)
{
    if (__builtin_expect(memory == NULL, 0))
        worker_out_of_memory(worker);
    return memory;
}
/* Proves, after change_check_begin() and the handler, that it changed nothing but the parts it
 * asked for.
 */
void worker_check_changes(struct worker *worker, struct lp_block *block);
/* An internal check failed, outside of a handler. */
_Noreturn void worker_bug(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
