/*
 * install_plan.c: composes topology, mapper and algorithm to plans (install_plan.h).
 */
#include "collectives/runtime/install_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/hook.h"
#include "collectives/plugin.h"
#include "collectives/runtime/dist_world.h"
#include "collectives/schedule/schedule_program.h"
#include "collectives/topologies.h"
#include "lp/queues/queue_ends.h"

struct install_plans {
    const char *algorithm_name;
    uint32_t world_size;
    uint32_t live;              /* ranks that have plans */
    const struct hw_fold *fold; /* which these are; NULL: all */
    const struct ccl_config *config;
    const struct hw_config *hw;
    const struct ccl_algorithm *algorithm;
    ccl_mapper_fn mapper;       /* NULL: the algorithm says itself */
    ccl_validator_fn validator; /* NULL: any tensor */
    struct logical logical;
    /* The PEs that a logical topology joins: lane i joins the i-th PE of each rank. */
    uint32_t lanes;
    uint32_t *lane_pe; /* [live rank * lanes + lane]: its number in the SIP; NULL: 0 alone */
    struct schedule *schedule; /* of an algorithm that is one; else NULL */
    bool sketch;               /* it may be a sketch */
    bool places_only;          /* it has no steps and no queues, since there are very many */
    bool policy_only;          /* no rank's plan is asked for: there are no queues */
    bool joined;               /* the ranks have queues of their own */
    struct schedule_program *program;
    struct lp_wiring *wiring;
    struct lp_plan *queues;
};

/* ---- live ranks ------------------------------------------------------------------------------ */

static uint32_t rank_at(const struct install_plans *plans, uint32_t slot)
{
    return plans->fold == NULL ? slot : hw_fold_sip(plans->fold, slot);
}

/* Of a rank, or of the one that stands for it. */
static uint32_t slot_of(const struct install_plans *plans, uint32_t rank)
{
    return plans->fold == NULL
               ? rank
               : hw_fold_index(plans->fold, hw_fold_representative(plans->fold, rank));
}

/* The PEs of a live rank that a logical topology joins. */
static uint32_t *lanes_of_rank(const struct install_plans *plans, uint32_t rank)
{
    return plans->lane_pe + (size_t)slot_of(plans, rank) * plans->lanes;
}

/* ---- building -------------------------------------------------------------------------------- */

static int install_plan_no_memory(struct cw_error *error)
{
    return cw_error_memory(error, "the install plans");
}

static int neighbours(void *arg, uint32_t slot, struct lp_neighbours *out, struct cw_error *error)
{
    const struct install_plans *plans = arg;
    (void)error;
    logical_neighbours_of(plans->algorithm, &plans->logical, plans->config->parameter,
                          rank_at(plans, slot), out);
    for (uint32_t i = 0; plans->fold != NULL && i < out->count && i < HW_DIRS_MAX; i++) {
        out->at[i].sip = out->at[i].rank;
        out->at[i].rank = slot_of(plans, out->at[i].sip);
    }
    return CW_OK;
}

/* ---- the PEs of the mapper ------------------------------------------------------------------- */

/* The algorithm's own call, as far as it says which PEs take part. */
static struct ccl_call call_of_plan(const struct install_plans *plans, uint32_t rank)
{
    return (struct ccl_call){.hw = plans->hw,
                             .ccl = plans->config,
                             .collective = plans->algorithm->collective,
                             .rank = rank,
                             .world_size = plans->world_size};
}

/* The PEs of a SIP that the ranks have: the first one's number, cubes, and PEs in each. */
struct share {
    uint32_t first, cubes, pes;
    bool all;
};
static struct share share_of(const struct install_plans *plans)
{
    const struct ccl_ranks *const ranks = &plans->config->ranks;
    const uint32_t cubes = hw_cubes(plans->hw), pes = hw_pes(plans->hw);
    if (ranks->pes == 0 || ranks->pes == cubes * pes)
        return (struct share){0, cubes, pes, true};
    const bool whole = ranks->first_pe % pes == 0 && ranks->pes % pes == 0;
    return (struct share){ranks->first_pe, whole ? ranks->pes / pes : 1, whole ? pes : ranks->pes,
                          false};
}

/* A mapper sees a rank's share as the beginning of its SIP. */
static bool takes_part(const struct install_plans *plans, const struct ccl_call *call,
                       uint32_t cube, uint32_t pe)
{
    const struct share share = share_of(plans);
    if (!share.all) {
        const uint32_t at = cube * hw_pes(plans->hw) + pe - share.first; /* wraps below it */
        if (at >= share.cubes * share.pes)
            return false;
        cube = at / share.pes;
        pe = at % share.pes;
    }
    return plans->mapper != NULL
               ? CCL_HOOK("mapper", plans->mapper, (plans->hw, call->rank, cube, pe))
               : CCL_HOOK("takes_part()", plans->algorithm->takes_part, (call, cube, pe));
}

/* The numbers of the PEs that the mapper names in a rank's SIP, or the algorithm, if there is no
 * mapper. Returns how many. */
static uint32_t mapped_pes(const struct install_plans *plans, uint32_t rank, uint32_t *pe_of_sip)
{
    const struct ccl_call call = call_of_plan(plans, rank);
    uint32_t count = 0;
    for (uint32_t cube = 0; cube < hw_cubes(plans->hw); cube++)
        for (uint32_t pe = 0; pe < hw_pes(plans->hw); pe++)
            if (takes_part(plans, &call, cube, pe))
                pe_of_sip[count++] = cube * hw_pes(plans->hw) + pe;
    return count;
}

/* The hook that names PEs, for messages. */
static const char *mapper_name(const struct install_plans *plans)
{
    return plans->mapper == NULL              ? "takes_part()"
           : plans->config->mapper[0] != '\0' ? plans->config->mapper
                                              : "leader_only";
}

/* What a loaded mapper names: at least one PE, and PEs that the kernel can run on. */
static int check_mapped(const struct install_plans *plans, uint32_t rank, const uint32_t *pe,
                        uint32_t count, struct cw_error *error)
{
    if (count == 0)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "mapper: %s of %s names no PE of SIP %u, which is rank %u; legal: at "
                            "least one",
                            mapper_name(plans), plans->algorithm_name,
                            ccl_sip_of(&plans->config->ranks, rank), rank);
    if (plans->mapper != NULL && !ccl_mapper_suits(plans->algorithm, plans->hw, rank, pe, count)) {
        struct ccl_refusal refusal;
        (void)ccl_mapper_refuse(mapper_name(plans), plans->algorithm, &refusal);
        ccl_refusal_text(&refusal, error->text, sizeof error->text);
        return error->exit_code = CW_USAGE;
    }
    return CW_OK;
}

/* A rank's PEs become lanes: as many as rank 0's. */
static int add_lanes(struct install_plans *plans, uint32_t rank, const uint32_t *pe, uint32_t count,
                     struct cw_error *error)
{
    if (rank == 0) {
        plans->lanes = count;
        plans->lane_pe = malloc((size_t)plans->live * count * sizeof *plans->lane_pe);
        if (plans->lane_pe == NULL)
            return install_plan_no_memory(error);
    }
    if (count != plans->lanes)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "mapper: %s of %s names %u PEs of rank %u and %u of rank 0; legal: as "
                            "many of each rank, since a logical topology joins them lane by lane",
                            mapper_name(plans), plans->algorithm_name, count, rank, plans->lanes);
    memcpy(lanes_of_rank(plans, rank), pe, count * sizeof *pe);
    return CW_OK;
}

/* The leader of each SIP alone: that needs no list. */
static void forget_leaders(struct install_plans *plans)
{
    for (uint32_t i = 0; i < plans->live; i++)
        if (plans->lanes != 1 || plans->lane_pe[i] != 0)
            return;
    free(plans->lane_pe);
    plans->lane_pe = NULL;
}

/* Looks at the PEs of all ranks, if the mapper is loaded, or if a logical topology joins them. */
static int find_lanes(struct install_plans *plans, bool joins, const char **key,
                      struct cw_error *error)
{
    const bool loaded =
        plugin_is_path(plans->mapper != NULL ? plans->config->mapper : plans->config->module);
    int code = CW_OK;
    *key = "defaults.mapper";
    if ((!loaded && !joins) || plans->config->ranks.per_sip > 0)
        return CW_OK;
    uint32_t *const pe = malloc((size_t)hw_cubes(plans->hw) * hw_pes(plans->hw) * sizeof *pe);
    if (pe == NULL)
        return install_plan_no_memory(error);
    for (uint32_t i = 0; i < plans->live && code == CW_OK; i++) {
        const uint32_t rank = rank_at(plans, i), count = mapped_pes(plans, rank, pe);
        if (loaded)
            code = check_mapped(plans, rank, pe, count, error);
        if (code == CW_OK && joins)
            code = add_lanes(plans, rank, pe, count, error);
    }
    free(pe);
    if (code == CW_OK && joins)
        forget_leaders(plans);
    return code;
}

/* The lane of a PE; plans->lanes: it is in none. */
static uint32_t lane_of(const struct install_plans *plans, uint32_t rank, uint32_t pe_of_sip)
{
    const uint32_t *const pe = lanes_of_rank(plans, rank);
    uint32_t lane = 0;
    while (lane < plans->lanes && pe[lane] != pe_of_sip)
        lane++;
    return lane;
}

/* The PEs of each live rank that a logical topology joins, [live rank * lanes + lane]. NULL: out of
 * memory.
 */
static uint32_t *joined_pes(const struct install_plans *plans, uint32_t lanes)
{
    const struct ccl_ranks *const ranks = &plans->config->ranks;
    const uint32_t per_sip = hw_cubes(plans->hw) * hw_pes(plans->hw);
    uint32_t *const pe = malloc((size_t)plans->live * lanes * sizeof *pe), *next = pe;
    for (uint32_t i = 0; i < plans->live && pe != NULL; i++)
        for (uint32_t lane = 0; lane < lanes; lane++) {
            const uint32_t rank = rank_at(plans, i);
            *next++ = ccl_sip_of(ranks, rank) * per_sip + (plans->lane_pe != NULL
                                                               ? lanes_of_rank(plans, rank)[lane]
                                                               : ccl_pe_of(ranks, rank));
        }
    return pe;
}

/* Joins the ranks' PEs, lane by lane. */
static int wire_ranks(struct install_plans *plans, struct cw_error *error)
{
    const uint32_t lanes = plans->lane_pe != NULL ? plans->lanes : 1;
    uint32_t *const pe = joined_pes(plans, lanes);
    if (pe == NULL)
        return install_plan_no_memory(error);
    const struct lp_wiring_request request = {.hw = plans->hw,
                                              .fold = plans->fold,
                                              .ranks = plans->live,
                                              .lanes = lanes,
                                              .pe = pe,
                                              .wired = plans->config->ranks.per_sip > 0
                                                           ? LP_WIRED_PLACES
                                                       : plans->lane_pe != NULL ? LP_WIRED_SIPS
                                                                                : LP_WIRED_BY_PLAN,
                                              .credit_bytes = plans->config->queues.credit_bytes,
                                              .neighbours = neighbours,
                                              .arg = plans};
    const int code = lp_wiring_create(&request, &plans->wiring, error);
    free(pe);
    return code;
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* The PEs of a group's SIPs, one after the other, as places: a PE has the queues within its SIP
 * that the machine has, and global_E and global_W to the next SIP and the one before, in a ring. */
static int neighbours_of_sips(void *arg, uint32_t place, struct lp_neighbours *out,
                              struct cw_error *error)
{
    const struct install_plans *const plans = arg;
    const uint32_t per_sip = hw_cubes(plans->hw) * hw_pes(plans->hw), ranks = plans->world_size;
    const uint32_t rank = place / per_sip, at = place % per_sip;
    const struct hw_place here = hw_place_of(plans->hw, at);
    (void)error;
    out->count = 0;
    for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
        const bool global = dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
        struct hw_place to;
        if (global ? ranks < 2 || (dir != HW_DIR_GLOBAL_E && dir != HW_DIR_GLOBAL_W)
                   : (dir >= HW_DIR_INTRA_N && plans->config->wiring == CCL_WIRING_PE0) ||
                         !hw_dir_neighbour(plans->hw, here, dir, &to))
            continue;
        struct lp_neighbour *const next = &out->at[out->count++];
        snprintf(next->dir, sizeof next->dir, "%s", hw_dir_name(dir));
        next->rank = !global
                         ? rank * per_sip + hw_pe_index(plans->hw, to)
                         : (rank + (dir == HW_DIR_GLOBAL_E ? 1 : ranks - 1)) % ranks * per_sip + at;
    }
    return CW_OK;
}

/* Of a group that is not the world: queues in its SIPs and between them, where the world has those
 * that the machine is built with. */
static int wire_sips(struct install_plans *plans, struct cw_error *error)
{
    const uint32_t per_sip = hw_cubes(plans->hw) * hw_pes(plans->hw);
    const uint32_t places = plans->world_size * per_sip;
    uint32_t *const pe = malloc(places * sizeof *pe);
    if (pe == NULL)
        return install_plan_no_memory(error);
    for (uint32_t i = 0; i < places; i++)
        pe[i] = ccl_sip_of(&plans->config->ranks, i / per_sip) * per_sip + i % per_sip;
    const struct lp_wiring_request request = {.hw = plans->hw,
                                              .ranks = places,
                                              .lanes = 1,
                                              .pe = pe,
                                              .wired = LP_WIRED_BY_PLAN,
                                              .routed = true,
                                              .credit_bytes = plans->config->queues.credit_bytes,
                                              .neighbours = neighbours_of_sips,
                                              .arg = plans};
    const int code = lp_wiring_create(&request, &plans->wiring, error);
    free(pe);
    return code;
}

/* The queues of a logical topology or a hook, if there are any. */
static int wire(struct install_plans *plans, const char **key, struct cw_error *error)
{
    *key = "defaults.topology";
    int code =
        logical_find(plans->config->topology, plans->world_size, plans->hw, &plans->logical, error);
    if (code != CW_OK)
        return code;
    if (plans->algorithm->neighbors == NULL && strcmp(plans->config->topology, LOGICAL_CUSTOM) == 0)
        return cw_error_set(
            error, CW_USAGE,
            "topology custom: the module of %s has no neighbors() hook, which would "
            "say who is joined with whom; legal: a module with one, or a topology "
            "by name, such as ring_1d",
            plans->algorithm_name);
    if (plans->logical.kind == LOGICAL_NONE && plans->algorithm->neighbors == NULL &&
        plans->config->ranks.per_sip > 0) {
        *key = "defaults.mapper";
        return cw_error_set(error, CW_USAGE,
                            "mapper: ranks are PEs (" CCL_RANK_PER_PE
                            ") in a logical topology only, such as ring_1d, and %s has none",
                            plans->algorithm_name);
    }
    const bool by_machine =
        plans->logical.kind == LOGICAL_NONE && plans->algorithm->neighbors == NULL;
    if (by_machine && !share_of(plans).all)
        return cw_error_set(error, CW_USAGE,
                            "%s takes all PEs of a SIP, and the group has lanes %u to %u; legal: "
                            "all, or an algorithm with queues of its own",
                            plans->algorithm_name, plans->config->ranks.first_pe,
                            plans->config->ranks.first_pe + plans->config->ranks.pes - 1);
    plans->joined = !by_machine || plans->config->ranks.list != NULL;
    code = find_lanes(plans, !by_machine, key, error);
    if (code != CW_OK || plans->policy_only)
        return code;
    if (by_machine && plans->config->ranks.list != NULL)
        return wire_sips(plans, error);
    if (by_machine) {
        *key = "defaults.world_size";
        /* one that puts into its peers' memories needs no queues: its ranks are the first SIPs */
        if (plans->world_size == plans->hw->sip_count || plans->algorithm->machine.peers != NULL)
            return CW_OK;
        return cw_error_set(error, CW_USAGE, "world_size %u: %s takes all %u SIPs; leave it out",
                            plans->world_size, plans->algorithm_name, plans->hw->sip_count);
    }
    *key = plans->algorithm->neighbors != NULL ? "defaults.module" : "defaults.topology";
    return wire_ranks(plans, error);
}

/* ---- schedules ------------------------------------------------------------------------------- */

static int neighbours_of_place(void *arg, uint32_t place, struct lp_neighbours *out,
                               struct cw_error *error)
{
    (void)error;
    schedule_program_neighbours(arg, place, out);
    return CW_OK;
}

/* Joins the PEs that carry out threads. */
static int wire_threads(struct install_plans *plans, struct cw_error *error)
{
    const uint32_t places = schedule_program_places(plans->program, NULL);
    uint32_t *const pe = malloc((size_t)places * sizeof *pe);
    if (pe == NULL)
        return install_plan_no_memory(error);
    (void)schedule_program_places(plans->program, pe);
    const struct lp_wiring_request request = {.hw = plans->hw,
                                              .fold = plans->fold,
                                              .ranks = places,
                                              .lanes = 1,
                                              .pe = pe,
                                              .wired = LP_WIRED_MACHINE,
                                              .credit_bytes = plans->config->queues.credit_bytes,
                                              .neighbours = neighbours_of_place,
                                              .arg = plans->program};
    const int code = lp_wiring_create(&request, &plans->wiring, error);
    free(pe);
    if (code == CW_OK)
        schedule_program_take_directions(plans->program, plans->wiring);
    return code;
}

/* The lanes that the mapper chooses: PEs of a SIP, each with a shard of its own. None, where there
 * is one shard of each of the schedule's ranks. */
static struct program_request lanes_of(const struct install_plans *plans)
{
    const struct share share = share_of(plans);
    const uint32_t cubes = share.cubes, pes = share.pes;
    const bool all = strcmp(plans->config->mapper, "all_pes") == 0;
    const bool first = strcmp(plans->config->mapper, "pe0_all_cubes") == 0;
    const uint32_t lanes = plans->algorithm->machine.members ? 1
                           : all                             ? cubes * pes
                           : first                           ? cubes
                                                             : 1;
    return (struct program_request){.schedule = plans->schedule,
                                    .hw = plans->hw,
                                    .ccl = plans->config,
                                    .lanes = lanes > 1 ? lanes : 0,
                                    .lanes_apart = all ? 1 : pes};
}

/* For questions alone, very many steps of an algorithm are not laid: their rings never fill up
 * forever. Those of a file may. */
static bool has_places_only(const struct install_plans *plans)
{
    enum { STEPS_MAX = 1000000 };
    return plans->schedule->sketch ||
           (plans->sketch && plans->schedule->file == NULL && plans->schedule->steps > STEPS_MAX);
}

/* A loaded mapper names the PEs that the schedule takes: it goes by the built-in mappers' names. */
static int check_mapper_of_schedule(const struct install_plans *plans, struct cw_error *error)
{
    const uint32_t per_sip = hw_cubes(plans->hw) * hw_pes(plans->hw);
    bool same = true;
    if (!plugin_is_path(plans->config->mapper))
        return CW_OK;
    uint32_t *const pe = malloc(2 * (size_t)per_sip * sizeof *pe);
    if (pe == NULL)
        return install_plan_no_memory(error);
    int code = CW_OK;
    for (uint32_t slot = 0; slot < plans->live && same && code == CW_OK; slot++) {
        const uint32_t rank = rank_at(plans, slot);
        const uint32_t count = mapped_pes(plans, rank, pe);
        const uint32_t first = ccl_sip_of(&plans->config->ranks, rank) * per_sip;
        if (count == 0)
            code = check_mapped(plans, rank, pe, count, error);
        same = count == schedule_program_homes(plans->program, rank, pe + per_sip);
        for (uint32_t i = 0; i < count && same; i++)
            same = pe[i] + first == pe[per_sip + i];
    }
    free(pe);
    if (same || code != CW_OK)
        return code;
    return cw_error_set(error, CW_USAGE,
                        "mapper: %s takes the PEs of a mapper by its name, and %s names others; "
                        "legal: leader_only, pe0_all_cubes, all_pes",
                        plans->algorithm_name, plans->config->mapper);
}

/* Makes the schedule, if there is none yet; in a folded world the representatives' parts. */
static int make_schedule(struct install_plans *plans, const struct ccl_call *call,
                         struct cw_error *error)
{
    struct schedule *const given = plans->schedule;
    if (given != NULL && (plans->fold == NULL || given->fold != NULL))
        return CW_OK;
    if (given != NULL) {
        plans->schedule = schedule_folded(given, plans->fold);
        schedule_free(given);
        return plans->schedule != NULL ? CW_OK : install_plan_no_memory(error);
    }
    plans->schedule = plans->fold != NULL
                          ? schedule_ask_folded(plans->algorithm, call, plans->fold, error)
                          : schedule_ask(plans->algorithm, call, error);
    return plans->schedule != NULL ? CW_OK : error->exit_code;
}

/* Makes the schedule, maps it to the machine, and joins its threads. */
static int wire_schedule(struct install_plans *plans, const char **key, struct cw_error *error)
{
    const struct ccl_call call = {.hw = plans->hw,
                                  .ccl = plans->config,
                                  .collective = plans->algorithm->collective,
                                  .world_size = plans->world_size,
                                  .n_elem = plans->config->n_elem,
                                  .dtype = LP_F16,
                                  .math = LP_MATH_SUM,
                                  .sketch = plans->sketch};
    *key = "defaults.topology";
    if (strcmp(plans->config->topology, "none") != 0)
        return cw_error_set(error, CW_USAGE,
                            "topology: %s lays its own queues between any SIPs; legal is none",
                            plans->algorithm_name);
    *key = "defaults.module";
    struct ccl_refusal refusal = {.key = NULL};
    if (plans->algorithm->check != NULL &&
        CCL_HOOK("check()", plans->algorithm->check, (&call, &refusal)) != CW_OK) {
        *key = refusal.key != NULL ? refusal.key : *key;
        ccl_refusal_text(&refusal, error->text, sizeof error->text);
        return error->exit_code = CW_USAGE;
    }
    if (make_schedule(plans, &call, error) != CW_OK)
        return error->exit_code;
    struct program_request request = lanes_of(plans);
    plans->places_only = has_places_only(plans);
    request.places_only = plans->places_only;
    plans->program = schedule_program_create(&request, error);
    if (plans->program == NULL)
        return error->exit_code;
    *key = "defaults.mapper";
    if (check_mapper_of_schedule(plans, error) != CW_OK)
        return error->exit_code;
    *key = "defaults.module";
    return plans->places_only ? CW_OK : wire_threads(plans, error);
}

const struct schedule_program *install_plans_program(const struct install_plans *plans)
{
    return plans != NULL ? plans->program : NULL;
}

static int resolve_names(struct install_plans *plans, const char **key, struct cw_error *error)
{
    const struct ccl_config *config = plans->config;
    *key = "defaults.module";
    plans->algorithm = ccl_algorithm_load(config->module, error);
    if (plans->algorithm == NULL)
        return error->exit_code;
    if (config->module_unread)
        return cw_error_set(error, CW_USAGE,
                            "%.300s could not be read when the configuration was made, and can be "
                            "now: run again",
                            config->module);
    *key = "defaults.mapper";
    if (config->mapper[0] != '\0' || plans->algorithm->takes_part == NULL)
        plans->mapper = ccl_mapper_find(config->mapper[0] != '\0'   ? config->mapper
                                        : config->ranks.per_sip > 0 ? CCL_RANK_PER_PE
                                                                    : "leader_only",
                                        error);
    if (plans->mapper == NULL && plans->algorithm->takes_part == NULL)
        return error->exit_code;
    if (plans->mapper == NULL && config->mapper[0] != '\0')
        return error->exit_code;
    *key = "defaults.validator";
    if (config->validator[0] != '\0' &&
        (plans->validator = ccl_validator_find(config->validator, error)) == NULL)
        return error->exit_code;
    return CW_OK;
}

/* Plans with the names resolved, without queues. */
static int begin_plans(uint32_t world_size, const char *algorithm, const struct ccl_config *config,
                       const struct hw_config *spec, struct install_plans **out, const char **key,
                       struct cw_error *error)
{
    *out = NULL;
    *key = "defaults.world_size";
    const bool are_pes = config->ranks.per_sip > 0;
    const uint32_t places = spec->sip_count * (are_pes ? config->ranks.per_sip : 1);
    if (world_size == 0 || world_size > places)
        return cw_error_set(error, CW_USAGE, "world_size %u: a rank is a %s; legal: 1 to %u",
                            world_size, are_pes ? "PE" : "SIP", places);
    struct install_plans *const plans = calloc(1, sizeof *plans);
    if (plans == NULL)
        return install_plan_no_memory(error);
    plans->algorithm_name = algorithm;
    plans->world_size = plans->live = world_size;
    plans->config = config;
    plans->hw = spec;
    *out = plans;
    return resolve_names(plans, key, error);
}

/* Plans with their names resolved get their queues; a sketch gets none. On failure they are
 * freed. */
static int end_plans(struct install_plans **out, int code, const char **key, struct cw_error *error)
{
    struct install_plans *const plans = *out;
    if (code == CW_OK)
        code = plans->algorithm->schedule != NULL ? wire_schedule(plans, key, error)
                                                  : wire(plans, key, error);
    if (code == CW_OK && !plans->places_only && !plans->policy_only) {
        plans->queues = dist_queue_plan(plans->config, plans->hw, plans->wiring, NULL, plans->fold);
        code = plans->queues != NULL ? CW_OK : install_plan_no_memory(error);
    }
    if (code != CW_OK) {
        install_plans_free(plans);
        *out = NULL;
    }
    return code;
}

int build_install_plans(uint32_t world_size, const char *algorithm, const struct ccl_config *config,
                        const struct hw_config *spec, struct install_plans **out, const char **key,
                        struct cw_error *error)
{
    const int code = begin_plans(world_size, algorithm, config, spec, out, key, error);
    return end_plans(out, code, key, error);
}

int build_install_plans_like(const struct install_plans *like, uint32_t world_size,
                             const char *algorithm, const struct ccl_config *config,
                             const struct hw_config *spec, struct install_plans **out,
                             const char **key, struct cw_error *error)
{
    const int code = begin_plans(world_size, algorithm, config, spec, out, key, error);
    if (*out != NULL && like->schedule != NULL)
        (*out)->schedule = schedule_share(like->schedule);
    return end_plans(out, code, key, error);
}

int build_folded_plans(const struct hw_fold *fold, struct schedule *schedule, const char *algorithm,
                       const struct ccl_config *config, const struct hw_config *spec,
                       struct install_plans **out, const char **key, struct cw_error *error)
{
    const int code = begin_plans(fold->of, algorithm, config, spec, out, key, error);
    if (*out != NULL) {
        (*out)->fold = fold;
        (*out)->live = fold->sips;
        (*out)->schedule = schedule != NULL ? schedule_share(schedule) : NULL;
    }
    return end_plans(out, code, key, error);
}

int sketch_install_plans(uint32_t world_size, const char *algorithm,
                         const struct ccl_config *config, const struct hw_config *spec,
                         struct install_plans **out, const char **key, struct cw_error *error)
{
    const int code = begin_plans(world_size, algorithm, config, spec, out, key, error);
    if (*out != NULL)
        (*out)->sketch = true;
    return end_plans(out, code, key, error);
}

int install_policy_for(uint32_t world_size, const char *algorithm, const struct ccl_config *config,
                       const struct hw_config *spec, struct dp_policy *policy, const char **key,
                       struct cw_error *error)
{
    struct install_plans *plans;
    int code = begin_plans(world_size, algorithm, config, spec, &plans, key, error);
    if (code == CW_OK && plans->algorithm->schedule == NULL) {
        plans->policy_only = true;
        plans->live = 1; /* every rank has the layout of rank 0 */
        code = end_plans(&plans, code, key, error);
    }
    if (code == CW_OK)
        *policy = install_plan_policy(plans);
    install_plans_free(plans);
    return code;
}

void install_plans_free(struct install_plans *plans)
{
    if (plans == NULL)
        return;
    lp_plan_free(plans->queues);
    lp_wiring_free(plans->wiring);
    schedule_program_free(plans->program);
    schedule_free(plans->schedule);
    free(plans->lane_pe);
    free(plans);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct sip_install_plan install_plan_of(const struct install_plans *plans, uint32_t rank)
{
    return (struct sip_install_plan){.algorithm_name = plans->algorithm_name,
                                     .sip = ccl_sip_of(&plans->config->ranks, rank),
                                     .pe_of_sip = plans->lane_pe != NULL
                                                      ? lanes_of_rank(plans, rank)[0]
                                                      : ccl_pe_of(&plans->config->ranks, rank),
                                     .rank = rank,
                                     .world_size = plans->world_size,
                                     .buffer_kind = plans->config->queues.slots,
                                     .n_slots = plans->config->queues.n_slots,
                                     .slot_size = plans->config->queues.slot_bytes,
                                     .algorithm = plans->algorithm,
                                     .kernel_config = plans->config};
}

static void fill_entries(const struct lp_plan *queues, uint32_t pe_index, struct pe_install *out)
{
    const uint16_t directions = lp_directions(queues, pe_index);
    out->neighbour_count = 0;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        uint32_t peer;
        enum hw_dir back;
        if ((directions >> dir & 1) == 0 || !lp_queue_peer(queues, pe_index, dir, &peer, &back))
            continue;
        const struct lp_endpoint there = lp_endpoint_of(queues, peer, back);
        const struct lp_endpoint here = lp_endpoint_of(queues, pe_index, dir);
        out->neighbour[out->neighbour_count++] =
            (struct neighbour_entry){.direction = lp_dir_name(queues, pe_index, dir),
                                     .peer_direction = lp_dir_name(queues, peer, back),
                                     .peer_sip = there.place.sip,
                                     .peer_cube = there.place.cube,
                                     .peer_pe = there.place.pe,
                                     .rx_base_pa = there.rx_base_pa,
                                     .rx_base_va = there.rx_base_va,
                                     .n_slots = there.n_slots,
                                     .slot_size = there.slot_size,
                                     .my_rx_base_pa = here.rx_base_pa,
                                     .my_rx_base_va = here.rx_base_va,
                                     .my_n_slots = here.n_slots,
                                     .my_slot_size = here.slot_size};
    }
}

bool install_plan_next(const struct install_plans *plans, uint32_t rank, uint32_t *at,
                       struct pe_install *out)
{
    const uint32_t pes = hw_pes(plans->hw), per_sip = hw_cubes(plans->hw) * pes;
    const uint32_t first = ccl_sip_of(&plans->config->ranks, rank) * per_sip;
    while (*at < per_sip && !lp_is_wired(plans->queues, first + *at))
        ++*at;
    if (*at == per_sip)
        return false;
    out->cube = *at / pes;
    out->pe = *at % pes;
    fill_entries(plans->queues, first + *at, out);
    ++*at;
    return true;
}

bool install_plan_participates(const struct install_plans *plans, uint32_t rank, uint32_t cube,
                               uint32_t pe)
{
    const struct ccl_call call = call_of_plan(plans, rank);
    if (plans->program != NULL)
        return schedule_program_thread(plans->program, rank, cube * hw_pes(plans->hw) + pe) !=
               UINT32_MAX;
    return takes_part(plans, &call, cube, pe);
}

uint32_t install_plan_participants(const struct install_plans *plans, uint32_t rank, uint32_t *pe)
{
    const uint32_t per_sip = hw_cubes(plans->hw) * hw_pes(plans->hw);
    uint32_t count = 0;
    if (plans->program == NULL)
        count = mapped_pes(plans, rank, pe);
    for (uint32_t i = 0; plans->program != NULL && i < per_sip; i++)
        if (schedule_program_thread(plans->program, rank, i) != UINT32_MAX)
            pe[count++] = i;
    for (uint32_t i = 0; i < count; i++)
        pe[i] += ccl_sip_of(&plans->config->ranks, rank) * per_sip;
    return count;
}

uint32_t install_plans_lanes(const struct install_plans *plans)
{
    if (plans == NULL)
        return 0;
    if (plans->program != NULL)
        return plans->program->lanes;
    return plans->lane_pe != NULL && plans->lanes > 1 ? plans->lanes : 0;
}

bool install_plan_joins(const struct install_plans *plans, uint32_t rank, uint32_t cube,
                        uint32_t pe)
{
    if (plans->config->ranks.per_sip > 0)
        return true;
    if (plans->wiring == NULL)
        return pe == 0 || plans->config->wiring != CCL_WIRING_PE0;
    const uint32_t at = cube * hw_pes(plans->hw) + pe;
    return plans->lane_pe != NULL ? lane_of(plans, rank, at) < plans->lanes
                                  : at == ccl_pe_of(&plans->config->ranks, rank);
}

static uint32_t leader_of(const void *plans, uint32_t rank)
{
    return install_plan_of(plans, rank).pe_of_sip;
}

/* Every lane has the same directions, so the tree of the first is that of all. */
int install_plans_relay(const struct install_plans *plans, uint32_t root, bool both_ways,
                        struct relay *out, struct cw_error *error)
{
    const struct relay_request request = {.plan = plans->queues,
                                          .ranks = &plans->config->ranks,
                                          .world_size = plans->world_size,
                                          .root = root,
                                          .both_ways = both_ways,
                                          .leader = leader_of,
                                          .arg = plans};
    return relay_make(&request, out, error);
}

const struct lp_plan *install_plans_queues(const struct install_plans *plans)
{
    return plans->queues;
}

const struct lp_wiring *install_plans_wiring(const struct install_plans *plans)
{
    return plans->wiring;
}

uint32_t install_plans_rings(const struct install_plans *plans)
{
    if (plans->wiring != NULL)
        return lp_wiring_rings_max(plans->wiring);
    return plans->program != NULL ? plans->program->rings : 0;
}

uint32_t install_plans_pes_of_cube(const struct install_plans *plans)
{
    const uint32_t pes = hw_pes(plans->hw), per_sip = hw_cubes(plans->hw) * pes;
    uint32_t last = plans->config->ranks.per_sip > 0 ? pes - 1 : 0;
    for (size_t i = 0; plans->lane_pe != NULL && i < (size_t)plans->live * plans->lanes; i++)
        last = plans->lane_pe[i] % pes > last ? plans->lane_pe[i] % pes : last;
    for (uint32_t i = 0; plans->program != NULL && i < per_sip; i++)
        if (schedule_program_thread(plans->program, 0, i) != UINT32_MAX && i % pes > last)
            last = i % pes;
    return last + 1;
}

int install_plans_validate(const struct install_plans *plans, const struct ccl_algorithm *algorithm,
                           const struct tensor_group *group, struct cw_error *error)
{
    const struct ccl_algorithm *const configured = plans->algorithm;
    const bool runs = algorithm == configured || (configured->choose != NULL &&
                                                  algorithm->collective == configured->collective);
    return runs && plans->validator != NULL
               ? CCL_HOOK("validator", plans->validator, (group, plans->hw, error))
               : CW_OK;
}

/* A PE of rank 0's SIP has a shard. */
static bool has_own_shard(const struct install_plans *plans, uint32_t cube, uint32_t pe)
{
    if (plans->algorithm->schedule == NULL)
        return install_plan_participates(plans, 0, cube, pe);
    const struct program_request request = lanes_of(plans);
    const uint32_t at = cube * hw_pes(plans->hw) + pe - share_of(plans).first;
    return at % request.lanes_apart == 0 && at / request.lanes_apart < request.lanes;
}

/* The first PEs of the first cubes, or one PE, which the rank's plan names: what a policy can say.
 */
static bool policy_of_lanes(const struct install_plans *plans, struct dp_policy *policy)
{
    const struct share share = share_of(plans);
    const uint32_t pes = share.pes, *const pe = plans->lane_pe;
    uint32_t of_cube = 0;
    while (of_cube < plans->lanes && of_cube < pes && pe[of_cube] == share.first + of_cube)
        of_cube++;
    if (plans->lanes == 1)
        of_cube = 1;
    if (of_cube == 0 || plans->lanes % of_cube != 0)
        return false;
    const uint32_t cubes = plans->lanes / of_cube;
    for (uint32_t i = 0; i < plans->lanes && plans->lanes > 1; i++)
        if (pe[i] != share.first + i / of_cube * pes + i % of_cube)
            return false;
    *policy = (struct dp_policy){.cube = DP_ROW_WISE,
                                 .pe = of_cube > 1 ? DP_COLUMN_WISE : DP_REPLICATE,
                                 .num_cubes = cubes < share.cubes ? cubes : 0,
                                 .num_pes = of_cube < pes || of_cube == 1 ? of_cube : 0};
    return true;
}

/* As if the ranks' share were all of a SIP. */
static struct dp_policy policy_of_share(const struct install_plans *plans)
{
    const struct share share = share_of(plans);
    const struct dp_policy one = {
        .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};
    const struct dp_policy rows = {.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};
    struct dp_policy lanes;
    uint32_t count = 0, beyond_pe0 = 0;
    if (plans->lane_pe != NULL && policy_of_lanes(plans, &lanes))
        return lanes;
    if (plans->algorithm->machine.members)
        return lanes_of(plans).lanes_apart == 1
                   ? (struct dp_policy){.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE}
                   : rows;
    if (plans->algorithm->schedule != NULL && lanes_of(plans).lanes == 0)
        return one;
    if (plans->algorithm->machine.lanes)
        return plans->joined ? one : rows;
    for (uint32_t i = 0; i < share.cubes * share.pes; i++)
        if (has_own_shard(plans, (share.first + i) / hw_pes(plans->hw),
                          (share.first + i) % hw_pes(plans->hw))) {
            count++;
            beyond_pe0 += i % share.pes > 0;
        }
    if (plans->algorithm->machine.pe_shards || beyond_pe0 > 0)
        return (struct dp_policy){.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE};
    if (count == 1 &&
        has_own_shard(plans, share.first / hw_pes(plans->hw), share.first % hw_pes(plans->hw)))
        return one;
    return rows;
}

struct dp_policy install_plan_policy(const struct install_plans *plans)
{
    const struct share share = share_of(plans);
    struct dp_policy policy = policy_of_share(plans);
    if (share.all)
        return policy;
    policy.first_pe = share.first;
    policy.num_cubes = policy.num_cubes > 0 ? policy.num_cubes : share.cubes;
    policy.num_pes = policy.num_pes > 0 ? policy.num_pes : share.pes;
    return policy;
}
