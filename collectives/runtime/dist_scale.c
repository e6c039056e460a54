/* dist_scale.c: scales the tensors of a call, shard by shard, in pieces (dist_scale.h). */
#include "collectives/runtime/dist_scale.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/data/scaling.h"

enum { SCALE_ELEMS = 1 << 16 };

static struct scaling scaling_of_rank(const struct dist *dist, uint32_t rank)
{
    const struct submission *const submission = &dist->submissions[rank];
    if (dist->data == NULL || submission->in == NULL)
        return (struct scaling){.multiplies = false};
    const uint64_t operands =
        dist->facts.world_size * (dist->facts.parts > 0 ? 1 : tensor_parts(submission->in));
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

/* Reads all shards of all ranks' inputs into `kept`, or writes them back. */
static int move_inputs(struct dist *dist, uint8_t *kept, bool back, struct cw_error *error)
{
    int code = CW_OK;
    for (uint32_t rank = 0; rank < dist->facts.world_size; rank++) {
        const struct tensor *const in = dist->submissions[rank].in;
        for (uint32_t i = 0; i < in->shard_count && code == CW_OK; i++) {
            const struct tensor_shard *const at = &in->shard[i];
            if (back)
                code = data_pass_write(dist->data, at->pe_index, at->hbm_offset, kept,
                                       in->shard_bytes, error);
            else
                data_pass_read(dist->data, at->pe_index, at->hbm_offset, kept, in->shard_bytes);
            kept += in->shard_bytes;
        }
    }
    return code;
}

static bool works_in_place(const struct dist *dist)
{
    return dist->submissions[0].in == dist->submissions[0].out;
}

static size_t bytes_of_inputs(const struct dist *dist)
{
    const struct tensor *const in = dist->submissions[0].in;
    return dist->facts.world_size * in->shard_count * in->shard_bytes;
}

int dist_scale_operands(struct dist *dist, uint8_t **kept, struct cw_error *error)
{
    *kept = NULL;
    if (!scaling_of_rank(dist, 0).multiplies)
        return CW_OK;
    int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    if (code == CW_OK && !works_in_place(dist)) {
        *kept = malloc(bytes_of_inputs(dist));
        code = *kept != NULL ? move_inputs(dist, *kept, false, error) : dist_no_memory(error);
    }
    for (uint32_t rank = 0; rank < dist->facts.world_size && code == CW_OK; rank++) {
        const struct scaling scaling = scaling_of_rank(dist, rank);
        code = scale_tensor(dist, dist->submissions[rank].in, &scaling, error);
    }
    return code;
}

int dist_scale_results(struct dist *dist, uint8_t **kept, struct cw_error *error)
{
    int code = CW_OK;
    if (*kept != NULL)
        code = move_inputs(dist, *kept, true, error);
    free(*kept);
    *kept = NULL;
    for (uint32_t rank = 0; rank < dist->facts.world_size && code == CW_OK; rank++) {
        const struct scaling scaling = scaling_of_rank(dist, rank);
        if (scaling.divisor > 0)
            code = scale_tensor(dist, dist->submissions[rank].out, &scaling, error);
    }
    return code;
}
