/*
 * result.c: means, a judgement and release of results (result.h).
 */
#include "bench/output/result.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/draw/picture.h"
#include "bench/output/report.h"
#include "bench/output/step_report.h"

void result_free(struct result *result)
{
    for (size_t i = 0; i < result->row_count; i++) {
        free(result->rows[i].phases);
        free(result->rows[i].explain);
        free(result->rows[i].shares);
        free(result->rows[i].not_run);
    }
    free(result->rows);
    free(result->engine.workers);
    for (size_t i = 0; i < result->waiting_count; i++)
        free(result->waiting[i].state);
    free(result->waiting);
    for (size_t i = 0; i < result->column_count; i++) {
        free(result->columns[i].name);
        free(result->columns[i].value);
    }
    free(result->columns);
    step_report_free(result->step);
    result->step = NULL;
    picture_free(result->picture);
    result->picture = NULL;
    free(result->unfinished.not_run);
    result->unfinished.not_run = NULL;
    json_decref(result->provenance);
    result->provenance = NULL;
    result->columns = NULL;
    result->column_count = 0;
    free(result->failure);
    free(result->pointers);
    result->waiting = NULL;
    result->waiting_count = 0;
    result->failure = result->pointers = NULL;
    result->engine.workers = NULL;
    result->engine.worker_count = 0;
    result->rows = NULL;
    result->row_count = 0;
}

int64_t result_mean_ps(int64_t sum_ps, uint32_t count)
{
    const int64_t rest = sum_ps % count;
    return sum_ps / count + (2 * rest >= count);
}

static double times_of(const struct result_simulated *part)
{
    return part->of > 0 ? (double)part->of / (double)(part->done > 0 ? part->done : 1) : 1;
}

double result_shortcut_factor(const struct result_shortcuts *shortcuts)
{
    return times_of(&shortcuts->sips) * times_of(&shortcuts->iterations) *
           times_of(&shortcuts->operations);
}

int result_judge(const struct result *result, bool bound_holds, bool loaded, struct cw_error *error)
{
    static const char *const how[PROOFS] = {
        [PROOF_NONE] = "have other bits than the specified order of operations gives",
        [PROOF_ORDER] = "have other bits than the specified order of operations gives",
        [PROOF_ANY_ORDER] = "have other bits than every order of operations gives",
        [PROOF_MOVED] = "have other bits than the values that they should be",
        [PROOF_INTEGERS] = "have other bits than the exact sum, which every order gives",
        [PROOF_BOUND] = "are further off than any order of operations can be",
        [PROOF_STEPS] = "have other bits than the file's own steps give",
        [PROOF_SAMPLE] = "of the sampled ranks are not what the collective demands, by the steps "
                         "of the schedule"};
    enum proof proof = PROOF_NONE;
    int64_t wrong = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *const row = &result->rows[i];
        wrong += row->wrong > 0 ? row->wrong : 0;
        proof = row->wrong > 0 ? row->proof : proof;
        if (!bound_holds || row->not_run != NULL || row->time_ps >= row->bound_ps)
            continue;
        char time[REPORT_NUMBER_BYTES];
        char bound[REPORT_NUMBER_BYTES];
        return cw_error_set(
            error, loaded ? CW_PROGRAM_FAILED : CW_BUG,
            "%s of %llu bytes took %s ns, which is below its lower bound of %s ns%s",
            row->collective, (unsigned long long)row->bytes, report_ns(row->time_ps, time),
            report_ns(row->bound_ps, bound),
            loaded ? ": the algorithm, from a shared object, does less than its collective "
                     "needs; --verify-data shows what is missing"
                   : "");
    }
    if (wrong == 0)
        return CW_OK;
    return cw_error_set(error, CW_DATA_WRONG, "%lld elements %s", (long long)wrong, how[proof]);
}

const char *result_cancellation(enum cw_sync sync, bool lazy)
{
    if (sync == CW_SEQUENTIAL || sync == CW_CONSERVATIVE)
        return NULL;
    return lazy ? "lazy" : "aggressive";
}

double result_bus_factor(enum ccl_collective collective, double n)
{
    switch (collective) {
    case CCL_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case CCL_REDUCE_SCATTER:
    case CCL_ALL_GATHER:
    case CCL_ALL_TO_ALL:
        return (n - 1) / n;
    default:
        return 1;
    }
}
