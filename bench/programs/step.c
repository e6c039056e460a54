/*
 * step.c: the bench `step`: runs the graph of a workload file or a trace (workload/STEPS.md), and
 * finds out where its time goes. Its rows are the step, then each kind of operation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/output/step_report.h"
#include "bench/programs/bench_program.h"
#include "bench/programs/shortcuts.h"
#include "bench/programs/step_estimate.h"
#include "bench/trace/step_timeline.h"
#include "bench/trace/trace_stream.h"
#include "collectives/runtime/dist_messages.h"

/* What bounds of operations were found out so far. */
struct known_bound {
    uint32_t set, group;
    uint8_t collective;
    uint64_t bytes;
    int64_t ps;
};

struct step_bench {
    struct bench_session *session;
    struct step_report *report; /* the result's, once the step has run */
    struct known_bound *bounds; /* [bound_count] */
    size_t bound_count;
    uint32_t *sips; /* [ranks] room for a group's */
};

/* ---- the workload ---------------------------------------------------------------------------- */

static int step_prepare(struct bench_session *session, struct dist_options *dist,
                        struct cw_error *error)
{
    const struct run_options *const options = session->options;
    struct step_bench *const own = calloc(1, sizeof *own);
    session->own = own;
    if (own == NULL || (own->report = calloc(1, sizeof *own->report)) == NULL)
        return cw_error_memory(error, "the step");
    own->session = session;
    own->report->modes = step_modes_of(options);
    const int code = step_workload_read(options, session->config, options->quiet ? NULL : stderr,
                                        &own->report->graph, error);
    if (code != CW_OK)
        return code;
    if (options->verify_data && !own->report->graph.verifies)
        return cw_error_set(error, CW_USAGE,
                            "--verify-data: %s says nothing of data (workload: data: true)",
                            options->workload);
    if (options->verify_data && own->report->modes.free_communication)
        return cw_error_set(error, CW_USAGE,
                            "--verify-data: with --communication free nothing is moved; legal: "
                            "simulated");
    if (options->op_log != NULL && !options->verify_data)
        return cw_error_set(error, CW_USAGE,
                            "--op-log %s: a step has values with --verify-data alone",
                            options->op_log);
    if (options->explain && options->engine.sync != CW_SEQUENTIAL) /* logs in order of time */
        return cw_error_set(error, CW_USAGE,
                            "--explain of a step is for a run on one thread (--sync sequential)");
    own->report->graph.verifies = options->verify_data;
    dist->groups_only = true;
    return CW_OK;
}

static void step_finish(struct bench_session *session)
{
    struct step_bench *const own = session->own;
    if (own == NULL)
        return;
    step_report_free(own->report);
    free(own->bounds);
    free(own->sips);
    free(own);
    session->own = NULL;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Of a group on an idle machine, with shards on all its PEs: no layout takes less. */
static int64_t find_bound(const struct step_bench *own, const struct workload_op *op,
                          uint32_t group)
{
    const struct workload_graph *const graph = &own->report->graph;
    const struct hw_config *const hw = &own->session->config->hw;
    const struct workload_set *const set = &graph->sets[op->set];
    const bool calls = op->kind == WORKLOAD_COLLECTIVE;
    const uint32_t first = set->first[group], ranks = calls ? set->first[group + 1] - first : 2;
    const uint32_t pes = hw_cubes(hw) * hw_pes(hw);
    for (uint32_t i = 0; i < ranks; i++) {
        const uint32_t rank = set->ranks[first + (calls || i == 0 ? i : op->peer)];
        own->sips[i] = graph->sip_of != NULL ? graph->sip_of[rank] : rank;
    }
    const struct hw_work work = {.collective =
                                     calls ? (enum ccl_collective)op->collective : CCL_SEND_RECV,
                                 .ranks = ranks,
                                 .sips = own->sips,
                                 .engines = pes,
                                 .cubes = hw_cubes(hw),
                                 .pes = hw_pes(hw),
                                 .root_sip = own->sips[calls && op->peer < ranks ? op->peer : 0],
                                 .bytes = op->bytes / pes};
    return ranks > 1 ? hw_bound_of(hw, &work).ps : 0;
}

static int64_t bound_of(void *arg, const struct workload_op *op, uint32_t group)
{
    enum { BOUNDS_MAX = 4096 };
    struct step_bench *const own = arg;
    if (group == WORKLOAD_NONE || own->report->modes.free_communication)
        return 0;
    const uint8_t collective =
        op->kind == WORKLOAD_COLLECTIVE ? op->collective : (uint8_t)CCL_SEND_RECV;
    for (size_t i = own->bound_count; i-- > 0;) {
        const struct known_bound *const known = &own->bounds[i];
        if (known->set == op->set && known->group == group && known->collective == collective &&
            known->bytes == op->bytes)
            return known->ps;
    }
    const int64_t ps = find_bound(own, op, group);
    if (own->bound_count < BOUNDS_MAX) {
        if (own->bounds == NULL)
            own->bounds = malloc(BOUNDS_MAX * sizeof *own->bounds);
        if (own->bounds != NULL)
            own->bounds[own->bound_count++] =
                (struct known_bound){op->set, group, collective, op->bytes, ps};
    }
    return ps;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What is known of the step only with its machine: use of links, causes. */
static int add_use(const struct step_bench *own, struct result_row *row, struct dist *machine,
                   struct cw_error *error)
{
    struct bench_session *const session = own->session;
    struct lp_system *const system = dist_system(machine);
    const struct workload_graph *const graph = &own->report->graph;
    const uint32_t sip = graph->sip_of != NULL ? graph->sip_of[0] : 0;
    const int64_t begun_ps = lp_system_program_begun_ps(system, sip);
    const struct lp_times times = {.first_start_ps = begun_ps,
                                   .last_end_ps = begun_ps + row->time_ps};
    if (session->explainer != NULL) {
        row->explain =
            explain_programs(session->explainer, system, times.first_start_ps, times.last_end_ps);
        if (row->explain == NULL)
            return cw_error_memory(error, "the explanation");
    }
    return run_use_row(&session->use, session->result, row, system, &times, error);
}

static int add_step_row(const struct step_bench *own, struct dist *machine, struct cw_error *error)
{
    const struct step_report *const report = own->report;
    struct result_row *const row = bench_add_row(own->session, "step", 0, error);
    if (row == NULL)
        return error->exit_code;
    row->dtype[0] = row->redop[0] = '\0';
    row->shards = 0;
    row->ranks = report->graph.rank_count;
    row->time_ps = row->host_time_ps = report->result.step_ps;
    row->flops = report->graph.quotes.model_flops / report->graph.rank_count;
    if (report->result.verified) {
        row->wrong = (int64_t)report->result.wrong;
        row->proof = report->result.proof;
        row->has_hash = true;
        row->data_hash = report->result.hash;
    }
    row->done = true;
    return add_use(own, row, machine, error);
}

/* A kind of operations: means over all of them. */
static int add_op_row(const struct step_bench *own, const struct step_op_row *op,
                      struct cw_error *error)
{
    char name[96];
    const double count = (double)op->count;
    struct result_row *const row = bench_add_row(
        own->session, step_report_name(&own->report->graph, op->label, op->set, name, sizeof name),
        0, error);
    if (row == NULL)
        return error->exit_code;
    row->dtype[0] = row->redop[0] = '\0';
    row->shards = 0;
    row->ranks = op->ranks;
    row->bytes = row->counted_bytes = (uint64_t)(op->bytes / count);
    row->bus_factor = step_bus_factor(op);
    row->flops = op->flops / count;
    row->time_ps = row->host_time_ps = (int64_t)(op->total_ps / count + 0.5);
    row->bound_ps = (int64_t)(op->bound_ps / count + 0.5);
    row->done = true;
    return CW_OK;
}

static int begins(void *arg, struct dist *machine, struct cw_error *error)
{
    struct bench_session *const session = arg;
    const int code = bench_machine_begins(session, machine, error);
    if (code == CW_OK)
        bench_size_begin(session, 0);
    if (session->shows_progress)
        session->progress.expected = step_work(session->options, session->config).events;
    return code;
}

/* What fails on a folded machine runs again on the whole one (step_run()). */
static int ends(void *arg, struct dist *machine, int code, struct cw_error *error)
{
    struct bench_session *const session = arg;
    const struct dist_facts *const facts = dist_facts(machine);
    session->folded = code != CW_OK && facts->live_ranks < facts->world_size;
    if (code == CW_OK)
        code = add_step_row(session->own, machine, error);
    code = bench_machine_ends(session, code, error);
    session->folded = false;
    return code;
}

static int write_timeline(const struct step_bench *own, struct cw_error *error)
{
    const char *const path = own->session->options->timeline;
    struct atomic_file file = {0};
    struct trace_stream stream = {0};
    if (path == NULL)
        return CW_OK;
    int code = atomic_file_open(&file, path, error);
    if (code == CW_OK)
        code = trace_stream_open(&stream, file.stream, path, error);
    if (code == CW_OK) {
        step_timeline_write(stream.text, &own->report->graph, &own->report->result);
        code = trace_stream_close(&stream, error);
    }
    if (code == CW_OK)
        return atomic_file_commit(&file, error);
    atomic_file_discard(&file);
    return code;
}

/* Says in all rows, and of the engine, what was simulated. */
static void note_shortcuts(struct bench_session *session, const struct step_result *step,
                           uint32_t ranks)
{
    const struct step_folded *const folded = &step->folded;
    const struct lp_replay_counts *const replay = &step->replay;
    const char *const closed = shortcut_why_not(SHORTCUT_FOLD, session->options, session->config);
    struct result_shortcuts shortcuts = {.fold = NULL};
    if (replay->replayed_begins > 0)
        shortcuts.operations = (struct result_simulated){
            .of = replay->operations, .done = replay->operations - replay->replayed_begins};
    if (folded->sips < folded->of || replay->replayed_begins > 0) {
        session->result->engine.folded = true;
        session->result->engine.fold_hash = step_times_hash(step, ranks);
    }
    if (folded->sips < folded->of) {
        shortcuts.sips = (struct result_simulated){.of = folded->of, .done = folded->sips};
        shortcuts.fold = "comparison";
    }
    if (session->options->fold != RUN_SHORTCUT_OFF)
        snprintf(shortcuts.why, sizeof shortcuts.why, "%.*s", (int)sizeof shortcuts.why - 1,
                 closed != NULL ? closed : folded->why);
    for (size_t i = 0; i < session->result->row_count; i++)
        session->result->rows[i].shortcuts = shortcuts;
}

static int step_run_apart(struct bench_session *session, const struct dist_options *dist,
                          struct cw_error *error)
{
    struct step_bench *const own = session->own;
    struct step_report *const report = own->report;
    struct step_options options = {.config = session->config,
                                   .graph = &report->graph,
                                   .modes = report->modes,
                                   .fold = step_fold_of(session->options, session->config),
                                   .dist = *dist,
                                   .begins = begins,
                                   .ends = ends};
    options.dist.machine.replay =
        shortcut_is_open(SHORTCUT_REPLAY, session->options, session->config);
    options.must_replay = session->options->replay == RUN_SHORTCUT_ON;
    int code = bench_explain(session, &options.dist.machine, error);
    if (session->explainer != NULL)
        explainer_keep_causes(session->explainer);
    if (code == CW_OK)
        code = step_run(&options, &report->result, error);
    session->dist = NULL;
    own->sips = malloc((report->graph.rank_count + 2) * sizeof *own->sips);
    if (code == CW_OK && own->sips == NULL)
        code = cw_error_memory(error, "the step");
    if (code == CW_OK)
        code = step_report_make(report, &session->config->hw, bound_of, own, error);
    for (size_t i = 0; code == CW_OK && i < report->rows.count; i++)
        code = add_op_row(own, &report->rows.rows[i], error);
    if (code == CW_OK)
        note_shortcuts(session, &report->result, report->graph.rank_count);
    if (code == CW_OK)
        code = write_timeline(own, error);
    if (code == CW_OK) {
        session->result->step = report;
        own->report = NULL;
    }
    return code;
}

const struct bench_program bench_step = {
    .name = "step",
    .about = "the step of a workload file or a trace (--workload)",
    .collective = true,
    .no_algorithm = true,
    .rows_named = true,
    .groups = true,
    .own = step_work,
    .takes = {"workload", "concurrency", "launch-order", "launches", "communication", "groups",
              "trace-ranks", "first-dimension", "compute", "time-unit", "replay"},
    .prepare = step_prepare,
    .run_apart = step_run_apart,
    .finish = step_finish};
