/*
 * test_expect_workers.c: expectations that several workers evaluate and compare: the bits, the
 * number of wrong elements and the failures are those of one thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/verify/expect.h"
#include "collectives/verify/expect_moves.h"
#include "collectives/data/input.h"
#include "hw/topology/topology.h"
#include "test/support/expect_results.h"
#include "test/support/idle_engine.h"

/* ---- reductions ------------------------------------------------------------------------------ */

struct setup {
    const char *module;
    const struct hw_topology_ops *topology;
    uint32_t w, h; /* SIPs */
    bool rank_invariant, one_cube;
    enum dtype dtype;
    uint64_t n_elem;
};

static const struct setup setups[] = {
    {"lrab_hierarchical_allreduce", &hw_torus_2d, 2, 2, false, false, DTYPE_F16, 8192},
    {"lrab_hierarchical_allreduce", &hw_torus_2d, 3, 2, false, false, DTYPE_F32, 401},
    {"lrab_hierarchical_allreduce", &hw_mesh_2d_no_wrap, 2, 3, false, false, DTYPE_BF16, 1000},
    {"lrab_hierarchical_allreduce", &hw_ring_1d, 5, 1, false, false, DTYPE_F16, 20001},
    {"lrab_hierarchical_allreduce", &hw_ring_1d, 5, 1, true, false, DTYPE_F16, 700},
    {"pe_hierarchical_allreduce", &hw_torus_2d, 2, 2, false, false, DTYPE_F16, 70},
    {"tree_allreduce", &hw_ring_1d, 7, 1, false, true, DTYPE_F16, 10000},
    {"ring_allreduce", &hw_ring_1d, 3, 1, false, true, DTYPE_F32, 40000},
    {"birs", &hw_pair_switch, 8, 1, false, true, DTYPE_BF16, 40000},
    {"rhd", &hw_pair_switch, 4, 1, false, true, DTYPE_F16, 33000},
    {"birs_allreduce", &hw_pair_switch, 4, 1, false, true, DTYPE_F16, 9000},
};

struct machine {
    struct hw_config hw;
    struct ccl_config ccl;
    struct expect_request request;
};

static void machine_of(const struct setup *setup, struct cw_sim *sim, struct machine *m)
{
    memset(m, 0, sizeof *m);
    m->hw.sip_count = setup->w * setup->h;
    m->hw.sip_topology = setup->topology;
    m->hw.sip_w = setup->w;
    m->hw.sip_h = setup->h;
    m->hw.cube_w = m->hw.cube_h = setup->one_cube ? 1 : 4;
    m->hw.pe_per_corner = 2;
    m->hw.corner_count = 4;
    for (unsigned i = 0; i < HW_CORNERS; i++)
        m->hw.corner[i] = (enum hw_corner)i;
    m->ccl.root = CCL_ROOT_CENTER;
    m->ccl.rank_invariant = setup->rank_invariant;
    m->request = (struct expect_request){.hw = &m->hw,
                                         .ccl = &m->ccl,
                                         .module = setup->module,
                                         .dtype = setup->dtype,
                                         .op = REDOP_SUM,
                                         .n_elem = setup->n_elem,
                                         .seed = 3,
                                         .sim = sim};
}

static struct expect *expect_of(const struct machine *m)
{
    struct cw_error error = {0};
    struct expect *const expect = expect_create(&m->request, &error);
    if (expect == NULL)
        fail_msg("%s: %s", m->request.module, error.text);
    return expect;
}

static void any_number_of_workers_gives_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++) {
        uint8_t *one = NULL;
        for (uint32_t workers = 0; workers <= 8; workers++) {
            struct cw_sim *const sim = idle_engine(workers);
            struct machine m;
            size_t bytes;
            machine_of(&setups[i], sim, &m);
            struct expect *const expect = expect_of(&m);
            for (int again = 0; again < 2; again++) {
                uint8_t *const all = expect_all_results(expect, setups[i].dtype, &bytes);
                if (one == NULL)
                    one = all;
                else if (memcmp(one, all, bytes) != 0)
                    fail_msg("%s: %u workers", setups[i].module, workers);
                if (one != all)
                    free(all);
            }
            expect_free(expect);
            cw_sim_free(sim);
        }
        free(one);
    }
}

/* Results with errors in known places. Several workers read them at the same time. */
struct results {
    const uint8_t *all;
    uint64_t elems; /* of a rank */
    size_t itemsize;
    uint32_t shards, wrong_every;  /* of (rank, shard, element), counted as one; 0: none */
    uint32_t fails_from, fails_to; /* ranks that cannot be read */
};

static int read_result(void *arg, uint32_t rank, uint32_t shard, uint64_t first, uint64_t count,
                       void *dst, struct cw_error *error)
{
    const struct results *const r = arg;
    if (rank >= r->fails_from && rank < r->fails_to)
        return cw_error_set(error, CW_BUG, "rank %u", rank);
    memcpy(dst, r->all + (rank * r->elems + first) * r->itemsize, count * r->itemsize);
    const uint64_t start = (rank * r->shards + shard) * r->elems;
    for (uint64_t e = first; e < first + count && r->wrong_every > 0; e++)
        if ((start + e) % r->wrong_every == 0)
            ((uint8_t *)dst)[(e - first) * r->itemsize] ^= 1;
    return CW_OK;
}

static void the_workers_count_the_wrong_elements_of_all_shards(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++)
        for (uint32_t workers = 0; workers <= 8; workers += 2) {
            struct cw_sim *const sim = idle_engine(workers);
            struct machine m;
            struct cw_error error = {0};
            size_t bytes;
            machine_of(&setups[i], sim, &m);
            struct expect *const expect = expect_of(&m);
            struct results r = {.elems = expect_result_elems(expect),
                                .itemsize = dtype_bytes(setups[i].dtype),
                                .shards = expect_shards(expect)};
            uint8_t *const all = expect_all_results(expect, setups[i].dtype, &bytes);
            r.all = all;
            uint64_t wrong = 99;
            assert_int_equal(
                expect_verify(expect, expect_shards(expect), read_result, &r, &wrong, &error),
                CW_OK);
            assert_int_equal(wrong, 0);
            r.wrong_every = 97;
            const uint64_t elems = expect_ranks(expect) * r.shards * r.elems;
            assert_int_equal(
                expect_verify(expect, expect_shards(expect), read_result, &r, &wrong, &error),
                CW_OK);
            assert_int_equal(wrong, (elems + 96) / 97);
            r.fails_from = 1, r.fails_to = UINT32_MAX;
            assert_int_equal(
                expect_verify(expect, expect_shards(expect), read_result, &r, &wrong, &error),
                CW_BUG);
            assert_string_equal(error.text, "rank 1");
            r.fails_to = 0;
            assert_int_equal(
                expect_verify(expect, expect_shards(expect), read_result, &r, &wrong, &error),
                CW_OK);
            assert_int_equal(wrong, (elems + 96) / 97);
            free(all);
            expect_free(expect);
            cw_sim_free(sim);
        }
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* The results of moves, from the inputs; with errors as above. */
struct moved {
    struct expect_moves moves;
    uint32_t wrong_every, fails_from;
};

static int read_moved(void *arg, uint32_t rank, uint32_t shard, uint64_t first, uint64_t count,
                      void *dst, struct cw_error *error)
{
    const struct moved *const moved = arg;
    const struct expect_moves *const moves = &moved->moves;
    const size_t itemsize = dtype_bytes(moves->dtype);
    const bool gathers = moves->collective == CCL_ALL_GATHER;
    if (rank >= moved->fails_from)
        return cw_error_set(error, CW_BUG, "rank %u", rank);
    const uint64_t from = gathers ? first / moves->n_elem : moves->root;
    input_fill(moves->dtype, moves->seed,
               input_first(from, moves->shards, shard, moves->n_elem) + first % moves->n_elem, dst,
               count);
    const uint64_t elems = moves->n_elem * (gathers ? moves->ranks : 1);
    const uint64_t start = (rank * moves->shards + shard) * elems;
    for (uint64_t e = first; e < first + count && moved->wrong_every > 0; e++)
        if ((start + e) % moved->wrong_every == 0)
            ((uint8_t *)dst)[(e - first) * itemsize] ^= 1;
    return CW_OK;
}

static void the_workers_compare_what_was_moved(void **state)
{
    (void)state;
    for (int gathers = 0; gathers < 2; gathers++)
        for (uint32_t workers = 0; workers <= 8; workers += 2) {
            struct cw_sim *const sim = idle_engine(workers);
            struct moved moved = {.moves = {.collective = gathers ? CCL_ALL_GATHER : CCL_BROADCAST,
                                            .ranks = 5,
                                            .shards = 3,
                                            .root = 2,
                                            .dtype = DTYPE_F16,
                                            .n_elem = 5000,
                                            .seed = 7,
                                            .sim = sim},
                                  .fails_from = UINT32_MAX};
            const uint64_t elems = UINT64_C(5) * 3 * 5000 * (gathers ? 5 : 1);
            struct cw_error error = {0};
            uint64_t wrong = 99;
            assert_int_equal(expect_moves_verify(&moved.moves, read_moved, &moved, &wrong, &error),
                             CW_OK);
            assert_int_equal(wrong, 0);
            moved.wrong_every = 101;
            assert_int_equal(expect_moves_verify(&moved.moves, read_moved, &moved, &wrong, &error),
                             CW_OK);
            assert_int_equal(wrong, (elems + 100) / 101);
            moved.fails_from = 3;
            assert_int_equal(expect_moves_verify(&moved.moves, read_moved, &moved, &wrong, &error),
                             CW_BUG);
            assert_string_equal(error.text, "rank 3");
            cw_sim_free(sim);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(the_workers_count_the_wrong_elements_of_all_shards),
        cmocka_unit_test(the_workers_compare_what_was_moved),
    };
    return cmocka_run_group_tests_name("expect on workers", tests, NULL, NULL);
}
