/*
 * test_lp_credits.c: settings of a PE's queues and PE_DMA in ccl.yaml (lp/QUEUES.md): credits over
 * the fabric, strict fairness, one channel for both kinds of work. Times are worked out by
 * hand beside each case.
 *
 * Between PEs of one router (in ns): issue 4; a credit of 16 bytes takes .125 in the engine, then
 * pe_dma 4 + .005 + router 1 + .005 + pe_dma 4, 9.135 in all, on its own wires as over the fabric.
 */
#include "test/support/test_lp_support.h"

enum { ISSUE = 4000, CREDIT = 9135 };

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W
#define S HW_DIR_INTRA_S
#define N HW_DIR_INTRA_N

static struct machine *credits_over_the_fabric(void)
{
    struct machine *m = small_machine(1, 1, 1);
    m->config.credit_fabric = true;
    m->config.n_slots = 1;
    return m;
}

static void a_credit_over_an_idle_fabric_takes_as_long_but_does_not_hold_its_kernel(void **state)
{
    (void)state;
    struct machine *m = credits_over_the_fabric();
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(100), RECV(W, 16), RECV(W, 16), DONE}});
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 0)), ISSUE);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), 100000 + ISSUE + CREDIT);
    /* no pointer is behind when nothing is left to do */
    assert_int_equal(queue_of(m, 0, E)->peer_tail_cache, 2);
    assert_int_equal(queue_of(m, 1, W)->my_tail, 2);
    machine_free(m);
}

/* The tile of 4096 bytes enters the engine at 104 and has passed at 136; the receive takes effect
 * at 108, and its credit goes behind the tile. */
static void a_credit_over_the_fabric_waits_for_what_is_before_it_in_vc_comm(void **state)
{
    (void)state;
    for (int fabric = 0; fabric < 2; fabric++) {
        struct machine *m = credits_over_the_fabric();
        m->config.credit_fabric = fabric;
        machine_start(m);
        RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
            {1, (const struct line[]){DELAY(100), SEND(E, 4096), RECV(W, 16), RECV(W, 16), DONE}},
            {2, (const struct line[]){RECV(W, 4096), DONE}});
        assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), (fabric ? 136000 : 108000) + CREDIT);
        assert_int_equal(took(nth(m, 1, LP_OP_RECV, 0)), fabric ? ISSUE : ISSUE + CREDIT);
        machine_free(m);
    }
}

/* With room for one operation the credit's issue waits until the tile has passed, at 136. */
static void a_receive_waits_for_a_place_for_its_credit(void **state)
{
    (void)state;
    struct machine *m = credits_over_the_fabric();
    m->hw.dma_queue_depth = 1;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(100), SEND(E, 4096), RECV(W, 16), RECV(W, 16), DONE}},
        {2, (const struct line[]){RECV(W, 4096), DONE}});
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), 136000);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), 136000 + CREDIT);
    machine_free(m);
}

static void credits_of_two_directions_find_their_senders(void **state)
{
    (void)state;
    struct machine *m = credits_over_the_fabric();
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(S, 4096), SEND(S, 16), DONE}},
        {5, (const struct line[]){SEND(W, 64), SEND(W, 64), DONE}},
        {4, (const struct line[]){RECV(N, 4096), RECV(E, 64), RECV(E, 64), RECV(N, 16), DONE}});
    assert_int_equal(queue_of(m, 0, S)->peer_tail_cache, 2);
    assert_int_equal(queue_of(m, 5, W)->peer_tail_cache, 2);
    machine_free(m);
}

/* Tiles come from W, then from E, then from S, one at a time; then W and E have one each. After S,
 * E is the next in order; W is the one whose turn is longest ago. */
static void strict_fairness_serves_the_direction_served_least_recently(void **state)
{
    (void)state;
    static const enum hw_dir expected[2][5] = {{W, E, S, E, W}, {W, E, S, W, E}};
    for (int strict = 0; strict < 2; strict++) {
        struct machine *m = small_machine(1, 1, 1);
        m->config.fairness_strict = strict;
        machine_start(m);
        RUN(m, {0, (const struct line[]){SEND(E, 16), DELAY(1000), SEND(E, 16), DONE}},
            {1, (const struct line[]){RECV_ANY(16), RECV_ANY(16), RECV_ANY(16), DELAY(2000),
                                      RECV_ANY(16), RECV_ANY(16), DONE}},
            {2, (const struct line[]){DELAY(200), SEND(W, 16), DELAY(1000), SEND(W, 16), DONE}},
            {5, (const struct line[]){DELAY(400), SEND(N, 16), DONE}});
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(nth(m, 1, LP_OP_RECV, i)->dir, expected[strict][i]);
        machine_free(m);
    }
}

/* A direction without data is passed over, but keeps its turn. */
static void strict_fairness_waits_for_nobody(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.fairness_strict = true;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV_ANY(16), RECV_ANY(16), DELAY(2000), RECV_ANY(16),
                                  RECV_ANY(16), RECV_ANY(16), DONE}},
        {2, (const struct line[]){DELAY(1000), SEND(W, 16), DONE}});
    static const enum hw_dir expected[] = {W, W, E, W, W};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(nth(m, 1, LP_OP_RECV, i)->dir, expected[i]);
    machine_free(m);
}

/* A tile of 4096 bytes enters the engine at 4; the load's request asks for it at 7. Two channels:
 * it has the engine at the end of the chunk in progress, at 8 (256 B take 2); one channel: behind
 * the tile, at 36. */
static void in_one_channel_a_load_waits_for_the_tile_before_it(void **state)
{
    (void)state;
    int64_t took_ps[2];
    for (int single = 0; single < 2; single++) {
        struct machine *m = small_machine(1, 1, 1);
        m->config.single_vc = single;
        machine_start(m);
        RUN(m, {0, (const struct line[]){SEND(E, 4096), LOAD(TENSOR_VA, 64), DONE}},
            {1, (const struct line[]){RECV(W, 4096), DONE}});
        took_ps[single] = took(nth(m, 0, LP_OP_LOAD, 0));
        machine_free(m);
    }
    assert_int_equal(took_ps[1] - took_ps[0], 28000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credit_over_an_idle_fabric_takes_as_long_but_does_not_hold_its_kernel),
        cmocka_unit_test(a_credit_over_the_fabric_waits_for_what_is_before_it_in_vc_comm),
        cmocka_unit_test(a_receive_waits_for_a_place_for_its_credit),
        cmocka_unit_test(credits_of_two_directions_find_their_senders),
        cmocka_unit_test(strict_fairness_serves_the_direction_served_least_recently),
        cmocka_unit_test(strict_fairness_waits_for_nobody),
        cmocka_unit_test(in_one_channel_a_load_waits_for_the_tile_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
