/*
 * test_lp_remote_load.c: loads from memories of other PEs, raw stores and such loads with handles
 * (hw/HARDWARE.md, "Loads and stores"; lp/QUEUES.md, "Value semantics").
 *
 * PE 0, worked out by hand (in ns), n bytes. `far` is the way from PE_DMA to the PE_DMA of the
 * other PE, both included, as in test_lp_one_sided.c: PE 1 9.010, next cube 20.100, next SIP
 * 122.220. issue      pe_cpu 2 + pe_scheduler 1 + pe_mmu
 * 0                                      3.000 HBM        request: far - .005 - pe_dma 4 + .010 +
 * hbm 40                    far + 36.005 data: .010 + far - pe_dma 4 - .005 + .001 + pe_tcm 1 far
 * - 2.994 SRAM       request: far - .005 - pe_dma 4 + .005 + sram 3                     far - 1.000
 *                data: .005 + far - pe_dma 4 - .005 + .001 + pe_tcm 1               far - 2.999
 *     TCM        request: far + .001 + pe_tcm 1; data: .001 + far + .001 + pe_tcm 1
 * and once n bytes on the slowest link: pe_noc 128 GB/s, hbm 64, sip_link 100.
 */
#include "test/support/test_lp_support.h"

#include "collectives/data/data_pass.h"

enum { ISSUE = 3000, HOP = 1030, HBM_THERE = 36005, HBM_BACK = -2994 };
enum { SRAM_THERE = -1000, SRAM_BACK = -2999, TCM_THERE = 1001, TCM_BACK = 1002 };
enum { LOADED = ISSUE + 45015 + 1015 + 4000 + 1001 + 64000 }; /* 4096 bytes: 118.031 */

static struct machine *started(enum hw_contention contention, uint32_t sips, uint32_t cube_w)
{
    struct machine *m = small_machine(sips, cube_w, 1);
    m->hw.contention = contention;
    machine_start(m);
    return m;
}

/* ---- one load on an idle machine ------------------------------------------------------------- */

static const enum lp_space space_of[] = {LP_SPACE_TCM, LP_SPACE_HBM, LP_SPACE_SRAM};

static void check_load(enum hw_contention contention, uint32_t from, uint32_t far, uint32_t bytes)
{
    static const int64_t far_ps[] = {9010, 20100, 122220};
    static const int64_t there_ps[] = {TCM_THERE, HBM_THERE, SRAM_THERE};
    static const int64_t back_ps[] = {TCM_BACK, HBM_BACK, SRAM_BACK};
    const uint32_t peer = far == 0 ? 1 : 8;
    const int64_t rate = space_of[from] == LP_SPACE_HBM ? 64 : far == 2 ? 100 : 128;
    const struct line load[] = {LINE(DO_LOAD_FROM, .at = 256, .peer = peer, .n = bytes,
                                     .src = {.space = space_of[from], .at = 512}),
                                DONE};
    struct machine *m = started(contention, far == 2 ? 2 : 1, far == 1 ? 2 : 1);
    RUN(m, {0, load});
    const struct lp_op *lent = nth(m, peer, LP_OP_LENT, 0);
    const struct lp_op *op = nth(m, 0, LP_OP_LOAD_FROM, 0);
    const int64_t at_memory_ps = ISSUE + far_ps[far] + there_ps[from];
    assert_int_equal(start_of(m, op), 0);
    assert_int_equal(end_of(m, lent), at_memory_ps);
    assert_int_equal(took(lent), 0);
    assert_int_equal(took(op),
                     at_memory_ps + far_ps[far] + back_ps[from] + bytes * INT64_C(1000) / rate);
    assert_int_equal(lp_system_times(m->system)->last_end_ps, op->t_end_ps);
    assert_int_equal(lent->peer, 0);
    assert_int_equal(op->peer, peer);
    assert_int_equal(lent->seq, op->seq);
    assert_int_equal(lent->bytes, bytes);
    assert_int_equal(op->bytes, bytes);
    assert_int_equal(lent->a.space, space_of[from]);
    assert_int_equal(lent->a.at, 512);
    assert_int_equal(op->dst.space, LP_SPACE_TCM);
    assert_int_equal(op->dst.at, 256);
    assert_int_equal(op->dtype, LP_F16);
    machine_free(m);
}

static void a_remote_load_takes_the_way_there_and_back(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++)
        for (uint32_t from = 0; from < 3; from++)
            for (uint32_t far = 0; far < 3; far++) {
                check_load(c, from, far, 4096);
                check_load(c, from, far, 0);
            }
}

/* A machine of one cube, whose links and PE_DMAs may be late. */
static struct machine *late_machine(enum hw_contention contention, bool jitter, uint64_t seed)
{
    static const struct hw_jitter_kind late = {
        .active = true, .distribution = HW_JITTER_EXPONENTIAL, .mean_ps = 5000};
    struct machine *m = small_machine(1, 1, 1);
    m->hw.contention = contention;
    m->needs.contexts = 2;
    if (jitter) {
        m->hw.jittered = true;
        m->hw.jitter_seed = seed;
        m->hw.link_jitter[HW_LINK_HBM] = m->hw.link_jitter[HW_LINK_PE_NOC] = late;
        m->hw.link_jitter[HW_LINK_SRAM] = m->hw.node_jitter[HW_NODE_PE_DMA] = late;
    }
    machine_start(m);
    return m;
}

/* When PE 0 has made its two loads, beside a stream that sends to PE 1. */
static int64_t loaded_ps(struct machine *m, const struct line first, const struct line second,
                         int64_t *first_ps)
{
    static const struct line send[] = {SEND(HW_DIR_INTRA_E, 4096), SEND(HW_DIR_INTRA_E, 64), DONE};
    static const struct line receive[] = {RECV(HW_DIR_INTRA_W, 4096), RECV(HW_DIR_INTRA_W, 64),
                                          DONE};
    RUN(m, {0, (const struct line[]){FORK(send), first, DELAY(10), second, DELAY(11), JOIN, DONE}},
        {1, receive});
    const int64_t ps = start_of(m, nth(m, 0, LP_OP_MATH, 1));
    *first_ps = start_of(m, nth(m, 0, LP_OP_MATH, 0));
    machine_free(m);
    return ps;
}

/* Of its own slice and SRAM, in every mode, with and without jitter, beside other traffic. */
static void of_its_own_memories_it_is_a_load_to_the_picosecond(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const enum hw_contention contention = (enum hw_contention)(seed % 3);
        const bool jitter = contention != HW_CONTENTION_NONE && seed % 2, sram = seed / 3 % 2;
        const uint64_t va = sram ? tl_sram_va(4096) : TENSOR_VA;
        const struct lp_operand src = {.space = sram ? LP_SPACE_SRAM : LP_SPACE_HBM,
                                       .at = sram ? 4096 : TENSOR_PA};
        int64_t first_ps[2];
        const int64_t plain_ps =
            loaded_ps(late_machine(contention, jitter, seed), (struct line)LOAD(va, 3000),
                      (struct line)LOAD(va, 16), &first_ps[0]);
        const int64_t remote_ps = loaded_ps(late_machine(contention, jitter, seed),
                                            (struct line)LOAD_FROM(64, 0, src, 3000),
                                            (struct line)LOAD_FROM(64, 0, src, 16), &first_ps[1]);
        assert_int_equal(first_ps[0], first_ps[1]);
        assert_int_equal(plain_ps, remote_ps);
    }
}

/* PE 6 is two steps away: its slice, and its request and data go there and back. */
static void a_slice_at_another_router_is_reached_over_the_noc(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE, 1, 1);
    RUN(m, {0, (const struct line[]){LOAD_FROM(0, 6, HBM(0), 4096), LOAD_FROM(0, 1, HBM(0), 4096),
                                     DONE}});
    assert_int_equal(took(nth(m, 0, LP_OP_LOAD_FROM, 0)), LOADED + 4 * HOP);
    assert_int_equal(took(nth(m, 0, LP_OP_LOAD_FROM, 1)), LOADED); /* PE 1 is at PE 0's router */
    machine_free(m);
}

/* ---- contention ------------------------------------------------------------------------------ */

/* Both requests are at the memory at the same time; PE 0's is served first. */
static void two_loads_of_one_slice_share_it(void **state)
{
    (void)state;
    for (uint32_t far = 0; far < 2; far++) {
        const uint32_t peer = far ? 8 : 1;
        const struct line script[] = {LOAD_FROM(0, peer, HBM(0), 4096), DONE};
        struct machine *m = started(HW_CONTENTION_MESSAGE, 1, 2);
        RUN(m, {0, script}, {1, script});
        const int64_t alone_ps =
            far ? ISSUE + 2 * 20100 + HBM_THERE + HBM_BACK + 64000 : (int64_t)LOADED;
        assert_int_equal(took(nth(m, 0, LP_OP_LOAD_FROM, 0)), alone_ps);
        assert_int_equal(took(nth(m, 1, LP_OP_LOAD_FROM, 0)), alone_ps + 64000);
        machine_free(m);
    }
}

/* The engine passes 32 ns of the first load, then grants the second; the slice is free when the
 * first 64 ns are over, and takes as long again. */
static void loads_with_handles_go_on_beside_the_kernel(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE, 1, 2);
    RUN(m, {0, (const struct line[]){LOAD_FROM_ASYNC(0, 8, HBM(0), 4096, 0),
                                     LOAD_FROM_ASYNC(4096, 8, HBM(4096), 4096, 1), DELAY(20),
                                     WAIT_DMA(0), DELAY(10), WAIT_DMA(1), DELAY(11), DONE}});
    const int64_t alone_ps = ISSUE + 2 * 20100 + HBM_THERE + HBM_BACK + 64000;
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 0)), 2 * ISSUE);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_LOAD_FROM, 0)), alone_ps);
    assert_int_equal(took(nth(m, 0, LP_OP_LOAD_FROM, 0)), 0); /* starts and ends then */
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 1)), alone_ps);
    assert_int_equal(nth(m, 0, LP_OP_LOAD_FROM, 1)->dst.at, 4096);
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 2)), alone_ps + 64000);
    machine_free(m);
}

/* There 20.100 + 1.001 + 32 and back 20.100 + .001, as without a handle. */
static void raw_stores_with_handles_go_on_beside_the_kernel(void **state)
{
    (void)state;
    struct machine *m = started(HW_CONTENTION_MESSAGE, 1, 2);
    RUN(m, {0, (const struct line[]){STORE_TO_ASYNC(8, TCM(640), TCM(128), 4096, 1), DELAY(20),
                                     WAIT_DMA(1), DELAY(10), DONE}});
    const struct lp_op *op = nth(m, 0, LP_OP_STORE_TO, 0), *stored = nth(m, 8, LP_OP_STORED, 0);
    assert_int_equal(took(op), ISSUE);
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 0)), ISSUE);
    assert_int_equal(end_of(m, stored), ISSUE + 20100 + 1001 + 32000);
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 1)), ISSUE + 2 * 20100 + 1002 + 32000);
    assert_int_equal(stored->seq, op->seq);
    assert_int_equal(stored->dst.at, 640);
    machine_free(m);
}

/* A load that loses the engine to the other channel as it gets it has one request all the same. */
/* When the wait for a direct store of 4096 bytes to a memory of `peer` is over. */
static int64_t stored_directly_ps(enum hw_contention contention, uint32_t peer,
                                  struct lp_operand dst, uint32_t far)
{
    struct machine *m = started(contention, far == 2 ? 2 : 1, far == 1 ? 2 : 1);
    const struct line store[] = {STORE_DIRECT_ASYNC(peer, dst, TCM(0), 4096, 0), WAIT_DMA(0),
                                 DELAY(10), DONE};
    RUN(m, {0, store});
    const int64_t ps = start_of(m, nth(m, 0, LP_OP_MATH, 0));
    assert_int_equal(nth(m, peer, LP_OP_STORED, 0)->peer, 0);
    machine_free(m);
    return ps;
}

/* 4096 bytes: 64 ns at the HBM slice, 32 into the SRAM by way of pe_noc. Out as a load's request,
 * back as far as PE_DMA: the peer's PE_DMA, 4 ns and its link, is not in the way. */
static void a_direct_store_does_not_pass_the_peers_dma(void **state)
{
    (void)state;
    static const int64_t far_ps[] = {9010, 20100, 122220};
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++)
        for (uint32_t far = 0; far < 3; far++) {
            const uint32_t peer = far == 0 ? 1 : 8;
            const int64_t hbm_ps =
                stored_directly_ps(c, peer, (struct lp_operand){.space = LP_SPACE_HBM}, far);
            /* the call, out, and back */
            assert_int_equal(hbm_ps,
                             ISSUE + far_ps[far] + HBM_THERE + 64000 + 10 + far_ps[far] - 4005);
        }
}

/* Of its own slice it is a store, to the picosecond. */
static void of_its_own_slice_a_direct_store_is_a_store(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = started(c, 1, 1);
        const struct line store[] = {STORE_ASYNC(TENSOR_VA, 4096, 0), WAIT_DMA(0), DELAY(10), DONE};
        RUN(m, {0, store});
        const int64_t ps = start_of(m, nth(m, 0, LP_OP_MATH, 0));
        machine_free(m);
        assert_int_equal(stored_directly_ps(
                             c, 0, (struct lp_operand){.space = LP_SPACE_HBM, .at = TENSOR_PA}, 0),
                         ps);
    }
}

static void a_load_and_a_send_of_one_instant_share_the_engine(void **state)
{
    (void)state;
    static const struct line send[] = {SEND(HW_DIR_INTRA_E, 4096), SEND(HW_DIR_INTRA_E, 4096),
                                       DONE};
    static const struct line receive[] = {RECV(HW_DIR_INTRA_W, 4096), RECV(HW_DIR_INTRA_W, 4096),
                                          DONE};
    for (uint32_t ns = 9; ns < 20; ns++) {
        struct machine *m = small_machine(1, 2, 1);
        m->needs.contexts = 2;
        machine_start(m);
        RUN(m,
            {0, (const struct line[]){FORK(send), LOAD_FROM(0, 8, HBM(0), 4096), DELAY(ns),
                                      LOAD_FROM(0, 1, TCM(0), 4096), JOIN, DONE}},
            {1, receive});
        assert_int_equal(nth(m, 8, LP_OP_LENT, 0)->bytes, 4096);
        uint32_t lent = 0;
        for (uint32_t i = 0; i < m->op_count; i++)
            lent += m->op[i].kind == LP_OP_LENT;
        assert_int_equal(lent, 2);
        machine_free(m);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

enum { BYTES = 4096, WORDS = BYTES / 2 };

/* PEs 8 and 16 lend; PE 0 loads from both, one behind the other with one handle, and PE 1 too. */
static void check_values(enum cw_sync sync, uint32_t workers)
{
    static const struct line load[] = {LOAD_FROM_ASYNC(128, 8, HBM(TENSOR_PA), BYTES, 0),
                                       WAIT_DMA(0),
                                       STORE(TENSOR_VA, BYTES),
                                       LOAD_FROM_ASYNC(128, 16, HBM(TENSOR_PA), BYTES, 0),
                                       WAIT_DMA(0),
                                       STORE(TENSOR_VA + BYTES, BYTES),
                                       LOAD_FROM(128, 8, HBM(TENSOR_PA + BYTES), BYTES),
                                       STORE(TENSOR_VA + 2 * BYTES, BYTES),
                                       DONE};
    static const uint32_t lender[] = {8, 16, 8}, offset[] = {0, 0, BYTES};
    const uint32_t cube_worker[] = {0, 1 % workers, 5 % workers, 7 % workers};
    struct machine *m = small_machine(2, 2, 1);
    uint8_t expected[BYTES], got[BYTES];
    m->engine.sync = sync;
    m->engine.worker_count = workers;
    m->cube_worker = cube_worker;
    m->engine.tuning.stress_seed = workers;
    m->engine.tuning.stress_rate_p32 = 1ull << 30;
    m->with_data = true;
    machine_start(m);
    for (uint32_t pe = 0; pe < 32; pe++)
        assert_int_equal(data_pass_fill_input(m->data, pe, TENSOR_PA, DTYPE_F16, 1,
                                              (uint64_t)pe * SHARD_BYTES, 4 * WORDS, &m->error),
                         CW_OK);
    RUN(m, {0, load}, {1, load});
    machine_settle_data(m);
    for (uint32_t pe = 0; pe < 2; pe++)
        for (uint32_t i = 0; i < 3; i++) {
            data_pass_read(m->data, lender[i], TENSOR_PA + offset[i], expected, BYTES);
            data_pass_read(m->data, pe, TENSOR_PA + i * BYTES, got, BYTES);
            assert_memory_equal(got, expected, BYTES);
        }
    machine_free(m);
}

static void the_values_are_those_of_the_memory_on_any_number_of_threads(void **state)
{
    (void)state;
    check_values(CW_SEQUENTIAL, 1);
    for (uint32_t workers = 1; workers <= 8; workers *= 2) {
        check_values(CW_ADAPTIVE, workers);
        check_values(CW_STRESS, workers);
    }
}

/* Whether the value is that from before the lender's store, which is `ns` late. *between: the store
 * is complete while the data are on their way. */
static bool loads_old_value(uint32_t ns, bool *between)
{
    const struct line store[] = {
        DELAY(ns), LINE(DO_STORE_FROM, .at = TENSOR_VA + SHARD_BYTES, .src = TCM(0), .n = 16),
        DONE};
    const uint8_t zeros[16] = {0};
    struct machine *m = small_machine(1, 2, 1);
    uint8_t got[16], input[16];
    m->with_data = true;
    machine_start(m);
    assert_int_equal(data_pass_fill_input(m->data, 8, TENSOR_PA, DTYPE_F16, 1, 0, WORDS, &m->error),
                     CW_OK);
    data_pass_read(m->data, 8, TENSOR_PA, input, 16);
    RUN(m,
        {0, (const struct line[]){DELAY(100), LOAD_FROM(128, 8, HBM(TENSOR_PA), BYTES),
                                  STORE(TENSOR_VA, 16), DONE}},
        {8, store});
    machine_settle_data(m);
    const int64_t stored_ps = nth(m, 8, LP_OP_STORE, 0)->t_end_ps;
    const int64_t bound_ps = nth(m, 8, LP_OP_LENT, 0)->t_end_ps;
    *between = stored_ps > bound_ps && stored_ps < nth(m, 0, LP_OP_LOAD_FROM, 0)->t_end_ps;
    data_pass_read(m->data, 0, TENSOR_PA, got, 16);
    assert_memory_equal(got, stored_ps < bound_ps ? zeros : input, 16);
    machine_free(m);
    return stored_ps > bound_ps;
}

static void the_value_is_bound_when_the_request_is_at_the_memory(void **state)
{
    (void)state;
    uint32_t old = 0, runs = 0, during = 0;
    for (uint32_t ns = 10; ns < 250; ns += 10, runs++) {
        bool between;
        old += loads_old_value(ns, &between);
        during += between;
    }
    assert_in_range(old, 1, runs - 1);
    assert_in_range(during, 1, runs);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void expect_fault(const struct line line, const char *text)
{
    char expected[256];
    const struct line script[] = {line, DONE};
    const struct part parts[] = {{0, script}};
    struct machine *m = started(HW_CONTENTION_MESSAGE, 1, 1);
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    snprintf(expected, sizeof expected, "PE 0.0.0, kernel script%s", text);
    assert_string_equal(m->error.text, expected);
    machine_free(m);
}

static void a_place_outside_of_the_memories_is_a_fault(void **state)
{
    (void)state;
    expect_fault((struct line)LOAD_FROM(0, 8, HBM(0), 16),
                 ": load_from PE 8, which does not exist; there are 0 to 7");
    expect_fault((struct line)LOAD_FROM(0, 1, TCM((1 << 20) - 8), 16),
                 ": load_from of 16 bytes at offset 1048568 of TCM, which has 1048576");
    expect_fault((struct line)LOAD_FROM((1 << 20) - 8, 1, HBM(0), 16),
                 ": load_from of 16 bytes at offset 1048568 of TCM, which has 1048576");
    expect_fault((struct line)LOAD_FROM(0, 1, SRAM(4 << 20), 16),
                 ": load_from of 16 bytes at offset 4194304 of SRAM, which has 4194304");
    expect_fault(
        (struct line)LINE(DO_LOAD_FROM, .peer = 1, .n = 16, .src = {.space = LP_SPACE_TILE}),
        ": load_from of 16 bytes at a place in no memory (space 4); legal: tl_tcm(), "
        "tl_hbm(), tl_sram()");
    expect_fault((struct line)LOAD_FROM_ASYNC(0, 1, HBM(0), 16, 2),
                 ": load_from with handle 2, which is for stores alone; legal are 0 to 1");
    expect_fault((struct line)LOAD_FROM_ASYNC(0, 1, HBM(0), 16, 0),
                 " ends without having waited for handle 0 (wait_dma)");
    expect_fault((struct line)STORE_TO_ASYNC(1, HBM(0), TCM(0), 16, 3),
                 ": store_to with handle 3; there are 0 to 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remote_load_takes_the_way_there_and_back),
        cmocka_unit_test(of_its_own_memories_it_is_a_load_to_the_picosecond),
        cmocka_unit_test(a_slice_at_another_router_is_reached_over_the_noc),
        cmocka_unit_test(two_loads_of_one_slice_share_it),
        cmocka_unit_test(loads_with_handles_go_on_beside_the_kernel),
        cmocka_unit_test(raw_stores_with_handles_go_on_beside_the_kernel),
        cmocka_unit_test(a_direct_store_does_not_pass_the_peers_dma),
        cmocka_unit_test(of_its_own_slice_a_direct_store_is_a_store),
        cmocka_unit_test(a_load_and_a_send_of_one_instant_share_the_engine),
        cmocka_unit_test(the_values_are_those_of_the_memory_on_any_number_of_threads),
        cmocka_unit_test(the_value_is_bound_when_the_request_is_at_the_memory),
        cmocka_unit_test(a_place_outside_of_the_memories_is_a_fault),
    };
    return cmocka_run_group_tests_name("lp_remote_load", tests, NULL, NULL);
}
