/*
 * test_lp_drained.c: the named invariants of lp/ after a drain: they hold after queues, puts and
 * kernels have been used, also after a deadlock; and each planted violation is reported by its
 * name.
 */
#include "test/support/test_lp_support.h"

#include "lp/host/drained_check.h"

enum { TAG = 1 };

static int check(struct machine *m)
{
    return lp_check_drained(lp_system_model(m->system), lp_system_sim(m->system), &m->error);
}

/* Two neighbours, of which PE 0 sends a tile and puts; its state has passed the check. */
static struct machine *used_machine(void)
{
    static const struct line sender[] = {SEND(HW_DIR_E, 64), PUT(8, TCM(4096), TCM(0), 64),
                                         NOTIFY(8, TAG), DONE};
    static const struct line receiver[] = {RECV(HW_DIR_W, 64), WAIT_NOTIFY(0, TAG), DONE};
    struct machine *m = small_machine(3, 2, 1);
    m->needs.peers = 2;
    machine_start(m);
    RUN(m, {0, sender}, {8, receiver});
    assert_int_equal(check(m), CW_OK);
    return m;
}

/* The state of a PE, to plant a fault in it. */
static struct lp_pe *pe_state_of(struct machine *m, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    return (struct lp_pe *)(uintptr_t)lp_pe(
        lp_system_model(m->system), lp_system_cube(m->system, place.sip, place.cube), place.pe);
}

static void expect_broken(struct machine *m, const char *name)
{
    assert_int_equal(check(m), CW_BUG);
    assert_int_equal(m->error.exit_code, CW_BUG);
    if (strncmp(m->error.text, name, strlen(name)) != 0)
        fail_msg("\"%s\" is not about %s", m->error.text, name);
}

static void invariants_hold_after_a_deadlock(void **state)
{
    (void)state;
    static const struct line script[] = {RECV(HW_DIR_W, 64), DONE};
    const struct part part = {8, script};
    struct machine *m = small_machine(3, 2, 1);
    machine_start(m);
    assert_int_equal(try_scripts(m, &part, 1), CW_PROGRAM_FAILED);
    assert_int_equal(check(m), CW_OK);
    machine_free(m);
}

static void a_tile_announced_but_never_sent_breaks_i_ipcq_1(void **state)
{
    (void)state;
    struct machine *m = used_machine();
    pe_state_of(m, 8)->queue[HW_DIR_W].peer_head_cache++;
    expect_broken(m, "I-IPCQ-1");
    machine_free(m);
}

static void a_tail_that_went_back_breaks_i_ipcq_2(void **state)
{
    (void)state;
    struct machine *m = used_machine();
    pe_state_of(m, 8)->queue[HW_DIR_W].my_tail--;
    expect_broken(m, "I-IPCQ-2");
    machine_free(m);
}

static void a_tile_left_before_its_turn_breaks_i_ipcq_3(void **state)
{
    (void)state;
    struct machine *m = used_machine();
    pe_state_of(m, 8)->queue[HW_DIR_W].early = 2;
    expect_broken(m, "I-IPCQ-3");
    machine_free(m);
}

static void a_put_that_was_never_seen_breaks_i_put_1(void **state)
{
    (void)state;
    struct machine *m = used_machine();
    struct lp_one_sided *own = (struct lp_one_sided *)(uintptr_t)lp_one_sided(
        lp_system_model(m->system), pe_state_of(m, 8));
    for (uint32_t i = 0; i < m->needs.peers; i++)
        if (own->peer[i].key == 1)
            own->peer[i].seen--;
    expect_broken(m, "I-PUT-1");
    machine_free(m);
}

static void a_kernel_without_its_event_breaks_i_tl_1(void **state)
{
    (void)state;
    struct machine *m = used_machine();
    struct lp_context *context = (struct lp_context *)(uintptr_t)lp_context(
        lp_system_model(m->system), pe_state_of(m, 8), 0);
    context->kernel.launch = 1;
    expect_broken(m, "I-TL-1");
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_hold_after_a_deadlock),
        cmocka_unit_test(a_tile_announced_but_never_sent_breaks_i_ipcq_1),
        cmocka_unit_test(a_tail_that_went_back_breaks_i_ipcq_2),
        cmocka_unit_test(a_tile_left_before_its_turn_breaks_i_ipcq_3),
        cmocka_unit_test(a_put_that_was_never_seen_breaks_i_put_1),
        cmocka_unit_test(a_kernel_without_its_event_breaks_i_tl_1),
    };
    return cmocka_run_group_tests_name("drained", tests, NULL, NULL);
}
