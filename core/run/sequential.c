/*
 * sequential.c: takes the least event, calls its handler and commits it, until none is left.
 *
 * This mode is the oracle for the other modes, and the fastest one on one thread. An event commits
 * as soon as its handler returns. When a handler fails the drain ends there, and nothing is undone:
 * its changes and sends stay, for diagnosis, and no later drain is possible.
 */
#include "core/run/sequential.h"

#include <string.h>

#include "core/worker/commit.h"
#include "core/os/fault_guard.h"
#include "core/worker/simulation.h"
#include "core/run/progress.h"
#include "core/worker/worker.h"

/* In a look EVENTS_PER_SAMPLE events are timed: one in 1,024. Of every EVENTS_PER_LOOK events one
 * look is at a place drawn for it: models repeat themselves, often after a power of two of events,
 * and looks at regular distances would meet the same part of each repetition. */
enum {
    EVENTS_PER_LOOK = 1024 * EVENTS_PER_SAMPLE,
    LOOK_EVENTS = EVENTS_BEFORE_SAMPLE + EVENTS_PER_SAMPLE,
    LOOKS_PER_PROGRESS = 8
};

/* Calls the handler where its changes are checked. */
static __attribute__((noinline)) void handle_checked(struct cw_sim *sim, struct worker *worker,
                                                     struct lp_block *block,
                                                     const struct cw_event *event)
{
    change_check_begin(&worker->change_check, block->state, block->state_bytes);
    sim->model.handle(&worker->ctx, block->state, event);
    worker_check_changes(worker, block);
}

/* Calls the handler. Returns only if it did not fail. */
static inline void sequential_handle(struct cw_sim *sim, struct worker *worker,
                                     struct lp_block *block, const struct cw_event *event)
{
    worker_set_context(worker, block, event, sim->config.tuning.sends_per_event_max);
    if (__builtin_expect(worker->ctx.keep, 0))
        handle_checked(sim, worker, block, event);
    else
        sim->model.handle(&worker->ctx, block->state, event);
    worker->ctx.event = NULL; /* a fault from here on is not the handler's */
}

static void deliver_records(const struct cw_sim *sim, struct worker *worker,
                            const struct cw_event *event)
{
    const struct commit_records *const records = &worker->records;
    if (sim->config.tuning.worker_record != NULL)
        worker_deliver_records(worker, records->bytes, records->used, event);
    if (sim->config.record != NULL)
        commit_records_deliver_bytes(records->bytes, records->used, event, sim->config.record,
                                     sim->config.record_arg);
    worker->records.used = 0;
}

/* Makes the event's effects known to the outside, and frees it. */
static inline void commit(struct cw_sim *sim, struct worker *worker, struct lp_block *block,
                          struct cw_event *event)
{
    if (__builtin_expect(worker->records.used > 0, 0))
        deliver_records(sim, worker, event);
    commit_hash(worker, block, event);
    if (CW_ASSERTING && sim->model.tie != NULL)
        latest_event_note(&worker->latest, &sim->model, event);
    commit_free(worker, &worker->pool, event);
}

/* Handles the least event, if there is one before the end. */
static inline bool sequential_step(struct cw_sim *sim, struct worker *worker, bool timed)
{
    const struct entry *const least = pending_peek(&worker->pending);
    if (least == NULL || least->time_ps >= sim->end_ps)
        return false;
    struct cw_event *const event = least->event;
    struct lp_block *const block = sim->lp_states.blocks[entry_lp(least)];
    pending_pop(&worker->pending, least);
    (void)worker_fetch_ahead(worker, sim->lp_states.blocks);
    if (timed)
        (void)activity_go(&worker->clock, CW_HANDLING);
    sequential_handle(sim, worker, block, event);
    commit(sim, worker, block, event);
    if (timed)
        (void)activity_go(&worker->clock, CW_QUEUE);
    return true;
}

/* The number of committed events at which to look around, and no later than at the limit. */
static uint64_t limited(const struct cw_sim *sim, uint64_t next)
{
    const uint64_t most = sim->config.events_max;
    return most > 0 && most < next ? most : next;
}

/* Ends the run if no more events are allowed, and there are more. */
static void check_limit(struct cw_sim *sim, struct worker *worker)
{
    if (sim->config.events_max == 0 || worker->committed < sim->config.events_max)
        return;
    const struct entry *const least = pending_peek(&worker->pending);
    if (least == NULL && worker->pending.out_of_memory)
        worker_fail_for_memory(worker);
    if (least != NULL && least->time_ps < sim->end_ps)
        worker_too_many_events(worker);
}

uint64_t sequential_next_look(uint64_t committed)
{
    for (uint64_t of = committed / EVENTS_PER_LOOK;; of++) {
        const uint64_t at =
            of * EVENTS_PER_LOOK + sample_draw(of) % (EVENTS_PER_LOOK - LOOK_EVENTS + 1);
        if (at > committed)
            return at;
    }
}

/* Handles this many events, unless none is left or allowed. */
static void handle_timed(struct cw_sim *sim, struct worker *worker, uint64_t events)
{
    const uint64_t end = limited(sim, worker->committed + events);
    while (worker->committed < end && sequential_step(sim, worker, true)) {
    }
}

/* Now and then: times a few events, and reports how far the run is. Returns when to look again.
 * Apart from the function that sets the jump, so that its variables can live in registers. */
__attribute__((noinline)) static uint64_t sequential_look(struct cw_sim *sim, struct worker *worker)
{
    const uint64_t before = worker->committed;
    worker_check_stop(worker);
    if (before / EVENTS_PER_LOOK % LOOKS_PER_PROGRESS == LOOKS_PER_PROGRESS - 1)
        progress_report_sequential(sim);
    const uint64_t away = clock_times_away();
    worker_begin_timed(worker, CW_QUEUE, 0);
    handle_timed(sim, worker, EVENTS_BEFORE_SAMPLE);
    activity_forget(&worker->clock);
    handle_timed(sim, worker, EVENTS_PER_SAMPLE);
    activity_stop(&worker->clock);
    activity_forget_interrupted(&worker->clock, clock_times_away() != away);
    worker_end_timed(worker, false);
    return sequential_next_look(worker->committed);
}

/* Apart from the function that sets the jump, likewise. */
__attribute__((noinline)) static void sequential_run(struct cw_sim *sim, struct worker *worker)
{
    worker_check_stop(worker);
    check_limit(sim, worker);
    uint64_t next = limited(sim, sequential_next_look(worker->committed));
    while (sequential_step(sim, worker, false))
        if (__builtin_expect(worker->committed >= next, 0)) {
            check_limit(sim, worker);
            next = limited(sim, sequential_look(sim, worker));
        }
    if (worker->pending.out_of_memory)
        worker_fail_for_memory(worker);
}

int sequential_drain(struct cw_sim *sim, struct cw_error *error)
{
    struct worker *const worker = &sim->workers[0];
    /* Nothing here is read after the jump but `sim` and `error`, which do not change. */
    if (setjmp(worker->failed) != 0) {
        fault_guard_leave(); /* of a function that was jumped out of */
        worker_leave_engine(worker);
        worker_watch(NULL);
        *error = worker->failure;
        if (worker->ctx.event != NULL) /* else no handler caused it: memory, a limit, the host */
            simulation_failed_at(sim, worker->ctx.event);
        return error->exit_code;
    }
    worker_watch(worker);
    sequential_run(sim, worker);
    worker_watch(NULL);
    return CW_OK;
}

/* ---- events and states at hand (cw_tuning.h) ------------------------------------------------- */

void cw_pause(struct cw_ctx *ctx) { worker_of(ctx)->sim->end_ps = INT64_MIN; }

struct taking {
    struct worker *worker;
    cw_take_fn take;
    void *arg;
};

static bool take_entry(void *arg, const struct entry *entry)
{
    const struct taking *const taking = arg;
    if (!taking->take(taking->arg, entry->event))
        return false;
    event_pool_put(&taking->worker->pool, entry->event);
    return true;
}

int cw_take_events(struct cw_sim *sim, cw_take_fn take, void *arg, struct cw_error *error)
{
    struct taking taking = {&sim->workers[0], take, arg};
    return pending_sift(&taking.worker->pending, take_entry, &taking)
               ? CW_OK
               : memory_error(&sim->memory, error);
}

int cw_put_event(struct cw_sim *sim, const struct cw_event *event, struct cw_error *error)
{
    struct worker *const worker = &sim->workers[0];
    struct cw_event *const own = event_pool_get(&worker->pool, event->payload_bytes);
    if (own == NULL)
        return memory_error(&sim->memory, error);
    memcpy(own, event, offsetof(struct cw_event, payload) + event->payload_bytes);
    own->reserved = 0;
    if (pending_push(&worker->pending, entry_of_event(own)))
        return CW_OK;
    event_pool_put(&worker->pool, own);
    return memory_error(&sim->memory, error);
}

void *cw_state_to_change(struct cw_sim *sim, uint32_t lp)
{
    return lp < sim->lp_states.count ? sim->lp_states.blocks[lp]->state : NULL;
}
