/*
 * test_lp_install.c: installing queues by messages through the machine (lp/QUEUES.md,
 * "Queue pair"): a PE has no queues before its IpcqInitMsg, then those of the plan that the
 * message names, in any order of arrival. The table that a direct write would leave is worked out
 * here from the grids of PEs and cubes.
 */
#include "test/support/test_lp_support.h"

enum { SIPS = 2, CUBE_W = 2, CUBE_H = 2, PES = SIPS * CUBE_W * CUBE_H * 8 };

static const struct lp_pe *pe_of(const struct machine *m, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    return lp_pe(lp_system_model(m->system), lp_system_cube(m->system, place.sip, place.cube),
                 place.pe);
}

/* In a grid of w x h, a neighbour to the N, S, E, W: one bit each. */
static uint32_t sides(uint32_t at, uint32_t w, uint32_t h)
{
    const uint32_t x = at % w, y = at / w;
    return (y > 0) << HW_DIR_N | (y + 1 < h) << HW_DIR_S | (x + 1 < w) << HW_DIR_E |
           (x > 0) << HW_DIR_W;
}

/* The directions of a PE of four cubes in each of two SIPs in a ring. */
static uint16_t directions_by_hand(uint32_t pe, bool all_pes)
{
    enum { PES_OF_CUBE = 8, PE_GRID_W = 4, PE_GRID_H = 2 };
    const uint32_t of_cubes = sides(pe / PES_OF_CUBE % (CUBE_W * CUBE_H), CUBE_W, CUBE_H),
                   of_pes = sides(pe % PES_OF_CUBE, PE_GRID_W, PE_GRID_H),
                   of_sips = 1u << HW_DIR_GLOBAL_E | 1u << HW_DIR_GLOBAL_W;
    if (!all_pes && pe % PES_OF_CUBE != 0)
        return 0;
    return (uint16_t)(of_cubes | of_sips | (all_pes ? of_pes << HW_DIR_INTRA_N : 0));
}

/* Builds the machine; installs by messages; compares each PE's bytes with its bytes before, plus
 * the writes of an install. The numbers of the acknowledgement are no part of that. */
static void install_and_compare(struct machine *m)
{
    assert_true(machine_build(m));
    const struct lp_model *model = lp_system_model(m->system);
    const bool all_pes = !m->pe0_alone;
    uint8_t *before[PES];
    for (uint32_t pe = 0; pe < PES; pe++) {
        before[pe] = malloc(model->cube.pe_bytes);
        assert_non_null(before[pe]);
        memcpy(before[pe], pe_of(m, pe), model->cube.pe_bytes);
        assert_int_equal(pe_of(m, pe)->plan, 0); /* nothing is there before the messages */
        assert_int_equal(pe_of(m, pe)->installed, 0);
    }
    assert_int_equal(lp_system_submit_install(m->system, 0, &m->error), CW_OK);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    for (uint32_t pe = 0; pe < PES; pe++) {
        struct lp_pe *expected = (struct lp_pe *)(void *)before[pe];
        const struct lp_pe *got = pe_of(m, pe);
        if (all_pes || pe % 8 == 0) {
            expected->plan = 1;
            expected->installed = directions_by_hand(pe, all_pes);
            expected->next_number = got->next_number;
        }
        assert_int_equal(got->installed, expected->installed);
        if (memcmp(expected, got, model->cube.pe_bytes) != 0)
            fail_msg("PE %u is not as a direct install leaves it", pe);
        free(before[pe]);
    }
}

static struct machine *machine_of_four_cubes(bool all_pes)
{
    struct machine *m = small_machine(SIPS, CUBE_W, CUBE_H);
    m->pe0_alone = !all_pes;
    m->hw.overhead_ps[HW_NODE_IO_CPU] = 20000;
    return m;
}

static void messages_install_what_a_direct_write_would(void **state)
{
    (void)state;
    for (int all_pes = 0; all_pes < 2; all_pes++) {
        struct machine *m = machine_of_four_cubes(all_pes);
        install_and_compare(m);
        machine_free(m);
    }
}

/* A slow way from cube to cube. */
static struct machine *slow_machine(void)
{
    struct machine *const m = machine_of_four_cubes(true);
    m->hw.link[HW_LINK_NOC_UCIE].prop_ps = 1000000;
    return m;
}

/* Which PEs have their queues when an installation is cut off at a time. */
static void note_installed(struct machine *m, int64_t end_ps, bool *installed)
{
    m->engine.end_ps = end_ps;
    assert_true(machine_build(m));
    assert_int_equal(lp_system_submit_install(m->system, 0, &m->error), CW_OK);
    (void)lp_system_drain(m->system, &m->error); /* fails: there is more to do at that time */
    for (uint32_t pe = 0; pe < PES; pe++)
        installed[pe] = pe_of(m, pe)->plan != 0;
    machine_free(m);
}

/* Whether some PE has its queues at a time of the one machine, and at a time of the other lacks
 * them while a PE has them that had none in the first. */
static bool orders_differ(const bool (*fast)[PES], const bool (*slow)[PES], uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        for (uint32_t k = 0; k < times; k++) {
            bool only_fast = false, only_slow = false;
            for (uint32_t pe = 0; pe < PES; pe++) {
                only_fast |= fast[i][pe] && !slow[k][pe];
                only_slow |= !fast[i][pe] && slow[k][pe];
            }
            if (only_fast && only_slow)
                return true;
        }
    return false;
}

/* With a slow way from cube to cube, messages to the next row overtake those to the far cubes of
 * the first. */
static void the_order_of_arrival_makes_no_difference(void **state)
{
    (void)state;
    enum { TIMES = 24 };
    static bool fast_has[TIMES][PES], slow_has[TIMES][PES];
    struct machine *fast = machine_of_four_cubes(true), *slow = slow_machine();
    install_and_compare(fast);
    install_and_compare(slow);
    const int64_t fast_ps = cw_sim_now(lp_system_sim(fast->system)),
                  slow_ps = cw_sim_now(lp_system_sim(slow->system));
    for (int64_t i = 0; i < TIMES; i++) {
        note_installed(machine_of_four_cubes(true), 1 + fast_ps * i / TIMES, fast_has[i]);
        note_installed(slow_machine(), 1 + slow_ps * i / TIMES, slow_has[i]);
    }
    assert_true(orders_differ(fast_has, slow_has, TIMES));
    for (uint32_t pe = 0; pe < PES; pe++) {
        assert_int_equal(pe_of(fast, pe)->installed, pe_of(slow, pe)->installed);
        assert_memory_equal(pe_of(fast, pe)->queue, pe_of(slow, pe)->queue,
                            sizeof pe_of(fast, pe)->queue);
    }
    machine_free(fast);
    machine_free(slow);
}

/* ---- the plan decides ------------------------------------------------------------------------ */

#define S HW_DIR_INTRA_S
#define E HW_DIR_INTRA_E
#define W HW_DIR_INTRA_W

static const struct line sends[] = {SEND(E, 64), RECV(E, 32), DONE};
static const struct line answers[] = {RECV(W, 64), SEND(W, 32), DONE};

static void before_its_message_a_pe_has_no_queues(void **state)
{
    (void)state;
    static const struct line any[] = {RECV_ANY(64), DONE};
    static const struct {
        const struct line *script;
        const char *call;
    } cases[] = {{sends, "send"}, {answers, "recv"}, {any, "recv_any"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[160];
        struct machine *m = small_machine(1, 1, 1);
        assert_true(machine_build(m));
        snprintf(text, sizeof text,
                 "IpcqNotInstalled: PE 0.0.0, kernel script: %s before the PE's IpcqInitMsg has",
                 cases[i].call);
        assert_int_equal(try_scripts(m, &(const struct part){0, cases[i].script}, 1),
                         CW_PROGRAM_FAILED);
        if (strncmp(m->error.text, text, strlen(text)) != 0)
            fail_msg("%s", m->error.text);
        machine_free(m);
    }
}

/* PE 0's queue to the east is laid to PE 5 instead of PE 1: the grid of PEs is 4 x 2. */
static struct lp_plan *altered_plan(const struct machine *m)
{
    struct lp_plan *const plan = machine_plan(m);
    struct cw_error error;
    assert_int_equal(lp_plan_join(plan, (struct lp_end){0, E}, (struct lp_end){5, W}, &error),
                     CW_OK);
    return plan;
}

static void tiles_go_where_the_plan_says(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->plan = altered_plan(m);
    machine_start(m);
    RUN(m, {0, sends}, {5, answers});
    assert_int_equal(nth(m, 0, LP_OP_SEND, 0)->peer, 5);
    assert_int_equal(queue_of(m, 5, W)->my_tail, 1);
    assert_int_equal(queue_of(m, 0, E)->peer_tail_cache, 1); /* the credit came back */
    /* the queues that were there before are gone, at their other ends too */
    static const struct line cut[] = {SEND(W, 64), DONE};
    assert_int_equal(try_scripts(m, &(const struct part){1, cut}, 1), CW_PROGRAM_FAILED);
    assert_memory_equal(m->error.text, "IpcqInvalidDirection: PE 0.0.1", 30);
    machine_free(m);
}

/* Both plans are known to the machine. */
static void the_message_names_the_plan(void **state)
{
    (void)state;
    for (uint32_t named = 0; named < 2; named++) {
        struct machine *m = small_machine(1, 1, 1);
        m->other_plan = altered_plan(m);
        assert_true(machine_build(m));
        assert_int_equal(lp_system_submit_install(m->system, named, &m->error), CW_OK);
        assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
        RUN(m, {0, sends}, {named == 0 ? 1 : 5, answers});
        assert_int_equal(pe_of(m, 0)->plan, 1 + named);
        machine_free(m);
    }
}

/* A queue that leaves the cube, with workers that share the machine: its credits bound the
 * lookahead between them. */
static void an_altered_queue_may_lead_to_another_worker(void **state)
{
    (void)state;
    static const uint32_t cube_worker[] = {0, 1};
    static const enum cw_sync modes[] = {CW_CONSERVATIVE, CW_OPTIMISTIC};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        struct machine *m = small_machine(2, 1, 1);
        m->engine.sync = modes[i];
        m->engine.worker_count = 2;
        m->cube_worker = cube_worker;
        m->plan = machine_plan(m);
        assert_int_equal(
            lp_plan_join(m->plan, (struct lp_end){0, E}, (struct lp_end){8 + 5, W}, &m->error),
            CW_OK);
        machine_start(m);
        RUN(m, {0, sends}, {8 + 5, answers});
        assert_int_equal(queue_of(m, 0, E)->peer_tail_cache, 1);
        machine_free(m);
    }
}

static void only_ends_that_a_plan_has_can_be_joined(void **state)
{
    (void)state;
    struct machine *m = small_machine(1, 1, 1);
    m->plan = machine_plan(m);
    static const struct lp_end wrong[][2] = {{{0, W}, {5, W}}, {{0, E}, {99, W}}, {{0, E}, {0, S}}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_int_equal(lp_plan_join(m->plan, wrong[i][0], wrong[i][1], &m->error), CW_USAGE);
    assert_string_equal(m->error.text,
                        "a queue from direction 10 of PE 0 to direction 9 of PE 0; legal: "
                        "directions that the plan gives two different PEs");
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_install_what_a_direct_write_would),
        cmocka_unit_test(the_order_of_arrival_makes_no_difference),
        cmocka_unit_test(before_its_message_a_pe_has_no_queues),
        cmocka_unit_test(tiles_go_where_the_plan_says),
        cmocka_unit_test(the_message_names_the_plan),
        cmocka_unit_test(an_altered_queue_may_lead_to_another_worker),
        cmocka_unit_test(only_ends_that_a_plan_has_can_be_joined),
    };
    return cmocka_run_group_tests_name("lp_install", tests, NULL, NULL);
}
