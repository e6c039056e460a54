/*
 * step_result.c: frees the result of a step, and makes a hash of its times (step.h).
 */
#include <stdlib.h>
#include <xxhash.h>

#include "workload/run/step.h"

void step_result_free(struct step_result *result)
{
    free(result->first_span);
    free(result->spans);
    *result = (struct step_result){0};
}

uint64_t step_times_hash(const struct step_result *result, uint32_t rank_count)
{
    uint64_t hash = 0;
    for (uint64_t i = 0; i < result->first_span[rank_count]; i++) {
        const struct step_span *const span = &result->spans[i];
        const uint64_t words[3] = {hash, (uint64_t)span->start_ps, (uint64_t)span->end_ps};
        hash = XXH3_64bits(words, sizeof words);
    }
    return hash;
}

uint32_t step_order_of(const struct workload_graph *graph, const struct step_modes *modes,
                       uint32_t set)
{
    for (uint32_t i = 0; i < set && modes->in_program_order; i++)
        if (graph->sets[set].queue != WORKLOAD_NONE &&
            graph->sets[i].queue == graph->sets[set].queue)
            return i;
    return set;
}
