/*
 * test_compute.c: what one rank computes by itself (collectives/compute/compute.h): that the blocks
 * of a product make up C, its bits through the data pass, and times worked out by hand.
 *
 * PE 0 on small_machine(), in ns, n bytes (test_lp_memory.c):
 *     load    issue 3; request 45.015; n / 64; back 1.015 + pe_dma 4 + 1.001
 *     store   issue 3; n / 128 in the engine, or n / 64 on hbm; 45.015; back 1.015 + 4
 *     wait    pe_cpu 2
 * PE_GEMM: 16 x 16 x 16 in a cycle of 1 ns, and 8; PE_FETCH_STORE: 512 bytes per ns, and 1.
 */
#include "test/support/test_lp_support.h"

#include "collectives/compute/compute.h"
#include "collectives/compute/matmul_verify.h"
#include "collectives/data/data_pass.h"
#include "collectives/data/input.h"

enum { ISSUE = 3000, WAIT = 2000, THERE = 45015, BACK = 5015, INTO_TCM = 1001 };
enum { TCM_BYTES = 1 << 19, REGION_VA = 1 << 28, REGION_PA = 1 << 22, SEED = 7, FIRST = 1000 };

static struct compute_job job_of(const struct hw_config *hw, struct compute_request request)
{
    struct compute_job job;
    struct cw_error error;
    if (compute_job_of(hw, &request, TCM_BYTES, 0, &job, &error) != CW_OK)
        fail_msg("%s", error.text);
    return job;
}

static struct compute_request product(uint32_t m, uint32_t n, uint32_t k, enum dtype dtype)
{
    return (struct compute_request){
        .kind = COMPUTE_PRODUCT, .m = m, .n = n, .k = k, .dtype = dtype};
}

/* One cube, whose PE_FETCH_STOREs take the time that they take by default. */
static struct machine *computer(bool with_data)
{
    struct machine *m = small_machine(1, 1, 1);
    m->hw.fetch_store = default_machine().fetch_store;
    m->with_data = with_data;
    return m;
}

/* Runs the job on its PEs; *ps: from the first start to the last end. */
static void run_job(struct machine *m, const struct compute_job *job, int64_t *ps)
{
    uint32_t pe[64];
    const struct tl_args args = {.dtype =
                                     (uint8_t)(job->request.dtype ? job->request.dtype : DTYPE_F32),
                                 .n_elem = 1,
                                 .region = {m->region[0]},
                                 .more = job};
    for (uint32_t i = 0; i < job->pes; i++)
        pe[i] = job->request.first + i;
    m->op_count = 0;
    const struct lp_batch_options options = {.kernel = compute_kernel(job)};
    assert_int_equal(lp_system_begin_batch(m->system, &options, &m->error), CW_OK);
    assert_int_equal(
        lp_system_submit_launches(m->system, pe, job->pes, compute_kernel(job), &args, &m->error),
        CW_OK);
    if (lp_system_drain(m->system, &m->error) != CW_OK)
        fail_msg("%s", m->error.text);
    const struct lp_times *const times = lp_system_times(m->system);
    *ps = times->last_end_ps - times->first_start_ps;
}

/* On a machine that is idle but for it. */
static int64_t alone_ps(struct compute_request request, enum hw_contention contention)
{
    struct machine *const m = computer(false);
    m->hw.contention = contention;
    const struct compute_job job = job_of(&m->hw, request);
    int64_t ps;
    if (request.kind == COMPUTE_PRODUCT)
        m->region[0] = (struct tl_region){REGION_VA, REGION_PA,
                                          compute_shard_elems(&job) * dtype_bytes(request.dtype)};
    machine_start(m);
    run_job(m, &job, &ps);
    assert_true(ps >= compute_bound(&m->hw, &job).ps);
    machine_free(m);
    return ps;
}

/* ---- times ----------------------------------------------------------------------------------- */

static void a_time_is_exact(void **state)
{
    (void)state;
    static const int64_t times_ps[] = {0, 1, 999, 123456789, 3600 * INT64_C(1000000000000)};
    for (size_t i = 0; i < COUNT_OF(times_ps); i++)
        assert_int_equal(alone_ps((struct compute_request){.kind = COMPUTE_TIME,
                                                           .first = (uint32_t)i,
                                                           .count = 1,
                                                           .time_ps = times_ps[i]},
                                  HW_CONTENTION_MESSAGE),
                         times_ps[i]);
}

/* One tile of 16 x 16 of each, as in test_gemm.c: the second load comes 8 after the first. */
static void a_product_of_one_tile_is_its_loads_its_product_and_its_store(void **state)
{
    (void)state;
    struct compute_request request = product(16, 16, 16, DTYPE_F16);
    request.count = 1;
    const int64_t loads = ISSUE + THERE + 2 * 8000 + BACK + INTO_TCM;
    const int64_t dot = ISSUE + 1000 + 1024 * 1000 / 512 + 8000 + 1000 + 1000 + 512 * 1000 / 512;
    for (enum hw_contention c = HW_CONTENTION_MESSAGE; c <= HW_CONTENTION_CHUNK; c++)
        assert_int_equal(alone_ps(request, c), loads + dot + ISSUE + 8000 + THERE + BACK);
}

static int64_t longer(int64_t a, int64_t b) { return a > b ? a : b; }

/* The same as one work. */
static int64_t at_once_ps(struct compute_request request)
{
    struct machine *const m = computer(false);
    struct compute_job job = job_of(&m->hw, request);
    compute_job_at_once(&m->hw, &job);
    int64_t ps;
    machine_start(m);
    run_job(m, &job, &ps);
    machine_free(m);
    return ps;
}

/* Loads: their issue, the way there, all bytes through HBM's link one after the other, the way back
 * and a wait for the last. PE_GEMM: its issue, 8, and its cycles. */
static void a_roofline_takes_what_takes_longer(void **state)
{
    (void)state;
    static const uint64_t bytes[] = {0, 64, 32768, 33408, 1 << 20, (1 << 20) + 640};
    static const uint64_t cycles[] = {0, 1, 500, 16000, 40000};
    for (size_t b = 0; b < COUNT_OF(bytes); b++)
        for (size_t c = 0; c < COUNT_OF(cycles); c++) {
            if (bytes[b] == 0 && cycles[c] == 0)
                continue;
            const int64_t issued = cycles[c] > 0 ? ISSUE : 0;
            const int64_t loads = bytes[b] > 0 ? issued + ISSUE + THERE + BACK + INTO_TCM +
                                                     (int64_t)bytes[b] * 1000 / 64
                                               : issued;
            const int64_t work = cycles[c] > 0 ? ISSUE + 8000 + (int64_t)cycles[c] * 1000 : 0;
            const struct compute_request request = {.kind = COMPUTE_ROOFLINE,
                                                    .count = 1,
                                                    .block = TL_BLOCK_GEMM,
                                                    .flops = 2 * 4096 * cycles[c],
                                                    .bytes = bytes[b]};
            const int64_t expected = work > 0 ? longer(loads + WAIT, work) : loads;
            assert_int_equal(alone_ps(request, HW_CONTENTION_MESSAGE), expected);
            assert_int_equal(at_once_ps(request), expected);
        }
}

/* PE_MATH: one element per cycle, and 4. Four PEs share the flops, rounded up. */
static void a_roofline_of_pe_math_is_cut_over_its_pes(void **state)
{
    (void)state;
    const struct compute_request request = {
        .kind = COMPUTE_ROOFLINE, .count = 4, .block = TL_BLOCK_MATH, .flops = 4001};
    struct machine *const m = computer(false);
    const struct compute_job job = job_of(&m->hw, request);
    assert_int_equal(job.pe_work_ps, 1001000);
    assert_int_equal(job.pes, 4);
    machine_free(m);
    struct compute_request one = request;
    one.count = 1;
    assert_int_equal(alone_ps(one, HW_CONTENTION_MESSAGE), ISSUE + 4000 + 4001000);
}

/* Tiles are chosen by the estimate, so it must be near. */
static void a_large_product_takes_about_its_estimate(void **state)
{
    (void)state;
    static const uint32_t sides[][3] = {{1024, 1024, 1024}, {64, 2048, 512}, {512, 512, 2048}};
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        struct machine *const m = computer(false);
        const struct compute_request request =
            product(sides[i][0], sides[i][1], sides[i][2], DTYPE_BF16);
        const struct compute_job job = job_of(&m->hw, request);
        const struct compute_block block = compute_block_of(&job, 0);
        const int64_t estimate_ps = matmul_estimate_ps(&m->hw, &block.shape, 2);
        const int64_t ps = alone_ps(request, HW_CONTENTION_MESSAGE);
        assert_in_range(ps * 100 / estimate_ps, 90, 110);
        machine_free(m);
    }
}

/* C of 1024 x 1024 over 4 PEs: 512 x 512 each, so 2 x 512 x 1024 elements of 2 bytes of operands,
 * 32,768 ns at 64 GB/s, and 32 x 32 x 64 cycles of PE_GEMM, 65,536 ns. */
static void a_product_s_bound_is_that_of_the_best_blocks(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    struct compute_request request = product(1024, 1024, 1024, DTYPE_F16);
    request.count = 4;
    struct compute_job job = job_of(&hw, request);
    assert_int_equal(compute_bound(&hw, &job).ps, 65536000);
    assert_string_equal(compute_bound(&hw, &job).by, "pe_gemm");
    request.m = request.n = 64; /* 32 x 32 each: 2 x 2 x 64 cycles, and 131,072 bytes: 2,048 ns */
    job = job_of(&hw, request);
    assert_int_equal(compute_bound(&hw, &job).ps, 2048000);
    assert_string_equal(compute_bound(&hw, &job).by, "hbm");
    assert_true(compute_flops(&job) == 2.0 * 64 * 64 * 1024);
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* On 16 PEs of two cubes. */
static void check_bits(struct compute_request request, enum cw_sync sync, uint32_t workers)
{
    static const uint32_t one[] = {0, 0}, two[] = {0, 1};
    struct machine *const m = computer(true);
    m->hw.cube_w = 2;
    m->cube_worker = workers == 1 ? one : two;
    m->engine.sync = sync;
    m->engine.worker_count = workers;
    const struct compute_job job = job_of(&m->hw, request);
    const size_t itemsize = dtype_bytes(request.dtype);
    const uint64_t bytes = compute_shard_elems(&job) * itemsize;
    uint8_t *const shard = calloc(1, bytes);
    int64_t ps;
    m->region[0] = (struct tl_region){REGION_VA, REGION_PA, bytes};
    machine_start(m);
    for (uint32_t i = 0; i < job.pes; i++) {
        compute_fill(&job, i, SEED, FIRST, shard);
        assert_int_equal(
            data_pass_write(m->data, job.request.first + i, REGION_PA, shard, bytes, &m->error),
            CW_OK);
    }
    run_job(m, &job, &ps);
    machine_settle_data(m);
    uint64_t elements = 0;
    for (uint32_t i = 0; i < job.pes; i++) {
        const struct compute_block block = compute_block_of(&job, i);
        uint64_t wrong = 99;
        data_pass_read(m->data, job.request.first + i,
                       REGION_PA + matmul_result(&block.shape) * itemsize, shard,
                       (size_t)block.shape.m * block.shape.n * itemsize);
        assert_true(
            compute_verify(&job, i, SEED, FIRST, (struct ccl_arithmetic){0}, shard, &wrong));
        if (wrong > 0)
            fail_msg("%u x %u x %u of %s: PE %u has %llu wrong elements", request.m, request.n,
                     request.k, dtype_name(request.dtype), i, (unsigned long long)wrong);
        shard[0] ^= 1;
        assert_true(
            compute_verify(&job, i, SEED, FIRST, (struct ccl_arithmetic){0}, shard, &wrong));
        assert_int_equal(wrong, 1);
        elements += (uint64_t)block.shape.m * block.shape.n;
    }
    assert_int_equal(elements, (uint64_t)request.m * request.n);
    free(shard);
    machine_free(m);
}

static void products_have_the_specified_bits(void **state)
{
    (void)state;
    static const uint32_t sides[][3] = {
        {1, 1, 1}, {5, 7, 9}, {64, 48, 200}, {3, 300, 65}, {33, 1, 700}};
    static const enum dtype dtypes[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_FP8_E4M3,
                                        DTYPE_FP8_E5M2};
    for (size_t i = 0; i < COUNT_OF(sides); i++)
        for (size_t d = 0; d < COUNT_OF(dtypes); d++) {
            struct compute_request request =
                product(sides[i][0], sides[i][1], sides[i][2], dtypes[d]);
            request.first = (uint32_t)(i + d);
            request.count = 1 + (uint32_t)(i * d) % 7;
            check_bits(request, CW_SEQUENTIAL, 1);
        }
    check_bits(product(50, 60, 70, DTYPE_F16), CW_STRESS, 1);
    check_bits(product(50, 60, 70, DTYPE_BF16), CW_OPTIMISTIC, 2);
}

/* Sums of tiles that are rounded each time have other bits. */
static void sums_are_rounded_once(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    struct compute_job job = job_of(&hw, product(4, 4, 4096, DTYPE_BF16));
    assert_true(job.shape.sums == MATMUL_SUMS_F32);
    uint8_t raw[2 * 4096];
    float a[4096], b[4096][4], sum = 0;
    input_fill(DTYPE_BF16, SEED, FIRST, raw, 4096);
    dtype_to_f32(DTYPE_BF16, a, raw, 4096);
    for (uint32_t l = 0; l < 4096; l++) {
        input_fill(DTYPE_BF16, SEED, FIRST + 4 * 4096 + 4 * l, raw, 4);
        dtype_to_f32(DTYPE_BF16, b[l], raw, 4);
        sum += a[l] * b[l][0];
    }
    uint16_t c[16] = {0}, expected;
    uint64_t wrong, zeros;
    job.rows = job.columns = job.pes = 1;
    dtype_from_f32(DTYPE_BF16, &expected, &sum, 1);
    assert_true(compute_verify(&job, 0, SEED, FIRST, (struct ccl_arithmetic){0}, c, &zeros));
    c[0] = expected;
    assert_true(compute_verify(&job, 0, SEED, FIRST, (struct ccl_arithmetic){0}, c, &wrong));
    assert_int_equal(wrong + 1, zeros);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* Each element of C is in one block; sides differ by at most one; each block has something. */
static void blocks_make_up_the_product(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    uint64_t seed = 1;
    for (uint32_t n = 0; n < 200; n++) {
        struct compute_request request = product(0, 0, 64, DTYPE_F16);
        request.m = 1 + (uint32_t)((seed = seed * 6364136223846793005u + 1) >> 58);
        request.n = 1 + (uint32_t)((seed = seed * 6364136223846793005u + 1) >> 57);
        request.count = 1 + (uint32_t)((seed = seed * 6364136223846793005u + 1) >> 59);
        const struct compute_job job = job_of(&hw, request);
        static uint8_t covered[64][128];
        memset(covered, 0, sizeof covered);
        assert_true(job.pes >= 1 && job.pes <= request.count && job.pes == job.rows * job.columns);
        for (uint32_t i = 0; i < job.pes; i++) {
            const struct compute_block b = compute_block_of(&job, i);
            assert_true(b.shape.m == request.m / job.rows || b.shape.m == request.m / job.rows + 1);
            assert_true(b.shape.n == request.n / job.columns ||
                        b.shape.n == request.n / job.columns + 1);
            assert_true(b.shape.m > 0 && b.shape.n > 0 && b.shape.k == 64);
            assert_true(matmul_elems(&b.shape) <= compute_shard_elems(&job));
            for (uint32_t y = 0; y < b.shape.m; y++)
                for (uint32_t x = 0; x < b.shape.n; x++)
                    covered[b.row + y][b.column + x]++;
        }
        for (uint32_t y = 0; y < request.m; y++)
            for (uint32_t x = 0; x < request.n; x++)
                assert_int_equal(covered[y][x], 1);
    }
}

static void refused(struct compute_request request, uint64_t tcm_bytes, const char *text)
{
    const struct hw_config hw = default_machine();
    struct compute_job job;
    struct cw_error error;
    error.text[0] = 0;
    if (compute_job_of(&hw, &request, tcm_bytes, 0, &job, &error) != CW_USAGE)
        fail_msg("accepted: expected \"%s\"", text);
    if (strstr(error.text, text) == NULL)
        fail_msg("expected \"%s\", got \"%s\"", text, error.text);
}

static void what_cannot_be_computed_is_refused(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    const uint32_t pes = hw_cubes(&hw) * hw_pes(&hw);
    char text[100];
    struct compute_request request = product(0, 1, 1, DTYPE_F16);
    refused(request, TCM_BYTES,
            "a product of 0 x 1 x 1 of f16: legal are sides from 1 to 16777216");
    request = product(1, 1, COMPUTE_SIDE_MAX + 1, DTYPE_F16);
    refused(request, TCM_BYTES, "legal are sides");
    refused(product(1, 1, 1, DTYPE_INT8), TCM_BYTES, "legal are f16, bf16, f32, fp8_e4m3");
    refused(product(1, 1, 1, DTYPE_F64), TCM_BYTES, "legal are f16, bf16, f32, fp8_e4m3");
    request = product(16, 16, 16, DTYPE_F16);
    request.count = 1; /* of f16: two tiles of A, two of B, one of C */
    refused(request, 5 * 512 - 1, "do not fit into 2559 bytes of TCM");
    snprintf(text, sizeof text, "PEs %u to %u of a SIP that has 0 to %u", pes, pes, pes - 1);
    refused((struct compute_request){.kind = COMPUTE_TIME, .first = pes, .count = 1}, TCM_BYTES,
            text);
    refused((struct compute_request){.kind = COMPUTE_TIME, .first = 1, .count = pes}, TCM_BYTES,
            "of a SIP that has");
    refused((struct compute_request){.kind = COMPUTE_TIME, .time_ps = -1}, TCM_BYTES, "of -1 ps");
    refused((struct compute_request){.kind = 3}, TCM_BYTES, "of kind 3");
    refused((struct compute_request){.kind = COMPUTE_ROOFLINE, .block = TL_BLOCK_GEMM}, TCM_BYTES,
            "no flops and no bytes");
    refused((struct compute_request){.kind = COMPUTE_ROOFLINE, .flops = 1}, TCM_BYTES,
            "of PE_GEMM or of PE_MATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_exact),
        cmocka_unit_test(a_product_of_one_tile_is_its_loads_its_product_and_its_store),
        cmocka_unit_test(a_roofline_takes_what_takes_longer),
        cmocka_unit_test(a_roofline_of_pe_math_is_cut_over_its_pes),
        cmocka_unit_test(a_large_product_takes_about_its_estimate),
        cmocka_unit_test(a_product_s_bound_is_that_of_the_best_blocks),
        cmocka_unit_test(products_have_the_specified_bits),
        cmocka_unit_test(sums_are_rounded_once),
        cmocka_unit_test(blocks_make_up_the_product),
        cmocka_unit_test(what_cannot_be_computed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
