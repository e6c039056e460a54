/*
 * gemm.c: benches `gemm`, a matrix product on PE 0 of each cube, and `gemm_allreduce`, the same
 * beside an all-reduce on the same PEs (collectives/algorithms/ALGORITHMS.md): first
 * each alone, then both at once. The two share PE_DMA, whose virtual channels keep them
 * apart, and HBM, where the all-reduce loads and stores.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/programs/bench_program.h"
#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_verify.h"
#include "bench/programs/row_work.h"
#include "collectives/choice/cost_times.h"
#include "collectives/data/input.h"
#include "collectives/hook.h"
#include "collectives/compute/compute_call.h"
#include "collectives/compute/matmul_verify.h"
#include "collectives/verify/bound.h"

enum stage { REDUCE, MULTIPLY, BOTH, STAGES };

/* A run of one size; shared by all workers. */
struct gemm {
    struct bench_session *session;
    enum stage first, last;
    enum stage stage;        /* under way */
    uint64_t n_elem;         /* of the all-reduce */
    struct dp_policy policy; /* of its tensors; products run on PE 0 of the cubes that have one */
    const struct ccl_algorithm *algorithm; /* of the all-reduce; NULL: there is none */
    struct compute_job job;
    struct matmul_beside beside;
    uint32_t collective_phases;
    struct tensor **operands;  /* [ranks] */
    struct verifier *verifier; /* NULL: not verified */
    size_t row;                /* the stage's first */
    uint32_t calls[STAGES];    /* of each stage, warm-up included, as far as is known */
};

static bool is_cut(const struct run_options *options)
{
    return options->gemm.operands == MATMUL_CUT;
}

/* A product over all PEs of each SIP. */
static struct compute_request cut_product(const struct run_options *options)
{
    return (struct compute_request){.kind = COMPUTE_PRODUCT,
                                    .dtype = options->dtype,
                                    .m = options->gemm.m,
                                    .n = options->gemm.n,
                                    .k = options->gemm.k};
}

static void cut_worker(int rank, void *arg)
{
    struct gemm *const gemm = arg;
    const struct run_options *const options = gemm->session->options;
    const struct compute_request request = cut_product(options);
    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    gemm->job = *dist_compute_job(&request); /* the same on every rank */
    struct tensor *const operands = dist_compute_operands(&request);
    gemm->operands[rank] = operands;
    for (uint32_t i = 0; i < gemm->calls[MULTIPLY]; i++) {
        dist_fill_operands(operands, &request, options->seed);
        dist_matmul(operands, &gemm->job);
    }
}

static void gemm_worker(int rank, void *arg)
{
    struct gemm *gemm = arg;
    const struct run_options *options = gemm->session->options;
    const struct dp_policy policy = {
        .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = gemm->policy.num_cubes, .num_pes = 1};
    struct tensor *tensor = NULL;

    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    struct tensor *const operands =
        dist_tensor_zeros(matmul_elems(&gemm->job.shape), options->dtype, &policy);
    gemm->operands[rank] = operands;
    if (gemm->first != MULTIPLY)
        tensor = dist_tensor_zeros(gemm->n_elem, options->dtype, &gemm->policy);
    for (enum stage stage = gemm->first; stage <= gemm->last; stage++)
        for (uint32_t i = 0; i < gemm->calls[stage]; i++) {
            gemm->stage = stage;
            dist_fill_input(operands, options->seed);
            if (stage != MULTIPLY)
                dist_fill_input(tensor, options->seed);
            if (stage == REDUCE)
                dist_all_reduce(tensor, options->op);
            else if (stage == MULTIPLY)
                dist_matmul(operands, &gemm->job);
            else
                dist_all_reduce_beside(tensor, options->op, operands, &gemm->job,
                                       &gemm->beside.kernel);
        }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct result_row *row_at(const struct gemm *gemm, size_t i)
{
    return &gemm->session->result->rows[gemm->row + i];
}

/* Which of a stage's rows are about an all-reduce, and which about a product: the last. */
static size_t row_count(enum stage stage) { return stage == BOTH ? 2 : 1; }
static bool is_reduction(enum stage stage, size_t i) { return stage != MULTIPLY && i == 0; }

static const char *row_name(enum stage stage, size_t i)
{
    static const char *const alone[] = {"all_reduce", "gemm"};
    return stage != BOTH ? alone[stage] : i == 0 ? "all_reduce_beside_gemm" : "both";
}

/* One on each cube that has operands. */
static uint32_t products_of_rank(const struct gemm *gemm, const struct hw_config *hw)
{
    return gemm->policy.num_cubes > 0 ? gemm->policy.num_cubes : hw_cubes(hw);
}

/* Of the product, and beside an all-reduce of both: PE 0's HBM has the operands and a shard. */
static struct hw_bound product_bound(const struct gemm *gemm)
{
    const struct hw_config *const hw = &gemm->session->config->hw;
    if (is_cut(gemm->session->options))
        return compute_bound(hw, &gemm->job);
    struct hw_bound bound =
        matmul_bound(hw, &gemm->job.shape, dtype_bytes(gemm->session->options->dtype));
    if (gemm->stage != BOTH)
        return bound;
    const struct result_row *const beside = row_at(gemm, 0);
    struct hw_bound reduction = {.ps = beside->bound_ps, .by = beside->bound_by};
    memcpy(reduction.class_ps, beside->class_ps, sizeof reduction.class_ps);
    struct hw_bound hbm = {.ps = bound.class_ps[HW_LINK_HBM] + reduction.class_ps[HW_LINK_HBM],
                           .by = hw_link_name[HW_LINK_HBM]};
    hbm.class_ps[HW_LINK_HBM] = hbm.ps;
    hw_bound_join(&bound, &reduction);
    hw_bound_join(&bound, &hbm);
    return bound;
}

/* Of a rank: beside an all-reduce, its additions do not count. */
static double product_flops(const struct gemm *gemm)
{
    const struct matmul_shape *const shape = &gemm->job.shape;
    const struct hw_config *const hw = &gemm->session->config->hw;
    return 2.0 * shape->m * shape->n * shape->k *
           (is_cut(gemm->session->options) ? 1 : products_of_rank(gemm, hw));
}

static int add_rows(struct gemm *gemm, struct cw_error *error)
{
    struct bench_session *session = gemm->session;
    const struct config *config = session->config;
    const struct run_options *options = session->options;
    const struct matmul_shape *shape = &gemm->job.shape;
    gemm->row = session->result->row_count;
    for (size_t i = 0; i < row_count(gemm->stage); i++) {
        const bool reduction = is_reduction(gemm->stage, i);
        const char *const name = row_name(gemm->stage, i);
        struct result_row *row =
            reduction ? row_work_add(session, name, CCL_ALL_REDUCE, gemm->n_elem, error)
                      : bench_add_row(session, name, (uint64_t)shape->m * shape->n, error);
        if (row == NULL)
            return error->exit_code;
        row->wrong = options->verify_data ? 0 : -1;
        if (!reduction) {
            row->flops = product_flops(gemm);
            bench_set_bound(row, product_bound(gemm));
        } else {
            snprintf(row->algorithm, sizeof row->algorithm, "%s",
                     ccl_algorithm_label(&config->ccl, gemm->algorithm));
            snprintf(row->redop, sizeof row->redop, "%s", redop_name(options->op));
        }
    }
    return CW_OK;
}

/* When the last rank left the collective's own phases, since the first kernel's start. */
static int64_t collective_ps(const struct gemm *gemm, const struct dist_completion *completion)
{
    const struct lp_phases *const phases =
        lp_system_phases_of(dist_system(completion->dist), completion->batch);
    const struct lp_times *const times = completion->times;
    int64_t last_ps = times->first_start_ps;
    for (uint32_t rank = 0; rank < dist_facts(gemm->session->dist)->world_size; rank++)
        for (uint32_t i = 0; i < gemm->collective_phases; i++) {
            const int64_t exit_ps = phases->exit_ps[(size_t)rank * phases->count + i];
            last_ps = exit_ps > last_ps ? exit_ps : last_ps;
        }
    return last_ps - times->first_start_ps;
}

static void sample(struct gemm *gemm, const struct dist_completion *completion)
{
    const struct lp_times *const times = completion->times;
    const uint32_t weight = repeat_weight(&gemm->session->repeat);
    for (size_t i = 0; i < row_count(gemm->stage); i++)
        bench_row_sample(row_at(gemm, i), times, weight);
    if (gemm->stage == BOTH)
        row_at(gemm, 0)->time_ps += weight * (collective_ps(gemm, completion) -
                                              (times->last_end_ps - times->first_start_ps));
}

/* ---- verification ---------------------------------------------------------------------------- */

/* Every block of a product that is cut over PEs. */
static int verify_blocks(struct gemm *gemm, struct cw_error *error)
{
    const struct run_options *const options = gemm->session->options;
    struct dist *const dist = gemm->session->dist;
    const struct compute_job *const job = &gemm->job;
    struct result_row *const row = row_at(gemm, 0);
    void *const c = malloc(compute_shard_elems(job) * dtype_bytes(options->dtype));
    bool done = c != NULL;
    int code = CW_OK;
    row->proof = PROOF_ORDER;
    row->not_finite = 0;
    for (uint32_t i = 0; i < job->pes * dist_facts(dist)->world_size && done && code == CW_OK;
         i++) {
        const uint32_t rank = i / job->pes, index = i % job->pes;
        const struct compute_block block = compute_block_of(job, index);
        const uint64_t count = (uint64_t)block.shape.m * block.shape.n;
        uint64_t wrong = 0;
        code = dist_read(dist, gemm->operands[rank], job->request.first + index,
                         matmul_result(&block.shape), count, c, error);
        if (code == CW_OK)
            done = compute_verify(job, index, options->seed, rank * matmul_result(&job->shape),
                                  gemm->session->config->ccl.arithmetic, c, &wrong);
        row->wrong += (int64_t)wrong;
        row->not_finite += (int64_t)dtype_count_not_finite(options->dtype, c, count);
    }
    free(c);
    return done ? code : cw_error_memory(error, "the products");
}

/* Every cube's C. */
static int verify_products(struct gemm *gemm, struct cw_error *error)
{
    const struct run_options *options = gemm->session->options;
    struct dist *dist = gemm->session->dist;
    const struct matmul_shape *shape = &gemm->job.shape;
    const uint64_t count = (uint64_t)shape->m * shape->n;
    struct result_row *const row = row_at(gemm, row_count(gemm->stage) - 1);
    void *const c = malloc(count * dtype_bytes(options->dtype));
    bool done = c != NULL;
    int code = CW_OK;
    row->proof = PROOF_ORDER;
    row->not_finite = 0;
    for (uint32_t rank = 0; rank < dist_facts(dist)->world_size && done && code == CW_OK; rank++) {
        const struct tensor *operands = gemm->operands[rank];
        for (uint32_t i = 0; i < operands->shard_count && done && code == CW_OK; i++) {
            uint64_t wrong = 0;
            const uint64_t first = input_first(rank, tensor_parts(operands),
                                               operands->shard[i].part, operands->shard_elems);
            code = dist_read(dist, operands, i, matmul_result(shape), count, c, error);
            if (code == CW_OK)
                done = matmul_verify(shape, options->dtype, options->seed, first, c, &wrong);
            row->wrong += (int64_t)wrong;
            row->not_finite += (int64_t)dtype_count_not_finite(options->dtype, c, count);
        }
    }
    free(c);
    if (done)
        return code;
    return cw_error_memory(error, "the products");
}

static int gemm_verify(struct gemm *gemm, const struct dist_completion *completion,
                       struct cw_error *error)
{
    int code = CW_OK;
    if (!gemm->session->options->verify_data)
        return code;
    if (gemm->stage != MULTIPLY)
        code = bench_compare(gemm->verifier, completion, row_at(gemm, 0), error);
    if (code == CW_OK && gemm->stage != REDUCE)
        code = is_cut(gemm->session->options) ? verify_blocks(gemm, error)
                                              : verify_products(gemm, error);
    return code;
}

static int hash(struct gemm *gemm, const struct dist_completion *completion, struct cw_error *error)
{
    int code = CW_OK;
    for (size_t i = 0; i < row_count(gemm->stage) && code == CW_OK; i++) {
        struct result_row *row = row_at(gemm, i);
        row->has_hash = true;
        code = dist_hash(completion->dist,
                         is_reduction(gemm->stage, i) ? completion->tensors : gemm->operands,
                         &row->data_hash, error);
    }
    return code;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* All ranks have made one call, and none has continued yet. */
static int gemm_completed(void *arg, const struct dist_completion *completion,
                          struct cw_error *error)
{
    struct bench_session *session = arg;
    struct gemm *gemm = session->own;
    const struct run_options *options = session->options;
    int code = session->repeat.done == 0 ? add_rows(gemm, error) : CW_OK;
    if (code == CW_OK && repeat_weight(&session->repeat) > 0) {
        sample(gemm, completion);
        code = gemm_verify(gemm, completion, error);
    }
    bench_called(session);
    gemm->calls[gemm->stage] = repeat_simulated(&session->repeat);
    if (code != CW_OK || !repeat_is_over(&session->repeat))
        return code;
    if (!options->no_data)
        code = hash(gemm, completion, error);
    for (size_t i = 0; i < row_count(gemm->stage) && code == CW_OK; i++)
        code = bench_row_finish(session, row_at(gemm, i), completion->batch, options->iterations,
                                error);
    if (code == CW_OK && row_count(gemm->stage) == 2) {                /* of one call */
        row_at(gemm, 0)->link_count = row_at(gemm, 0)->kind_count = 0; /* which the product uses */
        row_at(gemm, 0)->busiest.kind = NULL;
        row_at(gemm, 1)->credit_longest = row_at(gemm, 0)->credit_longest;
        row_at(gemm, 1)->credit_last = row_at(gemm, 0)->credit_last;
    }
    bench_calls_begin(session); /* the calls of the next stage */
    return code;
}

static int gemm_refuse(struct cw_error *error, const char *text)
{
    return cw_error_set(error, CW_USAGE, "%s", text);
}

/* Sides, steps and the tiles' room in TCM, from `tcm` on. */
static int gemm_check_shape(const struct bench_session *session, uint64_t tcm,
                            struct cw_error *error)
{
    const struct matmul_shape *s = &session->options->gemm;
    const uint64_t tile = s->tile;
    const uint64_t steps =
        ((s->m + tile - 1) / tile) * ((s->n + tile - 1) / tile) * ((s->k + tile - 1) / tile);
    const uint64_t wanted = matmul_tcm_bytes(s, dtype_bytes(session->options->dtype));
    const uint64_t tcm_bytes = session->config->hw.tcm_bytes;
    const uint64_t rings = dist_ring_bytes(session->config, HW_MEMORY_TCM);
    if (steps > UINT32_MAX)
        return gemm_refuse(error,
                           "--gemm-tile: the product has more than 4294967295 pairs of tiles; "
                           "use larger tiles");
    if (rings + tcm + wanted <= tcm_bytes)
        return CW_OK;
    if (s->operands != MATMUL_STREAMED)
        return cw_error_set(
            error, CW_USAGE,
            "--gemm-operands %s: the operands in TCM and the tiles need %llu bytes, and %llu of "
            "%llu are free beside the receive rings; use smaller matrices, streamed operands, or "
            "more memory.tcm_kib",
            matmul_operands_name(s->operands), (unsigned long long)wanted,
            (unsigned long long)(tcm_bytes > rings + tcm ? tcm_bytes - rings - tcm : 0),
            (unsigned long long)tcm_bytes);
    return cw_error_set(
        error, CW_USAGE,
        "--gemm-tile: five tiles of %u x %u need %llu bytes of TCM, and %llu of %llu are free "
        "beside the receive rings and the all-reduce; use smaller tiles",
        s->tile, s->tile, (unsigned long long)wanted,
        (unsigned long long)(tcm_bytes > rings + tcm ? tcm_bytes - rings - tcm : 0),
        (unsigned long long)tcm_bytes);
}

/* The bytes of TCM that the all-reduce uses, up to a multiple of 64. */
static uint64_t collective_tcm(const struct ccl_algorithm *algorithm, const struct ccl_call *call)
{
    return (ccl_algorithm_tcm_bytes(algorithm, call) + 63) / 64 * 64;
}

static int run_stages(struct bench_session *session, struct gemm *gemm, struct cw_error *error)
{
    gemm->operands = calloc(dist_facts(session->dist)->world_size, sizeof *gemm->operands);
    if (gemm->operands == NULL) {
        return cw_error_memory(error, "the products");
    }
    session->own = gemm;
    bench_calls_begin(session);
    for (enum stage stage = gemm->first; stage <= gemm->last; stage++)
        gemm->calls[stage] = repeat_simulated(&session->repeat);
    const int code =
        dist_spawn(session->dist, is_cut(session->options) ? cut_worker : gemm_worker, gemm, error);
    session->own = NULL;
    free(gemm->operands);
    return code;
}

static int run_gemm(struct bench_session *session, struct cw_error *error)
{
    struct gemm gemm = {.session = session,
                        .first = MULTIPLY,
                        .last = MULTIPLY,
                        .stage = MULTIPLY,
                        .job = {.shape = session->options->gemm}};
    return run_stages(session, &gemm, error);
}

static int run_both_size(struct bench_session *session, uint64_t n_elem, struct cw_error *error)
{
    const struct run_options *options = session->options;
    const struct ccl_call call = bench_call(session, CCL_ALL_REDUCE, n_elem);
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(&call, NULL, error);
    struct gemm gemm = {.session = session,
                        .first = REDUCE,
                        .last = BOTH,
                        .n_elem = n_elem,
                        .policy = dist_facts(session->dist)->policy,
                        .algorithm = algorithm};
    if (algorithm == NULL)
        return error->exit_code;
    gemm.job = (struct compute_job){.shape = options->gemm,
                                    .tcm = (uint32_t)collective_tcm(algorithm, &call),
                                    .kernel = algorithm->kernel};
    if (!matmul_beside(&gemm.beside, algorithm->kernel))
        return gemm_refuse(error,
                           "no room beside this algorithm's kernel"); /* prepare() has looked */
    gemm.collective_phases = gemm.beside.kernel.phase_count - 1;
    if (options->verify_data) {
        gemm.verifier = bench_verifier(session, algorithm, n_elem, options->seed, error);
        if (gemm.verifier == NULL)
            return error->exit_code;
    }
    const int code = run_stages(session, &gemm, error);
    verifier_free(gemm.verifier);
    return code;
}

static int gemm_run_both(struct bench_session *session, struct cw_error *error)
{
    return bench_run_sizes(session, run_both_size, error);
}

/* The job as it will be, but for the rings that are installed: these are the most there can be. */
static int cut_job(const struct run_options *options, const struct config *config,
                   struct compute_job *job, struct cw_error *error)
{
    const struct compute_request request = cut_product(options);
    const uint64_t rings = dist_ring_bytes(config, HW_MEMORY_TCM);
    return compute_job_of(&config->hw, &request,
                          config->hw.tcm_bytes > rings ? config->hw.tcm_bytes - rings : 0, 0, job,
                          error);
}

static int prepare_cut(const struct bench_session *session, struct cw_error *error)
{
    struct compute_job job;
    const int code = dist_check_product(session->config, error);
    return code == CW_OK ? cut_job(session->options, session->config, &job, error) : code;
}

static int prepare_gemm(struct bench_session *session, struct dist_options *dist,
                        struct cw_error *error)
{
    if (session->options->size_count > 0)
        return gemm_refuse(error, "gemm has no --bytes or --n-elem: --gemm MxNxK says what is "
                                  "multiplied");
    dist->completed = gemm_completed;
    if (is_cut(session->options))
        return prepare_cut(session, error);
    const int code =
        session->options->op == REDOP_PREMULSUM
            ? gemm_refuse(error, "gemm_allreduce has no --op premulsum: use sum or avg")
            : dist_check_product(session->config, error);
    return code == CW_OK ? gemm_check_shape(session, 0, error) : code;
}

/* Whether a launch of the algorithm has its `more` left, in which the product's kernel finds its
 * own arguments. What a relay's kernel has there is known with its tree only. */
static bool leaves_more(const struct ccl_algorithm *algorithm, const struct ccl_call *call)
{
    struct tl_args args = {.more = NULL};
    if (algorithm->kernel_args != NULL && algorithm->machine.relay == CCL_RELAY_NONE)
        CCL_HOOK_VOID("kernel_args()", algorithm->kernel_args, (call, &args));
    return algorithm->schedule == NULL && args.more == NULL;
}

/* Names the algorithms beside which there is room. */
static int refuse_beside(const struct ccl_call *call, const char *name, struct cw_error *error)
{
    char others[300] = "";
    const struct ccl_algorithm *other;
    for (uint32_t i = 0; (other = ccl_algorithm_at(i)) != NULL; i++) {
        struct matmul_beside beside;
        const size_t n = strlen(others);
        if (other->collective == CCL_ALL_REDUCE && other->schedule == NULL &&
            matmul_beside(&beside, other->kernel) && leaves_more(other, call))
            snprintf(others + n, sizeof others - n, "%s%s", n > 0 ? ", " : "", other->name);
    }
    return cw_error_set(
        error, CW_USAGE,
        "gemm_allreduce: here the product shares each PE with the kernel of the all-reduce, and "
        "that of %s leaves no room for it; these leave some: %s (--algorithm)",
        name, others);
}

static int check_both_size(const struct bench_session *session, uint64_t n_elem,
                           struct cw_error *error)
{
    const struct config *config = session->config;
    const struct ccl_call call = bench_call(session, CCL_ALL_REDUCE, n_elem);
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(&call, NULL, error);
    struct matmul_beside beside;
    if (algorithm == NULL)
        return error->exit_code;
    if (!matmul_beside(&beside, algorithm->kernel) || !leaves_more(algorithm, &call))
        return refuse_beside(&call, ccl_algorithm_label(&config->ccl, algorithm), error);
    const int code = dist_check_call(config, &call, error);
    return code == CW_OK ? gemm_check_shape(session, collective_tcm(algorithm, &call), error)
                         : code;
}

static int prepare_both(struct bench_session *session, struct dist_options *dist,
                        struct cw_error *error)
{
    dist->completed = gemm_completed;
    dist->machine.needs.contexts = 2;
    const int code = dist_check_product(session->config, error);
    return code == CW_OK ? bench_check_sizes(session, check_both_size, error) : code;
}

/* Of a product that is cut over PEs; zero if it cannot be. */
static struct bench_own cut_work(const struct run_options *options, const struct config *config)
{
    const struct ccl_call call = {
        .hw = &config->hw, .ccl = &config->ccl, .dtype = (enum lp_dtype)options->dtype};
    const double ranks = dist_world_size_for(config),
                 idle = (double)hw_cubes(&config->hw) * hw_pes(&config->hw);
    struct compute_job job;
    struct cw_error ignored;
    if (cut_job(options, config, &job, &ignored) != CW_OK)
        return (struct bench_own){0};
    const struct compute_block block = compute_block_of(&job, 0);
    const size_t itemsize = dtype_bytes(options->dtype);
    return (struct bench_own){
        .events = ranks * (compute_events(&call, &job) +
                           (idle - job.pes) * cost_launch_events(&config->hw, false)),
        .bytes = ranks * ((double)job.shape.m * job.shape.n * (double)itemsize +
                          job.pes * (double)matmul_tcm_bytes(&block.shape, itemsize)),
        .products = ranks * job.shape.m * job.shape.n * job.shape.k};
}

/* The products of all cubes, with their launches, alone. Matrices that are only read take no
 * memory. */
static struct bench_own gemm_work(const struct run_options *options, const struct config *config)
{
    if (is_cut(options))
        return cut_work(options, config);
    const struct ccl_call call = {
        .hw = &config->hw, .ccl = &config->ccl, .dtype = (enum lp_dtype)options->dtype};
    const struct matmul_shape *const shape = &options->gemm;
    const size_t itemsize = dtype_bytes(options->dtype);
    const double cubes = (double)dist_world_size_for(config) * hw_cubes(&config->hw);
    return (struct bench_own){
        .events = cubes * (cost_launch_events(&config->hw, false) + matmul_events(shape, &call)),
        .bytes = cubes * ((double)shape->m * shape->n * (double)itemsize +
                          (double)matmul_tcm_bytes(shape, itemsize)),
        .products = cubes * shape->m * shape->n * shape->k};
}

/* A product alone, and one beside the all-reduce, whose tiles are cut. */
static struct bench_own both_work(const struct run_options *options, const struct config *config)
{
    struct config cut = *config;
    cut.hw.contention = HW_CONTENTION_CHUNK;
    const struct bench_own alone = gemm_work(options, config), beside = gemm_work(options, &cut);
    return (struct bench_own){.events = alone.events + beside.events,
                              .bytes = alone.bytes,
                              .products = 2 * alone.products};
}

const struct bench_program bench_gemm = {.name = "gemm",
                                         .about = "a matrix product on PE 0 of each cube (--gemm)",
                                         .collective = true,
                                         .no_algorithm = true,
                                         .multiplies = true,
                                         .takes = {"gemm", "gemm-tile", "gemm-operands"},
                                         .own = gemm_work,
                                         .prepare = prepare_gemm,
                                         .run = run_gemm};
const struct bench_program bench_gemm_allreduce = {
    .name = "gemm_allreduce",
    .about = "an all-reduce alone, a product alone, then both at once",
    .collective = true,
    .rows_named = true,
    .multiplies = true,
    .does = CCL_ALL_REDUCE,
    .takes = {"gemm", "gemm-tile"},
    .calls = 2,
    .own = both_work,
    .prepare = prepare_both,
    .run = gemm_run_both};
