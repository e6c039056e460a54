/*
 * ccl_allreduce.c: the benches of collectives that reduce in place: the all-reduce, a reduce to one
 * rank, and custom collectives, which MSCCL XML files alone do. Each is a worker per rank, as in a
 * DDP script, and around it the steps of a benchmark: sizes, warm-up, iterations, verification,
 * hash.
 */
#include <stdio.h>

#include "bench/programs/bench_program.h"
#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_verify.h"
#include "bench/programs/row_work.h"

/* The current size; shared by all workers. */
struct allreduce {
    struct bench_session *session;
    uint64_t n_elem;
    uint64_t seed; /* of the inputs */
    uint32_t root; /* of a reduce */
    struct dp_policy policy;
    struct result_row *row;
    struct verifier *verifier; /* NULL: not verified */
};

/* The worker of every rank. It knows nothing of queues, cubes or simulator threads. */
static void ccl_allreduce_worker(int rank, void *arg)
{
    const struct allreduce *allreduce = arg;
    const struct run_options *options = allreduce->session->options;
    const struct dp_policy policy = allreduce->policy;

    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    struct tensor *tensor = dist_tensor_zeros(allreduce->n_elem, options->dtype, &policy);
    for (uint32_t i = 0; repeat_goes_on(&allreduce->session->repeat, i); i++) {
        dist_fill_input(tensor, allreduce->seed);
        if (allreduce->session->program->does == CCL_REDUCE)
            dist_reduce(tensor, allreduce->root, options->op);
        else if (allreduce->session->program->does == CCL_CUSTOM)
            dist_custom(tensor, options->op);
        else
            bench_all_reduce(options, tensor);
    }
}

/* All ranks have their result, and none has continued yet. */
static int ccl_allreduce_completed(void *arg, const struct dist_completion *completion,
                                   struct cw_error *error)
{
    struct bench_session *session = arg;
    struct allreduce *allreduce = session->own;
    const struct run_options *options = session->options;
    struct result_row *row = allreduce->row;
    const uint32_t weight = repeat_weight(&session->repeat);
    bench_row_sample(row, completion->times, weight);
    bench_called(session);
    if (weight == 0)
        return CW_OK;
    if (allreduce->verifier != NULL &&
        bench_compare(allreduce->verifier, completion, row, error) != CW_OK)
        return error->exit_code;
    if (options->no_data || !repeat_is_over(&session->repeat))
        return CW_OK;
    row->has_hash = true;
    return dist_hash(completion->dist, completion->tensors, &row->data_hash, error);
}

static int ccl_allreduce_run_size(struct bench_session *session, uint64_t n_elem,
                                  struct cw_error *error)
{
    const struct run_options *options = session->options;
    const struct config *config = session->config;
    const enum ccl_collective does = session->program->does;
    const struct ccl_call call = bench_call(session, does, n_elem);
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(&call, NULL, error);
    if (algorithm == NULL)
        return error->exit_code;
    struct allreduce allreduce = {.session = session,
                                  .n_elem = n_elem,
                                  .root = call.root,
                                  .policy = dist_facts(session->dist)->policy};
    allreduce.seed = bench_seed(session, &allreduce.policy, n_elem);
    allreduce.row = row_work_add(session, ccl_collective_name(does), does, n_elem, error);
    if (allreduce.row == NULL)
        return error->exit_code;
    snprintf(allreduce.row->algorithm, sizeof allreduce.row->algorithm, "%s",
             ccl_algorithm_label(&config->ccl, algorithm));
    snprintf(allreduce.row->redop, sizeof allreduce.row->redop, "%s", redop_name(options->op));
    if (options->verify_data) {
        allreduce.verifier = bench_verifier(session, algorithm, n_elem, allreduce.seed, error);
        if (allreduce.verifier == NULL)
            return error->exit_code;
        allreduce.row->wrong = 0;
    }
    int code = bench_sample(session, &call, allreduce.seed, allreduce.row, error);
    if (code != CW_OK)
        return code;
    session->own = &allreduce;
    bench_calls_begin(session);
    code = dist_spawn(session->dist, ccl_allreduce_worker, &allreduce, error);
    session->own = NULL;
    verifier_free(allreduce.verifier);
    return code == CW_OK ? bench_row_finish(session, allreduce.row,
                                            lp_system_current_batch(dist_system(session->dist)),
                                            options->iterations, error)
                         : code;
}

static int ccl_allreduce_check_size(const struct bench_session *session, uint64_t n_elem,
                                    struct cw_error *error)
{
    const enum ccl_collective does = session->program->does;
    const struct ccl_call call = bench_call(session, does, n_elem);
    const enum redop op = session->options->op;
    if (does != CCL_ALL_REDUCE && (op == REDOP_AVG || op == REDOP_PREMULSUM))
        return cw_error_set(error, CW_USAGE, "--op %s: %s reduces by sum, prod, max or min",
                            redop_name(op), session->program->name);
    int code = dist_check_call(session->config, &call, error);
    if (code == CW_OK)
        code = bench_sample_check(session, &call, error);
    return code == CW_OK
               ? bench_check_hbm(session, n_elem * dtype_bytes(session->options->dtype), error)
               : code;
}

static int ccl_allreduce_prepare(struct bench_session *session, struct dist_options *dist,
                                 struct cw_error *error)
{
    dist->completed = ccl_allreduce_completed;
    return bench_check_sizes(session, ccl_allreduce_check_size, error);
}

static int run_allreduce(struct bench_session *session, struct cw_error *error)
{
    return bench_run_sizes(session, ccl_allreduce_run_size, error);
}

const struct bench_program bench_ccl_allreduce = {.name = "ccl_allreduce",
                                                  .about = "an all-reduce, one worker per rank",
                                                  .collective = true,
                                                  .does = CCL_ALL_REDUCE,
                                                  .folds = true,
                                                  .takes = {"input", "bytes-per-rank"},
                                                  .prepare = ccl_allreduce_prepare,
                                                  .run = run_allreduce};
const struct bench_program bench_ccl_reduce = {.name = "ccl_reduce",
                                               .about = "a reduce to one rank",
                                               .collective = true,
                                               .does = CCL_REDUCE,
                                               .folds = true,
                                               .takes = {"input", "bytes-per-rank"},
                                               .prepare = ccl_allreduce_prepare,
                                               .run = run_allreduce};
const struct bench_program bench_ccl_custom = {.name = "ccl_custom",
                                               .about = "the steps of a custom MSCCL XML file",
                                               .collective = true,
                                               .does = CCL_CUSTOM,
                                               .folds = true,
                                               .takes = {"input", "bytes-per-rank"},
                                               .prepare = ccl_allreduce_prepare,
                                               .run = run_allreduce};
