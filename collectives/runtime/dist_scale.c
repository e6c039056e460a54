/* dist_scale.c: scales the tensors of a call, shard by shard, in pieces (dist_scale.h). */
#include "collectives/runtime/dist_scale.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/data/scaling.h"

enum { SCALE_ELEMS = 1 << 16 };

static struct scaling scaling_of_rank(const struct dist_work *work, uint32_t rank)
{
    const struct dist *const dist = work->dist;
    const struct submission *const submission = &dist_of(work, rank)->submission;
    const bool is_collective = work->group->plans != NULL; /* else it is a computation */
    if (dist->data == NULL || submission->in == NULL || !is_collective)
        return (struct scaling){.multiplies = false};
    const uint64_t operands =
        work->group->size *
        (install_plans_lanes(work->group->plans) > 0 ? 1 : tensor_parts(submission->in));
    return scaling_of(submission->in->dtype, submission->op, submission->scalar, operands);
}

/* One shard: each piece is read, changed and written. */
static int scale_shard(struct dist *dist, const struct tensor *tensor, uint32_t shard,
                       const struct scaling *scaling, struct cw_error *error)
{
    const enum dtype dtype = dtype_of_results(tensor->dtype, dist->options.config->ccl.arithmetic);
    const struct tensor_shard *const at = &tensor->shard[shard];
    const size_t itemsize = dtype_bytes(dtype);
    uint8_t *const piece = malloc(SCALE_ELEMS * itemsize);
    int code = piece != NULL ? CW_OK : dist_no_memory(error);
    for (uint64_t done = 0, n; done < tensor->shard_elems && code == CW_OK; done += n) {
        n = tensor->shard_elems - done < SCALE_ELEMS ? tensor->shard_elems - done : SCALE_ELEMS;
        const uint64_t offset = at->hbm_offset + done * itemsize;
        data_pass_read(dist->data, at->pe_index, offset, piece, n * itemsize);
        scaling_multiply(scaling, dtype, piece, n);
        scaling_divide(scaling, dtype, piece, n);
        code = data_pass_write(dist->data, at->pe_index, offset, piece, n * itemsize, error);
    }
    free(piece);
    return code;
}

static int scale_tensor(struct dist *dist, const struct tensor *tensor,
                        const struct scaling *scaling, struct cw_error *error)
{
    int code = CW_OK;
    for (uint32_t i = 0; i < tensor->shard_count && code == CW_OK; i++)
        code = scale_shard(dist, tensor, i, scaling, error);
    return code;
}

/* Reads all shards of a rank's input into `kept`, or writes them back. */
static int move_input(const struct dist_work *work, uint32_t rank, uint8_t *kept, bool back,
                      struct cw_error *error)
{
    const struct tensor *const in = dist_of(work, rank)->submission.in;
    int code = CW_OK;
    for (uint32_t i = 0; i < in->shard_count && code == CW_OK; i++, kept += in->shard_bytes) {
        const struct tensor_shard *const at = &in->shard[i];
        if (back)
            code = data_pass_write(work->dist->data, at->pe_index, at->hbm_offset, kept,
                                   in->shard_bytes, error);
        else
            data_pass_read(work->dist->data, at->pe_index, at->hbm_offset, kept, in->shard_bytes);
    }
    return code;
}

int dist_scale_operand(struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    const struct submission *const own = &dist_of(work, rank)->submission;
    const struct scaling scaling = scaling_of_rank(work, rank);
    if (!scaling.multiplies)
        return CW_OK;
    int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    if (code == CW_OK && own->in != own->out) {
        dist_of(work, rank)->kept = malloc((size_t)own->in->shard_count * own->in->shard_bytes);
        code = dist_of(work, rank)->kept != NULL
                   ? move_input(work, rank, dist_of(work, rank)->kept, false, error)
                   : dist_no_memory(error);
    }
    return code == CW_OK ? scale_tensor(dist, own->in, &scaling, error) : code;
}

int dist_scale_results(struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const struct scaling scaling = scaling_of_rank(work, rank);
    int code = CW_OK;
    if (dist_of(work, rank)->kept != NULL)
        code = move_input(work, rank, dist_of(work, rank)->kept, true, error);
    free(dist_of(work, rank)->kept);
    dist_of(work, rank)->kept = NULL;
    if (scaling.divisor > 0 && code == CW_OK)
        code = scale_tensor(work->dist, dist_of(work, rank)->submission.out, &scaling, error);
    return code;
}
