/*
 * concurrent_plan.c: makes the plan of the bench `concurrent` from its calls: sets of groups by
 * their names, the entry that carries out each call, sizes in elements, and one list of all groups.
 */
#include "bench/programs/concurrent_plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/concurrent_bound.h"
#include "bench/programs/row_work.h"
#include "collectives/choice/cost.h"
#include "collectives/choice/cost_times.h"
#include "collectives/config/config_place.h"
#include "collectives/hook.h"
#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/install_plan.h"
#include "collectives/schedule/schedule.h"
#include "hw/topology/topology.h"

/* "--call TEXT: ...": CW_USAGE. */
__attribute__((format(printf, 3, 4))) static int
refuse(const struct run_call *call, struct cw_error *error, const char *format, ...)
{
    char what[900];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return cw_error_set(error, CW_USAGE, "--call %s: %s", call->text, what);
}

/* ---- sets of groups -------------------------------------------------------------------------- */

/* "tp, dp", for a refusal. */
static void list_sets(const struct ccl_groups *groups, char text[300])
{
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < groups->count && n < 200; i++)
        n += (size_t)snprintf(text + n, 300 - n, ", %s", groups->sets[i].name);
}

/* A set of one group, of these ranges of ranks. */
static void own_set(struct concurrent_source *source, const char *name, uint32_t ranges,
                    uint32_t size, uint32_t pes)
{
    source->set = (struct ccl_group_set){.ranks = source->ranges,
                                         .range_count = ranges,
                                         .groups = 1,
                                         .size = size,
                                         .stride = 1,
                                         .pes = pes};
    snprintf(source->set.name, sizeof source->set.name, "%.*s", (int)sizeof source->set.name - 1,
             name);
    source->only = UINT32_MAX;
}

/* "tp" or "tp.3" */
static int find_set(const struct config *config, const struct run_call *call,
                    struct concurrent_source *source, struct cw_error *error)
{
    char name[sizeof call->groups], known[300];
    snprintf(name, sizeof name, "%s", call->groups);
    char *const dot = strchr(name, '.');
    if (dot != NULL)
        *dot = '\0';
    const struct ccl_group_set *const set = ccl_groups_find(&config->groups, name);
    list_sets(&config->groups, known);
    if (set == NULL)
        return refuse(call, error,
                      "no groups '%s'; there are: world%s (groups.NAME in a configuration, as in "
                      "--set groups.%s.each=2)",
                      name, known, name);
    source->set = *set;
    source->only = UINT32_MAX;
    if (dot == NULL)
        return CW_OK;
    char *end;
    const unsigned long number = strtoul(dot + 1, &end, 10);
    if (!set->numbered || dot[1] < '0' || dot[1] > '9' || *end != '\0' || number >= set->groups)
        return refuse(call, error, "no group '%s'; %s has %s", call->groups, name,
                      set->numbered ? "groups from .0 on, as `cubewarp config` says"
                                    : "one group, without a number");
    source->only = (uint32_t)number;
    return CW_OK;
}

static int take_set(const struct config *config, const struct run_call *call,
                    struct concurrent_source *source, struct cw_error *error)
{
    const uint32_t world = dist_world_size_for(config);
    const uint32_t pes = hw_cubes(&config->hw) * hw_pes(&config->hw);
    if (call->collective == CCL_SEND_RECV) {
        const uint32_t most = call->from > call->to ? call->from : call->to;
        if (most >= world)
            return refuse(call, error, "rank %u of %u; legal: 0 to %u", most, world, world - 1);
        source->ranges[0] = (struct ccl_range){call->from, call->from, 1};
        source->ranges[1] = (struct ccl_range){call->to, call->to, 1};
        own_set(source, call->groups, 2, 2, pes);
        return CW_OK;
    }
    if (strcmp(call->groups, CCL_WORLD) != 0)
        return find_set(config, call, source, error);
    source->ranges[0] = (struct ccl_range){0, world - 1, 1};
    own_set(source, CCL_WORLD, 1, world, pes);
    return CW_OK;
}

/* ---- the entry that carries out a call ------------------------------------------------------- */

/* A broadcast and a barrier go over the queues of the entry, whatever it does itself. */
static const char *automatic(enum ccl_collective collective)
{
    static const char *const entry[CCL_COLLECTIVES] = {
        [CCL_ALL_REDUCE] = "auto_all_reduce",    [CCL_REDUCE_SCATTER] = "auto_reduce_scatter",
        [CCL_ALL_GATHER] = "auto_all_gather",    [CCL_ALL_TO_ALL] = "auto_all_to_all",
        [CCL_BROADCAST] = "tree_allreduce",      [CCL_BARRIER] = "tree_allreduce",
        [CCL_SEND_RECV] = "pairwise_all_to_all",
    };
    return entry[collective];
}

/* The set's own entry; else the one that an option names, if it does the collective; else the
 * automatic choice. */
static const char *entry_of(const struct config *config, const struct run_call *call,
                            const struct ccl_group_set *set)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const configured = ccl_algorithm_load(config->ccl.module, &ignored);
    if (set->algorithm[0] != '\0')
        return set->algorithm;
    return config_is_from_option(config, "defaults.algorithm") && configured != NULL &&
                   configured->collective == call->collective
               ? config->ccl.algorithm
               : automatic(call->collective);
}

/* ---- sources --------------------------------------------------------------------------------- */

static bool same_source(const struct concurrent_source *a, const struct concurrent_source *b)
{
    return strcmp(a->set.name, b->set.name) == 0 && a->only == b->only &&
           strcmp(a->entry, b->entry) == 0;
}

/* Groups and their ranks. */
static int list_groups(struct concurrent_source *source, struct cw_error *error)
{
    const struct ccl_group_set *const set = &source->set;
    source->groups = source->only == UINT32_MAX ? set->groups : 1;
    source->ranks = malloc((size_t)source->groups * set->size * sizeof *source->ranks);
    source->names = malloc(source->groups * sizeof *source->names);
    if (source->ranks == NULL || source->names == NULL)
        return cw_error_memory(error, "the groups");
    for (uint32_t g = 0; g < source->groups; g++) {
        const uint32_t group = source->only == UINT32_MAX ? g : source->only;
        (void)ccl_group_name(set, group, source->names[g], sizeof source->names[g]);
        for (uint32_t i = 0; i < set->size; i++)
            source->ranks[(size_t)g * set->size + i] = ccl_group_rank(set, group, i);
    }
    return CW_OK;
}

/* Of an entry that needs all SIPs of a machine: a group's are joined like a ring of as many. */
static int policy_of_ring(struct concurrent_source *source, struct cw_error *error)
{
    struct config ring = source->config;
    const char *key;
    ring.hw.sip_count = source->set.size;
    hw_join_sips(&ring.hw, hw_topology_find("ring_1d"),
                 &(struct hw_sip_size){.w = source->set.size, .h = 1});
    return install_policy_for(source->set.size, source->entry, &ring.ccl, &ring.hw, &source->policy,
                              &key, error);
}

static int set_policy(const struct run_call *call, struct concurrent_source *source,
                      struct cw_error *error)
{
    struct config *const config = &source->config;
    const char *key;
    const uint32_t all = hw_cubes(&config->hw) * hw_pes(&config->hw);
    const bool some = source->set.pes < all;
    config->ccl.ranks.first_pe = some ? source->set.first_pe : 0;
    config->ccl.ranks.pes = some ? source->set.pes : 0;
    struct cw_error why, ignored;
    if (install_policy_for(source->set.size, source->entry, &config->ccl, &config->hw,
                           &source->policy, &key, &why) == CW_OK ||
        policy_of_ring(source, &ignored) == CW_OK)
        return CW_OK;
    return refuse(call, error, "%.800s", why.text);
}

/* Adds the source of a call, unless it is there; its number. UINT32_MAX: *error is filled. */
static uint32_t source_of(const struct bench_session *session, struct concurrent_plan *plan,
                          const struct run_call *call, struct cw_error *error)
{
    struct concurrent_source *const source = &plan->sources[plan->source_count];
    if (take_set(session->config, call, source, error) != CW_OK)
        return UINT32_MAX;
    if (call->collective != CCL_COMPUTE) /* a computation needs no groups, only their ranks */
        snprintf(source->entry, sizeof source->entry, "%s",
                 entry_of(session->config, call, &source->set));
    for (uint32_t i = 0; i < plan->source_count && call->collective != CCL_SEND_RECV; i++)
        if (same_source(&plan->sources[i], source))
            return i;
    source->config = *session->config;
    if (call->collective == CCL_COMPUTE) {
        plan->source_count++;
        return list_groups(source, error) == CW_OK ? plan->source_count - 1 : UINT32_MAX;
    }
    config_entry(session->config, source->entry, &source->config.ccl);
    source->config.ccl.n_elem = 0;
    plan->source_count++; /* its memory is freed with the plan */
    if (set_policy(call, source, error) != CW_OK || list_groups(source, error) != CW_OK)
        return UINT32_MAX;
    source->first = plan->spec_count;
    plan->spec_count += source->groups;
    return plan->source_count - 1;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* On the PEs of the groups' lanes. */
static int plan_computation(const struct bench_session *session,
                            const struct concurrent_source *source, struct concurrent_call *call,
                            struct cw_error *error)
{
    const struct hw_config *const hw = &session->config->hw;
    const uint64_t rings = dist_ring_bytes(session->config, HW_MEMORY_TCM);
    const bool some = source->set.pes < hw_cubes(hw) * hw_pes(hw);
    struct cw_error why;
    call->compute = call->asked->compute;
    call->compute.dtype = session->options->dtype;
    call->compute.first = some ? source->set.first_pe : 0;
    call->compute.count = some ? source->set.pes : 0;
    if (compute_job_of(hw, &call->compute, hw->tcm_bytes > rings ? hw->tcm_bytes - rings : 0, 0,
                       &call->job, &why) != CW_OK)
        return refuse(call->asked, error, "%.800s", why.text);
    call->n_elem =
        call->compute.kind == COMPUTE_PRODUCT ? (uint64_t)call->compute.m * call->compute.n : 0;
    call->bound = compute_bound(hw, &call->job);
    return CW_OK;
}

static int plan_call(const struct bench_session *session, struct concurrent_plan *plan,
                     const struct run_call *asked, struct concurrent_call *call,
                     struct cw_error *error)
{
    const struct run_options *const options = session->options;
    *call =
        (struct concurrent_call){.asked = asked, .source = source_of(session, plan, asked, error)};
    if (call->source == UINT32_MAX)
        return error->exit_code;
    struct concurrent_source *const source = &plan->sources[call->source];
    snprintf(call->name, sizeof call->name, "%.15s:%.79s",
             asked->collective == CCL_SEND_RECV ? "send"
             : asked->collective == CCL_COMPUTE ? compute_kernel_name(asked->compute.kind)
                                                : ccl_collective_name(asked->collective),
             asked->groups);
    call->groups = source->groups;
    call->size = source->set.size;
    if (asked->collective == CCL_COMPUTE)
        return plan_computation(session, source, call, error);
    call->shards = bench_parts(&source->config.hw, &source->policy);
    if (asked->collective == CCL_BARRIER) {
        call->bound = concurrent_bound(&source->config.hw, source, call, options->dtype);
        return CW_OK;
    }
    const uint64_t unit = (uint64_t)call->shards * dtype_bytes(options->dtype);
    if (asked->bytes % unit > 0)
        return refuse(asked, error,
                      "%llu bytes of a rank are no multiple of %llu, an element of each of its %u "
                      "shards",
                      (unsigned long long)asked->bytes, (unsigned long long)unit, call->shards);
    call->n_elem = asked->bytes / unit;
    struct cw_error why;
    if (dist_check_blocks(asked->collective, call->n_elem, call->size, &why) != CW_OK)
        return refuse(asked, error, "%.800s", why.text);
    const uint32_t parts = asked->collective == CCL_ALL_GATHER ? call->size : 1;
    struct ccl_config expected = source->config.ccl;
    const struct ccl_call of_entry = {
        .hw = &source->config.hw,
        .ccl = &expected,
        .collective = asked->collective == CCL_SEND_RECV ? CCL_ALL_TO_ALL : asked->collective,
        .world_size = call->size,
        .n_elem = call->n_elem / parts,
        .dtype = (enum lp_dtype)options->dtype,
        .math = (enum lp_math)redop_of_kernels(options->op)};
    bench_expect_call(options, &of_entry, &expected);
    if (expected.n_elem > source->config.ccl.n_elem) /* the largest of the calls */
        source->config.ccl = expected;
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_for(&source->config.ccl, of_entry.collective, &why);
    call->together = asked->collective == CCL_ALL_REDUCE && call->shards > 1 && algorithm != NULL &&
                     algorithm->schedule == NULL && !algorithm->machine.lanes;
    call->bound = concurrent_bound(&source->config.hw, source, call, options->dtype);
    return CW_OK;
}

static void sort_by_start(struct concurrent_plan *plan)
{
    for (uint32_t i = 0; i < plan->call_count; i++) {
        uint32_t at = i;
        for (; at > 0 &&
               plan->calls[plan->order[at - 1]].asked->start_ps > plan->calls[i].asked->start_ps;
             at--)
            plan->order[at] = plan->order[at - 1];
        plan->order[at] = i;
    }
}

static bool fill_specs(struct concurrent_plan *plan)
{
    plan->specs = calloc(plan->spec_count + 1, sizeof *plan->specs);
    for (uint32_t s = 0; s < plan->source_count && plan->specs != NULL; s++) {
        const struct concurrent_source *const source = &plan->sources[s];
        for (uint32_t g = 0; g < source->groups && source->entry[0] != '\0'; g++)
            plan->specs[source->first + g] =
                (struct dist_group_spec){.name = source->names[g],
                                         .ranks = source->ranks + (size_t)g * source->set.size,
                                         .count = source->set.size,
                                         .config = &source->config,
                                         .first_pe = source->config.ccl.ranks.first_pe,
                                         .pes = source->config.ccl.ranks.pes,
                                         .account = 1 + s};
    }
    return plan->specs != NULL;
}

int concurrent_plan_make(const struct bench_session *session, struct concurrent_plan *plan,
                         struct cw_error *error)
{
    const struct run_options *const options = session->options;
    if (options->call_count == 0)
        return cw_error_set(error, CW_USAGE,
                            "concurrent has no calls: --call all_reduce:tp:1MiB makes one, of each "
                            "group of the set tp");
    plan->sources = calloc(options->call_count, sizeof *plan->sources);
    plan->calls = calloc(options->call_count, sizeof *plan->calls);
    plan->order = calloc(options->call_count, sizeof *plan->order);
    if (plan->sources == NULL || plan->calls == NULL || plan->order == NULL)
        return cw_error_memory(error, "the calls");
    for (uint32_t i = 0; i < options->call_count; i++) {
        const int code = plan_call(session, plan, &options->calls[i], &plan->calls[i], error);
        if (code != CW_OK)
            return code;
        plan->call_count++;
    }
    sort_by_start(plan);
    return fill_specs(plan) ? CW_OK : cw_error_memory(error, "the groups");
}

void concurrent_plan_free(struct concurrent_plan *plan)
{
    for (uint32_t i = 0; i < plan->source_count; i++) {
        free(plan->sources[i].ranks);
        free(plan->sources[i].names);
    }
    free(plan->sources);
    free(plan->calls);
    free(plan->order);
    free(plan->specs);
}

/* ---- questions ------------------------------------------------------------------------------- */

bool concurrent_member(const struct concurrent_plan *plan, const struct concurrent_call *call,
                       uint32_t rank, uint32_t *group, uint32_t *i)
{
    const struct concurrent_source *const source = &plan->sources[call->source];
    if (!ccl_group_of(&source->set, rank, group, i) ||
        (source->only != UINT32_MAX && *group != source->only))
        return false;
    *group = source->only != UINT32_MAX ? 0 : *group;
    return true;
}

uint32_t concurrent_group(const struct concurrent_plan *plan, const struct concurrent_call *call,
                          uint32_t group)
{
    return plan->sources[call->source].first + group;
}

uint32_t concurrent_call_of(const struct concurrent_plan *plan, uint32_t group, uint64_t number)
{
    for (uint32_t k = 0; k < plan->call_count; k++) {
        const struct concurrent_call *const call = &plan->calls[plan->order[k]];
        const struct concurrent_source *const source = &plan->sources[call->source];
        if (group < source->first || group >= source->first + source->groups ||
            call->asked->collective == CCL_COMPUTE)
            continue;
        if (number == 0 || call->asked->collective == CCL_SEND_RECV)
            return plan->order[k];
        number--;
    }
    return 0;
}

bool concurrent_alike(const struct concurrent_plan *plan, uint32_t a, uint32_t b)
{
    const struct run_call *const x = plan->calls[a].asked, *const y = plan->calls[b].asked;
    return x->collective == y->collective && x->bytes == y->bytes && x->collective != CCL_COMPUTE &&
           strcmp(x->groups, y->groups) == 0;
}

double concurrent_events(const struct config *config, enum ccl_collective asked, uint32_t ranks,
                         uint64_t n_elem, uint32_t shards, enum dtype dtype)
{
    struct ccl_config ccl = config->ccl;
    struct cw_error ignored;
    struct ccl_refusal refusal;
    const struct ccl_call of_entry = {.hw = &config->hw,
                                      .ccl = &ccl,
                                      .collective = asked == CCL_SEND_RECV ? CCL_ALL_TO_ALL : asked,
                                      .world_size = ranks,
                                      .n_elem = n_elem / (asked == CCL_ALL_GATHER ? ranks : 1),
                                      .dtype = (enum lp_dtype)dtype,
                                      .math = LP_MATH_SUM,
                                      .sketch = true};
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(&of_entry, NULL, &ignored);
    if (algorithm == NULL || (algorithm->check != NULL && CCL_HOOK("check()", algorithm->check,
                                                                   (&of_entry, &refusal)) != CW_OK))
        return 0;
    struct schedule *const schedule =
        algorithm->schedule != NULL
            ? CCL_HOOK("schedule()", algorithm->schedule, (&of_entry, &ignored))
            : NULL;
    const struct cost_request request = {.call = &of_entry,
                                         .mapper = cost_mapper(&ccl),
                                         .algorithm = algorithm,
                                         .schedule = schedule};
    const double pes = schedule != NULL && schedule->members == 1 && shards == 1
                           ? schedule->rank[0].thread_count
                           : shards;
    double events = 0;
    if ((algorithm->schedule != NULL && schedule == NULL) ||
        cost_events(&request, shards, &events, &ignored) != CW_OK)
        events = 0;
    schedule_free(schedule);
    return events + ranks * pes * cost_launch_events(&config->hw, pes == 1);
}

static double events_of(const struct concurrent_source *source, const struct concurrent_call *call,
                        const struct run_options *options)
{
    struct compute_job job = call->job;
    if (lp_is_coarse(&source->config.ccl.queues))
        compute_job_at_once(&source->config.hw, &job);
    if (call->asked->collective == CCL_COMPUTE)
        return call->size *
               compute_events(&(struct ccl_call){.hw = &source->config.hw,
                                                 .ccl = &source->config.ccl,
                                                 .dtype = (enum lp_dtype)options->dtype},
                              &job);
    return concurrent_events(&source->config, call->asked->collective, call->size, call->n_elem,
                             call->shards, options->dtype);
}

struct bench_own concurrent_work(const struct run_options *options, const struct config *config)
{
    const struct bench_session session = {.options = options, .config = config};
    struct concurrent_plan plan = {.source_count = 0};
    struct bench_own work = {.events = 0};
    struct cw_error ignored;
    const bool is_planned = concurrent_plan_make(&session, &plan, &ignored) == CW_OK;
    for (uint32_t i = 0; i < plan.call_count && is_planned; i++) {
        const struct concurrent_call *const call = &plan.calls[i];
        const double runs = plan.call_count > 1 ? 2 : 1; /* with others, and alone */
        work.events += runs * call->groups * events_of(&plan.sources[call->source], call, options);
        work.bytes += 2.0 * call->groups * call->size * (double)call->asked->bytes;
    }
    concurrent_plan_free(&plan);
    return work;
}

const char *concurrent_schedule_name(const struct dist_group *group)
{
    return dist_group_facts(group).schedule->name;
}
