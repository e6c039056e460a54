/*
 * handler_api.c: the functions that a handler may call: change, send, emit, fail (cw.h).
 *
 * All of them run on the worker that handles the event. A failure never returns to the handler: it
 * jumps to the worker's loop, which drops the event's changes, sends and records.
 */
#include "core/run/listen.h"
#include "core/worker/simulation.h"
#include "core/speculation/lazy_cancel.h"
#include "core/speculation/send.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

/* Slow path of cw_mut(), where cw_undo_add() does not suffice: there is no room, the part is large,
 * changes are checked, or there is nothing to undo. */
void cw_mut_keep(struct cw_ctx *ctx, const void *part, size_t bytes)
{
    struct worker *const worker = worker_of(ctx);
    const size_t offset = (size_t)((uintptr_t)part - (uintptr_t)ctx->state);
    worker_enter_engine(worker, NULL, 0);
    if (worker->speculative &&
        !undo_log_add_image(&worker->timewarp->undo_log, offset, part, bytes))
        worker_out_of_memory(worker);
    if (worker->change_check.before != NULL &&
        !change_check_ask(&worker->change_check, offset, bytes))
        worker_out_of_memory(worker);
    worker_leave_engine(worker);
}

void cw_mut_outside(struct cw_ctx *ctx, const void *part, size_t bytes)
{
    const long long offset = (long long)((uintptr_t)part - (uintptr_t)ctx->state);
    worker_fail(worker_of(ctx), CW_BUG,
                "CW_MUT of %zu bytes at offset %lld of a state of %zu bytes", bytes, offset,
                (size_t)(ctx->state_end - ctx->state));
}

/* Says which limit a send broke, and fails the event. */
static _Noreturn __attribute__((noinline)) void fail_send(struct worker *worker, uint32_t lp,
                                                          int64_t delay_ps, uint64_t number,
                                                          unsigned payload_bytes)
{
    const struct cw_event *const event = worker->ctx.event;
    if (event->lp == worker->listener)
        worker_fail(worker, CW_BUG, "LP %u only listens, but it sends to LP %u",
                    (unsigned)event->lp, (unsigned)lp);
    if (lp >= worker->lp_count)
        worker_fail(worker, CW_BUG, "send to LP %u, but there are %u LPs", (unsigned)lp,
                    (unsigned)worker->lp_count);
    if (payload_bytes > CW_PAYLOAD_BYTES_MAX)
        worker_fail(worker, CW_BUG, "send of %u payload bytes; the most is %u", payload_bytes,
                    CW_PAYLOAD_BYTES_MAX);
    if (number > CW_NUMBER_MAX)
        worker_fail(worker, CW_BUG, "send of number %llu; the greatest is %llu",
                    (unsigned long long)number, CW_NUMBER_MAX);
    if (delay_ps < 0)
        worker_fail(worker, CW_PROGRAM_FAILED, "send with a negative delay, %lld ps",
                    (long long)delay_ps);
    if (delay_ps >= CW_TIME_MAX - event->time_ps)
        worker_fail(worker, CW_PROGRAM_FAILED, "send with a delay of %lld ps overflows the time",
                    (long long)delay_ps);
    if (delay_ps == 0 && event->depth == CW_DEPTH_MAX)
        worker_fail(worker, CW_PROGRAM_FAILED, "a chain of more than %u events without delay",
                    CW_DEPTH_MAX);
    worker_fail(worker, CW_PROGRAM_FAILED, "more than %u sends from one event",
                (unsigned)worker->sim->config.tuning.sends_per_event_max);
}

/* Fails the event if a send is below the least delay that the partition promised for its pair of
 * workers. */
static __attribute__((noinline)) void check_promise(struct worker *worker, uint32_t lp,
                                                    int64_t delay_ps)
{
    const struct cw_config *const config = &worker->sim->config;
    if (lp == worker->sim->listener)
        return;
    const uint32_t from = config->lp_worker[worker->ctx.event->lp], to = config->lp_worker[lp];
    if (from == to && config->sync != CW_SEQUENTIAL)
        return;
    const int64_t least_ps = config->least_delay_ps[(size_t)from * config->worker_count + to];
    if (delay_ps < least_ps)
        worker_fail(worker, CW_BUG,
                    "send to LP %u with a delay of %lld ps; the partition promised at least %lld "
                    "ps from worker %u to worker %u",
                    (unsigned)lp, (long long)delay_ps, (long long)least_ps, (unsigned)from,
                    (unsigned)to);
}

/* The arguments of cw_send(). Always in registers: only functions that are inlined take a pointer.
 */
struct send {
    uint32_t lp, entity;
    int64_t delay_ps;
    uint64_t number;
    const void *payload;
    uint16_t type, payload_bytes;
};

/* The depth of an event that is sent: from 0 to CW_DEPTH_MAX + 1. Hidden in a register: the
 * compiler would test the delay wherever the depth is used. */
static inline uint64_t depth_of(const struct worker *worker, int64_t delay_ps)
{
    return cw_keep_in_register(delay_ps == 0 ? worker->ctx.event->depth + 1u : 0u);
}

static inline bool is_within_limits(const struct worker *worker, const struct send *send,
                                    uint64_t depth)
{
    /* As unsigned numbers, so that one comparison also catches a negative delay. The order matters
     * to gcc: it joins some neighbours into one branch, which takes two instructions more. */
    const uint64_t room_ps = (uint64_t)(CW_TIME_MAX - worker->ctx.event->time_ps);
    return depth <= CW_DEPTH_MAX && send->lp < worker->lp_count &&
           (uint64_t)send->delay_ps < room_ps && send->number <= CW_NUMBER_MAX &&
           worker->sends_left > 0 && send->payload_bytes <= CW_PAYLOAD_BYTES_MAX;
}

/* Whether the least delays have to be checked also if the event stays on this worker. While events
 * are gathered, not between LPs of one owner. */
static inline bool needs_check(const struct worker *worker, const struct send *send)
{
    if (__builtin_expect(send->delay_ps >= worker->check_below_ps, 1))
        return false;
    const uint32_t *const owners = worker->sim->config.lp_worker;
    return !worker->gathered || owners[worker->ctx.event->lp] != owners[send->lp];
}

/* Another worker handles the LP's events. */
static inline bool is_foreign(const struct worker *worker, uint32_t lp)
{
    return worker->lp_worker != NULL && !worker->gathered && worker->lp_worker[lp] != worker->index;
}

static inline struct event_header header_of(const struct worker *worker, const struct send *send,
                                            uint64_t depth)
{
    return (struct event_header){
        .time_ps = worker->ctx.event->time_ps + send->delay_ps,
        .number = send->number,
        .entity = send->entity,
        .lp = send->lp,
        .depth = (uint16_t)depth,
        .type = send->type,
        .payload_bytes = send->payload_bytes,
    };
}

/* ---- the slow path of cw_send() -------------------------------------------------------------- */

/* Room to log a send, before anything of it has happened. */
static void reserve_undo(struct worker *worker)
{
    if (worker->speculative && !undo_log_room(&worker->timewarp->undo_log, UNDO_SEND_BYTES_MAX))
        worker_out_of_memory(worker);
}

/* Logs an event that this worker has, if it may have to be undone. */
static void log_send(struct worker *worker, const struct cw_event *event)
{
    if (worker->speculative)
        undo_log_add_local(&worker->timewarp->undo_log.undo, event);
}

static struct cw_event *send_to_own(struct worker *worker, const struct event_header *header,
                                    const void *payload)
{
    struct cw_event *const event = worker_need_in_handler(
        worker, event_pool_get(worker_pool_of(worker, header->lp), header->payload_bytes));
    event_write(event, header);
    payload_copy(event->payload, payload, header->payload_bytes);
    if (!pending_push(&worker->pending, entry_of(header, event)))
        worker_fail_for_memory(worker);
    return event;
}

/* cw_send() in every case that there is. */
static __attribute__((noinline)) void send_slow(struct cw_ctx *ctx, uint32_t lp, int64_t delay_ps,
                                                uint16_t type, uint32_t entity, uint64_t number,
                                                const void *payload, uint16_t payload_bytes)
{
    struct worker *const worker = worker_of(ctx);
    const struct send send = {lp, entity, delay_ps, number, payload, type, payload_bytes};
    const uint64_t depth = depth_of(worker, delay_ps);
    if (!is_within_limits(worker, &send, depth))
        fail_send(worker, lp, delay_ps, number, payload_bytes);
    const bool foreign = lp != worker->listener && is_foreign(worker, lp);
    if (needs_check(worker, &send) || (foreign && worker->sim->config.least_delay_ps != NULL))
        check_promise(worker, lp, delay_ps);
    worker->sends_left--;
    worker_enter_engine(worker, payload, payload_bytes);
    reserve_undo(worker);
    const struct event_header header = header_of(worker, &send, depth);
    const struct event_words words = words_of(&header);
    struct lazy_cancel *const lazy = worker->timewarp == NULL ? NULL : &worker->timewarp->lazy;
    if (lazy != NULL && lazy->log != NULL && lazy_cancel_reuse(worker->timewarp, &words, payload)) {
        /* the message of the event's last run stays */
    } else if (foreign) {
        send_event(worker, words.word[0], words.word[1], words.word[2], words.word[3], payload);
    } else {
        log_send(worker, lp == worker->listener ? listen_send(worker, &header, payload)
                                                : send_to_own(worker, &header, payload));
    }
    worker_leave_engine(worker);
}

/* ---- the fast path --------------------------------------------------------------------------- */

static __attribute__((noinline)) void push_slow(struct worker *worker, int64_t time_ps,
                                                uint64_t key_high, uint64_t key_low,
                                                struct cw_event *event)
{
    if (!pending_push_slow(&worker->pending, time_ps, key_high, key_low, event))
        worker_fail_for_memory(worker);
    worker_leave_engine(worker);
}

/* The pool for a send to an LP whose events this worker handles. NULL: to another worker, or to the
 * listener. */
static inline struct event_pool *pool_here(struct worker *worker, uint32_t lp)
{
    if (__builtin_expect(worker->lp_worker == NULL, 1))
        return &worker->pool;
    if (lp == worker->listener || is_foreign(worker, lp))
        return NULL;
    return worker_pool_of(worker, lp);
}

/* Makes ready to log a send, if the event is speculative. False: send_slow() has to. */
static inline bool begin_log(struct worker *worker, const struct send *send)
{
    if (__builtin_expect(!worker->ctx.keep, 1))
        return true;
    const struct cw_undo *const undo = worker->ctx.undo;
    if (undo == NULL || undo->end - undo->at < UNDO_SEND_BYTES_MAX)
        return false;
    worker_enter_engine(worker, send->payload, send->payload_bytes);
    return true;
}

/*
 * Most sends go to an LP of the same worker, with no least delay to check, and a free record at
 * hand. All others leave by a jump to send_slow(), which has the same arguments, before anything
 * has changed.
 */
void cw_send(struct cw_ctx *ctx, uint32_t lp, int64_t delay_ps, uint16_t type, uint32_t entity,
             uint64_t number, const void *payload, uint16_t payload_bytes)
{
    struct worker *const worker = worker_of(ctx);
    const struct send send = {lp, entity, delay_ps, number, payload, type, payload_bytes};
    const uint64_t depth = depth_of(worker, delay_ps);
    struct event_pool *pool = NULL;
    if (is_within_limits(worker, &send, depth) && !needs_check(worker, &send))
        pool = pool_here(worker, lp);
    struct cw_event *event = NULL;
    if (pool != NULL && begin_log(worker, &send))
        event = event_pool_get_used(pool, payload_bytes);
    if (__builtin_expect(event == NULL, 0)) {
        send_slow(ctx, lp, delay_ps, type, entity, number, payload, payload_bytes);
        return;
    }
    if (__builtin_expect(ctx->keep, 0))
        undo_log_add_local(ctx->undo, event);
    worker->sends_left--;
    const struct event_header header = header_of(worker, &send, depth);
    event_write(event, &header);
    payload_copy(event->payload, payload, payload_bytes);
    const struct entry entry = entry_of(&header, event);
    if (__builtin_expect(!pending_push_here(&worker->pending, entry), 0))
        push_slow(worker, entry.time_ps, entry.key_high, entry.key_low, event);
    else
        worker_leave_engine(worker);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Of an event that is not speculative the LP had no log when the handler began (I-SAFE-2). So the
 * records of all its events before have been handed out: in each mode an event's records are handed
 * out before its log is dropped, or, without a log, right after its handler. The worker's number
 * belongs to this thread. While events are gathered, worker 0's stands for all. */
bool cw_is_final(struct cw_ctx *ctx, uint32_t *worker)
{
    const struct worker *const own = worker_of(ctx);
    *worker = own->index;
    return !own->speculative;
}

void cw_emit(struct cw_ctx *ctx, uint16_t kind, const void *record, uint16_t bytes)
{
    struct worker *const worker = worker_of(ctx);
    if (__builtin_expect(bytes > CW_PAYLOAD_BYTES_MAX, 0))
        worker_fail(worker, CW_BUG, "a record of %u bytes; the most is %u", (unsigned)bytes,
                    CW_PAYLOAD_BYTES_MAX);
    if (__builtin_expect(worker->records_left == 0, 0) && ctx->event->lp == worker->listener)
        worker_fail(worker, CW_BUG, "LP %u only listens, but it emits a record",
                    (unsigned)ctx->event->lp);
    if (__builtin_expect(worker->records_left == 0, 0))
        worker_fail(worker, CW_PROGRAM_FAILED, "more than %u records from one event",
                    (unsigned)worker->sim->config.tuning.sends_per_event_max);
    worker->records_left--;
    if (worker->sim->config.record == NULL && worker->sim->config.tuning.worker_record == NULL)
        return;
    worker_enter_engine(worker, record, bytes);
    if (__builtin_expect(!commit_records_add(&worker->records, kind, record, bytes), 0))
        worker_out_of_memory(worker);
    worker_leave_engine(worker);
}
