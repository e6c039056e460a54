/*
 * test_lp_slot_access.c: the optional costs of a tile in its slot (hw/HARDWARE.md, "Slot access"),
 * of PE_MATH without its operands' ways, and of launches that start together.
 *
 * PE 0 and PE 1 share router 0, where the SRAM is too; PE 2 is at router 1. Worked out by hand (in
 * ns), for a tile of 4096 bytes:
 *     to the PE_DMA of the other PE: pe_dma 4 + .005 + router 1 + .005 + pe_dma 4          9.010
 *     on pe_noc at 128 GB/s                                                               32.000
 *     slot in TCM:  2 + 4096 / 512                                                        10.000
 *     slot in SRAM: 2 + 4096 / 512 + 4096 / 128 (pe_noc; sram has 256)                    42.000
 *     slot in HBM:  6 + 4096 / 256 + 4096 / 64 (hbm)                                      86.000
 */
#include "test/support/test_lp_support.h"

#include "collectives/data/data_pass.h"

enum { BYTES = 4096, SEND_ISSUE = 4000, CPU = 2000, WIRE = 1000, CREDIT = 9135, HOP = 1030 };
enum { TO_PE_DMA = 9010, PE_NOC = 32000 };
static const int64_t slot_ps[] = {
    [HW_MEMORY_TCM] = 10000, [HW_MEMORY_SRAM] = 42000, [HW_MEMORY_HBM] = 86000};

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W

static struct machine *with_access(enum hw_memory slots, enum hw_contention contention)
{
    struct machine *m = small_machine(1, 1, 1);
    m->hw.contention = contention;
    m->hw.slot_access[HW_MEMORY_TCM] =
        (struct hw_slot_access){.overhead_ps = 2000, .rate = per_ns(512, 1)};
    m->hw.slot_access[HW_MEMORY_SRAM] =
        (struct hw_slot_access){.overhead_ps = 2000, .rate = per_ns(512, 1)};
    m->hw.slot_access[HW_MEMORY_HBM] =
        (struct hw_slot_access){.overhead_ps = 6000, .rate = per_ns(256, 1)};
    m->config.slots = slots;
    return m;
}

static struct machine *started(enum hw_memory slots, enum hw_contention contention)
{
    struct machine *m = with_access(slots, contention);
    machine_start(m);
    return m;
}

static const struct line sends[] = {SEND(E, BYTES), DONE};
static const struct line receives[] = {RECV(W, BYTES), DONE};

/* ---- one tile -------------------------------------------------------------------------------- */

static void a_tile_pays_its_slot_at_the_write_and_at_the_read(void **state)
{
    (void)state;
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++)
        for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
            struct machine *m = started(slots, c);
            RUN(m, {0, sends}, {1, receives});
            assert_int_equal(took(nth(m, 0, LP_OP_SEND, 0)), SEND_ISSUE); /* it does not wait */
            assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), SEND_ISSUE + PE_NOC + TO_PE_DMA +
                                                                      slot_ps[slots] + WIRE +
                                                                      slot_ps[slots] + CREDIT);
            machine_free(m);
        }
}

static void a_read_may_cost_nothing(void **state)
{
    (void)state;
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = with_access(slots, HW_CONTENTION_MESSAGE);
        m->hw.slot_access[slots].write_only = true;
        machine_start(m);
        RUN(m, {0, sends}, {1, receives});
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)),
                         SEND_ISSUE + PE_NOC + TO_PE_DMA + slot_ps[slots] + WIRE + CREDIT);
        machine_free(m);
    }
}

static void a_write_may_cost_nothing(void **state)
{
    (void)state;
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = with_access(slots, HW_CONTENTION_MESSAGE);
        m->hw.slot_access[slots].read_only = true;
        machine_start(m);
        RUN(m, {0, sends}, {1, receives});
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)),
                         SEND_ISSUE + PE_NOC + TO_PE_DMA + WIRE + slot_ps[slots] + CREDIT);
        machine_free(m);
    }
}

/* The write is the time of the kernel that sends, before the tile departs. */
static void a_sender_may_write_itself(void **state)
{
    (void)state;
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = with_access(slots, HW_CONTENTION_MESSAGE);
        m->hw.slot_access[slots].by_sender = true;
        machine_start(m);
        RUN(m, {0, sends}, {1, receives});
        assert_int_equal(took(nth(m, 0, LP_OP_SEND, 0)), SEND_ISSUE + slot_ps[slots]);
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), SEND_ISSUE + slot_ps[slots] + PE_NOC +
                                                                  TO_PE_DMA + WIRE +
                                                                  slot_ps[slots] + CREDIT);
        machine_free(m);
    }
}

/* Lines of 128 bytes have 120 bytes of payload; those of LL are half payload. */
static void a_tile_takes_the_bytes_of_its_lines(void **state)
{
    (void)state;
    static const struct {
        enum lp_protocol protocol;
        uint32_t bytes, wire;
    } rows[] = {{LP_SIMPLE, 4096, 4096}, {LP_LL, 4, 8},          {LP_LL, 2048, 4096},
                {LP_LL128, 120, 128},    {LP_LL128, 3840, 4096}, {LP_LL128, 121, 256},
                {LP_LL128, 4, 128}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct lp_config config = {.protocol = rows[i].protocol};
        assert_int_equal(lp_bytes_on_way(&config, rows[i].bytes), rows[i].wire);
    }
}

/* From HBM, in pieces too: the source's way is as without slot access. */
static void a_tile_from_hbm_pays_its_slot_as_a_whole(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = started(HW_MEMORY_TCM, c);
        RUN(m, {0, (const struct line[]){SEND_FROM(E, HBM(0x8000), BYTES), DONE}}, {1, receives});
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), SEND_ISSUE + 45015 + 5015 + 64000 +
                                                                  1005 + 4005 + 2 * slot_ps[0] +
                                                                  WIRE + CREDIT);
        machine_free(m);
    }
}

/* Only the memory that has the slots counts, and only with a rate. */
static void without_a_rate_nothing_changes(void **state)
{
    (void)state;
    struct machine *m = with_access(HW_MEMORY_TCM, HW_CONTENTION_MESSAGE);
    m->hw.slot_access[HW_MEMORY_TCM] = (struct hw_slot_access){.overhead_ps = 5000};
    machine_start(m);
    RUN(m, {0, sends}, {1, receives});
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)),
                     SEND_ISSUE + PE_NOC + TO_PE_DMA + 1001 + WIRE + CREDIT);
    machine_free(m);
}

static void the_link_to_a_bank_is_the_slowest_on_the_way(void **state)
{
    (void)state;
    struct machine *m = with_access(HW_MEMORY_SRAM, HW_CONTENTION_MESSAGE);
    m->hw.link[HW_LINK_NOC].rate = per_ns(16, 1);
    assert_int_equal(hw_slot_ps(&m->hw, 0, HW_MEMORY_SRAM, BYTES), slot_ps[HW_MEMORY_SRAM]);
    assert_int_equal(hw_slot_ps(&m->hw, 2, HW_MEMORY_SRAM, BYTES), 2000 + 8000 + 256000);
    assert_int_equal(hw_slot_ps(&m->hw, 2, HW_MEMORY_HBM, BYTES), slot_ps[HW_MEMORY_HBM]);
    m->hw.link[HW_LINK_SRAM].rate = per_ns(8, 1);
    assert_int_equal(hw_slot_ps(&m->hw, 0, HW_MEMORY_SRAM, BYTES), 2000 + 8000 + 512000);
    machine_free(m);
}

/* ---- forms of receive ------------------------------------------------------------------------ */

/* All tiles are there. Each is read once, whatever takes it. */
static void every_form_of_receive_reads_its_tile(void **state)
{
    (void)state;
    static const struct line script[] = {DELAY(2000),
                                         RECV(W, BYTES),
                                         RECV_ANY(BYTES),
                                         RECV_ASYNC(0, W, BYTES),
                                         WAIT(0, BYTES),
                                         RECV_INTO(W, BYTES, TCM(64)),
                                         RECV_ALL(1u << W, BYTES),
                                         DONE};
    const int64_t read = slot_ps[HW_MEMORY_HBM];
    struct machine *m = started(HW_MEMORY_HBM, HW_CONTENTION_MESSAGE);
    RUN(m,
        {0, (const struct line[]){SEND(E, BYTES), SEND(E, BYTES), SEND(E, BYTES), SEND(E, BYTES),
                                  SEND(E, BYTES), DONE}},
        {1, script});
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 0)), SEND_ISSUE + read + CREDIT);
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 1)), SEND_ISSUE + read + CREDIT);
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 2)), CPU + read + CREDIT);
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 3)), SEND_ISSUE + read + CREDIT + 2000);
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 4)), SEND_ISSUE + read);
    machine_free(m);
}

static void recv_all_reads_one_tile_after_the_other(void **state)
{
    (void)state;
    static const struct line script[] = {DELAY(2000), RECV_ALL(1u << E | 1u << W, BYTES), ADD(1),
                                         DONE};
    const int64_t read = slot_ps[HW_MEMORY_HBM];
    struct machine *m = started(HW_MEMORY_HBM, HW_CONTENTION_MESSAGE);
    RUN(m, {0, sends}, {1, script}, {2, (const struct line[]){SEND(W, BYTES), DONE}});
    assert_int_equal(start_of(m, nth(m, 1, LP_OP_MATH, 1)),
                     2000000 + SEND_ISSUE + 2 * read + CREDIT);
    machine_free(m);
}

/* A tile that has been received costs nothing more: it is added, sent on and stored as from TCM. */
static void a_received_tile_is_used_as_if_it_were_in_tcm(void **state)
{
    (void)state;
    static const struct line script[] = {RECV(W, BYTES),
                                         ADD_TILE(2048),
                                         ADD(2048),
                                         FORWARD(W, BYTES),
                                         STORE_TILES(TENSOR_VA, BYTES),
                                         STORE(TENSOR_VA, BYTES),
                                         DONE};
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = started(slots, HW_CONTENTION_NONE);
        RUN(m, {0, (const struct line[]){SEND(E, BYTES), RECV(E, BYTES), DONE}}, {1, script});
        assert_int_equal(took(nth(m, 1, LP_OP_MATH, 0)), took(nth(m, 1, LP_OP_MATH, 1)));
        assert_int_equal(took(nth(m, 1, LP_OP_SEND, 0)), SEND_ISSUE);
        assert_int_equal(m->op_count, 8);
        machine_free(m);
    }
}

/* ---- writes that meet ------------------------------------------------------------------------ */

/* Tiles of PE 0 and of PE 2 for PE 1, whose pe_noc takes one after the other. The second comes
 * while the first is written. The launch of PE 2 comes a hop later than the others. */
static void writes_to_one_memory_wait_for_each_other(void **state)
{
    (void)state;
    static const struct line script[] = {RECV(E, BYTES), RECV(W, BYTES), DONE};
    const int64_t slot = slot_ps[HW_MEMORY_HBM], first = SEND_ISSUE + PE_NOC + TO_PE_DMA;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_MESSAGE; c++) {
        struct machine *m = started(HW_MEMORY_HBM, c);
        RUN(m, {0, sends}, {1, script}, {2, (const struct line[]){SEND(W, BYTES), DONE}});
        const int64_t written = c == HW_CONTENTION_NONE ? first + 2 * HOP + slot : first + 2 * slot;
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), written + WIRE + slot + CREDIT + HOP);
        machine_free(m);
    }
}

/* Two contexts wait for tiles of one direction: each gets one, and the values are right. */
static void two_contexts_share_the_tiles_of_a_direction(void **state)
{
    (void)state;
    static const struct line stream[] = {RECV_INTO(W, 6, TCM(256)), DONE};
    static const struct line script[] = {FORK(stream),
                                         RECV_INTO(W, 6, TCM(128)),
                                         JOIN,
                                         STORE_FROM(TENSOR_VA, TCM(128), 6),
                                         STORE_FROM(TENSOR_VA + 64, TCM(256), 6),
                                         DONE};
    static const uint16_t value[] = {0x3c00, 0x4000, 0x4200};
    uint16_t result[3];
    struct machine *m = with_access(HW_MEMORY_SRAM, HW_CONTENTION_MESSAGE);
    m->with_data = true;
    m->needs.contexts = 2;
    machine_start(m);
    assert_int_equal(data_pass_write(m->data, 0, TENSOR_PA + 64, value, sizeof value, &m->error),
                     CW_OK);
    RUN(m,
        {0, (const struct line[]){SEND_FROM(E, HBM(TENSOR_PA + 64), 6),
                                  SEND_FROM(E, HBM(TENSOR_PA + 64), 6), DONE}},
        {1, script});
    machine_settle_data(m);
    for (uint32_t i = 0; i < 2; i++) {
        data_pass_read(m->data, 1, TENSOR_PA + i * 64, result, sizeof result);
        assert_memory_equal(result, value, sizeof result);
    }
    machine_free(m);
}

/* ---- the other options ----------------------------------------------------------------------- */

static void pe_math_may_have_its_operands_for_nothing(void **state)
{
    (void)state;
    for (int is_free = 0; is_free < 2; is_free++) {
        struct machine *m = small_machine(1, 1, 1);
        m->hw.fetch_store = per_ns(512, 1);
        m->hw.math_free_operands = is_free;
        machine_start(m);
        RUN(m, {0, (const struct line[]){ADD(256), DONE}});
        assert_int_equal(took(nth(m, 0, LP_OP_MATH, 0)),
                         2000 + 1000 + 4000 + 256000 + (is_free ? 0 : 1000 + 2000 + 1000 + 1000));
        machine_free(m);
    }
}

/* Near and far PEs of two SIPs, with servers that take time. */
static void launches_start_together(void **state)
{
    (void)state;
    static const struct line script[] = {ADD(1), DONE};
    for (int together = 0; together < 2; together++) {
        struct machine *m = small_machine(2, 3, 2);
        m->hw.control_msg_bytes = 4096;
        m->hw.overhead_ps[HW_NODE_IO_CPU] = 20000;
        m->hw.overhead_ps[HW_NODE_M_CPU] = 10000;
        m->hw.launch_together = together;
        machine_start(m);
        struct part parts[96];
        for (uint32_t pe = 0; pe < COUNT_OF(parts); pe++)
            parts[pe] = (struct part){pe, script};
        run_scripts(m, parts, COUNT_OF(parts));
        int64_t last = 0;
        for (uint32_t pe = 0; pe < COUNT_OF(parts); pe++) {
            const int64_t start = start_of(m, nth(m, pe, LP_OP_MATH, 0));
            last = start > last ? start : last;
        }
        assert_int_equal(last == 0, together);
        machine_free(m);
    }
}

/* Kernels that are launched so, and not the streams that they fork. */
static void a_static_cost_comes_before_the_first_call(void **state)
{
    (void)state;
    static const struct line stream[] = {ADD(1), DONE}, script[] = {FORK(stream), JOIN, DONE};
    struct machine *m = small_machine(1, 1, 1);
    m->hw.launch_static_ps = 10000000;
    m->needs.contexts = 2;
    machine_start(m);
    RUN(m, {0, script}, {1, (const struct line[]){ADD(1), DONE}});
    assert_int_equal(start_of(m, nth(m, 1, LP_OP_MATH, 0)), 10000000);
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 0)), 10000000 + CPU);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tile_pays_its_slot_at_the_write_and_at_the_read),
        cmocka_unit_test(a_read_may_cost_nothing),
        cmocka_unit_test(a_write_may_cost_nothing),
        cmocka_unit_test(a_sender_may_write_itself),
        cmocka_unit_test(a_tile_takes_the_bytes_of_its_lines),
        cmocka_unit_test(a_tile_from_hbm_pays_its_slot_as_a_whole),
        cmocka_unit_test(without_a_rate_nothing_changes),
        cmocka_unit_test(the_link_to_a_bank_is_the_slowest_on_the_way),
        cmocka_unit_test(every_form_of_receive_reads_its_tile),
        cmocka_unit_test(recv_all_reads_one_tile_after_the_other),
        cmocka_unit_test(a_received_tile_is_used_as_if_it_were_in_tcm),
        cmocka_unit_test(writes_to_one_memory_wait_for_each_other),
        cmocka_unit_test(two_contexts_share_the_tiles_of_a_direction),
        cmocka_unit_test(pe_math_may_have_its_operands_for_nothing),
        cmocka_unit_test(launches_start_together),
        cmocka_unit_test(a_static_cost_comes_before_the_first_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
