/*
 * scheduled.c: that which the makers of schedules share (scheduled.h).
 */
#include "collectives/algorithms/scheduled/scheduled.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collectives/schedule/schedule_builder.h"

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

/* The candidate's name, as its schedule would have it. */
static void name_candidate(const struct scheduled_candidate *candidate, char name[64])
{
    snprintf(name, 64, "%s", candidate->name);
    if (candidate->value > 1)
        snprintf(name, 64, "%s, %d %s", candidate->name, (int)candidate->value, candidate->unit);
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
    if (schedule != NULL)
        name_candidate(candidate, schedule->name);
    return schedule;
}

int scheduled_has_room(const struct ccl_call *call, uint64_t steps, struct cw_error *error)
{
    const int code = schedule_has_room(steps, error);
    if (code != CW_OK && call->no_room != NULL)
        *call->no_room = steps;
    return code;
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

void scheduled_leave_out(struct scheduled_left_out *left_out, const char *name, uint64_t steps)
{
    const size_t used = strlen(left_out->names);
    char told[72];
    snprintf(told, sizeof told, " %s (", name);
    if (strstr(left_out->names, told) != NULL)
        return;
    snprintf(left_out->names + used, sizeof left_out->names - used, "%s %s (%.2g steps)",
             used > 0 ? "," : "", name, (double)steps);
    if (left_out->least == 0 || steps < left_out->least)
        left_out->least = steps;
}

struct schedule *scheduled_consider(const struct ccl_call *call,
                                    const struct scheduled_candidate *candidate,
                                    struct scheduled_left_out *left_out, struct cw_error *error)
{
    uint64_t no_room = 0;
    char name[64];
    struct ccl_call own = *call;
    own.no_room = &no_room;
    struct schedule *const schedule = scheduled_make(&own, candidate, error);
    if (schedule == NULL && no_room > 0) {
        name_candidate(candidate, name);
        scheduled_leave_out(left_out, name, no_room);
        error->exit_code = CW_USAGE;
    }
    return schedule;
}

int scheduled_none_left(const struct scheduled_left_out *left_out, struct cw_error *error)
{
    return left_out->least > 0 ? schedule_has_room(left_out->least, error) : CW_OK;
}

void scheduled_say_left_out(char why[512], const struct scheduled_left_out *left_out)
{
    if (left_out->least > 0)
        scheduled_say_why(why, "; no room in memory:%s", left_out->names);
}
