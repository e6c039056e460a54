/*
 * dist_results.c: refuses the use of tensors of calls in flight, and copies results that would be
 * overwritten before their call has ended on all ranks (dist_results.h). A program whose ranks wait
 * for all in each call pays nothing: no earlier call of the list has not ended.
 */
#include "collectives/runtime/dist_results.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/data/data_take.h"
#include "collectives/schedule/schedule_program.h"

/* ---- who may touch a tensor ------------------------------------------------------------------ */

static bool has_ended_on(const struct dist_work *work, uint32_t rank)
{
    return dist_of(work, rank)->done_ps <= work->dist->now_ps;
}

/* A call that the rank has made before the submission of this order, and that has not ended on all
 * ranks. */
static bool is_earlier(const struct dist_part *part, uint64_t before)
{
    const struct dist_work *const work = part->work;
    return work->complete_ps > work->dist->now_ps &&
           dist_of(work, part->rank)->submission.order < before;
}

/* The same of calls that have not ended on the rank. */
static bool is_in_flight(const struct dist_part *part, uint64_t before)
{
    return is_earlier(part, before) && !has_ended_on(part->work, part->rank);
}

static bool is_scaled(const struct submission *submission)
{
    return submission->op == REDOP_AVG || submission->op == REDOP_PREMULSUM;
}

bool dist_changes_input(const struct dist_work *work, uint32_t rank)
{
    const struct ccl_algorithm *const algorithm = work->algorithm;
    return is_scaled(&dist_of(work, rank)->submission) ||
           (algorithm != NULL && algorithm->schedule != NULL &&
            schedule_program_layout(install_plans_program(work->group->plans)) ==
                PROGRAM_OUTPUT_INSIDE);
}

static bool uses(const struct dist_work *work, uint32_t rank, const struct tensor *tensor)
{
    struct tensor *own;
    bool written;
    for (uint32_t i = 0; dist_tensor_of(&dist_of(work, rank)->submission, i, &own, &written); i++)
        if (tensor != NULL && own == tensor)
            return true;
    return false;
}

static bool changes(const struct dist_work *work, uint32_t rank, const struct tensor *tensor)
{
    const struct submission *const submission = &dist_of(work, rank)->submission;
    struct tensor *own;
    bool written;
    for (uint32_t i = 0; dist_tensor_of(submission, i, &own, &written); i++)
        if (tensor != NULL && own == tensor && written)
            return true;
    return tensor != NULL && submission->in == tensor && dist_changes_input(work, rank);
}

static const char *call_name(const struct dist_work *work)
{
    return submission_name(&dist_of(work, work->first_rank)->submission);
}

/* "call 3 of group tp.0", or "the batch of group tp.0", which has no number. */
enum { NUMBER_BYTES = 32 + DIST_WORK_NAME_BYTES };
static const char *number_name(const struct dist_work *work, char text[NUMBER_BYTES])
{
    char number[32] = "the batch", of[DIST_WORK_NAME_BYTES];
    if (!work->alone)
        (void)snprintf(number, sizeof number, "call %llu", (unsigned long long)work->number);
    (void)snprintf(text, NUMBER_BYTES, "%s%s", number, dist_work_of(work, of));
    return text;
}

void dist_check_idle(const struct dist *dist, const char *call, const struct tensor *tensor,
                     bool reads)
{
    if (tensor == NULL || tensor->space == NULL)
        mp_fail(CW_PROGRAM_FAILED, "%s: %s", call,
                tensor == NULL ? "no tensor (NULL); legal: one of dist_tensor_zeros()"
                               : "the tensor has been freed");
    const struct dist_parts *const parts = dist_parts_of(dist, (uint32_t)mp_rank());
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct dist_work *const at = parts->at[i].work;
        char number[NUMBER_BYTES];
        if (!is_in_flight(&parts->at[i], UINT64_MAX) ||
            !(reads ? changes : uses)(at, parts->at[i].rank, tensor))
            continue;
        mp_fail(CW_PROGRAM_FAILED,
                "%s: the tensor is busy: %s, %s, has not ended on this rank; legal: after "
                "dist_wait() for it",
                call, number_name(at, number), call_name(at));
    }
}

/* Two calls of a rank use a tensor that one of them changes. */
static bool share(const struct dist_work *a, uint32_t rank_of_a, const struct dist_work *b,
                  uint32_t rank_of_b)
{
    struct tensor *own;
    bool written;
    for (uint32_t i = 0; dist_tensor_of(&dist_of(b, rank_of_b)->submission, i, &own, &written); i++)
        if (uses(a, rank_of_a, own) && (changes(a, rank_of_a, own) || changes(b, rank_of_b, own)))
            return true;
    return false;
}

/* Why a call cannot follow another one on the same tensor, or be followed, as kernels on the same
 * PEs can; NULL: it can. */
static const char *why_alone(const struct dist_work *work, uint32_t rank)
{
    return is_scaled(&dist_of(work, rank)->submission) ? "the host scales the values of"
           : work->algorithm->schedule != NULL         ? "several PEs share the steps of"
                                                       : NULL;
}

int dist_check_shared(const struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    const uint32_t world_rank = dist_world_rank(work->group, rank);
    const uint64_t order = dist_of(work, rank)->submission.order;
    const char *const why = why_alone(work, rank);
    const struct dist_parts *const parts = dist_parts_of(work->dist, world_rank);
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct dist_work *const at = parts->at[i].work;
        const uint32_t earlier = parts->at[i].rank;
        if (!is_in_flight(&parts->at[i], order) || !share(at, earlier, work, rank))
            continue;
        char text[NUMBER_BYTES];
        const char *const number = number_name(at, text);
        const char *const why_other = why == NULL ? why_alone(at, earlier) : NULL;
        if (why != NULL || why_other != NULL)
            return cw_error_set(error, CW_PROGRAM_FAILED,
                                "rank %u: %s uses a tensor of %s, %s, which has not ended on the "
                                "rank; %s %s; legal: after dist_wait() for %s",
                                world_rank, call_name(work), number, call_name(at),
                                why != NULL ? why : why_other, call_name(why != NULL ? work : at),
                                number);
    }
    return CW_OK;
}

/* ---- results that are kept ------------------------------------------------------------------- */

/* What a call leaves on a rank: its result, and that of a product beside it; NULL: none. */
enum { RESULTS = sizeof((struct dist_of_rank *)NULL)->results / sizeof(uint8_t *) };
static const struct tensor *result_of(const struct dist_work *work, uint32_t rank, uint32_t result)
{
    const struct submission *const submission = &dist_of(work, rank)->submission;
    return result == 0                               ? submission->out
           : submission->operands != submission->out ? submission->operands
                                                     : NULL;
}

static uint8_t **kept(const struct dist_work *work, uint32_t rank, uint32_t result)
{
    return &dist_of(work, rank)->results[result];
}

static uint8_t *kept_shard(const struct dist_work *work, uint32_t rank, uint32_t result,
                           uint32_t shard)
{
    return *kept(work, rank, result) + shard * result_of(work, rank, result)->shard_bytes;
}

static bool are_asked_for(const struct dist *dist, const struct tensor *tensor)
{
    return dist->data != NULL && dist->options.completed != NULL && tensor != NULL;
}

/* The call leaves this tensor on the rank, and nothing is kept of it. */
static bool lacks_copy(const struct dist_work *work, uint32_t rank, uint32_t result,
                       const struct tensor *tensor)
{
    return result_of(work, rank, result) == tensor && *kept(work, rank, result) == NULL;
}

static bool make_room(struct dist_work *work, uint32_t rank, uint32_t result)
{
    const struct tensor *const tensor = result_of(work, rank, result);
    uint8_t **const to = kept(work, rank, result);
    *to = malloc((size_t)tensor->shard_count * tensor->shard_bytes + 1);
    work->keeps_results |= *to != NULL;
    return *to != NULL;
}

/* Copies a result now, or (batch) when kernels of that batch begin. */
static int keep(struct dist_work *work, uint32_t rank, uint32_t result, uint32_t batch,
                struct cw_error *error)
{
    struct data_pass *const data = work->dist->data;
    const struct tensor *const tensor = result_of(work, rank, result);
    int code = make_room(work, rank, result) ? CW_OK : dist_no_memory(error);
    for (uint32_t i = 0; i < tensor->shard_count && code == CW_OK; i++) {
        const struct data_take take = {.pe = tensor->shard[i].pe_index,
                                       .batch = batch,
                                       .offset = tensor->hbm_offset,
                                       .bytes = tensor->shard_bytes,
                                       .to = kept_shard(work, rank, result, i)};
        if (batch == 0)
            data_pass_read(data, take.pe, take.offset, take.to, take.bytes);
        else
            code = data_take_add(data, &take, error);
    }
    return code;
}

int dist_keep_results(struct dist *dist, uint32_t world_rank, const struct tensor *tensor,
                      uint64_t before, struct cw_error *error)
{
    int code = CW_OK;
    const struct dist_parts *const parts = dist_parts_of(dist, world_rank);
    for (uint32_t p = 0; are_asked_for(dist, tensor) && p < parts->count; p++) {
        const struct dist_part *const at = &parts->at[p];
        if (!is_earlier(at, before) || !has_ended_on(at->work, at->rank))
            continue;
        for (uint32_t i = 0; i < RESULTS && code == CW_OK; i++)
            if (lacks_copy(at->work, at->rank, i, tensor))
                code = keep(at->work, at->rank, i, 0, error);
    }
    return code;
}

int dist_keep_at_start(const struct dist_work *work, uint32_t rank, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    const struct dist_parts *const parts = dist_parts_of(dist, dist_world_rank(work->group, rank));
    int code = CW_OK;
    for (uint32_t own = 0; own < RESULTS; own++) {
        const struct tensor *const tensor = result_of(work, rank, own);
        for (uint32_t p = 0; are_asked_for(dist, tensor) && p < parts->count; p++) {
            const struct dist_part *const at = &parts->at[p];
            if (!is_earlier(at, dist_of(work, rank)->submission.order))
                continue;
            for (uint32_t i = 0; i < RESULTS && code == CW_OK; i++)
                if (lacks_copy(at->work, at->rank, i, tensor))
                    code = keep(at->work, at->rank, i, work->batch, error);
        }
    }
    return code;
}

/* Copies that no kernel has made so far; and the tensor gets what is kept, if it is wanted. */
static int exchange(const struct dist_work *work, uint32_t rank, uint32_t result, bool wanted,
                    struct cw_error *error)
{
    struct data_pass *const data = work->dist->data;
    const struct tensor *const tensor = result_of(work, rank, result);
    int code = CW_OK;
    for (uint32_t i = 0; i < tensor->shard_count && code == CW_OK; i++) {
        uint8_t *const shard = kept_shard(work, rank, result, i);
        data_take_now(data, tensor->shard[i].pe_index, shard);
        if (wanted)
            code = data_pass_exchange(data, tensor->shard[i].pe_index, tensor->hbm_offset, shard,
                                      tensor->shard_bytes, error);
    }
    return code;
}

int dist_exchange_results(struct dist_work *work, struct cw_error *error)
{
    struct dist *const dist = work->dist;
    if (!work->keeps_results)
        return CW_OK;
    /* fills that were put off are of what the ranks hold now */
    int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    for (uint32_t at = 0; at < work->group->live; at++)
        for (uint32_t i = 0; i < RESULTS && code == CW_OK; i++)
            if (work->of_rank[at].results[i] != NULL)
                code = exchange(work, dist_rank_at(work->group, at), i, true, error);
    return code;
}

void dist_drop_results(struct dist_work *work)
{
    for (uint32_t at = 0; work->keeps_results && at < work->group->live; at++)
        for (uint32_t i = 0; i < RESULTS; i++) {
            struct cw_error ignored;
            uint8_t **const copy = &work->of_rank[at].results[i];
            if (*copy != NULL)
                (void)exchange(work, dist_rank_at(work->group, at), i, false, &ignored);
            free(*copy);
            *copy = NULL;
        }
    work->keeps_results = false;
}
