/*
 * test_lp_queues.c: several hardware queues of a PE (lp/QUEUES.md, "Contexts"): their kernels
 * overlap, and share PE_DMA and links alone; what belongs to a kernel stays its own.
 *
 * On small_machine(), in ns: fork, join and barrier cost pe_cpu, 2; launches of one moment reach a
 * PE at one instant.
 */
#include "lp/host/deadlock.h"
#include "test/support/test_lp_support.h"

enum { LONG_NS = 1000, SHORT_NS = 300, BACKLOG = 3, QUEUES = 2 };

static const struct line takes_long[] = {DELAY(LONG_NS), DONE};
static const struct line takes_short[] = {DELAY(SHORT_NS), DONE};

static struct machine *machine_of_pes(uint32_t pes, uint32_t contexts)
{
    struct machine *m = machine_with_puts(1, 1);
    m->hw.corner_count = 1;
    m->hw.pe_per_corner = pes;
    m->needs.launches = BACKLOG;
    m->needs.queues = QUEUES;
    m->needs.contexts = contexts;
    return m;
}

static struct machine *started(uint32_t pes)
{
    struct machine *m = machine_of_pes(pes, 1);
    machine_start(m);
    return m;
}

/* A batch of one launch. Returns its number; it is held. */
static uint32_t submit_with(struct machine *m, struct lp_batch_options options, uint32_t pe,
                            const struct line *script)
{
    const struct part part = {pe, script};
    begin_scripts_with(m, options);
    submit_scripts(m, &part, 1);
    return lp_system_hold_batch(m->system);
}

static uint32_t submit(struct machine *m, uint32_t queue, uint32_t pe, const struct line *script)
{
    return submit_with(m, (struct lp_batch_options){.queue = queue}, pe, script);
}

static void drain(struct machine *m)
{
    if (lp_system_drain(m->system, &m->error) != CW_OK)
        fail_msg("%s", cw_error_text(&m->error));
}

static int64_t start_ps(struct machine *m, uint32_t batch)
{
    return lp_system_times_of(m->system, batch)->first_start_ps;
}

static int64_t end_ps(struct machine *m, uint32_t batch)
{
    return lp_system_times_of(m->system, batch)->last_end_ps;
}

static void expect_taken(struct machine *m, uint32_t batch, int64_t ns)
{
    assert_int_equal(end_ps(m, batch) - start_ps(m, batch), ns * 1000);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void kernels_of_two_queues_overlap(void **state)
{
    (void)state;
    struct machine *m = started(1);
    const uint32_t first = submit(m, 0, 0, takes_long), second = submit(m, 1, 0, takes_short);
    drain(m);
    assert_int_equal(start_ps(m, first), start_ps(m, second));
    expect_taken(m, first, LONG_NS);
    expect_taken(m, second, SHORT_NS);
    machine_free(m);
}

static void kernels_of_one_queue_take_turns_beside_the_other(void **state)
{
    (void)state;
    struct machine *m = started(1);
    const uint32_t first = submit(m, 1, 0, takes_short), second = submit(m, 1, 0, takes_long),
                   third = submit(m, 1, 0, takes_short), beside = submit(m, 0, 0, takes_long);
    drain(m);
    assert_int_equal(start_ps(m, second), end_ps(m, first));
    assert_int_equal(start_ps(m, third), end_ps(m, second));
    assert_int_equal(start_ps(m, beside), start_ps(m, first));
    expect_taken(m, beside, LONG_NS);
    machine_free(m);
}

/* The first kernel's join waits for its own stream, the second one's barrier for its own. */
static void forks_joins_and_barriers_are_of_one_kernel(void **state)
{
    (void)state;
    static const struct line short_stream[] = {DELAY(20), DONE};
    static const struct line joins[] = {FORK(short_stream), JOIN, DONE};
    static const struct line long_stream[] = {DELAY(200), BARRIER, DONE};
    static const struct line meets[] = {FORK(long_stream), DELAY(30), BARRIER, JOIN, DONE};
    struct machine *m = machine_of_pes(1, 2);
    machine_start(m);
    const uint32_t first = submit(m, 0, 0, joins), second = submit(m, 1, 0, meets);
    drain(m);
    expect_taken(m, first, 2 + 20);
    expect_taken(m, second, 2 + 200 + 2 + 2);
    machine_free(m);
}

/* A kernel that ends does not answer for what another queue's kernel has asked for. */
static void a_pending_receive_is_of_its_kernel(void **state)
{
    (void)state;
    static const struct line asks[] = {RECV_ASYNC(0, HW_DIR_INTRA_E, 16), DELAY(LONG_NS),
                                       WAIT(0, 16), DONE};
    static const struct line sends[] = {SEND(HW_DIR_INTRA_W, 16), DONE};
    struct machine *m = started(2);
    (void)submit(m, 0, 0, asks);
    (void)submit(m, 1, 0, takes_short);
    (void)submit(m, 0, 1, sends);
    drain(m);
    machine_free(m);
}

static void a_notification_is_for_the_same_queue(void **state)
{
    (void)state;
    static const struct line notifies[] = {NOTIFY(1, 1), DONE};
    static const struct line notifies_late[] = {DELAY(LONG_NS), NOTIFY(1, 1), DONE};
    static const struct line waits[] = {WAIT_NOTIFY(0, 1), DONE};
    struct machine *m = started(2);
    const uint32_t second = submit(m, 1, 1, waits), first = submit(m, 0, 1, waits);
    (void)submit(m, 0, 0, notifies);
    const uint32_t late = submit(m, 1, 0, notifies_late);
    drain(m);
    assert_true(end_ps(m, first) < start_ps(m, late) + LONG_NS * 1000);
    assert_true(end_ps(m, second) > start_ps(m, late) + LONG_NS * 1000);
    machine_free(m);
}

/* A stream's loads are cut as its own batch says, whatever begins on another queue meanwhile. */
static uint64_t events_beside_another_queue(bool cuts)
{
    static const struct line load[] = {DELAY(500), LOAD(TENSOR_VA, 4096), DONE};
    static const struct line forks[] = {FORK(load), JOIN, DONE};
    struct machine *m = machine_of_pes(1, 2);
    struct cw_stats stats[2];
    machine_start(m);
    cw_sim_stats(lp_system_sim(m->system), &stats[0]);
    (void)submit_with(m, (struct lp_batch_options){.cuts_streams = cuts}, 0, forks);
    (void)submit(m, 1, 0, takes_short);
    (void)submit(m, 1, 0, takes_short);
    drain(m);
    cw_sim_stats(lp_system_sim(m->system), &stats[1]);
    machine_free(m);
    return stats[1].events_committed - stats[0].events_committed;
}

static void streams_are_cut_beside_other_queues(void **state)
{
    (void)state;
    assert_true(events_beside_another_queue(true) >= events_beside_another_queue(false) + 15);
}

/* ---- memories -------------------------------------------------------------------------------- */

/* Places of the second queue's kernel come after the first one's share, at its peer too. */
static void each_queue_has_a_share_of_tcm(void **state)
{
    (void)state;
    static const struct line uses[] = {LOAD(TENSOR_VA, 64), STORE_TO_FROM(1, TCM(32), TCM(256), 64),
                                       LOAD_FROM(512, 1, TCM(1024), 64), DONE};
    struct machine *m = started(2);
    const uint64_t share = lp_system_free_tcm(m->system);
    assert_in_range(lp_system_model(m->system)->rings.start - QUEUES * share, 0, 127);
    m->op_count = 0;
    (void)submit(m, 1, 0, uses);
    drain(m);
    assert_int_equal(nth(m, 0, LP_OP_LOAD, 0)->dst.at, share + 64);
    assert_int_equal(nth(m, 0, LP_OP_STORE_TO, 0)->a.at, share + 256);
    assert_int_equal(nth(m, 0, LP_OP_STORE_TO, 0)->dst.at, share + 32);
    assert_int_equal(nth(m, 0, LP_OP_LOAD_FROM, 0)->dst.at, share + 512);
    assert_int_equal(nth(m, 1, LP_OP_LENT, 0)->a.at, share + 1024);
    machine_free(m);
}

static void a_place_beyond_the_share_is_refused(void **state)
{
    (void)state;
    struct machine *m = started(1);
    const uint32_t share = (uint32_t)lp_system_free_tcm(m->system);
    const struct line adds[] = {ADD_FROM(TCM(0), TCM(share), 8), DONE};
    char expected[200];
    (void)submit(m, 1, 0, adds);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_PROGRAM_FAILED);
    snprintf(expected, sizeof expected,
             "PE 0.0.0, kernel script: math of 16 bytes at offset %u of its queue's share of TCM, "
             "which has %u",
             share, share);
    assert_string_equal(first_line_of_error(m), expected);
    machine_free(m);
}

static bool has_written_nothing(struct machine *m, uint32_t batch)
{
    const struct tl_source *at;
    return lp_system_has_written_nothing(m->system, batch, (struct hw_place){0, 0, 0}, &at);
}

static void a_store_counts_for_its_own_queue_s_batch(void **state)
{
    (void)state;
    static const struct line stores[] = {STORE(TENSOR_VA, 64), DONE};
    struct machine *m = started(1);
    const uint32_t first = submit(m, 0, 0, takes_short), second = submit(m, 1, 0, stores);
    drain(m);
    assert_true(has_written_nothing(m, first));
    assert_false(has_written_nothing(m, second));
    machine_free(m);
}

/* ---- links ----------------------------------------------------------------------------------- */

enum { TILE = 64 };

static void add_bytes(void *arg, const struct lp_link_use *use)
{
    *(uint64_t *)arg += use->group == LP_LINKS_NOC ? use->bytes : 0;
}

/* Between routers, of an account; 0: of all. */
static uint64_t noc_bytes(const struct machine *m, uint32_t account)
{
    uint64_t bytes = 0;
    lp_system_visit_links(m->system, (struct lp_machine_part){.parts = 1, .account = account},
                          add_bytes, &bytes);
    return bytes;
}

/* Both kernels send at once, and their tiles alternate in PE_DMA; the first queue's next kernel
 * begins while they are there. */
static void transfers_are_of_their_own_queue_s_batch(void **state)
{
    (void)state;
    static const struct line sends[] = {SEND(HW_DIR_INTRA_S, TILE), SEND(HW_DIR_INTRA_S, TILE),
                                        SEND(HW_DIR_INTRA_S, TILE), DONE};
    static const struct line sends_one[] = {SEND(HW_DIR_INTRA_S, TILE), DONE};
    static const struct line receives[] = {RECV(HW_DIR_INTRA_N, TILE), RECV(HW_DIR_INTRA_N, TILE),
                                           RECV(HW_DIR_INTRA_N, TILE), RECV(HW_DIR_INTRA_N, TILE),
                                           RECV(HW_DIR_INTRA_N, TILE), DONE};
    static const enum cw_sync modes[] = {CW_SEQUENTIAL, CW_ADAPTIVE, CW_OPTIMISTIC, CW_STRESS};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        struct machine *m = small_machine(1, 1, 1);
        const uint32_t south = hw_pes(&m->hw) / 2;
        m->needs.launches = BACKLOG;
        m->needs.queues = QUEUES;
        m->needs.accounts = 3;
        m->engine.sync = modes[i];
        machine_start(m);
        (void)submit_with(m, (struct lp_batch_options){.account = 1}, 0, sends);
        (void)submit_with(m, (struct lp_batch_options){.account = 2, .queue = 1}, 0, sends_one);
        (void)submit_with(m, (struct lp_batch_options){.account = 3}, 0, sends_one);
        (void)submit(m, 0, south, receives);
        drain(m);
        const uint64_t all = noc_bytes(m, 0);
        assert_true(all > 0 && all % (5 * TILE) == 0);
        assert_int_equal(noc_bytes(m, 1), all / 5 * 3);
        assert_int_equal(noc_bytes(m, 2), all / 5);
        assert_int_equal(noc_bytes(m, 3), all / 5);
        machine_free(m);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

static void a_deadlock_names_the_kernels_of_each_queue(void **state)
{
    (void)state;
    static const struct line waits[] = {WAIT_NOTIFY(0, 1), DONE};
    struct machine *m = started(2);
    (void)submit(m, 0, 1, takes_short);
    (void)submit_with(
        m,
        (struct lp_batch_options){.queue = 1, .whose = "group tp0", .name = "call 3 (all_reduce)"},
        1, waits);
    (void)submit(m, 1, 1, takes_short);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_PROGRAM_FAILED);
    assert_string_equal(
        first_line_of_error(m),
        "IpcqDeadlock: 1 kernel waits, 1 more waits for a PE and nothing is left to happen: PE "
        "0.0.1, kernel script of group tp0, call 3 (all_reduce), rank 0, waits for a notification "
        "from PE 0.0.0, tag 1: its peer, PE 0.0.0, runs no kernel; PE 0.0.1, kernel script of "
        "batch "
        "3, rank 0, waits for queue 1 of its PE, which runs kernel script of group tp0, call 3 "
        "(all_reduce), rank 0. Each send needs a receive on the other side, in the opposite "
        "direction");
    machine_free(m);
}

/* The first queues' kernels wait for each other's PE, the second ones' do as well: two cycles. */
static void a_cycle_is_of_kernels_that_wait_for_each_other(void **state)
{
    (void)state;
    static const struct line east[] = {RECV(HW_DIR_INTRA_E, 16), DONE},
                             west[] = {RECV(HW_DIR_INTRA_W, 16), DONE};
    struct machine *m = started(2);
    (void)submit(m, 0, 0, takes_short);
    const struct part parts[] = {{0, east}, {1, west}};
    begin_scripts_with(m,
                       (struct lp_batch_options){.queue = 1, .whose = "group tp0", .name = "it"});
    submit_scripts(m, parts, COUNT_OF(parts));
    (void)submit(m, 0, 1, takes_long);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_PROGRAM_FAILED);
    assert_string_equal(first_line_of_error(m),
                        "IpcqDeadlock: 2 kernels wait and nothing is left to happen: a cycle of 2: "
                        "PE 0.0.0 waits for data from intra_E, PE 0.0.1 waits for data from "
                        "intra_W, back to PE 0.0.0. Each send needs a receive on the other side, "
                        "in the opposite direction");
    machine_free(m);
}

static void a_queue_that_is_not_there_is_refused(void **state)
{
    (void)state;
    struct machine *m = started(1);
    const struct tl_kernel none = {.name = "none"};
    assert_int_equal(
        lp_system_begin_batch(
            m->system, &(struct lp_batch_options){.kernel = &none, .queue = QUEUES}, &m->error),
        CW_USAGE);
    assert_string_equal(m->error.text, "a batch of launches on hardware queue 2: legal are 0 to 1");
    machine_free(m);
    m = machine_of_pes(1, 1);
    m->needs.queues = LP_PE_QUEUES_MAX + 1;
    assert_false(machine_build(m));
    assert_string_equal(m->error.text, "9 hardware queues of a PE; legal are 1 to 8");
    machine_free(m);
    m = machine_of_pes(1, 3);
    m->needs.queues = 6;
    assert_false(machine_build(m));
    assert_string_equal(m->error.text, "6 hardware queues of a PE, for kernels of up to 3 contexts "
                                       "each; legal are 16 contexts in all");
    machine_free(m);
    m = machine_of_pes(2, 1); /* the accounts of peers have numbers of 32 bits */
    m->hw.sip_count = HW_SIPS_MAX;
    m->hw.cube_w = m->hw.cube_h = 4;
    m->needs.queues = LP_PE_QUEUES_MAX;
    assert_false(machine_build(m));
    assert_non_null(strstr(m->error.text, "8 hardware queues of each of "));
    assert_non_null(strstr(m->error.text, " PEs; legal are fewer than 2^32 - 1 in all"));
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_two_queues_overlap),
        cmocka_unit_test(kernels_of_one_queue_take_turns_beside_the_other),
        cmocka_unit_test(forks_joins_and_barriers_are_of_one_kernel),
        cmocka_unit_test(a_pending_receive_is_of_its_kernel),
        cmocka_unit_test(a_notification_is_for_the_same_queue),
        cmocka_unit_test(streams_are_cut_beside_other_queues),
        cmocka_unit_test(each_queue_has_a_share_of_tcm),
        cmocka_unit_test(a_place_beyond_the_share_is_refused),
        cmocka_unit_test(a_store_counts_for_its_own_queue_s_batch),
        cmocka_unit_test(transfers_are_of_their_own_queue_s_batch),
        cmocka_unit_test(a_deadlock_names_the_kernels_of_each_queue),
        cmocka_unit_test(a_cycle_is_of_kernels_that_wait_for_each_other),
        cmocka_unit_test(a_queue_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
