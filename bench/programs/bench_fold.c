/*
 * bench_fold.c: finds the fold of a session's machine, judges its run, and notes what it did
 * (bench_fold.h).
 */
#include "bench/programs/bench_fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/explain/explain.h"
#include "bench/programs/bench.h"
#include "bench/programs/bench_algorithm.h"
#include "bench/programs/shortcuts.h"
#include "collectives/schedule/schedule.h"
#include "hw/topology/topology.h"

/* Calls of the sizes that the current machine is for. */
static uint32_t list_calls(const struct bench_session *session, struct ccl_call *calls)
{
    uint32_t count = 0;
    for (size_t i = session->first_size; i < session->end_size; i++)
        if (session->refused[i] == NULL && bench_size(session, i) > 0)
            calls[count++] = bench_call_of_size(session, i);
    return count;
}

const char *bench_fold_why_refused(const struct run_options *options, const struct hw_config *hw,
                                   const struct hw_fold *fold)
{
    if (fold->sips == fold->of)
        return NULL;
    if (!fold->translates && options->engine.sync != CW_SEQUENTIAL)
        return "folds behind a switch that are no translations need --sync sequential";
    if (!fold->translates && options->explain)
        return "--explain goes by folds that are translations alone";
    if (options->explain &&
        (hw_outlets(hw) > EXPLAIN_OUTLETS_MAX || hw_switch_outlets(hw) > EXPLAIN_OUTLETS_MAX))
        return "--explain numbers at most 65000 links of a SIP or a switch";
    return NULL;
}

static int find(struct bench_session *session, const struct ccl_call *calls, uint32_t count,
                struct cw_error *error)
{
    const struct fold_request request = {.config = session->config, .calls = calls, .count = count};
    const int code = fold_find(&request, &session->fold, error);
    if (code != CW_OK)
        return code;
    const char *const why =
        bench_fold_why_refused(session->options, &session->config->hw, &session->fold.fold);
    session->folded = session->fold.fold.sips < session->fold.fold.of && why == NULL;
    snprintf(session->fold_why, sizeof session->fold_why, "%s",
             why != NULL ? why : session->fold.why);
    return CW_OK;
}

const char *bench_fold_why_not(const struct bench_session *session)
{
    const char *const why = shortcut_why_not(SHORTCUT_FOLD, session->options, session->config);
    return why != NULL ? why : !session->program->folds ? BENCH_FOLDS_ONE_CALL : NULL;
}

int bench_fold_find(struct bench_session *session, struct cw_error *error)
{
    const struct run_options *const options = session->options;
    const char *const why = bench_fold_why_not(session);
    bench_fold_end(session);
    session->folded = false;
    session->fold_why[0] = '\0';
    if (why != NULL || !shortcut_is_open(SHORTCUT_FOLD, options, session->config)) {
        if (options->fold != RUN_SHORTCUT_OFF && why != NULL)
            snprintf(session->fold_why, sizeof session->fold_why, "%s", why);
        return CW_OK;
    }
    struct ccl_call *const calls =
        calloc(session->end_size - session->first_size + 1, sizeof *calls);
    if (calls == NULL)
        return cw_error_memory(error, "the calls");
    const uint32_t count = list_calls(session, calls);
    struct cw_error own = {.exit_code = CW_OK};
    const int code = count > 0 ? find(session, calls, count, &own) : CW_OK;
    free(calls);
    if (code == CW_NO_RESOURCE) {
        *error = own;
        return code;
    }
    if (code != CW_OK) /* the run will say it in its own words */
        snprintf(session->fold_why, sizeof session->fold_why, "%s", cw_error_text(&own));
    if (!session->folded)
        bench_fold_end(session);
    if (options->fold == RUN_SHORTCUT_ON && count > 0 && !session->folded &&
        session->config->hw.sip_count > 1)
        return cw_error_set(error, CW_USAGE, "--fold on: %s",
                            session->fold_why[0] != '\0' ? session->fold_why : "nothing folds");
    return CW_OK;
}

void bench_fold_give(struct bench_session *session, struct dist_options *dist)
{
    dist->fold = &session->fold.fold;
    dist->schedule = session->fold.schedule;
    session->fold_warned = false;
}

bool bench_fold_holds(struct bench_session *session, int code, const struct cw_error *error)
{
    char tie[LP_TIE_BYTES];
    if (code != CW_OK)
        snprintf(session->fold_why, sizeof session->fold_why, "the folded run fails: %.300s",
                 cw_error_text(error));
    else if (session->fold_warned)
        snprintf(session->fold_why, sizeof session->fold_why, "the folded run has warnings");
    else if (!lp_system_fold_is_exact(dist_system(session->dist)))
        snprintf(session->fold_why, sizeof session->fold_why,
                 "events of different SIPs meet at one instant: %s",
                 lp_system_fold_tie(dist_system(session->dist), tie));
    else
        return true;
    return false;
}

int bench_refuse_unfolded(const struct config *config, const char *why, struct cw_error *error)
{
    if (config->hw.sip_count <= HW_UNFOLDED_SIPS_MAX)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "%u SIPs do not fold: %s; unfolded runs have at most %u SIPs",
                        config->hw.sip_count, why, HW_UNFOLDED_SIPS_MAX);
}

int bench_fold_check_unfolded(const struct bench_session *session, struct cw_error *error)
{
    return bench_refuse_unfolded(
        session->config, session->fold_why[0] != '\0' ? session->fold_why : "--fold off", error);
}

void bench_fold_note(const struct bench_session *session, size_t first)
{
    static const char *const known[] = {
        [FOLD_BY_COMPARISON] = "comparison", [FOLD_BY_PROOF] = "proof"};
    const struct hw_fold *const fold = &session->fold.fold;
    for (size_t i = first; i < session->result->row_count; i++) {
        struct result_row *const row = &session->result->rows[i];
        if (row->not_run != NULL)
            continue;
        snprintf(row->shortcuts.why, sizeof row->shortcuts.why, "%s", session->fold_why);
        if (!session->folded)
            continue;
        row->shortcuts.fold = known[session->fold.known];
        row->shortcuts.sips = (struct result_simulated){fold->of, fold->sips};
    }
}

bool bench_fold_holds_so_far(struct bench_session *session)
{
    if (session->fold_warned || !lp_system_fold_is_exact(dist_system(session->dist)))
        return false;
    bench_fold_note(session, session->result->reported);
    return true;
}

void bench_fold_end(struct bench_session *session)
{
    schedule_free(session->fold.schedule);
    session->fold.schedule = NULL;
}
