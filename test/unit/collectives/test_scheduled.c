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
                        const char *topology, uint32_t ranks, const int64_t parameter[2])
{
    struct made made = {.config = machine_of(topology, ranks)};
    struct cw_error error;
    struct ccl_config ccl = made.config->ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", module);
    memcpy(ccl.parameter, parameter, 2 * sizeof *parameter);
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
                                  ring_makers[i].collective, "ring_1d", ranks, parameter),
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
                                    sizes[i], parameter);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_are_right_for_any_number_of_ranks),
        cmocka_unit_test(rings_send_the_least),
        cmocka_unit_test(rings_go_from_neighbour_to_neighbour),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
