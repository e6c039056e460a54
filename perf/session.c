/*
 * session.c: rounds and repetitions (session.h).
 */
#include "perf/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "perf/measure.h"

/* One case in one round, repeated while it is disturbed. *calibration is the last one taken, and
 * stands for the one before: nothing has run since. */
static int session_measure(const struct perf_session *session, const struct perf_case *one,
                           struct perf_calibration *calibration, struct perf_sample *sample,
                           struct cw_error *error)
{
    const uint32_t round = sample->round;
    for (uint32_t repeats = 0;; repeats++) {
        *sample = (struct perf_sample){.round = round, .repeats = repeats, .before = *calibration};
        const int result = perf_measure(one, sample, error);
        if (result != CW_OK)
            return result;
        *calibration = sample->after;
        const bool again = sample->disturbed && repeats < session->repeats_max;
        if (sample->disturbed && session->disturbed != NULL)
            session->disturbed(session->arg, one->name,
                               perf_disturbance(&sample->before, &sample->after), again);
        if (!again)
            return CW_OK;
    }
}

static int run_rounds(const struct perf_session *session, const struct perf_case *cases,
                      struct perf_run *run, struct cw_error *error)
{
    struct perf_calibration calibration;
    int result = perf_calibrate(&calibration, error);
    const size_t count = session->rounds * run->case_count;
    for (size_t done = 0; done < count && result == CW_OK; done++) {
        struct perf_sample sample = {.round = (uint32_t)(done / run->case_count)};
        const size_t at = done % run->case_count;
        if (session->progress != NULL)
            session->progress(session->arg, sample.round, cases[at].name, done, count);
        result = session_measure(session, &cases[at], &calibration, &sample, error);
        if (result == CW_OK && !perf_case_add(&run->cases[at], &sample))
            result = cw_error_memory(error, "the samples");
    }
    return result;
}

int perf_session_measure(const struct perf_session *session, const struct perf_case *cases,
                         size_t count, struct perf_run *run, struct cw_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (perf_run_add(run, cases[i].name, cases[i].command, cases[i].threads) == NULL)
            return cw_error_memory(error, "the cases");
    return run_rounds(session, cases, run, error);
}

int perf_session_run(const struct perf_session *session, struct perf_run *run,
                     struct cw_error *error)
{
    struct perf_case *cases = NULL;
    size_t count = 0, kept = 0;
    perf_run_begin(run, session->set);
    int result = perf_set_cases(session->set, run->machine.cores, &cases, &count, error);
    for (size_t i = 0; i < count && result == CW_OK; i++)
        if (perf_has_program(cases[i].program))
            cases[kept++] = cases[i];
    if (result == CW_OK)
        result = perf_session_measure(session, cases, kept, run, error);
    free(cases);
    return result;
}
