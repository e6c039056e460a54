/*
 * gather.c: parks threads, gathers events and parts again (gather.h).
 *
 * Shared while workers run: sim->paused, which thread 0 writes; a slot for each worker with the
 * events that it has committed; a slot for each thread with its word `parked`; `over`, which thread
 * 0 writes.
 */
#include "core/run/gather.h"

#include "core/at_random.h"
#include "core/run/migrate.h"
#include "core/exchange/gvt_slot.h"
#include "core/run/move_events.h"
#include "core/run/pace.h"
#include "core/os/clock.h"
#include "core/os/pin.h"
#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/promise.h"
#include "core/speculation/receive.h"
#include "core/speculation/timewarp.h"
#include "core/speculation/wait.h"
#include "core/worker/worker.h"

enum {
    /* A worker notes its figures, and worker 0 looks at them, after this many of its turns or
     * events. Each costs a cache line of another core. */
    TURNS_PER_NOTE = 64,
    EVENTS_PER_NOTE = 1024,
    LOOKS_BEFORE_SLEEP = 2048, /* of a parked thread */
    SLEEP_NS_MAX = 100000000,
    OFTEN_LOOKS_MAX = 32, /* CW_GATHER_OFTEN */
};
/* A change of owner takes this long for an event; for one that no cache holds, so much longer. */
static const double change_s_per_event = 12e-9, far_change_s_per_event = 40e-9;

enum { RUNS, PARKED, HAS_ENDED }; /* thread_slot.parked */

struct worker_slot {
    _Alignas(128) struct sync_u64 committed; /* events; its worker's */
    struct sync_u64 alive;                   /* events, now */
    unsigned turns;                          /* since they were noted last */
};

struct thread_slot {
    _Alignas(128) struct sync_u64 parked;
};

struct gather {
    struct worker_slot *workers;        /* [worker_count] */
    struct thread_slot *threads;        /* [thread_count] */
    _Alignas(128) struct sync_u64 over; /* thread 0's: the drain is over */
    /* thread 0's alone */
    _Alignas(128) struct pace pace;
    bool paced;    /* `pace` has begun, in this drain or an earlier one */
    bool together; /* thread 0 runs all workers */
    bool gathered; /* worker 0 has all events */
    struct event_moves moves;
    bool started; /* the other threads run this drain's main function */
    gather_start_fn start;
    struct cw_rng rng; /* CW_GATHER_OFTEN */
    uint32_t looks_left;
};

/* ---- creation: the host ---------------------------------------------------------------------- */

/* The greatest least delay between workers: no event of this delay breaks any. */
static int64_t greatest_least_delay_ps(const struct cw_sim *sim)
{
    const size_t n = sim->worker_count;
    const int64_t *const least_ps = sim->config.least_delay_ps;
    int64_t most_ps = INT64_MIN;
    for (size_t i = 0; i < n * n && least_ps != NULL; i++)
        if (i / n != i % n && least_ps[i] > most_ps)
            most_ps = least_ps[i];
    return most_ps;
}

int gather_create(struct cw_sim *sim, struct cw_error *error)
{
    struct memory *const memory = &sim->memory;
    if (sim->config.tuning.gather == CW_GATHER_NEVER || sim->thread_count < 2 ||
        sim->config.sync == CW_STRESS || sim->config.check_changes)
        return CW_OK;
    struct gather *const gather = memory_take(memory, sizeof *gather);
    if (gather == NULL)
        return memory_error(memory, error);
    sim->gather = gather;
    gather->workers = memory_take(memory, sim->worker_count * sizeof *gather->workers);
    gather->threads = memory_take(memory, sim->thread_count * sizeof *gather->threads);
    gather->rng = cw_rng_seeded(sim->config.tuning.stress_seed, 0);
    if (gather->workers == NULL || gather->threads == NULL)
        return memory_error(memory, error);
    return CW_OK;
}

void gather_free(struct cw_sim *sim)
{
    struct memory *const memory = &sim->memory;
    struct gather *const gather = sim->gather;
    if (gather == NULL)
        return;
    memory_give(memory, gather->workers, sim->worker_count * sizeof *gather->workers);
    memory_give(memory, gather->threads, sim->thread_count * sizeof *gather->threads);
    memory_give(memory, gather, sizeof *gather);
    sim->gather = NULL;
}

/* ---- figures --------------------------------------------------------------------------------- */

static double gather_now_s(const struct cw_sim *sim)
{
    return sim->times.run_s + clock_s() - sim->drain_start_s;
}

/* Events of all workers. */
struct figures {
    uint64_t committed, alive;
};

/* Thread 0. */
static struct figures sum_figures(const struct cw_sim *sim)
{
    struct figures sum = {0};
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct worker_slot *const slot = &sim->gather->workers[i];
        sum.committed += sync_load_acquire(&slot->committed); /* figures: they order nothing */
        sum.alive += sync_load_acquire(&slot->alive);
    }
    return sum;
}

/* The time that it takes to move all events. */
static double change_s(uint64_t alive)
{
    const uint64_t far = alive > MOVES_COPIED_MAX ? alive - MOVES_COPIED_MAX : 0;
    return change_s_per_event * (double)alive + far_change_s_per_event * (double)far;
}

/* A change of the mode is complete. */
static void begin_measuring(struct cw_sim *sim)
{
    pace_begin(&sim->gather->pace, gather_now_s(sim), sum_figures(sim).committed);
}

static void note_figures(const struct worker *worker, struct worker_slot *slot)
{
    slot->turns = 0;
    sync_store_release(&slot->committed, worker->committed);
    sync_store_release(&slot->alive, event_pool_alive(&worker->pool));
}

/* Runs a part of a worker outside of its turns. False: it has failed, and the run ends. */
static bool guard(struct worker *worker, void (*part)(struct timewarp *))
{
    if (setjmp(worker->failed) != 0) { /* memory has run out */
        abort_run(worker->sim, worker);
        return false;
    }
    part(worker->timewarp);
    return true;
}

/* ---- events move: entered through guard(), as worker 0: memory may run out ---------- */

static void gather_events(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct gather *const gather = sim->gather;
    const bool may_copy =
        sim->config.tuning.gather != CW_GATHER_OFTEN || cw_rng_below(&gather->rng, 2) == 0;
    if (!move_events_to_first(&gather->moves, sim, !gather->gathered, may_copy))
        worker_fail_for_memory(tw->worker);
}

static void scatter_events(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    if (!move_events_to_owners(&sim->gather->moves, sim))
        worker_fail_for_memory(tw->worker);
}

/* ---- the workers' bounds --------------------------------------------------------------------- */

/* The promises and safe bounds hold for workers that have the events of their own LPs. So they are
 * forgotten when that changes, in either direction. */
static void set_gathered(struct cw_sim *sim, bool gathered)
{
    sim->gather->gathered = sim->workers[0].gathered = gathered;
    sim->workers[0].many_pools = gathered && !sim->gather->moves.copies;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct timewarp *const tw = sim->workers[i].timewarp;
        tw->gathered = gathered;
        record_outbox_change_lanes(&tw->outbox);
        peers_forget_arrivals(&tw->peers); /* I-GATHER-2: nothing that could be undone has sent */
        /* the other threads are parked: I-GATHER-1 */
        promise_forget(tw, INT64_MIN);
        promise_count_anew(tw);
    }
}

static void disable_speculation(struct cw_sim *sim, bool disabled)
{
    for (uint32_t i = 0; i < sim->worker_count; i++)
        sim->workers[i].timewarp->throttle.disabled = disabled;
}

/* Whether events may be gathered: no round and no move is in progress, and the run does not end. */
static bool may_gather(const struct cw_sim *sim)
{
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct timewarp *const tw = sim->workers[i].timewarp;
        if (tw->gvt.over || tw->gvt.stage != GVT_BEGIN || migrate_is_on(tw) ||
            tw->failures.failed || tw->throttle.level >= MEMORY_TIGHT)
            return false;
    }
    return true;
}

/* Whether events may go back to their owners: no report says where they are (I-GATHER-3), and the
 * run does not end. */
static bool may_part(const struct cw_sim *sim)
{
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct timewarp *const tw = sim->workers[i].timewarp;
        if (tw->gvt.over || tw->gvt.stage != GVT_BEGIN || tw->failures.failed)
            return false;
    }
    return true;
}

/* I-MOVE-2 says which events are final. */
static void undo_and_publish(struct timewarp *tw)
{
    migrate_undo_rest(tw);
    (void)peers_publish(&tw->peers);
}

/* After a turn of each worker: all that was sent has been published. */
static void try_to_gather(struct cw_sim *sim)
{
    struct worker *const first = &sim->workers[0];
    if (!may_gather(sim))
        return;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (!guard(&sim->workers[i], undo_and_publish))
            return;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (!guard(&sim->workers[i], receive_all))
            return;
    if (!guard(first, gather_events))
        return;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        CW_INVARIANT("I-GATHER-2",
                     sim->workers[i].timewarp->undo_log.live == 0 &&
                         pending_count(&sim->workers[i].pending) * (i > 0) == 0,
                     "events are gathered, and worker %u has %llu logs", (unsigned)i,
                     (unsigned long long)sim->workers[i].timewarp->undo_log.live);
    first->check_below_ps = greatest_least_delay_ps(sim);
    set_gathered(sim, true);
}

/* Each event goes back to the owner of its LP. False: memory has run out, and the run ends. */
static bool scatter(struct cw_sim *sim)
{
    struct gather *const gather = sim->gather;
    struct worker *const first = &sim->workers[0];
    if (!gather->gathered)
        return true;
    CW_INVARIANT("I-GATHER-3", may_part(sim), "threads part while worker %u is within a round", 0u);
    first->check_below_ps = INT64_MIN;
    set_gathered(sim, false);
    return guard(first, scatter_events);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Thread 0, after its own turn: all others are to park. */
static void ask_to_pause(struct cw_sim *sim)
{
    sync_store_release(&sim->paused, 1); /* pairs with simulation_paused() */
    wait_wake(sim, 0, true);
}

/* Whether all others have handed their workers over. False: the run ends. */
static bool await_others(struct cw_sim *sim)
{
    for (uint32_t i = 1; i < sim->thread_count; i++)
        /* acquire: pairs with park(): I-GATHER-1 */
        for (unsigned looks = 0; sync_load_acquire(&sim->gather->threads[i].parked) == RUNS;
             looks++) {
            if (simulation_aborted(sim))
                return false;
            if (looks < LOOKS_BEFORE_SLEEP && !sim->crowded)
                sync_pause();
            else
                wait_for_threads(&sim->workers[0].timewarp->wait, looks);
        }
    return true;
}

static void join(struct cw_sim *sim)
{
    if (!await_others(sim))
        return;
    sim->gather->together = true;
    disable_speculation(sim, true);
    pin_end(sim->pin); /* one thread alone: the system finds the core that is free */
}

/* Lets the others continue with their own workers. */
static void release_others(struct cw_sim *sim)
{
    struct gather *const gather = sim->gather;
    for (uint32_t i = 1; i < sim->thread_count; i++)
        if (sync_load_acquire(&gather->threads[i].parked) == PARKED)
            sync_wake(&gather->threads[i].parked); /* releases: I-GATHER-1 */
}

static void part(struct cw_sim *sim)
{
    struct gather *const gather = sim->gather;
    if (!scatter(sim))
        return;
    disable_speculation(sim, false);
    gather->together = false;
    pin_thread(sim->pin, 0);
    sync_store_release(&sim->paused, 0); /* pairs with simulation_paused() */
    release_others(sim);
    if (!gather->started)
        gather->started = gather->start(sim);
    begin_measuring(sim);
}

static bool have_all_ended(const struct worker *first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!first[i].timewarp->ended)
            return false;
    return true;
}

/* Thread t > 0, whose word is set: waits until it gets its workers back. */
static void stay_parked(struct cw_sim *sim, struct sync_u64 *parked)
{
    for (unsigned looks = 0; sync_load_acquire(parked) != RUNS; looks++) {
        if (sync_load_acquire(&sim->gather->over) != 0)
            return;
        if (looks < LOOKS_BEFORE_SLEEP && !sim->crowded)
            sync_pause();
        else
            sync_sleep(parked, PARKED, SLEEP_NS_MAX);
    }
}

static void run_thread(struct cw_sim *sim, uint32_t index, struct worker *first, uint32_t count,
                       gather_run_fn run)
{
    struct sync_u64 *const parked = &sim->gather->threads[index].parked;
    for (;;) {
        stay_parked(sim, parked); /* a drain may begin with parked threads */
        if (sync_load_acquire(&sim->gather->over) != 0)
            break;
        run(first, count, false);
        if (simulation_aborted(sim) || have_all_ended(first, count))
            break;
        sync_store_release(parked, PARKED); /* pairs with await_others(): I-GATHER-1 */
        sync_fence();                       /* before the look at `over`: I-GATHER-4 */
    }
    sync_store_release(parked, HAS_ENDED); /* pairs with await_others() */
}

static void run_first_thread(struct cw_sim *sim, struct worker *own, uint32_t count,
                             gather_run_fn run)
{
    struct gather *const gather = sim->gather;
    for (;;) {
        if (gather->together)
            run(sim->workers, sim->worker_count, true);
        else
            run(own, count, false);
        if (simulation_aborted(sim) || have_all_ended(gather->together ? sim->workers : own,
                                                      gather->together ? sim->worker_count : count))
            break;
        if (gather->together)
            part(sim);
        else
            join(sim);
    }
    sync_store_release(&gather->over, 1); /* before the words below: I-GATHER-4 */
    sync_fence();
    release_others(sim);
}

void gather_run(struct cw_sim *sim, uint32_t index, struct worker *first, uint32_t count,
                gather_run_fn run)
{
    if (sim->gather == NULL)
        run(first, count, false);
    else if (index == 0)
        run_first_thread(sim, first, count, run);
    else
        run_thread(sim, index, first, count, run);
}

/* ---- when ------------------------------------------------------------------------------------ */

static enum threading_mode wanted_mode(struct cw_sim *sim)
{
    struct gather *const gather = sim->gather;
    if (sim->config.tuning.gather == CW_GATHER_OFTEN) {
        if (gather->looks_left-- > 0)
            return gather->together ? THREADS_SINGLE : THREADS_PARALLEL;
        gather->looks_left = cw_rng_below(&gather->rng, OFTEN_LOOKS_MAX);
        return gather->together ? THREADS_PARALLEL : THREADS_SINGLE;
    }
    const struct figures figures = sum_figures(sim);
    return pace_look(&gather->pace, gather_now_s(sim), figures.committed, figures.alive,
                     change_s(figures.alive));
}

void gather_look(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct worker_slot *const slot = &sim->gather->workers[tw->index];
    const uint64_t noted = sync_load_acquire(&slot->committed); /* our own word */
    if (++slot->turns < TURNS_PER_NOTE && tw->worker->committed - noted < EVENTS_PER_NOTE &&
        sim->config.tuning.gather != CW_GATHER_OFTEN)
        return;
    note_figures(tw->worker, slot);
    if (tw->index == 0 && !tw->gvt.over && wanted_mode(sim) == THREADS_SINGLE)
        ask_to_pause(sim);
}

void gather_look_together(struct cw_sim *sim)
{
    struct gather *const gather = sim->gather;
    const bool before = gather->gathered;
    if (!before)
        try_to_gather(sim);
    for (uint32_t i = 0; i < sim->worker_count; i++)
        note_figures(&sim->workers[i], &gather->workers[i]);
    if (gather->gathered != before)
        begin_measuring(sim);
    if (may_part(sim) && wanted_mode(sim) == THREADS_PARALLEL)
        sync_store_release(&sim->paused, 0); /* leaves the loop; part() lets the others see it */
}

bool gather_begin(struct cw_sim *sim, gather_start_fn start)
{
    struct gather *const gather = sim->gather;
    if (gather == NULL)
        return false;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        note_figures(&sim->workers[i], &gather->workers[i]);
    if (!gather->paced)
        pace_init(&gather->pace, pace_first_mode(sim), gather_now_s(sim),
                  sum_figures(sim).committed);
    gather->paced = true;
    gather->start = start;
    gather->together =
        gather->pace.mode == THREADS_SINGLE && sim->config.tuning.gather != CW_GATHER_OFTEN;
    /* a thread of the recorder, which worker 0 may wait for, needs all threads to be started */
    const bool alone = gather->together && !sim->recorder.threaded;
    gather->started = !alone;
    sync_store_release(&gather->over, 0);
    sync_store_release(&sim->paused, gather->together);
    for (uint32_t i = 1; i < sim->thread_count; i++)
        sync_store_release(&gather->threads[i].parked, gather->together ? PARKED : RUNS);
    disable_speculation(sim, gather->together);
    if (!gather->together || !may_gather(sim))
        (void)scatter(sim);
    else
        try_to_gather(sim); /* also the events that were injected since */
    return alone;
}

bool gather_has_started(const struct cw_sim *sim) { return sim->gather->started; }
