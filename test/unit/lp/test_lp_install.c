/*
 * test_lp_install.c: installing queues by messages through the machine (hw/HARDWARE.md,
 * "Control plane"): it leaves each PE as writing the table directly would, in any order of arrival.
 */
#include "test/support/test_lp_support.h"

#include "lp/queues/queue_ends.h"

enum { PES_MAX = 64, SIPS = 2, CUBE_W = 2, CUBE_H = 2, PES = SIPS * CUBE_W * CUBE_H * 8 };

/* In which order IpcqInitMsgs took effect. */
struct arrivals {
    uint32_t count, pe[PES_MAX];
};

static void note_arrival(void *arg, const struct cw_event *event, const struct cw_trace *trace)
{
    struct arrivals *arrivals = arg;
    (void)trace;
    if (event->type != LP_EVENT_PE_CPU)
        return;
    const struct lp_transfer *transfer = (const struct lp_transfer *)event->payload;
    assert_int_equal(transfer->kind, LP_TRANSFER_INIT);
    assert_true(arrivals->count < PES_MAX);
    arrivals->pe[arrivals->count++] = transfer->dst;
}

static const struct lp_pe *pe_of(const struct machine *m, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    return lp_pe(lp_system_model(m->system), lp_system_cube(m->system, place.sip, place.cube),
                 place.pe);
}

/* Builds the machine; installs by messages; compares each PE's bytes with those that it had before,
 * plus the writes of an install. The numbers of the acknowledgement are no part of that. */
static void install_and_compare(struct machine *m, struct arrivals *arrivals)
{
    struct lp_system_options options = {.hw = &m->hw, .config = &m->config, .engine = m->engine};
    options.engine.worker_count = 1;
    options.engine.trace = note_arrival;
    options.engine.trace_arg = arrivals;
    m->system = lp_system_create(&options, &m->error);
    assert_non_null(m->system);
    const struct lp_model *model = lp_system_model(m->system);
    uint8_t *before[PES];
    for (uint32_t pe = 0; pe < PES; pe++) {
        before[pe] = malloc(model->cube.pe_bytes);
        assert_non_null(before[pe]);
        memcpy(before[pe], pe_of(m, pe), model->cube.pe_bytes);
    }
    assert_int_equal(lp_system_submit_install(m->system, &m->error), CW_OK);
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    for (uint32_t pe = 0; pe < PES; pe++) {
        struct lp_pe *expected = (struct lp_pe *)(void *)before[pe];
        const struct lp_pe *got = pe_of(m, pe);
        if (lp_is_wired(model, pe)) {
            expected->wired = 1;
            expected->installed = lp_directions(model, pe);
            expected->next_number = got->next_number;
        }
        if (memcmp(expected, got, model->cube.pe_bytes) != 0)
            fail_msg("PE %u is not as a direct install leaves it", pe);
        free(before[pe]);
    }
}

static struct machine *machine_of_four_cubes(bool all_pes)
{
    struct machine *m = small_machine(SIPS, CUBE_W, CUBE_H);
    m->config.wire_all_pes = all_pes;
    m->hw.overhead_ps[HW_NODE_IO_CPU] = 20000;
    return m;
}

static void messages_install_what_a_direct_write_would(void **state)
{
    (void)state;
    for (int all_pes = 0; all_pes < 2; all_pes++) {
        struct arrivals arrivals = {0};
        struct machine *m = machine_of_four_cubes(all_pes);
        install_and_compare(m, &arrivals);
        assert_int_equal(arrivals.count, all_pes ? PES : PES / 8);
        machine_free(m);
    }
}

/* A slow way from cube to cube lets those of the next row overtake the far ones of the first. */
static void the_order_of_arrival_makes_no_difference(void **state)
{
    (void)state;
    struct arrivals near = {0}, far = {0};
    struct machine *fast = machine_of_four_cubes(true), *slow = machine_of_four_cubes(true);
    slow->hw.link[HW_LINK_NOC_UCIE].prop_ps = 1000000;
    install_and_compare(fast, &near);
    install_and_compare(slow, &far);
    assert_int_equal(near.count, PES);
    assert_int_equal(far.count, PES);
    assert_memory_not_equal(near.pe, far.pe, sizeof near.pe);
    for (uint32_t pe = 0; pe < PES; pe++) {
        assert_int_equal(pe_of(fast, pe)->installed, pe_of(slow, pe)->installed);
        assert_memory_equal(pe_of(fast, pe)->queue, pe_of(slow, pe)->queue,
                            sizeof pe_of(fast, pe)->queue);
    }
    machine_free(fast);
    machine_free(slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_install_what_a_direct_write_would),
        cmocka_unit_test(the_order_of_arrival_makes_no_difference),
    };
    return cmocka_run_group_tests_name("lp_install", tests, NULL, NULL);
}
