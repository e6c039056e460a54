/*
 * test_lp_batches.c: several batches of launches in flight at the same time (lp/host/batches.h):
 * kernels that wait for their PE, times of each batch, and a host that runs in steps.
 */
#include "lp/host/batches.h"
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

static void submit(struct machine *m, uint32_t pe, const struct line *script)
{
    const struct part part = {pe, script};
    begin_scripts(m);
    submit_scripts(m, &part, 1);
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
    uint32_t count, batch[4];
    int64_t at_ps[4];
};

static void on_answer(void *arg, uint32_t batch, uint32_t rank, int64_t t_ps)
{
    struct heard *const heard = arg;
    (void)rank;
    assert_true(heard->count < 4);
    heard->batch[heard->count] = batch;
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
        submit(m, 0, takes_long);
        submit(m, hw_pes(&m->hw), takes_short); /* of SIP 1 */
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
        assert_int_equal(heard.batch[0], 2);
        assert_int_equal(heard.batch[1], 1);
        assert_int_equal(heard.at_ps[1] - heard.at_ps[0], (LONG_NS - SHORT_NS) * 1000);
        assert_in_range(steps, 3, 100);
        assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_starts_when_the_one_before_it_on_its_pe_ends),
        cmocka_unit_test(a_host_in_steps_hears_each_batch_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
