/* test_tensor.c: where the shards of tensors are, and tensors for which there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/runtime/tensor.h"

#define PAGE 65536u
#define HBM  (16u * PAGE)

struct fixture {
    struct hw_config hw;
    struct tensor_space *space;
};

/* 3 SIPs of 2 x 2 cubes of 8 PEs; the first page and a bit of each slice is taken. */
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->hw.sip_count = 3;
    f->hw.cube_w = f->hw.cube_h = 2;
    f->hw.pe_per_corner = 2;
    f->hw.corner_count = 4;
    f->hw.hbm_bytes = HBM;
    f->hw.mmu_page_bytes = PAGE;
    f->space = tensor_space_create(&f->hw, NULL, PAGE + 1);
    *state = f;
    return f->space ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tensor_space_free(f->space);
    free(f);
    return 0;
}

static const struct dp_policy rows_on_pe0 = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};

static struct tensor *create(const struct fixture *f, uint32_t sip, uint64_t rows, uint64_t columns,
                             enum dtype dtype, struct dp_policy policy)
{
    struct cw_error error = {0};
    struct tensor *t =
        tensor_create(f->space, sip, (struct tensor_shape){rows, columns}, dtype, &policy, &error);
    if (!t)
        fail_msg("%s", error.text);
    return t;
}

static void refuse(const struct fixture *f, uint32_t sip, uint64_t rows, uint64_t columns,
                   struct dp_policy policy, int exit_code, const char *part)
{
    struct cw_error error = {0};
    assert_null(tensor_create(f->space, sip, (struct tensor_shape){rows, columns}, DTYPE_F32,
                              &policy, &error));
    assert_int_equal(error.exit_code, exit_code);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void cube_c_has_row_c_behind_c_others(void **state)
{
    const struct fixture *f = *state;
    struct tensor *t = create(f, 1, 4, 1000, DTYPE_F16, rows_on_pe0);
    assert_int_equal(t->shard_count, 4);
    assert_int_equal(t->policy.num_cubes, 4);
    assert_int_equal(t->shard_elems, 1000);
    assert_int_equal(t->shard_bytes, 2000);
    assert_int_equal(tensor_parts(t), 4);
    for (uint32_t c = 0; c < 4; c++) {
        const struct tensor_shard *s = &t->shard[c];
        assert_true(s->sip == 1 && s->cube == c && s->pe == 0 && s->part == c);
        assert_int_equal(s->pe_index, (1 * 4 + c) * 8);
        assert_int_equal(s->offset_bytes, c * 2000);
        assert_int_equal(s->va, t->va_base + c * 2000);
        assert_int_equal(s->hbm_offset, 2 * PAGE); /* behind the reserved pages */
    }
    tensor_free(t);
    tensor_free(NULL);
    tensor_space_free(NULL);
}

static void columns_are_cut_over_pes_and_sorted_behind_cubes(void **state)
{
    const struct fixture *f = *state;
    struct tensor *t =
        create(f, 0, 6, 40, DTYPE_F32, (struct dp_policy){DP_ROW_WISE, DP_COLUMN_WISE, 3, 8, 0});
    assert_int_equal(t->shard_count, 24);
    assert_int_equal(t->shard_elems, 2 * 5);
    assert_int_equal(tensor_parts(t), 24);
    for (uint32_t i = 0; i < 24; i++) {
        const struct tensor_shard *s = &t->shard[i];
        assert_true(s->cube == i / 8 && s->pe == i % 8 && s->part == i);
        assert_int_equal(s->offset_bytes, (i / 8 * 2 * 40 + i % 8 * 5) * 4);
        assert_int_equal(s->va, t->va_base + i * 40);
    }
    tensor_free(t);
}

static void copies_are_the_same_part(void **state)
{
    const struct fixture *f = *state;
    struct tensor *t =
        create(f, 0, 4, 8, DTYPE_F32, (struct dp_policy){DP_ROW_WISE, DP_REPLICATE, 0, 0, 0});
    assert_int_equal(t->shard_count, 32);
    assert_int_equal(t->shard_elems, 8);
    assert_int_equal(tensor_parts(t), 4);
    assert_true(t->window_va >= t->va_base + 4 * 32); /* behind all shards */
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(t->shard[i].part, i / 8);
        assert_int_equal(t->shard[i].va, t->va_base + i / 8 * 32);
        assert_int_equal(t->shard[i].offset_bytes, i / 8 * 32);
    }
    tensor_free(t);
    t = create(f, 0, 3, 8, DTYPE_BF16, (struct dp_policy){DP_REPLICATE, DP_COLUMN_WISE, 0, 4, 0});
    assert_int_equal(t->shard_count, 16);
    assert_int_equal(t->shard_elems, 6);
    assert_int_equal(tensor_parts(t), 4);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(t->shard[i].part, i % 4);
        assert_int_equal(t->shard[i].offset_bytes, i % 4 * 4);
        assert_int_equal(t->shard[i].va, t->va_base + (i / 4 * 8 + i % 4) * 12); /* 8 PEs a cube */
    }
    tensor_free(t);
}

static void tensors_do_not_overlap_and_gaps_are_used_again(void **state)
{
    const struct fixture *f = *state;
    struct tensor *a = create(f, 0, 4, PAGE / 4, DTYPE_F32, rows_on_pe0);
    struct tensor *b = create(f, 0, 4, PAGE / 4 + 1, DTYPE_F32, rows_on_pe0);
    struct tensor *c = create(f, 0, 4, 1, DTYPE_F32, rows_on_pe0);
    struct tensor *other = create(f, 2, 4, 1, DTYPE_F32, rows_on_pe0);
    assert_int_equal(a->hbm_offset, 2 * PAGE);
    assert_int_equal(b->hbm_offset, 3 * PAGE);
    assert_int_equal(c->hbm_offset, 5 * PAGE);
    assert_int_equal(other->hbm_offset, 2 * PAGE); /* each SIP has its own heap */
    /* The last page that a's last shard is in is not b's. */
    assert_true(b->va_base >= a->va_base + 4 * PAGE + PAGE);
    assert_int_equal(tensor_space_left(f->space, 0), 10 * PAGE);
    tensor_free(b);
    struct tensor *d = create(f, 0, 4, PAGE / 2, DTYPE_F32, rows_on_pe0);
    assert_int_equal(d->hbm_offset, 3 * PAGE);
    assert_true(d->va_base > c->va_base);
    tensor_free(a);
    tensor_free(c);
    assert_int_equal(tensor_space_left(f->space, 0), 11 * PAGE); /* behind d; 1 before it */
    tensor_free(d);
    tensor_free(other);
    assert_int_equal(tensor_space_left(f->space, 0), 14 * PAGE);
}

static void a_tensor_that_does_not_fit_is_refused_with_what_is_free(void **state)
{
    const struct fixture *f = *state;
    struct tensor *a = create(f, 2, 4, 13 * PAGE / 4, DTYPE_F32, rows_on_pe0);
    refuse(f, 2, 4, PAGE / 4 + 1, rows_on_pe0, CW_NO_RESOURCE,
           "HBM: a tensor needs 131072 bytes in each PE's slice of SIP 2, in pages of 65536; free "
           "is a range of 65536, of 1048576 in all");
    struct tensor *b = create(f, 2, 4, PAGE / 4, DTYPE_F32, rows_on_pe0);
    assert_int_equal(b->hbm_offset + b->reserved_bytes, HBM);
    assert_int_equal(tensor_space_left(f->space, 2), 0);
    refuse(f, 2, 4, 1, rows_on_pe0, CW_NO_RESOURCE, "a range of 0");
    tensor_free(a);
    tensor_free(b);
    refuse(f, 0, UINT64_C(1) << 40, UINT64_C(1) << 40, rows_on_pe0, CW_NO_RESOURCE, "no memory");
    refuse(f, 0, 4, UINT64_MAX / 16, rows_on_pe0, CW_NO_RESOURCE, "HBM: a tensor needs");
}

static void shapes_and_policies_that_make_no_sense_are_refused(void **state)
{
    const struct fixture *f = *state;
    const struct dp_policy columns = {DP_ROW_WISE, DP_COLUMN_WISE, 0, 0, 0};
    refuse(f, 3, 4, 8, rows_on_pe0, CW_USAGE, "SIP 3: there are 3");
    refuse(f, 0, 5, 8, rows_on_pe0, CW_USAGE, "5 x 8 elements over 4 cubes");
    refuse(f, 0, 4, 9, columns, CW_USAGE, "8 PEs by columns");
    refuse(f, 0, 0, 8, rows_on_pe0, CW_USAGE, "0 x 8");
    refuse(f, 0, 4, 0, rows_on_pe0, CW_USAGE, "4 x 0");
    refuse(f, 0, 4, 8, (struct dp_policy){DP_COLUMN_WISE, DP_REPLICATE, 0, 0, 0}, CW_USAGE,
           "row_wise or replicate");
    refuse(f, 0, 4, 8, (struct dp_policy){DP_ROW_WISE, DP_ROW_WISE, 0, 0, 0}, CW_USAGE,
           "column_wise or replicate");
    refuse(f, 0, 4, 8, (struct dp_policy){DP_ROW_WISE, DP_REPLICATE, 5, 0, 0}, CW_USAGE,
           "5 cubes from cube 0 on, but a SIP has 4");
    refuse(f, 0, 4, 8, (struct dp_policy){DP_ROW_WISE, DP_REPLICATE, 0, 9, 0}, CW_USAGE,
           "9 PEs from PE 0 on, but a cube has 8");
    assert_int_equal(tensor_space_left(f->space, 0), 14 * PAGE);
}

#define WITH_SPACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SPACE(cube_c_has_row_c_behind_c_others),
        WITH_SPACE(columns_are_cut_over_pes_and_sorted_behind_cubes),
        WITH_SPACE(copies_are_the_same_part),
        WITH_SPACE(tensors_do_not_overlap_and_gaps_are_used_again),
        WITH_SPACE(a_tensor_that_does_not_fit_is_refused_with_what_is_free),
        WITH_SPACE(shapes_and_policies_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
