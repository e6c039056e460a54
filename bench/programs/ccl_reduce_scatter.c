/*
 * ccl_reduce_scatter.c: the reduce-scatter bench: a worker per rank, as in a DDP script, and around
 * it the steps of a benchmark: sizes (of a rank's whole input), warm-up, iterations, verification,
 * hash. It is ccl_allreduce.c with an output beside the input.
 */
#include <stdio.h>

#include "bench/programs/bench_program.h"
#include "bench/programs/bench_verify.h"
#include "bench/programs/row_work.h"

/* The current size; shared by all workers. */
struct reduce_scatter {
    struct bench_session *session;
    uint64_t n_elem;
    uint64_t seed; /* of the inputs */
    struct dp_policy policy;
    size_t row;
    struct verifier *verifier; /* NULL: not verified */
};

/* Where each rank's input and output are. */
static struct dp_policy scatter_policy(const struct bench_session *session)
{
    const struct dp_policy *const own = row_work_layout(session);
    return own != NULL ? *own : dist_facts(session->dist)->policy;
}

static struct result_row *ccl_reduce_scatter_row_of(const struct reduce_scatter *scatter)
{
    return &scatter->session->result->rows[scatter->row];
}

/* The worker of every rank. It knows nothing of queues, cubes or simulator threads. */
static void ccl_reduce_scatter_worker(int rank, void *arg)
{
    const struct reduce_scatter *scatter = arg;
    const struct run_options *options = scatter->session->options;

    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    const uint64_t each = scatter->n_elem / (uint64_t)dist_get_world_size();
    struct tensor *input = dist_tensor_zeros(scatter->n_elem, options->dtype, &scatter->policy);
    struct tensor *output = dist_tensor_zeros(each, options->dtype, &scatter->policy);
    for (uint32_t i = 0; repeat_goes_on(&scatter->session->repeat, i); i++) {
        dist_fill_input(input, scatter->seed);
        bench_reduce_scatter(options, output, input);
    }
}

/* All ranks have their result, and none has continued yet. */
static int ccl_reduce_scatter_completed(void *arg, const struct dist_completion *completion,
                                        struct cw_error *error)
{
    struct bench_session *session = arg;
    struct reduce_scatter *scatter = session->own;
    const struct run_options *options = session->options;
    struct result_row *row = ccl_reduce_scatter_row_of(scatter);
    const uint32_t weight = repeat_weight(&session->repeat);
    bench_row_sample(row, completion->times, weight);
    bench_called(session);
    if (weight == 0)
        return CW_OK;
    if (scatter->verifier != NULL &&
        bench_compare(scatter->verifier, completion, row, error) != CW_OK)
        return error->exit_code;
    if (options->no_data || !repeat_is_over(&session->repeat))
        return CW_OK;
    row->has_hash = true;
    return dist_hash(completion->dist, completion->tensors, &row->data_hash, error);
}

static int ccl_reduce_scatter_run_size(struct bench_session *session, uint64_t n_elem,
                                       struct cw_error *error)
{
    const struct run_options *options = session->options;
    const struct ccl_call call = bench_call(session, CCL_REDUCE_SCATTER, n_elem);
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(&call, NULL, error);
    if (algorithm == NULL)
        return error->exit_code;
    struct reduce_scatter scatter = {
        .session = session, .n_elem = n_elem, .policy = scatter_policy(session)};
    scatter.seed = bench_seed(session, &scatter.policy, n_elem);
    struct result_row *row =
        row_work_add(session, "reduce_scatter", CCL_REDUCE_SCATTER, n_elem, error);
    if (row == NULL)
        return error->exit_code;
    scatter.row = session->result->row_count - 1;
    snprintf(row->algorithm, sizeof row->algorithm, "%s", algorithm->name);
    snprintf(row->redop, sizeof row->redop, "%s", redop_name(options->op));
    if (options->verify_data) {
        row->wrong = 0;
        scatter.verifier = bench_verifier(session, algorithm, n_elem, scatter.seed, error);
        if (scatter.verifier == NULL)
            return error->exit_code;
    }
    int code = bench_sample(session, &call, scatter.seed, row, error);
    if (code != CW_OK)
        return code;
    session->own = &scatter;
    bench_calls_begin(session);
    code = dist_spawn(session->dist, ccl_reduce_scatter_worker, &scatter, error);
    session->own = NULL;
    verifier_free(scatter.verifier);
    return code == CW_OK ? bench_row_finish(session, ccl_reduce_scatter_row_of(&scatter),
                                            lp_system_current_batch(dist_system(session->dist)),
                                            options->iterations, error)
                         : code;
}

static int ccl_reduce_scatter_check_size(const struct bench_session *session, uint64_t n_elem,
                                         struct cw_error *error)
{
    const struct ccl_call call = bench_call(session, CCL_REDUCE_SCATTER, n_elem);
    int code = dist_check_call(session->config, &call, error);
    if (code == CW_OK)
        code = bench_sample_check(session, &call, error);
    return code == CW_OK ? dist_check_blocks(CCL_REDUCE_SCATTER, n_elem, call.world_size, error)
                         : code;
}

static int ccl_reduce_scatter_prepare(struct bench_session *session, struct dist_options *dist,
                                      struct cw_error *error)
{
    const int code = bench_check_sizes(session, ccl_reduce_scatter_check_size, error);
    if (code != CW_OK)
        return code;
    const struct ccl_call call = bench_call(session, CCL_REDUCE_SCATTER, 0);
    const struct ccl_algorithm *algorithm = ccl_algorithm_for(call.ccl, call.collective, error);
    if (algorithm == NULL)
        return error->exit_code;
    dist->machine.needs.contexts = 1 + algorithm->kernel->stream_count;
    dist->machine.needs.peers = ccl_algorithm_peers(algorithm, &call);
    dist->completed = ccl_reduce_scatter_completed;
    return CW_OK;
}

static int ccl_reduce_scatter_run(struct bench_session *session, struct cw_error *error)
{
    return bench_run_sizes(session, ccl_reduce_scatter_run_size, error);
}

const struct bench_program bench_ccl_reduce_scatter = {.name = "ccl_reduce_scatter",
                                                       .about = "a reduce-scatter",
                                                       .collective = true,
                                                       .does = CCL_REDUCE_SCATTER,
                                                       .folds = true,
                                                       .takes = {"input", "bytes-per-rank"},
                                                       .prepare = ccl_reduce_scatter_prepare,
                                                       .run = ccl_reduce_scatter_run};
