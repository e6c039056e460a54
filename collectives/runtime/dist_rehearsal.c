/* dist_rehearsal.c: makes what the first call needs, without a machine, to find its refusals
 * (dist_rehearsal.h). */
#include "collectives/runtime/dist_rehearsal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/plugin.h"
#include "collectives/relay.h"
#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/dist_scratch.h"
#include "collectives/runtime/layout.h"
#include "collectives/schedule/schedule_program.h"

/* `code` is the result of making them, `key` the one at fault. */
static int check_plans(const struct config *config, int code, const char *key,
                       struct install_plans **plans, struct cw_error *error)
{
    if (code == CW_USAGE)
        return dist_refuse(config, key, error);
    if (code == CW_OK)
        code = dist_check_rings(config, install_plans_rings(*plans),
                                install_plans_pes_of_cube(*plans), error);
    if (code != CW_OK) {
        install_plans_free(*plans);
        *plans = NULL;
    }
    return code;
}

int dist_make_plans(const struct config *config, uint32_t world_size, struct install_plans **plans,
                    struct cw_error *error)
{
    const char *key = "defaults.topology";
    const int code = build_install_plans(world_size, config->ccl.algorithm, &config->ccl,
                                         &config->hw, plans, &key, error);
    return check_plans(config, code, key, plans, error);
}

/* Plans for a rehearsal: of a folded machine, those of a run. */
static int sketch_plans(const struct config *config, uint32_t world_size,
                        const struct hw_fold *fold, struct install_plans **plans,
                        struct cw_error *error)
{
    const char *key = "defaults.topology";
    const char *const name = config->ccl.algorithm;
    const int code =
        fold != NULL
            ? build_folded_plans(fold, NULL, name, &config->ccl, &config->hw, plans, &key, error)
            : sketch_install_plans(world_size, name, &config->ccl, &config->hw, plans, &key, error);
    return check_plans(config, code, key, plans, error);
}

/* The tensors of a call, as the benches make them. */
struct rehearsal {
    const struct config *config;
    const struct ccl_call *call;
    const struct install_plans *plans;
    const struct ccl_choice *by_call; /* the algorithm that carries the call out */
    struct tensor_space *space;
    const struct hw_fold *fold;        /* NULL: every rank is rehearsed; else representatives' */
    uint32_t live;                     /* ranks that are */
    struct tensor **results, **others; /* [live]; others: inputs that are not results */
    uint32_t made;                     /* ranks that have them */
};

/* The rank at a place of r->results. */
static uint32_t rank_at(const struct rehearsal *r, uint32_t slot)
{
    return r->fold != NULL ? hw_fold_sip(r->fold, slot) : slot;
}

static struct tensor *place_tensor(const struct rehearsal *r, uint32_t rank, uint64_t n_elem,
                                   struct cw_error *error)
{
    const struct dp_policy rows = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};
    const struct sip_install_plan plan = install_plan_of(r->plans, rank);
    const bool by_rows =
        r->call->collective == CCL_REDUCE_SCATTER && plan.algorithm->schedule == NULL;
    struct dp_policy policy = by_rows ? rows : install_plan_policy(r->plans);
    const struct hw_config *const hw = r->call->hw;
    const uint64_t cubes = policy.num_cubes != 0 ? policy.num_cubes : hw_cubes(hw);
    const uint64_t pes = policy.num_pes != 0 ? policy.num_pes : hw_pes(hw);
    if (cubes * pes == 1)
        policy.first_pe = plan.pe_of_sip;
    const struct tensor_shape shape = {policy.cube == DP_ROW_WISE ? cubes : 1,
                                       policy.pe == DP_COLUMN_WISE ? pes * n_elem : n_elem};
    return tensor_create(r->space, plan.sip, shape, (enum dtype)r->call->dtype, &policy, error);
}

static int place_tensors(struct rehearsal *r, uint32_t slot, struct cw_error *error)
{
    const uint32_t rank = rank_at(r, slot);
    const uint64_t n_elem = r->call->n_elem, ranks = r->call->world_size;
    const bool scatters = r->call->collective == CCL_REDUCE_SCATTER;
    const bool gathers = r->call->collective == CCL_ALL_GATHER;
    r->made = slot + 1;
    if (scatters || gathers || r->call->collective == CCL_ALL_TO_ALL) {
        r->others[slot] = place_tensor(r, rank, n_elem, error);
        if (r->others[slot] == NULL)
            return error->exit_code;
    }
    const uint64_t of_result = scatters ? n_elem / ranks : gathers ? n_elem * ranks : n_elem;
    r->results[slot] = place_tensor(r, rank, of_result, error);
    return r->results[slot] != NULL ? CW_OK : error->exit_code;
}

/* The PEs that take a shard each, as dist_call.c has them, where the configured algorithm carries
 * the call out itself. An algorithm that goes by shards is on the PEs that have one. */
static int rehearse_layout(const struct rehearsal *r, struct cw_error *error)
{
    const struct schedule_program *const program = install_plans_program(r->plans);
    const struct ccl_algorithm *const algorithm = r->by_call->algorithm;
    const struct hw_config *const hw = r->call->hw;
    if (algorithm != install_plan_of(r->plans, 0).algorithm || algorithm->machine.lanes)
        return CW_OK;
    uint32_t *const pes = malloc((size_t)hw_cubes(hw) * hw_pes(hw) * sizeof *pes);
    int code = pes != NULL ? CW_OK : cw_error_memory(error, "the rehearsal of a call");
    for (uint32_t slot = 0; slot < r->live && code == CW_OK; slot++) {
        const uint32_t rank = rank_at(r, slot);
        const uint32_t count = program != NULL ? schedule_program_homes(program, rank, pes)
                                               : install_plan_participants(r->plans, rank, pes);
        const struct layout_need need = {.hw = hw,
                                         .algorithm = ccl_algorithm_label(r->call->ccl, algorithm),
                                         .pe = pes,
                                         .pes = count,
                                         .together = ccl_adds_all_shards(algorithm),
                                         .may_have_more = plugin_is_path(r->call->ccl->validator)};
        code = layout_check(&need, rank, r->results[slot], r->others[slot], error);
    }
    free(pes);
    return code;
}

/* Checks that tensors have room, and that the validators accept the results. */
static int rehearse_tensors(struct rehearsal *r, struct cw_error *error)
{
    int code = CW_OK;
    for (uint32_t slot = 0; slot < r->live && code == CW_OK; slot++)
        code = place_tensors(r, slot, error);
    const struct tensor_group group = {r->results, r->live};
    if (code == CW_OK)
        code = install_plans_validate(r->plans, r->by_call->algorithm, &group, error);
    if (code == CW_OK)
        code = rehearse_layout(r, error);
    return code == CW_USAGE ? dist_refuse(r->config, "defaults.validator", error) : code;
}

/* Checks that scratch fits beside the tensors; all ranks are alike. */
static int rehearse_scratch(const struct rehearsal *r, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = r->by_call->algorithm;
    const uint64_t bytes = dist_scratch_bytes(r->plans, algorithm, r->call);
    const struct dp_policy policy = dist_scratch_policy(r->plans);
    struct cw_error found;
    struct tensor *const scratch =
        bytes > 0 ? tensor_create_bytes(r->space, install_plan_of(r->plans, 0).sip, bytes, 0,
                                        &policy, &found)
                  : NULL;
    if (bytes > 0 && scratch == NULL)
        return cw_error_set(error, (enum cw_exit)found.exit_code, "scratch of %s: %s",
                            algorithm->name, found.text);
    tensor_free(scratch);
    return CW_OK;
}

/* Checks that the queues join all ranks, if the kernel follows a tree of them. */
static int rehearse_relay(const struct rehearsal *r, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = install_plan_of(r->plans, 0).algorithm;
    struct relay relay;
    if (algorithm->machine.relay == CCL_RELAY_NONE)
        return CW_OK;
    const int code =
        install_plans_relay(r->plans, 0, algorithm->machine.relay == CCL_RELAY_BOTH, &relay, error);
    if (code == CW_OK)
        relay_free(&relay);
    return code == CW_USAGE ? dist_refuse(r->config, "defaults.topology", error) : code;
}

static void drop_tensors(struct rehearsal *r)
{
    for (uint32_t slot = 0; slot < r->made; slot++) {
        tensor_free(r->results[slot]);
        tensor_free(r->others[slot]);
    }
    free(r->results);
    free(r->others);
    tensor_space_free(r->space);
}

static int rehearse_call(struct rehearsal *r, struct cw_error *error)
{
    const struct ccl_config *const ccl = &r->config->ccl;
    const uint32_t own = install_plans_rings(r->plans);
    const uint64_t rings = ccl->queues.slots != HW_MEMORY_HBM ? 0
                           : own == 0
                               ? dist_ring_bytes(r->config, HW_MEMORY_HBM)
                               : (uint64_t)own * ccl->queues.n_slots * ccl->queues.slot_bytes;
    r->space = tensor_space_create(&r->config->hw, NULL, rings);
    r->results = calloc(r->live, sizeof *r->results);
    r->others = calloc(r->live, sizeof *r->others);
    int code = r->space != NULL && r->results != NULL && r->others != NULL
                   ? rehearse_relay(r, error)
                   : cw_error_memory(error, "the rehearsal of a call");
    if (code == CW_OK && r->call->collective != CCL_BARRIER)
        code = rehearse_tensors(r, error);
    if (code == CW_OK && r->call->collective != CCL_BARRIER)
        code = rehearse_scratch(r, error);
    drop_tensors(r);
    return code;
}

static void note_choice(const struct rehearsal *r, struct dist_choice *choice)
{
    const struct schedule_program *const program = install_plans_program(r->plans);
    const struct ccl_choice *const by_call = r->by_call;
    const struct ccl_algorithm *const algorithm = by_call->algorithm;
    const struct schedule *const schedule =
        program != NULL && algorithm->schedule != NULL ? program->schedule : NULL;
    snprintf(choice->name, sizeof choice->name, "%s",
             schedule != NULL ? schedule->name : algorithm->name);
    snprintf(choice->why, sizeof choice->why, "%s%s%s",
             schedule != NULL ? schedule->why : by_call->why,
             by_call->advice[0] != '\0' ? "; " : "", by_call->advice);
}

int dist_rehearse(const struct config *config, const struct ccl_call *call,
                  const struct hw_fold *fold, struct dist_choice *choice, struct cw_error *error)
{
    struct install_plans *plans;
    struct ccl_choice by_call;
    int code = dist_check_choice(config, call, &by_call, error);
    if (code == CW_OK)
        code = sketch_plans(config, call->world_size, fold, &plans, error);
    if (code != CW_OK)
        return code;
    struct rehearsal rehearsal = {.config = config,
                                  .call = call,
                                  .plans = plans,
                                  .by_call = &by_call,
                                  .fold = fold,
                                  .live = fold != NULL ? fold->sips : call->world_size};
    if (by_call.algorithm == install_plan_of(plans, 0).algorithm)
        code = dist_check_own_rings(config, by_call.algorithm, call, install_plans_rings(plans),
                                    error);
    if (code == CW_OK)
        code = rehearse_call(&rehearsal, error);
    if (code == CW_OK)
        note_choice(&rehearsal, choice);
    install_plans_free(plans);
    return code;
}
