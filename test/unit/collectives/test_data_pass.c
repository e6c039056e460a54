/*
 * test_data_pass.c: data operations, one by one by hand, and at random against a model that copies
 * everything and is slow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "collectives/data/data_pass.h"
#include "collectives/data/input.h"

enum { TCM = 8192, SRAM = 16384, HBM = 32768, PES = 8, CUBES = 4, SIPS = 2 };
enum { PE_COUNT = SIPS * CUBES * PES };

static void machine(struct hw_config *hw)
{
    memset(hw, 0, sizeof *hw);
    hw->sip_count = SIPS;
    hw->cube_w = hw->cube_h = 2;
    hw->pe_per_corner = 2;
    hw->corner_count = 4;
    hw->tcm_bytes = TCM;
    hw->sram_bytes = SRAM;
    hw->hbm_bytes = HBM;
}

struct fixture {
    struct hw_config hw;
    struct data_pass *pass;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    machine(&f->hw);
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

/* ---- records -------------------------------------------------------------------------------- */

static struct lp_operand in(enum lp_space space, uint32_t at)
{
    return (struct lp_operand){.space = (uint8_t)space, .at = at};
}
static struct lp_operand tile(uint8_t dir, uint32_t seq, bool last)
{
    return (struct lp_operand){
        .space = LP_SPACE_TILE, .dir = dir, .at = seq, .flags = last ? LP_LAST_USE : 0};
}
static struct lp_op move(enum lp_op_kind kind, uint32_t pe, uint32_t bytes, struct lp_operand a,
                         struct lp_operand dst)
{
    return (struct lp_op){.kind = (uint8_t)kind, .pe = pe, .bytes = bytes, .a = a, .dst = dst};
}
static struct lp_op send(uint32_t pe, uint32_t bytes, struct lp_operand a, uint32_t peer,
                         uint8_t peer_dir, uint32_t seq)
{
    return (struct lp_op){.kind = LP_OP_SEND,
                          .pe = pe,
                          .bytes = bytes,
                          .a = a,
                          .peer = peer,
                          .peer_dir = peer_dir,
                          .seq = seq};
}
static struct lp_op receive(uint32_t pe, uint8_t dir, uint32_t seq, uint32_t bytes)
{
    return (struct lp_op){.kind = LP_OP_RECV, .pe = pe, .dir = dir, .seq = seq, .bytes = bytes};
}
static struct lp_op sum(uint32_t pe, uint32_t bytes, struct lp_operand a, struct lp_operand b,
                        struct lp_operand dst)
{
    return (struct lp_op){.kind = LP_OP_MATH,
                          .math = LP_MATH_SUM,
                          .dtype = LP_F32,
                          .pe = pe,
                          .bytes = bytes,
                          .a = a,
                          .b = b,
                          .dst = dst};
}

static void apply(const struct fixture *f, struct lp_op op)
{
    struct cw_error error = {0};
    if (data_pass_apply(f->pass, &op, &error))
        fail_msg("%s", error.text);
}

static void refuse(const struct fixture *f, struct lp_op op, const char *part)
{
    struct cw_error error = {0};
    assert_int_equal(data_pass_apply(f->pass, &op, &error), CW_BUG);
    assert_int_equal(error.exit_code, CW_BUG);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void write_hbm(const struct fixture *f, uint32_t pe, uint32_t at, const char *text)
{
    struct cw_error error;
    assert_int_equal(data_pass_write(f->pass, pe, at, text, strlen(text) + 1, &error), CW_OK);
}

static void expect_hbm(const struct fixture *f, uint32_t pe, uint32_t at, const char *text)
{
    char bytes[64];
    data_pass_read(f->pass, pe, at, bytes, strlen(text) + 1);
    assert_string_equal(bytes, text);
}

/* ---- by hand -------------------------------------------------------------------------------- */

static void moves_go_between_the_memories_of_the_pe_and_its_cube(void **state)
{
    const struct fixture *f = *state;
    write_hbm(f, 9, 100, "payload");
    apply(f, move(LP_OP_LOAD, 9, 8, in(LP_SPACE_HBM, 100), in(LP_SPACE_TCM, 40)));
    apply(f, move(LP_OP_STORE, 9, 8, in(LP_SPACE_TCM, 40), in(LP_SPACE_SRAM, 16)));
    apply(f, move(LP_OP_COPY, 15, 8, in(LP_SPACE_SRAM, 16), in(LP_SPACE_HBM, 0)));
    expect_hbm(f, 15, 0, "payload"); /* PE 15 shares its cube's SRAM with PE 9 */
    apply(f, move(LP_OP_COPY, 16, 8, in(LP_SPACE_SRAM, 16), in(LP_SPACE_HBM, 0)));
    expect_hbm(f, 16, 0, ""); /* PE 16 is in the next cube */
    apply(f, move(LP_OP_COPY, 8, 8, in(LP_SPACE_TCM, 40), in(LP_SPACE_HBM, 0)));
    expect_hbm(f, 8, 0, ""); /* each PE has its own TCM */
}

static void a_send_binds_the_value_of_its_source(void **state)
{
    const struct fixture *f = *state;
    write_hbm(f, 0, 0, "before");
    apply(f, send(0, 7, in(LP_SPACE_HBM, 0), 3, 5, 0));
    write_hbm(f, 0, 0, "after!");
    apply(f, receive(3, 5, 0, 7));
    apply(f, move(LP_OP_STORE, 3, 7, tile(5, 0, false), in(LP_SPACE_HBM, 0)));
    apply(f, move(LP_OP_STORE, 3, 7, tile(5, 0, true), in(LP_SPACE_HBM, 50)));
    expect_hbm(f, 3, 0, "before");
    expect_hbm(f, 3, 50, "before");
    assert_int_equal(data_pass_tiles(f->pass), 0);
    refuse(f, move(LP_OP_STORE, 3, 7, tile(5, 0, false), in(LP_SPACE_HBM, 0)),
           "PE 0.0.3: store of 7 bytes: source is tile 0 of direction 5");
}

/* I-TILE-2: a buffer that has been sent never changes. */
static void a_forwarded_tile_keeps_its_value_when_the_first_name_is_gone(void **state)
{
    const struct fixture *f = *state;
    write_hbm(f, 0, 0, "ring");
    apply(f, send(0, 8192, in(LP_SPACE_HBM, 0), 1, 2, 0));
    const uint64_t bytes = data_pass_bytes(f->pass);
    for (uint32_t pe = 1; pe < 40; pe++)
        apply(f, send(pe, 8192, tile(2, 0, true), pe + 1, 2, 0));
    assert_int_equal(data_pass_tiles(f->pass), 1);
    /* no copy was made: the added bytes are queues */
    assert_in_range(data_pass_bytes(f->pass), bytes, bytes + 39 * 256);
    apply(f, move(LP_OP_STORE, 40, 5, tile(2, 0, true), in(LP_SPACE_HBM, 8)));
    expect_hbm(f, 40, 8, "ring");
}

static void a_kernels_end_drops_what_it_received_and_keeps_the_rest(void **state)
{
    const struct fixture *f = *state;
    for (uint32_t seq = 0; seq < 20; seq++) {
        char text[8] = {(char)('a' + seq)};
        write_hbm(f, 0, 0, text);
        apply(f, send(0, 8, in(LP_SPACE_HBM, 0), 3, 5, seq));
    }
    apply(f, send(0, 8, in(LP_SPACE_HBM, 0), 4, 5, 0));
    for (uint32_t seq = 0; seq < 15; seq++)
        apply(f, receive(3, 5, seq, 8));
    apply(f, receive(4, 5, 0, 8));
    apply(f, move(LP_OP_STORE, 3, 2, tile(5, 4, true), in(LP_SPACE_HBM, 0)));
    data_pass_end_kernel(f->pass, 3);
    assert_int_equal(data_pass_tiles(f->pass), 6);
    refuse(f, move(LP_OP_STORE, 3, 2, tile(5, 14, false), in(LP_SPACE_HBM, 0)), "kernel ended");
    refuse(f, receive(3, 5, 3, 8), "dropped");
    apply(f, receive(3, 5, 15, 8));
    apply(f, move(LP_OP_STORE, 3, 2, tile(5, 15, true), in(LP_SPACE_HBM, 0)));
    expect_hbm(f, 3, 0, "p");
    apply(f, move(LP_OP_STORE, 4, 2, tile(5, 0, true), in(LP_SPACE_HBM, 0)));
    expect_hbm(f, 4, 0, "t");
}

static void an_operand_is_read_before_anything_is_written(void **state)
{
    const struct fixture *f = *state;
    float x[5] = {1, 2, 4, 8, 16};
    struct cw_error error;
    data_pass_write(f->pass, 0, 0, x, sizeof x, &error);
    apply(f, sum(0, 16, in(LP_SPACE_HBM, 0), in(LP_SPACE_HBM, 4), in(LP_SPACE_HBM, 4)));
    const float shifted[5] = {1, 3, 6, 12, 24};
    data_pass_read(f->pass, 0, 0, x, sizeof x);
    assert_memory_equal(x, shifted, sizeof x);
    apply(f, move(LP_OP_COPY, 0, 16, in(LP_SPACE_HBM, 0), in(LP_SPACE_HBM, 4)));
    const float moved[5] = {1, 1, 3, 6, 12};
    data_pass_read(f->pass, 0, 0, x, sizeof x);
    assert_memory_equal(x, moved, sizeof x);
}

/* I-TILE-1: a tile out of its turn is refused. */
static void impossible_records_are_refused_and_change_nothing(void **state)
{
    const struct fixture *f = *state;
    const struct lp_operand tcm = in(LP_SPACE_TCM, 0), none = {0};
    write_hbm(f, 0, 0, "x");
    const uint64_t digest = data_pass_digest(f->pass);
    struct lp_op op = sum(0, 8, tcm, tcm, tcm);
    op.dtype = 9;
    refuse(f, op, "dtype 9");
    op = sum(0, 6, tcm, tcm, tcm);
    refuse(f, op, "f32 has 4 bytes");
    op = sum(0, 8, tcm, none, tcm);
    refuse(f, op, "second source is in space 0");
    op = sum(0, 8, tcm, tcm, tile(0, 0, false));
    refuse(f, op, "destination is in space 4");
    refuse(f, move(LP_OP_LOAD, PE_COUNT, 8, tcm, tcm), "64 PEs");
    refuse(f, send(0, 8, tcm, PE_COUNT, 0, 0), "64 PEs");
    refuse(f, move(LP_OP_LOAD, 0, 8, in(LP_SPACE_HBM, HBM - 7), tcm), "end at 32768");
    refuse(f, move(LP_OP_LOAD, 0, UINT32_MAX, in(LP_SPACE_HBM, UINT32_MAX), tcm), "end at");
    refuse(f, move(LP_OP_LOAD, 0, 8, in(LP_SPACE_HBM, 0), in(LP_SPACE_TCM, TCM)), "destination");
    refuse(f, move((enum lp_op_kind)63, 0, 8, tcm, tcm), "kind 63");
    refuse(f, move(LP_OP_LOAD, 0, 8, tile(3, 0, false), tcm), "tile 0 of direction 3");
    refuse(f, send(0, 8, tcm, 1, 2, 1), "but 0 is next");
    apply(f, send(0, 8, tcm, 1, 2, 0));
    refuse(f, move(LP_OP_STORE, 1, 9, tile(2, 0, true), in(LP_SPACE_HBM, 0)), "of 8 bytes");
    refuse(f, receive(1, 2, 1, 0), "has not been sent");
    refuse(f, receive(1, 2, UINT32_MAX, 0), "tile 4294967295");
    assert_int_equal(data_pass_tiles(f->pass), 1);
    assert_int_equal(data_pass_digest(f->pass), digest);
    apply(f, move(LP_OP_LOAD, 0, 8, in(LP_SPACE_HBM, HBM - 8), in(LP_SPACE_TCM, TCM - 8)));
}

static void storage_ends_with_a_message(void **state)
{
    (void)state;
    struct fixture f;
    struct cw_error error = {0};
    machine(&f.hw);
    f.hw.hbm_bytes = 1 << 30;
    f.pass = data_pass_create(&f.hw, 4 << 20, 1);
    uint32_t seq = 0;
    for (; seq < 100000; seq++) {
        const struct lp_op op = send(0, 4096, in(LP_SPACE_HBM, 0), 1, 0, seq);
        if (data_pass_apply(f.pass, &op, &error))
            break;
    }
    assert_in_range(seq, 500, 1024);
    assert_int_equal(error.exit_code, CW_NO_RESOURCE);
    assert_non_null(strstr(error.text, "4194304"));
    int code = CW_OK;
    for (uint32_t at = 0; !code && at < 1 << 30; at += 4096)
        code = data_pass_write(f.pass, 0, at, "once", 4, &error);
    assert_int_equal(code, CW_NO_RESOURCE);
    assert_true(data_pass_bytes(f.pass) <= 4 << 20);
    data_pass_free(f.pass);
}

/* ---- the host ------------------------------------------------------------------------------- */

static void the_host_fills_reads_and_hashes_ranges(void **state)
{
    const struct fixture *f = *state;
    struct cw_error error;
    uint16_t mine[2 * 3001];
    for (uint32_t i = 0; i < 2; i++) {
        const int code = data_pass_fill_input(f->pass, i * 8, 11 + i, DTYPE_BF16, 5,
                                              input_first(1, 2, i, 3001), 3001, &error);
        assert_int_equal(code, CW_OK);
    }
    input_fill(DTYPE_BF16, 5, 2 * 3001, mine, 2 * 3001);
    const struct sparse_range ranges[2] = {data_pass_range(f->pass, 0, 11, 6002),
                                           data_pass_range(f->pass, 8, 12, 6002)};
    assert_int_equal(data_pass_hash(f->pass, ranges, 2, NULL), XXH3_64bits(mine, sizeof mine));
    uint16_t part[100];
    data_pass_read(f->pass, 8, 12 + 2 * 2000, part, sizeof part);
    assert_memory_equal(part, mine + 3001 + 2000, sizeof part);
    assert_int_equal(data_pass_fill(f->pass, 8, 12, DTYPE_BF16, 1.0f, 2500, &error), CW_OK);
    for (size_t i = 0; i < 2500; i++)
        mine[3001 + i] = 0x3f80;
    assert_int_equal(data_pass_hash(f->pass, ranges, 2, NULL), XXH3_64bits(mine, sizeof mine));
    assert_true(data_pass_in_hbm(f->pass, 0, HBM, 0));
    assert_true(data_pass_in_hbm(f->pass, PE_COUNT - 1, HBM - 1, 1));
    assert_false(data_pass_in_hbm(f->pass, 0, HBM - 1, 2));
    assert_false(data_pass_in_hbm(f->pass, PE_COUNT, 0, 1));
    assert_false(data_pass_in_hbm(f->pass, 0, UINT64_MAX, 2));
}

/* ---- at random ------------------------------------------------------------------------------ */

/* The slow model: memories as arrays, tiles as copies that live for ever. */
struct model {
    uint8_t tcm[PE_COUNT][TCM], hbm[PE_COUNT][HBM], sram[PE_COUNT / PES][SRAM];
    struct {
        uint8_t bytes[64][1024];
        uint32_t length[64];
        bool dropped[64];
        uint32_t sent;
    } queue[PE_COUNT][2];
};

static uint64_t next(uint64_t *s)
{
    *s += 0x9e3779b97f4a7c15u;
    uint64_t z = *s;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint8_t *model_bytes(struct model *m, uint32_t pe, struct lp_operand operand)
{
    switch (operand.space) {
    case LP_SPACE_TCM:
        return m->tcm[pe] + operand.at;
    case LP_SPACE_HBM:
        return m->hbm[pe] + operand.at;
    case LP_SPACE_SRAM:
        return m->sram[pe / PES] + operand.at;
    default:
        return m->queue[pe][operand.dir].bytes[operand.at];
    }
}

/* Memory, often near where it was before and often at odd places; or, if asked, a live tile. */
static struct lp_operand random_operand(struct model *m, uint64_t *seed, uint32_t pe,
                                        uint32_t bytes, bool tiles)
{
    const uint64_t r = next(seed);
    const uint8_t dir = r >> 8 & 1;
    const uint32_t sent = m->queue[pe][dir].sent;
    if (tiles && (r & 1) && sent) {
        const uint32_t seq = (uint32_t)(r >> 16) % sent;
        if (!m->queue[pe][dir].dropped[seq] && m->queue[pe][dir].length[seq] >= bytes) {
            const bool last = r & 2;
            m->queue[pe][dir].dropped[seq] = last;
            return tile(dir, seq, last);
        }
    }
    const enum lp_space space = (enum lp_space)(LP_SPACE_TCM + (r >> 4) % 3);
    const uint32_t at = r & 4 ? (uint32_t)(r >> 32) % (TCM - bytes) : (uint32_t)(r >> 32) % 64;
    return in(space, r & 8 ? at & ~3u : at);
}

static void model_apply(struct model *m, const struct lp_op *op)
{
    uint8_t a[1024], b[1024], result[1024];
    memcpy(a, model_bytes(m, op->pe, op->a), op->bytes);
    if (op->kind == LP_OP_SEND) {
        memcpy(m->queue[op->peer][op->peer_dir].bytes[op->seq], a, op->bytes);
        m->queue[op->peer][op->peer_dir].length[op->seq] = op->bytes;
        m->queue[op->peer][op->peer_dir].sent++;
        return;
    }
    if (op->kind == LP_OP_MATH) {
        memcpy(b, model_bytes(m, op->pe, op->b), op->bytes);
        dtype_reduce((enum dtype)op->dtype, (enum redop)op->math, result, a, b,
                     op->bytes / dtype_bytes((enum dtype)op->dtype));
        memcpy(a, result, op->bytes);
    }
    memcpy(model_bytes(m, op->pe, op->dst), a, op->bytes);
}

static struct lp_op random_op(struct model *m, uint64_t *seed)
{
    const uint64_t r = next(seed);
    const uint32_t pe = (uint32_t)(r >> 40) % PE_COUNT;
    struct lp_op op = {.pe = pe,
                       .dtype = (uint8_t)(LP_F16 + (r >> 8) % 3),
                       .math = (uint8_t)(LP_MATH_SUM + (r >> 10) % 4)};
    op.bytes = (uint32_t)(r >> 16) % (r & 64 ? 1024 : 24);
    const uint32_t peer = (uint32_t)(r >> 50) % PE_COUNT;
    const uint8_t peer_dir = r >> 7 & 1;
    if ((r & 3) == 0 && m->queue[peer][peer_dir].sent < 64) {
        op.kind = LP_OP_SEND;
        op.math = 0;
        op.peer = peer;
        op.peer_dir = peer_dir;
        op.seq = m->queue[peer][peer_dir].sent;
        op.a = random_operand(m, seed, pe, op.bytes, true);
        return op;
    }
    op.kind = r & 4 ? LP_OP_MATH : LP_OP_COPY;
    if (op.kind == LP_OP_MATH) {
        op.bytes -= op.bytes % (uint32_t)dtype_bytes((enum dtype)op.dtype);
        op.b = random_operand(m, seed, pe, op.bytes, false);
    }
    op.a = random_operand(m, seed, pe, op.bytes, true);
    op.dst = random_operand(m, seed, pe, op.bytes, false);
    if (r & 16)
        op.dst = op.a.space == LP_SPACE_TILE ? op.dst : op.a; /* in place */
    return op;
}

static void random_operations_do_what_the_slow_model_does(void **state)
{
    const struct fixture *f = *state;
    struct model *m = calloc(1, sizeof *m);
    uint64_t seed = 3;
    uint8_t *hbm = malloc(HBM);
    for (int i = 0; i < 30000; i++) {
        const struct lp_op op = random_op(m, &seed);
        if (i < 2000) { /* something to work on */
            uint8_t bytes[64];
            struct cw_error error;
            const uint32_t at = (uint32_t)next(&seed) % (TCM - 64);
            for (size_t k = 0; k < sizeof bytes; k++)
                bytes[k] = (uint8_t)next(&seed);
            memcpy(m->hbm[op.pe] + at, bytes, sizeof bytes);
            assert_int_equal(data_pass_write(f->pass, op.pe, at, bytes, sizeof bytes, &error), 0);
        }
        apply(f, op);
        model_apply(m, &op);
    }
    for (uint32_t pe = 0; pe < PE_COUNT; pe++) {
        for (uint32_t k = 0; k < 3; k++) { /* all memories, through HBM */
            if (k == 1)
                apply(f, move(LP_OP_STORE, pe, TCM, in(LP_SPACE_TCM, 0), in(LP_SPACE_HBM, 0)));
            if (k == 2)
                apply(f, move(LP_OP_STORE, pe, SRAM, in(LP_SPACE_SRAM, 0), in(LP_SPACE_HBM, 0)));
            const uint8_t *mine = k == 0 ? m->hbm[pe] : k == 1 ? m->tcm[pe] : m->sram[pe / PES];
            const size_t bytes = k == 0 ? HBM : k == 1 ? TCM : SRAM;
            data_pass_read(f->pass, pe, 0, hbm, bytes);
            assert_memory_equal(hbm, mine, bytes);
        }
    }
    free(hbm);
    free(m);
}

static void equal_operations_leave_equal_digests(void **state)
{
    const struct fixture *f = *state;
    struct fixture g = {.pass = data_pass_create(&f->hw, 0, 1)};
    struct model *m = calloc(1, sizeof *m);
    uint64_t seed = 4;
    write_hbm(f, 0, 0, "seed");
    write_hbm(&g, 0, 0, "seed");
    for (int i = 0; i < 2000; i++) {
        const struct lp_op op = random_op(m, &seed);
        apply(f, op);
        apply(&g, op);
        model_apply(m, &op);
    }
    assert_int_equal(data_pass_digest(f->pass), data_pass_digest(g.pass));
    write_hbm(f, 1, 77, "other");
    assert_int_not_equal(data_pass_digest(f->pass), data_pass_digest(g.pass));
    data_pass_free(g.pass);
    data_pass_free(NULL);
    free(m);
}

#define WITH_PASS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PASS(moves_go_between_the_memories_of_the_pe_and_its_cube),
        WITH_PASS(a_send_binds_the_value_of_its_source),
        WITH_PASS(a_forwarded_tile_keeps_its_value_when_the_first_name_is_gone),
        WITH_PASS(a_kernels_end_drops_what_it_received_and_keeps_the_rest),
        WITH_PASS(an_operand_is_read_before_anything_is_written),
        WITH_PASS(impossible_records_are_refused_and_change_nothing),
        cmocka_unit_test(storage_ends_with_a_message),
        WITH_PASS(the_host_fills_reads_and_hashes_ranges),
        WITH_PASS(random_operations_do_what_the_slow_model_does),
        WITH_PASS(equal_operations_leave_equal_digests),
    };
    return cmocka_run_group_tests_name("data_pass", tests, NULL, NULL);
}
