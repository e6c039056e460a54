/*
 * parallel.c: the worker's loop when events can be handled out of order: take what has arrived, go
 * on with GVT, handle what may be handled, make it known to the others.
 *
 * Threads: one per worker, each in its own parallel_worker(); the host waits for all. They share
 * the mailboxes and the GVT slots, const configuration, and the memory account.
 */
#include <string.h>
#include <xxhash.h>

#include "core/hash.h"
#include "core/simulation.h"
#include "core/threads.h"
#include "core/timewarp.h"

enum {
    BATCH = 256, /* events between two looks at the mailboxes */
    ROUNDS_PER_PROGRESS = 256,
};

enum verdict { NOTHING, SAFE, SPECULATIVE, BLOCKED };

/* What may be done with the least event. */
static enum verdict judge(const struct timewarp *tw, const struct entry *least)
{
    const struct cw_config *const config = &tw->worker->sim->config;
    if (least == NULL || least->time_ps >= config->end_ps)
        return NOTHING;
    if (tw->failed && !key_before(key_of(least), tw->stuck_at))
        return BLOCKED;
    const bool keeps_all = config->sync == CW_OPTIMISTIC || config->sync == CW_STRESS;
    if ((least->time_ps < tw->gvt.safe_ps && !keeps_all) || !key_before(tw->gvt.now, key_of(least)))
        return SAFE;
    if (tw->patience > 0 || tw->speculated >= tw->budget ||
        (tw->stuck && !key_before(key_of(least), tw->stuck_at)))
        return BLOCKED;
    if (config->window_ps > 0 && tw->gvt.now.time_ps <= CW_TIME_MAX - config->window_ps &&
        least->time_ps >= tw->gvt.now.time_ps + config->window_ps)
        return BLOCKED;
    return SPECULATIVE;
}

static void enter_handler(struct timewarp *tw, const struct entry *entry, bool speculative)
{
    struct worker *const worker = tw->worker;
    struct lp_block *const block = worker->sim->lps.blocks[entry_lp(entry)];
    worker->ctx.state = block->state;
    worker->ctx.state_bytes = block->state_bytes;
    worker->ctx.event = entry->event;
    worker->ctx.keep = speculative || worker->sim->config.check_changes;
    worker->sends_left = worker->records_left = worker->sim->config.sends_per_event_max;
    tw->handling = entry->event;
    tw->speculative = speculative;
    if (__builtin_expect(worker->sim->config.check_changes, 0)) {
        undo_begin(&worker->undo, block->state, block->state_bytes);
        tw->state_hash = XXH3_64bits(block->state, block->state_bytes);
    }
    worker->sim->model.handle(&worker->ctx, block->state, entry->event);
    if (__builtin_expect(worker->sim->config.check_changes, 0))
        worker_check_changes(worker, block);
    tw->handling = NULL;
    tw->speculative = false;
    tw->events_processed++;
}

static void handle_safe(struct timewarp *tw, const struct entry *entry)
{
    enter_handler(tw, entry, false);
    fossil_commit(tw, entry->event);
}

/* The stress mode undoes what it has just done, at random, and at most twice. */
static void inject_rollback(struct timewarp *tw, const struct entry *entry)
{
    struct cw_event *const event = entry->event;
    if (event->reserved >= 2 * EVENT_INJECTED ||
        !cw_rng_chance(&tw->chaos, tw->worker->sim->config.stress_rate_p32))
        return;
    event->reserved += EVENT_INJECTED;
    tw->rollbacks_injected++;
    rollback_event(tw, entry->event);
    const struct lp_block *const block = tw->worker->sim->lps.blocks[entry_lp(entry)];
    if (XXH3_64bits(block->state, block->state_bytes) != tw->state_hash)
        worker_bug(tw->worker, "I-HIST-1: LP %u is not as it was before an event that was undone",
                   (unsigned)entry_lp(entry));
}

static void handle_speculative(struct timewarp *tw, const struct entry *entry)
{
    struct records *const records = &tw->worker->records;
    if (!history_open(&tw->history))
        worker_fail_for_memory(tw->worker);
    enter_handler(tw, entry, true);
    if (records->used > 0) {
        void *const item =
            worker_need(tw->worker, history_add(&tw->history, ITEM_RECORD, 0, records->used));
        memcpy(item, records->bytes, records->used);
        records->used = 0;
    }
    struct log *const log = history_close(&tw->history);
    log->event = entry->event;
    log->serial = ++tw->serial;
    log->older = tw->newest[entry_lp(entry)];
    if (log->older != NULL)
        log->older->newer = log;
    tw->newest[entry_lp(entry)] = log;
    entry->event->reserved |= EVENT_PROCESSED;
    tw->usage.processed++;
    fossil_note(tw, entry, log);
    if (tw->worker->sim->config.sync == CW_STRESS)
        inject_rollback(tw, entry);
}

/* Asks for the memory that a soon handled event will need. */
static inline void fetch_ahead(struct timewarp *tw)
{
    const struct entry *const entry = pending_look_ahead(&tw->worker->pending);
    __builtin_prefetch(entry->event);
    __builtin_prefetch((const uint8_t *)entry->event + 64); /* a payload reaches further */
    __builtin_prefetch(tw->worker->sim->lps.blocks[entry_lp(entry)]);
    __builtin_prefetch(&tw->newest[entry_lp(entry)]);
}

/*
 * The usual case, without a detour: safe events of LPs that have no history. Handles at most
 * `most` of them, and returns how many.
 */
static unsigned handle_plain(struct timewarp *tw, unsigned most)
{
    struct worker *const worker = tw->worker;
    struct cw_sim *const sim = worker->sim;
    const int64_t end_ps = sim->config.end_ps;
    const int64_t bound_ps = tw->gvt.safe_ps < end_ps ? tw->gvt.safe_ps : end_ps;
    const struct entry *least;
    unsigned handled = 0;
    worker->ctx.keep = false;
    while (handled < most && (least = pending_peek(&worker->pending)) != NULL &&
           least->time_ps < bound_ps) {
        struct cw_event *const event = least->event;
        const uint32_t lp = entry_lp(least);
        struct lp_block *const block = sim->lps.blocks[lp];
        if (__builtin_expect(tw->newest[lp] != NULL || event->reserved != 0, 0))
            break;
        pending_pop(&worker->pending, least);
        fetch_ahead(tw);
        worker->ctx.state = block->state;
        worker->ctx.state_bytes = block->state_bytes;
        worker->ctx.event = event;
        worker->sends_left = worker->records_left = sim->config.sends_per_event_max;
        tw->handling = event;
        sim->model.handle(&worker->ctx, block->state, event);
        tw->events_processed++;
        fossil_commit(tw, event);
        handled++;
    }
    tw->handling = NULL;
    if (handled > 0)
        tw->stuck = false;
    return handled;
}

/* Handles the least event, if it may be handled. */
static enum verdict step(struct timewarp *tw)
{
    struct pending *const pending = &tw->worker->pending;
    const struct entry *const least = pending_peek(pending);
    if (least == NULL && pending->out_of_memory)
        worker_fail_for_memory(tw->worker);
    if (least != NULL && least->event->reserved & EVENT_CANCELLED) {
        struct cw_event *const event = least->event;
        pending_pop(pending, least);
        pool_put(&tw->worker->pool, event);
        return SAFE;
    }
    const enum verdict verdict = judge(tw, least);
    if (verdict != SAFE && verdict != SPECULATIVE)
        return verdict;
    const struct entry entry = *least;
    pending_pop(pending, least);
    fetch_ahead(tw);
    tw->stuck = false;
    if (tw->newest[entry_lp(&entry)] != NULL) /* is it a straggler? */
        rollback_straggler(tw, &entry);
    if (verdict == SAFE) {
        fossil_commit_lp(tw, entry_lp(&entry));
        handle_safe(tw, &entry);
    } else {
        handle_speculative(tw, &entry);
    }
    return verdict;
}

static bool may_handle_plain(const struct timewarp *tw)
{
    const struct cw_config *const config = &tw->worker->sim->config;
    return (config->sync == CW_CONSERVATIVE || config->sync == CW_ADAPTIVE) && !tw->failed &&
           !config->check_changes;
}

/* A handler has failed. Speculatively: it is undone, and waits until it is safe. For good: it
 * stays the least event of this worker, and the run ends when GVT gets there. */
static void take_failure(struct timewarp *tw)
{
    struct worker *const worker = tw->worker;
    struct cw_event *const event = (struct cw_event *)(uintptr_t)tw->handling;
    const bool speculative = tw->speculative;
    const struct entry entry = entry_of_event(event);
    tw->stuck_at = key_of(&entry);
    tw->speculative = false;
    worker->records.used = 0;
    if (speculative) {
        rollback_open(tw);
        tw->stuck = true;
        if (!pending_push(&worker->pending, entry))
            worker_fail_for_memory(worker);
    } else {
        tw->failed = true;
        tw->failure = worker->failure;
    }
    tw->handling = NULL;
}

/* By worker 0, for all: its own share of the events, times the workers. */
static void report_progress(const struct timewarp *tw)
{
    const struct cw_sim *const sim = tw->worker->sim;
    const struct cw_progress progress = {
        .gvt_ps = tw->gvt.now.time_ps,
        .events_committed = tw->worker->committed * sim->worker_count,
        .memory_bytes = sync_load_acquire(&sim->memory.taken), /* a figure to show */
    };
    if (sim->config.progress != NULL)
        sim->config.progress(sim->config.progress_arg, &progress);
}

/* True: a GVT round has ended, and so has the run, or has not. */
static bool round_ends_run(struct timewarp *tw)
{
    if (!gvt_step(tw))
        return false;
    fossil_collect(tw);
    window_adjust(tw);
    if (tw->index == 0 && tw->gvt.rounds % ROUNDS_PER_PROGRESS == 0)
        report_progress(tw);
    return tw->gvt.over;
}

__attribute__((noinline)) static void
run(struct timewarp *tw) /* not into what setjmp() makes slow */
{
    unsigned waits = 0;
    while (!simulation_aborted(tw->worker->sim)) {
        timewarp_receive(tw);
        if (round_ends_run(tw))
            return;
        const bool plain = may_handle_plain(tw);
        enum verdict verdict = SAFE;
        unsigned handled = 0;
        while (handled < BATCH && (verdict == SAFE || verdict == SPECULATIVE)) {
            if (plain)
                handled += handle_plain(tw, BATCH - handled);
            verdict = step(tw);
            handled += verdict == SAFE || verdict == SPECULATIVE;
        }
        timewarp_flush(tw);
        if (handled > 0) {
            waits = 0;
        } else {
            tw->patience -= tw->patience > 0;
            sync_wait(&waits);
        }
    }
}

void *parallel_worker(void *argument)
{
    struct worker *const worker = argument;
    struct timewarp *const tw = worker->timewarp;
    pin_worker(worker->sim->pin, tw->index);
    /* Nothing here is read after a jump but `worker` and `tw`, which do not change. */
    if (setjmp(worker->failed) != 0) {
        if (tw->handling == NULL) { /* not a handler's: memory, or a bug */
            simulation_abort(worker->sim, worker);
            return NULL;
        }
        take_failure(tw);
    }
    run(tw);
    return NULL;
}

/* ---- the host's side ------------------------------------------------------------------------ */

void simulation_abort(struct cw_sim *sim, const struct worker *worker)
{
    (void)sync_claim(&sim->aborted, 1 + (uint64_t)(worker - sim->workers));
}

int parallel_create(struct cw_sim *sim, struct cw_error *error)
{
    const uint32_t n = sim->worker_count;
    const size_t delays = (size_t)n * n;
    sim->slots = memory_take(&sim->memory, n * sizeof *sim->slots);
    sim->path_delays_ps = memory_take(&sim->memory, delays * sizeof(int64_t));
    sim->newest = memory_take(&sim->memory, sim->model.lp_count * sizeof(struct log *));
    if (sim->slots == NULL || sim->path_delays_ps == NULL || sim->newest == NULL)
        return memory_error(&sim->memory, error);
    const int64_t *const least_ps = sim->config.least_delay_ps;
    for (size_t i = 0; i < delays; i++)
        sim->path_delays_ps[i] = i / n == i % n ? CW_TIME_MAX : least_ps == NULL ? 0 : least_ps[i];
    gvt_close_delays(sim->path_delays_ps, n);
    for (uint32_t i = 0; i < n; i++)
        if (!timewarp_create(sim, &sim->workers[i], i))
            return memory_error(&sim->memory, error);
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            sim->workers[from].timewarp->out[to] = &sim->workers[to].timewarp->in[from];
    sim->pin = sim->config.pin_workers ? pin_create(n) : NULL;
    return CW_OK;
}

void parallel_free(struct cw_sim *sim)
{
    const uint32_t n = sim->worker_count;
    if (sim->config.sync == CW_SEQUENTIAL || sim->workers == NULL)
        return;
    for (uint32_t i = 0; i < n && sim->slots != NULL; i++) {
        outbox_discard(sim->slots[i].sealed, &sim->memory);
        timewarp_free(sim, &sim->workers[i]);
    }
    pin_free(sim->pin);
    merger_free(&sim->merger, &sim->memory);
    memory_give(&sim->memory, sim->slots, n * sizeof *sim->slots);
    memory_give(&sim->memory, sim->path_delays_ps, (size_t)n * n * sizeof(int64_t));
    memory_give(&sim->memory, sim->newest, sim->model.lp_count * sizeof(struct log *));
}

/* What the last drain knew does not hold for what has been injected since. */
static void forget_bounds(struct cw_sim *sim)
{
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct gvt *const gvt = &sim->workers[i].timewarp->gvt;
        gvt->now = (struct key){.time_ps = INT64_MIN};
        gvt->safe_ps = INT64_MIN;
        gvt->over = false;
    }
}

static void enter_worker(void *sim, uint32_t index)
{
    (void)parallel_worker(&((struct cw_sim *)sim)->workers[index]);
}

static int run_workers(struct cw_sim *sim, struct cw_error *error)
{
    const uint32_t n = sim->worker_count;
    const uint32_t started = threads_run(&sim->memory, n, enter_worker, sim);
    if (started == 0)
        return memory_error(&sim->memory, error);
    if (started < n)
        return error_set(error, CW_NO_RESOURCE, "the system starts no more than %u of %u threads",
                         (unsigned)started, (unsigned)n);
    return CW_OK;
}

/* Delivers what is left of the records. After a failure the states stay as speculation left them.
 */
static int settle(struct cw_sim *sim, struct cw_error *error)
{
    const struct gvt *const gvt = &sim->workers[0].timewarp->gvt;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        sim->slots[i].sealed = outbox_seal(&sim->workers[i].timewarp->outbox);
    outbox_merge(sim, gvt->now);
    if (simulation_aborted(sim))
        return memory_error(&sim->memory, error);
    if (gvt->failed_by < 0)
        return CW_OK;
    *error = sim->workers[gvt->failed_by].timewarp->failure;
    return error->exit_code;
}

int parallel_drain(struct cw_sim *sim, struct cw_error *error)
{
    forget_bounds(sim);
    pin_begin(sim->pin);
    const int started = run_workers(sim, error);
    pin_end(sim->pin);
    if (started != CW_OK)
        return started;
    if (!simulation_aborted(sim))
        return settle(sim, error);
    *error = sim->workers[sync_load_acquire(&sim->aborted) - 1].failure;
    return error->exit_code;
}
