/*
 * parallel.c: ranks to coordinates of a parallel layout, and groups of ranks (parallel.h).
 */
#include "workload/file/parallel.h"

#include <string.h>

static const char *const dim_name[PARALLEL_DIMS] = {"tp", "cp", "ep", "dp", "pp", "edp"};

const char *parallel_dim_name(enum parallel_dim dim) { return dim_name[dim]; }

enum parallel_dim parallel_dim_find(const char *name, size_t bytes)
{
    uint32_t dim = 0;
    while (dim < PARALLEL_DIMS &&
           (strlen(dim_name[dim]) != bytes || memcmp(dim_name[dim], name, bytes) != 0))
        dim++;
    return dim;
}

static size_t dim_length(const char *text)
{
    const char *const end = strchr(text, '-');
    return end != NULL ? (size_t)(end - text) : strlen(text);
}

const char *parallel_order_read(struct parallel *parallel, const char *text)
{
    parallel->order_count = 0;
    for (;;) {
        const size_t bytes = dim_length(text);
        const enum parallel_dim dim = parallel_dim_find(text, bytes);
        if (dim >= PARALLEL_EDP)
            return "legal are tp, cp, ep, dp and pp, joined by '-': tp-cp-ep-dp-pp";
        for (uint32_t i = 0; i < parallel->order_count; i++)
            if (parallel->order[i] == dim)
                return "a dimension is there twice";
        parallel->order[parallel->order_count++] = dim;
        if (text[bytes] == '\0')
            return NULL;
        text += bytes + 1;
    }
}

/* ---- the two layouts ------------------------------------------------------------------------- */

enum { EXPERT_DIMS = 1 << PARALLEL_EP | 1 << PARALLEL_EDP };
enum { DENSE_DIMS = 1 << PARALLEL_CP | 1 << PARALLEL_DP };

/* The i-th dimension of the layout that has these. */
static enum parallel_dim dim_at(const struct parallel *parallel, bool expert, uint32_t i)
{
    const enum parallel_dim dim = parallel->order[i];
    return expert && dim == PARALLEL_DP ? PARALLEL_EDP : dim;
}

static uint32_t size_at(const struct parallel *parallel, bool expert, enum parallel_dim dim)
{
    const bool absent = expert ? dim == PARALLEL_CP : dim == PARALLEL_EP;
    return absent ? 1 : parallel->size[dim];
}

/* How far apart neighbours in the dimension are. */
static uint32_t stride_of(const struct parallel *parallel, bool expert, enum parallel_dim dim)
{
    uint32_t stride = 1;
    for (uint32_t i = 0; dim_at(parallel, expert, i) != dim; i++)
        stride *= size_at(parallel, expert, dim_at(parallel, expert, i));
    return stride;
}

static bool is_expert(uint32_t dims) { return (dims & EXPERT_DIMS) != 0; }

uint32_t parallel_coordinate(const struct parallel *parallel, enum parallel_dim dim, uint32_t rank)
{
    const bool expert = is_expert(UINT32_C(1) << dim);
    return rank / stride_of(parallel, expert, dim) % size_at(parallel, expert, dim);
}

const char *parallel_complete(struct parallel *parallel)
{
    uint64_t ranks = 1;
    for (uint32_t dim = 0; dim < PARALLEL_EDP; dim++) {
        uint32_t i = 0;
        while (i < parallel->order_count && parallel->order[i] != dim)
            i++;
        if (i == parallel->order_count && parallel->size[dim] > 1)
            return "order leaves out a dimension of more than 1; legal is one with all, as "
                   "tp-cp-ep-dp-pp";
        if (i == parallel->order_count)
            parallel->order[parallel->order_count++] = (uint8_t)dim;
        ranks *= dim == PARALLEL_EP ? 1 : parallel->size[dim];
        if (ranks > PARALLEL_RANKS_MAX)
            return "tp * cp * dp * pp is more than 1048576 ranks";
    }
    parallel->ranks = (uint32_t)ranks;
    const uint32_t replicas = parallel->size[PARALLEL_DP] * parallel->size[PARALLEL_CP];
    if (replicas % parallel->size[PARALLEL_EP] != 0)
        return "ep does not divide dp * cp: legal are its divisors";
    parallel->size[PARALLEL_EDP] = replicas / parallel->size[PARALLEL_EP];
    if (parallel->size[PARALLEL_PP] > 1 &&
        stride_of(parallel, false, PARALLEL_PP) != stride_of(parallel, true, PARALLEL_PP))
        return "in this order the pipelines of experts are other ranks than those of the rest; "
               "legal is an order with cp, ep and dp all before pp, or all after it";
    return NULL;
}

/* ---- groups ---------------------------------------------------------------------------------- */

uint32_t parallel_set_read(const char *name, const char **wrong)
{
    uint32_t dims = 0;
    *wrong = NULL;
    for (;;) {
        const size_t bytes = dim_length(name);
        const enum parallel_dim dim = parallel_dim_find(name, bytes);
        if (dim == PARALLEL_DIMS || (dims & UINT32_C(1) << dim) != 0)
            return 0;
        dims |= UINT32_C(1) << dim;
        if (name[bytes] == '\0')
            break;
        name += bytes + 1;
    }
    if (is_expert(dims) && (dims & DENSE_DIMS) != 0) {
        *wrong = "it mixes ep or edp, which are of the experts, with cp or dp";
        return 0;
    }
    return dims;
}

/* The rank whose coordinates in these dimensions are 0, and in the others those of `rank`. */
static uint32_t base_of(const struct parallel *parallel, uint32_t dims, uint32_t rank)
{
    const bool expert = is_expert(dims);
    uint32_t base = 0;
    for (uint32_t i = 0; i < parallel->order_count; i++) {
        const enum parallel_dim dim = dim_at(parallel, expert, i);
        const uint32_t stride = stride_of(parallel, expert, dim),
                       size = size_at(parallel, expert, dim);
        if ((dims & UINT32_C(1) << dim) == 0)
            base += rank / stride % size * stride;
    }
    return base;
}

uint32_t parallel_groups(const struct parallel *parallel, uint32_t dims, uint32_t *first,
                         uint32_t *ranks)
{
    uint32_t groups = 0, size = 1, used = 0;
    const bool expert = is_expert(dims);
    for (uint32_t dim = 0; dim < PARALLEL_DIMS; dim++)
        if ((dims & UINT32_C(1) << dim) != 0)
            size *= size_at(parallel, expert, dim);
    /* A group is found at its least rank; the others follow by counting up its dimensions. */
    for (uint32_t rank = 0; rank < parallel->ranks; rank++) {
        if (base_of(parallel, dims, rank) != rank)
            continue;
        first[groups++] = used;
        for (uint32_t i = 0; i < size; i++) {
            uint32_t left = i, member = rank;
            for (uint32_t k = 0; k < parallel->order_count; k++) {
                const enum parallel_dim dim = dim_at(parallel, expert, k);
                const uint32_t count = size_at(parallel, expert, dim);
                if ((dims & UINT32_C(1) << dim) == 0)
                    continue;
                member += left % count * stride_of(parallel, expert, dim);
                left /= count;
            }
            ranks[used++] = member;
        }
    }
    first[groups] = used;
    return groups;
}
