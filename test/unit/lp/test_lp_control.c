/*
 * test_lp_control.c: control messages between host and PEs (hw/HARDWARE.md, "Control plane"), with
 * the default figures: installation, launches, completions, and the times that the host sees.
 *
 * One message of 64 bytes to PE 0 of a SIP of one cube, in ns:
 *     pcie 64 / 64 GB/s + 201.4                                        202.400
 *     io_cpu 20                                                        222.400
 *     hub .050 + io_hub 10 + hub .050 + io_port 50                     282.500
 *     ucie .020 + ucie_port 4 + noc_ucie .005 + router 1               287.525
 *     m_cpu link, 64 / 32 GB/s: 1 more than on pcie, + .005            288.530
 *     m_cpu 10                                                         298.530
 *     m_cpu link .005 + router 1 + pe_noc .005 + pe_cpu 2              301.540   it takes effect
 * and back: pe_cpu 2 + 64 / 128 + .005 + 1, m_cpu link + 1.5 + .005 (5.010), m_cpu 10, then
 *     .005 + 1 + .005 + 4 + .020 + 50 + .050 + 10 + .050 (65.130), io_cpu 20, pcie 201.4 = 301.540
 */
#include "test/support/test_lp_support.h"

enum { DOWN = 301540, UP = 301540 };

/* One corner with this many PEs in each cube, so that all share a router. */
static struct machine *controlled(uint32_t sips, uint32_t cube_w, uint32_t pes)
{
    struct machine *m = small_machine(sips, cube_w, 1);
    const struct hw_config defaults = default_machine();
    m->hw.control_msg_bytes = defaults.control_msg_bytes;
    memcpy(m->hw.overhead_ps, defaults.overhead_ps, sizeof m->hw.overhead_ps);
    m->hw.corner_count = 1;
    m->hw.pe_per_corner = pes;
    return m;
}

static int64_t install_ps(struct machine *m)
{
    machine_start(m);
    const struct lp_times *times = lp_system_times(m->system);
    assert_int_equal(times->returned, times->submitted);
    const int64_t ps = times->host_ps - times->submitted_ps;
    machine_free(m);
    return ps;
}

static void installing_one_pe_takes_the_way_there_and_back(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = controlled(1, 1, 1);
        m->hw.contention = c;
        m->config.vc_chunk_bytes = 16; /* control messages are never cut */
        assert_int_equal(install_ps(m), DOWN + UP);
    }
}

static void a_map_takes_as_long_as_an_installation(void **state)
{
    (void)state;
    struct machine *m = controlled(1, 1, 1);
    machine_start(m);
    const int64_t begin_ps = cw_sim_now(lp_system_sim(m->system));
    assert_int_equal(lp_system_begin_copy(m->system, &m->error), CW_OK);
    assert_int_equal(lp_system_submit_map(m->system, 0, 1, &m->error), CW_OK);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    const struct lp_times *times = lp_system_times(m->system);
    assert_int_equal(times->submitted_ps, begin_ps);
    assert_int_equal(times->host_ps - times->submitted_ps, DOWN + UP);
    machine_free(m);
}

/* 64 + 4032 bytes: 64 ns on pcie, but the m_cpu link's 128 ns are paid, instead of its 2 ns; the
 * acknowledgement is as short as ever. Two writes: the second waits for the m_cpu link. */
static void a_write_carries_its_data_to_the_pe(void **state)
{
    (void)state;
    struct machine *m = controlled(1, 1, 2);
    m->hw.overhead_ps[HW_NODE_IO_CPU] = m->hw.overhead_ps[HW_NODE_M_CPU] = 0;
    machine_start(m);
    assert_int_equal(lp_system_begin_copy(m->system, &m->error), CW_OK);
    assert_int_equal(lp_system_submit_write(m->system, 0, 4032, &m->error), CW_OK);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    const struct lp_times *times = lp_system_times(m->system);
    const int64_t one_ps = DOWN + UP - 4 * 15000 - (2000 - 128000); /* 64 / 32 becomes 4096 / 32 */
    assert_int_equal(times->host_ps - times->submitted_ps, one_ps);
    assert_int_equal(lp_system_begin_copy(m->system, &m->error), CW_OK);
    for (uint32_t pe = 0; pe < 2; pe++)
        assert_int_equal(lp_system_submit_write(m->system, pe, 4032, &m->error), CW_OK);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    times = lp_system_times(m->system);
    assert_int_equal(times->returned, 2);
    /* the m_cpu link, the slowest, is free for the second after another 128 */
    assert_int_equal(times->host_ps - times->submitted_ps, one_ps + 128000);
    machine_free(m);
}

static void a_write_longer_than_a_message_can_be_is_refused(void **state)
{
    (void)state;
    struct machine *m = controlled(1, 1, 1);
    machine_start(m);
    assert_int_equal(lp_system_begin_copy(m->system, &m->error), CW_OK);
    assert_int_equal(lp_system_submit_write(m->system, 0, UINT32_MAX - 63, &m->error),
                     CW_NO_RESOURCE);
    machine_free(m);
}

static void io_cpu_serves_one_message_at_a_time(void **state)
{
    (void)state;
    for (enum hw_contention c = HW_CONTENTION_NONE; c <= HW_CONTENTION_CHUNK; c++) {
        struct machine *m = controlled(1, 1, 4);
        m->hw.contention = c;
        m->hw.overhead_ps[HW_NODE_M_CPU] = 0; /* 10 less each way; no message waits there */
        assert_int_equal(install_ps(m), DOWN + UP - 2 * 10000 + 3 * 20000);
    }
}

static void m_cpu_serves_both_directions_together(void **state)
{
    (void)state;
    /* The acknowledgement reaches m_cpu at 301.540 + 5.010 = 306.550, before the second message,
     * at 308.530, which is served when it is through: from 316.550, 8.020 later than it came. */
    assert_int_equal(install_ps(controlled(1, 1, 2)), DOWN + UP + 20000 + 8020);
    struct machine *m = controlled(1, 1, 2);
    m->hw.overhead_ps[HW_NODE_M_CPU] = 30000;
    /* the messages reach m_cpu at 288.530 and 308.530 and are served until 318.530 and 348.530;
     * their acknowledgements reach it 3.010 + 5.010 later, at 326.550 and 356.550, and are served
     * until 378.530 and 408.530; then 65.130 + 20 + 201.4 */
    assert_int_equal(install_ps(m), 408530 + 286530);
}

static void the_host_s_overhead_is_paid_at_both_ends(void **state)
{
    (void)state;
    struct machine *m = controlled(1, 1, 1);
    m->hw.overhead_ps[HW_NODE_HOST] = 700;
    assert_int_equal(install_ps(m), 700 + DOWN + UP + 700);
}

static void the_first_link_is_reserved_too(void **state)
{
    (void)state;
    static const struct line nothing[] = {DONE};
    struct machine *m = controlled(1, 1, 2);
    m->hw.link[HW_LINK_PCIE] = link_class(201400, 2); /* 64 bytes take 32: longer than io_cpu */
    machine_start(m);
    RUN(m, {0, nothing}, {1, nothing});
    const struct lp_times *times = lp_system_times(m->system);
    /* pcie is the slowest now: 31 more there, and no more on the m_cpu link */
    assert_int_equal(times->first_start_ps - times->submitted_ps, DOWN + 31000 - 1000);
    assert_int_equal(times->last_start_ps - times->first_start_ps, 32000);
    /* back, pcie takes 30 more than the m_cpu link */
    assert_int_equal(times->host_ps - times->last_end_ps, UP + 30000);
    machine_free(m);
}

static void kernels_start_in_the_order_of_their_launches(void **state)
{
    (void)state;
    static const struct line busy[] = {DELAY(1000), DONE};
    struct machine *m = controlled(1, 1, 3);
    machine_start(m);
    RUN(m, {0, busy}, {1, busy}, {2, busy});
    const struct lp_times *times = lp_system_times(m->system);
    for (uint32_t pe = 0; pe < 3; pe++)
        assert_int_equal(start_of(m, nth(m, pe, LP_OP_MATH, 0)), pe * 20000);
    assert_int_equal(times->first_start_ps - times->submitted_ps, DOWN);
    assert_int_equal(times->last_start_ps - times->submitted_ps, DOWN + 2 * 20000);
    assert_int_equal(times->last_end_ps, times->last_start_ps + 1000000);
    assert_int_equal(times->host_ps, times->last_end_ps + UP);
    assert_int_equal(times->submitted, 3);
    assert_int_equal(times->returned, 3);
    machine_free(m);
}

static void a_message_to_another_cube_crosses_those_before_it(void **state)
{
    (void)state;
    static const struct line nothing[] = {DONE};
    struct machine *m = controlled(1, 2, 1);
    machine_start(m);
    RUN(m, {1, nothing});
    const struct lp_times *times = lp_system_times(m->system);
    /* in cube 0 from router 0 by 1 to 3, by its E port into cube 1: 2 x (.030 + 1) + .005 + 4
     * + .020 + 4 + .005 + 1 */
    assert_int_equal(times->first_start_ps - times->submitted_ps, DOWN + 11090);
    /* and back from router 0 by the W port, into cube 0 by the E port, from router 3 to 0 */
    assert_int_equal(times->host_ps - times->last_end_ps, UP + 11090);
    machine_free(m);
}

static void every_sip_has_its_own_way_from_the_host(void **state)
{
    (void)state;
    static const struct line nothing[] = {DONE};
    struct machine *m = controlled(3, 1, 1);
    machine_start(m);
    RUN(m, {0, nothing}, {1, nothing}, {2, nothing});
    const struct lp_times *times = lp_system_times(m->system);
    assert_int_equal(times->first_start_ps - times->submitted_ps, DOWN);
    assert_int_equal(times->last_start_ps - times->submitted_ps, DOWN);
    assert_int_equal(times->host_ps - times->submitted_ps, DOWN + UP);
    machine_free(m);
}

/* ---- phases ---------------------------------------------------------------------------------- */

struct phased_frame {
    uint16_t line;
};

/* The first phase takes 100 ns, the second 50; PE 1's second takes 80. */
static enum tl_status run_phased(struct tl *tl, void *state)
{
    struct phased_frame *f = state;
    const uint32_t ns = tl_place(tl).pe == 1 ? 80 : 50;
    TL_BEGIN(&f->line);
    tl_phase(tl, 0);
    TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(64), 100 - 9));
    tl_phase(tl, 1);
    TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(64), ns - 9));
    TL_END(&f->line);
}

/* As if so many launches had been. */
static void set_launches(struct machine *m, uint32_t count)
{
    struct lp_launches *const launches =
        &((struct lp_model *)(uintptr_t)lp_system_model(m->system))->launches;
    launches->dropped = launches->last = count;
}

static void launches_are_numbered_up_to_2_to_32_less_one(void **state)
{
    (void)state;
    static const struct line done[] = {DONE};
    struct machine *m = small_machine(1, 1, 1);
    machine_start(m);
    const uint32_t pes = hw_pe_count(&m->hw);
    set_launches(m, UINT32_MAX - pes); /* each PE may get a launch of its own */
    RUN(m, {0, done}, {1, done});
    set_launches(m, UINT32_MAX - pes + 1);
    static const struct tl_kernel unused = {.name = "unused"};
    assert_int_equal(
        lp_system_begin_batch(m->system, &(struct lp_batch_options){.kernel = &unused}, &m->error),
        CW_PROGRAM_FAILED);
    assert_non_null(strstr(m->error.text, "the next batch may need more numbers than 2^32 - 1"));
    machine_free(m);
}

static void a_rank_leaves_a_phase_when_its_last_pe_does(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two", "never"};
    static const struct tl_kernel phased = {.name = "phased",
                                            .frame_bytes = sizeof(struct phased_frame),
                                            .run = run_phased,
                                            .phase = names,
                                            .phase_count = 3};
    struct machine *m = small_machine(2, 1, 1); /* PEs 0 and 1 start together */
    machine_start(m);
    assert_int_equal(
        lp_system_begin_batch(m->system, &(struct lp_batch_options){.kernel = &phased}, &m->error),
        CW_OK);
    for (uint32_t pe = 0; pe < 2; pe++) {
        const struct tl_args args = {.rank = 0, .dtype = LP_F16};
        assert_int_equal(lp_system_submit_launch(m->system, pe, &phased, &args, &m->error), CW_OK);
    }
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    const struct lp_phases *phases =
        lp_system_phases_of(m->system, lp_system_current_batch(m->system));
    const int64_t start_ps = lp_system_times(m->system)->first_start_ps;
    assert_int_equal(phases->count, 3);
    assert_string_equal(phases->name[1], "two");
    assert_int_equal(phases->start_ps[0], start_ps);
    assert_int_equal(phases->exit_ps[0], start_ps + 100000);
    assert_int_equal(phases->exit_ps[1], start_ps + 180000);
    assert_int_equal(phases->exit_ps[2], -1);
    assert_int_equal(phases->start_ps[1], -1); /* rank 1 had no kernel */
    assert_int_equal(phases->exit_ps[3], -1);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(installing_one_pe_takes_the_way_there_and_back),
        cmocka_unit_test(a_map_takes_as_long_as_an_installation),
        cmocka_unit_test(a_write_carries_its_data_to_the_pe),
        cmocka_unit_test(a_write_longer_than_a_message_can_be_is_refused),
        cmocka_unit_test(io_cpu_serves_one_message_at_a_time),
        cmocka_unit_test(m_cpu_serves_both_directions_together),
        cmocka_unit_test(the_host_s_overhead_is_paid_at_both_ends),
        cmocka_unit_test(the_first_link_is_reserved_too),
        cmocka_unit_test(kernels_start_in_the_order_of_their_launches),
        cmocka_unit_test(a_message_to_another_cube_crosses_those_before_it),
        cmocka_unit_test(every_sip_has_its_own_way_from_the_host),
        cmocka_unit_test(launches_are_numbered_up_to_2_to_32_less_one),
        cmocka_unit_test(a_rank_leaves_a_phase_when_its_last_pe_does),
    };
    return cmocka_run_group_tests_name("lp_control", tests, NULL, NULL);
}
