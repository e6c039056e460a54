/*
 * test_lp_tiles.c: the type and the shape of a tile, as each call on queues names them, and the
 * source of a receive, in the records (lp/QUEUES.md, "Kernel API", "Op log and the two passes").
 */
#include "test/support/test_lp_support.h"

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W
#define TYPED(call_, n_, dtype_, ...)                                                              \
    {                                                                                              \
        .call = (call_), .dir = W, .n = (n_), .dtype = (dtype_), .dim = { __VA_ARGS__ }            \
    }

static void expect_tile(const struct lp_op *op, uint32_t dtype, uint32_t dims, uint32_t first,
                        uint32_t second)
{
    assert_int_equal(op->dtype, dtype);
    assert_int_equal(op->dims, dims);
    assert_int_equal(op->dim[0], first);
    assert_int_equal(op->dim[1], second);
}

static void a_tile_has_the_launch_s_type_and_one_dimension(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 64), SEND(E, 0), DONE}},
        {1, (const struct line[]){RECV(W, 64), RECV_ANY(0), DONE}});
    expect_tile(nth(m, 0, LP_OP_SEND, 0), LP_F16, 1, 32, 0);
    expect_tile(nth(m, 1, LP_OP_RECV, 0), LP_F16, 1, 32, 0);
    expect_tile(nth(m, 0, LP_OP_SEND, 1), LP_F16, 1, 0, 0);
    machine_free(m);
}

static void each_call_names_type_and_shape(void **state)
{
    (void)state;
    static const struct line send_one = {
        .call = DO_SEND, .dir = E, .n = 96, .dtype = LP_F32, .dim = {2, 3, 4}};
    const struct line sends[] = {send_one, send_one, send_one, send_one, send_one, DONE};
    struct line all = TYPED(DO_RECV_ALL, 96, LP_F32, 2, 3, 4);
    struct line into = TYPED(DO_RECV_INTO, 96, LP_F32, 2, 3, 4);
    all.at = 1u << W;
    into.dst = (struct lp_operand)TCM(4096);
    const struct line receives[] = {TYPED(DO_RECV, 96, LP_F32, 2, 3, 4),
                                    TYPED(DO_RECV_ANY, 96, LP_F32, 2, 3, 4),
                                    all,
                                    into,
                                    TYPED(DO_RECV_ASYNC, 96, LP_F32, 2, 3, 4),
                                    TYPED(DO_WAIT, 96, LP_F32, 2, 3, 4),
                                    DONE};
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = small_machine(1, 1, 1);
        m->config.slots = slots;
        machine_start(m);
        RUN(m, {0, sends}, {1, receives});
        for (uint32_t i = 0; i < 5; i++) {
            expect_tile(nth(m, 0, LP_OP_SEND, i), LP_F32, 3, 2, 3);
            expect_tile(nth(m, 1, LP_OP_RECV, i), LP_F32, 3, 2, 3);
        }
        machine_free(m);
    }
}

#define CAST_TO(tcm, to_)                                                                          \
    {                                                                                              \
        .call = DO_CAST, .n = 64, .at = LP_F16, .to = (to_), .index = (tcm)                        \
    }

/* A PE carries out these lines' sends, in a launch of f16; their tiles' types and elements. */
static void expect_sent(const struct line *script, const uint32_t (*expected)[2])
{
    struct line receives[12] = {DONE};
    uint32_t sends = 0;
    for (uint32_t i = 0; script[i].call != END; i++)
        if (script[i].call == DO_SEND || script[i].call == DO_SEND_FROM)
            receives[sends++] = (struct line)RECV(W, script[i].n);
    receives[sends] = (struct line)DONE;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, script}, {1, receives});
    for (uint32_t i = 0; i < sends; i++)
        expect_tile(nth(m, 0, LP_OP_SEND, i), expected[i][0], 1, expected[i][1], 0);
    machine_free(m);
}

static void a_cast_tile_is_sent_as_its_own_type(void **state)
{
    (void)state;
    expect_sent((const struct line[]){CAST_TO(0, LP_F32), SEND(E, 256), SEND_FROM(E, TCM(128), 128),
                                      SEND_FROM(E, TCM(128), 130), SEND_FROM(E, TCM(4096), 64),
                                      DONE},
                (const uint32_t[][2]){{LP_F32, 64}, {LP_F32, 32}, {LP_F16, 65}, {LP_F16, 32}});
    /* runs: 0 to 512, 4096 to 4352; then another, and the oldest is forgotten */
    expect_sent((const struct line[]){CAST_TO(0, LP_F32), CAST_TO(256, LP_F32),
                                      CAST_TO(4096, LP_F32), SEND(E, 512),
                                      SEND_FROM(E, TCM(4096), 256), CAST_TO(8192, LP_BF16),
                                      SEND_FROM(E, TCM(8192), 128), SEND_FROM(E, TCM(4096), 256),
                                      SEND(E, 512), DONE},
                (const uint32_t[][2]){
                    {LP_F32, 128}, {LP_F32, 64}, {LP_BF16, 64}, {LP_F32, 64}, {LP_F16, 256}});
    /* the launch's own type, and the name that a send gives, come first */
    expect_sent((const struct line[]){CAST_TO(0, LP_F32),
                                      CAST_TO(0, LP_F16),
                                      SEND(E, 128),
                                      CAST_TO(0, LP_F32),
                                      {.call = DO_SEND, .dir = E, .n = 64, .dtype = LP_BF16},
                                      {.call = DO_SEND, .dir = E, .n = 64, .dim = {16}},
                                      DONE},
                (const uint32_t[][2]){{LP_F16, 64}, {LP_BF16, 32}, {LP_F32, 16}});
}

/* A cast in TCM is over when a load, an addition, a product or a receive writes there. */
static void what_is_written_over_a_cast_is_of_the_launch_s_type(void **state)
{
    (void)state;
    static const struct line over[] = {LOAD(TENSOR_VA, 16),
                                       ADD(8),
                                       {.call = DO_DOT, .n = 2, .to = 2, .at = 2},
                                       CAST_TO(0, LP_BF16)};
    for (uint32_t i = 0; i < COUNT_OF(over); i++)
        expect_sent((const struct line[]){CAST_TO(0, LP_F32), over[i], SEND(E, 256), DONE},
                    (const uint32_t[][2]){{LP_F16, 128}});
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m,
        {0, (const struct line[]){CAST_TO(0, LP_F32), RECV_INTO(E, 4, TCM(0)), SEND(E, 256), DONE}},
        {1, (const struct line[]){SEND(W, 4), RECV(W, 256), DONE}});
    expect_tile(nth(m, 0, LP_OP_SEND, 0), LP_F16, 1, 128, 0);
    machine_free(m);
}

/* A type alone makes one dimension; a shape alone has the launch's type. */
static void type_and_shape_may_be_given_alone(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m,
        {0, (const struct line[]){{.call = DO_SEND, .dir = E, .n = 64, .dtype = LP_F32},
                                  {.call = DO_SEND, .dir = E, .n = 64, .dim = {8, 4}},
                                  {.call = DO_SEND, .dir = E, .n = 64, .dim = {32}},
                                  DONE}},
        {1, (const struct line[]){RECV(W, 64), RECV(W, 64), RECV(W, 64), DONE}});
    expect_tile(nth(m, 0, LP_OP_SEND, 0), LP_F32, 1, 16, 0);
    expect_tile(nth(m, 0, LP_OP_SEND, 1), LP_F16, 2, 8, 4);
    expect_tile(nth(m, 0, LP_OP_SEND, 2), LP_F16, 1, 32, 0);
    machine_free(m);
}

/* Sender, its direction, and the slot: tile 9 of 8 slots is in slot 1. */
static void a_receive_has_its_source(void **state)
{
    (void)state;
    static struct line sends[11], receives[11];
    static const uint8_t space[] = {[HW_MEMORY_TCM] = LP_SPACE_TCM,
                                    [HW_MEMORY_HBM] = LP_SPACE_HBM,
                                    [HW_MEMORY_SRAM] = LP_SPACE_SRAM};
    for (uint32_t i = 0; i < 10; i++) {
        sends[i] = (struct line)SEND(E, 16);
        receives[i] = (struct line)RECV(W, 16);
    }
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = small_machine(1, 1, 1);
        m->config.slots = slots;
        machine_start(m);
        RUN(m, {0, sends}, {1, receives});
        const struct lp_op *recv = nth(m, 1, LP_OP_RECV, 9), *send = nth(m, 0, LP_OP_SEND, 9);
        assert_int_equal(recv->peer, 0);
        assert_int_equal(recv->peer_dir, E);
        assert_int_equal(recv->a.space, space[slots]);
        assert_int_equal(recv->a.at, send->dst.at);
        assert_int_equal(recv->a.at, nth(m, 1, LP_OP_RECV, 0)->a.at + 4096);
        machine_free(m);
    }
}

static void expect_shape(const struct lp_op *op, const uint32_t *shape)
{
    uint32_t size[LP_DIMS_MAX];
    lp_shape_of(op->dims, op->dim, op->bytes / tl_itemsize((enum lp_dtype)op->dtype), size);
    assert_int_equal(op->dims, 4);
    assert_memory_equal(size, shape, sizeof size);
}

/* Sent, received, and through a future; with the largest dimensions that there may be. */
static void a_tile_may_have_four_dimensions(void **state)
{
    (void)state;
    static const uint32_t shapes[][LP_DIMS_MAX] = {
        {2, 3, 4, 5}, {1, 1, 1, 7}, {2097151, 1, 1, 1}, {1, 2097151, 1, 1}, {1, 1, 2097151, 1}};
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const uint32_t *const s = shapes[i];
        const uint32_t bytes = s[0] * s[1] * s[2] * s[3] * 2;
        struct line send = TYPED(DO_SEND, bytes, 0, s[0], s[1], s[2], s[3]);
        send.dir = E;
        const struct line sends[] = {send, send, DONE};
        const struct line receives[] = {TYPED(DO_RECV, bytes, 0, s[0], s[1], s[2], s[3]),
                                        TYPED(DO_RECV_ASYNC, bytes, 0, s[0], s[1], s[2], s[3]),
                                        TYPED(DO_WAIT, bytes, 0, s[0], s[1], s[2], s[3]), DONE};
        struct machine *m = small_machine(1, 1, 1);
        m->config.slots = HW_MEMORY_HBM;
        m->config.slot_bytes = 8 << 20;
        m->hw.tcm_bytes = 16 << 20;
        machine_start(m);
        RUN(m, {0, sends}, {1, receives});
        for (uint32_t k = 0; k < 2; k++) {
            expect_shape(nth(m, 0, LP_OP_SEND, k), s);
            expect_shape(nth(m, 1, LP_OP_RECV, k), s);
        }
        machine_free(m);
    }
}

static void expect_fault(struct line line, const char *text)
{
    const struct line script[] = {line, DONE};
    const struct part parts[] = {{1, script}};
    struct machine *m = small_machine(1, 1, 1);
    char whole[200];
    machine_start(m);
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    snprintf(whole, sizeof whole, "PE 0.0.1, kernel script: %s", text);
    assert_string_equal(m->error.text, whole);
    machine_free(m);
}

static void a_tile_that_is_no_such_thing_is_refused(void **state)
{
    (void)state;
    expect_fault((struct line)TYPED(DO_SEND, 64, LP_F32, 4, 5),
                 "send of a tile of 64 bytes, whose shape has 20 elements of 4 bytes");
    expect_fault((struct line)TYPED(DO_RECV, 66, LP_F32, 0),
                 "recv of a tile of 66 bytes, whose type has 16 elements of 4 bytes");
    expect_fault((struct line)TYPED(DO_RECV_ANY, 64, 0, 65536, 65536, 65536),
                 "recv_any of a tile of 64 bytes, whose shape has 4294967296 elements of 2 bytes");
    expect_fault(
        (struct line)TYPED(DO_RECV, 4194304, 0, 2097152, 1, 1, 1),
        "recv of a tile of four dimensions, whose dimension 0 is 2097152; legal: less than "
        "2097152, but for the last");
    expect_fault((struct line)TYPED(DO_RECV, 64, (enum lp_dtype)9, 16),
                 "recv of a tile of type 9; legal: 1 (f16) to 8 (int32)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tile_has_the_launch_s_type_and_one_dimension),
        cmocka_unit_test(each_call_names_type_and_shape),
        cmocka_unit_test(type_and_shape_may_be_given_alone),
        cmocka_unit_test(a_cast_tile_is_sent_as_its_own_type),
        cmocka_unit_test(what_is_written_over_a_cast_is_of_the_launch_s_type),
        cmocka_unit_test(a_receive_has_its_source),
        cmocka_unit_test(a_tile_may_have_four_dimensions),
        cmocka_unit_test(a_tile_that_is_no_such_thing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
