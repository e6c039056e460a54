/*
 * dist_group.c: process groups beside the world (dist_world.h): their plans, each made as for a
 * world of its own, and the one plan of queues that they are composed to. Before the machine is
 * made; then only read. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/config_rings.h"
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
    const uint32_t queues = dist->options.machine.needs.queues;
    if (spec->queue > 0 && spec->queue >= queues)
        return cw_error_set(error, CW_USAGE,
                            "group %s is on hardware queue %u of its PEs; legal: below %u, as many "
                            "as the machine has (dist_options.machine.needs.queues)",
                            group->name, spec->queue, queues > 0 ? queues : 1);
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
    uint32_t *const ranks = calloc(6 * (size_t)spec->count, sizeof *ranks), twice;
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

/* Which of the group's ranks are live: those that are in the world. */
static void find_live(struct dist *dist, struct dist_group *group)
{
    uint32_t *const slots = group->lists + 4 * (size_t)group->size;
    if (dist->world.fold == NULL)
        return;
    group->fold = dist->world.fold;
    group->slots = slots;
    group->live = 0;
    for (uint32_t rank = 0; rank < group->size; rank++) {
        const bool is_live = dist_is_live(&dist->world, group->ranks[rank]);
        slots[rank] = is_live ? group->live : DIST_NOT_LIVE;
        if (is_live)
            slots[group->size + group->live++] = rank;
    }
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
    struct dist_group *const group = dist->groups[number];
    const struct config *const config = spec->config != NULL ? spec->config : dist->options.config;
    const char *key;
    *group = (struct dist_group){.dist = dist,
                                 .number = number,
                                 .size = spec->count,
                                 .live = spec->count,
                                 .account = spec->account,
                                 .queue = spec->queue,
                                 .kind = spec->kind};
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
    find_live(dist, group);
    code = spec->like > 0
               ? build_install_plans_like(dist->groups[spec->like - 1]->plans, group->size,
                                          config->ccl.algorithm, &group->own->ccl, &group->own->hw,
                                          &group->plans, &key, error)
               : build_install_plans(group->size, config->ccl.algorithm, &group->own->ccl,
                                     &group->own->hw, &group->plans, &key, error);
    if (code == CW_USAGE) {
        char text[sizeof error->text];
        memcpy(text, error->text, sizeof text);
        (void)cw_error_set(error, CW_USAGE, "group %s: %.900s", group->name, text);
        return dist_refuse(config, key, error);
    }
    return code == CW_OK ? make_ring(group, error) : code;
}

/* ---- its calls ------------------------------------------------------------------------------- */

uint32_t dist_peers_in(const struct dist_group *group)
{
    const struct schedule_program *const program = install_plans_program(group->plans);
    const struct ccl_call call = {
        .hw = &group->config->hw, .ccl = &group->config->ccl, .world_size = group->size};
    const uint32_t own = ccl_algorithm_peers(install_plan_of(group->plans, 0).algorithm, &call);
    return program != NULL && program->peers > own ? program->peers : own;
}

bool dist_goes_by_trees(const struct dist_group *group)
{
    const struct schedule_program *const program = install_plans_program(group->plans);
    return program != NULL && program->schedule->sums != NULL;
}

/* Room for the PEs that the plans name for each rank. Beyond a bound they are asked for again in
 * each call. */
static bool allocate_planned(struct dist_group *group)
{
    enum { PLANNED_MAX = 1 << 20 };
    const struct hw_config *const hw = &group->dist->options.config->hw;
    const size_t of_rank = (size_t)hw_cubes(hw) * hw_pes(hw), ranks = group->live;
    if (ranks > PLANNED_MAX / of_rank)
        return true;
    group->planned = malloc((ranks * of_rank + 1) * sizeof *group->planned);
    group->planned_count = malloc((ranks + 1) * sizeof *group->planned_count);
    if (group->planned_count != NULL)
        memset(group->planned_count, 0xff, ranks * sizeof *group->planned_count);
    return group->planned != NULL && group->planned_count != NULL;
}

bool dist_allocate_group(struct dist_group *group)
{
    group->calls = calloc(group->live, sizeof *group->calls);
    return group->calls != NULL && allocate_planned(group);
}

/* ---- the queues of all ---------------------------------------------------------------------- */

static struct lp_plan_part part_of(const struct dist_group *group)
{
    const struct ccl_ranks *const ranks = &group->config->ccl.ranks;
    return (struct lp_plan_part){.plan = install_plans_queues(group->plans),
                                 .sip = ranks->list,
                                 .sip_count = group->ranks != NULL ? group->size
                                                                   : group->config->hw.sip_count,
                                 .kind = group->kind};
}

/* Says which groups fit. */
static int refuse_queues(const struct dist *dist, uint32_t fit, struct cw_error *error)
{
    const enum hw_memory slots = dist->options.config->ccl.queues.slots;
    const bool world = !dist->options.groups_only;
    if (dist->options.lacks_queues != NULL)
        *dist->options.lacks_queues = true;
    return cw_error_set(
        error, CW_USAGE,
        "the queues of %u groups%s do not fit: a PE has %d directions, and its receive rings share "
        "%s; %u groups fit%s%s%s",
        dist->group_count, world ? " and the world" : "", HW_DIRS_MAX,
        slots == HW_MEMORY_TCM   ? "its TCM (memory.tcm_kib)"
        : slots == HW_MEMORY_HBM ? "its HBM slice (memory.hbm_mib)"
                                 : "its cube's SRAM (memory.sram_kib)",
        fit, fit > 0 ? ", up to " : "", fit > 0 ? dist->groups[fit - 1]->name : "",
        world ? "; without collectives of the world, more may" : "");
}

/* Bytes of the receive rings that algorithms and checks count in TCM. */
static uint64_t rings_seen(const struct config *config, const struct dist_group *group)
{
    const struct lp_config *const queues = &config->ccl.queues;
    const uint32_t named = config_directions_max(&config->hw, &config->ccl),
                   rings = named > 0 ? named : install_plans_rings(group->plans);
    return queues->slots == HW_MEMORY_TCM ? (uint64_t)rings * queues->n_slots * queues->slot_bytes
                                          : 0;
}

/* With several hardware queues, the machine that a group's algorithms see has as much TCM beside
 * the rings as one queue. */
static void share_tcm(const struct dist *dist)
{
    const uint32_t queues = dist->options.machine.needs.queues;
    const uint64_t free_bytes = dist->options.config->ccl.queues.slots == HW_MEMORY_TCM
                                    ? lp_plan_rings(dist->composed).start
                                    : dist->options.config->hw.tcm_bytes;
    for (uint32_t i = 0; i < dist->group_count && queues > 1; i++) {
        struct dist_group *const group = dist->groups[i];
        group->own->hw.tcm_bytes = rings_seen(group->own, group) + lp_tcm_share(free_bytes, queues);
        if (group->ring != NULL)
            group->ring->hw.tcm_bytes =
                rings_seen(group->ring, group) + lp_tcm_share(free_bytes, queues);
        group->checked_algorithm = NULL;
    }
}

/* The groups from this one on get their places in the plan of all queues. */
static int add_queues(struct dist *dist, uint32_t first, struct cw_error *error)
{
    const uint32_t world = dist->options.groups_only ? 0 : 1, count = dist->group_count - first;
    struct lp_plan_part *const part = calloc(count + 1, sizeof *part);
    uint32_t fit = 0;
    if (part == NULL)
        return dist_no_memory(error);
    for (uint32_t i = 0; i < count; i++)
        part[i] = part_of(dist->groups[first + i]);
    const int code = lp_plan_add(dist->composed, part, count, &fit);
    free(part);
    for (uint32_t i = first; code == CW_OK && i < dist->group_count; i++)
        dist->groups[i]->dirs = lp_plan_dirs(dist->composed, world + i);
    if (code == CW_OK)
        share_tcm(dist);
    return code == CW_OK            ? CW_OK
           : code == CW_NO_RESOURCE ? dist_no_memory(error)
                                    : refuse_queues(dist, first + fit, error);
}

/* The world's plan, if it has queues, and those of the groups become one. */
static int compose(struct dist *dist, struct cw_error *error)
{
    const struct lp_plan_part world = part_of(&dist->world);
    uint32_t fits;
    dist->composed = lp_plan_create_composed(world.plan, dist->world.fold);
    if (dist->composed == NULL)
        return dist_no_memory(error);
    if (!dist->options.groups_only) {
        const int code = lp_plan_add(dist->composed, &world, 1, &fits);
        if (code != CW_OK)
            return code == CW_USAGE ? refuse_queues(dist, 0, error) : dist_no_memory(error);
        dist->world.dirs = lp_plan_dirs(dist->composed, 0);
    }
    return add_queues(dist, 0, error);
}

/* One more group. */
static int add_group(struct dist *dist, const struct dist_group_spec *spec, struct cw_error *error)
{
    struct dist_group **const groups =
        realloc(dist->groups, (dist->group_count + 1) * sizeof(struct dist_group *));
    if (groups != NULL)
        dist->groups = groups;
    struct dist_group *const group = calloc(1, sizeof *group);
    if (groups == NULL || group == NULL) {
        free(group);
        return dist_no_memory(error);
    }
    groups[dist->group_count++] = group;
    return make_group(dist, dist->group_count - 1, spec, error);
}

int dist_make_groups(struct dist *dist, struct cw_error *error)
{
    int code = CW_OK;
    if (dist->options.group_count == 0 && !dist->options.late_groups)
        return CW_OK;
    for (uint32_t i = 0; i < dist->options.group_count && code == CW_OK; i++)
        code = add_group(dist, &dist->options.groups[i], error);
    return code == CW_OK ? compose(dist, error) : code;
}

/* The machine has room for what the group's kernels need. */
static int check_needs(const struct dist *dist, const struct dist_group *late,
                       struct cw_error *error)
{
    const struct lp_needs *const needs = &lp_system_model(dist->system)->needs;
    const uint32_t streams = install_plan_of(late->plans, 0).algorithm->kernel->stream_count;
    uint32_t most = 0;
    for (uint32_t rank = 0; rank < late->size; rank++) {
        uint32_t peers = dist_peers_in(&dist->world);
        for (uint32_t i = 0; i < dist->group_count; i++)
            if (dist_rank_in(dist->groups[i], late->ranks[rank]) != UINT32_MAX)
                peers += dist_peers_in(dist->groups[i]);
        most = peers > most ? peers : most;
    }
    if (1 + streams <= needs->contexts && (dist_peers_in(late) == 0 || most <= needs->peers))
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "group %s: its kernels need %u contexts and up to %u peers of a PE, and "
                        "the machine was made for %u and %u; legal: a group that is known when the "
                        "world is created",
                        late->name, 1 + streams, most, needs->contexts, needs->peers);
}

/* The queues of the latest group. */
static int install_group(struct dist *dist, struct cw_error *error)
{
    const struct dist_group *const group = dist->groups[dist->group_count - 1];
    uint32_t *const sips = malloc(group->size * sizeof *sips);
    if (sips == NULL)
        return dist_no_memory(error);
    const struct ccl_ranks *const ranks = &group->config->ccl.ranks;
    for (uint32_t i = 0; i < group->size; i++)
        sips[i] = ranks->list[ranks->sorted[i]];
    int code = lp_system_submit_more_queues(dist->system, 0, sips, group->size, group->dirs, error);
    free(sips);
    if (code == CW_OK)
        code = dist_drain(dist, error);
    dist->now_ps = cw_sim_now(lp_system_sim(dist->system));
    dist_phase_end(dist, "wiring");
    return code;
}

int dist_make_wanted(void *arg, struct cw_error *error)
{
    struct dist *const dist = arg;
    const struct dist_group_spec *const wanted = dist->wanted;
    const uint32_t first = dist->group_count;
    dist->wanted = NULL;
    if (dist_is_in_flight(dist) || dist->part_count > 0)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "dist_new_group: calls are in flight; legal: after all ranks have "
                            "waited for theirs");
    if (dist->options.config->ccl.queues.slots != HW_MEMORY_TCM)
        return cw_error_set(error, CW_USAGE,
                            "dist_new_group: receive rings in this memory (defaults.buffer_kind) "
                            "have no room for another group's; legal: tcm, or a group that is "
                            "known when the world is created");
    int code = add_group(dist, wanted, error);
    if (code == CW_OK && !dist_allocate_group(dist->groups[first]))
        code = dist_no_memory(error);
    if (code == CW_OK)
        code = check_needs(dist, dist->groups[first], error);
    if (code == CW_OK)
        code = add_queues(dist, first, error);
    if (code == CW_OK)
        return install_group(dist, error);
    if (dist->group_count > first) {
        dist_free_group(dist->groups[--dist->group_count]);
        free(dist->groups[first]);
    }
    return code;
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
    return number < dist->group_count ? dist->groups[number] : NULL;
}

uint32_t dist_group_number(const struct dist_group *group) { return group->number; }
const char *dist_group_name(const struct dist_group *group) { return group->name; }
uint32_t dist_group_size(const struct dist_group *group) { return group->size; }

struct dp_policy dist_group_policy(const struct dist_group *group)
{
    return install_plan_policy(group->plans);
}

struct dist_facts dist_group_facts(const struct dist_group *group)
{
    const struct schedule_program *const program = install_plans_program(group->plans);
    return (struct dist_facts){.world_size = group->size,
                               .policy = install_plan_policy(group->plans),
                               .parts = install_plans_lanes(group->plans),
                               .schedule = program != NULL ? program->schedule : NULL};
}

int dist_relay(const struct dist *dist, const struct dist_group *group, uint32_t root,
               struct relay *out, struct cw_error *error)
{
    return install_plans_relay((group != NULL ? group : &dist->world)->plans, root, true, out,
                               error);
}

const struct config *dist_seen_config(const struct dist_group *group,
                                      const struct ccl_algorithm *algorithm)
{
    const bool by_ring = algorithm == NULL || algorithm->machine.peers == NULL;
    return group->ring != NULL && by_ring ? group->ring : group->config;
}

struct config dist_group_config(const struct dist_group *group,
                                const struct ccl_algorithm *algorithm)
{
    const struct config *const seen = dist_seen_config(group, algorithm);
    struct config config = *seen;
    if (seen != group->ring)
        config.ccl.world_size = group->size;
    return config;
}

uint32_t dist_group_rank(const struct dist_group *group)
{
    return dist_rank_in(group != NULL ? group : &dist_current()->world, (uint32_t)mp_rank());
}

/* The group of these ranks, in this order; NULL: there is none. */
static struct dist_group *known_group(const struct dist *dist, const uint32_t *ranks,
                                      uint32_t count)
{
    for (uint32_t i = 0; i < dist->group_count; i++)
        if (dist->groups[i]->size == count &&
            memcmp(dist->groups[i]->ranks, ranks, count * sizeof *ranks) == 0)
            return dist->groups[i];
    return NULL;
}

struct dist_group *dist_new_group(const uint32_t *ranks, uint32_t count)
{
    struct dist *const dist = dist_current();
    if (ranks == NULL || count == 0)
        mp_fail(CW_USAGE, "dist_new_group: no ranks; legal: at least one");
    struct dist_group *const known = known_group(dist, ranks, count);
    const struct dist_group_spec spec = {.ranks = ranks, .count = count};
    if (known != NULL)
        return known;
    if (!dist->options.late_groups)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_new_group: no group of these %u ranks, in this order, was known when the "
                "world was created; legal: those of dist_options.groups, or any with late_groups",
                count);
    if (!dist->open)
        mp_fail(CW_PROGRAM_FAILED, "dist_new_group: there is no process group; legal: after "
                                   "dist_init_process_group");
    const struct dist_group_spec *const wanted = dist->wanted;
    if (wanted != NULL &&
        (wanted->count != count || memcmp(wanted->ranks, ranks, count * sizeof *ranks) != 0))
        mp_fail(CW_PROGRAM_FAILED,
                "dist_new_group: rank %d makes a group of other ranks than rank %u; legal: the "
                "same groups, in the same order, on all ranks",
                mp_rank(), dist->wanted_by);
    if (wanted == NULL) {
        dist->wanted = &spec;
        dist->wanted_by = (uint32_t)mp_rank();
    }
    dist_join(dist->group_barrier, NULL, NULL);
    return known_group(dist, ranks, count);
}

/* ---- groups of one rank ---------------------------------------------------------------------- */

void dist_free_groups_of_one(struct dist *dist)
{
    for (uint32_t i = 0; dist->own != NULL && i < dist->world.live; i++)
        free(dist->own[i].calls);
    free(dist->own);
    free(dist->own_ranks);
    dist->own = NULL;
    dist->own_ranks = NULL;
}

struct dist_group *dist_group_of_one(struct dist *dist, uint32_t world_rank)
{
    static const uint32_t sorted[1] = {0};
    const uint32_t ranks = dist->world.live, at = dist_slot(&dist->world, world_rank);
    if (dist->own == NULL) {
        dist->own = calloc(ranks, sizeof *dist->own);
        dist->own_ranks = malloc(ranks * sizeof *dist->own_ranks);
        for (uint32_t i = 0; dist->own_ranks != NULL && i < ranks; i++)
            dist->own_ranks[i] = dist_rank_at(&dist->world, i);
    }
    if (dist->own == NULL || dist->own_ranks == NULL)
        return NULL;
    struct dist_group *const group = &dist->own[at];
    if (group->calls == NULL) {
        group->dist = dist;
        snprintf(group->name, sizeof group->name, "rank %u", world_rank);
        group->size = group->live = 1;
        group->ranks = &dist->own_ranks[at];
        group->sorted = sorted;
        group->config = dist->options.config;
        group->calls = calloc(1, sizeof *group->calls);
    }
    return group->calls != NULL ? group : NULL;
}
