/*
 * recorder.c: worker 0's requests, and the thread that carries them out (recorder.h).
 */
#include "core/exchange/recorder.h"

#include "core/exchange/gvt_slot.h"
#include "core/invariant.h"

enum { RECORDER_SLEEP_NS_MAX = 10000000 };

bool recorder_init(struct recorder *recorder, struct memory *memory, uint32_t worker_count,
                   bool threaded, cw_record_fn sink, void *sink_arg)
{
    *recorder = (struct recorder){
        .on = sink != NULL, .threaded = threaded && sink != NULL, .least = KEY_NEVER};
    return sink == NULL ||
           record_merger_init(&recorder->merger, memory, worker_count, sink, sink_arg);
}

void recorder_free(struct recorder *recorder)
{
    if (recorder->on)
        record_merger_free(&recorder->merger);
}

struct record_lane *recorder_lane(const struct recorder *recorder, uint32_t worker)
{
    return recorder->on ? &recorder->merger.shared[worker] : NULL;
}

void recorder_begin(struct recorder *recorder)
{
    if (!recorder->on)
        return;
    record_merger_begin(&recorder->merger);
    sync_store_release(&recorder->closed, 0); /* the recorder's thread does not run yet */
}

static bool take_and_deliver(struct recorder *recorder, struct key bound,
                             const struct cw_event *failed)
{
    if (!record_merge_take(&recorder->merger))
        return false;
    record_merge_deliver(&recorder->merger, bound, failed);
    recorder->least = record_merge_least(&recorder->merger);
    return true;
}

bool recorder_finish(struct recorder *recorder, struct key bound, const struct cw_event *failed)
{
    CW_INVARIANT("I-REC-2", !recorder->on || sync_load_acquire(&recorder->asked) == 0,
                 "the workers are at rest, and the recorder has a bound at %lld ps to deliver",
                 (long long)recorder->bound.time_ps);
    return !recorder->on || take_and_deliver(recorder, bound, failed);
}

/* ---- worker 0 -------------------------------------------------------------------------------- */

/* After a word was set that the recorder looks at. */
static void wake_recorder(struct recorder *recorder)
{
    sync_fence(); /* the word, before the look below: I-REC-3 */
    if (sync_load_acquire(&recorder->asleep) != 0)
        sync_wake(&recorder->asleep);
}

bool recorder_ask(struct recorder *recorder, const struct gvt_slot *slots, struct key bound)
{
    uint64_t published = 0;
    /* acquire: `least` and the merger; pairs with the release in recorder_run() */
    if (!recorder->on || sync_load_acquire(&recorder->asked) != 0)
        return true;
    for (uint32_t i = 0; i < recorder->merger.worker_count; i++)
        published += slots[i].published;
    if (published == recorder->seen && !key_before(recorder->least, bound))
        return true;
    recorder->seen = published;
    if (!recorder->threaded)
        return take_and_deliver(recorder, bound, NULL);
    recorder->bound = bound;
    /* release: the bound, and the workers' published records; pairs with recorder_run() */
    sync_store_release(&recorder->asked, 1);
    wake_recorder(recorder);
    return true;
}

void recorder_close(struct recorder *recorder)
{
    if (!recorder->threaded)
        return;
    sync_store_release(&recorder->closed, 1); /* pairs with recorder_run() */
    wake_recorder(recorder);
}

/* ---- any worker ------------------------------------------------------------------------------ */

bool recorder_is_behind(const struct recorder *recorder, struct record_outbox *outbox)
{
    if (!recorder->threaded || outbox->lent_bytes == 0)
        return false;
    record_outbox_take_back(outbox);
    const bool tight = memory_level(outbox->memory) >= MEMORY_TIGHT;
    if (tight)
        record_outbox_trim(outbox);
    return outbox->lent_bytes > (tight ? 0 : outbox->lent_most) &&
           sync_load_acquire(&recorder->asked) != 0; /* or else it waits for us (I-REC-3) */
}

/* ---- the recorder's thread ------------------------------------------------------------------- */

static bool has_work(const struct recorder *recorder)
{
    /* both pair with the releases in recorder_ask() and recorder_close() */
    return sync_load_acquire(&recorder->asked) != 0 || sync_load_acquire(&recorder->closed) != 0;
}

bool recorder_run(struct recorder *recorder)
{
    for (;;) {
        /* Read before `asked`: worker 0 sets it last. Pairs with recorder_close(). */
        const bool closed = sync_load_acquire(&recorder->closed) != 0;
        /* acquire: the bound; pairs with recorder_ask() */
        const bool asked = sync_load_acquire(&recorder->asked) != 0;
        if (asked && !take_and_deliver(recorder, recorder->bound, NULL))
            return false;
        if (asked) {
            /* release: `least` and the merger; pairs with recorder_ask() */
            sync_store_release(&recorder->asked, 0);
            continue;
        }
        if (closed)
            return true;
        sync_store_release(&recorder->asleep, 1); /* pairs with wake_recorder() */
        sync_fence();                             /* before the looks below: I-REC-3 */
        if (!has_work(recorder))
            sync_sleep(&recorder->asleep, 1, RECORDER_SLEEP_NS_MAX);
        sync_store_release(&recorder->asleep, 0); /* our own word: orders nothing that matters */
    }
}
