/*
 * progress.c: sums up the workers' figures and passes them to the host while a run lasts. Worker 0
 * does it after a round of GVT, when the reports of all workers to that round are complete.
 */
#include "core/run/progress.h"

#include "core/invariant.h"
#include "core/exchange/gvt_slot.h"
#include "core/os/clock.h"
#include "core/speculation/gvt.h"
#include "core/speculation/timewarp.h"
#include "core/worker/simulation.h"
#include "core/worker/worker.h"

/* The GVT that is reported to the host never falls. Computed GVT may: if the least message of a
 * round is a cancellation, the event that it removes leaves nothing at that time. */
static struct cw_progress new_progress(struct cw_sim *sim, int64_t gvt_ps)
{
    if (gvt_ps > sim->reported.gvt_ps)
        sim->reported.gvt_ps = gvt_ps;
    return (struct cw_progress){
        .round = ++sim->reported.calls,
        .run_s = sim->times.run_s,
        .gvt_ps = sim->reported.gvt_ps,
        .safe_ps = CW_TIME_MAX,
        .memory_bytes = sync_load_acquire(&sim->memory.taken), /* a figure to show */
    };
}

uint64_t progress_committed(const struct cw_sim *sim)
{
    uint64_t committed = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        committed += sim->slots[i].report.committed;
    return committed;
}

/* The sum of the workers' reports. */
static struct cw_progress sum_reports(struct cw_sim *sim, int64_t gvt_ps)
{
    struct cw_progress progress = new_progress(sim, gvt_ps);
    uint64_t idle_ticks = 0, ticks = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const struct stats_report *const report = &sim->slots[i].report;
        CW_INVARIANT("I-STAT-1", report->committed <= report->processed,
                     "worker %u reports %llu events committed, %llu processed", (unsigned)i,
                     (unsigned long long)report->committed, (unsigned long long)report->processed);
        progress.events_committed += report->committed;
        progress.events_processed += report->processed;
        progress.events_rolled_back += report->rolled_back;
        progress.window_events += report->window;
        progress.history_events += report->history;
        if (report->safe_ps < progress.safe_ps)
            progress.safe_ps = report->safe_ps;
        if (report->reached_ps > progress.gvt_ps + progress.ahead_ps)
            progress.ahead_ps = report->reached_ps - progress.gvt_ps;
        idle_ticks += report->idle_ticks;
        ticks += report->ticks;
    }
    if (progress.safe_ps < progress.gvt_ps) /* reported before the round, which raises all bounds */
        progress.safe_ps = progress.gvt_ps;
    progress.idle_share = ticks == 0 ? 0 : (double)idle_ticks / (double)ticks;
    return progress;
}

void progress_report_round(struct timewarp *tw)
{
    enum { ROUNDS_PER_PROGRESS = 16 };
    struct cw_sim *const sim = tw->worker->sim;
    const struct cw_config *const config = &sim->config;
    const bool now = config->tuning.progress != NULL && tw->gvt.rounds % ROUNDS_PER_PROGRESS == 0;
    if (!now && config->tuning.each_round == NULL)
        return;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        CW_INVARIANT("I-STAT-1", sim->slots[i].round == tw->gvt.round,
                     "the report of worker %u is of round %llu, not %llu", (unsigned)i,
                     (unsigned long long)sim->slots[i].round, (unsigned long long)tw->gvt.round);
    struct cw_progress progress = sum_reports(sim, tw->gvt.now.time_ps);
    progress.round = tw->gvt.rounds;
    progress.run_s += clock_s() - sim->drain_start_s;
    if (now)
        config->tuning.progress(config->tuning.progress_arg, &progress);
    if (config->tuning.each_round != NULL)
        config->tuning.each_round(config->tuning.progress_arg, &progress);
}

static struct cw_progress sequential_progress(struct cw_sim *sim)
{
    struct cw_progress progress = new_progress(sim, worker_now_ps(&sim->workers[0]));
    progress.events_committed = progress.events_processed = sim->workers[0].committed;
    return progress;
}

void progress_report_sequential(struct cw_sim *sim)
{
    const struct cw_config *const config = &sim->config;
    if (config->tuning.progress == NULL && config->tuning.each_round == NULL)
        return;
    struct cw_progress progress = sequential_progress(sim);
    progress.run_s += clock_s() - sim->drain_start_s;
    if (config->tuning.progress != NULL)
        config->tuning.progress(config->tuning.progress_arg, &progress);
    if (config->tuning.each_round != NULL)
        config->tuning.each_round(config->tuning.progress_arg, &progress);
}

void progress_report_drained(struct cw_sim *sim)
{
    const struct cw_config *const config = &sim->config;
    struct cw_progress progress;
    if (config->tuning.each_round == NULL)
        return;
    if (config->sync == CW_SEQUENTIAL) {
        progress = sequential_progress(sim);
    } else {
        for (uint32_t i = 0; i < sim->worker_count; i++)
            gvt_report_figures(sim->workers[i].timewarp, &sim->slots[i].report);
        progress = sum_reports(sim, sim->now_ps);
        progress.round = sim->workers[0].timewarp->gvt.rounds;
    }
    config->tuning.each_round(config->tuning.progress_arg, &progress);
}
