/*
 * wait.c: spins, yields, sleeps and wakes (wait.h).
 */
#include "core/speculation/wait.h"

#include "core/os/clock.h"
#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/gvt.h"
#include "core/exchange/gvt_slot.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

enum {
    TURNS_SPUN = 64,    /* a microsecond or some */
    TURNS_AWAKE = 2048, /* then the others are far from done */
    TURNS_CROWDED = 16,
    SLEEP_NS_MAX = 2000000,
    NAP_NS = 50000,
    SHARED_TIMES =
        32, /* the core counts as shared for this many times as long as other programs had it */
};

static bool is_asleep(const struct gvt_slot *slot)
{
    /* Acquire load of the other worker's `waits_for`. sleep_for() stores the caller's own
     * `waits_for`, fences, and only then comes here. So of two workers that are about to sleep, at
     * least one sees that the other sleeps (I-WAIT-1). */
    return sync_load_acquire(&slot->waits_for) != 0;
}

/* Says that it sleeps. Then sleeps, unless something has come or the other worker sleeps, too. */
static void sleep_for(struct timewarp *tw, uint32_t other)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct gvt_slot *const slot = &sim->slots[tw->index], *const theirs = &sim->slots[other];
    const uint64_t word = 1 + (uint64_t)other;
    CW_INVARIANT("I-WAIT-1", other != tw->index && other < sim->worker_count,
                 "worker %u of %u waits for worker %u", (unsigned)tw->index,
                 (unsigned)sim->worker_count, (unsigned)other);
    (void)sync_add_relaxed(&sim->sleepers, 1);
    sync_store_release(&slot->waits_for, word); /* pairs with is_asleep() and wait_wake() */
    if (sim->can_fence_all)                     /* before the looks below: I-WAIT-1, I-WAIT-2 */
        sync_fence_all();
    else
        sync_fence();
    /* promise_ps: pairs with promise_renew(); only whether it has changed counts here */
    if (!is_asleep(theirs) &&
        (int64_t)sync_load_acquire(&theirs->promise_ps) == tw->promise.blocked_by_ps &&
        !gvt_can_continue(&sim->gvt_rounds, tw->gvt.round, tw->gvt.stage) &&
        !simulation_paused(sim, false)) {
        const uint64_t start = clock_ticks();
        CW_INVARIANT("I-WAIT-2", sync_load_acquire(&sim->sleepers) > 0,
                     "worker %u sleeps, and no worker is counted", (unsigned)tw->index);
        sync_sleep(&slot->waits_for, word, SLEEP_NS_MAX);
        activity_slept(&tw->worker->clock, start);
    }
    sync_store_release(&slot->waits_for, 0); /* our own word: orders nothing that matters */
    (void)sync_add_relaxed(&sim->sleepers, UINT64_MAX);
}

/* Sleeps until the worker that holds this one up has made something known. If there is none, or if
 * it sleeps, too, this worker may be the last one awake (I-WAIT-1): it naps, and calls a round. */
static void sleep_or_nap(struct timewarp *tw)
{
    const uint32_t other = tw->promise.blocked_by;
    if (tw->move.stage == MOVE_NONE && other != tw->index &&
        !is_asleep(&tw->worker->sim->slots[other])) {
        sleep_for(tw, other);
        return;
    }
    tw->gvt.wanted = true;
    sync_doze(NAP_NS);
}

/* Gives the core away. Notes whether other programs have had it. */
static void give_core_away(struct wait *wait)
{
    const uint64_t away_ns = sync_yield_timed();
    if (away_ns == 0)
        return;
    wait->away_s = 1e-9 * (double)away_ns;
    wait->back_s = clock_s();
}

/* Whether another program recently held this core: within `times` as long as it held it. */
static bool is_core_shared(const struct wait *wait, double times)
{
    return wait->back_s > 0 && clock_s() < wait->back_s + times * wait->away_s;
}

void wait_turn(struct timewarp *tw)
{
    const struct cw_sim *const sim = tw->worker->sim;
    const unsigned turns = ++tw->wait.waits, awake = sim->crowded ? TURNS_CROWDED : TURNS_AWAKE;
    if (turns < TURNS_SPUN && !sim->crowded)
        sync_pause();
    else if (turns >= awake || is_core_shared(&tw->wait, SHARED_TIMES))
        sleep_or_nap(tw);
    else
        give_core_away(&tw->wait);
}

void wait_together(struct worker *first, unsigned turns)
{
    if (turns < TURNS_SPUN && !first->sim->crowded)
        sync_pause();
    else
        wait_for_threads(&first->timewarp->wait, turns);
}

void wait_for_threads(struct wait *wait, unsigned looks)
{
    if (looks >= TURNS_AWAKE || is_core_shared(wait, SHARED_TIMES))
        sync_doze(NAP_NS);
    else
        give_core_away(wait);
}

void wait_give_way(struct wait *wait)
{
    if (!is_core_shared(wait, 1))
        give_core_away(wait);
}

void wait_for_recorder(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    const uint64_t start = clock_ticks();
    for (unsigned turns = 1;
         !simulation_aborted(sim) && recorder_is_behind(&sim->recorder, &tw->outbox); turns++) {
        CW_INVARIANT("I-REC-3",
                     sync_load_acquire(&sim->recorder.closed) == 0 || simulation_aborted(sim),
                     "worker %u waits for the recorder, which has ended", (unsigned)tw->index);
        if (turns < TURNS_SPUN && !sim->crowded)
            sync_pause();
        else
            sync_doze(NAP_NS);
    }
    activity_slept(&tw->worker->clock, start);
}

/* Wakes a worker if it sleeps for worker `index`, or with `any` if it sleeps at all. */
static void wake_one(struct cw_sim *sim, uint32_t sleeper, uint32_t index, bool any)
{
    struct gvt_slot *const slot = &sim->slots[sleeper];
    const uint64_t word = sync_load_acquire(&slot->waits_for); /* pairs with sleep_for() */
    CW_INVARIANT("I-WAIT-1", word <= sim->worker_count && word != 1 + (uint64_t)sleeper,
                 "worker %u waits for the word %llu", (unsigned)sleeper, (unsigned long long)word);
    if (sleeper != index && word != 0 && (any || word == 1 + (uint64_t)index))
        sync_wake(&slot->waits_for);
}

void wait_wake(struct cw_sim *sim, uint32_t index, bool all)
{
    sync_fence_often(sim->can_fence_all); /* the publication, before the look below: I-WAIT-2 */
    if (sync_load_acquire(&sim->sleepers) == 0)
        return;
    for (uint32_t i = 0; all && i < sim->worker_count; i++)
        wake_one(sim, i, index, true);
    if (all)
        return;
    /* A worker sleeps for one that may send to it, and no other (promise.c). */
    const struct peers *const peers = &sim->workers[index].timewarp->peers;
    for (uint32_t i = 0; i < peers->out_count; i++)
        wake_one(sim, peers->out[i].to, index, false);
}

void abort_run(struct cw_sim *sim, const struct worker *worker)
{
    /* orders everything: the failure is written; pairs with simulation_aborted() */
    if (sync_claim(&sim->aborted, 1 + (uint64_t)worker->index) && sim->slots != NULL &&
        worker->timewarp != NULL)
        wait_wake(sim, worker->index, true);
}
