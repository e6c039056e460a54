/*
 * bench.c: the registry of bench programs, and a run of one of them on a simulated machine
 * (bench.h): the machine, the program, the figures of the engine, the logs.
 */
#include "bench/programs/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/output/atomic_file.h"
#include "bench/output/engine_log.h"
#include "bench/output/engine_trace.h"
#include "bench/programs/bench_fold.h"
#include "bench/programs/bench_program.h"
#include "bench/output/progress.h"
#include "bench/programs/row_work.h"
#include "bench/programs/run_logs.h"
#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_verify.h"
#include "bench/programs/shortcuts.h"
#include "core/os/host_limits.h"
#include "core/os/text_stream.h"
#include "lp/host/deadlock.h"
#include "collectives/config/config_place.h"
#include "collectives/config/config_tree.h"
#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/dist_rehearsal.h"
#include "collectives/runtime/install_plan.h"
#include "collectives/schedule/schedule.h"
#include "collectives/config/input/environment.h"

static const struct bench_program *const registry[] = {
    &bench_ccl_allreduce,  &bench_ccl_reduce_scatter, &bench_ccl_all_gather, &bench_ccl_all_to_all,
    &bench_ccl_broadcast,  &bench_ccl_reduce,         &bench_ccl_custom,     &bench_ccl_barrier,
    &bench_ipcq_pingpong,  &bench_ipcq_shift,         &bench_raw_store,      &bench_gemm,
    &bench_gemm_allreduce, &bench_ccl_gradient,       &bench_concurrent,     &bench_step};

const char *bench_name(size_t i)
{
    return i < sizeof registry / sizeof *registry ? registry[i]->name : NULL;
}

const char *bench_about(size_t i) { return registry[i]->about; }

static const struct bench_program *bench_find(const char *name)
{
    for (size_t i = 0; i < sizeof registry / sizeof *registry; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    return NULL;
}

bool bench_takes(const char *bench, const char *option)
{
    const char *const *const takes = bench_find(bench)->takes;
    for (size_t i = 0; takes[i] != NULL; i++)
        if (strcmp(takes[i], option) == 0)
            return true;
    return false;
}

enum ccl_collective bench_collective(const char *bench)
{
    const struct bench_program *const program = bench_find(bench);
    return program != NULL && program->collective && !program->no_algorithm ? program->does
                                                                            : CCL_COLLECTIVES;
}

const char *bench_of_config(const struct config *config, const char *otherwise)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, &ignored);
    if (algorithm == NULL || (config_is_from_option(config, "defaults.algorithm") &&
                              !ccl_is_schedule_file(config->ccl.module)))
        return otherwise;
    for (size_t i = 0; i < sizeof registry / sizeof *registry; i++)
        if (registry[i]->collective && !registry[i]->no_algorithm &&
            registry[i]->does == algorithm->collective)
            return registry[i]->name;
    return otherwise;
}

/* Whether kernels of `auto` can reduce-scatter here: at some size. */
static bool has_scatter_kernels(const struct config *config)
{
    static const char *const names[] = {"rhd", "mesh"};
    struct ccl_refusal ignored;
    const uint32_t ranks = dist_world_size_for(config);
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = CCL_REDUCE_SCATTER,
                                  .world_size = ranks,
                                  .n_elem = ranks,
                                  .dtype = LP_F16,
                                  .math = LP_MATH_SUM};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ccl_algorithm_find(names[i])->check(&call, &ignored) == CW_OK)
            return true;
    return false;
}

const char *bench_automatic(const struct config *config, const char *bench)
{
    static const char *const entry[CCL_COLLECTIVES] = {
        [CCL_ALL_REDUCE] = "auto_all_reduce",
        [CCL_REDUCE_SCATTER] = "auto_reduce_scatter",
        [CCL_ALL_GATHER] = "auto_all_gather",
        [CCL_ALL_TO_ALL] = "auto_all_to_all",
    };
    const struct bench_program *const program = bench_find(bench);
    if (program == NULL || !program->collective || program->no_algorithm ||
        (program->does == CCL_REDUCE_SCATTER && config->hw.sip_topology->paired &&
         has_scatter_kernels(config)))
        return NULL;
    return entry[program->does];
}

const char *bench_algorithm_of(const struct config *config, const char *bench)
{
    struct cw_error ignored;
    const struct bench_program *const program = bench_find(bench);
    const struct ccl_algorithm *const configured = ccl_algorithm_load(config->ccl.module, &ignored);
    if (program == NULL || !program->collective || program->no_algorithm || configured == NULL ||
        configured->collective == program->does ||
        config_is_from_option(config, "defaults.algorithm"))
        return NULL;
    const struct ccl_algorithm *const other =
        ccl_algorithm_for(&config->ccl, program->does, &ignored);
    if (other != NULL && other->choose != NULL) /* `auto`, whose kernels need no queues */
        return has_scatter_kernels(config) ? NULL : bench_automatic(config, bench);
    return other != NULL && other->schedule != NULL ? other->name : NULL;
}

uint32_t bench_calls(const char *bench)
{
    const struct bench_program *const program = bench_find(bench);
    return program != NULL && program->calls > 0 ? program->calls : 1;
}

struct bench_own bench_own_work(const struct run_options *options, const struct config *config)
{
    const struct bench_program *const program = bench_find(options->bench);
    return program != NULL && program->own != NULL ? program->own(options, config)
                                                   : (struct bench_own){.events = 0};
}

const char *bench_why_no_fold(const struct run_options *options, const struct config *config)
{
    const struct bench_program *const program = bench_find(options->bench);
    const char *const why = shortcut_why_not(SHORTCUT_FOLD, options, config);
    return why != NULL                                ? why
           : options->fold == RUN_SHORTCUT_OFF        ? "--fold off"
           : program->folds || program == &bench_step ? NULL
                                                      : BENCH_FOLDS_ONE_CALL;
}

/* Whether data crosses from SIP to SIP. */
static bool crosses(const struct bench_program *program, const struct run_options *options,
                    const struct config *config)
{
    if (program->no_algorithm)
        return false;
    if (program->collective)
        return config->hw.sip_count > 1 && dist_world_size_for(config) > 1;
    return bench_takes(program->name, "dir")
               ? options->dir >= HW_DIR_GLOBAL_N && options->dir <= HW_DIR_GLOBAL_W
               : options->from.sip != options->to.sip;
}

struct config_work bench_work(const struct run_options *options, const struct config *config)
{
    struct cw_error ignored;
    const struct bench_program *const program = bench_find(options->bench);
    const bool runs_one = program->collective && !program->no_algorithm;
    const struct ccl_algorithm *const algorithm =
        runs_one ? ccl_algorithm_for(&config->ccl, program->does, &ignored) : NULL;
    const bool alone = algorithm != NULL && dist_world_size_for(config) == 1 &&
                       (algorithm->machine.mappers == 0 ||
                        (algorithm->machine.mappers & CCL_MAPPER_LEADER_ONLY) != 0 ||
                        (algorithm->schedule != NULL && !algorithm->machine.members));
    const bool waits = !program->no_algorithm && !alone;
    return (struct config_work){
        .algorithm = algorithm,
        .groups = program->groups,
        .is_unknown =
            program->groups ||
            (runs_one && (algorithm == NULL || (!ccl_is_schedule_file(config->ccl.module) &&
                                                ccl_algorithm_find(algorithm->name) != algorithm))),
        .tensors = program->collective && !(runs_one && program->does == CCL_BARRIER),
        .stores = program->stores,
        .alone = alone,
        .adds = program->groups ||
                (runs_one && !alone &&
                 (program->does == CCL_ALL_REDUCE || program->does == CCL_REDUCE_SCATTER ||
                  program->does == CCL_REDUCE || program->does == CCL_CUSTOM)),
        .multiplies = program->multiplies,
        .fills_tcm = program == &bench_gemm && options->gemm.operands == MATMUL_CUT,
        .fp8 = options->dtype == DTYPE_FP8_E4M3 || options->dtype == DTYPE_FP8_E5M2,
        .narrow = dtype_digits(options->dtype) > 0 &&
                  dtype_digits(options->dtype) < dtype_digits(DTYPE_F32),
        .waits = waits,
        .tiles = waits && (algorithm == NULL || algorithm->machine.peers == NULL),
        .crosses = crosses(program, options, config),
        .sized = options->size_count > 0 || program->no_algorithm ||
                 (runs_one && program->does == CCL_BARRIER) || options->data != NULL};
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Room for the counts of all workers, before the run: a run that is done fails for nothing. */
static int make_room_for_workers(struct bench_session *session, uint32_t count,
                                 struct cw_error *error)
{
    struct result_engine *const engine = &session->result->engine;
    engine->workers = calloc(count, sizeof *engine->workers);
    session->workers_before = calloc(count, sizeof *session->workers_before);
    return engine->workers != NULL && session->workers_before != NULL
               ? CW_OK
               : cw_error_memory(error, "the counts of the workers");
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Counts of one machine, and of those before it: together. What only one machine has (its trace
 * hash, windows, means, shares of time) is the last one's. */
static void add_stats(struct cw_stats *stats, const struct cw_stats *before)
{
    stats->events_committed += before->events_committed;
    stats->events_processed += before->events_processed;
    stats->events_rolled_back += before->events_rolled_back;
    stats->events_restored += before->events_restored;
    stats->events_listened += before->events_listened;
    stats->anti_messages += before->anti_messages;
    stats->rollbacks += before->rollbacks;
    stats->rollbacks_primary += before->rollbacks_primary;
    stats->rollbacks_secondary += before->rollbacks_secondary;
    stats->rollbacks_injected += before->rollbacks_injected;
    stats->gvt_rounds += before->gvt_rounds;
    stats->safe_events += before->safe_events;
    stats->gathered_events += before->gathered_events;
    stats->moves += before->moves;
    stats->parts_moved += before->parts_moved;
    stats->move_s += before->move_s;
    stats->undo_bytes += before->undo_bytes;
    stats->messages_sent += before->messages_sent;
    stats->turns += before->turns;
    stats->turns_idle += before->turns_idle;
    stats->promises_raised += before->promises_raised;
    stats->sends_reused += before->sends_reused;
    stats->run_s += before->run_s;
    stats->host_s += before->host_s;
    stats->listen_shared_s += before->listen_shared_s;
    stats->listen_serial_s += before->listen_serial_s;
    stats->rollback_events_max = larger(stats->rollback_events_max, before->rollback_events_max);
    stats->events_alive_max = larger(stats->events_alive_max, before->events_alive_max);
}

/* The engine's figures of the machine, and of those before it in the run. */
static void fill_engine(struct bench_session *session)
{
    struct result_engine *const engine = &session->result->engine;
    const struct result_engine *const before = &session->before;
    struct lp_system *const system = dist_system(session->dist);
    *engine = (struct result_engine){
        .sync = cw_sync_name[session->options->engine.sync],
        .cancellation = result_cancellation(session->options->engine.sync,
                                            session->options->engine.tuning.lazy_cancellation),
        .partition = dist_facts(session->dist)->partition,
        .threads = session->options->engine.worker_count,
        .peak_rss_bytes = host_limits_peak_resident_bytes(),
        .setup_s = dist_facts(session->dist)->setup_s + before->setup_s,
        .phases = &session->result->phases,
        .workers = engine->workers}; /* make_room_for_workers() */
    const struct lp_cut *const cut = lp_system_cut(system);
    engine->has_cut = cut != NULL;
    if (cut != NULL)
        engine->cut = *cut;
    struct cw_stats *const stats = &engine->stats;
    cw_sim_stats(lp_system_sim(system), stats);
    engine->run_s = stats->run_s - dist_facts(session->dist)->install_run_s;
    engine->ipcq_messages = lp_system_count(system).messages;
    engine->worker_count = cw_sim_worker_count(lp_system_sim(system));
    for (uint32_t i = 0; i < engine->worker_count; i++) {
        cw_sim_worker_stats(lp_system_sim(system), i, &engine->workers[i]);
        add_stats(&engine->workers[i], &session->workers_before[i]);
    }
    add_stats(stats, &before->stats);
    engine->run_s += before->run_s;
    engine->ipcq_messages += before->ipcq_messages;
    engine->folded = session->any_folded || session->folded;
    engine->fold_hash = session->fold_hash;
    engine->events_per_s =
        stats->run_s > 0 ? (double)(stats->events_committed - stats->events_restored) / stats->run_s
                         : 0;
}

/* Where the errors of coarse tiles are known to exceed 10 % (perf/results/coarse.md); NULL: nowhere
 * in this row. A tensor of a tile at most for each PE is exact. */
static const char *coarse_doubt(const struct config *config, const struct result_row *row)
{
    const struct ccl_config *const ccl = &config->ccl;
    const struct ccl_algorithm *const named = ccl_algorithm_find(row->algorithm),
                                      *const algorithm =
                                          named != NULL ? named : ccl_algorithm_find(ccl->module);
    if (row->bytes <= ccl->queues.slot_bytes)
        return NULL;
    if (algorithm == NULL)
        return NULL;
    if (algorithm->machine.members)
        return "hierarchical's sizes";
    if (algorithm->schedule == NULL)
        return NULL;
    return row->shards < hw_cubes(&config->hw) * hw_pes(&config->hw)
               ? "the schedules with shards that several PEs share"
               : NULL;
}

static void note_coarse(const struct bench_session *session, struct result *result)
{
    const struct ccl_config *const ccl = &session->config->ccl;
    if (!lp_is_coarse(&ccl->queues))
        return;
    result->coarse_tiles = ccl->queues.coarse;
    for (size_t i = 0; i < result->row_count && result->coarse_doubt == NULL; i++)
        result->coarse_doubt = coarse_doubt(session->config, &result->rows[i]);
}

void bench_fill_result(struct bench_session *session)
{
    struct result *result = session->result;
    const struct config *config = session->config;
    struct lp_system *system = dist_system(session->dist);
    const struct lp_model *m = lp_system_model(system);
    snprintf(result->bench, sizeof result->bench, "%s", session->program->name);
    bench_algorithm_name(session, result->algorithm, sizeof result->algorithm);
    result->rows_named = session->program->rows_named;
    result->has_groups = session->program->groups && session->program->run_apart == NULL;
    result->sizes = bench_size_count(session);
    memcpy(result->config_digest, config->digest, sizeof result->config_digest);
    result->seed = session->options->seed;
    result->input = session->options->data != NULL                  ? "file"
                    : session->options->input == RUN_INPUT_INTEGERS ? "integers"
                                                                    : "uniform";
    static const char *const protocol[] = {
        [LP_SIMPLE] = NULL, [LP_LL] = "LL", [LP_LL128] = "LL128"};
    result->protocol = protocol[m->config.protocol];
    note_coarse(session, result);
    const struct hw_sip_size size = config->tree->grid;
    const bool chosen = !config_given(config_machine_value(config->tree, "system.sips.w"));
    if (size.d > 0 && chosen && (size.w != size.h || size.h != size.d))
        snprintf(result->grid, sizeof result->grid, "%s of %u x %u x %u, the most cubic grid of %u",
                 m->hw.sip_topology->name, size.w, size.h, size.d, m->hw.sip_count);
    else if (size.w > 0 && chosen && size.w != size.h && size.d == 0)
        snprintf(result->grid, sizeof result->grid, "%s of %u x %u, the squarest grid of %u",
                 m->hw.sip_topology->name, m->hw.sip_w, m->hw.sip_h, m->hw.sip_count);
    result->sips = m->hw.sip_count;
    result->cubes = (uint64_t)m->hw.sip_count * m->cubes;
    result->pes = hw_pe_count(&m->hw);
    result->queue_pairs =
        lp_system_count(system).queue_pairs * (m->hw.sip_count / m->sips); /* classes are equal */
    result->lps = 1 + (uint64_t)m->hw.sip_count * (m->cubes + 1) + hw_switches(&m->hw);
    row_work_built(session);
    fill_engine(session);
    result->sim_time_ps = cw_sim_now(lp_system_sim(system)) + session->repeat.left_out_ps;
    result->init_time_ps = dist_facts(session->dist)->init_ps;
}

static int run_program(struct bench_session *session, struct cw_error *error)
{
    int code = session->program->run(session, error);
    if (code == CW_OK)
        bench_size_end(session);
    if (code == CW_OK && session->options->dump_pointers) {
        struct lp_system *system = dist_system(session->dist);
        lp_pointer_list(lp_system_model(system), lp_system_sim(system),
                        run_logs_listing(session->options));
    }
    return code;
}

static void bench_show_progress(void *argument, const struct cw_progress *progress)
{
    struct bench_session *const session = argument;
    progress_show_size(&session->progress, progress);
}

static void bench_warn(void *argument, const char *text)
{
    struct bench_session *session = argument;
    if (session->folded) { /* the run without a fold has the same, of all SIPs */
        session->fold_warned = true;
        return;
    }
    if (session->options->warn != NULL) {
        session->options->warn(session->options->warn_arg, text);
        return;
    }
    flockfile(stderr); /* progress may be shown at the same time, by another thread */
    if (!session->options->quiet && isatty(STDERR_FILENO))
        progress_clear();
    fprintf(stderr, "cubewarp: warning: %s\n", text);
    funlockfile(stderr);
}

static void bench_log_round(void *argument, const struct cw_progress *progress)
{
    struct bench_session *session = argument;
    engine_log_row(&session->engine_log, progress);
}

static void bench_phase_end(void *argument, const char *name)
{
    struct bench_session *const session = argument;
    const struct cw_sim *const sim =
        session->dist == NULL ? NULL : lp_system_sim(dist_system(session->dist));
    process_phase_end(&session->result->phases, name, sim);
    if (session->shows_progress && strcmp(name, "wiring") == 0)
        bench_progress_wired(session);
    else if (session->shows_progress && strcmp(name, "collectives") == 0)
        bench_progress_called(session);
}

/* Writes the engine's trace, if one is asked for. A run that has failed keeps its own failure. */
static int write_engine_trace(struct bench_session *session, int code, struct cw_error *error)
{
    struct cw_error own = {.exit_code = CW_OK};
    if (session->engine_trace.stream == NULL || session->dist == NULL)
        return code;
    const struct cw_sim *const sim = lp_system_sim(dist_system(session->dist));
    if (engine_trace_write(&session->engine_trace, sim, &own) == CW_OK || code != CW_OK)
        return code;
    *error = own;
    return own.exit_code;
}

/* ---- failures -------------------------------------------------------------------------------- */

static void note_waiting(void *arg, const struct lp_waiting *waiting)
{
    struct bench_session *const session = arg;
    struct result *const result = session->result;
    const struct hw_place place = hw_place_of(&session->config->hw, waiting->pe);
    struct result_waiting *const more =
        realloc(result->waiting, (result->waiting_count + 1) * sizeof *more);
    if (more == NULL)
        return;
    result->waiting = more;
    struct result_waiting *const at = &more[result->waiting_count];
    *at = (struct result_waiting){
        .rank = waiting->rank, .since_ps = waiting->since_ps, .state = strdup(waiting->state)};
    snprintf(at->pe, sizeof at->pe, "%u.%u.%u", place.sip, place.cube, place.pe);
    snprintf(at->kernel, sizeof at->kernel, "%s", waiting->kernel);
    result->waiting_count += at->state != NULL;
}

/* Drops the rows of the current size, except the first: without its figures it says at which size
 * the run has ended. */
static void drop_unfinished(struct bench_session *session, const char *why)
{
    struct result *const result = session->result;
    const size_t known = result->row_done != NULL ? result->reported : 0;
    while (result->row_count > known && !result->rows[result->row_count - 1].done &&
           result->rows[result->row_count - 1].not_run == NULL) {
        struct result_row *const row = &result->rows[--result->row_count];
        free(row->phases);
        free(row->explain);
        free(result->unfinished.not_run);
        result->unfinished = (struct result_row){.bytes = row->bytes,
                                                 .count = row->count,
                                                 .ranks = row->ranks,
                                                 .shards = row->shards,
                                                 .together = row->together,
                                                 .wrong = -1,
                                                 .ranks_differ = -1,
                                                 .not_finite = -1,
                                                 .not_run = strdup(why)};
        memcpy(result->unfinished.collective, row->collective, sizeof row->collective);
        memcpy(result->unfinished.algorithm, row->algorithm, sizeof row->algorithm);
        memcpy(result->unfinished.dtype, row->dtype, sizeof row->dtype);
        memcpy(result->unfinished.redop, row->redop, sizeof row->redop);
    }
}

/* The result of a run that has failed: the sizes that are done, the message, the kernels that have
 * not ended, and all queues that are not idle. Of one that was interrupted, the sizes alone. */
static void fill_failure(struct bench_session *session, const struct cw_error *error)
{
    struct result *const result = session->result;
    struct lp_system *const system = dist_system(session->dist);
    size_t bytes = 0;
    result->interrupted = error->exit_code == CW_INTERRUPTED;
    drop_unfinished(session, result->interrupted ? "interrupted" : cw_error_text(error));
    bench_fill_result(session);
    if (result->interrupted)
        return;
    result->failure = strdup(cw_error_text(error));
    result->failure_code = error->exit_code;
    if (!lp_system_has_committed_states(system))
        return;
    lp_waiting_visit(lp_system_model(system), lp_system_sim(system), note_waiting, session);
    FILE *const text = text_stream_open(&result->pointers, &bytes);
    if (text == NULL)
        return;
    lp_pointer_dump(lp_system_model(system), lp_system_sim(system), SIZE_MAX, text);
    (void)fclose(text);
}

/* Whether each size has a machine of its own. */
static bool has_many_machines(const struct bench_session *session)
{
    return bench_is_scheduled(session) && bench_sizes_apart(session->options);
}

/* Causes may take so much: a quarter of the machine's memory, unless the engine's is limited. */
static uint64_t causes_bytes_max(const struct run_options *options)
{
    if (options->engine.memory_bytes_max > 0)
        return options->engine.memory_bytes_max;
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
}

int bench_explain(struct bench_session *session, struct lp_system_options *machine,
                  struct cw_error *error)
{
    const struct run_options *const options = session->options;
    const struct hw_fold *const fold = session->folded ? &session->fold.fold : NULL;
    if (!options->explain)
        return CW_OK;
    session->explainer =
        explainer_create(&session->config->hw, fold, options->engine.worker_count,
                         options->engine.sync == CW_SEQUENTIAL, causes_bytes_max(options));
    if (session->explainer == NULL)
        return cw_error_memory(error, "the explanation");
    machine->causes = explainer_sink(session->explainer);
    return CW_OK;
}

/* Creates the machine, and its explainer if an explanation is asked for. */
static struct dist *create_machine(struct bench_session *session, const struct dist_options *dist,
                                   struct cw_error *error)
{
    struct dist_options own = *dist;
    return bench_explain(session, &own.machine, error) == CW_OK ? dist_create(&own, error) : NULL;
}

int bench_machine_begins(struct bench_session *session, struct dist *machine,
                         struct cw_error *error)
{
    session->dist = machine;
    bench_phase_end(session, "machine");
    char algorithm[CCL_NAME_BYTES] = "";
    if (session->program->run_apart == NULL)
        bench_algorithm_name(session, algorithm, sizeof algorithm);
    const int code = run_logs_begin(session->logs, session->dist, algorithm, error);
    return code == CW_OK
               ? run_use_begin(&session->use, lp_system_model(dist_system(session->dist)), error)
               : code;
}

int bench_machine_ends(struct bench_session *session, int code, struct cw_error *error)
{
    const bool failed = code != CW_OK && code != CW_USAGE &&          /* a refusal leaves nothing */
                        (!session->folded || code == CW_INTERRUPTED); /* else it runs again */
    bench_phase_end(session, "ends of ranks");
    if (failed)
        run_logs_fail(session->logs, session->dist, code == CW_INTERRUPTED);
    else if (code == CW_OK)
        code = run_logs_end(session->logs, session->dist, error);
    if (session->shows_progress)
        progress_clear();
    code = write_engine_trace(session, code, error);
    if (code == CW_OK)
        bench_fill_result(session);
    else if (failed)
        fill_failure(session, error);
    bench_phase_end(session, "figures");
    return code;
}

/* Creates the machine, runs the program on it, and returns its exit code. *holds: a folded run is
 * the whole machine's. */
static int run_on_machine(struct bench_session *session, const struct dist_options *dist,
                          bool *holds, struct cw_error *error)
{
    free(session->credit_waited);
    session->credit_waited = NULL;
    repeat_forget(&session->repeat);
    process_phases_forget_sim(&session->result->phases);
    bench_phase_end(session, "preparation");
    struct dist *const machine = create_machine(session, dist, error);
    int code = machine != NULL ? bench_machine_begins(session, machine, error) : error->exit_code;
    if (code == CW_OK)
        code = bench_machine_ends(session, run_program(session, error), error);
    *holds = session->folded && bench_fold_holds(session, code, error);
    if (code != CW_INTERRUPTED) /* then the process ends, as soon as its files are written */
        dist_free(machine);
    session->dist = NULL;
    explainer_free(session->explainer);
    session->explainer = NULL;
    bench_phase_end(session, "freeing of the machine");
    return code;
}

static void drop_rows(struct result *result, size_t first)
{
    while (result->row_count > first) {
        struct result_row *const row = &result->rows[--result->row_count];
        free(row->phases);
        free(row->explain);
        free(row->shares);
        free(row->not_run);
    }
}

static int refuse_fold(const struct bench_session *session, struct cw_error *error)
{
    return cw_error_set(error, CW_USAGE, "--fold on: %s", session->fold_why);
}

/* The sizes of one machine: folded if it can be. A folded run that fails, or that is not the whole
 * machine's, is run again without a fold, so that every message is of the whole machine. --fold on
 * refuses what only that run can do. */
static int run_sizes(struct bench_session *session, const struct dist_options *dist,
                     struct cw_error *error)
{
    const size_t first = session->result->row_count;
    const uint64_t hash = session->fold_hash;
    struct dist_options folded = *dist;
    bool holds = false, refused = false;
    int code = bench_fold_find(session, error);
    if (code == CW_OK && session->folded) {
        bench_fold_give(session, &folded);
        code = run_on_machine(session, &folded, &holds, error);
        if (holds || code == CW_INTERRUPTED) {
            bench_fold_note(session, first);
            session->any_folded = true;
            session->folded = false;
            bench_report_rows(session);
            return code;
        }
        session->folded = false;
        refused = session->options->fold == RUN_SHORTCUT_ON;
        if (code == CW_OK && refused)
            return refuse_fold(session, error);
        drop_rows(session->result, first);
        session->fold_hash = hash;
        *error = (struct cw_error){.exit_code = CW_OK};
        code = CW_OK;
    }
    if (code == CW_OK)
        code = bench_fold_check_unfolded(session, error);
    if (code == CW_OK)
        code = run_on_machine(session, dist, &holds, error);
    bench_fold_note(session, first);
    return code == CW_OK && refused ? refuse_fold(session, error) : code;
}

/* All sizes on one machine, or each on its own. */
static int run_all(struct bench_session *session, const struct dist_options *dist,
                   struct cw_error *error)
{
    if (session->program->run_apart != NULL) {
        bench_phase_end(session, "preparation");
        const int code = session->program->run_apart(session, dist, error);
        explainer_free(session->explainer);
        session->explainer = NULL;
        return code;
    }
    const bool apart = has_many_machines(session);
    const size_t sizes = bench_size_count(session), each = apart ? 1 : sizes;
    int code = CW_OK;
    for (size_t i = 0; i < sizes && code == CW_OK; i += each) {
        session->first_size = i;
        session->end_size = i + each;
        bench_expect(session, i);
        code = run_sizes(session, dist, error);
        session->before = session->result->engine;
        memcpy(session->workers_before, session->result->engine.workers,
               session->before.worker_count * sizeof *session->workers_before);
    }
    if (!session->options->quiet)
        bench_say_choices(session);
    return code;
}

/* The files of a run that has failed or was interrupted; the run keeps its own error. The files of
 * links and the drawing cover the sizes that are done. */
static void commit_so_far(struct bench_session *session, struct run_logs *logs)
{
    struct cw_error ignored;
    (void)run_logs_commit(logs, &ignored);
    if (session->result->row_count > 0)
        (void)run_use_commit(&session->use, session->result, &ignored);
    if (session->engine_log.stream != NULL)
        (void)atomic_file_commit(&session->engine_log, &ignored);
}

/* What all runs of the options have in common, for a machine of `session->expected`. */
static struct dist_options dist_options_of(struct bench_session *session)
{
    const struct run_options *const options = session->options;
    const bool collective = session->program->collective;
    return (struct dist_options){.config = session->expected,
                                 .machine = {.engine = options->engine, .wired = options->wired},
                                 .partition = options->partition,
                                 .no_data =
                                     options->no_data || (!collective && options->op_log == NULL),
                                 .op_log = options->op_log != NULL,
                                 .kernels_only = !collective,
                                 .says_choices = true,
                                 .warn = bench_warn,
                                 .phase = bench_phase_end,
                                 .arg = session};
}

/* Refuses what needs no machine to be refused; then the program has what it needs. */
static int prepare(struct bench_session *session, struct dist_options *dist, struct cw_error *error)
{
    session->shards = 1; /* until it is counted, by plans that a schedule of some size makes */
    int code = bench_place(session, error);
    bench_expect(session, 0);
    if (session->placements == NULL) {
        session->shards = row_work_shards(session);
        bench_expect(session, 0);
    }
    if (code == CW_OK)
        code = shortcuts_check(session->options, session->config, error);
    if (code == CW_OK && session->options->fold == RUN_SHORTCUT_ON &&
        session->program != &bench_step && bench_fold_why_not(session) != NULL)
        code = cw_error_set(error, CW_USAGE, "--fold on: %s", bench_fold_why_not(session));
    if (code == CW_OK)
        code = bench_algorithm_check(session, error);
    if (code == CW_OK)
        code = bench_sample_check(session, NULL, error);
    if (code == CW_OK && session->program->prepare != NULL)
        code = session->program->prepare(session, dist, error);
    if (code == CW_OK && dist->kernels_only) {
        code = bench_check_sizes(session, bench_check_tile, error);
        if (code == CW_OK)
            code = dist_check_kernels_only(session->config, dist->pair, error);
    }
    return code;
}

static void end_session(struct bench_session *session)
{
    if (session->program->finish != NULL)
        session->program->finish(session);
    for (size_t i = 0; i < RUN_SIZES_MAX; i++)
        free(session->refused[i]);
    bench_fold_end(session);
    free(session->workers_before);
    repeat_forget(&session->repeat);
    free(session->credit_waited);
    free(session->placements);
}

/* `expected`: a copy of the configuration, which the bench may change. */
static struct bench_session session_of(const struct run_options *options, struct config *expected,
                                       struct result *result)
{
    return (struct bench_session){.options = options,
                                  .config = expected,
                                  .expected = expected,
                                  .n_elem = expected->ccl.n_elem,
                                  .result = result,
                                  .program = bench_find(options->bench),
                                  .fold_holds_so_far = bench_fold_holds_so_far};
}

int bench_check(const struct run_options *options, const struct config *config,
                struct cw_error *error)
{
    struct config expected = *config;
    struct bench_session session = session_of(options, &expected, NULL);
    struct dist_options dist = dist_options_of(&session);
    struct install_plans *plans = NULL;
    int code = prepare(&session, &dist, error);
    if (code == CW_OK && session.program->no_algorithm) /* its queues are the configured ones */
        code = dist_make_plans(config, dist_world_size_for(config), &plans, error);
    install_plans_free(plans);
    end_session(&session);
    return code;
}

int bench_run(const struct run_options *options, const struct config *config, struct result *result,
              struct cw_error *error)
{
    struct config expected = *config;
    struct bench_session session = session_of(options, &expected, result);
    process_phases_begin(&result->phases, options->begun_s);
    if (session.program == NULL) {
        return cw_error_set(error, CW_USAGE, "--bench %s: no such bench", options->bench);
    }
    struct dist_options dist = dist_options_of(&session);
    struct cw_config *const engine = &dist.machine.engine;
    engine->check_changes = environment_get(ENVIRONMENT_CHECK_CHANGES) != NULL;
    engine->tuning.each_round = options->engine_log != NULL ? bench_log_round : NULL;
    engine->tuning.progress_arg = &session;
    if (options->engine_trace != NULL)
        engine->tuning.interval_bytes = engine_trace_bytes(options->engine.worker_count);
    session.shows_progress = isatty(STDERR_FILENO) && !options->quiet;
    engine->tuning.progress = session.shows_progress ? bench_show_progress : NULL;
    int code = prepare(&session, &dist, error);
    if (code == CW_OK)
        code = make_room_for_workers(&session, options->engine.worker_count, error);
    struct run_logs logs = {0};
    session.logs = &logs;
    if (code == CW_OK)
        code = run_logs_open(&logs, options, config, error);
    logs.use = &session.use;
    if (code == CW_OK)
        code = run_use_open(&session.use, options, config, error);
    dist.machine.listener[0] = logs.listener;
    if (code == CW_OK && options->engine_log != NULL)
        code = engine_log_open(&session.engine_log, options->engine_log, error);
    if (code == CW_OK && options->engine_trace != NULL)
        code = atomic_file_open(&session.engine_trace, options->engine_trace, error);
    if (code == CW_OK)
        code = run_all(&session, &dist, error);
    if (code == CW_OK)
        code = run_logs_commit(&logs, error);
    else if (result->failure != NULL || result->interrupted)
        commit_so_far(&session, &logs);
    if (code == CW_OK)
        code = run_use_commit(&session.use, result, error);
    else if (result->failure != NULL || result->interrupted)
        (void)run_use_commit(&session.use, result, &(struct cw_error){0});
    if (code == CW_OK && session.engine_log.stream != NULL)
        code = atomic_file_commit(&session.engine_log, error);
    end_session(&session);
    run_logs_discard(&logs);
    run_use_discard(&session.use);
    atomic_file_discard(&session.engine_log);
    atomic_file_discard(&session.engine_trace);
    return code;
}
