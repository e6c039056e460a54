/*
 * session.c: rounds and repetitions (session.h).
 */
#include "perf/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/os/clock.h"
#include "perf/measure.h"

/* One case in one round, repeated while it is disturbed. `before`: its earlier rounds. *calibration
 * is the last one taken, and stands for the one before: nothing has run since. */
static int session_measure(const struct perf_session *session, const struct perf_case *one,
                           const struct perf_case_run *before, struct perf_calibration *calibration,
                           struct perf_sample *sample, struct cw_error *error)
{
    const uint32_t round = sample->round;
    const size_t samples = before->sample_count;
    uint64_t memory_bytes = samples > 0 ? before->samples[samples - 1].rss_bytes : 0;
    for (uint32_t repeats = 0;; repeats++) {
        *sample = (struct perf_sample){.round = round, .repeats = repeats, .before = *calibration};
        const int result =
            perf_measure(one, memory_bytes, session->stop, session->arg, sample, error);
        if (result != CW_OK)
            return result;
        memory_bytes = sample->rss_bytes;
        *calibration = sample->after;
        const bool again = sample->disturbed && repeats < session->repeats_max;
        if (sample->disturbed && session->disturbed != NULL)
            session->disturbed(session->arg, one->name,
                               perf_disturbance(&sample->before, &sample->after), again);
        if (!again)
            return CW_OK;
    }
}

static bool is_stopped(const struct perf_session *session)
{
    return session->stop != NULL && session->stop(session->arg);
}

static bool is_over(const struct perf_session *session, double start_s)
{
    return session->budget_s > 0 && clock_s() - start_s > session->budget_s;
}

/* Measures each case once. The first round ends early where the budget is over, with one case at
 * least; the cases after it leave the run. */
static int run_round(const struct perf_session *session, const struct perf_case *cases,
                     uint32_t round, double start_s, struct perf_calibration *calibration,
                     struct perf_run *run, struct cw_error *error)
{
    const size_t count = run->case_count;
    int result = CW_OK;
    for (size_t at = 0; at < count && result == CW_OK && !is_stopped(session); at++) {
        if (round == 0 && at > 0 && is_over(session, start_s)) {
            perf_run_keep(run, at);
            if (session->over != NULL)
                session->over(session->arg, at, count);
            break;
        }
        struct perf_sample sample = {.round = round};
        if (session->progress != NULL)
            session->progress(session->arg, round, cases[at].name, round * count + at,
                              session->rounds * count);
        result = session_measure(session, &cases[at], &run->cases[at], calibration, &sample, error);
        if (result == CW_OK && !perf_case_add(&run->cases[at], &sample))
            result = cw_error_memory(error, "the samples");
    }
    return result;
}

uint32_t perf_session_rounds(const struct perf_run *run)
{
    size_t least = run->case_count == 0 ? 0 : run->cases[0].sample_count;
    for (size_t i = 1; i < run->case_count; i++)
        if (run->cases[i].sample_count < least)
            least = run->cases[i].sample_count;
    return (uint32_t)least;
}

static int run_rounds(const struct perf_session *session, const struct perf_case *cases,
                      struct perf_run *run, struct cw_error *error)
{
    struct perf_calibration calibration;
    const double start_s = clock_s();
    double longest_s = 0;
    int result = perf_calibrate(&calibration, error);
    for (uint32_t round = 0; round < session->rounds && result == CW_OK; round++) {
        const double now_s = clock_s();
        if (round > 0 && session->budget_s > 0 && now_s - start_s + longest_s > session->budget_s)
            break;
        result = run_round(session, cases, round, start_s, &calibration, run, error);
        longest_s = fmax(longest_s, clock_s() - now_s);
        if (is_stopped(session)) { /* a signal on a terminal ends the case's process, too */
            result = error->exit_code = CW_OK;
            const uint32_t whole = perf_session_rounds(run);
            for (size_t i = 0; i < run->case_count; i++)
                run->cases[i].sample_count = whole;
            break;
        }
    }
    return result;
}

int perf_session_measure(const struct perf_session *session, struct perf_case *cases, size_t count,
                         struct perf_run *run, struct cw_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (perf_has_program(cases[i].program))
            cases[kept++] = cases[i];
    if (kept == 0)
        return cw_error_set(error, CW_NO_RESOURCE,
                            "no program that measures a case of the set %s can be run", run->set);
    for (size_t i = 0; i < kept; i++)
        if (perf_run_add(run, cases[i].name, cases[i].command, cases[i].threads) == NULL)
            return cw_error_memory(error, "the cases");
    return run_rounds(session, cases, run, error);
}

int perf_session_run(const struct perf_session *session, struct perf_run *run,
                     struct cw_error *error)
{
    struct perf_case *cases = NULL;
    size_t count = 0;
    perf_run_begin(run, session->set);
    int result = perf_set_cases(session->set, run->machine.cores, &cases, &count, error);
    if (result == CW_OK)
        result = perf_session_measure(session, cases, count, run, error);
    free(cases);
    return result;
}
