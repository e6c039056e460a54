/*
 * dist_tensor.c: the tensors of a process group's ranks: created on the current device, filled
 * and read through the data pass, hashed; owned by the world until all workers have ended.
 */
#include "collectives/runtime/dist_tensor.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/runtime/dist_internal.h"
#include "collectives/runtime/dist_results.h"
#include "collectives/runtime/host_copy.h"

void dist_free_tensors(struct dist *dist)
{
    contents_drop(&dist->contents);
    for (size_t i = 0; i < dist->owned_count; i++) {
        if (dist->owned[i]->space != NULL)
            dist_unmap_tensor(dist, dist->owned[i]);
        tensor_free(dist->owned[i]);
    }
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

int dist_hash_of(struct dist *dist, struct tensor *const *tensors, uint32_t ranks, uint64_t *hash,
                 struct cw_error *error)
{
    size_t count = 0, n = 0;
    const int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    if (code != CW_OK)
        return code;
    for (uint32_t rank = 0; rank < ranks; rank++)
        count += tensors[rank]->shard_count;
    struct sparse_range *ranges = malloc((count + 1) * sizeof *ranges);
    if (ranges == NULL)
        return dist_no_memory(error);
    for (uint32_t rank = 0; rank < ranks; rank++)
        for (uint32_t i = 0; i < tensors[rank]->shard_count; i++) {
            const struct tensor_shard *s = &tensors[rank]->shard[i];
            ranges[n++] =
                data_pass_range(dist->data, s->pe_index, s->hbm_offset, tensors[rank]->shard_bytes);
        }
    *hash = data_pass_hash(dist->data, ranges, n, lp_system_sim(dist->system));
    free(ranges);
    return CW_OK;
}

int dist_hash(struct dist *dist, struct tensor *const *tensors, uint64_t *hash,
              struct cw_error *error)
{
    return dist_hash_of(dist, tensors, dist->facts.world_size, hash, error);
}

/* Takes the tensor and keeps it until all workers have ended; zeroes it if its memory may hold an
 * earlier tensor's contents. */
static int adopt(struct dist *dist, struct tensor *tensor, struct cw_error *error)
{
    if (dist->owned_count == dist->owned_capacity) {
        const size_t capacity = 2 * dist->owned_capacity + 16;
        struct tensor **owned = realloc(dist->owned, capacity * sizeof(struct tensor *));
        if (owned == NULL) {
            tensor_free(tensor);
            return dist_no_memory(error);
        }
        dist->owned = owned;
        dist->owned_capacity = capacity;
    }
    dist->owned[dist->owned_count++] = tensor;
    int code = dist_map_tensor(dist, tensor, error);
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
    struct dp_policy own = *policy;
    if (dist->world.plans != NULL && cubes * pes == 1 && policy->first_pe == 0)
        own.first_pe = install_plan_of(dist->world.plans, (uint32_t)mp_rank()).pe_of_sip;
    const int device = ahbm_current_device();
    struct tensor *tensor =
        tensor_create(dist->space, device < 0 ? 0 : (uint32_t)device, shape, dtype, &own, &error);
    if (tensor != NULL && adopt(dist, tensor, &error) == CW_OK)
        return tensor;
    mp_fail(error.exit_code, "%s", cw_error_text(&error));
}

void dist_begin_write(struct dist *dist, const char *call, const struct tensor *tensor)
{
    struct cw_error error;
    dist_check_idle(dist, call, tensor, false);
    int code = dist_keep_results(dist, (uint32_t)mp_rank(), tensor, UINT64_MAX, &error);
    if (code == CW_OK)
        code = dist_note_fill(dist, tensor, &error);
    if (code != CW_OK)
        mp_fail(error.exit_code, "%s", cw_error_text(&error));
}

void dist_tensor_free(struct tensor *tensor)
{
    struct dist *const dist = dist_current();
    struct cw_error error;
    dist_check_idle(dist, "dist_tensor_free", tensor, false);
    if (dist_keep_results(dist, (uint32_t)mp_rank(), tensor, UINT64_MAX, &error) != CW_OK)
        mp_fail(error.exit_code, "%s", cw_error_text(&error));
    dist_unmap_tensor(dist, tensor);
    tensor_give_range(
        tensor); /* calls in flight on other ranks, and fills, still name the tensor */
    dist->recycled = true;
}

void dist_fill_input(struct tensor *tensor, uint64_t seed)
{
    dist_fill_input_as(tensor, seed, (uint32_t)mp_rank());
}

void dist_fill_input_as(struct tensor *tensor, uint64_t seed, uint32_t rank)
{
    struct dist *dist = dist_current();
    struct cw_error error;
    dist_begin_write(dist, "dist_fill_input", tensor);
    if (contents_fill_input(&dist->contents, tensor, seed, rank, &error) != CW_OK)
        mp_fail(error.exit_code, "%s", cw_error_text(&error));
}

/* Ends the worker whose buffer is none for this tensor. */
static void check_buffer(const char *call, const struct tensor *tensor, enum dtype dtype,
                         uint64_t n_elem)
{
    if (tensor == NULL) {
        mp_fail(CW_PROGRAM_FAILED, "%s: no tensor (NULL); legal: one of dist_tensor_zeros()", call);
        return;
    }
    const uint64_t wanted = tensor_parts(tensor) * tensor->shard_elems;
    if (dtype == tensor->dtype && n_elem == wanted)
        return;
    mp_fail(CW_PROGRAM_FAILED,
            "%s: a buffer of %llu elements of %s for a tensor of %u parts of %llu of %s each; "
            "legal: %llu elements of %s",
            call, (unsigned long long)n_elem, dtype_name(dtype), tensor_parts(tensor),
            (unsigned long long)tensor->shard_elems, dtype_name(tensor->dtype),
            (unsigned long long)wanted, dtype_name(tensor->dtype));
}

static int write_shards(struct dist *dist, const struct tensor *tensor, const uint8_t *src,
                        struct cw_error *error)
{
    /* fills that were put off come first, as in the program */
    int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    for (uint32_t i = 0; i < tensor->shard_count && code == CW_OK; i++) {
        const struct tensor_shard *const shard = &tensor->shard[i];
        code = data_pass_write(dist->data, shard->pe_index, shard->hbm_offset,
                               src + shard->part * tensor->shard_bytes, tensor->shard_bytes, error);
    }
    return code;
}

void dist_tensor_copy_from(struct tensor *tensor, enum dtype dtype, const void *src,
                           uint64_t n_elem)
{
    struct dist *const dist = dist_current();
    struct cw_error error;
    check_buffer("dist_tensor_copy_from", tensor, dtype, n_elem);
    dist_begin_write(dist, "dist_tensor_copy_from", tensor);
    if (dist->data != NULL && write_shards(dist, tensor, src, &error) != CW_OK)
        mp_fail(error.exit_code, "%s", error.text);
}

void dist_tensor_copy_to(const struct tensor *tensor, enum dtype dtype, void *dst, uint64_t n_elem)
{
    struct dist *const dist = dist_current();
    struct cw_error error;
    check_buffer("dist_tensor_copy_to", tensor, dtype, n_elem);
    if (dist->data == NULL)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_tensor_copy_to: this world has no data to read (no_data, --no-data)");
    dist_check_idle(dist, "dist_tensor_copy_to", tensor, true);
    uint32_t part = 0; /* the next: a part's first copy comes before the next part */
    for (uint32_t i = 0; i < tensor->shard_count; i++) {
        if (tensor->shard[i].part != part)
            continue;
        uint8_t *const to = (uint8_t *)dst + part * tensor->shard_bytes;
        if (dist_read(dist, tensor, i, 0, tensor->shard_elems, to, &error) != CW_OK)
            mp_fail(error.exit_code, "%s", error.text);
        part++;
    }
}
