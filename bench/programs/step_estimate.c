/*
 * step_estimate.c: the events of a step by estimate (step_estimate.h): of each computation those of
 * its kernels, of each call those of its algorithm. Operations that are alike are estimated once.
 */
#include "bench/programs/step_estimate.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/programs/concurrent_plan.h"
#include "bench/programs/shortcuts.h"
#include "bench/programs/step_workload.h"
#include "workload/run/step_plan.h"

int step_workload_read(const struct run_options *options, const struct config *config, FILE *notes,
                       struct workload_graph *graph, struct cw_error *error)
{
    const struct hw_config *const hw = &config->hw;
    const bool is_grid = hw->sip_topology->is_grid;
    const struct workload_file_request request = {.path = options->workload,
                                                  .settings = options->workload_sets,
                                                  .setting_count = options->workload_set_count,
                                                  .sip_w = is_grid ? hw->sip_w : 0,
                                                  .sip_h = is_grid ? hw->sip_h : 0};
    struct workload_trace_options trace = options->workload_trace;
    trace.notes = notes;
    return workload_or_trace_read(&request, &trace, hw->sip_count, graph, error);
}

struct step_modes step_modes_of(const struct run_options *options)
{
    return (struct step_modes){.free_launches = options->launches == RUN_FREE,
                               .free_communication = options->communication == RUN_FREE,
                               .one_at_a_time = options->concurrency == RUN_CONCURRENCY_ONE,
                               .in_program_order = options->launch_order == RUN_LAUNCH_IMPLICIT};
}

enum step_fold step_fold_of(const struct run_options *options, const struct config *config)
{
    if (options->fold == RUN_SHORTCUT_OFF ||
        shortcut_why_not(SHORTCUT_FOLD, options, config) != NULL)
        return STEP_FOLD_OFF;
    return options->fold == RUN_SHORTCUT_ON ? STEP_FOLD_ON : STEP_FOLD_AUTO;
}

/* Operations of one kind and size, and the events of one of them. */
struct alike {
    struct workload_op op;
    uint32_t ranks; /* that meet; 1 */
    double events;
};

struct estimate {
    const struct step_plan *plan;
    const struct config *config;
    const struct workload_graph *graph;
    struct alike *alike;
    size_t count, room;
};

static bool are_alike(const struct alike *a, const struct workload_op *op, uint32_t ranks)
{
    return a->op.kind == op->kind && a->op.set == op->set && a->op.collective == op->collective &&
           a->op.dtype == op->dtype && a->op.bytes == op->bytes && a->op.flops == op->flops &&
           a->op.matrix == op->matrix && a->ranks == ranks;
}

static double events_of_computation(const struct estimate *estimate, const struct workload_op *op)
{
    struct compute_request request = {.dtype = (enum dtype)op->dtype, .kind = COMPUTE_ROOFLINE};
    struct compute_job job;
    struct cw_error ignored;
    if (op->kind == WORKLOAD_PRODUCT) {
        request.kind = COMPUTE_PRODUCT;
        request.m = op->side[0];
        request.n = op->side[1];
        request.k = op->side[2];
    } else {
        request.flops = op->flops;
        request.bytes = op->bytes;
        request.block = op->matrix != 0 ? TL_BLOCK_GEMM : TL_BLOCK_MATH;
    }
    const struct hw_config *const hw = &estimate->config->hw;
    if (compute_job_of(hw, &request, hw->tcm_bytes / 2, 0, &job, &ignored) != CW_OK)
        return 0;
    if (lp_is_coarse(&estimate->config->ccl.queues))
        compute_job_at_once(hw, &job);
    return compute_events(&(struct ccl_call){.hw = hw,
                                             .ccl = &estimate->config->ccl,
                                             .dtype = (enum lp_dtype)op->dtype},
                          &job);
}

static double events_of_call(const struct estimate *estimate, const struct workload_op *op,
                             uint32_t ranks)
{
    const struct step_source *source = NULL;
    if (op->kind == WORKLOAD_COLLECTIVE)
        source = step_source_of(estimate->plan, op);
    for (uint32_t s = 0; source == NULL && s < estimate->plan->source_count; s++)
        if (estimate->plan->sources[s].set == WORKLOAD_NONE)
            source = &estimate->plan->sources[s];
    if (source == NULL)
        return 0;
    return concurrent_events(
        &source->config,
        op->kind == WORKLOAD_COLLECTIVE ? (enum ccl_collective)op->collective : CCL_SEND_RECV,
        ranks, step_elements(source, op, ranks), source->shards, (enum dtype)op->dtype);
}

static double events_of(struct estimate *estimate, const struct workload_op *op, uint32_t ranks)
{
    for (size_t i = 0; i < estimate->count; i++)
        if (are_alike(&estimate->alike[i], op, ranks))
            return estimate->alike[i].events;
    const double events = workload_meets(op) ? events_of_call(estimate, op, ranks)
                                             : events_of_computation(estimate, op);
    if (estimate->count == estimate->room) {
        const size_t room = 2 * estimate->room + 16;
        struct alike *const more = realloc(estimate->alike, room * sizeof *more);
        if (more == NULL)
            return events;
        estimate->alike = more;
        estimate->room = room;
    }
    estimate->alike[estimate->count++] = (struct alike){*op, ranks, events};
    return events;
}

static double all_events(struct estimate *estimate, const struct step_modes *modes)
{
    const struct workload_graph *const graph = estimate->graph;
    double events = 0;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const struct workload_program *const p = &graph->programs[graph->program_of[rank]];
        for (uint32_t i = 0; i < p->op_count; i++) {
            const struct workload_op *const op = &p->ops[i];
            if (op->kind == WORKLOAD_ROOFLINE || op->kind == WORKLOAD_PRODUCT)
                events += events_of(estimate, op, 1);
            if (!workload_meets(op) || op->kind == WORKLOAD_RECV || modes->free_communication)
                continue;
            const struct workload_set *const set = &graph->sets[op->set];
            const uint32_t group = set->group_of[rank],
                           ranks = op->kind == WORKLOAD_SEND
                                       ? 2
                                       : set->first[group + 1] - set->first[group];
            if (op->kind == WORKLOAD_SEND || set->rank_in[rank] == 0)
                events += events_of(estimate, op, ranks);
        }
    }
    return events;
}

struct bench_own step_work(const struct run_options *options, const struct config *config)
{
    struct workload_graph graph = {0};
    struct step_plan plan = {0};
    struct cw_error ignored;
    const struct step_options step = {.config = config,
                                      .graph = &graph,
                                      .modes = step_modes_of(options),
                                      .fold = step_fold_of(options, config)};
    struct estimate estimate = {.plan = &plan, .config = config, .graph = &graph};
    struct bench_own work = {.events = 0};
    if (options->workload == NULL ||
        step_workload_read(options, config, NULL, &graph, &ignored) != CW_OK)
        return work;
    if (step_plan_make(&step, UINT32_MAX, &plan, &ignored) == CW_OK) {
        work.part = (double)plan.fold.sips / plan.fold.of;
        work.events = all_events(&estimate, &step.modes) * work.part;
    }
    for (uint32_t r = 0; r < graph.rank_count; r++) /* spans, and their part of the result */
        work.bytes += 100.0 * graph.programs[graph.program_of[r]].op_count;
    step_plan_free(&plan);
    free(estimate.alike);
    workload_graph_free(&graph);
    return work;
}
