/*
 * dist_scratch.c: the memory of algorithms whose PEs reach into each other's: scratch beside the
 * tensors, all at the same offsets on every rank, so that a kernel's own address is its peers',
 * too. Between drains, one thread.
 */
#include "collectives/runtime/dist_scratch.h"

#include <stdio.h>
#include <string.h>

#include "collectives/hook.h"
#include "collectives/runtime/dist_internal.h"
#include "collectives/runtime/host_copy.h"
#include "collectives/schedule/schedule_program.h"

static struct tensor *scratch_on(const struct dist_work *work, uint32_t rank, uint64_t bytes,
                                 uint64_t from, struct cw_error *error)
{
    const struct install_plans *const plans = work->group->plans;
    const struct dp_policy policy = dist_scratch_policy(plans);
    return tensor_create_bytes(work->dist->space, install_plan_of(plans, rank).sip, bytes, from,
                               &policy, error);
}

/* Its PEs load or store in other ranks' memories. */
static bool reaches(const struct dist_work *work)
{
    const struct schedule_program *const program = install_plans_program(work->group->plans);
    return work->algorithm->machine.scratch_bytes != NULL ||
           (work->algorithm->schedule != NULL && program != NULL && program->reaches);
}

/* A place that is free on all ranks, of which some may have allocated more by now than others; 0:
 * there is none, or each rank's scratch is its own. */
static uint64_t common_place(const struct dist_work *work, uint64_t bytes)
{
    const struct install_plans *const plans = work->group->plans;
    uint64_t place = 0;
    if (!reaches(work))
        return 0;
    const uint32_t live = work->group->live;
    for (uint32_t i = 0, alike = 0; alike < live && place < UINT64_MAX; i = (i + 1) % live) {
        const uint32_t rank = dist_rank_at(work->group, i);
        const uint64_t found =
            tensor_space_place(work->dist->space, install_plan_of(plans, rank).sip, bytes, place);
        alike = found == place ? alike + 1 : 1;
        place = found;
    }
    return place < UINT64_MAX ? place : 0;
}

struct dp_policy dist_scratch_policy(const struct install_plans *plans)
{
    const struct schedule_program *const program = install_plans_program(plans);
    const bool lanes = program != NULL && program->lanes > 0;
    const bool members = program != NULL && program->schedule->members > 1;
    const uint32_t apart =
        !members ? program != NULL ? program->lanes_apart : 0 : program->pes_of_rank;
    return (struct dp_policy){.cube = DP_REPLICATE,
                              .pe = DP_REPLICATE,
                              .num_cubes = lanes || members ? 0 : 1,
                              .num_pes = (lanes || members) && apart == 1 ? 0 : 1,
                              .first_pe =
                                  lanes || members ? 0 : install_plan_of(plans, 0).pe_of_sip};
}

uint64_t dist_scratch_bytes(const struct install_plans *plans,
                            const struct ccl_algorithm *algorithm, const struct ccl_call *call)
{
    if (algorithm->schedule != NULL)
        return schedule_program_scratch(install_plans_program(plans), call);
    return algorithm->machine.scratch_bytes != NULL
               ? CCL_HOOK("scratch_bytes()", algorithm->machine.scratch_bytes, (call))
               : 0;
}

static int check_offset(const char *what, uint32_t rank, uint64_t here, uint64_t first,
                        struct cw_error *error)
{
    if (here == first)
        return CW_OK;
    return cw_error_set(
        error, CW_PROGRAM_FAILED,
        "rank %u has its %s at byte %llu of HBM, rank 0 at %llu; ranks that reach into each "
        "other's memory must allocate alike",
        rank, what, (unsigned long long)here, (unsigned long long)first);
}

int dist_check_alike(const struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const struct submission *const first = &dist_of(work, work->first_rank)->submission,
                                   *const own = &dist_of(work, rank)->submission;
    if (!reaches(work))
        return CW_OK;
    int code = check_offset("input", rank, own->in->hbm_offset, first->in->hbm_offset, error);
    if (code == CW_OK)
        code = check_offset("output", rank, own->out->hbm_offset, first->out->hbm_offset, error);
    const struct tensor *const scratch = work->of_rank[0].scratch;
    if (code == CW_OK && scratch != NULL)
        code = check_offset("scratch", rank, dist_of(work, rank)->scratch->hbm_offset,
                            scratch->hbm_offset, error);
    return code;
}

int dist_take_scratch(struct dist_work *work, const struct ccl_call *call, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    const struct ccl_algorithm *const algorithm = work->algorithm;
    if (algorithm->machine.scratch_bytes == NULL && algorithm->schedule == NULL)
        return CW_OK;
    const uint64_t bytes = dist_scratch_bytes(work->group->plans, algorithm, call);
    const uint64_t place = bytes > 0 ? common_place(work, bytes) : 0;
    for (uint32_t i = 0; i < work->group->live && bytes > 0; i++) {
        struct tensor **const scratch = &work->of_rank[i].scratch;
        *scratch = scratch_on(work, dist_rank_at(work->group, i), bytes, place, error);
        if (*scratch == NULL) {
            char text[sizeof error->text];
            memcpy(text, error->text, sizeof text);
            return cw_error_set(error, (enum cw_exit)error->exit_code, "scratch of %s: %s",
                                algorithm->name, text);
        }
        if (dist_map_tensor(dist, *scratch, error) != CW_OK)
            return error->exit_code;
    }
    return CW_OK;
}

int dist_give_scratch(struct dist_work *work, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    int code = CW_OK;
    for (uint32_t at = 0; at < work->group->live; at++) {
        struct tensor *const scratch = work->of_rank[at].scratch;
        for (uint32_t i = 0;
             scratch != NULL && dist->data != NULL && code == CW_OK && i < scratch->shard_count;
             i++)
            code = data_pass_forget(dist->data, scratch->shard[i].pe_index, scratch->hbm_offset,
                                    scratch->shard_bytes, error);
        dist_unmap_tensor(dist, scratch);
        tensor_free(scratch);
        work->of_rank[at].scratch = NULL;
    }
    return code;
}

static struct tl_region region_of(const struct tensor *tensor)
{
    return (struct tl_region){
        .va = tensor->window_va, .pa = tensor->hbm_offset, .bytes = tensor->shard_bytes};
}

void dist_map_regions(const struct dist_work *work, uint32_t rank, struct tl_args *args)
{
    const struct submission *const submission = &dist_of(work, rank)->submission;
    if (submission->out != NULL && submission->out != submission->in)
        args->region[0] = region_of(submission->out);
    if (dist_of(work, rank)->scratch != NULL)
        args->region[1] = region_of(dist_of(work, rank)->scratch);
}
