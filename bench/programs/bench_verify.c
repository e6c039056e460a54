/* bench_verify.c: the seed of a call's inputs, and the verifier of its results (bench_verify.h). */
#include "bench/programs/bench_verify.h"

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/row_work.h"
#include "collectives/data/input.h"
#include "collectives/relay.h"

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

static struct verifier *make_verifier(const struct bench_session *session,
                                      const struct ccl_algorithm *algorithm, uint64_t n_elem,
                                      uint64_t seed, const void *values, struct cw_error *error)
{
    const struct run_options *const options = session->options;
    const enum dtype dtype = dtype_of_results(options->dtype, session->config->ccl.arithmetic);
    const struct dist_facts *const facts = dist_facts(session->dist);
    const uint64_t operands =
        facts->world_size *
        (facts->parts > 0 ? 1 : bench_parts(&session->config->hw, &facts->policy));
    struct verifier_request request = {
        .expect = {.hw = &session->config->hw,
                   .ccl = &session->config->ccl,
                   .module = bench_order(session, algorithm),
                   .dtype = dtype,
                   .op = redop_of_kernels(options->op),
                   .scaling = scaling_of(dtype, options->op, options->scalar, operands),
                   .n_elem = n_elem,
                   .seed = seed,
                   .values = values,
                   .sim = lp_system_sim(dist_system(session->dist))},
        .algorithm = algorithm,
        .schedule = algorithm->schedule != NULL ? facts->schedule : NULL,
        .ranks = facts->world_size,
        .integers = options->input == RUN_INPUT_INTEGERS,
        .shards_apart = facts->parts > 0};
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
