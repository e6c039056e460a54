/*
 * hierarchical.c: all-reduce over the cubes of all SIPs (ALGORITHMS.md, "Hierarchy"): inside each
 * SIP, then a schedule between SIPs, then inside each SIP again. Which ones says the configuration,
 * or the least estimate. Host side and pure.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/scheduled/hierarchy.h"
#include "collectives/algorithms/scheduled/rs_ag.h"
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/choice/choice.h"

enum { PARAMETER_BETWEEN, PARAMETER_INSIDE, PARAMETER_THREADS, PARAMETER_TURNS };
enum { AUTO };
enum { LITTLE = 10 }; /* one such part of the best estimate is little */

static const struct choice_candidate between_schedules[] = {
    {.name = "ring_rs_ag", .value = 1, .parameter = SCHEDULED_RINGS, .unit = "rings"},
    {.name = "ring_rs_ag", .value = 4, .parameter = SCHEDULED_RINGS, .unit = "rings"},
    {.name = "torus_rs_ag"},
    {.name = "direct_rs_ag"},
    {.name = "halving_doubling"},
    {.name = "recursive_doubling"},
    {.name = "double_binary_tree"},
};
enum { BETWEEN_SCHEDULES = sizeof between_schedules / sizeof *between_schedules };

static const char *const between_name[] = {"auto",
                                           "ring_rs_ag",
                                           "ring_rs_ag_4",
                                           "torus_rs_ag",
                                           "direct_rs_ag",
                                           "halving_doubling",
                                           "recursive_doubling",
                                           "double_binary_tree",
                                           NULL};
static const char *const inside_name[] = {"auto", "lrab", "lines", "direct", NULL};
enum { INSIDE_WAYS = 3 };
enum { THREADS_AUTO, THREADS_APART, THREADS_TOGETHER };
static const char *const threads_name[] = {"auto", "apart", "together", NULL};

static const struct ccl_parameter parameters[] = {
    [PARAMETER_BETWEEN] = {.name = "between", .type = CCL_PARAMETER_CHOICE, .choice = between_name},
    [PARAMETER_INSIDE] = {.name = "inside", .type = CCL_PARAMETER_CHOICE, .choice = inside_name},
    [PARAMETER_THREADS] = {.name = "threads", .type = CCL_PARAMETER_CHOICE, .choice = threads_name},
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

/* Phases 1 and 3, and whether all phases share a thread. */
struct shape {
    enum inside_way inside;
    bool together;
};
/* Shapes that are often the best come first, since no estimate continues for longer than the second
 * best so far. */
static const struct shape shapes[] = {{INSIDE_LRAB, true},    {INSIDE_DIRECT, true},
                                      {INSIDE_DIRECT, false}, {INSIDE_LINES, false},
                                      {INSIDE_LINES, true},   {INSIDE_LRAB, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A hierarchy that may be chosen. */
struct plan {
    uint32_t between; /* of between_schedules */
    uint32_t shape;   /* of shapes */
    uint32_t turns;
};

static uint32_t owners_of(const struct ccl_call *call, uint32_t shape)
{
    const struct inside inside = inside_of(call, shapes[shape].inside);
    return inside_owners(&inside);
}

/* The schedule between SIPs: of one share of an owner. NULL as below. */
static struct schedule *make_between(const struct ccl_call *call, uint32_t candidate,
                                     uint32_t shares, int64_t *ps, struct choice_left_out *left_out,
                                     struct cw_error *error)
{
    struct ccl_config ccl = *call->ccl;
    struct ccl_call between = *call;
    snprintf(ccl.mapper, sizeof ccl.mapper, "leader_only"); /* an owner has one share */
    between.ccl = &ccl;
    between.sketch = ps != NULL;
    between.n_elem = (call->n_elem + shares - 1) / shares;
    struct schedule *const made =
        choice_schedule(&between, &between_schedules[candidate], left_out, error);
    const struct cost_request request = {
        .schedule = made, .call = &between, .mapper = cost_mapper(&ccl), .beside = shares - 1};
    const uint32_t pes = hw_cubes(call->hw) * hw_pes(call->hw);
    if (made != NULL && made->rank[0].thread_count > pes)
        (void)cw_error_set(error, CW_USAGE,
                           "%s between SIPs takes %u PEs, and a SIP has %u; legal is another "
                           "schedule there",
                           made->name, made->rank[0].thread_count, pes);
    else if (made == NULL || ps == NULL || cost_estimate(&request, ps, error) == CW_OK)
        return made;
    schedule_free(made);
    return NULL;
}

/* NULL: there are not PEs enough, or the schedule between SIPs is refused or left out (CW_USAGE);
 * or CW_NO_RESOURCE. */
static struct schedule *make_plan(const struct ccl_call *call, struct plan plan,
                                  struct choice_left_out *left_out, struct cw_error *error)
{
    const struct shape shape = shapes[plan.shape];
    struct hierarchy h = {.inside = inside_of(call, shape.inside),
                          .turns = plan.turns,
                          .pes = is_per_pe(call) ? 1 : hw_pes(call->hw),
                          .call = call,
                          .together = shape.together};
    struct schedule *const made = make_between(
        call, plan.between, inside_owners(&h.inside) * plan.turns, NULL, left_out, error);
    if (made == NULL)
        return NULL;
    char name[80], turns[24] = "";
    if (plan.turns > 1)
        snprintf(turns, sizeof turns, ", %u turns", plan.turns);
    snprintf(name, sizeof name, "hierarchical (%s, %s%s)", inside_name[shape.inside + 1],
             between_name[plan.between + 1], turns);
    h.between = made;
    struct schedule *const schedule = hierarchy_schedule(&h, name, error);
    schedule_free(made);
    return schedule;
}

/* ---- the choice ------------------------------------------------------------------------------ */

struct choice {
    const struct ccl_call *call;
    struct schedule *best;
    struct plan plan; /* of the best */
    int64_t ps;
    int64_t second_ps; /* of the second best; 0: there is none */
    struct choice_left_out left_out;
    struct of_between {
        bool considered;
        int64_t ps; /* of the best with this schedule between SIPs */
        uint32_t shape, turns;
    } of[BETWEEN_SCHEDULES];
};

/* The configuration leaves the shape open, or names it. */
static bool is_asked_for(const struct ccl_call *call, uint32_t shape)
{
    const int64_t inside = call->ccl->parameter[PARAMETER_INSIDE],
                  threads = call->ccl->parameter[PARAMETER_THREADS];
    return (inside == AUTO || inside == (int64_t)shapes[shape].inside + 1) &&
           (threads == AUTO || (threads == THREADS_TOGETHER) == shapes[shape].together);
}

/* Notes an estimate with its schedule between SIPs. */
static void note(struct choice *choice, struct plan plan, int64_t ps)
{
    struct of_between *const of = &choice->of[plan.between];
    if (!of->considered || ps < of->ps)
        *of = (struct of_between){
            .considered = true, .ps = ps, .shape = plan.shape, .turns = plan.turns};
    if (choice->best != NULL && (choice->second_ps == 0 || ps < choice->second_ps))
        choice->second_ps = ps > choice->ps ? ps : choice->ps;
}

/* Makes and estimates one more. Not CW_OK: CW_USAGE, it cannot be made; or CW_NO_RESOURCE. */
static int consider(struct choice *choice, struct plan plan, struct cw_error *error)
{
    int64_t ps = 0;
    struct schedule *const schedule = make_plan(choice->call, plan, &choice->left_out, error);
    if (schedule == NULL)
        return error->exit_code;
    const struct cost_request request = {.schedule = schedule,
                                         .call = choice->call,
                                         .mapper = cost_mapper(choice->call->ccl),
                                         .limit_ps = choice->second_ps};
    const int code = cost_estimate(&request, &ps, error);
    if (code == CW_OK && ps != COST_LONG)
        note(choice, plan, ps);
    if (code != CW_OK || (choice->best != NULL && ps >= choice->ps)) {
        schedule_free(schedule);
        return code;
    }
    schedule_free(choice->best);
    choice->best = schedule;
    choice->plan = plan;
    choice->ps = ps;
    return CW_OK;
}

/* The schedules between SIPs alone, for this many owners in each SIP, the fastest first. */
struct alone {
    uint32_t owners, count;
    struct {
        uint32_t between;
        uint64_t steps; /* of all ranks */
        int64_t ps;
    } at[BETWEEN_SCHEDULES];
};

static int estimate_alone(struct choice *choice, struct alone *alone, struct cw_error *error)
{
    const struct ccl_call *const call = choice->call;
    const int64_t asked_for = call->ccl->parameter[PARAMETER_BETWEEN];
    for (uint32_t i = 0; i < BETWEEN_SCHEDULES; i++) {
        int64_t ps = 0;
        if (asked_for != AUTO && asked_for != i + 1)
            continue;
        struct schedule *const made =
            make_between(call, i, alone->owners, &ps, &choice->left_out, error);
        const uint64_t steps = made != NULL ? made->steps : 0;
        schedule_free(made);
        if (made == NULL && error->exit_code != CW_USAGE)
            return error->exit_code;
        if (made == NULL)
            continue;
        uint32_t k = alone->count++;
        for (; k > 0 && alone->at[k - 1].ps > ps; k--)
            alone->at[k] = alone->at[k - 1];
        alone->at[k].between = i;
        alone->at[k].steps = steps;
        alone->at[k].ps = ps;
    }
    return CW_OK;
}

/* The steps of all owners have room in memory; else the plan is left out. */
static bool has_room(struct choice *choice, const struct alone *alone, struct plan plan)
{
    struct cw_error ignored;
    char name[64];
    uint32_t k = 0;
    while (alone->at[k].between != plan.between)
        k++;
    const uint64_t steps = alone->at[k].steps * alone->owners * plan.turns;
    if (schedule_has_room(steps, &ignored) == CW_OK)
        return true;
    snprintf(name, sizeof name, "%s, %u turns", between_name[plan.between + 1], plan.turns);
    choice_leave_out(&choice->left_out, name, steps);
    return false;
}

/* A shape with the fastest schedule between SIPs that it can be made with, and with the next one
 * where that takes little longer. */
static int consider_shape(struct choice *choice, const struct alone *alone, struct plan plan,
                          struct cw_error *error)
{
    uint32_t made = 0;
    int64_t first_ps = 0;
    for (uint32_t i = 0; i < alone->count && made < 2; i++) {
        if (made > 0 && alone->at[i].ps - first_ps > choice->ps / LITTLE)
            break;
        plan.between = alone->at[i].between;
        if (!has_room(choice, alone, plan))
            continue;
        const int code = consider(choice, plan, error);
        if (code == CW_NO_RESOURCE)
            return code;
        if (code == CW_OK && made++ == 0)
            first_ps = alone->at[i].ps;
    }
    return CW_OK;
}

/* All shapes, and the best of them in more turns, while that is better. */
static int consider_all(struct choice *choice, struct cw_error *error)
{
    const struct ccl_call *const call = choice->call;
    const uint32_t turns = (uint32_t)call->ccl->parameter[PARAMETER_TURNS];
    struct alone alone[2] = {{.owners = 0}}; /* of two numbers of owners: one, and all members */
    struct plan plan = {.turns = turns > 0 ? turns : 1};
    for (; plan.shape < SHAPES; plan.shape++) {
        struct alone *const own = &alone[shapes[plan.shape].inside == INSIDE_LRAB];
        if (!is_asked_for(call, plan.shape))
            continue;
        if (own->owners == 0) {
            own->owners = owners_of(call, plan.shape);
            if (estimate_alone(choice, own, error) == CW_NO_RESOURCE)
                return CW_NO_RESOURCE;
        }
        if (consider_shape(choice, own, plan, error) == CW_NO_RESOURCE)
            return CW_NO_RESOURCE;
    }
    if (choice->best == NULL && choice_none_left(&choice->left_out, error) != CW_OK)
        return CW_NO_RESOURCE;
    if (choice->best == NULL)
        return error->exit_code; /* why the last one is not */
    for (plan = choice->plan; turns == 0 && plan.turns < TURNS_MAX; plan = choice->plan) {
        plan.turns *= 2;
        if (!has_room(choice, &alone[shapes[plan.shape].inside == INSIDE_LRAB], plan))
            break;
        if (consider(choice, plan, error) == CW_NO_RESOURCE)
            return CW_NO_RESOURCE;
        if (choice->plan.turns != plan.turns)
            break;
    }
    return CW_OK;
}

static void say_choice(const struct choice *choice)
{
    char *const why = choice->best->why;
    bool any = false;
    choice_say(why, "%llu bytes per shard; estimates:",
               (unsigned long long)choice->call->n_elem * tl_itemsize(choice->call->dtype));
    for (uint32_t i = 0; i < BETWEEN_SCHEDULES; i++)
        if (choice->of[i].considered) {
            const struct shape shape = shapes[choice->of[i].shape];
            choice_say(why, "%s %s (%s, %s) %.3f us", any ? "," : "", between_name[i + 1],
                       inside_name[shape.inside + 1], threads_name[1 + shape.together],
                       (double)choice->of[i].ps * 1e-6);
            any = true;
        }
    choice_say_left_out(why, &choice->left_out);
}

static struct schedule *hierarchical_schedule(const struct ccl_call *call, struct cw_error *error)
{
    struct choice choice = {.call = call};
    const int code = consider_all(&choice, error);
    if (code != CW_OK) {
        schedule_free(choice.best);
        return NULL;
    }
    const int64_t *const parameter = call->ccl->parameter;
    if (parameter[PARAMETER_BETWEEN] == AUTO || parameter[PARAMETER_INSIDE] == AUTO)
        say_choice(&choice);
    return choice.best;
}

const struct ccl_algorithm ccl_hierarchical = {
    .name = "hierarchical",
    .collective = CCL_ALL_REDUCE,
    .kernel = &schedule_kernel,
    .machine = {.mappers = CCL_MAPPER_PE0_ALL_CUBES | CCL_MAPPER_ALL_PES,
                .reads = CCL_READS_ROOT,
                .members = true,
                .tcm_bytes = schedule_tcm_bytes},
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .schedule = hierarchical_schedule};
