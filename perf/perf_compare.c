/*
 * perf_compare.c: judging and printing (perf_compare.h).
 */
#include "perf/perf_compare.h"

#include <math.h>
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
    if (before == NULL || after == NULL) {
        difference.name = before == NULL ? after->name : before->name;
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

/* ---- printing ---------------------------------------------------------------------------------
 */

static void print_run(FILE *file, const char *label, const struct perf_run *run)
{
    const struct perf_calibration calibration = perf_calibration_of(run);
    fprintf(file,
            "# %-6s %s, commit %s, set %s: bare loop %.3f ns, two gain %.2f, cache line %.0f ns "
            "(%s)\n",
            label, run->started, run->commit, run->set, calibration.loop_ns, calibration.gain,
            calibration.line_ns, perf_state_name[perf_state_of_run(run)]);
}

static void print_difference(FILE *file, const struct perf_difference *difference,
                             const struct perf_case_run *before, const struct perf_case_run *after)
{
    static const char *const words[] = {"same",           "faster",      "SLOWER",
                                        "not comparable", "only before", "only after"};
    fprintf(file, "%-28s", difference->name);
    if (before != NULL && after != NULL)
        fprintf(file, " %8.2f %8.2f %+7.1f%% %6.1f%%", difference->before * 1e-6,
                difference->after * 1e-6, 100 * difference->change, 100 * difference->noise);
    else
        fprintf(file, " %8s %8s %8s %7s", "-", "-", "-", "-");
    fprintf(file, "  %s", words[difference->verdict]);
    if (difference->why != NULL)
        fprintf(file, ": %s", difference->why);
    fputc('\n', file);
}

static void perf_compare_warn(FILE *file, const struct perf_run *before,
                              const struct perf_run *after)
{
    const double b = perf_calibration_of(before).loop_ns, a = perf_calibration_of(after).loop_ns;
    const char *const machine = perf_machines_differ(before, after);
    if (machine != NULL)
        fprintf(file, "# warning: %s differs\n", machine);
    if (strcmp(before->machine.kernel, after->machine.kernel) != 0)
        fprintf(file, "# warning: the kernel differs: %s, then %s\n", before->machine.kernel,
                after->machine.kernel);
    if (b > 0 && a > 0 && fabs(a - b) > PERF_STEADY * fmax(a, b))
        fprintf(file, "# warning: a bare loop ran at %.2f x its earlier speed\n", b / a);
}

size_t perf_compare_print(FILE *file, const struct perf_run *before, const struct perf_run *after)
{
    const double drift = perf_drift(before, after);
    size_t slower = 0;
    print_run(file, "before", before);
    print_run(file, "after", after);
    perf_compare_warn(file, before, after);
    fprintf(file,
            "# what knows nothing of the engine differs by %.1f %%: part of each case's noise\n",
            100 * drift);
    fprintf(file, "%-28s %8s %8s %8s %7s\n", "# millions of events/s", "before", "after", "change",
            "noise");
    for (size_t i = 0; i < before->case_count + after->case_count; i++) {
        const struct perf_case_run *b = NULL, *a = NULL;
        if (i < before->case_count) {
            b = &before->cases[i];
            a = perf_run_find(after, b->name);
        } else {
            a = &after->cases[i - before->case_count];
            if (perf_run_find(before, a->name) != NULL)
                continue;
        }
        const struct perf_difference difference = perf_compare_case(b, a, drift);
        slower += difference.verdict == PERF_SLOWER;
        print_difference(file, &difference, b, a);
    }
    fprintf(file, slower == 0 ? "# nothing became slower\n" : "# slower: %zu\n", slower);
    return slower;
}
