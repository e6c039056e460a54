/*
 * fold_find.c: the widest fold of a machine that its calls allow (fold_find.h).
 *
 * The widest candidates of the topology are tried first as a whole. Where one is not kept, the
 * steps of its digits are made wider until each digit's turns are (hw_fold_narrow()).
 */
#include "collectives/fold/fold_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/fold/fold_rule.h"
#include "collectives/fold/fold_steps.h"
#include "collectives/hook.h"

struct finding {
    const struct fold_request *request;
    const struct hw_config *hw;
    const struct ccl_config *ccl;
    struct fold_steps *steps; /* NULL: no call goes by a schedule */
    /* [count] that carries out each call; NULL: each rank by itself */
    const struct ccl_algorithm **algorithm;
    const struct ccl_algorithm *by_steps; /* that makes the schedule; NULL: none does */
    bool by_rule, by_trees;
    char why[CCL_FOLD_WHY_BYTES]; /* of the last fold that was not kept */
    struct cw_error *error;
    int code; /* not CW_OK: *error is filled */
};

/* ---- kernels --------------------------------------------------------------------------------- */

/* Calls that go by a rule; all others are compared, rank by rank. */
static bool has_rule(const struct finding *f, uint32_t i)
{
    return f->algorithm[i] != NULL && (f->request->by_rules || f->algorithm[i]->schedule == NULL ||
                                       f->hw->sip_count > FOLD_COMPARED_MAX);
}

static bool keeps_kernel(const struct finding *f, uint32_t i, const struct hw_fold *fold, char *why)
{
    const struct ccl_algorithm *const algorithm = f->algorithm[i];
    struct ccl_call call = f->request->calls[i];
    call.hw = f->hw;
    call.ccl = f->ccl;
    call.world_size = f->hw->sip_count;
    if (ccl_algorithm_find(algorithm->name) != algorithm)
        return fold_refuse(why, "%s is of a shared object, whose kernels are not compared",
                           algorithm->name);
    if (algorithm->folds == NULL)
        return fold_refuse(why, "%s has no rule for folds", algorithm->name);
    return algorithm->folds(&call, fold, why);
}

/* ---- a fold ---------------------------------------------------------------------------------- */

/* The machine, and all calls, are the same after each turn of the fold. */
static bool keeps_all(void *arg, const struct hw_fold *fold)
{
    struct finding *const f = arg;
    _Static_assert((int)HW_FOLD_WHY_BYTES <= (int)CCL_FOLD_WHY_BYTES, "a reason has room");
    if (fold->sips == fold->of)
        return true;
    if (f->code != CW_OK || !hw_fold_keeps(f->hw, fold, f->why))
        return false;
    for (uint32_t i = 0; i < f->request->count; i++)
        if (has_rule(f, i) && !keeps_kernel(f, i, fold, f->why))
            return false;
    if (f->by_trees)
        return fold_refuse(f->why, "%s goes through switches that reduce", f->by_steps->name);
    struct cw_error error = {.exit_code = CW_OK};
    if (f->steps == NULL || fold_steps_keep(f->steps, fold, f->why, &error))
        return true;
    if (error.exit_code != CW_OK) {
        f->code = error.exit_code;
        *f->error = error;
    }
    return false;
}

static void find_widest(struct finding *f, struct fold_found *found)
{
    struct hw_fold fold;
    for (uint32_t number = 0;
         f->code == CW_OK && found->fold.sips > 1 && hw_fold_candidate(f->hw, number, &fold);
         number++) {
        if (fold.sips == fold.of)
            (void)fold_refuse(found->why, "SIPs of %s are not alike", f->hw->sip_topology->name);
        if (fold.sips >= found->fold.sips)
            continue;
        bool kept = keeps_all(f, &fold);
        if (!kept && found->why[0] == '\0')
            snprintf(found->why, sizeof found->why, "%s", f->why);
        if (!kept) {
            hw_fold_narrow(&fold, keeps_all, f);
            kept = fold.sips < found->fold.sips && keeps_all(f, &fold);
        }
        if (kept && f->code == CW_OK)
            found->fold = fold;
    }
    if (found->fold.sips == 1)
        found->why[0] = '\0';
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What the ranks are, if nothing folds because of that. */
static bool has_rank_on_each_sip(const struct finding *f, char *why)
{
    const struct ccl_ranks *const ranks = &f->ccl->ranks;
    const uint32_t size = f->ccl->world_size > 0 ? f->ccl->world_size : f->hw->sip_count;
    if (ranks->per_sip > 0)
        return fold_refuse(why, "ranks are PEs (mapper %s)", CCL_RANK_PER_PE);
    if (ranks->mapped)
        return fold_refuse(why, "`mate` or `package` say where ranks are");
    if (ranks->list != NULL || ranks->pes > 0 || size != f->hw->sip_count)
        return fold_refuse(why, "%u of %u SIPs have ranks", size, f->hw->sip_count);
    if (f->request->own_sizes)
        return fold_refuse(why, "messages have sizes of their own");
    return true;
}

static bool is_by_itself(enum ccl_collective collective)
{
    return collective == CCL_MATMUL || collective == CCL_COMPUTE;
}

/* The algorithm of each call. */
static int find_algorithms(struct finding *f)
{
    for (uint32_t i = 0; i < f->request->count; i++) {
        struct ccl_call call = f->request->calls[i];
        call.hw = f->hw;
        call.ccl = f->ccl;
        call.rank = 0;
        call.world_size = f->hw->sip_count;
        if (is_by_itself(call.collective))
            continue;
        f->algorithm[i] = ccl_algorithm_of(&call, NULL, f->error);
        if (f->algorithm[i] == NULL)
            return f->error->exit_code;
        f->by_rule |= has_rule(f, i);
    }
    return CW_OK;
}

/* The call that the plans of the process group make a schedule for (runtime/install_plan.c). */
static struct ccl_call call_of_schedule(const struct finding *f)
{
    return (struct ccl_call){.hw = f->hw,
                             .ccl = f->ccl,
                             .collective = f->by_steps->collective,
                             .world_size = f->hw->sip_count,
                             .n_elem = f->ccl->n_elem,
                             .dtype = LP_F16,
                             .math = LP_MATH_SUM};
}

/* The parts of these ranks of the schedule. */
static struct schedule *make_parts(void *arg, const uint32_t *wanted, uint32_t count,
                                   struct cw_error *error)
{
    const struct finding *const f = arg;
    struct ccl_call call = call_of_schedule(f);
    call.wanted = wanted;
    call.wanted_count = count;
    return schedule_ask(f->by_steps, &call, error);
}

/* The schedule of the process group: the parts of a fold's representatives; or, where there is no
 * fold, all, or rank 0's alone, where the algorithm makes parts. */
static struct schedule *make_schedule(struct finding *f, const struct hw_fold *fold)
{
    static const uint32_t first = 0;
    const struct ccl_call call = call_of_schedule(f);
    struct ccl_refusal refusal;
    if (f->request->schedule != NULL)
        return schedule_share(f->request->schedule);
    if (f->by_steps->check != NULL &&
        CCL_HOOK("check()", f->by_steps->check, (&call, &refusal)) != CW_OK) {
        ccl_refusal_text(&refusal, f->error->text, sizeof f->error->text);
        f->error->exit_code = CW_USAGE;
        return NULL;
    }
    if (fold != NULL)
        return schedule_ask_folded(f->by_steps, &call, fold, f->error);
    return f->by_steps->folds != NULL ? make_parts(f, &first, 1, f->error)
                                      : schedule_ask(f->by_steps, &call, f->error);
}

/* The comparison of the calls that go by a schedule, if there are some. */
static int compare_schedule(struct finding *f, struct fold_found *found, uint64_t *n_elem)
{
    struct fold_steps_request request = {.hw = f->hw, .ccl = f->ccl, .n_elem = n_elem};
    for (uint32_t i = 0; i < f->request->count; i++)
        if (f->algorithm[i] != NULL && !has_rule(f, i)) {
            f->by_steps = f->algorithm[i];
            n_elem[request.count++] = f->request->calls[i].n_elem;
        }
    if (f->by_steps == NULL)
        return CW_OK;
    found->schedule = make_schedule(f, NULL);
    if (found->schedule == NULL)
        return f->error->exit_code;
    request.schedule = found->schedule;
    f->by_trees = found->schedule->sums != NULL;
    if (request.schedule->partial) {
        request.make = make_parts;
        request.arg = f;
        found->schedule = NULL;
    }
    const int code = fold_steps_create(&request, &f->steps, f->error);
    if (request.make != NULL)
        schedule_free(request.schedule);
    return code;
}

/* Where the fold is known by a rule, the schedule has the parts of representatives alone. */
static int make_folded_schedule(struct finding *f, struct fold_found *found)
{
    if (found->fold.sips == found->fold.of || f->request->by_rules)
        return CW_OK;
    for (uint32_t i = 0; i < f->request->count && found->schedule == NULL; i++)
        if (has_rule(f, i) && f->algorithm[i]->schedule != NULL) {
            f->by_steps = f->algorithm[i];
            found->schedule = make_schedule(f, &found->fold);
            if (found->schedule == NULL)
                return f->error->exit_code;
        }
    return CW_OK;
}

int fold_find(const struct fold_request *request, struct fold_found *found, struct cw_error *error)
{
    struct finding f = {.request = request,
                        .hw = &request->config->hw,
                        .ccl = &request->config->ccl,
                        .algorithm = calloc((size_t)request->count + 1, sizeof *f.algorithm),
                        .error = error};
    uint64_t *const n_elem = calloc((size_t)request->count + 1, sizeof *n_elem);
    *found = (struct fold_found){.schedule = NULL};
    hw_fold_none(f.hw, &found->fold);
    f.code = f.algorithm != NULL && n_elem != NULL
                 ? CW_OK
                 : cw_error_memory(error, "the comparison of ranks");
    if (f.code == CW_OK && f.hw->sip_count > 1 && has_rank_on_each_sip(&f, found->why) &&
        fold_asks_built_in(f.ccl, found->why)) {
        f.code = find_algorithms(&f);
        if (f.code == CW_OK)
            f.code = compare_schedule(&f, found, n_elem);
        find_widest(&f, found);
        if (f.code == CW_OK)
            f.code = make_folded_schedule(&f, found);
    }
    found->known = f.by_rule ? FOLD_BY_PROOF : FOLD_BY_COMPARISON;
    fold_steps_free(f.steps);
    free(n_elem);
    free(f.algorithm);
    if (f.code != CW_OK) {
        schedule_free(found->schedule);
        found->schedule = NULL;
    }
    return f.code;
}
