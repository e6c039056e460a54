/*
 * test_lp_contexts.c: parallel streams on one PE (lp/QUEUES.md, "Contexts"): fork, join and
 * barrier, their costs and their waits; contexts that want the same tile, credit, notification or
 * place in a channel; and uses of contexts that are errors.
 *
 * On small_machine(), in ns: fork, join, barrier: pe_cpu 2; send: issue 4, the engine n / 128 GB/s;
 * from the end of the engine 10.011 to TCM of PE 1, wire 1; the credit back 9.135.
 */
#include "test/support/test_lp_support.h"

#include "lp/host/deadlock.h"

#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W
#define S HW_DIR_INTRA_S

enum { CPU = 2000, ISSUE = 4000, PATH = 10011, WIRE = 1000, CREDIT = 9135 };

static struct machine *machine_with_contexts(uint32_t contexts)
{
    struct machine *m = small_machine(1, 1, 1);
    m->needs.contexts = contexts;
    m->needs.peers = 4;
    return m;
}

static struct machine *started(uint32_t contexts)
{
    struct machine *m = machine_with_contexts(contexts);
    machine_start(m);
    return m;
}

/* Kernels tell their additions apart by their sizes: the one of `ns` (see DELAY). */
static const struct lp_op *delay_of(const struct machine *m, uint32_t pe, uint32_t ns)
{
    for (uint32_t i = 0; i < m->op_count; i++)
        if (m->op[i].pe == pe && m->op[i].kind == LP_OP_MATH && m->op[i].bytes == (ns - 9) * 2)
            return &m->op[i];
    fail_msg("PE %u has not waited %u ns", pe, ns);
    return NULL;
}

static void expect_start(const struct machine *m, uint32_t ns, int64_t start_ps)
{
    assert_int_equal(start_of(m, delay_of(m, 0, ns)), start_ps);
}

/* PE 0 runs `script`; the launch fails with exit code 3 and this text. */
static void expect_failure(struct machine *m, const struct line *script, const char *text)
{
    const struct part parts[] = {{0, script}};
    machine_start(m);
    assert_int_equal(try_scripts(m, parts, 1), CW_PROGRAM_FAILED);
    assert_string_equal(first_line_of_error(m), text);
    machine_free(m);
}

/* ---- fork and join --------------------------------------------------------------------------- */

static void streams_begin_when_the_fork_has_been_paid(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(20), DELAY(21), DONE}, two[] = {DELAY(30), DONE},
                             three[] = {DELAY(40), DONE};
    struct machine *m = started(4);
    RUN(m, {0, (const struct line[]){DELAY(10), FORK(one, two, three), DELAY(15), JOIN, DELAY(11),
                                     DONE}});
    expect_start(m, 15, 10000 + CPU);
    expect_start(m, 20, 10000 + CPU); /* at once, in parallel: each has a time of its own */
    expect_start(m, 21, 30000 + CPU);
    expect_start(m, 30, 10000 + CPU);
    expect_start(m, 40, 10000 + CPU);
    expect_start(m, 11, 10000 + CPU + 41000); /* stream 0 is the last */
    assert_int_equal(m->op_count, 7);
    machine_free(m);
}

static void joining_streams_that_have_ended_costs_pe_cpu(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(20), DONE};
    struct machine *m = started(2);
    RUN(m,
        {0, (const struct line[]){FORK(one), DELAY(100), JOIN, DELAY(11), JOIN, DELAY(12), DONE}});
    expect_start(m, 11, CPU + 100000 + CPU);
    expect_start(m, 12, CPU + 100000 + CPU + 11000 + CPU); /* nothing has been forked */
    machine_free(m);
}

/* A stream that ends at the very time of the join does not hold it up. */
static void a_join_at_the_end_of_a_stream_waits_no_longer(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(32), DONE};
    struct machine *m = started(2);
    RUN(m, {0, (const struct line[]){FORK(one), DELAY(30), JOIN, DELAY(11), DONE}});
    expect_start(m, 11, CPU + 32000);
    machine_free(m);
}

/* The kernel goes on first, then the streams in their order: so their tiles are numbered. */
static void the_kernel_goes_on_before_its_streams(void **state)
{
    (void)state;
    static const struct line one[] = {SEND(E, 32), SEND(E, 34), DONE},
                             two[] = {SEND(E, 48), SEND(E, 50), DONE},
                             three[] = {SEND(E, 64), SEND(E, 66), DONE};
    static const uint32_t bytes[] = {16, 32, 48, 64, 18, 34, 50, 66};
    struct machine *m = started(4);
    RUN_LEAVING(
        m, {0, (const struct line[]){FORK(one, two, three), SEND(E, 16), SEND(E, 18), JOIN, DONE}});
    for (uint32_t i = 0; i < COUNT_OF(bytes); i++) {
        const struct lp_op *send = nth(m, 0, LP_OP_SEND, i);
        assert_int_equal(send->bytes, bytes[i]);
        assert_int_equal(send->seq, i);
        assert_int_equal(start_of(m, send), CPU + i / 4 * ISSUE);
        assert_int_equal(took(send), ISSUE);
    }
    machine_free(m);
}

/* Streams 0 and 2 only; then stream 1 in a context that has become free, and 0 again. */
static void contexts_are_used_again(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(20), DONE}, two[] = {DELAY(30), DONE},
                             three[] = {DELAY(40), DONE};
    struct machine *m = started(3);
    const struct part parts[] = {
        {0, (const struct line[]){FORK(one, NULL, three), JOIN, FORK(one, two), JOIN, DONE}}};
    for (uint32_t launch = 0; launch < 2; launch++) {
        run_scripts(m, parts, 1);
        assert_int_equal(m->op_count, 4);
        expect_start(m, 20, CPU);
        expect_start(m, 40, CPU);
        expect_start(m, 30, CPU + 40000 + CPU);
        assert_int_equal(start_of(m, nth(m, 0, LP_OP_MATH, 2)), CPU + 40000 + CPU);
    }
    machine_free(m);
}

static void a_context_is_free_as_soon_as_its_stream_has_ended(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(20), DONE}, two[] = {DELAY(200), DONE},
                             three[] = {DELAY(30), DONE};
    struct machine *m = started(3);
    RUN(m, {0, (const struct line[]){FORK(one, two), DELAY(50), FORK(NULL, NULL, three), JOIN,
                                     DELAY(11), DONE}});
    expect_start(m, 30, CPU + 50000 + CPU);
    expect_start(m, 11, CPU + 200000);
    machine_free(m);
}

/* ---- barrier --------------------------------------------------------------------------------- */

static void a_barrier_lets_all_go_on_with_the_last(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(50), BARRIER, DELAY(20), DONE},
                             two[] = {DELAY(40), BARRIER, DELAY(21), DONE};
    struct machine *m = started(4);
    RUN(m, {0, (const struct line[]){FORK(one, two), DELAY(10), BARRIER, DELAY(22), JOIN, DONE}});
    expect_start(m, 20, CPU + 50000 + CPU);
    expect_start(m, 21, CPU + 50000 + CPU);
    expect_start(m, 22, CPU + 50000 + CPU);
    machine_free(m);
}

static void a_barrier_of_the_kernel_alone_costs_pe_cpu(void **state)
{
    (void)state;
    for (uint32_t contexts = 1; contexts <= 4; contexts++) {
        struct machine *m = started(contexts);
        RUN(m, {0, (const struct line[]){BARRIER, BARRIER, DELAY(10), DONE}});
        expect_start(m, 10, 2 * CPU);
        machine_free(m);
    }
}

/* The stream ends at 82 without having arrived; the other two wait for it until then. */
static void a_stream_that_ends_is_not_waited_for(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(80), DONE}, two[] = {BARRIER, DELAY(20), DONE};
    struct machine *m = started(3);
    RUN(m, {0, (const struct line[]){FORK(one, two), DELAY(10), BARRIER, DELAY(22), JOIN, DONE}});
    expect_start(m, 20, CPU + 80000);
    expect_start(m, 22, CPU + 80000);
    machine_free(m);
}

static void barriers_can_follow_each_other(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(50), BARRIER,   BARRIER, DELAY(30),
                                      BARRIER,   DELAY(20), DONE};
    struct machine *m = started(2);
    RUN(m, {0, (const struct line[]){FORK(one), BARRIER, DELAY(10), BARRIER, BARRIER, DELAY(22),
                                     JOIN, DONE}});
    /* first at 2 + 50 + 2; second when the kernel has waited 10: 54 + 10 + 2; third at 66 + 30 + 2
     */
    expect_start(m, 10, 54000);
    expect_start(m, 30, 66000);
    expect_start(m, 20, 98000);
    expect_start(m, 22, 98000);
    machine_free(m);
}

/* ---- wanting the same ------------------------------------------------------------------------ */

/* One place. The kernel's tile has it from 6 to 38; stream 1 waits since 16, stream 0 since 26 and
 * the kernel's second since 10. */
static void a_place_in_the_channel_goes_to_whoever_has_waited_longest(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(20), SEND(E, 64), DONE},
                             two[] = {DELAY(10), SEND(E, 32), DONE};
    struct machine *m = machine_with_contexts(3);
    m->hw.dma_queue_depth = 1;
    machine_start(m);
    RUN_LEAVING(m,
                {0, (const struct line[]){FORK(one, two), SEND(E, 4096), SEND(E, 16), JOIN, DONE}});
    static const uint32_t bytes[] = {4096, 16, 32, 64};
    static const int64_t end_ps[] = {6000, 38000, 38125, 38375};
    for (uint32_t i = 0; i < COUNT_OF(bytes); i++) {
        const struct lp_op *send = nth(m, 0, LP_OP_SEND, i);
        assert_int_equal(send->bytes, bytes[i]);
        assert_int_equal(end_of(m, send), end_ps[i]);
    }
    machine_free(m);
}

/*
 * One place, and rings of one slot. The kernel's tile has the place from 6 to 38; stream 0 waits
 * for it since 16, stream 1 since 26, stream 2 since 36. Stream 0 has it until 38.125, and its tile
 * fills the ring that stream 1 wants: so the place is stream 2's then.
 */
static void who_cannot_use_a_place_leaves_it_to_the_next(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(10), SEND(E, 16), DONE},
                             two[] = {DELAY(20), SEND(E, 32), DONE},
                             three[] = {DELAY(30), SEND(W, 48), DONE};
    static const uint32_t bytes[] = {4096, 16, 48, 32};
    static const int64_t end_ps[] = {6000, 38000, 38125};
    struct machine *m = machine_with_contexts(4);
    m->hw.dma_queue_depth = 1;
    m->config.n_slots = 1;
    machine_start(m);
    RUN_LEAVING(m, {1, (const struct line[]){FORK(one, two, three), SEND(S, 4096), JOIN, DONE}},
                {2, (const struct line[]){DELAY(500), RECV(W, 16), RECV(W, 32), DONE}});
    for (uint32_t i = 0; i < COUNT_OF(bytes); i++) {
        const struct lp_op *send = nth(m, 1, LP_OP_SEND, i);
        assert_int_equal(send->bytes, bytes[i]);
        if (i < COUNT_OF(end_ps))
            assert_int_equal(send->t_end_ps - nth(m, 1, LP_OP_SEND, 0)->t_start_ps,
                             end_ps[i] - CPU);
    }
    machine_free(m);
}

/* Two contexts wait for data of one direction: the first tile is for the first. */
static void tiles_go_to_whoever_has_waited_longest(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(20), RECV(W, 16), DONE},
                             two[] = {DELAY(10), RECV(W, 32), DONE};
    struct machine *m = started(3);
    RUN(m, {1, (const struct line[]){FORK(one, two), DELAY(30), RECV(W, 48), JOIN, DONE}},
        {0, (const struct line[]){DELAY(100), SEND(E, 32), SEND(E, 16), SEND(E, 48), DONE}});
    static const uint32_t bytes[] = {32, 16, 48};
    for (uint32_t i = 0; i < 3; i++) {
        const struct lp_op *recv = nth(m, 1, LP_OP_RECV, i);
        assert_int_equal(recv->seq, i);
        assert_int_equal(recv->bytes, bytes[i]);
    }
    machine_free(m);
}

/*
 * Contention none: 4096 bytes to a slot in HBM and 16 behind them, which would be there sooner and
 * become visible together with them, at 4 + 50.025 + 64 + 1: both waiters go on then.
 */
static void tiles_that_come_together_wake_all_their_waiters(void **state)
{
    (void)state;
    static const struct line one[] = {RECV(W, 16), DONE};
    struct machine *m = machine_with_contexts(2);
    m->hw.contention = HW_CONTENTION_NONE;
    m->config.slots = HW_MEMORY_HBM;
    machine_start(m);
    RUN(m, {1, (const struct line[]){FORK(one), RECV(W, 4096), JOIN, DONE}},
        {0, (const struct line[]){SEND(E, 4096), SEND(E, 16), DONE}});
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, i)), 4000 + 114025 + 1000 + CREDIT);
    machine_free(m);
}

/*
 * Polling, every 20 from 6 on. The kernel receives from any direction, its stream from W only. W's
 * tile comes at 35.136, E's at about 40: at 46 the kernel takes E's, as the directions go, and the
 * stream the other. The credit to PE 2 takes a step of 1.030 more.
 */
static void a_poller_that_takes_another_tile_leaves_the_first_to_the_other(void **state)
{
    (void)state;
    static const struct line west[] = {RECV(W, 16), DONE};
    struct machine *m = machine_with_contexts(2);
    m->config.poll = true;
    machine_start(m);
    RUN(m, {1, (const struct line[]){FORK(west), RECV_ANY(16), JOIN, DONE}},
        {0, (const struct line[]){DELAY(20), SEND(E, 16), DONE}},
        {2, (const struct line[]){DELAY(22), SEND(W, 16), DONE}});
    for (uint32_t i = 0; i < 2; i++) {
        const struct lp_op *recv = nth(m, 1, LP_OP_RECV, i);
        assert_int_equal(recv->dir, i == 0 ? E : W);
        assert_int_equal(recv->t_end_ps - recv->t_start_ps, 44000 + CREDIT + (i == 0 ? 1030 : 0));
    }
    machine_free(m);
}

/* A ring of one slot: the second tile waits for the first one's credit, the third for the second's.
 */
static void credits_go_to_whoever_has_waited_longest(void **state)
{
    (void)state;
    static const struct line one[] = {DELAY(20), SEND(E, 32), DONE},
                             two[] = {DELAY(10), SEND(E, 48), DONE};
    struct machine *m = machine_with_contexts(3);
    m->config.n_slots = 1;
    machine_start(m);
    RUN(m, {0, (const struct line[]){FORK(one, two), SEND(E, 16), JOIN, DONE}},
        {1, (const struct line[]){DELAY(100), RECV(W, 16), DELAY(100), RECV(W, 48), DELAY(100),
                                  RECV(W, 32), DONE}});
    const int64_t receive_ps = ISSUE + CREDIT;
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 0)), CPU + ISSUE);
    assert_int_equal(nth(m, 0, LP_OP_SEND, 1)->bytes, 48);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 1)), 100000 + receive_ps);
    assert_int_equal(nth(m, 0, LP_OP_SEND, 2)->bytes, 32);
    assert_int_equal(end_of(m, nth(m, 0, LP_OP_SEND, 2)), 2 * (100000 + receive_ps));
    machine_free(m);
}

/* Two contexts wait for the same notification, stream 0 first; each consumes one. */
static void notifications_go_to_whoever_has_waited_longest(void **state)
{
    (void)state;
    static const struct line one[] = {WAIT_NOTIFY(0, 1), DELAY(20), DONE};
    struct machine *m = started(2);
    RUN(m,
        {1, (const struct line[]){FORK(one), DELAY(10), WAIT_NOTIFY(0, 1), DELAY(21), JOIN, DONE}},
        {0, (const struct line[]){DELAY(100), NOTIFY(1, 1), DELAY(100), NOTIFY(1, 1), DONE}});
    assert_int_equal(start_of(m, delay_of(m, 1, 20)), 100000 + 14135);
    assert_int_equal(start_of(m, delay_of(m, 1, 21)), 204000 + 14135);
    machine_free(m);
}

static void notifications_that_come_together_wake_all_their_waiters(void **state)
{
    (void)state;
    static const struct line one[] = {WAIT_NOTIFY(0, 1), DELAY(20), DONE};
    struct machine *m = started(2);
    RUN(m, {1, (const struct line[]){FORK(one), WAIT_NOTIFY(0, 1), DELAY(21), JOIN, DONE}},
        {0, (const struct line[]){PUT(1, HBM(0), TCM(0), 4096), NOTIFY(1, 1), NOTIFY(1, 1), DONE}});
    /* both wait for the put: 4 + 9.010 + 41.015 + 64 */
    assert_int_equal(start_of(m, delay_of(m, 1, 20)), 118025);
    assert_int_equal(start_of(m, delay_of(m, 1, 21)), 118025);
    machine_free(m);
}

/* Each waits in a direction of its own. */
static void four_contexts_receive_from_different_directions(void **state)
{
    (void)state;
    static const struct line one[] = {RECV(E, 16), DONE}, two[] = {RECV(S, 16), DONE};
    struct machine *m = started(3);
    RUN(m, {1, (const struct line[]){FORK(one, two), RECV(W, 16), JOIN, DONE}},
        {0, (const struct line[]){DELAY(30), SEND(E, 16), DONE}},
        {2, (const struct line[]){DELAY(20), SEND(W, 16), DONE}},
        {5, (const struct line[]){DELAY(10), SEND(HW_DIR_INTRA_N, 16), DONE}});
    static const enum hw_dir dir[] = {S, E, W};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(nth(m, 1, LP_OP_RECV, i)->dir, dir[i]);
    assert_int_equal(end_of(m, nth(m, 1, LP_OP_RECV, 2)),
                     30000 + ISSUE + 125 + PATH + WIRE + CREDIT);
    machine_free(m);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct line short_stream[] = {DELAY(10), DONE};

static void more_streams_than_contexts_are_an_error(void **state)
{
    (void)state;
    expect_failure(machine_with_contexts(2),
                   (const struct line[]){FORK(short_stream, short_stream), JOIN, DONE},
                   "PE 0.0.0, kernel script: fork of stream 1: all 2 contexts are taken; join "
                   "those that have been forked first");
    expect_failure(machine_with_contexts(1), (const struct line[]){FORK(short_stream), JOIN, DONE},
                   "PE 0.0.0, kernel script: fork of stream 0: all 1 contexts are taken; join "
                   "those that have been forked first");
}

static void a_stream_that_does_not_exist_is_an_error(void **state)
{
    (void)state;
    expect_failure(machine_with_contexts(4), (const struct line[]){FORK_BITS(8), JOIN, DONE},
                   "PE 0.0.0, kernel script: fork of streams 0x8; the kernel has 3");
}

static void a_kernel_that_ends_without_join_is_an_error(void **state)
{
    (void)state;
    expect_failure(machine_with_contexts(2), (const struct line[]){FORK(short_stream), DONE},
                   "PE 0.0.0, kernel script ends while streams that it has forked are under way; "
                   "join them first");
}

static void streams_do_not_fork(void **state)
{
    (void)state;
    static const struct line forks[] = {FORK_BITS(1), DONE};
    expect_failure(machine_with_contexts(4), (const struct line[]){FORK(forks), JOIN, DONE},
                   "PE 0.0.0, kernel script: fork in a stream; only the kernel itself forks");
}

static void streams_do_not_join(void **state)
{
    (void)state;
    static const struct line joins[] = {JOIN, DONE};
    expect_failure(machine_with_contexts(4), (const struct line[]){FORK(joins), JOIN, DONE},
                   "PE 0.0.0, kernel script: join in a stream; only the kernel itself joins");
}

/* ---- deadlock -------------------------------------------------------------------------------- */

static void a_barrier_that_the_kernel_never_reaches_is_a_deadlock(void **state)
{
    (void)state;
    static const struct line barrier[] = {BARRIER, DONE};
    expect_failure(
        machine_with_contexts(2), (const struct line[]){FORK(barrier), JOIN, DONE},
        "IpcqDeadlock: 1 kernel waits and nothing is left to happen: PE 0.0.0 waits at a "
        "barrier of its contexts. Each send needs a receive on the other side, in the "
        "opposite direction");
}

/* The n-th kernel or stream that waits. */
struct nth_wait {
    uint32_t left;
    char state[80];
};

static void note_wait(void *arg, const struct lp_waiting *waiting)
{
    struct nth_wait *const wanted = arg;
    if (wanted->left-- == 0)
        snprintf(wanted->state, sizeof wanted->state, "%s", waiting->state);
}

static void a_kernel_that_joins_is_not_told_as_one_at_a_barrier(void **state)
{
    (void)state;
    static const struct line barrier[] = {BARRIER, DONE};
    static const char *const states[] = {"waits for the streams that it has forked",
                                         "waits at a barrier of its contexts"};
    struct machine *const m = started(2);
    const struct part part = {0, (const struct line[]){FORK(barrier), JOIN, DONE}};
    assert_int_equal(try_scripts(m, &part, 1), CW_PROGRAM_FAILED);
    for (uint32_t i = 0; i < COUNT_OF(states); i++) {
        struct nth_wait wait = {.left = i};
        lp_waiting_visit(lp_system_model(m->system), lp_system_sim(m->system), note_wait, &wait);
        assert_string_equal(wait.state, states[i]);
    }
    machine_free(m);
}

static void expect_in_deadlock(struct machine *m, const struct part *parts, size_t count,
                               const char *text)
{
    machine_start(m);
    assert_int_equal(try_scripts(m, parts, count), CW_PROGRAM_FAILED);
    if (strstr(m->error.text, "IpcqDeadlock: ") != m->error.text ||
        strstr(m->error.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", m->error.text, text);
    machine_free(m);
}

static void a_stream_that_waits_speaks_for_its_pe(void **state)
{
    (void)state;
    static const struct line one[] = {RECV(W, 16), DONE};
    const struct part parts[] = {{1, (const struct line[]){FORK(one), JOIN, DONE}}};
    expect_in_deadlock(machine_with_contexts(2), parts, 1,
                       "1 kernel waits and nothing is left to happen: PE 0.0.1 waits for data from "
                       "intra_W: its peer, PE 0.0.0, runs no kernel");
}

static void a_wait_for_a_notification_names_the_pe_and_the_tag(void **state)
{
    (void)state;
    const struct part parts[] = {
        {0, (const struct line[]){NOTIFY(1, 1), DONE}},
        {1, (const struct line[]){WAIT_NOTIFY(0, 1), WAIT_NOTIFY(0, 1), DONE}}};
    expect_in_deadlock(
        machine_with_contexts(1), parts, 2,
        "PE 0.0.1 waits for a notification from PE 0.0.0, tag 1: its peer, PE 0.0.0, has finished");
}

static void two_that_wait_for_each_others_notification_are_a_cycle(void **state)
{
    (void)state;
    const struct part parts[] = {{0, (const struct line[]){WAIT_NOTIFY(1, 0), NOTIFY(1, 0), DONE}},
                                 {1, (const struct line[]){WAIT_NOTIFY(0, 0), NOTIFY(0, 0), DONE}}};
    expect_in_deadlock(machine_with_contexts(1), parts, 2,
                       "a cycle of 2: PE 0.0.0 waits for a notification from PE 0.0.1, tag 0, PE "
                       "0.0.1 waits for a notification from PE 0.0.0, tag 0, back to PE 0.0.0");
}

/* The tile from the south has come; the one from the west has not. */
static void a_receive_from_several_names_what_is_missing(void **state)
{
    (void)state;
    const struct part parts[] = {{5, (const struct line[]){SEND(HW_DIR_INTRA_N, 16), DONE}},
                                 {1, (const struct line[]){RECV_ALL(1 << S | 1 << W, 16), DONE}}};
    expect_in_deadlock(machine_with_contexts(1), parts, 2,
                       "PE 0.0.1 waits for data from intra_W: its peer, PE 0.0.0, runs no kernel");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_begin_when_the_fork_has_been_paid),
        cmocka_unit_test(joining_streams_that_have_ended_costs_pe_cpu),
        cmocka_unit_test(a_join_at_the_end_of_a_stream_waits_no_longer),
        cmocka_unit_test(the_kernel_goes_on_before_its_streams),
        cmocka_unit_test(contexts_are_used_again),
        cmocka_unit_test(a_context_is_free_as_soon_as_its_stream_has_ended),
        cmocka_unit_test(a_barrier_lets_all_go_on_with_the_last),
        cmocka_unit_test(a_barrier_of_the_kernel_alone_costs_pe_cpu),
        cmocka_unit_test(a_stream_that_ends_is_not_waited_for),
        cmocka_unit_test(barriers_can_follow_each_other),
        cmocka_unit_test(a_place_in_the_channel_goes_to_whoever_has_waited_longest),
        cmocka_unit_test(who_cannot_use_a_place_leaves_it_to_the_next),
        cmocka_unit_test(tiles_go_to_whoever_has_waited_longest),
        cmocka_unit_test(tiles_that_come_together_wake_all_their_waiters),
        cmocka_unit_test(a_poller_that_takes_another_tile_leaves_the_first_to_the_other),
        cmocka_unit_test(credits_go_to_whoever_has_waited_longest),
        cmocka_unit_test(notifications_go_to_whoever_has_waited_longest),
        cmocka_unit_test(notifications_that_come_together_wake_all_their_waiters),
        cmocka_unit_test(four_contexts_receive_from_different_directions),
        cmocka_unit_test(more_streams_than_contexts_are_an_error),
        cmocka_unit_test(a_stream_that_does_not_exist_is_an_error),
        cmocka_unit_test(a_kernel_that_ends_without_join_is_an_error),
        cmocka_unit_test(streams_do_not_fork),
        cmocka_unit_test(streams_do_not_join),
        cmocka_unit_test(a_barrier_that_the_kernel_never_reaches_is_a_deadlock),
        cmocka_unit_test(a_kernel_that_joins_is_not_told_as_one_at_a_barrier),
        cmocka_unit_test(a_stream_that_waits_speaks_for_its_pe),
        cmocka_unit_test(a_wait_for_a_notification_names_the_pe_and_the_tag),
        cmocka_unit_test(two_that_wait_for_each_others_notification_are_a_cycle),
        cmocka_unit_test(a_receive_from_several_names_what_is_missing),
    };
    return cmocka_run_group_tests_name("lp_contexts", tests, NULL, NULL);
}
