/* bench_verify.c: the seed of a call's inputs, and the verifier of its results (bench_verify.h). */
#include "bench/programs/bench_verify.h"

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/row_work.h"
#include "collectives/data/input.h"
#include "collectives/relay.h"
#include "collectives/verify/sample.h"

uint64_t bench_seed(const struct bench_session *session, const struct dp_policy *policy,
                    uint64_t n_elem)
{
    const struct run_options *const options = session->options;
    const uint64_t operands =
        (uint64_t)dist_world_size_for(session->config) * bench_parts(&session->config->hw, policy);
    return options->input == RUN_INPUT_INTEGERS
               ? input_integers(options->seed, options->dtype, options->op, operands, n_elem)
               : options->seed;
}

void bench_all_reduce(const struct run_options *options, struct tensor *tensor)
{
    if (options->op == REDOP_PREMULSUM)
        dist_all_reduce_scaled(tensor, options->scalar);
    else
        dist_all_reduce(tensor, options->op);
}

void bench_reduce_scatter(const struct run_options *options, struct tensor *output,
                          struct tensor *input)
{
    if (options->op == REDOP_PREMULSUM)
        dist_reduce_scatter_scaled(output, input, options->scalar);
    else
        dist_reduce_scatter(output, input, options->op);
}

/* The arithmetic and the inputs of a call that `algorithm` carries out. */
static struct expect_request expected(const struct bench_session *session,
                                      const struct ccl_algorithm *algorithm, uint64_t n_elem,
                                      uint64_t seed)
{
    const struct run_options *const options = session->options;
    const enum dtype dtype = dtype_of_results(options->dtype, session->config->ccl.arithmetic);
    const struct dist_facts *const facts = dist_facts(session->dist);
    const uint64_t operands =
        facts->world_size *
        (facts->parts > 0 ? 1 : bench_parts(&session->config->hw, &facts->policy));
    return (struct expect_request){.hw = &session->config->hw,
                                   .ccl = &session->config->ccl,
                                   .module = bench_order(session, algorithm),
                                   .dtype = dtype,
                                   .op = redop_of_kernels(options->op),
                                   .scaling =
                                       scaling_of(dtype, options->op, options->scalar, operands),
                                   .n_elem = n_elem,
                                   .seed = seed,
                                   .sim = lp_system_sim(dist_system(session->dist))};
}

static struct verifier *make_verifier(const struct bench_session *session,
                                      const struct ccl_algorithm *algorithm, uint64_t n_elem,
                                      uint64_t seed, const void *values, struct cw_error *error)
{
    const struct run_options *const options = session->options;
    const struct dist_facts *const facts = dist_facts(session->dist);
    struct verifier_request request = {.expect = expected(session, algorithm, n_elem, seed),
                                       .algorithm = algorithm,
                                       .schedule =
                                           algorithm->schedule != NULL ? facts->schedule : NULL,
                                       .ranks = facts->world_size,
                                       .integers = options->input == RUN_INPUT_INTEGERS,
                                       .shards_apart = facts->parts > 0};
    request.expect.values = values;
    struct relay relay = {0};
    if (algorithm->order != NULL && algorithm->order->between == CCL_BETWEEN_RELAY) {
        const uint32_t root = bench_root(session->config, algorithm->collective);
        if (dist_relay(session->dist, NULL, root, &relay, error) != CW_OK)
            return NULL;
        request.expect.relay = &relay;
    }
    struct verifier *const verifier = verifier_create(&request, error);
    relay_free(&relay);
    return verifier;
}

struct verifier *bench_verifier(const struct bench_session *session,
                                const struct ccl_algorithm *algorithm, uint64_t n_elem,
                                uint64_t seed, struct cw_error *error)
{
    return make_verifier(session, algorithm, n_elem, seed, NULL, error);
}

struct verifier *bench_verifier_of_values(const struct bench_session *session,
                                          const struct ccl_algorithm *algorithm, uint64_t n_elem,
                                          const void *values, struct cw_error *error)
{
    return make_verifier(session, algorithm, n_elem, 0, values, error);
}

int bench_sample_check(const struct bench_session *session, const struct ccl_call *call,
                       struct cw_error *error)
{
    static const char legal[] = "legal are ccl_allreduce, ccl_reduce_scatter, ccl_all_gather and "
                                "ccl_all_to_all by an algorithm that is a schedule, such as "
                                "torus_rs_ag or torus_all_gather";
    const enum ccl_collective does = session->program->does;
    if (session->options->verify_ranks == 0)
        return CW_OK;
    if (!session->program->collective || session->program->no_algorithm ||
        !session->program->folds || session->options->data != NULL ||
        (does != CCL_ALL_REDUCE && does != CCL_REDUCE_SCATTER && does != CCL_ALL_GATHER &&
         does != CCL_ALL_TO_ALL))
        return cw_error_set(error, CW_USAGE,
                            "--verify-data sample: %s has no steps that can be followed without "
                            "tensor data; %s",
                            session->program->name, legal);
    const struct ccl_algorithm *const algorithm =
        call != NULL ? ccl_algorithm_of(call, NULL, error) : NULL;
    if (call == NULL || (algorithm != NULL && algorithm->schedule != NULL))
        return CW_OK;
    if (algorithm == NULL)
        return error->exit_code;
    return cw_error_set(error, CW_USAGE,
                        "--verify-data sample: %s is a kernel of its own, whose values only a run "
                        "with tensor data gives; %s",
                        ccl_algorithm_label(call->ccl, algorithm), legal);
}

int bench_sample(const struct bench_session *session, const struct ccl_call *call, uint64_t seed,
                 struct result_row *row, struct cw_error *error)
{
    const struct run_options *const options = session->options;
    const struct dist_facts *const facts = dist_facts(session->dist);
    if (options->verify_ranks == 0)
        return CW_OK;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(call, NULL, error);
    if (algorithm == NULL)
        return error->exit_code;
    if (facts->schedule == NULL)
        return cw_error_set(error, CW_USAGE, "--verify-data sample: there is no schedule");
    const struct schedule *const schedule = facts->schedule;
    struct sample_request request = {
        .algorithm = algorithm,
        .call = *call,
        .schedule = schedule->fold == NULL && !schedule->partial ? schedule : schedule->whole,
        .steps = schedule->steps,
        .members = schedule->members,
        .n_elem = call->n_elem,
        .shards = row->shards,
        .ranks = options->verify_ranks,
        .expect = expected(session, algorithm, call->n_elem, seed)};
    const bool reduces =
        call->collective == CCL_ALL_REDUCE || call->collective == CCL_REDUCE_SCATTER;
    request.proof = reduces ? proof_without_order(request.expect.dtype, request.expect.op,
                                                  options->input == RUN_INPUT_INTEGERS)
                            : PROOF_MOVED;
    struct sample_found found;
    if (!reduces)
        request.expect.scaling = (struct scaling){.divisor = 0};
    /* The schedule is made for the expected call (runtime/install_plan.c). */
    request.call.n_elem = session->config->ccl.n_elem;
    request.call.dtype = LP_F16;
    request.call.math = LP_MATH_SUM;
    const int code = sample_verify(&request, &found, error);
    if (code != CW_OK)
        return code;
    row->wrong = (int64_t)found.wrong;
    row->proof = PROOF_SAMPLE;
    row->sampled = (struct result_sampled){.ranks = found.ranks,
                                           .of_ranks = found.of,
                                           .chunks = found.chunks,
                                           .of_chunks = found.of_chunks,
                                           .elements = found.elements,
                                           .proof = request.proof};
    snprintf(row->sampled.fault, sizeof row->sampled.fault, "%s", found.fault);
    return CW_OK;
}

static int bench_read_shard(void *arg, uint32_t rank, uint32_t shard, uint64_t first,
                            uint64_t count, void *dst, struct cw_error *error)
{
    const struct dist_completion *const completion = arg;
    return dist_read(completion->dist, completion->tensors[rank], shard, first, count, dst, error);
}

int bench_compare(struct verifier *verifier, const struct dist_completion *completion,
                  struct result_row *row, struct cw_error *error)
{
    const struct tensor *const tensor = completion->tensors[0];
    struct dist_completion view = *completion;
    struct verdict verdict;
    const int code = verifier_compare(verifier, tensor->shard_count, tensor_parts(tensor),
                                      bench_read_shard, &view, &verdict, error);
    if (code != CW_OK)
        return code;
    row->wrong += (int64_t)verdict.wrong;
    row->proof = verdict.proof;
    row->ranks_differ = verdict.agreement.ranks_differ;
    row->not_finite = verdict.agreement.not_finite;
    row->error_bound = verdict.error_bound;
    if (verdict.error_largest > row->error_largest)
        row->error_largest = verdict.error_largest;
    return CW_OK;
}
