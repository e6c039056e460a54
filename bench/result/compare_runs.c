/*
 * compare_runs.c: prints what perf/perf_compare.h found (compare_runs.h). All forms but JSON are
 * one walk over the cases (bench/output/comparison_page.h).
 */
#include "bench/result/compare_runs.h"

#include <math.h>
#include <string.h>

#include "bench/output/report_json.h"
#include "perf/perf_table.h"

enum { CELL_BYTES = COMPARISON_CELL_BYTES, MESSAGE_BYTES = 200 };

static bool has_figures(const struct perf_difference *one)
{
    return one->verdict != PERF_ONLY_BEFORE && one->verdict != PERF_ONLY_AFTER;
}

static enum comparison_verdict verdict_of(const struct perf_difference *one)
{
    switch (one->verdict) {
    case PERF_SAME:
    case PERF_FASTER:
        return COMPARISON_GOOD;
    case PERF_SLOWER:
    case PERF_RESULTS_CHANGED:
        return COMPARISON_BAD;
    default:
        return COMPARISON_SKIPPED;
    }
}

/* ---- tables and CI --------------------------------------------------------------------------- */

static void put_run(const struct comparison_page *page, const char *label,
                    const struct perf_run *run)
{
    const struct perf_calibration calibration = perf_calibration_of(run);
    comparison_page_say(page,
                        "%s: %s, commit %s, set %s: bare loop %.3f ns, two gain %.2f, cache line "
                        "%.0f ns (%s)",
                        label, run->started, run->commit, run->set, calibration.loop_ns,
                        calibration.gain, calibration.line_ns,
                        perf_state_name[perf_state_of_run(run)]);
}

static void put_warnings(const struct comparison_page *page, const struct perf_run *before,
                         const struct perf_run *after)
{
    const double b = perf_calibration_of(before).loop_ns, a = perf_calibration_of(after).loop_ns;
    const char *const machine = perf_machines_differ(before, after);
    if (machine != NULL)
        comparison_page_say(page, "warning: %s differs", machine);
    if (strcmp(before->machine.kernel, after->machine.kernel) != 0)
        comparison_page_say(page, "warning: the kernel differs: %s, then %s",
                            before->machine.kernel, after->machine.kernel);
    if (b > 0 && a > 0 && fabs(a - b) > PERF_STEADY * fmax(a, b))
        comparison_page_say(page, "warning: a bare loop ran at %.2f x its earlier speed", b / a);
}

static void put_row(const struct comparison_page *page, const struct perf_difference *one)
{
    char before[CELL_BYTES] = "-", after[CELL_BYTES] = "-", change[CELL_BYTES] = "-",
         noise[CELL_BYTES] = "-", verdict[CELL_BYTES];
    if (has_figures(one)) {
        snprintf(before, sizeof before, "%.2f", one->before * 1e-6);
        snprintf(after, sizeof after, "%.2f", one->after * 1e-6);
        snprintf(change, sizeof change, "%+.1f", 100 * one->change);
        snprintf(noise, sizeof noise, "%.1f", 100 * one->noise);
    }
    snprintf(verdict, sizeof verdict, "%s%s%s", perf_verdict_name[one->verdict],
             one->why != NULL ? ": " : "", one->why != NULL ? one->why : "");
    comparison_page_row(page, false,
                        (const char *const[]){one->name, before, after, change, noise, verdict});
}

static void put_case(const struct comparison_page *page, const struct perf_difference *one)
{
    char message[MESSAGE_BYTES];
    const char *const verdict = perf_verdict_name[one->verdict];
    if (verdict_of(one) == COMPARISON_SKIPPED)
        snprintf(message, sizeof message, "%s", one->why != NULL ? one->why : verdict);
    else
        snprintf(message, sizeof message,
                 "%.2f, then %.2f million events/s: %+.1f %%, noise %.1f %%", one->before * 1e-6,
                 one->after * 1e-6, 100 * one->change, 100 * one->noise);
    comparison_page_case(page, one->name, verdict_of(one), verdict, message);
}

/* A sentence that begins with the worst. */
static void put_summary(const struct comparison_page *page, const struct perf_counts *counts)
{
    char worst[CELL_BYTES] = "nothing became slower";
    if (counts->of[PERF_SLOWER] > 0)
        snprintf(worst, sizeof worst, "slower: %zu", counts->of[PERF_SLOWER]);
    comparison_page_end(page,
                        "%s; compared %zu of %zu cases, faster %zu, not comparable %zu, results "
                        "changed %zu",
                        worst, perf_compared(counts), counts->cases, counts->of[PERF_FASTER],
                        counts->of[PERF_NOT_COMPARABLE], counts->of[PERF_RESULTS_CHANGED]);
}

static void put_page(FILE *file, enum comparison_format format, const struct perf_run *before,
                     const struct perf_run *after, const struct perf_comparison *comparison)
{
    struct comparison_page page = {.file = file, .format = format, .command = "perf compare"};
    size_t counts[COMPARISON_VERDICTS] = {0};
    for (size_t i = 0; i < comparison->counts.cases; i++)
        counts[verdict_of(&comparison->cases[i])]++;
    comparison_page_begin(&page, counts);
    put_run(&page, "before", before);
    put_run(&page, "after", after);
    put_warnings(&page, before, after);
    comparison_page_say(&page,
                        "figures that do not depend on the engine differ by %.1f %%: part of each "
                        "case's noise",
                        100 * comparison->drift);
    comparison_page_head(&page, 6, (const int[]){-28, 11, 11, 9, 8, -7},
                         (const char *const[]){"case", "before(M/s)", "after(M/s)", "change(%)",
                                               "noise(%)", "verdict"});
    for (size_t i = 0; i < comparison->counts.cases; i++)
        put_row(&page, &comparison->cases[i]);
    comparison_page_end_table(&page);
    for (size_t i = 0; i < comparison->counts.cases; i++)
        put_case(&page, &comparison->cases[i]);
    put_summary(&page, &comparison->counts);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *run_json(const struct perf_run *run)
{
    const struct perf_calibration calibration = perf_calibration_of(run);
    return json_pack("{s:o, s:o, s:o, s:f, s:f, s:f, s:s}", "started", report_text(run->started),
                     "commit", report_text(run->commit), "set", report_text(run->set), "loop_ns",
                     calibration.loop_ns, "gain", calibration.gain, "line_ns", calibration.line_ns,
                     "state", perf_state_name[perf_state_of_run(run)]);
}

static json_t *figure_or_null(const struct perf_difference *one, double figure)
{
    return has_figures(one) && isfinite(figure) ? json_real(figure) : json_null();
}

static json_t *case_json(const struct perf_difference *one)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:s?}", "name", report_text(one->name),
                     "verdict", perf_verdict_name[one->verdict], "events_per_s_before",
                     figure_or_null(one, one->before), "events_per_s_after",
                     figure_or_null(one, one->after), "change_percent",
                     figure_or_null(one, 100 * one->change), "noise_percent",
                     figure_or_null(one, 100 * one->noise), "why", one->why);
}

static int put_json(FILE *file, const struct perf_run *before, const struct perf_run *after,
                    const struct perf_comparison *comparison, struct cw_error *error)
{
    const struct perf_counts *const counts = &comparison->counts;
    json_t *cases = json_array();
    for (size_t i = 0; i < counts->cases; i++)
        report_append(&cases, case_json(&comparison->cases[i]));
    json_t *const object =
        json_pack("{s:s, s:o, s:o, s:f, s:I, s:I, s:I, s:o}", "schema", "cubewarp.perf_compare/1",
                  "before", run_json(before), "after", run_json(after), "drift_percent",
                  100 * comparison->drift, "compared", (json_int_t)perf_compared(counts), "slower",
                  (json_int_t)counts->of[PERF_SLOWER], "results_changed",
                  (json_int_t)counts->of[PERF_RESULTS_CHANGED], "cases", cases);
    return report_json_object(file, object, 15, error);
}

int compare_runs_print(FILE *file, enum comparison_format format, const struct perf_run *before,
                       const struct perf_run *after, const struct perf_comparison *comparison,
                       struct cw_error *error)
{
    if (format == COMPARISON_JSON)
        return put_json(file, before, after, comparison, error);
    put_page(file, format, before, after, comparison);
    return CW_OK;
}
