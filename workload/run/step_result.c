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
