/*
 * test_expect.c: the specified orders of operations. The hashes are those of an independent
 * implementation of the specification (test/reference/); the rest is written out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "collectives/verify/expect.h"
#include "collectives/data/input.h"
#include "hw/topology/topology.h"
#include "test/support/expect_results.h"

/* ---- helpers -------------------------------------------------------------------------------- */

struct setup {
    struct hw_config hw;
    struct ccl_config ccl;
    struct expect_request request;
};

/* The shipped machine, 4 SIPs of 4 x 4 cubes, and algorithm. */
static void set_up(struct setup *s)
{
    memset(s, 0, sizeof *s);
    s->hw.sip_count = 4;
    s->hw.sip_topology = &hw_torus_2d;
    s->hw.sip_w = s->hw.sip_h = 2;
    s->hw.cube_w = s->hw.cube_h = 4;
    s->hw.pe_per_corner = 2;
    s->hw.corner_count = 4;
    for (unsigned i = 0; i < HW_CORNERS; i++)
        s->hw.corner[i] = (enum hw_corner)i;
    strcpy(s->ccl.module, "lrab_hierarchical_allreduce");
    s->ccl.root = CCL_ROOT_CENTER;
    s->request = (struct expect_request){
        .hw = &s->hw, .ccl = &s->ccl, .dtype = DTYPE_F16, .op = REDOP_SUM, .n_elem = 16, .seed = 1};
}

static void set_sips(struct setup *s, const struct hw_topology_ops *topology, uint32_t w,
                     uint32_t h)
{
    s->hw.sip_topology = topology;
    s->hw.sip_count = w * h;
    s->hw.sip_w = w;
    s->hw.sip_h = h;
}

static void set_cubes(struct setup *s, uint32_t w, uint32_t h)
{
    s->hw.cube_w = w;
    s->hw.cube_h = h;
}

static struct expect *created(const struct setup *s)
{
    struct cw_error error = {0};
    struct expect *expect = expect_create(&s->request, &error);
    if (!expect)
        fail_msg("%s", error.text);
    return expect;
}

/* All ranks' results, rank after rank. The caller frees them. */
static uint8_t *all_results(const struct setup *s)
{
    size_t bytes;
    struct expect *const expect = created(s);
    uint8_t *const all = expect_all_results(expect, s->request.dtype, &bytes);
    expect_free(expect);
    return all;
}

/* Over all ranks' final tensors in rank, shard order (COMMANDS.md, data_hash). */
static uint64_t data_hash(const struct setup *s)
{
    uint8_t *all = all_results(s);
    const size_t bytes = s->request.n_elem * dtype_bytes(s->request.dtype);
    const uint32_t shards = s->hw.cube_w * s->hw.cube_h;
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    for (uint32_t rank = 0; rank < s->hw.sip_count; rank++)
        for (uint32_t shard = 0; shard < shards; shard++)
            XXH3_64bits_update(state, all + rank * bytes, bytes);
    const uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(all);
    return hash;
}

/* Element e of the input of a shard, as f32; n_elem and the shards per rank as in `s`. */
static float input(const struct setup *s, uint32_t shards, uint32_t rank, uint32_t shard,
                   uint64_t e)
{
    float x;
    const uint64_t first = input_first(rank, shards, shard, s->request.n_elem);
    input_fill(DTYPE_F32, s->request.seed, first + e, &x, 1);
    return x;
}

/* ---- against the independent implementation ------------------------------------------------- */

static void check_hash(const struct setup *s, uint64_t expected)
{
    const uint64_t hash = data_hash(s);
    if (hash != expected)
        fail_msg("data_hash %016lx, expected %016lx", (unsigned long)hash, (unsigned long)expected);
}

static void the_default_machine_gives_the_reference_bits(void **state)
{
    (void)state;
    const struct {
        uint64_t n_elem, hash;
        enum redop op;
    } cases[] = {
        {16, 0xfdcdf015ff6e7fd8, REDOP_SUM},   {4096, 0x3aa6b7b1e8af79a4, REDOP_SUM},
        {1000, 0x7565de0834d099e7, REDOP_SUM}, {9000, 0x68a74e5a3988c250, REDOP_SUM},
        {4096, 0x7e5a67d241e358f2, REDOP_MIN},
    };
    struct setup s;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_up(&s);
        s.request.n_elem = cases[i].n_elem;
        s.request.op = cases[i].op;
        check_hash(&s, cases[i].hash);
    }
    set_up(&s);
    s.request.dtype = DTYPE_F32;
    s.request.op = REDOP_MAX;
    s.request.n_elem = 3000;
    check_hash(&s, 0xc999719e08c3134b);
}

static void the_corner_root_gives_the_reference_bits(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    s.ccl.root = CCL_ROOT_CORNER;
    s.request.n_elem = 4096;
    check_hash(&s, 0x3aa6b7b1e8af79a4);
    set_sips(&s, &hw_mesh_2d_no_wrap, 2, 2);
    set_cubes(&s, 3, 3);
    s.request.n_elem = 1000;
    check_hash(&s, 0xecc97e85935a5dd5);
}

static void one_sip_has_no_phase_3(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_ring_1d, 1, 1);
    set_cubes(&s, 2, 2);
    s.request.n_elem = 64;
    check_hash(&s, 0x8d604e5d71f6aaa7);
}

static void rings_tori_and_switches_give_the_reference_bits(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_ring_1d, 3, 1);
    set_cubes(&s, 3, 2);
    s.request.n_elem = 4096;
    check_hash(&s, 0x715ed335aec7fc6d);
    set_up(&s);
    set_sips(&s, &hw_torus_2d, 3, 2);
    s.request.n_elem = 6000;
    check_hash(&s, 0xfe4d8afce315a243);
    set_up(&s);
    set_sips(&s, &hw_switch, 4, 1);
    s.request.n_elem = 1000;
    check_hash(&s, 0x1a3fcdf782f17cce);
}

/* ---- orders, by hand ------------------------------------------------------------------------ */

/* Products in f32: sums of a few inputs would be exact, and the same in every order. */
static void by_products(struct setup *s)
{
    s->request.dtype = DTYPE_F32;
    s->request.op = REDOP_PROD;
}

static void compare_f32(const uint8_t *all, const struct setup *s, uint32_t rank, uint64_t e,
                        float expected)
{
    float result;
    memcpy(&result, all + (rank * s->request.n_elem + e) * sizeof result, sizeof result);
    if (memcmp(&result, &expected, sizeof result))
        fail_msg("rank %u, element %lu: %a, expected %a", rank, (unsigned long)e, (double)result,
                 (double)expected);
}

static void a_chosen_root_adds_west_before_east_and_north_before_south(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_ring_1d, 1, 1);
    s.ccl.root = CCL_ROOT_XY;
    s.ccl.root_x = 1;
    s.ccl.root_y = 2;
    by_products(&s);
    s.request.n_elem = 500;
    uint8_t *all = all_results(&s);
    for (uint64_t e = 0; e < s.request.n_elem; e++) {
        float row[4];
        for (uint32_t y = 0; y < 4; y++) {
            float t[4];
            for (uint32_t x = 0; x < 4; x++)
                t[x] = input(&s, 16, 0, y * 4 + x, e);
            row[y] = (t[1] * t[0]) * (t[2] * t[3]);
        }
        compare_f32(all, &s, 0, e, (row[2] * (row[1] * row[0])) * row[3]);
    }
    free(all);
}

/* Five columns, and six columns of PEs: the fewest where the centre's order is another. */
static void a_corner_root_is_the_end_of_one_chain(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_ring_1d, 1, 1);
    set_cubes(&s, 5, 1);
    by_products(&s);
    s.ccl.root = CCL_ROOT_CORNER;
    s.request.n_elem = 500;
    uint8_t *all = all_results(&s);
    for (uint64_t e = 0; e < s.request.n_elem; e++) {
        float product = input(&s, 5, 0, 0, e);
        for (uint32_t x = 1; x < 5; x++)
            product = input(&s, 5, 0, x, e) * product;
        compare_f32(all, &s, 0, e, product);
    }
    free(all);
    strcpy(s.ccl.module, "pe_hierarchical_allreduce");
    set_cubes(&s, 1, 1);
    s.hw.pe_per_corner = 3;
    all = all_results(&s);
    for (uint64_t e = 0; e < s.request.n_elem; e++) {
        float row[2];
        for (uint32_t y = 0; y < 2; y++) {
            row[y] = input(&s, 12, 0, y * 6, e);
            for (uint32_t x = 1; x < 6; x++)
                row[y] = input(&s, 12, 0, y * 6 + x, e) * row[y];
        }
        compare_f32(all, &s, 0, e, row[1] * row[0]);
    }
    free(all);
}

static void each_rank_of_a_ring_adds_backwards_from_itself(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_ring_1d, 3, 1);
    set_cubes(&s, 1, 1);
    by_products(&s);
    s.request.n_elem = 500;
    uint8_t *all = all_results(&s);
    strcpy(s.ccl.module, "ring_allreduce");
    set_sips(&s, &hw_mesh_2d_no_wrap, 3, 1); /* a logical ring: the SIPs' own wiring is no matter */
    uint8_t *logical = all_results(&s);
    assert_memory_equal(all, logical, 3 * 500 * sizeof(float));
    for (uint64_t e = 0; e < s.request.n_elem; e++) {
        const float x0 = input(&s, 1, 0, 0, e), x1 = input(&s, 1, 1, 0, e),
                    x2 = input(&s, 1, 2, 0, e);
        compare_f32(all, &s, 0, e, (x0 * x2) * x1);
        compare_f32(all, &s, 1, e, (x1 * x0) * x2);
        compare_f32(all, &s, 2, e, (x2 * x1) * x0);
    }
    free(all);
    free(logical);
}

static void a_torus_adds_in_rows_and_then_in_columns(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_torus_2d, 3, 2);
    set_cubes(&s, 1, 1);
    by_products(&s);
    s.request.n_elem = 300;
    uint8_t *all = all_results(&s);
    for (uint64_t e = 0; e < s.request.n_elem; e++)
        for (uint32_t x = 0; x < 3; x++) {
            float row[2];
            for (uint32_t y = 0; y < 2; y++)
                row[y] = (input(&s, 1, y * 3 + x, 0, e) * input(&s, 1, y * 3 + (x + 2) % 3, 0, e)) *
                         input(&s, 1, y * 3 + (x + 1) % 3, 0, e);
            compare_f32(all, &s, x, e, row[0] * row[1]);
            compare_f32(all, &s, 3 + x, e, row[1] * row[0]);
        }
    free(all);
}

static void rank_invariance_makes_all_ranks_equal(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    s.ccl.rank_invariant = true;
    by_products(&s);
    s.request.n_elem = 300;
    set_cubes(&s, 1, 1);
    for (uint32_t t = 0; hw_topology_at(t) != NULL; t++) {
        if (!hw_topology_is_ringed(hw_topology_at(t)))
            continue;
        set_sips(&s, hw_topology_at(t), 2, 3);
        uint8_t *all = all_results(&s);
        for (uint64_t e = 0; e < s.request.n_elem; e++) {
            float product = input(&s, 1, 0, 0, e);
            for (uint32_t rank = 1; rank < 6; rank++)
                product = product * input(&s, 1, rank, 0, e);
            for (uint32_t rank = 0; rank < 6; rank++)
                compare_f32(all, &s, rank, e, product);
        }
        free(all);
    }
}

static void a_mesh_gives_every_rank_the_same_chain(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_mesh_2d_no_wrap, 3, 2);
    set_cubes(&s, 1, 1);
    by_products(&s);
    s.request.n_elem = 300;
    uint8_t *all = all_results(&s);
    for (uint64_t e = 0; e < s.request.n_elem; e++) {
        float row[2];
        for (uint32_t y = 0; y < 2; y++)
            row[y] = input(&s, 1, y * 3 + 2, 0, e) *
                     (input(&s, 1, y * 3 + 1, 0, e) * input(&s, 1, y * 3, 0, e));
        for (uint32_t rank = 0; rank < 6; rank++)
            compare_f32(all, &s, rank, e, row[1] * row[0]);
    }
    free(all);
}

static void a_tree_adds_left_and_then_right(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_ring_1d, 6, 1);
    strcpy(s.ccl.module, "tree_allreduce");
    by_products(&s);
    s.request.n_elem = 300;
    uint8_t *all = all_results(&s);
    for (uint64_t e = 0; e < s.request.n_elem; e++) {
        float x[6];
        for (uint32_t rank = 0; rank < 6; rank++)
            x[rank] = input(&s, 1, rank, 0, e);
        const float left = (x[1] * x[3]) * x[4], right = x[2] * x[5];
        for (uint32_t rank = 0; rank < 6; rank++)
            compare_f32(all, &s, rank, e, (x[0] * left) * right);
    }
    free(all);
}

/* NW0 NW1 NE0 NE1 / SW0 SW1 SE0 SE1, root at column 2, row 1; then two cubes, root at 1,0. */
static void pes_are_reduced_within_their_cube_first(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    set_sips(&s, &hw_ring_1d, 1, 1);
    set_cubes(&s, 2, 1);
    strcpy(s.ccl.module, "pe_hierarchical_allreduce");
    s.hw.corner[0] = HW_SE; /* PEs 0, 1: corners are numbered as the configuration says */
    s.hw.corner[3] = HW_NW; /* PEs 6, 7 */
    by_products(&s);
    s.request.n_elem = 300;
    uint8_t *all = all_results(&s);
    const uint32_t at[2][4] = {{6, 7, 2, 3}, {4, 5, 0, 1}};
    for (uint64_t e = 0; e < s.request.n_elem; e++) {
        float cube[2];
        for (uint32_t c = 0; c < 2; c++) {
            float row[2];
            for (uint32_t y = 0; y < 2; y++) {
                float t[4];
                for (uint32_t x = 0; x < 4; x++)
                    t[x] = input(&s, 16, 0, c * 8 + at[y][x], e);
                row[y] = (t[2] * (t[1] * t[0])) * t[3];
            }
            cube[c] = row[1] * row[0];
        }
        compare_f32(all, &s, 0, e, cube[1] * cube[0]);
    }
    free(all);
}

/* ---- verification and errors ---------------------------------------------------------------- */

/* Results in memory, with some of them changed. */
struct tensors {
    const struct setup *setup;
    uint8_t *all;
    uint32_t shards, reads;
    uint32_t wrong_rank, wrong_shard;
    uint64_t wrong_first, wrong_count; /* elements whose last bit is the other */
    int fail_at;                       /* the read that fails; 0: none */
};

static int read_shard(void *arg, uint32_t rank, uint32_t shard, uint64_t first, uint64_t count,
                      void *dst, struct cw_error *error)
{
    struct tensors *t = arg;
    const size_t itemsize = dtype_bytes(t->setup->request.dtype);
    assert_true(shard < t->shards);
    assert_true(first + count <= t->setup->request.n_elem);
    if ((int)++t->reads == t->fail_at) {
        snprintf(error->text, sizeof error->text, "no such shard");
        return error->exit_code = CW_BUG;
    }
    memcpy(dst, t->all + (rank * t->setup->request.n_elem + first) * itemsize, count * itemsize);
    if (rank == t->wrong_rank && shard == t->wrong_shard)
        for (uint64_t e = first; e < first + count; e++)
            if (e >= t->wrong_first && e < t->wrong_first + t->wrong_count)
                ((uint8_t *)dst)[(e - first) * itemsize] ^= 1;
    return CW_OK;
}

static void verification_counts_the_elements_whose_bits_differ(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    s.request.n_elem = 100003; /* several evaluations */
    struct tensors t = {
        .setup = &s, .all = all_results(&s), .shards = 16, .wrong_rank = UINT32_MAX};
    struct expect *expect = created(&s);
    struct cw_error error = {0};
    uint64_t wrong = 99;
    assert_int_equal(expect_shards(expect), 16);
    assert_int_equal(expect_verify(expect, expect_shards(expect), read_shard, &t, &wrong, &error),
                     CW_OK);
    assert_int_equal(wrong, 0);
    t.wrong_rank = 2, t.wrong_shard = 15, t.wrong_first = 1000, t.wrong_count = 98765;
    assert_int_equal(expect_verify(expect, expect_shards(expect), read_shard, &t, &wrong, &error),
                     CW_OK);
    assert_int_equal(wrong, 98765);
    t.reads = 0, t.fail_at = 20;
    assert_int_equal(expect_verify(expect, expect_shards(expect), read_shard, &t, &wrong, &error),
                     CW_BUG);
    assert_string_equal(error.text, "no such shard");
    expect_free(expect);
    free(t.all);
}

static void refuse(const struct setup *s, const char *part)
{
    struct cw_error error = {0};
    assert_null(expect_create(&s->request, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void what_has_no_specified_order_is_refused(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    strcpy(s.ccl.module, "./mine.so:kernel");
    refuse(&s, "mine.so");
    strcpy(s.ccl.module, "relay_barrier");
    refuse(&s, "module relay_barrier has no specified order of additions; one of birs, ");
    set_up(&s);
    set_sips(&s, &hw_mesh_2d_no_wrap, 2, 2);
    s.ccl.rank_invariant = true;
    refuse(&s, "mesh_2d_no_wrap");
    set_up(&s);
    set_sips(&s, &hw_pair_switch, 4, 1);
    refuse(&s, "ring_allreduce");
    set_up(&s);
    s.ccl.root = CCL_ROOT_XY;
    s.ccl.root_x = 4;
    refuse(&s, "4,0");
    set_up(&s);
    s.ccl.world_size = 3;
    refuse(&s, "world_size 3");
    set_up(&s);
    strcpy(s.ccl.module, "pe_hierarchical_allreduce");
    s.hw.corner_count = 3;
    refuse(&s, "four corners");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_machine_gives_the_reference_bits),
        cmocka_unit_test(the_corner_root_gives_the_reference_bits),
        cmocka_unit_test(one_sip_has_no_phase_3),
        cmocka_unit_test(rings_tori_and_switches_give_the_reference_bits),
        cmocka_unit_test(a_chosen_root_adds_west_before_east_and_north_before_south),
        cmocka_unit_test(a_corner_root_is_the_end_of_one_chain),
        cmocka_unit_test(each_rank_of_a_ring_adds_backwards_from_itself),
        cmocka_unit_test(a_torus_adds_in_rows_and_then_in_columns),
        cmocka_unit_test(rank_invariance_makes_all_ranks_equal),
        cmocka_unit_test(a_mesh_gives_every_rank_the_same_chain),
        cmocka_unit_test(a_tree_adds_left_and_then_right),
        cmocka_unit_test(pes_are_reduced_within_their_cube_first),
        cmocka_unit_test(verification_counts_the_elements_whose_bits_differ),
        cmocka_unit_test(what_has_no_specified_order_is_refused),
    };
    return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
