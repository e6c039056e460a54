/*
 * perf_compare.c: judges the cases of two runs, one by one and together (perf_compare.h).
 */
#include "perf/perf_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perf/perf_table.h"
#include "perf/sets.h"

enum { ROUNDS_MIN = 3 };

/* Chooses the rounds to compare. Several threads run as fast as a cache line crosses: only the
 * rounds in a state that both runs met often enough. On one thread: all rounds. */
static enum perf_state common_state(const struct perf_case_run *before,
                                    const struct perf_case_run *after)
{
    static const enum perf_state states[] = {PERF_NEAR, PERF_FAR, PERF_ONE_CORE};
    for (size_t i = 0; i < sizeof states / sizeof *states && before->threads > 1; i++)
        if (perf_summary_of(before, states[i]).rounds >= ROUNDS_MIN &&
            perf_summary_of(after, states[i]).rounds >= ROUNDS_MIN)
            return states[i];
    return PERF_MIXED;
}

static const char *not_comparable(const struct perf_case_run *before, const struct perf_summary *b,
                                  const struct perf_case_run *after, const struct perf_summary *a)
{
    if (strcmp(before->command, after->command) != 0)
        return "the command differs";
    if (b->rounds < ROUNDS_MIN || a->rounds < ROUNDS_MIN)
        return "fewer than three rounds";
    if (before->threads > 1 && (b->state == PERF_MIXED || b->state != a->state))
        return "fewer than three rounds in the same state of the cache line";
    if (2 * b->disturbed >= b->rounds || 2 * a->disturbed >= a->rounds)
        return "half of the rounds were disturbed";
    return NULL;
}

/* The newest of the earlier rounds counts: an older change was reported then. */
static bool results_differ(const struct perf_case_run *before, const struct perf_case_run *after)
{
    const struct perf_sample *const b = &before->samples[before->sample_count - 1];
    const struct perf_sample *const a = &after->samples[0];
    return b->events != a->events ||
           (b->results[0] != '\0' && a->results[0] != '\0' && strcmp(b->results, a->results) != 0);
}

static double differs_by(double before, double after)
{
    return before > 0 && after > 0 ? fabs(after / before - 1) : 0;
}

double perf_drift(const struct perf_run *before, const struct perf_run *after)
{
    double drift =
        differs_by(perf_calibration_of(before).loop_ns, perf_calibration_of(after).loop_ns);
    for (size_t i = 0; i < before->case_count; i++) {
        const struct perf_case_run *const b = &before->cases[i];
        const struct perf_case_run *const a = perf_run_find(after, b->name);
        if (a != NULL && perf_is_bare(b->name) && strcmp(a->command, b->command) == 0)
            drift = fmax(drift, differs_by(perf_summary_of(b, PERF_MIXED).events_per_s.median,
                                           perf_summary_of(a, PERF_MIXED).events_per_s.median));
    }
    return drift;
}

struct perf_difference perf_compare_case(const struct perf_case_run *before,
                                         const struct perf_case_run *after, double drift)
{
    struct perf_difference difference = {.verdict = PERF_SAME};
    if (before == NULL || after == NULL || before->sample_count == 0 || after->sample_count == 0) {
        difference.name = before != NULL ? before->name : after != NULL ? after->name : "";
        difference.verdict = before == NULL ? PERF_ONLY_AFTER : PERF_ONLY_BEFORE;
        return difference;
    }
    difference.name = before->name;
    const enum perf_state state = common_state(before, after);
    const struct perf_summary b = perf_summary_of(before, state), a = perf_summary_of(after, state);
    const struct perf_spread *const was = &b.events_per_s, *const is = &a.events_per_s;
    difference.before = was->median;
    difference.after = is->median;
    difference.why = not_comparable(before, &b, after, &a);
    if (strcmp(before->command, after->command) == 0 && results_differ(before, after)) {
        difference.verdict = PERF_RESULTS_CHANGED;
        difference.why = NULL;
        return difference;
    }
    if (was->median > 0) {
        difference.change = is->median / was->median - 1;
        difference.noise =
            drift + fmax(PERF_LEAST_LOSS, PERF_NOISE_MADS * (was->mad + is->mad) / was->median);
    }
    if (difference.why != NULL)
        difference.verdict = PERF_NOT_COMPARABLE;
    else if (perf_is_lower(was, is, drift))
        difference.verdict = PERF_SLOWER;
    else if (perf_is_lower(is, was, drift))
        difference.verdict = PERF_FASTER;
    else
        difference.verdict = PERF_SAME;
    return difference;
}

const char *perf_machines_differ(const struct perf_run *before, const struct perf_run *after)
{
    if (strcmp(before->machine.cpu, after->machine.cpu) != 0)
        return "the processor";
    if (before->machine.cores != after->machine.cores)
        return "the number of cores";
    if (strcmp(before->machine.host, after->machine.host) != 0)
        return "the host";
    return NULL;
}

const char *const perf_verdict_name[PERF_VERDICTS] = {
    "same", "faster", "SLOWER", "not comparable", "only before", "only after", "results changed"};

/* ---- all cases ------------------------------------------------------------------------------- */

bool perf_compare(const struct perf_run *before, const struct perf_run *after,
                  struct perf_comparison *comparison)
{
    *comparison = (struct perf_comparison){
        .drift = perf_drift(before, after),
        .cases = calloc(before->case_count + after->case_count + 1, sizeof *comparison->cases)};
    if (comparison->cases == NULL)
        return false;
    struct perf_difference *next = comparison->cases;
    for (size_t i = 0; i < before->case_count; i++) {
        const struct perf_case_run *const one = &before->cases[i];
        *next++ = perf_compare_case(one, perf_run_find(after, one->name), comparison->drift);
    }
    for (size_t i = 0; i < after->case_count; i++)
        if (perf_run_find(before, after->cases[i].name) == NULL)
            *next++ = perf_compare_case(NULL, &after->cases[i], comparison->drift);
    comparison->counts.cases = (size_t)(next - comparison->cases);
    for (size_t i = 0; i < comparison->counts.cases; i++)
        comparison->counts.of[comparison->cases[i].verdict]++;
    return true;
}

void perf_comparison_free(struct perf_comparison *comparison)
{
    free(comparison->cases);
    *comparison = (struct perf_comparison){.cases = NULL};
}

size_t perf_compared(const struct perf_counts *counts)
{
    return counts->of[PERF_SAME] + counts->of[PERF_FASTER] + counts->of[PERF_SLOWER];
}

enum perf_outcome perf_outcome_of(const struct perf_counts *counts)
{
    const size_t in_both =
        counts->cases - counts->of[PERF_ONLY_BEFORE] - counts->of[PERF_ONLY_AFTER];
    if (counts->of[PERF_SLOWER] > 0)
        return PERF_HAS_SLOWER;
    if (counts->of[PERF_RESULTS_CHANGED] > 0)
        return PERF_HAS_OTHER_RESULTS;
    return 2 * perf_compared(counts) < in_both || in_both == 0 ? PERF_TOO_FEW : PERF_WELL;
}

/* ---- several runs as one --------------------------------------------------------------------- */

/* A run's figures for a case, as one round. */
static bool add_night(struct perf_case_run *to, uint32_t round, const struct perf_run *run,
                      const struct perf_case_run *measured)
{
    const struct perf_summary summary = perf_summary_of(measured, PERF_MIXED);
    struct perf_sample sample = measured->samples[measured->sample_count - 1];
    sample.round = round;
    sample.disturbed = 2 * summary.disturbed >= summary.rounds;
    sample.events_per_s = summary.events_per_s.median;
    sample.before = sample.after = perf_calibration_of(run);
    return perf_case_add(to, &sample);
}

bool perf_base_of(const struct perf_run *runs, size_t count, struct perf_run *base)
{
    const struct perf_run *const newest = &runs[count - 1];
    *base = *newest;
    base->cases = NULL;
    base->case_count = 0;
    for (size_t i = 0; i < newest->case_count; i++) {
        const struct perf_case_run *const last = &newest->cases[i];
        struct perf_case_run *const to =
            perf_run_add(base, last->name, last->command, last->threads);
        if (to == NULL)
            return false;
        for (size_t k = 0; k < count; k++) {
            const struct perf_case_run *const one = perf_run_find(&runs[k], last->name);
            if (one != NULL && one->sample_count > 0 && strcmp(one->command, last->command) == 0 &&
                !add_night(to, (uint32_t)k, &runs[k], one))
                return false;
        }
    }
    return true;
}
