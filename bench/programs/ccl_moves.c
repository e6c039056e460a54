/*
 * ccl_moves.c: the benches of collectives that move data and reduce nothing: all-gather, broadcast,
 * barrier; each a worker per rank, as in a DDP script, and around it sizes, warm-up, iterations,
 * verification, hash. A size is a rank's result: an all-gather's result has as many
 * parts as there are ranks. A broadcast's root is rank 0, or its file's; a barrier has no size.
 */
#include <stdio.h>

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_program.h"
#include "bench/programs/bench_verify.h"
#include "bench/programs/row_work.h"
#include "collectives/verify/agreement.h"
#include "collectives/verify/expect_moves.h"

/* The current size; shared by all workers. */
struct move {
    struct bench_session *session;
    enum ccl_collective collective;
    uint64_t n_elem; /* of the result */
    uint64_t seed;   /* of the inputs */
    uint32_t root;   /* of a broadcast */
    struct dp_policy policy;
    size_t row;
};

/* A rank's result has a block of each rank's input. */
static bool is_of_blocks(enum ccl_collective collective)
{
    return collective == CCL_ALL_GATHER || collective == CCL_ALL_TO_ALL;
}

static struct result_row *ccl_moves_row_of(const struct move *move)
{
    return &move->session->result->rows[move->row];
}

/* The worker of every rank. It knows nothing of queues, cubes or simulator threads. */
static void ccl_moves_worker(int rank, void *arg)
{
    const struct move *move = arg;
    const struct run_options *options = move->session->options;

    dist_init_process_group("ahbm");
    const uint64_t ranks = (uint64_t)dist_get_world_size();
    ahbm_set_device(dist_device_of(rank));
    if (move->collective == CCL_BARRIER) {
        for (uint32_t i = 0; repeat_goes_on(&move->session->repeat, i); i++)
            dist_barrier();
        return;
    }
    struct tensor *tensor = dist_tensor_zeros(move->n_elem, options->dtype, &move->policy);
    if (move->collective == CCL_BROADCAST) {
        for (uint32_t i = 0; repeat_goes_on(&move->session->repeat, i); i++) {
            dist_fill_input(tensor, move->seed);
            dist_broadcast(tensor, move->root);
        }
        return;
    }
    const bool gathers = move->collective == CCL_ALL_GATHER;
    struct tensor *input = dist_tensor_zeros(gathers ? move->n_elem / ranks : move->n_elem,
                                             options->dtype, &move->policy);
    for (uint32_t i = 0; repeat_goes_on(&move->session->repeat, i); i++) {
        dist_fill_input(input, move->seed);
        if (gathers)
            dist_all_gather(tensor, input);
        else
            dist_all_to_all(tensor, input);
    }
}

static int ccl_moves_read_result(void *arg, uint32_t rank, uint32_t shard, uint64_t first,
                                 uint64_t count, void *dst, struct cw_error *error)
{
    const struct dist_completion *completion = arg;
    return dist_read(completion->dist, completion->tensors[rank], shard, first, count, dst, error);
}

static int ccl_moves_verify(const struct move *move, const struct dist_completion *completion,
                            struct cw_error *error)
{
    struct dist_completion view = *completion;
    const uint32_t parts = move->collective == CCL_ALL_GATHER ? completion->world_size : 1;
    const struct expect_moves moves = {.collective = move->collective,
                                       .ranks = completion->world_size,
                                       .shards = completion->tensors[0]->shard_count,
                                       .root = completion->root,
                                       .dtype = move->session->options->dtype,
                                       .n_elem = move->n_elem / parts,
                                       .seed = move->seed,
                                       .sim = lp_system_sim(dist_system(move->session->dist))};
    const struct agreement agreement = {.collective = move->collective,
                                        .ranks = moves.ranks,
                                        .shards = moves.shards,
                                        .shards_apart = true,
                                        .dtype = moves.dtype,
                                        .n_elem = move->n_elem,
                                        .sim = moves.sim};
    struct result_row *const row = ccl_moves_row_of(move);
    struct agreement_found found = {.ranks_differ = agreement_is_due(move->collective) ? 0 : -1};
    uint64_t wrong = 0;
    int code = expect_moves_verify(&moves, ccl_moves_read_result, &view, &wrong, error);
    if (code == CW_OK && wrong > 0) /* what is as it was is equal, and finite */
        code = agreement_look(&agreement, ccl_moves_read_result, &view, &found, error);
    row->wrong += (int64_t)wrong;
    row->proof = PROOF_MOVED;
    row->ranks_differ = found.ranks_differ;
    row->not_finite = found.not_finite;
    return code;
}

/* All ranks have their result, and none has continued yet. */
static int ccl_moves_completed(void *arg, const struct dist_completion *completion,
                               struct cw_error *error)
{
    struct bench_session *session = arg;
    struct move *move = session->own;
    const struct run_options *options = session->options;
    struct result_row *row = ccl_moves_row_of(move);
    snprintf(row->algorithm, sizeof row->algorithm, "%s", completion->algorithm->name);
    const uint32_t weight = repeat_weight(&session->repeat);
    bench_row_sample(row, completion->times, weight);
    bench_called(session);
    if (weight == 0 || move->collective == CCL_BARRIER)
        return CW_OK;
    int code = options->verify_data ? ccl_moves_verify(move, completion, error) : CW_OK;
    if (code != CW_OK || options->no_data || !repeat_is_over(&session->repeat))
        return code;
    row->has_hash = true;
    return dist_hash(completion->dist, completion->tensors, &row->data_hash, error);
}

static int ccl_moves_run_size(struct bench_session *session, uint64_t n_elem,
                              struct cw_error *error)
{
    const enum ccl_collective collective = session->program->does;
    const struct run_options *options = session->options;
    struct move move = {.session = session,
                        .collective = collective,
                        .n_elem = n_elem,
                        .root = bench_call(session, collective, n_elem).root,
                        .policy = dist_facts(session->dist)->policy};
    struct result_row *row =
        row_work_add(session, ccl_collective_name(collective), collective, n_elem, error);
    if (row == NULL)
        return error->exit_code;
    move.row = session->result->row_count - 1;
    move.seed = bench_seed(session, &move.policy, n_elem);
    if (options->verify_data && collective != CCL_BARRIER)
        row->wrong = 0;
    const uint32_t parts = collective == CCL_ALL_GATHER ? row->ranks : 1;
    const struct ccl_call call = bench_call(session, collective, n_elem / parts);
    int code = bench_sample(session, &call, move.seed, row, error);
    if (code != CW_OK)
        return code;
    session->own = &move;
    bench_calls_begin(session);
    code = dist_spawn(session->dist, ccl_moves_worker, &move, error);
    session->own = NULL;
    return code == CW_OK ? bench_row_finish(session, ccl_moves_row_of(&move),
                                            lp_system_current_batch(dist_system(session->dist)),
                                            options->iterations, error)
                         : code;
}

static int check_size(const struct bench_session *session, uint64_t n_elem, struct cw_error *error)
{
    const enum ccl_collective collective = session->program->does;
    const struct config *config = session->config;
    const uint32_t ranks = dist_world_size_for(config);
    const uint32_t parts = collective == CCL_ALL_GATHER ? ranks : 1;
    if (dist_check_blocks(collective, n_elem, ranks, error) != CW_OK)
        return CW_USAGE;
    const struct ccl_call call = bench_call(session, collective, n_elem / parts);
    const uint64_t tensors = n_elem + (is_of_blocks(collective) ? call.n_elem : 0);
    int code = dist_check_call(config, &call, error);
    if (code == CW_OK)
        code = bench_sample_check(session, &call, error);
    return code == CW_OK ? bench_check_hbm(session, tensors * tl_itemsize(call.dtype), error)
                         : code;
}

static int ccl_moves_prepare(struct bench_session *session, struct dist_options *dist,
                             struct cw_error *error)
{
    dist->completed = ccl_moves_completed;
    return session->program->does == CCL_BARRIER ? check_size(session, 1, error)
                                                 : bench_check_sizes(session, check_size, error);
}

static int ccl_moves_run(struct bench_session *session, struct cw_error *error)
{
    return bench_run_sizes(session, ccl_moves_run_size, error);
}

static int run_barrier(struct bench_session *session, struct cw_error *error)
{
    return ccl_moves_run_size(session, 0, error);
}

const struct bench_program bench_ccl_all_gather = {.name = "ccl_all_gather",
                                                   .about = "an all-gather",
                                                   .collective = true,
                                                   .does = CCL_ALL_GATHER,
                                                   .folds = true,
                                                   .takes = {"input", "bytes-per-rank"},
                                                   .prepare = ccl_moves_prepare,
                                                   .run = ccl_moves_run};
const struct bench_program bench_ccl_all_to_all = {.name = "ccl_all_to_all",
                                                   .about = "an all-to-all",
                                                   .collective = true,
                                                   .does = CCL_ALL_TO_ALL,
                                                   .folds = true,
                                                   .takes = {"input", "bytes-per-rank"},
                                                   .prepare = ccl_moves_prepare,
                                                   .run = ccl_moves_run};
const struct bench_program bench_ccl_broadcast = {.name = "ccl_broadcast",
                                                  .about =
                                                      "a broadcast from rank 0, or its file's root",
                                                  .collective = true,
                                                  .does = CCL_BROADCAST,
                                                  .folds = true,
                                                  .takes = {"input", "bytes-per-rank"},
                                                  .prepare = ccl_moves_prepare,
                                                  .run = ccl_moves_run};
const struct bench_program bench_ccl_barrier = {.name = "ccl_barrier",
                                                .about = "a barrier",
                                                .collective = true,
                                                .does = CCL_BARRIER,
                                                .folds = true,
                                                .prepare = ccl_moves_prepare,
                                                .run = run_barrier};
