/*
 * hierarchical.c: all-reduce over the cubes of all SIPs (ALGORITHMS.md, "Hierarchy"): inside each
 * SIP, then a schedule between SIPs, then inside each SIP again. Which ones says the configuration,
 * or the least estimate. Host side and pure.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/scheduled/hierarchy.h"
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_cost.h"

enum { PARAMETER_BETWEEN, PARAMETER_INSIDE, PARAMETER_TURNS };
enum { AUTO };

static const struct scheduled_candidate between_schedules[] = {
    {"ring_rs_ag", 1},         {"ring_rs_ag", 4},         {"torus_rs_ag", 0},
    {"direct_rs_ag", 0},       {"halving_doubling", 0},   {"recursive_doubling", 0},
    {"double_binary_tree", 0},
};
enum { BETWEEN_SCHEDULES = sizeof between_schedules / sizeof *between_schedules };

static const char *const between_name[] = {
    "auto",         "ring_rs_ag",       "ring_rs_ag_4",       "torus_rs_ag",
    "direct_rs_ag", "halving_doubling", "recursive_doubling", "double_binary_tree",
    NULL};
static const char *const inside_name[] = {"auto", "lrab", "lines", "direct", NULL};
enum { INSIDE_WAYS = 3 };

static const struct ccl_parameter parameters[] = {
    [PARAMETER_BETWEEN] = {.name = "between", .type = CCL_PARAMETER_CHOICE, .choice = between_name},
    [PARAMETER_INSIDE] = {.name = "inside", .type = CCL_PARAMETER_CHOICE, .choice = inside_name},
    [PARAMETER_TURNS] = {.name = "turns", .type = CCL_PARAMETER_COUNT, .min = 0, .max = TURNS_MAX}};

/* ---- the machine ----------------------------------------------------------------------------- */

static bool is_per_pe(const struct ccl_call *call)
{
    return strcmp(call->ccl->mapper, "all_pes") == 0;
}

static void add_dim(struct inside *inside, uint32_t n, uint32_t stride, uint32_t root)
{
    if (n > 1)
        inside->dim[inside->dims++] = (struct inside_dim){.n = n, .stride = stride, .root = root};
}

/* The grid of a SIP's members: the PEs of a cube, where each has a shard, then its columns and its
 * rows of cubes. */
static struct inside inside_of(const struct ccl_call *call, enum inside_way way)
{
    const struct hw_config *const hw = call->hw;
    const struct ccl_config *const ccl = call->ccl;
    const uint32_t each = is_per_pe(call) ? hw_pes(hw) : 1;
    const bool corner = ccl->root == CCL_ROOT_CORNER, given = ccl->root == CCL_ROOT_XY;
    struct inside inside = {.way = way, .members = hw_cubes(hw) * each};
    add_dim(&inside, each, 1, each / 2);
    add_dim(&inside, hw->cube_w, each,
            given    ? ccl->root_x
            : corner ? hw->cube_w - 1
                     : hw->cube_w / 2);
    add_dim(&inside, hw->cube_h, each * hw->cube_w,
            given    ? ccl->root_y
            : corner ? hw->cube_h - 1
                     : hw->cube_h / 2);
    return inside;
}

/* ---- one of them ----------------------------------------------------------------------------- */

struct shape {
    uint32_t between; /* of between_schedules */
    enum inside_way inside;
};

/* Turns that make a turn's chunk about as long as a slot, so that phases run beside each other. */
static uint32_t turns_of(const struct ccl_call *call, uint32_t parts)
{
    const uint32_t given = (uint32_t)call->ccl->parameter[PARAMETER_TURNS];
    (void)parts;
    return given > 0 ? given : 1;
}

/* NULL: there are not PEs enough, or the schedule between SIPs is refused (CW_USAGE); or
 * CW_NO_RESOURCE. */
static struct schedule *make_shape(const struct ccl_call *call, struct shape shape,
                                   struct cw_error *error)
{
    const struct scheduled_candidate *const candidate = &between_schedules[shape.between];
    struct hierarchy h = {.inside = inside_of(call, shape.inside),
                          .pes = is_per_pe(call) ? 1 : hw_pes(call->hw)};
    struct ccl_config ccl = *call->ccl;
    struct ccl_call between = *call;
    const uint32_t owners = inside_owners(&h.inside);
    h.turns = turns_of(call, owners);
    snprintf(ccl.mapper, sizeof ccl.mapper, "leader_only"); /* an owner has one part */
    between.ccl = &ccl;
    between.n_elem = (call->n_elem + owners * h.turns - 1) / (owners * h.turns);
    struct schedule *const made = scheduled_make(&between, candidate, error);
    if (made == NULL)
        return NULL;
    char name[64];
    snprintf(name, sizeof name, "hierarchical, %s, %.40s", inside_name[shape.inside + 1],
             made->name);
    h.between = made;
    struct schedule *const schedule = hierarchy_schedule(&h, name, error);
    schedule_free(made);
    return schedule;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* The best so far. */
struct choice {
    const struct ccl_call *call;
    struct schedule *best;
    struct shape shape;
    int64_t ps;
    char why[512];
};

/* Makes and estimates one more. Not CW_OK: CW_NO_RESOURCE. */
static int consider(struct choice *choice, struct shape shape, struct cw_error *error)
{
    int64_t ps = 0;
    struct schedule *const schedule = make_shape(choice->call, shape, error);
    if (schedule == NULL)
        return error->exit_code == CW_USAGE ? CW_OK : error->exit_code;
    const struct schedule_cost_request request = {schedule, choice->call, 1};
    const int code = schedule_cost_ps(&request, &ps, error);
    scheduled_say_why(choice->why, "%s %s, %s %.3f us", choice->best == NULL ? "" : ",",
                      inside_name[shape.inside + 1], between_name[shape.between + 1],
                      (double)ps * 1e-6);
    if (code != CW_OK || (choice->best != NULL && ps >= choice->ps)) {
        schedule_free(schedule);
        return code;
    }
    schedule_free(choice->best);
    choice->best = schedule;
    choice->shape = shape;
    choice->ps = ps;
    return CW_OK;
}

static struct schedule *hierarchical_schedule(const struct ccl_call *call, struct cw_error *error)
{
    const int64_t between = call->ccl->parameter[PARAMETER_BETWEEN],
                  inside = call->ccl->parameter[PARAMETER_INSIDE];
    struct choice choice = {.call = call};
    if (between != AUTO && inside != AUTO)
        return make_shape(call,
                          (struct shape){.between = (uint32_t)between - 1,
                                         .inside = (enum inside_way)(inside - 1)},
                          error);
    scheduled_say_why(choice.why, "%llu bytes per shard; estimates:",
                      (unsigned long long)call->n_elem * tl_itemsize(call->dtype));
    for (uint32_t way = 0; way < INSIDE_WAYS; way++)
        for (uint32_t i = 0; i < BETWEEN_SCHEDULES; i++)
            if ((inside == AUTO || inside - 1 == way) && (between == AUTO || between - 1 == i) &&
                consider(&choice,
                         (struct shape){.between = i, .inside = (enum inside_way)way},
                         error) != CW_OK) {
                schedule_free(choice.best);
                return NULL;
            }
    if (choice.best == NULL) /* *error says why the last one is not */
        return NULL;
    memcpy(choice.best->why, choice.why, sizeof choice.best->why);
    return choice.best;
}

const struct ccl_algorithm ccl_hierarchical = {
    .name = "hierarchical",
    .collective = CCL_ALL_REDUCE,
    .kernel = &schedule_kernel,
    .machine = {.mappers = CCL_MAPPER_PE0_ALL_CUBES | CCL_MAPPER_ALL_PES,
                .tcm_bytes = schedule_tcm_bytes},
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .schedule = hierarchical_schedule};
