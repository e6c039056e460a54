/*
 * contents.c: see contents.h. A SIP's tensors are filled by the worker that owns the SIP's first
 * cube. So no two workers fill in the same cube, however the cubes are spread.
 */
#include "collectives/runtime/contents.h"

#include <stdlib.h>

#include "collectives/data/input.h"

struct content {
    const struct tensor *tensor;
    uint64_t seed;
    uint32_t rank;
    bool zero;
};

/* Fills that run on all workers. */
struct filling {
    struct dist *dist;
    struct cw_error *errors; /* [worker] */
};

static int fill_shard(struct data_pass *data, const struct content *content, uint32_t i,
                      struct cw_error *error)
{
    const struct tensor *const tensor = content->tensor;
    const struct tensor_shard *const shard = &tensor->shard[i];
    if (content->zero)
        return data_pass_fill(data, shard->pe_index, shard->hbm_offset, tensor->dtype, 0,
                              tensor->shard_elems, error);
    return data_pass_fill_input(
        data, shard->pe_index, shard->hbm_offset, tensor->dtype, content->seed,
        input_first(content->rank, tensor_parts(tensor), shard->part, tensor->shard_elems),
        tensor->shard_elems, error);
}

static int fill_tensor(struct data_pass *data, const struct content *content,
                       struct cw_error *error)
{
    int code = CW_OK;
    for (uint32_t i = 0; i < content->tensor->shard_count && code == CW_OK; i++)
        code = fill_shard(data, content, i, error);
    return code;
}

static int put_off(struct dist *dist, struct content content, struct cw_error *error)
{
    if (dist->data == NULL)
        return CW_OK;
    if (dist->op_log != NULL) /* which hears of it in the order of the program */
        return fill_tensor(dist->data, &content, error);
    if (dist->content_count == dist->content_capacity) {
        const size_t capacity = 2 * dist->content_capacity + 64;
        struct content *const contents = realloc(dist->contents, capacity * sizeof *contents);
        if (contents == NULL)
            return dist_no_memory(error);
        dist->contents = contents;
        dist->content_capacity = capacity;
    }
    dist->contents[dist->content_count++] = content;
    return CW_OK;
}

int contents_zero(struct dist *dist, const struct tensor *tensor, struct cw_error *error)
{
    return put_off(dist, (struct content){.tensor = tensor, .zero = true}, error);
}

int contents_fill_input(struct dist *dist, const struct tensor *tensor, uint64_t seed,
                        uint32_t rank, struct cw_error *error)
{
    return put_off(dist, (struct content){.tensor = tensor, .seed = seed, .rank = rank}, error);
}

static void fill_own(void *arg, uint32_t worker)
{
    const struct filling *const filling = arg;
    struct dist *const dist = filling->dist;
    struct cw_error *const error = &filling->errors[worker];
    const uint32_t cubes = hw_cubes(&dist->options.config->hw);
    *error = (struct cw_error){.exit_code = CW_OK};
    for (size_t i = 0; i < dist->content_count && error->exit_code == CW_OK; i++) {
        const struct content *const content = &dist->contents[i];
        if (data_pass_worker_of(dist->data, content->tensor->sip * cubes) == worker)
            (void)fill_tensor(dist->data, content, error);
    }
}

int contents_settle(struct dist *dist, struct cw_error *error)
{
    if (dist->content_count == 0)
        return CW_OK;
    struct cw_sim *const sim = lp_system_sim(dist->system);
    const uint32_t workers = cw_sim_worker_count(sim);
    struct filling filling = {dist, malloc(workers * sizeof *filling.errors)};
    if (filling.errors == NULL)
        return dist_no_memory(error);
    cw_each_worker(sim, fill_own, &filling);
    dist->content_count = 0;
    int code = CW_OK;
    for (uint32_t i = 0; i < workers && code == CW_OK; i++) {
        code = filling.errors[i].exit_code;
        if (code != CW_OK)
            *error = filling.errors[i];
    }
    free(filling.errors);
    return code;
}
