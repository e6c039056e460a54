/*
 * test_lp_operands.c: operands outside TCM: reading them reserves the memory's link and pays the
 * memory's overhead (hw/HARDWARE.md, "Loads and stores", "Blocks of a PE"). The source of a send
 * or of a store is read by the transfer itself. An operand of PE_MATH or PE_GEMM is loaded first. A
 * receive may copy its tile to any of these memories. Addresses are checked when they are used.
 *
 * PE 0 and PE 1 share router 0, where the SRAM is too. Worked out by hand (in ns), n bytes:
 *     to HBM     pe_dma 4 + .005 + router 1 + .010 + hbm 40                               45.015
 *     to SRAM    pe_dma 4 + .005 + router 1 + .005 + sram 3                                8.010
 *     from HBM to pe_dma: .010 + 1 + .005 + pe_dma 4                                       5.015
 *     from SRAM to pe_dma: .005 + 1 + .005 + pe_dma 4                                      5.010
 *     from pe_dma to the other PE's TCM: .005 + 1 + .005 + pe_dma 4 + .001 + pe_tcm 1      6.011
 * and once n bytes on the slowest link: pe_noc 128 GB/s, hbm 64, sram 256.
 */
#include "test/support/test_lp_support.h"

#include "collectives/data/data_pass.h"

enum { ISSUE = 3000, SEND_ISSUE = 4000, WIRE = 1000, CREDIT = 9135 };
enum { FREE = 1 << 21 }; /* behind the receive rings */
enum { TO_HBM = 45015, TO_SRAM = 8010, FROM_HBM = 5015, FROM_SRAM = 5010 };
enum { TO_TCM_THERE = 6011, INTO_TCM = 1001 };

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W

static struct machine *started(enum hw_contention contention)
{
    struct machine *m = small_machine(1, 1, 1);
    m->hw.contention = contention;
    machine_start(m);
    return m;
}

static int64_t ser_ps(bool hbm, uint32_t bytes) { return bytes * 1000 / (hbm ? 64 : 128); }

/* ---- sends ----------------------------------------------------------------------------------- */

static const struct line receives_16[] = {RECV(W, 16), DONE};
static const struct line receives_4096[] = {RECV(W, 4096), DONE};

static void a_send_from_hbm_or_sram_reads_that_memory(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++)
        for (uint32_t bytes = 16; bytes <= 4096; bytes *= 256)
            for (int hbm = 0; hbm < 2; hbm++) {
                struct machine *m = started(c);
                const struct line sends[] = {
                    LINE(DO_SEND_FROM, .dir = E, .n = bytes,
                         .src = {.space = hbm ? LP_SPACE_HBM : LP_SPACE_SRAM, .at = 512}),
                    DONE};
                RUN(m, {0, sends}, {1, bytes == 16 ? receives_16 : receives_4096});
                assert_int_equal(took(nth(m, 0, LP_OP_SEND, 0)), SEND_ISSUE); /* it does not wait */
                assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)),
                                 SEND_ISSUE + (hbm ? TO_HBM + FROM_HBM : TO_SRAM + FROM_SRAM) +
                                     TO_TCM_THERE + ser_ps(hbm, bytes) + WIRE + CREDIT);
                machine_free(m);
            }
}

/* As if the engine had been granted so often. */
static void set_generation(struct machine *m, uint32_t pe, uint32_t generation)
{
    struct lp_pe *const p = (struct lp_pe *)(uintptr_t)queue_of(m, pe, (enum hw_dir)0);
    _Static_assert(offsetof(struct lp_pe, queue) == 0, "a PE begins with its queues");
    p->dma.generation = generation;
}

/* Three sends from HBM, each with a grant of its own: as long as with few grants before. */
static void grants_go_beyond_2_to_32(void **state)
{
    (void)state;
    int64_t end_ps[2];
    for (int i = 0; i < 2; i++) {
        struct machine *m = started(HW_CONTENTION_CHUNK);
        set_generation(m, 0, i == 0 ? 1 : UINT32_MAX - 1);
        RUN(m,
            {0, (const struct line[]){SEND_FROM(E, HBM(0), 16), SEND_FROM(E, HBM(0), 16),
                                      SEND_FROM(E, HBM(0), 16), DONE}},
            {1, (const struct line[]){RECV(W, 16), RECV(W, 16), RECV(W, 16), DONE}});
        end_ps[i] = end_of(m, nth(m, 1, LP_OP_RECV, 2));
        machine_free(m);
    }
    assert_true(end_ps[0] == end_ps[1]);
}

/* The tile goes on to a slot in HBM: both ends' links are on its path, and it is cut through. */
static void from_hbm_to_a_slot_in_hbm_is_one_transfer(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.slots = HW_MEMORY_HBM;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND_FROM(E, HBM(FREE), 4096), DONE}}, {1, receives_4096});
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), SEND_ISSUE + TO_HBM + FROM_HBM + 1005 +
                                                              4005 + 41015 + ser_ps(true, 4096) +
                                                              WIRE + CREDIT);
    machine_free(m);
}

/* A load of 4096 bytes has its request at the HBM at 48.015 and holds the link until 112.015. The
 * send's request is there at 52.015. */
static void a_send_from_hbm_waits_for_its_link(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m,
        {0, (const struct line[]){LOAD_ASYNC(TENSOR_VA, 4096, 0), SEND_FROM(E, HBM(0), 4096),
                                  WAIT_DMA(0), DONE}},
        {1, receives_4096});
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)),
                     112015 + ser_ps(true, 4096) + FROM_HBM + TO_TCM_THERE + WIRE + CREDIT);
    machine_free(m);
}

/* Tiles become visible in order, although the second has the shorter way. */
static void a_tile_from_tcm_waits_for_one_from_hbm(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){SEND_FROM(E, HBM(0), 4096), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 4096), RECV(W, 16), DONE}});
    const struct lp_op *first = nth(m, 1, LP_OP_RECV, 0), *second = nth(m, 1, LP_OP_RECV, 1);
    assert_int_equal(first->seq, 0);
    assert_int_equal(second->seq, 1);
    assert_int_equal(end_of(m, first), SEND_ISSUE + TO_HBM + FROM_HBM + TO_TCM_THERE +
                                           ser_ps(true, 4096) + WIRE + CREDIT);
    assert_int_equal(took(second), SEND_ISSUE + CREDIT); /* it was there */
    machine_free(m);
}

static void an_empty_tile_from_hbm_arrives(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = started(c);
        RUN(m, {0, (const struct line[]){SEND_FROM(E, HBM(0), 0), DONE}},
            {1, (const struct line[]){RECV(W, 0), DONE}});
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)),
                         SEND_ISSUE + TO_HBM + FROM_HBM + TO_TCM_THERE + WIRE + CREDIT);
        machine_free(m);
    }
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* As a copy takes. */
static void a_store_from_sram_is_a_copy(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){STORE_FROM(TENSOR_VA, SRAM(256), 4096),
                                     COPY(TENSOR_VA, tl_sram_va(256), 4096), DONE}});
    const struct lp_op *store = nth(m, 0, LP_OP_STORE, 0), *copy = nth(m, 0, LP_OP_COPY, 0);
    assert_int_equal(took(store), ISSUE + TO_SRAM + FROM_SRAM - 4000 + TO_HBM + ser_ps(true, 4096));
    assert_int_equal(took(store), took(copy));
    assert_int_equal(store->a.space, LP_SPACE_SRAM);
    assert_int_equal(store->a.at, 256);
    machine_free(m);
}

/* Beside the same store from TCM: the way to the HBM and back, and its slower link. */
static void a_raw_store_from_hbm_reads_it(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){STORE_TO(1, TCM(4096), 4096),
                                     STORE_TO_FROM(1, TCM(4096), HBM(0), 4096), DONE}});
    assert_int_equal(took(nth(m, 0, LP_OP_STORE_TO, 0)), ISSUE);
    const struct lp_op *tcm = nth(m, 1, LP_OP_STORED, 0), *hbm = nth(m, 1, LP_OP_STORED, 1);
    const int64_t from_tcm = end_of(m, tcm) - start_of(m, nth(m, 0, LP_OP_STORE_TO, 0));
    const int64_t from_hbm = end_of(m, hbm) - start_of(m, nth(m, 0, LP_OP_STORE_TO, 1));
    assert_int_equal(from_tcm, ISSUE + 4000 + TO_TCM_THERE + ser_ps(false, 4096));
    assert_int_equal(from_hbm, ISSUE + TO_HBM + FROM_HBM + TO_TCM_THERE + ser_ps(true, 4096));
    machine_free(m);
}

/* ---- computing ------------------------------------------------------------------------------- */

static int64_t load_ps(bool hbm, uint32_t bytes)
{
    return ISSUE + (hbm ? TO_HBM + FROM_HBM : TO_SRAM + FROM_SRAM) + INTO_TCM + ser_ps(hbm, bytes);
}

static void operands_of_an_addition_are_loaded_first(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){ADD(2048), ADD_FROM(TCM(0), HBM(64), 2048),
                                     ADD_FROM(SRAM(64), TCM(0), 2048),
                                     ADD_FROM(HBM(64), SRAM(64), 2048), DONE}});
    const int64_t alone = took(nth(m, 0, LP_OP_MATH, 0));
    assert_int_equal(took(nth(m, 0, LP_OP_MATH, 1)), alone + load_ps(true, 4096));
    assert_int_equal(took(nth(m, 0, LP_OP_MATH, 2)), alone + load_ps(false, 4096));
    assert_int_equal(took(nth(m, 0, LP_OP_MATH, 3)),
                     alone + load_ps(true, 4096) + load_ps(false, 4096));
    assert_int_equal(nth(m, 0, LP_OP_MATH, 1)->b.space, LP_SPACE_HBM);
    machine_free(m);
}

/* With slots in HBM, a tile and an operand in SRAM are a load each. */
static void a_tile_in_a_slot_and_an_operand_in_sram_are_two_loads(void **state)
{
    (void)state;
    static const struct line adds[] = {RECV(W, 4096), ADD_TILE_AND(SRAM(64), 2048), DONE};
    struct machine *m = small_machine(1, 1, 1);
    m->config.slots = HW_MEMORY_HBM;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), ADD(2048), DONE}}, {1, adds});
    assert_int_equal(took(nth(m, 1, LP_OP_MATH, 0)),
                     took(nth(m, 0, LP_OP_MATH, 0)) + load_ps(true, 4096) + load_ps(false, 4096));
    machine_free(m);
}

/* ---- receives to a place --------------------------------------------------------------------- */

/* From a slot in TCM a store of its own, from HBM and SRAM a copy. */
static void a_receive_into_hbm_or_sram_is_a_store_or_a_copy(void **state)
{
    (void)state;
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++)
        for (int hbm = 0; hbm < 2; hbm++) {
            const struct line into[] = {
                DELAY(400), /* the tile is there */
                LINE(DO_RECV_INTO, .dir = W, .n = 4096,
                     .dst = {.space = hbm ? LP_SPACE_HBM : LP_SPACE_SRAM, .at = FREE}),
                DONE};
            struct machine *m = small_machine(1, 1, 1);
            m->config.slots = slots;
            machine_start(m);
            RUN(m, {0, (const struct line[]){SEND(E, 4096), DONE}}, {1, into});
            const struct lp_op *recv = nth(m, 1, LP_OP_RECV, 0);
            const int64_t there =
                (hbm ? TO_HBM : TO_SRAM) + ser_ps(hbm || slots == HW_MEMORY_HBM, 4096);
            const int64_t before = slots == HW_MEMORY_TCM   ? 0
                                   : slots == HW_MEMORY_HBM ? TO_HBM + FROM_HBM - 4000
                                                            : TO_SRAM + FROM_SRAM - 4000;
            const int64_t back = slots != HW_MEMORY_TCM ? 0 : hbm ? FROM_HBM : FROM_SRAM;
            assert_int_equal(took(recv), SEND_ISSUE + CREDIT + ISSUE + before + there + back);
            assert_int_equal(recv->dst.space, hbm ? LP_SPACE_HBM : LP_SPACE_SRAM);
            assert_int_equal(recv->dst.at, FREE);
            assert_int_equal(m->op_count, 3);
            machine_free(m);
        }
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* PE 1 runs one line after it has received a tile; the message behind "PE 0.0.1, kernel script". */
static void expect_fault(struct line line, const char *text)
{
    const struct line script[] = {RECV(W, 16), line, DONE};
    const struct part parts[] = {{0, (const struct line[]){SEND(E, 16), DONE}}, {1, script}};
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    char whole[300];
    assert_int_equal(try_scripts(m, parts, COUNT_OF(parts)), CW_PROGRAM_FAILED);
    snprintf(whole, sizeof whole, "PE 0.0.1, kernel script: %s", text);
    assert_string_equal(m->error.text, whole);
    machine_free(m);
}

#define TILE(dir_, at_)                                                                            \
    {                                                                                              \
        .space = LP_SPACE_TILE, .dir = (dir_), .at = (at_)                                         \
    }
#define NOWHERE                                                                                    \
    {                                                                                              \
        .space = LP_SPACE_NONE                                                                     \
    }

/* No data pass looks at these: memories end where they end. */
static void every_address_is_checked_when_it_is_used(void **state)
{
    (void)state;
    expect_fault((struct line)SEND_FROM(E, TCM(1048570), 16),
                 "send of 16 bytes at offset 1048570 of TCM, which has 1048576");
    expect_fault((struct line)SEND_FROM(E, SRAM(4194300), 6),
                 "send of 6 bytes at offset 4194300 of SRAM, which has 4194304");
    expect_fault((struct line)SEND_FROM(E, HBM(2147483600), 64),
                 "send of 64 bytes at offset 2147483600 of HBM slice, which has 2147483648");
    expect_fault((struct line)SEND_FROM(E, NOWHERE, 16),
                 "send of 16 bytes at a place in no memory (space 0); legal: tl_tcm(), tl_hbm(), "
                 "tl_sram()");
    expect_fault((struct line)LOAD(tl_sram_va(0), 1048576),
                 "load of 1048576 bytes at offset 64 of TCM, which has 1048576");
    expect_fault((struct line)STORE_FROM(TENSOR_VA, TCM(1048576), 1),
                 "store of 1 bytes at offset 1048576 of TCM, which has 1048576");
    expect_fault((struct line)STORE_TO_FROM(0, TCM(0), TCM(1048570), 8),
                 "store_to of 8 bytes at offset 1048570 of TCM, which has 1048576");
    expect_fault((struct line)STORE_TO_FROM(0, TILE(W, 0), TCM(0), 8),
                 "store_to of 8 bytes at a place in no memory (space 4); legal: tl_tcm(), "
                 "tl_hbm(), tl_sram()");
    expect_fault((struct line)RECV_INTO(W, 16, TCM(1048570)),
                 "recv_into of 16 bytes at offset 1048570 of TCM, which has 1048576");
    expect_fault((struct line)RECV_INTO(W, 16, HBM(4294967295)),
                 "recv_into of 16 bytes at offset 4294967295 of HBM slice, which has 2147483648");
    expect_fault((struct line)ADD_FROM(TCM(0), SRAM(4194303), 1),
                 "math of 2 bytes at offset 4194303 of SRAM, which has 4194304");
}

static void a_tile_is_used_when_it_has_been_received(void **state)
{
    (void)state;
    expect_fault((struct line)SEND_FROM(W, TILE(W, 1), 16),
                 "send of 16 bytes of tile 1 of direction intra_W, which has received 1 tiles");
    expect_fault((struct line)ADD_FROM(TILE(W, 1000), TCM(0), 8),
                 "math of 16 bytes of tile 1000 of direction intra_W, which has received 1 tiles");
    expect_fault((struct line)STORE_FROM(TENSOR_VA, TILE(W, 0), 4098),
                 "store of 4098 bytes of tile 0 of direction intra_W, which has received 1 tiles");
    expect_fault((struct line)SEND_FROM(W, TILE(HW_DIR_GLOBAL_N, 0), 16),
                 "send of a tile of direction 4, which is not installed there");
}

/* ---- values ---------------------------------------------------------------------------------- */

/* 1, 2, 3 in f16: in the HBM of PE 0, sent from there, added to itself from there, sent on. */
static void values_are_those_of_the_memory(void **state)
{
    (void)state;
    static const uint16_t one_two_three[] = {0x3c00, 0x4000, 0x4200};
    static const uint16_t twice[] = {0x4000, 0x4400, 0x4600};
    uint16_t result[3];
    struct machine *m = small_machine(1, 1, 1);
    m->with_data = true;
    machine_start(m);
    assert_int_equal(
        data_pass_write(m->data, 0, TENSOR_PA + 64, one_two_three, sizeof one_two_three, &m->error),
        CW_OK);
    RUN(m,
        {0, (const struct line[]){SEND_FROM(E, HBM(TENSOR_PA + 64), 6),
                                  ADD_FROM(HBM(TENSOR_PA + 64), HBM(TENSOR_PA + 64), 3),
                                  STORE_FROM(tl_sram_va(32), TCM(0), 6), SEND_FROM(E, SRAM(32), 6),
                                  DONE}},
        {1, (const struct line[]){RECV_INTO(W, 6, TCM(128)), STORE(TENSOR_VA, 6),
                                  RECV_INTO(W, 6, HBM(TENSOR_PA + 6)), DONE}});
    machine_settle_data(m);
    data_pass_read(m->data, 1, TENSOR_PA, result, sizeof result);
    assert_memory_equal(result, one_two_three, sizeof result);
    data_pass_read(m->data, 1, TENSOR_PA + 6, result, sizeof result);
    assert_memory_equal(result, twice, sizeof result);
    machine_free(m);
}

/* ---- grants that are taken back ---------------------------------------------------------------
 *
 * The kernel and a stream use the idle engine at one instant, the kernel first: its operation is
 * granted the engine, and the stream's, in the other channel, takes the grant back. The HBM takes
 * 400 ns more, so many void requests are under way at once.
 */

enum { SLOW_HBM = 400000, GRANTS = 8, PERIOD = 40000, CHUNK = 125 /* of 16 bytes */ };
#define SRAM_VA (tl_sram_va(0))

static struct machine *started_with_slow_hbm(void)
{
    struct machine *m = small_machine(1, 1, 1);
    m->hw.overhead_ps[HW_NODE_HBM] += SLOW_HBM;
    m->needs.contexts = 2;
    machine_start(m);
    return m;
}

/* The stream's store goes first, so a send whose grant was taken back leaves a chunk later. Of four
 * sends the void requests are under way at once; a fifth keeps its grant. */
static void any_number_of_grants_may_be_taken_back(void **state)
{
    (void)state;
    struct line sends[GRANTS * 2 + 3], stores[GRANTS * 4 + 1], receives[GRANTS + 1];
    uint32_t sent = 0, stored = 0;
    sends[sent++] = (struct line)FORK(stores);
    for (uint32_t i = 0; i < GRANTS; i++) {
        sends[sent++] = (struct line)DELAY(36); /* a send's issue takes 4, a store's 3 */
        sends[sent++] = (struct line)SEND_FROM(E, HBM(0x8000), 16);
        stores[stored++] = (struct line)DELAY(i == 0 ? 37 : 15);
        stores[stored++] = (struct line)STORE_ASYNC(SRAM_VA, 16, 0);
        stores[stored++] = (struct line)DELAY(20);
        stores[stored++] = (struct line)WAIT_DMA(0); /* 2 */
        receives[i] = (struct line)RECV(W, 16);
    }
    sends[sent++] = (struct line)JOIN;
    sends[sent] = stores[stored] = receives[GRANTS] = (struct line)DONE;
    struct machine *m = started_with_slow_hbm();
    RUN(m, {0, sends}, {1, receives});
    for (uint32_t i = 0; i < GRANTS; i++) {
        const struct lp_op *const send = nth(m, 0, LP_OP_SEND, i);
        assert_int_equal(end_of(m, send), 2000 + (i + 1) * PERIOD);
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, i)) - end_of(m, send),
                         (i < LP_VOID_REQUESTS ? CHUNK : 0) + SLOW_HBM + TO_HBM + FROM_HBM +
                             TO_TCM_THERE + 250 + WIRE + CREDIT);
    }
    machine_free(m);
}

/* A load is due first, so its second request leaves at once. The void one reserves no link. */
static void a_load_s_void_request_has_no_effect(void **state)
{
    (void)state;
    static const struct line sends[] = {DELAY(36), SEND(E, 16), DELAY(36), SEND(E, 16), DONE};
    struct machine *m = started_with_slow_hbm();
    RUN(m,
        {0, (const struct line[]){FORK(sends), DELAY(37), LOAD_ASYNC(TENSOR_VA, 16, 0), DELAY(37),
                                  LOAD_ASYNC(TENSOR_VA, 16, 1), WAIT_DMA(0), WAIT_DMA(1), ADD(1),
                                  JOIN, DONE}},
        {1, (const struct line[]){RECV(W, 16), RECV(W, 16), DONE}});
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 4)),
                     2000 + 2 * PERIOD + SLOW_HBM + TO_HBM + FROM_HBM + INTO_TCM + 250);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_from_hbm_or_sram_reads_that_memory),
        cmocka_unit_test(grants_go_beyond_2_to_32),
        cmocka_unit_test(from_hbm_to_a_slot_in_hbm_is_one_transfer),
        cmocka_unit_test(a_send_from_hbm_waits_for_its_link),
        cmocka_unit_test(a_tile_from_tcm_waits_for_one_from_hbm),
        cmocka_unit_test(an_empty_tile_from_hbm_arrives),
        cmocka_unit_test(a_store_from_sram_is_a_copy),
        cmocka_unit_test(a_raw_store_from_hbm_reads_it),
        cmocka_unit_test(operands_of_an_addition_are_loaded_first),
        cmocka_unit_test(a_tile_in_a_slot_and_an_operand_in_sram_are_two_loads),
        cmocka_unit_test(a_receive_into_hbm_or_sram_is_a_store_or_a_copy),
        cmocka_unit_test(every_address_is_checked_when_it_is_used),
        cmocka_unit_test(a_tile_is_used_when_it_has_been_received),
        cmocka_unit_test(values_are_those_of_the_memory),
        cmocka_unit_test(any_number_of_grants_may_be_taken_back),
        cmocka_unit_test(a_load_s_void_request_has_no_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
