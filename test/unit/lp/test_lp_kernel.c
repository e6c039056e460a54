/*
 * test_lp_kernel.c: the costs and the records of a kernel's calls (hw/HARDWARE.md, "Blocks of a
 * PE"; lp/QUEUES.md, "PE_DMA", "Op log and the two passes"): loads, stores, additions, slots
 * outside TCM, contention for PE_DMA, failures. Contexts keep I-TL-1.
 *
 * PE 0 and PE 1 share router 0, where the SRAM is too. Worked out by hand (in ns), n bytes:
 *     load from HBM
 *         issue     pe_cpu 2 + pe_scheduler 1 + pe_mmu 0                      3.000
 *         request   pe_dma 4 + .005 + router 1 + .010 + hbm 40               45.015
 *         data      n / 64 GB/s + .010 + 1 + .005 + pe_dma 4
 *                   + .001 + pe_tcm 1                                         6.016 + n / 64
 *     store to HBM
 *         issue 3, there 45.015 + n / 64, acknowledgement .010 + 1 + .005 + 4
 */
#include "test/support/test_lp_support.h"

#include "lp/host/deadlock.h"

enum { ISSUE = 3000, REQUEST = 45015, RESPONSE = 6016, ACKNOWLEDGE = 5015 };
enum { SEND_ISSUE = 4000 };

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W

/* ---- memory ---------------------------------------------------------------------------------- */

static void a_load_takes_the_request_and_the_data(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){LOAD(TENSOR_VA, 16), LOAD(TENSOR_VA + 64, 4096), DONE}});
    assert_int_equal(took(nth(m, 0, LP_OP_LOAD, 0)), ISSUE + REQUEST + RESPONSE + 250);
    assert_int_equal(took(nth(m, 0, LP_OP_LOAD, 1)), ISSUE + REQUEST + RESPONSE + 64000);
    machine_free(m);
}

static void a_store_blocks_until_it_is_acknowledged(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){STORE(TENSOR_VA, 16), STORE(TENSOR_VA, 4096), DONE}});
    assert_int_equal(took(nth(m, 0, LP_OP_STORE, 0)), ISSUE + REQUEST + 250 + ACKNOWLEDGE);
    assert_int_equal(took(nth(m, 0, LP_OP_STORE, 1)), ISSUE + REQUEST + 64000 + ACKNOWLEDGE);
    machine_free(m);
}

static void an_idle_machine_is_as_fast_in_every_contention_mode(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = small_machine(1, 1, 1);
        m->hw.contention = c;
        machine_start(m);
        RUN(m, {0, (const struct line[]){LOAD(TENSOR_VA, 4096), STORE(TENSOR_VA, 4096), DONE}});
        assert_int_equal(took(nth(m, 0, LP_OP_LOAD, 0)), ISSUE + REQUEST + RESPONSE + 64000);
        assert_int_equal(took(nth(m, 0, LP_OP_STORE, 0)), ISSUE + REQUEST + 64000 + ACKNOWLEDGE);
        machine_free(m);
    }
}

static void translation_costs_each_dma_operation(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->hw.overhead_ps[HW_NODE_PE_MMU] = 500;
    machine_start(m);
    RUN(m, {0, (const struct line[]){LOAD(TENSOR_VA, 16), STORE(TENSOR_VA, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 16), DONE}});
    assert_int_equal(took(nth(m, 0, LP_OP_LOAD, 0)), 500 + ISSUE + REQUEST + RESPONSE + 250);
    assert_int_equal(took(nth(m, 0, LP_OP_STORE, 0)), 500 + ISSUE + REQUEST + 250 + ACKNOWLEDGE);
    assert_int_equal(took(nth(m, 0, LP_OP_SEND, 0)), SEND_ISSUE); /* a send pays none */
    machine_free(m);
}

static void an_addition_takes_its_blocks_one_after_the_other(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    const struct hw_config defaults = default_machine();
    m->hw.math_lanes = defaults.math_lanes;
    m->hw.fetch_store = defaults.fetch_store;
    machine_start(m);
    RUN(m, {0, (const struct line[]){ADD(8), ADD(2048), DONE}});
    /* pe_cpu 2 + pe_scheduler 1; fetch 1 + 32 / 512; math 4 + 1 cycle; store 1 + 16 / 512 */
    assert_int_equal(took(nth(m, 0, LP_OP_MATH, 0)), 3000 + 1063 + 5000 + 1032);
    /* fetch 1 + 8192 / 512; math 4 + 32 cycles; store 1 + 4096 / 512 */
    assert_int_equal(took(nth(m, 0, LP_OP_MATH, 1)), 3000 + 17000 + 36000 + 9000);
    machine_free(m);
}

/* ---- slots in HBM and SRAM ------------------------------------------------------------------- */

static struct machine *slots_in(enum hw_memory memory)
{
    struct machine *m = small_machine(1, 1, 1);
    m->config.slots = memory;
    machine_start(m);
    return m;
}

static void a_tile_in_hbm_takes_the_way_to_hbm(void **state)
{
    (void)state;
    struct machine *m = slots_in(HW_MEMORY_HBM);
    RUN(m, {0, (const struct line[]){SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 16), DONE}});
    /* issue 4; pe_dma 4 + .005 + 1 + .005 + pe_dma 4 + .005 + 1 + .010 + hbm 40; 16 / 64; wire 1;
     * credit 9.135 */
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), 4000 + 50025 + 250 + 1000 + 9135);
    machine_free(m);
}

static void a_tile_in_sram_takes_the_way_to_sram(void **state)
{
    (void)state;
    struct machine *m = slots_in(HW_MEMORY_SRAM);
    RUN(m, {0, (const struct line[]){SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 16), DONE}});
    /* pe_dma 4 + .005 + 1 + .005 + pe_dma 4 + .005 + 1 + .005 + sram 3; 16 / 128 */
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), 4000 + 13020 + 125 + 1000 + 9135);
    machine_free(m);
}

/* Sending on, adding and storing a tile of 16 bytes, each with a load of its own. */
static void each_use_of_a_slot_outside_tcm_loads_the_tile(void **state)
{
    (void)state;
    static const struct {
        enum hw_memory memory;
        int64_t load_ps;
    } cases[] = {
        {HW_MEMORY_TCM, 0},
        {HW_MEMORY_HBM, ISSUE + REQUEST + RESPONSE + 250},
        /* request 4 + .005 + 1 + .005 + 3; data .005 + 1 + .005 + 4 + .001 + 1, slowest on pe_noc:
         * 16 / 128 */
        {HW_MEMORY_SRAM, ISSUE + 8010 + 6011 + 125},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct machine *m = slots_in(cases[i].memory);
        RUN(m, {0, (const struct line[]){SEND(E, 16), RECV(E, 16), DONE}},
            {1, (const struct line[]){DELAY(100), RECV(W, 16), ADD_TILE(8), FORWARD(W, 16),
                                      STORE_TILES(TENSOR_VA, 16), DONE}});
        assert_int_equal(took(nth(m, 1, LP_OP_MATH, 1)), cases[i].load_ps + 9000 + 8000);
        assert_int_equal(took(nth(m, 1, LP_OP_SEND, 0)), cases[i].load_ps + SEND_ISSUE);
        /* the store's own way: the sent tile has left the engine long before */
        assert_int_equal(took(nth(m, 1, LP_OP_STORE, 0)),
                         cases[i].load_ps + ISSUE + REQUEST + 250 + ACKNOWLEDGE);
        machine_free(m);
    }
}

/* PEs 6 and 7 are at router 3; the SRAM is at router 0, two steps away. */
static void a_load_from_sram_goes_over_the_noc_and_back(void **state)
{
    (void)state;
    struct machine *m = slots_in(HW_MEMORY_SRAM);
    RUN(m, {6, (const struct line[]){SEND(E, 16), RECV(E, 16), DONE}},
        {7, (const struct line[]){RECV(W, 16), FORWARD(W, 16), DONE}});
    /* request 4 + .005 + 1 + 2 x 1.030 + .005 + 3; data .005 + 1 + 2 x 1.030 + .005 + 4 + .001 + 1;
     * 16 / 128 */
    assert_int_equal(took(nth(m, 7, LP_OP_SEND, 0)), ISSUE + 10070 + 8071 + 125 + SEND_ISSUE);
    machine_free(m);
}

static void two_operands_in_slots_are_two_loads(void **state)
{
    (void)state;
    struct machine *m = slots_in(HW_MEMORY_HBM);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 16), RECV(W, 16), ADD_TILES(8), DONE}});
    const int64_t load_ps = ISSUE + REQUEST + RESPONSE + 250;
    assert_int_equal(took(nth(m, 1, LP_OP_MATH, 0)), 2 * load_ps + 9000 + 8000);
    machine_free(m);
}

static void a_final_store_loads_each_tile_first(void **state)
{
    (void)state;
    struct machine *m = slots_in(HW_MEMORY_HBM);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), SEND(E, 4096), SEND(E, 64), DONE}},
        {1, (const struct line[]){RECV(W, 4096), RECV(W, 4096), RECV(W, 64),
                                  STORE_TILES(TENSOR_VA, 8256), DONE}});
    const int64_t loads_ps = 3 * (ISSUE + REQUEST + RESPONSE) + 64000 + 64000 + 1000;
    /* the store is one operation of 8256 bytes, and a record for each tile's value */
    for (uint32_t i = 0; i < 3; i++) {
        const struct lp_op *op = nth(m, 1, LP_OP_STORE, i);
        assert_int_equal(took(op), loads_ps + ISSUE + REQUEST + 129000 + ACKNOWLEDGE);
        assert_int_equal(op->bytes, i < 2 ? 4096 : 64);
        assert_int_equal(op->a.space, LP_SPACE_TILE);
        assert_int_equal(op->a.at, i);
        assert_int_equal(op->dst.at, TENSOR_PA + i * 4096);
    }
    machine_free(m);
}

/* ---- PE_DMA: channels ------------------------------------------------------------------------ */

static void a_full_channel_makes_send_wait_its_turn(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->hw.dma_queue_depth = 1;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), SEND(E, 4096), SEND(E, 4096), DONE}},
        {1, (const struct line[]){RECV(W, 4096), RECV(W, 4096), RECV(W, 4096), DONE}});
    /* the engine has the first tile from 4 to 36; the second call goes on then, and has the engine
     * until 68 */
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 0)), 4000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), 36000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 2)), 68000);
    machine_free(m);
}

static void a_channel_of_two_holds_the_one_in_service_and_one_more(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->hw.dma_queue_depth = 2;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), SEND(E, 4096), SEND(E, 4096), DONE}},
        {1, (const struct line[]){RECV(W, 4096), RECV(W, 4096), RECV(W, 4096), DONE}});
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), 8000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 2)), 36000);
    machine_free(m);
}

/*
 * Two tiles of 4096 bytes are sent at 4 and 8; a load of 4096 enters at 11. Chunks of 256 bytes
 * take 2 ns: the tiles' end at 6, 8, 10, 12, and from then on the channels take turns, vc_compute
 * first. HBM answers at once, so that the load ends with the engine's last chunk of it.
 */
static int64_t load_beside_two_tiles_ps(uint32_t compute_weight, uint32_t comm_weight)
{
    struct machine *m = small_machine(1, 1, 1);
    m->hw.overhead_ps[HW_NODE_HBM] = 0;
    m->hw.link[HW_LINK_HBM] = link_class(10, 1000);
    m->config.vc_weight[HW_VC_COMPUTE] = compute_weight;
    m->config.vc_weight[HW_VC_COMM] = comm_weight;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), SEND(E, 4096), LOAD(TENSOR_VA, 4096), DONE}},
        {1, (const struct line[]){RECV(W, 4096), RECV(W, 4096), DONE}});
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_LOAD, 0)), 8000);
    const int64_t end_ps = end_of(m, nth(m, 0, LP_OP_LOAD, 0));
    machine_free(m);
    return end_ps;
}

static void channels_share_the_engine_by_their_weights(void **state)
{
    (void)state;
    /* 16 chunks of the load and, between them, 15 of the tiles */
    assert_int_equal(load_beside_two_tiles_ps(1, 1), 12000 + 31 * 2000);
    /* two by two: 7 between */
    assert_int_equal(load_beside_two_tiles_ps(2, 1), 12000 + 23 * 2000);
    /* three after each, but there are only 32 - 4 */
    assert_int_equal(load_beside_two_tiles_ps(1, 3), 12000 + (16 + 28) * 2000);
    /* 4 and 2: 4 turns of the load, 3 of the tiles */
    assert_int_equal(load_beside_two_tiles_ps(4, 2), 12000 + (16 + 6) * 2000);
}

static void a_load_completes_with_its_data_where_that_is_later(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), SEND(E, 4096), LOAD(TENSOR_VA, 4096), DONE}},
        {1, (const struct line[]){RECV(W, 4096), RECV(W, 4096), DONE}});
    /* granted at 12; the engine's last chunk at 74, the data at 12 + 45.015 + 64 + 6.016 */
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_LOAD, 0)), 12000 + REQUEST + 64000 + RESPONSE);
    machine_free(m);
}

/* ---- records --------------------------------------------------------------------------------- */

static void expect_operand(const struct lp_operand *o, enum lp_space space, uint32_t at,
                           uint32_t dir, uint32_t flags)
{
    assert_int_equal(o->space, space);
    assert_int_equal(o->at, at);
    assert_int_equal(o->dir, dir);
    assert_int_equal(o->flags, flags);
}

static void each_call_leaves_a_record_of_what_it_moved(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){LOAD(TENSOR_VA + 32, 128), SEND(E, 128), DONE}},
        {1, (const struct line[]){RECV(W, 128), ADD_TILE(64), STORE(TENSOR_VA, 64), DONE}});
    const struct lp_op *load = nth(m, 0, LP_OP_LOAD, 0), *send = nth(m, 0, LP_OP_SEND, 0);
    const struct lp_op *recv = nth(m, 1, LP_OP_RECV, 0), *add = nth(m, 1, LP_OP_MATH, 0);
    const struct lp_op *store = nth(m, 1, LP_OP_STORE, 0);
    assert_int_equal(m->op_count, 5);
    assert_int_equal(load->bytes, 128);
    expect_operand(&load->a, LP_SPACE_HBM, TENSOR_PA + 32, 0, 0);
    expect_operand(&load->dst, LP_SPACE_TCM, 64, 0, 0);
    assert_int_equal(send->t_start_ps, load->t_end_ps);
    assert_int_equal(send->bytes, 128);
    assert_int_equal(send->dir, E);
    assert_int_equal(send->seq, 0);
    assert_int_equal(send->peer, 1);
    assert_int_equal(send->peer_dir, W);
    expect_operand(&send->a, LP_SPACE_TCM, 0, 0, 0);
    assert_int_equal(recv->dir, W);
    assert_int_equal(recv->seq, 0);
    assert_int_equal(recv->bytes, 128);
    assert_int_equal(add->math, LP_MATH_SUM);
    assert_int_equal(add->dtype, LP_F16);
    assert_int_equal(add->bytes, 128);
    expect_operand(&add->a, LP_SPACE_TCM, 0, 0, 0);
    expect_operand(&add->b, LP_SPACE_TILE, 0, W, LP_LAST_USE);
    expect_operand(&add->dst, LP_SPACE_TCM, 0, 0, 0);
    expect_operand(&store->a, LP_SPACE_TCM, 128, 0, 0);
    expect_operand(&store->dst, LP_SPACE_HBM, TENSOR_PA, 0, 0);
    machine_free(m);
}

static void records_come_in_causal_order(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), RECV(E, 16), ADD_TILE(8), DONE}},
        {1, (const struct line[]){RECV(W, 16), ADD_TILE(8), FORWARD(W, 16), DONE}});
    static const uint8_t pe[] = {0, 1, 1, 1, 0, 0};
    static const uint8_t kind[] = {LP_OP_SEND, LP_OP_RECV, LP_OP_MATH,
                                   LP_OP_SEND, LP_OP_RECV, LP_OP_MATH};
    assert_int_equal(m->op_count, COUNT_OF(kind));
    for (uint32_t i = 0; i < m->op_count; i++) {
        assert_int_equal(m->op[i].pe, pe[i]);
        assert_int_equal(m->op[i].kind, kind[i]);
        /* in the order of their ends; each of a PE begins when the one before it has ended, and so
         * a receive that waits begins before its tile is sent, and ends after it is there */
        for (uint32_t k = 0; k < i; k++) {
            assert_true(m->op[k].t_end_ps <= m->op[i].t_end_ps);
            if (m->op[k].pe == m->op[i].pe)
                assert_true(m->op[k].t_end_ps <= m->op[i].t_start_ps);
        }
        assert_true(m->op[i].t_start_ps < m->op[i].t_end_ps);
    }
    const struct lp_op *const sent = nth(m, 0, LP_OP_SEND, 0), *const came =
                                                                   nth(m, 1, LP_OP_RECV, 0);
    assert_true(came->t_start_ps < sent->t_end_ps);
    assert_true(came->t_end_ps > sent->t_end_ps);
    const struct lp_op *forward = nth(m, 1, LP_OP_SEND, 0);
    expect_operand(&forward->a, LP_SPACE_TILE, 0, W, LP_LAST_USE);
    machine_free(m);
}

static void a_second_launch_continues_the_queues(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    for (uint32_t batch = 0; batch < 3; batch++) {
        RUN(m, {0, (const struct line[]){SEND(E, 16), DONE}},
            {1, (const struct line[]){RECV(W, 16), DONE}});
        assert_int_equal(nth(m, 0, LP_OP_SEND, 0)->seq, batch);
        assert_int_equal(nth(m, 1, LP_OP_RECV, 0)->seq, batch);
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), 15136 + 9135);
    }
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_takes_the_request_and_the_data),
        cmocka_unit_test(a_store_blocks_until_it_is_acknowledged),
        cmocka_unit_test(an_idle_machine_is_as_fast_in_every_contention_mode),
        cmocka_unit_test(translation_costs_each_dma_operation),
        cmocka_unit_test(an_addition_takes_its_blocks_one_after_the_other),
        cmocka_unit_test(a_tile_in_hbm_takes_the_way_to_hbm),
        cmocka_unit_test(a_tile_in_sram_takes_the_way_to_sram),
        cmocka_unit_test(each_use_of_a_slot_outside_tcm_loads_the_tile),
        cmocka_unit_test(a_load_from_sram_goes_over_the_noc_and_back),
        cmocka_unit_test(two_operands_in_slots_are_two_loads),
        cmocka_unit_test(a_final_store_loads_each_tile_first),
        cmocka_unit_test(a_full_channel_makes_send_wait_its_turn),
        cmocka_unit_test(a_channel_of_two_holds_the_one_in_service_and_one_more),
        cmocka_unit_test(channels_share_the_engine_by_their_weights),
        cmocka_unit_test(a_load_completes_with_its_data_where_that_is_later),
        cmocka_unit_test(each_call_leaves_a_record_of_what_it_moved),
        cmocka_unit_test(records_come_in_causal_order),
        cmocka_unit_test(a_second_launch_continues_the_queues),
    };
    return cmocka_run_group_tests_name("lp_kernel", tests, NULL, NULL);
}
