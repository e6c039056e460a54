/*
 * stats.c: the figures of a simulation between two drains (cw_sim_stats(), cw_sim_worker_stats()
 * and cw_sim_intervals() in cw.h). The host's thread reads the data of all workers, which are at
 * rest.
 */
#include "core/cw.h"

#include "core/os/pin.h"
#include "core/worker/simulation.h"
#include "core/speculation/timewarp.h"
#include "core/worker/trace_hash.h"
#include "core/worker/worker.h"

const char *const cw_activity_name[CW_ACTIVITIES] = {"handling", "queue", "rollback", "gvt",
                                                     "idle"};

const char *const cw_interval_name[CW_INTERVALS] = {"work", "turn", "wait",     "parked",
                                                    "host", "part", "rollback", "records",
                                                    "data", "move", "gvt round"};

/* The sum of the LPs' hashes, of which each worker adds up its part. */
struct hashing {
    const struct cw_sim *sim;
    struct sync_u64 sum; /* additions only, whose order does not matter */
};

static void hash_part(void *arg, uint32_t worker)
{
    struct hashing *const hashing = arg;
    const struct cw_sim *const sim = hashing->sim;
    enum { FETCHED_AHEAD = 8 };
    struct lp_block *const *const blocks = sim->lp_states.blocks;
    const uint64_t count = sim->lp_states.count, parts = sim->worker_count;
    uint64_t sum = 0;
    for (uint64_t lp = count * worker / parts; lp < count * (worker + 1) / parts; lp++) {
        if (lp + FETCHED_AHEAD < count)
            __builtin_prefetch(&blocks[lp + FETCHED_AHEAD]->hash);
        sum += trace_hash_lp((uint32_t)lp, blocks[lp]->hash);
    }
    (void)sync_add_relaxed(&hashing->sum, sum); /* the end of the call orders it before the read */
}

static uint64_t trace_hash_of_run(const struct cw_sim *sim)
{
    enum { SHARED_LPS_MIN = 1 << 13 }; /* from this many on, waking the threads pays */
    struct hashing hashing = {.sim = sim};
    if (sim->config.tuning.hash_off)
        return 0;
    if (sim->lp_states.count >= SHARED_LPS_MIN)
        /* changes nothing of the simulation but its threads and the times of host calls */
        cw_each_worker((struct cw_sim *)(uintptr_t)sim, hash_part, &hashing);
    else
        for (uint32_t i = 0; i < sim->worker_count; i++)
            hash_part(&hashing, i);
    return sync_load_acquire(&hashing.sum);
}

static void fill_timewarp(struct cw_stats *stats, const struct timewarp *tw)
{
    const struct cw_sim *const sim = tw->worker->sim;
    const double rounds = (double)tw->gvt.rounds;
    stats->events_processed = tw->worker->processed;
    stats->safe_events = tw->safe;
    stats->gathered_events = tw->gathered_events;
    stats->events_rolled_back = tw->worker->undone;
    stats->rollbacks_primary = tw->rollback.count_by_cause[ROLLBACK_PRIMARY];
    stats->rollbacks_secondary = tw->rollback.count_by_cause[ROLLBACK_SECONDARY];
    for (int cause = 0; cause < ROLLBACK_CAUSES; cause++)
        stats->rollbacks += tw->rollback.count_by_cause[cause];
    stats->rollbacks_injected = tw->stress.undone;
    stats->states_moved = tw->stress.moved;
    stats->looks_held_back = tw->stress.held_back;
    stats->rollback_events_max = tw->rollback.events_max;
    stats->anti_messages = tw->peers.anti_messages;
    stats->messages_sent = tw->peers.messages;
    stats->turns = tw->turns;
    stats->turns_idle = tw->turns_idle;
    stats->promises_raised = tw->promise.raised;
    stats->sends_reused = tw->lazy.reused;
    stats->moves = tw->move.moves;
    stats->parts_moved = tw->move.parts;
    if (sim->run_ticks > 0)
        stats->move_s = (double)tw->move.ticks * sim->times.run_s / (double)sim->run_ticks;
    stats->undo_bytes = tw->undo_log.bytes;
    stats->gvt_rounds = tw->gvt.rounds;
    stats->window_first = tw->throttle.window_first;
    stats->window_last = tw->throttle.window;
    stats->window_mean =
        rounds > 0 ? (double)tw->throttle.window_sum / rounds : (double)tw->throttle.window;
    if (rounds > 0 && sim->run_ticks > 0)
        stats->gvt_round_mean_s =
            (double)tw->gvt.ticks / rounds * sim->times.run_s / (double)sim->run_ticks;
}

uint32_t cw_sim_worker_count(const struct cw_sim *sim) { return sim->worker_count; }

void cw_sim_worker_stats(const struct cw_sim *sim, uint32_t index, struct cw_stats *stats)
{
    const struct worker *const worker = &sim->workers[index];
    *stats = (struct cw_stats){
        .events_committed = worker->committed,
        .events_restored = worker->restored,
        .events_processed = worker->committed,
        .safe_events = worker->committed,
        .events_alive = event_pool_alive(&worker->pool),
        .events_alive_max = worker->pool.alive_max,
    };
    activity_shares(&worker->clock, stats->time_share);
    if (worker->timewarp != NULL)
        fill_timewarp(stats, worker->timewarp);
}

static void add_counts(struct cw_stats *sum, const struct cw_stats *stats)
{
    sum->events_committed += stats->events_committed;
    sum->events_restored += stats->events_restored;
    sum->events_processed += stats->events_processed;
    sum->events_rolled_back += stats->events_rolled_back;
    sum->anti_messages += stats->anti_messages;
    sum->messages_sent += stats->messages_sent;
    sum->turns += stats->turns;
    sum->turns_idle += stats->turns_idle;
    sum->promises_raised += stats->promises_raised;
    sum->sends_reused += stats->sends_reused;
    sum->rollbacks += stats->rollbacks;
    sum->rollbacks_primary += stats->rollbacks_primary;
    sum->rollbacks_secondary += stats->rollbacks_secondary;
    sum->rollbacks_injected += stats->rollbacks_injected;
    sum->states_moved += stats->states_moved;
    sum->looks_held_back += stats->looks_held_back;
    sum->undo_bytes += stats->undo_bytes;
    sum->safe_events += stats->safe_events;
    sum->gathered_events += stats->gathered_events;
    sum->events_alive += stats->events_alive;
    sum->events_alive_max += stats->events_alive_max;
    if (stats->rollback_events_max > sum->rollback_events_max)
        sum->rollback_events_max = stats->rollback_events_max;
    sum->gvt_rounds = stats->gvt_rounds; /* all take part in each */
    sum->moves += stats->moves;          /* worker 0 counts them */
    sum->parts_moved += stats->parts_moved;
    if (stats->move_s > sum->move_s)
        sum->move_s = stats->move_s; /* all take part in each */
}

void cw_sim_stats(const struct cw_sim *sim, struct cw_stats *stats)
{
    const double n = sim->worker_count;
    double timed = 0; /* workers of which a turn was sampled */
    *stats = (struct cw_stats){.trace_hash = trace_hash_of_run(sim),
                               .threads_pinned = pin_count(sim->pin),
                               .run_s = sim->times.run_s,
                               .host_s = sim->times.host_s,
                               .events_listened = sim->listen.events,
                               .listen_shared_s = sim->listen.shared_s,
                               .listen_serial_s = sim->listen.serial_s};
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        struct cw_stats one;
        cw_sim_worker_stats(sim, i, &one);
        add_counts(stats, &one);
        stats->window_first += one.window_first;
        stats->window_last += one.window_last;
        stats->window_mean += one.window_mean / n;
        stats->gvt_round_mean_s += one.gvt_round_mean_s / n;
        for (int k = 0; k < CW_ACTIVITIES; k++)
            stats->time_share[k] += one.time_share[k];
        timed += activity_ticks(&sim->workers[i].clock) > 0;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a simulation has a worker */
    stats->window_first /= sim->worker_count;
    stats->window_last /= sim->worker_count;
    for (int k = 0; k < CW_ACTIVITIES && timed > 0; k++)
        stats->time_share[k] /= timed;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static bool is_of_first_level(enum cw_interval_kind kind) { return kind < CW_INTERVAL_PART; }

static struct cw_interval interval_of(const struct interval_record *record, uint64_t origin,
                                      double tick_s)
{
    const enum cw_interval_kind kind = (enum cw_interval_kind)record->kind;
    const uint64_t *const value = record->value;
    return (struct cw_interval){
        .begin_s = record->begin > origin ? (double)(record->begin - origin) * tick_s : 0,
        .end_s = record->end > origin ? (double)(record->end - origin) * tick_s : 0,
        .kind = kind,
        .activity = (enum cw_activity)record->activity,
        .other = record->other,
        .events_committed = is_of_first_level(kind) ? value[0] : 0,
        .events_rolled_back = is_of_first_level(kind) ? value[1] : 0,
        .waited_s = (double)record->waited * tick_s,
        .window_events = kind == CW_INTERVAL_ROUND ? value[0] : 0,
        .memory_bytes = kind == CW_INTERVAL_ROUND ? value[1] : 0,
        .count = is_of_first_level(kind) || kind == CW_INTERVAL_ROUND ? 0 : value[0],
    };
}

void cw_sim_intervals(const struct cw_sim *sim, cw_interval_fn fn, void *arg)
{
    const double tick_s = sim->run_ticks > 0 ? sim->times.run_s / (double)sim->run_ticks : 0;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct interval_log *const log = sim->workers[i].clock.log;
        for (size_t k = 0; log != NULL && k < log->count; k++) {
            const struct cw_interval interval =
                interval_of(&log->records[k], sim->origin_ticks, tick_s);
            fn(arg, i, &interval);
        }
    }
}
