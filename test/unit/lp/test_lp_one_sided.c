/*
 * test_lp_one_sided.c: puts and reducing puts (hw/HARDWARE.md, "Timing of a transfer", "Blocks of a
 * PE"; lp/QUEUES.md, "One-sided operations"): their costs, the times at which they become visible,
 * and their order among each other and with notifications (I-PUT-1). Notifications alone:
 * test_lp_notify.c.
 *
 * A put from PE 0, worked out by hand (in ns), n bytes:
 *     issue      pe_cpu 2 + pe_ipcq 2                                                      4.000
 *     from HBM   request: pe_dma 4 + .005 + router 1 + .010 + hbm 40, and to
 *                pe_dma: .010 + router 1 + .005                                           46.030
 *     from SRAM  (at PE 0's router) request: 4 + .005 + 1 + .005 + sram 3,
 *                and to pe_dma: .005 + 1 + .005                                            9.020
 *     to the peer's pe_dma, from pe_dma on:
 *     PE 1       4 + .005 + router 1 + .005 + 4                                            9.010
 *     next cube  4 + .005 + 3 routers 3 + 2 x .030 + .005 + ucie 4 + .020 + ucie 4 + .005
 *                + router 1 + .005 + 4                                                    20.100
 *     next SIP   4 + .005 + 3 routers 3 + 2 x .030 + .005 + ucie 4 + .020 + io_port 50
 *                + 2.100 + io_port 50 + .020 + ucie 4 + .005 + router 1 + .005 + 4       122.220
 *     into TCM   .001 + 1                                                                  1.001
 *     into HBM   .005 + router 1 + .010 + hbm 40                                          41.015
 *     into SRAM  .005 + router 1 + .005 + sram 3 (at the router of PE 0, too)              4.010
 * and once n bytes on the slowest link: pe_noc 128 GB/s, hbm 64, sram 256, sip_link 100, ucie 128.
 */
#include "test/support/test_lp_support.h"

enum { ISSUE = 4000, WIRE = 1000 };
enum { FROM_TCM = 0, FROM_HBM = 46030, FROM_SRAM = 9020 };
enum { TO_PE_1 = 9010, TO_CUBE = 20100, TO_SIP = 122220, HOP = 1030 };
enum { INTO_TCM = 1001, INTO_HBM = 41015, INTO_SRAM = 4010 };
enum { NOTIFIED = ISSUE + 125 + TO_PE_1 + WIRE }; /* 14.135: 16 bytes, no memory leg */

/* When the n-th put that landed at a PE became visible, since `from` began to put. */
static int64_t landed_ps(const struct machine *m, uint32_t pe, uint32_t n, uint32_t from)
{
    return nth(m, pe, LP_OP_LAND, n)->t_end_ps - nth(m, from, LP_OP_PUT, 0)->t_start_ps;
}

static void expect_at(const struct lp_operand *operand, enum lp_space space, uint32_t at)
{
    assert_int_equal(operand->space, space);
    assert_int_equal(operand->at, at);
}

/* ---- one put on an idle machine -------------------------------------------------------------- */

static const enum lp_space space_of[] = {LP_SPACE_TCM, LP_SPACE_HBM, LP_SPACE_SRAM};

static void check_put(enum hw_contention contention, uint32_t from, uint32_t into, uint32_t far,
                      uint32_t bytes)
{
    static const int64_t from_ps[] = {FROM_TCM, FROM_HBM, FROM_SRAM};
    static const int64_t far_ps[] = {TO_PE_1, TO_CUBE, TO_SIP};
    static const int64_t into_ps[] = {INTO_TCM, INTO_HBM, INTO_SRAM};
    static const uint32_t far_pe[] = {1, 8, 8};
    const bool hbm = from == 1 || into == 1, sip = far == 2;
    /* 16 and 4096 bytes: 64 GB/s, 100 GB/s, 128 GB/s */
    const int64_t ser_ps = bytes == 16 ? (hbm   ? 250
                                          : sip ? 160
                                                : 125)
                                       : (hbm   ? 64000
                                          : sip ? 40960
                                                : 32000);
    const struct line put[] = {LINE(DO_PUT, .peer = far_pe[far], .n = bytes,
                                    .src = {.space = space_of[from], .at = 512},
                                    .dst = {.space = space_of[into], .at = 1024}),
                               DONE};
    struct machine *m = machine_with_puts(far == 2 ? 2 : 1, far == 1 ? 2 : 1);
    m->hw.contention = contention;
    m->hw.overhead_ps[HW_NODE_PE_MMU] = 700; /* a put pays none */
    machine_start(m);
    RUN(m, {0, put});
    const struct lp_op *op = nth(m, 0, LP_OP_PUT, 0), *land = nth(m, far_pe[far], LP_OP_LAND, 0);
    assert_int_equal(took(op), ISSUE);
    assert_int_equal(landed_ps(m, far_pe[far], 0, 0),
                     ISSUE + from_ps[from] + far_ps[far] + into_ps[into] + ser_ps);
    assert_int_equal(m->op_count, 2);
    assert_int_equal(op->peer, far_pe[far]);
    assert_int_equal(land->peer, 0);
    assert_int_equal(op->seq, 0);
    assert_int_equal(land->seq, 0);
    assert_int_equal(op->math, 0);
    assert_int_equal(land->math, 0);
    assert_int_equal(op->bytes, bytes);
    assert_int_equal(land->bytes, bytes);
    expect_at(&op->a, space_of[from], 512);
    expect_at(&op->dst, space_of[into], 1024);
    expect_at(&land->dst, space_of[into], 1024);
    machine_free(m);
}

static void a_put_is_visible_when_its_last_byte_is_in_the_memory(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++)
        for (uint32_t i = 0; i < 27; i++) {
            check_put(c, i % 3, i / 3 % 3, i / 9, 16);
            check_put(c, i % 3, i / 3 % 3, i / 9, 4096);
        }
}

/* PE 7 is at router 3; the SRAM at router 0. */
static void a_put_from_sram_fetches_it_over_the_noc(void **state)
{
    (void)state;
    struct machine *m = started_with_puts(HW_CONTENTION_MESSAGE);
    RUN(m, {7, (const struct line[]){PUT(6, TCM(0), SRAM(0), 16), DONE}});
    assert_int_equal(landed_ps(m, 6, 0, 7), ISSUE + FROM_SRAM + 4 * HOP + TO_PE_1 + INTO_TCM + 125);
    machine_free(m);
}

static void a_received_tile_can_be_put(void **state)
{
    (void)state;
    struct machine *m = started_with_puts(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){SEND(HW_DIR_INTRA_E, 16), DONE}},
        {1, (const struct line[]){RECV(HW_DIR_INTRA_W, 16), PUT_TILE(0, TCM(64), 16), DONE}});
    const struct lp_op *put = nth(m, 1, LP_OP_PUT, 0);
    assert_int_equal(took(put), ISSUE);
    assert_int_equal(landed_ps(m, 0, 0, 1), ISSUE + TO_PE_1 + INTO_TCM + 125);
    assert_int_equal(put->a.space, LP_SPACE_TILE);
    assert_int_equal(put->a.flags, LP_LAST_USE);
    machine_free(m);
}

/* lp/QUEUES.md: a tile whose slot is in HBM is loaded first: load 3 + 45.015 + 6.016 + .250. */
static void putting_a_tile_out_of_a_slot_in_hbm_loads_it_first(void **state)
{
    (void)state;
    struct machine *m = machine_with_puts(1, 1);
    m->config.slots = HW_MEMORY_HBM;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(HW_DIR_INTRA_E, 16), DONE}},
        {1, (const struct line[]){RECV(HW_DIR_INTRA_W, 16), PUT_TILE(0, TCM(64), 16), DONE}});
    assert_int_equal(took(nth(m, 1, LP_OP_PUT, 0)), 54281 + ISSUE);
    assert_int_equal(landed_ps(m, 0, 0, 1), 54281 + ISSUE + TO_PE_1 + INTO_TCM + 125);
    machine_free(m);
}

/* ---- the channel ----------------------------------------------------------------------------- */

static void puts_wait_for_a_place_in_the_channel(void **state)
{
    (void)state;
    struct machine *m = machine_with_puts(1, 1);
    m->hw.dma_queue_depth = 2;
    machine_start(m);
    RUN(m, {0, (const struct line[]){PUT(1, TCM(0), TCM(0), 4096), PUT(2, TCM(0), TCM(0), 4096),
                                     PUT(1, TCM(0), TCM(0), 4096), NOTIFY(1, 0), DONE}});
    /* the engine has the first from 4 to 36, the second to 68: the third enters at 36, and the
     * notification at 68 */
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_PUT, 0)), 4000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_PUT, 1)), 8000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_PUT, 2)), 36000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_NOTIFY, 0)), 68000);
    assert_int_equal(landed_ps(m, 1, 0, 0), 36000 + TO_PE_1 + INTO_TCM);
    assert_int_equal(landed_ps(m, 1, 1, 0), 100000 + TO_PE_1 + INTO_TCM);
    machine_free(m);
}

/* The engine is occupied for n bytes, not until the memory has answered. */
static void a_put_from_hbm_keeps_its_place_while_the_engine_has_it(void **state)
{
    (void)state;
    struct machine *m = machine_with_puts(1, 1);
    m->hw.dma_queue_depth = 1;
    machine_start(m);
    RUN(m, {0, (const struct line[]){PUT(1, TCM(0), HBM(0), 4096), PUT(2, TCM(0), TCM(0), 16),
                                     PUT(2, TCM(0), TCM(0), 16), DONE}});
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_PUT, 0)), 4000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_PUT, 1)), 36000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_PUT, 2)), 40000);
    assert_int_equal(landed_ps(m, 1, 0, 0), ISSUE + FROM_HBM + TO_PE_1 + INTO_TCM + 64000);
    assert_int_equal(landed_ps(m, 2, 0, 0), 36125 + TO_PE_1 + HOP + INTO_TCM);
    machine_free(m);
}

/* ---- put_reduce ------------------------------------------------------------------------------ */

/* The unit is one more link: 4096 bytes take 16 at 256 GB/s, which hides behind pe_noc's 32, and
 * 128 at 32 GB/s, the slowest of the path. */
static void the_reduce_unit_is_one_more_link(void **state)
{
    (void)state;
    static const int64_t into_ps[] = {INTO_TCM, INTO_HBM, INTO_SRAM};
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++)
        for (uint32_t into = 0; into < 3; into++) {
            const struct line put[] = {LINE(DO_PUT_REDUCE, .peer = 1, .n = 4096, .src = TCM(0),
                                            .dst = {.space = space_of[into]}),
                                       DONE};
            struct machine *fast = started_with_puts(c), *slow = machine_with_puts(1, 1);
            slow->hw.contention = c;
            slow->hw.dma_reduce = per_ns(32, 1);
            machine_start(slow);
            RUN(fast, {0, put});
            RUN(slow, {0, put});
            assert_int_equal(landed_ps(fast, 1, 0, 0),
                             ISSUE + TO_PE_1 + into_ps[into] + (into == 1 ? 64000 : 32000));
            assert_int_equal(landed_ps(slow, 1, 0, 0), ISSUE + TO_PE_1 + into_ps[into] + 128000);
            assert_int_equal(nth(slow, 0, LP_OP_PUT, 0)->math, LP_MATH_SUM);
            assert_int_equal(nth(slow, 1, LP_OP_LAND, 0)->math, LP_MATH_SUM);
            assert_int_equal(nth(slow, 1, LP_OP_LAND, 0)->dtype, LP_F16);
            machine_free(fast);
            machine_free(slow);
        }
}

/*
 * Two of 4096 bytes, issued at 4 and 8, through a unit of 32 GB/s. The first is at the unit at
 * 36 + 10.011 and through it 128 - 32 later; the second waits for it.
 */
static void two_reductions_queue_at_the_unit(void **state)
{
    (void)state;
    static const int64_t second_ps[] = {
        /* no queues but the engine's: issue 8, wait 68 - 8 - 32, T */
        [HW_CONTENTION_NONE] = 8000 + 28000 + TO_PE_1 + INTO_TCM + 128000,
        [HW_CONTENTION_MESSAGE] = 4000 + TO_PE_1 + INTO_TCM + 128000 + 128000,
        /* the unit, slower than all before it, works on 32 chunks of 8 without a gap */
        [HW_CONTENTION_CHUNK] = 4000 + TO_PE_1 + INTO_TCM + 128000 + 128000,
    };
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = machine_with_puts(1, 1);
        m->hw.contention = c;
        m->hw.dma_reduce = per_ns(32, 1);
        machine_start(m);
        RUN(m, {0, (const struct line[]){PUT_REDUCE(1, TCM(0), TCM(0), 4096),
                                         PUT_REDUCE(1, TCM(0), TCM(0), 4096), DONE}});
        assert_int_equal(landed_ps(m, 1, 0, 0), ISSUE + TO_PE_1 + INTO_TCM + 128000);
        assert_int_equal(landed_ps(m, 1, 1, 0), second_ps[c]);
        machine_free(m);
    }
}

/* PEs 2 and 5, one step from PE 1, reduce there at the same instant; PE 0 puts plainly. */
static void the_unit_is_shared_by_all_senders_and_passed_by_plain_puts(void **state)
{
    (void)state;
    struct machine *m = machine_with_puts(1, 1);
    static const struct line reduce[] = {PUT_REDUCE(1, TCM(0), TCM(0), 4096), DONE};
    m->hw.dma_reduce = per_ns(32, 1);
    machine_start(m);
    RUN(m, {2, reduce}, {5, reduce},
        {0, (const struct line[]){DELAY(100), PUT(1, TCM(0), TCM(0), 16), DONE}});
    const int64_t alone_ps = ISSUE + TO_PE_1 + HOP + INTO_TCM + 128000;
    assert_int_equal(nth(m, 2, LP_OP_PUT, 0)->t_start_ps, nth(m, 5, LP_OP_PUT, 0)->t_start_ps);
    assert_int_equal(nth(m, 1, LP_OP_LAND, 0)->peer, 0);
    assert_int_equal(landed_ps(m, 1, 0, 0), ISSUE + TO_PE_1 + INTO_TCM + 125);
    assert_int_equal(landed_ps(m, 1, 1, 2), alone_ps);
    assert_int_equal(landed_ps(m, 1, 2, 2), alone_ps + 128000);
    machine_free(m);
}

/* The units of two PEs have nothing to do with each other. */
static void each_pe_has_a_reduce_unit_of_its_own(void **state)
{
    (void)state;
    struct machine *m = machine_with_puts(1, 1);
    m->hw.dma_reduce = per_ns(32, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){PUT_REDUCE(1, TCM(0), TCM(0), 4096), DONE}},
        {1, (const struct line[]){PUT_REDUCE(0, TCM(0), TCM(0), 4096), DONE}});
    assert_int_equal(landed_ps(m, 1, 0, 0), ISSUE + TO_PE_1 + INTO_TCM + 128000);
    assert_int_equal(landed_ps(m, 0, 0, 1), ISSUE + TO_PE_1 + INTO_TCM + 128000);
    machine_free(m);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The put of 4096 bytes to HBM is visible at 4 + 9.010 + 41.015 + 64; the notification would be at
 * 36.125 + 9.010 + 1. */
static void a_notification_waits_for_the_put_before_it(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = started_with_puts(c);
        RUN(m, {0, (const struct line[]){PUT(1, HBM(0), TCM(0), 4096), NOTIFY(1, 0), DONE}},
            {1, (const struct line[]){WAIT_NOTIFY(0, 0), DONE}});
        assert_int_equal(landed_ps(m, 1, 0, 0), ISSUE + TO_PE_1 + INTO_HBM + 64000);
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_WAIT_NOTIFY, 0)),
                         ISSUE + TO_PE_1 + INTO_HBM + 64000);
        /* the data pass sees it in this order, too */
        assert_true(nth(m, 1, LP_OP_LAND, 0) < nth(m, 1, LP_OP_WAIT_NOTIFY, 0));
        machine_free(m);
    }
}

static void a_notification_later_than_the_put_keeps_its_own_time(void **state)
{
    (void)state;
    struct machine *m = started_with_puts(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){PUT(1, TCM(0), TCM(0), 16), NOTIFY(1, 0), DONE}},
        {1, (const struct line[]){WAIT_NOTIFY(0, 0), DONE}});
    assert_int_equal(landed_ps(m, 1, 0, 0), ISSUE + TO_PE_1 + INTO_TCM + 125);
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_WAIT_NOTIFY, 0)), 4000 + NOTIFIED);
    machine_free(m);
}

/*
 * The first comes from HBM: visible at 4 + 46.030 + 10.011 + 64. The second leaves the engine at
 * 36.125 and would be there at 46.136, the notification at 36.250 + 9.010 + 1.
 */
static void what_overtakes_a_put_from_hbm_becomes_visible_with_it(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = started_with_puts(c);
        RUN(m,
            {0,
             (const struct line[]){PUT(1, TCM(0), HBM(0), 4096), PUT(1, TCM(0), TCM(64), 16),
                                   NOTIFY(1, 0), PUT(2, TCM(0), TCM(0), 16), NOTIFY(2, 0), DONE}},
            {1, (const struct line[]){WAIT_NOTIFY(0, 0), DONE}},
            {2, (const struct line[]){WAIT_NOTIFY(0, 0), DONE}});
        const int64_t first_ps = ISSUE + FROM_HBM + TO_PE_1 + INTO_TCM + 64000;
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(nth(m, 1, LP_OP_LAND, i)->seq, i);
            assert_int_equal(landed_ps(m, 1, i, 0), first_ps);
        }
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_WAIT_NOTIFY, 0)), first_ps);
        assert_true(nth(m, 1, LP_OP_LAND, 1) < nth(m, 1, LP_OP_WAIT_NOTIFY, 0));
        /* a transfer to another PE does not wait */
        assert_int_equal(landed_ps(m, 2, 0, 0), 36375 + TO_PE_1 + HOP + INTO_TCM);
        assert_int_equal(end_of(m, nth(m, 2, LP_OP_WAIT_NOTIFY, 0)), 36500 + TO_PE_1 + HOP + WIRE);
        machine_free(m);
    }
}

/* Contention none: 4096 bytes to HBM, visible at 118.025; 16 to TCM would be at 36.125 + 10.011. */
static void without_contention_a_short_put_does_not_overtake(void **state)
{
    (void)state;
    struct machine *m = started_with_puts(HW_CONTENTION_NONE);
    RUN(m,
        {0, (const struct line[]){PUT(1, HBM(0), TCM(0), 4096), PUT(1, TCM(0), TCM(0), 16), DONE}});
    assert_int_equal(landed_ps(m, 1, 0, 0), ISSUE + TO_PE_1 + INTO_HBM + 64000);
    assert_int_equal(landed_ps(m, 1, 1, 0), ISSUE + TO_PE_1 + INTO_HBM + 64000);
    assert_int_equal(nth(m, 1, LP_OP_LAND, 0)->seq, 0);
    machine_free(m);
}

/*
 * 64 KiB from HBM, then short puts, which the engine has from 516 on, one after the other. The
 * first is visible at 4 + 46.030 + 10.011 + 1024. Without contention all others overtake it and
 * become visible with it. By message they find pe_noc reserved since 49.015, until the first has
 * left it, and follow it, 125 ps each. In chunks they slip in between, and may hold its last one
 * up.
 */
enum { MANY = 60 };

static void check_overtaking(const struct machine *m, enum hw_contention contention)
{
    const int64_t first_ps = ISSUE + FROM_HBM + TO_PE_1 + INTO_TCM + 1024000;
    for (uint32_t i = 0; i <= MANY; i++) {
        assert_int_equal(nth(m, 1, LP_OP_LAND, i)->seq, i);
        if (contention == HW_CONTENTION_CHUNK)
            assert_in_range(landed_ps(m, 1, i, 0), first_ps, first_ps + 125);
        else
            assert_int_equal(landed_ps(m, 1, i, 0),
                             first_ps + (contention == HW_CONTENTION_MESSAGE ? i * 125 : 0));
    }
}

static void any_number_of_puts_may_overtake_one(void **state)
{
    (void)state;
    static struct line put[MANY + 2];
    put[0] = (struct line)PUT(1, TCM(0), HBM(0), 65536);
    for (uint32_t i = 1; i <= MANY; i++)
        put[i] = (struct line)PUT(1, TCM(0), TCM(0), 16);
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = started_with_puts(c);
        RUN(m, {0, put});
        check_overtaking(m, c);
        machine_free(m);
    }
}

/* A put and a notification in turn: each keeps a place of its own while it waits, eight for each
 * peer that the algorithm declares. */
static void puts_and_notifications_may_overtake_one(void **state)
{
    (void)state;
    static struct line put[2 * MANY + 2], wait[MANY + 1];
    put[0] = (struct line)PUT(1, TCM(0), HBM(0), 65536);
    for (uint32_t i = 0; i < MANY; i++) {
        put[1 + 2 * i] = (struct line)PUT(1, TCM(0), TCM(0), 16);
        put[2 + 2 * i] = (struct line)NOTIFY(1, i % TL_TAGS);
        wait[i] = (struct line)WAIT_NOTIFY(0, i % TL_TAGS);
    }
    struct machine *m = machine_with_puts(1, 1);
    const int64_t first_ps = ISSUE + FROM_HBM + TO_PE_1 + INTO_TCM + 1024000;
    const struct part parts[] = {{0, put}, {1, wait}};
    m->hw.contention = HW_CONTENTION_NONE;
    m->needs.peers = 15;
    machine_start(m);
    run_scripts(m, parts, COUNT_OF(parts));
    check_overtaking(m, HW_CONTENTION_NONE);
    for (uint32_t i = 0; i < MANY; i++) /* all are there when the first is */
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_WAIT_NOTIFY, i)), first_ps + i * 2000);
    machine_free(m);
    m = machine_with_puts(1, 1);
    m->hw.contention = HW_CONTENTION_NONE;
    m->needs.peers = 3;
    machine_start(m);
    assert_int_equal(try_scripts(m, parts, COUNT_OF(parts)), CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, "PE 0.0.1, kernel script: puts and notifications of its "
                                          "peers wait for earlier puts in more than the 24 places "
                                          "there are"));
    machine_free(m);
}

static void more_peers_than_declared_are_refused(void **state)
{
    (void)state;
    static const struct line to_two[] = {PUT(1, TCM(0), TCM(0), 16), PUT(2, TCM(0), TCM(0), 16),
                                         DONE},
                             to_three[] = {NOTIFY(3, 0), DONE}, long_work[] = {DELAY(5000), DONE};
    struct machine *m = machine_with_puts(1, 1);
    m->needs.peers = 1;
    machine_start(m);
    assert_int_equal(try_scripts(m, (const struct part[]){{0, to_two}}, 1), CW_PROGRAM_FAILED);
    assert_string_equal(m->error.text,
                        "PE 0.0.0, kernel script: put with PE 0.0.2, which is one more than the "
                        "PEs that this PE may exchange puts and notifications with; legal: 1 PEs, "
                        "as the algorithm declares (peers)");
    machine_free(m);
    m = machine_with_puts(1, 1);
    m->needs.peers = 1;
    machine_start(m);
    assert_int_equal(
        try_scripts(m, (const struct part[]){{0, to_three}, {1, to_three}, {3, long_work}}, 3),
        CW_PROGRAM_FAILED);
    assert_string_equal(m->error.text,
                        "PE 0.0.3, kernel script: a put or a notification comes from PE 0.0.1, "
                        "which is one more than the PEs that it may exchange them with; legal: 1 "
                        "PEs, as the algorithm declares (peers)");
    machine_free(m);
}

/* Numbers run over all peers; each peer's puts land in order. */
static void puts_are_numbered_over_all_peers(void **state)
{
    (void)state;
    struct machine *m = started_with_puts(HW_CONTENTION_MESSAGE);
    RUN(m,
        {0, (const struct line[]){PUT(1, TCM(0), HBM(0), 16), PUT(2, TCM(0), TCM(0), 16),
                                  PUT(3, SRAM(0), TCM(0), 16), PUT(1, TCM(0), TCM(0), 16), DONE}});
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(nth(m, 0, LP_OP_PUT, i)->seq, i);
    assert_int_equal(nth(m, 1, LP_OP_LAND, 0)->seq, 0);
    assert_int_equal(nth(m, 1, LP_OP_LAND, 1)->seq, 3);
    assert_int_equal(nth(m, 2, LP_OP_LAND, 0)->seq, 1);
    assert_int_equal(nth(m, 3, LP_OP_LAND, 0)->seq, 2);
    machine_free(m);
}

static void a_put_outside_of_a_memory_fails(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->needs.peers = 4;
    machine_start(m);
    const uint32_t end = (uint32_t)m->hw.tcm_bytes;
    const struct line script[] = {PUT(1, TCM(end - 15), TCM(0), 16), DONE};
    const struct part parts[] = {{0, script}};
    assert_int_equal(try_scripts(m, parts, COUNT_OF(parts)), CW_PROGRAM_FAILED);
    char text[128];
    snprintf(text, sizeof text, "put of 16 bytes at offset %u of TCM, which has %u", end - 15, end);
    assert_non_null(strstr(m->error.text, text));
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_put_is_visible_when_its_last_byte_is_in_the_memory),
        cmocka_unit_test(a_put_from_sram_fetches_it_over_the_noc),
        cmocka_unit_test(a_received_tile_can_be_put),
        cmocka_unit_test(putting_a_tile_out_of_a_slot_in_hbm_loads_it_first),
        cmocka_unit_test(puts_wait_for_a_place_in_the_channel),
        cmocka_unit_test(a_put_from_hbm_keeps_its_place_while_the_engine_has_it),
        cmocka_unit_test(the_reduce_unit_is_one_more_link),
        cmocka_unit_test(two_reductions_queue_at_the_unit),
        cmocka_unit_test(the_unit_is_shared_by_all_senders_and_passed_by_plain_puts),
        cmocka_unit_test(each_pe_has_a_reduce_unit_of_its_own),
        cmocka_unit_test(a_notification_waits_for_the_put_before_it),
        cmocka_unit_test(a_notification_later_than_the_put_keeps_its_own_time),
        cmocka_unit_test(what_overtakes_a_put_from_hbm_becomes_visible_with_it),
        cmocka_unit_test(without_contention_a_short_put_does_not_overtake),
        cmocka_unit_test(any_number_of_puts_may_overtake_one),
        cmocka_unit_test(puts_and_notifications_may_overtake_one),
        cmocka_unit_test(more_peers_than_declared_are_refused),
        cmocka_unit_test(puts_are_numbered_over_all_peers),
        cmocka_unit_test(a_put_outside_of_a_memory_fails),
    };
    return cmocka_run_group_tests_name("lp_one_sided", tests, NULL, NULL);
}
