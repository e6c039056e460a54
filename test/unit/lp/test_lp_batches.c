/*
 * test_lp_batches.c: several batches of launches in flight at the same time (lp/host/batches.h):
 * kernels that wait for their PE, times of each batch, and a host that runs in steps.
 */
#include "lp/host/batches.h"
#include "lp/host/deadlock.h"
#include "test/support/test_lp_support.h"

enum { LONG_NS = 1000, SHORT_NS = 300, BACKLOG = 3 };

static const struct line takes_long[] = {DELAY(LONG_NS), DONE};
static const struct line takes_short[] = {DELAY(SHORT_NS), DONE};

static struct machine *machine_of_pes(uint32_t pes)
{
    struct machine *m = small_machine(1, 1, 1);
    m->hw.corner_count = 1;
    m->hw.pe_per_corner = pes;
    m->needs.launches = BACKLOG;
    machine_start(m);
    return m;
}

/* `of`: what the host knows the batch by. */
static void submit_of(struct machine *m, uint32_t pe, const struct line *script, void *of)
{
    const struct part part = {pe, script};
    begin_scripts_with(m, (struct lp_batch_options){.of = of});
    submit_scripts(m, &part, 1);
}

static void submit(struct machine *m, uint32_t pe, const struct line *script)
{
    m->op_count = 0;
    submit_of(m, pe, script, NULL);
}

static void a_kernel_starts_when_the_one_before_it_on_its_pe_ends(void **state)
{
    (void)state;
    struct machine *m = machine_of_pes(1);
    submit(m, 0, takes_long);
    for (uint32_t i = 0; i < BACKLOG; i++)
        submit(m, 0, takes_short);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    const struct lp_times *const times = lp_system_times(m->system);
    const int64_t begin_ps = times->submitted_ps;
    assert_int_equal(times->last_end_ps - times->last_start_ps, SHORT_NS * 1000);
    machine_free(m);
    m = machine_of_pes(1);
    submit(m, 0, takes_long);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    const struct lp_times *const alone = lp_system_times(m->system);
    assert_int_equal(alone->last_end_ps - alone->last_start_ps, LONG_NS * 1000);
    assert_int_equal(alone->submitted_ps, begin_ps);
    const int64_t first_end_ps = alone->last_end_ps;
    machine_free(m);
    m = machine_of_pes(1);
    submit(m, 0, takes_long);
    submit(m, 0, takes_short);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    assert_int_equal(lp_system_times(m->system)->first_start_ps, first_end_ps);
    machine_free(m);
}

/* A host's account of completions. */
struct heard {
    uint32_t count;
    const void *of[4];
    int64_t at_ps[4];
};

static void on_answer(void *arg, void *of, uint32_t rank, int64_t t_ps)
{
    struct heard *const heard = arg;
    (void)rank;
    assert_true(heard->count < 4);
    heard->of[heard->count] = of;
    heard->at_ps[heard->count++] = t_ps;
}

/* The kernel of the later batch, on a PE of its own, is the first to answer. In steps of the host's
 * reaction no answer is heard late: after a step that ends at t there is none from before the step.
 */
static void a_host_in_steps_hears_each_batch_in_time(void **state)
{
    (void)state;
    static uint32_t cube_worker[] = {0, 1};
    for (uint32_t workers = 1; workers <= 2; workers++) {
        struct machine *m = small_machine(2, 1, 1);
        struct heard heard = {0};
        m->needs.launches = BACKLOG;
        m->engine.sync = workers > 1 ? CW_ADAPTIVE : CW_SEQUENTIAL;
        m->engine.worker_count = workers;
        m->cube_worker = workers > 1 ? cube_worker : NULL;
        m->answered = on_answer;
        m->answered_arg = &heard;
        machine_start(m);
        char first, second; /* for their addresses */
        submit_of(m, 0, takes_long, &first);
        submit_of(m, hw_pes(&m->hw), takes_short, &second); /* of SIP 1 */
        assert_int_equal(lp_system_inject(m->system, &m->error), CW_OK);
        const int64_t step_ps = lp_system_reaction_ps(m->system);
        uint32_t steps = 0;
        assert_true(step_ps > 0);
        for (int64_t next_ps; (next_ps = lp_system_next_ps(m->system)) < CW_TIME_MAX; steps++) {
            const uint32_t before = heard.count;
            assert_int_equal(lp_system_run_until(m->system, next_ps + step_ps, &m->error), CW_OK);
            for (uint32_t i = before; i < heard.count; i++) {
                assert_true(heard.at_ps[i] >= next_ps);
                assert_true(heard.at_ps[i] < next_ps + step_ps);
            }
        }
        assert_int_equal(heard.count, 2);
        assert_ptr_equal(heard.of[0], &second);
        assert_ptr_equal(heard.of[1], &first);
        assert_int_equal(heard.at_ps[1] - heard.at_ps[0], (LONG_NS - SHORT_NS) * 1000);
        assert_in_range(steps, 3, 100);
        assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
        machine_free(m);
    }
}

/* ---- what is of one batch -------------------------------------------------------------------- */

struct phased_frame {
    uint16_t line;
};

/* One phase, as long as its launch says. */
static enum tl_status run_phased(struct tl *tl, void *state)
{
    struct phased_frame *f = state;
    TL_BEGIN(&f->line);
    tl_phase(tl, 0);
    TL_CALL(&f->line,
            tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(64), (uint32_t)tl_args(tl)->scalar[0]));
    TL_END(&f->line);
}

static const char *const phase_names[] = {"only"};
static const struct tl_kernel phased = {.name = "phased",
                                        .frame_bytes = sizeof(struct phased_frame),
                                        .run = run_phased,
                                        .phase = phase_names,
                                        .phase_count = 1};

static uint32_t begin_phased(struct machine *m, uint32_t pe, int64_t ns)
{
    const struct tl_args args = {.scalar = {ns - 9}, .dtype = LP_F16};
    assert_int_equal(
        lp_system_begin_batch(m->system, &(struct lp_batch_options){.kernel = &phased}, &m->error),
        CW_OK);
    assert_int_equal(lp_system_submit_launch(m->system, pe, &phased, &args, &m->error), CW_OK);
    return lp_system_hold_batch(m->system);
}

static void phases_are_of_the_batch_that_is_asked(void **state)
{
    (void)state;
    struct machine *m = machine_of_pes(1);
    const uint32_t batch[] = {begin_phased(m, 0, LONG_NS), begin_phased(m, 0, SHORT_NS)};
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    const struct lp_phases *const first = lp_system_phases_of(m->system, batch[0]);
    assert_int_equal(first->exit_ps[0] - first->start_ps[0], LONG_NS * 1000);
    const struct lp_phases *const second = lp_system_phases_of(m->system, batch[1]);
    assert_int_equal(second->start_ps[0], first->exit_ps[0]);
    assert_int_equal(second->exit_ps[0] - second->start_ps[0], SHORT_NS * 1000);
    machine_free(m);
}

static bool has_written_nothing(struct machine *m, uint32_t batch)
{
    const struct tl_source *at;
    return lp_system_has_written_nothing(m->system, batch, (struct hw_place){0, 0, 0}, &at);
}

/* Its kernel's stores count for it alone, and say nothing of the batch before. */
static void a_batch_s_own_stores_count(void **state)
{
    (void)state;
    static const struct line stores[] = {STORE(TENSOR_VA, 64), DONE};
    struct machine *m = machine_of_pes(1);
    uint32_t batch[2];
    submit(m, 0, stores);
    batch[0] = lp_system_hold_batch(m->system);
    submit(m, 0, takes_short);
    batch[1] = lp_system_hold_batch(m->system);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    assert_false(has_written_nothing(m, batch[0]));
    assert_true(has_written_nothing(m, batch[1]));
    submit(m, 0, stores);
    batch[0] = lp_system_current_batch(m->system);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    assert_false(has_written_nothing(m, batch[0]));
    assert_false(has_written_nothing(m, batch[1])); /* the later one hides it */
    machine_free(m);
}

/* Events of two batches in flight, each on a PE of its own, whose streams load 16 chunks. */
static uint64_t events_of_loads(bool first_cuts, bool second_cuts)
{
    static const struct line load[] = {LOAD(TENSOR_VA, 4096), DONE};
    static const struct line forks[] = {FORK(load), JOIN, DONE};
    struct machine *m = small_machine(1, 1, 1);
    struct cw_stats stats[2];
    m->hw.corner_count = 1;
    m->hw.pe_per_corner = 2;
    m->needs.launches = BACKLOG;
    m->needs.contexts = 2;
    machine_start(m);
    cw_sim_stats(lp_system_sim(m->system), &stats[0]);
    for (uint32_t pe = 0; pe < 2; pe++) {
        const struct part part = {pe, forks};
        begin_scripts_with(
            m, (struct lp_batch_options){.cuts_streams = pe == 0 ? first_cuts : second_cuts});
        submit_scripts(m, &part, 1);
    }
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    cw_sim_stats(lp_system_sim(m->system), &stats[1]);
    machine_free(m);
    return stats[1].events_committed - stats[0].events_committed;
}

static void a_batch_s_streams_are_cut_as_it_says(void **state)
{
    (void)state;
    const uint64_t plain = events_of_loads(false, false), cut = events_of_loads(true, true);
    assert_true(cut >= plain + 2 * 15);
    assert_int_equal(2 * events_of_loads(true, false), plain + cut);
    assert_int_equal(2 * events_of_loads(false, true), plain + cut);
}

/* A PE has the queues of two groups, one each way. A receive from any direction of the one leaves
 * the other's tile, though that one comes first. */
static void a_receive_from_any_direction_is_of_its_group(void **state)
{
    (void)state;
    static const struct line sends[] = {SEND(HW_DIR_INTRA_E, 16), DONE},
                             sends_late[] = {DELAY(LONG_NS), SEND(HW_DIR_INTRA_W, 16), DONE},
                             receives[] = {RECV_ANY(16), DONE};
    static const enum hw_dir way[] = {HW_DIR_INTRA_E, HW_DIR_INTRA_W};
    struct machine *m = machine_of_pes(3);
    struct lp_dirs dirs[2]; /* each group's only direction is its kernels' 0 */
    uint32_t batch[2];
    submit(m, 0, sends);
    submit(m, 2, sends_late);
    for (int group = 0; group < 2; group++) {
        const struct part part = {1, receives};
        memset(&dirs[group], HW_DIRS_MAX, sizeof dirs[group]);
        dirs[group].of_pe[0] = (uint8_t)way[group];
        dirs[group].mask_own = 1;
        dirs[group].mask = (uint16_t)(1u << way[group]);
        begin_scripts_with(m, (struct lp_batch_options){.dirs = &dirs[group]});
        batch[group] = lp_system_hold_batch(m->system);
        submit_scripts(m, &part, 1);
    }
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    const struct lp_times *const first = lp_system_times_of(m->system, batch[0]);
    assert_true(first->last_end_ps - first->first_start_ps > LONG_NS * 1000);
    assert_true(lp_system_times_of(m->system, batch[1])->last_end_ps > first->last_end_ps);
    machine_free(m);
}

/* ---- deadlocks ------------------------------------------------------------------------------- */

static struct machine *machine_with_notifications(void)
{
    struct machine *m = machine_with_puts(1, 1);
    m->hw.corner_count = 1;
    m->hw.pe_per_corner = 2;
    m->needs.launches = BACKLOG;
    return m;
}

static void submit_to(struct machine *m, uint32_t batch, uint32_t pe, const struct line *script)
{
    const struct part part = {pe, script};
    lp_system_return_to_batch(m->system, batch);
    submit_scripts(m, &part, 1);
}

static const struct lp_batch_options tp0 = {.whose = "group tp0", .name = "call 3 (all_reduce)"};

/* Two groups call in opposite orders on the two PEs that they share. */
static void groups_in_opposite_orders_are_a_cycle_that_names_both(void **state)
{
    (void)state;
    static const struct line receives[] = {RECV(HW_DIR_INTRA_E, 16), DONE},
                             sends[] = {SEND(HW_DIR_INTRA_W, 16), DONE};
    static const struct line waits[] = {WAIT_NOTIFY(0, 1), DONE}, notifies[] = {NOTIFY(1, 1), DONE};
    static const enum cw_sync modes[] = {CW_SEQUENTIAL, CW_ADAPTIVE, CW_OPTIMISTIC};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        struct machine *m = machine_with_notifications();
        m->engine.sync = modes[i];
        machine_start(m);
        begin_scripts_with(m, tp0);
        const uint32_t first = lp_system_hold_batch(m->system);
        begin_scripts(m);
        const uint32_t second = lp_system_hold_batch(m->system);
        submit_to(m, first, 0, receives);
        submit_to(m, second, 0, notifies);
        submit_to(m, second, 1, waits);
        submit_to(m, first, 1, sends);
        assert_int_equal(lp_system_drain(m->system, &m->error), CW_PROGRAM_FAILED);
        assert_string_equal(
            first_line_of_error(m),
            "IpcqDeadlock: 2 kernels wait, 2 more wait for a PE and nothing is left to happen: a "
            "cycle of 4: PE 0.0.0, kernel script of group tp0, call 3 (all_reduce), rank 0, waits "
            "for data from intra_E; PE 0.0.1, kernel script of group tp0, call 3 (all_reduce), "
            "rank 0, waits for its PE, which runs kernel script of batch 2, rank 0, which waits "
            "for a notification from PE 0.0.0, tag 1; PE 0.0.0, kernel script of batch 2, rank 0, "
            "waits for its PE, which runs kernel script of group tp0, call 3 (all_reduce), rank 0; "
            "back to PE 0.0.0. Kernels that share PEs must be launched in the same order on all of "
            "them, or have PEs of their own");
        machine_free(m);
    }
}

/* The kernels that wait, as a caller is shown them. */
struct shown {
    uint32_t count;
    char state[4][256];
    int64_t since_ps[4];
};

static void show(void *arg, const struct lp_waiting *waiting)
{
    struct shown *const shown = arg;
    assert_true(shown->count < 4);
    snprintf(shown->state[shown->count], sizeof shown->state[0], "%s", waiting->state);
    shown->since_ps[shown->count++] = waiting->since_ps;
}

static void kernels_wait_behind_one_that_waits_forever(void **state)
{
    (void)state;
    static const struct line waits[] = {WAIT_NOTIFY(0, 1), DONE};
    struct machine *m = machine_with_notifications();
    struct shown shown = {0};
    machine_start(m);
    submit(m, 1, waits);
    begin_scripts_with(m, tp0);
    for (uint32_t i = 0; i < 2; i++)
        submit_to(m, lp_system_current_batch(m->system), 1, takes_short);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_PROGRAM_FAILED);
    assert_string_equal(
        first_line_of_error(m),
        "IpcqDeadlock: 1 kernel waits, 2 more wait for a PE and nothing is left to happen: PE "
        "0.0.1, kernel script of batch 1, rank 0, waits for a notification from PE 0.0.0, tag 1: "
        "its peer, PE 0.0.0, runs no kernel; PE 0.0.1, kernel script of group tp0, call 3 "
        "(all_reduce), rank 0, waits for its PE, which runs kernel script of batch 1, rank 0; PE "
        "0.0.1, kernel script of group tp0, call 3 (all_reduce), rank 0, waits for its PE, which "
        "runs kernel script of batch 1, rank 0. Each send needs a receive on the other side, in "
        "the opposite direction");
    lp_waiting_visit(lp_system_model(m->system), lp_system_sim(m->system), show, &shown);
    assert_int_equal(shown.count, 3);
    assert_string_equal(shown.state[0], "waits for a notification from PE 0.0.0, tag 1");
    for (uint32_t i = 1; i < 3; i++) {
        assert_string_equal(shown.state[i],
                            "waits for its PE, which runs kernel script of batch 1, rank 0");
        assert_true(shown.since_ps[i] > 0 && shown.since_ps[i] <= shown.since_ps[0]);
    }
    machine_free(m);
}

/* ---- bytes on links -------------------------------------------------------------------------- */

enum { TILE = 64, ACCOUNTS = 2 };

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

/* The first batch's kernel ends while PE_DMA still has its tiles to send, and the PE's next kernel,
 * of the other account, sends at once. Each tile crosses one link between routers. */
static void links_count_by_account(void **state)
{
    (void)state;
    static const struct line sends[] = {SEND(HW_DIR_INTRA_S, TILE), SEND(HW_DIR_INTRA_S, TILE),
                                        SEND(HW_DIR_INTRA_S, TILE), DONE};
    static const struct line sends_one[] = {SEND(HW_DIR_INTRA_S, TILE), DONE};
    static const struct line receives[] = {RECV(HW_DIR_INTRA_N, TILE), RECV(HW_DIR_INTRA_N, TILE),
                                           RECV(HW_DIR_INTRA_N, TILE), DONE};
    static const struct line receives_one[] = {RECV(HW_DIR_INTRA_N, TILE), DONE};
    static const enum cw_sync modes[] = {CW_SEQUENTIAL, CW_ADAPTIVE, CW_OPTIMISTIC, CW_STRESS};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        struct machine *m = small_machine(1, 1, 1);
        const uint32_t south = hw_pes(&m->hw) / 2;
        m->needs.launches = BACKLOG;
        m->needs.accounts = ACCOUNTS;
        m->engine.sync = modes[i];
        machine_start(m);
        const struct part first[] = {{0, sends}, {south, receives}};
        const struct part second[] = {{0, sends_one}, {south, receives_one}};
        begin_scripts_with(m, (struct lp_batch_options){.account = 1});
        submit_scripts(m, first, COUNT_OF(first));
        begin_scripts_with(m, (struct lp_batch_options){.account = 2});
        submit_scripts(m, second, COUNT_OF(second));
        assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
        const uint64_t all = noc_bytes(m, 0);
        assert_true(all > 0 && all % (4 * TILE) == 0);
        assert_int_equal(noc_bytes(m, 1), all / 4 * 3);
        assert_int_equal(noc_bytes(m, 2), all / 4);
        begin_scripts_with(m, (struct lp_batch_options){.account = 2}); /* on an idle machine */
        submit_scripts(m, first, COUNT_OF(first));
        assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
        assert_int_equal(noc_bytes(m, 0), all / 4 * 3);
        assert_int_equal(noc_bytes(m, 1), 0);
        assert_int_equal(noc_bytes(m, 2), all / 4 * 3);
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_starts_when_the_one_before_it_on_its_pe_ends),
        cmocka_unit_test(a_host_in_steps_hears_each_batch_in_time),
        cmocka_unit_test(phases_are_of_the_batch_that_is_asked),
        cmocka_unit_test(a_batch_s_own_stores_count),
        cmocka_unit_test(a_batch_s_streams_are_cut_as_it_says),
        cmocka_unit_test(a_receive_from_any_direction_is_of_its_group),
        cmocka_unit_test(groups_in_opposite_orders_are_a_cycle_that_names_both),
        cmocka_unit_test(kernels_wait_behind_one_that_waits_forever),
        cmocka_unit_test(links_count_by_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
