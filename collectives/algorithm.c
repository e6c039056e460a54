/*
 * algorithm.c: the registry of collective algorithms (algorithm.h).
 */
#include "collectives/algorithm.h"

#include <string.h>

static const struct ccl_algorithm *const registry[] = {
    &ccl_lrab_hierarchical_allreduce,
    &ccl_pe_hierarchical_allreduce,
    &ccl_lrab_pipelined_allreduce,
};

const struct ccl_algorithm *ccl_algorithm_at(uint32_t i)
{
    return i < sizeof registry / sizeof registry[0] ? registry[i] : NULL;
}

const struct ccl_algorithm *ccl_algorithm_find(const char *module)
{
    const struct ccl_algorithm *algorithm;
    for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)); i++)
        if (strcmp(algorithm->name, module) == 0)
            return algorithm;
    return NULL;
}

const struct ccl_algorithm *ccl_algorithm_for(const struct ccl_config *ccl,
                                              enum ccl_collective collective)
{
    const struct ccl_algorithm *const configured = ccl_algorithm_find(ccl->module);
    if (configured == NULL || configured->collective == collective)
        return configured;
    const struct ccl_algorithm *algorithm;
    for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)); i++)
        if (algorithm->collective == collective)
            return algorithm;
    return NULL;
}

const char *ccl_collective_name(enum ccl_collective collective)
{
    static const char *const name[CCL_COLLECTIVES] = {"all_reduce", "reduce_scatter", "all_gather",
                                                      "broadcast", "barrier"};
    return (unsigned)collective < CCL_COLLECTIVES ? name[collective] : "?";
}

const char *ccl_algorithm_note(const char *module)
{
    return ccl_algorithm_find(module) != NULL ? "" : " (not in this version)";
}
