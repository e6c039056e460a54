/*
 * test_schedule_walk.c: formulas of single chunks, found backwards (schedule_walk.h), beside those
 * of the whole schedule; and faults that are planted in one rank's steps.
 */
#include "test/support/test_config_support.h"

#include "collectives/algorithm.h"
#include "collectives/schedule/schedule_check.h"
#include "collectives/schedule/schedule_walk.h"

/* A call on a machine of `sips` SIPs. */
struct machine {
    struct config *config;
    struct ccl_call call;
    const struct ccl_algorithm *algorithm;
};

static struct machine machine_of(const char *module, const char *topology, uint32_t sips)
{
    char count[40], name[60];
    snprintf(count, sizeof count, "system.sips.count=%u", sips);
    snprintf(name, sizeof name, "system.sips.topology=%s", topology);
    const char *const sets[] = {count, name};
    struct machine m = {.config = load_with("tiny", sets, 2),
                        .algorithm = ccl_algorithm_find(module)};
    m.call = (struct ccl_call){.hw = &m.config->hw,
                               .ccl = &m.config->ccl,
                               .collective = m.algorithm->collective,
                               .world_size = sips,
                               .n_elem = 4096,
                               .dtype = LP_F16};
    return m;
}

/* ---- beside the whole ------------------------------------------------------------------------ */

enum { RANKS_MAX = 24 };

struct looking {
    const struct schedule_values *whole;
    uint64_t looked;
};

/* Two formulas are the same: the same inputs, added in the same order. */
static bool is_same(const struct schedule_values *whole, uint32_t a,
                    const struct schedule_values *one, uint32_t b)
{
    if (a < whole->leaves || b < one->leaves)
        return a < whole->leaves && b < one->leaves && a / whole->inputs == b;
    const struct value_node x = whole->node[a], y = one->node[b];
    return (is_same(whole, x.a, one, y.a) && is_same(whole, x.b, one, y.b)) ||
           (is_same(whole, x.a, one, y.b) && is_same(whole, x.b, one, y.a));
}

/* A value at the ranks that have it, alone and together. */
static void look_at(struct looking *looking, const struct schedule_walk_maker *maker,
                    uint32_t value, const uint32_t *rank, uint32_t count)
{
    const struct schedule_values *const whole = looking->whole;
    const bool scatters = maker->collective == CCL_REDUCE_SCATTER;
    const uint32_t output = scatters ? value % maker->parts : value;
    struct schedule_faults faults = {0};
    struct schedule_values *const one =
        schedule_walk_value(maker, value, rank, count, NULL, &faults);
    if (one == NULL || faults.count > 0)
        fail_msg("%s", faults.text);
    for (uint32_t i = 0; i < count; i++)
        assert_true(is_same(whole, whole->output[(size_t)rank[i] * whole->outputs + output], one,
                            one->output[rank[i]]));
    looking->looked += count;
    schedule_values_free(one);
    schedule_faults_free(&faults);
}

static int look_at_all(void *arg, const struct schedule_walk_maker *maker, struct cw_error *error)
{
    uint32_t all[RANKS_MAX];
    (void)error;
    for (uint32_t rank = 0; rank < maker->ranks; rank++)
        all[rank] = rank;
    for (uint32_t value = 0; value < maker->values; value++) {
        if (maker->collective == CCL_REDUCE_SCATTER) {
            look_at(arg, maker, value, &all[value / maker->parts], 1);
            continue;
        }
        look_at(arg, maker, value, all, maker->ranks);
        look_at(arg, maker, value, &all[value % maker->ranks], 1);
    }
    return CW_OK;
}

/* `parameter`: the first of the algorithm's own. */
static void compare_all(const char *module, const char *topology, uint32_t sips, int64_t parameter)
{
    struct machine m = machine_of(module, topology, sips);
    struct ccl_config ccl = m.config->ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", module);
    ccl.parameter[0] = parameter;
    ccl.parameter[1] = 1;
    m.call.ccl = &ccl;
    struct cw_error error = {.exit_code = CW_OK};
    struct schedule *const schedule = m.algorithm->schedule(&m.call, &error);
    struct schedule_values *const whole = schedule_formulas(schedule, &error);
    struct looking looking = {.whole = whole};
    const struct schedule_walk walk = {.look = look_at_all, .arg = &looking};
    assert_non_null(whole);
    m.call.walk = &walk;
    assert_null(m.algorithm->schedule(&m.call, &error));
    assert_int_equal(error.exit_code, CW_OK);
    const bool scatters = m.algorithm->collective == CCL_REDUCE_SCATTER;
    assert_int_equal(looking.looked, (uint64_t)whole->outputs * (scatters ? sips : sips + 1));
    schedule_values_free(whole);
    schedule_free(schedule);
    config_free(m.config);
}

static void formulas_are_those_of_the_whole_schedule(void **state)
{
    static const char *const modules[] = {"torus_rs_ag",          "torus_reduce_scatter",
                                          "torus_all_gather",     "ring_rs_ag",
                                          "rings_reduce_scatter", "rings_all_gather"};
    static const struct {
        const char *topology;
        uint32_t sips;
    } machines[] = {
        {"ring_1d", 7},   {"torus_2d", 12},       {"torus_2d", 20}, {"mesh_2d_no_wrap", 12},
        {"torus_3d", 24}, {"fully_connected", 5}, {"switch", 8}};
    (void)state;
    for (size_t k = 0; k < sizeof modules / sizeof *modules; k++)
        for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
            for (int64_t parameter = 0; parameter < 3; parameter++) /* orders, or ways */
                compare_all(modules[k], machines[i].topology, machines[i].sips, parameter);
}

/* ---- planted faults -------------------------------------------------------------------------- */

/* A maker whose rank 5 does something wrong. */
struct planted {
    const struct schedule_walk_maker *maker;
    void (*change)(struct schedule_walk_steps *steps);
    uint32_t wrong, right; /* values of rank 5's output */
    char text[400];        /* of the first fault */
    char last[400];        /* of the last value's */
    uint32_t parts;
};

static void make_planted(void *arg, uint32_t rank, uint32_t value,
                         struct schedule_walk_steps *steps)
{
    const struct planted *const planted = arg;
    planted->maker->make(planted->maker->arg, rank, value, steps);
    if (rank == 5)
        planted->change(steps);
}

static int look_at_planted(void *arg, const struct schedule_walk_maker *maker,
                           struct cw_error *error)
{
    struct planted *const planted = arg;
    struct schedule_walk_maker own = *maker;
    const uint32_t rank = 5;
    (void)error;
    planted->maker = maker;
    planted->parts = maker->parts;
    own.make = make_planted;
    own.arg = planted;
    for (uint32_t value = 0; value < maker->values; value++) {
        struct schedule_faults faults = {0};
        if (maker->collective == CCL_REDUCE_SCATTER && value / maker->parts != rank)
            continue;
        struct schedule_values *const one =
            schedule_walk_value(&own, value, &rank, 1, NULL, &faults);
        planted->wrong += faults.count > 0;
        planted->right += one != NULL && faults.count == 0;
        if (faults.count > 0 && planted->text[0] == '\0')
            snprintf(planted->text, sizeof planted->text, "%s", faults.text);
        snprintf(planted->last, sizeof planted->last, "%s", faults.count > 0 ? faults.text : "");
        schedule_values_free(one);
        schedule_faults_free(&faults);
    }
    return CW_OK;
}

static struct planted plant_in(const char *module,
                               void (*change)(struct schedule_walk_steps *steps))
{
    struct machine m = machine_of(module, "torus_2d", 12);
    struct planted planted = {.change = change};
    const struct schedule_walk walk = {.look = look_at_planted, .arg = &planted};
    struct cw_error error = {.exit_code = CW_OK};
    m.call.walk = &walk;
    assert_null(m.algorithm->schedule(&m.call, &error));
    config_free(m.config);
    return planted;
}

static struct planted plant(void (*change)(struct schedule_walk_steps *steps))
{
    return plant_in("torus_rs_ag", change);
}

static void forget_the_sum(struct schedule_walk_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->step[i].op == SCHEDULE_RECV_REDUCE_SEND)
            steps->step[i].op = SCHEDULE_SEND;
}

static void read_the_next_chunk(struct schedule_walk_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->step[i].op == SCHEDULE_RECV_REDUCE_COPY)
            steps->step[i].src.at++;
}

static void receive_from_elsewhere(struct schedule_walk_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->step[i].op == SCHEDULE_RECV)
            steps->step[i].recv_from = (steps->step[i].recv_from + 5) % 12;
}

static void send_to_nobody(struct schedule_walk_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->step[i].op == SCHEDULE_SEND)
            steps->step[i].send_to = 5;
}

static void a_wrong_step_of_one_rank_is_found(void **state)
{
    (void)state;
    const struct planted lost = plant(forget_the_sum), other = plant(read_the_next_chunk),
                         elsewhere = plant(receive_from_elsewhere), nobody = plant(send_to_nobody);
    assert_true(lost.wrong > 0 && lost.right > 0);
    assert_non_null(strstr(lost.text, "not at all"));
    assert_true(other.wrong > 0 && other.right > 0);
    assert_non_null(strstr(other.text, "nothing has been written to"));
    assert_true(elsewhere.wrong > 0 && elsewhere.right > 0);
    assert_true(nobody.wrong > 0);
    assert_non_null(strstr(nobody.text, "nobody sends"));
}

static void write_nothing(struct schedule_walk_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++)
        if (schedule_op_writes((enum schedule_op)steps->step[i].op))
            steps->step[i].op = SCHEDULE_NOP;
}

/* Of 12 ranks, each with one chunk in each part: rank 5's last output chunk. */
static void faults_name_the_collective_and_its_chunks(void **state)
{
    (void)state;
    char wanted[400];
    const struct planted scattered = plant_in("torus_reduce_scatter", write_nothing),
                         gathered = plant_in("torus_all_gather", write_nothing);
    snprintf(wanted, sizeof wanted,
             "torus_reduce_scatter: rank 5: nothing writes to o[%u]; reduce_scatter demands chunk "
             "%u of each rank, once",
             scattered.parts - 1, 6 * scattered.parts - 1);
    assert_string_equal(scattered.last, wanted);
    snprintf(wanted, sizeof wanted,
             "torus_all_gather: rank 5: nothing writes to o[%u]; all_gather demands chunk %u of "
             "rank 11",
             12 * gathered.parts - 1, gathered.parts - 1);
    assert_string_equal(gathered.last, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_are_those_of_the_whole_schedule),
        cmocka_unit_test(a_wrong_step_of_one_rank_is_found),
        cmocka_unit_test(faults_name_the_collective_and_its_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
