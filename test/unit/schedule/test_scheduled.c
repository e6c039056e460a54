/*
 * test_scheduled.c: the algorithms that are schedules (ALGORITHMS.md, "Schedules"): for many
 * numbers of ranks each is carried out on numbers, with few slots, and every rank must have the
 * right result; and it sends no more than it should.
 */
#include "test/support/test_config_support.h"

#include "collectives/algorithms/scheduled/ring_order.h"
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_builder.h"
#include "collectives/choice/choice.h"
#include "hw/topology/topology.h"
#include "test/support/schedule_run.h"

/* The machine of a test: so many SIPs in a topology. */
static struct config *config_of(const char *preset, const char *topology, uint32_t sips)
{
    char count[64], name[64];
    snprintf(count, sizeof count, "system.sips.count=%u", sips);
    snprintf(name, sizeof name, "system.sips.topology=%s", topology);
    const char *const sets[] = {count, name};
    return load_with(preset, sets, 2);
}

static struct config *machine_of(const char *topology, uint32_t sips)
{
    return config_of("tiny", topology, sips);
}

struct made {
    struct config *config;
    struct schedule *schedule;
};

static struct made make(const char *module, const char *topology, uint32_t ranks, uint32_t slots,
                        const int64_t parameter[2])
{
    struct made made = {.config = machine_of(topology, ranks)};
    struct cw_error error;
    struct ccl_config ccl = made.config->ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", module);
    memcpy(ccl.parameter, parameter, 2 * sizeof *parameter);
    ccl.queues.n_slots = slots;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_find(module);
    assert_non_null(algorithm);
    const struct ccl_call call = {.hw = &made.config->hw,
                                  .ccl = &ccl,
                                  .collective = algorithm->collective,
                                  .world_size = ranks,
                                  .n_elem = 4096,
                                  .dtype = LP_F16};
    made.schedule = algorithm->schedule(&call, &error);
    if (made.schedule == NULL)
        fail_msg("%s", error.text);
    return made;
}

static void made_free(struct made made)
{
    schedule_free(made.schedule);
    config_free(made.config);
}

/* 1 to 40 ranks, then larger powers of two, and a hundred. */
static uint32_t next_ranks(uint32_t ranks)
{
    return ranks < 40 ? ranks + 1 : ranks == 40 ? 64 : ranks == 64 ? 100 : ranks == 100 ? 256 : 0;
}

/* The number of steps, by which memory is asked for room, is right. */
static void assert_steps_are_counted(const struct schedule *schedule)
{
    uint64_t steps = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++)
        steps += schedule->rank[r].step_count;
    if (steps != schedule->steps)
        fail_msg("%s, %u ranks: %llu steps, and it says %llu", schedule->name, schedule->rank_count,
                 (unsigned long long)steps, (unsigned long long)schedule->steps);
}

static void run_and_free(struct made made, uint32_t slots)
{
    assert_steps_are_counted(made.schedule);
    schedule_run(made.schedule, slots, 2);
    assert_true(schedule_run_peers(made.schedule) <= 15);
    made_free(made);
}

/* ---- rings ----------------------------------------------------------------------------------- */

static const char *const rings[] = {"ring_rs_ag", "rings_reduce_scatter", "rings_all_gather"};

static void rings_are_right_for_any_number_of_ranks(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks > 0; ranks = next_ranks(ranks))
        for (size_t i = 0; i < 3; i++)
            for (int64_t way = 0; way < 3; way++) {
                const int64_t parameter[] = {way, ranks % 3 + 1};
                run_and_free(make(rings[i], "ring_1d", ranks, 1 + ranks % 2, parameter),
                             1 + ranks % 2);
            }
}

static void rings_send_the_least(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2, 3, 8, 63, 64};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (int64_t way = 0; way < 3; way++) {
            const int64_t parameter[] = {way, 2};
            const double n = sizes[i];
            struct made made = make("ring_rs_ag", "ring_1d", sizes[i], 8, parameter);
            assert_float_equal(schedule_moved(made.schedule), 2 * (n - 1) / n, 1e-9);
            assert_int_equal(schedule_run_depth(made.schedule),
                             way == 2 ? 2 * (sizes[i] / 2) : 2 * (sizes[i] - 1));
            made_free(made);
        }
}

static bool is_next_to(const struct hw_config *hw, uint32_t from, uint32_t to)
{
    return hw_hop(hw, from, hw_route_exit(hw, from, to, 0)).to == to;
}

/* Neighbours on the ring are neighbours on the machine. */
static void rings_go_from_neighbour_to_neighbour(void **state)
{
    (void)state;
    static const struct {
        const char *topology;
        uint32_t sips, far; /* pairs that are not neighbours */
    } machines[] = {{"ring_1d", 7, 0},          {"torus_2d", 16, 0}, {"torus_2d", 12, 0},
                    {"mesh_2d_no_wrap", 6, 0},  {"torus_2d", 9, 1},  {"mesh_2d_no_wrap", 9, 1},
                    {"mesh_2d_no_wrap", 64, 0}, {"torus_3d", 16, 0}, {"torus_3d", 64, 0},
                    {"torus_3d", 18, 0}};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct config *const config = machine_of(machines[i].topology, machines[i].sips);
        const struct ccl_call call = {
            .hw = &config->hw, .ccl = &config->ccl, .world_size = machines[i].sips};
        uint32_t order[64], far = 0;
        ring_order(&call, order);
        for (uint32_t k = 0; k < machines[i].sips; k++)
            far += !is_next_to(&config->hw, order[k], order[(k + 1) % machines[i].sips]);
        assert_int_equal(far, machines[i].far);
        config_free(config);
    }
}

/* ---- grids, direct, trees -------------------------------------------------------------------- */

static const struct {
    const char *name, *topology;
    uint32_t most;    /* ranks that it is made for */
    bool powers;      /* of two only */
    bool sends_least; /* 2 (N - 1) / N, or half of it */
} makers[] = {
    {"torus_rs_ag", "torus_2d", 256, false, true},
    {"torus_rs_ag", "mesh_2d_no_wrap", 256, false, true},
    {"torus_rs_ag", "ring_1d", 256, false, true},
    {"torus_rs_ag", "switch", 100, false, true},
    {"torus_rs_ag", "torus_3d", 256, false, true},
    {"torus_reduce_scatter", "torus_3d", 100, false, true},
    {"torus_all_gather", "torus_3d", 100, false, true},
    {"torus_reduce_scatter", "torus_2d", 100, false, true},
    {"torus_reduce_scatter", "mesh_2d_no_wrap", 100, false, true},
    {"torus_all_gather", "torus_2d", 100, false, true},
    {"torus_all_gather", "mesh_2d_no_wrap", 100, false, true},
    {"direct_rs_ag", "switch", 100, false, true},
    {"direct_reduce_scatter", "switch", 100, false, true},
    {"direct_all_gather", "switch", 100, false, true},
    {"halving_doubling", "switch", 256, false, false},
    {"halving_doubling", "switch", 256, true, true},
    {"halving_reduce_scatter", "switch", 256, true, true},
    {"doubling_all_gather", "switch", 256, true, true},
    {"recursive_doubling", "switch", 256, false, false},
    {"double_binary_tree", "switch", 256, false, false},
};

static void all_are_right_for_any_number_of_ranks(void **state)
{
    (void)state;
    static const int64_t parameter[2];
    for (size_t i = 0; i < COUNT_OF(makers); i++)
        for (uint32_t n = 1; n > 0 && n <= makers[i].most; n = next_ranks(n)) {
            if (makers[i].powers && (n & (n - 1)) != 0)
                continue;
            struct made made = make(makers[i].name, makers[i].topology, n, 1 + n % 2, parameter);
            const double least =
                (made.schedule->collective == CCL_ALL_REDUCE ? 2.0 : 1.0) * (n - 1) / n;
            if (makers[i].sends_least)
                assert_float_equal(schedule_moved(made.schedule), least, 1e-9);
            run_and_free(made, 1 + n % 2);
        }
}

/* Every block goes straight to its rank, whichever threads share the steps. */
static void an_all_to_all_sends_each_block_once(void **state)
{
    (void)state;
    for (uint32_t n = 1; n > 0; n = next_ranks(n))
        for (int64_t threads = n > 40 ? 32 : 1; threads <= 40; threads = threads * 3 + 1) {
            const int64_t parameter[2] = {threads};
            struct made made = make("pairwise_all_to_all", "switch", n, 1 + n % 2, parameter);
            assert_float_equal(schedule_moved(made.schedule), (n - 1.0) / n, 1e-9);
            run_and_free(made, 1 + n % 2);
        }
}

/* Messages one after the other. */
static void steps_are_as_few_as_should_be(void **state)
{
    (void)state;
    static const struct {
        const char *name, *topology;
        uint32_t ranks, depth;
    } wanted[] = {
        {"torus_rs_ag", "torus_2d", 64, 16},     {"torus_rs_ag", "mesh_2d_no_wrap", 64, 28},
        {"torus_rs_ag", "torus_3d", 64, 12},     {"direct_rs_ag", "switch", 16, 2},
        {"halving_doubling", "switch", 64, 12},  {"recursive_doubling", "switch", 64, 6},
        {"recursive_doubling", "switch", 65, 7},
    };
    static const int64_t parameter[2];
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        struct made made = make(wanted[i].name, wanted[i].topology, wanted[i].ranks, 64, parameter);
        assert_int_equal(schedule_run_depth(made.schedule), wanted[i].depth);
        made_free(made);
    }
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* The estimate is the time of a run (perf/results/schedule_choice.md), within a tenth. */
static void estimates_are_near_simulated_times(void **state)
{
    (void)state;
    static const struct {
        const char *name, *topology;
        double simulated_us;
    } runs[] = {
        {"ring_rs_ag", "ring_1d", 7.479},          {"torus_rs_ag", "torus_2d", 5.006},
        {"torus_rs_ag", "mesh_2d_no_wrap", 8.308}, {"direct_rs_ag", "switch", 15.23},
        {"recursive_doubling", "torus_2d", 20.88}, {"double_binary_tree", "torus_2d", 17.08}};
    static const int64_t parameter[] = {2, 1};
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        const int64_t of_rings = strcmp(runs[i].name, "ring_rs_ag") == 0 ? 2 : 0;
        const int64_t own[] = {of_rings, parameter[1]};
        struct config *const config = config_of(NULL, runs[i].topology, 16);
        struct ccl_config ccl = config->ccl;
        const struct ccl_algorithm *const algorithm = ccl_algorithm_find(runs[i].name);
        snprintf(ccl.module, sizeof ccl.module, "%s", runs[i].name);
        memcpy(ccl.parameter, own, sizeof own);
        const struct ccl_call call = {.hw = &config->hw,
                                      .ccl = &ccl,
                                      .collective = algorithm->collective,
                                      .world_size = 16,
                                      .n_elem = 32768,
                                      .dtype = LP_F16};
        struct cw_error error;
        struct schedule *const schedule = algorithm->schedule(&call, &error);
        assert_non_null(schedule);
        const struct cost_request request = {
            .schedule = schedule, .call = &call, .mapper = CCL_MAPPER_LEADER_ONLY};
        int64_t ps = 0;
        assert_int_equal(cost_estimate(&request, &ps, &error), CW_OK);
        if (!((double)ps > 0.9e6 * runs[i].simulated_us &&
              (double)ps < 1.1e6 * runs[i].simulated_us))
            fail_msg("%s on %s: estimate %.3f us, simulated %.3f us", runs[i].name,
                     runs[i].topology, (double)ps * 1e-6, runs[i].simulated_us);
        schedule_free(schedule);
        config_free(config);
    }
}

/* The same of lanes, one per cube or PE, of the sizes of a shard (perf/results/placement_choice.md,
 * whose sizes are a rank's). */
static void estimates_of_lanes_are_near_simulated_times(void **state)
{
    (void)state;
    static const struct {
        const char *name, *topology, *mapper;
        enum ccl_mappers id;
        uint32_t ranks, elems;
        double simulated_us;
    } runs[] = {
        {"pairwise_all_to_all", "ring_1d", "pe0_all_cubes", CCL_MAPPER_PE0_ALL_CUBES, 4, 8192,
         3.227},
        {"pairwise_all_to_all", "ring_1d", "all_pes", CCL_MAPPER_ALL_PES, 4, 1024, 4.113},
        {"recursive_doubling", "pair_switch", "pe0_all_cubes", CCL_MAPPER_PE0_ALL_CUBES, 16, 8192,
         8.106},
        {"recursive_doubling", "pair_switch", "all_pes", CCL_MAPPER_ALL_PES, 16, 1024, 6.013},
        {"torus_all_gather", "fully_connected", "all_pes", CCL_MAPPER_ALL_PES, 4, 4096, 11.715}};
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        struct config *const config = config_of(NULL, runs[i].topology, runs[i].ranks);
        struct ccl_config ccl = config->ccl;
        const struct ccl_algorithm *const algorithm = ccl_algorithm_find(runs[i].name);
        snprintf(ccl.module, sizeof ccl.module, "%s", runs[i].name);
        snprintf(ccl.mapper, sizeof ccl.mapper, "%s", runs[i].mapper);
        ccl.n_elem = runs[i].elems;
        ccl.n_elem_is_most = true;
        const struct ccl_call call = {.hw = &config->hw,
                                      .ccl = &ccl,
                                      .collective = algorithm->collective,
                                      .world_size = runs[i].ranks,
                                      .n_elem = runs[i].elems,
                                      .dtype = LP_F16};
        struct cw_error error;
        struct schedule *const schedule = algorithm->schedule(&call, &error);
        assert_non_null(schedule);
        const struct cost_request request = {
            .schedule = schedule, .call = &call, .mapper = runs[i].id};
        int64_t ps = 0;
        assert_int_equal(cost_estimate(&request, &ps, &error), CW_OK);
        if (!((double)ps > 0.9e6 * runs[i].simulated_us &&
              (double)ps < 1.1e6 * runs[i].simulated_us))
            fail_msg("%s on %s, %s: estimate %.3f us, simulated %.3f us", runs[i].name,
                     runs[i].topology, runs[i].mapper, (double)ps * 1e-6, runs[i].simulated_us);
        schedule_free(schedule);
        config_free(config);
    }
}

static uint64_t steps_of(const struct ccl_call *call, const char *name)
{
    struct cw_error error;
    struct schedule *const schedule = ccl_algorithm_find(name)->schedule(call, &error);
    assert_non_null(schedule);
    if (!schedule->sketch)
        assert_steps_are_counted(schedule);
    const uint64_t steps = schedule->steps;
    schedule_free(schedule);
    return steps;
}

static int64_t estimate_of(const struct ccl_call *call, const char *name, int64_t limit_ps,
                           bool is_sketch)
{
    struct cw_error error;
    struct schedule *const schedule = ccl_algorithm_find(name)->schedule(call, &error);
    assert_non_null(schedule);
    assert_int_equal(schedule->sketch, is_sketch);
    const struct cost_request request = {
        .schedule = schedule, .call = call, .mapper = CCL_MAPPER_LEADER_ONLY, .limit_ps = limit_ps};
    int64_t ps = 0;
    assert_int_equal(cost_estimate(&request, &ps, &error), CW_OK);
    schedule_free(schedule);
    return ps;
}

/* That of a sketch, too; and an estimate that is too long ends early. */
static void sketches_are_estimated_like_the_whole(void **state)
{
    (void)state;
    static const char *const names[] = {"ring_rs_ag", "torus_rs_ag", "rings_reduce_scatter",
                                        "torus_all_gather"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct config *const config = config_of(NULL, i % 2 == 0 ? "ring_1d" : "torus_2d", 256);
        struct ccl_config ccl = config->ccl;
        snprintf(ccl.module, sizeof ccl.module, "%s", names[i]);
        memcpy(ccl.parameter, i % 2 == 0 ? (int64_t[]){2, 4} : (int64_t[]){0, 0},
               2 * sizeof *ccl.parameter);
        struct ccl_call call = {.hw = &config->hw,
                                .ccl = &ccl,
                                .collective = ccl_algorithm_find(names[i])->collective,
                                .world_size = 256,
                                .n_elem = UINT64_C(1) << 23,
                                .dtype = LP_F16};
        if (call.collective == CCL_ALL_GATHER)
            call.n_elem /= 256;
        const int64_t whole = estimate_of(&call, names[i], 0, false);
        const uint64_t steps = steps_of(&call, names[i]);
        call.sketch = true;
        assert_int_equal(steps_of(&call, names[i]), steps);
        const int64_t sketched = estimate_of(&call, names[i], 0, true);
        if (sketched < whole * 95 / 100 || sketched > whole * 105 / 100)
            fail_msg("%s: %.3f us, of the sketch %.3f us", names[i], (double)whole * 1e-6,
                     (double)sketched * 1e-6);
        assert_true(estimate_of(&call, names[i], whole / 4, true) == COST_LONG);
        assert_true(estimate_of(&call, names[i], 2 * sketched, true) == sketched);
        config_free(config);
    }
}

/* Each bit of a rank's number is a dimension: 13 bits, more than any machine has dimensions. */
static void halving_goes_over_all_bits_of_many_ranks(void **state)
{
    (void)state;
    enum { BITS = 13 };
    static const char *const names[] = {"halving_doubling", "halving_reduce_scatter",
                                        "doubling_all_gather"};
    struct config *const config = machine_of("switch", 1u << BITS);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct ccl_algorithm *const algorithm = ccl_algorithm_find(names[i]);
        const struct ccl_call call = {.hw = &config->hw,
                                      .ccl = &config->ccl,
                                      .collective = algorithm->collective,
                                      .world_size = 1u << BITS,
                                      .n_elem = 1u << BITS,
                                      .dtype = LP_F16,
                                      .sketch = true};
        struct cw_error error;
        struct schedule *const schedule = algorithm->schedule(&call, &error);
        if (schedule == NULL)
            fail_msg("%s: %s", names[i], error.text);
        uint32_t partners = 0;
        for (uint32_t s = 0; s < schedule->rank[0].step_count; s++)
            if (schedule->rank[0].step[s].send_to != SCHEDULE_NO_RANK)
                partners |= schedule->rank[0].step[s].send_to;
        assert_int_equal(partners, (1u << BITS) - 1);
        assert_int_equal(schedule_run_peers(schedule), BITS);
        schedule_free(schedule);
    }
    config_free(config);
}

/* A million ranks that send to each other: more steps than any memory has room for. */
static void a_schedule_without_room_is_refused_before_it_is_made(void **state)
{
    (void)state;
    struct config *const config = machine_of("switch", 64);
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = CCL_REDUCE_SCATTER,
                                  .world_size = 1u << 20,
                                  .n_elem = 1u << 20,
                                  .dtype = LP_F16};
    struct cw_error error = {.exit_code = CW_OK};
    assert_null(ccl_algorithm_find("halving_reduce_scatter")->schedule(&call, &error));
    assert_int_equal(error.exit_code, CW_NO_RESOURCE);
    assert_non_null(strstr(error.text, "a schedule of some 2.2e+12 steps takes "));
    assert_int_equal(schedule_has_room(1000, &error), CW_OK);
    config_free(config);
}

/* A choice leaves such a candidate out and says which; without any other it is refused for want of
 * memory, and not as a choice that no machine has. */
static void a_candidate_without_room_is_left_out(void **state)
{
    (void)state;
    struct config *const config = machine_of("switch", 64);
    const struct choice_candidate four = {
        .name = "rings_reduce_scatter", .value = 4, .parameter = SCHEDULED_RINGS, .unit = "rings"};
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = CCL_REDUCE_SCATTER,
                                  .world_size = 1u << 20,
                                  .n_elem = 1u << 20,
                                  .dtype = LP_F16,
                                  .sketch = true};
    struct cw_error error = {.exit_code = CW_OK};
    struct choice_left_out left_out = {.least = 0};
    char why[512] = "1 us";
    choice_say_left_out(why, &left_out);
    assert_string_equal(why, "1 us");
    assert_int_equal(choice_none_left(&left_out, &error), CW_OK);
    assert_null(choice_schedule(&call, &four, &left_out, &error));
    assert_int_equal(error.exit_code, CW_USAGE);
    choice_say_left_out(why, &left_out); /* 4 x 2^20 x (2^20 + 1) */
    assert_string_equal(why,
                        "1 us; no room in memory: rings_reduce_scatter, 4 rings (4.4e+12 steps)");
    assert_int_equal(choice_none_left(&left_out, &error), CW_NO_RESOURCE);
    assert_null(ccl_algorithm_find("auto_reduce_scatter")->schedule(&call, &error));
    assert_int_equal(error.exit_code, CW_NO_RESOURCE); /* rings: 2^20 x (2^20 + 1) */
    assert_non_null(strstr(error.text, "a schedule of some 1.1e+12 steps takes "));
    config_free(config);
}

/* On a torus of 64 x 64 whole tensors go over 2 (1 + 2 + ... + 32) links, of 128 x 64 over 64 more:
 * half as many again. The ranks of the larger one are not carried out one by one. */
static void very_many_ranks_take_the_mean_of_their_ways(void **state)
{
    (void)state;
    int64_t ps[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct config *const config = machine_of("torus_2d", 4096u << i);
        const struct ccl_call call = {.hw = &config->hw,
                                      .ccl = &config->ccl,
                                      .world_size = 4096u << i,
                                      .n_elem = 8,
                                      .dtype = LP_F16};
        ps[i] = estimate_of(&call, "recursive_doubling", 0, false);
        config_free(config);
    }
    if (ps[1] < ps[0] * 13 / 12 || ps[1] > ps[0] * 17 / 10)
        fail_msg("%.3f us, of twice as many ranks %.3f us", (double)ps[0] * 1e-6,
                 (double)ps[1] * 1e-6);
}

/* Places on lines do not go alike, so their sketch is only near to the whole. */
static void lines_are_sketched_where_steps_are_very_many(void **state)
{
    (void)state;
    struct config *const config = config_of(NULL, "mesh_2d_no_wrap", 1024);
    struct ccl_call call = {.hw = &config->hw,
                            .ccl = &config->ccl,
                            .collective = CCL_ALL_GATHER,
                            .world_size = 1024,
                            .n_elem = 2048,
                            .dtype = LP_F16};
    const int64_t whole = estimate_of(&call, "torus_all_gather", 0, false);
    const uint64_t steps = steps_of(&call, "torus_all_gather");
    call.sketch = true;
    assert_int_equal(steps_of(&call, "torus_all_gather"), steps);
    const int64_t sketched = estimate_of(&call, "torus_all_gather", 0, true);
    if (sketched < whole * 70 / 100 || sketched > whole * 105 / 100)
        fail_msg("%.3f us, of the sketch %.3f us", (double)whole * 1e-6, (double)sketched * 1e-6);
    config_free(config);
}

/* 64 SIPs in a ring, 512 KiB: not the ring of whole tensors, and it says why. */
static void the_choice_is_the_least_estimate(void **state)
{
    (void)state;
    struct config *const config = config_of(NULL, "ring_1d", 64);
    const struct ccl_algorithm *const algorithm = ccl_algorithm_find("auto_all_reduce");
    struct ccl_call call = {.hw = &config->hw,
                            .ccl = &config->ccl,
                            .world_size = 64,
                            .n_elem = 262144,
                            .dtype = LP_F16};
    struct cw_error error;
    struct schedule *large = algorithm->schedule(&call, &error);
    call.n_elem = 8;
    struct schedule *small = algorithm->schedule(&call, &error);
    assert_non_null(large);
    assert_non_null(small);
    assert_string_equal(large->name, "ring_rs_ag, 4 rings");
    assert_string_equal(small->name, "recursive_doubling");
    assert_non_null(strstr(large->why, "524288 bytes per shard; estimates: ring_rs_ag, 4 rings "));
    assert_non_null(strstr(large->why, ", torus_rs_ag "));
    assert_non_null(strstr(large->why, "; longer: "));
    schedule_free(large);
    schedule_free(small);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_are_right_for_any_number_of_ranks),
        cmocka_unit_test(rings_send_the_least),
        cmocka_unit_test(all_are_right_for_any_number_of_ranks),
        cmocka_unit_test(an_all_to_all_sends_each_block_once),
        cmocka_unit_test(steps_are_as_few_as_should_be),
        cmocka_unit_test(estimates_are_near_simulated_times),
        cmocka_unit_test(estimates_of_lanes_are_near_simulated_times),
        cmocka_unit_test(sketches_are_estimated_like_the_whole),
        cmocka_unit_test(halving_goes_over_all_bits_of_many_ranks),
        cmocka_unit_test(a_schedule_without_room_is_refused_before_it_is_made),
        cmocka_unit_test(a_candidate_without_room_is_left_out),
        cmocka_unit_test(very_many_ranks_take_the_mean_of_their_ways),
        cmocka_unit_test(lines_are_sketched_where_steps_are_very_many),
        cmocka_unit_test(the_choice_is_the_least_estimate),
        cmocka_unit_test(rings_go_from_neighbour_to_neighbour),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
