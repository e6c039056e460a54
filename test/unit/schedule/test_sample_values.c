/*
 * test_sample_values.c: elements that a sample computes by a schedule's steps (sample.h) have the
 * bits that a machine leaves in the tensors of the same call, whichever way the steps are followed;
 * the bits of an algorithm that adds in another order are others; and values that are wrong are
 * counted.
 */
#include "test/support/test_dist_support.h"

#include <stdio.h>
#include <string.h>

#include "collectives/schedule/schedule.h"
#include "collectives/verify/expect_any.h"
#include "collectives/verify/sample_values.h"

enum { SEED = 7, N_ELEM = 24 * 40 };

struct run {
    const char *algorithm, *sips, *topology;
    const char *set; /* a setting more; NULL: none */
    bool in_f32;     /* defaults.accumulate */
    enum dtype dtype;
    enum redop op;
    const char *sampled; /* the algorithm whose steps are followed; NULL: that which runs */
    struct config *config;
    struct dist *dist;
    uint64_t seen, differ;
    const struct dist_completion *completion;
};

static enum ccl_collective collective_of(const struct run *run)
{
    return ccl_algorithm_find(run->algorithm)->collective;
}

static void worker(int rank, void *arg)
{
    const struct run *const run = arg;
    const struct dp_policy policy = dist_facts(run->dist)->policy;
    const enum ccl_collective collective = collective_of(run);
    join_group(rank);
    const uint64_t ranks = (uint64_t)dist_get_world_size();
    struct tensor *const input = dist_tensor_zeros(N_ELEM, run->dtype, &policy);
    dist_fill_input(input, SEED);
    if (collective == CCL_ALL_REDUCE)
        dist_all_reduce(input, run->op);
    else if (collective == CCL_REDUCE_SCATTER)
        dist_reduce_scatter(dist_tensor_zeros(N_ELEM / ranks, run->dtype, &policy), input, run->op);
    else if (collective == CCL_ALL_GATHER)
        dist_all_gather(dist_tensor_zeros(N_ELEM * ranks, run->dtype, &policy), input);
    else
        dist_all_to_all(dist_tensor_zeros(N_ELEM, run->dtype, &policy), input);
}

static void see(void *arg, const struct sample_value *value)
{
    struct run *const run = arg;
    uint8_t bits[DTYPE_BYTES_MAX];
    struct cw_error error;
    assert_int_equal(dist_read(run->dist, run->completion->tensors[value->rank], value->shard,
                               value->at, 1, bits, &error),
                     CW_OK);
    run->seen++;
    run->differ += memcmp(bits, value->bits, dtype_bytes(run->dtype)) != 0;
}

/* Samples all ranks: all steps at once, or chunk by chunk. */
static void sample(struct run *run, bool whole)
{
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_find(run->sampled != NULL ? run->sampled : run->algorithm);
    const struct dist_facts *const facts = dist_facts(run->dist);
    const bool reduces =
        algorithm->collective == CCL_ALL_REDUCE || algorithm->collective == CCL_REDUCE_SCATTER;
    struct cw_error error = {.exit_code = CW_OK};
    struct sample_found found;
    const struct sample_request request = {
        .algorithm = algorithm,
        .call = {.hw = &run->config->hw,
                 .ccl = &run->config->ccl,
                 .collective = algorithm->collective,
                 .world_size = facts->world_size,
                 .n_elem = run->config->ccl.n_elem,
                 .dtype = LP_F16},
        .schedule = run->sampled == NULL ? facts->schedule : NULL,
        .steps = whole ? 1 : SAMPLE_STEPS_WHOLE + 1,
        .members = facts->schedule->members,
        .n_elem = N_ELEM,
        .shards = run->completion->tensors[0]->shard_count,
        .ranks = facts->world_size,
        .expect = {.ccl = &run->config->ccl,
                   .dtype = run->dtype,
                   .op = run->op,
                   .n_elem = N_ELEM,
                   .seed = SEED},
        .proof = reduces ? proof_without_order(run->dtype, run->op, false) : PROOF_MOVED,
        .see = see,
        .arg = run};
    run->seen = run->differ = 0;
    if (sample_verify(&request, &found, &error) != CW_OK)
        fail_msg("%s: %s", algorithm->name, error.text);
    if (found.wrong > 0)
        fail_msg("%s: %s", algorithm->name, found.fault);
    assert_int_equal(found.elements, run->seen);
    assert_true(run->seen >= 2 * facts->world_size);
    if (run->differ > 0 && run->sampled == NULL)
        fail_msg("%s on %s SIPs (%s), %s, %s: %u of %u elements differ", algorithm->name, run->sips,
                 run->topology, dtype_name(run->dtype), whole ? "all steps" : "chunk by chunk",
                 (unsigned)run->differ, (unsigned)run->seen);
}

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct run *const run = arg;
    (void)error;
    run->completion = completion;
    sample(run, true);
    if (run->sampled == NULL && ccl_algorithm_find(run->algorithm)->folds)
        sample(run, false);
    return CW_OK;
}

static void carry_out(struct run *run)
{
    char sips[60], topology[60];
    snprintf(sips, sizeof sips, "system.sips.count=%s", run->sips);
    snprintf(topology, sizeof topology, "system.sips.topology=%s", run->topology);
    const char *const sets[] = {sips, topology,
                                run->in_f32 ? "defaults.accumulate=f32" : "defaults.accumulate=own",
                                run->set};
    const struct config_request request = {.preset = "tiny",
                                           .algorithm = run->algorithm,
                                           .sets = sets,
                                           .set_count = run->set != NULL ? 4 : 3};
    run->config = must_load(&request);
    const struct dist_options options = {
        .config = run->config,
        .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
        .completed = completed,
        .arg = run};
    run->dist = must_create(&options);
    struct cw_error error = {.exit_code = CW_OK};
    if (dist_spawn(run->dist, worker, run, &error) != CW_OK)
        fail_msg("%s: %s", run->algorithm, error.text);
    assert_non_null(run->completion);
    dist_free(run->dist);
    config_free(run->config);
}

static void elements_have_the_machines_bits(void **state)
{
    static const struct {
        const char *algorithm, *sips, *topology, *set;
    } machines[] = {
        {"torus_rs_ag", "12", "torus_2d", NULL},
        {"ring_rs_ag", "5", "ring_1d", NULL},
        {"direct_rs_ag", "5", "fully_connected", NULL},
        {"halving_doubling", "8", "switch", NULL},
        {"recursive_doubling", "6", "switch", NULL},
        {"double_binary_tree", "6", "switch", NULL},
        {"hierarchical", "4", "ring_1d", NULL},
        {"torus_reduce_scatter", "12", "torus_2d", NULL},
        {"rings_reduce_scatter", "6", "ring_1d", NULL},
        {"halving_reduce_scatter", "8", "switch", NULL},
        {"torus_all_gather", "12", "torus_2d", NULL},
        {"doubling_all_gather", "8", "switch", NULL},
        {"pairwise_all_to_all", "6", "ring_1d", NULL},
        {"torus_rs_ag", "12", "torus_2d", "algorithms.torus_rs_ag.mapper=all_pes"},
        {"torus_reduce_scatter", "12", "torus_2d",
         "algorithms.torus_reduce_scatter.mapper=all_pes"},
        {"torus_all_gather", "12", "torus_2d", "algorithms.torus_all_gather.mapper=all_pes"},
        {"hierarchical", "4", "ring_1d", "algorithms.hierarchical.mapper=all_pes"}};
    static const enum dtype dtypes[] = {DTYPE_F16, DTYPE_BF16, DTYPE_INT32};
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            struct run run = {.algorithm = machines[i].algorithm,
                              .sips = machines[i].sips,
                              .topology = machines[i].topology,
                              .set = machines[i].set,
                              .dtype = dtypes[k],
                              .op = k == 1 ? REDOP_PROD : REDOP_SUM};
            carry_out(&run);
        }
}

/* PEs of `hierarchical` add up the values of their lines, and send on a sum that stays in f32 until
 * then; a torus sends each sum. */
static void sums_that_stay_in_f32_have_them_too(void **state)
{
    static const char *const algorithms[][2] = {
        {"hierarchical", "algorithms.hierarchical.mapper=all_pes"}, {"torus_rs_ag", NULL}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct run run = {.algorithm = algorithms[i][0],
                          .sips = "5",
                          .topology = "ring_1d",
                          .set = algorithms[i][1],
                          .in_f32 = true,
                          .dtype = DTYPE_F16,
                          .op = REDOP_SUM};
        carry_out(&run);
    }
}

static void another_order_has_other_bits(void **state)
{
    struct run run = {.algorithm = "direct_rs_ag",
                      .sips = "8",
                      .topology = "switch",
                      .dtype = DTYPE_BF16,
                      .op = REDOP_SUM,
                      .sampled = "halving_doubling"};
    (void)state;
    carry_out(&run);
    assert_true(run.differ > run.seen / 10);
}

/* Rank 0's input twice instead of the sum of two ranks': both elements of the one chunk. */
static void wrong_values_are_counted(void **state)
{
    static const enum dtype dtypes[] = {DTYPE_F16, DTYPE_INT32};
    struct value_node node[3] = {[2] = {0, 1}};
    uint32_t output[2] = {2, 2};
    const uint32_t rank[2] = {0, 1};
    const bool is_wrong[2] = {false};
    const struct schedule_values values = {.ranks = 2,
                                           .inputs = 1,
                                           .outputs = 1,
                                           .nodes = 3,
                                           .leaves = 2,
                                           .node = node,
                                           .output = output};
    const struct sample_layout layout = {
        .chunks = 1, .blocks = 1, .parts = 1, .shards = 1, .block_elems = N_ELEM};
    const struct sample_formulas formulas = {.values = &values, .input = layout, .output = layout};
    const struct ccl_config ccl = {.parameter = {0}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct sample_request request = {
            .algorithm = ccl_algorithm_find("ring_rs_ag"),
            .call = {.world_size = 2},
            .members = 1,
            .n_elem = N_ELEM,
            .shards = 1,
            .expect = {.ccl = &ccl, .dtype = dtypes[i], .op = REDOP_SUM, .seed = SEED},
            .proof = proof_without_order(dtypes[i], REDOP_SUM, false)};
        for (uint32_t twice = 0; twice < 2; twice++) {
            struct sample_found found = {.of = 2};
            struct cw_error error;
            node[2].b = twice > 0 ? 0 : 1;
            assert_int_equal(sample_values(&request, &formulas, rank, 2, is_wrong, &found, &error),
                             CW_OK);
            assert_int_equal(found.elements, 4);
            assert_int_equal(found.wrong, twice > 0 ? 4 : 0);
            assert_int_equal(strncmp(found.fault, "rank 0: element 0 of shard 0 is ", 32) == 0,
                             twice > 0);
        }
    }
}

/* ---- an algorithm that knows nothing of single chunks ---------------------------------------- */

enum { RING = 12 };

static bool folds(const struct ccl_call *call, const struct hw_fold *fold,
                  char why[CCL_FOLD_WHY_BYTES])
{
    (void)call;
    (void)fold;
    (void)why;
    return false;
}

static struct schedule *whole_ring(const struct ccl_call *call, struct cw_error *error)
{
    struct ccl_call own = *call;
    own.walk = NULL;
    return ccl_algorithm_find("ring_rs_ag")->schedule(&own, error);
}

/* Of the last chunk of each rank, the sum that becomes the result is not added. */
static struct schedule *ring_that_forgets(const struct ccl_call *call, struct cw_error *error)
{
    struct schedule *const made = whole_ring(call, error);
    for (uint32_t r = 0; r < made->rank_count; r++)
        for (uint32_t i = 0; i < made->rank[r].step_count; i++) {
            struct schedule_step *const step = &made->rank[r].step[i];
            if (step->dst.at + step->count != made->loop_chunks)
                continue;
            if (step->op == SCHEDULE_RECV_REDUCE_COPY)
                step->op = SCHEDULE_RECV;
            else if (step->op == SCHEDULE_RECV_REDUCE_COPY_SEND)
                step->op = SCHEDULE_RECV_COPY_SEND;
        }
    return made;
}

/* Samples all ranks of a ring's all-reduce of few elements. */
static struct sample_found sample_ring(struct schedule *(*schedule)(const struct ccl_call *call,
                                                                    struct cw_error *error),
                                       uint64_t n_elem)
{
    const char *const sets[] = {"system.sips.count=12", "system.sips.topology=ring_1d"};
    const struct config_request load = {
        .preset = "tiny", .algorithm = "ring_rs_ag", .sets = sets, .set_count = 2};
    struct config *const config = must_load(&load);
    struct ccl_algorithm algorithm = *ccl_algorithm_find("ring_rs_ag");
    algorithm.schedule = schedule;
    algorithm.folds = folds;
    const struct sample_request request = {.algorithm = &algorithm,
                                           .call = {.hw = &config->hw,
                                                    .ccl = &config->ccl,
                                                    .collective = CCL_ALL_REDUCE,
                                                    .world_size = RING,
                                                    .n_elem = n_elem,
                                                    .dtype = LP_F16},
                                           .steps = SAMPLE_STEPS_WHOLE + 1,
                                           .members = 1,
                                           .n_elem = n_elem,
                                           .shards = 1,
                                           .ranks = RING,
                                           .expect = {.ccl = &config->ccl,
                                                      .dtype = DTYPE_F16,
                                                      .op = REDOP_SUM,
                                                      .n_elem = n_elem,
                                                      .seed = SEED},
                                           .proof =
                                               proof_without_order(DTYPE_F16, REDOP_SUM, false)};
    struct cw_error error = {.exit_code = CW_OK};
    struct sample_found found;
    if (sample_verify(&request, &found, &error) != CW_OK)
        fail_msg("%s", error.text);
    config_free(config);
    return found;
}

static void steps_that_come_all_at_once_are_judged(void **state)
{
    (void)state;
    const struct sample_found right = sample_ring(whole_ring, N_ELEM);
    assert_int_equal(right.wrong, 0);
    assert_true(right.of_chunks >= RING);
    assert_int_equal(right.chunks, right.of_chunks);
    assert_int_equal(right.elements, 2 * RING * right.chunks);
    /* The last chunk of one that has fewer elements than chunks is empty. */
    const struct sample_found empty = sample_ring(ring_that_forgets, RING - 1);
    assert_true(empty.wrong >= RING);
    assert_true(empty.fault[0] != '\0');
}

/* A product of this many operands is 0 in any type, and the bound of its error is infinite. */
static void products_that_vanish_are_right(void **state)
{
    const struct expect_any any = {.ranks = 200000,
                                   .parts = 1,
                                   .dtype = DTYPE_BF16,
                                   .op = REDOP_PROD,
                                   .n_elem = 1,
                                   .seed = SEED};
    const uint16_t nothing = 0, one = 0x3f80;
    (void)state;
    assert_true(expect_any_holds(&any, 0, &nothing));
    assert_false(expect_any_holds(&any, 0, &one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_have_the_machines_bits),
                                       cmocka_unit_test(sums_that_stay_in_f32_have_them_too),
                                       cmocka_unit_test(another_order_has_other_bits),
                                       cmocka_unit_test(wrong_values_are_counted),
                                       cmocka_unit_test(steps_that_come_all_at_once_are_judged),
                                       cmocka_unit_test(products_that_vanish_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
