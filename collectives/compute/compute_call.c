/*
 * compute_call.c: computations as calls of a process group's ranks (compute_call.h). Those of one
 * rank alone are calls of a group of one rank. Between drains, one thread.
 */
#include "collectives/compute/compute_call.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/runtime/dist_call.h"
#include "collectives/runtime/dist_internal.h"
#include "collectives/runtime/dist_tensor.h"
#include "collectives/runtime/spawn.h"

_Static_assert((int)MATMUL_REGION == (int)DIST_OPERANDS_REGION, "the kernel finds its operands");

/* Not in the registry: ccl.yaml cannot choose it. */
static const struct ccl_algorithm matmul_algorithm = {
    .name = "matmul", .collective = CCL_MATMUL, .kernel = &matmul_kernel};
static const struct ccl_algorithm staged_algorithm = {
    .name = "matmul", .collective = CCL_MATMUL, .kernel = &matmul_staged_kernel};

static struct submission product(struct tensor *operands, const struct compute_job *job)
{
    return (struct submission){.collective = CCL_MATMUL,
                               .in = operands,
                               .out = operands,
                               .op = REDOP_SUM,
                               .operands = operands,
                               .more = job,
                               .algorithm = job->shape.operands == MATMUL_STREAMED
                                                ? &matmul_algorithm
                                                : &staged_algorithm};
}

struct dist_work *dist_matmul_async(struct tensor *operands, const struct compute_job *job)
{
    const struct submission submission = product(operands, job);
    return dist_submit(&submission);
}

void dist_matmul(struct tensor *operands, const struct compute_job *job)
{
    const struct submission submission = product(operands, job);
    dist_submit_and_wait(&submission);
}

static struct submission beside(struct tensor *tensor, enum redop op, struct tensor *operands,
                                const struct compute_job *job, const struct tl_kernel *kernel)
{
    if (tensor->dtype != operands->dtype)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_all_reduce_beside: operands of %s beside a tensor of %s; legal: one type",
                dtype_name(operands->dtype), dtype_name(tensor->dtype));
    return (struct submission){.collective = CCL_ALL_REDUCE,
                               .in = tensor,
                               .out = tensor,
                               .op = op,
                               .operands = operands,
                               .more = job,
                               .kernel = kernel};
}

struct dist_work *dist_all_reduce_beside_async(struct tensor *tensor, enum redop op,
                                               struct tensor *operands,
                                               const struct compute_job *job,
                                               const struct tl_kernel *kernel)
{
    const struct submission submission = beside(tensor, op, operands, job, kernel);
    return dist_submit(&submission);
}

void dist_all_reduce_beside(struct tensor *tensor, enum redop op, struct tensor *operands,
                            const struct compute_job *job, const struct tl_kernel *kernel)
{
    const struct submission submission = beside(tensor, op, operands, job, kernel);
    dist_submit_and_wait(&submission);
}

/* ---- of one rank alone ----------------------------------------------------------------------- */

static const struct ccl_algorithm computations[] = {
    [COMPUTE_PRODUCT] = {.name = "product", .collective = CCL_COMPUTE, .kernel = &matmul_kernel},
    [COMPUTE_ROOFLINE] = {.name = "roofline",
                          .collective = CCL_COMPUTE,
                          .kernel = &compute_roofline_kernel},
    [COMPUTE_TIME] = {.name = "time", .collective = CCL_COMPUTE, .kernel = &compute_time_kernel}};

/* Jobs are kept as long as the world, the latest first: kernels read them, and most requests are
 * made again and again. The rings of a later group may leave too little TCM for one. */
struct kept_job {
    struct dist_kept head;
    struct compute_request request;
    struct compute_job job;
};

/* Without the bytes between members. Jobs suit any hardware queue. */
static bool is_same(const struct compute_request *a, const struct compute_request *b)
{
    return a->kind == b->kind && a->first == b->first && a->count == b->count &&
           a->dtype == b->dtype && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->flops == b->flops && a->bytes == b->bytes && a->block == b->block &&
           a->time_ps == b->time_ps;
}

static const struct compute_job *job_for(struct dist *dist, const struct compute_request *request)
{
    const uint64_t tcm_bytes = lp_system_free_tcm(dist->system);
    struct cw_error error;
    for (struct dist_kept *at = dist->kept; at != NULL; at = at->next)
        if (is_same(&((struct kept_job *)at)->request, request) &&
            compute_tcm_bytes(&((struct kept_job *)at)->job) <= tcm_bytes)
            return &((struct kept_job *)at)->job;
    struct kept_job *const kept = malloc(sizeof *kept);
    if (kept == NULL) {
        mp_fail(CW_NO_RESOURCE, "out of memory: a computation");
        return NULL;
    }
    kept->request = *request;
    if (compute_job_of(&dist->options.config->hw, request, tcm_bytes,
                       tensor_space_begin(dist->space), &kept->job, &error) != CW_OK) {
        free(kept);
        mp_fail(error.exit_code, "dist_compute: %s", cw_error_text(&error));
    }
    if (lp_is_coarse(&dist->options.config->ccl.queues))
        compute_job_at_once(&dist->options.config->hw, &kept->job);
    kept->head.next = dist->kept;
    dist->kept = &kept->head;
    return &kept->job;
}

const struct compute_job *dist_compute_job(const struct compute_request *request)
{
    return job_for(dist_current(), request);
}

/* All PEs of the SIP have a shard, so the operands suit any of them. */
static const struct dp_policy on_all_pes = {.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE};

static void check_operands(const struct tensor *operands, const struct compute_job *job)
{
    const bool product = job->request.kind == COMPUTE_PRODUCT;
    if (product != (operands != NULL))
        mp_fail(CW_PROGRAM_FAILED, "dist_compute: a %s %s operands",
                computations[job->request.kind].name, product ? "needs" : "has no");
    if (operands != NULL && operands->made_for != job)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_compute: operands of another layout than the product's; legal: those of "
                "dist_compute_operands() for an equal request, made after the last group whose "
                "receive rings lie in TCM");
}

struct dist_work *dist_compute_async(const struct compute_request *request, struct tensor *operands)
{
    struct dist *const dist = dist_current();
    const struct compute_job *const job = job_for(dist, request);
    check_operands(operands, job);
    struct dist_group *const group = dist_group_of_one(dist, (uint32_t)mp_rank());
    if (group == NULL)
        mp_fail(CW_NO_RESOURCE, "out of memory: groups of one rank");
    return dist_submit(&(struct submission){.group = group,
                                            .collective = CCL_COMPUTE,
                                            .in = operands,
                                            .out = operands,
                                            .op = REDOP_SUM,
                                            .operands = operands,
                                            .more = job,
                                            .first_pe = job->request.first,
                                            .pes = job->pes,
                                            .queue = request->queue,
                                            .algorithm = &computations[job->request.kind]});
}

void dist_compute(const struct compute_request *request, struct tensor *operands)
{
    dist_wait(dist_compute_async(request, operands));
}

struct tensor *dist_compute_operands(const struct compute_request *request)
{
    const struct compute_job *const job = job_for(dist_current(), request);
    if (job->request.kind != COMPUTE_PRODUCT)
        mp_fail(CW_PROGRAM_FAILED, "dist_compute_operands: a %s has none",
                computations[job->request.kind].name);
    struct tensor *const operands =
        dist_tensor_zeros(compute_shard_elems(job), job->request.dtype, &on_all_pes);
    operands->made_for = job;
    return operands;
}

static int fill_blocks(struct dist *dist, const struct tensor *operands,
                       const struct compute_job *job, uint64_t seed, struct cw_error *error)
{
    const struct matmul_shape *const s = &job->shape;
    const uint64_t first = (uint64_t)mp_rank() * matmul_result(s);
    uint8_t *const shard = malloc(operands->shard_bytes);
    int code = shard != NULL ? contents_settle(&dist->contents, lp_system_sim(dist->system), error)
                             : dist_no_memory(error);
    for (uint32_t i = 0; i < job->pes && code == CW_OK; i++) {
        const struct compute_block block = compute_block_of(job, i);
        compute_fill(job, i, seed, first, shard);
        code = data_pass_write(dist->data, operands->shard[job->request.first + i].pe_index,
                               operands->hbm_offset, shard,
                               matmul_result(&block.shape) * operands->item_bytes, error);
    }
    free(shard);
    return code;
}

void dist_fill_operands(struct tensor *operands, const struct compute_request *request,
                        uint64_t seed)
{
    struct dist *const dist = dist_current();
    const struct compute_job *const job = job_for(dist, request);
    struct cw_error error;
    check_operands(operands, job);
    dist_begin_write(dist, "dist_fill_operands", operands);
    if (dist->data != NULL && fill_blocks(dist, operands, job, seed, &error) != CW_OK)
        mp_fail(error.exit_code, "%s", cw_error_text(&error));
}
