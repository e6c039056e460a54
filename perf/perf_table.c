/*
 * perf_table.c: laying out the table, and holding figures against goals (perf_table.h).
 */
#include "perf/perf_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "perf/sets.h"

/* ---- the machine ----------------------------------------------------------------------------- */

struct perf_calibration perf_calibration_of(const struct perf_run *run)
{
    size_t room = 0, count = 0;
    for (size_t i = 0; i < run->case_count; i++)
        room += run->cases[i].sample_count;
    double *const figures = perf_figures_alloc(3 * room);
    for (size_t i = 0; i < run->case_count; i++)
        for (size_t k = 0; k < run->cases[i].sample_count; k++, count++) {
            const struct perf_calibration *const after = &run->cases[i].samples[k].after;
            figures[count] = after->loop_ns;
            figures[room + count] = after->gain;
            figures[2 * room + count] = after->line_ns;
        }
    const struct perf_calibration calibration = {.loop_ns = perf_median(figures, room),
                                                 .gain = perf_median(figures + room, room),
                                                 .line_ns = perf_median(figures + 2 * room, room)};
    free(figures);
    return calibration;
}

enum perf_state perf_state_of_run(const struct perf_run *run)
{
    enum perf_state state = PERF_ONE_CORE;
    for (size_t i = 0; i < run->case_count; i++) {
        const enum perf_state other = perf_summary_of(&run->cases[i], PERF_MIXED).state;
        state = i == 0 || other == state ? other : PERF_MIXED;
    }
    return state;
}

/* ---- goals ----------------------------------------------------------------------------------- */

/* The remarks at the end of a line. */
struct remarks {
    char text[PERF_REMARKS_BYTES];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void perf_table_append(struct remarks *remarks,
                                                                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(remarks->text + remarks->used,
                                 sizeof remarks->text - remarks->used, format, arguments);
    va_end(arguments);
    remarks->used += (size_t)length;
    if (remarks->used >= sizeof remarks->text)
        remarks->used = sizeof remarks->text - 1;
}

/* Another remark begins. */
static struct remarks *next(struct remarks *remarks)
{
    if (remarks->used > 0)
        perf_table_append(remarks, "; ");
    return remarks;
}

static const char *met(bool is) { return is ? "met" : "NOT MET"; }

/* The rounds in one state. `mode`: the mode of the other case in the ratio; NULL: sequential. */
static void judge_ratio_in(struct remarks *remarks, const struct perf_spread *ratio, double least,
                           const char *mode, const char *state)
{
    if (ratio->count == 0)
        return;
    perf_table_append(next(remarks), "goal %.2f x", least);
    if (mode != NULL)
        perf_table_append(remarks, " %.*s", (int)strcspn(mode, "/"), mode);
    if (state != NULL)
        perf_table_append(remarks, " %s", state);
    perf_table_append(remarks, ": %.2f", ratio->median);
    if (state != NULL)
        perf_table_append(remarks, " in %zu", ratio->count);
    perf_table_append(remarks, " %s", met(ratio->median >= least));
}

/* Ratios on several threads are held, scaled, against the goal of the state they ran in. */
static void judge_ratio(struct remarks *remarks, const struct perf_run *run,
                        const struct perf_case_run *measured, const struct perf_goal *goal)
{
    char reference[PERF_NAME_BYTES];
    perf_reference_of(measured->name, reference);
    const struct perf_case_run *const to =
        perf_run_find(run, goal->to != NULL ? goal->to : reference);
    const char *const mode = goal->to != NULL ? strchr(goal->to, '/') + 1 : NULL;
    struct perf_spread ratio;
    if (to == NULL)
        return;
    if (goal->ratio_near == goal->ratio_far) {
        ratio = perf_ratio_of(measured, to, true, PERF_MIXED);
        judge_ratio_in(remarks, &ratio, goal->ratio_near, mode, NULL);
        return;
    }
    ratio = perf_ratio_of(measured, to, true, PERF_NEAR);
    judge_ratio_in(remarks, &ratio, goal->ratio_near, mode, "near");
    ratio = perf_ratio_of(measured, to, true, PERF_FAR);
    judge_ratio_in(remarks, &ratio, goal->ratio_far, mode, "far");
}

static void perf_table_judge(struct remarks *remarks, const struct perf_run *run,
                             const struct perf_case_run *measured,
                             const struct perf_summary *summary)
{
    const struct perf_goal *goal;
    for (size_t i = 0; (goal = perf_goal_of(measured->name, i)) != NULL; i++) {
        if (goal->events_per_s > 0) /* of one machine: no verdict on another */
            perf_table_append(next(remarks), "%.2f x the %.0f of perf/README.md's machine",
                              summary->events_per_s.median / goal->events_per_s,
                              goal->events_per_s * 1e-6);
        if (goal->ratio_near > 0)
            judge_ratio(remarks, run, measured, goal);
        if (goal->rss_bytes_max > 0)
            perf_table_append(next(remarks), "goal %.0f MiB: %s",
                              (double)goal->rss_bytes_max / 1048576,
                              met(summary->rss_bytes <= goal->rss_bytes_max));
        if (goal->efficiency > 0 && summary->efficiency < goal->efficiency)
            perf_table_append(next(remarks), "goal efficiency %.2f: NOT MET", goal->efficiency);
    }
}

bool perf_table_remarks(const struct perf_run *run, const struct perf_case_run *measured,
                        char text[PERF_REMARKS_BYTES])
{
    const struct perf_summary summary = perf_summary_of(measured, PERF_MIXED);
    struct remarks remarks = {.used = 0};
    perf_table_judge(&remarks, run, measured, &summary);
    if (summary.disturbed > 0)
        perf_table_append(next(&remarks), "%u of %zu rounds disturbed", (unsigned)summary.disturbed,
                          measured->sample_count);
    memcpy(text, remarks.text, sizeof remarks.text);
    return strstr(text, met(false)) == NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_ratio(FILE *file, const struct perf_run *run,
                        const struct perf_case_run *measured)
{
    char reference[PERF_NAME_BYTES];
    perf_reference_of(measured->name, reference);
    const struct perf_case_run *const to = perf_run_find(run, reference);
    struct perf_spread ratio = {.count = 0};
    if (to != NULL && to != measured)
        ratio = perf_ratio_of(measured, to, false, PERF_MIXED);
    if (ratio.count == 0) {
        fprintf(file, " %6s %6s", "-", "-");
        return;
    }
    fprintf(file, " %6.2f", ratio.median);
    if (measured->threads > 1)
        fprintf(file, " %6.2f", perf_ratio_of(measured, to, true, PERF_MIXED).median);
    else
        fprintf(file, " %6s", "-");
}

static void print_case(FILE *file, const struct perf_run *run, const struct perf_case_run *measured)
{
    const struct perf_summary summary = perf_summary_of(measured, PERF_MIXED);
    const struct perf_spread *const rate = &summary.events_per_s;
    char remarks[PERF_REMARKS_BYTES];
    (void)perf_table_remarks(run, measured, remarks);
    fprintf(file, "%-28s %8.2f %8.2f %8.2f", measured->name, rate->median * 1e-6,
            rate->least * 1e-6, rate->most * 1e-6);
    print_ratio(file, run, measured);
    fprintf(file, " %6.1f %8.1f  %-6s %s\n", 100 * summary.efficiency,
            (double)summary.rss_bytes / 1048576, perf_state_name[summary.state], remarks);
}

void perf_table_print(FILE *file, const struct perf_run *run)
{
    const struct perf_calibration calibration = perf_calibration_of(run);
    const size_t rounds = run->case_count > 0 ? run->cases[0].sample_count : 0;
    uint32_t disturbed = 0, repeats = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct perf_summary summary = perf_summary_of(&run->cases[i], PERF_MIXED);
        disturbed += summary.disturbed;
        repeats += summary.repeats;
    }
    fprintf(file, "# set %s, %zu rounds in alternation, commit %s, %s\n", run->set, rounds,
            run->commit, run->started);
    fprintf(file, "# %s, %u cores, %s\n", run->machine.cpu, (unsigned)run->machine.cores,
            run->machine.kernel);
    fprintf(file,
            "# medians of the calibrations: bare loop %.3f ns a round; two at once gain %.2f; a "
            "cache line crosses in %.0f ns (%s)\n",
            calibration.loop_ns, calibration.gain, calibration.line_ns,
            perf_state_name[perf_state_of_run(run)]);
    fprintf(file, "# disturbed: %u repeated, %u left\n", (unsigned)repeats, (unsigned)disturbed);
    fprintf(file,
            "# committed events in millions per second; /seq: ratio to sequential, scaled: if "
            "two bare loops gained 2\n");
    fprintf(file, "%-28s %8s %8s %8s %6s %6s %6s %8s  %s\n", "# case", "median", "least", "most",
            "/seq", "scaled", "eff(%)", "RSS(MiB)", "line");
    for (size_t i = 0; i < run->case_count; i++)
        print_case(file, run, &run->cases[i]);
}
