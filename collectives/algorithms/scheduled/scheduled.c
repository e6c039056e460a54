/*
 * scheduled.c: what the makers of schedules share (scheduled.h).
 */
#include "collectives/algorithms/scheduled/scheduled.h"

#include <string.h>

#include "collectives/choice/cost.h"
#include "collectives/schedule/schedule_builder.h"

int64_t scheduled_parameter(const struct ccl_call *call, const char *algorithm,
                            const struct ccl_parameter *parameters, uint32_t i)
{
    return strcmp(call->ccl->module, algorithm) == 0 ? call->ccl->parameter[i]
                                                     : parameters[i].value;
}

int scheduled_has_room(const struct ccl_call *call, uint64_t steps, struct cw_error *error)
{
    const int code = schedule_has_room(steps, error);
    if (code != CW_OK && call->no_room != NULL)
        *call->no_room = steps;
    return code;
}

uint32_t scheduled_power(uint32_t n) { return n < 2 ? 1 : 1u << (31 - __builtin_clz(n)); }

uint32_t scheduled_lanes(const struct ccl_call *call)
{
    return cost_lanes(call->hw, cost_mapper(call->ccl));
}
