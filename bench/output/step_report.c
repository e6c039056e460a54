/*
 * step_report.c: the tables of a step: its time and what people quote of it; classes of ranks;
 * operations; the critical path (step_report.h).
 */
#include "bench/output/step_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/report.h"
#include "bench/output/result.h"
#include "bench/output/workload_table.h"

void step_report_free(struct step_report *report)
{
    if (report == NULL)
        return;
    step_critical_free(&report->critical);
    step_op_rows_free(&report->rows);
    step_classes_free(&report->classes);
    workload_meetings_free(&report->meetings);
    step_result_free(&report->result);
    workload_graph_free(&report->graph);
    free(report);
}

int step_report_make(struct step_report *report, const struct hw_config *hw, step_bound_of *bound,
                     void *arg, struct cw_error *error)
{
    const struct workload_graph *const graph = &report->graph;
    int code = workload_meetings_of(graph, &report->meetings, error);
    if (code == CW_OK)
        code = step_classes_of(graph, &report->result, &report->classes, error);
    if (code == CW_OK)
        code = step_op_rows_of(graph, &report->meetings, &report->result, bound, arg, &report->rows,
                               error);
    if (code == CW_OK)
        code =
            step_critical_of(graph, &report->meetings, &report->result, &report->critical, error);
    if (code == CW_OK) {
        report->fit = workload_fit_of(graph, hw);
        report->quotes = step_quotes_of(graph, &report->result, hw);
    }
    return code;
}

/* ---- figures --------------------------------------------------------------------------------- */

const char *step_report_name(const struct workload_graph *graph, uint32_t label, uint32_t set,
                             char *text, size_t size)
{
    if (label == WORKLOAD_NONE)
        snprintf(text, size, "launches");
    else if (set == WORKLOAD_NONE)
        snprintf(text, size, "%s", graph->labels[label]);
    else
        snprintf(text, size, "%s of %s", graph->labels[label], graph->sets[set].name);
    return text;
}

const char *step_purpose_name(enum workload_purpose purpose)
{
    static const char *const names[WORKLOAD_PURPOSES] = {
        "other", "forward", "backward", "recompute", "update", "prefill", "decode"};
    return names[purpose];
}

const char *step_row_name(const struct step_report *report, const struct step_op_row *row,
                          char *text, size_t size)
{
    bool is_alone = true;
    (void)step_report_name(&report->graph, row->label, row->set, text, size);
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct step_op_row *const other = &report->rows.rows[i];
        is_alone &=
            other->label != row->label || other->set != row->set || other->purpose == row->purpose;
    }
    const size_t used = strlen(text);
    if (!is_alone && used < size)
        snprintf(text + used, size - used, ", %s",
                 step_purpose_name((enum workload_purpose)row->purpose));
    return text;
}

double step_bus_factor(const struct step_op_row *row)
{
    return row->kind == WORKLOAD_COLLECTIVE && row->ranks >= 2
               ? result_bus_factor((enum ccl_collective)row->collective, row->ranks)
               : 1;
}

double step_row_algbw_gbs(const struct step_op_row *row)
{
    return row->total_ps > 0 ? row->bytes / row->total_ps * 1000 : 0;
}

double step_row_busbw_gbs(const struct step_op_row *row)
{
    return step_row_algbw_gbs(row) * step_bus_factor(row);
}

static double share(int64_t ps, const struct step_report *report)
{
    return report->result.step_ps > 0 ? 100 * (double)ps / (double)report->result.step_ps : 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *modes_text(const struct step_modes *modes)
{
    if (modes->free_launches && modes->free_communication)
        return "; launches and communication are free";
    if (modes->free_launches)
        return "; launches are free";
    return modes->free_communication ? "; communication is free" : "";
}

static void print_quotes(FILE *file, const struct step_report *report)
{
    const struct step_quotes *const quotes = &report->quotes;
    char us[REPORT_NUMBER_BYTES];
    fprintf(file, "# Step              : %s us%s\n", report_us(report->result.step_ps, us),
            modes_text(&report->modes));
    if (quotes->tokens_per_s > 0)
        fprintf(file, "# Tokens/s          : %.6g\n", quotes->tokens_per_s);
    if (quotes->utilisation > 0)
        fprintf(file, "# Model FLOPs       : %.4g TFLOP/s per rank, %.2f %% of the peak of %.4g\n",
                quotes->flops_per_s / 1e12, 100 * quotes->utilisation,
                quotes->peak_flops_per_s / 1e12);
    if (quotes->first_token_ps > 0)
        fprintf(file, "# First token       : %.6f us, then %.6f us per token\n",
                quotes->first_token_ps / 1e6, quotes->token_ps / 1e6);
    workload_fit_print(file, "# ", &report->graph, &report->fit);
    fprintf(file, "# Starts and ends   : hash %016" PRIx64 "\n",
            step_times_hash(&report->result, report->graph.rank_count));
    if (report->result.verified)
        fprintf(file, "# Wrong values      : %" PRIu64 "%s\n", report->result.wrong,
                report->result.wrong == 0 ? " OK" : "");
}

/* A column of the classes: a set that some class spends time on. */
static bool has_time(const struct step_classes *classes, size_t offset, uint32_t set)
{
    for (uint32_t i = 0; i < classes->count; i++) {
        const int64_t *const *const of_sets =
            (const int64_t *const *)(const void *)((const char *)&classes->classes[i] + offset);
        if ((*of_sets)[set] > 0)
            return true;
    }
    return false;
}
#define OF_SETS(member) offsetof(struct step_class, member)

enum { COLUMN = 16 };

static void print_us(FILE *file, int64_t ps)
{
    char us[REPORT_NUMBER_BYTES];
    fprintf(file, " %*s", COLUMN, report_us(ps, us));
}

static void print_set_heads(FILE *file, const struct step_report *report, size_t offset,
                            const char *what)
{
    char head[64];
    for (uint32_t s = 0; s < report->graph.set_count; s++)
        if (has_time(&report->classes, offset, s)) {
            snprintf(head, sizeof head, "%s %s", what, report->graph.sets[s].name);
            fprintf(file, " %*s", COLUMN, head);
        }
}

static void print_set_times(FILE *file, const struct step_report *report, size_t offset,
                            const int64_t *of_sets)
{
    for (uint32_t s = 0; s < report->graph.set_count; s++)
        if (has_time(&report->classes, offset, s))
            print_us(file, of_sets[s]);
}

static void print_classes(FILE *file, const struct step_report *report)
{
    fprintf(file,
            "#\n# where the time goes: means over the ranks of a class, in us; hidden: under "
            "computations, in no sum\n# %-22s %6s %*s",
            "class", "ranks", COLUMN, "computing");
    print_set_heads(file, report, OF_SETS(exposed_ps), "exposed");
    print_set_heads(file, report, OF_SETS(waiting_ps), "waiting");
    fprintf(file, " %*s %*s", COLUMN, "bubble", COLUMN, "= step");
    print_set_heads(file, report, OF_SETS(hidden_ps), "hidden");
    fputc('\n', file);
    for (uint32_t i = 0; i < report->classes.count; i++) {
        const struct step_class *const one = &report->classes.classes[i];
        fprintf(file, "  %-22s %6" PRIu32, report->graph.programs[one->program].name, one->ranks);
        print_us(file, step_class_compute(one));
        print_set_times(file, report, OF_SETS(exposed_ps), one->exposed_ps);
        print_set_times(file, report, OF_SETS(waiting_ps), one->waiting_ps);
        print_us(file, one->bubble_ps);
        print_us(file, report->result.step_ps);
        print_set_times(file, report, OF_SETS(hidden_ps), one->hidden_ps);
        fputc('\n', file);
    }
}

static void print_mean(FILE *file, double total_ps, uint64_t count)
{
    fprintf(file, " %14.6f", total_ps / (double)count / 1e6);
}

static void print_computations(FILE *file, const struct step_report *report)
{
    bool begun = false;
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct step_op_row *const row = &report->rows.rows[i];
        char name[128];
        if (row->set != WORKLOAD_NONE)
            continue;
        if (!begun)
            fprintf(file, "#\n# %-32s %10s %14s %12s %14s %12s\n", "computation", "count", "GFLOP",
                    "TFLOP/s", "MB", "time (us)");
        begun = true;
        fprintf(file, "  %-32s %10" PRIu64 " %14.4f %12.4f %14.4f",
                step_row_name(report, row, name, sizeof name), row->count,
                row->flops / (double)row->count / 1e9,
                row->total_ps > 0 ? row->flops / row->total_ps : 0,
                row->bytes / (double)row->count / 1e6);
        print_mean(file, row->total_ps, row->count);
        fputc('\n', file);
    }
}

static void print_calls(FILE *file, const struct step_report *report)
{
    bool begun = false;
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct step_op_row *const row = &report->rows.rows[i];
        char name[128];
        if (row->set == WORKLOAD_NONE)
            continue;
        if (!begun)
            fprintf(file, "#\n# %-32s %6s %10s %14s %14s %14s %10s %10s %14s %6s\n",
                    "communication", "ranks", "count", "bytes", "time (us)", "waited (us)", "algbw",
                    "busbw", "bound (us)", "eff");
        begun = true;
        fprintf(file, "  %-32s %6" PRIu32 " %10" PRIu64 " %14.0f",
                step_row_name(report, row, name, sizeof name), row->ranks, row->count,
                row->bytes / (double)row->count);
        print_mean(file, row->total_ps, row->count);
        print_mean(file, row->wait_ps, row->count);
        fprintf(file, " %10.3f %10.3f", step_row_algbw_gbs(row), step_row_busbw_gbs(row));
        print_mean(file, row->bound_ps, row->count);
        fprintf(file, " %6.3f\n", row->total_ps > 0 ? row->bound_ps / row->total_ps : 0);
    }
}

static void print_critical(FILE *file, const struct step_report *report)
{
    enum { SHOWN = 8 };
    const struct step_critical *const critical = &report->critical;
    char name[128];
    fputs("#\n# critical path:", file);
    for (size_t i = 0; i < critical->part_count && i < SHOWN; i++)
        fprintf(file, "%s %.1f %% %s", i > 0 ? "," : "", share(critical->parts[i].ps, report),
                step_report_name(&report->graph, critical->parts[i].label, critical->parts[i].set,
                                 name, sizeof name));
    if (critical->part_count > SHOWN)
        fprintf(file, ", and %zu more", critical->part_count - SHOWN);
    fputc('\n', file);
    for (size_t i = 0; i < critical->part_count && i < 2; i++)
        fprintf(file, "%s %s%s", i == 0 ? "# limited by" : "; next",
                step_report_name(&report->graph, critical->parts[i].label, critical->parts[i].set,
                                 name, sizeof name),
                i + 1 == critical->part_count ? "\n"
                : i == 1                      ? "\n"
                                              : "");
}

void step_report_table(FILE *file, const struct step_report *report)
{
    uint64_t ops = 0;
    for (uint32_t rank = 0; rank < report->graph.rank_count; rank++)
        ops += report->graph.programs[report->graph.program_of[rank]].op_count;
    fprintf(file, "# %s: %" PRIu32 " ranks, %" PRIu32 " class%s, %" PRIu64 " operations\n",
            report->graph.name != NULL ? report->graph.name : "step", report->graph.rank_count,
            report->classes.count, report->classes.count == 1 ? "" : "es", ops);
    print_quotes(file, report);
    print_classes(file, report);
    print_computations(file, report);
    print_calls(file, report);
    print_critical(file, report);
}
