/*
 * scheduled.c: that which the makers of schedules share (scheduled.h).
 */
#include "collectives/algorithms/scheduled/scheduled.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int64_t scheduled_parameter(const struct ccl_call *call, const char *algorithm,
                            const struct ccl_parameter *parameters, uint32_t i)
{
    return strcmp(call->ccl->module, algorithm) == 0 ? call->ccl->parameter[i]
                                                     : parameters[i].value;
}

/* The schedule of an algorithm that the call's configuration names. */
static struct schedule *make_checked(const struct ccl_call *call,
                                     const struct ccl_algorithm *algorithm, struct cw_error *error)
{
    struct ccl_refusal refusal;
    if (algorithm->check == NULL || algorithm->check(call, &refusal) == CW_OK)
        return algorithm->schedule(call, error);
    char text[sizeof refusal];
    ccl_refusal_text(&refusal, text, sizeof text);
    (void)cw_error_set(error, CW_USAGE, "%s", text);
    return NULL;
}

struct schedule *scheduled_make(const struct ccl_call *call,
                                const struct scheduled_candidate *candidate, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = ccl_algorithm_find(candidate->name);
    struct ccl_config ccl = *call->ccl;
    struct ccl_call own = *call;
    own.ccl = &ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", algorithm->name);
    for (uint32_t i = 0; i < algorithm->parameter_count; i++)
        ccl.parameter[i] = algorithm->parameters[i].value;
    if (candidate->value > 0)
        ccl.parameter[candidate->parameter] = candidate->value;
    struct schedule *const schedule = make_checked(&own, algorithm, error);
    if (schedule != NULL && candidate->value > 1)
        snprintf(schedule->name, sizeof schedule->name, "%s, %d %s", algorithm->name,
                 (int)candidate->value, candidate->unit);
    return schedule;
}

void scheduled_say_why(char why[512], const char *format, ...)
{
    const size_t used = strlen(why);
    va_list args;
    va_start(args, format);
    vsnprintf(why + used, 512 - used, format, args);
    va_end(args);
}

uint32_t scheduled_power(uint32_t n) { return n < 2 ? 1 : 1u << (31 - __builtin_clz(n)); }

double scheduled_messages_to_all(const struct ccl_call *call)
{
    const double ways = call->collective == CCL_ALL_REDUCE ? 2 : 1;
    return ways * (call->world_size - 1.0);
}

uint32_t scheduled_lanes(const struct ccl_call *call)
{
    const char *const mapper = call->ccl->mapper;
    return strcmp(mapper, "all_pes") == 0         ? hw_cubes(call->hw) * hw_pes(call->hw)
           : strcmp(mapper, "pe0_all_cubes") == 0 ? hw_cubes(call->hw)
                                                  : 1;
}
