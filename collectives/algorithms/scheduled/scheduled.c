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

uint32_t scheduled_power(uint32_t n) { return n < 2 ? 1 : 1u << (31 - __builtin_clz(n)); }

uint32_t scheduled_lanes(const struct ccl_call *call)
{
    const char *const mapper = call->ccl->mapper;
    return strcmp(mapper, "all_pes") == 0         ? hw_cubes(call->hw) * hw_pes(call->hw)
           : strcmp(mapper, "pe0_all_cubes") == 0 ? hw_cubes(call->hw)
                                                  : 1;
}
