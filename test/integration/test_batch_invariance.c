/*
 * test_batch_invariance.c: the property that birs is named for (DECISIONS.md, birs, 6.2): a column
 * of values, one per rank, is reduced to the same bits whatever it is reduced with: in one call or
 * in several, with large or small pieces, wherever it stands in the input and so whichever rank
 * gets it. A column's result depends on the order of additions alone, in bf16; so this also shows
 * algorithms whose orders differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/runtime/distributed.h"
#include "collectives/config/config_load.h"
#include "collectives/data/input.h"

enum { COLUMNS = 4096, RANKS_MAX = 64, CALLS_MAX = 8 };

/* How the columns are put into inputs. */
struct layout {
    const char *algorithm;
    uint32_t ranks, calls;
    uint32_t rotation; /* column c of a call stands at element (c + rotation) mod its columns */
    const char *slot_size;
};

struct run {
    struct layout layout;
    struct config *config;
    struct dist *dist;
    uint32_t call;            /* under way */
    uint16_t result[COLUMNS]; /* by column */
};

/* As many as divide into calls and slices. */
static uint32_t columns_in_all(const struct run *run)
{
    return COLUMNS - COLUMNS % (CALLS_MAX * run->layout.ranks);
}
static uint32_t columns_of(const struct run *run)
{
    return columns_in_all(run) / run->layout.calls;
}

/* The column at element e of a call's inputs. */
static uint32_t column_at(const struct run *run, uint32_t call, uint32_t e)
{
    const uint32_t n = columns_of(run);
    return call * n + (e + n - run->layout.rotation % n) % n;
}

static uint16_t value(uint32_t rank, uint32_t column)
{
    uint16_t bits;
    input_fill(DTYPE_BF16, 5, (uint64_t)rank * COLUMNS + column, &bits, 1);
    return bits;
}

static void worker(int rank, void *arg)
{
    struct run *run = arg;
    const struct dp_policy policy = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};
    const uint32_t n = columns_of(run);
    uint16_t values[COLUMNS];
    struct cw_error error;
    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    struct tensor *input = dist_tensor_zeros(n, DTYPE_BF16, &policy);
    struct tensor *output = dist_tensor_zeros(n / run->layout.ranks, DTYPE_BF16, &policy);
    for (uint32_t call = 0; call < run->layout.calls; call++) {
        for (uint32_t e = 0; e < n; e++)
            values[e] = value((uint32_t)rank, column_at(run, call, e));
        assert_int_equal(data_pass_write(dist_data(run->dist), input->shard[0].pe_index,
                                         input->shard[0].hbm_offset, values, n * sizeof *values,
                                         &error),
                         CW_OK);
        dist_reduce_scatter(output, input, REDOP_SUM);
    }
}

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct run *run = arg;
    const uint32_t each = columns_of(run) / run->layout.ranks;
    uint16_t results[COLUMNS];
    for (uint32_t rank = 0; rank < run->layout.ranks; rank++) {
        const int code =
            dist_read(completion->dist, completion->tensors[rank], 0, 0, each, results, error);
        if (code != CW_OK)
            return code;
        for (uint32_t i = 0; i < each; i++)
            run->result[column_at(run, run->call, rank * each + i)] = results[i];
    }
    run->call++;
    return CW_OK;
}

static void reduce(struct run *run, struct layout layout)
{
    char count[64], slot[64];
    struct config_errors errors = {0};
    struct cw_error error = {.exit_code = CW_OK};
    snprintf(count, sizeof count, "system.sips.count=%u", layout.ranks);
    snprintf(slot, sizeof slot, "defaults.slot_size=%s", layout.slot_size);
    const char *const sets[] = {count, slot};
    const struct config_request request = {
        .preset = "a3_16", .algorithm = layout.algorithm, .sets = sets, .set_count = 2};
    *run = (struct run){.layout = layout};
    if (config_load(&request, &run->config, &errors) != CW_OK) {
        config_errors_print(stderr, &errors);
        fail();
    }
    const struct dist_options options = {
        .config = run->config,
        .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
        .completed = completed,
        .arg = run};
    run->dist = dist_create(&options, &error);
    if (run->dist == NULL || dist_spawn(run->dist, worker, run, &error) != CW_OK)
        fail_msg("%s", error.text);
    assert_int_equal(run->call, layout.calls);
    dist_free(run->dist);
    config_free(run->config);
}

static uint32_t differences(const struct run *a, const struct run *b)
{
    uint32_t different = 0;
    for (uint32_t column = 0; column < COLUMNS; column++)
        different += a->result[column] != b->result[column];
    return different;
}

static void check_invariance(const char *algorithm, uint32_t ranks)
{
    static struct run first, other;
    reduce(&first, (struct layout){algorithm, ranks, 1, 0, "4096"});
    const struct layout others[] = {
        {algorithm, ranks, 4, 0, "4096"},    /* in several calls */
        {algorithm, ranks, 1, 0, "64"},      /* piece by piece */
        {algorithm, ranks, 1, 0, "36"},      /* pieces that do not divide a slice */
        {algorithm, ranks, 1, 1500, "4096"}, /* elsewhere: other ranks get the results */
        {algorithm, ranks, CALLS_MAX, 77, "100"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        reduce(&other, others[i]);
        assert_int_equal(differences(&first, &other), 0);
    }
}

static void birs_gives_the_same_bits_in_any_batch(void **state)
{
    (void)state;
    check_invariance("birs", 4);
    check_invariance("birs", 8);
    check_invariance("birs", 16);
    check_invariance("birs_inter", 32);
    check_invariance("birs_inter", 64);
    static const uint32_t uneven[] = {18, 24, 40, 48, 62};
    for (size_t i = 0; i < sizeof uneven / sizeof *uneven; i++)
        check_invariance("birs_inter", uneven[i]);
}

static void mesh_and_birs_give_the_same_bits(void **state)
{
    (void)state;
    static struct run birs, mesh;
    reduce(&birs, (struct layout){"birs", 16, 1, 0, "4096"});
    reduce(&mesh, (struct layout){"mesh", 16, 2, 5, "512"});
    assert_int_equal(differences(&birs, &mesh), 0);
}

static void recursive_halving_adds_in_another_order(void **state)
{
    (void)state;
    static struct run birs, rhd;
    reduce(&birs, (struct layout){"birs", 16, 1, 0, "4096"});
    reduce(&rhd, (struct layout){"rhd", 16, 1, 0, "4096"});
    assert_true(differences(&birs, &rhd) > COLUMNS / 10);
}

/* A ring begins at the rank that gets the result, so a column's bits depend on where it stands. */
static void a_ring_is_not_batch_invariant(void **state)
{
    (void)state;
    enum { RANKS = 16 };
    uint32_t different = 0;
    for (uint32_t column = 0; column < COLUMNS; column++) {
        uint16_t sum[2]; /* of the ranks 0 and 8: each with its own first, then those before it */
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t rank = i * RANKS / 2;
            sum[i] = value(rank, column);
            for (uint32_t k = 1; k < RANKS; k++) {
                const uint16_t next = value((rank + RANKS - k) % RANKS, column);
                dtype_reduce(DTYPE_BF16, REDOP_SUM, &sum[i], &sum[i], &next, 1);
            }
        }
        different += sum[0] != sum[1];
    }
    assert_true(different > COLUMNS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(birs_gives_the_same_bits_in_any_batch),
        cmocka_unit_test(mesh_and_birs_give_the_same_bits),
        cmocka_unit_test(recursive_halving_adds_in_another_order),
        cmocka_unit_test(a_ring_is_not_batch_invariant),
    };
    return cmocka_run_group_tests_name("batch invariance", tests, NULL, NULL);
}
