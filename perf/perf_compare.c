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

/* The newest of the earlier rounds counts: an older change has been told. */
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

/* ---- printing -------------------------------------------------------------------------------- */

static void print_run(FILE *file, const char *label, const struct perf_run *run)
{
    const struct perf_calibration calibration = perf_calibration_of(run);
    fprintf(file,
            "# %-6s %s, commit %s, set %s: bare loop %.3f ns, two gain %.2f, cache line %.0f ns "
            "(%s)\n",
            label, run->started, run->commit, run->set, calibration.loop_ns, calibration.gain,
            calibration.line_ns, perf_state_name[perf_state_of_run(run)]);
}

const char *const perf_verdict_name[PERF_VERDICTS] = {
    "same", "faster", "SLOWER", "not comparable", "only before", "only after", "results changed"};

static void print_difference(FILE *file, const struct perf_difference *difference, bool both)
{
    fprintf(file, "%-28s", difference->name);
    if (both)
        fprintf(file, " %8.2f %8.2f %+7.1f%% %6.1f%%", difference->before * 1e-6,
                difference->after * 1e-6, 100 * difference->change, 100 * difference->noise);
    else
        fprintf(file, " %8s %8s %8s %7s", "-", "-", "-", "-");
    fprintf(file, "  %s", perf_verdict_name[difference->verdict]);
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

/* The i-th case of both runs: first the cases of `before`, then cases that `after` alone has. */
static bool pair_at(const struct perf_run *before, const struct perf_run *after, size_t i,
                    const struct perf_case_run **b, const struct perf_case_run **a)
{
    *b = *a = NULL;
    if (i < before->case_count) {
        *b = &before->cases[i];
        *a = perf_run_find(after, (*b)->name);
        return true;
    }
    *a = &after->cases[i - before->case_count];
    return perf_run_find(before, (*a)->name) == NULL;
}

static void print_head(FILE *file, const struct perf_run *before, const struct perf_run *after,
                       double drift)
{
    print_run(file, "before", before);
    print_run(file, "after", after);
    perf_compare_warn(file, before, after);
    fprintf(
        file,
        "# figures that do not depend on the engine differ by %.1f %%: part of each case's noise\n",
        100 * drift);
    fprintf(file, "%-28s %8s %8s %8s %7s\n", "# millions of events/s", "before", "after", "change",
            "noise");
}

static size_t compared(const struct perf_counts *counts)
{
    return counts->of[PERF_SAME] + counts->of[PERF_FASTER] + counts->of[PERF_SLOWER];
}

/* A sentence that begins with the worst. */
static void print_summary(FILE *file, const struct perf_counts *counts)
{
    if (counts->of[PERF_SLOWER] > 0)
        fprintf(file, "slower: %zu", counts->of[PERF_SLOWER]);
    else
        fputs("nothing became slower", file);
    fprintf(file,
            "; compared %zu of %zu cases, faster %zu, not comparable %zu, results changed %zu",
            compared(counts), counts->cases, counts->of[PERF_FASTER],
            counts->of[PERF_NOT_COMPARABLE], counts->of[PERF_RESULTS_CHANGED]);
}

enum perf_outcome perf_outcome_of(const struct perf_counts *counts)
{
    const size_t in_both =
        counts->cases - counts->of[PERF_ONLY_BEFORE] - counts->of[PERF_ONLY_AFTER];
    if (counts->of[PERF_SLOWER] > 0)
        return PERF_HAS_SLOWER;
    if (counts->of[PERF_RESULTS_CHANGED] > 0)
        return PERF_HAS_OTHER_RESULTS;
    return 2 * compared(counts) < in_both || in_both == 0 ? PERF_TOO_FEW : PERF_WELL;
}

static bool is_bad(enum perf_verdict verdict)
{
    return verdict == PERF_SLOWER || verdict == PERF_RESULTS_CHANGED;
}

/* One case, as CI wants it. Names hold no character that Markdown or XML would take for its own
 * (perf_name_clean()). */
static void print_for_ci(FILE *file, enum perf_format format,
                         const struct perf_difference *difference)
{
    const char *const verdict = perf_verdict_name[difference->verdict];
    if (format == PERF_FORMAT_MARKDOWN)
        fprintf(file, "| %s | %.2f | %.2f | %+.1f %% | %.1f %% | %s%s%s |\n", difference->name,
                difference->before * 1e-6, difference->after * 1e-6, 100 * difference->change,
                100 * difference->noise, verdict, difference->why != NULL ? ": " : "",
                difference->why != NULL ? difference->why : "");
    else if (format == PERF_FORMAT_GITHUB && is_bad(difference->verdict))
        fprintf(file,
                "::error title=%s %s::%.2f, then %.2f million events/s: %+.1f %%, noise %.1f %%\n",
                difference->name, verdict, difference->before * 1e-6, difference->after * 1e-6,
                100 * difference->change, 100 * difference->noise);
    else if (format == PERF_FORMAT_JUNIT && is_bad(difference->verdict))
        fprintf(file,
                "<testcase classname=\"perf\" name=\"%s\"><failure message=\"%s: %+.1f %%, noise "
                "%.1f %%\"/></testcase>\n",
                difference->name, verdict, 100 * difference->change, 100 * difference->noise);
    else if (format == PERF_FORMAT_JUNIT && difference->verdict > PERF_SLOWER)
        fprintf(file,
                "<testcase classname=\"perf\" name=\"%s\"><skipped message=\"%s\"/></testcase>\n",
                difference->name, difference->why != NULL ? difference->why : verdict);
    else if (format == PERF_FORMAT_JUNIT)
        fprintf(file, "<testcase classname=\"perf\" name=\"%s\"/>\n", difference->name);
}

static void print_begin(FILE *file, enum perf_format format, const struct perf_run *before,
                        const struct perf_run *after, double drift,
                        const struct perf_counts *counts)
{
    if (format == PERF_FORMAT_TEXT)
        print_head(file, before, after, drift);
    else if (format == PERF_FORMAT_MARKDOWN)
        fprintf(file,
                "Throughput of commit %s against %s, in millions of events per second\n\n"
                "| case | before | after | change | noise | |\n|---|---|---|---|---|---|\n",
                after->commit, before->commit);
    else if (format == PERF_FORMAT_JUNIT)
        fprintf(file,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"cubewarp perf "
                "compare\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
                counts->cases, counts->of[PERF_SLOWER] + counts->of[PERF_RESULTS_CHANGED],
                counts->of[PERF_NOT_COMPARABLE] + counts->of[PERF_ONLY_BEFORE] +
                    counts->of[PERF_ONLY_AFTER]);
}

static void print_end(FILE *file, enum perf_format format, const struct perf_counts *counts)
{
    static const char *const begins[] = {"# ", "\n",
                                         "::notice title=cubewarp perf compare::", "<system-out>"};
    fputs(begins[format], file);
    print_summary(file, counts);
    fputs(format == PERF_FORMAT_JUNIT ? "</system-out>\n</testsuite>\n" : "\n", file);
}

const char *perf_format_name(size_t i)
{
    static const char *const names[] = {"text", "markdown", "github", "junit"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

struct perf_counts perf_compare_print(FILE *file, enum perf_format format,
                                      const struct perf_run *before, const struct perf_run *after)
{
    const double drift = perf_drift(before, after);
    const size_t most = before->case_count + after->case_count;
    struct perf_counts counts = {.cases = 0};
    const struct perf_case_run *b, *a;
    for (size_t i = 0; i < most; i++)
        if (pair_at(before, after, i, &b, &a)) {
            counts.of[perf_compare_case(b, a, drift).verdict]++;
            counts.cases++;
        }
    print_begin(file, format, before, after, drift, &counts);
    for (size_t i = 0; i < most; i++) {
        if (!pair_at(before, after, i, &b, &a))
            continue;
        const struct perf_difference difference = perf_compare_case(b, a, drift);
        if (format == PERF_FORMAT_TEXT)
            print_difference(file, &difference, b != NULL && a != NULL);
        else
            print_for_ci(file, format, &difference);
    }
    print_end(file, format, &counts);
    return counts;
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
