/*
 * fossil.c: commits final events from the undo log (fossil.h).
 *
 * The undo log is walked from its oldest block on. A block whose least event is not final is
 * skipped. A block without a live log is used again. So each LP's events commit in their order
 * (I-HIST-2), as the trace hash needs. Events of different LPs may not; record_merge.h puts their
 * records in order.
 */
#include "core/speculation/fossil.h"

#include <string.h>

#include "core/worker/commit.h"
#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/event_limit.h"
#include "core/speculation/promise.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

enum { AHEAD = 4 }; /* logs, whose events are fetched before their turn */

/* Events before `time_ps` are final, and events before `gvt`. */
struct limit {
    int64_t time_ps;
    struct key gvt;
    const struct cw_event *failed; /* NULL, or an event at `gvt`: those before it are final */
};

/* An event at GVT's time, of which there are few: out of line, where the loop below is short. */
static __attribute__((noinline)) bool is_final_at_gvt(const struct limit *limit,
                                                      struct cw_event *event)
{
    const struct entry entry = entry_of_event(event);
    return event->time_ps < limit->time_ps || key_before(key_of(&entry), limit->gvt) ||
           (limit->failed != NULL && cw_event_before(event, limit->failed));
}

static inline bool is_final(const struct limit *limit, struct cw_event *event)
{
    return event->time_ps != limit->gvt.time_ps ? event->time_ps < limit->time_ps
                                                : is_final_at_gvt(limit, event);
}

/* The worker whose receiver gets the records of an event of this LP: while one thread has all
 * events, it is not the worker that handles the event (gather.h). */
static struct worker *gathered_owner(const struct timewarp *tw, uint32_t lp)
{
    struct cw_sim *const sim = tw->worker->sim;
    return tw->gathered ? &sim->workers[sim->config.lp_worker[lp]] : tw->worker;
}

void fossil_emit_records(struct timewarp *tw, const struct cw_event *event, const uint8_t *records,
                         size_t bytes)
{
    const struct cw_config *const config = &tw->worker->sim->config;
    if (config->tuning.worker_record != NULL)
        worker_deliver_records(gathered_owner(tw, event->lp), records, bytes, event);
    if (config->record != NULL)
        memcpy(worker_need(tw->worker, record_outbox_add(&tw->outbox, event, bytes)), records,
               bytes);
}

static void emit_records(struct timewarp *tw, const struct log *log)
{
    size_t bytes;
    const uint8_t *const records = log_records(log, &bytes);
    event_clear_notes(log->event);
    fossil_emit_records(tw, log->event, records, bytes);
}

/* Whether the log is the last of its LP's list. Looks at short lists only; for assertions. */
static inline bool is_oldest(const struct lp_logs *of, const struct log *log)
{
    enum { LIVE_MAX = 16 };
    const struct log *oldest = of->newest;
    for (uint64_t i = 1; i < of->live && of->live <= LIVE_MAX; i++)
        oldest = oldest->older;
    return of->live > LIVE_MAX || oldest == log;
}

/* The events in a log that were sent to other workers, by its items. */
static __attribute__((noinline)) uint64_t count_remote(const struct log *log)
{
    const uint64_t *const first = (const uint64_t *)(const void *)(log + 1);
    const uint64_t *at = (const uint64_t *)(const void *)((const uint8_t *)log + log_bytes(log));
    uint64_t count = 0;
    while (at > first) {
        const uint64_t word = *--at;
        count += (word & ITEM_KIND_MASK) == ITEM_REMOTE;
        at -= item_words(word);
    }
    return count;
}

/* The same. Few are counted as they are sent: whether there are any is not foreseeable, and a wrong
 * guess of the processor costs as much as the rest of a commit. */
static inline uint64_t remote_sends(const struct log *log)
{
    return __builtin_expect(log->shape.remote == REMOTE_MANY, 0) ? count_remote(log)
                                                                 : log->shape.remote;
}

/* Commits a processed event, the oldest of its LP. The caller counts it. */
static inline void commit_log(struct timewarp *tw, struct log *log)
{
    struct cw_event *const event = log->event;
    CW_INVARIANT("I-TW-1", tw->lp_logs[event->lp].live > 0 && event->reserved & EVENT_PROCESSED,
                 "an event of LP %u at %lld ps commits with the notes %u", (unsigned)event->lp,
                 (long long)event->time_ps, (unsigned)event->reserved);
    CW_INVARIANT("I-TW-2", !(event->reserved & (EVENT_CANCELLED | EVENT_LAZY)),
                 "an event of LP %u at %lld ps commits with the notes %u", (unsigned)event->lp,
                 (long long)event->time_ps, (unsigned)event->reserved);
    if (__builtin_expect(log->shape.has_records, 0))
        emit_records(tw, log);
    tw->peers.sent_for_good += remote_sends(log);
    tw->lp_logs[event->lp].live--;
    log->event = NULL;
    event_pool_put(&tw->worker->pool, event);
}

void fossil_commit_lp(struct timewarp *tw, uint32_t lp)
{
    struct lp_logs *const of = &tw->lp_logs[lp];
    struct log *log = of->newest, *oldest = NULL;
    for (uint64_t i = of->live; i > 0;
         i--) { /* reverse the list: newest-first becomes oldest-first */
        struct log *const older = log->older;
        log->older = oldest;
        oldest = log;
        log = older;
    }
    while (oldest != NULL) {
        log = oldest;
        oldest = log->older;
        CW_INVARIANT("I-HIST-2", oldest == NULL || log->event->time_ps <= oldest->event->time_ps,
                     "an event of LP %u at %lld ps commits before an older one", (unsigned)lp,
                     (long long)log->event->time_ps);
        if (event_limit_is_on(tw))
            event_limit_note(tw, log->event);
        commit_count(tw->worker, 1, log->event->time_ps);
        undo_log_forget(&tw->undo_log, undo_block_of(log), 1);
        commit_log(tw, log);
    }
}

/* Whether no pending event of this worker comes before `event`. For assertions. */
static inline bool is_before_pending(struct timewarp *tw, const struct cw_event *event)
{
    const struct entry *const least = pending_peek(&tw->worker->pending);
    return least == NULL || least->event->reserved & EVENT_CANCELLED ||
           !cw_event_before(least->event, event);
}

/* Commits the final events of a block, and finds the least of the others. */
static void collect_block(struct timewarp *tw, struct undo_block *block, const struct limit *limit)
{
    const size_t end = undo_block_end(&tw->undo_log, block);
    const int64_t last_ps =
        limit->time_ps > limit->gvt.time_ps ? limit->time_ps : limit->gvt.time_ps;
    size_t ahead = block->first, first = end, committed = 0;
    int64_t latest_ps = INT64_MIN;
    block->least_ps = CW_TIME_MAX;
    for (unsigned i = 0; i < AHEAD && ahead < end; i++)
        ahead += log_bytes((const struct log *)(const void *)(block->data + ahead));
    for (size_t at = block->first; at < end;) {
        struct log *const log = (struct log *)(void *)(block->data + at);
        if (ahead < end) {
            const struct log *const later = (const struct log *)(const void *)(block->data + ahead);
            __builtin_prefetch(later->event);
            ahead += log_bytes(later);
        }
        if (log->event == NULL) {
            /* a gap */
        } else if (is_final(limit, log->event)) {
            latest_ps = log->event->time_ps > latest_ps ? log->event->time_ps : latest_ps;
            CW_INVARIANT("I-HIST-2", is_oldest(&tw->lp_logs[log->event->lp], log),
                         "an event of LP %u at %lld ps commits before an older one",
                         (unsigned)log->event->lp, (long long)log->event->time_ps);
            CW_INVARIANT("I-FAIL-2", limit->failed == NULL || is_before_pending(tw, log->event),
                         "the run fails, and an event of LP %u at %lld ps commits before one that "
                         "is pending",
                         (unsigned)log->event->lp, (long long)log->event->time_ps);
            committed++;
            commit_log(tw, log);
        } else {
            first = at < first ? at : first;
            block->least_ps =
                log->event->time_ps < block->least_ps ? log->event->time_ps : block->least_ps;
            if (!block->descends && log->event->time_ps > last_ps)
                break; /* nor is any later one */
        }
        at += log_bytes(log);
    }
    block->first = first;
    if (block->latest_ps < block->least_ps) /* as undo_log_close() needs them */
        block->latest_ps = block->least_ps;
    undo_log_forget(&tw->undo_log, block, committed);
    commit_count(tw->worker, committed, latest_ps);
}

/* Where events are counted (event_limit.h): notes those that are about to commit. */
static void note_final(struct timewarp *tw, const struct limit *limit)
{
    for (const struct undo_block *block = tw->undo_log.oldest; block != NULL; block = block->next) {
        const size_t end = undo_block_end(&tw->undo_log, block);
        for (size_t at = block->first; block->live > 0 && at < end;) {
            const struct log *const log = (const struct log *)(const void *)(block->data + at);
            if (log->event != NULL && is_final(limit, log->event))
                event_limit_note(tw, log->event);
            at += log_bytes(log);
        }
    }
}

static void collect_until(struct timewarp *tw, struct limit limit)
{
    struct undo_log *const undo_log = &tw->undo_log;
    struct undo_block *older = NULL, *block = undo_log->oldest;
    tw->collected_ps = limit.time_ps;
    if (event_limit_is_on(tw))
        note_final(tw, &limit);
    while (block != NULL) {
        if (block->live > 0 &&
            (block->least_ps < limit.time_ps || block->least_ps <= limit.gvt.time_ps))
            collect_block(tw, block, &limit);
        if (block->live == 0) {
            block = undo_log_retire(undo_log, older, block);
        } else {
            older = block;
            block = block->next;
        }
    }
    if (undo_log->live == 0)
        tw->front.time_ps = INT64_MIN;
}

void fossil_collect(struct timewarp *tw)
{
    collect_until(tw, (struct limit){.time_ps = promise_ps(tw),
                                     .gvt = tw->gvt.now,
                                     .failed = tw->gvt.failed}); /* I-FAIL-1, I-FAIL-2 */
}

void fossil_collect_before(struct timewarp *tw, struct key key)
{
    collect_until(tw, (struct limit){.time_ps = key.time_ps, .gvt = key});
}
