/*
 * ccl_gradient.c: the all-reduce of a program's own data: the ranks' gradients come from a file,
 * raw little-endian elements, and the workers write them into their tensors and read the results
 * back, as a training script does. The file has, rank after rank, each rank's tensor, shard after
 * shard. All else is as in ccl_allreduce.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_program.h"
#include "bench/programs/bench_verify.h"
#include "bench/programs/row_work.h"
#include "bench/programs/value_file.h"
#include "collectives/runtime/dist_rehearsal.h"
#include "core/os/host_limits.h"

/* A run; shared by all workers. */
struct gradient {
    struct bench_session *session;
    struct dp_policy policy;
    uint64_t n_elem;        /* per shard */
    uint64_t tensor_elems;  /* of a rank */
    bool is_finite;         /* all values are; known if they are verified */
    uint8_t *values;        /* of the file */
    uint8_t *result;        /* rank 0's tensor, as its worker has read it; NULL: not wanted */
    struct atomic_file out; /* --data-out */
    struct result_row *row;
    struct verifier *verifier; /* NULL: not verified */
};

/* The worker of every rank. It knows nothing of queues, cubes or simulator threads. */
static void ccl_gradient_worker(int rank, void *arg)
{
    const struct gradient *const g = arg;
    const struct run_options *const options = g->session->options;
    const enum dtype dtype = options->dtype;
    const uint64_t count = g->tensor_elems;

    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    struct tensor *tensor = dist_tensor_zeros(g->n_elem, dtype, &g->policy);
    const uint8_t *const own = g->values + (uint64_t)rank * count * dtype_bytes(dtype);
    for (uint32_t i = 0; repeat_goes_on(&g->session->repeat, i); i++) {
        dist_tensor_copy_from(tensor, dtype, own, count);
        bench_all_reduce(options, tensor);
    }
    if (rank == 0 && g->result != NULL)
        dist_tensor_copy_to(tensor, dtype, g->result, count);
}

/* All ranks have their result, and none has continued yet. */
static int ccl_gradient_completed(void *arg, const struct dist_completion *completion,
                                  struct cw_error *error)
{
    struct bench_session *const session = arg;
    struct gradient *const g = session->own;
    const struct run_options *const options = session->options;
    const uint32_t weight = repeat_weight(&session->repeat);
    bench_row_sample(g->row, completion->times, weight);
    bench_called(session);
    if (weight == 0)
        return CW_OK;
    if (g->verifier != NULL && bench_compare(g->verifier, completion, g->row, error) != CW_OK)
        return error->exit_code;
    if (!g->is_finite)
        g->row->not_finite = -1;
    if (options->no_data || !repeat_is_over(&session->repeat))
        return CW_OK;
    g->row->has_hash = true;
    return dist_hash(completion->dist, completion->tensors, &g->row->data_hash, error);
}

/* ---- before the machine is built ------------------------------------------------------------- */

static int check_options(const struct run_options *options, struct cw_error *error)
{
    if (options->data == NULL)
        return cw_error_set(error, CW_USAGE,
                            "ccl_gradient needs the file of the ranks' gradients: --data FILE");
    if (options->size_count > 0)
        return cw_error_set(error, CW_USAGE,
                            "ccl_gradient: the file of --data says how many elements there are; "
                            "leave --bytes, --n-elem and -b out");
    if (options->no_data && options->data_out != NULL)
        return cw_error_set(
            error, CW_USAGE,
            "--no-data leaves nothing for --data-out to write: drop one of the two");
    return CW_OK;
}

/* How tensors are laid out, and so how many shards the file has. */
static int find_layout(struct gradient *g, uint64_t bytes, struct cw_error *error)
{
    const struct config *const config = g->session->config;
    const enum dtype dtype = g->session->options->dtype;
    const char *key = "defaults.topology";
    const int code = install_policy_for(dist_world_size_for(config), config->ccl.algorithm,
                                        &config->ccl, &config->hw, &g->policy, &key, error);
    if (code != CW_OK)
        return code == CW_USAGE ? dist_refuse(config, key, error) : code;
    const uint32_t ranks = dist_world_size_for(config),
                   parts = bench_parts(&config->hw, &g->policy);
    const uint64_t unit = (uint64_t)ranks * parts * dtype_bytes(dtype);
    if (bytes == 0 || bytes % unit != 0)
        return cw_error_set(
            error, CW_USAGE,
            "--data %s: the file has %llu bytes; %u ranks with %u shards each of %s "
            "elements take a multiple of %llu",
            g->session->options->data, (unsigned long long)bytes, ranks, parts, dtype_name(dtype),
            (unsigned long long)unit);
    g->n_elem = bytes / unit;
    g->tensor_elems = g->n_elem * parts;
    return CW_OK;
}

/* Sums are compared where they are numbers, max and min anywhere; and no bound of the error is
 * known for products of any numbers. */
static int check_verifiable(struct gradient *g, const struct ccl_algorithm *algorithm,
                            struct cw_error *error)
{
    const struct run_options *const options = g->session->options;
    const uint64_t count = g->tensor_elems * dist_world_size_for(g->session->config);
    const bool adds = options->op != REDOP_MAX && options->op != REDOP_MIN;
    uint64_t at = 0;
    if (!options->verify_data)
        return CW_OK;
    g->is_finite = value_file_is_finite(options->dtype, g->values, count, &at);
    if (!g->is_finite && adds)
        return cw_error_set(error, CW_USAGE,
                            "--data %s: element %llu is no finite number, so that --verify-data "
                            "could not compare sums; --op max and min are compared",
                            options->data, (unsigned long long)at);
    if (options->op == REDOP_PROD && algorithm->order == NULL && algorithm->schedule == NULL)
        return cw_error_set(error, CW_USAGE,
                            "--verify-data: %s declares no order, and no bound of the error is "
                            "known for products of a file's values; use --op sum, max or min",
                            algorithm->name);
    return CW_OK;
}

static int ccl_gradient_prepare(struct bench_session *session, struct dist_options *dist,
                                struct cw_error *error)
{
    const struct run_options *const options = session->options;
    if (check_options(options, error) != CW_OK)
        return error->exit_code;
    struct gradient *const g = calloc(1, sizeof *g);
    if (g == NULL)
        return cw_error_memory(error, "the gradients");
    session->own = g;
    g->session = session;
    const uint64_t limit = options->engine.memory_bytes_max;
    uint64_t bytes = 0;
    int code =
        value_file_read("--data", options->data, limit > 0 ? limit : host_limits_memory_bytes() / 2,
                        &g->values, &bytes, error);
    if (code == CW_OK)
        code = find_layout(g, bytes, error);
    if (code != CW_OK)
        return code;
    session->n_elem = g->n_elem;
    bench_expect(session, 0);
    const struct ccl_call call = bench_call(session, CCL_ALL_REDUCE, g->n_elem);
    code = dist_check_call(session->config, &call, error);
    const struct ccl_algorithm *const algorithm =
        code == CW_OK ? ccl_algorithm_of(&call, NULL, error) : NULL;
    if (algorithm == NULL)
        return error->exit_code;
    code = check_verifiable(g, algorithm, error);
    if (code == CW_OK && options->data_out != NULL) {
        g->result = malloc(g->tensor_elems * dtype_bytes(options->dtype));
        code = g->result != NULL ? atomic_file_open(&g->out, options->data_out, error)
                                 : cw_error_memory(error, "the result");
    }
    dist->completed = ccl_gradient_completed;
    return code;
}

static void ccl_gradient_finish(struct bench_session *session)
{
    struct gradient *const g = session->own;
    if (g == NULL)
        return;
    atomic_file_discard(&g->out);
    free(g->values);
    free(g->result);
    free(g);
    session->own = NULL;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int add_row(struct gradient *g, const struct ccl_algorithm *algorithm,
                   struct cw_error *error)
{
    struct bench_session *const session = g->session;
    g->row = row_work_add(session, "all_reduce", CCL_ALL_REDUCE, g->n_elem, error);
    if (g->row == NULL)
        return error->exit_code;
    snprintf(g->row->algorithm, sizeof g->row->algorithm, "%s",
             ccl_algorithm_label(&session->config->ccl, algorithm));
    snprintf(g->row->redop, sizeof g->row->redop, "%s", redop_name(session->options->op));
    if (!session->options->verify_data)
        return CW_OK;
    g->row->wrong = 0;
    g->verifier = bench_verifier_of_values(session, algorithm, g->n_elem, g->values, error);
    return g->verifier != NULL ? CW_OK : error->exit_code;
}

static int write_result(struct gradient *g, struct cw_error *error)
{
    if (g->result == NULL)
        return CW_OK;
    const size_t bytes = g->tensor_elems * dtype_bytes(g->session->options->dtype);
    (void)fwrite(g->result, 1, bytes, g->out.stream); /* atomic_file_commit() reports a failure */
    return atomic_file_commit(&g->out, error);
}

static int ccl_gradient_run(struct bench_session *session, struct cw_error *error)
{
    struct gradient *const g = session->own;
    const struct ccl_call call = bench_call(session, CCL_ALL_REDUCE, g->n_elem);
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(&call, NULL, error);
    int code = algorithm != NULL ? add_row(g, algorithm, error) : error->exit_code;
    bench_calls_begin(session);
    if (code == CW_OK)
        code = dist_spawn(session->dist, ccl_gradient_worker, g, error);
    verifier_free(g->verifier);
    if (code == CW_OK)
        code =
            bench_row_finish(session, g->row, lp_system_current_batch(dist_system(session->dist)),
                             session->options->iterations, error);
    return code == CW_OK ? write_result(g, error) : code;
}

const struct bench_program bench_ccl_gradient = {
    .name = "ccl_gradient",
    .about = "an all-reduce of gradients from a file (--data)",
    .collective = true,
    .does = CCL_ALL_REDUCE,
    .takes = {"data", "data-out"},
    .prepare = ccl_gradient_prepare,
    .run = ccl_gradient_run,
    .finish = ccl_gradient_finish};
