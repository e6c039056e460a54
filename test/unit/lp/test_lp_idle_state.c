/*
 * test_lp_idle_state.c: the state of an idle machine relative to its time and to its counters: each
 * member on which times of the future depend makes two states differ, a counter does not, and a
 * machine in the midst of something has none. That equal states have the same future is a property
 * of random runs (test_lp_random.c).
 */
#include "test/support/test_lp_support.h"

#include "lp/coarse.h"
#include "lp/queues/slot_map.h"

enum { TAG = 1, SENDER = 0, RECEIVER = 8 };

/* Two neighbours, of which PE 0 sends a tile and puts. */
static struct machine *unused_machine(void)
{
    struct machine *m = small_machine(3, 2, 1);
    m->needs.peers = 2;
    return m;
}

static void use(struct machine *m)
{
    static const struct line sender[] = {SEND(HW_DIR_E, 64), PUT(RECEIVER, TCM(4096), TCM(0), 64),
                                         NOTIFY(RECEIVER, TAG), DONE};
    static const struct line receiver[] = {RECV(HW_DIR_W, 64), WAIT_NOTIFY(SENDER, TAG), DONE};
    RUN(m, {SENDER, sender}, {RECEIVER, receiver});
}

static struct machine *used(struct machine *m)
{
    machine_start(m);
    use(m);
    return m;
}

/* The states of parts, to be changed by a test. */
static struct lp_cube *cube_of(const struct machine *m)
{
    return (struct lp_cube *)(uintptr_t)lp_system_cube(m->system, 0, 1);
}
static struct lp_pe *pe_of(const struct machine *m)
{
    return (struct lp_pe *)(uintptr_t)lp_pe(lp_system_model(m->system), cube_of(m), 0);
}
static struct lp_io_die *io_die_of(const struct machine *m)
{
    return (struct lp_io_die *)(uintptr_t)cw_state(lp_system_sim(m->system),
                                                   lp_of_io_die(lp_system_model(m->system), 1));
}
static struct lp_pe_queue *pe_queue_of(const struct machine *m)
{
    return (struct lp_pe_queue *)(uintptr_t)lp_pe_queue(lp_system_model(m->system), pe_of(m), 0);
}
static struct lp_peer *peer_of(const struct machine *m)
{
    struct lp_one_sided *own =
        (struct lp_one_sided *)(uintptr_t)lp_one_sided(lp_system_model(m->system), pe_of(m));
    for (uint32_t i = 0; i < m->needs.peers; i++)
        if (own->peer[i].key != 0)
            return &own->peer[i];
    fail_msg("PE %u knows no peer", RECEIVER);
    return NULL;
}
static struct lp_coarse *coarse_of(const struct machine *m)
{
    return (struct lp_coarse *)(uintptr_t)lp_coarse_of(lp_system_model(m->system), pe_of(m));
}

static int64_t now_of(const struct machine *m) { return cw_sim_now(lp_system_sim(m->system)); }

/* A change of some member of a used machine's state. */
typedef void (*change_fn)(struct machine *m);

static bool differs_by(struct machine *m, change_fn change)
{
    struct lp_idle_state before = {0}, after = {0};
    assert_true(lp_system_idle_state(m->system, &before));
    change(m);
    assert_true(lp_system_idle_state(m->system, &after));
    const bool differs = !lp_idle_state_equal(&before, &after);
    assert_int_equal(differs, !lp_idle_state_equal(&after, &before));
    lp_idle_state_free(&before);
    lp_idle_state_free(&after);
    machine_free(m);
    return differs;
}

/* ---- what counts ----------------------------------------------------------------------------- */

static void reserve_cube_link(struct machine *m) { cube_of(m)->link[3].free_ps = now_of(m) + 1; }
static void reserve_io_link(struct machine *m) { io_die_of(m)->link[0].free_ps = now_of(m) + 1; }
static void reserve_switch_link(struct machine *m)
{
    ((struct lp_switch *)(uintptr_t)cw_state(lp_system_sim(m->system),
                                             lp_system_model(m->system)->lps.first_switch))
        ->link[1]
        .free_ps = now_of(m) + 1;
}
static void occupy_m_cpu(struct machine *m) { cube_of(m)->m_cpu_free_ps = now_of(m) + 1; }
static void occupy_io_cpu(struct machine *m) { io_die_of(m)->io_cpu_free_ps = now_of(m) + 1; }
static void occupy_pcie(struct machine *m)
{
    lp_system_idle_machine(m->system).control->pcie_free_ps[2] = now_of(m) + 1;
}
static void install_more(struct machine *m) { pe_of(m)->installed ^= 1u; }
static void follow_another_plan(struct machine *m) { pe_of(m)->plan++; }
static void lack_a_credit(struct machine *m) { pe_of(m)->queue[HW_DIR_W].peer_tail_cache--; }
static void have_a_tile(struct machine *m) { pe_of(m)->queue[HW_DIR_W].peer_head_cache++; }
static void last_was_compute(struct machine *m)
{
    assert_int_not_equal(pe_of(m)->dma.last, HW_VC_COMPUTE);
    pe_of(m)->dma.last = HW_VC_COMPUTE;
}
static void have_quota(struct machine *m) { pe_of(m)->dma.quota = 2; }
static void have_served(struct machine *m) { pe_of(m)->served ^= 0x33; }
static void have_polled(struct machine *m) { pe_queue_of(m)->last_polled = 3; }
static void be_notified(struct machine *m) { peer_of(m)->pending[TAG]++; }

static void what_times_depend_on_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        change_fn change;
    } changes[] = {{"a cube's link", reserve_cube_link},
                   {"an IO die's link", reserve_io_link},
                   {"m_cpu", occupy_m_cpu},
                   {"io_cpu", occupy_io_cpu},
                   {"the host's link", occupy_pcie},
                   {"directions", install_more},
                   {"the plan", follow_another_plan},

                   {"a credit", lack_a_credit},
                   {"a tile", have_a_tile},
                   {"the channel", last_was_compute},
                   {"its quota", have_quota},
                   {"recv_any", have_polled},
                   {"a notification", be_notified}};
    for (size_t i = 0; i < COUNT_OF(changes); i++)
        if (!differs_by(used(unused_machine()), changes[i].change))
            fail_msg("%s does not count", changes[i].name);
}

static void fairness_counts_where_it_decides(void **state)
{
    (void)state;
    struct machine *strict[2];
    for (uint32_t i = 0; i < 2; i++) {
        strict[i] = unused_machine();
        strict[i]->config.fairness_strict = true;
    }
    assert_true(differs_by(used(strict[0]), have_served));
    assert_false(differs_by(used(strict[1]), have_polled));
    assert_false(differs_by(used(unused_machine()), have_served));
}

static void a_switch_is_its_links(void **state)
{
    (void)state;
    struct machine *m = unused_machine();
    m->hw.sip_topology = &hw_switch;
    assert_true(differs_by(used(m), reserve_switch_link));
}

/* Which of the maps that wait for a message a PE reaches; not how many messages there were. */
static void reach_all_maps(struct machine *m) { pe_of(m)->mapped = 7; }
static void reach_later_ones(struct machine *m) { pe_of(m)->mapped += 3; }

static struct machine *mapped_machine(uint32_t mapped)
{
    struct machine *m = used(unused_machine());
    const struct lp_map map = {.va = 1 << 20,
                               .bytes = 4096,
                               .message = 7,
                               .cubes = hw_cubes(&m->hw),
                               .pes = hw_pes(&m->hw)};
    assert_int_equal(lp_system_map(m->system, &map, &m->error), CW_OK);
    pe_of(m)->mapped = mapped;
    return m;
}

static void the_maps_that_a_pe_reaches_count(void **state)
{
    (void)state;
    assert_true(differs_by(mapped_machine(6), reach_all_maps));
    assert_true(differs_by(mapped_machine(0), reach_later_ones));
    assert_false(differs_by(mapped_machine(7), reach_later_ones));
}

/* Without contention nothing is reserved. */
static void links_count_where_they_are_reserved(void **state)
{
    (void)state;
    struct machine *m = unused_machine();
    m->hw.contention = HW_CONTENTION_NONE;
    assert_false(differs_by(used(m), reserve_cube_link));
}

/* ---- what does not --------------------------------------------------------------------------- */

static void count_on(struct machine *m)
{
    struct lp_pe *const pe = pe_of(m);
    struct hw_link *const link = &cube_of(m)->link[3];
    link->bytes += 100;
    link->queue_ps_max += 7;
    link->epoch++;
    link->free_ps = now_of(m);
    cube_of(m)->m_cpu_free_ps = now_of(m);
    io_die_of(m)->io_cpu_free_ps = now_of(m);
    pe->next_number += 10;
    pe->dma.generation += 3;
    pe->dma.head[HW_VC_COMM] = 1;
    pe->dma.run_start_ps += 5;
    pe->dma.run_depth++;
    pe->queue[HW_DIR_W].my_head += 2;
    pe->queue[HW_DIR_W].peer_tail_cache += 2;
    pe->queue[HW_DIR_W].my_tail += 5;
    pe->queue[HW_DIR_W].peer_head_cache += 5;
    pe->queue[HW_DIR_W].sent_at++;
    pe_queue_of(m)->batch++;
    pe_queue_of(m)->written++;
    peer_of(m)->sent++;
    peer_of(m)->seen++;
}

static void counters_and_the_past_do_not_count(void **state)
{
    (void)state;
    assert_false(differs_by(used(unused_machine()), count_on));
}

/* The same kernels again, later, at other places of the rings. */
static void the_same_again_is_the_same_state(void **state)
{
    (void)state;
    struct machine *m = used(unused_machine());
    struct lp_idle_state first = {0}, again = {0};
    assert_true(lp_system_idle_state(m->system, &first));
    for (uint32_t i = 0; i < 3; i++) {
        use(m);
        assert_true(lp_system_idle_state(m->system, &again));
        assert_true(again.now_ps > first.now_ps);
        assert_int_equal(again.digest, first.digest);
        assert_true(lp_idle_state_equal(&first, &again));
    }
    lp_idle_state_free(&first);
    lp_idle_state_free(&again);
    machine_free(m);
}

/* Other launches may have other successors. */
static void the_launches_count(void **state)
{
    (void)state;
    static const struct line work[] = {DELAY(20), DONE};
    struct machine *m = used(unused_machine());
    struct lp_idle_state before = {0}, after = {0};
    RUN(m, {SENDER, work});
    assert_true(lp_system_idle_state(m->system, &before));
    RUN(m, {RECEIVER, work});
    assert_true(lp_system_idle_state(m->system, &after));
    assert_false(lp_idle_state_equal(&before, &after));
    lp_idle_state_free(&before);
    lp_idle_state_free(&after);
    machine_free(m);
}

/* ---- coarse tiles ---------------------------------------------------------------------------- */

/* A link that was idle for 500 ps more before it sent for the last time. */
static void leave_idle_time(struct machine *m)
{
    const struct lp_model *const model = lp_system_model(m->system);
    struct hw_link *const link = &cube_of(m)->link[3];
    *(int64_t *)(uintptr_t)lp_link_idle(model, LP_OF_CUBE, link, 3) += 500;
}
static void use_link_now(struct machine *m) { cube_of(m)->link[3].free_ps = now_of(m); }
static void use_engine_now(struct machine *m)
{
    coarse_of(m)->engine_end_ps = now_of(m);
    coarse_of(m)->engine_idle_ps = 0;
}
static void see_a_tile(struct machine *m, int64_t sigma_ps, int64_t before_ps)
{
    coarse_of(m)->queue[HW_DIR_W].visible_ps = now_of(m) - before_ps;
    coarse_of(m)->queue[HW_DIR_W].sigma_ps = sigma_ps;
}
static void see_another_tile(struct machine *m) { see_a_tile(m, 777, 0); }
static void see_it_earlier(struct machine *m) { see_a_tile(m, 0, 123); }

static struct machine *coarse_machine(void)
{
    struct machine *m = unused_machine();
    m->config.coarse = 4;
    return m;
}

static struct machine *coarse_machine_with_a_tile(void)
{
    struct machine *m = used(coarse_machine());
    have_a_tile(m);
    see_a_tile(m, 0, 0);
    return m;
}

static void with_coarse_tiles_idle_time_counts(void **state)
{
    (void)state;
    assert_true(differs_by(used(coarse_machine()), use_link_now));
    assert_true(differs_by(used(coarse_machine()), leave_idle_time));
    assert_true(differs_by(used(coarse_machine()), use_engine_now));
    assert_true(differs_by(coarse_machine_with_a_tile(), see_another_tile));
    assert_true(differs_by(coarse_machine_with_a_tile(), see_it_earlier));
    assert_false(differs_by(used(coarse_machine()), see_another_tile)); /* and it was received */
}

/* What is idle for longer than anything was on its way may be idle for any time; but not what is
 * idle for less and less time. */
static void long_idle_times_are_alike(void **state)
{
    (void)state;
    struct lp_age then = {.ps = 200}, now = {.ps = 300};
    const struct lp_idle_state earlier = {.now_ps = 1000, .age = &then, .age_count = 1},
                               later = {.now_ps = 1100, .age = &now, .age_count = 1};
    assert_true(lp_idle_state_equal(&earlier, &later));
    then.ps = 199;
    assert_false(lp_idle_state_equal(&earlier, &later));
    now.ps = 199;
    assert_true(lp_idle_state_equal(&earlier, &later));
    now.apart = 1;
    assert_false(lp_idle_state_equal(&earlier, &later));
    then.ps = 400;
    now = (struct lp_age){.ps = 300};
    assert_false(lp_idle_state_equal(&earlier, &later));
}

/* ---- in the midst ---------------------------------------------------------------------------- */

static void promise(struct machine *m) { pe_of(m)->queue[HW_DIR_W].promised = 1; }
static void come_early(struct machine *m) { pe_of(m)->queue[HW_DIR_W].early = 1; }
static void run_the_engine(struct machine *m) { pe_of(m)->dma.running = HW_VC_COMM; }
static void fill_a_channel(struct machine *m) { pe_of(m)->dma.count[HW_VC_COMPUTE] = 1; }
static void void_a_request(struct machine *m) { pe_of(m)->void_request[1] = 5; }
static void run_a_kernel(struct machine *m)
{
    ((struct lp_context *)(uintptr_t)lp_context(lp_system_model(m->system), pe_of(m), 0))
        ->kernel.launch = 1;
}
static void receive_on(struct machine *m) { pe_queue_of(m)->asyncs = 1; }
static void keep_a_put(struct machine *m)
{
    ((struct lp_one_sided *)(uintptr_t)lp_one_sided(lp_system_model(m->system), pe_of(m)))
        ->early_count = 1;
}

static void in_the_midst_of_something_there_is_no_state(void **state)
{
    (void)state;
    static const change_fn changes[] = {promise,        come_early,     run_the_engine,
                                        fill_a_channel, void_a_request, run_a_kernel,
                                        receive_on,     keep_a_put};
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        struct machine *m = used(unused_machine());
        struct lp_idle_state taken = {0};
        changes[i](m);
        if (lp_system_idle_state(m->system, &taken))
            fail_msg("change %zu leaves the PE idle", i);
        lp_idle_state_free(&taken);
        machine_free(m);
    }
}

static void a_machine_with_work_left_is_not_idle(void **state)
{
    (void)state;
    static const struct line work[] = {DELAY(20), DONE};
    const struct part part = {SENDER, work};
    struct machine *m = used(unused_machine());
    assert_true(lp_system_is_idle(m->system));
    begin_scripts(m);
    submit_scripts(m, &part, 1);
    assert_false(lp_system_is_idle(m->system));
    assert_int_equal(lp_system_inject(m->system, &m->error), CW_OK);
    assert_false(lp_system_is_idle(m->system));
    assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
    assert_true(lp_system_is_idle(m->system));
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_times_depend_on_counts),
        cmocka_unit_test(fairness_counts_where_it_decides),
        cmocka_unit_test(a_switch_is_its_links),
        cmocka_unit_test(the_maps_that_a_pe_reaches_count),
        cmocka_unit_test(links_count_where_they_are_reserved),
        cmocka_unit_test(counters_and_the_past_do_not_count),
        cmocka_unit_test(the_same_again_is_the_same_state),
        cmocka_unit_test(the_launches_count),
        cmocka_unit_test(with_coarse_tiles_idle_time_counts),
        cmocka_unit_test(long_idle_times_are_alike),
        cmocka_unit_test(in_the_midst_of_something_there_is_no_state),
        cmocka_unit_test(a_machine_with_work_left_is_not_idle),
    };
    return cmocka_run_group_tests_name("idle_state", tests, NULL, NULL);
}
