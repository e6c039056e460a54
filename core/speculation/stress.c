/*
 * stress.c: draws what to disturb, and does it (stress.h).
 */
#include "core/speculation/stress.h"

#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/exchange/gvt_slot.h"
#include "core/speculation/timewarp.h"
#include "core/worker/trace_hash.h"
#include "core/worker/worker.h"

enum {
    UNDONE_MAX = 2,  /* how often the stress mode undoes one event */
    DEEP_ONE_IN = 8, /* rollbacks, of which one reaches further back */
    DEEP_EVENTS = 8, /* ... by fewer than this many events */
    MOVE_ONE_IN = 4, /* events, before one of which the state moves */
    LOOK_KINDS = 8,  /* of looks: one takes all messages, one a few, the others none */
    FEW_MESSAGES = 8,
};

#define P32_ONE          (UINT64_C(1) << 32)
#define RATE_P32_DEFAULT (P32_ONE / 10)

void stress_init(struct timewarp *tw)
{
    const struct cw_config *const config = &tw->worker->sim->config;
    tw->stress = (struct stress){
        .on = config->sync == CW_STRESS,
        .keep_all = config->tuning.window_ps == 0,
        .rate_p32 =
            config->tuning.stress_rate_p32 == 0 ? RATE_P32_DEFAULT : config->tuning.stress_rate_p32,
        .rng = cw_rng_seeded(config->tuning.stress_seed, tw->index),
    };
}

uint64_t stress_delivery(struct timewarp *tw)
{
    struct stress *const stress = &tw->stress;
    const uint32_t kind = cw_rng_below(&stress->rng, LOOK_KINDS);
    return kind == 0 ? UINT64_MAX : kind == 1 ? 1 + cw_rng_below(&stress->rng, FEW_MESSAGES) : 0;
}

void stress_move(struct timewarp *tw, uint32_t lp)
{
    if (cw_rng_below(&tw->stress.rng, MOVE_ONE_IN) != 0)
        return;
    lp_states_move(&tw->worker->sim->lp_states, lp);
    tw->stress.moved++;
}

/* ---- the state's hash ------------------------------------------------------------------------ */

static uint64_t state_hash(const struct timewarp *tw, uint32_t lp)
{
    const struct lp_block *const block = tw->worker->sim->lp_states.blocks[lp];
    return trace_hash_bytes(block->state, block->state_bytes);
}

void stress_note_state(struct timewarp *tw, uint32_t lp)
{
    if (!undo_log_add_state_hash(&tw->undo_log, state_hash(tw, lp)))
        worker_fail_for_memory(tw->worker);
}

void stress_check_state(struct timewarp *tw, uint32_t lp, uint64_t before)
{
    if (state_hash(tw, lp) != before)
        worker_bug(tw->worker, "I-HIST-1: LP %u is not as it was before an event that was undone",
                   (unsigned)lp);
}

/* ---- rollbacks that nothing asked for -------------------------------------------------------- */

/* An event that has failed already must be handled for good. */
bool stress_keeps_undo(struct timewarp *tw, const struct entry *entry)
{
    struct stress *const stress = &tw->stress;
    stress->denied |= tw->throttle.allowance == 0;
    if (tw->undo_log.live >= tw->throttle.allowance ||
        (tw->failures.stuck && !key_before(key_of(entry), tw->failures.stuck_at)))
        return false;
    return stress->keep_all || stress->undone == 0 || cw_rng_below(&stress->rng, 2) == 0;
}

/* Whether the event is before the worker's last report, so that others may rely on it. */
static bool is_reported(const struct timewarp *tw, struct cw_event *event)
{
    const struct entry entry = entry_of_event(event);
    return key_before(key_of(&entry), tw->gvt.reported);
}

static bool was_undone_enough(const struct cw_event *event)
{
    return event->reserved >= UNDONE_MAX * EVENT_STRESS_UNDONE;
}

/* Whether an event that was handled before, and is not committed, may still be undone (case 2 of
 * I-STRESS-1). */
static bool may_undo_still(const struct timewarp *tw, struct cw_event *event)
{
    const struct entry entry = entry_of_event(event);
    const struct key key = key_of(&entry);
    return !was_undone_enough(event) && event->time_ps >= tw->promise.promised_ps &&
           !is_reported(tw, event) && key_before(tw->gvt.now, key) &&
           key_before(tw->stress.final, key) &&
           (tw->stress.keep_all || event->time_ps >= tw->gvt.safe_ps);
}

const struct cw_event *stress_draw_undo(struct timewarp *tw, const struct entry *entry)
{
    struct stress *const stress = &tw->stress;
    const struct lp_logs *const of = &tw->lp_logs[entry_lp(entry)];
    const struct log *log = of->newest;
    if (was_undone_enough(log->event) ||
        (stress->undone > 0 && !cw_rng_chance(&stress->rng, stress->rate_p32)))
        return NULL;
    uint64_t more =
        cw_rng_below(&stress->rng, DEEP_ONE_IN) == 0 ? cw_rng_below(&stress->rng, DEEP_EVENTS) : 0;
    if (more > of->live - 1)
        more = of->live - 1;
    log->event->reserved += EVENT_STRESS_UNDONE;
    for (; more > 0 && may_undo_still(tw, log->older->event); more--) {
        log = log->older;
        log->event->reserved += EVENT_STRESS_UNDONE;
    }
    CW_INVARIANT("I-STRESS-1",
                 log->event->time_ps >= tw->promise.promised_ps &&
                     log->event->time_ps >= tw->gvt.now.time_ps,
                 "an event at %lld ps is undone; promised is %lld ps, GVT is %lld ps",
                 (long long)log->event->time_ps, (long long)tw->promise.promised_ps,
                 (long long)tw->gvt.now.time_ps);
    stress->undone++;
    return log->event;
}

int stress_result(const struct cw_sim *sim, struct cw_error *error)
{
    uint64_t committed = -sim->listen.events, undone = 0; /* a listener's are never undone */
    bool denied = false;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        committed += sim->workers[i].committed - sim->workers[i].restored;
        undone += sim->workers[i].timewarp->stress.undone;
        denied |= sim->workers[i].timewarp->stress.denied;
    }
    if (sim->config.sync != CW_STRESS || committed == 0 || undone > 0)
        return CW_OK;
    if (denied)
        return cw_error_set(
            error, CW_NO_RESOURCE,
            "out of memory: within %llu bytes (--max-memory) the stress mode can keep "
            "what it takes to undo none of %llu events",
            (unsigned long long)sim->memory.bytes_max, (unsigned long long)committed);
    return cw_error_set(error, CW_BUG,
                        "the stress mode undid none of %llu events: it proves nothing",
                        (unsigned long long)committed);
}
