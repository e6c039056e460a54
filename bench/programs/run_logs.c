/*
 * run_logs.c: opens the files of a run's logs, writes committed records to them, and completes or
 * drops them (run_logs.h).
 */
#include "bench/programs/run_logs.h"

#include "collectives/config/input/environment.h"

#include <stdlib.h>
#include <string.h>

#include "lp/host/batches.h"
#include "lp/queues/queue_ends.h"

static bool run_logs_is_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

FILE *run_logs_listing(const struct run_options *options)
{
    return run_logs_is_stdout(options->json) || run_logs_is_stdout(options->csv) ? stderr : stdout;
}

/* ---- committed records ----------------------------------------------------------------------- */

/* A line of the CCL trace (bench/FORMATS.md): rank, t, dir, nbytes. t is the time at which the
 * kernel went on. Of a group, the rank is the group's. */
static void trace_op(const struct run_logs *logs, const struct lp_op *op)
{
    if (op->kind != LP_OP_SEND && op->kind != LP_OP_RECV)
        return;
    const struct hw_place place = hw_place_of(&logs->config->hw, op->pe);
    const struct lp_launch *const launch =
        lp_launch_of(lp_system_model(logs->system), logs->launch_of_pe[op->pe]);
    const char *const whose = lp_launch_whose(launch);
    fprintf(logs->ccl_trace, "rank %u%s%s, t %lld.%03lld ns, %s %s, %u bytes, PE %u.%u.%u\n",
            launch->args.rank, whose != NULL ? " of " : "", whose != NULL ? whose : "",
            (long long)(op->t_end_ps / 1000), (long long)(op->t_end_ps % 1000),
            op->kind == LP_OP_SEND ? "send" : "recv",
            lp_dir_name(lp_system_model(logs->system)->named, op->pe, (enum hw_dir)op->dir),
            op->bytes, place.sip, place.cube, place.pe);
}

static void run_logs_on_op(void *arg, const struct cw_event *event, const struct lp_op *op)
{
    struct run_logs *logs = arg;
    (void)event;
    if (logs->ccl_trace != NULL)
        trace_op(logs, op);
    if (logs->timeline != NULL)
        timeline_op(logs->timeline, op);
    if (logs->use != NULL && logs->use->machine != NULL)
        machine_use_op(logs->use->machine, op);
}

static void run_logs_on_kernel(void *arg, const struct lp_kernel_record *record)
{
    struct run_logs *logs = arg;
    if (logs->ccl_trace != NULL && record->mark == LP_MARK_START)
        logs->launch_of_pe[record->pe] = record->launch;
    if (logs->timeline != NULL)
        timeline_kernel(logs->timeline, record);
    if (logs->use != NULL && logs->use->machine != NULL)
        machine_use_kernel(logs->use->machine, record);
}

static void run_logs_on_crossed(void *arg, const struct lp_crossed *crossed)
{
    const struct run_logs *const logs = arg;
    if (logs->use != NULL && logs->use->machine != NULL)
        machine_use_crossed(logs->use->machine, crossed);
    if (logs->timeline != NULL)
        timeline_crossed(logs->timeline, crossed);
}

static void run_logs_on_arrival(void *arg, const struct cw_event *event,
                                const struct lp_arrival *arrival)
{
    (void)event;
    timeline_arrival(((const struct run_logs *)arg)->timeline, arrival);
}

static void run_logs_on_waited(void *arg, int64_t now_ps, const struct lp_waited *waited)
{
    timeline_waited(((const struct run_logs *)arg)->timeline, now_ps, waited);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_ccl_trace(struct run_logs *logs, struct cw_error *error)
{
    const char *path = logs->options->ccl_trace;
    if (path == NULL && !logs->options->aside && environment_is(ENVIRONMENT_CCL_TRACE, "1"))
        path = "-";
    if (path == NULL)
        return CW_OK;
    if (run_logs_is_stdout(path)) {
        logs->ccl_trace = run_logs_listing(logs->options);
        return CW_OK;
    }
    const int code = atomic_file_open(&logs->ccl_trace_file, path, error);
    logs->ccl_trace = logs->ccl_trace_file.stream;
    return code;
}

/* Of tiles. A step writes its own timeline, of operations. */
static bool writes_timeline(const struct run_options *options)
{
    return options->timeline != NULL && options->workload == NULL;
}

static int open_timeline(struct run_logs *logs, struct cw_error *error)
{
    const struct run_options *const options = logs->options;
    struct timeline_options *const to = &logs->timeline_options;
    *to = (struct timeline_options){
        .collective = options->bench, .warmup = options->warmup, .links = options->trace_links};
    int code = timeline_filter_read(&to->filter, options->trace_only, options->trace_from_ps,
                                    options->trace_to_ps, &logs->config->hw, error);
    if (code == CW_OK)
        code = atomic_file_open(&logs->timeline_file, options->timeline, error);
    if (code == CW_OK)
        code =
            trace_stream_open(&logs->trace, logs->timeline_file.stream, options->timeline, error);
    return code;
}

int run_logs_open(struct run_logs *logs, const struct run_options *options,
                  const struct config *config, struct cw_error *error)
{
    *logs = (struct run_logs){.options = options, .config = config};
    int code = open_ccl_trace(logs, error);
    if (code == CW_OK && options->op_log != NULL)
        code = atomic_file_open(&logs->op_log_file, options->op_log, error);
    if (code == CW_OK && writes_timeline(options))
        code = open_timeline(logs, error);
    if (code == CW_OK && logs->ccl_trace != NULL) {
        logs->launch_of_pe = calloc(hw_pe_count(&config->hw), sizeof *logs->launch_of_pe);
        if (logs->launch_of_pe == NULL)
            code = cw_error_memory(error, "the CCL trace");
    }
    if (logs->ccl_trace != NULL || writes_timeline(options) || run_use_is_asked(options))
        logs->listener =
            (struct lp_listener){.op = run_logs_on_op, .kernel = run_logs_on_kernel, .arg = logs};
    if (options->links != NULL || writes_timeline(options))
        logs->listener.crossed = run_logs_on_crossed;
    if (writes_timeline(options)) {
        logs->listener.arrival = run_logs_on_arrival;
        logs->listener.waited = run_logs_on_waited;
    }
    return code;
}

static int begin_op_log(struct run_logs *logs, struct dist *dist, const char *algorithm,
                        struct cw_error *error)
{
    const struct run_options *options = logs->options;
    struct op_log_header header = {.dtype = options->dtype,
                                   .redop = options->op,
                                   .seed = options->seed,
                                   .arithmetic = logs->config->ccl.arithmetic,
                                   .machine = logs->config->hw};
    snprintf(header.version, sizeof header.version, "%s", CW_VERSION);
    snprintf(header.config_digest, sizeof header.config_digest, "%s", logs->config->digest);
    snprintf(header.bench, sizeof header.bench, "%s", options->bench);
    snprintf(header.algorithm, sizeof header.algorithm, "%s", algorithm);
    logs->op_log = op_log_create(logs->op_log_file.stream, &header, error);
    if (logs->op_log == NULL)
        return error->exit_code;
    dist_log(dist, logs->op_log);
    return CW_OK;
}

int run_logs_begin(struct run_logs *logs, struct dist *dist, const char *algorithm,
                   struct cw_error *error)
{
    logs->system = dist_system(dist);
    if (logs->options->op_log != NULL && begin_op_log(logs, dist, algorithm, error) != CW_OK)
        return error->exit_code;
    if (!writes_timeline(logs->options))
        return CW_OK;
    logs->timeline = timeline_create(logs->trace.text, lp_system_model(dist_system(dist)),
                                     &logs->timeline_options, error);
    return logs->timeline != NULL ? CW_OK : error->exit_code;
}

/* Ends the timeline. Without its end it could not be read, so it is dropped. */
static int end_timeline(struct run_logs *logs, struct cw_error *error)
{
    int code = timeline_finish(logs->timeline, error);
    timeline_free(logs->timeline);
    logs->timeline = NULL;
    struct cw_error second;
    const int closed = trace_stream_close(&logs->trace, code == CW_OK ? error : &second);
    code = code != CW_OK ? code : closed;
    if (code != CW_OK)
        atomic_file_discard(&logs->timeline_file);
    return code;
}

int run_logs_end(struct run_logs *logs, struct dist *dist, struct cw_error *error)
{
    int code = logs->timeline != NULL ? end_timeline(logs, error) : CW_OK;
    if (logs->op_log == NULL)
        return code;
    struct cw_error second;
    const int finished = op_log_finish(logs->op_log, data_pass_digest(dist_data(dist)),
                                       code == CW_OK ? error : &second);
    if (finished != CW_OK) /* likewise */
        atomic_file_discard(&logs->op_log_file);
    return code != CW_OK ? code : finished;
}

static void log_waiting(void *arg, const struct lp_waiting *waiting)
{
    struct run_logs *const logs = arg;
    const struct hw_place place = hw_place_of(&logs->config->hw, waiting->pe);
    if (logs->ccl_trace != NULL)
        fprintf(logs->ccl_trace, "rank %u, t %lld.%03lld ns, %s, PE %u.%u.%u\n", waiting->rank,
                (long long)(waiting->since_ps / 1000), (long long)(waiting->since_ps % 1000),
                waiting->state, place.sip, place.cube, place.pe);
    if (logs->timeline != NULL)
        timeline_waiting(logs->timeline, waiting);
}

/* Behind all records that came. */
static void log_interruption(const struct run_logs *logs)
{
    const int64_t now_ps = cw_sim_now(lp_system_sim(logs->system));
    if (logs->ccl_trace != NULL)
        fprintf(logs->ccl_trace, "interrupted, t %lld.%03lld ns\n", (long long)(now_ps / 1000),
                (long long)(now_ps % 1000));
    if (logs->timeline != NULL)
        timeline_interrupted(logs->timeline, now_ps);
}

void run_logs_fail(struct run_logs *logs, struct dist *dist, bool interrupted)
{
    const struct lp_system *const system = dist_system(dist);
    struct cw_error ignored; /* the run has an error of its own */
    if (interrupted)
        log_interruption(logs);
    else if (lp_system_has_committed_states(system))
        lp_waiting_visit(lp_system_model(system), lp_system_sim(dist_system(dist)), log_waiting,
                         logs);
    (void)run_logs_end(logs, dist, &ignored);
}

int run_logs_commit(struct run_logs *logs, struct cw_error *error)
{
    struct atomic_file *const files[] = {&logs->ccl_trace_file, &logs->op_log_file,
                                         &logs->timeline_file};
    int code = CW_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (code == CW_OK && files[i]->stream != NULL)
            code = atomic_file_commit(files[i], error);
    return code;
}

void run_logs_discard(struct run_logs *logs)
{
    op_log_free(logs->op_log);
    timeline_free(logs->timeline);
    (void)trace_stream_close(&logs->trace, &(struct cw_error){0});
    free(logs->launch_of_pe);
    atomic_file_discard(&logs->ccl_trace_file);
    atomic_file_discard(&logs->op_log_file);
    atomic_file_discard(&logs->timeline_file);
    *logs = (struct run_logs){0};
}
