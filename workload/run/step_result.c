/*
 * step_result.c: frees the result of a step (step.h).
 */
#include <stdlib.h>

#include "workload/run/step.h"

void step_result_free(struct step_result *result)
{
    free(result->first_span);
    free(result->spans);
    *result = (struct step_result){0};
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
