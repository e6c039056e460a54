/*
 * step_plan.c: lays a graph on a machine (step_plan.h). A set that is used by several collectives
 * has groups for each of them, since each is carried out by an entry with queues of its own; ranks
 * that exchange messages are groups of two.
 */
#include "workload/run/step_plan.h"

#include "workload/run/compute_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/config_load.h"
#include "collectives/config/config_place.h"
#include "collectives/config/config_tree.h"
#include "collectives/runtime/install_plan.h"
#include "hw/topology/broken.h"
#include "hw/topology/topology.h"
#include "workload/run/step_fold.h"

static int no_memory(struct cw_error *error) { return cw_error_memory(error, "the step"); }

static const char *file_of(const struct workload_graph *graph)
{
    return graph->file != NULL ? graph->file : "workload";
}

/* ---- ranks and SIPs -------------------------------------------------------------------------- */

static int place_ranks(struct step_plan *plan, struct cw_error *error)
{
    const struct workload_graph *const graph = plan->options->graph;
    const struct hw_config *const hw = &plan->options->config->hw;
    const struct ccl_ranks *const ranks = &plan->options->config->ccl.ranks;
    const uint32_t sips = hw->sip_count, living = hw_living_sips(hw);
    if (graph->rank_count > living)
        return cw_error_set(error, CW_USAGE,
                            "%s: %u ranks, and the machine has %u SIPs%s; legal: at most as many "
                            "(system.sips.count)",
                            file_of(graph), graph->rank_count, living,
                            living < sips ? " that have not failed" : "");
    plan->rank_of_sip = malloc(sips * sizeof *plan->rank_of_sip);
    if (plan->rank_of_sip == NULL)
        return no_memory(error);
    memset(plan->rank_of_sip, 255, sips * sizeof *plan->rank_of_sip);
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const uint32_t sip = step_sip_of(graph, rank);
        if (sip >= sips || plan->rank_of_sip[sip] != WORKLOAD_NONE)
            return cw_error_set(
                error, CW_USAGE, "%s: rank %u is placed on SIP %u, %s; legal: 0 to %u, each once",
                file_of(graph), rank, sip,
                sip >= sips ? "which does not exist" : "which has another one", sips - 1);
        if (ranks->list != NULL && ccl_rank_on(ranks, sip) != sip)
            return cw_error_set(error, CW_USAGE,
                                "%s: rank %u is on SIP %u, and that SIP or one before it has "
                                "failed (faults); legal in a step: SIPs that fail after all with "
                                "ranks",
                                file_of(graph), rank, sip);
        plan->rank_of_sip[sip] = rank;
    }
    return CW_OK;
}

/* ---- sources --------------------------------------------------------------------------------- */

static const char *automatic(enum ccl_collective collective)
{
    static const char *const entry[CCL_COLLECTIVES] = {
        [CCL_ALL_REDUCE] = "auto_all_reduce", [CCL_REDUCE_SCATTER] = "auto_reduce_scatter",
        [CCL_ALL_GATHER] = "auto_all_gather", [CCL_ALL_TO_ALL] = "auto_all_to_all",
        [CCL_BROADCAST] = "tree_allreduce",   [CCL_BARRIER] = "tree_allreduce",
        [CCL_REDUCE] = "tree_allreduce",      [CCL_SEND_RECV] = "pairwise_all_to_all",
    };
    return entry[collective];
}

/* What needs the fewest directions. NULL: there is no such entry. */
static const char *ring(enum ccl_collective collective)
{
    static const char *const entry[CCL_COLLECTIVES] = {[CCL_ALL_REDUCE] = "ring_rs_ag",
                                                       [CCL_REDUCE_SCATTER] =
                                                           "rings_reduce_scatter",
                                                       [CCL_ALL_GATHER] = "rings_all_gather"};
    return entry[collective];
}

/* On PE 0 of each cube, unless the entry says otherwise or cannot. */
static int set_policy(struct step_source *source, uint32_t ranks, struct cw_error *error)
{
    struct config *const config = &source->config;
    const char *key;
    struct cw_error ignored;
    struct config ring = *config;
    if (config->ccl.mapper[0] == '\0' && hw_cubes(&config->hw) > 1) {
        snprintf(config->ccl.mapper, sizeof config->ccl.mapper, "pe0_all_cubes");
        if (install_policy_for(ranks, config->ccl.algorithm, &config->ccl, &config->hw,
                               &source->policy, &key, &ignored) == CW_OK)
            return CW_OK;
        config->ccl.mapper[0] = '\0';
    }
    if (install_policy_for(ranks, config->ccl.algorithm, &config->ccl, &config->hw, &source->policy,
                           &key, error) == CW_OK)
        return CW_OK;
    ring.hw.sip_count = ranks; /* an entry that needs all SIPs of a machine sees the group as one */
    hw_join_sips(&ring.hw, hw_topology_find("ring_1d"), &(struct hw_sip_size){.w = ranks, .h = 1});
    return install_policy_for(ranks, ring.ccl.algorithm, &ring.ccl, &ring.hw, &source->policy, &key,
                              &ignored) == CW_OK
               ? CW_OK
               : error->exit_code;
}

static uint32_t shards_of(const struct hw_config *hw, const struct dp_policy *policy)
{
    const uint32_t cubes = policy->num_cubes != 0 ? policy->num_cubes : hw_cubes(hw);
    const uint32_t pes = policy->num_pes != 0 ? policy->num_pes : hw_pes(hw);
    return (policy->cube == DP_ROW_WISE ? cubes : 1) * (policy->pe == DP_COLUMN_WISE ? pes : 1);
}

/* `ranks`: of a group. NULL: *error is filled. */
static struct step_source *add_source(struct step_plan *plan, uint32_t set,
                                      enum ccl_collective collective, const char *entry,
                                      uint32_t ranks, struct cw_error *error)
{
    struct step_source *const more =
        realloc(plan->sources, (plan->source_count + 1) * sizeof *more);
    if (more == NULL) {
        no_memory(error);
        return NULL;
    }
    plan->sources = more;
    struct step_source *const source = &more[plan->source_count];
    *source = (struct step_source){.set = set,
                                   .collective = (uint8_t)collective,
                                   .config = *plan->options->config,
                                   .first = plan->group_count};
    config_entry(plan->options->config, entry, &source->config.ccl);
    source->config.ccl.n_elem = 0;
    if (set_policy(source, ranks, error) != CW_OK)
        return NULL;
    source->shards = shards_of(&source->config.hw, &source->policy);
    plan->source_count++;
    return source;
}

const struct step_source *step_source_of(const struct step_plan *plan, const struct workload_op *op)
{
    const bool moves = op->kind == WORKLOAD_SEND || op->kind == WORKLOAD_RECV;
    for (uint32_t i = 0; i < plan->source_count; i++) {
        const struct step_source *const source = &plan->sources[i];
        if (moves ? source->set == WORKLOAD_NONE
                  : source->set == op->set && source->collective == op->collective)
            return source;
    }
    return NULL;
}

uint64_t step_elements(const struct step_source *source, const struct workload_op *op,
                       uint32_t ranks)
{
    const uint64_t unit = (uint64_t)source->shards * dtype_bytes((enum dtype)op->dtype);
    const bool divides = op->kind == WORKLOAD_COLLECTIVE &&
                         (op->collective == CCL_REDUCE_SCATTER ||
                          op->collective == CCL_ALL_GATHER || op->collective == CCL_ALL_TO_ALL);
    const uint64_t blocks = divides ? ranks : 1, elements = (op->bytes + unit - 1) / unit;
    const uint64_t whole = (elements + blocks - 1) / blocks * blocks;
    return whole > 0 ? whole : blocks;
}

/* No PE takes part. */
static bool is_time(const struct step_plan *plan, const struct workload_op *op)
{
    return op->kind == WORKLOAD_TIME || (op->kind == WORKLOAD_ROOFLINE &&
                                         workload_has_compute_model(&plan->options->config->hw));
}

bool step_is_call(const struct step_plan *plan, const struct workload_op *op)
{
    const bool meets = plan->options->modes.free_communication;
    switch (op->kind) {
    case WORKLOAD_ROOFLINE:
        return (op->flops > 0 || op->bytes > 0) && !is_time(plan, op);
    case WORKLOAD_PRODUCT:
        return true;
    case WORKLOAD_COLLECTIVE:
    case WORKLOAD_SEND:
    case WORKLOAD_RECV:
        return !meets;
    default:
        return false;
    }
}

/* A schedule is made for the largest call of its groups. */
static void expect(struct step_source *source, const struct workload_op *op, uint32_t ranks)
{
    struct cw_error ignored;
    const enum ccl_collective does =
        source->set == WORKLOAD_NONE ? CCL_ALL_TO_ALL : (enum ccl_collective)source->collective;
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_for(&source->config.ccl, does, &ignored);
    if (algorithm == NULL || algorithm->schedule == NULL)
        return;
    const uint64_t parts = does == CCL_ALL_GATHER ? ranks : 1;
    const uint64_t bytes =
        step_elements(source, op, ranks) / parts * dtype_bytes((enum dtype)op->dtype);
    const uint64_t half = tl_itemsize(LP_F16); /* the unit of a configured n_elem */
    const uint64_t n_elem = (bytes + half - 1) / half;
    if (n_elem > source->config.ccl.n_elem)
        source->config.ccl.n_elem = n_elem;
    source->config.ccl.n_elem_is_most = true;
}

/* "" is the configured entry, which may be an MSCCL XML file. */
static bool is_entry(const struct step_plan *plan, const char *entry)
{
    return entry[0] == '\0' || config_algorithm_find(plan->options->config->tree, entry) != NULL;
}

/* What a set's collectives are asked to be carried out by: the entry that the set names, else that
 * of an option. NULL: nothing is asked. */
static const char *asked_entry(const struct step_plan *plan, uint32_t set)
{
    const char *const own = plan->options->graph->sets[set].algorithm;
    if (own != NULL)
        return own;
    return config_is_from_option(plan->options->config, "defaults.algorithm") ? "" : NULL;
}

/* An entry that cannot be read counts as one that does, and is refused later. */
static bool entry_does(const struct step_plan *plan, const char *entry,
                       enum ccl_collective collective)
{
    struct ccl_config ccl = plan->options->config->ccl;
    struct cw_error ignored;
    config_entry(plan->options->config, entry, &ccl);
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(ccl.module, &ignored);
    return algorithm == NULL || algorithm->collective == collective;
}

/* An entry does one collective; the others of its set are left to the automatic choice. */
static const char *entry_of(const struct step_plan *plan, const struct workload_op *op)
{
    const enum ccl_collective collective = (enum ccl_collective)op->collective;
    const char *const asked = asked_entry(plan, op->set);
    if (asked != NULL && (!is_entry(plan, asked) || entry_does(plan, asked, collective)))
        return asked;
    const struct workload_set *const set = &plan->options->graph->sets[op->set];
    if (set->first[1] - set->first[0] >= plan->rings_from && ring(collective) != NULL)
        return ring(collective);
    return automatic(collective);
}

uint32_t step_largest_group(const struct step_plan *plan, uint32_t below)
{
    const struct workload_graph *const graph = plan->options->graph;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < plan->source_count; i++) {
        const struct step_source *const source = &plan->sources[i];
        if (source->set == WORKLOAD_NONE || ring((enum ccl_collective)source->collective) == NULL ||
            asked_entry(plan, source->set) != NULL)
            continue;
        const struct workload_set *const set = &graph->sets[source->set];
        const uint32_t ranks = set->first[1] - set->first[0];
        largest = ranks < below && ranks > largest ? ranks : largest;
    }
    return largest;
}

/* An entry that does none of the collectives which it is asked for would be ignored. */
static int check_entries(const struct step_plan *plan, struct cw_error *error)
{
    const struct workload_graph *const graph = plan->options->graph;
    bool asked_of_all = false, does_of_all = false;
    for (uint32_t set = 0; set < graph->set_count; set++) {
        const char *const asked = asked_entry(plan, set);
        bool is_used = false, does = false;
        for (uint32_t i = 0; asked != NULL && i < plan->source_count; i++)
            if (plan->sources[i].set == set) {
                is_used = true;
                does |= entry_does(plan, asked, (enum ccl_collective)plan->sources[i].collective);
            }
        if (graph->sets[set].algorithm == NULL) {
            asked_of_all |= is_used;
            does_of_all |= does;
        } else if (is_used && !does)
            return cw_error_set(
                error, CW_USAGE,
                "%s: algorithms: '%s' does none of the collectives of %s; `cubewarp "
                "list algorithms` says what each does",
                file_of(graph), asked, graph->sets[set].name);
    }
    if (asked_of_all && !does_of_all)
        return cw_error_set(error, CW_USAGE,
                            "%s: --algorithm %s does none of its collectives; `cubewarp list "
                            "algorithms` says what each does",
                            file_of(graph), plan->options->config->ccl.algorithm);
    return CW_OK;
}

static int find_sources(struct step_plan *plan, struct cw_error *error)
{
    const struct workload_graph *const graph = plan->options->graph;
    for (uint32_t p = 0; p < graph->program_count; p++)
        for (uint32_t i = 0; i < graph->programs[p].op_count; i++) {
            const struct workload_op *const op = &graph->programs[p].ops[i];
            if (op->kind != WORKLOAD_COLLECTIVE || !step_is_call(plan, op))
                continue;
            const struct workload_set *const set = &graph->sets[op->set];
            const uint32_t ranks = set->first[1] - set->first[0];
            const struct step_source *const known = step_source_of(plan, op);
            struct step_source *source =
                known != NULL ? &plan->sources[known - plan->sources] : NULL;
            const char *const entry = known == NULL ? entry_of(plan, op) : "";
            if (entry == NULL)
                return cw_error_set(error, CW_USAGE, "%s: %llu: a %s, which steps have not",
                                    file_of(graph), (unsigned long long)op->id,
                                    ccl_collective_name((enum ccl_collective)op->collective));
            if (!is_entry(plan, entry))
                return cw_error_set(error, CW_USAGE,
                                    "%s: %llu: no algorithm '%s' for groups of %s; `cubewarp list "
                                    "algorithms` lists them",
                                    file_of(graph), (unsigned long long)op->id, entry, set->name);
            if (source == NULL) {
                source = add_source(plan, op->set, (enum ccl_collective)op->collective, entry,
                                    ranks, error);
                if (source == NULL)
                    return error->exit_code;
                source->groups = set->groups;
                plan->group_count += set->groups;
            }
            expect(source, op, ranks);
        }
    return check_entries(plan, error);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

struct pair {
    uint32_t low, high;
};

static int by_pair(const void *a, const void *b)
{
    const struct pair *const x = a, *const y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->high < y->high ? -1 : x->high > y->high;
}

static struct pair pair_of(const struct step_message *message)
{
    const uint32_t from = message->send.rank, to = message->receive.rank;
    return from < to ? (struct pair){from, to} : (struct pair){to, from};
}

bool step_message_of(const struct step_plan *plan, uint32_t meeting, struct step_message *message)
{
    const struct workload_graph *const graph = plan->options->graph;
    const struct workload_part *const part =
        &plan->meetings.parts[plan->meetings.first_part[meeting]];
    const uint8_t kind = step_program_of(graph, part[0].rank)->ops[part[0].op].kind;
    *message = kind == WORKLOAD_SEND ? (struct step_message){part[0], part[1]}
                                     : (struct step_message){part[1], part[0]};
    return kind != WORKLOAD_COLLECTIVE;
}

/* The pairs that exchange messages, each once, and which one each message is of. NULL: *error is
 * filled. */
static struct pair *find_pairs(struct step_plan *plan, uint32_t *count, struct cw_error *error)
{
    const uint32_t meetings = plan->meetings.count;
    struct pair *const pairs = malloc((meetings + 1) * sizeof *pairs);
    struct step_message message;
    size_t messages = 0;
    plan->pair_of = malloc((meetings + 1) * sizeof *plan->pair_of);
    *count = 0;
    if (pairs == NULL || plan->pair_of == NULL) {
        free(pairs);
        no_memory(error);
        return NULL;
    }
    for (uint32_t i = 0; i < meetings; i++)
        if (step_message_of(plan, i, &message))
            pairs[messages++] = pair_of(&message);
    qsort(pairs, messages, sizeof *pairs, by_pair);
    for (size_t i = 0; i < messages; i++)
        if (*count == 0 || by_pair(&pairs[*count - 1], &pairs[i]) != 0)
            pairs[(*count)++] = pairs[i];
    for (uint32_t i = 0; i < meetings; i++)
        if (step_message_of(plan, i, &message)) {
            const struct pair key = pair_of(&message);
            const struct pair *const found = bsearch(&key, pairs, *count, sizeof *pairs, by_pair);
            plan->pair_of[i] = plan->group_count + (uint32_t)(found - pairs);
        }
    return pairs;
}

/* ---- hardware queues ------------------------------------------------------------------------- */

/* Of the kernels of all sources. */
static uint32_t count_contexts(const struct step_plan *plan)
{
    struct cw_error ignored;
    uint32_t contexts = 1;
    for (uint32_t i = 0; i < plan->source_count; i++) {
        const struct step_source *const source = &plan->sources[i];
        const struct ccl_algorithm *const algorithm = ccl_algorithm_for(
            &source->config.ccl,
            source->set == WORKLOAD_NONE ? CCL_ALL_TO_ALL : (enum ccl_collective)source->collective,
            &ignored);
        if (algorithm != NULL && 1 + algorithm->kernel->stream_count > contexts)
            contexts = 1 + algorithm->kernel->stream_count;
    }
    return contexts;
}

/* Kernels of one queue run one after the other: computations have one, sends and receives one each,
 * and the collectives of each set, as far as there are queues. */
static void share_queues(struct step_plan *plan)
{
    const struct workload_graph *const graph = plan->options->graph;
    const uint32_t room = LP_PE_CONTEXTS_MAX / count_contexts(plan);
    const uint32_t queues = room < LP_PE_QUEUES_MAX ? room : LP_PE_QUEUES_MAX;
    const uint32_t of_sets = queues > 3 ? queues - 3 : 1; /* too many: the machine refuses them */
    uint32_t sets = 0;
    bool pairs = false;
    plan->queues = 1;
    for (uint32_t i = 0; i < plan->source_count; i++) {
        struct step_source *const source = &plan->sources[i];
        const uint32_t asked =
            source->set != WORKLOAD_NONE ? graph->sets[source->set].queue : WORKLOAD_NONE;
        pairs |= source->set == WORKLOAD_NONE;
        for (uint32_t k = 0; k < i && source->queue == 0; k++)
            if (plan->sources[k].set == source->set)
                source->queue = plan->sources[k].queue;
        if (source->queue == 0 && source->set != WORKLOAD_NONE)
            source->queue = 1 + (asked != WORKLOAD_NONE ? asked : sets++) % of_sets;
        if (source->queue >= plan->queues)
            plan->queues = source->queue + 1;
    }
    for (uint32_t i = 0; i < plan->source_count; i++)
        if (plan->sources[i].set == WORKLOAD_NONE)
            plan->sources[i].queue = plan->queues;
    plan->queues += pairs ? 2 : 0;
}

/* ---- process groups -------------------------------------------------------------------------- */

/* The SIPs of all groups. */
static void place_groups(struct step_plan *plan, const struct pair *pairs)
{
    const struct workload_graph *const graph = plan->options->graph;
    uint32_t at = 0;
    for (uint32_t s = 0; s < plan->source_count; s++) {
        const struct step_source *const source = &plan->sources[s];
        for (uint32_t g = 0; g < source->groups; g++) {
            const struct workload_set *const set =
                source->set != WORKLOAD_NONE ? &graph->sets[source->set] : NULL;
            plan->first_member[source->first + g] = at;
            if (set == NULL) {
                plan->members[at++] = step_sip_of(graph, pairs[g].low);
                plan->members[at++] = step_sip_of(graph, pairs[g].high);
            }
            for (uint32_t i = set != NULL ? set->first[g] : 0; set != NULL && i < set->first[g + 1];
                 i++)
                plan->members[at++] = step_sip_of(graph, set->ranks[i]);
        }
    }
    plan->first_member[plan->group_count] = at;
}

static bool has_live_rank(const struct step_plan *plan, const struct step_group *group)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (step_is_live(plan, plan->rank_of_sip[group->sips[i]]))
            return true;
    return false;
}

static void name_spec(const struct step_plan *plan, const struct step_source *source, uint32_t g,
                      const struct step_group *group, char *name)
{
    enum { NAME_BYTES = sizeof *plan->names };
    if (source->set == WORKLOAD_NONE)
        snprintf(name, NAME_BYTES, "%u-%u", plan->rank_of_sip[group->sips[0]],
                 plan->rank_of_sip[group->sips[1]]);
    else
        snprintf(name, NAME_BYTES, "%.32s.%u", plan->options->graph->sets[source->set].name, g);
}

/* The dimensions of the machine in which all SIPs are alike. */
struct even_dims {
    struct hw_fold fold; /* a digit for each dimension */
    bool is_even[HW_FOLD_DIGITS_MAX];
};

static void find_even_dims(const struct hw_config *hw, struct even_dims *dims)
{
    struct hw_fold one;
    char why[HW_FOLD_WHY_BYTES];
    hw_fold_none(hw, &dims->fold);
    one = dims->fold;
    for (uint32_t d = 0; d < one.count; d++) {
        hw_fold_set_step(&one, d, 1);
        dims->is_even[d] = dims->fold.dims.at[one.digit[d].dim].joint != HW_SIP_LINE &&
                           hw_fold_keeps(hw, &one, why);
        hw_fold_set_step(&one, d, one.digit[d].size);
    }
}

/* Some translation of the machine takes one group to the other, rank by rank. */
static bool lie_alike(const struct even_dims *dims, const struct step_group *a,
                      const struct step_group *b)
{
    bool alike = a->count == b->count;
    for (uint32_t d = 0; d < dims->fold.count && alike; d++) {
        const struct hw_fold_digit *const digit = &dims->fold.digit[d];
        const uint32_t size = digit->size;
        const uint32_t on =
            (hw_fold_digit_of(digit, b->sips[0]) + size - hw_fold_digit_of(digit, a->sips[0])) %
            size;
        alike = on == 0 || dims->is_even[d];
        for (uint32_t i = 1; i < a->count && alike; i++)
            alike = (hw_fold_digit_of(digit, a->sips[i]) + on) % size ==
                    hw_fold_digit_of(digit, b->sips[i]);
    }
    return alike;
}

/* A group before this one whose algorithm makes the same schedule, as dist_group_spec has it. */
static uint32_t find_like(const struct step_plan *plan, const struct even_dims *dims,
                          uint32_t first, const struct step_group *group)
{
    for (uint32_t i = first; i < plan->spec_count; i++) {
        const struct step_group other = {plan->specs[i].ranks, plan->specs[i].count};
        if (plan->specs[i].like == 0 && lie_alike(dims, &other, group))
            return i + 1;
    }
    return 0;
}

/* Process groups are made of groups with ranks that are simulated. */
static void fill_specs(struct step_plan *plan)
{
    struct even_dims dims;
    find_even_dims(&plan->options->config->hw, &dims);
    for (uint32_t s = 0; s < plan->source_count; s++) {
        const struct step_source *const source = &plan->sources[s];
        const uint32_t first = plan->spec_count;
        for (uint32_t g = 0; g < source->groups; g++) {
            const struct step_group group = step_group_of(plan, source->first + g);
            const uint32_t spec = plan->spec_count;
            plan->spec_of[source->first + g] = WORKLOAD_NONE;
            if (!has_live_rank(plan, &group))
                continue;
            const uint32_t like = find_like(plan, &dims, first, &group);
            plan->spec_of[source->first + g] = plan->spec_count++;
            name_spec(plan, source, g, &group, plan->names[spec]);
            plan->specs[spec] = (struct dist_group_spec){.name = plan->names[spec],
                                                         .ranks = group.sips,
                                                         .count = group.count,
                                                         .config = &source->config,
                                                         .queue = source->queue,
                                                         .kind = s,
                                                         .like = like};
        }
    }
}

/* Of the pairs that exchange messages. */
static struct pair *add_pairs(struct step_plan *plan, uint32_t *count, struct cw_error *error)
{
    struct pair *const pairs = find_pairs(plan, count, error);
    struct step_message message;
    if (pairs == NULL || *count == 0)
        return pairs;
    struct step_source *const source =
        add_source(plan, WORKLOAD_NONE, CCL_SEND_RECV, automatic(CCL_SEND_RECV), 2, error);
    if (source == NULL) {
        free(pairs);
        return NULL;
    }
    source->groups = *count;
    plan->group_count += *count;
    for (uint32_t i = 0; i < plan->meetings.count; i++)
        if (step_message_of(plan, i, &message))
            expect(source,
                   &step_program_of(plan->options->graph, message.send.rank)->ops[message.send.op],
                   2);
    return pairs;
}

/* Members of all groups of all sources. */
static size_t count_members(const struct step_plan *plan)
{
    size_t members = 0;
    for (uint32_t s = 0; s < plan->source_count; s++) {
        const struct step_source *const source = &plan->sources[s];
        const struct workload_set *const sets = plan->options->graph->sets;
        members += source->set == WORKLOAD_NONE ? 2 * (size_t)source->groups
                                                : sets[source->set].first[source->groups];
    }
    return members;
}

/* The groups that collectives and messages are of. With free communication there are none. */
static int find_groups(struct step_plan *plan, struct cw_error *error)
{
    uint32_t pair_count = 0;
    if (plan->options->modes.free_communication)
        return CW_OK;
    if (find_sources(plan, error) != CW_OK)
        return error->exit_code;
    struct pair *const pairs = add_pairs(plan, &pair_count, error);
    if (pairs == NULL)
        return error->exit_code;
    const size_t groups = plan->group_count;
    plan->members = malloc((count_members(plan) + 1) * sizeof *plan->members);
    plan->first_member = malloc((groups + 1) * sizeof *plan->first_member);
    plan->spec_of = malloc((groups + 1) * sizeof *plan->spec_of);
    plan->specs = calloc(groups + 1, sizeof *plan->specs);
    plan->names = calloc(groups + 1, sizeof *plan->names);
    const bool has_memory = plan->members != NULL && plan->first_member != NULL &&
                            plan->spec_of != NULL && plan->specs != NULL && plan->names != NULL;
    if (has_memory) {
        share_queues(plan);
        place_groups(plan, pairs);
    }
    free(pairs);
    return has_memory ? CW_OK : no_memory(error);
}

/* Which ranks are simulated, and for which others. */
static int find_live_ranks(struct step_plan *plan, struct cw_error *error)
{
    const struct workload_graph *const graph = plan->options->graph;
    const int code = step_fold_find(plan, error);
    plan->live_of = malloc(graph->rank_count * sizeof *plan->live_of);
    if (code != CW_OK || plan->live_of == NULL)
        return code != CW_OK ? code : no_memory(error);
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        plan->live_of[rank] =
            plan->rank_of_sip[hw_fold_representative(&plan->fold, step_sip_of(graph, rank))];
    return CW_OK;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* What an operation needs, beside the graph's dependencies: those before it in its stream, and
 * (modes.in_program_order) in its queue. */
enum { QUEUE_DEPTH = 8 }; /* kernels of a queue that may wait for their PE */

struct edge {
    uint32_t from, to;
    bool after_start;
};

struct edges {
    struct edge *at;
    size_t count, capacity;
    bool no_memory;
};

static void add_edge(struct edges *edges, uint32_t from, uint32_t to, bool after_start)
{
    if (edges->count == edges->capacity) {
        const size_t capacity = 2 * edges->capacity + 256;
        struct edge *const more = realloc(edges->at, capacity * sizeof *more);
        if (more == NULL) {
            edges->no_memory = true;
            return;
        }
        edges->at = more;
        edges->capacity = capacity;
    }
    edges->at[edges->count++] = (struct edge){from, to, after_start};
}

static void chain_streams(const struct workload_graph *graph, const struct workload_program *p,
                          struct edges *edges)
{
    const uint32_t streams = graph->stream_count;
    uint32_t *const last = malloc((streams + 1) * sizeof *last);
    edges->no_memory |= last == NULL;
    for (uint32_t i = 0; last != NULL && i < streams; i++)
        last[i] = WORKLOAD_NONE;
    for (uint32_t i = 0; last != NULL && i < p->op_count; i++) {
        uint32_t *const before = &last[p->ops[i].stream];
        if (*before != WORKLOAD_NONE && graph->streams[p->ops[i].stream].order == WORKLOAD_IN_ORDER)
            add_edge(edges, *before, i, false);
        *before = i;
    }
    free(last);
}

/* What a collective is in order with: the others of its hardware queue, or of its set. */
static uint32_t order_of(const struct step_plan *plan, const struct workload_op *op)
{
    const struct step_modes *const modes = &plan->options->modes;
    if (plan->program.meets || !modes->in_program_order)
        return step_order_of(plan->options->graph, modes, op->set);
    return step_source_of(plan, op)->queue;
}

/* Each begins after the beginning of the one before, and after the end of the QUEUE_DEPTH-th before
 * it: so a PE never has more of them than it has room for. */
static void chain_collectives(const struct step_plan *plan, const struct workload_program *p,
                              struct edges *edges)
{
    const uint32_t sets = plan->options->graph->set_count;
    const uint32_t orders = sets > LP_PE_QUEUES_MAX ? sets : LP_PE_QUEUES_MAX;
    uint32_t *const last = malloc((size_t)orders * QUEUE_DEPTH * sizeof *last);
    uint32_t *const number = calloc(orders, sizeof *number);
    edges->no_memory |= last == NULL || number == NULL;
    for (uint32_t i = 0; !edges->no_memory && i < p->op_count; i++) {
        if (p->ops[i].kind != WORKLOAD_COLLECTIVE)
            continue;
        const uint32_t order = order_of(plan, &p->ops[i]), n = number[order]++;
        uint32_t *const of_order = &last[order * QUEUE_DEPTH];
        if (n > 0)
            add_edge(edges, of_order[(n - 1) % QUEUE_DEPTH], i, true);
        if (n >= QUEUE_DEPTH && !plan->program.meets)
            add_edge(edges, of_order[n % QUEUE_DEPTH], i, false);
        of_order[n % QUEUE_DEPTH] = i;
    }
    free(last);
    free(number);
}

static void take_dependencies(const struct workload_program *p, struct edges *edges)
{
    for (uint32_t i = 0; i < p->op_count; i++)
        for (uint32_t k = 0; k < p->ops[i].dep_count; k++) {
            const uint32_t dep = p->deps[p->ops[i].first_dep + k];
            add_edge(edges, dep & ~WORKLOAD_AFTER_START, i, (dep & WORKLOAD_AFTER_START) != 0);
        }
}

/* Sorts the edges by where they come from: ends first. */
static bool lay_edges(const struct edges *edges, struct lp_program_of_sip *own)
{
    own->next = malloc((edges->count + 1) * sizeof *own->next);
    if (own->next == NULL)
        return false;
    for (size_t i = 0; i < edges->count; i++) {
        const struct edge *const edge = &edges->at[i];
        ++*(edge->after_start ? &own->ops[edge->from].after_count
                              : &own->ops[edge->from].next_count);
        own->ops[edge->to].needs++;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < own->count; i++) {
        own->ops[i].first_next = at;
        own->ops[i].first_after = at += own->ops[i].next_count;
        at += own->ops[i].after_count;
        own->ops[i].next_count = own->ops[i].after_count = 0;
    }
    for (size_t i = 0; i < edges->count; i++) {
        const struct edge *const edge = &edges->at[i];
        struct lp_program_op *const from = &own->ops[edge->from];
        if (edge->after_start)
            own->next[from->first_after + from->after_count++] = edge->to;
        else
            own->next[from->first_next + from->next_count++] = edge->to;
    }
    return true;
}

/* The rank's one collective or send; else the stream's one operation, where it runs what is ready.
 */
static uint16_t turn_of(const struct step_plan *plan, const struct workload_op *op)
{
    const bool in_turn = op->kind == WORKLOAD_SEND || op->kind == WORKLOAD_COLLECTIVE;
    if (plan->options->modes.one_at_a_time && in_turn)
        return 1;
    return plan->options->graph->streams[op->stream].order == WORKLOAD_AS_READY
               ? (uint16_t)(2 + op->stream)
               : 0;
}

static int make_program(struct step_plan *plan, uint32_t rank, struct cw_error *error)
{
    const struct workload_graph *const graph = plan->options->graph;
    const struct workload_program *const p = step_program_of(graph, rank);
    struct lp_program_of_sip *const own = step_lp_program(plan, step_sip_of(graph, rank));
    struct edges edges = {.count = 0};
    own->count = p->op_count;
    own->ops = calloc(p->op_count + 1, sizeof *own->ops);
    if (own->ops == NULL)
        return no_memory(error);
    for (uint32_t i = 0; i < p->op_count; i++) {
        const uint8_t kind = p->ops[i].kind;
        const bool moves = kind == WORKLOAD_SEND || kind == WORKLOAD_RECV;
        own->ops[i].turn = turn_of(plan, &p->ops[i]);
        if (is_time(plan, &p->ops[i])) {
            own->ops[i].kind = LP_PROGRAM_TIME;
            own->ops[i].time_ps = kind == WORKLOAD_TIME
                                      ? (int64_t)p->ops[i].time_ps
                                      : workload_compute_ps(&plan->options->config->hw, &p->ops[i]);
        } else if (plan->options->modes.free_communication &&
                   (moves || kind == WORKLOAD_COLLECTIVE))
            own->ops[i].kind = LP_PROGRAM_MEET;
        else if (moves)
            own->ops[i].kind = kind == WORKLOAD_SEND ? LP_PROGRAM_SEND : LP_PROGRAM_RECEIVE;
    }
    take_dependencies(p, &edges);
    chain_streams(graph, p, &edges);
    chain_collectives(plan, p, &edges);
    const bool laid = !edges.no_memory && lay_edges(&edges, own);
    free(edges.at);
    return laid ? CW_OK : no_memory(error);
}

static struct lp_program_op *lp_op_of(const struct step_plan *plan, struct lp_program_place at)
{
    return &step_lp_program(plan, at.sip)->ops[at.op];
}

/* Those that meet know each other. */
static void join_meetings(struct step_plan *plan)
{
    const struct workload_graph *const graph = plan->options->graph;
    const struct workload_meetings *const meetings = &plan->meetings;
    struct lp_program *const program = &plan->program;
    struct step_message message;
    for (uint64_t i = 0; i < meetings->first_part[meetings->count]; i++)
        program->members[i] = (struct lp_program_place){step_sip_of(graph, meetings->parts[i].rank),
                                                        meetings->parts[i].op};
    for (uint32_t m = 0; m < meetings->count; m++) {
        const uint32_t first = (uint32_t)meetings->first_part[m];
        const uint32_t count = (uint32_t)meetings->first_part[m + 1] - first;
        const struct lp_program_place *const member = &program->members[first];
        const bool exchanges = step_message_of(plan, m, &message) && !program->meets;
        if (step_is_live(plan, meetings->parts[first].rank)) {
            lp_op_of(plan, member[0])->first_member = first;
            lp_op_of(plan, member[0])->member_count = count;
        }
        for (uint32_t i = 0; i < count; i++) /* of two, the other one; else the first */
            if (step_is_live(plan, meetings->parts[first + i].rank))
                lp_op_of(plan, member[i])->other = member[exchanges && i == 0 ? 1 : 0];
    }
}

/* Most kernels of one queue that may wait for their PE, but for sends. Collectives in program order
 * are at most QUEUE_DEPTH; receives come one at a time; of computations each stream has one, or
 * each operation where they begin at once. */
static uint32_t count_waiting(const struct step_plan *plan, uint32_t rank)
{
    const struct workload_graph *const graph = plan->options->graph;
    const struct workload_program *const p = step_program_of(graph, rank);
    uint32_t of_queue[LP_PE_QUEUES_MAX] = {0}, computations = graph->stream_count, most = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct workload_op *const op = &p->ops[i];
        if (op->kind == WORKLOAD_COLLECTIVE && step_is_call(plan, op))
            of_queue[step_source_of(plan, op)->queue]++;
        else if (op->kind == WORKLOAD_ROOFLINE || op->kind == WORKLOAD_PRODUCT)
            computations += graph->streams[op->stream].order == WORKLOAD_AT_ONCE;
    }
    for (uint32_t q = 0; q < LP_PE_QUEUES_MAX; q++) {
        const bool few = plan->options->modes.in_program_order && of_queue[q] > QUEUE_DEPTH;
        const uint32_t count = few ? QUEUE_DEPTH : of_queue[q];
        most = count > most ? count : most;
    }
    return computations > most ? computations : most;
}

/* Most ranks with which one rank exchanges messages: each of them grants one send at a time. False:
 * out of memory. */
static bool count_partners(const struct step_plan *plan, uint32_t *most)
{
    uint32_t *const count_of = calloc(plan->options->config->hw.sip_count, sizeof *count_of);
    *most = 0;
    for (uint32_t i = 0; count_of != NULL && i < plan->source_count; i++)
        for (uint32_t g = 0; plan->sources[i].set == WORKLOAD_NONE && g < plan->sources[i].groups;
             g++)
            for (uint32_t end = 0; end < 2; end++) {
                uint32_t *const of =
                    &count_of[step_group_of(plan, plan->sources[i].first + g).sips[end]];
                *most = ++*of > *most ? *of : *most;
            }
    free(count_of);
    return count_of != NULL;
}

static int make_programs(struct step_plan *plan, struct cw_error *error)
{
    const struct workload_graph *const graph = plan->options->graph;
    const struct step_modes *const modes = &plan->options->modes;
    const uint64_t members = plan->meetings.first_part[plan->meetings.count];
    plan->program =
        (struct lp_program){.sip = calloc(plan->fold.sips, sizeof *plan->program.sip),
                            .members = malloc((members + 1) * sizeof *plan->program.members),
                            .free_control = modes->free_launches,
                            .meets = modes->free_communication,
                            .turns = 1 + graph->stream_count};
    if (plan->program.sip == NULL || plan->program.members == NULL)
        return no_memory(error);
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        if (step_is_live(plan, rank) && make_program(plan, rank, error) != CW_OK)
            return error->exit_code;
    join_meetings(plan);
    if (!count_partners(plan, &plan->launches))
        return no_memory(error);
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const uint32_t waiting = step_is_live(plan, rank) ? count_waiting(plan, rank) : 0;
        plan->launches = waiting > plan->launches ? waiting : plan->launches;
    }
    return CW_OK;
}

int step_plan_make(const struct step_options *options, uint32_t rings_from, struct step_plan *plan,
                   struct cw_error *error)
{
    *plan = (struct step_plan){.options = options, .rings_from = rings_from, .queues = 1};
    int code = place_ranks(plan, error);
    if (code == CW_OK)
        code = workload_meetings_of(options->graph, &plan->meetings, error);
    if (code == CW_OK)
        code = find_groups(plan, error);
    if (code == CW_OK)
        code = find_live_ranks(plan, error);
    if (code == CW_OK)
        fill_specs(plan);
    return code == CW_OK ? make_programs(plan, error) : code;
}

void step_plan_free(struct step_plan *plan)
{
    for (uint32_t sip = 0; plan->program.sip != NULL && sip < plan->fold.sips; sip++) {
        free(plan->program.sip[sip].ops);
        free(plan->program.sip[sip].next);
        free(plan->program.sip[sip].runs);
    }
    free(plan->program.sip);
    free(plan->program.members);
    free(plan->rank_of_sip);
    free(plan->sources);
    free(plan->specs);
    free(plan->members);
    free(plan->first_member);
    free(plan->spec_of);
    free(plan->live_of);
    free(plan->names);
    workload_meetings_free(&plan->meetings);
    free(plan->pair_of);
}
