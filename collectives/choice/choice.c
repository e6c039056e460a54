/*
 * choice.c: the choice among algorithms (choice.h). It reports the estimates of the best two and of
 * all kernels, and the names of the other schedules.
 */
#include "collectives/choice/choice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/schedule_builder.h"

/* ---- what is said ---------------------------------------------------------------------------- */

void choice_say(char why[512], const char *format, ...)
{
    const size_t used = strlen(why);
    va_list args;
    va_start(args, format);
    vsnprintf(why + used, 512 - used, format, args);
    va_end(args);
}

void choice_say_left_out(char why[512], const struct choice_left_out *left_out)
{
    if (left_out->least > 0)
        choice_say(why, "; no room in memory:%s", left_out->names);
}

void choice_leave_out(struct choice_left_out *left_out, const char *name, uint64_t steps)
{
    const size_t used = strlen(left_out->names);
    char said[72];
    snprintf(said, sizeof said, " %s (", name);
    if (strstr(left_out->names, said) != NULL)
        return;
    snprintf(left_out->names + used, sizeof left_out->names - used, "%s %s (%.2g steps)",
             used > 0 ? "," : "", name, (double)steps);
    if (left_out->least == 0 || steps < left_out->least)
        left_out->least = steps;
}

int choice_none_left(const struct choice_left_out *left_out, struct cw_error *error)
{
    return left_out->least > 0 ? schedule_has_room(left_out->least, error) : CW_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* The candidate's name, as its schedule has it. */
static void name_candidate(const struct choice_candidate *candidate, char name[64])
{
    snprintf(name, 64, "%s", candidate->name);
    if (candidate->value > 1)
        snprintf(name, 64, "%s, %d %s", candidate->name, (int)candidate->value, candidate->unit);
}

/* The configuration, as if it named the candidate. */
static struct ccl_config config_of(const struct ccl_call *call,
                                   const struct choice_candidate *candidate)
{
    const struct ccl_algorithm *const algorithm = ccl_algorithm_find(candidate->name);
    struct ccl_config ccl = *call->ccl;
    snprintf(ccl.module, sizeof ccl.module, "%s", algorithm->name);
    for (uint32_t i = 0; i < algorithm->parameter_count; i++)
        ccl.parameter[i] = algorithm->parameters[i].value;
    if (candidate->value > 0)
        ccl.parameter[candidate->parameter] = candidate->value;
    return ccl;
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

struct schedule *choice_schedule(const struct ccl_call *call,
                                 const struct choice_candidate *candidate,
                                 struct choice_left_out *left_out, struct cw_error *error)
{
    const struct ccl_config ccl = config_of(call, candidate);
    struct ccl_call own = *call;
    uint64_t no_room = 0;
    char name[64];
    own.ccl = &ccl;
    own.no_room = &no_room;
    name_candidate(candidate, name);
    struct schedule *const schedule =
        make_checked(&own, ccl_algorithm_find(candidate->name), error);
    if (schedule != NULL) {
        snprintf(schedule->name, sizeof schedule->name, "%s", name);
    } else if (no_room > 0) {
        choice_leave_out(left_out, name, no_room);
        error->exit_code = CW_USAGE;
    }
    /* cppcheck-suppress returnDanglingLifetime ; a schedule keeps nothing of the call */
    return schedule;
}

/* Each thread has a PE: of a SIP, or of a lane its only one. */
static bool has_places(const struct choice_request *request, const struct schedule *schedule)
{
    const struct hw_config *const hw = request->call->hw;
    const uint32_t threads = schedule->rank[0].thread_count;
    return cost_lanes(hw, request->mapper) > 1 ? threads == schedule->parts
                                               : threads <= hw_cubes(hw) * hw_pes(hw);
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* A candidate that can carry out the call. */
struct estimated {
    const struct choice_candidate *candidate;
    const struct ccl_algorithm *algorithm;
    char name[64];
    uint32_t threads, steps; /* of rank 0 of a schedule */
    int64_t ps;              /* COST_LONG: longer than the second best before it */
};

struct choice {
    const struct choice_request *request;
    struct estimated all[CHOICE_MAX];
    uint32_t count;
    int64_t best_ps, second_ps; /* COST_LONG: there is none */
    struct schedule *schedule;  /* of the best */
    struct choice_left_out left_out;
    char refusals[512], advice[256]; /* of kernels: the reasons, and the advice of the last */
};

/* It is one of those before with another value, which makes no difference here. */
static bool is_known(const struct choice *choice, const struct estimated *one)
{
    for (uint32_t i = 0; i < choice->count; i++)
        if (strcmp(choice->all[i].candidate->name, one->candidate->name) == 0 &&
            choice->all[i].threads == one->threads && choice->all[i].steps == one->steps)
            return true;
    return false;
}

/* Says why a kernel is left out. */
static int refuse(struct choice *choice, const char *name, const struct ccl_refusal *refusal)
{
    if (refusal->wrong[0] == '\0')
        return CW_USAGE;
    choice_say(choice->refusals, "; no %s: %s%s%s", name, refusal->wrong,
               refusal->legal[0] != '\0' ? "; " : "", refusal->legal);
    snprintf(choice->advice, sizeof choice->advice, "%s", refusal->advice);
    return CW_USAGE;
}

/* Makes what is estimated: a schedule's sketch, or nothing of a kernel. CW_USAGE: the candidate
 * cannot carry out the call, or is known. */
static int prepare(struct choice *choice, struct estimated *one, struct schedule **schedule,
                   struct cw_error *error)
{
    const struct ccl_call *const call = choice->request->call;
    struct ccl_call sketched = *call;
    struct ccl_refusal refusal = {.wrong = ""};
    *schedule = NULL;
    if (one->candidate->allowed != NULL && !one->candidate->allowed(call, &refusal))
        return refuse(choice, one->name, &refusal);
    if (one->algorithm->schedule == NULL)
        return one->algorithm->check(call, &refusal) == CW_OK ? CW_OK
                                                              : refuse(choice, one->name, &refusal);
    sketched.sketch = true;
    *schedule = choice_schedule(&sketched, one->candidate, &choice->left_out, error);
    if (*schedule == NULL)
        return error->exit_code;
    snprintf(one->name, sizeof one->name, "%s", (*schedule)->name);
    one->threads = (*schedule)->rank[0].thread_count;
    one->steps = (*schedule)->rank[0].step_count;
    return has_places(choice->request, *schedule) && !is_known(choice, one) ? CW_OK : CW_USAGE;
}

/* Estimates a candidate. The schedule of the best one is kept. */
static int consider(struct choice *choice, const struct choice_candidate *candidate,
                    struct cw_error *error)
{
    struct estimated *const one = &choice->all[choice->count];
    struct schedule *schedule;
    *one = (struct estimated){.candidate = candidate,
                              .algorithm = ccl_algorithm_find(candidate->name)};
    name_candidate(candidate, one->name);
    int code = prepare(choice, one, &schedule, error);
    const struct cost_request request = {
        .call = choice->request->call,
        .mapper = choice->request->mapper,
        .algorithm = one->algorithm,
        .schedule = schedule,
        .limit_ps = choice->second_ps == COST_LONG ? 0 : choice->second_ps};
    if (code == CW_OK)
        code = cost_estimate(&request, &one->ps, error);
    choice->count += code == CW_OK;
    if (code == CW_OK && one->ps < choice->best_ps) {
        struct schedule *const worse = choice->schedule;
        choice->second_ps = choice->best_ps;
        choice->best_ps = one->ps;
        choice->schedule = schedule;
        schedule = worse;
    } else if (code == CW_OK && one->ps < choice->second_ps) {
        choice->second_ps = one->ps;
    }
    schedule_free(schedule);
    return code;
}

static int by_estimate(const void *a, const void *b)
{
    const struct estimated *const x = a, *const y = b;
    return x->ps != y->ps ? (x->ps < y->ps ? -1 : 1)
                          : (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* The size; the estimates, the least first; what is longer, and what is left out. */
static void say_why(const struct choice *choice, char why[512])
{
    const struct ccl_call *const call = choice->request->call;
    const unsigned long long bytes = call->n_elem * tl_itemsize(call->dtype);
    choice_say(why, "%llu bytes per shard", bytes);
    uint32_t i = 0;
    for (; i < choice->count && choice->all[i].ps != COST_LONG; i++)
        choice_say(why, "%s %s %.3f us", i == 0 ? "; estimates:" : ",", choice->all[i].name,
                   (double)choice->all[i].ps * 1e-6);
    for (uint32_t first = i; i < choice->count; i++)
        choice_say(why, "%s %s", i == first ? "; longer:" : ",", choice->all[i].name);
    choice_say_left_out(why, &choice->left_out);
    choice_say(why, "%s", choice->refusals);
}

/* The best one; a schedule as a whole, where a sketch will not do. */
static int take_best(struct choice *choice, struct chosen *chosen, struct cw_error *error)
{
    const struct ccl_call *const call = choice->request->call;
    if (choice->count == 0) {
        chosen->algorithm = NULL;
        return choice_none_left(&choice->left_out, error) != CW_OK
                   ? CW_NO_RESOURCE
                   : cw_error_set(error, CW_USAGE, "no schedule of a %s can be carried out here",
                                  ccl_collective_name(call->collective));
    }
    chosen->algorithm = choice->all[0].algorithm;
    chosen->ps = choice->all[0].ps;
    chosen->schedule = choice->schedule;
    if (choice->schedule == NULL || !choice->schedule->sketch || call->sketch)
        return CW_OK;
    schedule_free(choice->schedule);
    chosen->schedule = choice_schedule(call, choice->all[0].candidate, &choice->left_out, error);
    return chosen->schedule != NULL ? CW_OK : error->exit_code;
}

int choose(const struct choice_request *request, struct chosen *chosen, struct cw_error *error)
{
    const int64_t limit_ps = request->limit_ps > 0 ? request->limit_ps : COST_LONG;
    struct choice choice = {.request = request, .best_ps = COST_LONG, .second_ps = limit_ps};
    int code = CW_OK;
    *chosen = (struct chosen){.algorithm = NULL};
    for (uint32_t i = 0; i < request->count && (code == CW_OK || code == CW_USAGE); i++)
        code = consider(&choice, &request->candidates[i], error);
    if (code != CW_OK && code != CW_USAGE) {
        schedule_free(choice.schedule);
        return code;
    }
    qsort(choice.all, choice.count, sizeof *choice.all, by_estimate);
    code = take_best(&choice, chosen, error);
    say_why(&choice, chosen->why);
    snprintf(chosen->advice, sizeof chosen->advice, "%s", choice.advice);
    return code;
}

/* ---- placements ------------------------------------------------------------------------------ */

/* The estimate of one placement. */
static int estimate_placement(const struct choice_request *request, int64_t *ps,
                              struct cw_error *error)
{
    struct ccl_call sketched = *request->call;
    struct choice_request own = *request;
    struct chosen chosen;
    sketched.sketch = true;
    own.call = &sketched;
    const int code = choose(&own, &chosen, error);
    *ps = chosen.ps;
    schedule_free(chosen.schedule);
    return code;
}

int choose_placement(const struct choice_request *requests, uint32_t count,
                     struct choice_placed *placed, struct cw_error *error)
{
    int64_t best_ps = COST_LONG;
    int code = CW_OK, first_code = CW_OK;
    for (uint32_t i = 0; i < count && (code == CW_OK || code == CW_USAGE); i++) {
        struct choice_request request = requests[i];
        struct cw_error own = {.exit_code = CW_OK};
        request.limit_ps = best_ps == COST_LONG ? 0 : best_ps;
        code = estimate_placement(&request, &placed->ps[i], &own);
        placed->ps[i] = code == CW_OK ? placed->ps[i] : COST_LONG;
        if (code == CW_OK && placed->ps[i] < best_ps) {
            best_ps = placed->ps[i];
            placed->best = i;
        }
        if (code != CW_OK && first_code == CW_OK) {
            first_code = code;
            *error = own;
        }
    }
    return best_ps != COST_LONG ? CW_OK : first_code != CW_OK ? first_code : CW_USAGE;
}
