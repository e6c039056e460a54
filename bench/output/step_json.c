/*
 * step_json.c: the member `step` of a result's JSON (step_report.h, bench/FORMATS.md, "A step").
 */
#include <jansson.h>
#include <stdlib.h>

#include "bench/output/report_json.h"
#include "bench/output/step_report.h"

/* Operations that the chart of one pipeline has room for, over all its ranks. */
enum { CHART_OPS_MAX = 40000 };

static json_t *ns(int64_t ps) { return json_real((double)ps / 1000); }
static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }
static json_t *known(double value) { return value > 0 ? json_real(value) : json_null(); }

/* Of each set that has a time. */
static json_t *sets_json(const struct workload_graph *graph, const int64_t *of_sets)
{
    json_t *object = json_object();
    for (uint32_t s = 0; s < graph->set_count; s++)
        if (of_sets[s] > 0)
            report_put(&object, graph->sets[s].name, ns(of_sets[s]));
    return object;
}

static json_t *memory_json(const struct workload_memory *memory)
{
    json_t *object = json_object();
    report_put(&object, "weights", number(memory->weights));
    report_put(&object, "gradients", number(memory->gradients));
    report_put(&object, "optimizer", number(memory->optimizer));
    report_put(&object, "activations", number(memory->activations));
    report_put(&object, "cache", number(memory->cache));
    report_put(&object, "other", number(memory->other));
    return object;
}

static json_t *classes_json(const struct step_report *report)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < report->classes.count; i++) {
        const struct step_class *const one = &report->classes.classes[i];
        json_t *object = json_object(), *computing = json_object();
        for (size_t p = 0; p < WORKLOAD_PURPOSES; p++)
            if (one->compute_ps[p] > 0)
                report_put(&computing, step_purpose_name((enum workload_purpose)p),
                           ns(one->compute_ps[p]));
        report_put(&object, "class", report_text(report->graph.programs[one->program].name));
        report_put(&object, "ranks", number(one->ranks));
        report_put(&object, "compute_ns", ns(step_class_compute(one)));
        report_put(&object, "computing_ns", computing);
        report_put(&object, "exposed_ns", sets_json(&report->graph, one->exposed_ps));
        report_put(&object, "waiting_ns", sets_json(&report->graph, one->waiting_ps));
        report_put(&object, "bubble_ns", ns(one->bubble_ps));
        report_put(&object, "hidden_ns", sets_json(&report->graph, one->hidden_ps));
        if (report->graph.memory != NULL && report->graph.memory[one->program].known)
            report_put(&object, "memory_bytes", memory_json(&report->graph.memory[one->program]));
        report_append(&list, object);
    }
    return list;
}

/* Over all ranks; without their sets. */
static json_t *means_json(const struct step_report *report)
{
    const uint32_t sets = report->graph.set_count;
    double compute = 0, exposed = 0, waiting = 0, bubble = 0, hidden = 0;
    for (uint32_t i = 0; i < report->classes.count; i++) {
        const struct step_class *const one = &report->classes.classes[i];
        const double weight = (double)one->ranks / report->graph.rank_count / 1000;
        compute += weight * (double)step_class_compute(one);
        exposed += weight * (double)step_class_sum(one->exposed_ps, sets);
        waiting += weight * (double)step_class_sum(one->waiting_ps, sets);
        bubble += weight * (double)one->bubble_ps;
        hidden += weight * (double)step_class_sum(one->hidden_ps, sets);
    }
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "compute_ns", compute, "exposed_ns", exposed,
                     "waiting_ns", waiting, "bubble_ns", bubble, "hidden_ns", hidden);
}

static const char *kind_of(const struct step_op_row *row)
{
    static const char *const kinds[WORKLOAD_OP_KINDS] = {
        [WORKLOAD_NOTHING] = "nothing", [WORKLOAD_ROOFLINE] = "roofline",
        [WORKLOAD_PRODUCT] = "product", [WORKLOAD_TIME] = "time",
        [WORKLOAD_SEND] = "message",    [WORKLOAD_RECV] = "message"};
    return row->kind == WORKLOAD_COLLECTIVE
               ? ccl_collective_name((enum ccl_collective)row->collective)
               : kinds[row->kind];
}

static json_t *operations_json(const struct step_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct step_op_row *const row = &report->rows.rows[i];
        const double count = (double)row->count;
        json_t *object = json_object();
        report_put(&object, "label", report_text(report->graph.labels[row->label]));
        report_put(&object, "kind", json_string(kind_of(row)));
        report_put(&object, "purpose",
                   json_string(step_purpose_name((enum workload_purpose)row->purpose)));
        report_put(&object, "count", number(row->count));
        report_put(&object, "bytes", json_real(row->bytes / count));
        report_put(&object, "time_ns", json_real(row->total_ps / count / 1000));
        report_put(&object, "least_ns", ns(row->least_ps));
        report_put(&object, "most_ns", ns(row->most_ps));
        if (row->set == WORKLOAD_NONE) {
            report_put(&object, "flops", json_real(row->flops / count));
            report_put(&object, "tflops_per_s",
                       row->total_ps > 0 ? json_real(row->flops / row->total_ps) : json_null());
        } else {
            report_put(&object, "set", report_text(report->graph.sets[row->set].name));
            report_put(&object, "ranks", number(row->ranks));
            report_put(&object, "waited_ns", json_real(row->wait_ps / count / 1000));
            report_put(&object, "algbw_gbs", known(step_row_algbw_gbs(row)));
            report_put(&object, "busbw_gbs", known(step_row_busbw_gbs(row)));
            report_put(&object, "bound_ns", known(row->bound_ps / count / 1000));
            report_put(&object, "efficiency",
                       row->total_ps > 0 ? known(row->bound_ps / row->total_ps) : json_null());
        }
        report_append(&list, object);
    }
    return list;
}

static json_t *name_json(const struct step_report *report, uint32_t label, uint32_t set)
{
    char name[256];
    return report_text(step_report_name(&report->graph, label, set, name, sizeof name));
}

static json_t *critical_json(const struct step_report *report)
{
    const struct step_critical *const critical = &report->critical;
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < critical->part_count; i++) {
        json_t *part = json_object();
        report_put(&part, "name",
                   name_json(report, critical->parts[i].label, critical->parts[i].set));
        report_put(&part, "time_ns", ns(critical->parts[i].ps));
        report_append(&list, part);
    }
    report_put(&object, "limited_by",
               critical->part_count > 0
                   ? name_json(report, critical->parts[0].label, critical->parts[0].set)
                   : json_null());
    report_put(&object, "next",
               critical->part_count > 1
                   ? name_json(report, critical->parts[1].label, critical->parts[1].set)
                   : json_null());
    report_put(&object, "parts", list);
    return object;
}

/* ---- the chart of one pipeline --------------------------------------------------------------- */

/* The set whose groups exchange most messages; WORKLOAD_NONE: no messages. */
static uint32_t pipeline_set(const struct workload_graph *graph)
{
    uint32_t best = WORKLOAD_NONE;
    uint64_t most = 0;
    for (uint32_t s = 0; s < graph->set_count; s++) {
        uint64_t messages = 0;
        for (uint32_t p = 0; p < graph->program_count; p++)
            for (uint32_t i = 0; i < graph->programs[p].op_count; i++)
                messages += graph->programs[p].ops[i].kind == WORKLOAD_SEND &&
                            graph->programs[p].ops[i].set == s;
        if (messages > most) {
            most = messages;
            best = s;
        }
    }
    return best;
}

/* The i-th rank of the chart: of rank 0's pipeline, or the first of each class. WORKLOAD_NONE:
 * there is none. */
static uint32_t chart_rank(const struct step_report *report, uint32_t pipeline, uint32_t i)
{
    const struct workload_graph *const graph = &report->graph;
    if (pipeline != WORKLOAD_NONE && graph->sets[pipeline].group_of[0] != WORKLOAD_NONE) {
        const struct workload_set *const set = &graph->sets[pipeline];
        const uint32_t first = set->first[set->group_of[0]];
        return first + i < set->first[set->group_of[0] + 1] ? set->ranks[first + i] : WORKLOAD_NONE;
    }
    if (i >= report->classes.count)
        return WORKLOAD_NONE;
    uint32_t rank = 0;
    while (graph->program_of[rank] != report->classes.classes[i].program)
        rank++;
    return rank;
}

/* [start, end, label, purpose or -1 - set, microbatch, met] of each operation that takes time. */
static json_t *spans_json(const struct step_report *report, uint32_t rank, size_t *left)
{
    const struct workload_program *const p =
        &report->graph.programs[report->graph.program_of[rank]];
    const struct step_span *const spans = step_spans_of(&report->result, rank);
    json_t *list = json_array();
    for (uint32_t i = 0; i<p->op_count && * left> 0; i++) {
        const struct workload_op *const op = &p->ops[i];
        if (spans[i].end_ps <= spans[i].start_ps || op->kind == WORKLOAD_NOTHING)
            continue;
        json_t *one = json_array();
        report_append(&one, ns(spans[i].start_ps));
        report_append(&one, ns(spans[i].end_ps));
        report_append(&one, number(op->label));
        report_append(&one,
                      json_integer(workload_meets(op) ? -1 - (json_int_t)op->set : op->purpose));
        report_append(&one, json_integer(op->microbatch));
        report_append(&one, ns(spans[i].met_ps));
        report_append(&list, one);
        --*left;
    }
    return list;
}

static json_t *chart_json(const struct step_report *report)
{
    const struct workload_graph *const graph = &report->graph;
    const uint32_t pipeline = pipeline_set(graph);
    size_t left = CHART_OPS_MAX;
    json_t *object = json_object(), *labels = json_array(), *sets = json_array(),
           *ranks = json_array();
    for (uint32_t i = 0; i < graph->label_count; i++)
        report_append(&labels, report_text(graph->labels[i]));
    for (uint32_t i = 0; i < graph->set_count; i++)
        report_append(&sets, report_text(graph->sets[i].name));
    for (uint32_t i = 0, rank;
         left > 0 && (rank = chart_rank(report, pipeline, i)) != WORKLOAD_NONE; i++) {
        json_t *one = json_object();
        report_put(&one, "rank", number(rank));
        report_put(&one, "class", report_text(graph->programs[graph->program_of[rank]].name));
        report_put(&one, "spans", spans_json(report, rank, &left));
        report_append(&ranks, one);
    }
    report_put(&object, "labels", labels);
    report_put(&object, "sets", sets);
    report_put(&object, "ranks", ranks);
    report_put(&object, "whole", json_boolean(left > 0));
    return object;
}

/* ---- all ------------------------------------------------------------------------------------- */

static json_t *modes_json(const struct step_modes *modes)
{
    json_t *object = json_object();
    report_put(&object, "concurrency", json_string(modes->one_at_a_time ? "one" : "free"));
    report_put(&object, "launch_order",
               json_string(modes->in_program_order ? "implicit" : "program"));
    report_put(&object, "launches", json_string(modes->free_launches ? "free" : "simulated"));
    report_put(&object, "communication",
               json_string(modes->free_communication ? "free" : "simulated"));
    return object;
}

json_t *step_report_json(const struct step_report *report)
{
    const struct step_quotes *const quotes = &report->quotes;
    const struct workload_fit *const fit = &report->fit;
    json_t *object = json_object();
    report_put(&object, "name",
               report->graph.name != NULL ? report_text(report->graph.name) : json_null());
    report_put(&object, "ranks", number(report->graph.rank_count));
    report_put(&object, "modes", modes_json(&report->modes));
    report_put(&object, "step_ns", ns(report->result.step_ps));
    report_put(
        &object, "times_hash",
        report_hash_or_null(true, step_times_hash(&report->result, report->graph.rank_count)));
    report_put(&object, "tokens_per_s", known(quotes->tokens_per_s));
    report_put(&object, "flops_per_s", known(quotes->flops_per_s));
    report_put(&object, "utilisation", known(quotes->utilisation));
    report_put(&object, "peak_flops_per_s", known(quotes->peak_flops_per_s));
    report_put(&object, "first_token_ns", known(quotes->first_token_ps / 1000));
    report_put(&object, "token_ns", known(quotes->token_ps / 1000));
    report_put(&object, "fits", fit->known ? json_boolean(fit->fits) : json_null());
    report_put(&object, "memory_bytes", fit->known ? number(fit->bytes) : json_null());
    report_put(&object, "hbm_bytes", fit->known ? number(fit->hbm) : json_null());
    report_put(&object, "means", means_json(report));
    report_put(&object, "classes", classes_json(report));
    report_put(&object, "operations", operations_json(report));
    report_put(&object, "critical_path", critical_json(report));
    report_put(&object, "chart", chart_json(report));
    return object;
}
