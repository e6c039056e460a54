/*
 * dist_call.c: a collective call, from the ranks' submissions to its launches and completion
 * (RUNTIME.md). Between drains, one thread.
 */
#include "collectives/runtime/dist_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/hook.h"
#include "collectives/plugin.h"
#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/dist_internal.h"
#include "collectives/runtime/dist_results.h"
#include "collectives/runtime/dist_scale.h"
#include "collectives/runtime/dist_scratch.h"
#include "collectives/runtime/host_copy.h"
#include "collectives/runtime/layout.h"
#include "collectives/runtime/schedule_buffers.h"
#include "collectives/schedule/schedule_program.h"

/* The tensor whose shards the kernels are launched on; NULL: a barrier has none. */
static const struct tensor *launch_tensor(const struct submission *submission)
{
    return submission->in != NULL ? submission->in : submission->out;
}

/* As the algorithm sees it, or (before it is known) the configured one, if it may carry out the
 * call. */
static const struct config *seen_config(const struct dist_work *work, uint32_t rank)
{
    const struct dist_group *const group = work->group;
    const struct ccl_algorithm *seen = work->algorithm;
    if (seen == NULL && group->ring != NULL) {
        seen = install_plan_of(group->plans, 0).algorithm;
        seen = seen->collective == dist_of(work, rank)->submission.collective ? seen : NULL;
    }
    return dist_seen_config(group, seen);
}

static struct ccl_call call_of_rank(const struct dist_work *work, uint32_t rank)
{
    const struct dist_group *const group = work->group;
    const struct submission *submission = &dist_of(work, rank)->submission;
    const struct tensor *tensor = launch_tensor(submission);
    const struct config *const config = seen_config(work, rank);
    return (struct ccl_call){.hw = &config->hw,
                             .ccl = &config->ccl,
                             .collective = submission->collective,
                             .rank = rank,
                             .world_size = group->size,
                             .root = submission->root,
                             .relay = work->relay.parent != NULL ? &work->relay : NULL,
                             .n_elem = tensor != NULL ? tensor->shard_elems : 1,
                             .dtype = (enum lp_dtype)(tensor != NULL ? tensor->dtype : DTYPE_F32),
                             .math = (enum lp_math)redop_of_kernels(submission->op)};
}

/* ---- launching ------------------------------------------------------------------------------- */

/* A product runs where its matrices are. */
static bool has_shard(const struct tensor *tensor, uint32_t cube, uint32_t pe)
{
    for (uint32_t i = 0; i < tensor->shard_count; i++)
        if (tensor->shard[i].cube == cube && tensor->shard[i].pe == pe)
            return true;
    return false;
}

/* Where the PEs of a live rank are kept that the plans name. */
static uint32_t *kept_pes(const struct dist_group *group, uint32_t slot)
{
    const struct hw_config *const hw = &group->config->hw;
    return group->planned + (size_t)slot * hw_cubes(hw) * hw_pes(hw);
}

/* A part of the ranks, whose places no other part writes. */
static void plan_part(const struct dist_group *group, uint32_t index, uint32_t parts)
{
    const uint64_t live = group->live;
    for (uint32_t i = (uint32_t)(live * index / parts); i < live * (index + 1) / parts; i++)
        group->planned_count[i] =
            install_plan_participants(group->plans, dist_rank_at(group, i), kept_pes(group, i));
}

static void plan_of_worker(void *arg, uint32_t worker)
{
    const struct dist_group *const group = arg;
    plan_part(group, worker, cw_sim_worker_count(lp_system_sim(group->dist->system)));
}

/* Asks for the PEs of all ranks. A loaded module is asked on this thread alone. */
static void plan_ranks(struct dist_group *group)
{
    enum { SHARED_RANKS_MIN = 256 }; /* fewer are not worth waking a thread for */
    if (group->live >= SHARED_RANKS_MIN && !plugin_is_path(group->config->ccl.module))
        cw_each_worker(lp_system_sim(group->dist->system), plan_of_worker, group);
    else
        plan_part(group, 0, 1);
}

/* The PEs that the plans name. They are the same in each call, so they are kept where there is room
 * for every rank's. */
static uint32_t planned_pes(struct dist_group *group, uint32_t rank, const uint32_t **pes)
{
    uint32_t *const launched = group->dist->launched;
    const uint32_t slot = dist_slot(group, rank);
    *pes = launched;
    if (group->planned == NULL)
        return install_plan_participants(group->plans, rank, launched);
    if (group->planned_count[slot] == UINT32_MAX)
        plan_ranks(group);
    *pes = kept_pes(group, slot);
    return group->planned_count[slot];
}

/* Of a group that may have no plans. */
static uint32_t sip_of_rank(const struct dist_work *work, uint32_t rank)
{
    return ccl_sip_of(&work->dist->options.config->ccl.ranks, dist_world_rank(work->group, rank));
}

/* A row of the SIP's PEs. */
static uint32_t pes_of_computation(const struct dist_work *work, uint32_t rank,
                                   const uint32_t **pes)
{
    const struct submission *const submission = &dist_of(work, rank)->submission;
    const struct hw_config *const hw = &work->group->config->hw;
    const uint32_t first =
        hw_pe_index(hw, (struct hw_place){sip_of_rank(work, rank), 0, 0}) + submission->first_pe;
    uint32_t *const out = work->dist->launched;
    for (uint32_t i = 0; i < submission->pes; i++)
        out[i] = first + i;
    *pes = out;
    return submission->pes;
}

/* The PEs of the rank's SIP that run the kernel, in order of (cube, pe), until the next call;
 * returns how many. The plans name the PEs of the configured algorithm; an algorithm for another
 * collective names its own. */
static uint32_t launched_pes(const struct dist_work *work, const struct ccl_call *call,
                             const uint32_t **pes)
{
    struct dist_group *const group = work->group;
    const struct ccl_algorithm *const algorithm = work->algorithm;
    uint32_t *const out = group->dist->launched;
    const struct submission *const submission = &dist_of(work, call->rank)->submission;
    if (submission->pes > 0)
        return pes_of_computation(work, call->rank, pes);
    const struct tensor *shards = algorithm == submission->algorithm ? submission->operands
                                  : algorithm->machine.lanes         ? launch_tensor(submission)
                                                                     : NULL;
    const bool by_shards = algorithm == submission->algorithm || algorithm->machine.lanes;
    if (!by_shards && algorithm == install_plan_of(group->plans, call->rank).algorithm)
        return planned_pes(group, call->rank, pes);
    *pes = out;
    const struct sip_install_plan plan = install_plan_of(group->plans, call->rank);
    uint32_t count = 0;
    for (uint32_t cube = 0; cube < hw_cubes(call->hw); cube++)
        for (uint32_t pe = 0; pe < hw_pes(call->hw); pe++) {
            const bool runs =
                by_shards ? has_shard(shards, cube, pe)
                : algorithm->takes_part != NULL
                    ? CCL_HOOK("takes_part()", algorithm->takes_part, (call, cube, pe))
                    : cube * hw_pes(call->hw) + pe == plan.pe_of_sip;
            if (runs)
                out[count++] = hw_pe_index(call->hw, (struct hw_place){plan.sip, cube, pe});
        }
    return count;
}

/* ---- tensors on their places ----------------------------------------------------------------- */

static int refuse_sip(const struct tensor *tensor, uint32_t rank, uint32_t sip,
                      struct cw_error *error)
{
    return cw_error_set(error, CW_PROGRAM_FAILED,
                        "rank %u's tensor is on SIP %u, and the rank is SIP %u: call "
                        "ahbm_set_device(%u) before the tensor is made",
                        rank, tensor->sip, sip, sip);
}

/* ---- the default validator ------------------------------------------------------------------- */

/* The PEs of the rank's SIP that take a shard each: those of a schedule's buffers, else those that
 * run the kernel. */
static uint32_t pes_with_shards(const struct dist_work *work, const struct ccl_call *call,
                                const uint32_t **pes)
{
    const struct dist *const dist = work->dist;
    if (work->algorithm->schedule == NULL)
        return launched_pes(work, call, pes);
    *pes = dist->launched;
    return schedule_program_homes(install_plans_program(work->group->plans), call->rank,
                                  dist->launched);
}

int dist_check_shards(const struct dist_group *group, uint32_t rank, const struct tensor *tensor,
                      struct cw_error *error)
{
    uint32_t *const homes = group->dist->launched;
    const struct config *const config = group->config;
    const struct sip_install_plan plan = install_plan_of(group->plans, rank);
    if (tensor->sip != plan.sip)
        return refuse_sip(tensor, rank, plan.sip, error);
    const struct layout_need need = {
        .hw = &config->hw,
        .algorithm = ccl_algorithm_label(&config->ccl, plan.algorithm),
        .pe = homes,
        .pes = schedule_program_homes(install_plans_program(group->plans), rank, homes)};
    const int code = layout_check(&need, rank, tensor, NULL, error);
    return code == CW_USAGE ? dist_refuse(config, "defaults.validator", error) : code;
}

/* A validator of the user's own decides alone on shards that no kernel works on. */
static int validate_layout(const struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = work->algorithm;
    const struct ccl_call call = call_of_rank(work, rank);
    const struct submission *const submission = &dist_of(work, rank)->submission;
    if (launch_tensor(submission) == NULL || algorithm == submission->algorithm)
        return CW_OK;
    if (submission->messages != NULL) /* dist_check_shards() has seen to it */
        return CW_OK;
    const uint32_t *pes;
    const uint32_t count = pes_with_shards(work, &call, &pes);
    const struct layout_need need = {.hw = call.hw,
                                     .algorithm = ccl_algorithm_label(call.ccl, algorithm),
                                     .pe = pes,
                                     .pes = count,
                                     .together = ccl_adds_all_shards(algorithm),
                                     .may_have_more = plugin_is_path(call.ccl->validator)};
    return layout_check(&need, rank, launch_tensor(submission),
                        submission->in != submission->out ? submission->out : NULL, error);
}

/* A schedule whose small chunks share slots is for calls up to a size. */
static int check_size(const struct dist_work *work, const struct ccl_call *call,
                      struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = work->algorithm;
    const struct schedule_program *const program = install_plans_program(work->group->plans);
    const uint64_t bytes = call->n_elem * tl_itemsize(call->dtype);
    if (program == NULL || algorithm->schedule == NULL || bytes <= program->most_bytes)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "%s: its steps were made for at most %llu bytes of a shard, and the call "
                        "has %llu; legal is a call of no more",
                        algorithm->name, (unsigned long long)program->most_bytes,
                        (unsigned long long)bytes);
}

/* What the configured validator says of the tensors of all ranks: as soon as all have made the
 * call. */
static int validate_group(const struct dist_work *work, struct cw_error *error)
{
    const struct tensor_group group = {work->tensors, work->group->live};
    if (work->submitted < work->group->live || work->group->plans == NULL)
        return CW_OK;
    for (uint32_t rank = 0; rank < group.ranks; rank++)
        if (group.tensor[rank] == NULL)
            return CW_OK;
    return install_plans_validate(work->group->plans, work->algorithm, &group, error);
}

/* ---- starting a call ------------------------------------------------------------------------- */

static const struct tl_kernel *kernel_of_call(const struct ccl_algorithm *algorithm,
                                              const struct submission *submission)
{
    return submission->kernel != NULL ? submission->kernel : algorithm->kernel;
}

/* The machine's SIPs, for kernels that exchange along their rows and columns. */
static enum tl_topology topology_of(const struct hw_config *hw)
{
    const char *const name = hw->sip_topology->name;
    return strcmp(name, "ring_1d") == 0           ? TL_TOPOLOGY_RING
           : strcmp(name, "torus_2d") == 0        ? TL_TOPOLOGY_TORUS
           : strcmp(name, "mesh_2d_no_wrap") == 0 ? TL_TOPOLOGY_MESH
                                                  : TL_TOPOLOGY_OTHER;
}

/* One KernelLaunchMsg for each PE of the rank's SIP that takes part, in order of (cube, pe). */
static int launch_rank(struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const struct dist *const dist = work->dist;
    const struct ccl_algorithm *const algorithm = work->algorithm;
    const struct submission *submission = &dist_of(work, rank)->submission;
    const struct tensor *tensor = launch_tensor(submission);
    const struct ccl_call call = call_of_rank(work, rank);
    const struct hw_grid grid = hw_sip_grid(call.hw);
    struct tl_args args = {.n_elem = call.n_elem,
                           .rank = rank,
                           .dtype = (uint8_t)call.dtype,
                           .math = (uint8_t)call.math,
                           .topology = (uint8_t)topology_of(call.hw),
                           .sip_w = grid.w,
                           .sip_h = grid.h};
    if (algorithm->parameter_count > 0)
        args.parameter = call.ccl->parameter;
    if (tensor != NULL) {
        args.tensor = tensor->va_base;
        args.tensor_pa = tensor->hbm_offset;
        args.shard_bytes = tensor->shard_bytes;
        args.pe_shards = tensor->policy.pe == DP_COLUMN_WISE;
    }
    if (algorithm->kernel_args != NULL)
        CCL_HOOK_VOID("kernel_args()", algorithm->kernel_args, (&call, &args));
    if (algorithm->schedule != NULL)
        args.more = install_plans_program(work->group->plans);
    if (algorithm->schedule != NULL)
        args.piece_tiles = install_plans_program(work->group->plans)->exact_piece_tiles;
    if (submission->messages != NULL)
        args.own = &submission->messages->list;
    dist_map_regions(work, rank, &args);
    if (submission->more != NULL) {
        const struct tensor *operands = submission->operands;
        if (args.more != NULL)
            return cw_error_set(error, CW_USAGE,
                                "a product shares each PE with the kernel of the all-reduce, and "
                                "that of %s leaves no room for it; use lrab_hierarchical_allreduce",
                                algorithm->name);
        args.more = submission->more;
        if (operands != NULL)
            args.region[DIST_OPERANDS_REGION] = (struct tl_region){
                operands->window_va, operands->hbm_offset, operands->shard_bytes};
    }
    const uint32_t *pes;
    uint32_t count = launched_pes(work, &call, &pes);
    lp_system_launch_from(dist->system, submission->operation, submission->queue);
    if (submission->messages != NULL) {
        count = dist_messages_threads(submission->messages, rank, pes, count, dist->launched);
        pes = dist->launched;
    }
    dist_of(work, rank)->left = count;
    return lp_system_submit_launches(dist->system, pes, count,
                                     kernel_of_call(algorithm, submission), &args, error);
}

/* ---- its end --------------------------------------------------------------------------------- */

/* A collective whose result is new on this rank. */
static bool has_new_result(const struct dist_work *work, uint32_t rank)
{
    const struct submission *const submission = &dist_of(work, rank)->submission;
    switch (submission->collective) {
    case CCL_ALL_REDUCE:
        return work->group->size * tensor_parts(submission->in) > 1;
    case CCL_REDUCE_SCATTER:
    case CCL_ALL_GATHER:
        return true;
    case CCL_BROADCAST:
        return rank != submission->root;
    case CCL_REDUCE:
        return rank == submission->root;
    default:
        return false;
    }
}

/* The kernels of a loaded algorithm have ended: each has its result from somewhere, its own stores
 * or other PEs' writes. */
static int check_written(const struct dist_work *work, struct cw_error *error)
{
    const struct dist *const dist = work->dist;
    const struct dist_group *const group = work->group;
    const struct ccl_algorithm *const algorithm = work->algorithm;
    if (!plugin_is_path(group->config->ccl.module) || algorithm->schedule != NULL ||
        group->plans == NULL || algorithm != install_plan_of(group->plans, 0).algorithm)
        return CW_OK;
    for (uint32_t slot = 0; slot < group->live; slot++) {
        const uint32_t rank = dist_rank_at(group, slot);
        const struct submission *const submission = &dist_of(work, rank)->submission;
        const struct tensor *const out = submission->out;
        for (uint32_t i = 0; has_new_result(work, rank) && i < out->shard_count; i++) {
            const struct tensor_shard *const shard = &out->shard[i];
            const struct tl_source *source;
            char at[TL_SOURCE_TEXT_BYTES];
            if (!lp_system_has_written_nothing(
                    dist->system, work->batch,
                    (struct hw_place){shard->sip, shard->cube, shard->pe}, &source))
                continue;
            return cw_error_set(
                error, CW_PROGRAM_FAILED,
                "PE %u.%u.%u, kernel %s: the %s is over, and nothing has written the PE's %llu "
                "bytes of the result; legal: at least a store, a receive or a put into them%s",
                shard->sip, shard->cube, shard->pe, kernel_of_call(algorithm, submission)->name,
                ccl_collective_name(submission->collective), (unsigned long long)out->shard_bytes,
                tl_source_text(source, at, sizeof at));
        }
    }
    return CW_OK;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* The algorithm for a call. A choice is reported when it differs from the one before. */
static const struct ccl_algorithm *chosen(const struct dist_work *work, const struct ccl_call *call,
                                          struct cw_error *error)
{
    struct dist_group *const group = work->group;
    struct ccl_choice choice;
    if (dist_of(work, call->rank)->submission.algorithm != NULL)
        return dist_of(work, call->rank)->submission.algorithm;
    if (dist_of(work, call->rank)->submission.messages != NULL)
        return install_plan_of(group->plans, call->rank).algorithm;
    const struct ccl_algorithm *algorithm = ccl_algorithm_of(call, &choice, error);
    if (choice.why[0] != '\0' && algorithm != group->reported &&
        !group->dist->options.says_choices) {
        fprintf(stderr, "cubewarp: auto takes %s: %s%s%s\n", algorithm->name, choice.why,
                choice.advice[0] != '\0' ? "; " : "", choice.advice);
        group->reported = algorithm;
    }
    return algorithm;
}

/* Ranks that queues do not join: the hook or the topology that made the queues is at fault. */
static int make_relay(struct dist_work *work, struct cw_error *error)
{
    const struct dist_group *const group = work->group;
    const struct ccl_algorithm *const algorithm = work->algorithm;
    const uint32_t root = dist_of(work, work->first_rank)->submission.root;
    const struct config *config = group->config;
    const bool hooked = install_plan_of(group->plans, 0).algorithm->neighbors != NULL;
    if (group->fold != NULL && group->slots == NULL)
        return cw_error_set(error, CW_USAGE,
                            "%s goes by a tree from rank %u, and a folded world has calls alone "
                            "that are alike on all ranks; legal: a world that is not folded",
                            algorithm->name, root);
    const int code = install_plans_relay(
        group->plans, root, algorithm->machine.relay == CCL_RELAY_BOTH, &work->relay, error);
    if (code == CW_USAGE)
        dist_refuse(config, hooked ? "defaults.module" : "defaults.topology", error);
    return code;
}

/* The first part of a call is to be launched: which algorithm carries the call out. */
static int choose_algorithm(struct dist_work *work, struct cw_error *error)
{
    const struct ccl_call call = call_of_rank(work, work->first_rank);
    work->algorithm = chosen(work, &call, error);
    return work->algorithm != NULL ? check_size(work, &call, error) : error->exit_code;
}

/* The tensors of these parts: by the configured validator if the configured algorithm runs, and by
 * the one that every algorithm has. */
static int validate_parts(const struct dist *dist, size_t count, struct cw_error *error)
{
    int code = CW_OK;
    for (size_t i = 0; i < count && code == CW_OK; i++)
        if (dist->parts[i].rank == dist->parts[i].work->last_rank)
            code = validate_group(dist->parts[i].work, error);
    for (size_t i = 0; i < count && code == CW_OK; i++)
        code = validate_layout(dist->parts[i].work, dist->parts[i].rank, error);
    return code == CW_USAGE ? dist_refuse(dist->options.config, "defaults.validator", error) : code;
}

/* What the algorithm of a call needs for all ranks. */
static int prepare_work(struct dist_work *work, struct cw_error *error)
{
    const struct ccl_call call = call_of_rank(work, work->first_rank);
    work->prepared = true;
    const int code =
        work->algorithm->machine.relay != CCL_RELAY_NONE ? make_relay(work, error) : CW_OK;
    return code == CW_OK ? dist_take_scratch(work, &call, error) : code;
}

/* The call's tensors are about to be overwritten. */
static int keep_before(const struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const struct submission *const submission = &dist_of(work, rank)->submission;
    struct tensor *tensor;
    bool changes;
    int code = CW_OK;
    for (uint32_t i = 0; code == CW_OK && dist_tensor_of(submission, i, &tensor, &changes); i++)
        if (changes || (tensor == submission->in && dist_changes_input(work, rank)))
            code = dist_keep_results(work->dist, dist_world_rank(work->group, rank), tensor,
                                     submission->order, error);
    return code;
}

static int ready_part(const struct dist_part *part, struct cw_error *error)
{
    struct dist_work *const work = part->work;
    int code = dist_check_alike(work, part->rank, error);
    if (code == CW_OK && dist_of(work, part->rank)->submission.operation == UINT32_MAX)
        code = dist_check_shared(work, part->rank, error);
    if (code == CW_OK)
        code = keep_before(work, part->rank, error);
    if (code == CW_OK)
        code = dist_scale_operand(work, part->rank, error);
    return code == CW_OK ? dist_fill_buffers(work, part->rank, error) : code;
}

static int launch_part(const struct dist_part *part, struct cw_error *error)
{
    struct dist_work *const work = part->work;
    const struct submission *const submission = &dist_of(work, part->rank)->submission;
    int code = CW_OK;
    if (work->batch == 0) {
        char whose[DIST_WORK_NAME_BYTES], name[DIST_WORK_NAME_BYTES];
        const struct lp_batch_options options = {.kernel =
                                                     kernel_of_call(work->algorithm, submission),
                                                 .cuts_streams = submission->kernel != NULL,
                                                 .queue = dist_work_queue(work, part->rank),
                                                 .of = work,
                                                 .ranks = work->group->live,
                                                 .slots = work->group->slots,
                                                 .dirs = work->group->dirs,
                                                 .account = work->group->account,
                                                 .whose = dist_work_whose(work, whose),
                                                 .name = dist_work_name(work, name)};
        code = lp_system_begin_batch(work->dist->system, &options, error);
        work->batch = code == CW_OK ? lp_system_hold_batch(work->dist->system) : 0;
    }
    if (code == CW_OK)
        code = dist_keep_at_start(work, part->rank, error);
    if (code == CW_OK) {
        lp_system_return_to_batch(work->dist->system, work->batch);
        code = launch_rank(work, part->rank, error);
    }
    work->launched += code == CW_OK;
    work->dist->in_flight += code == CW_OK;
    if (code == CW_OK && dist_of(work, part->rank)->left == 0)
        dist_end_at_once(work, part->rank);
    return code;
}

/* Calls of one moment, rank by rank, each rank's in the order in which it made them. */
static int by_rank(const void *a, const void *b)
{
    const struct dist_part *const x = a, *const y = b;
    const uint32_t x_rank = dist_world_rank(x->work->group, x->rank),
                   y_rank = dist_world_rank(y->work->group, y->rank);
    if (x_rank != y_rank)
        return x_rank < y_rank ? -1 : 1;
    const uint64_t x_order = dist_of(x->work, x->rank)->submission.order,
                   y_order = dist_of(y->work, y->rank)->submission.order;
    return x_order < y_order ? -1 : x_order > y_order;
}

static void sort_parts(struct dist_part *parts, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (by_rank(&parts[i - 1], &parts[i]) > 0) {
            qsort(parts, count, sizeof *parts, by_rank);
            return;
        }
}

int dist_launch_parts(struct dist *dist, struct cw_error *error)
{
    const struct dist_part *const parts = dist->parts;
    const size_t count = dist->part_count;
    int code = CW_OK;
    if (count == 0)
        return code;
    dist->part_count = 0;
    sort_parts(dist->parts, count);
    if (!dist_reserve_ends(dist, count))
        return dist_no_memory(error);
    for (size_t i = 0; i < count && code == CW_OK; i++)
        if (parts[i].work->algorithm == NULL)
            code = choose_algorithm(parts[i].work, error);
    if (code == CW_OK)
        code = validate_parts(dist, count, error);
    for (size_t i = 0; i < count && code == CW_OK; i++)
        if (!parts[i].work->prepared)
            code = prepare_work(parts[i].work, error);
    for (size_t i = 0; i < count && code == CW_OK; i++)
        code = ready_part(&parts[i], error);
    if (code == CW_OK)
        code = dist_drain_copies(dist, error);
    for (size_t i = 0; i < count && code == CW_OK; i++)
        code = launch_part(&parts[i], error);
    lp_system_launch_from(dist->system, UINT32_MAX, 0);
    dist_phase_end(dist, "launches");
    return code == CW_OK ? dist_inject(dist, error) : code;
}

int dist_finish_part(const struct dist_part *part, struct cw_error *error)
{
    const int code = dist_take_results(part->work, part->rank, error);
    return code == CW_OK ? dist_scale_results(part->work, part->rank, error) : code;
}

int dist_finish_work(struct dist_work *work, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    const struct submission *const first = &dist_of(work, work->first_rank)->submission;
    int code = check_written(work, error);
    struct cw_error late;
    const int given = dist_give_scratch(work, &late);
    if (code == CW_OK && given != CW_OK) {
        *error = late;
        code = given;
    }
    relay_free(&work->relay);
    const struct dist_completion completion = {
        .dist = dist,
        .group = work->group != &dist->world ? work->group : NULL,
        .number = work->number,
        .collective = first->collective,
        .algorithm = work->algorithm,
        .times = lp_system_times_of(dist->system, work->batch),
        .batch = work->batch,
        .tensors = work->tensors,
        .live_ranks = work->group->live,
        .world_size = work->group->size,
        .op = first->op,
        .root = first->root,
        .first_rank = dist_world_rank(work->group, work->first_rank),
        .computation = first->more,
        .beside = first->kernel != NULL,
        .message_count = dist_count_messages(work),
        .work = work};
    lp_system_release_batch(dist->system, work->batch);
    work->batch = 0;
    if (code == CW_OK && dist->options.completed != NULL) {
        code = dist_exchange_results(work, error);
        if (code == CW_OK)
            code = dist->options.completed(dist->options.arg, &completion, error);
        if (code == CW_OK)
            code = dist_exchange_results(work, error);
        dist_phase_end(dist, "results");
    }
    dist_drop_results(work);
    return code;
}

/* ---- submitting ------------------------------------------------------------------------------ */

/* A call with messages: their tensors, and their other ends. */
static int check_messages(struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const struct submission *const own = &dist_of(work, rank)->submission,
                                   *const first = &dist_of(work, work->first_rank)->submission;
    int code = CW_OK;
    if (work->alone)
        return dist_match_messages(work, rank, error);
    if (strcmp(submission_name(own), submission_name(first)) != 0)
        return cw_error_set(error, CW_PROGRAM_FAILED, "rank %u calls %s where rank %u called %s",
                            rank, submission_name(own), work->first_rank, submission_name(first));
    if (own->root != first->root)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "%s: rank %u names root %u, rank %u root %u; both must be equal",
                            own->name, rank, own->root, work->first_rank, first->root);
    if (own->in != NULL)
        code = dist_check_shards(work->group, rank, own->in, error);
    if (own->out != NULL && code == CW_OK)
        code = dist_check_shards(work->group, rank, own->out, error);
    return code == CW_OK ? dist_check_splits(work, rank, error) : code;
}

/* All ranks make the same call. */
static int check_same(const struct dist_work *work, const struct ccl_call *call,
                      struct cw_error *error)
{
    const struct ccl_call one = call_of_rank(work, work->first_rank), other = *call;
    const uint32_t rank = call->rank;
    const bool uneven = dist_of(work, work->first_rank)->submission.messages != NULL;
    if (one.collective != other.collective || uneven)
        return cw_error_set(error, CW_PROGRAM_FAILED, "rank %u calls %s where rank %u called %s",
                            rank, ccl_collective_name(other.collective), work->first_rank,
                            submission_name(&dist_of(work, work->first_rank)->submission));
    const char *const name = ccl_collective_name(one.collective);
    if (one.dtype != other.dtype || one.n_elem != other.n_elem)
        return cw_error_set(
            error, CW_PROGRAM_FAILED,
            "%s: rank %u has shards of %llu elements of %s, rank %u of %llu of %s; all "
            "ranks' tensors must be alike",
            name, rank, (unsigned long long)other.n_elem, dtype_name((enum dtype)other.dtype),
            work->first_rank, (unsigned long long)one.n_elem, dtype_name((enum dtype)one.dtype));
    const struct tensor *const first = launch_tensor(&dist_of(work, work->first_rank)->submission),
                               *const own = launch_tensor(&dist_of(work, rank)->submission);
    char has[LAYOUT_NAME_BYTES], had[LAYOUT_NAME_BYTES];
    if (own != NULL && !layout_is_alike(first, own))
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "%s: rank %u's tensor has %s, rank %u's %s; all ranks' tensors must be "
                            "alike",
                            name, rank, layout_name(one.hw, own, has), work->first_rank,
                            layout_name(one.hw, first, had));
    if (dist_of(work, work->first_rank)->submission.op != dist_of(work, rank)->submission.op ||
        one.root != other.root)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "%s: rank %u and rank %u do not name the same operation and root", name,
                            rank, work->first_rank);
    return CW_OK;
}

static bool uses_freed_tensor(const struct submission *submission)
{
    struct tensor *tensor;
    bool changes;
    for (uint32_t i = 0; dist_tensor_of(submission, i, &tensor, &changes); i++)
        if (tensor != NULL && tensor->space == NULL)
            return true;
    return false;
}

/* A rank's tensors are there, on the rank's SIP. */
static int check_tensor_sip(const struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const struct submission *const submission = &dist_of(work, rank)->submission;
    const struct tensor *tensor = launch_tensor(submission);
    if (uses_freed_tensor(submission))
        return cw_error_set(error, CW_PROGRAM_FAILED, "%s: a tensor of rank %u has been freed",
                            ccl_collective_name(submission->collective), rank);
    const uint32_t sip = work->group->plans != NULL ? install_plan_of(work->group->plans, rank).sip
                                                    : sip_of_rank(work, rank);
    return tensor == NULL || tensor->sip == sip ? CW_OK : refuse_sip(tensor, rank, sip, error);
}

/* Each shard goes a lane of its own, so its PE must have queues to other SIPs. */
static int check_lanes(const struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    const struct tensor *const tensor = launch_tensor(&dist_of(work, rank)->submission);
    const struct hw_config *const hw = &dist->options.config->hw;
    char has[LAYOUT_NAME_BYTES], legal[LAYOUT_NAME_BYTES];
    for (uint32_t i = 0; tensor != NULL && i < tensor->shard_count; i++) {
        const struct tensor_shard *const shard = &tensor->shard[i];
        uint32_t joined = 0;
        if (install_plan_joins(work->group->plans, rank, shard->cube, shard->pe))
            continue;
        for (uint32_t cube = 0; cube < hw_cubes(hw); cube++)
            for (uint32_t pe = 0; pe < hw_pes(hw); pe++)
                if (install_plan_joins(work->group->plans, rank, cube, pe))
                    dist->launched[joined++] =
                        hw_pe_index(hw, (struct hw_place){shard->sip, cube, pe});
        return cw_error_set(
            error, CW_PROGRAM_FAILED,
            "%s: rank %u's tensor has %s, and PE %u of cube %u has no queues to other SIPs; "
            "legal: %s",
            ccl_collective_name(dist_of(work, rank)->submission.collective), rank,
            layout_name(hw, tensor, has), shard->pe, shard->cube,
            layout_name_of_pes(hw, dist->launched, joined, legal));
    }
    return CW_OK;
}

/* The call is like the last one whose conditions hold, but for its rank. */
static bool is_checked(const struct dist_group *group, const struct ccl_call *call)
{
    const struct ccl_call *const last = &group->checked;
    return group->checked_algorithm != NULL && last->collective == call->collective &&
           last->root == call->root && last->n_elem == call->n_elem && last->dtype == call->dtype &&
           last->math == call->math;
}

/* Finds the algorithm of a call, and looks at the call's conditions. Neither depends on the rank
 * where all is built in, so it is done once for all ranks, and for all calls alike. */
static int check_call(const struct dist_work *work, const struct ccl_call *call,
                      struct cw_error *error)
{
    struct dist_group *const group = work->group;
    const struct ccl_algorithm *const algorithm =
        is_checked(group, call) ? group->checked_algorithm : ccl_algorithm_of(call, NULL, error);
    int code = algorithm != NULL && algorithm->machine.lanes ? check_lanes(work, call->rank, error)
                                                             : CW_OK;
    if (code != CW_OK || is_checked(group, call))
        return code;
    code = dist_check_call(seen_config(work, call->rank), call, error);
    if (code == CW_OK && algorithm == install_plan_of(group->plans, 0).algorithm)
        code = dist_check_own_rings(group->config, algorithm, call,
                                    install_plans_rings(group->plans), error);
    if (code == CW_OK && algorithm != NULL && ccl_algorithm_find(algorithm->name) == algorithm &&
        !plugin_is_path(call->ccl->module)) {
        group->checked_algorithm = algorithm;
        group->checked = *call;
    }
    return code;
}

static int submit(struct dist_work *work, uint32_t rank, const struct submission *submission,
                  struct cw_error *error)
{
    struct dist *const dist = work->dist;
    struct dist_of_rank *const own = dist_of(work, rank);
    own->submission = *submission;
    own->submission.order = ++dist->submissions;
    own->submission.operation = dist->operation;
    if (dist->operation != UINT32_MAX)
        own->submission.queue = dist->operation_queue;
    work->tensors[dist_slot(work->group, rank)] = submission->out;
    own->submits = true;
    if (!dist_note_part(work, rank))
        return dist_no_memory(error);
    own->done_ps = INT64_MAX;
    own->left = 0;
    work->last_rank = rank;
    if (work->submitted++ == 0)
        work->first_rank = rank;
    if (submission->messages != NULL) {
        const int wrong = check_messages(work, rank, error);
        return wrong == CW_OK && !dist_add_part(dist, work, rank) ? dist_no_memory(error) : wrong;
    }
    const struct ccl_call call = call_of_rank(work, rank);
    int code = check_tensor_sip(work, rank, error);
    if (code == CW_OK)
        code = check_same(work, &call, error);
    if (code == CW_OK && submission->more != NULL)
        code = dist_check_product(dist->options.config, error);
    if (code == CW_OK && call.collective != CCL_MATMUL && call.collective != CCL_COMPUTE)
        code = check_call(work, &call, error);
    if (code == CW_OK && !dist_add_part(dist, work, rank))
        code = dist_no_memory(error);
    return code;
}

/* A call that gives some ranks another part than others. */
static bool is_uneven(const struct submission *submission)
{
    return submission->messages != NULL || submission->collective == CCL_BROADCAST ||
           submission->collective == CCL_REDUCE;
}

struct dist_work *dist_submit(const struct submission *submission)
{
    struct dist *const dist = dist_current();
    struct dist_group *const group = dist_group_or_world(submission->group);
    const uint32_t world_rank = (uint32_t)mp_rank(), rank = dist_rank_in(group, world_rank);
    const bool reduces =
        submission->collective == CCL_ALL_REDUCE || submission->collective == CCL_REDUCE_SCATTER ||
        submission->collective == CCL_REDUCE || submission->collective == CCL_CUSTOM;
    struct cw_error error;
    if (reduces && (submission->op < REDOP_SUM || submission->op >= REDOPS))
        mp_fail(CW_USAGE, "dist_%s: operation %u; legal: %d (sum) to %d (premulsum)",
                ccl_collective_name(submission->collective), (unsigned)submission->op, REDOP_SUM,
                REDOP_PREMULSUM);
    if (!dist->open)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_%s before dist_init_process_group: the queues are not installed",
                ccl_collective_name(submission->collective));
    if (rank == UINT32_MAX)
        mp_fail(CW_PROGRAM_FAILED, "dist_%s: rank %u is not in the group%s%s",
                ccl_collective_name(submission->collective), world_rank,
                group->name[0] != '\0' ? " " : "", group->name);
    if (group->fold != NULL && group->slots == NULL && is_uneven(submission)) {
        dist_free_messages(submission->messages);
        mp_fail(CW_USAGE,
                "dist_%s: a folded world has calls alone that are alike on all ranks; legal: a "
                "world that is not folded",
                submission_name(submission));
    }
    if (group == &dist->world && dist->options.groups_only)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_%s: the world has no queues (dist_options.groups_only); legal: calls of its "
                "groups",
                ccl_collective_name(submission->collective));
    if (dist->operation == UINT32_MAX)
        dist_wait_for_room(dist, world_rank,
                           submission->algorithm != NULL ? submission->queue : group->queue);
    struct dist_work *const work = submission->collective == CCL_SEND_RECV
                                       ? dist_work_alone(group)
                                       : dist_work_of_call(group, rank);
    if (work == NULL)
        dist_free_messages(submission->messages);
    const int code = work != NULL ? submit(work, rank, submission, &error) : dist_no_memory(&error);
    dist->operation = UINT32_MAX;
    if (code != CW_OK)
        mp_fail(error.exit_code, "%s", cw_error_text(&error));
    return work;
}

uint32_t dist_operation_of(const struct dist_completion *completion, uint32_t rank)
{
    return dist_of(completion->work, rank)->submission.operation;
}

void dist_next_operation(uint32_t operation, uint32_t queue)
{
    struct dist *const dist = dist_current();
    dist->operation = operation;
    dist->operation_queue = queue;
}

void dist_wait_for_all(struct dist_work *work)
{
    dist_wait_for_work(work, true);
    dist_release_work(work);
}

void dist_submit_and_wait(const struct submission *submission)
{
    dist_wait_for_all(dist_submit(submission));
}

void dist_wait(struct dist_work *work)
{
    dist_check_handle(dist_current(), work);
    dist_wait_for_work(work, false);
    dist_release_work(work);
}

static void check_tensors(const char *call, const struct tensor *a, const struct tensor *b)
{
    if (a == NULL || b == NULL)
        mp_fail(CW_PROGRAM_FAILED, "dist_%s: no tensor (NULL); legal: one of dist_tensor_zeros()",
                call);
}

/* A scalar belongs to each call. */
static void check_scalar(const char *call, enum redop op)
{
    if (op == REDOP_PREMULSUM)
        mp_fail(CW_USAGE, "dist_%s: premulsum needs a scalar; use dist_%s_scaled()", call, call);
}

static struct dist_work *all_reduce(struct dist_group *group, struct tensor *tensor, enum redop op,
                                    double scalar)
{
    check_tensors("all_reduce", tensor, tensor);
    return dist_submit(&(struct submission){.group = group,
                                            .collective = CCL_ALL_REDUCE,
                                            .in = tensor,
                                            .out = tensor,
                                            .op = op,
                                            .scalar = scalar});
}

struct dist_work *dist_all_reduce_scaled_async(struct dist_group *group, struct tensor *tensor,
                                               double scalar)
{
    return all_reduce(group, tensor, REDOP_PREMULSUM, scalar);
}

void dist_all_reduce_scaled(struct tensor *tensor, double scalar)
{
    dist_wait_for_all(dist_all_reduce_scaled_async(NULL, tensor, scalar));
}

struct dist_work *dist_all_reduce_async(struct dist_group *group, struct tensor *tensor,
                                        enum redop op)
{
    check_scalar("all_reduce", op);
    return all_reduce(group, tensor, op, 0);
}

void dist_all_reduce(struct tensor *tensor, enum redop op)
{
    dist_wait_for_all(dist_all_reduce_async(NULL, tensor, op));
}

static struct dist_work *reduce_scatter(struct dist_group *group, struct tensor *output,
                                        struct tensor *input, enum redop op, double scalar)
{
    const uint64_t ranks = dist_group_or_world(group)->size;
    check_tensors("reduce_scatter", output, input);
    if (output->shard_elems * ranks != input->shard_elems || output->dtype != input->dtype)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_reduce_scatter: an output of %llu elements of %s for an input of %llu of %s "
                "and %llu ranks; the input must have as many times the output's elements",
                (unsigned long long)output->shard_elems, dtype_name(output->dtype),
                (unsigned long long)input->shard_elems, dtype_name(input->dtype),
                (unsigned long long)ranks);
    return dist_submit(&(struct submission){.group = group,
                                            .collective = CCL_REDUCE_SCATTER,
                                            .in = input,
                                            .out = output,
                                            .op = op,
                                            .scalar = scalar});
}

struct dist_work *dist_reduce_scatter_async(struct dist_group *group, struct tensor *output,
                                            struct tensor *input, enum redop op)
{
    check_scalar("reduce_scatter", op);
    return reduce_scatter(group, output, input, op, 0);
}

void dist_reduce_scatter(struct tensor *output, struct tensor *input, enum redop op)
{
    dist_wait_for_all(dist_reduce_scatter_async(NULL, output, input, op));
}

struct dist_work *dist_reduce_scatter_scaled_async(struct dist_group *group, struct tensor *output,
                                                   struct tensor *input, double scalar)
{
    return reduce_scatter(group, output, input, REDOP_PREMULSUM, scalar);
}

void dist_reduce_scatter_scaled(struct tensor *output, struct tensor *input, double scalar)
{
    dist_wait_for_all(dist_reduce_scatter_scaled_async(NULL, output, input, scalar));
}

struct dist_work *dist_all_gather_async(struct dist_group *group, struct tensor *output,
                                        struct tensor *input)
{
    const uint64_t ranks = dist_group_or_world(group)->size;
    check_tensors("all_gather", output, input);
    if (output->shard_elems != input->shard_elems * ranks || output->dtype != input->dtype ||
        output->shard_count != input->shard_count)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_all_gather: an output of %u shards of %llu elements of %s for an input of %u "
                "of %llu of %s and %llu ranks; the output must have as many shards, and as many "
                "times the input's elements as there are ranks",
                output->shard_count, (unsigned long long)output->shard_elems,
                dtype_name(output->dtype), input->shard_count,
                (unsigned long long)input->shard_elems, dtype_name(input->dtype),
                (unsigned long long)ranks);
    return dist_submit(&(struct submission){
        .group = group, .collective = CCL_ALL_GATHER, .in = input, .out = output});
}

void dist_all_gather(struct tensor *output, struct tensor *input)
{
    dist_wait_for_all(dist_all_gather_async(NULL, output, input));
}

struct dist_work *dist_all_to_all_async(struct dist_group *group, struct tensor *output,
                                        struct tensor *input)
{
    const uint64_t ranks = dist_group_or_world(group)->size;
    check_tensors("all_to_all", output, input);
    if (output == input)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_all_to_all: input and output are one tensor; legal: two, since blocks come "
                "while others have not been sent");
    if (output->shard_elems != input->shard_elems || output->dtype != input->dtype ||
        output->shard_count != input->shard_count || input->shard_elems % ranks != 0)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_all_to_all: an output of %u shards of %llu elements of %s for an input of %u "
                "of %llu of %s and %llu ranks; both must be alike, and multiples of the ranks",
                output->shard_count, (unsigned long long)output->shard_elems,
                dtype_name(output->dtype), input->shard_count,
                (unsigned long long)input->shard_elems, dtype_name(input->dtype),
                (unsigned long long)ranks);
    return dist_submit(&(struct submission){
        .group = group, .collective = CCL_ALL_TO_ALL, .in = input, .out = output});
}

void dist_all_to_all(struct tensor *output, struct tensor *input)
{
    dist_wait_for_all(dist_all_to_all_async(NULL, output, input));
}

struct dist_work *dist_broadcast_async(struct dist_group *group, struct tensor *tensor,
                                       uint32_t root)
{
    if (root >= dist_group_or_world(group)->size)
        mp_fail(CW_PROGRAM_FAILED, "dist_broadcast: root %u; there are %u ranks", root,
                dist_group_or_world(group)->size);
    check_tensors("broadcast", tensor, tensor);
    return dist_submit(&(struct submission){
        .group = group, .collective = CCL_BROADCAST, .in = tensor, .out = tensor, .root = root});
}

/* Averages and scalars are of results that all ranks have. */
static void check_op_of_steps(const char *call, enum redop op)
{
    if (op == REDOP_AVG || op == REDOP_PREMULSUM)
        mp_fail(CW_USAGE, "dist_%s: %s; legal are sum, prod, max, min", call, redop_name(op));
}

struct dist_work *dist_reduce_async(struct dist_group *group, struct tensor *tensor, uint32_t root,
                                    enum redop op)
{
    const uint32_t ranks = dist_group_or_world(group)->size;
    if (root >= ranks)
        mp_fail(CW_PROGRAM_FAILED, "dist_reduce: root %u; there are %u ranks", root, ranks);
    check_op_of_steps("reduce", op);
    check_tensors("reduce", tensor, tensor);
    return dist_submit(&(struct submission){.group = group,
                                            .collective = CCL_REDUCE,
                                            .in = tensor,
                                            .out = tensor,
                                            .op = op,
                                            .root = root});
}

void dist_reduce(struct tensor *tensor, uint32_t root, enum redop op)
{
    dist_wait_for_all(dist_reduce_async(NULL, tensor, root, op));
}

struct dist_work *dist_custom_async(struct dist_group *group, struct tensor *tensor, enum redop op)
{
    check_op_of_steps("custom", op);
    check_tensors("custom", tensor, tensor);
    return dist_submit(&(struct submission){
        .group = group, .collective = CCL_CUSTOM, .in = tensor, .out = tensor, .op = op});
}

void dist_custom(struct tensor *tensor, enum redop op)
{
    dist_wait_for_all(dist_custom_async(NULL, tensor, op));
}

void dist_broadcast(struct tensor *tensor, uint32_t root)
{
    dist_wait_for_all(dist_broadcast_async(NULL, tensor, root));
}

struct dist_work *dist_barrier_async(struct dist_group *group)
{
    return dist_submit(&(struct submission){.group = group, .collective = CCL_BARRIER});
}

void dist_barrier(void) { dist_wait_for_all(dist_barrier_async(NULL)); }
