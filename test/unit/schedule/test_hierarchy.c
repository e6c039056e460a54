/*
 * test_hierarchy.c: all-reduces over the cubes of all SIPs (ALGORITHMS.md, "Hierarchy"): every
 * shape with every schedule between SIPs is carried out on numbers, in queues of one slot where it
 * claims to need no more; checked as a schedule from a file would be; and its estimate is near the
 * time of a run.
 */
#include "test/support/test_config_support.h"

#include "collectives/schedule/schedule_check.h"
#include "collectives/choice/choice.h"
#include "collectives/schedule/schedule_faults.h"
#include "collectives/schedule/schedule_program.h"
#include "test/support/schedule_run.h"

enum { BETWEEN, INSIDE, THREADS, TURNS, PARAMETERS };
enum { BETWEEN_END = 8, DIRECT_RS_AG = 4, RECURSIVE_DOUBLING = 6 };
enum { LRAB = 1, LINES, DIRECT };
enum { APART = 1, TOGETHER };

static struct config *machine(const char *topology, uint32_t sips, uint32_t w, uint32_t h)
{
    char text[4][64];
    snprintf(text[0], sizeof text[0], "system.sips.count=%u", sips);
    snprintf(text[1], sizeof text[1], "system.sips.topology=%s", topology);
    snprintf(text[2], sizeof text[2], "sip.cube_mesh.w=%u", w);
    snprintf(text[3], sizeof text[3], "sip.cube_mesh.h=%u", h);
    const char *const sets[] = {text[0], text[1], text[2], text[3]};
    return load_with("tiny", sets, 4);
}

/* NULL: it is refused. */
static struct schedule *made_for(const struct config *config, const char *mapper, uint64_t n_elem,
                                 uint32_t slots, const int64_t parameter[PARAMETERS])
{
    struct cw_error error;
    struct ccl_config ccl = config->ccl;
    snprintf(ccl.module, sizeof ccl.module, "hierarchical");
    snprintf(ccl.mapper, sizeof ccl.mapper, "%s", mapper);
    ccl.queues.n_slots = slots;
    memcpy(ccl.parameter, parameter, PARAMETERS * sizeof *parameter);
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &ccl,
                                  .collective = CCL_ALL_REDUCE,
                                  .world_size = config->hw.sip_count,
                                  .n_elem = n_elem,
                                  .dtype = LP_F16};
    return ccl_algorithm_find("hierarchical")->schedule(&call, &error);
}

static struct schedule *made(const struct config *config, const char *mapper, uint64_t n_elem,
                             const int64_t parameter[PARAMETERS])
{
    return made_for(config, mapper, n_elem, config->ccl.queues.n_slots, parameter);
}

static void run(const struct schedule *s, uint32_t slots)
{
    schedule_run(s, slots, 2);
    assert_true(schedule_run_peers(s) <= 15);
}

static void all_shapes_are_right_for_any_number_of_ranks(void **state)
{
    (void)state;
    static const char *const topologies[] = {"ring_1d", "torus_2d", "mesh_2d_no_wrap", "switch"};
    static const uint32_t cubes[][2] = {{4, 4}, {3, 2}, {1, 1}, {1, 5}, {2, 2}, {3, 3}};
    uint32_t turn = 0, refused = 0;
    for (uint32_t n = 1; n <= 9; n++)
        for (int64_t between = 1; between < BETWEEN_END; between++)
            for (int64_t inside = LRAB; inside <= DIRECT; inside++)
                for (int64_t threads = APART; threads <= TOGETHER; threads++, turn++) {
                    const int64_t parameter[] = {between, inside, threads, turn % 3 + 1};
                    struct config *const config =
                        machine(topologies[turn % 4], n, cubes[turn % 6][0], cubes[turn % 6][1]);
                    struct schedule *const s =
                        made_for(config, "pe0_all_cubes", 4096, 1 + turn % 2, parameter);
                    refused += s == NULL;
                    assert_true(s != NULL || (inside == DIRECT && threads == TOGETHER));
                    if (s != NULL)
                        run(s, 1 + turn % 2);
                    schedule_free(s);
                    config_free(config);
                }
    assert_in_range(refused, 1, 9 * BETWEEN_END); /* directly, with more chunks than slots */
}

/* A file's schedule is refused for faults, hazards and wrong results. */
static void no_shape_has_a_fault_or_a_hazard(void **state)
{
    (void)state;
    struct config *const config = machine("torus_2d", 6, 3, 2);
    for (int64_t between = 1; between < BETWEEN_END; between++)
        for (int64_t inside = LRAB; inside <= DIRECT; inside++)
            for (int64_t threads = APART; threads <= TOGETHER; threads++) {
                const int64_t parameter[] = {between, inside, threads, 2};
                struct schedule_faults hazards = {0};
                struct cw_error error;
                struct schedule *const s = made(config, "pe0_all_cubes", 4096, parameter);
                if (s == NULL)
                    continue;
                if (schedule_check(s, 8, NULL, &hazards, &error) != CW_OK)
                    fail_msg("%s: %s", s->name, error.text);
                if (hazards.count > 0)
                    fail_msg("%s: %s", s->name, hazards.text);
                schedule_faults_free(&hazards);
                schedule_free(s);
            }
    config_free(config);
}

/* A shard for each PE: one thread, so one that shares it. */
static void each_pe_may_be_a_member(void **state)
{
    (void)state;
    struct config *const config = machine("ring_1d", 3, 2, 1);
    for (int64_t between = 1; between < BETWEEN_END; between++)
        for (int64_t inside = LRAB; inside <= DIRECT; inside++) {
            const int64_t parameter[] = {between, inside, TOGETHER, 1};
            struct schedule *const s = made(config, "all_pes", 4096, parameter);
            if (s == NULL)
                continue;
            assert_int_equal(s->members, 16);
            run(s, config->ccl.queues.n_slots);
            schedule_free(s);
        }
    static const int64_t apart[] = {1, LINES, APART, 1};
    assert_null(made(config, "all_pes", 4096, apart));
    config_free(config);
}

/* A PE has so many queues: fifteen SIPs and five cubes are too many for one thread, and the choice
 * knows. */
static void a_thread_has_no_more_peers_than_queues(void **state)
{
    (void)state;
    static const int64_t together[] = {DIRECT_RS_AG, LINES, TOGETHER, 1},
                         open[] = {DIRECT_RS_AG, 0, 0, 0};
    struct config *const config = machine("switch", 16, 4, 4);
    assert_null(made(config, "pe0_all_cubes", 8192, together));
    struct schedule *const s = made(config, "pe0_all_cubes", 8192, open);
    assert_non_null(s);
    assert_true(schedule_run_peers(s) <= HW_DIRS_MAX);
    schedule_free(s);
    config_free(config);
}

/* The SIP sends as much as one rank of the schedule between SIPs, however its cubes share it. */
static void sips_send_the_least(void **state)
{
    (void)state;
    for (int64_t inside = LRAB; inside <= DIRECT; inside++)
        for (uint32_t n = 1; n <= 8; n++) {
            const int64_t parameter[] = {1, inside, APART, 1};
            struct config *const config = machine("ring_1d", n, 4, 2);
            struct schedule *const s = made(config, "pe0_all_cubes", 4096, parameter);
            assert_non_null(s);
            assert_float_equal(schedule_moved(s), 2.0 * (n - 1) / n, 1e-9);
            schedule_free(s);
            config_free(config);
        }
}

/* Members have PEs of their own, and the home is the first of them. */
static void members_are_laid_on_their_own_cubes(void **state)
{
    (void)state;
    struct cw_error error;
    static const int64_t parameter[] = {1, LINES, APART, 1};
    struct config *const config = machine("ring_1d", 2, 2, 2);
    struct schedule *const s = made(config, "pe0_all_cubes", 4096, parameter);
    assert_non_null(s);
    const struct program_request request = {.schedule = s, .hw = &config->hw, .ccl = &config->ccl};
    struct schedule_program *const p = schedule_program_create(&request, &error);
    if (p == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(p->rank_count, 8);
    for (uint32_t rank = 0; rank < 8; rank++)
        assert_int_equal(p->rank[rank].first_pe, rank * 8);
    assert_int_equal(schedule_program_rank(p, 1, 17), 6);
    assert_int_equal(schedule_program_thread(p, 1, 17), 1);
    assert_int_equal(schedule_program_thread(p, 1, 23), UINT32_MAX); /* five threads */
    assert_int_equal(schedule_program_thread(p, 2, 0), UINT32_MAX);  /* no such rank */
    /* the reduction reads the input as it came, though the results are written there later */
    const struct program_thread *const up = &p->rank[0].thread[0];
    assert_true((p->rank[0].step[up->step_first].flags & PROGRAM_EARLY) != 0);
    struct program_request places_request = request;
    places_request.places_only = true;
    struct schedule_program *const places = schedule_program_create(&places_request, &error);
    assert_non_null(places);
    assert_null(places->rank[0].step);
    assert_int_equal(places->rank[7].first_pe, 56);
    assert_int_equal(places->pes_of_rank, p->pes_of_rank);
    assert_int_equal(places->rings, 2); /* between SIPs there is one other; columns and rows of two
                                           take one after the other */
    schedule_program_free(places);
    schedule_program_free(p);
    schedule_free(s);
    config_free(config);
}

/* A place adds the chunks from its line, one after the other, without a store between; and it loads
 * once a chunk that it sends to several. */
static void steps_with_one_value_are_joined(void **state)
{
    (void)state;
    struct cw_error error;
    static const int64_t parameter[] = {RECURSIVE_DOUBLING, DIRECT, APART, 1};
    struct config *const config = machine("ring_1d", 2, 4, 1);
    struct schedule *const s = made(config, "pe0_all_cubes", 65536, parameter);
    assert_non_null(s);
    const struct program_request request = {.schedule = s, .hw = &config->hw, .ccl = &config->ccl};
    struct schedule_program *const p = schedule_program_create(&request, &error);
    assert_non_null(p);
    const struct program_rank *const rank = &p->rank[0];
    const struct program_step *const send = &rank->step[rank->thread[0].step_first];
    const struct program_step *const take = &rank->step[rank->thread[1].step_first];
    const struct program_step *const spread = &rank->step[rank->thread[2].step_first];
    assert_int_equal(send[0].fused, 1); /* other chunks for each */
    assert_int_equal(take[0].op, SCHEDULE_RECV_REDUCE_COPY);
    assert_int_equal(take[0].fused, 3);
    assert_int_equal(spread[0].op, SCHEDULE_SEND);
    assert_int_equal(spread[0].fused, 3);
    schedule_program_free(p);
    schedule_free(s);
    config_free(config);
}

/* Estimates are within a tenth of simulated times (f16, 16 SIPs of 4 x 4 cubes, torus_2d). */
static void estimates_are_near_simulated_times(void **state)
{
    (void)state;
    static const struct {
        int64_t parameter[PARAMETERS];
        uint64_t n_elem;
        double simulated_us;
    } runs[] = {
        {{RECURSIVE_DOUBLING, LRAB, TOGETHER, 1}, 512, 2.767881},
        {{RECURSIVE_DOUBLING, DIRECT, TOGETHER, 1}, 8192, 4.108673},
        {{3, DIRECT, APART, 1}, 131072, 22.479457},
        {{7, LINES, APART, 1}, 8192, 8.842326},
        {{RECURSIVE_DOUBLING, DIRECT, APART, 1}, 2097152, 185.373537},
    };
    static const char *const sets[] = {"system.sips.count=16"};
    struct config *const config = load_with(NULL, sets, 1);
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        struct cw_error error;
        struct schedule *const s = made(config, "pe0_all_cubes", runs[i].n_elem, runs[i].parameter);
        assert_non_null(s);
        const struct ccl_call call = {.hw = &config->hw,
                                      .ccl = &config->ccl,
                                      .world_size = 16,
                                      .n_elem = runs[i].n_elem,
                                      .dtype = LP_F16};
        const struct cost_request request = {
            .schedule = s, .call = &call, .mapper = CCL_MAPPER_LEADER_ONLY};
        int64_t ps = 0;
        assert_int_equal(cost_estimate(&request, &ps, &error), CW_OK);
        const double us = (double)ps * 1e-6;
        if (us < 0.9 * runs[i].simulated_us || us > 1.1 * runs[i].simulated_us)
            fail_msg("%s: estimate %.3f us, simulated %.3f us", s->name, us, runs[i].simulated_us);
        schedule_free(s);
    }
    config_free(config);
}

/* Small tensors go by few messages, large ones are shared by the cubes. */
static void the_choice_is_by_size(void **state)
{
    (void)state;
    static const int64_t parameter[PARAMETERS];
    static const char *const sets[] = {"system.sips.count=16"};
    struct config *const config = load_with(NULL, sets, 1);
    struct schedule *const small = made(config, "pe0_all_cubes", 512, parameter);
    struct schedule *const large = made(config, "pe0_all_cubes", 131072, parameter);
    assert_non_null(small);
    assert_non_null(large);
    assert_string_equal(small->name, "hierarchical (lrab, recursive_doubling)");
    assert_non_null(strstr(large->name, "torus_rs_ag"));
    assert_non_null(strstr(large->why, "262144 bytes per shard; estimates: "));
    schedule_free(small);
    schedule_free(large);
    config_free(config);
}

/* The only schedule between SIPs that is asked for has more steps than any memory has room for. */
static void without_room_for_any_plan_memory_is_to_blame(void **state)
{
    (void)state;
    struct config *const config = machine("switch", 4, 2, 2);
    struct ccl_config ccl = config->ccl;
    struct cw_error error = {.exit_code = CW_OK};
    snprintf(ccl.module, sizeof ccl.module, "hierarchical");
    snprintf(ccl.mapper, sizeof ccl.mapper, "pe0_all_cubes");
    ccl.parameter[BETWEEN] = 1;
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &ccl,
                                  .collective = CCL_ALL_REDUCE,
                                  .world_size = 1u << 22,
                                  .n_elem = 1u << 30,
                                  .dtype = LP_F16};
    assert_null(ccl_algorithm_find("hierarchical")->schedule(&call, &error));
    assert_int_equal(error.exit_code, CW_NO_RESOURCE);
    assert_non_null(strstr(error.text, " steps takes "));
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes_are_right_for_any_number_of_ranks),
        cmocka_unit_test(no_shape_has_a_fault_or_a_hazard),
        cmocka_unit_test(each_pe_may_be_a_member),
        cmocka_unit_test(a_thread_has_no_more_peers_than_queues),
        cmocka_unit_test(sips_send_the_least),
        cmocka_unit_test(members_are_laid_on_their_own_cubes),
        cmocka_unit_test(steps_with_one_value_are_joined),
        cmocka_unit_test(estimates_are_near_simulated_times),
        cmocka_unit_test(the_choice_is_by_size),
        cmocka_unit_test(without_room_for_any_plan_memory_is_to_blame),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
