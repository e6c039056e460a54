/*
 * gvt.c: a worker's part in a round (gvt.h).
 */
#include "core/timewarp/gvt.h"

#include "core/simulation.h"
#include "core/timewarp/timewarp.h"
#include "core/timewarp/wait.h"

enum {
    LOOKS_BEFORE_ROUND = 64,  /* that found nothing to do */
    LIVE_BEFORE_ROUND = 1024, /* logs */
    /* Events handled: somebody wants to see their records; and what is handled and undone again
     * and again, to save memory, would never commit. */
    EVENTS_BEFORE_ROUND = 16384,
    RECORD_BYTES_BEFORE_ROUND = 1 << 20, /* that nobody has read yet: they are memory */
};

static int64_t gvt_add_saturating(int64_t a, int64_t b)
{
    return a > CW_TIME_MAX - b ? CW_TIME_MAX : a + b;
}

void gvt_close_delays(int64_t *delays_ps, uint32_t n)
{
    for (uint32_t via = 0; via < n; via++)
        for (uint32_t from = 0; from < n; from++)
            for (uint32_t to = 0; to < n; to++) {
                const int64_t through = gvt_add_saturating(delays_ps[(size_t)from * n + via],
                                                           delays_ps[(size_t)via * n + to]);
                int64_t *const direct = &delays_ps[(size_t)from * n + to];
                *direct = through < *direct ? through : *direct;
            }
}

static bool all_have(const struct cw_sim *sim, bool second, uint64_t round)
{
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct gvt_slot *const slot = &sim->slots[i];
        /* acquire: pairs with the releases in first_cut() and second_cut() */
        if (sync_load_acquire(second ? &slot->second_cut : &slot->first_cut) < round)
            return false;
    }
    return true;
}

bool gvt_can_go_on(const struct timewarp *tw)
{
    const struct cw_sim *const sim = tw->worker->sim;
    if (tw->gvt.stage != GVT_BEGIN)
        return all_have(sim, tw->gvt.stage == GVT_SECOND_CUT, tw->gvt.round);
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (sync_load_acquire(&sim->slots[i].first_cut) > tw->gvt.round) /* as in all_have() */
            return true;
    return false;
}

static void first_cut(struct timewarp *tw, struct gvt_slot *slot)
{
    const struct cw_sim *const sim = tw->worker->sim;
    (void)timewarp_flush(tw);
    record_outbox_take_back(&tw->outbox, &slot->spent);
    slot->sealed = record_outbox_seal(&tw->outbox);
    for (uint32_t to = 0; to < sim->worker_count; to++)
        tw->sent_least[to] = KEY_NEVER;
    /* release: our messages are published; pairs with the acquire in all_have() */
    sync_store_release(&slot->first_cut, tw->gvt.round);
    tw->gvt.stage = GVT_FIRST_CUT;
    wait_wake(tw, true);
}

/* The least event that this worker has to handle; those that were cancelled are freed here. */
static struct key least_pending(struct timewarp *tw)
{
    struct pending *const pending = &tw->worker->pending;
    const struct entry *least;
    while ((least = pending_peek(pending)) != NULL && least->event->reserved & EVENT_CANCELLED) {
        struct cw_event *const event = least->event;
        pending_pop(pending, least);
        event_pool_put(&tw->worker->pool, event);
        tw->cancelled--;
    }
    if (least == NULL && pending->out_of_memory)
        worker_fail_for_memory(tw->worker);
    return least == NULL ? KEY_NEVER : key_of(least);
}

static void second_cut(struct timewarp *tw, struct gvt_slot *slot)
{
    timewarp_receive(tw);
    (void)timewarp_flush(tw);
    slot->least = least_pending(tw);
    for (uint32_t to = 0; to < tw->worker->sim->worker_count; to++)
        slot->sent[to] = tw->sent_least[to];
    slot->failed = tw->failed;
    if (tw->failed) {
        const struct key key = tw->stuck_at;
        slot->least = key_before(key, slot->least) ? key : slot->least;
        slot->failed = !key_before(slot->least, key);
    }
    stats_report(tw, &slot->report);
    /* release: the report; pairs with the acquire in all_have() */
    sync_store_release(&slot->second_cut, tw->gvt.round);
    tw->gvt.stage = GVT_SECOND_CUT;
    wait_wake(tw, true);
}

/* Whether what is left at GVT has failed for good, all of it: events of one key may be in several
 * workers, and those that come before the failed one, by type, payload or LP, are to be committed.
 * The failed one is the least of its own worker: nothing at GVT can arrive any more. */
static bool is_failure_certain(const struct cw_sim *sim, struct key now)
{
    bool any = false;
    for (uint32_t b = 0; b < sim->worker_count; b++) {
        const struct gvt_slot *const slot = &sim->slots[b];
        if (!slot->failed && !key_before(now, slot->least))
            return false;
        any |= slot->failed && !key_before(now, slot->least);
        for (uint32_t to = 0; to < sim->worker_count; to++)
            if (!key_before(now, slot->sent[to]))
                return false;
    }
    return any;
}

/* All have reported: everybody computes the same. */
static void compute(struct timewarp *tw)
{
    const struct cw_sim *const sim = tw->worker->sim;
    const uint32_t n = sim->worker_count;
    struct gvt *const gvt = &tw->gvt;
    gvt->now = KEY_NEVER;
    gvt->next_safe_ps = CW_TIME_MAX;
    for (uint32_t b = 0; b < n; b++) {
        struct key least = sim->slots[b].least;
        for (uint32_t c = 0; c < n; c++)
            if (key_before(sim->slots[c].sent[b], least))
                least = sim->slots[c].sent[b];
        const int64_t bound_ps =
            gvt_add_saturating(least.time_ps, sim->path_delays_ps[(size_t)b * n + tw->index]);
        gvt->next_safe_ps = bound_ps < gvt->next_safe_ps ? bound_ps : gvt->next_safe_ps;
        gvt->now = key_before(least, gvt->now) ? least : gvt->now;
    }
    gvt->failed = is_failure_certain(sim, gvt->now);
    gvt->over = gvt->failed || gvt->now.time_ps >= sim->config.end_ps;
}

/* A round costs every worker some cache lines: it is for those who cannot go on without, and for
 * what has to be committed. */
static bool is_wanted(const struct timewarp *tw)
{
    return tw->gvt.called || tw->looks >= LOOKS_BEFORE_ROUND ||
           tw->undo_log.live >= LIVE_BEFORE_ROUND ||
           (tw->undo_log.live > 0 && tw->undo_log.live >= tw->allowance) ||
           record_outbox_bytes(&tw->outbox) >= RECORD_BYTES_BEFORE_ROUND ||
           (tw->level >= MEMORY_TIGHT && (tw->undo_log.live > 0 || tw->outbox.open != NULL)) ||
           tw->events_processed - tw->processed_by >= EVENTS_BEFORE_ROUND || tw->failed ||
           tw->stuck;
}

bool gvt_step(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct gvt *const gvt = &tw->gvt;
    struct gvt_slot *const slot = &sim->slots[tw->index];
    if (gvt->stage == GVT_BEGIN) {
        if (!is_wanted(tw))
            return false;
        gvt->called = false;
        gvt->round++;
        gvt->begun = clock_ticks();
        first_cut(tw, slot);
    }
    if (gvt->stage == GVT_FIRST_CUT) {
        if (!all_have(sim, false, gvt->round))
            return false;
        if (tw->index == 0) /* all have collected up to the last round's GVT */
            record_merge_deliver(sim, gvt->now, NULL);
        second_cut(tw, slot);
    }
    if (!all_have(sim, true, gvt->round))
        return false;
    compute(tw);
    timewarp_receive(tw); /* all that was published before the reports (I-SAFE-1) */
    if (gvt->next_safe_ps > gvt->safe_ps)
        gvt->safe_ps = gvt->next_safe_ps;
    gvt->rounds++;
    gvt->ticks += clock_ticks() - gvt->begun;
    tw->processed_by = tw->events_processed;
    gvt->stage = GVT_BEGIN;
    return true;
}
