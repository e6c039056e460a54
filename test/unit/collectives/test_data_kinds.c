/*
 * test_data_kinds.c: the data pass's one-sided writes, copies, casts and matrix products: by hand,
 * and against plain loops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/data/data_pass.h"
#include "hw/structure.h"

enum { MEMORY = 1 << 20, PES = 2, CUBES = 2, SIPS = 2 };

struct fixture {
    struct hw_config hw;
    struct data_pass *pass;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->hw.sip_count = SIPS;
    f->hw.cube_w = CUBES;
    f->hw.cube_h = 1;
    f->hw.pe_per_corner = PES;
    f->hw.corner_count = 1;
    f->hw.tcm_bytes = f->hw.sram_bytes = f->hw.hbm_bytes = MEMORY;
    f->pass = data_pass_create(&f->hw, 0, 1);
    *state = f;
    return f->pass ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    data_pass_free(f->pass);
    free(f);
    return 0;
}

static struct lp_operand in(enum lp_space space, uint32_t at)
{
    return (struct lp_operand){.space = (uint8_t)space, .at = at};
}
static struct lp_operand hbm(uint32_t at) { return in(LP_SPACE_HBM, at); }

static void apply(const struct fixture *f, struct lp_op op)
{
    struct cw_error error = {0};
    if (data_pass_apply(f->pass, &op, &error))
        fail_msg("%s", error.text);
}

static void refuse(const struct fixture *f, struct lp_op op, const char *part)
{
    struct cw_error error = {0};
    const uint64_t digest = data_pass_digest(f->pass);
    assert_int_equal(data_pass_apply(f->pass, &op, &error), CW_BUG);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
    assert_int_equal(data_pass_digest(f->pass), digest);
}

static void write_hbm(const struct fixture *f, uint32_t pe, uint32_t at, const void *src,
                      size_t bytes)
{
    struct cw_error error;
    assert_int_equal(data_pass_write(f->pass, pe, at, src, bytes, &error), CW_OK);
}

static void expect_hbm(const struct fixture *f, uint32_t pe, uint32_t at, const void *expected,
                       size_t bytes)
{
    uint8_t *there = malloc(bytes);
    data_pass_read(f->pass, pe, at, there, bytes);
    assert_memory_equal(there, expected, bytes);
    free(there);
}

static struct lp_op copy(uint32_t pe, uint32_t bytes, struct lp_operand a, struct lp_operand dst)
{
    return (struct lp_op){.kind = LP_OP_COPY, .pe = pe, .bytes = bytes, .a = a, .dst = dst};
}
static struct lp_op put(uint32_t pe, uint32_t seq, uint32_t peer, uint32_t bytes,
                        struct lp_operand a, struct lp_operand dst)
{
    return (struct lp_op){
        .kind = LP_OP_PUT, .pe = pe, .seq = seq, .peer = peer, .bytes = bytes, .a = a, .dst = dst};
}
static struct lp_op land(uint32_t pe, uint32_t seq, uint32_t peer, uint32_t bytes,
                         struct lp_operand dst)
{
    return (struct lp_op){
        .kind = LP_OP_LAND, .pe = pe, .seq = seq, .peer = peer, .bytes = bytes, .dst = dst};
}
static struct lp_op reducing(struct lp_op op, enum lp_math math, enum lp_dtype dtype)
{
    op.math = (uint8_t)math;
    op.dtype = (uint8_t)dtype;
    return op;
}

/* ---- copies --------------------------------------------------------------------------------- */

static void a_copy_goes_from_any_memory_to_any(void **state)
{
    const struct fixture *f = *state;
    const enum lp_space spaces[3] = {LP_SPACE_TCM, LP_SPACE_HBM, LP_SPACE_SRAM};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 3; j++) {
            const uint32_t value = 0x01020304 * (1 + i * 3 + j), nothing = 0;
            write_hbm(f, 3, 4000, &value, 4);
            apply(f, copy(3, 4, hbm(4000), in(spaces[i], 100)));
            apply(f, copy(3, 4, in(spaces[i], 100), in(spaces[j], 2000)));
            write_hbm(f, 3, 8000, &nothing, 4);
            apply(f, copy(3, 4, in(spaces[j], 2000), hbm(8000)));
            expect_hbm(f, 3, 8000, &value, 4);
        }
}

static void a_receive_may_copy_its_tile(void **state)
{
    const struct fixture *f = *state;
    write_hbm(f, 0, 0, "tile", 5);
    apply(f, (struct lp_op){
                 .kind = LP_OP_SEND, .bytes = 5, .a = hbm(0), .peer = 2, .peer_dir = HW_DIR_W});
    struct lp_op recv = {
        .kind = LP_OP_RECV, .pe = 2, .dir = HW_DIR_W, .bytes = 6, .dst = in(LP_SPACE_TCM, 64)};
    struct cw_error error = {0};
    assert_int_equal(data_pass_apply(f->pass, &recv, &error), CW_PROGRAM_FAILED);
    assert_string_equal(error.text,
                        "IpcqTypeMismatch: PE 0.1.0 received tile 0 from direction W as "
                        "6 bytes, and it was sent as 5 bytes; both ends must name one "
                        "size");
    recv.bytes = 5;
    apply(f, recv);
    apply(f, copy(2, 5, in(LP_SPACE_TCM, 64), hbm(10)));
    expect_hbm(f, 2, 10, "tile", 5);
    recv.dir = 16;
    refuse(f, recv, "direction 16; there are 16");
}

/* ---- puts ----------------------------------------------------------------------------------- */

static void a_put_binds_its_value_and_lands_later_in_any_order(void **state)
{
    const struct fixture *f = *state;
    write_hbm(f, 0, 0, "one", 4);
    apply(f, put(0, 0, 5, 4, hbm(0), hbm(100)));
    write_hbm(f, 0, 0, "two", 4);
    apply(f, put(0, 1, 6, 4, hbm(0), in(LP_SPACE_SRAM, 8)));
    write_hbm(f, 0, 0, "xxx", 4);
    expect_hbm(f, 5, 100, "\0\0\0", 4);            /* not there yet */
    data_pass_end_kernel(f->pass, 0);              /* it is under way all the same */
    assert_int_equal(data_pass_tiles(f->pass), 0); /* puts are none */
    apply(f, land(6, 1, 0, 4, in(LP_SPACE_SRAM, 8)));
    apply(f, land(5, 0, 0, 4, hbm(100)));
    expect_hbm(f, 5, 100, "one", 4);
    apply(f, copy(7, 4, in(LP_SPACE_SRAM, 8), hbm(0))); /* PE 7 shares PE 6's SRAM */
    expect_hbm(f, 7, 0, "two", 4);
}

static struct lp_op store_to(uint32_t pe, uint32_t seq, uint32_t peer, uint32_t bytes,
                             struct lp_operand a, struct lp_operand dst)
{
    struct lp_op op = put(pe, seq, peer, bytes, a, dst);
    op.kind = LP_OP_STORE_TO;
    return op;
}
static struct lp_op stored(uint32_t pe, uint32_t seq, uint32_t peer, uint32_t bytes,
                           struct lp_operand dst)
{
    struct lp_op op = land(pe, seq, peer, bytes, dst);
    op.kind = LP_OP_STORED;
    return op;
}

/* PE 1 is in the same cube as PE 0: the SRAM is one. PE 7 is in another SIP. */
static void a_raw_store_writes_its_peers_memories(void **state)
{
    const struct fixture *f = *state;
    const enum lp_space spaces[3] = {LP_SPACE_TCM, LP_SPACE_HBM, LP_SPACE_SRAM};
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t value = 0x01020304 * (1 + i), nothing = 0, peer = i < 3 ? 1 : 7;
        const struct lp_operand dst = in(spaces[i % 3], 2000);
        struct lp_op op = store_to(0, 3, peer, 4, in(LP_SPACE_TCM, 100), dst);
        write_hbm(f, 0, 4000, &value, 4);
        apply(f, copy(0, 4, hbm(4000), in(LP_SPACE_TCM, 100)));
        write_hbm(f, peer, 8000, &nothing, 4);
        apply(f, copy(peer, 4, hbm(8000), dst));
        apply(f, op); /* binds the value */
        apply(f, copy(0, 4, hbm(12000), in(LP_SPACE_TCM, 100)));
        apply(f, copy(peer, 4, dst, hbm(8000)));
        expect_hbm(f, peer, 8000, &nothing, 4);
        apply(f, stored(peer, 3, 0, 4, dst)); /* writes it */
        apply(f, copy(peer, 4, dst, hbm(8000)));
        expect_hbm(f, peer, 8000, &value, 4);
        refuse(f, stored(peer, 3, 0, 4, dst), "PE index 0 has stored nothing here (3)");
        op.peer = 1000000;
        refuse(f, op, "there are");
    }
    refuse(f, stored(1, 0, 1000000, 4, hbm(0)), "there are");
    refuse(f, store_to(0, 0, 7, 4, hbm(0), hbm(MEMORY - 3)), "passes the memory's end at 1048576");
    apply(f, store_to(0, 0, 7, 4, hbm(0), hbm(0)));
    refuse(f, stored(7, 0, 0, 8, hbm(0)), "store 0 of PE index 0 has 4 bytes");
}

static struct lp_op lent(uint32_t pe, uint32_t seq, uint32_t peer, uint32_t bytes,
                         struct lp_operand a)
{
    struct lp_op op = put(pe, seq, peer, bytes, a, (struct lp_operand){0});
    op.kind = LP_OP_LENT;
    return op;
}
static struct lp_op load_from(uint32_t pe, uint32_t seq, uint32_t peer, uint32_t bytes,
                              uint32_t tcm)
{
    struct lp_op op = land(pe, seq, peer, bytes, in(LP_SPACE_TCM, tcm));
    op.kind = LP_OP_LOAD_FROM;
    return op;
}

/* The second loan of a number may be made before the first has been written: by another lender, or
 * to another PE of the cube. */
static void a_loan_is_bound_by_the_lender_and_written_by_the_loader(void **state)
{
    const struct fixture *f = *state;
    write_hbm(f, 5, 0, "one", 4);
    apply(f, lent(5, 1, 0, 4, hbm(0)));
    write_hbm(f, 5, 0, "two", 4);
    apply(f, lent(5, 1, 1, 4, hbm(0)));
    write_hbm(f, 6, 0, "six", 4);
    apply(f, lent(6, 1, 0, 4, hbm(0)));
    apply(f, load_from(0, 1, 6, 4, 100));
    apply(f, copy(0, 4, in(LP_SPACE_TCM, 100), hbm(0)));
    expect_hbm(f, 0, 0, "six", 4);
    apply(f, load_from(0, 1, 5, 4, 100));
    apply(f, copy(0, 4, in(LP_SPACE_TCM, 100), hbm(0)));
    expect_hbm(f, 0, 0, "one", 4);
    apply(f, load_from(1, 1, 5, 4, 8));
    apply(f, copy(1, 4, in(LP_SPACE_TCM, 8), hbm(0)));
    expect_hbm(f, 1, 0, "two", 4);
    refuse(f, load_from(1, 1, 5, 4, 8), "PE index 5 has lent nothing for it (1)");
    refuse(f, lent(5, 0, 1000000, 4, hbm(0)), "there are");
    refuse(f, load_from(5, 0, 1000000, 4, 0), "there are");
    refuse(f, lent(5, 0, 0, 4, hbm(MEMORY - 3)), "passes the memory's end at 1048576");
    apply(f, lent(5, 0, 0, 4, hbm(0)));
    refuse(f, load_from(0, 0, 5, 8, 0), "loan 0 of PE index 5 has 4 bytes");
    refuse(f, load_from(0, 0, 5, 4, MEMORY), "destination");
}

static void impossible_puts_are_refused(void **state)
{
    const struct fixture *f = *state;
    write_hbm(f, 0, 0, "one", 4);
    refuse(f, put(0, 1, 5, 4, hbm(0), hbm(0)), "put 1 is made, but 0 is next");
    refuse(f, put(0, 0, 8, 4, hbm(0), hbm(0)), "there are 8 PEs, not 8");
    refuse(f, land(5, 0, 0, 4, hbm(0)), "put 0 of PE index 0 has not been made");
    apply(f, put(0, 0, 5, 4, hbm(0), hbm(0)));
    refuse(f, land(5, 0, 0, 2, hbm(0)), "put 0 of PE index 0 has 4 bytes");
    refuse(f, land(5, 0, 0, 4, hbm(MEMORY - 2)), "passes the memory's end at 1048576");
    refuse(f, reducing(land(5, 0, 0, 4, hbm(0)), (enum lp_math)5, LP_F16), "operation 5");
    apply(f, land(5, 0, 0, 4, hbm(0)));
    refuse(f, land(5, 0, 0, 4, hbm(0)), "has landed before");
    refuse(f, (struct lp_op){.kind = LP_OP_NOTIFY, .peer = 9}, "not 9");
    apply(f, (struct lp_op){.kind = LP_OP_NOTIFY, .peer = 3, .dir = 2});
    apply(f, (struct lp_op){.kind = LP_OP_WAIT_NOTIFY, .pe = 3, .dir = 2});
}

/* A landing that reduces: each element is rounded once, NaN is canonical, -0 < +0. */
static void a_put_reduces_where_it_lands(void **state)
{
    const struct fixture *f = *state;
    /* f16: 1, -0, NaN with a payload, 65504; against 2^-11 + 2^-21, +0, 1, 65504 */
    const uint16_t old[4] = {0x3c00, 0x8000, 0xfe01, 0x7bff};
    const uint16_t value[4] = {0x1001, 0x0000, 0x3c00, 0x7bff};
    const uint16_t expected[5][4] = {
        {0},
        {0x3c01, 0x0000, 0x7e00, 0x7c00}, /* sum: above half a unit, rounds up; infinity */
        {0x3c00, 0x0000, 0x7e00, 0x7bff}, /* max */
        {0x1001, 0x8000, 0x7e00, 0x7bff}, /* min */
        {0x1001, 0x8000, 0x7e00, 0x7c00}, /* prod: -0 * +0 = -0 */
    };
    uint32_t seq = 0;
    for (enum lp_math math = LP_MATH_SUM; math <= LP_MATH_PROD; math++) {
        /* across the end of a page of the memory, at an odd address */
        const uint32_t at = 1024 * (8 + 2 * (uint32_t)math) - 3;
        write_hbm(f, 4, at, old, sizeof old);
        write_hbm(f, 1, 11, value, sizeof value);
        apply(f, reducing(put(1, seq, 4, 8, hbm(11), hbm(at)), math, LP_F16));
        apply(f, reducing(land(4, seq++, 1, 8, hbm(at)), math, LP_F16));
        expect_hbm(f, 4, at, expected[math], 8);
    }
    const float x[3] = {1.5f, -2.0f, 0.0f}, y[3] = {0.25f, 8.0f, -0.0f};
    const float sum[3] = {1.75f, 6.0f, 0.0f};
    write_hbm(f, 4, 0, x, sizeof x);
    write_hbm(f, 1, 0, y, sizeof y);
    apply(f, reducing(put(1, seq, 4, 12, hbm(0), hbm(0)), LP_MATH_SUM, LP_F32));
    apply(f, reducing(land(4, seq, 1, 12, hbm(0)), LP_MATH_SUM, LP_F32));
    expect_hbm(f, 4, 0, sum, sizeof sum);
}

/* ---- casts ---------------------------------------------------------------------------------- */

static struct lp_op cast(uint32_t bytes, struct lp_operand a, enum lp_dtype from,
                         struct lp_operand dst, enum lp_dtype to)
{
    return (struct lp_op){.kind = LP_OP_CAST,
                          .bytes = bytes,
                          .dtype = (uint8_t)from,
                          .math = (uint8_t)to,
                          .a = a,
                          .dst = dst};
}

static void a_cast_rounds_once_and_keeps_signs_of_zero(void **state)
{
    const struct fixture *f = *state;
    const uint32_t wide[6] = {0x3f800001, 0x80000000, 0xffc12345,
                              0x47800000, 0x3f808000, 0x3f818000};
    /* 1 + 2^-23, -0, a NaN, 65536, 1 + 2^-8 (a tie of bf16, to even), 1 + 3 * 2^-8 (likewise) */
    const uint16_t half[6] = {0x3c00, 0x8000, 0x7e00, 0x7c00, 0x3c04, 0x3c0c};
    const uint16_t bf16[6] = {0x3f80, 0x8000, 0x7fc0, 0x4780, 0x3f80, 0x3f82};
    write_hbm(f, 0, 0, wide, sizeof wide);
    apply(f, cast(24, hbm(0), LP_F32, hbm(100), LP_F16));
    apply(f, cast(24, hbm(0), LP_F32, hbm(200), LP_BF16));
    expect_hbm(f, 0, 100, half, sizeof half);
    expect_hbm(f, 0, 200, bf16, sizeof bf16);
    apply(f, cast(12, hbm(100), LP_F16, hbm(300), LP_BF16));
    const uint16_t through[6] = {0x3f80, 0x8000, 0x7fc0, 0x7f80, 0x3f80, 0x3f82};
    expect_hbm(f, 0, 300, through, sizeof through);
    refuse(f, cast(6, hbm(0), LP_F32, hbm(100), LP_F16), "f32 has 4 bytes");
    refuse(f, cast(8, hbm(0), LP_F32, hbm(100), (enum lp_dtype)9), "to dtype 9");
    refuse(f, cast(8, hbm(0), LP_F16, hbm(MEMORY - 8), LP_F32), "destination at 1048568, 16 bytes");
}

static void a_cast_over_its_own_source_reads_it_first(void **state)
{
    const struct fixture *f = *state;
    uint16_t half[5000];
    float wide[5000];
    for (uint32_t i = 0; i < 5000; i++) {
        half[i] = (uint16_t)(0x3c00 + i % 1024); /* 1 + (i % 1024) / 1024 */
        wide[i] = 1.0f + (float)(i % 1024) / 1024.0f;
    }
    write_hbm(f, 0, 1000, half, sizeof half);
    apply(f, cast(sizeof half, hbm(1000), LP_F16, hbm(1000), LP_F32));
    expect_hbm(f, 0, 1000, wide, sizeof wide);
    apply(f, cast(sizeof wide, hbm(1000), LP_F32, hbm(1002), LP_F16));
    expect_hbm(f, 0, 1002, half, sizeof half);
}

/* ---- matrix products ------------------------------------------------------------------------ */

static struct lp_op gemm(uint32_t rows, uint32_t cols, uint32_t inner, enum lp_dtype dtype,
                         struct lp_operand a, struct lp_operand b, struct lp_operand dst, bool add)
{
    return (struct lp_op){.kind = LP_OP_GEMM,
                          .bytes = rows * cols * (uint32_t)dtype_bytes((enum dtype)dtype),
                          .dtype = (uint8_t)dtype,
                          .math = add ? LP_MATH_SUM : 0,
                          .seq = rows,
                          .peer = inner,
                          .a = a,
                          .b = b,
                          .dst = dst};
}

static void a_product_is_summed_in_order_and_rounded_once(void **state)
{
    const struct fixture *f = *state;
    /* [1 2; 3 4] . [5 6; 7 8] */
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {19, 22, 43, 50};
    const float twice[4] = {38, 44, 86, 100};
    write_hbm(f, 0, 0, a, sizeof a);
    write_hbm(f, 0, 100, b, sizeof b);
    apply(f, gemm(2, 2, 2, LP_F32, hbm(0), hbm(100), hbm(200), false));
    expect_hbm(f, 0, 200, c, sizeof c);
    apply(f, gemm(2, 2, 2, LP_F32, hbm(0), hbm(100), hbm(200), true));
    expect_hbm(f, 0, 200, twice, sizeof twice);
    apply(f, gemm(2, 2, 2, LP_F32, hbm(0), hbm(100), hbm(0), false)); /* over a factor */
    expect_hbm(f, 0, 0, c, sizeof c);
    /* In this order 2^24 + 1 loses the 1, twice; from the other end it would not. */
    const float row[3] = {16777216.0f, 1.0f, 1.0f}, ones[3] = {1, 1, 1}, sum = 16777216.0f;
    write_hbm(f, 0, 0, row, sizeof row);
    write_hbm(f, 0, 100, ones, sizeof ones);
    apply(f, gemm(1, 1, 3, LP_F32, hbm(0), hbm(100), hbm(200), false));
    expect_hbm(f, 0, 200, &sum, sizeof sum);
    /* f16: 2048 + 1 + 1 in f32, rounded at the end: 2050; rounded each time it would be 2048. */
    const uint16_t half[3] = {0x6800, 0x3c00, 0x3c00}, one[3] = {0x3c00, 0x3c00, 0x3c00};
    const uint16_t rounded = 0x6801;
    write_hbm(f, 0, 0, half, sizeof half);
    write_hbm(f, 0, 100, one, sizeof one);
    apply(f, gemm(1, 1, 3, LP_F16, hbm(0), hbm(100), hbm(200), false));
    expect_hbm(f, 0, 200, &rounded, sizeof rounded);
    /* Nothing to sum: +0, or the value that was there. */
    const uint16_t zero = 0;
    apply(f, gemm(1, 1, 0, LP_F16, hbm(0), hbm(100), hbm(200), true));
    expect_hbm(f, 0, 200, &rounded, sizeof rounded);
    apply(f, gemm(1, 1, 0, LP_F16, hbm(0), hbm(100), hbm(200), false));
    expect_hbm(f, 0, 200, &zero, sizeof zero);
}

/* f16: 2048 + 1 + 1. Left in f32 after each product and rounded at the end: 2050. */
static void sums_left_in_f32_are_rounded_once(void **state)
{
    const struct fixture *f = *state;
    const uint16_t half[3] = {0x6800, 0x3c00, 0x3c00}, one = 0x3c00;
    const float two = 2049.0f, three = 2050.0f;
    const uint16_t rounded = 0x6801;
    write_hbm(f, 0, 0, half, sizeof half);
    write_hbm(f, 0, 100, &one, sizeof one);
    for (uint32_t i = 0; i < 3; i++) {
        struct lp_op op = gemm(1, 1, 1, LP_F16, hbm(2 * i), hbm(100), hbm(200), i > 0);
        op.dir = (i > 0 ? LP_SUMS_FROM_F32 : 0) | (i < 2 ? LP_SUMS_TO_F32 : 0);
        op.bytes = i < 2 ? 4 : 2;
        apply(f, op);
        if (i == 1)
            expect_hbm(f, 0, 200, &two, sizeof two);
    }
    expect_hbm(f, 0, 200, &rounded, sizeof rounded);
    /* and with all 3 in f32, without a rounding at the end */
    struct lp_op op = gemm(1, 1, 3, LP_F16, hbm(0), hbm(300), hbm(400), false);
    const uint16_t ones[3] = {0x3c00, 0x3c00, 0x3c00};
    write_hbm(f, 0, 300, ones, sizeof ones);
    op.dir = LP_SUMS_TO_F32;
    op.bytes = 4;
    apply(f, op);
    expect_hbm(f, 0, 400, &three, sizeof three);
}

/* In place, wider and narrower than a block of the data pass, to types of half and a quarter. */
static void wide_sums_are_narrowed_in_place(void **state)
{
    const struct fixture *f = *state;
    enum { ROWS = 5, COLS = 1100 };
    static float sums[ROWS * COLS], result[ROWS * COLS];
    static uint8_t raw[ROWS * COLS * 4];
    static const enum dtype dtypes[] = {DTYPE_F16, DTYPE_FP8_E5M2, DTYPE_F32};
    for (uint32_t cols = 3; cols <= COLS; cols += 1097)
        for (size_t d = 0; d < 3; d++) {
            const size_t itemsize = dtype_bytes(dtypes[d]);
            float one = 1;
            for (uint32_t i = 0; i < ROWS * cols; i++) {
                sums[i] = (float)(i % 1021) / 8;
                result[i] = sums[i] + (float)(i / cols) * (float)(1u << i % cols % 4);
            }
            for (uint32_t i = 0; i < ROWS; i++) { /* A: 0 .. 4; B: 1, 2, 4, 8, and again */
                one = (float)i;
                dtype_from_f32(dtypes[d], raw, &one, 1);
                write_hbm(f, 0, i * itemsize, raw, itemsize);
            }
            for (uint32_t i = 0; i < cols; i++) {
                one = (float)(1u << i % 4);
                dtype_from_f32(dtypes[d], raw + i * itemsize, &one, 1);
            }
            write_hbm(f, 0, 100, raw, cols * itemsize);
            write_hbm(f, 0, 20000, sums, ROWS * cols * sizeof(float));
            struct lp_op op =
                gemm(ROWS, cols, 1, (enum lp_dtype)dtypes[d], hbm(0), hbm(100), hbm(20000), true);
            op.dir = LP_SUMS_FROM_F32;
            apply(f, op);
            dtype_from_f32(dtypes[d], raw, result, (size_t)ROWS * cols);
            expect_hbm(f, 0, 20000, raw, ROWS * cols * itemsize);
        }
}

static void large_products_agree_with_plain_loops(void **state)
{
    const struct fixture *f = *state;
    const uint32_t shape[4][3] = {{1, 1, 1}, {33, 7, 65}, {40, 1030, 70}, {3, 2049, 1}};
    uint64_t seed = 1;
    for (uint32_t n = 0; n < 8; n++) {
        const uint32_t rows = shape[n % 4][0], cols = shape[n % 4][1], inner = shape[n % 4][2];
        const enum dtype dtype = n < 4 ? DTYPE_BF16 : DTYPE_F32;
        const size_t itemsize = dtype_bytes(dtype);
        float *a = calloc((size_t)rows * inner, 4), *b = calloc((size_t)inner * cols, 4);
        float *c = calloc((size_t)rows * cols, 4);
        uint8_t *raw = malloc((size_t)MEMORY);
        for (uint32_t i = 0; i < rows * inner; i++)
            a[i] =
                (float)((seed = seed * 6364136223846793005u + 1) >> 56) - 128; /* exact in bf16 */
        for (uint32_t i = 0; i < inner * cols; i++)
            b[i] = ((float)((seed = seed * 6364136223846793005u + 1) >> 56) - 128) / 256;
        for (uint32_t i = 0; i < rows; i++)
            for (uint32_t j = 0; j < cols; j++)
                for (uint32_t k = 0; k < inner; k++)
                    c[i * cols + j] += a[i * inner + k] * b[k * cols + j];
        dtype_from_f32(dtype, raw, a, (size_t)rows * inner);
        write_hbm(f, 0, 1, raw, rows * inner * itemsize);
        dtype_from_f32(dtype, raw, b, (size_t)inner * cols);
        write_hbm(f, 0, 200003, raw, inner * cols * itemsize);
        dtype_from_f32(dtype, raw, c, (size_t)rows * cols);
        apply(f, gemm(rows, cols, inner, (enum lp_dtype)dtype, hbm(1), hbm(200003), hbm(600001),
                      false));
        expect_hbm(f, 0, 600001, raw, rows * cols * itemsize);
        free(a);
        free(b);
        free(c);
        free(raw);
    }
}

static void impossible_products_are_refused(void **state)
{
    const struct fixture *f = *state;
    struct lp_op op = gemm(2, 2, 2, LP_F16, hbm(0), hbm(0), hbm(100), false);
    op.seq = 0;
    refuse(f, op, "0 rows");
    op.seq = 3;
    refuse(f, op, "3 rows");
    op.seq = 2;
    op.peer = UINT32_MAX;
    refuse(f, op, "at most 4 GiB");
    op = gemm(16384, 16384, 16384, LP_F16, hbm(0), hbm(0), hbm(100), false);
    refuse(f, op, "16384 x 16384 x 16384 products; at most 2^37 at once");
    op = gemm(2, 2, 300000, LP_F16, hbm(0), hbm(0), hbm(100), false);
    refuse(f, op, "source at 0, 1200000 bytes, passes");
    op.peer = 2;
    op.math = LP_MATH_MAX;
    refuse(f, op, "operation 2");
    op.math = 0;
    op.dir = LP_SUMS_FROM_F32;
    refuse(f, op, "sums 1, operation 0");
    op.dir = LP_SUMS_TO_F32;
    op.math = LP_MATH_SUM;
    refuse(f, op, "sums 2, operation 1");
    op.dir = 4;
    refuse(f, op, "sums 4, operation 1");
    op.dir = 0;
    op.dtype = 0;
    refuse(f, op, "dtype 0");
}

#define WITH_PASS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PASS(a_copy_goes_from_any_memory_to_any),
        WITH_PASS(a_receive_may_copy_its_tile),
        WITH_PASS(a_put_binds_its_value_and_lands_later_in_any_order),
        WITH_PASS(a_raw_store_writes_its_peers_memories),
        WITH_PASS(a_loan_is_bound_by_the_lender_and_written_by_the_loader),
        WITH_PASS(impossible_puts_are_refused),
        WITH_PASS(a_put_reduces_where_it_lands),
        WITH_PASS(a_cast_rounds_once_and_keeps_signs_of_zero),
        WITH_PASS(a_cast_over_its_own_source_reads_it_first),
        WITH_PASS(a_product_is_summed_in_order_and_rounded_once),
        WITH_PASS(sums_left_in_f32_are_rounded_once),
        WITH_PASS(wide_sums_are_narrowed_in_place),
        WITH_PASS(large_products_agree_with_plain_loops),
        WITH_PASS(impossible_products_are_refused),
    };
    return cmocka_run_group_tests_name("data_kinds", tests, NULL, NULL);
}
