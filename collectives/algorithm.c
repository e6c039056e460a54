/*
 * algorithm.c: the registry of collective algorithms (algorithm.h).
 */
#include "collectives/algorithm.h"

#include <stdio.h>
#include <string.h>

#include "collectives/config/input/text.h"
#include "collectives/hook.h"
#include "collectives/plugin.h"
#include "lp/kernel/tl_check.h"

#define ALGORITHM(name)       extern const struct ccl_algorithm ccl_##name;
#define ALGORITHM_FILES(name) extern const struct ccl_algorithm_files ccl_##name;
#include "collectives/algorithms/registry.h"
#undef ALGORITHM
#undef ALGORITHM_FILES
#define ALGORITHM(name) &ccl_##name,
static const struct ccl_algorithm *const registry[] = {
#include "collectives/algorithms/registry.h"
};
#undef ALGORITHM

#define PARAMETER_END INT64_C(1000000000000000000) /* of a decimal's mantissa */

/* The algorithm of a collective that the configured algorithm does not carry out. */
static const char *const preferred[CCL_COLLECTIVES] = {
    [CCL_ALL_REDUCE] = "lrab_hierarchical_allreduce",
    [CCL_REDUCE_SCATTER] = "auto",
    [CCL_ALL_GATHER] = "ring_all_gather",
    [CCL_BROADCAST] = "relay_broadcast",
    [CCL_BARRIER] = "relay_barrier",
    [CCL_ALL_TO_ALL] = "pairwise_all_to_all",
    [CCL_REDUCE] = "relay_reduce",
};

const struct ccl_algorithm *ccl_algorithm_at(uint32_t i)
{
    return i < sizeof registry / sizeof registry[0] ? registry[i] : NULL;
}

const struct ccl_algorithm *ccl_algorithm_find(const char *module)
{
    const struct ccl_algorithm *algorithm;
    if (strcmp(module, "intercube_allreduce") == 0) /* as an earlier design record names it */
        module = "lrab_hierarchical_allreduce";
    for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)); i++)
        if (strcmp(algorithm->name, module) == 0)
            return algorithm;
    return NULL;
}

bool ccl_is_schedule_file(const char *module)
{
    const char *const dot = strrchr(module, '.');
    return dot != NULL && dot > module && (strcmp(dot, ".xml") == 0 || strcmp(dot, ".json") == 0);
}

/* A parameter as parameter.h wants it. */
static bool parameter_is_right(const struct ccl_parameter *parameter)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    int64_t choices = 0;
    if (parameter->name == NULL || parameter->name[0] == '\0' ||
        parameter->name[strspn(parameter->name, legal)] != '\0')
        return false;
    switch (parameter->type) {
    case CCL_PARAMETER_COUNT:
        return parameter->min <= parameter->value && parameter->value <= parameter->max &&
               parameter->min > -PARAMETER_END && parameter->max < PARAMETER_END;
    case CCL_PARAMETER_BOOL:
        return parameter->value == 0 || parameter->value == 1;
    case CCL_PARAMETER_CHOICE:
        while (parameter->choice != NULL && parameter->choice[choices] != NULL)
            choices++;
        return parameter->value >= 0 && parameter->value < choices;
    }
    return false;
}

static int parameters_check(const struct ccl_algorithm *algorithm, struct cw_error *error)
{
    if (algorithm->parameter_count > CCL_PARAMETERS_MAX ||
        (algorithm->parameter_count > 0 && algorithm->parameters == NULL))
        return cw_error_set(error, CW_USAGE, "%.64s declares %u parameters; legal is up to %u",
                            algorithm->name, algorithm->parameter_count, CCL_PARAMETERS_MAX);
    for (uint32_t i = 0; i < algorithm->parameter_count; i++) {
        const struct ccl_parameter *const parameter = &algorithm->parameters[i];
        if (!parameter_is_right(parameter))
            return cw_error_set(error, CW_USAGE,
                                "%.64s: parameter %u, %.64s, is declared wrong; legal is a name of "
                                "letters, digits, _ "
                                "and -, a type, and a default that is in its own range",
                                algorithm->name, i,
                                parameter->name != NULL ? parameter->name : "without a name");
    }
    return CW_OK;
}

/* Refuses an algorithm with a missing member or too large a kernel. */
static int algorithm_check(const struct ccl_algorithm *algorithm, const char *module,
                           struct cw_error *error)
{
    if (algorithm->name != NULL && algorithm->kernel != NULL &&
        (unsigned)algorithm->collective < CCL_COLLECTIVES)
        return tl_kernel_check(algorithm->kernel, error) == CW_OK
                   ? parameters_check(algorithm, error)
                   : error->exit_code;
    return cw_error_set(error, CW_USAGE, "%.200s has no %s", module,
                        algorithm->name == NULL ? "name"
                        : algorithm->kernel == NULL
                            ? "kernel"
                            : "collective that there is (enum ccl_collective)");
}

const struct ccl_algorithm *ccl_algorithm_load(const char *module, struct cw_error *error)
{
    if (ccl_is_schedule_file(module))
        return ccl_msccl.load(module, error);
    const struct ccl_algorithm *algorithm = ccl_algorithm_find(module);
    if (algorithm == NULL && plugin_is_path(module)) {
        algorithm = plugin_object(module, "struct ccl_algorithm", sizeof *algorithm, error);
        if (algorithm == NULL)
            return NULL;
    }
    if (algorithm != NULL)
        return algorithm_check(algorithm, module, error) == CW_OK ? algorithm : NULL;
    struct text_nearest nearest = {0};
    for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)) != NULL; i++)
        text_nearest_try(&nearest, module, algorithm->name);
    size_t n = (size_t)snprintf(error->text, sizeof error->text,
                                "algorithm module %.64s is not part of this version; %s%s%sthere "
                                "are:",
                                module, nearest.best != NULL ? "did you mean '" : "",
                                nearest.best != NULL ? nearest.best : "",
                                nearest.best != NULL ? "'? " : "");
    for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)) && n < sizeof error->text; i++)
        n += (size_t)snprintf(error->text + n, sizeof error->text - n, " %s", algorithm->name);
    error->exit_code = CW_USAGE;
    return NULL;
}

const char *ccl_algorithm_label(const struct ccl_config *ccl, const struct ccl_algorithm *algorithm)
{
    struct cw_error error;
    return algorithm == ccl_algorithm_load(ccl->module, &error) ? ccl->algorithm : algorithm->name;
}

const struct ccl_algorithm *ccl_algorithm_for(const struct ccl_config *ccl,
                                              enum ccl_collective collective,
                                              struct cw_error *error)
{
    const struct ccl_algorithm *const configured = ccl_algorithm_load(ccl->module, error);
    if (configured == NULL || configured->collective == collective)
        return configured;
    if (preferred[collective] != NULL)
        return ccl_algorithm_find(preferred[collective]);
    (void)cw_error_set(
        error, CW_USAGE,
        "no algorithm for %s is part of this version; legal is an MSCCL XML file, or "
        "an MSCCL++ plan, of that collective, as --algorithm FILE.xml",
        ccl_collective_name(collective));
    return NULL;
}

/* For a collective that the configured algorithm does not do: the preferred algorithm, or else one
 * that accepts the call. An algorithm whose PEs write to each other needs room that only its own
 * configuration makes, and a schedule needs its own queues. */
static const struct ccl_algorithm *accepting(const struct ccl_call *call,
                                             const struct ccl_algorithm *first)
{
    const struct ccl_algorithm *algorithm = first;
    for (uint32_t i = 0; algorithm != NULL; algorithm = ccl_algorithm_at(i++)) {
        struct ccl_refusal refusal;
        if (algorithm->collective != call->collective || algorithm->schedule != NULL ||
            (algorithm != first && algorithm->machine.peers != NULL))
            continue;
        if (algorithm->check == NULL ||
            CCL_HOOK("check()", algorithm->check, (call, &refusal)) == CW_OK)
            return algorithm;
    }
    return first;
}

/* Schedules without a rule have the parts of all ranks, and are compared rank by rank. */
static bool has_too_many_sips(const struct ccl_call *call, const struct ccl_algorithm *algorithm,
                              struct cw_error *error)
{
    if ((algorithm->schedule == NULL && algorithm->choose == NULL) || algorithm->folds != NULL ||
        call->hw->sip_count <= HW_UNFOLDED_SIPS_MAX)
        return false;
    (void)cw_error_set(error, CW_USAGE,
                       "%s does not fold beyond %u ranks, and there are %u SIPs; name one "
                       "that does, such as --algorithm torus_rs_ag or lrab_hierarchical_allreduce",
                       algorithm->name, HW_UNFOLDED_SIPS_MAX, call->hw->sip_count);
    return true;
}

const struct ccl_algorithm *ccl_algorithm_of(const struct ccl_call *call, struct ccl_choice *choice,
                                             struct cw_error *error)
{
    const struct ccl_algorithm *algorithm = ccl_algorithm_for(call->ccl, call->collective, error);
    struct ccl_choice own = {.algorithm = algorithm};
    if (algorithm != NULL && has_too_many_sips(call, algorithm, error))
        own.algorithm = NULL;
    else if (algorithm != NULL && algorithm->choose != NULL) {
        CCL_HOOK_VOID("choose()", algorithm->choose, (call, &own));
        if (own.algorithm == NULL)
            (void)cw_error_memory(error, "the estimate of an algorithm");
    } else if (algorithm != NULL && strcmp(algorithm->name, call->ccl->module) != 0 &&
               !plugin_is_path(call->ccl->module) && !ccl_is_schedule_file(call->ccl->module))
        own.algorithm = accepting(call, algorithm);
    if (choice != NULL)
        *choice = own;
    return own.algorithm;
}

uint64_t ccl_algorithm_tcm_bytes(const struct ccl_algorithm *algorithm, const struct ccl_call *call)
{
    return algorithm->machine.tcm_bytes != NULL
               ? CCL_HOOK("tcm_bytes()", algorithm->machine.tcm_bytes, (call))
               : call->n_elem * tl_itemsize(call->dtype);
}

uint32_t ccl_algorithm_peers(const struct ccl_algorithm *algorithm, const struct ccl_call *call)
{
    return algorithm->machine.peers != NULL ? CCL_HOOK("peers()", algorithm->machine.peers, (call))
                                            : 0;
}

uint32_t ccl_algorithm_slots(const struct ccl_algorithm *algorithm, uint32_t n_slots)
{
    return ccl_msccl.slots(algorithm, n_slots);
}

enum lp_protocol ccl_algorithm_protocol(const struct ccl_algorithm *algorithm)
{
    return ccl_msccl.protocol(algorithm);
}

struct ccl_fixed ccl_algorithm_fixed(const struct ccl_algorithm *algorithm)
{
    return ccl_msccl.fixed(algorithm);
}

uint64_t ccl_algorithm_contents(const struct ccl_algorithm *algorithm)
{
    return ccl_msccl.contents(algorithm);
}

bool ccl_goes_by_machine(const struct ccl_config *ccl)
{
    struct cw_error error;
    const struct ccl_algorithm *const configured = ccl_algorithm_load(ccl->module, &error);
    return (ccl->topology[0] == '\0' || strcmp(ccl->topology, "none") == 0) &&
           (configured == NULL || configured->neighbors == NULL);
}

bool ccl_adds_all_shards(const struct ccl_algorithm *algorithm)
{
    const struct ccl_order *const order = algorithm->order;
    return algorithm->machine.members || (order != NULL && (order->pe_grid || order->cube_mesh));
}

const char *ccl_collective_name(enum ccl_collective collective)
{
    static const char *const name[CCL_COLLECTIVES] = {
        "all_reduce", "reduce_scatter", "all_gather", "broadcast", "barrier", "all_to_all",
        "matmul",     "reduce",         "custom",     "send_recv", "compute"};
    return (unsigned)collective < CCL_COLLECTIVES ? name[collective] : "?";
}
