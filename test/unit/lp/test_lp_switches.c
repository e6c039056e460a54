/*
 * test_lp_switches.c: tiles that switches put together of parts (hw/HARDWARE.md, "Switches that
 * reduce"): times on an idle machine, worked out from the time of a way up and down; order, limits
 * and faults.
 */
#include "test/support/test_lp_support.h"

#include "hw/route.h"
#include "lp/queues/logical_wiring.h"

/* A PE's only direction, to switch 0. */
#define UP ((enum hw_dir)8)
enum { ISSUE = 4000, WIRE = 1000, BYTES = 4096 };

static int to_switch(void *arg, uint32_t rank, struct lp_neighbours *out, struct cw_error *error)
{
    (void)arg, (void)error;
    snprintf(out->at[0].dir, sizeof out->at[0].dir, "switch_0");
    out->at[0].rank = rank;
    out->count = 1;
    return CW_OK;
}

/* `sips` SIPs on one switch that reduces, with a kernel on PE 0 of each. */
static struct machine *on_switch(uint32_t sips, struct hw_switch_reduce reduce)
{
    struct machine *const m = small_machine(sips, 1, 1);
    struct lp_wiring *wiring;
    struct cw_error error;
    uint32_t pe[8];
    const struct hw_config ring = m->hw;
    m->hw = sips_of(&hw_switch, sips, 1);
    m->hw.cube_w = m->hw.cube_h = 1;
    m->hw.control_msg_bytes = 0;
    m->hw.overhead_ps[HW_NODE_IO_CPU] = m->hw.overhead_ps[HW_NODE_M_CPU] = 0;
    m->hw.math_lanes = 1;
    m->hw.fetch_store = ring.fetch_store;
    m->hw.reduce[0] = reduce;
    m->needs.trees = true;
    m->config.credit_blocks = false;
    for (uint32_t i = 0; i < sips; i++)
        pe[i] = i * hw_cubes(&m->hw) * hw_pes(&m->hw);
    const struct lp_wiring_request request = {.hw = &m->hw,
                                              .ranks = sips,
                                              .lanes = 1,
                                              .pe = pe,
                                              .credit_bytes = 16,
                                              .neighbours = to_switch};
    if (lp_wiring_create(&request, &wiring, &error) != CW_OK)
        fail_msg("%s", error.text);
    m->wiring = wiring;
    return m;
}

static void free_switch(struct machine *m)
{
    struct lp_wiring *const wiring = (struct lp_wiring *)(uintptr_t)m->wiring;
    machine_free(m);
    lp_wiring_free(wiring);
}

static uint32_t pe_of(const struct machine *m, uint32_t sip)
{
    return sip * hw_cubes(&m->hw) * hw_pes(&m->hw);
}

/* T of the way up to the switch and down to another SIP: all ways are alike. */
static int64_t way_ps(const struct machine *m, uint32_t bytes)
{
    return hw_path_ps(&m->hw, hw_place_of(&m->hw, 0), hw_place_of(&m->hw, pe_of(m, 1)),
                      HW_MEMORY_TCM, HW_OUTLET_NONE, HW_DIRS_MAX, bytes);
}

static void run_on_all(struct machine *m, const struct line *const script[], uint32_t sips)
{
    struct part part[8];
    for (uint32_t i = 0; i < sips; i++)
        part[i] = (struct part){pe_of(m, i), script[i]};
    run_scripts(m, part, sips);
}

/* When a SIP's n-th tile was there, since its first call began. */
static int64_t came_ps(const struct machine *m, uint32_t sip, uint32_t n)
{
    return nth(m, pe_of(m, sip), LP_OP_RECV, n)->t_end_ps -
           nth(m, pe_of(m, sip), LP_OP_SEND, 0)->t_start_ps;
}

static const struct line all[] = {GIVE(UP, BYTES, true), RECV(UP, BYTES), DONE};
static const struct line *const all_three[] = {all, all, all};

/* The switch forwards the tile as it comes, in every mode of contention. */
static void a_sum_takes_the_way_up_and_down_and_the_latency(void **state)
{
    (void)state;
    static const enum hw_contention modes[] = {HW_CONTENTION_NONE, HW_CONTENTION_MESSAGE,
                                               HW_CONTENTION_CHUNK};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        struct machine *const m =
            on_switch(3, (struct hw_switch_reduce){.mode = HW_REDUCE_PUSH, .latency_ps = 7000});
        m->hw.contention = modes[i];
        machine_start(m);
        run_on_all(m, all_three, 3);
        for (uint32_t sip = 0; sip < 3; sip++)
            assert_int_equal(came_ps(m, sip, 0), ISSUE + way_ps(m, BYTES) + 7000 + WIRE);
        free_switch(m);
    }
}

/* 10 GB/s: 4096 bytes take 409.6 ns in the unit, more than on any link. */
static void a_slow_unit_is_one_more_link(void **state)
{
    (void)state;
    const struct hw_switch_reduce slow = {
        .mode = HW_REDUCE_PUSH, .rate = {100, 1}, .latency_ps = 500};
    struct machine *const m = on_switch(3, slow);
    machine_start(m);
    run_on_all(m, all_three, 3);
    for (uint32_t sip = 0; sip < 3; sip++)
        assert_int_equal(came_ps(m, sip, 0), ISSUE + way_ps(m, 0) + 409600 + 500 + WIRE);
    free_switch(m);
}

/* One part alone has bytes: nothing is added. The giver's own tile is empty. */
static void what_one_gives_is_multicast_past_the_unit(void **state)
{
    (void)state;
    static const struct line giver[] = {GIVE(UP, BYTES, false), RECV(UP, 0), DONE};
    static const struct line taker[] = {GIVE(UP, 0, true), RECV(UP, BYTES), DONE};
    static const struct line *const script[] = {taker, giver, taker};
    const struct hw_switch_reduce slow = {
        .mode = HW_REDUCE_PUSH, .rate = {1000, 1}, .latency_ps = 9000};
    struct machine *const m = on_switch(3, slow);
    machine_start(m);
    run_on_all(m, script, 3);
    for (uint32_t sip = 0; sip < 3; sip++)
        assert_int_equal(came_ps(m, sip, 0), ISSUE + way_ps(m, BYTES) + WIRE);
    free_switch(m);
}

/* The tile waits for the last part. Its bytes are streamed with the last one's. */
static void the_last_part_decides(void **state)
{
    (void)state;
    static const struct line late[] = {DELAY(3000), GIVE(UP, BYTES, true), RECV(UP, BYTES), DONE};
    static const struct line *const script[] = {all, all, late};
    struct machine *const m = on_switch(3, (struct hw_switch_reduce){.mode = HW_REDUCE_PUSH});
    machine_start(m);
    run_on_all(m, script, 3);
    for (uint32_t sip = 0; sip < 3; sip++)
        assert_int_equal(came_ps(m, sip, 0),
                         (sip < 2 ? 3000000 : 0) + ISSUE + way_ps(m, BYTES) + WIRE);
    free_switch(m);
}

/* With one accumulator the second tile is added up when the first has left the unit, its latency
 * included; without the limit it follows it through the unit at once. */
static void tiles_wait_for_accumulators_in_order(void **state)
{
    (void)state;
    static const struct line two[] = {GIVE(UP, BYTES, true), GIVE(UP, BYTES, true), RECV(UP, BYTES),
                                      RECV(UP, BYTES), DONE};
    static const struct line *const script[] = {two, two, two};
    enum { SER = 409600, LATENCY = 20000 };
    for (uint32_t trees = 0; trees < 3; trees++) {
        const struct hw_switch_reduce slow = {
            .mode = HW_REDUCE_PUSH, .rate = {100, 1}, .latency_ps = LATENCY, .trees = trees};
        struct machine *const m = on_switch(3, slow);
        machine_start(m);
        run_on_all(m, script, 3);
        const int64_t first_ps = ISSUE + way_ps(m, 0) + SER + LATENCY + WIRE;
        for (uint32_t sip = 0; sip < 3; sip++) {
            assert_int_equal(came_ps(m, sip, 0), first_ps);
            assert_int_equal(came_ps(m, sip, 1), first_ps + SER + (trees == 1 ? LATENCY : 0));
        }
        free_switch(m);
    }
}

/* I-JOIN-1: many more tiles than slots, which nobody but a slow SIP holds up. */
static void a_slow_sip_holds_all_up_and_nothing_is_lost(void **state)
{
    (void)state;
    enum { TILES = 40 };
    static struct line fast[2 * TILES + 1], slow[3 * TILES + 1];
    for (uint32_t i = 0; i < TILES; i++) {
        fast[2 * i] = (struct line)GIVE(UP, 64, true);
        fast[2 * i + 1] = (struct line)RECV(UP, 64);
        slow[3 * i] = (struct line)DELAY(500);
        slow[3 * i + 1] = (struct line)GIVE(UP, 64, i % 3 == 0);
        slow[3 * i + 2] = (struct line)RECV(UP, i % 3 == 0 ? 64 : 0);
    }
    const struct line *const script[] = {fast, slow, fast, fast};
    struct machine *const m =
        on_switch(4, (struct hw_switch_reduce){.mode = HW_REDUCE_PUSH, .trees = 1});
    m->config.n_slots = 2;
    machine_start(m);
    run_on_all(m, script, 4);
    for (uint32_t sip = 0; sip < 4; sip++) {
        assert_int_equal(queue_of(m, pe_of(m, sip), UP)->my_tail, TILES);
        assert_int_equal(queue_of(m, pe_of(m, sip), UP)->peer_tail_cache, TILES);
    }
    free_switch(m);
}

static void expect_fault(const struct line *script, const char *expected)
{
    struct machine *const m = on_switch(2, (struct hw_switch_reduce){.mode = HW_REDUCE_PUSH});
    machine_start(m);
    const struct part part[] = {{0, script}, {pe_of(m, 1), all}};
    const int code = try_scripts(m, part, 2);
    if (code != CW_PROGRAM_FAILED)
        print_message("%s\n", m->error.text);
    assert_int_equal(code, CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, expected));
    free_switch(m);
}

static void parts_and_sends_are_told_apart(void **state)
{
    (void)state;
    static const struct line sends[] = {SEND(UP, BYTES), RECV(UP, BYTES), DONE};
    static const struct line waits[] = {RECV(UP, BYTES), DONE};
    expect_fault(sends, "IpcqInvalidDirection: PE 0.0.0, kernel script: a send in direction "
                        "switch_0, which leads to switches that reduce");
    expect_fault(waits, "IpcqDeadlock");
}

static void a_machine_without_trees_has_no_such_direction(void **state)
{
    (void)state;
    struct machine *const m = small_machine(2, 1, 1);
    struct lp_wiring *wiring;
    struct cw_error error;
    const uint32_t pe[] = {0, pe_of(m, 1)};
    const struct lp_wiring_request request = {
        .hw = &m->hw, .ranks = 2, .lanes = 1, .pe = pe, .neighbours = to_switch};
    assert_int_equal(lp_wiring_create(&request, &wiring, &error), CW_USAGE);
    assert_non_null(strstr(error.text, "the machine has 0 trees of switches that reduce"));
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_takes_the_way_up_and_down_and_the_latency),
        cmocka_unit_test(a_slow_unit_is_one_more_link),
        cmocka_unit_test(what_one_gives_is_multicast_past_the_unit),
        cmocka_unit_test(the_last_part_decides),
        cmocka_unit_test(tiles_wait_for_accumulators_in_order),
        cmocka_unit_test(a_slow_sip_holds_all_up_and_nothing_is_lost),
        cmocka_unit_test(parts_and_sends_are_told_apart),
        cmocka_unit_test(a_machine_without_trees_has_no_such_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
