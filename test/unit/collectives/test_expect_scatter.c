/*
 * test_expect_scatter.c: the specified bits of reductions on paired dies (ALGORITHMS.md,
 * "Reduce-scatter on paired dies"). The hashes are those of an independent implementation of the
 * specification (test/reference/); the orders are computed here a second time, element by element.
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

enum { RANKS_MAX = 512 };

struct setup {
    struct hw_config hw;
    struct ccl_config ccl;
    struct expect_request request;
};

static void set_up(struct setup *s, const char *module, uint32_t ranks, enum dtype dtype,
                   uint64_t n_elem)
{
    memset(s, 0, sizeof *s);
    s->hw.sip_count = ranks;
    s->hw.sip_topology = &hw_pair_switch;
    s->hw.cube_w = s->hw.cube_h = s->hw.sip_w = s->hw.sip_h = 1;
    s->request = (struct expect_request){.hw = &s->hw,
                                         .ccl = &s->ccl,
                                         .module = module,
                                         .dtype = dtype,
                                         .op = REDOP_SUM,
                                         .n_elem = n_elem,
                                         .seed = 1};
}

/* All ranks' results, rank after rank. The caller frees them. */
static uint8_t *all_results(const struct setup *s, size_t *bytes)
{
    struct cw_error error = {0};
    struct expect *expect = expect_create(&s->request, &error);
    if (expect == NULL)
        fail_msg("%s", error.text);
    uint8_t *const all = expect_all_results(expect, s->request.dtype, bytes);
    expect_free(expect);
    return all;
}

static uint64_t data_hash(const struct setup *s)
{
    size_t bytes;
    uint8_t *all = all_results(s, &bytes);
    const uint64_t hash = XXH3_64bits(all, bytes);
    free(all);
    return hash;
}

static void birs_and_mesh_give_the_reference_bits(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s, "birs", 8, DTYPE_F16, 8192);
    assert_int_equal(data_hash(&s), 0xcdf9a92dfca70271);
    set_up(&s, "mesh", 4, DTYPE_F16, 8192);
    assert_int_equal(data_hash(&s), 0xc919495ff478b4cf);
}

/* ---- the orders, computed here: in bf16, whose sums depend on the order ---------------------- */

/* Rounded to bf16 after each addition; bf16 has so few digits that the way over f32 is exact. */
static float add(float a, float b)
{
    uint16_t bits;
    float sum = a + b;
    dtype_from_f32(DTYPE_BF16, &bits, &sum, 1);
    dtype_to_f32(DTYPE_BF16, &sum, &bits, 1);
    return sum;
}

/* x[0 .. n - 1] of a place: pair sums, then a tree over the packages. */
static float tree_of_pairs(const float *x, uint32_t n)
{
    float v[RANKS_MAX / 2];
    const uint32_t packages = n / 2;
    for (uint32_t k = 0; k < packages; k++)
        v[k] = add(x[2 * k], x[2 * k + 1]);
    for (uint32_t s = 1; s < packages; s *= 2)
        for (uint32_t i = s; i < packages; i += 2 * s)
            v[i - s] = add(v[i - s], v[i]);
    return v[0];
}

/* The same by the words of ALGORITHMS.md: a node of the tree is its left half plus its right half,
 * and a node without a right half is its left half. */
static float node_of(const float *x, uint32_t packages, uint32_t level, uint32_t index)
{
    if (level == 0)
        return add(x[2 * index], x[2 * index + 1]);
    const float left = node_of(x, packages, level - 1, 2 * index);
    return (2 * index + 1) << (level - 1) >= packages
               ? left
               : add(left, node_of(x, packages, level - 1, 2 * index + 1));
}
static float tree_of_nodes(const float *x, uint32_t n)
{
    uint32_t level = 0;
    while (1u << level < n / 2)
        level++;
    return node_of(x, n / 2, level, 0);
}

/* Distances n/2, n/4 ... 1, after n - p pairs have been folded. */
static float halving(const float *x, uint32_t n)
{
    float v[RANKS_MAX];
    uint32_t p = 1;
    while (2 * p <= n)
        p *= 2;
    for (uint32_t i = 0; i < p; i++)
        v[i] = i < n - p ? add(x[2 * i], x[2 * i + 1]) : x[i + n - p];
    for (uint32_t d = p / 2; d > 0; d /= 2)
        for (uint32_t i = 0; i < d; i++)
            v[i] = add(v[i], v[i + d]);
    return v[0];
}

/* Every element of a bf16 result against `order`, whose i-th value is rank who[i]'s. */
static void check_order(const struct setup *s, float (*order)(const float *x, uint32_t n),
                        const uint16_t *who, bool scatters)
{
    size_t bytes;
    const uint32_t n = s->hw.sip_count;
    uint16_t *all = (uint16_t *)(void *)all_results(s, &bytes), element;
    float x[RANKS_MAX];
    const uint64_t each = scatters ? s->request.n_elem / n : s->request.n_elem;
    assert_int_equal(bytes, n * each * sizeof element);
    for (uint32_t rank = 0; rank < n; rank++)
        for (uint64_t e = 0; e < each; e++) {
            const uint64_t at = (scatters ? rank * each : 0) + e;
            for (uint32_t i = 0; i < n; i++) {
                input_fill(DTYPE_BF16, 1, (who ? who[i] : i) * s->request.n_elem + at, &element, 1);
                dtype_to_f32(DTYPE_BF16, &x[i], &element, 1);
            }
            const float expected = order(x, n);
            dtype_from_f32(DTYPE_BF16, &element, &expected, 1);
            assert_int_equal(all[rank * each + e], element);
        }
    free(all);
}

static void each_order_is_the_specified_one(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {4, 6, 8, 10, 12, 14, 16, 32, 64, 128};
    struct setup s;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const uint32_t n = ranks[i];
        set_up(&s, n > 16 ? "birs_inter" : "birs", n, DTYPE_BF16, n * 7);
        check_order(&s, tree_of_pairs, NULL, true);
        set_up(&s, "mesh", n, DTYPE_BF16, n * 7);
        check_order(&s, tree_of_pairs, NULL, true);
        set_up(&s, "rhd", n, DTYPE_BF16, n * 7);
        check_order(&s, halving, NULL, true);
        set_up(&s, "birs_allreduce", n, DTYPE_BF16, n * 3);
        check_order(&s, tree_of_pairs, NULL, false);
    }
    set_up(&s, "rhd", 5, DTYPE_BF16, 5 * 9);
    check_order(&s, halving, NULL, true);
}

/* The number of ranks alone gives the tree, whether it is a power of two or not. */
static void every_even_number_of_ranks_has_its_tree(void **state)
{
    (void)state;
    struct setup s;
    for (uint32_t n = 4; n <= RANKS_MAX; n += n < 100 ? 2 : n < 500 ? 46 : 4) {
        set_up(&s, n > 16 ? "birs_inter" : "birs", n, DTYPE_BF16, n);
        check_order(&s, tree_of_nodes, NULL, true);
    }
}

static void orders_differ_where_halves_are_no_neighbours(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s, "birs", 8, DTYPE_BF16, 8192);
    const uint64_t birs = data_hash(&s);
    s.request.module = "mesh"; /* neighbours first, too */
    assert_int_equal(data_hash(&s), birs);
    s.request.module = "rhd";
    assert_int_not_equal(data_hash(&s), birs);
}

static void birs_adds_ranks_where_they_are(void **state)
{
    (void)state;
    static const uint16_t rank_on[] = {3, 4, 0, 5, 1, 2};
    struct setup s;
    set_up(&s, "birs", 6, DTYPE_BF16, 6 * 11);
    s.ccl.ranks.mapped = true;
    memcpy(s.ccl.ranks.rank_on, rank_on, sizeof rank_on);
    check_order(&s, tree_of_pairs, rank_on, true);
    s.request.module = "mesh";
    check_order(&s, tree_of_pairs, NULL, true);
}

static void what_does_not_divide_is_refused(void **state)
{
    (void)state;
    struct setup s;
    struct cw_error error = {0};
    set_up(&s, "birs", 8, DTYPE_F16, 1001);
    assert_null(expect_create(&s.request, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    assert_string_equal(error.text, "1001 elements are no multiple of 8 ranks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(birs_and_mesh_give_the_reference_bits),
        cmocka_unit_test(each_order_is_the_specified_one),
        cmocka_unit_test(every_even_number_of_ranks_has_its_tree),
        cmocka_unit_test(orders_differ_where_halves_are_no_neighbours),
        cmocka_unit_test(birs_adds_ranks_where_they_are),
        cmocka_unit_test(what_does_not_divide_is_refused),
    };
    return cmocka_run_group_tests_name("expect_scatter", tests, NULL, NULL);
}
