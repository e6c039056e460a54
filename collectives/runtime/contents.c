/*
 * contents.c: fills tensors by all workers (contents.h). A SIP's tensors are filled by the worker
 * that owns the SIP's first cube. So no two workers fill in the same cube, however the cubes are
 * spread.
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
    const struct contents *contents;
    struct cw_error *errors; /* [worker] */
};

void contents_free(struct contents *contents) { free(contents->list); }

void contents_drop(struct contents *contents) { contents->count = 0; }

static struct data_fill fill_of(const struct content *content, uint32_t i)
{
    const struct tensor *const tensor = content->tensor;
    const struct tensor_shard *const shard = &tensor->shard[i];
    return (struct data_fill){
        .pe = shard->pe_index,
        .offset = shard->hbm_offset,
        .dtype = tensor->dtype,
        .seed = content->seed,
        .first = input_first(content->rank, tensor_parts(tensor), shard->part, tensor->shard_elems),
        .count = tensor->shard_elems,
        .zero = content->zero};
}

static int fill_at_once(struct data_pass *data, const struct content *content,
                        struct cw_error *error)
{
    int code = CW_OK;
    for (uint32_t i = 0; i < content->tensor->shard_count && code == CW_OK; i++) {
        const struct data_fill fill = fill_of(content, i);
        code = fill.zero
                   ? data_pass_fill(data, fill.pe, fill.offset, fill.dtype, 0, fill.count, error)
                   : data_pass_fill_input(data, fill.pe, fill.offset, fill.dtype, fill.seed,
                                          fill.first, fill.count, error);
    }
    return code;
}

static int put_off(struct contents *contents, struct content content, struct cw_error *error)
{
    if (contents->data == NULL)
        return CW_OK;
    if (contents->at_once)
        return fill_at_once(contents->data, &content, error);
    if (contents->count == contents->capacity) {
        const size_t capacity = 2 * contents->capacity + 64;
        struct content *const list = realloc(contents->list, capacity * sizeof *list);
        if (list == NULL)
            return cw_error_memory(error, "the contents of tensors");
        contents->list = list;
        contents->capacity = capacity;
    }
    contents->list[contents->count++] = content;
    return CW_OK;
}

int contents_zero(struct contents *contents, const struct tensor *tensor, struct cw_error *error)
{
    return put_off(contents, (struct content){.tensor = tensor, .zero = true}, error);
}

int contents_fill_input(struct contents *contents, const struct tensor *tensor, uint64_t seed,
                        uint32_t rank, struct cw_error *error)
{
    return put_off(contents, (struct content){.tensor = tensor, .seed = seed, .rank = rank}, error);
}

static void fill_own(void *arg, uint32_t worker)
{
    const struct filling *const filling = arg;
    const struct contents *const contents = filling->contents;
    struct cw_error *const error = &filling->errors[worker];
    *error = (struct cw_error){.exit_code = CW_OK};
    for (size_t i = 0; i < contents->count; i++) {
        const struct content *const content = &contents->list[i];
        if (data_pass_worker_of_sip(contents->data, content->tensor->sip) != worker)
            continue;
        for (uint32_t k = 0; k < content->tensor->shard_count; k++) {
            const struct data_fill fill = fill_of(content, k);
            if (data_pass_fill_as(contents->data, worker, &fill, error) != CW_OK)
                return;
        }
    }
}

int contents_settle(struct contents *contents, struct cw_sim *sim, struct cw_error *error)
{
    if (contents->count == 0)
        return CW_OK;
    const uint32_t workers = cw_sim_worker_count(sim);
    struct filling filling = {contents, malloc(workers * sizeof *filling.errors)};
    if (filling.errors == NULL)
        return cw_error_memory(error, "the contents of tensors");
    cw_each_worker(sim, fill_own, &filling);
    contents->count = 0;
    int code = CW_OK;
    for (uint32_t i = 0; i < workers && code == CW_OK; i++) {
        code = filling.errors[i].exit_code;
        if (code != CW_OK)
            *error = filling.errors[i];
    }
    free(filling.errors);
    return code;
}
