/*
 * scheduled.c: that which the makers of schedules share (scheduled.h).
 */
#include "collectives/algorithms/scheduled/scheduled.h"

#include <string.h>

int64_t scheduled_parameter(const struct ccl_call *call, const char *algorithm,
                            const struct ccl_parameter *parameters, uint32_t i)
{
    return strcmp(call->ccl->module, algorithm) == 0 ? call->ccl->parameter[i]
                                                     : parameters[i].value;
}
