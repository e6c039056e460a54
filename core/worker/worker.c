/*
 * worker.c: how a handler call fails, in every mode (worker.h). A failure does not return: it jumps
 * to the loop that called the handler.
 */
#include "core/worker/worker.h"

#include <stdio.h>
#include <string.h>

#include "core/os/fault_guard.h"
#include "core/worker/simulation.h"

enum { TICKS_OF_ONE_EVENT_MAX = 2 }; /* a handler that runs for this many is abandoned */

/* Leaves the handler. */
void cw_fail(struct cw_ctx *ctx, enum cw_exit exit_code, const char *format, ...)
{
    struct worker *const worker = worker_of(ctx);
    va_list arguments;
    worker->watch.in_engine = true; /* until the jump has arrived */
    va_start(arguments, format);
    (void)cw_error_set_list(&worker->failure, exit_code == CW_OK ? CW_BUG : exit_code, format,
                            arguments);
    va_end(arguments);
    longjmp(worker->failed, 1);
}

void worker_fail(struct worker *worker, enum cw_exit exit_code, const char *format, ...)
{
    char text[800];
    va_list arguments;
    worker->watch.in_engine = true; /* until the jump has arrived */
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct cw_event *const event = worker->ctx.event;
    cw_fail(&worker->ctx, exit_code, "LP %u, event type %u at %lld ps: %s", (unsigned)event->lp,
            (unsigned)event->type, (long long)event->time_ps, text);
}

void worker_out_of_stack(struct worker *worker)
{
    worker_fail(worker, CW_BUG, "the handler has used up its stack");
}

static void on_handler_fault(void *arg, const char *fault)
{
    struct worker *const worker = arg;
    if (worker->ctx.event != NULL && !worker->watch.in_engine)
        worker_fail(worker, CW_BUG, "%s in the handler", fault);
}

static void on_handler_tick(void *arg)
{
    struct worker *const worker = arg;
    struct handler_watch *const watch = &worker->watch;
    if (worker->ctx.event == NULL || !worker->speculative ||
        watch->processed != worker->processed) {
        watch->processed = worker->processed;
        watch->ticks = 0;
        return;
    }
    if (++watch->ticks < TICKS_OF_ONE_EVENT_MAX || watch->in_engine)
        return;
    watch->ticks = 0;
    worker_fail(worker, CW_BUG, "the handler does not return");
}

void worker_watch(struct worker *worker)
{
    if (worker != NULL && worker->sim->config.tuning.leave_signals)
        return;
    fault_guard_watch(
        (struct fault_watch){.fault = on_handler_fault, .tick = on_handler_tick, .arg = worker});
    if (worker != NULL)
        worker->watch.stack_low = fault_guard_stack_low();
}

/* Ends the run where no event has failed. worker->failure says why. */
static _Noreturn void end_run(struct worker *worker)
{
    worker->ctx.event = NULL;
    longjmp(worker->failed, 1);
}

void worker_fail_for_memory(struct worker *worker)
{
    (void)memory_error(&worker->sim->memory, &worker->failure);
    end_run(worker);
}

void worker_out_of_memory(struct worker *worker)
{
    if (!worker->speculative || worker->ctx.event == NULL)
        worker_fail_for_memory(worker);
    worker->out_of_memory = true;
    longjmp(worker->failed, 1);
}

void worker_too_many_events(struct worker *worker)
{
    (void)cw_error_set(&worker->failure, CW_PROGRAM_FAILED,
                       "more than %llu events, the most that this run may handle",
                       (unsigned long long)worker->sim->config.events_max);
    end_run(worker);
}

void worker_check_stop(struct worker *worker)
{
    const struct cw_config *const config = &worker->sim->config;
    if (config->stop == NULL || !config->stop(config->stop_arg))
        return;
    (void)cw_error_set(&worker->failure, CW_INTERRUPTED, "interrupted");
    end_run(worker);
}

void worker_bug(struct worker *worker, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)cw_error_set_list(&worker->failure, CW_BUG, format, arguments);
    va_end(arguments);
    end_run(worker);
}

void worker_check_changes(struct worker *worker, struct lp_block *block)
{
    const size_t offset =
        change_check_first_unasked(&worker->change_check, block->state, block->state_bytes);
    if (offset == CHANGE_CHECK_OK)
        return;
    /* The unasked change is undone here; the others by the log, if there is one. */
    memcpy(block->state, worker->change_check.before, block->state_bytes);
    worker_fail(worker, CW_BUG,
                "the handler changed the state at offset %zu without asking for it (CW_MUT)",
                offset);
}

struct interval_counts worker_counts(const struct worker *worker)
{
    return (struct interval_counts){.committed = worker->committed, .undone = worker->undone};
}

void worker_begin_timed(struct worker *worker, enum cw_activity activity, uint64_t moment)
{
    struct activity_clock *const clock = &worker->clock;
    activity_begin(clock, activity, moment);
    if (clock->log != NULL)
        interval_log_turn(clock->log, clock->since, worker_counts(worker));
}

void worker_end_timed(struct worker *worker, bool idle)
{
    struct activity_clock *const clock = &worker->clock;
    activity_end(clock, idle);
    if (clock->log != NULL)
        interval_log_turn_end(clock->log, clock->since, worker_counts(worker));
}

void worker_deliver_records(struct worker *worker, const uint8_t *records, size_t bytes,
                            const struct cw_event *event)
{
    struct interval_log *const log = worker->clock.log;
    const bool timed = log != NULL && interval_log_wants_data(log);
    const uint64_t begin = timed ? clock_ticks() : 0;
    commit_records_deliver_worker(records, bytes, event, &worker->sim->config, worker->index);
    if (timed)
        interval_log_data(log, begin, clock_ticks());
}

void worker_call_host(struct worker *worker, cw_worker_fn fn, void *arg)
{
    struct interval_log *const log = worker->clock.log;
    const uint64_t begin = log == NULL ? 0 : clock_ticks();
    const double begin_s = clock_s();
    fn(arg, worker->index);
    worker->host_s = clock_s() - begin_s;
    if (log != NULL)
        interval_log_host(log, begin, clock_ticks());
}
