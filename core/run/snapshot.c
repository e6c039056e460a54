/*
 * snapshot.c: the states of all LPs between two drains, for other simulations of the same model
 * (cw.h; ENGINE.md, "Snapshots").
 *
 * I-SNAP-1: a simulation that is restored continues as the snapshot's would have. Proof:
 *   1. A snapshot is of a moment at which no event is alive: none is pending, none can be undone.
 *   2. So the states, random streams included, are all that later events can see of earlier ones,
 *      and the hashes of the LPs are all that the trace hash has of them.
 *   3. A later injection is not before the snapshot's time, which the workers keep. Its place in
 *      the total order depends on its own key alone.
 *   4. Bounds, promises and logs are as at the beginning of any drain: no event is before that
 * time.
 *
 * On the host's thread, between drains. Where there are many states, each worker copies its own
 * LPs' states on its own thread. The snapshot is const meanwhile, or each of its blocks is one
 * worker's to write.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cw.h"
#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

/* From this many bytes of states on, waking the threads pays. */
enum { SHARED_COPY_BYTES_MIN = 4 << 20 };

/* The figures of one worker. */
struct snapshot_worker {
    int64_t now_ps;
    uint64_t committed, alive_max;
};

struct cw_snapshot {
    struct memory memory; /* of the blocks */
    enum cw_sync sync;
    uint32_t worker_count, lp_count;
    struct snapshot_worker *workers; /* [worker_count] */
    uint8_t *blocks;                 /* as lp_states_save() lays them out */
    size_t blocks_bytes;
};

/* One copy between a simulation and a snapshot. */
struct snapshot_copy {
    struct cw_sim *sim;
    uint8_t *to;         /* NULL: the snapshot is read; */
    const uint8_t *from; /* NULL: it is written */
};

static void copy_states_of(void *arg, uint32_t worker)
{
    const struct snapshot_copy *const copy = arg;
    struct lp_states *const states = &copy->sim->lp_states;
    const uint32_t *const lp_worker =
        copy->sim->worker_count > 1 ? copy->sim->config.lp_worker : NULL;
    if (copy->to != NULL)
        lp_states_save(states, lp_worker, worker, copy->to);
    else
        lp_states_load(states, lp_worker, worker, copy->from);
}

/* Each worker's states by its own thread, unless that costs more than it gains. */
static void copy_states(struct snapshot_copy *copy)
{
    struct cw_sim *const sim = copy->sim;
    if (sim->lp_states.blocks_bytes >= SHARED_COPY_BYTES_MIN) {
        cw_each_worker(sim, copy_states_of, copy);
        return;
    }
    for (uint32_t i = 0; i < sim->worker_count; i++)
        copy_states_of(copy, i);
}

/* ---- taking ---------------------------------------------------------------------------------- */

static int check_taken(const struct cw_sim *sim, struct cw_error *error)
{
    if (sim->failure.exit_code != CW_OK) {
        *error = sim->failure;
        return error->exit_code;
    }
    for (uint32_t i = 0; i < sim->worker_count; i++)
        if (event_pool_alive(&sim->workers[i].pool) > 0)
            return cw_error_set(error, CW_BUG,
                                "a snapshot while worker %u has %llu events; legal: when a drain "
                                "has ended and none is left",
                                (unsigned)i,
                                (unsigned long long)event_pool_alive(&sim->workers[i].pool));
    return CW_OK;
}

static void take_figures(struct cw_snapshot *snapshot, const struct cw_sim *sim)
{
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct worker *const worker = &sim->workers[i];
        CW_INVARIANT("I-SNAP-1",
                     pending_count(&worker->pending) == 0 &&
                         (worker->timewarp == NULL || worker->timewarp->undo_log.live == 0),
                     "worker %u has %llu pending events", (unsigned)i,
                     (unsigned long long)pending_count(&worker->pending));
        snapshot->workers[i] = (struct snapshot_worker){.now_ps = worker_now_ps(worker),
                                                        .committed = worker->committed,
                                                        .alive_max = worker->pool.alive_max};
    }
}

struct cw_snapshot *cw_snapshot_take(struct cw_sim *sim, struct cw_error *error)
{
    *error = (struct cw_error){.exit_code = CW_OK};
    if (check_taken(sim, error) != CW_OK)
        return NULL;
    struct cw_snapshot *const snapshot = calloc(1, sizeof *snapshot);
    if (snapshot == NULL) {
        (void)cw_error_memory(error, "a snapshot");
        return NULL;
    }
    memory_init(&snapshot->memory, sim->memory.bytes_max);
    snapshot->sync = sim->config.sync;
    snapshot->worker_count = sim->worker_count;
    snapshot->lp_count = sim->lp_states.count;
    snapshot->blocks_bytes = sim->lp_states.blocks_bytes;
    snapshot->workers = calloc(sim->worker_count, sizeof *snapshot->workers);
    snapshot->blocks = memory_take(&snapshot->memory, snapshot->blocks_bytes);
    if (snapshot->workers == NULL || snapshot->blocks == NULL) {
        (void)cw_error_memory(error, "a snapshot");
        cw_snapshot_free(snapshot);
        return NULL;
    }
    take_figures(snapshot, sim);
    copy_states(&(struct snapshot_copy){.sim = sim, .to = snapshot->blocks});
    return snapshot;
}

void cw_snapshot_free(struct cw_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    memory_give(&snapshot->memory, snapshot->blocks, snapshot->blocks_bytes);
    free(snapshot->workers);
    free(snapshot);
}

size_t cw_snapshot_bytes(const struct cw_snapshot *snapshot) { return snapshot->blocks_bytes; }

/* ---- restoring ------------------------------------------------------------------------------- */

static int check_restored(const struct cw_sim *sim, const struct cw_snapshot *snapshot,
                          struct cw_error *error)
{
    const struct lp_states *const states = &sim->lp_states;
    if (snapshot->sync != sim->config.sync || snapshot->worker_count != sim->worker_count)
        return cw_error_set(error, CW_BUG,
                            "a snapshot of %u workers in the mode %s, for %u in the mode %s",
                            (unsigned)snapshot->worker_count, cw_sync_name[snapshot->sync],
                            (unsigned)sim->worker_count, cw_sync_name[sim->config.sync]);
    if (snapshot->lp_count != states->count ||
        !lp_states_are_alike(states, snapshot->blocks, snapshot->blocks_bytes))
        return cw_error_set(error, CW_BUG,
                            "a snapshot of %u LPs, for a model of %u LPs or of other sizes",
                            (unsigned)snapshot->lp_count, (unsigned)states->count);
    bool is_new = sim->failure.exit_code == CW_OK;
    for (uint32_t i = 0; i < sim->worker_count && is_new; i++)
        is_new = sim->workers[i].pool.alive_max == 0;
    if (!is_new)
        return cw_error_set(error, CW_BUG,
                            "a snapshot for a simulation that has had events; legal: "
                            "before the first injection");
    return CW_OK;
}

/* The worker's counts are as if it had handled the events of the snapshot, all of them safe. */
static void give_figures(struct worker *worker, const struct snapshot_worker *figures)
{
    worker->before_ps = figures->now_ps;
    worker->committed = worker->restored = figures->committed;
    worker->pool.alive_max = figures->alive_max;
    worker->pool.alive_below_max = (int64_t)figures->alive_max; /* none is alive */
    if (worker->timewarp != NULL)
        worker->processed = worker->timewarp->safe = figures->committed;
}

int cw_sim_restore(struct cw_sim *sim, const struct cw_snapshot *snapshot, struct cw_error *error)
{
    *error = (struct cw_error){.exit_code = CW_OK};
    if (check_restored(sim, snapshot, error) != CW_OK)
        return error->exit_code;
    copy_states(&(struct snapshot_copy){.sim = sim, .from = snapshot->blocks});
    for (uint32_t i = 0; i < sim->worker_count; i++)
        give_figures(&sim->workers[i], &snapshot->workers[i]);
    sim->now_ps = cw_sim_now(sim);
    return CW_OK;
}
