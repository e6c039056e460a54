/*
 * dist_tensor.c: the tensors of a process group's ranks: created on the current device, filled
 * and read through the data pass, hashed; owned by the world until all workers have ended.
 */
#include "collectives/runtime/dist_tensor.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/runtime/dist_internal.h"
#include "collectives/runtime/host_copy.h"

void dist_free_tensors(struct dist *dist)
{
    contents_drop(&dist->contents);
    for (size_t i = 0; i < dist->owned_count; i++)
        tensor_free(dist->owned[i]);
    dist->recycled |= dist->owned_count > 0;
    dist->owned_count = 0;
}

int dist_read(struct dist *dist, const struct tensor *tensor, uint32_t shard, uint64_t first,
              uint64_t count, void *dst, struct cw_error *error)
{
    const size_t itemsize = dtype_bytes(tensor->dtype);
    if (dist->data == NULL || shard >= tensor->shard_count || first > tensor->shard_elems ||
        count > tensor->shard_elems - first) {
        return cw_error_set(error, CW_BUG, "read of shard %u, elements %llu + %llu", shard,
                            (unsigned long long)first, (unsigned long long)count);
    }
    const int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    if (code != CW_OK)
        return code;
    const struct tensor_shard *s = &tensor->shard[shard];
    data_pass_read(dist->data, s->pe_index, s->hbm_offset + first * itemsize, dst,
                   count * itemsize);
    return CW_OK;
}

int dist_hash(struct dist *dist, struct tensor *const *tensors, uint64_t *hash,
              struct cw_error *error)
{
    size_t count = 0, n = 0;
    const int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    if (code != CW_OK)
        return code;
    for (uint32_t rank = 0; rank < dist->world_size; rank++)
        count += tensors[rank]->shard_count;
    struct sparse_range *ranges = malloc((count + 1) * sizeof *ranges);
    if (ranges == NULL)
        return dist_no_memory(error);
    for (uint32_t rank = 0; rank < dist->world_size; rank++)
        for (uint32_t i = 0; i < tensors[rank]->shard_count; i++) {
            const struct tensor_shard *s = &tensors[rank]->shard[i];
            ranges[n++] =
                data_pass_range(dist->data, s->pe_index, s->hbm_offset, tensors[rank]->shard_bytes);
        }
    *hash = data_pass_hash(dist->data, ranges, n, lp_system_sim(dist->system));
    free(ranges);
    return CW_OK;
}

/* Keeps the tensor until all workers have ended; zeroes it if its memory may hold an earlier
 * tensor's contents. */
static int adopt(struct dist *dist, struct tensor *tensor, struct cw_error *error)
{
    if (dist->owned_count == dist->owned_capacity) {
        const size_t capacity = 2 * dist->owned_capacity + 16;
        struct tensor **owned = realloc(dist->owned, capacity * sizeof(struct tensor *));
        if (owned == NULL)
            return dist_no_memory(error);
        dist->owned = owned;
        dist->owned_capacity = capacity;
    }
    dist->owned[dist->owned_count++] = tensor;
    int code = dist_note_copy(dist, tensor, true, error);
    if (code == CW_OK && dist->recycled)
        code = contents_zero(&dist->contents, tensor, error);
    return code;
}

struct tensor *dist_tensor_zeros(uint64_t n_elem, enum dtype dtype, const struct dp_policy *policy)
{
    struct dist *dist = dist_current();
    struct cw_error error = {.exit_code = CW_OK};
    const struct hw_config *hw = &dist->options.config->hw;
    const uint64_t cubes = policy->num_cubes ? policy->num_cubes : hw_cubes(hw);
    const uint64_t pes = policy->num_pes ? policy->num_pes : hw_pes(hw);
    const struct tensor_shape shape = {policy->cube == DP_ROW_WISE ? cubes : 1,
                                       policy->pe == DP_COLUMN_WISE ? pes * n_elem : n_elem};
    const int device = ahbm_current_device();
    struct tensor *tensor =
        tensor_create(dist->space, device < 0 ? 0 : (uint32_t)device, shape, dtype, policy, &error);
    if (tensor != NULL && adopt(dist, tensor, &error) == CW_OK)
        return tensor;
    mp_fail(error.exit_code, "%s", cw_error_text(&error));
}

void dist_fill_input(struct tensor *tensor, uint64_t seed)
{
    struct dist *dist = dist_current();
    struct cw_error error;
    if (dist_note_copy(dist, tensor, false, &error) != CW_OK)
        mp_fail(error.exit_code, "%s", cw_error_text(&error));
    if (contents_fill_input(&dist->contents, tensor, seed, (uint32_t)dist_get_rank(), &error) !=
        CW_OK)
        mp_fail(error.exit_code, "%s", cw_error_text(&error));
}
