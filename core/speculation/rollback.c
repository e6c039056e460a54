/*
 * rollback.c: undoes an LP's events, newest first, and what follows from that (rollback.h).
 */
#include "core/speculation/rollback.h"

#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/exchange/gvt_slot.h"
#include "core/speculation/lazy_cancel.h"
#include "core/speculation/send.h"
#include "core/speculation/stress.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

/* Undoes the items of a log up to `end` on its LP's state, newest first (I-HIST-1). With `keep` its
 * sends are kept, else they are cancelled. Returns whether any is kept. */
static bool undo_items(struct timewarp *tw, const struct log *log, const uint8_t *end, uint32_t lp,
                       bool keep)
{
    uint8_t *const state = tw->worker->sim->lp_states.blocks[lp]->state;
    const uint64_t *const first = (const uint64_t *)(const void *)(log + 1);
    const uint64_t *at = (const uint64_t *)(const void *)end;
    bool any_kept = false;
    while (at > first) {
        const uint64_t word = *--at;
        at -= item_words(word);
        switch ((enum item_kind)(word & ITEM_KIND_MASK)) {
        case ITEM_LOCAL:
        case ITEM_REMOTE:
            if (!keep)
                send_cancel_logged(tw, at, word);
            any_kept = keep;
            break;
        case ITEM_IMAGE:
            CW_INVARIANT("I-HIST-1",
                         (word >> 32) + ((uint32_t)word >> 3) <=
                             tw->worker->sim->lp_states.blocks[lp]->state_bytes,
                         "an image of %u bytes at %llu, the state of LP %u has %llu",
                         (unsigned)((uint32_t)word >> 3), (unsigned long long)(word >> 32),
                         (unsigned)lp,
                         (unsigned long long)tw->worker->sim->lp_states.blocks[lp]->state_bytes);
            memcpy(state + (word >> 32), at, (uint32_t)word >> 3);
            break;
        case ITEM_STATE:
            stress_check_state(tw, lp, *at);
            break;
        default: /* records: they go with the log */
            break;
        }
    }
    return any_kept;
}

/* Undoes the event that the LP has handled last. It is pending again. */
static void undo_newest(struct timewarp *tw, uint32_t lp)
{
    struct lp_logs *const of = &tw->lp_logs[lp];
    struct log *const log = of->newest;
    struct cw_event *const event = log->event;
    struct lp_block *const block = tw->worker->sim->lp_states.blocks[lp];
    CW_INVARIANT("I-TW-1",
                 of->live > 0 && event != NULL && event->lp == lp &&
                     event->reserved & EVENT_PROCESSED,
                 "LP %u has %llu logs, and the newest is not of a processed event", (unsigned)lp,
                 (unsigned long long)of->live);
    CW_INVARIANT("I-PROM-2", event->time_ps >= tw->collected_ps,
                 "LP %u undoes an event at %lld ps; events before %lld ps are final", (unsigned)lp,
                 (long long)event->time_ps, (long long)tw->collected_ps);
    const bool any_kept =
        undo_items(tw, log, (const uint8_t *)log + log_bytes(log), lp, lazy_cancel_may_keep(tw));
    block->hash = log->hash;
    of->newest = log->older;
    of->live--;
    if (any_kept)
        lazy_cancel_keep(tw, event, log);
    else
        undo_log_drop(&tw->undo_log, log);
    event->reserved &= (uint16_t)~EVENT_PROCESSED;
    tw->worker->undone++;
    tw->throttle.usage.rolled_back++;
    if (!pending_push(&tw->worker->pending, entry_of_event(event)))
        worker_fail_for_memory(tw->worker);
}

static void note_rollback(struct timewarp *tw, enum rollback_cause cause, uint64_t events)
{
    tw->rollback.count_by_cause[cause]++;
    if (events > tw->rollback.events_max)
        tw->rollback.events_max = events;
}

/* Whether the LP has handled an event that comes after this one. An equal one may stay: equal
 * events are interchangeable (I-ORDER-1). */
static bool is_straggler(const struct timewarp *tw, const struct entry *entry)
{
    const struct lp_logs *const of = &tw->lp_logs[entry_lp(entry)];
    if (of->live == 0)
        return false;
    const struct entry newest = entry_of_event(of->newest->event);
    return entry_before(entry, &newest);
}

/* Undoes the event, if it was handled, and the events that its LP has handled since. */
static void undo_event(struct timewarp *tw, const struct cw_event *event, enum rollback_cause cause)
{
    uint64_t undone = 0;
    for (; event->reserved & EVENT_PROCESSED; undone++)
        undo_newest(tw, event->lp);
    if (undone > 0)
        note_rollback(tw, cause, undone);
}

static void cancel(struct timewarp *tw, struct cw_event *event, enum rollback_cause cause)
{
    undo_event(tw, event, cause);
    if (event->reserved & EVENT_LAZY)
        lazy_cancel_drop(tw, event);
    CW_INVARIANT("I-TW-2", !(event->reserved & (EVENT_CANCELLED | EVENT_PROCESSED)),
                 "an event for LP %u at %lld ps is cancelled with the notes %u",
                 (unsigned)event->lp, (long long)event->time_ps, (unsigned)event->reserved);
    event->reserved |= EVENT_CANCELLED;
    if (event->lp != tw->worker->listener) /* its events are not among the pending ones */
        tw->rollback.cancelled++;
}

void rollback_work_off(struct timewarp *tw)
{
    while (tw->rollback.cancel_count > 0) {
        tw->rollback.cancel_count--;
        cancel(tw, tw->rollback.cancels[tw->rollback.cancel_count], ROLLBACK_SECONDARY);
    }
}

/* From here to end_undoing() the worker undoes. Returns the activity before. */
static unsigned begin_undoing(struct timewarp *tw)
{
    struct activity_clock *const clock = &tw->worker->clock;
    if (__builtin_expect(clock->log != NULL, 0))
        interval_log_rollback(clock->log, clock_ticks(), tw->worker->undone);
    return activity_go(clock, CW_ROLLBACK);
}

static void end_undoing(struct timewarp *tw, unsigned activity)
{
    struct activity_clock *const clock = &tw->worker->clock;
    (void)activity_go(clock, activity);
    if (__builtin_expect(clock->log != NULL, 0))
        interval_log_rollback_end(clock->log, clock_ticks(), tw->worker->undone);
}

void rollback_straggler(struct timewarp *tw, const struct entry *straggler)
{
    if (!is_straggler(tw, straggler))
        return;
    const unsigned activity = begin_undoing(tw);
    uint64_t undone = 0;
    for (; is_straggler(tw, straggler); undone++)
        undo_newest(tw, entry_lp(straggler));
    note_rollback(tw, ROLLBACK_PRIMARY, undone);
    rollback_work_off(tw);
    end_undoing(tw, activity);
}

static void undo_and_cancel(struct timewarp *tw, const struct cw_event *event,
                            enum rollback_cause cause)
{
    const unsigned activity = begin_undoing(tw);
    undo_event(tw, event, cause);
    rollback_work_off(tw);
    end_undoing(tw, activity);
}

void rollback_event(struct timewarp *tw, const struct cw_event *event)
{
    undo_and_cancel(tw, event, ROLLBACK_STRESS);
}

void rollback_open(struct timewarp *tw)
{
    const struct log *const log = tw->undo_log.open;
    if (log == NULL)
        return;
    (void)undo_items(tw, log, tw->undo_log.undo.at, tw->worker->ctx.event->lp, false);
    undo_log_discard(&tw->undo_log);
    rollback_work_off(tw);
}

void rollback_cancel(struct timewarp *tw, struct cw_event *event)
{
    const unsigned activity = begin_undoing(tw);
    cancel(tw, event, ROLLBACK_PRIMARY);
    rollback_work_off(tw);
    end_undoing(tw, activity);
}

/*
 * Whether nothing relies on the event.
 * - Other workers rely on the promise, which is not beyond the safe bound (I-SAFE-2), and on the
 * last report. They rely on GVT, too, but fossil_collect() has committed each event before GVT.
 * - This worker relies on the events before its safe bound: their messages to own LPs may have been
 *   handled for good.
 */
static bool may_undo(const struct timewarp *tw, struct cw_event *event)
{
    const struct entry entry = entry_of_event(event);
    CW_INVARIANT("I-GVT-1", !key_before(key_of(&entry), tw->gvt.now),
                 "an event of LP %u at %lld ps is not committed, and GVT is %lld ps",
                 (unsigned)event->lp, (long long)event->time_ps, (long long)tw->gvt.now.time_ps);
    return event->time_ps >= tw->gvt.safe_ps && !key_before(key_of(&entry), tw->gvt.reported);
}

static void drop_kept_sends(struct timewarp *tw)
{
    size_t place = 0;
    while (lazy_cancel_drop_next(tw, &place))
        rollback_work_off(tw);
}

static void rollback_logs(struct timewarp *tw, bool all)
{
    struct undo_log *const undo_log = &tw->undo_log;
    for (struct undo_block *block = undo_log->oldest; block != NULL; block = block->next) {
        const size_t end = undo_block_end(undo_log, block);
        for (size_t at = block->first; at < end && block->live > 0;) {
            const struct log *const log = (const struct log *)(const void *)(block->data + at);
            if (log->event != NULL && (all || may_undo(tw, log->event)))
                undo_and_cancel(tw, log->event, ROLLBACK_SECONDARY);
            at += log_bytes(log);
        }
    }
}

void rollback_all(struct timewarp *tw)
{
    drop_kept_sends(tw);
    rollback_logs(tw, false);
}

void rollback_rest(struct timewarp *tw)
{
    rollback_logs(tw, true);
    drop_kept_sends(tw); /* also of the events that were undone just now */
}
