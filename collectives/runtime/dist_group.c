/*
 * dist_group.c: process groups beside the world (dist_world.h): their plans, each made as for a
 * world of its own, and the one plan of queues that they are composed to. Before the machine is
 * made; then only read. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/dist_internal.h"
#include "lp/queues/queue_ends.h"

/* ---- ranks ----------------------------------------------------------------------------------- */

uint32_t dist_rank_in(const struct dist_group *group, uint32_t world_rank)
{
    uint32_t from = 0, to = group->size;
    if (group->ranks == NULL)
        return world_rank < group->size ? world_rank : UINT32_MAX;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (group->ranks[group->sorted[middle]] < world_rank)
            from = middle + 1;
        else
            to = middle;
    }
    return from < group->size && group->ranks[group->sorted[from]] == world_rank
               ? group->sorted[from]
               : UINT32_MAX;
}

uint32_t dist_world_rank(const struct dist_group *group, uint32_t rank)
{
    return group->ranks != NULL ? group->ranks[rank] : rank;
}

/* A number, and the place in which it was given. */
struct placed {
    uint32_t number, place;
};

static int by_number(const void *a, const void *b)
{
    const struct placed *const x = a, *const y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The places of these numbers, in ascending order of the numbers. *twice: a number that is there
 * more than once; UINT32_MAX: none is. False: out of memory. */
static bool sort_places(const uint32_t *number, uint32_t count, uint32_t *place, uint32_t *twice)
{
    struct placed *const sorted = malloc(count * sizeof *sorted);
    *twice = UINT32_MAX;
    if (sorted == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct placed){number[i], i};
    qsort(sorted, count, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < count; i++) {
        place[i] = sorted[i].place;
        if (i > 0 && sorted[i].number == sorted[i - 1].number)
            *twice = sorted[i].number;
    }
    free(sorted);
    return true;
}

/* ---- a group --------------------------------------------------------------------------------- */

static int check_spec(const struct dist *dist, const struct dist_group *group,
                      const struct dist_group_spec *spec, struct cw_error *error)
{
    const uint32_t ranks = dist->world.size;
    if (spec->count == 0)
        return cw_error_set(error, CW_USAGE, "group %s has no ranks; legal: at least one",
                            group->name);
    for (uint32_t i = 0; i < spec->count; i++)
        if (spec->ranks[i] >= ranks)
            return cw_error_set(error, CW_USAGE, "group %s has rank %u; there are %u ranks",
                                group->name, spec->ranks[i], ranks);
    const struct hw_config *const hw = &dist->options.config->hw;
    const uint32_t pes = hw_pes(hw), first = spec->first_pe, last = first + spec->pes - 1;
    if (spec->pes > 0 && (first > last || last >= hw_cubes(hw) * pes ||
                          (first / pes != last / pes && (first % pes > 0 || spec->pes % pes > 0))))
        return cw_error_set(error, CW_USAGE,
                            "group %s has the PEs %u to %u of each SIP, which has %u; legal are "
                            "whole cubes, of %u PEs, or PEs of one cube",
                            group->name, first, last, hw_cubes(hw) * pes, pes);
    if (dist->options.config->ccl.ranks.per_sip > 0)
        return cw_error_set(error, CW_USAGE,
                            "group %s: a group's ranks are SIPs, and with the mapper "
                            "" CCL_RANK_PER_PE " ranks are PEs; use the mapper leader_only and at "
                            "most %u ranks",
                            group->name, dist->options.config->hw.sip_count);
    return CW_OK;
}

/* Where the group's ranks are: both lists, of ranks of the world and of SIPs. */
static int place_ranks(struct dist *dist, struct dist_group *group,
                       const struct dist_group_spec *spec, struct cw_error *error)
{
    const struct ccl_ranks *const world = &dist->options.config->ccl.ranks;
    struct ccl_ranks *const own = &group->own->ccl.ranks;
    uint32_t *const ranks = calloc(4 * (size_t)spec->count, sizeof *ranks), twice;
    if (ranks == NULL)
        return dist_no_memory(error);
    uint32_t *const sorted = ranks + spec->count, *const sips = sorted + spec->count,
                    *const by_sip = sips + spec->count;
    group->lists = ranks;
    group->ranks = ranks;
    group->sorted = sorted;
    memcpy(ranks, spec->ranks, spec->count * sizeof *ranks);
    for (uint32_t i = 0; i < spec->count; i++)
        sips[i] = ccl_sip_of(world, ranks[i]);
    if (!sort_places(sips, spec->count, by_sip, &twice) ||
        !sort_places(ranks, spec->count, sorted, &twice))
        return dist_no_memory(error);
    if (twice != UINT32_MAX)
        return cw_error_set(error, CW_USAGE, "group %s has rank %u twice; legal: once each",
                            group->name, twice);
    *own = (struct ccl_ranks){.mapped = true,
                              .list = sips,
                              .sorted = by_sip,
                              .count = spec->count,
                              .first_pe = spec->first_pe,
                              .pes = spec->pes};
    return CW_OK;
}

/* The group's SIPs have queues like those of a ring_1d of as many. */
static int make_ring(struct dist_group *group, struct cw_error *error)
{
    const struct sip_install_plan plan = install_plan_of(group->plans, 0);
    if (!ccl_goes_by_machine(&group->own->ccl) || plan.algorithm->schedule != NULL)
        return CW_OK;
    struct config *const ring = malloc(sizeof *ring);
    if (ring == NULL)
        return dist_no_memory(error);
    *ring = *group->own;
    ring->hw.sip_count = group->size;
    hw_join_sips(&ring->hw, hw_topology_find("ring_1d"),
                 &(struct hw_sip_size){.w = group->size, .h = 1});
    ring->ccl.ranks = (struct ccl_ranks){.mapped = false};
    group->ring = ring;
    return CW_OK;
}

/* Makes a group's plans, as for a world of its own. */
static int make_group(struct dist *dist, uint32_t number, const struct dist_group_spec *spec,
                      struct cw_error *error)
{
    struct dist_group *const group = &dist->groups[number];
    const struct config *const config = spec->config != NULL ? spec->config : dist->options.config;
    const char *key;
    *group = (struct dist_group){.dist = dist, .size = spec->count};
    if (spec->name != NULL)
        snprintf(group->name, sizeof group->name, "%s", spec->name);
    else
        snprintf(group->name, sizeof group->name, "%u", number);
    int code = check_spec(dist, group, spec, error);
    if (code != CW_OK)
        return code;
    group->own = malloc(sizeof *group->own);
    group->config = group->own;
    if (group->own == NULL)
        return dist_no_memory(error);
    *group->own = *config;
    code = place_ranks(dist, group, spec, error);
    if (code != CW_OK)
        return code;
    code = build_install_plans(group->size, config->ccl.algorithm, &group->own->ccl,
                               &group->own->hw, &group->plans, &key, error);
    if (code == CW_USAGE) {
        char text[sizeof error->text];
        memcpy(text, error->text, sizeof text);
        (void)cw_error_set(error, CW_USAGE, "group %s: %.900s", group->name, text);
        return dist_refuse(config, key, error);
    }
    return code == CW_OK ? make_ring(group, error) : code;
}

/* ---- the queues of all ---------------------------------------------------------------------- */

/* The world's plan, if it has queues, and those of the groups become one. */
static int compose(struct dist *dist, struct cw_error *error)
{
    const uint32_t first = dist->options.groups_only ? 0 : 1, count = dist->group_count;
    const struct config *const config = dist->options.config;
    struct lp_plan_part *const part = calloc(count + first, sizeof *part);
    uint32_t fits = 0;
    if (part == NULL)
        return dist_no_memory(error);
    if (first > 0)
        part[0] = (struct lp_plan_part){.plan = install_plans_queues(dist->world.plans),
                                        .sip_count = config->hw.sip_count};
    for (uint32_t i = 0; i < count; i++)
        part[first + i] = (struct lp_plan_part){.plan = install_plans_queues(dist->groups[i].plans),
                                                .sip = dist->groups[i].config->ccl.ranks.list,
                                                .sip_count = dist->groups[i].size};
    const int code = lp_plan_compose(part, count + first, &dist->composed, &fits);
    free(part);
    if (code == CW_NO_RESOURCE)
        return dist_no_memory(error);
    if (code != CW_OK)
        return cw_error_set(
            error, CW_USAGE,
            "the queues of %u groups%s do not fit: a PE has %d directions, and its receive rings "
            "share %s; %u groups fit, up to %s%s",
            count, first > 0 ? " and the world" : "", HW_DIRS_MAX,
            config->ccl.queues.slots == HW_MEMORY_TCM   ? "its TCM (memory.tcm_kib)"
            : config->ccl.queues.slots == HW_MEMORY_HBM ? "its HBM slice (memory.hbm_mib)"
                                                        : "its cube's SRAM (memory.sram_kib)",
            fits > first ? fits - first : 0,
            fits > first ? dist->groups[fits - first - 1].name : "none",
            first > 0 ? "; without collectives of the world, more may" : "");
    if (first > 0)
        dist->world.dirs = lp_plan_dirs(dist->composed, 0);
    for (uint32_t i = 0; i < count; i++)
        dist->groups[i].dirs = lp_plan_dirs(dist->composed, first + i);
    return CW_OK;
}

int dist_make_groups(struct dist *dist, struct cw_error *error)
{
    const uint32_t count = dist->options.group_count;
    if (count == 0)
        return CW_OK;
    dist->groups = calloc(count, sizeof *dist->groups);
    if (dist->groups == NULL)
        return dist_no_memory(error);
    int code = CW_OK;
    for (uint32_t i = 0; i < count && code == CW_OK; i++) {
        dist->group_count++;
        code = make_group(dist, i, &dist->options.groups[i], error);
    }
    return code == CW_OK ? compose(dist, error) : code;
}

void dist_free_group(struct dist_group *group)
{
    install_plans_free(group->plans);
    free(group->own);
    free(group->ring);
    free(group->lists);
    free(group->calls);
    free(group->planned);
    free(group->planned_count);
}

/* ---- for workers ----------------------------------------------------------------------------- */

struct dist_group *dist_group_or_world(struct dist_group *group)
{
    return group != NULL ? group : &dist_current()->world;
}

struct dist_group *dist_group_at(struct dist *dist, uint32_t number)
{
    return number < dist->group_count ? &dist->groups[number] : NULL;
}

const char *dist_group_name(const struct dist_group *group) { return group->name; }
uint32_t dist_group_size(const struct dist_group *group) { return group->size; }

struct dp_policy dist_group_policy(const struct dist_group *group)
{
    return install_plan_policy(group->plans);
}

uint32_t dist_group_rank(const struct dist_group *group)
{
    return dist_rank_in(group, (uint32_t)mp_rank());
}

struct dist_group *dist_new_group(const uint32_t *ranks, uint32_t count)
{
    struct dist *const dist = dist_current();
    for (uint32_t i = 0; i < dist->group_count; i++)
        if (dist->groups[i].size == count &&
            memcmp(dist->groups[i].ranks, ranks, count * sizeof *ranks) == 0)
            return &dist->groups[i];
    mp_fail(CW_PROGRAM_FAILED,
            "dist_new_group: no group of these %u ranks, in this order, was known when the world "
            "was created; legal: those of dist_options.groups",
            count);
}

/* ---- groups of one rank ---------------------------------------------------------------------- */

void dist_free_groups_of_one(struct dist *dist)
{
    for (uint32_t i = 0; dist->own != NULL && i < dist->facts.world_size; i++)
        free(dist->own[i].calls);
    free(dist->own);
    free(dist->own_ranks);
    dist->own = NULL;
    dist->own_ranks = NULL;
}

struct dist_group *dist_group_of_one(struct dist *dist, uint32_t world_rank)
{
    static const uint32_t sorted[1] = {0};
    const uint32_t ranks = dist->facts.world_size;
    if (dist->own == NULL) {
        dist->own = calloc(ranks, sizeof *dist->own);
        dist->own_ranks = malloc(ranks * sizeof *dist->own_ranks);
        for (uint32_t i = 0; dist->own_ranks != NULL && i < ranks; i++)
            dist->own_ranks[i] = i;
    }
    if (dist->own == NULL || dist->own_ranks == NULL)
        return NULL;
    struct dist_group *const group = &dist->own[world_rank];
    if (group->calls == NULL) {
        group->dist = dist;
        snprintf(group->name, sizeof group->name, "rank %u", world_rank);
        group->size = 1;
        group->ranks = &dist->own_ranks[world_rank];
        group->sorted = sorted;
        group->config = dist->options.config;
        group->calls = calloc(1, sizeof *group->calls);
    }
    return group->calls != NULL ? group : NULL;
}
