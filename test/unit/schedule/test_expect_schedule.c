/*
 * test_expect_schedule.c: the bits of reductions by a schedule's formulas. The results that they
 * are compared with are computed here by carrying out the schedule's steps on arrays, element by
 * element, in another order than the interpreter's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/data/input.h"
#include "collectives/msccl/msccl_write.h"
#include "collectives/msccl/msccl_file.h"
#include "collectives/schedule/schedule_builder.h"
#include "collectives/schedule/schedule_check.h"
#include "collectives/schedule/schedule_values.h"
#include "collectives/verify/sums.h"
#include "test/support/idle_engine.h"

enum { RANKS = 4, SEED = 7 };

/* A ring for each part: reduces each chunk on its way round; of an all-reduce, sends it round
 * again. Of `parts` parts, each a thread. */
static struct schedule *ring(enum ccl_collective collective, uint32_t parts, bool in_place)
{
    struct cw_error error;
    const bool all = collective == CCL_ALL_REDUCE;
    struct schedule_builder *const b = schedule_builder_create("ring", collective, RANKS, parts);
    schedule_builder_head(b)->in_place = in_place;
    for (uint32_t r = 0; r < RANKS; r++) {
        schedule_chunks_of(b, r, RANKS * parts, all ? RANKS * parts : parts, 0);
        for (uint32_t part = 0; part < parts; part++) {
            const uint32_t thread = schedule_thread(b, r, part);
            for (uint32_t k = 0; k < (all ? 2 * RANKS - 1 : RANKS); k++) {
                /* The chunk ends whole at the rank of its number. */
                const uint32_t block = (r + 2 * RANKS - 1 - k) % RANKS;
                const uint32_t chunk = all ? part * RANKS + block : block * parts + part;
                const bool last = k + 1 == (all ? 2 * RANKS - 1 : RANKS);
                const enum schedule_op op = k == 0           ? SCHEDULE_SEND
                                            : k < RANKS - 1  ? SCHEDULE_RECV_REDUCE_SEND
                                            : k == RANKS - 1 ? (all ? SCHEDULE_RECV_REDUCE_COPY_SEND
                                                                    : SCHEDULE_RECV_REDUCE_COPY)
                                            : last           ? SCHEDULE_RECV
                                                             : SCHEDULE_RECV_COPY_SEND;
                (void)schedule_add(
                    b, r, thread,
                    (struct schedule_step){.op = (uint8_t)op,
                                           .channel = (uint8_t)part,
                                           .count = 1,
                                           .src = {chunk, SCHEDULE_INPUT, false, {0}},
                                           .dst = {all ? chunk : part, SCHEDULE_OUTPUT, false, {0}},
                                           .send_to = (r + 1) % RANKS,
                                           .recv_from = (r + RANKS - 1) % RANKS});
            }
        }
    }
    struct schedule *const s = schedule_build(b, &error);
    assert_non_null(s);
    return s;
}

/* The results, as they are read. */
struct results {
    uint8_t *bits; /* [rank][shard][elements] */
    uint32_t shards;
    uint64_t elems;
    size_t itemsize;
};

static int read_result(void *arg, uint32_t rank, uint32_t shard, uint64_t first, uint64_t count,
                       void *dst, struct cw_error *error)
{
    const struct results *const r = arg;
    (void)error;
    assert_true(first + count <= r->elems);
    memcpy(dst, r->bits + ((rank * r->shards + shard) * r->elems + first) * r->itemsize,
           count * r->itemsize);
    return CW_OK;
}

/* Element e of a shard of a ring: chunk's own order of additions, from the rank behind its owner
 * round to the owner. */
static void add_ring(const struct sums *e, uint32_t shard, uint32_t chunk, uint64_t at,
                     uint8_t *out)
{
    uint8_t sum[4], value[4];
    for (uint32_t k = 0; k < RANKS; k++) {
        const uint32_t rank = (chunk + 1 + k) % RANKS;
        input_fill(e->dtype, e->seed, input_first(rank, e->shards, shard, e->n_elem) + at,
                   k == 0 ? sum : value, 1);
        if (k > 0)
            dtype_reduce(e->dtype, e->op, sum, value, sum, 1);
    }
    memcpy(out, sum, dtype_bytes(e->dtype));
}

static struct results ring_results(const struct sums *e)
{
    const bool scatters = e->scatters;
    struct results r = {.shards = e->shards,
                        .elems = scatters ? e->n_elem / RANKS : e->n_elem,
                        .itemsize = dtype_bytes(e->dtype)};
    /* Chunks that a shard goes by: of the whole block, or of its part of it. */
    const uint32_t parts = e->shards > 1 ? 1 : e->parts;
    const uint64_t each = (r.elems + RANKS * parts - 1) / (RANKS * parts);
    r.bits = malloc(RANKS * e->shards * r.elems * r.itemsize);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (uint32_t shard = 0; shard < e->shards; shard++)
            for (uint64_t i = 0; i < r.elems; i++)
                add_ring(e, shard, scatters ? rank : (uint32_t)(i / each) % RANKS,
                         (scatters ? rank * r.elems : 0) + i,
                         r.bits + ((rank * e->shards + shard) * r.elems + i) * r.itemsize);
    return r;
}

/* Right results are right; one that is wrong in one bit is found, wherever it is. */
static void check_ring(enum ccl_collective collective, uint32_t parts, uint32_t shards,
                       enum dtype dtype, uint64_t n_elem, struct cw_sim *sim)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct schedule *const s = ring(collective, parts, false);
    struct schedule_values *const values = schedule_formulas(s, &error);
    if (values == NULL)
        fail_msg("%s", cw_error_text(&error));
    const struct sums e = {.values = values,
                           .members = 1,
                           .parts = s->parts,
                           .scatters = s->collective == CCL_REDUCE_SCATTER,
                           .shards = shards,
                           .dtype = dtype,
                           .op = REDOP_SUM,
                           .n_elem = n_elem,
                           .seed = SEED,
                           .sim = sim};
    struct results r = ring_results(&e);
    uint64_t wrong = 99;
    assert_int_equal(sums_compare(&e, read_result, &r, &wrong, &error), CW_OK);
    assert_int_equal(wrong, 0);
    const uint64_t all = RANKS * shards * r.elems;
    for (uint64_t at = 0; at < all; at += 1 + all / 13) {
        r.bits[at * r.itemsize] ^= 1;
        assert_int_equal(sums_compare(&e, read_result, &r, &wrong, &error), CW_OK);
        assert_int_equal(wrong, 1);
        r.bits[at * r.itemsize] ^= 1;
    }
    free(r.bits);
    schedule_values_free(values);
    schedule_free(s);
}

static void test_all_reduce(void **state)
{
    (void)state;
    check_ring(CCL_ALL_REDUCE, 1, 1, DTYPE_F16, 1000, NULL);
    check_ring(CCL_ALL_REDUCE, 1, 1, DTYPE_F32, 3, NULL); /* empty chunks */
    check_ring(CCL_ALL_REDUCE, 1, 1, DTYPE_BF16, 40001, NULL);
}

static void test_shards(void **state)
{
    (void)state;
    check_ring(CCL_ALL_REDUCE, 2, 5, DTYPE_F16, 333, NULL);
    check_ring(CCL_REDUCE_SCATTER, 2, 2, DTYPE_F16, 4 * 77, NULL);
}

static void test_reduce_scatter(void **state)
{
    (void)state;
    check_ring(CCL_REDUCE_SCATTER, 1, 1, DTYPE_F32, 4 * 501, NULL);
}

static void test_workers(void **state)
{
    (void)state;
    struct cw_sim *const sim = idle_engine(3);
    check_ring(CCL_ALL_REDUCE, 2, 3, DTYPE_F32, 5003, sim);
    check_ring(CCL_REDUCE_SCATTER, 1, 1, DTYPE_F16, 4 * 1001, sim);
    cw_sim_free(sim);
}

/* A schedule of several parts shares a tensor that has one shard. */
static void test_parts_share(void **state)
{
    (void)state;
    struct cw_error error = {.exit_code = CW_OK};
    struct schedule *const s = ring(CCL_ALL_REDUCE, 2, true);
    struct schedule_values *const values = schedule_formulas(s, &error);
    assert_non_null(values);
    const struct sums e = {.values = values,
                           .members = 1,
                           .parts = s->parts,
                           .scatters = s->collective == CCL_REDUCE_SCATTER,
                           .shards = 1,
                           .dtype = DTYPE_F32,
                           .n_elem = 1001,
                           .op = REDOP_SUM,
                           .seed = SEED};
    struct results r = ring_results(&e);
    uint64_t wrong = 99;
    assert_int_equal(sums_compare(&e, read_result, &r, &wrong, &error), CW_OK);
    assert_int_equal(wrong, 0);
    free(r.bits);
    schedule_values_free(values);
    schedule_free(s);
}

/* ---- parts of the input ---------------------------------------------------------------------- */

static int keep_result(void *arg, const struct sums_result *result, struct cw_error *error)
{
    float *const all = arg;
    (void)error;
    memcpy(all + result->rank * 6 + result->first, result->bits, result->count * sizeof *all);
    return CW_OK;
}

/* Two ranks scatter 12 elements in three parts of four: the second rank's result, elements 6 to 11,
 * begins in the middle of part 1. Part p is the input of rank p mod 2 here, so that parts differ.
 */
static void test_parts_of_the_input(void **state)
{
    (void)state;
    uint32_t output[2 * 3] = {0, 1, 0, 0, 1, 0};
    const struct schedule_values values = {
        .ranks = 2, .inputs = 1, .outputs = 3, .nodes = 2, .leaves = 2, .output = output};
    const struct sums sums = {.values = &values,
                              .members = 1,
                              .shards = 1,
                              .parts = 1,
                              .scatters = true,
                              .of_input = true,
                              .dtype = DTYPE_F32,
                              .op = REDOP_SUM,
                              .n_elem = 12,
                              .seed = SEED};
    float input[2][12], found[12];
    struct cw_error error;
    for (uint32_t rank = 0; rank < 2; rank++)
        input_fill(DTYPE_F32, SEED, rank * 12, input[rank], 12);
    assert_int_equal(sums_each(&sums, keep_result, found, &error), CW_OK);
    for (uint32_t e = 0; e < 12; e++)
        assert_memory_equal(&found[e], &input[e / 4 % 2][e], sizeof found[e]);
}

static int keep_whole_result(void *arg, const struct sums_result *result, struct cw_error *error)
{
    float *const all = arg;
    (void)error;
    memcpy(all + result->rank * 12 + result->first, result->bits, result->count * sizeof *all);
    return CW_OK;
}

/* Three chunks of four elements of each of two ranks, by a custom file: rank 0's become rank 1's
 * chunk 2, its own chunk 0, and rank 1's chunk 0 + its own chunk 2; rank 1's stay. */
static void test_chunks_that_move(void **state)
{
    (void)state;
    struct value_node node[7] = {[6] = {2, 3}};
    uint32_t output[2 * 3] = {5, 0, 6, 3, 4, 5};
    const struct schedule_values values = {.ranks = 2,
                                           .inputs = 3,
                                           .outputs = 3,
                                           .nodes = 7,
                                           .leaves = 6,
                                           .node = node,
                                           .output = output};
    const struct sums sums = {.values = &values,
                              .members = 1,
                              .shards = 1,
                              .parts = 1,
                              .moves = true,
                              .dtype = DTYPE_F32,
                              .op = REDOP_SUM,
                              .n_elem = 12,
                              .seed = SEED};
    float input[2][12], found[24];
    struct cw_error error;
    for (uint32_t rank = 0; rank < 2; rank++)
        input_fill(DTYPE_F32, SEED, rank * 12, input[rank], 12);
    assert_int_equal(sums_each(&sums, keep_whole_result, found, &error), CW_OK);
    for (uint32_t e = 0; e < 4; e++) {
        const float sum = input[0][8 + e] + input[1][e];
        assert_memory_equal(&found[e], &input[1][8 + e], sizeof sum);
        assert_memory_equal(&found[4 + e], &input[0][e], sizeof sum);
        assert_memory_equal(&found[8 + e], &sum, sizeof sum);
    }
    assert_memory_equal(&found[12], input[1], sizeof input[1]);
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct schedule *written_and_read(const struct schedule *s, char **text)
{
    struct msccl_file file;
    struct cw_error error = {.exit_code = CW_OK};
    size_t bytes = 0;
    FILE *const stream = open_memstream(text, &bytes);
    assert_int_equal(msccl_write(stream, s, NULL, &error), CW_OK);
    assert_int_equal(fclose(stream), 0);
    if (msccl_read_text("w.xml", *text, bytes, &file, &error) != CW_OK ||
        schedule_check(file.schedule, 8, NULL, NULL, &error) != CW_OK)
        fail_msg("%s\n%s", cw_error_text(&error), *text);
    return file.schedule;
}

static void test_written_ring(void **state)
{
    (void)state;
    struct schedule *const s = ring(CCL_ALL_REDUCE, 1, true);
    char *text = NULL;
    struct schedule *const again = written_and_read(s, &text);
    assert_int_equal(again->rank[0].thread_count, 1);
    for (uint32_t i = 0; i < s->rank[0].step_count; i++) {
        const struct schedule_step *const a = &s->rank[2].step[i], *const b =
                                                                       &again->rank[2].step[i];
        assert_int_equal(a->op, b->op);
        assert_int_equal(a->send_to, b->send_to);
        assert_int_equal(a->recv_from, b->recv_from);
        assert_int_equal(a->src.at,
                         schedule_op_reads((enum schedule_op)b->op) ? b->src.at : a->src.at);
    }
    free(text);
    schedule_free(again);
    schedule_free(s);
}

/* A thread with several peers, of which one step joins two that others have joined otherwise. */
static void test_written_crossing(void **state)
{
    (void)state;
    struct cw_error error = {.exit_code = CW_OK};
    struct schedule_builder *const b = schedule_builder_create("a<b", CCL_ALL_REDUCE, 3, 1);
    static const struct {
        uint8_t rank, op, send_to, recv_from;
    } steps[] = {{1, SCHEDULE_SEND, 0, 0},
                 {2, SCHEDULE_SEND, 0, 0},
                 {0, SCHEDULE_RECV_REDUCE_COPY, 0, 1},
                 /* x(0) + x(1) + x(2) to 1 and to 2. */
                 {0, SCHEDULE_RECV_REDUCE_COPY_SEND, 1, 2},
                 {0, SCHEDULE_SEND, 2, 0},
                 /* Round once more through scratch: 1 to 0 to 2, joined otherwise. */
                 {1, SCHEDULE_RECV, 0, 0},
                 {2, SCHEDULE_RECV, 0, 0},
                 {1, SCHEDULE_SEND, 0, 0},
                 {0, SCHEDULE_RECV_COPY_SEND, 2, 1},
                 {2, SCHEDULE_RECV, 0, 0},
                 {1, SCHEDULE_SEND, 0, 0},
                 {0, SCHEDULE_RECV_REDUCE_SEND, 2, 1},
                 {2, SCHEDULE_RECV, 0, 0}};
    for (uint32_t r = 0; r < 3; r++) {
        schedule_chunks_of(b, r, 1, 1, 1);
        (void)schedule_thread(b, r, 0);
    }
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const bool last = i >= 9 || i == 8; /* through scratch */
        (void)schedule_add(b, steps[i].rank, 0,
                           (struct schedule_step){
                               .op = steps[i].op,
                               .count = 1,
                               .src = {0, i <= 2 ? SCHEDULE_INPUT : SCHEDULE_OUTPUT, false, {0}},
                               .dst = {0, last ? SCHEDULE_SCRATCH : SCHEDULE_OUTPUT, false, {0}},
                               .send_to = steps[i].send_to,
                               .recv_from = steps[i].recv_from});
    }
    struct schedule *const s = schedule_build(b, &error);
    if (schedule_check(s, 8, NULL, NULL, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    char *text = NULL;
    struct schedule *const again = written_and_read(s, &text);
    assert_non_null(strstr(text, "name=\"a_b\""));
    assert_true(again->rank[0].thread_count > 1);
    assert_int_equal(again->rank[0].chunks[SCHEDULE_SCRATCH], 2); /* one for chunks not kept */
    free(text);
    schedule_free(again);
    schedule_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_reduce),       cmocka_unit_test(test_shards),
        cmocka_unit_test(test_reduce_scatter),   cmocka_unit_test(test_workers),
        cmocka_unit_test(test_parts_share),      cmocka_unit_test(test_parts_of_the_input),
        cmocka_unit_test(test_chunks_that_move), cmocka_unit_test(test_written_ring),
        cmocka_unit_test(test_written_crossing)};
    return cmocka_run_group_tests_name("expect_schedule", tests, NULL, NULL);
}
