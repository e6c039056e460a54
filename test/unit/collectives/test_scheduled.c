/*
 * test_scheduled.c: the algorithms that are schedules (ALGORITHMS.md, "Schedules"): for many
 * numbers of ranks each is carried out on numbers, with few slots, and every rank must have the
 * right result; and it sends no more than it should.
 */
#include "test/support/test_config_support.h"

#include "collectives/algorithms/scheduled/ring_order.h"
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule.h"
#include "hw/topology/topology.h"
#include "test/support/schedule_run.h"

typedef struct schedule *make_fn(const struct ccl_call *call, struct cw_error *error);

/* The machine of a test: so many SIPs in a topology. */
static struct config *machine_of(const char *topology, uint32_t sips)
{
    char count[64], name[64];
    snprintf(count, sizeof count, "system.sips.count=%u", sips);
    snprintf(name, sizeof name, "system.sips.topology=%s", topology);
    const char *const sets[] = {count, name};
    return load_with("tiny", sets, 2);
}

struct made {
    struct config *config;
    struct schedule *schedule;
};

static struct made make(make_fn *maker, const char *module, enum ccl_collective collective,
                        const char *topology, uint32_t ranks, uint32_t slots,
                        const int64_t parameter[2])
{
    struct made made = {.config = machine_of(topology, ranks)};
    struct cw_error error;
    struct ccl_config ccl = made.config->ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", module);
    memcpy(ccl.parameter, parameter, 2 * sizeof *parameter);
    ccl.n_slots = slots;
    const struct ccl_call call = {.hw = &made.config->hw,
                                  .ccl = &ccl,
                                  .collective = collective,
                                  .world_size = ranks,
                                  .n_elem = 4096,
                                  .dtype = LP_F16};
    made.schedule = maker(&call, &error);
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

static void run_and_free(struct made made, uint32_t slots)
{
    schedule_run(made.schedule, slots, 2);
    assert_true(schedule_run_peers(made.schedule) <= 15);
    made_free(made);
}

/* ---- rings ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum ccl_collective collective;
    make_fn *make;
} ring_makers[] = {{"ring_rs_ag", CCL_ALL_REDUCE, ring_rs_ag_schedule},
                   {"ring_reduce_scatter", CCL_REDUCE_SCATTER, ring_reduce_scatter_schedule},
                   {"ring_ag", CCL_ALL_GATHER, ring_ag_schedule}};

static void rings_are_right_for_any_number_of_ranks(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks > 0; ranks = next_ranks(ranks))
        for (size_t i = 0; i < 3; i++)
            for (int64_t way = 0; way < 3; way++) {
                const int64_t parameter[] = {way, ranks % 3 + 1};
                run_and_free(make(ring_makers[i].make, ring_makers[i].name,
                                  ring_makers[i].collective, "ring_1d", ranks, 1 + ranks % 2,
                                  parameter),
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
            struct made made = make(ring_rs_ag_schedule, "ring_rs_ag", CCL_ALL_REDUCE, "ring_1d",
                                    sizes[i], 8, parameter);
            assert_float_equal(schedule_moved(made.schedule), 2 * (n - 1) / n, 1e-9);
            assert_int_equal(schedule_run_depth(made.schedule),
                             way == 2 ? 2 * (sizes[i] / 2) : 2 * (sizes[i] - 1));
            made_free(made);
        }
}

/* Neighbours on the ring are neighbours on the machine. */
static void rings_go_from_neighbour_to_neighbour(void **state)
{
    (void)state;
    static const struct {
        const char *topology;
        uint32_t sips, far; /* pairs that are not neighbours */
    } machines[] = {{"ring_1d", 7, 0},         {"torus_2d", 16, 0}, {"torus_2d", 12, 0},
                    {"mesh_2d_no_wrap", 6, 0}, {"torus_2d", 9, 1},  {"mesh_2d_no_wrap", 9, 1},
                    {"mesh_2d_no_wrap", 64, 0}};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct config *const config = machine_of(machines[i].topology, machines[i].sips);
        const struct ccl_call call = {
            .hw = &config->hw, .ccl = &config->ccl, .world_size = machines[i].sips};
        uint32_t order[64], far = 0;
        ring_order(&call, order);
        for (uint32_t k = 0; k < machines[i].sips; k++)
            far += config->hw.sip_topology->distance(&config->hw, order[k],
                                                     order[(k + 1) % machines[i].sips]) > 1;
        assert_int_equal(far, machines[i].far);
        config_free(config);
    }
}

/* ---- grids, direct, trees -------------------------------------------------------------------- */

static const struct {
    const char *name, *topology;
    enum ccl_collective collective;
    make_fn *make;
    uint32_t most;    /* ranks that it is made for */
    bool powers;      /* of two only */
    bool sends_least; /* 2 (N - 1) / N, or half of it */
} makers[] = {
    {"torus_rs_ag", "torus_2d", CCL_ALL_REDUCE, torus_rs_ag_schedule, 256, false, true},
    {"torus_rs_ag", "mesh_2d_no_wrap", CCL_ALL_REDUCE, torus_rs_ag_schedule, 256, false, true},
    {"torus_rs_ag", "ring_1d", CCL_ALL_REDUCE, torus_rs_ag_schedule, 256, false, true},
    {"torus_rs_ag", "switch", CCL_ALL_REDUCE, torus_rs_ag_schedule, 100, false, true},
    {"torus_reduce_scatter", "torus_2d", CCL_REDUCE_SCATTER, torus_reduce_scatter_schedule, 100,
     false, true},
    {"torus_reduce_scatter", "mesh_2d_no_wrap", CCL_REDUCE_SCATTER, torus_reduce_scatter_schedule,
     100, false, true},
    {"torus_ag", "torus_2d", CCL_ALL_GATHER, torus_ag_schedule, 100, false, true},
    {"torus_ag", "mesh_2d_no_wrap", CCL_ALL_GATHER, torus_ag_schedule, 100, false, true},
    {"direct_rs_ag", "switch", CCL_ALL_REDUCE, direct_rs_ag_schedule, 100, false, true},
    {"direct_reduce_scatter", "switch", CCL_REDUCE_SCATTER, direct_reduce_scatter_schedule, 100,
     false, true},
    {"direct_ag", "switch", CCL_ALL_GATHER, direct_ag_schedule, 100, false, true},
    {"halving_doubling", "switch", CCL_ALL_REDUCE, halving_doubling_schedule, 256, false, false},
    {"halving_doubling", "switch", CCL_ALL_REDUCE, halving_doubling_schedule, 256, true, true},
    {"halving_reduce_scatter", "switch", CCL_REDUCE_SCATTER, halving_reduce_scatter_schedule, 256,
     true, true},
    {"doubling_ag", "switch", CCL_ALL_GATHER, doubling_ag_schedule, 256, true, true},
    {"recursive_doubling", "switch", CCL_ALL_REDUCE, recursive_doubling_schedule, 256, false,
     false},
    {"double_binary_tree", "switch", CCL_ALL_REDUCE, double_binary_tree_schedule, 256, false,
     false},
};

static void all_are_right_for_any_number_of_ranks(void **state)
{
    (void)state;
    static const int64_t parameter[2];
    for (size_t i = 0; i < COUNT_OF(makers); i++)
        for (uint32_t n = 1; n > 0 && n <= makers[i].most; n = next_ranks(n)) {
            if (makers[i].powers && (n & (n - 1)) != 0)
                continue;
            struct made made = make(makers[i].make, makers[i].name, makers[i].collective,
                                    makers[i].topology, n, 1 + n % 2, parameter);
            const double least = (makers[i].collective == CCL_ALL_REDUCE ? 2.0 : 1.0) * (n - 1) / n;
            if (makers[i].sends_least)
                assert_float_equal(schedule_moved(made.schedule), least, 1e-9);
            run_and_free(made, 1 + n % 2);
        }
}

/* Messages one after the other. */
static void steps_are_as_few_as_should_be(void **state)
{
    (void)state;
    static const struct {
        const char *name, *topology;
        make_fn *make;
        uint32_t ranks, depth;
    } wanted[] = {
        {"torus_rs_ag", "torus_2d", torus_rs_ag_schedule, 64, 16},
        {"torus_rs_ag", "mesh_2d_no_wrap", torus_rs_ag_schedule, 64, 28},
        {"direct_rs_ag", "switch", direct_rs_ag_schedule, 16, 2},
        {"halving_doubling", "switch", halving_doubling_schedule, 64, 12},
        {"recursive_doubling", "switch", recursive_doubling_schedule, 64, 6},
        {"recursive_doubling", "switch", recursive_doubling_schedule, 65, 8},
    };
    static const int64_t parameter[2];
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        struct made made = make(wanted[i].make, wanted[i].name, CCL_ALL_REDUCE, wanted[i].topology,
                                wanted[i].ranks, 64, parameter);
        assert_int_equal(schedule_run_depth(made.schedule), wanted[i].depth);
        made_free(made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_are_right_for_any_number_of_ranks),
        cmocka_unit_test(rings_send_the_least),
        cmocka_unit_test(all_are_right_for_any_number_of_ranks),
        cmocka_unit_test(steps_are_as_few_as_should_be),
        cmocka_unit_test(rings_go_from_neighbour_to_neighbour),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
