/*
 * step_fold.c: finds the SIPs of a step that do the same (step_fold.h). A fold is made of turns,
 * one for each dimension of the machine, or for each factor of the SIPs behind one switch: each
 * moves all SIPs on by a number of places, there. What each turn keeps, all of them keep.
 *
 * A turn keeps a step if
 *   - it keeps the machine (hw_fold_keeps()), and SIPs with ranks become such SIPs;
 *   - each rank does what the rank does that it becomes (workload_is_alike());
 *   - the collectives of a group that becomes another one, each member the one of its number there,
 *     are the same. They are, since an algorithm sees a group's size, the order of its SIPs, and
 *     how these are joined. The turn keeps how they are joined, of whatever kind it is: all SIPs
 *     of one switch are joined alike, whatever their numbers. The order is compared
 *     (keeps_order()). A group that becomes itself, with its members moved, needs an algorithm
 *     that is the same for all of these (fold_steps_keep());
 *   - messages are the same from either end of a pair. They are, since the two ranks of
 *     pairwise_all_to_all have the same steps;
 *   - the queues of all groups take the room of those that are made.
 */
#include "workload/run/step_fold.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/fold/fold_rule.h"
#include "collectives/fold/fold_steps.h"
#include "workload/graph/alike.h"

/* The schedule of a source's collectives, as the process group of one of its groups makes it. */
struct shape {
    uint32_t group; /* of the source, */
    uint32_t ranks; /* its size, */
    struct config config;
    const struct ccl_algorithm *algorithm; /* and what carries out its collectives */
    uint32_t *sips;   /* of its ranks; then the ranks, in ascending order of their SIPs */
    uint64_t *n_elem; /* of its calls */
    struct schedule *schedule;
    struct fold_steps *steps;
};

/* A turn of one digit, and whether the step keeps it. */
struct known_turn {
    uint32_t stride, size, step;
    bool is_kept;
};
enum { KNOWN_MAX = 64 };

struct finding {
    struct step_plan *plan;
    uint32_t *to;                   /* [rank_count] of the turn that is looked at */
    struct shape *shapes;           /* [source_count] */
    char why[WORKLOAD_WHY_BYTES];   /* of the last turn that was not kept, */
    char first[WORKLOAD_WHY_BYTES]; /* and of the first: the shortest along its dimension */
    struct known_turn known[KNOWN_MAX];
    uint32_t known_count;
    struct cw_error *error;
    int code; /* not CW_OK: *error is filled */
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct finding *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->why, sizeof f->why, format, arguments);
    va_end(arguments);
    return false;
}

/* Without memory nothing is known of a turn. Other errors are why it is not kept. */
static void pass_on_if_no_memory(struct finding *f, const struct cw_error *error)
{
    if (error->exit_code != CW_NO_RESOURCE)
        return;
    f->code = error->exit_code;
    *f->error = *error;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Where the ranks go under the turn of one digit, which takes the SIP `step` places on to SIP 0. */
static bool turn_ranks(struct finding *f, const struct hw_fold *turn)
{
    const struct workload_graph *const graph = f->plan->options->graph;
    uint32_t from = 0;
    for (uint32_t d = 0; d < turn->count; d++)
        if (turn->digit[d].step < turn->digit[d].size)
            from = turn->digit[d].step * turn->digit[d].stride;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const uint32_t sip = step_sip_of(graph, rank), to = hw_fold_moved(turn, from, sip);
        f->to[rank] = f->plan->rank_of_sip[to];
        if (f->to[rank] == WORKLOAD_NONE)
            return refuse(f, "SIP %u has a rank, and SIP %u has none", sip, to);
    }
    return true;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A group becomes another one, or itself, and each member the one of its number there. */
static bool keeps_numbers(const struct finding *f, const struct workload_set *set, uint32_t group)
{
    const uint32_t size = set->first[group + 1] - set->first[group];
    for (uint32_t i = 0; i < size; i++)
        if (workload_place_to(set, f->to, group, i) != i)
            return false;
    return true;
}

/* The SIPs of a group, in ascending order, each with its member's number in the low bits. */
static void sort_by_sip(const struct step_plan *plan, const struct workload_set *set,
                        uint32_t group, uint64_t *order)
{
    const uint32_t first = set->first[group], size = set->first[group + 1] - first;
    for (uint32_t i = 0; i < size; i++)
        order[i] = (uint64_t)step_sip_of(plan->options->graph, set->ranks[first + i]) << 32 | i;
    qsort(order, size, sizeof *order, by_number);
}

static bool is_ascending(const struct step_plan *plan, const struct workload_set *set,
                         uint32_t group)
{
    const struct workload_graph *const graph = plan->options->graph;
    for (uint32_t i = set->first[group] + 1; i < set->first[group + 1]; i++)
        if (step_sip_of(graph, set->ranks[i - 1]) > step_sip_of(graph, set->ranks[i]))
            return false;
    return true;
}

/* The SIPs of two groups of one size come in the same order: kernels and queues go by it. False:
 * they do not, or f->code says that memory has run out. */
static bool keeps_order(struct finding *f, const struct workload_set *set, uint32_t a, uint32_t b)
{
    const size_t size = set->first[a + 1] - set->first[a];
    if (a == b || (is_ascending(f->plan, set, a) && is_ascending(f->plan, set, b)))
        return true;
    uint64_t *const order = malloc(2 * size * sizeof *order);
    if (order == NULL) {
        f->code = cw_error_memory(f->error, "the comparison of ranks");
        return false;
    }
    sort_by_sip(f->plan, set, a, order);
    sort_by_sip(f->plan, set, b, order + size);
    bool same = true;
    for (size_t i = 0; i < size; i++)
        same &= (uint32_t)order[i] == (uint32_t)order[size + i];
    free(order);
    return same;
}

/* The members of two groups, each of which becomes itself, move alike. */
static bool move_alike(const struct finding *f, const struct workload_set *set, uint32_t a,
                       uint32_t b)
{
    const uint32_t size = set->first[a + 1] - set->first[a];
    bool alike = set->first[b + 1] - set->first[b] == size;
    for (uint32_t i = 0; alike && i < size; i++)
        alike = workload_place_to(set, f->to, a, i) == workload_place_to(set, f->to, b, i);
    return alike;
}

static void free_shape(struct shape *shape)
{
    fold_steps_free(shape->steps);
    schedule_free(shape->schedule);
    free(shape->sips);
    free(shape->n_elem);
    *shape = (struct shape){.schedule = NULL};
}

/* Elements of a shard of the input, of each call of a source. False: out of memory. */
static bool list_sizes(const struct step_plan *plan, const struct step_source *source,
                       uint32_t ranks, uint64_t **sizes, uint32_t *count)
{
    const struct workload_graph *const graph = plan->options->graph;
    const uint64_t parts = source->collective == CCL_ALL_GATHER ? ranks : 1;
    for (uint32_t p = 0; p < graph->program_count; p++)
        for (uint32_t i = 0; i < graph->programs[p].op_count; i++) {
            const struct workload_op *const op = &graph->programs[p].ops[i];
            if (op->kind != WORKLOAD_COLLECTIVE || step_source_of(plan, op) != source)
                continue;
            const uint64_t size = step_elements(source, op, ranks) / parts;
            uint32_t k = 0;
            while (k < *count && (*sizes)[k] != size)
                k++;
            if (k < *count)
                continue;
            uint64_t *const more = realloc(*sizes, (*count + 1) * sizeof *more);
            if (more == NULL)
                return false;
            *sizes = more;
            more[(*count)++] = size;
        }
    return true;
}

/* Where a group's ranks are. False: out of memory. */
static bool place_group(const struct step_plan *plan, const struct workload_set *set,
                        uint32_t group, struct shape *shape)
{
    const uint32_t size = set->first[group + 1] - set->first[group];
    uint64_t *const order = malloc(size * sizeof *order);
    shape->sips = malloc(2 * (size_t)size * sizeof *shape->sips);
    if (order == NULL || shape->sips == NULL) {
        free(order);
        return false;
    }
    sort_by_sip(plan, set, group, order);
    for (uint32_t i = 0; i < size; i++) {
        shape->sips[(uint32_t)order[i]] = (uint32_t)(order[i] >> 32);
        shape->sips[size + i] = (uint32_t)order[i];
    }
    free(order);
    shape->config.ccl.ranks = (struct ccl_ranks){
        .mapped = true, .list = shape->sips, .sorted = shape->sips + size, .count = size};
    return true;
}

/* The parts of some ranks of the schedule, as the plans of the group's process group make it
 * (runtime/install_plan.c); NULL: of all. */
static struct schedule *make_parts(void *arg, const uint32_t *wanted, uint32_t count,
                                   struct cw_error *error)
{
    const struct shape *const shape = arg;
    const struct ccl_call call = {.hw = &shape->config.hw,
                                  .ccl = &shape->config.ccl,
                                  .collective = shape->algorithm->collective,
                                  .world_size = shape->ranks,
                                  .n_elem = shape->config.ccl.n_elem,
                                  .dtype = LP_F16,
                                  .math = LP_MATH_SUM,
                                  .wanted = wanted,
                                  .wanted_count = count};
    return schedule_ask(shape->algorithm, &call, error);
}

/* Of an algorithm that makes parts, that of rank 0. False: `why` says why there is none, or memory
 * has run out, as f->code and the error say. */
static bool make_schedule(struct finding *f, struct shape *shape)
{
    static const uint32_t first = 0;
    struct cw_error error = {.exit_code = CW_OK};
    shape->schedule = shape->algorithm->folds != NULL ? make_parts(shape, &first, 1, &error)
                                                      : make_parts(shape, NULL, 0, &error);
    pass_on_if_no_memory(f, &error);
    return shape->schedule != NULL || refuse(f, "%s", cw_error_text(&error));
}

/* The comparison of the ranks of a group that becomes itself. */
static bool make_shape(struct finding *f, uint32_t source_number, uint32_t group,
                       const struct ccl_algorithm *algorithm)
{
    const struct step_plan *const plan = f->plan;
    const struct step_source *const source = &plan->sources[source_number];
    const struct workload_set *const set = &plan->options->graph->sets[source->set];
    const uint32_t ranks = set->first[group + 1] - set->first[group];
    struct shape *const shape = &f->shapes[source_number];
    struct fold_steps_request request = {.hw = &shape->config.hw, .ccl = &shape->config.ccl};
    free_shape(shape);
    shape->config = source->config;
    shape->group = group;
    shape->ranks = ranks;
    shape->algorithm = algorithm;
    if (!place_group(plan, set, group, shape) ||
        !list_sizes(plan, source, ranks, &shape->n_elem, &request.count)) {
        f->code = cw_error_memory(f->error, "the comparison of ranks");
        return false;
    }
    if (!make_schedule(f, shape))
        return false;
    request.schedule = shape->schedule;
    request.make = shape->schedule->partial ? make_parts : NULL;
    request.arg = shape;
    request.n_elem = shape->n_elem;
    f->code = fold_steps_create(&request, &shape->steps, f->error);
    return f->code == CW_OK;
}

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
    while (b > 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The ring of SIPs that kernels of a group see, and the turn of it that moves each member as the
 * group's are moved. False: they are moved otherwise. */
static bool turn_ring(const struct finding *f, const struct workload_set *set, uint32_t group,
                      struct config *ring, struct hw_fold *turn)
{
    const uint32_t size = set->first[group + 1] - set->first[group];
    const uint32_t by = workload_place_to(set, f->to, group, 0);
    for (uint32_t i = 0; i < size; i++)
        if (workload_place_to(set, f->to, group, i) != (i + by) % size)
            return false;
    ring->hw.sip_count = size;
    hw_join_sips(&ring->hw, hw_topology_find("ring_1d"), &(struct hw_sip_size){.w = size, .h = 1});
    ring->ccl.ranks = (struct ccl_ranks){.mapped = false};
    hw_fold_none(&ring->hw, turn);
    hw_fold_set_step(turn, 0, greatest_divisor(by, size));
    return true;
}

/* The members of a group that becomes itself have the same kernels, by their rule. */
static bool keeps_kernels(struct finding *f, const struct step_source *source, uint32_t group,
                          const struct ccl_algorithm *algorithm)
{
    const struct workload_graph *const graph = f->plan->options->graph;
    const struct workload_set *const set = &graph->sets[source->set];
    const uint32_t ranks = set->first[group + 1] - set->first[group];
    struct config ring = source->config;
    struct hw_fold turn;
    char why[CCL_FOLD_WHY_BYTES];
    if (algorithm->folds == NULL || ccl_algorithm_find(algorithm->name) != algorithm)
        return refuse(f, "group %u of %s: %s has no rule for folds of groups", group, set->name,
                      algorithm->name);
    if (!turn_ring(f, set, group, &ring, &turn))
        return refuse(f, "group %u of %s: its ranks do not move around a ring", group, set->name);
    for (uint32_t p = 0; p < graph->program_count; p++)
        for (uint32_t i = 0; i < graph->programs[p].op_count; i++) {
            const struct workload_op *const op = &graph->programs[p].ops[i];
            if (op->kind != WORKLOAD_COLLECTIVE || step_source_of(f->plan, op) != source)
                continue;
            const struct ccl_call call = {.hw = &ring.hw,
                                          .ccl = &ring.ccl,
                                          .collective = (enum ccl_collective)op->collective,
                                          .world_size = ranks,
                                          .root = op->peer,
                                          .n_elem = step_elements(source, op, ranks) /
                                                    (op->collective == CCL_ALL_GATHER ? ranks : 1),
                                          .dtype = (enum lp_dtype)op->dtype,
                                          .math = LP_MATH_SUM};
            if (!algorithm->folds(&call, &turn, why))
                return refuse(f, "group %u of %s: %.300s", group, set->name, why);
        }
    return true;
}

/* The members of a group that becomes itself do the same. */
static bool keeps_steps(struct finding *f, uint32_t source, uint32_t group,
                        const struct hw_fold *turn)
{
    const struct workload_set *const set =
        &f->plan->options->graph->sets[f->plan->sources[source].set];
    struct shape *const shape = &f->shapes[source];
    struct cw_error error = {.exit_code = CW_OK};
    char why[CCL_FOLD_WHY_BYTES];
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_for(&f->plan->sources[source].config.ccl,
                          (enum ccl_collective)f->plan->sources[source].collective, &error);
    if (algorithm == NULL)
        return refuse(f, "%s", cw_error_text(&error));
    if (algorithm->schedule == NULL)
        return keeps_kernels(f, &f->plan->sources[source], group, algorithm);
    if ((shape->steps == NULL || shape->group != group) && !make_shape(f, source, group, algorithm))
        return false;
    if (fold_steps_keep(shape->steps, turn, why, &error))
        return true;
    pass_on_if_no_memory(f, &error);
    return refuse(f, "group %u of %s: %.300s", group, set->name, why);
}

static bool keeps_collectives(struct finding *f, uint32_t source_number, const struct hw_fold *turn)
{
    const struct step_source *const source = &f->plan->sources[source_number];
    const struct workload_set *const set = &f->plan->options->graph->sets[source->set];
    uint32_t kept = WORKLOAD_NONE; /* becomes itself, and is known to do the same */
    char why[CCL_FOLD_WHY_BYTES];
    if (!fold_asks_built_in(&source->config.ccl, why))
        return refuse(f, "%s", why);
    for (uint32_t group = 0; group < source->groups; group++) {
        const uint32_t to = workload_group_to(set, f->to, group);
        if (keeps_numbers(f, set, group)) {
            if (keeps_order(f, set, group, to))
                continue;
            return refuse(f, "group %u of %s becomes group %u, with its SIPs in another order",
                          group, set->name, to);
        }
        if (to != group)
            return refuse(f, "group %u of %s becomes group %u, with its ranks in another order",
                          group, set->name, to);
        if (kept != WORKLOAD_NONE && move_alike(f, set, kept, group))
            continue;
        if (!keeps_steps(f, source_number, group, turn))
            return false;
        kept = group;
    }
    return true;
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* The first of the groups that are known to become each other; 'by_group' is a forest. */
static uint32_t first_alike(uint32_t *by_group, uint32_t group)
{
    while (by_group[group] != group)
        group = by_group[group] = by_group[by_group[group]];
    return group;
}

static void note_alike(uint32_t *by_group, uint32_t a, uint32_t b)
{
    const uint32_t x = first_alike(by_group, a), y = first_alike(by_group, b);
    by_group[x > y ? x : y] = x > y ? y : x;
}

/* Notes what each group becomes under a turn. What a pair becomes, any of its messages says. */
static void note_turn(struct finding *f, const struct hw_fold *turn, uint32_t *by_group)
{
    const struct step_plan *const plan = f->plan;
    const struct workload_meetings *const m = &plan->meetings;
    struct step_message message;
    (void)turn_ranks(f, turn);
    for (uint32_t s = 0; s < plan->source_count; s++) {
        const struct step_source *const source = &plan->sources[s];
        for (uint32_t g = 0; source->set != WORKLOAD_NONE && g < source->groups; g++)
            note_alike(by_group, source->first + g,
                       source->first +
                           workload_group_to(&plan->options->graph->sets[source->set], f->to, g));
    }
    for (uint32_t i = 0; i < m->count; i++)
        if (step_message_of(plan, i, &message)) {
            const uint32_t to = m->of[m->first[f->to[message.send.rank]] + message.send.op];
            note_alike(by_group, plan->pair_of[i], plan->pair_of[to]);
        }
}

/* Of each group, the first one that it becomes after some turns of the plan's fold. */
static void find_alike(struct finding *f, uint32_t *by_group)
{
    const struct hw_fold *const fold = &f->plan->fold;
    struct hw_fold turn = *fold;
    for (uint32_t g = 0; g < f->plan->group_count; g++)
        by_group[g] = g;
    for (uint32_t d = 0; d < turn.count; d++)
        hw_fold_set_step(&turn, d, turn.digit[d].size);
    for (uint32_t d = 0; d < turn.count; d++) {
        hw_fold_set_step(&turn, d, fold->digit[d].step);
        if (fold->digit[d].step < fold->digit[d].size)
            note_turn(f, &turn, by_group);
        hw_fold_set_step(&turn, d, turn.digit[d].size);
    }
    for (uint32_t g = 0; g < f->plan->group_count; g++)
        by_group[g] = first_alike(by_group, g);
}

/* Puts the queues of groups into layers, as lp_plan_add() does: each into the first one in which
 * its SIPs have none; of those of live ranks alone, where `live` is given. Bits of a group in
 * `layers`: which ones its like have. */
static int put_into_layers(const struct step_plan *plan, bool live, const uint32_t *by_group,
                           uint32_t *layers, struct cw_error *error)
{
    const uint32_t sips = plan->options->config->hw.sip_count;
    uint32_t *const last = calloc((size_t)sips + 1, sizeof *last); /* bits: layers of a SIP */
    if (last == NULL)
        return cw_error_memory(error, "the queues of a step");
    for (uint32_t group = 0; group < plan->group_count; group++) {
        const struct step_group members = step_group_of(plan, group);
        uint32_t used = 0, layer = 0;
        bool is_live = false;
        for (uint32_t i = 0; i < members.count; i++) {
            used |= last[members.sips[i]];
            is_live |= hw_fold_representative(&plan->fold, members.sips[i]) == members.sips[i];
        }
        if (members.count < 2 || (live && !is_live))
            continue;
        while (layer < 31 && (used >> layer & 1) != 0)
            layer++;
        for (uint32_t i = 0; i < members.count; i++)
            last[members.sips[i]] |= UINT32_C(1) << layer;
        layers[by_group[group]] |= UINT32_C(1) << layer;
    }
    free(last);
    return CW_OK;
}

/* The queues of the groups that are made take as many layers, and of the same width, as those of
 * all: each layer has groups of the same kinds. So they fit where all do. The numbers of a PE's
 * directions may be others: no time depends on them. */
static int check_layers(struct finding *f, bool *same)
{
    const size_t groups = f->plan->group_count;
    uint32_t *const by_group = calloc(3 * groups + 1, sizeof *by_group);
    if (by_group == NULL)
        return cw_error_memory(f->error, "the queues of a step");
    uint32_t *const whole = by_group + groups, *const live = whole + groups;
    find_alike(f, by_group);
    int code = put_into_layers(f->plan, false, by_group, whole, f->error);
    if (code == CW_OK)
        code = put_into_layers(f->plan, true, by_group, live, f->error);
    *same = memcmp(whole, live, groups * sizeof *whole) == 0;
    free(by_group);
    return code;
}

/* With free communication the first rank of a meeting counts those that have come. */
static bool keeps_first_ranks(struct finding *f)
{
    const struct workload_meetings *const m = &f->plan->meetings;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct workload_part *const first = &m->parts[m->first_part[i]];
        const uint32_t to = m->of[m->first[f->to[first->rank]] + first->op];
        if (m->parts[m->first_part[to]].rank != f->to[first->rank])
            return refuse(f, "with free communication the first rank of a group has to become the "
                             "first one of a group");
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool keeps(struct finding *f, const struct hw_fold *turn)
{
    const struct step_plan *const plan = f->plan;
    char why[HW_FOLD_WHY_BYTES];
    if (!hw_fold_keeps(&plan->options->config->hw, turn, why))
        return refuse(f, "%s", why);
    if (!turn_ranks(f, turn) ||
        !workload_is_alike(plan->options->graph, &plan->meetings, f->to, f->why))
        return false;
    if (plan->options->modes.free_communication)
        return keeps_first_ranks(f);
    for (uint32_t s = 0; s < plan->source_count; s++)
        if (plan->sources[s].set != WORKLOAD_NONE && !keeps_collectives(f, s, turn))
            return false;
    return true;
}

/* Candidates share many of their turns: what is known of one is kept. */
static struct known_turn *known_turn(struct finding *f, const struct hw_fold *turn)
{
    const struct hw_fold_digit *digit = NULL;
    for (uint32_t d = 0; d < turn->count; d++)
        if (turn->digit[d].step < turn->digit[d].size)
            digit = &turn->digit[d];
    for (uint32_t i = 0; i < f->known_count; i++)
        if (f->known[i].stride == digit->stride && f->known[i].size == digit->size &&
            f->known[i].step == digit->step)
            return &f->known[i];
    if (f->known_count == KNOWN_MAX)
        f->known_count = 0;
    f->known[f->known_count] = (struct known_turn){digit->stride, digit->size, digit->step, false};
    f->known[f->known_count].is_kept = keeps(f, turn);
    if (!f->known[f->known_count].is_kept && f->first[0] == '\0')
        memcpy(f->first, f->why, sizeof f->first);
    return &f->known[f->known_count++];
}

static bool keeps_turn(void *arg, const struct hw_fold *turn)
{
    struct finding *const f = arg;
    return f->code == CW_OK && known_turn(f, turn)->is_kept;
}

static const char *why_not(const struct step_plan *plan)
{
    return plan->options->graph->verifies ? "tensors have values" : NULL;
}

/* The queues allow the fold. */
static bool keeps_room(void *arg, const struct hw_fold *fold)
{
    struct finding *const f = arg;
    const struct hw_fold before = f->plan->fold;
    bool same = true;
    f->plan->fold = *fold;
    if (f->code == CW_OK && !f->plan->options->modes.free_communication)
        f->code = check_layers(f, &same);
    f->plan->fold = before;
    return f->code == CW_OK && same;
}

/* Takes the fold, or one within it, if the queues allow it and it is the widest so far. */
static void take_fold(struct finding *f, struct hw_fold *fold)
{
    if (f->code != CW_OK || fold->sips >= f->plan->fold.sips)
        return;
    bool has_room = keeps_room(f, fold);
    if (f->code != CW_OK)
        return;
    if (!has_room) {
        if (f->first[0] == '\0')
            snprintf(f->first, sizeof f->first,
                     "the queues of all groups take more room than those of the simulated ones");
        hw_fold_narrow(fold, keeps_room, f);
        has_room = fold->sips < f->plan->fold.sips && keeps_room(f, fold);
    }
    if (has_room)
        f->plan->fold = *fold;
}

/* Translations keep the order of events. Other turns are watched for ties, on one thread, and a
 * machine that is watched replays nothing. */
static int find(struct finding *f)
{
    struct step_plan *const plan = f->plan;
    const struct hw_config *const hw = &plan->options->config->hw;
    const bool watches = !plan->options->translations && !plan->options->must_replay &&
                         plan->options->dist.machine.engine.sync == CW_SEQUENTIAL;
    struct hw_fold fold;
    if (plan->options->translations)
        snprintf(f->first, sizeof f->first,
                 "folded further, events of different SIPs meet on one part at one instant");
    for (uint32_t number = 0;
         f->code == CW_OK && plan->fold.sips > 1 && hw_fold_candidate(hw, number, &fold);
         number++) {
        if (fold.sips == fold.of && f->first[0] == '\0')
            snprintf(f->first, sizeof f->first, "no translation keeps the topology");
        if (fold.sips >= plan->fold.sips || (!fold.translates && !watches))
            continue;
        hw_fold_narrow(&fold, keeps_turn, f);
        take_fold(f, &fold);
    }
    if (plan->fold.sips == 1)
        f->first[0] = '\0';
    return f->code;
}

int step_fold_find(struct step_plan *plan, struct cw_error *error)
{
    const struct workload_graph *const graph = plan->options->graph;
    struct finding f = {.plan = plan,
                        .to = malloc(graph->rank_count * sizeof *f.to),
                        .shapes = calloc(plan->source_count + 1, sizeof *f.shapes),
                        .error = error};
    const char *const why = why_not(plan);
    hw_fold_none(&plan->options->config->hw, &plan->fold);
    if (f.to == NULL || f.shapes == NULL)
        f.code = cw_error_memory(error, "the comparison of ranks");
    else if (why != NULL)
        snprintf(f.first, sizeof f.first, "%s", why);
    else if (plan->options->fold != STEP_FOLD_OFF)
        f.code = find(&f);
    for (uint32_t s = 0; f.shapes != NULL && s < plan->source_count; s++)
        free_shape(&f.shapes[s]);
    free(f.to);
    free(f.shapes);
    plan->folded = (struct step_folded){.sips = plan->fold.sips, .of = plan->fold.of};
    snprintf(plan->folded.why, sizeof plan->folded.why, "%s", f.first);
    if (f.code == CW_OK && plan->options->fold == STEP_FOLD_ON && plan->fold.sips == plan->fold.of)
        return cw_error_set(error, CW_USAGE, "--fold on: %s",
                            plan->fold.of == 1 ? "the machine has one SIP" : f.first);
    return f.code;
}
