/*
 * test_lp_fabric.c: transfers that share links, in each contention mode (hw/HARDWARE.md,
 * "Contention"), worked out by hand.
 */
#include "test/support/test_lp_support.h"

/* Nothing else moves: credits do not hold receivers up, tiles are received as they come. */
static struct machine *crossing(enum hw_contention contention, uint32_t cube_w)
{
    struct machine *m = small_machine(1, cube_w, 1);
    m->hw.contention = contention;
    m->config.credit_blocks = false;
    machine_start(m);
    return m;
}

/* When a PE's n-th tile was there, since PE `sender` began its first send. */
static int64_t visible_ps(const struct machine *m, uint32_t pe, uint32_t n, uint32_t sender)
{
    return nth(m, pe, LP_OP_RECV, n)->t_end_ps - nth(m, sender, LP_OP_SEND, 0)->t_start_ps;
}

/*
 * PEs 0 and 1 of cube 0, at one router, send 4096 bytes to their neighbours in cube 1 at the same
 * instant. Alone, a tile is visible after issue 4 + 21.101 + 32 + wire 1. The UCIe link is as fast
 * as the engine.
 */
static void tiles_that_share_a_link_follow_each_other(void **state)
{
    (void)state;
    enum { ALONE = 4000 + 21101 + 32000 + 1000 };
    static const struct {
        enum hw_contention contention;
        int64_t first_ps, second_ps;
    } cases[] = {
        {HW_CONTENTION_NONE, ALONE, ALONE},
        /* the second leaves the UCIe link 32 after the first */
        {HW_CONTENTION_MESSAGE, ALONE, ALONE + 32000},
        /* 16 chunks of each, alternating, 2 each: 64 instead of 32 */
        {HW_CONTENTION_CHUNK, ALONE + 30000, ALONE + 32000},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct machine *m = crossing(cases[i].contention, 2);
        static const struct line send[] = {SEND(HW_DIR_E, 4096), DONE};
        static const struct line recv[] = {RECV(HW_DIR_W, 4096), DONE};
        RUN(m, {0, send}, {1, send}, {8, recv}, {9, recv});
        assert_int_equal(visible_ps(m, 8, 0, 0), cases[i].first_ps);
        assert_int_equal(visible_ps(m, 9, 0, 0), cases[i].second_ps);
        machine_free(m);
    }
}

/*
 * PEs 2 and 5 send to PE 1 from equal distances: alone, issue 4 + engine 32 + pe_dma 4 + .005 + 1
 * + .030 + 1 + .005 + pe_dma 4 + .001 + 1 + wire 1. They meet on the link into PE 1.
 */
static void tiles_for_one_pe_share_the_link_into_it(void **state)
{
    (void)state;
    enum { ALONE = 4000 + 32000 + 11041 + 1000 };
    static const struct {
        enum hw_contention contention;
        int64_t first_ps, second_ps;
    } cases[] = {
        {HW_CONTENTION_NONE, ALONE, ALONE},
        {HW_CONTENTION_MESSAGE, ALONE, ALONE + 32000},
        {HW_CONTENTION_CHUNK, ALONE + 30000, ALONE + 32000},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct machine *m = crossing(cases[i].contention, 1);
        RUN(m, {1, (const struct line[]){RECV_ANY(4096), RECV_ANY(4096), DONE}},
            {2, (const struct line[]){SEND(HW_DIR_INTRA_W, 4096), DONE}},
            {5, (const struct line[]){SEND(HW_DIR_INTRA_N, 4096), DONE}});
        assert_int_equal(nth(m, 2, LP_OP_SEND, 0)->t_start_ps,
                         nth(m, 5, LP_OP_SEND, 0)->t_start_ps);
        assert_int_equal(visible_ps(m, 1, 0, 2), cases[i].first_ps);
        if (cases[i].second_ps > cases[i].first_ps + 4000) /* else its receive ends at its issue */
            assert_int_equal(visible_ps(m, 1, 1, 2), cases[i].second_ps);
        else
            assert_int_equal(visible_ps(m, 1, 1, 2), cases[i].first_ps + 4000);
        machine_free(m);
    }
}

/* The direction there and back are links of their own. */
static void opposite_directions_do_not_disturb_each_other(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = crossing(c, 1);
        static const struct line east[] = {SEND(HW_DIR_INTRA_E, 4096), RECV(HW_DIR_INTRA_E, 4096),
                                           DONE};
        static const struct line west[] = {SEND(HW_DIR_INTRA_W, 4096), RECV(HW_DIR_INTRA_W, 4096),
                                           DONE};
        RUN(m, {0, east}, {1, west});
        assert_int_equal(visible_ps(m, 0, 0, 0), 4000 + 32000 + 10011 + 1000);
        assert_int_equal(visible_ps(m, 1, 0, 0), 4000 + 32000 + 10011 + 1000);
        machine_free(m);
    }
}

/*
 * Slots in HBM: an arriving tile goes out of the PE again, over the link that a store's data takes
 * only through the engine. PE 1 stores 4096 bytes to its slice while a tile of 4096 bytes for the
 * same slice arrives: they meet on the slice's own link, 64 GB/s, 64 each.
 */
static void a_tile_and_a_store_meet_at_the_memory(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.slots = HW_MEMORY_HBM;
    machine_start(m);
    RUN(m, {0, (const struct line[]){DELAY(20), SEND(HW_DIR_INTRA_E, 4096), DONE}},
        {1, (const struct line[]){STORE(TENSOR_VA, 4096), RECV(HW_DIR_INTRA_W, 4096), DONE}});
    /* the store: issue 3, engine until 35, at the router 40.005, and through the hbm link, 32 more
     * than the engine's 32, at 72.005; .010 + 40, acknowledgement 5.015 */
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_STORE, 0)), 72005 + 40010 + 5015);
    /* the tile: engine from 24 to 56, at PE 1's pe_dma at 65.010, back at the router at 66.015;
     * alone it would leave the hbm link at 98.015, but that is free from 72.005: 136.005; .010
     * + 40 + wire 1; the receive was issued at 117.030 + 4, credit 9.135 */
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), 136005 + 40010 + 1000 + 9135);
    machine_free(m);
}

/*
 * PE 0 loads 4096 bytes from its HBM slice while a tile of 4096 arrives: both come over the link
 * into the PE. The request is at the memory at 3 + 45.015 = 48.015; the data at the router after 64
 * + .010 + 1. The tile leaves PE 1's engine at 86 and is at the router 5.005 later. Behind the
 * link: .005 + pe_dma 4 + .001 + pe_tcm 1 = 5.006, and a tile's wire 1.
 */
static void a_load_and_a_tile_share_the_link_into_their_pe(void **state)
{
    (void)state;
    static const struct {
        enum hw_contention contention;
        int64_t load_ps, recv_ps;
    } cases[] = {
        /* data 113.025 + 5.006; the receive is issued then, the tile has long been there */
        {HW_CONTENTION_NONE, 118031, 122031},
        /* the load had the link first: the tile leaves it 32 after it, at 145.025 */
        {HW_CONTENTION_MESSAGE, 118031, 151031},
        /* Pieces of 256 bytes, 2 on the link: the load's k-th is offered at 48.015 + 4 k, the
         * tile's j-th at 56 + 2 j. From the tile's first, at 61.005, the link is never idle: of its
         * pieces up to the last, at 86, 15 more are the tile's and 8 the load's (k = 2 ... 9). So
         * the tile is there at 107.005 + 6.006, and the load's other 6 end at 119.005. */
        {HW_CONTENTION_CHUNK, 119005 + 5006, 119005 + 5006 + 4000},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct machine *m = crossing(cases[i].contention, 1);
        RUN(m, {0, (const struct line[]){LOAD(TENSOR_VA, 4096), RECV(HW_DIR_INTRA_E, 4096), DONE}},
            {1, (const struct line[]){DELAY(50), SEND(HW_DIR_INTRA_W, 4096), DONE}});
        assert_int_equal(end_of(m, nth(m, 0, LP_OP_LOAD, 0)), cases[i].load_ps);
        assert_int_equal(end_of(m, nth(m, 0, LP_OP_RECV, 0)), cases[i].recv_ps);
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_that_share_a_link_follow_each_other),
        cmocka_unit_test(tiles_for_one_pe_share_the_link_into_it),
        cmocka_unit_test(opposite_directions_do_not_disturb_each_other),
        cmocka_unit_test(a_tile_and_a_store_meet_at_the_memory),
        cmocka_unit_test(a_load_and_a_tile_share_the_link_into_their_pe),
    };
    return cmocka_run_group_tests_name("lp_fabric", tests, NULL, NULL);
}
