/*
 * test_lp_ipcq.c: the queue protocol (lp/QUEUES.md, "Send" and "Receive", invariants I-IPCQ-1 to
 * I-IPCQ-3): each wait, and its end to the picosecond.
 *
 * Most tests send 16 bytes from PE 0 to PE 1 of one cube, which share a router. Of that transfer
 * the reference works out by hand (in ns):
 *     issue    pe_cpu 2 + pe_ipcq 2                                   4.000
 *     engine   16 B / 128 GB/s                                        0.125
 *     path     pe_dma 4 + .005 + router 1 + .005 + pe_dma 4
 *              + .001 + pe_tcm 1                                     10.011
 *     wire                                                            1.000
 *     credit   4 + .005 + 1 + .005 + 4 + 16 / 128                     9.135
 */
#include "test/support/test_lp_support.h"

#include "lp/layout.h"
#include "lp/lp_kinds.h"

enum { ISSUE = 4000, ENGINE = 125, PATH = 10011, WIRE = 1000, CREDIT = 9135 };
enum { VISIBLE = ISSUE + ENGINE + PATH + WIRE }; /* after the send call began: 15.136 */

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W
#define S HW_DIR_INTRA_S
#define N HW_DIR_INTRA_N

/* ---- send and receive ------------------------------------------------------------------------ */

static void a_send_without_back_pressure_goes_on_at_once(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 4096), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 16), RECV(W, 4096), RECV(W, 16), DONE}});
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(start_of(m, nth(m, 0, LP_OP_SEND, i)), i * ISSUE);
        assert_int_equal(took(nth(m, 0, LP_OP_SEND, i)), ISSUE);
    }
    machine_free(m);
}

/* D1: PE_IPCQ only notes the tile, so each send costs its issue, whatever the tile's size; PE_DMA
 * moves its bytes, one tile after the other, at 128 B/ns. */
static void pe_ipcq_controls_and_pe_dma_moves(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 4096), SEND(E, 4096), SEND(E, 4096), DONE}},
        {1, (const struct line[]){RECV(W, 4096), RECV(W, 4096), RECV(W, 4096), DONE}});
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(took(nth(m, 0, LP_OP_SEND, i)), ISSUE);
    for (uint32_t i = 1; i < 3; i++)
        assert_true(end_of(m, nth(m, 1, LP_OP_RECV, i)) - end_of(m, nth(m, 1, LP_OP_RECV, i - 1)) >=
                    32000);
    machine_free(m);
}

/* I6, I7: the head announces a tile in the event in which its data is there: no receive takes the
 * next tile before that one has come. */
static void the_head_announces_no_tile_that_is_not_there(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m,
        {0, (const struct line[]){SEND(E, 16), DELAY(1000), SEND(E, 16), DELAY(1000), SEND(E, 16),
                                  DONE}},
        {1, (const struct line[]){RECV(W, 16), RECV(W, 16), RECV(W, 16), DONE}});
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(nth(m, 1, LP_OP_RECV, i)->seq, i);
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, i)),
                         start_of(m, nth(m, 0, LP_OP_SEND, i)) + VISIBLE + CREDIT);
    }
    machine_free(m);
}

static void recv_on_an_empty_queue_waits_for_the_sender(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){DELAY(100), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 16), DONE}});
    const struct lp_op *recv = nth(m, 1, LP_OP_RECV, 0);
    assert_int_equal(start_of(m, nth(m, 0, LP_OP_SEND, 0)), 100000);
    assert_int_equal(start_of(m, recv), 0);
    assert_int_equal(end_of(m, recv), 100000 + VISIBLE + CREDIT);
    machine_free(m);
}

static void recv_of_a_tile_that_is_there_costs_its_issue_and_the_credit(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(100), RECV(W, 16), DONE}});
    assert_int_equal(start_of(m, nth(m, 1, LP_OP_RECV, 0)), 100000);
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 0)), ISSUE + CREDIT);
    machine_free(m);
}

static void a_full_ring_makes_send_wait_for_the_credit(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = 2;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(1000), RECV(W, 16), RECV(W, 16), RECV(W, 16), DONE}});
    assert_int_equal(took(nth(m, 0, LP_OP_SEND, 0)), ISSUE);
    assert_int_equal(took(nth(m, 0, LP_OP_SEND, 1)), ISSUE);
    /* the first tile is consumed at 1000 + 4; its credit is with the sender 9.135 later */
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 2)), 1000000 + ISSUE + CREDIT);
    machine_free(m);
}

static void with_one_slot_send_and_receive_alternate(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = 1;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 16), RECV(W, 16), RECV(W, 16), DONE}});
    /* visible at 15.136, credit at both ends at 24.271; the waiting send's tile then takes
     * .125 + 10.011 + 1, and its credit again 9.135: a round of 20.271 */
    const int64_t round = ENGINE + PATH + WIRE + CREDIT;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, i)), ISSUE + i * round);
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, i)), ISSUE + (i + 1) * round);
    }
    machine_free(m);
}

static void a_receiver_need_not_wait_for_its_credit(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = 1;
    m->config.credit_blocks = false;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(100), RECV(W, 16), RECV(W, 16), DONE}});
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 0)), ISSUE);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), 100000 + ISSUE + CREDIT);
    /* the second tile: visible .125 + 10.011 + 1 after that */
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 1)),
                     100000 + ISSUE + CREDIT + ENGINE + PATH + WIRE);
    machine_free(m);
}

/* Between cubes 2 mm apart, 8 GB/s: a large tile takes 512 ns, a small one 2. */
static struct machine *slow_ucie(enum hw_contention contention)
{
    struct machine *m = small_machine(1, 2, 1);
    m->hw.contention = contention;
    m->hw.link[HW_LINK_UCIE] = link_class(20, 8);
    machine_start(m);
    return m;
}

static void tiles_of_a_queue_become_visible_in_order(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = slow_ucie(c);
        RUN(m, {0, (const struct line[]){SEND(HW_DIR_E, 4096), SEND(HW_DIR_E, 16), DONE}},
            {8, (const struct line[]){RECV(HW_DIR_W, 4096), RECV(HW_DIR_W, 16), DONE}});
        /* visible: issue 4 + nodes and flight 21.101 (as between any two neighbours, PE 0 to PE 0)
         * + 4096 / 8 + wire 1; the credit takes 20.100 + 16 / 8 */
        assert_int_equal(end_of(m, nth(m, 8, LP_OP_RECV, 0)), 538101 + 22100);
        /* the small tile alone would have been there at 59.101 */
        assert_int_equal(nth(m, 8, LP_OP_RECV, 0)->seq, 0);
        assert_int_equal(nth(m, 8, LP_OP_RECV, 1)->seq, 1);
        assert_int_equal(took(nth(m, 8, LP_OP_RECV, 1)), ISSUE + 22100);
        machine_free(m);
    }
}

/* ---- polling --------------------------------------------------------------------------------- */

static int64_t polled_receive_ps(int64_t interval_ps)
{
    struct machine *m = small_machine(1, 1, 1);
    m->config.poll = true;
    m->hw.ipcq_poll_ps = interval_ps;
    machine_start(m);
    RUN(m, {0, (const struct line[]){DELAY(100), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV(W, 16), DONE}});
    const int64_t end_ps = end_of(m, nth(m, 1, LP_OP_RECV, 0));
    machine_free(m);
    return end_ps;
}

static void a_polling_receiver_sees_the_tile_at_its_next_look(void **state)
{
    (void)state;
    /* it begins to wait at 4; the tile is visible at 115.136 */
    assert_int_equal(polled_receive_ps(20000), 124000 + CREDIT);
    assert_int_equal(polled_receive_ps(50000), 154000 + CREDIT);
    assert_int_equal(polled_receive_ps(1), 100000 + VISIBLE + CREDIT);
    /* 115.136 - 4 = 4 x 27.784: it sees a tile that arrives exactly then */
    assert_int_equal(polled_receive_ps(27784), 100000 + VISIBLE + CREDIT);
    assert_int_equal(polled_receive_ps(27783), ISSUE + 5 * 27783 + CREDIT);
}

static void a_polling_sender_sees_the_credit_at_its_next_look(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = 1;
    m->config.poll = true; /* every 20 ns */
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(100), RECV(W, 16), RECV(W, 16), DONE}});
    /* it begins to wait at 8; the credit comes at 100 + 4 + 9.135 = 113.135 */
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), 128000);
    machine_free(m);
}

static void polling_costs_nothing_where_nobody_waits(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.poll = true;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(100), RECV(W, 16), DONE}});
    assert_int_equal(took(nth(m, 0, LP_OP_SEND, 0)), ISSUE);
    assert_int_equal(took(nth(m, 1, LP_OP_RECV, 0)), ISSUE + CREDIT);
    machine_free(m);
}

/* ---- receive from any direction -------------------------------------------------------------- */

/* PE 1 has neighbours 0 in the west, 2 in the east, 5 in the south. */
static void recv_from_any_direction_takes_turns(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), SEND(E, 16), DONE}},
        {1, (const struct line[]){DELAY(1000), RECV_ANY(16), RECV_ANY(16), RECV_ANY(16),
                                  RECV_ANY(16), RECV_ANY(16), RECV_ANY(16), RECV_ANY(16), DONE}},
        {2, (const struct line[]){SEND(W, 16), SEND(W, 16), DONE}},
        {5, (const struct line[]){SEND(N, 16), SEND(N, 16), DONE}});
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const struct lp_op *first = nth(m, 1, LP_OP_RECV, i),
                           *second = nth(m, 1, LP_OP_RECV, i + 3);
        seen |= 1u << first->dir;
        assert_int_equal(second->dir, first->dir); /* the second turn is as the first */
        assert_int_equal(first->seq, 0);
        assert_int_equal(second->seq, 1);
    }
    assert_int_equal(seen, 1u << W | 1u << HW_DIR_INTRA_E | 1u << S);
    assert_int_equal(nth(m, 1, LP_OP_RECV, 6)->dir, W); /* the only one that still has a tile */
    machine_free(m);
}

static void recv_from_any_direction_starts_after_the_one_served_last(void **state)
{
    (void)state;
    /* The order of turns, as all three have tiles; then the same after each single one. */
    enum hw_dir turn[3];
    for (int served = -1; served < 3; served++) {
        struct machine *m = small_machine(1, 1, 1);
        machine_start(m);
        if (served >= 0) { /* one tile from that direction alone, received */
            const uint32_t peer = turn[served] == W ? 0 : turn[served] == S ? 5 : 2;
            RUN(m, {peer, (const struct line[]){SEND((enum hw_dir)(turn[served] ^ 1), 16), DONE}},
                {1, (const struct line[]){RECV_ANY(16), DONE}});
        }
        RUN(m, {0, (const struct line[]){SEND(E, 16), DONE}},
            {1, (const struct line[]){DELAY(1000), RECV_ANY(16), RECV_ANY(16), RECV_ANY(16), DONE}},
            {2, (const struct line[]){SEND(W, 16), DONE}},
            {5, (const struct line[]){SEND(N, 16), DONE}});
        for (uint32_t i = 0; i < 3; i++) {
            const enum hw_dir dir = (enum hw_dir)nth(m, 1, LP_OP_RECV, i)->dir;
            if (served < 0)
                turn[i] = dir;
            else
                assert_int_equal(dir, turn[((uint32_t)served + 1 + i) % 3]);
        }
        machine_free(m);
    }
}

static void recv_from_any_direction_waits_for_the_first_tile(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){DELAY(100), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV_ANY(16), DONE}});
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), 100000 + VISIBLE + CREDIT);
    assert_int_equal(nth(m, 1, LP_OP_RECV, 0)->dir, W);
    machine_free(m);
}

/* ---- asynchronous receive -------------------------------------------------------------------- */

static void an_asynchronous_receive_completes_in_wait(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->config.n_slots = 1;
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), DONE}},
        {1,
         (const struct line[]){RECV_ASYNC(0, W, 16), DELAY(100), WAIT(0, 16), RECV(W, 16), DONE}});
    /* pe_cpu + pe_ipcq at issue, then the kernel goes on */
    assert_int_equal(start_of(m, nth(m, 1, LP_OP_MATH, 0)), ISSUE);
    /* pe_cpu in wait, and the credit */
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), ISSUE + 100000 + 2000 + CREDIT);
    /* which is emitted there, not when the tile came */
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), ISSUE + 100000 + 2000 + CREDIT);
    machine_free(m);
}

static void wait_waits_for_a_tile_that_has_not_come(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){DELAY(100), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV_ASYNC(0, W, 16), WAIT(0, 16), DONE}});
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 0)), 100000 + VISIBLE + CREDIT);
    machine_free(m);
}

static void asynchronous_receives_complete_in_order(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    RUN(m, {0, (const struct line[]){SEND(E, 32), SEND(E, 16), DONE}},
        {1, (const struct line[]){RECV_ASYNC(0, W, 32), RECV_ASYNC(1, W, 16), WAIT(0, 32),
                                  WAIT(1, 16), DONE}});
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(nth(m, 1, LP_OP_RECV, i)->seq, i);
    machine_free(m);
}

/* ---- pointers -------------------------------------------------------------------------------- */

struct all_frame {
    uint16_t line, reserved;
    uint32_t round, dir;
};
enum { ROUNDS = 5 };

/* In each round: sends a tile in every direction, receives one from every direction. */
static enum tl_status run_all_directions(struct tl *tl, void *state)
{
    struct all_frame *f = state;
    TL_BEGIN(&f->line);
    for (f->round = 0; f->round < ROUNDS; f->round++) {
        for (f->dir = 0; f->dir < HW_DIRS_MAX; f->dir++)
            if (tl_installed(tl, (enum hw_dir)f->dir))
                TL_CALL(&f->line, tl_send(tl, (enum hw_dir)f->dir, tl_tcm(0), 64 + f->round));
        for (f->dir = 0; f->dir < HW_DIRS_MAX; f->dir++)
            if (tl_installed(tl, (enum hw_dir)f->dir))
                TL_CALL(&f->line, tl_recv(tl, (enum hw_dir)f->dir, 64 + f->round));
    }
    TL_END(&f->line);
}
static const struct tl_kernel all_directions = {
    .name = "all_directions", .frame_bytes = sizeof(struct all_frame), .run = run_all_directions};

static void run_on_every_pe(struct machine *m, const struct tl_kernel *kernel)
{
    m->op_count = 0;
    assert_int_equal(
        lp_system_begin_batch(m->system, &(struct lp_batch_options){.kernel = kernel}, &m->error),
        CW_OK);
    for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++) {
        const struct tl_args args = {.n_elem = 32, .dtype = LP_F16};
        assert_int_equal(lp_system_submit_launch(m->system, pe, kernel, &args, &m->error), CW_OK);
    }
    if (lp_system_drain(m->system, &m->error) != CW_OK)
        fail_msg("%s", m->error.text);
}

/* Of each queue, the sequence numbers of sends and of receives count up from 0 by one. */
static void check_sequences(const struct machine *m, uint32_t first)
{
    static uint32_t sent[64][HW_DIRS_MAX], received[64][HW_DIRS_MAX];
    assert_true(hw_pe_count(&m->hw) <= 64);
    for (uint32_t i = 0; i < 64 * HW_DIRS_MAX; i++)
        sent[i / HW_DIRS_MAX][i % HW_DIRS_MAX] = received[i / HW_DIRS_MAX][i % HW_DIRS_MAX] = first;
    for (uint32_t i = 0; i < m->op_count; i++) {
        const struct lp_op *op = &m->op[i];
        uint32_t *next =
            op->kind == LP_OP_SEND ? &sent[op->pe][op->dir] : &received[op->pe][op->dir];
        assert_int_equal(op->seq, (*next)++);
        if (op->kind == LP_OP_RECV) { /* its send came before it, also in the record */
            struct hw_place peer;
            assert_true(
                hw_dir_neighbour(&m->hw, hw_place_of(&m->hw, op->pe), (enum hw_dir)op->dir, &peer));
            assert_true(sent[hw_pe_index(&m->hw, peer)][op->dir ^ 1] > op->seq);
        }
    }
}

/* As if so many tiles had come and gone. */
static void set_pointers(struct machine *m, uint32_t pe, enum hw_dir dir, uint32_t tiles)
{
    struct lp_queue *const q = (struct lp_queue *)(uintptr_t)queue_of(m, pe, dir);
    q->my_head = q->my_tail = q->peer_head_cache = q->peer_tail_cache = tiles;
}

static void a_queue_carries_2_to_32_tiles_less_one(void **state)
{
    (void)state;
    for (uint32_t slots = 1; slots <= 3; slots++) {
        struct machine *m = small_machine(1, 1, 1);
        m->config.n_slots = slots;
        machine_start(m);
        set_pointers(m, 0, E, UINT32_MAX - 5);
        set_pointers(m, 1, W, UINT32_MAX - 5);
        RUN(m, {0, (const struct line[]){SEND(E, 16), SEND(E, 16), SEND(E, 16), SEND(E, 16), DONE}},
            {1, (const struct line[]){RECV(W, 16), RECV(W, 16), RECV(W, 16), RECV(W, 16), DONE}});
        assert_int_equal(nth(m, 1, LP_OP_RECV, 3)->seq, UINT32_MAX - 2);
        const struct part parts[] = {
            {0, (const struct line[]){SEND(E, 16), SEND(E, 16), SEND(E, 16), DONE}},
            {1, (const struct line[]){RECV(W, 16), RECV(W, 16), RECV(W, 16), DONE}}};
        assert_int_equal(try_scripts(m, parts, COUNT_OF(parts)), CW_PROGRAM_FAILED);
        assert_memory_equal(m->error.text, "IpcqTooManyTiles: ", 18);
        assert_non_null(strstr(m->error.text, "4294967295 tiles"));
        machine_free(m);
    }
}

static void pointers_never_go_back_and_agree_at_the_end(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = small_machine(2, 2, 2);
        m->hw.contention = c;
        m->config.n_slots = 1 + (uint32_t)c;
        machine_start(m);
        for (uint32_t batch = 0; batch < 2; batch++) { /* the queues live on */
            run_on_every_pe(m, &all_directions);
            check_sequences(m, batch * ROUNDS);
        }
        uint32_t queues = 0;
        for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++)
            for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
                const struct lp_queue *q = queue_of(m, pe, dir);
                struct hw_place to;
                const bool exists = hw_dir_neighbour(&m->hw, hw_place_of(&m->hw, pe), dir, &to);
                const uint32_t tiles = exists ? 2 * ROUNDS : 0;
                queues += exists;
                assert_int_equal(q->my_head, tiles);
                assert_int_equal(q->my_tail, tiles);
                assert_int_equal(q->peer_head_cache, tiles);
                assert_int_equal(q->peer_tail_cache, tiles);
            }
        /* per PE 2 neighbours of its cube and global_E, global_W; per cube 20 within the grid of
         * 4 x 2 PEs (10 edges, both ways) */
        assert_int_equal(queues, 64 * 4 + 8 * 20);
        assert_int_equal(lp_system_count(m->system).queue_pairs, queues);
        machine_free(m);
    }
}

static void wiring_of_pe_0_alone_leaves_the_others_without_queues(void **state)
{
    (void)state;
    struct machine *m = small_machine(2, 2, 1);
    m->pe0_alone = true;
    machine_start(m);
    /* 2 SIPs of 2 cubes: each PE 0 has one neighbour cube, global_E and global_W; no intra_* */
    assert_int_equal(lp_system_count(m->system).queue_pairs, 4 * 3);
    machine_free(m);
}

/* hw/HARDWARE.md, "Scale": cube and link state included. */
static void a_pe_with_all_its_queues_takes_at_most_1536_bytes(void **state)
{
    (void)state;
    const struct hw_config hw = default_machine();
    const struct lp_config config = default_queues();
    struct lp_model m;
    lp_layout_init(&m, &hw, &config, (struct lp_needs){0}, NULL);
    size_t bytes = 0;
    for (uint32_t lp = 1; lp < m.lps.count; lp++)
        bytes += lp_ops_of(&m, lp)->state_bytes(&m);
    assert_true(bytes <= 1536ull * hw_pe_count(&hw));
    lp_layout_free(&m);
}

/* Lines of LL take twice their bytes, up to a size; no tile takes less than the least. */
static void a_tile_s_bytes_on_its_way(void **state)
{
    (void)state;
    assert_int_equal(lp_bytes_on_way(&(struct lp_config){0}, 100), 100);
    const struct lp_config lines = {.protocol = LP_LL};
    assert_int_equal(lp_bytes_on_way(&lines, 100), 200);
    const struct lp_config some = {.protocol = LP_LL, .ll_max_tile_bytes = 100};
    assert_int_equal(lp_bytes_on_way(&some, 100), 200);
    assert_int_equal(lp_bytes_on_way(&some, 101), 101);
    const struct lp_config least = {.protocol = LP_LL, .min_way_bytes = 64};
    assert_int_equal(lp_bytes_on_way(&least, 4), 128);
    assert_int_equal(lp_bytes_on_way(&(struct lp_config){.min_way_bytes = 64}, 65), 65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tile_s_bytes_on_its_way),
        cmocka_unit_test(a_send_without_back_pressure_goes_on_at_once),
        cmocka_unit_test(pe_ipcq_controls_and_pe_dma_moves),
        cmocka_unit_test(the_head_announces_no_tile_that_is_not_there),
        cmocka_unit_test(recv_on_an_empty_queue_waits_for_the_sender),
        cmocka_unit_test(recv_of_a_tile_that_is_there_costs_its_issue_and_the_credit),
        cmocka_unit_test(a_full_ring_makes_send_wait_for_the_credit),
        cmocka_unit_test(with_one_slot_send_and_receive_alternate),
        cmocka_unit_test(a_receiver_need_not_wait_for_its_credit),
        cmocka_unit_test(tiles_of_a_queue_become_visible_in_order),
        cmocka_unit_test(a_polling_receiver_sees_the_tile_at_its_next_look),
        cmocka_unit_test(a_polling_sender_sees_the_credit_at_its_next_look),
        cmocka_unit_test(polling_costs_nothing_where_nobody_waits),
        cmocka_unit_test(recv_from_any_direction_takes_turns),
        cmocka_unit_test(recv_from_any_direction_starts_after_the_one_served_last),
        cmocka_unit_test(recv_from_any_direction_waits_for_the_first_tile),
        cmocka_unit_test(an_asynchronous_receive_completes_in_wait),
        cmocka_unit_test(wait_waits_for_a_tile_that_has_not_come),
        cmocka_unit_test(asynchronous_receives_complete_in_order),
        cmocka_unit_test(a_queue_carries_2_to_32_tiles_less_one),
        cmocka_unit_test(pointers_never_go_back_and_agree_at_the_end),
        cmocka_unit_test(wiring_of_pe_0_alone_leaves_the_others_without_queues),
        cmocka_unit_test(a_pe_with_all_its_queues_takes_at_most_1536_bytes),
    };
    return cmocka_run_group_tests_name("lp_ipcq", tests, NULL, NULL);
}
