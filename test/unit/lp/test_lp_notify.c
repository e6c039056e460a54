/*
 * test_lp_notify.c: notifications and those who wait for them (hw/HARDWARE.md, "Blocks of a PE";
 * lp/QUEUES.md, "One-sided operations"): costs, the times at which they are seen, that none is lost
 * or taken for another. Their order with puts: test_lp_one_sided.c.
 *
 * A notification from PE 0 to PE 1, worked out by hand (in ns): issue pe_cpu 2 + pe_ipcq 2; 16
 * bytes on pe_noc .125; from pe_dma on 4 + .005 + router 1 + .005 + 4; wire 1. PE 2 is a router
 * further away: 1 + .030.
 */
#include "test/support/test_lp_support.h"

enum { ISSUE = 4000, NOTIFIED = ISSUE + 125 + 9010 + 1000, HOP = 1030 };

static void a_notification_is_16_bytes_to_pe_ipcq(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = started_with_puts(c);
        RUN(m, {0, (const struct line[]){DELAY(50), NOTIFY(1, 3), DONE}},
            {1, (const struct line[]){WAIT_NOTIFY(0, 3), DONE}});
        const struct lp_op *notify = nth(m, 0, LP_OP_NOTIFY, 0),
                           *wait = nth(m, 1, LP_OP_WAIT_NOTIFY, 0);
        assert_int_equal(took(notify), ISSUE);
        assert_int_equal(start_of(m, wait), 0);
        assert_int_equal(end_of(m, wait), 50000 + NOTIFIED);
        assert_int_equal(notify->peer, 1);
        assert_int_equal(notify->dir, 3);
        assert_int_equal(wait->peer, 0);
        assert_int_equal(wait->dir, 3);
        machine_free(m);
    }
}

static void a_notification_that_is_there_costs_pe_cpu(void **state)
{
    (void)state;
    struct machine *m = started_with_puts(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){NOTIFY(1, 0), NOTIFY(1, 0), DONE}},
        {1, (const struct line[]){DELAY(100), WAIT_NOTIFY(0, 0), WAIT_NOTIFY(0, 0), DONE}});
    assert_int_equal(took(nth(m, 1, LP_OP_WAIT_NOTIFY, 0)), 2000);
    assert_int_equal(took(nth(m, 1, LP_OP_WAIT_NOTIFY, 1)), 2000);
    machine_free(m);
}

/* It looks at 2 + k x 20, and sees a notification that comes exactly then. */
static void a_polling_waiter_looks_at_whole_intervals(void **state)
{
    (void)state;
    for (int64_t late = 0; late <= 1; late++) {
        struct machine *m = machine_with_puts(1, 1);
        m->config.poll = true;
        m->hw.ipcq_wire_ps = 865 + late; /* 4 + .125 + 9.010 + .865 = 14 */
        machine_start(m);
        RUN(m, {0, (const struct line[]){DELAY(28), NOTIFY(1, 1), DONE}},
            {1, (const struct line[]){WAIT_NOTIFY(0, 1), DONE}});
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_WAIT_NOTIFY, 0)), 42000 + late * 20000);
        machine_free(m);
    }
}

static void notifications_of_other_peers_and_tags_are_not_taken(void **state)
{
    (void)state;
    struct machine *m = started_with_puts(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){NOTIFY(1, 1), NOTIFY(1, 2), DONE}},
        {2, (const struct line[]){NOTIFY(1, 0), DELAY(200), NOTIFY(1, 1), DONE}},
        {1, (const struct line[]){WAIT_NOTIFY(2, 1), WAIT_NOTIFY(0, 2), WAIT_NOTIFY(2, 0),
                                  WAIT_NOTIFY(0, 1), DONE}});
    const struct lp_op *from_2 = nth(m, 2, LP_OP_NOTIFY, 1);
    assert_int_equal(nth(m, 1, LP_OP_WAIT_NOTIFY, 0)->t_end_ps,
                     from_2->t_start_ps + NOTIFIED + HOP);
    for (uint32_t i = 1; i < 4; i++)
        assert_int_equal(took(nth(m, 1, LP_OP_WAIT_NOTIFY, i)), 2000);
    machine_free(m);
}

/* More of them than a byte counts, before the first is consumed. */
static void no_notification_is_lost_however_many_wait(void **state)
{
    (void)state;
    enum { MANY = 300 };
    static struct line notify[MANY + 1], wait[MANY + 2];
    for (uint32_t i = 0; i < MANY; i++) {
        notify[i] = (struct line)NOTIFY(1, 2);
        wait[i + 1] = (struct line)WAIT_NOTIFY(0, 2);
    }
    wait[0] = (struct line)DELAY(5000);
    struct machine *m = started_with_puts(HW_CONTENTION_MESSAGE);
    RUN(m, {0, notify}, {1, wait});
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(end_of(m, nth(m, 1, LP_OP_WAIT_NOTIFY, i)), 5000000 + (i + 1) * 2000);
    machine_free(m);
}

/* The notifications of one PE and one tag are a semaphore: thousands may be pending while their
 * receiver waits for another PE, whose notification comes last. */
static void check_semaphore(uint32_t sender, uint32_t other, enum cw_sync sync)
{
    enum { MANY = 5000 };
    static struct line notify[MANY + 2], wait[MANY + 2];
    static const uint32_t cube_worker[] = {0, 1};
    static const struct line go[] = {WAIT_NOTIFY(1, 0), WAIT_NOTIFY(1, 0), NOTIFY(1, 3), DONE};
    for (uint32_t i = 0; i < MANY; i++) {
        notify[i] = (struct line)NOTIFY(1, 2);
        wait[i + 2] = (struct line)WAIT_NOTIFY(sender, 2);
    }
    notify[MANY] = (struct line)NOTIFY(1, 1);
    wait[0] = (struct line)WAIT_NOTIFY(sender, 1); /* all of tag 2 are pending by then */
    wait[1] = (struct line)NOTIFY(other, 0);
    static struct line wait_all[MANY + 5];
    memcpy(wait_all, wait, 2 * sizeof *wait);
    wait_all[2] = (struct line)NOTIFY(other, 0);
    wait_all[3] = (struct line)WAIT_NOTIFY(other, 3);
    memcpy(wait_all + 4, wait + 2, MANY * sizeof *wait);
    struct machine *m = machine_with_puts(1, 2);
    m->engine.sync = sync;
    m->engine.worker_count = sync == CW_SEQUENTIAL ? 1 : 2;
    m->engine.tuning.stress_rate_p32 = 1ull << 28;
    m->cube_worker = cube_worker;
    machine_start(m);
    RUN(m, {1, wait_all}, {sender, notify}, {other, go});
    const int64_t from_ps = nth(m, 1, LP_OP_WAIT_NOTIFY, 1)->t_end_ps;
    assert_true(nth(m, sender, LP_OP_NOTIFY, MANY)->t_end_ps < from_ps);
    const struct lp_op *const last = nth(m, 1, LP_OP_WAIT_NOTIFY, MANY + 1);
    assert_int_equal(last->t_end_ps - from_ps, (int64_t)MANY * 2000);
    RUN(m, {1, (const struct line[]){DELAY(20), DONE}}); /* none is left: */
    const struct line one_more[] = {WAIT_NOTIFY(sender, 2), DONE};
    const struct part part[] = {{1, one_more}};
    assert_int_equal(try_scripts(m, part, 1), CW_PROGRAM_FAILED);
    machine_free(m);
}

static void thousands_of_notifications_of_one_tag_are_counted(void **state)
{
    (void)state;
    check_semaphore(0, 2, CW_SEQUENTIAL);
    check_semaphore(8, 2, CW_SEQUENTIAL);
    check_semaphore(0, 8, CW_STRESS);
    check_semaphore(9, 8, CW_ADAPTIVE);
}

static void a_notification_of_one_launch_can_be_taken_in_the_next(void **state)
{
    (void)state;
    struct machine *m = started_with_puts(HW_CONTENTION_MESSAGE);
    RUN(m, {0, (const struct line[]){NOTIFY(1, 0), NOTIFY(1, 0), DONE}},
        {1, (const struct line[]){WAIT_NOTIFY(0, 0), DONE}});
    RUN(m, {1, (const struct line[]){WAIT_NOTIFY(0, 0), DONE}});
    assert_int_equal(took(nth(m, 1, LP_OP_WAIT_NOTIFY, 0)), 2000);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_notification_is_16_bytes_to_pe_ipcq),
        cmocka_unit_test(a_notification_that_is_there_costs_pe_cpu),
        cmocka_unit_test(a_polling_waiter_looks_at_whole_intervals),
        cmocka_unit_test(notifications_of_other_peers_and_tags_are_not_taken),
        cmocka_unit_test(no_notification_is_lost_however_many_wait),
        cmocka_unit_test(thousands_of_notifications_of_one_tag_are_counted),
        cmocka_unit_test(a_notification_of_one_launch_can_be_taken_in_the_next),
    };
    return cmocka_run_group_tests_name("lp_notify", tests, NULL, NULL);
}
