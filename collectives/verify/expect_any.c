/*
 * expect_any.c: compares results whose order of additions is not known (expect_any.h). A tensor's
 * elements are cut into equal shares, one for each worker of the engine, and those into steps; of a
 * step the operands are reduced once, and compared with every place where the result is. A worker
 * writes its own share's figures only.
 */
#include "collectives/verify/expect_any.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data/input.h"

enum { ANY_STEP = 1024 };

/* The findings of a worker. */
struct any_share {
    _Alignas(128) uint64_t wrong;
    double largest;
    struct cw_error error;
};

struct any_comparison {
    const struct expect_any *any;
    expect_read_fn read;
    void *arg;
    double bound;
    uint32_t workers;
    struct any_share *shares; /* [workers] */
};

/* The current elements, `first` to `first` + count - 1 of the inputs. */
struct any_step {
    uint64_t first, count;
    _Alignas(64) uint8_t bits[ANY_STEP * DTYPE_BYTES_MAX];
    double exact[ANY_STEP], unit[ANY_STEP]; /* the result, and the unit of its error */
};

/* Half the distance from 1 to the next number. */
static double unit_roundoff(enum dtype dtype) { return ldexp(1, -dtype_digits(dtype)); }

/* Half the smallest number above 0. */
static double half_of_smallest(enum dtype dtype)
{
    return ldexp(1, dtype_least_exponent(dtype) - 1);
}

static double operands_of(const struct expect_any *any) { return (double)any->ranks * any->parts; }

static double bound_of(const struct expect_any *any)
{
    return any->exact ? 0 : expm1((operands_of(any) - 1) * log1p(unit_roundoff(any->dtype)));
}

static void add_exactly(const struct expect_any *any, struct any_step *step, const uint8_t *operand,
                        bool is_first)
{
    double value[ANY_STEP];
    dtype_to_f64(any->dtype, value, operand, step->count);
    for (uint64_t i = 0; i < step->count; i++) {
        const double x = value[i];
        const bool product = any->op == REDOP_PROD;
        step->exact[i] = is_first ? x : product ? step->exact[i] * x : step->exact[i] + x;
        step->unit[i] = product ? fabs(step->exact[i]) : (is_first ? 0 : step->unit[i]) + fabs(x);
    }
}

static void reduce_step(const struct expect_any *any, struct any_step *step)
{
    _Alignas(64) uint8_t operand[ANY_STEP * DTYPE_BYTES_MAX];
    for (uint32_t rank = 0; rank < any->ranks; rank++)
        for (uint32_t part = 0; part < any->parts; part++) {
            const bool is_first = rank + part == 0;
            input_take(any->dtype, any->values, any->seed,
                       input_first(rank, any->parts, part, any->n_elem) + step->first, operand,
                       step->count);
            scaling_multiply(&any->scaling, any->dtype, operand, step->count);
            if (!any->exact)
                add_exactly(any, step, operand, is_first);
            else if (is_first)
                memcpy(step->bits, operand, step->count * dtype_bytes(any->dtype));
            else
                dtype_reduce(any->dtype, any->op, step->bits, step->bits, operand, step->count);
        }
    scaling_divide(&any->scaling, any->dtype, step->bits, step->count);
}

static void compare_bits(const struct expect_any *any, const struct any_step *step,
                         const uint8_t *found, struct any_share *share)
{
    const size_t itemsize = dtype_bytes(any->dtype);
    for (uint64_t i = 0; i < step->count; i++)
        share->wrong += memcmp(found + i * itemsize, step->bits + i * itemsize, itemsize) != 0;
}

/* A NaN never counts as close. */
static void compare_near(const struct any_comparison *comparison, const struct any_step *step,
                         const uint8_t *found, struct any_share *share)
{
    const struct expect_any *const any = comparison->any;
    const double lost =
        any->op == REDOP_PROD ? (operands_of(any) - 1) * half_of_smallest(any->dtype) : 0;
    /* The exact result is one of doubles, with an error of its own. */
    const double bound = comparison->bound + operands_of(any) * ldexp(1, -52);
    double value[ANY_STEP];
    dtype_to_f64(any->dtype, value, found, step->count);
    for (uint64_t i = 0; i < step->count; i++) {
        const double off = fabs(value[i] - step->exact[i]);
        /* A product may be 0, and the bound of many operands infinite. */
        const double room = step->unit[i] > 0 ? bound * step->unit[i] : 0;
        if (!(off <= room + lost))
            share->wrong++;
        else if (step->unit[i] > 0 && off > lost && off / step->unit[i] > share->largest)
            share->largest = off / step->unit[i];
    }
}

/* Compares a step's elements where rank `rank` has them, from element `at` of its shards. */
static int compare_rank(const struct any_comparison *comparison, const struct any_step *step,
                        uint32_t rank, uint64_t at, struct any_share *share)
{
    _Alignas(64) uint8_t found[ANY_STEP * DTYPE_BYTES_MAX];
    const struct expect_any *const any = comparison->any;
    for (uint32_t shard = 0; shard < any->shards; shard++) {
        const int code =
            comparison->read(comparison->arg, rank, shard, at, step->count, found, &share->error);
        if (code != CW_OK)
            return code;
        if (any->exact)
            compare_bits(any, step, found, share);
        else
            compare_near(comparison, step, found, share);
    }
    return CW_OK;
}

/* Where the results of a step are: with all ranks, or with the one whose slice it is in. */
static int compare_step(const struct any_comparison *comparison, const struct any_step *step,
                        struct any_share *share)
{
    const struct expect_any *const any = comparison->any;
    const uint64_t each = any->n_elem / any->ranks;
    if (any->collective == CCL_REDUCE_SCATTER)
        return compare_rank(comparison, step, (uint32_t)(step->first / each), step->first % each,
                            share);
    int code = CW_OK;
    for (uint32_t rank = 0; rank < any->ranks && code == CW_OK; rank++)
        code = compare_rank(comparison, step, rank, step->first, share);
    return code;
}

static void compare_share(void *arg, uint32_t worker)
{
    const struct any_comparison *const comparison = arg;
    const struct expect_any *const any = comparison->any;
    struct any_share *const share = &comparison->shares[worker];
    const bool scatters = any->collective == CCL_REDUCE_SCATTER;
    const uint64_t each = scatters ? any->n_elem / any->ranks : any->n_elem;
    const uint64_t end = any->n_elem * (worker + 1) / comparison->workers;
    int code = CW_OK;
    struct any_step step = {.first = any->n_elem * worker / comparison->workers};
    for (; step.first < end && code == CW_OK; step.first += step.count) {
        const uint64_t slice_end = (step.first / each + 1) * each;
        const uint64_t left = (slice_end < end ? slice_end : end) - step.first;
        step.count = left < ANY_STEP ? left : ANY_STEP;
        reduce_step(any, &step);
        code = compare_step(comparison, &step, share);
    }
    share->error.exit_code = code;
}

int expect_any_verify(const struct expect_any *any, expect_read_fn read, void *arg,
                      struct expect_any_found *found, struct cw_error *error)
{
    const uint32_t workers = any->sim != NULL ? cw_sim_worker_count(any->sim) : 1;
    struct any_comparison comparison = {.any = any, .read = read, .arg = arg, .workers = workers};
    const size_t bytes = workers * sizeof *comparison.shares;
    int code = CW_OK;
    *found = (struct expect_any_found){.wrong = 0};
    comparison.shares = aligned_alloc(_Alignof(struct any_share), bytes);
    if (comparison.shares == NULL)
        return cw_error_set(error, CW_NO_RESOURCE, "out of memory: %zu bytes", bytes);
    memset(comparison.shares, 0, bytes);
    comparison.bound = found->bound = bound_of(any);
    if (any->sim != NULL)
        cw_each_worker(any->sim, compare_share, &comparison);
    else
        compare_share(&comparison, 0);
    for (uint32_t i = 0; i < workers && code == CW_OK; i++) {
        const struct any_share *const share = &comparison.shares[i];
        code = share->error.exit_code;
        found->wrong += share->wrong;
        found->largest = fmax(found->largest, share->largest);
        if (code != CW_OK)
            *error = share->error;
    }
    free(comparison.shares);
    return code;
}

bool expect_any_holds(const struct expect_any *any, uint64_t at, const void *value)
{
    const struct any_comparison comparison = {.any = any, .bound = bound_of(any)};
    struct any_step step = {.first = at, .count = 1};
    struct any_share share = {.wrong = 0};
    reduce_step(any, &step);
    if (any->exact)
        compare_bits(any, &step, value, &share);
    else
        compare_near(&comparison, &step, value, &share);
    return share.wrong == 0;
}
