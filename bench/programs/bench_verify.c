/* bench_verify.c: the seed of a call's inputs, and the verifier of its results (bench_verify.h). */
#include "bench/programs/bench_verify.h"

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/row_work.h"
#include "collectives/data/input.h"

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

static struct verifier *make_verifier(const struct bench_session *session,
                                      const struct ccl_algorithm *algorithm, uint64_t n_elem,
                                      uint64_t seed, const void *values, struct cw_error *error)
{
    const struct run_options *const options = session->options;
    const struct verifier_request request = {
        .expect = {.hw = &session->config->hw,
                   .ccl = &session->config->ccl,
                   .module = bench_order(session, algorithm),
                   .dtype = options->dtype,
                   .op = options->op,
                   .n_elem = n_elem,
                   .seed = seed,
                   .values = values,
                   .sim = lp_system_sim(dist_system(session->dist))},
        .algorithm = algorithm,
        .schedule = algorithm->schedule != NULL ? dist_facts(session->dist)->schedule : NULL,
        .ranks = dist_facts(session->dist)->world_size,
        .integers = options->input == RUN_INPUT_INTEGERS,
        .shards_apart = dist_facts(session->dist)->parts > 0};
    return verifier_create(&request, error);
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
