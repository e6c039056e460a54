/*
 * batch.c: the program of `cubewarp batch`: reduces the same rows in batches of several sizes, by
 * reduce-scatters or all-reduces, and compares the bits of the results. A batch is one call: its
 * rows one after the other are each shard of a rank's input, so that the size of the batch decides
 * at which place of the input a row stands, which rank of a reduce-scatter gets its results, and
 * which algorithm `auto` takes. The rows' values depend on rank, shard, row and element alone. Of
 * an all-reduce rank 0's first shard has the results.
 */
#include "bench/programs/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_verify.h"
#include "collectives/config/config_place.h"
#include "collectives/data/input.h"
#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/distributed.h"
#include "collectives/schedule/schedule.h"

enum { RESULTS_BYTES_MAX = 1 << 30 };

/* All rows in batches of one size. */
struct batch_run {
    const struct run_options *options;
    const struct config *config;
    enum ccl_collective collective; /* CCL_REDUCE_SCATTER, CCL_ALL_REDUCE */
    uint32_t rows, batch;           /* in all, in a call */
    uint64_t row_elems;
    struct dist *dist;
    bool is_scheduled;    /* the algorithm is a schedule */
    uint32_t calls;       /* that have completed */
    int64_t ranks_differ; /* elements, over all calls */
    char algorithm[80];
    uint8_t *results; /* of all rows; this command's */
};

static size_t item_bytes(const struct batch_run *run) { return dtype_bytes(run->options->dtype); }
static uint64_t call_elems(const struct batch_run *run) { return run->batch * run->row_elems; }

/* Writes the rows of a call into each shard of a rank's input. */
static int write_rows(const struct batch_run *run, uint32_t rank, uint32_t call,
                      const struct tensor *input, struct cw_error *error)
{
    const uint64_t count = call_elems(run), all = run->rows * run->row_elems;
    void *const values = malloc(count * item_bytes(run));
    int code = values != NULL ? CW_OK : cw_error_memory(error, "the rows of a call");
    for (uint32_t i = 0; i < input->shard_count && code == CW_OK; i++) {
        const struct tensor_shard *const shard = &input->shard[i];
        const uint64_t first = input_first(rank, tensor_parts(input), shard->part, all);
        input_fill(run->options->dtype, run->options->seed, first + call * count, values, count);
        code = data_pass_write(dist_data(run->dist), shard->pe_index, shard->hbm_offset, values,
                               count * item_bytes(run), error);
    }
    free(values);
    return code;
}

static void batch_worker(int rank, void *arg)
{
    const struct batch_run *const run = arg;
    const bool scatters = run->collective == CCL_REDUCE_SCATTER;
    const struct dp_policy rows = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};
    const struct dp_policy policy =
        run->is_scheduled || !scatters ? dist_facts(run->dist)->policy : rows; /* of its PEs */
    struct cw_error error = {.exit_code = CW_OK};
    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    const uint32_t ranks = (uint32_t)dist_get_world_size();
    struct tensor *const input = dist_tensor_zeros(call_elems(run), run->options->dtype, &policy);
    struct tensor *const output =
        scatters ? dist_tensor_zeros(call_elems(run) / ranks, run->options->dtype, &policy) : NULL;
    for (uint32_t call = 0; call < run->rows / run->batch; call++) {
        if (write_rows(run, (uint32_t)rank, call, input, &error) != CW_OK)
            mp_fail(error.exit_code, "%s", error.text);
        if (scatters)
            bench_reduce_scatter(run->options, output, input);
        else
            bench_all_reduce(run->options, input);
    }
}

static int read_result(void *arg, uint32_t rank, uint32_t shard, uint64_t first, uint64_t count,
                       void *dst, struct cw_error *error)
{
    const struct dist_completion *const completion = arg;
    return dist_read(completion->dist, completion->tensors[rank], shard, first, count, dst, error);
}

/* Elements that ranks end with in different bits, of an all-reduce. */
static int compare_ranks(struct batch_run *run, const struct dist_completion *completion,
                         struct cw_error *error)
{
    struct dist_completion view = *completion;
    const struct agreement agreement = {.collective = run->collective,
                                        .ranks = completion->world_size,
                                        .shards = completion->tensors[0]->shard_count,
                                        .shards_apart = dist_facts(completion->dist)->parts > 0,
                                        .dtype = run->options->dtype,
                                        .n_elem = completion->tensors[0]->shard_elems,
                                        .sim = lp_system_sim(dist_system(completion->dist))};
    struct agreement_found found;
    const int code = agreement_look(&agreement, read_result, &view, &found, error);
    run->ranks_differ += code == CW_OK && found.ranks_differ > 0 ? found.ranks_differ : 0;
    return code;
}

static int batch_completed(void *arg, const struct dist_completion *completion,
                           struct cw_error *error)
{
    struct batch_run *const run = arg;
    const bool scatters = run->collective == CCL_REDUCE_SCATTER;
    const uint32_t ranks = scatters ? completion->world_size : 1; /* that have a part each */
    const uint64_t each = call_elems(run) / ranks;
    uint8_t *to = run->results + run->calls * call_elems(run) * item_bytes(run);
    int code = scatters ? CW_OK : compare_ranks(run, completion, error);
    for (uint32_t rank = 0; rank < ranks && code == CW_OK; rank++) {
        code = dist_read(completion->dist, completion->tensors[rank], 0, 0, each, to, error);
        to += each * item_bytes(run);
    }
    const struct schedule *const schedule =
        completion->algorithm->schedule != NULL ? dist_facts(completion->dist)->schedule : NULL;
    run->calls++;
    snprintf(run->algorithm, sizeof run->algorithm, "%s",
             schedule != NULL ? schedule->name : completion->algorithm->name);
    return code;
}

/* The call of a batch of this many rows, and the configuration of a machine for it. */
static struct ccl_call call_of_rows(const struct batch_run *run, uint32_t rows,
                                    struct config *expected)
{
    *expected = *run->config;
    const struct ccl_call call = {.hw = &expected->hw,
                                  .ccl = &expected->ccl,
                                  .collective = run->collective,
                                  .world_size = dist_world_size_for(expected),
                                  .n_elem = rows * run->row_elems,
                                  .dtype = (enum lp_dtype)run->options->dtype,
                                  .math = (enum lp_math)redop_of_kernels(run->options->op)};
    bench_expect_call(run->options, &call, &expected->ccl);
    return call;
}

/* The configured algorithm may do another collective: the machine has room for this one's. */
static int reduce_rows(struct batch_run *run, struct cw_error *error)
{
    struct config expected;
    const struct ccl_call call = call_of_rows(run, run->batch, &expected);
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_for(call.ccl, call.collective, error);
    if (algorithm == NULL)
        return error->exit_code;
    const struct dist_options options = {
        .config = &expected,
        .machine.engine = run->options->engine,
        .machine.needs.contexts = 1 + algorithm->kernel->stream_count,
        .machine.needs.peers = ccl_algorithm_peers(algorithm, &call),
        .completed = batch_completed,
        .arg = run};
    run->is_scheduled = algorithm->schedule != NULL;
    run->dist = dist_create(&options, error);
    if (run->dist == NULL)
        return error->exit_code;
    const int code = dist_spawn(run->dist, batch_worker, run, error);
    dist_free(run->dist);
    run->dist = NULL;
    return code;
}

/* ---- the comparison -------------------------------------------------------------------------- */

/* The elements of all rows that differ between two runs, and the first of them. */
struct difference {
    uint64_t count, first;
};

static struct difference compare_rows(const struct batch_run *a, const struct batch_run *b)
{
    const size_t bytes = item_bytes(a);
    struct difference difference = {0, 0};
    for (uint64_t i = a->rows * a->row_elems; i-- > 0;)
        if (memcmp(a->results + i * bytes, b->results + i * bytes, bytes) != 0) {
            difference.count++;
            difference.first = i;
        }
    return difference;
}

static uint64_t bits_of(const struct batch_run *run, uint64_t element)
{
    uint64_t bits = 0;
    memcpy(&bits, run->results + element * item_bytes(run), item_bytes(run)); /* little-endian */
    return bits;
}

static void print_batch(const struct batch_run *run, const struct difference *difference)
{
    const uint64_t bytes = run->rows * run->row_elems * item_bytes(run);
    printf(" %12" PRIu32 " %12" PRIu32 " %12" PRIu64 "  %-12s %016" PRIx64 " %12" PRIu64 "\n",
           run->batch, run->rows / run->batch, call_elems(run) * item_bytes(run), run->algorithm,
           (uint64_t)XXH3_64bits(run->results, bytes), difference->count);
    const uint64_t not_finite =
        dtype_count_not_finite(run->options->dtype, run->results, run->rows * run->row_elems);
    if (not_finite > 0)
        printf("# %" PRIu64 " result%s not finite though all inputs are\n", not_finite,
               not_finite == 1 ? " is" : "s are");
    if (run->ranks_differ > 0)
        printf("# ranks differ: %" PRId64 " element%s end%s with other bits on some ranks\n",
               run->ranks_differ, run->ranks_differ == 1 ? "" : "s",
               run->ranks_differ == 1 ? "s" : "");
    (void)fflush(stdout); /* a failure is known at the end */
}

static void print_difference(const struct batch_run *first, const struct batch_run *other,
                             const struct difference *difference)
{
    printf("# rows in a batch of %" PRIu32 " (%s) and of %" PRIu32
           " (%s) differ first in row %" PRIu64 ", element %" PRIu64 ": bits %" PRIx64
           " and %" PRIx64 "\n",
           first->batch, first->algorithm, other->batch, other->algorithm,
           difference->first / first->row_elems, difference->first % first->row_elems,
           bits_of(first, difference->first), bits_of(other, difference->first));
}

/* The next size of a batch that divides the rows; 0: none. */
static uint32_t next_batch(uint32_t rows, uint32_t batch)
{
    while (++batch <= rows)
        if (rows % batch == 0)
            return batch;
    return 0;
}

static int run_batches(struct batch_run *first, struct batch_run *other, struct cw_error *error)
{
    uint64_t differing = 0;
    uint32_t sizes = 0;
    for (uint32_t batch = 1; batch != 0; batch = next_batch(first->rows, batch), sizes++) {
        struct batch_run *const run = batch == 1 ? first : other;
        run->batch = batch;
        run->calls = 0;
        run->ranks_differ = 0;
        const int code = reduce_rows(run, error);
        if (code != CW_OK)
            return code;
        const struct difference difference = compare_rows(first, run);
        print_batch(run, &difference);
        if (difference.count > 0 && differing == 0)
            print_difference(first, run, &difference);
        differing += difference.count > 0;
    }
    if (differing == 0) {
        printf("# the bits of all rows agree in batches of %" PRIu32 " sizes\n", sizes);
        return CW_OK;
    }
    printf("# the bits depend on the batch: %" PRIu64 " of %" PRIu32
           " sizes differ from the first\n",
           differing, sizes);
    return cw_error_set(error, CW_DATA_WRONG, "the bits of a row depend on the batch");
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Every batch size must be one that the algorithm takes, before anything runs. */
static int check_batches(const struct batch_run *run, struct cw_error *error)
{
    if (bench_algorithm_fits(run->config, run->collective, "batch", error) != CW_OK)
        return error->exit_code;
    for (uint32_t batch = 1; batch != 0; batch = next_batch(run->rows, batch)) {
        struct config expected;
        const struct ccl_call call = call_of_rows(run, batch, &expected);
        const int code = dist_check_call(&expected, &call, error);
        if (code != CW_OK)
            return code;
    }
    return CW_OK;
}

/* An all-reduce, if an option names an algorithm that does one. */
static enum ccl_collective batch_collective(const struct config *config)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const named = config_is_from_option(config, "defaults.algorithm")
                                                  ? ccl_algorithm_load(config->ccl.module, &ignored)
                                                  : NULL;
    return named != NULL && named->collective == CCL_ALL_REDUCE ? CCL_ALL_REDUCE
                                                                : CCL_REDUCE_SCATTER;
}

int batch_run_all(const struct run_options *options, const struct config *config,
                  struct cw_error *error)
{
    const uint32_t ranks = dist_world_size_for(config);
    struct batch_run first = {.options = options,
                              .config = config,
                              .collective = batch_collective(config),
                              .rows = options->rows,
                              .row_elems = options->row_elems != 0 ? options->row_elems
                                                                   : (uint64_t)ranks * 64};
    const uint64_t bytes = first.rows * first.row_elems * item_bytes(&first);
    if (bytes > RESULTS_BYTES_MAX)
        return cw_error_set(error, CW_USAGE,
                            "--rows and --row-elems: %" PRIu64 " bytes of results; legal are %d at "
                            "most",
                            bytes, RESULTS_BYTES_MAX);
    if (check_batches(&first, error) != CW_OK)
        return error->exit_code;
    struct batch_run other = first;
    first.results = calloc(2, bytes);
    if (first.results == NULL)
        return cw_error_memory(error, "the results of all rows");
    other.results = first.results + bytes;
    printf("# cubewarp %s: %" PRIu32 " rows of %" PRIu64 " elements, %s, %s, seed %" PRIu64
           ", on %" PRIu32 " ranks, configuration %s\n",
           CW_VERSION, first.rows, first.row_elems, dtype_name(options->dtype),
           redop_name(options->op), options->seed, ranks, config->digest);
    printf("#%12s %12s %12s  %-12s %-16s %12s\n", "rows a call", "calls", "bytes(B)", "algorithm",
           "hash of all rows", "#different");
    const int code = run_batches(&first, &other, error);
    free(first.results);
    return code;
}
