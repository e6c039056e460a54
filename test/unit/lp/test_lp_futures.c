/*
 * test_lp_futures.c: recv_async and wait (lp/QUEUES.md, "Receive"): each recv_async has a tile of
 * its own (I-IPCQ-4), receives are waited for in any order, each once, and the tail moves on when
 * no earlier tile is missing.
 */
#include "test/support/test_lp_support.h"

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W

static struct machine *with_slots(uint32_t n_slots, enum hw_memory slots)
{
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = n_slots;
    m->config.slots = slots;
    machine_start(m);
    return m;
}

/* The n-th receive of PE 1 took this tile, of so many bytes. */
static void expect_received(const struct machine *m, uint32_t n, uint32_t tile, uint32_t bytes)
{
    const struct lp_op *recv = nth(m, 1, LP_OP_RECV, n);
    assert_int_equal(recv->seq, tile);
    assert_int_equal(recv->bytes, bytes);
}

static void expect_tail(const struct machine *m, uint32_t tail)
{
    assert_int_equal(queue_of(m, 1, W)->my_tail, tail);
    assert_int_equal(queue_of(m, 1, W)->promised, 0);
    assert_int_equal(queue_of(m, 0, E)->peer_tail_cache, tail);
}

static const struct line sends_three[] = {SEND(E, 16), SEND(E, 32), SEND(E, 48), DONE};

static void a_later_receive_does_not_take_its_tile(void **state)
{
    (void)state;
    for (enum hw_memory slots = 0; slots < HW_MEMORY_NONE; slots++) {
        struct machine *m = with_slots(8, slots);
        RUN(m, {0, sends_three},
            {1, (const struct line[]){RECV_ASYNC(0, W, 16), RECV(W, 32), RECV_ANY(48), WAIT(0, 16),
                                      DONE}});
        expect_received(m, 0, 1, 32);
        expect_received(m, 1, 2, 48);
        expect_received(m, 2, 0, 16);
        expect_tail(m, 3);
        machine_free(m);
    }
}

static void receives_are_waited_for_in_any_order(void **state)
{
    (void)state;
    static const uint8_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (uint32_t o = 0; o < 6; o++)
        for (uint32_t late = 0; late < 2; late++) {
            struct machine *m = with_slots(3, HW_MEMORY_TCM);
            const struct line waits[] = {DELAY(late ? 500 : 10),
                                         RECV_ASYNC(0, W, 16),
                                         RECV_ASYNC(1, W, 32),
                                         RECV_ASYNC(2, W, 48),
                                         WAIT(order[o][0], (order[o][0] + 1u) * 16),
                                         WAIT(order[o][1], (order[o][1] + 1u) * 16),
                                         WAIT(order[o][2], (order[o][2] + 1u) * 16),
                                         DONE};
            RUN(m, {0, sends_three}, {1, waits});
            for (uint32_t i = 0; i < 3; i++)
                expect_received(m, i, order[o][i], (order[o][i] + 1u) * 16);
            expect_tail(m, 3);
            machine_free(m);
        }
}

/* Twice as many as slots, and the last is waited for in the middle. */
static void more_may_be_under_way_than_there_are_slots(void **state)
{
    (void)state;
    enum { MANY = 16, SLOTS = 8 };
    static struct line sends[MANY + 1], receives[2 * MANY + 1];
    for (uint32_t i = 0; i < MANY; i++) {
        sends[i] = (struct line)SEND(E, 16);
        receives[i] = (struct line)RECV_ASYNC(i, W, 16);
        receives[MANY + i] = (struct line)WAIT(i < SLOTS ? SLOTS - 1 - i : i, 16);
    }
    struct machine *m = with_slots(SLOTS, HW_MEMORY_TCM);
    RUN(m, {0, sends}, {1, receives});
    for (uint32_t i = 0; i < MANY; i++)
        expect_received(m, i, i < SLOTS ? SLOTS - 1 - i : i, 16);
    expect_tail(m, MANY);
    RUN(m, {0, sends}, {1, receives}); /* and again, in other slots */
    expect_tail(m, 2 * MANY);
    machine_free(m);
}

/* The credit of a tile that is taken before its turn goes with that of the tile before. */
static void the_tail_waits_for_the_first_tile(void **state)
{
    (void)state;
    for (int fabric = 0; fabric < 2; fabric++) {
        struct machine *m = small_machine(1, 1, 1);
        m->config.n_slots = 2;
        m->config.credit_fabric = fabric;
        machine_start(m);
        RUN(m, {0, sends_three},
            {1, (const struct line[]){RECV_ASYNC(0, W, 16), RECV(W, 32), DELAY(1000), WAIT(0, 16),
                                      RECV(W, 48), DONE}});
        assert_true(nth(m, 0, LP_OP_SEND, 2)->t_end_ps > nth(m, 1, LP_OP_MATH, 0)->t_end_ps);
        expect_tail(m, 3);
        machine_free(m);
    }
}

/* A receive with tiles of two directions; streams have futures of their own. */
static void streams_have_their_own(void **state)
{
    (void)state;
    static const struct line stream[] = {RECV_ASYNC(0, W, 16), DELAY(300), WAIT(0, 16), DONE};
    struct machine *m = small_machine(1, 1, 1);
    m->needs.contexts = 2;
    machine_start(m);
    RUN(m, {0, sends_three},
        {1, (const struct line[]){FORK(stream), DELAY(30), RECV_ASYNC(0, W, 32), WAIT(0, 32),
                                  RECV_ALL(1u << W, 48), JOIN, DONE}});
    expect_tail(m, 3);
    machine_free(m);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void expect_fault(const struct line *script, const char *text)
{
    const struct part parts[] = {{0, (const struct line[]){SEND(E, 16), DONE}}, {1, script}};
    struct machine *m = with_slots(8, HW_MEMORY_TCM);
    char whole[300];
    assert_int_equal(try_scripts(m, parts, COUNT_OF(parts)), CW_PROGRAM_FAILED);
    snprintf(whole, sizeof whole, "PE 0.0.1, kernel script%s", text);
    assert_string_equal(m->error.text, whole);
    machine_free(m);
}

static void a_wait_needs_a_receive_that_was_begun(void **state)
{
    (void)state;
    expect_fault((const struct line[]){WAIT(0, 16), DONE},
                 ": wait for a receive that no recv_async has begun");
}

static void a_receive_is_waited_for_once(void **state)
{
    (void)state;
    expect_fault((const struct line[]){RECV_ASYNC(0, W, 16), WAIT(0, 16), WAIT(0, 16), DONE},
                 ": wait for tile 0 of direction intra_W, which has been received; a receive is "
                 "waited for once");
}

static void a_receive_that_is_never_waited_for(void **state)
{
    (void)state;
    expect_fault((const struct line[]){RECV_ASYNC(0, W, 16), DONE},
                 " ends without having waited for its receive of tile 0 of direction intra_W "
                 "(wait); its latest recv_async is");
    expect_fault(
        (const struct line[]){RECV_ASYNC(0, W, 16), RECV_ASYNC(1, W, 16), WAIT(0, 16), DONE},
        " ends without having waited for its receive of tile 1 of direction intra_W "
        "(wait); its latest recv_async is");
}

/* A tile that was received before its turn may be used; one that is promised may not. */
static void a_promised_tile_is_no_operand(void **state)
{
    (void)state;
    static const struct lp_operand first = {.space = LP_SPACE_TILE, .dir = W, .at = 0};
    const struct line add = LINE(DO_ADD_FROM, .src = first, .dst = {.space = LP_SPACE_TCM}, .n = 8);
    struct machine *m = with_slots(8, HW_MEMORY_TCM);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV_ASYNC(0, W, 16), RECV(W, 16), ADD_TILE(8), WAIT(0, 16), add,
                                  DONE}});
    machine_free(m);
    expect_fault((const struct line[]){RECV_ASYNC(0, W, 16), DELAY(400), add, WAIT(0, 16), DONE},
                 ": math of 16 bytes of tile 0 of direction intra_W, which has received 0 tiles");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_later_receive_does_not_take_its_tile),
        cmocka_unit_test(receives_are_waited_for_in_any_order),
        cmocka_unit_test(more_may_be_under_way_than_there_are_slots),
        cmocka_unit_test(the_tail_waits_for_the_first_tile),
        cmocka_unit_test(streams_have_their_own),
        cmocka_unit_test(a_wait_needs_a_receive_that_was_begun),
        cmocka_unit_test(a_receive_is_waited_for_once),
        cmocka_unit_test(a_receive_that_is_never_waited_for),
        cmocka_unit_test(a_promised_tile_is_no_operand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
