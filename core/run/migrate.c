/*
 * migrate.c: the four steps of a move (migrate.h).
 *
 * Shared while workers run: the plan and the owners, which worker 0 writes while no other worker
 * reads them, and one slot for each worker. A slot's `stage` releases the worker's step, and with
 * it the slot's other fields; all_have_made() acquires it.
 */
#include "core/run/migrate.h"

#include <string.h>

#include "core/exchange/gvt_slot.h"
#include "core/os/clock.h"
#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/fossil.h"
#include "core/speculation/gvt.h"
#include "core/speculation/promise.h"
#include "core/speculation/receive.h"
#include "core/speculation/rollback.h"
#include "core/speculation/timewarp.h"
#include "core/speculation/wait.h"
#include "core/worker/worker.h"

enum {
    PARTS_PER_WORKER = 64, /* where the host names none */
    MOVED_MIN = 256,
    STAGES = 4, /* enum move_stage */
};

/* An event that leaves its worker. */
struct moved {
    struct cw_event *event;
    uint64_t to; /* worker */
};

/* Written by its own worker only. Lines are fetched in pairs, so no two slots share a pair. */
struct migrate_slot {
    _Alignas(128) struct sync_u64 stage; /* STAGES * the round of the move + the last step made */
    bool failed;                         /* step 1: an event of this worker has failed for good */
    struct key least;                    /* step 3: the least key that it has to handle */
    struct moved *moved;                 /* step 2 to 4: [moved_count] */
    size_t moved_count, moved_capacity;
};

struct migration {
    uint32_t part_count;
    uint32_t *lp_part;     /* [LP] */
    uint32_t *part_worker; /* [part] its worker now */
    /* The plan. */
    struct sync_u64 due;        /* the round at whose end the move is due, or the last one was */
    uint32_t *part_next;        /* [part] */
    uint32_t *lp_next;          /* [LP] the worker */
    int64_t uniform_ps;         /* the least delay of any two workers, unless it is computed */
    int64_t *least_next;        /* [workers * workers] the least delays of the new owners, */
    int64_t *paths_next;        /* and of paths; NULL: there are no least delays */
    struct migrate_slot *slots; /* [workers] */
};

/* ---- creation: the host ---------------------------------------------------------------------- */

/* Without the model's help the least delay between any two workers is the least of all, which also
 * holds within a worker. Moves are possible if that loses nothing. */
static bool is_uniform(const struct cw_config *config)
{
    const size_t pairs = (size_t)config->worker_count * config->worker_count;
    for (size_t i = 1; i < pairs; i++)
        if (config->least_delay_ps[i] != config->least_delay_ps[0])
            return false;
    return true;
}

static size_t migrate_pair_bytes(const struct cw_sim *sim)
{
    return (size_t)sim->worker_count * sim->worker_count * sizeof(int64_t);
}

static size_t migrate_lp_bytes(const struct cw_sim *sim)
{
    return (size_t)sim->model.lp_count * sizeof(uint32_t);
}

static size_t migrate_part_bytes(const struct migration *migration)
{
    return migration->part_count * sizeof(uint32_t);
}

/* The LPs of each worker in their order, in up to PARTS_PER_WORKER parts of equal size. */
static uint32_t cut_blocks(const struct cw_sim *sim, uint32_t *lp_part)
{
    uint32_t parts = 0;
    for (uint32_t worker = 0; worker < sim->worker_count; worker++) {
        uint64_t lps = 0, nth = 0;
        for (uint32_t lp = 0; lp < sim->model.lp_count; lp++)
            lps += sim->config.lp_worker[lp] == worker;
        const uint32_t here = lps < PARTS_PER_WORKER ? (uint32_t)lps : PARTS_PER_WORKER;
        for (uint32_t lp = 0; lp < sim->model.lp_count; lp++)
            if (sim->config.lp_worker[lp] == worker)
                lp_part[lp] = parts + (uint32_t)(nth++ * here / lps);
        parts += here;
    }
    return parts;
}

static bool take_arrays(struct cw_sim *sim, struct migration *migration)
{
    struct memory *const memory = &sim->memory;
    migration->lp_part = memory_take(memory, migrate_lp_bytes(sim));
    migration->lp_next = memory_take(memory, migrate_lp_bytes(sim));
    migration->slots = memory_take(memory, sim->worker_count * sizeof *migration->slots);
    if (sim->config.least_delay_ps != NULL) {
        migration->least_next = memory_take(memory, migrate_pair_bytes(sim));
        migration->paths_next = memory_take(memory, migrate_pair_bytes(sim));
        if (migration->least_next == NULL || migration->paths_next == NULL)
            return false;
    }
    return migration->lp_part != NULL && migration->lp_next != NULL && migration->slots != NULL;
}

/* Notes the worker of each part. Refuses a part that is on two. */
static int place_parts(struct cw_sim *sim, struct migration *migration, struct cw_error *error)
{
    const uint32_t lp_count = sim->model.lp_count;
    const uint32_t *const given = sim->config.tuning.lp_part;
    if (given == NULL) {
        migration->part_count = cut_blocks(sim, migration->lp_part);
    } else {
        memcpy(migration->lp_part, given, migrate_lp_bytes(sim));
        for (uint32_t lp = 0; lp < lp_count; lp++)
            if (given[lp] == UINT32_MAX)
                return cw_error_set(error, CW_BUG, "LP %u belongs to part %u; the greatest is %u",
                                    (unsigned)lp, UINT32_MAX, UINT32_MAX - 1);
            else if (given[lp] >= migration->part_count)
                migration->part_count = given[lp] + 1;
    }
    const size_t bytes = migrate_part_bytes(migration);
    migration->part_worker = memory_take(&sim->memory, bytes);
    migration->part_next = memory_take(&sim->memory, bytes);
    if (migration->part_worker == NULL || migration->part_next == NULL)
        return memory_error(&sim->memory, error);
    memset(migration->part_worker, 0xFF, bytes);
    for (uint32_t lp = 0; lp < lp_count; lp++) {
        uint32_t *const worker = &migration->part_worker[migration->lp_part[lp]];
        if (*worker != UINT32_MAX && *worker != sim->config.lp_worker[lp])
            return cw_error_set(error, CW_BUG,
                                "part %u has LPs of the workers %u and %u; all its LPs must start "
                                "on one worker",
                                (unsigned)migration->lp_part[lp], (unsigned)*worker,
                                (unsigned)sim->config.lp_worker[lp]);
        *worker = sim->config.lp_worker[lp];
    }
    for (uint32_t part = 0; part < migration->part_count; part++)
        if (migration->part_worker[part] == UINT32_MAX)
            migration->part_worker[part] = 0; /* it has no LP */
    return CW_OK;
}

int migrate_create(struct cw_sim *sim, struct cw_error *error)
{
    const struct cw_config *const config = &sim->config;
    sim->migration = NULL;
    if (sim->worker_count < 2 ||
        (config->tuning.balance == CW_BALANCE_OFF && config->sync != CW_STRESS) ||
        (config->least_delay_ps != NULL && config->tuning.least_delays == NULL &&
         !is_uniform(config)))
        return CW_OK;
    sim->migration = memory_take(&sim->memory, sizeof *sim->migration);
    if (sim->migration == NULL || !take_arrays(sim, sim->migration))
        return memory_error(&sim->memory, error);
    sim->migration->uniform_ps = config->least_delay_ps == NULL ? 0 : config->least_delay_ps[0];
    return place_parts(sim, sim->migration, error);
}

void migrate_free(struct cw_sim *sim)
{
    struct memory *const memory = &sim->memory;
    struct migration *const migration = sim->migration;
    if (migration == NULL)
        return;
    for (uint32_t i = 0; i < sim->worker_count && migration->slots != NULL; i++)
        memory_give(memory, migration->slots[i].moved,
                    migration->slots[i].moved_capacity * sizeof(struct moved));
    memory_give(memory, migration->slots, sim->worker_count * sizeof *migration->slots);
    memory_give(memory, migration->lp_part, migrate_lp_bytes(sim));
    memory_give(memory, migration->lp_next, migrate_lp_bytes(sim));
    memory_give(memory, migration->part_worker, migrate_part_bytes(migration));
    memory_give(memory, migration->part_next, migrate_part_bytes(migration));
    memory_give(memory, migration->least_next, migrate_pair_bytes(sim));
    memory_give(memory, migration->paths_next, migrate_pair_bytes(sim));
    memory_give(memory, migration, sizeof *migration);
    sim->migration = NULL;
}

uint32_t migrate_part_count(const struct cw_sim *sim) { return sim->migration->part_count; }

uint32_t migrate_part_of(const struct cw_sim *sim, uint32_t lp)
{
    return sim->migration->lp_part[lp];
}

/* ---- the plan: worker 0 ---------------------------------------------------------------------- */

/* A worker without LPs sends nothing and gets nothing. */
static void part_idle_workers(const struct cw_sim *sim, const struct migration *migration)
{
    const uint32_t n = sim->worker_count;
    for (uint32_t worker = 0; worker < n; worker++) {
        bool has_any = false;
        for (uint32_t part = 0; part < migration->part_count; part++)
            has_any |= migration->part_next[part] == worker;
        for (uint32_t other = 0; other < n && !has_any; other++) {
            migration->least_next[(size_t)worker * n + other] = CW_TIME_MAX;
            migration->least_next[(size_t)other * n + worker] = CW_TIME_MAX;
        }
    }
}

/* The least delays of the new owners. Returns the least between any two workers. */
static int64_t plan_delays(const struct cw_sim *sim, struct migration *migration)
{
    const struct cw_config *const config = &sim->config;
    const uint32_t n = sim->worker_count;
    const size_t pairs = (size_t)n * n;
    int64_t least_ps = CW_TIME_MAX;
    for (size_t i = 0; i < pairs; i++)
        migration->least_next[i] = migration->uniform_ps;
    if (config->tuning.least_delays != NULL)
        config->tuning.least_delays(config->tuning.least_delays_arg, migration->lp_next, n,
                                    migration->least_next);
    part_idle_workers(sim, migration);
    for (size_t i = 0; i < pairs; i++) {
        const int64_t delay_ps = i / n == i % n ? CW_TIME_MAX : migration->least_next[i];
        least_ps = delay_ps < least_ps ? delay_ps : least_ps;
    }
    gvt_path_delays(migration->paths_next, migration->least_next, n);
    return least_ps;
}

uint32_t *migrate_draft(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct migration *const migration = sim->migration;
    CW_INVARIANT("I-MOVE-1", tw->index == 0 && tw->gvt.stage == GVT_BEGIN,
                 "worker %u drafts a move in the midst of round %llu", (unsigned)tw->index,
                 (unsigned long long)tw->gvt.round);
    /* worker 0 alone writes `due`, so it may read it in any way */
    if (migration == NULL || sync_load_acquire(&migration->due) >= tw->gvt.round ||
        tw->failures.failed || tw->throttle.disabled || memory_level(&sim->memory) != MEMORY_PLENTY)
        return NULL;
    memcpy(migration->part_next, migration->part_worker, migrate_part_bytes(migration));
    return migration->part_next;
}

bool migrate_is_on(const struct timewarp *tw)
{
    const struct migration *const migration = tw->worker->sim->migration;
    return migration != NULL &&
           (tw->move.stage != MOVE_NONE || sync_load_acquire(&migration->due) > tw->gvt.round);
}

static void name_next_owners(const struct cw_sim *sim, struct migration *migration)
{
    for (uint32_t lp = 0; lp < sim->model.lp_count; lp++)
        migration->lp_next[lp] = migration->part_next[migration->lp_part[lp]];
}

void migrate_lookaheads(struct timewarp *tw, int64_t *now_ps, int64_t *next_ps)
{
    const struct cw_sim *const sim = tw->worker->sim;
    struct migration *const migration = sim->migration;
    const uint32_t n = sim->worker_count;
    *now_ps = *next_ps = migration->least_next == NULL ? 0 : CW_TIME_MAX;
    if (migration->least_next == NULL)
        return;
    for (uint32_t i = 0; i < n * n; i++)
        if (i / n != i % n && sim->config.least_delay_ps[i] < *now_ps)
            *now_ps = sim->config.least_delay_ps[i];
    name_next_owners(sim, migration);
    *next_ps = plan_delays(sim, migration);
}

bool migrate_plan(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct migration *const migration = sim->migration;
    if (memcmp(migration->part_next, migration->part_worker, migrate_part_bytes(migration)) == 0)
        return false;
    name_next_owners(sim, migration);
    if (migration->least_next != NULL && plan_delays(sim, migration) <= 0 &&
        sim->config.sync == CW_CONSERVATIVE)
        return false;
    /* release: the plan; pairs with migrate_begin() */
    sync_store_release(&migration->due, tw->gvt.round + 1);
    return true;
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void end_step(struct timewarp *tw, struct migrate_slot *slot, enum move_stage made)
{
    tw->move.stage = made;
    /* release: all writes of this worker in the step; pairs with all_have_made() */
    sync_store_release(&slot->stage, STAGES * tw->gvt.round + (uint64_t)made);
}

static bool all_have_made(const struct timewarp *tw, enum move_stage made)
{
    const struct cw_sim *const sim = tw->worker->sim;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (sync_load_acquire(&sim->migration->slots[i].stage) <
            STAGES * tw->gvt.round + (uint64_t)made) /* acquire: pairs with end_step() */
            return false;
    return true;
}

static struct key least_of(struct key a, struct key b) { return key_before(a, b) ? a : b; }

void migrate_undo_rest(struct timewarp *tw)
{
    const struct key safe = {.time_ps = tw->gvt.safe_ps};
    const struct key final = least_of(gvt_least_left(tw), safe); /* K of I-MOVE-2 */
    fossil_collect_before(tw, final);
    rollback_rest(tw);
    fossil_collect_before(tw, final); /* frees the blocks that hold no log any more */
    CW_INVARIANT("I-MOVE-2", tw->undo_log.live == 0 && tw->lazy.logs.count == 0,
                 "worker %u still has %llu logs, and keeps the sends of %llu", (unsigned)tw->index,
                 (unsigned long long)tw->undo_log.live, (unsigned long long)tw->lazy.logs.count);
    tw->failures.stuck = false;
}

/* Step 1. */
static void migrate_undo(struct timewarp *tw, struct migrate_slot *slot)
{
    migrate_undo_rest(tw);
    slot->failed = tw->failures.failed;
    (void)peers_publish(&tw->peers);
    end_step(tw, slot, MOVE_UNDONE);
    wait_wake(tw->worker->sim, tw->index, true);
}

static bool any_has_failed(const struct cw_sim *sim)
{
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (sim->migration->slots[i].failed)
            return true;
    return false;
}

/* Whether the event leaves the pending set: it was cancelled, or its LP leaves this worker. */
static bool lay_out(void *arg, const struct entry *entry)
{
    struct timewarp *const tw = arg;
    struct cw_event *const event = entry->event;
    struct cw_sim *const sim = tw->worker->sim;
    struct migrate_slot *const slot = &sim->migration->slots[tw->index];
    const uint32_t to = sim->migration->lp_next[event->lp];
    if (event->reserved & EVENT_CANCELLED) {
        event_pool_put(&tw->worker->pool, event);
        tw->rollback.cancelled--;
        return true;
    }
    if (to == tw->index)
        return false;
    CW_INVARIANT("I-MOVE-4", sim->config.lp_worker[event->lp] == tw->index,
                 "worker %u has an event of LP %u of worker %u", (unsigned)tw->index,
                 (unsigned)event->lp, (unsigned)sim->config.lp_worker[event->lp]);
    if (!memory_grow(&sim->memory, &slot->moved, &slot->moved_capacity, slot->moved_count,
                     slot->moved_count + 1, sizeof *slot->moved, MOVED_MIN))
        worker_fail_for_memory(tw->worker);
    slot->moved[slot->moved_count++] = (struct moved){event, to};
    return true;
}

/* Step 2. No earlier message may be cancelled any more, so the list of such messages is emptied. */
static void migrate_give(struct timewarp *tw, struct migrate_slot *slot)
{
    const struct cw_sim *const sim = tw->worker->sim;
    const struct migration *const migration = sim->migration;
    receive_all(tw);
    CW_INVARIANT("I-MOVE-3", tw->undo_log.live == 0 && !peers_publish(&tw->peers),
                 "worker %u has %llu logs after all have undone theirs, or messages",
                 (unsigned)tw->index, (unsigned long long)tw->undo_log.live);
    peers_forget_arrivals(&tw->peers);
    bool leaves = false;
    for (uint32_t part = 0; part < migration->part_count; part++)
        leaves |=
            migration->part_worker[part] == tw->index && migration->part_next[part] != tw->index;
    if (leaves && !any_has_failed(sim) && !pending_sift(&tw->worker->pending, lay_out, tw))
        worker_fail_for_memory(tw->worker);
    end_step(tw, slot, MOVE_GIVEN);
}

/* Copies the events that come to this worker. The originals are still the old workers'. */
static void take_events(struct timewarp *tw)
{
    struct worker *const worker = tw->worker;
    const struct migration *const migration = worker->sim->migration;
    for (uint32_t from = 0; from < worker->sim->worker_count; from++) {
        const struct migrate_slot *const slot = &migration->slots[from];
        for (size_t i = 0; i < slot->moved_count; i++) {
            const struct cw_event *const old = slot->moved[i].event;
            if (slot->moved[i].to != tw->index)
                continue;
            CW_INVARIANT("I-MOVE-5",
                         !(old->reserved & (EVENT_PROCESSED | EVENT_CANCELLED | EVENT_LAZY)),
                         "worker %u takes an event of LP %u with the notes %u", (unsigned)tw->index,
                         (unsigned)old->lp, (unsigned)old->reserved);
            struct cw_event *const event =
                worker_need(worker, event_pool_get(&worker->pool, old->payload_bytes));
            memcpy(event, old, offsetof(struct cw_event, payload) + old->payload_bytes);
            if (!pending_push(&worker->pending, entry_of_event(event)))
                worker_fail_for_memory(worker);
        }
    }
}

/* Gives all workers the ends of the mailboxes that they need from now on. All mailboxes are empty,
 * and no worker but worker 0 touches any before step 4. False: out of memory. */
static bool join_again(struct cw_sim *sim)
{
    const uint32_t n = sim->worker_count;
    for (uint32_t i = 0; i < n; i++) {
        struct peers *const peers = &sim->workers[i].timewarp->peers;
        const struct peers old = *peers;
        peers_free(peers);
        if (!peers_create(peers, &sim->memory, sim->config.least_delay_ps, n, i))
            return false;
        peers->anti_messages = old.anti_messages;
        peers->messages = old.messages;
        peers->sent_for_good = old.sent_for_good;
    }
    for (uint32_t to = 0; to < n; to++) {
        struct peers *const peers = &sim->workers[to].timewarp->peers;
        for (uint32_t i = 0; i < peers->in_count; i++)
            peers_join(peers, &peers->in[i], to, &sim->workers[peers->in[i].from].timewarp->peers);
    }
    return true;
}

/* Worker 0: the new owners, and their least delays. */
static void change_owners(struct timewarp *tw)
{
    struct cw_sim *const sim = tw->worker->sim;
    struct move *const move = &tw->move;
    struct migration *const migration = sim->migration;
    const uint32_t workers = sim->worker_count;
    /* the arrays are the simulation's own copies, const for all others */
    uint32_t *const lp_worker = (uint32_t *)(uintptr_t)sim->config.lp_worker;
    int64_t *const least_ps = (int64_t *)(uintptr_t)sim->config.least_delay_ps;
    for (uint32_t i = 0; i < workers; i++)
        CW_INVARIANT("I-MOVE-4",
                     sync_load_acquire(&migration->slots[i].stage) % STAGES >= MOVE_GIVEN,
                     "LPs change owners before worker %u has given its events", (unsigned)i);
    memcpy(lp_worker, migration->lp_next, migrate_lp_bytes(sim));
    for (uint32_t part = 0; part < migration->part_count; part++) {
        move->parts += migration->part_worker[part] != migration->part_next[part];
        migration->part_worker[part] = migration->part_next[part];
    }
    if (least_ps != NULL) {
        memcpy(least_ps, migration->least_next, migrate_pair_bytes(sim));
        memcpy(sim->path_delays_ps, migration->paths_next, migrate_pair_bytes(sim));
        if (!join_again(sim))
            worker_fail_for_memory(tw->worker);
    }
    move->moves++;
}

/* Step 3. */
static void migrate_take(struct timewarp *tw, struct migrate_slot *slot)
{
    struct cw_sim *const sim = tw->worker->sim;
    take_events(tw);
    if (tw->index == 0 && !any_has_failed(sim))
        change_owners(tw);
    promise_forget(tw, tw->gvt.now.time_ps); /* it is read again after step 4 only */
    slot->least = gvt_least_left(tw);
    end_step(tw, slot, MOVE_TAKEN);
}

/* Step 4. */
static void migrate_go_on(struct timewarp *tw, struct migrate_slot *slot)
{
    struct cw_sim *const sim = tw->worker->sim;
    const uint32_t n = sim->worker_count;
    struct key now = KEY_NEVER;
    int64_t safe_ps = CW_TIME_MAX;
    for (size_t i = 0; i < slot->moved_count; i++)
        event_pool_put(&tw->worker->pool, slot->moved[i].event);
    memory_give(&sim->memory, slot->moved, slot->moved_capacity * sizeof *slot->moved);
    slot->moved = NULL;
    slot->moved_count = slot->moved_capacity = 0;
    for (uint32_t b = 0; b < n; b++) {
        const struct key least = sim->migration->slots[b].least;
        const int64_t arrival_ps =
            add_saturating(least.time_ps, sim->path_delays_ps[(size_t)tw->index * n + b]);
        now = least_of(now, least);
        safe_ps = arrival_ps < safe_ps ? arrival_ps : safe_ps;
    }
    CW_INVARIANT("I-MOVE-6", !key_before(now, tw->gvt.now) && safe_ps >= now.time_ps,
                 "after a move GVT is %lld ps, it was %lld ps; the safe bound is %lld ps",
                 (long long)now.time_ps, (long long)tw->gvt.now.time_ps, (long long)safe_ps);
    tw->gvt.now = now;
    tw->gvt.safe_ps = safe_ps;
    promise_count_anew(tw); /* not in step 3, in which worker 0 creates all peers anew */
    record_outbox_change_lanes(&tw->outbox);
    tw->move.ticks += clock_ticks() - tw->move.begun;
    tw->move.stage = MOVE_NONE;
}

void migrate_begin(struct timewarp *tw)
{
    const struct cw_sim *const sim = tw->worker->sim;
    if (sim->migration == NULL)
        return;
    const uint64_t due = sync_load_acquire(&sim->migration->due); /* pairs with migrate_plan() */
    CW_INVARIANT("I-MOVE-1", due <= tw->gvt.round + 1,
                 "worker %u ends round %llu, and sees a move due after round %llu",
                 (unsigned)tw->index, (unsigned long long)tw->gvt.round, (unsigned long long)due);
    if (due != tw->gvt.round)
        return;
    tw->move.begun = clock_ticks();
    migrate_undo(tw, &sim->migration->slots[tw->index]);
}

bool migrate_step(struct timewarp *tw)
{
    struct migrate_slot *const slot = &tw->worker->sim->migration->slots[tw->index];
    const enum move_stage made = tw->move.stage;
    if (!all_have_made(tw, made))
        return false;
    switch (made) {
    case MOVE_UNDONE:
        migrate_give(tw, slot);
        break;
    case MOVE_GIVEN:
        migrate_take(tw, slot);
        break;
    default:
        migrate_go_on(tw, slot);
        break;
    }
    return true;
}
