/*
 * matmul_call.c: a matrix product as a call of a process group's ranks (matmul_call.h): alone, or
 * beside an all-reduce. Between drains, one thread.
 */
#include "collectives/compute/matmul_call.h"

#include "collectives/runtime/dist_internal.h"

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
