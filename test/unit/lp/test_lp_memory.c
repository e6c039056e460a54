/*
 * test_lp_memory.c: copies, operations under way beside the kernel, receives of several tiles or
 * into a place, conversions and products, raw remote stores, regions (hw/HARDWARE.md, "Loads and
 * stores", "Blocks of a PE"; lp/QUEUES.md, "Receive").
 *
 * PE 0, at the router of the SRAM, worked out by hand (in ns), n bytes:
 *     issue      pe_cpu 2 + pe_scheduler 1 + pe_mmu 0                                      3.000
 *     to HBM     pe_dma 4 + .005 + router 1 + .010 + hbm 40                               45.015
 *     to SRAM    pe_dma 4 + .005 + router 1 + .005 + sram 3                                8.010
 *     from HBM to pe_dma: .010 + 1 + .005 (+ pe_dma 4)                                     1.015
 *     from SRAM to pe_dma: .005 + 1 + .005 (+ pe_dma 4)                                    1.010
 *     from pe_dma into TCM: .001 + 1                                                       1.001
 * and once n bytes on the slowest link: pe_noc 128 GB/s, hbm 64, sram 256.
 */
#include "test/support/test_lp_support.h"

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W
#define S HW_DIR_INTRA_S

enum { ISSUE = 3000, TO_HBM = 45015, TO_SRAM = 8010, FROM_HBM = 1015, FROM_SRAM = 1010 };
enum { DMA = 4000, INTO_TCM = 1001, HOP = 1030 };

static struct machine *started(enum hw_contention contention)
{
    struct machine *m = small_machine(1, 1, 1);
    m->hw.contention = contention;
    machine_start(m);
    return m;
}

static uint64_t sram_va(uint32_t at) { return tl_sram_va(at); }

static int64_t ser_ps(bool hbm, uint32_t bytes) { return bytes * 1000 / (hbm ? 64 : 128); }

/* ---- SRAM and copies ------------------------------------------------------------------------- */

static void loads_and_stores_reach_the_sram(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++)
        for (uint32_t bytes = 16; bytes <= 4096; bytes *= 256) {
            struct machine *m = started(c);
            RUN(m, {0, (const struct line[]){LOAD(sram_va(96), bytes), STORE(sram_va(64), bytes),
                                             DONE}});
            const struct lp_op *load = nth(m, 0, LP_OP_LOAD, 0), *store = nth(m, 0, LP_OP_STORE, 0);
            assert_int_equal(took(load),
                             ISSUE + TO_SRAM + FROM_SRAM + DMA + INTO_TCM + ser_ps(false, bytes));
            assert_int_equal(load->a.space, LP_SPACE_SRAM);
            assert_int_equal(load->a.at, 96);
            assert_int_equal(took(store), ISSUE + TO_SRAM + ser_ps(false, bytes) + FROM_SRAM + DMA);
            assert_int_equal(store->dst.space, LP_SPACE_SRAM);
            assert_int_equal(store->dst.at, 64);
            machine_free(m);
        }
}

/* A load's request, then one transfer over pe_dma; no acknowledgement. */
static void check_copy(enum hw_contention contention, bool from_hbm, bool to_hbm, uint32_t bytes)
{
    struct machine *m = started(contention);
    const uint64_t from = from_hbm ? TENSOR_VA + 128 : sram_va(128);
    const uint64_t to = to_hbm ? TENSOR_VA + 8192 : sram_va(8192);
    RUN(m, {0, (const struct line[]){COPY(to, from, bytes), DONE}});
    const struct lp_op *copy = nth(m, 0, LP_OP_COPY, 0);
    assert_int_equal(took(copy), ISSUE + (from_hbm ? TO_HBM + FROM_HBM : TO_SRAM + FROM_SRAM) +
                                     (to_hbm ? TO_HBM : TO_SRAM) +
                                     ser_ps(from_hbm || to_hbm, bytes));
    assert_int_equal(copy->bytes, bytes);
    assert_int_equal(copy->a.space, from_hbm ? LP_SPACE_HBM : LP_SPACE_SRAM);
    assert_int_equal(copy->a.at, from_hbm ? TENSOR_PA + 128 : 128);
    assert_int_equal(copy->dst.space, to_hbm ? LP_SPACE_HBM : LP_SPACE_SRAM);
    assert_int_equal(copy->dst.at, to_hbm ? TENSOR_PA + 8192 : 8192);
    machine_free(m);
}

static void a_copy_is_a_request_and_one_transfer(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++)
        for (uint32_t i = 0; i < 4; i++) {
            check_copy(c, i & 1, i & 2, 16);
            check_copy(c, i & 1, i & 2, 4096);
        }
}

/* PE 6 is two steps from the SRAM: request, data, data again. */
static void a_copy_in_sram_from_afar_goes_there_and_back(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m, {6, (const struct line[]){COPY(sram_va(0), sram_va(4096), 16), DONE}});
    assert_int_equal(took(nth(m, 6, LP_OP_COPY, 0)),
                     ISSUE + TO_SRAM + FROM_SRAM + TO_SRAM + 6 * HOP + 125);
    machine_free(m);
}

/* ---- beside the kernel ----------------------------------------------------------------------- */

enum { LOADED = ISSUE + TO_HBM + FROM_HBM + DMA + INTO_TCM + 64000 }; /* 4096 bytes: 118.031 */

static const struct lp_op *last_delay(const struct machine *m, uint32_t pe)
{
    const struct lp_op *last = NULL;
    for (uint32_t i = 0; i < m->op_count; i++)
        if (m->op[i].pe == pe && m->op[i].kind == LP_OP_MATH)
            last = &m->op[i];
    assert_non_null(last);
    return last;
}

/* PE 0 runs `script`, whose last call is a delay: when that begins. */
static int64_t reached_ps(const struct line *script)
{
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m, {0, script});
    const int64_t reached = start_of(m, last_delay(m, 0));
    machine_free(m);
    return reached;
}

static void a_load_goes_on_beside_the_kernel(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){LOAD_ASYNC(TENSOR_VA, 4096, 0), DELAY(50), WAIT_DMA(0),
                                     DELAY(10), DONE}});
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 0)), ISSUE);
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 1)), LOADED);
    machine_free(m);
}

static void waiting_for_what_is_done_costs_pe_cpu(void **state)
{
    (void)state;
    assert_int_equal(reached_ps((const struct line[]){LOAD_ASYNC(TENSOR_VA, 4096, 1), DELAY(200),
                                                      WAIT_DMA(1), DELAY(10), DONE}),
                     ISSUE + 200000 + 2000);
    /* done at 118.031, when the wait's overhead has been paid */
    assert_int_equal(reached_ps((const struct line[]){LOAD_ASYNC(TENSOR_VA, 4096, 1), DELAY(115),
                                                      WAIT_DMA(1), DELAY(10), DONE}),
                     ISSUE + 115000 + 2000);
}

static void stores_and_copies_go_on_beside_the_kernel(void **state)
{
    (void)state;
    assert_int_equal(reached_ps((const struct line[]){STORE_ASYNC(TENSOR_VA, 4096, 0), DELAY(20),
                                                      WAIT_DMA(0), DELAY(10), DONE}),
                     ISSUE + TO_HBM + 64000 + FROM_HBM + DMA);
    assert_int_equal(reached_ps((const struct line[]){COPY_ASYNC(TENSOR_VA, sram_va(0), 4096, 0),
                                                      DELAY(20), WAIT_DMA(0), DELAY(10), DONE}),
                     ISSUE + TO_SRAM + FROM_SRAM + TO_HBM + 64000);
}

/*
 * The engine has the first load from 3 to 35 and then grants the second, whose request is at the
 * memory at 80.015; the hbm link is taken until 112.015, so its data has left it at 176.015, and is
 * there 6.016 later.
 */
static void two_loads_share_the_memory(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){LOAD_ASYNC(TENSOR_VA, 4096, 0),
                                     LOAD_ASYNC(TENSOR_VA + 4096, 4096, 1), WAIT_DMA(0), DELAY(10),
                                     WAIT_DMA(1), DELAY(11), DONE}});
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 0)), LOADED);
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 1)), 182031);
    machine_free(m);
    assert_int_equal(reached_ps((const struct line[]){LOAD_ASYNC(TENSOR_VA, 4096, 0),
                                                      LOAD_ASYNC(TENSOR_VA + 4096, 4096, 1),
                                                      WAIT_DMA(1), WAIT_DMA(0), DELAY(11), DONE}),
                     182031 + 2000);
}

static void a_handle_can_be_used_again_once_it_was_waited_for(void **state)
{
    (void)state;
    assert_int_equal(reached_ps((const struct line[]){LOAD_ASYNC(TENSOR_VA, 4096, 0), WAIT_DMA(0),
                                                      LOAD_ASYNC(TENSOR_VA, 4096, 0), WAIT_DMA(0),
                                                      DELAY(10), DONE}),
                     2 * LOADED);
}

/* A blocking load is granted behind the asynchronous one: at 35; the same as above. */
static void a_blocking_load_does_not_complete_another(void **state)
{
    (void)state;
    assert_int_equal(
        reached_ps((const struct line[]){LOAD_ASYNC(TENSOR_VA, 16, 0), LOAD(TENSOR_VA, 4096),
                                         DELAY(10), WAIT_DMA(0), DELAY(11), DONE}),
        ISSUE + LOADED + 10000 + 2000);
}

/* Kernel and stream, each with its handle 0: the kernel's load first. */
static void each_context_has_handles_of_its_own(void **state)
{
    (void)state;
    static const struct line one[] = {LOAD_ASYNC(TENSOR_VA, 4096, 0), WAIT_DMA(0), DELAY(20), DONE};
    struct machine *m = small_machine(1, 1, 1);
    m->needs.contexts = 2;
    machine_start(m);
    RUN(m, {0, (const struct line[]){FORK(one), LOAD_ASYNC(TENSOR_VA, 4096, 0), WAIT_DMA(0),
                                     DELAY(10), JOIN, DONE}});
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 0)), 2000 + LOADED);
    /* granted at 5 + 32; the link is free at 114.015, and 64 later */
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 1)), 2000 + LOADED + 64000);
    machine_free(m);
}

static void expect_failure(struct machine *m, const struct line *script, const char *text)
{
    const struct part parts[] = {{0, script}};
    machine_start(m);
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    assert_string_equal(m->error.text, text);
    machine_free(m);
}

static void handles_that_name_nothing_are_errors(void **state)
{
    (void)state;
    expect_failure(small_machine(1, 1, 1),
                   (const struct line[]){LOAD_ASYNC(TENSOR_VA, 16, 0), WAIT_DMA(1), DONE},
                   "PE 0.0.0, kernel script: wait_dma for handle 1, which names no operation");
    expect_failure(
        small_machine(1, 1, 1),
        (const struct line[]){LOAD_ASYNC(TENSOR_VA, 16, 0), WAIT_DMA(0), WAIT_DMA(0), DONE},
        "PE 0.0.0, kernel script: wait_dma for handle 0, which names no operation");
    expect_failure(small_machine(1, 1, 1), (const struct line[]){WAIT_DMA(3), DONE},
                   "PE 0.0.0, kernel script: wait_dma with handle 3; there are 0 to 2");
    expect_failure(small_machine(1, 1, 1),
                   (const struct line[]){LOAD_ASYNC(TENSOR_VA, 16, 7), DONE},
                   "PE 0.0.0, kernel script: load with handle 7; there are 0 to 2");
    expect_failure(small_machine(1, 1, 1),
                   (const struct line[]){LOAD_ASYNC(TENSOR_VA, 16, 2), DONE},
                   "PE 0.0.0, kernel script: load with handle 2, which is for stores alone; legal "
                   "are 0 to 1");
}

/* A store of its own beside two loads: both loads are granted first. Each store is complete
 * ISSUE + 16 / 128 + TO_HBM + 16 / 64 - 16 / 128 + FROM_HBM + DMA after its call at the earliest.
 */
static void a_store_goes_on_beside_two_loads(void **state)
{
    (void)state;
    static const struct line loads[] = {LOAD_ASYNC(TENSOR_VA, 4096, 0),
                                        LOAD_ASYNC(TENSOR_VA, 4096, 1),
                                        STORE_ASYNC(TENSOR_VA, 16, 2),
                                        WAIT_DMA(2),
                                        DELAY(10),
                                        WAIT_DMA(0),
                                        WAIT_DMA(1),
                                        DONE};
    /* its call ends at 9; the engine turns to it when it has passed 2 x 32 ns from 3 on */
    const int64_t granted_ps = ISSUE + 2 * ser_ps(false, 4096);
    assert_int_equal(reached_ps(loads), granted_ps + TO_HBM + ser_ps(true, 16) + FROM_HBM + DMA);
    expect_failure(small_machine(1, 1, 1),
                   (const struct line[]){STORE_ASYNC(TENSOR_VA, 16, 2), DONE},
                   "PE 0.0.0, kernel script ends without having waited for handle 2 (wait_dma)");
    expect_failure(
        small_machine(1, 1, 1),
        (const struct line[]){STORE_ASYNC(TENSOR_VA, 16, 2), STORE_ASYNC(TENSOR_VA, 16, 2), DONE},
        "PE 0.0.0, kernel script: store with handle 2, whose last operation has not "
        "been waited for (wait_dma)");
}

static void a_handle_is_waited_for_before_it_names_another_or_the_kernel_ends(void **state)
{
    (void)state;
    expect_failure(small_machine(1, 1, 1),
                   (const struct line[]){LOAD_ASYNC(TENSOR_VA, 16, 0), DELAY(500),
                                         STORE_ASYNC(TENSOR_VA, 16, 0), DONE},
                   "PE 0.0.0, kernel script: store with handle 0, whose last operation has not "
                   "been waited for (wait_dma)");
    expect_failure(small_machine(1, 1, 1),
                   (const struct line[]){LOAD_ASYNC(TENSOR_VA, 16, 1), DELAY(500), DONE},
                   "PE 0.0.0, kernel script ends without having waited for handle 1 (wait_dma)");
}

/* ---- receiving several, and into a place ----------------------------------------------------- */

enum { VISIBLE = 15136, CREDIT = 9135 }; /* 16 bytes between neighbours at one router */

struct all {
    uint32_t delay_0, delay_1, delay_2;
    bool credit_blocks;
};

/* PE 1 receives a tile from PE 0 and from PE 2, a step further away, and then waits 10. */
static struct machine *receive_all(struct all all)
{
    const struct line zero[] = {DELAY(all.delay_0), SEND(E, 16), DONE},
                      two[] = {DELAY(all.delay_2), SEND(W, 16), DONE},
                      one[] = {DELAY(all.delay_1), RECV_ALL(1 << E | 1 << W, 16), DELAY(10), DONE};
    struct machine *m = small_machine(1, 1, 1);
    m->config.credit_blocks = all.credit_blocks;
    machine_start(m);
    RUN(m, {0, zero}, {1, one}, {2, two});
    assert_int_equal(nth(m, 1, LP_OP_RECV, 0)->bytes, 16);
    return m;
}

static int64_t visible_ps(const struct machine *m, uint32_t from)
{
    return start_of(m, nth(m, from, LP_OP_SEND, 0)) + VISIBLE + (from == 2 ? HOP : 0);
}

static void recv_all_resumes_after_the_last_credit(void **state)
{
    (void)state;
    /* PE 0's tile comes last, its credit is out last */
    struct machine *m = receive_all((struct all){40, 10, 10, true});
    assert_int_equal(nth(m, 1, LP_OP_RECV, 0)->dir, E);
    assert_int_equal(nth(m, 1, LP_OP_RECV, 1)->dir, W);
    assert_int_equal(start_of(m, last_delay(m, 1)), visible_ps(m, 0) + CREDIT);
    machine_free(m);
    /* PE 0's comes last, but the credit of PE 2's takes longer */
    m = receive_all((struct all){20, 10, 17, true});
    assert_in_range(visible_ps(m, 0) - visible_ps(m, 2), 1, HOP - 1);
    assert_int_equal(nth(m, 1, LP_OP_RECV, 0)->dir, E);
    assert_int_equal(start_of(m, last_delay(m, 1)), visible_ps(m, 2) + CREDIT + HOP);
    machine_free(m);
}

static void recv_all_of_what_is_there_pays_its_issue_once(void **state)
{
    (void)state;
    struct machine *m = receive_all((struct all){10, 200, 10, true});
    assert_int_equal(start_of(m, last_delay(m, 1)), 200000 + 4000 + CREDIT + HOP);
    machine_free(m);
}

static void recv_all_need_not_wait_for_credits(void **state)
{
    (void)state;
    struct machine *m = receive_all((struct all){40, 10, 10, false});
    assert_int_equal(start_of(m, last_delay(m, 1)), visible_ps(m, 0));
    machine_free(m);
}

/* The credit of a tile leaves when the tile comes: PE 2, with one slot, sends its next one long
 * before PE 0's first. */
static void recv_all_gives_credits_in_order_of_arrival(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = 1;
    machine_start(m);
    RUN(m, {0, (const struct line[]){DELAY(500), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV_ALL(1 << E | 1 << W, 16), RECV(E, 16), DONE}},
        {2, (const struct line[]){SEND(W, 16), SEND(W, 16), DONE}});
    assert_int_equal(took(nth(m, 2, LP_OP_SEND, 1)), VISIBLE + CREDIT + 2 * HOP - 4000);
    machine_free(m);
}

static void recv_all_names_a_direction_that_is_not_installed(void **state)
{
    (void)state;
    expect_failure(small_machine(1, 1, 1),
                   (const struct line[]){RECV_ALL(1 << E | 1 << HW_DIR_N, 16), DONE},
                   "IpcqInvalidDirection: PE 0.0.0, kernel script: recv_all in direction N, which "
                   "is not installed there; installed: intra_S, intra_E");
}

/* PE_FETCH_STORE takes 1 + 4096 / 512 each way; out of HBM and SRAM it is a load. */
static void recv_into_copies_the_tile_to_its_place(void **state)
{
    (void)state;
    static const int64_t copy_ps[] = {[HW_MEMORY_TCM] = 18000,
                                      [HW_MEMORY_HBM] = LOADED,
                                      [HW_MEMORY_SRAM] =
                                          ISSUE + TO_SRAM + FROM_SRAM + DMA + INTO_TCM + 32000};
    for (enum hw_memory memory = 0; memory < HW_MEMORY_NONE; memory++) {
        struct machine *m = small_machine(1, 1, 1);
        m->hw.fetch_store = default_machine().fetch_store;
        m->config.slots = memory;
        machine_start(m);
        RUN(m, {0, (const struct line[]){SEND(E, 4096), DONE}},
            {1,
             (const struct line[]){LOAD(TENSOR_VA, 16384), RECV_INTO(W, 4096, TCM(8192)), DONE}});
        const struct lp_op *recv = nth(m, 1, LP_OP_RECV, 0);
        assert_int_equal(took(recv), 4000 + CREDIT + copy_ps[memory]);
        assert_int_equal(recv->dst.space, LP_SPACE_TCM);
        assert_int_equal(recv->dst.at, 8192);
        assert_int_equal(m->op_count, 3);
        machine_free(m);
    }
}

/* A receive from any direction copies too: the tile of the direction whose turn it is, to the place
 * that the call names, at the cost of a receive that names its direction. */
static void recv_any_into_copies_the_tile_of_whichever_direction_has_one(void **state)
{
    (void)state;
    for (enum hw_memory memory = 0; memory < HW_MEMORY_NONE; memory++) {
        int64_t took_ps[2];
        for (int any = 0; any < 2; any++) {
            struct machine *m = small_machine(1, 1, 1);
            m->hw.fetch_store = default_machine().fetch_store;
            m->config.slots = memory;
            machine_start(m);
            RUN(m, {0, (const struct line[]){SEND(E, 4096), DONE}},
                {1, (const struct line[]){LOAD(TENSOR_VA, 16384),
                                          any ? (struct line)RECV_ANY_INTO(4096, TCM(8192))
                                              : (struct line)RECV_INTO(W, 4096, TCM(8192)),
                                          DONE}});
            const struct lp_op *const recv = nth(m, 1, LP_OP_RECV, 0);
            took_ps[any] = took(recv);
            assert_int_equal(recv->dir, W);
            assert_int_equal(recv->dst.space, LP_SPACE_TCM);
            assert_int_equal(recv->dst.at, 8192);
            machine_free(m);
        }
        assert_int_equal(took_ps[1], took_ps[0]);
    }
}

/* It takes its turn among the receives from any direction: the next one begins after it. */
static void recv_any_into_takes_turns(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(1000), RECV_ANY_INTO(16, TCM(64)), RECV_ANY(16),
                                  RECV_ANY_INTO(16, HBM(128)), DONE}},
        {2, (const struct line[]){SEND(W, 16), DONE}});
    assert_int_not_equal(nth(m, 1, LP_OP_RECV, 0)->dir, nth(m, 1, LP_OP_RECV, 1)->dir);
    assert_int_equal(nth(m, 1, LP_OP_RECV, 0)->dst.at, 64);
    assert_int_equal(nth(m, 1, LP_OP_RECV, 1)->dst.space, LP_SPACE_NONE);
    assert_int_equal(nth(m, 1, LP_OP_RECV, 2)->dir, W); /* the only one that still has a tile */
    assert_int_equal(nth(m, 1, LP_OP_RECV, 2)->dst.space, LP_SPACE_HBM);
    machine_free(m);
}

/* ---- conversions and products ---------------------------------------------------------------- */

/* fetch and store 1 + bytes / 512 each, math 4 + elements / 64 cycles, gemm 8 + cycles. */
static struct machine *computing(void)
{
    const struct hw_config defaults = default_machine();
    struct machine *m = small_machine(1, 1, 1);
    m->hw.fetch_store = defaults.fetch_store;
    m->hw.math_lanes = defaults.math_lanes;
    return m;
}

static void a_cast_moves_each_side_at_its_own_size(void **state)
{
    (void)state;
    struct machine *m = computing();
    machine_start(m);
    RUN(m, {0, (const struct line[]){CAST(LP_F16, LP_F32, 1024), CAST(LP_F32, LP_BF16, 1000),
                                     CAST(LP_F16, LP_BF16, 1), DONE}});
    const struct lp_op *op = nth(m, 0, LP_OP_CAST, 0);
    assert_int_equal(took(op), 3000 + 5000 + 20000 + 9000);
    assert_int_equal(op->dtype, LP_F16);
    assert_int_equal(op->math, LP_F32);
    assert_int_equal(op->bytes, 2048);
    op = nth(m, 0, LP_OP_CAST, 1);
    assert_int_equal(took(op), 3000 + 8813 + 20000 + 4907); /* 4000 and 2000 bytes, rounded up */
    assert_int_equal(op->dtype, LP_F32);
    assert_int_equal(op->math, LP_BF16);
    assert_int_equal(op->bytes, 4000);
    assert_int_equal(took(nth(m, 0, LP_OP_CAST, 2)), 3000 + 1004 + 5000 + 1004);
    machine_free(m);
}

static void a_product_takes_its_tiles(void **state)
{
    (void)state;
    struct machine *m = computing();
    machine_start(m);
    RUN(m, {0, (const struct line[]){DOT(32, 48, 64, 0), DOT(32, 48, 64, 1), DOT(17, 1, 33, 0),
                                     DONE}});
    /* 4096 + 6144 bytes; 2 x 3 x 4 tiles; 3072 bytes */
    const struct lp_op *op = nth(m, 0, LP_OP_GEMM, 0);
    assert_int_equal(took(op), 3000 + 21000 + 8000 + 24000 + 7000);
    assert_int_equal(op->seq, 32);
    assert_int_equal(op->peer, 64);
    assert_int_equal(op->bytes, 3072);
    assert_int_equal(op->math, 0);
    /* and the values that are there already */
    op = nth(m, 0, LP_OP_GEMM, 1);
    assert_int_equal(took(op), 3000 + 27000 + 8000 + 24000 + 7000);
    assert_int_equal(op->math, LP_MATH_SUM);
    /* 1122 + 66 bytes; 2 x 1 x 3 tiles; 34 bytes */
    assert_int_equal(took(nth(m, 0, LP_OP_GEMM, 2)), 3000 + 3321 + 14000 + 1067);
    machine_free(m);
}

/* Of 16 x 32 elements: the sums are 1024 bytes in f16, 2048 in f32. */
static void sums_in_f32_are_moved_at_their_own_size(void **state)
{
    (void)state;
    static const struct {
        uint8_t sums;
        uint32_t old, result; /* bytes */
    } kinds[] = {{TL_SUMS_NEW, 0, 1024},
                 {TL_SUMS_ADD, 1024, 1024},
                 {TL_SUMS_TO_F32, 0, 2048},
                 {TL_SUMS_FROM_F32 | TL_SUMS_TO_F32, 2048, 2048},
                 {TL_SUMS_FROM_F32, 2048, 1024}};
    struct machine *m = computing();
    machine_start(m);
    RUN(m, {0, (const struct line[]){DOT(16, 32, 64, 0), DOT(16, 32, 64, 1), DOT(16, 32, 64, 4),
                                     DOT(16, 32, 64, 6), DOT(16, 32, 64, 2), DONE}});
    for (uint32_t i = 0; i < 5; i++) {
        const struct lp_op *const op = nth(m, 0, LP_OP_GEMM, i);
        /* fetch 1 + (2048 + 4096 + old) / 512; gemm 8 + 1 x 2 x 4; store 1 + result / 512 */
        assert_int_equal(took(op), 3000 + 1000 + 12000 + kinds[i].old * 1000 / 512 + 16000 + 1000 +
                                       kinds[i].result * 1000 / 512);
        assert_int_equal(op->bytes, kinds[i].result);
        assert_int_equal(op->math, kinds[i].old > 0 ? LP_MATH_SUM : 0);
        assert_int_equal(op->dir, kinds[i].sums >> 1);
    }
    machine_free(m);
}

static void sums_of_other_kinds_are_refused(void **state)
{
    (void)state;
    static const char text[] = "PE 0.0.0, kernel script: dot with sums %u; legal: 0 (new), 1 "
                               "(add), 2 (from f32), 4 (to f32), 6 (from and to f32)";
    static const uint8_t sums[] = {3, 5, 7, 8, 255};
    for (size_t i = 0; i < sizeof sums; i++) {
        char expected[200];
        snprintf(expected, sizeof expected, text, sums[i]);
        expect_failure(small_machine(1, 1, 1), (const struct line[]){DOT(1, 1, 1, sums[i]), DONE},
                       expected);
    }
}

/* ---- work without operands ------------------------------------------------------------------- */

static void work_takes_what_it_says_and_the_block_s_overheads(void **state)
{
    (void)state;
    static const struct {
        enum tl_block block;
        int64_t overheads_ps;
    } blocks[] = {{TL_BLOCK_PE, 0}, {TL_BLOCK_GEMM, 3000 + 8000}, {TL_BLOCK_MATH, 3000 + 4000}};
    static const int64_t times_ps[] = {0, 1, 123457, 5000000000};
    for (size_t b = 0; b < 3; b++)
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(reached_ps((const struct line[]){WORK(blocks[b].block, times_ps[i]),
                                                              DELAY(10), DONE}),
                             blocks[b].overheads_ps + times_ps[i]);
}

/* PE_GEMM begins at 3, and ends 8 later than its work takes; the load begins at 6. */
static void a_block_works_beside_its_kernel(void **state)
{
    (void)state;
    for (int64_t ps = 0; ps < 400000; ps += 50000)
        assert_int_equal(
            reached_ps((const struct line[]){WORK_ASYNC(TL_BLOCK_GEMM, ps), LOAD(TENSOR_VA, 4096),
                                             WAIT_WORK, DELAY(10), DONE}),
            ps + 11000 > 3000 + LOADED + 2000 ? ps + 11000 : 3000 + LOADED + 2000);
}

static void work_that_no_block_does_is_refused(void **state)
{
    (void)state;
    expect_failure(small_machine(1, 1, 1), (const struct line[]){WORK(3, 1), DONE},
                   "PE 0.0.0, kernel script: work of block 3; legal: 0 (the PE) to 2 (PE_MATH)");
    expect_failure(small_machine(1, 1, 1), (const struct line[]){WORK(TL_BLOCK_PE, -1), DONE},
                   "PE 0.0.0, kernel script: work of -1 ps; legal: 0 to 2305843009213693951");
}

/* A [64][32], a whole slot, times B [32][1]: each factor is loaded with its own bytes, though the
 * result has 128. */
static void factors_in_slots_in_hbm_are_loaded_whole(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.slots = HW_MEMORY_HBM;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), SEND(E, 64), DONE}},
        {1, (const struct line[]){RECV(W, 4096), RECV(W, 64), DOT_TILES(64, 1, 32), DONE}});
    const int64_t load_ps = ISSUE + TO_HBM + FROM_HBM + DMA + INTO_TCM;
    /* fetch and store 1 each; 4 x 1 x 2 tiles */
    assert_int_equal(took(nth(m, 1, LP_OP_GEMM, 0)),
                     2 * load_ps + 64000 + 1000 + 3000 + 1000 + 8000 + 8000 + 1000);
    machine_free(m);
}

/* ---- raw remote stores ----------------------------------------------------------------------- */

/* T(path) as a put's: to PE 1's pe_dma 9.010, to the next cube's 20.100, to the next SIP's 122.220,
 * then 1.001 into TCM or 41.015 into HBM: there the data are STORED. The acknowledgement comes the
 * same way back, the memory's overhead not again, and the kernel goes on. The value is bound when
 * the store is issued. */
static void a_raw_store_takes_its_path_and_the_way_back(void **state)
{
    (void)state;
    static const int64_t far_ps[] = {9010, 20100, 122220};
    for (uint32_t i = 0; i < 18; i++) {
        const uint32_t far = i % 3, peer = far == 0 ? 1 : 8;
        const bool hbm = i / 3 % 2;
        const struct line store[] = {
            LINE(DO_STORE_TO, .peer = peer, .n = 4096,
                 .dst = {.space = hbm ? LP_SPACE_HBM : LP_SPACE_TCM, .at = 640}, .src = TCM(128)),
            DONE};
        struct machine *m = small_machine(far == 2 ? 2 : 1, far == 1 ? 2 : 1, 1);
        m->hw.contention = (enum hw_contention)(i / 6);
        machine_start(m);
        RUN(m, {0, store});
        const struct lp_op *op = nth(m, 0, LP_OP_STORE_TO, 0);
        const struct lp_op *stored = nth(m, peer, LP_OP_STORED, 0);
        const int64_t there_ps = ISSUE + far_ps[far] + (hbm ? 41015 : 1001) +
                                 (hbm        ? 64000
                                  : far == 2 ? 40960
                                             : 32000);
        const int64_t back_ps = far_ps[far] + (hbm ? 1015 : 1);
        assert_int_equal(took(op), ISSUE);
        assert_int_equal(end_of(m, stored) - start_of(m, op), there_ps);
        assert_int_equal(took(stored), 0);
        assert_int_equal(lp_system_times(m->system)->last_end_ps - op->t_start_ps,
                         there_ps + back_ps);
        assert_int_equal(op->peer, peer);
        assert_int_equal(stored->peer, 0);
        assert_int_equal(stored->seq, op->seq);
        assert_int_equal(op->bytes, 4096);
        assert_int_equal(stored->bytes, 4096); /* filled in from the STORE_TO, like these */
        assert_int_equal(op->dst.at, 640);
        assert_int_equal(stored->dst.at, 640);
        assert_int_equal(stored->dst.space, op->dst.space);
        assert_int_equal(op->a.at, 128);
        machine_free(m);
    }
}

static void a_raw_store_to_nobody_is_an_error(void **state)
{
    (void)state;
    expect_failure(small_machine(1, 1, 1), (const struct line[]){STORE_TO(8, HBM(0), 16), DONE},
                   "PE 0.0.0, kernel script: store_to PE 8, which does not exist");
}

/* ---- regions --------------------------------------------------------------------------------- */

static struct machine *with_regions(void)
{
    struct machine *m = small_machine(1, 1, 1);
    m->region[0] = (struct tl_region){0x100000, 0x40000, 0x10000};
    m->region[1] = (struct tl_region){0x200000, 0x80000, 100}; /* mapped to the byte */
    return m;
}

static void regions_are_mapped_to_their_place_in_hbm(void **state)
{
    (void)state;
    struct machine *m = with_regions();
    machine_start(m);
    RUN(m, {0, (const struct line[]){LOAD(0x100000, 16), STORE(0x10fff0, 16),
                                     COPY(0x200063, 0x10ffff, 1), LOAD(sram_va((4 << 20) - 1), 1),
                                     DONE}});
    assert_int_equal(nth(m, 0, LP_OP_LOAD, 0)->a.at, 0x40000);
    assert_int_equal(nth(m, 0, LP_OP_STORE, 0)->dst.at, 0x4fff0);
    assert_int_equal(nth(m, 0, LP_OP_COPY, 0)->a.at, 0x4ffff);
    assert_int_equal(nth(m, 0, LP_OP_COPY, 0)->dst.at, 0x80063);
    assert_int_equal(nth(m, 0, LP_OP_LOAD, 1)->a.at, (4 << 20) - 1);
    machine_free(m);
}

static void expect_fault(const struct line line, const char *what)
{
    const struct line script[] = {line, WAIT_DMA(0), DONE};
    const struct part parts[] = {{0, script}};
    struct machine *m = with_regions();
    machine_start(m);
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    if (strstr(m->error.text, "PageFault: PE 0.0.0, kernel script: ") != m->error.text ||
        strstr(m->error.text, what) == NULL)
        fail_msg("\"%s\" is no page fault of %s", m->error.text, what);
    machine_free(m);
}

static void what_is_outside_faults(void **state)
{
    (void)state;
    expect_fault((struct line)LOAD(0xfffff, 1), "load of 1 bytes at address 0xfffff,");
    expect_fault((struct line)LOAD(0x10ffff, 2), "load of 2 bytes at address 0x10ffff,");
    expect_fault((struct line)STORE(0x110000, 1), "store of 1 bytes at address 0x110000,");
    expect_fault((struct line)LOAD_ASYNC(0x200063, 2, 0), "load of 2 bytes at address 0x200063,");
    expect_fault((struct line)COPY(0x210000, 0x100000, 4), "copy of 4 bytes at address 0x210000,");
    expect_fault((struct line)COPY(0x100000, 0x210000, 4), "copy of 4 bytes at address 0x210000,");
    expect_fault((struct line)STORE(sram_va((4 << 20) - 1), 2),
                 "store of 2 bytes at address 0x40000000003fffff,");
    expect_fault((struct line)LOAD(UINT64_MAX, 1), "load of 1 bytes at address 0xffffffffffffffff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_reach_the_sram),
        cmocka_unit_test(a_copy_is_a_request_and_one_transfer),
        cmocka_unit_test(a_copy_in_sram_from_afar_goes_there_and_back),
        cmocka_unit_test(a_load_goes_on_beside_the_kernel),
        cmocka_unit_test(waiting_for_what_is_done_costs_pe_cpu),
        cmocka_unit_test(stores_and_copies_go_on_beside_the_kernel),
        cmocka_unit_test(two_loads_share_the_memory),
        cmocka_unit_test(a_handle_can_be_used_again_once_it_was_waited_for),
        cmocka_unit_test(a_blocking_load_does_not_complete_another),
        cmocka_unit_test(each_context_has_handles_of_its_own),
        cmocka_unit_test(handles_that_name_nothing_are_errors),
        cmocka_unit_test(a_store_goes_on_beside_two_loads),
        cmocka_unit_test(sums_in_f32_are_moved_at_their_own_size),
        cmocka_unit_test(sums_of_other_kinds_are_refused),
        cmocka_unit_test(work_takes_what_it_says_and_the_block_s_overheads),
        cmocka_unit_test(a_block_works_beside_its_kernel),
        cmocka_unit_test(work_that_no_block_does_is_refused),
        cmocka_unit_test(a_handle_is_waited_for_before_it_names_another_or_the_kernel_ends),
        cmocka_unit_test(recv_all_resumes_after_the_last_credit),
        cmocka_unit_test(recv_all_of_what_is_there_pays_its_issue_once),
        cmocka_unit_test(recv_all_need_not_wait_for_credits),
        cmocka_unit_test(recv_all_gives_credits_in_order_of_arrival),
        cmocka_unit_test(recv_all_names_a_direction_that_is_not_installed),
        cmocka_unit_test(recv_into_copies_the_tile_to_its_place),
        cmocka_unit_test(recv_any_into_copies_the_tile_of_whichever_direction_has_one),
        cmocka_unit_test(recv_any_into_takes_turns),
        cmocka_unit_test(a_cast_moves_each_side_at_its_own_size),
        cmocka_unit_test(a_product_takes_its_tiles),
        cmocka_unit_test(factors_in_slots_in_hbm_are_loaded_whole),
        cmocka_unit_test(a_raw_store_takes_its_path_and_the_way_back),
        cmocka_unit_test(a_raw_store_to_nobody_is_an_error),
        cmocka_unit_test(regions_are_mapped_to_their_place_in_hbm),
        cmocka_unit_test(what_is_outside_faults),
    };
    return cmocka_run_group_tests_name("lp_memory", tests, NULL, NULL);
}
